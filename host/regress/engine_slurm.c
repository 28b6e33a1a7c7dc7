/* SPDX-License-Identifier: Apache-2.0 */
/* Workers on a cluster: tasks of Slurm's job arrays, in a folder that all nodes share.
 *
 * A task has a folder of its own below the engine's: `words` for the script (slurm_tool.c), a folder for
 * each attempt, and `done`, which is the attempt that was ready first. When it appears the job has
 * ended; squeue is asked only for those of which nothing comes. A task that vanished is submitted again,
 * some times, before the coordinator hears of it. All jobs of a session have one name, which is kept in
 * FILE.db-files/slurm: so they are found and cancelled, also by the next session after a kill. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/list.h"
#include "base/output.h"
#include "base/tree.h"
#include "engine.h"
#include "slurm_tool.h"

enum {
    USUAL_JOBS = 32,
    MOST_JOBS = 1024,
    MOST_IN_ARRAY = 256, /* Slurm's own limit is 1001 unless the site says otherwise */
    MOST_ATTEMPTS = 5,
};
/* Seconds. */
static const double sweep_every = 0.5; /* between two looks for what is done */
static const double look_every = 5;    /* between two of squeue */
static const double patience = 5;      /* for files of a task that squeue does not know any more */
static const double retry_every = 10;  /* of an sbatch that was refused */
static const double most_refused = 600;
static const double most_blind = 1800;  /* without an answer of squeue */
static const double most_overdue = 900; /* of a task that Slurm should have stopped */

struct slurm_task {
    enum { TASK_FREE, TASK_WAITS, TASK_SUBMITTED, TASK_ENDED } state;
    uint64_t id;
    char *folder;
    bool alone;
    double seconds;
    int attempts;
    uint64_t job, index; /* of the last one */
    double submitted;
    bool listed;             /* by the squeue before */
    struct slurm_line line;  /* what it said last */
    double pending, running; /* since when; 0: it is not */
    double gone;             /* since when nobody knows it; 0: it is there */
    struct engine_end end;
};

struct slurm {
    int jobs;
    double queue;
    const char *const *words;
    char name[SLURM_NAME], here[PATH_MAX], kept[PATH_MAX];
    char left[PATH_MAX]; /* the folder of a session that was killed; "": there was none */
    double next_sweep, next_look, next_submit;
    double refused;        /* since when sbatch is; 0: it works */
    double seen;           /* when squeue last worked */
    double active;         /* when a task of ours was last known to run */
    bool named;            /* `kept` has our name */
    bool written;          /* the script */
    bool tried, submitted; /* sbatch; with success */
    bool asked, broken, told;
    struct why why; /* of `broken` */
    struct slurm_task task[MOST_JOBS];
};

static void path_of(const struct slurm *s, const struct slurm_task *t, const char *name,
                    char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.3000s/%" PRIu64 "%s%.300s", s->here, t->id, *name ? "/" : "", name);
}

static void log_of(const struct slurm *s, const char *program, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.3000s/%s.log", s->here, program);
}

static void break_down(struct slurm *s, const struct why *why, const char *advice)
{
    if (s->broken)
        return;
    s->broken = true;
    why_say(&s->why,
            "%.600s; %s. What came so far is kept, and the same command goes on from there",
            why->text, advice);
}

/* ---- scancel ------------------------------------------------------------------------------------- */

/* Of all jobs with this name; `how`: more words, ends with NULL. */
static bool cancel(const struct slurm *s, const char *name, const char *const *how, struct why *why)
{
    char log[PATH_MAX], named[SLURM_NAME + 16];
    LIST(const char *) words = { 0 };
    const char *program = "scancel", *end = NULL, *by_name = named;
    snprintf(named, sizeof named, "--name=%s", name);
    log_of(s, program, log);
    bool good = LIST_PUSH(&words, program) && LIST_PUSH(&words, by_name);
    for (; good && *how; how++)
        good = LIST_PUSH(&words, *how);
    good = good && LIST_PUSH(&words, end);
    good = good ? slurm_run(words.data, log, true, why) : why_say(why, "out of memory");
    LIST_FREE(&words);
    return good;
}

static void cancel_task(const struct slurm *s, const struct slurm_task *t)
{
    char job[64];
    const char *const how[] = { job, NULL };
    struct why unheard;
    snprintf(job, sizeof job, "%" PRIu64 "_%" PRIu64, t->job, t->index);
    cancel(s, s->name, how, &unheard);
}

/* Those of a session that was killed. The folder of their work is gone, but for what they wrote while it
 * went. */
