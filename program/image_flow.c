/* SPDX-License-Identifier: Apache-2.0 */
/* Where control may go, over the whole program.
 *
 * Nothing is taken from a calling convention. A call goes to the first instruction of what it calls.
 * A return goes behind a call of the function it is in; a function is what is connected without
 * calls, so that one that ends in a jump to another is one with it. Any other JALR goes to a
 * landing: code that has its address somewhere, in data or made by the two instructions that make
 * constants; if there are any in its own function, which then has a table of jumps, to one of them.
 * The engine asks image_may_jump() and lets a JALR go nowhere else: whoever builds addresses in other
 * ways is told so, and what is found here, and all that follows from it, holds. */
#include "image_flow.h"

#include <stdlib.h>
#include <string.h>

#include "calls.h"

enum { RA = 1, T0 = 5, A7 = 17 };

uint32_t flow_index(const struct image *i, uint32_t pc)
{
    uint32_t at = pc - i->code_begin;
    return at % 4 == 0 && at / 4 < i->code_bytes / 4 ? at / 4 : (uint32_t)FLOW_NOWHERE;
}

static uint32_t pc_of(const struct image *i, uint32_t k) { return i->code_begin + k * 4; }

bool image_is_branch(const struct instruction *in)
{
    return in->operation >= OPERATION_BEQ && in->operation <= OPERATION_BGEU;
}

bool image_is_return(const struct instruction *in)
{
    return in->operation == OPERATION_JALR && in->rd == 0 && (in->rs1 == RA || in->rs1 == T0);
}

uint32_t image_far_target(const struct image *i, uint32_t pc)
{
    const struct instruction *in = image_instruction(i, pc), *before = image_instruction(i, pc - 4);
    if (!in || !before || in->operation != OPERATION_JALR || before->operation != OPERATION_AUIPC
        || before->rd != in->rs1 || before->rd == 0 || (in->flags & IMAGE_JOINED))
        return 0;
    return ((uint32_t)before->immediate + (uint32_t)in->immediate) & ~1u;
}

uint32_t image_call_target(const struct image *i, uint32_t pc)
{
    const struct instruction *in = image_instruction(i, pc);
    if (in && in->operation == OPERATION_JAL)
        return (uint32_t)in->immediate;
    return in ? image_far_target(i, pc) : 0;
}

