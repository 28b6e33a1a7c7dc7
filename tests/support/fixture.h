/* SPDX-License-Identifier: Apache-2.0 */
/* Small executions from text and verdicts made by hand over them. */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include "verdict.h"

struct fixture {
    struct ordeal *o;
    struct ordeal_trace *t;
    struct ordeal_verdict *v;
};

/* `text`: lines of a trace without the first. Fails the test when it is not one. */
void fixture_open(struct fixture *f, const char *text, enum ordeal_model m,
                  enum ordeal_result result);
void fixture_close(struct fixture *f);

/* Events of the n-th operation of the text (from 0), and the initial store of its word. */
uint32_t fixture_load(const struct fixture *f, uint32_t op);
uint32_t fixture_store(const struct fixture *f, uint32_t op);
uint32_t fixture_initial(const struct fixture *f, uint32_t op);

void fixture_place(struct fixture *f, uint32_t event, uint32_t view);
void fixture_step(struct fixture *f);
void fixture_literal(struct fixture *f, bool reads, bool negated, uint32_t a, uint32_t b);
void fixture_edge(struct fixture *f, enum ordeal_rule rule, uint32_t from, uint32_t to,
                  uint32_t via);
void fixture_views(struct fixture *f, uint32_t from_view, uint32_t to_view); /* of the last edge */
void fixture_clear(struct fixture *f);                 /* order and proof are empty again */
void fixture_whole_core(struct fixture *f);            /* every operation of the trace */

#endif
