/* SPDX-License-Identifier: Apache-2.0 */
/* `--target sim`: the soft-core multiprocessor in simulation, or another one behind sim/soc.h.
 *
 * It comes in several sizes, which take turns: which one runs an iteration depends on the seed, the
 * test, the number of the iteration, and on which of them can run the test. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/output.h"
#include "base/random.h"
#include "models.h"
#include "soc_code.h"
#include "soc_config.h"
#include "soc_image.h"
#include "soc_runner.h"
#include "soc_waves.h"
#include "zoo.h"

enum { NONE = -1 };

struct sim_size {
    struct soc_runner_plan plan;
    struct soc_runner *machine;
};

struct sim_target {
    struct sim_size size[SOC_MOST_SIZES];
    int sizes;
    int largest;                /* runs whatever any of them can */
    int held;                   /* the one that runs all; NONE */
    bool foreign;               /* --soc ... */
    char soc[PATH_MAX];         /* ... that file */
    char *coverage;             /* directory that takes it; NULL: nobody asked */
    struct event_counts events; /* of the last run, by all sizes */
};

static void tell_model(const char *message) { fprintf(stderr, "ordeal: %s\n", message); }

/* ---- coverage ------------------------------------------------------------------------------- */

static bool coverage_directory(const char *directory, struct why *why)
{
    int opened = -1;
    errno = output_directory(directory);
    if (!errno)
        opened = open(directory, O_RDONLY | O_DIRECTORY);
    if (opened >= 0 && close(opened) == 0 && access(directory, W_OK) == 0)
        return true;
    return why_say(why, "--coverage '%s': %s", directory, strerror(errno));
}

