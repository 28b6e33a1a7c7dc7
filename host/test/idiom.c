/* SPDX-License-Identifier: Apache-2.0 */
#include "idiom.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "bias.h"
#include "kinds.h"

static const char *const builtin_texts[] = {
#define IDIOM_TEXT(section, field, name, preset, least, most, help, text) text,
    BUILTIN_IDIOMS(IDIOM_TEXT)
#undef IDIOM_TEXT
};
enum { BUILTINS = sizeof builtin_texts / sizeof *builtin_texts,
       FIRST_BUILTIN = BIAS_KEY_COUNT - BUILTINS }; /* the last of the keys */

/* ---- compiling: from a trace to steps ------------------------------------------------------ */

struct compiler {
    struct idiom *x;
    struct ordeal *o;
    struct ordeal_trace *t;
    struct ordeal_error *e;
    LIST(struct idiom_register) registers;
    uint64_t *written;            /* distinct values, IDIOM_MOST_STEPS for each name */
    bool open[IDIOM_MOST_THREADS]; /* the thread is in a transaction */
    uint32_t added;               /* lines put before the text */
};

/* Which of the name's values it is, from 1; 0: none of them. */
static uint16_t value_index(const struct compiler *c, uint32_t name, uint64_t value)
{
    const uint64_t *written = c->written + (size_t)name * IDIOM_MOST_STEPS;
    for (uint32_t i = 0; i < c->x->name[name].values; i++)
        if (written[i] == value)
            return (uint16_t)(i + 1);
    return 0;
}

/* Values are compared by some operations before others write them: hence all are noted first. */
static bool note_values(struct compiler *c)
{
    for (size_t i = 0; i < ordeal_trace_length(c->t); i++) {
        const struct ordeal_op *op = ordeal_trace_op(c->t, i);
        if (!kind_writes(op->kind) || op->size_log2 > 3 || op->base == 0)
            continue;
        uint32_t name = op->base - 1;
        if (op->write == 0)
            return error_bad(c->e, "", op->line, "0 is what memory holds at first; write 1, 2, …");
        if (value_index(c, name, op->write) == 0)
            c->written[(size_t)name * IDIOM_MOST_STEPS + c->x->name[name].values++] = op->write;
    }
    return true;
}

static bool written_before(const struct compiler *c, const struct idiom_step *s)
{
    for (const struct idiom_step *p = c->x->step; p < s; p++)
        if (kind_writes(p->kind) && p->name == s->name && p->value == s->value
            && p->offset < s->offset + (1u << s->size_log2)
            && s->offset < p->offset + (1u << p->size_log2))
            return true;
    return false;
}

static bool locate(struct compiler *c, const struct ordeal_op *op, struct idiom_step *s)
{
    uint32_t bytes = 1u << op->size_log2;
    if (op->base == 0)
        return error_bad(c->e, "", op->line,
                         "an idiom's locations are names (x, y, …), not addresses");
    if (op->size_log2 > 3)
        return error_bad(c->e, "", op->line, "an idiom's accesses are of 1, 2, 4 or 8 bytes");
    if (op->address + bytes > 64)
        return error_bad(c->e, "", op->line,
                         "a name is a line of 64 bytes; the offset goes beyond");
    if (op->flags & ORDEAL_HAS_VALUE)
        return error_bad(c->e, "", op->line, "an idiom is a test: leave out the value read");
    struct idiom_name *n = &c->x->name[op->base - 1];
    s->size_log2 = op->size_log2;
    s->name = (uint8_t)(op->base - 1);
    s->offset = (uint8_t)op->address;
    if (n->bytes < op->address + bytes)
        n->bytes = (uint32_t)op->address + bytes;
    if (c->open[s->thread])
        n->transactional = true;
    else
        n->plain = true;
    c->x->sizes |= kind_is_access(op->kind) ? 1u << op->size_log2 : 0;
    return true;
}

