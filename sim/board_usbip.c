/* SPDX-License-Identifier: Apache-2.0 */
/* The usbip server: sockets that never block, messages, and URBs that are transfers of the bus. */
#include "board_usbip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "monotonic.h"

enum {
    VERSION = 0x0111,
    OP_REQ_DEVLIST = 0x8005, OP_REP_DEVLIST = 0x0005,
    OP_REQ_IMPORT = 0x8003, OP_REP_IMPORT = 0x0003,
    CMD_SUBMIT = 1, CMD_UNLINK = 2, RET_SUBMIT = 3, RET_UNLINK = 4,
    ST_OK = 0, ST_BUSY = 2, ST_NO_DEVICE = 4,
    SPEED_FULL = 2,
    URB_SHORT_NOT_OK = 1, URB_ZERO_PACKET = 0x40
};
enum {
    CONNECTIONS = 8,
    URBS_MAX = 1024,        /* in flight, of all clients */
    TRANSFER_MAX = 1 << 20, /* bytes of one */
    FLYING_MAX = 16 << 20,  /* bytes of all; usbfs has the same bound */
    WAITING_MAX = 1 << 20,  /* bytes that a client did not fetch, and is still heard */
    SOCKET = 256 << 10,     /* bytes that the kernel takes of these besides */
    MESSAGES = 256,         /* of a client at a time, so that the board goes on */
    HEAD = 8,
    BUSID = 32,
    PATH = 256,
    URB_HEADER = 48
};
static const char busid[] = "1-1", path[] = "/sys/devices/platform/ordeal-board/usb1/1-1";
enum { BUSNUM = 1, DEVNUM = 2, DEVID = BUSNUM << 16 | DEVNUM };

struct urb {
    struct usb_transfer transfer;    /* first: callbacks get it */
    struct board_usbip *server;      /* NULL: it is gone */
    struct connection *connection;   /* NULL: nobody wants to know */
    struct urb *next;
    uint32_t seqnum, unlink; /* unlink: number of the request to forget it */
    bool unlinked;           /* there is one */
    uint8_t data[];
};

struct connection {
    int fd;                          /* -1: free */
    bool imported, last;             /* last: closed when all is sent */
    uint8_t *in, *out;
    size_t have, room;               /* in `in` */
    size_t sent, end, out_room;      /* in `out` */
    size_t goal;                     /* as much of `out`, counted from `sent`, goes until `fetch` */
    uint64_t turn;                   /* it was the so manieth that came */
    double finish, fetch;            /* until then: what begins in `in` is whole, `goal` is gone */
};

struct board_usbip {
    struct usb_bus *bus;
    int fd;
    uint16_t port;
    uint32_t number;                 /* of the device that is imported */
    unsigned count;                  /* of urbs */
    size_t flying;                   /* their bytes */
    struct urb *urbs;
    struct connection connections[CONNECTIONS];
    uint64_t turns; /* connections that ever were */
    double (*now)(void);
    char why[160];
};

/* ---- bytes ------------------------------------------------------------------------------- */

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t get16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    *at++ = (uint8_t)(value >> 24);
    *at++ = (uint8_t)(value >> 16);
    *at++ = (uint8_t)(value >> 8);
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *put16(uint8_t *at, uint32_t value)
{
    *at++ = (uint8_t)(value >> 8);
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

static uint8_t *put_text(uint8_t *at, const char *text, size_t size)
{
    memset(at, 0, size);
    memcpy(at, text, strlen(text));
    return at + size;
}

/* ---- connections ------------------------------------------------------------------------- */

static void drop(struct board_usbip *s, struct connection *c)
{
    for (struct urb *u = s->urbs; u; u = u->next)
        if (u->connection == c) {
            u->connection = NULL;
            usb_bus_cancel(s->bus, &u->transfer);
        }
    close(c->fd);
    free(c->in);
    free(c->out);
    *c = (struct connection){ .fd = -1 };
}

__attribute__((format(printf, 3, 4)))
static void refuse(struct board_usbip *s, struct connection *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->why, sizeof s->why, format, arguments);
    va_end(arguments);
    drop(s, c);
}

