/* SPDX-License-Identifier: Apache-2.0 */
#include "journal_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
static const char first_line[] = "ordeal-tune " TEXT(JOURNAL_VERSION);
static const char *const results[TUNE_RESULTS] = { "pass", "fail", "undecided", "lost" };

static uint64_t checksum(const char *text, size_t size) /* FNV-1a */
{
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)text[i]) * UINT64_C(0x100000001B3);
    return sum;
}

/* ---- reading: lines and words ---------------------------------------------------------------- */

/* A line without its end, and the words of it that are left. */
struct rest {
    const char *at, *end;
};

static bool next_line(struct journal_text *t, struct rest *line)
{
    const char *begin = t->text + t->at;
    const char *end = t->at < t->size ? memchr(begin, '\n', t->size - t->at) : NULL;
    if (!end)
        return false;
    *line = (struct rest){ begin, end };
    t->at = (size_t)(end - t->text) + 1;
    t->line++;
    return true;
}

/* The next word, and the space after it, which there is if others are to follow. */
static bool take_word(struct rest *w, const char **word, size_t *length)
{
    const char *space = memchr(w->at, ' ', (size_t)(w->end - w->at));
    *word = w->at;
    *length = (size_t)((space ? space : w->end) - w->at);
    w->at = space ? space + 1 : w->end;
    return *length > 0 && !(space && w->at == w->end);
}

static bool take_this(struct rest *w, const char *expected)
{
    const char *word;
    size_t length;
    return take_word(w, &word, &length) && strlen(expected) == length
        && memcmp(word, expected, length) == 0;
}

static bool take_number(struct rest *w, unsigned base, uint64_t *number)
{
    static const char digits[] = "0123456789abcdef";
    const char *word;
    size_t length;
    if (!take_word(w, &word, &length))
        return false;
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        const char *digit = memchr(digits, word[i], base);
        if (!digit || *number > (UINT64_MAX - (uint64_t)(digit - digits)) / base)
            return false;
        *number = *number * base + (uint64_t)(digit - digits);
    }
    return true;
}

/* ---- reading: facts --------------------------------------------------------------------------- */

static bool bad_line(const struct journal_text *t, struct why *why, const char *expected)
{
    return why_say(why, "line %" PRIu64 ": expected %s", t->line ? t->line : 1, expected);
}

static bool take_fact(const struct journal_text *t, struct rest *line,
                      const struct journal_fact *fact, struct why *why)
{
    const char *name;
    size_t length;
    if (!take_word(line, &name, &length))
        return bad_line(t, why, "'fact NAME VALUE'");
    size_t value = (size_t)(line->end - line->at);
    if (!fact)
        return true;
    if (!fact->name || strlen(fact->name) != length || memcmp(fact->name, name, length) != 0)
        return why_say(why, "line %" PRIu64 ": it was begun by another version: it tells of '%.*s'",
                       t->line, (int)length, name);
    if (strlen(fact->value) != value || memcmp(fact->value, line->at, value) != 0)
        return why_say(why, "it was begun with another %s: %.*s, and now it is %s", fact->name,
                       (int)value, line->at, *fact->value ? fact->value : "none");
    return true;
}

bool journal_read_facts(struct journal_text *t, const struct journal_fact *facts, struct why *why)
{
    struct rest line;
    if (!next_line(t, &line) || (size_t)(line.end - line.at) != strlen(first_line)
        || memcmp(line.at, first_line, strlen(first_line)) != 0)
        return bad_line(t, why, "'ordeal-tune 1'; it is no journal of this version");
    for (size_t i = 0; next_line(t, &line); i++) {
        struct rest begin = line;
        if (take_this(&begin, "begin") && begin.at == begin.end)
            return !facts || !facts[i].name
                || why_say(why, "line %" PRIu64 ": it does not tell of %s", t->line, facts[i].name);
        if (!take_this(&line, "fact"))
            return bad_line(t, why, "'fact NAME VALUE' or 'begin'");
        if (!take_fact(t, &line, facts ? &facts[i] : NULL, why))
            return false;
    }
    return bad_line(t, why, "'begin'");
}

/* ---- reading: rounds -------------------------------------------------------------------------- */

