/* SPDX-License-Identifier: Apache-2.0 */
/* Programming a board, by the tool that can: the file's name says what it is. */
#ifndef HOST_BOARD_FLASH_H
#define HOST_BOARD_FLASH_H

#include <limits.h>

#include "targets/target.h"

struct flash_plan {
    const char *file;
    const char *programmer;     /* of a .bin: "iceprog" or "tinyprog"; NULL: iceprog */
    const char *config;         /* of OpenOCD: the adapter; NULL: an FTDI chip, tcl/ */
};

enum { FLASH_WORDS = 8 };
struct flash_command {
    const char *word[FLASH_WORDS + 1];  /* ends with NULL */
    const char *package;                /* that has the program */
    char file[PATH_MAX + 2], config[PATH_MAX], script[PATH_MAX + 64];
};

/* The command line. False: `why`. */
bool flash_plan(const struct flash_plan *plan, struct flash_command *c, struct why *why);
/* Runs it, its output on ours. False: `why`. */
bool flash_run(const struct flash_command *c, struct why *why);

#endif
