/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's own parts: tables against a plain set, the order against its definition, and
 * searches that are stopped, killed, and done by several workers. Outcomes are compared in
 * test_explore_random.c. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tree.h"
#include "contention.h"
#include "explore.h"
#include "intern.h"
#include "order.h"
#include "programs.h"
#include "state.h"

void setUp(void) {}
void tearDown(void) {}

static uint64_t random_state;
static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

/* ---- tables ------------------------------------------------------------------------------- */

/* Entries are made from a number, so that the plain set is an array. */
static void make_entry(uint32_t n, uint64_t entry[2])
{
    entry[0] = (n + 1) * 0x9e3779b97f4a7c15u;
    entry[1] = n % 7;
}

static uint32_t add(struct intern *t, struct intern_cursor *c, uint32_t n, bool *is_new)
{
    uint64_t entry[2];
    make_entry(n, entry);
    return intern_add(t, c, entry, intern_hash(entry, sizeof entry), is_new);
}

static void test_table_against_a_set(void)
{
    enum { MANY = 40000 };
    static uint32_t number[MANY];
    struct intern t;
    struct intern_cursor c = { 0, 0 };
    memset(number, 0, sizeof number);
    TEST_ASSERT_TRUE(intern_new(&t, 16, 64, 1 << 20, false));
    for (int i = 0; i < 200000; i++) {
        uint32_t n = draw(MANY);
        bool is_new;
        if (intern_wants_to_grow(&t))
            TEST_ASSERT_TRUE(intern_grow(&t));
        uint32_t got = add(&t, &c, n, &is_new);
        TEST_ASSERT_NOT_EQUAL(INTERN_FULL, got);
        TEST_ASSERT_EQUAL(!number[n], is_new);
        if (number[n])
            TEST_ASSERT_EQUAL_UINT32(number[n], got);
        number[n] = got;
        uint64_t entry[2];
        make_entry(n, entry);
        TEST_ASSERT_EQUAL_MEMORY(entry, intern_get(&t, got), sizeof entry);
    }
    intern_free(&t);
}

static void test_table_that_is_full_says_so(void)
{
    struct intern t;
    struct intern_cursor c = { 0, 0 };
    bool is_new;
    uint32_t n = 0;
    TEST_ASSERT_TRUE(intern_new(&t, 16, 64, 1 << 20, false));
    while (add(&t, &c, n, &is_new) != INTERN_FULL)
        n++;
    TEST_ASSERT_LESS_THAN(64, n);
    TEST_ASSERT_TRUE(intern_grow(&t));
    TEST_ASSERT_EQUAL(true, add(&t, &c, n, &is_new) != INTERN_FULL && is_new);
    intern_free(&t);
}

enum { SHARED = 20000 };
struct adder {
    struct intern *t;
    pthread_t thread;
    uint32_t first, new;
    uint32_t number[SHARED];
};

static void *add_many(void *user)
{
    struct adder *a = user;
    struct intern_cursor c = { 0, 0 };
    for (uint32_t i = 0; i < SHARED; i++) {
        bool is_new;
        uint32_t n = (i * 7 + a->first) % SHARED;
        a->number[n] = add(a->t, &c, n, &is_new);
        a->new += is_new;
    }
    return NULL;
}

static void test_table_of_several_workers(void)
{
    enum { WORKERS = 4 };
    static struct adder adder[WORKERS];
    struct intern t;
    uint32_t new = 0;
    TEST_ASSERT_TRUE(intern_new(&t, 16, 1 << 16, 1 << 20, true));
    for (uint32_t i = 0; i < WORKERS; i++) {
        adder[i] = (struct adder){ .t = &t, .first = i * 111 };
        TEST_ASSERT_EQUAL(0, pthread_create(&adder[i].thread, NULL, add_many, &adder[i]));
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        pthread_join(adder[i].thread, NULL);
        new += adder[i].new;
    }
    TEST_ASSERT_EQUAL_UINT32(SHARED, new);
    for (uint32_t i = 1; i < WORKERS; i++)
        TEST_ASSERT_EQUAL_MEMORY(adder[0].number, adder[i].number, sizeof adder[0].number);
    intern_free(&t);
}

