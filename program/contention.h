/* SPDX-License-Identifier: Apache-2.0 */
/* Which words of memory threads contend for: those that one thread writes and another accesses while
 * both exist. Accesses to all others are nobody's business, and no steps of their own.
 *
 * Nobody knows this before the search, so it is learned: a word is thought to be at peace until an
 * execution says otherwise, and the search then begins again with what was learned (PROGRAM.md,
 * "Words at peace"). Workers share one; what is thought does not change while they search. */
#ifndef PROGRAM_CONTENTION_H
#define PROGRAM_CONTENTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct contention;

struct contention *contention_new(void); /* NULL: no memory */
void contention_free(struct contention *c);

/* The thread accesses the word at `address` while others exist. True: it is thought to be at peace. */
bool contention_access(struct contention *c, uint32_t thread, uint32_t address, bool write);
/* The same of a block that it frees, or of what of its stack lies below `to` and is left. */
void contention_frees(struct contention *c, uint32_t thread, uint32_t address, uint32_t size);
void contention_leaves(struct contention *c, uint32_t thread, uint32_t to);
/* Words of which it is known before. */
void contention_expect(struct contention *c, const uint32_t *address, size_t count);

/* A word was thought to be at peace and is not: all since then is worth nothing. */
bool contention_surprised(const struct contention *c);
/* From now on what was learned is thought. No worker runs. False: no memory. */
bool contention_accept(struct contention *c);
/* The words that are not at peace: their addresses, in the order in which they were learned. */
const uint32_t *contention_words(const struct contention *c, size_t *count);

/* What was seen of all words, as (address, what) pairs, to keep it and to have it back. NULL: no
 * memory. */
uint32_t *contention_keep(const struct contention *c, size_t *pairs);
/* Whether it has words that are not at peace which these pairs have not. */
bool contention_knows_more(const struct contention *c, const uint32_t *pair, size_t pairs);
bool contention_restore(struct contention *c, const uint32_t *pair, size_t pairs);

#endif
