/* SPDX-License-Identifier: Apache-2.0 */
/* Tests made ready to run: lines are placed, blocks matched, registers and slots numbered, and what
 * makes no sense is refused with its line. */
#include "program.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kinds.h"
#include "base/list.h"

#define MOST_SLOTS (UINT32_C(1) << 28)
#define MOST_MEMORY (UINT64_C(1) << 30)

enum { MARKS = ORDEAL_ACQUIRES | ORDEAL_RELEASES };

struct compiler {
    struct program *p;
    const struct ordeal_trace *test;
    const char *file;
    struct ordeal_error *e;
    LIST(struct program_line) lines;
    uint32_t *line_table;            /* open-addressed: line + 1, by name and number */
    size_t table_size;
    uint32_t *thread_of;             /* thread index in the test -> in the program */
    uint32_t register_number[MOST_REGISTERS]; /* of the thread at hand: dense -> as written */
};

static uint32_t line_in_file(const struct compiler *c, const struct instruction *i)
{
    return ordeal_trace_op(c->test, i->op)->line;
}

/* ---- lines ----------------------------------------------------------------------------- */

static size_t line_slot(const struct compiler *c, uint32_t base, uint64_t address)
{
    uint64_t h = (address / LINE_BYTES + 1) * UINT64_C(0x9E3779B97F4A7C15)
                 ^ base * UINT64_C(0xD1B54A32D192ED03);
    assert(c->lines.count < c->table_size && !(c->table_size & (c->table_size - 1)));
    size_t slot = (size_t)(h >> 20) & (c->table_size - 1);
    for (; c->line_table[slot]; slot = (slot + 1) & (c->table_size - 1)) {
        const struct program_line *l = &c->lines.data[c->line_table[slot] - 1];
        if (l->base == base && l->address == address)
            break;
    }
    return slot;
}

static bool grow_line_table(struct compiler *c)
{
    free(c->line_table);
    c->table_size = c->table_size ? c->table_size * 2 : 64;
    c->line_table = calloc(c->table_size, sizeof *c->line_table);
    if (!c->line_table)
        return error_out_of_memory(c->e, c->file);
    for (size_t i = 0; i < c->lines.count; i++)
        c->line_table[line_slot(c, c->lines.data[i].base, c->lines.data[i].address)] =
            (uint32_t)i + 1;
    return true;
}

/* The line of a location, created when it is new. */
static bool find_line(struct compiler *c, uint32_t base, uint64_t address, uint32_t *line)
{
    address &= ~(uint64_t)(LINE_BYTES - 1);
    if (c->lines.count * 2 >= c->table_size && !grow_line_table(c))
        return false;
    size_t slot = line_slot(c, base, address);
    if (!c->line_table[slot]) {
        uint8_t marks = base ? ordeal_trace_memory_of(c->test, base) : 0;
        struct program_line fresh = { .base = base, .address = address,
                                      .uncached = marks & ORDEAL_UNCACHED,
                                      .faulting = marks & ORDEAL_FAULTING };
        if (!LIST_PUSH(&c->lines, fresh))
            return error_out_of_memory(c->e, c->file);
        c->line_table[slot] = (uint32_t)c->lines.count;
    }
    *line = c->line_table[slot] - 1;
    return true;
}

static bool initial_values(struct compiler *c)
{
    uint32_t base, line;
    uint64_t address, value;
    uint8_t size_log2;
    for (size_t k = 0; ordeal_trace_init_at(c->test, k, &base, &address, &size_log2, &value); k++) {
        if (!find_line(c, base, address, &line))
            return false;
        struct program_line *l = &c->lines.data[line];
        if (l->faulting)
            return error_bad(c->e, c->file, 0,
                             "%s has an initial value, but no memory: it is under 'fault'",
                             ordeal_trace_name_text(c->test, base));
        for (uint32_t b = 0; b < 1u << size_log2; b++)
            l->initial[address % LINE_BYTES + b] = (uint8_t)(value >> 8 * b);
    }
    return true;
}

