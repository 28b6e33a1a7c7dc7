/* SPDX-License-Identifier: Apache-2.0 */
#include "site.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assets.h"
#include "html.h"

/* It lists the files of a report, so that no other is ever removed. */
static const char list_name[] = ".ordeal-report", list_head[] = "ordeal-report 1\n";

static void fail(struct site *s, const char *what, int error)
{
    if (!s->failed)
        why_say(&s->reason, "%.900s: %s", what, strerror(error));
    *s->why = s->reason;
    s->failed = true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static char *join(const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* ---- whose folder is it? ----------------------------------------------------------------------- */

static bool is_listed(FILE *list, const char *name)
{
    char line[SITE_NAME + 16];
    rewind(list);
    while (fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, name) == 0)
            return true;
    }
    return false;
}

static bool all_listed(DIR *folder, FILE *list, const char *path, struct why *why)
{
    for (struct dirent *e; (e = readdir(folder));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0
            && strcmp(e->d_name, list_name) != 0 && !is_listed(list, e->d_name))
            return why_say(why,
                           "%.700s: '%.200s' in it is not of a report, and a new report would take "
                           "the folder's place; name another folder",
                           path, e->d_name);
    return true;
}

static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    int entries = 0;
    while (folder && readdir(folder))
        entries++;
    if (folder)
        closedir(folder);
    return entries == 2;
}

static bool is_ours(const char *path, struct why *why)
{
    char head[sizeof list_head] = "", *name = join(path, list_name);
    FILE *list = name ? fopen(name, "re") : NULL;
    bool good = list && fgets(head, sizeof head, list) && strcmp(head, list_head) == 0;
    free(name);
    DIR *folder = good ? opendir(path) : NULL;
    if (folder)
        good = all_listed(folder, list, path, why);
    else
        good = why_say(why, "%.700s: it is there, and is not a report; name another folder", path);
    if (folder)
        closedir(folder);
    if (list)
        fclose(list);
    return good;
}

static bool may_take(const char *path, struct why *why)
{
    struct stat is;
    if (lstat(path, &is) != 0)
        return errno == ENOENT || why_say(why, "%.900s: %s", path, strerror(errno));
    if (!S_ISDIR(is.st_mode))
        return why_say(why, "%.700s: it is there, and is no folder; a single page ends in .html",
                       path);
    return is_empty(path) || is_ours(path, why);
}

/* ---- pages ------------------------------------------------------------------------------------- */

bool site_open(struct site *s, const char *target, struct why *why)
{
    *s = (struct site){ .target = target, .single = ends_with(target, ".html"), .why = why };
    if (!s->single && !may_take(target, why))
        return false;
    int error = s->single ? output_open(&s->file, target) : temporary_folder(&s->folder, target);
    if (error)
        fail(s, target, error);
    return !error;
}

void site_open_page(struct site *s, const char *name, const struct assets_live *live, FILE *out,
                    struct why *why)
{
    *s = (struct site){ .only = name, .live = live, .file.file = out, .why = why };
}

bool site_wants(const struct site *s, const char *name)
{
    return !s->only || strcmp(s->only, name) == 0;
}

const char *site_link(const struct site *s, const char *name, char link[SITE_NAME + 8])
{
    snprintf(link, SITE_NAME + 8, s->single ? "#%s" : "%s.html", name);
    return link;
}

const char *site_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void open_page(struct site *s, const char *name)
{
    char file[SITE_NAME + 8];
    snprintf(file, sizeof file, "%s.html", name);
    char *listed = strdup(file);
    free(s->path);
    s->path = join(s->folder.path, file);
    int error = s->path && listed && LIST_PUSH(&s->names, listed) ? output_open(&s->file, s->path)
                                                                  : ENOMEM;
    if (error)
        fail(s, file, error);
}

