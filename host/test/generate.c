/* SPDX-License-Identifier: Apache-2.0 */
/* The generator grows all threads together, an operation or a block at a time, so that what idioms
 * put into several of them meets when it is run. Integers only, one sequence of random numbers a
 * test, nothing allocated on the way. */
#include "generate.h"

#include "amo_operand.h"
#include "draw.h"
#include "kinds.h"
#include "memory.h"
#include "program.h"
#include "registers.h"

#define NOWHERE UINT32_MAX

enum block { LOOP, BRANCH, TRANSACTION, BLOCKS };

struct generator {
    struct draw draw;
    const struct bias *b; /* of the test at hand: what was drawn; so is the rest */
    uint64_t seed;
    struct layout layout;
    struct memory memory;
    struct choices plain, in_transactions;      /* of events */
    struct choices woven;                       /* of idioms */
    struct choices sizes, narrow, swaps;        /* of size_log2: any, up to 8 bytes, 4 or 8 */
    struct choices compared;                    /* of what a CAS compares with */
    uint64_t begins[BLOCKS];      /* chance that a block begins, of 2^32 */
    uint32_t *position;           /* of a thread: operations it has, as executed */
    uint32_t *recent;             /* of a thread: where its last access went; NOWHERE */
    uint32_t *near;               /* threads that could take part in an idiom */
    struct registers *registers;  /* of a thread */
    bool loads_set_registers;     /* somebody could depend on them */

    /* of the test at hand */
    struct random random;
    struct ordeal_trace *test;
    enum ordeal_status status;
    uint32_t thread, now;         /* at work; all threads have come so far */
    uint32_t rounds;              /* of the loop we are in, else 1 */
    bool open[BLOCKS];
    uint32_t room;                /* operations that an event may be */
    uint8_t argument;             /* of the event: a kind, or flavours of a membar */
};

/* ---- single operations --------------------------------------------------------------------- */

static uint32_t between(struct random *r, uint32_t least, uint32_t most)
{
    return least == most ? least : least + random_below(r, most - least + 1);
}

static void add(struct generator *g, struct ordeal_op op, uint64_t compare)
{
    op.thread = g->thread;
    if (g->status == ORDEAL_OK)
        g->status = ordeal_trace_add(g->test, &op, compare);
}

static void add_count(struct generator *g, uint8_t kind, uint64_t count)
{
    add(g, (struct ordeal_op){ .kind = kind, .write = count }, 0);
}

static const struct pool *pool_here(const struct generator *g)
{
    return g->open[TRANSACTION] ? &g->layout.transactional : &g->layout.plain;
}

static uint32_t location_here(struct generator *g, bool writes)
{
    return memory_choose(&g->memory, &g->random, pool_here(g), g->thread, g->position[g->thread],
                         writes);
}

/* Where the thread's last access went, so often as the bias says, or anywhere. */
static uint32_t location_near(struct generator *g, bool writes)
{
    uint32_t recent = g->recent[g->thread];
    const struct pool *pool = pool_here(g);
    if (g->b->sharing_near && random_chance(&g->random, g->b->sharing_near)
        && recent - pool->first < pool->count) /* NOWHERE is in no pool */
        return recent;
    return location_here(g, writes);
}

/* The operation at a location; one that is narrower than the word, anywhere in it. */
static struct ordeal_op at(struct generator *g, uint8_t kind, uint32_t location, uint32_t size_log2)
{
    const struct layout *l = &g->layout;
    struct ordeal_op op = { .kind = kind, .size_log2 = (uint8_t)size_log2,
                            .base = memory_line(&g->memory, location / l->words) };
    g->recent[g->thread] = location;
    if (size_log2 <= l->word_log2) {
        op.address = (uint64_t)(location % l->words) << l->word_log2;
        if (size_log2 < l->word_log2)
            op.address += (uint64_t)random_below(&g->random, 1u << (l->word_log2 - size_log2))
                          << size_log2;
    }
    return op;
}

/* Writes fresh values, in a loop another each time round. */
static void add_write(struct generator *g, struct ordeal_op op, uint32_t location, uint64_t number,
                      uint64_t compare)
{
    op.write = layout_value(&g->layout, location, number, op.size_log2);
    add(g, op, compare);
    if (g->rounds > 1 && g->status == ORDEAL_OK)
        g->status = ordeal_trace_step(g->test, layout_repeat(&g->layout, 1, op.size_log2));
}

/* RISC-V's programs are not to have an LR that releases alone, or an SC that acquires alone. */
static uint8_t marks_of(struct generator *g, uint8_t kind)
{
    static const uint8_t any[] = { ORDEAL_ACQUIRES, ORDEAL_RELEASES,
                                   ORDEAL_ACQUIRES | ORDEAL_RELEASES };
    uint32_t share = kind_is_atomic(kind) ? g->b->marks_rmw : g->b->marks_plain;
    if (!share || g->open[TRANSACTION] || !random_chance(&g->random, share))
        return 0;
    if (!kind_is_atomic(kind))
        return kind == ORDEAL_LOAD ? ORDEAL_ACQUIRES : ORDEAL_RELEASES;
    uint8_t marks = any[random_below(&g->random, 3)];
    if (kind == ORDEAL_LOAD_RESERVED)
        marks |= ORDEAL_ACQUIRES;
    return kind == ORDEAL_STORE_CONDITIONAL ? marks | ORDEAL_RELEASES : marks;
}

