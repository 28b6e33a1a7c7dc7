/* SPDX-License-Identifier: Apache-2.0 */
/* Lamport's bakery (A new solution of Dijkstra's concurrent programming problem, 1974) for two threads,
 * each with three critical sections. */
#include "harness.h"

enum { ROUNDS = 3 };

static shared choosing[2], number[2];

static void *work(void *argument)
{
    int me = (int)(intptr_t)argument;
    for (int round = 0; round < ROUNDS; round++) {
        STORE(choosing[me], 1);
        int most = 0;
        for (int i = 0; i < 2; i++) {
            int n = LOAD(number[i]);
            most = n > most ? n : most;
        }
        STORE(number[me], most + 1);
        STORE(choosing[me], 0);
        for (int i = 0; i < 2; i++) {
            while (LOAD(choosing[i])) {
            }
            for (;;) {
                int other = LOAD(number[i]);
                if (!other || other > most + 1 || (other == most + 1 && i >= me))
                    break;
            }
        }
        critical_section();
        STORE(number[me], 0);
    }
    return NULL;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, work, (void *)(intptr_t)0);
    pthread_create(&other, NULL, work, (void *)(intptr_t)1);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
