/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal litmus` on critical cycles of two to four threads, in memory: each thread has two
 * accesses with something between them, and each communicates with the next by Rf, Fr or Co.
 * Time is that of the processor, by test; herd7 takes 52 ms a test for the public ones, of which
 * a twentieth is asked for. */
#include "bench.h"

#include <string.h>
#include <time.h>

#include "litmus/litmus_run.h"

enum { THREADS = 4 };
enum communication { RF, FR, CO };

/* What stands between the accesses of a thread, or is about them. */
/* clang-format off */
static const struct edge {
    const char *between;
    bool reads, writes; /* wants a read first, a write second */
    enum { PLAIN, ADDRESS, DATA, CONTROL, ACQUIRE, RELEASE, ATOMIC } what;
} edges[] = {
    { "", false, false, PLAIN },           { "fence rw,rw", false, false, PLAIN },
    { "fence.tso", false, false, PLAIN },  { "", true, false, ADDRESS },
    { "", true, true, DATA },              { "", true, true, CONTROL },
    { "", true, false, ACQUIRE },          { "", false, true, RELEASE },
    { "", false, false, ATOMIC },
};
/* clang-format on */
enum { EDGES = sizeof edges / sizeof *edges };

struct cycle {
    unsigned threads;
    enum communication to[THREADS]; /* the second access of a thread, and the first of the next */
    const struct edge *edge[THREADS];
};

static bool reads_first(const struct cycle *c, unsigned t)
{
    return c->to[(t + c->threads - 1) % c->threads] == RF;
}
static bool reads_second(const struct cycle *c, unsigned t) { return c->to[t] == FR; }

static bool fits(const struct cycle *c, unsigned t)
{
    const struct edge *e = c->edge[t];
    return (!e->reads || reads_first(c, t)) && (!e->writes || !reads_second(c, t));
}

/* x5, x6: addresses; x10, x11: what is read. */
static void write_access(const struct cycle *c, unsigned t, bool second, FILE *f)
{
    const struct edge *e = c->edge[t];
    bool reads = second ? reads_second(c, t) : reads_first(c, t), atomic = e->what == ATOMIC;
    unsigned result = second ? 11 : 10, address = second ? (e->what == ADDRESS ? 8 : 6) : 5;
    bool later = !second && c->to[(t + c->threads - 1) % c->threads] == CO;
    const char *mark = !second && e->what == ACQUIRE ? ".aq"
                     : second && e->what == RELEASE  ? ".rl"
                                                     : "";
    if (reads && atomic)
        fprintf(f, "amoor.w.aq x%u,x0,(x%u)", result, address);
    else if (reads)
        fprintf(f, "lw%s x%u,0(x%u)", mark, result, address);
    else if (atomic)
        fprintf(f, "amoswap.w.rl x0,x%u,(x%u)", later ? 13 : 12, address);
    else
        fprintf(f, "sw%s x%u,0(x%u)", mark,
                second && e->what == DATA ? 8
                : later                   ? 13
                                          : 12,
                address);
}

static void write_cell(const struct cycle *c, unsigned t, unsigned row, FILE *f)
{
    const struct edge *e = c->edge[t];
    if (row == 0 || row == 3)
        write_access(c, t, row == 3, f);
    else if (row == 1)
        fputs(e->what == ADDRESS || e->what == DATA ? "xor x7,x10,x10"
              : e->what == CONTROL                  ? "bne x10,x0,L"
                                                    : e->between,
              f);
    else
        fputs(e->what == ADDRESS   ? "add x8,x6,x7"
              : e->what == DATA    ? "ori x8,x7,1"
              : e->what == CONTROL ? "L:"
                                   : "",
              f);
}

static void write_condition(const struct cycle *c, FILE *f)
{
    fputs("exists (true", f);
    for (unsigned t = 0; t < c->threads; t++) {
        unsigned next = (t + 1) % c->threads;
        if (c->to[t] == RF)
            fprintf(f, " /\\ %u:x10=1", next);
        else if (c->to[t] == FR)
            fprintf(f, " /\\ %u:x11=0", t);
        else
            fprintf(f, " /\\ v%u=2", next);
    }
    fputs(")\n", f);
}

static void write_cycle(const struct cycle *c, FILE *f)
{
    fputs("RISCV cycle\n{\n", f);
    for (unsigned t = 0; t < c->threads; t++)
        fprintf(f, "%u:x5=v%u; %u:x6=v%u; %u:x12=1; %u:x13=2;\n", t, t, t, (t + 1) % c->threads, t,
                t);
    fputs("}\n", f);
    for (unsigned t = 0; t < c->threads; t++)
        fprintf(f, " P%u %s", t, t + 1 < c->threads ? "|" : ";\n");
    for (unsigned row = 0; row < 4; row++)
        for (unsigned t = 0; t < c->threads; t++) {
            write_cell(c, t, row, f);
            fputs(t + 1 < c->threads ? " | " : " ;\n", f);
        }
    write_condition(c, f);
}

struct sums {
    uint64_t tests, forbidden, states, checks, failed;
    double seconds, slowest;
};

static void run_cycle(const struct cycle *c, struct sums *s)
{
    static const struct litmus_run_options how = { .model = ORDEAL_RVWMO,
                                                   .threads = { .unroll = 2, .most = 1 << 20 } };
    char text[4096] = "";
    struct litmus test;
    struct litmus_result result = { 0 };
    struct ordeal_error e;
    FILE *f = fmemopen(text, sizeof text, "w");
    write_cycle(c, f);
    fclose(f);
    clock_t start = clock();
    struct ordeal *o = ordeal_new(NULL);
    bool fine = litmus_read(&test, text, strlen(text), "cycle", &e)
             && litmus_run(&test, &how, "cycle", o, &result, &e);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    s->tests++;
    s->failed += !fine;
    s->forbidden += result.positive == 0;
    s->states += result.state.count;
    s->checks += result.checks;
    s->seconds += seconds;
    s->slowest = seconds > s->slowest ? seconds : s->slowest;
    litmus_result_free(&result);
    litmus_free(&test);
    ordeal_free(o);
}

/* All edges of all threads; of four threads the same in all, where it fits. */
static void each_edge(struct cycle *c, unsigned t, struct sums *s)
{
    if (t == c->threads) {
        run_cycle(c, s);
        return;
    }
    for (int e = 0; e < EDGES; e++) {
        c->edge[t] = &edges[e];
        if (t && c->threads > 2 && c->edge[t] != c->edge[0] && e)
            continue;
        if (fits(c, t))
            each_edge(c, t + 1, s);
    }
}

static void each_communication(struct cycle *c, unsigned t, struct sums *s)
{
    for (int k = 0; t < c->threads && k < 3; k++) {
        c->to[t] = (enum communication)k;
        each_communication(c, t + 1, s);
    }
    if (t == c->threads)
        each_edge(c, 0, s);
}

void table_litmus(struct bench *b)
{
    for (unsigned threads = 2; threads <= (b->quick ? 3 : THREADS); threads++) {
        struct cycle c = { .threads = threads };
        struct sums s = { 0 };
        each_communication(&c, 0, &s);
        cJSON *row = row_new();
        double tests = (double)s.tests;
        row_number(row, "threads", threads);
        row_number(row, "tests", tests);
        row_number(row, "forbidden", (double)s.forbidden);
        row_number(row, "refused", (double)s.failed);
        row_number(row, "states/test", (double)s.states / tests);
        row_number(row, "checks/test", (double)s.checks / tests);
        row_number(row, "ms/test", 1000 * s.seconds / tests);
        row_number(row, "slowest ms", 1000 * s.slowest);
        row_target(row, "within 2.6 ms a test", 1000 * s.seconds / tests <= 2.6 && !s.failed);
        row_end(&b->report, row);
    }
}
