/* SPDX-License-Identifier: Apache-2.0 */
#include "soc_records.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "test/kinds.h"
#include "test/program_walk.h"

static const char *const kind_words[16] = {
#define RECORD(number, name, address, read, written, text) [number] = text,
#include "soc.def"
#undef RECORD
};

/* ---- the stream ----------------------------------------------------------------------------- */

void soc_records_clear(struct soc_records *r)
{
    for (uint32_t h = 0; h < SOC_HARTS; h++) {
        r->hart[h].list.count = r->hart[h].visible.count = 0;
        r->hart[h].interrupts.count = 0;
    }
    r->ipis.count = 0;
    r->writes.count = 0;
    r->lost = 0;
}

void soc_records_free(struct soc_records *r)
{
    for (uint32_t h = 0; h < SOC_HARTS; h++) {
        LIST_FREE(&r->hart[h].list);
        LIST_FREE(&r->hart[h].visible);
        LIST_FREE(&r->hart[h].interrupts);
    }
    LIST_FREE(&r->writes);
    LIST_FREE(&r->ipis);
}

/* Sequence numbers have 8 bits; records come nearly in order. */
static bool insert(struct soc_hart_records *h, struct soc_record fresh, uint8_t sequence)
{
    uint64_t newest = h->list.count ? h->list.data[h->list.count - 1].sequence : sequence + 256u;
    fresh.sequence = newest + (uint64_t)(int64_t)(int8_t)(sequence - (uint8_t)newest);
    if (!LIST_PUSH(&h->list, fresh))
        return false;
    size_t at = h->list.count - 1;
    for (; at && h->list.data[at - 1].sequence > fresh.sequence; at--)
        h->list.data[at] = h->list.data[at - 1];
    h->list.data[at] = fresh;
    return true;
}

static bool insert_visible(struct soc_hart_records *h, const struct soc_record *r,
                           bool in_transaction)
{
    struct soc_visible v = { .cycle = r->completion,
                             .arrival = (uint32_t)h->visible.count,
                             .address = r->address,
                             .written = r->written,
                             .size_log2 = r->size_log2,
                             .in_transaction = in_transaction };
    return LIST_PUSH(&h->visible, v);
}

static uint32_t word_at(const uint32_t *words, uint8_t place) { return place ? words[place] : 0; }

bool soc_records_take(struct soc_records *r, const uint32_t *words, size_t count, struct why *why)
{
    for (const uint32_t *end = words + count; words < end; ) {
        uint32_t head = words[0], kind = FIELD_GET(head, SOC_REC_HEAD_KIND);
        const struct soc_shape *shape = &soc_shape[kind];
        struct soc_hart_records *h = &r->hart[FIELD_GET(head, SOC_REC_HEAD_HART)];
        if (!shape->words || end - words < shape->words)
            return why_say(why,
                           "the capture stream has a record of kind %" PRIu32 " with %td words",
                           kind, end - words);
        struct soc_record record = { .kind = (uint8_t)kind,
                                     .size_log2 = FIELD_GET(head, SOC_REC_HEAD_SIZE),
                                     .issue = words[1] - FIELD_GET(head, SOC_REC_HEAD_LATENCY),
                                     .completion = words[1],
                                     .address = word_at(words, shape->address),
                                     .read = word_at(words, shape->read),
                                     .written = word_at(words, shape->written) };
        words += shape->words;
        bool good = true;
        if (kind == SOC_REC_LOST)
            r->lost += record.read;
        else if (kind == SOC_REC_VISIBLE)
            good = insert_visible(h, &record, FIELD_GET(head, SOC_REC_HEAD_TX));
        else
            good = insert(h, record, (uint8_t)FIELD_GET(head, SOC_REC_HEAD_SEQUENCE));
        if (!good)
            return why_say(why, "out of memory");
    }
    return true;
}

/* ---- one thread ----------------------------------------------------------------------------- */

