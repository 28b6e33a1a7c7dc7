/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal tune`: searches for a bias that reaches more of a machine. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/interrupt.h"
#include "base/output.h"
#include "base/text.h"
#include "tell/output_line.h"
#include "trial/saved_run.h"
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
    struct journal_head head;
    struct journal_fact facts[FACTS + 1];
    char fact_text[FACTS][FACT_BYTES];
    int fact_count;
    char *bias_text;
    char *const *words; /* of the command line */
    int word_count;
    struct failure_plan failures;
    struct target_options failure_how;
    struct batch batches_now[MOST_BATCHES];
    struct test_source_plan sources[MOST_BATCHES], *source; /* the first of them */
    int batch_count;
    struct tune_round round; /* as it comes in */
    bool cut, gap;           /* no more of it is wanted; what follows is run again */
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
           "what a test is paid for points of coverage: novelty, for those that\n"
           "no round before reached; rarity, for others, too, by how few tests did"),
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
        { "keep", t->keep, 99 },
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
    bool budget = t->cycles || t->tests || t->seconds;
    if (!t->uniform_profiles && !budget)
        return complain(t->setup.command, "for how long? --cycles, --tests or --seconds");
    if (t->uniform_profiles && budget)
        return complain(t->setup.command, "--uniform runs nothing, so it takes no --cycles, "
                                          "--tests or --seconds");
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
    t->facts[t->fact_count++] = (struct journal_fact){ name, text, false };
}

/* More of it may be given to what was begun with less. */
static void add_budget(struct tune *t, const char *name, uint64_t value)
{
    add_fact(t, name, "%" PRIu64, value);
    t->facts[t->fact_count - 1].grows = true;
}

/* `good` stays if all of it could be read. */
static uint64_t sum_bytes(FILE *f, bool *good)
{
    uint64_t sum = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (int c; f && (c = getc_unlocked(f)) != EOF;)
        sum = (sum ^ (unsigned char)c) * UINT64_C(0x100000001B3);
    *good = *good && f && !ferror(f);
    return sum;
}

/* Of the program itself: another build may make other tests. */
static uint64_t program_sum(bool *good)
{
    FILE *f = fopen("/proc/self/exe", "re");
    uint64_t sum = sum_bytes(f, good);
    if (f)
        fclose(f);
    return sum;
}

/* Whole, so that it can be said what differs from it. */
static bool write_bias_text(struct tune *t)
{
    size_t size;
    FILE *f = text_stream(&t->bias_text, &size);
    bool good = f && bias_write(t->setup.bias, f, false);
    return f && fclose(f) == 0 && good;
}

/* What was said of the machine, as words of a command line. */
static void machine_words(const struct tune *t, char *text, size_t size)
{
    struct target_option_words words;
    size_t used = 0;
    *text = '\0';
    target_option_words(&t->setup.how, &words);
    for (const char *const *word = words.word; *word && used < size; word++)
        used += (size_t)snprintf(text + used, size - used, " %s", *word);
    if (t->setup.model.given && used < size)
        snprintf(text + used, size - used, " --model %s", ordeal_model_name(t->setup.how.model));
}

/* False: not all of them can be told. */
static bool gather_facts(struct tune *t)
{
    const struct setup *s = &t->setup;
    char machine[FACT_BYTES];
    bool good = true;
    machine_words(t, machine, sizeof machine);
    add_fact(t, "version", "%s", ORDEAL_VERSION);
    add_fact(t, "program", "%016" PRIx64, program_sum(&good));
    add_fact(t, "target", "%s", s->target->name);
    add_fact(t, "machine", "%s", *machine ? machine + 1 : "usual");
    add_fact(t, "model", "%s", ordeal_model_name(s->claims.model));
    add_fact(t, "seed", "%" PRIu64, s->how.seed);
    add_fact(t, "iterations", "%" PRIu64, s->iterations);
    add_budget(t, "cycles", t->cycles);
    add_budget(t, "tests", t->tests);
    add_budget(t, "seconds", t->seconds);
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
    return good;
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

static int make_directory(const struct tune *t)
{
    int error = output_directory(t->output);
    if (!error)
        return -1;
    return complain(t->setup.command, "--output %s: %s", t->output,
                    error == EEXIST ? "it is a file; what comes out is a folder" : strerror(error));
}

static int open_journal(struct tune *t)
{
    struct why why;
    int status = make_directory(t);
    if (status >= 0)
        return status;
    if (!gather_facts(t))
        return complain(t->setup.command, "the program cannot be read: %s", strerror(errno));
    if (!write_bias_text(t))
        return complain(t->setup.command, "out of memory");
    t->head = (struct journal_head){ t->facts, t->bias_text };
    snprintf(t->journal_file, sizeof t->journal_file, "%s/journal", t->output);
    t->journal = journal_open(t->journal_file, &t->head, &why);
    return t->journal ? -1 : complain(t->setup.command, "%s", why.text);
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

static uint64_t cost_of(const struct tune *t, const struct pipeline_test *test)
{
    return t->setup.target->cycles ? test->cycles : test->operations;
}

/* Tests come in the order of their batches. Of the test with this place in the round: its batch, and
 * its number. */
static const struct batch *batch_of(const struct tune *t, size_t test, uint64_t *number)
{
    int i = 0;
    for (; test >= t->batches_now[i].count; i++)
        test -= t->batches_now[i].count;
    assert(i < t->batch_count);
    *number = t->batches_now[i].first + test;
    return &t->batches_now[i];
}

/* When a run is ended from outside, tests are settled of which some before them were cut off: these
 * are run again, and all after them. */
static bool comes_next(const struct tune *t, const struct pipeline_test *test)
{
    uint64_t number;
    batch_of(t, t->round.tests.count, &number);
    return !interrupted() && test->number == number;
}

/* The machine is set as it was, so that it tells its size; a replay sets it so, too. */
static void plan_failure(struct tune *t, const struct batch *b)
{
    const struct target *target = t->setup.target;
    struct test_knobs knobs = knobs_setting(&t->tuning.search.knobs, &b->knobs);
    t->failure_how = t->setup.how;
    if (knobs.delay)
        t->failure_how.delay = t->tuning.search.knobs.knob[KNOB_DELAY].value[knobs.delay];
    t->failures.how = &t->failure_how;
    t->failures.bias = b->bias;
    if (target->hold)
        target->hold(t->failures.machine, knobs.size);
}

static uint64_t milliseconds(const struct tune *t)
{
    return t->milliseconds + (uint64_t)((now_seconds() - t->started) * 1000);
}

static bool tell(struct tune *t, const struct pipeline_test *test, enum tune_result result)
{
    uint64_t number;
    t->failed += result == TUNE_FAIL;
    if (result != TUNE_UNDECIDED && !(result == TUNE_FAIL && t->failed <= FAILURES_KEPT))
        return true;
    plan_failure(t, batch_of(t, t->round.tests.count, &number));
    return setup_tell(&t->setup, &t->failures, test, &t->progress, &t->status);
}

static bool wants_more(const struct tune *t)
{
    return tuning_wants(&t->tuning, t->batches_now, t->batch_count, &t->round);
}

/* Told first, then kept: a kill between the two tells it again. */
static bool on_settled(void *user, const struct pipeline_test *test)
{
    static const enum tune_result results[] = {
        [ORDEAL_PASS] = TUNE_PASS, [ORDEAL_FAIL] = TUNE_FAIL, [ORDEAL_UNDECIDED] = TUNE_UNDECIDED
    };
    struct tune *t = user;
    struct why why;
    struct tune_test brought = { .result = test->lost ? TUNE_LOST : results[test->result],
                                 .cost = cost_of(t, test),
                                 .milliseconds = milliseconds(t) };
    t->gap |= !comes_next(t, test);
    if (t->gap)
        return true;
    if (test->hits && brought.result == TUNE_PASS)
        brought.hits = *test->hits;
    if (!tell(t, test, brought.result))
        return false;
    if (!LIST_PUSH(&t->round.tests, brought)) {
        complain(t->setup.command, "out of memory");
        return false;
    }
    if (!journal_add(t->journal, &brought, &why)) {
        complain(t->setup.command, "%s", why.text);
        return false;
    }
    t->cut = !wants_more(t);
    return !t->cut;
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

/* The tests of the round but for the first, of which is known what they brought. */
static void plan_sources(struct tune *t, uint64_t known)
{
    struct test_source_plan *next = NULL;
    uint64_t end = 0;
    for (int i = 0; i < t->batch_count; i++)
        end += t->batches_now[i].count;
    for (int i = t->batch_count; i-- > 0 && end > known; end -= t->batches_now[i].count) {
        const struct batch *b = &t->batches_now[i];
        uint64_t begin = end - b->count, skip = known > begin ? known - begin : 0;
        t->sources[i] = (struct test_source_plan){
            .bias = b->bias,
            .seed = t->setup.how.seed,
            .first = b->first + skip,
            .count = b->count - skip,
            .knobs = knobs_setting(&t->tuning.search.knobs, &b->knobs),
            .then = next,
        };
        next = &t->sources[i];
    }
    t->source = next;
}

/* Runs what is left of the batches at hand; -1 to go on. */
static int run_rest(struct tune *t)
{
    const struct setup *s = &t->setup;
    plan_sources(t, t->round.tests.count);
    struct pipeline_plan plan = {
        .target = s->target,
        .machines = s->machines.machine,
        .machine_count = s->machines.jobs,
        .source = *t->source,
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
    t->cut = t->gap = false;
    enum pipeline_end end = pipeline_run(&plan, &report);
    if (t->cut || end == PIPELINE_DONE)
        return -1;
    return end == PIPELINE_STOPPED ? EXIT_BAD : setup_end(s, end, &report); /* why was told */
}

/* What the journal has of the round. */
static bool take_kept(struct tune *t)
{
    struct tune_test test;
    t->round.tests.count = 0;
    t->failed = t->tuning.results[TUNE_FAIL];
    while (wants_more(t) && journal_next(t->journal, &test)) {
        t->failed += test.result == TUNE_FAIL;
        t->milliseconds = test.milliseconds;
        t->started = now_seconds();
        if (!LIST_PUSH(&t->round.tests, test))
            return false;
    }
    return true;
}

/* From the journal as far as it goes, then from the machine; -1 to go on. */
static int run_round(struct tune *t)
{
    struct why why;
    int status = -1;
    if (!journal_round(t->journal, t->tuning.phase == TUNING_SEARCH ? TUNE_SEARCH : TUNE_COMPARE,
                       &why))
        return complain(t->setup.command, "%s", why.text);
    bool good = take_kept(t);
    if (good && wants_more(t))
        status = run_rest(t);
    if (status < 0 && good)
        good = tuning_take(&t->tuning, t->batches_now, t->batch_count, &t->round);
    return good ? status : complain(t->setup.command, "out of memory");
}

/* -1: it is done. */
static int run_rounds(struct tune *t)
{
    int status = -1;
    while (status < 0 && (t->batch_count = tuning_choose(&t->tuning, t->batches_now)) > 0)
        status = run_round(t);
    return t->batch_count < 0 ? complain(t->setup.command, "out of memory") : status;
}

/* ---- the end ----------------------------------------------------------------------------------- */

static void write_command(const struct tune *t, FILE *out)
{
    fputs("ordeal tune", out);
    for (int i = 1; i < t->word_count; i++) {
        fputc(' ', out);
        saved_run_quote(t->words[i], out);
    }
}

static void write_machine(const struct tune *t, FILE *out)
{
    struct target_option_words words;
    fprintf(out, "--target %s", t->setup.target->name);
    target_option_words(&t->setup.how, &words);
    for (const char *const *word = words.word; *word; word++) {
        fputc(' ', out);
        saved_run_quote(*word, out);
    }
    if (t->setup.model.given)
        fprintf(out, " --model %s", ordeal_model_name(t->setup.how.model));
}

static void write_place(const struct tune *t, FILE *out) { saved_run_quote(t->output, out); }

/* What is written, as one line whatever is in it, for a comment; NULL: out of memory. */
static char *line_of(const struct tune *t, void (*write)(const struct tune *t, FILE *out))
{
    char *text = NULL, *line = NULL;
    size_t size;
    FILE *whole = text_stream(&text, &size);
    if (!whole)
        return NULL;
    write(t, whole);
    FILE *out = fclose(whole) == 0 ? text_stream(&line, &size) : NULL;
    if (out) {
        escape_write(text, false, out);
        if (fclose(out) != 0)
            line = NULL;
    }
    free(text);
    return line;
}

static int write_report(struct tune *t)
{
    struct why why;
    char *command = line_of(t, write_command), *machine = line_of(t, write_machine),
         *place = line_of(t, write_place);
    struct report r = { .tuning = &t->tuning,
                        .directory = t->output,
                        .command = command,
                        .run = machine,
                        .place = place,
                        .unit = unit_of(t),
                        .about = t->setup.target->name };
    bool good = command && machine && place && tuning_conclude(&t->tuning);
    int status = !good ? complain(t->setup.command, "out of memory")
               : journal_sync(t->journal, &why) && report_write(&r, &why)
                   ? -1
                   : complain(t->setup.command, "%s", why.text);
    free(command);
    free(machine);
    free(place);
    return status;
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
    if (g->contest.count && g->phase == TUNING_DONE)
        cJSON_AddNumberToObject(line, "chance", g->chance);
    cJSON_AddStringToObject(line, "kept", tuning_keeps_tuned(g) ? "tuned" : "untuned");
    cJSON_AddStringToObject(line, "because", report_verdicts[tuning_verdict(g)].word);
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

/* Said before anything runs. Cycles are guessed from what a machine of rtl/ takes. */
static void warn_of_little(const struct tune *t)
{
    enum { TESTS = 64, CYCLES_OF_OPERATION = 20 };
    uint64_t tests = tuning_least_tests(&t->tuning);
    double operations = setting_operations(t->setup.bias, t->setup.how.seed, TESTS);
    double cycles = (double)(tests * t->setup.iterations * CYCLES_OF_OPERATION) * operations;
    char least[PLOT_NUMBER];
    if (t->tests && t->tests < tests)
        complain(t->setup.command,
                 "--tests %" PRIu64 " is little for %zu profiles: with fewer than %" PRIu64
                 " hardly anything can be told from chance",
                 t->tests, t->tuning.search.roots, tests);
    if (t->cycles && (double)t->cycles < cycles)
        complain(t->setup.command,
                 "--cycles %" PRIu64 " is little for %zu profiles: with fewer than about %s "
                 "hardly anything can be told from chance",
                 t->cycles, t->tuning.search.roots, plot_number(cycles, least));
}

static int tune_all(struct tune *t)
{
    int status = open_journal(t);
    if (status >= 0)
        return status;
    warn_of_little(t);
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

static int run(const struct command *self, int argc, char **argv)
{
    struct tune *t = calloc(1, sizeof *t);
    int operand, status;
    if (!t)
        return complain(self, "out of memory");
    t->setup.command = self;
    t->words = argv;
    t->word_count = argc;
    status = options_parse(self, argc, argv, t, &operand);
    if (status < 0)
        status = setup_bug_list(&t->setup);
    if (status < 0)
        status = usage(t, argc - operand);
    if (status < 0) {
        interrupt_watch();
        status = make_ready(t);
        if (status < 0)
            status = t->uniform_profiles ? write_uniform(t) : tune_all(t);
        tuning_free(&t->tuning);
        journal_close(t->journal);
        free(t->bias_text);
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
        "folder with tuned.bias, its profiles with weights and with what speaks for each key\n"
        "that moved, coverage.cover, and coverage.svg, the tuned bias against the bias as it was\n"
        "at equal cost. If it is not shown to reach more, beyond chance, tuned.bias is the bias as\n"
        "it was (kept=untuned). The same command is the same search, however many machines work,\n"
        "but for --seconds and for targets that do not do the same again (native, elf, board).\n"
        "After ^C or a kill the same command goes on where it was; with a greater budget, too.\n\n"
        "Exit status: as of 'ordeal run'; 1 when some test failed, which is told and kept.",
    .example = "  $ ordeal tune --target sim --cycles 20000000 -o tuned\n"
               "  $ ordeal run --target sim --bias tuned/tuned.bias --check --count 1000\n",
    .options = options,
    .run = run,
};
