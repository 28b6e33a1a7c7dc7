/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "journal_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
static const char first_line[] = "ordeal-tune " TEXT(JOURNAL_VERSION);
static const char *const results[TUNE_RESULTS] = { "pass", "fail", "undecided", "lost" };
static const char *const phases[TUNE_PHASES] = { "search", "compare" };

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

/* One of some words, by its number. */
static bool take_choice(struct rest *w, const char *const *words, int count, int *choice)
{
    const char *word;
    size_t length;
    if (!take_word(w, &word, &length))
        return false;
    for (*choice = 0; *choice < count; ++*choice)
        if (strlen(words[*choice]) == length && memcmp(words[*choice], word, length) == 0)
            return true;
    return false;
}

/* ---- reading: the head ------------------------------------------------------------------------ */

static bool bad_line(const struct journal_text *t, struct why *why, const char *expected)
{
    return why_say(why, "line %" PRIu64 ": expected %s", t->line ? t->line : 1, expected);
}

/* Of what was asked for: how far it has been compared. */
struct compared {
    const struct journal_fact *fact;
    struct rest bias, section; /* what is left; the last line of it that began a section */
    bool grown;
};

static const char *or_none(const char *value) { return *value ? value : "none"; }

/* A limit may be raised, or lifted. */
static bool may_grow(const struct journal_fact *fact, struct rest was)
{
    struct rest is = { fact->value, fact->value + strlen(fact->value) };
    uint64_t before, now;
    return fact->grows && take_number(&was, 10, &before) && take_number(&is, 10, &now)
        && (now == 0 || (before != 0 && now > before));
}

static bool take_fact(const struct journal_text *t, struct rest *line, struct compared *c,
                      struct why *why)
{
    const struct journal_fact *fact = c ? c->fact : NULL;
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
    c->fact++;
    if (strlen(fact->value) == value && memcmp(fact->value, line->at, value) == 0)
        return true;
    c->grown |= may_grow(fact, *line);
    return may_grow(fact, *line)
        || why_say(why, "it was begun with another %s: %.*s, and now it is %s%s", fact->name,
                   (int)value, line->at, or_none(fact->value),
                   fact->grows ? "; a budget can only grow" : "");
}

/* The next line that is not empty, of a text that ends with one such. */
static struct rest next_of(struct rest *text)
{
    while (text->at < text->end && *text->at == '\n')
        text->at++;
    const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
    struct rest line = { text->at, end ? end : text->end };
    text->at = end ? end + 1 : text->end;
    return line;
}

static int length_of(struct rest r) { return r.at < r.end ? (int)(r.end - r.at) : 0; }

/* `was` and `is` differ, at the same place of two biases. */
static bool another_bias(const struct compared *c, struct rest was, struct rest is, struct why *why)
{
    static const struct rest nothing = { "nothing", &"nothing"[7] };
    was = length_of(was) ? was : nothing;
    is = length_of(is) ? is : nothing;
    return why_say(why,
                   "it was begun with another bias; the first difference, after '%.*s': it was "
                   "'%.*s', and now it is '%.*s'",
                   length_of(c->section), c->section.at, length_of(was), was.at, length_of(is),
                   is.at);
}

static bool take_bias(struct rest was, struct compared *c, struct why *why)
{
    if (!c)
        return true;
    struct rest is = next_of(&c->bias);
    if (length_of(is) != length_of(was) || memcmp(is.at, was.at, (size_t)length_of(was)) != 0)
        return another_bias(c, was, is, why);
    if (*was.at == '[')
        c->section = is;
    return true;
}

/* The line `begin`: has everything been told? */
static bool take_begin(const struct journal_text *t, struct compared *c, struct why *why)
{
    if (c && c->fact->name)
        return why_say(why, "line %" PRIu64 ": it does not tell of %s", t->line, c->fact->name);
    return !c || c->bias.at == c->bias.end
        || another_bias(c, (struct rest){ "", "" }, next_of(&c->bias), why);
}

static bool take_first_line(struct journal_text *t, struct why *why)
{
    struct rest line;
    return (next_line(t, &line) && (size_t)(line.end - line.at) == strlen(first_line)
            && memcmp(line.at, first_line, strlen(first_line)) == 0)
        || bad_line(t, why,
                    "'ordeal-tune " TEXT(JOURNAL_VERSION) "'; it is no journal of this version");
}

static bool take_head(struct journal_text *t, struct compared *c, struct why *why)
{
    struct rest line;
    while (next_line(t, &line)) {
        struct rest begin = line, bias = line;
        if (take_this(&begin, "begin") && begin.at == begin.end)
            return take_begin(t, c, why);
        bool is_bias = take_this(&bias, "bias");
        if (!is_bias && !take_this(&line, "fact"))
            return bad_line(t, why, "'fact NAME VALUE', 'bias LINE' or 'begin'");
        if (!(is_bias ? take_bias(bias, c, why) : take_fact(t, &line, c, why)))
            return false;
    }
    return bad_line(t, why, "'begin'");
}

