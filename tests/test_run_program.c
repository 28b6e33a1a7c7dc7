/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal run --program` from outside: programs on the simulated multiprocessor hold where they are
 * proved to, and fail with the line of the source where they are wrong or the machine is; what is seen
 * there is among what `ordeal explore` finds, which is the oracle: it shares the compiler with this and
 * nothing else.
 *
 * SEEDS and FIRST in the environment say how many random programs, and from which. */
#include <inttypes.h>

#include "oracle.h"
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

#define RUN "\"$ORDEAL\" run --target sim --sizes usual --program "
#define EXAMPLE(name) "$HOME_OF_TESTS/examples/programs/" name

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    TEST_ASSERT_NOT_NULL(f);
    fputs(text, f);
    fclose(f);
}

/* ---- examples --------------------------------------------------------------------------------- */

static void test_every_example_holds_with_its_fences(void)
{
    EXPECT(
        0,
        "for p in $HOME_OF_TESTS/examples/programs/*.c $HOME_OF_TESTS/examples/programs/*.cpp; do "
        "\"$ORDEAL\" run --target sim --sizes usual --program $p -D FENCED --count 2 >one.out 2>&1 "
        "&& grep -q 'runs=2 pass=2 fail=0' one.out || { echo $p; cat one.out; exit 1; }; done");
}

/* A lock without its fences breaks, and the machine is right. */
static void test_an_unfenced_lock_breaks(void)
{
    EXPECT(1, RUN EXAMPLE("dekker.c") " --count 60 --stop-after 1 --save kept");
    OUT("error=exclusion");
    OUT("trace=PASS");
    OUT("relaxed=yes");
    OUT("dekker.c:51");
    OUT("goes into its buffer");
    EXPECT(0, "\"$ORDEAL\" check kept/*/trace.trace");
    OUT("PASS");
}

/* The folder does the same again, cycle by cycle. */
static void test_a_kept_failure_replays(void)
{
    EXPECT(1, RUN EXAMPLE("dekker.c") " --count 60 --stop-after 1 --save kept");
    EXPECT(0,
           "cd kept/dekker-* && ls program.elf dekker.c trace.trace verdict.json explanation.txt "
           "picture.svg seed replay");
    EXPECT(1, "sh kept/dekker-*/replay --output again.trace");
    OUT("error=exclusion");
    EXPECT(0, "cmp again.trace kept/dekker-*/trace.trace");
}

/* The same lock with its fences on machines that break TSO: the store-load fence is lost; a load does not
 * look into a full buffer; stores go past one another. */
static void test_a_fenced_lock_breaks_on_a_broken_machine(void)
{
    EXPECT(1,
           RUN EXAMPLE(
               "dekker.c") " -D FENCED --bug fence-flavour --count 60 --stop-after 1 --save kept");
    OUT("trace=FAIL");
    OUT("certified=yes");
    OUT("dekker.c:28    FENCE();");
    EXPECT(1, "\"$ORDEAL\" check --time-order kept/*/trace.trace");
    EXPECT(1, "\"$ORDEAL\" run --target sim --program " EXAMPLE(
                  "dekker.c") " -D FENCED "
                              "--bug full-buffer-passed --count 60 --stop-after 1 --no-save");
    OUT("The machine broke");
    EXPECT(1, "\"$ORDEAL\" run --target sim --program " EXAMPLE(
                  "dekker.c") " -D FENCED "
                              "--bug forward-oldest --count 60 --stop-after 1 --no-save");
    OUT("The machine broke");
}

/* ---- errors of programs ----------------------------------------------------------------------- */

#define THREAD(body, main) \
    "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n" \
    "pthread_mutex_t a, b;\nvolatile int x;\nvoid *p(void *q)\n{\n" body "\nreturn q;\n}\n" \
    "int main(void)\n{\npthread_t t;\npthread_create(&t, 0, p, 0);\n" main \
    "\npthread_join(t, 0);\n}\n"

static void fails(const char *source, const char *what, const char *place)
{
    write_file("p.c", source);
    EXPECT(1, RUN "p.c --count 1 --no-save");
    OUT(what);
    OUT(place);
}

static void test_errors_have_their_line(void)
{
    fails(THREAD("assert(x == 1);", ""), "error=assertion", "p.c:8");
    fails(THREAD("*(int *)0 = 1;", ""), "error=unmapped", "p.c:8");
    fails(THREAD("*(volatile int *)((char *)&x + 1) = 1;", ""), "error=misaligned", "p.c:8");
    fails(THREAD("pthread_mutex_unlock(&a);", ""), "error=unlock", "p.c:8");
    fails(THREAD("int *m = malloc(4); free(m); free(m);", ""), "error=", "p.c:8");
    fails(THREAD("abort();", ""), "error=abort", "p.c:8");
    fails(THREAD("while (!x);", ""), "error=standstill", "thread 1 waits in a loop at p.c:8");
    fails(THREAD("pthread_mutex_lock(&b); x = 1; pthread_mutex_lock(&a);",
                 "pthread_mutex_lock(&a); while (!x); pthread_mutex_lock(&b);"),
          "error=deadlock", "for mutex a");
}

static void test_what_a_program_may_not_be(void)
{
    write_file("p.c", THREAD("pthread_t t; pthread_create(&t, 0, p, 0); pthread_join(t, 0);", ""));
    EXPECT(2, RUN "p.c --count 1");
    ERR("it has more threads at a time than the machine has harts; --harts makes a machine of more");
    write_file("p.c", "int x\n");
    EXPECT(2, RUN "p.c");
    ERR("p.c:");
    EXPECT(2, RUN "missing.c");
    ERR("missing.c");
    EXPECT(2, RUN "p.c --shrink");
    ERR("--shrink is about tests");
    EXPECT(2, "\"$ORDEAL\" run --target model --program p.c");
    ERR("runs on sim and board");
    EXPECT(2, "\"$ORDEAL\" run --target sim --optimise");
    ERR("add --program FILE");
    write_file("p.c", "int main(void) { return 0; }\n");
    EXPECT(0, "\"$ORDEAL\" explore p.c --keep-elf p.elf");
    EXPECT(2, RUN "p.elf");
    ERR("it is not linked for the machine");
    write_file("p.c", "volatile int x; int main(void) { for (;;) x++; }\n");
    EXPECT(4, RUN "p.c --count 1 --patience 20000");
    OUT("UNDECIDED");
}

/* ---- random programs against the engine ------------------------------------------------------- */

static const char *operation(uint64_t *random, char *text, size_t size, int thread, int *reads)
{
    int place = (int)oracle_random(random, 2), value = 1 + (int)oracle_random(random, 2);
    switch (oracle_random(random, *reads < 2 ? 5 : 3)) {
    case 0:
    case 1: snprintf(text, size, "v[%d] = %d;", place, value); break;
    case 2:
        snprintf(text, size,
                 oracle_random(random, 2) ? "__atomic_thread_fence(5);"
                                          : "__atomic_fetch_add(&v[%d], 4, 5);",
                 place);
        break;
    default: snprintf(text, size, "r[%d] = v[%d];", thread * 2 + (*reads)++, place);
    }
    return text;
}

static void write_program(uint64_t seed)
{
    FILE *f = fopen("random.c", "w");
    uint64_t random = seed;
    char text[80];
    TEST_ASSERT_NOT_NULL(f);
    fputs("#include <pthread.h>\nvolatile int v[2], r[4];\n", f);
    for (int t = 0; t < 2; t++) {
        int count = 2 + (int)oracle_random(&random, 3), reads = 0;
        fprintf(f, "void *p%d(void *a)\n{\n", t);
        for (int k = 0; k < count; k++)
            fprintf(f, "%s\n", operation(&random, text, sizeof text, t, &reads));
        fputs("return a;\n}\n", f);
    }
    fputs("int main(void)\n{\npthread_t t, u;\npthread_create(&t, 0, p0, 0);\n"
          "pthread_create(&u, 0, p1, 0);\npthread_join(t, 0);\npthread_join(u, 0);\n}\n",
          f);
    fclose(f);
}

/* Every outcome of the machine is one of the engine's. */
static void compare(const char *engine, const char *machine)
{
    EXPECT(0,
           "\"$ORDEAL\" explore --model %s random.c --outcomes 'v[0],v[1],r[0],r[1],r[2],r[3]' | "
           "grep '^v.0' | sort >engine.out",
           engine);
    EXPECT(0,
           RUN "random.c --model %s --count 16 --outcomes 'v[0],v[1],r[0],r[1],r[2],r[3]' | "
               "sed -n 's/ ([0-9]*)$//p' | sort >machine.out; test -s machine.out",
           machine);
    EXPECT(
        0,
        "comm -13 engine.out machine.out | { ! grep .; } || { cat random.c engine.out machine.out; "
        "exit 1; }");
}

static uint64_t number(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : usual;
}

static void test_outcomes_are_those_of_the_engine(void)
{
    uint64_t first = number("FIRST", 1), seeds = number("SEEDS", 6);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        write_program(seed);
        compare("tso", "TSO");
        if (seed % 3 == 0)
            compare("pso", "PSO");
        if (seed % 3 == 1)
            compare("sc", "SC");
    }
}

/* Store buffering shows on the machine of TSO and never on that of SC. */
static void test_store_buffering(void)
{
    write_file("sb.c",
               "#include <pthread.h>\nvolatile int x, y, r, s;\n"
               "void *p(void *a) { x = 1; r = y; return a; }\n"
               "void *q(void *a) { y = 1; s = x; return a; }\n"
               "int main(void)\n{\npthread_t t, u;\npthread_create(&t, 0, p, 0);\n"
               "pthread_create(&u, 0, q, 0);\npthread_join(t, 0);\npthread_join(u, 0);\n}\n");
    EXPECT(0, RUN "sb.c --count 30 --outcomes r,s");
    OUT("r=0 s=0");
    EXPECT(0, RUN "sb.c --count 30 --outcomes r,s --model SC | { ! grep 'r=0 s=0'; }");
    EXPECT(1, RUN "sb.c --count 30 --against SC --no-save");
    OUT("trace=FAIL");
    OUT("sb.c:3");
}

/* The same over USB, in the RTL of the board: what holds, and an error by its line. */
static void test_on_the_board(void)
{
    write_file("two.c", "#include <pthread.h>\nvolatile int x, y, r, s;\nint *nowhere;\n"
                        "void *p(void *a)\n{\nx = 1;\nr = y;\n#ifdef WRONG\n*nowhere = 1;\n#endif\n"
                        "return a;\n}\nint main(void)\n{\npthread_t t;\n"
                        "pthread_create(&t, 0, p, 0);\ny = 1;\ns = x;\npthread_join(t, 0);\n}\n");
    EXPECT(0, "timeout 600 \"$ORDEAL-board\" -- \"$ORDEAL\" run --target board --program two.c "
              "--count 2 --outcomes r,s");
    OUT("runs=2 pass=2 fail=0");
    EXPECT(1, "timeout 600 \"$ORDEAL-board\" -- \"$ORDEAL\" run --target board --program two.c "
              "-D WRONG --count 1 --no-save --visible");
    OUT("error=unmapped");
    OUT("two.c:9");
}

int main(void)
{
    if (!shell_open())
        return 2;
    UNITY_BEGIN();
    RUN_TEST(test_every_example_holds_with_its_fences);
    RUN_TEST(test_an_unfenced_lock_breaks);
    RUN_TEST(test_a_kept_failure_replays);
    RUN_TEST(test_a_fenced_lock_breaks_on_a_broken_machine);
    RUN_TEST(test_errors_have_their_line);
    RUN_TEST(test_what_a_program_may_not_be);
    RUN_TEST(test_outcomes_are_those_of_the_engine);
    RUN_TEST(test_store_buffering);
    RUN_TEST(test_on_the_board);
    return UNITY_END();
}