/* Is the place of the line told by the test? Addresses keep their distances. */
static bool told_place(const struct compiler *c, const struct program_line *l, uint64_t lowest,
                       uint64_t *place)
{
    if (!l->base) {
        *place = l->address - lowest;
        return true;
    }
    if (!ordeal_trace_place_of(c->test, l->base, place))
        return false;
    *place += l->address;
    return true;
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Lines whose place is told lie there, the others in the gaps between them, in order. */
static bool place_lines(struct compiler *c)
{
    size_t told = 0;
    uint64_t lowest = UINT64_MAX, next = 0;
    uint64_t *taken = malloc((c->lines.count + 1) * sizeof *taken);
    if (!taken)
        return error_out_of_memory(c->e, c->file);
    for (size_t i = 0; i < c->lines.count; i++)
        if (!c->lines.data[i].base && c->lines.data[i].address < lowest)
            lowest = c->lines.data[i].address;
    for (size_t i = 0; i < c->lines.count; i++) {
        struct program_line *l = &c->lines.data[i];
        if (l->faulting || !told_place(c, l, lowest, &l->place))
            continue;
        if (l->place > MOST_MEMORY - LINE_BYTES) {
            free(taken);
            return error_bad(c->e, c->file, 0,
                             "the lines of the test lie more than %llu bytes apart",
                             (unsigned long long)MOST_MEMORY);
        }
        taken[told++] = l->place;
    }
    qsort(taken, told, sizeof *taken, by_place);
    for (size_t i = 1; i < told; i++)
        if (taken[i] == taken[i - 1]) {
            uint64_t twice = taken[i];
            free(taken);
            return error_bad(c->e, c->file, 0,
                             "two lines are placed at 0x%llx; each needs a place of its own",
                             (unsigned long long)twice);
        }
    size_t gap = 0;
    for (size_t i = 0; i < c->lines.count; i++) {
        struct program_line *l = &c->lines.data[i];
        uint64_t place;
        if (!l->faulting && !told_place(c, l, lowest, &place)) {
            for (; gap < told && taken[gap] <= next; gap++)
                if (taken[gap] == next)
                    next += LINE_BYTES;
            l->place = next;
            next += LINE_BYTES;
        }
        if (!l->faulting && l->place + LINE_BYTES > c->p->memory)
            c->p->memory = l->place + LINE_BYTES;
    }
    free(taken);
    c->p->line = c->lines.data;
    c->p->lines = (uint32_t)c->lines.count;
    return true;
}

/* ---- threads --------------------------------------------------------------------------- */

struct numbered { uint32_t number, thread; };

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct numbered *)a)->number, y = ((const struct numbered *)b)->number;
    return (x > y) - (x < y);
}

/* Threads in the order of their numbers, their code as long as their operations are many. */
static bool lay_out_threads(struct compiler *c)
{
    struct program *p = c->p;
    uint32_t threads = ordeal_trace_threads(c->test);
    size_t length = ordeal_trace_length(c->test);
    struct numbered *order = malloc((threads + 1) * sizeof *order);
    p->thread = calloc(threads + 1, sizeof *p->thread);
    p->code = calloc(length + 1, sizeof *p->code);
    c->thread_of = calloc(threads + 1, sizeof *c->thread_of);
    if (!order || !p->thread || !p->code || !c->thread_of) {
        free(order);
        return error_out_of_memory(c->e, c->file);
    }
    for (uint32_t i = 0; i < threads; i++)
        order[i] = (struct numbered){ ordeal_trace_thread_number(c->test, i), i };
    qsort(order, threads, sizeof *order, by_number);
    for (uint32_t i = 0; i < threads; i++) {
        p->thread[i].number = order[i].number;
        c->thread_of[order[i].thread] = i;
    }
    free(order);
    p->threads = threads;
    for (size_t i = 0; i < length; i++)
        p->thread[c->thread_of[ordeal_trace_op(c->test, i)->thread]].length++;
    struct instruction *next = p->code;
    for (uint32_t i = 0; i < threads; i++) {
        p->thread[i].code = next;
        next += p->thread[i].length;
        p->thread[i].length = 0;
    }
    return true;
}

/* ---- instructions ----------------------------------------------------------------------- */

static bool thread_index(struct compiler *c, const struct ordeal_op *op, uint32_t *index)
{
    for (uint32_t i = 0; i < c->p->threads; i++)
        if (c->p->thread[i].number == op->write) {
            *index = i;
            return true;
        }
    return error_bad(c->e, c->file, op->line, "there is no thread P%llu to interrupt",
                     (unsigned long long)op->write);
}

