/* SPDX-License-Identifier: Apache-2.0 */
/* What comes first: what went wrong, whether it takes a weak memory and which accesses show that,
 * what waits at the end. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "account.h"
#include "base/text.h"

struct telling {
    struct account *a;
    struct account_story *story;
    bool out_of_memory;
};

__attribute__((format(printf, 2, 3))) static void say(struct telling *t, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0 || !LIST_PUSH(&t->story->sentence, text)) {
        t->out_of_memory = true;
        if (length >= 0)
            free(text);
    }
}

/* clang-format off */
static const char *const sentences[EXPLORE_ERRORS] = {
    [EXPLORE_ASSERTION] = "An assertion does not hold",
    [EXPLORE_REACHED] = "reach_error() is reached",
    [EXPLORE_ABORT] = "The program aborts",
    [EXPLORE_EXCLUSION] = "Two threads are in their critical sections at once",
    [EXPLORE_UNMAPPED] = "An access goes where there is no memory",
    [EXPLORE_READ_ONLY] = "A store goes to memory that may only be read",
    [EXPLORE_FREED] = "An access goes to memory that was freed",
    [EXPLORE_MISALIGNED] = "An access is not aligned to its size",
    [EXPLORE_DOUBLE_FREE] = "Memory is freed that is not allocated",
    [EXPLORE_LATE_STORE] = "Memory is gone while another thread's store to it is still in a buffer",
    [EXPLORE_DEADLOCK] = "No thread can go on",
    [EXPLORE_UNLOCK] = "A mutex is unlocked by a thread that does not hold it",
    [EXPLORE_INSTRUCTION] = "An instruction is executed that is none",
    [EXPLORE_STACK] = "A stack runs out",
    [EXPLORE_NOT_THERE] = "A function is called that the run-time has not",
};
/* clang-format on */

static void say_error(struct telling *t, const struct explore_finding *f)
{
    struct program_event e = { .pc = f->pc };
    struct source_place at;
    for (size_t i = 0; i < t->a->events->count; i++)
        if (t->a->events->event[i].kind == EVENT_ERROR)
            e = t->a->events->event[i];
    const char *what = f->error < EXPLORE_ERRORS && sentences[f->error] ? sentences[f->error]
                                                                        : "Error";
    const char *more = strcmp(f->text, explore_error_text(f->error)) ? f->text : "";
    char function[PLACE_NAME] = "";
    if (!f->pc || !lines_place(&t->a->lines, &e, &at)) {
        say(t, "%s%s%s.", what, *more ? ": " : "", more);
        return;
    }
    place_plain_name(at.function ? at.function : "", function);
    say(t, "%s%s%s: thread %" PRIu32 " at %s:%" PRIu32 "%s%s.", what, *more ? ": " : "", more,
        f->thread, lines_short_name(at.file), at.line, *function ? ", in " : "", function);
}

static void say_core(struct telling *t)
{
    struct account *a = t->a;
    for (size_t i = 0; i < a->core.count; i++) {
        if (a->core.data[i] == ACCOUNT_NONE)
            continue;
        const struct program_event *e = &a->events->event[a->core.data[i]];
        char words[ACCOUNT_WORDS];
        struct source_place at;
        account_words(a, a->core.data[i], words);
        if (lines_place(&a->lines, e, &at))
            say(t, "  thread %" PRIu32 "  %s:%" PRIu32 "  %s", e->thread, lines_short_name(at.file),
                at.line, words);
        else
            say(t, "  thread %" PRIu32 "  %s", e->thread, words);
    }
}

static void say_relaxed(struct telling *t)
{
    struct account *a = t->a;
    if (a->relaxed == ACCOUNT_RELAXED) {
        say(t, "It takes a memory that is weaker than sequential consistency: no order of these "
               "explains what they saw.");
        say_core(t);
    } else if (a->relaxed == ACCOUNT_SC && a->model != EXPLORE_SC) {
        say(t, "It does not take a weak memory: the same can happen under sequential consistency.");
    }
}

static void say_buffers(struct telling *t)
{
    struct account *a = t->a;
    for (uint32_t i = 0; i < a->events->count; i++) {
        const struct program_event *e = &a->events->event[i];
        char place[PLACE_NAME], value[PLACE_NAME];
        if (e->kind != EVENT_STORE || !e->buffered || !a->item[i].row
            || a->item[i].left != ACCOUNT_NONE)
            continue;
        places_name(&a->places, e->address, i, place);
        places_value(&a->places, e->written, e->size, i, value);
        say(t,
            "At the end %s = %s of thread %" PRIu32 " (step %" PRIu32 ") is still in its buffer.",
            place, value, e->thread, a->item[i].row);
    }
}

/* Did the thread not go on after it? */
static bool is_last(const struct account *a, uint32_t event)
{
    for (size_t i = event + 1; i < a->events->count; i++)
        if (a->events->event[i].thread == a->events->event[event].thread
            && a->events->event[i].kind != EVENT_COMMIT && a->events->event[i].kind != EVENT_DROP)
            return false;
    return true;
}

static void say_blocked(struct telling *t)
{
    for (uint32_t i = 0; i < t->a->events->count; i++) {
        const struct program_event *e = &t->a->events->event[i];
        struct source_place at;
        char what[ACCOUNT_WORDS];
        if (e->kind != EVENT_BLOCK || !is_last(t->a, i))
            continue;
        account_awaited(t->a, i, what);
        if (lines_place(&t->a->lines, e, &at))
            say(t, "Thread %" PRIu32 " waits at %s:%" PRIu32 " %s.", e->thread,
                lines_short_name(at.file), at.line, what);
        else
            say(t, "Thread %" PRIu32 " waits %s.", e->thread, what);
    }
}

bool account_story(struct account *a, const struct explore_finding *f, struct account_story *s)
{
    struct telling t = { .a = a, .story = s };
    *s = (struct account_story){ 0 };
    say_error(&t, f);
    if (f->error == EXPLORE_DEADLOCK)
        say_blocked(&t);
    say_relaxed(&t);
    say_buffers(&t);
    return !t.out_of_memory;
}

void account_story_free(struct account_story *s)
{
    for (size_t i = 0; i < s->sentence.count; i++)
        free(s->sentence.data[i]);
    LIST_FREE(&s->sentence);
}
