/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDEAL_SEMAPHORE_H
#define ORDEAL_SEMAPHORE_H
#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    unsigned __mutex, __wait, __value;
} sem_t;

int sem_init(sem_t *semaphore, int shared, unsigned value);
int sem_destroy(sem_t *semaphore);
int sem_wait(sem_t *semaphore);
int sem_trywait(sem_t *semaphore);
int sem_post(sem_t *semaphore);
int sem_getvalue(sem_t *semaphore, int *value);

#ifdef __cplusplus
}
#endif
#endif
