/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of RISC-V: as they are written, and what they do. RV64 with A; also the acquiring
 * loads and releasing stores that no machine has, but the memory model and litmus files. */
#include <string.h>

#include "litmus/litmus_condition.h"
#include "litmus/litmus_machine.h"

/* ---- registers --------------------------------------------------------------------------- */

/* clang-format off */
static const char *const abi_names[LITMUS_REGISTERS] = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
static const char *const x_names[LITMUS_REGISTERS] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
    "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
    "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "x31",
};
/* clang-format on */

uint32_t litmus_riscv_register(const struct litmus_token *t)
{
    for (uint32_t r = 0; r < LITMUS_REGISTERS; r++)
        if (litmus_is(t, x_names[r]) || litmus_is(t, abi_names[r]))
            return r;
    return litmus_is(t, "fp") ? 8 : LITMUS_NO_REGISTER;
}

const char *litmus_register_name(enum litmus_arch arch, uint32_t number, bool narrow)
{
    return arch == LITMUS_RISCV ? x_names[number] : litmus_x86_register_name(number, arch, narrow);
}

/* ---- the table --------------------------------------------------------------------------- */

/* What stands behind the mnemonic: d a destination, s a source, i a number, m memory, l a label;
 * 0 is register x0 and n the number of the row, neither of which is written. */