static bool make_room(uint8_t **buffer, size_t *room, size_t wanted)
{
    if (wanted <= *room)
        return true;
    size_t more = wanted + wanted / 2;
    uint8_t *bytes = realloc(*buffer, more);
    if (!bytes)
        return false;
    *buffer = bytes;
    *room = more;
    return true;
}

static size_t waiting(const struct connection *c) { return c->end - c->sent; }

/* The next deadline: for all that waits now. What comes later has a later one, so that a client
 * that fetches slowly, but does, is not taken for one that does not. */
static void set_goal(const struct board_usbip *s, struct connection *c)
{
    c->goal = waiting(c);
    c->fetch = s->now() + BOARD_USBIP_PATIENCE;
}

static void went(const struct board_usbip *s, struct connection *c, size_t bytes)
{
    c->sent += bytes;
    c->goal -= bytes < c->goal ? bytes : c->goal;
    if (!c->goal)
        set_goal(s, c);
}

/* What is not sent at once waits. False: the connection is closed. */
static bool flush(struct board_usbip *s, struct connection *c)
{
    while (waiting(c)) {
        ssize_t n = send(c->fd, c->out + c->sent, waiting(c), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n < 0) {
            drop(s, c);
            return false;
        }
        went(s, c, (size_t)n);
    }
    c->sent = c->end = 0;
    if (c->out_room > WAITING_MAX) { /* it was needed once */
        free(c->out);
        c->out = NULL;
        c->out_room = 0;
    }
    if (c->last)
        drop(s, c);
    return !c->last && c->fd >= 0;
}

/* There is always room: nobody is heard who has WAITING_MAX to fetch, and what is under way then
 * has at most URBS_MAX answers with FLYING_MAX bytes. */
static void say(struct board_usbip *s, struct connection *c, const uint8_t *bytes, size_t length)
{
    if (c->fd < 0)
        return;
    if (c->sent && c->end + length > c->out_room) {
        memmove(c->out, c->out + c->sent, waiting(c));
        c->end -= c->sent;
        c->sent = 0;
    }
    if (!make_room(&c->out, &c->out_room, c->end + length)) {
        refuse(s, c, "out of memory");
        return;
    }
    bool first = !c->end;
    memcpy(c->out + c->end, bytes, length);
    c->end += length;
    if (first)
        set_goal(s, c);
}

/* ---- list and import --------------------------------------------------------------------- */

static bool device_ready(const struct board_usbip *s)
{
    return s->bus->state == USB_BUS_READY || s->bus->state == USB_BUS_AGAIN;
}

static uint8_t *put_head(uint8_t *at, uint32_t code, uint32_t status)
{
    at = put16(at, VERSION);
    at = put16(at, code);
    return put32(at, status);
}

/* Descriptors are little-endian, messages are not. */
static uint8_t *put_device(const struct usb_bus *b, uint8_t *at)
{
    const uint8_t *d = b->device;
    at = put_text(at, path, PATH);
    at = put_text(at, busid, BUSID);
    at = put32(at, BUSNUM);
    at = put32(at, DEVNUM);
    at = put32(at, SPEED_FULL);
    for (unsigned i = 8; i < 14; i += 2) /* vendor, product, release */
        at = put16(at, d[i] | (uint32_t)d[i + 1] << 8);
    at = put_bytes(at, d + 4, 3);    /* class, subclass, protocol */
    *at++ = b->config[5];
    *at++ = d[17];
    *at++ = b->config[4];
    return at;
}

/* As many as the configuration claims to have, whatever it has. */
static uint8_t *put_interfaces(const struct usb_bus *b, uint8_t *at)
{
    unsigned left = b->config[4];
    for (uint32_t i = 0; i + 2 <= b->config_length && b->config[i] >= 2; i += b->config[i]) {
        const uint8_t *d = b->config + i;
        if (left && d[1] == 4 && d[0] >= 9 && i + 9 <= b->config_length && d[3] == 0) {
            at = put_bytes(at, d + 5, 3);
            *at++ = 0;
            left--;
        }
    }
    memset(at, 0, 4 * left);
    return at + 4 * left;
}

static void list(struct board_usbip *s, struct connection *c)
{
    uint8_t message[HEAD + 4 + PATH + BUSID + 24 + 4 * 255], *at;
    at = put_head(message, OP_REP_DEVLIST, ST_OK);
    at = put32(at, device_ready(s));
    if (device_ready(s))
        at = put_interfaces(s->bus, put_device(s->bus, at));
    c->last = true;
    say(s, c, message, (size_t)(at - message));
}

