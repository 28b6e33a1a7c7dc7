/* SPDX-License-Identifier: Apache-2.0 */
/* Time does not pass in a program: who sleeps lets others go first. What asks for the time is not
 * there. */
#include_next <time.h>

#ifndef ORDEAL_TIME_H
#define ORDEAL_TIME_H
#ifdef __cplusplus
extern "C" {
#endif
int nanosleep(const struct timespec *time, struct timespec *rest);
#ifdef __cplusplus
}
#endif
#endif
