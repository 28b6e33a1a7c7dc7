/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_pool.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, PATH, OUTPUT /* a replay does without */, NUMBER, FLAG };

/* The one table of options that only some targets know. */
static const struct entry {
    const char *option;
    enum kind kind;
    size_t offset;
    const char *targets;                                /* separated by blanks */
} entries[] = {
#define ENTRY(NAME, KIND, FIELD, TARGETS) \
    { NAME, KIND, offsetof(struct machine_options, FIELD), TARGETS }
    ENTRY("bug", TEXT, bug, "model sim board"),
    ENTRY("tm", TEXT, tm, "model"),
    ENTRY("machine", TEXT, name, "elf"),
    ENTRY("command", TEXT, command, "elf"),
    ENTRY("emit", TEXT, emit, "elf"),
    ENTRY("isa", TEXT, isa, "elf"),
    ENTRY("platform", TEXT, platform, "elf"),
    ENTRY("harts", NUMBER, harts, "sim"),
    ENTRY("soc", PATH, soc, "sim"),
    ENTRY("config", TEXT, config, "sim"),
    ENTRY("delay", TEXT, delay, "sim board"),
    ENTRY("capture", TEXT, capture, "sim board"),
    ENTRY("visible", FLAG, visible, "sim board"),
    ENTRY("coverage", OUTPUT, coverage, "sim"),
    ENTRY("serial", TEXT, serial, "board"),
    ENTRY("link", TEXT, link, "board"),
    ENTRY("openocd", TEXT, openocd, "board"),
#undef ENTRY
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static const char *text_of(const struct machine_options *o, const struct entry *e)
{
    return *(const char *const *)((const char *)o + e->offset);
}

static uint64_t number_of(const struct machine_options *o, const struct entry *e)
{
    return *(const uint64_t *)((const char *)o + e->offset);
}

static bool is_given(const struct machine_options *o, const struct entry *e)
{
    switch (e->kind) {
    case TEXT: case PATH: case OUTPUT: return text_of(o, e);
    case NUMBER: return number_of(o, e);
    default: return *(const bool *)((const char *)o + e->offset);
    }
}

static bool names(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strcspn(at, " ") == length && memcmp(at, name, length) == 0)
            return true;
    return false;
}

bool machine_options_fit(const struct machine_options *o, const struct target *target,
                         struct why *why)
{
    for (int i = 0; i < ENTRIES; i++) {
        const struct entry *e = &entries[i];
        if (!is_given(o, e) || names(e->targets, target->name))
            continue;
        char list[64] = "";
        for (const char *at = e->targets; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
            size_t used = strlen(list), length = strcspn(at, " ");
            snprintf(list + used, sizeof list - used, "%s%.*s",
                     !used ? "" : at[length] ? ", " : " or ", (int)length, at);
        }
        return why_say(why, "--%s is for --target %s; the target '%s' does not "
                 "know it", e->option, list, target->name);
    }
    return true;
}

void machine_words(const struct machine_options *o, const struct target *target,
                   struct machine_words *w)
{
    size_t words = 0, used = 0;
    for (int i = 0; i < ENTRIES; i++) {
        const struct entry *e = &entries[i];
        if (!is_given(o, e) || !names(e->targets, target->name) || e->kind == OUTPUT)
            continue;
        w->word[words++] = w->text + used;
        used += (size_t)snprintf(w->text + used, sizeof w->text - used, "--%s", e->option) + 1;
        if (e->kind == TEXT)
            w->word[words++] = text_of(o, e);
        if (e->kind == PATH)     /* a replay may begin elsewhere */
            w->word[words++] = realpath(text_of(o, e), w->path) ? w->path : text_of(o, e);
        if (e->kind == NUMBER) {
            w->word[words++] = w->text + used;
            used += (size_t)snprintf(w->text + used, sizeof w->text - used, "%" PRIu64,
                                     number_of(o, e)) + 1;
        }
    }
    w->word[words] = NULL;
}

int machine_pool_usual_jobs(const struct target *target, const struct machine_options *o)
{
    cpu_set_t set;
    if (target->connected) {
        int count = o->serial || o->link ? 1 : target->connected();
        return count < 1 ? 1 : count < MOST_JOBS ? count : MOST_JOBS;
    }
    if (!target->cycles || sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return CPU_COUNT(&set) < MOST_JOBS ? CPU_COUNT(&set) : MOST_JOBS;
}

static void say_how_many(int opened, int jobs, struct why *why)
{
    struct why reason = *why;
    why_say(why, "%d were asked for, %d can be used: %.900s", jobs, opened,
             reason.text);
}

bool machine_pool_open(struct machine_pool *m, const struct target *target,
                   const struct target_options *options, const struct machine_options *o, int jobs,
                   struct why *why)
{
    *m = (struct machine_pool){ .target = target, .jobs = jobs };
    struct target_options how = *options;
    how.bug = o->bug;
    how.tm = o->tm;
    how.machine = o->name;
    how.command = o->command;
    how.emit = o->emit;
    how.isa = o->isa;
    how.platform = o->platform;
    how.soc = o->soc && realpath(o->soc, m->soc) ? m->soc : o->soc; /* not where libraries are */
    how.config = o->config;
    how.delay = o->delay;
    how.capture = o->capture;
    how.visible = o->visible;
    how.coverage = o->coverage;
    how.serial = o->serial;
    how.link = o->link;
    how.openocd = o->openocd;
    how.harts = o->harts < UINT32_MAX ? (uint32_t)o->harts : UINT32_MAX;
    m->how = how;
    if (target->usage && !target->usage(&how, why))
        return false;
    m->missing = target->usage;
    int first = jobs > 1 && target->connected ? 1 : 0;
    for (int i = first; i <= (jobs > 1 ? jobs : 0); i++) {
        bool opened = target->open(&how, &m->machine[i], why);
        if (!opened)
            m->machine[i] = NULL;
        if (!opened && target->connected && jobs > 1)
            say_how_many(i - first, jobs, why);
        if (!opened || (i > first && target->alike
                        && !target->alike(m->machine[first], m->machine[i], why))) {
            machine_pool_close(m);
            return false;
        }
    }
    m->machine[0] = m->machine[first];
    return true;
}

void *const *machine_pool_at_work(const struct machine_pool *m)
{
    return m->jobs > 1 ? m->machine + 1 : m->machine;
}

void *machine_pool_another(struct machine_pool *m, int at_work, struct why *why)
{
    int slot = m->jobs > 1 ? m->jobs + 1 : 1;
    why->text[0] = '\0';
    while (slot <= MOST_JOBS && m->machine[slot])
        slot++;
    int present = slot <= MOST_JOBS ? m->target->present() : 0;
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
    for (int i = m->machine[0] == m->machine[1] ? 1 : 0; i <= MOST_JOBS; i++)
        if (m->machine[i])
            m->target->close(m->machine[i]);
    memset(m->machine, 0, sizeof m->machine);
}
