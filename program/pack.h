/* SPDX-License-Identifier: Apache-2.0 */
/* States as numbers. A state is cut into parts (a thread's control, its stack, what it allocated,
 * its buffer, data), a part into chunks of 16 words, each of which is interned; pairs of numbers
 * are, too, up to one pair for the whole state. A packer belongs to one unpacked state and knows
 * the numbers of all its pieces, so that only what a step changed is interned again, and only what
 * differs between two states is written when the next one is unpacked. */
#ifndef PROGRAM_PACK_H
#define PROGRAM_PACK_H

#include "intern.h"
#include "state.h"

enum { CHUNK_WORDS = 16, CHUNK_BYTES = 64 };
#define PACK_FULL UINT32_MAX

/* What all packers of a search share. */
struct pieces {
    struct intern chunks, nodes, states;
};
bool pieces_new(struct pieces *p, bool shared);
void pieces_free(struct pieces *p);
bool pieces_want_to_grow(const struct pieces *p);
bool pieces_grow(struct pieces *p); /* those that want to */
size_t pieces_bytes(const struct pieces *p);

struct packer;
struct packer *packer_new(struct state *s, struct pieces *p);
void packer_free(struct packer *k);
/* Of the state as it is since state_mark(), when it was the one that was packed or unpacked last.
 * What packing changes is logged: state_undo() takes it back. PACK_FULL: tables have to grow first.
 */
uint32_t packer_pack(struct packer *k, bool *is_new);
void packer_unpack(struct packer *k, uint32_t state);
/* Numbers of states that were taken and not used are left out from now on; how many. */
uint32_t packer_skip_numbers(struct packer *k);
uint32_t packer_unused_numbers(const struct packer *k); /* that it would leave out */
/* Everything anew: of a state that is not a successor of the last one. */
uint32_t packer_pack_whole(struct packer *k, bool *is_new);
/* Asserts that the state, which was unpacked or taken back to, is the one with this number. */
void packer_check(struct packer *k, uint32_t state);

#endif
