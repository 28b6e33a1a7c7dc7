/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal run` as a whole, in this process: made tests on the model with a bug, failures kept in
 * folders, traces and coverage in files, on a disk that refuses now and then. What is said is what an
 * undisturbed run says, as far as it comes; a folder that is said to be saved has all that it should,
 * and a file is there whole or not at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command.h"
#include "base/text.h"
#include "storage.h"
#include "stories.h"

/* Runs that stories disturb. */
static struct run {
    const char *name, *locations, *count, *kept;
    uint64_t failures; /* undisturbed: at least so many */
    uint32_t weight;   /* so many stories of a hundred */
    char *said;        /* undisturbed: their lines */
} runs[] = {
    { "few", "test.locations=16", "12", "--save=kept", 2, 80, NULL },
    { "most", "test.locations=1", "24", "--save=kept", 16, 10, NULL },
    { "flood", "test.locations=1", "500", "--no-save", 400, 10, NULL }, /* more than a pipe takes */
};
enum { RUNS = sizeof runs / sizeof *runs };

static char here[4096]; /* where the test was started */
static char folder[] = "/tmp/test-simulation-XXXXXX";

/* ---- running --------------------------------------------------------------------------------- */

/* What goes to a stream while it is caught. It is read at once: a pipe that is full would stop the run. */
struct caught {
    FILE *stream;
    int before, from; /* where it went; where what it writes is read */
    pthread_t reader;
    char *text;
};

static void *read_all(void *user)
{
    struct caught *c = user;
    size_t size;
    FILE *memory = text_stream(&c->text, &size);
    char block[4096];
    for (ssize_t n; (n = read(c->from, block, sizeof block)) > 0;)
        if (memory)
            fwrite(block, 1, (size_t)n, memory);
    if (memory)
        fclose(memory);
    return NULL;
}

static void catch_text(struct caught *c, FILE *stream)
{
    int ends[2];
    fflush(stream);
    HOLDS(pipe(ends) == 0, "no pipe");
    *c = (struct caught){ .stream = stream, .before = dup(fileno(stream)), .from = ends[0] };
    dup2(ends[1], fileno(stream));
    close(ends[1]);
    c->reader = schedule_beside(read_all, c);
}

/* What was written, for the caller to free. */
static char *caught_text(struct caught *c)
{
    fflush(c->stream);
    dup2(c->before, fileno(c->stream)); /* the last to write to the pipe was this */
    close(c->before);
    schedule_beside_end(c->reader);
    close(c->from);
    HOLDS(c->text, "no memory");
    return c->text;
}

static int run_command(const struct run *r, char **text, char **complaints)
{
    const char *argv[] = { "run",
                           "--target=model",
                           "--bug=forward-oldest",
                           "--set=test.threads=2",
                           "--set=test.operations=24",
                           "--set",
                           r->locations,
                           "--count",
                           r->count,
                           "--iterations=4",
                           "--check",
                           "--keep-going",
                           r->kept,
                           "--output=out.trace",
                           "--cover=cover",
                           schedule_draw(2) ? "--jobs=1" : "--jobs=2",
                           NULL };
    struct caught out, err;
    catch_text(&out, stdout);
    catch_text(&err, stderr);
    optind = 0;
    int status = command_run.run(&command_run, (int)(sizeof argv / sizeof *argv) - 1,
                                 (char **)argv);
    *complaints = caught_text(&err);
    *text = caught_text(&out);
    return status;
}

/* ---- what must hold -------------------------------------------------------------------------- */

static bool shell(const char *command) { return system(command) == 0; }

/* Of the line of a failure the end says where it is saved; this is what comes before. */
static size_t line_without_place(const char *line)
{
    const char *end = strchr(line, '\n'), *place = strstr(line, " saved=");
    return (size_t)((place && place < end ? place : end) - line);
}

static const char *next_line(const char *line) { return strchr(line, '\n') + 1; }

static bool is_failure(const char *line) { return !strncmp(line, "FAIL ", 5); }

static void check_saved(const struct run *r, const char *line)
{
    char place[256], command[1024];
    const char *at = strstr(line, " saved=");
    if (!at || at > strchr(line, '\n') || sscanf(at, " saved=%255s", place) != 1)
        return;
    snprintf(command, sizeof command, "diff -r '%s' '../%s/%s' >&2", place, r->name, place);
    HOLDS(shell(command), "what is said to be saved is not: %s", place);
}

/* Of the same test. */
static bool is_about_the_same(const char *line, const char *other)
{
    size_t length = strcspn(line, "#");
    return is_failure(other) && strcspn(other, "#") == length && !strncmp(line, other, length);
}

static bool is_the_same(const char *line, const char *other)
{
    size_t length = line_without_place(line);
    return is_failure(other) && line_without_place(other) == length
        && !strncmp(line, other, length);
}

/* Each line is one of the undisturbed run, in order, and one after the other unless ^C was pressed:
 * then some are left out, and of a test a later violation may be the one that is known. */
static uint64_t check_lines(const struct run *r, const char *text, bool pressed)
{
    const char *must = r->said;
    uint64_t count = 0;
    for (; is_failure(text); text = next_line(text), must = next_line(must), count++) {
        while (pressed && is_failure(must) && !is_about_the_same(text, must))
            must = next_line(must);
        bool same = is_the_same(text, must);
        HOLDS(same || (pressed && is_about_the_same(text, must)), "this is new: %.*s",
              (int)line_without_place(text), text);
        if (same)
            check_saved(r, text);
    }
    return count;
}

static uint64_t count_failures(const char *text)
{
    uint64_t count = 0;
    for (; is_failure(text); text = next_line(text))
        count++;
    return count;
}

static bool is_the_same_file(const struct run *r, const char *name)
{
    char command[128];
    snprintf(command, sizeof command, "cmp %s ../%s/%s >&2", name, r->name, name);
    return shell(command);
}

/* Of coverage that could not be written it is said how far the file is. */
static void check_files(const struct run *r, int status, const char *complaints)
{
    HOLDS(shell("! ls -A | grep -q -v -x -e kept -e out.trace -e cover"), "something is left");
    if (access("out.trace", F_OK) == 0) {
        HOLDS(status != EXIT_INTERRUPTED, "traces of a part");
        HOLDS(is_the_same_file(r, "out.trace"), "other traces");
    }
    if (access("cover", F_OK) == 0 && status != EXIT_INTERRUPTED && access("out.trace", F_OK) == 0)
        HOLDS(is_the_same_file(r, "cover") || strstr(complaints, "; the file has the tests up to"),
              "other coverage");
}

/* ---- a story --------------------------------------------------------------------------------- */

void story_command_close(void)
{
    char command[128];
    for (int i = 0; i < RUNS; i++)
        free(runs[i].said);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (chdir(here) != 0 || !shell(command))
        fprintf(stderr, "%s is left\n", folder);
}

static void enter(const char *name)
{
    HOLDS(chdir(folder) == 0 && mkdir(name, 0700) == 0 && chdir(name) == 0, "no folder %s", name);
}

void story_command_open(void)
{
    HOLDS(getcwd(here, sizeof here) && mkdtemp(folder), "no folder");
    storage_begin(0, 0);
    for (struct run *r = runs; r < runs + RUNS; r++) {
        enter(r->name);
        char *complaints;
        int status = run_command(r, &r->said, &complaints);
        HOLDS(status == EXIT_VIOLATION && count_failures(r->said) >= r->failures,
              "status %d: %.1000s", status, r->said);
        free(complaints);
    }
    enter("part");
}

static const struct run *draw_run(void)
{
    const struct run *r = runs;
    for (uint32_t at = schedule_draw(100); at >= r->weight; r++)
        at -= r->weight;
    return r;
}

void story_command(void)
{
    char *text, *complaints;
    const struct run *r = draw_run();
    HOLDS(shell("rm -rf ./*"), "");
    bool pressed = schedule_draw(3) == 0;
    if (pressed)
        schedule_press(1 + schedule_draw(4000));
    schedule_cores(1 + (int)schedule_draw(2));
    storage_begin(schedule_draw(3) ? 1 + schedule_draw(60) : 0,
                  schedule_draw(4) ? 0 : 1 + schedule_draw(20000));
    int status = run_command(r, &text, &complaints);
    uint64_t refused = storage_end();
    uint64_t lines = check_lines(r, text, pressed);
    check_files(r, status, complaints);
    if (status != EXIT_INTERRUPTED && !refused)
        HOLDS(lines == count_failures(r->said) && status == EXIT_VIOLATION, "status %d", status);
    free(complaints);
    free(text);
}
