/* SPDX-License-Identifier: Apache-2.0 */
/* Who is let in, and to what. The server listens on loopback, where pages of strangers that a
 * browser shows, and other people with an account, can send requests, too: a request must know
 * the token, which is in the address alone, must be meant for this server (Host, against
 * rebinding of names), and a question must come from a page of this server (Origin). What is
 * asked for is one of a few names, never a path. */
#ifndef HOST_GATE_H
#define HOST_GATE_H

#include <stdbool.h>

#include "base/why.h"
#include "report/site.h"

enum { GATE_TOKEN = 32 };

struct gate {
    char token[GATE_TOKEN + 1];
    unsigned port;
};

/* With a new token. False: `why`. */
bool gate_open(struct gate *g, unsigned port, struct why *why);

/* As it came; NULL where the header is missing. */
struct gate_request {
    const char *method, *path; /* the path as sent: nothing is decoded */
    const char *host, *origin, *type;
    bool query; /* there is something behind a '?' */
};

enum gate_way { GATE_PAGE, GATE_LIVE, GATE_WHAT_IF };

struct gate_passed {
    enum gate_way way;
    char page[SITE_NAME]; /* "index", "bucket-N" or "failure-N" */
};

/* 0: it is let in, and `to` says to what; else the status by which it is refused. */
unsigned gate_refuses(const struct gate *g, const struct gate_request *r, struct gate_passed *to);

/* The number of a page "PREFIXnumber", from 0 to 10^15 - 1; false: it is not such a page. */
bool gate_number(const char *page, const char *prefix, int64_t *number);

#endif