/* ---- orders ------------------------------------------------------------------------------- */

enum { SLOTS = 130 }; /* more than two words of a set */

/* Closed by trying everything. */
static void close_plainly(bool before[SLOTS][SLOTS])
{
    for (int k = 0; k < SLOTS; k++)
        for (int i = 0; i < SLOTS; i++)
            for (int j = 0; before[i][k] && j < SLOTS; j++)
                before[i][j] |= before[k][j];
}

static void test_order_is_closed(void)
{
    static struct order o;
    static bool before[SLOTS][SLOTS];
    uint32_t slot[SLOTS];
    memset(before, 0, sizeof before);
    order_reset(&o);
    for (int i = 0; i < SLOTS; i++)
        slot[i] = order_take(&o);
    for (int n = 0; n < 150; n++) {
        uint32_t a = draw(SLOTS), b = draw(SLOTS);
        if (a == b || before[b][a])
            continue;
        struct slot_set set = order_empty();
        order_close(&o, &set, slot[a]);
        order_set_before(&o, &set, slot[b]);
        before[a][b] = true;
        close_plainly(before);
    }
    order_release(&o, slot[3]); /* what went through it stays */
    for (int i = 0; i < SLOTS; i++)
        for (int j = 0; j < SLOTS; j++)
            if (i != 3 && j != 3)
                TEST_ASSERT_EQUAL(before[i][j], order_precedes(&o, slot[i], slot[j]));
}

/* ---- searches ----------------------------------------------------------------------------- */

static const char threads[] =
    "#include <pthread.h>\n#include <assert.h>\n"
    "void __ordeal_critical_begin(void); void __ordeal_critical_end(void);\n"
    "volatile int level[3], last[3];\n"
    "static void fence(void) { if (FENCED) __atomic_thread_fence(__ATOMIC_SEQ_CST); }\n"
    "void *run(void *p) {\n"
    "  int i = (int)(long)p;\n"
    "  for (int l = 1; l < 3; l++) {\n"
    "    level[i] = l; fence(); last[l] = i; fence();\n"
    "    for (int k = 0; k < 3; k++) while (k != i && level[k] >= l && last[l] == i) {}\n"
    "  }\n"
    "  __ordeal_critical_begin(); __ordeal_critical_end();\n"
    "  level[i] = 0;\n"
    "  return 0; }\n"
    "int main(void) {\n"
    "  pthread_t t[3];\n"
    "  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, run, (void *)(long)i);\n"
    "  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);\n"
    "  return 0; }\n";

static struct image *fenced, *unfenced;

static const struct explore_options usual = {
    .model = EXPLORE_TSO,
    .buffers = 32,
    .jobs = 1,
    .nondet_high = 1,
    .local = EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC,
};

static struct explore_result *run(const struct image *image, const struct explore_options *o)
{
    struct explore_result *r;
    struct ordeal_error error;
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, explore(image, o, &r, &error), error.reason);
    return r;
}

static void make_images(void)
{
    const char *yes[] = { "FENCED=1" }, *no[] = { "FENCED=0" };
    fenced = program_image_of("fenced.c", threads,
                              &(struct compile_request){ .define = yes, .defines = 1 });
    unfenced = program_image_of("unfenced.c", threads,
                                &(struct compile_request){ .define = no, .defines = 1 });
}

/* All that is told but for times and sizes. */
static void assert_same(const struct explore_result *a, const struct explore_result *b)
{
    TEST_ASSERT_EQUAL(a->verdict, b->verdict);
    TEST_ASSERT_EQUAL_UINT64(a->at_end.states, b->at_end.states);
    TEST_ASSERT_EQUAL_UINT64(a->at_end.transitions, b->at_end.transitions);
    TEST_ASSERT_EQUAL_UINT32(a->at_end.depth, b->at_end.depth);
    TEST_ASSERT_EQUAL(a->findings, b->findings);
    for (size_t i = 0; i < a->findings; i++) {
        const struct explore_path *p = &a->finding[i].path, *q = &b->finding[i].path;
        TEST_ASSERT_EQUAL(p->steps, q->steps);
        TEST_ASSERT_EQUAL_MEMORY(p->step, q->step, p->steps * sizeof *p->step);
    }
}

