/* SPDX-License-Identifier: Apache-2.0 */
/* One event in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "account.h"
#include "calls.h"

const char *account_kind(uint8_t kind)
{
    static const char *const names[EVENT_KINDS] = {
        [EVENT_LOAD] = "load",     [EVENT_STORE] = "store",   [EVENT_ATOMIC] = "atomic",
        [EVENT_FENCE] = "fence",   [EVENT_COMMIT] = "commit", [EVENT_DROP] = "drop",
        [EVENT_CALL] = "call",     [EVENT_PRINT] = "print",   [EVENT_CREATE] = "create",
        [EVENT_JOIN] = "join",     [EVENT_BLOCK] = "block",   [EVENT_EXIT] = "exit",
        [EVENT_CHOICE] = "choice", [EVENT_ERROR] = "error",
    };
    return kind < EVENT_KINDS ? names[kind] : "unknown";
}

struct wording {
    const struct account *a;
    char *text;
    char place[PLACE_NAME], value[PLACE_NAME];
};

__attribute__((format(printf, 2, 3))) static void say(struct wording *w, const char *format, ...)
{
    size_t length = strlen(w->text);
    va_list args;
    va_start(args, format);
    vsnprintf(w->text + length, ACCOUNT_WORDS - length, format, args);
    va_end(args);
}

static const char *place(struct wording *w, uint32_t address, uint32_t event)
{
    places_name(&w->a->places, address, event, w->place);
    return w->place;
}

static const char *value(struct wording *w, uint32_t number, uint32_t size, uint32_t event)
{
    places_value(&w->a->places, number, size, event, w->value);
    return w->value;
}

/* "(step 3)", or where it is when it is not told. */
static void say_where(struct wording *w, uint32_t event)
{
    struct source_place at;
    if (w->a->by_path)
        say(w, " (step %" PRIu32 ")", w->a->events->event[event].step + 1);
    else if (w->a->item[event].row)
        say(w, " (step %" PRIu32 ")", w->a->item[event].row);
    else if (lines_place(&w->a->lines, &w->a->events->event[event], &at))
        say(w, " (%s:%" PRIu32 ")", lines_short_name(at.file), at.line);
}

static void say_from(struct wording *w, uint32_t event)
{
    const struct program_event *e = &w->a->events->event[event];
    const struct account_item *item = &w->a->item[event];
    if (e->forwarded) {
        say(w, ", from its own buffer");
    } else if (item->from == ACCOUNT_NONE) {
        say(w, ", as at the start");
        return;
    } else {
        uint32_t thread = w->a->events->event[item->from].thread;
        if (thread == e->thread)
            say(w, ", which it wrote itself");
        else
            say(w, ", which thread %" PRIu32 " wrote", thread);
    }
    if (item->from != ACCOUNT_NONE)
        say_where(w, item->from);
}

static void say_unseen(struct wording *w, uint32_t event)
{
    const struct account_item *item = &w->a->item[event];
    if (item->newer != ACCOUNT_NONE) {
        const struct program_event *s = &w->a->events->event[item->newer];
        say(w, "; an old value: memory has %s", value(w, s->written, s->size, item->newer));
        say(w, " of thread %" PRIu32, s->thread);
        say_where(w, item->newer);
    } else if (item->waiting != ACCOUNT_NONE) {
        const struct program_event *s = &w->a->events->event[item->waiting];
        say(w, "; %s of thread %" PRIu32, value(w, s->written, s->size, item->waiting), s->thread);
        say_where(w, item->waiting);
        say(w, " is still in its buffer");
    }
}

static void say_read(struct wording *w, uint32_t event)
{
    const struct program_event *e = &w->a->events->event[event];
    say(w, "%s ", place(w, e->address, event));
    say(w, "is %s", value(w, e->read, e->size, event));
    say_from(w, event);
    if (e->kind == EVENT_ATOMIC && e->wrote)
        say(w, "; it becomes %s at once", value(w, e->written, e->size, event));
    say_unseen(w, event);
}

static void say_store(struct wording *w, uint32_t event)
{
    const struct program_event *e = &w->a->events->event[event];
    say(w, "%s = ", place(w, e->address, event));
    say(w, "%s%s", value(w, e->written, e->size, event),
        e->buffered ? " goes into its buffer" : "");
}

static void say_left(struct wording *w, uint32_t event)
{
    const struct program_event *e = &w->a->events->event[event],
                               *s = &w->a->events->event[e->cause];
    say(w, "%s = ", place(w, s->address, e->cause));
    say(w, "%s of thread %" PRIu32, value(w, s->written, s->size, e->cause), s->thread);
    say_where(w, e->cause);
    say(w, "%s", e->kind == EVENT_COMMIT ? " reaches memory" : " is dropped: its memory is gone");
}

