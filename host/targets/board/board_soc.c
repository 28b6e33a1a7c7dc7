/* SPDX-License-Identifier: Apache-2.0 */
#include "board_soc.h"

#include <stdio.h>
#include <string.h>

#include "board_numbers.h"

enum { FAIR = 64 }; /* cycles that a word of the stream may take */

static struct soc *create(const struct soc_interface *self)
{
    struct soc *s = (struct soc *)(uintptr_t)self;
    if (s->created)
        return NULL;
    s->created = true;
    return s;
}

/* What still runs is ended by the next reset, whoever does that. */
static void destroy(struct soc *s)
{
    if (s)
        s->created = false;
}

static void reset(struct soc *s, const struct soc_setup *setup)
{
    s->run = (struct board_run){ 0 };
    s->way->reset(s->board,
                  FIELD_PUT(BOARD_DEV_SETUP_MODEL, setup->model)
                      | FIELD_PUT(BOARD_DEV_SETUP_BUG, setup->bug)
                      | FIELD_PUT(BOARD_DEV_SETUP_DELAY, setup->delay)
                      | FIELD_PUT(BOARD_DEV_SETUP_LOSSY, setup->capture == SOC_CAPTURE_LOSSY)
                      | FIELD_PUT(BOARD_DEV_SETUP_VISIBLE, setup->visible),
                  setup->seed);
}

/* ---- code and memory ------------------------------------------------------------------------- */

static bool within(uint32_t bytes, uint32_t offset, uint32_t count)
{
    return offset % 4 == 0 && offset <= bytes && count <= (bytes - offset) / 4;
}

static bool write_code(struct soc *s, uint32_t hart, uint32_t address, const uint32_t *words,
                       uint32_t count)
{
    const struct soc_parameters *has = &s->interface.parameters;
    if (hart >= has->harts || !within(has->code_bytes, address, count))
        return false;
    s->way->write(s->board,
                  BOARD_DEV_LOAD_ADDRESS_CODE | FIELD_PUT(BOARD_DEV_LOAD_ADDRESS_HART, hart)
                      | address,
                  words, count);
    return true;                /* lost() tells */
}

static bool write_memory(struct soc *s, uint32_t offset, const uint32_t *words, uint32_t count)
{
    if (!within(s->interface.parameters.memory_bytes, offset, count))
        return false;
    s->way->write(s->board, offset, words, count);
    return true;
}

