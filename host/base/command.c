/* SPDX-License-Identifier: Apache-2.0 */
/* What all commands share. */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"

int exit_worst(int a, int b)
{
    static const int graver_first[] = { EXIT_INTERNAL,  EXIT_UNWRITTEN, EXIT_INTERRUPTED,
                                        EXIT_VIOLATION, EXIT_BAD,       EXIT_TARGET,
                                        EXIT_UNDECIDED };
    for (size_t i = 0; i < sizeof graver_first / sizeof *graver_first; i++)
        if (a == graver_first[i] || b == graver_first[i])
            return graver_first[i];
    return EXIT_FINE;
}

int exit_told(int status) { return status == EXIT_UNWRITTEN ? EXIT_BAD : status; }

int complain_unwritten(const struct command *c, const char *file, int error)
{
    complain(c, "%s: %s", file, strerror(error));
    return EXIT_UNWRITTEN;
}

int complain(const struct command *c, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    bool made = vasprintf(&text, format, args) >= 0;
    va_end(args);
    fprintf(stderr, "ordeal%s%s: ", c ? " " : "", c ? c->name : "");
    escape_write(made ? text : "out of memory", false,
                 stderr); /* it may quote a file or its name */
    fputc('\n', stderr);
    if (made)
        free(text);
    return EXIT_BAD;
}
