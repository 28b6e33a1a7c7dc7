/* SPDX-License-Identifier: Apache-2.0 */
/* How operations become instructions. elf_runtime.S says which registers are for what.
 *
 * Swaps and AMOs are those of RISC-V, with the marks of the test. A CAS is a loop of lr and sc; to
 * the checker it is done at once, at its sc: so that has .aqrl, and nothing behind it comes before. A
 * dependence of the address is one on registers by xor, as is one of the data; one of control is a
 * branch to the next instruction. Of a CAS also the one on the register it compares with is one of
 * the address, for its load may else go before that is known.
 *
 * Values read stay in registers of the pool and go to memory when it is full, and where ways
 * part or meet; so between two operations of the test there is seldom another. */
#include "elf_assembly.h"

#include <inttypes.h>
#include <string.h>

#include "base/random.h"
#include "test/extension.h"
#include "test/lfsr.h"
#include "signature.h"

/* Taken from the front by values read; from the back by registers of the test. */
static const char *const pool[] = {
    "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t4", "t5", "t6",
    "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
};
enum {
    POOL = sizeof pool / sizeof *pool,
    TEST_REGISTERS = 8,   /* at most so many of the pool; others are in the block of the hart */
    BLOCK_REGISTERS = 64, /* where they are */
    BLOCK_BYTES = BLOCK_REGISTERS + MOST_REGISTERS * 8,
    LINE_RECORD = 8 + LINE_BYTES,
    FINAL_RECORD = 16, /* an address, whose it is, 0 */
    QUIET = 16,        /* after so many operations progress is told again */
    NEAR = 2048,       /* what an offset reaches, either way */
};

struct assembly {
    FILE *out;
    const struct program *p;
    const struct elf_platform *f;
    uint32_t thread, index;         /* where we are: the index is of an instruction */
    const struct program_thread *t;
    uint32_t values, quiet;         /* registers for values; operations since progress was told */
    uint32_t held[POOL];            /* where they go, from tp */
    uint32_t holding, filled;       /* values in registers; bytes of slots they fill */
    const char *base;               /* of the operation at hand, see locate() */
    int64_t displacement;
};

static bool is64(const struct assembly *s) { return s->f->xlen == 64; }

/* ---- registers ------------------------------------------------------------------------- */

/* Where register r of the test is: a register of the pool, or NULL: in the block of the hart. */
static const char *test_register(uint32_t r)
{
    return r < TEST_REGISTERS ? pool[POOL - 1 - r] : NULL;
}

static uint32_t block_offset(uint32_t r) { return BLOCK_REGISTERS + r * 8; }

/* The register that holds it, loaded into `scratch` if need be. */
static const char *fetch_register(struct assembly *s, uint32_t r, const char *scratch)
{
    const char *name = test_register(r);
    if (name)
        return name;
    fprintf(s->out, "    LX %s, %u(sp)\n", scratch, block_offset(r));
    return scratch;
}

static void tell_progress(struct assembly *s)
{
    fprintf(s->out, "    li t2, %u\n    sw t2, PROGRESS_OPERATION(ra)\n", s->index);
    s->quiet = 0;
}

/* Values in registers go to their slots, as whole registers. */
static void empty_hands(struct assembly *s)
{
    for (uint32_t i = 0; i < s->holding; i++)
        fprintf(s->out, "    SX %s, %u(tp)\n", pool[i], s->held[i]);
    if (s->filled)
        fprintf(s->out, "    addi tp, tp, %u\n", s->filled);
    s->holding = s->filled = 0;
}

/* Also tells that the thread has come to this instruction. Uses t2. */
static void flush(struct assembly *s)
{
    empty_hands(s);
    tell_progress(s);
}

static void reserve(struct assembly *s, uint32_t count)
{
    if (s->holding + count > s->values)
        flush(s);
}

/* A register for a value that goes `half` * 4 bytes into the next slot. */
static const char *hold(struct assembly *s, uint32_t half)
{
    s->held[s->holding] = s->filled + half * 4;
    return pool[s->holding++];
}

/* The register of the test takes the value just read, of a word unsigned; later parts of a wider
 * value only leave their mark on what depends on it. Uses t3. */
