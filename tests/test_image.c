/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a program's instructions: what they are, against another disassembler; what is live,
 * private and where cycles are, against executions that would show a lie; and what is refused. */
#include <ctype.h>
#include <elf.h>

#include "one_thread.h"
#include "programs.h"
#include "base/random.h"
#include "rv.h"
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

/* ---- small ELF files -------------------------------------------------------------------------- */

enum { CODE_AT = 0x11000, DATA_AT = 0x20000, MOST_CODE = 4096 };

struct file {
    Elf32_Ehdr header;
    Elf32_Phdr segment[2];
    uint32_t code[MOST_CODE];
};

static void make_file(struct file *f, const uint32_t *code, uint32_t count)
{
    static const unsigned char ident[EI_NIDENT] = { 0x7f,       'E',         'L',       'F',
                                                    ELFCLASS32, ELFDATA2LSB, EV_CURRENT };
    memset(f, 0, sizeof *f);
    memcpy(f->header.e_ident, ident, sizeof ident);
    f->header.e_type = ET_EXEC;
    f->header.e_machine = EM_RISCV;
    f->header.e_version = EV_CURRENT;
    f->header.e_entry = CODE_AT;
    f->header.e_phoff = offsetof(struct file, segment);
    f->header.e_ehsize = sizeof f->header;
    f->header.e_phentsize = sizeof *f->segment;
    f->header.e_phnum = 2;
    f->segment[0] = (Elf32_Phdr){ .p_type = PT_LOAD,
                                  .p_offset = offsetof(struct file, code),
                                  .p_vaddr = CODE_AT,
                                  .p_filesz = count * 4,
                                  .p_memsz = count * 4,
                                  .p_flags = PF_R | PF_X,
                                  .p_align = 4 };
    f->segment[1] = (Elf32_Phdr){ .p_type = PT_LOAD,
                                  .p_offset = offsetof(struct file, code),
                                  .p_vaddr = DATA_AT,
                                  .p_filesz = 0,
                                  .p_memsz = 4096,
                                  .p_flags = PF_R | PF_W,
                                  .p_align = 4 };
    memcpy(f->code, code, count * 4);
}

static struct image *load_file(const struct file *f)
{
    struct image *i;
    struct ordeal_error error;
    TEST_ASSERT_TRUE_MESSAGE(image_load("x", f, sizeof *f, &i, &error), error.reason);
    return i;
}

/* ---- decoding --------------------------------------------------------------------------------- */

static const struct {
    uint32_t match, mask;
} encodings[OPERATIONS] = {
#define OPERATION(name, text, match, mask, format) [OPERATION_##name] = { match, mask },
#include "image_ops.def"
#undef OPERATION
};

static uint32_t some_word(struct random *r, uint32_t k)
{
    uint32_t o = 1 + k % (OPERATIONS - 1), any = (uint32_t)random_next(r);
    if (k % 4 == 3)
        return (any | 3) & ((any & 0x1c) == 0x1c ? ~0x10u : ~0u); /* none of 16, 48 or 64 bits */
    if (o == OPERATION_FENCE)                                     /* elsewhere there are hints */
        return k % 8 == 0 ? 0x8330000f : encodings[o].match | (any & 0x0ff00000);
    return encodings[o].match | (any & ~encodings[o].mask);
}

static void fence_letters(char *to, uint32_t four)
{
    for (int k = 0; k < 4; k++)
        if (four & (8u >> k))
            *to++ = "iorw"[k];
    *to = '\0';
}

