/* SPDX-License-Identifier: Apache-2.0 */
#include "board_selftest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "targets/board/board_numbers.h"
#include "judge.h"
#include "base/random.h"
#include "targets/soc/soc_runner.h"

enum {
    PATTERNS = 40,
    BUS_BYTES = 19 * 64 * 1000, /* a second of bulk transfers at full speed */
    ITERATIONS = 20,
    QUIET_MS = 500
};

/* Both threads write before they read: at least one sees the other, but on a machine with store
 * buffers. */
static const char litmus[] = "ordeal 1\n"
                             "P0 S[A]#1\nP0 L[B]\n"
                             "P1 S[B]#2\nP1 L[A]\n";

struct selftest {
    struct board_machine *board;
    struct board_link *link;
    struct selftest_result result;
    struct why why;
};

static bool fail(struct selftest *t, const char *reason)
{
    snprintf(t->result.reason, sizeof t->result.reason, "%s", reason);
    return false;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* All lengths up to the longest, in steps; words of all kinds. */
static bool test_echo(struct selftest *t, uint32_t unused)
{
    static const uint32_t words[] = { 0, UINT32_MAX, 0x55555555, 0xaaaaaaaa, 0x7fffffff, 1 };
    uint32_t sent[PROTOCOL_PAYLOAD], got[PROTOCOL_PAYLOAD] = { 0 };
    struct random chance;
    uint64_t bytes = 0;
    (void)unused;
    random_seed(&chance, 1, 0);
    for (size_t i = 0; i < PATTERNS; i++) {
        size_t count = i * PROTOCOL_PAYLOAD / (PATTERNS - 1);
        for (size_t w = 0; w < count; w++)
            sent[w] = i < sizeof words / sizeof *words ? words[i] : (uint32_t)random_next(&chance);
        if (link_ask(t->link, PROTOCOL_ECHO, sent, count, got, count, &t->why) != LINK_OK)
            return fail(t, t->why.text);
        if (memcmp(sent, got, count * sizeof *sent) != 0)
            return fail(t, "what came back is not what was sent");
        bytes += count * sizeof *sent;
    }
    snprintf(t->result.text, sizeof t->result.text, "messages=%d bytes=%" PRIu64, PATTERNS, bytes);
    return true;
}

/* ---- the stream ------------------------------------------------------------------------------ */

static bool take_words(struct selftest *t, uint32_t *expected)
{
    uint32_t part[1024];
    for (size_t n; (n = link_take(t->link, part, sizeof part / sizeof *part)); )
        for (size_t i = 0; i < n; i++)
            if (part[i] != (*expected)++) {
                char text[96];
                snprintf(text, sizeof text, "word %" PRIu32 " of the stream is %" PRIu32,
                         *expected - 1, part[i]);
                return fail(t, text);
            }
    return true;
}

static bool test_stream(struct selftest *t, uint32_t words)
{
    struct protocol_state state;
    uint32_t expected = 0;
    bool behind;
    double begin = now_seconds();
    if (link_begin(t->link, PROTOCOL_SOURCE, &words, 1, &t->why) != LINK_OK)
        return fail(t, t->why.text);
    while (!link_ended(t->link)) {
        uint32_t before = expected;
        if (link_wait(t->link, QUIET_MS, &t->why) != LINK_OK)
            return fail(t, t->why.text);
        if (!take_words(t, &expected))
            return false;
        if (expected == before && !link_ended(t->link)
            && link_look(t->link, &state, &behind, &t->why) != LINK_OK)
            return fail(t, t->why.text);
    }
    double seconds = now_seconds() - begin, bytes = words * 4.0;
    if (!take_words(t, &expected))
        return false;
    if (expected != words)
        return fail(t, "the stream ends too early");
    snprintf(t->result.text, sizeof t->result.text, "words=%" PRIu32 " seconds=%.3f "
             "kilobytes_per_second=%.1f bus_percent=%.1f", words, seconds, bytes / seconds / 1000,
             bytes / seconds / BUS_BYTES * 100);
    return true;
}

/* ---- the machine on trial -------------------------------------------------------------------- */

struct trial {
    struct judge *judge;
    uint32_t runs;
    enum ordeal_status status;
    enum ordeal_result result;
};

static bool judge_run(void *user, uint64_t iteration, const uint64_t *values)
{
    struct trial *t = user;
    t->runs++;
    t->status = judge_outcome(t->judge, iteration, values, &t->result);
    return t->status == ORDEAL_OK && t->result == ORDEAL_PASS;
}

static bool run_litmus(struct selftest *t, const struct program *p)
{
    uint32_t model = board_machine_hello(t->board)->parameters[BOARD_PARAM_MODEL];
    struct soc_runner_plan plan = { .soc = board_machine_interface(t->board),
                                    .seed = 1,
                                    .timeout = 60,
                                    .final = true,
                                    .setup.model = model < 4 ? (enum soc_model)model : SOC_TSO };
    struct soc_runner *m = soc_runner_new(&plan);
    struct abilities can = m ? soc_runner_can(m) : (struct abilities){ 0 };
    char refusal[256];
    if (!m)
        return fail(t, "out of memory");
    if (target_refusal(&can, p, refusal, sizeof refusal)) { /* one hart alone: nothing races */
        snprintf(t->result.text, sizeof t->result.text, "iterations=0");
        soc_runner_free(m);
        return true;
    }
    struct machine_claims claims = soc_runner_claims(m);
    struct ordeal_limits limits = { .seconds = 60 };
    struct trial trial = { .judge = judge_new(claims.model, &claims, &limits) };
    struct target_sink sink = { judge_run, &trial };
    bool good = trial.judge || fail(t, "out of memory");
    if (good) {
        judge_begin(trial.judge, p);
        enum target_result end = soc_runner_run(m, p, 0, ITERATIONS, &sink, &t->why);
        if (trial.status != ORDEAL_OK)
            good = fail(t, judge_error(trial.judge)->reason);
        else if (trial.runs && trial.result != ORDEAL_PASS)
            good = fail(t, "the machine violates its memory model: 'ordeal run --target board "
                           "--check' tells more");
        else if (end != TARGET_DONE)
            good = fail(t, interrupted() ? "interrupted" : t->why.text);
        snprintf(t->result.text, sizeof t->result.text,
                 "iterations=%" PRIu32 " model=%s cycles=%" PRIu64, trial.runs,
                 ordeal_model_name(claims.model), soc_runner_cycles(m));
    }
    judge_free(trial.judge);
    soc_runner_free(m);
    return good;
}

static struct ordeal_trace *read_litmus(struct ordeal *o)
{
    struct ordeal_trace *test = NULL;
    FILE *in = fmemopen((void *)(uintptr_t)litmus, sizeof litmus - 1, "r");
    struct ordeal_reader *reader = in ? ordeal_reader_new(o, in, "selftest", ORDEAL_FORMAT_TEXT)
                                      : NULL;
    if (!reader || ordeal_reader_next(reader, &test) != ORDEAL_OK)
        test = NULL;
    ordeal_reader_free(reader);
    if (in)
        fclose(in);
    return test;
}

static bool test_capture(struct selftest *t, uint32_t unused)
{
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *test = o ? read_litmus(o) : NULL;
    struct program p;
    struct ordeal_error e;
    bool good = false;
    (void)unused;
    if (!test || !program_compile(&p, test, "selftest", &e)) {
        fail(t, "out of memory");
    } else {
        good = run_litmus(t, &p);
        program_free(&p);
    }
    ordeal_trace_free(test);
    ordeal_free(o);
    return good;
}

/* ---- what went wrong on the way, and was made good ------------------------------------------- */

static bool test_link(struct selftest *t, uint32_t unused)
{
    struct protocol_state state;
    struct link_counts c;
    bool behind;
    (void)unused;
    if (link_look(t->link, &state, &behind, &t->why) != LINK_OK)
        return fail(t, t->why.text);
    link_counts(t->link, &c);
    snprintf(t->result.text, sizeof t->result.text,
             "requests=%" PRIu64 " again=%" PRIu64 " damaged=%" PRIu64 " missing=%" PRIu64
             " replugs=%" PRIu64 " refused=%" PRIu32 " usb_damaged=%" PRIu32
             " usb_unanswered=%" PRIu32,
             c.requests, c.again, c.damaged, c.missing, c.replugs, state.refused,
             FIELD_GET(state.usb_errors, BOARD_USB_ERRORS_DAMAGED),
             FIELD_GET(state.usb_errors, BOARD_USB_ERRORS_LOST));
    return true;
}

bool board_selftest(struct board_machine *b, uint32_t stream_words,
                    void (*tell)(void *user, const struct selftest_result *result), void *user)
{
    static const struct {
        const char *name;
        bool (*test)(struct selftest *t, uint32_t words);
    } parts[SELFTEST_PARTS] = {
        { "echo", test_echo }, { "stream", test_stream }, { "capture", test_capture },
        { "link", test_link }
    };
    bool good = true;
    for (int i = 0; i < SELFTEST_PARTS && !interrupted(); i++) {
        struct selftest t = { .board = b, .link = board_machine_link(b) };
        t.result.part = parts[i].name;
        t.result.good = parts[i].test(&t, stream_words);
        if (!interrupted())
            tell(user, &t.result);
        good &= t.result.good;
    }
    return good && !interrupted();
}
