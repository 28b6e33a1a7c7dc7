/* SPDX-License-Identifier: Apache-2.0 */
#include "setting.h"

#include <stdlib.h>
#include <string.h>

#include "targets/target.h"
#include "test/generate.h"

void setting_free(struct bias_profile *s)
{
    free(s->name);
    free(s->only);
    LIST_FREE(&s->varies);
    *s = (struct bias_profile){ 0 };
}

bool setting_copy(struct bias_profile *to, const struct bias_profile *from, const char *name)
{
    *to = *from;
    to->name = strdup(name);
    to->only = from->only ? strdup(from->only) : NULL;
    to->comment = NULL; /* what it says need not hold of the copy */
    to->varies.data = NULL;
    to->varies.count = to->varies.capacity = 0;
    bool good = to->name && (to->only || !from->only);
    for (size_t i = 0; good && i < from->varies.count; i++)
        good = LIST_PUSH(&to->varies, from->varies.data[i]);
    if (!good)
        setting_free(to);
    return good;
}

struct bias setting_bias(const struct bias *base, const struct bias_profile *s)
{
    struct bias b = *base;
    b.profiles.data = (struct bias_profile *)s;
    b.profiles.count = 1;
    b.profiles.capacity = 0;
    return b;
}

const struct bias_vary *setting_find(const struct bias_profile *s, uint32_t slot)
{
    for (size_t i = 0; i < s->varies.count; i++)
        if (s->varies.data[i].slot == slot)
            return &s->varies.data[i];
    return NULL;
}

struct bias_vary setting_at(const struct bias *base, const struct bias_profile *s, const bool *kept,
                            uint32_t slot)
{
    const struct bias_vary *own = setting_find(s, slot);
    return own ? *own
               : (struct bias_vary){ .slot = slot,
                                     .count = 1,
                                     .value = { kept[slot] ? bias_value(base, slot) : 0 } };
}

bool setting_put(struct bias_profile *s, const struct bias_vary *v)
{
    struct bias_vary *own = (struct bias_vary *)setting_find(s, v->slot);
    if (own)
        *own = *v;
    return own || LIST_PUSH(&s->varies, *v);
}

int setting_text(const struct bias_vary *v, char *text, size_t size)
{
    static const struct bias_key weight = { .most = MOST_WEIGHT };
    const struct bias_key *k = v->slot < BIAS_KEY_COUNT ? &bias_keys[v->slot] : &weight;
    int length = 0;
    for (uint32_t i = 0; i < v->count && (size_t)length < size; i++) {
        char value[32];
        bias_value_text(k, v->value[i], value, sizeof value);
        length += snprintf(text + length, size - (size_t)length, "%s%s",
                           i == 0     ? ""
                           : v->range ? ".."
                                      : " | ",
                           value);
    }
    return length;
}

static bool runs(const struct ordeal_trace *test, const struct abilities *can)
{
    struct program p = { 0 };
    struct ordeal_error e;
    char reason[256];
    bool good = program_compile(&p, test, "", &e);
    good = good && target_refusal(can, &p, reason, sizeof reason) == 0;
    program_free(&p);
    return good;
}

uint64_t setting_count_fitting(const struct bias *b, const struct abilities *can, uint64_t seed,
                               uint64_t first, uint64_t count)
{
    struct ordeal *o = ordeal_new(NULL);
    struct generator *g = generator_new(b, seed);
    uint64_t fit = 0;
    for (bool good = o && g; good && fit < count; fit += good) {
        struct ordeal_trace *test = NULL;
        good = generator_make(g, first + fit, o, &test) == ORDEAL_OK && runs(test, can);
        ordeal_trace_free(test);
    }
    generator_free(g);
    ordeal_free(o);
    return fit;
}

bool setting_fits(const struct bias *base, const struct bias_profile *s,
                  const struct abilities *can, uint64_t seed, uint64_t first, uint64_t count)
{
    struct bias b = setting_bias(base, s);
    return setting_count_fitting(&b, can, seed, first, count) == count;
}

double setting_operations(const struct bias *b, uint64_t seed, uint64_t count)
{
    struct ordeal *o = ordeal_new(NULL);
    struct generator *g = generator_new(b, seed);
    struct program p = { 0 };
    struct ordeal_error e;
    double sum = 0;
    for (uint64_t i = 0; o && g && i < count; i++) {
        struct ordeal_trace *test = NULL;
        if (generator_make(g, i, o, &test) == ORDEAL_OK && program_compile(&p, test, "", &e))
            sum += (double)p.operations;
        program_free(&p);
        p = (struct program){ 0 };
        ordeal_trace_free(test);
    }
    generator_free(g);
    ordeal_free(o);
    return count ? sum / (double)count : 0;
}
