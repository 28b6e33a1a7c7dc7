#include "board_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board_run.h"
#include "progress.h"

enum {
    CHUNK = PROTOCOL_PAYLOAD,     /* words of a READ */
    PLENTY = 16384,               /* words of the stream that a step brings */
    PEEKS = 5, WAIT_DONE = 1
};
#define QUIET 0.2                 /* seconds without a word of the stream: a look at the machine */
#define PERIOD 1.0                /* seconds of a step at most */

struct board_machine {
    struct soc_interface interface;
    struct board_link *link;
    struct protocol_hello hello;
    char name[64];
    struct soc *machine;          /* the one there is; NULL: not created */
    enum link_result trouble;     /* since the last reset; LINK_OK: none */
    struct why why;
};

/* What sim/soc.h calls a SoC: the machine of a board, since its last reset. */
struct soc {
    struct board_machine *board;
    struct board_run run;
    uint32_t load[PROTOCOL_PAYLOAD]; /* address and words of a LOAD that has not gone yet */
    size_t loading;                  /* words of that */
};

/* Once the link failed nothing more is asked until the next reset. */
static bool fine(struct soc *s, enum link_result result)
{
    if (s->board->trouble == LINK_OK)
        s->board->trouble = result;
    return s->board->trouble == LINK_OK;
}

static bool is_there(const struct soc *s) { return s->board->trouble == LINK_OK; }

static struct soc *create(const struct soc_interface *self)
{
    struct board_machine *b = (struct board_machine *)((char *)(uintptr_t)self
                                                       - offsetof(struct board_machine, interface));
    if (b->machine)
        return NULL;
    struct soc *s = calloc(1, sizeof *s);
    if (s)
        s->board = b;
    b->machine = s;
    return s;
}

/* What still runs is ended by the next reset, whoever does that. */
static void destroy(struct soc *s)
{
    if (!s)
        return;
    s->board->machine = NULL;
    free(s);
}

static void reset(struct soc *s, const struct soc_setup *setup)
{
    struct board_machine *b = s->board;
    uint32_t payload[2] = { run_setup(setup), setup->seed };
    s->run = (struct board_run){ 0 };
    s->loading = 0;
    if (b->trouble == LINK_GONE)
        return;                   /* it was waited for long enough */
    b->trouble = LINK_OK;
    fine(s, link_begin(b->link, PROTOCOL_RESET, payload, 2, &b->why));
}

static void load(struct soc *s)
{
    if (s->loading && is_there(s))
        fine(s, link_post(s->board->link, PROTOCOL_LOAD, s->load, s->loading, &s->board->why));
    s->loading = 0;
}

/* What follows what was written before goes with it. A lost link is told by lost(). */
static bool write_words(struct soc *s, uint32_t address, const uint32_t *words, uint32_t count)
{
    while (count) {
        uint32_t behind = s->load[0] + ((uint32_t)s->loading - 1) * 4;
        if (s->loading == PROTOCOL_PAYLOAD || behind != address)
            load(s);
        if (!s->loading)
            s->load[s->loading++] = address;
        size_t room = PROTOCOL_PAYLOAD - s->loading, now = count < room ? count : room;
        memcpy(s->load + s->loading, words, now * sizeof *words);
        s->loading += now;
        address += (uint32_t)now * 4;
        words += now;
        count -= (uint32_t)now;
    }
    return true;
}

static bool write_code(struct soc *s, uint32_t hart, uint32_t address, const uint32_t *words,
                       uint32_t count)
{
    const struct soc_parameters *has = &s->board->interface.parameters;
    return hart < has->harts && run_within(has->code_bytes, address, count)
           && write_words(s, run_code_address(hart, address), words, count);
}

static bool write_memory(struct soc *s, uint32_t offset, const uint32_t *words, uint32_t count)
{
    return run_within(s->board->interface.parameters.memory_bytes, offset, count)
           && write_words(s, offset, words, count);
}

static bool read_memory(struct soc *s, uint32_t offset, uint32_t *words, uint32_t count)
{
    if (!run_within(s->board->interface.parameters.memory_bytes, offset, count))
        return false;
    memset(words, 0, count * sizeof *words);
    load(s);
    for (uint32_t at = 0; at < count && is_there(s); at += CHUNK) {
        uint32_t now = count - at < CHUNK ? count - at : CHUNK;
        uint32_t payload[2] = { offset + at * 4, now };
        fine(s, link_ask(s->board->link, PROTOCOL_READ, payload, 2, words + at, now,
                         &s->board->why));
    }
    return true;
}

static void look(struct soc *s)
{
    struct protocol_state state;
    bool behind;
    if (fine(s, link_look(s->board->link, &state, &behind, &s->board->why)))
        run_rested(&s->run, (uint64_t)state.cycle_high << 32 | state.cycle_low, behind);
}