/* The access just added needs the register, in a way that the bias likes. */
static void need(struct generator *g, uint32_t reg, bool writes)
{
    const struct bias *b = g->b;
    uint32_t data = writes ? b->dependencies_data : 0;
    uint32_t special = data + b->dependencies_control;
    uint32_t drawn = special ? random_below(&g->random, b->dependencies_plain + special) : 0;
    enum ordeal_register_use use = ORDEAL_REGISTER_READ;
    if (special && drawn < data)
        use = ORDEAL_REGISTER_DATA;
    else if (special && drawn < special)
        use = ORDEAL_REGISTER_CONTROL;
    g->status = ordeal_trace_uses_register(g->test, reg, use);
}

/* The access just added may need a register, and a load set one. */
static void depend(struct generator *g, uint32_t size_log2, bool load)
{
    struct registers *r = &g->registers[g->thread];
    if (!g->loads_set_registers || size_log2 > 3 || g->status != ORDEAL_OK)
        return;
    r->now++;
    uint32_t needed = random_chance(&g->random, g->b->dependencies_share)
                        ? registers_choose(r, &g->random, g->b->dependencies_distance, 3)
                        : 0;
    if (needed)
        need(g, needed, !load);
    if (load && random_chance(&g->random, 50) && g->status == ORDEAL_OK)
        g->status = ordeal_trace_writes_register(g->test, registers_set(r, size_log2));
}

/* The swap or AMO just added, or an LR or SC, may need one, too. */
static void depend_atomic(struct generator *g, bool writes)
{
    struct registers *r = &g->registers[g->thread];
    if (!g->b->dependencies_atomics || g->status != ORDEAL_OK)
        return;
    r->now++;
    uint32_t needed = random_chance(&g->random, g->b->dependencies_atomics)
                        ? registers_choose(r, &g->random, g->b->dependencies_distance, 3)
                        : 0;
    if (needed)
        need(g, needed, writes);
}

static uint32_t make_load(struct generator *g)
{
    uint32_t size_log2 = choose(&g->sizes, &g->random);
    struct ordeal_op op = at(g, ORDEAL_LOAD, location_here(g, false), size_log2);
    op.flags = marks_of(g, op.kind);
    add(g, op, 0);
    depend(g, size_log2, true);
    return 1;
}

/* All 64 bytes, with a number that is fresh in each word of the line. */
static void store_block(struct generator *g, uint32_t location)
{
    uint8_t bytes[LINE_BYTES];
    const struct layout *l = &g->layout;
    uint64_t number = memory_line_number(&g->memory, pool_here(g), &location);
    uint32_t first = location - location % l->words;
    for (uint32_t i = 0; i < LINE_BYTES; i++) {
        uint64_t value = layout_value(l, first + (i >> l->word_log2) % l->words, number, 3);
        bytes[i] = (uint8_t)(value >> 8 * (i % 8));
    }
    struct ordeal_op op = at(g, ORDEAL_STORE, location, 6);
    if (g->status == ORDEAL_OK)
        g->status = ordeal_trace_bytes(g->test, bytes, sizeof bytes, &op.write);
    add(g, op, 0);
}

static uint32_t make_store(struct generator *g)
{
    uint32_t size_log2 = choose(g->open[LOOP] ? &g->narrow : &g->sizes, &g->random);
    uint32_t location = location_here(g, true);
    if (size_log2 > 3) {
        store_block(g, location);
        return 1;
    }
    uint64_t number = memory_numbers(&g->memory, pool_here(g), &location, g->rounds);
    struct ordeal_op op = at(g, ORDEAL_STORE, location, size_log2);
    op.flags = marks_of(g, op.kind);
    add_write(g, op, location, number, 0);
    depend(g, size_log2, false);
    return 1;
}

static uint32_t make_swap(struct generator *g)
{
    uint32_t size_log2 = choose(&g->swaps, &g->random), location = location_here(g, true);
    uint64_t number = memory_numbers(&g->memory, pool_here(g), &location, g->rounds);
    struct ordeal_op op = at(g, ORDEAL_SWAP, location, size_log2);
    op.flags = marks_of(g, op.kind);
    add_write(g, op, location, number, 0);
    depend_atomic(g, true);
    return 1;
}

