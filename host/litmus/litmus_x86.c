/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of x86: as litmus files write them (destination first in X86 files, last in X86_64
 * files), and what they do. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "litmus/litmus_condition.h"
#include "litmus/litmus_machine.h"

/* ---- registers --------------------------------------------------------------------------- */

enum { GENERAL = 16 };
enum { RAX = 0 };

/* By size: 8, 16, 32, 64 bits, and as X86 files write 32. */
/* clang-format off */
static const char *const names[5][GENERAL] = {
    { "al", "bl", "cl", "dl", "sil", "dil", "bpl", "spl", "r8b", "r9b", "r10b", "r11b", "r12b",
      "r13b", "r14b", "r15b" },
    { "ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "r8w", "r9w", "r10w", "r11w", "r12w", "r13w",
      "r14w", "r15w" },
    { "eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp", "r8d", "r9d", "r10d", "r11d", "r12d",
      "r13d", "r14d", "r15d" },
    { "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12",
      "r13", "r14", "r15" },
    { "EAX", "EBX", "ECX", "EDX", "ESI", "EDI", "EBP", "ESP" },
};
/* clang-format on */

uint32_t litmus_x86_register(const struct litmus_token *t, enum litmus_arch arch,
                             uint8_t *size_log2)
{
    for (uint8_t size = 0; size < (arch == LITMUS_X86 ? 3 : 4); size++)
        for (uint32_t r = 0; r < (arch == LITMUS_X86 ? 8 : GENERAL); r++)
            if (strlen(names[size][r]) == t->length
                && strncasecmp(names[size][r], t->text, t->length) == 0) {
                *size_log2 = size;
                return r;
            }
    return LITMUS_NO_REGISTER;
}

const char *litmus_x86_register_name(uint32_t number, enum litmus_arch arch, bool narrow)
{
    return names[arch == LITMUS_X86 ? 4 : narrow ? 2 : 3][number];
}

/* ---- reading ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct row {
    const char *name;
    uint8_t operands, kind, operation, barrier;
} rows[] = {
    { "mov", 2, LITMUS_MOV, 0, 0 },
    { "add", 2, LITMUS_UPDATE, LITMUS_ADD, 0 },
    { "sub", 2, LITMUS_UPDATE, LITMUS_SUB, 0 },
    { "and", 2, LITMUS_UPDATE, LITMUS_AND, 0 },
    { "or", 2, LITMUS_UPDATE, LITMUS_OR, 0 },
    { "xor", 2, LITMUS_UPDATE, LITMUS_XOR, 0 },
    { "inc", 1, LITMUS_UPDATE, LITMUS_ADD, 0 },
    { "dec", 1, LITMUS_UPDATE, LITMUS_SUB, 0 },
    { "cmp", 2, LITMUS_COMPARE, LITMUS_SUB, 0 },
    { "test", 2, LITMUS_COMPARE, LITMUS_AND, 0 },
    { "xchg", 2, LITMUS_XCHG, 0, 0 },
    { "xadd", 2, LITMUS_XADD, LITMUS_ADD, 0 },
    { "cmpxchg", 2, LITMUS_CMPXCHG, 0, 0 },
    { "mfence", 0, LITMUS_FENCE, 0, ORDEAL_FULL },
    { "lfence", 0, LITMUS_FENCE, 0, ORDEAL_LL | ORDEAL_LS },
    { "sfence", 0, LITMUS_FENCE, 0, ORDEAL_SS },
    { "nop", 0, LITMUS_FENCE, 0, 0 },
    { "jmp", 0, LITMUS_BRANCH, LITMUS_ALWAYS, 0 },
    { "je", 0, LITMUS_BRANCH, LITMUS_EQ, 0 },
    { "jz", 0, LITMUS_BRANCH, LITMUS_EQ, 0 },
    { "jne", 0, LITMUS_BRANCH, LITMUS_NE, 0 },
    { "jnz", 0, LITMUS_BRANCH, LITMUS_NE, 0 },
    { "jl", 0, LITMUS_BRANCH, LITMUS_LT, 0 },
    { "jlt", 0, LITMUS_BRANCH, LITMUS_LT, 0 },
    { "jle", 0, LITMUS_BRANCH, LITMUS_LE, 0 },
    { "jg", 0, LITMUS_BRANCH, LITMUS_GT, 0 },
    { "jgt", 0, LITMUS_BRANCH, LITMUS_GT, 0 },
    { "jge", 0, LITMUS_BRANCH, LITMUS_GE, 0 },
    { "jb", 0, LITMUS_BRANCH, LITMUS_LTU, 0 },
    { "jae", 0, LITMUS_BRANCH, LITMUS_GEU, 0 },
    { "jbe", 0, LITMUS_BRANCH, LITMUS_LEU, 0 },
    { "ja", 0, LITMUS_BRANCH, LITMUS_GTU, 0 },
    { "js", 0, LITMUS_BRANCH, LITMUS_SIGN, 0 },
    { "jns", 0, LITMUS_BRANCH, LITMUS_NO_SIGN, 0 },
};
/* clang-format on */

