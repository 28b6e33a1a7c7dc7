/* SPDX-License-Identifier: Apache-2.0 */
/* The reference machine: memory, transactions, records, and the interface to them. */
#include <stdlib.h>
#include <string.h>

#include "iss_parts.h"

enum { STREAM_WORDS = 1 << 16, LONGEST_RECORD = 5 };

/* ---- records ------------------------------------------------------------------------------- */

static void put(struct soc *s, uint32_t word)
{
    s->stream[s->stream_to++ % STREAM_WORDS] = word;
}

void iss_record(struct soc *s, uint32_t hart, const struct iss_record *r)
{
    struct iss_hart *h = &s->hart[hart];
    uint32_t kind = r->kind, sequence = 0;
    if (kind != N_REC_VISIBLE)
        sequence = h->sequence++;
    put(s, kind | r->size << 4 | (uint32_t)h->tx << 6 | hart << 8 | sequence << 12);
    put(s, (uint32_t)s->cycle);
    bool address = (kind >= N_REC_LOAD && kind <= N_REC_HINT) || kind == N_REC_VISIBLE;
    bool read = kind == N_REC_LOAD || (kind >= N_REC_ATOMIC && kind <= N_REC_SC) ||
                kind == N_REC_TX_ABORT || kind == N_REC_MARK;
    bool written = kind == N_REC_STORE || kind == N_REC_ATOMIC || kind == N_REC_SC ||
                   kind == N_REC_VISIBLE;
    if (address)
        put(s, r->address);
    if (read)
        put(s, r->read);
    if (written)
        put(s, r->written);
}

/* ---- memory -------------------------------------------------------------------------------- */

static uint32_t index_of(uint32_t address)
{
    return (address & ~(N_MAP_MEMORY | N_MAP_UNCACHED)) / 4;
}

uint32_t iss_line(uint32_t address)
{
    return (address & ~(N_MAP_MEMORY | N_MAP_UNCACHED)) / ISS_LINE_BYTES;
}

static bool in(const uint32_t *set, uint32_t count, uint32_t line)
{
    for (uint32_t i = 0; i < count; i++)
        if (set[i] == line)
            return true;
    return false;
}

void iss_doom(struct soc *s, uint32_t hart, uint32_t cause)
{
    struct iss_hart *h = &s->hart[hart];
    if (h->doomed)
        return;
    h->doomed = cause;
    while (h->undos > 0) {
        h->undos--;
        s->memory[h->undo[h->undos].index] = h->undo[h->undos].word;
    }
    h->reads = h->writes = 0;
    h->counter[E_TX_CONFLICTS] += cause == N_TX_CONFLICT;
    h->counter[E_TX_CAPACITIES] += cause == N_TX_CAPACITY;
}

/* The others lose what this access takes away from them: whoever comes wins. */
static void settle(struct soc *s, uint32_t hart, uint32_t line, bool writes)
{
    for (uint32_t i = 0; i < s->harts; i++) {
        struct iss_hart *h = &s->hart[i];
        if (i == hart)
            continue;
        if (h->tx && (in(h->write_set, h->writes, line) ||
                      (writes && in(h->read_set, h->reads, line))))
            iss_doom(s, i, N_TX_CONFLICT);
        if (writes && h->reserved && h->reservation == line) {
            h->reserved = false;
            h->counter[E_RESERVATION_LOST]++;
        }
    }
}

static bool track(struct soc *s, uint32_t hart, uint32_t line, bool writes)
{
    struct iss_hart *h = &s->hart[hart];
    uint32_t *set = writes ? h->write_set : h->read_set;
    uint32_t *count = writes ? &h->writes : &h->reads;
    if (!h->tx || in(set, *count, line))
        return true;
    if (h->reads + h->writes >= ISS_TX_LINES) {
        iss_doom(s, hart, N_TX_CAPACITY);
        return false;
    }
    set[(*count)++] = line;
    return true;
}

