/* SPDX-License-Identifier: Apache-2.0 */
/* Every call can fail. Each command is run with the first allocation failing, then with the second,
 * and so on; the same with writes, reads, files that are opened, renames, fsync, mmap, threads and
 * processes, wherever they are called from, in libraries, too. Whichever it is: no crash, no
 * standstill, no other verdict, nothing said to be saved that is not whole, nothing left behind, and
 * nothing missing that was not complained of.
 *
 * Libraries that end the program instead of returning an error, and what contains them: CaDiCaL, which throws
 * (checker/solver.cpp); Verilator, likewise (sim/soc.cpp); Graphviz with Pango and GLib, which crash or abort
 * (host/base/apart.h); cJSON and open_memstream() of glibc, which lose something (host/base/json.h, text.h).
 * libdw ends the program, too, which program/image_debug.c turns into an error; where it has no memory for a
 * table of abbreviations it crashes, and nothing contains that yet.
 * Of the programs that ordeal starts, it is looked at itself, as a worker of a regression or to run a test
 * again; compilers and simulators are not.
 *
 * Of many calls a sample; FAULTS=all in the environment takes more (`make faults`). The list of what
 * was tried goes to standard output. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>

#include "base/command.h"
#include "fault_run.h"
#include "http_client.h"
#include "regress_db.h"
#include "shell.h"

static bool all;
static uint32_t complaints;

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

/* ---- commands -------------------------------------------------------------------------------- */

struct job {
    const char *name, *words;
    const char *makes;                /* a file or folder that must not be there before; "" none */
    uint32_t sample;                  /* calls of a kind in a short test */
    bool varies;                      /* what it prints is not always the same */
    void (*ask)(struct fault_run *r); /* of a server */
    const char
        *then; /* what the same command without a fault ends with behind one; NULL: no matter */
};

static void ask_server(struct fault_run *r);

#define CYCLE "sb.c:4,sb.c:4,sb.c:6,sb.c:6"

static const struct job jobs[] = {
    { "check", "check bad.trace good.trace", "", 40, .varies = false },
    { "check small", "check --model SC small.trace", "", 20, .varies = false },
    { "check json", "check --json bad.trace", "", 10, .varies = false },
    { "witness", "check --witness w.proof bad.trace", "w.proof", 20, .varies = false },
    { "show", "show bad.trace", "", 20, .varies = false },
    { "show svg", "show --svg p.svg bad.trace", "p.svg", 4, .varies = false },
    { "convert", "convert --to binary -z -o o.otr good.trace", "o.otr", 30, .varies = false },
    { "gen", "gen -n 3 -o g.test", "g.test", 30, .varies = false },
    { "run model", "run --target model --count 3 --check --cover c.cover -o m.trace", "m.trace", 20,
      .varies = false },
    { "run json", "run --target model --count 2 --check --json", "", 10, .varies = false },
    { "run native", "run --target native --count 2 --iterations 20 --check", "", 10,
      .varies = true },
    { "run sim", "run --target sim --sizes usual --count 1 --check --jobs 1", "", 6,
      .varies = true },
    { "keep",
      "run --target model --bug forward-oldest --bias plain.bias --count 3 --check --stop-after 1 "
      "--shrink --save kept",
      "kept", 4, .varies = false },
    { "cover", "cover k.cover", "", 120, .varies = false },
    { "cover json", "cover --json --missing exec.shape k.cover", "", 10, .varies = false },
    { "tune", "tune --target model --tests 20 -o t", "t", 4, .varies = true },
    { "report", "report held -o r", "r", 2, .varies = true },
    { "report database", "report a.db -o s", "s", 4, .varies = true },
    { "clean", "clean .", "", 10, .varies = false },
    { "waves", "show --waves waved", "waved/waves.fst", 2, .varies = true },
    { "run elf", "run --target elf --machine qemu --count 1 --iterations 1 --check", "", 2,
      .varies = true },
    { "regress", "regress p.plan --db p --jobs 1 --junit x.xml", "p", 2, .varies = true,
      .then = " tests=2 pass=0 fail=2 undecided=0 " },
    { "serve", "serve held", "", 4, .varies = true, .ask = ask_server },
    { "board", "board list", "", 30, .varies = false },
    { "explore", "explore --model tso --jobs 1 --trace e.trace --checkpoint e.state sb.c",
      "e.trace", 3, .varies = true },
    { "explore elf", "explore --model sc --jobs 1 --svg e.svg sb.elf", "", 10, .varies = true },
    { "monitor", "monitor --trace n.trace sb.elf", "n.trace", 4, .varies = false },
    { "monitor trace", "monitor --json sc.trace", "", 6, .varies = false },
    { "relax",
      "relax --model tso --runs 5 --repeat 5 --cycle " CYCLE " --trial 1 --trace r.trace sb.elf",
      "r.trace", 4, .varies = false },
    { "relax all", "relax --model pso --runs 5 --trials 2 --repeat 5 --length 6 --traces . sb.elf",
      "", 3, .varies = false },
    { "fence", "fence --model tso sb.elf", "", 6, .varies = false },
    { "fence apply", "fence --model tso --apply f.c sb.c", "f.c", 1, .varies = true },
    { "run program",
      "run --target sim --program bad.elf --sizes usual --count 1 --jobs 1 --save kept", "kept", 3,
      .varies = true },
};
enum { JOBS = sizeof jobs / sizeof *jobs };