/* What the registers of a hart must hold that take what it reads, and by which instruction. */
struct soc_hart_registers {
    uint32_t value[32], unknown;
    const struct instruction *by[32];
};

struct reading {
    struct soc_records *all;
    const struct soc_code *c;
    const struct machine_claims *claims;
    uint32_t thread;
    const struct soc_record *next, *end;
    const struct instruction *i;        /* the instruction at hand */
    struct walker walker;
    uint64_t *value, *cycles;           /* its next slot; cycles of its next operation, or NULL */
    uint64_t operation;
    uint32_t registers[MOST_REGISTERS];
    struct soc_hart_registers x;
    bool plainly;                       /* in a transaction that is none */
    bool wrong;                         /* a fold was; `why` says it */
    struct why *why;
};

static bool broke(struct reading *r, const struct soc_record *left)
{
    char text[256];
    if (r->wrong)
        return false;
    ordeal_trace_format(r->c->p->test, r->i->op, text, sizeof text);
    if (left && left->kind == SOC_REC_MARK)
        return why_say(r->why,
                       "hart %" PRIu32 " trapped, cause %" PRIu32 ", at 0x%" PRIx32
                       "; it had come to %s",
                       r->thread, left->read, left + 1 < r->end ? left[1].read : 0, text);
    if (left)
        return why_say(r->why,
                       "hart %" PRIu32 " did what is not in the test: "
                       "%s at 0x%" PRIx32 ", cycle %" PRIu32 ", in place of %s",
                       r->thread, kind_words[left->kind], left->address, left->completion, text);
    return why_say(r->why, "hart %" PRIu32 " came to its end before %s", r->thread, text);
}

/* What is passed over where nobody looks for it. */
static bool is_quiet(const struct soc_record *s)
{
    return s->kind == SOC_REC_STORE || s->kind == SOC_REC_FENCE || s->kind == SOC_REC_HINT;
}

static bool is_interrupt(const struct soc_record *s)
{
    return s->kind == SOC_REC_MARK && s->read == SOC_INTERRUPT_MARK;
}

/* ---- registers and folds -------------------------------------------------------------------- */

static const struct soc_hart_code *code_of(const struct reading *r)
{
    return &r->c->hart[r->thread];
}

static void set_register(struct reading *r, uint8_t reg, uint32_t value)
{
    assert(reg < 32);
    r->x.value[reg] = value;
    r->x.by[reg] = r->i;
    r->x.unknown &= ~(UINT32_C(1) << reg);
}

/* The mark that begins a fold. */
static bool is_fold(const struct reading *r, const struct soc_record *s)
{
    return s->kind == SOC_REC_MARK && s->read >= SOC_FIRST_FOLD
        && s->read - SOC_FIRST_FOLD < code_of(r)->folds;
}

static void wrong_fold(struct reading *r, uint32_t registers, uint32_t expected,
                       const struct soc_record *seen)
{
    r->wrong = true;
    why_say(r->why,
            "hart %" PRIu32 " has in its registers what it did not read: folded they are 0x%" PRIx32
            ", not 0x%" PRIx32 ", cycle %" PRIu32 "; they hold",
            r->thread, seen->read, expected, seen->completion);
    for (uint32_t x = 0; x < 32; x++) {
        char text[128] = "0 from the start";
        if (!(registers >> x & 1))
            continue;
        if (r->x.by[x])
            ordeal_trace_format(r->c->p->test, r->x.by[x]->op, text, sizeof text);
        why_add(r->why, " x%" PRIu32 " 0x%" PRIx32 " of %s;", x, r->x.value[x], text);
    }
}

static void read_interrupt(struct reading *r)
{
    if (!LIST_PUSH(&r->all->hart[r->thread].interrupts, r->next->completion))
        r->wrong = !why_say(r->why, "out of memory");
    r->next++;
}

/* At a fold: its two marks, of which the second must be what the registers hold. An interrupt may
 * come in between. */