/* clang-format off */
static const struct row {
    const char *name, *form;
    uint8_t kind, operation, size_log2, flags;
    int8_t number;
} rows[] = {
    { "add", "dss", LITMUS_COMPUTE, LITMUS_ADD, 3, 0, 0 },
    { "addi", "dsi", LITMUS_COMPUTE, LITMUS_ADD, 3, 0, 0 },
    { "addw", "dss", LITMUS_COMPUTE, LITMUS_ADD, 2, LITMUS_WORD, 0 },
    { "addiw", "dsi", LITMUS_COMPUTE, LITMUS_ADD, 2, LITMUS_WORD, 0 },
    { "sub", "dss", LITMUS_COMPUTE, LITMUS_SUB, 3, 0, 0 },
    { "subw", "dss", LITMUS_COMPUTE, LITMUS_SUB, 2, LITMUS_WORD, 0 },
    { "and", "dss", LITMUS_COMPUTE, LITMUS_AND, 3, 0, 0 },
    { "andi", "dsi", LITMUS_COMPUTE, LITMUS_AND, 3, 0, 0 },
    { "or", "dss", LITMUS_COMPUTE, LITMUS_OR, 3, 0, 0 },
    { "ori", "dsi", LITMUS_COMPUTE, LITMUS_OR, 3, 0, 0 },
    { "xor", "dss", LITMUS_COMPUTE, LITMUS_XOR, 3, 0, 0 },
    { "xori", "dsi", LITMUS_COMPUTE, LITMUS_XOR, 3, 0, 0 },
    { "sll", "dss", LITMUS_COMPUTE, LITMUS_SLL, 3, 0, 0 },
    { "slli", "dsi", LITMUS_COMPUTE, LITMUS_SLL, 3, 0, 0 },
    { "srl", "dss", LITMUS_COMPUTE, LITMUS_SRL, 3, 0, 0 },
    { "srli", "dsi", LITMUS_COMPUTE, LITMUS_SRL, 3, 0, 0 },
    { "sra", "dss", LITMUS_COMPUTE, LITMUS_SRA, 3, 0, 0 },
    { "srai", "dsi", LITMUS_COMPUTE, LITMUS_SRA, 3, 0, 0 },
    { "sllw", "dss", LITMUS_COMPUTE, LITMUS_SLL, 2, LITMUS_WORD, 0 },
    { "slliw", "dsi", LITMUS_COMPUTE, LITMUS_SLL, 2, LITMUS_WORD, 0 },
    { "srlw", "dss", LITMUS_COMPUTE, LITMUS_SRL, 2, LITMUS_WORD, 0 },
    { "srliw", "dsi", LITMUS_COMPUTE, LITMUS_SRL, 2, LITMUS_WORD, 0 },
    { "sraw", "dss", LITMUS_COMPUTE, LITMUS_SRA, 2, LITMUS_WORD, 0 },
    { "sraiw", "dsi", LITMUS_COMPUTE, LITMUS_SRA, 2, LITMUS_WORD, 0 },
    { "slt", "dss", LITMUS_COMPUTE, LITMUS_SLT, 3, 0, 0 },
    { "slti", "dsi", LITMUS_COMPUTE, LITMUS_SLT, 3, 0, 0 },
    { "sltu", "dss", LITMUS_COMPUTE, LITMUS_SLTU, 3, 0, 0 },
    { "sltiu", "dsi", LITMUS_COMPUTE, LITMUS_SLTU, 3, 0, 0 },
    { "li", "d0i", LITMUS_COMPUTE, LITMUS_ADD, 3, 0, 0 },
    { "mv", "dsn", LITMUS_COMPUTE, LITMUS_ADD, 3, 0, 0 },
    { "sext.w", "dsn", LITMUS_COMPUTE, LITMUS_ADD, 2, LITMUS_WORD, 0 },
    { "not", "dsn", LITMUS_COMPUTE, LITMUS_XOR, 3, 0, -1 },
    { "neg", "d0s", LITMUS_COMPUTE, LITMUS_SUB, 3, 0, 0 },
    { "seqz", "dsn", LITMUS_COMPUTE, LITMUS_SLTU, 3, 0, 1 },
    { "snez", "d0s", LITMUS_COMPUTE, LITMUS_SLTU, 3, 0, 0 },
    { "nop", "", LITMUS_FENCE, 0, 0, 0, 0 },
    { "j", "00l", LITMUS_BRANCH, LITMUS_ALWAYS, 3, 0, 0 },
    { "beq", "ssl", LITMUS_BRANCH, LITMUS_EQ, 3, 0, 0 },
    { "bne", "ssl", LITMUS_BRANCH, LITMUS_NE, 3, 0, 0 },
    { "blt", "ssl", LITMUS_BRANCH, LITMUS_LT, 3, 0, 0 },
    { "bge", "ssl", LITMUS_BRANCH, LITMUS_GE, 3, 0, 0 },
    { "ble", "ssl", LITMUS_BRANCH, LITMUS_LE, 3, 0, 0 },
    { "bgt", "ssl", LITMUS_BRANCH, LITMUS_GT, 3, 0, 0 },
    { "bltu", "ssl", LITMUS_BRANCH, LITMUS_LTU, 3, 0, 0 },
    { "bgeu", "ssl", LITMUS_BRANCH, LITMUS_GEU, 3, 0, 0 },
    { "bleu", "ssl", LITMUS_BRANCH, LITMUS_LEU, 3, 0, 0 },
    { "bgtu", "ssl", LITMUS_BRANCH, LITMUS_GTU, 3, 0, 0 },
    { "beqz", "s0l", LITMUS_BRANCH, LITMUS_EQ, 3, 0, 0 },
    { "bnez", "s0l", LITMUS_BRANCH, LITMUS_NE, 3, 0, 0 },
    { "bltz", "s0l", LITMUS_BRANCH, LITMUS_LT, 3, 0, 0 },
    { "bgez", "s0l", LITMUS_BRANCH, LITMUS_GE, 3, 0, 0 },
    { "blez", "s0l", LITMUS_BRANCH, LITMUS_LE, 3, 0, 0 },
    { "bgtz", "s0l", LITMUS_BRANCH, LITMUS_GT, 3, 0, 0 },
    { "lb", "dm", LITMUS_LOAD, 0, 0, 0, 0 },
    { "lh", "dm", LITMUS_LOAD, 0, 1, 0, 0 },
    { "lw", "dm", LITMUS_LOAD, 0, 2, 0, 0 },
    { "ld", "dm", LITMUS_LOAD, 0, 3, 0, 0 },
    { "lbu", "dm", LITMUS_LOAD, 0, 0, LITMUS_UNSIGNED, 0 },
    { "lhu", "dm", LITMUS_LOAD, 0, 1, LITMUS_UNSIGNED, 0 },
    { "lwu", "dm", LITMUS_LOAD, 0, 2, LITMUS_UNSIGNED, 0 },
    { "sb", "sm", LITMUS_STORE, 0, 0, 0, 0 },
    { "sh", "sm", LITMUS_STORE, 0, 1, 0, 0 },
    { "sw", "sm", LITMUS_STORE, 0, 2, 0, 0 },
    { "sd", "sm", LITMUS_STORE, 0, 3, 0, 0 },
    { "lr.w", "dm", LITMUS_LR, 0, 2, 0, 0 },
    { "lr.d", "dm", LITMUS_LR, 0, 3, 0, 0 },
    { "sc.w", "dsm", LITMUS_SC, 0, 2, 0, 0 },
    { "sc.d", "dsm", LITMUS_SC, 0, 3, 0, 0 },
};
/* clang-format on */

