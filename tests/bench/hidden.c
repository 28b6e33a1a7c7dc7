/* SPDX-License-Identifier: Apache-2.0 */
/* Violations that only a search can see (Figure 4.6, mirrored), hidden among operations that have
 * nothing to do with them: a legal execution, or k independent store/load pairs. */
#include "bench.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double longest = 60; /* seconds that any check may take */

/* One of the two traces that are woven into a third: its threads and names stay apart there. */
struct part {
    const struct ordeal_trace *trace;
    char prefix;
    uint32_t first_thread;
};

static enum ordeal_status copy_op(struct ordeal_trace *to, const struct part *from, size_t i)
{
    struct ordeal_op op = *ordeal_trace_op(from->trace, i);
    enum ordeal_status s = ordeal_trace_thread(to, from->first_thread + op.thread, &op.thread);
    if (s == ORDEAL_OK && op.base) {
        char name[16];
        int length = snprintf(name, sizeof name, "%c%u", from->prefix, op.base);
        s = ordeal_trace_name(to, name, (size_t)length, &op.base);
    }
    return s == ORDEAL_OK ? ordeal_trace_add(to, &op, 0) : s;
}

struct haystack { const struct ordeal_trace *core, *filler; };

/* The core's operations evenly spread over the filler's. */
static enum ordeal_status hide(const void *from, struct ordeal_trace *t)
{
    const struct haystack *h = from;
    const struct part needle = { h->core, 'c', 10000000 }, hay = { h->filler, 'f', 0 };
    size_t needles = ordeal_trace_length(h->core), straws = ordeal_trace_length(h->filler);
    size_t next = 0;
    enum ordeal_status s = ORDEAL_OK;
    for (size_t i = 0; s == ORDEAL_OK && i < needles; i++) {
        for (; s == ORDEAL_OK && next < straws * (i + 1) / (needles + 1); next++)
            s = copy_op(t, &hay, next);
        if (s == ORDEAL_OK)
            s = copy_op(t, &needle, i);
    }
    for (; s == ORDEAL_OK && next < straws; next++)
        s = copy_op(t, &hay, next);
    return s;
}

static struct ordeal_trace *read_core(struct ordeal *o, const char *path)
{
    struct ordeal_trace *t = NULL;
    FILE *f = fopen(path, "r");
    struct ordeal_reader *r = f ? ordeal_reader_new(o, f, path, ORDEAL_FORMAT_TEXT) : NULL;
    if (r && ordeal_reader_next(r, &t) != ORDEAL_OK) {
        ordeal_trace_free(t);
        t = NULL;
    }
    ordeal_reader_free(r);
    if (f)
        fclose(f);
    return t;
}

/* For each mirrored figure among the golden traces. */
static void each_core(struct bench *b, struct ordeal *o,
                      void (*visit)(struct bench *, struct ordeal *, const char *figure,
                                    const struct ordeal_trace *core))
{
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/fig4_6?_mirror.trace", b->golden);
    if (glob(pattern, 0, NULL, &found) != 0) {
        fprintf(stderr, "bench: no file is like %s\n", pattern);
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        char figure[] = "4.6(?)";
        figure[4] = *(strstr(path, "fig4_6") + strlen("fig4_6"));
        struct ordeal_trace *core = read_core(o, path);
        if (core)
            visit(b, o, figure, core);
        else
            fprintf(stderr, "bench: %s: %s\n", path, ordeal_last_error(o)->reason);
        ordeal_trace_free(core);
    }
    globfree(&found);
}

/* ---- in a legal execution --------------------------------------------------------------- */

