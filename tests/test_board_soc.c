/* SPDX-License-Identifier: Apache-2.0 */
/* A board behind sim/soc.h, over a way that is made up: where its memories end, records that come
 * in pieces, which cycles count, what is no machine. */
#include <stdio.h>
#include <string.h>

#include "targets/board/board_numbers.h"
#include "targets/board/board_soc.h"
#include "targets/soc/soc_numbers.h"
#include "unity.h"

enum { HARTS = 2, MEMORY = 1024, CODE = 256 };

static char told[256];               /* what the way was asked for */
static const char *loss;
static struct board_news news;
static uint32_t stream[64];
static size_t streamed, given, piece; /* words that are there, that went, that go at a time */

static void tell(const char *what, uint32_t a, uint32_t b)
{
    size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s %x %x; ", what, a, b);
}

static void way_reset(void *board, uint32_t setup, uint32_t seed)
{
    TEST_ASSERT_EQUAL_PTR(told, board);
    tell("reset", setup, seed);
}

static void way_write(void *board, uint32_t address, const uint32_t *words, uint32_t count)
{
    (void)board, (void)words;
    tell("write", address, count);
}

static void way_read(void *board, uint32_t address, uint32_t *words, uint32_t count)
{
    (void)board;
    tell("read", address, count);
    words[0] = 7;
}

static void way_run(void *board)
{
    (void)board;
    tell("run", 0, 0);
}

static void way_stop(void *board)
{
    (void)board;
    tell("stop", 0, 0);
}

static struct board_news way_wait(void *board)
{
    (void)board;
    return news;
}

static size_t way_take(void *board, uint32_t *words, size_t room)
{
    size_t count = streamed - given < piece ? streamed - given : piece;
    (void)board;
    count = count < room ? count : room;
    memcpy(words, stream + given, count * sizeof *words);
    given += count;
    return count;
}

static void way_peek(void *board, uint32_t hart, uint32_t first, uint32_t *words, uint32_t count)
{
    (void)board;
    for (uint32_t i = 0; i < count; i++)
        words[i] = first + i == SOC_PEEK_WAIT ? hart : 100 * hart + first + i;
}

static const char *way_lost(const void *board)
{
    (void)board;
    return loss;
}

static const struct board_way way = { way_reset, way_write, way_read, way_run, way_stop,
                                      way_wait,  way_take,  way_peek, way_lost };

static uint32_t parameters[16];
static struct soc one, *soc;
static struct why why;
static const struct soc_interface *machine = &one.interface;

void setUp(void)
{
    memset(parameters, 0, sizeof parameters);
    parameters[BOARD_PARAM_HARTS] = HARTS;
    parameters[BOARD_PARAM_MEMORY_BYTES] = MEMORY;
    parameters[BOARD_PARAM_CODE_BYTES] = CODE;
    TEST_ASSERT_TRUE_MESSAGE(board_soc_init(&one, &way, told, "it", parameters, &why), why.text);
    soc = machine->create(machine);
    TEST_ASSERT_NOT_NULL(soc);
    machine->reset(soc, &(struct soc_setup){ 0 });
    told[0] = '\0';
    loss = NULL;
    news = (struct board_news){ 0 };
    streamed = given = 0;
    piece = 64;
}

void tearDown(void) { machine->destroy(soc); }

static void test_there_is_one(void)
{
    TEST_ASSERT_EQUAL_STRING("it", machine->name);
    TEST_ASSERT_NULL(machine->create(machine));
    machine->destroy(NULL);
    machine->destroy(soc);
    soc = machine->create(machine);
    TEST_ASSERT_NOT_NULL(soc);
}

static void test_setup(void)
{
    machine->reset(soc, &(struct soc_setup){ .model = SOC_RMO, .bug = 5, .seed = 9, .delay = 7,
                                       .capture = SOC_CAPTURE_LOSSY, .visible = true });
    TEST_ASSERT_EQUAL_STRING("reset 3070503 9; ", told);
}

