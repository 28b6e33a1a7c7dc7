/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>

static atomic_bool stop_asked; /* by the signal handler of one thread, for all of them */

static void on_interrupt(int signal)
{
    (void)signal;
    stop_asked = true;
}

void interrupt_watch(void)
{
    /* No SA_RESTART: a read that waits for a terminal or a pipe ends too. */
    struct sigaction once = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND };
    struct sigaction now;
    sigaction(SIGINT, &once, NULL);
    sigaction(SIGTERM, &once, NULL);
    if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN) /* of nohup */
        sigaction(SIGHUP, &once, NULL);
}

bool interrupted(void) { return stop_asked; }
