/* SPDX-License-Identifier: Apache-2.0 */
/* Executions of programs told from events made by hand: what each load saw, which steps matter, the
 * trace and what the checker says of it, text, JSON and picture. The program is compiled, so that
 * names and lines are real. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "calls.h"
#include "program/account.h"
#include "program/account_trace.h"
#include "program/program_file.h"
#include "program/variables.h"
#include "shell.h"
#include "svg_nests.h"

static const char source[] = "#include <assert.h>\n"
                             "#include <pthread.h>\n"
                             "int x, y;\n" /* 3 */
                             "char flag[2];\n"
                             "static int apart = 7; struct { char a; int b[3]; } two[2];\n"
                             "int a, b;\n"
                             "void *left(void *p)\n"
                             "{\n"
                             "    x = 1;\n" /* 9 */
                             "    a = y;\n" /* 10 */
                             "    return p;\n"
                             "}\n"
                             "void *right(void *p)\n"
                             "{\n"
                             "    y = 2;\n" /* 15 */
                             "    b = x;\n" /* 16 */
                             "    return p;\n"
                             "}\n"
                             "int main(void)\n"
                             "{\n"
                             "    pthread_t s, t;\n"
                             "    pthread_create(&s, 0, left, 0);\n" /* 22 */
                             "    pthread_create(&t, 0, right, 0);\n"
                             "    pthread_join(s, 0);\n"
                             "    pthread_join(t, 0);\n"
                             "    assert(a || b || apart == flag[1] + two[1].b[2]);\n" /* 26 */
                             "}\n";

enum { MOST = 64 };
static struct program_file program;
static struct program_event event[MOST];
static struct event_list list = { event, 0 };
static struct account account;
static struct account_trace trace;
static struct ordeal_error why;
static char *text;
static const struct explore_finding assertion = { .error = EXPLORE_ASSERTION,
                                                  .text = "a || b",
                                                  .pc = 1 };

void setUp(void)
{
    memset(event, 0, sizeof event);
    list.count = 0;
}

void tearDown(void)
{
    account_trace_free(&trace);
    account_free(&account);
    free(text);
    text = NULL;
}

/* ---- events ------------------------------------------------------------------------------ */

static uint32_t address(const char *name)
{
    const struct symbol *s = image_symbol_named(program.image, name);
    TEST_ASSERT_NOT_NULL_MESSAGE(s, name);
    return s->address;
}

static struct program_event *happens(uint8_t kind, uint32_t thread, uint32_t line)
{
    struct program_event *e = &event[list.count];
    TEST_ASSERT_TRUE(list.count < MOST);
    *e = (struct program_event){ .kind = kind, .thread = thread, .size = 4 };
    e->step = (uint32_t)list.count++;
    e->pc = line ? image_pc_of(program.image, "told.c", line) : 0;
    TEST_ASSERT_TRUE(!line || e->pc);
    return e;
}

static void creates(uint32_t other) { happens(EVENT_CREATE, 0, 22)->other = other; }

static uint32_t stores(uint32_t thread, uint32_t line, const char *name, uint32_t value,
                       bool buffered)
{
    struct program_event *e = happens(EVENT_STORE, thread, line);
    e->address = address(name);
    e->written = value;
    e->buffered = buffered;
    return (uint32_t)list.count - 1;
}

static struct program_event *loads(uint32_t thread, uint32_t line, const char *name, uint32_t value)
{
    struct program_event *e = happens(EVENT_LOAD, thread, line);
    e->address = address(name);
    e->read = value;
    return e;
}

static void commits(uint32_t store)
{
    struct program_event *e = happens(EVENT_COMMIT, event[store].thread, 0);
    e->cause = store;
    e->written = event[store].written;
}

static void ends(uint32_t thread) { happens(EVENT_EXIT, thread, 0); }
static void joins(uint32_t other) { happens(EVENT_JOIN, 0, 24)->other = other; }

