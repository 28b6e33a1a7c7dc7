/* SPDX-License-Identifier: Apache-2.0 */
/* How the test of a folder is run again, as a file that may come from anywhere: what was written is
 * read as the same, and everything else is refused with its line and what is expected there. */
#include <stdlib.h>
#include <string.h>

#include "trial/saved_run.h"
#include "unity.h"

static struct saved_run back;
static struct ordeal_error e;

void setUp(void) { e = (struct ordeal_error){ .line = 0 }; }
void tearDown(void) {}

static bool read_text(const char *text, size_t size)
{
    FILE *in = fmemopen((void *)(uintptr_t)text, size, "r");
    bool good = saved_run_read(&back, in, "run.txt", &e);
    fclose(in);
    return good;
}

static char *written(const struct saved_run *r)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    TEST_ASSERT_TRUE(saved_run_write(r, out));
    fclose(out);
    return text;
}

static const struct saved_run runs[] = {
    { .target = &target_model,
      .how = { .seed = UINT64_MAX, .model_given = true, .model = ORDEAL_PSO, .tm = "lazy" },
      .against = ORDEAL_SC,
      .first_iteration = UINT64_MAX,
      .iterations = 1 },
    { .target = &target_native, .against = ORDEAL_TSO, .iterations = 1000 },
    { .target = &target_elf,
      .how = { .machine = "qemu", .isa = "rv64ima_zicbom", .platform = "ram=0x80000000,ways=4" },
      .against = ORDEAL_RMO,
      .iterations = 2 },
    { .target = &target_elf, .how = { .command = "spike %e" }, .iterations = 2 },
    { .target = &target_sim,
      .how = { .seed = 3,
               .model_given = true,
               .model = ORDEAL_TSO,
               .bug = "upgrade-wins",
               .harts = 2,
               .config = "sets=2,ways=2",
               .sizes = "h2-s2-w2-l4-b4-q4",
               .delay = "7",
               .capture = "lossy",
               .visible = true,
               .final = "skip" },
      .against = ORDEAL_PC,
      .first_iteration = 5,
      .iterations = 1 },
    { .target = &target_sim, .how = { .soc = "/elsewhere/mine.so" }, .iterations = 1 },
    { .target = &target_board,
      .how = { .serial = "1", .link = "jtag", .openocd = "127.0.0.1:6666" },
      .iterations = 1 },
};

static void what_was_written_is_read(void)
{
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char *text = written(&runs[i]);
        TEST_ASSERT_TRUE_MESSAGE(read_text(text, strlen(text)), e.reason);
        char *again = written(&back);
        TEST_ASSERT_EQUAL_STRING(text, again);
        TEST_ASSERT_EQUAL_UINT64(runs[i].how.seed, back.how.seed);
        free(again);
        free(text);
    }
}

/* What is not the user's own comes back word by word. */
static void the_words_are_the_same(void)
{
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct saved_run_words before, after;
        char *text = written(&runs[i]);
        TEST_ASSERT_TRUE(read_text(text, strlen(text)));
        saved_run_words(&runs[i], &before);
        saved_run_words(&back, &after);
        TEST_ASSERT_EQUAL(before.count, after.count);
        for (size_t k = 0; k < before.count && !target_option_missing(&back.how); k++)
            TEST_ASSERT_EQUAL_STRING(before.word[k], after.word[k]);
        free(text);
    }
}

static void what_is_ones_own_is_in_no_file(void)
{
    static const char *const own[] = { [3] = "command", [5] = "soc", [6] = "serial" };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        char *text = written(&runs[i]);
        TEST_ASSERT_TRUE(read_text(text, strlen(text)));
        if (own[i])
            TEST_ASSERT_EQUAL_STRING(own[i], target_option_missing(&back.how));
        else
            TEST_ASSERT_NULL(target_option_missing(&back.how));
        TEST_ASSERT_NULL_MESSAGE(strstr(text, "spike"), text);
        TEST_ASSERT_NULL_MESSAGE(strstr(text, "mine.so"), text);
        TEST_ASSERT_NULL_MESSAGE(strstr(text, "6666"), text);
        free(text);
    }
}

#define HEAD "ordeal-run 1\ntarget sim\n"
#define TAIL "seed 1\nfirst-iteration 0\niterations 1\nagainst TSO\nend\n"

