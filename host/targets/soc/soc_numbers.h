/* SPDX-License-Identifier: Apache-2.0 */
/* What rtl/soc.def says, for C: SOC_MAP_MEMORY, SOC_REC_LOAD, SOC_TX_CONFLICT, … */
#ifndef HOST_SOC_NUMBERS_H
#define HOST_SOC_NUMBERS_H

enum soc_number {
#define NUMBER(name, bits, value) SOC_##name = value,
#include "soc.def"
#undef NUMBER
};

#endif