static void test_workers_find_the_same(void)
{
    for (int i = 0; i < 4; i++) {
        struct explore_options o = usual, several = usual;
        o.plain_flush = several.plain_flush = i / 2;
        several.jobs = 2 + (uint32_t)i % 2;
        struct explore_result *a = run(i % 2 ? fenced : unfenced, &o);
        struct explore_result *b = run(i % 2 ? fenced : unfenced, &several);
        TEST_ASSERT_EQUAL(i % 2 ? EXPLORE_PASS : EXPLORE_FAIL, a->verdict);
        assert_same(a, b);
        explore_result_free(a);
        explore_result_free(b);
    }
}

static void test_depth_first_finds_all_states(void)
{
    struct explore_options o = usual;
    struct explore_result *a = run(fenced, &o);
    o.depth_first = true;
    for (o.jobs = 1; o.jobs < 4; o.jobs++) {
        struct explore_result *b = run(fenced, &o);
        TEST_ASSERT_EQUAL(EXPLORE_PASS, b->verdict);
        TEST_ASSERT_EQUAL_UINT64(a->at_end.states, b->at_end.states);
        TEST_ASSERT_EQUAL_UINT64(a->at_end.transitions, b->at_end.transitions);
        explore_result_free(b);
    }
    explore_result_free(a);
}

static void test_limits_leave_it_undecided(void)
{
    struct explore_options o = usual;
    for (o.jobs = 1; o.jobs < 3; o.jobs++) {
        o.most_states = 500;
        struct explore_result *r = run(fenced, &o);
        TEST_ASSERT_EQUAL(EXPLORE_UNDECIDED, r->verdict);
        TEST_ASSERT_NOT_NULL(strstr(r->note, "500 states"));
        explore_result_free(r);
    }
}

static bool stop_at_once(void *user, const struct explore_progress *p)
{
    (void)p;
    ++*(int *)user;
    return true;
}

/* Of a program that has no end: whatever the moment, all workers end. */
static void test_stopping_stops_all_workers(void)
{
    static const char endless[] =
        "#include <pthread.h>\nvolatile unsigned a, b;\n"
        "void *run(void *p) { for (;;) { a++; b; } }\n"
        "int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); for (;;) { b++; a; } }\n";
    struct image *image = program_image_of("endless.c", endless, &(struct compile_request){ 0 });
    for (uint32_t i = 0; i < 6; i++) {
        int asked = 0;
        struct explore_options o = usual;
        o.jobs = 1 + i % 3;
        o.depth_first = i >= 3;
        o.progress = stop_at_once;
        o.user = &asked;
        struct explore_result *r = run(image, &o);
        TEST_ASSERT_EQUAL(EXPLORE_UNDECIDED, r->verdict);
        TEST_ASSERT_GREATER_THAN_MESSAGE(0, asked, r->note);
        explore_result_free(r);
    }
    image_free(image);
}

/* Memory is a thread's own until others know its address; these know it by something that is none. */
static const char disguised[] =
    "#include <pthread.h>\n#include <stdlib.h>\n#include <stdint.h>\n#include <string.h>\n"
    "int r1, r2, y; char bytes[8]; uintptr_t word;\n"
    "static int *known(void) {\n"
    "  int *p;\n"
    "  if (HOW == 0) { memcpy(&p, bytes + 3, sizeof p); return p; }\n"
    "  return HOW == 1 ? (int *)(word ^ 0x5555) : (int *)word - 1; }\n"
    "void *run(void *p) { y = 1; r1 = *(volatile int *)known(); return 0; }\n"
    "int main(void) {\n"
    "  pthread_t t; int *p = malloc(sizeof *p);\n"
    "  *p = 0;\n"
    "  if (HOW == 0) memcpy(bytes + 3, &p, sizeof p);\n"
    "  if (HOW == 1) word = (uintptr_t)p ^ 0x5555;\n"
    "  if (HOW == 2) word = (uintptr_t)(p + 1);\n"
    "  pthread_create(&t, 0, run, 0);\n"
    "  *(volatile int *)p = 1; r2 = *(volatile int *)&y;\n"
    "  pthread_join(t, 0); return 0; }\n";

