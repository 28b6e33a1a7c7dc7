/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for the JTAG port: whatever bytes a client sends, in pieces of any size. Every
 * poll comes to an end, an 'R' has at most one answer, and what is no command ends the connection:
 * the next client finds the port free. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "jtag_port.h"

static double seconds;
static double now(void) { return seconds; }

static struct jtag_port *open_port(void)
{
    char error[256];
    struct jtag_port *p = jtag_port_open(0, error, sizeof error);
    if (!p)
        abort();
    jtag_port_clock(p, now);
    return p;
}

/* Closed by a reset: no port of this computer is left in TIME_WAIT. */
static int dial(uint16_t number)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(number),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct linger reset = { .l_onoff = 1 };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        abort();
    return fd;
}

/* As many polls as there may be changes, and some. */
static void poll_all(struct jtag_port *p, size_t bytes)
{
    struct jtag_pins pins;
    for (size_t i = 0; i < bytes + 4; i++)
        jtag_port_poll(p, &pins, i % 3 == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct jtag_port *p;
    char answers[4096];
    size_t asked = 0, answered = 0;
    p = p ? p : open_port();
    int fd = dial(jtag_port_number(p));
    for (size_t at = 0; at < size;) {
        size_t part = 1 + data[at] * 4u;
        part = part < size - at ? part : size - at;
        if (send(fd, data + at, part, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break;
        for (size_t i = 0; i < part; i++)
            asked += data[at + i] == 'R';
        at += part;
        poll_all(p, part);
        ssize_t n = recv(fd, answers, sizeof answers, MSG_DONTWAIT);
        answered += n > 0 ? (size_t)n : 0;
        for (ssize_t i = 0; i < n; i++)
            if (answers[i] != '0' && answers[i] != '1')
                abort();
        seconds += data[at - 1] % 4;
    }
    close(fd);
    for (int i = 0; i < 10 && jtag_port_connected(p); i++)
        poll_all(p, size);
    if (jtag_port_connected(p) || answered > asked)
        abort();
    return 0;
}
