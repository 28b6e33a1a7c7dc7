/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny programs as RV32IMA machine code in an ELF file, without a compiler: a thousand of them in
 * no time. Calls are those of program/calls.def, by number. */
#include "tiny.h"

#include <assert.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "rv.h"

enum { CODE = 0x10000, DATA = 0x20000, WORDS = 2048, NAMES = 128, SYMBOLS = TINY_THREADS + 5 };
enum {
    CALL_EXIT = 1,
    CALL_CREATE = 2,
    CALL_THREAD_EXIT = 3,
    CALL_JOIN = 4,
    CALL_ENTER = 25,
    CALL_LEAVE = 26
};

struct data {
    uint32_t memory[TINY_WORDS], result[TINY_THREADS], number[TINY_THREADS];
    /* Copies that main makes at the end: whose values are wanted is known to the engine, and what
     * threads share is not to be known so. */
    uint32_t last[TINY_WORDS];
};

enum { TEXT_SECTION = 1, DATA_SECTION, SYMBOL_SECTION, NAME_SECTION, SECTIONS };

struct file {
    Elf32_Ehdr header;
    Elf32_Phdr segment[2];
    Elf32_Shdr section[SECTIONS];
    Elf32_Sym symbol[SYMBOLS];
    char name[NAMES];
    struct data data;
    uint32_t text[WORDS];
};

struct writer {
    struct file *file;
    unsigned words, symbols;
    size_t names;
    uint32_t start[TINY_OPS + 1]; /* of each op of the thread: the place of its first word */
    uint32_t thread[TINY_THREADS];
};

void tiny_columns(uint32_t address[TINY_COLUMNS])
{
    for (unsigned t = 0; t < TINY_THREADS; t++)
        address[t] = DATA + (uint32_t)offsetof(struct data, result) + 4 * t;
    for (unsigned w = 0; w < TINY_WORDS; w++)
        address[TINY_THREADS + w] = DATA + (uint32_t)offsetof(struct data, last) + 4 * w;
}

/* ---- code ---------------------------------------------------------------------------------- */

static void emit(struct writer *w, uint32_t word)
{
    assert(w->words < WORDS);
    w->file->text[w->words++] = word;
}

static uint32_t here(const struct writer *w) { return CODE + 4 * w->words; }

static void constant(struct writer *w, uint32_t reg, uint32_t value)
{
    emit(w, rv_lui(reg, value + 0x800));
    emit(w, rv_addi(reg, reg, (int32_t)(value << 20) >> 20));
}

static void call(struct writer *w, uint32_t number)
{
    emit(w, rv_addi(A7, ZERO, (int32_t)number));
    emit(w, rv_ecall());
}

static uint32_t reg(unsigned r) { return S2 + r; }

static void fence(struct writer *w, unsigned order)
{
    uint32_t pred = 0, succ = 0;
    if (order == (TINY_RR | TINY_RW | TINY_WW)) {
        emit(w, 0x8330000f); /* fence.tso */
        return;
    }
    pred |= order & (TINY_RR | TINY_RW) ? FENCE_R : 0;
    pred |= order & (TINY_WR | TINY_WW) ? FENCE_W : 0;
    succ |= order & (TINY_RR | TINY_WR) ? FENCE_R : 0;
    succ |= order & (TINY_RW | TINY_WW) ? FENCE_W : 0;
    emit(w, rv_fence(pred, succ));
}

static void store(struct writer *w, const struct tiny_op *o)
{
    constant(w, T0, o->value);
    if (o->source < TINY_REGISTERS)
        emit(w, rv_add(T0, T0, reg(o->source)));
    emit(w, rv_store(o->size / 2, T0, S0, o->address));
}

static void load(struct writer *w, const struct tiny_op *o)
{
    uint32_t width = o->size == 4 ? 2 : 4 + o->size / 2; /* lw, lbu, lhu */
    emit(w, rv_load(width, reg(o->target), S0, o->address));
}

static void atomic(struct writer *w, const struct tiny_op *o)
{
    static const uint32_t function[] = { 1, 0, 8, 0x14 };
    emit(w, rv_addi(T2, S0, o->address));
    constant(w, T0, o->value);
    if (o->kind != TINY_CAS) {
        emit(w, rv_amo(function[o->kind - TINY_SWAP], reg(o->target), T0, T2)
                    | (uint32_t)o->order << 25);
        return;
    }
    constant(w, T1, o->compare);
    emit(w, rv_lr(reg(o->target), T2) | (uint32_t)(o->order & TINY_AQ) << 25);
    emit(w, rv_bne(reg(o->target), T1, 12));
    emit(w, rv_sc(T3, T0, T2) | (uint32_t)(o->order & TINY_RL) << 25);
    emit(w, rv_bne(T3, ZERO, -12));
}

