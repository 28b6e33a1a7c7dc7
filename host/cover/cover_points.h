/* SPDX-License-Identifier: Apache-2.0 */
/* Which points of coverage there are, but for those of RTL, which a model brings along.
 *
 * They come in groups; a group is the product of its axes, less what cannot be. A point is a number
 * below COVER_POINTS and has a name: the group's, then a word of each axis, as in
 * "exec.meet.rf.store4.load1". Numbers may change from version to version, names stay.
 *
 * docs/coverage.md says what the points mean. */
#ifndef HOST_COVER_POINTS_H
#define HOST_COVER_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cover_source { COVER_EXEC, COVER_EVENT, COVER_RTL, COVER_SOURCES };
extern const char *const cover_source_names[COVER_SOURCES];

/* clang-format off */
/* AXIS(NAME, words…). The axis EVENT is that of rtl/soc.def. */
#define COVER_AXES(AXIS) \
    AXIS(ONE,      "") \
    AXIS(EDGE,     "rf", "co", "fr") \
    AXIS(ACCESS,   "load1", "load2", "load4", "load8", "load16", \
                   "store1", "store2", "store4", "store8", "store16", \
                   "swap1", "swap2", "swap4", "swap8", "swap16", \
                   "cas1", "cas2", "cas4", "cas8", "cas16", \
                   "amo1", "amo2", "amo4", "amo8", "amo16") \
    AXIS(MEMORY,   "cached", "uncached") \
    AXIS(FENCE,    "none", "ll", "ls", "sl", "ss", "mixed", "full") \
    AXIS(DISTANCE, "1", "2", "4", "8", "16", "more") \
    AXIS(LEAD,     "behind-more", "behind-16", "behind-4", "level", "ahead-4", "ahead-16", \
                   "ahead-more") \
    AXIS(WHERE,    "outside", "into-tx", "out-of-tx", "same-tx", "other-tx") \
    AXIS(COHERENCE, "CoRR", "CoRW", "CoWR", "CoWW") \
    AXIS(MEETING,  "beside", "between", "closed") \
    AXIS(SHAPE2,   "2+2W", "R", "S", "MP", "SB", "LB", \
                   "WRC", "WWC", "WRW+WR", "WRW+2W", "RWC", "WRR+2W", "IRIW", "IRRWIW", "IRWIW") \
    AXIS(SHAPE3,   "3.2W", "3.SB", "3.LB", "ISA2", "Z6.0", "Z6.1", "Z6.2", "Z6.3", "Z6.4", "Z6.5", \
                   "W+RWC") \
    AXIS(BOND,     "po", "dep", "weak", "rmw", "fence", "tx") \
    AXIS(COARSE,   "po", "kept", "tx") \
    AXIS(CLOSING,  "near", "closed") \
    AXIS(ORDER,    "needed", "seen") \
    AXIS(THREADS,  "P2", "P3", "P4", "more") \
    AXIS(SHARE,    "1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1") \
    AXIS(FATE,     "commit", "abort") \
    AXIS(CONFLICTS, "alone", "1", "2", "more") \
    AXIS(POWER,    "2^0", "2^1", "2^2", "2^3", "2^4", "2^5", "2^6", "2^7", "2^8", "2^9", "2^10", \
                   "2^11") \
    AXIS(AMOUNT,   "few", "many") \
    AXIS(LOSS,     "TX_ABORTED", "TX_CONFLICTS", "TX_CAPACITIES") \
    AXIS(TROUBLE,  "aborted", "met") \
    AXIS(RATE,     "none", "1/16", "1/4", "1", "4", "16", "more")

