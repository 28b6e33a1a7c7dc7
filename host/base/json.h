/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that is whole or not there: cJSON leaves out what it has no memory for, and goes on. */
#ifndef HOST_JSON_H
#define HOST_JSON_H

#include <stdbool.h>

/* From now on it is noticed. Before there are threads. */
void json_watch(void);
/* Something that was to be added was not there, for want of memory. */
void json_fail(void);
/* Has this thread been out of memory since it was asked last? */
bool json_failed(void);

#endif
