/* The program from outside: shell commands in a directory of the test's own, and what they must
 * leave. `out` and `err` are what the last one printed. */
#ifndef SUPPORT_SHELL_H
#define SUPPORT_SHELL_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "unity.h"

static char out[1 << 18], err[1 << 14];

static inline void slurp(const char *name, char *text, size_t size)
{
    FILE *f = fopen(name, "r");
    TEST_ASSERT_NOT_NULL_MESSAGE(f, name);
    text[fread(text, 1, size - 1, f)] = '\0';
    fclose(f);
}

/* A shell command in the test's directory; $ORDEAL is the program. Fills `out` and `err`. */
static inline int sh(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline int sh(const char *format, ...)
{
    char command[8192], whole[8300];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "{ %s\n} >out 2>err", command);
    int status = system(whole);
    slurp("out", out, sizeof out);
    slurp("err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static inline void expect(int wanted, int got, int line)
{
    char message[4096];
    snprintf(message, sizeof message, "line %d: out: %.1500s err: %.1500s", line, out, err);
    TEST_ASSERT_EQUAL_INT_MESSAGE(wanted, got, message);
}
#define EXPECT(status, ...) expect(status, sh(__VA_ARGS__), __LINE__)

static inline void contains(const char *text, const char *part, int line)
{
    char message[4096];
    snprintf(message, sizeof message, "line %d: '%s' is not in: %.3000s", line, part, text);
    TEST_ASSERT_TRUE_MESSAGE(strstr(text, part) != NULL, message);
}
#define OUT(part) contains(out, part, __LINE__)
#define ERR(part) contains(err, part, __LINE__)

#endif
