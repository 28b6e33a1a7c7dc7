/* SPDX-License-Identifier: Apache-2.0 */
/* Commit logs of RISC-V simulators (FORMAT.md): what each instruction read and wrote.
 *
 * The instruction says what kind of access there was, the log its address and value. Registers are
 * followed from loads to what is computed of them, so that addresses, data and branches depend on
 * the loads they come from. Wherever a log says too little, the trace claims less: it never has an
 * order or a value that the machine did not promise. */
#include "read.h"
#include "riscv_access.h"
#include "words.h"

#include <inttypes.h>
#include <string.h>

/* The loads that a register comes from. What does not fit is forgotten: then less is claimed. */
enum { MOST_SOURCES = 8 };
struct sources {
    uint32_t load[MOST_SOURCES], count;
};

struct hart {
    uint32_t thread, loads;
    uint64_t reserved;      /* by the last LR, if nothing ended that: an address, and */
    uint8_t reserved_bytes; /* how many; 0: nothing is */
    struct sources of[RISCV_REGISTERS];
    struct sources branches; /* since the last access */
};

struct range {
    uint64_t first, size;
    bool device;
};

/* What a line says. */
struct commit {
    uint64_t hart, instruction, address, stored, written;
    uint32_t reg;
    bool wide;
    bool has_address, has_stored, has_register; /* one that is not x0 */
};

struct log {
    struct ordeal_reader *r;
    struct ordeal_trace *t;
    const char *begin, *p;
    VEC(struct hart) harts;
    VEC(struct range) ranges;
    struct words seen;          /* eight bytes each: which of them were accessed is in `events` */
    uint64_t elsewhere, device; /* line and address of the first access to no memory; 0: none */
    bool committed;
};

static void skip_blanks(struct log *l)
{
    while (is_blank(*l->p))
        l->p++;
}

static enum ordeal_status wrong(struct log *l, const char *what)
{
    return expected(l->r, l->begin, l->p, "%s", what);
}

static bool takes(struct log *l, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i < length; i++)
        if (l->p[i] != word[i])
            return false; /* also at the end of the line */
    l->p += length;
    return true;
}

static enum ordeal_status number(struct log *l, const char *what, uint64_t *value)
{
    const char *fault = "";
    if (!scan_number(&l->p, value, &fault))
        return wrong(l, *fault ? fault : what);
    return ORDEAL_OK;
}

static bool at_hex(const struct log *l) { return l->p[0] == '0' && l->p[1] == 'x'; }

/* ---- a line ------------------------------------------------------------------------------ */

/* The number of `x5`, `f10`, and of older versions' `x 5`; false: not a register of these. */
static bool register_number(struct log *l, uint32_t *reg)
{
    const char *fault, *begin = l->p;
    uint64_t n = 0;
    bool is_float = *l->p == 'f';
    l->p++;
    if (!is_float && is_blank(*l->p))
        skip_blanks(l);
    bool known = scan_number(&l->p, &n, &fault) && n < RISCV_FLOAT
              && (is_blank(*l->p) || *l->p == '\n');
    *reg = (uint32_t)n + (is_float ? RISCV_FLOAT : 0);
    if (!known)
        l->p = begin;
    return known;
}

/* `x5  0x…`, `f10 0x…`, and what nothing is asked of: `c768_mstatus 0x…`, `v2 0x…`, `m1`. */
static enum ordeal_status written_register(struct log *l, struct commit *c)
{
    uint64_t value = 0;
    uint32_t reg = 0;
    bool plain = *l->p == 'x' || *l->p == 'f';
    if (plain && !register_number(l, &reg))
        return wrong(l, "a register, x0 to x31 or f0 to f31");
    while (!plain && !is_blank(*l->p) && *l->p != '\n')
        l->p++;
    skip_blanks(l);
    if (!at_hex(l))
        return plain ? wrong(l, "the value of the register") : ORDEAL_OK;
    enum ordeal_status status = number(l, "the value of the register", &value);
    if (status != ORDEAL_OK || reg == 0)
        return status;
    c->has_register = true;
    c->reg = reg;
    c->written = value;
    return ORDEAL_OK;
}

