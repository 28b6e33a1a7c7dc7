/* SPDX-License-Identifier: Apache-2.0 */
/* Text that came from elsewhere is shown, and not obeyed by a terminal: whatever stands in names of
 * files, in folders and in journals, nothing but text comes out. ORDEAL in the environment names the
 * program. */
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "base/escape.h"
#include "shell.h"
#include "unity.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

/* ---- the function ------------------------------------------------------------------------------ */

static const struct {
    const char *text, *shown;
} cases[] = {
    { "", "" },
    { "P0 S[A]#1 ~", "P0 S[A]#1 ~" },
    { "Gr\303\274\303\237e \342\202\254 \360\237\230\200",
      "Gr\303\274\303\237e \342\202\254 \360\237\230\200" },
    { "\033[2J", "\\x1b[2J" },
    { "a\r\b\177", "a\\x0d\\x08\\x7f" },
    { "\302\2332J", "\\xc2\\x9b2J" },            /* CSI as a character of its own */
    { "\2332J", "\\x9b2J" },                     /* and as a byte */
    { "\342\200\256txt", "\\xe2\\x80\\xaetxt" }, /* from right to left */
    { "\300\233", "\\xc0\\x9b" },                /* escape in a form too long */
    { "\340\200\233", "\\xe0\\x80\\x9b" },
    { "\355\240\200", "\\xed\\xa0\\x80" },          /* half of a pair */
    { "\364\220\200\200", "\\xf4\\x90\\x80\\x80" }, /* beyond all characters */
    { "\342\202", "\\xe2\\x82" },                   /* cut off */
    { "\363\240\201\201", "\\xf3\\xa0\\x81\\x81" }, /* a tag */
};

static void text_stays_and_all_else_is_told(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char shown[128];
        escape_text(shown, sizeof shown, cases[i].text);
        TEST_ASSERT_EQUAL_STRING(cases[i].shown, shown);
    }
}

static void lines_are_kept_where_they_are_wanted(void)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    escape_write("a\n\tb\r", true, f);
    escape_write("\n\t", false, f);
    fclose(f);
    TEST_ASSERT_EQUAL_STRING("a\n\tb\\x0d\\x0a\\x09", text);
    free(text);
}

static void what_is_too_long_is_cut(void)
{
    char shown[8];
    TEST_ASSERT_EQUAL(9, escape_text(shown, 4, "abcdefghi"));
    TEST_ASSERT_EQUAL_STRING("abc", shown);
    TEST_ASSERT_EQUAL(6, escape_text(shown, 6, "ab\033"));
    TEST_ASSERT_EQUAL_STRING("ab", shown);
    TEST_ASSERT_EQUAL(1, escape_text(NULL, 0, "a"));
}

/* ---- the program ------------------------------------------------------------------------------- */

static void only_text(const char *text, int line)
{
    size_t length;
    for (const char *p = text; *p; p += length) {
        uint32_t character = escape_character(p, &length);
        if (character != '\n' && !escape_is_shown(character)) {
            char message[64];
            snprintf(message, sizeof message, "line %d: byte %02x at %zu", line, (uint8_t)*p,
                     (size_t)(p - text));
            TEST_FAIL_MESSAGE(message);
        }
    }
}
#define ONLY_TEXT() (only_text(out, __LINE__), only_text(err, __LINE__))

#define EVIL "\033]0;owned\007\302\233\233\n\177"
#define NAME "\"$(cat name)\""

static void name_it(void)
{
    FILE *f = fopen("name", "w");
    fputs("x" EVIL "y", f);
    fclose(f);
}

static void names_of_files_are_shown(void)
{
    name_it();
    EXPECT(0, "printf 'ordeal 1\\nP0 S[A]#1\\nP0 L[A]=0\\n' >" NAME);
    EXPECT(1, "$ORDEAL check " NAME);
    OUT("\\x1b]0;owned\\x07");
    ONLY_TEXT();
    EXPECT(1, "$ORDEAL check --json " NAME);
    ONLY_TEXT();
    cJSON *line = cJSON_Parse(out);
    TEST_ASSERT_EQUAL_STRING_LEN("x\033]0;owned\007\302\233",
                                 cJSON_GetObjectItem(line, "file")->valuestring, 13);
    cJSON_Delete(line);
    EXPECT(1, "$ORDEAL show " NAME);
    ONLY_TEXT();
    EXPECT(1, "$ORDEAL show --json " NAME);
    ONLY_TEXT();
    EXPECT(2, "echo broken >" NAME "; $ORDEAL check " NAME);
    ONLY_TEXT();
    EXPECT(2, "$ORDEAL show " NAME);
    ONLY_TEXT();
    EXPECT(2, "$ORDEAL convert -o x.otr " NAME);
    ONLY_TEXT();
    EXPECT(2, "$ORDEAL cover " NAME);
    ONLY_TEXT();
    EXPECT(2, "$ORDEAL run --target model --bias " NAME);
    ONLY_TEXT();
    EXPECT(2, "rm " NAME "; $ORDEAL show --waves " NAME);
    ONLY_TEXT();
}

