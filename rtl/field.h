/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of words, for C: what a word has in one, and a word with nothing but that in it. A field
 * is its mask, as soc.def and board.def give it with NUMBER; what is put into one must fit. */
#ifndef RTL_FIELD_H
#define RTL_FIELD_H

#include <stdint.h>

#define FIELD_UNIT(mask)        ((uint32_t)(mask) & -(uint32_t)(mask)) /* 1, in its place */
#define FIELD_GET(word, mask)   (((uint32_t)(word) & (uint32_t)(mask)) / FIELD_UNIT(mask))
#define FIELD_PUT(mask, value)  ((uint32_t)(value) * FIELD_UNIT(mask))

#endif
