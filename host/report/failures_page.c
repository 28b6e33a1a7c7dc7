/* SPDX-License-Identifier: Apache-2.0 */
#include "failures_page.h"

#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure_page.h"
#include "html.h"

enum { MOST_PAGES = 1000 };

struct folders {
    LIST(char *) path;
    size_t more; /* than there are pages for */
};

static void free_folders(struct folders *f)
{
    for (size_t i = 0; i < f->path.count; i++)
        free(f->path.data[i]);
    LIST_FREE(&f->path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool find_folders(const char *folder, struct folders *f)
{
    DIR *all = opendir(folder);
    bool good = all != NULL;
    for (struct dirent *e; good && (e = readdir(all));) {
        char *path;
        if (e->d_name[0] == '.' || asprintf(&path, "%s/%s", folder, e->d_name) < 0)
            continue;
        if (!failure_page_is(path))
            free(path);
        else if (!LIST_PUSH(&f->path, path))
            good = false, free(path);
    }
    if (all)
        closedir(all);
    LIST_SORT(&f->path, by_name);
    while (f->path.count > MOST_PAGES) {
        free(f->path.data[--f->path.count]);
        f->more++;
    }
    return good;
}

bool failures_page_is(const char *folder)
{
    struct folders f = { 0 };
    bool is = find_folders(folder, &f) && f.path.count;
    free_folders(&f);
    return is;
}

bool failures_page_write_one(struct site *s, const char *name, const char *folder,
                             const char *trail, bool no_waves, struct why *why)
{
    struct failure_page page = { .folder = folder, .prefix = name, .no_waves = no_waves };
    FILE *out = site_begin(s, name, site_base(folder), trail);
    if (!out)
        return false;
    html(out, "<header><p class=\"kicker\">Failing test</p><h1>%s</h1></header>\n",
         site_base(folder));
    bool good = failure_page_write(&page, out) || why_say(why, "out of memory");
    site_end(s);
    return good;
}

static void write_card(struct site *s, const char *path, size_t number, FILE *out)
{
    char name[SITE_NAME], link[SITE_NAME + 8];
    struct failure_page_line line;
    snprintf(name, sizeof name, "failure-%zu", number + 1);
    failure_page_line(path, &line);
    html(out, "<li><a class=\"card\" href=\"%s\"><b>%s</b>", site_link(s, name, link),
         site_base(path));
    if (*line.cause)
        html(out, " <span class=\"pill quiet\">%s</span>", line.cause);
    html(out, "<span class=\"soft\"><code>%s</code></span></a></li>\n", line.reason);
}

static bool write_index(struct site *s, const char *folder, const struct folders *f)
{
    FILE *out = site_begin(s, "index", site_base(folder), NULL);
    if (!out)
        return false;
    html(out,
         "<header><p class=\"kicker\">Failing tests</p><h1>%s</h1></header>\n"
         "<ul class=\"cards\">\n",
         site_base(folder));
    for (size_t i = 0; i < f->path.count; i++)
        write_card(s, f->path.data[i], i, out);
    fputs("</ul>\n", out);
    if (f->more)
        html(out, "<p class=\"note\">There are %zu more.</p>\n", f->more);
    site_end(s);
    return true;
}

bool failures_page_write(struct site *s, const char *folder, bool no_waves, struct why *why)
{
    struct folders f = { 0 };
    bool good = (find_folders(folder, &f) || why_say(why, "out of memory"))
             && (!site_wants(s, "index") || write_index(s, folder, &f));
    for (size_t i = 0; good && i < f.path.count; i++) {
        char name[SITE_NAME];
        snprintf(name, sizeof name, "failure-%zu", i + 1);
        if (site_wants(s, name))
            good = failures_page_write_one(s, name, f.path.data[i], "index", no_waves, why);
    }
    free_folders(&f);
    return good;
}

bool failures_page_folder(const char *folder, size_t number, char *path, size_t size)
{
    struct folders f = { 0 };
    bool is = find_folders(folder, &f) && number >= 1 && number <= f.path.count;
    if (is)
        snprintf(path, size, "%s", f.path.data[number - 1]);
    free_folders(&f);
    return is;
}
