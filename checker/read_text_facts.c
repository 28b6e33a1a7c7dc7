/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the text format about the whole trace: model, places, initial values and so on. */
#include "read_text.h"

static enum ordeal_status model_line(struct scan *s, const char *keyword)
{
    const char *start = s->p;
    char text[8];
    enum ordeal_model model;
    size_t n = 0;
    while (trace_name_letter(*s->p) && n < sizeof text - 1)
        text[n++] = *s->p++;
    text[n] = '\0';
    if (trace_name_letter(*s->p) || !ordeal_model_parse(text, &model))
        return expected(s->r, s->begin, start, "a model (SC, TSO, PSO, PC, RMO, RVWMO or RVTSO)");
    if (s->model_seen)
        return expected(s->r, s->begin, keyword, "only one model");
    s->model_seen = true;
    ordeal_trace_claim(s->t, model);
    return text_line_end(s);
}

static enum ordeal_status atomic_line(struct scan *s, const char *keyword)
{
    const char *start = s->p;
    uint64_t bytes = 0;
    enum ordeal_status status = text_number(s, "a number of bytes", &bytes);
    if (status == ORDEAL_OK && s->atomic_seen)
        return expected(s->r, s->begin, keyword, "only one atomic");
    s->atomic_seen = true;
    if (status == ORDEAL_OK) {
        uint32_t given = bytes > 64 ? 0 : (uint32_t)bytes;
        status = text_refused_at(s, ordeal_trace_atomic(s->t, given), start);
    }
    return status == ORDEAL_OK ? text_line_end(s) : status;
}

static enum ordeal_status seed_line(struct scan *s, const char *keyword)
{
    uint64_t seed = 0;
    enum ordeal_status status = text_number(s, "a number", &seed);
    if (status == ORDEAL_OK && s->seed_seen)
        return expected(s->r, s->begin, keyword, "only one seed");
    s->seed_seen = true;
    ordeal_trace_seed(s->t, seed);
    return status == ORDEAL_OK ? text_line_end(s) : status;
}

/* `place A=0x1000 B=0x2040`, `uncached A B`, `fault Z`: of each name its place, or marks */
static enum ordeal_status lines_of_memory(struct scan *s, uint8_t marks)
{
    do {
        const char *start = s->p;
        uint32_t base = 0;
        uint64_t address = 0;
        if (!trace_name_start(*s->p))
            return expected(s->r, s->begin, s->p, "a name");
        enum ordeal_status status = text_name(s, &base);
        if (status == ORDEAL_OK && !marks && *s->p != '=')
            return expected(s->r, s->begin, s->p, "'=' and an offset in bytes");
        if (status == ORDEAL_OK && !marks) {
            s->p++;
            status = text_number(s, "an offset in bytes", &address);
        }
        if (status == ORDEAL_OK)
            status = text_refused_at(s, marks ? ordeal_trace_memory(s->t, base, marks)
                                         : ordeal_trace_place(s->t, base, address), start);
        if (status != ORDEAL_OK)
            return status;
    } while (text_another(s));
    return text_line_end(s);
}

static enum ordeal_status place_line(struct scan *s, const char *keyword)
{
    (void)keyword;
    return lines_of_memory(s, 0);
}

static enum ordeal_status uncached_line(struct scan *s, const char *keyword)
{
    (void)keyword;
    return lines_of_memory(s, ORDEAL_UNCACHED);
}

static enum ordeal_status fault_line(struct scan *s, const char *keyword)
{
    (void)keyword;
    return lines_of_memory(s, ORDEAL_FAULTING);
}

static enum ordeal_status small_location(struct scan *s, struct place *place)
{
    const char *start = s->p;
    enum ordeal_status status = text_location(s, place);
    if (status == ORDEAL_OK && place->size_log2 > 3)
        return expected(s->r, s->begin, start, "a location of 1, 2, 4 or 8 bytes");
    return status;
}

