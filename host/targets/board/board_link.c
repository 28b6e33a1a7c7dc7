/* SPDX-License-Identifier: Apache-2.0 */
#include "board_link.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/list.h"
#include "board_numbers.h"

enum {
    WINDOW = 4,                 /* requests that may be without an answer */
    SLICE = 100,                /* milliseconds between looks at the clock and at ^C */
    MOST_WINDOW = 1 << 20,      /* words that a board may say it keeps */
    MOST_WAITING = 1 << 20      /* words that nobody took: then the board has to wait */
};
#define PATIENCE 30.0           /* seconds */
#define FOR_EVER 1e9
#define SHARE 15                /* of the patience: then an answer is asked for again, and so on */

struct request {
    uint32_t words[PROTOCOL_WORDS];
    size_t count;
    uint32_t number;
    bool wanted;                /* somebody waits for the answer */
};

struct board_link {
    struct board_port *port;
    double patience;
    uint32_t number;            /* of the last request */
    struct request queue[WINDOW];
    size_t queued;
    uint32_t answer[PROTOCOL_PAYLOAD];
    size_t answered;            /* words of it */
    bool has_answer;

    bool greeted;               /* it has said who it is */
    bool greeting;              /* a HELLO is out: no request goes before its answer */
    uint32_t first_hello;       /* number of the first of this greeting */
    struct protocol_hello hello;
    double active;              /* when something was sent or answered */
    double troubled;            /* when the present trouble began; 0: there is none */
    double again;               /* seconds after which it is greeted anew */

    bool streams, ended, asked_again;
    uint32_t run;
    uint32_t next, acknowledged; /* place of the word that comes next; what the board was told */
    LIST(uint32_t) words;
    size_t taken;
    struct link_counts counts;
};

static uint32_t checksum(const uint32_t *words, size_t count)
{
    return (uint32_t)crc32(0, (const void *)words, (uInt)(count * 4));
}

/* Words are little-endian on the wire, and here where they are not computed with. */
static size_t compose(uint32_t *words, enum protocol_type type, uint32_t number,
                      const uint32_t *payload, size_t count)
{
    assert(count <= PROTOCOL_PAYLOAD);
    words[0] = htole32(PROTOCOL_MAGIC | FIELD_PUT(PROTOCOL_HEAD_TYPE, type));
    words[1] = htole32(number);
    words[2] = htole32((uint32_t)count);
    for (size_t i = 0; i < count; i++)
        words[PROTOCOL_HEADER + i] = htole32(payload[i]);
    size_t before = PROTOCOL_HEADER + count;
    words[before] = htole32(checksum(words, before));
    return before + 1;
}

struct board_link *link_new(struct board_port *port)
{
    struct board_link *l = calloc(1, sizeof *l);
    if (!l) {
        port->close(port);
        return NULL;
    }
    l->port = port;
    link_patience(l, PATIENCE);
    return l;
}

void link_free(struct board_link *l)
{
    if (!l)
        return;
    l->port->close(l->port);
    LIST_FREE(&l->words);
    free(l);
}

void link_counts(const struct board_link *l, struct link_counts *counts) { *counts = l->counts; }

static void be_patient(struct board_link *l)
{
    l->again = (l->patience < FOR_EVER ? l->patience : PATIENCE) / SHARE;
    l->troubled = 0;
}

void link_patience(struct board_link *l, double seconds)
{
    l->patience = seconds > 0 && seconds < FOR_EVER ? seconds : FOR_EVER;
    be_patient(l);
}

static void note_trouble(struct board_link *l)
{
    if (!l->troubled)
        l->troubled = now_seconds();
}

static void note_success(struct board_link *l)
{
    l->active = now_seconds();
    be_patient(l);
}

/* ---- the stream ------------------------------------------------------------------------------ */

