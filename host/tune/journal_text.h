/* SPDX-License-Identifier: Apache-2.0 */
/* The journal as text, in memory: JOURNAL.md. */
#ifndef HOST_JOURNAL_TEXT_H
#define HOST_JOURNAL_TEXT_H

#include <stdio.h>

#include "journal.h"

#define JOURNAL_VERSION 2

struct journal_text {
    const char *text;
    size_t size, at;              /* `at`: of the next line */
    uint64_t line, rounds, tests; /* read so far */
};
/* Whether the text begins as a journal of this; NULL: of any. `grown`: some fact is greater. */
bool journal_read_head(struct journal_text *t, const struct journal_head *head, bool *grown,
                       struct why *why);

enum journal_found { JOURNAL_ROUND, JOURNAL_TEST, JOURNAL_END, JOURNAL_TORN, JOURNAL_DAMAGED };
struct journal_entry {
    enum tune_phase phase; /* of a round */
    struct tune_test test;
};
/* Of what is torn `at` stays where it begins; what is damaged has a `why`. */
enum journal_found journal_read(struct journal_text *t, struct journal_entry *entry,
                                struct why *why);

/* As it stands in the file. False: it could not be written. */
bool journal_write_head(const struct journal_head *head, FILE *out);
bool journal_write_round(uint64_t number, enum tune_phase phase, FILE *out);
bool journal_write_test(uint64_t number, const struct tune_test *test, FILE *out);

#endif
