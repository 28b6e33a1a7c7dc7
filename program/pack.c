/* SPDX-License-Identifier: Apache-2.0 */
#include "pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "memory_model.h"
#include "part.h"

enum { CACHE = 1 << 12 }; /* pairs that this worker saw last */

/* Of what is small, the number of its list of chunks is all that is kept. */
struct thread_parts {
    uint32_t control, buffer, objects;
    struct part stack, heap;
};
struct packer {
    struct state *s;
    struct pieces *pieces;
    struct intern_cursor chunk_cursor, node_cursor, state_cursor;
    uint32_t now;        /* the number of this pack, for stamps */
    bool full;           /* a table was */
    bool buffers_differ; /* from those of the state before */
    uint32_t globals, shared, first_thread;
    uint32_t used; /* threads of the state that was unpacked last */
    struct part data, threads;
    struct thread_parts of[EXPLORE_THREADS];
    uint32_t *words; /* of a part, before they are chunks */
    struct {
        uint64_t pair;
        uint32_t number;
    } cache[CACHE];
};

/* ---- the tables --------------------------------------------------------------------------- */

bool pieces_new(struct pieces *p, bool shared)
{
    memset(p, 0, sizeof *p);
    if (intern_new(&p->chunks, CHUNK_BYTES, 1 << 16, 1 << 26, shared)
        && intern_new(&p->nodes, 8, 1 << 16, 1u << 30, shared)
        && intern_new(&p->states, 8, 1 << 16, 1u << 30, shared))
        return true;
    pieces_free(p);
    return false;
}

void pieces_free(struct pieces *p)
{
    intern_free(&p->chunks);
    intern_free(&p->nodes);
    intern_free(&p->states);
}

bool pieces_want_to_grow(const struct pieces *p)
{
    return intern_wants_to_grow(&p->chunks) || intern_wants_to_grow(&p->nodes)
        || intern_wants_to_grow(&p->states);
}

static bool grown(struct intern *t) { return !intern_wants_to_grow(t) || intern_grow(t); }

bool pieces_grow(struct pieces *p)
{
    return grown(&p->chunks) && grown(&p->nodes) && grown(&p->states);
}

size_t pieces_bytes(const struct pieces *p)
{
    return intern_bytes(&p->chunks) + intern_bytes(&p->nodes) + intern_bytes(&p->states);
}

/* ---- numbers of chunks and pairs ---------------------------------------------------------- */

static uint32_t chunk_number(struct packer *k, const uint32_t words[CHUNK_WORDS])
{
    static const uint32_t zeros[CHUNK_WORDS];
    bool is_new;
    if (!memcmp(words, zeros, CHUNK_BYTES))
        return 0;
    uint32_t number = intern_add(&k->pieces->chunks, &k->chunk_cursor, words,
                                 intern_hash(words, CHUNK_BYTES), &is_new);
    if (number == INTERN_FULL)
        k->full = true;
    return number;
}

static uint32_t pair_number(struct packer *k, uint32_t left, uint32_t right)
{
    uint64_t pair = (uint64_t)left << 32 | right, hash;
    bool is_new;
    if (!pair || k->full)
        return 0;
    hash = intern_hash(&pair, 8);
    uint32_t slot = (uint32_t)hash & (CACHE - 1);
    if (k->cache[slot].pair == pair)
        return k->cache[slot].number;
    uint32_t number = intern_add(&k->pieces->nodes, &k->node_cursor, &pair, hash, &is_new);
    if (number == INTERN_FULL) {
        k->full = true;
        return 0;
    }
    k->cache[slot].pair = pair;
    k->cache[slot].number = number;
    return number;
}

/* ---- a part after a change ---------------------------------------------------------------- */

static void set(struct packer *k, uint32_t *where, uint32_t number)
{
    if (*where != number)
        state_set(k->s, where, number);
}

static void fold_level(struct packer *k, struct part *p, uint32_t l, uint32_t place)
{
    const uint32_t *below = &p->level[l - 1][2 * place];
    set(k, &p->level[l][place], pair_number(k, below[0], below[1]));
}