/* As objdump writes it with -M no-aliases,numeric. */
static void disassemble(const struct instruction *in, uint32_t word, char *to, size_t size)
{
    const char *name = operation_names[in->operation];
    static const char *const orders[] = { "", ".rl", ".aq", ".aqrl" };
    char before[8], after[8];
    uint8_t o = in->operation;
    if (o == OPERATION_LUI || o == OPERATION_AUIPC)
        snprintf(to, size, "%s x%d,%x", name, in->rd, word >> 12);
    else if (o == OPERATION_JAL)
        snprintf(to, size, "%s x%d,%x", name, in->rd, (uint32_t)in->immediate);
    else if (o == OPERATION_JALR || (o >= OPERATION_LB && o <= OPERATION_LHU))
        snprintf(to, size, "%s x%d,%d(x%d)", name, in->rd, in->immediate, in->rs1);
    else if (o >= OPERATION_SB && o <= OPERATION_SW)
        snprintf(to, size, "%s x%d,%d(x%d)", name, in->rs2, in->immediate, in->rs1);
    else if (o >= OPERATION_BEQ && o <= OPERATION_BGEU)
        snprintf(to, size, "%s x%d,x%d,%x", name, in->rs1, in->rs2, (uint32_t)in->immediate);
    else if (o >= OPERATION_SLLI && o <= OPERATION_SRAI)
        snprintf(to, size, "%s x%d,x%d,%x", name, in->rd, in->rs1, (uint32_t)in->immediate);
    else if (o >= OPERATION_ADDI && o <= OPERATION_ANDI)
        snprintf(to, size, "%s x%d,x%d,%d", name, in->rd, in->rs1, in->immediate);
    else if (o == OPERATION_LR)
        snprintf(to, size, "%s%s x%d,(x%d)", name, orders[in->aq_rl], in->rd, in->rs1);
    else if (o > OPERATION_LR)
        snprintf(to, size, "%s%s x%d,x%d,(x%d)", name, orders[in->aq_rl], in->rd, in->rs2, in->rs1);
    else if (o == OPERATION_FENCE && (in->fence & FENCE_TSO))
        snprintf(to, size, "fence.tso");
    else if (o == OPERATION_FENCE) {
        TEST_ASSERT_EQUAL_HEX(in->fence, (word >> 24 & 3) << 4 | (word >> 20 & 3));
        fence_letters(before, word >> 24 & 15);
        fence_letters(after, word >> 20 & 15);
        snprintf(to, size, "fence %s,%s", *before ? before : "unknown", *after ? after : "unknown");
    } else if (o == OPERATION_ECALL || o == OPERATION_EBREAK)
        snprintf(to, size, "%s", name);
    else
        snprintf(to, size, "%s x%d,x%d,x%d", name, in->rd, in->rs1, in->rs2);
}

/* "   0:	00112623          	sw	x1,12(x2) <...>": what stands behind the word, with a space for a tab,
 * and numbers plain. */
static bool neighbours_text(char *line, char *to, size_t size)
{
    char *at = strchr(line, '\t');
    at = at ? strchr(at + 1, '\t') : NULL;
    if (!at)
        return false;
    at[strcspn(at, "<#\n")] = '\0';
    snprintf(to, size, "%s", at + 1);
    char *number = strstr(to, "0x");
    if (number)
        memmove(number, number + 2, strlen(number + 2) + 1);
    for (char *c = to; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    for (size_t n = strlen(to); n > 0 && isspace((unsigned char)to[n - 1]); n--)
        to[n - 1] = '\0';
    return true;
}

static bool is_ours(const char *text)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, " "), text);
    for (int o = 1; o < OPERATIONS; o++) {
        size_t n = strlen(operation_names[o]);
        if (strncmp(name, operation_names[o], n) == 0
            && (!name[n] || (o >= OPERATION_LR && name[n] == '.')))
            return true;
    }
    return false;
}

