/* SPDX-License-Identifier: Apache-2.0 */
/* The models of the hardware that tests run on: few, for each takes a while to build. */
#ifndef TESTS_MACHINES_H
#define TESTS_MACHINES_H

#include "soc.h"

enum {
    MACHINE_USUAL, /* four harts, everything as by default */
    MACHINE_SMALL, /* two harts, caches of two lines */
    MACHINE_ODD,   /* one hart, everything as small as it can be */
    MACHINE_LEAN,  /* that of the smallest board, with more memory */
    MACHINES
};

const struct soc_interface *machine(uint32_t number);

#endif
