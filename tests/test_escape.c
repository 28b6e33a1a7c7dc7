/* SPDX-License-Identifier: Apache-2.0 */
/* What may go to a terminal as it is, and what becomes \xNN. */
#include <string.h>

#include "base/escape.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static void becomes(const char *text, const char *expected)
{
    char shown[200];
    TEST_ASSERT_EQUAL(strlen(expected), escape_text(shown, sizeof shown, text));
    TEST_ASSERT_EQUAL_STRING(expected, shown);
}

static void test_what_can_be_printed_stays(void)
{
    becomes("", "");
    becomes("a board's name, 100 % \\ ~", "a board's name, 100 % \\ ~");
    becomes("größer ∀ 😀 \xf4\x8f\xbf\xbf", "größer ∀ 😀 \xf4\x8f\xbf\xbf");
    becomes("\xc2\xa0\xed\x9f\xbf\xee\x80\x80", "\xc2\xa0\xed\x9f\xbf\xee\x80\x80");
}

static void test_controls(void)
{
    becomes("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m");
    becomes("a\r\nb\tc\x7f\x01", "a\\x0d\\x0ab\\x09c\\x7f\\x01");
    becomes("\xc2\x9bm\xc2\x80", "\\xc2\\x9bm\\xc2\\x80"); /* C1: CSI in two bytes */
    becomes("\xe2\x80\xaetxt", "\\xe2\\x80\\xaetxt");      /* right to left */
    becomes("\xe2\x81\xa6\xe2\x80\xa8", "\\xe2\\x81\\xa6\\xe2\\x80\\xa8");
}

static void test_what_is_not_utf8(void)
{
    becomes("\x9b", "\\x9b");
    becomes("\xff\xfe", "\\xff\\xfe");
    becomes("\xc3", "\\xc3"); /* the text ends within */
    becomes("\xe2\x88", "\\xe2\\x88");
    becomes("\xf0\x9f\x98", "\\xf0\\x9f\\x98");
    becomes("\xc3z", "\\xc3z");
    becomes("\xc0\xaf", "\\xc0\\xaf"); /* longer than need be */
    becomes("\xe0\x82\x9b", "\\xe0\\x82\\x9b");
    becomes("\xf0\x80\x80\x9b", "\\xf0\\x80\\x80\\x9b");
    becomes("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* half of a pair */
    becomes("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
    becomes("\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80");
}

/* Never half a character, and nothing after the first that does not fit. */
static void test_cut(void)
{
    static const char text[] = "aö\x1bz";
    static const char *const cut[] = { "",   "",   "a",  "a",       "aö",
                                       "aö", "aö", "aö", "aö\\x1b", "aö\\x1bz" };
    for (size_t size = 1; size < 10; size++) {
        char shown[12];
        memset(shown, '#', sizeof shown);
        TEST_ASSERT_EQUAL(8, escape_text(shown, size, text));
        TEST_ASSERT_EQUAL_STRING(cut[size], shown);
        TEST_ASSERT_EQUAL('#', shown[size]);
    }
    TEST_ASSERT_EQUAL(8, escape_text(NULL, 0, text));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_what_can_be_printed_stays);
    RUN_TEST(test_controls);
    RUN_TEST(test_what_is_not_utf8);
    RUN_TEST(test_cut);
    return UNITY_END();
}
