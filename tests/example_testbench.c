/* SPDX-License-Identifier: Apache-2.0 */
/* How a testbench uses libordeal: record what the machine did, check it, read the verdict.
 *
 * Two harts each store to one location and load the other's.  The machine under test lets both loads
 * overtake the stores: legal under TSO, a violation of SC.  Build it with the installed library:
 *
 *     cc example_testbench.c $(pkg-config --cflags --libs ordeal) */
#include <ordeal.h>
#include <stdio.h>
#include <string.h>

/* What a monitor in the testbench saw, in program order of each hart. */
struct observation {
    uint32_t hart;
    enum ordeal_op_kind kind;
    const char *variable;
    uint64_t value; /* written by a store, returned to a load */
};
static const struct observation observed[] = {
    { 0, ORDEAL_STORE, "flag0", 1 },
    { 0, ORDEAL_LOAD,  "flag1", 0 },
    { 1, ORDEAL_STORE, "flag1", 1 },
    { 1, ORDEAL_LOAD,  "flag0", 0 },
};

static enum ordeal_status record(struct ordeal_trace *trace, const struct observation *seen)
{
    struct ordeal_op op = { .kind = (uint8_t)seen->kind, .size_log2 = 2 }; /* a 4-byte word */
    enum ordeal_status status = ordeal_trace_thread(trace, seen->hart, &op.thread);
    if (status == ORDEAL_OK)
        status = ordeal_trace_name(trace, seen->variable, strlen(seen->variable), &op.base);
    if (seen->kind == ORDEAL_LOAD) {
        op.flags = ORDEAL_HAS_VALUE;
        op.read = seen->value;
    } else {
        op.write = seen->value;
    }
    return status == ORDEAL_OK ? ordeal_trace_add(trace, &op, 0) : status;
}

/* "P0 S[flag0]#1", or the value that was there before anybody stored. */
static const char *describe(const struct ordeal_trace *trace, const struct ordeal_verdict *verdict,
                            uint32_t event, char *buffer, size_t size)
{
    struct ordeal_event e;
    ordeal_verdict_event(verdict, event, &e);
    if (e.op == ORDEAL_NONE)
        snprintf(buffer, size, "%s=%llu at the start", e.location, (unsigned long long)e.value);
    else
        ordeal_trace_format(trace, e.op, buffer, size);
    return buffer;
}

/* PASS: an order of all operations in which every load sees what it saw. */
static void print_order(const struct ordeal_trace *trace, const struct ordeal_verdict *verdict)
{
    const struct ordeal_place *places;
    size_t count = ordeal_verdict_order(verdict, &places);
    char text[128];
    for (size_t i = 0; i < count; i++)
        printf("    %s\n", describe(trace, verdict, places[i].event, text, sizeof text));
}

/* FAIL: steps, each a circle of operations in which every one must be before the next. */
static void print_proof(const struct ordeal_trace *trace, const struct ordeal_verdict *verdict)
{
    char from[128], to[128];
    for (size_t i = 0; i < ordeal_verdict_steps(verdict); i++) {
        struct ordeal_step step;
        ordeal_verdict_step(verdict, i, &step);
        for (size_t e = 0; e < step.edge_count; e++) {
            const struct ordeal_edge *edge = &step.edges[e];
            printf("    %s  is before  %s  (%s: %s)\n",
                   describe(trace, verdict, edge->from, from, sizeof from),
                   describe(trace, verdict, edge->to, to, sizeof to),
                   ordeal_rule_name((enum ordeal_rule)edge->rule),
                   ordeal_rule_text((enum ordeal_rule)edge->rule));
        }
    }
}

static enum ordeal_status check(const struct ordeal_trace *trace, enum ordeal_model model,
                                enum ordeal_result *result)
{
    struct ordeal_options options = { .model = model };
    struct ordeal_verdict *verdict;
    enum ordeal_status status = ordeal_check(trace, &options, &verdict);
    if (status != ORDEAL_OK)
        return status;
    *result = ordeal_verdict_result(verdict);
    switch (*result) {
    case ORDEAL_PASS:
        printf("%s allows it; the operations may have been performed in this order:\n",
               ordeal_model_name(model));
        print_order(trace, verdict);
        break;
    case ORDEAL_FAIL:
        printf("%s forbids it:\n", ordeal_model_name(model));
        print_proof(trace, verdict);
        break;
    case ORDEAL_UNDECIDED:
        printf("%s: undecided, %s\n", ordeal_model_name(model), ordeal_verdict_note(verdict));
        break;
    }
    ordeal_verdict_free(verdict);
    return ORDEAL_OK;
}

int main(void)
{
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *trace = o ? ordeal_trace_new(o) : NULL;
    enum ordeal_status status = trace ? ORDEAL_OK : ORDEAL_NO_MEMORY;
    enum ordeal_result sc = ORDEAL_UNDECIDED, tso = ORDEAL_UNDECIDED;

    for (size_t i = 0; status == ORDEAL_OK && i < sizeof observed / sizeof *observed; i++)
        status = record(trace, &observed[i]);
    if (status == ORDEAL_OK)
        status = check(trace, ORDEAL_TSO, &tso);
    if (status == ORDEAL_OK)
        status = check(trace, ORDEAL_SC, &sc);
    if (status != ORDEAL_OK)
        fprintf(stderr, "example: %s\n", o ? ordeal_last_error(o)->reason : "out of memory");

    if (trace)
        ordeal_trace_free(trace);
    if (o)
        ordeal_free(o);
    return status == ORDEAL_OK && tso == ORDEAL_PASS && sc == ORDEAL_FAIL ? 0 : 1;
}
