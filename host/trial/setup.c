/* SPDX-License-Identifier: Apache-2.0 */
#include "setup.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bias_fits.h"
#include "targets/bug_list.h"
#include "tell/output_line.h"
#include "test/default_bias.h"

enum { SHRINK_SECONDS = 600 };

int setup_target(struct setup *s)
{
    char names[128] = "";
    for (const struct target *const *t = targets; *t; t++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", (*t)->name);
    }
    if (!s->target_name)
        return complain(s->command, "on which target? --target takes one of %s", names);
    s->target = target_find(s->target_name);
    if (!s->target)
        return complain(s->command, "--target takes one of %s, not '%s'", names, s->target_name);
    struct why why;
    if (!target_options_fit(&s->how, s->target->name, &why))
        return complain(s->command, "%s", why.text);
    if (s->jobs > 1 && !s->target->exact && !s->target->several)
        return complain(s->command,
                        "one at a time on '%s': its machines would disturb each other, so there "
                        "is no --jobs",
                        s->target->name);
    if (s->jobs > 1 && s->how.emit)
        return complain(s->command, "--emit writes one program after the other, without --jobs");
    if (s->jobs > MOST_JOBS)
        return complain(s->command, "--jobs takes a number up to %d", MOST_JOBS);
    return -1;
}

int setup_bug_list(struct setup *s)
{
    if (!s->how.bug || strcmp(s->how.bug, "list") != 0)
        return -1;
    int status = s->target_name ? setup_target(s) : -1;
    if (status >= 0)
        return status;
    bool first = true;
    for (const struct target *const *t = targets; *t; t++) {
        if (!(*t)->bugs || (s->target && s->target != *t))
            continue;
        if (!s->target && !s->json)
            printf("%s--target %s\n\n", first ? "" : "\n", (*t)->name);
        bugs_print((*t)->bugs, s->json, stdout);
        first = false;
    }
    return EXIT_FINE;
}

int setup_bad(const struct setup *s, const struct ordeal_error *e)
{
    char text[1024];
    error_format(e, text, sizeof text);
    return complain(s->command, "%s", text);
}

static bool set_keys(const struct setup *s, struct ordeal_error *e)
{
    for (size_t i = 0; i < s->set.count; i++)
        if (!bias_set(s->bias, s->set.word[i], e))
            return false;
    return true;
}

int setup_bias(struct setup *s)
{
    struct ordeal_error e;
    s->bias = bias_new();
    if (!s->bias)
        return complain(s->command, "out of memory");
    bool good = s->bias_files.count || default_bias_read_whole(s->bias, &e);
    for (size_t i = 0; good && i < s->bias_files.count; i++)
        good = bias_read(s->bias, s->bias_files.word[i], &e);
    good = good && set_keys(s, &e) && (!s->bias_files.count || bias_check(s->bias, &e));
    return good ? -1 : setup_bad(s, &e);
}

static int beyond_machine(const struct setup *s, const struct abilities *can,
                          struct ordeal_error *e)
{
    size_t used = strlen(e->reason);
    if (bias_held(s->bias, BIAS_test_threads) && s->bias->test_threads > can->threads)
        snprintf(e->reason + used, sizeof e->reason - used, "%s", target_more_threads(s->target));
    return setup_bad(s, e);
}

int setup_default_bias(struct setup *s)
{
    struct ordeal_error e;
    struct abilities can = s->target->can(s->machines.machine[0]);
    if (s->bias_files.count && !bias_set_fits(s->bias, &can, &e))
        return beyond_machine(s, &can, &e);
    if (s->bias_files.count)
        return bias_fits(s->bias, s->target, &can, s->how.seed, &e) ? -1 : setup_bad(s, &e);
    bias_free(s->bias);
    s->bias = bias_new();
    if (!s->bias)
        return complain(s->command, "out of memory");
    struct why left_out = { "" };
    bool good = default_bias_read(s->bias, &can, &e) && set_keys(s, &e)
             && default_bias_settle(s->bias, &can, &left_out, &e);
    if (good && *left_out.text)
        complain(s->command, "%s", left_out.text);
    return good ? -1 : beyond_machine(s, &can, &e);
}

