/* SPDX-License-Identifier: Apache-2.0 */
#include "chip_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/output.h"
#include "chip_folder.h"
#include "on_chip.h"
#include "targets/soc/soc_image.h"
#include "tell/output_line.h"

/* Values of variables at the end, and how often there were these. */
struct outcome {
    char *text;
    uint64_t count;
};

struct running {
    const struct chip_plan *plan;
    const struct target *target;
    void *machine;
    struct on_chip *program;
    const char *size; /* that the program is laid out for; NULL: not yet, or there is one alone */
    bool fitted;
    struct soc_image image;
    struct soc_image_run last;
    uint32_t needed; /* harts, as far as is known */
    struct output out;
    struct progress progress;
    LIST(struct outcome) outcomes;
    uint64_t runs, results[ON_CHIP_BAD + 1], cycles;
    const char *end;
    int status;
};

static int complains(struct running *r, const char *text)
{
    progress_erase(&r->progress);
    int status = complain(r->plan->setup->command, "%s", text);
    r->status = exit_worst(r->status, status);
    return status;
}

/* ---- machines --------------------------------------------------------------------------------- */

static uint32_t harts_of(struct running *r, const char *size)
{
    r->target->hold(r->machine, size);
    return r->target->can(r->machine).threads;
}

/* Those that have harts enough take turns. */
static const char *size_of(struct running *r, uint64_t iteration)
{
    const char *able[64];
    size_t count = 0;
    if (!r->target->sizes)
        return NULL;
    for (int i = 0; r->target->sizes(r->machine, i) && count < 64; i++) {
        const char *size = r->target->sizes(r->machine, i);
        if (harts_of(r, size) >= r->needed)
            able[count++] = size;
    }
    return count ? able[iteration % count] : NULL;
}

/* False: it does not fit, and that has been told. */
static bool lay_out(struct running *r, const char *size)
{
    struct why why;
    struct on_chip_words words;
    if (r->target->hold && size)
        r->target->hold(r->machine, size);
    if (r->fitted && size == r->size)
        return true;
    struct abilities can = r->target->can(r->machine);
    struct on_chip_machine machine = { .harts = can.threads,
                                       .code_bytes = r->target->code_bytes(r->machine),
                                       .memory_bytes = (uint32_t)can.memory,
                                       .low = r->plan->low,
                                       .high = r->plan->high };
    if (!on_chip_fit(r->program, &machine, &words, &why))
        return complains(r, why.text), false;
    r->image = (struct soc_image){ .code = words.code,
                                   .code_words = words.code_words,
                                   .memory = words.memory,
                                   .memory_words = words.memory_words,
                                   .identity = words.identity,
                                   .most_cycles = r->plan->most_cycles };
    r->size = size;
    r->fitted = true;
    return true;
}

/* ---- what is told ----------------------------------------------------------------------------- */

static void name_run(const struct running *r, uint64_t iteration, char *label, size_t size)
{
    snprintf(label, size, "%s#%" PRIu64, r->plan->request.source[0], iteration);
}

static cJSON *line_of(const struct running *r, uint64_t iteration, enum on_chip_result result,
                      const struct on_chip_verdict *v)
{
    static const enum ordeal_result words[] = { [ON_CHIP_PASS] = ORDEAL_PASS,
                                                [ON_CHIP_FAIL] = ORDEAL_FAIL,
                                                [ON_CHIP_UNDECIDED] = ORDEAL_UNDECIDED };
    char label[PATH_MAX + 32];
    name_run(r, iteration, label, sizeof label);
    struct input in = { .name = label, .number = 1 };
    cJSON *line = output_line_new(verdict_words[words[result]], &in);
    cJSON_AddStringToObject(line, "model", ordeal_model_name(r->plan->model));
    output_line_machine(line, r->size);
    on_chip_line(v, line);
    return line;
}

static bool write_waves(void *user, const char *fst, struct why *why)
{
    struct chip_waves *w = user;
    return w->target->image_waves(w->machine, w->image, w->iteration, fst, why) == WAVES_WRITTEN;
}

