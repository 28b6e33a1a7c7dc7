/* SPDX-License-Identifier: Apache-2.0 */
/* The journal as text, in memory: JOURNAL.md. */
#ifndef HOST_JOURNAL_TEXT_H
#define HOST_JOURNAL_TEXT_H

#include <stdio.h>

#include "journal.h"

#define JOURNAL_VERSION 1

struct journal_text {
    const char *text;
    size_t size, at;       /* `at`: of the next line */
    uint64_t line, rounds; /* read so far */
};
/* Whether the text begins as a journal with these facts; NULL: any. */
bool journal_read_facts(struct journal_text *t, const struct journal_fact *facts, struct why *why);
enum journal_found { JOURNAL_ROUND, JOURNAL_END, JOURNAL_TORN, JOURNAL_DAMAGED };
/* Of what is torn `at` stays where it begins; what is damaged has a `why`. */
enum journal_found journal_read_round(struct journal_text *t, struct tune_round *round,
                                      struct why *why);
/* As it stands in the file. False: it could not be written. */
bool journal_write_facts(const struct journal_fact *facts, FILE *out);
bool journal_write_round(uint64_t number, const struct tune_round *round, FILE *out);

#endif
