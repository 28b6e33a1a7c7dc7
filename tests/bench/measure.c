/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring checks; see measure.h. */
#include "measure.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const double long_enough = 1; /* seconds after which a measurement is not repeated */

const struct measurement measure_none = { .status = ORDEAL_NO_MEMORY, .result = ORDEAL_UNDECIDED,
                                          .seconds = NAN, .word = "-" };

double bench_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const char *word_of(const struct measurement *m)
{
    static const char *const words[] = { [ORDEAL_PASS] = "PASS", [ORDEAL_FAIL] = "FAIL",
                                         [ORDEAL_UNDECIDED] = "UNDECIDED" };
    return m->status != ORDEAL_OK ? "ERROR" : m->limited ? "LIMIT" : words[m->result];
}

struct measurement measure_trace(struct ordeal *o, const struct ordeal_trace *t,
                                 const struct ordeal_options *options, double seconds)
{
    struct measurement m = measure_none;
    ordeal_set_limits(o, &(struct ordeal_limits){ .seconds = seconds });
    struct ordeal_verdict *v = NULL;
    double start = bench_clock();
    m.status = ordeal_check(t, options, &v);
    double took = bench_clock() - start;
    m.peak_bytes = ordeal_memory_peak(o);
    if (m.status == ORDEAL_OK) {
        const uint32_t *core;
        m.result = ordeal_verdict_result(v);
        m.limited = m.result == ORDEAL_UNDECIDED && seconds > 0 && took >= seconds;
        m.core = m.result == ORDEAL_FAIL ? ordeal_verdict_core(v, &core) : 0;
        m.seconds = m.limited ? NAN : took;
        ordeal_verdict_free(v);
    } else {
        fprintf(stderr, "bench: %s\n", ordeal_last_error(o)->reason);
    }
    strcpy(m.word, word_of(&m));
    return m;
}

static struct measurement measure_once(struct subject subject, enum ordeal_algorithm algorithm,
                                       double seconds)
{
    struct measurement m = measure_none;
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *t = o ? ordeal_trace_new(o) : NULL;
    if (t && subject.make(subject.from, t) == ORDEAL_OK) {
        struct ordeal_options options = { .model = ORDEAL_TSO, .algorithm = algorithm };
        m = measure_trace(o, t, &options, seconds);
    }
    ordeal_trace_free(t);
    ordeal_free(o);
    return m;
}

struct measurement measure(struct subject subject, enum ordeal_algorithm algorithm, double seconds,
                           int times)
{
    struct measurement best = measure_once(subject, algorithm, seconds);
    double spent = best.seconds;
    for (int i = 1; i < times && spent < long_enough; i++) { /* NAN ends it too */
        struct measurement m = measure_once(subject, algorithm, seconds);
        spent += m.seconds;
        if (m.seconds < best.seconds)
            best = m;
    }
    return best;
}

static enum ordeal_status make_threads(const void *from, struct ordeal_trace *t)
{
    return workload_trace(from, WORKLOAD_BY_THREAD, 0, t);
}

struct subject measure_threads(const struct workload *w)
{
    return (struct subject){ make_threads, w };
}
