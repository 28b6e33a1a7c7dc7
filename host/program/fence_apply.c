/* SPDX-License-Identifier: Apache-2.0 */
#include "fence_apply.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/list.h"
#include "base/output.h"
#include "base/plain_file.h"
#include "fence_patch.h"
#include "fence_words.h"
#include "lines.h"
#include "program_file.h"

enum { SMALL_BUFFERS = 2, MOST_SOURCE = 1 << 24 };

/* What is compiled again: for each source its own name, or that of the one with fences. */
struct patched {
    LIST(struct fence_patch) patch;
    LIST(char *) name;
    LIST(char *) folder; /* of the sources, for what they include */
    size_t changed;
};

static bool no_memory(struct why *why) { return why_say(why, "out of memory"); }

/* The request's name of a source as debug information names it; NULL: it is none of them. */
static const char *source_named(const struct compile_request *r, const char *path)
{
    char one[PATH_MAX], other[PATH_MAX];
    if (!realpath(path, one))
        return NULL;
    for (size_t i = 0; i < r->sources; i++)
        if (realpath(r->source[i], other) && strcmp(one, other) == 0)
            return r->source[i];
    return NULL;
}

static bool collect(const struct fence_application *a, struct patched *p, struct why *why)
{
    for (size_t i = 0; i < a->set->fences; i++) {
        const struct fence_place *f = &a->set->fence[i].place;
        struct source_place at;
        if (!fence_words_place(a->image, f->pc, &at))
            return why_say(why, "nobody knows where the store at 0x%08x is written", f->pc);
        const char *file = source_named(&a->request, at.file);
        if (!file)
            return why_say(why,
                           "%s:%u is in none of the sources that were named; put the fence there "
                           "by hand",
                           lines_near_name(at.file), at.line);
        struct fence_patch patch = { file, at.line, at.column, f->fence == FENCE_BEFORE_STORE };
        if (!LIST_PUSH(&p->patch, patch))
            return no_memory(why);
    }
    return true;
}

static char *read_source(const char *name, struct why *why)
{
    const char *reason = NULL;
    FILE *in = plain_file_open(name, &reason);
    char *text = in ? malloc(MOST_SOURCE + 1) : NULL;
    size_t length = text ? fread(text, 1, MOST_SOURCE, in) : 0;
    if (in)
        fclose(in);
    if (text)
        text[length] = '\0';
    if (!text)
        why_say(why, "%s: %s", name, in ? "out of memory" : reason);
    return text;
}

static bool write_source(const char *name, const char *text, struct why *why)
{
    struct output out;
    int error = output_open(&out, name);
    if (!error) {
        error = fputs(text, out.file) < 0 ? errno : output_commit(&out);
        output_abandon(&out);
    }
    return !error || why_say(why, "%s: %s", name, strerror(error));
}

/* Where a source goes: the file that was asked for, or one of its name in that folder. */
static bool name_for(const struct fence_application *a, const char *source, char *name, size_t size,
                     struct why *why)
{
    struct stat info;
    size_t length = strlen(a->to);
    bool folder = a->request.sources > 1 || (length && a->to[length - 1] == '/')
               || (stat(a->to, &info) == 0 && S_ISDIR(info.st_mode));
    int error = folder ? output_directory(a->to) : 0;
    if (error)
        return why_say(why, "%s: %s", a->to, strerror(error));
    int written = folder && length
                    ? snprintf(name, size, "%s%s%s", a->to, a->to[length - 1] == '/' ? "" : "/",
                               lines_short_name(source))
                    : snprintf(name, size, "%s", a->to);
    if (written < 0 || (size_t)written >= size)
        return why_say(why, "%s: the name is too long", a->to);
    char one[PATH_MAX], other[PATH_MAX];
    if (realpath(source, one) && realpath(name, other) && strcmp(one, other) == 0)
        return why_say(why, "%s is the source itself: name another file", name);
    return true;
}

