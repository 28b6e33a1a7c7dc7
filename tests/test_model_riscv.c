/* SPDX-License-Identifier: Apache-2.0 */
/* The machines of RVWMO and RVTSO show every outcome that the checker allows, and no other: on the
 * shapes of two and three threads with every fence, mark and dependence, and on random programs.
 *
 * test_model_riscv [--count N] [--seed S]: N random programs from seed S on. */
#include "targets/target.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "checking.h"
#include "test/kinds.h"
#include "unity.h"

enum { LEAST_RUNS = 400, MOST_RUNS = 3000000, MOST_WORDS = 16, MOST_OUTCOMES = 1025 };

static uint64_t first_seed = 1, count = 150;

static struct ordeal *o;
static void *machine;
static struct ordeal_trace *test;
static struct program p;
static char text[2048];

void setUp(void) { o = ordeal_new(NULL); }

static void close_all(void)
{
    target_model.close(machine);
    program_free(&p);
    ordeal_trace_free(test);
    machine = NULL;
    p = (struct program){ 0 };
    test = NULL;
}

void tearDown(void)
{
    close_all();
    ordeal_free(o);
}

/* ---- what the model allows ------------------------------------------------------------------ */

struct outcome {
    uint64_t word[MOST_WORDS];
    bool allowed, seen;
};
static struct outcome outcomes[MOST_OUTCOMES];
static uint32_t outcome_count, words;

/* What the word of an outcome may be: the values of its word of memory. */
struct possible {
    uint64_t value[MOST_WORDS];
    uint32_t count;
};
static struct possible possible[MOST_WORDS];

static void note(struct possible *what, uint64_t value)
{
    for (uint32_t k = 0; k < what->count; k++)
        if (what->value[k] == value)
            return;
    TEST_ASSERT_LESS_THAN_UINT32(MOST_WORDS, what->count);
    what->value[what->count++] = value;
}

static void note_written(struct possible *what, uint32_t line)
{
    for (uint32_t t = 0; t < p.threads; t++)
        for (uint32_t k = 0; k < p.thread[t].length; k++)
            if (kind_writes(p.thread[t].code[k].kind) && p.thread[t].code[k].line == line)
                note(what, p.thread[t].code[k].write);
}

static bool is_stored(uint32_t line)
{
    for (uint32_t t = 0; t < p.threads; t++)
        for (uint32_t k = 0; k < p.thread[t].length; k++) {
            const struct instruction *i = &p.thread[t].code[k];
            if (i->line == line && (i->kind == ORDEAL_STORE || i->kind == ORDEAL_SWAP))
                return true;
        }
    return false;
}

/* Of a program without loops and AMOs whose accesses are words of a name each. */
static void find_possible(void)
{
    words = 0;
    memset(possible, 0, sizeof possible);
    for (uint32_t t = 0; t < p.threads; t++)
        for (uint32_t k = 0; k < p.thread[t].length; k++) {
            const struct instruction *i = &p.thread[t].code[k];
            if (!i->observed)
                continue;
            struct possible *what = &possible[words++];
            note(what, 0);
            if (i->kind == ORDEAL_STORE_CONDITIONAL)
                note(what, 1);
            else
                note_written(what, i->line);
        }
    TEST_ASSERT_EQUAL(p.slots, words);
    for (uint32_t k = 0; k < p.finals; k++, words++) {
        if (!is_stored(p.final[k].line))
            note(&possible[words], 0);
        note_written(&possible[words], p.final[k].line);
    }
    TEST_ASSERT_LESS_OR_EQUAL_UINT32(MOST_WORDS, words);
}

static bool is_allowed(const uint64_t *values)
{
    struct machine_claims claims = target_model.claims(machine);
    struct ordeal_options options = { .model = claims.model, .no_core = true };
    struct ordeal_trace *trace;
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, program_trace(&p, 0, values, &claims, o, &trace), text);
    struct ordeal_verdict *v = check_trace(o, trace, &options);
    bool passes = ordeal_verdict_result(v) == ORDEAL_PASS;
    ordeal_verdict_free(v);
    ordeal_trace_free(trace);
    return passes;
}

static void enumerate(void)
{
    uint32_t at[MOST_WORDS] = { 0 };
    find_possible();
    outcome_count = 0;
    for (uint32_t k = 0; k < words;) {
        struct outcome *x = &outcomes[outcome_count++];
        TEST_ASSERT_LESS_THAN_UINT32_MESSAGE(MOST_OUTCOMES, outcome_count, text);
        *x = (struct outcome){ .allowed = false };
        for (uint32_t n = 0; n < words; n++)
            x->word[n] = possible[n].value[at[n]];
        x->allowed = is_allowed(x->word);
        for (k = 0; k < words && ++at[k] == possible[k].count; k++)
            at[k] = 0;
    }
}