static void import(struct board_usbip *s, struct connection *c, const uint8_t *wanted)
{
    uint8_t message[HEAD + PATH + BUSID + 24], *at;
    bool known = device_ready(s) && !memcmp(wanted, busid, sizeof busid);
    uint32_t status = !known ? ST_NO_DEVICE : board_usbip_attached(s) ? ST_BUSY : ST_OK;
    at = put_head(message, OP_REP_IMPORT, status);
    if (status == ST_OK) {
        at = put_device(s->bus, at);
        c->imported = true;
        s->number = s->bus->number;
    } else {
        c->last = true;
    }
    say(s, c, message, (size_t)(at - message));
}

/* ---- URBs -------------------------------------------------------------------------------- */

static void answer(struct board_usbip *s, struct connection *c, uint32_t command, uint32_t seqnum,
                   int status, uint32_t actual)
{
    uint8_t message[URB_HEADER] = { 0 };
    put32(message, command);
    put32(message + 4, seqnum);
    put32(message + 20, (uint32_t)status);
    if (command == RET_SUBMIT)
        put32(message + 24, actual);
    say(s, c, message, sizeof message);
}

static bool is_in(const struct usb_transfer *t)
{
    return t->endpoint & 15 ? t->endpoint & USB_ENDPOINT_IN : t->setup[0] & USB_ENDPOINT_IN;
}

static void urb_done(struct usb_transfer *t)
{
    struct urb *u = (struct urb *)t;
    struct board_usbip *s = u->server;
    struct connection *c = u->connection;
    if (s) {
        struct urb **link = &s->urbs;
        while (*link != u)
            link = &(*link)->next;
        *link = u->next;
        s->count--;
        s->flying -= t->length;
    }
    if (c && !(u->unlinked && t->status == USB_CANCELLED)) {
        answer(s, c, RET_SUBMIT, u->seqnum, usb_status_errno(t->status), t->actual);
        if (is_in(t))
            say(s, c, t->buffer, t->actual);
    }
    if (c && u->unlinked) /* 0: it was too late, and the answer went before */
        answer(s, c, RET_UNLINK, u->unlink, t->status == USB_CANCELLED ? -ECONNRESET : 0, 0);
    free(u);
}

/* Requests that are the host's own business: the device has its address, and the reset of a port is
 * told in the words of a hub (as Linux's stub driver has it). */
static bool special(struct board_usbip *s, const uint8_t *setup)
{
    bool address = setup[0] == 0 && setup[1] == 5;
    bool reset = setup[0] == 0x23 && setup[1] == 3 && setup[2] == 4 && setup[3] == 0;
    if (reset)
        usb_bus_reset(s->bus);
    return address || reset;
}

/* A whole CMD_SUBMIT is there. */
static void submit(struct board_usbip *s, struct connection *c, const uint8_t *message)
{
    uint32_t seqnum = get32(message + 4), in = get32(message + 12), endpoint = get32(message + 16);
    uint32_t flags = get32(message + 20), length = get32(message + 24);
    const uint8_t *setup = message + 40;
    if (endpoint == 0 && special(s, setup)) {
        answer(s, c, RET_SUBMIT, seqnum, 0, 0);
        return;
    }
    bool fits = s->count < URBS_MAX && length <= FLYING_MAX - s->flying;
    struct urb *u = fits ? calloc(1, sizeof *u + length) : NULL;
    if (!u) {
        answer(s, c, RET_SUBMIT, seqnum, -ENOMEM, 0);
        return;
    }
    struct usb_transfer *t = &u->transfer;
    *u = (struct urb){ .server = s, .connection = c, .next = s->urbs, .seqnum = seqnum };
    t->endpoint = (uint8_t)(endpoint | (endpoint && in ? USB_ENDPOINT_IN : 0));
    memcpy(t->setup, setup, sizeof t->setup);
    t->buffer = u->data;
    t->length = length;
    t->zero_packet = flags & URB_ZERO_PACKET;
    t->short_not_ok = flags & URB_SHORT_NOT_OK;
    t->complete = urb_done;
    if (!in)
        memcpy(u->data, message + URB_HEADER, length);
    if ((length && in != is_in(t)) || !usb_bus_submit(s->bus, t)) {
        free(u);
        answer(s, c, RET_SUBMIT, seqnum, device_ready(s) ? -EINVAL : -ESHUTDOWN, 0);
        return;
    }
    s->urbs = u;
    s->count++;
    s->flying += length;
}

