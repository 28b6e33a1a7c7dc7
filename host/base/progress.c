/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <unistd.h>

#include "clock.h"
#include "interrupt.h"
#include "escape.h"

static const double patience = 2.0, interval = 0.2; /* seconds */

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
        fputs("\r\033[K", stderr);
        escape_write(p->label, false, stderr);
        fprintf(stderr, ": %s", phase);
        if (share >= 0)
            fprintf(stderr, " %d%%", (int)(share * 100));
        fprintf(stderr, ", %d s", (int)(now - p->started));
    }
    return interrupted();
}