static bool take_values(struct compiler *c, size_t i, const struct ordeal_op *op,
                        struct idiom_step *s)
{
    if (!kind_writes(op->kind))
        return true;
    s->value = value_index(c, s->name, op->write);
    if (ordeal_trace_step_of(c->t, i))
        return error_bad(c->e, "", op->line,
                         "an idiom has no loops, and so nothing to add each time round");
    if (written_before(c, s))
        return error_bad(c->e, "", op->line,
                         "the value %llu is written there already; each is written once",
                         (unsigned long long)op->write);
    if (op->kind != ORDEAL_CAS)
        return true;
    uint64_t compare = ordeal_trace_compare_of(c->t, i);
    if (op->flags & ORDEAL_COMPARE_REGISTER) {
        s->compare_register = (uint32_t)compare;
        return true;
    }
    s->compare = value_index(c, s->name, compare);
    if (compare && !s->compare)
        return error_bad(c->e, "", op->line,
                         "no operation of the idiom writes the value %llu there",
                         (unsigned long long)compare);
    return true;
}

static bool take_registers(struct compiler *c, size_t i, struct idiom_step *s)
{
    struct idiom_register r;
    s->first_register = (uint32_t)c->registers.count;
    for (; ordeal_trace_register_use(c->t, i, s->registers, &r.number, &r.use); s->registers++)
        if (!LIST_PUSH(&c->registers, r))
            return error_out_of_memory(c->e, "");
    return true;
}

/* What the idiom calls Pn, as its n-th thread to appear. */
static bool thread_called(struct compiler *c, const struct ordeal_op *op, uint64_t *thread)
{
    for (uint32_t i = 0; i < c->x->threads; i++)
        if (ordeal_trace_thread_number(c->t, i) == op->write && i != op->thread) {
            *thread = i;
            return true;
        }
    return error_bad(c->e, "", op->line, "P%llu is no other thread of the idiom",
                     (unsigned long long)op->write);
}

static bool compile_step(struct compiler *c, size_t i, struct idiom_step *s)
{
    const struct ordeal_op *op = ordeal_trace_op(c->t, i);
    bool *open = &c->open[op->thread];
    *s = (struct idiom_step){ .kind = op->kind,
                              .barrier = op->barrier,
                              .count = op->write,
                              .thread = (uint8_t)op->thread,
                              .flags = op->flags
                                     & (ORDEAL_NONFAULTING | ORDEAL_COMPARE_REGISTER
                                        | ORDEAL_HAS_LIMIT | ORDEAL_ACQUIRES | ORDEAL_RELEASES) };
    switch (op->kind) {
    case ORDEAL_LOOP_BEGIN: case ORDEAL_LOOP_END:
    case ORDEAL_BRANCH_BEGIN: case ORDEAL_BRANCH_ELSE: case ORDEAL_BRANCH_END:
        return error_bad(c->e, "", op->line, "an idiom has no loops and no branches");
    case ORDEAL_TX_BEGIN:
        if (*open)
            return error_bad(c->e, "", op->line, "a transaction inside a transaction");
        *open = true;
        return true;
    case ORDEAL_TX_END: case ORDEAL_TX_ABORT:
        if (!*open)
            return error_bad(c->e, "", op->line, "the end of a transaction that did not begin");
        *open = false;
        return true;
    case ORDEAL_INTERRUPT:
        c->x->length[op->thread]++;
        return thread_called(c, op, &s->count);
    default:
        c->x->length[op->thread]++;
        return (!kind_has_location(op->kind) || locate(c, op, s)) && take_values(c, i, op, s)
            && take_registers(c, i, s);
    }
}

/* The writer says facts in lines of their own, before the operations: "init A=7". */
static bool only_operations(struct compiler *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = text_stream(&text, &size);
    bool good = f && ordeal_write_text(c->t, f) == ORDEAL_OK;
    if (f)
        good = fclose(f) == 0 && good;
    if (!good) {
        free(text);
        return error_out_of_memory(c->e, "");
    }
    const char *fact = strchr(text, '\n');
    if (fact && fact[1] && fact[1] != 'P')
        good = error_bad(c->e, "", 0, "an idiom has operations only, not '%.*s'",
                         (int)strcspn(fact + 1, " \n"), fact + 1);
    free(text);
    return good;
}

