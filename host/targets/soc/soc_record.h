/* SPDX-License-Identifier: Apache-2.0 */
/* What the capture unit saw of one hart. */
#ifndef HOST_SOC_RECORD_H
#define HOST_SOC_RECORD_H

#include <stdint.h>

#include "base/list.h"

struct soc_record {
    uint64_t sequence;
    uint8_t kind, size_log2;    /* SOC_REC_* */
    uint32_t issue, completion; /* cycles */
    uint32_t address, read, written;
};

/* A store when it was there for all. */
struct soc_visible {
    uint32_t cycle, arrival; /* arrival: among the hart's */
    uint32_t address, written;
    uint8_t size_log2;
    bool in_transaction, taken;
};

struct soc_hart_records {
    LIST(struct soc_record) list; /* in program order */
    LIST(struct soc_visible) visible;
    LIST(uint32_t) interrupts; /* the cycles of the marks of those it took */
};

#endif
