/* SPDX-License-Identifier: Apache-2.0 */
#include "command_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

enum { LINE = 1024 };

static FILE *open_help(const char *what)
{
    char command[128];
    snprintf(command, sizeof command, "\"$ORDEAL\"%s", what);
    FILE *f = popen(command, "r");
    TEST_ASSERT_NOT_NULL(f);
    return f;
}

static void close_help(FILE *f) { TEST_ASSERT_EQUAL_MESSAGE(0, pclose(f), "help has no end"); }

void help_whose(const char *text, char whose[48])
{
    const char *p = text;
    for (size_t word; (word = strspn(p, "abcdefghijklmnopqrstuvwxyz")) > 0; p += word + 2) {
        if (p[word] == ':') {
            snprintf(whose, 48, "%.*s", (int)(p + word - text), text);
            return;
        }
        if (strncmp(p + word, ", ", 2) != 0)
            break;
    }
    whose[0] = '\0';
}

/* "  -b, --bias=FILE   what", "      --seed=S   what". */
static bool parse_option(const char *line, struct help_option *o)
{
    *o = (struct help_option){ .letter = '\0' };
    bool is = sscanf(line, "  -%c, --%31[a-z0-9-]=%31[^ \n]", &o->letter, o->name, o->argument) >= 2
           || (o->letter = '\0',
               sscanf(line, "      --%31[a-z0-9-]=%31[^ \n]", o->name, o->argument) >= 1);
    const char *dashes = is ? strstr(line, "--") : line;
    const char *text = dashes + strcspn(dashes, " ");
    help_whose(text + strspn(text, " "), o->whose);
    return is;
}

/* "  --model NAME   what". */
static bool parse_board_option(const char *line, struct help_option *o)
{
    *o = (struct help_option){ .letter = '\0' };
    return sscanf(line, "  --%31[a-z0-9-] %31[A-Z]", o->name, o->argument) >= 1 && line[2] == '-';
}

static void read_options(struct help *h, const char *name, const char *what,
                         bool (*parse)(const char *line, struct help_option *o))
{
    struct help_command c = { .name = "" };
    struct help_option o;
    char line[LINE];
    FILE *f = open_help(what);
    snprintf(c.name, sizeof c.name, "%s", name);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "  ", 2) == 0 && parse(line, &o))
            TEST_ASSERT_TRUE(LIST_PUSH(&c.options, o));
    close_help(f);
    TEST_ASSERT_TRUE_MESSAGE(c.options.count > 0, name);
    TEST_ASSERT_TRUE(LIST_PUSH(&h->commands, c));
}

void help_read(struct help *h)
{
    char line[LINE], name[32], what[64];
    bool commands = false;
    FILE *f = open_help(" --help");
    *h = (struct help){ { 0 } };
    while (fgets(line, sizeof line, f)) {
        if (commands && line[0] == '\n')
            commands = false;
        if (commands && sscanf(line, "  %31[a-z]", name) == 1 && strcmp(name, "help") != 0) {
            snprintf(what, sizeof what, " help %s", name);
            read_options(h, name, what, parse_option);
        }
        commands |= strcmp(line, "commands:\n") == 0;
    }
    close_help(f);
    TEST_ASSERT_TRUE_MESSAGE(h->commands.count > 0, "ordeal --help lists no commands");
    read_options(h, "ordeal-board", "-board --help", parse_board_option);
}

void help_free(struct help *h)
{
    for (size_t i = 0; i < h->commands.count; i++)
        LIST_FREE(&h->commands.data[i].options);
    LIST_FREE(&h->commands);
}

const struct help_command *help_find(const struct help *h, const char *command)
{
    for (size_t i = 0; i < h->commands.count; i++)
        if (strcmp(h->commands.data[i].name, command) == 0)
            return &h->commands.data[i];
    return NULL;
}

const struct help_option *help_option(const struct help_command *c, const char *name)
{
    for (size_t i = 0; i < c->options.count; i++)
        if (strcmp(c->options.data[i].name, name) == 0)
            return &c->options.data[i];
    return NULL;
}

const struct help_option *help_letter(const struct help_command *c, char letter)
{
    for (size_t i = 0; letter && i < c->options.count; i++)
        if (c->options.data[i].letter == letter)
            return &c->options.data[i];
    return NULL;
}