static void unlink_urb(struct board_usbip *s, struct connection *c, const uint8_t *message)
{
    uint32_t seqnum = get32(message + 4), wanted = get32(message + 20);
    for (struct urb *u = s->urbs; u; u = u->next)
        if (u->connection == c && u->seqnum == wanted && !u->unlinked) {
            u->unlinked = true;
            u->unlink = seqnum;
            usb_bus_cancel(s->bus, &u->transfer);
            return;
        }
    answer(s, c, RET_UNLINK, seqnum, 0, 0); /* it has been answered */
}

/* ---- messages ---------------------------------------------------------------------------- */

/* How long the message is that begins with what is there: at least one byte more than that, if it
 * cannot be told yet. 0: it is none. */
static size_t message_length(const struct connection *c)
{
    const uint8_t *m = c->in;
    if (!c->imported) {
        if (c->have < HEAD)
            return HEAD;
        return get16(m) != VERSION ? 0
             : get16(m + 2) == OP_REQ_DEVLIST ? HEAD
             : get16(m + 2) == OP_REQ_IMPORT ? HEAD + BUSID : 0;
    }
    if (c->have < URB_HEADER)
        return URB_HEADER;
    if (get32(m) == CMD_UNLINK)
        return URB_HEADER;
    bool sane = get32(m) == CMD_SUBMIT && get32(m + 8) == DEVID && get32(m + 12) <= 1
             && get32(m + 16) <= 15 && get32(m + 24) <= TRANSFER_MAX;
    return !sane ? 0 : URB_HEADER + (get32(m + 12) ? 0 : get32(m + 24));
}

static void take_message(struct board_usbip *s, struct connection *c)
{
    if (c->imported && get32(c->in) == CMD_SUBMIT)
        submit(s, c, c->in);
    else if (c->imported)
        unlink_urb(s, c, c->in);
    else if (get16(c->in + 2) == OP_REQ_DEVLIST)
        list(s, c);
    else
        import(s, c, c->in + HEAD);
}

/* One that does not fetch its answers gets no more of them. */
static bool heard(const struct connection *c)
{
    return c->fd >= 0 && !c->last && waiting(c) < WAITING_MAX;
}

/* As much of a message as is there. False: no more is, now. */
static bool receive_part(struct board_usbip *s, struct connection *c, size_t wanted)
{
    if (!make_room(&c->in, &c->room, wanted)) {
        refuse(s, c, "out of memory");
        return false;
    }
    ssize_t n = recv(c->fd, c->in + c->have, wanted - c->have, 0);
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) {
        drop(s, c);
        return false;
    }
    if (c->have == 0 && c->imported)
        c->finish = s->now() + BOARD_USBIP_PATIENCE;
    c->have += (size_t)n;
    return true;
}

static void receive(struct board_usbip *s, struct connection *c)
{
    for (unsigned taken = 0; taken < MESSAGES && heard(c);) {
        size_t wanted = message_length(c);
        if (!wanted) {
            refuse(s, c, "a client said what is not usbip 1.1.1 for this device: %08x %08x",
                   (unsigned)get32(c->in), (unsigned)get32(c->in + 4));
            return;
        }
        if (c->have >= wanted) {
            take_message(s, c);
            c->have = 0;             /* no more than one message is ever read */
            taken++;
        } else if (!receive_part(s, c, wanted)) {
            return;
        }
    }
}

/* Of those who have not imported the device the one that came first makes place. */
static struct connection *find_place(struct board_usbip *s)
{
    struct connection *oldest = NULL;
    for (struct connection *c = s->connections; c < s->connections + CONNECTIONS; c++) {
        if (c->fd < 0)
            return c;
        if (!c->imported && (!oldest || c->turn < oldest->turn))
            oldest = c;
    }
    refuse(s, oldest, "more than %d connections", CONNECTIONS); /* only one can have imported */
    return oldest;
}

