/* SPDX-License-Identifier: Apache-2.0 */
/* What rtl/board/board.def says, for C: BOARD_DEV_RUN, BOARD_PARAM_HARTS, …; fields of registers as
 * masks, for field.h: BOARD_DEV_SETUP_MODEL, … */
#ifndef HOST_BOARD_NUMBERS_H
#define HOST_BOARD_NUMBERS_H

#include "field.h"

enum board_number {
#define NUMBER(name, bits, value) BOARD_##name = value,
#include "board/board.def"
#undef NUMBER
};

#endif
