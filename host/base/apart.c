/* SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "text.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
/* Sanitizers cannot fork where there are threads; they end the program for what they find anyway. */
bool apart_write(bool (*work)(void *user, FILE *out), void *user, FILE *out)
{
    return work(user, out);
}
#else
static const double patience = 30; /* seconds; a library without memory may never end */

/* Never returns. A core of it helps nobody, nor what libraries print that come to a bad end. */
static _Noreturn void do_work(bool (*work)(void *user, FILE *out), void *user, int to, pid_t parent)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDERR_FILENO);
    FILE *out = fdopen(to, "w");
    bool good = out && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent
             && work(user, out) && fflush(out) == 0 && !ferror(out);
    _exit(good ? 0 : 1);
}

static bool wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* All that comes until the other end is closed; false: it took too long, or memory is out. */
static bool gather(int from, FILE *to)
{
    double until = now_seconds() + patience;
    char block[16384];
    for (;;) {
        struct pollfd come = { .fd = from, .events = POLLIN };
        double left = until - now_seconds();
        if (left <= 0 || (poll(&come, 1, (int)(left * 1000) + 1) < 0 && errno != EINTR))
            return false;
        ssize_t got = come.revents ? read(from, block, sizeof block) : -1;
        if (got == 0)
            return !ferror(to);
        if (got > 0)
            fwrite(block, 1, (size_t)got, to);
        else if (come.revents && errno != EINTR)
            return false;
    }
}

/* To memory first, so that what came to no good end leaves nothing. */
static bool take(pid_t child, int from, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = text_stream(&text, &size);
    bool good = memory && gather(from, memory);
    if (!good)
        kill(child, SIGKILL);
    good = wait_for(child) && good;
    good = memory && fclose(memory) == 0 && good && fwrite(text, 1, size, out) == size;
    free(text);
    return good;
}

bool apart_write(bool (*work)(void *user, FILE *out), void *user, FILE *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(out); /* the child has a copy of what waits in it */
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        do_work(work, user, ends[1], parent);
    close(ends[1]);
    bool good = child > 0 && take(child, ends[0], out);
    close(ends[0]);
    return good;
}
#endif