static void instructions_are_what_another_disassembler_says(void)
{
    static struct file f;
    static uint32_t words[MOST_CODE];
    struct random r;
    char line[512], theirs[256], ours[256];
    uint32_t compared = 0;
    random_seed(&r, 5, 0);
    for (uint32_t k = 0; k < MOST_CODE; k++)
        words[k] = some_word(&r, k);
    FILE *out = fopen("words", "w");
    fwrite(words, sizeof words, 1, out);
    fclose(out);
    TEST_ASSERT_EQUAL(
        0, system("riscv64-unknown-elf-objdump -D -z -b binary -m riscv:rv32 -M no-aliases,numeric "
                  "--adjust-vma=0x11000 words > text"));
    make_file(&f, words, MOST_CODE);
    struct image *i = load_file(&f);
    FILE *in = fopen("text", "r");
    while (fgets(line, sizeof line, in)) {
        uint32_t pc;
        if (sscanf(line, " %x:", &pc) != 1 || !neighbours_text(line, theirs, sizeof theirs))
            continue;
        const struct instruction *instruction = image_instruction(i, pc);
        TEST_ASSERT_NOT_NULL(instruction);
        bool reserved = instruction->operation == OPERATION_FENCE && theirs[0] == '.';
        if (reserved) { /* fields that the manual wants ignored */
            TEST_ASSERT_TRUE(words[compared] & 0xf00fff80);
        } else if (instruction->operation == OPERATION_NONE) {
            TEST_ASSERT_FALSE_MESSAGE(is_ours(theirs), theirs);
        } else {
            disassemble(instruction, words[compared], ours, sizeof ours);
            TEST_ASSERT_EQUAL_STRING(theirs, ours);
        }
        compared++;
    }
    fclose(in);
    TEST_ASSERT_EQUAL(MOST_CODE, compared);
    image_free(i);
}

/* ---- what is live ------------------------------------------------------------------------------ */

/* One machine as it is, one whose dead registers and places of a frame get other values before each
 * instruction: the world sees no difference. Also, whoever comes to an instruction again has passed a mark for cycles. */
struct twins {
    struct one_thread plain, wild;
    struct random random;
    uint32_t *seen, round; /* by instruction: since which mark */
    uint64_t steps, dead, slots;
};

static void scramble_frame(struct twins *t)
{
    const struct frame_slot *slot;
    uint64_t dead;
    if (!image_dead_slots(t->wild.image, t->wild.pc, t->wild.x[RA], &slot, &dead))
        return;
    for (; dead; dead &= dead - 1) {
        const struct frame_slot *s = &slot[__builtin_ctzll(dead)];
        for (uint32_t k = 0; k < s->size; k++) {
            uint8_t *byte = one_thread_byte(&t->wild, t->wild.x[S0] + (uint32_t)s->offset + k);
            TEST_ASSERT_NOT_NULL(byte);
            *byte = (uint8_t)random_next(&t->random);
        }
        t->slots++;
    }
}

static void scramble(struct twins *t)
{
    const struct instruction *in = image_instruction(t->wild.image, t->wild.pc);
    for (int reg = 1; in && reg < 32; reg++)
        if (!(in->live & 1u << reg)) {
            t->wild.x[reg] = (uint32_t)random_next(&t->random);
            t->dead++;
        }
}

static void look_for_marks(struct twins *t)
{
    const struct instruction *in = image_instruction(t->plain.image, t->plain.pc);
    uint32_t k = in ? (t->plain.pc - CODE_AT) / 4 % (1 << 16) : 0;
    if (!in)
        return;
    TEST_ASSERT_NOT_EQUAL_MESSAGE(t->round, t->seen[k], "a cycle without a mark");
    t->seen[k] = t->round;
    t->round += (in->flags & INSTRUCTION_BACK) != 0;
}

static void run_twins(struct twins *t, const struct image *i, uint64_t most)
{
    one_thread_open(&t->plain, i);
    one_thread_open(&t->wild, i);
    t->seen = calloc(1 << 16, sizeof *t->seen);
    t->round = 1;
    for (t->steps = 0; t->steps < most && t->plain.end == ONE_THREAD_RUNS; t->steps++) {
        scramble(t);
        scramble_frame(t);
        look_for_marks(t);
        one_thread_step(&t->plain);
        one_thread_step(&t->wild);
        TEST_ASSERT_EQUAL(t->plain.end, t->wild.end);
        TEST_ASSERT_EQUAL_HEX(t->plain.pc, t->wild.pc);
        TEST_ASSERT_EQUAL_MEMORY(&t->plain.last, &t->wild.last, sizeof t->plain.last);
    }
    free(t->seen);
}

