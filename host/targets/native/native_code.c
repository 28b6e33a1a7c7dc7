/* SPDX-License-Identifier: Apache-2.0 */
#include "native_code.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>

#include "test/extension.h"
#include "test/lfsr.h"
#include "native.h"
#include "x86.h"

/* What the registers are for. RAX, RCX, RDX and vectors 0 to 3 are free for a moment; a thread's
 * first registers of the test are R12 to R15, those above live in the frame. */
static const enum x86_register MEMORY = RDI, SLOTS = RSI, LFSR = RBX, ROUND = RBP;
enum {
    FIRST_HELD = R12, HELD = 4,
    RESULT_REGISTERS = 1 << R8 | 1 << R9 | 1 << R10 | 1 << R11,
    SAVED_REGISTERS = 1 << R12 | 1 << R13 | 1 << R14 | 1 << R15,
    RESULT_VECTORS = 0xFFF0,
    MOST_WAITING = 20
};
/* The frame. */
/* clang-format off */
enum { FRAME_CONTEXT = 0, FRAME_RETRIES = 8, FRAME_OPERAND = 16, FRAME_REGISTERS = 32,
       FRAME_BYTES = FRAME_REGISTERS + 8 * MOST_REGISTERS };
/* clang-format on */

static const struct x86_place context_pointer = { RSP, RSP, FRAME_CONTEXT };
static const struct x86_place retries_left = { RSP, RSP, FRAME_RETRIES };
static const struct x86_place amo_operand = { RSP, RSP, FRAME_OPERAND };

/* A result on its way to its slot, which is counted from where SLOTS points. */
struct waiting { uint8_t reg, size_log2; bool vector; uint32_t slot; };

struct emitter {
    struct x86 x;
    struct native_code *code;
    const struct program *p;
    const struct program_thread *t;
    uint32_t thread;
    const uint32_t *place;
    struct waiting waiting[MOST_WAITING];
    unsigned waits;
    uint32_t next_slot;
    uint32_t general, vectors;       /* for results; a bit each */
    uint32_t free_general, free_vectors;
    bool transactional;              /* what is emitted runs inside a hardware transaction */
    bool out_of_memory;
};

/* ---- results ----------------------------------------------------------------------------- */

static struct x86_place slot_place(uint32_t slot)
{
    return (struct x86_place){ SLOTS, RSP, (int32_t)(8 * slot) };
}

static void flush_results(struct emitter *e)
{
    for (unsigned i = 0; i < e->waits; i++) {
        const struct waiting *w = &e->waiting[i];
        if (w->vector)
            x86_vector_store(&e->x, w->size_log2 > 3 ? 4 : 3, slot_place(w->slot), w->reg);
        else
            x86_store(&e->x, 3, slot_place(w->slot), w->reg);
    }
    e->waits = 0;
    e->free_general = e->general;
    e->free_vectors = e->vectors;
}

/* Where ways part or meet, SLOTS must point to the next slot, whichever way was taken. */
static void settle(struct emitter *e)
{
    flush_results(e);
    if (e->next_slot)
        x86_arithmetic_immediate(&e->x, true, X86_ADD, SLOTS, (int32_t)(8 * e->next_slot));
    e->next_slot = 0;
}

static unsigned take(uint32_t *free)
{
    assert(*free);
    unsigned reg = (unsigned)__builtin_ctz(*free);
    *free &= *free - 1;
    return reg;
}

static void wait_for_flush(struct emitter *e, unsigned reg, unsigned size_log2, bool vector)
{
    assert(e->waits < MOST_WAITING); /* there are no more registers than that */
    e->waiting[e->waits++] = (struct waiting){ (uint8_t)reg, (uint8_t)size_log2, vector,
                                               e->next_slot };
    e->next_slot += size_log2 > 3 ? 2 : 1;
}

/* A general register for the value that the instruction reads. */
static enum x86_register result_register(struct emitter *e, const struct instruction *i)
{
    if (!i->observed)
        return RDX;
    if (!e->free_general)
        flush_results(e);
    unsigned reg = take(&e->free_general);
    wait_for_flush(e, reg, i->size_log2, false);
    return (enum x86_register)reg;
}

