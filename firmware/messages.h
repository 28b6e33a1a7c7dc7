/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over the bulk endpoints: requests that are whole and in order come out, answers and the
 * stream go in. protocol.h has the rules. Nothing here waits: each call does at most one packet.
 *
 * There is room for one message. A request is answered where it lies; until the answer has gone no
 * other is taken, and what the host sends waits in the USB core. */
#ifndef FIRMWARE_MESSAGES_H
#define FIRMWARE_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

enum {
    MESSAGES_KEPT = 2 /* words of a kept answer: those of requests that change something fit */
};

struct messages_sender {
    struct {
        struct protocol_header header;
        struct protocol_capture capture;
    } head;                  /* of a message of the stream */
    const uint32_t *body;
    uint32_t left;           /* words of the body that have not gone */
    uint32_t crc;
    bool heading;            /* the head has not gone */
    bool closed;             /* the CRC has gone; but for an empty packet, perhaps, so has all */
    bool busy;
    bool answer;             /* it is m->message that goes */
};

struct messages {
    struct protocol_message message;
    uint32_t words;          /* of the message, that came so far */
    uint32_t crc;
    bool damaged;
    bool answered;           /* the message is an answer that waits to go or goes */
    bool greeted;            /* HELLO came */
    uint32_t last;           /* number of the last request that was done, */
    struct {
        struct protocol_header header;
        uint32_t words[MESSAGES_KEPT];
    } kept;                  /* its answer, if it was short */
    uint32_t refused;
    struct messages_sender sender;
};

/* Waits for a new message; to start with, and after one that has no answer. */
void messages_listen(struct messages *m);

/* Forgets what is half received; what is half sent, and an answer that has not gone. */
void messages_reset_out(struct messages *m);
void messages_reset_in(struct messages *m);

/* Takes a packet, if there is one. True: m->message is a request to be done; messages_answer or
 * messages_listen is to follow. */
bool messages_receive(struct messages *m);
uint32_t messages_type(const struct messages *m);
void messages_answer(struct messages *m, enum protocol_status status, uint32_t count);

/* True: a message of the stream may go. */
bool messages_idle(const struct messages *m);
void messages_stream(struct messages *m, const struct protocol_capture *capture,
                     const uint32_t *body, uint32_t words);

/* Sends a packet, if there is something to send and room for it. */
void messages_send(struct messages *m);

#endif