static void read_fold(struct reading *r)
{
    uint32_t fold = r->next->read, registers = code_of(r)->fold[fold - SOC_FIRST_FOLD];
    for (uint32_t x = 0; x < 32; x++)
        if (registers >> x & 1)
            fold = soc_fold_step(fold, r->x.value[x]);
    r->next++;
    while (r->next < r->end && is_interrupt(r->next) && fold != SOC_INTERRUPT_MARK)
        read_interrupt(r);
    const struct soc_record *seen = r->next;
    if (seen == r->end || seen->kind != SOC_REC_MARK) {
        r->wrong = !broke(r, seen == r->end ? NULL : seen);
        return;
    }
    r->next++;
    if (fold != seen->read && !(registers & r->x.unknown))
        wrong_fold(r, registers, fold, seen);
}

/* Of a hart's marks, one that is no trap: read, and passed over. */
static bool read_mark(struct reading *r)
{
    if (r->wrong || r->next == r->end)
        return false;
    if (is_interrupt(r->next))
        read_interrupt(r);
    else if (is_fold(r, r->next))
        read_fold(r);
    else
        return false;
    return true;
}

/* Passes over what is quiet, and over marks. */
static const struct soc_record *peek(struct reading *r)
{
    for (bool more = true; more;)
        if (!r->wrong && r->next < r->end && is_quiet(r->next))
            r->next++;
        else
            more = read_mark(r);
    return r->next < r->end && !r->wrong ? r->next : NULL;
}
/* The next record that reads something must be this one. NULL: it is not. */
static const struct soc_record *take(struct reading *r, uint8_t kind, uint32_t address)
{
    const struct soc_record *found = peek(r);
    if (!found || found->kind != kind || found->address != address) {
        broke(r, found);
        return NULL;
    }
    r->next++;
    return found;
}

/* The record of a store, if it is there: before the next that reads something. */
static const struct soc_record *look_for_store(struct reading *r, uint32_t address)
{
    for (const struct soc_record *s = r->next; s < r->end; s++) {
        if (s->kind == SOC_REC_MARK) {
            r->next = s;
            if (!read_mark(r))
                break;
            s = r->next - 1;
        } else if (!is_quiet(s)) {
            break;
        } else if (s->kind == SOC_REC_STORE && s->address == address) {
            r->next = s + 1;
            return s;
        }
    }
    return NULL;
}

/* Of a wide access the issue of the first word and the completion of the last. */
static void note_cycles(struct reading *r, const struct soc_record *s, bool first)
{
    if (!r->cycles || !s)
        return;
    uint64_t issue = first ? s->issue : (uint32_t)*r->cycles;
    *r->cycles = issue | (uint64_t)s->completion << 32;
}

static bool note_write(struct reading *r, uint32_t address, uint8_t size_log2, uint32_t value,
                       uint32_t cycle)
{
    struct soc_write w = { .operation = r->operation,
                           .hart = r->thread,
                           .address = address,
                           .value = value,
                           .size_log2 = size_log2,
                           .cycle = cycle };
    if (!r->claims->visible || soc_order_add(r->all, &w))
        return true;
    return why_say(r->why, "out of memory");
}

/* ---- instructions --------------------------------------------------------------------------- */

static const struct soc_made *made_of(const struct reading *r)
{
    return &r->c->made[r->i - r->c->p->code];
}

static uint64_t value_written(const struct reading *r)
{
    return r->i->write + r->walker.round * r->i->step;
}

static void set_value(struct reading *r, uint64_t value)
{
    *r->value++ = value;
    if (r->i->sets != NO_REGISTER)
        r->registers[r->i->sets] = (uint32_t)value;
}

/* Word `w` of what a load reads, in its register, which so far is that of the word before it. Of
 * one that sets a register of the test others but the first leave 0. */
static void load_register(struct reading *r, uint32_t w, uint32_t value, uint8_t *reg)
{
    const struct soc_made *how = made_of(r);
    uint32_t unused = r->i->size_log2 < 2 ? 32 - (8u << r->i->size_log2) : 0;
    *reg = w == 0 ? how->to : w == 1 ? how->next : soc_next_result(code_of(r), *reg);
    if (how->sign)
        value = (uint32_t)((int32_t)(value << unused) >> unused);
    set_register(r, *reg, w > 0 && r->i->sets != NO_REGISTER ? 0 : value);
}

