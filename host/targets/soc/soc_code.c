/* SPDX-License-Identifier: Apache-2.0 */
#include "soc_code.h"

#include <stdlib.h>

#include "test/kinds.h"
#include "test/lfsr.h"
#include "soc_maker.h"

enum {
    TRAP = (SOC_START_WORDS + 1) * 4, /* where the handler is */
    LOAD_FAULT = 5,
    SOFTWARE = 8, /* a cause; the bit of the software interrupt */
};

/* ---- registers ---------------------------------------------------------------------------- */

/* Those that some CAS of the thread compares with. */
static uint32_t registers_compared(const struct program_thread *t)
{
    uint32_t compared = 0;
    for (const struct instruction *i = t->code; i < t->code + t->length; i++)
        if (i->compare_register != NO_REGISTER)
            compared |= UINT32_C(1) << i->compare_register;
    return compared;
}

/* Registers that a transaction sets and some CAS of the thread compares with: what they hold after
 * an abort matters. */
static uint32_t registers_to_save(const struct program_thread *t)
{
    uint32_t set = 0;
    bool inside = false;
    for (uint32_t at = 0; at < t->length; at++) {
        const struct instruction *i = &t->code[at];
        inside = i->kind == ORDEAL_TX_BEGIN
                 || (inside && i->kind != ORDEAL_TX_END && i->kind != ORDEAL_TX_ABORT);
        if (inside && i->sets != NO_REGISTER)
            set |= UINT32_C(1) << i->sets;
    }
    return set & registers_compared(t);
}

/* The windows that are used most get a register each. */
static void choose_bases(struct maker *m, uint32_t most)
{
    struct { uint32_t base, uses; } seen[64];
    uint32_t count = 0;
    for (uint32_t at = 0; at < m->t->length; at++) {
        const struct instruction *i = &m->t->code[at];
        if (!kind_has_location(i->kind) || m->p->line[i->line].faulting)
            continue;
        uint32_t base = window(soc_address(m->p, i)), k = 0;
        while (k < count && seen[k].base != base)
            k++;
        if (k == 64)
            continue;
        if (k == count) {
            seen[count].base = base;
            seen[count++].uses = 0;
        }
        seen[k].uses++;
    }
    assert(most <= MOST_BASES && count <= 64);
    for (m->bases = 0; m->bases < most; m->bases++) {
        uint32_t best = 0;
        for (uint32_t k = 1; k < count; k++)
            if (seen[k].uses > seen[best].uses)
                best = k;
        if (!count || !seen[best].uses)
            break;
        m->base[m->bases] = seen[best].base;
        seen[best].uses = 0;
    }
}

/* Some threads have many operands in a burst, others few: operations then stand less closely. */
static void share_registers(struct maker *m)
{
    uint32_t next = X_FIRST + m->t->registers;
    m->saved = registers_to_save(m->t);
    m->first_copy = next;
    next += (uint32_t)__builtin_popcount(m->saved);
    bool narrow = 32 - next < LEAST_OPERANDS + MOST_BASES + MOST_RESULTS;
    choose_bases(m, narrow ? 1 : MOST_BASES);
    m->first_base = next;
    m->first_result = next += m->bases;
    m->results = narrow ? 2 : MOST_RESULTS;
    next += m->results;
    assert(next + LEAST_OPERANDS <= 32);
    m->text.first_operand = next;
    m->text.operands = LEAST_OPERANDS
                     + (uint32_t)(hash_of(m->p, m->thread, WHOLE_THREAD)
                                  % (32 - next - LEAST_OPERANDS + 1));
    assert(next + m->text.operands <= 32);
}

/* ---- threads -------------------------------------------------------------------------------- */

const uint32_t soc_code_idle[2] = { 0x7c00d073, 0x0000006f }; /* csrwi DONE, 1; j . */

/* A software interrupt is taken back, and marked: what came before that is what the mark is of. A
 * load where there is no memory is skipped. Anything else is
 * told: its cause, then where; and that is the end. Changes no register. */
