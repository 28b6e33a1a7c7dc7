/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz harnesses share: read the input; if it is a trace, every writer's output, twice in
 * one stream, reads back as the same trace. */
#ifndef ROUND_TRIP_H
#define ROUND_TRIP_H

#include <stdlib.h>
#include "same_trace.h"

enum { FUZZ_MEMORY = 256 << 20 };

static inline void read_back(struct ordeal *o, const struct ordeal_trace *t, char *bytes,
                             size_t length, enum ordeal_format format)
{
    FILE *f = fmemopen(bytes, length, "rb");
    struct ordeal_reader *r = ordeal_reader_new(o, f, "back", format);
    struct ordeal_trace *back;
    for (int i = 0; i < 2; i++) {
        if (ordeal_reader_next(r, &back) != ORDEAL_OK)
            abort();
        /* Axe has numbers for locations, and no other names. */
        if (format != ORDEAL_FORMAT_AXE && same_trace(t, back))
            abort();
        if (back->ops.count != t->ops.count)
            abort();
        ordeal_trace_free(back);
    }
    if (ordeal_reader_next(r, &back) != ORDEAL_END)
        abort();
    ordeal_reader_free(r);
    fclose(f);
}

static inline enum ordeal_status write_one(const struct ordeal_trace *t, FILE *f,
                                           enum ordeal_format format, bool compress)
{
    switch (format) {
    case ORDEAL_FORMAT_TEXT: return ordeal_write_text(t, f);
    case ORDEAL_FORMAT_AXE: return ordeal_write_axe(t, f);
    default: return ordeal_write_binary(t, f, compress);
    }
}

static inline void round_trip(struct ordeal *o, const struct ordeal_trace *t,
                              enum ordeal_format format)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&bytes, &length);
    enum ordeal_status status = write_one(t, f, format, false);
    if (status == ORDEAL_OK && format == ORDEAL_FORMAT_AXE && t->ops.count + t->finals.count)
        fputs("check\n", f); /* of an empty trace it is there already */
    if (status == ORDEAL_OK)
        status = write_one(t, f, format, true);
    fclose(f);
    if (status == ORDEAL_OK)
        read_back(o, t, bytes, length, format);
    else if (format != ORDEAL_FORMAT_AXE || status != ORDEAL_BAD_USAGE)
        abort();
    free(bytes);
}

static inline int fuzz_reader(const uint8_t *data, size_t size, enum ordeal_format format)
{
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_limits limits = { .bytes = FUZZ_MEMORY };
    ordeal_set_limits(o, &limits);
    FILE *f = fmemopen((void *)data, size, "rb");
    if (!f)
        return 0;
    struct ordeal_reader *r = ordeal_reader_new(o, f, "input", format);
    struct ordeal_trace *t;
    enum ordeal_status status;
    do {
        status = ordeal_reader_next(r, &t);
        if (status != ORDEAL_OK && status != ORDEAL_END && ordeal_last_error(o)->status != status)
            abort();
        if (t) {
            round_trip(o, t, ORDEAL_FORMAT_TEXT);
            round_trip(o, t, ORDEAL_FORMAT_BINARY);
            round_trip(o, t, ORDEAL_FORMAT_AXE);
        }
        ordeal_trace_free(t);
    } while (status == ORDEAL_OK);
    ordeal_reader_free(r);
    fclose(f);
    if (ordeal_memory_used(o) != 0)
        abort();
    ordeal_free(o);
    return 0;
}

#endif
