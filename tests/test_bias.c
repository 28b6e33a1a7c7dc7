/* SPDX-License-Identifier: Apache-2.0 */
/* Bias files: what is read, what is refused and where, what goes together, and writing them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/bias.h"
#include "base/random.h"
#include "unity.h"

static struct bias *b;
static struct ordeal_error e;

void setUp(void)
{
    b = bias_new();
    e = (struct ordeal_error){ 0 };
}

void tearDown(void)
{
    bias_free(b);
}

static bool read_text(struct bias *into, const char *text)
{
    char path[] = "/tmp/test-bias-XXXXXX";
    int descriptor = mkstemp(path);
    FILE *f = fdopen(descriptor, "w");
    fputs(text, f);
    fclose(f);
    bool good = bias_read(into, path, &e);
    unlink(path);
    return good;
}

static void reads(const char *text)
{
    TEST_ASSERT_TRUE_MESSAGE(read_text(b, text), e.reason);
}

static void sets(const char *assignment)
{
    TEST_ASSERT_TRUE_MESSAGE(bias_set(b, assignment, &e), e.reason);
}

static void checks(void)
{
    TEST_ASSERT_TRUE_MESSAGE(bias_check(b, &e), e.reason);
}

static void complains(const char *part)
{
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, part), e.reason);
}

static int key(const char *section, const char *name)
{
    for (int i = 0; i < BIAS_KEY_COUNT; i++)
        if (strcmp(bias_keys[i].section, section) == 0 && strcmp(bias_keys[i].name, name) == 0)
            return i;
    TEST_FAIL_MESSAGE(name);
    return 0;
}

/* ---- keys ---------------------------------------------------------------------------------- */

static void defaults_are_those_of_the_table_and_go_together(void)
{
    for (int i = 0; i < BIAS_KEY_COUNT; i++)
        TEST_ASSERT_EQUAL_UINT32(bias_keys[i].preset, b->values[i]);
    TEST_ASSERT_EQUAL_UINT32(2, b->test_threads);
    TEST_ASSERT_EQUAL_UINT32(100, b->test_operations);
    checks();
}

static void keys_have_names_of_their_own_and_help(void)
{
    for (int i = 0; i < BIAS_KEY_COUNT; i++) {
        TEST_ASSERT_EQUAL_INT(i, key(bias_keys[i].section, bias_keys[i].name));
        TEST_ASSERT_TRUE(strlen(bias_keys[i].help) > 3);
    }
}

/* Sets the key and returns what was refused. */
static bool assign(int i, const char *value)
{
    char assignment[128];
    snprintf(assignment, sizeof assignment, "%s.%s=%s", bias_keys[i].section, bias_keys[i].name,
             value);
    return bias_set(b, assignment, &e);
}

static void refuses_value(int i, const char *value)
{
    char start[128], allowed[128];
    uint32_t before = b->values[i];
    TEST_ASSERT_FALSE_MESSAGE(assign(i, value), value);
    snprintf(start, sizeof start, "%s.%s = %s: allowed is ", bias_keys[i].section,
             bias_keys[i].name, value);
    complains(start);
    bias_allowed(&bias_keys[i], allowed, sizeof allowed);
    complains(allowed);
    TEST_ASSERT_EQUAL_STRING("--set", e.file);
    TEST_ASSERT_EQUAL_UINT32(before, b->values[i]);
}