/* Both threads read before anybody's store is there. */
static void store_buffering(void)
{
    creates(1);
    creates(2);
    uint32_t first = stores(1, 9, "x", 1, true);
    loads(1, 10, "y", 0);
    uint32_t second = stores(2, 15, "y", 2, true);
    loads(2, 16, "x", 0);
    commits(first);
    commits(second);
    ends(1);
    ends(2);
    joins(1);
    joins(2);
    happens(EVENT_ERROR, 0, 26)->text = "assertion a || b";
}

static void understand(enum explore_model model)
{
    TEST_ASSERT_TRUE(account_make(&account, program.image, &list, model));
    TEST_ASSERT_TRUE(account_trace_make(&trace, &account));
}

static enum account_judgement judged(void)
{
    return account_trace_judge(&trace, &account, 60, &why);
}

/* What a writer writes. */
static const char *written(bool (*write)(struct account *a, const struct explore_finding *f,
                                         FILE *out))
{
    size_t size;
    free(text);
    FILE *out_stream = text_stream(&text, &size);
    TEST_ASSERT_NOT_NULL(out_stream);
    TEST_ASSERT_TRUE(write(&account, &assertion, out_stream));
    TEST_ASSERT_EQUAL(0, fclose(out_stream));
    return text;
}

static void has(const char *whole, const char *part)
{
    if (!strstr(whole, part)) {
        printf("'%s' is not in:\n%s\n", part, whole);
        TEST_FAIL();
    }
}

static void has_not(const char *whole, const char *part)
{
    if (strstr(whole, part)) {
        printf("'%s' is in:\n%s\n", part, whole);
        TEST_FAIL();
    }
}

/* ---- what it says ------------------------------------------------------------------------ */

static void test_loads_know_what_they_saw_and_what_waited(void)
{
    store_buffering();
    understand(EXPLORE_TSO);
    TEST_ASSERT_EQUAL_UINT32(ACCOUNT_NONE, account.item[3].from);
    TEST_ASSERT_EQUAL_UINT32(ACCOUNT_NONE, account.item[3].waiting); /* not stored yet */
    TEST_ASSERT_EQUAL_UINT32(2, account.item[5].waiting);
    TEST_ASSERT_EQUAL_UINT32(6, account.item[2].left);
    const char *told = written(account_text);
    has(told, "told.c:9    x = 1;");
    has(told, "x = 1 goes into its buffer");
    has(told, "x is 0, as at the start; 1 of thread 1 (step 3) is still in its buffer");
    has(told, "x = 1 of thread 1 (step 3) reaches memory");
    has(told, "An assertion does not hold: a || b: thread 0 at told.c:26, in main.");
}

static void test_a_relaxed_execution_passes_its_model_and_fails_SC(void)
{
    store_buffering();
    understand(EXPLORE_TSO);
    TEST_ASSERT_EQUAL(ACCOUNT_CONFIRMED, judged());
    TEST_ASSERT_EQUAL(ACCOUNT_RELAXED, account.relaxed);
    TEST_ASSERT_EQUAL(4, account.core.count);
    has(written(account_text), "weaker than sequential consistency");
}

static void test_an_ordinary_execution_is_one_of_SC(void)
{
    creates(1);
    stores(1, 9, "x", 1, false);
    loads(0, 26, "x", 1);
    understand(EXPLORE_TSO);
    TEST_ASSERT_EQUAL(ACCOUNT_CONFIRMED, judged());
    TEST_ASSERT_EQUAL(ACCOUNT_SC, account.relaxed);
    TEST_ASSERT_EQUAL_UINT32(1, account.item[2].from);
    has(written(account_text), "which thread 1 wrote (step 2)");
}

static void test_what_the_model_forbids_is_refused(void)
{
    creates(1);
    loads(1, 9, "x", 5); /* nobody wrote that */
    stores(0, 26, "x", 1, false);
    understand(EXPLORE_TSO);
    TEST_ASSERT_EQUAL(ACCOUNT_REFUSED, judged());
}

