/* SPDX-License-Identifier: Apache-2.0 */
/* Records of workers: what was written is read back, and what is cut, mixed up or made up is refused. */
#include "shell.h"

#include "base/text.h"
#include "regress/record.h"
#include "regress/store.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

static char *slurp_all(const char *file)
{
    char *text = calloc(1, 1 << 20);
    slurp(file, text, 1 << 20);
    return text;
}

static bool read_text(struct record *r, const char *text, struct why *why)
{
    FILE *in = fmemopen((void *)text, strlen(text), "r");
    TEST_ASSERT_NOT_NULL(in);
    bool good = record_read(r, in, "r", why);
    fclose(in);
    return good;
}

static void make_record(void)
{
    EXPECT(1, "$ORDEAL run --target model --bug forward-oldest --check --keep-going --count 12 "
              "--first 3 --cover c --record r --save kept --examples 2");
}

static void a_record_comes_back(void)
{
    struct record r;
    struct why why = { "" };
    char *again = NULL;
    size_t size;
    make_record();
    TEST_ASSERT_TRUE_MESSAGE(record_load(&r, "r", &why), why.text);
    TEST_ASSERT_EQUAL(12, r.tests.count);
    TEST_ASSERT_EQUAL(3, r.tests.data[0].number);
    TEST_ASSERT_EQUAL_STRING("done", r.end);
    TEST_ASSERT_TRUE(r.cover && r.known > 100 && r.reached.count > 10);
    uint64_t news = 0, points = 0, counts = 0, failed = 0;
    for (size_t i = 0; i < r.tests.count; i++) {
        news += r.tests.data[i].news.count;
        points += r.tests.data[i].points;
        failed += r.tests.data[i].failure != NULL;
    }
    for (size_t i = 0; i < r.reached.count; i++)
        counts += r.reached.data[i].count;
    TEST_ASSERT_EQUAL(r.reached.count, news);
    TEST_ASSERT_EQUAL(points, counts);
    TEST_ASSERT_TRUE(failed > 2);
    FILE *out_stream = text_stream(&again, &size);
    TEST_ASSERT_TRUE(record_write(&r, out_stream));
    TEST_ASSERT_EQUAL(0, fclose(out_stream));
    record_free(&r);
    char *text = slurp_all("r");
    TEST_ASSERT_EQUAL_STRING(text, again);
    free(text);
    free(again);
    EXPECT(0, "ls kept | wc -l");
    TEST_ASSERT_TRUE(atoi(out) >= 2 && (uint64_t)atoi(out) < failed);
}

static void every_cut_is_noticed(void)
{
    struct record r;
    struct why why;
    make_record();
    char *text = slurp_all("r");
    size_t length = strlen(text);
    for (size_t cut = 1; cut < length - 1; cut += cut % 97 + 1) {
        char kept = text[cut];
        text[cut] = '\0';
        why.text[0] = '\0';
        TEST_ASSERT_FALSE(read_text(&r, text, &why));
        TEST_ASSERT_TRUE(*why.text);
        record_free(&r);
        text[cut] = kept;
    }
    free(text);
}

#define HEAD \
    "{\"ordeal-record\":1,\"program\":\"x\",\"target\":\"sim\",\"seed\":1,\"first\":5,\"how\":\"h\"," \
    "\"machine\":{\"description\":\"\",\"identity\":\"\",\"sources\":\"\",\"configuration\":\"\"," \
    "\"revision\":\"\"}}\n"
#define TEST(NUMBER, VERDICT, MORE) \
    "{\"test\":" NUMBER ",\"verdict\":\"" VERDICT "\",\"iterations\":1,\"outcomes\":1," \
    "\"operations\":1,\"cycles\":0,\"seconds\":0" MORE "}\n"
#define END(LINES) "{\"end\":\"done\",\"reason\":\"\",\"seconds\":1,\"lines\":" LINES "}\n"
#define FAILURE(FOLDER) \
    ",\"failure\":{\"iteration\":0,\"model\":\"TSO\",\"signature\":\"s\",\"kind\":\"violation\"," \
    "\"title\":\"\",\"reason\":\"\",\"operations\":1,\"folder\":\"" FOLDER "\"}"

