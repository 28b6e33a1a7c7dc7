/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_keys.h"

#include <string.h>

/* The first row that fits counts; a word that ends with '*' fits whatever begins so. Where nothing is
 * known to help there is no row: nobody is sent on a wrong way. */
/* clang-format off */
static const struct { const char *group, *word, *keys; } table[] = {
    { "exec.interleave", "P3",  "test.threads" },
    { "exec.interleave", "P4",  "test.threads" },
    { "exec.interleave", "more", "test.threads" },
    { "exec.interleave", "1/*", "test.operations operations.delay sharing.private_shared" },
    { "exec.interleave", "1",   "test.locations sharing.hot_percent" },

    { "exec.tx", "abort",  "transactions.abort transactions.share" },
    { "exec.tx", "commit", "transactions.share" },
    { "exec.tx", "alone",  "transactions.disjoint test.locations" },
    { "exec.tx", "1",      "transactions.length_min transactions.length_mean" },
    { "exec.tx", "2",      "transactions.length_mean test.threads test.locations" },
    { "exec.tx", "*",      "transactions.length_mean transactions.length_max test.threads" },

    { "exec.forward", "1",    "test.locations sharing.hot_percent" },
    { "exec.forward", "2",    "test.locations sharing.hot_percent" },
    { "exec.forward", "16",   "test.locations test.operations" },
    { "exec.pass", "behind-*", "test.operations operations.delay" },
    { "exec.pass", "ahead-*",  "test.operations operations.delay" },

    { "exec.shape", "2+2W", "idioms.2+2w" },
    { "exec.shape", "R",    "idioms.r" },
    { "exec.shape", "S",    "idioms.s" },
    { "exec.shape", "MP",   "idioms.mp" },
    { "exec.shape", "SB",   "idioms.sb" },
    { "exec.shape", "LB",   "idioms.lb" },
    { "exec.shape", "WRC",  "idioms.wrc test.threads" },
    { "exec.shape", "RWC",  "idioms.rwc test.threads" },
    { "exec.shape", "IRIW", "idioms.iriw test.threads" },
    { "exec.shape", "W*",   "test.threads test.locations" },
    { "exec.shape", "IR*",  "test.threads test.locations" },
    { "exec.shape3", "ISA2", "idioms.isa2 test.threads" },
    { "exec.shape3", "3.*", "test.threads test.locations" },
    { "exec.shape3", "Z6.*", "test.threads test.locations" },
    { "exec.shape3", "W+RWC", "test.threads test.locations" },
    { "exec.shape3", "kept", "membar.full operations.swap" },
    { "exec.coherence", "CoRR", "idioms.corr" },

    { "event.per-commit", "*", "transactions.share test.locations transactions.retries" },
    { "event", "INTERRUPT",         "operations.interrupt" },
    { "event", "EXCEPTION",         "operations.nonfaulting faults.share" },
    { "event", "BRANCH_TAKEN",      "branches.share loops.share" },
    { "event", "ATOMIC",            "operations.swap operations.cas operations.amo" },
    { "event", "BUFFER_FULL",       "operations.store test.operations" },
    { "event", "FORWARD",           "test.locations operations.store" },
    { "event", "PARTIAL_FORWARD",   "sizes.1 sizes.2" },
    { "event", "LOAD_*",            "operations.load test.locations" },
    { "event", "FENCE_WAIT",        "membar.full membar.sl" },
    { "event", "UNCACHED",          "placement.uncached" },
    { "event", "TX_CAPACITIES",     "transactions.length_mean placement.lines_per_set" },
    { "event", "TX_CONFLICTS",      "transactions.share test.locations" },
    { "event", "TX_*",              "transactions.share transactions.abort" },
    { "event", "UPGRADE*",          "test.locations placement.false_sharing" },
    { "event", "MISS*",             "test.locations placement.words_per_line" },
    { "event", "EVICT_*",           "test.locations placement.lines_per_set placement.set_stride" },
    { "event", "WB_FULL",           "placement.lines_per_set placement.set_stride" },
    { "event", "SNOOP_HIT_WB",      "placement.lines_per_set placement.set_stride" },
    { "event", "SNOOP_*",           "test.locations sharing.hot_percent" },
    { "event", "INVALIDATED",       "test.locations placement.false_sharing" },
    { "event", "ATOMIC_INVALIDATED", "operations.swap operations.cas sharing.hot_percent" },
    { "event", "RESERVATION_LOST",  "operations.cas sharing.hot_percent" },
    { "event", "SC_FAILED",         "operations.cas sharing.hot_percent" },
    { "event", "BUS_*",             "test.threads test.locations" },
    { "event", "FROM_*",            "test.locations" },
    { "event", "MEMORY_BEHIND_WRITE", "placement.lines_per_set operations.flush" },

    /* Words that mean the same wherever they are. */
    { "exec", "swap*",    "operations.swap" },
    { "exec", "cas*",     "operations.cas" },
    { "exec", "amo*",     "operations.amo" },
    { "exec", "load1",    "sizes.1" },
    { "exec", "load2",    "sizes.2" },
    { "exec", "load8",    "sizes.8" },
    { "exec", "load16",   "sizes.64" },
    { "exec", "store1",   "sizes.1" },
    { "exec", "store2",   "sizes.2" },
    { "exec", "store8",   "sizes.8" },
    { "exec", "store16",  "sizes.64" },
    { "exec", "uncached", "placement.uncached" },
    { "exec", "ll",       "membar.ll" },
    { "exec", "ls",       "membar.ls" },
    { "exec", "sl",       "membar.sl" },
    { "exec", "ss",       "membar.ss" },
    { "exec", "mixed",    "membar.mixed" },
    { "exec", "full",     "membar.full" },
    { "exec", "into-tx",  "transactions.share" },
    { "exec", "out-of-tx", "transactions.share" },
    { "exec", "same-tx",  "transactions.share" },
    { "exec", "other-tx", "transactions.share" },
    { "exec", "dep",      "dependencies.share" },
    { "exec", "weak",     "membar.ll membar.ls membar.ss" },
    { "exec", "rmw",      "operations.swap operations.cas operations.amo" },
    { "exec", "fence",    "membar.full membar.sl" },
    { "exec", "tx",       "transactions.share" },
};
/* clang-format on */

static bool fits(const char *pattern, const char *word)
{
    size_t length = strlen(pattern);
    bool open = length && pattern[length - 1] == '*';
    return open ? strncmp(pattern, word, length - 1) == 0 : strcmp(pattern, word) == 0;
}

/* A source, or one group. */
static bool is_of(const char *name, const struct cover_group *g)
{
    return strcmp(name, g->name) == 0 || strcmp(name, cover_source_names[g->source]) == 0;
}

const char *cover_keys(const struct cover_group *g, const char *word)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (is_of(table[i].group, g) && fits(table[i].word, word))
            return table[i].keys;
    return NULL;
}
