/* SPDX-License-Identifier: Apache-2.0 */
/* The models of the hardware that tests run on. */
#include "machines.h"
#include "rig.h"

const struct soc_interface *machine(uint32_t number)
{
    static const struct soc_parameters all[MACHINES] = {
        [MACHINE_USUAL] = { .harts = 4 },
        [MACHINE_SMALL] = { .harts = 2, .sets = 1, .ways = 2 },
        [MACHINE_LEAN] = { .lean = true, .memory_bytes = 16384, .code_bytes = 7680 },
        [MACHINE_ODD] = { .harts = 1, .sets = 1, .ways = 1, .store_buffer = 1, .load_queue = 1 },
    };
    static const struct soc_interface *open[MACHINES];
    if (!open[number]) {
        struct soc_parameters p = all[number];
        p.transactions = p.bugs = p.checks = true;
        open[number] = rig_model(&p);
    }
    return open[number];
}