/* Jumps are filled in when the places are known: `at` is then the op's last word. */
static void jump(struct writer *w, const struct tiny_op *o, unsigned i)
{
    unsigned at = w->start[i + 1] - 1;
    if (o->kind == TINY_SKIP) {
        int32_t by = 4 * ((int32_t)w->start[i + 1 + o->distance] - (int32_t)at);
        w->file->text[at] = o->negated ? rv_bne(reg(o->source), T0, by)
                                       : rv_beq(reg(o->source), T0, by);
    } else if (o->kind == TINY_LOOP) {
        int32_t by = 4 * ((int32_t)w->start[i - o->distance] - (int32_t)at);
        w->file->text[at] = rv_beq(ZERO, ZERO, by);
    }
}

static void control(struct writer *w, const struct tiny_op *o)
{
    constant(w, T0, o->value);
    if (o->kind == TINY_LOOP) {
        emit(w, rv_addi(T1, ZERO, o->times - 1));
        emit(w, rv_beq(reg(o->source), T0, 16)); /* past the last word */
        emit(w, rv_blt(T1, S6, 12));
        emit(w, rv_addi(S6, S6, 1));
    }
    emit(w, rv_nop());
}

static void operation(struct writer *w, const struct tiny_op *o)
{
    switch (o->kind) {
    case TINY_LOAD: load(w, o); break;
    case TINY_STORE: store(w, o); break;
    case TINY_FENCE: fence(w, o->order); break;
    case TINY_SKIP:
    case TINY_LOOP: control(w, o); break;
    case TINY_ENTER: call(w, CALL_ENTER); break;
    case TINY_LEAVE: call(w, CALL_LEAVE); break;
    default: atomic(w, o);
    }
}

static void thread(struct writer *w, const struct tiny_program *p, unsigned t)
{
    w->thread[t] = here(w);
    constant(w, S0, DATA + (uint32_t)offsetof(struct data, memory));
    for (unsigned r = 0; r <= TINY_REGISTERS; r++) /* and the count of the loop */
        emit(w, rv_addi(reg(r), ZERO, 0));
    for (unsigned i = 0; i < p->ops[t]; i++) {
        w->start[i] = w->words;
        operation(w, &p->op[t][i]);
    }
    w->start[p->ops[t]] = w->words;
    for (unsigned i = 0; i < p->ops[t]; i++)
        jump(w, &p->op[t][i], i);
    emit(w, rv_addi(T0, ZERO, 251));
    emit(w, rv_addi(A0, ZERO, 0));
    for (unsigned r = TINY_REGISTERS; r-- > 0;) {
        emit(w, rv_mul(A0, A0, T0));
        emit(w, rv_add(A0, A0, reg(r)));
    }
    call(w, CALL_THREAD_EXIT);
    emit(w, rv_beq(ZERO, ZERO, 0));
}

static void start(struct writer *w, const struct tiny_program *p)
{
    for (unsigned t = 0; t < p->threads; t++) {
        constant(w, A0, DATA + (uint32_t)offsetof(struct data, number) + 4 * t);
        constant(w, A1, w->thread[t]);
        emit(w, rv_addi(A2, ZERO, 0));
        call(w, CALL_CREATE);
    }
    for (unsigned t = 0; t < p->threads; t++) {
        emit(w, rv_addi(A0, ZERO, (int32_t)t + 1));
        constant(w, A1, DATA + (uint32_t)offsetof(struct data, result) + 4 * t);
        call(w, CALL_JOIN);
    }
    constant(w, S0, DATA);
    for (unsigned k = 0; k < TINY_WORDS && !p->leaves_memory; k++) {
        emit(w, rv_load(2, T0, S0, (int32_t)offsetof(struct data, memory) + 4 * (int32_t)k));
        emit(w, rv_store(2, T0, S0, (int32_t)offsetof(struct data, last) + 4 * (int32_t)k));
    }
    emit(w, rv_addi(A0, ZERO, 0));
    call(w, CALL_EXIT);
    emit(w, rv_beq(ZERO, ZERO, 0));
}

