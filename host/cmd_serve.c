/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal serve`: the pages of `ordeal report`, live, and what if. */
#include <inttypes.h>
#include <stdio.h>

#include "base/command.h"
#include "base/interrupt.h"
#include "base/options.h"
#include "serve/server.h"

enum { PATIENCE = 20 }; /* seconds */

struct serve {
    uint64_t port;
    double limit;
    bool no_waves;
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(serve, port, "port", 0, "NUMBER", whole, "0",
           "where to listen on 127.0.0.1; 0: on any port that is free"),
    OPTION(serve, limit, "limit", 0, "SECONDS", seconds, "5",
           "what if: give up after this time, UNDECIDED"),
    OPTION(serve, no_waves, "no-waves", 0, NULL, flag, NULL,
           "leave out signals: waves of a folder that comes from somebody else\n"
           "are not opened"),
    OPTION_END
};
/* clang-format on */

/* Whoever started it may wait for the address. */
static void print_address(const struct gate *gate)
{
    printf("SERVE http://127.0.0.1:%u/%s/\n", gate->port, gate->token);
    fflush(stdout);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct serve s = { 0 };
    struct source source;
    struct why why;
    int operand, status = options_parse(self, argc, argv, &s, &operand);
    if (status >= 0)
        return status;
    if (argc - operand != 1)
        return complain(self, "%s",
                        argc == operand ? "what? Name a database of 'ordeal regress', or a folder"
                                        : "one database or folder at a time");
    if (s.port > UINT16_MAX)
        return complain(self, "--port: expected a number up to %d, got %" PRIu64, UINT16_MAX,
                        s.port);
    struct server_plan plan = {
        .port = (unsigned)s.port, .patience = PATIENCE, .seconds = s.limit, .ready = print_address
    };
    interrupt_watch();
    bool good = source_open(&source, argv[operand], s.no_waves, &why)
             && server_run(&source, &plan, &why);
    source_close(&source);
    return good ? EXIT_FINE : complain(self, "%s", why.text);
}

const struct command command_serve = {
    .name = "serve",
    .summary = "the pages of 'ordeal report', live, on this computer: what if?",
    .operands = "DB|FOLDER",
    .description =
        "Serves the pages of 'ordeal report' to a browser on this computer, made anew whenever\n"
        "they are looked at, and prints their address. The overview of a regression that runs\n"
        "moves with it. The page of a failing test answers what if: change a value, drop an\n"
        "operation or add a fence, and see the verdict of the checker, and its reasons, again.\n\n"
        "It listens on 127.0.0.1 alone and answers only who knows the token in the address;\n"
        "nothing can be changed by it, on the disk or elsewhere. ^C ends it. Exit status: 0, or 2\n"
        "if there was nothing to serve.",
    .example = "  $ ordeal serve nightly.db\n"
               "  SERVE http://127.0.0.1:40123/5d0c2f0b8a6e4c719d83a5f27b1e60c4/\n",
    .options = options,
    .run = run,
};
