/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs for the library, timed; see cost.h. Nothing but ordeal.h is used, so that each of the three
 * libraries does all of it alone. */
#include "cost.h"

#include <stdlib.h>
#include <time.h>

#include "ordeal.h"

enum { REPLAYS = 20 };

struct job {
    struct ordeal *o;
    struct ordeal_trace *t;
    double start;
};

/* The time of this process alone: what else runs here must not decide between close figures. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool read_trace(struct job *j, const char *data, size_t length, double *seconds)
{
    FILE *f = fmemopen((void *)data, length, "r"); /* it is only read */
    struct ordeal_reader *r = f ? ordeal_reader_new(j->o, f, "trace", ORDEAL_FORMAT_GUESS) : NULL;
    ordeal_trace_free(j->t);
    j->t = NULL;
    j->start = now();
    bool good = r && ordeal_reader_next(r, &j->t) == ORDEAL_OK;
    *seconds = now() - j->start;
    ordeal_reader_free(r);
    if (f)
        fclose(f);
    return good;
}

static bool read_binary(struct job *j, double *seconds)
{
    char *data = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&data, &length);
    bool good = f && ordeal_write_binary(j->t, f, false) == ORDEAL_OK;
    good = f && fclose(f) == 0 && good && read_trace(j, data, length, seconds);
    free(data);
    return good;
}

static bool check(struct job *j, struct ordeal_options options, enum ordeal_result result,
                  double *seconds)
{
    struct ordeal_verdict *v = NULL;
    j->start = now();
    bool good = ordeal_check(j->t, &options, &v) == ORDEAL_OK && ordeal_verdict_result(v) == result;
    *seconds = now() - j->start;
    ordeal_verdict_free(v);
    return good;
}

/* The trace's own values, as many times as it takes to be timed. */
static bool replay(struct job *j, double *seconds)
{
    size_t ops = ordeal_trace_length(j->t), count = 0;
    uint64_t *values = malloc(ops * sizeof *values);
    struct ordeal_replay *r = NULL;
    for (size_t i = 0; values && i < ops; i++)
        if (ordeal_trace_op(j->t, i)->flags & ORDEAL_HAS_VALUE)
            values[count++] = ordeal_trace_op(j->t, i)->read;
    bool good = values && ordeal_replay_new(j->t, ORDEAL_TSO, &r) == ORDEAL_OK;
    j->start = now();
    for (int i = 0; good && i < REPLAYS; i++)
        ordeal_replay_passes(r, values);
    *seconds = now() - j->start;
    ordeal_replay_free(r);
    free(values);
    return good;
}

bool cost_of(const char *text, size_t length, double seconds[COST_JOBS])
{
    static const struct ordeal_options auto_tso = { .model = ORDEAL_TSO },
                                       clocks = { .model = ORDEAL_TSO, .algorithm = ORDEAL_DERIV },
                                       auto_sc = { .model = ORDEAL_SC, .no_core = true };
    struct job j = { .o = ordeal_new(NULL) };
    bool good = j.o && read_trace(&j, text, length, &seconds[COST_TEXT])
             && read_binary(&j, &seconds[COST_BINARY])
             && check(&j, auto_tso, ORDEAL_PASS, &seconds[COST_CHECK])
             && check(&j, auto_sc, ORDEAL_FAIL, &seconds[COST_REFUTE])
             && check(&j, clocks, ORDEAL_PASS, &seconds[COST_CLOCKS])
             && replay(&j, &seconds[COST_REPLAY]);
    ordeal_trace_free(j.t);
    ordeal_free(j.o);
    return good;
}