static void test_code_and_memory_end(void)
{
    static const uint32_t most = UINT32_MAX;
    uint32_t words[MEMORY / 4] = { 0 };
    TEST_ASSERT_TRUE(machine->write_code(soc, 1, 4, words, CODE / 4 - 1));
    TEST_ASSERT_TRUE(machine->write_memory(soc, MEMORY - 4, words, 1));
    TEST_ASSERT_TRUE(machine->read_memory(soc, 0, words, MEMORY / 4));
    TEST_ASSERT_EQUAL_STRING("write 88000004 3f; write 3fc 1; read 0 100; ", told);
    TEST_ASSERT_EQUAL_UINT32(7, words[0]);
    TEST_ASSERT_FALSE(machine->write_code(soc, HARTS, 0, words, 1));
    TEST_ASSERT_FALSE(machine->write_code(soc, 0, 4, words, CODE / 4));
    TEST_ASSERT_FALSE(machine->write_code(soc, 0, 2, words, 1));
    TEST_ASSERT_FALSE(machine->write_memory(soc, MEMORY, words, 1));
    TEST_ASSERT_FALSE(machine->write_memory(soc, most - 3, words, 1));
    TEST_ASSERT_FALSE(machine->read_memory(soc, 4, words, most));
    TEST_ASSERT_EQUAL_STRING("write 88000004 3f; write 3fc 1; read 0 100; ", told);
}

/* Memory is read in reset, into which a run is stopped once. */
static void test_memory_after_a_run(void)
{
    uint32_t words[2];
    news.ended = true;
    machine->step(soc, 1);
    TEST_ASSERT_TRUE(machine->read_memory(soc, 0, words, 1));
    TEST_ASSERT_TRUE(machine->read_memory(soc, 8, words, 2));
    machine->reset(soc, &(struct soc_setup){ 0 });
    TEST_ASSERT_TRUE(machine->read_memory(soc, 0, words, 1));
    TEST_ASSERT_EQUAL_STRING("run 0 0; stop 0 0; read 0 1; read 8 2; reset 0 0; read 0 1; ", told);
}

static void test_records_in_pieces(void)
{
    static const uint32_t records[] = {
        SOC_REC_ATOMIC, 10, 1, 2, 3, SOC_REC_LOAD, 20, 4, 5, SOC_REC_FENCE, 30, 6, SOC_REC_DONE, 40
    };
    uint32_t words[64];
    memcpy(stream, records, sizeof records);
    streamed = sizeof records / sizeof *records;
    TEST_ASSERT_EQUAL_size_t(0, machine->read_capture(soc, words, SOC_LONGEST_RECORD - 1));
    for (piece = 1; piece <= streamed; piece++) {
        uint32_t all[sizeof records / sizeof *records];
        size_t count = 0;
        for (given = 0; given < streamed; ) {
            size_t now = machine->read_capture(soc, words, SOC_LONGEST_RECORD + piece);
            memcpy(all + count, words, now * sizeof *words);
            count += now;
            TEST_ASSERT_TRUE(count == 0 || count == 5 || count == 9 || count == 12 || count == 14);
        }
        TEST_ASSERT_EQUAL_size_t(streamed, count);
        TEST_ASSERT_EQUAL_UINT32_ARRAY(records, all, streamed);
    }
    news = (struct board_news){ .ended = true };
    machine->step(soc, 1);
    TEST_ASSERT_TRUE(machine->done(soc));
    TEST_ASSERT_EQUAL_UINT64(40, machine->cycle(soc)); /* of the last record */
}

/* Words make some cycles each; without any two looks in a row between which nothing was on its way
 * say how many went by. */
