/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of a bias: what is read and refused, which tests are drawn from them, that all of these
 * can be run, and that a bias as written makes the same tests. */
#include <unistd.h>

#include "making.h"
#include "base/random.h"
#include "trial/bias_fits.h"

void setUp(void) { making_open(); }
void tearDown(void) { making_close(); }

static bool read_text(struct bias *into, const char *text)
{
    char path[] = "/tmp/test-profile-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    fputs(text, f);
    fclose(f);
    bool good = bias_read(into, path, &e);
    unlink(path);
    return good;
}

static void complains(const char *part)
{
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, part), e.reason);
}

static void reads(const char *text) { TEST_ASSERT_TRUE_MESSAGE(read_text(b, text), e.reason); }

static void fresh(const char *text)
{
    bias_free(b);
    b = bias_new();
    reads(text);
}

/* ---- reading ------------------------------------------------------------------------------- */

#define GOOD "[profile a]\nweight=1\n"

static void wrong_profiles_are_refused_with_the_line(void)
{
    static const struct {
        const char *text;
        uint64_t line;
        const char *part;
    } cases[] = {
        { "[profile a/b]\nweight=1\n", 1, "[profile a/b]: the name of a profile has 1 to 40" },
        { "[profile ]\nweight=1\n", 1, "[profile ]: the name of a profile has" },
        { "[profile a]\nweight=1 # c\n", 2, "allowed is 0 to 10000; a comment has a line of its" },
        { GOOD "test.threads=2..4 # c\n", 3,
          "numbers as 'low..high'; a comment has a line of its" },
        { GOOD "weight=2\n", 3, "profile.weight was given already in line 2" },
        { "[profile a]\nweight=10001\n", 2, "profile a.weight = 10001: allowed is 0 to 10000" },
        { "[profile a]\nweight=1..3\n", 2, "profile a.weight = 1..3: allowed is 0 to 10000" },
        { "[profile a]\nwieght=1\n", 2, "profile a: unknown key 'wieght'; did you mean weight?" },
        { GOOD "threads=1\n", 3, "unknown key 'threads'; did you mean test.threads?" },
        { GOOD "qqqqqqqqqqqq=1\n", 3, "it has weight, only, and keys as section.key" },
        { GOOD "test.thread=1\n", 3, "unknown key test.thread; did you mean test.threads?" },
        { GOOD "tset.threads=1\n", 3, "unknown section [tset]; did you mean [test]?" },
        { GOOD "test.threads=0\n", 3,
          "profile a: test.threads = 0: allowed is 1 to 256, up to 16 "
          "of these as 'a | b', or numbers as 'low..high'" },
        { GOOD "test.threads=0..4\n", 3, "test.threads = 0..4: allowed is 1 to 256" },
        { GOOD "test.threads=4..300\n", 3, "test.threads = 4..300: allowed is 1 to 256" },
        { GOOD "test.threads=4..2\n", 3,
          "test.threads = 4..2: the lower number of a range comes first: 2..4" },
        { GOOD "test.threads=4..\n", 3, "test.threads = 4..: allowed is" },
        { GOOD "test.threads=..4\n", 3, "test.threads = ..4: allowed is" },
        { GOOD "test.threads=2 |\n", 3, "test.threads = 2 |: allowed is" },
        { GOOD "test.threads=2 | x\n", 3, "test.threads = 2 | x: allowed is" },
        { GOOD "test.threads=2..3 | 4\n", 3, "test.threads = 2..3 | 4: allowed is" },
        { GOOD "test.threads=1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1\n", 3, "up to 16 of these" },
        { GOOD "sharing.pattern=hot..private\n", 3,
          "sharing.pattern = hot..private: allowed is one "
          "of uniform, hot, producer, migrating, private, up to 16 of these as 'a | b'" },
        { GOOD "transactions.retries=3..forever\n", 3, "retries = 3..forever: allowed is" },
        { GOOD "test.threads=2\ntest.locations=3\ntest.threads=2\n", 5,
          "profile a: test.threads was given already in line 3" },
        { GOOD "only = load\nonly = store\n", 4, "profile.only was given already in line 3" },
        { GOOD "idiom x.test=P0 L[x]\n", 3, "of an idiom a profile has 'idiom NAME.weight'" },
        { GOOD "idiom x=3\n", 3, "of an idiom a profile has 'idiom NAME.weight'" },
        { GOOD "idiom x.weight=10001\n", 3, "profile a: idiom x.weight = 10001: allowed is 0 to" },
        { GOOD "test.threads=2\n  4\n", 4, "the line begins with a blank" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bias *other = bias_new();
        TEST_ASSERT_FALSE_MESSAGE(read_text(other, cases[i].text), cases[i].text);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, cases[i].part), e.reason);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(cases[i].line, e.line, cases[i].text);
        bias_free(other);
    }
}