static bool read_memory(struct soc *s, uint32_t offset, uint32_t *words, uint32_t count)
{
    if (!within(s->interface.parameters.memory_bytes, offset, count))
        return false;
    memset(words, 0, count * sizeof *words);
    if (s->run.started && !s->run.stopped)
        s->way->stop(s->board);
    s->run.stopped = s->run.started;
    s->way->read(s->board, offset, words, count);
    return true;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Without a word two looks in a row, between which nothing was on its way, make cycles count. */
static void rested(struct board_run *r, uint64_t cycle, bool on_the_way)
{
    if (r->quiet && !on_the_way && cycle > r->looked)
        r->cycle += cycle - r->looked;
    r->quiet = !on_the_way;
    r->looked = cycle;
}

static uint64_t step(struct soc *s, uint64_t cycles)
{
    struct board_run *r = &s->run;
    uint64_t before = r->cycle;
    (void)cycles;
    if (r->done)
        return 0;
    if (!r->started)
        s->way->run(s->board);
    r->started = true;
    struct board_news news = s->way->wait(s->board);
    if (s->way->lost(s->board))
        return 0;
    r->done = news.ended;
    if (news.words || news.ended) {
        r->cycle += news.words * FAIR;
        r->quiet = false;
    } else {
        rested(r, news.cycle, news.on_the_way);
    }
    return r->cycle - before;
}

static bool done(const struct soc *s) { return s->run.done; }
static uint64_t cycle(const struct soc *s)
{
    return s->run.done ? s->run.last_record : s->run.cycle;
}

/* What is no record is given on, too, for others to complain of. */
static size_t record_words(uint32_t head)
{
    uint8_t words = soc_shape[FIELD_GET(head, SOC_REC_HEAD_KIND)].words;
    return words ? words : 2;
}

/* Words come as they come: whole records are given on, the rest is kept for the next time. */
static size_t read_capture(struct soc *s, uint32_t *words, size_t room)
{
    struct board_run *r = &s->run;
    if (room < SOC_LONGEST_RECORD)
        return 0;
    size_t count = r->partial_words, whole = 0, length;
    memcpy(words, r->partial, count * sizeof *words);
    count += s->way->take(s->board, words + count, room - count);
    while (whole < count && (length = record_words(words[whole])) <= count - whole) {
        r->last_record = words[whole + 1];
        whole += length;
    }
    r->partial_words = count - whole;
    memcpy(r->partial, words + whole, r->partial_words * sizeof *words);
    return whole;
}

/* ---- looks at it ----------------------------------------------------------------------------- */

/* All counters of a hart take no longer than one; when it is done they stay as they are. */
static uint32_t counter(struct soc *s, uint32_t hart, uint32_t event)
{
    if (event >= SOC_EVENTS || hart >= s->interface.parameters.harts)
        return 0;
    uint32_t *counters = s->counters[hart];
    if (!(s->run.counted >> hart & 1)) {
        memset(counters, 0, sizeof s->counters[hart]);
        s->way->peek(s->board, hart, 0, counters, SOC_EVENTS);
        s->run.counted |= (uint32_t)s->run.done << hart;
    }
    return counters[event];
}

static void hart(struct soc *s, uint32_t number, struct soc_hart *state)
{
    enum { FIRST = SOC_PEEK_PC, PEEKS = SOC_PEEK_INSTRUCTIONS - FIRST + 1 };
    uint32_t peek[PEEKS] = { 0 };
    if (number < s->interface.parameters.harts)
        s->way->peek(s->board, number, FIRST, peek, PEEKS);
    *state = (struct soc_hart){ .done = peek[SOC_PEEK_WAIT - FIRST] == SOC_WAIT_DONE,
                                .pc = peek[SOC_PEEK_PC - FIRST],
                                .waits = peek[SOC_PEEK_WAIT - FIRST],
                                .address = peek[SOC_PEEK_WAIT_ADDRESS - FIRST],
                                .instructions = peek[SOC_PEEK_INSTRUCTIONS - FIRST] };
}

static const char *lost(const struct soc *s) { return s->way->lost(s->board); }

/* What a board has not. */
static size_t read_log(struct soc *s, uint32_t *words, size_t room)
{
    (void)s, (void)words, (void)room;
    return 0;
}
static const char *assertion(const struct soc *s) { (void)s; return NULL; }
static bool waves(struct soc *s, const char *file) { (void)s; return !file; }
static bool coverage(struct soc *s, const char *file) { (void)s, (void)file; return false; }

/* ---- making one ------------------------------------------------------------------------------ */

static bool believe(const uint32_t p[16], struct soc_parameters *has, struct why *why)
{
    uint32_t flags = p[BOARD_PARAM_FLAGS];
    *has = (struct soc_parameters){
        .harts = p[BOARD_PARAM_HARTS], .sets = p[BOARD_PARAM_SETS], .ways = p[BOARD_PARAM_WAYS],
        .line_bytes = p[BOARD_PARAM_LINE_BYTES], .store_buffer = p[BOARD_PARAM_STORE_BUFFER],
        .load_queue = p[BOARD_PARAM_LOAD_QUEUE], .memory_bytes = p[BOARD_PARAM_MEMORY_BYTES],
        .code_bytes = p[BOARD_PARAM_CODE_BYTES], .capture = p[BOARD_PARAM_CAPTURE],
        .transactions = flags & BOARD_FLAG_TRANSACTIONS, .bugs = flags & BOARD_FLAG_BUGS
    };
    if (has->harts >= 1 && has->harts <= 16 && has->memory_bytes && has->memory_bytes % 4 == 0
        && has->memory_bytes <= BOARD_DEV_LOAD_ADDRESS_OFFSET && has->code_bytes
        && has->code_bytes % 4 == 0 && has->code_bytes <= BOARD_DEV_LOAD_ADDRESS_OFFSET)
        return true;
    return why_say(why,
                   "the board says that its machine has %u harts, %u bytes "
                   "of memory and %u of code: that cannot be",
                   has->harts, has->memory_bytes, has->code_bytes);
}

bool board_soc_init(struct soc *s, const struct board_way *way, void *board, const char *name,
                    const uint32_t parameters[16], struct why *why)
{
    *s = (struct soc){
        .interface = {
            .version = SOC_VERSION, .name = name, .create = create, .destroy = destroy,
            .reset = reset, .write_code = write_code, .write_memory = write_memory,
            .read_memory = read_memory, .step = step, .done = done, .cycle = cycle,
            .read_capture = read_capture, .read_log = read_log, .counter = counter, .hart = hart,
            .assertion = assertion, .waves = waves, .coverage = coverage, .lost = lost
        },
        .way = way, .board = board
    };
    return believe(parameters, &s->interface.parameters, why);
}
