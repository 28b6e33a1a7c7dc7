/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of on_chip*.c share. */
#ifndef HOST_CHIP_ON_CHIP_PARTS_H
#define HOST_CHIP_ON_CHIP_PARTS_H

#include "program/account.h"
#include "program/account_trace.h"
#include "on_chip.h"
#include "program/program_file.h"
#include "retrace.h"

struct on_chip {
    struct program_file file;
    struct on_chip_machine machine;
    struct retrace_machine traced;
    uint32_t *code, *memory;
    uint32_t code_words, memory_words;
};

struct on_chip_verdict {
    const struct on_chip *program;
    struct on_chip_run run;
    struct retrace past;
    struct event_list shown;       /* its first events */
    struct account whole, account; /* of all events, of those that are shown */
    struct account_trace trace;
    struct ordeal_verdict *check; /* of the trace; NULL: none */
    bool timed;                   /* with the cycles as order */
    enum on_chip_result result;
    char why[256];
};

#endif
