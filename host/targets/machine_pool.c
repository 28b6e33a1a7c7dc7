/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_pool.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int machine_pool_usual_jobs(const struct target *target, const struct target_options *options)
{
    cpu_set_t set;
    if (target->connected) {
        int count = options->serial || options->link ? 1 : target->connected();
        return count < 1 ? 1 : count < MOST_JOBS ? count : MOST_JOBS;
    }
    if (!target->cycles || sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return CPU_COUNT(&set) < MOST_JOBS ? CPU_COUNT(&set) : MOST_JOBS;
}

bool machine_pool_open(struct machine_pool *m, const struct target *target,
                       const struct target_options *options, int jobs, struct why *why)
{
    *m = (struct machine_pool){ .target = target, .jobs = jobs };
    m->how = *options;
    if (options->soc && realpath(options->soc, m->soc)) /* else it is looked for among libraries */
        m->how.soc = m->soc;
    if (target->usage && !target->usage(&m->how, why))
        return false;
    m->missing = target->usage;
    for (int i = 0; i < jobs; i++) {
        bool opened = target->open(&m->how, &m->machine[i], why);
        if (!opened)
            m->machine[i] = NULL;
        if (!opened && target->connected && jobs > 1)
            why_say(why, "%d were asked for, %d can be used: %s", jobs, i, why->text);
        if (!opened
            || (i > 0 && target->alike && !target->alike(m->machine[0], m->machine[i], why))) {
            machine_pool_close(m);
            return false;
        }
    }
    return true;
}

void *machine_pool_another(struct machine_pool *m, int at_work, struct why *why)
{
    int slot = m->jobs;
    why->text[0] = '\0';
    while (slot < MOST_JOBS && m->machine[slot])
        slot++;
    int present = slot < MOST_JOBS ? m->target->present() : 0;
    if (present <= at_work)
        m->present = 0;
    if (present <= at_work || present == m->present)
        return NULL;
    void *machine = NULL;
    if (m->target->open(&m->how, &machine, why)) {
        if (m->target->alike(m->machine[0], machine, why)) {
            m->present = 0;
            return m->machine[slot] = machine;
        }
        m->target->close(machine);
    }
    m->present = present;
    return NULL;
}

void machine_pool_close(struct machine_pool *m)
{
    for (int i = 0; i < MOST_JOBS; i++)
        if (m->machine[i])
            m->target->close(m->machine[i]);
    memset(m->machine, 0, sizeof m->machine);
}
