/* SPDX-License-Identifier: Apache-2.0 */
/* The manual names what exists: options, make's targets, paths, functions, links, versions; and its
 * lines fit a screen. The mistakes that each check finds are planted. test_docs_run.c runs the
 * commands. ORDEAL in the environment names the program. */
#include <glob.h>
#include <sys/stat.h>

#include "command_help.h"
#include "document.h"
#include "ordeal.h"
#include "shell.h"

enum { COLUMNS = 110 };

static struct help help;

void setUp(void) {}
void tearDown(void) { TEST_ASSERT_EQUAL(0, chdir(home)); } /* also after a test that failed */

/* ---- options ------------------------------------------------------------------------------- */

/* The words of a command line; those in '…' or "…" are one. */
struct line_words {
    int count;
    char *word[64], text[4096];
};

static void split(struct line_words *w, const char *line)
{
    w->count = 0;
    snprintf(w->text, sizeof w->text, "%s", line);
    for (char *p = w->text; *p && w->count < 63;) {
        p += strspn(p, " \n\\");
        if (!*p || *p == '#')
            break;
        w->word[w->count++] = p;
        for (char quote = 0; *p && (quote || !strchr(" \n", *p)); p++)
            quote = quote == *p ? 0 : !quote && strchr("'\"", *p) ? *p : quote;
        if (*p)
            *p++ = '\0';
    }
    w->word[w->count] = "";
}

/* Whether the next word is its argument. */
static bool check_option(const struct document *d, unsigned line, const struct help_command *c,
                         const char *word, const char *next)
{
    char name[64];
    bool given = strchr(word, '=') != NULL, is_long = word[1] == '-';
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const struct help_option *o = is_long ? help_option(c, name + 2) : help_letter(c, word[1]);
    bool takes_next = o && o->argument[0] && !given;
    if (!o)
        document_complain(d, line, "%s has no option '%s'", c->name, name);
    else if (!o->argument[0] && given)
        document_complain(d, line, "%s %s takes no argument", c->name, name);
    else if (takes_next && (!*next || (next[0] == '-' && next[1])))
        document_complain(d, line, "%s %s needs an argument", c->name, name);
    return takes_next;
}

/* From a word that names a program; returns the first word behind its command line. */
static int check_call(const struct document *d, unsigned line, const struct line_words *w, int at)
{
    bool board = strcmp(w->word[at], "ordeal-board") == 0;
    const char *name = board ? "ordeal-board" : w->word[++at];
    const struct help_command *c = help_find(&help, name);
    at++;
    if (!c) {
        if (strcmp(name, "help") != 0 && strcmp(name, "--version") != 0
            && strcmp(name, "COMMAND") != 0)
            document_complain(d, line, "ordeal has no command '%s'", name);
        return at + (strcmp(name, "help") == 0);
    }
    for (; at < w->count && strcmp(w->word[at], "--") != 0 && strcmp(w->word[at], "|") != 0; at++)
        if (w->word[at][0] == '-' && w->word[at][1])
            at += check_option(d, line, c, w->word[at], w->word[at + 1]);
    return at;
}

static void check_calls(const struct document *d, unsigned line, const char *text)
{
    struct line_words w;
    split(&w, text);
    for (int at = 0; at < w.count;)
        if ((strcmp(w.word[at], "ordeal") == 0 && at + 1 < w.count)
            || strcmp(w.word[at], "ordeal-board") == 0)
            at = check_call(d, line, &w, at);
        else
            at++;
}

/* An option that is named without its command: some command must have it. */
static void check_bare_option(const struct document *d, unsigned line, const char *text)
{
    char name[64];
    if (sscanf(text, "--%63[a-z0-9-]", name) != 1)
        return;
    for (size_t i = 0; i < help.commands.count; i++)
        if (help_option(&help.commands.data[i], name))
            return;
    document_complain(d, line, "no command has an option '--%s'", name);
}

static bool in_makefile(const char *text)
{
    static char makefile[1 << 16];
    if (!*makefile)
        slurp("Makefile", makefile, sizeof makefile);
    return strstr(makefile, text) != NULL;
}

/* The targets that people type and the variables of a line of make. */
static void check_make(const struct document *d, unsigned line, const char *text)
{
    struct line_words w;
    char what[128];
    split(&w, text);
    for (int i = 1; i < w.count; i++) {
        size_t name = strcspn(w.word[i], "=");
        bool variable = w.word[i][name] == '=';
        if (!variable && strchr(w.word[i], '/'))
            continue; /* a file: make knows how it is made */
        snprintf(what, sizeof what, variable ? "$(%.*s)" : "%.*s:", (int)name, w.word[i]);
        bool there = in_makefile(what);
        snprintf(what, sizeof what, "%.*s=", (int)name, w.word[i]);
        if (!there && !(variable && in_makefile(what)))
            document_complain(d, line, "the Makefile knows nothing of '%s'", w.word[i]);
    }
}

