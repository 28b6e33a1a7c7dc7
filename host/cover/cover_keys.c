/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_keys.h"

#include <string.h>

/* The first row that fits counts; a word that ends with '*' fits whatever begins so. A group is one,
 * or a whole source. An axis of 0 means any; they are counted from 1. Where nothing is known to help
 * the advice is empty: nobody is sent on a wrong way. */
struct row {
    const char *group;
    int axis;
    const char *word, *advice;
};

#define SHARED "fewer test.locations,sharing.pattern=hot"
#define CROWD "more test.threads,fewer test.locations"
#define ATOMICS "more operations.swap,more operations.cas,more operations.amo"
#define SETS "more test.locations,more placement.lines_per_set,more placement.set_stride"

/* clang-format off */
static const struct row table[] = {
    { "exec.interleave", 2, "P2",   "fewer test.threads" },
    { "exec.interleave", 2, "*",    "more test.threads" },
    { "exec.interleave", 3, "1/*",  "more test.operations,more operations.delay,sharing.pattern=private" },
    { "exec.interleave", 3, "1",    SHARED },

    { "exec.tx", 1, "abort",  "more transactions.abort,more transactions.share" },
    { "exec.tx", 1, "commit", "fewer transactions.abort,more transactions.share" },
    { "exec.tx", 2, "1",      "fewer transactions.length_mean" },
    { "exec.tx", 2, "2",      "fewer transactions.length_mean" },
    { "exec.tx", 2, "*",      "more transactions.length_mean,more transactions.length_max" },
    { "exec.tx", 3, "alone",  "transactions.disjoint=yes,more test.locations" },
    { "exec.tx", 3, "1",      "more transactions.share" },
    { "exec.tx", 3, "*",      CROWD ",more transactions.share" },

    { "exec.per-commit", 1, "aborted", "more transactions.abort" },
    { "exec.per-commit", 1, "met",     "more transactions.share" },
    { "exec.per-commit", 2, "none", "fewer transactions.abort,transactions.disjoint=yes" },
    { "exec.per-commit", 2, "1/*",  "fewer transactions.abort,more test.locations" },
    { "exec.per-commit", 2, "*",    "more transactions.abort," CROWD },

    { "exec.forward", 1, "1",    SHARED },
    { "exec.forward", 1, "2",    SHARED },
    { "exec.forward", 1, "*",    "more test.locations,more test.operations,sharing.pattern=private" },
    { "exec.pass", 1, "level",    "fewer test.operations" },
    { "exec.pass", 1, "*-4",      "fewer test.operations" },
    { "exec.pass", 1, "*",        "more test.operations,more operations.delay" },

    { "exec.coherence", 1, "CoRR", "more idioms.corr" },
    { "exec.coherence", 1, "CoRW", "more idioms.corw" },
    { "exec.coherence", 1, "CoWR", SHARED ",more operations.store" },
    { "exec.coherence", 1, "CoWW", "more idioms.coww" },
    { "exec.coherence", 3, "*",    SHARED },

    { "exec.shape", 1, "2+2W", "more idioms.2+2w" },
    { "exec.shape", 1, "R",    "more idioms.r" },
    { "exec.shape", 1, "S",    "more idioms.s" },
    { "exec.shape", 1, "MP",   "more idioms.mp" },
    { "exec.shape", 1, "SB",   "more idioms.sb" },
    { "exec.shape", 1, "LB",   "more idioms.lb" },
    { "exec.shape", 1, "WRC",  "more idioms.wrc,more test.threads" },
    { "exec.shape", 1, "RWC",  "more idioms.rwc,more test.threads" },
    { "exec.shape", 1, "IRIW", "more idioms.iriw,more test.threads" },
    { "exec.shape", 1, "*",    CROWD },
    { "exec.shape3", 1, "ISA2", "more idioms.isa2,more test.threads" },
    { "exec.shape3", 1, "*",    CROWD },
    { "exec.shape3", 0, "kept", "more membar.full,more operations.swap" },
    { "exec", 0, "near",   SHARED },
    { "exec", 0, "closed", "more test.repeat,fewer membar.full,fewer operations.swap" },

    { "event.per-commit", 2, "none", "fewer transactions.abort,more test.locations" },
    { "event.per-commit", 2, "1/*",  "fewer transactions.abort,more test.locations" },
    { "event.per-commit", 2, "*",    "more transactions.abort,fewer test.locations,more transactions.retries" },
    { "event", 2, "2^0",  "fewer test.operations" },
    { "event", 2, "2^1",  "fewer test.operations" },
    { "event", 2, "2^*",  "more test.operations" },
    { "event", 0, "few",  "fewer test.operations" },
    { "event", 0, "many", "more test.operations" },
    { "event", 0, "INSTRUCTION",       "more test.operations" },
    { "event", 0, "OPERAND_WAIT",      "more dependencies.share" },
    { "event", 0, "MEMORY_WAIT",       "more test.operations" },
    { "event", 0, "INTERRUPT",         "more operations.interrupt" },
    { "event", 0, "EXCEPTION",         "more operations.nonfaulting,more faults.share" },
    { "event", 0, "BRANCH_TAKEN",      "more branches.share,more loops.share" },
    { "event", 0, "ATOMIC",            ATOMICS },
    { "event", 0, "BUFFER_FULL",       "more operations.store,more test.operations" },
    { "event", 0, "FORWARD",           "fewer test.locations,more operations.store" },
    { "event", 0, "PARTIAL_FORWARD",   "more sizes.1,more sizes.2" },
    { "event", 0, "STORE_OUT_OF_ORDER", "more operations.store,more test.locations" },
    { "event", 0, "LOAD_OUT_OF_ORDER", "more operations.load,more test.locations" },
    { "event", 0, "LOAD_*",            "more operations.load,fewer test.locations" },
    { "event", 0, "LOAD",              "more operations.load" },
    { "event", 0, "STORE",             "more operations.store" },
    { "event", 0, "FENCE_WAIT",        "more membar.full,more membar.sl" },
    { "event", 0, "UNCACHED",          "more placement.uncached" },
    { "event", 0, "CAPTURE_STALL",     "--config capture-fifo=32" },
    { "event", 0, "TX_CAPACITIES",     "more transactions.length_mean,more placement.lines_per_set" },
    { "event", 0, "TX_CONFLICTS",      "more transactions.share,fewer test.locations" },
    { "event", 0, "TX_ABORTED",        "more transactions.abort,more transactions.share" },
    { "event", 0, "TX_*",              "more transactions.share" },
    { "event", 0, "HIT",               "fewer test.locations" },
    { "event", 0, "UPGRADE*",          "fewer test.locations,more placement.false_sharing" },
    { "event", 0, "MISS*",             "more test.locations,fewer placement.words_per_line" },
    { "event", 0, "EVICT_*",           SETS },
    { "event", 0, "WB_FULL",           SETS },
    { "event", 0, "SNOOP_HIT_WB",      SETS },
    { "event", 0, "SNOOP_*",           SHARED },
    { "event", 0, "INVALIDATED",       "fewer test.locations,more placement.false_sharing" },
    { "event", 0, "ATOMIC_INVALIDATED", "more operations.swap,more operations.cas,sharing.pattern=hot" },
    { "event", 0, "RESERVATION_LOST",  "more operations.cas,sharing.pattern=hot" },
    { "event", 0, "SC_FAILED",         "more operations.cas,sharing.pattern=hot" },
    { "event", 0, "BUS_*",             CROWD },
    { "event", 0, "FROM_CACHE",        SHARED },
    { "event", 0, "FROM_MEMORY",       "more test.locations" },
    { "event", 0, "MEMORY_BEHIND_WRITE", "more placement.lines_per_set,more operations.flush" },
    { "event", 0, "DATA_OUT_OF_ORDER", "more test.threads,more test.locations" },

    /* Words that mean the same wherever they are. */
    { "exec", 0, "swap8",    "more operations.swap,more sizes.8" },
    { "exec", 0, "cas8",     "more operations.cas,more sizes.8" },
    { "exec", 0, "amo8",     "more operations.amo,more sizes.8" },
    { "exec", 0, "swap*",    "more operations.swap" },
    { "exec", 0, "cas*",     "more operations.cas" },
    { "exec", 0, "amo*",     "more operations.amo" },
    { "exec", 0, "load16",   "more sizes.64" },
    { "exec", 0, "load1",    "more sizes.1" },
    { "exec", 0, "load2",    "more sizes.2" },
    { "exec", 0, "load4",    "more sizes.4" },
    { "exec", 0, "load8",    "more sizes.8" },
    { "exec", 0, "store16",  "more sizes.64" },
    { "exec", 0, "store1",   "more sizes.1" },
    { "exec", 0, "store2",   "more sizes.2" },
    { "exec", 0, "store4",   "more sizes.4" },
    { "exec", 0, "store8",   "more sizes.8" },
    { "exec", 0, "uncached", "more placement.uncached" },
    { "exec", 0, "cached",   "fewer placement.uncached" },
    { "exec", 0, "none",     "fewer membar.full" },
    { "exec", 0, "ll",       "more membar.ll" },
    { "exec", 0, "ls",       "more membar.ls" },
    { "exec", 0, "sl",       "more membar.sl" },
    { "exec", 0, "ss",       "more membar.ss" },
    { "exec", 0, "mixed",    "more membar.mixed" },
    { "exec", 0, "full",     "more membar.full" },
    { "exec", 0, "outside",  "fewer transactions.share" },
    { "exec", 0, "*-tx",     "more transactions.share" },
    { "exec", 0, "po",       "fewer membar.full" },
    { "exec", 0, "dep",      "more dependencies.share,more dependencies.atomics" },
    { "exec", 0, "weak",     "more membar.ll,more membar.ls,more membar.ss" },
    { "exec", 0, "rmw",      ATOMICS },
    { "exec", 0, "fence",    "more membar.full,more membar.sl" },
    { "exec", 0, "tx",       "more transactions.share" },
};

