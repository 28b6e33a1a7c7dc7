/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny programs through the engine of program/, held to the plain machines of tiny.h. */
#ifndef TESTS_TINY_EXPLORE_H
#define TESTS_TINY_EXPLORE_H

#include "tiny.h"

struct tiny_setting {
    enum tiny_model model;
    bool plain, no_reduction, depth_first;
    uint8_t local; /* EXPLORE_LOCAL_... */
    unsigned buffers, jobs;
};

/* Is it one that the engine takes? Dynamic locality is not sound but under SC and TSO, and only TSO
 * has two ways of flushing. */
bool tiny_setting_sensible(const struct tiny_setting *s);
void tiny_setting_print(const struct tiny_setting *s, FILE *stream);

/* The engine's outcomes; what goes wrong otherwise fails the test. */
void tiny_explore(const struct tiny_program *p, const struct tiny_setting *s,
                  struct tiny_outcomes *outcomes);
/* The same of an image with the columns at these addresses. */
struct image;
void tiny_explore_image(const struct image *image, const uint32_t address[TINY_COLUMNS],
                        const struct tiny_setting *s, struct tiny_outcomes *outcomes);
bool tiny_same(const struct tiny_outcomes *a, const struct tiny_outcomes *b);
/* The engine and the machine differ: the smallest such program, and how, as text to be freed; NULL:
 * they do not. */
char *tiny_difference(const struct tiny_program *p, const struct tiny_setting *s);

#endif