static void prepare(void)
{
    EXPECT(0, PLAIN_BIAS);
    EXPECT(1,
           "$ORDEAL run --target model --bug forward-oldest --bias plain.bias --count 1 --no-save "
           "--check -o bad.trace");
    EXPECT(0, "printf 'ordeal 1\\nP1 S[A]#1\\nP1 L[B]=0\\nP2 S[B]#2\\nP2 L[A]=0\\n' >small.trace");
    EXPECT(0, "$ORDEAL run --target model --seed 5 --count 1 -o good.trace");
    EXPECT(0, "$ORDEAL run --target model --count 2 --check --cover k.cover");
    EXPECT(
        1,
        "$ORDEAL run --target model --bug forward-oldest --bias plain.bias --count 1 --check --save held");
    EXPECT(0, PLAIN_PLAN);
    EXPECT(0, "printf '#include <assert.h>\\n#include <pthread.h>\\nint x, y;\\n"
              "void *t(void *p) { y = 1; return x ? p : 0; }\\nint main(void) { pthread_t a;\\n"
              "pthread_create(&a, 0, t, &x); x = 1; int r = y; void *q; pthread_join(a, &q);\\n"
              "assert(r || q); }\\n' >sb.c");
    EXPECT(0, "$ORDEAL explore --model sc --keep-elf sb.elf sb.c");
    EXPECT(1, "$ORDEAL explore --model tso sb.c");
    EXPECT(0, "sed 's/x = 1;/& while (!y) ;/; s/assert(.*)/assert(!r)/' sb.c >bad.c");
    EXPECT(1, "$ORDEAL run --target sim --program bad.c --sizes usual --count 1 --save bad");
    EXPECT(0, "mv bad/bad-000000/program.elf bad.elf");
    EXPECT(0, "printf 'ordeal 1\nP1 S[A]#1\nP1 L[B]=0\nP2 S[B]#2\nP2 L[A]=1\n' >sc.trace");
    EXPECT(1, "$ORDEAL run --target sim --sizes h1-s1-w1-l4-b1-q1 --set threads=1 "
              "--set operations.interrupt=0 --bug victim-dropped --count 300 --stop-after 1 "
              "--check --save waves; status=$?; mv waves/* waved; exit $status");
    regress_db_make("a.db",
                    &(struct regress_db_plan){ .when = 1794000000, .units = 2, .causes = 1 });
}