static void what_does_not_go_together_is_refused_with_the_line(void)
{
    static const struct {
        const char *text;
        uint64_t line;
        const char *part;
    } cases[] = {
        { GOOD "[profile b]\n", 3, "profile b has no weight" },
        { "[profile a]\nonly=load\n", 1, "profile a has no weight; give 'weight = …', 0 to 10000" },
        { "[profile a]\nweight=0\n[profile b]\nweight=0\n", 2, "no profile has a weight above 0" },
        { GOOD "only = load lod\n", 3,
          "profile a: only = … lod: allowed are keys of [operations], "
          "[membar] and [idioms], names of your own idioms, loops, branches and transactions; did "
          "you mean load?" },
        { GOOD "only = threads\n", 3, "only = … threads: allowed are keys" },
        { GOOD "only = load flush\n", 3, "only = … flush: it has no weight" },
        { GOOD "only = load transactions\n", 3, "only = … transactions: it has no weight" },
        { GOOD "only = load sb\n[idiom sb]\nweight=1\ntest=P0 L[x]\n", 3,
          "only = … sb: there are two of that name; say idioms.sb or idiom.sb" },
        { GOOD "only =\n", 3, "profile a: operations.load = 0: no operation, membar or idiom" },
        { GOOD "idiom x.weight=3\n", 3, "idiom x has no test" },
        { GOOD "test.threads = 1 | 2\noperations.interrupt=3\n", 4,
          "profile a: operations.interrupt = 3: there is no other thread" },
        { GOOD "test.threads=1..4\nidioms.iriw=1\n", 4,
          "profile a: idioms.iriw = 1: the idiom has 4 threads; test.threads must" },
        { "[profile b]\nweight=0\ntest.operations=2\nidioms.r=1\n" GOOD, 4,
          "profile b: idioms.r = 1: a thread of the idiom has 4 operations" },
        { GOOD "placement.set_stride=100\n", 3,
          "profile a: placement.set_stride = 100: it must be" },
        { GOOD "placement.set_stride=64..100\n", 3, "placement.set_stride = 100: it must be" },
        { "[test]\nlocations=256\n" GOOD "placement.lines_per_set=1..2\n", 5,
          "profile a: placement.set_stride = 4096: the first lines of 128 sets" },
        { GOOD "transactions.share=0..50\ntransactions.length_min=1..9\n", 4,
          "profile a: transactions.length_min = 9: it is more than length_mean = 4" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bias *other = bias_new();
        TEST_ASSERT_TRUE_MESSAGE(read_text(other, cases[i].text), e.reason);
        TEST_ASSERT_FALSE_MESSAGE(bias_check(other, &e), cases[i].text);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, cases[i].part), e.reason);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(cases[i].line, e.line, e.reason);
        bias_free(other);
    }
}

/* ---- drawing ------------------------------------------------------------------------------- */

static uint32_t count_kind(uint8_t kind)
{
    uint32_t count = 0;
    for (size_t i = 0; i < length(); i++)
        count += op(i)->kind == kind;
    return count;
}

static uint32_t kinds_seen(void)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < length(); i++)
        seen |= 1u << op(i)->kind;
    return seen;
}

static void profiles_are_drawn_by_weight(void)
{
    enum { TESTS = 4000 };
    uint32_t count[3] = { 0 };
    reads("[test]\noperations=1\n"
          "[profile a]\nweight=3\n[profile none]\nweight=0\n[profile b]\nweight=1\n");
    start(1);
    for (uint64_t n = 0; n < TESTS; n++)
        count[generator_profile(g, n)]++;
    TEST_ASSERT_EQUAL_UINT32(0, count[1]);
    about(TESTS * 0.75, count[0], TESTS, 20, "a");
}

static void a_bias_without_profiles_has_none(void)
{
    start(1);
    TEST_ASSERT_EQUAL_UINT32(UINT32_MAX, generator_profile(g, 0));
}