static const struct {

    const char *name;
    uint8_t function;
} amos[] = {
    { "amoswap", ORDEAL_AMO_FUNCTIONS }, { "amoadd", ORDEAL_AMO_ADD },
    { "amoand", ORDEAL_AMO_AND },        { "amoor", ORDEAL_AMO_OR },
    { "amoxor", ORDEAL_AMO_XOR },        { "amomin", ORDEAL_AMO_MIN },
    { "amomax", ORDEAL_AMO_MAX },        { "amominu", ORDEAL_AMO_MINU },
    { "amomaxu", ORDEAL_AMO_MAXU },
};

/* ---- reading ----------------------------------------------------------------------------- */

static bool ends_with(struct litmus_token *t, const char *ending)
{
    size_t length = strlen(ending);
    if (t->length <= length || strncmp(t->text + t->length - length, ending, length) != 0)
        return false;
    t->length -= length;
    return true;
}

/* Takes what marks it acquiring or releasing off the mnemonic. */
static uint8_t take_marks(struct litmus_token *t)
{
    if (ends_with(t, ".aqrl") || ends_with(t, ".aq.rl"))
        return LITMUS_AQ | LITMUS_RL;
    return ends_with(t, ".aq") ? LITMUS_AQ : ends_with(t, ".rl") ? LITMUS_RL : 0;
}

static bool is_amo(const struct litmus_token *mnemonic, struct row *row)
{
    struct litmus_token t = *mnemonic;
    uint8_t size_log2 = ends_with(&t, ".w") ? 2 : ends_with(&t, ".d") ? 3 : 0;
    for (size_t i = 0; size_log2 && i < sizeof amos / sizeof *amos; i++)
        if (litmus_is(&t, amos[i].name)) {
            *row = (struct row){ .form = "dsm",
                                 .kind = LITMUS_AMO,
                                 .size_log2 = size_log2,
                                 .operation = amos[i].function };
            return true;
        }
    return false;
}

static bool find_row(const struct litmus_token *mnemonic, struct row *row)
{
    struct litmus_token t = *mnemonic;
    uint8_t marks = take_marks(&t);
    bool found = is_amo(&t, row);
    for (size_t i = 0; !found && i < sizeof rows / sizeof *rows; i++)
        if (litmus_is(&t, rows[i].name)) {
            *row = rows[i];
            found = true;
        }
    row->flags |= marks;
    bool access = found && row->kind >= LITMUS_LOAD && row->kind <= LITMUS_AMO;
    return found && (access || !marks);
}

static bool read_register(struct litmus_lexer *l, struct litmus_operand *o)
{
    if (litmus_at(l, '%'))
        return litmus_refuse(l, l->token.place,
                             "symbolic registers are not read: name one of the "
                             "machine's");
    *o = (struct litmus_operand){
        .kind = LITMUS_REGISTER, .reg = (uint8_t)litmus_register_find(LITMUS_RISCV, &l->token, NULL)
    };
    return o->reg == LITMUS_NO_REGISTER ? litmus_expected(l, "a register") : litmus_next(l);
}

