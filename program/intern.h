/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in which each entry of so many bytes is once, and has a number: what all workers of a
 * search share. Entries lie one after the other by number; an index of 32-bit slots finds them,
 * each with as many bits of the hash as the number leaves, so that a probe seldom looks at a wrong
 * entry. Adding is lockless. The index grows when nobody is adding (intern_grow). */
#ifndef PROGRAM_INTERN_H
#define PROGRAM_INTERN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INTERN_BLOCK = 64 }; /* numbers that a worker takes at a time where there are others */
#define INTERN_FULL UINT32_MAX

struct intern {
    uint32_t entry_bytes;
    uint32_t block;       /* numbers taken at a time */
    uint32_t number_bits; /* of a slot; the others are of the hash */
    uint32_t slots;
    _Atomic uint32_t *index; /* 0: free */
    uint8_t *entries;
    uint64_t most;          /* entries that there is room for */
    _Atomic uint32_t count; /* numbers taken; 0 is nobody's */
};
/* A worker's place in a table: the numbers that it has taken and not used. */
struct intern_cursor {
    uint32_t next, end;
};

bool intern_new(struct intern *t, uint32_t entry_bytes, uint32_t slots, uint64_t most, bool shared);
void intern_free(struct intern *t);
/* The number of the entry, which is added if it is new; INTERN_FULL: the index has to grow first.
 */
uint32_t intern_add(struct intern *t, struct intern_cursor *c, const void *entry, uint64_t hash,
                    bool *is_new);
static inline const void *intern_get(const struct intern *t, uint32_t number)
{
    return t->entries + (size_t)number * t->entry_bytes;
}
/* Whether it should grow soon; and does. False: no memory. */
bool intern_wants_to_grow(const struct intern *t);
bool intern_grow(struct intern *t);
/* Its entries up to `count` were written from outside: the index is made for them. */
bool intern_restore(struct intern *t, uint32_t count);
size_t intern_bytes(const struct intern *t); /* that are in use */

uint64_t intern_hash(const void *entry, uint32_t bytes); /* a multiple of 8 */

#endif