FILE *site_begin(struct site *s, const char *name, const char *title, const char *trail)
{
    char link[SITE_NAME + 8];
    if (!s->single && !s->only && !s->failed)
        open_page(s, name);
    if (s->failed)
        return NULL;
    FILE *out = s->file.file;
    if (!s->single || s->pages == 0)
        assets_begin(out, title, s->live);
    s->pages++;
    html(out, "<article class=\"page\" id=\"%s\" data-title=\"%s\">\n", name, title);
    fputs("<nav class=\"trail\" aria-label=\"Where you are\"><span class=\"mark\">ordeal</span>",
          out);
    if (trail)
        html(out, "<a href=\"%s\">\u2190 overview</a>", site_link(s, trail, link));
    fputs("</nav>\n", out);
    return out;
}

void site_end(struct site *s)
{
    if (s->failed)
        return;
    fputs("</article>\n", s->file.file);
    if (s->single)
        return;
    assets_end(s->file.file, s->live);
    int error = s->only ? 0 : output_finish(&s->file);
    if (error)
        fail(s, s->path, error);
}

/* ---- the end ----------------------------------------------------------------------------------- */

static int write_list(struct site *s)
{
    struct output out;
    char *path = join(s->folder.path, list_name);
    int error = path ? output_open(&out, path) : ENOMEM;
    if (!error) {
        fputs(list_head, out.file);
        for (size_t i = 0; i < s->names.count; i++)
            fprintf(out.file, "%s\n", s->names.data[i]);
        error = output_finish(&out);
    }
    free(path);
    return error;
}

/* The files on its list, and it itself if nothing else is in it. */
static void remove_report(const char *path)
{
    char line[SITE_NAME + 16], *name = join(path, list_name), *file;
    FILE *list = name ? fopen(name, "re") : NULL;
    while (list && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        if (ends_with(line, ".html") && !strchr(line, '/') && (file = join(path, line))) {
            unlink(file);
            free(file);
        }
    }
    if (list) {
        fclose(list);
        unlink(name);
    }
    rmdir(path);
    free(name);
}

/* Where there is a report the two change places at once, so that there always is one. */
static int exchange(struct site *s)
{
    if (!may_take(s->target, s->why)) /* somebody was faster */
        return EEXIST;
    if (renameat2(AT_FDCWD, s->folder.path, AT_FDCWD, s->target, RENAME_EXCHANGE) != 0)
        return errno;
    remove_report(s->folder.path);
    temporary_release(&s->folder);
    return 0;
}

static int take_place(struct site *s)
{
    mode_t mask = umask(0);
    umask(mask);
    chmod(s->folder.path, 0777 & ~mask);
    if (rename(s->folder.path, s->target) == 0) {
        temporary_release(&s->folder);
        return 0;
    }
    return errno == ENOTEMPTY || errno == EEXIST ? exchange(s) : errno;
}

static int commit_folder(struct site *s)
{
    int error = write_list(s);
    if (!error)
        error = output_sync_folder(s->folder.path);
    if (!error)
        error = take_place(s);
    return error ? error : output_sync_parent(s->target);
}

static void forget(struct site *s)
{
    for (size_t i = 0; i < s->names.count; i++)
        free(s->names.data[i]);
    LIST_FREE(&s->names);
    free(s->path);
    s->path = NULL;
}

bool site_commit(struct site *s)
{
    if (!s->failed && s->single)
        assets_end(s->file.file, NULL);
    int error = s->failed ? 0 : s->single ? output_commit(&s->file) : commit_folder(s);
    if (error)
        fail(s, s->target, error);
    site_abandon(s);
    return !s->failed;
}

void site_give_up(struct site *s)
{
    bool full = s->file.file && ferror(s->file.file);
    int error = full ? output_finish(&s->file) : ENOMEM;
    if (s->failed || full || !s->why->text[0])
        fail(s, s->target, error);
    site_abandon(s);
}

void site_abandon(struct site *s)
{
    output_abandon(&s->file);
    temporary_remove(&s->folder);
    forget(s);
}