static void set_register(struct assembly *s, const struct instruction *i, const char *value,
                         bool later_part)
{
    if (i->sets == NO_REGISTER)
        return;
    const char *name = test_register(i->sets), *to = name ? name : "t3";
    if (later_part) {
        fprintf(s->out, "    xor t3, %s, %s\n", value, value);
        if (name)
            fprintf(s->out, "    or %s, %s, t3\n", name, name);
        else
            fprintf(s->out, "    LX t2, %u(sp)\n    or t3, t3, t2\n", block_offset(i->sets));
    } else if (is64(s) && i->size_log2 == 2) {
        fprintf(s->out, "    slli %s, %s, 32\n    srli %s, %s, 32\n", to, value, to, to);
    } else {
        fprintf(s->out, "    mv %s, %s\n", to, value);
    }
    if (!name)
        fprintf(s->out, "    SX t3, %u(sp)\n", block_offset(i->sets));
}

/* ---- addresses and values ---------------------------------------------------------------- */

/* t1 becomes 0, but not before the registers are known. */
static void depend(struct assembly *s, uint32_t registers)
{
    const char *to = "t1";
    for (uint32_t r = 0; r < MOST_REGISTERS; r++) {
        if (!(registers >> r & 1))
            continue;
        const char *from = fetch_register(s, r, to);
        fprintf(s->out, "    xor %s, %s, %s\n", to, from, from);
        if (strcmp(to, "t3") == 0)
            fprintf(s->out, "    or t1, t1, t3\n");
        to = "t3";
    }
}

/* Goes on behind it whatever they hold, but not before they are known. */
static void branch_on(struct assembly *s, uint32_t registers)
{
    for (uint32_t r = 0; r < MOST_REGISTERS; r++)
        if (registers >> r & 1)
            fprintf(s->out, "    beqz %s, 1f\n1:\n", fetch_register(s, r, "t1"));
}

/* What chance decides about the instruction at hand. */
static uint64_t chance(const struct assembly *s, const struct instruction *i)
{
    uint64_t state = s->p->seed ^ i->write ^ (uint64_t)(s->t->number + 1) << 40
                   ^ (uint64_t)s->index << 16;
    return random_mix(&state);
}

/* Makes base and displacement reach the operand, which is not known before the registers it needs;
 * `exact`: base alone. Uses t0, t1, t3. */
static void locate_needing(struct assembly *s, const struct instruction *i, uint32_t needs,
                           bool exact)
{
    const struct program_line *line = &s->p->line[i->line];
    depend(s, needs);
    s->base = "t0";
    s->displacement = 0;
    if (line->faulting) {
        fprintf(s->out, "    li t0, 0x%" PRIx64 "\n", s->f->fault + i->offset);
    } else {
        int64_t distance = (int64_t)(line->place + i->offset) - NEAR;
        int64_t rest = ((distance + NEAR) & (2 * NEAR - 1)) - NEAR;
        if (distance != rest)
            fprintf(s->out, "    li t0, %" PRId64 "\n    add t0, t0, gp\n", distance - rest);
        else if (needs || exact)
            fprintf(s->out, "    addi t0, gp, %" PRId64 "\n", exact ? rest : 0);
        else
            s->base = "gp";
        if (exact && distance != rest && rest)
            fprintf(s->out, "    addi t0, t0, %" PRId64 "\n", rest);
        s->displacement = exact ? 0 : rest;
    }
    if (needs)
        fprintf(s->out, "    add t0, t0, t1\n");
}

static void locate(struct assembly *s, const struct instruction *i, bool exact)
{
    uint32_t needs = i->needs;
    if (i->compare_register != NO_REGISTER && i->kind == ORDEAL_CAS)
        needs |= UINT32_C(1) << i->compare_register;
    locate_needing(s, i, needs, exact);
}

static void load_constant(struct assembly *s, const char *to, uint64_t value, bool wide)
{
    if (wide)
        fprintf(s->out, "    li %s, 0x%" PRIx64 "\n", to, value);
    else
        fprintf(s->out, "    li %s, %" PRId32 "\n", to, (int32_t)(uint32_t)value);
}

/* The value written goes to t2; uses t1. */
static void value_written(struct assembly *s, const struct instruction *i)
{
    bool wide = i->size_log2 == 3;
    load_constant(s, "t2", i->write, wide);
    if (i->step) {
        load_constant(s, "t1", i->step, wide);
        fprintf(s->out, "    mul t1, t1, s1\n    add t2, t2, t1\n");
    }
}