bool iss_read(struct soc *s, uint32_t hart, uint32_t address, uint32_t *word)
{
    if (!track(s, hart, iss_line(address), false))
        return false;
    settle(s, hart, iss_line(address), false);
    *word = s->memory[index_of(address)];
    return true;
}

bool iss_write(struct soc *s, uint32_t hart, uint32_t address, uint32_t word, uint32_t mask)
{
    struct iss_hart *h = &s->hart[hart];
    uint32_t index = index_of(address);
    if (!track(s, hart, iss_line(address), true))
        return false;
    settle(s, hart, iss_line(address), true);
    if (h->tx) {
        if (h->undos == h->undo_room) {
            h->undo_room = h->undo_room ? 2 * h->undo_room : 64;
            h->undo = realloc(h->undo, h->undo_room * sizeof *h->undo);
            if (!h->undo)
                abort();
        }
        h->undo[h->undos++] = (struct iss_undo){ index, s->memory[index] };
    }
    s->memory[index] = (s->memory[index] & ~mask) | (word & mask);
    return true;
}

/* ---- time ---------------------------------------------------------------------------------- */

static uint32_t chance(struct soc *s)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (uint32_t)(s->random >> 20);
}

static bool all_done(const struct soc *s)
{
    for (uint32_t i = 0; i < s->harts; i++)
        if (!s->hart[i].done)
            return false;
    return true;
}

/* One instruction a cycle in the whole machine. The higher the level of delay, the longer a hart
 * goes on alone; with 0 it is somebody's turn anew each time. */
static uint64_t step(struct soc *s, uint64_t cycles)
{
    uint64_t made = 0;
    /* An instruction gives three records at most: an abort, itself, visible. */
    while (made < cycles && !all_done(s) &&
           s->stream_to - s->stream_from + 3 * LONGEST_RECORD <= STREAM_WORDS) {
        if (s->turns == 0) {
            s->turn = chance(s) % s->harts;
            s->turns = 1 + (chance(s) & ((1u << s->setup.delay) - 1));
        }
        s->turns--;
        if (!s->hart[s->turn].done)
            iss_turn(s, s->turn);
        s->cycle++;
        made++;
    }
    return made;
}

/* ---- the rest of the interface ------------------------------------------------------------- */

static void reset(struct soc *s, const struct soc_setup *setup)
{
    s->setup = *setup;
    s->random = (setup->seed + 1) * 0x9E3779B97F4A7C15u;
    s->cycle = s->turns = 0;
    s->stream_from = s->stream_to = 0;
    for (uint32_t i = 0; i < s->harts; i++) {
        struct iss_hart *h = &s->hart[i];
        struct iss_undo *undo = h->undo;
        uint32_t room = h->undo_room;
        memset(h, 0, offsetof(struct iss_hart, code));
        h->undo = undo;
        h->undo_room = room;
        for (uint32_t r = 1; r < 32; r++)
            h->x[r] = 0xbad00000 | r; /* nobody may rely on what registers hold at first */
    }
}

static struct soc *create(const struct soc_interface *self)
{
    uint32_t harts = self->parameters.harts;
    struct soc *s = calloc(1, sizeof *s + harts * sizeof s->hart[0]);
    if (!s)
        return NULL;
    s->harts = harts;
    s->stream = calloc(STREAM_WORDS, sizeof *s->stream);
    if (!s->stream) {
        free(s);
        return NULL;
    }
    reset(s, &(struct soc_setup){ .model = SOC_SC });
    return s;
}

static void destroy(struct soc *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->harts; i++)
        free(s->hart[i].undo);
    free(s->stream);
    free(s);
}

static bool within(uint32_t from, uint32_t count, uint32_t bytes)
{
    return from % 4 == 0 && from <= bytes && count <= (bytes - from) / 4;
}

static bool write_code(struct soc *s, uint32_t hart, uint32_t address, const uint32_t *words,
                       uint32_t count)
{
    if (hart >= s->harts || !within(address, count, ISS_CODE_BYTES))
        return false;
    memcpy(&s->hart[hart].code[address / 4], words, 4 * (size_t)count);
    return true;
}

