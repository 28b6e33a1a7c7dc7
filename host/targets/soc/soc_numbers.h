/* SPDX-License-Identifier: Apache-2.0 */
/* What rtl/soc.def says, for C: SOC_MAP_MEMORY, SOC_REC_LOAD, SOC_TX_CONFLICT, …; fields of words
 * as masks, for field.h: SOC_REC_HEAD_KIND, …; SOC_EVENT_HIT, …; SOC_WAIT_DONE, …; the records. */
#ifndef HOST_SOC_NUMBERS_H
#define HOST_SOC_NUMBERS_H

#include "field.h"

enum soc_number {
#define NUMBER(name, bits, value) SOC_##name = value,
#include "soc.def"
#undef NUMBER
};

enum soc_event {
#define EVENT(number, name, text) SOC_EVENT_##name = number,
#include "soc.def"
#undef EVENT
    SOC_EVENTS
};

enum soc_wait {
#define WAIT(number, name, text) SOC_WAIT_##name = number,
#include "soc.def"
#undef WAIT
};

/* Which word of a record is what; 0: it has none. A kind that there is not has no words. */
struct soc_shape {
    uint8_t words, address, read, written;
};
static const struct soc_shape soc_shape[16] = {
#define RECORD(number, name, address, read, written, text) \
    [number] = { 2 + !!(address) + !!(read) + !!(written), address, read, written },
#include "soc.def"
#undef RECORD
};

/* SOC_LONGEST_RECORD: words. */
union soc_longest {
#define RECORD(number, name, address, read, written, text) \
    uint8_t name[2 + !!(address) + !!(read) + !!(written)];
#include "soc.def"
#undef RECORD
};
enum { SOC_LONGEST_RECORD = sizeof(union soc_longest) };

#endif
