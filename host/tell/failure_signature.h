/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of one cause are one line: what a failure has in common with others of its cause, and
 * what does not depend on names, values, seeds or thread numbers. docs/commands.md says how it is
 * read, and how far it goes. */
#ifndef HOST_FAILURE_SIGNATURE_H
#define HOST_FAILURE_SIGNATURE_H

#include <stdbool.h>

#include "ordeal.h"

enum failure_kind { FAILURE_VIOLATION, FAILURE_STANDSTILL, FAILURE_ASSERTION, FAILURE_VALUE };
extern const char *const failure_kind_words[]; /* "violation" … */

struct failure_signature {
    enum failure_kind kind;
    char text[32];   /* "order.barrier": the family, and what of it; no blanks */
    char shape[20];  /* of a violation: a hash of the core's canonical form; else "" */
    char title[256]; /* one line for people */
    char *form;      /* the canonical form itself, see core_form.h */
};

/* False, with nothing in it: memory is out. A ^C does not end it: half of it would be another one. */
bool failure_signature_of_verdict(struct failure_signature *s, const struct ordeal_trace *t,
                                  const struct ordeal_verdict *v);
/* Of a machine that broke: from what it said. */
bool failure_signature_of_break(struct failure_signature *s, const char *broke);
void failure_signature_free(struct failure_signature *s);

#endif
