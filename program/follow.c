/* SPDX-License-Identifier: Apache-2.0 */
/* A path again, step by step, with its events. */
#include <stdlib.h>
#include <string.h>

#include "contention.h"
#include "exploration.h"
#include "record.h"
#include "waits.h"

struct explore_view {
    const struct state *s;
};

uint32_t explore_view_threads(const struct explore_view *v) { return v->s->threads; }

bool explore_view_thread(const struct explore_view *v, uint32_t thread, uint32_t *pc,
                         const uint32_t **registers, const char **status)
{
    static const char *const text[] = { "free", "runs", "waits", "woken", "loops", "ended" };
    if (thread >= v->s->threads || v->s->thread[thread].status == THREAD_FREE)
        return false;
    const struct thread *t = &v->s->thread[thread];
    *pc = t->pc;
    *registers = t->x;
    *status = text[t->status];
    return true;
}

uint32_t explore_view_read(const struct explore_view *v, uint32_t address, uint32_t size)
{
    const uint8_t *place = state_peek(v->s, address, size, false);
    return place ? state_get(place, size) : 0;
}

bool explore_view_entry(const struct explore_view *v, uint32_t thread, size_t k,
                        struct explore_entry *entry)
{
    return thread < v->s->threads && v->s->model->entry(v->s, thread, k, entry);
}

void explore_events_free(struct event_list *events)
{
    for (size_t i = 0; i < events->count; i++)
        free((char *)events->event[i].text);
    free(events->event);
    *events = (struct event_list){ NULL, 0 };
}

/* ---- following ---------------------------------------------------------------------------- */

static void draw(struct state *s, const struct explore_path *path, const struct explore_step *step)
{
    struct choices *c = &s->choices;
    c->known = step->choice_count < CHOICES ? step->choice_count : CHOICES;
    memcpy(c->drawn, path->choice + step->choices, c->known * sizeof *c->drawn);
    memset(c->of, 0, c->known * sizeof *c->of);
}

static void tell_error(struct state *s)
{
    struct program_event *e = record(s, EVENT_ERROR, s->error_thread);
    if (!e)
        return;
    e->pc = s->error_pc;
    record_text(s, e, s->text);
}

/* False: the path is none of this program. */
static bool follow_step(struct state *s, const struct explore_path *path, size_t i)
{
    const struct explore_step *step = &path->step[i];
    s->recorder->step = (uint32_t)i;
    draw(s, path, step);
    if (step->thread >= s->threads)
        return false;
    if (!step->flush)
        step_thread(s, step->thread);
    else if (step->flush > s->model->moves(s, step->thread))
        return false;
    else
        step_flush(s, step->thread, step->flush - 1u);
    if (s->end == STEP_ERROR)
        tell_error(s);
    return s->end == STEP_DONE || (s->end == STEP_ERROR && i + 1 == path->steps);
}

static bool follow(struct state *s, const struct explore_path *path,
                   void (*after)(void *user, size_t step, const struct explore_view *v), void *user)
{
    struct explore_view view = { s };
    for (size_t i = 0; i < path->steps; i++) {
        if (!follow_step(s, path, i))
            return false;
        if (after)
            after(user, i, &view);
        if (s->end == STEP_ERROR)
            return true;
        state_mark(s);
    }
    for (uint32_t t = 0; t < s->threads; t++) {
        char text[128];
        if (thread_waits_for(s, t, text, sizeof text))
            record_text(s, record(s, EVENT_BLOCK, t), text);
    }
    return true;
}

/* As the search that found it knew memory. */
static struct state *state_for(const struct program_code *code,
                               const struct explore_options *options,
                               const struct explore_path *path)
{
    struct state *s = state_new(code, options);
    if (!s || !path->learned)
        return s;
    s->contention = contention_new();
    if (s->contention) {
        contention_expect(s->contention, path->contended, path->contendeds);
        if (contention_accept(s->contention))
            return s;
    }
    contention_free(s->contention);
    state_free(s);
    return NULL;
}

static void state_is_followed(struct state *s)
{
    if (s)
        contention_free(s->contention);
    state_free(s);
}

void follow_finding(const struct program_code *code, const struct explore_options *options,
                    struct explore_finding *f)
{
    struct event_recorder recorder = { .step = 0 };
    struct state *s = state_for(code, options, &f->path);
    if (!s)
        return;
    s->follows = true;
    s->recorder = &recorder;
    state_begin(s);
    if (follow(s, &f->path, NULL, NULL) && s->end == STEP_ERROR) {
        f->error = s->error;
        memcpy(f->text, s->text, sizeof f->text);
    }
    explore_events_free(&recorder.list);
    state_is_followed(s);
}

enum ordeal_status explore_follow(const struct image *image, const struct explore_options *options,
                                  const struct explore_path *path, struct event_list *events,
                                  void (*after)(void *user, size_t step,
                                                const struct explore_view *v),
                                  void *user, struct ordeal_error *error)
{
    struct program_code code;
    struct event_recorder recorder = { .step = 0 };
    *events = (struct event_list){ NULL, 0 };
    if (!program_code_new(&code, image, error))
        return error->status;
    struct explore_options as_found = *options;
    as_found.local &= (uint8_t)~path->not_local;
    struct state *s = state_for(&code, &as_found, path);
    *error = (struct ordeal_error){ .status = ORDEAL_NO_MEMORY,
                                    .reason = "no memory to follow a path" };
    if (s) {
        s->follows = true;
        s->recorder = &recorder;
        state_begin(s);
        bool there = follow(s, path, after, user);
        if (!there)
            *error = (struct ordeal_error){
                .status = ORDEAL_BAD_INPUT, .reason = "the path is none of this program and options"
            };
        else if (!recorder.failed)
            error->status = ORDEAL_OK;
    }
    *events = recorder.list;
    if (error->status)
        explore_events_free(events);
    state_is_followed(s);
    program_code_free(&code);
    return error->status;
}
