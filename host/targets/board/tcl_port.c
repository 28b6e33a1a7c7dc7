/* SPDX-License-Identifier: Apache-2.0 */
#include "tcl_port.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/list.h"

enum { END = 0x1a, SLICE_MS = 100, MOST_RESULT = 1 << 20 };
#define PATIENCE 120.0          /* seconds: a simulation behind OpenOCD is slow */

struct tcl_port {
    int socket;                 /* -1: it is of no use any more */
    char place[256];
    LIST(char) result;
};

static void *refuse(struct why *why, const struct tcl_port *t, const char *reason)
{
    why_say(why, "OpenOCD at %s: %s", t->place, reason);
    return NULL;
}

static bool connect_to(struct tcl_port *t, struct why *why)
{
    char host[256];
    const char *colon = strrchr(t->place, ':');
    struct addrinfo *found, hint = { .ai_socktype = SOCK_STREAM };
    if (!colon || colon == t->place || !colon[1])
        return refuse(why, t, "expected HOST:PORT");
    snprintf(host, sizeof host, "%.*s", (int)(colon - t->place), t->place);
    int error = getaddrinfo(host, colon + 1, &hint, &found);
    if (error)
        return refuse(why, t, gai_strerror(error));
    for (const struct addrinfo *a = found; a && t->socket < 0; a = a->ai_next) {
        t->socket = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (t->socket >= 0 && connect(t->socket, a->ai_addr, a->ai_addrlen) != 0) {
            error = errno;
            close(t->socket);
            t->socket = -1;
        }
    }
    freeaddrinfo(found);
    if (t->socket < 0) {
        char text[256];
        snprintf(text, sizeof text, "%s. Start it with 'openocd -f tcl/ordeal-ftdi.cfg', or for a "
                 "simulated board tcl/ordeal-sim.cfg", strerror(error));
        refuse(why, t, text);
    }
    return t->socket >= 0;
}

struct tcl_port *tcl_open(const char *place, struct why *why)
{
    struct tcl_port *t = calloc(1, sizeof *t);
    if (!t) {
        why_say(why, "out of memory");
        return NULL;
    }
    t->socket = -1;
    snprintf(t->place, sizeof t->place, "%s", place);
    if (connect_to(t, why))
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

/* Waits until it can be read or written. */
static bool ready(struct tcl_port *t, short what, double until, struct why *why)
{
    struct pollfd p = { .fd = t->socket, .events = what };
    for (;;) {
        int n = poll(&p, 1, SLICE_MS);
        if (n > 0)
            return true;
        if (interrupted())
            return refuse(why, t, "interrupted");
        if (n < 0 && errno != EINTR)
            return refuse(why, t, strerror(errno));
        if (now_seconds() > until)
            return refuse(why, t, "it does not answer");
    }
}

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
        if (n < 0 && errno != EINTR)
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
        if (n < 0 && errno != EINTR)
            return refuse(why, t, failure());
        for (ssize_t i = 0; i < n; i++) {
            char c = part[i] == END ? '\0' : part[i];
            if (t->result.count >= MOST_RESULT || !LIST_PUSH(&t->result, c))
                return refuse(why, t, "it answers without an end");
            if (part[i] == END)
                return true;
        }
    }
}

/* The port does not tell errors from results, so the command does. */
const char *tcl_ask(struct tcl_port *t, const char *command, struct why *why)
{
    static const char before[] = "if {[catch {";
    static const char after[] = "} r]} {set r \"ERROR $r\"} else {set r \"OK $r\"}\x1a";
    double until = now_seconds() + PATIENCE;
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
    return refuse(why, t, strncmp(t->result.data, "ERROR ", 6) == 0 ? t->result.data + 6
                                                                   : t->result.data);
}