/* 8 bytes on a 32-bit machine: low half in t2, high half in t1; uses t3. */
static void halves_written(struct assembly *s, const struct instruction *i)
{
    load_constant(s, "t2", i->write, false);
    load_constant(s, "t1", i->write >> 32, false);
    if (!i->step)
        return;
    load_constant(s, "t3", i->step >> 32, false);
    fprintf(s->out, "    mul t3, t3, s1\n    add t1, t1, t3\n");
    load_constant(s, "t3", i->step, false);
    fprintf(s->out, "    mulhu t3, t3, s1\n    add t1, t1, t3\n");
    load_constant(s, "t3", i->step, false);
    fprintf(s->out, "    mul t3, t3, s1\n    add t2, t2, t3\n"
                    "    sltu t3, t2, t3\n    add t1, t1, t3\n");
}

/* ---- operations -------------------------------------------------------------------------- */

static const char *load_name(const struct assembly *s, const struct instruction *i, uint32_t bytes)
{
    static const char *const plain[] = { [1] = "lb", [2] = "lh", [4] = "lw", [8] = "ld" };
    static const char *const zeros[] = { [1] = "lbu", [2] = "lhu", [4] = "lwu" };
    bool fills = bytes * 8 == s->f->xlen;
    return (fills || extension_is_signed(s->p, s->t, i) ? plain : zeros)[bytes];
}

/* One instruction of a load; `done`: bytes of the operand before it. */
static void load_part(struct assembly *s, const struct instruction *i, uint32_t done,
                      uint32_t bytes)
{
    const char *to = hold(s, done / 4 % 2);
    bool may_fault = i->flags & ORDEAL_NONFAULTING;
    if (may_fault)
        fprintf(s->out, "    li %s, 0\n", to);
    fprintf(s->out, "    %s %s, %" PRId64 "(%s)\n", load_name(s, i, bytes), to,
            s->displacement + done, s->base);
    if (may_fault)
        fprintf(s->out, "    MAY_FAULT\n");
    set_register(s, i, to, done > 0);
}

static uint32_t part_bytes(const struct assembly *s, const struct instruction *i)
{
    uint32_t size = 1u << i->size_log2, most = s->f->xlen / 8;
    return size < most ? size : most;
}

static void emit_load(struct assembly *s, const struct instruction *i)
{
    uint32_t size = 1u << i->size_log2, bytes = part_bytes(s, i);
    reserve(s, 2);
    locate(s, i, false);
    for (uint32_t done = 0; done < size; done += bytes) {
        if (done % 8 == 0)
            reserve(s, 2);
        load_part(s, i, done, bytes);
        if ((done + bytes) % 8 == 0 || size < 8)
            s->filled += 8;
    }
}

/* t2, and t1 where there are halves, depend on the registers. Uses t3, and t1 where there are none. */
static void depend_data(struct assembly *s, uint32_t registers)
{
    if (!registers)
        return;
    depend(s, registers);
    fprintf(s->out, "    add t2, t2, t1\n");
}

static void emit_store(struct assembly *s, const struct instruction *i)
{
    static const char *const mnemonic[] = { [1] = "sb", [2] = "sh", [4] = "sw", [8] = "sd" };
    uint32_t size = 1u << i->size_log2, bytes = part_bytes(s, i);
    locate_needing(s, i, i->needs | (size > bytes ? i->data : 0), false);
    if (size > 8) {
        for (uint32_t done = 0; done < size; done += bytes) {
            uint64_t value = 0;
            for (uint32_t b = bytes; b-- > 0; )
                value = value << 8 | i->bytes[done + b];
            load_constant(s, "t2", value, bytes == 8);
            fprintf(s->out, "    %s t2, %" PRId64 "(%s)\n", mnemonic[bytes],
                    s->displacement + done, s->base);
        }
    } else if (size > bytes) {
        halves_written(s, i);
        fprintf(s->out, "    sw t2, %" PRId64 "(%s)\n    sw t1, %" PRId64 "(%s)\n",
                s->displacement, s->base, s->displacement + 4, s->base);
    } else {
        value_written(s, i);
        depend_data(s, i->data);
        fprintf(s->out, "    %s t2, %" PRId64 "(%s)\n", mnemonic[bytes], s->displacement, s->base);
    }
}

static char width(const struct instruction *i) { return i->size_log2 == 3 ? 'd' : 'w'; }

