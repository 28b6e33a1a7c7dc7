/* SPDX-License-Identifier: Apache-2.0 */
/* The reference machine: a hart, RV32IMA_Zicsr with amocas.w, hints and transactions. */
#include "iss_parts.h"
#include "rv_alu.h"

enum {
    MISALIGNED_FETCH = 0, FETCH_FAULT = 1, ILLEGAL = 2, BREAKPOINT = 3, MISALIGNED_LOAD = 4,
    LOAD_FAULT = 5, MISALIGNED_STORE = 6, STORE_FAULT = 7, ECALL = 11,
    MIE = 1 << 3, MPIE = 1 << 7, MPP = 3 << 11, SOFTWARE = 1 << 3
};
static const uint32_t SOFTWARE_INTERRUPT = 0x80000003;

/* One instruction taken apart, for the hart that executes it. */
struct turn {
    struct soc *s;
    uint32_t hart;
    struct iss_hart *h;
    uint32_t instruction, rd, rs1, rs2, funct3, funct7, a, b; /* a, b: values of rs1, rs2 */
    uint32_t next;                                            /* pc of the next */
};

static void record(const struct turn *t, struct iss_record r) { iss_record(t->s, t->hart, &r); }

static void set(struct turn *t, uint32_t value)
{
    if (t->rd != 0)
        t->h->x[t->rd] = value;
}

/* ---- aborts and traps ---------------------------------------------------------------------- */

static void tx_abort(struct turn *t, uint32_t cause, uint32_t code)
{
    struct iss_hart *h = t->h;
    iss_doom(t->s, t->hart, cause);
    uint32_t status = h->doomed | code << 8;
    record(t, (struct iss_record){ .kind = N_REC_TX_ABORT, .read = status });
    h->tx = false;
    h->doomed = 0;
    if (h->tx_register != 0)
        h->x[h->tx_register] = status;
    t->next = h->tx_target;
    h->counter[E_TX_ABORTED]++;
}

static void enter(struct turn *t, uint32_t cause, uint32_t pc, uint32_t value)
{
    struct iss_hart *h = t->h;
    h->mepc = pc;
    h->mcause = cause;
    h->mtval = value;
    h->mstatus = h->mstatus & MIE ? MPIE : 0;
    t->next = h->mtvec;
}

/* These return false, for the instruction does not retire. */
static bool unsupported(struct turn *t)
{
    tx_abort(t, N_TX_UNSUPPORTED, 0);
    return false;
}

static bool trap(struct turn *t, uint32_t cause, uint32_t value)
{
    if (t->h->tx)
        return unsupported(t);
    enter(t, cause, t->h->pc, value);
    t->h->counter[E_EXCEPTION]++;
    return false;
}

static bool illegal(struct turn *t) { return trap(t, ILLEGAL, t->instruction); }

/* ---- memory -------------------------------------------------------------------------------- */

static bool is_ipi(const struct turn *t, uint32_t address)
{
    return address >= N_MAP_IPI && address - N_MAP_IPI < 4 * t->s->harts;
}

static bool is_uncached(uint32_t address) { return address < N_MAP_MEMORY; }

static bool in_memory(uint32_t address)
{
    return address - N_MAP_MEMORY < ISS_MEMORY_BYTES ||
           address - N_MAP_UNCACHED < ISS_MEMORY_BYTES;
}

/* Is the access as it must be? If not the trap was taken, or the transaction is over. */
static bool valid(struct turn *t, uint32_t address, uint32_t size, bool store, bool atomic)
{
    if (address & ((1u << size) - 1))
        return trap(t, store ? MISALIGNED_STORE : MISALIGNED_LOAD, address);
    if (!in_memory(address) && !(is_ipi(t, address) && size == 2 && !atomic))
        return trap(t, store ? STORE_FAULT : LOAD_FAULT, address);
    if (is_uncached(address)) {
        if (t->h->tx)
            return unsupported(t);
        t->h->counter[E_UNCACHED]++;
    }
    return true;
}

static uint32_t mask_of(uint32_t size) { return size == 2 ? UINT32_MAX : (1u << (8 << size)) - 1; }