/* Each of these profiles leaves its mark, by which a test tells what it is of. */
static void a_test_is_of_the_profile_that_it_is_said_to_be(void)
{
    reads("[test]\nlocations=4\n[operations]\nflush=5\n"
          "[profile loads]\nweight=1\nonly=load\n"
          "[profile stores]\nweight=1\nonly=operations.store\n"
          "[profile fences]\nweight=1\nonly=membar\n"
          "[profile all]\nweight=1\n");
    start(1);
    for (uint64_t n = 0; n < 100; n++) {
        static const uint32_t kinds[] = {
            1u << ORDEAL_LOAD,
            1u << ORDEAL_STORE,
            1u << ORDEAL_MEMBAR,
            1u << ORDEAL_LOAD | 1u << ORDEAL_STORE | 1u << ORDEAL_SWAP | 1u << ORDEAL_CAS
                | 1u << ORDEAL_FLUSH | 1u << ORDEAL_MEMBAR,
        };
        make(n);
        TEST_ASSERT_EQUAL_HEX32(kinds[generator_profile(g, n)], kinds_seen());
    }
}

static void what_a_profile_gives_itself_holds_beside_only(void)
{
    fresh("[profile a]\nweight=1\nonly =\n    load\n\n    loops\noperations.delay=9\n"
          "loops.share=30\n");
    start(1);
    make(0);
    TEST_ASSERT_EQUAL_HEX32(1u << ORDEAL_LOAD | 1u << ORDEAL_DELAY | 1u << ORDEAL_LOOP_BEGIN
                                | 1u << ORDEAL_LOOP_END,
                            kinds_seen());
}

static void only_takes_blocks_and_idioms_away(void)
{
    fresh("[loops]\nshare=30\n[branches]\nshare=30\n[transactions]\nshare=30\n[idioms]\ndekker=9\n"
          "[idiom own]\nweight=9\ntest=P0 DELAY#7\n"
          "[profile a]\nweight=1\nonly=load branches\n[profile b]\nweight=1\nonly=load own\n"
          "[profile c]\nweight=1\nonly=load idioms\n");
    start(1);
    for (uint64_t n = 0; n < 60; n++) {
        make(n);
        uint32_t seen = kinds_seen() & ~(1u << ORDEAL_LOAD);
        uint32_t branch = 1u << ORDEAL_BRANCH_BEGIN | 1u << ORDEAL_BRANCH_END
                        | 1u << ORDEAL_BRANCH_ELSE;
        switch (generator_profile(g, n)) {
        case 0: TEST_ASSERT_EQUAL_HEX32(branch, seen | branch); break;
        case 1: TEST_ASSERT_EQUAL_HEX32(1u << ORDEAL_DELAY, seen); break;
        default: TEST_ASSERT_EQUAL_HEX32(1u << ORDEAL_DELAY | 1u << ORDEAL_SWAP, seen); break;
        }
    }
}

static void values_are_drawn_evenly(void)
{
    enum { TESTS = 3000 };
    uint32_t threads[9] = { 0 }, patterns = 0, operations[6] = { 0 };
    reads(
        "[test]\nlocations=4\n[profile a]\nweight=1\ntest.threads=5..8\n"
        "test.operations = 1 | 3 | 5\ntransactions.retries=4 | forever\ntransactions.share=100\n");
    start(1);
    for (uint64_t n = 0; n < TESTS; n++) {
        make(n);
        threads[ordeal_trace_threads(t)]++;
        struct tally c = { 0 };
        tally(&c);
        operations[c.executed[0]]++;
        for (size_t i = 0; i < length(); i++)
            if (op(i)->kind == ORDEAL_TX_BEGIN)
                patterns |= op(i)->flags & ORDEAL_HAS_LIMIT ? 1 : 2;
    }
    for (int i = 5; i <= 8; i++)
        about(TESTS / 4.0, threads[i], TESTS, 30, "threads");
    for (int i = 1; i <= 5; i += 2)
        about(TESTS / 3.0, operations[i], TESTS, 30, "operations");
    TEST_ASSERT_EQUAL_UINT32(3, patterns);
}