static const char *marks(const struct instruction *i)
{
    static const char *const names[] = { "", ".aq", ".rl", ".aqrl" };
    return names[(i->flags & ORDEAL_ACQUIRES ? 1 : 0) + (i->flags & ORDEAL_RELEASES ? 2 : 0)];
}

static void emit_reserve(struct assembly *s, const struct instruction *i)
{
    reserve(s, 2); /* and none of its SC's, which stores to slots would come before */
    locate(s, i, true);
    const char *to = hold(s, 0);
    fprintf(s->out, "    lr.%c%s %s, (t0)\n", width(i), marks(i), to);
    s->filled += 8;
    set_register(s, i, to, false);
}

/* Other codes than 1 for a failure are 1, too. */
static void emit_conditional(struct assembly *s, const struct instruction *i)
{
    reserve(s, 1);
    locate(s, i, true);
    value_written(s, i);
    depend_data(s, i->data);
    const char *to = hold(s, 0);
    fprintf(s->out, "    sc.%c%s %s, t2, (t0)\n    snez %s, %s\n", width(i), marks(i), to, to, to);
    s->filled += 8;
    set_register(s, i, to, false);
}

static void emit_exchange(struct assembly *s, const struct instruction *i, const char *name)
{
    reserve(s, 1);
    locate(s, i, true);
    value_written(s, i);
    depend_data(s, i->data);
    const char *to = hold(s, 0);
    fprintf(s->out, "    amo%s.%c%s %s, t2, (t0)\n", name, width(i), marks(i), to);
    s->filled += 8;
    set_register(s, i, to, false);
}

static void emit_swap(struct assembly *s, const struct instruction *i)
{
    emit_exchange(s, i, "swap");
}

static void emit_amo(struct assembly *s, const struct instruction *i)
{
    static const char *const names[ORDEAL_AMO_FUNCTIONS] = {
        [ORDEAL_AMO_ADD] = "add",   [ORDEAL_AMO_AND] = "and",   [ORDEAL_AMO_OR] = "or",
        [ORDEAL_AMO_XOR] = "xor",   [ORDEAL_AMO_MIN] = "min",   [ORDEAL_AMO_MAX] = "max",
        [ORDEAL_AMO_MINU] = "minu", [ORDEAL_AMO_MAXU] = "maxu",
    };
    emit_exchange(s, i, names[i->function]);
}

/* It alone may go round for ever; so it is told before it begins. Between LR and SC there is
 * sometimes arithmetic, with which RISC-V still promises that it ends. */
static void emit_cas(struct assembly *s, const struct instruction *i)
{
    static const char *const load_marks[] = { "", ".aq", ".aqrl" };
    bool wide = i->size_log2 == 3;
    reserve(s, 1);
    tell_progress(s);
    locate(s, i, true);
    value_written(s, i);
    if (i->compare_register == NO_REGISTER)
        load_constant(s, "t1", i->compare, wide);
    else
        fprintf(s->out, "    %s t1, %s\n", is64(s) && !wide ? "sext.w" : "mv",
                fetch_register(s, i->compare_register, "t1"));
    const char *to = hold(s, 0);
    const char *between = chance(s, i) & 1 ? "    xor t3, t2, t1\n    addi t3, t3, 1\n" : "";
    fprintf(s->out,
            "1:  lr.%c%s %s, (t0)\n    bne %s, t1, 2f\n%s    sc.%c.aqrl t3, t2, (t0)\n"
            "    bnez t3, 1b\n2:\n",
            width(i),
            load_marks[i->flags & ORDEAL_RELEASES   ? 2
                       : i->flags & ORDEAL_ACQUIRES ? 1
                                                    : 0],
            to, to, between, width(i));
    s->filled += 8;
    set_register(s, i, to, false);
}

