/* SPDX-License-Identifier: Apache-2.0 */
/* A client that says what it is told, byte by byte, right or wrong, to a port of this computer. */
#ifndef SUPPORT_HTTP_CLIENT_H
#define SUPPORT_HTTP_CLIENT_H

#include <stddef.h>

/* A connection, or -1. */
int http_connect(unsigned port);
/* Sends all of it; what cannot be sent any more is left. */
void http_send(int connection, const char *text, size_t size);
/* All that comes until the other end closes, as text, for the caller to free; `seconds` at most.
 * Closes. Never NULL. */
char *http_receive(int connection, double seconds);
/* The three in turn. */
char *http_exchange(unsigned port, const char *text, size_t size);
/* The status of an answer; 0: there is none. */
unsigned http_status(const char *answer);
/* Behind the headers; "" if there are none. */
const char *http_body(const char *answer);

#endif
