/* SPDX-License-Identifier: Apache-2.0 */
#include "fence_words.h"

#include <inttypes.h>
#include <string.h>

#include "lines.h"

bool fence_words_place(const struct image *image, uint32_t pc, struct source_place *place)
{
    struct lines l = { .image = image };
    struct program_event e = { .kind = EVENT_STORE, .pc = pc };
    return lines_place(&l, &e, place) || image_place(image, pc, place);
}

static const char *name_of(const struct fence_needed *f)
{
    return f->place.fence == FENCE_AFTER_STORE ? "mfence" : "sfence";
}

/* What goes wrong without it; an error of the program's own, or "not-sc" (--robust). */
static const char *without(const struct fence_needed *f)
{
    return f->without == EXPLORE_REACHED && strcmp(f->text, fence_not_sc) == 0
             ? "not-sc"
             : explore_error_text(f->without);
}

cJSON *fence_words_object(const struct image *image, const struct fence_needed *f)
{
    cJSON *o = cJSON_CreateObject();
    struct source_place at;
    cJSON_AddStringToObject(o, "fence", name_of(f));
    cJSON_AddStringToObject(o, "where", f->place.fence == FENCE_AFTER_STORE ? "behind" : "before");
    if (fence_words_place(image, f->place.pc, &at)) {
        cJSON_AddStringToObject(o, "file", lines_near_name(at.file));
        cJSON_AddNumberToObject(o, "line", at.line);
        cJSON_AddNumberToObject(o, "column", at.column);
        if (at.function)
            cJSON_AddStringToObject(o, "function", at.function);
    }
    cJSON_AddNumberToObject(o, "pc", f->place.pc);
    if (f->without != EXPLORE_NO_ERROR)
        cJSON_AddStringToObject(o, "without", without(f));
    return o;
}

static void add_sets(cJSON *line, const struct image *image, const struct fence_result *r)
{
    cJSON *sets = cJSON_AddArrayToObject(line, "sets");
    for (size_t i = 0; i < r->sets; i++) {
        cJSON *set = cJSON_CreateArray();
        for (size_t k = 0; k < r->set[i].fences; k++)
            cJSON_AddItemToArray(set, fence_words_object(image, &r->set[i].fence[k]));
        cJSON_AddItemToArray(sets, set);
    }
}

static void add_error(cJSON *line, const struct image *image, const struct fence_result *r)
{
    struct source_place at;
    char text[1024];
    cJSON_AddStringToObject(line, "under", explore_model_names[r->model]);
    cJSON_AddStringToObject(line, "error", explore_error_text(r->error));
    if (r->pc && fence_words_place(image, r->pc, &at)) {
        snprintf(text, sizeof text, "%s:%" PRIu32, lines_near_name(at.file), at.line);
        cJSON_AddStringToObject(line, "at", text);
    }
    if (r->text[0])
        cJSON_AddStringToObject(line, "what", r->text);
}

static double rounded(double n) { return (double)(long long)(n * 1000 + 0.5) / 1000; }

void fence_words_line(cJSON *line, const struct image *image, const struct fence_result *r,
                      bool json)
{
    const struct fence_set *first = r->sets ? &r->set[0] : NULL;
    if (r->verdict == EXPLORE_FAIL)
        add_error(line, image, r);
    if (r->verdict == EXPLORE_PASS && first) {
        cJSON_AddNumberToObject(line, "mfences", (double)first->mfences);
        cJSON_AddNumberToObject(line, "sfences", (double)(first->fences - first->mfences));
        if (!json && r->sets > 1)
            cJSON_AddNumberToObject(line, "sets", (double)r->sets);
        if (json)
            add_sets(line, image, r);
        cJSON_AddNumberToObject(line, "states", (double)first->states);
    }
    if (r->iterations)
        cJSON_AddNumberToObject(line, "iterations", r->iterations);
    cJSON_AddNumberToObject(line, "searches", r->searches);
    cJSON_AddNumberToObject(line, "all_states", (double)r->total.states);
    cJSON_AddNumberToObject(line, "seconds", rounded(r->total.seconds));
}

void fence_words_one(struct lines *l, const struct fence_needed *f, FILE *out)
{
    struct source_place at;
    const char *where = f->place.fence == FENCE_AFTER_STORE ? "behind" : "before";
    fprintf(out, "%s %s ", name_of(f), where);
    if (fence_words_place(l->image, f->place.pc, &at))
        lines_put(l, lines_near_name(at.file), &at, ": ", out);
    else
        fprintf(out, "the store at 0x%08" PRIx32, f->place.pc);
    if (f->without != EXPLORE_NO_ERROR)
        fprintf(out, "  without=%s", without(f));
    putc('\n', out);
}

void fence_words_print(const struct image *image, const struct fence_result *r, FILE *out)
{
    struct lines l = { .image = image };
    for (size_t i = 0; r->verdict == EXPLORE_PASS && i < r->sets; i++) {
        if (r->sets > 1)
            fprintf(out, "  set %zu: mfences=%zu sfences=%zu\n", i + 1, r->set[i].mfences,
                    r->set[i].fences - r->set[i].mfences);
        for (size_t k = 0; k < r->set[i].fences; k++) {
            fputs(r->sets > 1 ? "    " : "  ", out);
            fence_words_one(&l, &r->set[i].fence[k], out);
        }
    }
    lines_free(&l);
}
