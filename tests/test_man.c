/* SPDX-License-Identifier: Apache-2.0 */
/* The manual page host/ordeal.1 against what the program says of itself: each has every command,
 * and of each command every option, with its letter, its argument and the targets it is for, and
 * no other. ORDEAL in the environment names the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_help.h"
#include "shell.h"

static struct help help, manual;

void setUp(void) {}
void tearDown(void) {}

/* ---- roff, as far as the page goes --------------------------------------------------------- */

/* "\-" is a dash; "\fI" and the like, and "\c", are nothing. */
static size_t unescape(const char *from, size_t length, char *to)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++)
        if (from[i] != '\\')
            to[n++] = from[i];
        else if (from[++i] == 'f')
            i++;
        else if (from[i] != 'c' && from[i] != '&')
            to[n++] = from[i];
    return n;
}

/* The text of a line: the words of .B and .I are joined by spaces, those of .BR and its like are
 * not; "" for other requests. */
static void text_of(const char *line, char *text)
{
    bool joins = strncmp(line, ".BR ", 4) == 0 || strncmp(line, ".BI ", 4) == 0
              || strncmp(line, ".RB ", 4) == 0 || strncmp(line, ".IR ", 4) == 0;
    *text = '\0';
    if (line[0] == '.' && !joins && strncmp(line, ".B ", 3) != 0)
        return;
    char *end = text;
    for (const char *p = line + (line[0] == '.' ? strcspn(line, " ") : 0); *p && *p != '\n';) {
        p += strspn(p, " ");
        bool quoted = *p == '"';
        p += quoted;
        size_t length = strcspn(p, quoted ? "\"\n" : " \n");
        if (!joins && end > text)
            *end++ = ' ';
        end += unescape(p, length, end);
        p += length + (quoted && p[length] == '"');
    }
    *end = '\0';
}

/* "-b, --bias=FILE, -z, --compress" */
static void take_tag(struct help_command *c, char *text)
{
    char letter = '\0';
    for (char *word = text, *next; word; word = next) {
        struct help_option o = { .letter = letter };
        if ((next = strstr(word, ", ")))
            *next = '\0', next += 2;
        if (word[0] == '-' && word[1] != '-' && !word[2]) {
            letter = word[1];
            continue;
        }
        letter = '\0';
        if (sscanf(word, "--%31[a-z0-9-]=%31[^\n]", o.name, o.argument) < 1)
            return; /* no option: a word that the command takes */
        TEST_ASSERT_TRUE(LIST_PUSH(&c->options, o));
    }
}

/* Tags are the lines after .TP, in the sections .SS of COMMANDS. */
static void read_manual(FILE *f)
{
    char line[1024], text[1024], name[32];
    bool commands = false, tag = false;
    size_t told = 0; /* options of the command, but for those of the last tag */
    struct help_command *c = NULL;
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, ".SH ", 4) == 0)
            commands = strcmp(line, ".SH COMMANDS\n") == 0;
        if (commands && sscanf(line, ".SS %31s", name) == 1) {
            struct help_command fresh = { .name = "" };
            strcpy(fresh.name, name);
            TEST_ASSERT_TRUE(LIST_PUSH(&manual.commands, fresh));
            c = &manual.commands.data[manual.commands.count - 1];
            told = 0;
        }
        text_of(line, text);
        if (commands && tag && c)
            take_tag(c, text);
        else if (commands && c)
            for (; told < c->options.count; told++)
                help_whose(text, c->options.data[told].whose);
        tag = strncmp(line, ".TP", 3) == 0;
    }
}

/* ---- comparing ----------------------------------------------------------------------------- */

/* Of the one, what the other has not, or has otherwise; --help is told once for all commands. */
static void compare(const struct help *one, const struct help *other, const char *missing,
                    char *complaints, size_t size)
{
    for (size_t i = 0; i < one->commands.count; i++) {
        const struct help_command *c = &one->commands.data[i], *d = help_find(other, c->name);
        size_t used = strlen(complaints);
        if (strcmp(c->name, "ordeal-board") == 0)
            continue;
        if (!d)
            snprintf(complaints + used, size - used, "%s %s\n", missing, c->name);
        for (size_t k = 0; d && k < c->options.count; k++) {
            const struct help_option *o = &c->options.data[k], *p = help_option(d, o->name);
            used = strlen(complaints);
            if (strcmp(o->name, "help") != 0
                && (!p || p->letter != o->letter || strcmp(p->argument, o->argument) != 0
                    || strcmp(p->whose, o->whose) != 0))
                snprintf(complaints + used, size - used, "%s %s -%c --%s=%s %s\n", missing, c->name,
                         o->letter ? o->letter : ' ', o->name, o->argument, o->whose);
        }
    }
}

static void the_manual_has_what_there_is_and_nothing_else(void)
{
    char complaints[8192] = "";
    compare(&help, &manual, "the manual has no", complaints, sizeof complaints);
    compare(&manual, &help, "there is no", complaints, sizeof complaints);
    TEST_ASSERT_EQUAL_STRING("", complaints);
}

static void the_synopsis_has_every_command(void)
{
    char wanted[64], page[1 << 16];
    slurp("host/ordeal.1", page, sizeof page);
    for (size_t i = 0; i < help.commands.count; i++) {
        snprintf(wanted, sizeof wanted, "\n.B ordeal %s\n", help.commands.data[i].name);
        if (strcmp(help.commands.data[i].name, "ordeal-board") != 0)
            contains(page, wanted, __LINE__);
    }
    contains(page, "\\-\\-help", __LINE__);
}

/* A page with mistakes, to see that they are found. */
static void mistakes_are_found(void)
{
    static char page[] =
        ".SH COMMANDS\n.SS gen\n.TP\n.BR \\-b \", \" \\-\\-bias=\\fIFLIE\\fR\nWhat.\n.TP\n"
        ".BI \\-\\-seed= S\n.BR sim \", \" board :\nwhat.\n.TP\n.B \\-\\-print\\-bais\n.TP\n.BR \\-x \", \" \\-\\-keys\n"
        ".SS judge\n.SH FILES\n.TP\n.B \\-\\-more\n";
    struct help kept = manual;
    char complaints[8192] = "";
    manual = (struct help){ { 0 } };
    FILE *f = fmemopen(page, strlen(page), "r");
    TEST_ASSERT_NOT_NULL(f);
    read_manual(f);
    fclose(f);
    compare(&manual, &help, "there is no", complaints, sizeof complaints);
    TEST_ASSERT_EQUAL_STRING("there is no gen -b --bias=FLIE \n"
                             "there is no gen -  --seed=S sim, board\n"
                             "there is no gen -  --print-bais= \n"
                             "there is no gen -x --keys= \n"
                             "there is no judge\n",
                             complaints);
    compare(&help, &manual, "the manual has no", complaints, sizeof complaints);
    contains(complaints, "the manual has no gen -n --count=N \n", __LINE__);
    contains(complaints, "the manual has no run\n", __LINE__);
    help_free(&manual);
    manual = kept;
}

int main(void)
{
    if (!shell_open())
        return 1;
    FILE *f = fopen("host/ordeal.1", "r");
    if (!f) {
        perror("host/ordeal.1");
        return 1;
    }
    help_read(&help);
    read_manual(f);
    fclose(f);
    UNITY_BEGIN();
    RUN_TEST(mistakes_are_found);
    RUN_TEST(the_synopsis_has_every_command);
    RUN_TEST(the_manual_has_what_there_is_and_nothing_else);
    help_free(&help);
    help_free(&manual);
    return UNITY_END();
}
