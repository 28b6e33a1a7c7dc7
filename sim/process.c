/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monotonic.h"

static const int write_signals[] = { SIGPIPE, SIGXFSZ };
enum { WRITE_SIGNALS = sizeof write_signals / sizeof *write_signals };

/* From the lowest on: what is opened takes the lowest number that is free. */
static int fill_streams(void)
{
    static const int wrong_way[] = {
        [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY
    };
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", wrong_way[stream]) < 0)
            return errno;
    return 0;
}

int process_begin(void)
{
    for (size_t i = 0; i < WRITE_SIGNALS; i++)
        signal(write_signals[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    return fill_streams();
}

/* What a write would say now that the first one to fail is forgotten; 0: it might succeed. */
static int trouble_of(int stream)
{
    struct pollfd pipe = { .fd = stream };
    if (write(stream, "", 0) < 0)
        return errno;
    return poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR ? EPIPE : 0;
}

const char *process_end(void)
{
    static char text[128];
    int error = fflush(stdout) == 0 ? 0 : errno;
    if (!error && !ferror(stdout))
        return NULL;
    if (!error)
        error = trouble_of(STDOUT_FILENO);
    snprintf(text, sizeof text, "standard output could not be written%s%s", error ? ": " : "",
             error ? strerror(error) : "");
    return text;
}

bool process_asked_anew(int signal)
{
    static const double together = 1; /* seconds */
    static _Atomic double last[NSIG];
    double now = monotonic_seconds(), before = last[signal];
    return (before == 0 || now - before > together) /* else, or if another thread was first: no */
        && atomic_compare_exchange_strong(&last[signal], &before, now);
}

void process_restore_signals(void)
{
    for (size_t i = 0; i < WRITE_SIGNALS; i++)
        signal(write_signals[i], SIG_DFL);
}