static void close_twins(struct twins *t)
{
    one_thread_close(&t->plain);
    one_thread_close(&t->wild);
}

enum { FUNCTIONS = 5, BODY = 24, HERE = FUNCTIONS * BODY };

static uint32_t any_register(struct random *r)
{
    return 5 + (uint32_t)random_below(r, 15);
} /* to s3 */

/* A function keeps its return address in a register of its own, s4 on, and calls those behind it; what it
 * branches to is within it. */
static void random_function(struct random *r, uint32_t *code, uint32_t f)
{
    uint32_t begin = f * BODY, keep = 20 + f;
    code[begin] = f ? rv_i(0, RA, 0, keep, 0x13) : DATA_AT | GP << 7 | 0x37;
    for (uint32_t k = 1; k < BODY - 2; k++) {
        uint32_t *to = &code[begin + k], a = any_register(r), b = any_register(r),
                 d = any_register(r);
        int32_t away = (int32_t)(1 + random_below(r, BODY - 2)) - (int32_t)k;
        uint32_t kind = (uint32_t)random_below(r, 10),
                 callee = f + 1 + (uint32_t)random_below(r, FUNCTIONS);
        if (kind < 4)
            *to = rv_r((uint32_t)random_below(r, 2), b, a, (uint32_t)random_below(r, 8), d, 0x33);
        else if (kind < 6)
            *to = rv_i((int32_t)random_below(r, 4096) - 2048, a, 0, d, 0x13);
        else if (kind < 8)
            *to = rv_b(away * 4, b, a, random_below(r, 2) ? 1 : 4, 0x63);
        else if (kind == 8 && callee < FUNCTIONS)
            *to = 0x6f | RA << 7 | (((callee * BODY - begin - k) * 4 >> 1 & 0x3ff) << 21);
        else
            *to = rv_store(2, a, GP, 4 * (int32_t)random_below(r, 4));
    }
    code[begin + BODY - 2] = rv_i(0, keep, 0, RA, 0x13);
    code[begin + BODY - 1] = rv_i(0, RA, 0, 0, 0x67);
}

static void dead_registers_are_dead_in_random_code(void)
{
    static struct file f;
    struct twins t = { 0 };
    uint64_t steps = 0, dead = 0;
    for (uint32_t seed = 1; seed <= 400; seed++) {
        uint32_t code[HERE];
        random_seed(&t.random, seed, 0);
        for (uint32_t k = 0; k < FUNCTIONS; k++)
            random_function(&t.random, code, k);
        make_file(&f, code, HERE);
        struct image *i = load_file(&f);
        run_twins(&t, i, 2000);
        steps += t.steps;
        dead += t.dead;
        t.dead = 0;
        close_twins(&t);
        image_free(i);
    }
    TEST_ASSERT_GREATER_THAN(20000, steps);
    TEST_ASSERT_GREATER_THAN(steps, dead); /* at least one register is dead, most of the time */
}

/* Calls through pointers and tables, recursion, arguments on the stack, 64 bits, floating point, strings,
 * objects whose address goes away and those whose address does not. */
