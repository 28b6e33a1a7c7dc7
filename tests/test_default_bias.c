/* SPDX-License-Identifier: Apache-2.0 */
/* The bias of those who give none: all of it for a machine that can do all, for others what they can
 * do. Of no machine is more asked than it has. */
#include "test/default_bias.h"

#include "making.h"
#include "base/random.h"
#include "targets/target.h"

void setUp(void) { making_open(); }
void tearDown(void) { making_close(); }

static const struct abilities everything = {
    .threads = 8,
    .registers = 8,
    .load_sizes = 0x7f,
    .store_sizes = 0x7f,
    .swap_sizes = 0xf,
    .cas_sizes = 0xf,
    .amo_sizes = 0xf,
    .transactions = true,
    .interrupts = true,
    .flush = true,
    .uncached = true,
    .nonfaulting = true,
    .memory = 1 << 20,
};

static struct why left_out;

static void read_for(const struct abilities *can, const char *assignments)
{
    bias_free(b);
    b = bias_new();
    TEST_ASSERT_TRUE_MESSAGE(default_bias_read(b, can, &e), e.reason);
    if (assignments)
        set(assignments);
    TEST_ASSERT_TRUE_MESSAGE(default_bias_settle(b, can, &left_out, &e), e.reason);
    start(1);
}

static bool has_profile(const char *name)
{
    for (size_t i = 0; i < b->profiles.count; i++)
        if (strcmp(b->profiles.data[i].name, name) == 0)
            return true;
    return false;
}

/* Makes tests and compares what they ask with what the machine has. */
static void is_within(const struct abilities *can, uint64_t tests)
{
    for (uint64_t n = 0; n < tests; n++) {
        char refusal[512];
        struct program p;
        make(n);
        TEST_ASSERT_TRUE_MESSAGE(program_compile(&p, t, "test", &e), e.reason);
        target_refusal(can, &p, refusal, sizeof refusal);
        TEST_ASSERT_EQUAL_STRING("", refusal);
        program_free(&p);
        values_are_unique();
    }
}

/* Whoever edits the file sees here that none of its profiles is dropped for a slip in it. */
static void a_machine_that_can_do_all_gets_all(void)
{
    struct bias *whole = bias_new();
    TEST_ASSERT_TRUE_MESSAGE(bias_read(whole, "host/test/default.bias", &e), e.reason);
    TEST_ASSERT_TRUE_MESSAGE(bias_check(whole, &e), e.reason);
    read_for(&everything, NULL);
    for (size_t i = 0; i < whole->profiles.count; i++)
        TEST_ASSERT_TRUE_MESSAGE(has_profile(whole->profiles.data[i].name),
                                 whole->profiles.data[i].name);
    TEST_ASSERT_EQUAL_size_t(whole->profiles.count, b->profiles.count);
    TEST_ASSERT_EQUAL_UINT32(8, b->test_threads);
    bias_free(whole);
    is_within(&everything, 1000);
}

/* The usual machines: all profiles of the file but those about what they lack. */
static void four_and_two_harts_lose_nothing(void)
{
    read_for(&everything, NULL);
    size_t all = b->profiles.count;
    for (uint32_t harts = 4; harts >= 2; harts -= 2) {
        struct abilities can = everything;
        can.threads = harts;
        can.swap_sizes = can.cas_sizes = can.amo_sizes = 1 << 2;
        read_for(&can, NULL);
        TEST_ASSERT_EQUAL_size_t(all, b->profiles.count);
        TEST_ASSERT_EQUAL_UINT32(harts, b->test_threads);
        is_within(&can, 500);
    }
}

static void what_is_lacking_is_left_out(void)
{
    static const struct {
        const char *profile;
        size_t at;
    } cases[] = {
        { "transactions-short", offsetof(struct abilities, transactions) },
        { "uncached", offsetof(struct abilities, uncached) },
        { "interrupts", offsetof(struct abilities, interrupts) },
        { "everything", offsetof(struct abilities, nonfaulting) },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct abilities can = everything;
        memset((char *)&can + cases[i].at, 0, sizeof(bool));
        read_for(&can, NULL);
        TEST_ASSERT_EQUAL(strcmp(cases[i].profile, "everything") == 0,
                          has_profile(cases[i].profile));
        TEST_ASSERT_TRUE(has_profile("everything") && has_profile("loads-and-stores"));
        is_within(&can, 300);
    }
}

/* What a profile does only now and then is not what it is about: a machine without transactions,
 * uncached memory and flushes still has its CAS, AMOs and interrupts tried, and its sets. */
