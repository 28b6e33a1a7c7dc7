/* SPDX-License-Identifier: Apache-2.0 */
#include "litmus/litmus_condition.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "litmus/litmus_machine.h"

/* Parentheses and `not` may stand in one another so often. */
enum { DEEPEST = 200 };

/* ---- variables --------------------------------------------------------------------------- */

bool litmus_variable_enter(struct litmus_lexer *l, struct litmus *test, struct litmus_variable v,
                           uint32_t *number)
{
    for (uint32_t i = 0; i < test->variables.count; i++) {
        struct litmus_variable *old = &test->variables.data[i];
        if (old->thread == v.thread && old->number == v.number) {
            old->shown |= v.shown;
            old->keyed |= v.keyed;
            *number = i;
            return true;
        }
    }
    *number = (uint32_t)test->variables.count;
    return LIST_PUSH(&test->variables, v) || error_out_of_memory(l->error, l->file);
}

bool litmus_location_enter(struct litmus_lexer *l, struct litmus *test,
                           const struct litmus_token *name, uint32_t *number)
{
    for (uint32_t i = 0; i < test->locations.count; i++)
        if (litmus_is(name, test->locations.data[i].name)) {
            *number = i;
            return true;
        }
    if (name->length > 200)
        return litmus_refuse(l, name->place, "this name is longer than 200 characters");
    if (test->locations.count == LITMUS_LOCATIONS)
        return litmus_refuse(l, name->place, "a test has at most %d locations", LITMUS_LOCATIONS);
    struct litmus_location fresh = { .name = strndup(name->text, name->length), .size_log2 = 2 };
    *number = (uint32_t)test->locations.count;
    if (fresh.name && LIST_PUSH(&test->locations, fresh))
        return true;
    free(fresh.name);
    return error_out_of_memory(l->error, l->file);
}

static bool read_thread(struct litmus_lexer *l, uint32_t *thread)
{
    const struct litmus_token *t = &l->token;
    if (t->kind == LITMUS_LITERAL && t->number < LITMUS_THREADS) {
        *thread = (uint32_t)t->number;
        return litmus_next(l);
    }
    return litmus_expected(l, "the number of a thread");
}

/* "0:x5": the thread was read. */
static bool read_register(struct litmus_lexer *l, struct litmus *test, struct litmus_variable *v)
{
    uint8_t size = 3;
    if (!litmus_take(l, ':', "':' between a thread and its register"))
        return false;
    if (litmus_at(l, '%') && !litmus_next(l))
        return false;
    v->number = litmus_register_find(test->arch, &l->token, &size);
    if (v->number == LITMUS_NO_REGISTER)
        return litmus_expected(l, "a register");
    v->narrow = test->arch != LITMUS_RISCV && size == 2;
    return litmus_next(l);
}

bool litmus_variable_read(struct litmus_lexer *l, struct litmus *test, bool shown, uint32_t *number)
{
    struct litmus_variable v = { .thread = LITMUS_THREADS, .shown = shown, .keyed = shown };
    bool bracket = litmus_at(l, '[');
    if (bracket && !litmus_next(l))
        return false;
    if (!bracket && l->token.kind == LITMUS_LITERAL) {
        if (!read_thread(l, &v.thread) || !read_register(l, test, &v))
            return false;
        if (test->thread && v.thread >= test->threads)
            return litmus_refuse(l, l->token.place, "there is no thread %u", v.thread);
        return litmus_variable_enter(l, test, v, number);
    }
    struct litmus_token name = l->token;
    if (name.kind != LITMUS_NAME)
        return litmus_expected(l, "a register, as 0:x5, or a location");
    if (!litmus_next(l) || !litmus_location_enter(l, test, &name, &v.number))
        return false;
    if (bracket && !litmus_take(l, ']', "']'"))
        return false;
    if (litmus_at(l, '['))
        return litmus_refuse(l, name.place, "arrays are not read, and '%.*s' is one",
                             (int)name.length, name.text);
    return litmus_variable_enter(l, test, v, number);
}

bool litmus_value_read(struct litmus_lexer *l, struct litmus *test, uint64_t *value)
{
    struct litmus_token t = l->token;
    uint32_t location;
    if (t.kind == LITMUS_LITERAL) {
        *value = t.number;
        if (*value >= LITMUS_ADDRESS && *value < litmus_address_of(LITMUS_LOCATIONS))
            return litmus_refuse(l, t.place, "numbers from 0x%" PRIx64 " on stand for addresses",
                                 litmus_address_of(0));
        return litmus_next(l);
    }
    if (t.kind != LITMUS_NAME)
        return litmus_expected(l, "a number or a location");
    if (!litmus_next(l) || !litmus_location_enter(l, test, &t, &location))
        return false;
    *value = litmus_address_of(location);
    return true;
}