static void fold_whole(struct packer *k, struct part *p, uint32_t height)
{
    uint32_t width = p->count;
    for (uint32_t l = 1; l <= height; l++) {
        width = (width + 1) / 2;
        for (uint32_t i = 0; i < width; i++)
            fold_level(k, p, l, i);
    }
}

/* Numbers above the places that were noted, level by level, each once. */
static void part_fold_to(struct packer *k, struct part *p, uint32_t height)
{
    uint32_t n = p->changes;
    p->changes = 0;
    if (n > 64) {
        fold_whole(k, p, height);
        return;
    }
    for (uint32_t l = 1; l <= height; l++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t place = p->changed[i] / 2;
            if (kept && p->changed[kept - 1] == place)
                continue;
            fold_level(k, p, l, place);
            p->changed[kept++] = place;
        }
        n = kept;
    }
}

static uint32_t part_fold(struct packer *k, struct part *p)
{
    if (p->changes)
        part_fold_to(k, p, part_height(p->count));
    return part_root(p);
}

/* A number at a place, which is noted if it is another than before. */
static void part_put(struct packer *k, struct part *p, uint32_t place, uint32_t number)
{
    if (p->level[0][place] == number)
        return;
    state_set(k->s, &p->level[0][place], number);
    part_note(p, place);
}

/* Nothing lies behind the end, at any level. `logged`: so that it can be taken back. */
static void part_cut(struct packer *k, struct part *p, uint32_t count, bool logged)
{
    for (uint32_t l = 0; l <= part_height(p->count); l++)
        for (uint32_t i = (count + (1u << l) - 1) >> l; i <= (p->count - 1) >> l; i++) {
            if (logged)
                set(k, &p->level[l][i], 0);
            else
                p->level[l][i] = 0;
        }
}

static void part_resize(struct packer *k, struct part *p, uint32_t count)
{
    assert(count <= p->most);
    if (count < p->count) {
        part_cut(k, p, count, true);
        if (count)
            part_note(p, count - 1); /* the way up from there is another */
    }
    if (part_height(count) > part_height(p->count)) { /* ways up are longer */
        part_note(p, 0);
        for (uint32_t i = p->count; i < count; i++)
            part_note(p, i);
    }
    if (count != p->count)
        state_set(k->s, &p->count, count);
}

/* Words as a list of chunks: the number of the last one, or a pair of a chunk and the rest, which
 * has LIST set. There is room for a whole last chunk; zeros behind the end do not count. */
#define LIST 0x80000000u

static uint32_t list_number(struct packer *k, uint32_t *words, uint32_t count)
{
    uint32_t chunks = (count + CHUNK_WORDS - 1) / CHUNK_WORDS, rest = 0;
    for (uint32_t i = count; i < chunks * CHUNK_WORDS; i++)
        words[i] = 0;
    for (uint32_t i = chunks; i--;) {
        uint32_t chunk = chunk_number(k, words + (size_t)i * CHUNK_WORDS);
        rest = i + 1 == chunks ? chunk : pair_number(k, chunk, rest) | LIST;
    }
    return rest;
}

/* ---- what the parts hold ------------------------------------------------------------------ */

enum { CONTROL_WORDS = 4, GLOBAL_WORDS = 2 };

static uint32_t live_of(const struct program_code *c, uint32_t status, uint32_t pc)
{
    uint32_t offset = pc - c->base;
    if (status == THREAD_ENDED || status == THREAD_FREE)
        return 0;
    if (status == THREAD_LOOPS || offset >= c->end - c->base)
        return 1u << 2;
    return c->at[offset / 4].live | 1u << 2;
}

static uint32_t pack_control(const struct state *s, const struct thread *t, uint32_t *words)
{
    uint32_t *w = words + CONTROL_WORDS;
    if (t->status == THREAD_FREE)
        return 0;
    words[0] = t->status | t->flags << 8;
    words[1] = t->pc;
    words[2] = t->status == THREAD_ENDED ? t->value : t->condition;
    words[3] = t->shared_from;
    for (uint32_t live = live_of(s->code, t->status, t->pc); live; live &= live - 1)
        *w++ = t->x[__builtin_ctz(live)];
    return (uint32_t)(w - words);
}

