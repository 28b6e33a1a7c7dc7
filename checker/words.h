/* SPDX-License-Identifier: Apache-2.0 */
/* Words: how the memory that a trace touches divides into locations.
 *
 * Accesses are aligned and a power of two wide, so any two of them are disjoint or nested. A
 * location is a block of the coarsest aligned division in which every access is a union of blocks,
 * no block is wider than a value (8 bytes), and none is wider than what is read or written at once.
 * Locations ascend by base and address, so those of one access are neighbours. */
#ifndef ORDEAL_WORDS_H
#define ORDEAL_WORDS_H

#include "execution.h"

struct word {
    uint32_t base;
    uint8_t size_log2;
    bool counts;               /* else it was entered in vain, as by an aborted transaction */
    bool accessed;             /* else it is only spoken of, as by an `order` line */
    bool divided;              /* some access to it is made in parts of `atomic` bytes */
    uint64_t address;
    uint64_t events;           /* by how many single-location events it is accessed */
    uint32_t first, count;     /* its locations, once divided; count 0: nobody accesses it */
};

struct words {
    VEC(struct word) list;
    uint32_t *table;           /* open addressing: index + 1, 0 empty */
    size_t table_size;         /* a power of two, or 0 */
};

/* The number of the word, entered when it is new; NONE: out of memory. */
uint32_t words_enter(struct ordeal *o, struct words *w, uint32_t base, uint64_t address,
                     uint8_t size_log2);
/* The same for a word that may not be there: NONE. */
uint32_t words_find(const struct words *w, uint32_t base, uint64_t address, uint8_t size_log2);
/* Make the locations; parts are 1 << part_log2 bytes. */
enum ordeal_status words_divide(struct ordeal *o, struct words *w, uint8_t part_log2,
                                struct location **location, uint32_t *locations);
void words_free(struct ordeal *o, struct words *w);

#endif