int setup_machines(struct setup *s)
{
    struct why why = { "" };
    s->how.model = s->model.given ? (enum ordeal_model)s->model.value : ORDEAL_TSO;
    s->how.model_given = s->model.given;
    int jobs = s->jobs ? (int)s->jobs : machine_pool_usual_jobs(s->target, &s->how);
    if (!machine_pool_open(&s->machines, s->target, &s->how, jobs, &why)) {
        int status = complain(s->command, "%s: %s", s->target->name, why.text);
        return s->machines.missing ? EXIT_TARGET : status;
    }
    s->claims = s->target->claims(s->machines.machine[0]);
    if (!s->iterations) {
        s->iterations = s->target->iterations;
        s->early_tests = s->target->early_tests;
        s->early_iterations = s->target->early_iterations;
    }
    return -1;
}

struct failure_plan setup_failures(struct setup *s)
{
    return (struct failure_plan){
        .target = s->target,
        .machine = s->machines.machine[0],
        .bias = s->bias,
        .seed = s->how.seed,
        .model = s->claims.model,
        .iterations = s->iterations,
        .limit = s->limit,
        .shrink_seconds = SHRINK_SECONDS,
        .directory = s->save    ? s->save
                   : s->no_save ? NULL
                                : "ordeal-failures",
        .how = &s->how,
    };
}

struct telling {
    struct progress *progress;
    bool json;
};

static bool print_line(void *user, cJSON *line)
{
    struct telling *t = user;
    progress_erase(t->progress);
    bool printed = output_line_print(line, t->json);
    fflush(stdout);
    return printed && !ferror(stdout);
}

bool setup_tell(const struct setup *s, const struct failure_plan *plan,
                const struct pipeline_test *t, struct progress *progress, int *status)
{
    static const int statuses[] = { [ORDEAL_PASS] = EXIT_FINE,
                                    [ORDEAL_FAIL] = EXIT_VIOLATION,
                                    [ORDEAL_UNDECIDED] = EXIT_UNDECIDED };
    struct failure_told told;
    struct telling telling = { progress, s->json };
    struct failure_plan here = *plan;
    here.tell = print_line;
    here.teller = &telling;
    here.progress = progress;
    bool good = failure_tell(&here, t, &told);
    *status = exit_worst(*status, statuses[t->result]);
    bool printed = print_line(&telling, told.line);
    if (!good)
        *status = exit_worst(*status, complain(s->command, "%s: %s", t->name, told.why.text));
    if (told.unwritten)
        *status = exit_worst(*status, EXIT_UNWRITTEN);
    return printed;
}

int setup_end(const struct setup *s, enum pipeline_end end, const struct pipeline_report *report)
{
    static const int status[] = {
        [PIPELINE_DONE] = EXIT_FINE,
        [PIPELINE_STOPPED] = EXIT_FINE,
        [PIPELINE_INTERRUPTED] = EXIT_INTERRUPTED,
        [PIPELINE_BAD] = EXIT_BAD,
        [PIPELINE_TARGET] = EXIT_TARGET,
        [PIPELINE_INTERNAL] = EXIT_INTERNAL,
    };
    if (end == PIPELINE_BAD || end == PIPELINE_TARGET)
        setup_bad(s, &report->error);
    if (end == PIPELINE_INTERNAL)
        complain(s->command,
                 "%s: internal error: the verdict could not be proved: %s; please report this with "
                 "the test",
                 report->error.file, report->error.reason);
    return status[end];
}

void setup_close(struct setup *s)
{
    machine_pool_close(&s->machines);
    bias_free(s->bias);
}
