/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions on final states: read, asked, written as herd7 writes them. */
#ifndef LITMUS_CONDITION_H
#define LITMUS_CONDITION_H

#include <stdio.h>

#include "litmus/litmus_lex.h"

enum { LITMUS_NOWHERE = UINT32_MAX }; /* no node, no variable, no location */

/* Find, or add. */
bool litmus_variable_enter(struct litmus_lexer *l, struct litmus *test, struct litmus_variable v,
                           uint32_t *number);
bool litmus_location_enter(struct litmus_lexer *l, struct litmus *test,
                           const struct litmus_token *name, uint32_t *number);

/* At a register of a thread or a location: 0:x5, x, [x]. Unknown names are locations. */
bool litmus_variable_read(struct litmus_lexer *l, struct litmus *test, bool shown,
                          uint32_t *number);
/* A number, or a location whose address is meant. */
bool litmus_value_read(struct litmus_lexer *l, struct litmus *test, uint64_t *value);
/* `shown`: what it speaks of is part of the states that are told. */
bool litmus_condition_read(struct litmus_lexer *l, struct litmus *test, bool shown, uint32_t *node);

/* Does it hold where the variables have these values? */
bool litmus_condition_holds(const struct litmus *test, uint32_t node, const uint64_t *values);
void litmus_condition_write(const struct litmus *test, FILE *out);

/* "0:x5", "[x]"; the value as its type says. */
void litmus_variable_write(const struct litmus *test, const struct litmus_variable *v, FILE *out);
void litmus_value_write(const struct litmus *test, const struct litmus_variable *v, uint64_t value,
                        FILE *out);

#endif
