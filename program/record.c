/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <stdlib.h>
#include <string.h>

uint32_t record_next(const struct state *s)
{
    return s->recorder ? (uint32_t)s->recorder->list.count : 0;
}

static struct program_event *add(struct event_recorder *r)
{
    if (r->list.count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 256;
        void *more = realloc(r->list.event, capacity * sizeof *r->list.event);
        if (!more) {
            r->failed = true;
            return NULL;
        }
        r->list.event = more;
        r->capacity = capacity;
    }
    struct program_event *e = &r->list.event[r->list.count++];
    memset(e, 0, sizeof *e);
    return e;
}

struct reading {
    const struct state *s;
    uint32_t thread;
};

static uint32_t read_word(void *user, uint32_t address)
{
    const struct reading *r = user;
    uint32_t value = 0;
    for (uint32_t k = 0; k < 4; k++)
        value |= (uint32_t)r->s->model->peek(r->s, r->thread, address + k) << 8 * k;
    return value;
}

uint32_t thread_callers(const struct state *s, uint32_t thread, uint32_t *caller, uint32_t most)
{
    struct reading reading = { s, thread };
    uint32_t pc = s->thread[thread].pc, x[32], n = 0;
    memcpy(x, s->thread[thread].x, sizeof x);
    while (n < most && image_unwind(s->code->image, &pc, x, read_word, &reading))
        caller[n++] = pc;
    return n;
}

struct program_event *record_event(struct state *s, enum event_kind kind, uint32_t thread)
{
    struct program_event *e = add(s->recorder);
    if (!e)
        return NULL;
    e->kind = (uint8_t)kind;
    e->thread = thread;
    e->step = s->recorder->step;
    e->pc = s->thread[thread].pc;
    e->frame = s->thread[thread].x[8];
    if (!s->recorder->brief)
        thread_callers(s, thread, e->caller, EVENT_CALLERS);
    return e;
}

struct program_event *record_accessed(struct state *s, enum event_kind kind, const struct access *a,
                                      uint32_t read, uint32_t written)
{
    struct program_event *e = record(s, kind, a->thread);
    if (!e)
        return NULL;
    e->size = a->size;
    e->address = a->address;
    e->read = read;
    e->written = written;
    e->forwarded = s->recorder->forwarded;
    s->recorder->forwarded = false;
    return e;
}

void record_forwarded(struct state *s)
{
    if (s->recorder)
        s->recorder->forwarded = true;
}

static void record_leaving(struct state *s, enum event_kind kind, uint32_t thread,
                           const struct buffer_entry *b)
{
    struct program_event *e = record(s, kind, thread);
    if (!e)
        return;
    e->pc = b->pc;
    e->size = b->size;
    e->address = b->address;
    e->written = b->value;
    e->cause = b->cause;
}

void record_commit(struct state *s, uint32_t thread, const struct buffer_entry *e)
{
    record_leaving(s, EVENT_COMMIT, thread, e);
}

void record_drop(struct state *s, uint32_t thread, const struct buffer_entry *e)
{
    record_leaving(s, EVENT_DROP, thread, e);
}

void record_text(struct state *s, struct program_event *e, const char *text)
{
    if (!e)
        return;
    e->text = strdup(text);
    if (!e->text)
        s->recorder->failed = true;
}