static void so_is_what_stands_in_a_folder(void)
{
    name_it();
    EXPECT(0, "mkdir folder; cat name >folder/explanation.txt; cat name >folder/run.txt");
    EXPECT(1, "$ORDEAL show folder");
    OUT("FAIL x\\x1b]0;owned\\x07");
    ONLY_TEXT();
    EXPECT(2, "$ORDEAL show --waves folder");
    ONLY_TEXT();
    EXPECT(0, "{ printf 'ordeal-run 1\\ntarget '; cat name; echo; } >folder/run.txt");
    EXPECT(2, "$ORDEAL show --waves folder");
    ERR("folder/run.txt:2: ");
    ONLY_TEXT();
    EXPECT(2, "mv folder " NAME "; $ORDEAL show --waves " NAME);
    ONLY_TEXT();
}

static void so_is_what_stands_in_a_journal(void)
{
    EXPECT(
        0,
        "mkdir tuned; printf 'ordeal-tune 2\\nfact version \\033[2Jx\\nbegin\\n' >tuned/journal");
    EXPECT(2, "$ORDEAL tune --target model --tests 20 --batches 2 --compare none -o tuned");
    ERR("begun with another version: \\x1b[2Jx");
    ONLY_TEXT();
}

/* Names of sources, what stands in them, and what debug information says that they are. */
static void so_is_what_stands_in_programs(void)
{
    static const char *const commands[] = { "explore --model tso",
                                            "explore --model tso --json",
                                            "explore --model tso --replay",
                                            "explore --model tso --all",
                                            "monitor",
                                            "monitor --json",
                                            "relax --model tso --runs 20 --trials 2 --traces t",
                                            "fence --model tso",
                                            "fence --model tso --json",
                                            "run --target sim --count 2 --no-save --program" };
    FILE *f = fopen("evil.c", "w");
    fputs("#include <assert.h>\n#include <pthread.h>\n#line 3 \"here/x\\033]0;owned\\007.c\"\n"
          "int x, y;\nvoid *t(void *p) { y = 1; /* \033[2J\302\233 */ return x ? p : 0; }\n"
          "int main(void)\n{\n    pthread_t a;\n    pthread_create(&a, 0, t, &x);\n    x = 1;\n"
          "    int r = y; /* \033[2J */\n    void *q;\n    pthread_join(a, &q);\n"
          "    assert(r || q); /* \033[2J */\n}\n",
          f);
    fclose(f);
    EXPECT(0, "mkdir t; printf 'x\033]0;owned\007\302\233y.c' >name; cp evil.c " NAME);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        int status = sh("$ORDEAL %s " NAME, commands[i]);
        TEST_ASSERT_TRUE_MESSAGE(status == 0 || status == 1, err);
        TEST_ASSERT_TRUE_MESSAGE(strstr(out, "1b]0;owned") || strstr(out, "runs=2"), out);
        ONLY_TEXT();
    }
    EXPECT(0, "ls t | grep -q 'x1b]0;owned' && ! ls t | LC_ALL=C grep '[^ -~]'");
    EXPECT(2, "echo oops >>" NAME "; $ORDEAL explore " NAME);
    ONLY_TEXT();
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(text_stays_and_all_else_is_told);
    RUN_TEST(lines_are_kept_where_they_are_wanted);
    RUN_TEST(what_is_too_long_is_cut);
    RUN_TEST(names_of_files_are_shown);
    RUN_TEST(so_is_what_stands_in_a_folder);
    RUN_TEST(so_is_what_stands_in_a_journal);
    RUN_TEST(so_is_what_stands_in_programs);
    return UNITY_END();
}
