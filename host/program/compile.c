/* SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/plain_file.h"
#include "base/text.h"
#include "compile_parts.h"
#include "lower_atomics.h"

/* ---- sources --------------------------------------------------------------------------------- */

static const struct kind {
    const char *end;
    bool cpp;
} kinds[] = {
    { ".c", false }, { ".i", false }, { ".cpp", true }, { ".cc", true }, { ".cxx", true }
};

static const struct kind *kind_of(const char *name)
{
    const char *end = strrchr(name, '.');
    for (size_t k = 0; end && k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(end, kinds[k].end) == 0)
            return &kinds[k];
    return NULL;
}

bool compile_is_source(const char *name) { return kind_of(name) != NULL; }

bool compile_is_cpp(const char *name) { return kind_of(name) && kind_of(name)->cpp; }

/* ---- steps ----------------------------------------------------------------------------------- */

/* A program that was preprocessed, maybe by another compiler and with the headers of another machine. */
static void add_preprocessed(struct work *w, struct command_words *words, bool is_source)
{
    command_add(words, "-w");
    if (is_source) {
        command_add(words, "-xc");
        command_add(words, "-include%s/preprocessed.h", w->runtime);
    }
}

static bool run_clang(struct work *w, size_t k, const char *const *more, const char *input,
                      const char *output)
{
    const struct compile_request *r = w->request;
    struct command_words words = { 0 };
    char name[PATH_MAX], number[32];
    command_clang(&words, w, compile_is_cpp(r->source[k]));
    command_add(&words, r->optimise ? "-O2" : "-O0");
    if (strcmp(strrchr(r->source[k], '.'), ".i") == 0)
        add_preprocessed(w, &words, input == r->source[k]);
    for (size_t d = 0; d < r->defines; d++)
        command_add(&words, "-D%s", r->define[d]);
    for (size_t d = 0; d < r->includes; d++)
        command_add(&words, "-I%s", r->include[d]);
    command_add_all(&words, more);
    command_add(&words, "%s", child_argument(input, name, sizeof name));
    command_add(&words, "-o%s", output);
    snprintf(number, sizeof number, "%zu", k);
    return compile_run(w, &words, number, true);
}

static bool lower_file(struct work *w, const char *from, const char *to)
{
    FILE *in = fopen(from, "re"), *out = fopen(to, "we");
    bool good = in && out && lower_atomics(in, out, w->request->x86_atomics, w->why);
    if (in)
        fclose(in);
    if (out && fclose(out) != 0)
        good = why_say(w->why, "%s: %s", to, strerror(errno));
    return good;
}

/* clang tells itself the last part of a name alone, and takes what begins with '@' for a file of options, one
 * of which may be a plugin to load. */
static bool is_a_name(const char *source, struct why *why)
{
    const char *slash = strrchr(source, '/');
    return *(slash ? slash + 1 : source) != '@'
        || why_say(why,
                   "%s: compilers take such a name for a file of options; name it without the '@'",
                   source);
}

/* By way of LLVM's assembly; what was optimised is not optimised again. */
static bool compile_source(struct work *w, size_t k)
{
    static const char *const to_text[] = { "-S", "-emit-llvm", NULL };
    static const char *const to_object[] = { "-c", "-Xclang", "-disable-llvm-passes", NULL };
    char text[PATH_MAX + 64], lowered[PATH_MAX + 64], object[PATH_MAX + 64];
    const char *source = w->request->source[k];
    snprintf(text, sizeof text, "%s/%zu.ll", w->folder.path, k);
    snprintf(lowered, sizeof lowered, "%s/%zu.atomics.ll", w->folder.path, k);
    snprintf(object, sizeof object, "%s/%zu.o", w->folder.path, k);
    if (!is_a_name(source, w->why))
        return false;
    if (run_clang(w, k, to_text, source, text))
        return lower_file(w, text, lowered) && run_clang(w, k, to_object, lowered, object);
    struct why reason = *w->why;
    return !w->stopped && why_say(w->why, "%s does not compile: %s", source, reason.text);
}

/* clang-format off */
static const char *const link_flags[] = {
    "ld.lld", "-static", "--gc-sections", "--color-diagnostics=never", "--no-demangle", "--error-limit=0",
    "-znorelro", "-e", "_start", "-u", "__ordeal_thread_end", NULL
};
/* clang-format on */

/* For the engine, or for a chip with what lies under the program there. */
static void add_place(struct work *w, struct command_words *words)
{
    if (!w->request->chip) {
        command_add(words, "--image-base=0x10000");
        return;
    }
    command_add(words, "-T%s/chip/link.ld", w->runtime);
    command_add(words, "%s/chip_start.o", w->objects);
    command_add(words, "%s/chip_kernel.o", w->objects);
}

/* The symbol is what program/image_frame.c relies on. */
bool compile_link(struct work *w, const char *stubs, const char *output, bool tell)
{
    struct command_words words = { 0 };
    command_add_all(&words, link_flags);
    add_place(w, &words);
    command_add(&words, "-o%s", output);
    if (!w->request->optimise)
        command_add(&words, "--defsym=__ordeal_unoptimised=1");
    for (size_t k = 0; k < w->request->sources; k++)
        command_add(&words, "%s/%zu.o", w->folder.path, k);
    command_add(&words, "%s/calls.o", w->objects);
    command_add(&words, "%s/runtime.o", w->objects);
    if (*w->library)
        command_add(&words, "%s/library.o", w->objects);
    if (stubs)
        command_add(&words, "%s", stubs);
    command_add(&words, "%s", w->helpers);
    return compile_run(w, &words, stubs ? "stubs-link" : "link", tell);
}

bool compile_read(struct work *w, const char *path, uint8_t **bytes, size_t *size)
{
    const char *reason;
    FILE *in = plain_file_open(path, &reason);
    if (!in)
        return why_say(w->why, "%s: %s", path, reason);
    long length = fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
    rewind(in);
    *bytes = length >= 0 ? malloc((size_t)length + 1) : NULL;
    *size = (size_t)length;
    bool good = *bytes && fread(*bytes, 1, *size, in) == *size;
    fclose(in);
    return good || why_say(w->why, "%s cannot be read", path);
}

static bool compile_all(struct work *w, struct compiled *c)
{
    char output[PATH_MAX + 64];
    bool good = compile_runtime(w);
    snprintf(output, sizeof output, "%s/program.elf", w->folder.path);
    for (size_t k = 0; good && k < w->request->sources; k++)
        good = compile_source(w, k);
    if (!good)
        return false;
    if (!compile_link(w, NULL, output, false))
        return !w->stopped && compile_explain(w);
    return compile_read(w, output, &c->elf, &c->size);
}

bool compile_program(const struct compile_request *request, struct compiled *c, struct why *why)
{
    struct work w = { .request = request, .why = why };
    size_t size;
    *c = (struct compiled){ 0 };
    w.messages = text_stream(&c->messages, &size);
    if (!w.messages)
        return why_say(why, "out of memory");
    bool good = compile_find(&w) && temporary_room(&w.folder, "program", why) && compile_all(&w, c);
    temporary_remove(&w.folder);
    if (fclose(w.messages) != 0)
        good = why_say(why, "out of memory");
    c->stopped = w.stopped;
    return good;
}

void compiled_free(struct compiled *c)
{
    free(c->elf);
    free(c->messages);
    *c = (struct compiled){ 0 };
}