/* `mem ADDRESS` of a load, `mem ADDRESS VALUE` of a store; of an AMO both, of one address. */
static enum ordeal_status memory(struct log *l, struct commit *c)
{
    uint64_t address = 0;
    skip_blanks(l);
    const char *place = l->p;
    if (!at_hex(l))
        return wrong(l, "the address of an access");
    enum ordeal_status status = number(l, "the address of an access", &address);
    if (status != ORDEAL_OK)
        return status;
    if ((c->has_address && c->address != address) || c->has_stored) {
        l->p = place;
        return wrong(l, "one access: an instruction with several is not known");
    }
    c->has_address = true;
    c->address = address;
    skip_blanks(l);
    if (!at_hex(l))
        return ORDEAL_OK;
    c->has_stored = true;
    return number(l, "the value of a store", &c->stored);
}

static enum ordeal_status effects(struct log *l, struct commit *c)
{
    enum ordeal_status status = ORDEAL_OK;
    skip_blanks(l);
    while (status == ORDEAL_OK && *l->p != '\n') {
        if (takes(l, "mem"))
            status = memory(l, c);
        else if ((unsigned char)((*l->p | 0x20) - 'a') < 26)
            status = written_register(l, c);
        else
            return wrong(l, "a register (x5 0x…) or an access (mem 0x…)");
        if (status == ORDEAL_OK && !is_blank(l->p[-1]) && !is_blank(*l->p) && *l->p != '\n')
            return wrong(l, "a blank");
        skip_blanks(l);
    }
    return status;
}

/* ` 0xPC (0xINSTRUCTION)` and what it did. */
static enum ordeal_status committed(struct log *l, struct commit *c)
{
    uint64_t pc;
    skip_blanks(l);
    const char *begin = l->p;
    if (!at_hex(l))
        return wrong(l, "the address of the instruction, in hexadecimal digits");
    enum ordeal_status status = number(l, "the address of the instruction", &pc);
    if (status != ORDEAL_OK)
        return status;
    c->wide = l->p - begin > 10;
    skip_blanks(l);
    if (!takes(l, "(") || !at_hex(l))
        return wrong(l, "the instruction, as (0x00000013)");
    begin = l->p;
    status = number(l, "the instruction", &c->instruction);
    if (status != ORDEAL_OK)
        return status;
    if (c->instruction > UINT32_MAX) {
        l->p = begin;
        return wrong(l, "an instruction of 16 or 32 bits");
    }
    if (!takes(l, ")"))
        return wrong(l, "')'");
    return effects(l, c);
}

/* ---- what it means ----------------------------------------------------------------------- */

static struct hart *hart_of(struct log *l, uint64_t number)
{
    uint32_t thread;
    if (ordeal_trace_thread(l->t, (uint32_t)number, &thread) != ORDEAL_OK)
        return NULL;
    if (thread < l->harts.count)
        return &l->harts.data[thread];
    assert(thread == l->harts.count);
    struct hart fresh = { .thread = thread };
    return VEC_PUSH(l->r->o, &l->harts, fresh) ? &l->harts.data[thread] : NULL;
}

static void add_source(struct sources *s, uint32_t load)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->load[i] == load)
            return;
    if (s->count < MOST_SOURCES)
        s->load[s->count++] = load;
}

static void add_sources(struct sources *s, const struct sources *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        add_source(s, more->load[i]);
}

/* Memory is at 0x80000000 and above, or where lines of the log say; the last of these that speaks
 * of an address decides. */
static bool is_memory(const struct log *l, uint64_t address)
{
    bool memory = address >= 0x80000000;
    for (size_t i = 0; i < l->ranges.count; i++)
        if (address - l->ranges.data[i].first < l->ranges.data[i].size)
            memory = !l->ranges.data[i].device;
    return memory;
}

/* Bytes [address, address + count) of one block of eight, all at once or none. */
static uint64_t mask_of(uint64_t address, uint32_t count)
{
    return ((1ull << count) - 1) << (address & 7);
}

