/* The table of bugs, and how one of them is chosen by its name. */
#include "bugs.h"

#include <string.h>

#include "command.h"

enum {
    SC = 1 << ORDEAL_SC, TSO = 1 << ORDEAL_TSO, PSO = 1 << ORDEAL_PSO, PC = 1 << ORDEAL_PC,
    RMO = 1 << ORDEAL_RMO,
    RELAXED = TSO | PSO | PC | RMO, BUFFERED = TSO | PSO | PC, ALL = SC | RELAXED,
};

#define NEEDS_STORES_WAITING "in its machine stores wait in no buffer"
#define NEEDS_A_QUEUE "in its machine stores do not leave a buffer in order"
#define NEEDS_TRANSACTIONS "it has no transactions"

const struct bug_entry bug_table[BUGS] = {
    [BUG_BUFFER_NOT_FIFO] = { "buffer-not-fifo", "store buffer",
        "stores leave the store buffer in any order",
        "stores of one thread and loads of another", NEEDS_A_QUEUE, TSO | PC,
        "test.locations=4", 10 },
    [BUG_BUFFER_OVERFLOWS] = { "buffer-overflows", "store buffer",
        "a store into a full buffer takes the place of the youngest there",
        "stores and loads of the same thread", NEEDS_STORES_WAITING, BUFFERED,
        "test.locations=4", 40 },
    [BUG_FORWARD_OLDEST] = { "forward-oldest", "store buffer",
        "a load takes the oldest store to its word that waits, not the youngest",
        "two stores and a load of one word", NEEDS_STORES_WAITING, RELAXED,
        "test.locations=4", 20 },
    [BUG_NO_FORWARD] = { "no-forward", "store buffer",
        "a load does not see the stores of its own thread that wait",
        "a store and a load of one word", NEEDS_STORES_WAITING, RELAXED,
        "test.locations=4", 10 },
    [BUG_FORWARD_BYTES] = { "forward-byte-enables", "store buffer",
        "forwarding ignores which bytes of the 8 a store writes, the others come as zeros",
        "accesses of different sizes in one word", NEEDS_STORES_WAITING, RELAXED,
        "test.locations=4 sizes.1=1 sizes.8=1", 10 },
    [BUG_SAME_WORD_REORDERED] = { "same-word-reordered", "store buffer",
        "stores to one word may leave in any order",
        "two stores to one word", "its machine keeps all stores in order", PSO | RMO,
        "test.locations=4", 10 },
    [BUG_STORE_TWICE] = { "store-twice", "store buffer",
        "a store that was performed is now and then performed again later",
        "stores of two threads to one word", NEEDS_STORES_WAITING, RELAXED,
        "test.locations=4", 100 },

    [BUG_SWAP_NOT_ATOMIC] = { "swap-not-atomic", "atomics",
        "others' stores come between the load and the store of a swap",
        "swaps and stores of two threads to one word", "", ALL,
        "test.locations=2 operations.swap=40", 10 },
    [BUG_SWAP_NO_DRAIN] = { "swap-no-drain", "atomics",
        "a swap does not wait for the stores in the buffer",
        "a store and a swap", NEEDS_STORES_WAITING, BUFFERED,
        "test.locations=4 operations.swap=20", 10 },
    [BUG_CAS_WRITES_ALWAYS] = { "cas-writes-always", "atomics",
        "a CAS writes also when the values differ",
        "a CAS that fails", "", ALL,
        "test.locations=2 operations.cas=40", 10 },

    [BUG_MEMBAR_IGNORED] = { "membar-ignored", "barriers",
        "a membar does nothing",
        "a store, a membar and a load of another word", NEEDS_STORES_WAITING, RELAXED,
        "test.locations=4 membar.full=30", 20 },
    [BUG_MEMBAR_HALF] = { "membar-half", "barriers",
        "a membar waits for half of what was before it",
        "stores, a membar and a load of another word", NEEDS_STORES_WAITING, RELAXED,
        "test.locations=4 membar.full=30", 100 },
    [BUG_DEPENDENCE_IGNORED] = { "dependence-ignored", "order",
        "an operation takes the old value of a register that a load in flight will set",
        "CAS that compares with what a load saw", "its machine performs loads in order", RMO,
        "test.locations=2 operations.cas=40", 10 },

    [BUG_LOST_INVALIDATION] = { "lost-invalidation", "caches",
        "a line stays readable in a private cache after another hart wrote it",
        "loads of one line while others store to it", "", ALL,
        "test.locations=4 membar.full=10", 40 },
    [BUG_COHERENCE_SPLIT] = { "coherence-split", "caches",
        "stores to one word land in different orders in different harts' memories",
        "stores of two threads to one word and loads of others",
        "in its machine a store reaches all harts at once", PC,
        "test.threads=4 test.locations=2", 40 },
    [BUG_PREFETCH_STALE] = { "prefetch-stale", "caches",
        "a line that was prefetched is not invalidated by stores of others",
        "a prefetch, then loads of the line while others store to it", "", ALL,
        "test.locations=4 operations.prefetch=10 membar.full=10", 40 },
    [BUG_EVICT_LOSES_DIRTY] = { "evict-loses-dirty", "caches",
        "a line that is evicted loses the last store of the hart to it",
        "a store, an eviction and loads of the line", "", ALL,
        "test.locations=4 operations.evict=10", 10 },
    [BUG_FLUSH_LATE] = { "flush-late", "caches",
        "a flushed line is written back too late, over newer stores",
        "a flush while others store to the line", "", ALL,
        "test.locations=4 operations.flush=10", 20 },
    [BUG_TORN_LOAD] = { "torn-load", "data",
        "a load of 8 bytes takes its halves at different moments",
        "loads and stores of 8 bytes", "", ALL,
        "test.locations=2 sizes.4=2 sizes.8=1", 40 },
    [BUG_BYTE_ENABLES] = { "byte-enables", "data",
        "a store of less than 8 bytes clears the others",
        "stores and loads of two words next to each other", "", ALL,
        "test.locations=4 placement.words_per_line=4", 10 },

    [BUG_INTERRUPT_STALE] = { "interrupt-stale", "interrupts",
        "after an interrupt a hart reads the line it read last as it was before it",
        "loads of a line before and after an interrupt", "", ALL,
        "test.locations=4 operations.interrupt=10 membar.full=10", 40 },
    [BUG_INTERRUPT_DROPS] = { "interrupt-drops-store", "interrupts",
        "an interrupt loses the youngest store of the buffer",
        "a store, an interrupt and a load of the word", NEEDS_STORES_WAITING, BUFFERED,
        "test.locations=4 operations.interrupt=10", 100 },

    [BUG_TX_NOT_ISOLATED] = { "tx-not-isolated", "transactions",
        "stores of a transaction are there for others at once, and stay when it aborts",
        "transactions that store, and loads of others", NEEDS_TRANSACTIONS, ALL & ~PC,
        "test.locations=4 transactions.share=50", 20 },
    [BUG_TX_READS_UNTRACKED] = { "tx-reads-untracked", "transactions",
        "a transaction commits though others wrote what it read",
        "transactions that load and store the same words", NEEDS_TRANSACTIONS, ALL & ~PC,
        "test.locations=4 transactions.share=50", 40 },
    [BUG_TX_ABORT_LEAKS] = { "tx-abort-leaks", "transactions",
        "the first store of a transaction stays when it aborts",
        "transactions that abort themselves", NEEDS_TRANSACTIONS, ALL & ~PC,
        "test.locations=4 transactions.share=50 transactions.abort=30", 10 },
    [BUG_TX_COMMIT_TORN] = { "tx-commit-not-atomic", "transactions",
        "the stores of a transaction become visible one after the other",
        "transactions that store to several words", NEEDS_TRANSACTIONS, ALL & ~PC,
        "test.locations=4 transactions.share=50", 40 },
    [BUG_TX_PLAIN_MISSED] = { "tx-plain-conflict-missed", "transactions",
        "a transaction commits though plain stores of others changed what it read",
        "transactions and plain operations on the same words", NEEDS_TRANSACTIONS, ALL & ~PC,
        "test.locations=4 transactions.share=50", 40 },
    [BUG_TX_NO_DRAIN] = { "tx-no-drain", "transactions",
        "a transaction begins while operations before it wait",
        "a store, then a transaction", "it has no transactions, or nothing that waits",
        RELAXED & ~PC, "test.locations=4 transactions.share=30", 10 },
};

