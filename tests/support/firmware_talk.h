/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of firmware/protocol.h to and from a board in memory; put together word by word here, on
 * purpose, and not by the structures and fields of protocol.h that the firmware has. */
#ifndef SUPPORT_FIRMWARE_TALK_H
#define SUPPORT_FIRMWARE_TALK_H

#include "firmware_device.h"
#include "protocol.h"

struct firmware_message {
    uint32_t type, status, number, count;
    uint32_t payload[PROTOCOL_PAYLOAD];
};

/* A message in words, which have room for PROTOCOL_WORDS. Returns how many. */
size_t firmware_talk_compose(uint32_t *words, uint32_t type, uint32_t number,
                             const uint32_t *payload, size_t count);
/* Words to a message. False: it is not one. */
bool firmware_talk_parse(struct firmware_message *m, const void *bytes, size_t length);

/* False: the board does not take it; nothing came, or nothing whole. */
bool firmware_talk_send(struct firmware_device *d, uint32_t type, uint32_t number,
                        const uint32_t *payload, size_t count);
bool firmware_talk_receive(struct firmware_device *d, struct firmware_message *m);

/* Sends and waits for what is not of the stream. */
bool firmware_talk_ask(struct firmware_device *d, struct firmware_message *m, uint32_t type,
                       uint32_t number, const uint32_t *payload, size_t count);

/* The firmware for the board, beside the program that ORDEAL in the environment names. Ends the
 * test program if there is none. */
const char *firmware_talk_elf(void);

#endif