/* To a new file of the directory. */
static void write_coverage(const struct sim_target *t, const struct sim_size *s)
{
    char *file = NULL;
    if (asprintf(&file, "%s/%s-XXXXXX.dat", t->coverage, s->plan.soc->name) < 0)
        file = NULL;
    int opened = file ? mkstemps(file, 4) : -1;
    if (opened < 0 || !soc_runner_coverage(s->machine, file) || output_sync(file) != 0
        || output_sync(t->coverage) != 0)
        fprintf(stderr, "ordeal: what was reached could not be written to '%s'\n", t->coverage);
    if (opened >= 0)
        close(opened);
    free(file);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* Of those with the most harts one that has all else. */
static int find_largest(const struct sim_target *t)
{
    int best = 0;
    for (int i = 1; i < t->sizes; i++) {
        struct abilities a = soc_runner_can(t->size[best].machine),
                         b = soc_runner_can(t->size[i].machine);
        if (b.threads > a.threads || (b.threads == a.threads && b.transactions && !a.transactions))
            best = i;
    }
    return best;
}

/* Those that can run a program; they take turns, beginning anywhere. */
struct turns {
    int which[SOC_MOST_SIZES], count;
    uint64_t first;
};

static struct turns turns_of(const struct sim_target *t, const struct program *p)
{
    uint64_t state = t->size[0].plan.seed ^ program_identity(p);
    struct turns turns = { .first = random_mix(&state) >> 1 };
    char reason[256];
    for (int i = 0; i < t->sizes; i++) {
        struct abilities can = soc_runner_can(t->size[i].machine);
        bool able = target_refusal(&can, p, reason, sizeof reason) == 0;
        if (able && i == t->held)
            return (struct turns){ .which = { i }, .count = 1 };
        if (able)
            turns.which[turns.count++] = i;
    }
    if (!turns.count)
        turns.which[turns.count++] = t->largest;
    return turns;
}

static int turn(const struct turns *t, uint64_t iteration)
{
    uint64_t count = (uint64_t)t->count;
    return t->which[(t->first % count + iteration % count) % count];
}

static int size_of(const struct sim_target *t, const struct program *p, uint64_t iteration)
{
    struct turns turns = turns_of(t, p);
    return turn(&turns, iteration);
}

static const char *sim_size(const void *machine, const struct program *p, uint64_t iteration)
{
    const struct sim_target *t = machine;
    return t->foreign ? NULL : t->size[size_of(t, p, iteration)].plan.soc->name;
}

static void sim_hold(void *machine, const char *size)
{
    struct sim_target *t = machine;
    t->held = NONE;
    for (int i = 0; size && i < t->sizes; i++)
        if (strcmp(t->size[i].plan.soc->name, size) == 0)
            t->held = i;
}

static const char *sim_sizes(const void *machine, int i)
{
    const struct sim_target *t = machine;
    return i < t->sizes && !t->foreign ? t->size[i].plan.soc->name : NULL;
}

static bool sim_delay(void *machine, int level)
{
    struct sim_target *t = machine;
    bool varies = false;
    for (int i = 0; i < t->sizes; i++)
        varies |= soc_runner_delay(t->size[i].machine, level);
    return varies;
}

/* ---- opening -------------------------------------------------------------------------------- */

static bool check_model(const struct soc_parameters *p, const struct soc_config *config,
                        const struct target_options *options, struct why *why)
{
    if (p->harts < 1 || p->harts > SOC_HARTS)
        return why_say(why, "the model must have from 1 to 16 harts");
    if (config->setup.bug && !p->bugs)
        return why_say(why, "the model was built without bugs");
    if (options->coverage && !p->coverage)
        return why_say(why, "the model was built without coverage");
    return true;
}

static bool open_models(const struct target_options *options, const struct soc_config *config,
                        const struct soc_interface **soc, struct why *why)
{
    if (options->soc)
        return (soc[0] = model_load(options->soc, why->text, sizeof why->text));
    return model_open_all(config->size, config->sizes, soc, options->quiet ? NULL : tell_model,
                          why->text, sizeof why->text);
}

static void sim_close(void *machine)
{
    struct sim_target *t = machine;
    for (int i = 0; i < t->sizes; i++) {
        if (t->coverage && t->size[i].machine)
            write_coverage(t, &t->size[i]);
        soc_runner_free(t->size[i].machine);
    }
    free(t->coverage);
    free(t);
}

/* All of them now, by who opens and closes: a model may have threads of its own. */
static bool make_machines(struct sim_target *t, const struct soc_interface *const *soc,
                          const struct soc_runner_plan *plan)
{
    for (int i = 0; i < t->sizes; i++) {
        struct sim_size *s = &t->size[i];
        s->plan = *plan;
        s->plan.soc = soc[i];
        if (!(s->machine = soc_runner_new(&s->plan)))
            return false;
    }
    return true;
}

static bool sim_open(const struct target_options *options, void **machine, struct why *why)
{
    struct soc_config config;
    const struct soc_interface *soc[SOC_MOST_SIZES];
    *machine = NULL;
    if (!soc_config_parse(&config, options, why) || !open_models(options, &config, soc, why))
        return false;
    int sizes = options->soc ? 1 : config.sizes;
    for (int i = 0; i < sizes; i++)
        if (!check_model(&soc[i]->parameters, &config, options, why))
            return false;
    if (options->coverage && !coverage_directory(options->coverage, why))
        return false;
    struct soc_runner_plan plan = { .setup = config.setup,
                                    .vary_delay = !options->delay,
                                    .seed = options->seed,
                                    .timeout = options->timeout,
                                    .cycles = true,
                                    .final = config.final != SOC_FINAL_SKIP };
    struct sim_target *t = calloc(1, sizeof *t);
    if (!t)
        return why_say(why, "out of memory");
    *t = (struct sim_target){ .sizes = sizes, .held = NONE, .foreign = options->soc };
    snprintf(t->soc, sizeof t->soc, "%s", options->soc ? options->soc : "");
    plan.events = options->events ? &t->events : NULL;
    if (!make_machines(t, soc, &plan)
        || (options->coverage && !(t->coverage = strdup(options->coverage)))) {
        sim_close(t);
        return why_say(why, "out of memory");
    }
    t->largest = find_largest(t);
    *machine = t;
    return true;
}

/* What is wrong with it is not that it cannot be built. */
static bool sim_usage(const struct target_options *options, struct why *why)
{
    struct soc_config config;
    const struct soc_interface *soc = NULL;
    if (!soc_config_parse(&config, options, why)
        || (options->soc && !(soc = model_load(options->soc, why->text, sizeof why->text))))
        return false;
    for (int i = 0; i < (soc ? 1 : config.sizes); i++)
        if (!check_model(soc ? &soc->parameters : &config.size[i], &config, options, why))
            return false;
    return !options->coverage || coverage_directory(options->coverage, why);
}

static int held_size(const struct sim_target *t) { return t->held == NONE ? t->largest : t->held; }

static struct abilities sim_can(const void *machine)
{
    const struct sim_target *t = machine;
    return soc_runner_can(t->size[held_size(t)].machine);
}

static struct machine_claims sim_claims(const void *machine)
{
    return soc_runner_claims(((const struct sim_target *)machine)->size[0].machine);
}

/* ---- running -------------------------------------------------------------------------------- */

static enum target_result sim_run(void *machine, const struct program *p, uint64_t first,
                                  uint64_t count, const struct target_sink *sink, struct why *why)
{
    struct sim_target *t = machine;
    struct turns turns = turns_of(t, p);
    bool ready[SOC_MOST_SIZES] = { false };
    enum target_result result = TARGET_DONE;
    memset(&t->events, 0, sizeof t->events);
    for (uint64_t i = first; result == TARGET_DONE && i - first < count; i++) {
        int now = turn(&turns, i);
        if (!ready[now])
            result = soc_runner_load(t->size[now].machine, p, why);
        ready[now] = true;
        if (result == TARGET_DONE)
            result = soc_runner_one(t->size[now].machine, i, sink, why);
    }
    return result;
}

static enum target_result sim_image(void *machine, const struct soc_image *image,
                                    uint64_t iteration, struct soc_image_run *run, struct why *why)
{
    const struct sim_target *t = machine;
    return soc_image_run(t->size[held_size(t)].machine, image, iteration, run, why);
}

static uint32_t sim_code_bytes(const void *machine)
{
    const struct sim_target *t = machine;
    return t->size[held_size(t)].plan.soc->parameters.code_bytes;
}

/* By a model that has waves, which is slower and so another one. */
static enum target_waves write_waves(const struct sim_target *t, int size,
                                     const struct soc_waves_job *job, const char *fst,
                                     struct why *why)
{
    struct soc_runner_plan plan = t->size[size].plan;
    plan.events = NULL;
    if (!plan.soc->parameters.waves) {
        struct soc_parameters with = plan.soc->parameters;
        with.waves = true;
        with.coverage = false;
        if (t->foreign)
            return why_say(why, "the model was built without waves"), WAVES_NONE;
        plan.soc = model_open(&with, tell_model, why->text, sizeof why->text);
        if (!plan.soc)
            return WAVES_NONE;
    }
    return soc_waves_write(&plan, job, fst, !t->foreign, why) ? WAVES_WRITTEN : WAVES_UNWRITTEN;
}

static enum target_waves sim_waves(void *machine, const struct program *p, uint64_t iteration,
                                   const char *fst, struct why *why)
{
    const struct sim_target *t = machine;
    struct soc_waves_job job = { .test = p, .iteration = iteration };
    return write_waves(t, size_of(t, p, iteration), &job, fst, why);
}

static enum target_waves sim_image_waves(void *machine, const struct soc_image *image,
                                         uint64_t iteration, const char *fst, struct why *why)
{
    const struct sim_target *t = machine;
    struct soc_waves_job job = { .image = image, .iteration = iteration };
    return write_waves(t, held_size(t), &job, fst, why);
}

static uint64_t sim_cycles(const void *machine)
{
    const struct sim_target *t = machine;
    uint64_t sum = 0;
    for (int i = 0; i < t->sizes; i++)
        sum += soc_runner_cycles(t->size[i].machine);
    return sum;
}

static double sim_seconds(const void *machine)
{
    const struct sim_target *t = machine;
    double sum = 0;
    for (int i = 0; i < t->sizes; i++)
        sum += soc_runner_seconds(t->size[i].machine);
    return sum;
}

static bool sim_coverage(void *machine, int part, const char *file)
{
    struct sim_target *t = machine;
    return part < t->sizes && t->size[part].plan.soc->parameters.coverage
        && soc_runner_coverage(t->size[part].machine, file);
}

static void hash_source(void *hash, const char *file)
{
    hash_text(hash, strrchr(file, '/') + 1);
    hash_file(hash, file);
}

static bool sim_sources(const void *machine, struct hash *hash, char *folder)
{
    const struct sim_target *t = machine;
    if (!t->foreign)
        return model_sources(hash_source, hash, folder, PATH_MAX);
    snprintf(folder, PATH_MAX, "%s", t->soc);
    char *slash = strrchr(folder, '/');
    if (hash_file(hash, folder) != 0 || !slash)
        return false;
    *slash = '\0';
    return true;
}

static const struct event_counts *sim_events(const void *machine)
{
    return &((const struct sim_target *)machine)->events;
}

const struct target target_sim = {
    .name = "sim",
    .summary = "the soft-core multiprocessor in simulation, or one of your own",
    .open = sim_open,
    .usage = sim_usage,
    .can = sim_can,
    .claims = sim_claims,
    .exact = true,
    .iterations = 6, /* on each of the sizes that there are once */
    .early_tests = 64,
    .early_iterations = 1,
    .run = sim_run,
    .close = sim_close,
    .bugs = &zoo,
    .waves = sim_waves,
    .image = sim_image,
    .image_waves = sim_image_waves,
    .code_bytes = sim_code_bytes,
    .size = sim_size,
    .hold = sim_hold,
    .sizes = sim_sizes,
    .sources = sim_sources,
    .delay = sim_delay,
    .cycles = sim_cycles,
    .seconds = sim_seconds,
    .events = sim_events,
    .coverage = sim_coverage,
};
