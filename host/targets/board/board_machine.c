/* SPDX-License-Identifier: Apache-2.0 */
#include "board_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "board_soc.h"

enum {
    CHUNK = PROTOCOL_PAYLOAD,     /* words of a READ */
    PLENTY = 16384,               /* words of the stream at a time */
    PEEKS = SOC_PEEK_BUS_WAIT - SOC_PEEK_PC + 1
};
#define QUIET 0.2                 /* seconds without a word of the stream: a look at the machine */
#define PERIOD 1.0                /* seconds of waiting at most */

struct board_machine {
    struct soc soc;
    struct board_link *link;
    struct protocol_hello hello;
    char name[64];
    uint32_t load[PROTOCOL_PAYLOAD]; /* address and words of a LOAD that has not gone yet */
    size_t loading;                  /* words of that */
    enum link_result trouble;        /* since the last reset; LINK_OK: none */
    struct why why;
};

/* Once the link failed nothing more is asked until the next reset. */
static bool fine(struct board_machine *b, enum link_result result)
{
    if (b->trouble == LINK_OK)
        b->trouble = result;
    return b->trouble == LINK_OK;
}

static bool is_there(const struct board_machine *b) { return b->trouble == LINK_OK; }

static void reset(void *board, uint32_t setup, uint32_t seed)
{
    struct board_machine *b = board;
    struct protocol_reset how = { .setup = setup, .seed = seed };
    b->loading = 0;
    if (b->trouble == LINK_GONE)
        return;                   /* it was waited for long enough */
    b->trouble = LINK_OK;
    fine(b, link_begin(b->link, PROTOCOL_RESET, (uint32_t *)&how, PROTOCOL_COUNT(how), &b->why));
}

static void load(struct board_machine *b)
{
    if (b->loading && is_there(b))
        fine(b, link_post(b->link, PROTOCOL_LOAD, b->load, b->loading, &b->why));
    b->loading = 0;
}

/* What follows what was written before goes with it. */
static void write_words(void *board, uint32_t address, const uint32_t *words, uint32_t count)
{
    struct board_machine *b = board;
    while (count) {
        uint32_t behind = b->load[0] + ((uint32_t)b->loading - 1) * 4;
        if (b->loading == PROTOCOL_PAYLOAD || behind != address)
            load(b);
        if (!b->loading)
            b->load[b->loading++] = address;
        size_t room = PROTOCOL_PAYLOAD - b->loading, now = count < room ? count : room;
        memcpy(b->load + b->loading, words, now * sizeof *words);
        b->loading += now;
        address += (uint32_t)now * 4;
        words += now;
        count -= (uint32_t)now;
    }
}

static void read_words(void *board, uint32_t address, uint32_t *words, uint32_t count)
{
    struct board_machine *b = board;
    load(b);
    for (uint32_t at = 0; at < count && is_there(b); at += CHUNK) {
        uint32_t now = count - at < CHUNK ? count - at : CHUNK;
        struct protocol_read what = { .address = address + at * 4, .count = now };
        fine(b, link_ask(b->link, PROTOCOL_READ, (uint32_t *)&what, PROTOCOL_COUNT(what),
                         words + at, now, &b->why));
    }
}

static void run(void *board)
{
    static const struct protocol_run no_limit;
    struct board_machine *b = board;
    load(b);
    if (is_there(b))
        fine(b, link_post(b->link, PROTOCOL_RUN, (const uint32_t *)&no_limit,
                          PROTOCOL_COUNT(no_limit), &b->why));
}

static void stop(void *board)
{
    struct board_machine *b = board;
    if (is_there(b))
        fine(b, link_post(b->link, PROTOCOL_STOP, NULL, 0, &b->why));
}

static struct board_news wait_words(void *board)
{
    struct board_machine *b = board;
    struct board_news news = { 0 };
    size_t first = link_waiting(b->link), words = first;
    double begin = now_seconds(), now = begin, latest = begin;
    while (is_there(b) && !link_ended(b->link) && words < PLENTY && now - latest < QUIET
           && now - begin < PERIOD) {
        int wait = (int)((latest + QUIET - now) * 1000) + 1;
        fine(b, link_wait(b->link, wait, &b->why));
        now = now_seconds();
        if (link_waiting(b->link) != words)
            latest = now;
        words = link_waiting(b->link);
    }
    news.words = words - first;
    news.ended = link_ended(b->link);
    struct protocol_state state;
    if (!news.words && !news.ended && is_there(b)
        && fine(b, link_look(b->link, &state, &news.on_the_way, &b->why)))
        news.cycle = (uint64_t)state.cycle_high << 32 | state.cycle_low;
    return news;
}

static size_t take(void *board, uint32_t *words, size_t room)
{
    return link_take(((struct board_machine *)board)->link, words, room);
}

/* All that is known of a hart comes in one answer, events first. */
static void peek(void *board, uint32_t hart, uint32_t first, uint32_t *words, uint32_t count)
{
    struct board_machine *b = board;
    uint32_t answer[SOC_EVENTS + PEEKS];
    uint32_t at = first < SOC_PEEK_PC ? first : SOC_EVENTS + first - SOC_PEEK_PC;
    if (is_there(b)
        && fine(
            b, link_ask(b->link, PROTOCOL_COUNTERS, &hart, 1, answer, SOC_EVENTS + PEEKS, &b->why)))
        memcpy(words, answer + at, count * sizeof *words);
}

static const char *lost(const void *board)
{
    const struct board_machine *b = board;
    return is_there(b) ? NULL : b->why.text;
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

struct board_machine *board_machine_new(struct board_link *link, struct why *why)
{
    struct board_machine *b = calloc(1, sizeof *b);
    if (!b) {
        why_say(why, "out of memory");
        link_free(link);
        return NULL;
    }
    b->link = link;
    if (link_hello(link, &b->hello, why) == LINK_OK
        && board_soc_init(&b->soc, &way, b, b->name, b->hello.parameters, why)) {
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
    return &b->soc.interface;
}

struct board_link *board_machine_link(struct board_machine *b) { return b->link; }
enum link_result board_machine_trouble(const struct board_machine *b) { return b->trouble; }
