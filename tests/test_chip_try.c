/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal relax --target` and `ordeal fence --target` from outside, and what they steer with: a store that is
 * held stays in its buffer; cycles that a model allows come about on the multiprocessor, and none that
 * exploring has refuted does; fences that executions ask for are those that exploring proves. */
#include <stdio.h>

#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

#define EXAMPLE(name) "$HOME_OF_TESTS/examples/programs/" name
#define RELAX "\"$ORDEAL\" relax --target sim "
#define FENCE "\"$ORDEAL\" fence --target sim --runs 20 "

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    TEST_ASSERT_NOT_NULL(f);
    fputs(text, f);
    fclose(f);
}

/* ---- a store that is held ---------------------------------------------------------------------- */

/* The other thread counts how long x is not there. With LATER it first sees a store behind that to x. */
static const char held[] = "#include <assert.h>\n"
                           "#include <pthread.h>\n"
                           "int ready, go, x, y, n;\n"
                           "static void *other(void *p)\n"
                           "{\n"
                           "    ready = 1;\n"
                           "    while (!go) {}\n"
                           "#ifdef LATER\n"
                           "    while (!y) {}\n"
                           "#endif\n"
                           "    while (!x) n++;\n"
                           "    return p;\n"
                           "}\n"
                           "int main(void)\n"
                           "{\n"
                           "    pthread_t t;\n"
                           "    pthread_create(&t, 0, other, 0);\n"
                           "    while (!ready) {}\n"
                           "    go = 1;\n"
                           "    __asm__ volatile(\"slti x0, x0, %0\" : : \"i\"(HOLD));\n"
                           "    x = 1;\n"
                           "    y = 1;\n"
                           "    pthread_join(t, 0);\n"
                           "    assert(LONG ? n > 60 : n < 60);\n"
                           "}\n";

#define HELD \
    "\"$ORDEAL\" run --target sim --sizes usual --delay 0 --no-save --count 3 --program held.c "

static void test_a_store_is_held(void)
{
    write_file("held.c", held);
    EXPECT(0, HELD "-D HOLD=0 -D LONG=0");
    EXPECT(0, HELD "-D HOLD=2047 -D LONG=1");
    EXPECT(0, HELD "-D HOLD=2047 -D LONG=1 -D LATER --model PSO");
    /* Those behind it wait, too: when the later one is there so is x. */
    EXPECT(0, HELD "-D HOLD=2047 -D LONG=0 -D LATER --model TSO");
}

/* ---- cycles ------------------------------------------------------------------------------------ */

static const char store_buffering[] = "#include <assert.h>\n"
                                      "#include <pthread.h>\n"
                                      "int x, y, r1, r2;\n"
                                      "static void *other(void *p)\n"
                                      "{\n"
                                      "    y = 1;  /* @3 */\n"
                                      "    FENCE;\n"
                                      "    r2 = x; /* @4 */\n"
                                      "    return p;\n"
                                      "}\n"
                                      "int main(void)\n"
                                      "{\n"
                                      "    pthread_t t;\n"
                                      "    pthread_create(&t, 0, other, 0);\n"
                                      "    x = 1;  /* @1 */\n"
                                      "    FENCE;\n"
                                      "    r1 = y; /* @2 */\n"
                                      "    pthread_join(t, 0);\n"
                                      "    assert(r1 || r2);\n"
                                      "}\n";
static const char message_passing[] = "#include <assert.h>\n"
                                      "#include <pthread.h>\n"
                                      "int x, y, r1, r2;\n"
                                      "static void *reader(void *p)\n"
                                      "{\n"
                                      "    r1 = y; /* @3 */\n"
                                      "    r2 = x; /* @4 */\n"
                                      "    return p;\n"
                                      "}\n"
                                      "static void *writer(void *p)\n"
                                      "{\n"
                                      "    x = 1; /* @1 */\n"
                                      "    FENCE;\n"
                                      "    y = 1; /* @2 */\n"
                                      "    return p;\n"
                                      "}\n"
                                      "int main(void)\n"
                                      "{\n"
                                      "    pthread_t t, u;\n"
                                      "    pthread_create(&t, 0, reader, 0);\n"
                                      "    pthread_create(&u, 0, writer, 0);\n"
                                      "    pthread_join(t, 0);\n"
                                      "    pthread_join(u, 0);\n"
                                      "    assert(!r1 || r2);\n"
                                      "}\n";

#define FULL " -D 'FENCE=__atomic_thread_fence(__ATOMIC_SEQ_CST)' "
#define NONE " -D FENCE= "

static void test_a_cycle_that_the_model_allows(void)
{
    write_file("sb.c", store_buffering);
    EXPECT(1, RELAX "--model tso" NONE "sb.c");
    OUT("model=tso target=sim machine=h4-s16-w2-l4-b8-q4 predicted=1 confirmed=1 buggy=1");
    OUT("BUGGY sb.c");
    OUT("cycle=1,2,3,4 lines=sb.c:15,17,6,8");
    OUT("error=assertion certified=yes");
    write_file("mp.c", message_passing);
    EXPECT(1, RELAX "--model pso --trials 1 --cycle 1,2,3,4" NONE "mp.c");
    OUT("error=assertion certified=yes");
}

/* What exploring refutes never comes about, however long stores are held. */
static void test_a_cycle_that_it_does_not(void)
{
    write_file("sb.c", store_buffering);
    write_file("mp.c", message_passing);
    EXPECT(0, RELAX "--model tso --trials 1 --cycle 1,2,3,4" FULL "sb.c");
    OUT("INFEASIBLE");
    OUT("confirmed=0 buggy=0");
    EXPECT(0, RELAX "--model pso --trials 1 --cycle 1,2,3,4" FULL "mp.c");
    OUT("INFEASIBLE");
    EXPECT(0, RELAX "--model tso --trials 1 --cycle 1,2,3,4" NONE "mp.c");
    OUT("INFEASIBLE");
}

/* The same trial is the same execution, cycle by cycle; its trace is one of TSO and none of SC. */
static void test_a_trial_can_be_done_again(void)
{
#define TRIAL RELAX "--model tso --cycle 1,2,17,12 --trial 1 --explore 0 --json --trace "
    EXPECT(1, TRIAL "one.trace " EXAMPLE("relax/dekker.c") " > one.out");
    EXPECT(1, TRIAL "other.trace " EXAMPLE("relax/dekker.c") " > other.out");
    EXPECT(0, "cmp one.trace other.trace && grep -q '\"executions\":' one.out");
    EXPECT(0, "test \"$(sed 's/\"seconds\":[^,}]*//' one.out)\" = "
              "\"$(sed 's/\"seconds\":[^,}]*//' other.out)\"");
    EXPECT(0, "grep -q '\"error\":\"exclusion\",\"certified\":\"yes\"' one.out");
    EXPECT(0, "\"$ORDEAL\" check --model TSO one.trace");
    EXPECT(1, "\"$ORDEAL\" check --model SC one.trace");
#undef TRIAL
}

/* ---- fences ------------------------------------------------------------------------------------ */

static const char many_messages[] = "#include <assert.h>\n"
                                    "#include <pthread.h>\n"
                                    "int x, y;\n"
                                    "static void *reader(void *p)\n"
                                    "{\n"
                                    "    for (int k = 0; k < 12; k++) {\n"
                                    "        int a = y, b = x;\n"
                                    "        assert(b >= a);\n"
                                    "    }\n"
                                    "    return p;\n"
                                    "}\n"
                                    "static void *writer(void *p)\n"
                                    "{\n"
                                    "    for (int k = 1; k <= 4; k++) {\n"
                                    "        x = k;\n"
                                    "        y = k;\n"
                                    "    }\n"
                                    "    return p;\n"
                                    "}\n"
                                    "int main(void)\n"
                                    "{\n"
                                    "    pthread_t t, u;\n"
                                    "    pthread_create(&t, 0, reader, 0);\n"
                                    "    pthread_create(&u, 0, writer, 0);\n"
                                    "    pthread_join(t, 0);\n"
                                    "    pthread_join(u, 0);\n"
                                    "}\n";

static void test_executions_ask_for_fences(void)
{
    EXPECT(0, FENCE "--model tso --apply fixed.c " EXAMPLE("dekker.c"));
    OUT("asks for: mfence behind");
    OUT("error=exclusion");
    OUT("mfences=2 sfences=0 states=");
    OUT("without=exclusion");
    OUT("PASS fixed.c model=tso buffers=unbounded");
    OUT("mfences=2 sfences=0 runs=20 wrong=0");
    EXPECT(0, "\"$ORDEAL\" run --target sim --sizes usual --no-save --count 10 --program fixed.c "
              "--include $HOME_OF_TESTS/examples/programs");
    write_file("many.c", many_messages);
    EXPECT(0, FENCE "--model pso --runs 60 --seed 2 many.c");
    OUT("error=assertion asks for: sfence before many.c:16: y = k;");
    OUT("mfences=0 sfences=1 states=");
}

/* A program that is right asks for none; one that is wrong in itself is told so. */
static void test_what_no_fence_mends(void)
{
    write_file("sb.c", store_buffering);
    EXPECT(0, FENCE "--model tso" FULL "sb.c");
    OUT("mfences=0 sfences=0 runs=20 wrong=0");
    write_file("race.c", "#include <assert.h>\n"
                         "#include <pthread.h>\n"
                         "int x;\n"
                         "static void *other(void *p) { x = 1; return p; }\n"
                         "int main(void)\n"
                         "{\n"
                         "    pthread_t t;\n"
                         "    pthread_create(&t, 0, other, 0);\n"
                         "    pthread_join(t, 0);\n"
                         "    assert(!x);\n"
                         "}\n");
    EXPECT(1, FENCE "race.c");
    OUT("FAIL race.c model=pso target=sim");
    OUT("no fence between the accesses");
}

/* ---- what does not go together ------------------------------------------------------------------ */

static void test_refusals(void)
{
    write_file("sb.c", store_buffering);
    EXPECT(2, "\"$ORDEAL\" relax --harts 2 sb.c");
    ERR("--harts is about a machine: add --target");
    EXPECT(2, "\"$ORDEAL\" relax --waves w sb.c");
    ERR("--waves is about a machine");
    EXPECT(2, "\"$ORDEAL\" relax --target model sb.c");
    ERR("programs run on sim and board");
    EXPECT(2, "\"$ORDEAL\" fence --target nothing sb.c");
    ERR("--target takes one of");
    EXPECT(2, FENCE "--all-minimal sb.c");
    ERR("leave out --all-minimal");
    EXPECT(2, RELAX "--atomics x86 sb.c");
    ERR("RISC-V");
}

int main(void)
{
    if (!shell_open())
        return 2;
    UNITY_BEGIN();
    RUN_TEST(test_a_store_is_held);
    RUN_TEST(test_a_cycle_that_the_model_allows);
    RUN_TEST(test_a_cycle_that_it_does_not);
    RUN_TEST(test_a_trial_can_be_done_again);
    RUN_TEST(test_executions_ask_for_fences);
    RUN_TEST(test_what_no_fence_mends);
    RUN_TEST(test_refusals);
    return UNITY_END();
}
