/* SPDX-License-Identifier: Apache-2.0 */
/* Idioms that say where their names lie: the generator puts them there, and what cannot be is
 * refused. */
#include <unistd.h>

#include "making.h"

void setUp(void) { making_open(); }
void tearDown(void) { making_close(); }

static void give(const char *assignment)
{
    TEST_ASSERT_TRUE_MESSAGE(bias_set(b, assignment, &e), e.reason);
}

/* Three names, each read by a load of its own: P0 reads x, y and z, in this order. */
#define THREE "idiom a.test=P0 L[x]\nP0 L[y]\nP0 L[z]\n"

static void three_alone(const char *keys)
{
    set(NOTHING " threads=1 operations=3");
    give(THREE);
    give("idiom a.weight=1");
    set(keys);
}

static uint32_t line_at(size_t i) { return line_of(op(i)); }

static uint64_t place_at(size_t i)
{
    uint64_t place = 0;
    TEST_ASSERT_TRUE(ordeal_trace_place_of(t, op(i)->base, &place));
    return place;
}

static bool is_uncached(size_t i)
{
    return ordeal_trace_memory_of(t, op(i)->base) == ORDEAL_UNCACHED;
}

static bool one_word(size_t i, size_t k)
{
    return op(i)->base == op(k)->base && op(i)->address == op(k)->address;
}

/* Makes tests, each the idiom once, and calls back for each. */
static void for_each_test(void (*look)(void))
{
    enum { TESTS = 200 };
    uint64_t hash = 0;
    int others = 0;
    start(1);
    for (uint64_t n = 0; n < TESTS; n++) {
        make(n);
        TEST_ASSERT_EQUAL_size_t(3, length());
        TEST_ASSERT_FALSE(one_word(0, 1) || one_word(0, 2) || one_word(1, 2));
        look();
        others += hash != hash_of_test();
        hash = hash_of_test();
    }
    TEST_ASSERT_GREATER_THAN_INT(TESTS / 2, others);
}

static void x_and_z_share_a_line(void)
{
    TEST_ASSERT_EQUAL_UINT32(op(0)->base, op(2)->base);
    TEST_ASSERT_EQUAL_UINT64(op(0)->address / 16, op(2)->address / 16);
}

static void some_in_one_line(void)
{
    three_alone("locations=40 words_per_line=8");
    give("idiom a.one_line=x z");
    for_each_test(x_and_z_share_a_line);
    set("words_per_line=2 locations=10");
    for_each_test(x_and_z_share_a_line);
    set("words_per_line=16 locations=33 sizes.8=0");
    for_each_test(x_and_z_share_a_line);
}

static void x_and_z_share_a_set(void)
{
    uint64_t x = place_at(0), z = place_at(2);
    TEST_ASSERT_TRUE(x != z);
    TEST_ASSERT_EQUAL_UINT64(x % 1024, z % 1024);
}

static void some_in_one_set(void)
{
    three_alone("locations=13 lines_per_set=4 set_stride=1024");
    give("idiom a.one_set=z x");
    for_each_test(x_and_z_share_a_set);
    set("words_per_line=3 locations=20");
    for_each_test(x_and_z_share_a_set);
}

static void x_and_z_share_a_set_and_are_cached(void)
{
    x_and_z_share_a_set();
    TEST_ASSERT_FALSE(is_uncached(0) || is_uncached(2));
}

/* What is uncached is in no set of a cache. */
static void one_set_is_of_cached_lines(void)
{
    three_alone("locations=12 lines_per_set=4 set_stride=1024 uncached=40");
    give("idiom a.one_set=z x");
    for_each_test(x_and_z_share_a_set_and_are_cached);
}

static void all_lines_differ(void)
{
    TEST_ASSERT_TRUE(line_at(0) != line_at(1) && line_at(0) != line_at(2)
                     && line_at(1) != line_at(2));
}

static void all_apart(void)
{
    three_alone("locations=24 words_per_line=8");
    give("idiom a.apart=x y z");
    for_each_test(all_lines_differ);
}