/* ---- conditions -------------------------------------------------------------------------- */

static bool add_node(struct litmus_lexer *l, struct litmus *test, struct litmus_node node,
                     uint32_t *number)
{
    *number = (uint32_t)test->nodes.count;
    return LIST_PUSH(&test->nodes, node) || error_out_of_memory(l->error, l->file);
}

static bool read_right(struct litmus_lexer *l, struct litmus *test, bool shown,
                       struct litmus_node *atom)
{
    if (litmus_at(l, '[')) {
        atom->kind = LITMUS_SAME;
        return litmus_variable_read(l, test, shown, &atom->right);
    }
    struct litmus_lexer back = *l;
    bool number = l->token.kind == LITMUS_LITERAL;
    if (!litmus_value_read(l, test, &atom->value))
        return false;
    if (!number || !litmus_at(l, ':'))
        return true;
    *l = back; /* a register after all */
    atom->kind = LITMUS_SAME;
    return litmus_variable_read(l, test, shown, &atom->right);
}

static bool read_atom(struct litmus_lexer *l, struct litmus *test, bool shown, uint32_t *node)
{
    struct litmus_node atom = { .kind = LITMUS_EQUALS };
    if (!litmus_variable_read(l, test, shown, &atom.left))
        return false;
    bool unequal = litmus_at(l, LITMUS_SYMBOL_UNEQUAL);
    if (!unequal && !litmus_at(l, '='))
        return litmus_expected(l, "'=' and a value");
    if (!litmus_next(l) || !read_right(l, test, shown, &atom) || !add_node(l, test, atom, node))
        return false;
    return !unequal
        || add_node(l, test, (struct litmus_node){ .kind = LITMUS_NOT, .left = *node }, node);
}

struct depth {
    bool shown;
    unsigned depth;
};

static bool read_level(struct litmus_lexer *l, struct litmus *test, struct depth d, unsigned level,
                       uint32_t *node);

static bool read_constant(struct litmus_lexer *l, struct litmus *test, uint32_t *node)
{
    struct litmus_node n = { .kind = litmus_is(&l->token, "true") ? LITMUS_TRUE : LITMUS_FALSE };
    return litmus_next(l) && add_node(l, test, n, node);
}

static bool read_unary(struct litmus_lexer *l, struct litmus *test, struct depth d, uint32_t *node)
{
    if (++d.depth > DEEPEST)
        return litmus_refuse(l, l->token.place, "this condition is nested more than %d deep",
                             DEEPEST);
    if (litmus_at(l, '~') || litmus_is(&l->token, "not")) {
        struct litmus_node n = { .kind = LITMUS_NOT };
        return litmus_next(l) && read_unary(l, test, d, &n.left) && add_node(l, test, n, node);
    }
    if (litmus_at(l, '('))
        return litmus_next(l) && read_level(l, test, d, 0, node) && litmus_take(l, ')', "')'");
    if (litmus_is(&l->token, "true") || litmus_is(&l->token, "false"))
        return read_constant(l, test, node);
    return read_atom(l, test, d.shown, node);
}

/* As herd7 has it: => binds closest and to the right, then /\, then \/. */
static bool read_level(struct litmus_lexer *l, struct litmus *test, struct depth d, unsigned level,
                       uint32_t *node)
{
    static const struct {
        char symbol;
        enum litmus_node_kind kind;
    } levels[] = {
        { LITMUS_SYMBOL_OR, LITMUS_EITHER },
        { LITMUS_SYMBOL_AND, LITMUS_BOTH },
        { LITMUS_SYMBOL_IMPLIES, LITMUS_IMPLIES },
    };
    if (level == sizeof levels / sizeof *levels)
        return read_unary(l, test, d, node);
    bool to_right = levels[level].kind == LITMUS_IMPLIES;
    if (!read_level(l, test, d, level + 1, node))
        return false;
    while (litmus_at(l, levels[level].symbol)) {
        struct litmus_node n = { .kind = levels[level].kind, .left = *node };
        if (++d.depth > DEEPEST)
            return litmus_refuse(l, l->token.place, "this condition has more than %d parts",
                                 DEEPEST);
        if (!litmus_next(l) || !read_level(l, test, d, level + !to_right, &n.right)
            || !add_node(l, test, n, node))
            return false;
    }
    return true;
}

bool litmus_condition_read(struct litmus_lexer *l, struct litmus *test, bool shown, uint32_t *node)
{
    return read_level(l, test, (struct depth){ shown, 0 }, 0, node);
}