/* Two operations; where only one has room, the LR. */
static uint32_t make_lrsc(struct generator *g)
{
    uint32_t size_log2 = choose(&g->swaps, &g->random), location = location_here(g, true);
    uint64_t number = 0;
    if (g->room > 1)
        number = memory_numbers(&g->memory, pool_here(g), &location, g->rounds);
    struct ordeal_op op = at(g, ORDEAL_LOAD_RESERVED, location, size_log2);
    op.flags = marks_of(g, op.kind);
    add(g, op, 0);
    depend_atomic(g, false);
    if (g->room == 1)
        return 1;
    op.kind = ORDEAL_STORE_CONDITIONAL;
    op.flags = marks_of(g, op.kind);
    add_write(g, op, location, number, 0);
    depend_atomic(g, true);
    return 2;
}

/* Where values are wide the operand of a function that loses nothing may be any. */
static uint32_t make_amo(struct generator *g)
{
    uint32_t size_log2 = choose(&g->swaps, &g->random), location = location_here(g, true);
    uint64_t number = memory_numbers(&g->memory, pool_here(g), &location, g->rounds);
    enum ordeal_amo_function function = amo_function(&g->random);
    struct amo_operand x = amo_operand(function, number, g->rounds, g->layout.grain_log2);
    struct ordeal_op op = at(g, ORDEAL_AMO, location, size_log2);
    op.function = (uint8_t)function;
    op.flags = marks_of(g, op.kind);
    bool free = function == ORDEAL_AMO_ADD || function == ORDEAL_AMO_XOR;
    op.write = free && g->layout.apart ? layout_value(&g->layout, location, number, size_log2)
                                       : layout_repeat(&g->layout, x.first, size_log2);
    add(g, op, 0);
    if (g->rounds > 1 && g->status == ORDEAL_OK)
        g->status = ordeal_trace_step(g->test, layout_repeat(&g->layout, x.step, size_log2));
    depend_atomic(g, true);
    return 1;
}

/* A load, and a CAS that compares with what it saw; where only one has room, the load. */
static uint32_t make_own_cas(struct generator *g)
{
    uint32_t size_log2 = choose(&g->swaps, &g->random), location = location_here(g, true);
    uint64_t number = 0;
    if (g->room > 1)
        number = memory_numbers(&g->memory, pool_here(g), &location, g->rounds);
    struct ordeal_op op = at(g, ORDEAL_LOAD, location, size_log2);
    add(g, op, 0);
    if (g->room == 1)
        return 1;
    if (g->status == ORDEAL_OK)
        g->status = ordeal_trace_writes_register(g->test, REGISTER_COMPARED);
    op.kind = ORDEAL_CAS;
    op.flags = ORDEAL_COMPARE_REGISTER | marks_of(g, op.kind);
    add_write(g, op, location, number, REGISTER_COMPARED);
    return 2;
}

/* A CAS alone, that compares with what an older load saw, or with a value of the location: one of
 * the last before its own, which are from `number` on. */
static uint32_t make_other_cas(struct generator *g, bool from_register)
{
    enum { RECENT = 4 };
    uint32_t size_log2 = choose(&g->swaps, &g->random), location = location_near(g, true);
    uint64_t number = memory_numbers(&g->memory, pool_here(g), &location, g->rounds);
    struct ordeal_op op = at(g, ORDEAL_CAS, location, size_log2);
    uint32_t reg = from_register ? registers_choose(&g->registers[g->thread], &g->random,
                                                    g->b->dependencies_distance, size_log2)
                                 : 0;
    uint64_t compare = reg;
    op.flags = marks_of(g, op.kind);
    if (reg)
        op.flags |= ORDEAL_COMPARE_REGISTER;
    else
        compare = layout_value(&g->layout, location,
                               number - 1
                                   - random_below(&g->random,
                                                  number < RECENT ? (uint32_t)number : RECENT),
                               size_log2);
    add_write(g, op, location, number, compare);
    return 1;
}

static uint32_t make_cas(struct generator *g)
{
    uint32_t compared = choose(&g->compared, &g->random);
    return compared == BIAS_cas_own ? make_own_cas(g)
                                    : make_other_cas(g, compared == BIAS_cas_register);
}

static uint32_t make_touch(struct generator *g)
{
    add(g, at(g, g->argument, location_near(g, false), 2), 0);
    return 1;
}

static uint32_t make_nonfaulting(struct generator *g)
{
    uint32_t size_log2 = choose(&g->narrow, &g->random);
    bool faulting = random_chance(&g->random, g->b->faults_share);
    uint32_t location = faulting ? g->layout.lines * g->layout.words : location_here(g, false);
    struct ordeal_op op = at(g, ORDEAL_LOAD, location, size_log2);
    op.flags = ORDEAL_NONFAULTING;
    add(g, op, 0);
    return 1;
}

static uint32_t make_interrupt(struct generator *g)
{
    uint32_t threads = g->b->test_threads;
    add_count(g, ORDEAL_INTERRUPT,
              (g->thread + 1 + random_below(&g->random, threads - 1)) % threads);
    return 1;
}

static uint32_t make_delay(struct generator *g)
{
    add_count(g, ORDEAL_DELAY, between(&g->random, g->b->delays_cycles_min,
                                       g->b->delays_cycles_max));
    return 1;
}