static void take_connection(struct board_usbip *s)
{
    int yes = 1, bytes = SOCKET, fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    struct connection *c = find_place(s);
    c->fd = fd;
    c->turn = ++s->turns;
    c->finish = s->now() + BOARD_USBIP_PATIENCE;
}

/* What has to happen until a deadline, and did not. */
static void look_at_the_clock(struct board_usbip *s)
{
    double now = s->now();
    for (struct connection *c = s->connections; c < s->connections + CONNECTIONS; c++) {
        if (c->fd < 0)
            continue;
        if (waiting(c) && now > c->fetch)
            refuse(s, c, "a client does not fetch what it asked for: %zu bytes wait", waiting(c));
        else if (heard(c) && (!c->imported || c->have) && now > c->finish)
            refuse(s, c, "a client did not finish its request within %d seconds",
                   BOARD_USBIP_PATIENCE);
    }
}

/* ---- for the loop ------------------------------------------------------------------------ */

static unsigned fill_poll(const struct board_usbip *s, struct pollfd *fds)
{
    unsigned count = 0;
    fds[count++] = (struct pollfd){ .fd = s->fd, .events = POLLIN };
    for (const struct connection *c = s->connections; c < s->connections + CONNECTIONS; c++)
        fds[count++] = (struct pollfd){
            .fd = c->fd, .events = (short)((heard(c) ? POLLIN : 0) | (waiting(c) ? POLLOUT : 0))
        };
    return count;
}

void board_usbip_poll(struct board_usbip *s)
{
    struct pollfd fds[1 + CONNECTIONS];
    for (struct connection *c = s->connections; c < s->connections + CONNECTIONS; c++)
        if (c->imported && (!device_ready(s) || s->bus->number != s->number) && flush(s, c))
            refuse(s, c, "the device was unplugged");
    look_at_the_clock(s);
    unsigned count = fill_poll(s, fds);
    if (poll(fds, count, 0) <= 0)
        return;
    for (unsigned i = 1; i < count; i++) {
        struct connection *c = &s->connections[i - 1];
        if (fds[i].revents & (POLLHUP | POLLERR))
            drop(s, c); /* nobody is there to answer */
        else if (fds[i].revents & POLLIN)
            receive(s, c);
        if (c->fd >= 0 && waiting(c))
            flush(s, c);
    }
    if (fds[0].revents)
        take_connection(s);
}

void board_usbip_wait(const struct board_usbip *s, int milliseconds)
{
    struct pollfd fds[1 + CONNECTIONS];
    poll(fds, fill_poll(s, fds), milliseconds);
}

bool board_usbip_attached(const struct board_usbip *s)
{
    for (const struct connection *c = s->connections; c < s->connections + CONNECTIONS; c++)
        if (c->imported)
            return true;
    return false;
}

uint16_t board_usbip_port(const struct board_usbip *s)
{
    return s->port;
}

void board_usbip_clock(struct board_usbip *s, double (*now)(void)) { s->now = now; }

const char *board_usbip_why(const struct board_usbip *s)
{
    return s->why;
}

struct board_usbip *board_usbip_new(struct usb_bus *bus, uint16_t port, char *why, size_t size)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
    socklen_t length = sizeof address;
    int yes = 1;
    struct board_usbip *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(why, size, "out of memory");
        return NULL;
    }
    s->bus = bus;
    s->now = monotonic_seconds;
    for (unsigned i = 0; i < CONNECTIONS; i++)
        s->connections[i].fd = -1;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes)
        || bind(s->fd, (struct sockaddr *)&address, sizeof address) || listen(s->fd, CONNECTIONS)
        || getsockname(s->fd, (struct sockaddr *)&address, &length)) {
        snprintf(why, size, "usbip on 127.0.0.1, port %d: %s", port, strerror(errno));
        if (s->fd >= 0)
            close(s->fd);
        free(s);
        return NULL;
    }
    s->port = ntohs(address.sin_port);
    return s;
}

void board_usbip_free(struct board_usbip *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < CONNECTIONS; i++)
        if (s->connections[i].fd >= 0)
            drop(s, &s->connections[i]);
    for (struct urb *u = s->urbs; u; u = u->next)
        u->server = NULL;
    close(s->fd);
    free(s);
}