static bool locate(struct compiler *c, const struct ordeal_op *op, struct instruction *i)
{
    if (!find_line(c, op->base, op->address, &i->line))
        return false;
    i->offset = (uint32_t)(op->address % LINE_BYTES);
    const struct program_line *l = &c->lines.data[i->line];
    if (l->faulting && !(op->kind == ORDEAL_LOAD && op->flags & ORDEAL_NONFAULTING))
        return error_bad(c->e, c->file, op->line,
                         "%s has no memory: it is under 'fault', where only NFL may go",
                         ordeal_trace_name_text(c->test, op->base));
    return true;
}

static bool translate(struct compiler *c, size_t n, struct instruction *i)
{
    const struct ordeal_op *op = ordeal_trace_op(c->test, n);
    uint8_t kept = ORDEAL_NONFAULTING | ORDEAL_COMPARE_REGISTER | MARKS;
    *i = (struct instruction){ .kind = op->kind, .flags = op->flags & kept, .op = (uint32_t)n,
                               .barrier = op->barrier, .sets = NO_REGISTER,
                               .compare_register = NO_REGISTER };
    if (kind_has_location(op->kind)) {
        i->size_log2 = op->size_log2;
        if (!locate(c, op, i))
            return false;
    }
    if (kind_writes(op->kind)) {
        i->write = op->write;
        i->step = ordeal_trace_step_of(c->test, n);
        if (op->size_log2 > 3)
            i->bytes = ordeal_trace_bytes_at(c->test, op->write);
    }
    if (op->kind == ORDEAL_AMO)
        i->function = op->function;
    if (op->kind == ORDEAL_CAS)
        i->compare = ordeal_trace_compare_of(c->test, n);
    if (kind_is_atomic(op->kind) && op->size_log2 > 3)
        return error_bad(c->e, c->file, op->line,
                         "a swap or CAS of more than 8 bytes cannot be run");
    if (op->kind == ORDEAL_TX_BEGIN)
        i->count = RETRY_FOREVER;
    if (op->kind == ORDEAL_LOOP_BEGIN || op->kind == ORDEAL_DELAY
        || (op->kind == ORDEAL_TX_BEGIN && op->flags & ORDEAL_HAS_LIMIT)) {
        if (op->write >= RETRY_FOREVER)
            return error_bad(c->e, c->file, op->line, "%llu is too large a number to run",
                             (unsigned long long)op->write);
        i->count = (uint32_t)op->write;
    }
    return op->kind != ORDEAL_INTERRUPT || thread_index(c, op, &i->count);
}

static bool translate_all(struct compiler *c)
{
    for (size_t n = 0; n < ordeal_trace_length(c->test); n++) {
        struct program_thread *t =
            &c->p->thread[c->thread_of[ordeal_trace_op(c->test, n)->thread]];
        if (!translate(c, n, &c->p->code[t->code - c->p->code + t->length++]))
            return false;
    }
    return true;
}

/* ---- blocks ----------------------------------------------------------------------------- */

enum block { LOOP, BRANCH, TRANSACTION, BLOCKS };
static const char *const block_names[BLOCKS] = { "loop", "branch", "transaction" };

enum role { PLAIN, OPENS, SPLITS, CLOSES };
static const struct { uint8_t block, role; } block_parts[ORDEAL_OP_KINDS] = {
    [ORDEAL_LOOP_BEGIN] = { LOOP, OPENS },       [ORDEAL_LOOP_END] = { LOOP, CLOSES },
    [ORDEAL_BRANCH_BEGIN] = { BRANCH, OPENS },   [ORDEAL_BRANCH_ELSE] = { BRANCH, SPLITS },
    [ORDEAL_BRANCH_END] = { BRANCH, CLOSES },    [ORDEAL_TX_BEGIN] = { TRANSACTION, OPENS },
    [ORDEAL_TX_END] = { TRANSACTION, CLOSES },   [ORDEAL_TX_ABORT] = { TRANSACTION, CLOSES },
};

