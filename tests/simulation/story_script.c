/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline, between queues so small that everybody waits for everybody, with machines that do
 * what is written, and dawdle: what is told is what is written, whatever the order of events.
 *
 * Every test is `P0 S[A]#n; P1 L[A]; P1 L[A]`, its number n - 1: so a machine knows which one it
 * runs, and there are three outcomes that every model allows, and one that none does. What must come
 * of it is written down here once more than in tests/test_pipeline.c, on purpose: there threads are
 * real, here nothing is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stories.h"
#include "trial/pipeline.h"

enum { MOST_TESTS = 40, MOST_MACHINES = 4, CYCLES = 7 /* of an iteration */ };

/* What may happen in an iteration. The first two are brought back like any other. */
enum event { NOTHING, VIOLATES, MAKES_NO_SENSE, BREAKS, LOSES, FAILS, HANGS, EVENTS };

struct happening {
    enum event event;
    uint64_t iteration;
};

struct machine {
    int users;
    uint64_t cycles;
};

static struct {
    uint64_t tests, iterations;
    struct happening first[MOST_TESTS], later[MOST_TESTS];
    bool checks, tells, again, pressed;
    int machine_count;
    uint64_t stop_after; /* tests; 0: never */
    struct machine machines[MOST_MACHINES];
    uint64_t begun[MOST_TESTS];
    /* What was told: */
    uint64_t settled, outcomes, next_test, next_iteration, last_number;
    struct pipeline_totals sums;
    bool stopped;
} story;

static struct pipeline_report report;

/* ---- machines -------------------------------------------------------------------------------- */

static struct abilities can(const void *machine)
{
    (void)machine;
    return (struct abilities){
        .threads = 2, .registers = 64, .load_sizes = 0x7f, .store_sizes = 0x7f, .memory = 1 << 20
    };
}

static struct machine_claims claims(const void *machine)
{
    (void)machine;
    return (struct machine_claims){ .model = ORDEAL_SC, .atomic = 4 };
}

static uint64_t cycles(const void *machine) { return ((const struct machine *)machine)->cycles; }

static enum event event_at(uint64_t number, uint64_t iteration)
{
    return story.first[number].iteration == iteration ? story.first[number].event
         : story.later[number].iteration == iteration ? story.later[number].event
                                                      : NOTHING;
}

static void outcome_of(uint64_t number, uint64_t iteration, uint64_t values[2])
{
    enum event now = event_at(number, iteration);
    uint64_t n = number + 1, kind = iteration % 3;
    values[0] = kind == 2 ? n : 0;
    values[1] = kind >= 1 ? n : 0;
    if (now == VIOLATES)
        values[0] = n, values[1] = 0;
    if (now == MAKES_NO_SENSE)
        values[0] = UINT64_C(5) << 30;
}

static void dawdle(void)
{
    if (schedule_draw(8) == 0)
        schedule_sleep(schedule_draw(30) / 1000.0);
    else
        schedule_point();
}

static enum target_result iterate(struct machine *m, uint64_t number, uint64_t from, uint64_t to,
                                  const struct target_sink *sink, struct why *why)
{
    static const enum target_result ends[EVENTS] = { [BREAKS] = TARGET_BROKE,
                                                     [LOSES] = TARGET_LOST,
                                                     [FAILS] = TARGET_FAILED,
                                                     [HANGS] = TARGET_HUNG };
    for (uint64_t i = from; i < to; i++) {
        uint64_t values[2];
        enum event now = event_at(number, i);
        dawdle();
        if (now >= BREAKS)
            return why_say(why, "it happened"), ends[now];
        outcome_of(number, i, values);
        m->cycles += CYCLES;
        if (!sink->outcome(sink->user, i, values))
            return TARGET_STOPPED;
    }
    return TARGET_DONE;
}

static enum target_result run(void *machine, const struct program *p, uint64_t first,
                              uint64_t count, const struct target_sink *sink, struct why *why)
{
    struct machine *m = machine;
    uint64_t number = p->thread[0].code[0].write - 1;
    HOLDS(number < story.tests, "a test that was freed?");
    HOLDS(++m->users == 1, "two use a machine");
    HOLDS(first + count <= story.iterations, "too many");
    if (sink->user && first == 0)
        HOLDS(++story.begun[number] == 1, "test %" PRIu64 " is run twice", number);
    dawdle();
    enum target_result result = iterate(m, number, first, first + count, sink, why);
    m->users--;
    return result;
}

static const struct target target = {
    .name = "script", .can = can, .claims = claims, .exact = true, .run = run, .cycles = cycles
};

/* ---- what must come of a test ---------------------------------------------------------------- */