static bool read_word(struct turn *t, uint32_t address, uint32_t *word)
{
    if (is_ipi(t, address)) {
        *word = t->s->hart[(address - N_MAP_IPI) / 4].msip;
        return true;
    }
    if (iss_read(t->s, t->hart, address, word))
        return true;
    tx_abort(t, N_TX_CAPACITY, 0);
    return false;
}

static bool write_word(struct turn *t, uint32_t address, uint32_t value, uint32_t size)
{
    uint32_t shift = 8 * (address & 3);
    if (is_ipi(t, address)) {
        t->s->hart[(address - N_MAP_IPI) / 4].msip = value & 1;
        return true;
    }
    if (iss_write(t->s, t->hart, address, value << shift, mask_of(size) << shift))
        return true;
    tx_abort(t, N_TX_CAPACITY, 0);
    return false;
}

static void visible(struct turn *t, uint32_t address, uint32_t size, uint32_t value)
{
    if (t->s->setup.visible)
        record(t, (struct iss_record){ .kind = N_REC_VISIBLE, .size = size, .address = address,
                                       .written = value & mask_of(size) });
}

static bool load(struct turn *t)
{
    uint32_t address = t->a + (uint32_t)((int32_t)t->instruction >> 20);
    uint32_t size = t->funct3 & 3, word;
    if (t->funct3 == 3 || t->funct3 > 5)
        return illegal(t);
    if (!valid(t, address, size, false, false) || !read_word(t, address, &word))
        return false;
    word = word >> 8 * (address & 3) & mask_of(size);
    record(t, (struct iss_record){ N_REC_LOAD, size, address, word, 0 });
    t->h->counter[E_LOAD]++;
    if (t->funct3 == 0)
        word = (uint32_t)(int8_t)word;
    if (t->funct3 == 1)
        word = (uint32_t)(int16_t)word;
    set(t, word);
    return true;
}

static bool store(struct turn *t)
{
    uint32_t address = t->a + ((uint32_t)((int32_t)t->instruction >> 25) << 5 | t->rd);
    uint32_t size = t->funct3;
    if (size > 2)
        return illegal(t);
    if (!valid(t, address, size, true, false) || !write_word(t, address, t->b, size))
        return false;
    record(t, (struct iss_record){ N_REC_STORE, size, address, 0, t->b & mask_of(size) });
    visible(t, address, size, t->b);
    t->h->counter[E_STORE]++;
    return true;
}

static bool amo_result(uint32_t funct5, uint32_t old, uint32_t b, uint32_t compare, uint32_t *new)
{
    int32_t so = (int32_t)old, sb = (int32_t)b;
    switch (funct5) {
    case 0x00: *new = old + b; return true;
    case 0x01: *new = b; return true;
    case 0x04: *new = old ^ b; return true;
    case 0x05: *new = old == compare ? b : old; return true;
    case 0x08: *new = old | b; return true;
    case 0x0c: *new = old & b; return true;
    case 0x10: *new = so < sb ? old : b; return true;
    case 0x14: *new = so > sb ? old : b; return true;
    case 0x18: *new = old < b ? old : b; return true;
    case 0x1c: *new = old > b ? old : b; return true;
    default: return false;
    }
}

static bool load_reserved(struct turn *t)
{
    uint32_t word;
    if (t->rs2 != 0)
        return illegal(t);
    if (!valid(t, t->a, 2, false, true))
        return false;
    if (t->h->tx)
        return unsupported(t);
    if (!read_word(t, t->a, &word))
        return false;
    t->h->reserved = !is_uncached(t->a); /* nobody keeps one out there */
    t->h->reservation = iss_line(t->a);
    record(t, (struct iss_record){ N_REC_LR, 2, t->a, word, 0 });
    t->h->counter[E_ATOMIC]++;
    set(t, word);
    return true;
}

static bool store_conditional(struct turn *t)
{
    if (!valid(t, t->a, 2, true, true))
        return false;
    if (t->h->tx)
        return unsupported(t);
    bool good = t->h->reserved && t->h->reservation == iss_line(t->a);
    t->h->reserved = false;
    if (good)
        write_word(t, t->a, t->b, 2);
    record(t, (struct iss_record){ N_REC_SC, 2, t->a, !good, t->b });
    if (good)
        visible(t, t->a, 2, t->b);
    t->h->counter[E_ATOMIC]++;
    t->h->counter[E_SC_FAILED] += !good;
    set(t, !good);
    return true;
}

