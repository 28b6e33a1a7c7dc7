/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of retrace*.c share. */
#ifndef HOST_CHIP_RETRACE_PARTS_H
#define HOST_CHIP_RETRACE_PARTS_H

#include "retrace.h"

/* An event, when it was, and of a COMMIT the number of its store before they are sorted. */
struct timed {
    uint32_t time, serial, cause;
    uint32_t begin, end; /* cycles between which an access took effect */
    uint8_t error;       /* of an ERROR: enum explore_error */
    struct program_event e;
};

/* All harts. */
struct all {
    struct retrace *to;
    const struct image *image;
    const struct retrace_machine *machine;
    LIST(struct timed) events;
    LIST(char *) texts;
    uint32_t serial;
    bool visible; /* the capture unit told when stores became visible */
    bool failed;  /* out of memory */
};

struct expected {
    uint32_t address, written;
    uint8_t size_log2;
    uint32_t event; /* that it becomes visible is one */
    bool taken;
};

/* One hart. */
struct walk {
    struct all *all;
    uint32_t hart;
    const struct soc_record *next, *end;
    uint32_t time; /* the latest cycle so far */
    uint32_t pc, x[32];
    LIST(uint32_t) callers; /* where functions go on, innermost last */
    LIST(struct expected) expected;
    size_t first_expected;
    const struct soc_record *reserved; /* an LR whose SC may come */
    uint32_t reserved_pc, reserved_time;
    uint32_t call;      /* the last one, ... */
    uint32_t call_step; /* ... whose events are one step */
    bool in_call, told;
    size_t call_event;
    uint32_t quiet;
    enum retrace_rest rest;
};

/* Sorts the events, and finds the first error in them. False: out of memory. */
bool retrace_merge(struct all *all);
/* Memory that one thread alone uses: what it read there is what it last wrote. If not, the machine broke.
 * False: out of memory. */
bool retrace_check_own(struct all *all);

#endif