static void remove_made(const struct job *j)
{
    char command[128];
    snprintf(command, sizeof command,
             "rm -rf c.cover x.xml p-files e.state n-tso.trace pso-*.trace %s", j->makes);
    TEST_ASSERT_EQUAL(0, system(command));
}

/* ---- what may come of it --------------------------------------------------------------------- */

/* How long it took and what it needed is never the same. */
static void strip(char *text)
{
    static const char *const vary[] = { "seconds=",          "memory_mb=",        "ops_per_second=",
                                        "running_percent=",  "seconds\":",        "memory_mb\":",
                                        "ops_per_second\":", "running_percent\":" };
    for (size_t i = 0; i < sizeof vary / sizeof *vary; i++)
        for (char *at = text; (at = strstr(at, vary[i]));) {
            at += strlen(vary[i]);
            memmove(at, at + strspn(at, "0123456789.e+-"),
                    strlen(at + strspn(at, "0123456789.e+-")) + 1);
        }
}

static bool is_file(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    bool something = f && fgetc(f) != EOF;
    if (f)
        fclose(f);
    return something;
}

/* What a line says was saved is there. */
static const char *look_at_saved(const struct job *j, const char *text)
{
    static const char *const names[] = { "seed",         "trace.trace",     "verdict.txt",
                                         "verdict.json", "explanation.txt", "replay" };
    static const char *const small[] = { "small/test.test", "small/trace.trace",
                                         "small/verdict.txt" };
    const char *at = strstr(text, "saved=");
    char folder[256];
    if (!at)
        return NULL;
    snprintf(folder, sizeof folder, "%.*s", (int)strcspn(at + 6, " \n"), at + 6);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!is_file(folder, names[i]))
            return "not all is there that is said to be saved";
    if (!is_file(folder, strstr(j->words, "--program") ? "program.elf" : "test.test"))
        return "what was run is not there, which is said to be saved";
    for (size_t i = 0; strstr(at, "small=") && i < sizeof small / sizeof *small; i++)
        if (!is_file(folder, small[i]))
            return "the small test is not there that is said to be saved";
    return NULL;
}

static const char *look_for_leavings(const char *directory)
{
    DIR *d = opendir(directory);
    const char *found = NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if (strstr(e->d_name, ".ordeal-tmp-"))
            found = "something temporary was left";
    if (d)
        closedir(d);
    return found;
}

/* The file that it makes: none, or as it should be. When the target failed it has what was run before that;
 * a picture may be drawn with other letters, of which Graphviz warns, and of a program another execution be
 * written, which is told. */
static const char *look_at_made(const struct job *j, const struct fault_run *r)
{
    char command[128];
    if (!strchr(j->makes, '.') || j->varies || access(j->makes, F_OK) != 0)
        return NULL;
    const char *whole = strncmp(j->words, "monitor", 7) == 0
                          ? "m=%s; cmp -s $m whole || $ORDEAL check --model SC $m >/dev/null"
                      : strstr(j->makes, ".svg") ? "tail -n 1 %s | grep -q '^</svg>'"
                      : r->status == EXIT_TARGET ? "m=%s; cmp -s -n $(stat -c %%s $m) $m whole"
                                                 : "cmp -s %s whole";
    snprintf(command, sizeof command, whole, j->makes);
    return system(command) == 0 ? NULL : "the file is there and not whole";
}

static bool is_told(const struct fault_run *r, const struct fault_run *usual)
{
    return strcmp(r->err, usual->err) != 0 || strstr(r->out, "ERROR") || strstr(r->out, "UNDECIDED")
        || strstr(r->out, "LOST") || strstr(r->out, "INCIDENT")
        || strstr(r->out, "memory ran out: ") || strstr(r->out, "could be tried: ")
        || strstr(r->out, "could not be read: ");
}

/* What a regression has lost it runs again, unless two workers came to grief with it, which it told. */
static const char *look_at_next(const struct job *j, const struct fault_run *r)
{
    static struct fault_run next;
    next = (struct fault_run){ .words = j->words };
    if (!j->then || strstr(r->out, " skipped="))
        return NULL;
    fault_run(&next);
    return strstr(next.out, j->then) ? NULL : "the same command does not bring it to its end";
}