static bool read_number(struct litmus_lexer *l, struct litmus_operand *o)
{
    if (l->token.kind != LITMUS_LITERAL)
        return litmus_expected(l, "a number");
    *o = (struct litmus_operand){ .kind = LITMUS_NUMBER, .number = (int64_t)l->token.number };
    return litmus_next(l);
}

/* "4(x6)", "(x6)" */
static bool read_memory(struct litmus_lexer *l, uint8_t kind, struct litmus_operand *o)
{
    struct litmus_operand number = { 0 };
    struct litmus_place place = l->token.place;
    if (!litmus_at(l, '(') && !read_number(l, &number))
        return false;
    if (number.number && kind >= LITMUS_LR)
        return litmus_refuse(l, place, "an atomic instruction has no offset but 0");
    if (!litmus_take(l, '(', "'(' and a register") || !read_register(l, o))
        return false;
    o->kind = LITMUS_MEMORY;
    o->number = number.number;
    return litmus_take(l, ')', "')'");
}

static bool read_operand(struct litmus_lexer *l, const struct row *row, char form,
                         struct litmus_operand *o, struct litmus_token *label)
{
    switch (form) {
    case 'd':
    case 's': return read_register(l, o);
    case 'i': return read_number(l, o);
    case 'm': return read_memory(l, row->kind, o);
    default:
        *label = l->token;
        return l->token.kind == LITMUS_NAME ? litmus_next(l) : litmus_expected(l, "a label");
    }
}

static bool read_operands(struct litmus_lexer *l, const struct row *row,
                          struct litmus_instruction *i, struct litmus_token *label)
{
    bool first = true;
    for (unsigned k = 0; row->form[k]; k++) {
        struct litmus_operand *o = &i->operand[k];
        if (row->form[k] == '0') {
            *o = (struct litmus_operand){ .kind = LITMUS_REGISTER };
        } else if (row->form[k] == 'n') {
            *o = (struct litmus_operand){ .kind = LITMUS_NUMBER, .number = row->number };
        } else {
            if (!first && !litmus_take(l, ',', "','"))
                return false;
            if (!read_operand(l, row, row->form[k], o, label))
                return false;
            first = false;
        }
    }
    return true;
}

/* A set of i, o, r and w; what devices do is not in the model. */
static bool read_set(struct litmus_lexer *l, unsigned *set)
{
    *set = 0;
    bool fine = l->token.kind == LITMUS_NAME;
    for (size_t k = 0; fine && k < l->token.length; k++) {
        const char *letter = memchr("iorw", l->token.text[k], 4);
        fine = letter && !memchr(l->token.text, *letter, k);
        *set |= !fine ? 0 : *letter == 'r' ? 1u : *letter == 'w' ? 2u : 0;
    }
    return fine ? litmus_next(l) : litmus_expected(l, "a set as r, w, rw or iorw");
}

static bool read_fence(struct litmus_lexer *l, struct litmus_instruction *i)
{
    bool tso = litmus_is(&l->token, "fence.tso"), none = litmus_is(&l->token, "fence.i");
    unsigned before = 3, after = 3;
    i->kind = LITMUS_FENCE;
    i->barrier = tso ? ORDEAL_LL | ORDEAL_LS | ORDEAL_SS : none ? 0 : ORDEAL_FULL;
    if (!litmus_next(l))
        return false;
    if (tso || none || l->token.kind != LITMUS_NAME)
        return true;
    if (!read_set(l, &before) || !litmus_take(l, ',', "','") || !read_set(l, &after))
        return false;
    i->barrier = (uint8_t)((before & 1 && after & 1 ? ORDEAL_LL : 0)
                           | (before & 1 && after & 2 ? ORDEAL_LS : 0)
                           | (before & 2 && after & 1 ? ORDEAL_SL : 0)
                           | (before & 2 && after & 2 ? ORDEAL_SS : 0));
    return true;
}

