/* SPDX-License-Identifier: Apache-2.0 */
/* A trace or a test as it was read or built: operations in file order, facts about the whole. */
#ifndef ORDEAL_TRACE_H
#define ORDEAL_TRACE_H

#include "context.h"

struct trace_word { uint32_t base; uint8_t size_log2; uint32_t line; uint64_t address; };
struct trace_init { struct trace_word word; uint64_t value; };
struct trace_order { struct trace_word word; size_t first, count; }; /* values in order_values */
struct trace_final { struct trace_word word; uint64_t value; };
struct trace_time { uint32_t op; uint64_t begin, end; };
struct trace_register {
    uint32_t op, reg;
    uint8_t use; /* enum ordeal_register_use */
};
struct trace_compare { uint32_t op; uint64_t value; };
struct trace_step { uint32_t op; uint64_t step; };
struct trace_line { uint64_t address; bool placed; uint8_t marks; }; /* of a name, in a test */
struct trace_told { uint32_t base; uint8_t marks; }; /* marks of a line's memory; 0: its place */

struct ordeal_trace {
    struct ordeal *o;
    char file[256];                       /* for messages; "" when built by a program */
    VEC(struct ordeal_op) ops;
    VEC(uint32_t) threads;                /* thread index -> the n of Pn */
    VEC(uint32_t) names;                  /* name number - 1 -> offset in text, NUL-terminated */
    VEC(char) text;
    VEC(uint8_t) bytes;                   /* values of wide accesses */
    VEC(struct trace_time) times;         /* ascending by op, one for each HAS_BEGIN or HAS_END */
    VEC(struct trace_register) registers; /* ascending by op */
    VEC(struct trace_compare) compares;   /* ascending by op, one for each CAS */
    VEC(struct trace_step) steps;         /* ascending by op, none of them 0 */
    VEC(struct trace_init) inits;
    VEC(struct trace_order) orders;
    VEC(uint64_t) order_values;
    VEC(struct trace_final) finals;       /* the value a word holds when all is done */
    VEC(struct trace_line) lines;         /* name number - 1; may end early: nothing is known */
    VEC(struct trace_told) told;          /* what was said of lines, in that order */
    VEC(uint32_t) thread_table, name_table; /* open-addressed hashes: index + 1, 0 empty */
    bool claimed;
    enum ordeal_model claim;
    uint32_t atomic;                      /* accesses up to this many bytes happen at once */
    uint64_t seed;                        /* of branches; 0 when nothing is said */
};

/* Names of ops: "L", "SWAP", … and what they have: one table for readers, writers and messages. */
extern const char *const trace_op_names[ORDEAL_OP_KINDS];
enum {
    OP_LOCATION = 1,
    OP_READS = 2,
    OP_WRITES = 4,
    OP_COMPARES = 8,
    OP_COUNT = 16, /* `write` is a number of its own: cycles, a thread, times round */
    OP_UNRUN = 32, /* only in tests: a run leaves none of it */
    OP_RESULT = 64 /* `read` is not of memory, but whether it wrote: 0 or 1 */
};
extern const uint8_t trace_op_traits[ORDEAL_OP_KINDS];
extern const char *const trace_barrier_names[4]; /* of the bits of ORDEAL_FULL, lowest first */
extern const char *const trace_amo_names[ORDEAL_AMO_FUNCTIONS]; /* AMOADD is an AMO of ADD */
extern const char *const trace_use_names[ORDEAL_REGISTER_USES]; /* "<", ">", "<addr:", … */
extern const char *const trace_mark_names[4]; /* by acquire + 2 * release: "", ".aq", … */

#define TRACE_NAME_MAX 255
#define TRACE_DEFAULT_ATOMIC 4
#define TRACE_LINE_BYTES 64
#define TRACE_COUNT_MAX (ORDEAL_NONE - 1)
#define TRACE_NONFAULTING_NAME "NFL" /* a load that is not called L */
/* Enough for ordeal_trace_format: a name of full length and three values of 64 bytes. */
#define TRACE_FORMAT_MAX 768

static inline unsigned trace_marks(const struct ordeal_op *op)
{
    return op->flags / ORDEAL_ACQUIRES & 3;
}
static inline bool trace_has_count(const struct ordeal_op *op)
{
    return trace_op_traits[op->kind] & OP_COUNT || op->flags & ORDEAL_HAS_LIMIT;
}
/* What names consist of: digits and dots not in first place. */
static inline bool trace_name_start(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26 || c == '_';
}
static inline bool trace_name_letter(char c)
{
    return trace_name_start(c) || (unsigned char)(c - '0') < 10 || c == '.';
}
/* The first entry for an operation >= op of a side table: they ascend by it and begin with it. */
size_t trace_find(const void *table, size_t item, size_t count, size_t op);
#define TRACE_FIND(v, op) trace_find((v)->data, sizeof *(v)->data, (v)->count, op)
const struct trace_time *trace_time_of(const struct ordeal_trace *t, size_t op); /* or NULL */
static inline bool trace_value_fits(uint64_t value, uint8_t size_log2)
{
    return size_log2 >= 3 || value >> (8u << size_log2) == 0;
}

/* What is wrong with a location, or NULL. */
const char *trace_location_fault(const struct ordeal_trace *t, uint32_t base, uint64_t address,
                                 uint8_t size_log2);
/* The location "A+4/8" as snprintf does; `size_log2` 2 is not written. */
int trace_format_location(const struct ordeal_trace *t, uint32_t base, uint64_t address,
                          uint8_t size_log2, char *buffer, size_t size);

/* Give the last operation, which has none, its cycles: `flags` says which. */
enum ordeal_status trace_add_times(struct ordeal_trace *t, uint8_t flags, uint64_t begin,
                                   uint64_t end);
/* Add to the values of the last order. */
enum ordeal_status trace_order_more(struct ordeal_trace *t, const uint64_t *values, size_t count);

/* Forget what was added after the mark; names and threads stay. */
struct trace_mark {
    size_t ops, bytes, times, registers, compares, steps, inits, orders, order_values, finals, told;
    size_t last_order; /* values of the last order */
    bool claimed;
    enum ordeal_model claim;
    uint32_t atomic;
    uint64_t seed;
};
struct trace_mark trace_mark(const struct ordeal_trace *t);
void trace_rewind(struct ordeal_trace *t, const struct trace_mark *mark);

#endif
