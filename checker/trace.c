/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: threads, names and operations, put in and looked at.
 *
 * Everything that enters a trace passes here or in trace_facts.c and is checked, so that whoever
 * reads one may rely on it: locations are aligned, values fit their size, names can be written, and
 * the side tables (times, compares, steps, registers) agree with the operations. What needs more
 * than one operation to be seen, as blocks that never end, is left to who runs or checks it. */
#include "trace.h"

#include <string.h>

/* clang-format off */
const char *const trace_op_names[ORDEAL_OP_KINDS] = {
    [ORDEAL_LOAD] = "L",           [ORDEAL_STORE] = "S",        [ORDEAL_SWAP] = "SWAP",
    [ORDEAL_CAS] = "CAS",          [ORDEAL_MEMBAR] = "MEMBAR",  [ORDEAL_TX_BEGIN] = "TX.BEGIN",
    [ORDEAL_TX_END] = "TX.END",    [ORDEAL_TX_ABORT] = "TX.ABORT",
    [ORDEAL_PREFETCH] = "PREFETCH", [ORDEAL_FLUSH] = "FLUSH",   [ORDEAL_EVICT] = "EVICT",
    [ORDEAL_DELAY] = "DELAY",      [ORDEAL_INTERRUPT] = "IPI",
    [ORDEAL_LOOP_BEGIN] = "LOOP.BEGIN", [ORDEAL_LOOP_END] = "LOOP.END",
    [ORDEAL_BRANCH_BEGIN] = "BRANCH.BEGIN", [ORDEAL_BRANCH_ELSE] = "BRANCH.ELSE",
    [ORDEAL_BRANCH_END] = "BRANCH.END", [ORDEAL_AMO] = "AMO",
    [ORDEAL_LOAD_RESERVED] = "LR", [ORDEAL_STORE_CONDITIONAL] = "SC",
};

const uint8_t trace_op_traits[ORDEAL_OP_KINDS] = {
    [ORDEAL_LOAD] = OP_LOCATION | OP_READS,
    [ORDEAL_STORE] = OP_LOCATION | OP_WRITES,
    [ORDEAL_SWAP] = OP_LOCATION | OP_READS | OP_WRITES,
    [ORDEAL_CAS] = OP_LOCATION | OP_READS | OP_WRITES | OP_COMPARES,
    [ORDEAL_PREFETCH] = OP_LOCATION, [ORDEAL_FLUSH] = OP_LOCATION, [ORDEAL_EVICT] = OP_LOCATION,
    [ORDEAL_DELAY] = OP_COUNT, [ORDEAL_INTERRUPT] = OP_COUNT,
    [ORDEAL_LOOP_BEGIN] = OP_COUNT | OP_UNRUN, [ORDEAL_LOOP_END] = OP_UNRUN,
    [ORDEAL_BRANCH_BEGIN] = OP_UNRUN, [ORDEAL_BRANCH_ELSE] = OP_UNRUN,
    [ORDEAL_BRANCH_END] = OP_UNRUN,
    [ORDEAL_AMO] = OP_LOCATION | OP_READS | OP_WRITES,
    [ORDEAL_LOAD_RESERVED] = OP_LOCATION | OP_READS,
    [ORDEAL_STORE_CONDITIONAL] = OP_LOCATION | OP_WRITES | OP_RESULT,
};
/* clang-format on */

const char *const trace_barrier_names[4] = { "LL", "LS", "SL", "SS" };
const char *const trace_use_names[ORDEAL_REGISTER_USES] = { "<", ">",
                                                            "<addr:", "<data:", "<ctrl:" };
const char *const trace_mark_names[4] = { "", ".aq", ".rl", ".aqrl" };

struct ordeal_trace *ordeal_trace_new(struct ordeal *o)
{
    struct ordeal_trace *t = mem_zero(o, 1, sizeof *t);
    if (t) {
        t->o = o;
        t->atomic = TRACE_DEFAULT_ATOMIC;
    }
    return t;
}

