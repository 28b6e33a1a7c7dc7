/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal fence` on the programs of Table 1 of Linden and Wolper (2013), compiling left out: fences,
 * states of the program with them, time, and time for each of its explorations. */
#include "bench.h"

#include "fence.h"

static const struct row {
    const char *name;
    unsigned theirs; /* states */
    double most;     /* seconds that are asked for; 0: nothing is */
} programs[] = {
    { "dekker", 381, 0 },    { "peterson", 219, 0.5 },     { "peterson_n", 28544, 0 },
    { "bakery", 727, 10 },   { "burns", 123, 0 },          { "szymanski", 221, 0 },
    { "dijkstra", 879, 10 }, { "lamport_fast", 5654, 10 }, { "alternating_bit", 1184, 0 },
    { "clh", 3004, 10 },     { "increasing", 59570, 0 },
};

static void find_fences(struct bench *b, const struct row *of, const struct image *image)
{
    struct fence_options how = { .explore = {
                                     .model = EXPLORE_PSO,
                                     .local = EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC,
                                     .jobs = 1,
                                     .nondet_high = 1,
                                     .most_seconds = 100,
                                 } };
    struct fence_result *r = NULL;
    struct ordeal_error error;
    char asked[64];
    if (fence_find(image, &how, &r, &error) == ORDEAL_OK && r->sets) {
        const struct fence_set *set = &r->set[0];
        cJSON *row = row_new();
        row_text(row, "program", of->name);
        row_number(row, "mfences", (double)set->mfences);
        row_number(row, "sfences", (double)(set->fences - set->mfences));
        row_number(row, "iterations", r->iterations);
        row_number(row, "states", (double)set->states);
        row_number(row, "theirs", of->theirs);
        row_number(row, "searches", r->searches);
        row_number(row, "seconds", r->total.seconds);
        row_number(row, "ms/search", 1000 * r->total.seconds / r->searches);
        snprintf(asked, sizeof asked, "within %g s", of->most);
        row_target(row, of->most > 0 ? asked : NULL,
                   r->verdict == EXPLORE_PASS && r->total.seconds <= of->most);
        row_end(&b->report, row);
    }
    fence_result_free(r);
}

void table_fence(struct bench *b)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char path[128];
        snprintf(path, sizeof path, "examples/programs/fence/%s.c", programs[i].name);
        struct image *image = bench_image(path, NULL, 0);
        if (image)
            find_fences(b, &programs[i], image);
        image_free(image);
    }
}
