/* SPDX-License-Identifier: Apache-2.0 */
/* Events of an execution that is followed. Where nobody follows (s->recorder is NULL), all of these
 * do nothing. */
#ifndef PROGRAM_RECORD_H
#define PROGRAM_RECORD_H

#include "buffers.h"

struct event_recorder {
    struct event_list list;
    size_t capacity;
    uint32_t step;
    bool forwarded; /* the load that is going on was */
    bool failed;    /* no memory */
    bool brief;     /* nobody wants to know the callers, which cost most */
};

uint32_t record_next(const struct state *s); /* the number of the next event */
/* Adds an event of the thread at its pc; NULL: nobody wants it. */
struct program_event *record_event(struct state *s, enum event_kind kind, uint32_t thread);
struct program_event *record_accessed(struct state *s, enum event_kind kind, const struct access *a,
                                      uint32_t read, uint32_t written);
static inline struct program_event *record(struct state *s, enum event_kind kind, uint32_t thread)
{
    return s->recorder ? record_event(s, kind, thread) : NULL;
}
static inline struct program_event *record_access(struct state *s, enum event_kind kind,
                                                  const struct access *a, uint32_t read,
                                                  uint32_t written)
{
    return s->recorder ? record_accessed(s, kind, a, read, written) : NULL;
}
/* Where the functions that a thread is in go on, innermost first; how many. */
uint32_t thread_callers(const struct state *s, uint32_t thread, uint32_t *caller, uint32_t most);
void record_forwarded(struct state *s);
void record_commit(struct state *s, uint32_t thread, const struct buffer_entry *e);
void record_drop(struct state *s, uint32_t thread, const struct buffer_entry *e);
void record_text(struct state *s, struct program_event *e, const char *text);

#endif
