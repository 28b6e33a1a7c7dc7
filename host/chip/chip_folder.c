/* SPDX-License-Identifier: Apache-2.0 */
#include "chip_folder.h"

#include <inttypes.h>
#include <string.h>

#include "base/plain_file.h"
#include "tell/output_line.h"

static bool put_program(void *user, FILE *out)
{
    const struct chip_failure *f = user;
    size_t size;
    const uint8_t *elf = on_chip_elf(f->program, &size);
    return fwrite(elf, 1, size, out) == size;
}

static bool put_trace(void *user, FILE *out)
{
    return ordeal_write_text(on_chip_trace(((const struct chip_failure *)user)->verdict), out)
        == ORDEAL_OK;
}

static bool put_text(void *user, FILE *out)
{
    return on_chip_text(((const struct chip_failure *)user)->verdict, out);
}

static bool put_picture(void *user, FILE *out)
{
    return on_chip_picture(((const struct chip_failure *)user)->verdict, out);
}

static bool put_line(void *user, FILE *out)
{
    return output_line_write(((const struct chip_failure *)user)->line, false, out);
}

static bool put_json(void *user, FILE *out)
{
    return output_line_write(((const struct chip_failure *)user)->line, true, out);
}

/* The sources as they were. */
static bool put_source(void *user, FILE *out)
{
    const char *reason;
    FILE *in = plain_file_open(user, &reason);
    char part[4096];
    for (size_t n; in && (n = fread(part, 1, sizeof part, in)) > 0;)
        fwrite(part, 1, n, out);
    if (in)
        fclose(in);
    return true;
}

static bool put_sources(const struct chip_failure *f, const char *folder, struct why *why)
{
    bool good = true;
    for (size_t k = 0; good && k < f->request->sources; k++) {
        const char *source = f->request->source[k], *slash = strrchr(source, '/');
        if (compile_is_source(source))
            good = saved_put(folder, slash ? slash + 1 : source, put_source, (void *)source, why);
    }
    return good;
}

static bool fill(void *user, const char *folder, struct why *why)
{
    struct chip_failure *f = user;
    static const struct {
        const char *name;
        bool (*write)(void *user, FILE *out);
    } files[] = { { CHIP_PROGRAM, put_program },   { SAVED_TRACE, put_trace },
                  { SAVED_EXPLANATION, put_text }, { "picture.svg", put_picture },
                  { "verdict.txt", put_line },     { "verdict.json", put_json } };
    bool good = put_sources(f, folder, why);
    for (size_t k = 0; good && k < sizeof files / sizeof *files; k++)
        good = saved_put(folder, files[k].name, files[k].write, f, why);
    return good && saved_put_replay(folder, &f->run, why);
}

bool chip_folder_write(const struct chip_failure *f, char *path, size_t size, struct why *why)
{
    char label[64];
    const char *source = f->request->source[0], *slash = strrchr(source, '/');
    const char *name = slash ? slash + 1 : source;
    snprintf(label, sizeof label, "%.*s-%06" PRIu64, (int)strcspn(name, "."), name,
             f->run.first_iteration);
    struct saved_filling filling = { f->directory, label, fill, (void *)f };
    return saved_fill(&filling, path, size, why);
}

static void widen(struct waves_view *view, uint32_t cycle)
{
    enum { BEFORE = 200, AFTER = 50 };
    uint64_t first = cycle > BEFORE ? cycle - BEFORE : 1, last = cycle + UINT64_C(1) * AFTER;
    if (!view->last || first < view->first)
        view->first = first;
    if (last > view->last)
        view->last = last;
}

/* The operations of the violation, or the program's own error. */
static void look(const struct chip_failure *f, struct waves_view *view)
{
    uint32_t hart, cycle;
    char text[sizeof view->mark[0].text];
    for (size_t i = 0; on_chip_core(f->verdict, i, &hart, &cycle, text, sizeof text); i++) {
        if (!cycle)
            continue;
        widen(view, cycle);
        view->harts |= 1u << hart;
        if (view->marks == MOST_MARKS)
            continue;
        struct waves_mark *m = &view->mark[view->marks++];
        *m = (struct waves_mark){ .hart = hart, .cycle = cycle };
        snprintf(m->text, sizeof m->text, "%s", text);
    }
    if (!view->last && on_chip_cycle(f->verdict))
        widen(view, on_chip_cycle(f->verdict));
}

bool chip_folder_waves(const struct chip_failure *f, const char *path,
                       const struct saved_waves_maker *maker, struct why *why)
{
    struct waves_view view = { 0 };
    look(f, &view);
    return saved_add_waves(path, maker, &view, why);
}