static uint32_t make_membar(struct generator *g)
{
    add(g, (struct ordeal_op){ .kind = ORDEAL_MEMBAR, .barrier = g->argument }, 0);
    return 1;
}

/* Two or three of the four flavours. */
static uint32_t make_mixed_membar(struct generator *g)
{
    static const uint8_t mixed[] = { 3, 5, 6, 7, 9, 10, 11, 12, 13, 14 };
    g->argument = mixed[random_below(&g->random, sizeof mixed)];
    return make_membar(g);
}

/* By sets of RISC-V: reads, writes or both before it, and behind it. */
static uint32_t make_fence(struct generator *g)
{
    uint32_t before = 1 + random_below(&g->random, 3), behind = 1 + random_below(&g->random, 3);
    g->argument = (uint8_t)((before & 1 && behind & 1 ? ORDEAL_LL : 0)
                            | (before & 1 && behind & 2 ? ORDEAL_LS : 0)
                            | (before & 2 && behind & 1 ? ORDEAL_SL : 0)
                            | (before & 2 && behind & 2 ? ORDEAL_SS : 0));
    return make_membar(g);
}

/* What a thread can do next: the key of its weight, and how it is made. Each returns how many
 * operations it was. */
enum in_transactions { NEVER, AS_HINT, ALWAYS };
static const struct event {
    uint16_t weight;
    uint8_t in_transactions;
    uint8_t argument;
    uint32_t (*make)(struct generator *g);
} events[] = {
    { BIAS_operations_load, ALWAYS, 0, make_load },
    { BIAS_operations_store, ALWAYS, 0, make_store },
    { BIAS_operations_swap, ALWAYS, 0, make_swap },
    { BIAS_operations_cas, ALWAYS, 0, make_cas },
    { BIAS_operations_amo, ALWAYS, 0, make_amo },
    { BIAS_operations_prefetch, ALWAYS, ORDEAL_PREFETCH, make_touch },
    { BIAS_operations_flush, AS_HINT, ORDEAL_FLUSH, make_touch },
    { BIAS_operations_evict, NEVER, ORDEAL_EVICT, make_touch },
    { BIAS_operations_nonfaulting, ALWAYS, 0, make_nonfaulting },
    { BIAS_operations_interrupt, NEVER, 0, make_interrupt },
    { BIAS_operations_delay, ALWAYS, 0, make_delay },
    { BIAS_membar_full, ALWAYS, ORDEAL_FULL, make_membar },
    { BIAS_membar_sl, ALWAYS, ORDEAL_SL, make_membar },
    { BIAS_membar_ss, ALWAYS, ORDEAL_SS, make_membar },
    { BIAS_membar_ll, ALWAYS, ORDEAL_LL, make_membar },
    { BIAS_membar_ls, ALWAYS, ORDEAL_LS, make_membar },
    { BIAS_membar_mixed, ALWAYS, 0, make_mixed_membar },
    { BIAS_operations_lrsc, NEVER, 0, make_lrsc },
    { BIAS_membar_tso, ALWAYS, ORDEAL_LL | ORDEAL_LS | ORDEAL_SS, make_membar },
    { BIAS_membar_sets, ALWAYS, 0, make_fence },
};
enum { EVENTS = sizeof events / sizeof *events };

static uint32_t make_event(struct generator *g, uint32_t event, uint32_t room)
{
    g->room = room;
    g->argument = events[event].argument;
    return events[event].make(g);
}

/* ---- blocks -------------------------------------------------------------------------------- */

static uint32_t make_block(struct generator *g, uint32_t room);

/* What a block holds: operations and other blocks. */
static void make_items(struct generator *g, uint32_t room)
{
    while (room && g->status == ORDEAL_OK) {
        uint32_t taken = make_block(g, room);
        if (taken == 0)
            taken = make_event(g, choose(g->open[TRANSACTION] ? &g->in_transactions : &g->plain,
                                         &g->random), room);
        room -= taken;
    }
}

/* Each returns the operations it takes, as executed, of the `room` there is; 0: it has no room. */
static uint32_t make_loop(struct generator *g, uint32_t room)
{
    const struct bias *b = g->b;
    uint32_t longest = room / b->loops_count_min;
    if (longest < b->loops_length_min)
        return 0;
    uint32_t length = between(&g->random, b->loops_length_min,
                              longest < b->loops_length_max ? longest : b->loops_length_max);
    uint32_t most = room / length;
    g->rounds = between(&g->random, b->loops_count_min,
                        most < b->loops_count_max ? most : b->loops_count_max);
    uint32_t taken = length * g->rounds;
    g->open[LOOP] = true;
    add_count(g, ORDEAL_LOOP_BEGIN, g->rounds);
    make_items(g, length);
    add_count(g, ORDEAL_LOOP_END, 0);
    g->open[LOOP] = false;
    g->rounds = 1;
    return taken;
}

