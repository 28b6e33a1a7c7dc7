/* SPDX-License-Identifier: Apache-2.0 */
/* The test runner: see runner.h. */
#include "trial_driver.h"
#include "registers.h"
#include "runner.h"
#include "usb_driver.h"

enum {
    BURST = 64,       /* words that are read at most before somebody else has a turn */
    /* Words of a message that ends with a short packet by itself */
    PIECE = 16 * USB_PACKET_WORDS - 1 - (PROTOCOL_HEADER + 3 + 1)
};

/* ---- the stream --------------------------------------------------------------------------- */

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

void runner_again(struct runner *r)
{
    r->next = r->acknowledged;
    r->told = false;
}

bool runner_acknowledge(struct runner *r, const uint32_t *payload, uint32_t count)
{
    if (count != 3 || payload[0] != r->run || payload[2] & ~(uint32_t)PROTOCOL_ACK_AGAIN)
        return false;
    uint32_t words = payload[1] - r->acknowledged.word;
    if (words > r->filled.word - r->acknowledged.word)
        return false;
    if (words > r->next.word - r->acknowledged.word)
        advance(r, &r->next, words - (r->next.word - r->acknowledged.word));
    advance(r, &r->acknowledged, words);
    if (payload[2] & PROTOCOL_ACK_AGAIN)
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
    return (r->limit_low | r->limit_high) != 0
        && (r->cycle_high > r->limit_high
            || (r->cycle_high == r->limit_high && r->cycle_low >= r->limit_low));
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

bool runner_stream(struct runner *r, uint32_t place[3], const uint32_t **body, uint32_t *words)
{
    uint32_t left = r->filled.word - r->next.word;
    uint32_t n = least(least(left, PIECE), r->window - r->next.at);
    bool tells = n == left && r->flags;
    if (n == 0 && (!tells || r->told))
        return false;
    r->told |= tells;
    place[0] = r->run;
    place[1] = r->next.word;
    place[2] = tells ? r->flags : 0;
    *body = r->ring + r->next.at;
    *words = n;
    advance(r, &r->next, n);
    return true;
}

/* ---- requests ----------------------------------------------------------------------------- */

static enum protocol_status bad(uint32_t *payload, uint32_t *count, uint32_t which, uint32_t why)
{
    payload[0] = which;
    payload[1] = why;
    *count = 2;
    return STATUS_ARGUMENT;
}

/* Why words cannot be there for the loader, or 0. */
static uint32_t bad_address(uint32_t address, uint32_t words)
{
    bool code = address >> 31;
    uint32_t hart = address >> 27 & 15, offset = address & 0x07ffffff;
    uint32_t bytes = trial_parameter(code ? PARAM_CODE_BYTES : PARAM_MEMORY_BYTES);
    if (address % 4 != 0)
        return PROTOCOL_BAD_ALIGNMENT;
    if (code ? hart >= trial_parameter(PARAM_HARTS) : hart != 0)
        return PROTOCOL_BAD_VALUE;
    return offset > bytes || words > (bytes - offset) / 4 ? PROTOCOL_BAD_RANGE : 0;
}

/* Whether the machine was built with all that DEV_SETUP asks for. */
static bool has(uint32_t setup)
{
    uint32_t flags = trial_parameter(PARAM_FLAGS), model = trial_parameter(PARAM_MODEL);
    uint32_t known = 0x01000003 | (flags & FLAG_BUGS ? 0x7f00 : 0)
        | (flags & FLAG_DELAYS ? 0x70000 : 0) | (flags & FLAG_VISIBLE ? 0x02000000 : 0);
    return !(setup & ~known) && (model > 3 || model == (setup & 3));
}

static void counters(uint32_t hart, uint32_t *to)
{
    for (uint32_t i = 0; i < SOC_EVENTS; i++)
        *to++ = trial_peek(hart, i);
    for (uint32_t i = SOC_PEEK_PC; i <= SOC_PEEK_BUS_WAIT; i++)
        *to++ = trial_peek(hart, i);
}

/* How many words a request has: of what is shorter or longer the length is wrong. */
static bool right_length(uint32_t type, uint32_t count)
{
    switch (type) {
    case PROTOCOL_RESET:
    case PROTOCOL_READ:
    case PROTOCOL_RUN:
        return count == 2;
    case PROTOCOL_STATE:
    case PROTOCOL_STOP:
        return count == 0;
    case PROTOCOL_COUNTERS:
    case PROTOCOL_SOURCE:
        return count == 1;
    case PROTOCOL_LOAD:
        return count >= 1;
    default:
        return true;
    }
}

enum protocol_status runner_request(struct runner *r, uint32_t type, uint32_t *payload,
                                    uint32_t *count)
{
    uint32_t words = *count, why;
    *count = 0;
    if (!right_length(type, words))
        return STATUS_LENGTH;
    switch (type) {
    case PROTOCOL_RESET:
        if (!has(payload[0]))
            return bad(payload, count, 0, PROTOCOL_BAD_VALUE);
        begin(r);
        trial_reset(payload[0], payload[1]);
        r->ready = true;
        payload[0] = ++r->run;
        *count = 1;
        return STATUS_OK;
    case PROTOCOL_LOAD:
        if (r->phase != PHASE_RESET)
            return STATUS_STATE;
        if ((why = bad_address(payload[0], words - 1)))
            return bad(payload, count, 0, why);
        trial_load(payload[0], payload + 1, words - 1);
        return STATUS_OK;
    case PROTOCOL_READ:
        if (r->phase != PHASE_RESET)
            return STATUS_STATE;
        if (payload[1] > PROTOCOL_PAYLOAD)
            return bad(payload, count, 1, PROTOCOL_BAD_RANGE);
        if ((why = bad_address(payload[0], payload[1])))
            return bad(payload, count, 0, why);
        *count = payload[1];
        trial_read(payload[0], payload, payload[1]);
        return STATUS_OK;
    case PROTOCOL_RUN:
        if (r->phase == PHASE_DONE || r->sourcing || (r->phase == PHASE_RESET && !r->ready))
            return STATUS_STATE;
        r->limit_low = payload[0];
        r->limit_high = payload[1];
        r->phase = PHASE_RUNNING;
        r->flags = 0;
        r->ready = false;
        trial_run(true);
        return STATUS_OK;
    case PROTOCOL_STATE:
        payload[0] = r->run;
        payload[1] = r->phase;
        payload[2] = r->cycle_low;
        payload[3] = r->cycle_high;
        payload[4] = trial_harts_done();
        payload[5] = r->next.word;
        payload[6] = r->acknowledged.word;
        payload[8] = usb_errors();
        *count = sizeof(struct protocol_state) / 4;
        return STATUS_OK;
    case PROTOCOL_STOP:
        trial_run(false);
        if (r->phase == PHASE_RUNNING || r->phase == PHASE_LIMIT)
            end(r, PHASE_RESET, PROTOCOL_CAPTURE_END);
        r->phase = PHASE_RESET;
        return STATUS_OK;
    case PROTOCOL_COUNTERS:
        if (payload[0] >= trial_parameter(PARAM_HARTS))
            return bad(payload, count, 0, PROTOCOL_BAD_VALUE);
        counters(payload[0], payload);
        *count = SOC_EVENTS + SOC_PEEK_BUS_WAIT - SOC_PEEK_PC + 1;
        return STATUS_OK;
    case PROTOCOL_ECHO:
        *count = words;
        return STATUS_OK;
    case PROTOCOL_SOURCE:
        begin(r);
        r->sourcing = true;
        r->source = payload[0];
        r->phase = PHASE_RUNNING;
        payload[0] = ++r->run;
        *count = 1;
        return STATUS_OK;
    default:
        return STATUS_TYPE;
    }
}
