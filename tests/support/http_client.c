/* SPDX-License-Identifier: Apache-2.0 */
#include "http_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int http_connect(unsigned port)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s >= 0 && connect(s, (struct sockaddr *)&to, sizeof to) == 0)
        return s;
    if (s >= 0)
        close(s);
    return -1;
}

void http_send(int connection, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(connection, text, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return;
        text += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

char *http_receive(int connection, double seconds)
{
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room);
    double until = now() + seconds;
    ssize_t got = 1;
    while (text && got > 0 && now() < until) {
        struct pollfd come = { .fd = connection, .events = POLLIN };
        if (poll(&come, 1, 100) <= 0)
            continue;
        if (room - size < 2 && !(text = realloc(text, room *= 2)))
            break;
        got = recv(connection, text + size, room - size - 1, 0);
        size += got > 0 ? (size_t)got : 0;
    }
    close(connection);
    if (!text)
        abort();
    text[size] = '\0';
    return text;
}

char *http_exchange(unsigned port, const char *text, size_t size)
{
    int connection = http_connect(port);
    if (connection < 0)
        return strdup("");
    http_send(connection, text, size);
    return http_receive(connection, 300);
}

unsigned http_status(const char *answer)
{
    unsigned status = 0;
    return sscanf(answer, "HTTP/1.1 %u ", &status) == 1 ? status : 0;
}

const char *http_body(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");
    return end ? end + 4 : "";
}
