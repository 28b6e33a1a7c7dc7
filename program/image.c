/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of an ELF file to an image: headers, segments, symbols. */
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chip.h"
#include "image_parts.h"

/* Below the first nothing can be, so that null pointers are found; from the second on there is what
 * threads allocate. */
enum { LOWEST = 0x1000, HIGHEST = 0x40000000, MOST_MEMORY = 256 << 20, MOST_GAP = 1 << 20 };

#define HOW "compile it with --target=riscv32 -march=rv32ima -mabi=ilp32, and link it with -static"

bool image_bad(const struct image *i, struct ordeal_error *error, const char *format, ...)
{
    va_list args;
    *error = (struct ordeal_error){ .status = ORDEAL_BAD_INPUT };
    snprintf(error->file, sizeof error->file, "%s", i->name);
    va_start(args, format);
    vsnprintf(error->reason, sizeof error->reason, format, args);
    va_end(args);
    return false;
}

bool image_no_memory(const struct image *i, struct ordeal_error *error)
{
    image_bad(i, error, "out of memory");
    error->status = ORDEAL_NO_MEMORY;
    return false;
}

/* ---- headers -------------------------------------------------------------------------------- */

static bool check_header(const struct image *i, const GElf_Ehdr *e, struct ordeal_error *error)
{
    if (e->e_machine != EM_RISCV)
        return image_bad(i, error, "is an ELF of another machine (number %u): " HOW, e->e_machine);
    if (e->e_ident[EI_CLASS] != ELFCLASS32)
        return image_bad(i, error, "is for RV64: " HOW);
    if (e->e_ident[EI_DATA] != ELFDATA2LSB)
        return image_bad(i, error, "is big-endian: " HOW);
    if (e->e_type == ET_REL)
        return image_bad(i, error, "is not linked yet: link it to a program with an entry point");
    if (e->e_type != ET_EXEC)
        return image_bad(i, error, "is not a static program (ELF type %u): " HOW, e->e_type);
    if (e->e_flags & EF_RISCV_RVC)
        return image_bad(i, error, "has compressed instructions: " HOW);
    if (e->e_flags & EF_RISCV_FLOAT_ABI)
        return image_bad(i, error, "passes numbers in floating-point registers: " HOW);
    if (e->e_shoff
        && (e->e_shoff > i->size || i->size - e->e_shoff < (size_t)e->e_shnum * e->e_shentsize))
        return image_bad(i, error,
                         "is cut off: its sections are told at byte %llu of %zu; copy it again",
                         (unsigned long long)e->e_shoff, i->size);
    return true;
}

static bool check_segment(const struct image *i, const GElf_Phdr *p, struct ordeal_error *error)
{
    if (p->p_type == PT_INTERP || p->p_type == PT_DYNAMIC)
        return image_bad(i, error, "is linked dynamically: link it with -static");
    if (p->p_type == PT_TLS && p->p_memsz)
        return image_bad(i, error,
                         "has thread-local variables, which this machine has not: "
                         "give each thread a variable of its own");
    if (p->p_type != PT_LOAD || !p->p_memsz)
        return true;
    if (p->p_filesz > p->p_memsz || p->p_offset > i->size || p->p_filesz > i->size - p->p_offset)
        return image_bad(i, error,
                         "is cut off, or damaged: the segment at 0x%llx has %llu bytes "
                         "from byte %llu of a file of %zu",
                         (unsigned long long)p->p_vaddr, (unsigned long long)p->p_filesz,
                         (unsigned long long)p->p_offset, i->size);
    if (p->p_memsz > MOST_MEMORY)
        return image_bad(i, error,
                         "wants %llu MB of variables at 0x%llx, more than the %d MB that "
                         "a program may have: make them smaller",
                         (unsigned long long)p->p_memsz >> 20, (unsigned long long)p->p_vaddr,
                         MOST_MEMORY >> 20);
    bool chip = p->p_vaddr == 0 ? p->p_flags & PF_X : p->p_vaddr >= CHIP_DATA;
    if (!chip && (p->p_vaddr < LOWEST || p->p_vaddr + p->p_memsz > HIGHEST))
        return image_bad(i, error,
                         "has a segment at 0x%llx, outside of 0x%x to 0x%x: link it to "
                         "0x10000",
                         (unsigned long long)p->p_vaddr, LOWEST, HIGHEST);
    if ((p->p_flags & PF_X) && (p->p_flags & PF_W))
        return image_bad(i, error,
                         "has code that can be written, at 0x%llx: link it without -N, "
                         "with code in a segment of its own",
                         (unsigned long long)p->p_vaddr);
    return true;
}