static void emit_trap(struct maker *m)
{
    PUT(RV_CSRRW, 0, X_TRAP, 0, CSR_MSCRATCH);
    PUT(RV_CSRRS, X_TRAP, 0, 0, CSR_MCAUSE);
    PUT(RV_BLT, 0, X_TRAP, 0, 8 * 4);            /* an interrupt */
    PUT(RV_ADDI, X_TRAP, X_TRAP, 0, -LOAD_FAULT);
    PUT(RV_BNE, 0, X_TRAP, 0, 10 * 4);
    PUT(RV_CSRRS, X_TRAP, 0, 0, CSR_MEPC);
    PUT(RV_ADDI, X_TRAP, X_TRAP, 0, 4);
    PUT(RV_CSRRW, 0, X_TRAP, 0, CSR_MEPC);
    PUT(RV_CSRRS, X_TRAP, 0, 0, CSR_MSCRATCH);
    PUT(RV_MRET, 0, 0, 0, 0);
    PUT(RV_CSRRCI, 0, SOFTWARE, 0, CSR_MIP);     /* to here */
    PUT(RV_CSRRWI, 0, SOC_INTERRUPT_MARK, 0, SOC_CSR_MARK);
    PUT(RV_CSRRS, X_TRAP, 0, 0, CSR_MSCRATCH);
    PUT(RV_MRET, 0, 0, 0, 0);
    PUT(RV_CSRRS, X_TRAP, 0, 0, CSR_MCAUSE);     /* to here */
    PUT(RV_CSRRW, 0, X_TRAP, 0, SOC_CSR_MARK);
    PUT(RV_CSRRS, X_TRAP, 0, 0, CSR_MEPC);
    PUT(RV_CSRRW, 0, X_TRAP, 0, SOC_CSR_MARK);
    PUT(RV_CSRRWI, 0, 1, 0, SOC_CSR_DONE);
    PUT(RV_JAL, 0, 0, 0, 0);
}

void soc_code_start(const struct program *p, uint32_t thread, uint64_t iteration, uint32_t skew,
                    uint32_t words[SOC_START_WORDS])
{
    uint32_t lfsr = lfsr_start(p->seed, p->thread[thread].number, iteration);
    words[0] = rv32(RV_LUI, X_LFSR, 0, 0, (int32_t)(rv32_upper(lfsr) & 0xfffff));
    words[1] = rv32(RV_ADDI, X_LFSR, X_LFSR, 0, rv32_lower(lfsr));
    words[2] = rv32(RV_ADDI, X_TRAP, 0, 0, (int32_t)skew + 1);
}

static void emit_start(struct maker *m)
{
    uint32_t start[SOC_START_WORDS];
    soc_code_start(m->p, m->thread, 0, 0, start);
    for (uint32_t i = 0; i < SOC_START_WORDS; i++)
        text_put(&m->text, start[i]);
    uint32_t over = jump_ahead(m);
    emit_trap(m);
    text_point(&m->text, over, text_here(&m->text));
    uint32_t x = m->text.first_operand;
    PUT(RV_ADDI, x, 0, 0, TRAP);
    PUT(RV_CSRRW, 0, x, 0, CSR_MTVEC);
    for (uint32_t r = 0; r < m->t->registers; r++)
        PUT(RV_ADDI, test_register(r), 0, 0, 0);
    for (uint32_t k = 0; k < m->results; k++)
        PUT(RV_ADDI, m->first_result + k, 0, 0, 0);
    assert(m->text.burst_count == 0);
    for (uint32_t k = 0; k < m->bases; k++)
        text_constant(&m->text, m->first_base + k, m->base[k]);
    if (m->p->asks.interrupts) {
        PUT(RV_CSRRWI, 0, SOFTWARE, 0, CSR_MIE);
        PUT(RV_CSRRSI, 0, SOFTWARE, 0, CSR_MSTATUS);
    }
    PUT(RV_ADDI, X_TRAP, X_TRAP, 0, -1);
    PUT(RV_BNE, 0, X_TRAP, 0, -4);
}

void emit_range(struct maker *m, uint32_t from, uint32_t to)
{
    for (m->index = from; m->index < to; m->index++) {
        const struct instruction *i = &m->t->code[m->index];
        m->text.at = (int32_t)m->index;
        emit_operation(m, i);
        emit_flow(m, i);
    }
}

static bool is_interrupted(const struct program *p, uint32_t thread)
{
    for (uint32_t t = 0; t < p->threads; t++)
        for (uint32_t at = 0; at < p->thread[t].length; at++) {
            const struct instruction *i = &p->thread[t].code[at];
            if (i->kind == ORDEAL_INTERRUPT && i->count == thread)
                return true;
        }
    return false;
}

