/* SPDX-License-Identifier: Apache-2.0 */
/* What assertions cost: the same jobs with all of them, as a release has them, and with none, in
 * turn and in one process. Of each the fastest run counts. */
#include "bench.h"
#include "cost.h"

#include <math.h>
#include <stdlib.h>

enum { ALL, RELEASE, NONE_AT_ALL, KINDS };

static const char *const job_names[COST_JOBS] = {
    [COST_TEXT] = "read text",     [COST_BINARY] = "read binary", [COST_CHECK] = "check, PASS",
    [COST_REFUTE] = "check, FAIL", [COST_CLOCKS] = "deriv",       [COST_REPLAY] = "20 replays",
};

static bool write_text(const struct workload_spec *spec, char **text, size_t *length)
{
    struct workload *w = workload_run(spec);
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *t = o ? ordeal_trace_new(o) : NULL;
    FILE *f = open_memstream(text, length);
    bool good = w && t && f && workload_trace(w, WORKLOAD_BY_THREAD, 0, t) == ORDEAL_OK
             && ordeal_write_text(t, f) == ORDEAL_OK;
    good = f && fclose(f) == 0 && good;
    ordeal_trace_free(t);
    ordeal_free(o);
    workload_free(w);
    return good;
}

static bool measure_kinds(const char *text, size_t length, int rounds,
                          double best[KINDS][COST_JOBS])
{
    static cost_function *const kinds[KINDS] = { cost_all, cost_release, cost_none };
    for (int k = 0; k < KINDS; k++)
        for (int j = 0; j < COST_JOBS; j++)
            best[k][j] = INFINITY;
    for (int i = 0; i < rounds * KINDS; i++) {
        double seconds[COST_JOBS], *least = best[i % KINDS];
        if (!kinds[i % KINDS](text, length, seconds))
            return false;
        for (int j = 0; j < COST_JOBS; j++)
            least[j] = fmin(least[j], seconds[j]);
    }
    return true;
}

void table_invariants(struct bench *b)
{
    struct workload_spec spec = {
        .ops = b->quick ? 16384 : 131072, .threads = 16, .words = 256, .seed = b->seed
    };
    double best[KINDS][COST_JOBS];
    char *text = NULL;
    size_t length = 0;
    bool good = write_text(&spec, &text, &length)
             && measure_kinds(text, length, b->quick ? 5 : 7, best);
    for (int j = 0; good && j < COST_JOBS; j++) {
        double none = best[NONE_AT_ALL][j];
        cJSON *row = row_new();
        row_text(row, "job", job_names[j]);
        row_number(row, "none ns/op", 1e9 * none / spec.ops);
        row_number(row, "release x", best[RELEASE][j] / none);
        row_number(row, "all x", best[ALL][j] / none);
        row_end(&b->report, row);
    }
    if (!good)
        fprintf(stderr, "bench: assertions could not be measured\n");
    free(text);
}
