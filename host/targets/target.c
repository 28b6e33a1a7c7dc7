/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct target *const targets[] = { &target_model, &target_native, &target_elf, &target_sim,
                                         &target_board, NULL };

const struct target *target_find(const char *name)
{
    for (const struct target *const *t = targets; *t; t++)
        if (strcmp((*t)->name, name) == 0)
            return *t;
    return NULL;
}

/* The reasons, joined by "; ". */
struct reasons { char *text; size_t size; int length; };

static void add(struct reasons *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct reasons *r, const char *format, ...)
{
    va_list args;
    size_t used = (size_t)r->length < r->size ? (size_t)r->length : r->size;
    if (r->length)
        r->length += snprintf(r->text + used, r->size - used, "; ");
    used = (size_t)r->length < r->size ? (size_t)r->length : r->size;
    va_start(args, format);
    r->length += vsnprintf(r->text + used, r->size - used, format, args);
    va_end(args);
}

static void compare_sizes(struct reasons *r, const char *what, uint32_t asks, uint32_t can)
{
    for (int log2 = 0; log2 <= 6; log2++)
        if (asks & ~can & UINT32_C(1) << log2)
            add(r, "it has no %s of %d byte%s", what, 1 << log2, log2 ? "s" : "");
}

static void compare_number(struct reasons *r, const char *what, uint64_t asks, uint64_t can)
{
    if (asks > can)
        add(r, "the test takes %llu %s, it has %llu", (unsigned long long)asks, what,
            (unsigned long long)can);
}

static void compare_flag(struct reasons *r, const char *what, bool asks, bool can)
{
    if (asks && !can)
        add(r, "it has no %s", what);
}

int target_refusal(const struct abilities *can, const struct program *p, char *text, size_t size)
{
    const struct abilities *asks = &p->asks;
    struct reasons r = { text, size, 0 };
    if (size)
        *text = '\0';
    compare_number(&r, "threads", asks->threads, can->threads);
    compare_number(&r, "registers a thread", asks->registers, can->registers);
    compare_number(&r, "bytes of memory", asks->memory, can->memory);
    compare_sizes(&r, "load", asks->load_sizes, can->load_sizes);
    compare_sizes(&r, "store", asks->store_sizes, can->store_sizes);
    compare_sizes(&r, "swap", asks->swap_sizes, can->swap_sizes);
    compare_sizes(&r, "CAS", asks->cas_sizes, can->cas_sizes);
    compare_sizes(&r, "AMO", asks->amo_sizes, can->amo_sizes);
    compare_flag(&r, "transactions", asks->transactions, can->transactions);
    compare_flag(&r, "interrupts between threads", asks->interrupts, can->interrupts);
    compare_flag(&r, "cache flush", asks->flush, can->flush);
    compare_flag(&r, "uncached memory", asks->uncached, can->uncached);
    compare_flag(&r, "faulting addresses", asks->nonfaulting, can->nonfaulting);
    return r.length;
}
