/* SPDX-License-Identifier: Apache-2.0 */
#include "one_thread.h"

#include <stdlib.h>
#include <string.h>

enum { STATIC = 1 << 20, HEAP = 1 << 20, STACK = 1 << 20, BASE = 0x10000, HEAP_BASE = 0x40000000 };
enum { SP = 2, A0 = 10, A7 = 17, CALL_EXIT = 1, CALL_ALLOCATE = 15 };

void one_thread_open(struct one_thread *m, const struct image *image)
{
    const struct segment *s;
    size_t segments = image_segments(image, &s);
    *m = (struct one_thread){ .image = image, .pc = image_entry(image) };
    m->memory = calloc(STATIC + HEAP + STACK, 1);
    m->x[SP] = ONE_THREAD_STACK;
    m->heap = HEAP_BASE;
    for (size_t k = 0; k < segments; k++)
        if (s[k].address >= BASE && s[k].address - BASE + s[k].size <= STATIC)
            memcpy(m->memory + (s[k].address - BASE), s[k].bytes, s[k].size);
}

void one_thread_close(struct one_thread *m) { free(m->memory); }

static uint8_t *place(struct one_thread *m, uint32_t address, uint32_t size)
{
    if (address - BASE <= STATIC - size)
        return m->memory + (address - BASE);
    if (address - HEAP_BASE <= HEAP - size)
        return m->memory + STATIC + (address - HEAP_BASE);
    if (address - (ONE_THREAD_STACK - STACK) <= STACK - size)
        return m->memory + STATIC + HEAP + (address - (ONE_THREAD_STACK - STACK));
    return NULL;
}

uint8_t *one_thread_byte(struct one_thread *m, uint32_t address) { return place(m, address, 1); }

static uint32_t access_memory(struct one_thread *m, uint32_t address, uint32_t size, bool writes,
                              uint32_t value)
{
    uint8_t *at = place(m, address, size);
    m->last = (struct one_thread_effect){ m->pc, address, value, size, writes };
    if (!at || address % size != 0) {
        m->end = ONE_THREAD_ERROR;
        return 0;
    }
    if (writes)
        memcpy(at, &value, size);
    else
        memcpy(&value, at, size);
    return value;
}

static uint32_t sign(uint32_t value, int bits)
{
    return (uint32_t)((int32_t)(value << (32 - bits)) >> (32 - bits));
}

static uint32_t load(struct one_thread *m, const struct instruction *in)
{
    uint32_t value = access_memory(m, m->x[in->rs1] + (uint32_t)in->immediate, in->size, false, 0);
    if (in->operation == OPERATION_LB)
        return sign(value, 8);
    return in->operation == OPERATION_LH ? sign(value, 16) : value;
}

static uint32_t divide(enum operation o, uint32_t a, uint32_t b)
{
    int64_t x = (int32_t)a, y = (int32_t)b;
    switch (o) {
    case OPERATION_DIV: return b ? (uint32_t)(x / y) : UINT32_MAX;
    case OPERATION_DIVU: return b ? a / b : UINT32_MAX;
    case OPERATION_REM: return b ? (uint32_t)(x % y) : a;
    default: return b ? a % b : a;
    }
}

static uint32_t multiply_high(enum operation o, uint32_t a, uint32_t b)
{
    int64_t x = o == OPERATION_MULHU ? (int64_t)a : (int32_t)a;
    int64_t y = o == OPERATION_MULH ? (int32_t)b : (int64_t)b;
    return o == OPERATION_MULHU ? (uint32_t)((uint64_t)a * b >> 32) : (uint32_t)((x * y) >> 32);
}