/* ---- what the machine shows ----------------------------------------------------------------- */

static char *told(const uint64_t *values)
{
    static char line[256];
    int length = 0;
    for (uint32_t k = 0; k < words; k++)
        length += snprintf(line + length, sizeof line - (size_t)length, " %" PRIu64, values[k]);
    return line;
}

static bool look(void *user, uint64_t iteration, const uint64_t *values)
{
    char about[2400];
    struct outcome *x = outcomes;
    (void)iteration;
    while (x < outcomes + outcome_count && memcmp(x->word, values, words * sizeof *values) != 0)
        x++;
    snprintf(about, sizeof about, "%s\nshown, but forbidden:%s", text, told(values));
    TEST_ASSERT_TRUE_MESSAGE(x < outcomes + outcome_count && x->allowed, about);
    *(uint32_t *)user -= !x->seen;
    x->seen = true;
    return true;
}

static bool all_seen(enum ordeal_model model)
{
    struct why why;
    uint32_t left = 0;
    struct target_sink sink = { look, &left };
    for (uint32_t k = 0; k < outcome_count; k++)
        left += outcomes[k].allowed;
    TEST_ASSERT_GREATER_THAN_UINT32_MESSAGE(0, left, text);
    for (uint64_t i = 0; i < MOST_RUNS && (left || i < LEAST_RUNS); i += LEAST_RUNS)
        TEST_ASSERT_EQUAL(TARGET_DONE, target_model.run(machine, &p, i, LEAST_RUNS, &sink, &why));
    for (uint32_t k = 0; left && k < outcome_count; k++)
        if (outcomes[k].allowed && !outcomes[k].seen)
            printf("%s\n%s\nallowed, but not shown:%s\n", ordeal_model_name(model), text,
                   told(outcomes[k].word));
    return left == 0;
}

static void open_test(enum ordeal_model model, const char *bug)
{
    struct ordeal_error e;
    struct why why;
    struct target_options options = {
        .model = model, .model_given = true, .seed = 1, .timeout = 60, .bug = bug
    };
    close_all();
    TEST_ASSERT_TRUE_MESSAGE(target_model.open(&options, &machine, &why), why.text);
    test = trace_of_lines(o, text);
    TEST_ASSERT_TRUE_MESSAGE(program_compile(&p, test, "test", &e), e.reason);
}

/* Not so many that they take long. */
static bool is_small(void)
{
    uint64_t all = 1;
    open_test(ORDEAL_RVWMO, NULL);
    find_possible();
    for (uint32_t k = 0; k < words && all < MOST_OUTCOMES; k++)
        all *= possible[k].count;
    return all < MOST_OUTCOMES;
}

static bool matches(enum ordeal_model model)
{
    open_test(model, NULL);
    enumerate();
    return all_seen(model);
}

/* ---- shapes --------------------------------------------------------------------------------- */

/* What stands between two accesses of a thread. */
static const struct link {
    const char *fence, *first, *second, *dependence;
    bool from_load, to_store;
} links[] = {
    { "", "", "", "", false, false },
    { "MEMBAR rw,rw", "", "", "", false, false },
    { "MEMBAR r,r", "", "", "", false, false },
    { "MEMBAR r,w", "", "", "", false, false },
    { "MEMBAR w,r", "", "", "", false, false },
    { "MEMBAR w,w", "", "", "", false, false },
    { "MEMBAR r,rw", "", "", "", false, false },
    { "MEMBAR rw,w", "", "", "", false, false },
    { "MEMBAR.tso", "", "", "", false, false },
    { "", ".aq", "", "", false, false },
    { "", "", ".rl", "", false, false },
    { "", ".aqrl", ".aqrl", "", false, false },
    { "", ".rl", ".aq", "", false, false },
    { "", "", "", " <addr:r1", true, false },
    { "", "", "", " <data:r1", true, true },
    { "", "", "", " <ctrl:r1", true, false },
};
enum { LINKS = sizeof links / sizeof *links };

