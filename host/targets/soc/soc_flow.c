/* SPDX-License-Identifier: Apache-2.0 */
/* Loops, branches and transactions as instructions of the multiprocessor. */
#include "test/lfsr.h"
#include "soc_maker.h"

/* ---- loops and branches --------------------------------------------------------------------- */

static void emit_loop_begin(struct maker *m)
{
    text_flush(&m->text);
    PUT(RV_ADDI, X_ROUND, 0, 0, 0);
    m->loop = text_here(&m->text);
}

static void emit_loop_end(struct maker *m, const struct instruction *i)
{
    text_flush(&m->text);
    assert(m->loop && m->loop <= text_here(&m->text));
    uint32_t count = constant(m, m->t->code[i->match].count);
    PUT(RV_ADDI, X_ROUND, X_ROUND, 0, 1);
    int32_t distance = text_distance(text_here(&m->text), m->loop);
    if (rv32_fits(RV_BLTU, distance)) {
        PUT(RV_BLTU, 0, X_ROUND, count, distance);
    } else {
        PUT(RV_BGEU, 0, X_ROUND, count, 8);
        PUT(RV_JAL, 0, 0, 0, distance - 4);
    }
    text_flush(&m->text);
}

/* One step of the LFSR, its bit to a register; takes another. */
static void step_lfsr(struct maker *m, uint32_t bit, uint32_t x)
{
    PUT(RV_ANDI, bit, X_LFSR, 0, 1);
    PUT(RV_SUB, x, 0, bit, 0);
    PUT(RV_SRLI, X_LFSR, X_LFSR, 0, 1);
    PUT(RV_SRLI, x, x, 0, 24); /* the taps are in the highest byte: 0xa3 */
    PUT(RV_ANDI, x, x, 0, LFSR_TAPS >> 24);
    PUT(RV_SLLI, x, x, 0, 24);
    PUT(RV_XOR, X_LFSR, X_LFSR, x, 0);
}

/* Can a branch be sure to reach over these instructions? They are about so long at most. */
static bool within_reach(const struct maker *m, uint32_t from, uint32_t to)
{
    enum { WORDS = 32, WIDE_WORDS = 96, OF_TRANSACTION = 100, REACH = 950 };
    uint32_t words = 0;
    for (uint32_t at = from; at <= to && words <= REACH; at++) {
        const struct instruction *i = &m->t->code[at];
        uint32_t parts = i->size_log2 > 3 ? 1u << (i->size_log2 - 3) : 1;
        words += (parts > 1 ? WIDE_WORDS : WORDS)
                 + 2 * parts * (uint32_t)__builtin_popcount(i->needs);
        if (i->kind == ORDEAL_TX_BEGIN) { /* its body is there twice */
            for (uint32_t inner = at + 1; inner < i->match; inner++)
                words += m->t->code[inner].size_log2 > 3 ? WIDE_WORDS : WORDS;
            words += OF_TRANSACTION;
        }
    }
    return words <= REACH;
}

/* The branch stands in the burst, so that an operation of the first side may follow at once. */
static void emit_branch_begin(struct maker *m, const struct instruction *i)
{
    text_reserve(&m->text, 2);
    uint32_t bit = text_operand(&m->text), x = text_operand(&m->text);
    step_lfsr(m, bit, x);
    if (within_reach(m, m->index, i->match)) {
        text_add_ahead(&m->text, rv32(RV_BEQ, 0, bit, 0, 0), &m->branch);
    } else {
        ADD(RV_BNE, 0, bit, 0, 8);
        text_add_ahead(&m->text, rv32(RV_JAL, 0, 0, 0, 0), &m->branch);
    }
}

static void emit_branch_else(struct maker *m)
{
    text_flush(&m->text);
    uint32_t jump = jump_ahead(m);
    text_point(&m->text, m->branch.at, text_here(&m->text));
    m->branch.at = jump;
}

static void emit_branch_end(struct maker *m)
{
    text_flush(&m->text);
    text_point(&m->text, m->branch.at, text_here(&m->text));
}

