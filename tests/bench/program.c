/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include "test/generate.h"

bool bench_program(const struct bench *b, const char *const *settings, struct ordeal *o,
                   struct ordeal_trace **test, struct program *p)
{
    struct ordeal_error e = { 0 };
    struct bias *bias = bias_new();
    bool good = bias != NULL;
    for (; good && *settings; settings++)
        good = bias_set(bias, *settings, &e);
    good = good && bias_check(bias, &e);
    struct generator *g = good ? generator_new(bias, b->seed) : NULL;
    good = g && generator_make(g, 0, o, test) == ORDEAL_OK
        && program_compile(p, *test, "bench", &e);
    if (!good)
        fprintf(stderr, "bench: %s\n", *e.reason ? e.reason : ordeal_last_error(o)->reason);
    generator_free(g);
    bias_free(bias);
    return good;
}