/* The blocks open at a place: at most one of each kind, the innermost last. */
struct nest { uint8_t depth, block[BLOCKS]; uint32_t opened_at[BLOCKS]; };

static bool is_open(const struct nest *nest, uint8_t block)
{
    for (uint8_t d = 0; d < nest->depth; d++)
        if (nest->block[d] == block)
            return true;
    return false;
}

static bool match_part(struct compiler *c, struct nest *nest, struct instruction *code, uint32_t at)
{
    uint8_t block = block_parts[code[at].kind].block, role = block_parts[code[at].kind].role;
    uint32_t file_line = line_in_file(c, &code[at]);
    if (role == OPENS) {
        if (is_open(nest, block))
            return error_bad(c->e, c->file, file_line, "a %s inside a %s", block_names[block],
                             block_names[block]);
        assert(nest->depth < BLOCKS); /* one of each kind */
        nest->block[nest->depth] = block;
        nest->opened_at[nest->depth++] = at;
        return true;
    }
    if (!nest->depth || nest->block[nest->depth - 1] != block)
        return error_bad(c->e, c->file, file_line,
                         is_open(nest, block) ? "the %s ends while a block inside it is open"
                                              : "the end of a %s that did not begin",
                         block_names[block]);
    uint32_t *opened = &nest->opened_at[nest->depth - 1];
    if (role == SPLITS && code[*opened].kind == ORDEAL_BRANCH_ELSE)
        return error_bad(c->e, c->file, file_line, "a branch has one BRANCH.ELSE");
    code[*opened].match = at;
    code[at].match = *opened;
    if (role == SPLITS)
        *opened = at;
    else
        nest->depth--;
    return true;
}

/* Of a loop: do the values still fit at its last round? */
static bool steps_fit(struct compiler *c, const struct instruction *i, uint32_t rounds)
{
    if (i->step == 0 || i->size_log2 >= 3)
        return true;
    uint64_t most = (UINT64_C(1) << (8u << i->size_log2)) - 1;
    if (i->step <= (most - i->write) / (rounds > 1 ? rounds - 1 : 1) || rounds == 1)
        return true;
    return error_bad(c->e, c->file, line_in_file(c, i),
                     "in round %u the value no longer fits %u bytes", rounds, 1u << i->size_log2);
}

static bool match_blocks(struct compiler *c, struct program_thread *t)
{
    struct instruction *code = &c->p->code[t->code - c->p->code];
    struct nest nest = { 0 };
    uint32_t rounds = 0; /* of the loop we are in; 0: in none */
    for (uint32_t at = 0; at < t->length; at++) {
        if (block_parts[code[at].kind].role != PLAIN && !match_part(c, &nest, code, at))
            return false;
        if (code[at].kind == ORDEAL_LOOP_BEGIN)
            rounds = code[at].count;
        else if (code[at].kind == ORDEAL_LOOP_END)
            rounds = 0;
        else if (code[at].step && !rounds)
            return error_bad(c->e, c->file, line_in_file(c, &code[at]), "'+%llu' outside of a loop",
                             (unsigned long long)code[at].step);
        else if (!steps_fit(c, &code[at], rounds))
            return false;
    }
    if (!nest.depth)
        return true;
    const struct instruction *open = &code[nest.opened_at[nest.depth - 1]];
    return error_bad(c->e, c->file, line_in_file(c, open), "the %s does not end",
                     block_names[nest.block[nest.depth - 1]]);
}

/* What a transaction does that will abort is seen by nobody. */
static void mark_observed(struct program *p, struct program_thread *t)
{
    struct instruction *code = &p->code[t->code - p->code];
    bool doomed = false;
    for (uint32_t at = 0; at < t->length; at++) {
        if (code[at].kind == ORDEAL_TX_BEGIN)
            doomed = code[code[at].match].kind == ORDEAL_TX_ABORT;
        code[at].observed = !doomed
                         && (kind_answers(code[at].kind) || code[at].kind == ORDEAL_TX_END);
        if (code[at].kind == ORDEAL_TX_ABORT)
            doomed = false;
    }
}

/* ---- registers -------------------------------------------------------------------------- */