static bool decides(struct happening h) { return h.event >= BREAKS || (h.event && story.checks); }

static struct happening deciding(uint64_t number)
{
    return decides(story.first[number]) ? story.first[number]
         : decides(story.later[number]) ? story.later[number]
                                        : (struct happening){ NOTHING, story.iterations };
}

static bool is_end(enum event e) { return e == FAILS || e == HANGS || e == MAKES_NO_SENSE; }

struct sums {
    uint64_t iterations, outcomes, cycles;
};

static struct sums sums_until(uint64_t number, struct happening h)
{
    uint64_t run = h.iteration + (h.event == VIOLATES), kinds = 0;
    for (uint64_t i = 0; i < run; i++)
        kinds |= event_at(number, i) == NOTHING ? 1U << i % 3 : 8U << event_at(number, i);
    return (struct sums){ run, story.checks ? (uint64_t)__builtin_popcountll(kinds) : 0,
                          (run + (h.event == MAKES_NO_SENSE)) * CYCLES };
}

static bool is_told_as(const struct pipeline_test *t, struct happening h)
{
    struct sums sums = sums_until(t->number, h);
    bool result = h.event == VIOLATES ? t->result == ORDEAL_FAIL && t->values && !t->broke
                : h.event == BREAKS   ? t->result == ORDEAL_FAIL && t->broke
                : h.event == LOSES    ? t->lost != NULL
                : h.event == NOTHING  ? t->result == ORDEAL_PASS && !t->lost
                                      : false;
    return result && (h.event == NOTHING || t->iteration == h.iteration)
        && t->iterations == sums.iterations
        && (t->outcomes == sums.outcomes || (story.pressed && t->outcomes < sums.outcomes))
        && t->cycles == sums.cycles && t->operations == 3 * sums.iterations;
}

/* ---- what is told ---------------------------------------------------------------------------- */

static bool outcome(void *user, const struct pipeline_test *t, uint64_t iteration,
                    const uint64_t *values)
{
    uint64_t expected[2];
    (void)user;
    HOLDS(!story.stopped, "told after the end");
    if (t->number != story.next_test)
        story.next_iteration = 0;
    HOLDS(t->number == story.settled || story.pressed, "%" PRIu64 " are not settled", t->number);
    HOLDS(iteration == story.next_iteration, "iteration %" PRIu64, iteration);
    outcome_of(t->number, iteration, expected);
    HOLDS(!memcmp(values, expected, sizeof expected), "other values");
    story.next_test = t->number;
    story.next_iteration++;
    story.outcomes++;
    schedule_point();
    return true;
}

static bool any(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)user, (void)iteration, (void)values;
    return true;
}

static bool settled(void *user, const struct pipeline_test *t)
{
    (void)user;
    struct why why;
    struct target_sink nobody = { .outcome = any };
    HOLDS(!story.stopped, "settled after the end");
    HOLDS(!story.settled || t->number > story.last_number, "test %" PRIu64 " again", t->number);
    HOLDS(t->number == story.settled || story.pressed, "test %" PRIu64 " is not its turn",
          t->number);
    HOLDS(is_told_as(t, deciding(t->number))
              || (story.pressed && is_told_as(t, story.later[t->number])),
          "test %" PRIu64 "#%" PRIu64 ": result %d after %" PRIu64 " iterations, %" PRIu64
          " outcomes, %" PRIu64 " cycles",
          t->number, t->iteration, t->result, t->iterations, t->outcomes, t->cycles);
    story.last_number = t->number;
    story.sums.iterations += t->iterations;
    story.sums.outcomes += t->outcomes;
    story.sums.cycles += t->cycles;
    ++*(t->lost ? &story.sums.lost : &story.sums.results[t->result]);
    if (story.again && t->result != ORDEAL_PASS)
        run(&story.machines[0], t->program, 0, 1, &nobody, &why);
    story.stopped = ++story.settled == story.stop_after;
    return !story.stopped;
}

/* ---- a story --------------------------------------------------------------------------------- */

static struct happening draw_happening(void)
{
    enum event e = schedule_draw(5) ? NOTHING : (enum event)schedule_draw(EVENTS);
    if (is_end(e) && schedule_draw(4))
        e = VIOLATES;
    return (struct happening){ e, schedule_draw((uint32_t)story.iterations) };
}

