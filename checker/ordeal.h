/* SPDX-License-Identifier: Apache-2.0 */
/* libordeal: decide whether an execution of a shared-memory multiprocessor obeys its memory model.
 *
 * Read or build a trace, check it, walk the verdict.  Reentrant: everything hangs off the
 * context you make; one context per thread.  No globals, no exit, no output.  Every function
 * that can fail returns an enum ordeal_status and leaves the reason in ordeal_last_error().
 * One thing ends the process: an assertion that fails, which is a defect of ordeal or an argument
 * out of the bounds given below, never something that was read. A wrong verdict would be worse.
 * See tests/example_testbench.c for the whole of it in use. */
#ifndef ORDEAL_H
#define ORDEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORDEAL_VERSION "0.5.0"
#define ORDEAL_NONE UINT32_MAX

enum ordeal_status {
    ORDEAL_OK,
    ORDEAL_BAD_INPUT,   /* the trace or witness is malformed; the error has file, line, column */
    ORDEAL_BAD_USAGE,   /* the arguments do not go together */
    ORDEAL_IO,          /* a stream could not be read or written */
    ORDEAL_NO_MEMORY,   /* an allocation failed */
    ORDEAL_LIMIT,       /* time or memory limit reached, or interrupted */
    ORDEAL_INTERNAL,    /* the certifier refused a verdict: a defect of ordeal */
    ORDEAL_END,         /* a reader has no further trace */
};

struct ordeal_error {
    enum ordeal_status status;
    uint64_t line, column; /* 1-based; 0 where they mean nothing (in binary: line is the block) */
    char file[256];
    char reason[512];
};

/* ---- context ------------------------------------------------------------------------- */

/* Where memory comes from.  resize(user, p, old, new): new == 0 frees, p == NULL allocates;
 * returns NULL on failure and leaves the old block alone. */
struct ordeal_memory {
    void *(*resize)(void *user, void *pointer, size_t old_bytes, size_t new_bytes);
    void *user;
};

struct ordeal_limits {
    double seconds;        /* wall clock of one check; 0: none */
    size_t bytes;          /* memory of the context; 0: none */
    /* Called now and then with the share done (0..1, negative: unknown); true: stop. */
    bool (*progress)(void *user, const char *phase, double share);
    void *user;
};

struct ordeal;
struct ordeal *ordeal_new(const struct ordeal_memory *memory); /* NULL: malloc; NULL on failure */
void ordeal_free(struct ordeal *o);
void ordeal_set_limits(struct ordeal *o, const struct ordeal_limits *limits);
const struct ordeal_error *ordeal_last_error(const struct ordeal *o);
size_t ordeal_memory_used(const struct ordeal *o);
size_t ordeal_memory_peak(const struct ordeal *o);

/* ---- models -------------------------------------------------------------------------- */

enum ordeal_model {
    ORDEAL_SC,
    ORDEAL_TSO,
    ORDEAL_PSO,
    ORDEAL_PC,
    ORDEAL_RMO,
    ORDEAL_RVWMO,
    ORDEAL_RVTSO, /* of RISC-V: its own, and with Ztso */
    ORDEAL_MODELS
};
const char *ordeal_model_name(enum ordeal_model m);
bool ordeal_model_parse(const char *name, enum ordeal_model *m); /* any case */

/* ---- traces -------------------------------------------------------------------------- */

/* clang-format off */
enum ordeal_op_kind {
    ORDEAL_LOAD, ORDEAL_STORE, ORDEAL_SWAP, ORDEAL_CAS, ORDEAL_MEMBAR,
    ORDEAL_TX_BEGIN, ORDEAL_TX_END, ORDEAL_TX_ABORT,
    ORDEAL_PREFETCH, ORDEAL_FLUSH, ORDEAL_EVICT, /* no effect on the verdict, nor have */
    ORDEAL_DELAY, ORDEAL_INTERRUPT,              /* these: `write` is cycles, the n of Pn */
    ORDEAL_LOOP_BEGIN, ORDEAL_LOOP_END,          /* in tests alone; `write` is the count */
    ORDEAL_BRANCH_BEGIN, ORDEAL_BRANCH_ELSE, ORDEAL_BRANCH_END,
    ORDEAL_AMO, /* an atomic read-modify-write; `write` is its operand, not what is written */
    ORDEAL_LOAD_RESERVED,     /* LR: a load that reserves */
    ORDEAL_STORE_CONDITIONAL, /* SC: stores if nobody did meanwhile; `read` is 0 if so, else 1 */
    ORDEAL_OP_KINDS
};
/* clang-format on */

