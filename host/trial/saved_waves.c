/* SPDX-License-Identifier: Apache-2.0 */
/* Waves of a failing test that lies in its folder: it is run again, by this program and as data of
 * the folder say that were checked, which is exact. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/command.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/output.h"
#include "base/temporary.h"
#include "base/text.h"
#include "saved.h"

enum { OUTER = 3072, INNER = OUTER + 260, NAME = INNER + 64 };

/* The replay keeps what it finds in a folder within this one, which is not in the folder of the test:
 * others may write there, and put links where we go by name. */
struct again {
    struct temporary outer;
    char inner[INNER], log[NAME], test[NAME];
};

static bool refuse(struct why *why, const char *path, const char *reason)
{
    return why_say(why, "%.900s: %s", path, reason);
}

#define JOIN(to, folder, name) snprintf(to, sizeof (to), "%s/%s", folder, name)

static bool find_inner(struct again *a)
{
    DIR *d = opendir(a->outer.path);
    bool found = false;
    for (struct dirent *entry; d && !found && (entry = readdir(d)); )
        if ((found = strncmp(entry->d_name, "test-", 5) == 0))
            JOIN(a->inner, a->outer.path, entry->d_name);
    if (d)
        closedir(d);
    return found;
}

/* It failed again, but left nothing: the last complaint says why. */
static bool refuse_by_log(const char *log, const char *what, struct why *why)
{
    static const char complaint[] = "ordeal run: ";
    char line[512];
    FILE *f = fopen(log, "re");
    why_say(why, "%s", what);
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, complaint, strlen(complaint)) == 0)
            why_say(why, "%.*s", (int)strcspn(line + strlen(complaint), "\n"),
                    line + strlen(complaint));
    if (f)
        fclose(f);
    return false;
}

/* ---- what is run -------------------------------------------------------------------------------- */

static bool refuse_old(const char *path, struct why *why)
{
    return why_say(
        why,
        "%.300s/" SAVED_RUN ": there is none, so it cannot be run again from here. If this "
        "is a folder that 'ordeal run' kept before there were such files: read its script " SAVED_REPLAY
        ", and if you trust it, run: sh %.300s/" SAVED_REPLAY " --waves --save DIR",
        path, path);
}

static bool read_run(struct saved_run *run, const char *path, struct why *why)
{
    char name[NAME], text[1024];
    struct ordeal_error e;
    FILE *in;
    enum saved_there there = saved_open(path, SAVED_RUN, &in, why);
    if (there != SAVED_THERE)
        return there == SAVED_ABSENT ? refuse_old(path, why) : false;
    JOIN(name, path, SAVED_RUN);
    bool good = saved_run_read(run, in, name, &e);
    fclose(in);
    if (good)
        return true;
    error_format(&e, text, sizeof text);
    return why_say(why, "%s", text);
}

/* What is the user's own he names himself. */
static bool name_again(struct saved_run *run, const char *soc, const char *path, struct why *why)
{
    if (!run->target->waves)
        return why_say(why, "%.800s: the target '%s' has no waves", path, run->target->name);
    if (soc && !run->how.soc)
        return why_say(why, "%.800s: it did not run on a machine of one's own; leave out --soc",
                       path);
    if (soc)
        run->how.soc = soc;
    const char *missing = target_option_missing(&run->how);
    return !missing
        || why_say(why,
                   "%.600s: it ran on a machine of somebody's own, which is not looked for where a "
                   "folder says: name it with --%s",
                   path, missing);
}

static bool copy(FILE *in, FILE *out)
{
    char block[65536];
    size_t got;
    while ((got = fread(block, 1, sizeof block, in)) > 0 && fwrite(block, 1, got, out) == got)
        continue;
    return !ferror(in) && got == 0;
}

/* A copy, so that what is run is the file that was looked at. */
static bool copy_test(const struct again *a, const char *path, struct why *why)
{
    char name[NAME];
    FILE *in;
    if (saved_open(path, SAVED_TEST, &in, why) != SAVED_THERE)
        return false;
    JOIN(name, a->outer.path, SAVED_TEST);
    FILE *out = fopen(name, "wxe");
    bool good = out && copy(in, out);
    fclose(in);
    if (out && fclose(out) != 0)
        good = false;
    return good || refuse(why, name, strerror(errno));
}

