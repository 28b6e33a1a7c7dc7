/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that refuses, by the seed: files that become full (their writes go to /dev/full), files that
 * may not grow (some bytes are written), folders, names and the last sync that fail. */
#ifndef SIMULATION_STORAGE_H
#define SIMULATION_STORAGE_H

#include <stdint.h>

/* From now on one in `chance` calls fails, 0: none; no file gets longer than `bytes`, 0: any. */
void storage_begin(uint32_t chance, uint64_t bytes);
uint64_t storage_end(void); /* how many did */

#endif