static bool take_result(struct rest *line, enum tune_result *result)
{
    const char *word;
    size_t length;
    if (!take_word(line, &word, &length))
        return false;
    for (int i = 0; i < TUNE_RESULTS; i++)
        if (strlen(results[i]) == length && memcmp(results[i], word, length) == 0) {
            *result = (enum tune_result)i;
            return true;
        }
    return false;
}

static bool take_test(struct rest *line, struct tune_test *test)
{
    uint64_t point = UINT64_MAX, step; /* before the first */
    *test = (struct tune_test){ 0 };
    if (!take_this(line, "test") || !take_result(line, &test->result)
        || !take_number(line, 10, &test->cost))
        return false;
    while (line->at < line->end) {
        if (!take_number(line, 10, &step) || step == 0 || step > COVER_POINTS)
            return false;
        point += step;
        if (point >= COVER_POINTS)
            return false;
        cover_hit(&test->hits, (uint32_t)point);
    }
    return true;
}

/* False: the line `t->line` is not as it should be. */
static bool take_round(struct journal_text *t, struct tune_round *round)
{
    struct rest line;
    struct tune_test test;
    uint64_t number, tests, sum;
    size_t begin = t->at;
    round->tests.count = 0;
    if (!next_line(t, &line) || !take_this(&line, "round") || !take_number(&line, 10, &number)
        || !take_number(&line, 10, &tests) || !take_number(&line, 10, &round->milliseconds)
        || line.at != line.end || number != t->rounds)
        return false;
    for (uint64_t i = 0; i < tests; i++)
        if (!next_line(t, &line) || !take_test(&line, &test) || !LIST_PUSH(&round->tests, test))
            return false;
    size_t end = t->at;
    return next_line(t, &line) && take_this(&line, "end") && take_number(&line, 10, &number)
        && number == t->rounds && take_number(&line, 16, &sum) && line.at == line.end
        && sum == checksum(t->text + begin, end - begin);
}

/* Does a round begin after this place? Then what is there was not torn. */
static bool goes_on(const struct journal_text *t)
{
    static const char next[] = "\nround ";
    return t->at < t->size && memmem(t->text + t->at, t->size - t->at, next, strlen(next));
}

enum journal_found journal_read_round(struct journal_text *t, struct tune_round *round,
                                      struct why *why)
{
    struct journal_text before = *t;
    if (t->at == t->size)
        return JOURNAL_END;
    if (take_round(t, round)) {
        t->rounds++;
        return JOURNAL_ROUND;
    }
    if (goes_on(&before)) {
        why_say(why,
                "line %" PRIu64 ": round %" PRIu64 " is damaged here; the journal cannot be "
                "used",
                t->line, t->rounds);
        return JOURNAL_DAMAGED;
    }
    *t = before;
    return JOURNAL_TORN;
}

/* ---- writing ---------------------------------------------------------------------------------- */

bool journal_write_facts(const struct journal_fact *facts, FILE *out)
{
    fprintf(out, "%s\n", first_line);
    for (; facts->name; facts++)
        fprintf(out, "fact %s %s\n", facts->name, facts->value);
    fputs("begin\n", out);
    return !ferror(out);
}

static void write_test(const struct tune_test *t, FILE *out)
{
    uint32_t before = UINT32_MAX;
    fprintf(out, "test %s %" PRIu64, results[t->result], t->cost);
    for (uint32_t p = 0; p < COVER_POINTS; p++)
        if (cover_is_hit(&t->hits, p)) {
            fprintf(out, " %" PRIu32, p - before);
            before = p;
        }
    putc('\n', out);
}

bool journal_write_round(uint64_t number, const struct tune_round *round, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    if (!lines)
        return false;
    fprintf(lines, "round %" PRIu64 " %zu %" PRIu64 "\n", number, round->tests.count,
            round->milliseconds);
    for (size_t i = 0; i < round->tests.count; i++)
        write_test(&round->tests.data[i], lines);
    bool good = fclose(lines) == 0 && fwrite(text, 1, size, out) == size
             && fprintf(out, "end %" PRIu64 " %016" PRIx64 "\n", number, checksum(text, size)) > 0;
    free(text);
    return good;
}
