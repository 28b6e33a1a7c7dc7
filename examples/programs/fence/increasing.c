/* SPDX-License-Identifier: Apache-2.0 */
/* An increasing sequence: one thread writes 1, 2, ... LAST, the other reads now and then, and what it
 * reads never gets smaller. Then the writer begins again, when the reader has had enough.
 *
 * expect: mfences=0 sfences=0 */
#include <assert.h>

#include "table.h"

#ifndef LAST
#define LAST 10
#endif

static shared number;

static void *writer(void *nothing)
{
    for (int i = 1; i <= LAST; i++)
        STORE(number, i);
    return nothing;
}

static void *reader(void *nothing)
{
    for (int last = 0, now; last < LAST; last = now) {
        now = LOAD(number);
        assert(now >= last);
    }
    return nothing;
}

RUN(writer, reader)