/* GROUP(NAME, source, name, axes…, what its points are) */
#define COVER_GROUPS(GROUP) \
    GROUP(MEET, COVER_EXEC, "exec.meet", EDGE, ACCESS, ACCESS, ONE, ONE, \
          "accesses of two threads, one right after the other in the order of a word") \
    GROUP(OWN, COVER_EXEC, "exec.own", ACCESS, ACCESS, ONE, ONE, ONE, \
          "reads that saw what their own thread wrote") \
    GROUP(INITIAL, COVER_EXEC, "exec.initial", ACCESS, MEMORY, ONE, ONE, ONE, \
          "reads that saw what memory held at the start") \
    GROUP(TORN, COVER_EXEC, "exec.torn", ACCESS, MEMORY, ONE, ONE, ONE, \
          "reads whose bytes came from different stores") \
    GROUP(FORWARD, COVER_EXEC, "exec.forward", DISTANCE, FENCE, WHERE, ONE, ONE, \
          "from a thread's own store to its read: how far, over which fence, in transactions") \
    GROUP(PASS, COVER_EXEC, "exec.pass", LEAD, WHERE, MEMORY, ONE, ONE, \
          "from a store to another thread's read: how far ahead that is, in transactions") \
    GROUP(SYNC, COVER_EXEC, "exec.sync", FENCE, FENCE, ONE, ONE, ONE, \
          "fence before a store and fence after another thread's read of it") \
    GROUP(COHERENCE, COVER_EXEC, "exec.coherence", COHERENCE, BOND, MEETING, ONE, ONE, \
          "two accesses of a thread to a word, and another thread's store to it") \
    GROUP(SHAPE2, COVER_EXEC, "exec.shape", SHAPE2, BOND, BOND, CLOSING, ONE, \
          "critical cycles with two program-order pairs, on two to four threads") \
    GROUP(SHAPE3, COVER_EXEC, "exec.shape3", SHAPE3, COARSE, COARSE, COARSE, CLOSING, \
          "critical cycles with three program-order pairs, on three threads") \
    GROUP(INTERLEAVE, COVER_EXEC, "exec.interleave", ORDER, THREADS, SHARE, ONE, ONE, \
          "changes of thread in the order of all accesses, of their number") \
    GROUP(TX, COVER_EXEC, "exec.tx", FATE, DISTANCE, CONFLICTS, ONE, ONE, \
          "transactions: their fate, accesses in them, threads that they met") \
    GROUP(TROUBLE, COVER_EXEC, "exec.per-commit", TROUBLE, RATE, ONE, ONE, ONE, \
          "transactions that aborted, and threads met, for each transaction that committed") \
    GROUP(EVENT, COVER_EVENT, "event", EVENT, POWER, ONE, ONE, ONE, \
          "most events that a hart counted in one iteration") \
    GROUP(PAIR, COVER_EVENT, "event.pair", EVENT, EVENT, AMOUNT, AMOUNT, ONE, \
          "events of the same test: up to 7, or 8 and more of them") \
    GROUP(LOSS, COVER_EVENT, "event.per-commit", LOSS, RATE, ONE, ONE, ONE, \
          "aborts, conflicts and lost lines for each transaction that committed")
/* clang-format on */

/* COVER_AXIS_EDGE, …: how many words it has. */
enum cover_axis {
#define AXIS(NAME, ...) \
    COVER_AXIS_##NAME = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *),
    COVER_AXES(AXIS)
#undef AXIS
#define EVENT(number, name, text) +1
        COVER_AXIS_EVENT = 0
#include "soc.def"
#undef EVENT
};

enum cover_group_number {
#define GROUP(NAME, ...) COVER_GROUP_##NAME,
    COVER_GROUPS(GROUP)
#undef GROUP
        COVER_GROUP_COUNT
};

enum cover_point_number {
#define GROUP(NAME, source, name, a, b, c, d, e, about) \
    COVER_FIRST_##NAME, \
        COVER_LAST_##NAME = COVER_FIRST_##NAME \
                          + COVER_AXIS_##a * COVER_AXIS_##b * COVER_AXIS_##c * COVER_AXIS_##d \
                                * COVER_AXIS_##e \
                          - 1,
    COVER_GROUPS(GROUP)
#undef GROUP
        COVER_POINTS
};

enum { COVER_AXES_OF_GROUP = 5 };

struct cover_group {
    enum cover_source source;
    const char *name, *about;
    uint32_t first;                    /* of its points */
    uint8_t size[COVER_AXES_OF_GROUP]; /* words of each axis, 1: there is none */
    const char *const *words[COVER_AXES_OF_GROUP];
};
extern const struct cover_group cover_groups[COVER_GROUP_COUNT];

/* The point of a group at these words of its axes. */
static inline uint32_t cover_point(enum cover_group_number group, uint32_t a, uint32_t b,
                                   uint32_t c, uint32_t d, uint32_t e)
{
    const struct cover_group *g = &cover_groups[group];
    const uint8_t *n = g->size;
    return g->first + (((a * n[1] + b) * n[2] + c) * n[3] + d) * n[4] + e;
}

/* Where the point is on the axes of its group, which it returns. */
const struct cover_group *cover_point_at(uint32_t point, uint8_t at[COVER_AXES_OF_GROUP]);
/* Whether there is such a point: not all of a product is. */
bool cover_point_exists(uint32_t point);

/* The word of the axis RATE: at most 0, 1/16, 1/4, 1, 4, 16 for each commit; there are some. */
uint32_t cover_rate(uint64_t count, uint64_t commits);

enum { COVER_NAME_SIZE = 128 };
void cover_point_name(uint32_t point, char name[COVER_NAME_SIZE]);
/* COVER_POINTS: there is none of this name. */
uint32_t cover_point_find(const char *name, size_t length);

#endif
