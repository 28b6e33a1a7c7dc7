/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a machine share: harts, buffers, memory.
 *
 * Memory is made of cells of 8 bytes, eight to a line of the program. An access of up to 8 bytes
 * lies in one cell and is a mask over it; wider ones are made of parts, a cell each. So everything
 * up to 8 bytes is single-copy atomic, and accesses of mixed sizes are merged by their masks. */
#ifndef HOST_MODEL_PARTS_H
#define HOST_MODEL_PARTS_H

#include <assert.h>

#include "model_machine.h"
#include "base/random.h"

enum { CELL_BYTES = 8, LINE_CELLS = LINE_BYTES / CELL_BYTES };
enum { DEEPEST = 16 };                   /* stores in a buffer, operations in a window */
enum { SET_WORDS = MOST_HARTS / 64 };
#define NOBODY UINT32_MAX

static inline uint32_t line_of(uint32_t cell) { return cell / LINE_CELLS; }
static inline uint64_t merged(uint64_t old, uint64_t value, uint64_t mask)
{
    return (old & ~mask) | (value & mask);
}

/* A store on its way to memory; value and mask are those of the cell. */
struct store { uint64_t value, mask; uint32_t cell, epoch; };

/* Oldest first, from `first` on. */
struct store_buffer {
    uint32_t first, end;
    uint32_t epoch;                      /* how many store barriers were passed (PSO) */
    struct store store[2 * DEEPEST];
};

/* PC: the oldest store of a hart has a place in the order of its cell, and lands in one copy of
 * memory after the other. Those of a cell land everywhere in their order, so that what has
 * landed in a copy is always a beginning of the list. */
struct opened {
    bool is;
    uint32_t next, previous;             /* harts with an opened store to the same cell */
    uint64_t landed[SET_WORDS];          /* in whose copy of memory */
};

/* RMO and RISC-V: an operation that was fetched and not performed. Sets of them are bits. */
struct flying {
    uint64_t value, mask, compare, held;
    uint64_t bound;                      /* RVWMO: bytes that a later load has read already */
    uint32_t cell, output;               /* output: the slot of the value read, or NOBODY */
    uint32_t waits;                      /* for these to be performed */
    uint32_t issue;                      /* those of them that those who depend on it wait for */
    uint32_t followers;                  /* those that wait for this */
    uint32_t compare_from;               /* number of the load that the value to compare is of */
    uint32_t reservation;                /* of an LR or SC: which (riscv_hart) */
    uint8_t kind, shift, sets, function, size_log2; /* function: of an AMO */
    bool half;                           /* a broken machine did half of it */
};

struct window {
    uint32_t oldest, next;               /* numbers; the place of number n is n % DEEPEST */
    uint32_t loads, stores, ready;       /* those in flight; a swap is both */
    uint32_t before_loads, before_stores; /* what a barrier wants performed before later ones */
    uint32_t writer[MOST_REGISTERS];     /* the load in flight that sets the register last */
    uint32_t writer_number[MOST_REGISTERS];
    struct flying flying[DEEPEST];
};

static inline uint32_t place_of(uint32_t number) { return number % DEEPEST; }
static inline uint32_t bit_of(uint32_t number) { return UINT32_C(1) << place_of(number); }
static inline uint32_t in_flight(const struct window *w) { return w->loads | w->stores; }

/* Of an LR and the SC that uses it, if any. */
struct reservation {
    uint64_t mask;
    uint32_t cell, number; /* of the LR */
    bool used, over;       /* there is such an SC; nobody asks for it any more */
    bool read, lost;       /* watched; others stored there since the LR read it */
};

enum { RESERVATIONS = 2 * DEEPEST }; /* an SC in flight has one, and one may be open */
struct riscv_hart {
    uint32_t branches;     /* stores wait for these, that branches depend on, */
    uint32_t addresses;    /* or the addresses of what was before them */
    uint32_t marked;       /* atomics with .aq or .rl in flight */
    uint32_t bound;        /* loads with `bound` bytes */
    uint32_t reservations; /* how many LR there were: the last one's is this - 1 */
    struct reservation reservation[RESERVATIONS];
};

/* A transaction's stores are its own until it commits. The lines it touched bear its marks. */
struct transaction {
    bool running, plainly, doomed, committing;
    uint32_t attempts;
    uint32_t pc, round, slot, lfsr;      /* where it began */
    uint64_t registers[MOST_REGISTERS];
    struct store *store;
    uint32_t stores, *line, lines;
};

