/* SPDX-License-Identifier: Apache-2.0 */
#include "program_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_file.h"

enum { MOST_BYTES = 256 << 20 }; /* of an ELF file */

static bool read_elf(struct program_file *p, const char *name, struct ordeal_error *error)
{
    const char *reason;
    FILE *in = plain_file_open(name, &reason);
    if (!in)
        return error_bad(error, name, 0, "%s", reason);
    bool fine = fseek(in, 0, SEEK_END) == 0;
    long size = fine ? ftell(in) : -1;
    if (size < 0 || size > MOST_BYTES)
        fine = error_bad(error, name, 0, "it is no program: more than %d MB", MOST_BYTES >> 20);
    else if (!(p->elf = malloc((size_t)size + 1)))
        fine = error_out_of_memory(error, name);
    else if (fseek(in, 0, SEEK_SET) != 0 || fread(p->elf, 1, (size_t)size, in) != (size_t)size)
        fine = error_bad(error, name, 0, "it cannot be read: %s", strerror(errno));
    p->size = fine ? (size_t)size : 0;
    fclose(in);
    return fine;
}

/* "SOURCE:LINE" at the beginning of the text. */
static bool names_line(const char *text, const char *source, struct ordeal_error *error)
{
    size_t length = strlen(source);
    if (strncmp(text, source, length) != 0 || text[length] != ':'
        || !isdigit((unsigned char)text[length + 1]))
        return false;
    char *end;
    error->line = strtoul(text + length + 1, &end, 10);
    error->column = *end == ':' ? strtoul(end + 1, NULL, 10) : 0;
    return true;
}

/* The first thing that the compiler did not like, and where: in this source, or in what its line
 * includes. A compiler may say very much: nothing is looked at twice. */
static void take_place(struct ordeal_error *error, const char *source, const char *messages)
{
    static const char included[] = "In file included from ", word[] = "error: ";
    for (const char *line = messages, *next; line && *line; line = next) {
        const char *end = strchrnul(line, '\n');
        const char *what = memmem(line, (size_t)(end - line), word, sizeof word - 1);
        next = *end ? end + 1 : NULL;
        if (strncmp(line, included, sizeof included - 1) == 0)
            names_line(line + sizeof included - 1, source, error);
        if (!what)
            continue;
        what += sizeof word - 1;
        if (names_line(line, source, error) || error->line)
            snprintf(error->reason, sizeof error->reason, "%.*s",
                     end - what < 400 ? (int)(end - what) : 400, what);
        return;
    }
}

static bool compile(struct program_file *p, const struct compile_request *request,
                    struct ordeal_error *error)
{
    struct compiled c;
    struct why why;
    bool fine = compile_program(request, &c, &why);
    p->messages = c.messages;
    p->elf = c.elf;
    p->size = c.size;
    c.messages = NULL;
    c.elf = NULL;
    if (!fine) {
        error_bad(error, request->source[0], 0, "%s", why.text);
        for (size_t i = 0; p->messages && i < request->sources && !error->line; i++)
            take_place(error, request->source[i], p->messages);
    }
    compiled_free(&c);
    return fine;
}

static bool readable(const struct compile_request *request, struct ordeal_error *error)
{
    for (size_t i = 0; i < request->sources; i++) {
        const char *reason;
        FILE *in = plain_file_open(request->source[i], &reason);
        if (!in)
            return error_bad(error, request->source[i], 0, "%s", reason);
        fclose(in);
    }
    return true;
}

bool program_file_load(struct program_file *p, const struct compile_request *request,
                       struct ordeal_error *error)
{
    *p = (struct program_file){ 0 };
    bool source = compile_is_source(request->source[0]);
    return readable(request, error)
        && (source ? compile(p, request, error) : read_elf(p, request->source[0], error))
        && image_load(request->source[0], p->elf, p->size, &p->image, error);
}

void program_file_free(struct program_file *p)
{
    image_free(p->image);
    free(p->elf);
    free(p->messages);
    *p = (struct program_file){ 0 };
}
