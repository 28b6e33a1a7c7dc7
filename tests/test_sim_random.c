/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs, one for each hart on memory of its own, on the reference machine and on the
 * hardware: the same records, operation by operation, and the same registers in the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iss.h"
#include "machines.h"
#include "rig.h"
#include "rv.h"
#include "unity.h"

enum { PROGRAMS = 20, ITEMS = 160, CYCLES = 1000000, REGION = 4096 };

static uint64_t random_state;
static struct rig_code *program;
static bool interrupts, transactions, pairs, lean;

void setUp(void) {}
void tearDown(void) {}

static uint32_t chance(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 24) % below;
}

static void emit(uint32_t word) { rig_emit(program, word); }
static uint32_t some(void) { return 1 + chance(A7); }     /* a register to work on: not A7 itself */
static uint32_t source(void) { return chance(A7); }       /* x0 too */

static uint32_t value(void)
{
    static const uint32_t corners[] = { 0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 0xff, 0x8000 };
    return chance(3) ? chance(UINT32_MAX) : corners[chance(7)];
}

/* ---- items: T6 always holds an aligned address of memory, T5 one past the caches ------------ */

static void arithmetic(void)
{
    uint32_t kind = chance(3), funct3 = chance(8);
    if (kind == 0) {
        emit(rv_r(funct3 == 0 || funct3 == 5 ? chance(2) << 5 : 0, source(), source(), funct3,
                  some(), 0x33));
    } else if (kind == 1) {
        bool shift = funct3 == 1 || funct3 == 5;
        int32_t i = shift ? (int32_t)(chance(32) | (funct3 == 5 ? chance(2) << 10 : 0))
                          : (int32_t)chance(4096) - 2048;
        emit(rv_i(i, source(), funct3, some(), 0x13));
    } else if (chance(2)) {
        if (lean)                        /* mul and mulhu are all it has of these */
            funct3 = funct3 % 2 * 3;
        emit(rv_r(1, source(), source(), funct3, some(), 0x33));
    } else {
        emit(chance(2) ? rv_lui(some(), value()) : (value() & 0xfffff000) | some() << 7 | 0x17);
    }
}

static int32_t offset(uint32_t size)
{
    uint32_t o = chance(4) ? chance(48) : chance(8) ? chance(256) : chance(2048);
    return (int32_t)(o >> size << size);
}

static void access_memory(void)
{
    static const uint32_t loads[] = { 0, 1, 2, 2, 2, 4, 5 };
    uint32_t funct3 = loads[chance(7)], base = S10;
    if (chance(16) == 0)
        base = S9;
    if (chance(2))
        emit(rv_load(funct3, chance(16) ? some() : ZERO, base,
                     base == S9 ? offset(funct3 & 3) % 64 & ~3 : offset(funct3 & 3)));
    else
        emit(rv_store(funct3 & 3, source(), base,
                      base == S9 ? offset(funct3 & 3) % 64 & ~3 : offset(funct3 & 3)));
}

static void atomic(void)
{
    static const uint32_t funct5[] = { 0, 1, 4, 5, 5, 8, 12, 16, 20, 24, 28 };
    uint32_t op = funct5[chance(11)];
    bool past = chance(6) == 0;
    emit(past ? rv_addi(T5, S9, offset(2) % 64) : rv_addi(T6, S10, offset(2)));
    if (op == 5 && chance(2)) /* a comparison that holds, mostly */
        emit(rv_lw(A3, past ? T5 : T6, 0));
    emit(rv_amo(op, op == 5 ? A3 : chance(8) ? some() : ZERO, source(), past ? T5 : T6));
}

static void reserved_pair(void)
{
    emit(rv_addi(T6, S10, offset(2)));
    emit(rv_lr(some(), T6));
    if (chance(2))
        emit(rv_addi(some(), source(), 1));
    emit(rv_sc(some(), source(), T6));
    if (chance(4) == 0)
        emit(rv_sc(some(), source(), T6));
}

static void hint(void)
{
    emit(rv_addi(T6, S10, offset(2)));
    emit(chance(2) ? rv_flush(T6) : chance(2) ? rv_prefetch_r(T6) : rv_prefetch_w(T6));
}

static void exception(void)
{
    switch (chance(5)) {
    case 0: emit(rv_ecall()); break;
    case 1: emit(0xffffffff); break;
    case 2: emit(rv_lw(some(), S10, offset(2) + 2)); break;
    case 3: emit(rv_store(1, source(), S10, offset(2) + 1)); break;
    default: emit(rv_lw(some(), ZERO, 64)); break;
    }
}

/* What it loads is replaced afterwards, for an abort gives no registers back; and it is tried again
 * when it aborts for a reason of the hardware's own. */
