#include "board_jtag.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board_run.h"
#include "sim_numbers.h"
#include "tcl_port.h"

enum {
    CHUNK = 256,                /* words that go at a time: what a window of the devices holds */
    PLENTY = 1024,              /* words of the stream that a step brings */
    ALL_DONE = 31,              /* bit of DEV_DONE */
    WAIT_DONE = 1,
    COMMAND = 64 + CHUNK * 11
};

struct board_jtag {
    struct soc_interface interface;
    struct tcl_port *tcl;
    uint32_t parameters[16];
    struct soc *machine;        /* the one there is; NULL: not created */
    bool ran;                   /* the firmware did, before */
    bool lost;
    struct why why;
};

struct soc {
    struct board_jtag *board;
    struct board_run run;
    uint32_t words[PLENTY];
    size_t count;
};

/* ---- asking ---------------------------------------------------------------------------------- */

static const char *ask(struct board_jtag *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const char *ask(struct board_jtag *b, const char *format, ...)
{
    char command[COMMAND];
    va_list args;
    if (b->lost)
        return NULL;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    const char *result = tcl_ask(b->tcl, command, &b->why);
    b->lost = !result;
    return result;
}

/* A list of so many numbers. */
static bool parse(struct board_jtag *b, const char *result, uint32_t *words, size_t count)
{
    for (size_t i = 0; result && i < count; i++) {
        char *end;
        words[i] = (uint32_t)strtoul(result, &end, 0);
        if (end == result) {
            snprintf(b->why.text, sizeof b->why.text, "OpenOCD answers with %zu numbers instead of "
                     "%zu: does it have tcl/board.cfg?", i, count);
            b->lost = true;
            return false;
        }
        result = end;
    }
    return result;
}

static uint32_t peek(struct board_jtag *b, uint32_t hart, uint32_t what)
{
    uint32_t word = 0;
    parse(b, ask(b, "ordeal_peek %" PRIu32 " %" PRIu32, hart, what), &word, 1);
    return word;
}

/* ---- the interface --------------------------------------------------------------------------- */

static struct soc *create(const struct soc_interface *self)
{
    struct board_jtag *b = (struct board_jtag *)((char *)(uintptr_t)self
                                                 - offsetof(struct board_jtag, interface));
    if (b->machine)
        return NULL;
    struct soc *s = calloc(1, sizeof *s);
    if (s)
        s->board = b;
    b->machine = s;
    return s;
}

static void destroy(struct soc *s)
{
    if (!s)
        return;
    s->board->machine = NULL;
    free(s);
}

static void reset(struct soc *s, const struct soc_setup *setup)
{
    s->run = (struct board_run){ 0 };
    s->count = 0;
    ask(s->board, "ordeal_setup %" PRIu32 " %" PRIu32, run_setup(setup), setup->seed);
}

static bool write_words(struct soc *s, uint32_t address, const uint32_t *words, uint32_t count)
{
    for (uint32_t at = 0; at < count; at += CHUNK) {
        char list[CHUNK * 11 + 1] = "";
        int used = 0;
        for (uint32_t i = at; i < count && i - at < CHUNK; i++)
            used += sprintf(list + used, "0x%" PRIx32 " ", words[i]);
        ask(s->board, "ordeal_load %" PRIu32 " {%s}", address + at * 4, list);
    }
    return true;                /* lost() tells */
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
    for (uint32_t at = 0; at < count; at += CHUNK) {
        uint32_t now = count - at < CHUNK ? count - at : CHUNK;
        parse(s->board, ask(s->board, "ordeal_read %" PRIu32 " %" PRIu32, offset + at * 4, now),
              words + at, now);
    }
    return true;
}

/* What waits of the stream, and whether that is all. */
static uint64_t step(struct soc *s, uint64_t cycles)
{
    struct board_jtag *b = s->board;
    uint64_t before = s->run.cycle;
    uint32_t state[3];          /* cycle, done, words that wait */
    size_t first = s->count;
    (void)cycles;
    if (s->run.done)
        return 0;
    if (!s->run.started)
        ask(b, "ordeal_run");
    s->run.started = true;
    while (parse(b, ask(b, "ordeal_state"), state, 3)) {
        size_t room = PLENTY - s->count;
        size_t count = state[2] < room ? state[2] : room;
        count = count < CHUNK ? count : CHUNK;
        if (!count)
            break;
        if (!parse(b, ask(b, "ordeal_take_words %zu", count), s->words + s->count, count))
            return 0;
        s->count += count;
    }
    if (b->lost)
        return 0;
    s->run.done = state[1] >> ALL_DONE & 1 && !state[2];
    if (s->count != first || s->run.done)
        run_came(&s->run, s->count - first);
    else
        run_rested(&s->run, state[0], false);
    return s->run.cycle - before;
}

static bool done(const struct soc *s) { return s->run.done; }
static uint64_t cycle(const struct soc *s) { return run_cycle(&s->run); }

static size_t read_capture(struct soc *s, uint32_t *words, size_t room)
{
    if (room < LONGEST_RECORD)
        return 0;
    size_t count = run_left_over(&s->run, words);
    size_t more = s->count < room - count ? s->count : room - count;
    memcpy(words + count, s->words, more * sizeof *words);
    s->count -= more;
    memmove(s->words, s->words + more, s->count * sizeof *words);
    return run_records(&s->run, words, count + more);
}

static size_t read_log(struct soc *s, uint32_t *words, size_t room)
{
    (void)s, (void)words, (void)room;
    return 0;
}

static uint32_t counter(struct soc *s, uint32_t hart, uint32_t event)
{
    return event < BOARD_EVENTS && hart < s->board->interface.parameters.harts
           ? peek(s->board, hart, event) : 0;
}

static void hart(struct soc *s, uint32_t number, struct soc_hart *state)
{
    struct board_jtag *b = s->board;
    *state = (struct soc_hart){ 0 };
    if (number >= b->interface.parameters.harts)
        return;
    state->pc = peek(b, number, SOC_PEEK_PC);
    state->waits = peek(b, number, SOC_PEEK_WAIT);
    state->address = peek(b, number, SOC_PEEK_WAIT_ADDRESS);
    state->instructions = peek(b, number, SOC_PEEK_INSTRUCTIONS);
    state->done = state->waits == WAIT_DONE;
}

static const char *assertion(const struct soc *s) { (void)s; return NULL; }
static bool waves(struct soc *s, const char *file) { (void)s; return !file; }
static bool coverage(struct soc *s, const char *file) { (void)s, (void)file; return false; }
static const char *lost(const struct soc *s) { return s->board->lost ? s->board->why.text : NULL; }

/* ---- coming and going ------------------------------------------------------------------------ */

struct board_jtag *board_jtag_open(const char *place, struct why *why)
{
    struct board_jtag *b = calloc(1, sizeof *b);
    if (!b) {
        snprintf(why->text, sizeof why->text, "out of memory");
        return NULL;
    }
    b->interface = (struct soc_interface){
        .version = SOC_VERSION, .name = "board over JTAG", .create = create, .destroy = destroy,
        .reset = reset, .write_code = write_code, .write_memory = write_memory,
        .read_memory = read_memory, .step = step, .done = done, .cycle = cycle,
        .read_capture = read_capture, .read_log = read_log, .counter = counter, .hart = hart,
        .assertion = assertion, .waves = waves, .coverage = coverage, .lost = lost
    };
    b->tcl = tcl_open(place ? place : "127.0.0.1:6666", why);
    if (!b->tcl) {
        free(b);
        return NULL;
    }
    const char *state = ask(b, "ordeal.monitor curstate");
    b->ran = state && strcmp(state, "running") == 0;
    ask(b, "poll off; ordeal_take"); /* a look at all harts every while takes time, too */
    if (parse(b, ask(b, "ordeal_parameters"), b->parameters, 16)
        && run_parameters(b->parameters, &b->interface.parameters, &b->why))
        return b;
    *why = b->why;
    board_jtag_free(b);
    return NULL;
}

/* The firmware goes on if it ran before; it finds the machine in reset. */
void board_jtag_free(struct board_jtag *b)
{
    if (!b)
        return;
    ask(b, "ordeal_put RUN 0");
    ask(b, b->ran ? "targets ordeal.monitor; resume; poll on" : "poll on");
    tcl_close(b->tcl);
    free(b);
}

const uint32_t *board_jtag_parameters(const struct board_jtag *b) { return b->parameters; }
const struct soc_interface *board_jtag_interface(struct board_jtag *b) { return &b->interface; }