static bool dense_register(struct compiler *c, struct program_thread *t, uint32_t file_line,
                           uint32_t number, uint8_t *reg)
{
    for (*reg = 0; *reg < t->registers; ++*reg)
        if (c->register_number[*reg] == number)
            return true;
    if (t->registers == MOST_REGISTERS)
        return error_bad(c->e, c->file, file_line, "a thread uses at most %d registers",
                         MOST_REGISTERS);
    c->register_number[t->registers++] = number;
    return true;
}

/* A plain '<r1' is the address. */
static bool note_register(struct compiler *c, struct instruction *i, uint8_t reg,
                          enum ordeal_register_use use)
{
    uint32_t bit = UINT32_C(1) << reg;
    switch (use) {
    case ORDEAL_REGISTER_DATA: i->data |= bit; return true;
    case ORDEAL_REGISTER_CONTROL: i->control |= bit; return true;
    case ORDEAL_REGISTER_WRITTEN: break;
    default: i->needs |= bit; return true;
    }
    if (i->sets != NO_REGISTER)
        return error_bad(c->e, c->file, line_in_file(c, i), "an operation writes one register");
    i->sets = reg;
    return true;
}

static bool number_registers(struct compiler *c, struct program_thread *t)
{
    struct instruction *code = &c->p->code[t->code - c->p->code];
    for (uint32_t at = 0; at < t->length; at++) {
        struct instruction *i = &code[at];
        uint32_t number, file_line = line_in_file(c, i);
        enum ordeal_register_use use;
        uint8_t reg;
        for (size_t k = 0; ordeal_trace_register_use(c->test, i->op, k, &number, &use); k++)
            if (!dense_register(c, t, file_line, number, &reg) || !note_register(c, i, reg, use))
                return false;
        if (i->sets != NO_REGISTER && i->size_log2 > 3)
            return error_bad(c->e, c->file, file_line, "a register holds at most 8 bytes");
        if (i->flags & ORDEAL_COMPARE_REGISTER) {
            if (!dense_register(c, t, file_line, (uint32_t)i->compare, &i->compare_register))
                return false;
            i->compare = 0;
        }
    }
    return true;
}

/* ---- reservations ----------------------------------------------------------------------- */

static bool overlap(const struct instruction *a, const struct instruction *b)
{
    return a->line == b->line && a->offset < b->offset + (1u << b->size_log2)
        && b->offset < a->offset + (1u << a->size_log2);
}

/* An SC uses the LR before it, whatever way is taken, and no store of its own is between. */
static bool match_reservations(struct compiler *c, const struct program_thread *t)
{
    const struct instruction *lr = NULL;
    for (uint32_t at = 0; at < t->length; at++) {
        const struct instruction *i = &t->code[at];
        bool sc = i->kind == ORDEAL_STORE_CONDITIONAL;
        if (sc
            && (!lr || lr->line != i->line || lr->offset != i->offset
                || lr->size_log2 != i->size_log2))
            return error_bad(
                c->e, c->file, line_in_file(c, i),
                "an SC needs an LR of its word before it, with no store to that, no SC "
                "and no beginning or end of a block between them");
        if (i->kind == ORDEAL_LOAD_RESERVED)
            lr = i;
        else if (sc || block_parts[i->kind].role != PLAIN
                 || (lr && kind_writes(i->kind) && overlap(i, lr)))
            lr = NULL;
    }
    return true;
}

/* ---- how much there is ------------------------------------------------------------------- */

struct extent { uint64_t slots, operations; };

static struct extent larger(struct extent a, struct extent b)
{
    return (struct extent){ a.slots > b.slots ? a.slots : b.slots,
                            a.operations > b.operations ? a.operations : b.operations };
}

/* The most that the instructions from `at` up to `end` bring. */
static struct extent measure(const struct instruction *code, uint32_t at, uint32_t end)
{
    struct extent sum = { 0, 0 };
    for (; at < end; at++) {
        const struct instruction *i = &code[at];
        struct extent inner = { instruction_slots(i), kind_is_access(i->kind) };
        if (i->kind == ORDEAL_LOOP_BEGIN) {
            inner = measure(code, at + 1, i->match);
            inner.slots *= i->count;
            inner.operations *= i->count;
            at = i->match;
        } else if (i->kind == ORDEAL_BRANCH_BEGIN) {
            inner = measure(code, at + 1, i->match);
            at = i->match;
            if (code[at].kind == ORDEAL_BRANCH_ELSE) {
                inner = larger(inner, measure(code, at + 1, code[at].match));
                at = code[at].match;
            }
        }
        sum.slots += inner.slots;
        sum.operations += inner.operations;
    }
    return sum;
}

