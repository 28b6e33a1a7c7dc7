/* SPDX-License-Identifier: Apache-2.0 */
/* What signals did around a violation, read from an FST file, as data of a page. The reader is GTKWave's
 * (fstapi, as Verilator brings it), which was not written for files of strangers: it works in a process
 * of its own that may open nothing more, write nothing but its answer, and start nothing. */
#ifndef HOST_WAVES_DATA_H
#define HOST_WAVES_DATA_H

#include <cJSON.h>

#include "base/why.h"
#include "tell/waves.h"

/* {"first":C,"last":C,"signals":[{"hart":N,"name":"pc_o","width":32,"changes":[[C,"80000010"],…]},…]},
 * where cycles are numbers, "hart" is missing for signals of memory, and a value that is not known is "x".
 * NULL: `why`. `file` is open for reading. */
cJSON *waves_data(int file, const struct waves_view *view, struct why *why);

#endif