/* If the board is gone, the next receive says so. */
static void acknowledge(struct board_link *l, uint32_t flags)
{
    struct protocol_ack ack = { .run = l->run, .words = l->next, .flags = flags };
    uint32_t words[PROTOCOL_WORDS];
    size_t count = compose(words, PROTOCOL_ACK, 0, (uint32_t *)&ack, PROTOCOL_COUNT(ack));
    l->acknowledged = l->next;
    if (flags & PROTOCOL_ACK_AGAIN) {
        l->counts.missing++;
        l->asked_again = true;
    }
    l->port->send(l->port, words, count);
}

size_t link_waiting(const struct board_link *l)
{
    assert(l->taken <= l->words.count);
    return l->words.count - l->taken;
}
bool link_ended(const struct board_link *l) { return l->ended; }

/* Every half of its window the board is told that it can go on. */
static void acknowledge_some(struct board_link *l)
{
    if (l->streams && !l->ended && link_waiting(l) <= MOST_WAITING
        && (l->next - l->acknowledged) * 2 >= l->hello.window)
        acknowledge(l, 0);
}

/* What was here already is passed over. */
static enum link_result take_capture(struct board_link *l, const uint32_t *payload, size_t count,
                                     struct why *why)
{
    const struct protocol_capture *c = (const void *)payload;
    if (count < PROTOCOL_COUNT(*c) || !l->streams || c->run != l->run || l->ended)
        return LINK_OK;         /* of a run that nobody waits for any more */
    uint32_t behind = l->next - c->place;
    size_t words = count - PROTOCOL_COUNT(*c);
    if (behind > words) {       /* something before it is missing, or all was here already */
        if (behind > UINT32_MAX / 2 && !l->asked_again)
            acknowledge(l, PROTOCOL_ACK_AGAIN);
        return LINK_OK;
    }
    words -= behind;
    if (l->next + words - l->acknowledged > l->hello.window)
        return why_say(why, "the board sends more of its stream than it may"), LINK_REFUSED;
    for (size_t i = 0; i < words; i++)
        if (!LIST_PUSH(&l->words, payload[PROTOCOL_COUNT(*c) + behind + i]))
            return why_say(why, "out of memory"), LINK_REFUSED;
    l->next += (uint32_t)words;
    assert(l->next - l->acknowledged <= l->hello.window);
    l->counts.stream_words += words;
    l->asked_again = false;
    if (c->flags & PROTOCOL_CAPTURE_END) {
        acknowledge(l, 0);
        l->ended = true;
    }
    acknowledge_some(l);
    return LINK_OK;
}

