/* SPDX-License-Identifier: Apache-2.0 */
/* Work of libraries in a process of its own: what it wrote comes back, and nothing else of it is seen. */
#include <stdlib.h>
#include <unistd.h>

#include "base/apart.h"
#include "base/text.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static bool write_and_complain(void *user, FILE *out)
{
    fputs("a warning\n", stderr);
    fputs("the work", out);
    if (*(bool *)user)
        abort();
    return true;
}

/* Standard error is a file while it works; returns how long that is then. */
static long noise_of(bool aborts, bool *good, char **text)
{
    size_t size;
    FILE *said = tmpfile(), *out = text_stream(text, &size);
    int before = dup(STDERR_FILENO);
    TEST_ASSERT_TRUE(said && out && before >= 0);
    dup2(fileno(said), STDERR_FILENO);
    *good = apart_write(write_and_complain, &aborts, out);
    dup2(before, STDERR_FILENO);
    close(before);
    TEST_ASSERT_EQUAL(0, fclose(out));
    long length = lseek(fileno(said), 0, SEEK_END);
    fclose(said);
    return length;
}

static void expect_silence(bool aborts, const char *result)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    (void)noise_of, (void)aborts, (void)result;
    TEST_IGNORE_MESSAGE("with sanitizers it is done here");
#else
    bool good;
    char *text;
    TEST_ASSERT_EQUAL(0, noise_of(aborts, &good, &text));
    TEST_ASSERT_EQUAL(!aborts, good);
    TEST_ASSERT_EQUAL_STRING(result, text);
    free(text);
#endif
}

static void test_what_it_wrote_comes_back(void) { expect_silence(false, "the work"); }

static void test_a_bad_end_leaves_nothing(void) { expect_silence(true, ""); }

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_what_it_wrote_comes_back);
    RUN_TEST(test_a_bad_end_leaves_nothing);
    return UNITY_END();
}