/* ---- segments ------------------------------------------------------------------------------- */

static int compare_segments(const void *a, const void *b)
{
    const struct segment *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static bool no_overlap(const struct image *i, struct ordeal_error *error)
{
    for (size_t k = 1; k < i->segments; k++)
        if (i->segment[k].address - i->segment[k - 1].address < i->segment[k - 1].size)
            return image_bad(i, error, "has segments that overlap at 0x%x: it is damaged",
                             i->segment[k].address);
    return true;
}

/* The bounds of what is executed. */
static void widen_code(struct image *i, uint32_t begin, uint32_t bytes)
{
    uint32_t end = i->code_begin + i->code_bytes;
    if (!i->code_bytes || begin < i->code_begin)
        i->code_begin = begin;
    if (begin + bytes > end)
        end = begin + bytes;
    i->code_bytes = end - i->code_begin;
}

static bool count_segments(struct image *i, Elf *elf, size_t headers, size_t *bytes,
                           struct ordeal_error *error)
{
    GElf_Phdr p;
    for (size_t k = 0; k < headers; k++) {
        if (!gelf_getphdr(elf, (int)k, &p))
            return image_bad(i, error, "has no program header %zu: it is cut off, or damaged", k);
        if (!check_segment(i, &p, error))
            return false;
        if (p.p_type == PT_LOAD) {
            *bytes += p.p_memsz;
            i->segments += p.p_memsz > 0;
            if (*bytes > MOST_MEMORY)
                return image_bad(i, error,
                                 "wants more than the %d MB of variables that a program "
                                 "may have: make them smaller",
                                 MOST_MEMORY >> 20);
        }
    }
    return true;
}

static void fill_segments(struct image *i, Elf *elf, size_t headers)
{
    GElf_Phdr p;
    uint8_t *to = i->memory;
    struct segment *s = i->segment;
    for (size_t k = 0; k < headers; k++) {
        gelf_getphdr(elf, (int)k, &p);
        if (p.p_type != PT_LOAD || !p.p_memsz)
            continue;
        memcpy(to, i->bytes + p.p_offset, p.p_filesz);
        *s++ = (struct segment){ (uint32_t)p.p_vaddr, (uint32_t)p.p_memsz, to,
                                 (p.p_flags & PF_W) != 0 };
        to += p.p_memsz;
        if (p.p_flags & PF_X) /* what the file has not is 0, and no instruction */
            widen_code(i, (uint32_t)p.p_vaddr, (uint32_t)p.p_filesz);
    }
    qsort(i->segment, i->segments, sizeof *i->segment, compare_segments);
}

static bool read_segments(struct image *i, Elf *elf, struct ordeal_error *error)
{
    size_t headers = 0, bytes = 0;
    if (elf_getphdrnum(elf, &headers) != 0)
        return image_bad(i, error, "has no program headers that can be read: it is damaged");
    if (!count_segments(i, elf, headers, &bytes, error))
        return false;
    if (!i->segments)
        return image_bad(i, error, "has nothing to load: link it to a program");
    i->segment = calloc(i->segments, sizeof *i->segment);
    i->memory = calloc(bytes, 1);
    if (!i->segment || !i->memory)
        return image_no_memory(i, error);
    fill_segments(i, elf, headers);
    return no_overlap(i, error);
}

/* ---- code ----------------------------------------------------------------------------------- */

static uint32_t word_at(const struct image *i, uint32_t address)
{
    for (size_t k = 0; k < i->segments; k++) {
        const struct segment *s = &i->segment[k];
        uint32_t word;
        if (address - s->address < s->size && s->size - (address - s->address) >= sizeof word) {
            memcpy(&word, s->bytes + (address - s->address),
                   sizeof word); /* little-endian here, too */
            return word;
        }
    }
    return 0;
}

static bool decode_all(struct image *i, struct ordeal_error *error)
{
    if (i->code_begin % 4 != 0 || i->code_bytes > i->size + MOST_GAP)
        return image_bad(i, error,
                         "has code at 0x%x to 0x%x, which is spread too far or not "
                         "aligned: link it without a script of its own",
                         i->code_begin, i->code_begin + i->code_bytes);
    size_t count = i->code_bytes / 4, known = 0;
    i->code = calloc(count + 1, sizeof *i->code);
    if (!i->code)
        return image_no_memory(i, error);
    for (size_t k = 0; k < count; k++) {
        uint32_t pc = i->code_begin + (uint32_t)k * 4;
        i->code[k] = image_decode(word_at(i, pc), pc);
        known += i->code[k].operation != OPERATION_NONE;
    }
    if (!known)
        return image_bad(i, error, "has no instruction of RV32IMA: " HOW);
    if (!image_instruction(i, i->entry))
        return image_bad(i, error, "begins at 0x%x, where there is no code: define _start",
                         i->entry);
    return true;
}

/* ---- symbols -------------------------------------------------------------------------------- */

static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b, void *user)
{
    const struct image *i = user;
    return strcmp(i->symbol[*(const uint32_t *)a].name, i->symbol[*(const uint32_t *)b].name);
}

