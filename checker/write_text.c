/* SPDX-License-Identifier: Apache-2.0 */
/* The text format (FORMAT.md), canonical: reading it back gives the same trace. */
#include "write.h"
#include "read.h"

#include <inttypes.h>

enum { VALUES_PER_LINE = 1024, /* of an order; keeps lines far below READ_LINE_MAX */
       NAMES_PER_LINE = 8 };

enum ordeal_status written(struct ordeal *o, FILE *stream)
{
    if (fflush(stream) != 0 || ferror(stream))
        return fail(o, ORDEAL_IO, "the trace cannot be written");
    return ORDEAL_OK;
}

static void write_word(const struct ordeal_trace *t, FILE *stream, const char *keyword,
                       const struct trace_word *word)
{
    char location[TRACE_FORMAT_MAX];
    trace_format_location(t, word->base, word->address, word->size_log2, location,
                          sizeof location);
    fprintf(stream, "%s %s", keyword, location);
}

static void write_order(const struct ordeal_trace *t, FILE *stream, const struct trace_order *order)
{
    write_word(t, stream, "order", &order->word);
    for (size_t i = 0; i < order->count; i++) {
        if (i && i % VALUES_PER_LINE == 0)
            fputs("\nmore", stream);
        fprintf(stream, " %" PRIu64, t->order_values.data[order->first + i]);
    }
    fputc('\n', stream);
}

/* What was told of lines of memory: their places (no marks), or one of the marks. */
static void write_lines(const struct ordeal_trace *t, FILE *stream, const char *keyword,
                        uint8_t mark)
{
    size_t written = 0;
    for (size_t i = 0; i < t->told.count; i++) {
        const struct trace_told *told = &t->told.data[i];
        if (mark ? !(told->marks & mark) : told->marks)
            continue;
        bool first = written++ % NAMES_PER_LINE == 0;
        fprintf(stream, "%s%s %s", first && written > 1 ? "\n" : "", first ? keyword : "",
                ordeal_trace_name_text(t, told->base));
        if (!mark)
            fprintf(stream, "=0x%" PRIx64, t->lines.data[told->base - 1].address);
    }
    if (written)
        fputc('\n', stream);
}

static void write_facts(const struct ordeal_trace *t, FILE *stream)
{
    if (t->claimed)
        fprintf(stream, "model %s\n", ordeal_model_name(t->claim));
    if (t->atomic != TRACE_DEFAULT_ATOMIC)
        fprintf(stream, "atomic %" PRIu32 "\n", t->atomic);
    if (t->seed)
        fprintf(stream, "seed %" PRIu64 "\n", t->seed);
    write_lines(t, stream, "place", 0);
    write_lines(t, stream, "uncached", ORDEAL_UNCACHED);
    write_lines(t, stream, "fault", ORDEAL_FAULTING);
    for (size_t i = 0; i < t->inits.count; i++) {
        write_word(t, stream, "init", &t->inits.data[i].word);
        fprintf(stream, "=%" PRIu64 "\n", t->inits.data[i].value);
    }
    for (size_t i = 0; i < t->orders.count; i++)
        write_order(t, stream, &t->orders.data[i]);
    for (size_t i = 0; i < t->finals.count; i++) {
        write_word(t, stream, "final", &t->finals.data[i].word);
        fprintf(stream, "=%" PRIu64 "\n", t->finals.data[i].value);
    }
}

static void write_cycles(const struct trace_time *time, uint8_t flags, FILE *stream)
{
    fputs(" @", stream);
    if (flags & ORDEAL_HAS_BEGIN)
        fprintf(stream, "%" PRIu64, time->begin);
    fputc(':', stream);
    if (flags & ORDEAL_HAS_END)
        fprintf(stream, "%" PRIu64, time->end);
}

enum ordeal_status ordeal_write_text(const struct ordeal_trace *t, FILE *stream)
{
    size_t reg = 0, time = 0;
    fprintf(stream, "ordeal %d\n", TEXT_VERSION);
    write_facts(t, stream);
    for (size_t i = 0; i < t->ops.count; i++) {
        char text[TRACE_FORMAT_MAX];
        uint8_t flags = t->ops.data[i].flags;
        ordeal_trace_format(t, i, text, sizeof text);
        fputs(text, stream);
        for (; reg < t->registers.count && t->registers.data[reg].op == i; reg++)
            fprintf(stream, " %sr%" PRIu32, trace_use_names[t->registers.data[reg].use],
                    t->registers.data[reg].reg);
        if (flags & (ORDEAL_HAS_BEGIN | ORDEAL_HAS_END)) {
            assert(time < t->times.count && t->times.data[time].op == i);
            write_cycles(&t->times.data[time++], flags, stream);
        }
        fputc('\n', stream);
    }
    assert(time == t->times.count && reg == t->registers.count);
    return written(t->o, stream);
}