/* ---- operands ---------------------------------------------------------------------------- */

static struct x86_place register_home(unsigned reg)
{
    return (struct x86_place){ RSP, RSP, (int32_t)(FRAME_REGISTERS + 8 * reg) };
}

static void read_register(struct emitter *e, enum x86_register to, unsigned reg)
{
    assert(reg < e->t->registers);
    if (reg < HELD)
        x86_move(&e->x, to, FIRST_HELD + reg);
    else
        x86_load(&e->x, 3, to, register_home(reg));
}

static void set_register(struct emitter *e, const struct instruction *i, enum x86_register from)
{
    if (i->sets == NO_REGISTER)
        return;
    if (i->sets < HELD)
        x86_move(&e->x, FIRST_HELD + i->sets, from);
    else
        x86_store(&e->x, 3, register_home(i->sets), from);
}

/* Where the instruction goes. An address that depends on registers adds, in RCX, a zero that only
 * they can tell; `and` with 0 is no idiom that a CPU would cut the dependence at. */
static struct x86_place location(struct emitter *e, const struct instruction *i)
{
    struct x86_place at = { MEMORY, RSP, NATIVE_NO_MEMORY };
    assert(e->place[i->line] + i->offset < NATIVE_MEMORY || e->p->line[i->line].faulting);
    if (!e->p->line[i->line].faulting)
        at.displacement = (int32_t)(e->place[i->line] + i->offset);
    if (i->needs) {
        x86_immediate(&e->x, RCX, 0);
        for (unsigned r = 0; r < MOST_REGISTERS; r++)
            if (i->needs >> r & 1) {
                read_register(e, RAX, r);
                x86_arithmetic(&e->x, X86_OR, RCX, RAX);
            }
        x86_arithmetic_immediate(&e->x, true, X86_AND, RCX, 0);
        at.index = RCX;
    }
    return at;
}

static bool fits_signed(uint64_t value) { return value == (uint64_t)(int64_t)(int32_t)value; }

/* write + round * step, which fits its size in every round; may use RAX. */
static void written_value(struct emitter *e, const struct instruction *i, enum x86_register to)
{
    if (!i->step) {
        x86_immediate(&e->x, to, i->write);
        return;
    }
    if (i->step == 1 && fits_signed(i->write)) {
        x86_address(&e->x, to, (struct x86_place){ ROUND, RSP, (int32_t)i->write });
        return;
    }
    if (fits_signed(i->step)) {
        x86_multiply_immediate(&e->x, to, ROUND, (int32_t)i->step);
    } else {
        x86_immediate(&e->x, to, i->step);
        x86_multiply(&e->x, to, ROUND);
    }
    x86_immediate(&e->x, RAX, i->write);
    x86_arithmetic(&e->x, X86_ADD, to, RAX);
}

/* ---- loads and stores -------------------------------------------------------------------- */

static bool without_memory(const struct emitter *e, const struct instruction *i)
{
    return e->p->line[i->line].faulting && i->flags & ORDEAL_NONFAULTING;
}

static void note_fixup(struct emitter *e, size_t fault)
{
    struct native_fixup f = { (uint32_t)fault, (uint32_t)e->x.length };
    if (!LIST_PUSH(&e->code->fixups, f))
        e->out_of_memory = true;
}

/* Wide ones go in parts of 16 bytes, lowest first: CPUs with AVX make aligned ones at once, and
 * promise nothing of wider ones. */
static void load_part(struct emitter *e, const struct instruction *i, unsigned size_log2,
                      unsigned vector, struct x86_place from)
{
    if (without_memory(e, i))
        x86_vector_zero(&e->x, vector);
    if (without_memory(e, i) && e->transactional)
        return;
    size_t before = e->x.length;
    x86_vector_load(&e->x, size_log2, vector, from);
    if (without_memory(e, i))
        note_fixup(e, before);
}

