/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>

#include "process.h"

static atomic_bool stop_asked; /* by the signal handler of one thread, for all of them */

static void on_interrupt(int number)
{
    static atomic_bool before[NSIG];
    stop_asked = true;
    if (process_asked_anew(number) && atomic_exchange(&before[number], true)) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

void interrupt_watch(void)
{
    /* No SA_RESTART: a read that waits for a terminal or a pipe ends too. */
    struct sigaction notice = { .sa_handler = on_interrupt };
    struct sigaction now;
    sigaction(SIGINT, &notice, NULL);
    sigaction(SIGTERM, &notice, NULL);
    if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN) /* of nohup */
        sigaction(SIGHUP, &notice, NULL);
}

bool interrupted(void) { return stop_asked; }
