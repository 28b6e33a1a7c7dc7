/* SPDX-License-Identifier: Apache-2.0 */
#include "retrace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "chip.h"
#include "image.h"
#include "retrace_parts.h"
#include "steer.h"
#include "step.h"
#include "targets/soc/soc_numbers.h"

enum {
    MOST_QUIET = 1000000, /* instructions without an access: a loop that never ends */
    NO_EVENT = UINT32_MAX
};

/* ---- records --------------------------------------------------------------------------------- */

static const char *const kind_words[16] = {
#define RECORD(number, name, address, read, written, text) [number] = text,
#include "soc.def"
#undef RECORD
};

static void put_in_fence(struct walk *w);

/* A fence of ours (steer.h) is no instruction of the program. */
static bool is_put_in(const struct soc_record *r)
{
    return r->kind == SOC_REC_FENCE && r->address & STEER_FENCE;
}

static const struct soc_record *next_record(struct walk *w)
{
    while (w->next < w->end && is_put_in(w->next))
        put_in_fence(w);
    return w->next < w->end ? w->next : NULL;
}

/* Passes over it; time goes on. */
static void take(struct walk *w)
{
    if ((int32_t)(w->next->completion - w->time) > 0)
        w->time = w->next->completion;
    w->next++;
}

static bool is_mark(const struct soc_record *r, uint32_t value)
{
    return r && r->kind == SOC_REC_MARK && r->read == value;
}

/* The value that follows a mark. False: it has not come. */
static bool take_value(struct walk *w, uint32_t *value)
{
    const struct soc_record *r = next_record(w);
    if (!r)
        return false;
    *value = r->read;
    take(w);
    return true;
}

