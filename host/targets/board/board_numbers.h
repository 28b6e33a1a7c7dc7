/* SPDX-License-Identifier: Apache-2.0 */
/* What rtl/board/board.def says, for C: BOARD_DEV_RUN, BOARD_PARAM_HARTS, … */
#ifndef HOST_BOARD_NUMBERS_H
#define HOST_BOARD_NUMBERS_H

enum board_number {
#define NUMBER(name, bits, value) BOARD_##name = value,
#include "board/board.def"
#undef NUMBER
};

#endif
