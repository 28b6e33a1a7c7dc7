/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDEAL_SCHED_H
#define ORDEAL_SCHED_H
#ifdef __cplusplus
extern "C" {
#endif
int sched_yield(void);
#ifdef __cplusplus
}
#endif
#endif
