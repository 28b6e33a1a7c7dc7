/* SPDX-License-Identifier: Apache-2.0 */
#include "lower_atomics.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A part of a line. */
struct part {
    const char *text;
    int length;
};

static struct part part_between(const char *from, const char *to)
{
    return (struct part){ from, (int)(to - from) };
}

static bool part_is(struct part p, const char *word)
{
    return strlen(word) == (size_t)p.length && strncmp(p.text, word, (size_t)p.length) == 0;
}

/* ---- a little of the grammar ----------------------------------------------------------------- */

/* Past what is in brackets, which `at` opens, or past a string. */
static const char *skip_brackets(const char *at)
{
    int depth = 0;
    bool quoted = false;
    for (; *at; at++) {
        quoted ^= *at == '"';
        if (!quoted && strchr("([{<", *at))
            depth++;
        if (!quoted && strchr(")]}>", *at))
            depth--;
        if (!quoted && depth == 0)
            return at + 1;
    }
    return at;
}

/* A word, or a name that may be quoted, with its first character. */
static const char *skip_word(const char *at)
{
    if (*at == '%' || *at == '@' || *at == '-')
        at++;
    if (*at == '"')
        return skip_brackets(at);
    while (isalnum((unsigned char)*at) || (*at && strchr("._$-+", *at)))
        at++;
    return at;
}

static const char *skip_spaces(const char *at) { return at + strspn(at, " "); }

/* i32, %struct.x*, void (i8*)*, ptr addrspace(1) ... */
static const char *skip_type(const char *at)
{
    at = *at && strchr("[{<", *at) ? skip_brackets(at) : skip_word(at);
    for (;;) {
        const char *next = skip_spaces(at);
        if (*next == '*')
            at = next + 1;
        else if (*next == '(')
            at = skip_brackets(next);
        else if (strncmp(next, "addrspace(", 10) == 0)
            at = skip_brackets(next + 9);
        else
            return at;
    }
}

/* A name, a number, or an expression of constants: bitcast (...), getelementptr inbounds (...) */
static const char *skip_value(const char *at)
{
    const char *end = skip_word(at), *next = skip_spaces(end);
    if (*at == '%' || *at == '@' || isdigit((unsigned char)*at) || *at == '-')
        return end;
    if (strncmp(next, "inbounds", 8) == 0)
        next = skip_spaces(next + 8);
    return *next == '(' ? skip_brackets(next) : end;
}

struct operand {
    struct part type, value;
};

static const char *take_operand(const char *at, struct operand *o)
{
    const char *end = skip_type(at);
    o->type = part_between(at, end);
    at = skip_spaces(end);
    end = skip_value(at);
    o->value = part_between(at, end);
    return end;
}

static const char *take_word(const char *at, const char *word)
{
    size_t n = strlen(word);
    return strncmp(at, word, n) == 0 ? skip_spaces(at + n) : NULL;
}

/* ---- lines ----------------------------------------------------------------------------------- */

struct lowering {
    FILE *out;
    bool for_x86;
    unsigned exchanges;
};

/* Nothing moves across it, and nothing is executed. */
static const char compiler_fence[] = "  call void asm sideeffect \"\", \"~{memory}\"()";

/* store atomic [volatile] TYPE VALUE, TYPE POINTER [scope] ORDER, align ... */
struct store {
    bool is_volatile;
    struct operand value, pointer;
    struct part order;
    const char *rest; /* from ", align" on */
};

static bool parse_store(const char *at, struct store *s)
{
    const char *more = take_word(at, "volatile ");
    s->is_volatile = more != NULL;
    at = take_operand(more ? more : at, &s->value);
    if (*at != ',')
        return false;
    at = skip_spaces(take_operand(skip_spaces(at + 1), &s->pointer));
    s->rest = skip_word(at);
    s->order = part_between(at, s->rest);
    return s->order.length > 0 && s->value.value.length > 0 && s->pointer.value.length > 0;
}

#define PART(p) (p).length, (p).text

