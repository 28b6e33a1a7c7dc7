/* SPDX-License-Identifier: Apache-2.0 */
/* Memory behind the buffers: what transactions must hear of, and the bugs of caches. */
#include "model_parts.h"

#include <string.h>

/* How long a copy of a line that should be gone is read, in loads of it. */
enum { STALE_LOADS = 6 };

uint64_t hart_writes(const struct hart *h, const struct instruction *i, uint32_t shift)
{
    if (!i->bytes)
        return (i->write + h->round * i->step) << shift;
    const uint8_t *bytes = i->bytes + h->part * CELL_BYTES;
    uint64_t value = 0;
    for (int b = CELL_BYTES; b-- > 0;)
        value = value << 8 | bytes[b];
    return value;
}

uint64_t amo_leaves(struct model_machine *m, uint8_t function, uint8_t size_log2, uint64_t read,
                    uint64_t operand)
{
    if (bug_strikes(m, BUG_AMO_WRITES_OPERAND, 32))
        return operand;
    if (m->setup.bug == BUG_AMO_UNSIGNED && function == ORDEAL_AMO_MIN)
        function = ORDEAL_AMO_MINU;
    if (m->setup.bug == BUG_AMO_UNSIGNED && function == ORDEAL_AMO_MAX)
        function = ORDEAL_AMO_MAXU;
    return ordeal_amo_result((enum ordeal_amo_function)function, size_log2, read, operand);
}

uint64_t hart_swaps(struct model_machine *m, const struct hart *h, const struct instruction *i,
                    uint64_t read, uint32_t shift)
{
    if (i->kind != ORDEAL_AMO)
        return hart_writes(h, i, shift);
    return amo_leaves(m, i->function, i->size_log2, read, hart_writes(h, i, 0)) << shift;
}

uint64_t hart_compares(const struct hart *h, const struct instruction *i)
{
    if (i->compare_register == NO_REGISTER)
        return i->compare;
    uint64_t value = h->registers[i->compare_register];
    return i->size_log2 < 3 ? value & ((UINT64_C(1) << (8u << i->size_log2)) - 1) : value;
}

void cells_start(struct model_machine *m)
{
    const struct program *p = m->program;
    for (uint32_t l = 0; l < p->lines; l++)
        for (uint32_t c = 0; c < LINE_CELLS; c++) {
            const uint8_t *bytes = p->line[l].initial + c * CELL_BYTES;
            uint64_t value = 0;
            for (int b = CELL_BYTES; b-- > 0;)
                value = value << 8 | bytes[b];
            m->memory[l * LINE_CELLS + c] = value;
        }
    for (uint32_t c = 0; m->first_opened && c < m->cells; c++)
        m->first_opened[c] = m->last_opened[c] = NOBODY;
    for (uint32_t c = 0; m->writer && c < m->cells; c++)
        m->writer[c] = NOBODY;
    m->guarded = m->marks || m->setup.bug == BUG_LOST_INVALIDATION
              || m->setup.bug == BUG_PREFETCH_STALE || m->setup.bug == BUG_EVICT_LOSES_DIRTY
              || m->setup.bug == BUG_FLUSH_LATE || m->setup.bug == BUG_INTERRUPT_STALE;
}

_Static_assert((int)CELL_BYTES == (int)FINAL_BYTES, "a cell is what is told of memory at the end");
void model_machine_finals(const struct model_machine *m, uint64_t *values)
{
    assert(m->alive == 0);
    for (uint32_t k = 0; k < m->program->finals; k++) {
        const struct program_final *f = &m->program->final[k];
        values[k] = m->memory[f->line * LINE_CELLS + f->offset / CELL_BYTES];
    }
}

static void copy_line(const struct model_machine *m, uint32_t line, struct stale_copy *copy)
{
    copy->line = line;
    copy->loads = STALE_LOADS;
    memcpy(copy->cell, m->memory + (size_t)line * LINE_CELLS, sizeof copy->cell);
}

uint64_t cell_read_guarded(struct model_machine *m, struct hart *h, uint32_t cell, uint64_t value)
{
    uint32_t line = line_of(cell);
    if (m->marks)
        transaction_disturb(m, h, line, false);
    if (h->stale.line == line && h->stale.loads) {
        h->stale.loads--;
        return h->stale.cell[cell % LINE_CELLS];
    }
    if (m->setup.bug == BUG_INTERRUPT_STALE)
        copy_line(m, line, &h->recent);
    else if (bug_strikes(m, BUG_LOST_INVALIDATION, 48))
        copy_line(m, line, &h->stale);
    return value;
}

void cell_wrote_guarded(struct model_machine *m, struct hart *h, uint32_t cell, uint64_t old)
{
    uint32_t line = line_of(cell);
    if (m->marks)
        transaction_disturb(m, h, line, true);
    if (h->stale.line == line)
        h->stale.cell[cell % LINE_CELLS] = m->memory[cell];
    if (m->before) {
        m->before[cell] = old;
        m->writer[cell] = h->index;
    }
    if (m->setup.bug == BUG_FLUSH_LATE && h->recent.line != NOBODY) {
        memcpy(m->memory + (size_t)h->recent.line * LINE_CELLS, h->recent.cell,
               sizeof h->recent.cell);
        h->recent.line = NOBODY;
    }
}

static void lose_line(struct model_machine *m, const struct hart *h, uint32_t line)
{
    for (uint32_t c = line * LINE_CELLS; c < (line + 1) * LINE_CELLS; c++)
        if (m->writer[c] == h->index) {
            m->memory[c] = m->before[c];
            m->writer[c] = NOBODY;
        }
}

void cells_hint(struct model_machine *m, struct hart *h, const struct instruction *i)
{
    if (i->kind == ORDEAL_PREFETCH && m->setup.bug == BUG_PREFETCH_STALE)
        copy_line(m, i->line, &h->stale);
    if (i->kind == ORDEAL_EVICT && m->setup.bug == BUG_EVICT_LOSES_DIRTY)
        lose_line(m, h, i->line);
    if (i->kind == ORDEAL_FLUSH && m->setup.bug == BUG_FLUSH_LATE)
        copy_line(m, i->line, &h->recent);
}

void cells_interrupt(struct model_machine *m, struct hart *h)
{
    struct store_buffer *b = &h->buffer;
    if (m->setup.bug == BUG_INTERRUPT_STALE)
        h->stale = h->recent;
    if (m->setup.bug == BUG_INTERRUPT_DROPS && b->end - b->first > (h->opened.is ? 1 : 0))
        b->end--;
}

bool torn_load(struct model_machine *m, bool *half, uint64_t *held, uint64_t *value,
               uint8_t size_log2)
{
    if (*half) {
        *value = (*value & ~UINT64_C(0xffffffff)) | (*held & 0xffffffff);
        *half = false;
        return false;
    }
    if (size_log2 < 3 || !bug_strikes(m, BUG_TORN_LOAD, 96))
        return false;
    *half = true;
    *held = *value;
    return true;
}