static const char tangle[] =
    "#include <stdarg.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <stdio.h>\n"
    "#include <assert.h>\n"
    "volatile int sink; volatile long long wide = 123456789012ll; volatile float f = 1.5f;\n"
    "static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
    "static int twice(int x) { return 2 * x; }\n"
    "static int square(int x) { return x * x; }\n"
    "static int (*const table[])(int) = { twice, square, fib };\n"
    "static int pick(int k) {\n"
    "    switch (k) {\n"
    "    case 0: return 7; case 1: return sink; case 2: return 9; case 3: return twice(k);\n"
    "    case 4: return 11; case 5: sink = 4; return 12; case 6: return 1; default: return square(k);\n"
    "    }\n"
    "}\n"
    "static int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {\n"
    "    int local = a + b * c - d; int other = local ^ e; sink = f;\n"
    "    return local + other + g * h + i * j;\n"
    "}\n"
    "static int sum(int n, ...) {\n"
    "    va_list l; int s = 0; va_start(l, n);\n"
    "    while (n--) s += va_arg(l, int);\n"
    "    va_end(l); return s;\n"
    "}\n"
    "static void bump(int *p) { *p += 3; }\n"
    "struct pair { int a, b; long long c; };\n"
    "static struct pair make(int a) { struct pair p = { a, a + 1, a + 2 }; return p; }\n"
    "static int frame(int n) {\n"
    "    int array[5], quiet = n, *end = &array[5], loud = n;\n"
    "    for (int k = 0; k < 5; k++) array[k] = k * quiet;\n"
    "    bump(&loud);\n"
    "    for (int *p = array; p != end; p++) quiet += *p;\n"
    "    char room[n + 1]; memset(room, n, sizeof room);\n"
    "    return quiet + loud + room[n];\n"
    "}\n"
    "int main(void) {\n"
    "    int total = 0;\n"
    "    for (int k = 0; k < 9; k++) total += pick(k) + table[k % 3](k);\n"
    "    total += many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) + sum(12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);\n"
    "    struct pair p = make(total); total += p.a + p.b + (int)p.c + frame(6);\n"
    "    wide = wide / 7 * 3 % 1000007; f = f * 2.5f + (float)total; total += (int)wide + (int)f;\n"
    "    char *text = malloc(20); strcpy(text, \"ordeal\"); strcat(text, \" runs\"); total += (int)strlen(text);\n"
    "    printf(\"%d\\n\", total); free(text);\n"
    "    assert(memcmp(\"abc\", \"abd\", 3) < 0);\n"
    "    return total & 0xff;\n"
    "}\n";

static struct image *tangle_image(bool optimise)
{
    return program_image_of("tangle.c", tangle, &(struct compile_request){ .optimise = optimise });
}

/* Both compilations do the same: the interpreter and the compiler are right enough to judge others. */
static void dead_registers_are_dead_in_compiled_code(void)
{
    uint32_t status[2];
    for (int optimise = 0; optimise < 2; optimise++) {
        struct twins t = { 0 };
        struct image *i = tangle_image(optimise);
        random_seed(&t.random, 3, 0);
        run_twins(&t, i, 10000000);
        TEST_ASSERT_EQUAL_MESSAGE(ONE_THREAD_EXIT, t.plain.end, "it must come to its end");
        TEST_ASSERT_GREATER_THAN(t.steps * 5, t.dead); /* of 31 */
        if (!optimise)
            TEST_ASSERT_GREATER_THAN(t.steps, t.slots);
        status[optimise] = t.plain.x[A0];
        close_twins(&t);
        image_free(i);
    }
    TEST_ASSERT_EQUAL(status[0], status[1]);
}

/* ---- what is private --------------------------------------------------------------------------- */

enum { STACK_BYTES = 1 << 16 };
enum touched { UNTOUCHED, PRIVATELY, BY_POINTER };

/* Bytes of the stack that are in use, by who touched them since they are. */
struct watch {
    uint8_t touched[STACK_BYTES];
    uint64_t private_accesses;
};

static void forget_below(struct watch *w, uint32_t sp)
{
    uint32_t depth = ONE_THREAD_STACK - sp;
    if (depth < STACK_BYTES)
        memset(w->touched, UNTOUCHED, STACK_BYTES - depth);
}

/* Through sp and s0 a function also gets at arguments on the stack, which its caller put there. */
static void watch_access(struct watch *w, const struct image *i, const struct one_thread_effect *e)
{
    const struct instruction *in = image_instruction(i, e->pc);
    bool is_private = in->flags & INSTRUCTION_PRIVATE, direct = in->rs1 == SP || in->rs1 == S0;
    uint32_t at = e->address - (ONE_THREAD_STACK - STACK_BYTES);
    if (at >= STACK_BYTES) {
        TEST_ASSERT_FALSE_MESSAGE(is_private, "a private access that is not to the stack");
        return;
    }
    for (uint32_t k = at; k < at + e->size; k++) {
        uint8_t by = is_private ? PRIVATELY : direct ? UNTOUCHED : BY_POINTER;
        TEST_ASSERT_FALSE_MESSAGE(by + w->touched[k] == PRIVATELY + BY_POINTER,
                                  "what is private was touched through a pointer");
        if (by)
            w->touched[k] = by;
    }
    w->private_accesses += is_private;
}