/* Some time in which interrupts come in, in a quarter of the tests: all would take a tenth more. */
static void emit_linger(struct maker *m)
{
    enum { ROUNDS = 60 };
    if (!is_interrupted(m->p, m->thread) || hash_of(m->p, 0, WHOLE_THREAD) >> 36 & 3)
        return;
    uint32_t x = m->text.first_operand;
    PUT(RV_ADDI, x, 0, 0, ROUNDS);
    PUT(RV_ADDI, x, x, 0, -1);
    PUT(RV_BNE, 0, x, 0, -4);
}

static bool make_thread(struct maker *m, struct soc_hart_code *to)
{
    m->text.at = SOC_NO_ORIGIN;
    share_registers(m);
    emit_start(m);
    emit_range(m, 0, m->t->length);
    text_fold(&m->text);
    m->text.at = SOC_NO_ORIGIN;
    emit_linger(m);
    if (m->line_bytes)
        emit_end(m);
    for (uint32_t k = 0; k < 2; k++)
        text_put(&m->text, soc_code_idle[k]);
    *to = (struct soc_hart_code){ .words = m->text.words.data,
                                  .count = (uint32_t)m->text.words.count,
                                  .origin = m->text.origin.data,
                                  .fold = m->text.folds.data,
                                  .folds = (uint32_t)m->text.folds.count,
                                  .first_result = (uint8_t)m->first_result,
                                  .results = (uint8_t)m->results,
                                  .end_loads = m->end_loads };
    return !m->text.failed;
}

/* ---- how each is made ----------------------------------------------------------------------- */

/* Lines of the same set behind the program's, as far as there is memory; in a transaction one, or
 * it could never commit. */
static void plan_evict(const struct program *p, const struct instruction *i, bool inside,
                       const struct soc_parameters *soc, struct soc_made *made)
{
    enum { MOST = 9 };
    uint32_t way = soc->sets * soc->line_bytes;
    uint32_t most = inside ? 1 : soc->ways < MOST ? soc->ways + 1 : MOST;
    if (!way || p->line[i->line].uncached)
        return;
    uint64_t place = p->line[i->line].place + i->offset;
    uint64_t first = (p->memory + way - 1) / way * way + place % way / soc->line_bytes
                                                         * soc->line_bytes;
    made->first_load = SOC_MAP_MEMORY + (uint32_t)first;
    while (made->loads < most && first + made->loads * way + soc->line_bytes <= soc->memory_bytes)
        made->loads++;
}

/* LR and SC are for memory that is cached, and not for transactions. */
static uint8_t way_of_atomic(uint64_t hash)
{
    static const uint8_t ways[8] = { SOC_PLAIN, SOC_PLAIN, SOC_PLAIN, SOC_PLAIN,
                                     SOC_LR_SC, SOC_LR_SC, SOC_LR_SC, SOC_LR_SC_SC };
    return ways[hash >> 32 & 7];
}

static uint8_t plan_dependence(const struct instruction *i, uint64_t hash)
{
    static const uint8_t of_4[4] = { SOC_BY_ADDRESS, SOC_BY_DATA, SOC_BY_CONTROL, SOC_BY_DATA };
    uint8_t by = of_4[hash >> 36 & 3];
    if (by == SOC_BY_CONTROL && i->kind != ORDEAL_STORE)
        return SOC_BY_ADDRESS; /* what reads may go before a branch */
    return by == SOC_BY_DATA && i->size_log2 > 2 ? SOC_BY_CONTROL : by;
}

/* A word of the thread's that is not the one at hand, and can be loaded at any time; 0: none. */
static uint32_t other_word(const struct program *p, const struct program_thread *t, uint32_t at,
                           uint64_t hash)
{
    uint32_t own = soc_address(p, &t->code[at]);
    for (uint32_t n = 0; n < t->length; n++) {
        const struct instruction *i = &t->code[(hash + n) % t->length];
        if (!kind_has_location(i->kind) || p->line[i->line].faulting || p->line[i->line].uncached)
            continue;
        uint32_t word = soc_address(p, i) & ~UINT32_C(3);
        if (word != own)
            return word;
    }
    return 0;
}

