/* SPDX-License-Identifier: Apache-2.0 */
#include "litmus_program.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "rvwmo.h"

static const char *const functions[] = { "swap", "add", "or", "xor" };
enum { FUNCTIONS = 4 };

/* ---- random programs ---------------------------------------------------------------------- */

static unsigned below(uint64_t *state, unsigned bound)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((z ^ z >> 31) % bound);
}
static bool percent(uint64_t *state, unsigned chance) { return below(state, 100) < chance; }

struct shape {
    bool mixed, marks, registers, reserving, fences, branches, atomics;
};

/* What a hart did so far. */
struct past {
    int registers, reserved; /* reserved: number of the LR that an SC may use, -1: none */
};

static void draw_place(const struct program *p, const struct shape *s, uint64_t *r,
                       struct program_op *op)
{
    bool atomic = op->kind >= PROGRAM_AMO;
    op->location = below(r, p->locations);
    op->size = !s->mixed ? 4 : atomic ? 4u << below(r, 2) : 1u << below(r, 4);
    op->offset = s->mixed ? below(r, 8 / op->size) * op->size : 0;
}

static int draw_register(uint64_t *r, const struct past *past, unsigned chance)
{
    return past->registers && percent(r, chance) ? (int)below(r, (unsigned)past->registers) : -1;
}

static void draw_needs(const struct shape *s, uint64_t *r, const struct past *past,
                       struct program_op *op)
{
    bool stores = op->kind == PROGRAM_STORE || op->kind == PROGRAM_AMO || op->kind == PROGRAM_SC;
    bool reserves = op->kind == PROGRAM_LR || op->kind == PROGRAM_SC;
    op->address = op->branch = op->data = -1;
    if (s->registers)
        op->address = draw_register(r, past, 30);
    if (s->registers && stores) {
        op->data = draw_register(r, past, 40);
        op->masked = s->mixed || percent(r, 50);
    }
    if (s->branches) {
        op->branch = draw_register(r, past, 40);
        op->skipped = !reserves && percent(r, 50);
    }
}

static void draw_access(struct program *p, const struct shape *s, uint64_t *r, unsigned hart,
                        struct past *past)
{
    struct program_op *op = &p->op[p->ops++];
    *op = (struct program_op){ .hart = hart, .result = -1 };
    op->kind = percent(r, 50) ? PROGRAM_LOAD : PROGRAM_STORE;
    if (s->atomics && percent(r, 35))
        op->kind = PROGRAM_AMO;
    if (s->reserving && percent(r, 60))
        op->kind = past->reserved >= 0 ? PROGRAM_SC : PROGRAM_LR;
    draw_place(p, s, r, op);
    if (op->kind == PROGRAM_SC && percent(r, 85)) {
        const struct program_op *lr = &p->op[past->reserved];
        op->location = lr->location;
        op->offset = lr->offset;
        op->size = lr->size;
    }
    op->function = s->mixed ? 0 : below(r, FUNCTIONS);
    op->aq = s->marks && percent(r, 30);
    op->rl = s->marks && percent(r, 30);
    for (unsigned n = 0, value = 1 + below(r, 3); n < op->size; n++)
        op->constant |= (uint64_t)(s->mixed || n == 0 ? value : 0u) << 8 * n;
    draw_needs(s, r, past, op);
    if (op->kind != PROGRAM_STORE && past->registers < RVWMO_REGISTERS)
        op->result = past->registers++;
    if (op->kind == PROGRAM_LR)
        past->reserved = (int)p->ops - 1;
    else if (op->kind != PROGRAM_LOAD)
        past->reserved = -1; /* no SC behind a store of its own thread */
}

/* Values that are made of values multiply: one of them. */
static void limit_sums(struct program *p)
{
    unsigned sums = 0;
    for (unsigned i = 0; i < p->ops; i++) {
        struct program_op *op = &p->op[i];
        bool adds = op->data >= 0 && !op->masked, changes = op->kind == PROGRAM_AMO && op->function;
        if (!adds && !changes)
            continue;
        op->masked |= sums >= 1;
        op->function = sums >= 1 ? 0 : op->function;
        sums++;
    }
}

static void draw_fence(struct program *p, uint64_t *r, unsigned hart)
{
    p->op[p->ops++] = (struct program_op){ .kind = PROGRAM_FENCE,
                                           .hart = hart,
                                           .result = -1,
                                           .address = -1,
                                           .branch = -1,
                                           .data = -1,
                                           .tso = percent(r, 20),
                                           .before = 1 + below(r, 3),
                                           .after = 1 + below(r, 3) };
}

