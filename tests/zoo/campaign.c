/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/command.h"
#include "base/interrupt.h"

enum { NOT_FOUND = 127 };            /* a program, says the shell */

/* ---- the file -------------------------------------------------------------------------------- */

static uint64_t sum_of_file(uint64_t sum, const char *name)
{
    FILE *f = fopen(name, "re");
    for (int c; f && (c = getc_unlocked(f)) != EOF;)
        sum = (sum ^ (uint64_t)c) * UINT64_C(0x100000001b3);
    if (f)
        fclose(f);
    return sum;
}

static uint64_t sum_of_files(uint64_t sum, const char *pattern)
{
    glob_t files;
    if (glob(pattern, 0, NULL, &files) != 0)
        return sum;
    for (size_t i = 0; i < files.gl_pathc; i++)
        sum = sum_of_file(sum, files.gl_pathv[i]);
    globfree(&files);
    return sum;
}

/* What results depend on besides their command: the machine, the program and what it reads. */
static void sum_sources(struct campaign *c)
{
    static const char *const machine[] = { "rtl/*.[vdh]*", "rtl/header.awk", "rtl/lean/*",
                                           "sim/*" };
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
        sum = sum_of_files(sum, machine[i]);
    sum = sum_of_file(sum, c->program);
    for (const char *const *file = c->files; *file; file++)
        sum = sum_of_file(sum, *file);
    snprintf(c->sources, sizeof c->sources, "%016llx", (unsigned long long)sum);
}

static cJSON *read_file(const char *name)
{
    FILE *f = fopen(name, "r");
    char *text = NULL;
    size_t length = 0;
    cJSON *root = NULL;
    if (f && getdelim(&text, &length, '\0', f) > 0)
        root = cJSON_Parse(text);
    free(text);
    if (f)
        fclose(f);
    return root;
}

static bool write_file(const struct campaign *c)
{
    char fresh[4096];
    snprintf(fresh, sizeof fresh, "%s.new", c->file);
    char *text = cJSON_Print(c->runs);
    FILE *f = text ? fopen(fresh, "w") : NULL;
    bool good = f && fprintf(f, "%s\n", text) > 0;
    good = f && fclose(f) == 0 && good && rename(fresh, c->file) == 0;
    cJSON_free(text);
    if (!good)
        perror(c->file);
    return good;
}

static bool says(const cJSON *run, const char *key, const char *text)
{
    const char *said = cJSON_GetStringValue(cJSON_GetObjectItem(run, key));
    return said && strcmp(said, text) == 0;
}

bool campaign_open(struct campaign *c)
{
    c->runs = read_file(c->file);
    if (!cJSON_IsArray(c->runs)) {
        cJSON_Delete(c->runs);
        c->runs = cJSON_CreateArray();
    }
    if (c->runs->child)
        printf("%s has %d runs; what was run as now is not run again\n", c->file,
               cJSON_GetArraySize(c->runs));
    return write_file(c);
}

void campaign_close(struct campaign *c) { cJSON_Delete(c->runs); }

/* ---- runs ------------------------------------------------------------------------------------ */

/* One of other sources is forgotten. */
static cJSON *find(struct campaign *c, const char *command, double seconds)
{
    cJSON *run;
    cJSON_ArrayForEach(run, c->runs) if (says(run, "command", command)
                                         && result_number(run, "limit") == seconds) break;
    if (run && !says(run, "sources", c->sources)) {
        cJSON_Delete(cJSON_DetachItemViaPointer(c->runs, run));
        run = NULL;
    }
    return run;
}

