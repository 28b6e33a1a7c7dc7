/* SPDX-License-Identifier: Apache-2.0 */
/* How fast a simulated board streams, on the wires and in the time of the bus: its model with the
 * firmware, the virtual USB host and the host's own link (board_link.h) in one thread, so that the
 * same call gives the same figures, whatever else this computer does. */
#ifndef ORDEAL_BENCH_WIRE_SPEED_H
#define ORDEAL_BENCH_WIRE_SPEED_H

#include "targets/target.h"

struct wire_plan {
    const char *model;       /* as sim/models.h names it */
    const char *faults;      /* as ordeal-board's --fault; NULL: none */
    bool capture;            /* records of harts that load without an end; else a count (SOURCE) */
    uint32_t words;          /* that must come, all and as they should be */
};

struct wire_speed {
    double bytes_per_second; /* of the stream, without what is around it */
    double percent;          /* of what 19 packets of 64 bytes a frame could carry */
    uint64_t faults;         /* that were made */
};

/* False: `why`. */
bool wire_measure(const struct wire_plan *plan, struct wire_speed *speed, struct why *why);

#endif