static void keep(struct running *r, uint64_t iteration, struct on_chip_verdict *v, cJSON *line)
{
    struct setup *s = r->plan->setup;
    struct why why;
    char path[PATH_MAX];
    struct chip_failure f = { .directory = s->save ? s->save : "ordeal-failures",
                              .program = r->program,
                              .request = &r->plan->request,
                              .verdict = v,
                              .line = line,
                              .run = { .target = r->target,
                                       .how = s->how,
                                       .against = r->plan->model,
                                       .first_iteration = iteration,
                                       .iterations = 1,
                                       .program = CHIP_PROGRAM } };
    if (s->no_save && !s->save)
        return;
    f.run.how.visible = r->plan->visible;
    if (r->size)
        f.run.how.sizes = r->size;
    if (!chip_folder_write(&f, path, sizeof path, &why)) {
        complains(r, why.text);
        r->status = exit_worst(r->status, EXIT_UNWRITTEN);
        return;
    }
    cJSON_AddStringToObject(line, "saved", path);
    struct chip_waves waves = { r->target, r->machine, &r->image, iteration };
    struct saved_waves_maker maker = { write_waves, &waves };
    if (r->plan->waves && !interrupted() && !chip_folder_waves(&f, path, &maker, &why))
        complains(r, why.text);
}

static void tell(struct running *r, uint64_t iteration, enum on_chip_result result,
                 struct on_chip_verdict *v)
{
    cJSON *line = line_of(r, iteration, result, v);
    if (result == ON_CHIP_FAIL)
        keep(r, iteration, v, line);
    progress_erase(&r->progress);
    if (!output_line_print(line, r->plan->setup->json)
        || (!r->plan->setup->json && result != ON_CHIP_PASS && !on_chip_text(v, stdout)))
        complains(r, "out of memory, or standard output is broken");
    if (!r->plan->setup->json)
        putchar('\n');
}

/* ---- outcomes --------------------------------------------------------------------------------- */

static bool add_outcome(struct running *r, const char *text)
{
    for (size_t i = 0; i < r->outcomes.count; i++)
        if (strcmp(r->outcomes.data[i].text, text) == 0)
            return ++r->outcomes.data[i].count, true;
    struct outcome fresh = { strdup(text), 1 };
    return fresh.text && LIST_PUSH(&r->outcomes, fresh);
}

/* "x=1 y=0"; false: told why not. */
static bool note_outcome(struct running *r, const struct on_chip_verdict *v)
{
    char text[1024] = "", names[512];
    struct why why;
    int64_t value;
    if (!r->plan->outcomes)
        return true;
    snprintf(names, sizeof names, "%s", r->plan->outcomes);
    for (char *rest = names, *name; (name = strsep(&rest, ","));) {
        size_t used = strlen(text);
        if (!on_chip_value(v, name, &value, &why))
            return complains(r, why.text), false;
        snprintf(text + used, sizeof text - used, "%s%s=%" PRId64, used ? " " : "", name, value);
    }
    return add_outcome(r, text) || (complains(r, "out of memory"), false);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct outcome *)a)->text, ((const struct outcome *)b)->text);
}

static void print_outcomes(struct running *r)
{
    LIST_SORT(&r->outcomes, by_text);
    for (size_t i = 0; !r->plan->setup->json && i < r->outcomes.count; i++)
        printf("%s (%" PRIu64 ")\n", r->outcomes.data[i].text, r->outcomes.data[i].count);
}

/* ---- one execution ---------------------------------------------------------------------------- */

