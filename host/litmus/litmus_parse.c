/* SPDX-License-Identifier: Apache-2.0 */
/* A file of herd7's format: architecture and name, whatever else stands before '{', initial state,
 * columns of instructions, and what is asked of the final state. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "litmus/litmus_condition.h"
#include "litmus/litmus_machine.h"

struct label {
    struct litmus_token name;
    uint32_t thread, instruction; /* where it stands, or who jumps there */
};

/* Of a register, before it is known which threads there are. */
struct setting {
    uint32_t thread, reg;
    uint64_t value;
    bool narrow, is_unsigned, has_value;
    struct litmus_place place;
};

struct reader {
    struct litmus_lexer l;
    struct litmus *test;
    LIST(struct label) labels, jumps;
    LIST(struct setting) settings;
};

/* ---- before the initial state ------------------------------------------------------------- */

static bool read_arch(struct reader *r)
{
    static const char *const archs[LITMUS_ARCHS] = { "RISCV", "X86", "X86_64" };
    struct litmus_lexer *l = &r->l;
    if (!litmus_next(l))
        return false;
    for (int a = 0; a < LITMUS_ARCHS; a++)
        if (litmus_is(&l->token, archs[a])) {
            r->test->arch = (enum litmus_arch)a;
            return true;
        }
    return litmus_expected(l, "RISCV, X86 or X86_64, the architecture of a litmus test");
}

static bool read_name(struct reader *r)
{
    const char *name;
    size_t length;
    struct litmus_place place = r->l.place;
    litmus_rest_of_line(&r->l, &name, &length);
    if (!length)
        return litmus_refuse(&r->l, place, "expected the name of the test");
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ')
            return litmus_refuse(&r->l, place, "the name has a control character");
    r->test->name = strndup(name, length);
    return r->test->name || error_out_of_memory(r->l.error, r->l.file);
}

/* A text in quotation marks, lines key=value. */
static bool read_head(struct reader *r)
{
    struct litmus_lexer *l = &r->l;
    for (;;) {
        const char *line;
        size_t length;
        if (!litmus_skip(l))
            return false;
        struct litmus_place place = l->place;
        if (l->text == l->end)
            return litmus_refuse(l, place, "expected '{' and the initial state, but the file ends");
        if (*l->text == '{')
            return litmus_next(l);
        if (*l->text == '"') {
            if (!litmus_skip_string(l))
                return false;
            continue;
        }
        litmus_rest_of_line(l, &line, &length);
        if (!memchr(line, '=', length))
            return litmus_refuse(l, place, "expected '{', a text in quotation marks or key=value");
    }
}

/* ---- the initial state -------------------------------------------------------------------- */

/* clang-format off */
static const struct type {
    const char *name;
    uint8_t size_log2;
    bool is_unsigned;
} types[] = {
    { "char", 0, false },    { "int8_t", 0, false },   { "uint8_t", 0, true },
    { "short", 1, false },   { "int16_t", 1, false },  { "uint16_t", 1, true },
    { "int", 2, false },     { "int32_t", 2, false },  { "uint32_t", 2, true },
    { "long", 3, false },    { "int64_t", 3, false },  { "uint64_t", 3, true },
    { "intptr_t", 3, false }, { "uintptr_t", 3, true },
};
/* clang-format on */

static const struct type *find_type(const struct litmus_token *t)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (litmus_is(t, types[i].name))
            return &types[i];
    return NULL;
}

/* A name with another name, a number or '*' behind it. */
static bool read_type(struct reader *r, const struct type **type)
{
    static const struct type pointer = { "*", 3, true };
    struct litmus_lexer *l = &r->l, ahead;
    *type = NULL;
    if (litmus_is(&l->token, "_Atomic") && !litmus_next(l))
        return false;
    if (l->token.kind == LITMUS_NAME) {
        ahead = *l;
        if (!litmus_next(&ahead))
            return false;
        bool typed = ahead.token.kind == LITMUS_NAME || ahead.token.kind == LITMUS_LITERAL
                  || litmus_at(&ahead, '*');
        if (typed && !(*type = find_type(&l->token)))
            return litmus_expected(l, "a type, as int or uint64_t");
        if (typed)
            *l = ahead;
    }
    if (!litmus_at(l, '*'))
        return true;
    *type = &pointer;
    return litmus_next(l);
}

static bool set_location(struct reader *r, uint32_t number, const struct type *type, bool has_value,
                         uint64_t value, struct litmus_place place)
{
    struct litmus_location *to = &r->test->locations.data[number];
    if ((to->is_set && has_value) || (to->typed && type))
        return litmus_refuse(&r->l, place, "'%s' is set twice", to->name);
    to->initial = has_value ? value : to->initial;
    to->is_set |= has_value;
    to->typed |= type != NULL;
    if (type) {
        to->size_log2 = type->size_log2;
        to->is_unsigned = type->is_unsigned;
    }
    return true;
}