static void strides_are_drawn_as_multiples_of_a_line(void)
{
    uint64_t place, seen = 0;
    reads("[test]\nlocations=4\n[profile a]\nweight=1\nplacement.lines_per_set=4\n"
          "placement.set_stride=64..320\n");
    start(1);
    for (uint64_t n = 0; n < 200; n++) {
        make(n);
        for (uint32_t base = 1; base <= ordeal_trace_names(t); base++)
            if (line_of(&(struct ordeal_op){ .base = base }) == 1) {
                TEST_ASSERT_TRUE(ordeal_trace_place_of(t, base, &place));
                TEST_ASSERT_EQUAL_UINT64(0, place % 64);
                seen |= 1u << place / 64;
            }
    }
    TEST_ASSERT_EQUAL_HEX64(0x3e, seen);
}

static void a_test_does_not_depend_on_those_made_before(void)
{
    uint64_t hash[20];
    TEST_ASSERT_TRUE_MESSAGE(bias_read(b, "examples/profiles.bias", &e), e.reason);
    start(3);
    for (uint64_t n = 0; n < 20; n++) {
        make(n);
        hash[n] = hash_of_test();
    }
    for (uint64_t n = 20; n-- > 0;) {
        make(n);
        TEST_ASSERT_EQUAL_HEX64(hash[n], hash_of_test());
        start(3);
        make(n);
        TEST_ASSERT_EQUAL_HEX64(hash[n], hash_of_test());
    }
}

static void omit_is_one_of_the_ways(void)
{
    uint32_t without[2] = { 0 }, tests[2] = { 0 };
    reads("[profile whole]\nweight=1\n[profile part]\nweight=1\ntest.omit=50\n");
    start(1);
    for (uint64_t n = 0; n < 400; n++) {
        uint32_t profile = generator_profile(g, n);
        make(n);
        tests[profile]++;
        without[profile] += count_kind(ORDEAL_SWAP) == 0;
    }
    TEST_ASSERT_EQUAL_UINT32(0, without[0]);
    about(tests[1] / 2.0, without[1], tests[1], 150, "without swaps");
}

/* ---- who overrides whom -------------------------------------------------------------------- */

static void later_files_override_key_by_key(void)
{
    reads("[profile a]\nweight=1\ntest.threads=3\ntest.operations=7\nonly=load\n");
    reads("[profile a]\ntest.threads=5\n[profile b]\nweight=0\n");
    start(1);
    make(0);
    TEST_ASSERT_EQUAL_UINT32(5, ordeal_trace_threads(t));
    TEST_ASSERT_EQUAL_size_t(35, length());
    TEST_ASSERT_EQUAL_HEX32(1u << ORDEAL_LOAD, kinds_seen());
    reads("[profile a]\nonly=store\nweight=0\n[profile b]\nweight=1\n");
    start(1);
    TEST_ASSERT_EQUAL_UINT32(1, generator_profile(g, 0));
    TEST_ASSERT_TRUE(bias_set(b, "profile a.weight=1", &e));
    TEST_ASSERT_TRUE(bias_set(b, "profile b.weight=0", &e));
    TEST_ASSERT_TRUE(bias_set(b, "profile a.test.threads=6", &e));
    start(1);
    make(0);
    TEST_ASSERT_EQUAL_UINT32(6, ordeal_trace_threads(t));
    TEST_ASSERT_EQUAL_HEX32(1u << ORDEAL_STORE, kinds_seen());
}

/* A slip in a name would else be a profile of its own, that most tests are of. */
static void set_makes_no_profiles(void)
{
    reads("[profile hot-word]\nweight=1\n[profile other]\nweight=1\n");
    TEST_ASSERT_FALSE(bias_set(b, "profile hot-wrod.weight=5000", &e));
    complains("there is no profile 'hot-wrod'; did you mean 'hot-word'?");
    TEST_ASSERT_FALSE(bias_set(b, "profile hot-wrod.test.threads=2", &e));
    TEST_ASSERT_FALSE(bias_set(b, "profile qqqqqqqq.weight=5000", &e));
    complains("there is no profile 'qqqqqqqq'; 'ordeal gen --print-bias' shows those that there");
    TEST_ASSERT_EQUAL_size_t(2, b->profiles.count);
}

static void what_is_set_holds_in_all_profiles(void)
{
    reads("[profile a]\nweight=1\ntest.threads=3..4\nonly=load store\n"
          "[profile b]\nweight=1\nonly=swap store\n");
    set("threads=5 operations.store=0 operations.delay=50");
    start(1);
    for (uint64_t n = 0; n < 20; n++) {
        make(n);
        TEST_ASSERT_EQUAL_UINT32(5, ordeal_trace_threads(t));
        uint32_t own = generator_profile(g, n) ? 1u << ORDEAL_SWAP : 1u << ORDEAL_LOAD;
        TEST_ASSERT_EQUAL_HEX32(own | 1u << ORDEAL_DELAY, kinds_seen());
    }
}