static void emit_membar(struct assembly *s, const struct instruction *i)
{
    static const struct { uint8_t flavour; const char *sets; } fences[] = {
        { ORDEAL_LL, "r, r" }, { ORDEAL_LS, "r, w" }, { ORDEAL_SL, "w, r" }, { ORDEAL_SS, "w, w" },
    };
    static const char *const sets[] = { "", "r", "w", "rw" };
    enum { TSO = ORDEAL_LL | ORDEAL_LS | ORDEAL_SS };
    unsigned before = (i->barrier & (ORDEAL_LL | ORDEAL_LS) ? 1 : 0)
                    | (i->barrier & (ORDEAL_SL | ORDEAL_SS) ? 2 : 0);
    unsigned behind = (i->barrier & (ORDEAL_LL | ORDEAL_SL) ? 1 : 0)
                    | (i->barrier & (ORDEAL_LS | ORDEAL_SS) ? 2 : 0);
    int pairs = __builtin_popcount(before) * __builtin_popcount(behind);
    if (i->barrier == TSO) {
        fprintf(s->out, "    fence.tso\n");
        return;
    }
    if (i->barrier && pairs == __builtin_popcount(i->barrier)) {
        fprintf(s->out, "    fence %s, %s\n", sets[before], sets[behind]);
        return;
    }
    for (size_t k = 0; k < sizeof fences / sizeof *fences; k++)
        if (i->barrier & fences[k].flavour)
            fprintf(s->out, "    fence %s\n", fences[k].sets);
}

static void emit_prefetch(struct assembly *s, const struct instruction *i)
{
    locate(s, i, true);
    fprintf(s->out, "    ori zero, t0, 1     // prefetch.r, a hint\n");
}

static void emit_flush(struct assembly *s, const struct instruction *i)
{
    locate(s, i, true);
    fprintf(s->out, "    .insn i 0x0f, 2, x0, t0, 2     // cbo.flush\n");
}

/* As many lines of the same set as the cache has ways, and a few more, drive it out. */
static void emit_evict(struct assembly *s, const struct instruction *i)
{
    uint64_t set = s->p->line[i->line].place % s->f->way;
    fprintf(s->out, "    la t0, conflicts + %" PRIu64 "\n    li t1, %" PRIu64 "\n", set, s->f->way);
    for (uint64_t w = 0; w < s->f->ways; w++)
        fprintf(s->out, "    lw t2, 0(t0)\n    add t0, t0, t1\n");
}

/* A time round takes about two cycles. */
static void emit_delay(struct assembly *s, const struct instruction *i)
{
    if (i->count)
        fprintf(s->out, "    li t2, %" PRIu32 "\n1:  addi t2, t2, -1\n    bnez t2, 1b\n",
                i->count / 2 + i->count % 2);
}

static void emit_interrupt(struct assembly *s, const struct instruction *i)
{
    fprintf(s->out, "    li t0, 0x%" PRIx64 "\n    li t2, 1\n    sw t2, 0(t0)\n",
            s->f->clint + 4 * (s->f->first_hart + i->count));
}

/* ---- loops and branches: with empty hands ------------------------------------------------- */

static void label(struct assembly *s) { fprintf(s->out, ".L%u_%u:\n", s->thread, s->index); }

static void emit_loop_begin(struct assembly *s, const struct instruction *i)
{
    (void)i;
    flush(s);
    fprintf(s->out, "    li s1, 0\n");
    label(s);
}

static void emit_loop_end(struct assembly *s, const struct instruction *i)
{
    flush(s);
    fprintf(s->out, "    addi s1, s1, 1\n    li t2, %" PRIu32 "\n    bltu s1, t2, .L%u_%u\n",
            s->t->code[i->match].count, s->thread, i->match);
}

static void emit_branch_begin(struct assembly *s, const struct instruction *i)
{
    flush(s);
    fprintf(s->out, "    andi t2, s0, 1\n    %s s0, s0, 1\n    beqz t2, .L%u_%u\n"
                    "    lui t1, LFSR_TAPS >> 12\n    xor s0, s0, t1\n",
            is64(s) ? "srliw" : "srli", s->thread, i->match);
}

static void emit_branch_else(struct assembly *s, const struct instruction *i)
{
    flush(s);
    fprintf(s->out, "    j .L%u_%u\n", s->thread, i->match);
    label(s);
}

static void emit_branch_end(struct assembly *s, const struct instruction *i)
{
    (void)i;
    flush(s);
    label(s);
}