static void unpack_control(struct state *s, struct thread *t, const uint32_t *words, uint32_t count)
{
    *t = (struct thread){ .status = THREAD_FREE };
    if (!count)
        return;
    t->status = words[0] & 0xff;
    t->flags = words[0] >> 8;
    t->pc = words[1];
    if (t->status == THREAD_ENDED)
        t->value = words[2];
    else
        t->condition = words[2];
    t->shared_from = words[3];
    const uint32_t *w = words + CONTROL_WORDS;
    for (uint32_t live = live_of(s->code, t->status, t->pc); live; live &= live - 1)
        t->x[__builtin_ctz(live)] = *w++;
}

/* Its stack in chunks, from the top downwards. */
static uint32_t stack_chunks(const struct state *s, uint32_t thread)
{
    const struct thread *t = &s->thread[thread];
    if (t->status == THREAD_FREE || t->status == THREAD_ENDED)
        return 0;
    return (stack_top(thread) - t->x[2] + CHUNK_BYTES - 1) / CHUNK_BYTES;
}

static uint8_t *stack_chunk(const struct state *s, uint32_t thread, uint32_t place)
{
    return s->stacks + (stack_top(thread) - (uint32_t)STATE_STACKS)
         - (size_t)(place + 1) * CHUNK_BYTES;
}

static uint32_t heap_chunks(const struct state *s, uint32_t thread)
{
    const struct heap *h = &s->heap[thread];
    if (!*h->count)
        return 0;
    const struct heap_object *last = &h->object[*h->count - 1];
    uint32_t end = last->place + (last->size & ~(uint32_t)HEAP_SHARED);
    return (end - (STATE_HEAPS + thread * STATE_PART) + CHUNK_BYTES - 1) / CHUNK_BYTES;
}

static uint8_t *heap_chunk(const struct state *s, uint32_t thread, uint32_t place)
{
    return s->heaps + (size_t)thread * STATE_PART + (size_t)place * CHUNK_BYTES;
}

static uint8_t *data_chunk(const struct state *s, uint32_t place)
{
    return s->linked + (s->code->low - s->code->base) + (size_t)place * CHUNK_BYTES;
}

/* Threads that are there, or have left something; before, there were `most`. */
static uint32_t threads_used(const struct state *s, uint32_t most)
{
    struct explore_entry entry;
    uint32_t n = most > s->threads ? most : s->threads;
    while (n && s->thread[n - 1].status == THREAD_FREE && !*s->heap[n - 1].count
           && !s->model->entry(s, n - 1, 0, &entry))
        n--;
    return n;
}

/* ---- packing ------------------------------------------------------------------------------ */

static uint32_t pack_stack_chunk(struct packer *k, uint32_t thread, uint32_t place)
{
    uint32_t words[CHUNK_WORDS];
    uint32_t low = stack_top(thread) - (place + 1) * CHUNK_BYTES, sp = k->s->thread[thread].x[2];
    memcpy(words, stack_chunk(k->s, thread, place), CHUNK_BYTES);
    if (low < sp)
        memset(words, 0, sp - low); /* what lies below is nothing */
    return chunk_number(k, words);
}

static uint32_t memory_number(struct packer *k, struct part *p, uint32_t thread, uint32_t place)
{
    if (p == &k->data)
        return chunk_number(k, (uint32_t *)(void *)data_chunk(k->s, place));
    if (p == &k->of[thread].stack)
        return pack_stack_chunk(k, thread, place);
    return chunk_number(k, (uint32_t *)(void *)heap_chunk(k->s, thread, place));
}

/* Where a logged word lies; false: in no chunk of memory. */
static bool locate(struct packer *k, const uint32_t *where, struct part **p, uint32_t *thread,
                   uint32_t *place)
{
    const uint8_t *at = (const uint8_t *)where;
    const struct state *s = k->s;
    size_t data = (size_t)(at - data_chunk(s, 0)), stack = (size_t)(at - s->stacks),
           heap = (size_t)(at - s->heaps), all = (size_t)EXPLORE_THREADS * STATE_PART;
    if (data < s->code->high - s->code->low) {
        *p = &k->data;
        *place = (uint32_t)(data / CHUNK_BYTES);
        return true;
    }
    if (stack < all) {
        *thread = (uint32_t)(stack / STATE_PART);
        *p = &k->of[*thread].stack;
        *place = (uint32_t)((STATE_PART - 1 - stack % STATE_PART) / CHUNK_BYTES);
        return true;
    }
    *thread = (uint32_t)(heap / STATE_PART);
    *place = (uint32_t)(heap % STATE_PART / CHUNK_BYTES);
    if (heap < all)
        *p = &k->of[*thread].heap;
    return heap < all;
}