/* An access: R or W, and where. */
static const struct shape {
    const char *name, *thread[4];
} shapes[] = {
    { "MP", { "WxWy", "RyRx" } },
    { "SB", { "WxRy", "WyRx" } },
    { "LB", { "RxWy", "RyWx" } },
    { "S", { "WxWy", "RyWx" } },
    { "R", { "WxWy", "WyRx" } },
    { "2+2W", { "WxWy", "WyWx" } },
    { "CoRR", { "Wx", "RxRx" } },
    { "CoRW", { "Wx", "RxWx" } },
    { "CoWR", { "WxRx", "WxRx" } },
    { "WRC", { "Wx", "RxWy", "RyRx" } },
    { "RWC", { "Wx", "RxRy", "WyRx" } },
    { "WWC", { "Wx", "RxWy", "RyWx" } },
    { "WRW+2W", { "Wx", "RxWy", "WyWx" } },
    { "ISA2", { "WxWy", "RyWz", "RzRx" } },
    { "W+RWC", { "WxWy", "RyRz", "WzRx" } },
    { "Z6.3", { "WxWy", "WyWz", "RzRx" } },
    { "3.SB", { "WxRy", "WyRz", "WzRx" } },
    { "3.LB", { "RxWy", "RyWz", "RzWx" } },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct writing {
    int length;
    uint32_t writes[3];
};

static void add_access(struct writing *w, uint32_t thread, const char *access, const char *mark,
                       const char *dependence, bool sets)
{
    bool reads = access[0] == 'R';
    char number[16] = "";
    if (!reads)
        snprintf(number, sizeof number, "#%u", ++w->writes[access[1] - 'x']);
    w->length += snprintf(text + w->length, sizeof text - (size_t)w->length, "P%u %c%s[%c]%s%s%s\n",
                          thread, reads ? 'L' : 'S', mark, access[1], number, sets ? " >r1" : "",
                          dependence);
}

static bool fits(const char *thread, const struct link *l)
{
    return (!l->from_load || thread[0] == 'R') && (!l->to_store || thread[2] == 'W');
}

static void add_thread(struct writing *w, uint32_t number, const char *thread, const struct link *l)
{
    bool two = thread[2];
    add_access(w, number, thread, two ? l->first : "", "", two && l->from_load);
    if (!two)
        return;
    if (*l->fence)
        w->length += snprintf(text + w->length, sizeof text - (size_t)w->length, "P%u %s\n", number,
                              l->fence);
    add_access(w, number, thread + 2, l->second, l->dependence, false);
}

/* False: a link is not for its thread, or its thread has none. */
static bool write_shape(const struct shape *s, uint32_t which)
{
    struct writing w = { 0 };
    for (uint32_t t = 0; s->thread[t]; t++) {
        const struct link *l = &links[s->thread[t][2] ? which % LINKS : 0];
        if (!fits(s->thread[t], l))
            return false;
        add_thread(&w, t, s->thread[t], l);
        which /= s->thread[t][2] ? LINKS : 1;
    }
    return which == 0;
}

/* Of three links a sample, of which each link and most pairs are part. */
static void the_shapes_show_what_is_allowed(void)
{
    uint32_t done = 0, missed = 0;
    for (uint32_t k = 0; k < SHAPES; k++)
        for (uint32_t which = 0; which < LINKS * LINKS * LINKS; which += which < 256 ? 1 : 29) {
            if (!write_shape(&shapes[k], which))
                continue;
            bool both = which % 5 == 0; /* RVTSO is simple */
            missed += !matches(ORDEAL_RVWMO) + (both && !matches(ORDEAL_RVTSO));
            done++;
        }
    printf("%u shapes\n", done);
    TEST_ASSERT_GREATER_THAN_UINT32(1500, done);
    TEST_ASSERT_EQUAL_UINT32(0, missed);
}

/* ---- what takes more than two accesses of a thread ------------------------------------------- */

static const char *const special[] = {
    /* Rules 2 and 3. */
    "P0 S[x]#1\nP1 L[x]\nP1 L[x]\nP1 L[x]\n",
    "P0 S[y]#1\nP0 MEMBAR w,w\nP0 S[x]#1\nP1 L[x] >r1\nP1 L[z] <addr:r1\nP1 L[z] >r2\n"
    "P1 L[y] <addr:r2\n",
    "P0 S[y]#1\nP0 MEMBAR w,w\nP0 S[z]#1\nP1 S[z]#2\nP1 L[z] >r2\nP1 L[y] <addr:r2\n",
    "P0 SWAP[x]#1 >r3\nP0 L[x] >r1\nP0 L[y] <addr:r1\nP1 SWAP[y]#1\nP1 L[y] >r1\nP1 L[x] <addr:r1\n",
    "P0 S[x]#1\nP0 L[x] >r1\nP0 L[y] <addr:r1\nP1 S[y]#1\nP1 L[y] >r1\nP1 L[x] <addr:r1\n",
    /* The early load of a word feeds a store that is performed before the late one. */
    "P0 SWAP[y]#1 >r1\nP0 L[x] <addr:r1\nP0 L[x] >r2\nP0 S[z]#1 <data:r2\nP1 L[z] >r1\n"
    "P1 S[y]#2 <data:r1\nP1 S[x]#1 <data:r1\n",
    /* Loads that release: so may one that waits for a store, and harts may come to wait for each
     * other. */
    "P0 S[y]#1\nP0 L.rl[x]\nP0 L[x] >r2\nP0 S[z]#1 <data:r2\nP1 L[z] >r1\nP1 S[y]#2 <data:r1\n",
    "P0 S[y]#1\nP0 L.rl[x]\nP0 L[x]\nP1 S[x]#1\nP1 L.rl[y]\nP1 L[y]\n",
    /* 11 to 13. */
    "P0 S[x]#1\nP0 MEMBAR rw,rw\nP0 S[y]#1\nP1 L[y] >r1\nP1 S[z]#1 <data:r1\nP1 L[z] >r2\n"
    "P1 L[x] <addr:r2\n",
    "P0 S[x]#1\nP0 MEMBAR rw,rw\nP0 S[y]#1\nP1 L[y] >r1\nP1 S[z]#1 <ctrl:r1\nP1 L[z] >r2\n"
    "P1 L[x] <addr:r2\n",
    "P0 L[x] >r1\nP0 L[z] <addr:r1\nP0 S[y]#1\nP1 L[y] >r1\nP1 S[x]#1 <data:r1\n",
    "P0 L[x] >r1\nP0 L[z] <ctrl:r1\nP0 S[y]#1\nP1 L[y] >r1\nP1 S[x]#1 <data:r1\n",
    "P0 L[x] >r1\nP0 S[z]#1 <data:r1\nP0 S[y]#1\nP1 L[y] >r1\nP1 S[x]#1 <data:r1\n",
    /* LR and SC: atomic, in order, with what depends on success and on failure. */
    "P0 LR[x]\nP0 SC[x]#1\nP1 LR[x]\nP1 SC[x]#2\n",
    "P0 LR[x]\nP0 SC[x]#1\nP1 S[x]#2\nP1 S[x]#3\n",
    "P0 S[x]#1\nP0 LR[x]\nP0 SC[x]#2\nP1 S[x]#3\nP1 L[x]\n",
    "P0 LR[x]\nP0 SC[x]#1\nP0 L[y]\nP1 LR[y]\nP1 SC[y]#1\nP1 L[x]\n",
    "P0 LR.aq[x]\nP0 SC.rl[x]#1\nP0 L[y]\nP1 LR.aq[y]\nP1 SC.rl[y]#1\nP1 L[x]\n",
    "P0 LR.aq[x]\nP0 SC.aqrl[x]#1\nP0 L[y]\nP1 LR.aq[y]\nP1 SC.aqrl[y]#1\nP1 L[x]\n",
    "P0 LR[x]\nP0 SC[x]#1 >r1\nP0 L[y] <addr:r1\nP1 S[y]#1\nP1 MEMBAR rw,rw\nP1 L[x]\n",
    "P0 LR[x]\nP0 SC[x]#1 >r1\nP0 S[y]#1 <data:r1\nP1 L[y]\nP1 MEMBAR r,r\nP1 L[x]\n",
    "P0 L[x] >r1\nP0 LR[z]\nP0 SC[z]#1 <ctrl:r1\nP0 S[y]#1\nP1 L[y] >r1\nP1 S[x]#1 <data:r1\n",
    "P0 L[x] >r1\nP0 LR[z]\nP0 SC[z]#1 <addr:r1\nP0 S[y]#1\nP1 L[y] >r1\nP1 S[x]#1 <data:r1\n",
    "P0 LR[x]\nP0 LR[y]\nP0 SC[y]#1\nP1 S[x]#1\nP1 S[y]#2\n",
    /* RCsc. */
    "P0 SWAP.rl[x]#1\nP0 SWAP.aq[z]#1\nP0 L[y]\nP1 S[y]#1\nP1 MEMBAR rw,rw\nP1 L[x]\n",
    "P0 SWAP.rl[x]#1\nP0 L.aq[y]\nP1 SWAP.rl[y]#1\nP1 L.aq[x]\n",
    "P0 SWAP.rl[x]#1\nP0 LR.aq[y]\nP1 SWAP.rl[y]#1\nP1 LR.aq[x]\n",
    "P0 SWAP.aq[x]#1\nP0 L[y]\nP1 SWAP[y]#1\nP1 MEMBAR r,r\nP1 L[x]\n",
};

static void longer_ones_do_too(void)
{
    uint32_t missed = 0;
    for (size_t k = 0; k < sizeof special / sizeof *special; k++) {
        snprintf(text, sizeof text, "%s", special[k]);
        missed += !matches(ORDEAL_RVWMO);
        missed += !matches(ORDEAL_RVTSO);
    }
    TEST_ASSERT_EQUAL_UINT32(0, missed);
}

/* ---- random programs ------------------------------------------------------------------------ */

struct making {
    struct random r;
    struct writing w;
    uint32_t thread;
    bool set[2];
    int reserved;
};

static bool percent(struct making *m, uint32_t chance) { return random_below(&m->r, 100) < chance; }

static void put(struct making *m, const char *words_of_it)
{
    m->w.length += snprintf(text + m->w.length, sizeof text - (size_t)m->w.length, "%s",
                            words_of_it);
}

static void put_access(struct making *m, const char *kind, char place, bool reads, bool writes)
{
    static const char *const marks[] = { "", "", "", ".aq", ".rl", ".aqrl" };
    static const char *const uses[] = { "addr", "ctrl", "data" };
    char line[64];
    snprintf(line, sizeof line, "P%u %s%s[%c]", m->thread, kind, marks[random_below(&m->r, 6)],
             place);
    put(m, line);
    if (writes) {
        snprintf(line, sizeof line, "#%u", ++m->w.writes[place - 'x']);
        put(m, line);
    }
    uint32_t reg = random_below(&m->r, 2);
    if (m->set[reg] && percent(m, 60)) {
        snprintf(line, sizeof line, " <%s:r%u", uses[random_below(&m->r, writes ? 3 : 2)], reg);
        put(m, line);
    }
    if ((reads || strcmp(kind, "SC") == 0) && percent(m, 60)) {
        reg = random_below(&m->r, 2);
        m->set[reg] = true;
        put(m, reg ? " >r1" : " >r0");
    }
    put(m, "\n");
}

static void put_any(struct making *m, uint32_t places)
{
    static const char *const fences[] = { "MEMBAR rw,rw", "MEMBAR r,r", "MEMBAR w,w",
                                          "MEMBAR r,w",   "MEMBAR w,r", "MEMBAR.tso" };
    char place = (char)('x' + random_below(&m->r, places)), line[64];
    if (percent(m, 15)) {
        snprintf(line, sizeof line, "P%u %s\n", m->thread, fences[random_below(&m->r, 6)]);
        put(m, line);
    }
    if (m->reserved && percent(m, 70)) {
        put_access(m, "SC", (char)m->reserved, false, true);
        m->reserved = 0;
    } else if (percent(m, 12)) {
        put_access(m, "LR", place, true, false);
        m->reserved = place;
    } else if (percent(m, 10)) {
        put_access(m, "SWAP", place, true, true);
        m->reserved = place == m->reserved ? 0 : m->reserved;
    } else if (percent(m, 55)) {
        put_access(m, "L", place, true, false);
    } else {
        put_access(m, "S", place, false, true);
        m->reserved = place == m->reserved ? 0 : m->reserved;
    }
}

static void write_random(uint64_t seed)
{
    struct making m = { .thread = 0 };
    random_seed(&m.r, seed, 0);
    uint32_t threads = 2 + percent(&m, 30), places = 2 + percent(&m, 20);
    for (; m.thread < threads; m.thread++) {
        uint32_t operations = 2 + (threads == 2 ? random_below(&m.r, 3) : 0);
        m.set[0] = m.set[1] = false;
        m.reserved = 0;
        while (operations-- > 0)
            put_any(&m, places);
    }
}

static void random_programs_do_too(void)
{
    uint32_t missed = 0;
    uint64_t done = 0;
    for (uint64_t seed = first_seed; done < count; seed++) {
        write_random(seed);
        if (!is_small())
            continue;
        done++;
        bool same = matches(ORDEAL_RVWMO);
        same &= matches(ORDEAL_RVTSO);
        if (!same)
            printf("--seed %" PRIu64 " --count 1\n", seed);
        missed += !same;
    }
    TEST_ASSERT_EQUAL_UINT32(0, missed);
}

int main(int argc, char **argv)
{
    static const struct option options[] = { { "count", required_argument, NULL, 'c' },
                                             { "seed", required_argument, NULL, 's' },
                                             { NULL, 0, NULL, 0 } };
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        *(c == 's' ? &first_seed : &count) = strtoull(optarg, NULL, 10);
    UNITY_BEGIN();
    RUN_TEST(longer_ones_do_too);
    RUN_TEST(random_programs_do_too);
    RUN_TEST(the_shapes_show_what_is_allowed);
    return UNITY_END();
}