static void test_pointers_in_disguise_are_noticed(void)
{
    for (int how = 0; how < 3; how++) {
        char definition[] = "HOW=0";
        const char *define[] = { definition };
        definition[4] = (char)('0' + how);
        struct image *image = program_image_of("disguised.c", disguised,
                                               &(struct compile_request){ .define = define,
                                                                          .defines = 1 });
        uint32_t at[] = { image_symbol_named(image, "r1")->address,
                          image_symbol_named(image, "r2")->address };
        struct explore_options o = usual;
        o.outcome_address = at;
        o.outcome_size = (const uint8_t[]){ 4, 4 };
        o.outcomes = 2;
        struct explore_result *local = run(image, &o);
        o.local = 0;
        struct explore_result *none = run(image, &o);
        TEST_ASSERT_EQUAL(4, none->outcome_rows);
        TEST_ASSERT_EQUAL(4, local->outcome_rows);
        TEST_ASSERT_EQUAL_MEMORY(none->outcome, local->outcome, 4 * 2 * sizeof *none->outcome);
        TEST_ASSERT_EQUAL(how == 1, strstr(local->note, "disguise") != NULL);
        explore_result_free(local);
        explore_result_free(none);
        image_free(image);
    }
}

/* ---- words at peace ----------------------------------------------------------------------- */

static void test_contention_is_what_two_threads_and_a_write_are(void)
{
    enum { A = 0x20000, B = 0x20004, C = 0x20008, HEAP = STATE_HEAPS + 64 };
    const uint32_t of_main = stack_top(0) - 32, of_other = stack_top(1) - 32;
    struct contention *c = contention_new();
    size_t words, pairs;
    TEST_ASSERT_TRUE(contention_access(c, 0, A, true));
    contention_access(c, 0, A, false);
    contention_access(c, 0, B, false);
    contention_access(c, 1, B, false);
    contention_leaves(c, 0, of_main - 64); /* frames below, which nobody knows */
    contention_access(c, 1, of_main, true);
    TEST_ASSERT_FALSE(contention_surprised(c));
    contention_access(c, 0, C, true);
    TEST_ASSERT_TRUE(contention_access(c, 1, C + 2, false));
    contention_access(c, 1, HEAP, false);
    contention_frees(c, 0, HEAP - 8, 16);
    contention_leaves(c, 1, stack_top(1));
    contention_access(c, 0, of_other, false);
    contention_leaves(c, 0, of_main + 4);
    TEST_ASSERT_TRUE(contention_surprised(c));
    TEST_ASSERT_TRUE(contention_accept(c));
    const uint32_t *word = contention_words(c, &words);
    const uint32_t right[] = { C, HEAP, of_other, of_main };
    TEST_ASSERT_EQUAL(4, words);
    TEST_ASSERT_EQUAL_UINT32_ARRAY(right, word, 4);
    TEST_ASSERT_FALSE(contention_access(c, 5, C, false));
    TEST_ASSERT_FALSE(contention_surprised(c));

    uint32_t *pair = contention_keep(c, &pairs);
    struct contention *again = contention_new();
    TEST_ASSERT_TRUE(contention_restore(again, pair, pairs));
    TEST_ASSERT_FALSE(contention_knows_more(c, pair, pairs));
    contention_access(again, 1, A, false); /* main wrote it */
    contention_access(again, 1, B, false);
    TEST_ASSERT_TRUE(contention_accept(again));
    contention_words(again, &words);
    TEST_ASSERT_EQUAL(5, words);
    TEST_ASSERT_TRUE(contention_knows_more(again, pair, pairs));
    free(pair);
    contention_free(again);
    contention_free(c);
}

/* Both look at a table and count in places of their own; x, y and z are what they contend for, of
 * which z is met late. */