static void transaction(void)
{
    int32_t line = offset(2) & ~15;
    uint32_t again = program->count, begin, to_end;
    emit(rv_addi(A7, ZERO, 0));
    for (uint32_t r = A0; r < A4; r++)
        rig_li(program, r, value());
    begin = program->count;
    emit(0);
    for (uint32_t n = chance(5); n > 0; n--) {
        int32_t at = line + 4 * (int32_t)chance(4);
        if (chance(2))
            emit(rv_store(chance(3), A0 + chance(4), S10, at));
        else
            emit(rv_lw(A0 + chance(4), S10, at));
    }
    uint32_t how = chance(4);
    emit(how < 2 ? rv_tx_commit() : how == 2 ? rv_tx_abort(chance(256)) : rv_ecall());
    program->word[begin] = rv_tx_begin(A7, 4 * (int32_t)(program->count - begin));
    emit(rv_i(15, A7, 7, T3, 0x13));
    to_end = program->count;
    emit(0);
    emit(rv_addi(T4, ZERO, TX_EXPLICIT));
    emit(rv_b(4 * (int32_t)(again - program->count), T4, T3, 4, 0x63));
    program->word[to_end] = rv_beq(T3, ZERO, 4 * (int32_t)(program->count - to_end));
    emit(rv_mark(A7));
    for (uint32_t r = A0; r < A4; r++)
        rig_li(program, r, value());
}

static void item(void)
{
    uint32_t dice = chance(100);
    if (dice < 40)
        arithmetic();
    else if (dice < 74)
        access_memory();
    else if (dice < 81)
        atomic();
    else if (dice < 83 && pairs)
        reserved_pair();
    else if (dice < 87)
        emit(rv_fence(chance(16), chance(16)));
    else if (dice < 91)
        hint();
    else if (dice < 94)
        exception();
    else if (dice < 97 && transactions)
        transaction();
    else if (dice < 97 && interrupts)
        emit(rv_sw(S8, S7, 0));
    else
        emit(rv_mark(source()));
}

/* The handler tells of exceptions and goes on behind them; of interrupts it says nothing, for they
 * come when they come. */
static void handler(void)
{
    emit(rv_csrrs(T3, RV_MCAUSE, ZERO));
    emit(rv_blt(T3, ZERO, 4 * 7));
    emit(rv_mark(T3));
    emit(rv_csrrs(T4, RV_MEPC, ZERO));
    emit(rv_mark(T4));
    emit(rv_addi(T4, T4, 4));
    emit(rv_csrrw(ZERO, RV_MEPC, T4));
    emit(rv_mret());
    emit(rv_csrrci(ZERO, RV_MIP, 8));
    emit(rv_mret());
}