/* ---- the file -------------------------------------------------------------------------------- */

static void name(struct writer *w, const char *text, uint32_t address, uint32_t size, bool function)
{
    size_t length = strlen(text) + 1;
    assert(w->symbols < SYMBOLS && w->names + length <= NAMES);
    memcpy(w->file->name + w->names, text, length);
    w->file->symbol[w->symbols++] = (Elf32_Sym){
        .st_name = (Elf32_Word)w->names,
        .st_value = address,
        .st_size = size,
        .st_info = ELF32_ST_INFO(STB_GLOBAL, function ? STT_FUNC : STT_OBJECT),
        .st_shndx = function ? TEXT_SECTION : DATA_SECTION,
    };
    w->names += length;
}

static void code(struct writer *w, const struct tiny_program *p)
{
    for (unsigned t = 0; t < p->threads; t++) {
        char text[] = "thread0";
        text[6] = (char)('0' + t);
        thread(w, p, t);
        name(w, text, w->thread[t], here(w) - w->thread[t], true);
    }
    uint32_t end = here(w);
    call(w, CALL_THREAD_EXIT);
    emit(w, rv_beq(ZERO, ZERO, 0));
    name(w, "__ordeal_thread_end", end, here(w) - end, true);
    w->file->header.e_entry = here(w);
    start(w, p);
    name(w, "_start", w->file->header.e_entry, here(w) - w->file->header.e_entry, true);
}

static Elf32_Shdr section(uint32_t type, uint32_t flags, uint32_t address, size_t offset,
                          size_t size)
{
    return (Elf32_Shdr){ .sh_type = type,
                         .sh_flags = flags,
                         .sh_addr = address,
                         .sh_offset = (Elf32_Off)offset,
                         .sh_size = (Elf32_Word)size,
                         .sh_addralign = 4 };
}

static void headers(struct writer *w)
{
    struct file *f = w->file;
    size_t text = offsetof(struct file, text), data = offsetof(struct file, data);
    Elf32_Word bytes = 4 * w->words;
    memcpy(f->header.e_ident, "\177ELF\1\1\1", 7);
    f->header.e_type = ET_EXEC;
    f->header.e_machine = EM_RISCV;
    f->header.e_version = EV_CURRENT;
    f->header.e_phoff = offsetof(struct file, segment);
    f->header.e_shoff = offsetof(struct file, section);
    f->header.e_ehsize = sizeof f->header;
    f->header.e_phentsize = sizeof *f->segment;
    f->header.e_phnum = 2;
    f->header.e_shentsize = sizeof *f->section;
    f->header.e_shnum = SECTIONS;
    f->header.e_shstrndx = NAME_SECTION;
    f->segment[0] = (Elf32_Phdr){
        PT_LOAD, (Elf32_Off)text, CODE, CODE, bytes, bytes, PF_R | PF_X, 4
    };
    f->segment[1] = (Elf32_Phdr){ PT_LOAD,        (Elf32_Off)data, DATA,        DATA,
                                  sizeof f->data, sizeof f->data,  PF_R | PF_W, 4 };
    f->section[TEXT_SECTION] = section(SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE, text, bytes);
    f->section[DATA_SECTION] = section(SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, DATA, data,
                                       sizeof f->data);
    f->section[SYMBOL_SECTION] = section(SHT_SYMTAB, 0, 0, offsetof(struct file, symbol),
                                         w->symbols * sizeof *f->symbol);
    f->section[SYMBOL_SECTION].sh_link = NAME_SECTION;
    f->section[SYMBOL_SECTION].sh_info = 1;
    f->section[SYMBOL_SECTION].sh_entsize = sizeof *f->symbol;
    f->section[NAME_SECTION] = section(SHT_STRTAB, 0, 0, offsetof(struct file, name), w->names);
}

void *tiny_elf(const struct tiny_program *p, size_t *size)
{
    struct writer w = { .file = calloc(1, sizeof *w.file), .symbols = 1, .names = 1 };
    assert(w.file);
    code(&w, p);
    name(&w, "memory", DATA + (uint32_t)offsetof(struct data, memory), 4 * TINY_WORDS, false);
    name(&w, "result", DATA + (uint32_t)offsetof(struct data, result), 4 * TINY_THREADS, false);
    headers(&w);
    *size = offsetof(struct file, text) + (size_t)4 * w.words;
    return w.file;
}
