/* SPDX-License-Identifier: Apache-2.0 */
#include "board_jtag.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board_numbers.h"
#include "board_soc.h"
#include "tcl_port.h"

enum {
    CHUNK = 256,                /* words that go at a time: what a window of the devices holds */
    PLENTY = 1024,              /* words of the stream at a time */
    COMMAND = 64 + CHUNK * 11
};

struct board_jtag {
    struct soc soc;
    struct tcl_port *tcl;
    uint32_t parameters[16];
    uint32_t words[PLENTY];     /* of the stream, that nobody took yet */
    size_t count;
    bool ran;                   /* the firmware did, before */
    bool lost;
    struct why why;
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
            why_say(&b->why,
                    "OpenOCD answers with %zu numbers instead of "
                    "%zu: does it have tcl/board.cfg?",
                    i, count);
            b->lost = true;
            return false;
        }
        result = end;
    }
    return result;
}

/* ---- the way --------------------------------------------------------------------------------- */

static void reset(void *board, uint32_t setup, uint32_t seed)
{
    ((struct board_jtag *)board)->count = 0;
    ask(board, "ordeal_setup %" PRIu32 " %" PRIu32, setup, seed);
}

static void write_words(void *board, uint32_t address, const uint32_t *words, uint32_t count)
{
    for (uint32_t at = 0; at < count; at += CHUNK) {
        char list[CHUNK * 11 + 1] = "";
        int used = 0;
        for (uint32_t i = at; i < count && i - at < CHUNK; i++)
            used += sprintf(list + used, "0x%" PRIx32 " ", words[i]);
        ask(board, "ordeal_load %" PRIu32 " {%s}", address + at * 4, list);
    }
}

static void read_words(void *board, uint32_t address, uint32_t *words, uint32_t count)
{
    for (uint32_t at = 0; at < count; at += CHUNK) {
        uint32_t now = count - at < CHUNK ? count - at : CHUNK;
        parse(board, ask(board, "ordeal_read %" PRIu32 " %" PRIu32, address + at * 4, now),
              words + at, now);
    }
}

static void run(void *board) { ask(board, "ordeal_run"); }
static void stop(void *board) { ask(board, "ordeal_stop"); }

/* What waits of the stream, and whether that is all. */
static struct board_news wait_words(void *board)
{
    struct board_jtag *b = board;
    uint32_t state[3] = { 0 };  /* cycle, done, words that wait */
    size_t first = b->count;
    while (parse(b, ask(b, "ordeal_state"), state, 3)) {
        size_t room = PLENTY - b->count;
        size_t count = state[2] < room ? state[2] : room;
        count = count < CHUNK ? count : CHUNK;
        if (!count || !parse(b, ask(b, "ordeal_take_words %zu", count), b->words + b->count, count))
            break;
        b->count += count;
    }
    return (struct board_news){ .words = b->count - first,
                                .cycle = state[0],
                                .ended = state[1] & BOARD_DEV_DONE_ALL && !state[2] };
}

static size_t take(void *board, uint32_t *words, size_t room)
{
    struct board_jtag *b = board;
    size_t count = b->count < room ? b->count : room;
    memcpy(words, b->words, count * sizeof *words);
    b->count -= count;
    memmove(b->words, b->words + count, b->count * sizeof *words);
    return count;
}

static void peek(void *board, uint32_t hart, uint32_t first, uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        parse(board, ask(board, "ordeal_peek %" PRIu32 " %" PRIu32, hart, first + i), words + i, 1);
}

static const char *lost(const void *board)
{
    const struct board_jtag *b = board;
    return b->lost ? b->why.text : NULL;
}

static const struct board_way way = { .reset = reset,
                                      .write = write_words,
                                      .read = read_words,
                                      .run = run,
                                      .stop = stop,
                                      .wait = wait_words,
                                      .take = take,
                                      .peek = peek,
                                      .lost = lost };

/* ---- coming and going ------------------------------------------------------------------------ */

struct board_jtag *board_jtag_open(const char *place, double patience, struct why *why)
{
    struct tcl_port *tcl = tcl_open(place ? place : "127.0.0.1:6666", patience, why);
    return tcl ? board_jtag_new(tcl, why) : NULL;
}

struct board_jtag *board_jtag_new(struct tcl_port *tcl, struct why *why)
{
    struct board_jtag *b = calloc(1, sizeof *b);
    if (!b) {
        why_say(why, "out of memory");
        tcl_close(tcl);
        return NULL;
    }
    b->tcl = tcl;
    const char *state = ask(b, "ordeal.monitor curstate");
    b->ran = state && strcmp(state, "running") == 0;
    ask(b, "poll off; ordeal_take"); /* a look at all harts every while takes time, too */
    if (parse(b, ask(b, "ordeal_parameters"), b->parameters, 16)
        && board_soc_init(&b->soc, &way, b, "board over JTAG", b->parameters, &b->why))
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
const struct soc_interface *board_jtag_interface(struct board_jtag *b) { return &b->soc.interface; }
