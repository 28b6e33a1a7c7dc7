/* SPDX-License-Identifier: Apache-2.0 */
/* How operations become instructions of the multiprocessor. */
#include "soc_maker.h"

static uint32_t next_result(struct maker *m)
{
    assert(m->results > 0);
    m->result = (m->result + 1) % m->results;
    return m->first_result + m->result;
}

/* Takes what is read first, and is to be seen. */
static uint32_t takes(struct maker *m, uint32_t reg)
{
    m->made[m->index].to = (uint8_t)reg;
    text_note(&m->text, reg);
    return reg;
}

/* Takes the value read: the test's register, or the next of those that take turns. */
static uint32_t destination(struct maker *m, const struct instruction *i)
{
    return takes(m, i->sets != NO_REGISTER ? test_register(i->sets) : next_result(m));
}

/* ---- addresses and values ------------------------------------------------------------------- */

struct place { uint32_t reg; int32_t offset; };

/* x becomes 0, but not before the registers are known. */
static void depend(struct maker *m, uint32_t needs, uint32_t x)
{
    for (uint32_t from = 0, r = 0; r < m->t->registers; r++)
        if (needs >> r & 1) {
            ADD(RV_XOR, x, from ? x : test_register(r), test_register(r), 0);
            if (from++)
                ADD(RV_XOR, x, x, test_register(r), 0);
        }
}

/* The base register that reaches the address; `bases`: there is none. */
static uint32_t base_of(const struct maker *m, uint32_t address)
{
    uint32_t k = 0;
    assert(m->bases <= MOST_BASES);
    while (k < m->bases && m->base[k] != window(address))
        k++;
    return k;
}

/* For locate(), and so many more. */
static void reserve(struct maker *m, const struct instruction *i, uint32_t needs, bool exact,
                    uint32_t more)
{
    bool far = base_of(m, soc_address(m->p, i)) == m->bases;
    text_reserve(&m->text, (far || (exact && !needs)) + (needs != 0) + more);
}

/* A register and an offset that reach the operand; `exact`: the offset is 0. */
static struct place locate(struct maker *m, const struct instruction *i, uint32_t needs, bool exact)
{
    uint32_t address = soc_address(m->p, i), k = base_of(m, address);
    struct place at;
    if (k < m->bases) {
        at = (struct place){ m->first_base + k, (int32_t)(address - m->base[k]) };
        if (exact && !needs && at.offset) {
            uint32_t reg = text_operand(&m->text);
            PUT(RV_ADDI, reg, at.reg, 0, at.offset);
            at = (struct place){ reg, 0 };
        }
    } else {
        at = (struct place){ text_operand(&m->text), rv32_lower(address) };
        PUT(RV_LUI, at.reg, 0, 0, (int32_t)(rv32_upper(address) & 0xfffff));
        if (exact && !needs && at.offset) {
            PUT(RV_ADDI, at.reg, at.reg, 0, at.offset);
            at.offset = 0;
        }
    }
    if (needs) {
        uint32_t x = text_operand(&m->text);
        depend(m, needs, x);
        ADD(RV_ADD, x, x, at.reg, 0);
        at.reg = x;
        if (exact && at.offset) {
            ADD(RV_ADDI, x, x, 0, at.offset);
            at.offset = 0;
        }
    }
    return at;
}

uint32_t constant(struct maker *m, uint32_t value)
{
    if (value == 0)
        return 0;
    uint32_t reg = text_operand(&m->text);
    text_constant(&m->text, reg, value);
    return reg;
}

/* Of up to 4 bytes: takes two operands at most. */
static uint32_t value_written(struct maker *m, const struct instruction *i)
{
    uint32_t value = (uint32_t)i->write, unused = i->size_log2 < 2 ? 32 - (8u << i->size_log2) : 0;
    if (!i->step)
        return constant(m, (uint32_t)((int32_t)(value << unused) >> unused));
    uint32_t reg = text_operand(&m->text);
    text_constant(&m->text, reg, (uint32_t)i->step);
    PUT(RV_MUL, reg, reg, X_ROUND, 0);
    PUT(RV_ADD, reg, reg, constant(m, value), 0);
    return reg;
}