size_t link_take(struct board_link *l, uint32_t *words, size_t room)
{
    size_t count = link_waiting(l);
    count = count < room ? count : room;
    if (count)
        memcpy(words, l->words.data + l->taken, count * sizeof *words);
    l->taken += count;
    if (l->taken == l->words.count)
        l->words.count = l->taken = 0;
    acknowledge_some(l);
    return count;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void send_request(struct board_link *l, const struct request *r)
{
    l->counts.requests++;
    l->active = now_seconds();
    l->port->send(l->port, r->words, r->count); /* likewise */
}

static enum protocol_type type_of(const struct request *r)
{
    return (enum protocol_type)FIELD_GET(le32toh(r->words[0]), PROTOCOL_HEAD_TYPE);
}

static void greet(struct board_link *l)
{
    struct request r = { .number = ++l->number };
    uint32_t version = PROTOCOL_VERSION;
    if (!l->greeting)
        l->first_hello = r.number;
    l->greeting = true;
    r.count = compose(r.words, PROTOCOL_HELLO, r.number, &version, 1);
    send_request(l, &r);
}

static void post(struct board_link *l, enum protocol_type type, const uint32_t *payload,
                 size_t words, bool wanted)
{
    assert(l->queued < WINDOW);
    struct request *r = &l->queue[l->queued++];
    r->number = ++l->number;
    assert(l->queued == 1 || r->number - r[-1].number < UINT32_MAX / 2); /* they ascend */
    r->count = compose(r->words, type, r->number, payload, words);
    r->wanted = wanted;
    if (!l->greeting)           /* else when it is over */
        send_request(l, r);
}

/* With new numbers. A run that has begun, or has ended, had its RUN, and what came before that. */
static void post_again(struct board_link *l)
{
    struct request open[WINDOW];
    size_t count = l->queued, first = 0;
    memcpy(open, l->queue, sizeof open);
    for (size_t i = 0; i < count; i++)
        if (type_of(&open[i]) == PROTOCOL_RUN && (l->hello.phase != PHASE_RESET || l->ended))
            first = i + 1;
    l->queued = 0;
    for (size_t i = first; i < count; i++) {
        uint32_t payload[PROTOCOL_PAYLOAD];
        size_t words = open[i].count - PROTOCOL_HEADER - 1;
        assert(words <= PROTOCOL_PAYLOAD);
        for (size_t w = 0; w < words; w++)
            payload[w] = le32toh(open[i].words[PROTOCOL_HEADER + w]);
        l->counts.again++;
        post(l, type_of(&open[i]), payload, words, open[i].wanted);
    }
}

/* The board says who it is. */
static enum link_result take_hello(struct board_link *l, const uint32_t *payload, size_t count,
                                   struct why *why)
{
    struct protocol_hello was = l->hello, *is = &l->hello;
    uint32_t runs = 0;          /* that may have begun unheard */
    if (count != sizeof *is / 4)
        return why_say(why, "the board's firmware says hello in another way: bring it up "
                            "to date with 'ordeal board flash'"),
               LINK_REFUSED;
    if (payload[0] != PROTOCOL_VERSION) {
        why_say(why,
                "the board's firmware speaks version %" PRIu32
                " of the protocol, this program %d: bring it up to date with 'ordeal board flash'",
                payload[0], PROTOCOL_VERSION);
        return LINK_REFUSED;
    }
    memcpy(is, payload, sizeof *is);
    if (is->window == 0 || is->window > MOST_WINDOW) {
        why_say(why,
                "the board says that it keeps %" PRIu32 " words of "
                "its stream: that cannot be",
                is->window);
        return LINK_REFUSED;
    }
    if (l->greeted && memcmp(is->parameters, was.parameters, sizeof was.parameters) != 0)
        return why_say(why, "the board came back with another machine"), LINK_REFUSED;
    for (size_t i = 0; i < l->queued; i++)
        runs += type_of(&l->queue[i]) == PROTOCOL_RESET || type_of(&l->queue[i]) == PROTOCOL_SOURCE;
    bool known = !l->greeted || is->run - l->run <= runs;
    l->greeted = true;
    l->greeting = false;
    if (!known) {
        l->run = is->run;
        l->queued = 0;
        l->streams = false;
        note_success(l);
        return why_say(why,
                       is->cause == BOARD_CAUSE_WATCHDOG
                           ? "the board's firmware was reset by its watchdog, and the test is lost"
                           : "the board was gone, and with it the test"),
               LINK_LOST;
    }
    post_again(l);
    if (!l->queued)
        note_success(l);
    if (l->streams && !l->ended)
        acknowledge(l, PROTOCOL_ACK_AGAIN);
    return LINK_OK;
}

static enum link_result say_refusal(const struct request *r, uint32_t status,
                                    const uint32_t *payload, size_t count, struct why *why)
{
    static const char *const words[] = {
        [STATUS_TYPE] = "its firmware does not know it", [STATUS_LENGTH] = "its length is wrong",
        [STATUS_STATE] = "it cannot be done now",
        [STATUS_ARGUMENT] = "the machine has no such thing"
    };
    const char *word = status < sizeof words / sizeof *words ? words[status] : NULL;
    why_say(why, "the board refuses request %d: status %" PRIu32 "%s%s", type_of(r), status,
            word ? ", " : "", word ? word : "");
    const struct protocol_argument *bad = (const void *)payload;
    if (status == STATUS_ARGUMENT && count == PROTOCOL_COUNT(*bad))
        why_add(why, " (word %" PRIu32 ", reason %" PRIu32 ")", bad->which, bad->why);
    return LINK_REFUSED;
}

static void pop(struct board_link *l)
{
    assert(l->queued > 0);
    l->queued--;
    memmove(l->queue, l->queue + 1, l->queued * sizeof *l->queue);
}

static enum link_result take_answer(struct board_link *l, uint32_t type, uint32_t status,
                                    uint32_t number, const uint32_t *payload, size_t count,
                                    struct why *why)
{
    if (type == PROTOCOL_HELLO && status == STATUS_OK)
        return l->greeting && number - l->first_hello <= l->number - l->first_hello
               ? take_hello(l, payload, count, why) : LINK_OK;
    bool confused = status == STATUS_DAMAGED || status == STATUS_ORDER;
    size_t i = 0;
    while (!confused && i < l->queued && l->queue[i].number != number)
        i++;
    if (confused && l->streams && !l->ended)
        acknowledge(l, 0);      /* it may have been that */
    if ((confused && l->queued) || (i > 0 && i < l->queued)) {
        note_trouble(l);        /* answers come in order: one was lost */
        if (!l->greeting)
            greet(l);
        return LINK_OK;
    }
    if (confused || i == l->queued || type_of(&l->queue[i]) != type)
        return LINK_OK;         /* had its answer already */
    note_success(l);
    struct request r = l->queue[0];
    pop(l);
    if (status != STATUS_OK)
        return say_refusal(&r, status, payload, count, why);
    if (r.wanted) {
        assert(count <= PROTOCOL_PAYLOAD); /* take_message() has seen to that */
        memcpy(l->answer, payload, count * sizeof *payload);
        l->answered = count;
        l->has_answer = true;
    }
    return LINK_OK;
}

static enum link_result take_message(struct board_link *l, uint32_t *words, size_t bytes,
                                     struct why *why)
{
    size_t count = bytes / 4;
    if (bytes % 4 || count < PROTOCOL_HEADER + 1 || count > PROTOCOL_WORDS
        || FIELD_GET(le32toh(words[0]), PROTOCOL_HEAD_MAGIC) != PROTOCOL_MAGIC
        || le32toh(words[2]) != count - PROTOCOL_HEADER - 1
        || checksum(words, count - 1) != le32toh(words[count - 1])) {
        l->counts.damaged++;
        return LINK_OK;
    }
    for (size_t i = 0; i < count; i++)
        words[i] = le32toh(words[i]);
    uint32_t type = FIELD_GET(words[0], PROTOCOL_HEAD_TYPE);
    uint32_t status = FIELD_GET(words[0], PROTOCOL_HEAD_STATUS);
    const uint32_t *payload = words + PROTOCOL_HEADER;
    size_t length = count - PROTOCOL_HEADER - 1;
    if (type == PROTOCOL_CAPTURE)
        return take_capture(l, payload, length, why);
    if (type & PROTOCOL_ANSWER)
        return take_answer(l, type & ~(uint32_t)PROTOCOL_ANSWER, status, words[1], payload, length,
                           why);
    l->counts.damaged++;
    return LINK_OK;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static enum link_result come_back(struct board_link *l, struct why *why)
{
    l->counts.replugs++;
    note_trouble(l);
    double left = l->troubled + l->patience - now_seconds();
    if (left <= 0)
        return why_say(why, "the board comes and goes"), LINK_GONE;
    if (!l->port->reopen(l->port, left, why))
        return interrupted() ? LINK_STOPPED : LINK_GONE;
    greet(l);
    return LINK_OK;
}

/* Is an answer overdue? */
static enum link_result look_at_clock(struct board_link *l, struct why *why)
{
    double now = now_seconds();
    if (!l->queued && !l->greeting)
        return LINK_OK;
    if (l->troubled && now - l->troubled > l->patience) {
        why_say(why,
                "the board has not answered for %g s: does its "
                "firmware run? 'ordeal board info' tells what is connected",
                l->patience);
        return LINK_GONE;
    }
    if (now - l->active > l->again) {
        note_trouble(l);
        l->again *= 2;
        greet(l);
    }
    return LINK_OK;
}

static enum link_result once(struct board_link *l, int milliseconds, struct why *why)
{
    uint32_t words[PROTOCOL_WORDS + 16];
    size_t bytes = 0;
    enum link_result result = LINK_OK;
    if (interrupted())
        return LINK_STOPPED;
    switch (l->port->receive(l->port, words, sizeof words, &bytes, milliseconds)) {
    case PORT_MESSAGE: result = take_message(l, words, bytes, why); break;
    case PORT_LOST: result = come_back(l, why); break;
    case PORT_NOTHING: break;
    }
    return result == LINK_OK ? look_at_clock(l, why) : result;
}

enum link_result link_wait(struct board_link *l, int milliseconds, struct why *why)
{
    return once(l, milliseconds, why);
}

enum link_result link_hello(struct board_link *l, struct protocol_hello *hello, struct why *why)
{
    enum link_result result = LINK_OK;
    l->queued = 0;
    l->greeted = l->greeting = l->streams = false;
    greet(l);
    while (result == LINK_OK && l->greeting)
        result = once(l, SLICE, why);
    *hello = l->hello;
    l->run = hello->run;
    return result;
}

/* Until so many requests are left without an answer. */
static enum link_result drain(struct board_link *l, size_t left, struct why *why)
{
    enum link_result result = LINK_OK;
    while (result == LINK_OK && l->queued > left)
        result = once(l, SLICE, why);
    return result;
}

enum link_result link_settle(struct board_link *l, struct why *why) { return drain(l, 0, why); }

enum link_result link_post(struct board_link *l, enum protocol_type type, const uint32_t *payload,
                           size_t words, struct why *why)
{
    enum link_result result = drain(l, WINDOW - 1, why);
    if (result == LINK_OK)
        post(l, type, payload, words, false);
    return result;
}

enum link_result link_ask(struct board_link *l, enum protocol_type type, const uint32_t *payload,
                          size_t words, uint32_t *answer, size_t expected, struct why *why)
{
    enum link_result result = drain(l, WINDOW - 1, why);
    if (result != LINK_OK)
        return result;
    l->has_answer = false;
    post(l, type, payload, words, true);
    while (!l->has_answer && result == LINK_OK)
        result = once(l, SLICE, why);
    if (result != LINK_OK)
        return result;
    if (l->answered != expected) {
        why_say(why,
                "the board answers request %d with %zu words "
                "instead of %zu: bring its firmware up to date with 'ordeal board flash'",
                type, l->answered, expected);
        return LINK_REFUSED;
    }
    memcpy(answer, l->answer, expected * sizeof *answer);
    return LINK_OK;
}

enum link_result link_begin(struct board_link *l, enum protocol_type type, const uint32_t *payload,
                            size_t words, struct why *why)
{
    uint32_t run;
    l->streams = false;
    enum link_result result = link_ask(l, type, payload, words, &run, 1, why);
    if (result != LINK_OK)
        return result;
    l->streams = true;
    l->ended = l->asked_again = false;
    l->run = run;
    l->next = l->acknowledged = 0;
    l->words.count = l->taken = 0;
    return LINK_OK;
}

enum link_result link_look(struct board_link *l, struct protocol_state *state, bool *behind,
                           struct why *why)
{
    uint32_t answer[sizeof *state / 4];
    enum link_result result = link_ask(l, PROTOCOL_STATE, NULL, 0, answer, sizeof answer / 4, why);
    if (result != LINK_OK)
        return result;
    memcpy(state, answer, sizeof *state);
    *behind = l->streams && !l->ended
           && (state->sent != l->next || state->phase == PHASE_DONE
               || state->acknowledged != l->acknowledged); /* it did not hear, and waits */
    if (*behind)
        acknowledge(l, PROTOCOL_ACK_AGAIN);
    return LINK_OK;
}