static bool compile(struct compiler *c)
{
    struct idiom *x = c->x;
    size_t steps = ordeal_trace_length(c->t);
    x->threads = ordeal_trace_threads(c->t);
    x->names = ordeal_trace_names(c->t);
    if (!only_operations(c))
        return false;
    if (steps == 0)
        return error_bad(c->e, "", 0, "the idiom has no operations");
    if (steps > IDIOM_MOST_STEPS || x->threads > IDIOM_MOST_THREADS || x->names > IDIOM_MOST_NAMES)
        return error_bad(c->e, "", 0, "an idiom has at most %d lines, %d threads and %d names",
                         IDIOM_MOST_STEPS, IDIOM_MOST_THREADS, IDIOM_MOST_NAMES);
    x->step = calloc(steps, sizeof *x->step);
    c->written = calloc((size_t)x->names * IDIOM_MOST_STEPS + 1, sizeof *c->written);
    if (!x->step || !c->written)
        return error_out_of_memory(c->e, "");
    if (!note_values(c))
        return false;
    for (; x->steps < steps; x->steps++)
        if (!compile_step(c, x->steps, &x->step[x->steps]))
            return false;
    for (uint32_t i = 0; i < x->threads; i++) {
        if (c->open[i])
            return error_bad(c->e, "", 0, "a transaction of P%u does not end",
                             ordeal_trace_thread_number(c->t, i));
        x->longest = x->length[i] > x->longest ? x->length[i] : x->longest;
    }
    return true;
}

/* As the idiom calls them, for those who place them. */
static bool keep_names(struct compiler *c)
{
    struct idiom *x = c->x;
    size_t size = 0;
    FILE *f = text_stream(&x->names_text, &size);
    for (uint32_t base = 1; f && base <= x->names; base++)
        fprintf(f, "%s ", ordeal_trace_name_text(c->t, base));
    return (f && fclose(f) == 0) || error_out_of_memory(c->e, "");
}

/* The text as the reader takes it: with its first line, which idioms may leave out. */
static char *whole_text(struct compiler *c, const char *text)
{
    char *whole;
    c->added = strncmp(text + strspn(text, " \t\n"), "ordeal", 6) != 0;
    return asprintf(&whole, "%s%s", c->added ? "ordeal 1\n" : "", text) < 0 ? NULL : whole;
}

static bool read_trace(struct compiler *c, const char *text)
{
    char *whole = whole_text(c, text);
    FILE *f = whole ? fmemopen(whole, strlen(whole), "r") : NULL;
    struct ordeal_reader *r = f ? ordeal_reader_new(c->o, f, "", ORDEAL_FORMAT_TEXT) : NULL;
    struct ordeal_trace *second = NULL;
    enum ordeal_status status = r ? ordeal_reader_next(r, &c->t) : ORDEAL_NO_MEMORY;
    if (status == ORDEAL_OK && ordeal_reader_next(r, &second) == ORDEAL_OK)
        status = ORDEAL_END;
    if (status == ORDEAL_NO_MEMORY)
        error_out_of_memory(c->e, "");
    else if (status == ORDEAL_END)
        error_bad(c->e, "", 0, "an idiom is one test");
    else if (status != ORDEAL_OK)
        *c->e = *ordeal_last_error(c->o);
    ordeal_trace_free(second);
    ordeal_reader_free(r);
    if (f)
        fclose(f);
    free(whole);
    return status == ORDEAL_OK;
}

