/* SPDX-License-Identifier: Apache-2.0 */
/* What debug information says of lines, functions and variables, read once into tables of our own:
 * the library's are filled on demand, and so not for several threads. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image_parts.h"

/* ---- lines ---------------------------------------------------------------------------------- */

struct growing {
    void *items;
    size_t count, room;
};

static void *grow(struct growing *g, size_t size)
{
    if (g->count == g->room) {
        size_t room = g->room ? g->room * 2 : 64;
        void *more = realloc(g->items, room * size);
        if (!more)
            return NULL;
        g->items = more;
        g->room = room;
    }
    return (char *)g->items + g->count++ * size;
}

/* A copy of the name that lives as long as the image; the same one if it was the last. */
static const char *keep(struct image *i, struct growing *texts, const char *text)
{
    char **last = texts->items;
    if (texts->count && strcmp(last[texts->count - 1], text) == 0)
        return last[texts->count - 1];
    char *copy = strdup(text), **to = copy ? grow(texts, sizeof *to) : NULL;
    if (!to) {
        free(copy);
        return NULL;
    }
    *to = copy;
    i->text = texts->items;
    i->texts = texts->count;
    return copy;
}

static bool add_rows(struct image *i, struct growing *rows, struct growing *texts, Dwarf_Die *unit)
{
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(unit, &lines, &count) != 0)
        return true;
    for (size_t k = 0; k < count; k++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, k);
        Dwarf_Addr pc = 0;
        int number = 0, column = 0;
        bool end = false;
        const char *file = dwarf_linesrc(line, NULL, NULL);
        dwarf_lineaddr(line, &pc);
        dwarf_lineno(line, &number);
        dwarf_linecol(line, &column);
        dwarf_lineendsequence(line, &end);
        struct line_row *row = grow(rows, sizeof *row);
        if (!row)
            return false;
        *row = (struct line_row){ (uint32_t)pc, end ? 0 : (uint32_t)number, (uint32_t)column,
                                  NULL };
        if (file && !end && !(row->file = keep(i, texts, file)))
            return false;
    }
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct line_row *x = a, *y = b;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return (x->file != NULL) - (y->file != NULL); /* an end comes before what begins there */
}

static bool read_lines(struct image *i, Dwarf *debug, struct growing *texts)
{
    struct growing rows = { 0 };
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    bool good = true;
    while (good && dwarf_get_units(debug, unit, &unit, NULL, NULL, &die, NULL) == 0)
        good = add_rows(i, &rows, texts, &die);
    i->row = rows.items;
    i->rows = rows.count;
    if (i->rows)
        qsort(i->row, i->rows, sizeof *i->row, compare_rows);
    return good;
}

/* ---- functions and variables ----------------------------------------------------------------- */

struct reading {
    struct image *i;
    struct growing texts, functions, variables, inlines;
    Dwarf_Files *files; /* of the unit */
    uint32_t function;  /* whose variables come */
    bool pointer;
    bool good;
};

/* The one operation of an attribute that is a location; false: it has more, or is none. */
static bool single_operation(Dwarf_Die *die, unsigned attribute, Dwarf_Op *operation)
{
    Dwarf_Attribute a;
    Dwarf_Op *operations;
    size_t count;
    if (!dwarf_attr_integrate(die, attribute, &a) || dwarf_getlocation(&a, &operations, &count) != 0
        || count != 1)
        return false;
    *operation = operations[0];
    return true;
}

static void set_type(struct frame_variable *v, Dwarf_Die *die)
{
    Dwarf_Attribute a;
    Dwarf_Die type;
    Dwarf_Word size;
    if (!dwarf_attr_integrate(die, DW_AT_type, &a) || !dwarf_formref_die(&a, &type)
        || dwarf_aggregate_size(&type, &size) != 0 || size > INT16_MAX)
        return;
    v->size = (uint32_t)size;
}

static void take_variable(struct reading *r, Dwarf_Die *die)
{
    Dwarf_Op where;
    const char *name = dwarf_diename(die);
    if (!r->pointer || !single_operation(die, DW_AT_location, &where) || where.atom != DW_OP_fbreg)
        return;
    struct frame_variable *v = grow(&r->variables, sizeof *v);
    const char *kept = v ? keep(r->i, &r->texts, name ? name : "") : NULL;
    if (kept) {
        *v = (struct frame_variable){ .function = r->function,
                                      .offset = (int32_t)where.number,
                                      .name = kept };
        set_type(v, die);
    }
    r->good &= kept != NULL;
}

