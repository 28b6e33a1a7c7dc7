/* SPDX-License-Identifier: Apache-2.0 */
/* What a bare-metal program leaves in memory between begin_signature and end_signature, as a file
 * or as memory: SIGNATURE.md. Nothing that does not belong to the test, whole and unharmed, is
 * taken; `why` names what is wrong with it. */
#ifndef HOST_SIGNATURE_H
#define HOST_SIGNATURE_H

#include <stddef.h>

#include "targets/target.h"
#include "test/extension.h"

/* Places in the header and in the progress of a hart; the program on the target knows them too. */
enum {
    HEADER_MAGIC = 0,
    HEADER_VERSION = 8,
    HEADER_XLEN = 12,
    HEADER_IDENTITY = 16,
    HEADER_FIRST = 24,
    HEADER_ITERATIONS = 32,
    HEADER_SLOTS = 36,
    HEADER_HARTS = 40,
    HEADER_STATE = 44,
    HEADER_LENGTH = 48,
    HEADER_CHECKSUM = 56,
    HEADER_FINALS = 60,
    HEADER_BYTES = 64,

    PROGRESS_ITERATION = 0,
    PROGRESS_OPERATION = 4,
    PROGRESS_CAUSE = 8,
    PROGRESS_INTERRUPTS = 12,
    PROGRESS_PC = 16,
    PROGRESS_BYTES = 64,
};
enum { STATE_RUNNING = 1, STATE_FINISHED = 2, STATE_TRAPPED = 3 };
#define SIGNATURE_VERSION 4u
#define CHECKSUM_START UINT32_C(0x811C9DC5)
#define CHECKSUM_PRIME UINT32_C(0x01000193)
#define OPERATION_NONE UINT32_C(0xFFFFFFFE)  /* it has not begun this iteration's first */
#define OPERATION_DONE UINT32_C(0xFFFFFFFF)  /* it has done them all */

struct signature {
    uint32_t xlen, iterations, slots, finals, harts;
    uint64_t identity, first;      /* number of its first iteration */
    const uint8_t *bytes;          /* the whole of it, somebody else's */
};

/* Bytes of a signature of so many iterations of the program. */
uint64_t signature_length(const struct program *p, uint64_t iterations);
/* The header that the program on the target starts with. */
void signature_header(const struct program *p, uint32_t xlen, uint64_t first, uint32_t iterations,
                      uint8_t header[HEADER_BYTES]);
uint32_t signature_checksum(const uint8_t *bytes, size_t length);

/* Raw bytes, or lines of hexadecimal numbers as simulators write them, made raw in place: in both
 * cases *length is what is left. False: `why`. */
bool signature_raw(uint8_t *bytes, size_t *length, struct why *why);
/* The same of an open file, whose bytes are the caller's to free. `most`: of a raw signature; what
 * is longer than it can be as text is not read. */
bool signature_read(int file, uint64_t most, uint8_t **bytes, size_t *length, struct why *why);
#define SIGNATURE_MOST (UINT64_C(1) << 30) /* where the test is not known yet */
/* False: it is not whole, not unharmed, not finished, or of another program. */
bool signature_open(struct signature *s, const uint8_t *bytes, size_t length,
                    const struct program *p, struct why *why);
/* What the program on the target promises, which tells memory at the end, too. */
struct machine_claims signature_claims(uint32_t xlen, enum ordeal_model model);
/* How its values lie in registers. */
bool signature_extension(const struct signature *s, const struct program *p, struct extension *x);
/* The outcome of one of its iterations, counted from 0, as such a machine's. False: a finding, and
 * why. */
bool signature_values(const struct signature *s, uint32_t iteration, struct extension *x,
                      uint64_t *values, struct why *why);
/* Has every hart taken an interrupt in each iteration in which it was sent one, and in all no more
 * than were sent? False: a finding, and why. */
bool signature_interrupts(const struct signature *s, const struct program *p, struct why *why);

/* Did its program begin, and not come to its end? Of these: did a hart meet an exception? */
bool signature_unfinished(const uint8_t *bytes, size_t length, const struct program *p);
bool signature_trapped(const uint8_t *bytes, size_t length);
/* Which harts have not come to the end, and the operation each was last seen at. */
void signature_last_seen(const uint8_t *bytes, size_t length, const struct program *p,
                         struct why *why);

#endif