static void mark(struct flow *f, uint32_t pc, uint8_t flag)
{
    uint32_t k = flow_index(f->i, pc);
    if (k != FLOW_NOWHERE)
        f->i->code[k].flags |= flag;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* As symbols bound them; what is between two is one, too. Without symbols all is one. */
static void bound_functions(struct flow *f)
{
    uint32_t *function = f->i->function_of;
    for (size_t k = 0; k < f->i->symbols; k++) {
        const struct symbol *s = &f->i->symbol[k];
        uint32_t begin = flow_index(f->i, s->address), end = flow_index(f->i, s->address + s->size);
        if (begin != FLOW_NOWHERE)
            function[begin] = begin;
        if (begin != FLOW_NOWHERE && end != FLOW_NOWHERE && s->function)
            function[end] = end;
    }
    for (uint32_t k = 1; k < f->count; k++)
        if (!function[k])
            function[k] = function[k - 1];
}

static uint32_t function_end(const struct flow *f, uint32_t k)
{
    uint32_t begin = f->i->function_of[k];
    while (k < f->count && f->i->function_of[k] == begin)
        k++;
    return k;
}

/* ---- landings -------------------------------------------------------------------------------- */

static void mark_data(struct flow *f)
{
    enum {
        HEADER = 52
    }; /* of the file itself, with the entry point: linkers load it with the rest */
    for (size_t k = 0; k < f->i->segments; k++) {
        const struct segment *s = &f->i->segment[k];
        bool header = s->size > HEADER && memcmp(s->bytes, "\177ELF", 4) == 0;
        for (uint32_t at = header ? HEADER : -s->address & 3; s->size >= 4 && at <= s->size - 4;
             at += 4) {
            uint32_t word;
            memcpy(&word, s->bytes + at, sizeof word);
            mark(f, word, IMAGE_LANDING);
        }
    }
}

static bool is_upper(const struct instruction *in)
{
    return in->operation == OPERATION_LUI || in->operation == OPERATION_AUIPC;
}

/* With symbols, code that has its address taken is a function, or within the own one. */
static void mark_constant(struct flow *f, uint32_t pc, uint32_t begin, uint32_t end)
{
    uint32_t k = flow_index(f->i, pc);
    if (k != FLOW_NOWHERE && (f->i->function_of[k] == k || (k >= begin && k < end)))
        f->i->code[k].flags |= IMAGE_LANDING;
}

static bool is_indirect(const struct flow *f, uint32_t k)
{
    const struct instruction *in = &f->i->code[k];
    return in->operation == OPERATION_JALR && in->rd == 0 && !image_is_return(in)
        && !image_far_target(f->i, pc_of(f->i, k));
}

static const struct segment *segment_of(const struct image *i, uint32_t address)
{
    for (size_t k = 0; k < i->segments; k++)
        if (address - i->segment[k].address < i->segment[k].size)
            return &i->segment[k];
    return NULL;
}

/* A table of distances from itself, as GCC makes them: as long as they stay in the function. */
static void mark_distances(struct flow *f, uint32_t table, uint32_t begin, uint32_t end)
{
    const struct segment *s = table % 4 == 0 ? segment_of(f->i, table) : NULL;
    for (uint32_t at = s ? table - s->address : 0; s && s->size - at >= 4; at += 4) {
        uint32_t distance;
        memcpy(&distance, s->bytes + at, sizeof distance);
        uint32_t k = flow_index(f->i, table + distance);
        if (k == FLOW_NOWHERE || k <= begin || k >= end)
            return;
        f->i->code[k].flags |= IMAGE_LANDING;
    }
}

/* Upper and lower parts of constants may be made far from each other, but in one function. The upper
 * part of a call is none. */
static void mark_constants(struct flow *f, uint32_t begin, uint32_t end)
{
    bool low[4096] = { true }, jumps = false;
    for (uint32_t k = begin; k < end; k++) {
        if (f->i->code[k].operation == OPERATION_ADDI)
            low[f->i->code[k].immediate & 4095] = true;
        jumps |= is_indirect(f, k);
    }
    for (uint32_t k = begin; k < end; k++) {
        const struct instruction *in = &f->i->code[k];
        uint32_t upper = (uint32_t)in->immediate;
        if (!is_upper(in) || image_far_target(f->i, pc_of(f->i, k) + 4))
            continue;
        for (uint32_t bits = 0; bits < 4096; bits++)
            if (low[bits]) {
                mark_constant(f, upper + (bits ^ 2048) - 2048, begin, end);
                if (jumps)
                    mark_distances(f, upper + (bits ^ 2048) - 2048, begin, end);
            }
    }
}

/* The inside of a function is for its own indirect jumps: without any, nothing lands there. */
static void sort_landings(struct flow *f, uint32_t begin, uint32_t end)
{
    bool jumps = false, lands = false;
    for (uint32_t k = begin; k < end; k++)
        jumps |= is_indirect(f, k);
    for (uint32_t k = begin + 1; k < end && f->i->symbols && !jumps; k++)
        f->i->code[k].flags &= (uint8_t)~IMAGE_LANDING;
    for (uint32_t k = begin + 1; k < end; k++)
        lands |= (f->i->code[k].flags & IMAGE_LANDING) != 0;
    for (uint32_t k = begin; k < end && lands; k++)
        f->i->code[k].flags |= is_indirect(f, k) ? IMAGE_TABLE : 0;
}

bool flow_is_entry(const struct image *i, uint32_t k)
{
    return (i->code[k].flags & IMAGE_LANDING) && (i->function_of[k] == k || !i->symbols);
}

static void mark_landings(struct flow *f)
{
    mark_data(f);
    for (uint32_t k = 0, end; k < f->count; k = end)
        mark_constants(f, k, end = function_end(f, k));
    for (uint32_t k = 0, end; k < f->count; k = end)
        sort_landings(f, k, end = function_end(f, k));
    f->entry = FLOW_NOWHERE;
    for (uint32_t k = 0; k < f->count; k++)
        if (flow_is_entry(f->i, k))
            f->entry = k;
}

/* ---- kinds ---------------------------------------------------------------------------------- */

static void mark_joined(struct flow *f)
{
    for (uint32_t k = 0; k < f->count; k++)
        if (image_is_branch(&f->i->code[k]) || f->i->code[k].operation == OPERATION_JAL)
            mark(f, (uint32_t)f->i->code[k].immediate, IMAGE_JOINED);
}

uint32_t flow_call_number(const struct flow *f, uint32_t k)
{
    const struct instruction *code = f->i->code;
    for (; k > 0 && !(code[k].flags & (IMAGE_JOINED | IMAGE_LANDING)); k--) {
        const struct instruction *before = &code[k - 1];
        if (before->rd == A7)
            return before->operation == OPERATION_ADDI && before->rs1 == 0
                     ? (uint32_t)before->immediate
                     : 0;
        if (before->operation == OPERATION_ECALL || before->operation == OPERATION_JAL
            || before->operation == OPERATION_JALR)
            return 0;
    }
    return 0;
}

static bool call_ends(uint32_t number)
{
    return number == PROGRAM_CALL_EXIT || number == PROGRAM_CALL_THREAD_EXIT
        || number == PROGRAM_CALL_ABORT || number == PROGRAM_CALL_ASSERT_FAILED
        || number == PROGRAM_CALL_REACH_ERROR || number == PROGRAM_CALL_NOT_THERE;
}

static enum flow_kind kind_of(struct flow *f, uint32_t k, uint32_t *target)
{
    const struct instruction *in = &f->i->code[k];
    bool direct = image_is_branch(in) || in->operation == OPERATION_JAL;
    *target = flow_index(f->i,
                         direct ? (uint32_t)in->immediate : image_far_target(f->i, pc_of(f->i, k)));
    if (image_is_branch(in))
        return FLOW_BRANCH;
    if (in->operation == OPERATION_JAL || *target != FLOW_NOWHERE)
        return in->rd ? FLOW_CALL : FLOW_JUMP;
    if (in->operation == OPERATION_JALR)
        return in->rd ? FLOW_INDIRECT_CALL : image_is_return(in) ? FLOW_RETURN : FLOW_INDIRECT;
    bool ends = in->operation == OPERATION_NONE || in->operation == OPERATION_EBREAK
             || (in->operation == OPERATION_ECALL && call_ends(flow_call_number(f, k)));
    return ends ? FLOW_STOP : FLOW_NEXT;
}

/* ---- what comes back ------------------------------------------------------------------------- */

static bool comes_back(const struct flow *f, uint32_t k)
{
    bool next = k + 1 < f->count && f->comes_back[k + 1];
    bool there = f->target[k] != FLOW_NOWHERE && f->comes_back[f->target[k]];
    switch ((enum flow_kind)f->kind[k]) {
    case FLOW_NEXT:
    case FLOW_INDIRECT_CALL: return next;
    case FLOW_BRANCH: return next || there;
    case FLOW_JUMP: return there;
    case FLOW_CALL: return next && there;
    case FLOW_RETURN:
    case FLOW_INDIRECT: return true;
    case FLOW_STOP: break;
    }
    return false;
}

static void find_comes_back(struct flow *f)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = f->count; k-- > 0;)
            if (!f->comes_back[k] && comes_back(f, k))
                changed = f->comes_back[k] = true;
    }
}