static bool same(const struct litmus_token *t, const char *name)
{
    return strlen(name) == t->length && strncasecmp(name, t->text, t->length) == 0;
}

enum { SIZE_UNKNOWN = 9 };

/* With a letter for the size behind it, perhaps. */
static const struct row *find_row(const struct litmus_token *mnemonic, uint8_t *size_log2)
{
    static const char letters[] = "bwlq";
    struct litmus_token t = *mnemonic;
    *size_log2 = SIZE_UNKNOWN;
    for (int cut = 0; cut < 2; cut++) {
        for (size_t i = 0; t.kind == LITMUS_NAME && i < sizeof rows / sizeof *rows; i++)
            if (same(&t, rows[i].name) && (!cut || rows[i].operands))
                return &rows[i];
        const char *letter = t.length
                               ? strchr(letters, tolower((unsigned char)t.text[t.length - 1]))
                               : NULL;
        if (!letter || !*letter)
            return NULL;
        *size_log2 = (uint8_t)(letter - letters);
        t.length--;
    }
    return NULL;
}

/* "(%rax)", "[x]": the bracket was seen; the number before it is in the operand. */
static bool read_memory(struct litmus_lexer *l, struct litmus *test, struct litmus_operand *o)
{
    char close = litmus_at(l, '(') ? ')' : ']';
    uint8_t size;
    if (!litmus_next(l) || (litmus_at(l, '%') && !litmus_next(l)))
        return false;
    if (l->token.kind != LITMUS_NAME)
        return litmus_expected(l, "a register or a location");
    o->kind = LITMUS_MEMORY;
    o->reg = (uint8_t)litmus_x86_register(&l->token, test->arch, &size);
    uint32_t location;
    if (o->reg == LITMUS_NO_REGISTER) {
        if (!litmus_location_enter(l, test, &l->token, &location))
            return false;
        o->number += (int64_t)litmus_address_of(location);
    }
    return litmus_next(l) && litmus_take(l, close, close == ')' ? "')'" : "']'");
}

static bool read_operand(struct litmus_lexer *l, struct litmus *test, struct litmus_operand *o)
{
    bool dollar = litmus_at(l, '$'), percent = litmus_at(l, '%');
    *o = (struct litmus_operand){ .reg = LITMUS_NO_REGISTER, .size_log2 = SIZE_UNKNOWN };
    if ((dollar || percent) && !litmus_next(l))
        return false;
    if (l->token.kind == LITMUS_LITERAL && !percent) {
        o->kind = LITMUS_NUMBER;
        o->number = (int64_t)l->token.number;
        if (!litmus_next(l))
            return false;
        return dollar || !(litmus_at(l, '(') || litmus_at(l, '[')) || read_memory(l, test, o);
    }
    if (!dollar && !percent && (litmus_at(l, '(') || litmus_at(l, '[')))
        return read_memory(l, test, o);
    o->kind = LITMUS_REGISTER;
    o->reg = dollar || l->token.kind != LITMUS_NAME
               ? LITMUS_NO_REGISTER
               : (uint8_t)litmus_x86_register(&l->token, test->arch, &o->size_log2);
    if (o->reg == LITMUS_NO_REGISTER)
        return litmus_expected(l, dollar ? "a number" : "a register, a number or memory");
    return litmus_next(l);
}

static void exchange(struct litmus_operand *a, struct litmus_operand *b)
{
    struct litmus_operand t = *a;
    *a = *b;
    *b = t;
}