static void pack_place(struct packer *k, struct part *p, uint32_t thread, uint32_t place)
{
    if (place >= p->count || !part_note_once(p, place, k->now))
        return;
    set(k, &p->level[0][place], memory_number(k, p, thread, place));
}

/* New places, and the one that the end now lies in. */
static void pack_from(struct packer *k, struct part *p, uint32_t thread, uint32_t count)
{
    uint32_t before = p->count, from = before < count ? before : count;
    part_resize(k, p, count);
    for (uint32_t i = from ? from - 1 : 0; i < count; i++)
        pack_place(k, p, thread, i);
}

static void pack_memory(struct packer *k)
{
    struct state *s = k->s;
    size_t logged = s->undone; /* packing logs, too */
    for (uint32_t left = s->touched; left; left &= left - 1) {
        uint32_t t = (uint32_t)__builtin_ctz(left);
        bool same_end = s->before[t].x[2] == s->thread[t].x[2]
                     && s->before[t].status == s->thread[t].status;
        if (!same_end)
            pack_from(k, &k->of[t].stack, t, stack_chunks(s, t));
    }
    for (uint32_t left = s->heap_touched; left; left &= left - 1) {
        uint32_t t = (uint32_t)__builtin_ctz(left);
        pack_from(k, &k->of[t].heap, t, heap_chunks(s, t));
    }
    for (size_t i = 0; i < logged; i++) {
        struct part *p;
        uint32_t thread = 0, place;
        if (locate(k, s->undo[i].where, &p, &thread, &place))
            pack_place(k, p, thread, place);
    }
}

static uint32_t pack_objects(struct packer *k, uint32_t t)
{
    const struct heap *h = &k->s->heap[t];
    uint32_t n = *h->count;
    if (!n)
        return 0;
    k->words[0] = n;
    memcpy(k->words + 1, h->object, n * sizeof *h->object);
    return list_number(k, k->words, 1 + 2 * n);
}

/* The number of all that belongs to a thread. Parts that did not change are what they were. */
static uint32_t pack_thread(struct packer *k, uint32_t t, bool whole)
{
    struct thread_parts *of = &k->of[t];
    struct state *s = k->s;
    if (whole || s->touched >> t & 1)
        set(k, &of->control, list_number(k, k->words, pack_control(s, &s->thread[t], k->words)));
    if (whole || s->buffers_changed)
        set(k, &of->buffer, list_number(k, k->words, s->model->pack(s, t, k->words)));
    if (whole || s->heap_touched >> t & 1)
        set(k, &of->objects, pack_objects(k, t));
    uint32_t stack = part_fold(k, &of->stack), heap = part_fold(k, &of->heap);
    uint32_t runs = pair_number(k, of->control, stack);
    uint32_t holds = pair_number(k, of->objects, heap);
    return pair_number(k, runs, pair_number(k, of->buffer, holds));
}

/* All that is no thread's. */
static uint32_t pack_rest(struct packer *k, uint32_t used, bool whole)
{
    const struct state *s = k->s;
    uint32_t globals[CHUNK_WORDS] = { used | s->threads << 8, s->exited };
    set(k, &k->globals, list_number(k, globals, GLOBAL_WORDS));
    if (whole || s->buffers_changed)
        set(k, &k->shared, list_number(k, k->words, s->model->pack(s, EXPLORE_THREADS, k->words)));
    return pair_number(k, k->globals, pair_number(k, part_fold(k, &k->data), k->shared));
}