static void say_set(struct wording *w, unsigned set)
{
    say(w, "%s%s", set & 2 ? "r" : "", set & 1 ? "w" : "");
}

static void say_fence(struct wording *w, const struct program_event *e)
{
    say(w, "fence ");
    say_set(w, e->fence >> 4 & 3);
    say(w, ",");
    say_set(w, e->fence & 3);
    if ((e->fence & 0x80) != 0)
        say(w, " (fence.tso)");
    else if ((e->fence >> 4 & 1) && (e->fence & 2) && w->a->model != EXPLORE_SC)
        say(w, ": its buffer is empty before it goes on");
}

static void say_call(struct wording *w, uint32_t event)
{
    const struct program_event *e = &w->a->events->event[event];
    const char *first = place(w, e->argument[0], event);
    switch (e->call) {
    case PROGRAM_CALL_EXIT:
        say(w, "the program ends with status %" PRId32, (int32_t)e->argument[0]);
        break;
    case PROGRAM_CALL_MUTEX_LOCK: say(w, "locks %s", first); break;
    case PROGRAM_CALL_MUTEX_TRYLOCK:
        say(w, e->read ? "tries to lock %s in vain" : "locks %s, which it tried", first);
        break;
    case PROGRAM_CALL_MUTEX_UNLOCK: say(w, "unlocks %s", first); break;
    case PROGRAM_CALL_MUTEX_DESTROY: say(w, "destroys %s", first); break;
    case PROGRAM_CALL_COND_WAIT: say(w, "waits for %s", first); break;
    case PROGRAM_CALL_COND_SIGNAL: say(w, "signals %s", first); break;
    case PROGRAM_CALL_COND_BROADCAST: say(w, "wakes all who wait for %s", first); break;
    case PROGRAM_CALL_ALLOCATE:
        say(w, "allocates %s", place(w, e->read, event));
        say(w, ", %" PRIu32 " bytes", e->argument[0]);
        break;
    case PROGRAM_CALL_FREE: say(w, "frees %s", e->argument[0] ? first : "nothing"); break;
    case PROGRAM_CALL_ATOMIC_BEGIN: say(w, "begins an atomic section"); break;
    case PROGRAM_CALL_ATOMIC_END: say(w, "ends its atomic section"); break;
    case PROGRAM_CALL_CRITICAL_BEGIN: say(w, "enters its critical section"); break;
    case PROGRAM_CALL_CRITICAL_END: say(w, "leaves its critical section"); break;
    default: say(w, "call %u", e->call);
    }
}

static void say_awaited(struct wording *w, uint32_t event)
{
    const struct program_event *e = &w->a->events->event[event];
    say(w, "%s", e->text ? e->text : "for others");
}

void account_awaited(const struct account *a, uint32_t event, char words[ACCOUNT_WORDS])
{
    struct wording w = { .a = a, .text = words };
    words[0] = '\0';
    say_awaited(&w, event);
}

static void say_other(struct wording *w, const struct program_event *e)
{
    switch (e->kind) {
    case EVENT_PRINT: say(w, "prints: %s", e->text ? e->text : ""); break;
    case EVENT_CREATE: say(w, "starts thread %" PRIu32, e->other); break;
    case EVENT_JOIN: say(w, "joins thread %" PRIu32 ", which has ended", e->other); break;
    case EVENT_EXIT: say(w, "ends"); break;
    case EVENT_CHOICE: say(w, "draws the value %" PRId32, (int32_t)e->read); break;
    case EVENT_ERROR: say(w, "error: %s", e->text ? e->text : ""); break;
    default: break;
    }
}

void account_words(const struct account *a, uint32_t event, char words[ACCOUNT_WORDS])
{
    const struct program_event *e = &a->events->event[event];
    struct wording w = { .a = a, .text = words };
    words[0] = '\0';
    switch (e->kind) {
    case EVENT_LOAD:
    case EVENT_ATOMIC: say_read(&w, event); break;
    case EVENT_STORE: say_store(&w, event); break;
    case EVENT_COMMIT:
    case EVENT_DROP: say_left(&w, event); break;
    case EVENT_FENCE: say_fence(&w, e); break;
    case EVENT_CALL: say_call(&w, event); break;
    case EVENT_BLOCK:
        say(&w, "waits ");
        say_awaited(&w, event);
        break;
    default: say_other(&w, e);
    }
    for (size_t end = strlen(words); end > 0 && words[end - 1] == '\n'; end--)
        words[end - 1] = '\0';
}
