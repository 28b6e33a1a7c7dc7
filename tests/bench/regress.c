/* SPDX-License-Identifier: Apache-2.0 */
/* The database of a regression with a million tests: how long they take to be merged, and the queries of
 * its summary when they are there, and a comparison with as many. */
#include "bench.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/temporary.h"
#include "regress/store.h"

enum { RUNS = 10, UNIT = 1000, FAILS_OF = 100, SIGNATURES = 30, POINTS = 2000 };

/* A unit as workers bring it: one of FAILS_OF tests fails, by one of SIGNATURES. */
static void fill_record(struct record *r, struct record_failure *failures)
{
    static char signatures[SIGNATURES][16];
    *r = (struct record){ .program = (char *)ORDEAL_VERSION,
                          .target = (char *)"model",
                          .end = (char *)"done",
                          .reason = (char *)"",
                          .seconds = 1,
                          .cover = true,
                          .known = POINTS };
    for (uint32_t i = 0; i < UNIT; i++) {
        struct record_test t = { .iterations = 6,
                                 .outcomes = 5,
                                 .operations = 1200,
                                 .cycles = 20000,
                                 .seconds = 0.001,
                                 .points = 100,
                                 .profile = (char *)"loads" };
        if (i % FAILS_OF == 0) {
            char *signature = signatures[i / FAILS_OF % SIGNATURES];
            snprintf(signature, sizeof signatures[0], "s%u", i / FAILS_OF % SIGNATURES);
            failures[i] = (struct record_failure){ .operations = 200,
                                                   .model = (char *)"TSO",
                                                   .signature = signature,
                                                   .kind = (char *)"violation",
                                                   .title = signature,
                                                   .reason = (char *)"because" };
            t.verdict = RECORD_FAIL;
            t.failure = &failures[i];
        }
        if (!LIST_PUSH(&r->tests, t))
            abort();
    }
    for (uint32_t i = 0; i < POINTS; i++) {
        struct record_reached one = { i, 50 };
        if (!LIST_PUSH(&r->tests.data[0].news, i) || !LIST_PUSH(&r->reached, one))
            abort();
    }
}

static void merge_all(struct store *s, struct store_run *runs, uint64_t tests)
{
    static struct record_failure failures[UNIT];
    struct record record;
    struct why why;
    fill_record(&record, failures);
    for (uint64_t done = 0; done < tests; done += UNIT) {
        struct store_run *run = &runs[done / UNIT % RUNS];
        struct store_unit unit = { .run = run, .examples = 3 };
        record.first = run->next;
        for (uint32_t i = 0; i < UNIT; i++)
            record.tests.data[i].number = run->next + i;
        if (!store_merge(s, &unit, &record, &why)) {
            fprintf(stderr, "bench: %s\n", why.text);
            abort();
        }
    }
    LIST_FREE(&record.tests.data[0].news);
    LIST_FREE(&record.tests);
    LIST_FREE(&record.reached);
}

static void begin_runs(struct store *s, struct plan_run *plans, struct store_run *runs)
{
    static struct machine_identity machine = { .identity = "x" };
    static char names[RUNS][16];
    struct why why;
    for (int i = 0; i < RUNS; i++) {
        snprintf(names[i], sizeof names[i], "run%d", i);
        plans[i] = (struct plan_run){ .name = names[i], .target = &target_model, .weight = 1 };
        runs[i] = (struct store_run){ .plan = &plans[i], .identity = "x", .machine = &machine };
        if (!store_take_run(s, &runs[i], &why))
            abort();
    }
}

static bool count_run(void *user, const struct store_sum *sum)
{
    *(uint64_t *)user += sum->tests;
    return true;
}

static bool count_bucket(void *user, const struct store_bucket *b)
{
    *(uint64_t *)user += b->failures;
    return true;
}

static bool count_difference(void *user, const struct store_difference *d)
{
    (void)d;
    ++*(uint64_t *)user;
    return true;
}

static void measure_store(struct bench *b, struct store *s, const char *file, uint64_t tests)
{
    static struct plan_run plans[RUNS];
    static struct store_run runs[RUNS];
    struct why why;
    uint64_t counted = 0, failed = 0, other = 0;
    begin_runs(s, plans, runs);
    if (!store_begin_session(s, "bench", &why))
        abort();
    double start = bench_clock();
    merge_all(s, runs, tests);
    double merged = bench_clock();
    store_each_run(s, count_run, &counted);
    double summed = bench_clock();
    store_each_bucket(s, count_bucket, &failed);
    double bucketed = bench_clock();
    if (!store_compare(s, file, count_difference, &other, &why) || other)
        abort();
    double compared = bench_clock();
    cJSON *row = row_new();
    row_number(row, "tests", (double)counted);
    row_number(row, "failures", (double)failed);
    row_number(row, "merged/s", (double)tests / (merged - start));
    row_number(row, "runs ms", 1e3 * (summed - merged));
    row_number(row, "buckets ms", 1e3 * (bucketed - summed));
    row_number(row, "compare ms", 1e3 * (compared - bucketed));
    row_target(row, "both below 100 ms", bucketed - merged < 0.1);
    row_end(&b->report, row);
}

void table_regress(struct bench *b)
{
    static const uint64_t sizes[] = { 10000, 100000, 1000000 };
    for (int i = 0; i < (b->quick ? 2 : 3); i++) {
        struct temporary room;
        struct why why;
        struct store *s = NULL;
        char file[PATH_MAX];
        if (!temporary_room(&room, "bench", &why))
            abort();
        snprintf(file, sizeof file, "%s/b.db", room.path);
        if (store_open(&s, file, false, &why))
            measure_store(b, s, file, sizes[i]);
        else
            fprintf(stderr, "bench: %s\n", why.text);
        store_close(s);
        temporary_remove(&room);
    }
}