/* Of pointers there is no exchange: they go as integers. */
static void write_exchange(struct lowering *l, const struct store *s)
{
    unsigned n = l->exchanges++;
    const char *is_volatile = s->is_volatile ? "volatile " : "";
    bool opaque = part_is(s->value.type, "ptr"),
         typed = s->value.type.text[s->value.type.length - 1] == '*';
    if (!opaque && !typed) {
        fprintf(l->out, "  %%ordeal.%u = atomicrmw %sxchg %.*s %.*s, %.*s %.*s seq_cst%s", n,
                is_volatile, PART(s->pointer.type), PART(s->pointer.value), PART(s->value.type),
                PART(s->value.value), s->rest);
        return;
    }
    fprintf(l->out, "  %%ordeal.%u.value = ptrtoint %.*s %.*s to i32\n", n, PART(s->value.type),
            PART(s->value.value));
    fprintf(l->out, "  %%ordeal.%u.to = bitcast %.*s %.*s to %s\n", n, PART(s->pointer.type),
            PART(s->pointer.value), opaque ? "ptr" : "i32*");
    fprintf(l->out,
            "  %%ordeal.%u = atomicrmw %sxchg %s %%ordeal.%u.to, i32 %%ordeal.%u.value seq_cst%s",
            n, is_volatile, opaque ? "ptr" : "i32*", n, n, s->rest);
}

static bool lower_store(struct lowering *l, const char *line, const char *at)
{
    struct store s;
    if (!parse_store(at, &s))
        return false;
    if (part_is(s.order, "seq_cst")) {
        write_exchange(l, &s);
    } else if (part_is(s.order, "release")) {
        fprintf(l->out, "%s\n%.*smonotonic%s", compiler_fence, (int)(s.order.text - line), line,
                s.rest);
    } else {
        fputs(line, l->out);
    }
    return true;
}

/* %x = load atomic TYPE, TYPE POINTER ORDER, align ...: the order is the word before the last part. */
static bool lower_load(struct lowering *l, const char *line)
{
    const char *end = strstr(line, ", align ");
    if (!end)
        return false;
    const char *order = end;
    while (order > line && order[-1] != ' ')
        order--;
    struct part word = part_between(order, end);
    if (!part_is(word, "seq_cst") && !part_is(word, "acquire"))
        return fputs(line, l->out) >= 0;
    fprintf(l->out, "%.*smonotonic%s%s\n", (int)(order - line), line, end, compiler_fence);
    return true;
}

/* fence [syncscope("singlethread")] ORDER[, !dbg ...] */
static void lower_fence(struct lowering *l, const char *line, const char *at)
{
    bool one_thread = strncmp(at, "syncscope(\"singlethread\")", 25) == 0;
    const char *comma = strchr(at, ',');
    if (one_thread || (l->for_x86 && strncmp(at, "seq_cst", 7) != 0))
        fprintf(l->out, "%s%s", compiler_fence, comma ? comma : "\n");
    else
        fputs(line, l->out);
}

static bool lower_line(struct lowering *l, const char *line)
{
    const char *at = skip_spaces(line), *more;
    if (at == line) { /* instructions are indented, nothing else is */
        fputs(line, l->out);
        return true;
    }
    if (l->for_x86 && (more = take_word(at, "store atomic ")))
        return lower_store(l, line, more);
    if ((more = take_word(at, "fence "))) {
        lower_fence(l, line, more);
        return true;
    }
    const char *value = *at == '%' ? skip_spaces(skip_word(at)) : at;
    if (l->for_x86 && take_word(value, "= load atomic "))
        return lower_load(l, line);
    fputs(line, l->out);
    return true;
}

bool lower_atomics(FILE *in, FILE *out, bool for_x86, struct why *why)
{
    struct lowering l = { .out = out, .for_x86 = for_x86 };
    char *line = NULL;
    size_t room = 0, number = 0;
    bool good = true;
    while (good && getline(&line, &room, in) >= 0) {
        number++;
        good = lower_line(&l, line)
            || why_say(why, "the compiler's line %zu is not understood: %.200s", number, line);
    }
    free(line);
    return good && !ferror(in);
}
