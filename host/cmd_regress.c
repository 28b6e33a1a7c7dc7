/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal regress`: many runs by a plan, with all results in one database. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/options.h"
#include "base/progress.h"
#include "base/text.h"
#include "regress/regression.h"
#include "regress/summary.h"
#include "tell/output_line.h"

enum { MOST_JOBS = 1024 }; /* an engine may take fewer */

/* What is told the first few times: a bucket, or a kind of incident of a run. */
struct told {
    char what[400];
    uint64_t times;
};

struct regress {
    const char *db, *engine_name, *against, *junit;
    bool init, dry_run, wait, json;
    uint64_t jobs;
    struct words sbatch;
    double queue;

    const struct command *command;
    char *made_name; /* of the database */
    struct plan plan;
    struct store *store;
    struct progress progress;
    LIST(struct told) told;
    char *sbatch_text; /* in which `sbatch_words` lie */
    LIST(const char *) sbatch_words;
    int status;
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(regress, init, "init", 0, NULL, flag, NULL,
           "write a plan to begin with to PLAN, or to standard output"),
    OPTION(regress, dry_run, "dry-run", 0, NULL, flag, NULL,
           "show the runs of the plan and their shares, and run nothing"),
    OPTION(regress, db, "db", 0, "FILE", text, NULL,
           "the database; without it PLAN with .db in place of its ending. What\n"
           "does not fit into it is in FILE-files"),
    OPTION(regress, wait, "wait", 0, NULL, flag, NULL,
           "if another regression has the database, wait until it ends"),
    OPTION(regress, engine_name, "engine", 0, "NAME", text, "local",
           "where the work is done: local, on this computer; slurm, by jobs of a\n"
           "cluster"),
    OPTION(regress, sbatch, "sbatch", 0, "WORDS", words, NULL,
           "more words for sbatch, separated by blanks; may be given many times"),
    OPTION(regress, queue, "queue-seconds", 0, "SECONDS", seconds, "86400",
           "how long jobs of Slurm may wait while none is started"),
    OPTION(regress, jobs, "jobs", 'J', "N", positive, NULL,
           "so many workers at a time (default: as many as cores; slurm: 32)"),
    OPTION(regress, against, "against", 0, "OLD.db", text, NULL,
           "say what is new since that database, gone, flaky, slower and no\n"
           "longer covered"),
    OPTION(regress, junit, "junit", 0, "FILE", text, NULL, "write a summary for CI, as JUnit XML"),
    OPTION(regress, json, "json", 'j', NULL, flag, NULL, "one JSON object a line"),
    OPTION_END
};
/* clang-format on */

/* ---- the plan ------------------------------------------------------------------------------------ */

static int write_plan(const struct regress *r, const char *file)
{
    struct output out;
    if (strcmp(file, "-") != 0 && access(file, F_OK) == 0)
        return complain(r->command, "%s is there already; --init takes the name of a new file",
                        file);
    int error = output_open(&out, file);
    if (!error) {
        fputs(plan_to_begin_with, out.file);
        error = output_commit(&out);
    }
    return error ? complain(r->command, "%s: %s", file, strerror(error)) : EXIT_FINE;
}

static int read_plan(struct regress *r, const char *file)
{
    struct ordeal_error e;
    char text[1024];
    if (plan_read(&r->plan, file, &e))
        return -1;
    error_format(&e, text, sizeof text);
    return complain(r->command, "%s", text);
}

/* "nightly.plan": nightly.db. */
static int name_database(struct regress *r, const char *plan)
{
    const char *slash = strrchr(plan, '/'), *dot = strrchr(plan, '.');
    int length = dot && (!slash || dot > slash + 1) && dot > plan ? (int)(dot - plan)
                                                                  : (int)strlen(plan);
    if (r->db)
        return -1;
    if (asprintf(&r->made_name, "%.*s.db", length, plan) < 0) {
        r->made_name = NULL;
        return complain(r->command, "out of memory");
    }
    r->db = r->made_name;
    return -1;
}

static cJSON *line_of_run(const struct plan_run *run)
{
    cJSON *line = output_line_new("PLANNED", &(struct input){ .name = run->name });
    char words[1024] = "", share[32];
    for (size_t i = 0; i < run->words.count; i++) {
        size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%s", i ? " " : "", run->words.data[i]);
    }
    snprintf(share, sizeof share, "%.4g", run->weight);
    cJSON_AddRawToObject(line, "weight", share);
    if (run->budget.tests)
        cJSON_AddNumberToObject(line, "tests", (double)run->budget.tests);
    if (run->budget.cycles)
        cJSON_AddNumberToObject(line, "cycles", (double)run->budget.cycles);
    if (run->budget.seconds > 0)
        cJSON_AddNumberToObject(line, "seconds", run->budget.seconds);
    cJSON_AddStringToObject(line, "words", words);
    return line;
}

static int show_plan(const struct regress *r)
{
    for (size_t i = 0; i < r->plan.runs.count; i++)
        if (!output_line_print(line_of_run(&r->plan.runs.data[i]), r->json))
            return EXIT_BAD;
    return EXIT_FINE;
}

/* ---- while it runs ------------------------------------------------------------------------------- */

/* The first few; the summary counts all. */
static bool is_worth_telling(struct regress *r, const char *what)
{
    struct told fresh = { .times = 1 };
    for (size_t i = 0; i < r->told.count; i++)
        if (strcmp(r->told.data[i].what, what) == 0)
            return ++r->told.data[i].times <= r->plan.examples;
    snprintf(fresh.what, sizeof fresh.what, "%s", what);
    return LIST_PUSH(&r->told, fresh) || true;
}

static void on_failed(void *user, const struct plan_run *run, const struct record_test *t)
{
    struct regress *r = user;
    char name[400];
    if (!is_worth_telling(r, t->failure->signature))
        return;
    snprintf(name, sizeof name, "%s#%" PRIu64, run->name, t->number);
    cJSON *line = output_line_new("FAIL", &(struct input){ .name = name });
    cJSON_AddStringToObject(line, "bucket", t->failure->signature);
    cJSON_AddStringToObject(line, "kind", t->failure->kind);
    output_line_machine(line, t->configuration);
    output_line_profile(line, t->profile);
    cJSON_AddStringToObject(line, "reason", t->failure->reason);
    progress_erase(&r->progress);
    output_line_print(line, r->json);
    fflush(stdout);
}

static void on_incident(void *user, const struct plan_run *run, enum incident_kind kind,
                        const char *text)
{
    struct regress *r = user;
    char what[400];
    snprintf(what, sizeof what, "%s %.300s", incident_kinds[kind], run->name);
    if (!is_worth_telling(r, what))
        return;
    cJSON *line = output_line_new("INCIDENT", &(struct input){ .name = run->name });
    cJSON_AddStringToObject(line, "kind", incident_kinds[kind]);
    cJSON_AddStringToObject(line, "text", text);
    progress_erase(&r->progress);
    output_line_print(line, r->json);
    fflush(stdout);
}

static void on_tick(void *user, const struct regression_progress *p)
{
    struct regress *r = user;
    char text[256], of[32] = "", left[48] = "", small[48] = "";
    if (!r->progress.terminal)
        return;
    if (p->of)
        snprintf(of, sizeof of, "/%" PRIu64, p->of);
    if (p->left >= 0)
        snprintf(left, sizeof left, ", %.0f s left", p->left);
    if (p->shrinking)
        snprintf(small, sizeof small, ", making %d small", p->shrinking);
    snprintf(text, sizeof text,
             "%" PRIu64 "%s tests, %d workers, %" PRIu64 " failed, %" PRIu64 " incidents%s%s",
             p->tests, of, p->workers, p->failed, p->incidents, small, left);
    progress_callback(&r->progress, text, p->share);
}

/* ---- the end ------------------------------------------------------------------------------------- */

static int status_of(const struct regress *r, const struct summary *all)
{
    int status = all->results[RECORD_FAIL] ? EXIT_VIOLATION : EXIT_FINE;
    bool nothing = !all->tests && all->incidents; /* not a single one: that is not well */
    if (r->plan.incidents_fail && all->results[RECORD_UNDECIDED])
        status = exit_worst(status, EXIT_UNDECIDED);
    if ((r->plan.incidents_fail && all->incidents > all->results[RECORD_UNDECIDED]) || nothing)
        status = exit_worst(status, EXIT_TARGET);
    return status;
}

static void conclude(struct regress *r, const char *end)
{
    struct summary all;
    struct why why = { "" };
    if (!summary_print(r->store, r->db, end, r->json, &all))
        r->status = exit_worst(r->status, complain(r->command, "what came out cannot be printed"));
    r->status = exit_worst(r->status, status_of(r, &all));
    if (r->against && !summary_compare(r->store, r->against, r->json, &why))
        r->status = exit_worst(r->status, complain(r->command, "--against %s", why.text));
    int error = r->junit ? summary_junit(r->store, r->plan.file, r->plan.incidents_fail, r->junit)
                         : 0;
    if (error)
        r->status = exit_worst(r->status,
                               complain(r->command, "--junit '%s': %s", r->junit, strerror(error)));
}

static bool find_program(char program[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", program, PATH_MAX - 1);
    program[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* What --sbatch said, at its blanks. */
static bool split_words(struct regress *r)
{
    size_t size = 0;
    const char *end = NULL;
    FILE *text = text_stream(&r->sbatch_text, &size);
    for (size_t i = 0; text && i < r->sbatch.count; i++)
        fprintf(text, "%s ", r->sbatch.word[i]);
    if (!text || fclose(text) != 0)
        return false;
    char *rest = NULL;
    for (const char *w = strtok_r(r->sbatch_text, " \t\n", &rest); w;
         w = strtok_r(NULL, " \t\n", &rest))
        if (!LIST_PUSH(&r->sbatch_words, w))
            return false;
    return LIST_PUSH(&r->sbatch_words, end);
}

static int work(struct regress *r, const struct engine *engine)
{
    char program[PATH_MAX];
    struct why why = { "" };
    if (!split_words(r))
        return complain(r->command, "out of memory");
    if (!find_program(program))
        return complain(r->command, "/proc/self/exe: %s", strerror(errno));
    struct regression_plan plan = { .plan = &r->plan,
                                    .store = r->store,
                                    .engine = engine,
                                    .jobs = (int)r->jobs,
                                    .words = r->sbatch_words.data,
                                    .queue = r->queue,
                                    .program = program,
                                    .failed = on_failed,
                                    .incident = on_incident,
                                    .tick = on_tick,
                                    .user = r };
    progress_start(&r->progress, "regress");
    enum regression_end end = regression_run(&plan, &why);
    progress_erase(&r->progress);
    if (end == REGRESSION_REFUSED)
        return complain(r->command, "%s", why.text);
    if (end == REGRESSION_ERROR)
        r->status = exit_worst(r->status, complain(r->command, "%s", why.text));
    if (end == REGRESSION_INTERRUPTED)
        complain(r->command, "the same command goes on from here");
    conclude(r, regression_ends[end]);
    return end == REGRESSION_INTERRUPTED ? EXIT_INTERRUPTED : r->status;
}

static const struct engine *choose_engine(const struct regress *r)
{
    char names[128] = "";
    const struct engine *engine = engine_find(r->engine_name);
    for (const struct engine *const *e = engines; *e && !engine; e++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", (*e)->name);
    }
    if (engine && engine != &engine_slurm && r->sbatch.count) {
        complain(r->command, "--sbatch is for --engine slurm");
        return NULL;
    }
    if (!engine)
        complain(r->command, "--engine takes one of %s, not '%s'", names, r->engine_name);
    return engine;
}

/* Looked at before hours are spent. */
static bool can_be_compared(const struct regress *r, struct why *why)
{
    struct store *old;
    bool good = store_open_old(&old, r->against, why);
    store_close(old);
    return good;
}

static int regress_all(struct regress *r)
{
    struct why why;
    const struct engine *engine = choose_engine(r);
    if (!engine)
        return EXIT_BAD;
    interrupt_watch();
    if (r->against && !can_be_compared(r, &why))
        return complain(r->command, "--against %s", why.text);
    if (!store_open(&r->store, r->db, r->wait, &why))
        return interrupted() ? EXIT_INTERRUPTED : complain(r->command, "%s", why.text);
    return work(r, engine);
}

static int with_plan(struct regress *r, const char *file)
{
    if (r->init)
        return write_plan(r, file ? file : "-");
    if (!file)
        return complain(r->command,
                        "which plan? 'ordeal regress --init FILE' writes one to begin with");
    int status = read_plan(r, file);
    if (status < 0)
        status = name_database(r, file);
    if (status < 0)
        status = r->dry_run ? show_plan(r) : regress_all(r);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct regress r = { .command = self };
    int operand, status = options_parse(self, argc, argv, &r, &operand);
    if (status < 0 && argc - operand > 1)
        status = complain(self, "one plan at a time: what is '%s'?", argv[operand + 1]);
    if (status < 0 && r.jobs > MOST_JOBS)
        status = complain(self, "--jobs takes a number up to %d", MOST_JOBS);
    if (status < 0)
        status = with_plan(&r, argv[operand]);
    store_close(r.store);
    plan_free(&r.plan);
    LIST_FREE(&r.told);
    LIST_FREE(&r.sbatch_words);
    free(r.sbatch_text);
    free(r.made_name);
    return status;
}

const struct command command_regress = {
    .name = "regress",
    .summary = "run many tests by a plan and keep all results",
    .operands = "PLAN",
    .description =
        "Runs what a plan says, on as many workers as there are cores, until its budget is used,\n"
        "and keeps every result in one SQLite database: tests, failures put together by their\n"
        "cause, incidents, coverage. The same command goes on where it was stopped or killed; with\n"
        "a greater budget, too. A line is printed for failures of each cause, then one for each\n"
        "run, each bucket of failures, and the whole. Machines that fail, are not there or cannot\n"
        "be built are incidents, which fail nothing unless the plan says so.\n\n"
        "Exit status: 0 nothing wrong was found; 1 some test failed, now or before; else 2 bad\n"
        "usage, a wrong plan, or a database that cannot be used; 3 and 4 incidents, where the plan\n"
        "says 'incidents = fail', or when not a single test could be run; 130 after ^C or SIGTERM.",
    .example = "  $ ordeal regress --init nightly.plan\n"
               "  $ ordeal regress nightly.plan --junit nightly.xml\n",
    .options = options,
    .run = run,
};
