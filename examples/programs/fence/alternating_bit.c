/* SPDX-License-Identifier: Apache-2.0 */
/* The alternating bit protocol (Bartlett, Scantlebury and Wilkinson 1969) over two words that lose what
 * is overwritten: the sender says a message again until its bit is acknowledged. Messages are numbered
 * modulo 3, by which one that is lost or comes twice is seen.
 *
 * expect: mfences=0 sfences=0 */
#include <assert.h>

#include "table.h"

static shared message, acknowledged; /* 2 * number + bit; bit */

static void *sender(void *nothing)
{
    for (int number = 0, bit = 1;; number = (number + 1) % 3, bit = 1 - bit)
        do
            STORE(message, 2 * number + bit);
        while (LOAD(acknowledged) != bit);
    return nothing;
}

static void *receiver(void *nothing)
{
    for (int number = 0, bit = 1;; number = (number + 1) % 3, bit = 1 - bit) {
        int got = LOAD(message);
        while ((got & 1) != bit) {
            STORE(acknowledged, 1 - bit);
            got = LOAD(message);
        }
        assert(got / 2 == number);
        STORE(acknowledged, bit);
    }
    return nothing;
}

RUN(sender, receiver)
