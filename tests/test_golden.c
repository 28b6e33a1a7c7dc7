/* SPDX-License-Identifier: Apache-2.0 */
/* The thesis's figures: every trace under tests/golden says in its comments what is expected of it,
 * and gets it under every model, from the default algorithm and from the thesis's complete ones.
 *
 *     # expect SC=FAIL TSO=PASS ...      the verdict; ERROR where the model cannot take the trace
 *     # baseline TSO=UNDECIDED ...       what rules R1 to R7 alone say, where that matters */
#include "ordeal.h"

#include <glob.h>
#include <string.h>
#include "unity.h"

static struct ordeal *o;

void setUp(void) { o = ordeal_new(NULL); }
void tearDown(void) { ordeal_free(o); }

enum { OUTCOME_ERROR = ORDEAL_UNDECIDED + 1, OUTCOME_DEFECT, OUTCOME_ANY };
static const char *const outcome_names[] = {
    [ORDEAL_PASS] = "PASS", [ORDEAL_FAIL] = "FAIL", [ORDEAL_UNDECIDED] = "UNDECIDED",
    [OUTCOME_ERROR] = "ERROR", [OUTCOME_DEFECT] = "a defect", [OUTCOME_ANY] = "any",
};

struct golden {
    const char *path;
    int expect[ORDEAL_MODELS], baseline[ORDEAL_MODELS];
};

static int parse_outcome(const char *name)
{
    for (int i = 0; i < OUTCOME_ANY; i++)
        if (strcmp(name, outcome_names[i]) == 0)
            return i;
    TEST_FAIL_MESSAGE(name);
    return OUTCOME_ANY;
}

/* "SC=FAIL TSO=PASS" into a table by model. */
static void parse_outcomes(char *text, int *table)
{
    for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n")) {
        char *value = strchr(word, '=');
        TEST_ASSERT_NOT_NULL_MESSAGE(value, word);
        *value++ = '\0';
        enum ordeal_model model;
        TEST_ASSERT_TRUE_MESSAGE(ordeal_model_parse(word, &model), word);
        table[model] = parse_outcome(value);
    }
}

static struct golden read_expectations(const char *path)
{
    struct golden g = { .path = path };
    for (int m = 0; m < ORDEAL_MODELS; m++)
        g.expect[m] = g.baseline[m] = OUTCOME_ANY;

    static const char expect[] = "# expect ", baseline[] = "# baseline ";
    char line[512];
    FILE *file = fopen(path, "r");
    TEST_ASSERT_NOT_NULL_MESSAGE(file, path);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, expect, sizeof expect - 1) == 0)
            parse_outcomes(line + sizeof expect - 1, g.expect);
        else if (strncmp(line, baseline, sizeof baseline - 1) == 0)
            parse_outcomes(line + sizeof baseline - 1, g.baseline);
    }
    fclose(file);
    for (int m = 0; m < ORDEAL_MODELS; m++)
        TEST_ASSERT_NOT_EQUAL_MESSAGE(OUTCOME_ANY, g.expect[m], path);
    return g;
}

static struct ordeal_trace *read_trace(const char *path)
{
    FILE *file = fopen(path, "r");
    TEST_ASSERT_NOT_NULL_MESSAGE(file, path);
    struct ordeal_reader *reader = ordeal_reader_new(o, file, path, ORDEAL_FORMAT_GUESS);
    TEST_ASSERT_NOT_NULL(reader);
    struct ordeal_trace *trace = NULL;
    enum ordeal_status status = ordeal_reader_next(reader, &trace);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
    ordeal_reader_free(reader);
    fclose(file);
    return trace;
}

static int outcome_of(const struct ordeal_trace *trace, enum ordeal_model model,
                      enum ordeal_algorithm algorithm)
{
    struct ordeal_options options = { .model = model, .algorithm = algorithm };
    struct ordeal_verdict *verdict = NULL;
    enum ordeal_status status = ordeal_check(trace, &options, &verdict);
    if (status != ORDEAL_OK)
        return status == ORDEAL_BAD_INPUT || status == ORDEAL_BAD_USAGE ? OUTCOME_ERROR
                                                                        : OUTCOME_DEFECT;
    int result = ordeal_verdict_result(verdict);
    ordeal_verdict_free(verdict);
    return result;
}

/* Returns how many models disagree, and says which. */
static int compare(const struct golden *g, const struct ordeal_trace *trace, const int *table,
                   enum ordeal_algorithm algorithm)
{
    int wrong = 0;
    for (int m = 0; m < ORDEAL_MODELS; m++) {
        if (table[m] == OUTCOME_ANY)
            continue;
        int outcome = outcome_of(trace, (enum ordeal_model)m, algorithm);
        if (outcome == table[m])
            continue;
        char message[768];
        snprintf(message, sizeof message, "%s, %s, %s: expected %s, got %s%s%s", g->path,
                 ordeal_model_name((enum ordeal_model)m), ordeal_algorithm_name(algorithm),
                 outcome_names[table[m]], outcome_names[outcome],
                 outcome >= OUTCOME_ERROR ? ": " : "",
                 outcome >= OUTCOME_ERROR ? ordeal_last_error(o)->reason : "");
        TEST_MESSAGE(message);
        wrong++;
    }
    return wrong;
}

/* Every figure with an execution, the mirrors of 4.6, and 2.3(a) with its membars. */
enum { FIGURES = 21 };
static glob_t files;

static void each_figure(enum ordeal_algorithm algorithm)
{
    TEST_ASSERT_GREATER_OR_EQUAL(FIGURES, files.gl_pathc);
    int wrong = 0;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct golden g = read_expectations(files.gl_pathv[i]);
        struct ordeal_trace *trace = read_trace(g.path);
        const int *table = algorithm == ORDEAL_BASELINE ? g.baseline : g.expect;
        wrong += compare(&g, trace, table, algorithm);
        ordeal_trace_free(trace);
    }
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, wrong, "verdicts that are not as expected");
}

static void test_auto(void) { each_figure(ORDEAL_AUTO); }
static void test_deriv_back(void) { each_figure(ORDEAL_DERIV_BACK); }
static void test_heu_back(void) { each_figure(ORDEAL_HEU_BACK); }
static void test_baseline(void) { each_figure(ORDEAL_BASELINE); }

int main(void)
{
    UNITY_BEGIN();
    glob("tests/golden/*.trace", 0, NULL, &files);
    RUN_TEST(test_auto);
    RUN_TEST(test_deriv_back);
    RUN_TEST(test_heu_back);
    RUN_TEST(test_baseline);
    globfree(&files);
    return UNITY_END();
}
