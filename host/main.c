/* SPDX-License-Identifier: Apache-2.0 */
/* The `ordeal` program: finds the command in the table and hands over to it. */
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

#include "base/command.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/options.h"
#include "ordeal.h"
#include "process.h"

/* clang-format off */
static const struct command *const commands[] = {
    &command_gen,
    &command_run,
    &command_tune,
    &command_regress,
    &command_check,
    &command_show,
    &command_convert,
    &command_litmus,
    &command_cover,
    &command_report,
    &command_serve,
    &command_explore,
    &command_monitor,
    &command_relax,
    &command_fence,
    &command_board,
    &command_clean,
};
/* clang-format on */
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *out)
{
    fputs("usage: ordeal COMMAND [options] [files]\n\n"
          "Decides whether executions of a shared-memory multiprocessor obey its memory model.\n\n"
          "commands:\n",
          out);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  help      explain a command: 'ordeal help COMMAND' or 'ordeal COMMAND --help'\n\n"
          "exit status:\n"
          "  0  nothing wrong was found\n"
          "  1  a violation was found\n"
          "  2  bad usage or bad input\n"
          "  3  the target failed\n"
          "  4  undecided within the limits given\n"
          "  Where several apply: a violation first, then bad input, then the others; but a\n"
          "  result that could not be written is 2 whatever was found.\n"
          "  70 is a defect of ordeal itself, 130 an interruption by ^C.\n\n"
          "example:\n"
          "  $ ordeal check --model TSO run1.trace run2.trace\n",
          out);
}

static const struct command *find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

static int unknown_command(const char *word)
{
    const char *names[COMMANDS + 2];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i]->name;
    names[COMMANDS] = "help";
    names[COMMANDS + 1] = NULL;
    const char *near = nearest_name(word, names);
    if (near)
        return complain(NULL, "unknown command '%s'; did you mean '%s'?", word, near);
    return complain(NULL, "unknown command '%s'; 'ordeal --help' lists the commands", word);
}

static int dispatch(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word) {
        print_help(stderr);
        return EXIT_BAD;
    }
    bool help = strcmp(word, "help") == 0;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (help && argc == 2)) {
        print_help(stdout);
        return EXIT_FINE;
    }
    if (strcmp(word, "--version") == 0) {
        puts("ordeal " ORDEAL_VERSION);
        return EXIT_FINE;
    }
    if (word[0] == '-')
        return complain(NULL, "unknown option '%s'; options follow the command: "
                              "'ordeal COMMAND [options] [files]'", word);
    const struct command *c = find_command(help ? argv[2] : word);
    if (!c)
        return unknown_command(help ? argv[2] : word);
    if (help) {
        options_help(c);
        return EXIT_FINE;
    }
    return c->run(c, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int error = process_begin();
    if (error)
        return complain(NULL, "/dev/null: %s", strerror(error));
    json_watch();
    int status = exit_told(dispatch(argc, argv));
    if (interrupted() && ferror(stdout)) { /* it waited for a reader: what is left is not for him */
        __fpurge(stdout);
        return status;
    }
    const char *lost = process_end();
    if (!lost)
        return status;
    complain(NULL, "%s", lost);
    return status == EXIT_INTERNAL ? status : EXIT_BAD;
}