bool idiom_compile(struct idiom *x, const char *text, struct ordeal_error *e)
{
    struct compiler c = { .x = x, .e = e, .o = ordeal_new(NULL) };
    *x = (struct idiom){ 0 };
    *e = (struct ordeal_error){ 0 };
    bool good = c.o ? read_trace(&c, text) && compile(&c) && keep_names(&c)
                    : error_out_of_memory(e, "");
    if (!good && e->line > c.added)
        e->line -= c.added;
    x->registers = c.registers.data;
    x->register_count = (uint32_t)c.registers.count;
    free(c.written);
    ordeal_trace_free(c.t);
    ordeal_free(c.o);
    if (!good)
        idiom_free(x);
    return good;
}

void idiom_free(struct idiom *x)
{
    free(x->step);
    free(x->registers);
    free(x->names_text);
    *x = (struct idiom){ 0 };
}

bool idiom_is_wide(const struct idiom *x, uint32_t word_bytes)
{
    for (uint32_t n = 0; n < x->names; n++)
        if (x->name[n].bytes > word_bytes)
            return true;
    return false;
}

/* ---- placement ----------------------------------------------------------------------------- */

const char *const idiom_place_keys[IDIOM_PLACES + 1] = { "uncached", "one_line", "one_set", "apart",
                                                         NULL };

/* Which of the names it is; x->names: none. */
static uint32_t find_name(const struct idiom *x, const char *word, size_t length)
{
    uint32_t n = 0;
    for (const char *name = x->names_text; *name; name = strchr(name, ' ') + 1, n++)
        if (strcspn(name, " ") == length && strncmp(name, word, length) == 0)
            return n;
    return n;
}

/* Names in one line cannot be in different ones, nor can uncached ones be in a set of a cache. */
static bool places_agree(const struct idiom *x, enum idiom_place place, struct ordeal_error *e)
{
    for (uint32_t n = 0; n < x->names; n++)
        if (x->name[n].placed[IDIOM_UNCACHED] && x->name[n].placed[IDIOM_ONE_SET])
            return error_bad(e, "", 0,
                             "%s: one of its names is in uncached, or in a line of one, and in "
                             "one_set, and what is uncached is in no set",
                             idiom_place_keys[place]);
    for (int other = IDIOM_ONE_SET; other < IDIOM_PLACES; other++) {
        uint32_t both = 0;
        for (uint32_t n = 0; n < x->names; n++)
            both += x->name[n].placed[IDIOM_ONE_LINE] && x->name[n].placed[other];
        if (both > 1)
            return error_bad(e, "", 0,
                             "%s: two of its names are in one_line and in %s, which "
                             "means different lines",
                             idiom_place_keys[place], idiom_place_keys[other]);
    }
    return true;
}

/* All of one line are uncached if one of them is. */
static void spread_uncached(struct idiom *x)
{
    bool any = false;
    for (uint32_t n = 0; n < x->names; n++)
        any |= x->name[n].placed[IDIOM_UNCACHED] && x->name[n].placed[IDIOM_ONE_LINE];
    for (uint32_t n = 0; n < x->names && any; n++)
        if (x->name[n].placed[IDIOM_ONE_LINE] && !x->name[n].placed[IDIOM_UNCACHED]) {
            x->name[n].placed[IDIOM_UNCACHED] = true;
            x->placed[IDIOM_UNCACHED]++;
        }
}

bool idiom_place(struct idiom *x, enum idiom_place place, const char *names, struct ordeal_error *e)
{
    const char *key = idiom_place_keys[place];
    while (*(names += strspn(names, " \t")) != '\0') {
        size_t length = strcspn(names, " \t");
        uint32_t n = find_name(x, names, length);
        if (n == x->names)
            return error_bad(e, "", 0, "%s = … %.*s: its test has no such name; it has %s", key,
                             (int)length, names, x->names_text);
        if (x->name[n].placed[place])
            return error_bad(e, "", 0, "%s = … %.*s: the name is there twice", key, (int)length,
                             names);
        x->name[n].placed[place] = true;
        x->placed[place]++;
        x->is_placed = true;
        names += length;
    }
    if (x->placed[place] == 1 && place != IDIOM_UNCACHED)
        return error_bad(e, "", 0, "%s: it takes two names or more", key);
    spread_uncached(x);
    return places_agree(x, place, e);
}