/* Barrier flavours: the first letter is the earlier operation, the second the later one. */
enum { ORDEAL_LL = 1, ORDEAL_LS = 2, ORDEAL_SL = 4, ORDEAL_SS = 8, ORDEAL_FULL = 15 };

/* What an AMO writes: its operand added to the value read, or-ed with it, …, modulo its size; the
 * smaller or larger of the two, as signed numbers (MIN, MAX) or unsigned ones (MINU, MAXU). */
/* clang-format off */
enum ordeal_amo_function {
    ORDEAL_AMO_ADD, ORDEAL_AMO_AND, ORDEAL_AMO_OR, ORDEAL_AMO_XOR,
    ORDEAL_AMO_MIN, ORDEAL_AMO_MAX, ORDEAL_AMO_MINU, ORDEAL_AMO_MAXU, ORDEAL_AMO_FUNCTIONS
};
/* clang-format on */
/* Both values fit the size, which is of up to 8 bytes. */
uint64_t ordeal_amo_result(enum ordeal_amo_function function, uint8_t size_log2, uint64_t read,
                           uint64_t operand);

enum {
    ORDEAL_HAS_VALUE = 1, /* the value read is known (a test leaves it blank) */
    ORDEAL_HAS_BEGIN = 2,
    ORDEAL_HAS_END = 4,
    ORDEAL_NONFAULTING = 8,       /* of a load: reads 0 where there is no memory */
    ORDEAL_COMPARE_REGISTER = 16, /* of a CAS in a test: `compare` is the number of a register */
    ORDEAL_HAS_LIMIT = 32,        /* of a TX_BEGIN in a test: `write` is how often it is retried
                                        before its operations are done plainly */
    /* Of an access: it stays before all that come later, behind all that came earlier. Of LR, SC,
     * SWAP, CAS and AMOs with either, the order among themselves is kept. */
    ORDEAL_ACQUIRES = 64,
    ORDEAL_RELEASES = 128
};

/* One operation as written in a trace.  Values of accesses up to 8 bytes are held directly,
 * little-endian as on the machine; wider ones are offsets into the trace's bytes. */
struct ordeal_op {
    uint8_t kind, size_log2, flags;
    union {
        uint8_t barrier;  /* of a MEMBAR: its flavours */
        uint8_t function; /* of an AMO: enum ordeal_amo_function */
    };
    uint32_t thread;   /* index of the thread, see ordeal_trace_thread */
    uint32_t base;     /* 0: absolute address; else the number of a name, see ordeal_trace_name */
    uint32_t line;     /* where it came from (binary: its number); 0 when built by a program */
    uint64_t address;  /* absolute, or offset from the name */
    uint64_t read, write;
};

/* What a store, a swap, or an AMO whose value read is known leaves in memory: as in `write`. */
uint64_t ordeal_op_written(const struct ordeal_op *op);

struct ordeal_trace;
struct ordeal_trace *ordeal_trace_new(struct ordeal *o);
void ordeal_trace_free(struct ordeal_trace *t);

/* Thread and name numbers, created on first use.  `number` is the n of Pn. */
enum ordeal_status ordeal_trace_thread(struct ordeal_trace *t, uint32_t number, uint32_t *thread);
enum ordeal_status ordeal_trace_name(struct ordeal_trace *t, const char *name, size_t length,
                                     uint32_t *base);

