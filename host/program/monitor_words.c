/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor_words.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/escape.h"

bool monitor_story_make(struct monitor_story *s, struct ordeal_error *why)
{
    if (explore_follow(s->image, s->options, &s->finding->path, &s->events, NULL, NULL, why)
        != ORDEAL_OK)
        return false;
    return account_make(&s->account, s->image, &s->events, EXPLORE_SC)
        || error_out_of_memory(why, "");
}

void monitor_story_free(struct monitor_story *s)
{
    account_free(&s->account);
    explore_events_free(&s->events);
}

/* The event of a step at this place; where there are several, the access. */
static const struct program_event *event_of(const struct monitor_story *s, uint32_t step,
                                            uint32_t pc)
{
    const struct program_event *found = NULL;
    for (size_t i = 0; i < s->events.count; i++) {
        const struct program_event *e = &s->events.event[i];
        if (e->step == step && e->pc == pc && (!found || event_is_access(e)))
            found = e;
    }
    return found;
}

enum { PLACE_TEXT = 1024 };

static void place_of(const struct monitor_story *s, uint32_t step, uint32_t pc,
                     char text[PLACE_TEXT])
{
    const struct program_event *e = event_of(s, step, pc);
    struct program_event none = { .pc = pc };
    struct source_place at;
    if (lines_place(&s->account.lines, e ? e : &none, &at))
        snprintf(text, PLACE_TEXT, "%s:%" PRIu32, lines_near_name(at.file), at.line);
    else
        snprintf(text, PLACE_TEXT, "0x%" PRIx32, pc);
}

static const char *second_word(uint8_t kind) { return kind == MONITOR_LOAD ? "load" : "store"; }

static cJSON *pair_object(struct monitor_story *s, uint32_t k)
{
    cJSON *pair = cJSON_CreateObject();
    char text[PLACE_TEXT];
    cJSON_AddNumberToObject(pair, "thread", s->finding->pair[k].thread);
    place_of(s, s->finding->pair[k].first_step, s->finding->pair[k].first_pc, text);
    cJSON_AddStringToObject(pair, "store", text);
    place_of(s, s->finding->pair[k].second_step, s->finding->pair[k].second_pc, text);
    cJSON_AddStringToObject(pair, "then", second_word(s->finding->pair[k].second_kind));
    cJSON_AddStringToObject(pair, "at", text);
    return pair;
}

void monitor_story_line(struct monitor_story *s, cJSON *line, bool json)
{
    const struct dpor_finding *f = s->finding;
    char text[PLACE_TEXT];
    if (f->error) {
        cJSON_AddStringToObject(line, "error", explore_error_text(f->error));
        place_of(s, (uint32_t)f->path.steps - 1, f->pc, text);
        if (f->pc)
            cJSON_AddStringToObject(line, "at", text);
        cJSON_AddStringToObject(line, "what", f->text);
        return;
    }
    place_of(s, f->access, f->access_pc, text);
    cJSON_AddStringToObject(line, second_word(f->access_kind), text);
    cJSON_AddNumberToObject(line, "thread", f->access_thread);
    place_of(s, f->missed, f->missed_pc, text);
    cJSON_AddStringToObject(line, "missed", text);
    cJSON_AddNumberToObject(line, "execution", (double)f->execution);
    cJSON *pairs = json ? cJSON_AddArrayToObject(line, "fences") : NULL;
    for (uint32_t k = 0; pairs && k < f->pairs; k++)
        cJSON_AddItemToArray(pairs, pair_object(s, k));
}

static void print_source(struct monitor_story *s, uint32_t step, uint32_t pc, FILE *out)
{
    const struct program_event *e = event_of(s, step, pc);
    struct source_place at;
    if (!e || !lines_place(&s->account.lines, e, &at))
        return;
    fputs("      ", out);
    lines_put(&s->account.lines, lines_near_name(at.file), &at, ": ", out);
    fputc('\n', out);
}