/* What a load sees before any line accessed it was there from the beginning. */
static enum ordeal_status look(struct log *l, uint64_t address, uint8_t size_log2, uint64_t value,
                               bool reads)
{
    struct ordeal *o = l->r->o;
    uint32_t count = 1u << size_log2;
    uint32_t block = words_enter(o, &l->seen, 0, address & ~7ull, 3);
    if (block == NONE)
        return o->error.status;
    uint64_t *known = &l->seen.list.data[block].events;
    uint64_t before = *known, mask = mask_of(address, count);
    *known |= mask;
    enum ordeal_status status = ORDEAL_OK;
    if (!reads || (before & mask) == mask)
        return status;
    if (!(before & mask))
        return value ? ordeal_trace_init(l->t, 0, address, size_log2, value) : status;
    for (uint32_t i = 0; i < count && status == ORDEAL_OK; i++)
        if (!(before & mask_of(address + i, 1)) && (value >> 8 * i & 0xff))
            status = ordeal_trace_init(l->t, 0, address + i, 0, value >> 8 * i & 0xff);
    return status;
}

static enum ordeal_status depends(struct log *l, const struct sources *on,
                                  enum ordeal_register_use use)
{
    enum ordeal_status status = ORDEAL_OK;
    for (uint32_t i = 0; i < on->count && status == ORDEAL_OK; i++)
        status = ordeal_trace_uses_register(l->t, on->load[i], use);
    return status;
}

static enum ordeal_status add_operation(struct log *l, struct hart *h, const struct riscv_access *a,
                                        struct ordeal_op *op, uint32_t load)
{
    bool reads = trace_op_traits[op->kind] & OP_READS,
         writes = trace_op_traits[op->kind] & OP_WRITES;
    op->thread = h->thread;
    op->line = l->r->line < UINT32_MAX ? (uint32_t)l->r->line : UINT32_MAX;
    if (reads || op->kind == ORDEAL_STORE_CONDITIONAL)
        op->flags |= ORDEAL_HAS_VALUE;
    enum ordeal_status status = look(l, op->address, op->size_log2, op->read, reads);
    if (status == ORDEAL_OK)
        status = ordeal_trace_add(l->t, op, 0);
    if (status == ORDEAL_OK)
        status = depends(l, &h->of[a->address], ORDEAL_REGISTER_ADDRESS);
    if (status == ORDEAL_OK && writes)
        status = depends(l, &h->of[a->data], ORDEAL_REGISTER_DATA);
    if (status == ORDEAL_OK)
        status = depends(l, &h->branches, ORDEAL_REGISTER_CONTROL);
    if (status == ORDEAL_OK && load)
        status = ordeal_trace_writes_register(l->t, load);
    return status;
}

static uint64_t low_bytes(uint64_t value, uint32_t count)
{
    return count >= 8 ? value : value & ((1ull << 8 * count) - 1);
}

/* An access that is not aligned is one of each byte: RISC-V promises no more. */
static enum ordeal_status add_access(struct log *l, struct hart *h, const struct riscv_access *a,
                                     struct ordeal_op op, uint32_t load)
{
    uint32_t count = 1u << op.size_log2;
    uint64_t address = op.address, read = op.read, write = op.write;
    if (!(address & (count - 1))) {
        op.read = op.kind == ORDEAL_STORE_CONDITIONAL ? read : low_bytes(read, count);
        op.write = low_bytes(write, count);
        return add_operation(l, h, a, &op, load);
    }
    enum ordeal_status status = ORDEAL_OK;
    op.size_log2 = 0;
    for (uint32_t i = 0; i < count && status == ORDEAL_OK; i++) {
        op.address = address + i;
        op.read = read >> 8 * i & 0xff;
        op.write = write >> 8 * i & 0xff;
        status = add_operation(l, h, a, &op, load);
    }
    return status;
}

/* Is it the SC of the last LR, as the checker knows them? One that is not is told as a store. */
static bool has_reserved(const struct hart *h, const struct ordeal_op *op)
{
    return h->reserved_bytes == 1u << op->size_log2 && h->reserved == op->address;
}

