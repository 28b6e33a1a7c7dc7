/* SPDX-License-Identifier: Apache-2.0 */
/* The zoo as a table, and the options that choose a machine: names that are nearly right, what
 * cannot be, what is said then. The machines themselves are another matter (test_sim_*). */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "targets/machine_pool.h"
#include "models.h"
#include "targets/soc/soc_config.h"
#include "unity.h"
#include "targets/soc/zoo.h"

static struct why why;
static struct soc_config config;
static char *text;               /* what was printed */
static size_t length;

void setUp(void) { why = (struct why){ "" }; }

void tearDown(void)
{
    free(text);
    text = NULL;
}

static void said(const char *part)
{
    char message[1200];
    snprintf(message, sizeof message, "'%s' is not in: %s", part, why.text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, part), message);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void every_bug_is_told_in_full(void)
{
    TEST_ASSERT_EQUAL(47, zoo.count - 1);
    for (int b = 1; b < zoo.count; b++) {
        const struct bug_entry *e = &zoo.entry[b];
        const char *const told[] = { e->name, e->area, e->models, e->wrong, e->exposed,
                                     e->resembles };
        for (size_t i = 0; i < sizeof told / sizeof *told; i++)
            TEST_ASSERT_TRUE_MESSAGE(told[i] && *told[i], e->name ? e->name : "a gap");
        TEST_ASSERT_EQUAL_MESSAGE(strlen(e->models), strspn(e->models, "STPR"), e->name);
        TEST_ASSERT_EQUAL_MESSAGE(strlen(e->name), strspn(e->name, "abcdefghijklmnopqrstuvwxyz-"),
                                  e->name);
        for (int other = 1; other < b; other++)
            TEST_ASSERT_NOT_EQUAL_MESSAGE(0, strcmp(zoo.entry[other].name, e->name), e->name);
        int areas = 0;
        for (const struct bug_area *a = zoo.areas; a->name; a++)
            areas += strcmp(a->name, e->area) == 0;
        TEST_ASSERT_EQUAL_MESSAGE(1, areas, e->name);
    }
}

static void print(bool json)
{
    FILE *stream = open_memstream(&text, &length);
    bugs_print(&zoo, json, stream);
    fclose(stream);
}

/* As Table 6.2 has its columns; where there is nothing the list says why. */
static void the_list_is_grouped_as_table_6_2(void)
{
    static const char *const areas[] = { "Pipe\n", "\nCaches\n", "\nTLB: translation is not built",
                                         "\nLd/St Unit\n", "\nMem. Ctlr\n", "\nInter-connect\n",
                                         "\nTransactions: not in Table 6.2" };
    print(false);
    const char *at = text;
    for (size_t i = 0; i < sizeof areas / sizeof *areas; i++) {
        at = strstr(at, areas[i]);
        TEST_ASSERT_NOT_NULL_MESSAGE(at, areas[i]);
    }
    for (int b = 1; b < zoo.count; b++) {
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, zoo.entry[b].wrong), zoo.entry[b].name);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, zoo.entry[b].resembles), zoo.entry[b].name);
    }
    TEST_ASSERT_TRUE(strstr(text, "stores-reorder") > strstr(text, "Ld/St Unit"));
    TEST_ASSERT_TRUE(strstr(text, "stores-reorder") < strstr(text, "Mem. Ctlr"));
}

static void the_list_as_json_has_a_line_for_each(void)
{
    print(true);
    char *rest = text;
    int bugs = 0, notes = 0;
    for (char *line; (line = strtok_r(rest, "\n", &rest)); ) {
        cJSON *object = cJSON_Parse(line);
        TEST_ASSERT_TRUE_MESSAGE(cJSON_IsObject(object), line);
        TEST_ASSERT_NOT_NULL(cJSON_GetStringValue(cJSON_GetObjectItem(object, "area")));
        const cJSON *number = cJSON_GetObjectItem(object, "number");
        if (number) {
            const struct bug_entry *e = &zoo.entry[number->valueint];
            TEST_ASSERT_EQUAL_STRING(e->name,
                                     cJSON_GetStringValue(cJSON_GetObjectItem(object, "bug")));
            TEST_ASSERT_EQUAL(strlen(e->models),
                              cJSON_GetArraySize(cJSON_GetObjectItem(object, "models")));
        }
        bugs += number != NULL;
        notes += cJSON_HasObjectItem(object, "note");
        cJSON_Delete(object);
    }
    TEST_ASSERT_EQUAL(47, bugs);
    TEST_ASSERT_EQUAL(2, notes);
}

static void a_bug_is_chosen_by_its_name(void)
{
    int number = 0;
    TEST_ASSERT_TRUE(bug_parse(&zoo, "upgrade-wins", ORDEAL_SC, &number, &why));
    TEST_ASSERT_EQUAL(22, number);
    TEST_ASSERT_FALSE(bug_parse(&zoo, "upgrade-win", ORDEAL_SC, &number, &why));
    said("did you mean 'upgrade-wins'?");
    said("deadlock");
    TEST_ASSERT_FALSE(bug_parse(&zoo, "coalesce", ORDEAL_RMO, &number, &why));
    said("the bug 'coalesce' cannot be in the machine of RMO; it can be in: TSO");
}