static bool cancel_left_over(struct slurm *s, struct why *why)
{
    static const char *const all[] = { NULL };
    char name[SLURM_NAME] = "";
    FILE *in = fopen(s->kept, "re");
    bool there = in && fgets(name, sizeof name, in) && slurm_is_name(name);
    if (in)
        fclose(in);
    if (!there)
        return true;
    snprintf(s->left, sizeof s->left, "%.*s/%s", (int)(strrchr(s->here, '/') - s->here), s->here,
             name);
    return cancel(s, name, all, why);
}

/* ---- opening ------------------------------------------------------------------------------------- */

static bool are_options(const char *const *words, struct why *why)
{
    for (; words && *words; words++)
        if (**words != '-')
            return why_say(why,
                           "--sbatch: '%.100s' does not begin with '-': --partition=NAME is one "
                           "word",
                           *words);
    return true;
}

static bool make_room(struct slurm *s, const char *work, struct why *why)
{
    char whole[PATH_MAX], parent[PATH_MAX];
    if (!realpath(work, whole) || !slurm_new_name(s->name))
        return why_say(why, "%.300s: %s", work, strerror(errno));
    snprintf(parent, sizeof parent, "%s", whole);
    snprintf(s->kept, sizeof s->kept, "%.3000s/slurm", dirname(parent));
    snprintf(s->here, sizeof s->here, "%.3000s/%s", whole, s->name);
    return mkdir(s->here, 0777) == 0 || why_say(why, "%.300s: %s", s->here, strerror(errno));
}

static bool keep_name(struct slurm *s, struct why *why)
{
    struct output out;
    int error = output_open(&out, s->kept);
    if (!error) {
        fprintf(out.file, "%s\n", s->name);
        error = output_commit(&out);
    }
    s->named = !error;
    return !error || why_say(why, "%.300s: %s", s->kept, strerror(error));
}

static bool slurm_open(void **state, const struct engine_setup *setup, struct why *why)
{
    struct slurm *s = *state = calloc(1, sizeof *s);
    if (!s)
        return why_say(why, "out of memory");
    s->jobs = setup->jobs ? setup->jobs : USUAL_JOBS;
    s->queue = setup->queue;
    s->words = setup->words;
    s->seen = now_seconds();
    if (s->jobs > MOST_JOBS)
        return why_say(why, "there are %d workers at most", (int)MOST_JOBS);
    return are_options(s->words, why) && slurm_ready(why) && make_room(s, setup->folder, why)
        && cancel_left_over(s, why) && keep_name(s, why);
}

static int slurm_jobs(const void *state) { return ((const struct slurm *)state)->jobs; }

/* ---- starting ------------------------------------------------------------------------------------ */

static bool write_script(struct slurm *s, const char *program, struct why *why)
{
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%.3000s/script", s->here);
    int error = s->written ? 0 : slurm_write_script(file, program, s->here);
    s->written = !error;
    return !error || why_say(why, "%.300s: %s", file, strerror(error));
}

static bool write_task(const struct slurm *s, const struct slurm_task *t, char *const *words,
                       struct why *why)
{
    char path[PATH_MAX], file[PATH_MAX];
    path_of(s, t, "", path);
    path_of(s, t, "words", file);
    int error = mkdir(path, 0777) == 0 ? slurm_write_words(file, t->folder, words) : errno;
    return !error || why_say(why, "%.300s: %s", path, strerror(error));
}

/* It is submitted by the next poll, with others that are started until then. */
static bool slurm_start(void *state, const struct engine_job *job, struct why *why)
{
    struct slurm *s = state;
    struct slurm_task *t = s->task;
    if (s->broken)
        return why_say(why, "%s", s->why.text);
    while (t < s->task + s->jobs && t->state != TASK_FREE)
        t++;
    if (t == s->task + s->jobs)
        return why_say(why, "there is no worker free");
    *t = (struct slurm_task){
        .id = job->id, .folder = strdup(job->folder), .alone = job->alone, .seconds = job->seconds
    };
    if (!t->folder)
        return why_say(why, "out of memory");
    t->state = TASK_WAITS;
    s->next_sweep = 0;
    return write_script(s, job->words[0], why) && write_task(s, t, job->words, why);
}

/* ---- sbatch -------------------------------------------------------------------------------------- */

/* Tasks that wait and may be of one array. */
static size_t gather(struct slurm *s, struct slurm_task *group[MOST_IN_ARRAY])
{
    size_t n = 0;
    for (int i = 0; i < s->jobs && n < MOST_IN_ARRAY; i++) {
        struct slurm_task *t = &s->task[i];
        if (t->state == TASK_WAITS
            && (!n || (t->alone == group[0]->alone && t->seconds == group[0]->seconds)))
            group[n++] = t;
    }
    return n;
}

