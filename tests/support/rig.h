/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the machine: programs put into a SoC behind sim/soc.h and run to their end, and the
 * records of the capture unit that they leave. What goes wrong where nothing should, a hang or an
 * assertion of the hardware, fails the test and says where the harts were.
 *
 * Of rtl/soc.def it takes the numbers alone. Which words and fields a record has is written here
 * once more, on purpose: an error in that table must not be in what it is held against, too. */
#ifndef TESTS_RIG_H
#define TESTS_RIG_H

#include "soc.h"

enum rig_number {
#define NUMBER(name, bits, value) name = value,
#include "soc.def"
#undef NUMBER
};
enum rig_event {
#define EVENT(number, name, what) EVENT_##name = number,
#include "soc.def"
#undef EVENT
    RIG_EVENTS
};
enum rig_bug {
#define BUG(number, name, text, area, models, wrong, like, shows) BUG_##name = number,
#include "zoo.def"
#undef BUG
};
extern const char *const rig_event_name[RIG_EVENTS];

struct rig_record {
    uint32_t kind, size, hart, sequence, latency;
    bool tx, of_visible;
    uint32_t cycle, address, read, written;
};

struct rig {
    const struct soc_interface *soc;
    struct soc *s;
    struct soc_setup setup;
    struct rig_record *record; /* of the last run, as they came */
    size_t records, room;
    size_t drain;              /* words taken of the stream at a time; 0: all there is */
    uint64_t cycles;           /* of the last run */
};

/* A program that grows. */
struct rig_code { uint32_t word[8192], count; };

/* The model with these parameters; 0: as usual. */
const struct soc_interface *rig_model(const struct soc_parameters *p);

void rig_open(struct rig *r, const struct soc_interface *soc);
void rig_close(struct rig *r);

/* Reset, and the first `words` of memory 0. */
void rig_reset(struct rig *r, const struct soc_setup *setup, uint32_t words);
void rig_load(struct rig *r, uint32_t hart, const struct rig_code *c);
void rig_poke(struct rig *r, uint32_t offset, uint32_t word);
/* Until all harts are done. Records are looked through: sequence without a gap, times possible. */
void rig_run(struct rig *r, uint64_t cycles);
/* The same, but false where a test would fail, with the reason. */
bool rig_try(struct rig *r, uint64_t cycles, char *why, size_t size);
/* What read_log gives in place of the records of the last run. */
void rig_take_log(struct rig *r);
/* Some cycles only; records are kept. */
void rig_step(struct rig *r, uint64_t cycles);

/* Records of each hart in program order, those of hart 0 first; REC_VISIBLE last, as they came. */
void rig_sort(struct rig *r);

uint32_t rig_counter(struct rig *r, uint32_t hart, uint32_t event);
uint64_t rig_counters(struct rig *r, uint32_t event); /* of all harts */
/* The n-th mark of a hart, from 0; it must be there. */
uint32_t rig_mark(const struct rig *r, uint32_t hart, uint32_t n);
uint32_t rig_marks(const struct rig *r, uint32_t hart);
uint32_t rig_count(const struct rig *r, uint32_t hart, uint32_t kind);

void rig_emit(struct rig_code *c, uint32_t word);
void rig_li(struct rig_code *c, uint32_t rd, uint32_t value); /* always two words */

#endif