/* Append an operation; those of one thread in program order.  `compare` is used by CAS alone.
 * For accesses wider than 8 bytes use ordeal_trace_bytes first and pass the offset. */
enum ordeal_status ordeal_trace_add(struct ordeal_trace *t, const struct ordeal_op *op,
                                    uint64_t compare);
enum ordeal_status ordeal_trace_bytes(struct ordeal_trace *t, const uint8_t *bytes, size_t length,
                                      uint64_t *offset);
/* For the operation just added: its cycles (as its flags say), the registers it writes and reads
 * (RMO's dependence order; numbers are the caller's, private to the thread). */
enum ordeal_status ordeal_trace_times(struct ordeal_trace *t, uint64_t begin, uint64_t end);
/* In a loop of a test: what is added to the value written each time round (up to 8 bytes). */
enum ordeal_status ordeal_trace_step(struct ordeal_trace *t, uint64_t step);
enum ordeal_status ordeal_trace_writes_register(struct ordeal_trace *t, uint32_t reg);
enum ordeal_status ordeal_trace_reads_register(struct ordeal_trace *t, uint32_t reg);
/* The same, and what for: RVWMO keeps more of an address than of data. A branch that depends on the
 * register (CONTROL) stands before the operation, and so before all later ones of its thread. */
enum ordeal_register_use {
    ORDEAL_REGISTER_READ,
    ORDEAL_REGISTER_WRITTEN,
    ORDEAL_REGISTER_ADDRESS,
    ORDEAL_REGISTER_DATA,
    ORDEAL_REGISTER_CONTROL,
    ORDEAL_REGISTER_USES
};
enum ordeal_status ordeal_trace_uses_register(struct ordeal_trace *t, uint32_t reg,
                                              enum ordeal_register_use use);
/* Whole-trace facts; they speak of locations of 1, 2, 4 or 8 bytes. */
enum ordeal_status ordeal_trace_init(struct ordeal_trace *t, uint32_t base, uint64_t address,
                                     uint8_t size_log2, uint64_t value);
enum ordeal_status ordeal_trace_order(struct ordeal_trace *t, uint32_t base, uint64_t address,
                                      uint8_t size_log2, const uint64_t *values, size_t count);
/* The value the word holds when everything is done: no store comes after the one of this value. */
enum ordeal_status ordeal_trace_final(struct ordeal_trace *t, uint32_t base, uint64_t address,
                                      uint8_t size_log2, uint64_t value);
void ordeal_trace_claim(struct ordeal_trace *t, enum ordeal_model m);       /* `model` line */
/* Accesses up to this many bytes are single-copy atomic: a power of two up to 64; 4 at first. */
enum ordeal_status ordeal_trace_atomic(struct ordeal_trace *t, uint32_t bytes);

/* Of tests: what the branches are decided by; where the line of a name lies in the memory of the
 * test, in bytes, a multiple of 64, told once; and what kind of memory it is (marks are added). */
enum { ORDEAL_UNCACHED = 1, ORDEAL_FAULTING = 2 };
void ordeal_trace_seed(struct ordeal_trace *t, uint64_t seed);
enum ordeal_status ordeal_trace_place(struct ordeal_trace *t, uint32_t base, uint64_t address);
enum ordeal_status ordeal_trace_memory(struct ordeal_trace *t, uint32_t base, uint8_t marks);