static void load_wide(struct emitter *e, const struct instruction *i)
{
    struct x86_place from = location(e, i);
    unsigned parts = 1u << (i->size_log2 - 4);
    if (i->observed && (unsigned)__builtin_popcount(e->free_vectors) < parts)
        flush_results(e);
    for (unsigned part = 0; part < parts; part++, from.displacement += 16) {
        unsigned vector = 0;
        if (i->observed) {
            vector = take(&e->free_vectors);
            wait_for_flush(e, vector, 4, true);
        }
        load_part(e, i, 4, vector, from);
    }
}

static bool is_signed(const struct emitter *e, const struct instruction *i)
{
    return i->size_log2 < 3 && extension_is_signed(e->p, e->t, i);
}

static void load_general(struct emitter *e, const struct instruction *i)
{
    struct x86_place from = location(e, i);
    enum x86_register to = result_register(e, i);
    if (without_memory(e, i))
        x86_immediate(&e->x, to, 0);
    if (!without_memory(e, i) || !e->transactional) {
        size_t before = e->x.length;
        if (is_signed(e, i))
            x86_load_signed(&e->x, i->size_log2, to, from);
        else
            x86_load(&e->x, i->size_log2, to, from);
        if (without_memory(e, i))
            note_fixup(e, before);
    }
    set_register(e, i, to);
}

static void emit_load(struct emitter *e, const struct instruction *i)
{
    bool vector_does = i->observed && (i->size_log2 == 2 || i->size_log2 == 3)
                    && i->sets == NO_REGISTER && !is_signed(e, i);
    if (i->size_log2 > 3) {
        load_wide(e, i);
    } else if (vector_does && !e->free_general && e->free_vectors) {
        struct x86_place from = location(e, i);
        unsigned vector = take(&e->free_vectors);
        wait_for_flush(e, vector, i->size_log2, true);
        load_part(e, i, i->size_log2, vector, from);
    } else {
        load_general(e, i);
    }
}

static uint64_t eight_bytes(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int b = 7; b >= 0; b--)
        value = value << 8 | bytes[b];
    return value;
}

static void store_wide(struct emitter *e, const struct instruction *i)
{
    struct x86_place to = location(e, i);
    unsigned parts = 1u << (i->size_log2 - 4);
    assert(i->size_log2 >= 4 && parts <= 4); /* the vectors that are free for a moment */
    for (unsigned part = 0; part < parts; part++) {
        x86_immediate(&e->x, RDX, eight_bytes(i->bytes + 16 * part));
        x86_vector_low(&e->x, part, RDX);
        x86_immediate(&e->x, RDX, eight_bytes(i->bytes + 16 * part + 8));
        x86_vector_high(&e->x, part, RDX);
    }
    for (unsigned part = 0; part < parts; part++, to.displacement += 16)
        x86_vector_store(&e->x, 4, to, part);
}

static void emit_store(struct emitter *e, const struct instruction *i)
{
    if (i->bytes) {
        store_wide(e, i);
        return;
    }
    bool immediate = !i->step && (i->size_log2 < 3 || fits_signed(i->write));
    if (!immediate)
        written_value(e, i, RDX);
    struct x86_place to = location(e, i);
    if (immediate)
        x86_store_immediate(&e->x, i->size_log2, to, (int32_t)i->write);
    else
        x86_store(&e->x, i->size_log2, to, RDX);
}

static void emit_swap(struct emitter *e, const struct instruction *i)
{
    struct x86_place at = location(e, i);
    enum x86_register with = result_register(e, i);
    written_value(e, i, with);
    x86_exchange(&e->x, i->size_log2, at, with);
    set_register(e, i, with);
}

static void emit_cas(struct emitter *e, const struct instruction *i)
{
    struct x86_place at = location(e, i);
    enum x86_register to = result_register(e, i);
    written_value(e, i, RDX);
    if (i->compare_register == NO_REGISTER)
        x86_immediate(&e->x, RAX, i->compare);
    else
        read_register(e, RAX, i->compare_register);
    x86_compare_exchange(&e->x, i->size_log2, at, RDX);
    x86_zero_extend(&e->x, i->size_log2, to, RAX);
    set_register(e, i, to);
}