bool litmus_riscv_read(struct litmus_lexer *l, struct litmus *test, struct litmus_instruction *i,
                       struct litmus_token *label)
{
    struct row row = { 0 };
    (void)test;
    if (litmus_is(&l->token, "fence") || litmus_is(&l->token, "fence.tso")
        || litmus_is(&l->token, "fence.i"))
        return read_fence(l, i);
    if (!find_row(&l->token, &row))
        return litmus_refuse(l, l->token.place, "'%.*s' is no instruction that is understood",
                             l->token.length > 40 ? 40 : (int)l->token.length, l->token.text);
    i->kind = row.kind;
    i->operation = row.operation;
    i->size_log2 = row.size_log2;
    i->flags = row.flags;
    return litmus_next(l) && read_operands(l, &row, i, label);
}

/* ---- doing ------------------------------------------------------------------------------- */

static uint64_t value_of(const struct litmus_machine *m, const struct litmus_operand *o,
                         uint64_t *needs)
{
    if (o->kind == LITMUS_NUMBER)
        return (uint64_t)o->number;
    *needs |= m->reg[o->reg].needs;
    return m->reg[o->reg].value;
}

static void set_register(struct litmus_machine *m, const struct litmus_operand *o, uint64_t value,
                         uint64_t needs)
{
    if (o->reg == 0)
        return;
    m->reg[o->reg].value = value;
    m->reg[o->reg].needs = needs;
}

static uint64_t compute(uint8_t operation, bool word, uint64_t a, uint64_t b)
{
    unsigned shift = (unsigned)b & (word ? 31 : 63);
    switch (operation) {
    case LITMUS_ADD: return a + b;
    case LITMUS_SUB: return a - b;
    case LITMUS_AND: return a & b;
    case LITMUS_OR: return a | b;
    case LITMUS_XOR: return a ^ b;
    case LITMUS_SLL: return a << shift;
    case LITMUS_SRL: return (word ? litmus_cut(a, 2) : a) >> shift;
    case LITMUS_SRA: return (uint64_t)((int64_t)(word ? litmus_extend(a, 2) : a) >> shift);
    case LITMUS_SLT: return (int64_t)a < (int64_t)b;
    default: return a < b;
    }
}

static bool do_compute(struct litmus_machine *m, const struct litmus_instruction *i)
{
    uint64_t needs = 0, a = value_of(m, &i->operand[1], &needs);
    uint64_t b = value_of(m, &i->operand[2], &needs);
    bool word = i->flags & LITMUS_WORD;
    uint64_t result = compute(i->operation, word, a, b);
    set_register(m, &i->operand[0], word ? litmus_extend(result, 2) : result, needs);
    return true;
}

static bool do_branch(struct litmus_machine *m, const struct litmus_instruction *i)
{
    uint64_t needs = 0, a = value_of(m, &i->operand[0], &needs);
    uint64_t b = value_of(m, &i->operand[1], &needs);
    m->control |= needs;
    if (litmus_relation_holds((enum litmus_relation)i->operation, a, b))
        m->next = i->target;
    return true;
}

static uint8_t marks_of(const struct litmus_instruction *i)
{
    return (uint8_t)((i->flags & LITMUS_AQ ? ORDEAL_ACQUIRES : 0)
                     | (i->flags & LITMUS_RL ? ORDEAL_RELEASES : 0));
}

static bool do_load(struct litmus_machine *m, const struct litmus_instruction *i)
{
    struct litmus_event e;
    if (!litmus_locate(m, i, &i->operand[1], i->size_log2, &e) || !litmus_choose_value(m, i, &e))
        return false;
    e.kind = i->kind == LITMUS_LR ? ORDEAL_LOAD_RESERVED : ORDEAL_LOAD;
    e.flags = marks_of(i);
    uint64_t self = litmus_add_event(m, i, &e);
    uint64_t value = i->flags & LITMUS_UNSIGNED ? e.read : litmus_extend(e.read, i->size_log2);
    set_register(m, &i->operand[0], value, self);
    if (i->kind == LITMUS_LR)
        m->reserved = (int)m->events - 1;
    return self != 0;
}

