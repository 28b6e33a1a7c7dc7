/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a litmus file, each with its place. Comments, (* nested *) and //, are blanks. */
#ifndef LITMUS_LEX_H
#define LITMUS_LEX_H

#include "litmus/litmus.h"

enum litmus_token_kind { LITMUS_END, LITMUS_NAME, LITMUS_LITERAL, LITMUS_SYMBOL };

/* Symbols of two characters. */
enum {
    LITMUS_SYMBOL_AND = 'A',
    LITMUS_SYMBOL_OR = 'O',
    LITMUS_SYMBOL_IMPLIES = 'I',
    LITMUS_SYMBOL_UNEQUAL = 'N'
};

struct litmus_token {
    enum litmus_token_kind kind;
    char symbol;
    const char *text;
    size_t length;
    uint64_t number; /* of a literal */
    struct litmus_place place;
};

struct litmus_lexer {
    const char *text, *end;
    const char *file;
    struct litmus_place place; /* of *text */
    struct litmus_token token; /* the one looked at */
    struct ordeal_error *error;
};

/* All return false with the reason in the error, or true. */
bool litmus_refuse(struct litmus_lexer *l, struct litmus_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* At the token looked at: "expected …, found …". */
bool litmus_expected(struct litmus_lexer *l, const char *what);
bool litmus_next(struct litmus_lexer *l);
bool litmus_take(struct litmus_lexer *l, char symbol, const char *what);

/* Blanks and comments are behind it. */
bool litmus_skip(struct litmus_lexer *l);
/* What is left of the line, without blanks around it, and the next line begins. */
void litmus_rest_of_line(struct litmus_lexer *l, const char **text, size_t *length);
/* At a quotation mark: to behind its other. */
bool litmus_skip_string(struct litmus_lexer *l);

static inline bool litmus_at(const struct litmus_lexer *l, char symbol)
{
    return l->token.kind == LITMUS_SYMBOL && l->token.symbol == symbol;
}
bool litmus_is(const struct litmus_token *t, const char *word);

#endif
