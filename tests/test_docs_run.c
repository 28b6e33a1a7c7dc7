/* SPDX-License-Identifier: Apache-2.0 */
/* Every command that the manual shows is run, and does what is shown.
 *
 * Commands run in the order of their document, in a fresh directory that looks like the root of
 * the sources. A file shown by `cat` that is not there is made of what is shown. The exit status
 * must be that which the shown lines say (document.h). What cannot be run as it stands is in
 * `rules` below, with the reason, and nowhere else. ORDEAL in the environment names the program. */
#include <sys/stat.h>

#include "document.h"
#include "ordeal.h"
#include "shell.h"

enum { SECONDS_OF_COMMAND = 300 };

void setUp(void) {}
void tearDown(void) { TEST_ASSERT_EQUAL(0, chdir(home)); } /* also after a test that failed */

/* ---- what is not run as it stands ---------------------------------------------------------- */

/* In a command `find` becomes `put`; "^": at its beginning alone. In this order, each once. */
static const struct rule {
    const char *find, *put, *why;
} rules[] = {
    { "^make ", "env -u MAKEFLAGS -u MFLAGS make -n -C \"$HOME_OF_TESTS\" ",
      "it builds, installs or takes minutes: make says what it would do" },
    { "^sudo ", ": ", "it would change this computer" },
    { "^ordeal board flash ", "ordeal board flash --dry-run ", "there is no chip to program" },
    { "^ordeal board selftest", "ordeal-board --quiet -- ordeal board selftest --words 2000",
      "there is no board: a simulated one is plugged in, whose stream is slow" },
    { "^ordeal board list", "ordeal-board --quiet -- ordeal board list", "as above" },
    { "^ordeal run --target board", "ordeal-board --quiet -- ordeal run --target board",
      "as above" },
    { "^ordeal serve ", "timeout --preserve-status -s INT 3 ordeal serve ", "it serves until ^C" },
    { "^verilator --cc --exe --build ", "verilator --lint-only ",
      "a build takes minutes: test_sim_own.c does it" },
    { "obj_dir/mychip.so", "build/sim/h4-s16-w2-l4-b8-q4.so", "it was not built, see above" },
    { "--bug upgrade-wins --bias examples/zoo.bias --check --count 100 --stop-after 1 \\\n"
      "          --waves",
      "--sizes h1-s1-w1-l4-b1-q1 --set threads=1 --set operations.interrupt=0 "
      "--bug victim-dropped --check --count 100 --stop-after 1 --waves",
      "waves take another model, which takes minutes to build: the smallest is there" },
    { "^ordeal run --target sim --sizes usual --count 3 --check --cover rtl.cover --coverage raw",
      "printf 'ordeal-cover 2\\ntests 3\\nrtl.line.a.v:1:1.block 1 1 0 -\\n"
      "rtl.user.a.v:2:1.seen 0\\nend 2\\n' > rtl.cover && seq 9 > a.v && echo tests=3 end=done",
      "coverage takes another model, too, which takes minutes to build" },
};
enum { RULES = sizeof rules / sizeof *rules };
static unsigned used[RULES];

static const struct rule without_native = { "--target native", "--target model",
                                            "native takes an x86-64 with two cores" };

static bool has_native(void)
{
#ifdef __x86_64__
    return sysconf(_SC_NPROCESSORS_ONLN) >= 2;
#else
    return false;
#endif
}

/* Whether it is for this command, which is then another. */
static bool apply(const struct rule *r, char **text)
{
    bool first = r->find[0] == '^';
    const char *find = r->find + first, *at = strstr(*text, find);
    char *fresh;
    if (!at || (first && at != *text))
        return false;
    TEST_ASSERT_TRUE(
        asprintf(&fresh, "%.*s%s%s", (int)(at - *text), *text, r->put, at + strlen(find)) >= 0);
    free(*text);
    *text = fresh;
    return true;
}

static char *as_it_can_run(const char *command)
{
    char *text = strdup(command);
    TEST_ASSERT_NOT_NULL(text);
    for (int i = 0; i < RULES; i++)
        used[i] += apply(&rules[i], &text);
    if (!has_native())
        apply(&without_native, &text);
    return text;
}

/* ---- running ------------------------------------------------------------------------------- */

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    TEST_ASSERT_NOT_NULL_MESSAGE(f, name);
    TEST_ASSERT_TRUE(fputs(text, f) >= 0 && fclose(f) == 0);
}

/* `pkg-config ordeal` finds the library as it was built. */
static void offer_library(void)
{
#ifdef __SANITIZE_ADDRESS__
    const char *more = "-fsanitize=address,undefined";
#else
    const char *more = "";
#endif
    EXPECT(0,
           "mkdir pkgconfig && sed 's|@VERSION@|%s|; s|^Cflags:.*|Cflags: -I%s/checker|; "
           "s|^Libs:.*|Libs: %s -L'\"$BUILD_OF_TESTS\"' -lordeal -lcadical -lstdc++ -lzstd -lz "
           "-lm|' '%s/checker/ordeal.pc.in' >pkgconfig/ordeal.pc",
           ORDEAL_VERSION, home, more, home);
}

/* A directory like the root of the sources, in which nothing of theirs is changed. */
static void enter_copy(void)
{
    shell_enter();
    EXPECT(0,
           "for f in '%s'/*; do [ \"${f##*/}\" = build ] || ln -s \"$f\" .; done; "
           "ln -s \"$BUILD_OF_TESTS\" build",
           home);
    offer_library();
    EXPECT(0, "mkdir home");
}

