/* SPDX-License-Identifier: Apache-2.0 */
/* The end by ^C, by SIGTERM, or by a terminal that is gone: asked for by a signal, noticed by whoever works long. */
#ifndef HOST_INTERRUPT_H
#define HOST_INTERRUPT_H

#include <stdbool.h>

/* From now on ^C, SIGTERM, and SIGHUP unless it is ignored, are noticed instead of deadly; a second
 * request by the same one is deadly again. */
void interrupt_watch(void);
bool interrupted(void);

#endif
