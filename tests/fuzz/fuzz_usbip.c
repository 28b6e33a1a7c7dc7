/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for the usbip server, before a device on simulated wires: whatever bytes a client
 * sends, alone or after an import that is right, as they are or as the fields of messages, and
 * whether it fetches its answers or not. When it has gone the device is free, and there. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "board_usbip.h"
#include "wire_device.h"

enum { HEADER = 48, MOST_DATA = 300, FIELDS = 16 };

static struct usb_host *host;
static struct usb_bus bus;
static struct usb_device device;
static struct usb_pins pins;
static struct board_usbip *server;
static double seconds;

static double now(void) { return seconds; }

static void go_on(unsigned times)
{
    while (times--) {
        for (int i = 0; i < BOARD_USBIP_SAMPLES; i++)
            pins = usb_device_sample(&device, usb_host_sample(host, pins));
        board_usbip_poll(server);
    }
}

static void wait_until_free(void)
{
    for (int i = 0; i < 10000; i++) {
        if (bus.state == USB_BUS_READY && !board_usbip_attached(server))
            return;
        go_on(1);
    }
    abort();
}

static void set_up(void)
{
    char why[200];
    usb_device_init(&device, 0, 0, 1);
    host = usb_host_new(NULL);
    usb_bus_init(&bus, host);
    server = board_usbip_new(&bus, 0, why, sizeof why);
    if (!server)
        abort();
    board_usbip_clock(server, now);
    wait_until_free();
}

/* Closed by a reset: no port of this computer is left in TIME_WAIT. */
static int dial(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(board_usbip_port(server)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct linger reset = { .l_onoff = 1 };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        abort();
    return fd;
}

static void say(int fd, const void *bytes, size_t length, bool fetches)
{
    char answers[4096];
    send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    go_on(2);
    while (fetches && recv(fd, answers, sizeof answers, MSG_DONTWAIT) > 0)
        continue;
}

/* A message of which the input says what matters. */
static size_t make_message(const uint8_t *field, uint8_t message[HEADER + MOST_DATA])
{
    uint32_t length = (uint32_t)(field[4] | field[5] << 8) % MOST_DATA;
    memset(message, field[15], HEADER + MOST_DATA);
    memset(message, 0, HEADER);
    message[3] = (uint8_t)(1 + field[0] % 2); /* submit or unlink */
    message[7] = field[1];
    message[9] = 1;
    message[11] = 2;
    message[15] = field[2] % 2;
    message[19] = field[3] % 4;
    message[23] = message[3] == 2 ? field[6] : field[6] & 0x41;
    message[26] = (uint8_t)(length >> 8);
    message[27] = (uint8_t)length;
    memcpy(message + 40, field + 7, 8);
    if (field[2] & 64)
        message[field[14] % HEADER] = field[15];
    return HEADER + (message[3] == 1 && !message[15] ? length : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t import[40] = { 0x01, 0x11, 0x80, 0x03, 0, 0, 0, 0, '1', '-', '1' };
    uint8_t message[HEADER + MOST_DATA];
    if (!server)
        set_up();
    if (!size)
        return 0;
    int fd = dial();
    bool fetches = data[0] & 1, fields = data[0] & 4;
    if (data[0] & 2)
        say(fd, import, sizeof import, fetches);
    for (size_t at = 1; at < size;) {
        size_t part = fields ? FIELDS : 1 + data[at];
        part = part < size - at ? part : size - at;
        if (part == FIELDS && fields)
            say(fd, message, make_message(data + at, message), fetches);
        else
            say(fd, data + at, part, fetches);
        seconds += data[at] == 0xff ? 4 : 0;
        at += part;
    }
    close(fd);
    wait_until_free();
    return 0;
}
