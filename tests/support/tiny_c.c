/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny programs as C, many in one file, so that one run of the compiler does for all: what a compiler
 * makes of them has frames, calls and memory from malloc, which the same program as bare
 * instructions (tiny_elf.c) has not. `which` in its data says which of them runs. */
#include "tiny.h"

#include <elf.h>
#include <string.h>

/* Where the words of a program lie. */
enum { IN_GLOBALS, IN_HEAP, IN_FRAME, PLACES };

static void print_head(FILE *s)
{
    fputs("#include <ordeal_program.h>\n#include <pthread.h>\n#include <stdint.h>\n"
          "#include <stdlib.h>\n"
          "typedef volatile uint8_t byte1;\ntypedef volatile uint16_t byte2;\n"
          "typedef volatile uint32_t byte4;\ntypedef volatile char *memory;\n",
          s);
    fprintf(s, "int which = -1;\nuint32_t result[%d], final[%d];\n", TINY_THREADS, TINY_WORDS);
    fprintf(s, "static uint32_t words[%d];\n", TINY_WORDS);
    fputs("static void get(uint32_t *to, byte4 *from) { *to = *from; }\n", s);
}

static void print_fence_c(const struct tiny_op *o, FILE *s)
{
    unsigned order = o->order;
    if (order == (TINY_RR | TINY_RW | TINY_WW)) {
        fputs("__asm__ volatile(\"fence.tso\" ::: \"memory\");\n", s);
        return;
    }
    fprintf(s, "__asm__ volatile(\"fence %s%s,%s%s\" ::: \"memory\");\n",
            order & (TINY_RR | TINY_RW) ? "r" : "", order & (TINY_WR | TINY_WW) ? "w" : "",
            order & (TINY_RR | TINY_WR) ? "r" : "", order & (TINY_RW | TINY_WW) ? "w" : "");
}

static void print_atomic_c(const struct tiny_op *o, FILE *s)
{
    static const char *const name[] = { "swap", "add", "or", "max" };
    static const char *const order[] = { "", ".rl", ".aq", ".aqrl" };
    if (o->kind != TINY_CAS) {
        fprintf(s,
                "__asm__ volatile(\"amo%s.w%s %%0,%%1,(%%2)\" : \"=&r\"(r%u) : \"r\"(0x%xu), "
                "\"r\"(m + %u) : \"memory\");\n",
                name[o->kind - TINY_SWAP], order[o->order], o->target, o->value, o->address);
        return;
    }
    fprintf(s,
            "__asm__ volatile(\"0: lr.w%s %%0,(%%3)\\n bne %%0,%%2,1f\\n sc.w%s t0,%%1,(%%3)\\n"
            " bnez t0,0b\\n1:\" : \"=&r\"(r%u) : \"r\"(0x%xu), \"r\"(0x%xu), \"r\"(m + %u) "
            ": \"memory\", \"t0\");\n",
            order[o->order & TINY_AQ], order[o->order & TINY_RL], o->target, o->value, o->compare,
            o->address);
}

static void print_memory_c(const struct tiny_op *o, bool helper, FILE *s)
{
    if (o->kind == TINY_LOAD && helper && o->size == 4) {
        fprintf(s, "get(&r%u, (byte4 *)(m + %u));\n", o->target, o->address);
    } else if (o->kind == TINY_LOAD) {
        fprintf(s, "r%u = *(byte%u *)(m + %u);\n", o->target, o->size, o->address);
    } else {
        fprintf(s, "*(byte%u *)(m + %u) = 0x%xu", o->size, o->address, o->value);
        if (o->source < TINY_REGISTERS)
            fprintf(s, " + r%u", o->source);
        fputs(";\n", s);
    }
}

static void print_op_c(const struct tiny_op *o, unsigned i, bool helper, FILE *s)
{
    fprintf(s, "op%u: ", i);
    switch (o->kind) {
    case TINY_LOAD:
    case TINY_STORE: print_memory_c(o, helper, s); break;
    case TINY_FENCE: print_fence_c(o, s); break;
    case TINY_SKIP:
        fprintf(s, "if (r%u %s 0x%xu) goto op%u;\n", o->source, o->negated ? "!=" : "==", o->value,
                i + 1 + o->distance);
        break;
    case TINY_LOOP:
        fprintf(s, "if (r%u != 0x%xu && rounds < %u) { rounds++; goto op%u; }\n", o->source,
                o->value, o->times, i - o->distance);
        break;
    case TINY_ENTER: fputs("__VERIFIER_atomic_begin();\n", s); break;
    case TINY_LEAVE: fputs("__VERIFIER_atomic_end();\n", s); break;
    default: print_atomic_c(o, s);
    }
}

static void print_thread_c(const struct tiny_program *p, unsigned n, unsigned t, FILE *s)
{
    fprintf(s, "static void *p%u_%u(void *argument)\n{\nmemory m = argument;\n", n, t);
    fputs("uint32_t r0 = 0, r1 = 0, r2 = 0, r3 = 0, rounds = 0;\n(void)rounds;\n", s);
    for (unsigned i = 0; i < p->ops[t]; i++)
        print_op_c(&p->op[t][i], i, n % 2, s);
    fprintf(s, "op%u: return (void *)(r0 + 251 * (r1 + 251 * (r2 + 251 * r3)));\n}\n", p->ops[t]);
}

static void print_main_c(const struct tiny_program *p, unsigned n, FILE *s)
{
    fprintf(s, "static void run%u(void)\n{\npthread_t t[%u];\nvoid *value;\n", n, p->threads);
    switch (n % PLACES) {
    case IN_GLOBALS: fputs("uint32_t *m = words;\n", s); break;
    case IN_HEAP: fprintf(s, "uint32_t *m = calloc(%d, 4);\n", TINY_WORDS); break;
    default: fprintf(s, "uint32_t frame[%d] = { 0 }, *m = frame;\n", TINY_WORDS);
    }
    for (unsigned t = 0; t < p->threads; t++)
        fprintf(s, "pthread_create(&t[%u], NULL, p%u_%u, m);\n", t, n, t);
    for (unsigned t = 0; t < p->threads; t++)
        fprintf(s, "pthread_join(t[%u], &value);\nresult[%u] = (uint32_t)value;\n", t, t);
    for (unsigned w = 0; w < TINY_WORDS; w++)
        fprintf(s, "final[%u] = m[%u];\n", w, w);
    fputs("}\n", s);
}

void tiny_c(const struct tiny_program *p, unsigned count, FILE *stream)
{
    print_head(stream);
    for (unsigned n = 0; n < count; n++) {
        for (unsigned t = 0; t < p[n].threads; t++)
            print_thread_c(&p[n], n, t, stream);
        print_main_c(&p[n], n, stream);
    }
    fputs("int main(void)\n{\nswitch (which) {\n", stream);
    for (unsigned n = 0; n < count; n++)
        fprintf(stream, "case %u: run%u(); break;\n", n, n);
    fputs("}\n}\n", stream);
}

bool tiny_patch(void *elf, uint32_t address, uint32_t value)
{
    const Elf32_Ehdr *header = elf;
    const Elf32_Phdr *segment = (const void *)((const char *)elf + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (address >= segment[i].p_vaddr
            && address + 4 <= segment[i].p_vaddr + segment[i].p_filesz) {
            memcpy((char *)elf + segment[i].p_offset + (address - segment[i].p_vaddr), &value, 4);
            return true;
        }
    return false;
}
