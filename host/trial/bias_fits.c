/* SPDX-License-Identifier: Apache-2.0 */
#include "bias_fits.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "test/default_bias.h"
#include "test/generate.h"

/* Tests tried of a profile, and operations after which those that were tried are enough. */
enum { TRIED = 32, ENOUGH_OPERATIONS = 20000, TRIED_LARGEST = 4 };

struct fitting {
    const struct bias *given;
    const struct target *target;
    const struct abilities *can;
    uint64_t seed;
    struct ordeal *o;
    const struct bias_profile *profile; /* NULL: the bias has none */
    struct ordeal_error *e;
};

/* The line that asks for what the machine lacks, if it is known, else that of the profile. */
static bool refuse(const struct fitting *f, const struct program *p, const char *lacks)
{
    struct why advice = { "" };
    const struct bias_origin *at = bias_beyond(f->given, f->profile, f->can);
    const char *name = f->profile ? f->profile->name : NULL;
    target_advise(f->target, f->can, p, true, NULL, &advice);
    if (!at && name)
        at = &f->profile->section;
    if (!name)
        return bias_refuse(f->e, at, "the target '%s' cannot run tests of this bias: %s%s",
                           f->target->name, lacks, advice.text);
    return bias_refuse(f->e, at,
                       "profile %s: the target '%s' cannot run its tests: %s%s; --set 'profile "
                       "%s.weight=0' goes without the profile",
                       name, f->target->name, lacks, advice.text, name);
}

static bool fits_test(const struct fitting *f, const struct ordeal_trace *test)
{
    struct program p;
    char lacks[256];
    if (!program_compile(&p, test, "", f->e))
        return false;
    bool fits = target_refusal(f->can, &p, lacks, sizeof lacks) == 0 || refuse(f, &p, lacks);
    program_free(&p);
    return fits;
}

static bool fits_tests(const struct fitting *f, const struct bias *b, uint64_t count)
{
    struct generator *g = generator_new(b, f->seed);
    size_t operations = 0;
    bool good = g || error_out_of_memory(f->e, "");
    for (uint64_t n = 0; good && n < count && operations < ENOUGH_OPERATIONS; n++) {
        struct ordeal_trace *test = NULL;
        good = generator_make(g, n, f->o, &test) == ORDEAL_OK || error_out_of_memory(f->e, "");
        good = good && fits_test(f, test);
        operations += good ? ordeal_trace_length(test) : 0;
        ordeal_trace_free(test);
    }
    generator_free(g);
    return good;
}

/* Whatever keys vary what a machine has only so much of: the value that takes most of it. */
static void make_largest(struct bias_profile *p)
{
    static const struct {
        uint32_t key;
        bool least;
    } large[] = {
        { BIAS_test_threads, false },
        { BIAS_test_locations, false },
        { BIAS_placement_lines_per_set, false },
        { BIAS_placement_set_stride, false },
        { BIAS_placement_words_per_line, true },
    };
    for (size_t i = 0; i < p->varies.count; i++)
        for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
            struct bias_vary *v = &p->varies.data[i];
            for (uint32_t n = 1; v->slot == large[k].key && n < v->count; n++)
                if (large[k].least ? v->value[n] < v->value[0] : v->value[n] > v->value[0])
                    v->value[0] = v->value[n];
            if (v->slot == large[k].key) {
                v->count = 1;
                v->range = false;
            }
        }
}

/* Keys of which each has its largest value may exclude each other: then no test has them all. */
static bool fits_profile(const struct fitting *f)
{
    struct bias alone = *f->given;
    struct bias_profile p = *f->profile;
    p.weight = 1;
    p.varies.capacity = p.varies.count;
    p.varies.data = calloc(p.varies.count + 1, sizeof *p.varies.data);
    if (!p.varies.data)
        return error_out_of_memory(f->e, "");
    for (size_t i = 0; i < p.varies.count; i++)
        p.varies.data[i] = f->profile->varies.data[i];
    alone.profiles.data = &p;
    alone.profiles.count = alone.profiles.capacity = 1;
    struct ordeal_error excluded;
    bool good = fits_tests(f, &alone, TRIED);
    make_largest(&p);
    if (good && bias_check(&alone, &excluded))
        good = fits_tests(f, &alone, TRIED_LARGEST);
    free(p.varies.data);
    return good;
}

bool bias_fits(const struct bias *b, const struct target *target, const struct abilities *can,
               uint64_t seed, struct ordeal_error *e)
{
    struct fitting f = { b, target, can, seed, ordeal_new(NULL), NULL, e };
    bool good = f.o || error_out_of_memory(e, "");
    if (good && !b->profiles.count)
        good = fits_tests(&f, b, TRIED);
    for (size_t i = 0; good && i < b->profiles.count; i++) {
        f.profile = &b->profiles.data[i];
        good = !f.profile->weight || fits_profile(&f);
    }
    ordeal_free(f.o);
    return good;
}