static void check_options(const struct document *d)
{
    for (size_t i = 0; i < d->commands.count; i++) {
        const struct document_command *c = &d->commands.data[i];
        check_calls(d, c->line, c->text);
        if (strncmp(c->text, "make ", 5) == 0)
            check_make(d, c->line, c->text);
    }
    for (size_t i = 0; i < d->codes.count; i++) {
        const struct document_text *c = &d->codes.data[i];
        if (strncmp(c->text, "ordeal", 6) == 0 && strchr(" -", c->text[6]))
            check_calls(d, c->line, c->text);
        else if (strncmp(c->text, "--", 2) == 0)
            check_bare_option(d, c->line, c->text);
        else if (strncmp(c->text, "make ", 5) == 0)
            check_make(d, c->line, c->text);
    }
}

/* ---- paths, names, links ------------------------------------------------------------------- */

static bool is_there(const char *pattern)
{
    glob_t found;
    int result = glob(pattern, 0, NULL, &found);
    if (result == 0)
        globfree(&found);
    return result == 0;
}

/* A path whose first part lies at the root; NAME in it stands for any. */
static void check_path(const struct document *d, const struct document_text *c)
{
    char first[64], pattern[256], *any;
    struct stat s;
    if (sscanf(c->text, "%63[A-Za-z0-9_]/", first) != 1 || c->text[strlen(first)] != '/'
        || strchr(c->text, ' ') || strcmp(first, "build") == 0 || lstat(first, &s) != 0)
        return;
    snprintf(pattern, sizeof pattern, "%s", c->text);
    if ((any = strstr(pattern, "NAME")))
        memcpy(any, "?***", 4);
    if (!is_there(pattern))
        document_complain(d, c->line, "there is no '%s'", c->text);
}

static bool is_in_sources(const char *name)
{
    char command[256];
    snprintf(command, sizeof command,
             "grep -rqw --include='*.[ch]' --include='*.cpp' "
             "--exclude=test_docs.c '%s' checker host program firmware sim tests",
             name);
    return system(command) == 0;
}

/* A function "name()" or a "struct name". */
static void check_symbol(const struct document *d, const struct document_text *c)
{
    char name[64];
    int end = 0;
    bool is = (sscanf(c->text, "%63[a-z0-9_]()%n", name, &end) == 1 && end && !c->text[end])
           || (sscanf(c->text, "struct %63[a-z0-9_]%n", name, &end) == 1 && end && !c->text[end]);
    if (is && !is_in_sources(name))
        document_complain(d, c->line, "the sources have no '%s'", c->text);
}

static void check_link(const struct document *d, const struct document_text *l)
{
    char path[512];
    const char *slash = strrchr(d->name, '/');
    if (strncmp(l->text, "https:", 6) == 0)
        return;
    snprintf(path, sizeof path, "%.*s%.*s", slash ? (int)(slash - d->name) + 1 : 0, d->name,
             (int)strcspn(l->text, "#"), l->text);
    if (!is_there(path))
        document_complain(d, l->line, "the link leads nowhere: %s", l->text);
}

/* From the root of the sources. */
static void check_names(const struct document *d)
{
    for (size_t i = 0; i < d->codes.count; i++) {
        check_path(d, &d->codes.data[i]);
        check_symbol(d, &d->codes.data[i]);
    }
    for (size_t i = 0; i < d->links.count; i++)
        check_link(d, &d->links.data[i]);
    for (size_t i = 0; i < d->rooms.count; i++)
        if (!is_there(d->rooms.data[i].text))
            document_complain(d, d->rooms.data[i].line, "there is no '%s'", d->rooms.data[i].text);
}

static void check_width(const struct document *d)
{
    for (size_t i = 0; i < d->lines.count; i++) {
        size_t columns = 0;
        for (const char *p = d->lines.data[i].text; *p; p++)
            columns += (*p & 0xc0) != 0x80; /* the first byte of a character */
        if (columns > COLUMNS)
            document_complain(d, d->lines.data[i].line, "%zu columns, %d fit", columns, COLUMNS);
    }
}

static void options_exist(void) { documents_check(check_options); }
static void what_is_named_exists(void) { documents_check(check_names); }
static void lines_fit(void) { documents_check(check_width); }

/* ---- versions ------------------------------------------------------------------------------ */

static void the_newest_change_is_of_this_version(void)
{
    struct document d;
    document_read(&d, "CHANGELOG.md");
    const char *newest = NULL;
    for (size_t i = 0; i < d.lines.count && !newest; i++)
        if (strncmp(d.lines.data[i].text, "## [", 4) == 0
            && strcmp(d.lines.data[i].text, "## [Unreleased]") != 0)
            newest = d.lines.data[i].text;
    TEST_ASSERT_NOT_NULL(newest);
    TEST_ASSERT_EQUAL_STRING_LEN("## [" ORDEAL_VERSION "] - ", newest,
                                 strlen("## [" ORDEAL_VERSION "] - "));
    document_free(&d);
    shell_enter();
    EXPECT(0, "$ORDEAL --version");
    TEST_ASSERT_EQUAL_STRING("ordeal " ORDEAL_VERSION "\n", out);
    shell_leave();
}