static uint32_t cut(uint32_t value, uint32_t size)
{
    return size >= 4 ? value : value & ((1u << (8 * size)) - 1);
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct timed *add(struct walk *w, uint8_t kind, uint32_t time)
{
    uint32_t serial = w->all->serial++;
    struct timed fresh = { .time = time,
                           .serial = serial,
                           .cause = NO_EVENT,
                           .e = { .kind = kind,
                                  .thread = w->hart,
                                  .pc = w->pc,
                                  .size = 4,
                                  .frame = w->x[8],
                                  .step = w->in_call ? w->call_step : serial } };
    for (size_t k = 0; k < EVENT_CALLERS && k < w->callers.count; k++)
        fresh.e.caller[k] = w->callers.data[w->callers.count - 1 - k];
    w->all->failed |= !LIST_PUSH(&w->all->events, fresh);
    return w->all->failed ? NULL : &w->all->events.data[w->all->events.count - 1];
}

static const char *keep_text(struct walk *w, const char *text)
{
    char *copy = strdup(text);
    w->all->failed |= !copy || !LIST_PUSH(&w->all->texts, copy);
    return copy;
}

/* What may become visible later: an event that is a store, or a swap, of which nothing is told then. */
static void expect_visible(struct walk *w, const struct soc_record *r, uint32_t event)
{
    struct expected x = { r->address, cut(r->written, 1u << r->size_log2), r->size_log2, event,
                          false };
    w->all->failed |= !LIST_PUSH(&w->expected, x);
}

static void add_access(struct walk *w, const struct soc_record *r, uint8_t kind, uint32_t time)
{
    struct timed *t = add(w, kind, time);
    if (!t)
        return;
    t->e.size = (uint8_t)(1u << r->size_log2);
    t->e.address = r->address;
    t->e.read = kind == EVENT_STORE ? 0 : cut(r->read, t->e.size);
    t->e.written = kind == EVENT_LOAD ? 0 : cut(r->written, t->e.size);
    t->e.wrote = kind != EVENT_LOAD;
    t->begin = r->issue;
    t->end = kind == EVENT_STORE ? UINT32_MAX : time;
}

/* An LR without its SC is a load. */
static void settle_reserved(struct walk *w)
{
    if (!w->reserved)
        return;
    uint32_t pc = w->pc;
    w->pc = w->reserved_pc;
    add_access(w, w->reserved, EVENT_LOAD, w->reserved_time);
    w->pc = pc;
    w->reserved = NULL;
}

static void put_in_fence(struct walk *w)
{
    const struct soc_record *r = w->next;
    take(w);
    struct timed *t = add(w, EVENT_FENCE, w->time);
    if (t)
        t->e.fence = r->address & 0x33; /* of i, o, r and w in each half, the last two */
}

/* ---- what should not be ---------------------------------------------------------------------- */

static void say_place(struct walk *w, struct why *why)
{
    struct source_place at;
    if (image_place(w->all->image, w->pc, &at))
        why_add(why, " (%s:%" PRIu32 ")", at.file, at.line);
}

/* The hart did not do what the instruction says. */
static bool broke(struct walk *w, const struct soc_record *r, const char *format, ...)
{
    struct retrace *to = w->all->to;
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (*to->broke.text && (int32_t)(r->completion - to->broke_at) > 0)
        return false;
    why_say(&to->broke, "hart %" PRIu32 " at 0x%" PRIx32, w->hart, w->pc);
    say_place(w, &to->broke);
    why_add(&to->broke, ", cycle %" PRIu32 ": %s", r->completion, text);
    to->broke_at = r->completion;
    return false;
}

/* The error that comes first counts. */
static bool fails(struct walk *w, enum explore_error error, uint32_t time, const char *format, ...)
{
    struct all *all = w->all;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    w->rest = RETRACE_IDLE;
    struct timed *t = add(w, EVENT_ERROR, time);
    if (t) {
        t->error = error;
        t->e.text = keep_text(w, text);
    }
    return all->failed;
}

/* ---- exceptions ------------------------------------------------------------------------------ */

static bool trapped(struct walk *w)
{
    static const struct {
        uint8_t error;
        const char *text;
    } causes[16] = {
        [0] = { EXPLORE_INSTRUCTION, "a jump to 0x%08" PRIx32 ", where there is no instruction" },
        [1] = { EXPLORE_INSTRUCTION, "a jump to 0x%08" PRIx32 ", where there is no code" },
        [2] = { EXPLORE_INSTRUCTION, "0x%08" PRIx32 " is no instruction" },
        [3] = { EXPLORE_ABORT, "ebreak" },
        [4] = { EXPLORE_MISALIGNED, "a load from 0x%08" PRIx32 },
        [5] = { EXPLORE_UNMAPPED, "a load from 0x%08" PRIx32 },
        [6] = { EXPLORE_MISALIGNED, "a store to 0x%08" PRIx32 },
        [7] = { EXPLORE_UNMAPPED, "a store to 0x%08" PRIx32 },
    };
    const struct soc_record *at = next_record(w);
    uint32_t cause = 0, pc = 0, value = 0, time = at->completion;
    take(w);
    if (!take_value(w, &cause) || !take_value(w, &pc) || !take_value(w, &value))
        return false;
    if (pc != w->pc && pc < w->all->machine->code_bytes)
        return broke(w, at, "an exception, cause %" PRIu32 ", at 0x%" PRIx32, cause, pc);
    cause %= 16;
    char text[100];
    // NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): of the table above
    snprintf(text, sizeof text, causes[cause].text ? causes[cause].text : "cause 0x%08" PRIx32,
             causes[cause].text ? value : cause);
    return fails(w, causes[cause].text ? causes[cause].error : EXPLORE_INSTRUCTION, time, "%s",
                 text);
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* The record that the instruction must have left, of which the address is known. NULL: it has not come,
 * or is another one. */
static const struct soc_record *expect(struct walk *w, uint8_t kind, const struct instruction *i,
                                       uint32_t address)
{
    const struct soc_record *r = next_record(w);
    if (!r)
        return NULL;
    if (is_mark(r, CHIP_TRAP)) {
        trapped(w);
        return NULL;
    }
    if (r->kind != kind)
        broke(w, r, "it did %s at 0x%" PRIx32 " in place of %s",
              kind_words[r->kind] ? kind_words[r->kind] : "something", r->address,
              kind_words[kind]);
    else if (r->address != address || (kind != SOC_REC_FENCE && 1u << r->size_log2 != i->size))
        broke(w, r, "%s of %u bytes at 0x%" PRIx32 ", where the program has %u at 0x%" PRIx32,
              kind_words[kind], 1u << r->size_log2, r->address, i->size, address);
    else
        return take(w), r;
    return NULL;
}

static void set(struct walk *w, uint8_t rd, uint32_t value)
{
    if (rd)
        w->x[rd] = value;
}

static uint32_t extended(const struct instruction *i, uint32_t value)
{
    switch (i->operation) {
    case OPERATION_LB: return (uint32_t)(int8_t)value;
    case OPERATION_LH: return (uint32_t)(int16_t)value;
    default: return cut(value, i->size);
    }
}

static bool load(struct walk *w, const struct instruction *i)
{
    const struct soc_record *r = expect(w, SOC_REC_LOAD, i, w->x[i->rs1] + (uint32_t)i->immediate);
    if (!r)
        return false;
    settle_reserved(w);
    add_access(w, r, EVENT_LOAD, w->time);
    set(w, i->rd, extended(i, r->read));
    return true;
}

static bool store(struct walk *w, const struct instruction *i)
{
    const struct soc_record *r = expect(w, SOC_REC_STORE, i, w->x[i->rs1] + (uint32_t)i->immediate);
    if (!r)
        return false;
    settle_reserved(w);
    uint32_t value = cut(w->x[i->rs2], i->size), event = (uint32_t)w->all->events.count;
    if (cut(r->written, i->size) != value)
        return broke(w, r, "it stored 0x%" PRIx32 ", where the program has 0x%" PRIx32, r->written,
                     value);
    add_access(w, r, EVENT_STORE, w->time);
    expect_visible(w, r, event);
    return true;
}

static bool amo(struct walk *w, const struct instruction *i)
{
    const struct soc_record *r = expect(w, SOC_REC_ATOMIC, i, w->x[i->rs1]);
    if (!r)
        return false;
    settle_reserved(w);
    uint32_t value = alu_amo(i->operation, r->read, w->x[i->rs2]);
    if (r->written != value)
        return broke(w, r, "an AMO that read 0x%" PRIx32 " wrote 0x%" PRIx32 ", not 0x%" PRIx32,
                     r->read, r->written, value);
    expect_visible(w, r, NO_EVENT);
    add_access(w, r, EVENT_ATOMIC, w->time);
    set(w, i->rd, r->read);
    return true;
}

static bool reserve(struct walk *w, const struct instruction *i)
{
    const struct soc_record *r = expect(w, SOC_REC_LR, i, w->x[i->rs1]);
    if (!r)
        return false;
    settle_reserved(w);
    w->reserved = r;
    w->reserved_pc = w->pc;
    w->reserved_time = w->time;
    set(w, i->rd, r->read);
    return true;
}

static void add_exchange(struct walk *w, const struct soc_record *lr, const struct soc_record *sc,
                         uint32_t time)
{
    struct soc_record both = *sc;
    both.read = lr->read;
    both.issue = lr->issue;
    expect_visible(w, sc, NO_EVENT);
    add_access(w, &both, EVENT_ATOMIC, time);
}

static bool conditional(struct walk *w, const struct instruction *i)
{
    const struct soc_record *r = expect(w, SOC_REC_SC, i, w->x[i->rs1]), *lr = w->reserved;
    if (!r)
        return false;
    if (!r->read && (!lr || lr->address != r->address))
        return broke(w, r, "an SC succeeded without an LR before it");
    if (!r->read && r->written != w->x[i->rs2])
        return broke(w, r, "an SC stored 0x%" PRIx32 ", where the program has 0x%" PRIx32,
                     r->written, w->x[i->rs2]);
    if (r->read) {
        settle_reserved(w);
    } else {
        w->reserved = NULL;
        add_exchange(w, lr, r, w->time);
    }
    set(w, i->rd, r->read);
    return true;
}

static bool fence(struct walk *w, const struct instruction *i)
{
    const struct soc_record *r = next_record(w);
    if (!r || r->kind != SOC_REC_FENCE)
        return r && broke(w, r, "it did %s in place of a fence", kind_words[r->kind]);
    take(w);
    settle_reserved(w);
    struct timed *t = add(w, EVENT_FENCE, w->time);
    if (t)
        t->e.fence = i->fence;
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static uint8_t image_byte(const struct image *image, uint32_t address)
{
    const struct segment *s;
    size_t count = image_segments(image, &s);
    for (size_t k = 0; k < count; k++)
        if (address - s[k].address < s[k].size)
            return s[k].bytes[address - s[k].address];
    return 0;
}

/* Of constants: what memory holds meanwhile is not known. */
static void image_text(const struct walk *w, uint32_t address, char text[200])
{
    size_t k = 0;
    while (k < 199 && (text[k] = (char)image_byte(w->all->image, address + (uint32_t)k)))
        k++;
    text[k] = '\0';
}

/* The call itself, as it happened at this time. */
static void add_call(struct walk *w, uint32_t time, uint32_t result)
{
    struct timed *t = add(w, EVENT_CALL, time);
    if (!t)
        return;
    t->e.call = (uint8_t)w->call;
    memcpy(t->e.argument, &w->x[10], sizeof t->e.argument);
    t->e.read = result;
    w->told = true;
    w->call_event = w->all->events.count - 1;
}

static void add_other(struct walk *w, uint8_t kind, uint32_t other)
{
    struct timed *t = add(w, kind, w->time);
    if (t)
        t->e.other = other;
}

/* An access of the run-time to what is the program's. */
static void add_inner(struct walk *w, const struct soc_record *r, const struct soc_record **lr)
{
    switch (r->kind) {
    case SOC_REC_LOAD: add_access(w, r, EVENT_LOAD, w->time); break;
    case SOC_REC_STORE:
        expect_visible(w, r, NO_EVENT);
        add_access(w, r, EVENT_STORE, w->time);
        break;
    case SOC_REC_ATOMIC:
        expect_visible(w, r, NO_EVENT);
        add_access(w, r, EVENT_ATOMIC, w->time);
        break;
    case SOC_REC_LR: *lr = r; break;
    case SOC_REC_SC:
        if (!r->read && *lr)
            add_exchange(w, *lr, r, w->time);
        break;
    default: break;
    }
}

/* What the run-time keeps for itself, in memory or about what it allocates. */
static bool is_inner(const struct walk *w, const struct soc_record *r)
{
    bool heap = w->call == PROGRAM_CALL_ALLOCATE || w->call == PROGRAM_CALL_FREE
             || w->call == PROGRAM_CALL_SIZE_OF;
    return !heap && r->address - CHIP_DATA < w->all->machine->memory_bytes;
}

/* At CHIP_POINT: the accesses since the lock was taken are of this moment. */
static void happened(struct walk *w, const struct soc_record *since, const struct soc_record *now)
{
    const struct soc_record *lr = NULL;
    uint32_t number = 0;
    add_call(w, w->time, 0);
    for (const struct soc_record *r = since; r < now; r++)
        if (is_inner(w, r)) {
            add_inner(w, r, &lr);
            number = r->written;
        }
    if (w->call == PROGRAM_CALL_THREAD_CREATE)
        add_other(w, EVENT_CREATE, number);
    if (w->call == PROGRAM_CALL_THREAD_JOIN)
        add_other(w, EVENT_JOIN, w->x[10]);
}

static bool returned(struct walk *w)
{
    uint32_t result;
    take(w);
    uint32_t time = w->time;
    if (!take_value(w, &result))
        return false;
    if (!w->told)
        add_call(w, time, result);
    w->all->events.data[w->call_event].e.read = result;
    if (w->call == PROGRAM_CALL_NONDET) {
        struct timed *t = add(w, EVENT_CHOICE, time);
        if (t)
            t->e.read = result;
    }
    char text[200];
    if (w->call == PROGRAM_CALL_PRINT) {
        struct timed *t = add(w, EVENT_PRINT, time);
        image_text(w, w->x[10], text);
        if (t)
            t->e.text = keep_text(w, text);
    }
    w->x[10] = result;
    w->pc += 4;
    w->in_call = false;
    return true;
}

/* The program ends in this call. */
static bool stopped(struct walk *w)
{
    struct retrace *to = w->all->to;
    char text[200];
    image_text(w, w->x[10], text);
    take(w);
    switch (w->call) {
    case PROGRAM_CALL_ASSERT_FAILED: return fails(w, EXPLORE_ASSERTION, w->time, "%s", text);
    case PROGRAM_CALL_REACH_ERROR: return fails(w, EXPLORE_REACHED, w->time, "reach_error");
    case PROGRAM_CALL_ABORT: return fails(w, EXPLORE_ABORT, w->time, "abort");
    case PROGRAM_CALL_NOT_THERE: return fails(w, EXPLORE_NOT_THERE, w->time, "%s", text);
    case PROGRAM_CALL_ASSUME: to->assumed = true; break;
    default: to->ended = true; add_call(w, w->time, 0);
    }
    w->rest = RETRACE_IDLE;
    return false;
}

static bool refused(struct walk *w, uint32_t mark)
{
    struct retrace *to = w->all->to;
    take(w);
    switch (mark) {
    case CHIP_FULL: to->full = true; break;
    case CHIP_BAD_FREE:
        return fails(w, EXPLORE_DOUBLE_FREE, w->time,
                     "free of 0x%08" PRIx32 ", which is no allocation", w->x[10]);
    case CHIP_BAD_UNLOCK:
        return fails(w, EXPLORE_UNLOCK, w->time, "the mutex at 0x%08" PRIx32,
                     w->call == PROGRAM_CALL_COND_WAIT ? w->x[11] : w->x[10]);
    case CHIP_NO_MEMORY:
        snprintf(to->unknown, sizeof to->unknown, "a thread allocates more than it has of memory");
        break;
    default:
        snprintf(to->unknown, sizeof to->unknown, "the call %" PRIu32 " of calls.def is not there",
                 w->call);
    }
    w->rest = RETRACE_IDLE;
    return false;
}

static bool thread_ended(struct walk *w)
{
    uint32_t value;
    take(w);
    add_call(w, w->time, 0);
    add(w, EVENT_EXIT, w->time);
    take_value(w, &value);
    w->rest = RETRACE_IDLE;
    w->in_call = false;
    return true;
}

static bool takes_lock(const struct soc_record *r)
{
    return r->kind == SOC_REC_ATOMIC && r->address == CHIP_MEMORY + offsetof(struct chip, lock)
        && !r->read;
}

/* Up to its return, which may not have come. */
static bool call(struct walk *w)
{
    w->call = w->x[17];
    w->told = false;
    settle_reserved(w);
    w->call_step = w->all->serial;
    w->in_call = true;
    const struct soc_record *r = next_record(w), *since = r;
    for (; (r = next_record(w)); take(w)) {
        if (takes_lock(r))
            since = r + 1;
        if (r->kind != SOC_REC_MARK)
            continue;
        switch (r->read) {
        case CHIP_RETURN: return returned(w);
        case CHIP_POINT: happened(w, since, r); break;
        case CHIP_END: return thread_ended(w);
        case CHIP_STOP: return stopped(w);
        case CHIP_TRAP:
            return broke(w, r, "an exception in the run-time, in call %" PRIu32, w->call);
        default: return refused(w, r->read);
        }
    }
    w->rest = RETRACE_WAITS;
    return false;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static bool jump(struct walk *w, const struct instruction *i)
{
    uint32_t behind = w->pc + 4, to = i->operation == OPERATION_JAL
                                        ? (uint32_t)i->immediate
                                        : (w->x[i->rs1] + (uint32_t)i->immediate) & ~1u;
    if (i->rd == 1)
        w->all->failed |= !LIST_PUSH(&w->callers, behind);
    for (size_t k = w->callers.count; !i->rd && i->rs1 == 1 && k-- > 0;)
        if (w->callers.data[k] == to) {
            w->callers.count = k;
            break;
        }
    set(w, i->rd, behind);
    w->pc = to;
    return true;
}

static bool goes_on(struct walk *w, bool done)
{
    if (done)
        w->pc += 4;
    return done;
}

static bool memory(struct walk *w, const struct instruction *i)
{
    w->quiet = 0;
    switch (i->operation) {
    case OPERATION_SB:
    case OPERATION_SH:
    case OPERATION_SW: return goes_on(w, store(w, i));
    case OPERATION_FENCE: return goes_on(w, fence(w, i));
    case OPERATION_LR: return goes_on(w, reserve(w, i));
    case OPERATION_SC: return goes_on(w, conditional(w, i));
    case OPERATION_ECALL: return call(w);
    case OPERATION_EBREAK: return next_record(w) && is_mark(w->next, CHIP_TRAP) && trapped(w);
    default: return goes_on(w, i->operation < OPERATION_SB ? load(w, i) : amo(w, i));
    }
}

/* Is it one that a hart does by itself? image_ops.def has them in this order. */
static bool is_arithmetic(uint8_t operation)
{
    return operation <= OPERATION_AUIPC
        || (operation >= OPERATION_ADDI && operation <= OPERATION_AND)
        || (operation >= OPERATION_MUL && operation <= OPERATION_REMU);
}

static bool step(struct walk *w)
{
    const struct instruction *i = image_instruction(w->all->image, w->pc);
    if (!i || !i->operation) {
        const struct soc_record *r = next_record(w);
        return r
            && (is_mark(r, CHIP_TRAP) ? trapped(w) : broke(w, r, "it executes what is no code"));
    }
    if (is_arithmetic(i->operation)) {
        set(w, i->rd, alu(i, w->x[i->rs1], w->x[i->rs2]));
        w->pc += 4;
    } else if (i->operation >= OPERATION_LB) {
        return memory(w, i);
    } else if (i->operation >= OPERATION_BEQ) {
        bool taken = alu_branches(i->operation, w->x[i->rs1], w->x[i->rs2]);
        w->pc = taken ? (uint32_t)i->immediate : w->pc + 4;
    } else {
        jump(w, i);
    }
    if (w->x[2] < w->all->machine->stack_begin[w->hart])
        return fails(w, EXPLORE_STACK, w->time, "the stack has %" PRIu32 " bytes",
                     w->all->machine->stack_end[w->hart] - w->all->machine->stack_begin[w->hart]);
    return ++w->quiet < MOST_QUIET;
}

/* ---- a hart ---------------------------------------------------------------------------------- */

/* Up to where its next thread begins. */
static bool begins(struct walk *w)
{
    const struct symbol *end = image_symbol_named(w->all->image, "__ordeal_thread_end");
    while (next_record(w) && !is_mark(w->next, CHIP_BEGIN))
        take(w);
    if (!next_record(w))
        return false;
    take(w);
    memset(w->x, 0, sizeof w->x);
    w->callers.count = 0;
    if (!take_value(w, &w->pc) || !take_value(w, &w->x[10]))
        return false;
    if (w->pc != image_entry(w->all->image))
        w->x[1] = end ? end->address : 0;
    w->x[2] = w->all->machine->stack_end[w->hart];
    w->rest = RETRACE_RUNS;
    while (next_record(w) && w->next->kind != SOC_REC_FENCE)
        take(w);
    if (next_record(w))
        take(w);
    return true;
}

static void walk_hart(struct walk *w)
{
    while (!w->all->failed && begins(w)) {
        while (!w->all->failed && w->rest == RETRACE_RUNS && step(w))
            ;
        settle_reserved(w);
        if (w->rest != RETRACE_IDLE || *w->all->to->broke.text)
            break;
    }
    w->all->to->rest[w->hart] = w->rest;
    w->all->to->pc[w->hart] = w->pc;
    w->all->to->call[w->hart] = w->in_call ? w->call : 0;
    w->all->to->argument[w->hart] = w->x[w->call == PROGRAM_CALL_COND_WAIT ? 11 : 10];
    for (size_t k = 0; k < EVENT_CALLERS && k < w->callers.count; k++)
        w->all->to->caller[w->hart][k] = w->callers.data[w->callers.count - 1 - k];
}

/* A store that became visible is a COMMIT; which one it was is told by its address and value. */
static void add_visible(struct walk *w, const struct soc_visible *v)
{
    for (size_t k = w->first_expected; k < w->expected.count; k++) {
        struct expected *x = &w->expected.data[k];
        if (x->taken || x->address != v->address || x->size_log2 != v->size_log2
            || x->written != cut(v->written, 1u << v->size_log2))
            continue;
        x->taken = true;
        while (w->first_expected < w->expected.count && w->expected.data[w->first_expected].taken)
            w->first_expected++;
        if (x->event != NO_EVENT) {
            uint32_t event = x->event;
            struct timed store = w->all->events.data[event];
            uint32_t least = store.time + 1;
            struct timed *t = add(w, EVENT_COMMIT,
                                  (int32_t)(v->cycle - least) > 0 ? v->cycle : least);
            if (!t)
                return;
            w->all->events.data[event].e.buffered = true;
            w->all->events.data[event].end = t->time;
            uint32_t step = t->e.step;
            t->e = store.e;
            t->e.kind = EVENT_COMMIT;
            t->e.step = step;
            t->cause = event;
        }
        return;
    }
}

/* What an exception left behind its mark, which is the end of everything, belongs to it. */
static size_t rest_of_trap(const struct soc_hart_records *records, size_t count)
{
    enum { WORDS = 3 };
    for (size_t back = 1; back <= WORDS && back <= count; back++)
        if (is_mark(&records->list.data[count - back], CHIP_TRAP)) {
            size_t more = WORDS + 1 - back, there = records->list.count - count;
            return more < there ? more : there;
        }
    return 0;
}

static void read_hart(struct all *all, const struct soc_hart_records *records, uint32_t hart,
                      uint32_t end)
{
    struct walk w = { .all = all, .hart = hart, .next = records->list.data };
    size_t count = 0;
    while (count < records->list.count
           && (int32_t)(records->list.data[count].completion - end) <= 0)
        count++;
    count += rest_of_trap(records, count);
    w.end = w.next + count;
    if (count)
        walk_hart(&w);
    for (size_t k = 0; k < records->visible.count; k++)
        if ((int32_t)(records->visible.data[k].cycle - end) <= 0)
            add_visible(&w, &records->visible.data[k]);
    LIST_FREE(&w.expected);
    LIST_FREE(&w.callers);
}

bool retrace(struct retrace *r, const struct image *image, const struct retrace_machine *machine,
             const struct soc_hart_records *records, uint32_t end)
{
    struct all all = { .to = r, .image = image, .machine = machine };
    *r = (struct retrace){ 0 };
    for (uint32_t h = 0; h < machine->harts; h++) {
        all.visible |= records[h].visible.count > 0;
        read_hart(&all, &records[h], h, end);
    }
    bool good = !all.failed && retrace_merge(&all) && retrace_check_own(&all);
    LIST_FREE(&all.events);
    r->text = all.texts.data;
    r->texts = all.texts.count;
    return good;
}

void retrace_free(struct retrace *r)
{
    for (size_t k = 0; k < r->texts; k++)
        free(r->text[k]);
    free(r->text);
    free(r->events.event);
    free(r->time);
    free(r->times);
    *r = (struct retrace){ 0 };
}