void program_draw(struct program *p, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0xd1b54a32d192ed03), *r = &state;
    struct shape s = { .mixed = percent(r, 20),
                       .marks = percent(r, 30),
                       .registers = percent(r, 60),
                       .reserving = percent(r, 30),
                       .fences = percent(r, 40),
                       .branches = percent(r, 40),
                       .atomics = percent(r, 40) };
    struct past past[PROGRAM_HARTS] = { { 0, -1 }, { 0, -1 }, { 0, -1 } };
    unsigned accesses = 4 + below(r, 3);
    *p = (struct program){ .harts = 2 + percent(r, 30),
                           .typed = s.mixed || percent(r, 30),
                           .locations = (s.mixed ? 1 : 2) + below(r, 2),
                           .spacing = s.mixed ? 8 : 4 };
    for (unsigned i = 0; i < accesses; i++) {
        unsigned hart = p->harts == 2 ? i % 2u : below(r, p->harts);
        if (s.fences && percent(r, 30) && p->ops < PROGRAM_OPS)
            draw_fence(p, r, hart);
        draw_access(p, &s, r, hart, &past[hart]);
    }
    limit_sums(p);
}

/* ---- as text ------------------------------------------------------------------------------ */

static const char *const names[] = { "a", "b", "c" };

/* Instructions of one operation, into column text with '\n' between. */
static void write_address(const struct program_op *op, FILE *f)
{
    bool atomic = op->kind >= PROGRAM_AMO;
    if (op->address >= 0)
        fprintf(f, "xor x7,x%d,x%d\nadd x5,x%u,x7\n", 10 + op->address, 10 + op->address,
                20 + op->location);
    else if (atomic)
        fprintf(f, "mv x5,x%u\n", 20 + op->location);
    if (atomic && op->offset)
        fprintf(f, "addi x5,x5,%u\n", op->offset);
}

static void write_data(const struct program_op *op, FILE *f)
{
    if (op->data < 0) {
        fprintf(f, "li x6,0x%" PRIx64 "\n", op->constant);
        return;
    }
    fprintf(f, "li x6,%" PRIu64 "\n", op->constant);
    if (op->masked)
        fprintf(f, "andi x7,x%d,0\nadd x6,x6,x7\n", 10 + op->data);
    else
        fprintf(f, "add x6,x6,x%d\n", 10 + op->data);
}

static void write_access(const struct program_op *op, FILE *f)
{
    static const char letters[] = { [1] = 'b', [2] = 'h', [4] = 'w', [8] = 'd' };
    const char *marks = op->aq ? (op->rl ? ".aqrl" : ".aq") : op->rl ? ".rl" : "";
    int result = op->result < 0 ? 0 : 10 + op->result;
    char size = letters[op->size], base[16], place[32];
    bool atomic = op->kind >= PROGRAM_AMO;
    snprintf(base, sizeof base, "x%u", op->address >= 0 || atomic ? 5 : 20 + op->location);
    snprintf(place, sizeof place, "%u(%s)", op->offset, base);
    if (op->kind == PROGRAM_LOAD)
        fprintf(f, "l%c%s%s x%d,%s\n", size, op->size < 8 ? "u" : "", marks, result, place);
    else if (op->kind == PROGRAM_STORE)
        fprintf(f, "s%c%s x6,%s\n", size, marks, place);
    else if (op->kind == PROGRAM_LR)
        fprintf(f, "lr.%c%s x%d,(%s)\n", size, marks, result, base);
    else if (op->kind == PROGRAM_SC)
        fprintf(f, "sc.%c%s x%d,x6,0(%s)\n", size, marks, result, base);
    else
        fprintf(f, "amo%s.%c%s x%d,x6,(%s)\n", functions[op->function], size, marks, result, base);
}

static void write_op(const struct program_op *op, unsigned label, FILE *f)
{
    static const char *const sets[] = { "", "r", "w", "rw" };
    if (op->kind == PROGRAM_FENCE) {
        if (op->tso)
            fputs("fence.tso\n", f);
        else
            fprintf(f, "fence %s,%s\n", sets[op->before], sets[op->after]);
        return;
    }
    if (op->branch >= 0)
        fprintf(f, "bne x%d,x0,L%u\n", 10 + op->branch, label);
    if (op->branch >= 0 && !op->skipped)
        fprintf(f, "L%u:\n", label);
    if (op->kind != PROGRAM_LOAD && op->kind != PROGRAM_LR)
        write_data(op, f);
    write_address(op, f);
    write_access(op, f);
    if (op->branch >= 0 && op->skipped)
        fprintf(f, "L%u:\n", label);
}