/* ---- transactions --------------------------------------------------------------------------- */

static bool aborts_itself(const struct program_thread *t, const struct instruction *begin)
{
    return t->code[begin->match].kind == ORDEAL_TX_ABORT;
}

/* Steps of the LFSR that its body takes, whichever way its branches go: they do not nest. */
static uint32_t branches_inside(const struct maker *m, const struct instruction *i)
{
    uint32_t count = 0, times = 1;
    for (const struct instruction *inner = i; inner < &m->t->code[i->match]; inner++) {
        if (inner->kind == ORDEAL_LOOP_BEGIN)
            times = inner->count;
        else if (inner->kind == ORDEAL_LOOP_END)
            times = 1;
        else if (inner->kind == ORDEAL_BRANCH_BEGIN)
            count += times;
    }
    return count;
}

static uint32_t copy_of(const struct maker *m, uint32_t r)
{
    assert(m->saved >> r & 1);
    return m->first_copy + (uint32_t)__builtin_popcount(m->saved & ((UINT32_C(1) << r) - 1));
}

uint32_t jump_ahead(struct maker *m)
{
    uint32_t at = text_here(&m->text);
    assert(m->text.burst_count == 0); /* or it would stand before the burst */
    PUT(RV_JAL, 0, 0, 0, 0);
    return at;
}

/* What an abort comes to; it stands before TX.BEGIN, which so reaches it however long the body is.
 * Registers are given back, the LFSR too, and if it is not to be given up a few cycles pass.
 * from_abort: the jump of one that came to its TX.ABORT, to behind it. from_skip: of one that is
 * not tried again, to its operations or, should it abort itself, likewise. */
static void emit_aborted(struct maker *m, const struct instruction *i, uint32_t status, uint32_t x)
{
    uint32_t inside = branches_inside(m, i), over, plainly, cause = status;
    bool itself = aborts_itself(m->t, i);
    for (uint32_t r = 0; r < m->t->registers; r++)
        if (m->saved >> r & 1)
            PUT(RV_ADDI, test_register(r), copy_of(m, r), 0, 0);
    PUT(RV_ANDI, cause, status, 0, SOC_TX_STATUS_CAUSE); /* its low bits */
    if (itself) {
        PUT(RV_ADDI, x, 0, 0, SOC_TX_EXPLICIT);
        PUT(RV_BNE, 0, cause, x, 8);
        m->from_abort = jump_ahead(m);
    }
    PUT(RV_ADDI, X_LFSR, X_LFSR_BEFORE, 0, 0);
    PUT(RV_ADDI, X_ABORTS, X_ABORTS, 0, 1);
    PUT(RV_ADDI, x, 0, 0, SOC_TX_UNSUPPORTED);
    PUT(RV_BEQ, 0, cause, x, 12);
    PUT(RV_ADDI, x, 0, 0, (int32_t)soc_tries(m->t, i));
    PUT(RV_BLTU, 0, X_ABORTS, x, 8);
    plainly = jump_ahead(m);
    over = jump_ahead(m);
    if (itself) {
        text_point(&m->text, plainly, text_here(&m->text));
        if (inside) {
            uint32_t left = m->text.first_operand + 2;
            text_constant(&m->text, left, inside);
            uint32_t again = text_here(&m->text);
            step_lfsr(m, cause, x);
            PUT(RV_ADDI, left, left, 0, -1);
            PUT(RV_BNE, 0, left, 0, text_distance(text_here(&m->text), again));
        }
        m->from_skip = jump_ahead(m);
    } else {
        m->from_skip = plainly;
    }
    text_point(&m->text, over, text_here(&m->text));
    PUT(RV_CSRRS, x, 0, 0, CSR_MCYCLE); /* as good as a random number */
    PUT(RV_ANDI, x, x, 0, 31);
    PUT(RV_ADDI, x, x, 0, -1);
    PUT(RV_BGE, 0, x, 0, -4);
}

