/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/command.h"
#include "base/interrupt.h"
#include "stamp.h"

enum { NOT_FOUND = 127, MOST_AT_A_TIME = 64 }; /* a program, says the shell; threads */

bool campaign_open(struct campaign *c, const char *file)
{
    struct why why;
    pthread_mutex_init(&c->lock, NULL);
    if (!results_open(&c->results, file, &why)) {
        fprintf(stderr, "%s\n", why.text);
        return false;
    }
    if (c->results.runs->child)
        printf("%s has %d runs; what was run as now is not run again\n", file,
               cJSON_GetArraySize(c->results.runs));
    return true;
}

void campaign_close(struct campaign *c) { results_close(&c->results); }

/* ---- one run --------------------------------------------------------------------------------- */

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

/* Its exit status; -1 and why: there is none, or it says that nothing was run. */
static int status_of(const struct child *child, const char *command, const char *log,
                     struct why *why)
{
    int status = WIFEXITED(child->status) ? WEXITSTATUS(child->status) : -1;
    if (status >= 0 && status != EXIT_BAD && status != EXIT_INTERNAL && status != NOT_FOUND)
        return status;
    child_obituary(child, command, log, why);
    return -1;
}

/* Runs it to its end, or for `seconds` (0: no limit), after which it is asked to end as by ^C. */
static int run_command(const char *command, double seconds, const char *log, struct why *why)
{
    char shell[] = "sh", option[] = "-c", script[4096];
    char *argv[] = { shell, option, script, NULL };
    double start = now_seconds();
    struct child child;
    snprintf(script, sizeof script, "exec %s", command);
    if (!child_start(&child, argv, NULL, log, why))
        return -1;
    while (child_running(&child) && !interrupted()) {
        if (seconds > 0 && now_seconds() - start > seconds) {
            kill(child.pid, SIGINT);
            seconds = 0;
        }
        pause_for(0.005);
    }
    child_stop(&child);
    return interrupted() ? -1 : status_of(&child, command, log, why);
}

static void take_log(cJSON *result, const char *log)
{
    FILE *f = fopen(log, "re");
    char *line = NULL;
    size_t room = 0;
    while (f && getline(&line, &room, f) > 0)
        take_line(result, line);
    free(line);
    if (f)
        fclose(f);
}

/* What it said; NULL: it failed, was interrupted, or said nothing of any tests. */
static cJSON *result_of(const struct campaign *c, const struct run *run, const char *command,
                        const char *log, struct why *why)
{
    char whole[4000];
    snprintf(whole, sizeof whole, "%s --jobs %llu", command, (unsigned long long)c->jobs);
    int status = run_command(whole, run->seconds, log, why);
    if (status < 0 || (status == EXIT_INTERRUPTED && run->seconds <= 0))
        return NULL;
    cJSON *result = cJSON_CreateObject();
    cJSON_AddStringToObject(result, "name", run->name);
    cJSON_AddStringToObject(result, "command", command);
    cJSON_AddNumberToObject(result, "limit", run->seconds);
    take_log(result, log);
    cJSON_AddNumberToObject(result, "status", status);
    if (cJSON_HasObjectItem(result, "end"))
        return result;
    cJSON_Delete(result);
    char last[400];
    child_last_words(log, last, sizeof last);
    why_say(why, "%s ended with status %d and did not say what came of its tests%s%s", command,
            status, *last ? ": " : "", last);
    return NULL;
}

/* With a file for what it says, which nobody else has. */
static cJSON *run_with_log(struct campaign *c, const struct run *run, const char *command,
                           struct why *why)
{
    char name[4096];
    struct temporary log;
    int made;
    snprintf(name, sizeof name, "%s.log", c->results.file);
    int error = temporary_file(&log, name, &made);
    if (error) {
        why_say(why, "%s: %s", name, strerror(error));
        return NULL;
    }
    close(made);
    cJSON *result = result_of(c, run, command, log.path, why);
    temporary_remove(&log);
    return result;
}

static const cJSON *find(struct campaign *c, const struct run *run, const char *command,
                         const struct stamp *stamp)
{
    pthread_mutex_lock(&c->lock);
    const cJSON *result = results_find(&c->results, command, run->seconds, stamp->text);
    pthread_mutex_unlock(&c->lock);
    return result;
}

