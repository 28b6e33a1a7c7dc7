/* SPDX-License-Identifier: Apache-2.0 */
#include "outcomes.h"

#include <stdlib.h>
#include <string.h>

#include "lfsr.h"

enum { WORD_BITS = 64, FEWEST_PLACES = 64 };

struct place {
    uint64_t hash;
    uint32_t outcome;
}; /* outcome: from 1; 0: free */

struct outcomes {
    const struct program *p;
    struct machine_claims claims;
    size_t most_bytes;
    size_t words, capacity;    /* of one outcome; outcomes there is room for */
    uint64_t *kept;            /* `words` for each outcome */
    size_t kept_words;         /* allocated */
    uint32_t count;
    struct place *table;       /* open-addressed, at most half full */
    size_t places, table_room; /* used, a power of two; allocated */
    uint64_t *way;             /* of a program with branches: an outcome put together */
    size_t way_words;
};

struct outcomes *outcomes_new(size_t most_bytes, const struct machine_claims *claims)
{
    struct outcomes *s = calloc(1, sizeof *s);
    if (s)
        *s = (struct outcomes){ .most_bytes = most_bytes, .claims = *claims };
    return s;
}

void outcomes_free(struct outcomes *s)
{
    if (!s)
        return;
    free(s->kept);
    free(s->table);
    free(s->way);
    free(s);
}

/* ---- what tells outcomes apart ----------------------------------------------------------- */

/* How many bits its LFSR gives in one execution: branches do not nest, so it is always the same. */
static uint64_t branches_of(const struct program_thread *t)
{
    uint64_t branches = 0, rounds = 1;
    for (uint32_t at = 0; at < t->length; at++) {
        if (t->code[at].kind == ORDEAL_LOOP_BEGIN)
            rounds = t->code[at].count;
        else if (t->code[at].kind == ORDEAL_LOOP_END)
            rounds = 1;
        else if (t->code[at].kind == ORDEAL_BRANCH_BEGIN)
            branches += rounds;
    }
    return branches;
}

static uint64_t words_of_way(const struct program_thread *t)
{
    return (branches_of(t) + WORD_BITS - 1) / WORD_BITS;
}

static uint64_t *note_way(const struct program *p, const struct program_thread *t,
                          uint64_t iteration, uint64_t *to)
{
    uint32_t lfsr = lfsr_start(p->seed, t->number, iteration);
    for (uint64_t left = branches_of(t); left > 0; to++) {
        uint64_t bits = left < WORD_BITS ? left : WORD_BITS;
        *to = 0;
        for (uint64_t b = 0; b < bits; b++)
            *to = *to << 1 | lfsr_step(&lfsr);
        left -= bits;
    }
    return to;
}

/* The values that were filled in, and the way; what was not filled in counts as 0. */
static const uint64_t *with_way(struct outcomes *s, uint64_t iteration, const uint64_t *values)
{
    const struct program *p = s->p;
    size_t telling = program_telling_words(p, &s->claims);
    uint64_t *to = s->way + telling;
    memset(s->way, 0, p->slots * sizeof *s->way);
    memcpy(s->way + p->slots, values + p->slots, (telling - p->slots) * sizeof *values);
    for (uint32_t t = 0; t < p->threads; t++) {
        const struct program_thread *thread = &p->thread[t];
        memcpy(s->way + thread->first_slot, values + thread->first_slot,
               program_slots_used(p, t, iteration) * sizeof *values);
        to = note_way(p, thread, iteration, to);
    }
    return s->way;
}

static uint64_t hash_of(const uint64_t *words, size_t count)
{
    uint64_t h = UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = 0; i < count; i++) {
        h = (h ^ words[i]) * UINT64_C(0xD1B54A32D192ED03);
        h ^= h >> 32;
    }
    return h;
}

/* ---- the table --------------------------------------------------------------------------- */

static size_t bytes_for(const struct outcomes *s, size_t places)
{
    return places * sizeof *s->table + places / 2 * s->words * sizeof *s->kept;
}

/* Memory that only grows, and is kept from test to test. */
static bool reserve(void **data, size_t *have, size_t want, size_t size)
{
    if (want <= *have)
        return true;
    void *moved = realloc(*data, want * size);
    if (!moved)
        return false;
    *data = moved;
    *have = want;
    return true;
}

static void forget(struct outcomes *s)
{
    if (s->table)
        memset(s->table, 0, s->places * sizeof *s->table);
    s->count = 0;
}

static struct place *find(const struct outcomes *s, uint64_t hash, const uint64_t *words)
{
    size_t i = (size_t)hash & (s->places - 1);
    for (; s->table[i].outcome; i = (i + 1) & (s->places - 1))
        if (s->table[i].hash == hash
            && (s->words == 0
                || memcmp(s->kept + (s->table[i].outcome - 1) * s->words, words,
                          s->words * sizeof *words)
                       == 0))
            break;
    return &s->table[i];
}

static void put_back(struct outcomes *s)
{
    memset(s->table, 0, s->places * sizeof *s->table);
    for (uint32_t o = 0; o < s->count; o++) {
        const uint64_t *words = s->kept + o * s->words;
        uint64_t hash = hash_of(words, s->words);
        *find(s, hash, words) = (struct place){ hash, o + 1 };
    }
}

/* False: there is no room for another table of that size. */
static bool resize(struct outcomes *s, size_t places)
{
    if (bytes_for(s, places) > s->most_bytes
        || !reserve((void **)&s->table, &s->table_room, places, sizeof *s->table)
        || !reserve((void **)&s->kept, &s->kept_words, places / 2 * s->words, sizeof *s->kept))
        return false;
    s->places = places;
    s->capacity = places / 2;
    put_back(s);
    return true;
}

void outcomes_begin(struct outcomes *s, const struct program *p)
{
    uint64_t words = program_telling_words(p, &s->claims);
    for (uint32_t t = 0; p->branches && t < p->threads; t++)
        words += words_of_way(&p->thread[t]);
    s->p = p;
    s->count = 0;
    s->capacity = 0;   /* nothing is remembered of what is too large */
    if (words > s->most_bytes / sizeof *s->kept / FEWEST_PLACES)
        return;
    s->words = (size_t)words;
    if (!p->branches || reserve((void **)&s->way, &s->way_words, s->words, sizeof *s->way))
        resize(s, FEWEST_PLACES);
}

bool outcomes_add(struct outcomes *s, uint64_t iteration, const uint64_t *values)
{
    if (s->capacity == 0)
        return true;
    const uint64_t *words = s->p->branches ? with_way(s, iteration, values) : values;
    uint64_t hash = hash_of(words, s->words);
    struct place *place = find(s, hash, words);
    if (place->outcome)
        return false;
    if (s->count == s->capacity) {
        if (!resize(s, s->places * 2))
            forget(s);
        place = find(s, hash, words);
    }
    if (s->words)
        memcpy(s->kept + s->count * s->words, words, s->words * sizeof *words);
    *place = (struct place){ hash, ++s->count };
    return true;
}
