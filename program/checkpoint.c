/* SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECKPOINT_MAGIC "ordeal\2x" /* its last byte but one is the version */

/* What must be the same. All of it is compared, so there is no padding that is not written. */
struct identity {
    uint64_t program;
    uint32_t model, plain_flush, buffers, local, locked_atomics, no_reduction, all_errors;
    int32_t nondet_low, nondet_high;
    uint32_t outcomes;
    uint64_t outcome_hash;
};

struct position {
    uint32_t chunks, nodes, states, outcomes, founds;
    uint32_t low, high, depth, ranked, unjoined, not_local, ends;
    uint64_t skipped, transitions, pairs;
};

/* ---- what it is of ------------------------------------------------------------------------ */

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t size)
{
    const uint8_t *b = bytes;
    for (size_t i = 0; i < size; i++)
        h = (h ^ b[i]) * 0x100000001b3u;
    return h;
}

static struct identity identity_of(const struct exploration *x)
{
    const struct explore_options *o = x->options;
    const struct program_code *c = &x->code;
    size_t size = c->end - c->base;
    struct identity i;
    memset(&i, 0, sizeof i);
    i.program = hash_bytes(image_entry(c->image), c->memory, size);
    i.program = hash_bytes(i.program, c->access, size / 4);
    i.program = hash_bytes(i.program, &c->base, sizeof c->base);
    i.model = o->model;
    i.plain_flush = o->plain_flush;
    i.buffers = o->buffers;
    i.local = o->local | x->not_local;
    i.locked_atomics = o->locked_atomics;
    i.no_reduction = o->no_reduction;
    i.all_errors = o->all_errors;
    i.nondet_low = o->nondet_low;
    i.nondet_high = o->nondet_high;
    i.outcomes = (uint32_t)o->outcomes;
    i.outcome_hash = hash_bytes(1, o->outcome_address, o->outcomes * sizeof *o->outcome_address);
    i.outcome_hash = hash_bytes(i.outcome_hash, o->outcome_size, o->outcomes);
    return i;
}

/* The first thing that differs; NULL: nothing does. */
static const char *difference(const struct identity *a, const struct identity *b)
{
    if (a->program != b->program)
        return "another program";
    if (a->model != b->model)
        return "another memory model (--model)";
    if (a->plain_flush != b->plain_flush)
        return "another way of flushing (--flush)";
    if (a->buffers != b->buffers)
        return "other buffers (--buffers)";
    if (a->local != b->local)
        return "another idea of local memory (--local)";
    if (a->locked_atomics != b->locked_atomics)
        return "other atomics (--atomics)";
    if (a->no_reduction != b->no_reduction)
        return "a search with other steps (--no-reduction)";
    if (a->all_errors != b->all_errors)
        return "a search for other errors (--all)";
    if (a->nondet_low != b->nondet_low || a->nondet_high != b->nondet_high)
        return "another range of values (--nondet)";
    if (a->outcomes != b->outcomes || a->outcome_hash != b->outcome_hash)
        return "other outcomes (--outcomes)";
    return NULL;
}

/* ---- streams with a sum over all that went through ---------------------------------------- */

struct stream {
    FILE *file;
    uint64_t sum;
    bool failed;
    bool other;   /* of a search with another idea of local memory (x->not_local) */
    bool learned; /* this one knows of words contended for that it did not */
};

static uint64_t sum_of(uint64_t sum, const void *bytes, size_t size)
{
    const uint8_t *b = bytes;
    for (; size >= 8; size -= 8, b += 8) {
        uint64_t word;
        memcpy(&word, b, 8);
        sum = (sum ^ word) * 0xff51afd7ed558ccdu;
        sum ^= sum >> 32;
    }
    return hash_bytes(sum, b, size);
}

static void put(struct stream *s, const void *bytes, size_t size)
{
    if (s->failed || !size)
        return;
    s->sum = sum_of(s->sum, bytes, size);
    if (fwrite(bytes, 1, size, s->file) != size)
        s->failed = true;
}

static void get(struct stream *s, void *bytes, size_t size)
{
    if (s->failed || !size)
        return;
    if (fread(bytes, 1, size, s->file) != size)
        s->failed = true;
    else
        s->sum = sum_of(s->sum, bytes, size);
}

static void put_sum(struct stream *s)
{
    uint64_t sum = s->sum;
    put(s, &sum, sizeof sum);
}

/* What came so far is as it was written. */
static bool get_sum(struct stream *s)
{
    uint64_t expected = s->sum, sum;
    get(s, &sum, sizeof sum);
    if (s->failed || sum != expected)
        s->failed = true;
    return !s->failed;
}

static void put_table(struct stream *s, const struct intern *t, uint32_t count)
{
    put(s, t->entries, (size_t)count * t->entry_bytes);
}