/* ---- the idioms of a bias --------------------------------------------------------------- */

static bool compile_builtin(struct idiom *x, uint32_t i, struct ordeal_error *e)
{
    if (!idiom_compile(x, builtin_texts[i], e))
        return false;
    x->slot = FIRST_BUILTIN + i;
    snprintf(x->called, sizeof x->called, "idioms.%s", bias_keys[x->slot].name);
    return true;
}

static bool place_own(struct idiom *x, const struct bias_idiom *own, struct ordeal_error *e)
{
    for (int place = 0; place < IDIOM_PLACES; place++)
        if (own->place[place] && !idiom_place(x, place, own->place[place], e)) {
            struct ordeal_error inner = *e;
            idiom_free(x);
            return bias_refuse(e, &own->place_at[place], "idiom %s.%s", own->name, inner.reason);
        }
    return true;
}

static bool compile_own(struct idiom *x, const struct bias *b, uint32_t i, struct ordeal_error *e)
{
    const struct bias_idiom *own = &b->idioms.data[i];
    if (!own->text)
        return bias_refuse(e, &own->section, "idiom %s has no test; give 'test = …' in the test "
                           "notation, or 'file = …'", own->name);
    if (!own->weight_at.reading)
        return bias_refuse(e, &own->section, "idiom %s has no weight; give 'weight = …', 0 to %d",
                           own->name, MOST_WEIGHT);
    if (!idiom_compile(x, own->text, e)) {
        struct ordeal_error inner = *e;
        struct bias_origin where = own->text_at;
        if (where.line && inner.line)
            where.line += (uint32_t)inner.line - 1;
        bias_refuse(e, &where, "idiom %s: %s", own->name, inner.reason);
        e->column = inner.column;
        e->status = inner.status;
        return false;
    }
    snprintf(x->called, sizeof x->called, "idiom %s.weight", own->name);
    x->slot = BIAS_KEY_COUNT + i;
    return place_own(x, own, e);
}

static bool may_have_weight(const struct bias *b, uint32_t slot)
{
    bool may = b->values[slot];
    for (size_t i = 0; i < b->profiles.count && !may; i++)
        for (size_t k = 0; k < b->profiles.data[i].varies.count; k++)
            may |= b->profiles.data[i].varies.data[k].slot == slot;
    return may;
}

void idioms_weigh(struct idiom_list *list, const struct bias *b)
{
    list->count = 0;
    for (size_t i = 0; i < list->all_count; i++) {
        struct idiom *x = &list->all[i];
        x->weight = bias_value(b, x->slot);
        if (x->weight)
            list->data[list->count++] = x;
    }
}

bool idioms_of_bias(struct idiom_list *list, const struct bias *b, struct ordeal_error *e)
{
    size_t most = BUILTINS + b->idioms.count;
    *list = (struct idiom_list){ .all = calloc(most, sizeof *list->all),
                                 .data = calloc(most, sizeof *list->data) };
    bool good = list->all && list->data;
    if (!good)
        bias_refuse(e, NULL, "out of memory");
    for (uint32_t i = 0; good && i < BUILTINS; i++)
        if (may_have_weight(b, FIRST_BUILTIN + i)) {
            good = compile_builtin(&list->all[list->all_count], i, e);
            list->all_count += good;
        }
    for (uint32_t i = 0; good && i < b->idioms.count; i++) {
        good = compile_own(&list->all[list->all_count], b, i, e);
        list->all_count += good;
    }
    if (good)
        idioms_weigh(list, b);
    else
        idioms_free(list);
    return good;
}

void idioms_free(struct idiom_list *list)
{
    for (size_t i = 0; i < list->all_count; i++)
        idiom_free(&list->all[i]);
    free(list->all);
    free(list->data);
    *list = (struct idiom_list){ 0 };
}
