/* SPDX-License-Identifier: Apache-2.0 */
#include "stepper.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "variables.h"

/* What is in whose buffer after a step. */
struct held {
    size_t step;
    uint32_t thread;
    struct explore_entry entry;
};

struct walk {
    const struct stepper *s;
    FILE *in, *out;
    LIST(struct held) held; /* by step */
    bool out_of_memory;
    size_t asked; /* the step after which a variable is looked at ... */
    uint32_t address, size, value;
};

static void keep_buffers(void *user, size_t step, const struct explore_view *v)
{
    struct walk *w = user;
    struct held h = { .step = step };
    for (h.thread = 0; h.thread < explore_view_threads(v); h.thread++)
        for (size_t k = 0; explore_view_entry(v, h.thread, k, &h.entry); k++)
            w->out_of_memory |= !LIST_PUSH(&w->held, h);
}

static bool follow(struct walk *w,
                   void (*after)(void *user, size_t step, const struct explore_view *v))
{
    struct event_list again = { 0 };
    struct ordeal_error error;
    enum ordeal_status status = explore_follow(w->s->account->image, w->s->options, w->s->path,
                                               &again, after, w, &error);
    explore_events_free(&again);
    return status == ORDEAL_OK && !w->out_of_memory;
}

/* ---- one step ---------------------------------------------------------------------------- */

static void put_where(struct walk *w, size_t step)
{
    struct account *a = w->s->account;
    const struct explore_step *p = &w->s->path->step[step];
    struct source_place at;
    fprintf(w->out, "step %zu of %zu: ", step + 1, w->s->path->steps);
    if (p->flush) {
        fprintf(w->out, "the buffer of thread %u", p->thread);
        return;
    }
    fprintf(w->out, "thread %u", p->thread);
    for (size_t i = 0; i < a->events->count; i++)
        if (a->events->event[i].step == step && a->events->event[i].thread == p->thread
            && lines_place(&a->lines, &a->events->event[i], &at)) {
            fputs("  ", w->out);
            lines_put(&a->lines, lines_short_name(at.file), &at, "  ", w->out);
            return;
        }
}

static bool is_public(const struct account *a, uint32_t event)
{
    const struct program_event *e = &a->events->event[event];
    return a->item[event].row || (event_is_access(e) && !e->private_access)
        || ((e->kind == EVENT_COMMIT || e->kind == EVENT_DROP)
            && !a->events->event[e->cause].private_access);
}

static void put_events(struct walk *w, size_t step)
{
    const struct account *a = w->s->account;
    for (uint32_t i = 0; i < a->events->count; i++) {
        char words[ACCOUNT_WORDS];
        if (a->events->event[i].step != step || !is_public(a, i))
            continue;
        account_words(a, i, words);
        fputs("    ", w->out);
        escape_write(words, false, w->out);
        fputc('\n', w->out);
    }
}

static void put_value(struct walk *w, uint32_t address, uint32_t value, uint32_t size,
                      uint32_t event)
{
    char place[PLACE_NAME], text[PLACE_NAME];
    places_name(&w->s->account->places, address, event, place);
    places_value(&w->s->account->places, value, size, event, text);
    fputs("  ", w->out);
    escape_write(place, false, w->out);
    fputs(" = ", w->out);
    escape_write(text, false, w->out);
}

static uint32_t last_event(const struct account *a, size_t step)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < a->events->count; i++)
        if (a->events->event[i].step <= step)
            last = i;
    return last;
}

static void put_buffers(struct walk *w, size_t step)
{
    uint32_t event = last_event(w->s->account, step), thread = ACCOUNT_NONE;
    for (size_t i = 0; i < w->held.count; i++) {
        const struct held *h = &w->held.data[i];
        if (h->step != step)
            continue;
        if (h->thread != thread)
            fprintf(w->out, "%s    buffer of thread %" PRIu32 ":",
                    thread == ACCOUNT_NONE ? "" : "\n", h->thread);
        thread = h->thread;
        put_value(w, h->entry.address, h->entry.value, h->entry.size, event);
        fputs(h->entry.flushed ? " (sure to be in memory)" : "", w->out);
    }
    if (thread != ACCOUNT_NONE)
        fputc('\n', w->out);
}