static void plan_between(const struct program *p, const struct program_thread *t, uint32_t at,
                         uint64_t hash, struct soc_made *made)
{
    static const uint8_t of_8[8] = { [4] = SOC_ALU_BETWEEN,
                                     [5] = SOC_LOAD_BETWEEN,
                                     [6] = SOC_FENCE_BETWEEN,
                                     [7] = SOC_PREFETCH_BETWEEN };
    if (made->way == SOC_PLAIN)
        return;
    made->between = of_8[hash >> 44 & 7];
    made->other = other_word(p, t, at, hash >> 48);
    bool looks = made->between == SOC_LOAD_BETWEEN || made->between == SOC_PREFETCH_BETWEEN;
    if (looks && !made->other)
        made->between = SOC_ALU_BETWEEN;
}

static void plan_thread(const struct program *p, uint32_t thread, const struct soc_parameters *soc,
                        struct soc_made *made)
{
    const struct program_thread *t = &p->thread[thread];
    uint32_t compared = registers_compared(t);
    bool inside = false;
    for (uint32_t at = 0; at < t->length; at++) {
        const struct instruction *i = &t->code[at];
        uint64_t hash = hash_of(p, thread, at);
        made[at] = (struct soc_made){ .way = SOC_PLAIN,
                                      .sign = i->size_log2 < 2 && hash >> 40 & 1
                                           && !(i->sets != NO_REGISTER
                                                && compared >> i->sets & 1) };
        if (i->kind == ORDEAL_STORE || i->kind == ORDEAL_SWAP || i->kind == ORDEAL_AMO)
            made[at].dependence = plan_dependence(i, hash);
        if (i->kind == ORDEAL_TX_BEGIN)
            inside = true;
        else if (i->kind == ORDEAL_TX_END || i->kind == ORDEAL_TX_ABORT)
            inside = false;
        if (inside && (i->kind == ORDEAL_INTERRUPT
                       || (i->kind == ORDEAL_LOAD && p->line[i->line].faulting)))
            made[at].way = SOC_NOTHING; /* no transaction can do that */
        if (i->kind == ORDEAL_EVICT)
            plan_evict(p, i, inside, soc, &made[at]);
        bool atomic = i->kind == ORDEAL_SWAP || i->kind == ORDEAL_CAS || i->kind == ORDEAL_AMO;
        if (atomic && !inside && !p->line[i->line].uncached) {
            made[at].way = way_of_atomic(hash);
            made[at].foreign = (uint32_t)hash | UINT32_C(0x80000000);
            plan_between(p, t, at, hash, &made[at]);
        }
    }
}

/* Half of the threads are left alone until they end: a fold waits for what it looks at. */
static uint32_t folds_of(const struct program *p, uint32_t thread)
{
    static const uint8_t of_4[4] = { 0, 0, 2, 4 };
    return of_4[hash_of(p, thread, WHOLE_THREAD) >> 32 & 3];
}

static bool make_all(struct soc_code *c, const struct program *p, const struct soc_parameters *soc,
                     bool settle, bool folds)
{
    size_t length = 0;
    for (uint32_t t = 0; t < p->threads; t++)
        length += p->thread[t].length;
    *c = (struct soc_code){ .p = p, .made = calloc(length + 1, sizeof *c->made) };
    bool good = c->made != NULL;
    for (uint32_t t = 0; good && t < p->threads; t++) {
        struct soc_made *made = &c->made[p->thread[t].code - p->code];
        struct maker m = { .p = p,
                           .t = &p->thread[t],
                           .thread = t,
                           .made = made,
                           .way = soc->sets * soc->line_bytes,
                           .line_bytes = settle && soc->line_bytes > 4 ? soc->line_bytes : 0,
                           .text = { .no_folds = !folds,
                                     .folds_of_4 = folds_of(p, t),
                                     .chance = hash_of(p, t, WHOLE_THREAD) } };
        plan_thread(p, t, soc, made);
        good = make_thread(&m, &c->hart[t]);
    }
    if (!good)
        soc_code_free(c);
    return good;
}

bool soc_code_make(struct soc_code *c, const struct program *p, const struct soc_parameters *soc,
                   bool settle)
{
    bool fits = true, good = make_all(c, p, soc, settle, true);
    for (uint32_t t = 0; good && soc->code_bytes && t < p->threads; t++)
        fits &= c->hart[t].count <= soc->code_bytes / 4;
    if (fits)
        return good;
    soc_code_free(c);
    return make_all(c, p, soc, settle, false);
}

void soc_code_free(struct soc_code *c)
{
    for (uint32_t h = 0; h < SOC_HARTS; h++) {
        free(c->hart[h].words);
        free(c->hart[h].origin);
        free(c->hart[h].fold);
    }
    free(c->made);
    *c = (struct soc_code){ 0 };
}