static uint64_t seen(const struct litmus *test, uint32_t variable, uint64_t value)
{
    const struct litmus_variable *v = &test->variables.data[variable];
    unsigned bytes = v->thread == LITMUS_THREADS ? 1u << test->locations.data[v->number].size_log2
                   : v->narrow                   ? 4
                                                 : 8;
    return bytes == 8 ? value : value & ((UINT64_C(1) << 8 * bytes) - 1);
}

bool litmus_condition_holds(const struct litmus *test, uint32_t node, const uint64_t *values)
{
    const struct litmus_node *n = &test->nodes.data[node];
    switch (n->kind) {
    case LITMUS_TRUE: return true;
    case LITMUS_FALSE: return false;
    case LITMUS_EQUALS:
        return seen(test, n->left, values[n->left]) == seen(test, n->left, n->value);
    case LITMUS_SAME:
        return seen(test, n->left, values[n->left]) == seen(test, n->left, values[n->right]);
    case LITMUS_NOT: return !litmus_condition_holds(test, n->left, values);
    case LITMUS_BOTH:
        return litmus_condition_holds(test, n->left, values)
            && litmus_condition_holds(test, n->right, values);
    case LITMUS_EITHER:
        return litmus_condition_holds(test, n->left, values)
            || litmus_condition_holds(test, n->right, values);
    default:
        return !litmus_condition_holds(test, n->left, values)
            || litmus_condition_holds(test, n->right, values);
    }
}

/* ---- written ----------------------------------------------------------------------------- */

void litmus_variable_write(const struct litmus *test, const struct litmus_variable *v, FILE *out)
{
    if (v->thread == LITMUS_THREADS)
        fprintf(out, "[%s]", test->locations.data[v->number].name);
    else
        fprintf(out, "%u:%s", v->thread, litmus_register_name(test->arch, v->number, v->narrow));
}

void litmus_value_write(const struct litmus *test, const struct litmus_variable *v, uint64_t value,
                        FILE *out)
{
    const struct litmus_location *memory = v->thread == LITMUS_THREADS
                                             ? &test->locations.data[v->number]
                                             : NULL;
    unsigned bits = memory ? 8u << memory->size_log2 : v->narrow ? 32 : 64;
    uint32_t location = litmus_location_at(test, value);
    if (location != LITMUS_NOWHERE) {
        uint64_t offset = value - litmus_address_of(location);
        fputs(test->locations.data[location].name, out);
        if (offset)
            fprintf(out, "+%" PRIu64, offset);
    } else if (v->is_unsigned || (memory && memory->is_unsigned)) {
        fprintf(out, "%" PRIu64, value);
    } else {
        fprintf(out, "%" PRId64, (int64_t)(value << (64 - bits)) >> (64 - bits));
    }
}

static void write_node(const struct litmus *test, uint32_t node, enum litmus_node_kind above,
                       FILE *out)
{
    static const char *const between[] = {
        [LITMUS_BOTH] = " /\\ ", [LITMUS_EITHER] = " \\/ ", [LITMUS_IMPLIES] = " => "
    };
    const struct litmus_node *n = &test->nodes.data[node];
    const struct litmus_variable *v = test->variables.data;
    switch (n->kind) {
    case LITMUS_TRUE: fputs("true", out); return;
    case LITMUS_FALSE: fputs("false", out); return;
    case LITMUS_EQUALS:
    case LITMUS_SAME:
        litmus_variable_write(test, &v[n->left], out);
        fputc('=', out);
        if (n->kind == LITMUS_SAME)
            litmus_variable_write(test, &v[n->right], out);
        else
            litmus_value_write(test, &v[n->left], n->value, out);
        return;
    case LITMUS_NOT:
        fputs("not (", out);
        write_node(test, n->left, LITMUS_TRUE, out);
        fputc(')', out);
        return;
    default: break;
    }
    bool inside = above == LITMUS_BOTH || above == LITMUS_EITHER || above == LITMUS_IMPLIES;
    bool bare = !inside || above == n->kind || (above == LITMUS_EITHER && n->kind == LITMUS_BOTH);
    fputs(bare ? "" : "(", out);
    write_node(test, n->left, n->kind, out);
    fputs(between[n->kind], out);
    write_node(test, n->right, n->kind, out);
    fputs(bare ? "" : ")", out);
}

void litmus_condition_write(const struct litmus *test, FILE *out)
{
    static const char *const words[] = {
        [LITMUS_EXISTS] = "exists", [LITMUS_NOT_EXISTS] = "~exists", [LITMUS_FORALL] = "forall"
    };
    fprintf(out, "%s (", words[test->quantifier]);
    write_node(test, test->condition, LITMUS_TRUE, out);
    fputc(')', out);
}
