/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a bias file: the one table that makes their places in struct bias, their defaults,
 * ranges and help. Three shapes: a number, one of some words, or a number or a word.
 *
 *     NUMBER(section, field, name, default, least, most, help)
 *     CHOICE(section, field, name, default, words, help)
 *     EITHER(section, field, name, default, least, most, words, help)   the word is KEY_WORD */
#ifndef HOST_BIAS_KEYS_H
#define HOST_BIAS_KEYS_H

#include "idiom.h"

#define KEY_WORD UINT32_MAX
#define MOST_WEIGHT 10000
#define MOST_THREADS 256
#define MOST_LOCATIONS 65536

/* The words of a key, in the order of their values, are lists in bias.c. */
enum { SHARING_UNIFORM, SHARING_HOT, SHARING_PRODUCER, SHARING_MIGRATING, SHARING_PRIVATE };
enum { BIAS_NO, BIAS_YES };
enum { VALUES_SMALL, VALUES_WIDE, VALUES_HIGH };

#define BIAS_WEIGHT(NUMBER, section, field, name, preset, help) \
    NUMBER(section, field, name, preset, 0, MOST_WEIGHT, help)
#define BIAS_PERCENT(NUMBER, section, field, preset, help) \
    NUMBER(section, field, #field, preset, 0, 100, help)

/* clang-format off */
#define BIAS_KEYS(NUMBER, CHOICE, EITHER) \
    NUMBER(test, threads, "threads", 2, 1, MOST_THREADS, "threads of a test") \
    NUMBER(test, operations, "operations", 100, 1, 1000000, \
           "operations of a thread, as executed: those of a loop count each time round,\n" \
           "of a branch one side; a CAS and the load before it are two") \
    NUMBER(test, locations, "locations", 16, 1, MOST_LOCATIONS, "words of memory to race for") \
    CHOICE(test, values, "values", VALUES_SMALL, values_words, \
           "what stores write, a number each that is new in its word\n" \
           "small: 1, 2, 3, ...; so always in a test with loops, which count up\n" \
           "wide: all bits take part, the sign, too\n" \
           "high: 1, 2, 3, ... in the upper half of the smallest access") \
    NUMBER(test, repeat, "repeat", 1, 1, 1000, \
           "times that an idiom is done in a row, by the same threads in the same words, as\n" \
           "far as there is room") \
    BIAS_PERCENT(NUMBER, test, between, 0, \
                 "chance in percent that a thread does something else, as [operations] and\n" \
                 "[membar] say, between two operations of an idiom") \
    BIAS_PERCENT(NUMBER, test, omit, 0, \
                 "chance in percent that a test goes without each of the operations (but L and\n" \
                 "S), membars, idioms, sizes of 1, 2 and 64 bytes, blocks, uncached lines and\n" \
                 "false sharing that the bias has, or with fewer locations, or fewer of them in a\n" \
                 "line: tests then differ more from each other") \
    \
    BIAS_WEIGHT(NUMBER, operations, load, "load", 40, "L: a load") \
    BIAS_WEIGHT(NUMBER, operations, store, "store", 40, "S: a store") \
    BIAS_WEIGHT(NUMBER, operations, swap, "swap", 5, "SWAP: an atomic swap, of 4 or 8 bytes") \
    BIAS_WEIGHT(NUMBER, operations, cas, "cas", 3, \
                "CAS of 4 or 8 bytes: a load, then compare and swap with what it saw") \
    BIAS_WEIGHT(NUMBER, operations, amo, "amo", 0, \
                "an AMO: add, and, or, xor, min, max, minu, maxu, of 4 or 8 bytes") \
    BIAS_WEIGHT(NUMBER, operations, prefetch, "prefetch", 0, "PREFETCH of a line") \
    BIAS_WEIGHT(NUMBER, operations, flush, "flush", 0, \
                "FLUSH of a line; in a transaction if transactions.hints says so") \
    BIAS_WEIGHT(NUMBER, operations, evict, "evict", 0, \
                "EVICT: accesses that push a line out of the caches; never in a transaction") \
    BIAS_WEIGHT(NUMBER, operations, nonfaulting, "nonfaulting", 0, \
                "NFL: a load that reads 0 where there is no memory") \
    BIAS_WEIGHT(NUMBER, operations, interrupt, "interrupt", 0, \
                "IPI: an interrupt to the hart of another thread; never in a transaction") \
    BIAS_WEIGHT(NUMBER, operations, delay, "delay", 0, "DELAY: some cycles of nothing") \
    BIAS_WEIGHT(NUMBER, operations, lrsc, "lrsc", 0, \
                "LR and SC of a word, of 4 or 8 bytes; never in a transaction") \
    \
    BIAS_WEIGHT(NUMBER, membar, full, "full", 4, "MEMBAR: orders everything") \
    BIAS_WEIGHT(NUMBER, membar, sl, "sl", 0, "MEMBAR.SL: earlier stores before later loads") \
    BIAS_WEIGHT(NUMBER, membar, ss, "ss", 0, "MEMBAR.SS: earlier stores before later stores") \
    BIAS_WEIGHT(NUMBER, membar, ll, "ll", 0, "MEMBAR.LL: earlier loads before later loads") \
    BIAS_WEIGHT(NUMBER, membar, ls, "ls", 0, "MEMBAR.LS: earlier loads before later stores") \
    BIAS_WEIGHT(NUMBER, membar, mixed, "mixed", 0, "two or three flavours at once, any of them") \
    BIAS_WEIGHT(NUMBER, membar, tso, "tso", 0, "MEMBAR.tso: RISC-V's FENCE.TSO, all but SL") \
    BIAS_WEIGHT(NUMBER, membar, sets, "sets", 0, \
                "MEMBAR r,rw and the like: reads, writes or both before, and behind") \
    \
    BIAS_PERCENT(NUMBER, marks, rmw, 0, \
                 "percent of LR, SC, swaps, CAS and AMOs that acquire (.aq), release (.rl) or both") \
    BIAS_PERCENT(NUMBER, marks, plain, 0, \
                 "percent of loads that acquire and of stores that release: no machine has such,\n" \
                 "but those of the target model") \
    \
    BIAS_WEIGHT(NUMBER, sizes, 1, "1", 0, "accesses of 1 byte") \
    BIAS_WEIGHT(NUMBER, sizes, 2, "2", 0, "accesses of 2 bytes") \
    BIAS_WEIGHT(NUMBER, sizes, 4, "4", 1, "accesses of 4 bytes") \
    BIAS_WEIGHT(NUMBER, sizes, 8, "8", 0, \
                "accesses of 8 bytes; words of memory are then 8 bytes wide") \
    BIAS_WEIGHT(NUMBER, sizes, 64, "64", 0, "loads and stores of a whole line") \
    \
    NUMBER(placement, words_per_line, "words_per_line", 1, 1, 16, \
           "locations in a line of 64 bytes; at most 8 when words are 8 bytes wide") \
    BIAS_PERCENT(NUMBER, placement, false_sharing, 0, \
                 "percent of the accesses that go to the thread's own word of the line:\n" \
                 "threads share the line, but not the word") \
    NUMBER(placement, lines_per_set, "lines_per_set", 1, 1, 64, \
           "lines that lie set_stride bytes apart and so fall into one set of a cache;\n" \
           "1: lines lie side by side") \
    NUMBER(placement, set_stride, "set_stride", 4096, 64, 1048576, \
           "bytes between the lines of a set, a multiple of 64") \
    BIAS_PERCENT(NUMBER, placement, uncached, 0, \
                 "percent of the lines that are uncached, rounded up") \
    \
    CHOICE(sharing, pattern, "pattern", SHARING_UNIFORM, sharing_words, \
           "uniform: any thread, any location\n" \
           "hot: hot_percent of the accesses go to the first hot_locations\n" \
           "producer: each location is written by one thread and read by the others\n" \
           "migrating: each location is one thread's at a time, then the next one's\n" \
           "private: each location is one thread's, but for private_shared percent of accesses") \
    NUMBER(sharing, hot_locations, "hot_locations", 1, 1, MOST_LOCATIONS, \
           "hot: how many locations") \
    BIAS_PERCENT(NUMBER, sharing, hot_percent, 80, "hot: percent of the accesses that go there") \
    NUMBER(sharing, migrating_every, "migrating_every", 20, 1, 1000000, \
           "migrating: operations of a thread before its locations go to the next one") \
    BIAS_PERCENT(NUMBER, sharing, private_shared, 10, \
                 "private: percent of the accesses that go to any location") \
    BIAS_PERCENT(NUMBER, sharing, near, 0, \
                 "percent of PREFETCH, FLUSH, EVICT and of CAS without a load before it that go\n" \
                 "where the last access of their thread went") \
    \
    BIAS_PERCENT(NUMBER, loops, share, 0, "percent of the operations done in loops") \
    NUMBER(loops, length_min, "length_min", 2, 1, 1000, "operations in a loop, at least") \
    NUMBER(loops, length_max, "length_max", 6, 1, 1000, "and at most") \
    NUMBER(loops, count_min, "count_min", 2, 1, 10000, "times round, at least") \
    NUMBER(loops, count_max, "count_max", 8, 1, 10000, "and at most") \
    \
    BIAS_PERCENT(NUMBER, branches, share, 0, \
                 "percent of the operations under branches that nobody can predict") \
    NUMBER(branches, length_min, "length_min", 1, 1, 1000, "operations on a side, at least") \
    NUMBER(branches, length_max, "length_max", 4, 1, 1000, "and at most") \
    NUMBER(branches, otherwise, "else", 50, 0, 100, "percent of the branches with an else side") \
    \
    BIAS_PERCENT(NUMBER, transactions, share, 0, "percent of the operations in transactions") \
    NUMBER(transactions, length_min, "length_min", 1, 1, 10000, \
           "operations in a transaction, at least") \
    NUMBER(transactions, length_mean, "length_mean", 4, 1, 10000, "on average") \
    NUMBER(transactions, length_max, "length_max", 12, 1, 10000, "and at most") \
    BIAS_PERCENT(NUMBER, transactions, abort, 0, \
                 "percent of the transactions that abort themselves") \
    EITHER(transactions, retries, "retries", 8, 0, 1000000, forever_words, \
           "tries after the first before its operations are done plainly") \
    CHOICE(transactions, disjoint, "disjoint", BIAS_NO, yes_words, \
           "yes: half of the lines are for transactions alone, the others for the rest") \
    CHOICE(transactions, hints, "hints", BIAS_NO, yes_words, \
           "yes: FLUSH is in transactions, too, as PREFETCH is in any case") \
    \
    BIAS_WEIGHT(NUMBER, cas, own, "own", 1, \
                "a CAS compares with what a load of its word just before it saw") \
    BIAS_WEIGHT(NUMBER, cas, register, "register", 0, \
                "or with what an older load saw, of any word, as far back as\n" \
                "dependencies.distance says; where there is none, with a value as below") \
    BIAS_WEIGHT(NUMBER, cas, value, "value", 0, \
                "or with one of the last values written to its word by anybody, or with 0") \
    \
    BIAS_PERCENT(NUMBER, dependencies, share, 0, \
                 "percent of the loads and stores of up to 8 bytes that depend on an older load\n" \
                 "of their thread (<r1), if there is one that set a register") \
    BIAS_PERCENT(NUMBER, dependencies, atomics, 0, \
                 "the same of swaps and AMOs, and of LR and SC") \
    BIAS_WEIGHT(NUMBER, dependencies, plain, "plain", 1, \
                "such a dependence is one of the address, or the target's choice") \
    BIAS_WEIGHT(NUMBER, dependencies, data, "data", 0, \
                "or one of the data (<data:r1), where something is written") \
    BIAS_WEIGHT(NUMBER, dependencies, control, "control", 0, \
                "or one of a branch right before it (<ctrl:r1)") \
    NUMBER(dependencies, distance, "distance", 8, 1, 1000, \
           "accesses of the thread back to that load, at most") \
    \
    NUMBER(delays, cycles_min, "cycles_min", 1, 1, 1000000, "cycles of a DELAY, at least") \
    NUMBER(delays, cycles_max, "cycles_max", 100, 1, 1000000, "and at most") \
    BIAS_PERCENT(NUMBER, faults, share, 50, \
                 "percent of the non-faulting loads that go where there is no memory") \
    \
    BUILTIN_IDIOMS(NUMBER)
/* clang-format on */

#endif
