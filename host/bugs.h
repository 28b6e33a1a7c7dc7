/* Ways to break the machines of the `model` target on purpose (--bug), in one table.
 *
 * A bug says what goes wrong, in which models, and what catches it: tests of a bias, at most so
 * many of them until `check` fails. The test of the table holds every entry to its word. */
#ifndef HOST_BUGS_H
#define HOST_BUGS_H

#include <stdio.h>

#include "ordeal.h"

enum bug {
    NO_BUG,
    BUG_BUFFER_NOT_FIFO, BUG_BUFFER_OVERFLOWS, BUG_FORWARD_OLDEST, BUG_NO_FORWARD,
    BUG_FORWARD_BYTES, BUG_SAME_WORD_REORDERED, BUG_STORE_TWICE,
    BUG_SWAP_NOT_ATOMIC, BUG_SWAP_NO_DRAIN, BUG_CAS_WRITES_ALWAYS,
    BUG_MEMBAR_IGNORED, BUG_MEMBAR_HALF, BUG_DEPENDENCE_IGNORED,
    BUG_LOST_INVALIDATION, BUG_COHERENCE_SPLIT, BUG_PREFETCH_STALE, BUG_EVICT_LOSES_DIRTY,
    BUG_FLUSH_LATE, BUG_TORN_LOAD, BUG_BYTE_ENABLES,
    BUG_INTERRUPT_STALE, BUG_INTERRUPT_DROPS,
    BUG_TX_NOT_ISOLATED, BUG_TX_READS_UNTRACKED, BUG_TX_ABORT_LEAKS, BUG_TX_COMMIT_TORN,
    BUG_TX_PLAIN_MISSED, BUG_TX_NO_DRAIN,
    BUGS
};

struct bug_entry {
    const char *name, *area;
    const char *wrong;         /* what the machine does */
    const char *exposed;       /* the operations that show it */
    const char *pointless;     /* why the other models cannot have it */
    uint32_t models;           /* bit m: the machine of enum ordeal_model m can have it */
    const char *bias;          /* settings that catch it, as for --set, separated by blanks */
    uint32_t tests;            /* so many of them, or fewer */
};
extern const struct bug_entry bug_table[BUGS]; /* that of NO_BUG is empty */

/* Is there such a bug for the model? False: `reason` says why not, and what there is. */
bool bug_parse(const char *name, enum ordeal_model model, enum bug *bug, char *reason, size_t size);
/* What `--bug list` prints. */
void bugs_list(FILE *stream);

#endif
