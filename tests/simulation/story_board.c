/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline with a board: the host's link, a cable that loses, damages, repeats and swaps messages
 * and is unplugged, the real firmware, and the reference machine behind it (board_rig.h). Whatever
 * becomes of messages, the values that come are those which the same machine brings without a cable,
 * or the test is lost, or the board does not come back, which ends the run. */
#include <inttypes.h>
#include <string.h>

#include "base/interrupt.h"
#include "board_rig.h"
#include "iss.h"
#include "stories.h"
#include "targets/board/board_machine.h"
#include "targets/soc/soc_runner.h"
#include "test/bias.h"
#include "trial/pipeline.h"

enum { TESTS = 4, ITERATIONS = 3, WINDOW = 500 };

static struct {
    struct board_rig *rig;
    struct board_machine *board;
    struct soc_runner *over, *direct; /* the cable; without */
    bool pressed, cut;
    enum port_result (*receive)(struct board_port *port, void *message, size_t room, size_t *bytes,
                                int milliseconds);
    const uint64_t *values;
    size_t words;
    uint64_t settled, iterations, last;
} story;

/* ---- the target ------------------------------------------------------------------------------ */

/* The time that it waited passes for all. */
static enum port_result receive(struct board_port *port, void *message, size_t room, size_t *bytes,
                                int milliseconds)
{
    schedule_point();
    enum port_result result = story.receive(port, message, room, bytes, milliseconds);
    if (result == PORT_NOTHING)
        schedule_sleep(milliseconds > 0 ? milliseconds / 1000.0 : 1e-6);
    return result;
}

static struct abilities can(const void *machine)
{
    (void)machine;
    return soc_runner_can(story.over);
}

static struct machine_claims claims(const void *machine)
{
    (void)machine;
    return soc_runner_claims(story.over);
}

/* As target_board.c has it. */
static enum target_result run(void *machine, const struct program *p, uint64_t first,
                              uint64_t count, const struct target_sink *sink, struct why *why)
{
    (void)machine;
    enum target_result result = soc_runner_run(story.over, p, first, count, sink, why);
    bool back = board_machine_trouble(story.board) == LINK_LOST;
    return result == TARGET_LOST && !back ? TARGET_FAILED : result;
}

static const struct target target = {
    .name = "board", .can = can, .claims = claims, .exact = true, .run = run
};

/* ---- what is told ---------------------------------------------------------------------------- */

static bool is_the_same(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)user, (void)iteration;
    HOLDS(!memcmp(values, story.values, story.words * sizeof *values), "other values by cable");
    return true;
}

static bool outcome(void *user, const struct pipeline_test *t, uint64_t iteration,
                    const uint64_t *values)
{
    (void)user;
    struct why why = { "" };
    struct machine_claims has = soc_runner_claims(story.direct);
    struct target_sink sink = { .outcome = is_the_same };
    story.values = values;
    story.words = program_words(t->program, &has);
    enum target_result result = soc_runner_run(story.direct, t->program, iteration, 1, &sink, &why);
    HOLDS(result == TARGET_DONE || interrupted(), "%s", why.text);
    return true;
}

static bool settled(void *user, const struct pipeline_test *t)
{
    (void)user;
    HOLDS(!story.settled || t->number > story.last, "test %" PRIu64 " again", t->number);
    HOLDS(t->number == story.settled || story.pressed, "test %" PRIu64 " is not its turn",
          t->number);
    HOLDS(t->result == ORDEAL_PASS, "test %" PRIu64 " fails: %s", t->number,
          t->broke ? t->broke : "values");
    HOLDS(t->lost ? t->iterations < ITERATIONS : t->iterations == ITERATIONS, "%" PRIu64,
          t->iterations);
    story.last = t->number;
    story.settled++;
    story.iterations += t->iterations;
    return true;
}

/* ---- a story --------------------------------------------------------------------------------- */