/* Ours come last: they must not be overruled. */
struct submission {
    char name[SLURM_NAME + 16], array[32], time[40], script[PATH_MAX], id[MOST_IN_ARRAY][24];
    LIST(const char *) words;
};

static bool push(struct submission *x, const char *word) { return LIST_PUSH(&x->words, word); }

static bool fill(struct submission *x, const struct slurm *s, struct slurm_task *const *group,
                 size_t n)
{
    snprintf(x->name, sizeof x->name, "--job-name=%s", s->name);
    snprintf(x->array, sizeof x->array, "--array=0-%zu", n - 1);
    snprintf(x->time, sizeof x->time, "--time=%" PRIu64, (uint64_t)((group[0]->seconds + 59) / 60));
    snprintf(x->script, sizeof x->script, "%.3000s/script", s->here);
    bool good = push(x, "sbatch");
    for (const char *const *w = s->words; good && w && *w; w++)
        good = push(x, *w);
    good = good && push(x, "--parsable") && push(x, "--requeue") && push(x, "--output=/dev/null")
        && push(x, x->name) && push(x, x->array) && push(x, x->time)
        && (!group[0]->alone || push(x, "--exclusive")) && push(x, x->script);
    for (size_t i = 0; good && i < n; i++) {
        snprintf(x->id[i], sizeof x->id[i], "%" PRIu64, group[i]->id);
        good = push(x, x->id[i]);
    }
    return good && push(x, NULL);
}

static bool run_sbatch(struct slurm *s, struct slurm_task *const *group, size_t n, uint64_t *job,
                       struct why *why)
{
    char log[PATH_MAX];
    struct submission *x = calloc(1, sizeof *x);
    log_of(s, "sbatch", log);
    s->tried = true;
    bool good = x && fill(x, s, group, n);
    if (!good)
        why_say(why, "out of memory");
    good = good && slurm_run(x->words.data, log, s->asked, why);
    if (good && !slurm_read_job(log, job))
        good = why_say(why, "sbatch told no number of a job");
    if (x)
        LIST_FREE(&x->words);
    free(x);
    return good;
}

/* The first time it is refused for good; later it may be the controller, which comes back. */
static void refuse(struct slurm *s, const struct why *why)
{
    double now = now_seconds();
    s->next_submit = now + retry_every;
    s->refused = s->refused > 0 ? s->refused : now;
    if (!s->submitted || now - s->refused > most_refused)
        break_down(s, why,
                   "--sbatch=WORDS gives it what the site asks for, as --partition or --account");
}

static void submit(struct slurm *s)
{
    struct slurm_task *group[MOST_IN_ARRAY];
    struct why why;
    uint64_t job;
    size_t n;
    while (!s->asked && !s->broken && now_seconds() >= s->next_submit && (n = gather(s, group))) {
        if (!run_sbatch(s, group, n, &job, &why)) {
            if (!interrupted())
                refuse(s, &why);
            return;
        }
        s->submitted = true;
        s->refused = 0;
        for (size_t i = 0; i < n; i++) {
            struct slurm_task *t = group[i];
            t->state = TASK_SUBMITTED;
            t->job = job;
            t->index = i;
            t->attempts++;
            t->submitted = t->pending = now_seconds();
            t->running = t->gone = 0;
        }
    }
}

/* ---- what is done -------------------------------------------------------------------------------- */

static void end_task(const struct slurm *s, struct slurm_task *t)
{
    char path[PATH_MAX];
    path_of(s, t, "", path);
    tree_remove(path);
    free(t->folder);
    t->folder = NULL;
    t->end.id = t->id;
    t->state = TASK_ENDED;
}

/* The folder is opened, because a network's file system then looks whether it has changed. */
static bool is_done(const struct slurm *s, const struct slurm_task *t)
{
    char path[PATH_MAX];
    path_of(s, t, "", path);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = folder >= 0 && faccessat(folder, "done", F_OK, 0) == 0;
    if (folder >= 0)
        close(folder);
    return done;
}

static int read_status(const char *done)
{
    char path[PATH_MAX];
    int status = -1;
    snprintf(path, sizeof path, "%.3000s/status", done);
    FILE *in = fopen(path, "re");
    if (in && fscanf(in, "%3d", &status) != 1)
        status = -1;
    if (in)
        fclose(in);
    return status >= 0 && status < 256 ? status : -1;
}