/* An SC ends what an LR began, and so does a store to the same place. */
static void reserve(struct hart *h, const struct ordeal_op *op)
{
    uint32_t bytes = 1u << op->size_log2;
    if (op->kind == ORDEAL_LOAD_RESERVED) {
        h->reserved = op->address;
        h->reserved_bytes = (uint8_t)bytes;
    } else if (op->kind == ORDEAL_STORE_CONDITIONAL
               || (trace_op_traits[op->kind] & OP_WRITES
                   && op->address < h->reserved + h->reserved_bytes
                   && h->reserved < op->address + bytes)) {
        h->reserved_bytes = 0;
    }
}

static enum ordeal_status add_memory(struct log *l, struct hart *h, const struct riscv_access *a,
                                     const struct commit *c, uint32_t *load)
{
    bool wrote = c->has_stored, value = c->has_register;
    uint8_t marks = (uint8_t)((a->acquires ? ORDEAL_ACQUIRES : 0)
                              | (a->releases ? ORDEAL_RELEASES : 0));
    struct ordeal_op op = { .size_log2 = a->size_log2,
                            .flags = marks,
                            .address = c->address,
                            .read = c->written,
                            .write = c->stored };
    switch (a->does) {
    case RISCV_LOADS: op.kind = ORDEAL_LOAD; break;
    case RISCV_RESERVES: op.kind = ORDEAL_LOAD_RESERVED; break;
    case RISCV_STORES: op.kind = ORDEAL_STORE; break;
    case RISCV_CONDITIONAL:
        op.kind = has_reserved(h, &op) ? ORDEAL_STORE_CONDITIONAL : ORDEAL_STORE;
        op.read = 0;
        break;
    default: /* to x0 it is a store; what stored nothing is a load */
        op.kind = wrote && value ? ORDEAL_SWAP : wrote ? ORDEAL_STORE : ORDEAL_LOAD;
    }
    bool writes = trace_op_traits[op.kind] & OP_WRITES, reads = trace_op_traits[op.kind] & OP_READS;
    if (!is_memory(l, c->address) && !l->elsewhere) {
        l->elsewhere = l->r->line;
        l->device = c->address;
    }
    if ((writes && !wrote) || (reads && !value) || !is_memory(l, c->address)) {
        if (op.kind == ORDEAL_LOAD_RESERVED)
            h->reserved_bytes = 0;
        return ORDEAL_OK; /* nobody knows what was read, or it is no memory */
    }
    if (op.kind == ORDEAL_STORE)
        op.flags &= (uint8_t)~ORDEAL_ACQUIRES;
    if (value && op.kind != ORDEAL_STORE)
        *load = ++h->loads;
    reserve(h, &op);
    enum ordeal_status status = add_access(l, h, a, op, *load);
    h->branches.count = 0;
    return status;
}

static enum ordeal_status add_fence(struct log *l, const struct hart *h, uint8_t barrier)
{
    struct ordeal_op op = { .kind = ORDEAL_MEMBAR,
                            .barrier = barrier,
                            .thread = h->thread,
                            .line = l->r->line < UINT32_MAX ? (uint32_t)l->r->line : UINT32_MAX };
    return ordeal_trace_add(l->t, &op, 0);
}

/* What the written register comes from now, if anything is known of it. */
static void follow(struct hart *h, const struct riscv_access *a, const struct commit *c,
                   uint32_t load)
{
    struct sources s = { .count = 0 };
    if (a->does == RISCV_BRANCHES)
        for (int i = 0; i < 2; i++)
            add_sources(&h->branches, &h->of[a->from[i]]);
    if (!c->has_register)
        return;
    if (a->does == RISCV_COMPUTES)
        for (int i = 0; i < 2; i++)
            add_sources(&s, &h->of[a->from[i]]);
    if (load)
        add_source(&s, load);
    h->of[c->reg] = s;
}