static bool write_memory(struct soc *s, uint32_t offset, const uint32_t *words, uint32_t count)
{
    if (!within(offset, count, ISS_MEMORY_BYTES))
        return false;
    memcpy(&s->memory[offset / 4], words, 4 * (size_t)count);
    return true;
}

static bool read_memory(struct soc *s, uint32_t offset, uint32_t *words, uint32_t count)
{
    if (!within(offset, count, ISS_MEMORY_BYTES))
        return false;
    memcpy(words, &s->memory[offset / 4], 4 * (size_t)count);
    return true;
}

static bool done(const struct soc *s) { return all_done(s) && s->stream_from == s->stream_to; }
static uint64_t cycle(const struct soc *s) { return s->cycle; }

static size_t words_of(uint32_t first)
{
    static const uint8_t more[16] = {
        [N_REC_LOAD] = 2, [N_REC_STORE] = 2, [N_REC_ATOMIC] = 3, [N_REC_LR] = 2, [N_REC_SC] = 3,
        [N_REC_FENCE] = 1, [N_REC_HINT] = 1, [N_REC_TX_ABORT] = 1, [N_REC_MARK] = 1,
        [N_REC_VISIBLE] = 2, [N_REC_LOST] = 1,
    };
    return 2u + more[first & 15];
}

static size_t read_capture(struct soc *s, uint32_t *words, size_t room)
{
    size_t n = 0;
    while (s->stream_from < s->stream_to) {
        size_t length = words_of(s->stream[s->stream_from % STREAM_WORDS]);
        if (room - n < length)
            break;
        for (size_t i = 0; i < length; i++)
            words[n++] = s->stream[s->stream_from++ % STREAM_WORDS];
    }
    return n;
}

/* There is no capture unit here that could be wrong. */
static size_t read_log(struct soc *s, uint32_t *words, size_t room)
{
    (void)s;
    (void)words;
    (void)room;
    return 0;
}

static uint32_t counter(struct soc *s, uint32_t hart, uint32_t event)
{
    return hart < s->harts && event < ISS_EVENTS ? s->hart[hart].counter[event] : 0;
}

static void hart(struct soc *s, uint32_t number, struct soc_hart *state)
{
    const struct iss_hart *h = &s->hart[number];
    *state = (struct soc_hart){ .done = h->done, .pc = h->pc,
                                .waits = h->done ? W_DONE : W_NOTHING,
                                .instructions = (uint32_t)h->retired };
}

static const char *assertion(const struct soc *s) { (void)s; return NULL; }

static bool no_file(struct soc *s, const char *file)
{
    (void)s;
    (void)file;
    return false;
}

#define INTERFACE(n) {                                                                             \
    .version = SOC_VERSION, .name = "reference",                                                   \
    .parameters = { .harts = n, .line_bytes = ISS_LINE_BYTES, .memory_bytes = ISS_MEMORY_BYTES,    \
                    .code_bytes = ISS_CODE_BYTES, .transactions = true },                          \
    .create = create, .destroy = destroy, .reset = reset, .write_code = write_code,                \
    .write_memory = write_memory, .read_memory = read_memory, .step = step, .done = done,          \
    .cycle = cycle, .read_capture = read_capture, .read_log = read_log, .counter = counter,        \
    .hart = hart, .assertion = assertion, .waves = no_file, .coverage = no_file }

#define EACH(F) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8)                                            \
                F(9) F(10) F(11) F(12) F(13) F(14) F(15) F(16)

const struct soc_interface *iss_interface(uint32_t harts)
{
#define ENTRY(n) INTERFACE(n),
    static const struct soc_interface all[ISS_HARTS] = { EACH(ENTRY) };
    return harts >= 1 && harts <= ISS_HARTS ? &all[harts - 1] : NULL;
}

#ifdef ISS_SHARED
#define SHARED(n) INTERFACE(n)
const struct soc_interface soc_interface = SHARED(ISS_SHARED);
#endif