static bool set_register(struct reader *r, const struct setting *fresh)
{
    for (size_t i = 0; i < r->settings.count; i++) {
        const struct setting *old = &r->settings.data[i];
        if (old->thread == fresh->thread && old->reg == fresh->reg && old->has_value
            && fresh->has_value)
            return litmus_refuse(&r->l, fresh->place, "this register is set twice");
    }
    return LIST_PUSH(&r->settings, *fresh) || error_out_of_memory(r->l.error, r->l.file);
}

/* What is behind a place: "= 5", "= x", "= &x", or nothing. */
static bool read_initial(struct reader *r, bool *has_value, uint64_t *value)
{
    struct litmus_lexer *l = &r->l;
    *value = 0;
    *has_value = litmus_at(l, '=');
    if (!*has_value)
        return true;
    if (!litmus_next(l) || (litmus_at(l, '&') && !litmus_next(l)))
        return false;
    if (litmus_at(l, '{'))
        return litmus_refuse(l, l->token.place, "arrays are not read");
    return litmus_value_read(l, r->test, value);
}

/* A register or a location, which is no variable of the condition for that. */
static bool read_place(struct reader *r, struct litmus_variable *v)
{
    uint32_t number;
    if (!litmus_variable_read(&r->l, r->test, false, &number))
        return false;
    *v = r->test->variables.data[number];
    r->test->variables.count = 0;
    return true;
}

static bool read_setting(struct reader *r)
{
    const struct type *type;
    struct litmus_variable v;
    struct litmus_place place;
    bool has_value;
    uint64_t value;
    if (!read_type(r, &type))
        return false;
    place = r->l.token.place;
    if (!read_place(r, &v) || !read_initial(r, &has_value, &value))
        return false;
    if (v.thread == LITMUS_THREADS)
        return set_location(r, v.number, type, has_value, value, place);
    struct setting s = { .thread = v.thread,
                         .reg = v.number,
                         .value = value,
                         .narrow = v.narrow,
                         .is_unsigned = type && type->is_unsigned,
                         .has_value = has_value,
                         .place = place };
    if (v.number == 0 && r->test->arch == LITMUS_RISCV && value)
        return litmus_refuse(&r->l, place, "register x0 is always 0");
    return set_register(r, &s);
}

static bool read_init(struct reader *r)
{
    struct litmus_lexer *l = &r->l;
    if (!litmus_take(l, '{', "'{'"))
        return false;
    while (!litmus_at(l, '}')) {
        if (litmus_at(l, ';')) {
            if (!litmus_next(l))
                return false;
            continue;
        }
        if (!read_setting(r))
            return false;
        if (!litmus_at(l, ';') && !litmus_at(l, '}'))
            return litmus_expected(l, "';' or '}'");
    }
    return litmus_next(l);
}

static bool apply_settings(struct reader *r)
{
    for (size_t i = 0; i < r->settings.count; i++) {
        const struct setting *s = &r->settings.data[i];
        if (s->thread >= r->test->threads)
            return litmus_refuse(&r->l, s->place, "there is no thread %u", s->thread);
        uint64_t value = s->narrow ? litmus_cut(s->value, 2) : s->value;
        r->test->thread[s->thread].initial[s->reg] |= value;
    }
    return true;
}

/* ---- columns of instructions --------------------------------------------------------------- */

static bool read_processors(struct reader *r)
{
    struct litmus_lexer *l = &r->l;
    struct litmus *test = r->test;
    do {
        char expected[24];
        snprintf(expected, sizeof expected, "P%u", test->threads);
        if (test->threads == LITMUS_THREADS)
            return litmus_refuse(l, l->token.place, "a test has at most %d threads",
                                 LITMUS_THREADS);
        if (!litmus_is(&l->token, expected)) {
            snprintf(expected, sizeof expected, "'P%u'", test->threads);
            return litmus_expected(l, expected);
        }
        test->threads++;
        if (!litmus_next(l))
            return false;
    } while (litmus_at(l, '|') && litmus_next(l));
    if (!litmus_take(l, ';', "'|' or ';'"))
        return false;
    test->thread = calloc(test->threads, sizeof *test->thread);
    return test->thread || error_out_of_memory(l->error, l->file);
}

