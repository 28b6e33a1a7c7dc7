/* SPDX-License-Identifier: Apache-2.0 */
/* The test runner: runs of the machine, and the stream that it captures.
 *
 * The stream goes through a ring of words. Three places in it, counted from the run's first word:
 * what the host has acknowledged, what goes next, and how far the ring is filled. What is not
 * acknowledged stays; when the ring is full the capture is not read, and harts wait. */
#ifndef FIRMWARE_RUNNER_H
#define FIRMWARE_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

struct runner_place {
    uint32_t word;              /* of the stream, */
    uint32_t at;                /* and where in the ring it is */
};

struct runner {
    uint32_t *ring;
    uint32_t window;            /* words of it */
    struct runner_place filled, next, acknowledged;
    uint32_t floor;             /* words from here on are still used: a message may be on its way */
    uint32_t run;
    uint32_t phase;             /* PHASE_* */
    uint32_t flags;             /* PROTOCOL_CAPTURE_*: to be told when all words have gone, */
    bool told;                  /* and whether it has been */
    bool ready;                 /* RESET came: it can run */
    bool sourcing;              /* words come from SOURCE, */
    uint32_t source;            /* so many still */
    uint32_t cycle_low, cycle_high;
    struct protocol_run limit;
};

/* Machine in reset, nothing captured. */
void runner_start(struct runner *r, uint32_t *ring, uint32_t window);

/* A new run, of the machine, which is in reset, or of so many words 0, 1, …: its number. */
uint32_t runner_reset(struct runner *r, uint32_t setup, uint32_t seed);
uint32_t runner_source(struct runner *r, uint32_t words);

/* Starts it, or goes on, up to a limit. False: not in this phase. */
bool runner_run(struct runner *r, const struct protocol_run *limit);
void runner_stop(struct runner *r);

/* False: that cannot be. */
bool runner_acknowledge(struct runner *r, const struct protocol_ack *ack);

/* All that is not acknowledged goes again. */
void runner_again(struct runner *r);

/* Reads the capture, looks at the limit. Resting: no message of the stream is on its way. */
void runner_poll(struct runner *r, bool resting);

/* The next piece of the stream: what it begins with, words. False: there is nothing to send. */
bool runner_stream(struct runner *r, struct protocol_capture *capture, const uint32_t **body,
                   uint32_t *words);

#endif