/* All that the attempt brought, to where the coordinator looks for it. */
static bool move_in(const char *done, const char *folder)
{
    const struct dirent *e;
    char from[PATH_MAX], to[PATH_MAX];
    DIR *d = opendir(done);
    bool good = d;
    while (good && (e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(from, sizeof from, "%.3000s/%s", done, e->d_name);
        snprintf(to, sizeof to, "%.3000s/%s", folder, e->d_name);
        good = rename(from, to) == 0;
    }
    if (d)
        closedir(d);
    return good;
}

/* As bash tells it: above 128 a signal; but 130 is what the program itself ends with after one. */
static void take_done(struct slurm *s, struct slurm_task *t)
{
    enum { INTERRUPTED = 130, SIGNALLED = 128 };
    char done[PATH_MAX], log[PATH_MAX];
    path_of(s, t, "done", done);
    int status = read_status(done);
    bool killed = status > SIGNALLED && status != INTERRUPTED;
    struct child child = { .status = killed ? W_EXITCODE(0, status - SIGNALLED)
                                            : W_EXITCODE(status, 0) };
    t->end = (struct engine_end){ .ended = status >= 0 && !killed, .status = status };
    if (status < 0)
        why_say(&t->end.why, "the worker handed in no status");
    else if (!move_in(done, t->folder))
        why_say(&t->end.why, "%.300s: %s", done, strerror(errno));
    else {
        snprintf(log, sizeof log, "%.3000s/log", t->folder);
        child_obituary(&child, "the worker", log, &t->end.why);
    }
    s->active = now_seconds();
    end_task(s, t);
}

/* It brought nothing, and nobody knows it any more. */
static void take_loss(struct slurm *s, struct slurm_task *t, const char *words, bool final)
{
    if (!final && !s->asked && t->attempts < MOST_ATTEMPTS) {
        t->state = TASK_WAITS;
        return;
    }
    t->end = (struct engine_end){ .status = -1 };
    why_say(&t->end.why,
            "Slurm's job %" PRIu64 "_%" PRIu64 " %s and handed in nothing; attempts: %d", t->job,
            t->index, words, t->attempts);
    if (!final)
        why_add(&t->end.why, "; do all nodes have %.300s?", s->here);
    end_task(s, t);
}

static void settle_loss(struct slurm *s, struct slurm_task *t)
{
    const struct slurm_end *end = t->listed ? slurm_find_end(t->line.state) : NULL;
    take_loss(s, t, end ? end->words : "is not known to Slurm any more", end && end->final);
}

static void sweep(struct slurm *s)
{
    double wait = s->asked ? 1 : patience;
    for (int i = 0; i < s->jobs; i++) {
        struct slurm_task *t = &s->task[i];
        bool late = t->state == TASK_WAITS && t->attempts; /* one that was given up may be */
        if ((t->state == TASK_SUBMITTED || late) && is_done(s, t))
            take_done(s, t);
        else if (t->state == TASK_SUBMITTED && t->gone > 0 && now_seconds() - t->gone > wait)
            settle_loss(s, t);
    }
}

/* ---- squeue -------------------------------------------------------------------------------------- */

static struct slurm_task *find(struct slurm *s, const struct slurm_line *l)
{
    for (int i = 0; i < s->jobs; i++)
        if (s->task[i].state == TASK_SUBMITTED && s->task[i].job == l->job
            && s->task[i].index == l->index)
            return &s->task[i];
    return NULL;
}

static void read_list(struct slurm *s, const char *log)
{
    char text[512];
    struct slurm_line line;
    FILE *in = fopen(log, "re");
    for (int i = 0; i < s->jobs; i++)
        s->task[i].listed = false;
    while (in && fgets(text, sizeof text, in)) {
        struct slurm_task *t = slurm_read_line(&line, text) ? find(s, &line) : NULL;
        if (t) {
            t->listed = true;
            t->line = line;
        }
    }
    if (in)
        fclose(in);
}

/* Nobody starts it, and nobody would tell. */
static void watch_pending(struct slurm *s, struct slurm_task *t, double now)
{
    struct why why;
    t->running = 0;
    t->pending = t->pending > 0 ? t->pending : now;
    if (strncmp(t->line.reason, "launch failed", 13) == 0) { /* it is held for ever */
        cancel_task(s, t);
        take_loss(s, t, "could not be launched", false);
    } else if (now - (t->pending > s->active ? t->pending : s->active) > s->queue) {
        why_say(&why, "Slurm has not started job %" PRIu64 "_%" PRIu64 " within %g s (%s)", t->job,
                t->index, s->queue, t->line.reason);
        break_down(s, &why, "'scontrol show job' may say more, --queue-seconds waits longer");
    }
}

static void watch_running(struct slurm *s, struct slurm_task *t, double now)
{
    t->pending = 0;
    s->active = now;
    t->running = t->running > 0 ? t->running : now;
    if (now - t->running > t->seconds + most_overdue) {
        cancel_task(s, t);
        take_loss(s, t, "did not end in its time, and was cancelled", true);
    }
}

static void watch(struct slurm *s, struct slurm_task *t, double now)
{
    if (!t->listed || slurm_find_end(t->line.state)) {
        t->gone = t->gone > 0 ? t->gone : now;
        return;
    }
    t->gone = 0;
    if (strcmp(t->line.state, "PENDING") == 0)
        watch_pending(s, t, now);
    else
        watch_running(s, t, now);
}

static void look(struct slurm *s)
{
    char log[PATH_MAX], named[SLURM_NAME + 16];
    const char *const words[] = { "squeue",       "--noheader", "--array",  named,
                                  "--states=all", "--format",   SLURM_LINE, NULL };
    double asked = now_seconds();
    struct why why;
    snprintf(named, sizeof named, "--name=%s", s->name);
    log_of(s, "squeue", log);
    if (!slurm_run(words, log, s->asked, &why)) {
        if (asked - s->seen > most_blind)
            break_down(s, &why, "is its controller there?");
        return;
    }
    s->seen = asked;
    read_list(s, log);
    for (int i = 0; i < s->jobs; i++)
        if (s->task[i].state == TASK_SUBMITTED && s->task[i].submitted < asked)
            watch(s, &s->task[i], asked);
}

/* ---- polling ------------------------------------------------------------------------------------- */

static bool tell_one(struct slurm *s, struct engine_end *end)
{
    for (int i = 0; i < s->jobs; i++)
        if (s->task[i].state == TASK_ENDED) {
            *end = s->task[i].end;
            s->task[i].state = TASK_FREE;
            return true;
        }
    if (!s->broken || s->told)
        return false;
    *end = (struct engine_end){ .broken = true, .why = s->why };
    return s->told = true;
}

static bool has_submitted(const struct slurm *s)
{
    for (int i = 0; i < s->jobs; i++)
        if (s->task[i].state == TASK_SUBMITTED)
            return true;
    return false;
}

static bool slurm_poll(void *state, struct engine_end *end)
{
    struct slurm *s = state;
    double now = now_seconds();
    if (tell_one(s, end))
        return true;
    if (now < s->next_sweep)
        return false;
    s->next_sweep = now + sweep_every;
    sweep(s);
    submit(s);
    if (now >= s->next_look && has_submitted(s)) {
        look(s);
        s->next_look = now_seconds() + (s->asked ? 1 : look_every);
    }
    return tell_one(s, end);
}

/* ---- the end ------------------------------------------------------------------------------------- */

/* Those that run hand in what they have: the file tells them that it is wanted. */
static void slurm_ask(void *state)
{
    static const char *const pending[] = { "--state=PENDING", NULL };
    static const char *const running[] = { "--state=RUNNING", "--signal=TERM", "--full", NULL };
    struct slurm *s = state;
    struct why unheard;
    char path[PATH_MAX];
    s->asked = true;
    s->next_look = 0;
    snprintf(path, sizeof path, "%.3000s/asked", s->here);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0)
        close(file);
    for (int i = 0; i < s->jobs; i++)
        if (s->task[i].state == TASK_WAITS)
            take_loss(s, &s->task[i], "was not begun", true);
    if (s->tried) {
        cancel(s, s->name, pending, &unheard);
        cancel(s, s->name, running, &unheard);
    }
}

/* By name: also what was submitted though sbatch did not come to say so. If it cannot be done the name
 * stays, for the next session. */
static void slurm_close(void *state)
{
    static const char *const all[] = { NULL };
    struct slurm *s = state;
    struct why unheard;
    if (!s)
        return;
    if (s->named && (!s->tried || cancel(s, s->name, all, &unheard)))
        unlink(s->kept);
    for (int i = 0; i < MOST_JOBS; i++)
        free(s->task[i].folder);
    if (*s->here)
        tree_remove(s->here);
    if (*s->left)
        tree_remove(s->left);
    free(s);
}

const struct engine engine_slurm = {
    .name = "slurm",
    .open = slurm_open,
    .jobs = slurm_jobs,
    .start = slurm_start,
    .poll = slurm_poll,
    .ask = slurm_ask,
    .close = slurm_close,
};