static void every_key_takes_what_is_allowed_and_nothing_else(void)
{
    for (int i = 0; i < BIAS_KEY_COUNT; i++) {
        const struct bias_key *k = &bias_keys[i];
        char text[32];
        for (uint32_t w = 0; k->words && k->words[w]; w++) {
            TEST_ASSERT_TRUE(assign(i, k->words[w]));
            TEST_ASSERT_EQUAL_UINT32(k->first_word + w, b->values[i]);
        }
        if (k->least <= k->most) {
            snprintf(text, sizeof text, "%u", k->least);
            TEST_ASSERT_TRUE(assign(i, text));
            TEST_ASSERT_EQUAL_UINT32(k->least, b->values[i]);
            snprintf(text, sizeof text, "%u", k->most);
            TEST_ASSERT_TRUE(assign(i, text));
            TEST_ASSERT_EQUAL_UINT32(k->most, b->values[i]);
            snprintf(text, sizeof text, "%llu", (unsigned long long)k->most + 1);
            refuses_value(i, text);
            if (k->least) {
                snprintf(text, sizeof text, "%u", k->least - 1);
                refuses_value(i, text);
            }
        } else {
            refuses_value(i, "0");
        }
        refuses_value(i, "");
        refuses_value(i, "-1");
        refuses_value(i, "1x");
        refuses_value(i, "0x1");
        refuses_value(i, "99999999999999999999999999");
        refuses_value(i, "nonsense");
    }
}

static void a_file_gives_keys_by_section(void)
{
    reads("# a comment\n"
          "[test]\n"
          "threads = 8   ; inline\n"
          "operations=1000\n"
          "\n"
          "; another\n"
          "[operations]\n"
          "load: 7\n"
          "[idioms]\n"
          "2+2w = 3\n"
          "[sizes]\n"
          "  64 = 5\n"
          "[transactions]\n"
          "retries = forever\n"
          "disjoint = yes\n"
          "[sharing]\n"
          "pattern = migrating\n"
          "[branches]\n"
          "else = 9\n");
    TEST_ASSERT_EQUAL_UINT32(8, b->test_threads);
    TEST_ASSERT_EQUAL_UINT32(1000, b->test_operations);
    TEST_ASSERT_EQUAL_UINT32(7, b->operations_load);
    TEST_ASSERT_EQUAL_UINT32(40, b->operations_store);
    TEST_ASSERT_EQUAL_UINT32(3, b->idioms_two_plus_two_w);
    TEST_ASSERT_EQUAL_UINT32(5, b->sizes_64);
    TEST_ASSERT_EQUAL_UINT32(KEY_WORD, b->transactions_retries);
    TEST_ASSERT_EQUAL_UINT32(BIAS_YES, b->transactions_disjoint);
    TEST_ASSERT_EQUAL_UINT32(SHARING_MIGRATING, b->sharing_pattern);
    TEST_ASSERT_EQUAL_UINT32(9, b->branches_otherwise);
}

static void later_values_override(void)
{
    reads("[test]\nthreads = 8\nlocations = 7\n");
    reads("[test]\nthreads = 9\n");
    TEST_ASSERT_EQUAL_UINT32(9, b->test_threads);
    TEST_ASSERT_EQUAL_UINT32(7, b->test_locations);
    sets("test.threads=10");
    sets("test.threads = 11");
    TEST_ASSERT_EQUAL_UINT32(11, b->test_threads);
}

static void a_key_of_one_section_needs_no_section(void)
{
    sets("threads=5");
    sets("2+2w=6");
    TEST_ASSERT_EQUAL_UINT32(5, b->test_threads);
    TEST_ASSERT_EQUAL_UINT32(6, b->idioms_two_plus_two_w);
    TEST_ASSERT_FALSE(bias_set(b, "share=5", &e));
    complains("'share' is a key of several sections; say loops.share, branches.share, "
              "transactions.share, dependencies.share or faults.share");
}