static void put_memory(struct walk *w, size_t step)
{
    const struct account *a = w->s->account;
    bool any = false;
    for (uint32_t i = 0; i < a->events->count; i++) {
        const struct program_event *e = &a->events->event[i];
        const struct program_event *s = e->kind == EVENT_COMMIT ? &a->events->event[e->cause] : e;
        bool writes = e->kind == EVENT_COMMIT
                   || (event_is_access(e) && event_writes(e)
                       && !(e->kind == EVENT_STORE && e->buffered));
        if (e->step != step || !writes || s->private_access)
            continue;
        if (!any)
            fputs("    memory:", w->out);
        any = true;
        put_value(w, s->address, s->written, s->size, i);
    }
    if (any)
        fputc('\n', w->out);
}

static void put_step(struct walk *w, size_t step)
{
    put_where(w, step);
    fputc('\n', w->out);
    put_events(w, step);
    put_buffers(w, step);
    put_memory(w, step);
}

bool stepper_print(const struct stepper *s, FILE *out)
{
    struct walk w = { .s = s, .out = out };
    bool fine = follow(&w, keep_buffers);
    for (size_t i = 0; fine && i < s->path->steps; i++)
        put_step(&w, i);
    LIST_FREE(&w.held);
    return fine;
}

/* ---- on a terminal ----------------------------------------------------------------------- */

static void look(void *user, size_t step, const struct explore_view *v)
{
    struct walk *w = user;
    if (step == w->asked)
        w->value = explore_view_read(v, w->address, w->size);
}

static void print_variable(struct walk *w, size_t step, const char *name)
{
    struct variable v;
    struct why why;
    if (!variable_find(w->s->account->image, name, &v, &why)) {
        escape_write(why.text, false, w->out);
        fputc('\n', w->out);
        return;
    }
    w->asked = step;
    w->address = v.address;
    w->size = v.size;
    if (follow(w, look)) {
        put_value(w, v.address, w->value, v.size, last_event(w->s->account, step));
        fputs(" in memory\n", w->out);
    }
}

static const char help_text[] =
    "  next (or an empty line), back, first, last, go N; print NAME: what memory has of a variable;\n"
    "  quit\n";

/* Does what a line says; the step to show next, or SIZE_MAX: none. */
static size_t obey(struct walk *w, char *line, size_t step, bool *quit)
{
    size_t last = w->s->path->steps - 1;
    char *word = line + strspn(line, " \t"), *rest = word + strcspn(word, " \t\n");
    if (*rest)
        *rest++ = '\0';
    rest += strspn(rest, " \t");
    rest[strcspn(rest, "\n")] = '\0';
    switch (tolower((unsigned char)*word)) {
    case '\0':
    case 'n': return step < last ? step + 1 : step;
    case 'b': return step ? step - 1 : 0;
    case 'f': return 0;
    case 'l': return last;
    case 'g':;
        unsigned long to = strtoul(rest, NULL, 10);
        return to < 1 ? 0 : to > last ? last : to - 1;
    case 'p': print_variable(w, step, rest); return SIZE_MAX;
    case 'q': *quit = true; return SIZE_MAX;
    default: fputs(help_text, w->out); return SIZE_MAX;
    }
}

bool stepper_interact(const struct stepper *s, FILE *in, FILE *out)
{
    struct walk w = { .s = s, .in = in, .out = out };
    char line[256];
    bool fine = follow(&w, keep_buffers), quit = false;
    size_t step = 0, show = 0;
    fputs(help_text, out);
    while (fine && !quit && s->path->steps) {
        if (show != SIZE_MAX)
            put_step(&w, step = show);
        fputs("(step) ", out);
        fflush(out);
        if (!fgets(line, sizeof line, in))
            break;
        show = obey(&w, line, step, &quit);
    }
    LIST_FREE(&w.held);
    return fine;
}