void monitor_story_print(struct monitor_story *s, FILE *out)
{
    const struct dpor_finding *f = s->finding;
    char place[PLACE_TEXT], text[4 * PLACE_TEXT];
    if (f->error) {
        fprintf(out, "The program goes wrong on a sequentially consistent machine already; ordeal "
                     "explore --model sc tells how.\n");
        return;
    }
    place_of(s, f->missed, f->missed_pc, place);
    escape_text(text, sizeof text, place);
    fprintf(out,
            "One access more, and no order of all accesses explains it: a %s of thread %" PRIu32
            " can come before\nthe store of thread %" PRIu32 " in %s, after which it comes "
            "here.\n",
            second_word(f->access_kind), f->access_thread, f->missed_thread, text);
    for (uint32_t k = 0; k < f->pairs; k++) {
        const char *second = second_word(f->pair[k].second_kind);
        fprintf(out, "  Thread %" PRIu32 ": a fence is missing between the store and the %s\n",
                f->pair[k].thread, second);
        print_source(s, f->pair[k].first_step, f->pair[k].first_pc, out);
        print_source(s, f->pair[k].second_step, f->pair[k].second_pc, out);
    }
}

/* ---- traces -------------------------------------------------------------------------------- */

static bool linked_word(const struct image *image, uint32_t address, uint32_t size, uint32_t *value)
{
    const struct segment *segments;
    size_t count = image_segments(image, &segments);
    for (size_t i = 0; i < count; i++)
        if (address - segments[i].address < segments[i].size) {
            if (segments[i].bytes)
                memcpy(value, segments[i].bytes + (address - segments[i].address), size);
            return true;
        }
    return false;
}

/* What is in memory at the event's place before `end`, an event of the list. */
static uint32_t value_before(const struct monitor_story *s, const struct program_event *e,
                             const struct program_event *end)
{
    uint32_t value = 0;
    linked_word(s->image, e->address, e->size, &value);
    for (const struct program_event *x = s->events.event; x < end; x++)
        if (event_is_access(x) && x->address == e->address && x->size == e->size)
            value = event_writes(x) ? x->written : x->read;
    return value;
}

static bool same_place(const struct ordeal_op *a, const struct ordeal_op *b)
{
    return a->base == b->base && a->address == b->address;
}

/* The order of stores shows in what is there at the end: of each place its last value, but where the last
 * operation stores, which comes earlier in truth, the one before. */
static bool tell_finals(struct ordeal_trace *t, uint64_t before_last)
{
    size_t count = ordeal_trace_length(t);
    const struct ordeal_op *last = ordeal_trace_op(t, count - 1);
    bool fine = true;
    for (size_t i = 0; i < count && fine; i++) {
        const struct ordeal_op *op = ordeal_trace_op(t, i);
        bool writes = op->kind == ORDEAL_STORE || op->kind == ORDEAL_SWAP;
        for (size_t k = i + 1; k < count && writes; k++) {
            const struct ordeal_op *later = ordeal_trace_op(t, k);
            writes = later->kind == ORDEAL_LOAD || later->kind == ORDEAL_MEMBAR
                  || !same_place(op, later);
        }
        if (writes)
            fine = ordeal_trace_final(t, op->base, op->address, op->size_log2,
                                      op == last ? before_last : op->write)
                == ORDEAL_OK;
    }
    return fine;
}

bool monitor_story_trace(struct monitor_story *s, bool relaxed, struct account_trace *t)
{
    const struct dpor_finding *f = s->finding;
    struct program_event *e = (struct program_event *)(uintptr_t)event_of(s, f->access,
                                                                          f->access_pc);
    const struct program_event *missed = event_of(s, f->missed, f->missed_pc);
    bool changes = relaxed && e && missed && e->kind != EVENT_STORE;
    uint32_t read = e ? e->read : 0;
    if (changes)
        e->read = value_before(s, e, missed);
    s->account.model = !relaxed ? EXPLORE_SC : s->model == MONITOR_TSO ? EXPLORE_TSO : EXPLORE_PSO;
    bool fine = account_trace_make(t, &s->account);
    if (e)
        e->read = read;
    if (fine && relaxed && e && e->kind != EVENT_LOAD)
        fine = tell_finals(t->trace, value_before(s, e, e));
    return fine;
}

enum account_judgement monitor_story_judge(struct monitor_story *s, bool *differs,
                                           struct ordeal_error *why)
{
    enum { PATIENCE = 20 }; /* seconds */
    struct account_trace t;
    enum account_judgement judgement = ACCOUNT_NO_VERDICT;
    if (monitor_story_trace(s, true, &t))
        judgement = account_trace_judge(&t, &s->account, PATIENCE, why);
    else
        error_out_of_memory(why, "");
    *differs = s->account.relaxed == ACCOUNT_RELAXED;
    account_trace_free(&t);
    return judgement;
}
