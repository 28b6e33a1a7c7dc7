/* SPDX-License-Identifier: Apache-2.0 */
/* The `model` target: the machines of the memory models (model_machine.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "model_machine.h"
#include "targets/target.h"

/* Between two looks at the clock and for ^C. */
enum { TURNS = 1 << 16 };

struct model_target {
    struct model_machine *machine;
    struct model_machine_setup setup;
    double timeout;
};

static bool choose_detection(const char *tm, bool *eager, struct why *why)
{
    *eager = tm && strcmp(tm, "eager") == 0;
    if (!tm || *eager || strcmp(tm, "lazy") == 0)
        return true;
    return why_say(why, "'%s' is no way to find conflicts of transactions: lazy or eager", tm);
}

static bool model_open(const struct target_options *options, void **machine, struct why *why)
{
    struct model_machine_setup setup = { .model = options->model_given ? options->model
                                                                       : ORDEAL_TSO,
                                         .seed = options->seed };
    *machine = NULL;
    if (!choose_detection(options->tm, &setup.eager, why))
        return false;
    int bug = NO_BUG;
    if (options->bug && !bug_parse(&model_bugs, options->bug, setup.model, &bug, why))
        return false;
    setup.bug = (enum bug)bug;
    struct model_target *t = calloc(1, sizeof *t);
    struct model_machine *m = model_machine_new(&setup);
    if (!t || !m) {
        free(t);
        model_machine_free(m);
        return why_say(why, "out of memory");
    }
    *t = (struct model_target){ m, setup, options->timeout };
    *machine = t;
    return true;
}

static struct abilities model_can(const void *machine)
{
    const struct model_target *t = machine;
    bool riscv = t->setup.model == ORDEAL_RVWMO || t->setup.model == ORDEAL_RVTSO;
    /* clang-format off */
    return (struct abilities){
        .threads = MOST_HARTS, .registers = MOST_REGISTERS,
        .load_sizes = 0x7f, .store_sizes = 0x7f, .swap_sizes = 0xf, .cas_sizes = 0xf,
        .reserve_sizes = riscv ? 0xf : 0, .marks = riscv, .plain_marks = riscv,
        .data = riscv, .control = riscv,
        .transactions = t->setup.model != ORDEAL_PC && !riscv, .interrupts = true, .flush = true,
        .uncached = true, .nonfaulting = true, .memory = UINT64_MAX, .amo_sizes = 0xf,
        .harts = 4,
    };
    /* clang-format on */
}

static struct machine_claims model_claims(const void *machine)
{
    const struct model_target *t = machine;
    return (struct machine_claims){ .model = t->setup.model, .atomic = 8, .final = true };
}

static enum target_result hung(const struct model_target *t, const struct program *p,
                               struct why *why)
{
    struct model_machine_place place = model_machine_unfinished(t->machine);
    char operation[256];
    ordeal_trace_format(p->test, place.op, operation, sizeof operation);
    why_say(why, "no end after %g s; P%" PRIu32 " is at %s", t->timeout, place.thread, operation);
    return TARGET_HUNG;
}

static enum target_result run_once(struct model_target *t, const struct program *p,
                                   uint64_t iteration, uint64_t *values, struct why *why)
{
    double started = 0;
    model_machine_start(t->machine, iteration, values);
    while (!model_machine_go(t->machine, TURNS)) {
        if (interrupted())
            return TARGET_STOPPED;
        double now = now_seconds();
        if (started == 0)
            started = now;
        else if (t->timeout > 0 && now - started > t->timeout)
            return hung(t, p, why);
    }
    model_machine_finals(t->machine, values + p->slots);
    return TARGET_DONE;
}

static enum target_result model_run(void *machine, const struct program *p, uint64_t first,
                                    uint64_t count, const struct target_sink *sink,
                                    struct why *why)
{
    struct model_target *t = machine;
    enum target_result result = TARGET_DONE;
    struct machine_claims claims = model_claims(t);
    uint64_t *values = calloc(program_words(p, &claims) + 1, sizeof *values);
    if (!values || !model_machine_load(t->machine, p)) {
        free(values);
        why_say(why, "out of memory");
        return TARGET_FAILED;
    }
    for (uint64_t i = first; result == TARGET_DONE && i - first < count; i++) {
        result = interrupted() ? TARGET_STOPPED : run_once(t, p, i, values, why);
        if (result == TARGET_DONE && !sink->outcome(sink->user, i, values))
            result = TARGET_STOPPED;
    }
    free(values);
    return result;
}

static void model_close(void *machine)
{
    struct model_target *t = machine;
    if (!t)
        return;
    model_machine_free(t->machine);
    free(t);
}

const struct target target_model = {
    .name = "model",
    .summary = "an operational machine of the memory model",
    .open = model_open,
    .can = model_can,
    .claims = model_claims,
    .exact = true,
    .iterations = 1,
    .run = model_run,
    .close = model_close,
    .bugs = &model_bugs,
};