static void pack_threads(struct packer *k, uint32_t used, bool whole)
{
    const struct state *s = k->s;
    uint32_t all = used > k->threads.count ? used : k->threads.count;
    uint32_t memory = s->touched | s->heap_touched;
    for (uint32_t t = 0; t < all; t++) {
        bool changed = whole || memory >> t & 1 || s->buffers_changed || k->of[t].stack.changes
                    || k->of[t].heap.changes;
        if (!changed)
            continue;
        uint32_t number = pack_thread(k, t, whole);
        if (t >= k->threads.count)
            part_resize(k, &k->threads, t + 1);
        if (t)
            part_put(k, &k->threads, t, number);
        else
            set(k, &k->first_thread, number);
    }
    part_resize(k, &k->threads, used ? used : 1);
}

/* The whole state is the row of its threads, of which the first comes with what is no thread's: the
 * first thread changes little, and numbers of pairs are fewest where the halves of a state change
 * as often as each other. The pair at the top is the state's entry, with the height in bits that
 * numbers leave. */
enum { NUMBER_BITS = 30 };
#define NUMBER_MASK ((1u << NUMBER_BITS) - 1)

static uint64_t pack_top(struct packer *k, uint32_t rest)
{
    part_put(k, &k->threads, 0, pair_number(k, rest, k->first_thread));
    uint32_t height = part_height(k->threads.count);
    const uint32_t *top = k->threads.level[height ? height - 1 : 0];
    part_fold_to(k, &k->threads, height ? height - 1 : 0);
    uint64_t left = top[0] | (height & 3) << NUMBER_BITS;
    return left << 32 | (height ? top[1] : 0) | (height >> 2) << NUMBER_BITS;
}

static uint32_t pack(struct packer *k, bool whole, bool *is_new)
{
    uint64_t root = 0;
    k->full = false;
    uint32_t used = threads_used(k->s, k->threads.count);
    pack_threads(k, used, whole);
    root = pack_top(k, pack_rest(k, used, whole));
    if (k->full)
        return PACK_FULL;
    return intern_add(&k->pieces->states, &k->state_cursor, &root, intern_hash(&root, 8), is_new);
}

uint32_t packer_pack(struct packer *k, bool *is_new)
{
    k->now++;
    pack_memory(k);
    return pack(k, false, is_new);
}

uint32_t packer_pack_whole(struct packer *k, bool *is_new)
{
    struct state *s = k->s;
    k->now++;
    part_resize(k, &k->data, (s->code->high - s->code->low) / CHUNK_BYTES);
    for (uint32_t i = 0; i < k->data.count; i++)
        pack_place(k, &k->data, 0, i);
    for (uint32_t t = 0; t < EXPLORE_THREADS; t++) {
        struct thread_parts *of = &k->of[t];
        part_resize(k, &of->stack, stack_chunks(s, t));
        for (uint32_t i = 0; i < of->stack.count; i++)
            pack_place(k, &of->stack, t, i);
        part_resize(k, &of->heap, heap_chunks(s, t));
        for (uint32_t i = 0; i < of->heap.count; i++)
            pack_place(k, &of->heap, t, i);
    }
    return pack(k, true, is_new);
}

void packer_check(struct packer *k, uint32_t state)
{
    bool is_new;
    uint32_t number = packer_pack_whole(k, &is_new);
    assert(number == state || number == PACK_FULL);
    state_undo(k->s);
}

uint32_t packer_unused_numbers(const struct packer *k)
{
    return k->state_cursor.end - k->state_cursor.next;
}

uint32_t packer_skip_numbers(struct packer *k)
{
    uint32_t unused = packer_unused_numbers(k);
    k->state_cursor.next = k->state_cursor.end;
    return unused;
}

/* ---- unpacking ---------------------------------------------------------------------------- */

struct pair {
    uint32_t left, right;
};

static struct pair split(const struct packer *k, uint32_t number)
{
    if (!number)
        return (struct pair){ 0, 0 };
    uint64_t pair = *(const uint64_t *)intern_get(&k->pieces->nodes, number);
    return (struct pair){ (uint32_t)(pair >> 32), (uint32_t)pair };
}

static void get_chunk(const struct packer *k, uint32_t number, void *words)
{
    if (number)
        memcpy(words, intern_get(&k->pieces->chunks, number), CHUNK_BYTES);
    else
        memset(words, 0, CHUNK_BYTES);
}

