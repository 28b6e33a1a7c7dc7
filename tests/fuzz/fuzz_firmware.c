/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for the firmware: what a host may send, packet by packet, in any order. A
 * message whose CRC would be wrong goes also with the right one, or nothing behind that check
 * would ever be reached. Afterwards a plug and a HELLO must work. */
#include <stdlib.h>
#include <string.h>

#include "firmware_talk.h"
#include "registers.h"

struct input {
    const uint8_t *data;
    size_t size;
};

static uint32_t take(struct input *in)
{
    return in->size ? in->size--, *in->data++ : 0;
}

static size_t take_bytes(struct input *in, void *to, size_t most)
{
    size_t n = in->size < most ? in->size : most;
    if (n)
        memcpy(to, in->data, n);
    in->data += n;
    in->size -= n;
    return n;
}

static void send_message(struct firmware_device *d, struct input *in)
{
    uint32_t words[PROTOCOL_WORDS], payload[PROTOCOL_PAYLOAD] = { 0 };
    uint32_t type = take(in) & 31, number = take(in) & 7;
    size_t count = take_bytes(in, payload, take(in) % 32 * 4 + 4) / 4;
    size_t length = firmware_talk_compose(words, type, number, payload, count) * 4;
    for (size_t at = 0; at <= length; at += 64) {
        firmware_device_out(d, (uint8_t *)words + at, length - at < 64 ? length - at : 64);
        firmware_device_poll(d);
    }
}

static void step(struct firmware_device *d, struct input *in)
{
    uint8_t packet[64], setup[8] = { 0 };
    uint32_t words[64] = { 0 };
    bool data1;
    switch (take(in) % 10) {
    case 0:
    case 1:
        send_message(d, in);
        break;
    case 2:
        firmware_device_out(d, packet, take_bytes(in, packet, take(in) % 65));
        break;
    case 3:
        for (uint32_t i = take(in) % 32; i; i--) {
            firmware_device_in(d, packet);
            firmware_device_poll(d);
        }
        break;
    case 4:
        take_bytes(in, setup, 8);
        firmware_device_setup(d, setup);
        break;
    case 5:
        firmware_device_ep0_in(d, packet, &data1);
        break;
    case 6:
        firmware_device_ep0_out(d, packet, take_bytes(in, packet, take(in) % 65));
        break;
    case 7:
        firmware_device_captures(d, words, take(in) % 65);
        firmware_device_done(d, take(in) & 15);
        break;
    case 8:
        firmware_device_bus_reset(d);
        break;
    case 9:
        firmware_device_plug(d);
        break;
    }
    firmware_device_poll(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct firmware_board board = firmware_board_usual;
    struct firmware_message m;
    uint32_t version = PROTOCOL_VERSION;
    board.window = 1 + take(&in);
    board.parameters[PARAM_MEMORY_BYTES] = 1024; /* little to be cleared for each input */
    board.parameters[PARAM_CODE_BYTES] = 256;
    struct firmware_device *d = firmware_device_new(&board);
    firmware_device_plug(d);
    while (in.size)
        step(d, &in);
    firmware_device_plug(d);
    if (!firmware_talk_ask(d, &m, PROTOCOL_HELLO, 1, &version, 1) || m.status != STATUS_OK)
        abort();
    firmware_device_free(d);
    return 0;
}
