/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the coverage of executions. The way of a trace: exec_gather.c makes accesses of its
 * operations and cells of its memory; exec_edges.c finds out who read from whom, exec_order.c in
 * which order the stores of a cell were, as far as that is sure, and edges follow from both;
 * exec_meet.c and exec_shape.c hit points. */
#ifndef HOST_EXEC_PARTS_H
#define HOST_EXEC_PARTS_H

#include "base/list.h"
#include "cover_exec.h"

enum exec_edge_kind { EDGE_RF, EDGE_CO, EDGE_FR };
/* Of all threads; what comes later in a thread is left out, so that a look takes at most some tenths
 * of a second, and as a rule much less than the run. */
enum { MOST_ACCESSES = 1 << 13 };
enum { NOBODY = UINT32_MAX }; /* no access; as a source: nobody knows */

/* A load, store, swap, CAS or AMO that took place. Those of a thread lie together, in its order. */
struct access {
    uint32_t op, thread;
    uint32_t position;    /* in its thread */
    uint32_t tx;          /* the transaction it is in, from 1; 0: none */
    uint32_t cell, cells; /* it covers */
    uint32_t visit;       /* its first; it has one for each cell */
    uint8_t word;         /* of the axis ACCESS */
    uint8_t fence;        /* flavours of barriers since the access before it */
    uint8_t fence_after;  /* and until the access after it */
    bool reads, writes, uncached;
    bool at_once;         /* all of its bytes */
    uint64_t sets, needs; /* registers, a bit each, by their number modulo 64 */
};

/* Bytes that no access takes a part of: what is between two neighbouring ends of accesses. */
struct cell {
    uint32_t base;
    uint64_t address, bytes;
    uint64_t initial;      /* print of what it held at the start */
    uint64_t final;        /* and of what it held at the end, if all of its bytes are */
    uint64_t final_bytes;  /* known: a bit each */
    uint32_t order;        /* line of the trace, from 1, that tells that of its stores; 0: none */
    bool open;             /* accesses that were left out write to it: nothing is sure */
    uint32_t first, count; /* its visits, in `by_cell`, in the order of accesses */
};

/* An access at one of its cells. A print is the bytes if they are up to 8, else a hash of them. */
struct visit {
    uint32_t access, cell;
    uint64_t read, written;
    uint32_t source; /* the visit that wrote what it read; INITIAL; NOBODY */
    bool sure;       /* no other can have; else it is a guess */
    uint32_t store;  /* of a store: which of the cell's, from 1, in the order of accesses */
};
enum { INITIAL = UINT32_MAX - 1 };

/* One after the other in the order of a cell, with none in between that is known to be there, on
 * different threads. */
struct edge {
    uint32_t from, to;
    uint8_t kind;
    uint64_t cells; /* where: a bit each, from the first cell of `from` on */
};

/* A store of a cell was before another. */
struct fact {
    uint32_t before, after;
};

struct timed {
    uint64_t end;
    uint32_t access;
};
struct transaction {
    uint32_t thread, accesses;
    bool aborted;
};
struct place {
    uint32_t base;
    uint64_t address;
};

enum { MOST_CELL = 64 }; /* bytes of a cell that is accessed */
struct cell_bytes {
    uint8_t bytes[MOST_CELL];
};

/* A shape by its code (exec_shape.c), and by how much it is turned there. */
struct exec_shape_entry {
    bool found, symmetric;
    uint8_t shape, turn;
};
enum { EXEC_SHAPE_CODES = 1 << 12 };

struct cover_exec {
    struct exec_shape_entry shape[EXEC_SHAPE_CODES];
    const struct ordeal_trace *trace;
    struct cover_hits *hits;
    uint32_t threads;
    LIST(struct access) accesses;
    LIST(uint32_t) first; /* access of each thread, and the end */
    LIST(struct transaction) transactions;
    LIST(struct place) places; /* where accesses begin and end */
    LIST(struct place) beyond; /* bytes, one after the other, written by accesses left out */
    LIST(struct cell) cells;
    LIST(struct cell_bytes) held; /* by cells, at the start or at the end */
    LIST(struct visit) visits;
    LIST(uint32_t) by_cell;  /* visits */
    LIST(struct fact) facts; /* of a cell */
    LIST(uint32_t) next;     /* of a cell: visits of the stores that come next after each, */
    LIST(uint32_t) next_at;  /* and where these begin: 0: after what memory held at the start */
    LIST(struct edge) edges; /* by `from`, then `to`, then kind */
    LIST(uint32_t) out, in;  /* of each access: first of its edges, in `edges`, in `back` */
    LIST(uint32_t) back;     /* edges by `to` */
    LIST(uint32_t) scratch;
    LIST(struct timed) times;
    LIST(uint32_t) marks; /* of accesses, for the search for shapes */
};

/* What two accesses of a thread are in a cycle, and what is between them: the axis BOND. */
enum exec_pair { EXEC_WW, EXEC_WR, EXEC_RW, EXEC_RR };
enum exec_bond {
    EXEC_BOND_PO,
    EXEC_BOND_DEP,
    EXEC_BOND_WEAK,
    EXEC_BOND_RMW,
    EXEC_BOND_FENCE,
    EXEC_BOND_TX
};
/* Of a shape, by the axis SHAPE2 and behind it SHAPE3. */
struct exec_shape_pairs {
    uint32_t threads, count;
    uint8_t pair[3];
};
struct exec_shape_pairs exec_shape_pairs(uint32_t shape);

/* False: memory is out. */
bool exec_gather(struct cover_exec *x);
bool exec_edges(struct cover_exec *x);
bool exec_order(struct cover_exec *x, struct cell *c); /* fills `next`; sources are known */
bool exec_meet(struct cover_exec *x);
bool exec_shape(struct cover_exec *x);
void exec_shape_table(struct exec_shape_entry *table);

static inline struct visit *exec_visit(const struct cover_exec *x, const struct cell *c, uint32_t i)
{
    return &x->visits.data[x->by_cell.data[c->first + i]];
}
static inline struct access *exec_access(const struct cover_exec *x, const struct visit *v)
{
    return &x->accesses.data[v->access];
}

static inline bool exec_is_rmw(const struct access *a) { return a->word / 5 > 1; }

/* The class of a number of things: 1, 2, up to 4, up to 8, up to 16, more. */
static inline uint32_t exec_distance(uint32_t n)
{
    uint32_t class = 0;
    while (class < COVER_AXIS_DISTANCE - 1 && n > 1u << class)
        class ++;
    return class;
}

/* Makes the list `n` long, all of it zero. */
#define LIST_CLEAR_TO(l, n) \
    ((l)->count = 0, \
     list_room((void **)&(l)->data, &(l)->capacity, sizeof *(l)->data, (n)) \
         && (memset((l)->data, 0, (n) * sizeof *(l)->data), (l)->count = (n), true))

static inline bool list_room(void **data, size_t *capacity, size_t item, size_t count)
{
    if (count <= *capacity && *data)
        return true;
    size_t fresh = count + count / 2 + 16;
    void *moved = realloc(*data, fresh * item);
    if (!moved)
        return false;
    *data = moved;
    *capacity = fresh;
    return true;
}

#endif