size_t ordeal_trace_length(const struct ordeal_trace *t);
const struct ordeal_op *ordeal_trace_op(const struct ordeal_trace *t, size_t i);
bool ordeal_trace_claimed(const struct ordeal_trace *t, enum ordeal_model *m);
/* What was given by the functions above. */
uint32_t ordeal_trace_threads(const struct ordeal_trace *t);
uint32_t ordeal_trace_thread_number(const struct ordeal_trace *t, uint32_t thread);
uint32_t ordeal_trace_names(const struct ordeal_trace *t);         /* bases are 1 .. names */
const char *ordeal_trace_name_text(const struct ordeal_trace *t, uint32_t base);
uint64_t ordeal_trace_compare_of(const struct ordeal_trace *t, size_t i);    /* of a CAS */
uint64_t ordeal_trace_step_of(const struct ordeal_trace *t, size_t i);       /* 0: none */
const uint8_t *ordeal_trace_bytes_at(const struct ordeal_trace *t, uint64_t offset);
/* The cycles of operation i, as far as its flags say there are; false: there are none. */
bool ordeal_trace_times_of(const struct ordeal_trace *t, size_t i, uint64_t *begin, uint64_t *end);
/* The k-th register of operation i, in the order given; false when there is no such. */
bool ordeal_trace_register_of(const struct ordeal_trace *t, size_t i, size_t k, uint32_t *reg,
                              bool *written);
bool ordeal_trace_register_use(const struct ordeal_trace *t, size_t i, size_t k, uint32_t *reg,
                               enum ordeal_register_use *use);
/* The k-th initial value; false when there is no such. */
bool ordeal_trace_init_at(const struct ordeal_trace *t, size_t k, uint32_t *base,
                          uint64_t *address, uint8_t *size_log2, uint64_t *value);
/* The same of the final values; of the orders of stores, each `count` values of the trace's. */
bool ordeal_trace_final_at(const struct ordeal_trace *t, size_t k, uint32_t *base,
                           uint64_t *address, uint8_t *size_log2, uint64_t *value);
bool ordeal_trace_order_at(const struct ordeal_trace *t, size_t k, uint32_t *base,
                           uint64_t *address, uint8_t *size_log2, const uint64_t **values,
                           size_t *count);
uint32_t ordeal_trace_atomic_of(const struct ordeal_trace *t);
uint64_t ordeal_trace_seed_of(const struct ordeal_trace *t);       /* 0: none was given */
bool ordeal_trace_place_of(const struct ordeal_trace *t, uint32_t base, uint64_t *address);
uint8_t ordeal_trace_memory_of(const struct ordeal_trace *t, uint32_t base);
/* The operation in the text notation, "P1 SWAP[A]=1#2"; returns the length as snprintf does. */
int ordeal_trace_format(const struct ordeal_trace *t, size_t i, char *buffer, size_t size);

/* ---- reading and writing ------------------------------------------------------------- */

enum ordeal_format {
    ORDEAL_FORMAT_GUESS,
    ORDEAL_FORMAT_TEXT,
    ORDEAL_FORMAT_BINARY,
    ORDEAL_FORMAT_AXE,
    ORDEAL_FORMAT_COMMITS /* only read */
};

/* A reader streams traces from a file; most hold one, but any may hold several.  `name` is for
 * messages.  The stream stays the caller's to close, after ordeal_reader_free. */
struct ordeal_reader;
struct ordeal_reader *ordeal_reader_new(struct ordeal *o, FILE *stream, const char *name,
                                        enum ordeal_format format);
/* ORDEAL_OK and a trace, ORDEAL_END, or an error.  After ORDEAL_BAD_INPUT in a binary file
 * *trace holds everything before the damage. */
enum ordeal_status ordeal_reader_next(struct ordeal_reader *r, struct ordeal_trace **trace);
void ordeal_reader_free(struct ordeal_reader *r);

enum ordeal_status ordeal_write_text(const struct ordeal_trace *t, FILE *stream);
enum ordeal_status ordeal_write_binary(const struct ordeal_trace *t, FILE *stream, bool compress);
enum ordeal_status ordeal_write_axe(const struct ordeal_trace *t, FILE *stream);

/* ---- checking ------------------------------------------------------------------------ */

enum ordeal_algorithm { ORDEAL_AUTO, ORDEAL_CONFLICT, ORDEAL_BASELINE, ORDEAL_HEU, ORDEAL_DERIV,
                        ORDEAL_HEU_BACK, ORDEAL_DERIV_BACK, ORDEAL_ALGORITHMS };
const char *ordeal_algorithm_name(enum ordeal_algorithm a);
bool ordeal_algorithm_parse(const char *name, enum ordeal_algorithm *a);

