/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor on an execution that was captured: how close was it to breaking? */
#ifndef HOST_PROGRAM_MONITOR_TRACE_H
#define HOST_PROGRAM_MONITOR_TRACE_H

#include "base/list.h"
#include "monitor.h"
#include "ordeal.h"

struct monitor_near { /* operations of the trace */
    uint32_t access, missed;
    struct {
        uint32_t first, second;
    } pair[8];
    uint32_t pairs;
};
struct monitor_run {
    size_t accesses;
    size_t borderline;              /* of them */
    LIST(struct monitor_near) near; /* the first, or with `all` every one */
};

/* The trace in the order of a verdict that passes it under SC. False: why not, in `reason`. */
bool monitor_run(const struct ordeal_trace *t, const struct ordeal_verdict *v,
                 enum monitor_model model, bool all, struct monitor_run *r, const char **reason);
void monitor_run_free(struct monitor_run *r);

#endif