/* Of 8 bytes: takes three. */
static void halves_written(struct maker *m, const struct instruction *i, uint32_t half[2])
{
    if (!i->step) {
        half[0] = constant(m, (uint32_t)i->write);
        half[1] = constant(m, (uint32_t)(i->write >> 32));
        return;
    }
    uint32_t low = half[0] = text_operand(&m->text), high = half[1] = text_operand(&m->text);
    uint32_t x = text_operand(&m->text);
    text_constant(&m->text, high, (uint32_t)(i->step >> 32));
    PUT(RV_MUL, high, high, X_ROUND, 0);
    text_constant(&m->text, x, (uint32_t)i->step);
    PUT(RV_MUL, low, x, X_ROUND, 0);
    PUT(RV_MULHU, x, x, X_ROUND, 0);
    PUT(RV_ADD, high, high, x, 0);
    text_constant(&m->text, x, (uint32_t)i->write);
    PUT(RV_ADD, low, low, x, 0);
    PUT(RV_SLTU, x, low, x, 0);
    PUT(RV_ADD, high, high, x, 0);
    text_constant(&m->text, x, (uint32_t)(i->write >> 32));
    PUT(RV_ADD, high, high, x, 0);
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* Of more than a word: the register of the test takes the lowest, and waits for the others. */
static void emit_load(struct maker *m, const struct instruction *i)
{
    static const enum rv32_name one[2][3] = { { RV_LBU, RV_LHU, RV_LW }, { RV_LB, RV_LH, RV_LW } };
    struct soc_made *how = &m->made[m->index];
    assert(i->offset + (1u << i->size_log2) <= LINE_BYTES);
    uint32_t words = i->size_log2 > 2 ? 1u << (i->size_log2 - 2) : 1;
    bool faults = m->p->line[i->line].faulting;
    reserve(m, i, i->needs, false, 0);
    if (faults && i->sets != NO_REGISTER)
        ADD(RV_ADDI, test_register(i->sets), 0, 0, 0); /* the trap leaves it as it is */
    if (how->way == SOC_NOTHING)
        return;
    struct place at = locate(m, i, i->needs, false);
    ADD(one[how->sign][i->size_log2 < 2 ? i->size_log2 : 2], destination(m, i), at.reg, 0,
        at.offset);
    for (uint32_t w = 1; w < words; w++) {
        uint32_t to = next_result(m);
        if (w == 1)
            how->next = (uint8_t)to;
        text_note(&m->text, to);
        ADD(RV_LW, to, at.reg, 0, at.offset + (int32_t)w * 4);
        if (i->sets != NO_REGISTER && !faults) {
            ADD(RV_XOR, to, to, to, 0);
            ADD(RV_OR, test_register(i->sets), test_register(i->sets), to, 0);
        }
    }
}

static uint32_t word_of(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Goes on behind it whatever they hold, but not before they are known. */
static void add_branches(struct maker *m, uint32_t needs)
{
    for (uint32_t r = 0; r < m->t->registers; r++)
        if (needs >> r & 1)
            ADD(RV_BEQ, 0, test_register(r), 0, 4);
}

/* The registers that its address, or its data, depends on. */
static uint32_t needed(const struct maker *m, const struct instruction *i, enum soc_dependence by)
{
    return m->made[m->index].dependence == by ? i->needs : 0;
}

/* As value_written(), but not before the registers are known: then one operand more. */
static uint32_t value_needing(struct maker *m, const struct instruction *i, uint32_t by_data)
{
    uint32_t value = value_written(m, i);
    if (!by_data)
        return value;
    uint32_t x = text_operand(&m->text);
    depend(m, by_data, x);
    ADD(RV_ADD, x, x, value, 0);
    return x;
}

static void emit_word(struct maker *m, const struct instruction *i)
{
    static const enum rv32_name one[] = { RV_SB, RV_SH, RV_SW };
    uint32_t by_address = needed(m, i, SOC_BY_ADDRESS), by_data = needed(m, i, SOC_BY_DATA);
    reserve(m, i, by_address, false, (i->step ? 2 : 1) + (by_data != 0));
    struct place at = locate(m, i, by_address, false);
    ADD(one[i->size_log2], 0, at.reg, value_needing(m, i, by_data), at.offset);
}

static void emit_store(struct maker *m, const struct instruction *i)
{
    uint32_t by_address = needed(m, i, SOC_BY_ADDRESS);
    assert(i->offset + (1u << i->size_log2) <= LINE_BYTES);
    text_reserve(&m->text, 0);
    add_branches(m, needed(m, i, SOC_BY_CONTROL));
    if (i->size_log2 <= 2) {
        emit_word(m, i);
        return;
    }
    for (uint32_t done = 0; done < 1u << i->size_log2; done += 8) {
        uint32_t half[2];
        reserve(m, i, by_address, false, 3);
        struct place at = locate(m, i, by_address, false);
        if (i->bytes) {
            half[0] = constant(m, word_of(i->bytes + done));
            half[1] = constant(m, word_of(i->bytes + done + 4));
        } else {
            halves_written(m, i, half);
        }
        ADD(RV_SW, 0, at.reg, half[0], at.offset + (int32_t)done);
        ADD(RV_SW, 0, at.reg, half[1], at.offset + (int32_t)done + 4);
    }
}

/* After the LR that read; back to it if the SC fails. */
static void add_sc(struct maker *m, const struct soc_made *how, uint32_t address, uint32_t value,
                   int32_t back)
{
    uint32_t x = text_operand(&m->text);
    ADD(RV_SC, x, address, value, 0);
    ADD(RV_BNE, 0, x, 0, back);
    if (how->way == SOC_LR_SC_SC)
        ADD(RV_SC, x, address, constant(m, how->foreign), 0);
}

/* What stands between LR and SC; x is free. */
static void add_between(struct maker *m, uint32_t x)
{
    struct soc_made *how = &m->made[m->index];
    switch ((enum soc_between)how->between) {
    case SOC_ALU_BETWEEN:
        for (uint64_t n = hash_of(m->p, m->thread, m->index) >> 48 & 3; n < 4; n++)
            ADD(RV_ADDI, x, x, 0, 1);
        break;
    case SOC_LOAD_BETWEEN:
        how->next = (uint8_t)next_result(m);
        text_note(&m->text, how->next);
        PUT(RV_LUI, x, 0, 0, (int32_t)(rv32_upper(how->other) & 0xfffff));
        ADD(RV_LW, how->next, x, 0, rv32_lower(how->other));
        break;
    case SOC_FENCE_BETWEEN: ADD(RV_FENCE, 0, 0, 0, 0x33); break;
    case SOC_PREFETCH_BETWEEN:
        text_constant(&m->text, x, how->other);
        ADD(how->other & 4 ? RV_PREFETCH_W : RV_PREFETCH_R, 0, x, 0, 0);
        break;
    case SOC_NOTHING_BETWEEN: break;
    }
}

/* The SC of a first try, after its LR and `loop` - 3 instructions; if it fails the loop of so many
 * behind it goes on. Returns where all is done. */
static uint32_t add_first_sc(struct maker *m, uint32_t address, uint32_t value, uint32_t loop)
{
    uint32_t x = text_operand(&m->text);
    add_between(m, x);
    ADD(RV_SC, x, address, value, 0);
    ADD(RV_BEQ, 0, x, 0, (int32_t)(loop + 1) * 4);
    return m->text.burst_count + loop + (m->made[m->index].way == SOC_LR_SC_SC);
}

/* A first try of a CAS, with something between; `differs`: the branch to behind all when it is not
 * what it compares with. */
static void add_first_cas(struct maker *m, uint32_t to, uint32_t address, uint32_t value,
                          uint32_t differs)
{
    ADD(RV_LR, to, address, 0, 0);
    uint32_t at = m->text.burst_count;
    text_add(&m->text, differs);
    uint32_t behind = add_first_sc(m, address, value, 4);
    m->text.burst[at] |= rv32(RV_BNE, 0, 0, 0, text_distance(at, behind));
}

/* Of a swap or an AMO, by LR and SC or not: the address and the value, which `more` operands
 * follow. */
static uint32_t exchange_place(struct maker *m, const struct instruction *i, uint32_t more,
                               uint32_t *value)
{
    uint32_t by_address = needed(m, i, SOC_BY_ADDRESS), by_data = needed(m, i, SOC_BY_DATA);
    reserve(m, i, by_address, true, 2 + (by_data != 0) + more);
    uint32_t address = locate(m, i, by_address, true).reg;
    *value = value_needing(m, i, by_data);
    return address;
}

static void emit_swap(struct maker *m, const struct instruction *i)
{
    const struct soc_made *how = &m->made[m->index];
    uint32_t value, address = exchange_place(m, i, how->way == SOC_PLAIN ? 0 : 3, &value);
    uint32_t to = destination(m, i);
    if (how->way == SOC_PLAIN) {
        ADD(RV_AMOSWAP, to, address, value, 0);
    } else {
        if (how->between) {
            ADD(RV_LR, to, address, 0, 0);
            add_first_sc(m, address, value, 3);
        }
        ADD(RV_LR, to, address, 0, 0);
        add_sc(m, how, address, value, -8);
    }
}

/* What an AMO makes of what was read, in a loop of LR and SC: how many instructions that takes. */
static int32_t add_function(struct maker *m, const struct instruction *i, uint32_t to,
                            uint32_t read, uint32_t operand)
{
    static const enum rv32_name one[ORDEAL_AMO_FUNCTIONS] = {
        [ORDEAL_AMO_ADD] = RV_ADD,
        [ORDEAL_AMO_AND] = RV_AND,
        [ORDEAL_AMO_OR] = RV_OR,
        [ORDEAL_AMO_XOR] = RV_XOR,
    };
    bool is_signed = i->function == ORDEAL_AMO_MIN || i->function == ORDEAL_AMO_MAX;
    bool least = i->function == ORDEAL_AMO_MIN || i->function == ORDEAL_AMO_MINU;
    if (!is_signed && i->function != ORDEAL_AMO_MINU && i->function != ORDEAL_AMO_MAXU) {
        ADD(one[i->function], to, read, operand, 0);
        return 1;
    }
    ADD(RV_ADDI, to, read, 0, 0);
    ADD(is_signed ? RV_BLT : RV_BLTU, 0, least ? read : operand, least ? operand : read, 8);
    ADD(RV_ADDI, to, operand, 0, 0);
    return 3;
}

static void emit_amo(struct maker *m, const struct instruction *i)
{
    static const enum rv32_name one[ORDEAL_AMO_FUNCTIONS] = {
        [ORDEAL_AMO_ADD] = RV_AMOADD,   [ORDEAL_AMO_AND] = RV_AMOAND,
        [ORDEAL_AMO_OR] = RV_AMOOR,     [ORDEAL_AMO_XOR] = RV_AMOXOR,
        [ORDEAL_AMO_MIN] = RV_AMOMIN,   [ORDEAL_AMO_MAX] = RV_AMOMAX,
        [ORDEAL_AMO_MINU] = RV_AMOMINU, [ORDEAL_AMO_MAXU] = RV_AMOMAXU,
    };
    const struct soc_made *how = &m->made[m->index];
    uint32_t operand, address = exchange_place(m, i, how->way == SOC_PLAIN ? 0 : 4, &operand);
    uint32_t to = destination(m, i);
    if (how->way == SOC_PLAIN) {
        ADD(one[i->function], to, address, operand, 0);
        return;
    }
    uint32_t value = text_operand(&m->text);
    ADD(RV_LR, to, address, 0, 0);
    int32_t function = add_function(m, i, value, to, operand);
    if (how->between) {
        add_first_sc(m, address, value, 3 + (uint32_t)function);
        ADD(RV_LR, to, address, 0, 0);
        add_function(m, i, value, to, operand);
    }
    add_sc(m, how, address, value, -8 - 4 * function);
}

/* By AMOCAS what it compares with is in the register that takes the value read. */
static void emit_cas(struct maker *m, const struct instruction *i)
{
    const struct soc_made *how = &m->made[m->index];
    bool from_register = i->compare_register != NO_REGISTER, sets = i->sets != NO_REGISTER;
    uint32_t needs = i->needs | (from_register ? UINT32_C(1) << i->compare_register : 0);
    if (how->way == SOC_PLAIN)
        needs = i->needs;
    reserve(m, i, needs, true, how->way == SOC_PLAIN ? 3 : 6);
    uint32_t address = locate(m, i, needs, true).reg;
    uint32_t value = value_written(m, i), compare = 0;
    if (how->way == SOC_PLAIN && sets)
        compare = test_register(i->sets);
    else if (from_register || i->compare || how->way == SOC_PLAIN)
        compare = text_operand(&m->text);
    if (from_register && compare != test_register(i->compare_register))
        ADD(RV_ADDI, compare, test_register(i->compare_register), 0, 0);
    else if (!from_register && how->way == SOC_PLAIN && sets)
        text_add_constant(&m->text, compare, (uint32_t)i->compare);
    else if (!from_register && compare)
        text_constant(&m->text, compare, (uint32_t)i->compare);
    if (how->way == SOC_PLAIN) {
        ADD(RV_AMOCAS, takes(m, compare), address, value, 0);
        return;
    }
    uint32_t to = destination(m, i);
    if (how->between)
        add_first_cas(m, to, address, value, rv32(RV_BNE, 0, to, compare, 0));
    ADD(RV_LR, to, address, 0, 0);
    ADD(RV_BNE, 0, to, compare, how->way == SOC_LR_SC_SC ? 16 : 12);
    add_sc(m, how, address, value, -12);
}

/* ---- what is no access ---------------------------------------------------------------------- */

/* Flavours are pairs of an earlier and a later kind; a fence orders all of one set before all of
 * another: one or two do for any flavours. */
static void emit_membar(struct maker *m, const struct instruction *i)
{
    enum { NONE, W = 1, R = 2, RW = 3 };
    static const uint8_t fences[16][2][2] = {
        [ORDEAL_LL] = { { R, R } }, [ORDEAL_LS] = { { R, W } },
        [ORDEAL_SL] = { { W, R } }, [ORDEAL_SS] = { { W, W } },
        [ORDEAL_LL | ORDEAL_LS] = { { R, RW } }, [ORDEAL_SL | ORDEAL_SS] = { { W, RW } },
        [ORDEAL_LL | ORDEAL_SL] = { { RW, R } }, [ORDEAL_LS | ORDEAL_SS] = { { RW, W } },
        [ORDEAL_LL | ORDEAL_SS] = { { R, R }, { W, W } },
        [ORDEAL_LS | ORDEAL_SL] = { { R, W }, { W, R } },
        [ORDEAL_LL | ORDEAL_LS | ORDEAL_SL] = { { R, RW }, { W, R } },
        [ORDEAL_LL | ORDEAL_LS | ORDEAL_SS] = { { R, RW }, { W, W } },
        [ORDEAL_LL | ORDEAL_SL | ORDEAL_SS] = { { W, RW }, { R, R } },
        [ORDEAL_LS | ORDEAL_SL | ORDEAL_SS] = { { W, RW }, { R, W } },
        [ORDEAL_FULL] = { { RW, RW } },
    };
    text_reserve(&m->text, 0);
    for (int k = 0; k < 2; k++) {
        const uint8_t *f = fences[i->barrier & ORDEAL_FULL][k];
        if (f[0])
            ADD(RV_FENCE, 0, 0, 0, f[0] << 4 | f[1]);
    }
}

static void emit_prefetch(struct maker *m, const struct instruction *i)
{
    bool to_write = prefetches_to_write(m->p, m->thread, m->index);
    reserve(m, i, 0, true, 0);
    ADD(to_write ? RV_PREFETCH_W : RV_PREFETCH_R, 0, locate(m, i, 0, true).reg, 0, 0);
}

static void emit_flush(struct maker *m, const struct instruction *i)
{
    reserve(m, i, 0, true, 0);
    ADD(RV_CBO_FLUSH, 0, locate(m, i, 0, true).reg, 0, 0);
}

static void emit_evict(struct maker *m)
{
    struct soc_made *how = &m->made[m->index];
    for (uint32_t n = 0; n < how->loads; n++) {
        uint32_t address = how->first_load + n * m->way, to = next_result(m);
        if (n == 0)
            how->to = (uint8_t)to;
        text_reserve(&m->text, 1);
        uint32_t reg = text_operand(&m->text);
        PUT(RV_LUI, reg, 0, 0, (int32_t)(rv32_upper(address) & 0xfffff));
        ADD(RV_LW, to, reg, 0, rv32_lower(address));
    }
}

static void emit_delay(struct maker *m, const struct instruction *i)
{
    enum { FEW = 8 };
    if (i->count <= FEW) {
        text_reserve(&m->text, 0);
        for (uint32_t n = 0; n < i->count; n++)
            ADD(RV_ADDI, 0, 0, 0, 0);
        return;
    }
    text_flush(&m->text);
    text_reserve(&m->text, 3);
    uint32_t start = text_operand(&m->text), now = text_operand(&m->text);
    uint32_t count = constant(m, i->count);
    PUT(RV_CSRRS, start, 0, 0, CSR_MCYCLE);
    PUT(RV_CSRRS, now, 0, 0, CSR_MCYCLE);
    PUT(RV_SUB, now, now, start, 0);
    PUT(RV_BLTU, 0, now, count, -8);
    text_flush(&m->text);
}

static void emit_interrupt(struct maker *m, const struct instruction *i)
{
    if (m->made[m->index].way == SOC_NOTHING)
        return;
    text_reserve(&m->text, 2);
    uint32_t address = constant(m, SOC_MAP_IPI), one = constant(m, 1);
    ADD(RV_SW, 0, address, one, (int32_t)i->count * 4);
}

void emit_operation(struct maker *m, const struct instruction *i)
{
    switch (i->kind) {
    case ORDEAL_LOAD:      emit_load(m, i); break;
    case ORDEAL_STORE:     emit_store(m, i); break;
    case ORDEAL_SWAP:      emit_swap(m, i); break;
    case ORDEAL_CAS:       emit_cas(m, i); break;
    case ORDEAL_AMO: emit_amo(m, i); break;
    case ORDEAL_MEMBAR:    emit_membar(m, i); break;
    case ORDEAL_PREFETCH:  emit_prefetch(m, i); break;
    case ORDEAL_FLUSH:     emit_flush(m, i); break;
    case ORDEAL_EVICT:     emit_evict(m); break;
    case ORDEAL_DELAY:     emit_delay(m, i); break;
    case ORDEAL_INTERRUPT: emit_interrupt(m, i); break;
    }
}