static void make_shown_file(const struct document_command *c)
{
    char name[64];
    struct stat s;
    if (sscanf(c->text, "cat %63[a-z.]\n", name) == 1 && lstat(name, &s) != 0)
        write_file(name, c->shown);
}

static void run_command(const struct document *d, const struct document_command *c)
{
    char *command = as_it_can_run(c->text);
    make_shown_file(c);
    write_file("command", command);
    int wanted = document_status(c->shown);
    int status = sh("env -u DISPLAY HOME=\"$PWD/home\" PKG_CONFIG_PATH=\"$PWD/pkgconfig\" "
                    "PATH=\"$BUILD_OF_TESTS:$PATH\" timeout %d sh ./command 2>&1",
                    SECONDS_OF_COMMAND);
    if (status != wanted)
        document_complain(d, c->line, "ends with %d, the document says %d: %s%.600s", status,
                          wanted, command, out);
    /* What make would do is not what it prints. */
    else if (strncmp(c->text, "make ", 5) != 0 && !document_agrees(c->shown, out))
        document_complain(d, c->line, "prints other than is shown: %s%.600s", command, out);
    free(command);
}

static void run_all(const struct document *d)
{
    enter_copy();
    for (size_t i = 0; i < d->commands.count; i++)
        run_command(d, &d->commands.data[i]);
    shell_leave();
}

/* ---- tests --------------------------------------------------------------------------------- */

static void a_document_is_taken_apart(void)
{
    struct document d;
    document_take(&d, "x",
                  "# T\n    $ one \\\n          two\n    a\n\n    b\n\n    $ three\n"
                  "`code` and [text](link)\n    make x\n\n    room/   of things\n");
    TEST_ASSERT_EQUAL(3, d.commands.count);
    TEST_ASSERT_EQUAL_STRING("one \\\n          two\n", d.commands.data[0].text);
    TEST_ASSERT_EQUAL(2, d.commands.data[0].line);
    TEST_ASSERT_EQUAL_STRING("a\n\nb\n", d.commands.data[0].shown);
    TEST_ASSERT_EQUAL_STRING("three\n", d.commands.data[1].text);
    TEST_ASSERT_EQUAL_STRING("", d.commands.data[1].shown);
    TEST_ASSERT_EQUAL_STRING("make x\n", d.commands.data[2].text);
    TEST_ASSERT_EQUAL(1, d.codes.count);
    TEST_ASSERT_EQUAL_STRING("code", d.codes.data[0].text);
    TEST_ASSERT_EQUAL_STRING("link", d.links.data[0].text);
    TEST_ASSERT_EQUAL_STRING("room/", d.rooms.data[0].text);
    document_free(&d);
}

static void dots_stand_for_what_is_left_out(void)
{
    TEST_ASSERT_TRUE(document_agrees("", "anything\n"));
    TEST_ASSERT_TRUE(document_agrees("a … c\n", "a b b c\n"));
    TEST_ASSERT_TRUE(document_agrees("a ...\n", "a b\n"));
    TEST_ASSERT_FALSE(document_agrees("a …\n", "a b\nc\n"));
    TEST_ASSERT_TRUE(document_agrees("a …\n…\n", "a b\nc\n"));
    TEST_ASSERT_TRUE(document_agrees("…\nd\n", "a\nc\nd\n"));
    TEST_ASSERT_FALSE(document_agrees("…\nd\n", "a\nc\n"));
    TEST_ASSERT_FALSE(document_agrees("a\nb\n", "a\n"));
    TEST_ASSERT_EQUAL(0, document_status("PASS x\n…\n"));
    TEST_ASSERT_EQUAL(1, document_status("LOST x\nFAIL x\n"));
    TEST_ASSERT_EQUAL(3, document_status("PASS\nLOST x\n"));
}

#define TRACE "    $ cat a.trace\n    ordeal 1\n    P0 L[A]=1\n\n"

static void mistakes_in_commands_are_found(void)
{
    document_plant(TRACE "    $ ordeal check a.trace\n    FAIL a.trace …\n", run_all, "");
    document_plant(TRACE "    $ ordeal check a.trace\n    PASS a.trace …\n", run_all,
                   "planted.md:5: ends with 1, the document says 0");
    document_plant(TRACE "    $ ordeal check a.trace\n    FAIL b.trace …\n", run_all,
                   "planted.md:5: prints other than is shown");
    document_plant("    $ ordeal check nothing.trace\n", run_all, "ends with 2");
    document_plant("    $ ordeal gen --sede 3\n", run_all, "unknown option '--sede'");
    document_plant("    $ make sandwich\n", run_all, "No rule to make target 'sandwich'");
    document_plant("    $ ordeal board flesh x.bin\n", run_all, "ends with 2");
}

static void every_command_does_what_is_shown(void)
{
    memset(used, 0, sizeof used);
    documents_check(run_all);
    for (int i = 0; i < RULES; i++)
        TEST_ASSERT_TRUE_MESSAGE(used[i], rules[i].find); /* a rule for nothing hides a mistake */
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(a_document_is_taken_apart);
    RUN_TEST(dots_stand_for_what_is_left_out);
    RUN_TEST(mistakes_in_commands_are_found);
    RUN_TEST(every_command_does_what_is_shown);
    return UNITY_END();
}