static bool read_load(struct reading *r)
{
    const struct instruction *i = r->i;
    uint32_t address = soc_address(r->c->p, i),
             words = i->size_log2 > 2 ? 1u << (i->size_log2 - 2) : 1;
    uint32_t mask = i->size_log2 < 2 ? (1u << (8u << i->size_log2)) - 1 : UINT32_MAX;
    bool silent = made_of(r)->way == SOC_NOTHING || r->c->p->line[i->line].faulting;
    uint8_t reg = 0;
    if (silent && i->sets != NO_REGISTER)
        set_register(r, (uint8_t)(SOC_FIRST_REGISTER + i->sets), 0);
    for (uint32_t w = 0; w < words; w += 2) {
        uint64_t value = 0;
        for (uint32_t half = 0; half < 2 && w + half < words && !silent; half++) {
            const struct soc_record *s = take(r, SOC_REC_LOAD, address + 4 * (w + half));
            if (!s)
                return false;
            value |= (uint64_t)(s->read & mask) << 32 * half;
            load_register(r, w + half, s->read & mask, &reg);
            note_cycles(r, s, w + half == 0);
        }
        set_value(r, value);
    }
    return true;
}

static bool read_store(struct reading *r)
{
    const struct instruction *i = r->i;
    uint32_t address = soc_address(r->c->p, i), size = 1u << i->size_log2;
    uint32_t step = size < 4 ? size : 4, mask = UINT32_MAX >> (32 - 8 * step);
    uint64_t value = i->bytes ? 0 : value_written(r);
    for (uint32_t done = 0; done < size; done += step) {
        if (i->bytes)
            memcpy(&value, i->bytes + done, 4);
        note_cycles(r, look_for_store(r, address + done), done == 0);
        if (!note_write(r, address + done, i->size_log2 < 2 ? i->size_log2 : 2,
                        (uint32_t)value & mask, 0))
            return false;
        value >>= 32;
    }
    return true;
}

/* What memory holds after a SWAP, an AMO, or a CAS or SC that did. */
static uint32_t value_left(const struct reading *r, uint32_t read)
{
    uint32_t operand = (uint32_t)value_written(r);
    return r->i->kind != ORDEAL_AMO
             ? operand
             : (uint32_t)ordeal_amo_result((enum ordeal_amo_function)r->i->function, 2, read,
                                           operand);
}

/* What an AMO wrote is for the hart to know, and told by its record alone. */
static bool left_it(struct reading *r, const struct soc_record *s, uint32_t read)
{
    uint32_t left = value_left(r, read);
    if (r->i->kind != ORDEAL_AMO || s->written == left)
        return true;
    char text[256];
    ordeal_trace_format(r->c->p->test, r->i->op, text, sizeof text);
    return why_say(r->why,
                   "hart %" PRIu32 " read 0x%" PRIx32 " at 0x%" PRIx32 " and wrote 0x%" PRIx32
                   ", not 0x%" PRIx32 ", cycle %" PRIu32 ", in %s",
                   r->thread, read, s->address, s->written, left, s->completion, text);
}

/* What a load between LR and SC read comes to its register, and is of no other use. */
static bool read_between(struct reading *r)
{
    const struct soc_made *how = made_of(r);
    if (how->between != SOC_LOAD_BETWEEN)
        return true;
    const struct soc_record *s = take(r, SOC_REC_LOAD, how->other);
    if (s)
        set_register(r, how->next, s->read);
    return s;
}

