/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that one execution touched: every byte of it with a number, the blocks that were allocated,
 * and names for people and for traces. A place of the heap or of a stack that is used again is
 * another place. */
#ifndef HOST_PROGRAM_PLACES_H
#define HOST_PROGRAM_PLACES_H

#include "base/list.h"
#include "events.h"
#include "image.h"
#include "image_types.h"

enum { PLACE_NAME = 128 };

/* What was allocated, in this order. */
struct place_block {
    uint32_t address, size;
    uint32_t from,
        to; /* events between which it was there; `to`: UINT32_MAX while nobody freed it */
    uint32_t thread;
};

/* A variable of a frame, as its own thread accessed it. */
struct place_local {
    uint32_t address, size;
    const char *name;
    char function[64];
};

struct places {
    const struct image *image;
    const struct event_list *events;
    struct image_types *types; /* NULL: unknown */
    LIST(uint32_t) bytes;      /* ascending */
    LIST(struct place_block) blocks;
    LIST(struct place_local) locals;
};

/* False: out of memory. */
bool places_find(struct places *p, const struct image *image, const struct event_list *events);
void places_free(struct places *p);

/* Does it read or write memory? */
bool event_is_access(const struct program_event *e);
bool event_writes(const struct program_event *e);
/* The number of its first byte; those of the others follow. */
size_t places_number(const struct places *p, const struct program_event *access);

/* The block in which an address lies when the event happens; NULL: in none. */
const struct place_block *places_block(const struct places *p, uint32_t address, size_t event);

/* Of a symbol, as its source has it. */
void place_plain_name(const char *symbol, char name[PLACE_NAME]);
/* "flag[1]", "block 2+8", "main's turn", 0x…: where an access of this event goes. */
void places_name(const struct places *p, uint32_t address, size_t event, char name[PLACE_NAME]);
/* A value: a number, or "&flag" where it is the address of something. */
void places_value(const struct places *p, uint32_t value, uint32_t size, size_t event,
                  char text[PLACE_NAME]);

#endif
