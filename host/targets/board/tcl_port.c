/* SPDX-License-Identifier: Apache-2.0 */
#include "tcl_port.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/interrupt.h"
#include "base/list.h"

enum { END = 0x1a, SLICE_MS = 100, MOST_RESULT = 1 << 20, MOST_SHOWN = 600 };
#define PATIENCE 120.0          /* seconds: a simulation behind OpenOCD is slow */

struct tcl_port {
    int socket;                 /* -1: it is of no use any more */
    double patience;            /* seconds for a command and its result */
    char place[256];
    LIST(char) result;
};

static void *refuse(struct why *why, const struct tcl_port *t, const char *reason)
{
    why_say(why, "OpenOCD at %s: %s", t->place, reason);
    return NULL;
}

/* Waits until it can be read or written. Bytes that trickle in do not move the deadline. */
static bool ready(struct tcl_port *t, short what, double until, struct why *why)
{
    struct pollfd p = { .fd = t->socket, .events = what };
    for (;;) {
        char late[64];
        int n = poll(&p, 1, SLICE_MS);
        if (interrupted())
            return refuse(why, t, "interrupted");
        if (n < 0 && errno != EINTR)
            return refuse(why, t, strerror(errno));
        snprintf(late, sizeof late, "no answer within %g s", t->patience);
        if (now_seconds() > until)
            return refuse(why, t, late);
        if (n > 0)
            return true;
    }
}

/* One of the addresses. 0: connected; else errno, or -1 if `why` has been said. */
static int try_address(struct tcl_port *t, const struct addrinfo *a, double until, struct why *why)
{
    int error = 0;
    socklen_t size = sizeof error;
    t->socket = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    if (t->socket < 0)
        return errno;
    if (connect(t->socket, a->ai_addr, a->ai_addrlen) != 0)
        error = errno;
    if (error == EINPROGRESS)
        error = !ready(t, POLLOUT, until, why)                                  ? -1
              : getsockopt(t->socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0 ? errno
                                                                                : error;
    if (error) {
        close(t->socket);
        t->socket = -1;
    }
    return error;
}

static bool connect_to(struct tcl_port *t, struct why *why)
{
    char host[256];
    double until = now_seconds() + t->patience;
    const char *colon = strrchr(t->place, ':');
    struct addrinfo *found, hint = { .ai_socktype = SOCK_STREAM };
    if (!colon || colon == t->place || !colon[1])
        return refuse(why, t, "expected HOST:PORT");
    snprintf(host, sizeof host, "%.*s", (int)(colon - t->place), t->place);
    int error = getaddrinfo(host, colon + 1, &hint, &found);
    if (error)
        return refuse(why, t, gai_strerror(error));
    for (const struct addrinfo *a = found; a && t->socket < 0 && error >= 0; a = a->ai_next)
        error = try_address(t, a, until, why);
    freeaddrinfo(found);
    if (t->socket < 0 && error > 0) {
        char text[256];
        snprintf(text, sizeof text, "%s. Start it with 'openocd -f tcl/ordeal-ftdi.cfg', or for a "
                 "simulated board tcl/ordeal-sim.cfg", strerror(error));
        refuse(why, t, text);
    }
    return t->socket >= 0;
}

static struct tcl_port *new_port(int socket, const char *place, double patience, struct why *why)
{
    struct tcl_port *t = calloc(1, sizeof *t);
    if (!t) {
        why_say(why, "out of memory");
        return NULL;
    }
    t->socket = socket;
    t->patience = patience > 0 && patience < PATIENCE ? patience : PATIENCE;
    snprintf(t->place, sizeof t->place, "%s", place);
    return t;
}

struct tcl_port *tcl_adopt(int socket, double patience, struct why *why)
{
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
    return new_port(socket, "the other end", patience, why);
}

struct tcl_port *tcl_open(const char *place, double patience, struct why *why)
{
    struct tcl_port *t = new_port(-1, place, patience, why);
    if (!t || connect_to(t, why))
        return t;
    tcl_close(t);
    return NULL;
}

void tcl_close(struct tcl_port *t)
{
    if (!t)
        return;
    if (t->socket >= 0)
        close(t->socket);
    LIST_FREE(&t->result);
    free(t);
}

static bool not_yet(ssize_t n) { return n < 0 && (errno == EINTR || errno == EAGAIN); }

static const char *failure(void)
{
    return errno == EPIPE || errno == ECONNRESET ? "it has gone" : strerror(errno);
}

static bool send_all(struct tcl_port *t, const char *bytes, size_t count, double until,
                     struct why *why)
{
    while (count) {
        if (!ready(t, POLLOUT, until, why))
            return false;
        ssize_t n = send(t->socket, bytes, count, MSG_NOSIGNAL);
        if (n < 0 && !not_yet(n))
            return refuse(why, t, failure());
        bytes += n > 0 ? n : 0;
        count -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool receive_all(struct tcl_port *t, double until, struct why *why)
{
    t->result.count = 0;
    for (;;) {
        char part[4096];
        if (!ready(t, POLLIN, until, why))
            return false;
        ssize_t n = recv(t->socket, part, sizeof part, 0);
        if (n == 0)
            return refuse(why, t, "it has gone");
        if (n < 0 && !not_yet(n))
            return refuse(why, t, failure());
        for (ssize_t i = 0; i < n; i++) {
            char c = part[i] == END ? '\0' : part[i];
            if (t->result.count >= MOST_RESULT || !LIST_PUSH(&t->result, c))
                return refuse(why, t, "more than a megabyte of an answer, and no end");
            if (part[i] == END)
                return i + 1 == n || refuse(why, t, "it says more than it was asked");
        }
    }
}

/* What it says of a failed command, or instead of a result. */
static const char *complaint(struct tcl_port *t, struct why *why)
{
    const char *text = t->result.data;
    char shown[MOST_SHOWN];
    if (!*text)
        return refuse(why, t, "an empty answer; is it OpenOCD's Tcl port?");
    escape_text(shown, sizeof shown, strncmp(text, "ERROR ", 6) == 0 ? text + 6 : text);
    return refuse(why, t, shown);
}

/* The port does not tell errors from results, so the command does. */
const char *tcl_ask(struct tcl_port *t, const char *command, struct why *why)
{
    static const char before[] = "if {[catch {";
    static const char after[] = "} r]} {set r \"ERROR $r\"} else {set r \"OK $r\"}\x1a";
    double until = now_seconds() + t->patience;
    if (t->socket < 0)
        return refuse(why, t, "it has gone");
    if (!send_all(t, before, sizeof before - 1, until, why)
        || !send_all(t, command, strlen(command), until, why)
        || !send_all(t, after, sizeof after - 1, until, why) || !receive_all(t, until, why)) {
        close(t->socket);
        t->socket = -1;
        return NULL;
    }
    if (strncmp(t->result.data, "OK ", 3) == 0)
        return t->result.data + 3;
    return complaint(t, why);
}