/* Rounds of LR and SC until one succeeds or, of a CAS, the values differ. */
static bool read_lr_sc(struct reading *r, uint32_t address, uint32_t compare,
                       uint32_t *read, bool *wrote)
{
    const struct soc_made *how = made_of(r);
    const struct soc_record *lr, *sc;
    bool first = true;
    for (*wrote = false; !*wrote; first = false) {
        if (!(lr = take(r, SOC_REC_LR, address)))
            return false;
        note_cycles(r, lr, first);
        *read = lr->read;
        if (r->i->kind == ORDEAL_CAS && lr->read != compare)
            return true;
        if (first && !read_between(r))
            return false;
        if (!(sc = take(r, SOC_REC_SC, address)))
            return false;
        note_cycles(r, sc, false);
        *wrote = sc->read == 0;
    }
    if (!left_it(r, sc, *read) || !note_write(r, address, 2, value_left(r, *read), sc->completion))
        return false;
    if (how->way != SOC_LR_SC_SC)
        return true;
    if (!(sc = take(r, SOC_REC_SC, address)))
        return false;
    if (sc->read != 0)
        return true;
    char text[256];
    ordeal_trace_format(r->c->p->test, r->i->op, text, sizeof text);
    return why_say(r->why,
                   "hart %" PRIu32 " made two SC succeed with one "
                   "reservation, at 0x%" PRIx32 ", cycle %" PRIu32 ", in %s",
                   r->thread, address, sc->completion, text);
}

static bool read_atomic(struct reading *r)
{
    const struct instruction *i = r->i;
    uint32_t address = soc_address(r->c->p, i), read, compare = (uint32_t)i->compare;
    bool wrote;
    if (i->compare_register != NO_REGISTER)
        compare = r->registers[i->compare_register];
    if (made_of(r)->way == SOC_PLAIN) {
        const struct soc_record *s = take(r, SOC_REC_ATOMIC, address);
        if (!s)
            return false;
        note_cycles(r, s, true);
        read = s->read;
        wrote = i->kind != ORDEAL_CAS || read == compare;
        if (!left_it(r, s, read)
            || (wrote && !note_write(r, address, 2, value_left(r, read), s->completion)))
            return false;
    } else if (!read_lr_sc(r, address, compare, &read, &wrote)) {
        return false;
    }
    set_register(r, made_of(r)->to, read);
    set_value(r, read);
    return true;
}

static bool read_evict(struct reading *r)
{
    const struct soc_made *how = made_of(r);
    uint8_t reg = how->to;
    for (uint32_t n = 0; n < how->loads; n++, reg = soc_next_result(code_of(r), reg)) {
        const struct soc_record *s = peek(r);
        if (!s || s->kind != SOC_REC_LOAD)
            return broke(r, s);
        set_register(r, reg, s->read);
        r->next++;
    }
    return true;
}

static bool read_ipi(struct reading *r)
{
    if (made_of(r)->way == SOC_NOTHING)
        return true;
    const struct soc_record *s = look_for_store(r, SOC_MAP_IPI + 4 * r->i->count);
    struct soc_ipi ipi = { .from = r->thread,
                           .to = r->i->count,
                           .cycle = s ? s->completion : 0,
                           .record = s ? (size_t)(s - r->all->hart[r->thread].list.data) : 0 };
    return soc_interrupts_add(r->all, &ipi) || why_say(r->why, "out of memory");
}

/* ---- transactions --------------------------------------------------------------------------- */

/* Passes over tries that aborted. `committed`: the last one did not; else it was given up. */
static bool read_tries(struct reading *r, bool *committed)
{
    uint32_t most = soc_tries(r->walker.thread, r->i);
    for (uint32_t aborts = 0; ; ) {
        const struct soc_record *s = take(r, SOC_REC_TX_BEGIN, 0);
        if (!s)
            return false;
        while (s < r->end && s->kind != SOC_REC_TX_COMMIT && s->kind != SOC_REC_TX_ABORT)
            s++;
        if (s == r->end)
            return broke(r, NULL);
        *committed = s->kind == SOC_REC_TX_COMMIT;
        if (*committed)
            return true;
        r->next = s + 1;
        uint32_t cause = FIELD_GET(s->read, SOC_TX_STATUS_CAUSE);
        bool itself = r->walker.thread->code[r->i->match].kind == ORDEAL_TX_ABORT;
        if (cause == SOC_TX_UNSUPPORTED || (itself && cause == SOC_TX_EXPLICIT)
            || ++aborts >= most)
            return true;
    }
}

