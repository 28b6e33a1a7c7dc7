/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody at a terminal: a shell command that has one for its standard input and output, and is told
 * a line each time it asks for one. */
#ifndef SUPPORT_TERMINAL_H
#define SUPPORT_TERMINAL_H

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unity.h"

enum { TERMINAL_WAIT = 300000 }; /* milliseconds for a prompt, or for the end: others may be busy */

/* Reads on behind what was seen, until `prompt` is at the end of it, or the other side has ended.
 * False: neither came in time. */
static inline bool terminal_read(int terminal, const char *prompt, char *seen, size_t size)
{
    size_t length = strlen(seen), wanted = strlen(prompt);
    for (;;) {
        struct pollfd ready = { .fd = terminal, .events = POLLIN };
        int n = poll(&ready, 1, TERMINAL_WAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        ssize_t got = read(terminal, seen + length, size - 1 - length);
        if (got <= 0) /* EIO: nobody has the other side open */
            return true;
        length += (size_t)got;
        seen[length] = '\0';
        if (length >= wanted && strcmp(seen + length - wanted, prompt) == 0)
            return true;
        if (length == size - 1)
            return false;
    }
}

enum { TERMINAL_DOING = 4096 };

/* For who has to find out why nothing came: what it waits for, and what was seen last. */
static inline void terminal_doing(pid_t process, const char *seen, char doing[TERMINAL_DOING])
{
    char command[256], line[256];
    size_t length = strlen(seen), used = 0;
    snprintf(command, sizeof command,
             "ps -o pid,stat,time,wchan:30,args -p %ld --ppid %ld; grep -H . /proc/%ld/wchan",
             (long)process, (long)process, (long)process);
    FILE *ps = popen(command, "r");
    while (ps && used < TERMINAL_DOING / 2 && fgets(line, sizeof line, ps))
        used += (size_t)snprintf(doing + used, TERMINAL_DOING - used, "%s", line);
    if (ps)
        pclose(ps);
    snprintf(doing + used, TERMINAL_DOING - used, "seen last: %s",
             seen + (length < 1500 ? 0 : length - 1500));
}

/* Says `lines`, each when `prompt` has come; what was seen on the terminal, and the exit status. */
static inline int at_terminal(const char *command, const char *prompt, const char *const *lines,
                              char *seen, size_t size)
{
    int terminal, status;
    pid_t shell = forkpty(&terminal, NULL, NULL, NULL);
    TEST_ASSERT_TRUE(shell >= 0);
    if (shell == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    seen[0] = '\0';
    bool came = true;
    for (; came && *lines; lines++) {
        came = terminal_read(terminal, prompt, seen, size);
        came = came && write(terminal, *lines, strlen(*lines)) == (ssize_t)strlen(*lines)
            && write(terminal, "\n", 1) == 1;
    }
    while (came && strlen(seen) < size - 1) { /* to the end */
        size_t before = strlen(seen);
        came = terminal_read(terminal, prompt, seen, size);
        if (strlen(seen) == before)
            break;
    }
    char doing[TERMINAL_DOING] = "";
    if (!came) {
        terminal_doing(shell, seen, doing);
        kill(shell, SIGKILL);
    }
    close(terminal);
    TEST_ASSERT_EQUAL(shell, waitpid(shell, &status, 0));
    TEST_ASSERT_TRUE_MESSAGE(came, doing);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#endif
