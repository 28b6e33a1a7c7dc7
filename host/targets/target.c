/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <stdarg.h>
#include <stddef.h>
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

/* Accesses of sizes, and what a machine has or lacks: where a program asks for them, how they are
 * called, and the key of a bias by which tests go without. */
static const struct {
    size_t at;
    const char *what, *key; /* key NULL: that of the size */
} sizes[] = {
    { offsetof(struct abilities, load_sizes), "load", NULL },
    { offsetof(struct abilities, store_sizes), "store", NULL },
    { offsetof(struct abilities, swap_sizes), "swap", "operations.swap" },
    { offsetof(struct abilities, cas_sizes), "CAS", "operations.cas" },
    { offsetof(struct abilities, amo_sizes), "AMO", "operations.amo" },
    { offsetof(struct abilities, reserve_sizes), "LR and SC", "operations.lrsc" },
};

static const struct {
    size_t at;
    const char *what, *key;
} flags[] = {
    { offsetof(struct abilities, transactions), "transactions", "transactions.share" },
    { offsetof(struct abilities, interrupts), "interrupts between threads",
      "operations.interrupt" },
    { offsetof(struct abilities, flush), "cache flush", "operations.flush" },
    { offsetof(struct abilities, uncached), "uncached memory", "placement.uncached" },
    { offsetof(struct abilities, nonfaulting), "faulting addresses", "operations.nonfaulting" },
    { offsetof(struct abilities, marks), "atomics with .aq or .rl", "marks.rmw" },
    { offsetof(struct abilities, plain_marks), "loads and stores with .aq or .rl", "marks.plain" },
    { offsetof(struct abilities, data), "dependences by data", "dependencies.data" },
    { offsetof(struct abilities, control), "dependences by branches", "dependencies.control" },
};
enum { SIZES = sizeof sizes / sizeof *sizes, FLAGS = sizeof flags / sizeof *flags };

/* The sizes, as bits, that one asks for and the other lacks. */
static uint32_t lacks_sizes(int i, const struct abilities *asks, const struct abilities *can)
{
    return *(const uint32_t *)((const char *)asks + sizes[i].at)
         & ~*(const uint32_t *)((const char *)can + sizes[i].at);
}

static bool lacks_flag(int i, const struct abilities *asks, const struct abilities *can)
{
    return *(const bool *)((const char *)asks + flags[i].at)
        && !*(const bool *)((const char *)can + flags[i].at);
}

static void compare_number(struct reasons *r, const char *what, uint64_t asks, uint64_t can)
{
    if (asks > can)
        add(r, "the test takes %llu %s, it has %llu", (unsigned long long)asks, what,
            (unsigned long long)can);
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
    for (int i = 0; i < SIZES; i++)
        for (int log2 = 0; log2 <= 6; log2++)
            if (lacks_sizes(i, asks, can) >> log2 & 1)
                add(&r, "it has no %s of %d byte%s", sizes[i].what, 1 << log2, log2 ? "s" : "");
    for (int i = 0; i < FLAGS; i++)
        if (lacks_flag(i, asks, can))
            add(&r, "it has no %s", flags[i].what);
    return r.length;
}

/* ---- what to do about it ------------------------------------------------------------------- */

const char *target_more_threads(const struct target *t)
{
    return target_option_known(t->name, "harts") ? "; --harts makes a machine of more" : "";
}

/* Each key once: of a size of swaps 8 is a size that the test could do without. */
static void advise_keys(struct reasons *r, const struct abilities *asks,
                        const struct abilities *can)
{
    uint32_t without = 0;
    for (int i = 0; i < SIZES; i++) {
        uint32_t lacks = lacks_sizes(i, asks, can);
        without |= sizes[i].key ? lacks & 1 << 3 : lacks;
        if (sizes[i].key && lacks & 1 << 2)
            add(r, "--set %s=0", sizes[i].key);
    }
    for (int log2 = 0; log2 <= 6; log2++)
        if (without >> log2 & 1)
            add(r, "--set sizes.%d=0", 1 << log2);
    for (int i = 0; i < FLAGS; i++)
        if (lacks_flag(i, asks, can))
            add(r, "--set %s=0", flags[i].key);
    if (asks->threads > can->threads)
        add(r, "--set test.threads=%u", can->threads);
    if (asks->registers > can->registers)
        add(r, "--set dependencies.share=0");
    if (asks->memory > can->memory)
        add(r, "--set test.locations with less");
}

void target_advise(const struct target *t, const struct abilities *can, const struct program *p,
                   bool made, const char *profile, struct why *why)
{
    char keys[256] = "";
    struct reasons r = { keys, sizeof keys, 0 };
    if (p->asks.threads > can->threads)
        why_add(why, "%s", target_more_threads(t));
    if (!made)
        return;
    advise_keys(&r, &p->asks, can);
    why_add(why, " (%s%s%smakes tests that it can run: %s)", profile ? "profile " : "",
            profile ? profile : "", profile ? "; this " : "this ", keys);
}