/* ---- parameters and setup -------------------------------------------------------------------- */

static bool parse(struct target_options options)
{
    return soc_config_parse(&config, &options, &why);
}

static void what_is_not_said_is_as_usual(void)
{
    TEST_ASSERT_TRUE(parse((struct target_options){ 0 }));
    TEST_ASSERT_EQUAL(6, config.sizes);
    TEST_ASSERT_EQUAL(4, config.size[0].harts);
    TEST_ASSERT_EQUAL(16, config.size[0].sets);
    TEST_ASSERT_EQUAL(2, config.size[0].ways);
    TEST_ASSERT_TRUE(config.size[0].transactions && config.size[0].checks);
    TEST_ASSERT_FALSE(config.size[0].waves);
    TEST_ASSERT_EQUAL(SOC_TSO, config.setup.model);
    TEST_ASSERT_EQUAL(SOC_CAPTURE_STALL, config.setup.capture);
    TEST_ASSERT_FALSE(config.setup.visible);
    TEST_ASSERT_EQUAL(0, config.setup.bug);
}

static void what_is_said_is_taken(void)
{
    TEST_ASSERT_TRUE_MESSAGE(parse((struct target_options){
        .harts = 2, .model = ORDEAL_RMO, .model_given = true, .bug = "deadlock", .delay = "7",
        .capture = "lossy", .visible = true,
        .config = "sets=1,ways=4,line=64,store-buffer=1,load-queue=8,transactions=0" }), why.text);
    TEST_ASSERT_EQUAL(1, config.sizes);
    TEST_ASSERT_EQUAL(2, config.size[0].harts);
    TEST_ASSERT_EQUAL(1, config.size[0].sets);
    TEST_ASSERT_EQUAL(4, config.size[0].ways);
    TEST_ASSERT_EQUAL(64, config.size[0].line_bytes);
    TEST_ASSERT_EQUAL(1, config.size[0].store_buffer);
    TEST_ASSERT_EQUAL(8, config.size[0].load_queue);
    TEST_ASSERT_FALSE(config.size[0].transactions);
    TEST_ASSERT_EQUAL(SOC_RMO, config.setup.model);
    TEST_ASSERT_EQUAL(36, config.setup.bug);
    TEST_ASSERT_EQUAL(7, config.setup.delay);
    TEST_ASSERT_EQUAL(SOC_CAPTURE_LOSSY, config.setup.capture);
    TEST_ASSERT_TRUE(config.setup.visible);
}

/* The names of all sizes, one after the other. */
static const char *sizes_of(struct target_options options)
{
    static char names[SOC_MOST_SIZES * MODEL_NAME];
    size_t used = 0;
    TEST_ASSERT_TRUE_MESSAGE(parse(options), why.text);
    for (int i = 0; i < config.sizes; i++) {
        char name[MODEL_NAME];
        model_name(&config.size[i], name, sizeof name);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? " " : "", name);
    }
    return names;
}

/* As sim/sizes.def promises. */
static void sizes_take_turns(void)
{
    uint32_t sets = 0, ways = 0, lines = 0, buffers = 0, queues = 0, harts = 0;
    TEST_ASSERT_TRUE(parse((struct target_options){ 0 }));
    for (int i = 0; i < config.sizes; i++) {
        const struct soc_parameters *p = &config.size[i];
        sets |= p->sets;
        ways |= p->ways;
        lines |= p->line_bytes;
        buffers |= UINT32_C(1) << p->store_buffer;
        queues |= UINT32_C(1) << p->load_queue;
        harts |= UINT32_C(1) << p->harts;
    }
    TEST_ASSERT_EQUAL(1 | 2 | 4 | 16, sets);
    TEST_ASSERT_EQUAL(1 | 2 | 4, ways);
    TEST_ASSERT_EQUAL(16 | 32 | 64, lines);
    TEST_ASSERT_EQUAL_HEX(1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16, buffers);
    TEST_ASSERT_EQUAL_HEX(1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, queues);
    TEST_ASSERT_EQUAL_HEX(1 << 2 | 1 << 3 | 1 << 4, harts);
}

