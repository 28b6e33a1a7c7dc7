/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine's memory holds when a test is over, for the program's finals: read in as few
 * pieces as are worth it, since a machine may be at the other end of a wire. */
#ifndef HOST_SOC_FINAL_H
#define HOST_SOC_FINAL_H

#include "base/list.h"
#include "soc.h"
#include "test/program.h"

struct soc_final_piece {
    uint32_t offset, words; /* of memory */
};

struct soc_final {
    LIST(struct soc_final_piece) pieces; /* in order */
    uint32_t *words;                     /* of one piece after the other */
    uint32_t *place;                     /* by final: where its first word is among them */
};

/* False: out of memory. What there was is freed. */
bool soc_final_plan(struct soc_final *f, const struct program *p);
/* A word for each of the program's finals. False: the machine has no such memory. */
bool soc_final_read(struct soc_final *f, const struct program *p, const struct soc_interface *soc,
                    struct soc *s, uint64_t *values);
void soc_final_free(struct soc_final *f);

#endif
