/* SPDX-License-Identifier: Apache-2.0 */
/* The reference machine: a plain interpreter of what rtl/ is to be, behind the same interface.
 *
 * Harts take turns, one instruction each, as a seeded scheduler says; memory is sequentially
 * consistent whatever the model, and there are no caches, so a run is legal under every model.
 * Transactions write in place and are undone. Written from rtl/PROTOCOL.md and rtl/soc.def alone,
 * of which it takes the numbers; the words and fields of records are its own, on purpose.
 * Compiled with -DISS_SHARED=4 its two files make a model for `--soc`, with 4 harts. */
#ifndef TESTS_ISS_H
#define TESTS_ISS_H

#include "soc.h"

enum {
    ISS_HARTS = 16,
    ISS_MEMORY_BYTES = 1 << 20,
    ISS_CODE_BYTES = 1 << 16,
    ISS_LINE_BYTES = 16,
    ISS_TX_LINES = 32 /* what a transaction may touch before it is too large */
};

const struct soc_interface *iss_interface(uint32_t harts); /* 1 to ISS_HARTS */

#endif