static void (*const emit[ORDEAL_OP_KINDS])(struct assembly *, const struct instruction *) = {
    [ORDEAL_LOAD] = emit_load,
    [ORDEAL_STORE] = emit_store,
    [ORDEAL_SWAP] = emit_swap,
    [ORDEAL_CAS] = emit_cas,
    [ORDEAL_AMO] = emit_amo,
    [ORDEAL_LOAD_RESERVED] = emit_reserve,
    [ORDEAL_STORE_CONDITIONAL] = emit_conditional,
    [ORDEAL_MEMBAR] = emit_membar,
    [ORDEAL_PREFETCH] = emit_prefetch,
    [ORDEAL_FLUSH] = emit_flush,
    [ORDEAL_EVICT] = emit_evict,
    [ORDEAL_DELAY] = emit_delay,
    [ORDEAL_INTERRUPT] = emit_interrupt,
    [ORDEAL_LOOP_BEGIN] = emit_loop_begin,
    [ORDEAL_LOOP_END] = emit_loop_end,
    [ORDEAL_BRANCH_BEGIN] = emit_branch_begin,
    [ORDEAL_BRANCH_ELSE] = emit_branch_else,
    [ORDEAL_BRANCH_END] = emit_branch_end,
};

static void write_thread(struct assembly *s, uint32_t thread)
{
    s->thread = thread;
    s->t = &s->p->thread[thread];
    uint32_t taken = s->t->registers < TEST_REGISTERS ? s->t->registers : TEST_REGISTERS;
    s->values = POOL - taken;
    fprintf(s->out, "\n/* ---- P%u ---- */\n\nthread_%u:\n", s->t->number, thread);
    for (uint32_t r = 0; r < s->t->registers; r++)
        if (test_register(r))
            fprintf(s->out, "    li %s, 0\n", test_register(r));
        else
            fprintf(s->out, "    SX zero, %u(sp)\n", block_offset(r));
    s->index = 0;
    tell_progress(s);
    for (; s->index < s->t->length; s->index++) {
        const struct instruction *i = &s->t->code[s->index];
        char text[512];
        ordeal_trace_format(s->p->test, i->op, text, sizeof text);
        fprintf(s->out, "    // %s\n", text);
        if (s->quiet++ == QUIET)
            tell_progress(s);
        branch_on(s, i->control);
        emit[i->kind](s, i);
    }
    empty_hands(s);
    fprintf(s->out, "    j thread_done\n");
}

/* ---- sizes and tables ------------------------------------------------------------------- */

static bool has(const struct program *p, uint8_t kind)
{
    for (uint32_t t = 0; t < p->threads; t++)
        for (uint32_t i = 0; i < p->thread[t].length; i++)
            if (p->thread[t].code[i].kind == kind)
                return true;
    return false;
}

static uint32_t lines_with_memory(const struct program *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->lines; i++)
        count += !p->line[i].faulting;
    return count;
}

/* Of the memory that is only there to be loaded. */
static uint64_t conflict_bytes(const struct assembly *s)
{
    uint64_t in_test = has(s->p, ORDEAL_EVICT) ? s->f->way * s->f->ways : LINE_BYTES;
    return in_test > s->f->evict ? in_test : s->f->evict;
}

static void write_sizes(struct assembly *s, uint32_t count)
{
    const struct program *p = s->p;
    uint64_t align = s->f->way > 4096 ? s->f->way : 4096;
    /* clang-format off */
    const struct { const char *name; uint64_t value; } sizes[] = {
        { "HARTS", p->threads }, { "FIRST_HART", s->f->first_hart }, { "ITERATIONS", count },
        { "LINES", lines_with_memory(p) }, { "FINALS", p->finals },
        { "OUTCOME_BYTES", ((uint64_t)p->slots + p->finals) * 8 },
        { "MEMORY_BYTES", p->memory ? p->memory : LINE_BYTES }, { "MEMORY_ALIGNMENT", align },
        { "CONFLICT_BYTES", conflict_bytes(s) }, { "EVICT_BYTES", s->f->evict },
        { "INTERRUPTS", p->asks.interrupts }, { "BRANCHES", p->branches }, { "CLINT", s->f->clint },
#define SAME(NAME) { #NAME, NAME }
        SAME(BLOCK_BYTES), SAME(LINE_RECORD), SAME(FINAL_RECORD), SAME(LFSR_TAPS),
        SAME(HEADER_BYTES), SAME(HEADER_STATE), SAME(HEADER_CHECKSUM),
        SAME(PROGRESS_BYTES), SAME(PROGRESS_ITERATION), SAME(PROGRESS_OPERATION),
        SAME(PROGRESS_CAUSE), SAME(PROGRESS_INTERRUPTS), SAME(PROGRESS_PC),
        SAME(STATE_FINISHED), SAME(STATE_TRAPPED),
        SAME(CHECKSUM_START), SAME(CHECKSUM_PRIME), SAME(OPERATION_NONE), SAME(OPERATION_DONE),
#undef SAME
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        fprintf(s->out, "#define %s 0x%" PRIx64 "\n", sizes[i].name, sizes[i].value);
}

static void write_words(struct assembly *s, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i += 4) {
        uint32_t word = bytes[i] | (uint32_t)bytes[i + 1] << 8 | (uint32_t)bytes[i + 2] << 16
                        | (uint32_t)bytes[i + 3] << 24;
        fprintf(s->out, "%s0x%" PRIx32, i % 32 ? ", " : i ? "\n    .word " : "    .word ", word);
    }
    fputc('\n', s->out);
}