static bool do_store(struct litmus_machine *m, const struct litmus_instruction *i)
{
    struct litmus_event e;
    if (!litmus_locate(m, i, &i->operand[1], i->size_log2, &e))
        return false;
    e.kind = ORDEAL_STORE;
    e.flags = marks_of(i);
    e.writes = true;
    e.operand = e.written = litmus_cut(value_of(m, &i->operand[0], &e.data_of), i->size_log2);
    return litmus_add_event(m, i, &e) != 0;
}

static bool same_place(const struct litmus_event *a, const struct litmus_event *b)
{
    return a->location == b->location && a->offset == b->offset && a->size_log2 == b->size_log2;
}

/* The atomicity axiom says nothing of it, but the checker knows no such pair. */
static bool refuse_own_store(struct litmus_machine *m, const struct litmus_instruction *i,
                             const struct litmus_event *e)
{
    for (uint32_t k = (uint32_t)m->reserved + 1; k < m->events; k++)
        if (m->event[k].writes && m->event[k].location == e->location
            && litmus_overlap(m->event[k].offset, m->event[k].size_log2, e->offset, e->size_log2))
            return litmus_refuse(m->where, i->place,
                                 "a store of the same thread, of line %u, lies "
                                 "between this SC and its LR: that is not decided",
                                 m->event[k].line);
    return true;
}

/* It may fail; without an LR of the same place it must. What it answers depends on nothing then. */
static bool do_conditional(struct litmus_machine *m, const struct litmus_instruction *i)
{
    struct litmus_event e;
    if (!litmus_locate(m, i, &i->operand[2], i->size_log2, &e))
        return false;
    bool paired = m->reserved >= 0 && same_place(&m->event[m->reserved], &e);
    e.kind = ORDEAL_STORE_CONDITIONAL;
    e.flags = marks_of(i);
    e.writes = paired && litmus_choose(m, 2) == 0;
    if (e.writes && !refuse_own_store(m, i, &e))
        return false;
    e.operand = e.written = litmus_cut(value_of(m, &i->operand[1], &e.data_of), i->size_log2);
    e.read = !e.writes;
    m->reserved = -1;
    uint64_t control = m->control, self = litmus_add_event(m, i, &e);
    if (!e.writes)
        m->control = control; /* it is no access: a branch before it is one before the next, too */
    set_register(m, &i->operand[0], e.read, e.writes ? self : 0);
    return self != 0;
}

static bool do_amo(struct litmus_machine *m, const struct litmus_instruction *i)
{
    struct litmus_event e;
    if (!litmus_locate(m, i, &i->operand[2], i->size_log2, &e))
        return false;
    bool swap = i->operation == ORDEAL_AMO_FUNCTIONS;
    e.kind = swap ? ORDEAL_SWAP : ORDEAL_AMO;
    e.extra = swap ? 0 : i->operation;
    e.flags = marks_of(i);
    e.operand = litmus_cut(value_of(m, &i->operand[1], &e.data_of), i->size_log2);
    if (!litmus_choose_value(m, i, &e))
        return false;
    e.writes = true;
    e.computed = !swap;
    e.written = swap ? e.operand
                     : ordeal_amo_result((enum ordeal_amo_function)i->operation, i->size_log2,
                                         e.read, e.operand);
    uint64_t self = litmus_add_event(m, i, &e);
    set_register(m, &i->operand[0], litmus_extend(e.read, i->size_log2), self);
    return self != 0;
}

bool litmus_riscv_step(struct litmus_machine *m, const struct litmus_instruction *i)
{
    m->next++;
    switch (i->kind) {
    case LITMUS_COMPUTE: return do_compute(m, i);
    case LITMUS_BRANCH: return do_branch(m, i);
    case LITMUS_LOAD:
    case LITMUS_LR: return do_load(m, i);
    case LITMUS_STORE: return do_store(m, i);
    case LITMUS_SC: return do_conditional(m, i);
    case LITMUS_AMO: return do_amo(m, i);
    default: return litmus_add_fence(m, i, i->barrier);
    }
}
