/* SPDX-License-Identifier: Apache-2.0 */
/* The command line that goes on with a run which ended before its end: the one that was given, with
 * the numbers of what is left. */
#ifndef HOST_GO_ON_H
#define HOST_GO_ON_H

#include <stdint.h>

struct go_on {
    uint64_t first, count, cycles; /* 0 of the last two: that was not asked for */
};

/* `argv` begins with the name of the command. For the caller to free; NULL: out of memory. */
char *go_on_command(int argc, char *const *argv, const struct go_on *rest);

#endif