/* False: the run is over. */
static bool settle(struct running *r, uint64_t iteration, struct on_chip_verdict *v)
{
    static const int statuses[] = { [ON_CHIP_PASS] = EXIT_FINE,
                                    [ON_CHIP_FAIL] = EXIT_VIOLATION,
                                    [ON_CHIP_UNDECIDED] = EXIT_UNDECIDED,
                                    [ON_CHIP_FULL] = EXIT_BAD,
                                    [ON_CHIP_BAD] = EXIT_BAD };
    const char *why;
    enum on_chip_result result = on_chip_result(v, &why);
    char text[512];
    r->runs++;
    r->results[result]++;
    r->status = exit_worst(r->status, statuses[result]);
    if (result == ON_CHIP_FULL || result == ON_CHIP_BAD) {
        snprintf(text, sizeof text, "%s: %s%s", r->plan->request.source[0],
                 result == ON_CHIP_FULL ? "it has more threads at a time than the machine has harts"
                                        : why,
                 result == ON_CHIP_FULL ? target_more_threads(r->target) : "");
        complains(r, text);
        r->end = "error";
        return false;
    }
    if (r->out.file && on_chip_trace(v)
        && ordeal_write_text(on_chip_trace(v), r->out.file) != ORDEAL_OK)
        complains(r, "a trace could not be written");
    if (result != ON_CHIP_PASS)
        tell(r, iteration, result, v);
    if (!note_outcome(r, v)) {
        r->end = "error";
        return false;
    }
    bool enough = r->plan->stop_after && r->results[ON_CHIP_FAIL] >= r->plan->stop_after;
    if (enough)
        r->end = "stopped";
    return !enough;
}

static struct on_chip_verdict *judge(struct running *r, enum target_result ended, const char *broke)
{
    static const enum on_chip_end ends[] = { [SOC_IMAGE_ENDED] = ON_CHIP_ENDED,
                                             [SOC_IMAGE_STILL] = ON_CHIP_STILL,
                                             [SOC_IMAGE_LONG] = ON_CHIP_LONG };
    const struct setup *s = r->plan->setup;
    struct on_chip_run run = { .records = r->last.records.hart,
                               .end = r->last.end,
                               .how = ended == TARGET_BROKE ? ON_CHIP_BROKE : ends[r->last.how],
                               .broke = ended == TARGET_BROKE ? broke : NULL,
                               .model = r->plan->model,
                               .visible = r->plan->visible,
                               .seconds = s->limit };
    struct ordeal_error error = { 0 };
    struct on_chip_verdict *v = on_chip_judge(r->program, &run, &error);
    if (!v) {
        char text[600];
        error_format(&error, text, sizeof text);
        complains(r, text);
        if (error.status == ORDEAL_INTERNAL)
            r->status = exit_worst(r->status, EXIT_INTERNAL);
        r->end = "error";
    }
    return v;
}

/* What the target itself could not do. */
static bool failed(struct running *r, enum target_result ended, const char *why)
{
    r->end = ended == TARGET_STOPPED ? "interrupted" : "target";
    if (ended != TARGET_STOPPED) {
        complains(r, why);
        r->status = exit_worst(r->status, EXIT_TARGET);
    }
    return false;
}

static bool is_full(const struct on_chip_verdict *v)
{
    const char *why;
    return on_chip_result(v, &why) == ON_CHIP_FULL;
}

/* On the size whose turn it is; if that has too few harts, from now on on those that have more. */
static bool run_once(struct running *r, uint64_t iteration)
{
    for (;;) {
        struct why why = { "" };
        const char *size = size_of(r, iteration);
        if (!lay_out(r, size)) {
            r->end = "error";
            return false;
        }
        enum target_result ended = r->target->image(r->machine, &r->image, iteration, &r->last,
                                                    &why);
        r->cycles += r->last.cycles;
        if (ended != TARGET_DONE && ended != TARGET_BROKE)
            return failed(r, ended, why.text);
        struct on_chip_verdict *v = judge(r, ended, why.text);
        uint32_t harts = r->target->can(r->machine).threads;
        bool more = v && is_full(v) && size;
        if (more) {
            r->needed = harts + 1;
            more = size_of(r, iteration) != NULL;
        }
        bool goes_on = v && (more || settle(r, iteration, v));
        on_chip_verdict_free(v);
        if (!more)
            return goes_on;
    }
}