static uint32_t make_branch(struct generator *g, uint32_t room)
{
    const struct bias *b = g->b;
    if (room < b->branches_length_min)
        return 0;
    uint32_t length = between(&g->random, b->branches_length_min,
                              room < b->branches_length_max ? room : b->branches_length_max);
    g->open[BRANCH] = true;
    add_count(g, ORDEAL_BRANCH_BEGIN, 0);
    make_items(g, length);
    if (random_chance(&g->random, b->branches_otherwise)) {
        add_count(g, ORDEAL_BRANCH_ELSE, 0);
        make_items(g, length);
    }
    add_count(g, ORDEAL_BRANCH_END, 0);
    g->open[BRANCH] = false;
    return length;
}

/* Uniform below and above the mean, in such shares that it is the mean. */
static uint32_t transaction_length(struct generator *g)
{
    const struct bias *b = g->b;
    uint32_t least = b->transactions_length_min, mean = b->transactions_length_mean;
    uint32_t most = b->transactions_length_max;
    if (least == most || random_below(&g->random, most - least) < most - mean)
        return between(&g->random, least, mean);
    return between(&g->random, mean, most);
}

static uint32_t make_transaction(struct generator *g, uint32_t room)
{
    const struct bias *b = g->b;
    if (room < b->transactions_length_min)
        return 0;
    uint32_t length = transaction_length(g);
    length = length < room ? length : room;
    struct ordeal_op begin = { .kind = ORDEAL_TX_BEGIN };
    if (b->transactions_retries != KEY_WORD) {
        begin.flags = ORDEAL_HAS_LIMIT;
        begin.write = b->transactions_retries;
    }
    g->open[TRANSACTION] = true;
    add(g, begin, 0);
    make_items(g, length);
    add_count(g, random_chance(&g->random, b->transactions_abort) ? ORDEAL_TX_ABORT
                                                                  : ORDEAL_TX_END, 0);
    g->open[TRANSACTION] = false;
    return length;
}

/* A block, if chance wants one here. */
static uint32_t make_block(struct generator *g, uint32_t room)
{
    static uint32_t (*const makers[BLOCKS])(struct generator *g, uint32_t room) = {
        [LOOP] = make_loop, [BRANCH] = make_branch, [TRANSACTION] = make_transaction,
    };
    uint32_t taken = 0;
    for (int block = 0; block < BLOCKS && !taken; block++)
        if (g->begins[block] && !g->open[block]
            && random_next(&g->random) >> 32 < g->begins[block])
            taken = makers[block](g, room);
    return taken;
}

/* Before each operation outside of them blocks begin so often that, being `length` long on average
 * (given as a fraction), they come to hold the share of the operations asked for. */
static uint64_t chance_to_begin(uint32_t share, uint64_t length, uint32_t divisor)
{
    uint64_t inside = (uint64_t)share * divisor, outside = length * (100 - share);
    return share ? (inside << 32) / (inside + outside) : 0;
}

/* ---- idioms -------------------------------------------------------------------------------- */

/* Threads that have come further than this beyond the others do not take part in their idioms. */
enum { NEARNESS = 8 };

struct cast {
    uint32_t thread[IDIOM_MOST_THREADS];
    uint32_t location[IDIOM_MOST_NAMES];
    uint64_t number[IDIOM_MOST_NAMES]; /* of its first value */
};

static bool has_room(const struct generator *g, uint32_t thread, uint32_t operations)
{
    return g->b->test_operations - g->position[thread] >= operations;
}

/* The thread at work, in any part, and others that are about as far. */
static bool cast_threads(struct generator *g, const struct idiom *x, struct cast *cast)
{
    uint32_t count = 0;
    if (!has_room(g, g->thread, x->longest))
        return false;
    for (uint32_t t = 0; t < g->b->test_threads; t++)
        if (t != g->thread && g->position[t] <= g->now + NEARNESS && has_room(g, t, x->longest))
            g->near[count++] = t;
    if (count + 1 < x->threads)
        return false;
    uint32_t own = random_below(&g->random, x->threads);
    for (uint32_t i = 0; i < x->threads; i++) {
        if (i == own) {
            cast->thread[i] = g->thread;
            continue;
        }
        uint32_t k = random_below(&g->random, count);
        cast->thread[i] = g->near[k];
        g->near[k] = g->near[--count];
    }
    return true;
}

static bool is_taken(const struct cast *cast, uint32_t names, uint32_t location)
{
    for (uint32_t n = 0; n < names; n++)
        if (cast->location[n] == location)
            return true;
    return false;
}

static uint32_t words_of(const struct generator *g, const struct idiom_name *name)
{
    return ((name->bytes - 1) >> g->layout.word_log2) + 1;
}

/* How many of the numbers from `first` on, `count` of them, are in the same group of `each`? */
static uint32_t of_group(uint32_t group, uint32_t each, uint32_t first, uint32_t count)
{
    uint32_t low = group * each > first ? group * each : first;
    uint32_t high = (group + 1) * each < first + count ? (group + 1) * each : first + count;
    return high > low ? high - low : 0;
}

