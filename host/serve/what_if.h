/* SPDX-License-Identifier: Apache-2.0 */
/* What if a value were another, an operation not there, a fence there? A question is the body of
 * a request, which may have anything in it; the answer is the verdict of the checker, and the
 * part of a page that shows it. SERVE.md describes both. */
#ifndef HOST_WHAT_IF_H
#define HOST_WHAT_IF_H

#include <stddef.h>

#include "base/why.h"
#include "ordeal.h"

enum { WHAT_IF_VERSION = 1, WHAT_IF_BYTES = 1 << 20, WHAT_IF_EDITS = 1000 };

/* Who knows the trace that a page shows. */
struct what_if_source {
    /* For the caller to free, and the model that it was judged by, if `known`. NULL: `why`. */
    char *(*trace)(void *user, const char *page, const char *part, enum ordeal_model *model,
                   bool *known, struct why *why);
    void *user;
};

struct what_if {
    char *text;
    bool known;
    enum ordeal_model model; /* to judge by, if `known` */
};

enum what_if_read { WHAT_IF_GOOD, WHAT_IF_BAD, WHAT_IF_GONE };

/* WHAT_IF_BAD: it is no question. WHAT_IF_GONE: there is no such page, or it shows another trace
 * by now. For either `why`; free it in any case. */
enum what_if_read what_if_read(struct what_if *w, const char *body, size_t size,
                               const struct what_if_source *source, struct why *why);
void what_if_free(struct what_if *w);

/* The answer as JSON, for the caller to free; what is wrong with the trace is an answer, too. NULL:
 * out of memory, or it would be too long. */
char *what_if_answer(const struct what_if *w, const struct ordeal_limits *limits, size_t *size);
/* The same, made by a process of its own, which may die of it: the checker looks at its limits now
 * and then, and the libraries that it and pictures use know none, but a process is held to them. */
char *what_if_answer_apart(const struct what_if *w, const struct ordeal_limits *limits,
                           size_t *size);

#endif
