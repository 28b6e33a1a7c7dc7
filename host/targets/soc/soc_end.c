/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a thread: what it may have left dirty in its cache goes to memory.
 *
 * A line is dirty in the cache of a hart that wrote it or fetched it to write. So a hart flushes the
 * lines that it may have fetched so, after everything else; who fetches one later flushes it in
 * turn. A prefetch may still be under way then: a load of the line waits for it. And a flush is done
 * when the line is on its way: a load behind it has a value when memory has the line. (The contracts
 * of hints, write-backs and the bus are in rtl/PROTOCOL.md.) */
#include <stdlib.h>

#include "base/list.h"
#include "soc_maker.h"
#include "test/kinds.h"

/* With the address of a line, which is a multiple of more. */
enum { PREFETCHED = 1 };

struct end {
    LIST(uint32_t) lines;
    uint32_t reg, at; /* a register, and what it holds */
};

static int by_address(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The lines that the thread may fetch to write, in order, each once. */
static bool list_lines(const struct maker *m, struct end *e)
{
    for (uint32_t at = 0; at < m->t->length; at++) {
        const struct instruction *i = &m->t->code[at];
        bool prefetch = i->kind == ORDEAL_PREFETCH && prefetches_to_write(m->p, m->thread, at);
        if ((!prefetch && !kind_writes(i->kind)) || m->p->line[i->line].uncached)
            continue;
        uint32_t address = soc_address(m->p, i), end = address + (1u << i->size_log2);
        for (address &= ~(m->line_bytes - 1); address < end; address += m->line_bytes)
            if (!LIST_PUSH(&e->lines, address | (prefetch ? PREFETCHED : 0)))
                return false;
    }
    size_t count = 0;
    uint32_t *lines = e->lines.data;
    if (e->lines.count)
        qsort(lines, e->lines.count, sizeof *lines, by_address);
    for (size_t k = 0; k < e->lines.count; k++)
        if (count && (lines[count - 1] | PREFETCHED) == (lines[k] | PREFETCHED))
            lines[count - 1] = lines[k];
        else
            lines[count++] = lines[k];
    e->lines.count = count;
    return true;
}

/* The register comes to hold the address. */
static void go_to(struct maker *m, struct end *e, uint32_t address)
{
    int32_t distance = (int32_t)(address - e->at);
    if (rv32_fits(RV_ADDI, distance))
        PUT(RV_ADDI, e->reg, e->reg, 0, distance);
    else
        text_constant(&m->text, e->reg, address);
    e->at = address;
}

static void load_line(struct maker *m, struct end *e, uint32_t address, uint32_t to)
{
    if (!rv32_fits(RV_LW, (int32_t)(address - e->at)))
        go_to(m, e, address);
    PUT(RV_LW, to, e->reg, 0, (int32_t)(address - e->at));
    m->end_loads++;
}

static void flush_line(struct maker *m, struct end *e, uint32_t line)
{
    uint32_t x = e->reg + 1;
    go_to(m, e, line & ~(uint32_t)PREFETCHED);
    if (line & PREFETCHED) {
        load_line(m, e, e->at, x);
        PUT(RV_SUB, x, x, x, 0); /* the flush waits for it */
        PUT(RV_ADD, e->reg, e->reg, x, 0);
    }
    PUT(RV_CBO_FLUSH, 0, e->reg, 0, 0);
}

void emit_end(struct maker *m)
{
    enum { ALL = 0x33 }; /* reads and writes before reads and writes */
    struct end e = { .reg = m->text.first_operand };
    assert(m->text.burst_count == 0);
    if (!list_lines(m, &e))
        m->text.failed = true;
    else if (e.lines.count) {
        PUT(RV_ADDI, e.reg, 0, 0, 0);
        PUT(RV_FENCE, 0, 0, 0, ALL);
        for (size_t k = 0; k < e.lines.count; k++)
            flush_line(m, &e, e.lines.data[k]);
        PUT(RV_CBO_FLUSH, 0, e.reg, 0, 0); /* is taken when the one before is done */
        for (size_t k = 0; k < e.lines.count; k++)
            load_line(m, &e, e.lines.data[k] & ~(uint32_t)PREFETCHED,
                      m->first_result + (uint32_t)k % m->results);
    }
    LIST_FREE(&e.lines);
}