/* Those lines of a set that are of the pool and cached: no others are in a cache. */
static uint32_t cached_of_set(const struct generator *g, const struct pool *pool, uint32_t set)
{
    uint32_t words = g->layout.words, each = g->b->placement_lines_per_set;
    uint32_t first = pool->first / words, end = (pool->first + pool->count - 1) / words + 1;
    uint32_t lines = of_group(set, each, first, end - first);
    for (uint32_t line = set * each; line < (set + 1) * each && g->memory.mixed; line++)
        lines -= line >= first && line < end && g->memory.uncached[line];
    return lines;
}

/* Could name n lie there, beside those before it, with room for the others of its line or set? */
static bool may_lie(const struct generator *g, const struct idiom *x, const struct cast *cast,
                    const struct pool *pool, uint32_t n, uint32_t location)
{
    uint32_t words = g->layout.words, lines = g->b->placement_lines_per_set;
    uint32_t line = location / words;
    const bool *placed = x->name[n].placed;
    if ((placed[IDIOM_UNCACHED] && !g->memory.uncached[line])
        || (placed[IDIOM_ONE_LINE]
            && of_group(line, words, pool->first, pool->count) < x->placed[IDIOM_ONE_LINE])
        || (placed[IDIOM_ONE_SET] && g->memory.uncached[line])
        || (placed[IDIOM_ONE_SET]
            && cached_of_set(g, pool, line / lines) < x->placed[IDIOM_ONE_SET]))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        const bool *its = x->name[k].placed;
        uint32_t other = cast->location[k] / words;
        if ((placed[IDIOM_ONE_LINE] && its[IDIOM_ONE_LINE] && line != other)
            || (placed[IDIOM_ONE_SET] && its[IDIOM_ONE_SET]
                && (line == other || line / lines != other / lines))
            || (placed[IDIOM_APART] && its[IDIOM_APART] && line == other))
            return false;
    }
    return true;
}

/* Where to begin to look for a place: beside the first name of its line, where machines with lines
 * of 16 bytes have it in one, too; else anywhere. */
static uint32_t first_place(struct generator *g, const struct idiom *x, const struct cast *cast,
                            const struct pool *pool, uint32_t n, uint32_t places)
{
    uint32_t near = 16u >> g->layout.word_log2;
    for (uint32_t k = 0; k < n && x->name[n].placed[IDIOM_ONE_LINE]; k++)
        if (x->name[k].placed[IDIOM_ONE_LINE]) {
            uint32_t word = cast->location[k] % g->layout.words;
            uint32_t back = word % near, at = cast->location[k] - pool->first;
            return at >= back ? at - back : 0;
        }
    return random_below(&g->random, places);
}

/* Distinct locations, or where a name reaches beyond a word distinct lines, with enough values. */
static bool cast_locations(struct generator *g, const struct idiom *x, struct cast *cast)
{
    const struct layout *l = &g->layout;
    uint32_t stride = idiom_is_wide(x, 1u << l->word_log2) ? l->words : 1;
    for (uint32_t n = 0; n < x->names; n++) {
        const struct idiom_name *name = &x->name[n];
        const struct pool *pool = name->transactional ? &l->transactional : &l->plain;
        uint32_t places = pool->count / stride, tries = 0;
        uint32_t place = first_place(g, x, cast, pool, n, places);
        for (; tries < places; tries++, place = place + 1 < places ? place + 1 : 0) {
            cast->location[n] = pool->first + place * stride;
            if (!is_taken(cast, n, cast->location[n])
                && memory_has_numbers(&g->memory, cast->location[n], words_of(g, name),
                                      name->values)
                && (!x->is_placed || may_lie(g, x, cast, pool, n, cast->location[n])))
                break;
        }
        if (tries == places)
            return false;
    }
    return true;
}

/* Names that are placed may take the room of each other: then it is tried again elsewhere. */
static bool find_locations(struct generator *g, const struct idiom *x, struct cast *cast)
{
    enum { TRIES = 8 };
    for (int i = 0; i < (x->is_placed ? TRIES : 1); i++)
        if (cast_locations(g, x, cast))
            return true;
    return false;
}

static void add_step(struct generator *g, const struct idiom *x, const struct idiom_step *s,
                     const struct cast *cast)
{
    const struct layout *l = &g->layout;
    struct ordeal_op op = { .kind = s->kind, .flags = s->flags, .barrier = s->barrier,
                            .size_log2 = s->size_log2, .write = s->count };
    uint64_t compare = s->compare_register;
    if (s->kind == ORDEAL_INTERRUPT)
        op.write = cast->thread[s->count];
    if (kind_has_location(s->kind)) {
        uint32_t location = cast->location[s->name];
        uint64_t before = cast->number[s->name] - 1;
        g->recent[cast->thread[s->thread]] = location;
        op.base = memory_line(&g->memory, location / l->words);
        op.address = ((uint64_t)(location % l->words) << l->word_log2) + s->offset;
        uint32_t word = location + (s->offset >> l->word_log2);
        op.write = s->value ? layout_value(l, word, before + s->value, s->size_log2) : 0;
        if (s->compare)
            compare = layout_value(l, word, before + s->compare, s->size_log2);
    }
    g->thread = cast->thread[s->thread];
    add(g, op, compare);
    for (uint32_t i = 0; i < s->registers && g->status == ORDEAL_OK; i++) {
        const struct idiom_register *r = &x->registers[s->first_register + i];
        g->status = ordeal_trace_uses_register(g->test, r->number, r->use);
    }
}