static void hidden_row(struct bench *b, struct ordeal *o, const char *figure,
                       const struct ordeal_trace *core)
{
    struct workload *w = workload_run(&(struct workload_spec){
        .ops = 100000, .threads = 16, .words = 256, .seed = b->seed });
    struct ordeal_trace *filler = ordeal_trace_new(o);
    if (!w || !filler || workload_trace(w, WORKLOAD_BY_THREAD, 0, filler) != ORDEAL_OK)
        abort();
    workload_free(w);
    struct subject hidden = { hide, &(struct haystack){ core, filler } };
    struct measurement complete = measure(hidden, ORDEAL_AUTO, longest, 3);
    struct measurement baseline = measure(hidden, ORDEAL_BASELINE, longest, 3);

    cJSON *row = row_new();
    row_text(row, "figure", figure);
    row_number(row, "ops", (double)(ordeal_trace_length(core) + ordeal_trace_length(filler)));
    row_text(row, "auto", complete.word);
    row_number(row, "auto s", complete.seconds);
    row_number(row, "auto MB", (double)complete.peak_bytes / 1e6);
    row_number(row, "core", (double)complete.core);
    row_number(row, "of", (double)ordeal_trace_length(core));
    row_text(row, "baseline", baseline.word);
    row_number(row, "base s", baseline.seconds);
    row_target(row, "FAIL with core <= 10 s, baseline UNDECIDED",
               strcmp(complete.word, "FAIL") == 0 && complete.core > 0 && complete.seconds <= 10
               && strcmp(baseline.word, "UNDECIDED") == 0);
    row_end(&b->report, row);
    ordeal_trace_free(filler);
}

void table_hidden(struct bench *b)
{
    struct ordeal *o = ordeal_new(NULL);
    if (o)
        each_core(b, o, hidden_row);
    ordeal_free(o);
}

/* ---- beside independent pairs ----------------------------------------------------------- */

/* Pair j stores to a word of its own and loads from it, on two of so many threads. */
static enum ordeal_status add_pairs(struct ordeal_trace *t, uint32_t pairs, uint32_t threads)
{
    enum ordeal_status s = ORDEAL_OK;
    for (uint32_t i = 0; s == ORDEAL_OK && i < 2 * pairs; i++) {
        bool load = i % 2;
        struct ordeal_op op = { .kind = load ? ORDEAL_LOAD : ORDEAL_STORE, .size_log2 = 2,
                                .flags = load ? ORDEAL_HAS_VALUE : 0,
                                .address = UINT64_C(4) * (i / 2), .read = load, .write = !load };
        uint32_t turn = threads == 2 * pairs ? i : i / 2 + load;
        s = ordeal_trace_thread(t, turn % threads, &op.thread);
        if (s == ORDEAL_OK)
            s = ordeal_trace_add(t, &op, 0);
    }
    return s;
}

static double pairs_row(struct bench *b, struct ordeal *o, const char *figure,
                        const struct ordeal_trace *core, uint32_t pairs, uint32_t threads,
                        double tenth)
{
    struct ordeal_trace *filler = ordeal_trace_new(o);
    if (!filler || add_pairs(filler, pairs, threads) != ORDEAL_OK)
        abort();
    struct subject hidden = { hide, &(struct haystack){ core, filler } };
    struct measurement m = measure(hidden, ORDEAL_AUTO, longest, 3);
    ordeal_trace_free(filler);

    cJSON *row = row_new();
    row_text(row, "figure", figure);
    row_number(row, "pairs", pairs);
    row_number(row, "threads", threads);
    row_text(row, "auto", m.word);
    row_number(row, "auto s", m.seconds);
    row_number(row, "us/pair", 1e6 * m.seconds / pairs);
    row_number(row, "auto MB", (double)m.peak_bytes / 1e6);
    row_number(row, "core", (double)m.core);
    row_number(row, "to k/10", m.seconds / tenth);
    /* Linear, with room for caches that overflow; quadratic would be 100. */
    row_target(row, "FAIL, time to k/10 <= 25",
               strcmp(m.word, "FAIL") == 0 && (isnan(tenth) || m.seconds <= 25 * tenth));
    row_end(&b->report, row);
    return m.seconds;
}

static void pairs_rows(struct bench *b, struct ordeal *o, const char *figure,
                       const struct ordeal_trace *core)
{
    uint32_t most = b->quick ? 10000 : 1000000;
    for (int own_threads = 0; own_threads < 2; own_threads++) {
        double tenth = NAN;
        for (uint32_t k = 1; k <= most && (k == 1 || !isnan(tenth)); k *= 10)
            tenth = pairs_row(b, o, figure, core, k, own_threads ? 2 * k : 8, tenth);
    }
}

void table_pairs(struct bench *b)
{
    struct ordeal *o = ordeal_new(NULL);
    if (o)
        each_core(b, o, pairs_rows);
    ordeal_free(o);
}