static bool keep(struct campaign *c, cJSON *result, const struct stamp *stamp, struct why *why)
{
    cJSON_AddStringToObject(result, "sources", stamp->text);
    pthread_mutex_lock(&c->lock);
    bool kept = results_add(&c->results, result, why);
    pthread_mutex_unlock(&c->lock);
    return kept;
}

const cJSON *campaign_run(struct campaign *c, const struct run *run)
{
    char command[3800];
    struct stamp stamp;
    struct why why = { "" };
    snprintf(command, sizeof command, "'%s' run --target sim --check --json --seed %llu %s",
             run->program, (unsigned long long)run->seed, run->words);
    if (stamp_make(&stamp, run->program, command, &why)) {
        const cJSON *known = find(c, run, command, &stamp);
        if (known)
            return known;
        cJSON *result = run_with_log(c, run, command, &why);
        if (result && keep(c, result, &stamp, &why))
            return result;
    }
    if (*why.text)
        fprintf(stderr, "%s\n", why.text);
    return NULL;
}

/* ---- many ------------------------------------------------------------------------------------ */

enum piece { WAITS, DONE, FAILED };

struct crew {
    bool (*work)(void *user, size_t i);
    void *user;
    size_t count, next;
    enum piece *pieces;
    bool failed;
    pthread_mutex_t lock;
    pthread_cond_t ended;
};

/* The next piece; `count`: there is none. */
static size_t take_piece(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->failed = crew->failed || interrupted() || ferror(stdout); /* nobody would hear of it */
    size_t i = crew->failed ? crew->count : crew->next;
    crew->next += i < crew->count;
    pthread_cond_signal(&crew->ended);
    pthread_mutex_unlock(&crew->lock);
    return i;
}

static void end_piece(struct crew *crew, size_t i, bool done)
{
    pthread_mutex_lock(&crew->lock);
    crew->pieces[i] = done ? DONE : FAILED;
    crew->failed = crew->failed || !done;
    pthread_cond_signal(&crew->ended);
    pthread_mutex_unlock(&crew->lock);
}

static void *worker_main(void *user)
{
    struct crew *crew = user;
    for (size_t i; (i = take_piece(crew)) < crew->count;)
        end_piece(crew, i, crew->work(crew->user, i));
    return NULL;
}

/* Waits for the piece; false: it failed, or was not begun because another did. */
static bool await_piece(struct crew *crew, size_t i)
{
    pthread_mutex_lock(&crew->lock);
    while (crew->pieces[i] == WAITS && !(crew->failed && i >= crew->next))
        pthread_cond_wait(&crew->ended, &crew->lock);
    bool done = crew->pieces[i] == DONE;
    pthread_mutex_unlock(&crew->lock);
    return done;
}

/* Many runs are short, so several at a time with one machine each are faster than one after the
 * other with several; a run that is alone has all of them. */
static size_t share_cores(struct campaign *c, size_t count)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t cores = c->cores ? c->cores : processors > 0 ? (uint64_t)processors : 1;
    size_t most = count < MOST_AT_A_TIME ? count : MOST_AT_A_TIME;
    size_t workers = cores < most ? (size_t)cores : most;
    c->jobs = workers ? cores / workers : cores;
    return workers;
}

bool campaign_each(struct campaign *c, size_t count, bool (*work)(void *user, size_t i),
                   void (*tell)(void *user, size_t i), void *user)
{
    struct crew crew = {
        .work = work, .user = user, .count = count, .pieces = calloc(count + 1, sizeof *crew.pieces)
    };
    pthread_t threads[MOST_AT_A_TIME];
    size_t wanted = share_cores(c, count), workers = 0;
    bool good = crew.pieces;
    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.ended, NULL);
    while (good && workers < wanted
           && pthread_create(&threads[workers], NULL, worker_main, &crew) == 0)
        workers++;
    if (!workers && count)
        good = false;
    for (size_t i = 0; good && i < count; i++) {
        good = await_piece(&crew, i);
        if (good)
            tell(user, i);
    }
    for (size_t i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    free(crew.pieces);
    return good;
}