/* Of run->how the words, and where this one goes. */
static void make_words(struct again *a, const struct saved_run *run, struct saved_run_words *words)
{
    JOIN(a->test, a->outer.path, SAVED_TEST);
    saved_run_words(run, words);
    static const char *const more[] = { "--waves", "--save" };
    words->count--; /* the test, which comes last */
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        words->word[words->count++] = more[i];
    words->word[words->count++] = a->outer.path;
    words->word[words->count++] = "--";
    words->word[words->count++] = a->test;
    words->word[words->count] = NULL;
}

static bool tell_command(const struct saved_run_words *words, FILE *tell)
{
    char *text = NULL;
    size_t size;
    FILE *line = text_stream(&text, &size);
    if (!line)
        return false;
    fputs("\nRunning it again: ordeal", line);
    for (size_t i = 0; i < words->count; i++) {
        fputc(' ', line);
        saved_run_quote(words->word[i], line);
    }
    fputc('\n', line);
    bool good = fclose(line) == 0;
    if (good)
        escape_write(text, true, tell);
    free(text);
    fflush(tell);
    return good;
}

static bool run_words(struct again *a, const struct saved_run_words *words, const char *path,
                      struct why *why)
{
    char program[] = "/proc/self/exe"; /* also when another took its place meanwhile */
    const char *argv[MOST_RUN_WORDS + 2] = { program };
    struct child child;
    for (size_t i = 0; i <= words->count; i++)
        argv[i + 1] = words->word[i];
    if (!child_start(&child, (char *const *)argv, NULL, a->log, why))
        return false;
    if (child_wait(&child, 0) == CHILD_STOPPED)
        return refuse(why, path, "interrupted");
    if (WIFEXITED(child.status) && WEXITSTATUS(child.status) == EXIT_FINE)
        return refuse(why, path, "it does not fail any more; is it the same machine?");
    if (!WIFEXITED(child.status) || WEXITSTATUS(child.status) != EXIT_VIOLATION)
        return child_obituary(&child, path, a->log, why), false;
    return find_inner(a) || refuse_by_log(a->log, "it kept nothing", why);
}

static bool run_again(struct again *a, const struct saved_run *run, const char *path, FILE *tell,
                      struct why *why)
{
    struct saved_run_words words;
    JOIN(a->log, a->outer.path, "log");
    if (!copy_test(a, path, why))
        return false;
    make_words(a, run, &words);
    return tell_command(&words, tell) ? run_words(a, &words, path, why)
                                      : why_say(why, "out of memory");
}

/* ---- what came of it ---------------------------------------------------------------------------- */

/* Of a machine that broke there is no trace, neither before nor now. */
static bool did_the_same(const struct again *a, const char *path, struct why *why)
{
    FILE *before, *now;
    enum saved_there x = saved_open(path, SAVED_TRACE, &before, why);
    if (x == SAVED_REFUSED)
        return false;
    enum saved_there y = saved_open(a->inner, SAVED_TRACE, &now, why);
    int c = x == SAVED_ABSENT && y == SAVED_ABSENT ? EOF : 0;
    if (before && now)
        while ((c = fgetc(before)) == fgetc(now) && c != EOF)
            continue;
    if (before)
        fclose(before);
    if (now)
        fclose(now);
    return c == EOF
        || refuse(why, path, "run again it does something else; is it the same machine?");
}

static bool bring_waves(const struct again *a, const char *path, struct why *why)
{
    char name[NAME];
    struct output out;
    struct stat is;
    JOIN(name, a->inner, SAVED_WAVES);
    FILE *in = fopen(name, "re");
    if (!in)
        return refuse_by_log(a->log, "there are no waves", why);
    JOIN(name, path, SAVED_WAVES);
    int error = lstat(name, &is) == 0 && !S_ISREG(is.st_mode) ? EEXIST : output_open(&out, name);
    if (!error && !copy(in, out.file)) {
        error = errno ? errno : EIO;
        output_abandon(&out);
    } else if (!error)
        error = output_commit(&out);
    fclose(in);
    return !error || refuse(why, name, strerror(error));
}

bool saved_make_waves(const char *path, const char *soc, FILE *tell, struct why *why)
{
    struct again a;
    struct saved_run run;
    if (!read_run(&run, path, why) || !name_again(&run, soc, path, why)
        || !temporary_room(&a.outer, "again", why))
        return false;
    bool good = run_again(&a, &run, path, tell, why) && did_the_same(&a, path, why)
             && bring_waves(&a, path, why);
    temporary_remove(&a.outer);
    return good;
}
