/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/plain_file.h"

enum { MOST_BYTES = 4 << 20 }; /* of a source file that is looked at */

static void file_free(struct source_file *f)
{
    LIST_FREE(&f->line);
    free(f->text);
    free(f->name);
    free(f);
}

void lines_free(struct lines *l)
{
    for (size_t i = 0; i < l->files.count; i++)
        file_free(l->files.data[i]);
    LIST_FREE(&l->files);
}

/* ---- which line -------------------------------------------------------------------------- */

static bool is_of_library(const char *file)
{
    return strncmp(file, "/usr/", 5) == 0 || strstr(file, "ordeal-runtime/");
}

bool lines_own(const struct lines *l, uint32_t pc, struct source_place *place)
{
    for (int level = 0; pc && image_place_around(l->image, pc, level, place); level++)
        if (!is_of_library(place->file))
            return true;
    return false;
}

bool lines_place(const struct lines *l, const struct program_event *e, struct source_place *place)
{
    if (lines_own(l, e->pc, place))
        return true;
    for (int i = 0; i < EVENT_CALLERS && e->caller[i]; i++)
        if (lines_own(l, e->caller[i] - 1, place)) /* the call is before where it returns to */
            return true;
    return false;
}

const char *lines_near_name(const char *path)
{
    char here[PATH_MAX];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    bool below = length && strncmp(path, here, length) == 0 && path[length] == '/';
    return below ? path + length + 1 : path;
}

const char *lines_short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* ---- how it reads ------------------------------------------------------------------------ */

/* An ELF file may come without its sources: then there is nothing to tell. */
static bool is_absence(int error)
{
    return !error || error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP
        || error == ENAMETOOLONG || error == ENXIO;
}

static void say_missing(struct source_file *f, int error)
{
    if (!is_absence(error))
        snprintf(f->missing, sizeof f->missing, "(could not be read: %s)", strerror(error));
}

static void read_text(struct source_file *f)
{
    const char *reason;
    errno = 0;
    FILE *in = plain_file_open(f->name, &reason);
    f->text = in ? malloc(MOST_BYTES + 1) : NULL;
    size_t length = f->text ? fread(f->text, 1, MOST_BYTES, in) : 0;
    if (!f->text || ferror(in))
        say_missing(f, errno);
    if (in)
        fclose(in);
    if (f->text)
        f->text[length] = '\0';
}

static void split(struct source_file *f)
{
    for (char *p = f->text, *next; p; p = next) {
        if ((next = strchr(p, '\n')))
            *next++ = '\0';
        while (isspace((unsigned char)*p))
            p++;
        for (char *end = p + strlen(p); end > p && isspace((unsigned char)end[-1]); end--)
            end[-1] = '\0';
        if (!LIST_PUSH(&f->line, p)) {
            say_missing(f, ENOMEM);
            return;
        }
    }
}

static const struct source_file *find_file(struct lines *l, const char *name)
{
    for (size_t i = 0; i < l->files.count; i++)
        if (strcmp(l->files.data[i]->name, name) == 0)
            return l->files.data[i];
    struct source_file *f = calloc(1, sizeof *f);
    if (f && !((f->name = strdup(name)) && LIST_PUSH(&l->files, f))) {
        file_free(f);
        return NULL;
    }
    if (f) {
        read_text(f);
        split(f);
    }
    return f;
}

const char *lines_text(struct lines *l, const struct source_place *place)
{
    const struct source_file *f = find_file(l, place->file);
    if (!f)
        return "(could not be read: memory ran out)";
    if (*f->missing)
        return f->missing;
    return place->line && place->line <= f->line.count ? f->line.data[place->line - 1] : "";
}

void lines_put(struct lines *l, const char *name, const struct source_place *place,
               const char *between, FILE *out)
{
    escape_write(name, false, out);
    fprintf(out, ":%" PRIu32 "%s", place->line, between);
    escape_write(lines_text(l, place), false, out);
}