/* ---- choosing one --------------------------------------------------------------------------- */

/* "TSO, PSO", as snprintf. */
static int name_models(uint32_t models, char *text, size_t size)
{
    int length = 0;
    if (size)
        *text = '\0';
    for (int m = 0; m < ORDEAL_MODELS; m++)
        if (models >> m & 1 && (size_t)length < size)
            length += snprintf(text + length, size - (size_t)length, "%s%s", length ? ", " : "",
                               ordeal_model_name((enum ordeal_model)m));
    return length;
}

static void unknown(const char *name, char *reason, size_t size)
{
    const char *names[BUGS] = { NULL };
    for (int b = 1; b < BUGS; b++)
        names[b - 1] = bug_table[b].name;
    const char *near = nearest_name(name, names);
    int length = snprintf(reason, size, "there is no bug '%s'%s%s%s; there are", name,
                          near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    for (int b = 1; b < BUGS && (size_t)length < size; b++)
        length += snprintf(reason + length, size - (size_t)length, "%s %s", b > 1 ? "," : "",
                           bug_table[b].name);
}

bool bug_parse(const char *name, enum ordeal_model model, enum bug *bug, char *reason, size_t size)
{
    int b = 1;
    while (b < BUGS && strcmp(bug_table[b].name, name) != 0)
        b++;
    if (b == BUGS) {
        unknown(name, reason, size);
        return false;
    }
    *bug = (enum bug)b;
    if (bug_table[b].models >> model & 1)
        return true;
    char models[64];
    name_models(bug_table[b].models, models, sizeof models);
    snprintf(reason, size, "the bug '%s' cannot be in the machine of %s: %s; it can be in: %s",
             name, ordeal_model_name(model), bug_table[b].pointless, models);
    return false;
}

void bugs_list(FILE *stream)
{
    const char *area = "";
    for (int b = 1; b < BUGS; b++) {
        const struct bug_entry *e = &bug_table[b];
        char models[64];
        name_models(e->models, models, sizeof models);
        if (strcmp(area, e->area) != 0)
            fprintf(stream, "%s%s\n", *area ? "\n" : "", e->area);
        area = e->area;
        fprintf(stream, "  %-24s %s\n", e->name, e->wrong);
        fprintf(stream, "  %-24s models: %s\n", "", models);
        fprintf(stream, "  %-24s shown by: %s\n", "", e->exposed);
        fprintf(stream, "  %-24s caught within %u tests of:", "", e->tests);
        for (const char *at = e->bias; *at; at += strspn(at, " ")) {
            int length = (int)strcspn(at, " ");
            fprintf(stream, " --set %.*s", length, at);
            at += length;
        }
        fputc('\n', stream);
    }
}