/* A copy of a line that a broken machine goes on reading. */
struct stale_copy { uint32_t line, loads; uint64_t cell[LINE_CELLS]; };

struct hart {
    const struct program_thread *thread;
    uint32_t index, pc, part, round, slot, lfsr;
    uint32_t depth;                      /* of its buffer or window, this iteration */
    uint32_t haste;                      /* of 256: how often it works on them rather than go on */
    uint64_t wake;                       /* it sleeps till this turn */
    bool half;                           /* a broken machine did half of the operation */
    uint64_t held;                       /* and read this */
    uint64_t registers[MOST_REGISTERS];
    struct store_buffer buffer;
    struct opened opened;
    struct window window;
    struct riscv_hart riscv;
    struct transaction transaction;
    struct stale_copy stale, recent;
};

/* How the harts of a model treat memory operations outside of transactions. */
struct discipline {
    /* One part of an operation, or a barrier. False: not now. */
    bool (*issue)(struct model_machine *m, struct hart *h, const struct instruction *i);
    /* Work on what was issued and is not finished; `busy` says that there is such. False: all of it
     * waits for other harts. */
    bool (*advance)(struct model_machine *m, struct hart *h, uint64_t chance);
    bool (*busy)(const struct hart *h);
};
extern const struct discipline buffered_discipline, window_discipline, riscv_discipline;

struct model_machine {
    struct model_machine_setup setup;
    const struct discipline *discipline;
    const struct program *program;
    uint64_t identity;                   /* of the program: each has schedules of its own */
    struct random random;
    uint64_t now;                        /* turns */
    uint64_t *values;

    struct hart *hart;
    uint32_t harts, words;               /* words: of a set of harts */
    uint32_t *live, alive;
    uint32_t favoured;                   /* it alone runs, till its transaction is done */
    uint32_t idle;                       /* turns since somebody moved */
    uint64_t iteration;
    bool careful;                        /* RVWMO: nothing is done that may end in a deadlock */
    uint32_t watches;                    /* RVWMO: of harts, for the stores of others */
    uint64_t burst;                      /* a turn is up to so many steps, a power of two less 1 */

    uint64_t *memory;
    uint32_t cells;
    bool guarded;                        /* accesses to memory are more than that: see below */
    uint64_t *marks;                     /* of lines: sets of readers and writers, or NULL */
    uint32_t *first_opened, *last_opened; /* PC, by cell: harts */
    uint64_t *before;                    /* for bugs, by cell: what its last store overwrote */
    uint32_t *writer;                    /* and who that was */
};

/* ---- memory (model_memory.c) -------------------------------------------------------------- */

struct reach { uint32_t cell, shift; uint64_t mask; };
static inline struct reach reach_of(const struct instruction *i, uint32_t part)
{
    uint32_t shift = i->offset % CELL_BYTES * 8;
    assert(part < LINE_CELLS - i->offset / CELL_BYTES);
    uint64_t ones = i->size_log2 >= 3 ? UINT64_MAX : (UINT64_C(1) << (8u << i->size_log2)) - 1;
    return (struct reach){ i->line * LINE_CELLS + i->offset / CELL_BYTES + part, shift,
                           ones << shift };
}
static inline uint32_t parts_of(const struct instruction *i)
{
    return i->size_log2 > 3 ? 1u << (i->size_log2 - 3) : 1;
}
/* What the operation writes to its cell; of an AMO its operand. */
uint64_t hart_writes(const struct hart *h, const struct instruction *i, uint32_t shift);
/* The same of one that reads first, whatever it is. */
uint64_t hart_swaps(struct model_machine *m, const struct hart *h, const struct instruction *i,
                    uint64_t read, uint32_t shift);
/* What a CAS compares with, when no load of the register is in flight. */
uint64_t hart_compares(const struct hart *h, const struct instruction *i);
static inline bool swap_writes(const struct model_machine *m, uint8_t kind, uint64_t read,
                               uint64_t compare)
{
    return kind != ORDEAL_CAS || read == compare || m->setup.bug == BUG_CAS_WRITES_ALWAYS;
}
/* What an AMO leaves, of the values read and given. */
uint64_t amo_leaves(struct model_machine *m, uint8_t function, uint8_t size_log2, uint64_t read,
                    uint64_t operand);