static void nobody_else_touches_what_is_private(void)
{
    for (int optimise = 0; optimise < 2; optimise++) {
        struct image *i = tangle_image(optimise);
        struct one_thread m;
        struct watch *w = calloc(1, sizeof *w);
        one_thread_open(&m, i);
        while (m.end == ONE_THREAD_RUNS) {
            one_thread_step(&m);
            if (m.last.size && image_instruction(i, m.last.pc)->operation != OPERATION_ECALL)
                watch_access(w, i, &m.last);
            forget_below(w, m.x[SP]);
        }
        TEST_ASSERT_EQUAL(ONE_THREAD_EXIT, m.end);
        TEST_ASSERT_GREATER_THAN(100, w->private_accesses);
        one_thread_close(&m);
        image_free(i);
        free(w);
    }
}

/* The accesses of a function to its frame: how many are private, and how many not. */
static void count_accesses(const struct image *i, const char *function, int *privately,
                           int *otherwise)
{
    const struct symbol *s = image_symbol_named(i, function);
    TEST_ASSERT_NOT_NULL(s);
    *privately = *otherwise = 0;
    for (uint32_t pc = s->address; pc < s->address + s->size; pc += 4) {
        const struct instruction *in = image_instruction(i, pc);
        bool access = in->operation >= OPERATION_LB && in->operation <= OPERATION_SW;
        if (access && (in->rs1 == SP || in->rs1 == S0))
            ++*(in->flags & INSTRUCTION_PRIVATE ? privately : otherwise);
    }
}

static void an_address_that_escapes_makes_its_object_shared(void)
{
    int privately, otherwise;
    struct image *i =
        program_image_of("frames.c",
                         "int *where;\n"
                         "int quiet(int a) { int b = a; b++; return a + b; }\n"
                         "int one(int a) { int b = a, c = a; where = &b; b++; c++; return c; }\n"
                         "int past(int a) { int b[2], c = a; where = &b[2]; b[0] = 1; return c; }\n"
                         "int single(int a) { int b = a; where = &b + 1; b = 2; return a; }\n"
                         "int main(void) { return quiet(1) + one(2) + past(3) + single(4); }\n",
                         &(struct compile_request){ 0 });
    count_accesses(i, "quiet", &privately, &otherwise);
    TEST_ASSERT_EQUAL(0, otherwise);
    TEST_ASSERT_GREATER_THAN(7, privately);
    count_accesses(i, "one", &privately, &otherwise);
    TEST_ASSERT_EQUAL(7,
                      otherwise); /* of b, and of c, which may end at the address that was taken */
    TEST_ASSERT_GREATER_THAN(4, privately);
    count_accesses(i, "single", &privately, &otherwise);
    TEST_ASSERT_EQUAL(5, otherwise); /* &b + 1 is of b, and of a, which lies there */
    count_accesses(i, "past", &privately, &otherwise);
    TEST_ASSERT_GREATER_THAN(
        0, otherwise); /* b[0], though the address is that of what lies behind it */
    image_free(i);
}

static void an_optimised_frame_is_private_as_a_whole_or_not(void)
{
    int privately, otherwise;
    struct image *i = program_image_of(
        "frames.c",
        "void use(int *); int get(int); volatile int v;\n"
        "__attribute__((noinline)) void use(int *p) { *p = v; }\n"
        "__attribute__((noinline)) int get(int n) { v = n; return v; }\n"
        "__attribute__((noinline)) int calm(int a) { return get(a) + get(a + 1); }\n"
        "__attribute__((noinline)) int wild(int a) { int b[4]; use(b); return get(a) + b[a]; }\n"
        "int main(void) { return calm(1) + wild(2); }\n",
        &(struct compile_request){ .optimise = true });
    count_accesses(i, "calm", &privately, &otherwise);
    TEST_ASSERT_EQUAL(0, otherwise);
    TEST_ASSERT_GREATER_THAN(2, privately);
    count_accesses(i, "wild", &privately, &otherwise);
    TEST_ASSERT_EQUAL(0, privately);
    image_free(i);
}

