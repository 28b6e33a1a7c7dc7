/* SPDX-License-Identifier: Apache-2.0 */
/* All final states of a litmus test that a memory model allows.
 *
 * Values and control are enumerated: each thread goes all ways by which its loads see what
 * somebody may store there. A way of each thread, with what memory holds at the end, is a
 * candidate; as a trace with its dependences it is a question to the checker, whose order or
 * proof the certifier looks through. Only candidates whose state is not known to be allowed are
 * asked about. */
#ifndef LITMUS_RUN_H
#define LITMUS_RUN_H

#include "litmus/litmus_thread.h"

struct litmus_run_options {
    enum ordeal_model model;
    struct litmus_thread_options threads;
    double seconds; /* 0: as long as it takes */
    size_t bytes;   /* of a check; 0: no limit */
    bool no_certify;
    bool (*progress)(void *user, const char *phase, double share);
    void *user;
};

struct litmus_state {
    size_t value; /* its first, by variable, in the list of all */
};

struct litmus_result {
    LIST(uint32_t) shown;            /* variables that are told, in herd7's order */
    LIST(struct litmus_state) state; /* those allowed, each once, in herd7's order */
    LIST(uint64_t) value;
    uint64_t positive, negative; /* states for which the condition holds, and does not */
    uint64_t candidates, checks, rounds;
    bool cut; /* loops were not followed further than the bound */
    /* An execution with the outcome asked for: one that is allowed, if any is. */
    struct ordeal_trace *execution;
    bool execution_allowed;
};

/* `o` is where the execution lives. False: `e`, with status ORDEAL_LIMIT if a limit was in the
 * way. */
bool litmus_run(struct litmus *test, const struct litmus_run_options *how, const char *file,
                struct ordeal *o, struct litmus_result *result, struct ordeal_error *e);
void litmus_result_free(struct litmus_result *result);

/* Of a state, by variable; NULL where the test has none. */
static inline const uint64_t *litmus_values(const struct litmus_result *result, size_t state)
{
    return result->value.count ? &result->value.data[result->state.data[state].value] : NULL;
}

/* What a thread did in a candidate. */
struct litmus_part {
    const struct litmus_event *event;
    uint32_t events;
};
/* The candidate as a trace; `final` are values by variable, of those that are locations. NULL: the
 * reason is in the context. */
struct ordeal_trace *litmus_trace(struct ordeal *o, const struct litmus *test,
                                  const struct litmus_part *part, const uint64_t *final,
                                  enum ordeal_model model);

#endif