static bool atomic(struct turn *t)
{
    uint32_t funct5 = t->funct7 >> 2, old, new;
    if (t->funct3 != 2)
        return illegal(t);
    if (funct5 == 2)
        return load_reserved(t);
    if (funct5 == 3)
        return store_conditional(t);
    if (!amo_result(funct5, 0, 0, 0, &new))
        return illegal(t);
    if (!valid(t, t->a, 2, true, true) || !read_word(t, t->a, &old))
        return false;
    uint32_t compare = t->h->x[t->rd];
    amo_result(funct5, old, t->b, compare, &new);
    /* A comparison that fails writes what is there, for the line is taken all the same. */
    if (!write_word(t, t->a, new, 2))
        return false;
    record(t, (struct iss_record){ N_REC_ATOMIC, 2, t->a, old, new });
    if (funct5 != 5 || old == compare)
        visible(t, t->a, 2, new);
    t->h->counter[E_ATOMIC]++;
    set(t, old);
    return true;
}

/* fence, fence.i, cbo: what is illegal among them is so for all registers. */
static bool misc_memory(struct turn *t)
{
    uint32_t immediate = t->instruction >> 20;
    if (t->funct3 == 0) {
        record(t, (struct iss_record){ .kind = N_REC_FENCE, .address = immediate });
        return true;
    }
    if (t->funct3 == 1)
        return true;
    if (t->funct3 != 2 || immediate > 2)
        return illegal(t);
    if (in_memory(t->a) && !is_uncached(t->a))
        record(t, (struct iss_record){ .kind = N_REC_HINT, .address = t->a });
    return true;
}

static void prefetch(struct turn *t)
{
    uint32_t address = t->a + ((uint32_t)((int32_t)t->instruction >> 25) << 5);
    if (in_memory(address) && !is_uncached(address))
        record(t, (struct iss_record){ .kind = N_REC_HINT, .address = address });
}

/* ---- transactions -------------------------------------------------------------------------- */

static uint32_t branch_offset(uint32_t i)
{
    return (uint32_t)((int32_t)i >> 31) << 12 | (i << 4 & 0x800) | (i >> 20 & 0x7e0) |
           (i >> 7 & 0x1e);
}

static bool transaction(struct turn *t)
{
    struct iss_hart *h = t->h;
    switch (t->funct3) {
    case N_FUNCT_TX_BEGIN:
        if (h->tx)
            return unsupported(t);
        if ((h->pc + branch_offset(t->instruction)) & 2)
            return trap(t, MISALIGNED_FETCH, h->pc + branch_offset(t->instruction));
        h->tx = true;
        h->tx_target = h->pc + branch_offset(t->instruction);
        h->tx_register = t->rs1;
        h->undos = h->reads = h->writes = 0;
        record(t, (struct iss_record){ .kind = N_REC_TX_BEGIN });
        return true;
    case N_FUNCT_TX_COMMIT:
        if (!h->tx)
            return true;
        record(t, (struct iss_record){ .kind = N_REC_TX_COMMIT });
        h->tx = false;
        h->undos = 0;
        h->counter[E_TX_COMMITTED]++;
        return true;
    case N_FUNCT_TX_ABORT:
        if (!h->tx)
            return true;
        tx_abort(t, N_TX_EXPLICIT, t->instruction >> 20 & 0xff);
        return false;
    default:
        return illegal(t);
    }
}

/* ---- system -------------------------------------------------------------------------------- */