static void wrong_assignments(void)
{
    static const char *const cases[][2] = {
        { "threads", "'threads': expected section.key=value" },
        { "", "expected section.key=value" },
        { "thread=5", "unknown key 'thread'; did you mean 'threads'?" },
        { "nosuch=5", "unknown key 'nosuch'; 'ordeal gen --keys' lists the keys" },
        { "x=5", "unknown key 'x'; 'ordeal gen --keys' lists the keys" },
        { "tsore=5", "unknown key 'tsore'; did you mean 'store'?" },
        { "threads=2..4", "test.threads = 2..4: allowed is 1 to 256; a range, low..high, or a "
                          "choice, a | b, is for keys of a [profile NAME]" },
        { "idiom a.weight=2..4", "is for keys of a [profile NAME]" },
        { "threads=5 # five", "allowed is 1 to 256; a comment has a line of its own" },
        { "qqqqqqqqq=5", "unknown key 'qqqqqqqqq'; 'ordeal gen --keys' lists the keys" },
        { "test.thread=5", "unknown key test.thread; did you mean test.threads?" },
        { "tset.threads=5", "unknown section [tset]; did you mean [test]?" },
        { "=5", "unknown key ''" },
        { "idiom .weight=5", "the name of an idiom has 1 to 40 letters" },
        { "idiom a/b.weight=5", "the name of an idiom has 1 to 40 letters" },
        { "idiom a.weight=10001", "idiom a.weight = 10001: allowed is 0 to 10000" },
        { "idiom a.wieght=1", "unknown key 'wieght' of idiom a; did you mean weight" },
        { "idiom a.file=/does/not/exist", "idiom a.file = /does/not/exist: No such file" },
        { "idiom a.file=/", "idiom a.file = /: Is a directory" },
        { "profile a.weight=5", "there is no profile 'a'; profiles are made in a bias file" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TEST_ASSERT_FALSE_MESSAGE(bias_set(b, cases[i][0], &e), cases[i][0]);
        complains(cases[i][1]);
        TEST_ASSERT_EQUAL_STRING("--set", e.file);
        TEST_ASSERT_EQUAL_UINT64(0, e.line);
    }
}

static void wrong_files_are_refused_with_the_line(void)
{
    char long_line[400], long_section[128];
    snprintf(long_line, sizeof long_line, "[test]\n# %0300d\n", 0);
    snprintf(long_section, sizeof long_section, "[idiom %060d]\nweight = 1\n", 0);
    const struct {
        const char *text;
        uint64_t line;
        const char *part;
    } cases[] = {
        { "[test]\nthread = 5\n", 2, "unknown key test.thread; did you mean test.threads?" },
        { "[operations]\n\nflsh = 5\n", 3, "did you mean operations.flush?" },
        { "[operations]\nthreads = 5\n", 2, "did you mean test.threads?" },
        { "[operation]\nload = 5\n", 1, "unknown section [operation]; did you mean [operations]?" },
        { "[test]\nthreads = 2\n\n[qqqqqqqqqqqq]\n# no key\nload = 5\n", 4,
          "unknown section [qqqqqqqqqqqq]; 'ordeal gen --keys'" },
        { "[test]\n[tset]\n", 2, "unknown section [tset]; did you mean [test]?" },
        { "[test]\n  [tset]\n", 2, "unknown section [tset]; did you mean [test]?" },
        { "\xEF\xBB\xBF[tset]\n", 1, "unknown section [tset]; did you mean [test]?" },
        { "[]\n", 1, "unknown section []" },
        { "[test]\nqqqqqqqqqqqqq = 5\n", 2, "unknown key test.qqqqqqqqqqqqq; 'ordeal gen --keys'" },
        { "threads = 5\n", 1, "a key before the first [section]" },
        { "[test]\nthreads\n", 2, "expected '[section]' or 'key = value'" },
        { "[test\nthreads = 5\n", 1, "expected '[section]' or 'key = value'" },
        { "[test]\njunk\nthreads = 0\n", 2, "expected '[section]' or 'key = value'" },
        { "[test]\n= 5\n", 2, "a value without a key" },
        { "[test]\nthreads = 0\n", 2, "test.threads = 0: allowed is 1 to 256" },
        { "[test]\nthreads = 2 | 4\n", 2, "allowed is 1 to 256; a range, low..high, or a choice" },
        { "[test]\nthreads = 4 # four\n", 2, "allowed is 1 to 256; a comment has a line of" },
        { "[test]\nthreads = 2\nlocations = 3\nthreads = 2\n", 4,
          "test.threads was given already in line 2" },
        { "[test]\nthreads = 2\n  locations = 3\n", 3, "the line begins with a blank" },
        { "[test]\nthreads = 2\001\n", 2, "a control character" },
        { long_line, 2, "the line is too long" },
        { long_section, 1, "the name of the section is too long" },
        { "[idiom my sb]\nweight = 1\n", 1, "the name of an idiom" },
        { "[idiom a]\nweight = 1\nweight = 1\n", 3, "idiom.weight was given already in line 2" },
        { "[idiom a]\ntest = P0 L[x]\ntest = P0 L[x]\n", 3, "idiom a has its test already" },
        { "[idiom a]\ntest = P0 L[x]\nfile = y\n", 3, "idiom a has its test already" },
        { "[idiom a]\nfile = not-there.test\n", 2, "/tmp/not-there.test: No such file" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bias *fresh = bias_new();
        TEST_ASSERT_FALSE_MESSAGE(read_text(fresh, cases[i].text), cases[i].text);
        complains(cases[i].part);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(cases[i].line, e.line, cases[i].text);
        TEST_ASSERT_EQUAL_INT(0, strncmp(e.file, "/tmp/test-bias-", 15));
        bias_free(fresh);
    }
}

static void a_file_that_cannot_be_read(void)
{
    TEST_ASSERT_FALSE(bias_read(b, "/does/not/exist", &e));
    complains("No such file");
    TEST_ASSERT_EQUAL(ORDEAL_IO, e.status);
    TEST_ASSERT_EQUAL_STRING("/does/not/exist", e.file);
    TEST_ASSERT_FALSE(bias_read(b, "/", &e));
    complains("Is a directory");
}

/* ---- combinations -------------------------------------------------------------------------- */

#define NOTHING "[operations]\nload=0\nstore=0\nswap=0\ncas=0\n[membar]\nfull=0\n"

static void values_that_do_not_go_together(void)
{
    static const struct {
        const char *text;
        uint64_t line;
        const char *part;
    } cases[] = {
        { NOTHING, 2, "operations.load = 0: no operation, membar or idiom has a weight" },
        { "[sizes]\n4=0\n", 2, "sizes.4 = 0: no size has a weight above 0" },
        { "[sizes]\n4=0\n1=1\n", 2, "operations.swap = 5: a swap is of 4 or 8 bytes; sizes.4 or" },
        { "[operations]\nswap=0\ncas=0\namo=1\n[sizes]\n4=0\n1=1\n", 4,
          "operations.amo = 1: an AMO is of 4 or 8 bytes; sizes.4 or sizes.8 must have a weight" },
        { "[operations]\nswap=0\ncas=3\n[sizes]\n4=0\n2=1\n", 3, "operations.cas = 3: a CAS is" },
        { "[operations]\nswap=0\ncas=0\nnonfaulting=1\n[sizes]\n4=0\n64=1\n", 4,
          "operations.nonfaulting = 1: a non-faulting load is of 1 to 8 bytes" },
        { "[operations]\nswap=0\ncas=0\n[loops]\nshare=1\n[sizes]\n4=0\n64=1\n", 5,
          "loops.share = 1: stores of 64 bytes cannot be in loops" },
        { "[test]\nthreads=1\n[operations]\ninterrupt=1\n", 4,
          "operations.interrupt = 1: there is no other thread; test.threads must be 2" },
        { "[sizes]\n8=1\n[placement]\nwords_per_line=9\n", 4,
          "placement.words_per_line = 9: words are 8 bytes wide when accesses of 8 bytes have a "
          "weight; allowed is 1 to 8" },
        { "[placement]\nfalse_sharing=10\n", 2, "placement.false_sharing = 10: a line has one" },
        { "[placement]\nset_stride=100\n", 2, "placement.set_stride = 100: it must be a multiple" },
        { "[test]\nlocations=256\n[placement]\nlines_per_set=2\n", 4,
          "placement.set_stride = 4096: the first lines of 128 sets take 8192 bytes" },
        { "[sharing]\npattern=hot\nhot_locations=16\n", 3,
          "sharing.hot_locations = 16: there are 16 locations; allowed is less" },
        { "[sharing]\npattern=producer\n[test]\nthreads=1\n", 2,
          "sharing.pattern = producer: there is no other thread" },
        { "[sharing]\npattern=migrating\n[test]\nthreads=17\n", 2,
          "sharing.pattern = migrating: each thread needs a location of its own, and there are 16 "
          "for 17 threads" },
        { "[sharing]\npattern=private\n[test]\nthreads=9\n[transactions]\ndisjoint=yes\nshare=1\n",
          2, "there are 16, of which transactions have their own for 9 threads" },
        { "[loops]\nlength_min=7\n", 2, "loops.length_min = 7: it is more than length_max = 6" },
        { "[loops]\ncount_max=1\n", 2, "loops.count_min = 2: it is more than count_max = 1" },
        { "[branches]\nlength_min=5\n", 2, "branches.length_min = 5: it is more than" },
        { "[transactions]\nlength_min=5\n", 2,
          "transactions.length_min = 5: it is more than length_mean = 4" },
        { "[transactions]\nlength_max=3\n", 2,
          "transactions.length_mean = 4: it is more than length_max = 3" },
        { "[delays]\ncycles_min=101\n", 2, "delays.cycles_min = 101: it is more than cycles_max" },
        { "[loops]\nshare=1\ncount_min=60\ncount_max=60\n", 3,
          "loops.count_min = 60: the shortest loop takes 120 operations, and a thread has "
          "test.operations = 100" },
        { "[branches]\nshare=1\nlength_min=101\nlength_max=101\n", 3, "the shortest branch takes" },
        { "[test]\noperations=2\n[transactions]\nshare=1\nlength_min=3\n", 5,
          "transactions.length_min = 3: the shortest transaction takes 3" },
        { "[operations]\nload=0\nstore=0\nswap=0\ncas=0\nflush=1\n[membar]\nfull=0\n"
          "[transactions]\nshare=1\n",
          10, "transactions.share = 1: no operation that may stand there has a weight above 0" },
        { NOTHING "[idioms]\nsb=1\n[loops]\nshare=1\n", 11, "loops.share = 1: no operation" },
        { "[transactions]\ndisjoint=yes\n", 2, "there are no transactions" },
        { "[transactions]\ndisjoint=yes\nshare=1\n[test]\nlocations=1\n", 2,
          "transactions.disjoint = yes: all locations are in one line" },
        { "[idioms]\niriw=1\n", 2, "idioms.iriw = 1: the idiom has 4 threads; test.threads must" },
        { "[test]\noperations=3\n[idioms]\nr=1\n", 4,
          "idioms.r = 1: a thread of the idiom has 4 operations; test.operations must" },
        { "[test]\nlocations=1\n[idioms]\nsb=7\n", 4,
          "idioms.sb = 7: the idiom needs 2 different locations, and there are 1" },
        { "[test]\noperations=2041\n[sizes]\n1=1\n", 2,
          "test.operations = 2041: accesses of 1 byte give a location 255 different values, and "
          "the test could need 4082" },
        { "[sizes]\n1=1\n64=1\n[placement]\nwords_per_line=16\n[test]\noperations=128\n", 7,
          "test.operations = 128: accesses of 1 byte" },
        { "[sizes]\n1=1\n[branches]\nshare=1\n[test]\noperations=1021\n", 6, "could need 4084" },
        { "[sizes]\n1=1\n[loops]\nshare=1\ncount_max=256\n", 2, "test.operations = 100: accesses" },
        { "[sizes]\n1=1\n[loops]\nshare=1\ncount_max=244\n", 2, "test.operations = 100: accesses" },
        { "[test]\n[idiom a]\n", 2, "idiom a has no test" },
        { "[idiom a]\nweight=1\n", 1, "idiom a has no test" },
        { "[idiom a]\ntest=P0 L[x]\n", 1, "idiom a has no weight" },
        { "[idiom a]\nweight=3\ntest=P0 L[x]\n  P1 L[x]\n  P2 L[x]\n", 2,
          "idiom a.weight = 3: the idiom has 3 threads" },
        { "[idiom a]\nweight=3\ntest=P0 L[x+4]\n", 2,
          "idiom a.weight = 3: the idiom reaches 8 bytes into a line, and a line has 1 word of 4" },
        { "[transactions]\nshare=1\ndisjoint=yes\n[idiom a]\nweight=3\ntest=P0 TX.BEGIN\n"
          "  P0 L[x]\n  P0 TX.END\n  P1 L[x]\n",
          5, "inside and outside of transactions" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bias *fresh = bias_new();
        bool good = read_text(fresh, cases[i].text) && bias_check(fresh, &e);
        TEST_ASSERT_FALSE_MESSAGE(good, cases[i].text);
        complains(cases[i].part);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(cases[i].line, e.line, e.reason);
        bias_free(fresh);
    }
}

/* Next to each limit there is a bias that is allowed. */
static void values_that_just_go_together(void)
{
    static const char *const cases[] = {
        "[operations]\nload=0\nstore=0\nswap=0\ncas=0\n[membar]\nss=1\n[sizes]\n4=0\n",
        NOTHING "[idioms]\nsb=1\n",
        "[operations]\nswap=0\ncas=0\n[sizes]\n4=0\n64=1\n",
        "[test]\nthreads=1\n[operations]\ninterrupt=0\n",
        "[sizes]\n8=1\n[placement]\nwords_per_line=8\n",
        "[placement]\nwords_per_line=16\nfalse_sharing=100\n",
        "[test]\nlocations=128\n[placement]\nlines_per_set=2\n",
        "[sharing]\npattern=hot\nhot_locations=15\n",
        "[sharing]\npattern=private\n[test]\nthreads=16\n",
        "[test]\noperations=2\n[transactions]\nshare=100\nlength_min=2\n",
        "[test]\nthreads=4\n[idioms]\niriw=1\n",
        "[test]\noperations=4\n[idioms]\nr=1\n",
        "[test]\noperations=2040\n[sizes]\n1=1\n",
        "[sizes]\n1=1\n64=1\n[placement]\nwords_per_line=16\n[test]\noperations=127\n",
        "[sizes]\n1=1\n[branches]\nshare=1\n[test]\noperations=1020\n",
        "[sizes]\n1=1\n[loops]\nshare=1\ncount_max=243\n",
        "[test]\noperations=100000\n[operations]\nstore=0\nswap=0\ncas=0\n[sizes]\n1=1\n",
        "[placement]\nwords_per_line=2\n[idiom a]\nweight=3\ntest=P0 L[x+4]\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bias *fresh = bias_new();
        TEST_ASSERT_TRUE_MESSAGE(read_text(fresh, cases[i]), e.reason);
        TEST_ASSERT_TRUE_MESSAGE(bias_check(fresh, &e), e.reason);
        bias_free(fresh);
    }
}

/* ---- idioms -------------------------------------------------------------------------------- */

static void an_idiom_of_ones_own(void)
{
    reads("[idiom mine]\n"
          "weight = 9\n"
          "test =\n"
          "    P0 S[x]#1    # a comment\n"
          "\n"
          "  # another\n"
          "    P1 TX.BEGIN#3\n"
          "    P1 L[x/8] >r1\n"
          "    P1 CAS[x]?1#2\n"
          "    P1 TX.END\n"
          "    P1 DELAY#7\n"
          "    P1 S[y]#1 <r1\n");
    checks();
    struct idiom_list list;
    TEST_ASSERT_TRUE(idioms_of_bias(&list, b, &e));
    TEST_ASSERT_EQUAL_size_t(1, list.count);
    const struct idiom *x = list.data[0];
    TEST_ASSERT_EQUAL_UINT32(9, x->weight);
    TEST_ASSERT_EQUAL_STRING("idiom mine.weight", x->called);
    TEST_ASSERT_EQUAL_UINT32(2, x->threads);
    TEST_ASSERT_EQUAL_UINT32(2, x->names);
    TEST_ASSERT_EQUAL_UINT32(7, x->steps);
    TEST_ASSERT_EQUAL_UINT32(1, x->length[0]);
    TEST_ASSERT_EQUAL_UINT32(4, x->length[1]);
    TEST_ASSERT_EQUAL_UINT32(1 << 2 | 1 << 3, x->sizes);
    TEST_ASSERT_EQUAL_UINT32(2, x->name[0].values);
    TEST_ASSERT_TRUE(x->name[0].plain && x->name[0].transactional);
    TEST_ASSERT_TRUE(x->name[1].plain && !x->name[1].transactional);
    idioms_free(&list);
}

static void an_idiom_without_weight_is_left_out_but_must_be_right(void)
{
    reads("[idiom a]\nweight = 0\ntest = P0 L[x]\n");
    checks();
    struct idiom_list list;
    TEST_ASSERT_TRUE(idioms_of_bias(&list, b, &e));
    TEST_ASSERT_EQUAL_size_t(0, list.count);
    idioms_free(&list);
    sets("idiom a.test=P0 L[");
    TEST_ASSERT_FALSE(bias_check(b, &e));
}

static void wrong_idioms_are_refused_with_the_line(void)
{
    static const struct { const char *lines; uint64_t line; const char *part; } cases[] = {
        { "    P0 S[x]#1\n    P0 G[x]\n", 5, "idiom a: expected an operation" },
        { "    P0 S[x]#1\n\n # no\n    P0 S[x]#1\n", 7, "the value 1 is written there already" },
        { "    P0 S[x]#0\n", 4, "0 is what memory holds at first" },
        { "    P0 L[x]=0\n", 4, "leave out the value read" },
        { "    P0 L[0x40]\n", 4, "locations are names" },
        { "    P0 L[x/16]\n", 4, "accesses are of 1, 2, 4 or 8 bytes" },
        { "    P0 L[x+64]\n", 4, "a name is a line of 64 bytes" },
        { "    P0 CAS[x]?2#1\n", 4, "no operation of the idiom writes the value 2 there" },
        { "    P0 LOOP.BEGIN#2\n", 4, "no loops and no branches" },
        { "    P0 BRANCH.BEGIN\n", 4, "no loops and no branches" },
        { "    P0 S[x]#1+2\n", 4, "nothing to add each time round" },
        { "    P0 TX.BEGIN\n    P0 TX.BEGIN\n", 5, "a transaction inside a transaction" },
        { "    P0 TX.END\n", 4, "the end of a transaction that did not begin" },
        { "    P0 L[x]\n    P1 TX.BEGIN\n", 3, "a transaction of P1 does not end" },
        { "    P0 IPI#1\n", 4, "P1 is no other thread of the idiom" },
        { "    P0 IPI#0\n", 4, "P0 is no other thread of the idiom" },
        { "    init x=4\n    P0 L[x]\n", 3, "operations only, not 'init'" },
        { "    model SC\n    P0 L[x]\n", 3, "operations only, not 'model'" },
        { "    place x=64\n    P0 L[x]\n", 3, "operations only, not 'place'" },
        { "    seed 3\n    P0 L[x]\n", 3, "operations only, not 'seed'" },
        { "    ordeal 1\n    P0 L[x]\n    ordeal 1\n    P0 L[y]\n", 3, "an idiom is one test" },
        { "\n", 3, "the idiom has no operations" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bias *fresh = bias_new();
        char text[512];
        snprintf(text, sizeof text, "[idiom a]\nweight = 1\ntest =\n%s", cases[i].lines);
        TEST_ASSERT_TRUE_MESSAGE(read_text(fresh, text), e.reason);
        TEST_ASSERT_FALSE_MESSAGE(bias_check(fresh, &e), text);
        complains(cases[i].part);
        complains("idiom a: ");
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(cases[i].line, e.line, text);
        bias_free(fresh);
    }
}

static void an_idiom_in_a_file_of_its_own(void)
{
    char directory[] = "/tmp/test-bias-XXXXXX", test[64], bias[64];
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    snprintf(test, sizeof test, "%s/own.test", directory);
    snprintf(bias, sizeof bias, "%s/own.bias", directory);
    FILE *f = fopen(test, "w");
    fputs("ordeal 1   # a header as any test has\r\nP0 S[x]#1\nP1 L[x] ; no such thing\n", f);
    fclose(f);
    f = fopen(bias, "w");
    fputs("[idiom a]\nweight = 1\nfile = own.test\n", f);
    fclose(f);
    bool good = bias_read(b, bias, &e);
    f = fopen(test, "w");
    fputs("ordeal 1\n\nP0 S[x]#1\nP1 L[x]\n", f);
    fclose(f);
    struct bias *right = bias_new();
    bool right_good = bias_read(right, bias, &e) && bias_check(right, &e);
    unlink(test);
    unlink(bias);
    rmdir(directory);
    bias_free(right);
    TEST_ASSERT_TRUE_MESSAGE(good && right_good, e.reason);
    TEST_ASSERT_FALSE(bias_check(b, &e));
    TEST_ASSERT_EQUAL_UINT64(3, e.line);
    TEST_ASSERT_EQUAL_STRING(test, e.file);
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

static void what_is_written_reads_back_the_same(void)
{
    struct random r;
    random_seed(&r, 3, 0);
    for (int round = 0; round < 20; round++) {
        struct bias *from = bias_new(), *to = bias_new();
        for (int i = 0; i < BIAS_KEY_COUNT; i++) {
            const struct bias_key *k = &bias_keys[i];
            uint32_t words = 0;
            while (k->words && k->words[words])
                words++;
            if (words && (k->least > k->most || random_below(&r, 2)))
                from->values[i] = k->first_word + random_below(&r, words);
            else
                from->values[i] = k->least + random_below(&r, k->most - k->least + 1);
        }
        TEST_ASSERT_TRUE(bias_set(from, "idiom a+b.test=P0 S[x]#1 # c\n\n P1 L[x]\n", &e));
        TEST_ASSERT_TRUE(bias_set(from, "idiom a+b.weight=77", &e));
        char *text = written(from, round % 2);
        TEST_ASSERT_TRUE_MESSAGE(read_text(to, text), e.reason);
        TEST_ASSERT_EQUAL_UINT32_ARRAY(from->values, to->values, BIAS_KEY_COUNT);
        TEST_ASSERT_EQUAL_size_t(1, to->idioms.count);
        TEST_ASSERT_EQUAL_UINT32(77, to->idioms.data[0].weight);
        TEST_ASSERT_EQUAL_STRING("a+b", to->idioms.data[0].name);
        char *again = written(to, round % 2);
        TEST_ASSERT_EQUAL_STRING(text, again);
        TEST_ASSERT_NOT_NULL(strstr(text, "\n    P0 S[x]#1\n    P1 L[x]\n"));
        free(text);
        free(again);
        bias_free(from);
        bias_free(to);
    }
}

static void help_is_written_as_comments(void)
{
    char *text = written(b, true);
    TEST_ASSERT_NOT_NULL(strstr(text, "[test]\n# threads of a test (1 to 256; default 2)\n"
                                      "threads = 2\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "retries = 8\n"));
    free(text);
    text = written(b, false);
    TEST_ASSERT_NULL(strchr(text, '#'));
    free(text);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(defaults_are_those_of_the_table_and_go_together);
    RUN_TEST(keys_have_names_of_their_own_and_help);
    RUN_TEST(every_key_takes_what_is_allowed_and_nothing_else);
    RUN_TEST(a_file_gives_keys_by_section);
    RUN_TEST(later_values_override);
    RUN_TEST(a_key_of_one_section_needs_no_section);
    RUN_TEST(wrong_assignments);
    RUN_TEST(wrong_files_are_refused_with_the_line);
    RUN_TEST(a_file_that_cannot_be_read);
    RUN_TEST(values_that_do_not_go_together);
    RUN_TEST(values_that_just_go_together);
    RUN_TEST(an_idiom_of_ones_own);
    RUN_TEST(an_idiom_without_weight_is_left_out_but_must_be_right);
    RUN_TEST(wrong_idioms_are_refused_with_the_line);
    RUN_TEST(an_idiom_in_a_file_of_its_own);
    RUN_TEST(what_is_written_reads_back_the_same);
    RUN_TEST(help_is_written_as_comments);
    return UNITY_END();
}