/* ---- lines, names, variables -------------------------------------------------------------------- */

static void places_have_names(void)
{
    struct image *i = tangle_image(false);
    const struct symbol *s = image_symbol_named(i, "frame"), *sink = image_symbol_named(i, "sink");
    struct source_place place;
    uint32_t begin, size, line = 0;
    TEST_ASSERT_NOT_NULL(s);
    TEST_ASSERT_EQUAL_PTR(s, image_symbol_at(i, s->address + 8));
    TEST_ASSERT_NULL(image_symbol_named(i, "no such name"));
    TEST_ASSERT_EQUAL_STRING("sink", image_symbol_at(i, sink->address + 3)->name);
    TEST_ASSERT_FALSE(sink->function);
    TEST_ASSERT_TRUE(image_place(i, s->address, &place));
    TEST_ASSERT_EQUAL_STRING("frame", place.function);
    line = place.line;
    TEST_ASSERT_EQUAL_HEX(s->address, image_pc_of(i, "tangle.c", line));
    TEST_ASSERT_EQUAL(0, image_pc_of(i, "angle.c", line));
    uint32_t found = 0;
    for (uint32_t at = 0; at < 200; at++) {
        const char *name = image_local_at(i, s->address + 40, 0x8000, 0x8000 - at, &begin, &size);
        if (name && strcmp(name, "array") == 0) {
            TEST_ASSERT_EQUAL(20, size);
            found++;
        }
    }
    TEST_ASSERT_EQUAL(20, found);
    TEST_ASSERT_NULL(image_local_at(i, s->address, 0x8000, 0x9000, &begin, &size));
    image_free(i);
}

/* Of what an optimiser put into main: its own line, and that of the call. */
static void inlined_code_has_the_line_that_called_it(void)
{
    for (int how = 0; how < 4; how++) {
        struct image *i =
            program_image_of("inlined.c",
                             "volatile int v;\n"
                             "static inline void inner(int x) { v = x; }\n"
                             "static inline void outer(int x)\n{\n    inner(x + 1);\n}\n"
                             "int main(void)\n{\n    outer(1);\n    return 0;\n}\n",
                             &(struct compile_request){ .optimise = how & 1,
                                                        .x86_atomics = how & 2 });
        struct source_place place;
        uint32_t pc = image_pc_of(i, "inlined.c", 2), found = 0;
        TEST_ASSERT_NOT_EQUAL(0, pc);
        for (int k = 0; k < 8 && how & 1; k++, pc += 4) /* one of the first few is inner's */
            found |= image_place_around(i, pc, 0, &place) && place.line == 2
                  && image_place_around(i, pc, 1, &place) && place.line == 5
                  && image_place_around(i, pc, 2, &place) && place.line == 9
                  && !image_place_around(i, pc, 3, &place);
        TEST_ASSERT_EQUAL(how & 1, found);
        image_free(i);
    }
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static const uint32_t one_word[] = { 0x13 };

static void refused(const struct file *f, size_t size, const char *part)
{
    struct image *i;
    struct ordeal_error error = { 0 };
    TEST_ASSERT_FALSE(image_load("x.elf", f, size, &i, &error));
    TEST_ASSERT_NULL(i);
    TEST_ASSERT_EQUAL_STRING("x.elf", error.file);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.reason, part), error.reason);
}

#define REFUSED(change, part) \
    do { \
        make_file(&f, one_word, 1); \
        change; \
        refused(&f, sizeof f, part); \
    } while (0)

