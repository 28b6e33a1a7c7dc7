/* SPDX-License-Identifier: Apache-2.0 */
/* An execution of a program, understood: which of its events matter to more than one thread, what
 * each load saw and from whom, which stores were still in a buffer then. Text, JSON, pictures and
 * replays are told from it. */
#ifndef HOST_PROGRAM_ACCOUNT_H
#define HOST_PROGRAM_ACCOUNT_H

#include <stdio.h>

#include <cJSON.h>

#include "events.h"
#include "explore.h"
#include "lines.h"
#include "places.h"

#define ACCOUNT_NONE UINT32_MAX

/* What is known of one event; events are told by their numbers in the list. */
struct account_item {
    bool shared;      /* an access to memory that several threads touch, one of them writing */
    uint32_t from;    /* of a read: the store that it saw; ACCOUNT_NONE: the initial value */
    uint32_t waiting; /* of a read: another thread's store there that was in a buffer; or NONE */
    uint32_t newer;   /* of a read: the store in memory that it did not see (PSLO); or NONE */
    uint32_t left;    /* of a buffered store: when it reached memory or was dropped; or NONE */
    uint32_t row;     /* its number as it is told, from 1; 0: it is left out */
};

/* Would a sequentially consistent memory have done the same? */
enum account_relaxed { ACCOUNT_NOT_ASKED, ACCOUNT_SC, ACCOUNT_RELAXED, ACCOUNT_UNDECIDED };

/* When an access can have taken effect, at the earliest and at the latest. */
struct account_time {
    uint64_t begin, end;
};

struct account {
    const struct image *image;
    const struct event_list *events;
    enum explore_model model;
    struct places places;
    struct lines lines;
    struct account_item *item;
    uint32_t rows;
    bool
        by_path; /* in words, steps are told by the path's numbers, as a replay has them, not by rows */
    const struct account_time *times; /* of each event, for its trace; NULL: unknown */
    enum account_relaxed relaxed;
    LIST(uint32_t) core; /* of a relaxed one: the events that no order explains, ascending */
};

/* False: out of memory; account_free either way. The list outlives the account. */
bool account_make(struct account *a, const struct image *image, const struct event_list *events,
                  enum explore_model model);
void account_free(struct account *a);

enum { ACCOUNT_WORDS = 512 };
/* What happened, in words: "x = 1 goes into its buffer". */
void account_words(const struct account *a, uint32_t event, char words[ACCOUNT_WORDS]);
/* What a thread waits for: "for mutex m, which thread 1 holds". */
void account_awaited(const struct account *a, uint32_t event, char words[ACCOUNT_WORDS]);
const char *account_kind(uint8_t kind); /* "load", … stable, for scripts */

/* The story first, then the steps. False: out of memory; errors of the file stay in the file. */
bool account_text(struct account *a, const struct explore_finding *f, FILE *out);
/* The steps alone. */
void account_steps(struct account *a, FILE *out);
/* Adds "story", "core", "steps" and "output" to `line`. */
void account_json(struct account *a, const struct explore_finding *f, cJSON *line);
/* Threads as columns, time downwards, memory at the right. */
bool account_svg(struct account *a, const struct explore_finding *f, FILE *out);

/* The sentences that come first: what went wrong, and why it could. */
struct account_story {
    LIST(char *) sentence;
};
bool account_story(struct account *a, const struct explore_finding *f, struct account_story *s);
void account_story_free(struct account_story *s);

#endif