/* Somebody comes back behind it. */
static bool is_left(const struct flow *f, uint32_t k)
{
    return k + 1 < f->count
        && (f->kind[k] == FLOW_INDIRECT_CALL
            || (f->kind[k] == FLOW_CALL && f->target[k] != FLOW_NOWHERE
                && f->comes_back[f->target[k]]));
}

/* ---- groups ---------------------------------------------------------------------------------- */

static uint32_t root(const struct flow *f, uint32_t k)
{
    while (f->group[k] != k)
        k = f->group[k] = f->group[f->group[k]];
    return k;
}

static void unite(struct flow *f, uint32_t a, uint32_t b)
{
    if (a < f->count && b < f->count)
        f->group[root(f, a)] = root(f, b);
}

static void unite_table(struct flow *f, uint32_t k)
{
    uint32_t end = function_end(f, k);
    for (uint32_t to = f->i->function_of[k] + 1; to < end; to++)
        if (f->i->code[to].flags & IMAGE_LANDING)
            unite(f, k, to);
}

static void unite_all(struct flow *f)
{
    for (uint32_t k = 0; k < f->count; k++) {
        uint8_t kind = f->kind[k];
        if (kind == FLOW_NEXT || kind == FLOW_BRANCH || is_left(f, k))
            unite(f, k, k + 1);
        if (kind == FLOW_BRANCH || kind == FLOW_JUMP)
            unite(f, k, f->target[k]);
        if (f->i->code[k].flags & IMAGE_TABLE)
            unite_table(f, k);
        else if (kind == FLOW_INDIRECT || flow_is_entry(f->i, k))
            unite(f, k, f->entry); /* who goes to one by its address may go to any */
    }
}