bool journal_read_head(struct journal_text *t, const struct journal_head *head, bool *grown,
                       struct why *why)
{
    struct compared c = { 0 };
    if (head)
        c = (struct compared){ .fact = head->facts,
                               .bias = { head->bias, head->bias + strlen(head->bias) },
                               .section = { "", "" } };
    bool good = take_first_line(t, why) && take_head(t, head ? &c : NULL, why);
    *grown = c.grown;
    return good;
}

/* ---- reading: rounds and tests ---------------------------------------------------------------- */

static bool take_round(struct rest *line, uint64_t expected, enum tune_phase *phase)
{
    uint64_t number;
    int choice = 0;
    bool good = take_this(line, "round") && take_number(line, 10, &number) && number == expected
             && take_choice(line, phases, TUNE_PHASES, &choice) && line->at == line->end;
    *phase = (enum tune_phase)choice;
    return good;
}

static bool take_points(struct rest *line, struct cover_hits *hits)
{
    uint64_t point = UINT64_MAX, step; /* before the first */
    while (line->at < line->end) {
        if (!take_number(line, 10, &step) || step == 0 || step > COVER_POINTS)
            return false;
        point += step;
        if (point >= COVER_POINTS)
            return false;
        cover_hit(hits, (uint32_t)point);
    }
    return true;
}

/* The checksum at the end of the line, " #" and 16 digits, which is cut off. */
static bool take_sum(struct rest *line)
{
    enum { DIGITS = 16 };
    struct rest digits = { line->end - DIGITS, line->end };
    uint64_t sum;
    if (line->end - line->at < DIGITS + 2 || memcmp(digits.at - 2, " #", 2) != 0
        || !take_number(&digits, 16, &sum) || digits.at != digits.end)
        return false;
    line->end -= DIGITS + 2;
    return sum == checksum(line->at, (size_t)(line->end - line->at));
}

static bool take_test(struct rest *line, uint64_t expected, struct tune_test *test)
{
    uint64_t number;
    int result = 0;
    *test = (struct tune_test){ 0 };
    bool good = take_sum(line) && take_this(line, "test") && take_number(line, 10, &number)
             && number == expected && take_choice(line, results, TUNE_RESULTS, &result)
             && take_number(line, 10, &test->cost) && take_number(line, 10, &test->milliseconds)
             && take_points(line, &test->hits);
    test->result = (enum tune_result)result;
    return good;
}

/* Does a round begin after this place? Then what is there was not torn. */
static bool goes_on(const struct journal_text *t)
{
    static const char next[] = "\nround ";
    return t->at < t->size && memmem(t->text + t->at, t->size - t->at, next, strlen(next));
}

static enum journal_found torn_or_damaged(struct journal_text *t, const struct journal_text *before,
                                          struct why *why)
{
    if (!goes_on(before)) {
        *t = *before;
        return JOURNAL_TORN;
    }
    why_say(why, "line %" PRIu64 ": it is damaged here, and cannot be used", t->line);
    return JOURNAL_DAMAGED;
}

enum journal_found journal_read(struct journal_text *t, struct journal_entry *entry,
                                struct why *why)
{
    struct journal_text before = *t;
    struct rest line = { "", "" };
    if (t->at == t->size)
        return JOURNAL_END;
    bool whole = next_line(t, &line);
    struct rest test = line;
    if (whole && take_round(&line, t->rounds, &entry->phase)) {
        t->rounds++;
        return JOURNAL_ROUND;
    }
    if (whole && t->rounds && take_test(&test, t->tests, &entry->test)) {
        t->tests++;
        return JOURNAL_TEST;
    }
    return torn_or_damaged(t, &before, why);
}

/* ---- writing ---------------------------------------------------------------------------------- */

bool journal_write_head(const struct journal_head *head, FILE *out)
{
    struct rest bias = { head->bias, head->bias + strlen(head->bias) };
    fprintf(out, "%s\n", first_line);
    for (const struct journal_fact *fact = head->facts; fact->name; fact++)
        fprintf(out, "fact %s %s\n", fact->name, fact->value);
    while (bias.at < bias.end) {
        struct rest line = next_of(&bias);
        fprintf(out, "bias %.*s\n", length_of(line), line.at);
    }
    fputs("begin\n", out);
    return !ferror(out);
}

bool journal_write_round(uint64_t number, enum tune_phase phase, FILE *out)
{
    return fprintf(out, "round %" PRIu64 " %s\n", number, phases[phase]) > 0;
}

static void write_test(uint64_t number, const struct tune_test *t, FILE *out)
{
    uint32_t before = UINT32_MAX;
    fprintf(out, "test %" PRIu64 " %s %" PRIu64 " %" PRIu64, number, results[t->result], t->cost,
            t->milliseconds);
    for (uint32_t p = 0; p < COVER_POINTS; p++)
        if (cover_is_hit(&t->hits, p)) {
            fprintf(out, " %" PRIu32, p - before);
            before = p;
        }
}

bool journal_write_test(uint64_t number, const struct tune_test *test, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *line = text_stream(&text, &size);
    if (!line)
        return false;
    write_test(number, test, line);
    bool good = fclose(line) == 0 && fwrite(text, 1, size, out) == size
             && fprintf(out, " #%016" PRIx64 "\n", checksum(text, size)) > 0;
    free(text);
    return good;
}
