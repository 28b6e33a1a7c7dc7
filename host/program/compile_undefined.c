/* SPDX-License-Identifier: Apache-2.0 */
/* Who calls what nobody has. The linker knows the names, but not the lines; so the program is linked once
 * more with stubs for them, and its calls of these are looked up in its debug information. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/plain_file.h"
#include "compile_parts.h"
#include "image.h"

/* Of libstdc++. */
extern char *demangle(const char *name, char *to, size_t *size,
                      int *status) __asm__("__cxa_demangle");

struct names {
    LIST(char *) list;
};

static void free_names(struct names *n)
{
    for (size_t k = 0; k < n->list.count; k++)
        free(n->list.data[k]);
    LIST_FREE(&n->list);
}

static void read_names(const struct work *w, struct names *n)
{
    static const char marker[] = "undefined symbol: ";
    char log[PATH_MAX + 64], line[4096];
    const char *reason;
    snprintf(log, sizeof log, "%s/link.log", w->folder.path);
    FILE *in = plain_file_open(log, &reason);
    while (in && fgets(line, sizeof line, in)) {
        const char *at = strstr(line, marker);
        char *name = at ? strdup(at + sizeof marker - 1) : NULL;
        if (!name)
            continue;
        name[strcspn(name, "\r\n")] = '\0';
        if (!LIST_PUSH(&n->list, name))
            free(name);
    }
    if (in)
        fclose(in);
}

static bool write_stubs(const struct work *w, const struct names *n, char *path, size_t size)
{
    snprintf(path, size, "%s/stubs.S", w->folder.path);
    FILE *out = fopen(path, "we");
    for (size_t k = 0; out && k < n->list.count; k++)
        fprintf(out,
                ".globl \"%1$s\"\n.type \"%1$s\", @function\n\"%1$s\": ebreak\n.size \"%1$s\", 4\n",
                n->list.data[k]);
    return out && fclose(out) == 0;
}

static bool link_with_stubs(struct work *w, const struct names *n, struct image **image)
{
    char source[PATH_MAX + 64], object[PATH_MAX + 64], elf[PATH_MAX + 64];
    struct command_words words = { 0 };
    struct ordeal_error error;
    uint8_t *bytes = NULL;
    size_t size;
    snprintf(object, sizeof object, "%s/stubs.o", w->folder.path);
    snprintf(elf, sizeof elf, "%s/stubs.elf", w->folder.path);
    if (!write_stubs(w, n, source, sizeof source))
        return false;
    command_clang(&words, w, false);
    command_add_all(&words, (const char *const[]){ "-c", source, "-o", object, NULL });
    bool good = compile_run(w, &words, "stubs", false) && compile_link(w, object, elf, false)
             && compile_read(w, elf, &bytes, &size) && image_load(elf, bytes, size, image, &error);
    free(bytes);
    return good;
}

/* All are messages, the first one is the reason. */
static void tell_name(struct work *w, const char *place, const char *mangled)
{
    bool of_cpp = strncmp(mangled, "_Z", 2) == 0; /* C's `h` reads as a type: unsigned char */
    char *demangled = of_cpp ? demangle(mangled, NULL, NULL, NULL) : NULL;
    char text[sizeof w->why->text];
    const char *name = demangled ? demangled : mangled;
    if (strcmp(name, "main") == 0)
        snprintf(text, sizeof text, "the program has no main");
    else
        snprintf(text, sizeof text, "%scalls %s, which the run-time does not have", place, name);
    if (!w->explained)
        why_say(w->why, "%s; docs/programs.md has the list", text);
    w->explained = true;
    fprintf(w->messages, "%s\n", text);
    free(demangled);
}

/* The first call of this function from `from` on; 0: there is none. */
static uint32_t next_call(const struct image *i, uint32_t function, uint32_t from)
{
    const struct segment *segment;
    size_t segments = image_segments(i, &segment);
    for (size_t k = 0; k < segments; k++) {
        uint32_t pc = from > segment[k].address ? from : segment[k].address;
        for (; pc - segment[k].address < segment[k].size; pc += 4)
            if (image_call_target(i, pc) == function)
                return pc;
    }
    return 0;
}

/* Whose line it is: of a header of the library, rather who calls the function that is there. */
static bool own_place(const struct image *i, uint32_t pc, struct source_place *place)
{
    enum { DEEPEST = 16 };
    bool known = image_place(i, pc, place);
    for (int depth = 0; known && depth < DEEPEST && strncmp(place->file, "/usr/", 5) == 0;
         depth++) {
        struct source_place caller;
        const struct symbol *s = image_symbol_at(i, pc);
        pc = s ? next_call(i, s->address, 0) : 0;
        if (!pc || !image_place(i, pc, &caller))
            break;
        *place = caller;
    }
    return known;
}

/* Each line that calls it once; false: nobody does. */
static bool tell_callers(struct work *w, const struct image *i, const char *name)
{
    const struct symbol *stub = image_symbol_named(i, name);
    struct source_place place, last = { 0 };
    char text[PATH_MAX + 512];
    for (uint32_t pc = 0; stub && (pc = next_call(i, stub->address, pc)); pc += 4) {
        if (!own_place(i, pc, &place) || (place.line == last.line && place.file == last.file))
            continue;
        snprintf(text, sizeof text, "%s:%u: %s ", place.file, place.line,
                 place.function ? place.function : "somebody");
        tell_name(w, text, name);
        last = place;
    }
    return last.line != 0;
}

bool compile_explain(struct work *w)
{
    struct names names = { 0 };
    struct image *image = NULL;
    read_names(w, &names);
    bool found = names.list.count && link_with_stubs(w, &names, &image);
    for (size_t k = 0; k < names.list.count; k++)
        if (!found || !tell_callers(w, image, names.list.data[k]))
            tell_name(w, "the program ", names.list.data[k]);
    image_free(image);
    free_names(&names);
    return false;
}