static bool find_label(const struct reader *r, uint32_t thread, const struct litmus_token *name,
                       uint32_t *instruction)
{
    for (size_t i = 0; i < r->labels.count; i++) {
        const struct label *at = &r->labels.data[i];
        if (at->thread == thread && at->name.length == name->length
            && strncmp(at->name.text, name->text, name->length) == 0) {
            *instruction = at->instruction;
            return true;
        }
    }
    return false;
}

/* "LC00:", as many as there are. */
static bool read_labels(struct reader *r, uint32_t thread)
{
    struct litmus_lexer *l = &r->l;
    while (l->token.kind == LITMUS_NAME) {
        struct litmus_lexer ahead = *l;
        struct label fresh = { l->token, thread, (uint32_t)r->test->thread[thread].code.count };
        uint32_t old;
        if (!litmus_next(&ahead))
            return false;
        if (!litmus_at(&ahead, ':'))
            return true;
        if (find_label(r, thread, &fresh.name, &old))
            return litmus_refuse(l, l->token.place, "thread %u has this label twice", thread);
        *l = ahead;
        if (!LIST_PUSH(&r->labels, fresh))
            return error_out_of_memory(l->error, l->file);
        if (!litmus_next(l))
            return false;
    }
    return true;
}

static bool read_cell(struct reader *r, uint32_t thread)
{
    struct litmus_lexer *l = &r->l;
    if (!read_labels(r, thread))
        return false;
    if (litmus_at(l, '|') || litmus_at(l, ';'))
        return true;
    struct litmus_instruction i = { .place = l->token.place };
    struct litmus_token label = { .kind = LITMUS_END };
    bool read = r->test->arch == LITMUS_RISCV ? litmus_riscv_read(l, r->test, &i, &label)
                                              : litmus_x86_read(l, r->test, &i, &label);
    if (!read)
        return false;
    struct label jump = { label, thread, (uint32_t)r->test->thread[thread].code.count };
    if (!LIST_PUSH(&r->test->thread[thread].code, i)
        || (label.kind != LITMUS_END && !LIST_PUSH(&r->jumps, jump)))
        return error_out_of_memory(l->error, l->file);
    return true;
}

static bool read_row(struct reader *r)
{
    struct litmus_lexer *l = &r->l;
    for (uint32_t thread = 0; thread < r->test->threads; thread++) {
        bool last = thread + 1 == r->test->threads;
        if (!read_cell(r, thread))
            return false;
        if (!last && litmus_at(l, ';'))
            return litmus_refuse(l, l->token.place,
                                 "this row has %u columns, and there are %u "
                                 "threads",
                                 thread + 1, r->test->threads);
        if (!litmus_take(l, last ? ';' : '|',
                         last ? "';' at the end of the instruction"
                              : "'|' at the end of the instruction"))
            return false;
    }
    return true;
}

