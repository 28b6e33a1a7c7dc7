/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for plans: whatever the bytes are, they are refused with a reason, or are runs that
 * have a name of their own, a target, words and a budget. */
#include <stdlib.h>
#include <string.h>

#include "regress/plan.h"

static void look_at(const struct plan *p)
{
    for (size_t i = 0; i < p->runs.count; i++) {
        const struct plan_run *run = &p->runs.data[i];
        const struct plan_budget *b = &run->budget;
        if (!run->target || run->words.count < 3 || run->words.count != run->is_file.count
            || !(run->weight > 0))
            abort();
        if (!b->tests && !b->cycles && !(b->seconds > 0) && !(p->budget.seconds > 0))
            abort();
        if (i && strcmp(run->name, p->runs.data[i - 1].name) == 0)
            abort();
    }
    if (!p->runs.count)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ordeal_error e = { 0 };
    struct plan p;
    FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
    if (!in)
        return 0;
    if (plan_read_stream(&p, in, "p.plan", &e))
        look_at(&p);
    else if (!e.reason[0])
        abort();
    fclose(in);
    plan_free(&p);
    return 0;
}