/* RDX, which is what RAX is, becomes the function of it and the operand. */
static void apply(struct emitter *e, const struct instruction *i)
{
    static const enum x86_condition replaced[ORDEAL_AMO_FUNCTIONS] = {
        /* by the operand */
        [ORDEAL_AMO_MIN] = X86_GREATER,
        [ORDEAL_AMO_MAX] = X86_LESS,
        [ORDEAL_AMO_MINU] = X86_ABOVE,
        [ORDEAL_AMO_MAXU] = X86_BELOW,
    };
    switch (i->function) {
    case ORDEAL_AMO_AND: x86_arithmetic_memory(&e->x, X86_AND, RDX, amo_operand); break;
    case ORDEAL_AMO_OR: x86_arithmetic_memory(&e->x, X86_OR, RDX, amo_operand); break;
    case ORDEAL_AMO_XOR: x86_arithmetic_memory(&e->x, X86_XOR, RDX, amo_operand); break;
    default:
        x86_compare(&e->x, i->size_log2, RAX, amo_operand);
        x86_load_if(&e->x, replaced[i->function], RDX, amo_operand);
    }
}

static void emit_add(struct emitter *e, const struct instruction *i)
{
    struct x86_place at = location(e, i);
    enum x86_register with = result_register(e, i);
    written_value(e, i, with);
    x86_exchange_add(&e->x, i->size_log2, at, with);
    set_register(e, i, with);
}

/* Until nobody stored in between. */
static void emit_amo(struct emitter *e, const struct instruction *i)
{
    if (i->function == ORDEAL_AMO_ADD) {
        emit_add(e, i);
        return;
    }
    written_value(e, i, RDX);
    x86_store(&e->x, 3, amo_operand, RDX);
    struct x86_place at = location(e, i);
    enum x86_register to = result_register(e, i);
    x86_load(&e->x, i->size_log2, RAX, at);
    size_t again = e->x.length;
    x86_move(&e->x, RDX, RAX);
    apply(e, i);
    x86_compare_exchange(&e->x, i->size_log2, at, RDX);
    x86_jump_back(&e->x, X86_NOT_EQUAL, again);
    x86_zero_extend(&e->x, i->size_log2, to, RAX);
    set_register(e, i, to);
}

/* ---- all else that is in a line ---------------------------------------------------------- */

/* x86 keeps all orders but that of a store before a load; lfence and sfence are there to be run. */
static void emit_membar(struct emitter *e, const struct instruction *i)
{
    if (i->barrier & ORDEAL_SL) {
        x86_simple(&e->x, X86_MFENCE);
        return;
    }
    if (i->barrier & (ORDEAL_LL | ORDEAL_LS))
        x86_simple(&e->x, X86_LFENCE);
    if (i->barrier & ORDEAL_SS)
        x86_simple(&e->x, X86_SFENCE);
}

static void emit_prefetch(struct emitter *e, const struct instruction *i)
{
    x86_cache(&e->x, X86_PREFETCH, location(e, i));
}

/* A flush, a system call or a great many lines would only abort a transaction: they are left out
 * inside one. */
static void emit_flush(struct emitter *e, const struct instruction *i)
{
    if (!e->transactional)
        x86_cache(&e->x, e->code->flush_weakly ? X86_CLFLUSHOPT : X86_CLFLUSH, location(e, i));
}

/* Loads lines of the scratch memory that lie in the same sets of the caches. */
static void emit_evict(struct emitter *e, const struct instruction *i)
{
    if (e->transactional)
        return;
    x86_address(&e->x, RAX, location(e, i));
    x86_arithmetic_immediate(&e->x, false, X86_AND, RAX, NATIVE_EVICT_STRIDE - LINE_BYTES);
    x86_load(&e->x, 3, RCX, context_pointer);
    x86_arithmetic_memory(&e->x, X86_ADD, RAX, (struct x86_place){
        RCX, RSP, offsetof(struct native_context, scratch) });
    for (int way = 0; way < NATIVE_EVICT_WAYS; way++)
        x86_load(&e->x, 2, RDX, (struct x86_place){ RAX, RSP, way * NATIVE_EVICT_STRIDE });
}