/* Words that only another machine, or this one in another way, has; or more of, unless it obeys one
 * of these models. */
#define WEAK(model) (1u << ORDEAL_##model | 1u << ORDEAL_RMO)
static const struct {
    struct row row;
    uint32_t models;
} elsewhere[] = {
    { { "event", 0, "STORE_OUT_OF_ORDER", "--model PSO" }, WEAK(PSO) },
    { { "event", 0, "LOAD_OUT_OF_ORDER",  "--model RMO" }, WEAK(RMO) },
    { { "exec.coherence", 0, "closed",    "--model RMO" }, WEAK(RMO) },
    { { "exec.shape", 4, "closed",        "--model PSO" }, WEAK(PSO) },
    { { "exec.shape3", 5, "closed",       "--model PSO" }, WEAK(PSO) },
    { { "exec", 0, "seen",                "--target sim" }, 0 },
    { { "exec", 0, "uncached",            "--target sim" }, 0 },
    { { "exec", 0, "tx",                  "--target sim" }, 0 },
    { { "exec", 0, "*-tx",                "--target sim" }, 0 },
};
/* clang-format on */

/* '*' stands for anything, at the begin or at the end. */
static bool fits(const char *pattern, const char *word)
{
    size_t length = strlen(pattern), all = strlen(word);
    if (length && *pattern == '*')
        return all + 1 >= length && strcmp(pattern + 1, word + all - (length - 1)) == 0;
    bool open = length && pattern[length - 1] == '*';
    return open ? strncmp(pattern, word, length - 1) == 0 : strcmp(pattern, word) == 0;
}

/* A source, or one group. */
static bool is_of(const char *name, const struct cover_group *g)
{
    return strcmp(name, g->name) == 0 || strcmp(name, cover_source_names[g->source]) == 0;
}

static bool is_about(const struct row *r, const struct cover_group *g, int axis, int word)
{
    return is_of(r->group, g) && (r->axis == 0 || r->axis == axis + 1)
        && fits(r->word, g->words[axis][word]);
}

const char *cover_keys(const struct cover_group *g, int axis, int word)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (is_about(&table[i], g, axis, word))
            return table[i].advice;
    return "";
}

const char *cover_elsewhere(const struct cover_group *g, int axis, int word,
                            const struct cover_can *can, bool any)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        uint32_t models = elsewhere[i].models;
        if (is_about(&elsewhere[i].row, g, axis, word))
            return (models ? models & can->models : any) ? NULL : elsewhere[i].row.advice;
    }
    return NULL;
}
