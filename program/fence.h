/* SPDX-License-Identifier: Apache-2.0 */
/* Fences that a program needs under TSO and PSO to be as right as it is under SC (Linden and Wolper
 * 2013, section 5): mfences behind stores until it is right under TSO, then sfences before stores until
 * it is under PSO, each where the latest relaxation on the way to an error would be stopped; then those
 * are taken away again that it is right without (Remark 2). */
#ifndef PROGRAM_FENCE_H
#define PROGRAM_FENCE_H

#include "fence_search.h"

struct fence_options {
    struct explore_options explore;  /* model: TSO, or PSO, which begins with TSO */
    bool all_minimal;                /* every set from which none can be taken away */
    const struct fence_place *given; /* to begin with; taken away again as others are */
    size_t givens;
    bool robust; /* right is what is as under SC, access by access; TSO alone */
    /* Final values, those of explore.outcomes, that are an error, too; NULL: none are. */
    bool (*wrong)(void *user, const uint32_t *row);
    void *user;
};

struct fence_needed {
    struct fence_place place;
    enum explore_error without; /* what goes wrong without it; EXPLORE_NO_ERROR: not decided */
    uint32_t thread, pc;        /* where */
    char text[128];
};
struct fence_set {
    struct fence_needed *fence; /* mfences first, each kind by place */
    size_t fences, mfences;
    uint64_t states; /* of the program with these fences under the model */
};

struct fence_result {
    enum explore_verdict verdict; /* PASS: the sets make it right, the empty one perhaps */
    char note[256];
    struct fence_set *set;
    size_t sets;
    uint32_t iterations; /* before anything was taken away, the two that found no error included */
    uint32_t searches;   /* all */
    uint32_t mfences, sfences; /* that were put in before anything was taken away */
    struct explore_progress total;
    /* of a FAIL: under which model, and what goes wrong there */
    enum explore_model model;
    enum explore_error error;
    uint32_t thread, pc;
    char text[256];
};

enum ordeal_status fence_find(const struct image *image, const struct fence_options *options,
                              struct fence_result **result, struct ordeal_error *error);
void fence_result_free(struct fence_result *r);

#endif