static void test_stores_of_PSO_in_the_other_order_are_refused_by_TSO(void)
{
    for (int m = EXPLORE_TSO; m <= EXPLORE_PSO; m++) {
        setUp();
        creates(1);
        uint32_t first = stores(1, 9, "x", 1, true), second = stores(1, 10, "y", 2, true);
        commits(second);
        loads(0, 26, "y", 2);
        loads(0, 26, "x", 0);
        commits(first);
        understand((enum explore_model)m);
        TEST_ASSERT_EQUAL(m == EXPLORE_PSO ? ACCOUNT_CONFIRMED : ACCOUNT_REFUSED, judged());
        tearDown();
    }
}

static void test_an_old_value_under_PSLO_is_called_old(void)
{
    creates(1);
    uint32_t first = stores(1, 9, "x", 1, true), second = stores(1, 10, "y", 2, true);
    commits(first);
    commits(second);
    loads(0, 26, "y", 2);
    loads(0, 26, "x", 0);
    understand(EXPLORE_PSLO);
    TEST_ASSERT_EQUAL(ACCOUNT_CONFIRMED, judged());
    TEST_ASSERT_EQUAL(ACCOUNT_RELAXED, account.relaxed);
    has(written(account_text), "an old value: memory has 1 of thread 1 (step 2)");
}

static void test_fences_of_the_program_are_barriers_of_the_trace(void)
{
    for (int fenced = 0; fenced < 2; fenced++) {
        setUp();
        creates(1);
        creates(2);
        stores(1, 9, "x", 1, true);
        happens(EVENT_FENCE, 1, 9)->fence = fenced ? 0x12 : 0x33 | FENCE_TSO; /* w,r or fence.tso */
        loads(1, 10, "y", 0);
        stores(2, 15, "y", 2, true);
        happens(EVENT_FENCE, 2, 15)->fence = 0x33;
        loads(2, 16, "x", 0);
        understand(EXPLORE_TSO);
        TEST_ASSERT_EQUAL(fenced ? ACCOUNT_REFUSED : ACCOUNT_CONFIRMED, judged());
        tearDown();
    }
}

static void test_private_accesses_and_lone_threads_are_left_out(void)
{
    stores(0, 26, "x", 0, false); /* before there are threads */
    creates(1);
    stores(1, 10, "a", 3, false);
    event[list.count - 1].private_access = true;
    stores(1, 9, "x", 1, true);
    loads(0, 26, "x", 0);
    understand(EXPLORE_TSO);
    TEST_ASSERT_EQUAL_UINT32(0, account.item[0].row);
    TEST_ASSERT_EQUAL_UINT32(0, account.item[2].row);
    TEST_ASSERT_EQUAL_UINT32(2, account.item[3].row);
    has_not(written(account_text), "a = 3");
    has(text, "At the end x = 1 of thread 1 (step 2) is still in its buffer.");
}

static void test_bytes_come_from_different_stores(void)
{
    creates(1);
    struct program_event *e = happens(EVENT_STORE, 1, 9);
    e->address = address("flag") + 1;
    e->size = 1;
    e->written = 7;
    e = happens(EVENT_LOAD, 0, 26);
    e->address = address("flag") + 1;
    e->size = 1;
    e->read = 7;
    understand(EXPLORE_TSO);
    TEST_ASSERT_EQUAL(ACCOUNT_CONFIRMED, judged());
    has(written(account_text), "flag[1] is 7");
}

static void test_initial_values_are_those_of_the_program(void)
{
    creates(1);
    loads(1, 9, "apart", 7);
    stores(1, 9, "apart", 8, false);
    loads(0, 26, "apart", 8);
    understand(EXPLORE_SC);
    TEST_ASSERT_EQUAL(ACCOUNT_CONFIRMED, judged());
}

/* A block that is freed and allocated again is another. */
static void allocates(uint32_t thread, uint32_t at, uint32_t bytes)
{
    struct program_event *e = happens(EVENT_CALL, thread, 9);
    e->call = PROGRAM_CALL_ALLOCATE;
    e->argument[0] = bytes;
    e->read = at;
}