/* What a person may mean: functions and objects, and labels that a program has no type for. */
static bool is_wanted(const GElf_Sym *s, const char *name)
{
    int type = GELF_ST_TYPE(s->st_info);
    return name && *name && s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS
        && (type == STT_FUNC || type == STT_OBJECT
            || (type == STT_NOTYPE && GELF_ST_BIND(s->st_info) != STB_LOCAL));
}

static bool take_symbols(struct image *i, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data ? data->d_size / sizeof(Elf32_Sym) : 0;
    i->symbol = calloc(count + 1, sizeof *i->symbol);
    for (size_t k = 0; i->symbol && k < count; k++) {
        GElf_Sym s;
        const char *name = gelf_getsym(data, (int)k, &s)
                             ? elf_strptr(elf, header->sh_link, s.st_name)
                             : NULL;
        i->unoptimised |= name && strcmp(name, "__ordeal_unoptimised") == 0;
        if (!name || !is_wanted(&s, name))
            continue;
        bool function = GELF_ST_TYPE(s.st_info) == STT_FUNC;
        i->symbol[i->symbols++] = (struct symbol){ name, (uint32_t)s.st_value, (uint32_t)s.st_size,
                                                   function };
    }
    return i->symbol != NULL;
}

static bool read_symbols(struct image *i, Elf *elf, struct ordeal_error *error)
{
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        GElf_Shdr header;
        if (!i->symbol && gelf_getshdr(s, &header) && header.sh_type == SHT_SYMTAB
            && !take_symbols(i, elf, s, &header))
            return image_no_memory(i, error);
    }
    i->by_name = calloc(i->symbols + 1, sizeof *i->by_name);
    if (!i->by_name)
        return image_no_memory(i, error);
    if (i->symbols)
        qsort(i->symbol, i->symbols, sizeof *i->symbol, compare_symbols);
    for (size_t k = 0; k < i->symbols; k++)
        i->by_name[k] = (uint32_t)k;
    qsort_r(i->by_name, i->symbols, sizeof *i->by_name, compare_names, i);
    return true;
}

/* The code that lies at 0 on a chip has a name. */
static bool check_chip(struct image *i, struct ordeal_error *error)
{
    const struct symbol *begin = image_symbol_named(i, "__ordeal_chip_begin");
    i->chip = begin && begin->address == 0;
    for (size_t k = 0; k < i->segments; k++)
        if (!i->chip && (i->segment[k].address < LOWEST || i->segment[k].address >= HIGHEST))
            return image_bad(i, error,
                             "has a segment at 0x%x, outside of 0x%x to 0x%x: link it to 0x10000",
                             i->segment[k].address, LOWEST, HIGHEST);
    return true;
}