static bool number_slots(struct compiler *c, struct program_thread *t)
{
    struct extent all = measure(t->code, 0, t->length);
    if (all.slots + c->p->slots > MOST_SLOTS || all.operations > UINT32_MAX)
        return error_bad(c->e, c->file, 0, "P%u makes too many operations to be run", t->number);
    t->first_slot = c->p->slots;
    t->slots = (uint32_t)all.slots;
    t->first_operation = c->p->operations;
    t->operations = all.operations;
    c->p->slots += t->slots;
    c->p->operations += t->operations;
    return true;
}

/* ---- what memory holds at the end --------------------------------------------------------- */

enum { LINE_FINALS = LINE_BYTES / FINAL_BYTES };

static void note_write(struct program_final *f, uint32_t at, uint8_t size_log2)
{
    for (uint32_t b = at; b < at + (1u << size_log2); b++)
        f->written |= (uint8_t)(1u << b);
    while (++size_log2 <= 3)
        f->divided |= program_final_part(size_log2, at);
}

/* By line, a row of LINE_FINALS. */
static void note_writes(const struct program *p, struct program_final *all)
{
    for (uint32_t t = 0; t < p->threads; t++)
        for (uint32_t at = 0; at < p->thread[t].length; at++) {
            const struct instruction *i = &p->thread[t].code[at];
            struct program_final *row = &all[(size_t)i->line * LINE_FINALS];
            uint32_t words = i->size_log2 > 3 ? 1u << (i->size_log2 - 3) : 1;
            for (uint32_t w = 0; kind_writes(i->kind) && w < words; w++)
                note_write(&row[i->offset / FINAL_BYTES + w], i->offset % FINAL_BYTES,
                           i->size_log2 > 3 ? 3 : i->size_log2);
        }
}

static bool list_finals(struct compiler *c)
{
    struct program *p = c->p;
    size_t most = (size_t)p->lines * LINE_FINALS;
    p->final = calloc(most + 1, sizeof *p->final);
    if (!p->final)
        return error_out_of_memory(c->e, c->file);
    for (uint32_t k = 0; k < most; k++)
        p->final[k] = (struct program_final){ .line = k / LINE_FINALS,
                                              .offset = k % LINE_FINALS * FINAL_BYTES };
    note_writes(p, p->final);
    for (size_t k = 0; k < most; k++)
        if (p->final[k].written)
            p->final[p->finals++] = p->final[k];
    return true;
}

/* ---- what it asks of the machine ---------------------------------------------------------- */

static void note_needs(struct program *p, const struct instruction *i)
{
    struct abilities *a = &p->asks;
    uint32_t size = UINT32_C(1) << i->size_log2;
    a->data |= i->data != 0;
    a->control |= i->control != 0;
    if (i->flags & MARKS)
        *(kind_is_atomic(i->kind) ? &a->marks : &a->plain_marks) = true;
    switch (i->kind) {
    case ORDEAL_LOAD:
        a->load_sizes |= size;
        a->nonfaulting |= p->line[i->line].faulting;
        break;
    case ORDEAL_STORE:        a->store_sizes |= size; break;
    case ORDEAL_SWAP:         a->swap_sizes |= size; break;
    case ORDEAL_CAS:          a->cas_sizes |= size; break;
    case ORDEAL_AMO: a->amo_sizes |= size; break;
    case ORDEAL_LOAD_RESERVED:
    case ORDEAL_STORE_CONDITIONAL: a->reserve_sizes |= size; break;
    case ORDEAL_FLUSH:        a->flush = true; break;
    case ORDEAL_INTERRUPT:    a->interrupts = true; break;
    case ORDEAL_BRANCH_BEGIN: p->branches = true; break;
    case ORDEAL_TX_BEGIN:
        a->transactions = true;
        p->retries = true;
        break;
    }
}