static struct program_event *accesses(uint8_t kind, uint32_t thread, uint32_t at, uint32_t value)
{
    struct program_event *e = happens(kind, thread, 9);
    e->address = at;
    e->read = e->written = value;
    return e;
}

static void test_memory_that_is_used_again_is_another_place(void)
{
    enum { AT = 0x40000010 };
    creates(1);
    allocates(0, AT, 8);
    accesses(EVENT_STORE, 0, AT + 4, 5);
    accesses(EVENT_LOAD, 1, AT + 4, 5);
    struct program_event *e = happens(EVENT_CALL, 0, 9);
    e->call = PROGRAM_CALL_FREE;
    e->argument[0] = AT;
    allocates(0, AT, 8);
    accesses(EVENT_LOAD, 1, AT + 4, 0); /* which would be no order of 0 and 5 */
    accesses(EVENT_STORE, 0, AT + 4, 6);
    understand(EXPLORE_SC);
    TEST_ASSERT_EQUAL(ACCOUNT_CONFIRMED, judged());
    has(written(account_text), "block 1+4 is 5");
    has(text, "block 2+4 is 0");
    has(text, "frees block 1");
}

static void test_a_dropped_store_makes_its_place_another(void)
{
    enum { AT = (int)0x800ffff0 };
    creates(1);
    struct program_event *e = accesses(EVENT_STORE, 0, (uint32_t)AT, 5);
    e->buffered = true;
    happens(EVENT_DROP, 0, 0)->cause = 1;
    accesses(EVENT_LOAD, 0, (uint32_t)AT, 0);
    accesses(EVENT_STORE, 1, (uint32_t)AT, 9);
    understand(EXPLORE_TSO);
    TEST_ASSERT_EQUAL(ACCOUNT_CONFIRMED, judged());
    has(written(account_text), "is dropped: its memory is gone");
}

static void test_mutexes_order_what_they_guard(void)
{
    static const uint8_t calls[] = { PROGRAM_CALL_MUTEX_LOCK, PROGRAM_CALL_MUTEX_UNLOCK };
    creates(1);
    for (uint32_t thread = 0; thread < 2; thread++)
        for (int k = 0; k < 2; k++) {
            struct program_event *e = happens(EVENT_CALL, thread, 9);
            e->call = calls[k];
            e->argument[0] = address("y");
            if (k == 0 && thread == 0)
                stores(0, 9, "x", 1, true);
            else if (k == 0)
                loads(1, 10, "x", 0); /* though the lock was released after the store */
        }
    understand(EXPLORE_TSO);
    TEST_ASSERT_EQUAL(ACCOUNT_REFUSED, judged());
    has(written(account_text), "unlocks y");
}

static void test_JSON_has_the_same_steps(void)
{
    store_buffering();
    understand(EXPLORE_TSO);
    judged();
    cJSON *line = cJSON_CreateObject();
    account_json(&account, &assertion, line);
    cJSON *path = cJSON_GetObjectItem(line, "path");
    TEST_ASSERT_EQUAL((int)account.rows, cJSON_GetArraySize(path));
    cJSON *load = cJSON_GetArrayItem(path, 5);
    TEST_ASSERT_EQUAL_STRING("load", cJSON_GetObjectItem(load, "kind")->valuestring);
    TEST_ASSERT_EQUAL_STRING("x", cJSON_GetObjectItem(load, "location")->valuestring);
    TEST_ASSERT_EQUAL_STRING("b = x;", cJSON_GetObjectItem(load, "source")->valuestring);
    TEST_ASSERT_EQUAL(3, cJSON_GetObjectItem(load, "waiting")->valueint);
    TEST_ASSERT_EQUAL(4, cJSON_GetArraySize(cJSON_GetObjectItem(line, "core")));
    cJSON_Delete(line);
}

