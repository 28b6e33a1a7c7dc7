/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal explore` from outside: verdicts, every kind of error by a small program, what is refused and
 * with which words, counterexamples in all their forms, limits, checkpoints and ^C. ORDEAL in the
 * environment names the program. */
#include <cJSON.h>
#include <signal.h>
#include <sys/stat.h>

#include "shell.h"
#include "svg_nests.h"
#include "terminal.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

static void write_source(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    TEST_ASSERT_NOT_NULL(f);
    TEST_ASSERT_TRUE(fputs(text, f) >= 0 && fclose(f) == 0);
}

static void has(const char *whole, const char *part, unsigned line)
{
    char message[8192];
    snprintf(message, sizeof message, "'%s' is not in: %.6000s", part, whole);
    UNITY_TEST_ASSERT(strstr(whole, part), line, message);
}
#define HAS(whole, part) has(whole, part, __LINE__)

static void has_not(const char *whole, const char *part, unsigned line)
{
    char message[8192];
    snprintf(message, sizeof message, "'%s' is in: %.6000s", part, whole);
    UNITY_TEST_ASSERT(!strstr(whole, part), line, message);
}
#define HAS_NOT(whole, part) has_not(whole, part, __LINE__)

#define THREADS \
    "#include <pthread.h>\n#include <assert.h>\n#include <stdlib.h>\n#include <stdio.h>\n" \
    "#include <ordeal_program.h>\n"

/* Store buffering: both loads may see 0 unless memory is sequentially consistent. */
static const char store_buffering[] = THREADS "volatile int x, y, r1, r2;\n"
                                              "static void *other(void *p)\n"
                                              "{\n"
                                              "    y = 1;\n" /* 9 */
                                              "    r2 = x;\n"
                                              "    return p;\n"
                                              "}\n"
                                              "int main(void)\n"
                                              "{\n"
                                              "    pthread_t t;\n"
                                              "    pthread_create(&t, 0, other, 0);\n"
                                              "    x = 1;\n"
                                              "    r1 = y;\n"
                                              "    pthread_join(t, 0);\n"
                                              "    printf(\"r1 %d r2 %d\\n\", r1, r2);\n"
                                              "    assert(r1 || r2);\n" /* 21 */
                                              "}\n";

/* ---- verdicts ---------------------------------------------------------------------------- */

static void a_program_passes_or_fails_by_its_model(void)
{
    write_source("sb.c", store_buffering);
    EXPECT(0, "$EXPLORE --model sc sb.c");
    HAS(out, "PASS sb.c model=sc local=sd atomics=riscv optimise=no states=");
    EXPECT(1, "$EXPLORE sb.c");
    HAS(out, "FAIL sb.c model=tso buffers=32 flush=delayed local=sd atomics=riscv optimise=no "
             "error=assertion at=sb.c:");
    HAS(out, "at=sb.c:21 thread=0 what=\"r1 || r2\" steps=");
    HAS(out, " relaxed=yes states=");
    HAS(out, "It takes a memory that is weaker than sequential consistency");
    HAS(out, "sb.c:9    y = 1;");
    HAS(out, "y = 1 goes into its buffer");
    HAS(out, "is still in its buffer");
    HAS(out, "The program printed:\nr1 0 r2 0\n");
    EXPECT(1, "$EXPLORE --flush plain --buffers 1 --local none -j 1 --no-reduction sb.c");
    HAS(out, "model=tso buffers=1 flush=plain local=none");
    EXPECT(1, "$EXPLORE -m pso --buffers unbounded --order depth sb.c");
    HAS(out, "model=pso buffers=unbounded local=s");
    EXPECT(1, "$EXPLORE -m pslo -O --atomics x86 sb.c");
    HAS(out, "local=s atomics=x86 optimise=yes");
}

static void a_mistake_on_any_machine_is_not_relaxed(void)
{
    write_source("race.c", THREADS "int n;\n"
                                   "static void *add(void *p) { n = n + 1; return p; }\n"
                                   "int main(void)\n"
                                   "{\n"
                                   "    pthread_t t;\n"
                                   "    pthread_create(&t, 0, add, 0);\n"
                                   "    add(0);\n"
                                   "    pthread_join(t, 0);\n"
                                   "    assert(n == 2);\n"
                                   "}\n");
    EXPECT(1, "$EXPLORE race.c");
    HAS(out, "relaxed=no");
    HAS(out, "the same can happen under sequential consistency");
}

static void several_sources_are_one_program(void)
{
    write_source("one.c", THREADS
                 "extern int other(void);\nint main(void) { assert(other() == ANSWER); }\n");
    write_source("two.c", "int other(void) { return 42; }\n");
    EXPECT(0, "$EXPLORE -D ANSWER=42 --keep-elf kept.elf one.c two.c");
    EXPECT(1, "$EXPLORE --define ANSWER=41 one.c two.c");
    EXPECT(0, "$EXPLORE kept.elf");
    HAS(out, "PASS kept.elf");
}

/* ---- kinds of errors --------------------------------------------------------------------- */

/* The body of main, and what must be said. */
static const struct {
    const char *error, *body, *more;
} errors[] = {
    { "assertion", "int n = 3; assert(n == 4);", "what=\"n == 4\"" },
    { "reached", "reach_error();", "reach_error() is reached" },
    { "abort", "abort();", "The program aborts" },
    { "exclusion",
      "pthread_t t; pthread_create(&t, 0, critical, 0); critical(0); pthread_join(t, 0);",
      "Two threads are in their critical sections at once" },
    { "unmapped", "*(volatile int *)12 = 1;", "goes where there is no memory" },
    { "read-only", "*(volatile char *)(unsigned long)\"constant\" = 1;", "may only be read" },
    { "freed", "volatile int *p = malloc(8); free((void *)p); *p = 1;", "memory that was freed" },
    { "misaligned", "char c[8]; *(volatile int *)(((unsigned long)c & ~3ul) + 1) = 1;",
      "not aligned" },
    { "double-free", "void *p = malloc(8); free(p); free(p);", "freed that is not allocated" },
    { "deadlock", "pthread_mutex_lock(&m); pthread_mutex_lock(&m);", "No thread can go on" },
    { "unlock", "pthread_mutex_unlock(&m);", "does not hold it" },
    { "instruction", "__asm__ volatile(\".word 0\");", "" },
    { "stack", "return depth(1);", "A stack runs out" },
};

static void every_kind_of_error_is_told(void)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        char text[4096], wanted[64];
        snprintf(text, sizeof text,
                 THREADS "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
                         "static void *critical(void *p) { __ordeal_critical_begin(); "
                         "__ordeal_critical_end(); return p; }\n"
                         "static int depth(int n) { volatile int a[100]; a[n %% 100] = n; "
                         "return depth(n + 1) + a[n %% 50]; }\n"
                         "int main(void) { (void)m; (void)critical; (void)depth;\n"
                         "    %s\n"
                         "}\n",
                 errors[i].body);
        write_source("wrong.c", text);
        EXPECT(1, "$EXPLORE --model tso wrong.c");
        snprintf(wanted, sizeof wanted, " error=%s", errors[i].error);
        HAS(out, wanted);
        HAS(out, errors[i].more);
        HAS_NOT(out, "thread 0 wait for ever");
        if (strcmp(errors[i].error, "deadlock") != 0 && strcmp(errors[i].error, "stack") != 0
            && strcmp(errors[i].error, "exclusion") != 0)
            HAS(out, "wrong.c:10");
        HAS(out, "relaxed=no");
    }
}

static void a_store_that_comes_too_late_is_told(void)
{
    write_source("late.c", THREADS "int *volatile p;\n"
                                   "volatile int done;\n"
                                   "static void *other(void *q) { *p = 1; done = 1; return q; }\n"
                                   "int main(void)\n"
                                   "{\n"
                                   "    pthread_t t;\n"
                                   "    p = malloc(4);\n"
                                   "    pthread_create(&t, 0, other, 0);\n"
                                   "    while (!done) {}\n"
                                   "    free(p);\n"
                                   "    pthread_join(t, 0);\n"
                                   "}\n");
    EXPECT(0, "$EXPLORE --model tso late.c");
    EXPECT(1, "$EXPLORE --model pso late.c");
    HAS(out, "error=late-store");
    HAS(out, "still in a buffer");
}

static void a_deadlock_says_who_waits_for_what(void)
{
    write_source("two.c", THREADS
                 "pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;\n"
                 "static void both(pthread_mutex_t *m, pthread_mutex_t *n)\n"
                 "{\n"
                 "    pthread_mutex_lock(m);\n"
                 "    pthread_mutex_lock(n);\n" /* 10 */
                 "    pthread_mutex_unlock(n);\n"
                 "    pthread_mutex_unlock(m);\n"
                 "}\n"
                 "static void *other(void *p) { both(&b, &a); return p; }\n"
                 "int main(void)\n"
                 "{\n"
                 "    pthread_t t;\n"
                 "    pthread_create(&t, 0, other, 0);\n"
                 "    both(&a, &b);\n"
                 "    pthread_join(t, 0);\n"
                 "}\n");
    EXPECT(1, "$EXPLORE two.c");
    HAS(out, "error=deadlock");
    HAS(out, "Thread 0 waits at two.c:10 for mutex &b, which thread 1 holds.");
    HAS(out, "Thread 1 waits at two.c:10");
    HAS(out, "locks a");
}

static void all_errors_are_told_once_each(void)
{
    write_source("two.c", THREADS "int main(void)\n"
                                  "{\n"
                                  "    int n = __VERIFIER_nondet_int();\n"
                                  "    assert(n != 1);\n"
                                  "    assert(n != 2);\n"
                                  "    printf(\"%d\\n\", n);\n"
                                  "}\n");
    EXPECT(1, "$EXPLORE --nondet 0..3 --all two.c");
    HAS(out, "what=\"n != 1\"");
    HAS(out, "what=\"n != 2\"");
    EXPECT(1, "$EXPLORE --nondet 0..3 --all --no-reduction two.c");
    HAS(out, "at=two.c:9 ");
    HAS(out, "at=two.c:10 ");
    EXPECT(1, "$EXPLORE --nondet -2..1 --all two.c");
    HAS(out, "what=\"n != 1\"");
    HAS_NOT(out, "what=\"n != 2\"");
    HAS(out, "draws the value 1");
    EXPECT(0, "$EXPLORE --nondet -2..0 two.c");
}

static void assumptions_end_executions(void)
{
    write_source("assumed.c", THREADS "int main(void)\n"
                                      "{\n"
                                      "    int n = __VERIFIER_nondet_int();\n"
                                      "    __VERIFIER_assume(n != 3);\n"
                                      "    assert(n != 3);\n"
                                      "}\n");
    EXPECT(0, "$EXPLORE --nondet 0..9 assumed.c");
}

/* Of a program in which thread 0 and thread 1 run `one` and `two`. */
static void two_threads(const char *data, const char *one, const char *two)
{
    char text[4096];
    snprintf(text, sizeof text,
             THREADS "#include <stdatomic.h>\n#include <string.h>\n%s\n"
                     "static void *other(void *p) { %s return p; }\n"
                     "int main(void)\n"
                     "{\n"
                     "    pthread_t t;\n"
                     "    pthread_create(&t, 0, other, 0);\n"
                     "    { %s }\n"
                     "    pthread_join(t, 0);\n"
                     "}\n",
             data, two, one);
    write_source("two.c", text);
}

static void expect_everywhere(int status, const char *part)
{
    static const char *const how[] = {
        "-m sc", "-m tso", "-m tso --flush plain", "-m tso --no-reduction", "-m pso", "-m pslo"
    };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        EXPECT(status, "$EXPLORE %s two.c", how[i]);
        HAS(out, part);
    }
}

/* What a thread did before may have been seen. */
static void an_assumption_that_fails_takes_nothing_back(void)
{
    two_threads("volatile int x;", "x = 1; __VERIFIER_assume(0);", "if (x == 1) reach_error();");
    expect_everywhere(1, "error=reached");
    two_threads("volatile int x, w;", "x = 1; int r = w; __VERIFIER_assume(r); reach_error();",
                "while (!x) {} w = 1;");
    expect_everywhere(1, "error=reached");
    two_threads("volatile int x;", "reach_error();", "__VERIFIER_assume(0);");
    expect_everywhere(1, "error=reached");
}

static void a_thread_is_met_in_a_critical_section_that_a_fence_is_before(void)
{
    static const char *const data =
        "atomic_int x, y; int r, s;\n"
        "#define LOOK(v) atomic_load_explicit(&v, memory_order_relaxed)\n"
        "#define BOTH(r, x, y) r = LOOK(y); \\\n"
        "    atomic_store_explicit(&x, 1, memory_order_relaxed); \\\n"
        "    atomic_thread_fence(memory_order_seq_cst); \\\n"
        "    __ordeal_critical_begin(); \\\n"
        "    __ordeal_critical_end(); r = LOOK(y);";
    two_threads(data, "BOTH(r, x, y)", "BOTH(s, y, x)");
    expect_everywhere(1, "error=exclusion");
}

static void a_section_without_an_end_shows_nothing(void)
{
    two_threads("volatile int x, y;",
                "__VERIFIER_atomic_begin(); y = 1; while (!x) {} y = 0; __VERIFIER_atomic_end();",
                "if (y) reach_error();");
    expect_everywhere(0, "no execution ends");
}

/* snprintf() reads and writes what others do. */
static void text_is_formatted_in_every_order(void)
{
    two_threads("char s[8] = \"a\", b[8], c[8];",
                "snprintf(b, 8, \"%s\", s); snprintf(c, 8, \"%s\", s);", "s[0] = 'b'; s[0] = 'c';");
    static const char *const how[] = { "-m sc", "-m tso", "-m tso --flush plain", "-m pslo" };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        EXPECT(0, "$EXPLORE %s --outcomes 'b[0],c[0]' two.c", how[i]);
        HAS(out, " outcomes=6");
    }
    two_threads("char s[8] = \"a\";", "char c = s[0]; assert(c != '7');",
                "snprintf(s, 8, \"%d\", 7);");
    expect_everywhere(1, "error=assertion"); /* and the checker confirms it */
}

static void sections_of_verification_programs_are_atomic(void)
{
    write_source(
        "section.i",
        "extern void __VERIFIER_atomic_begin(void);\n"
        "extern void __VERIFIER_atomic_end(void);\n"
        "extern void abort(void);\n"
        "void reach_error(void);\n"
        "typedef unsigned long pthread_t;\n"
        "extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);\n"
        "extern int pthread_join(pthread_t, void **);\n"
        "int n;\n"
        "void __VERIFIER_atomic_add(void) { n = n + 1; }\n"
        "void *other(void *p) { __VERIFIER_atomic_add(); return p; }\n"
        "int main()\n"
        "{\n"
        "    pthread_t t;\n"
        "    pthread_create(&t, 0, other, 0);\n"
        "    __VERIFIER_atomic_begin();\n"
        "    n = n + 1;\n"
        "    __VERIFIER_atomic_end();\n"
        "    pthread_join(t, 0);\n"
        "    if (n != 2)\n"
        "        reach_error();\n"
        "}\n");
    static const char *const models[] = { "sc", "tso", "pso", "pslo" };
    for (int i = 0; i < 4; i++)
        EXPECT(0, "$EXPLORE --model %s section.i", models[i]);
}

/* Nor does it see what was there before. */
static void a_thread_made_in_a_section_begins_behind_it(void)
{
    static const char *const made = THREADS
        "int n;\n"
        "static void *other(void *p) { int m = n; assert(m != %d); return p; }\n"
        "pthread_t t;\n"
        "void __VERIFIER_atomic_make(void) { pthread_create(&t, 0, other, 0); n = 1; n = 2; }\n"
        "int main(void) { __VERIFIER_atomic_make(); n = 3; pthread_join(t, 0); }\n";
    char text[1024];
    for (int value = 0; value < 4; value++) {
        snprintf(text, sizeof text, made, value);
        write_source("two.c", text);
        expect_everywhere(value >= 2, value >= 2 ? "error=assertion" : "PASS");
    }
}

static void a_section_may_be_what_a_thread_ends_in(void)
{
    write_source("two.c",
                 THREADS "int n;\n"
                         "static void *other(void *p) { assert(n == 2); n = 3; reach_error(); }\n"
                         "int main(void)\n"
                         "{\n"
                         "    pthread_t t;\n"
                         "    __VERIFIER_atomic_begin();\n"
                         "    pthread_create(&t, 0, other, 0);\n"
                         "    n = 2;\n"
                         "    pthread_exit(0);\n"
                         "}\n");
    expect_everywhere(1, "error=reached");
}

/* As gcc leaves them, with the headers of the GNU library. */
static void what_another_compiler_preprocessed_is_understood(void)
{
    write_source(
        "gnu.i",
        "# 1 \"gnu.c\"\n"
        "extern void free(void *p) __attribute__((__nothrow__));\n"
        "extern void *malloc(unsigned long n)\n"
        "    __attribute__((__nothrow__)) __attribute__((__malloc__));\n"
        "extern char *copy(const char *s) __attribute__((__malloc__(free, 1)));\n"
        "extern _Float128 strtof128(const char *s, char **e);\n"
        "extern _Float64x other(_Float32 a, _Float64 b, _Float32x c, __float128 d);\n"
        "extern void __assert_fail(const char *, const char *, unsigned, const char *);\n"
        "void reach_error(void) { __assert_fail(\"0\", \"gnu.c\", 9, __func__); }\n"
        "# 20 \"gnu.c\"\n"
        "int main(void) { int *p = malloc(4); *p = 1; if (*p) reach_error(); free(p); }\n");
    EXPECT(1, "$EXPLORE gnu.i");
    HAS(out, "error=assertion");
    HAS(out, "at=gnu.c:8 ");
    write_source("old.i", "typedef float _Float32;\nint main(void) { return (int)(_Float32)0; }\n");
    EXPECT(0, "$EXPLORE old.i");
}

/* ---- outcomes ---------------------------------------------------------------------------- */

static void outcomes_are_all_final_values(void)
{
    write_source("sb.c",
                 THREADS "int x, y, r[2];\n"
                         "signed char c = -1;\n"
                         "static void *other(void *p) { y = 1; r[1] = x + c + 1; return p; }\n"
                         "int main(void)\n"
                         "{\n"
                         "    pthread_t t;\n"
                         "    pthread_create(&t, 0, other, 0);\n"
                         "    x = 1;\n"
                         "    r[0] = y;\n"
                         "    pthread_join(t, 0);\n"
                         "}\n");
    EXPECT(0, "$EXPLORE --model sc --outcomes r+0,r+4,c sb.c");
    HAS(out, " outcomes=3");
    HAS(out, "\nr+0=0 r+4=1 c=-1\nr+0=1 r+4=0 c=-1\nr+0=1 r+4=1 c=-1\n");
    EXPECT(0, "$EXPLORE --model tso --outcomes 'r[0],r[1]' sb.c");
    HAS(out, "\nr[0]=0 r[1]=0\nr[0]=0 r[1]=1\nr[0]=1 r[1]=0\nr[0]=1 r[1]=1\n");
    EXPECT(0, "$EXPLORE --model tso --json --outcomes r+0,r+4 sb.c");
    HAS(out, "\"outcomes\":[{\"r+0\":0,\"r+4\":0},");
    EXPECT(2, "$EXPLORE --outcomes x,Y1 sb.c");
    HAS(err, "there is no global variable 'Y1'");
    EXPECT(2, "$EXPLORE --outcomes r sb.c");
    HAS(err, "'r' has 8 bytes; name a word of it, such as r+0 or r+4");
    EXPECT(2, "$EXPLORE --outcomes x,,y sb.c");
    EXPECT(2, "$EXPLORE --outcomes main sb.c");
}

/* ---- forms of a counterexample ----------------------------------------------------------- */

static void a_trace_passes_its_model_and_fails_SC(void)
{
    write_source("sb.c", store_buffering);
    static const char *const models[][2] = { { "tso", "TSO" },
                                             { "pso", "PSO" },
                                             { "pslo", "RMO" } };
    for (int i = 0; i < 3; i++) {
        EXPECT(1, "$EXPLORE --model %s --trace t.trace sb.c", models[i][0]);
        EXPECT(0, "$ORDEAL check t.trace");
        HAS(out, models[i][1]);
        EXPECT(0, "$ORDEAL check --model %s t.trace", models[i][1]);
        EXPECT(1, "$ORDEAL check --model SC t.trace");
        HAS(out, "S[x]#1");
        EXPECT(0, "$ORDEAL convert t.trace -o t.otr && $ORDEAL check t.otr");
    }
}

static void JSON_is_valid_and_the_same_each_time(void)
{
    write_source("sb.c", store_buffering);
    EXPECT(1, "$EXPLORE -j 1 --json sb.c");
    cJSON *line = cJSON_Parse(out);
    TEST_ASSERT_NOT_NULL_MESSAGE(line, out);
    TEST_ASSERT_EQUAL_STRING("FAIL", cJSON_GetObjectItem(line, "verdict")->valuestring);
    TEST_ASSERT_EQUAL_STRING("assertion", cJSON_GetObjectItem(line, "error")->valuestring);
    TEST_ASSERT_TRUE(cJSON_IsTrue(cJSON_GetObjectItem(line, "relaxed")));
    TEST_ASSERT_EQUAL(4, cJSON_GetArraySize(cJSON_GetObjectItem(line, "core")));
    TEST_ASSERT_TRUE(cJSON_GetArraySize(cJSON_GetObjectItem(line, "path")) > 6);
    cJSON_DeleteItemFromObject(line, "seconds");
    char *first = cJSON_Print(line);
    cJSON_Delete(line);
    EXPECT(1, "$EXPLORE -j 1 --json sb.c");
    line = cJSON_Parse(out);
    cJSON_DeleteItemFromObject(line, "seconds");
    char *second = cJSON_Print(line);
    TEST_ASSERT_EQUAL_STRING(first, second);
    cJSON_Delete(line);
    free(first);
    free(second);
}

static void a_replay_shows_every_step_with_buffers_and_memory(void)
{
    write_source("sb.c", store_buffering);
    EXPECT(1, "$EXPLORE --flush plain --replay sb.c </dev/null");
    HAS(out, "step 1 of ");
    HAS(out, "    buffer of thread 1:  y = 1");
    HAS(out, "    memory:  ");
    HAS(out, "sb.c:10  r2 = x;");
    const char *seen = strstr(out, "r2 is 0, which thread 1 wrote (step ");
    char step[64];
    TEST_ASSERT_NOT_NULL_MESSAGE(seen, out);
    snprintf(step, sizeof step, "step %ld of ", strtol(strchr(seen, '(') + 6, NULL, 10));
    char *there = strstr(out, step), *end = there ? strstr(there, "\nstep ") : NULL;
    TEST_ASSERT_NOT_NULL_MESSAGE(end, step);
    *end = '\0';
    HAS(there, "    r2 = 0"); /* steps are told by the numbers that they have here */
}

/* How often a part is in a text. */
static int times(const char *whole, const char *part)
{
    int n = 0;
    while ((whole = strstr(whole, part))) {
        n++;
        whole += strlen(part);
    }
    return n;
}

static void a_replay_on_a_terminal_goes_to_and_fro(void)
{
    static const char *const lines[] = { "n",        "back", "last", "print x",
                                         "print zz", "what", "q",    NULL };
    write_source("sb.c", store_buffering);
    TEST_ASSERT_EQUAL(1, at_terminal("exec $ORDEAL explore --flush plain --replay sb.c", "(step) ",
                                     lines, out, sizeof out));
    TEST_ASSERT_EQUAL(2, times(out, "step 1 of"));
    HAS(out, "in memory");
    HAS(out, "x = ");
    HAS(out, "there is no global variable");
}

static void a_picture_is_drawn(void)
{
    write_source("sb.c", store_buffering);
    EXPECT(1, "$EXPLORE --svg p.svg sb.c");
    static char svg[1 << 18];
    slurp("p.svg", svg, sizeof svg);
    TEST_ASSERT_TRUE(svg_nests(svg));
    TEST_ASSERT_FALSE(svg_nests("<svg><g></svg></g>") || svg_nests("<a>&b</a>")
                      || svg_nests("<a>"));
    EXPECT(0, "grep -c 'class=\"store core\"' p.svg");
    TEST_ASSERT_EQUAL_STRING("2\n", out);
    EXPECT(2, "$EXPLORE --svg nowhere/p.svg sb.c");
    HAS(err, "nowhere/p.svg");
}

/* ---- what is refused --------------------------------------------------------------------- */

static void programs_that_cannot_be_run_are_refused_with_a_reason(void)
{
    write_source("bad.c", "int main(void)\n{\n    return oops;\n}\n");
    EXPECT(2, "$EXPLORE bad.c");
    HAS(out, "ERROR bad.c:3:12: use of undeclared identifier 'oops'");
    EXPECT(2, "$EXPLORE --json bad.c");
    HAS(out, "\"line\":3");
    write_source("bad.h", "\nint f(void) { return nothing; }\n");
    write_source("includes.c", "\n#include \"bad.h\"\nint main(void) { return other; }\n");
    EXPECT(2, "$EXPLORE includes.c");
    HAS(out, "ERROR includes.c:2: use of undeclared identifier 'nothing'");
    write_source("stream.cpp", "#include <iostream>\nint main() { std::cout << 1; }\n");
    EXPECT(2, "$EXPLORE stream.cpp");
    HAS(out, "ERROR stream.cpp:1: the run-time has no <iostream>");
    write_source("empty.c", "");
    EXPECT(2, "$EXPLORE empty.c");
    HAS(out, "main");
    write_source("nomain.c", "int x;\n");
    EXPECT(2, "$EXPLORE nomain.c");
    HAS(out, "main");
    write_source("library.c", "#include <unistd.h>\nint main(void) { return fork(); }\n");
    EXPECT(2, "$EXPLORE library.c");
    HAS(out, "fork");
    write_source("short.c", "int h(void);\nint main(void) { return h(); }\n");
    EXPECT(2, "$EXPLORE short.c");
    HAS(out, "short.c:2: main calls h, which the run-time does not have");
    write_source("float.c",
                 "#include <math.h>\nint main(int n, char **v) { (void)v; return sin(n) > 0; }\n");
    EXPECT(2, "$EXPLORE float.c");
    HAS(out, "sin");
    EXPECT(2, "$EXPLORE missing.c");
    HAS(out, "ERROR missing.c: ");
    EXPECT(0, "mkdir directory.c");
    EXPECT(2, "$EXPLORE directory.c");
    HAS(out, "ERROR directory.c: ");
    EXPECT(2, "$EXPLORE directory.c --json");
}

static void what_is_no_ELF_file_for_this_machine_is_refused(void)
{
    EXPECT(2, "$EXPLORE $ORDEAL");
    HAS(out, "ERROR ");
    HAS(out, "another machine");
    write_source("note.txt", "hello\n");
    EXPECT(2, "$EXPLORE note.txt");
    HAS(out, "ERROR note.txt: ");
    write_source("none.elf", "");
    EXPECT(2, "$EXPLORE none.elf");
    HAS(out, "ERROR none.elf: ");
    EXPECT(2, "$EXPLORE missing.elf");
}

static void memory_beyond_measure_is_refused(void)
{
    write_source("large.c", "static char a[2000000000];\nint main(void) { return a[5]; }\n");
    EXPECT(2, "$EXPLORE large.c");
    HAS(out, "ERROR large.c");
    write_source("greedy.c", THREADS "int main(void) { assert(malloc(2000000000)); }\n");
    EXPECT(4, "$EXPLORE greedy.c");
    HAS(out, "allocates more than 1 MB");
    HAS_NOT(out, "next=");
}

/* What a source makes a compiler say is bounded, and so is the work with it: no more than some seconds of
 * a processor for megabytes. */
static void messages_without_end_are_looked_at_once(void)
{
    EXPECT(0, "head -c 150000 /dev/zero >zeros.c");
    EXPECT(2, "ulimit -t 20; $EXPLORE zeros.c 2>said");
    HAS(out, "the program has no main");
    EXPECT(0, "grep -q 'null character' said");
    EXPECT(2, "echo 'int x = oops;' >>zeros.c; ulimit -t 20; $EXPLORE zeros.c 2>said");
    HAS(out, "ERROR zeros.c:1:");
    HAS(out, "undeclared identifier 'oops'");
}

static void an_unreadable_file_is_refused(void)
{
    if (geteuid() == 0)
        TEST_IGNORE_MESSAGE("root reads everything");
    write_source("secret.c", "int main(void) {}\n");
    EXPECT(0, "chmod 000 secret.c");
    EXPECT(2, "$EXPLORE secret.c");
}

static void options_that_do_not_go_together_are_refused_with_what_to_do(void)
{
    static const char *const refused[][2] = {
        { "--model pso --local sd sb.c", "not sound under pso" },
        { "--model pslo --local d sb.c", "use --local s or none" },
        { "--model sc --flush plain sb.c", "--flush is about TSO" },
        { "--model pso --flush delayed sb.c", "--flush is about TSO" },
        { "--model sc --buffers 2 sb.c", "sc has none" },
        { "--buffers 0 sb.c", "unbounded" },
        { "--buffers many sb.c", "unbounded" },
        { "--nondet 3 sb.c", "LOW..HIGH" },
        { "--nondet 3..1 sb.c", "LOW..HIGH" },
        { "--model x sb.c", "sc, tso, pso, pslo" },
        { "--modle sc sb.c", "did you mean" },
        { "--replay --json sb.c", "leave one of them out" },
        { "--all --svg x.svg sb.c", "leave out --all" },
        { "--keep-elf x.elf sb.elf", "--keep-elf is for programs that are compiled" },
        { "-O sb.elf", "is taken as it is" },
        { "sb.c sb.elf", "is taken as it is" },
        { "", "which program?" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        EXPECT(2, "$EXPLORE %s", refused[i][0]);
        HAS(err, refused[i][1]);
    }
}

/* ---- limits ------------------------------------------------------------------------------ */

/* Three threads that count: tens of thousands of states, and with more rounds any number. */
static const char large[] = THREADS
    "#ifndef ROUNDS\n#define ROUNDS 2\n#endif\n"
    "volatile int a, b;\n"
    "static void *work(void *p) { for (int i = 0; i < ROUNDS; i++) { a = a + 1; b = b + 1; } return p; }\n"
    "int main(void)\n"
    "{\n"
    "    pthread_t t, u, v;\n"
    "    pthread_create(&t, 0, work, 0);\n"
    "    pthread_create(&u, 0, work, 0);\n"
    "    pthread_create(&v, 0, work, 0);\n"
    "    pthread_join(t, 0);\n"
    "    pthread_join(u, 0);\n"
    "    pthread_join(v, 0);\n"
    "    assert(a <= 3 * ROUNDS);\n"
    "}\n";

static void limits_leave_it_undecided_and_say_how_to_go_on(void)
{
    write_source("large.c", large);
    EXPECT(4, "$EXPLORE --limit 1000 large.c");
    HAS(out, "UNDECIDED large.c model=tso");
    HAS(out, " why=");
    HAS(out, " next=");
    HAS(out, "--checkpoint FILE");
    EXPECT(4, "$EXPLORE --seconds 0.2 --no-reduction --model pslo -D ROUNDS=9 large.c");
    EXPECT(4, "$EXPLORE --memory 8 --no-reduction --model pslo -D ROUNDS=9 large.c");
    EXPECT(4, "$EXPLORE --json --limit 1000 large.c");
    cJSON *line = cJSON_Parse(out);
    TEST_ASSERT_NOT_NULL(line);
    cJSON_Delete(line);
}

/* How many states the last verdict line has. */
static unsigned long states(void)
{
    const char *at = strstr(out, " states=");
    TEST_ASSERT_NOT_NULL_MESSAGE(at, out);
    return strtoul(at + 8, NULL, 10);
}

static void a_checkpoint_goes_on_where_it_was(void)
{
    write_source("large.c", large);
    EXPECT(0, "$EXPLORE large.c --model sc");
    unsigned long all = states();
    char command[128];
    for (unsigned long limit = all / 4; limit < all; limit += all / 4) {
        snprintf(command, sizeof command, "$EXPLORE --model sc --checkpoint c --limit %lu large.c",
                 limit);
        EXPECT(4, "%s", command);
        HAS(out, "goes on from c");
    }
    EXPECT(0, "$EXPLORE --model sc --checkpoint c large.c");
    TEST_ASSERT_EQUAL(all, states());
    write_source("other.c", THREADS "int main(void) {}\n");
    EXPECT(4, "$EXPLORE --model sc --checkpoint d --limit 100 large.c");
    EXPECT(2, "$EXPLORE --model sc --checkpoint d other.c");
    HAS(out, "ERROR ");
    EXPECT(2, "$EXPLORE --model tso --checkpoint d large.c");
    write_source("junk", "this is no checkpoint\n");
    EXPECT(2, "$EXPLORE --checkpoint junk large.c");
    EXPECT(0, "grep -q 'no checkpoint' junk"); /* and is still what it was */
}

/* Nor does a link beside it lead anywhere, nor is a pipe waited for. */
static void a_checkpoint_is_a_file(void)
{
    write_source("large.c", large);
    write_source("mine", "mine\n");
    EXPECT(4, "ln -s mine c.new; $EXPLORE --model sc --checkpoint c --limit 100 large.c");
    EXPECT(0, "grep -qx mine mine && test -f c && ! ls -A | grep ordeal-tmp && mkfifo pipe");
    EXPECT(2, "timeout 600 $EXPLORE --model sc --checkpoint pipe large.c");
    HAS(out, "a pipe or device is not read");
}

static void a_killed_search_goes_on_from_its_checkpoint(void)
{
    write_source("large.c", large);
    EXPECT(0, "$EXPLORE --model sc --no-reduction large.c");
    unsigned long all = states();
    for (int i = 1; i <= 4; i++)
        sh("timeout -s KILL 0.%d $ORDEAL explore --model sc --no-reduction --checkpoint c large.c",
           2 * i);
    EXPECT(0, "$EXPLORE --model sc --no-reduction --checkpoint c large.c");
    TEST_ASSERT_EQUAL(all, states());
}

static void an_interrupted_search_sums_up(void)
{
    write_source("large.c", large);
    EXPECT(4,
           "$EXPLORE -D ROUNDS=9 --limit 10 --keep-elf large.elf large.c"); /* nothing to compile */
    EXPECT(130,
           "timeout -s INT --preserve-status 2 $ORDEAL explore -m pslo --no-reduction --buffers "
           "unbounded large.elf");
    HAS(out, "UNDECIDED large.elf model=pslo");
    HAS(out, "why=interrupted");
}

int main(void)
{
    char command[4200];
    if (!shell_open())
        return 1;
    snprintf(command, sizeof command, "timeout -k 5 100 %s explore", getenv("ORDEAL"));
    setenv("EXPLORE", command, 1); /* one that does not end is a mistake, and told */
    UNITY_BEGIN();
    RUN_TEST(a_program_passes_or_fails_by_its_model);
    RUN_TEST(a_mistake_on_any_machine_is_not_relaxed);
    RUN_TEST(several_sources_are_one_program);
    RUN_TEST(every_kind_of_error_is_told);
    RUN_TEST(a_store_that_comes_too_late_is_told);
    RUN_TEST(a_deadlock_says_who_waits_for_what);
    RUN_TEST(all_errors_are_told_once_each);
    RUN_TEST(assumptions_end_executions);
    RUN_TEST(an_assumption_that_fails_takes_nothing_back);
    RUN_TEST(a_thread_is_met_in_a_critical_section_that_a_fence_is_before);
    RUN_TEST(a_section_without_an_end_shows_nothing);
    RUN_TEST(text_is_formatted_in_every_order);
    RUN_TEST(sections_of_verification_programs_are_atomic);
    RUN_TEST(a_thread_made_in_a_section_begins_behind_it);
    RUN_TEST(a_section_may_be_what_a_thread_ends_in);
    RUN_TEST(what_another_compiler_preprocessed_is_understood);
    RUN_TEST(outcomes_are_all_final_values);
    RUN_TEST(a_trace_passes_its_model_and_fails_SC);
    RUN_TEST(JSON_is_valid_and_the_same_each_time);
    RUN_TEST(a_replay_shows_every_step_with_buffers_and_memory);
    RUN_TEST(a_replay_on_a_terminal_goes_to_and_fro);
    RUN_TEST(a_picture_is_drawn);
    RUN_TEST(programs_that_cannot_be_run_are_refused_with_a_reason);
    RUN_TEST(what_is_no_ELF_file_for_this_machine_is_refused);
    RUN_TEST(memory_beyond_measure_is_refused);
    RUN_TEST(messages_without_end_are_looked_at_once);
    RUN_TEST(an_unreadable_file_is_refused);
    RUN_TEST(options_that_do_not_go_together_are_refused_with_what_to_do);
    RUN_TEST(limits_leave_it_undecided_and_say_how_to_go_on);
    RUN_TEST(a_checkpoint_goes_on_where_it_was);
    RUN_TEST(a_checkpoint_is_a_file);
    RUN_TEST(a_killed_search_goes_on_from_its_checkpoint);
    RUN_TEST(an_interrupted_search_sums_up);
    return UNITY_END();
}
