/* SPDX-License-Identifier: Apache-2.0 */
/* The lost wake-up that Burckhardt and Musuvathi found in a library (Effective program verification
 * for relaxed memory models, 2008, Figure 4(b)): an idle consumer waits on a condition unless there is
 * work, a producer signals it unless it is busy. If both flags are still in store buffers when they
 * are read, the consumer sleeps for ever.
 *
 * expect: sc PASS; tso pso pslo FAIL deadlock
 * expect FENCED: sc tso pso pslo PASS */
#include "shared.h"

static shared is_idling, has_work;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *block_on_idle(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    STORE(is_idling, 1);
    FENCE();
    if (!LOAD(has_work))
        pthread_cond_wait(&condition, &lock);
    STORE(is_idling, 0);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *notify_potential_work(void *unused)
{
    (void)unused;
    STORE(has_work, 1);
    FENCE();
    if (LOAD(is_idling)) {
        pthread_mutex_lock(&lock);
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) { both_do(block_on_idle, notify_potential_work); }