static void test_cycles_that_count(void)
{
    static const struct { struct board_news news; uint64_t more; } steps[] = {
        { { .cycle = 1000 }, 0 },                      /* the first look */
        { { .cycle = 1500 }, 500 },
        { { .words = 2 }, 128 },
        { { .cycle = 5000 }, 0 },                      /* it was not quiet meanwhile */
        { { .cycle = 6000, .on_the_way = true }, 0 },
        { { .cycle = 7000 }, 0 },
        { { .cycle = 7001 }, 1 },
        { { .cycle = 100 }, 0 },                       /* time does not go back */
    };
    uint64_t sum = 0;
    for (size_t n = 0; n < sizeof steps / sizeof *steps; n++) {
        news = steps[n].news;
        TEST_ASSERT_EQUAL_UINT64(steps[n].more, machine->step(soc, 4096));
        TEST_ASSERT_EQUAL_UINT64(sum += steps[n].more, machine->cycle(soc));
        TEST_ASSERT_FALSE(machine->done(soc));
    }
    TEST_ASSERT_EQUAL_STRING("run 0 0; ", told);
}

static void test_lost(void)
{
    TEST_ASSERT_NULL(machine->lost(soc));
    loss = "it fell off the table";
    news = (struct board_news){ .words = 9, .ended = true };
    TEST_ASSERT_EQUAL_UINT64(0, machine->step(soc, 1));
    TEST_ASSERT_FALSE(machine->done(soc));
    TEST_ASSERT_EQUAL_STRING(loss, machine->lost(soc));
}

static void test_harts(void)
{
    struct soc_hart state;
    TEST_ASSERT_EQUAL_UINT32(145, machine->counter(soc, 1, SOC_EVENTS - 1));
    TEST_ASSERT_EQUAL_UINT32(0, machine->counter(soc, 1, SOC_EVENTS));
    TEST_ASSERT_EQUAL_UINT32(0, machine->counter(soc, HARTS, 1));
    machine->hart(soc, 1, &state);
    TEST_ASSERT_TRUE(state.done);
    TEST_ASSERT_EQUAL_UINT32(100 + SOC_PEEK_PC, state.pc);
    TEST_ASSERT_EQUAL_UINT32(1, state.waits);
    TEST_ASSERT_EQUAL_UINT32(100 + SOC_PEEK_WAIT_ADDRESS, state.address);
    TEST_ASSERT_EQUAL_UINT32(100 + SOC_PEEK_INSTRUCTIONS, state.instructions);
    machine->hart(soc, 0, &state);
    TEST_ASSERT_FALSE(state.done);
    machine->hart(soc, HARTS, &state);
    TEST_ASSERT_EQUAL_UINT32(0, state.pc);
}

static void test_no_machine(void)
{
    static const struct { uint32_t which, value; } wrong[] = {
        { BOARD_PARAM_HARTS, 0 }, { BOARD_PARAM_HARTS, 17 },
        { BOARD_PARAM_MEMORY_BYTES, 0 }, { BOARD_PARAM_MEMORY_BYTES, 1026 },
        { BOARD_PARAM_MEMORY_BYTES, 1u << 27 }, { BOARD_PARAM_CODE_BYTES, 0 },
        { BOARD_PARAM_CODE_BYTES, 255 }, { BOARD_PARAM_CODE_BYTES, 1u << 27 },
    };
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        struct soc other;
        uint32_t changed[16];
        memcpy(changed, parameters, sizeof changed);
        changed[wrong[n].which] = wrong[n].value;
        TEST_ASSERT_FALSE(board_soc_init(&other, &way, told, "it", changed, &why));
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "that cannot be"), why.text);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_there_is_one);
    RUN_TEST(test_setup);
    RUN_TEST(test_code_and_memory_end);
    RUN_TEST(test_memory_after_a_run);
    RUN_TEST(test_records_in_pieces);
    RUN_TEST(test_cycles_that_count);
    RUN_TEST(test_lost);
    RUN_TEST(test_harts);
    RUN_TEST(test_no_machine);
    return UNITY_END();
}