static void emit_delay(struct emitter *e, const struct instruction *i)
{
    if (!i->count)
        return;
    x86_immediate(&e->x, RAX, i->count);
    size_t again = e->x.length;
    x86_arithmetic_immediate(&e->x, false, X86_SUB, RAX, 1);
    x86_jump_back(&e->x, X86_NOT_EQUAL, again);
}

/* tgkill(process, thread, signal); the system call spoils RAX, RCX and R11. */
static void emit_interrupt(struct emitter *e, const struct instruction *i)
{
    static const enum x86_register spoiled[] = { RDI, RSI, R11 };
    enum { SPOILED = sizeof spoiled / sizeof *spoiled, TGKILL = 234 };
    if (e->transactional)
        return;
    x86_load(&e->x, 3, RCX, context_pointer);
    for (int k = 0; k < SPOILED; k++)
        x86_push(&e->x, spoiled[k]);
    x86_load(&e->x, 2, RDI, (struct x86_place){
        RCX, RSP, offsetof(struct native_context, process) });
    x86_load(&e->x, 2, RSI, (struct x86_place){
        RCX, RSP, (int32_t)(offsetof(struct native_context, thread) + 4 * i->count) });
    x86_immediate(&e->x, RDX, SIGUSR1);
    x86_immediate(&e->x, RAX, TGKILL);
    x86_simple(&e->x, X86_SYSCALL);
    for (int k = SPOILED - 1; k >= 0; k--)
        x86_pop(&e->x, spoiled[k]);
}

static void (*const emit_plain[ORDEAL_OP_KINDS])(struct emitter *, const struct instruction *) = {
    [ORDEAL_LOAD] = emit_load,     [ORDEAL_STORE] = emit_store,
    [ORDEAL_SWAP] = emit_swap,     [ORDEAL_CAS] = emit_cas,
    [ORDEAL_MEMBAR] = emit_membar, [ORDEAL_PREFETCH] = emit_prefetch,
    [ORDEAL_FLUSH] = emit_flush,   [ORDEAL_EVICT] = emit_evict,
    [ORDEAL_DELAY] = emit_delay,   [ORDEAL_INTERRUPT] = emit_interrupt,
    [ORDEAL_AMO] = emit_amo,
};

/* ---- blocks ------------------------------------------------------------------------------ */

static void emit_range(struct emitter *e, uint32_t from, uint32_t to);

static void mark(struct emitter *e, uint32_t at)
{
    struct native_mark m = { (uint32_t)e->x.length, e->thread, at };
    assert(!e->code->marks.count
           || e->code->marks.data[e->code->marks.count - 1].offset <= m.offset);
    if (!LIST_PUSH(&e->code->marks, m))
        e->out_of_memory = true;
}

/* Nothing in it fills a slot or may be undone: what waits in registers may wait on. */
static bool silent(const struct emitter *e, uint32_t from, uint32_t to)
{
    for (uint32_t at = from; at < to; at++)
        if (e->t->code[at].observed || e->t->code[at].kind == ORDEAL_TX_BEGIN)
            return false;
    return true;
}

static uint32_t emit_loop(struct emitter *e, uint32_t begin)
{
    uint32_t end = e->t->code[begin].match;
    bool quiet = silent(e, begin, end);
    if (!quiet)
        settle(e);
    x86_immediate(&e->x, ROUND, 0);
    size_t again = e->x.length;
    emit_range(e, begin + 1, end);
    mark(e, end);
    if (!quiet)
        settle(e);
    x86_arithmetic_immediate(&e->x, false, X86_ADD, ROUND, 1);
    x86_arithmetic_immediate(&e->x, false, X86_CMP, ROUND, (int32_t)e->t->code[begin].count);
    x86_jump_back(&e->x, X86_BELOW, again);
    return end;
}

