/* SPDX-License-Identifier: Apache-2.0 */
/* Several databases, the oldest first: which causes of failures there are in all of them, when each was
 * seen, and how verdicts, coverage and speed changed from one to the next. */
#ifndef HOST_HISTORY_H
#define HOST_HISTORY_H

#include "query.h"
#include "site.h"

/* A cause of failures, by its signature. */
struct cause {
    const struct query_bucket *newest; /* with a folder, if any has one */
    const struct query *in;            /* the database of that */
    int64_t failures;                  /* in all databases */
    int first, last;                   /* databases that have it */
    char page[SITE_NAME];
};

struct history {
    struct query *databases;
    int count;
    LIST(struct cause) causes; /* those of the newest database first */
};

bool history_read(struct history *h, char **files, int count, struct why *why);
void history_free(struct history *h);
static inline const struct query *history_newest(const struct history *h)
{
    return &h->databases[h->count - 1];
}
/* "new", "gone", "still there"; "" where there is one database alone. */
const char *history_word(const struct history *h, const struct cause *c);
/* Nothing, where there is one alone. */
void history_write(const struct history *h, FILE *out);

#endif
