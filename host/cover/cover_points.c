/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_points.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const char *const cover_source_names[COVER_SOURCES] = { "exec", "event", "rtl" };

/* ---- what cannot be -------------------------------------------------------------------------- */

enum { LOAD, STORE, SIZES = COVER_AXIS_ACCESS / 5 }; /* then SWAP, CAS and AMO */

static bool reads(uint8_t access) { return access / SIZES != STORE; }
static bool writes(uint8_t access) { return access / SIZES != LOAD; }

static bool meet_exists(const uint8_t *at)
{
    bool from = at[0] == 2 ? reads(at[1]) : writes(at[1]);
    bool to = at[0] == 0 ? reads(at[2]) : writes(at[2]);
    return from && to;
}
static bool own_exists(const uint8_t *at) { return writes(at[0]) && reads(at[1]); }
static bool read_exists(const uint8_t *at) { return reads(at[0]); }

/* A byte has come from one store. */
static bool torn_exists(const uint8_t *at) { return reads(at[0]) && at[0] % SIZES > 0; }

/* Other threads' transactions are other ones, uncached accesses are outside of any. */
static bool pass_exists(const uint8_t *at) { return at[1] != 3 && (at[2] == 0 || at[1] == 0); }

/* Nothing depends on a store. Bits: the first and the second pair of the shape begin with one. */
enum { DEP = 1 };
static const uint8_t stores_first[COVER_AXIS_SHAPE2] = {
    3, 3, 1, 1, 3, 0, 0, 0, 2, 2, 2, 2, 0, 0, 0
};

static bool coherence_exists(const uint8_t *at) { return at[0] < 2 || at[1] != DEP; }

/* Of a shape that is the same when it is turned, the least of its turns. */
static bool shape2_exists(const uint8_t *at)
{
    static const char *const symmetric[] = { "2+2W", "SB", "LB", "IRIW", "IRWIW" };
    const char *name = cover_groups[COVER_GROUP_SHAPE2].words[0][at[0]];
    if ((stores_first[at[0]] & 1 && at[1] == DEP) || (stores_first[at[0]] & 2 && at[2] == DEP))
        return false;
    for (size_t i = 0; i < sizeof symmetric / sizeof *symmetric; i++)
        if (strcmp(name, symmetric[i]) == 0)
            return at[1] <= at[2];
    return true;
}

static bool shape3_exists(const uint8_t *at)
{
    const char *name = cover_groups[COVER_GROUP_SHAPE3].words[0][at[0]];
    int turns[3];
    for (int i = 0; i < 3; i++)
        turns[i] = (at[1 + i] * 8 + at[1 + (i + 1) % 3]) * 8 + at[1 + (i + 2) % 3];
    return strncmp(name, "3.", 2) != 0 || (turns[0] <= turns[1] && turns[0] <= turns[2]);
}

/* Of a transaction that aborted nothing took place, so it met nobody. */
static bool tx_exists(const uint8_t *at) { return !at[0] || !at[2]; }

static bool pair_exists(const uint8_t *at) { return at[0] < at[1]; }

/* ---- the table ------------------------------------------------------------------------------- */

#define AXIS(NAME, ...) static const char *const words_##NAME[] = { __VA_ARGS__ };
COVER_AXES(AXIS)
#undef AXIS
static const char *const words_EVENT[] = {
#define EVENT(number, name, text) [number] = #name,
#include "soc.def"
#undef EVENT
};

static bool (*const exists[COVER_GROUP_COUNT])(const uint8_t *at) = {
    [COVER_GROUP_MEET] = meet_exists,           [COVER_GROUP_OWN] = own_exists,
    [COVER_GROUP_INITIAL] = read_exists,        [COVER_GROUP_TORN] = torn_exists,
    [COVER_GROUP_PASS] = pass_exists,           [COVER_GROUP_SHAPE2] = shape2_exists,
    [COVER_GROUP_SHAPE3] = shape3_exists,       [COVER_GROUP_PAIR] = pair_exists,
    [COVER_GROUP_COHERENCE] = coherence_exists, [COVER_GROUP_TX] = tx_exists,
};