static void make(struct rig_code *c, uint32_t hart)
{
    uint32_t skip[8], skips = 0, left[8];
    program = c;
    c->count = 0;
    emit(rv_beq(ZERO, ZERO, 4 * 11));
    handler();
    TEST_ASSERT_EQUAL(11, c->count);
    rig_li(c, T3, 4);
    emit(rv_csrrw(ZERO, RV_MTVEC, T3));
    for (uint32_t r = RA; r <= A7; r++)
        rig_li(c, r, value());
    rig_li(c, S10, MAP_MEMORY + REGION * hart);
    rig_li(c, S9, MAP_UNCACHED + REGION * hart + REGION / 2 + 1024);
    rig_li(c, S7, MAP_IPI + 4 * hart);
    rig_li(c, S8, 1);
    emit(rv_addi(T6, S10, 0));
    emit(rv_addi(T5, S9, 0));
    if (interrupts) {
        emit(rv_csrrsi(ZERO, RV_MIE, 8));
        emit(rv_csrrsi(ZERO, RV_MSTATUS, 8));
    }
    for (uint32_t i = 0; i < ITEMS || skips > 0; i++) {
        if (i < ITEMS && skips < 8 && chance(12) == 0) { /* a branch over a few items */
            left[skips] = 1 + chance(4);
            skip[skips++] = c->count;
            emit(chance(4) ? rv_b(0, source(), source(), (chance(2) ? 0 : 4) + chance(4) % 2, 0x63)
                           : some() << 7 | 0x6f);
        } else {
            item();
        }
        for (uint32_t k = 0; k < skips; k++) {
            if (left[k]-- > 0)
                continue;
            uint32_t distance = 4 * (c->count - skip[k]);
            c->word[skip[k]] |= (c->word[skip[k]] & 0x7f) == 0x6f
                                    ? (distance & 0x7fe) << 20 | (distance >> 11 & 1) << 20
                                    : rv_b((int32_t)distance, 0, 0, 0, 0);
            left[k] = left[--skips];
            skip[k--] = skip[skips];
        }
    }
    for (uint32_t r = RA; r < A7; r++)
        emit(rv_mark(r));
    emit(rv_fence(FENCE_RW, FENCE_RW));
    for (int32_t o = 0; o < 64; o += 4)
        emit(rv_lw(T3, S10, o));
    emit(rv_done());
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* Program order, without attempts of transactions that the hardware gave up for reasons of its own.
 * Where one aborts that should, its loads may have been on their way: they do not count. */
static void normalise(struct rig *r)
{
    size_t n = 0, begin = 0;
    rig_sort(r);
    for (size_t i = 0; i < r->records; i++) {
        const struct rig_record x = r->record[i];
        if (x.kind == REC_VISIBLE)
            continue;
        if (x.kind == REC_TX_BEGIN)
            begin = n;
        if (x.kind == REC_TX_ABORT) {
            size_t end = n;
            n = begin;
            if (x.read == TX_CONFLICT || x.read == TX_CAPACITY)
                continue;
            for (size_t k = begin; k < end; k++)
                if (r->record[k].kind != REC_LOAD)
                    r->record[n++] = r->record[k];
        }
        r->record[n++] = x;
    }
    r->records = n;
}

static void compare(const struct rig *a, const struct rig *b, uint64_t seed)
{
    char message[512];
    for (size_t i = 0; i < a->records && i < b->records; i++) {
        const struct rig_record *x = &a->record[i], *y = &b->record[i];
        bool sized = x->kind >= REC_LOAD && x->kind <= REC_SC;
        if (x->hart == y->hart && x->kind == y->kind && (!sized || x->size == y->size) &&
            x->tx == y->tx && x->address == y->address && x->read == y->read &&
            x->written == y->written)
            continue;
        snprintf(message, sizeof message,
                 "program %llu, record %zu (%u of hart %u), %s model %u seed %u delay %u: "
                 "reference kind %u size %u tx %d [%#x] =%#x #%#x, "
                 "hardware kind %u size %u tx %d [%#x] =%#x #%#x, cycle %u",
                 (unsigned long long)seed, i, x->sequence, x->hart, b->soc->name, b->setup.model,
                 b->setup.seed, b->setup.delay, x->kind, x->size, x->tx, x->address, x->read,
                 x->written, y->kind, y->size, y->tx, y->address, y->read, y->written, y->cycle);
        TEST_FAIL_MESSAGE(message);
    }
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(a->records, b->records, "not as many records");
}

static void run(struct rig *r, const struct soc_setup *setup, const struct rig_code *code)
{
    rig_reset(r, setup, REGION / 4 * r->soc->parameters.harts);
    for (uint32_t h = 0; h < r->soc->parameters.harts; h++)
        rig_load(r, h, &code[h]);
    rig_run(r, CYCLES);
}

/* Every store is told of once, in the order of the program where the model keeps it. */
static void check_visible(const struct rig *r)
{
    for (uint32_t h = 0; h < r->soc->parameters.harts; h++) {
        uint32_t stores = 0, seen = 0;
        for (size_t i = 0; i < r->records; i++) {
            const struct rig_record *x = &r->record[i];
            if (x->hart != h)
                continue;
            stores += x->kind == REC_STORE || (x->kind == REC_SC && x->read == 0);
            seen += x->kind == REC_VISIBLE;
        }
        TEST_ASSERT_TRUE(seen >= stores);
        TEST_ASSERT_TRUE(seen <= stores + rig_count(r, h, REC_ATOMIC));
    }
}

static void against_reference(uint32_t number, uint32_t programs)
{
    const struct soc_interface *soc = machine(number);
    uint32_t harts = soc->parameters.harts;
    struct rig_code *code = calloc(harts, sizeof *code);
    struct rig reference, hardware;
    TEST_ASSERT_NOT_NULL(code);
    rig_open(&reference, iss_interface(harts));
    rig_open(&hardware, soc);
    lean = soc->parameters.lean;
    for (uint64_t seed = 1; seed <= programs; seed++) {
        /* There a reservation may be lost to a store of any hart. */
        bool alone = lean && seed % 2;
        random_state = seed * 0x9E3779B97F4A7C15u + number;
        interrupts = seed % 3 == 0;
        transactions = seed % 3 == 1 && soc->parameters.transactions;
        pairs = !lean || alone;
        for (uint32_t h = 0; h < harts; h++) {
            make(&code[h], h);
            if (alone && h > 0)
                code[h] = (struct rig_code){ { rv_done() }, 1 };
        }
        run(&reference, &(struct soc_setup){ .seed = (uint32_t)seed }, code);
        normalise(&reference);
        for (uint32_t model = SOC_SC; model <= SOC_RMO; model++) {
            if (lean && model != SOC_TSO)
                continue;
            run(&hardware, &(struct soc_setup){ .model = model, .seed = (uint32_t)seed,
                                                .delay = seed % 4 * 2, .visible = seed & !lean },
                code);
            if (hardware.setup.visible && !transactions)
                check_visible(&hardware);
            normalise(&hardware);
            compare(&reference, &hardware, seed);
        }
    }
    rig_close(&reference);
    rig_close(&hardware);
    free(code);
}

static void test_usual_machine(void) { against_reference(MACHINE_USUAL, PROGRAMS); }
static void test_two_lines(void) { against_reference(MACHINE_SMALL, PROGRAMS); }
static void test_smallest_of_all(void) { against_reference(MACHINE_ODD, PROGRAMS); }
static void test_machine_of_the_smallest_board(void) { against_reference(MACHINE_LEAN, 100); }

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_usual_machine);
    RUN_TEST(test_two_lines);
    RUN_TEST(test_smallest_of_all);
    RUN_TEST(test_machine_of_the_smallest_board);
    return UNITY_END();
}