/* What cannot be, and how wide it is. */
static bool settle(struct litmus_lexer *l, struct litmus *test, struct litmus_instruction *i)
{
    struct litmus_operand *to = &i->operand[0], *from = &i->operand[1];
    if (to->kind == LITMUS_MEMORY && from->kind == LITMUS_MEMORY)
        return litmus_refuse(l, i->place, "no instruction has two operands in memory");
    if (to->kind == LITMUS_NUMBER)
        return litmus_refuse(l, i->place, "a number is no destination");
    if (i->kind >= LITMUS_XCHG && from->kind != LITMUS_REGISTER)
        return litmus_refuse(l, i->place, "this takes a register beside its destination");
    if (i->flags & LITMUS_LOCK
        && (to->kind != LITMUS_MEMORY || i->kind < LITMUS_UPDATE || i->kind == LITMUS_COMPARE))
        return litmus_refuse(l, i->place, "'lock' is for instructions that read and write memory");
    for (int k = 0; k < 2; k++)
        if (i->operand[k].kind == LITMUS_REGISTER) {
            if (i->size_log2 == SIZE_UNKNOWN)
                i->size_log2 = i->operand[k].size_log2;
            else if (i->size_log2 != i->operand[k].size_log2)
                return litmus_refuse(l, i->place, "the register is not as wide as the instruction");
        }
    if (i->size_log2 == SIZE_UNKNOWN && test->arch == LITMUS_X86)
        i->size_log2 = 2;
    if (i->size_log2 == SIZE_UNKNOWN)
        return litmus_refuse(l, i->place, "how wide is this? Write 'l' or 'q' behind its name");
    return true;
}

static bool read_operands(struct litmus_lexer *l, struct litmus *test, const struct row *row,
                          struct litmus_instruction *i)
{
    struct litmus_operand *to = &i->operand[0], *from = &i->operand[1];
    if (row->operands == 1) {
        *from = (struct litmus_operand){ .kind = LITMUS_NUMBER, .number = 1 };
        return read_operand(l, test, to) && settle(l, test, i);
    }
    if (!read_operand(l, test, to) || !litmus_take(l, ',', "','") || !read_operand(l, test, from))
        return false;
    bool either = i->kind >= LITMUS_XCHG; /* memory is the destination, wherever it stands */
    bool memory = to->kind == LITMUS_MEMORY || from->kind == LITMUS_MEMORY;
    if (either && memory ? from->kind == LITMUS_MEMORY : test->arch == LITMUS_X86_64)
        exchange(to, from);
    if (i->kind == LITMUS_CMPXCHG && to->kind != LITMUS_MEMORY)
        return litmus_refuse(l, i->place, "cmpxchg is understood with memory alone");
    return settle(l, test, i);
}

bool litmus_x86_read(struct litmus_lexer *l, struct litmus *test, struct litmus_instruction *i,
                     struct litmus_token *label)
{
    bool lock = l->token.kind == LITMUS_NAME && same(&l->token, "lock");
    if (lock && (!litmus_next(l) || (litmus_at(l, ';') && !litmus_next(l))))
        return false;
    uint8_t size_log2;
    const struct row *row = find_row(&l->token, &size_log2);
    if (!row)
        return litmus_refuse(l, l->token.place, "'%.*s' is no instruction that is understood",
                             l->token.length > 40 ? 40 : (int)l->token.length, l->token.text);
    i->kind = row->kind;
    i->operation = row->operation;
    i->barrier = row->barrier;
    i->size_log2 = size_log2;
    i->flags = lock ? LITMUS_LOCK : 0;
    if (lock && !row->operands)
        return litmus_refuse(l, i->place, "'lock' is for instructions that read and write memory");
    if (!litmus_next(l))
        return false;
    if (i->kind != LITMUS_BRANCH)
        return !row->operands || read_operands(l, test, row, i);
    *label = l->token;
    return label->kind == LITMUS_NAME ? litmus_next(l) : litmus_expected(l, "a label");
}

/* ---- doing ------------------------------------------------------------------------------- */

static uint64_t get(const struct litmus_machine *m, const struct litmus_operand *o,
                    uint8_t size_log2, uint64_t *needs)
{
    if (o->kind == LITMUS_NUMBER)
        return litmus_cut((uint64_t)o->number, size_log2);
    *needs |= m->reg[o->reg].needs;
    return litmus_cut(m->reg[o->reg].value, size_log2);
}

/* 32 bits clear those above them, fewer leave them. */
static void set(struct litmus_machine *m, uint8_t reg, uint8_t size_log2, uint64_t value,
                uint64_t needs)
{
    if (size_log2 < 2) {
        uint64_t kept = m->reg[reg].value - litmus_cut(m->reg[reg].value, size_log2);
        value |= kept;
        needs |= m->reg[reg].needs;
    }
    m->reg[reg].value = value;
    m->reg[reg].needs = needs;
}