static void what_is_said_is_said_of_all_sizes(void)
{
    static const struct {
        struct target_options options;
        const char *names;
    } table[] = {
        { { .sizes = "usual" }, "h4-s16-w2-l4-b8-q4" },
        { { .sizes = "h2-s1-w2-l4-b8-q4,usual", .config = "checks=0" },
          "h2-s1-w2-l4-b8-q4-nochecks h4-s16-w2-l4-b8-q4-nochecks" },
        { { .sizes = "h2-s1-w2-l4-b8-q4,usual", .harts = 3, .config = "sets=4" },
          "h3-s4-w2-l4-b8-q4" },
        { { .config = "ways=1,line=16,store-buffer=8,load-queue=4", .harts = 2 },
          "h2-s16-w1-l4-b8-q4 h2-s2-w1-l4-b8-q4 h2-s4-w1-l4-b8-q4 h2-s1-w1-l4-b8-q4" },
        { { .config = "lean=1" }, "lean" },
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        TEST_ASSERT_EQUAL_STRING(table[i].names, sizes_of(table[i].options));
}

static void what_cannot_be_is_explained(void)
{
    static const struct {
        struct target_options options;
        const char *said;
    } table[] = {
        { { .config = "set=2" }, "did you mean 'sets'?" },
        { { .config = "sets" }, "the keys are sets, ways, line, store-buffer" },
        { { .config = "sets=3" }, "'sets=3': expected a power of two from 1 to 1024" },
        { { .config = "ways=2,sets=" }, "'sets='" },
        { { .config = "ways=8" }, "from 1 to 4" },
        { { .config = "line=8" }, "a power of two from 16 to 64" },
        { { .config = "store-buffer=17" }, "a number from 1 to 16" },
        { { .config = "load-queue=-1" }, "'load-queue=-1'" },
        { { .config = "load-queue=4294967297" }, "'load-queue=4294967297'" },
        { { .config = "transactions=2" }, "a number from 0 to 1" },
        { { .harts = 17 }, "16" },
        { { .model = ORDEAL_PC, .model_given = true }, "SC, TSO, PSO, RMO" },
        { { .bug = "dedlock" }, "did you mean 'deadlock'?" },
        { { .bug = "sc-loads-early" }, "it can be in: SC" },
        { { .delay = "8" }, "from 0, none, to 7" },
        { { .delay = "" }, "from 0" },
        { { .capture = "drop" }, "'stall' or be 'lossy'" },
        { { .sizes = "" }, "expected 'usual' or names such as h4-s2-w2-l4-b4-q4" },
        { { .sizes = "usual,h4" }, "it would be 'h4-s16-w2-l4-b8-q4'" },
        { { .sizes = "usual," }, "what is ''?" },
        { { .sizes = "h4-s2-w2-l4-b4-q4,h4-s3-w2-l4-b4-q4" }, "sets of a cache: 3" },
        { { .sizes = "lean", .config = "sets=2" }, "the lean machine has 16" },
        { { .sizes = "usual,lean", .visible = true }, "the lean machine does not have" },
        { { .soc = "x.so", .sizes = "usual" }, "--sizes does not go with it" },
        { { .soc = "x.so", .config = "sets=1" }, "--config does not go with it" },
        { { .soc = "x.so", .harts = 2 }, "--harts does not go with it" },
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        TEST_ASSERT_FALSE_MESSAGE(parse(table[i].options), table[i].said);
        said(table[i].said);
    }
}

/* ---- options and targets --------------------------------------------------------------------- */

static void options_of_other_targets_are_refused(void)
{
    struct target_options o = { .visible = true };
    TEST_ASSERT_TRUE(target_options_fit(&o, "sim", &why));
    TEST_ASSERT_FALSE(target_options_fit(&o, "model", &why));
    said("--visible is for --target sim or board; the target 'model' does not know it");
    o = (struct target_options){ .bug = "x" };
    TEST_ASSERT_TRUE(target_options_fit(&o, "model", &why));
    TEST_ASSERT_FALSE(target_options_fit(&o, "elf", &why));
    said("--bug is for --target model, sim or board;");
    o = (struct target_options){ .harts = 2 };
    TEST_ASSERT_FALSE(target_options_fit(&o, "native", &why));
    said("--harts is for --target sim;");
}

static void options_become_words_again(void)
{
    struct target_options o = {
        .bug = "deadlock", .harts = 2, .config = "sets=1", .visible = true, .delay = "5"
    };
    static const char *const words[] = { "--bug", "deadlock", "--harts", "2", "--config", "sets=1",
                                         "--delay", "5", "--visible", NULL };
    struct target_option_words w;
    target_option_words(&o, &w);
    for (int i = 0; words[i]; i++)
        TEST_ASSERT_EQUAL_STRING(words[i], w.word[i]);
    TEST_ASSERT_NULL(w.word[9]);
    target_option_words(&(struct target_options){ 0 }, &w);
    TEST_ASSERT_NULL(w.word[0]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(every_bug_is_told_in_full);
    RUN_TEST(the_list_is_grouped_as_table_6_2);
    RUN_TEST(the_list_as_json_has_a_line_for_each);
    RUN_TEST(a_bug_is_chosen_by_its_name);
    RUN_TEST(what_is_not_said_is_as_usual);
    RUN_TEST(what_is_said_is_taken);
    RUN_TEST(sizes_take_turns);
    RUN_TEST(what_is_said_is_said_of_all_sizes);
    RUN_TEST(what_cannot_be_is_explained);
    RUN_TEST(options_of_other_targets_are_refused);
    RUN_TEST(options_become_words_again);
    return UNITY_END();
}
