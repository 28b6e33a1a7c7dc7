/* SPDX-License-Identifier: Apache-2.0 */
/* remote_bitbang: a byte a command. '0' to '7' set TCK, TMS, TDI (bits 2, 1, 0), 'R' is answered
 * with TDO as '0' or '1', 'r' to 'u' set TRST and SRST (bits 1, 0), 'B' and 'b' are a light, 'Q'
 * ends the connection; so does any other. Answers wait until all that came with them is done. */
#include "jtag_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "monotonic.h"

struct jtag_port {
    int listener, client; /* client -1: none */
    uint16_t number;
    struct jtag_pins pins;
    double (*now)(void);
    double heard;         /* when the client came, or something last went between us */
    size_t next, end;     /* commands that wait: in[next] to in[end - 1] */
    size_t count, gone;   /* answers that wait: out[gone] to out[count - 1] */
    char in[4096];
    char out[4096];       /* no more than there are commands in in[] */
};

struct jtag_port *jtag_port_open(uint16_t port, char *error, size_t size)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0
        || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 4) != 0
        || getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        snprintf(error, size, "cannot listen for JTAG on 127.0.0.1 port %u: %s", port,
                 strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct jtag_port *p = calloc(1, sizeof *p);
    if (!p) {
        snprintf(error, size, "out of memory");
        close(fd);
        return NULL;
    }
    p->listener = fd;
    p->client = -1;
    p->now = monotonic_seconds;
    p->number = ntohs(address.sin_port);
    return p;
}

static void hang_up(struct jtag_port *p)
{
    close(p->client);
    p->client = -1;
    p->next = p->end = p->count = p->gone = 0;
}

void jtag_port_close(struct jtag_port *p)
{
    if (!p)
        return;
    if (p->client >= 0)
        hang_up(p);
    close(p->listener);
    free(p);
}

uint16_t jtag_port_number(const struct jtag_port *p) { return p->number; }

bool jtag_port_connected(const struct jtag_port *p) { return p->client >= 0; }

void jtag_port_clock(struct jtag_port *p, double (*now)(void)) { p->now = now; }

/* False: not all could go, or the client went. */
static bool answer(struct jtag_port *p)
{
    while (p->gone < p->count) {
        ssize_t n = send(p->client, p->out + p->gone, p->count - p->gone, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                hang_up(p);
            return false;
        }
        p->gone += (size_t)n;
        p->heard = p->now();
    }
    p->count = p->gone = 0;
    return true;
}

static void take_client(struct jtag_port *p)
{
    int one = 1;
    p->client = accept4(p->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (p->client >= 0) /* if it fails it is only slower */
        setsockopt(p->client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    p->heard = p->now();
}

static bool somebody_waits(const struct jtag_port *p)
{
    struct pollfd fd = { .fd = p->listener, .events = POLLIN };
    return poll(&fd, 1, 0) > 0;
}

/* Who neither says nor takes anything loses its place to the next, if there is one. */
static void make_place(struct jtag_port *p)
{
    if (p->client >= 0 && p->now() - p->heard > JTAG_PORT_PATIENCE && somebody_waits(p))
        hang_up(p);
}

static bool more_commands(struct jtag_port *p)
{
    if (p->client < 0)
        take_client(p);
    if (p->client < 0)
        return false;
    bool quiet = !answer(p);
    ssize_t n = quiet ? 0 : recv(p->client, p->in, sizeof p->in, 0);
    if (n <= 0) {
        if (!quiet && (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)))
            hang_up(p);
        make_place(p);
        return false;
    }
    p->heard = p->now();
    p->next = 0;
    p->end = (size_t)n;
    return true;
}

/* True: the pins change. */
static bool obey(struct jtag_port *p, char c, bool tdo)
{
    if (c >= '0' && c <= '7') {
        p->pins.tck = (c & 4) != 0;
        p->pins.tms = (c & 2) != 0;
        p->pins.tdi = (c & 1) != 0;
        return true;
    }
    if (c >= 'r' && c <= 'u') {
        p->pins.trst = ((c - 'r') & 2) != 0;
        p->pins.srst = ((c - 'r') & 1) != 0;
        return true;
    }
    if (c == 'R')
        p->out[p->count++] = tdo ? '1' : '0';
    else if (c != 'B' && c != 'b')
        hang_up(p);
    return false;
}

/* What comes meanwhile waits for the next time: one that asks for TDO and nothing else must not
 * keep the simulation here. */
bool jtag_port_poll(struct jtag_port *p, struct jtag_pins *pins, bool tdo)
{
    if (p->next == p->end && !more_commands(p))
        return false;
    while (p->next < p->end)
        if (obey(p, p->in[p->next++], tdo)) {
            *pins = p->pins;
            return true;
        }
    if (p->client >= 0)
        answer(p);
    return false;
}

void jtag_port_wait(const struct jtag_port *p, int milliseconds)
{
    bool full = p->gone < p->count; /* nothing is read until the answers are gone */
    struct pollfd fd = { .fd = p->client >= 0 ? p->client : p->listener,
                         .events = full ? POLLOUT : POLLIN };
    poll(&fd, 1, milliseconds);
}
