/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static const double deadline = 300; /* seconds: others may be busy */

const char *const fault_names[] = {
#define FAULT_NAME(ID, NAME, ERROR) [FAULT_##ID] = NAME,
    FAULT_KINDS(FAULT_NAME)
#undef FAULT_NAME
};

bool fault_possible(void)
{
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

/* A file for both; NULL: there is none. */
static struct fault_state *share(char *name)
{
    int opened = mkstemp(name);
    if (opened < 0 || ftruncate(opened, sizeof(struct fault_state)) != 0)
        return NULL;
    void *shared = mmap(NULL, sizeof(struct fault_state), PROT_READ | PROT_WRITE, MAP_SHARED,
                        opened, 0);
    close(opened);
    return shared == MAP_FAILED ? NULL : shared;
}

static void redirect(const char *file, int stream)
{
    int opened = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(opened, stream);
    close(opened);
}

static _Noreturn void become(const struct fault_run *r, const char *file)
{
    char words[4096], preload[4200];
    char *argv[64] = { getenv("ORDEAL") };
    int count = 1;
    snprintf(words, sizeof words, "%s", r->words);
    for (char *rest, *word = strtok_r(words, " ", &rest); word && count < 63;
         word = strtok_r(NULL, " ", &rest))
        argv[count++] = word;
    snprintf(preload, sizeof preload, "%s/tests/faults.so", getenv("BUILD_OF_TESTS"));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    redirect("fault.out", STDOUT_FILENO);
    redirect("fault.err", STDERR_FILENO);
    setenv("LD_PRELOAD", preload, 1);
    setenv(FAULT_VARIABLE, file, 1);
    if (r->log)
        setenv(FAULT_LOG_VARIABLE, r->log, 1);
    execv(argv[0], argv);
    _exit(127);
}

static int wait_for(pid_t child)
{
    int status = 0;
    double begin = now_seconds();
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (now_seconds() - begin > deadline) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
        pause_for(0.0005);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool has_printed(void)
{
    struct stat is;
    return stat("fault.out", &is) == 0 && is.st_size > 0;
}

static void ask(struct fault_run *r, pid_t child)
{
    siginfo_t ended = { 0 };
    double begin = now_seconds();
    while (!has_printed() && now_seconds() - begin < deadline
           && waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && !ended.si_pid)
        pause_for(0.0005);
    if (has_printed())
        r->ask(r);
    kill(child, SIGINT);
}

static void take(const char *file, char *text, size_t size)
{
    FILE *f = fopen(file, "r");
    text[f ? fread(text, 1, size - 1, f) : 0] = '\0';
    if (f)
        fclose(f);
    unlink(file);
}

void fault_run(struct fault_run *r)
{
    char file[] = "/tmp/test-faults-XXXXXX";
    struct fault_state *state = share(file);
    r->status = -1;
    if (!state)
        return;
    state->kind = r->kind;
    state->at = r->at;
    state->onwards = r->onwards;
    pid_t child = fork();
    if (child == 0)
        become(r, file);
    if (child > 0 && r->ask)
        ask(r, child);
    if (child > 0)
        r->status = wait_for(child);
    for (int k = 0; k < FAULT_COUNT; k++)
        r->seen[k] = state->seen[k];
    r->failed = state->failed > 0;
    munmap(state, sizeof *state);
    unlink(file);
    take("fault.out", r->out, sizeof r->out);
    take("fault.err", r->err, sizeof r->err);
}
