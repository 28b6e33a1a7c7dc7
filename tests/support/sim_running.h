/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of programs on a simulated multiprocessor: one program at a time, and what its runs on
 * a machine bring, every one checked. */
#ifndef TESTS_SIM_RUNNING_H
#define TESTS_SIM_RUNNING_H

#include <stdlib.h>
#include <string.h>

#include "checking.h"
#include "iss.h"
#include "targets/soc/soc_runner.h"
#include "unity.h"

enum { HARTS = 4 };

static struct ordeal *context;
static struct program program;
static struct ordeal_trace *test;
static struct why why;
static struct soc_interface machine;     /* the reference machine; a test may change it */

static inline void running_open(void)
{
    context = ordeal_new(NULL);
    program = (struct program){ 0 };
    test = NULL;
    why = (struct why){ "" };
    machine = *iss_interface(HARTS);
}

static inline void forget(void)
{
    program_free(&program);
    ordeal_trace_free(test);
    test = NULL;
}

static inline void running_close(void)
{
    forget();
    TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(context));
    ordeal_free(context);
}

/* ---- running -------------------------------------------------------------------------------- */

struct outcomes {
    uint64_t *values;
    uint32_t count, most;
    struct machine_claims claims;
    enum ordeal_algorithm algorithm;
};

static inline const uint64_t *values_of(const struct outcomes *o, uint32_t iteration)
{
    return o->values + iteration * program_words(&program, &o->claims);
}

/* Every execution must be legal under SC: the reference machine is. */
static inline bool keep(void *user, uint64_t iteration, const uint64_t *values)
{
    struct outcomes *o = user;
    struct ordeal_trace *trace = NULL;
    size_t words = program_words(&program, &o->claims);
    TEST_ASSERT_TRUE(o->count < o->most);
    TEST_ASSERT_EQUAL(iteration, o->count);
    memcpy(o->values + o->count++ * words, values, words * sizeof *values);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, program_trace(&program, iteration, values, &o->claims,
                                                       context, &trace),
                              ordeal_last_error(context)->reason);
    TEST_ASSERT_EQUAL(ORDEAL_PASS, result_of(context, trace, ORDEAL_SC, o->algorithm));
    ordeal_trace_free(trace);
    return true;
}

static inline struct soc_runner_plan plan_of(uint64_t seed)
{
    return (struct soc_runner_plan){ .soc = &machine,
                                     .setup = { .model = SOC_SC },
                                     .vary_delay = true,
                                     .seed = seed,
                                     .timeout = 60,
                                     .final = true };
}

static inline void compile(const char *lines)
{
    struct ordeal_error e;
    test = trace_of_lines(context, lines);
    TEST_ASSERT_TRUE_MESSAGE(program_compile(&program, test, "test", &e), e.reason);
}

static inline enum target_result run(const struct soc_runner_plan *plan, uint32_t iterations,
                                     struct outcomes *o)
{
    struct soc_runner *m = soc_runner_new(plan);
    struct target_sink sink = { keep, o };
    TEST_ASSERT_NOT_NULL(m);
    *o = (struct outcomes){ .most = iterations,
                            .claims = soc_runner_claims(m),
                            .algorithm = plan->setup.visible ? ORDEAL_CONFLICT : ORDEAL_AUTO };
    o->values = calloc((size_t)iterations * program_words(&program, &o->claims) + 1, 8);
    enum target_result result = soc_runner_run(m, &program, 0, iterations, &sink, &why);
    soc_runner_free(m);
    return result;
}

#endif