/* A part that becomes the tree of `root` with so many places: tells each that is another. */
struct change {
    struct packer *k;
    struct part *p;
    uint32_t thread, count, known, known_height, known_levels;
    void (*write)(struct packer *k, struct part *p, uint32_t thread, uint32_t place,
                  uint32_t number);
};

/* Whether the number at a node is that of the places under it as they are. */
static bool node_is_known(const struct change *c, uint32_t level, uint32_t place)
{
    uint64_t end = (uint64_t)(place + 1) << level;
    return level < c->known_levels && end <= 1ull << c->known_height
        && (end <= c->known || c->count <= c->known);
}

static void change_node(const struct change *c, uint32_t level, uint32_t place, uint32_t number)
{
    struct part *p = c->p;
    if (place << level >= c->count && !number) {
        p->level[level][place] = 0;
        return;
    }
    if (p->level[level][place] == number && node_is_known(c, level, place))
        return;
    p->level[level][place] = number;
    if (!level) {
        c->write(c->k, p, c->thread, place, number);
        return;
    }
    struct pair pair = split(c->k, number);
    change_node(c, level - 1, 2 * place, pair.left);
    change_node(c, level - 1, 2 * place + 1, pair.right);
}

static void begin_change(struct change *c, uint32_t count)
{
    c->known = c->p->count;
    c->known_height = part_height(c->known);
    c->known_levels = c->known_height + 1;
    c->count = count;
    if (count < c->known)
        part_cut(c->k, c->p, count, false);
    c->p->count = count;
}

static void change_part(struct change c, uint32_t root, uint32_t count)
{
    if (count == c.p->count && part_root(c.p) == root)
        return;
    begin_change(&c, count);
    change_node(&c, part_height(count), 0, root);
}

static void write_memory(struct packer *k, struct part *p, uint32_t thread, uint32_t place,
                         uint32_t number)
{
    if (p == &k->data)
        get_chunk(k, number, data_chunk(k->s, place));
    else if (p == &k->of[thread].stack)
        get_chunk(k, number, stack_chunk(k->s, thread, place));
    else
        get_chunk(k, number, heap_chunk(k->s, thread, place));
}

/* Into k->words; the rest of the last chunk is zeros. How many words that is in whole chunks. */
static uint32_t get_list(struct packer *k, uint32_t list)
{
    uint32_t at = 0;
    for (; list & LIST; at += CHUNK_WORDS) {
        struct pair pair = split(k, list & ~LIST);
        get_chunk(k, pair.left, k->words + at);
        list = pair.right;
    }
    get_chunk(k, list, k->words + at);
    return at + CHUNK_WORDS;
}

/* Whether a list is another than the one known; its words are there then. */
static bool list_changed(struct packer *k, uint32_t *known, uint32_t list, uint32_t *count)
{
    if (*known == list)
        return false;
    *known = list;
    *count = list ? get_list(k, list) : 0;
    return true;
}

static void unpack_objects(struct packer *k, uint32_t t, uint32_t count)
{
    struct heap *h = &k->s->heap[t];
    *h->count = count ? k->words[0] : 0;
    memcpy(h->object, k->words + 1, *h->count * sizeof *h->object);
}

static void unpack_thread(struct packer *k, uint32_t t, uint32_t number)
{
    struct thread_parts *of = &k->of[t];
    struct state *s = k->s;
    struct pair both = split(k, number), runs = split(k, both.left), rest = split(k, both.right),
                holds = split(k, rest.right);
    uint32_t count;
    if (list_changed(k, &of->control, runs.left, &count))
        unpack_control(s, &s->thread[t], k->words, count);
    if (list_changed(k, &of->buffer, rest.left, &count)) {
        s->model->unpack(s, t, k->words, count);
        k->buffers_differ = true;
    }
    if (list_changed(k, &of->objects, holds.left, &count))
        unpack_objects(k, t, count);
    struct change stack = { .k = k, .p = &of->stack, .thread = t, .write = write_memory };
    struct change heap = { .k = k, .p = &of->heap, .thread = t, .write = write_memory };
    change_part(stack, runs.right, stack_chunks(s, t));
    for (uint32_t i = heap_chunks(s, t); i < of->heap.count;
         i++) /* what is not allocated is zeros */
        memset(heap_chunk(s, t, i), 0, CHUNK_BYTES);
    change_part(heap, holds.right, heap_chunks(s, t));
}