static bool patch_source(const struct fence_application *a, struct patched *p, const char *source,
                         struct why *why)
{
    char name[PATH_MAX];
    bool changed = false;
    char *text = read_source(source, why), *slash;
    char *fenced = text
                     ? fence_patch_text(source, text, p->patch.data, p->patch.count, &changed, why)
                     : NULL;
    bool fine = fenced && (!changed || name_for(a, source, name, sizeof name, why))
             && (!changed || write_source(name, fenced, why));
    char *copy = strdup(changed ? name : source), *folder = strdup(source);
    free(text);
    free(fenced);
    if (folder && (slash = strrchr(folder, '/')))
        *slash = '\0';
    else if (folder)
        strcpy(folder, ".");
    p->changed += changed;
    if (fine && (!copy || !folder || !LIST_PUSH(&p->name, copy) || !LIST_PUSH(&p->folder, folder)))
        return no_memory(why);
    if (!fine) {
        free(copy);
        free(folder);
    }
    return fine;
}

/* ---- exploring it again ----------------------------------------------------------------------- */

static bool explore_unbounded(struct fence_application *a, const struct image *image,
                              const char *file, struct why *why)
{
    struct fence_options how = { .explore = *a->explore };
    struct fence_result *r;
    struct ordeal_error error;
    if (fence_find(image, &how, &r, &error) != ORDEAL_OK)
        return why_say(why, "%s", error.reason);
    bool more = r->sets && r->set[0].fences;
    enum explore_verdict verdict = r->verdict == EXPLORE_PASS && more ? EXPLORE_FAIL : r->verdict;
    a->tell(a->user, &(struct fence_again){ file, verdict, r->sets ? r->set[0].states : 0, 0,
                                            more ? "it needs more fences" : r->note });
    fence_result_free(r);
    return true;
}

static bool explore_bounded(struct fence_application *a, const struct image *image,
                            const char *file, struct why *why)
{
    struct explore_options how = *a->explore;
    struct explore_result *r;
    struct ordeal_error error;
    how.buffers = SMALL_BUFFERS;
    if (how.model == EXPLORE_PSO)
        how.local &= (uint8_t)~EXPLORE_LOCAL_DYNAMIC;
    if (explore(image, &how, &r, &error) != ORDEAL_OK)
        return why_say(why, "%s", error.reason);
    a->tell(a->user, &(struct fence_again){ file, r->verdict, r->at_end.states, SMALL_BUFFERS,
                                            r->findings ? explore_error_text(r->finding[0].error)
                                                        : r->note });
    explore_result_free(r);
    return true;
}

static bool explore_again(struct fence_application *a, const struct patched *p, struct why *why)
{
    struct compile_request request = a->request;
    struct program_file program = { 0 };
    struct ordeal_error error = { 0 };
    const char *file = p->name.data[0];
    for (size_t i = 0; i < p->name.count; i++)
        if (strcmp(p->name.data[i], a->request.source[i]) != 0)
            file = p->name.data[i];
    request.source = (const char *const *)p->name.data;
    request.include = (const char *const *)p->folder.data;
    request.includes = p->folder.count;
    bool fine = program_file_load(&program, &request, &error);
    if (!fine)
        why_say(why, "%s: %s", file, error.reason);
    fine = fine && explore_unbounded(a, program.image, file, why)
        && explore_bounded(a, program.image, file, why);
    program_file_free(&program);
    return fine;
}

bool fence_apply(struct fence_application *a, struct why *why)
{
    struct patched p = { 0 };
    bool fine = collect(a, &p, why);
    for (size_t i = 0; fine && i < a->request.sources; i++)
        fine = patch_source(a, &p, a->request.source[i], why);
    fine = fine && (!p.changed || explore_again(a, &p, why));
    for (size_t i = 0; i < p.name.count; i++) {
        free(p.name.data[i]);
        free(p.folder.data[i]);
    }
    LIST_FREE(&p.name);
    LIST_FREE(&p.folder);
    LIST_FREE(&p.patch);
    return fine;
}
