/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to break the machines of the `model` target on purpose (--bug), in one list.
 *
 * A bug says what goes wrong, in which models, and what catches it: tests of a bias, at most so
 * many of them until `check` fails. The test of the list holds every entry to its word. */
#ifndef HOST_MODEL_BUGS_H
#define HOST_MODEL_BUGS_H

#include "targets/bug_list.h"

/* clang-format off */
enum bug {
    NO_BUG,
    BUG_BUFFER_NOT_FIFO, BUG_BUFFER_OVERFLOWS, BUG_FORWARD_OLDEST, BUG_NO_FORWARD,
    BUG_FORWARD_BYTES, BUG_SAME_WORD_REORDERED, BUG_STORE_TWICE,
    BUG_SWAP_NOT_ATOMIC, BUG_SWAP_NO_DRAIN, BUG_CAS_WRITES_ALWAYS, BUG_SC_LATE,
    BUG_AMO_UNSIGNED, BUG_AMO_WRITES_OPERAND,
    BUG_MEMBAR_IGNORED, BUG_MEMBAR_HALF, BUG_FENCE_TSO_WEAK, BUG_ACQUIRE_IGNORED,
    BUG_DEPENDENCE_IGNORED, BUG_DATA_IGNORED, BUG_LOADS_GO_BACK,
    BUG_LOST_INVALIDATION, BUG_COHERENCE_SPLIT, BUG_PREFETCH_STALE, BUG_EVICT_LOSES_DIRTY,
    BUG_FLUSH_LATE, BUG_TORN_LOAD, BUG_BYTE_ENABLES,
    BUG_INTERRUPT_STALE, BUG_INTERRUPT_DROPS,
    BUG_TX_NOT_ISOLATED, BUG_TX_READS_UNTRACKED, BUG_TX_ABORT_LEAKS, BUG_TX_COMMIT_TORN,
    BUG_TX_PLAIN_MISSED, BUG_TX_NO_DRAIN,
    BUGS
};
/* clang-format on */

extern const struct bug_list model_bugs;

#endif