static void write_thread(struct packer *k, struct part *p, uint32_t thread, uint32_t place,
                         uint32_t number)
{
    (void)p, (void)thread;
    if (place)
        unpack_thread(k, place, number);
}

/* The row of threads, whose top is the entry's pair itself. */
static void unpack_threads(struct packer *k, uint32_t left, uint32_t right, uint32_t height,
                           uint32_t used)
{
    struct change c = { .k = k, .p = &k->threads, .write = write_thread };
    for (uint32_t t = used ? used : 1; t < k->threads.count; t++)
        unpack_thread(k, t, 0);
    begin_change(&c, used ? used : 1);
    if (c.known_height)
        c.known_levels--;
    change_node(&c, height ? height - 1 : 0, 0, left);
    if (height)
        change_node(&c, height - 1, 1, right);
}

static void unpack_rest(struct packer *k, uint32_t data, uint32_t shared)
{
    struct state *s = k->s;
    struct change c = { .k = k, .p = &k->data, .write = write_memory };
    change_part(c, data, (s->code->high - s->code->low) / CHUNK_BYTES);
    if (k->shared == shared && !k->buffers_differ)
        return;
    k->shared = shared;
    uint32_t count = shared ? get_list(k, shared) : 0;
    s->model->unpack(s, EXPLORE_THREADS, k->words, count);
}

void packer_unpack(struct packer *k, uint32_t state)
{
    struct state *s = k->s;
    uint64_t root = *(const uint64_t *)intern_get(&k->pieces->states, state);
    uint32_t top_left = (uint32_t)(root >> 32), top_right = (uint32_t)root, count;
    uint32_t height = top_left >> NUMBER_BITS | top_right >> NUMBER_BITS << 2;
    uint32_t left = top_left & NUMBER_MASK, right = top_right & NUMBER_MASK, first = left;
    for (uint32_t l = 1; l < height; l++)
        first = split(k, first).left;
    struct pair both = split(k, first), top = split(k, both.left), rest = split(k, top.right);
    k->buffers_differ = false;
    if (list_changed(k, &k->globals, top.left, &count)) {
        k->used = k->words[0] & 0xff;
        s->threads = k->words[0] >> 8;
        s->exited = k->words[1];
    }
    if (k->first_thread != both.right)
        unpack_thread(k, 0, both.right);
    k->first_thread = both.right;
    unpack_threads(k, left, right, height, k->used);
    unpack_rest(k, rest.left, rest.right);
    state_mark(s);
}

/* ---- packers ------------------------------------------------------------------------------ */

struct packer *packer_new(struct state *s, struct pieces *p)
{
    struct packer *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->s = s;
    k->pieces = p;
    size_t words = 2 * STATE_OBJECTS + 1, model = s->model->most_words(s);
    k->words = malloc(((words > model ? words : model) + 2 * CHUNK_WORDS) * sizeof *k->words);
    bool made = k->words && part_new(&k->data, (s->code->high - s->code->low) / CHUNK_BYTES)
             && part_new(&k->threads, EXPLORE_THREADS);
    for (uint32_t t = 0; made && t < EXPLORE_THREADS; t++)
        made = part_new(&k->of[t].stack, STATE_PART / CHUNK_BYTES)
            && part_new(&k->of[t].heap, STATE_PART / CHUNK_BYTES);
    state_begin(s);
    s->thread[0] = (struct thread){
        .status = THREAD_FREE
    }; /* as the numbers say, which are all 0 */
    s->threads = 0;
    if (made)
        return k;
    packer_free(k);
    return NULL;
}

void packer_free(struct packer *k)
{
    if (!k)
        return;
    part_free(&k->data);
    part_free(&k->threads);
    for (uint32_t t = 0; t < EXPLORE_THREADS; t++) {
        part_free(&k->of[t].stack);
        part_free(&k->of[t].heap);
    }
    free(k->words);
    free(k);
}