/* The value read goes where it is wanted. */
static inline void deliver(struct model_machine *m, struct hart *h, const struct instruction *i,
                           uint64_t value)
{
    assert(!i->observed || h->slot < h->thread->first_slot + h->thread->slots);
    if (i->observed)
        m->values[h->slot++] = value;
    if (i->sets != NO_REGISTER)
        h->registers[i->sets] = value;
}

/* Memory as it is, where transactions must hear of it or a bug shows something else. */
uint64_t cell_read_guarded(struct model_machine *m, struct hart *h, uint32_t cell, uint64_t value);
void cell_wrote_guarded(struct model_machine *m, struct hart *h, uint32_t cell, uint64_t old);

static inline uint64_t cell_read(struct model_machine *m, struct hart *h, uint32_t cell)
{
    assert(cell < m->cells);
    uint64_t value = m->memory[cell];
    return m->guarded ? cell_read_guarded(m, h, cell, value) : value;
}
static inline void cell_write(struct model_machine *m, struct hart *h, uint32_t cell,
                              uint64_t value, uint64_t mask)
{
    assert(cell < m->cells);
    uint64_t old = m->memory[cell];
    if (m->setup.bug == BUG_BYTE_ENABLES)
        mask = UINT64_MAX;
    m->memory[cell] = merged(old, value, mask);
    if (m->guarded)
        cell_wrote_guarded(m, h, cell, old);
}

void cells_start(struct model_machine *m);
/* PREFETCH, FLUSH, EVICT: nothing happens, unless the machine is broken. */
void cells_hint(struct model_machine *m, struct hart *h, const struct instruction *i);
void cells_interrupt(struct model_machine *m, struct hart *h);
/* Is the load to be made in two halves, and was this the first? Then `value` is kept for the second
 * and later completed with it. */
bool torn_load(struct model_machine *m, bool *half, uint64_t *held, uint64_t *value,
               uint8_t size_log2);

static inline bool chance_of(struct model_machine *m, uint32_t of_256)
{
    return (random_next(&m->random) >> 56) < of_256;
}
static inline bool bug_strikes(struct model_machine *m, enum bug bug, uint32_t of_256)
{
    return m->setup.bug == bug && chance_of(m, of_256);
}
static inline void sleep_for(struct model_machine *m, struct hart *h, uint64_t cycles)
{
    uint64_t wake = m->now + cycles * m->alive + 1;
    if (h->wake < wake)
        h->wake = wake;
}

/* ---- windows (model_window.c) ------------------------------------------------------------- */

/* Has it room for one more operation? */
static inline bool window_has_room(const struct hart *h)
{
    return h->window.next - h->window.oldest < h->depth;
}
/* A fresh operation; what it waits for is filled in before it takes off. */
struct flying *window_fetch(struct hart *h, const struct instruction *i);
void window_take_off(struct window *w, struct flying *f, bool reads, bool writes);
/* The loads in flight that set these registers. */
uint32_t window_writers(const struct window *w, uint32_t registers);
void window_fence(const struct model_machine *m, struct window *w, uint8_t barrier);
/* The cell as the operation of that number sees it. */
uint64_t window_sees(struct model_machine *m, struct hart *h, uint32_t number);
bool window_busy(const struct hart *h);
/* It is performed; `value` is what it read. */
void window_land(struct hart *h, uint32_t number, uint64_t value);
/* A broken machine does the halves of a swap or of a load one after the other. True: that was the
 * first. */
bool window_first_half(struct model_machine *m, struct flying *f, uint64_t *value);

/* ---- transactions (model_transaction.c) --------------------------------------------------- */

bool transaction_fit(struct model_machine *m);
void transaction_start(struct model_machine *m);
/* False: not now; they move the hart on themselves. */
bool transaction_begin(struct model_machine *m, struct hart *h, const struct instruction *i);
void transaction_access(struct model_machine *m, struct hart *h, const struct instruction *i);
bool transaction_end(struct model_machine *m, struct hart *h, const struct instruction *i);
/* Others' transactions that a plain access of the line is in the way of. */
void transaction_disturb(struct model_machine *m, const struct hart *h, uint32_t line, bool stores);
/* If it was doomed it goes back to where it began, and true. */
bool transaction_failed(struct model_machine *m, struct hart *h);

static inline bool in_set(const uint64_t *set, uint32_t i) { return set[i / 64] >> i % 64 & 1; }
static inline void put_in(uint64_t *set, uint32_t i) { set[i / 64] |= UINT64_C(1) << i % 64; }
static inline void take_out(uint64_t *set, uint32_t i) { set[i / 64] &= ~(UINT64_C(1) << i % 64); }

#endif