static void what_a_profile_can_do_without_does_not_drop_it(void)
{
    static const char *const left[] = { "cas", "amos", "interrupts", "one-set", "hot-line" };
    static const char *const gone[] = {
        "transactions-short", "transactions-and-others", "hints",
        "uncached",           "litmus-uncached",         "litmus-transactions"
    };
    struct abilities can = everything;
    can.transactions = can.uncached = can.flush = false;
    read_for(&can, NULL);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        TEST_ASSERT_TRUE_MESSAGE(has_profile(left[i]), left[i]);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        TEST_ASSERT_FALSE_MESSAGE(has_profile(gone[i]), gone[i]);
    size_t amos = 0;
    for (uint64_t n = 0; n < 400; n++) {
        make(n);
        for (size_t i = 0; i < length(); i++)
            amos += op(i)->kind == ORDEAL_AMO;
    }
    TEST_ASSERT_GREATER_THAN_size_t(1000, amos);
    is_within(&can, 300);
}

/* Whatever a machine has. */
static void any_machine_gets_tests_that_it_can_run(void)
{
    struct random r;
    random_seed(&r, 2, 0);
    for (int i = 0; i < 150; i++) {
        struct abilities can = {
            .threads = 1 + random_below(&r, 10),
            .registers = random_below(&r, 8),
            .load_sizes = random_below(&r, 128) | 4,
            .store_sizes = random_below(&r, 128) | 4,
            .swap_sizes = random_below(&r, 16),
            .cas_sizes = random_below(&r, 16),
            .amo_sizes = random_below(&r, 16),
            .transactions = random_below(&r, 2),
            .interrupts = random_below(&r, 2),
            .flush = random_below(&r, 2),
            .uncached = random_below(&r, 2),
            .nonfaulting = random_below(&r, 2),
            .memory = 1024u << random_below(&r, 8),
            .operations = random_below(&r, 2) ? 16 + random_below(&r, 60) : 0,
        };
        read_for(&can, NULL);
        is_within(&can, 40);
    }
}

static void harts_are_all_used_but_no_more_than_eight(void)
{
    struct abilities can = everything;
    can.threads = 256;
    read_for(&can, NULL);
    TEST_ASSERT_EQUAL_UINT32(8, b->test_threads);
    can.harts = 3;
    read_for(&can, NULL);
    TEST_ASSERT_EQUAL_UINT32(3, b->test_threads);
    can.harts = 1; /* a core that takes threads in turn */
    read_for(&can, NULL);
    TEST_ASSERT_EQUAL_UINT32(2, b->test_threads);
}

static void what_is_set_overrides_it(void)
{
    read_for(&everything, "threads=3 operations=20 operations.cas=0");
    for (uint64_t n = 0; n < 200; n++) {
        make(n);
        TEST_ASSERT_EQUAL_UINT32(3, ordeal_trace_threads(t));
        for (size_t i = 0; i < length(); i++)
            TEST_ASSERT_TRUE(op(i)->kind != ORDEAL_CAS);
    }
    TEST_ASSERT_TRUE(has_profile("cas")); /* its loads and stores are left */
    read_for(&everything, "loops.share=30 loops.length_max=30 loops.length_min=20 operations=40");
    make(0);
}

/* An idiom of four threads does not take its profile along when there are to be three. */
static void fewer_threads_cost_no_profile(void)
{
    read_for(&everything, NULL);
    size_t all = b->profiles.count;
    read_for(&everything, "threads=3");
    TEST_ASSERT_EQUAL_size_t(all, b->profiles.count);
    read_for(&everything, "threads=2");
    TEST_ASSERT_EQUAL_size_t(all, b->profiles.count);
    is_within(&everything, 200);
}

static void what_nothing_goes_together_with_is_refused(void)
{
    TEST_ASSERT_TRUE(default_bias_read(b, &everything, &e));
    set("loops.length_min=7");
    TEST_ASSERT_FALSE(default_bias_settle(b, &everything, &left_out, &e));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, "loops.length_min = 7: it is more than"),
                                 e.reason);
    TEST_ASSERT_EQUAL_STRING("--set", e.file);
}

/* Weight that is taken away is right for all machines; weight that is given asks for the profile. */
static void profiles_can_be_set_by_name(void)
{
    struct abilities can = everything;
    can.uncached = false;
    TEST_ASSERT_TRUE(default_bias_read(b, &can, &e));
    TEST_ASSERT_TRUE_MESSAGE(bias_set(b, "profile uncached.weight=0", &e), e.reason);
    TEST_ASSERT_TRUE_MESSAGE(bias_set(b, "profile hot-word.weight=5000", &e), e.reason);
    TEST_ASSERT_TRUE(default_bias_settle(b, &can, &left_out, &e));
    TEST_ASSERT_FALSE(has_profile("uncached"));
    TEST_ASSERT_EQUAL_STRING("", left_out.text);
    bias_free(b);
    b = bias_new();
    TEST_ASSERT_TRUE(default_bias_read(b, &can, &e));
    TEST_ASSERT_TRUE_MESSAGE(bias_set(b, "profile uncached.weight=9", &e), e.reason);
    TEST_ASSERT_FALSE(default_bias_settle(b, &can, &left_out, &e));
    TEST_ASSERT_EQUAL_STRING("profile uncached is about placement.uncached, which the machine "
                             "cannot do",
                             e.reason);
}

