/* SPDX-License-Identifier: Apache-2.0 */
/* The test runner: see runner.h. */
#include "runner.h"
#include "trial_driver.h"
#include "usb_driver.h"

enum {
    BURST = 64,       /* words that are read at most before somebody else has a turn */
    /* Words of a message that ends with a short packet by itself */
    PIECE = 16 * USB_PACKET_WORDS - 1
        - (PROTOCOL_HEADER + PROTOCOL_COUNT(struct protocol_capture) + 1)
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void advance(const struct runner *r, struct runner_place *p, uint32_t words)
{
    p->word += words;
    p->at += words;
    if (p->at >= r->window)
        p->at -= r->window;
}

static void begin(struct runner *r)
{
    static const struct runner_place start;
    trial_run(false);
    r->filled = r->next = r->acknowledged = start;
    r->floor = 0;
    r->phase = PHASE_RESET;
    r->flags = 0;
    r->told = false;
    r->ready = false;
    r->sourcing = false;
    r->source = 0;
    r->cycle_low = r->cycle_high = 0;
}

static void end(struct runner *r, enum protocol_phase phase, uint32_t flags)
{
    r->phase = phase;
    r->flags = flags;
    r->told = false;
}

void runner_start(struct runner *r, uint32_t *ring, uint32_t window)
{
    r->ring = ring;
    r->window = window;
    begin(r);
}

/* ---- runs --------------------------------------------------------------------------------- */

uint32_t runner_reset(struct runner *r, uint32_t setup, uint32_t seed)
{
    begin(r);
    trial_reset(setup, seed);
    r->ready = true;
    return ++r->run;
}

uint32_t runner_source(struct runner *r, uint32_t words)
{
    begin(r);
    r->sourcing = true;
    r->source = words;
    r->phase = PHASE_RUNNING;
    return ++r->run;
}

bool runner_run(struct runner *r, const struct protocol_run *limit)
{
    if (r->phase == PHASE_DONE || r->sourcing || (r->phase == PHASE_RESET && !r->ready))
        return false;
    r->limit = *limit;
    r->phase = PHASE_RUNNING;
    r->flags = 0;
    r->ready = false;
    trial_run(true);
    return true;
}

void runner_stop(struct runner *r)
{
    trial_run(false);
    if (r->phase == PHASE_RUNNING || r->phase == PHASE_LIMIT)
        end(r, PHASE_RESET, PROTOCOL_CAPTURE_END);
    r->phase = PHASE_RESET;
}

/* ---- the stream --------------------------------------------------------------------------- */

void runner_again(struct runner *r)
{
    r->next = r->acknowledged;
    r->told = false;
}

bool runner_acknowledge(struct runner *r, const struct protocol_ack *ack)
{
    if (ack->run != r->run || ack->flags & ~(uint32_t)PROTOCOL_ACK_AGAIN)
        return false;
    uint32_t words = ack->words - r->acknowledged.word;
    if (words > r->filled.word - r->acknowledged.word)
        return false;
    if (words > r->next.word - r->acknowledged.word)
        advance(r, &r->next, words - (r->next.word - r->acknowledged.word));
    advance(r, &r->acknowledged, words);
    if (ack->flags & PROTOCOL_ACK_AGAIN)
        runner_again(r);
    return true;
}

static void fill(struct runner *r)
{
    uint32_t words = least(r->window - (r->filled.word - r->floor), r->window - r->filled.at);
    uint32_t *to = r->ring + r->filled.at;
    words = least(words, BURST);
    if (r->sourcing) {
        words = least(words, r->source);
        for (uint32_t i = 0; i < words; i++)
            to[i] = r->filled.word + i;
        r->source -= words;
        if (!r->source)
            end(r, PHASE_DONE, PROTOCOL_CAPTURE_END);
    } else {
        uint32_t waiting = trial_captured();
        if (!waiting && trial_is_done())
            end(r, PHASE_DONE, PROTOCOL_CAPTURE_END);
        words = least(words, waiting);
        trial_capture(to, words);
    }
    advance(r, &r->filled, words);
}

/* The machine's 32 bits of cycles, seen often enough, are 64. */
static void count_cycles(struct runner *r)
{
    uint32_t cycle = trial_cycle();
    if (cycle < r->cycle_low)
        r->cycle_high++;
    r->cycle_low = cycle;
}

static bool over_limit(const struct runner *r)
{
    const struct protocol_run *most = &r->limit;
    return (most->limit_low | most->limit_high) != 0
        && (r->cycle_high > most->limit_high
            || (r->cycle_high == most->limit_high && r->cycle_low >= most->limit_low));
}

void runner_poll(struct runner *r, bool resting)
{
    if (resting)
        r->floor = r->acknowledged.word;
    if (r->phase == PHASE_RESET || r->phase == PHASE_DONE)
        return;
    if (!r->sourcing)
        count_cycles(r);
    if (r->phase == PHASE_RUNNING)
        fill(r);
    if (r->phase == PHASE_RUNNING && !r->sourcing && over_limit(r))
        end(r, PHASE_LIMIT, PROTOCOL_CAPTURE_LIMIT);
}

bool runner_stream(struct runner *r, struct protocol_capture *capture, const uint32_t **body,
                   uint32_t *words)
{
    uint32_t left = r->filled.word - r->next.word;
    uint32_t n = least(least(left, PIECE), r->window - r->next.at);
    bool tells = n == left && r->flags;
    if (n == 0 && (!tells || r->told))
        return false;
    r->told |= tells;
    capture->run = r->run;
    capture->place = r->next.word;
    capture->flags = tells ? r->flags : 0;
    *body = r->ring + r->next.at;
    *words = n;
    advance(r, &r->next, n);
    return true;
}