enum ordeal_result { ORDEAL_PASS, ORDEAL_FAIL, ORDEAL_UNDECIDED };

struct ordeal_options {
    enum ordeal_model model;
    enum ordeal_algorithm algorithm;
    bool time_order;   /* take cycles as order, not only as hints */
    bool no_certify;   /* skip the independent proof of the verdict */
    bool no_core;      /* a FAIL keeps the first proof found: no minimal core */
};

struct ordeal_verdict;
/* ORDEAL_OK with a verdict (which may be UNDECIDED, limits included), or an error. */
enum ordeal_status ordeal_check(const struct ordeal_trace *t, const struct ordeal_options *options,
                                struct ordeal_verdict **verdict);
void ordeal_verdict_free(struct ordeal_verdict *v);

enum ordeal_result ordeal_verdict_result(const struct ordeal_verdict *v);
enum ordeal_model ordeal_verdict_model(const struct ordeal_verdict *v);
/* Why UNDECIDED, or a remark on PASS and FAIL ("" when there is none). */
const char *ordeal_verdict_note(const struct ordeal_verdict *v);
/* Counters for the verdict line: name and value of the i-th; false when there is no such. */
bool ordeal_verdict_counter(const struct ordeal_verdict *v, size_t i, const char **name,
                            uint64_t *value);

/* ---- many executions of one test ------------------------------------------------------- */

/* Tries one schedule of the model's machine that would give the values, by guesses that real
 * machines seldom prove wrong, in a fraction of the time of ordeal_check. True is a proof: the
 * machine did it, step by step. False says nothing: ask ordeal_check.
 *
 * The trace is straight: no loops, no branches; what it says of values read is not looked at, they
 * come with each call, one for every L, SWAP, CAS and AMO of up to 8 bytes (size/8 of wider ones,
 * lowest first) but those of aborted transactions, in the order of the trace; behind them the final
 * values of the words that the trace gives such of, in its order. ORDEAL_BAD_USAGE: a trace or a
 * model this cannot do. */
struct ordeal_replay;
enum ordeal_status ordeal_replay_new(const struct ordeal_trace *t, enum ordeal_model model,
                                     struct ordeal_replay **replay);
bool ordeal_replay_passes(struct ordeal_replay *r, const uint64_t *values);
void ordeal_replay_free(struct ordeal_replay *r);

/* ---- walking a verdict --------------------------------------------------------------- */

/* One word access of the expanded trace: what proofs and orders speak of. */
struct ordeal_event {
    bool store;        /* else a load */
    uint32_t op;       /* its operation in the trace, ORDEAL_NONE: the initial store of the word */
    uint32_t thread;   /* ORDEAL_NONE for an initial store */
    uint64_t value;
    char location[64]; /* the word's name, as "A" or "0x80001040" */
};
uint32_t ordeal_verdict_events(const struct ordeal_verdict *v); /* how many there are */
void ordeal_verdict_event(const struct ordeal_verdict *v, uint32_t event,
                          struct ordeal_event *out);

/* PASS: the total order.  One place per atomic group, named by its first event; under PC one
 * per load and one per store and view (the thread in whose memory it lands). */
struct ordeal_place { uint32_t event, view; };
size_t ordeal_verdict_order(const struct ordeal_verdict *v, const struct ordeal_place **places);

/* FAIL: the core's operations, ascending, and the proof.  A proof is a list of steps, each a
 * clause that holds for every legal order, the last one empty.  A step's clause follows from its
 * cycle: were all its literals false, the edges would run in a circle; a step without edges
 * follows from the clauses before it by unit propagation. */