static uint32_t compute(enum operation o, uint32_t a, uint32_t b)
{
    switch (o) {
    case OPERATION_ADDI:
    case OPERATION_ADD: return a + b;
    case OPERATION_SUB: return a - b;
    case OPERATION_SLTI:
    case OPERATION_SLT: return (int32_t)a < (int32_t)b;
    case OPERATION_SLTIU:
    case OPERATION_SLTU: return a < b;
    case OPERATION_XORI:
    case OPERATION_XOR: return a ^ b;
    case OPERATION_ORI:
    case OPERATION_OR: return a | b;
    case OPERATION_ANDI:
    case OPERATION_AND: return a & b;
    case OPERATION_SLLI:
    case OPERATION_SLL: return a << (b & 31);
    case OPERATION_SRLI:
    case OPERATION_SRL: return a >> (b & 31);
    case OPERATION_SRAI:
    case OPERATION_SRA: return (uint32_t)((int32_t)a >> (b & 31));
    case OPERATION_MUL: return a * b;
    case OPERATION_MULH:
    case OPERATION_MULHSU:
    case OPERATION_MULHU: return multiply_high(o, a, b);
    default: return divide(o, a, b);
    }
}

static bool taken(enum operation o, uint32_t a, uint32_t b)
{
    switch (o) {
    case OPERATION_BEQ: return a == b;
    case OPERATION_BNE: return a != b;
    case OPERATION_BLT: return (int32_t)a < (int32_t)b;
    case OPERATION_BGE: return (int32_t)a >= (int32_t)b;
    case OPERATION_BLTU: return a < b;
    default: return a >= b;
    }
}

static void call(struct one_thread *m)
{
    m->last = (struct one_thread_effect){ m->pc, m->x[A7], m->x[A0], 1, true };
    if (m->x[A7] == CALL_EXIT)
        m->end = ONE_THREAD_EXIT;
    if (m->x[A7] == CALL_ALLOCATE) {
        uint32_t bytes = (m->x[A0] + 15) & ~15u;
        m->x[A0] = m->heap;
        m->heap += bytes;
    } else if (m->x[A7] != CALL_EXIT) {
        m->x[A0] = 0;
    }
}

static uint32_t atomic(struct one_thread *m, const struct instruction *in)
{
    uint32_t address = m->x[in->rs1], value = m->x[in->rs2];
    uint32_t old = access_memory(m, address, 4, false, 0);
    if (in->operation == OPERATION_LR || m->end != ONE_THREAD_RUNS)
        return old;
    access_memory(m, address, 4, true, in->operation == OPERATION_AMOADD ? old + value : value);
    return in->operation == OPERATION_SC ? 0 : old;
}

static uint32_t jump(struct one_thread *m, const struct instruction *in)
{
    uint32_t to = (m->x[in->rs1] + (uint32_t)in->immediate) & ~1u;
    if (!image_may_jump(m->image, m->pc, to))
        m->end = ONE_THREAD_ASTRAY;
    return to;
}

void one_thread_step(struct one_thread *m)
{
    const struct instruction *in = image_instruction(m->image, m->pc);
    uint32_t next = m->pc + 4, result = 0;
    m->last.size = 0;
    if (!in || in->operation == OPERATION_NONE || in->operation == OPERATION_EBREAK) {
        m->end = ONE_THREAD_ERROR;
        return;
    }
    uint32_t a = m->x[in->rs1], b = m->x[in->rs2], constant = (uint32_t)in->immediate;
    enum operation o = in->operation;
    bool immediate = o >= OPERATION_ADDI && o <= OPERATION_SRAI;
    if (o == OPERATION_LUI || o == OPERATION_AUIPC)
        result = constant;
    else if (o == OPERATION_JAL || o == OPERATION_JALR)
        result = next, next = o == OPERATION_JAL ? constant : jump(m, in);
    else if (o >= OPERATION_BEQ && o <= OPERATION_BGEU)
        next = taken(o, a, b) ? constant : next;
    else if (o >= OPERATION_LB && o <= OPERATION_LHU)
        result = load(m, in);
    else if (o >= OPERATION_SB && o <= OPERATION_SW)
        access_memory(m, a + constant, in->size, true,
                      b & (uint32_t)(((uint64_t)1 << in->size * 8) - 1));
    else if (o >= OPERATION_LR)
        result = atomic(m, in);
    else if (o == OPERATION_ECALL)
        call(m);
    else if (o != OPERATION_FENCE)
        result = compute(o, a, immediate ? constant : b);
    if (in->rd)
        m->x[in->rd] = result;
    m->pc = next;
}
