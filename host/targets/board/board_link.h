/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a board and its capture stream, over a port that may lose, damage or repeat
 * messages and may go away and come back.
 *
 * There is one way out of all trouble (no answer, a refusal for order or damage, a board that was
 * gone): say hello again, send again what was not answered, and ask for the stream again from
 * where it broke off. Every request may be done twice but RUN, and whether that was done the
 * hello tells. If the board no longer knows the run, LINK_LOST: the next run may be tried. */
#ifndef HOST_BOARD_LINK_H
#define HOST_BOARD_LINK_H

#include "board_port.h"
#include "protocol.h"

enum link_result {
    LINK_OK,
    LINK_LOST,                  /* the board is there, and knows nothing of the run */
    LINK_GONE,                  /* it is gone, or does not answer, for too long */
    LINK_REFUSED,               /* it answers, but not as it should: `why` */
    LINK_STOPPED                /* ^C */
};

struct link_counts {
    uint64_t requests, again;   /* sent; of them once more */
    uint64_t damaged;           /* messages of the board that were thrown away */
    uint64_t missing;           /* times that words of the stream were asked for again */
    uint64_t replugs;
    uint64_t stream_words;
};

struct board_link;
/* The port belongs to the link from now on. NULL: out of memory, and the port is closed. */
struct board_link *link_new(struct board_port *port);
void link_free(struct board_link *l);
void link_counts(const struct board_link *l, struct link_counts *counts);
/* Seconds that a board may be gone or silent (30 without this); 0: for ever. */
void link_patience(struct board_link *l, double seconds);

/* Begins: who is there. */
enum link_result link_hello(struct board_link *l, struct protocol_hello *hello, struct why *why);
/* Posts a request of at most PROTOCOL_PAYLOAD words; its answer is waited for later, and thrown
 * away. */
enum link_result link_post(struct board_link *l, enum protocol_type type, const uint32_t *payload,
                           size_t words, struct why *why);
/* Waits until everything that was posted is answered. */
enum link_result link_settle(struct board_link *l, struct why *why);
/* Posts a request and waits for its answer, exactly `expected` words. */
enum link_result link_ask(struct board_link *l, enum protocol_type type, const uint32_t *payload,
                          size_t words, uint32_t *answer, size_t expected, struct why *why);

/* RESET or SOURCE: from now on the stream of that run is wanted, from its first word on. */
enum link_result link_begin(struct board_link *l, enum protocol_type type, const uint32_t *payload,
                            size_t words, struct why *why);
/* Waits for one message, at most so long, and takes what it brings of the stream. */
enum link_result link_wait(struct board_link *l, int milliseconds, struct why *why);
/* Asks for the state, and for what is missing of the stream, if something is: `*behind`. */
enum link_result link_look(struct board_link *l, struct protocol_state *state, bool *behind,
                           struct why *why);
/* Words of the stream that have come and were not taken yet; takes some: how many. */
size_t link_waiting(const struct board_link *l);
size_t link_take(struct board_link *l, uint32_t *words, size_t room);
bool link_ended(const struct board_link *l);   /* nothing of the stream will follow */

#endif