void ordeal_trace_free(struct ordeal_trace *t)
{
    if (!t)
        return;
    struct ordeal *o = t->o;
    VEC_FREE(o, &t->ops);
    VEC_FREE(o, &t->threads);
    VEC_FREE(o, &t->names);
    VEC_FREE(o, &t->text);
    VEC_FREE(o, &t->bytes);
    VEC_FREE(o, &t->times);
    VEC_FREE(o, &t->registers);
    VEC_FREE(o, &t->compares);
    VEC_FREE(o, &t->steps);
    VEC_FREE(o, &t->inits);
    VEC_FREE(o, &t->orders);
    VEC_FREE(o, &t->order_values);
    VEC_FREE(o, &t->finals);
    VEC_FREE(o, &t->lines);
    VEC_FREE(o, &t->told);
    VEC_FREE(o, &t->thread_table);
    VEC_FREE(o, &t->name_table);
    mem_free(o, t, sizeof *t);
}

/* An allocation failed; the context knows whether for want of memory or by its limit. */
static enum ordeal_status out_of_memory(const struct ordeal_trace *t) { return t->o->error.status; }

/* ---- threads and names: numbered in order of appearance, found through hashes ----------- */

static uint32_t hash_number(uint32_t number)
{
    uint32_t h = number * UINT32_C(0x9E3779B1);
    return h ^ h >> 15;
}

static uint32_t hash_name(const char *name, size_t length)
{
    uint32_t h = UINT32_C(2166136261); /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        h = (h ^ (uint8_t)name[i]) * UINT32_C(16777619);
    return h ^ h >> 15;
}

static uint32_t hash_of_thread(const struct ordeal_trace *t, uint32_t i)
{
    return hash_number(t->threads.data[i]);
}

static uint32_t hash_of_name(const struct ordeal_trace *t, uint32_t i)
{
    const char *name = t->text.data + t->names.data[i];
    return hash_name(name, strlen(name));
}

/* At half load there is no room for one more, so that probes are short and always end. */
static bool table_full(size_t capacity, size_t count) { return (count + 1) * 2 > capacity; }

static bool table_grow(const struct ordeal_trace *t, uint32_t **table, size_t *capacity,
                       size_t count, uint32_t (*hash_of)(const struct ordeal_trace *, uint32_t))
{
    size_t fresh_capacity = *capacity ? *capacity * 2 : 64;
    uint32_t *fresh = mem_zero(t->o, fresh_capacity, sizeof *fresh);
    if (!fresh)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t slot = hash_of(t, (uint32_t)i) & (fresh_capacity - 1);
        while (fresh[slot])
            slot = (slot + 1) & (fresh_capacity - 1);
        fresh[slot] = (uint32_t)i + 1;
    }
    mem_free(t->o, *table, *capacity * sizeof **table);
    *table = fresh;
    *capacity = fresh_capacity;
    assert(!table_full(fresh_capacity, count));
    return true;
}

enum ordeal_status ordeal_trace_thread(struct ordeal_trace *t, uint32_t number, uint32_t *thread)
{
    if (number == ORDEAL_NONE)
        return fail(t->o, ORDEAL_BAD_USAGE, "thread numbers go up to %u", ORDEAL_NONE - 1);
    if (table_full(t->thread_table.capacity, t->threads.count)
        && !table_grow(t, &t->thread_table.data, &t->thread_table.capacity, t->threads.count,
                       hash_of_thread))
        return out_of_memory(t);
    size_t mask = t->thread_table.capacity - 1, slot = hash_number(number) & mask;
    uint32_t *table = t->thread_table.data;
    for (; table[slot]; slot = (slot + 1) & mask)
        if (t->threads.data[table[slot] - 1] == number) {
            *thread = table[slot] - 1;
            return ORDEAL_OK;
        }
    if (!VEC_PUSH(t->o, &t->threads, number))
        return out_of_memory(t);
    *thread = (uint32_t)(t->threads.count - 1);
    table[slot] = *thread + 1;
    return ORDEAL_OK;
}

static bool name_is_good(const char *name, size_t length)
{
    if (length == 0 || length > TRACE_NAME_MAX || !trace_name_start(name[0]))
        return false;
    for (size_t i = 1; i < length; i++)
        if (!trace_name_letter(name[i]))
            return false;
    return true;
}

static enum ordeal_status add_name(struct ordeal_trace *t, const char *name, size_t length)
{
    if (!name_is_good(name, length))
        return fail(t->o, ORDEAL_BAD_USAGE, "a name is a letter or _, then letters, digits, _ and ."
                    ", %d characters at most", TRACE_NAME_MAX);
    if (t->text.count + length + 1 > UINT32_MAX)
        return fail(t->o, ORDEAL_BAD_USAGE, "too many names");
    if (!VEC_RESERVE(t->o, &t->text, t->text.count + length + 1)
        || !VEC_PUSH(t->o, &t->names, (uint32_t)t->text.count))
        return out_of_memory(t);
    memcpy(t->text.data + t->text.count, name, length);
    t->text.data[t->text.count + length] = '\0';
    t->text.count += length + 1;
    return ORDEAL_OK;
}