/* ---- all of them ------------------------------------------------------------------------------ */

static void tick(struct running *r)
{
    char text[160];
    snprintf(text, sizeof text, "%" PRIu64 "/%" PRIu64 " runs, %" PRIu64 " pass, %" PRIu64 " fail",
             r->runs, r->plan->count, r->results[ON_CHIP_PASS], r->results[ON_CHIP_FAIL]);
    progress_callback(&r->progress, text, -1);
}

static void print_summary(struct running *r, double seconds)
{
    cJSON *object = cJSON_CreateObject();
    bool json = r->plan->setup->json;
    const struct {
        const char *name;
        double value;
    } fields[] = { { "runs", (double)r->runs },
                   { "pass", (double)r->results[ON_CHIP_PASS] },
                   { "fail", (double)r->results[ON_CHIP_FAIL] },
                   { "undecided", (double)r->results[ON_CHIP_UNDECIDED] },
                   { "seconds", (double)(long long)(seconds * 1000 + 0.5) / 1000 },
                   { "cycles", (double)r->cycles },
                   { "next", (double)(r->plan->first + r->runs) } };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (json)
            cJSON_AddNumberToObject(object, fields[i].name, fields[i].value);
        else
            printf("%s=%.15g ", fields[i].name, fields[i].value);
    cJSON *rows = json && r->plan->outcomes ? cJSON_AddObjectToObject(object, "outcomes") : NULL;
    for (size_t i = 0; rows && i < r->outcomes.count; i++)
        cJSON_AddNumberToObject(rows, r->outcomes.data[i].text, (double)r->outcomes.data[i].count);
    cJSON_AddStringToObject(object, "end", r->end);
    char *text = json ? cJSON_PrintUnformatted(object) : NULL;
    if (json && (json_failed() || !text))
        complains(r, "out of memory");
    else if (json)
        puts(text);
    else
        printf("end=%s\n", r->end);
    cJSON_free(text);
    cJSON_Delete(object);
}

static void run_all(struct running *r)
{
    double began = now_seconds();
    r->end = "done";
    progress_start(&r->progress, "run");
    for (uint64_t i = 0; i < r->plan->count; i++) {
        if (interrupted()) {
            r->end = "interrupted";
            break;
        }
        if (!run_once(r, r->plan->first + i))
            break;
        tick(r);
    }
    progress_erase(&r->progress);
    int error = r->out.file ? output_commit(&r->out) : 0;
    if (error)
        r->status = exit_worst(r->status,
                               complain_unwritten(r->plan->setup->command, r->plan->output, error));
    print_outcomes(r);
    print_summary(r, now_seconds() - began);
}

static bool open_all(struct running *r)
{
    struct ordeal_error e = { 0 };
    char *messages, text[1024];
    r->program = on_chip_load(&r->plan->request, &messages, &e);
    if (messages && !interrupted())
        escape_write(messages, true, stderr);
    free(messages);
    if (!r->program && !interrupted()) {
        error_format(&e, text, sizeof text);
        complains(r, text);
    }
    int error = r->program && r->plan->output ? output_open(&r->out, r->plan->output) : 0;
    if (error)
        r->status = complain(r->plan->setup->command, "%s: %s", r->plan->output, strerror(error));
    return r->program && !error;
}

int chip_run(const struct chip_plan *plan)
{
    struct running r = { .plan = plan,
                         .target = plan->setup->target,
                         .machine = plan->setup->machines.machine[0] };
    if (open_all(&r))
        run_all(&r);
    output_abandon(&r.out);
    on_chip_free(r.program);
    soc_records_free(&r.last.records);
    for (size_t i = 0; i < r.outcomes.count; i++)
        free(r.outcomes.data[i].text);
    LIST_FREE(&r.outcomes);
    return interrupted() ? exit_worst(r.status, EXIT_INTERRUPTED) : r.status;
}