/* ---- writing ------------------------------------------------------------------------------- */

static char *written(const struct bias *from, bool with_help)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    TEST_ASSERT_TRUE(bias_write(from, f, with_help));
    fclose(f);
    return text;
}

/* As it is written it says the same, to a reader and to the generator. */
static void written_makes_the_same_tests(void)
{
    uint64_t hash[30];
    start(5);
    for (uint64_t n = 0; n < 30; n++) {
        make(n);
        hash[n] = hash_of_test();
    }
    char *text = written(b, true);
    fresh(text);
    start(5);
    for (uint64_t n = 0; n < 30; n++) {
        make(n);
        TEST_ASSERT_EQUAL_HEX64(hash[n], hash_of_test());
    }
    char *again = written(b, true);
    TEST_ASSERT_EQUAL_STRING(text, again);
    free(text);
    free(again);
}

static void what_is_written_makes_the_same_tests(void)
{
    TEST_ASSERT_TRUE_MESSAGE(bias_read(b, "examples/profiles.bias", &e), e.reason);
    written_makes_the_same_tests();
    TEST_ASSERT_TRUE_MESSAGE(bias_read(b, "examples/profiles.bias", &e), e.reason);
    set("threads=3 operations.swap=0 operations.delay=2 lines_per_set=4 membar.full=4");
    TEST_ASSERT_TRUE(bias_set(b, "idiom mp-fenced.weight=7", &e));
    written_makes_the_same_tests();
}

static void long_words_of_only_are_written_in_several_lines(void)
{
    reads("[operations]\nprefetch=1\nflush=1\nevict=1\nnonfaulting=1\ninterrupt=1\ndelay=1\n"
          "[profile a]\nweight=1\nonly = operations.prefetch operations.flush operations.evict\n"
          " operations.nonfaulting operations.interrupt operations.delay membar.full load store\n");
    char *text = written(b, false);
    TEST_ASSERT_NOT_NULL(strstr(text, "operations.nonfaulting\n    operations.interrupt"));
    free(text);
    written_makes_the_same_tests();
}

/* ---- all together -------------------------------------------------------------------------- */

/* Values for a profile, at random: most biases are refused, and what is not refused goes well. */
static void random_line(struct random *r, char *text, size_t size)
{
    const struct bias_key *k = &bias_keys[random_below(r, BIAS_KEY_COUNT)];
    uint32_t most = k->most < 40 ? k->most : 40, words = 0;
    while (k->words && k->words[words])
        words++;
    if (k->least > k->most)
        snprintf(text, size, "%s.%s = %s | %s\n", k->section, k->name,
                 k->words[random_below(r, words)], k->words[random_below(r, words)]);
    else if (strcmp(k->name, "set_stride") == 0)
        snprintf(text, size, "%s.%s = 64..%u\n", k->section, k->name,
                 64 * (1 + random_below(r, 140)));
    else {
        uint32_t low = k->least + random_below(r, most - k->least + 1);
        snprintf(text, size, "%s.%s = %u%s%u\n", k->section, k->name, low,
                 random_below(r, 3) ? ".." : " | ", low + random_below(r, most - low + 1));
    }
}

static void whatever_is_not_refused_gives_sound_tests(void)
{
    uint32_t made = 0;
    for (uint64_t round = 0; made < 300 && round < 20000; round++) {
        char text[2048] =
            "[test]\nthreads=40\noperations=40\nlocations=40\n[profile a]\nweight=1\n";
        struct random r;
        bool good = true;
        random_seed(&r, 11, round);
        bias_free(b);
        b = bias_new();
        for (uint32_t i = random_below(&r, 9) + 1; i > 0; i--)
            random_line(&r, text + strlen(text), sizeof text - strlen(text));
        good = read_text(b, text) && bias_check(b, &e); /* a key twice is refused */
        if (!good)
            continue;
        made++;
        start(round);
        for (uint64_t n = 0; n < 4; n++) {
            make(n);
            values_are_unique();
            reads_back(ORDEAL_FORMAT_TEXT);
            can_be_run();
        }
    }
    TEST_ASSERT_EQUAL_UINT32(300, made);
}

