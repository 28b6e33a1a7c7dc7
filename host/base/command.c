/* SPDX-License-Identifier: Apache-2.0 */
/* What all commands share. */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>

int exit_worst(int a, int b)
{
    static const int graver_first[] = { EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_VIOLATION, EXIT_BAD,
                                        EXIT_TARGET, EXIT_UNDECIDED };
    for (size_t i = 0; i < sizeof graver_first / sizeof *graver_first; i++)
        if (a == graver_first[i] || b == graver_first[i])
            return graver_first[i];
    return EXIT_FINE;
}

int complain(const struct command *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "ordeal%s%s: ", c ? " " : "", c ? c->name : "");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return EXIT_BAD;
}
