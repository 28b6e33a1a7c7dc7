/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

static uint32_t sizes_in_use(const struct bias *b, const struct idiom_list *idioms)
{
    const uint32_t weights[] = { b->sizes_1, b->sizes_2, b->sizes_4, b->sizes_8 };
    uint32_t sizes = 0;
    for (uint32_t log2 = 0; log2 < 4; log2++)
        sizes |= weights[log2] ? 1u << log2 : 0;
    for (size_t i = 0; i < idioms->count; i++)
        sizes |= idioms->data[i]->sizes;
    return sizes;
}

enum { HIGH_APART = 64 }; /* so that the lower half stays 0 */

/* Odd numbers near the golden section of their range: the multiples of one visit all of it. */
static void spread_values(struct layout *l, const struct bias *b)
{
    static const uint64_t golden[] = { 0x9f, 0x9e37, 0x9e3779b1, UINT64_C(0x9e3779b97f4a7c15) };
    uint32_t how = b->loops_share ? VALUES_SMALL : b->test_values;
    l->factor = how == VALUES_WIDE ? golden[l->grain_log2] : 1;
    l->turn = how == VALUES_HIGH ? 4u << l->grain_log2 : 0;
    l->apart = how == VALUES_SMALL ? 0 : l->most / (l->locations + UINT64_C(1));
    if (how == VALUES_HIGH && l->apart > HIGH_APART)
        l->apart = HIGH_APART;
}

void layout_of_bias(struct layout *l, const struct bias *b, const struct idiom_list *idioms)
{
    uint32_t sizes = sizes_in_use(b, idioms);
    l->grain_log2 = sizes ? (uint32_t)__builtin_ctz(sizes) : 2;
    l->word_log2 = sizes >> 3 & 1 ? 3 : 2;
    l->words = b->placement_words_per_line;
    l->locations = b->test_locations;
    l->lines = (l->locations + l->words - 1) / l->words;
    l->most = UINT64_MAX >> (64 - (8u << l->grain_log2));
    spread_values(l, b);
    l->plain = l->transactional = (struct pool){ 0, l->locations };
    if (b->transactions_disjoint) {
        uint32_t first = (l->lines - l->lines / 2) * l->words;
        l->plain.count = first < l->locations ? first : l->locations;
        l->transactional = (struct pool){ l->plain.count, l->locations - l->plain.count };
    }
}
