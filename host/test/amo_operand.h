/* SPDX-License-Identifier: Apache-2.0 */
/* Operands for AMOs whose results tell them apart.
 *
 * Values that tests store are small numbers, each once a location. What AMOs add, set or flip is in
 * the upper half of a grain (layout.h), so that the number below it still says which store they
 * found; an AMO that finds another's result makes another one of it. The larger and smaller numbers
 * of MIN and MAX are out of reach of the rest. It need not always work: a value that two stores left
 * is only slower to check. */
#ifndef HOST_AMO_OPERAND_H
#define HOST_AMO_OPERAND_H

#include "base/random.h"
#include "ordeal.h"

/* Most are of those functions that change what they find. */
enum ordeal_amo_function amo_function(struct random *r);

/* Of a grain of 2^grain_log2 bytes, for an AMO that is given `rounds` numbers of its location from
 * `number` on: the operand and what is added to it each time round, which fit. */
struct amo_operand {
    uint64_t first, step;
};
struct amo_operand amo_operand(enum ordeal_amo_function function, uint64_t number, uint32_t rounds,
                               uint32_t grain_log2);

#endif
