/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for the journal of `ordeal tune`: whatever the bytes are, they are refused with
 * a reason, or are rounds that are the same when they are written and read again. A copy with its
 * checksums put right gets behind those. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tune/journal_text.h"

static void same(const struct tune_round *a, uint64_t number)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    struct tune_round back = { 0 };
    struct why why = { "" };
    if (!journal_write_round(number, a, f) || fclose(f) != 0)
        abort();
    struct journal_text t = { .text = text, .size = size, .rounds = number };
    if (journal_read_round(&t, &back, &why) != JOURNAL_ROUND || t.at != size
        || back.tests.count != a->tests.count || back.milliseconds != a->milliseconds)
        abort();
    for (size_t i = 0; i < back.tests.count; i++)
        if (back.tests.data[i].cost != a->tests.data[i].cost
            || memcmp(&back.tests.data[i].hits, &a->tests.data[i].hits, sizeof(struct cover_hits)))
            abort();
    LIST_FREE(&back.tests);
    free(text);
}

static void try_journal(const char *text, size_t size, bool facts)
{
    struct journal_text t = { .text = text, .size = size };
    struct tune_round round = { 0 };
    struct why why = { "" };
    enum journal_found found = JOURNAL_ROUND;
    if (facts && !journal_read_facts(&t, NULL, &why)) {
        if (!why.text[0])
            abort();
        return;
    }
    while (found == JOURNAL_ROUND) {
        uint64_t number = t.rounds;
        found = journal_read_round(&t, &round, &why);
        if (found == JOURNAL_ROUND)
            same(&round, number);
    }
    if ((found == JOURNAL_DAMAGED && !why.text[0]) || t.at > size)
        abort();
    LIST_FREE(&round.tests);
}

/* One round whose lines are the input, with the head and the end that they need. */
static void try_lines(const char *text, size_t size)
{
    char *whole = NULL;
    size_t length = 0, lines = 0;
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    FILE *f = open_memstream(&whole, &length);
    fprintf(f, "round 0 %zu 1\n%.*s", lines, (int)size, text);
    fflush(f);
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)whole[i]) * UINT64_C(0x100000001B3);
    fprintf(f, "end 0 %016" PRIx64 "\n", sum);
    fclose(f);
    try_journal(whole, length, false);
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_journal((const char *)data, size, true);
    try_journal((const char *)data, size, false);
    try_lines((const char *)data, size);
    return 0;
}
