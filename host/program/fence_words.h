/* SPDX-License-Identifier: Apache-2.0 */
/* Fences for people and programs: how many, where, and what goes wrong without each. */
#ifndef HOST_PROGRAM_FENCE_WORDS_H
#define HOST_PROGRAM_FENCE_WORDS_H

#include <cJSON.h>
#include <stdio.h>

#include "fence.h"
#include "lines.h"

/* mfences=, sfences= and counts; with `json` also the sets themselves. */
void fence_words_line(cJSON *line, const struct image *image, const struct fence_result *r,
                      bool json);
/* A line for each fence; of several sets each with its number before. */
void fence_words_print(const struct image *image, const struct fence_result *r, FILE *out);

/* One of them, as a line, and as an object. */
void fence_words_one(struct lines *l, const struct fence_needed *f, FILE *out);
cJSON *fence_words_object(const struct image *image, const struct fence_needed *f);

/* Where a store is written, outwards from code of the library; false: nobody knows. */
bool fence_words_place(const struct image *image, uint32_t pc, struct source_place *place);

#endif
