/* SPDX-License-Identifier: Apache-2.0 */
#include "slurm_tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/interrupt.h"
#include "base/output.h"

static const double deadline = 90;  /* seconds of a program: it looks 60 for its slurm.conf alone */
static const double glance = 0.002; /* between two looks at it */

/* ---- programs ------------------------------------------------------------------------------------ */

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_misleading(const char *variable)
{
    return starts(variable, "SQUEUE_") || starts(variable, "SCANCEL_")
        || starts(variable, "SBATCH_WAIT") || starts(variable, "SBATCH_DEBUG");
}

static void clear_environment(void)
{
    for (char **e = environ; *e;) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
        if (!is_misleading(*e) || unsetenv(name) != 0)
            e++;
        else
            e = environ; /* they have moved */
    }
}

bool slurm_ready(struct why *why)
{
    static const char *const programs[] = { "sbatch", "squeue", "scancel" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (!child_exists(programs[i]))
            return why_say(why,
                           "there is no '%s' on PATH: install Slurm's programs (Debian: "
                           "slurm-client), or take --engine local",
                           programs[i]);
    clear_environment();
    return true;
}

bool slurm_run(const char *const *words, const char *log, bool anyway, struct why *why)
{
    struct child child;
    double until = now_seconds() + deadline;
    if (!child_start(&child, (char *const *)words, NULL, log, why))
        return false;
    while (child_running(&child)) {
        bool stop = !anyway && interrupted();
        if (stop || now_seconds() > until) {
            child_stop(&child);
            return stop ? why_say(why, "%s was interrupted", words[0])
                        : why_say(why, "%s did not answer within %.0f s", words[0], deadline);
        }
        pause_for(glance);
    }
    if (WIFEXITED(child.status) && WEXITSTATUS(child.status) == 0)
        return true;
    child_obituary(&child, words[0], log, why);
    return false;
}

/* ---- what they say ------------------------------------------------------------------------------- */

/* A number, and where it ends; NULL: none. */
static const char *read_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !errno ? end : NULL;
}

bool slurm_read_job(const char *log, uint64_t *job)
{
    char line[256];
    bool found = false;
    FILE *in = fopen(log, "re");
    while (in && !found && fgets(line, sizeof line, in)) {
        const char *end = read_number(line, job);
        found = end && (*end == '\n' || *end == ';'); /* ";CLUSTER" */
    }
    if (in)
        fclose(in);
    return found;
}

bool slurm_read_line(struct slurm_line *l, const char *text)
{
    static const char begin[] = "task ";
    const char *at = starts(text, begin) ? read_number(text + strlen(begin), &l->job) : NULL;
    at = at && *at == ' ' ? read_number(at + 1, &l->index) : NULL;
    if (!at || *at != ' ')
        return false;
    size_t length = strcspn(++at, " \n");
    if (!length || length >= sizeof l->state)
        return false;
    snprintf(l->state, sizeof l->state, "%.*s", (int)length, at);
    char reason[sizeof l->reason];
    at += length + (at[length] == ' ');
    snprintf(reason, sizeof reason, "%.*s", (int)strcspn(at, "\n"), at);
    escape_text(l->reason, sizeof l->reason, reason);
    return true;
}

static const struct slurm_end ends[] = {
    { "COMPLETED", false, "ended" },
    { "FAILED", false, "failed" },
    { "CANCELLED", false, "was cancelled" },
    { "PREEMPTED", false, "was preempted" },
    { "NODE_FAIL", false, "lost its node" },
    { "BOOT_FAIL", false, "got a node that does not boot" },
    { "REVOKED", false, "was revoked" },
    { "TIMEOUT", true, "took longer than the plan's 'worker' allows" },
    { "DEADLINE", true, "came to its deadline" },
    { "OUT_OF_MEMORY", true, "took more memory than it may" },
};

const struct slurm_end *slurm_find_end(const char *state)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(ends[i].state, state) == 0)
            return &ends[i];
    return NULL;
}

/* ---- jobs ---------------------------------------------------------------------------------------- */

/* Each attempt has a folder of its own, and whoever is ready first gives it the name `done`, which can
 * be done once: one that is late, or runs twice, changes nothing. A worker that was killed, or ended
 * early though nobody asked it to, hands in nothing. It is a child, not exec'd, so that somebody is there
 * to see. */
static const char script[] =
    "shift \"$SLURM_ARRAY_TASK_ID\" || exit 125\n"
    "task=$here/$1\n"
    "try=$task/$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}\n"
    "[ ! -e \"$task/done\" ] || exit 0\n"
    "cd \"$place\" && mapfile -d '' words < \"$task/words\" && mkdir \"$try\" || exit 125\n"
    "folder=${words[0]}\n"
    "words=(\"${words[@]:1}\")\n"
    "trap : TERM # it is the worker's to obey\n"
    "\"$program\" \"${words[@]/#\"$folder\"/\"$try\"}\" > \"$try/log\" 2>&1 < /dev/null\n"
    "status=$?\n"
    "[ $status -ne 137 ] || exit 137 # by SIGKILL: from outside\n"
    "case $status in 130 | 143) [ -e \"$here/asked\" ] || exit $status ;; esac\n"
    "echo $status > \"$try/status\" && mv -T \"$try\" \"$task/done\"\n";

/* For bash: NAME='…'. */
static void write_quoted(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s='", name);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            putc(*text, out);
    fputs("'\n", out);
}

int slurm_write_script(const char *file, const char *program, const char *here)
{
    struct output out;
    char place[PATH_MAX];
    if (!getcwd(place, sizeof place))
        return errno;
    int error = output_open(&out, file);
    if (error)
        return error;
    fputs("#!/bin/bash\n"
          "# Written by 'ordeal regress --engine slurm': does one of the tasks \"$@\".\n",
          out.file);
    write_quoted(out.file, "program", program);
    write_quoted(out.file, "here", here);
    write_quoted(out.file, "place", place);
    fputs(script, out.file);
    return output_finish(&out);
}

int slurm_write_words(const char *file, const char *folder, char *const *words)
{
    struct output out;
    int error = output_open(&out, file);
    if (error)
        return error;
    fwrite(folder, 1, strlen(folder) + 1, out.file);
    for (char *const *w = words + 1; *w; w++)
        fwrite(*w, 1, strlen(*w) + 1, out.file);
    return output_finish(&out);
}

static const char name_begins[] = "ordeal-";

bool slurm_new_name(char name[SLURM_NAME])
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return false;
    snprintf(name, SLURM_NAME, "%s%016" PRIx64, name_begins, number);
    return true;
}

bool slurm_is_name(const char *text)
{
    size_t begin = strlen(name_begins);
    return starts(text, name_begins) && strlen(text) == SLURM_NAME - 1
        && strspn(text + begin, "0123456789abcdef") == SLURM_NAME - 1 - begin;
}