static void get_table(struct stream *s, struct intern *t, uint32_t count)
{
    if (count > t->most || !count) {
        s->failed = true;
        return;
    }
    get(s, t->entries, (size_t)count * t->entry_bytes);
    if (!s->failed && !intern_restore(t, count))
        s->failed = true;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* The level's states by rank; NULL: no memory. */
static uint32_t *level_states(const struct exploration *x, uint32_t *count)
{
    uint32_t *state = malloc(((size_t)(x->high - x->low) + 1) * sizeof *state);
    *count = 0;
    if (!state)
        return NULL;
    if (x->options->jobs > 1) {
        *count = x->ranks.count;
        memcpy(state, x->ranks.state, *count * sizeof *state);
        return state;
    }
    for (uint32_t n = x->low; n < x->high; n++)
        if (*(const uint64_t *)intern_get(&x->pieces.states, n))
            state[(*count)++] = n;
    return state;
}

static struct position position_of(const struct exploration *x, uint32_t ranked)
{
    struct position p;
    memset(&p, 0, sizeof p);
    p.chunks = atomic_load(&x->pieces.chunks.count);
    p.nodes = atomic_load(&x->pieces.nodes.count);
    p.states = atomic_load(&x->pieces.states.count);
    p.outcomes = atomic_load(&x->outcomes.count);
    p.founds = (uint32_t)x->founds;
    p.low = x->low;
    p.high = x->high;
    p.depth = x->depth;
    p.ranked = ranked;
    p.unjoined = x->unjoined;
    p.not_local = x->not_local;
    p.ends = x->ends;
    p.skipped = x->skipped;
    for (uint32_t i = 0; i < x->options->jobs; i++)
        p.skipped += packer_unused_numbers(x->explorer[i].k);
    p.transitions = x->transitions_before;
    return p;
}

static void put_all(struct stream *s, struct exploration *x)
{
    struct identity identity = identity_of(x);
    size_t pairs = 0;
    uint32_t *pair = x->contention ? contention_keep(x->contention, &pairs) : NULL;
    uint32_t ranked, *state = level_states(x, &ranked);
    struct position p = position_of(x, ranked);
    p.pairs = pairs;
    put(s, CHECKPOINT_MAGIC, 8);
    put(s, &identity, sizeof identity);
    put(s, &p, sizeof p);
    put(s, pair, 2 * pairs * sizeof *pair);
    put_sum(s);
    if (x->contention && !pair)
        s->failed = true;
    free(pair);
    put_table(s, &x->pieces.chunks, p.chunks);
    put_table(s, &x->pieces.nodes, p.nodes);
    put_table(s, &x->pieces.states, p.states);
    put_table(s, &x->outcomes, p.outcomes);
    put(s, x->parent, p.states * sizeof *x->parent);
    put(s, x->found, x->founds * sizeof *x->found);
    if (state)
        put(s, state, ranked * sizeof *state);
    else
        s->failed = true;
    free(state);
    put_sum(s);
}

/* So that the new name is on the disk, too. */
static void sync_folder(const char *name)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(name, '/');
    int length = slash ? (int)(slash - name) : 0;
    snprintf(folder, sizeof folder, "%.*s%s", length, name, length ? "" : slash ? "/" : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* A file beside it, with a name and a lock as host/base/temporary.h has them: no link leads it elsewhere,
 * and what is left when we are killed is removed by the next `ordeal` that writes there. */
static FILE *open_new(const char *name, char new[PATH_MAX])
{
    if (snprintf(new, PATH_MAX, "%s.ordeal-tmp-XXXXXX", name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    int fd = mkostemp(new, O_CLOEXEC);
    if (fd < 0)
        return NULL;
    flock(fd, LOCK_EX);
    FILE *file = fdopen(fd, "wb");
    if (!file) {
        close(fd);
        unlink(new);
    }
    return file;
}

bool checkpoint_write(struct exploration *x, char *reason, size_t size)
{
    const char *name = x->options->checkpoint;
    char new[PATH_MAX];
    struct stream s = { .file = open_new(name, new) };
    if (s.file) {
        put_all(&s, x);
        if (!s.failed && (fflush(s.file) || fsync(fileno(s.file))))
            s.failed = true;
        if (fclose(s.file))
            s.failed = true;
        if (!s.failed && !rename(new, name)) {
            sync_folder(name);
            return true;
        }
    }
    snprintf(reason, size, "the checkpoint %s cannot be written: %s", name, strerror(errno));
    if (s.file)
        unlink(new);
    return false;
}

/* ---- reading ------------------------------------------------------------------------------ */

static enum ordeal_status refuse(struct ordeal_error *error, const struct exploration *x,
                                 enum ordeal_status status, const char *reason)
{
    *error = (struct ordeal_error){ .status = status };
    snprintf(error->file, sizeof error->file, "%s", x->options->checkpoint);
    snprintf(error->reason, sizeof error->reason, "%s", reason);
    return status;
}

static void get_ranks(struct stream *s, struct exploration *x, uint32_t count)
{
    uint32_t *state = malloc((count + 1) * sizeof *state);
    if (!state || count > x->high - x->low)
        s->failed = true;
    else
        get(s, state, count * sizeof *state);
    if (!s->failed && x->options->jobs > 1
        && !ranks_restore(&x->ranks, x->low, x->high, state, count))
        s->failed = true;
    free(state);
}

/* What it knew of words contended for. This search must not have more of them thought so. */
static void get_contention(struct stream *s, struct exploration *x, size_t pairs)
{
    uint32_t *pair = malloc((2 * pairs + 1) * sizeof *pair);
    if (!pair) {
        s->failed = true;
        return;
    }
    get(s, pair, 2 * pairs * sizeof *pair);
    if (get_sum(s) && x->contention) {
        s->learned = contention_knows_more(x->contention, pair, pairs);
        if (!s->learned && !contention_restore(x->contention, pair, pairs))
            s->failed = true;
    }
    free(pair);
}

static bool fits(const struct position *p)
{
    return p->low && p->low <= p->high && p->high <= p->states && p->states < 1u << 30
        && p->founds < 1u << 16 && p->ranked <= p->high - p->low && p->pairs < 1u << 26;
}

static void get_all(struct stream *s, struct exploration *x)
{
    struct position p;
    get(s, &p, sizeof p);
    if (s->failed || !fits(&p)) {
        s->failed = true;
        return;
    }
    if (p.not_local != x->not_local) { /* of a search that began again */
        s->other = true;
        return;
    }
    get_contention(s, x, p.pairs);
    if (s->learned)
        return;
    get_table(s, &x->pieces.chunks, p.chunks);
    get_table(s, &x->pieces.nodes, p.nodes);
    get_table(s, &x->pieces.states, p.states);
    get_table(s, &x->outcomes, p.outcomes);
    get(s, x->parent, p.states * sizeof *x->parent);
    x->found = calloc(p.founds + 1, sizeof *x->found);
    if (!x->found)
        s->failed = true;
    else
        get(s, x->found, p.founds * sizeof *x->found);
    x->low = p.low;
    x->high = p.high;
    get_ranks(s, x, p.ranked);
    if (!get_sum(s))
        return;
    for (uint32_t i = 0; i < p.founds; i++) /* those of this level are found again */
        if (x->found[i].depth < p.depth)
            x->found[x->founds++] = x->found[i];
    x->depth = p.depth;
    x->unjoined = p.unjoined;
    x->ends = p.ends;
    x->skipped = p.skipped;
    x->transitions_before = p.transitions;
    atomic_store(&x->transitions, p.transitions);
    atomic_store(&x->next, p.low);
}

/* Nobody waits for who may write to a pipe. */
static FILE *open_old(const char *name)
{
    struct stat is;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return NULL;
    bool plain = fstat(fd, &is) == 0 && S_ISREG(is.st_mode);
    FILE *file = plain ? fdopen(fd, "rb") : NULL;
    if (!file) {
        close(fd);
        errno = plain ? ENOMEM : EINVAL;
    }
    return file;
}

enum ordeal_status checkpoint_read(struct exploration *x, struct ordeal_error *error)
{
    struct stream s = { .file = open_old(x->options->checkpoint) };
    struct identity here = identity_of(x), there;
    char magic[8], reason[200];
    if (!s.file && errno == ENOENT)
        return ORDEAL_END;
    if (!s.file)
        return refuse(error, x, ORDEAL_IO,
                      errno == EINVAL ? "it is not a file; a pipe or device is not read"
                                      : strerror(errno));
    get(&s, magic, sizeof magic);
    bool ours = !s.failed && !memcmp(magic, CHECKPOINT_MAGIC, sizeof magic);
    get(&s, &there, sizeof there);
    const char *differs = ours && !s.failed ? difference(&here, &there) : NULL;
    if (ours && !differs)
        get_all(&s, x);
    fclose(s.file);
    if (!ours)
        return refuse(error, x, ORDEAL_BAD_INPUT,
                      "no checkpoint of this version of ordeal explore");
    if (differs) {
        snprintf(reason, sizeof reason, "the checkpoint is of %s; name another file, or remove it",
                 differs);
        return refuse(error, x, ORDEAL_BAD_USAGE, reason);
    }
    if (s.failed)
        return refuse(error, x, ORDEAL_BAD_INPUT, "the checkpoint is damaged; remove it");
    if (s.learned || (s.other && x->not_local))
        return ORDEAL_END;
    x->strange = s.other;
    return ORDEAL_OK;
}
