/* SPDX-License-Identifier: Apache-2.0 */
/* Where control may go, between the two files that find it out and use it. */
#ifndef PROGRAM_IMAGE_FLOW_H
#define PROGRAM_IMAGE_FLOW_H

#include "image_parts.h"

enum { FLOW_NOWHERE = UINT32_MAX };

enum flow_kind {
    FLOW_NEXT,          /* goes on */
    FLOW_BRANCH,        /* goes on, or to its target */
    FLOW_JUMP,          /* to its target */
    FLOW_CALL,          /* likewise; who returns from there comes back behind it */
    FLOW_RETURN,        /* behind a call */
    FLOW_INDIRECT,      /* to a landing */
    FLOW_INDIRECT_CALL, /* likewise; who returns comes back behind it */
    FLOW_STOP           /* no further */
};

/* Instructions by their index. */
struct flow {
    struct image *i;
    uint32_t count;
    uint8_t *kind;
    uint32_t *target; /* or NOWHERE */
    bool *comes_back; /* from here a return can be reached */
    uint32_t *group;  /* union-find: what is connected without calls */
    uint32_t entry;   /* stands for all that is called by its address; NOWHERE: there is none */
};

uint32_t flow_index(const struct image *i, uint32_t pc);
/* May be called by its address. */
bool flow_is_entry(const struct image *i, uint32_t k);
/* The number of the call that an ECALL makes, if the code before it says so; 0: it does not. */
uint32_t flow_call_number(const struct flow *f, uint32_t k);
/* What is live before each instruction; false: out of memory. */
bool flow_find_live(struct flow *f);

#endif