/* Something else, where the bias wants that before a step, and the thread has room beside what is to
 * come of the idiom. `inside`: in a transaction of the idiom's. */
static void add_between(struct generator *g, uint32_t thread, bool inside)
{
    const struct choices *what = inside ? &g->in_transactions : &g->plain;
    if (!what->total || !has_room(g, thread, 1) || !random_chance(&g->random, g->b->test_between))
        return;
    g->thread = thread;
    g->open[TRANSACTION] = inside;
    g->position[thread] += make_event(g, choose(what, &g->random),
                                      g->b->test_operations - g->position[thread]);
    g->open[TRANSACTION] = false;
}

static void add_steps(struct generator *g, const struct idiom *x, const struct cast *cast)
{
    bool begun[IDIOM_MOST_THREADS] = { false }, inside[IDIOM_MOST_THREADS] = { false };
    bool reserved[IDIOM_MOST_THREADS] = { false }; /* nothing comes between an LR and its SC */
    for (uint32_t i = 0; i < x->steps; i++) {
        const struct idiom_step *s = &x->step[i];
        if (g->b->test_between && begun[s->thread] && !reserved[s->thread])
            add_between(g, cast->thread[s->thread], inside[s->thread]);
        add_step(g, x, s, cast);
        begun[s->thread] = true;
        reserved[s->thread] = s->kind == ORDEAL_LOAD_RESERVED
                           || (reserved[s->thread] && s->kind != ORDEAL_STORE_CONDITIONAL);
        inside[s->thread] = s->kind == ORDEAL_TX_BEGIN
                         || (inside[s->thread] && s->kind != ORDEAL_TX_END
                             && s->kind != ORDEAL_TX_ABORT);
    }
}

/* Once, with fresh values. */
static void play(struct generator *g, const struct idiom *x, struct cast *cast)
{
    uint32_t thread = g->thread;
    for (uint32_t n = 0; n < x->names; n++)
        cast->number[n] = memory_take_numbers(&g->memory, cast->location[n],
                                              words_of(g, &x->name[n]), x->name[n].values);
    for (uint32_t i = 0; i < x->threads; i++)
        g->position[cast->thread[i]] += x->length[i];
    add_steps(g, x, cast);
    g->thread = thread;
}

/* Have its threads and its locations room for it once more? */
static bool can_repeat(const struct generator *g, const struct idiom *x, const struct cast *cast)
{
    for (uint32_t i = 0; i < x->threads; i++)
        if (!has_room(g, cast->thread[i], x->length[i]))
            return false;
    for (uint32_t n = 0; n < x->names; n++)
        if (!memory_has_numbers(&g->memory, cast->location[n], words_of(g, &x->name[n]),
                                x->name[n].values))
            return false;
    return true;
}

/* False: there are not the threads or the locations for it. */
static bool make_idiom(struct generator *g, const struct idiom *x)
{
    struct cast cast;
    if (!cast_threads(g, x, &cast) || !find_locations(g, x, &cast))
        return false;
    play(g, x, &cast);
    for (uint32_t i = 1; i < g->b->test_repeat && can_repeat(g, x, &cast); i++)
        play(g, x, &cast);
    return true;
}

/* ---- tests --------------------------------------------------------------------------------- */

/* A block, an idiom or an operation for the thread at work. */
static void make_step(struct generator *g)
{
    uint32_t *position = &g->position[g->thread], room = g->b->test_operations - *position;
    uint32_t taken = make_block(g, room), idioms = g->woven.total;
    if (!taken && idioms && random_below(&g->random, idioms + g->plain.total) < idioms
        && make_idiom(g, g->draw.idioms.data[choose(&g->woven, &g->random)]))
        return;
    if (!taken && g->plain.count)
        taken = make_event(g, choose(&g->plain, &g->random), room);
    *position += taken;
}

static void make_threads(struct generator *g)
{
    const struct bias *b = g->b;
    uint32_t index;
    for (uint32_t t = 0; t < b->test_threads && g->status == ORDEAL_OK; t++) {
        g->status = ordeal_trace_thread(g->test, t, &index);
        g->position[t] = 0;
        g->recent[t] = NOWHERE;
        g->registers[t] = (struct registers){ 0 };
    }
    for (g->now = 0; g->now < b->test_operations; g->now++)
        for (g->thread = 0; g->thread < b->test_threads; g->thread++)
            if (g->position[g->thread] <= g->now && g->status == ORDEAL_OK
                && g->memory.status == ORDEAL_OK)
                make_step(g);
}