static const char peaceful[] =
    "#include <pthread.h>\n"
    "int table[6] = { 1, 2, 3, 4, 5, 6 }, sum[2]; volatile int x, y, z; int r1, r2, r3, all;\n"
    "static int seen[3];\n"
    "void *run(void *p) {\n"
    "  int me = (int)p;\n"
    "  if (me) seen[2] = z;\n"
    "  for (int i = 0; i < 6; i++) sum[me] += table[i];\n"
    "  if (me) y = 1; else x = 1;\n"
    "  seen[me] = me ? x : y;\n"
    "  if (!me) { for (int i = 0; i < 40; i++) (void)x; z = 1; }\n"
    "  return p; }\n"
    "int main(void) {\n"
    "  pthread_t t[2];\n"
    "  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, (void *)i);\n"
    "  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n"
    "  r1 = seen[0]; r2 = seen[1]; r3 = seen[2]; all = sum[0] + sum[1]; return 0; }\n";

static void test_words_at_peace_are_no_steps(void)
{
    static const char *const name[] = { "r1", "r2", "r3", "all" };
    /* SC: all but 0 0 0, and r3 = 1 with 0 1; TSO: 0 0 0, too; PSO: z may be seen before x. */
    static const size_t rows[EXPLORE_PSLO] = { 4, 5, 6 };
    struct image *image = program_image_of("peaceful.c", peaceful, &(struct compile_request){ 0 });
    uint32_t at[4];
    for (int i = 0; i < 4; i++)
        at[i] = image_symbol_named(image, name[i])->address;
    for (int model = 0; model < 2 * EXPLORE_PSLO; model++) {
        struct explore_options o = usual;
        o.model = (enum explore_model)(model / 2);
        o.local = EXPLORE_LOCAL_STATIC;
        o.jobs = 1 + model % 2;
        o.outcome_address = at;
        o.outcome_size = (const uint8_t[]){ 4, 4, 4, 4 };
        o.outcomes = 4;
        struct explore_result *r = run(image, &o);
        TEST_ASSERT_EQUAL(EXPLORE_PASS, r->verdict);
        TEST_ASSERT_EQUAL(rows[o.model], r->outcome_rows);
        for (size_t i = 0; i < r->outcome_rows; i++)
            TEST_ASSERT_EQUAL_UINT32(42, r->outcome[4 * i + 3]);
        TEST_ASSERT_LESS_THAN_UINT64(2000, r->at_end.states); /* PSO: was 1.5 million */
        explore_result_free(r);
    }
    image_free(image);
}

/* ---- checkpoints -------------------------------------------------------------------------- */

/* In a process of its own: goes on from the checkpoint, a little further each time, until it is
 * killed. */
static void go_on_for_ever(struct explore_options o)
{
    struct explore_result *r;
    struct ordeal_error error;
    for (o.most_states = 400;; o.most_states += 400) {
        if (explore(fenced, &o, &r, &error))
            _exit(1);
        if (r->verdict != EXPLORE_UNDECIDED)
            _exit(0);
        explore_result_free(r);
    }
}

static void test_a_search_that_is_killed_goes_on(void)
{
    struct explore_options o = usual;
    struct explore_result *whole = run(fenced, &o);
    o.checkpoint = "search";
    for (int i = 0; i < 12; i++) {
        o.jobs = 1 + (uint32_t)i % 2;
        pid_t child = fork();
        TEST_ASSERT_NOT_EQUAL(-1, child);
        if (!child)
            go_on_for_ever(o);
        usleep(1000 + draw(60000));
        kill(child, SIGKILL);
        int status;
        TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
        TEST_ASSERT_FALSE_MESSAGE(WIFEXITED(status) && WEXITSTATUS(status),
                                  "a checkpoint was refused");
    }
    o.jobs = 2;
    struct explore_result *r = run(fenced, &o);
    TEST_ASSERT_EQUAL(EXPLORE_PASS, r->verdict);
    TEST_ASSERT_EQUAL_UINT64(whole->at_end.states, r->at_end.states);
    TEST_ASSERT_EQUAL_UINT64(whole->at_end.transitions, r->at_end.transitions);
    TEST_ASSERT_EQUAL_UINT32(whole->at_end.depth, r->at_end.depth);
    TEST_ASSERT_NOT_EQUAL(0, access("search", F_OK)); /* it is done */
    explore_result_free(r);
    explore_result_free(whole);
}