static uint32_t emit_branch(struct emitter *e, uint32_t begin)
{
    const struct instruction *code = e->t->code;
    uint32_t middle = code[begin].match;
    bool other = code[middle].kind == ORDEAL_BRANCH_ELSE;
    uint32_t end = other ? code[middle].match : middle;
    bool quiet = silent(e, begin, end);
    if (!quiet)
        settle(e);
    x86_shift_right_once(&e->x, LFSR);
    size_t zero = x86_jump(&e->x, X86_NOT_CARRY);
    x86_arithmetic_immediate(&e->x, false, X86_XOR, LFSR, (int32_t)LFSR_TAPS);
    emit_range(e, begin + 1, middle);
    if (!quiet)
        settle(e);
    size_t past = other ? x86_jump(&e->x, X86_ALWAYS) : 0;
    x86_land(&e->x, zero);
    if (other) {
        emit_range(e, middle + 1, end);
        if (!quiet)
            settle(e);
        x86_land(&e->x, past);
    }
    return end;
}

static void tell_fate(struct emitter *e, bool committed)
{
    settle(e);
    x86_store_immediate(&e->x, 3, slot_place(0), committed);
    e->next_slot = 1;
    settle(e);
}

/* Intel RTM. An abort comes back to where xbegin says, registers and memory as they were, with its
 * cause in RAX: bit 0 is an explicit one, which is never tried again. */
static uint32_t emit_transaction(struct emitter *e, uint32_t begin)
{
    const struct instruction *code = e->t->code;
    uint32_t end = code[begin].match;
    bool doomed = code[end].kind == ORDEAL_TX_ABORT, limited = code[begin].count != RETRY_FOREVER;
    settle(e);
    if (limited)
        x86_store_immediate(&e->x, 2, retries_left, (int32_t)code[begin].count);
    size_t again = e->x.length;
    size_t aborted = x86_xbegin(&e->x);
    e->transactional = true;
    emit_range(e, begin + 1, end);
    mark(e, end);
    if (doomed) {
        x86_xabort(&e->x, 1);
    } else {
        settle(e);
        x86_simple(&e->x, X86_XEND);
        tell_fate(e, true);
    }
    e->transactional = false;
    size_t done = x86_jump(&e->x, X86_ALWAYS), explicit = 0, exhausted = 0;
    x86_land(&e->x, aborted);
    if (doomed) {
        x86_test_byte(&e->x, RAX, 1);
        explicit = x86_jump(&e->x, X86_NOT_EQUAL);
    }
    if (limited) {
        x86_compare_memory(&e->x, retries_left, 0);
        exhausted = x86_jump(&e->x, X86_EQUAL);
        x86_decrement_memory(&e->x, retries_left);
    }
    x86_jump_back(&e->x, X86_ALWAYS, again);
    if (limited)
        x86_land(&e->x, exhausted);
    if (limited && !doomed) {
        emit_range(e, begin + 1, end);
        tell_fate(e, false);
    }
    if (doomed)
        x86_land(&e->x, explicit);
    x86_land(&e->x, done);
    return end;
}

static void emit_range(struct emitter *e, uint32_t from, uint32_t to)
{
    for (uint32_t at = from; at < to; at++) {
        const struct instruction *i = &e->t->code[at];
        mark(e, at);
        if (i->kind == ORDEAL_LOOP_BEGIN)
            at = emit_loop(e, at);
        else if (i->kind == ORDEAL_BRANCH_BEGIN)
            at = emit_branch(e, at);
        else if (i->kind == ORDEAL_TX_BEGIN)
            at = emit_transaction(e, at);
        else {
            assert(emit_plain[i->kind]);
            emit_plain[i->kind](e, i);
        }
    }
}

/* ---- a thread ---------------------------------------------------------------------------- */

