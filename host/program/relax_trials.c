/* SPDX-License-Identifier: Apache-2.0 */
#include "relax_trials.h"

#include <stdio.h>
#include <string.h>

struct relax_runner *relax_plan_runner(const struct relax_plan *p, enum explore_model model,
                                       struct ordeal_error *error)
{
    const struct relax_options o = {
        .model = model,
        .labels = &p->labels->of,
        .locked_atomics = p->locked_atomics,
        .nondet_low = p->nondet_low,
        .nondet_high = p->nondet_high,
        .most_steps = p->steps,
    };
    return relax_runner_new(p->image, &o, error);
}

/* ---- seeds ------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t seed, uint64_t with)
{
    uint64_t z = seed * 0x9e3779b97f4a7c15u + with + 0x2545f4914f6cdd1du;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* By names of labels, so that it is the same whichever others there are. */
uint64_t relax_seed(const struct relax_plan *p, const struct relax_cycle *c,
                    enum explore_model model, uint64_t trial, uint64_t execution)
{
    char name[CYCLE_NAME];
    uint64_t seed = mix(p->seed, model);
    statement_cycle_name(p->labels, c, name);
    for (const char *at = name; *at; at++)
        seed = mix(seed, (unsigned char)*at);
    return mix(mix(seed, trial), execution);
}

/* ---- phase I ----------------------------------------------------------------------------- */

static bool told(const struct relax_plan *p, const char *what, uint64_t executions)
{
    return p->progress && p->progress(p->user, what, executions);
}

static void note_run(struct relax_predicted *out, const struct relax_run *run, uint64_t seed)
{
    out->runs++;
    if (run->broke)
        snprintf(out->broke, sizeof out->broke, "%s", run->broke);
    else if (run->error && !out->wrong++) {
        out->first = seed;
        out->error = run->error;
    } else if (!run->error && !run->ended)
        out->left++;
}

bool relax_phase_one(const struct relax_plan *p, struct relax_runner *sc,
                     struct relax_predicted *out)
{
    *out = (struct relax_predicted){ .runs = 0 };
    for (uint64_t i = 0; i < p->runs && !out->broke[0] && !out->stopped; i++) {
        const struct relax_run *run;
        uint64_t seed = mix(mix(p->seed, EXPLORE_SC), i);
        if (!relax_execute(sc, NULL, seed, &run) || !relax_predict(run, p->length, &out->cycles))
            return false;
        note_run(out, run, seed);
        out->stopped = told(p, "phase I", i + 1);
    }
    relax_cycles_sort(&out->cycles);
    return true;
}

/* ---- phase II ---------------------------------------------------------------------------- */

static void note_created(struct relax_tried *out, const struct relax_run *run,
                         struct relax_witness found)
{
    out->confirmed++;
    out->buggy += run->error != EXPLORE_NO_ERROR;
    found.there = true;
    found.error = run->error;
    if (!out->witness.there || (!out->witness.error && found.error))
        out->witness = found;
}

bool relax_trial(const struct relax_plan *p, struct relax_runner *r, const struct relax_cycle *c,
                 enum explore_model model, uint64_t trial, struct relax_tried *out)
{
    uint32_t access[RELAX_LONGEST];
    bool created;
    for (uint64_t i = 1; i <= p->repeat && !out->stopped; i++) {
        const struct relax_run *run;
        uint64_t seed = relax_seed(p, c, model, trial, i);
        if (!relax_execute(r, c, seed, &run))
            return false;
        if (run->broke) {
            snprintf(out->broke, sizeof out->broke, "%s", run->broke);
            return true;
        }
        out->executions++;
        out->stopped = told(p, "phase II", out->executions);
        if (!relax_created(run, c, access, &created))
            return false;
        if (created) {
            note_created(out, run,
                         (struct relax_witness){ .trial = trial, .execution = i, .seed = seed });
            break;
        }
        out->others += run->error != EXPLORE_NO_ERROR;
    }
    out->trials += !out->stopped;
    return true;
}

bool relax_phase_two(const struct relax_plan *p, struct relax_runner *r,
                     const struct relax_cycle *c, enum explore_model model, struct relax_tried *out)
{
    *out = (struct relax_tried){ .trials = 0 };
    for (uint64_t t = 1; t <= p->trials && !out->stopped && !out->broke[0]; t++)
        if (!relax_trial(p, r, c, model, t, out))
            return false;
    return true;
}
