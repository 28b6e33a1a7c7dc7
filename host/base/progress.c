/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static const double patience = 2.0, interval = 0.2; /* seconds */

static atomic_bool stop_asked;   /* by the signal handler of one thread, for all of them */

static void on_interrupt(int signal)
{
    (void)signal;
    stop_asked = true;
}

void interrupt_watch(void)
{
    /* No SA_RESTART: a read that waits for a terminal or a pipe ends too. */
    struct sigaction once = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND };
    sigaction(SIGINT, &once, NULL);
    sigaction(SIGTERM, &once, NULL);
}

bool interrupted(void) { return stop_asked; }

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_start(struct progress *p, const char *label)
{
    *p = (struct progress){ .label = label, .started = now_seconds(),
                            .terminal = isatty(STDERR_FILENO) };
}

void progress_erase(struct progress *p)
{
    if (p->visible)
        fputs("\r\033[K", stderr);
    p->visible = false;
}

bool progress_callback(void *user, const char *phase, double share)
{
    struct progress *p = user;
    double now = p->terminal ? now_seconds() : 0;
    if (p->terminal && now - p->started >= patience && now - p->drawn >= interval) {
        p->drawn = now;
        p->visible = true;
        fprintf(stderr, "\r\033[K%s: %s", p->label, phase);
        if (share >= 0)
            fprintf(stderr, " %d%%", (int)(share * 100));
        fprintf(stderr, ", %d s", (int)(now - p->started));
    }
    return interrupted();
}
