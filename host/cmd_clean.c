/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal clean`: away with what killed runs left. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/options.h"
#include "base/temporary.h"

struct clean {
    bool dry;
    const struct command *command;
    int status;
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(clean, dry, "dry-run", 'n', NULL, flag, NULL, "remove nothing, only tell what would be"),
    OPTION_END
};
/* clang-format on */

static void tell(void *user, const char *path, int error)
{
    struct clean *c = user;
    if (error)
        c->status = complain(c->command, "%s: %s", path, strerror(error));
    else {
        printf("%s ", c->dry ? "would remove" : "removed");
        escape_write(path, false, stdout);
        putchar('\n');
    }
}

static void clean(struct clean *c, const char *directory, bool inside)
{
    struct temporary_sweep how = { .dry = c->dry, .inside = inside, .tell = tell, .user = c };
    int error = temporary_sweep(directory, &how);
    if (error)
        c->status = complain(c->command, "%s: %s", directory, strerror(error));
}

static int run(const struct command *self, int argc, char **argv)
{
    static const char kept[] = "ordeal-failures";
    struct clean c = { .command = self, .status = EXIT_FINE };
    int operand, status = options_parse(self, argc, argv, &c, &operand);
    if (status >= 0)
        return status;
    for (int i = operand; i < argc; i++)
        clean(&c, argv[i], true);
    if (operand == argc) {
        clean(&c, temporary_directory(), false);
        clean(&c, ".", false);
        if (access(kept, F_OK) == 0)
            clean(&c, kept, true);
    }
    return c.status;
}

const struct command command_clean = {
    .name = "clean",
    .summary = "remove what killed runs left behind",
    .operands = "[DIR...]",
    .description =
        "Removes temporary files and folders (NAME.ordeal-tmp-XXXXXX) whose program is gone: it\n"
        "was killed, or power was lost. Those of programs that run, and of other users, stay, and\n"
        "so does what is mounted in them. It looks in the directories named and in the folders in\n"
        "them that are not mounted there; without any in the temporary directory (TMPDIR, or\n"
        "/tmp), in the current one, and in ordeal-failures with its folders. The next run that\n"
        "works in a directory does the same there by itself.\n\n"
        "Exit status: 0; 2 bad usage, or something could not be read or removed.",
    .example = "  $ ordeal clean --dry-run\n"
               "  $ ordeal clean my-failures\n",
    .options = options,
    .run = run,
};