/* The board runs by itself: a step waits until its stream ends, rests, or has brought plenty. */
static uint64_t step(struct soc *s, uint64_t cycles)
{
    static const uint32_t no_limit[2];
    struct board_link *link = s->board->link;
    uint64_t before = s->run.cycle;
    (void)cycles;
    load(s);
    if (!is_there(s) || s->run.done)
        return 0;
    if (!s->run.started && !fine(s, link_post(link, PROTOCOL_RUN, no_limit, 2, &s->board->why)))
        return 0;
    s->run.started = true;
    size_t first = link_waiting(link), words = first;
    double begin = now_seconds(), now = begin, latest = begin;
    while (!link_ended(link) && words < PLENTY && now - latest < QUIET && now - begin < PERIOD) {
        int wait = (int)((latest + QUIET - now) * 1000) + 1;
        if (!fine(s, link_wait(link, wait, &s->board->why)))
            return 0;
        now = now_seconds();
        if (link_waiting(link) != words)
            latest = now;
        words = link_waiting(link);
    }
    s->run.done = link_ended(link);
    if (words != first || s->run.done)
        run_came(&s->run, words - first);
    else
        look(s);
    return s->run.cycle - before;
}

static bool done(const struct soc *s) { return s->run.done; }
static uint64_t cycle(const struct soc *s) { return run_cycle(&s->run); }

/* Messages end anywhere: whole records are given on. */
static size_t read_capture(struct soc *s, uint32_t *words, size_t room)
{
    if (room < LONGEST_RECORD)
        return 0;
    size_t count = run_left_over(&s->run, words);
    count += link_take(s->board->link, words + count, room - count);
    return run_records(&s->run, words, count);
}

static size_t read_log(struct soc *s, uint32_t *words, size_t room)
{
    (void)s, (void)words, (void)room;
    return 0;
}

static bool ask_hart(struct soc *s, uint32_t hart, uint32_t answer[BOARD_EVENTS + PEEKS])
{
    return hart < s->board->interface.parameters.harts && is_there(s)
           && fine(s, link_ask(s->board->link, PROTOCOL_COUNTERS, &hart, 1, answer,
                               BOARD_EVENTS + PEEKS, &s->board->why));
}

static uint32_t counter(struct soc *s, uint32_t hart, uint32_t event)
{
    uint32_t answer[BOARD_EVENTS + PEEKS];
    return event < BOARD_EVENTS && ask_hart(s, hart, answer) ? answer[event] : 0;
}

static void hart(struct soc *s, uint32_t number, struct soc_hart *state)
{
    uint32_t answer[BOARD_EVENTS + PEEKS], *peek = answer + BOARD_EVENTS;
    *state = (struct soc_hart){ 0 };
    if (ask_hart(s, number, answer))
        *state = (struct soc_hart){ .done = peek[1] == WAIT_DONE, .pc = peek[0], .waits = peek[1],
                                    .address = peek[2], .instructions = peek[3] };
}

static const char *assertion(const struct soc *s) { (void)s; return NULL; }
static bool waves(struct soc *s, const char *file) { (void)s; return !file; }
static bool coverage(struct soc *s, const char *file) { (void)s, (void)file; return false; }

static const char *lost(const struct soc *s) { return is_there(s) ? NULL : s->board->why.text; }

struct board_machine *board_machine_new(struct board_link *link, struct why *why)
{
    struct board_machine *b = calloc(1, sizeof *b);
    if (!b) {
        snprintf(why->text, sizeof why->text, "out of memory");
        link_free(link);
        return NULL;
    }
    b->link = link;
    b->interface = (struct soc_interface){
        .version = SOC_VERSION, .name = b->name, .create = create, .destroy = destroy,
        .reset = reset, .write_code = write_code, .write_memory = write_memory,
        .read_memory = read_memory, .step = step, .done = done, .cycle = cycle,
        .read_capture = read_capture, .read_log = read_log, .counter = counter, .hart = hart,
        .assertion = assertion, .waves = waves, .coverage = coverage, .lost = lost
    };
    if (link_hello(link, &b->hello, why) == LINK_OK
        && run_parameters(b->hello.parameters, &b->interface.parameters, why)) {
        snprintf(b->name, sizeof b->name, "board %08x", b->hello.bitstream);
        return b;
    }
    board_machine_free(b);
    return NULL;
}

void board_machine_free(struct board_machine *b)
{
    if (!b)
        return;
    link_free(b->link);
    free(b);
}

const struct protocol_hello *board_machine_hello(const struct board_machine *b)
{
    return &b->hello;
}

const struct soc_interface *board_machine_interface(struct board_machine *b)
{
    return &b->interface;
}

struct board_link *board_machine_link(struct board_machine *b) { return b->link; }
enum link_result board_machine_trouble(const struct board_machine *b) { return b->trouble; }