struct ordeal_literal {
    bool reads, negated; /* reads: `load a saw store b`; else `store a is before store b` */
    uint32_t a, b;
};
struct ordeal_edge {
    uint8_t rule;                      /* enum ordeal_rule */
    uint32_t from, to;                 /* events */
    uint32_t from_view, to_view;       /* of stores under PC */
    uint32_t via;                      /* R5: the load; R7: the store that `from` saw; AT (PC): from
                                          another store to a swap's load, the swap's store; from a
                                          swap's store to another, what the swap saw; else NONE */
};
enum ordeal_rule {
#define ORDEAL_RULE(NAME, SHORT, TEXT) ORDEAL_RULE_##NAME,
#define ORDEAL_RULES \
    ORDEAL_RULE(R1, "R1", "a load is performed before what follows it") \
    ORDEAL_RULE(R2, "R2", "stores of a thread are performed in program order") \
    ORDEAL_RULE(R3, "R3", "a membar stands between") \
    ORDEAL_RULE(PO, "PO", "the model keeps this program order") \
    ORDEAL_RULE(SAME, "SA", "same word, program order is kept") \
    ORDEAL_RULE(DEP, "DEP", "depends on it") \
    ORDEAL_RULE(T2, "T2", "a transaction follows all that was before it") \
    ORDEAL_RULE(T3, "T3", "a transaction precedes all that comes after it") \
    ORDEAL_RULE(R4, "R4", "saw its value") \
    ORDEAL_RULE(R5, "R5", "a later load of its thread saw the other store") \
    ORDEAL_RULE(R6, "R6", "a later load saw the other store") \
    ORDEAL_RULE(R7, "R7", "saw the value before it was overwritten") \
    ORDEAL_RULE(INIT, "INIT", "initial values are there first") \
    ORDEAL_RULE(ORDER, "A6", "the trace gives this store order") \
    ORDEAL_RULE(TIME, "TIME", "ended before the other began") \
    ORDEAL_RULE(CO, "CO", "stores to one word are in one order") \
    ORDEAL_RULE(FINAL, "FIN", "the trace gives this final value") \
    ORDEAL_RULE(ATOMIC, "AT", "no store comes between the halves of a swap, or an LR and its SC") \
    ORDEAL_RULE(ACQUIRE, "AQ", "what follows an acquire stays behind it") \
    ORDEAL_RULE(RELEASE, "RL", "a release stays behind what is before it") \
    ORDEAL_RULE(MARKED, "AR", "atomics that acquire or release stay in order") \
    ORDEAL_RULE(PAIR, "LRSC", "an SC is performed behind its LR") \
    ORDEAL_RULE(MEMORY, "FW", "an atomic's store is seen in memory alone") \
    ORDEAL_RULE(APART, "LL", "loads of a word that saw different stores stay in order")
    ORDEAL_RULES
#undef ORDEAL_RULE
        ORDEAL_RULE_COUNT
};
const char *ordeal_rule_name(enum ordeal_rule r);
const char *ordeal_rule_text(enum ordeal_rule r);

struct ordeal_step {
    const struct ordeal_literal *literals;
    size_t literal_count;
    const struct ordeal_edge *edges;
    size_t edge_count;
};
size_t ordeal_verdict_core(const struct ordeal_verdict *v, const uint32_t **ops);
/* A load that saw a value nobody wrote there needs no cycle: its event, else ORDEAL_NONE. */
uint32_t ordeal_verdict_unwritten(const struct ordeal_verdict *v);
/* Nor does a final value that nobody wrote there: the initial store of its word, and the value. */
uint32_t ordeal_verdict_unwritten_final(const struct ordeal_verdict *v, uint64_t *value);
size_t ordeal_verdict_steps(const struct ordeal_verdict *v);
void ordeal_verdict_step(const struct ordeal_verdict *v, size_t i, struct ordeal_step *out);

/* ---- witnesses ----------------------------------------------------------------------- */

/* The order or the proof as a file, and its check alone against the trace. */
enum ordeal_status ordeal_witness_write(const struct ordeal_verdict *v, FILE *stream);
enum ordeal_status ordeal_witness_verify(const struct ordeal_trace *t, FILE *stream,
                                         const char *name, struct ordeal_verdict **verdict);

#ifdef __cplusplus
}
#endif
#endif