/* True: `die` is a function that is there, and now the one whose variables come. */
static bool take_function(struct reading *r, Dwarf_Die *die)
{
    Dwarf_Addr begin, end;
    Dwarf_Op base;
    const char *name = dwarf_diename(die);
    enum { S0 = 8 };
    if (dwarf_lowpc(die, &begin) != 0 || dwarf_highpc(die, &end) != 0 || end <= begin)
        return false;
    struct function *f = grow(&r->functions, sizeof *f);
    const char *kept = f ? keep(r->i, &r->texts, name ? name : "") : NULL;
    r->function = (uint32_t)begin;
    r->pointer = single_operation(die, DW_AT_frame_base, &base) && base.atom == DW_OP_reg0 + S0;
    if (kept)
        *f = (struct function){ (uint32_t)begin, (uint32_t)end, kept, r->pointer };
    r->good &= kept != NULL;
    return true;
}

static const char *file_of_call(const struct reading *r, Dwarf_Die *die)
{
    Dwarf_Attribute a;
    Dwarf_Word number;
    if (!r->files || !dwarf_attr(die, DW_AT_call_file, &a) || dwarf_formudata(&a, &number) != 0)
        return NULL;
    return dwarf_filesrc(r->files, number, NULL, NULL);
}

static void take_inlined(struct reading *r, Dwarf_Die *die, int depth)
{
    Dwarf_Attribute a;
    Dwarf_Word line;
    Dwarf_Addr base, begin, end;
    const char *file = file_of_call(r, die);
    if (!file || !dwarf_attr(die, DW_AT_call_line, &a) || dwarf_formudata(&a, &line) != 0)
        return;
    const char *kept = keep(r->i, &r->texts, file), *name = dwarf_diename(die);
    name = kept ? keep(r->i, &r->texts, name ? name : "") : NULL;
    r->good &= name != NULL;
    for (ptrdiff_t at = 0; name && (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;) {
        struct inlined *in = grow(&r->inlines, sizeof *in);
        if (in)
            *in = (struct inlined){ (uint32_t)begin, (uint32_t)end, (uint32_t)line,
                                    depth,           kept,          name };
        r->good &= in != NULL;
    }
}

static void walk(struct reading *r, Dwarf_Die *parent, int depth)
{
    enum { DEEPEST = 64 };
    Dwarf_Die die;
    if (depth > DEEPEST || dwarf_child(parent, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            if (take_function(r, &die))
                walk(r, &die, depth + 1);
            break;
        case DW_TAG_variable:
        case DW_TAG_formal_parameter: take_variable(r, &die); break;
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_lexical_block: walk(r, &die, depth + 1); break;
        case DW_TAG_inlined_subroutine:
            take_inlined(r, &die, depth);
            walk(r, &die, depth + 1);
            break;
        default: break;
        }
    } while (r->good && dwarf_siblingof(&die, &die) == 0);
}

static int compare_functions(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int compare_variables(const void *a, const void *b)
{
    const struct frame_variable *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool read_functions(struct reading *r, Dwarf *debug)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (r->good && dwarf_get_units(debug, unit, &unit, NULL, NULL, &die, NULL) == 0) {
        size_t count;
        r->pointer = false;
        if (dwarf_getsrcfiles(&die, &r->files, &count) != 0)
            r->files = NULL;
        walk(r, &die, 0);
    }
    struct image *i = r->i;
    i->function = r->functions.items;
    i->functions = r->functions.count;
    i->inlined = r->inlines.items;
    i->inlines = r->inlines.count;
    i->variable = r->variables.items;
    i->variables = r->variables.count;
    if (i->functions)
        qsort(i->function, i->functions, sizeof *i->function, compare_functions);
    if (i->variables)
        qsort(i->variable, i->variables, sizeof *i->variable, compare_variables);
    return r->good;
}

/* Without memory libdw ends the program, as if a violation had been found. */
static void no_memory(void) __attribute__((noreturn));
static void no_memory(void)
{
    static const char text[] = "ordeal: out of memory, for debug information\n";
    ssize_t told = write(STDERR_FILENO, text, sizeof text - 1);
    (void)told;
    _exit(2); /* as of all that could not be done */
}

Dwarf *image_debug_open(Elf *elf)
{
    Dwarf *debug = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    if (debug)
        dwarf_new_oom_handler(debug, no_memory);
    return debug;
}

bool image_read_debug(struct image *i, void *elf)
{
    struct reading r = { .i = i, .good = true };
    errno = 0; /* where memory runs out, libdw says that there is nothing more */
    Dwarf *debug = image_debug_open(elf);
    bool good = !debug || (read_lines(i, debug, &r.texts) && read_functions(&r, debug));
    good &= errno != ENOMEM;
    dwarf_end(debug);
    return good;
}

/* ---- questions ------------------------------------------------------------------------------ */

static const struct line_row *row_of(const struct image *i, uint32_t pc)
{
    size_t low = 0, high = i->rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (i->row[middle].pc <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low && i->row[low - 1].file ? &i->row[low - 1] : NULL;
}

static const struct function *function_of(const struct image *i, uint32_t pc)
{
    size_t low = 0, high = i->functions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (i->function[middle].begin <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low && pc < i->function[low - 1].end ? &i->function[low - 1] : NULL;
}

bool image_place(const struct image *i, uint32_t pc, struct source_place *place)
{
    const struct line_row *row = row_of(i, pc);
    const struct function *f = function_of(i, pc);
    const struct symbol *s = image_symbol_at(i, pc);
    *place = (struct source_place){ .file = row ? row->file : NULL,
                                    .function = f && *f->name ? f->name
                                              : s             ? s->name
                                                              : NULL,
                                    .line = row ? row->line : 0,
                                    .column = row ? row->column : 0 };
    return row != NULL;
}

/* The innermost one around `pc` that is not as deep; NULL: there is none. */
static const struct inlined *inlined_around(const struct image *i, uint32_t pc, int depth)
{
    const struct inlined *found = NULL;
    for (size_t k = 0; k < i->inlines; k++) {
        const struct inlined *in = &i->inlined[k];
        if (pc >= in->begin && pc < in->end && in->depth < depth
            && (!found || in->depth > found->depth))
            found = in;
    }
    return found;
}

bool image_place_around(const struct image *i, uint32_t pc, int level, struct source_place *place)
{
    if (!image_place(i, pc, place))
        return false;
    const struct inlined *in = inlined_around(i, pc, INT_MAX);
    for (; level > 0 && in; level--) {
        place->file = in->file;
        place->line = in->line;
        place->column = 0;
        in = inlined_around(i, pc, in->depth);
    }
    if (in)
        place->function = in->name;
    return level == 0;
}

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n >= m && strcmp(path + n - m, end) == 0 && (n == m || path[n - m - 1] == '/');
}

uint32_t image_pc_of(const struct image *i, const char *file, uint32_t line)
{
    for (size_t k = 0; k < i->rows; k++)
        if (i->row[k].line == line && i->row[k].file && ends_with(i->row[k].file, file))
            return i->row[k].pc;
    return 0;
}

const struct frame_variable *image_variables(const struct image *i, uint32_t function,
                                             size_t *count)
{
    const struct function *f = function_of(i, function);
    if (!f || f->begin != function || !f->pointer)
        return NULL;
    size_t low = 0, high = i->variables;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (i->variable[middle].function < function)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0; low + *count < i->variables && i->variable[low + *count].function == function;)
        ++*count;
    static const struct frame_variable none; /* a function may have none */
    return *count ? &i->variable[low] : &none;
}

const char *image_local_at(const struct image *i, uint32_t pc, uint32_t frame, uint32_t address,
                           uint32_t *begin, uint32_t *size)
{
    const struct function *f = function_of(i, pc);
    size_t count = 0;
    const struct frame_variable *v = f ? image_variables(i, f->begin, &count) : NULL;
    for (size_t k = 0; v && k < count; k++)
        if (address - (frame + (uint32_t)v[k].offset) < v[k].size) {
            *begin = frame + (uint32_t)v[k].offset;
            *size = v[k].size;
            return v[k].name;
        }
    return NULL;
}
