/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the readers: traces from and to bytes, random traces, memory that fails. */
#ifndef TRACES_H
#define TRACES_H

#include "same_trace.h"

/* One trace from the bytes; the file is called "x". */
enum ordeal_status trace_from(struct ordeal *o, const void *bytes, size_t length,
                              enum ordeal_format format, struct ordeal_trace **trace);

enum out { OUT_TEXT, OUT_BINARY, OUT_PACKED, OUT_AXE };
struct written { enum ordeal_status status; char *bytes; size_t length; }; /* free bytes */
struct written trace_to(const struct ordeal_trace *t, enum out out);

/* A trace of everything the format can say (`axe`: that Axe can say); not a sensible one. */
struct ordeal_trace *random_trace(struct ordeal *o, uint64_t seed, size_t ops, bool axe);

/* Memory for a context: allocation number `fail_at` (from 1; 0: none) and all later ones fail. */
struct failing { size_t fail_at, calls, blocks; };
struct ordeal_memory failing_memory(struct failing *f);

/* Read the bytes again and again, each time with one more allocation that succeeds: until all do,
 * the status is ORDEAL_NO_MEMORY, and nothing is left behind. Returns NULL or what went wrong. */
const char *starve_reader(const void *bytes, size_t length, enum ordeal_format format);

#endif
