/* SPDX-License-Identifier: Apache-2.0 */
#include "litmus/litmus_lex.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

bool litmus_refuse(struct litmus_lexer *l, struct litmus_place place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_vbad(l->error, l->file, place.line, format, args);
    va_end(args);
    l->error->column = place.column;
    return false;
}

bool litmus_is(const struct litmus_token *t, const char *word)
{
    return t->kind == LITMUS_NAME && t->length == strlen(word)
        && strncmp(t->text, word, t->length) == 0;
}

bool litmus_expected(struct litmus_lexer *l, const char *what)
{
    if (l->token.kind == LITMUS_END)
        return litmus_refuse(l, l->token.place, "expected %s, but the file ends", what);
    int length = l->token.length > 40 ? 40 : (int)l->token.length;
    return litmus_refuse(l, l->token.place, "expected %s, found '%.*s'", what, length,
                         l->token.text);
}

/* ---- characters -------------------------------------------------------------------------- */

static int look(const struct litmus_lexer *l, size_t ahead)
{
    return (size_t)(l->end - l->text) > ahead ? (unsigned char)l->text[ahead] : -1;
}

static void step(struct litmus_lexer *l)
{
    if (*l->text++ == '\n') {
        l->place.line++;
        l->place.column = 1;
    } else {
        l->place.column++;
    }
}

static void steps(struct litmus_lexer *l, size_t count)
{
    while (count--)
        step(l);
}

static bool is_blank(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool begins_name(int c) { return c >= 0 && c < 128 && (isalpha(c) || c == '_' || c == '.'); }
static bool goes_on(int c) { return begins_name(c) || (c >= '0' && c <= '9'); }

static bool skip_comment(struct litmus_lexer *l)
{
    struct litmus_place begin = l->place;
    unsigned depth = 0;
    do {
        bool opens = look(l, 0) == '(' && look(l, 1) == '*';
        bool closes = look(l, 0) == '*' && look(l, 1) == ')';
        if (look(l, 0) < 0)
            return litmus_refuse(l, begin, "this comment never ends");
        depth += opens;
        depth -= closes;
        steps(l, opens || closes ? 2 : 1);
    } while (depth);
    return true;
}

bool litmus_skip(struct litmus_lexer *l)
{
    for (;;)
        if (is_blank(look(l, 0)))
            step(l);
        else if (look(l, 0) == '/' && look(l, 1) == '/')
            while (look(l, 0) >= 0 && look(l, 0) != '\n')
                step(l);
        else if (look(l, 0) != '(' || look(l, 1) != '*')
            return true;
        else if (!skip_comment(l))
            return false;
}

void litmus_rest_of_line(struct litmus_lexer *l, const char **text, size_t *length)
{
    while (look(l, 0) == ' ' || look(l, 0) == '\t')
        step(l);
    *text = l->text;
    while (look(l, 0) >= 0 && look(l, 0) != '\n')
        step(l);
    *length = (size_t)(l->text - *text);
    while (*length && is_blank((*text)[*length - 1]))
        --*length;
    if (look(l, 0) == '\n')
        step(l);
}

bool litmus_skip_string(struct litmus_lexer *l)
{
    struct litmus_place begin = l->place;
    step(l);
    while (look(l, 0) >= 0 && look(l, 0) != '"')
        step(l);
    if (look(l, 0) < 0)
        return litmus_refuse(l, begin, "this text in quotation marks never ends");
    step(l);
    return true;
}

/* ---- tokens ------------------------------------------------------------------------------ */

static int digit_of(int c)
{
    return c >= '0' && c <= '9' ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : 99;
}

static bool take_literal(struct litmus_lexer *l)
{
    struct litmus_token *t = &l->token;
    bool negative = look(l, 0) == '-';
    uint64_t value = 0;
    steps(l, negative);
    bool hex = look(l, 0) == '0' && (look(l, 1) == 'x' || look(l, 1) == 'X');
    int base = hex ? 16 : 10;
    steps(l, hex ? 2 : 0);
    if (digit_of(look(l, 0)) >= base)
        return litmus_refuse(l, t->place, "this is no number");
    for (; digit_of(look(l, 0)) < base; step(l)) {
        uint64_t digit = (uint64_t)digit_of(look(l, 0));
        if (value > (UINT64_MAX - digit) / (unsigned)base)
            return litmus_refuse(l, t->place, "this number does not fit 64 bits");
        value = value * (unsigned)base + digit;
    }
    if (goes_on(look(l, 0)))
        return litmus_refuse(l, l->place, "a number does not go on with '%c'", look(l, 0));
    if (negative && value > UINT64_C(1) << 63)
        return litmus_refuse(l, t->place, "this number does not fit 64 bits");
    t->kind = LITMUS_LITERAL;
    t->number = negative ? -value : value;
    return true;
}

static bool take_symbol(struct litmus_lexer *l)
{
    static const struct {
        char first, second, symbol;
    } pairs[] = {
        { '/', '\\', LITMUS_SYMBOL_AND },    { '\\', '/', LITMUS_SYMBOL_OR },
        { '=', '>', LITMUS_SYMBOL_IMPLIES }, { '=', '=', '=' },
        { '!', '=', LITMUS_SYMBOL_UNEQUAL }, { '<', '>', LITMUS_SYMBOL_UNEQUAL },
    };
    int c = look(l, 0), next = look(l, 1);
    l->token.kind = LITMUS_SYMBOL;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (c == pairs[i].first && next == pairs[i].second) {
            l->token.symbol = pairs[i].symbol;
            steps(l, 2);
            return true;
        }
    if (c >= 128 || c < ' ' || !strchr(";|,:()[]{}=~*&%$+", c))
        return litmus_refuse(l, l->token.place,
                             c > ' ' && c < 127 ? "there is no '%c' in a litmus file"
                                                : "byte 0x%02x is not expected "
                                                  "here",
                             (unsigned)c);
    l->token.symbol = (char)c;
    step(l);
    return true;
}

bool litmus_next(struct litmus_lexer *l)
{
    if (!litmus_skip(l))
        return false;
    l->token = (struct litmus_token){ .text = l->text, .place = l->place };
    int c = look(l, 0), next = look(l, 1);
    bool fine = true;
    if (c < 0)
        return true;
    if (begins_name(c)) {
        l->token.kind = LITMUS_NAME;
        while (goes_on(look(l, 0)))
            step(l);
    } else if ((c >= '0' && c <= '9') || (c == '-' && next >= '0' && next <= '9')) {
        fine = take_literal(l);
    } else {
        fine = take_symbol(l);
    }
    l->token.length = (size_t)(l->text - l->token.text);
    return fine;
}

bool litmus_take(struct litmus_lexer *l, char symbol, const char *what)
{
    return litmus_at(l, symbol) ? litmus_next(l) : litmus_expected(l, what);
}