/* The same counterexample, whoever began and whoever goes on. */
static void test_other_workers_may_go_on(void)
{
    struct explore_options o = usual;
    struct explore_result *whole = run(unfenced, &o);
    TEST_ASSERT_EQUAL(EXPLORE_FAIL, whole->verdict);
    for (uint32_t i = 0; i < 12; i++) {
        o.checkpoint = "search";
        o.jobs = 1 + i % 2;
        o.most_states = 100 + i / 4 * 300;
        struct explore_result *part = run(unfenced, &o);
        TEST_ASSERT_EQUAL(EXPLORE_UNDECIDED, part->verdict);
        o.jobs = 1 + i / 2 % 2;
        o.most_states = 0;
        struct explore_result *rest = run(unfenced, &o);
        TEST_ASSERT_EQUAL(EXPLORE_FAIL, rest->verdict);
        TEST_ASSERT_EQUAL(whole->finding[0].path.steps, rest->finding[0].path.steps);
        TEST_ASSERT_EQUAL_UINT64(whole->at_end.states, rest->at_end.states);
        explore_result_free(part);
        explore_result_free(rest);
    }
    explore_result_free(whole);
}

static void make_checkpoint(struct explore_options *o)
{
    *o = usual;
    o->checkpoint = "search";
    o->most_states = 700;
    unlink("search");
    struct explore_result *r = run(fenced, o);
    TEST_ASSERT_EQUAL(EXPLORE_UNDECIDED, r->verdict);
    explore_result_free(r);
    o->most_states = 0;
}

static void assert_refused(const struct image *image, const struct explore_options *o,
                           const char *why)
{
    struct explore_result *r;
    struct ordeal_error error;
    TEST_ASSERT_NOT_EQUAL(ORDEAL_OK, explore(image, o, &r, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.reason, why), error.reason);
}

static void test_checkpoints_of_something_else_are_refused(void)
{
    struct explore_options o, other;
    make_checkpoint(&o);
    assert_refused(unfenced, &o, "another program");
    other = o;
    other.model = EXPLORE_SC;
    assert_refused(fenced, &other, "--model");
    other = o;
    other.buffers = 2;
    assert_refused(fenced, &other, "--buffers");
    other = o;
    other.depth_first = true;
    assert_refused(fenced, &other, "--order depth");
}

static void test_damage_is_noticed(void)
{
    struct explore_options o;
    make_checkpoint(&o);
    FILE *f = fopen("search", "r+b");
    TEST_ASSERT_NOT_NULL(f);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    for (int i = 0; i < 60; i++) { /* one bit anywhere */
        long at = i < 8 ? i : (long)draw((uint32_t)size);
        fseek(f, at, SEEK_SET);
        int byte = fgetc(f), bit = 1 << draw(8);
        fseek(f, at, SEEK_SET);
        fputc(byte ^ bit, f);
        fflush(f);
        assert_refused(fenced, &o, "checkpoint");
        fseek(f, at, SEEK_SET);
        fputc(byte, f);
        fflush(f);
    }
    TEST_ASSERT_EQUAL(0, ftruncate(fileno(f), size / 2));
    fclose(f);
    assert_refused(fenced, &o, "damaged");
}

int main(void)
{
    char folder[] = "/tmp/test-explore-engine-XXXXXX";
    random_state = 1;
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_table_against_a_set);
    RUN_TEST(test_table_that_is_full_says_so);
    RUN_TEST(test_table_of_several_workers);
    RUN_TEST(test_order_is_closed);
    RUN_TEST(make_images);
    RUN_TEST(test_workers_find_the_same);
    RUN_TEST(test_depth_first_finds_all_states);
    RUN_TEST(test_limits_leave_it_undecided);
    RUN_TEST(test_stopping_stops_all_workers);
    RUN_TEST(test_pointers_in_disguise_are_noticed);
    RUN_TEST(test_contention_is_what_two_threads_and_a_write_are);
    RUN_TEST(test_words_at_peace_are_no_steps);
    RUN_TEST(test_a_search_that_is_killed_goes_on);
    RUN_TEST(test_other_workers_may_go_on);
    RUN_TEST(test_checkpoints_of_something_else_are_refused);
    RUN_TEST(test_damage_is_noticed);
    image_free(fenced);
    image_free(unfenced);
    if (chdir("/") == 0)
        tree_remove(folder);
    return UNITY_END();
}
