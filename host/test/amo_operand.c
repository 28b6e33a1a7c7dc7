/* SPDX-License-Identifier: Apache-2.0 */
#include "amo_operand.h"

#include <assert.h>

enum ordeal_amo_function amo_function(struct random *r)
{
    static const uint8_t often[] = {
        ORDEAL_AMO_ADD, ORDEAL_AMO_ADD, ORDEAL_AMO_ADD,  ORDEAL_AMO_XOR,
        ORDEAL_AMO_XOR, ORDEAL_AMO_XOR, ORDEAL_AMO_MAX,  ORDEAL_AMO_MAX,
        ORDEAL_AMO_MIN, ORDEAL_AMO_MIN, ORDEAL_AMO_MAXU, ORDEAL_AMO_MAXU,
        ORDEAL_AMO_OR,  ORDEAL_AMO_OR,  ORDEAL_AMO_AND,  ORDEAL_AMO_MINU,
    };
    return (enum ordeal_amo_function)often[random_below(r, sizeof often)];
}

/* Of a grain: its upper half begins at bit `half`, and `top` is its highest bit. */
struct grain {
    uint32_t half;
    uint64_t top;
};

/* In the upper half, but for its top bit: any pattern that is not 0, another for other numbers. */
static uint64_t pattern(const struct grain *g, uint64_t number)
{
    uint64_t patterns = (UINT64_C(1) << (g->half - 1)) - 1;
    return (number % patterns + 1) << g->half;
}

static uint64_t scrambled(uint64_t number) { return number * UINT64_C(0x9E3779B1) >> 7; }

struct amo_operand amo_operand(enum ordeal_amo_function function, uint64_t number, uint32_t rounds,
                               uint32_t grain_log2)
{
    const struct grain g = { 4u << grain_log2, UINT64_C(1) << ((8u << grain_log2) - 1) };
    uint64_t low = number & (g.top / 2 - 1), all = g.top | (g.top - 1), one = UINT64_C(1) << g.half;
    struct amo_operand x = { number, 1 };
    switch (function) {
    case ORDEAL_AMO_ADD: x = (struct amo_operand){ pattern(&g, number), 0 }; break;
    case ORDEAL_AMO_XOR: x = (struct amo_operand){ pattern(&g, scrambled(number)), one }; break;
    case ORDEAL_AMO_OR: x = (struct amo_operand){ one << number % (g.half - 1), 0 }; break;
    case ORDEAL_AMO_AND:
        x = (struct amo_operand){ all & ~pattern(&g, scrambled(number)), 0 };
        break;
    case ORDEAL_AMO_MAX: x.first = g.top / 2 | low; break;
    case ORDEAL_AMO_MIN:
    case ORDEAL_AMO_MAXU: x.first = g.top | low; break;
    default: break; /* MINU: the number itself */
    }
    assert(x.first <= all && rounds > 0);
    if (x.step > (all - x.first) / rounds)
        x.step = 0;
    return x;
}
