/* SPDX-License-Identifier: Apache-2.0 */
#include "example.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The length of the first word of a path; false: it is none that leads down. */
static bool leads_down(const char *name, size_t *length)
{
    *length = strcspn(name, "/");
    return *length > 0 && !(*length == 1 && name[0] == '.')
        && !(*length == 2 && name[0] == '.' && name[1] == '.');
}

static bool is_folder(const char *path)
{
    struct stat is;
    return lstat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

/* Each folder on the way is a folder, and none is a link. */
bool example_folder(const char *database, const char *name, char *path, size_t size)
{
    int whole = snprintf(path, size, "%s-files/%s", database, name);
    if (whole < 0 || (size_t)whole >= size)
        return false;
    size_t length, at = strlen(path) - strlen(name);
    bool good = *name != '\0';
    while (good && path[at]) {
        good = leads_down(path + at, &length);
        at += length;
        char end = path[at];
        path[at] = '\0';
        good = good && is_folder(path);
        path[at] = end;
        at += end == '/';
    }
    return good;
}
