/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "escape.h"
#include "interrupt.h"
#include "process.h"

static const double glance = 0.001; /* seconds between two looks at a child */

bool child_exists(const char *program)
{
    const char *path = getenv("PATH");
    if (strchr(program, '/'))
        return access(program, X_OK) == 0;
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char file[4096];
        int n = snprintf(file, sizeof file, "%.*s/%s", (int)length, path, program);
        if (n > 0 && n < (int)sizeof file && access(file, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

const char *child_argument(const char *name, char *to, size_t size)
{
    if (*name != '-' && *name != '@')
        return name;
    snprintf(to, size, "./%s", name);
    return to;
}

static bool bound(int resource, uint64_t most)
{
    struct rlimit limit;
    if (!most || getrlimit(resource, &limit) != 0)
        return true;
    if (limit.rlim_cur > most)
        limit.rlim_cur = most;
    return setrlimit(resource, &limit) == 0;
}

/* The bound on memory last: setenv() takes some. */
static bool obey(const struct child_limits *limits)
{
    return !limits
        || ((!limits->temporary || setenv("TMPDIR", limits->temporary, 1) == 0)
            && bound(RLIMIT_FSIZE, limits->file) && bound(RLIMIT_AS, limits->memory));
}

struct child_words {
    char *const *argv;
    const char *directory;
    const struct child_limits *limits;
};

/* In the child; what goes wrong is told through the pipe, which exec closes. */
static void become(const struct child_words *w, int log, int tell, pid_t parent)
{
    int nothing = open("/dev/null", O_RDONLY);
    sigset_t none; /* whoever starts it may be a thread that blocks signals */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    process_restore_signals();
    bool fine = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && setpgid(0, 0) == 0
             && dup2(nothing, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0
             && dup2(log, STDERR_FILENO) >= 0 && (!w->directory || chdir(w->directory) == 0)
             && obey(w->limits);
    if (fine)
        execvp(w->argv[0], w->argv);
    int error = errno;
    if (write(tell, &error, sizeof error) != sizeof error)
        _exit(126);
    _exit(127);
}

static bool not_started(struct why *why, const char *name, int error)
{
    return why_say(why, "%s cannot be started: %s", name, strerror(error));
}

/* A child before may have put a FIFO there: nobody waits for its reader. */
static int open_log(const char *log)
{
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOCTTY;
    int out = open(log, flags | O_NONBLOCK, 0600);
    if (out >= 0)
        fcntl(out, F_SETFL, O_APPEND);
    return out;
}

static bool start(struct child *c, const struct child_words *words, const char *log,
                  struct why *why)
{
    char *const *argv = words->argv;
    int told[2], error = 0;
    *c = (struct child){ 0 };
    int out = open_log(log);
    if (out < 0)
        return not_started(why, argv[0], errno);
    if (pipe2(told, O_CLOEXEC) != 0) {
        error = errno;
        close(out);
        return not_started(why, argv[0], error);
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(words, out, told[1], parent);
    if (pid < 0)
        error = errno;
    close(told[1]);
    ssize_t got = 0;
    while (pid > 0 && (got = read(told[0], &error, sizeof error)) < 0 && errno == EINTR)
        continue;
    close(told[0]);
    if (pid > 0 && got > 0)
        waitpid(pid, NULL, 0);
    if (pid < 0 || got > 0) {
        close(out);
        return not_started(why, argv[0], error);
    }
    c->pid = pid;
    c->log = out;
    return true;
}

bool child_start(struct child *c, char *const *argv, const char *directory, const char *log,
                 struct why *why)
{
    return start(c, &(struct child_words){ argv, directory, NULL }, log, why);
}

bool child_start_within(struct child *c, char *const *argv, const struct child_limits *limits,
                        const char *log, struct why *why)
{
    return start(c, &(struct child_words){ argv, NULL, limits }, log, why);
}

static void forget(struct child *c)
{
    close(c->log);
    c->pid = 0;
}

static void bound_log(const struct child *c)
{
    struct stat log;
    if (fstat(c->log, &log) == 0 && S_ISREG(log.st_mode) && log.st_size > CHILD_LOG
        && ftruncate(c->log, 0) != 0)
        return; /* it is looked at again soon */
}

bool child_running(struct child *c)
{
    if (!c->pid)
        return false;
    if (waitpid(c->pid, &c->status, WNOHANG) != c->pid) {
        bound_log(c);
        return true;
    }
    kill(-c->pid, SIGKILL); /* what it may have left behind */
    forget(c);
    return false;
}

void child_ask(const struct child *c)
{
    if (c->pid)
        kill(c->pid, SIGTERM);
}

void child_stop(struct child *c)
{
    if (!child_running(c))
        return;
    kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
        continue;
    forget(c);
}

enum child_end child_wait(struct child *c, double seconds)
{
    double start = now_seconds();
    while (child_running(c)) {
        enum child_end end = interrupted()                                  ? CHILD_STOPPED
                           : seconds > 0 && now_seconds() - start > seconds ? CHILD_HUNG
                                                                            : CHILD_ENDED;
        if (end != CHILD_ENDED) {
            child_stop(c);
            return end;
        }
        pause_for(glance);
    }
    return CHILD_ENDED;
}

/* The end of the log as it is now; "" where it is no file any more: who ran there may have put
 * anything in its place, or left somebody behind who still writes. */
static void read_end(const char *log, char *text, size_t size)
{
    struct stat is;
    ssize_t got = 0;
    int file = open(log, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (file >= 0 && fstat(file, &is) == 0 && S_ISREG(is.st_mode)) {
        off_t from = is.st_size >= (off_t)size ? is.st_size - (off_t)size + 1 : 0;
        got = pread(file, text, size - 1, from);
    }
    text[got > 0 ? got : 0] = '\0';
    if (file >= 0)
        close(file);
}

/* The last line that says anything, or the last complaint, behind which there may be results; "" when there
 * is none. */
void child_last_words(const char *log, char *line, size_t size)
{
    static const char ours[] = "ordeal";
    char text[4096];
    bool complained = false;
    *line = '\0';
    read_end(log, text, sizeof text);
    for (char *next = text; *next;) {
        char *end = next + strcspn(next, "\r\n");
        bool last = *end == '\0';
        *end = '\0';
        bool complains = strncmp(next, ours, strlen(ours)) == 0;
        if (*next && (complains || !complained))
            escape_text(line, size, next);
        complained |= complains;
        next = last ? end : end + 1;
    }
}

void child_obituary(const struct child *c, const char *name, const char *log, struct why *why)
{
    char line[400];
    child_last_words(log, line, sizeof line);
    bool killed = WIFSIGNALED(c->status);
    why_say(why, "%s %s %d%s%s", name, killed ? "was killed by signal" : "ended with status",
            killed ? WTERMSIG(c->status) : WEXITSTATUS(c->status), *line ? ": " : "", line);
}