/* ---- whole ---------------------------------------------------------------------------------- */

static bool read_elf(struct image *i, Elf *elf, struct ordeal_error *error)
{
    GElf_Ehdr header;
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return image_bad(i, error,
                         "is not an ELF file: give a program in C or C++ (.c, .cpp), or "
                         "one that was compiled and linked");
    if (!check_header(i, &header, error))
        return false;
    i->entry = (uint32_t)header.e_entry;
    if (!read_segments(i, elf, error) || !read_symbols(i, elf, error) || !check_chip(i, error)
        || !decode_all(i, error))
        return false;
    return (image_read_debug(i, elf) && image_analyse_flow(i) && image_analyse_frames(i))
        || image_no_memory(i, error);
}

bool image_load(const char *name, const void *bytes, size_t size, struct image **image,
                struct ordeal_error *error)
{
    struct image *i = calloc(1, sizeof *i);
    static char nameless[] = "";
    *image = NULL;
    if (!i)
        return image_no_memory(&(struct image){ .name = nameless }, error);
    i->stacks = (struct image_stacks){ .base = 0x80000000, .part = 0x100000 };
    i->name = strdup(name);
    i->bytes = malloc(size + 1);
    i->size = size;
    bool good = i->name && i->bytes;
    if (!good) {
        image_no_memory(&(struct image){ .name = nameless }, error);
    } else {
        memcpy(i->bytes, bytes, size);
        elf_version(EV_CURRENT);
        Elf *elf = elf_memory((char *)i->bytes, size);
        good = read_elf(i, elf, error);
        elf_end(elf);
    }
    if (good)
        *image = i;
    else
        image_free(i);
    return good;
}

void image_free(struct image *i)
{
    if (!i)
        return;
    for (size_t k = 0; k < i->texts; k++)
        free(i->text[k]);
    free(i->text);
    free(i->variable);
    free(i->inlined);
    free(i->function);
    free(i->row);
    free(i->by_name);
    free(i->symbol);
    free(i->slot);
    free(i->dead);
    free(i->first_slot);
    free(i->function_of);
    free(i->returns);
    free(i->behind);
    free(i->code);
    free(i->memory);
    free(i->segment);
    free(i->bytes);
    free(i->name);
    free(i);
}

/* ---- questions ------------------------------------------------------------------------------ */

uint32_t image_entry(const struct image *i) { return i->entry; }
bool image_is_chip(const struct image *i) { return i->chip; }

void image_set_stacks(struct image *i, const struct image_stacks *stacks) { i->stacks = *stacks; }

bool image_in_stack(const struct image *i, uint32_t address, uint32_t *thread)
{
    *thread = (address - i->stacks.base) / i->stacks.part;
    return address >= i->stacks.base
        && (address - i->stacks.base) % i->stacks.part >= i->stacks.other;
}

const struct instruction *image_instruction(const struct image *i, uint32_t pc)
{
    uint32_t at = pc - i->code_begin;
    return at + 4 <= i->code_bytes && at < i->code_bytes && at % 4 == 0 ? &i->code[at / 4] : NULL;
}

size_t image_segments(const struct image *i, const struct segment **segments)
{
    *segments = i->segment;
    return i->segments;
}

const struct symbol *image_symbol_at(const struct image *i, uint32_t address)
{
    size_t low = 0, high = i->symbols; /* the last one that begins at or before it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (i->symbol[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t k = low; k-- > 0;) {
        const struct symbol *s = &i->symbol[k];
        if (address - s->address < s->size || address == s->address)
            return s;
        if (low - k > 8) /* labels inside of it */
            break;
    }
    return NULL;
}

const struct symbol *image_symbol_named(const struct image *i, const char *name)
{
    size_t low = 0, high = i->symbols;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(i->symbol[i->by_name[middle]].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct symbol *s = low < i->symbols ? &i->symbol[i->by_name[low]] : NULL;
    return s && strcmp(s->name, name) == 0 ? s : NULL;
}
