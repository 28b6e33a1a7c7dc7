/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal monitor` as people use it: verdicts, places, traces that the checker judges, captured traces,
 * refusals. ORDEAL in the environment names the program. */
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

static void has(const char *text, const char *part)
{
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, part), text);
}

#define PROGRAM "\"$HOME_OF_TESTS\"/examples/programs/"

/* Unsafe without fences, safe with all of them, and to the end. */
static void the_programs_of_figure_4(void)
{
    static const char *const name[] = { "dekker", "bakery", "the_deque", "lost_wakeup" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        EXPECT(1, "$ORDEAL monitor " PROGRAM "%s.c", name[i]);
        has(out, " seen=yes ");
        has(out, "a fence is missing between the store and the load");
        EXPECT(0, "$ORDEAL monitor -D FENCED -D ROBUST " PROGRAM "%s.c", name[i]);
        has(out, " borderline_traces=0 ");
        has(out, " complete=yes ");
        EXPECT(0, "$ORDEAL monitor --context 2 -D FENCED -D ROBUST " PROGRAM "%s.c", name[i]);
        has(out, " borderline_executions=0 ");
        has(out, " complete=no ");
    }
}

/* Fences enough to exclude, but not for SC: the one that is missing is told. */
static void a_place_is_told(void)
{
    EXPECT(1, "$ORDEAL monitor -D FENCED " PROGRAM "dekker.c");
    has(out, "dekker.c:32: SETTLE(l->wants[me], 0);");
    has(out, "dekker.c:33: WAIT_WHILE(LOAD(l->turn) != me);");
}

static void write_program(void)
{
    EXPECT(0, "cat >2.c <<'END'\n"
              "#include <pthread.h>\n"
              "volatile int x, y;\n"
              "static void *other(void *p) { x = 2; y = 1; return p; }\n"
              "int main(void)\n{\n    pthread_t t;\n    pthread_create(&t, 0, other, 0);\n"
              "    y = 2;\n    x = 1;\n    pthread_join(t, 0);\n}\nEND");
}

/* Two stores each, in opposite orders: TSO keeps them, PSO does not. */
static void stores_under_pso(void)
{
    write_program();
    EXPECT(0, "$ORDEAL monitor 2.c");
    EXPECT(1, "$ORDEAL monitor --model pso --trace near.trace 2.c");
    has(out, "a fence is missing between the store and the store");
    EXPECT(0, "$ORDEAL check --model SC near.trace");
    EXPECT(0, "$ORDEAL check --model PSO near-pso.trace");
    EXPECT(1, "$ORDEAL check --model SC near-pso.trace");
    EXPECT(1, "$ORDEAL check --model TSO near-pso.trace");
}

static void traces_are_written(void)
{
    EXPECT(1, "$ORDEAL monitor --json --trace a.b/near " PROGRAM "dekker.c; mkdir a.b; "
              "$ORDEAL monitor --json --trace a.b/near " PROGRAM "dekker.c");
    has(out, "\"fences\":[{\"thread\":");
    EXPECT(0, "$ORDEAL check --model SC a.b/near");
    EXPECT(0, "$ORDEAL check --model TSO a.b/near-tso");
    EXPECT(1, "$ORDEAL check --model SC a.b/near-tso");
}

static void captured_traces(void)
{
    EXPECT(1, "printf 'ordeal 1\\nP0 S[A]#1\\nP0 L[B]=0\\nP1 S[B]#1\\nP1 L[A]=1\\n' >t; "
              "$ORDEAL monitor t");
    has(out, "accesses=4 borderline=1 access=\"P1 L[A]=1\" missed=\"P0 S[A]#1\"");
    EXPECT(0, "printf 'ordeal 1\\nP0 S[A]#1\\nP0 MEMBAR\\nP0 L[B]=0\\nP1 S[B]#1\\nP1 MEMBAR\\n"
              "P1 L[A]=1\\n' >t; $ORDEAL monitor t");
    EXPECT(0, "printf 'ordeal 1\\nP0 S[A]#1\\nP0 S[B]#2\\nP1 L[B]=2\\nP1 L[A]=1\\n' >t; "
              "$ORDEAL monitor t");
    EXPECT(1, "$ORDEAL monitor --model pso t");
    EXPECT(4, "printf 'ordeal 1\\nP0 S[A]#1\\nP0 L[B]=0\\nP1 S[B]#1\\nP1 L[A]=0\\n' >t; "
              "$ORDEAL monitor t");
    has(out, "past the border");
    EXPECT(4, "cat t | $ORDEAL monitor -");
    EXPECT(4, "cat t | $ORDEAL monitor /dev/stdin");
    EXPECT(2, "echo nonsense >t; $ORDEAL monitor t");
    EXPECT(2, "$ORDEAL monitor not-there.trace");
}

static void limits_and_refusals(void)
{
    EXPECT(4, "$ORDEAL monitor --limit 5 -D FENCED -D ROBUST " PROGRAM "dekker.c");
    EXPECT(4, "$ORDEAL monitor --steps 10 -D FENCED -D ROBUST " PROGRAM "dekker.c");
    EXPECT(2, "$ORDEAL monitor");
    EXPECT(2, "$ORDEAL monitor --first --count " PROGRAM "dekker.c");
    EXPECT(2, "$ORDEAL monitor --all --trace t " PROGRAM "dekker.c");
    EXPECT(2, "$ORDEAL monitor --context -1 " PROGRAM "dekker.c");
    EXPECT(2, "$ORDEAL monitor --define X=1 t.trace");
    EXPECT(2, "$ORDEAL monitor a.c b.trace");
}

/* The two ways of following all find the same, with locks, conditions and loops that wait. */
static void bounded_and_reduced_agree(void)
{
    static const char *const name[] = { "lost_wakeup.c", "-D ROUNDS=1 ticket.c" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char first[200];
        EXPECT(0,
               "cd " PROGRAM "; $ORDEAL monitor --count -D FENCED %s | head -1 | "
               "grep -o ' traces=[0-9]*'",
               name[i]);
        snprintf(first, sizeof first, "%.*s", 150, out);
        EXPECT(0,
               "cd " PROGRAM "; $ORDEAL monitor --count -c 50 -D FENCED %s | head -1 | "
               "grep -o ' traces=[0-9]*'",
               name[i]);
        TEST_ASSERT_EQUAL_STRING(first, out);
    }
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(the_programs_of_figure_4);
    RUN_TEST(a_place_is_told);
    RUN_TEST(stores_under_pso);
    RUN_TEST(traces_are_written);
    RUN_TEST(captured_traces);
    RUN_TEST(limits_and_refusals);
    RUN_TEST(bounded_and_reduced_agree);
    return UNITY_END();
}