/* ---- on a machine that lacks something ------------------------------------------------------- */

/* A machine that can do all, but for what a test takes away. */
static struct abilities able(void)
{
    return (struct abilities){ .threads = 4,
                               .registers = 100,
                               .load_sizes = 0x7f,
                               .store_sizes = 0x7f,
                               .swap_sizes = 0xc,
                               .cas_sizes = 0xc,
                               .amo_sizes = 0xc,
                               .transactions = true,
                               .interrupts = true,
                               .flush = true,
                               .uncached = true,
                               .nonfaulting = true,
                               .memory = 1 << 20 };
}

#define RARE "[profile usual]\nweight=10000\n[profile rare]\nweight=1\n"

static void what_the_machine_cannot_run_is_refused_with_the_line(void)
{
    static const struct {
        const char *text;
        uint64_t line;
        const char *part, *advice;
    } cases[] = {
        { RARE "test.omit=3\ntransactions.share=0 | 20\n", 6,
          "profile rare: the target 'model' cannot run its tests: it has no transactions",
          "--set transactions.share=0); --set 'profile rare.weight=0' goes without the profile" },
        { RARE "test.threads=1..9\n", 5, "threads, it has 4", "--set test.threads=4)" },
        { RARE "test.operations=2\ntest.locations=1..64\nplacement.set_stride=64..1048576\n"
               "placement.lines_per_set=1..64\nplacement.words_per_line=1..16\n",
          3, "profile rare: the target 'model' cannot run its tests: the test takes", "" },
        { "[test]\nthreads=2\n[transactions]\nshare=5\n", 4,
          "the target 'model' cannot run tests of this bias: it has no transactions", "" },
    };
    struct abilities can = able();
    can.transactions = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh(cases[i].text);
        TEST_ASSERT_TRUE_MESSAGE(bias_check(b, &e), e.reason);
        TEST_ASSERT_FALSE_MESSAGE(bias_fits(b, &target_model, &can, 1, &e), cases[i].text);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(cases[i].line, e.line, e.reason);
        complains(cases[i].part);
        complains(cases[i].advice);
    }
}

static void what_the_machine_can_run_fits(void)
{
    struct abilities can = able();
    fresh(RARE "transactions.share=20\ntest.threads=1..4\n");
    TEST_ASSERT_TRUE_MESSAGE(bias_fits(b, &target_model, &can, 1, &e), e.reason);
    can.transactions = false;
    TEST_ASSERT_FALSE(bias_fits(b, &target_model, &can, 1, &e));
    TEST_ASSERT_TRUE_MESSAGE(bias_set(b, "profile rare.weight=0", &e), e.reason);
    TEST_ASSERT_TRUE_MESSAGE(bias_fits(b, &target_model, &can, 1, &e), e.reason);
    fresh(RARE "transactions.share=20\n");
    TEST_ASSERT_TRUE_MESSAGE(bias_set(b, "transactions.share=0", &e), e.reason);
    TEST_ASSERT_TRUE_MESSAGE(bias_fits(b, &target_model, &can, 1, &e), e.reason);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(wrong_profiles_are_refused_with_the_line);
    RUN_TEST(what_does_not_go_together_is_refused_with_the_line);
    RUN_TEST(profiles_are_drawn_by_weight);
    RUN_TEST(what_the_machine_cannot_run_is_refused_with_the_line);
    RUN_TEST(what_the_machine_can_run_fits);
    RUN_TEST(a_bias_without_profiles_has_none);
    RUN_TEST(a_test_is_of_the_profile_that_it_is_said_to_be);
    RUN_TEST(what_a_profile_gives_itself_holds_beside_only);
    RUN_TEST(only_takes_blocks_and_idioms_away);
    RUN_TEST(values_are_drawn_evenly);
    RUN_TEST(strides_are_drawn_as_multiples_of_a_line);
    RUN_TEST(a_test_does_not_depend_on_those_made_before);
    RUN_TEST(omit_is_one_of_the_ways);
    RUN_TEST(later_files_override_key_by_key);
    RUN_TEST(set_makes_no_profiles);
    RUN_TEST(what_is_set_holds_in_all_profiles);
    RUN_TEST(what_is_written_makes_the_same_tests);
    RUN_TEST(long_words_of_only_are_written_in_several_lines);
    RUN_TEST(whatever_is_not_refused_gives_sound_tests);
    return UNITY_END();
}
