/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder.h"

#include <inttypes.h>
#include <string.h>

static struct recorder_bucket *bucket_of(struct recorder *r, const char *signature)
{
    struct recorder_bucket fresh = { .smallest = UINT64_MAX };
    for (size_t i = 0; i < r->buckets.count; i++)
        if (strcmp(r->buckets.data[i].signature, signature) == 0)
            return &r->buckets.data[i];
    snprintf(fresh.signature, sizeof fresh.signature, "%s", signature);
    return LIST_PUSH(&r->buckets, fresh) ? &r->buckets.data[r->buckets.count - 1] : NULL;
}

/* The first ones, and any that is smaller than those before it. */
static bool is_wanted(void *user, const struct failure_note *note)
{
    struct recorder *r = user;
    struct recorder_bucket *b = r->examples ? bucket_of(r, note->signature) : NULL;
    if (!b)
        return true;
    bool wanted = b->kept < r->examples || note->operations < b->smallest;
    b->kept += wanted;
    if (note->operations < b->smallest)
        b->smallest = note->operations;
    return wanted;
}

int recorder_begin(struct recorder *r, const char *file, const struct setup *setup,
                   struct failure_plan *plan, uint64_t first, uint64_t how, bool cover)
{
    char made[24];
    struct record head = { .program = (char *)ORDEAL_VERSION,
                           .target = (char *)setup->target->name,
                           .seed = setup->how.seed,
                           .first = first,
                           .how = made,
                           .cover = cover };
    snprintf(made, sizeof made, "%016" PRIx64, how);
    machine_identify(setup->target, setup->machines.machine[0], &setup->how, setup->claims.model,
                     &head.machine);
    r->setup = setup;
    r->next = first;
    r->failures = plan;
    plan->note = &r->note;
    plan->wanted = is_wanted;
    plan->user = r;
    int error = record_begin(&r->writer, file, &head);
    r->on = !error;
    return error;
}

static const char *name_of_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void fill_failure(const struct recorder *r, const struct pipeline_test *t,
                         struct record_failure *f)
{
    const struct failure_note *note = &r->note;
    *f = (struct record_failure){
        .iteration = t->iteration,
        .operations = t->program->operations,
        .small = note->small,
        .shrunk = note->shrunk,
        .model = (char *)ordeal_model_name(r->failures->model),
        .signature = (char *)note->signature,
        .kind = (char *)note->kind,
        .title = (char *)note->title,
        .reason = (char *)note->reason,
        .folder = *note->folder ? (char *)name_of_folder(note->folder) : NULL,
    };
}

static enum record_verdict verdict_of(const struct pipeline_test *t)
{
    static const enum record_verdict verdicts[] = { [ORDEAL_PASS] = RECORD_PASS,
                                                    [ORDEAL_FAIL] = RECORD_FAIL,
                                                    [ORDEAL_UNDECIDED] = RECORD_UNDECIDED };
    return t->lost ? RECORD_LOST : verdicts[t->result];
}

void recorder_add_incident(struct recorder *r, enum incident_kind kind, uint64_t test,
                           const char *text)
{
    record_add_incident(&r->writer, &(struct record_incident){ kind, test, (char *)text });
}

void recorder_add(struct recorder *r, const struct pipeline_test *t)
{
    const struct target *target = r->setup->target;
    struct record_failure failure;
    if (t->number != r->next || (verdict_of(t) == RECORD_FAIL && r->note.cut))
        return;
    r->next++;
    struct record_test test = {
        .number = t->number,
        .iterations = t->iterations,
        .outcomes = t->outcomes,
        .operations = t->operations,
        .cycles = t->cycles,
        .seconds = t->seconds,
        .verdict = verdict_of(t),
        .profile = (char *)t->profile,
    };
    if (test.verdict == RECORD_FAIL) {
        fill_failure(r, t, &failure);
        test.failure = &failure;
        if (target->size)
            test.configuration = (char *)target->size(r->setup->machines.machine[0], t->program,
                                                      t->iteration);
    }
    record_add_test(&r->writer, &test, t->hits);
    if (test.verdict == RECORD_LOST)
        recorder_add_incident(r, INCIDENT_LOST, t->number, t->lost);
    if (test.verdict == RECORD_UNDECIDED)
        recorder_add_incident(r, INCIDENT_UNDECIDED, t->number,
                              "not decided within the limits given");
    r->note = (struct failure_note){ 0 };
}

int recorder_end(struct recorder *r, const char *end, const char *reason, double seconds,
                 const struct cover *cover)
{
    struct record tail = { .end = (char *)end, .reason = (char *)reason, .seconds = seconds };
    for (uint32_t point = 0; cover && point < COVER_POINTS; point++)
        tail.known += cover_point_exists(point) && cover_can_reach(cover_machines(cover), point);
    int error = record_end(&r->writer, &tail);
    recorder_abandon(r);
    return error;
}

void recorder_abandon(struct recorder *r)
{
    if (r->on)
        record_abandon(&r->writer);
    r->on = false;
    LIST_FREE(&r->buckets);
}