static void refuses(const struct abilities *can, const char *assignments, const char *reason)
{
    bias_free(b);
    b = bias_new();
    TEST_ASSERT_TRUE_MESSAGE(default_bias_read(b, can, &e), e.reason);
    set(assignments);
    TEST_ASSERT_FALSE_MESSAGE(default_bias_settle(b, can, &left_out, &e), assignments);
    TEST_ASSERT_EQUAL_STRING(reason, e.reason);
    TEST_ASSERT_EQUAL_STRING("--set", e.file);
}

/* At once, not when a test comes that has it. */
static void what_the_machine_cannot_do_is_refused_with_the_key(void)
{
    struct abilities can = everything;
    can.threads = 4;
    can.uncached = can.transactions = false;
    can.cas_sizes = can.amo_sizes = 1 << 2;
    refuses(&can, "placement.uncached=5", "placement.uncached = 5: the machine cannot do that");
    refuses(&can, "transactions.share=5", "transactions.share = 5: the machine cannot do that");
    refuses(&can, "threads=8", "test.threads = 8: the machine has 4");
    refuses(&can, "sizes.8=1",
            "sizes.8 = 1: the machine cannot do swaps, CAS or AMOs of 8 bytes; it goes together "
            "with operations.swap, .cas and .amo = 0");
    read_for(&can, "sizes.8=1 operations.cas=0 operations.amo=0");
    is_within(&can, 300);
    can.load_sizes = 7;
    refuses(&can, "sizes.8=1 operations.cas=0", "sizes.8 = 1: the machine cannot do that");
    read_for(&can, "placement.uncached=0 sizes.8=0");
    can.swap_sizes = 0;
    refuses(&can, "idioms.dekker=7",
            "idioms.dekker = 7: the machine cannot do all operations of the idiom");
}

/* Not those that are about what the machine lacks, but those that were lost on the way. */
static void what_does_not_fit_is_named(void)
{
    read_for(&everything, NULL);
    TEST_ASSERT_EQUAL_STRING("", left_out.text);
    read_for(&everything, "threads=8 test.operations=200");
    TEST_ASSERT_FALSE(has_profile("narrow"));
    TEST_ASSERT_FALSE(has_profile("uncached"));
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0,
        strncmp(left_out.text,
                "2 profiles do not fit and are left out: narrow, uncached ("
                "profile narrow: test.operations = 200: accesses of 1 byte",
                110),
        left_out.text);
    set("test.operations=20");
    TEST_ASSERT_TRUE(default_bias_settle(b, &everything, &left_out, &e));
    TEST_ASSERT_EQUAL_STRING("", left_out.text);
    struct abilities can = everything;
    can.memory = 4096;
    can.transactions = can.uncached = false;
    read_for(&can, NULL);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(left_out.text, " bytes of memory, it has 4096)"),
                                 left_out.text);
    TEST_ASSERT_NULL_MESSAGE(strstr(left_out.text, "transactions"), left_out.text);
}

/* As a file it makes the same tests, also for a machine that lacks much. */
static void written_it_makes_the_same_tests(void)
{
    uint64_t hash[100];
    char *text = NULL;
    size_t size = 0;
    struct abilities can = everything;
    can.threads = 4;
    can.transactions = can.uncached = can.flush = false;
    read_for(&can, "operations.evict=0 operations.delay=9");
    for (uint64_t n = 0; n < 100; n++) {
        make(n);
        hash[n] = hash_of_test();
    }
    FILE *f = open_memstream(&text, &size);
    TEST_ASSERT_TRUE(bias_write(b, f, true));
    fclose(f);
    bias_free(b);
    b = bias_new();
    f = fmemopen(text, size, "r");
    TEST_ASSERT_TRUE_MESSAGE(bias_read_stream(b, f, "written", &e), e.reason);
    fclose(f);
    free(text);
    start(1);
    for (uint64_t n = 0; n < 100; n++) {
        make(n);
        TEST_ASSERT_EQUAL_HEX64(hash[n], hash_of_test());
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(a_machine_that_can_do_all_gets_all);
    RUN_TEST(four_and_two_harts_lose_nothing);
    RUN_TEST(what_is_lacking_is_left_out);
    RUN_TEST(what_a_profile_can_do_without_does_not_drop_it);
    RUN_TEST(any_machine_gets_tests_that_it_can_run);
    RUN_TEST(harts_are_all_used_but_no_more_than_eight);
    RUN_TEST(what_is_set_overrides_it);
    RUN_TEST(fewer_threads_cost_no_profile);
    RUN_TEST(what_nothing_goes_together_with_is_refused);
    RUN_TEST(profiles_can_be_set_by_name);
    RUN_TEST(what_the_machine_cannot_do_is_refused_with_the_key);
    RUN_TEST(what_does_not_fit_is_named);
    RUN_TEST(written_it_makes_the_same_tests);
    return UNITY_END();
}