/* Registers that belong to the caller and are needed, a bit each. */
static uint32_t registers_to_save(const struct program_thread *t)
{
    uint32_t saved = 0;
    unsigned results = 0;
    for (uint32_t at = 0; at < t->length; at++) {
        saved |= t->code[at].kind == ORDEAL_BRANCH_BEGIN ? 1u << LFSR : 0;
        saved |= t->code[at].kind == ORDEAL_LOOP_BEGIN ? 1u << ROUND : 0;
        results += t->code[at].observed;
    }
    bool many = t->registers || results > (unsigned)__builtin_popcount(RESULT_REGISTERS);
    return saved | (many ? SAVED_REGISTERS : 0);
}

static void begin_thread(struct emitter *e, uint32_t saved)
{
    unsigned held = e->t->registers < HELD ? e->t->registers : HELD;
    for (unsigned r = 0; r < X86_REGISTERS; r++)
        if (saved >> r & 1)
            x86_push(&e->x, r);
    x86_arithmetic_immediate(&e->x, true, X86_SUB, RSP, FRAME_BYTES);
    x86_store(&e->x, 3, context_pointer, RCX);
    if (saved >> LFSR & 1)
        x86_zero_extend(&e->x, 2, LFSR, RDX);
    for (unsigned r = 0; r < e->t->registers; r++)
        if (r < held)
            x86_immediate(&e->x, FIRST_HELD + r, 0);
        else
            x86_store_immediate(&e->x, 3, register_home(r), 0);
    e->general = RESULT_REGISTERS;
    if (saved & SAVED_REGISTERS)
        e->general |= SAVED_REGISTERS & ~(((1u << held) - 1) << FIRST_HELD);
    e->vectors = RESULT_VECTORS;
    e->free_general = e->general;
    e->free_vectors = e->vectors;
}

/* Returns to the runner where the slots end that were filled. */
static void end_thread(struct emitter *e, uint32_t saved)
{
    settle(e);
    assert(!e->transactional && e->waits == 0 && e->next_slot == 0);
    x86_move(&e->x, RAX, SLOTS);
    x86_arithmetic_immediate(&e->x, true, X86_ADD, RSP, FRAME_BYTES);
    for (int r = X86_REGISTERS - 1; r >= 0; r--)
        if (saved >> r & 1)
            x86_pop(&e->x, (enum x86_register)r);
    x86_simple(&e->x, X86_RETURN);
}

static bool emit_thread(struct native_code *c, const struct program *p, uint32_t thread,
                        const uint32_t *place)
{
    enum { ALIGNMENT = 64 };
    struct emitter e = { .x = { c->bytes, (c->length + ALIGNMENT - 1) & -(size_t)ALIGNMENT,
                                c->capacity, false },
                         .code = c, .p = p, .t = &p->thread[thread], .thread = thread,
                         .place = place };
    if (e.x.length > c->capacity)
        return false;
    c->entry[thread] = (uint32_t)e.x.length;
    uint32_t saved = registers_to_save(e.t);
    begin_thread(&e, saved);
    emit_range(&e, 0, e.t->length);
    end_thread(&e, saved);
    c->length = e.x.length;
    return !e.x.full && !e.out_of_memory;
}

bool native_emit(struct native_code *c, const struct program *p, const uint32_t *place)
{
    uint32_t *entry = realloc(c->entry, (p->threads + 1) * sizeof *entry);
    if (!entry)
        return false;
    c->entry = entry;
    c->length = c->marks.count = c->fixups.count = 0;
    for (uint32_t t = 0; t < p->threads; t++)
        if (!emit_thread(c, p, t, place))
            return false;
    return true;
}

void native_code_free(struct native_code *c)
{
    free(c->entry);
    LIST_FREE(&c->marks);
    LIST_FREE(&c->fixups);
}

const struct native_mark *native_find(const struct native_code *c, uint64_t offset)
{
    size_t low = 0, high = c->marks.count;
    if (offset >= c->length)
        return NULL;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c->marks.data[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &c->marks.data[low - 1] : NULL;
}
