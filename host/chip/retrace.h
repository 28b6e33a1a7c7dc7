/* SPDX-License-Identifier: Apache-2.0 */
/* What a program did on the multiprocessor of rtl/, from the records of its capture unit. Each hart's
 * instructions are done again, with what its loads are told to have read: that gives the place in the
 * program of every access, and shows whether the hart computed what it should. */
#ifndef HOST_CHIP_RETRACE_H
#define HOST_CHIP_RETRACE_H

#include "base/why.h"
#include "explore.h"
#include "program/account.h"
#include "targets/soc/soc_record.h"

enum { RETRACE_HARTS = 16 };

struct retrace_machine {
    uint32_t harts, memory_bytes;
    uint32_t code_bytes; /* of the program; what is behind was put in (steer.h) */
    uint32_t stack_begin[RETRACE_HARTS], stack_end[RETRACE_HARTS];
};

/* Why a thread does not go on at the end of what is known. */
enum retrace_rest {
    RETRACE_IDLE, /* there is none, or it has ended */
    RETRACE_RUNS, /* it would go on */
    RETRACE_WAITS /* in a call, for others */
};

struct retrace {
    struct event_list events;   /* of all harts, in the order of time; those after the error, too */
    uint32_t *time;             /* of each event: its cycle */
    struct account_time *times; /* when it can have taken effect, if it is an access */
    size_t shown;               /* events up to the error with it, or all */
    struct explore_finding finding; /* EXPLORE_NO_ERROR: none */
    bool ended;                     /* the program has, by itself */
    bool assumed;                   /* an assumption of the program does not hold: nobody's error */
    bool full;                      /* more threads than harts */
    char unknown[64];               /* "the call ...", which is not there; "": none */
    enum retrace_rest rest[RETRACE_HARTS];
    uint32_t pc[RETRACE_HARTS];                    /* there */
    uint32_t caller[RETRACE_HARTS][EVENT_CALLERS]; /* as of an event */
    uint32_t call[RETRACE_HARTS],
        argument[RETRACE_HARTS]; /* and in this call; a mutex, or a thread */
    uint32_t threads;            /* the most at a time */
    struct why broke;            /* a hart did what its instructions do not; "": none */
    uint32_t broke_at;           /* its cycle */
    char **text;                 /* what events say */
    size_t texts;
};

/* Records later than cycle `end` are left out. False: out of memory; to be freed in either case. */
bool retrace(struct retrace *r, const struct image *image, const struct retrace_machine *machine,
             const struct soc_hart_records *records, uint32_t end);
void retrace_free(struct retrace *r);

#endif
