/* SPDX-License-Identifier: Apache-2.0 */
#include "connections.h"

#include <stddef.h>
#include <sys/socket.h>

#include "base/clock.h"

void connections_open(struct connections *c)
{
    pthread_mutex_init(&c->lock, NULL);
    for (int i = 0; i < CONNECTIONS; i++)
        c->all[i].socket = -1;
}

void connections_close(struct connections *c) { pthread_mutex_destroy(&c->lock); }

struct connection *connections_add(struct connections *c, int socket)
{
    struct connection *free_one = NULL;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < CONNECTIONS && !free_one; i++)
        if (c->all[i].socket < 0)
            free_one = &c->all[i];
    if (free_one)
        *free_one = (struct connection){ .socket = socket, .since = now_seconds() };
    pthread_mutex_unlock(&c->lock);
    return free_one;
}

void connections_remove(struct connections *c, struct connection *one)
{
    pthread_mutex_lock(&c->lock);
    one->socket = -1;
    pthread_mutex_unlock(&c->lock);
}

void connections_wait_for_us(struct connections *c, struct connection *one, bool us)
{
    pthread_mutex_lock(&c->lock);
    one->since = us ? -1 : now_seconds();
    pthread_mutex_unlock(&c->lock);
}

void connections_sweep(struct connections *c, double seconds)
{
    double now = now_seconds();
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < CONNECTIONS; i++)
        if (c->all[i].socket >= 0 && c->all[i].since >= 0 && now - c->all[i].since > seconds)
            shutdown(c->all[i].socket, SHUT_RDWR);
    pthread_mutex_unlock(&c->lock);
}