/* Rows "| format | number | `NAME` in `file` |" of the change log. */
static void formats_have_the_versions_that_are_told(void)
{
    struct document d;
    int told = 0;
    document_read(&d, "CHANGELOG.md");
    for (size_t i = 0; i < d.lines.count; i++) {
        char name[64], file[128];
        int number;
        if (sscanf(d.lines.data[i].text, "| %*[^|]| %d | `%63[A-Z_]` in `%127[^`]`", &number, name,
                   file)
            != 3)
            continue;
        told++;
        shell_enter();
        EXPECT(0, "grep -E '[^A-Z_]%s( =)? %du?([^0-9]|$)' '%s/%s'", name, number, home, file);
        shell_leave();
    }
    TEST_ASSERT_EQUAL(14, told);
    document_free(&d);
}

/* How many there are is in sentences that nobody thinks of when one is added. */
static void what_is_counted_is_as_many(void)
{
    static const struct {
        const char *count, *format, *document;
    } cases[] = {
        { "grep -c '^\\[profile ' '%s/host/test/default.bias'", "%d profiles, from plain loads",
          "docs/commands.md" },
        { "$ORDEAL run --target model --bug list | grep -c '^  [a-z]'", "breaks one of %d things",
          "docs/commands.md" },
        { "$ORDEAL run --target model --bug list | grep -c '^  [a-z]'", " %d bugs to switch on",
          "README.md" },
    };
    shell_enter();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        EXPECT(0, cases[i].count, home);
        snprintf(text, sizeof text, cases[i].format, atoi(out));
        EXPECT(0, "grep -F '%s' '%s/%s'", text, home, cases[i].document);
    }
    shell_leave();
}

/* ---- the checks find mistakes -------------------------------------------------------------- */

static const struct {
    const char *text, *complaint;
} bad_options[] = {
    { "`ordeal run --target T`, `ordeal help COMMAND`, `--json`, `ordeal check -m SC FILE…`\n",
      "" },
    { "`ordeal run --tagret T`\n", "run has no option '--tagret'" },
    { "`ordeal run --target`\n", "--target needs an argument" },
    { "`ordeal run --check=yes`\n", "--check takes no argument" },
    { "`ordeal judge`\n", "no command 'judge'" },
    { "`--jsno`\n", "no command has an option '--jsno'" },
    { "`ordeal-board --modle x -- ordeal board list`\n", "ordeal-board has no option '--modle'" },
    { "`ordeal-board -- ordeal board lsit --sreial 1`\n", "board has no option '--sreial'" },
    { "    $ ordeal gen | ordeal check --modle SC -\n", "check has no option '--modle'" },
    { "`make fpga BORAD=x`\n", "knows nothing of 'BORAD=x'" },
    { "`make fgpa`\n", "knows nothing of 'fgpa'" },
};

static void mistakes_in_options_are_found(void)
{
    for (size_t i = 0; i < sizeof bad_options / sizeof *bad_options; i++)
        document_plant(bad_options[i].text, check_options, bad_options[i].complaint);
}

static const struct {
    const char *text, *complaint;
} bad_names[] = {
    { "`rtl/cache.v`, `rtl/lsu*.v`, `tests/test_NAME.c`, `ordeal_check()`, `struct target`\n", "" },
    { "[text](../README.md)\n    host/   the program\n", "" },
    { "`rtl/cash.v`\n", "there is no 'rtl/cash.v'" },
    { "`ordeal_chekc()`\n", "the sources have no 'ordeal_chekc()'" },
    { "`struct tarte`\n", "the sources have no 'struct tarte'" },
    { "[text](README.md)\n", "the link leads nowhere: README.md" },
    { "    hots/   the program\n", "there is no 'hots/'" },
};

static void mistakes_in_names_are_found(void)
{
    for (size_t i = 0; i < sizeof bad_names / sizeof *bad_names; i++)
        document_plant(bad_names[i].text, check_names, bad_names[i].complaint);
}

static void wide_lines_are_found(void)
{
    char line[COLUMNS + 16] = "";
    memset(line, '-', COLUMNS - 1);
    strcat(line, "…\n");
    document_plant(line, check_width, "");
    memmove(line + 1, line, strlen(line) + 1);
    document_plant(line, check_width, "111 columns, 110 fit");
}

int main(void)
{
    if (!shell_open())
        return 1;
    help_read(&help);
    UNITY_BEGIN();
    RUN_TEST(mistakes_in_options_are_found);
    RUN_TEST(mistakes_in_names_are_found);
    RUN_TEST(wide_lines_are_found);
    RUN_TEST(lines_fit);
    RUN_TEST(options_exist);
    RUN_TEST(what_is_named_exists);
    RUN_TEST(the_newest_change_is_of_this_version);
    RUN_TEST(what_is_counted_is_as_many);
    RUN_TEST(formats_have_the_versions_that_are_told);
    help_free(&help);
    return UNITY_END();
}