const struct cover_group cover_groups[COVER_GROUP_COUNT] = {
#define GROUP(NAME, of, text, a, b, c, d, e, what) \
    [COVER_GROUP_##NAME] = { .source = of, \
                             .name = text, \
                             .about = what, \
                             .first = COVER_FIRST_##NAME, \
                             .size = { COVER_AXIS_##a, COVER_AXIS_##b, COVER_AXIS_##c, \
                                       COVER_AXIS_##d, COVER_AXIS_##e }, \
                             .words = { words_##a, words_##b, words_##c, words_##d, words_##e } },
    COVER_GROUPS(GROUP)
#undef GROUP
};

uint32_t cover_rate(uint64_t count, uint64_t commits)
{
    uint32_t rate = 0;
    for (uint64_t share = 0; count * 16 > share * commits && rate < COVER_AXIS_RATE - 1; rate++)
        share = share ? share * 4 : 1;
    return rate;
}

/* ---- points and names ------------------------------------------------------------------------ */

const struct cover_group *cover_point_at(uint32_t point, uint8_t at[COVER_AXES_OF_GROUP])
{
    assert(point < COVER_POINTS);
    const struct cover_group *g = &cover_groups[COVER_GROUP_COUNT - 1];
    while (g->first > point)
        g--;
    uint32_t rest = point - g->first;
    for (int i = COVER_AXES_OF_GROUP - 1; i >= 0; i--) {
        at[i] = (uint8_t)(rest % g->size[i]);
        rest /= g->size[i];
    }
    assert(rest == 0);
    return g;
}

bool cover_point_exists(uint32_t point)
{
    uint8_t at[COVER_AXES_OF_GROUP];
    const struct cover_group *g = cover_point_at(point, at);
    bool (*may)(const uint8_t *) = exists[g - cover_groups];
    return !may || may(at);
}

void cover_point_name(uint32_t point, char name[COVER_NAME_SIZE])
{
    uint8_t at[COVER_AXES_OF_GROUP];
    const struct cover_group *g = cover_point_at(point, at);
    int used = snprintf(name, COVER_NAME_SIZE, "%s", g->name);
    for (int i = 0; i < COVER_AXES_OF_GROUP && g->size[i] > 1; i++)
        used += snprintf(name + used, COVER_NAME_SIZE - (size_t)used, ".%s", g->words[i][at[i]]);
    assert(used < COVER_NAME_SIZE);
}

/* Takes a word of the axis and a dot before it off the name: which one; -1: none. A word may begin
 * as another does, so it ends with the name or at a dot. */
static int take_word(const struct cover_group *g, int axis, const char **name, const char *end)
{
    for (int w = 0; w < g->size[axis] && *name < end && **name == '.'; w++) {
        size_t length = strlen(g->words[axis][w]);
        const char *after = *name + 1 + length;
        if (after > end || memcmp(*name + 1, g->words[axis][w], length) != 0
            || (after < end && *after != '.'))
            continue;
        *name = after;
        return w;
    }
    return -1;
}

static uint32_t find_in(const struct cover_group *g, const char *name, const char *end)
{
    uint32_t at[COVER_AXES_OF_GROUP] = { 0 };
    for (int i = 0; i < COVER_AXES_OF_GROUP && g->size[i] > 1; i++) {
        int word = take_word(g, i, &name, end);
        if (word < 0)
            return COVER_POINTS;
        at[i] = (uint32_t)word;
    }
    uint32_t point = cover_point((enum cover_group_number)(g - cover_groups), at[0], at[1], at[2],
                                 at[3], at[4]);
    return name == end && cover_point_exists(point) ? point : COVER_POINTS;
}

uint32_t cover_point_find(const char *name, size_t length)
{
    for (const struct cover_group *g = cover_groups; g < cover_groups + COVER_GROUP_COUNT; g++) {
        size_t prefix = strlen(g->name);
        if (prefix >= length || memcmp(name, g->name, prefix) != 0 || name[prefix] != '.')
            continue;
        uint32_t point = find_in(g, name + prefix, name + length);
        if (point < COVER_POINTS)
            return point;
    }
    return COVER_POINTS;
}
