/* SPDX-License-Identifier: Apache-2.0 */
/* Store buffers: a list of entries for each thread, oldest first. What the models that have them
 * share. */
#ifndef PROGRAM_BUFFERS_H
#define PROGRAM_BUFFERS_H

#include "memory_model.h"

enum { BUFFERS_UNBOUNDED = 2048 }; /* entries of a buffer where no bound is given */

struct buffer_entry {
    uint32_t address, value;
    uint8_t size;
    bool mark;          /* TSO: flushed. PSO: a fence that orders stores is before it */
    uint16_t slot;      /* of its row in the order */
    uint32_t pc, cause; /* for people; not of the state */
};
struct buffer {
    uint32_t count;
    bool fenced; /* PSO: such a fence comes after the last */
    struct buffer_entry *entry;
};
struct buffers {
    uint32_t capacity; /* of each */
    uint32_t threads;  /* those from here on have none */
    struct buffer of[EXPLORE_THREADS];
};

bool buffers_make(struct buffers *b, uint32_t capacity);
void buffers_free(struct buffers *b);
void buffers_copy(struct buffers *to, const struct buffers *from);
void buffers_reset(struct buffers *b);
bool buffers_empty(const struct buffers *b);

static inline struct buffers *buffers_of(const struct state *s) { return s->buffers; }
static inline uint32_t buffers_capacity(const struct explore_options *o)
{
    return o->buffers ? o->buffers : BUFFERS_UNBOUNDED;
}
static inline bool entries_overlap(uint32_t a, uint32_t a_size, uint32_t b, uint32_t b_size)
{
    return a < b + b_size && b < a + a_size;
}
static inline bool entry_covers(const struct buffer_entry *e, uint32_t byte)
{
    return byte - e->address < e->size;
}
static inline uint8_t entry_byte(const struct buffer_entry *e, uint32_t byte)
{
    return (uint8_t)(e->value >> (byte - e->address) * 8);
}

struct buffer_entry *buffer_push(struct state *s, const struct access *a, uint32_t value);
void buffer_remove(struct buffer *b, uint32_t k);
/* The same where marks are fences between entries: they stay where others are on both sides. */
void buffer_leave(struct buffer *b, uint32_t k);
/* Bytes of the newest own entries over those of memory. */
uint32_t buffer_overlay(const struct state *s, uint32_t thread, uint32_t address, uint32_t size,
                        bool *forwarded);
uint8_t buffer_peek(const struct state *s, uint32_t thread, uint32_t address);
bool buffer_view(const struct state *s, uint32_t thread, size_t k, struct explore_entry *entry);
/* To memory, and out of the buffer. */
void buffer_commit(struct state *s, uint32_t thread, uint32_t k);
void buffer_commit_all(struct state *s, uint32_t thread);

uint32_t buffer_most_words(const struct state *s);
uint32_t buffer_pack(const struct state *s, uint32_t part, uint32_t *words);
void buffer_unpack(struct state *s, uint32_t part, const uint32_t *words, uint32_t count);

/* What models with plain buffers do the same way. */
void *plain_make(const struct state *s);
void plain_drop_made(void *buffers);
void plain_copy(const struct state *s, void *to, const void *from);
void plain_reset(struct state *s);
uint32_t plain_load(struct state *s, const struct access *a);
uint32_t plain_atomic_read(struct state *s, const struct access *a);
void plain_atomic_write(struct state *s, const struct access *a, uint32_t value);
void plain_fence(struct state *s, const struct access *a);
void plain_section(struct state *s, uint32_t thread, bool begins);
void plain_drop(struct state *s, uint32_t thread, uint32_t from, uint32_t to);
bool plain_alone(struct state *s, uint32_t thread);
void plain_start(struct state *s, uint32_t thread);

/* What PSO and PSLO share. */
enum readiness pso_look(const struct state *s, const struct access *a);
void pso_store(struct state *s, const struct access *a, uint32_t value);
void pso_fence(struct state *s, const struct access *a);
bool pso_write_waits(const struct state *s, const struct access *a);
uint32_t pso_moves(const struct state *s, uint32_t thread);
uint32_t pso_entry_of_move(const struct state *s, uint32_t thread, uint32_t k);
/* Moves in an order that is chosen, until there are none. */
void buffers_drain(struct state *s);

#endif