/* TX.BEGIN of all tries but the first, after what its abort comes to. */
static void emit_begin_again(struct maker *m, const struct instruction *i)
{
    uint32_t status = m->text.first_operand, aborted = text_here(&m->text);
    emit_aborted(m, i, status, status + 1);
    PUT(RV_TX_BEGIN, 0, status, 0, text_distance(text_here(&m->text), aborted));
    if (!aborts_itself(m->t, i))
        text_point(&m->text, m->from_skip, text_here(&m->text));
    m->first_try = false;
}

/* A body is written twice: for the first try, within the bursts around it, and for all others. One
 * that a TX.BEGIN before it does not reach over is written for all alike. */
static void emit_tx_begin(struct maker *m, const struct instruction *i)
{
    text_reserve(&m->text, 0);
    m->text.inside = true;
    m->result_before = m->result;
    for (uint32_t r = 0; r < m->t->registers; r++)
        if (m->saved >> r & 1)
            ADD(RV_ADDI, copy_of(m, r), test_register(r), 0, 0);
    PUT(RV_ADDI, X_LFSR_BEFORE, X_LFSR, 0, 0);
    PUT(RV_ADDI, X_ABORTS, 0, 0, 0);
    m->first_try = within_reach(m, m->index + 1, i->match);
    if (m->first_try) {
        uint32_t status = m->text.first_operand; /* an abort ends the burst it is used in */
        text_add_ahead(&m->text, rv32(RV_TX_BEGIN, 0, status, 0, 0), &m->begin);
        return;
    }
    text_flush(&m->text);
    uint32_t over = jump_ahead(m);
    emit_begin_again(m, i);
    text_point(&m->text, over, text_here(&m->text) - 1);
}

/* With the same registers as the first try, so that it does not matter which one came through. */
static void emit_again(struct maker *m, uint32_t begin, uint32_t end)
{
    assert(m->first_try && m->t->code[begin].kind == ORDEAL_TX_BEGIN && begin < end);
    m->result = m->result_before;
    text_point(&m->text, m->begin.at, text_here(&m->text));
    emit_begin_again(m, &m->t->code[begin]);
    emit_range(m, begin + 1, end + 1);
    m->index = end;
}

static void emit_tx_end(struct maker *m, const struct instruction *i)
{
    text_reserve(&m->text, 0);
    ADD(RV_TX_COMMIT, 0, 0, 0, 0);
    text_flush(&m->text);
    if (m->first_try) {
        uint32_t over = jump_ahead(m);
        emit_again(m, i->match, m->index);
        text_point(&m->text, over, text_here(&m->text));
    }
    m->text.inside = false;
}

static void emit_tx_abort(struct maker *m, const struct instruction *i)
{
    text_reserve(&m->text, 0);
    ADD(RV_TX_ABORT, 0, 0, 0, (int32_t)(hash_of(m->p, m->thread, m->index) & 0xff));
    text_flush(&m->text);
    if (m->first_try) {
        emit_again(m, i->match, m->index);
        return;
    }
    m->text.noted = 0; /* nobody knows what they hold */
    m->text.inside = false;
    text_point(&m->text, m->from_abort, text_here(&m->text));
    text_point(&m->text, m->from_skip, text_here(&m->text));
}

void emit_flow(struct maker *m, const struct instruction *i)
{
    switch (i->kind) {
    case ORDEAL_LOOP_BEGIN:   emit_loop_begin(m); break;
    case ORDEAL_LOOP_END:     emit_loop_end(m, i); break;
    case ORDEAL_BRANCH_BEGIN: emit_branch_begin(m, i); break;
    case ORDEAL_BRANCH_ELSE:  emit_branch_else(m); break;
    case ORDEAL_BRANCH_END:   emit_branch_end(m); break;
    case ORDEAL_TX_BEGIN:     emit_tx_begin(m, i); break;
    case ORDEAL_TX_END:       emit_tx_end(m, i); break;
    case ORDEAL_TX_ABORT:     emit_tx_abort(m, i); break;
    }
}