static uint64_t combine(const struct litmus_instruction *i, uint64_t a, uint64_t b)
{
    switch (i->operation) {
    case LITMUS_ADD: a += b; break;
    case LITMUS_SUB: a -= b; break;
    case LITMUS_AND: a &= b; break;
    case LITMUS_OR: a |= b; break;
    default: a ^= b; break;
    }
    return litmus_cut(a, i->size_log2);
}

/* What conditional jumps look at, as a comparison. */
static void note_flags(struct litmus_machine *m, const struct litmus_instruction *i, uint64_t a,
                       uint64_t b, uint64_t needs)
{
    bool compares = i->operation == LITMUS_SUB && i->kind != LITMUS_UPDATE;
    m->compared.left = litmus_extend(compares ? a : combine(i, a, b), i->size_log2);
    m->compared.right = compares ? litmus_extend(b, i->size_log2) : 0;
    m->compared.result = litmus_extend(combine(i, a, b), i->size_log2);
    m->compared.needs = needs;
    m->compared.inexact = !compares && (i->operation == LITMUS_ADD || i->operation == LITMUS_SUB);
}

static bool load(struct litmus_machine *m, const struct litmus_instruction *i, uint64_t *value,
                 uint64_t *needs, const struct litmus_operand *from)
{
    struct litmus_event e;
    if (!litmus_locate(m, i, from, i->size_log2, &e) || !litmus_choose_value(m, i, &e))
        return false;
    e.kind = ORDEAL_LOAD;
    *value = e.read;
    uint64_t self = litmus_add_event(m, i, &e);
    *needs |= self;
    return self != 0;
}

static bool store(struct litmus_machine *m, const struct litmus_instruction *i, uint64_t value,
                  uint64_t needs)
{
    struct litmus_event e;
    if (!litmus_locate(m, i, &i->operand[0], i->size_log2, &e))
        return false;
    e.kind = ORDEAL_STORE;
    e.writes = true;
    e.operand = e.written = value;
    e.data_of = needs;
    return litmus_add_event(m, i, &e) != 0;
}

static bool do_mov(struct litmus_machine *m, const struct litmus_instruction *i)
{
    uint64_t value = 0, needs = 0;
    if (i->operand[1].kind == LITMUS_MEMORY) {
        if (!load(m, i, &value, &needs, &i->operand[1]))
            return false;
    } else {
        value = get(m, &i->operand[1], i->size_log2, &needs);
    }
    if (i->operand[0].kind == LITMUS_MEMORY)
        return store(m, i, value, needs);
    set(m, i->operand[0].reg, i->size_log2, value, needs);
    return true;
}

/* Reads and writes memory at once: what it writes is `combine`d, or the source alone. */
static bool lock(struct litmus_machine *m, const struct litmus_instruction *i, uint64_t source,
                 uint64_t needs, uint64_t *read, uint64_t *self)
{
    struct litmus_event e;
    if (!litmus_locate(m, i, &i->operand[0], i->size_log2, &e) || !litmus_choose_value(m, i, &e))
        return false;
    e.kind = ORDEAL_SWAP;
    e.writes = true;
    e.computed = i->kind != LITMUS_XCHG;
    e.operand = e.written = i->kind == LITMUS_XCHG ? source : combine(i, e.read, source);
    e.data_of = needs;
    *read = e.read;
    *self = litmus_add_event(m, i, &e);
    return *self != 0;
}

/* Of a destination in memory; an exchange is locked whether it says so or not. */
static bool change_memory(struct litmus_machine *m, const struct litmus_instruction *i,
                          uint64_t source, uint64_t source_needs, uint64_t *read, uint64_t *needs)
{
    if (i->flags & LITMUS_LOCK || i->kind == LITMUS_XCHG)
        return lock(m, i, source, source_needs, read, needs);
    *needs = 0;
    return load(m, i, read, needs, &i->operand[0])
        && store(m, i, combine(i, *read, source), *needs | source_needs);
}