static void draw_story(void)
{
    memset(&story, 0, sizeof story);
    story.tests = 1 + schedule_draw(MOST_TESTS);
    story.iterations = 1 + schedule_draw(schedule_draw(8) ? 8 : 200);
    if (story.iterations > 20)
        story.tests = 1 + story.tests / 8;
    for (uint64_t i = 0; i < story.tests; i++) {
        struct happening a = draw_happening(), b = draw_happening();
        bool swap = a.iteration > b.iteration;
        if (a.iteration == b.iteration)
            b = a;
        story.first[i] = swap ? b : a;
        story.later[i] = swap ? a : b;
    }
    story.checks = schedule_draw(4);
    story.tells = schedule_draw(2);
    story.again = schedule_draw(2);
    story.machine_count = 1 + (int)schedule_draw(MOST_MACHINES);
    story.stop_after = schedule_draw(4) ? 0 : 1 + schedule_draw((uint32_t)story.tests);
    story.pressed = schedule_draw(4) == 0;
    if (story.pressed)
        schedule_press(1 + schedule_draw(schedule_draw(2) ? 300 : 20000));
    schedule_cores(1 + (int)schedule_draw(3));
}

static struct pipeline_limits draw_limits(void)
{
    return (struct pipeline_limits){ .ahead_tests = 1 + schedule_draw(8),
                                     .made_tests = 1 + schedule_draw(4),
                                     .flight_tests = 1 + schedule_draw(8),
                                     .settle_tests = 1 + schedule_draw(8),
                                     .tell_bytes = 1 + schedule_draw(1000),
                                     .operations = 3 + schedule_draw(60),
                                     .chunk_bytes = 64 + schedule_draw(400),
                                     .queue_bytes = 200 + schedule_draw(4000) };
}

static void check_totals(enum pipeline_end end)
{
    const struct pipeline_totals *t = &report.totals;
    uint64_t must = 0; /* be settled */
    while (must < story.tests && !is_end(deciding(must).event) && must + 1 != story.stop_after)
        must++;
    bool stops = must + 1 == story.stop_after && !is_end(deciding(must).event);
    bool fails = must < story.tests && !stops;
    struct sums rest = { 0, 0, 0 };
    if (fails && end == PIPELINE_TARGET)
        rest = sums_until(must, deciding(must));
    HOLDS(t->tests == story.settled, "");
    if (story.pressed && end == PIPELINE_INTERRUPTED)
        return;
    HOLDS(story.settled == must + stops, "%" PRIu64 " of %" PRIu64, story.settled, must + stops);
    HOLDS(end == (stops ? PIPELINE_STOPPED : fails ? PIPELINE_TARGET : PIPELINE_DONE), "%d", end);
    HOLDS(t->next == story.settled, "%" PRIu64, t->next);
    HOLDS(t->iterations == story.sums.iterations + rest.iterations, "%" PRIu64, t->iterations);
    HOLDS(t->outcomes == story.sums.outcomes + rest.outcomes, "%" PRIu64, t->outcomes);
    HOLDS(t->cycles == story.sums.cycles + rest.cycles, "%" PRIu64, t->cycles);
    HOLDS(t->operations == 3 * t->iterations, "%" PRIu64, t->operations);
    HOLDS(t->lost == story.sums.lost, "%" PRIu64, t->lost);
    HOLDS(!memcmp(t->results, story.sums.results, sizeof t->results), "");
    HOLDS(story.outcomes == (story.tells ? t->iterations : 0), "%" PRIu64, story.outcomes);
}

static int write_tests(char *path, size_t size)
{
    int file = memfd_create("tests", MFD_CLOEXEC);
    FILE *f = fdopen(dup(file), "w");
    for (uint64_t i = 0; f && i < story.tests; i++)
        fprintf(f, "ordeal 1\nP0 S[A]#%" PRIu64 "\nP1 L[A]\nP1 L[A]\n", i + 1);
    if (f)
        fclose(f);
    snprintf(path, size, "/proc/self/fd/%d", file);
    return file;
}

void story_script(void)
{
    char path[64], *files[] = { path, NULL };
    void *machines[MOST_MACHINES];
    draw_story();
    struct pipeline_limits limits = draw_limits();
    int file = write_tests(path, sizeof path);
    for (int i = 0; i < MOST_MACHINES; i++)
        machines[i] = &story.machines[i];
    struct pipeline_plan plan = { .target = &target,
                                  .machines = machines,
                                  .machine_count = story.machine_count,
                                  .source = { .files = files },
                                  .patient = schedule_draw(2),
                                  .iterations = story.iterations,
                                  .check = story.checks,
                                  .model = ORDEAL_SC,
                                  .limit = 60,
                                  .limits = &limits,
                                  .outcome = story.tells ? outcome : NULL,
                                  .settled = settled };
    enum pipeline_end end = pipeline_run(&plan, &report);
    close(file);
    HOLDS(end != PIPELINE_INTERRUPTED || story.pressed, "nobody did");
    check_totals(end);
}