/* `init A=7 B/8=9` and `final A=7` */
static enum ordeal_status settings(struct scan *s, bool final)
{
    do {
        struct place at;
        uint64_t v = 0;
        enum ordeal_status status = small_location(s, &at);
        if (status == ORDEAL_OK)
            status = text_marked_value(s, '=', at.size_log2, &v);
        if (status == ORDEAL_OK)
            status = final ? ordeal_trace_final(s->t, at.base, at.address, at.size_log2, v)
                           : ordeal_trace_init(s->t, at.base, at.address, at.size_log2, v);
        if (status != ORDEAL_OK)
            return status;
        struct trace_word *word = final ? &s->t->finals.data[s->t->finals.count - 1].word
                                        : &s->t->inits.data[s->t->inits.count - 1].word;
        word->line = text_line_number(s);
    } while (text_another(s));
    return text_line_end(s);
}

static enum ordeal_status init_line(struct scan *s, const char *keyword)
{
    (void)keyword;
    return settings(s, false);
}

static enum ordeal_status final_line(struct scan *s, const char *keyword)
{
    (void)keyword;
    return settings(s, true);
}

static enum ordeal_status order_values(struct scan *s)
{
    assert(s->t->orders.count > 0);
    uint8_t size_log2 = s->t->orders.data[s->t->orders.count - 1].word.size_log2;
    while (text_another(s)) {
        uint64_t v = 0;
        enum ordeal_status status = text_value(s, size_log2, &v);
        if (status == ORDEAL_OK)
            status = trace_order_more(s->t, &v, 1);
        if (status != ORDEAL_OK)
            return status;
    }
    s->order_here = true;
    return text_line_end(s);
}

static enum ordeal_status order_line(struct scan *s, const char *keyword)
{
    (void)keyword;
    struct place at;
    enum ordeal_status status = small_location(s, &at);
    if (status == ORDEAL_OK)
        status = ordeal_trace_order(s->t, at.base, at.address, at.size_log2, NULL, 0);
    if (status != ORDEAL_OK)
        return status;
    s->t->orders.data[s->t->orders.count - 1].word.line = text_line_number(s);
    return order_values(s);
}

static enum ordeal_status more_line(struct scan *s, const char *keyword)
{
    if (!s->order_before)
        return expected(s->r, s->begin, keyword, "an order line before this one");
    assert(s->p > keyword && is_blank(s->p[-1]));
    s->p--; /* the blank before the first value */
    return order_values(s);
}

_Static_assert(ORDEAL_MODELS == 7, "a new model is to be told here, too");
static const struct {
    const char *word, *what;
    enum ordeal_status (*read)(struct scan *s, const char *keyword);
} line_kinds[] = {
    { "model", "a model (SC, TSO, PSO, PC or RMO)", model_line },
    { "atomic", "a number of bytes", atomic_line },
    { "seed", "a number", seed_line },
    { "place", "a name", place_line },
    { "uncached", "a name", uncached_line },
    { "fault", "a name", fault_line },
    { "init", "a location", init_line },
    { "final", "a location", final_line },
    { "order", "a location", order_line },
    { "more", "a value", more_line },
};

enum ordeal_status text_fact(struct scan *s)
{
    const char *start = s->p, *end = start;
    while (*end >= 'a' && *end <= 'z')
        end++;
    for (size_t i = 0; i < sizeof line_kinds / sizeof *line_kinds; i++)
        if (text_same_word(start, (size_t)(end - start), line_kinds[i].word)) {
            s->p = end;
            enum ordeal_status status = text_blank(s, line_kinds[i].what);
            if (status == ORDEAL_OK)
                status = line_kinds[i].read(s, start);
            return status;
        }
    return expected(s->r, s->begin, start, "a thread (P0, P1, …), model, atomic, seed, place, "
                    "uncached, fault, init, final, order, more or ordeal");
}
