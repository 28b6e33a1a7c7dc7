/* SPDX-License-Identifier: Apache-2.0 */
/* The program from outside: shell commands in a directory of the test's own, and what they must
 * leave. `out` and `err` are what the last one printed.
 *
 * For commands: $ORDEAL is the program, $BUILD_OF_TESTS where it and what is made with it lie,
 * $HOME_OF_TESTS the root of the sources. */
#ifndef SUPPORT_SHELL_H
#define SUPPORT_SHELL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unity.h"

static char out[1 << 18], err[1 << 14];
static char directory[64], home[4096];   /* the test's own, and where it was started */

/* To be called first, from the root of the sources. False, and told: there is no program. */
static inline bool shell_open(void)
{
    char program[4096];
    const char *given = getenv("ORDEAL") ? getenv("ORDEAL") : "build/ordeal";
    if (!realpath(given, program) || !getcwd(home, sizeof home)) {
        fprintf(stderr, "%s: there is no such program; ORDEAL names it\n", given);
        return false;
    }
    setenv("ORDEAL", program, 1);
    *strrchr(program, '/') = '\0';
    setenv("BUILD_OF_TESTS", program, 1);
    setenv("HOME_OF_TESTS", home, 1);
    return true;
}

/* Of setUp and tearDown: into a directory of the test's own, and away with it. */
static inline void shell_enter(void)
{
    snprintf(directory, sizeof directory, "/tmp/test-ordeal-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    TEST_ASSERT_EQUAL(0, chdir(directory));
}

static inline void shell_leave(void)
{
    char command[128];
    TEST_ASSERT_EQUAL(0, chdir(home));
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    TEST_ASSERT_EQUAL(0, system(command));
}

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
