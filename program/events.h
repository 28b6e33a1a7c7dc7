/* SPDX-License-Identifier: Apache-2.0 */
/* What happened in one execution of a program, step by step: what counterexamples, traces, pictures
 * and replays are made of. Made by following a path again; the search itself keeps none. */
#ifndef PROGRAM_EVENTS_H
#define PROGRAM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a call reads and writes of the program's memory (the number of a new thread, the value of a
 * joined one, a mutex's word as an ATOMIC, text of FORMAT) are events of their own, after its CALL. */
enum event_kind {
    EVENT_LOAD,  /* read; `source` says from where */
    EVENT_STORE, /* written: into the buffer, or at once where there is none */
    EVENT_ATOMIC, /* read and written at once (an AMO, an LR with its SC, a CAS that failed: no write) */
    EVENT_FENCE,  /* `fence` as in struct instruction */
    EVENT_COMMIT, /* a buffered store reaches memory; `written` is its value, `cause` the store */
    EVENT_DROP,   /* a buffered store never will: its memory was freed or its frame left; `cause` */
    EVENT_CALL, /* a call of calls.def: `call`, its arguments in `argument`, its result in `read` */
    EVENT_PRINT,  /* `text` */
    EVENT_CREATE, /* thread `other` begins */
    EVENT_JOIN,   /* thread `other` has ended, and this one knows */
    EVENT_BLOCK,  /* waits: `text` says for what */
    EVENT_EXIT,
    EVENT_CHOICE, /* a value was drawn: `read` */
    EVENT_ERROR,  /* what the counterexample is about: `text` */
    EVENT_KINDS
};

enum { EVENT_CALLERS = 8 };

struct program_event {
    uint8_t kind, size, fence, call;
    bool private_access; /* to memory that no other thread can reach: never buffered */
    bool forwarded;      /* of a load: at least one byte came from the own buffer */
    bool buffered; /* of a store: it went into the buffer, and has a COMMIT or a DROP later on,
                             or waits there at the end */
    bool wrote;    /* of an ATOMIC: something was (a CAS that failed only reads) */
    uint32_t thread, other;
    uint32_t step; /* of the path, from 0 */
    uint32_t pc, address;
    uint32_t read, written;
    uint32_t frame; /* frame base of the running function, for image_local_at; 0: unknown */
    uint32_t
        caller[EVENT_CALLERS]; /* where the functions that are running go on, innermost first; 0
                                       ends them: accesses of C++ and calls lie in headers and the
                                       run-time, and people want to see their own line */
    uint32_t cause;            /* of a COMMIT or DROP: the number of its EVENT_STORE in the list */
    uint32_t argument[4];
    const char *text; /* lives as long as the list */
};

struct event_list {
    struct program_event *event;
    size_t count;
};

#endif
