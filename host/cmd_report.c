/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal report`: pages to look at, from what other commands have kept. */
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/escape.h"
#include "base/options.h"
#include "report/site.h"
#include "report/subject.h"

struct make_pages {
    const struct command *command;
    const char *output;
    bool no_waves;
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(make_pages, output, "output", 'o', "DIR|FILE.html", text, "ordeal-report",
           "where the pages go: a folder with index.html and a page for each\n"
           "failure, or one file that has all of them"),
    OPTION(make_pages, no_waves, "no-waves", 0, NULL, flag, NULL,
           "leave out signals: waves of a folder that comes from somebody else\n"
           "are not opened"),
    OPTION_END
};
/* clang-format on */

/* Slashes at its end would hide what the folder lies in. */
static char *without_slash(const char *path)
{
    char *copy = strdup(path);
    for (size_t n = copy ? strlen(copy) : 0; n > 1 && copy[n - 1] == '/'; n--)
        copy[n - 1] = '\0';
    return copy;
}

static int make_pages(const struct make_pages *r, char **names, int count)
{
    struct why why = { "" };
    enum subject kind = SUBJECT_DATABASE;
    for (int i = 0; i < count; i++) {
        kind = subject_kind(names[i], &why);
        if (kind == SUBJECT_NONE)
            return complain(r->command, "%s", why.text);
        if (kind != SUBJECT_DATABASE && count > 1)
            return complain(r->command,
                            "%s: several databases make a history; of folders one at a "
                            "time",
                            names[i]);
    }
    struct site site;
    char *output = without_slash(r->output);
    bool good = output && site_open(&site, output, &why);
    if (good && !subject_write(&site, kind, names, count, r->no_waves, &why)) {
        site_give_up(&site);
        good = false;
    } else if (good) {
        good = site_commit(&site);
    }
    free(output);
    return good ? EXIT_FINE : complain(r->command, "%s", why.text[0] ? why.text : "out of memory");
}

static int run(const struct command *self, int argc, char **argv)
{
    struct make_pages r = { .command = self };
    int operand, status = options_parse(self, argc, argv, &r, &operand);
    if (status >= 0)
        return status;
    if (operand == argc)
        return complain(self, "of what? Name databases of 'ordeal regress', or a folder");
    status = make_pages(&r, argv + operand, argc - operand);
    if (status == EXIT_FINE) {
        fputs("REPORT ", stdout);
        escape_write(r.output, false, stdout);
        putchar('\n');
    }
    return status;
}

const struct command command_report = {
    .name = "report",
    .summary = "make pages to look at of a regression, a failure or a tuning",
    .operands = "DB...|FOLDER",
    .description =
        "Makes pages that any browser shows, without a server and without a network. Of databases\n"
        "of 'ordeal regress': verdicts, failures by cause, coverage and speed over time, slowest\n"
        "tests, machines, incidents; of several databases also what changed from one to the next.\n"
        "Of a failing test that 'ordeal run' kept in a folder: the operations that violate the model\n"
        "as a graph whose arrows tell why they are there, step by step; when they happened; what the\n"
        "signals did, if there are waves; the test, its small form, and how it is run again. A folder\n"
        "of such folders becomes a list of them. Of a folder of 'ordeal tune': what moved, and what\n"
        "that brought.\n\n"
        "The trace is judged again for its page. The pages are there whole or not at all; a folder\n"
        "that has anything in it but an older report is not touched. Exit status: 0, or 2 if there\n"
        "was nothing to make pages of.",
    .example = "  $ ordeal report nightly.db -o pages\n"
               "  $ ordeal report ordeal-failures/test-000007 -o why.html\n",
    .options = options,
    .run = run,
};