/* Where a thread ends is behind a call by address that nobody sees. */
static uint32_t thread_end(struct flow *f)
{
    const struct symbol *s = image_symbol_named(f->i, "__ordeal_thread_end");
    uint32_t k = s ? flow_index(f->i, s->address) : (uint32_t)FLOW_NOWHERE;
    if (k != FLOW_NOWHERE && k > 0 && is_left(f, k - 1))
        unite(f, f->target[k - 1], f->entry); /* and behind another one */
    return k;
}

/* Returns and places behind calls that belong together have the same number. */
static void number_returns(struct flow *f)
{
    uint32_t last = thread_end(f);
    memset(f->i->returns, 0xff, f->count * sizeof *f->i->returns);
    memset(f->i->behind, 0xff, f->count * sizeof *f->i->behind);
    for (uint32_t k = 0; k < f->count; k++) {
        if (f->kind[k] == FLOW_RETURN)
            f->i->returns[k] = root(f, k);
        if (is_left(f, k) && f->kind[k] == FLOW_CALL)
            f->i->behind[k + 1] = root(f, f->target[k]);
        if (is_left(f, k) && f->kind[k] == FLOW_INDIRECT_CALL && f->entry != FLOW_NOWHERE)
            f->i->behind[k + 1] = root(f, f->entry);
    }
    if (last != FLOW_NOWHERE && f->entry != FLOW_NOWHERE)
        f->i->behind[last] = root(f, f->entry);
}

bool image_may_jump(const struct image *i, uint32_t from, uint32_t to)
{
    uint32_t a = flow_index(i, from), b = flow_index(i, to);
    if (a == FLOW_NOWHERE || b == FLOW_NOWHERE)
        return false;
    if (i->returns[a] != FLOW_NOWHERE)
        return i->returns[a] == i->behind[b];
    if (image_far_target(i, from))
        return to == image_far_target(i, from);
    if (i->code[a].flags & IMAGE_TABLE)
        return i->function_of[a] == i->function_of[b] && i->function_of[b] != b
            && (i->code[b].flags & IMAGE_LANDING);
    return flow_is_entry(i, b);
}

/* ---- marks ----------------------------------------------------------------------------------- */

static void mark_atomic(struct flow *f)
{
    static const char prefix[] = "__VERIFIER_atomic_";
    for (size_t k = 0; k < f->i->symbols; k++) {
        const struct symbol *s = &f->i->symbol[k];
        if (!s->function || strncmp(s->name, prefix, sizeof prefix - 1) != 0)
            continue;
        const char *rest = s->name + sizeof prefix - 1;
        if (strcmp(rest, "begin") != 0 && strcmp(rest, "end") != 0) /* which are calls */
            mark(f, s->address, INSTRUCTION_ATOMIC);
    }
}

/* Whatever goes round goes to a lower address at least once, or by a JALR that can. */
static void mark_back(struct flow *f)
{
    for (uint32_t k = 0; k < f->count; k++) {
        bool anywhere = f->kind[k] == FLOW_RETURN || f->kind[k] == FLOW_INDIRECT
                     || f->kind[k] == FLOW_INDIRECT_CALL;
        if (anywhere || (f->target[k] != FLOW_NOWHERE && f->target[k] <= k))
            f->i->code[k].flags |= INSTRUCTION_BACK;
    }
}

static bool analyse(struct flow *f)
{
    for (uint32_t k = 0; k < f->count; k++)
        f->group[k] = k;
    bound_functions(f);
    mark_joined(f);
    mark_landings(f);
    for (uint32_t k = 0; k < f->count; k++)
        f->kind[k] = kind_of(f, k, &f->target[k]);
    find_comes_back(f);
    unite_all(f);
    number_returns(f);
    mark_atomic(f);
    mark_back(f);
    return flow_find_live(f);
}

bool image_analyse_flow(struct image *i)
{
    struct flow f = { .i = i, .count = i->code_bytes / 4 };
    f.kind = calloc(f.count + 1, sizeof *f.kind);
    f.target = calloc(f.count + 1, sizeof *f.target);
    f.comes_back = calloc(f.count + 1, sizeof *f.comes_back);
    f.group = calloc(f.count + 1, sizeof *f.group);
    i->function_of = calloc(f.count + 1, sizeof *i->function_of);
    i->returns = calloc(f.count + 1, sizeof *i->returns);
    i->behind = calloc(f.count + 1, sizeof *i->behind);
    bool good = f.kind && f.target && f.comes_back && f.group && i->function_of && i->returns
             && i->behind && analyse(&f);
    free(f.kind);
    free(f.target);
    free(f.comes_back);
    free(f.group);
    return good;
}