static bool same_name(const char *known, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (known[i] == '\0' || known[i] != name[i])
            return false;
    return known[length] == '\0';
}

enum ordeal_status ordeal_trace_name(struct ordeal_trace *t, const char *name, size_t length,
                                     uint32_t *base)
{
    if (table_full(t->name_table.capacity, t->names.count)
        && !table_grow(t, &t->name_table.data, &t->name_table.capacity, t->names.count,
                       hash_of_name))
        return out_of_memory(t);
    size_t mask = t->name_table.capacity - 1, slot = hash_name(name, length) & mask;
    uint32_t *table = t->name_table.data;
    for (; table[slot]; slot = (slot + 1) & mask)
        if (same_name(ordeal_trace_name_text(t, table[slot]), name, length)) {
            *base = table[slot];
            return ORDEAL_OK;
        }
    enum ordeal_status status = add_name(t, name, length);
    if (status == ORDEAL_OK)
        table[slot] = *base = (uint32_t)t->names.count;
    return status;
}

const char *ordeal_trace_name_text(const struct ordeal_trace *t, uint32_t base)
{
    assert(base >= 1 && base <= t->names.count);
    return t->text.data + t->names.data[base - 1];
}

/* ---- operations ---------------------------------------------------------------------- */

const char *trace_location_fault(const struct ordeal_trace *t, uint32_t base, uint64_t address,
                                 uint8_t size_log2)
{
    if (size_log2 > 6)
        return "an access is 1, 2, 4, 8, 16, 32 or 64 bytes";
    if (base > t->names.count)
        return "the location has no such name";
    if (address & ((UINT64_C(1) << size_log2) - 1))
        return "the access is not aligned to its size";
    return NULL;
}

static bool value_is_good(const struct ordeal_trace *t, uint8_t size_log2, uint64_t value)
{
    if (size_log2 <= 3)
        return trace_value_fits(value, size_log2);
    return value <= t->bytes.count && t->bytes.count - value >= (size_t)1 << size_log2;
}

enum { TIMES = ORDEAL_HAS_BEGIN | ORDEAL_HAS_END, MARKS = ORDEAL_ACQUIRES | ORDEAL_RELEASES };

/* Flags that only some kinds have. */
static const uint8_t own_flags[ORDEAL_OP_KINDS] = {
    [ORDEAL_LOAD] = ORDEAL_HAS_VALUE | ORDEAL_NONFAULTING | MARKS,
    [ORDEAL_STORE] = MARKS,
    [ORDEAL_SWAP] = ORDEAL_HAS_VALUE | MARKS,
    [ORDEAL_CAS] = ORDEAL_HAS_VALUE | ORDEAL_COMPARE_REGISTER | MARKS,
    [ORDEAL_TX_BEGIN] = ORDEAL_HAS_LIMIT,
    [ORDEAL_AMO] = ORDEAL_HAS_VALUE | MARKS,
    [ORDEAL_LOAD_RESERVED] = ORDEAL_HAS_VALUE | MARKS,
    [ORDEAL_STORE_CONDITIONAL] = ORDEAL_HAS_VALUE | MARKS,
};

/* Only what the kind of operation has is kept, the rest is zero: equal operations are equal. */
static struct ordeal_op normal_op(const struct ordeal_op *op)
{
    uint8_t traits = trace_op_traits[op->kind];
    struct ordeal_op n = { .kind = op->kind, .thread = op->thread, .line = op->line,
                           .flags = op->flags & (TIMES | own_flags[op->kind]) };
    if (op->kind == ORDEAL_MEMBAR)
        n.barrier = op->barrier;
    if (op->kind == ORDEAL_AMO)
        n.function = op->function;
    if (traits & OP_LOCATION) {
        n.size_log2 = op->size_log2;
        n.base = op->base;
        n.address = op->address;
    }
    if (n.flags & ORDEAL_HAS_VALUE)
        n.read = op->read;
    if (traits & OP_WRITES || trace_has_count(&n))
        n.write = op->write;
    return n;
}