static void write_columns(char *const *column, unsigned harts, FILE *out)
{
    char *at[PROGRAM_HARTS];
    bool more = true;
    memcpy(at, column, sizeof at);
    while (more) {
        more = false;
        for (unsigned h = 0; h < harts; h++) {
            size_t length = strcspn(at[h], "\n");
            fprintf(out, " %.*s %s", (int)length, at[h], h + 1 < harts ? "|" : ";\n");
            at[h] += length + (at[h][length] == '\n');
            more |= *at[h] != '\0';
        }
    }
}

void program_write(const struct program *p, FILE *out)
{
    char text[PROGRAM_HARTS][2048] = { "", "", "" }, *column[PROGRAM_HARTS];
    fputs("RISCV random\n{\n", out);
    for (unsigned l = 0; p->typed && l < p->locations; l++)
        fprintf(out, "%s %s;", p->spacing == 8 ? "uint64_t" : "int", names[l]);
    for (unsigned h = 0; h < p->harts; h++) {
        FILE *f = fmemopen(text[h], sizeof text[h], "w");
        for (unsigned i = 0; i < p->ops; i++)
            if (p->op[i].hart == h)
                write_op(&p->op[i], i, f);
        fclose(f);
        column[h] = text[h];
        for (unsigned l = 0; l < p->locations; l++)
            fprintf(out, "%u:x%u=%s;", h, 20 + l, names[l]);
    }
    fputs("\n}\n", out);
    for (unsigned h = 0; h < p->harts; h++)
        fprintf(out, " P%u %s", h, h + 1 < p->harts ? "|" : ";\n");
    write_columns(column, p->harts, out);
    fputs("locations [", out);
    for (unsigned i = 0; i < p->ops; i++)
        if (p->op[i].result >= 0)
            fprintf(out, "%u:x%d;", p->op[i].hart, 10 + p->op[i].result);
    for (unsigned l = 0; l < p->locations; l++)
        fprintf(out, "%s;", names[l]);
    fputs("]\nforall (true)\n", out);
}

/* ---- all that may be left ------------------------------------------------------------------ */

struct search {
    const struct program *p;
    struct program_states *states;
    bool ztso;
    bool done[PROGRAM_OPS + 4], failed[PROGRAM_OPS + 4]; /* this way: it is executed; an SC fails */
    struct rvwmo_execution x;
    int at[PROGRAM_OPS + 4]; /* operation's number in x; -1: not there */
    int of[2 * RVWMO_OPS];   /* the other way round */
    const struct rvwmo_sources *sources;
};

static uint64_t register_value(const struct search *s, unsigned hart, int number);

static uint64_t cut(uint64_t value, unsigned size)
{
    return size == 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1);
}

static uint64_t read_value(const struct search *s, unsigned i);

static uint64_t written_value(const struct search *s, unsigned i)
{
    const struct program_op *op = &s->p->op[i];
    uint64_t value = op->constant;
    if (op->data >= 0 && !op->masked)
        value += register_value(s, op->hart, op->data);
    if (op->kind == PROGRAM_AMO) {
        uint64_t old = read_value(s, i);
        value = op->function == 0 ? value
              : op->function == 1 ? old + value
              : op->function == 2 ? (old | value)
                                  : (old ^ value);
    }
    return cut(value, op->size);
}

static uint64_t byte_of(const struct search *s, int source, unsigned byte)
{
    if (source < 0)
        return 0;
    unsigned i = (unsigned)s->of[source];
    return written_value(s, i) >> 8 * (byte - s->x.op[source].address) & 0xff;
}

static uint64_t read_value(const struct search *s, unsigned i)
{
    uint64_t value = 0;
    unsigned k = (unsigned)s->at[i];
    for (unsigned n = s->p->op[i].size; n-- > 0;)
        value = value << 8 | byte_of(s, s->sources->load[k][n], s->x.op[k].address + n);
    return value;
}

/* Nobody wrote it, where that was gone around. */
static uint64_t register_value(const struct search *s, unsigned hart, int number)
{
    for (unsigned i = 0; i < s->p->ops; i++) {
        const struct program_op *op = &s->p->op[i];
        if (op->hart != hart || op->result != number || !s->done[i])
            continue;
        if (op->kind == PROGRAM_SC)
            return s->failed[i];
        uint64_t value = read_value(s, i);
        bool word = op->kind != PROGRAM_LOAD && op->size == 4;
        return word ? (uint64_t)(int64_t)(int32_t)value : value;
    }
    return 0;
}

