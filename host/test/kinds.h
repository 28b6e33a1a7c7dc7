/* SPDX-License-Identifier: Apache-2.0 */
/* What operations have, by their kind (enum ordeal_op_kind). */
#ifndef HOST_KINDS_H
#define HOST_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "ordeal.h"

static inline bool kind_reads(uint8_t kind)
{
    return kind == ORDEAL_LOAD || kind == ORDEAL_SWAP || kind == ORDEAL_CAS || kind == ORDEAL_AMO
        || kind == ORDEAL_LOAD_RESERVED;
}

static inline bool kind_writes(uint8_t kind)
{
    return kind == ORDEAL_STORE || kind == ORDEAL_SWAP || kind == ORDEAL_CAS || kind == ORDEAL_AMO
        || kind == ORDEAL_STORE_CONDITIONAL;
}

static inline bool kind_is_access(uint8_t kind) { return kind_reads(kind) || kind_writes(kind); }

/* Does it bring back a value: what it read, or of an SC whether it stored? */
static inline bool kind_answers(uint8_t kind)
{
    return kind_reads(kind) || kind == ORDEAL_STORE_CONDITIONAL;
}

/* What is done in one piece, and may bear RISC-V's marks on a machine. */
static inline bool kind_is_atomic(uint8_t kind)
{
    return kind_is_access(kind) && kind != ORDEAL_LOAD && kind != ORDEAL_STORE;
}

static inline bool kind_has_location(uint8_t kind)
{
    return kind_is_access(kind) || kind == ORDEAL_PREFETCH || kind == ORDEAL_FLUSH
           || kind == ORDEAL_EVICT;
}

#endif