static void draw_cable(struct board_rig *rig)
{
    static const struct rig_faults cables[] = { { 0 },
                                                { 3, 3, 3, 3, 30, 3 },
                                                { 20, 0, 20, 0, 0, 0 },
                                                { 0, 20, 0, 20, 0, 0 },
                                                { 0, 0, 0, 0, 50, 50 } };
    rig->faults = cables[schedule_draw(5)];
    rig->chance = schedule_draw(UINT32_MAX);
    if (schedule_draw(2)) {
        rig->cut_after = rig->messages + 1 + schedule_draw(60);
        rig->cut_again = schedule_draw(2) ? 0 : 1 + schedule_draw(40);
        rig->forgets = schedule_draw(2);
        rig->gone = schedule_draw(4) == 0;
        story.cut = true;
    }
    story.pressed = schedule_draw(5) == 0;
    if (story.pressed)
        schedule_press(1 + schedule_draw(600));
}

static void open_board(uint64_t seed)
{
    static struct soc_interface reference;
    struct why why = { "" };
    memset(&story, 0, sizeof story);
    story.rig = board_rig_new(WINDOW);
    story.receive = story.rig->port.receive;
    story.rig->port.receive = receive;
    struct board_link *link = link_new(&story.rig->port);
    link_patience(link, 5);
    story.board = board_machine_new(link, &why);
    HOLDS(story.board, "%s", why.text);
    struct soc_runner_plan plan = { .soc = board_machine_interface(story.board),
                                    .setup = { .model = SOC_SC },
                                    .vary_delay = true,
                                    .seed = seed,
                                    .timeout = 600,
                                    .final = true };
    story.over = soc_runner_new(&plan);
    reference = *iss_interface(4);
    reference.parameters = board_rig_parameters();
    plan.soc = &reference;
    story.direct = soc_runner_new(&plan);
    HOLDS(story.over && story.direct, "memory");
}

static void close_board(void)
{
    soc_runner_free(story.over);
    soc_runner_free(story.direct);
    board_machine_free(story.board);
    board_rig_free(story.rig);
}

static struct bias *small_bias(void)
{
    static const char *const settings[] = { "test.threads=2", "test.operations=6",
                                            "transactions.share=20" };
    struct ordeal_error e;
    struct bias *b = bias_new();
    for (int i = 0; i < 3; i++)
        HOLDS(bias_set(b, settings[i], &e), "%s", e.reason);
    HOLDS(bias_check(b, &e), "%s", e.reason);
    return b;
}

void story_board(void)
{
    struct pipeline_report report;
    uint64_t seed = schedule_draw(1000);
    open_board(seed);
    draw_cable(story.rig);
    schedule_cores(1 + (int)schedule_draw(2));
    struct bias *bias = small_bias();
    void *machine = &story;
    struct pipeline_plan plan = {
        .target = &target,
        .machines = &machine,
        .machine_count = 1,
        .source = { .bias = bias, .seed = seed, .count = TESTS, .files = (char *[]){ NULL } },
        .iterations = ITERATIONS,
        .check = true,
        .model = ORDEAL_SC,
        .limit = 600,
        .outcome = outcome,
        .settled = settled,
    };
    enum pipeline_end end = pipeline_run(&plan, &report);
    bool early = end == PIPELINE_INTERRUPTED || end == PIPELINE_TARGET;
    HOLDS(end == PIPELINE_DONE || (story.pressed && end == PIPELINE_INTERRUPTED)
              || (story.cut && end == PIPELINE_TARGET),
          "%d: %s", end, report.error.reason);
    HOLDS(early || story.settled == TESTS, "%" PRIu64, story.settled);
    HOLDS(early || report.totals.iterations == story.iterations, "%" PRIu64, story.iterations);
    HOLDS(report.totals.tests == story.settled, "%" PRIu64, report.totals.tests);
    bias_free(bias);
    close_board();
}
