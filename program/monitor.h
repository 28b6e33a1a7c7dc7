/* SPDX-License-Identifier: Apache-2.0 */
/* Is a sequentially consistent execution one access away from one that is not? The monitor of
 * Burckhardt and Musuvathi (Effective program verification for relaxed memory models, 2008,
 * Figure 2, whose line 8 asks for the processor of the write) with the clocks of Figure 3, and for PSO
 * the same with the program order of PSO (Burnim, Sen and Stergiou, 2011). Fed one access at a
 * time, in the order of the execution; what was fed last can be taken back.
 *
 * A location is what is read and written as a whole: an access of several bytes may have several
 * locations. Where others have only some of those, the clocks are right, but what it finds is neither
 * all nor sure. Accesses are numbered from 0 as they come. */
#ifndef PROGRAM_MONITOR_H
#define PROGRAM_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum monitor_model { MONITOR_TSO, MONITOR_PSO };

enum monitor_kind {
    MONITOR_LOAD,
    MONITOR_STORE,
    MONITOR_LOCKED, /* an atomic that waits for all stores of its thread before it */
    MONITOR_ATOMIC, /* one that waits for those to its own locations alone; under TSO as LOCKED */
    MONITOR_FENCE,  /* that waits for all stores of its thread */
    MONITOR_STORE_FENCE, /* which orders stores before later ones */
};

struct monitor_access {
    uint8_t kind;
    uint32_t thread;
    uint32_t locations;
    const uint32_t *location;
};

/* The access could have come before the write `missed`, which it follows in this execution: the
 * model allows that, and no order of all accesses explains it. */
struct monitor_finding {
    uint32_t access, missed, location;
};

struct monitor;
/* For threads and locations below these numbers. NULL: no memory. */
struct monitor *monitor_new(enum monitor_model model, uint32_t threads, uint32_t locations);
void monitor_free(struct monitor *m);
/* True: it is borderline, and `finding` says where. */
bool monitor_add(struct monitor *m, const struct monitor_access *a,
                 struct monitor_finding *finding);
/* As it was when `count` accesses had been fed. */
void monitor_back(struct monitor *m, uint32_t count);
bool monitor_failed(const struct monitor *m); /* for want of memory: it must not be used any more */

/* Is the access before the one that was fed last, or that one? In the order of the relaxed model, or
 * in that of all conflicts and programs. Until monitor_back(). */
bool monitor_before(const struct monitor *m, uint32_t access, bool relaxed);

/* Pairs of one thread's accesses that a fence between them would keep in order, on a shortest cycle that
 * a finding tells of. They are why the model allows it. */
struct monitor_pair {
    uint32_t first, second; /* accesses: a store, and a load or (PSO) a store */
};
/* At most `most`; how many. `access` has all that were fed, up to the finding's. */
uint32_t monitor_pairs(enum monitor_model model, const struct monitor_access *access,
                       const struct monitor_finding *f, struct monitor_pair *pair, uint32_t most);

#endif
