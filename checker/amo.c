/* SPDX-License-Identifier: Apache-2.0 */
/* What an AMO writes. The certifier has a second opinion (certify_amo.c). */
#include "trace.h"

/* clang-format off */
const char *const trace_amo_names[ORDEAL_AMO_FUNCTIONS] = {
    [ORDEAL_AMO_ADD] = "ADD", [ORDEAL_AMO_AND] = "AND",   [ORDEAL_AMO_OR] = "OR",
    [ORDEAL_AMO_XOR] = "XOR", [ORDEAL_AMO_MIN] = "MIN",   [ORDEAL_AMO_MAX] = "MAX",
    [ORDEAL_AMO_MINU] = "MINU", [ORDEAL_AMO_MAXU] = "MAXU",
};
/* clang-format on */

uint64_t ordeal_amo_result(enum ordeal_amo_function function, uint8_t size_log2, uint64_t read,
                           uint64_t operand)
{
    assert(size_log2 <= 3 && trace_value_fits(read, size_log2));
    assert(trace_value_fits(operand, size_log2));
    uint64_t sign = UINT64_C(1) << ((8u << size_log2) - 1);
    bool less = (read ^ sign) < (operand ^ sign); /* as signed numbers */
    switch (function) {
    case ORDEAL_AMO_ADD: return (read + operand) & (sign | (sign - 1));
    case ORDEAL_AMO_AND: return read & operand;
    case ORDEAL_AMO_OR: return read | operand;
    case ORDEAL_AMO_XOR: return read ^ operand;
    case ORDEAL_AMO_MIN: return less ? read : operand;
    case ORDEAL_AMO_MAX: return less ? operand : read;
    case ORDEAL_AMO_MINU: return read < operand ? read : operand;
    case ORDEAL_AMO_MAXU: return read < operand ? operand : read;
    default: break;
    }
    assert(!"there is no such function"); /* ordeal_trace_add() lets none in */
    return 0;
}

uint64_t ordeal_op_written(const struct ordeal_op *op)
{
    if (op->kind != ORDEAL_AMO)
        return op->write;
    enum ordeal_amo_function function = (enum ordeal_amo_function)op->function;
    return ordeal_amo_result(function, op->size_log2, op->read, op->write);
}