static void test_the_picture_has_every_step(void)
{
    store_buffering();
    understand(EXPLORE_TSO);
    judged();
    const char *svg = written(account_svg);
    has(svg, "<svg xmlns=");
    has(svg, "id=\"step_3\" class=\"store core\"");
    has(svg, ">memory<");
    has(svg, "x is 0, as at the start; 1 of thread 1 (step 3)");
    TEST_ASSERT_TRUE(svg_nests(svg));
}

static void test_variables_are_found_by_name(void)
{
    struct variable v;
    struct why reason;
    TEST_ASSERT_TRUE(variable_find(program.image, "apart", &v, &reason));
    TEST_ASSERT_EQUAL_UINT32(address("apart"), v.address);
    TEST_ASSERT_EQUAL(4, v.size);
    TEST_ASSERT_TRUE(variable_find(program.image, "flag+1", &v, &reason));
    TEST_ASSERT_EQUAL_UINT32(address("flag") + 1, v.address);
    TEST_ASSERT_EQUAL(1, v.size);
    TEST_ASSERT_TRUE(variable_find(program.image, "flag[1]", &v, &reason));
    TEST_ASSERT_EQUAL_UINT32(address("flag") + 1, v.address);
    TEST_ASSERT_TRUE(variable_find(program.image, "two[1].b[2]", &v, &reason));
    TEST_ASSERT_EQUAL_UINT32(address("two") + 28, v.address);
    TEST_ASSERT_FALSE(variable_find(program.image, "two[1].b", &v, &reason));
    TEST_ASSERT_FALSE(variable_find(program.image, "two[2].a", &v, &reason));
    TEST_ASSERT_FALSE(variable_find(program.image, "flag", &v, &reason) && v.size != 2);
    TEST_ASSERT_FALSE(variable_find(program.image, "aprat", &v, &reason));
    has(reason.text, "did you mean 'apart'?");
    TEST_ASSERT_FALSE(variable_find(program.image, "main", &v, &reason));
    TEST_ASSERT_FALSE(variable_find(program.image, "x+4", &v, &reason));
    TEST_ASSERT_FALSE(variable_find(program.image, "x+", &v, &reason));
}

int main(void)
{
    if (!shell_open())
        return 1;
    shell_enter();
    FILE *f = fopen("told.c", "w");
    const char *name = "told.c";
    struct compile_request request = { .source = &name, .sources = 1 };
    if (!f || fputs(source, f) < 0 || fclose(f) != 0
        || !program_file_load(&program, &request, &why)) {
        fprintf(stderr, "%s: %s\n%s", why.file, why.reason,
                program.messages ? program.messages : "");
        return 1;
    }
    UNITY_BEGIN();
    RUN_TEST(test_loads_know_what_they_saw_and_what_waited);
    RUN_TEST(test_a_relaxed_execution_passes_its_model_and_fails_SC);
    RUN_TEST(test_an_ordinary_execution_is_one_of_SC);
    RUN_TEST(test_what_the_model_forbids_is_refused);
    RUN_TEST(test_stores_of_PSO_in_the_other_order_are_refused_by_TSO);
    RUN_TEST(test_an_old_value_under_PSLO_is_called_old);
    RUN_TEST(test_fences_of_the_program_are_barriers_of_the_trace);
    RUN_TEST(test_private_accesses_and_lone_threads_are_left_out);
    RUN_TEST(test_bytes_come_from_different_stores);
    RUN_TEST(test_initial_values_are_those_of_the_program);
    RUN_TEST(test_memory_that_is_used_again_is_another_place);
    RUN_TEST(test_a_dropped_store_makes_its_place_another);
    RUN_TEST(test_mutexes_order_what_they_guard);
    RUN_TEST(test_JSON_has_the_same_steps);
    RUN_TEST(test_the_picture_has_every_step);
    RUN_TEST(test_variables_are_found_by_name);
    program_file_free(&program);
    shell_leave();
    return UNITY_END();
}
