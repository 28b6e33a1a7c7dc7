/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for the journal of `ordeal tune`: whatever the bytes are, they are refused with
 * a reason, or are rounds and tests that are the same when they are written and read again. A copy
 * whose lines are given the checksums that they need gets behind those. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tune/journal_text.h"

static bool same_test(const struct tune_test *a, const struct tune_test *b)
{
    return a->result == b->result && a->cost == b->cost && a->milliseconds == b->milliseconds
        && memcmp(&a->hits, &b->hits, sizeof a->hits) == 0;
}

static void same(enum journal_found found, const struct journal_entry *a,
                 const struct journal_text *at)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    struct journal_entry back = { 0 };
    struct why why = { "" };
    bool test = found == JOURNAL_TEST;
    bool written = test ? journal_write_test(at->tests, &a->test, f)
                        : journal_write_round(at->rounds, a->phase, f);
    if (!written || fclose(f) != 0)
        abort();
    struct journal_text t = *at;
    t.text = text;
    t.size = size;
    t.at = 0;
    if (journal_read(&t, &back, &why) != found || t.at != size)
        abort();
    if (test ? !same_test(&back.test, &a->test) : back.phase != a->phase)
        abort();
    free(text);
}

static void try_journal(const char *text, size_t size, bool with_head)
{
    struct journal_text t = { .text = text, .size = size };
    struct journal_entry entry = { 0 };
    struct why why = { "" };
    enum journal_found found = JOURNAL_ROUND;
    bool grown;
    if (with_head && !journal_read_head(&t, NULL, &grown, &why)) {
        if (!why.text[0])
            abort();
        return;
    }
    while (found == JOURNAL_ROUND || found == JOURNAL_TEST) {
        struct journal_text before = t;
        found = journal_read(&t, &entry, &why);
        if (found == JOURNAL_ROUND || found == JOURNAL_TEST)
            same(found, &entry, &before);
    }
    if ((found == JOURNAL_DAMAGED && !why.text[0]) || t.at > size)
        abort();
}

/* Against a head of which some facts may grow, and a bias. */
static void try_head(const char *text, size_t size)
{
    static const struct journal_fact facts[] = { { "version", "1", false },
                                                 { "tests", "20", true },
                                                 { NULL, NULL, false } };
    static const struct journal_head head = { facts, "[test]\nthreads = 4\n" };
    struct journal_text t = { .text = text, .size = size };
    struct why why = { "" };
    bool grown;
    if (!journal_read_head(&t, &head, &grown, &why) && !why.text[0])
        abort();
}

/* A round whose tests are the lines of the input, each with its checksum. */
static void try_lines(const char *text, size_t size)
{
    char *whole = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&whole, &length);
    fputs("round 0 search\n", f);
    for (const char *end; size && (end = memchr(text, '\n', size)); text = end + 1) {
        uint64_t sum = UINT64_C(0xCBF29CE484222325);
        for (const char *c = text; c < end; c++)
            sum = (sum ^ (unsigned char)*c) * UINT64_C(0x100000001B3);
        fwrite(text, 1, (size_t)(end - text), f);
        fprintf(f, " #%016" PRIx64 "\n", sum);
        size -= (size_t)(end + 1 - text);
    }
    fclose(f);
    try_journal(whole, length, false);
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_journal((const char *)data, size, true);
    try_journal((const char *)data, size, false);
    try_head((const char *)data, size);
    try_lines((const char *)data, size);
    return 0;
}
