/* SPDX-License-Identifier: Apache-2.0 */
/* A counterexample as text: the story, the steps under the lines they are of, what was printed. */
#include <inttypes.h>
#include <string.h>

#include "account.h"
#include "base/escape.h"

/* What the steps below it are of. */
struct heading {
    uint32_t thread; /* ACCOUNT_NONE: memory */
    bool known;
    struct source_place at;
};

static struct heading heading_of(const struct account *a, const struct program_event *e)
{
    struct heading h = { .thread = ACCOUNT_NONE };
    if (e->kind == EVENT_COMMIT || e->kind == EVENT_DROP)
        return h;
    h.thread = e->thread;
    h.known = lines_place(&a->lines, e, &h.at);
    return h;
}

static bool same_heading(const struct heading *x, const struct heading *y)
{
    return x->thread == y->thread && x->known == y->known
        && (!x->known || (x->at.line == y->at.line && strcmp(x->at.file, y->at.file) == 0));
}

static void put_heading(struct account *a, const struct heading *h, FILE *out)
{
    char place[256] = "";
    if (h->thread == ACCOUNT_NONE) {
        fputs("memory\n", out);
        return;
    }
    if (h->known)
        snprintf(place, sizeof place, "%s:%" PRIu32, lines_short_name(h->at.file), h->at.line);
    fprintf(out, "thread %" PRIu32 "  ", h->thread);
    escape_write(place, false, out);
    if (h->known && *lines_text(&a->lines, &h->at)) {
        fputs("    ", out);
        escape_write(lines_text(&a->lines, &h->at), false, out);
    }
    fputc('\n', out);
}

/* Of a loop that looks again and again. */
static void put_again(uint32_t *again, FILE *out)
{
    if (*again)
        fprintf(out, "        ... %" PRIu32 " times more\n", *again);
    *again = 0;
}

void account_steps(struct account *a, FILE *out)
{
    struct heading last = { 0 };
    bool first = true;
    char before[ACCOUNT_WORDS] = "";
    uint32_t again = 0;
    for (uint32_t i = 0; i < a->events->count; i++) {
        if (!a->item[i].row)
            continue;
        struct heading h = heading_of(a, &a->events->event[i]);
        char words[ACCOUNT_WORDS];
        account_words(a, i, words);
        bool same = !first && same_heading(&h, &last);
        if (same && strcmp(words, before) == 0) {
            again++;
            continue;
        }
        put_again(&again, out);
        if (!same)
            put_heading(a, &h, out);
        first = false;
        last = h;
        strcpy(before, words);
        fprintf(out, "  %4" PRIu32 "  ", a->item[i].row);
        escape_write(words, false, out);
        fputc('\n', out);
    }
    put_again(&again, out);
}

static void put_output(const struct account *a, FILE *out)
{
    bool any = false;
    for (size_t i = 0; i < a->events->count; i++) {
        const struct program_event *e = &a->events->event[i];
        if (e->kind != EVENT_PRINT || !e->text)
            continue;
        if (!any)
            fputs("\nThe program printed:\n", out);
        any = true;
        escape_write(e->text, true, out);
    }
    if (any)
        fputc('\n', out);
}

bool account_text(struct account *a, const struct explore_finding *f, FILE *out)
{
    struct account_story s;
    bool whole = account_story(a, f, &s);
    for (size_t i = 0; i < s.sentence.count; i++) {
        escape_write(s.sentence.data[i], false, out);
        fputc('\n', out);
    }
    fputs("\nSteps:\n", out);
    account_steps(a, out);
    put_output(a, out);
    account_story_free(&s);
    return whole;
}