static void write_header(struct assembly *s, uint64_t first, uint32_t count)
{
    uint8_t header[HEADER_BYTES];
    signature_header(s->p, s->f->xlen, first, count, header);
    fprintf(s->out, "header:\n");
    write_words(s, header, sizeof header);
}

/* Where each is, and which hart looks at it: the one that resets its line next. */
static void write_finals(struct assembly *s)
{
    const struct program *p = s->p;
    uint32_t line = 0, number = 0; /* of the program, among those with memory */
    fprintf(s->out, "finals:      // where; its line, modulo the harts\n");
    for (uint32_t k = 0; k < p->finals; k++) {
        const struct program_final *f = &p->final[k];
        for (; line < f->line; line++)
            number += !p->line[line].faulting;
        fprintf(s->out, "    ADDRESS(memory + 0x%" PRIx64 ")\n    .word %" PRIu32 ", 0\n",
                p->line[f->line].place + f->offset, number % p->threads);
    }
}

static void write_tables(struct assembly *s, uint64_t first, uint32_t count, uint64_t seed)
{
    const struct program *p = s->p;
    fprintf(s->out, "\n    .section .rodata\n    .balign 8\n");
    write_header(s, first, count);
    fprintf(s->out, "threads:     // code; bytes before its slots, bytes of its slots\n");
    for (uint32_t t = 0; t < p->threads; t++)
        fprintf(s->out, "    ADDRESS(thread_%u)\n    .word %" PRIu64 ", %" PRIu64 "\n", t,
                (uint64_t)p->thread[t].first_slot * 8, (uint64_t)p->thread[t].slots * 8);
    fprintf(s->out, "lines:       // where, and what is there at first\n");
    for (uint32_t i = 0; i < p->lines; i++)
        if (!p->line[i].faulting) {
            fprintf(s->out, "    ADDRESS(memory + 0x%" PRIx64 ")\n", p->line[i].place);
            write_words(s, p->line[i].initial, LINE_BYTES);
        }
    write_finals(s);
    fprintf(s->out, "skews:\n");
    for (uint32_t t = 0; t < p->threads; t++)
        fprintf(s->out, "    .word 0x%" PRIx32 "\n", lfsr_start(seed, t, first));
    if (!p->branches)
        return;
    fprintf(s->out, "starts:      // of the LFSRs, a line an iteration\n");
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t t = 0; t < p->threads; t++)
            fprintf(s->out, "%s0x%" PRIx32 "%s", t ? ", " : "    .word ",
                    lfsr_start(p->seed, p->thread[t].number, first + n),
                    t + 1 == p->threads ? "\n" : "");
}

void elf_assembly_write(FILE *out, const struct program *p, const struct elf_platform *f,
                        uint64_t first, uint32_t count, uint64_t seed)
{
    struct assembly s = { .out = out, .p = p, .f = f };
    fprintf(out, "/* A test by ordeal for %" PRIu32 " harts, %s; iterations %" PRIu64 " to %" PRIu64
                 ". */\n\n", p->threads, elf_platform_march(f), first, first + count - 1);
    /* Else the linker takes the name of the object, which is a temporary one. */
    fprintf(out, "    .file \"test.S\"\n\n");
    write_sizes(&s, count);
    fprintf(out, "\n#include \"runtime.S\"\n");
    write_tables(&s, first, count, seed);
    fprintf(out, "\n    .text\n    .balign 64\n");
    for (uint32_t t = 0; t < p->threads; t++)
        write_thread(&s, t);
}
