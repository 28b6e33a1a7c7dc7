/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware that a simulated board has in its RAM at power-on: words in hex, one a line, as
 * $readmemh takes them. */
#ifndef SIM_BOARD_FIRMWARE_H
#define SIM_BOARD_FIRMWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct board_firmware { uint32_t *words; size_t count; };

/* From a file; NULL: the one that was built with this program, beside it or installed. False: `why`
 * says what is the matter, and there is nothing to free. */
bool board_firmware_read(struct board_firmware *f, const char *path, char *why, size_t size);
void board_firmware_free(struct board_firmware *f);

#endif