/* ---- a server ---------------------------------------------------------------------------------- */

static void hear(struct fault_run *r, const char *what, char *answer)
{
    size_t used = strlen(r->heard);
    const char *verdict = strstr(answer, "\"verdict\":\"");
    snprintf(r->heard + used, sizeof r->heard - used, "%s %u%.16s\n", what, http_status(answer),
             verdict ? verdict : "");
    free(answer);
}

static char *request(unsigned port, const char *format, ...) __attribute__((format(printf, 2, 3)));
static char *request(unsigned port, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return http_exchange(port, text, (size_t)size);
}

/* A page, and whether something is allowed that is not. */
static void ask_server(struct fault_run *r)
{
    static const char question[] = "{\"model\":\"SC\",\"edits\":[],\"trace\":\"ordeal 1\\n"
                                   "P1 S[A]#1\\nP1 L[B]=0\\nP2 S[B]#2\\nP2 L[A]=0\\n\"}";
    unsigned port;
    char token[40];
    FILE *from = fopen("fault.out", "r");
    int found = from ? fscanf(from, "SERVE http://127.0.0.1:%u/%32[0-9a-f]/", &port, token) : 0;
    if (from)
        fclose(from);
    if (found != 2)
        return;
    hear(r, "page", request(port, "GET /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", token, port));
    hear(
        r, "answer",
        request(port,
                "POST /%s/what-if HTTP/1.1\r\nHost: localhost:%u\r\nOrigin: http://localhost:%u\r\n"
                "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                token, port, port, sizeof question - 1, question));
}

/* Where it has no memory for a table. Nothing was told before: names are read before what is found. */
static bool is_of_libdw(const struct job *j, const struct fault_run *r)
{
    static const char *const commands[] = { "explore", "monitor", "relax", "fence", "run program" };
    bool reads = false;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        reads |= strncmp(j->name, commands[i], strlen(commands[i])) == 0;
    return reads && r->kind == FAULT_ALLOCATE && !*r->out
        && (r->status == 128 + SIGSEGV
            || (r->status == 128 + SIGABRT && strstr(r->err, "dynamicsizehash_concurrent.c")));
}

/* NULL: all is well, or nobody can help it: variables of a thread in a library that was loaded later, such
 * as a model, are made by libc when they are first used, and it ends the program where they cannot be. */
static const char *judge(const struct job *j, const struct fault_run *r,
                         const struct fault_run *usual)
{
    const char *complaint = NULL;
    if (r->status < 0)
        return "it did not end";
    if (strstr(r->err, "cannot allocate memory for thread-local data")) /* libc's own end */
        return NULL;
    if (is_of_libdw(j, r))
        return NULL;
    if (r->status > 4)
        return r->status > 128 ? "it crashed" : "a defect of the program";
    if (r->status != usual->status && r->status < 2)
        return "another verdict";
    if (r->status != usual->status && !is_told(r, usual) && r->kind != FAULT_WRITE)
        return "it ended otherwise and did not say why";
    if (r->status == usual->status && !is_told(r, usual) && !j->varies
        && strcmp(r->out, usual->out) != 0)
        return "something is missing and was not complained of";
    if (r->status == 0 && usual->status == 0 && !is_told(r, usual) && *j->makes
        && access(j->makes, F_OK) != 0)
        return "all is said to be well, and what it makes is not there";
    bool tidy = !r->onwards || (r->kind != FAULT_OPEN && r->kind != FAULT_ALLOCATE);
    if (strstr(r->heard, "PASS"))
        return "another verdict was answered";
    if ((complaint = look_at_saved(j, r->out)) || (complaint = look_at_made(j, r))
        || (complaint = look_at_next(j, r)))
        return complaint;
    if (tidy && ((complaint = look_for_leavings(".")) || (complaint = look_for_leavings("kept"))))
        return complaint; /* what is in a folder can only be removed by who can open it */
    return NULL;
}

/* ---- all of them ------------------------------------------------------------------------------ */

struct tally {
    uint32_t tried, unharmed, told, ended;
};

static void try_call(const struct job *j, const struct fault_run *usual, enum fault_kind kind,
                     uint64_t at, bool onwards, struct tally *t)
{
    static struct fault_run r;
    r = (struct fault_run){
        .words = j->words, .kind = kind, .at = at, .onwards = onwards, .ask = j->ask
    };
    remove_made(j);
    fault_run(&r);
    strip(r.out);
    if (!r.failed)
        return; /* with threads there are not always as many */
    t->tried++;
    t->unharmed += r.status == usual->status && !is_told(&r, usual);
    t->told += r.status == usual->status && is_told(&r, usual);
    t->ended += r.status != usual->status;
    const char *complaint = judge(j, &r, usual);
    if (!complaint)
        return;
    complaints++;
    printf("%s, %s %llu%s: %s (status %d)\nout: %.300s\nerr: %.300s\n", j->name, fault_names[kind],
           (unsigned long long)at, onwards ? " and on" : "", complaint, r.status, r.out, r.err);
}

/* The first ones, where most is opened and made ready, the last ones, where it is told what came of it, and
 * some of those between. */
static bool is_chosen(const struct job *j, uint64_t at, uint64_t calls)
{
    uint64_t first = all ? 300 : j->sample, last = all ? 100 : j->sample;
    uint64_t between = all ? 200 : j->sample;
    return at <= first || at + last > calls || at % (calls / between + 1) == 0;
}

static void try_calls(const struct job *j, const struct fault_run *usual, enum fault_kind kind)
{
    uint64_t calls = usual->seen[kind];
    struct tally t = { 0 };
    for (uint64_t at = 1; at <= calls; at++)
        if (is_chosen(j, at, calls))
            try_call(j, usual, kind, at, false, &t);
    uint64_t ends = all ? 20 : j->sample > 4 ? 2 : 0; /* some libraries must be waited for */
    for (uint64_t i = 0; calls && i < ends; i++)
        try_call(j, usual, kind, 1 + (calls - 1) * i / ends, true, &t);
    if (calls)
        printf(
            "%-12s %-9s %7llu calls, %4u times one failed, or all from one on: %4u ended it, %4u told, "
            "%4u unharmed\n",
            j->name, fault_names[kind], (unsigned long long)calls, t.tried, t.ended, t.told,
            t.unharmed);
    fflush(stdout);
}

static void try_job(const struct job *j)
{
    static struct fault_run usual;
    char command[128];
    usual = (struct fault_run){ .words = j->words, .ask = j->ask };
    remove_made(j);
    fault_run(&usual);
    strip(usual.out);
    TEST_ASSERT_TRUE_MESSAGE(usual.status == 0 || usual.status == 1, usual.err);
    if (j->ask)
        TEST_ASSERT_EQUAL_STRING("page 200\nanswer 200\"verdict\":\"FAIL\"\n", usual.heard);
    snprintf(command, sizeof command, "cp %s whole 2>/dev/null || true",
             *j->makes ? j->makes : "bad.trace");
    TEST_ASSERT_EQUAL(0, system(command));
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        try_calls(j, &usual, (enum fault_kind)kind);
}

static void test_calls_that_fail(void)
{
    const char *only = getenv("FAULTS_OF");
    if (!fault_possible())
        TEST_IGNORE_MESSAGE("allocations are the sanitizers'");
    prepare();
    for (int i = 0; i < JOBS; i++)
        if (!only || strcmp(only, jobs[i].name) == 0)
            try_job(&jobs[i]);
    TEST_ASSERT_EQUAL_MESSAGE(0, complaints, "see above");
}

int main(void)
{
    const char *wanted = getenv("FAULTS");
    all = wanted && strcmp(wanted, "all") == 0;
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_calls_that_fail);
    return UNITY_END();
}