static bool do_update(struct litmus_machine *m, const struct litmus_instruction *i)
{
    const struct litmus_operand *to = &i->operand[0], *from = &i->operand[1];
    uint64_t old = 0, old_needs = 0, source = 0, needs = 0;
    if (from->kind == LITMUS_MEMORY) {
        if (!load(m, i, &source, &needs, from))
            return false;
    } else {
        source = get(m, from, i->size_log2, &needs);
    }
    if (to->kind == LITMUS_MEMORY) {
        if (!change_memory(m, i, source, needs, &old, &old_needs))
            return false;
    } else {
        old = get(m, to, i->size_log2, &old_needs);
    }
    if (i->kind == LITMUS_XCHG || i->kind == LITMUS_XADD) /* of one register the sum stays */
        set(m, from->reg, i->size_log2, old, old_needs);
    if (to->kind != LITMUS_MEMORY && i->kind != LITMUS_COMPARE)
        set(m, to->reg, i->size_log2, i->kind == LITMUS_XCHG ? source : combine(i, old, source),
            needs | (i->kind == LITMUS_XCHG ? 0 : old_needs));
    if (i->kind != LITMUS_XCHG)
        note_flags(m, i, old, source, needs | old_needs);
    return true;
}

static bool do_compare(struct litmus_machine *m, const struct litmus_instruction *i)
{
    uint64_t value[2] = { 0 }, needs = 0;
    for (int k = 0; k < 2; k++) {
        const struct litmus_operand *o = &i->operand[k];
        if (o->kind != LITMUS_MEMORY)
            value[k] = get(m, o, i->size_log2, &needs);
        else if (!load(m, i, &value[k], &needs, o))
            return false;
    }
    note_flags(m, i, value[0], value[1], needs);
    return true;
}

/* One that fails orders what is around it all the same, if it is locked. */
static bool do_cmpxchg(struct litmus_machine *m, const struct litmus_instruction *i)
{
    struct litmus_event e;
    uint64_t needs = 0, expected_needs = m->reg[RAX].needs;
    uint64_t expected = litmus_cut(m->reg[RAX].value, i->size_log2);
    uint64_t source = get(m, &i->operand[1], i->size_log2, &needs);
    if (!litmus_locate(m, i, &i->operand[0], i->size_log2, &e) || !litmus_choose_value(m, i, &e))
        return false;
    bool locked = i->flags & LITMUS_LOCK, equal = e.read == expected;
    bool fence = locked && !equal;
    e.kind = locked && equal ? ORDEAL_SWAP : ORDEAL_LOAD;
    e.writes = locked && equal;
    e.operand = e.written = source;
    e.data_of = locked && equal ? needs | expected_needs : 0;
    if (fence && !litmus_add_fence(m, i, ORDEAL_FULL))
        return false;
    uint64_t self = litmus_add_event(m, i, &e);
    if (!self || (fence && !litmus_add_fence(m, i, ORDEAL_FULL)))
        return false;
    m->compared.left = litmus_extend(expected, i->size_log2);
    m->compared.right = litmus_extend(e.read, i->size_log2);
    m->compared.result = litmus_extend(litmus_cut(expected - e.read, i->size_log2), i->size_log2);
    m->compared.needs = self | expected_needs;
    m->compared.inexact = false;
    if (!equal)
        set(m, RAX, i->size_log2, e.read, self);
    return !equal || locked || store(m, i, source, self | needs | expected_needs);
}

static bool do_jump(struct litmus_machine *m, const struct litmus_instruction *i)
{
    enum litmus_relation r = (enum litmus_relation)i->operation;
    bool simple = r == LITMUS_ALWAYS || r == LITMUS_EQ || r == LITMUS_NE || r >= LITMUS_SIGN;
    if (!simple && m->compared.inexact)
        return litmus_refuse(m->where, i->place,
                             "this jump looks at a carry or overflow, which is "
                             "understood after cmp, test, and, or, xor alone");
    if (r != LITMUS_ALWAYS)
        m->control |= m->compared.needs;
    bool signs = r >= LITMUS_SIGN;
    if (litmus_relation_holds(r, signs ? m->compared.result : m->compared.left,
                              signs ? 0 : m->compared.right))
        m->next = i->target;
    return true;
}

bool litmus_x86_step(struct litmus_machine *m, const struct litmus_instruction *i)
{
    m->next++;
    switch (i->kind) {
    case LITMUS_MOV: return do_mov(m, i);
    case LITMUS_COMPARE: return do_compare(m, i);
    case LITMUS_CMPXCHG: return do_cmpxchg(m, i);
    case LITMUS_BRANCH: return do_jump(m, i);
    case LITMUS_FENCE: return litmus_add_fence(m, i, i->barrier);
    default: return do_update(m, i);
    }
}
