/* SPDX-License-Identifier: Apache-2.0 */
#include "chip_try.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/interrupt.h"
#include "targets/soc/soc_image.h"
#include "trial/setup.h"

enum { MOST_SIZES = 64 };

struct chip_try {
    struct setup setup;
    const struct target *target;
    void *machine;
    struct on_chip *program;
    double seconds;
    const char *size;
    struct soc_image image;
    struct soc_image_run last;
    struct steered steered;
    uint32_t harts;
    uint64_t cycles;
};

/* ---- a machine ------------------------------------------------------------------------------- */

static struct setup setup_of(const struct chip_try_options *o)
{
    return (struct setup){ .target_name = o->target,
                           .how = o->how,
                           .model = { .given = true, .value = (int)o->model },
                           .jobs = 1,
                           .command = o->command };
}

int chip_try_refuse(const struct chip_try_options *o)
{
    struct setup s = setup_of(o);
    int status = setup_target(&s);
    if (status < 0 && !s.target->image)
        status = complain(o->command, "programs run on sim and board; '%s' runs tests alone",
                          s.target->name);
    return status;
}

/* The first that has so many harts, or else the first; NULL: there is one alone. */
static const char *size_with(const struct chip_try *t, uint32_t harts)
{
    if (!t->target->sizes)
        return NULL;
    const char *size = NULL;
    for (int i = 0; i < MOST_SIZES && (size = t->target->sizes(t->machine, i)); i++) {
        t->target->hold(t->machine, size);
        if (t->target->can(t->machine).threads >= harts)
            return size;
    }
    return t->target->sizes(t->machine, 0);
}

static bool lay_out(struct chip_try *t, uint64_t most_cycles, struct why *why)
{
    enum { USUAL_HARTS = 4 };
    struct on_chip_words words;
    t->size = size_with(t, USUAL_HARTS);
    if (t->size)
        t->target->hold(t->machine, t->size);
    struct abilities can = t->target->can(t->machine);
    struct on_chip_machine machine = { .harts = can.threads,
                                       .code_bytes = t->target->code_bytes(t->machine),
                                       .memory_bytes = (uint32_t)can.memory,
                                       .high = 1 };
    t->harts = can.threads;
    if (!on_chip_fit(t->program, &machine, &words, why))
        return false;
    t->image = (struct soc_image){ .code = words.code,
                                   .code_words = words.code_words,
                                   .memory = words.memory,
                                   .memory_words = words.memory_words,
                                   .identity = words.identity,
                                   .most_cycles = most_cycles };
    return true;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int load(struct chip_try *t, const struct compile_request *request)
{
    struct ordeal_error error = { 0 };
    struct compile_request of_chip = *request;
    char *messages;
    of_chip.chip = true;
    t->program = on_chip_load(&of_chip, &messages, &error);
    if (messages && !interrupted())
        escape_write(messages, true, stderr);
    free(messages);
    if (t->program)
        return -1;
    return interrupted() ? EXIT_INTERRUPTED : setup_bad(&t->setup, &error);
}

static int open_all(struct chip_try *t, const struct chip_try_options *o)
{
    struct why why = { "" };
    t->setup = setup_of(o);
    t->setup.how.visible = true;
    if (!t->setup.how.sizes && strcmp(o->target, "sim") == 0 && !t->setup.how.config)
        t->setup.how.sizes = "usual";
    int status = setup_target(&t->setup);
    if (status < 0)
        status = load(t, &o->request);
    if (status < 0)
        status = setup_machines(&t->setup);
    if (status >= 0)
        return status;
    t->target = t->setup.target;
    t->machine = t->setup.machines.machine[0];
    t->seconds = o->seconds;
    return lay_out(t, o->most_cycles, &why) ? -1 : complain(o->command, "%s", why.text);
}

struct chip_try *chip_try_open(const struct chip_try_options *o, int *status)
{
    struct chip_try *t = calloc(1, sizeof *t);
    *status = t ? open_all(t, o) : complain(o->command, "out of memory");
    if (*status < 0)
        return t;
    chip_try_close(t);
    return NULL;
}

void chip_try_close(struct chip_try *t)
{
    if (!t)
        return;
    steered_free(&t->steered);
    soc_records_free(&t->last.records);
    on_chip_free(t->program);
    setup_close(&t->setup);
    free(t);
}

struct on_chip *chip_try_program(const struct chip_try *t) { return t->program; }
uint32_t chip_try_harts(const struct chip_try *t) { return t->harts; }
const char *chip_try_size(const struct chip_try *t) { return t->size; }
uint64_t chip_try_cycles(const struct chip_try *t) { return t->cycles; }

/* ---- executions ------------------------------------------------------------------------------ */

/* The image with these points; it lives until the next. */
static bool steer(struct chip_try *t, const struct steer_point *point, size_t points,
                  struct soc_image *image, struct why *why)
{
    *image = t->image;
    if (!points)
        return true;
    steered_free(&t->steered);
    if (!on_chip_steer(t->program, point, points, &t->steered))
        return why_say(why, "there is no room in the code of a hart for delays at %zu places",
                       points);
    image->each = (const uint32_t *const *)t->steered.code;
    image->code_words = t->steered.words;
    image->identity = t->steered.identity;
    return true;
}

static enum chip_try_end judge(struct chip_try *t, enum target_result result,
                               struct on_chip_verdict **verdict, struct why *why)
{
    static const enum on_chip_end ends[] = { [SOC_IMAGE_ENDED] = ON_CHIP_ENDED,
                                             [SOC_IMAGE_STILL] = ON_CHIP_STILL,
                                             [SOC_IMAGE_LONG] = ON_CHIP_LONG };
    struct ordeal_error error = { 0 };
    struct on_chip_run run = { .records = t->last.records.hart,
                               .end = t->last.end,
                               .how = result == TARGET_BROKE ? ON_CHIP_BROKE : ends[t->last.how],
                               .broke = result == TARGET_BROKE ? why->text : NULL,
                               .model = t->setup.claims.model,
                               .seconds = t->seconds };
    *verdict = on_chip_judge(t->program, &run, &error);
    if (!*verdict)
        why_say(why, "%s", error.reason);
    return *verdict ? CHIP_TRY_DONE : CHIP_TRY_ERROR;
}

enum chip_try_end chip_try_run(struct chip_try *t, const struct steer_point *point, size_t points,
                               uint64_t iteration, struct on_chip_verdict **verdict,
                               struct why *why)
{
    struct soc_image image;
    *why = (struct why){ "" };
    *verdict = NULL;
    if (!steer(t, point, points, &image, why))
        return CHIP_TRY_ERROR;
    enum target_result result = t->target->image(t->machine, &image, iteration, &t->last, why);
    t->cycles += t->last.cycles;
    if (result == TARGET_STOPPED)
        return CHIP_TRY_STOPPED;
    if (result != TARGET_DONE && result != TARGET_BROKE)
        return CHIP_TRY_FAILED;
    return judge(t, result, verdict, why);
}

bool chip_try_waves(struct chip_try *t, const struct steer_point *point, size_t points,
                    uint64_t iteration, const char *fst, struct why *why)
{
    struct soc_image image;
    if (!t->target->image_waves)
        return why_say(why, "the target '%s' has no waves", t->target->name);
    return steer(t, point, points, &image, why)
        && t->target->image_waves(t->machine, &image, iteration, fst, why) == WAVES_WRITTEN;
}