static void nonsense_is_refused(void)
{
    static const struct {
        const char *text, *said;
    } wrong[] = {
        { "x\n", "r:1: this is no JSON object" },
        { "{}\n", "r:1: this is no record" },
        { "{\"ordeal-record\":2}\n", "a record of version 2; this program knows 1" },
        { HEAD, "it has no end" },
        { HEAD END("2"), "r:2: some lines are missing" },
        { HEAD END("1") END("2"), "r:3: something follows the end" },
        { HEAD TEST("4", "PASS", "") END("2"), "r:2: tests are to be in order" },
        { HEAD TEST("5", "PASS", "") TEST("5", "PASS", "") END("3"),
          "r:3: tests are to be in order" },
        { HEAD TEST("5", "GOOD", ""), "'verdict' is to be PASS, FAIL" },
        { HEAD TEST("5", "FAIL", ""), "'failure' is of a FAIL" },
        { HEAD TEST("5", "PASS", FAILURE("a")), "'failure' is of a FAIL" },
        { HEAD TEST("5", "FAIL", FAILURE("../a")), "'folder' is to be a name" },
        { HEAD TEST("5", "FAIL", FAILURE(".")), "'folder' is to be a name" },
        { HEAD TEST("-5", "PASS", ""), "'test' is to be a whole number" },
        { HEAD TEST("5", "PASS", ",\"points\":1,\"news\":[2,2]"), "'news' are to be numbers" },
        { HEAD TEST("5", "PASS", ",\"points\":0,\"news\":[2]"), "more 'news' than 'points'" },
        { HEAD "{\"incident\":\"bad\",\"test\":1,\"text\":\"\"}\n", "no incident of this kind" },
        { HEAD "{\"known\":1,\"of\":2,\"reached\":[]}\n", "it has other points" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct record r;
        struct why why = { "" };
        TEST_ASSERT_FALSE_MESSAGE(read_text(&r, wrong[i].text, &why), wrong[i].said);
        contains(why.text, wrong[i].said, __LINE__);
        record_free(&r);
    }
    struct record r;
    struct why why;
    TEST_ASSERT_TRUE(read_text(&r, HEAD TEST("5", "FAIL", FAILURE("a")) END("2"), &why));
    record_free(&r);
}

static void options_that_need_others_say_so(void)
{
    EXPECT(2, "$ORDEAL run --target model --record r");
    ERR("--record is of verdicts; add --check");
    EXPECT(2, "$ORDEAL run --target model --check --examples 2");
    ERR("--examples goes with --record");
    EXPECT(2, "$ORDEAL run --target model --check --record none/r");
    ERR("--record 'none/r': No such file or directory");
    EXPECT(0, "$ORDEAL run --target model --check --prepare --record r --count 5");
    OUT("tests=0 ");
    struct record r;
    struct why why;
    TEST_ASSERT_TRUE(record_load(&r, "r", &why));
    TEST_ASSERT_EQUAL(0, r.tests.count);
    record_free(&r);
}

/* An emulator is not this computer, but it runs there. */
static void an_emulator_is_named(void)
{
    EXPECT(0,
           "$ORDEAL run --target elf --machine qemu --set threads=2 --count 1 --check --record r");
    EXPECT(0, "grep -q '\"description\":\"qemu on ' r");
    EXPECT(0, "$ORDEAL run --target native --set threads=2 --count 1 --check --record r");
    EXPECT(1, "grep -q '\"description\":\"[^\"]* on ' r");
}

/* ---- merged ---------------------------------------------------------------------------------- */

static void make_runs(struct store *s, struct plan_run *plans, struct store_run *runs)
{
    static const struct machine_identity machine = { .identity = "x" };
    static char *const names[] = { (char *)"one", (char *)"two" };
    struct why why = { "" };
    for (int i = 0; i < 2; i++) {
        plans[i] = (struct plan_run){ .name = names[i], .target = &target_model, .weight = 1 };
        runs[i] = (struct store_run){ .plan = &plans[i], .identity = "x", .machine = &machine };
        TEST_ASSERT_TRUE_MESSAGE(store_take_run(s, &runs[i], &why), why.text);
    }
}

/* One test, which failed with the signature "s": the second run's is the smaller. */
static void merge_one(struct store *s, struct store_run *run, bool second)
{
    struct record_failure f = { .operations = second ? 5 : 9,
                                .model = (char *)"TSO",
                                .signature = (char *)"s",
                                .kind = (char *)"violation",
                                .title = second ? (char *)"the second" : (char *)"the first",
                                .reason = (char *)"",
                                .folder = (char *)"kept" };
    struct record_test t = { .verdict = RECORD_FAIL, .profile = (char *)"p", .failure = &f };
    struct record r = { .end = (char *)"done" };
    struct store_unit unit = { .run = run, .folders = "from", .examples = 1 };
    struct why why = { "" };
    EXPECT(0, "mkdir -p from/kept");
    TEST_ASSERT_TRUE(LIST_PUSH(&r.tests, t));
    TEST_ASSERT_TRUE_MESSAGE(store_merge(s, &unit, &r, &why), why.text);
    LIST_FREE(&r.tests);
}

static void merge_two(const char *file, int first, struct store_bucket *b)
{
    struct plan_run plans[2];
    struct store_run runs[2];
    struct store *s;
    struct why why = { "" };
    TEST_ASSERT_TRUE_MESSAGE(store_open(&s, file, false, &why), why.text);
    TEST_ASSERT_TRUE(store_begin_session(s, "local", &why));
    make_runs(s, plans, runs);
    merge_one(s, &runs[first], first == 1);
    merge_one(s, &runs[!first], first == 0);
    TEST_ASSERT_TRUE(store_find_bucket(s, "s", b));
    TEST_ASSERT_TRUE(store_end_session(s, "done", &why));
    store_close(s);
}

/* Workers are faster at some times than at others; what a bucket says of itself is of its example. */
static void a_bucket_is_the_same_in_whatever_order_units_come(void)
{
    struct store_bucket one, other;
    merge_two("a.db", 0, &one);
    merge_two("b.db", 1, &other);
    TEST_ASSERT_EQUAL_STRING("the second", one.title);
    TEST_ASSERT_EQUAL_STRING(one.title, other.title);
    TEST_ASSERT_EQUAL_STRING(one.folder, other.folder);
    TEST_ASSERT_EQUAL(one.run, other.run);
    TEST_ASSERT_EQUAL(5, one.operations);
    TEST_ASSERT_EQUAL(5, other.operations);
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(a_record_comes_back);
    RUN_TEST(every_cut_is_noticed);
    RUN_TEST(nonsense_is_refused);
    RUN_TEST(options_that_need_others_say_so);
    RUN_TEST(an_emulator_is_named);
    RUN_TEST(a_bucket_is_the_same_in_whatever_order_units_come);
    return UNITY_END();
}