static const char *count_fault(const struct ordeal_op *op)
{
    if (op->kind == ORDEAL_LOOP_BEGIN && op->write == 0)
        return "a loop goes round at least once";
    if (op->write > TRACE_COUNT_MAX)
        return "a count goes up to 4294967294";
    return NULL;
}

static const char *register_compare_fault(const struct ordeal_op *op, uint64_t compare)
{
    if (op->flags & ORDEAL_HAS_VALUE)
        return "a CAS that compares with a register was not run yet: it has no value read";
    if (op->size_log2 > 3)
        return "a CAS that compares with a register is of 1, 2, 4 or 8 bytes";
    if (compare > UINT32_MAX)
        return "registers are numbered up to 4294967295";
    return NULL;
}

static const char *amo_fault(const struct ordeal_op *op)
{
    if (op->function >= ORDEAL_AMO_FUNCTIONS)
        return "an AMO is one of ADD, AND, OR, XOR, MIN, MAX, MINU, MAXU";
    return op->size_log2 > 3 ? "an AMO is of 1, 2, 4 or 8 bytes" : NULL;
}

static const char *reserving_fault(const struct ordeal_op *op)
{
    if (op->size_log2 > 3)
        return "LR and SC are of 1, 2, 4 or 8 bytes";
    if (op->kind == ORDEAL_STORE_CONDITIONAL && op->read > 1)
        return "the result of an SC is 0 (it stored) or 1 (it did not)";
    return NULL;
}

static const char *op_fault(const struct ordeal_trace *t, const struct ordeal_op *op,
                            uint64_t compare)
{
    uint8_t traits = trace_op_traits[op->kind];
    if (op->thread >= t->threads.count)
        return "the operation's thread is not known";
    if (op->kind == ORDEAL_MEMBAR && (op->barrier == 0 || op->barrier > ORDEAL_FULL))
        return "a membar has one or more of LL, LS, SL, SS";
    const char *fault = trace_location_fault(t, op->base, op->address, op->size_log2);
    if (!fault && trace_has_count(op))
        fault = count_fault(op);
    bool compares_value = traits & OP_COMPARES && !(op->flags & ORDEAL_COMPARE_REGISTER);
    if (!fault && op->flags & ORDEAL_COMPARE_REGISTER)
        fault = register_compare_fault(op, compare);
    if (!fault && op->kind == ORDEAL_AMO)
        fault = amo_fault(op);
    if (!fault && (op->kind == ORDEAL_LOAD_RESERVED || op->kind == ORDEAL_STORE_CONDITIONAL))
        fault = reserving_fault(op);
    if (fault)
        return fault;
    if ((op->flags & ORDEAL_HAS_VALUE && !value_is_good(t, op->size_log2, op->read))
        || (traits & OP_WRITES && !value_is_good(t, op->size_log2, op->write))
        || (compares_value && !value_is_good(t, op->size_log2, compare)))
        return "a value does not fit the size of the access";
    if (t->ops.count >= ORDEAL_NONE - 1)
        return "a trace has at most 4294967294 operations";
    return NULL;
}

enum ordeal_status ordeal_trace_add(struct ordeal_trace *t, const struct ordeal_op *op,
                                    uint64_t compare)
{
    if (op->kind >= ORDEAL_OP_KINDS)
        return fail(t->o, ORDEAL_BAD_USAGE, "there is no operation of kind %d", op->kind);
    struct ordeal_op n = normal_op(op);
    const char *fault = op_fault(t, &n, compare);
    if (fault)
        return fail(t->o, ORDEAL_BAD_USAGE, "%s", fault);
    uint32_t i = (uint32_t)t->ops.count;
    bool timed = n.flags & TIMES, compares = n.kind == ORDEAL_CAS;
    /* Reserve everything first: a failure leaves the trace as it was. */
    if (!VEC_RESERVE(t->o, &t->ops, t->ops.count + 1)
        || (timed && !VEC_RESERVE(t->o, &t->times, t->times.count + 1))
        || (compares && !VEC_RESERVE(t->o, &t->compares, t->compares.count + 1)))
        return out_of_memory(t);
    assert(!t->compares.count || t->compares.data[t->compares.count - 1].op < i);
    t->ops.data[t->ops.count++] = n;
    if (timed)
        t->times.data[t->times.count++] = (struct trace_time){ .op = i };
    if (compares)
        t->compares.data[t->compares.count++] = (struct trace_compare){ i, compare };
    return ORDEAL_OK;
}