static void y_is_uncached(void) { TEST_ASSERT_TRUE(is_uncached(1)); }

static void one_uncached(void)
{
    three_alone("locations=12 uncached=10");
    give("idiom a.uncached=y");
    for_each_test(y_is_uncached);
}

static void y_and_z_share_an_uncached_line(void)
{
    TEST_ASSERT_TRUE(is_uncached(1) && is_uncached(2));
    TEST_ASSERT_EQUAL_UINT32(op(1)->base, op(2)->base);
    TEST_ASSERT_TRUE(op(0)->base != op(1)->base);
}

static void all_at_once(void)
{
    three_alone("locations=24 words_per_line=4 uncached=20");
    give("idiom a.uncached=z");
    give("idiom a.one_line=y z");
    give("idiom a.apart=x y");
    for_each_test(y_and_z_share_an_uncached_line);
}

/* The first name is in a line or set that has room for the others, too. */
static void what_has_no_room_is_passed_over(void)
{
    three_alone("locations=10 words_per_line=4"); /* the last line has two words */
    give("idiom a.one_line=x y z");
    for_each_test(x_and_z_share_a_line);
}

static void in_a_whole_test(void)
{
    set("threads=4 operations=300 locations=40 words_per_line=4 lines_per_set=3 uncached=20 "
        "transactions.share=20 sizes.1=1");
    give("idiom a.test=P0 S[x]#1\nP0 S[y]#1\nP1 L[y]\nP1 L[x]\nP1 S[z]#4\n");
    give("idiom a.weight=50");
    give("idiom a.one_set=x y z");
    give("idiom b.test=P0 S[x]#1\nP0 L[y]\nP1 S[y]#1\nP1 L[x]\n");
    give("idiom b.weight=50");
    give("idiom b.one_line=x y");
    give("idiom b.uncached=x");
    start(1);
    make(0);
    is_sound(true);
    set("disjoint=yes");
    start(1);
    make(0);
    is_sound(true);
}

/* ---- what is refused ----------------------------------------------------------------------- */

static void wrong_places_are_refused(void)
{
    static const struct {
        const char *key, *also, *keys, *part;
    } cases[] = {
        { "one_line=x q", NULL, "words_per_line=4",
          "idiom a.one_line = … q: its test has no such name; it has x y z" },
        { "one_line=x x", NULL, "words_per_line=4", "one_line = … x: the name is there twice" },
        { "apart=x", NULL, "threads=1", "idiom a.apart: it takes two names or more" },
        { "one_line=x y", "apart=y x", "words_per_line=4",
          "idiom a.apart: two of its names are in one_line and in apart" },
        { "one_set=x y", "one_line=x y z", "words_per_line=4",
          "two of its names are in one_line and in one_set" },
        { "one_line=x y z", NULL, "words_per_line=2",
          "idiom a.weight = 1: one_line has 3 names, "
          "and of words in a line there are only 2; raise placement.words_per_line" },
        { "one_set=x y z", NULL, "lines_per_set=2",
          "one_set has 3 names, and of lines in a set "
          "there are only 2; raise placement.lines_per_set" },
        { "one_set=x y z", NULL, "words_per_line=2 lines_per_set=4 locations=4",
          "one_set has 3 names, and of lines there are only 2; raise test.locations" },
        { "apart=x y", NULL, "words_per_line=4 locations=4",
          "apart has 2 names, and of lines there is only 1; raise test.locations" },
        { "uncached=x", "one_set=x y", "lines_per_set=2 placement.uncached=10",
          "idiom a.one_set: one of its names is in uncached, or in a line of one, and in one_set" },
        { "uncached=x", NULL, "threads=1",
          "it has uncached names; placement.uncached must be above 0" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        bias_free(b);
        b = bias_new();
        three_alone(cases[i].keys);
        snprintf(text, sizeof text, "idiom a.%s", cases[i].key);
        give(text);
        snprintf(text, sizeof text, "idiom a.%s", cases[i].also);
        if (cases[i].also)
            give(text);
        TEST_ASSERT_FALSE_MESSAGE(bias_check(b, &e), cases[i].part);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, cases[i].part), e.reason);
    }
}