static bool went_this_way(const struct search *s)
{
    for (unsigned i = 0; i < s->p->ops; i++) {
        const struct program_op *op = &s->p->op[i];
        if (op->branch >= 0 && op->skipped
            && s->done[i] != (register_value(s, op->hart, op->branch) == 0))
            return false;
    }
    return true;
}

static void note(struct search *s, const char *line)
{
    for (unsigned i = 0; i < s->states->count; i++)
        if (strcmp(s->states->line[i], line) == 0)
            return;
    assert(s->states->count < PROGRAM_STATES);
    strcpy(s->states->line[s->states->count++], line);
}

static void found(void *user, const struct rvwmo_sources *sources)
{
    struct search *s = user;
    char line[PROGRAM_LINE];
    int length = 0;
    s->sources = sources;
    if (!went_this_way(s))
        return;
    for (unsigned h = 0; h < s->p->harts; h++)
        for (int r = 0; r < RVWMO_REGISTERS; r++)
            for (unsigned i = 0; i < s->p->ops; i++)
                if (s->p->op[i].hart == h && s->p->op[i].result == r)
                    length += snprintf(line + length, sizeof line - (size_t)length,
                                       "%u:x%d=%" PRId64 "; ", h, 10 + r,
                                       (int64_t)register_value(s, h, r));
    for (unsigned l = 0; l < s->p->locations; l++) {
        uint64_t value = 0;
        for (unsigned n = s->p->spacing; n-- > 0;) {
            unsigned byte = l * s->p->spacing + n;
            value = value << 8 | byte_of(s, sources->last[byte], byte);
        }
        length += snprintf(line + length, sizeof line - (size_t)length, "%s[%s]=%" PRIu64 ";",
                           l ? " " : "", names[l], value);
    }
    assert(length < PROGRAM_LINE);
    note(s, line);
}

static const enum rvwmo_kind kinds[] = { RVWMO_LOAD, RVWMO_STORE, RVWMO_AMO,
                                         RVWMO_LR,   RVWMO_SC,    RVWMO_FENCE };

static unsigned set_of(int number) { return number < 0 ? 0 : 1u << number; }

/* The operations of this way; a branch around one stands before the next, too. */
static void lay_out(struct search *s)
{
    unsigned branches[PROGRAM_HARTS] = { 0 };
    s->x = (struct rvwmo_execution){ 0 };
    for (unsigned i = 0; i < s->p->ops; i++) {
        const struct program_op *op = &s->p->op[i];
        s->at[i] = -1;
        branches[op->hart] |= set_of(op->branch);
        if (!s->done[i])
            continue;
        s->at[i] = (int)s->x.ops;
        s->of[s->x.ops] = (int)i;
        s->x.op[s->x.ops++] = (struct rvwmo_op){
            .kind = kinds[op->kind],
            .hart = op->hart,
            .address = op->location * s->p->spacing + op->offset,
            .size = op->size,
            .aq = op->aq,
            .rl = op->rl,
            .failed = s->failed[i],
            .before = op->before,
            .after = op->after,
            .tso = op->tso,
            .writes = set_of(op->result),
            .address_of = set_of(op->address),
            .data_of = set_of(op->data),
            .control_of = branches[op->hart],
        };
        branches[op->hart] = 0;
    }
}

/* Without an LR of the same place before it, it fails. */
static bool may_store(const struct program *p, unsigned sc)
{
    for (unsigned i = sc; i-- > 0;) {
        const struct program_op *op = &p->op[i], *to = &p->op[sc];
        if (op->hart != to->hart || (op->kind != PROGRAM_LR && op->kind != PROGRAM_SC))
            continue;
        return op->kind == PROGRAM_LR && op->location == to->location && op->offset == to->offset
            && op->size == to->size;
    }
    return false;
}

static void each_way(struct search *s, unsigned i)
{
    if (i == s->p->ops) {
        lay_out(s);
        rvwmo_each(&s->x, s->ztso, found, s);
        return;
    }
    const struct program_op *op = &s->p->op[i];
    for (int other = 0; other < 2; other++) {
        s->done[i] = s->failed[i] = false;
        if (op->branch >= 0 && op->skipped)
            s->done[i] = other;
        else if (!other || (op->kind == PROGRAM_SC && may_store(s->p, i)))
            s->done[i] = true;
        else
            break;
        s->failed[i] = op->kind == PROGRAM_SC && !other;
        each_way(s, i + 1);
    }
}

void program_states(const struct program *p, bool ztso, struct program_states *states)
{
    struct search s = { .p = p, .states = states, .ztso = ztso };
    states->count = 0;
    each_way(&s, 0);
}