enum ordeal_status ordeal_trace_bytes(struct ordeal_trace *t, const uint8_t *bytes, size_t length,
                                      uint64_t *offset)
{
    if (!VEC_RESERVE(t->o, &t->bytes, t->bytes.count + length))
        return out_of_memory(t);
    if (length)
        memcpy(t->bytes.data + t->bytes.count, bytes, length);
    *offset = t->bytes.count;
    t->bytes.count += length;
    return ORDEAL_OK;
}

static enum ordeal_status check_times(struct ordeal_trace *t, uint8_t flags, uint64_t begin,
                                      uint64_t end)
{
    if (!(flags & TIMES))
        return fail(t->o, ORDEAL_BAD_USAGE, "the last operation has no cycles by its flags");
    if (flags & ORDEAL_HAS_BEGIN && flags & ORDEAL_HAS_END && end < begin)
        return fail(t->o, ORDEAL_BAD_USAGE, "an operation cannot complete before it is issued");
    return ORDEAL_OK;
}

static struct trace_time time_of_last(const struct ordeal_trace *t, uint64_t begin, uint64_t end)
{
    uint8_t flags = t->ops.data[t->ops.count - 1].flags;
    return (struct trace_time){
        .op = (uint32_t)(t->ops.count - 1),
        .begin = flags & ORDEAL_HAS_BEGIN ? begin : 0,
        .end = flags & ORDEAL_HAS_END ? end : 0,
    };
}

enum ordeal_status ordeal_trace_times(struct ordeal_trace *t, uint64_t begin, uint64_t end)
{
    uint8_t flags = t->ops.count ? t->ops.data[t->ops.count - 1].flags : 0;
    enum ordeal_status status = check_times(t, flags, begin, end);
    if (status != ORDEAL_OK)
        return status;
    struct trace_time *last = &t->times.data[t->times.count - 1];
    assert(t->times.count && last->op == t->ops.count - 1); /* ordeal_trace_add() made it */
    *last = time_of_last(t, begin, end);
    return ORDEAL_OK;
}

enum ordeal_status trace_add_times(struct ordeal_trace *t, uint8_t flags, uint64_t begin,
                                   uint64_t end)
{
    struct ordeal_op *last = &t->ops.data[t->ops.count - 1];
    assert(t->ops.count > 0 && !(last->flags & TIMES));
    enum ordeal_status status = check_times(t, flags, begin, end);
    if (status != ORDEAL_OK)
        return status;
    if (!VEC_RESERVE(t->o, &t->times, t->times.count + 1))
        return out_of_memory(t);
    last->flags |= flags;
    t->times.data[t->times.count++] = time_of_last(t, begin, end);
    return ORDEAL_OK;
}

enum ordeal_status ordeal_trace_step(struct ordeal_trace *t, uint64_t step)
{
    const struct ordeal_op *last = t->ops.count ? &t->ops.data[t->ops.count - 1] : NULL;
    if (!last || !(trace_op_traits[last->kind] & OP_WRITES) || last->size_log2 > 3
        || last->flags & ORDEAL_HAS_VALUE)
        return fail(t->o, ORDEAL_BAD_USAGE,
                    "only S, SWAP, CAS and AMOs of a test, of 1, 2, 4 or 8 "
                    "bytes, write another value each time round");
    if (!trace_value_fits(step, last->size_log2))
        return fail(t->o, ORDEAL_BAD_USAGE, "a step does not fit the size of the access");
    uint32_t op = (uint32_t)(t->ops.count - 1);
    if (t->steps.count && t->steps.data[t->steps.count - 1].op == op)
        t->steps.count--;
    if (step == 0)
        return ORDEAL_OK;
    struct trace_step fresh = { op, step };
    return VEC_PUSH(t->o, &t->steps, fresh) ? ORDEAL_OK : out_of_memory(t);
}