/* Does what is asked of the final state begin here? */
static bool ends_code(const struct litmus_lexer *l)
{
    static const char *const words[] = { "exists", "forall",   "locations", "filter", "final",
                                         "not",    "observed", "Observed",  "with" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (litmus_is(&l->token, words[i])) {
            struct litmus_lexer ahead = *l;
            struct ordeal_error none;
            ahead.error = &none;
            return i >= 5 || !litmus_next(&ahead) || !litmus_at(&ahead, ':');
        }
    return l->token.kind == LITMUS_END || litmus_at(l, '~');
}

static bool read_code(struct reader *r)
{
    struct litmus_lexer *l = &r->l;
    if (litmus_at(l, ';') && !litmus_next(l))
        return false;
    if (!read_processors(r))
        return false;
    while (!ends_code(l))
        if (!read_row(r))
            return false;
    for (size_t i = 0; i < r->jumps.count; i++) {
        const struct label *jump = &r->jumps.data[i];
        struct litmus_instruction *from =
            &r->test->thread[jump->thread].code.data[jump->instruction];
        if (!find_label(r, jump->thread, &jump->name, &from->target))
            return litmus_refuse(l, jump->name.place, "thread %u has no label '%.*s'", jump->thread,
                                 (int)jump->name.length, jump->name.text);
    }
    return true;
}

/* ---- what is asked ------------------------------------------------------------------------ */

/* "locations [x; 0:x5;]" */
static bool read_locations(struct reader *r)
{
    struct litmus_lexer *l = &r->l;
    uint32_t variable;
    if (!litmus_next(l) || !litmus_take(l, '[', "'['"))
        return false;
    while (!litmus_at(l, ']')) {
        if (!litmus_variable_read(l, r->test, true, &variable))
            return false;
        if (l->token.kind == LITMUS_NAME && (!find_type(&l->token) || !litmus_next(l)))
            return litmus_expected(l, "a type, ';' or ']'");
        if (!litmus_at(l, ']') && !litmus_take(l, ';', "';' or ']'"))
            return false;
    }
    return litmus_next(l);
}

static bool read_quantifier(struct reader *r)
{
    struct litmus_lexer *l = &r->l;
    bool negated = litmus_at(l, '~') || litmus_is(&l->token, "not");
    if (negated && !litmus_next(l))
        return false;
    bool exists = litmus_is(&l->token, "exists") || (!negated && litmus_is(&l->token, "final"));
    if (!exists && (negated || !litmus_is(&l->token, "forall")))
        return litmus_expected(l, negated ? "exists" : "exists, ~exists or forall");
    r->test->quantifier = !exists ? LITMUS_FORALL : negated ? LITMUS_NOT_EXISTS : LITMUS_EXISTS;
    return litmus_next(l);
}

static bool read_asked(struct reader *r)
{
    struct litmus_lexer *l = &r->l;
    struct litmus *test = r->test;
    if (litmus_is(&l->token, "locations") && !read_locations(r))
        return false;
    if (litmus_is(&l->token, "filter")
        && (!litmus_next(l) || !litmus_condition_read(l, test, false, &test->filter)))
        return false;
    if (l->token.kind == LITMUS_END) { /* nothing is asked: of all states that it is one */
        test->quantifier = LITMUS_FORALL;
        test->condition = (uint32_t)test->nodes.count;
        return LIST_PUSH(&test->nodes, ((struct litmus_node){ .kind = LITMUS_TRUE }))
            || error_out_of_memory(l->error, l->file);
    }
    if (!read_quantifier(r) || !litmus_condition_read(l, test, true, &test->condition))
        return false;
    if (litmus_at(l, ';') && !litmus_next(l))
        return false;
    return l->token.kind == LITMUS_END || litmus_expected(l, "the end of the file");
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* Registers that are compared as narrow or unsigned ones. */
static void type_variables(struct reader *r)
{
    for (size_t i = 0; i < r->settings.count; i++)
        for (size_t k = 0; k < r->test->variables.count; k++) {
            const struct setting *s = &r->settings.data[i];
            struct litmus_variable *v = &r->test->variables.data[k];
            v->is_unsigned |= s->thread == v->thread && s->reg == v->number && s->is_unsigned;
        }
}

bool litmus_read(struct litmus *test, const char *text, size_t length, const char *file,
                 struct ordeal_error *e)
{
    struct reader r = { .test = test };
    *test = (struct litmus){ .filter = LITMUS_NOWHERE, .outcome = LITMUS_NOWHERE };
    r.l = (struct litmus_lexer){
        .text = text, .end = text + length, .file = file, .place = { 1, 1 }, .error = e
    };
    bool fine = read_arch(&r) && read_name(&r) && read_head(&r) && read_init(&r) && read_code(&r)
             && apply_settings(&r) && read_asked(&r);
    if (fine)
        type_variables(&r);
    LIST_FREE(&r.labels);
    LIST_FREE(&r.jumps);
    LIST_FREE(&r.settings);
    return fine;
}

bool litmus_read_outcome(struct litmus *test, const char *text, struct ordeal_error *e)
{
    struct litmus_lexer l = {
        .text = text, .end = text + strlen(text), .file = "--outcome", .place = { 1, 1 }, .error = e
    };
    size_t locations = test->locations.count, nodes = test->nodes.count;
    if (!litmus_next(&l) || !litmus_condition_read(&l, test, false, &test->outcome))
        return false;
    if (l.token.kind != LITMUS_END)
        return litmus_expected(&l, "the end");
    if (test->locations.count > locations)
        return litmus_refuse(&l, (struct litmus_place){ 1, 1 }, "the test has no location '%s'",
                             test->locations.data[locations].name);
    for (size_t i = nodes; i < test->nodes.count; i++) {
        const struct litmus_node *n = &test->nodes.data[i];
        if (n->kind == LITMUS_EQUALS || n->kind == LITMUS_SAME)
            test->variables.data[n->left].keyed = true;
        if (n->kind == LITMUS_SAME)
            test->variables.data[n->right].keyed = true;
    }
    return true;
}

void litmus_free(struct litmus *test)
{
    for (uint32_t t = 0; test->thread && t < test->threads; t++)
        LIST_FREE(&test->thread[t].code);
    for (size_t i = 0; i < test->locations.count; i++)
        free(test->locations.data[i].name);
    LIST_FREE(&test->locations);
    LIST_FREE(&test->variables);
    LIST_FREE(&test->nodes);
    free(test->thread);
    free(test->name);
    *test = (struct litmus){ 0 };
}