static enum ordeal_status commit(struct log *l, const struct commit *c)
{
    struct riscv_access a = riscv_access((uint32_t)c->instruction, c->wide);
    struct hart *h = hart_of(l, c->hart);
    if (!h)
        return l->r->o->error.status;
    if (c->wide && !l->committed)
        ordeal_trace_atomic(l->t, 8);
    l->committed = true;
    l->p = l->begin;
    enum ordeal_status status = ORDEAL_OK;
    uint32_t load = 0;
    bool known = riscv_is_memory(a.does);
    if (c->has_address && !known && is_memory(l, c->address))
        return wrong(l, "no access to memory by an instruction that is not known to have one");
    if (known && !c->has_address && a.does != RISCV_CONDITIONAL)
        return wrong(l, "the address of the access (mem 0x…), as newer versions of Spike tell it");
    if (known && c->has_address)
        status = add_memory(l, h, &a, c, &load);
    else if (known)
        h->reserved_bytes = 0; /* an SC that failed */
    else if (a.does == RISCV_FENCES)
        status = add_fence(l, h, a.barrier);
    follow(h, &a, c, load);
    return refused(l->r, status, l->r->line, 1);
}

/* ---- the file ---------------------------------------------------------------------------- */

/* `memory FIRST SIZE` and `device FIRST SIZE`, which no simulator writes, but a person may. */
static enum ordeal_status range(struct log *l, bool device)
{
    struct range range = { .device = device };
    skip_blanks(l);
    enum ordeal_status status = number(l, "the first address of the range", &range.first);
    skip_blanks(l);
    if (status == ORDEAL_OK)
        status = number(l, "the size of the range in bytes", &range.size);
    skip_blanks(l);
    if (status == ORDEAL_OK && *l->p != '\n')
        status = wrong(l, "the end of the line");
    if (status == ORDEAL_OK && !VEC_PUSH(l->r->o, &l->ranges, range))
        status = l->r->o->error.status;
    return status;
}

/* A commit begins with the privilege. Other lines are for people: `core   0: 0x… (0x…) nop`, and
 * what is said of traps and symbols. */
static enum ordeal_status core(struct log *l)
{
    struct commit c = { 0 };
    skip_blanks(l);
    const char *place = l->p;
    enum ordeal_status status = number(l, "the number of a hart", &c.hart);
    if (status != ORDEAL_OK)
        return status;
    if (c.hart >= ORDEAL_NONE) {
        l->p = place;
        return expected(l->r, l->begin, l->p, "the number of a hart up to %" PRIu32,
                        ORDEAL_NONE - 1);
    }
    if (!takes(l, ":"))
        return wrong(l, "':'");
    skip_blanks(l);
    if (!is_digit(l->p[0]) || !is_blank(l->p[1]))
        return ORDEAL_OK;
    l->p++;
    status = committed(l, &c);
    return status == ORDEAL_OK ? commit(l, &c) : status;
}

static enum ordeal_status line(struct log *l)
{
    skip_blanks(l);
    if (*l->p == '\n' || *l->p == '#')
        return ORDEAL_OK;
    if (takes(l, "core"))
        return core(l);
    if (takes(l, "memory"))
        return range(l, false);
    if (takes(l, "device"))
        return range(l, true);
    return wrong(l, "a line of a commit log (core   0: 3 0x80000000 (0x00000013))");
}

enum ordeal_status read_commits(struct ordeal_reader *r, struct ordeal_trace *t)
{
    struct log l = { .r = r, .t = t };
    struct line text;
    enum ordeal_status status = r->traces ? ORDEAL_END : ORDEAL_OK;
    while (status == ORDEAL_OK && (status = reader_line(r, &text)) == ORDEAL_OK) {
        l.begin = l.p = text.begin;
        status = line(&l);
    }
    bool nowhere = l.elsewhere && !l.seen.list.count;
    VEC_FREE(r->o, &l.harts);
    VEC_FREE(r->o, &l.ranges);
    words_free(r->o, &l.seen);
    if (status != ORDEAL_END || r->traces)
        return status;
    if (!l.committed)
        return fail_at(r->o, r->name, r->line + 1, 1,
                       "expected a line of a commit log "
                       "(core   0: 3 0x80000000 (0x00000013)), found the end of the file");
    if (nowhere)
        return fail_at(
            r->o, r->name, l.elsewhere, 1,
            "expected an access to memory somewhere, found only others, first to 0x%" PRIx64
            ": memory is at 0x80000000 and above if no line 'memory FIRST SIZE' says "
            "where",
            l.device);
    ordeal_trace_claim(t, ORDEAL_RVWMO);
    return ORDEAL_OK;
}
