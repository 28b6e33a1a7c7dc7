/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a running program, unpacked: what one worker of a search, or somebody who follows a
 * path, executes steps on. Everything that a step changes is words whose old values are logged,
 * whole threads, and the model's part, so that a step is taken back at the cost of what it changed.
 */
#ifndef PROGRAM_STATE_H
#define PROGRAM_STATE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explore.h"

enum {
    STATE_HEAPS = 0x40000000,
    STATE_STACKS = (int)0x80000000u,
    STATE_PART = 0x100000,            /* of a thread in each of these */
    STATE_LINKED_END = 0x04000000,    /* what is linked lies below */
    STATE_OBJECTS = STATE_PART / 16,  /* allocations of a thread, at most */
    STATE_LONGEST = 10 * 1000 * 1000, /* instructions of a step */
};

enum thread_status {
    THREAD_FREE,
    THREAD_RUNS,
    THREAD_WAITS,
    THREAD_WOKEN,
    THREAD_LOOPS,
    THREAD_ENDED
};
enum { THREAD_DETACHED = 1, THREAD_CRITICAL = 2 };

struct thread {
    uint32_t status, flags;
    uint32_t pc;
    uint32_t condition;   /* that it waits for */
    uint32_t value;       /* of one that ended */
    uint32_t shared_from; /* its stack from there up may be known to others */
    uint32_t x[32];
};

/* What a thread allocated, by place. The highest bit of `size` says that others may know it. */
struct heap_object {
    uint32_t place, size;
};
enum { HEAP_SHARED = (int)0x80000000u };
struct heap {
    uint32_t *count;
    struct heap_object *object;
};

/* One logged word. */
struct undo {
    uint32_t *where, old;
};

/* Numbers drawn in a step, and how many there were to choose from: an odometer. */
enum { CHOICES = 4096 };
struct choices {
    uint32_t drawn[CHOICES], of[CHOICES];
    uint32_t used, known;
};

enum step_end {
    STEP_DONE,
    STEP_DISCARDED, /* the numbers drawn do not go together, or an assumption failed */
    STEP_BLOCKED,   /* nothing was done: the thread waits for others */
    STEP_ERROR,     /* of the program: `error` and the rest say which */
    STEP_TOO_LONG,  /* `text` says what */
    STEP_STRANGE,   /* memory was taken for a thread's own, and another knows it */
};

struct program_code;
struct memory_model;
struct event_recorder;
struct contention;

struct state {
    const struct program_code *code;
    const struct explore_options *options;
    const struct memory_model *model;
    bool follows; /* one path from its beginning: what is kept for people is known */

    uint8_t *linked; /* memory from code->base on */
    uint8_t *stacks, *heaps;
    struct thread thread[EXPLORE_THREADS];
    uint32_t threads; /* those from here on are free */
    struct heap heap[EXPLORE_THREADS];
    uint32_t
        heap_end[EXPLORE_THREADS];  /* of all that was ever allocated, where one path is followed */
    uint32_t exited;                /* 0, or the exit's status plus one, of 8 bits */
    void *buffers, *buffers_before; /* the model's part, now and before the step */
    bool buffers_changed;

    struct undo *undo;
    size_t undone, undo_capacity;
    uint32_t touched; /* threads that changed in this step, which `before` has as they were */
    uint32_t heap_touched;
    struct thread before[EXPLORE_THREADS];
    uint32_t threads_before, exited_before;

    struct choices choices;
    enum step_end end;
    enum explore_error error;
    uint32_t error_thread, error_pc;
    char text[256];
    struct event_recorder *recorder; /* NULL: nobody wants events */
    struct contention *contention;   /* NULL: every word may be contended for */
};

/* What all states of a search share. False: no memory, or the image does not fit. */
struct program_code {
    const struct image *image;
    uint32_t base, end;     /* of what is linked */
    uint32_t low, high;     /* of what may be written there, in whole chunks */
    uint8_t *memory;        /* at the start, from base on */
    uint8_t *access;        /* of each 4 bytes from base on: 1 read, 2 write */
    struct instruction *at; /* by (pc - base) / 4; operation NONE and live 0 where there is none */
    uint32_t thread_end;    /* where threads return to; 0: there is no such symbol */
};
bool program_code_new(struct program_code *c, const struct image *image,
                      struct ordeal_error *error);
void program_code_free(struct program_code *c);

struct state *state_new(const struct program_code *c, const struct explore_options *options);
void state_free(struct state *s);
void state_begin(struct state *s); /* the program's first state: before any instruction */

/* ---- taking back -------------------------------------------------------------------------- */

void state_mark(struct state *s); /* what comes can be taken back to here */
void state_undo(struct state *s);
void state_grow_undo(struct state *s);
static inline void state_set(struct state *s, uint32_t *where, uint32_t value)
{
    if (s->undone == s->undo_capacity)
        state_grow_undo(s);
    s->undo[s->undone++] = (struct undo){ where, *where };
    *where = value;
}
/* The thread, which is about to change. */
struct thread *state_touch(struct state *s, uint32_t thread);
void state_touch_buffers(struct state *s);

/* ---- chance and errors -------------------------------------------------------------------- */

uint32_t state_choose(struct state *s, uint32_t n); /* a number below n, which is not 0 */
bool state_next_choices(struct state *s);           /* the next combination; false: that was all */
void state_discard(struct state *s);
void state_block(struct state *s);
void state_fail(struct state *s, enum explore_error e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void state_too_long(struct state *s, const char *what);

/* ---- memory ------------------------------------------------------------------------------- */

/* Where the bytes of an access are; NULL: it is an error, which is set. */
uint8_t *state_place(struct state *s, uint32_t address, uint32_t size, bool write);
/* The same without an error. */
uint8_t *state_peek(const struct state *s, uint32_t address, uint32_t size, bool write);
static inline uint32_t state_get(const uint8_t *place, uint32_t size)
{
    if (size == 4)
        return *(const uint32_t *)(const void *)place;
    if (size == 2)
        return *(const uint16_t *)(const void *)place;
    return *place;
}
void state_put(struct state *s, uint8_t *place, uint32_t size, uint32_t value);
void state_clear(struct state *s, uint8_t *place, uint32_t size); /* whole words */

/* The stack of a thread ends where; its pointer moves. */
static inline uint32_t stack_top(uint32_t thread)
{
    return (uint32_t)STATE_STACKS + (thread + 1) * STATE_PART;
}
void state_move_stack(struct state *s, uint32_t thread, uint32_t from, uint32_t to);

/* The object that has this address, -1: none. */
int heap_find(const struct state *s, uint32_t thread, uint32_t address);
uint32_t heap_allocate(struct state *s, uint32_t thread, uint32_t bytes, uint32_t alignment);
void heap_remove(struct state *s, uint32_t thread, uint32_t object);

/* ---- who can know what -------------------------------------------------------------------- */

/* Nobody but this thread can reach the address (EXPLORE_LOCAL_DYNAMIC). */
bool state_private(const struct state *s, uint32_t thread, uint32_t address);
/* It is another thread's alone: that this one has its address was missed. */
bool state_is_strange(const struct state *s, uint32_t thread, uint32_t address);
void state_strange(struct state *s);
/* A word that others may read is about to hold `value`, by this thread: what it points to is known from now on. */
void state_publish(struct state *s, uint32_t by, uint32_t value);
/* The word around [address, address + size) as the thread will see it. */
uint32_t state_others(const struct state *s, uint32_t thread); /* that still run, as a set */

#endif
