/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for the host's side of a board: whatever a board may say, message by message,
 * to the link and the machine behind it. Most messages are right but for what the input changes
 * in them, or nothing behind the checksum would ever be reached. When the input ends the board is
 * gone for good. */
#include <stdlib.h>
#include <string.h>

#include "targets/board/board_machine.h"
#include "targets/board/board_numbers.h"
#include "firmware_talk.h"
#include "soc.h"

struct hostile {
    struct board_port port;
    const uint8_t *data;
    size_t size;
    uint32_t type, number;           /* of the last request */
    uint32_t run, place;             /* of a stream that would be right */
};

static uint32_t take(struct hostile *h)
{
    return h->size ? h->size--, *h->data++ : 0;
}

static uint32_t take_word(struct hostile *h)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++)
        word |= take(h) << 8 * i;
    return word;
}

static bool hostile_send(struct board_port *port, const uint32_t *words, size_t count)
{
    struct hostile *h = (struct hostile *)port;
    uint32_t type = words[0] >> 16 & 0xff;
    if (count < PROTOCOL_HEADER + 1 || count > PROTOCOL_WORDS || words[2] != count - 4)
        abort();
    if (type != PROTOCOL_ACK) {
        h->type = type;
        h->number = words[1];
    }
    return take(h) % 16 != 0;
}

static size_t right_answer(struct hostile *h, uint32_t payload[PROTOCOL_PAYLOAD])
{
    struct protocol_hello hello = { .version = PROTOCOL_VERSION, .window = 1 + take(h) * 16,
                                    .run = h->run };
    switch (h->type) {
    case PROTOCOL_HELLO:
        hello.parameters[BOARD_PARAM_HARTS] = take(h) % 20;
        hello.parameters[BOARD_PARAM_MEMORY_BYTES] = 65536;
        hello.parameters[BOARD_PARAM_CODE_BYTES] = 4096;
        memcpy(payload, &hello, sizeof hello);
        return sizeof hello / 4;
    case PROTOCOL_RESET:
        payload[0] = ++h->run;
        h->place = 0;
        return 1;
    case PROTOCOL_READ: return take(h);
    case PROTOCOL_STATE: return sizeof(struct protocol_state) / 4;
    case PROTOCOL_COUNTERS: return 51;
    default: return 0;
    }
}

static enum port_result hostile_receive(struct board_port *port, void *message, size_t room,
                                        size_t *bytes, int milliseconds)
{
    struct hostile *h = (struct hostile *)port;
    uint32_t payload[256] = { 0 }, words[512] = { 0 }, kind = take(h);
    uint32_t type = h->type | PROTOCOL_ANSWER, number = h->number;
    size_t count = 0;
    (void)milliseconds;
    if (!h->size || kind == 0)
        return PORT_LOST;
    if (kind == 1)
        return PORT_NOTHING;
    if (kind < 16) {                 /* anything */
        *bytes = take(h) * 5;
        for (size_t i = 0; i < *bytes / 4 && i < 512; i++)
            words[i] = take_word(h);
        memcpy(message, words, *bytes < room ? *bytes : room);
        return PORT_MESSAGE;
    }
    if (kind < 128) {                /* what was asked for, with some words changed */
        count = right_answer(h, payload);
    } else if (kind < 224) {         /* of the stream */
        type = PROTOCOL_CAPTURE;
        payload[0] = h->run;
        payload[1] = h->place;
        payload[2] = take(h) % 8 ? 0 : PROTOCOL_CAPTURE_END;
        count = 3 + take(h) % 240;
        for (size_t i = 3; i < count; i++)
            payload[i] = take(h);
        h->place += (uint32_t)count - 3;
    } else {
        type = take(h);
        count = take(h) % 253;
    }
    for (uint32_t changes = kind % 4; changes; changes--) {
        uint32_t which = take(h), value = take_word(h);
        if (which == 255)
            number = value;
        else if (which == 254)
            count = value % 253;
        else if (which == 253)
            type |= value << 8;      /* the status */
        else
            payload[which] = value;
    }
    *bytes = 4 * firmware_talk_compose(words, type, number, payload, count);
    memcpy(message, words, *bytes < room ? *bytes : room);
    return PORT_MESSAGE;
}

static bool hostile_reopen(struct board_port *port, double seconds, struct why *why)
{
    struct hostile *h = (struct hostile *)port;
    (void)seconds;
    strcpy(why->text, "gone");
    return h->size > 0;
}

static void hostile_close(struct board_port *port) { (void)port; }

static void use(const struct soc_interface *soc, struct soc *s)
{
    uint32_t words[600] = { 0 };
    struct soc_hart state;
    soc->reset(s, &(struct soc_setup){ .model = SOC_TSO, .seed = 1 });
    soc->write_code(s, 0, 0, words, 300);
    soc->write_memory(s, 64, words, 16);
    for (int i = 0; i < 8 && !soc->lost(s) && !soc->done(s); i++) {
        soc->step(s, 1000);
        while (soc->read_capture(s, words, 5 + (size_t)i * 50))
            ;
        soc->hart(s, 0, &state);
    }
    soc->counter(s, 0, 3);
    soc->read_memory(s, 0, words, 600);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hostile h = { .port = { hostile_send, hostile_receive, hostile_reopen, hostile_close },
                         .data = data, .size = size };
    struct why why;
    struct board_link *link = link_new(&h.port);
    link_patience(link, 0.05);
    struct board_machine *b = board_machine_new(link, &why);
    if (!b)
        return 0;
    const struct soc_interface *soc = board_machine_interface(b);
    struct soc *s = soc->create(soc);
    use(soc, s);
    use(soc, s);
    soc->destroy(s);
    board_machine_free(b);
    return 0;
}