static void sum_up(struct program *p)
{
    p->asks.threads = p->threads;
    p->asks.memory = p->memory;
    for (uint32_t t = 0; t < p->threads; t++) {
        if (p->thread[t].registers > p->asks.registers)
            p->asks.registers = p->thread[t].registers;
        for (uint32_t at = 0; at < p->thread[t].length; at++)
            note_needs(p, &p->thread[t].code[at]);
    }
    for (uint32_t l = 0; l < p->lines; l++)
        p->asks.uncached |= p->line[l].uncached;
}

/* ------------------------------------------------------------------------------------------ */

/* What targets rely on when they walk the code. */
static void check_thread(const struct program *p, const struct program_thread *t)
{
    assert(t->first_slot + t->slots <= p->slots && t->registers <= MOST_REGISTERS);
    for (uint32_t at = 0; at < t->length; at++) {
        const struct instruction *i = &t->code[at];
        assert(i->match < t->length && (i->sets == NO_REGISTER || i->sets < t->registers));
        assert(i->compare_register == NO_REGISTER || i->compare_register < t->registers);
        assert(t->registers == MOST_REGISTERS
               || (i->needs | i->data | i->control) >> t->registers == 0);
        if (kind_has_location(i->kind))
            assert(i->line < p->lines && i->offset + (1u << i->size_log2) <= LINE_BYTES);
        if (block_parts[i->kind].role == CLOSES)
            assert(i->match < at && t->code[i->match].match == at);
    }
}

static bool compile(struct compiler *c)
{
    if (!lay_out_threads(c) || !translate_all(c) || !initial_values(c) || !place_lines(c))
        return false;
    for (uint32_t i = 0; i < c->p->threads; i++) {
        struct program_thread *t = &c->p->thread[i];
        if (!match_blocks(c, t) || !number_registers(c, t) || !match_reservations(c, t))
            return false;
        mark_observed(c->p, t);
        if (!number_slots(c, t))
            return false;
    }
    if (c->p->threads == 0)
        return error_bad(c->e, c->file, 0, "there is no operation in the test");
    if (!list_finals(c))
        return false;
    sum_up(c->p);
    for (uint32_t i = 0; i < c->p->threads; i++)
        check_thread(c->p, &c->p->thread[i]);
    return true;
}

bool program_compile(struct program *p, const struct ordeal_trace *test, const char *file,
                     struct ordeal_error *e)
{
    *p = (struct program){ .test = test, .seed = ordeal_trace_seed_of(test) };
    struct compiler c = { .p = p, .test = test, .file = file, .e = e };
    bool good = compile(&c);
    p->line = c.lines.data;
    free(c.line_table);
    free(c.thread_of);
    if (!good)
        program_free(p);
    return good;
}

void program_free(struct program *p)
{
    free(p->thread);
    free(p->line);
    free(p->final);
    free(p->code);
    *p = (struct program){ 0 };
}

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

uint64_t program_identity(const struct program *p)
{
    uint64_t h = mixed(p->seed, p->threads);
    for (uint32_t t = 0; t < p->threads; t++)
        for (uint32_t at = 0; at < p->thread[t].length; at++) {
            const struct instruction *i = &p->thread[t].code[at];
            h = mixed(h, i->kind | i->size_log2 << 8 | i->flags << 16 | (uint32_t)i->barrier << 24
                         | (uint64_t)i->sets << 32 | (uint64_t)i->compare_register << 40
                         | (uint64_t)t << 48);
            h = mixed(h, i->line | (uint64_t)i->offset << 32);
            h = mixed(h, i->count | (uint64_t)i->needs << 32);
            if (i->data | i->control)
                h = mixed(h, i->data | (uint64_t)i->control << 32);
            h = mixed(h, i->bytes ? 0 : i->write);
            h = mixed(mixed(h, i->step), i->compare);
            for (uint32_t b = 0; i->bytes && b < 1u << i->size_log2; b++)
                h = mixed(h, i->bytes[b]);
        }
    for (uint32_t l = 0; l < p->lines; l++) {
        h = mixed(h, p->line[l].place << 2 | p->line[l].uncached << 1 | p->line[l].faulting);
        for (uint32_t b = 0; b < LINE_BYTES; b++)
            h = mixed(h, p->line[l].initial[b]);
    }
    return h;
}