/* The lines of ordeal run --json: tests that failed, of which the first is kept, and the sum. */
static void take_line(cJSON *result, const char *line)
{
    static const char *const kept[] = { "broke", "reason", "small", "saved", "verdict" };
    static const char *const sums[] = { "tests", "iterations", "operations", "cycles", "seconds",
                                        "fail", "undecided", "end", "cycles_per_second",
                                        "running_percent" };
    cJSON *said = cJSON_Parse(line);
    bool is_sum = cJSON_HasObjectItem(said, "end");
    const char *const *keys = is_sum ? sums : kept;
    size_t count = is_sum ? sizeof sums / sizeof *sums : sizeof kept / sizeof *kept;
    if (said && (is_sum || !cJSON_HasObjectItem(result, "verdict"))) {
        for (size_t i = 0; i < count; i++)
            if (cJSON_HasObjectItem(said, keys[i]))
                cJSON_AddItemToObject(result, keys[i],
                                      cJSON_DetachItemFromObject(said, keys[i]));
        if (!is_sum)
            cJSON_AddNumberToObject(result, "core",
                                    cJSON_GetArraySize(cJSON_GetObjectItem(said, "core")));
    }
    cJSON_Delete(said);
}

/* Runs it to its end, or for `seconds` (0: no limit), after which it is asked to end as by ^C. Its
 * exit status; -1: there is none. */
static int run_command(const char *command, double seconds, const char *log)
{
    char shell[] = "sh", option[] = "-c", script[4096];
    char *argv[] = { shell, option, script, NULL };
    double start = now_seconds();
    struct child child;
    struct why why;
    snprintf(script, sizeof script, "exec %s", command);
    if (!child_start(&child, argv, NULL, log, &why)) {
        fprintf(stderr, "%s\n", why.text);
        return -1;
    }
    while (child_running(&child) && !interrupted()) {
        if (seconds > 0 && now_seconds() - start > seconds) {
            kill(child.pid, SIGINT);
            seconds = 0;
        }
        pause_for(0.01);
    }
    child_stop(&child);
    if (interrupted())
        return -1;
    int status = WIFEXITED(child.status) ? WEXITSTATUS(child.status) : -1;
    if (status < 0 || status == EXIT_BAD || status == EXIT_INTERNAL || status == NOT_FOUND) {
        child_obituary(&child, command, log, &why);
        fprintf(stderr, "%s\n", why.text);
        return -1;
    }
    return status;
}

static void take_log(cJSON *result, const char *log)
{
    FILE *f = fopen(log, "r");
    char *line = NULL;
    size_t room = 0;
    while (f && getline(&line, &room, f) > 0)
        take_line(result, line);
    free(line);
    if (f)
        fclose(f);
}

const cJSON *campaign_run(struct campaign *c, const char *name, const char *words, double seconds)
{
    char command[3800], run[4000], log[4096], jobs[40] = "";
    snprintf(command, sizeof command, "'%s' run --target sim --check --json --seed %llu %s",
             c->program, (unsigned long long)c->seed, words);
    sum_sources(c);
    cJSON *result = find(c, command, seconds);
    if (result)
        return result;
    if (c->jobs)
        snprintf(jobs, sizeof jobs, " --jobs %llu", (unsigned long long)c->jobs);
    snprintf(run, sizeof run, "%s%s", command, jobs);
    snprintf(log, sizeof log, "%s.log", c->file);
    int status = run_command(run, seconds, log);
    if (status < 0 || (status == EXIT_INTERRUPTED && seconds <= 0))
        return NULL;
    result = cJSON_CreateObject();
    cJSON_AddStringToObject(result, "name", name);
    cJSON_AddStringToObject(result, "command", command);
    cJSON_AddStringToObject(result, "sources", c->sources);
    cJSON_AddNumberToObject(result, "limit", seconds);
    take_log(result, log);
    cJSON_AddNumberToObject(result, "status", status);
    cJSON_AddItemToArray(c->runs, result);
    return write_file(c) ? result : NULL;
}

/* ---- results --------------------------------------------------------------------------------- */

double result_number(const cJSON *result, const char *key)
{
    const cJSON *number = cJSON_GetObjectItem(result, key);
    return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

bool result_found(const cJSON *result) { return result_number(result, "fail") > 0; }

const char *result_verdict(const cJSON *result)
{
    int status = (int)result_number(result, "status");
    if (result_found(result))
        return cJSON_IsTrue(cJSON_GetObjectItem(result, "broke")) ? "broke" : "FAIL";
    return status == 0 ? "-" : status == 4 ? "UNDECIDED" : "error";
}