enum ordeal_status ordeal_trace_uses_register(struct ordeal_trace *t, uint32_t reg,
                                              enum ordeal_register_use use)
{
    static const struct {
        uint8_t traits;
        const char *only;
    } users[ORDEAL_REGISTER_USES] = {
        { OP_READS | OP_WRITES, "L, S, SWAP, CAS, AMOs, LR and SC read registers" },
        { OP_READS | OP_RESULT, "L, SWAP, CAS, AMOs, LR and SC write registers" },
        { OP_READS | OP_WRITES, "L, S, SWAP, CAS, AMOs, LR and SC have an address" },
        { OP_WRITES, "S, SWAP, CAS, AMOs and SC have data" },
        { OP_READS | OP_WRITES, "L, S, SWAP, CAS, AMOs, LR and SC stand behind a branch" },
    };
    assert((unsigned)use < ORDEAL_REGISTER_USES);
    uint8_t traits = t->ops.count ? trace_op_traits[t->ops.data[t->ops.count - 1].kind] : 0;
    if (!(traits & users[use].traits))
        return fail(t->o, ORDEAL_BAD_USAGE, "only %s", users[use].only);
    struct trace_register r = { (uint32_t)(t->ops.count - 1), reg, (uint8_t)use };
    return VEC_PUSH(t->o, &t->registers, r) ? ORDEAL_OK : out_of_memory(t);
}

enum ordeal_status ordeal_trace_writes_register(struct ordeal_trace *t, uint32_t reg)
{
    return ordeal_trace_uses_register(t, reg, ORDEAL_REGISTER_WRITTEN);
}

enum ordeal_status ordeal_trace_reads_register(struct ordeal_trace *t, uint32_t reg)
{
    return ordeal_trace_uses_register(t, reg, ORDEAL_REGISTER_READ);
}

/* ---- looking at a trace ------------------------------------------------------------------ */

size_t ordeal_trace_length(const struct ordeal_trace *t) { return t->ops.count; }

const struct ordeal_op *ordeal_trace_op(const struct ordeal_trace *t, size_t i)
{
    assert(i < t->ops.count);
    return &t->ops.data[i];
}

uint32_t ordeal_trace_threads(const struct ordeal_trace *t) { return (uint32_t)t->threads.count; }

uint32_t ordeal_trace_thread_number(const struct ordeal_trace *t, uint32_t thread)
{
    assert(thread < t->threads.count);
    return t->threads.data[thread];
}

uint32_t ordeal_trace_names(const struct ordeal_trace *t) { return (uint32_t)t->names.count; }

const uint8_t *ordeal_trace_bytes_at(const struct ordeal_trace *t, uint64_t offset)
{
    assert(offset < t->bytes.count);
    return t->bytes.data + offset;
}

size_t trace_find(const void *table, size_t item, size_t count, size_t op)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint32_t *)((const char *)table + middle * item) < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t ordeal_trace_compare_of(const struct ordeal_trace *t, size_t i)
{
    size_t k = TRACE_FIND(&t->compares, i);
    assert(k < t->compares.count && t->compares.data[k].op == i);
    return t->compares.data[k].value;
}

uint64_t ordeal_trace_step_of(const struct ordeal_trace *t, size_t i)
{
    size_t k = TRACE_FIND(&t->steps, i);
    return k < t->steps.count && t->steps.data[k].op == i ? t->steps.data[k].step : 0;
}

const struct trace_time *trace_time_of(const struct ordeal_trace *t, size_t op)
{
    size_t k = TRACE_FIND(&t->times, op);
    return k < t->times.count && t->times.data[k].op == op ? &t->times.data[k] : NULL;
}

bool ordeal_trace_times_of(const struct ordeal_trace *t, size_t i, uint64_t *begin, uint64_t *end)
{
    const struct trace_time *time = trace_time_of(t, i);
    if (time) {
        *begin = time->begin;
        *end = time->end;
    }
    return time;
}

bool ordeal_trace_register_use(const struct ordeal_trace *t, size_t i, size_t k, uint32_t *reg,
                               enum ordeal_register_use *use)
{
    size_t first = TRACE_FIND(&t->registers, i);
    if (k >= t->registers.count - first || t->registers.data[first + k].op != i)
        return false;
    *reg = t->registers.data[first + k].reg;
    *use = t->registers.data[first + k].use;
    return true;
}

bool ordeal_trace_register_of(const struct ordeal_trace *t, size_t i, size_t k, uint32_t *reg,
                              bool *written)
{
    enum ordeal_register_use use;
    if (!ordeal_trace_register_use(t, i, k, reg, &use))
        return false;
    *written = use == ORDEAL_REGISTER_WRITTEN;
    return true;
}
