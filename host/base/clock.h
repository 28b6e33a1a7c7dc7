/* SPDX-License-Identifier: Apache-2.0 */
/* Time as it passes, whatever the clock on the wall is set to. */
#ifndef HOST_CLOCK_H
#define HOST_CLOCK_H

double now_seconds(void);
/* A short sleep, ended by signals. */
void pause_for(double seconds);

#endif
