/* SPDX-License-Identifier: Apache-2.0 */
#include "gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

bool gate_open(struct gate *g, unsigned port, struct why *why)
{
    unsigned char bytes[GATE_TOKEN / 2];
    *g = (struct gate){ .port = port };
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return why_say(why, "no random bytes for a token: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(g->token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* Takes as long wherever the first difference is. */
static bool is_token(const struct gate *g, const char *text, size_t length)
{
    unsigned differs = 0;
    if (length != GATE_TOKEN)
        return false;
    for (size_t i = 0; i < GATE_TOKEN; i++)
        differs |= (unsigned char)text[i] ^ (unsigned char)g->token[i];
    return differs == 0;
}

static bool is_here(const struct gate *g, const char *text, const char *scheme)
{
    static const char *const names[] = { "127.0.0.1", "localhost" };
    char expected[64];
    for (size_t i = 0; text && i < sizeof names / sizeof *names; i++) {
        snprintf(expected, sizeof expected, "%s%s:%u", scheme, names[i], g->port);
        if (strcmp(text, expected) == 0)
            return true;
    }
    return false;
}

bool gate_number(const char *page, const char *prefix, int64_t *number)
{
    size_t length = strlen(prefix);
    if (strncmp(page, prefix, length) != 0)
        return false;
    size_t digits = strspn(page + length, "0123456789");
    errno = 0;
    *number = strtoll(page + length, NULL, 10);
    return digits >= 1 && !page[length + digits] && errno == 0;
}

static bool is_page(const char *name)
{
    int64_t number;
    return strcmp(name, "index") == 0 || gate_number(name, "bucket-", &number)
        || gate_number(name, "failure-", &number);
}

/* "" is the first page. */
static bool find_page(const char *name, char page[SITE_NAME])
{
    static const char end[] = ".html";
    size_t length = strlen(name), tail = sizeof end - 1;
    if (!*name)
        return snprintf(page, SITE_NAME, "index") > 0;
    if (length <= tail || length - tail >= SITE_NAME || strcmp(name + length - tail, end) != 0)
        return false;
    snprintf(page, SITE_NAME, "%.*s", (int)(length - tail), name);
    return is_page(page);
}

static unsigned find_way(const char *name, struct gate_passed *to)
{
    if (strcmp(name, "what-if") == 0)
        to->way = GATE_WHAT_IF;
    else if (strcmp(name, "live.json") == 0)
        to->way = GATE_LIVE;
    else if (find_page(name, to->page))
        to->way = GATE_PAGE;
    else
        return 404;
    return 0;
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    size_t length = sizeof json - 1;
    return type && strncasecmp(type, json, length) == 0 && (!type[length] || type[length] == ';');
}

unsigned gate_refuses(const struct gate *g, const struct gate_request *r, struct gate_passed *to)
{
    bool post = strcmp(r->method, "POST") == 0;
    *to = (struct gate_passed){ 0 };
    if (!is_here(g, r->host, ""))
        return 403;
    if (!post && strcmp(r->method, "GET") != 0)
        return 405;
    if (r->path[0] != '/' || !is_token(g, r->path + 1, strcspn(r->path + 1, "/"))
        || r->path[1 + GATE_TOKEN] != '/')
        return 403;
    unsigned status = r->query ? 404 : find_way(r->path + 2 + GATE_TOKEN, to);
    if (status)
        return status;
    if (post != (to->way == GATE_WHAT_IF))
        return 405;
    if (post && !is_here(g, r->origin, "http://"))
        return 403;
    return post && !is_json(r->type) ? 415 : 0;
}
