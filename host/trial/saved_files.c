/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a folder that may come from anywhere: opened only if they are files, lie in it, and are
 * not larger than such files get. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cJSON.h>

#include "saved.h"

static const struct {
    const char *name;
    uint64_t most; /* bytes */
} bounds[] = {
    { SAVED_RUN, SAVED_RUN_BYTES },
    { SAVED_EXPLANATION, UINT64_C(1) << 26 },
    { SAVED_TEST, UINT64_C(1) << 28 },
    { SAVED_TRACE, UINT64_C(1) << 32 },
};

static uint64_t most_of(const char *name)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (strcmp(name, bounds[i].name) == 0)
            return bounds[i].most;
    return UINT64_MAX; /* it is not read by us: waves */
}

/* What is not a plain file is not opened: a pipe would wait, a device might do something. */
static bool is_good(const char *folder, const char *name, const struct stat *is, struct why *why)
{
    if (!S_ISREG(is->st_mode))
        return why_say(why,
                       "%.700s/%s: it is %s, and expected is a file; a folder may come from "
                       "anywhere, so nothing is opened through it",
                       folder, name, S_ISLNK(is->st_mode) ? "a link" : "something else");
    if ((uint64_t)is->st_size > most_of(name))
        return why_say(why, "%.700s/%s: it has %jd bytes, and expected are at most %" PRIu64,
                       folder, name, (intmax_t)is->st_size, most_of(name));
    return true;
}

/* Of a name in a folder of the folder: is that one no link? */
static bool is_within(char *path, size_t folder, struct why *why)
{
    struct stat is;
    char *slash = strrchr(path, '/');
    if (slash <= path + folder)
        return true;
    *slash = '\0';
    bool good = lstat(path, &is) != 0 || S_ISDIR(is.st_mode)
             || why_say(why, "%.900s: it is not a folder", path);
    *slash = '/';
    return good;
}

enum saved_there saved_is_there(const char *folder, const char *name, struct why *why)
{
    char path[PATH_MAX];
    struct stat is;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return why_say(why, "the name %.60s... is too long", folder), SAVED_REFUSED;
    if (!is_within(path, strlen(folder), why))
        return SAVED_REFUSED;
    if (lstat(path, &is) != 0) {
        why_say(why, "%.900s: %s", path, strerror(errno));
        return errno == ENOENT ? SAVED_ABSENT : SAVED_REFUSED;
    }
    return is_good(folder, name, &is, why) ? SAVED_THERE : SAVED_REFUSED;
}

enum saved_there saved_open(const char *folder, const char *name, FILE **in, struct why *why)
{
    char path[PATH_MAX];
    struct stat is;
    enum saved_there there = saved_is_there(folder, name, why);
    *in = NULL;
    if (there != SAVED_THERE)
        return there;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && fstat(file, &is) == 0 && is_good(folder, name, &is, why)
        && (*in = fdopen(file, "r")))
        return SAVED_THERE;
    if (file < 0 || S_ISREG(is.st_mode))
        why_say(why, "%.900s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    return SAVED_REFUSED;
}

enum { MOST_VERDICT = 1 << 26 };

void saved_words(const char *path, bool small, const char *key, char *words, size_t size)
{
    FILE *in;
    struct why why;
    *words = '\0';
    const char *name = small ? SAVED_SMALL "/" SAVED_VERDICT : SAVED_VERDICT;
    if (saved_open(path, name, &in, &why) != SAVED_THERE)
        return;
    char *text = malloc(MOST_VERDICT);
    size_t length = text ? fread(text, 1, MOST_VERDICT, in) : 0;
    fclose(in);
    cJSON *verdict = cJSON_ParseWithLength(text ? text : "", length);
    const char *found = cJSON_GetStringValue(cJSON_GetObjectItem(verdict, key));
    snprintf(words, size, "%s", found ? found : "");
    cJSON_Delete(verdict);
    free(text);
}
