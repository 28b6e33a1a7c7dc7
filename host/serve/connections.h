/* SPDX-License-Identifier: Apache-2.0 */
/* Who is connected since when. A connection is for one request: who takes too long to ask, or to
 * take the answer, is cut off, so that slow clients cannot occupy all places. While an answer is
 * made nobody is blamed. */
#ifndef HOST_CONNECTIONS_H
#define HOST_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>

enum { CONNECTIONS = 32 };

struct connection {
    int socket;   /* -1: the place is free */
    double since; /* below 0: it waits for us */
};

struct connections {
    pthread_mutex_t lock;
    struct connection all[CONNECTIONS];
};

void connections_open(struct connections *c);
void connections_close(struct connections *c);
/* NULL: all places are taken. */
struct connection *connections_add(struct connections *c, int socket);
void connections_remove(struct connections *c, struct connection *one);
/* Whose turn it is. */
void connections_wait_for_us(struct connections *c, struct connection *one, bool us);
/* Cuts off who has had its turn for longer. */
void connections_sweep(struct connections *c, double seconds);

#endif
