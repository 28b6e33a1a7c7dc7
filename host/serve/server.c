/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "connections.h"

enum { HEADER_BYTES = 16 << 10, IDLE = 10, QUEUE = 10 };
static const size_t check_memory = (size_t)512 << 20;

/* Graphviz is for one thread at a time; without sanitizers it has a process of its own
 * (base/apart.h). */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { CHECKS = 1 };
#else
enum { CHECKS = 4 };
#endif

struct server {
    struct source *source;
    struct gate gate;
    struct ordeal_limits limits;
    struct connections connections;
    sem_t checks; /* places for work that takes long */
};

/* A request that comes in. */
struct incoming {
    struct gate_passed to;
    unsigned refused; /* 0: not so far */
    size_t size;
    char *body;
};

/* ---- answers --------------------------------------------------------------------------------- */

static const char plain[] = "text/plain; charset=utf-8", page[] = "text/html; charset=utf-8",
                  json[] = "application/json";

static const struct {
    const char *name, *value;
} headers[] = {
    { "Content-Security-Policy", source_policy },
    { "X-Content-Type-Options", "nosniff" },
    { "X-Frame-Options", "DENY" },
    { "Referrer-Policy", "no-referrer" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cache-Control", "no-store" },
    { "Connection", "close" },
};

/* Takes the text. */
static enum MHD_Result send_text(struct MHD_Connection *c, unsigned status, const char *type,
                                 char *text, size_t size)
{
    struct MHD_Response *r = text
                               ? MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE)
                               : NULL;
    if (!r) {
        free(text);
        return MHD_NO;
    }
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(r, headers[i].name, headers[i].value);
    MHD_add_response_header(r, "Content-Type", type);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, "Allow", "GET, POST");
    enum MHD_Result sent = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return sent;
}

static const struct {
    unsigned status;
    const char *words;
} refusals[] = {
    { 400, "this is no question" },
    { 403, "the address is the one that 'ordeal serve' printed, with its token" },
    { 404, "there is no such page" },
    { 405, "there are pages to GET, and one question to POST" },
    { 413, "the question is too long" },
    { 415, "a question is application/json" },
    { 503, "too much is asked at a time; ask again" },
};

/* `words`: more than what the status says, or NULL. */
static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status, const char *words)
{
    char *text = NULL;
    for (size_t i = 0; !words && i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].status == status)
            words = refusals[i].words;
    int size = asprintf(&text, "%u: %s\n", status, words ? words : "it failed");
    return size < 0 ? MHD_NO : send_text(c, status, plain, text, (size_t)size);
}

/* ---- what takes long: so many at a time ------------------------------------------------------ */

/* Nobody is there any more who would take the answer. */
static bool has_gone(struct MHD_Connection *c)
{
    char byte;
    int socket = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static bool take_place(struct server *s)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return sem_timedwait(&s->checks, &until) == 0;
}

/* False: there was no place for it in time, or it is in vain. */
static bool begin_work(struct server *s, struct MHD_Connection *c)
{
    double until = now_seconds() + QUEUE;
    while (!interrupted() && !has_gone(c) && now_seconds() < until) {
        if (!take_place(s))
            continue;
        if (!has_gone(c))
            return true;
        sem_post(&s->checks);
    }
    return false;
}

static enum MHD_Result send_page(struct server *s, struct MHD_Connection *c,
                                 const struct incoming *in)
{
    struct why why;
    size_t size;
    if (!begin_work(s, c))
        return refuse(c, 503, NULL);
    char *text = source_page(s->source, in->to.page, &size, &why);
    sem_post(&s->checks);
    if (text)
        return send_text(c, 200, page, text, size);
    return refuse(c, why.text[0] ? 500 : 404, why.text[0] ? why.text : NULL);
}

static enum MHD_Result send_live(struct server *s, struct MHD_Connection *c)
{
    struct why why;
    if (s->source->kind != SUBJECT_DATABASE)
        return refuse(c, 404, NULL);
    char *text = live_answer(&s->source->live, &why);
    return text ? send_text(c, 200, json, text, strlen(text)) : refuse(c, 500, why.text);
}

static enum MHD_Result send_what_if(struct server *s, struct MHD_Connection *c,
                                    const struct incoming *in)
{
    static const unsigned statuses[] = { [WHAT_IF_BAD] = 400, [WHAT_IF_GONE] = 404 };
    const struct what_if_source source = { source_trace, s->source };
    struct what_if question;
    struct why why;
    size_t size;
    if (!begin_work(s, c))
        return refuse(c, 503, NULL);
    enum what_if_read is = what_if_read(&question, in->body ? in->body : "", in->size, &source,
                                        &why);
    char *text = is == WHAT_IF_GOOD ? what_if_answer_apart(&question, &s->limits, &size) : NULL;
    what_if_free(&question);
    sem_post(&s->checks);
    if (is != WHAT_IF_GOOD)
        return refuse(c, statuses[is], why.text);
    return text ? send_text(c, 200, json, text, size)
                : refuse(c, 500, "the answer is too long, or memory is out");
}

