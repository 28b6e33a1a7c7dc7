/* SPDX-License-Identifier: Apache-2.0 */
#include "image_types.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image_parts.h"

enum { DEEPEST = 16 };

struct typed_variable {
    uint32_t address, size;
    Dwarf_Die die;
};

struct image_types {
    Elf *elf;
    Dwarf *debug;
    struct typed_variable *variable;
    size_t variables, room;
};

/* ---- which variables ------------------------------------------------------------------------ */

static bool address_of(Dwarf_Die *die, uint32_t *address)
{
    Dwarf_Attribute location;
    Dwarf_Op *operation;
    size_t count;
    if (!dwarf_attr(die, DW_AT_location, &location)
        || dwarf_getlocation(&location, &operation, &count) != 0 || count != 1
        || operation->atom != DW_OP_addr)
        return false;
    *address = (uint32_t)operation->number;
    return true;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type)
        && dwarf_peel_type(type, type) == 0;
}

static uint32_t size_of(Dwarf_Die *type)
{
    Dwarf_Word size;
    return dwarf_aggregate_size(type, &size) == 0 ? (uint32_t)size : 0;
}

static void take_variable(struct image_types *t, Dwarf_Die *die)
{
    struct typed_variable v = { .die = *die };
    Dwarf_Die type;
    if (!address_of(die, &v.address) || !v.address /* the linker left it out */
        || !type_of(die, &type) || !(v.size = size_of(&type)))
        return;
    if (t->variables == t->room) {
        size_t room = t->room ? t->room * 2 : 64;
        void *more = realloc(t->variable, room * sizeof v);
        if (!more)
            return;
        t->variable = more;
        t->room = room;
    }
    t->variable[t->variables++] = v;
}

/* Also those of functions that are static, and of namespaces. */
static void take_children(struct image_types *t, Dwarf_Die *parent, int depth)
{
    Dwarf_Die child;
    if (depth > DEEPEST || dwarf_child(parent, &child) != 0)
        return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_variable)
            take_variable(t, &child);
        else if (tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block)
            take_children(t, &child, depth + 1);
    } while (dwarf_siblingof(&child, &child) == 0);
}

struct image_types *image_types_open(const struct image *i)
{
    struct image_types *t = calloc(1, sizeof *t);
    elf_version(EV_CURRENT);
    if (t && (t->elf = elf_memory((char *)i->bytes, i->size)))
        t->debug = image_debug_open(t->elf);
    if (!t || !t->debug) {
        image_types_close(t);
        return NULL;
    }
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dwarf_get_units(t->debug, unit, &unit, NULL, NULL, &die, NULL) == 0)
        take_children(t, &die, 0);
    return t;
}

void image_types_close(struct image_types *t)
{
    if (!t)
        return;
    dwarf_end(t->debug);
    elf_end(t->elf);
    free(t->variable);
    free(t);
}

/* ---- what lies within them ------------------------------------------------------------------ */

struct naming {
    char *text;
    size_t length;
};

static void add(struct naming *n, const char *before, const char *what)
{
    size_t used = strlen(n->text);
    snprintf(n->text + used, n->length - used, "%s%s", before, what);
}

static uint32_t count_of(Dwarf_Die *range)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    if (dwarf_attr_integrate(range, DW_AT_count, &attribute)
        && dwarf_formudata(&attribute, &number) == 0)
        return (uint32_t)number;
    if (dwarf_attr_integrate(range, DW_AT_upper_bound, &attribute)
        && dwarf_formudata(&attribute, &number) == 0)
        return (uint32_t)number + 1;
    return 0;
}

/* The indices of an element; what is left is the distance within it. */
static bool enter_array(struct naming *n, Dwarf_Die *type, uint32_t *offset)
{
    uint32_t total = size_of(type);
    Dwarf_Die range, element;
    if (!total || !type_of(type, &element) || dwarf_child(type, &range) != 0)
        return false;
    do {
        uint32_t count = dwarf_tag(&range) == DW_TAG_subrange_type ? count_of(&range) : 0;
        char index[16];
        if (!count || !(total /= count))
            return false;
        snprintf(index, sizeof index, "[%u]", (unsigned)(*offset / total));
        add(n, index, "");
        *offset %= total;
    } while (dwarf_siblingof(&range, &range) == 0);
    *type = element;
    return true;
}

/* The member, or the base, in which the distance lies; those of the library's inside have no names for
 * people. */
static bool enter_member(struct naming *n, Dwarf_Die *type, uint32_t *offset)
{
    Dwarf_Die member;
    if (dwarf_child(type, &member) != 0)
        return false;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word at = 0;
        Dwarf_Die inner;
        int tag = dwarf_tag(&member);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !type_of(&member, &inner))
            continue;
        if (dwarf_attr_integrate(&member, DW_AT_data_member_location, &attribute))
            dwarf_formudata(&attribute, &at);
        else if (dwarf_hasattr(&member, DW_AT_external))
            continue; /* a static one */
        if (*offset < at || *offset - at >= size_of(&inner))
            continue;
        const char *name = dwarf_diename(&member);
        if (tag == DW_TAG_member && name && strncmp(name, "__", 2) != 0)
            add(n, ".", name);
        *offset -= (uint32_t)at;
        *type = inner;
        return true;
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

static bool enter(struct naming *n, Dwarf_Die *type, uint32_t *offset)
{
    switch (dwarf_tag(type)) {
    case DW_TAG_array_type: return enter_array(n, type, offset);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type: return enter_member(n, type, offset);
    default: return false;
    }
}

bool image_types_name(const struct image_types *t, uint32_t address, char *name, size_t length,
                      uint32_t *size)
{
    for (size_t k = 0; t && k < t->variables; k++) {
        struct typed_variable v = t->variable[k];
        const char *text = dwarf_diename(&v.die);
        Dwarf_Die type;
        if (address - v.address >= v.size || !text || !type_of(&v.die, &type))
            continue;
        struct naming n = { name, length };
        uint32_t offset = address - v.address;
        snprintf(name, length, "%s", text);
        for (int depth = 0; depth < DEEPEST && enter(&n, &type, &offset); depth++) {
        }
        *size = size_of(&type);
        if (offset) {
            char more[16];
            snprintf(more, sizeof more, "+%u", (unsigned)offset);
            add(&n, more, "");
        }
        return true;
    }
    return false;
}

bool image_types_find(const struct image_types *t, const char *name, uint32_t *address,
                      uint32_t *size)
{
    enum { MOST_BYTES = 1 << 16 }; /* of a variable that is looked through */
    size_t base = strcspn(name, "[.+");
    for (size_t k = 0; t && k < t->variables; k++) {
        const struct typed_variable *v = &t->variable[k];
        Dwarf_Die die = v->die;
        const char *text = dwarf_diename(&die);
        if (!text || strlen(text) != base || strncmp(text, name, base) != 0)
            continue;
        for (uint32_t at = 0; at < v->size && at < MOST_BYTES; at++) {
            char here[256];
            if (image_types_name(t, v->address + at, here, sizeof here, size)
                && strcmp(here, name) == 0) {
                *address = v->address + at;
                return true;
            }
        }
    }
    return false;
}