/* Of one that aborted itself nothing is told, and what its loads left in registers nobody knows. */
static void pass_over(struct reading *r)
{
    const struct instruction *inner;
    r->x.unknown = UINT32_MAX;
    while ((inner = program_step(&r->walker)) && inner->kind != ORDEAL_TX_ABORT)
        if (kind_is_access(inner->kind)) {
            r->operation++;
            r->cycles += !!r->cycles;
        }
}

static bool read_tx_begin(struct reading *r)
{
    bool committed;
    if (!read_tries(r, &committed))
        return false;
    r->plainly = !committed;
    if (r->walker.thread->code[r->i->match].kind != ORDEAL_TX_ABORT)
        return true;
    if (committed)
        return broke(r, r->next);
    pass_over(r);
    return true;
}

static bool read_tx_end(struct reading *r)
{
    const struct soc_record *s = peek(r);
    if (r->plainly && s && s->kind == SOC_REC_TX_COMMIT)
        r->next++; /* outside of a transaction it does nothing */
    if (!r->plainly && !take(r, SOC_REC_TX_COMMIT, 0))
        return false;
    *r->value++ = !r->plainly;
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool read_instruction(struct reading *r)
{
    switch (r->i->kind) {
    case ORDEAL_LOAD:     return read_load(r);
    case ORDEAL_STORE:    return read_store(r);
    case ORDEAL_SWAP:
    case ORDEAL_AMO:
    case ORDEAL_CAS:      return read_atomic(r);
    case ORDEAL_EVICT:    return read_evict(r);
    case ORDEAL_INTERRUPT: return read_ipi(r);
    case ORDEAL_TX_BEGIN: return read_tx_begin(r);
    case ORDEAL_TX_END:   return read_tx_end(r);
    default:              return true;
    }
}

static bool read_thread(struct reading *r)
{
    while ((r->i = program_step(&r->walker))) {
        if (!read_instruction(r))
            return false;
        if (kind_is_access(r->i->kind)) {
            r->operation++;
            r->cycles += !!r->cycles;
        }
    }
    const struct soc_record *s = peek(r);
    for (uint32_t left = r->c->hart[r->thread].end_loads; left && s && s->kind == SOC_REC_LOAD;
         left--) {
        r->next++;
        s = peek(r);
    }
    if ((s && s->kind == SOC_REC_DONE) || r->wrong)
        return !r->wrong;
    return why_say(r->why, "hart %" PRIu32 " did more than the test: %s", r->thread,
                   s ? kind_words[s->kind] : "it came to no end");
}

bool soc_records_values(struct soc_records *all, const struct soc_code *c, uint64_t iteration,
                        const struct machine_claims *claims, uint64_t *values, struct why *why)
{
    const struct program *p = c->p;
    size_t words = program_words(p, claims);
    uint64_t *cycles = claims->cycles ? values + program_telling_words(p, claims) : NULL;
    for (size_t i = 0; i < words; i++)
        values[i] = 0;
    for (uint32_t t = 0; t < p->threads; t++) {
        const struct soc_hart_records *h = &all->hart[t];
        struct reading r = {
            .all = all, .c = c, .claims = claims, .thread = t, .why = why,
            .next = h->list.data, .end = h->list.data + h->list.count,
            .walker = program_walk(p, t, iteration), .value = values + p->thread[t].first_slot,
            .cycles = cycles ? cycles + p->thread[t].first_operation : NULL,
            .operation = p->thread[t].first_operation,
        };
        if (!read_thread(&r))
            return false;
    }
    if (!soc_interrupts_check(all, why))
        return false;
    if (claims->visible)
        soc_order_rank(all, values + program_first_visible(p, claims));
    return true;
}
