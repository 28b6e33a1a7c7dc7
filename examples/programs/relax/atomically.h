/* SPDX-License-Identifier: Apache-2.0 */
/* Is what the operations of several threads returned right? It is if some order of them, each done at once
 * on a plain object, gives the same. Before it is included: a struct object; perform(), which does one operation
 * on it; `script`, the operations of each thread, and `threads`. */
#ifndef ATOMICALLY_H
#define ATOMICALLY_H

#include "harness.h"

static int result[3][5]; /* by thread and operation: what it returned */

static int operations(int thread)
{
    int n = 0;
    while (n < 5 && script[thread][n].what)
        n++;
    return n;
}

static bool some_order(const struct object *before, int next[3])
{
    bool all = true;
    for (int t = 0; t < threads; t++) {
        if (next[t] == operations(t))
            continue;
        all = false;
        struct object after = *before;
        if (perform(&after, script[t][next[t]]) != result[t][next[t]])
            continue;
        next[t]++;
        bool found = some_order(&after, next);
        next[t]--;
        if (found)
            return true;
    }
    return all;
}

static inline void check_results(const struct object *first)
{
    int next[3] = { 0 };
    assert(some_order(first, next));
}

#endif