static void places_and_transactions(void)
{
    set("words_per_line=4 transactions.share=10 disjoint=yes");
    give("idiom a.test=P0 TX.BEGIN\nP0 L[x]\nP0 TX.END\nP0 L[y]\n");
    give("idiom a.weight=1");
    give("idiom a.one_line=x y");
    TEST_ASSERT_FALSE(bias_check(b, &e));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, "one_line has names inside and outside of "
                                                  "transactions"),
                                 e.reason);
    set("disjoint=no");
    TEST_ASSERT_TRUE_MESSAGE(bias_check(b, &e), e.reason);
    give("idiom a.test=P0 L[x/8]\nP0 L[y]\n");
    set("words_per_line=4 sizes.4=1");
    TEST_ASSERT_TRUE(bias_check(b, &e)); /* words are 8 bytes wide then */
    give("idiom a.test=P0 L[x+4]\nP0 L[y]\n");
    TEST_ASSERT_FALSE(bias_check(b, &e));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, "one_line is for names of one word each"),
                                 e.reason);
}

static bool read_text(struct bias *into, const char *text)
{
    char path[] = "/tmp/test-places-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    fputs(text, f);
    fclose(f);
    bool good = bias_read(into, path, &e);
    unlink(path);
    return good;
}

static void the_line_is_told(void)
{
    TEST_ASSERT_TRUE(read_text(b, "[idiom a]\nweight=1\none_line = x q\ntest=P0 L[x]\n"));
    TEST_ASSERT_FALSE(bias_check(b, &e));
    TEST_ASSERT_EQUAL_UINT64(3, e.line);
    bias_free(b);
    b = bias_new();
    TEST_ASSERT_TRUE(read_text(b, "[idiom a]\nweight=1\ntest=P0 L[x]\n P0 L[y]\none_set = x y\n"));
    TEST_ASSERT_FALSE(bias_check(b, &e));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, "raise placement.lines_per_set"), e.reason);
    TEST_ASSERT_EQUAL_UINT64(5, e.line);
    TEST_ASSERT_FALSE(read_text(b, "[idiom a]\napart=x y\napart=x y\n"));
    TEST_ASSERT_EQUAL_UINT64(3, e.line);
    TEST_ASSERT_FALSE(read_text(b, "[idiom a]\none_lines=x y\n"));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, "did you mean one_line"), e.reason);
}

static void what_is_written_reads_back_the_same(void)
{
    char *text = NULL, *again = NULL;
    size_t size;
    three_alone("words_per_line=4 uncached=10");
    give("idiom a.one_line=x  y");
    give("idiom a.uncached=z");
    FILE *f = open_memstream(&text, &size);
    bias_write(b, f, false);
    fclose(f);
    TEST_ASSERT_NOT_NULL(strstr(text, "weight = 1\nuncached = z\none_line = x  y\ntest =\n"));
    bias_free(b);
    b = bias_new();
    TEST_ASSERT_TRUE_MESSAGE(read_text(b, text) && bias_check(b, &e), e.reason);
    f = open_memstream(&again, &size);
    bias_write(b, f, false);
    fclose(f);
    TEST_ASSERT_EQUAL_STRING(text, again);
    free(text);
    free(again);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(some_in_one_line);
    RUN_TEST(some_in_one_set);
    RUN_TEST(one_set_is_of_cached_lines);
    RUN_TEST(all_apart);
    RUN_TEST(one_uncached);
    RUN_TEST(all_at_once);
    RUN_TEST(what_has_no_room_is_passed_over);
    RUN_TEST(in_a_whole_test);
    RUN_TEST(wrong_places_are_refused);
    RUN_TEST(places_and_transactions);
    RUN_TEST(the_line_is_told);
    RUN_TEST(what_is_written_reads_back_the_same);
    return UNITY_END();
}