static const struct {
    const char *text;
    uint64_t line;
    const char *reason;
} refused[] = {
    { "", 1, "expected 'end'" },
    { "ordeal-run 2\n", 1, "expected 'ordeal-run 1', the name and version" },
    { "#!/bin/sh\n", 1, "expected 'ordeal-run 1'" },
    { "ordeal-run 1\nseed 1\n", 2, "expected 'target NAME'" },
    { "ordeal-run 1\ntarget sh\n", 2, "expected one of model native elf sim board" },
    { HEAD "target sim\n" TAIL, 3, "'target' is there twice" },
    { HEAD "sizes usual\nmodel TSO\n" TAIL, 4, "expected 'model' before" },
    { HEAD "model XYZ\n" TAIL, 3, "expected SC, TSO, PSO, PC, RMO, RVWMO or RVTSO" },
    { HEAD "command id\n" TAIL, 3, "there is no 'command' to be said" },
    { HEAD "soc x.so\n" TAIL, 3, "there is no 'soc' to be said" },
    { HEAD "emit x\n" TAIL, 3, "there is no 'emit'" },
    { HEAD "coverage x\n" TAIL, 3, "there is no 'coverage'" },
    { HEAD "openocd 10.0.0.1\n" TAIL, 3, "there is no 'openocd'" },
    { HEAD "save x\n" TAIL, 3, "there is no 'save'" },
    { HEAD "bias x\n" TAIL, 3, "there is no 'bias'" },
    { HEAD "needs sh\n" TAIL, 3, "there is no 'sh' to be named again" },
    { HEAD "needs command\n" TAIL, 3, "--command is for --target elf" },
    { HEAD "needs soc\nneeds soc\n" TAIL, 4, "'soc' is there twice" },
    { HEAD "bugs upgrade-wins\n" TAIL, 3, "did you mean 'bug'?" },
    { HEAD "bug nothing\n" TAIL, 3, "nothing" },
    { HEAD "tm lazy\n" TAIL, 3, "--tm is for --target model" },
    { HEAD "delay 8\n" TAIL, 3, "expected a number from 0, none, to 7" },
    { HEAD "sizes h99\n" TAIL, 3, "--sizes: expected" },
    { HEAD "config sets=3\n" TAIL, 3, "expected a power of two" },
    { HEAD "harts 0\n" TAIL, 3, "a whole number above 0" },
    { HEAD "visible no\n" TAIL, 3, "says yes or nothing" },
    { HEAD "sizes ../../x\n" TAIL, 3, "expected 'KEY VALUE'" },
    { HEAD "sizes -x\n" TAIL, 3, "expected 'KEY VALUE'" },
    { HEAD "sizes a b\n" TAIL, 3, "expected 'KEY VALUE'" },
    { HEAD "sizes  a\n" TAIL, 3, "expected 'KEY VALUE'" },
    { HEAD "sizes \033[2J\n" TAIL, 3, "expected 'KEY VALUE'" },
    { HEAD "sizes\n" TAIL, 3, "expected 'KEY VALUE'" },
    { HEAD "\n" TAIL, 3, "expected 'KEY VALUE'" },
    { HEAD "seed 01\n", 3, "expected a whole number" },
    { HEAD "seed 18446744073709551616\n", 3, "expected a whole number" },
    { HEAD "seed -1\n", 3, "expected 'KEY VALUE'" },
    { HEAD "iterations 0\n", 3, "expected a whole number above 0" },
    { HEAD "seed 1\nfirst-iteration 0\niterations 2\nagainst TSO\nend\n", 7, "'iterations 1'" },
    { HEAD "end\n", 3, "expected 'seed' before the end" },
    { HEAD TAIL "x 1\n", 8, "expected nothing after 'end'" },
    { HEAD TAIL "end\n", 8, "expected nothing after 'end'" },
    { HEAD "seed 1\n", 4, "expected 'end': the file was cut off" },
    { HEAD "seed 1", 3, "expected a line of text that ends" },
};

static void all_else_is_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *text = refused[i].text;
        char said[1024];
        TEST_ASSERT_FALSE_MESSAGE(read_text(text, strlen(text)), text);
        snprintf(said, sizeof said, "%s:%d: %s", e.file, (int)e.line, e.reason);
        TEST_ASSERT_EQUAL_MESSAGE(refused[i].line, e.line, said);
        TEST_ASSERT_TRUE_MESSAGE(strstr(e.reason, refused[i].reason) != NULL, said);
    }
}

static void so_is_what_is_no_text_or_too_long(void)
{
    static const char zero[] = HEAD "seed 1\0\n" TAIL;
    TEST_ASSERT_FALSE(read_text(zero, sizeof zero - 1));
    TEST_ASSERT_EQUAL(3, e.line);
    char *large = malloc(SAVED_RUN_BYTES + 1);
    memset(large, 'x', SAVED_RUN_BYTES);
    large[SAVED_RUN_BYTES] = '\0';
    TEST_ASSERT_FALSE(read_text(large, SAVED_RUN_BYTES));
    TEST_ASSERT_TRUE(strstr(e.reason, "bytes") != NULL);
    free(large);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(what_was_written_is_read);
    RUN_TEST(the_words_are_the_same);
    RUN_TEST(what_is_ones_own_is_in_no_file);
    RUN_TEST(all_else_is_refused);
    RUN_TEST(so_is_what_is_no_text_or_too_long);
    return UNITY_END();
}
