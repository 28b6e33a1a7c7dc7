/* SPDX-License-Identifier: Apache-2.0 */
/* Waves of a failing test that lies in its folder: by the folder's own replay, which is exact. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/command.h"
#include "saved.h"

enum { OUTER = 3072, INNER = OUTER + 260, NAME = INNER + 64 };

/* The replay keeps what it finds in a folder within this one. */
struct again { char outer[OUTER], inner[INNER], log[NAME]; };

static bool refuse(struct why *why, const char *path, const char *reason)
{
    return why_say(why, "%.900s: %s", path, reason);
}

#define JOIN(to, folder, name) snprintf(to, sizeof (to), "%s/%s", folder, name)

/* Files, and folders of files. */
static void remove_all(const char *path, int depth)
{
    DIR *d = opendir(path);
    for (struct dirent *entry; d && (entry = readdir(d)); ) {
        char inside[NAME];
        JOIN(inside, path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0
            && unlink(inside) != 0 && depth > 0)
            remove_all(inside, depth - 1);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

static bool find_inner(struct again *a)
{
    DIR *d = opendir(a->outer);
    bool found = false;
    for (struct dirent *entry; d && !found && (entry = readdir(d)); )
        if ((found = strncmp(entry->d_name, "test-", 5) == 0))
            JOIN(a->inner, a->outer, entry->d_name);
    if (d)
        closedir(d);
    return found;
}

/* It failed again, but left no waves: the last complaint says why. */
static bool refuse_by_log(const char *log, struct why *why)
{
    static const char complaint[] = "ordeal run: ";
    char line[512];
    FILE *f = fopen(log, "r");
    why_say(why, "there are no waves");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, complaint, strlen(complaint)) == 0)
            why_say(why, "%.*s", (int)strcspn(line + strlen(complaint), "\n"),
                    line + strlen(complaint));
    if (f)
        fclose(f);
    return false;
}

static bool run_replay(struct again *a, const char *path, struct why *why)
{
    char replay[NAME], program[PATH_MAX];
    struct child child;
    JOIN(replay, path, SAVED_REPLAY);
    JOIN(a->log, a->outer, "log");
    if (access(replay, R_OK) != 0)
        return refuse(why, replay, strerror(errno));
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    setenv("ORDEAL", program, 1);
    char *argv[] = { "sh", replay, "--waves", "--save", a->outer, NULL };
    if (!child_start(&child, argv, NULL, a->log, why))
        return false;
    if (child_wait(&child, 0) == CHILD_STOPPED)
        return refuse(why, replay, "interrupted");
    if (WIFEXITED(child.status) && WEXITSTATUS(child.status) == EXIT_FINE)
        return refuse(why, replay, "it does not fail any more; is it the same machine?");
    if (!WIFEXITED(child.status) || WEXITSTATUS(child.status) != EXIT_VIOLATION)
        return child_obituary(&child, replay, a->log, why), false;
    return find_inner(a) || refuse(why, replay, "it kept nothing");
}

static bool is_same_file(const char *a, const char *b)
{
    FILE *x = fopen(a, "r"), *y = fopen(b, "r");
    int c = !x == !y ? EOF : 0;      /* of a machine that broke neither is there */
    if (x && y)
        while ((c = fgetc(x)) == fgetc(y) && c != EOF)
            ;
    if (x)
        fclose(x);
    if (y)
        fclose(y);
    return c == EOF;
}

bool saved_make_waves(const char *path, struct why *why)
{
    struct again a;
    char before[NAME], now[NAME];
    snprintf(a.outer, sizeof a.outer, "%s/.again.XXXXXX", path);
    if (!mkdtemp(a.outer))
        return refuse(why, a.outer, strerror(errno));
    bool good = run_replay(&a, path, why);
    if (good) {
        JOIN(before, path, SAVED_TRACE);
        JOIN(now, a.inner, SAVED_TRACE);
        good = is_same_file(before, now)
            || refuse(why, path, "run again it does something else; is it the same machine?");
    }
    if (good) {
        JOIN(now, a.inner, SAVED_WAVES);
        JOIN(before, path, SAVED_WAVES);
        good = rename(now, before) == 0 || refuse_by_log(a.log, why);
    }
    remove_all(a.outer, 1);
    return good;
}
