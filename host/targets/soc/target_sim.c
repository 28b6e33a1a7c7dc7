/* SPDX-License-Identifier: Apache-2.0 */
/* `--target sim`: the soft-core multiprocessor in simulation, or another one behind sim/soc.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models.h"
#include "soc_code.h"
#include "soc_config.h"
#include "soc_runner.h"
#include "zoo.h"

struct sim_target {
    struct soc_runner *machine;
    struct soc_runner_plan plan;
    bool foreign;               /* --soc */
    char *coverage;             /* file that takes it; NULL: nobody asked */
};

static void tell_model(const char *message) { fprintf(stderr, "ordeal: %s\n", message); }

/* A new file of the directory, which is made if need be. */
static char *coverage_file(const char *directory, struct why *why)
{
    char *file = NULL;
    int made = mkdir(directory, 0777) == 0 || errno == EEXIST ? 0 : -1;
    if (made == 0 && asprintf(&file, "%s/XXXXXX.dat", directory) < 0)
        file = NULL;
    int opened = file ? mkstemps(file, 4) : -1;
    if (opened < 0) {
        why_say(why, "--coverage '%s': %s", directory, strerror(errno));
        free(file);
        return NULL;
    }
    close(opened);
    return file;
}

static bool sim_open(const struct target_options *options, void **machine, struct why *why)
{
    struct soc_config config;
    *machine = NULL;
    if (!soc_config_parse(&config, options, why))
        return false;
    const struct soc_interface *soc =
        options->soc ? model_load(options->soc, why->text, sizeof why->text)
                     : model_open(&config.parameters, options->quiet ? NULL : tell_model,
                                  why->text, sizeof why->text);
    if (!soc)
        return false;
    if (soc->parameters.harts < 1 || soc->parameters.harts > SOC_HARTS)
        return why_say(why, "the model must have from 1 to 16 harts");
    if (config.setup.bug && !soc->parameters.bugs)
        return why_say(why, "the model was built without bugs");
    if (options->coverage && !soc->parameters.coverage)
        return why_say(why, "the model was built without coverage");
    char *coverage = NULL;
    if (options->coverage && !(coverage = coverage_file(options->coverage, why)))
        return false;
    struct sim_target *t = calloc(1, sizeof *t);
    if (t)
        *t = (struct sim_target){
            .plan = { .soc = soc, .setup = config.setup, .vary_delay = !options->delay,
                      .seed = options->seed, .timeout = options->timeout, .cycles = true },
            .foreign = options->soc,
            .coverage = coverage,
        };
    if (!t || !(t->machine = soc_runner_new(&t->plan))) {
        free(coverage);
        free(t);
        return why_say(why, "out of memory");
    }
    *machine = t;
    return true;
}

static struct abilities sim_can(const void *machine)
{
    return soc_runner_can(((const struct sim_target *)machine)->machine);
}

static struct machine_claims sim_claims(const void *machine)
{
    return soc_runner_claims(((const struct sim_target *)machine)->machine);
}

static enum target_result sim_run(void *machine, const struct program *p, uint64_t first,
                                  uint64_t count, const struct target_sink *sink, struct why *why)
{
    return soc_runner_run(((struct sim_target *)machine)->machine, p, first, count, sink, why);
}

/* By a model that has waves, which is slower and so another one. */
static bool sim_waves(void *machine, const struct program *p, uint64_t iteration, const char *fst,
                      struct why *why)
{
    const struct sim_target *t = machine;
    struct soc_runner_plan plan = t->plan;
    if (!plan.soc->parameters.waves) {
        struct soc_parameters with = plan.soc->parameters;
        with.waves = true;
        with.coverage = false;
        if (t->foreign)
            return why_say(why, "the model was built without waves");
        plan.soc = model_open(&with, tell_model, why->text, sizeof why->text);
        if (!plan.soc)
            return false;
    }
    struct soc_runner *m = soc_runner_new(&plan);
    bool good = m ? soc_runner_waves(m, p, iteration, fst, why) : why_say(why, "out of memory");
    soc_runner_free(m);
    return good;
}

static uint64_t sim_cycles(const void *machine)
{
    return soc_runner_cycles(((const struct sim_target *)machine)->machine);
}

static double sim_seconds(const void *machine)
{
    return soc_runner_seconds(((const struct sim_target *)machine)->machine);
}

static void sim_close(void *machine)
{
    struct sim_target *t = machine;
    if (t->coverage && !soc_runner_coverage(t->machine, t->coverage))
        fprintf(stderr, "ordeal: '%s' could not be written\n", t->coverage);
    soc_runner_free(t->machine);
    free(t->coverage);
    free(t);
}

const struct target target_sim = {
    .name = "sim",
    .summary = "the soft-core multiprocessor in simulation, or one of your own",
    .open = sim_open,
    .can = sim_can,
    .claims = sim_claims,
    .exact = true,
    .iterations = 4,
    .run = sim_run,
    .close = sim_close,
    .bugs = &zoo,
    .waves = sim_waves,
    .cycles = sim_cycles,
    .seconds = sim_seconds,
};