/* ---- generators ---------------------------------------------------------------------------- */

/* Layout and choices by the bias of the test at hand. */
static void weigh(struct generator *g)
{
    const struct bias *b = g->b;
    struct choices *choices[] = { &g->plain,  &g->in_transactions, &g->woven,   &g->sizes,
                                  &g->narrow, &g->swaps,           &g->compared };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        choices_clear(choices[i]);
    layout_of_bias(&g->layout, b, &g->draw.idioms);
    for (uint32_t i = 0; i < EVENTS; i++) {
        choices_add(&g->plain, i, b->values[events[i].weight]);
        if (events[i].in_transactions == ALWAYS
            || (events[i].in_transactions == AS_HINT && b->transactions_hints))
            choices_add(&g->in_transactions, i, b->values[events[i].weight]);
    }
    for (uint32_t i = 0; i < g->draw.idioms.count; i++)
        choices_add(&g->woven, i, g->draw.idioms.data[i]->weight);
    for (uint32_t log2 = 0; log2 < 4; log2++) {
        uint32_t weight = b->values[BIAS_sizes_1 + log2];
        choices_add(&g->sizes, log2, weight);
        choices_add(&g->narrow, log2, weight);
        if (log2 >= 2)
            choices_add(&g->swaps, log2, weight);
    }
    choices_add(&g->sizes, 6, b->sizes_64);
    for (uint32_t key = BIAS_cas_own; key <= BIAS_cas_value; key++)
        choices_add(&g->compared, key, b->values[key]);
    g->loads_set_registers = b->dependencies_share || b->dependencies_atomics
                          || (b->operations_cas && b->cas_register);
    g->begins[LOOP] = chance_to_begin(b->loops_share,
                                      (uint64_t)(b->loops_length_min + b->loops_length_max)
                                      * (b->loops_count_min + b->loops_count_max), 4);
    g->begins[BRANCH] = chance_to_begin(b->branches_share,
                                        b->branches_length_min + b->branches_length_max, 2);
    g->begins[TRANSACTION] = chance_to_begin(b->transactions_share, b->transactions_length_mean, 1);
}

enum ordeal_status generator_make(struct generator *g, uint64_t number, struct ordeal *o,
                                  struct ordeal_trace **test)
{
    *test = NULL;
    g->test = ordeal_trace_new(o);
    if (!g->test)
        return ordeal_last_error(o)->status;
    if (draw_varies(&g->draw)) {
        draw_test(&g->draw, g->seed, number);
        weigh(g);
    }
    g->status = ORDEAL_OK;
    g->rounds = 1;
    random_seed(&g->random, g->seed, number);
    memory_start(&g->memory, g->test, &g->random);
    if (g->b->branches_share)
        ordeal_trace_seed(g->test, random_next(&g->random) | 1);
    make_threads(g);
    enum ordeal_status status = g->status != ORDEAL_OK ? g->status : g->memory.status;
    if (status == ORDEAL_OK)
        *test = g->test;
    else
        ordeal_trace_free(g->test);
    return status;
}

uint32_t generator_profile(const struct generator *g, uint64_t number)
{
    return draw_profile(&g->draw, g->seed, number);
}

struct generator *generator_new(const struct bias *b, uint64_t seed)
{
    struct ordeal_error e;
    struct generator *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->seed = seed;
    g->b = &g->draw.now;
    uint32_t threads = 0;
    bool good = draw_new(&g->draw, b, &e);
    if (good)
        threads = g->draw.most_threads;
    good = good && memory_new(&g->memory, g->b, &g->layout, g->draw.most_locations)
        && choices_new(&g->plain, EVENTS) && choices_new(&g->in_transactions, EVENTS)
        && choices_new(&g->woven, g->draw.idioms.all_count) && choices_new(&g->sizes, 5)
        && choices_new(&g->narrow, 4) && choices_new(&g->swaps, 2) && choices_new(&g->compared, 3)
        && (g->position = calloc(threads, sizeof *g->position))
        && (g->recent = calloc(threads, sizeof *g->recent))
        && (g->near = calloc(threads, sizeof *g->near))
        && (g->registers = calloc(threads, sizeof *g->registers));
    if (!good) {
        generator_free(g);
        return NULL;
    }
    weigh(g);
    return g;
}

void generator_free(struct generator *g)
{
    if (!g)
        return;
    choices_free(&g->plain);
    choices_free(&g->in_transactions);
    choices_free(&g->woven);
    choices_free(&g->sizes);
    choices_free(&g->narrow);
    choices_free(&g->swaps);
    choices_free(&g->compared);
    draw_free(&g->draw);
    memory_free(&g->memory);
    free(g->position);
    free(g->recent);
    free(g->near);
    free(g->registers);
    free(g);
}