static bool csr_read(struct turn *t, uint32_t number, uint32_t *value)
{
    struct iss_hart *h = t->h;
    switch (number) {
    case 0x300: *value = h->mstatus | MPP; return true;
    case 0x304: *value = h->mie; return true;
    case 0x305: *value = h->mtvec; return true;
    case 0x340: *value = h->mscratch; return true;
    case 0x341: *value = h->mepc; return true;
    case 0x342: *value = h->mcause; return true;
    case 0x343: *value = h->mtval; return true;
    case 0x344: *value = h->msip ? SOFTWARE : 0; return true;
    case 0xb00: *value = (uint32_t)t->s->cycle; return true;
    case 0xb80: *value = (uint32_t)(t->s->cycle >> 32); return true;
    case 0xb02: *value = (uint32_t)h->retired; return true;
    case 0xb82: *value = (uint32_t)(h->retired >> 32); return true;
    case 0xf14: *value = t->hart; return true;
    case 0x301: case 0x310: case 0xf11: case 0xf12: case 0xf13: case 0xf15:
    case N_CSR_DONE: case N_CSR_MARK: *value = 0; return true;
    default: return false;
    }
}

static bool csr_write(struct turn *t, uint32_t number, uint32_t value)
{
    struct iss_hart *h = t->h;
    switch (number) {
    case 0x300: h->mstatus = value & (MIE | MPIE); break;
    case 0x304: h->mie = value & SOFTWARE; break;
    case 0x305: h->mtvec = value & ~3u; break;
    case 0x340: h->mscratch = value; break;
    case 0x341: h->mepc = value & ~3u; break;
    case 0x342: h->mcause = value; break;
    case 0x343: h->mtval = value; break;
    case 0x344: h->msip = h->msip && (value & SOFTWARE); break;
    case N_CSR_MARK:
        record(t, (struct iss_record){ .kind = N_REC_MARK, .read = value });
        break;
    case N_CSR_DONE:
        if (value == 1) {
            if (h->tx)
                return unsupported(t);
            record(t, (struct iss_record){ .kind = N_REC_DONE });
            h->done = true;
        }
        break;
    }
    return true;
}

static bool csr(struct turn *t)
{
    uint32_t number = t->instruction >> 20, old;
    uint32_t operand = t->funct3 & 4 ? t->rs1 : t->a;
    bool writes = (t->funct3 & 3) == 1 || t->rs1 != 0;
    bool own = number == N_CSR_DONE || number == N_CSR_MARK;
    if (!csr_read(t, number, &old) || (writes && (number >> 10 == 3 || (own && t->rd != 0))))
        return illegal(t);
    uint32_t new = (t->funct3 & 3) == 1 ? operand
                   : (t->funct3 & 3) == 2 ? old | operand : old & ~operand;
    if (writes && !csr_write(t, number, new))
        return false;
    set(t, old);
    return true;
}

static bool system_instruction(struct turn *t)
{
    struct iss_hart *h = t->h;
    if (t->funct3 != 0)
        return t->funct3 == 4 ? illegal(t) : csr(t);
    switch (t->instruction) {
    case 0x00000073: return trap(t, ECALL, 0);
    case 0x00100073: return trap(t, BREAKPOINT, 0);
    case 0x10500073: h->asleep = true; return true;
    case 0x30200073:
        h->mstatus = MPIE | (h->mstatus & MPIE ? MIE : 0);
        t->next = h->mepc;
        return true;
    default: return illegal(t);
    }
}

/* ---- arithmetic and jumps ------------------------------------------------------------------ */

static uint32_t multiply(uint32_t funct3, uint32_t a, uint32_t b)
{
    int64_t sa = (int32_t)a, sb = (int32_t)b;
    switch (funct3) {
    case 0: return a * b;
    case 1: return (uint32_t)((uint64_t)(sa * sb) >> 32);
    case 2: return (uint32_t)((uint64_t)(sa * (int64_t)(uint64_t)b) >> 32);
    case 3: return (uint32_t)((uint64_t)a * b >> 32);
    case 4: return b == 0 ? UINT32_MAX : (uint32_t)(sa / sb);
    case 5: return b == 0 ? UINT32_MAX : a / b;
    case 6: return b == 0 ? a : (uint32_t)(sa % sb);
    default: return b == 0 ? a : a % b;
    }
}

