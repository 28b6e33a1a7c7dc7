/* SPDX-License-Identifier: Apache-2.0 */
/* Dekker's mutual exclusion, as in Figure 11 of the paper, whose labels are those after the @. Each
 * thread has three critical sections. */
#include "harness.h"

enum { ROUNDS = 3 };

static shared flag0, flag1, turn;

static void *thread0(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        STORE(flag0, 1);             /* @1 */
        while (LOAD(flag1)) {        /* @2 */
            if (LOAD(turn)) {        /* @3 */
                STORE(flag0, 0);     /* @4 */
                while (LOAD(turn)) { /* @5 */
                }
                STORE(flag0, 1); /* @7 */
            }
        }
        critical_section();
        STORE(turn, 1);  /* @9 */
        STORE(flag0, 0); /* @10 */
    }
    return unused;
}

static void *thread1(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        STORE(flag1, 1);              /* @11 */
        while (LOAD(flag0)) {         /* @12 */
            if (!LOAD(turn)) {        /* @13 */
                STORE(flag1, 0);      /* @14 */
                while (!LOAD(turn)) { /* @15 */
                }
                STORE(flag1, 1); /* @17 */
            }
        }
        critical_section();
        STORE(turn, 0);  /* @19 */
        STORE(flag1, 0); /* @20 */
    }
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, thread0, NULL);
    pthread_create(&other, NULL, thread1, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