static enum MHD_Result answer(struct server *s, struct MHD_Connection *c, const struct incoming *in)
{
    if (in->refused)
        return refuse(c, in->refused, NULL);
    switch (in->to.way) {
    case GATE_WHAT_IF: return send_what_if(s, c, in);
    case GATE_LIVE: return send_live(s, c);
    default: return send_page(s, c, in);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

struct headers_seen {
    const char *host, *origin, *type, *length;
    unsigned hosts;
};

static enum MHD_Result see_header(void *user, enum MHD_ValueKind kind, const char *key,
                                  const char *value)
{
    struct headers_seen *seen = user;
    (void)kind;
    if (strcasecmp(key, "Host") == 0)
        seen->host = value, seen->hosts++;
    else if (strcasecmp(key, "Origin") == 0)
        seen->origin = value;
    else if (strcasecmp(key, "Content-Type") == 0)
        seen->type = value;
    else if (strcasecmp(key, "Content-Length") == 0)
        seen->length = value;
    return MHD_YES;
}

static struct incoming *meet(struct server *s, struct MHD_Connection *c, const char *path,
                             const char *method)
{
    struct headers_seen seen = { 0 };
    struct incoming *in = calloc(1, sizeof *in);
    if (!in)
        return NULL;
    MHD_get_connection_values(c, MHD_HEADER_KIND, see_header, &seen);
    struct gate_request request = {
        .method = method,
        .path = path,
        .origin = seen.origin,
        .type = seen.type,
        .host = seen.hosts == 1 ? seen.host : NULL,
        .query = MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, NULL, NULL) != 0,
    };
    in->refused = gate_refuses(&s->gate, &request, &in->to);
    if (!in->refused && seen.length && strtoull(seen.length, NULL, 10) > WHAT_IF_BYTES)
        in->refused = 413;
    return in;
}

/* What is too long is not kept; that is told when its end has come. */
static void take_body(struct incoming *in, const char *data, size_t size)
{
    char *grown = NULL;
    if (!in->refused && in->to.way == GATE_WHAT_IF && in->size + size <= WHAT_IF_BYTES)
        grown = realloc(in->body, in->size + size);
    if (!grown) {
        in->refused = in->refused ? in->refused : 413;
        return;
    }
    memcpy(grown + in->size, data, size);
    in->body = grown;
    in->size += size;
}

static struct connection *connection_of(struct MHD_Connection *c)
{
    return MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static enum MHD_Result handle(void *user, struct MHD_Connection *c, const char *path,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **state)
{
    struct server *s = user;
    struct connection *one = connection_of(c);
    (void)version;
    if (!one)
        return MHD_NO;
    if (!*state) {
        struct incoming *in = meet(s, c, path, method);
        *state = in;
        return !in ? MHD_NO : in->refused ? refuse(c, in->refused, NULL) : MHD_YES;
    }
    if (*size) {
        take_body(*state, data, *size);
        *size = 0;
        return MHD_YES;
    }
    connections_wait_for_us(&s->connections, one, true);
    enum MHD_Result sent = answer(s, c, *state);
    connections_wait_for_us(&s->connections, one, false);
    return sent;
}

static void forget(void *user, struct MHD_Connection *c, void **state,
                   enum MHD_RequestTerminationCode how)
{
    struct incoming *in = *state;
    (void)user, (void)c, (void)how;
    if (in)
        free(in->body);
    free(in);
    *state = NULL;
}

static void notice(void *user, struct MHD_Connection *c, void **context,
                   enum MHD_ConnectionNotificationCode what)
{
    struct server *s = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *context = connections_add(&s->connections,
                                   MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)
                                       ->connect_fd);
    else if (*context)
        connections_remove(&s->connections, *context);
}

/* Nothing is decoded: a name that needs it is none of ours. */
static size_t leave_encoded(void *user, struct MHD_Connection *c, char *text)
{
    (void)user, (void)c;
    return strlen(text);
}

/* ---- the server ------------------------------------------------------------------------------ */

static int listen_on(unsigned *port, struct why *why)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)*port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int on = 1, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s >= 0)
        setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (s < 0 || bind(s, (struct sockaddr *)&address, sizeof address) != 0
        || listen(s, CONNECTIONS) != 0 || getsockname(s, (struct sockaddr *)&address, &size) != 0) {
        why_say(why, "127.0.0.1:%u: %s", *port, strerror(errno));
        if (s >= 0)
            close(s);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return s;
}

/* By select(): when all places are taken, others wait to be let in; by poll() they would be turned away
 * without an answer. */
static struct MHD_Daemon *start(struct server *s, int listening)
{
    return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION
                                | MHD_USE_ITC,
                            0, NULL, NULL, handle, s, MHD_OPTION_LISTEN_SOCKET, listening,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
                            MHD_OPTION_NOTIFY_COMPLETED, forget, NULL, MHD_OPTION_NOTIFY_CONNECTION,
                            notice, s, MHD_OPTION_UNESCAPE_CALLBACK, leave_encoded, NULL,
                            MHD_OPTION_END);
}

bool server_run(struct source *source, const struct server_plan *plan, struct why *why)
{
    struct server s = { .source = source,
                        .limits = { .seconds = plan->seconds, .bytes = check_memory } };
    unsigned port = plan->port;
    int listening = listen_on(&port, why);
    if (listening < 0)
        return false;
    connections_open(&s.connections);
    sem_init(&s.checks, 0, CHECKS);
    struct MHD_Daemon *daemon = gate_open(&s.gate, port, why) ? start(&s, listening) : NULL;
    if (daemon) {
        plan->ready(&s.gate);
        for (; !interrupted(); pause_for(0.2))
            connections_sweep(&s.connections, plan->patience);
        MHD_stop_daemon(daemon); /* closes the socket, too */
    } else {
        close(listening);
        if (s.gate.token[0])
            why_say(why, "the server cannot be started: %s", strerror(errno));
    }
    sem_destroy(&s.checks);
    connections_close(&s.connections);
    return daemon != NULL;
}