static void what_cannot_run_is_refused(void)
{
    static struct file f;
    REFUSED(f.header.e_ident[0] = 'x', "is not an ELF file");
    REFUSED(f.header.e_machine = EM_X86_64, "another machine");
    REFUSED(f.header.e_ident[EI_CLASS] = ELFCLASS64, "RV64");
    REFUSED((f.header.e_ident[EI_DATA] = ELFDATA2MSB, f.header.e_machine = EM_RISCV << 8),
            "big-endian");
    REFUSED(f.header.e_type = ET_REL, "not linked yet");
    REFUSED(f.header.e_type = ET_DYN, "not a static program");
    REFUSED(f.header.e_flags = EF_RISCV_RVC, "compressed");
    REFUSED(f.header.e_flags = EF_RISCV_FLOAT_ABI_DOUBLE, "floating-point registers");
    REFUSED(f.segment[1].p_type = PT_INTERP, "dynamically");
    REFUSED(f.segment[1].p_type = PT_DYNAMIC, "dynamically");
    REFUSED(f.segment[1].p_type = PT_TLS, "thread-local");
    REFUSED(f.segment[0].p_flags |= PF_W, "can be written");
    REFUSED(f.segment[0].p_vaddr = 0, "outside of");
    REFUSED(f.segment[1].p_vaddr = 0x50000000, "outside of");
    REFUSED(f.segment[1].p_vaddr = CODE_AT + 2, "overlap");
    REFUSED(f.segment[1].p_memsz = 0x30000000, "MB");
    REFUSED((f.header.e_shoff = sizeof f - 20, f.header.e_shnum = 1, f.header.e_shentsize = 40),
            "cut off");
    REFUSED(f.segment[0].p_filesz = 1 << 20, "cut off");
    REFUSED(f.segment[0].p_offset = UINT32_MAX, "cut off");
    REFUSED(f.segment[0].p_flags = PF_R, "no instruction of RV32IMA");
    REFUSED(f.header.e_entry = DATA_AT, "no code");
    REFUSED(f.header.e_entry = CODE_AT + 2, "no code");
    REFUSED(f.header.e_phnum = 0, "nothing to load");
    REFUSED(f.code[0] = 0xffffffff, "no instruction of RV32IMA");
}

/* Neither of these ends the program: a file that is cut anywhere, bytes that are anything. */
static void damaged_files_do_no_harm(void)
{
    struct compiled c;
    struct why why;
    struct random r;
    const char *source = "t.c";
    FILE *out = fopen(source, "w");
    fputs("int x; int main(void) { x = 1; return x; }\n", out);
    fclose(out);
    TEST_ASSERT_TRUE(compile_program(&(struct compile_request){ .source = &source, .sources = 1 },
                                     &c, &why));
    random_seed(&r, 9, 0);
    for (int k = 0; k < 300; k++) {
        struct image *i;
        struct ordeal_error error = { 0 };
        uint8_t *bytes = malloc(c.size);
        size_t size = k % 2 ? c.size : (size_t)random_below(&r, c.size);
        memcpy(bytes, c.elf, c.size);
        for (int changes = 0; k % 2 && changes < 1 + k % 8; changes++)
            bytes[random_below(&r, k % 3 ? 200 : c.size)] = (uint8_t)random_next(&r);
        if (image_load("t.elf", bytes, size, &i, &error))
            image_free(i);
        else
            TEST_ASSERT_TRUE(error.reason[0]);
        free(bytes);
    }
    compiled_free(&c);
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(instructions_are_what_another_disassembler_says);
    RUN_TEST(dead_registers_are_dead_in_random_code);
    RUN_TEST(dead_registers_are_dead_in_compiled_code);
    RUN_TEST(nobody_else_touches_what_is_private);
    RUN_TEST(an_address_that_escapes_makes_its_object_shared);
    RUN_TEST(an_optimised_frame_is_private_as_a_whole_or_not);
    RUN_TEST(places_have_names);
    RUN_TEST(inlined_code_has_the_line_that_called_it);
    RUN_TEST(what_cannot_run_is_refused);
    RUN_TEST(damaged_files_do_no_harm);
    return UNITY_END();
}