static bool with_immediate(struct turn *t)
{
    uint32_t immediate = (uint32_t)((int32_t)t->instruction >> 20);
    bool shift = (t->funct3 & 3) == 1, other = t->funct3 == 5 && t->funct7 == 0x20;
    if (shift && t->funct7 != 0 && !other)
        return illegal(t);
    if (t->funct3 == 6 && t->rd == 0 && (t->rs2 == 1 || t->rs2 == 3))
        prefetch(t);
    set(t, rv_compute(t->funct3, other, t->a, immediate));
    return true;
}

static bool with_register(struct turn *t)
{
    if (t->funct7 == 1)
        set(t, multiply(t->funct3, t->a, t->b));
    else if (t->funct7 == 0 || (t->funct7 == 0x20 && (t->funct3 == 0 || t->funct3 == 5)))
        set(t, rv_compute(t->funct3, t->funct7 != 0, t->a, t->b));
    else
        return illegal(t);
    return true;
}

static bool go(struct turn *t, uint32_t target)
{
    if (target & 2)
        return trap(t, MISALIGNED_FETCH, target);
    t->next = target;
    t->h->counter[E_BRANCH_TAKEN]++;
    return true;
}

static bool branch(struct turn *t)
{
    bool less = t->funct3 & 2 ? t->a < t->b : (int32_t)t->a < (int32_t)t->b;
    bool taken = (t->funct3 & 4 ? less : t->a == t->b) != (t->funct3 & 1);
    if (t->funct3 == 2 || t->funct3 == 3)
        return illegal(t);
    return taken ? go(t, t->h->pc + branch_offset(t->instruction)) : true;
}

static bool jump(struct turn *t)
{
    uint32_t i = t->instruction, target;
    if ((i & 0x7f) == 0x6f)
        target = t->h->pc + ((uint32_t)((int32_t)i >> 31) << 20 | (i & 0xff000) |
                             (i >> 9 & 0x800) | (i >> 20 & 0x7fe));
    else if (t->funct3 == 0)
        target = (t->a + (uint32_t)((int32_t)i >> 20)) & ~1u;
    else
        return illegal(t);
    if (!go(t, target))
        return false;
    set(t, t->h->pc + 4);
    return true;
}

static bool execute(struct turn *t)
{
    uint32_t i = t->instruction;
    switch (i & 0x7f) {
    case 0x03: return load(t);
    case 0x0f: return misc_memory(t);
    case 0x13: return with_immediate(t);
    case 0x17: set(t, t->h->pc + (i & 0xfffff000)); return true;
    case 0x23: return store(t);
    case 0x2f: return atomic(t);
    case 0x33: return with_register(t);
    case 0x37: set(t, i & 0xfffff000); return true;
    case 0x63: return branch(t);
    case 0x67: case 0x6f: return jump(t);
    case 0x73: return system_instruction(t);
    case N_OPCODE_CUSTOM: return transaction(t);
    default: return illegal(t);
    }
}

void iss_turn(struct soc *s, uint32_t hart)
{
    struct iss_hart *h = &s->hart[hart];
    struct turn t = { .s = s, .hart = hart, .h = h, .next = h->pc + 4 };
    bool pending = h->msip && h->mie;
    h->asleep = h->asleep && !pending;
    if (h->doomed) {
        tx_abort(&t, h->doomed, 0);
    } else if (pending && h->mstatus & MIE) {
        if (h->tx) {
            tx_abort(&t, N_TX_INTERRUPT, 0);
        } else {
            enter(&t, SOFTWARE_INTERRUPT, h->pc, 0);
            h->counter[E_INTERRUPT]++;
        }
    } else if (h->asleep) {
        return;
    } else if (h->pc >= ISS_CODE_BYTES) {
        trap(&t, FETCH_FAULT, h->pc);
    } else {
        uint32_t i = t.instruction = h->code[h->pc / 4];
        t.rd = i >> 7 & 31;
        t.rs1 = i >> 15 & 31;
        t.rs2 = i >> 20 & 31;
        t.funct3 = i >> 12 & 7;
        t.funct7 = i >> 25;
        t.a = h->x[t.rs1];
        t.b = h->x[t.rs2];
        if (execute(&t)) {
            h->retired++;
            h->counter[E_INSTRUCTION]++;
        }
    }
    h->pc = t.next;
}
