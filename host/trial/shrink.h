/* SPDX-License-Identifier: Apache-2.0 */
/* A failing test made small: fewer threads, operations and locations, still failing, and in the end
 * one that a person can read.
 *
 * Delta debugging: a candidate with something less is shown to a judge, which runs it on the target
 * as often as it thinks right; one that failed is kept, also when it failed by luck, and the next
 * is made from it. Judgements are what costs, so nothing is shown twice and large cuts come first.
 * Candidates are tests as program_compile() takes them, whatever was cut. */
#ifndef HOST_SHRINK_H
#define HOST_SHRINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ordeal.h"

struct shrink_judge {
    bool (*fails)(void *user, const struct ordeal_trace *test);  /* does it still fail? */
    bool (*stop)(void *user);        /* asked before each candidate; NULL: never */
    void *user;
};

/* Operations of the test, by index, that are known to matter: tried alone before all else. */
struct shrink_hint {
    const uint32_t *ops;
    size_t count;
};

/* Those that the core of a verdict comes from, in *ops for the caller to free; the execution was
 * made by program_trace() of the test. False: out of memory. */
bool shrink_find_hint(const struct ordeal_trace *test, const struct ordeal_trace *execution,
                      const struct ordeal_verdict *verdict, uint32_t **ops, size_t *count);

struct shrink_size { uint32_t threads, locations; size_t operations; };

struct shrink_report {
    struct shrink_size before, after;
    uint64_t tried, kept;            /* candidates shown to the judge, and those that failed */
    bool stopped;                    /* by the judge, before nothing helped any more */
    bool starved;                    /* likewise, by want of memory */
};

/* *smaller is the best found, in the context `o`: at worst a test that says the same as `test`,
 * which is taken to fail and not judged again. `hint` may be NULL. ORDEAL_NO_MEMORY: no test. */
enum ordeal_status shrink_test(const struct ordeal_trace *test, const struct shrink_hint *hint,
                               struct ordeal *o, const struct shrink_judge *judge,
                               struct ordeal_trace **smaller, struct shrink_report *report);

#endif
