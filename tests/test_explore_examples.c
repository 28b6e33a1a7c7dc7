/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of examples/programs/ through the command: every counterexample that their comments
 * expect is one that the certified checker confirms, is a trace that `ordeal check` passes under the
 * model, and that SC fails exactly where relaxed=yes says so; those in C++ do what they are expected
 * to, as the source has it and optimised. PROGRAMS in the environment names some of them. */
#include <glob.h>

#include "expectation.h"
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

static const char *const as_traces[EXPLORE_MODELS] = { "SC", "TSO", "PSO", "RMO" };
static unsigned wrong, traces;

static void complain_of(const char *path, const char *what, const char *how)
{
    wrong++;
    printf("%s %s: %s: %.300s%.300s\n", path, how, what, out, err);
}

static void judge_trace(const char *path, const char *how, int model)
{
    bool relaxed = strstr(out, " relaxed=yes ");
    traces++;
    if (!relaxed && !strstr(out, " relaxed=no "))
        complain_of(path, "it does not say whether it is relaxed", how);
    else if (sh("$ORDEAL check t.trace") != 0 || !strstr(out, as_traces[model]))
        complain_of(path, "the trace does not pass", how);
    else if (sh("$ORDEAL check --model SC t.trace") != (relaxed ? 1 : 0))
        complain_of(path, "SC says otherwise", how);
}

static void one_run(const char *path, const struct expectation *e, int model, const char *flags)
{
    char defines[256] = "", how[512], field[80];
    const struct expected *x = &e->model[model];
    for (unsigned i = 0; i < e->defines; i++)
        snprintf(defines + strlen(defines), sizeof defines - strlen(defines), " -D %s",
                 e->define[i]);
    snprintf(how, sizeof how, "%s%s --model %s", flags, defines, explore_model_names[model]);
    int status = sh("timeout -k 5 100 $ORDEAL explore %s --trace t.trace '%s/%s'", how, home, path);
    const char *at = strstr(out, " error=");
    snprintf(field, sizeof field, "%.*s", at ? (int)strcspn(at + 7, " ") : 0, at ? at + 7 : "");
    if (status != (x->pass ? 0 : 1) || (!x->pass && !expected_error(x, field)))
        complain_of(path, "not as expected", how);
    else if (!x->pass)
        judge_trace(path, how, model);
}

static void one_file(const char *path)
{
    struct expectations e;
    char full[4200];
    bool cpp = strstr(path, ".cpp");
    snprintf(full, sizeof full, "%s/%s", home, path);
    TEST_ASSERT_NULL_MESSAGE(expectations_read(full, &e), path);
    for (unsigned i = 0; i < e.lines; i++)
        for (int m = 0; m < EXPLORE_MODELS; m++) {
            if (!e.line[i].model[m].told)
                continue;
            const struct expected *x = e.line[i].model;
            bool ordered = x[EXPLORE_SC].pass == x[EXPLORE_PSO].pass;
            if (!cpp && !x[m].pass && m != EXPLORE_PSO) /* for the time that it takes */
                one_run(path, &e.line[i], m, "");
            if (cpp && m <= EXPLORE_TSO) /* the others have many states as the source has it */
                one_run(path, &e.line[i], m, "");
            if (cpp && ordered) /* else the optimiser may change what is not said to be ordered */
                one_run(path, &e.line[i], m, "--optimise");
        }
}

static void all_of(const char *pattern, unsigned least)
{
    glob_t found;
    char full[4200];
    const char *some = getenv("PROGRAMS");
    snprintf(full, sizeof full, "%s/%s", home, pattern);
    TEST_ASSERT_EQUAL(0, glob(full, 0, NULL, &found));
    wrong = traces = 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (!some || strstr(found.gl_pathv[i], some))
            one_file(found.gl_pathv[i] + strlen(home) + 1);
    globfree(&found);
    TEST_ASSERT_EQUAL_UINT(0, wrong);
    TEST_ASSERT_TRUE(some || traces >= least);
}

static void counterexamples_of_C_are_confirmed(void) { all_of("examples/programs/*.c", 40); }
/* Under models whose counterexamples are of interest here, and are found soon. */
static void a_queue_in_CPP_fails_where_stores_are_reordered(void)
{
    const struct expectation e = { .model[EXPLORE_PSO] = { .errors = " assertion " },
                                   .model[EXPLORE_PSLO] = { .errors = " assertion " } };
    wrong = 0;
    one_run("examples/programs/spsc_queue.cpp", &e, EXPLORE_PSO, "");
    one_run("examples/programs/spsc_queue.cpp", &e, EXPLORE_PSLO, "");
    TEST_ASSERT_EQUAL_UINT(0, wrong);
}

/* clang -O2 puts the store of the node below behind the exchange that publishes the node. */
static void an_optimiser_may_break_what_has_no_order(void)
{
    const struct expectation e = { .model[EXPLORE_SC] = { .errors = " assertion " } };
    wrong = 0;
    one_run("examples/programs/treiber_stack.cpp", &e, EXPLORE_SC, "--optimise");
    TEST_ASSERT_EQUAL_UINT(0, wrong);
    sh("$ORDEAL explore -m sc -O '%s/examples/programs/treiber_stack.cpp'", home);
    /* What was inlined from a header. */
    contains(out, "    while (!top.compare_exchange_weak(n->below, n,", __LINE__);
    contains(out, "s.top is 0, as at the start; it becomes &block", __LINE__);
}

static void programs_in_CPP_do_what_is_expected(void) { all_of("examples/programs/*.cpp", 10); }

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(counterexamples_of_C_are_confirmed);
    RUN_TEST(a_queue_in_CPP_fails_where_stores_are_reordered);
    RUN_TEST(an_optimiser_may_break_what_has_no_order);
    RUN_TEST(programs_in_CPP_do_what_is_expected);
    return UNITY_END();
}
