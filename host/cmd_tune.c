/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal tune`: searches for a bias that reaches more of a machine. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/output.h"
#include "tell/output_line.h"
#include "trial/setup.h"
#include "tune/report.h"

enum { FAILURES_KEPT = 10, FACTS = 24, FACT_BYTES = 2048 };

struct tune {
    struct setup setup;
    uint64_t cycles, tests, seconds, profiles, uniform_profiles;
    uint64_t batches, batch, discount, patience, keep;
    const char *output, *compare, *reward;
    bool no_mutation;

    struct tuning tuning;
    struct journal *journal;
    char journal_file[PATH_MAX];
    struct journal_fact facts[FACTS + 1];
    char fact_text[FACTS][FACT_BYTES];
    int fact_count;
    char command_line[FACT_BYTES];
    struct failure_plan failures;
    const char *failure_words[MOST_OPTION_WORDS + 3];
    struct batch batches_now[MOST_BATCHES];
    struct test_source_plan sources[MOST_BATCHES];
    int batch_count;
    struct tune_round round; /* as it comes in */
    uint64_t failed;         /* tests, up to the one at hand */
    uint64_t milliseconds;   /* of the run before this process */
    double started;
    struct progress progress;
    int status;
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(tune, setup.target_name, "target", 't', "TARGET", text, NULL,
           "the machine to tune for: sim, board, model, native or elf, see\n"
           "'ordeal run'"),
    OPTION(tune, setup.bias_files, "bias", 'b', "FILE", words, NULL,
           "begin with this bias; its profiles are the first arms. Of several\n"
           "files later ones override"),
    OPTION(tune, setup.set, "set", 's', "KEY=VALUE", words, NULL,
           "a key of the bias that stays so; may be given many times"),
    OPTION(tune, output, "output", 'o', "DIR", text, "ordeal-tuned",
           "folder for what comes out, and for the journal with which the same\n"
           "command goes on when it was stopped"),
    OPTION(tune, cycles, "cycles", 0, "N", positive, NULL,
           "end after so many cycles of the machine"),
    OPTION(tune, tests, "tests", 'n', "N", positive, NULL, "end after so many tests"),
    OPTION(tune, seconds, "seconds", 0, "N", positive, NULL,
           "end after so much time; what comes out then depends on the clock"),
    OPTION(tune, profiles, "profiles", 0, "N", positive, "8",
           "profiles that are chosen, at most 12"),
    OPTION(tune, keep, "keep", 0, "PERCENT", whole, "50",
           "of the cost that stays with the bias as it was: what only that\n"
           "finds is then found, if later; 0: none of it is kept"),
    OPTION(tune, compare, "compare", 0, "WHAT", text, "untuned",
           "the tuned bias with: untuned, the bias as it was; uniform, also\n"
           "with uniform random settings; none. Each takes an eighth of the budget"),
    OPTION(tune, setup.how.seed, "seed", 0, "S", whole, "1",
           "of the search, of the tests, and of the machine"),
    OPTION(tune, setup.iterations, "iterations", 'i', "K", positive, NULL,
           "run each test so often; without it as the target likes"),
    OPTION(tune, setup.model, "model", 'm', "MODEL", model, NULL,
           "what the machine obeys, and executions are checked for;\n"
           "without it what the target says:"),
    OPTION(tune, setup.limit, "limit", 0, "SECONDS", seconds, "60",
           "give up on an execution after this time: UNDECIDED"),
    OPTION(tune, setup.save, "save", 0, "DIR", text, NULL,
           "keep failing tests in folders there (default: ordeal-failures)"),
    OPTION(tune, setup.no_save, "no-save", 0, NULL, flag, NULL,
           "keep nothing of them, unless --save is given too"),
    OPTION(tune, batches, "batches", 0, "N", positive, "16",
           "of a round, which are chosen at once: 1 to 64"),
    OPTION(tune, batch, "batch", 0, "N", positive, "4", "tests of a batch, all of one arm: 1 to 1000"),
    OPTION(tune, discount, "discount", 0, "PERCENT", whole, "10",
           "of what was learnt that is forgotten from round to round: 0 to 99"),
    OPTION(tune, reward, "reward", 0, "HOW", text, "novelty",
           "what a test is paid for points of coverage: novelty, one for each\n"
           "that is new; rarity, for others a share by how few tests reached them"),
    OPTION(tune, patience, "patience", 0, "N", positive, "10",
           "rounds without a new point before the search begins again"),
    OPTION(tune, no_mutation, "no-mutation", 0, NULL, flag, NULL,
           "only weigh the profiles that there are"),
    OPTION(tune, uniform_profiles, "uniform", 0, "N", positive, NULL,
           "search nothing: write a bias of N profiles with uniform random\n"
           "settings, for comparison"),
    OPTION(tune, setup.jobs, "jobs", 'J', "N", positive, NULL,
           "model, sim, board: run on so many machines at a time, with the same\n"
           "results (default: as many as cores on sim, as boards that are there\n"
           "on board, else 1)"),
#define OPTION_OF_TARGETS(TYPE, FIELD, NAME, ARGUMENT, TARGETS, REPLAY, HELP) \
    OPTION(tune, setup.how.FIELD, NAME, 0, ARGUMENT, TYPE, NULL, TARGETS ": " HELP),
    TARGET_OPTIONS(OPTION_OF_TARGETS)
#undef OPTION_OF_TARGETS
    OPTION(tune, setup.how.timeout, "timeout", 0, "SECONDS", seconds, "60",
           "a test that takes longer hangs; a board is waited for as long when it\n"
           "is gone, but at most 30 s"),
    OPTION(tune, setup.json, "json", 'j', NULL, flag, NULL, "one JSON object a line"),
    OPTION_END
};
/* clang-format on */

/* ---- the options against each other ------------------------------------------------------------ */

static bool is_word(const char *word, const char *expected) { return strcmp(word, expected) == 0; }

static int word_usage(const struct tune *t)
{
    if (!is_word(t->compare, "untuned") && !is_word(t->compare, "uniform")
        && !is_word(t->compare, "none"))
        return complain(t->setup.command, "--compare takes untuned, uniform or none, not '%s'",
                        t->compare);
    if (!is_word(t->reward, "novelty") && !is_word(t->reward, "rarity"))
        return complain(t->setup.command, "--reward takes novelty or rarity, not '%s'", t->reward);
    return -1;
}

static int number_usage(const struct tune *t)
{
    const struct {
        const char *name;
        uint64_t value, most;
    } numbers[] = {
        { "profiles", t->profiles, PORTFOLIO_MOST },
        { "batches", t->batches, MOST_BATCHES },
        { "batch", t->batch, 1000 },
        { "discount", t->discount, 99 },
        { "keep", t->keep, 100 },
        { "uniform", t->uniform_profiles, 1000 },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value > numbers[i].most)
            return complain(t->setup.command, "--%s takes a number up to %" PRIu64, numbers[i].name,
                            numbers[i].most);
    return -1;
}

static int budget_usage(const struct tune *t)
{
    const struct target *target = t->setup.target;
    if (!t->uniform_profiles && !t->cycles && !t->tests && !t->seconds)
        return complain(t->setup.command, "for how long? --cycles, --tests or --seconds");
    if (t->cycles && !target->cycles)
        return complain(t->setup.command,
                        "the target '%s' does not count cycles; --tests or "
                        "--seconds say how long",
                        target->name);
    if (t->seconds > UINT64_MAX / 1000)
        return complain(t->setup.command, "--seconds takes a number up to %" PRIu64,
                        UINT64_MAX / 1000);
    if (t->setup.how.emit)
        return complain(t->setup.command, "--emit runs nothing, so there is nothing to learn from");
    return -1;
}

static int usage(struct tune *t, int operands)
{
    int status = operands ? complain(t->setup.command, "it takes no files; --bias names one") : -1;
    if (status < 0)
        status = setup_target(&t->setup);
    if (status < 0)
        status = word_usage(t);
    if (status < 0)
        status = number_usage(t);
    return status < 0 ? budget_usage(t) : status;
}

/* ---- what the results depend on ---------------------------------------------------------------- */

static void add_fact(struct tune *t, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add_fact(struct tune *t, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = t->fact_text[t->fact_count];
    vsnprintf(text, FACT_BYTES, format, args);
    va_end(args);
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = ' ';
    t->facts[t->fact_count++] = (struct journal_fact){ name, text };
}

static uint64_t sum_bytes(FILE *f)
{
    uint64_t sum = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (int c; f && (c = getc_unlocked(f)) != EOF;)
        sum = (sum ^ (unsigned char)c) * UINT64_C(0x100000001B3);
    return sum;
}

/* Of the program itself: another build may make other tests. */
static uint64_t program_sum(void)
{
    FILE *f = fopen("/proc/self/exe", "re");
    uint64_t sum = sum_bytes(f);
    if (f)
        fclose(f);
    return sum;
}

static uint64_t bias_sum(const struct bias *b)
{
    FILE *f = tmpfile();
    if (!f)
        return 0;
    bias_write(b, f, false);
    rewind(f);
    uint64_t sum = sum_bytes(f);
    fclose(f);
    return sum;
}

/* What was said of the machine, as words of a command line; a replay is told its size otherwise. */
static void machine_words(const struct tune *t, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (const char *const *word = t->setup.words.word; *word && used < size; word++)
        used += (size_t)snprintf(text + used, size - used, " %s", *word);
    if (t->setup.how.sizes && used < size)
        used += (size_t)snprintf(text + used, size - used, " --sizes %s", t->setup.how.sizes);
    if (t->setup.model.given && used < size)
        snprintf(text + used, size - used, " --model %s", ordeal_model_name(t->setup.how.model));
}

static void gather_facts(struct tune *t)
{
    const struct setup *s = &t->setup;
    char machine[FACT_BYTES];
    machine_words(t, machine, sizeof machine);
    add_fact(t, "version", "%s", ORDEAL_VERSION);
    add_fact(t, "program", "%016" PRIx64, program_sum());
    add_fact(t, "target", "%s", s->target->name);
    add_fact(t, "machine", "%s", *machine ? machine + 1 : "usual");
    add_fact(t, "model", "%s", ordeal_model_name(s->claims.model));
    add_fact(t, "bias", "%016" PRIx64, bias_sum(s->bias));
    add_fact(t, "seed", "%" PRIu64, s->how.seed);
    add_fact(t, "iterations", "%" PRIu64, s->iterations);
    add_fact(t, "cycles", "%" PRIu64, t->cycles);
    add_fact(t, "tests", "%" PRIu64, t->tests);
    add_fact(t, "seconds", "%" PRIu64, t->seconds);
    add_fact(t, "profiles", "%" PRIu64, t->profiles);
    add_fact(t, "keep", "%" PRIu64, t->keep);
    add_fact(t, "compare", "%s", t->compare);
    add_fact(t, "batches", "%" PRIu64, t->batches);
    add_fact(t, "batch", "%" PRIu64, t->batch);
    add_fact(t, "discount", "%" PRIu64, t->discount);
    add_fact(t, "reward", "%s", t->reward);
    add_fact(t, "patience", "%" PRIu64, t->patience);
    add_fact(t, "mutation", "%s", t->no_mutation ? "no" : "yes");
    assert(t->fact_count <= FACTS);
}

/* ---- making ready ------------------------------------------------------------------------------ */

static const char *unit_of(const struct tune *t)
{
    return t->setup.target->cycles ? "cycles" : "operations";
}

static bool plan_tuning(struct tune *t)
{
    const struct setup *s = &t->setup;
    struct tuning_plan plan = {
        .search = { .base = s->bias,
                    .can = s->target->can(s->machines.machine[0]),
                    .knobs = knobs_of(s->target, s->machines.machine[0]),
                    .seed = s->how.seed,
                    .ways = { .batches = t->batches,
                              .tests = t->batch,
                              .keep = 1 - (double)t->discount / 100,
                              .rarity = is_word(t->reward, "rarity"),
                              .mutate = !t->no_mutation,
                              .patience = t->patience } },
        .budget = { t->cycles, t->tests, t->seconds * 1000 },
        .profiles = (int)t->profiles,
        .keep = (double)t->keep / 100,
        .compare = !is_word(t->compare, "none"),
        .uniform = is_word(t->compare, "uniform"),
    };
    return tuning_new(&t->tuning, &plan);
}

static int open_journal(struct tune *t)
{
    struct why why;
    if (mkdir(t->output, 0777) != 0 && errno != EEXIST)
        return complain(t->setup.command, "--output %s: %s", t->output, strerror(errno));
    gather_facts(t);
    snprintf(t->journal_file, sizeof t->journal_file, "%s/journal", t->output);
    t->journal = journal_open(t->journal_file, t->facts, &why);
    if (t->journal)
        return -1;
    return complain(t->setup.command,
                    "%s. It is gone on with by the same command; remove it to "
                    "begin again, or name another --output",
                    why.text);
}

static int make_ready(struct tune *t)
{
    int status = setup_bias(&t->setup);
    t->setup.how.events = true;
    if (status < 0)
        status = setup_machines(&t->setup);
    if (status < 0)
        status = setup_default_bias(&t->setup);
    if (status >= 0)
        return status;
    t->failures = setup_failures(&t->setup);
    return plan_tuning(t) ? -1
                          : complain(t->setup.command, "out of memory, or the machine can run "
                                                       "no uniform random settings");
}

/* ---- a round ----------------------------------------------------------------------------------- */

/* When a test fails, how much of it is run depends on timing: it costs what it should have. */
static uint64_t cost_of(const struct tune *t, const struct pipeline_test *test)
{
    if (test->result == ORDEAL_FAIL)
        return t->setup.iterations * test->program->operations;
    return t->setup.target->cycles ? test->cycles : test->operations;
}

/* Tests come in the order of their batches. */
static const struct batch *batch_of(const struct tune *t, size_t test)
{
    int i = 0;
    for (; test >= t->batches_now[i].count; i++)
        test -= t->batches_now[i].count;
    assert(i < t->batch_count);
    return &t->batches_now[i];
}

/* The machine is set as it was, so that it tells its size; a replay sets it so, too. */
static void plan_failure(struct tune *t, const struct batch *b)
{
    const struct target *target = t->setup.target;
    struct test_knobs knobs = knobs_setting(&t->tuning.search.knobs, &b->knobs);
    size_t n = 0;
    for (; t->setup.words.word[n]; n++)
        t->failure_words[n] = t->setup.words.word[n];
    if (knobs.delay) {
        t->failure_words[n++] = "--delay";
        t->failure_words[n++] = t->tuning.search.knobs.knob[KNOB_DELAY].value[knobs.delay];
    }
    t->failure_words[n] = NULL;
    t->failures.machine_words = t->failure_words;
    t->failures.bias = b->bias;
    if (target->hold)
        target->hold(t->failures.machine, knobs.size);
}

static bool on_settled(void *user, const struct pipeline_test *test)
{
    static const enum tune_result results[] = {
        [ORDEAL_PASS] = TUNE_PASS, [ORDEAL_FAIL] = TUNE_FAIL, [ORDEAL_UNDECIDED] = TUNE_UNDECIDED
    };
    struct tune *t = user;
    struct tune_test brought = { .result = test->lost ? TUNE_LOST : results[test->result],
                                 .cost = cost_of(t, test) };
    if (test->hits && brought.result == TUNE_PASS)
        brought.hits = *test->hits;
    if (!LIST_PUSH(&t->round.tests, brought))
        return false;
    t->failed += brought.result == TUNE_FAIL;
    bool tell = brought.result == TUNE_UNDECIDED
             || (brought.result == TUNE_FAIL && t->failed <= FAILURES_KEPT);
    if (!tell)
        return true;
    plan_failure(t, batch_of(t, t->round.tests.count - 1));
    return setup_tell(&t->setup, &t->failures, test, &t->progress, &t->status);
}

static uint64_t milliseconds(const struct tune *t)
{
    return t->milliseconds + (uint64_t)((now_seconds() - t->started) * 1000);
}

static void on_tick(void *user, const struct pipeline_totals *so_far)
{
    static const char *const phases[] = { "search", "comparison", "end" };
    struct tune *t = user;
    char text[256], left[64] = "";
    double share = tuning_share(&t->tuning), seconds = (double)milliseconds(t) / 1000;
    (void)so_far;
    if (!t->progress.terminal)
        return;
    if (share > 0.01)
        snprintf(left, sizeof left, ", %.0f s left", seconds / share * (1 - share));
    snprintf(text, sizeof text, "%s, %" PRIu64 " tests, %.2f M %s, %" PRIu64 " points, %.0f%%%s",
             phases[t->tuning.phase], t->tuning.tests, t->tuning.cost / 1e6, unit_of(t),
             cover_reached(t->tuning.cover, COVER_EXEC)
                 + cover_reached(t->tuning.cover, COVER_EVENT),
             share * 100, left);
    progress_callback(&t->progress, text, -1);
}

/* Runs the batches at hand; -1 to go on. */
static int run_round(struct tune *t)
{
    const struct setup *s = &t->setup;
    for (int i = t->batch_count; i-- > 0;)
        t->sources[i] = (struct test_source_plan){
            .bias = t->batches_now[i].bias,
            .seed = s->how.seed,
            .first = t->batches_now[i].first,
            .count = t->batches_now[i].count,
            .knobs = knobs_setting(&t->tuning.search.knobs, &t->batches_now[i].knobs),
            .then = i + 1 < t->batch_count ? &t->sources[i + 1] : NULL,
        };
    struct pipeline_plan plan = {
        .target = s->target,
        .machines = s->machines.machine,
        .machine_count = s->machines.jobs,
        .source = t->sources[0],
        .iterations = s->iterations,
        .check = true,
        .model = s->claims.model,
        .limit = t->setup.limit,
        .cover = true,
        .settled = on_settled,
        .tick = on_tick,
        .user = t,
    };
    struct pipeline_report report;
    t->round.tests.count = 0;
    t->failed = t->tuning.results[TUNE_FAIL];
    enum pipeline_end end = pipeline_run(&plan, &report);
    t->round.milliseconds = milliseconds(t);
    if (end == PIPELINE_STOPPED) /* what fails could not be printed, or memory is out */
        return EXIT_BAD;
    return end == PIPELINE_DONE ? -1 : setup_end(s, end, &report);
}

static int keep_round(struct tune *t)
{
    struct why why;
    return journal_add(t->journal, &t->round, &why) ? -1
                                                    : complain(t->setup.command, "%s", why.text);
}

/* From the journal as far as it goes, then from the machine; -1: it is done. */
static int run_rounds(struct tune *t)
{
    int status = -1;
    bool kept = true;
    while (status < 0 && (t->batch_count = tuning_choose(&t->tuning, t->batches_now)) > 0) {
        kept = kept && journal_next(t->journal, &t->round);
        if (!kept)
            status = run_round(t);
        if (status < 0 && !kept)
            status = keep_round(t);
        if (status < 0 && !tuning_take(&t->tuning, t->batches_now, t->batch_count, &t->round))
            status = complain(t->setup.command, "out of memory");
        if (kept)
            t->milliseconds = t->round.milliseconds;
    }
    return t->batch_count < 0 ? complain(t->setup.command, "out of memory") : status;
}

/* ---- the end ----------------------------------------------------------------------------------- */

static int write_report(struct tune *t)
{
    char run[FACT_BYTES];
    struct why why;
    int used = snprintf(run, sizeof run, "--target %s", t->setup.target->name);
    machine_words(t, run + used, sizeof run - (size_t)used);
    struct report r = { &t->tuning, t->output,  t->command_line,
                        run,        unit_of(t), t->setup.target->name };
    if (!tuning_conclude(&t->tuning))
        return complain(t->setup.command, "out of memory");
    return report_write(&r, &why) ? -1 : complain(t->setup.command, "%s", why.text);
}

static void print_summary(const struct tune *t, const char *end)
{
    const struct tuning *g = &t->tuning;
    cJSON *line = output_line_new("TUNED", &(struct input){ .name = t->output });
    cJSON_AddNumberToObject(line, "tests", (double)g->tests);
    cJSON_AddNumberToObject(line, unit_of(t), g->cost);
    cJSON_AddNumberToObject(line, "rounds", (double)g->search.rounds);
    cJSON_AddNumberToObject(line, "settings", (double)g->search.arms.count);
    cJSON_AddNumberToObject(line, "restarts", (double)g->search.restarts);
    cJSON_AddNumberToObject(line, "profiles", (double)g->portfolio.profiles.count);
    cJSON_AddNumberToObject(line, "fail", (double)g->results[TUNE_FAIL]);
    for (int i = 0; i < g->contest.count; i++)
        cJSON_AddNumberToObject(line, g->contest.who[i].curve.name,
                                (double)contest_reached(&g->contest, &g->contest.who[i]));
    cJSON_AddNumberToObject(line, "seconds", (double)g->milliseconds / 1000);
    cJSON_AddStringToObject(line, "end", end);
    output_line_print(line, t->setup.json);
}

static int finish(struct tune *t, int status)
{
    static const struct {
        enum tune_result result;
        int status;
    } findings[] = {
        { TUNE_FAIL, EXIT_VIOLATION },
        { TUNE_UNDECIDED, EXIT_UNDECIDED },
        { TUNE_LOST, EXIT_TARGET },
    };
    progress_erase(&t->progress);
    if (status < 0 || status == EXIT_INTERRUPTED) {
        int written = write_report(t);
        status = written < 0 ? status : written;
        print_summary(t, status < 0                   ? "done"
                         : status == EXIT_INTERRUPTED ? "interrupted"
                                                      : "error");
    }
    if (t->tuning.results[TUNE_FAIL] > FAILURES_KEPT)
        complain(t->setup.command, "%" PRIu64 " tests failed, of which the first %d are told",
                 t->tuning.results[TUNE_FAIL], FAILURES_KEPT);
    if (status == EXIT_INTERRUPTED)
        complain(t->setup.command, "the same command goes on from here");
    for (size_t i = 0; i < sizeof findings / sizeof *findings; i++)
        if (t->tuning.results[findings[i].result])
            t->status = exit_worst(t->status, findings[i].status);
    return exit_worst(t->status, status < 0 ? EXIT_FINE : status);
}

static int tune_all(struct tune *t)
{
    int status = open_journal(t);
    if (status >= 0)
        return status;
    t->started = now_seconds();
    progress_start(&t->progress, "tune");
    return finish(t, run_rounds(t));
}

static int write_uniform(struct tune *t)
{
    struct output out;
    size_t count = (size_t)t->uniform_profiles;
    struct bias b = *t->setup.bias;
    const struct search *s = &t->tuning.search;
    b.profiles.data = calloc(count, sizeof *b.profiles.data);
    b.profiles.count = b.profiles.data ? count : 0;
    bool good = b.profiles.data
             && tuning_uniform(&s->mutate, &s->plan.can, s->plan.seed, b.profiles.data, count);
    int error = good ? output_open(&out, t->output) : ENOMEM;
    if (!error) {
        bias_write(&b, out.file, false);
        error = output_commit(&out);
    }
    for (size_t i = 0; i < b.profiles.count; i++)
        setting_free(&b.profiles.data[i]);
    free(b.profiles.data);
    return error ? complain(t->setup.command, "%s: %s", t->output, strerror(error)) : EXIT_FINE;
}

static void note_command_line(struct tune *t, int argc, char **argv)
{
    size_t used = (size_t)snprintf(t->command_line, sizeof t->command_line, "ordeal tune");
    for (int i = 1; i < argc && used < sizeof t->command_line; i++)
        used += (size_t)snprintf(t->command_line + used, sizeof t->command_line - used, " %s",
                                 argv[i]);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct tune *t = calloc(1, sizeof *t);
    int operand, status;
    if (!t)
        return complain(self, "out of memory");
    t->setup.command = self;
    note_command_line(t, argc, argv);
    status = options_parse(self, argc, argv, t, &operand);
    if (status < 0)
        status = usage(t, argc - operand);
    if (status < 0) {
        interrupt_watch();
        status = make_ready(t);
        if (status < 0)
            status = t->uniform_profiles ? write_uniform(t) : tune_all(t);
        tuning_free(&t->tuning);
        journal_close(t->journal);
        LIST_FREE(&t->round.tests);
        setup_close(&t->setup);
    }
    free(t);
    return status;
}

const struct command command_tune = {
    .name = "tune",
    .summary = "find a bias that reaches more of a machine",
    .operands = "--target TARGET",
    .description =
        "Runs tests as 'ordeal run --check' does, and learns from the coverage they reach which\n"
        "settings of the bias reach something new at the least cost. The arms of the search are\n"
        "the profiles of the bias and children of those that pay, with keys moved. It ends in a\n"
        "folder with tuned.bias, a few profiles with weights and with what speaks for each key\n"
        "that moved, coverage.cover, and coverage.svg, the tuned bias against the bias as it was\n"
        "at equal cost. The same command is the same search, however many machines work, but\n"
        "for --seconds and for targets that do not do the same again (native, elf, board).\n"
        "After ^C or a kill the same command goes on where it was.\n\n"
        "Exit status: as of 'ordeal run'; 1 when some test failed, which is told and kept.",
    .example = "  $ ordeal tune --target sim --cycles 20000000 -o tuned\n"
               "  $ ordeal run --target sim --bias tuned/tuned.bias --check --count 1000\n",
    .options = options,
    .run = run,
};
