/* SPDX-License-Identifier: Apache-2.0 */
/* The encoder against the bytes that the GNU assembler makes of the same instructions. */
#include "targets/native/x86.h"

#include <stdio.h>
#include <string.h>

#include "unity.h"

static uint8_t buffer[64];
static struct x86 here, *const x = &here;

void setUp(void)
{
    here = (struct x86){ buffer, 0, sizeof buffer, false };
    memset(buffer, 0xEE, sizeof buffer);
}
void tearDown(void) { }

static struct x86_place at(enum x86_register base, enum x86_register index, int32_t displacement)
{
    return (struct x86_place){ base, index, displacement };
}

static const char *bytes_made(void)
{
    static char text[3 * sizeof buffer + 1];
    for (size_t i = 0; i < x->length; i++)
        sprintf(text + 3 * i, "%02x ", buffer[i]);
    text[x->length ? 3 * x->length - 1 : 0] = '\0';
    return text;
}

#define ENCODES(assembly, bytes, call) \
    (x->length = 0, (call), TEST_ASSERT_EQUAL_STRING_MESSAGE(bytes, bytes_made(), assembly))

static void test_loads(void)
{
    ENCODES("movzx eax, byte ptr [rdi]", "0f b6 07", x86_load(x, 0, RAX, at(RDI, RSP, 0)));
    ENCODES("movsx rax, byte ptr [rdi]", "48 0f be 07",
            x86_load_signed(x, 0, RAX, at(RDI, RSP, 0)));
    ENCODES("movsx r9, word ptr [rdi+64]", "4c 0f bf 4f 40",
            x86_load_signed(x, 1, R9, at(RDI, RSP, 64)));
    ENCODES("movsxd rdx, dword ptr [rdi-128]", "48 63 57 80",
            x86_load_signed(x, 2, RDX, at(RDI, RSP, -128)));
    ENCODES("movzx r9d, word ptr [rdi+64]", "44 0f b7 4f 40", x86_load(x, 1, R9, at(RDI, RSP, 64)));
    ENCODES("mov edx, dword ptr [rdi-128]", "8b 57 80", x86_load(x, 2, RDX, at(RDI, RSP, -128)));
    ENCODES("mov r15, qword ptr [rdi+4096]", "4c 8b bf 00 10 00 00",
            x86_load(x, 3, R15, at(RDI, RSP, 4096)));
    ENCODES("mov rax, qword ptr [rsp]", "48 8b 04 24", x86_load(x, 3, RAX, at(RSP, RSP, 0)));
    ENCODES("mov rax, qword ptr [r12+8]", "49 8b 44 24 08", x86_load(x, 3, RAX, at(R12, RSP, 8)));
    ENCODES("mov rax, qword ptr [rbp+0]", "48 8b 45 00", x86_load(x, 3, RAX, at(RBP, RSP, 0)));
    ENCODES("mov rax, qword ptr [r13+0]", "49 8b 45 00", x86_load(x, 3, RAX, at(R13, RSP, 0)));
    ENCODES("mov r8d, dword ptr [rdi+rcx*1+128]", "44 8b 84 0f 80 00 00 00",
            x86_load(x, 2, R8, at(RDI, RCX, 128)));
    ENCODES("mov r8, qword ptr [r9+r10*1-129]", "4f 8b 84 11 7f ff ff ff",
            x86_load(x, 3, R8, at(R9, R10, -129)));
}

static void test_stores(void)
{
    ENCODES("mov byte ptr [rdi+3], al", "88 47 03", x86_store(x, 0, at(RDI, RSP, 3), RAX));
    ENCODES("mov byte ptr [rdi+3], sil", "40 88 77 03", x86_store(x, 0, at(RDI, RSP, 3), RSI));
    ENCODES("mov byte ptr [rdi+3], r11b", "44 88 5f 03", x86_store(x, 0, at(RDI, RSP, 3), R11));
    ENCODES("mov word ptr [rdi], dx", "66 89 17", x86_store(x, 1, at(RDI, RSP, 0), RDX));
    ENCODES("mov word ptr [rdi], r10w", "66 44 89 17", x86_store(x, 1, at(RDI, RSP, 0), R10));
    ENCODES("mov dword ptr [rsi+1073741824], edx", "89 96 00 00 00 40",
            x86_store(x, 2, at(RSI, RSP, 1 << 30), RDX));
    ENCODES("mov qword ptr [rsi+rcx], r14", "4c 89 34 0e", x86_store(x, 3, at(RSI, RCX, 0), R14));
    ENCODES("mov byte ptr [rdi+1], 255", "c6 47 01 ff",
            x86_store_immediate(x, 0, at(RDI, RSP, 1), 255));
    ENCODES("mov word ptr [rdi+2], 4660", "66 c7 47 02 34 12",
            x86_store_immediate(x, 1, at(RDI, RSP, 2), 0x1234));
    ENCODES("mov dword ptr [rdi+4], 305419896", "c7 47 04 78 56 34 12",
            x86_store_immediate(x, 2, at(RDI, RSP, 4), 0x12345678));
    ENCODES("mov qword ptr [rdi+8], -1", "48 c7 47 08 ff ff ff ff",
            x86_store_immediate(x, 3, at(RDI, RSP, 8), -1));
}

static void test_atomics(void)
{
    ENCODES("xchg byte ptr [rdi+64], r8b", "44 86 47 40", x86_exchange(x, 0, at(RDI, RSP, 64), R8));
    ENCODES("lock cmpxchg byte ptr [rdi+rcx*1+64], r8b", "f0 44 0f b0 44 0f 40",
            x86_compare_exchange(x, 0, at(RDI, RCX, 64), R8));
    ENCODES("xchg word ptr [rdi+64], dx", "66 87 57 40", x86_exchange(x, 1, at(RDI, RSP, 64), RDX));
    ENCODES("lock cmpxchg word ptr [rdi+rcx*1+64], dx", "f0 66 0f b1 54 0f 40",
            x86_compare_exchange(x, 1, at(RDI, RCX, 64), RDX));
    ENCODES("xchg dword ptr [rdi+64], r12d", "44 87 67 40",
            x86_exchange(x, 2, at(RDI, RSP, 64), R12));
    ENCODES("lock cmpxchg dword ptr [rdi+rcx*1+64], r12d", "f0 44 0f b1 64 0f 40",
            x86_compare_exchange(x, 2, at(RDI, RCX, 64), R12));
    ENCODES("xchg qword ptr [rdi+64], rdx", "48 87 57 40",
            x86_exchange(x, 3, at(RDI, RSP, 64), RDX));
    ENCODES("lock cmpxchg qword ptr [rdi+rcx*1+64], rdx", "f0 48 0f b1 54 0f 40",
            x86_compare_exchange(x, 3, at(RDI, RCX, 64), RDX));
}

static void test_amos(void)
{
    ENCODES("lock xadd byte ptr [rdi+64], r8b", "f0 44 0f c0 47 40",
            x86_exchange_add(x, 0, at(RDI, RSP, 64), R8));
    ENCODES("lock xadd word ptr [rdi+rcx*1+64], dx", "f0 66 0f c1 54 0f 40",
            x86_exchange_add(x, 1, at(RDI, RCX, 64), RDX));
    ENCODES("lock xadd dword ptr [rdi+64], r12d", "f0 44 0f c1 67 40",
            x86_exchange_add(x, 2, at(RDI, RSP, 64), R12));
    ENCODES("lock xadd qword ptr [rdi+64], rdx", "f0 48 0f c1 57 40",
            x86_exchange_add(x, 3, at(RDI, RSP, 64), RDX));
    ENCODES("cmp al, byte ptr [rsp+16]", "3a 44 24 10", x86_compare(x, 0, RAX, at(RSP, RSP, 16)));
    ENCODES("cmp ax, word ptr [rsp+16]", "66 3b 44 24 10",
            x86_compare(x, 1, RAX, at(RSP, RSP, 16)));
    ENCODES("cmp eax, dword ptr [rsp+16]", "3b 44 24 10", x86_compare(x, 2, RAX, at(RSP, RSP, 16)));
    ENCODES("cmp rax, qword ptr [rsp+16]", "48 3b 44 24 10",
            x86_compare(x, 3, RAX, at(RSP, RSP, 16)));
    ENCODES("cmovg rdx, qword ptr [rsp+16]", "48 0f 4f 54 24 10",
            x86_load_if(x, X86_GREATER, RDX, at(RSP, RSP, 16)));
    ENCODES("cmova r9, qword ptr [rsp+16]", "4c 0f 47 4c 24 10",
            x86_load_if(x, X86_ABOVE, R9, at(RSP, RSP, 16)));
    ENCODES("cmovl rdx, qword ptr [rsp+16]", "48 0f 4c 54 24 10",
            x86_load_if(x, X86_LESS, RDX, at(RSP, RSP, 16)));
    ENCODES("cmovb rdx, qword ptr [rsp+16]", "48 0f 42 54 24 10",
            x86_load_if(x, X86_BELOW, RDX, at(RSP, RSP, 16)));
}

static void test_registers(void)
{
    ENCODES("mov r12, rax", "49 89 c4", x86_move(x, R12, RAX));
    ENCODES("mov rax, r15", "4c 89 f8", x86_move(x, RAX, R15));
    ENCODES("movzx r8d, al", "44 0f b6 c0", x86_zero_extend(x, 0, R8, RAX));
    ENCODES("movzx rax, sil", "48 0f b6 c6", x86_zero_extend(x, 0, RAX, RSI));
    ENCODES("movzx r8d, ax", "44 0f b7 c0", x86_zero_extend(x, 1, R8, RAX));
    ENCODES("mov ebx, edx", "89 d3", x86_zero_extend(x, 2, RBX, RDX));
    ENCODES("mov r9, rax", "49 89 c1", x86_zero_extend(x, 3, R9, RAX));
    ENCODES("mov r9d, 0", "41 b9 00 00 00 00", x86_immediate(x, R9, 0));
    ENCODES("mov edx, 0xffffffff", "ba ff ff ff ff", x86_immediate(x, RDX, 0xFFFFFFFF));
    ENCODES("movabs r11, 0x1122334455667788", "49 bb 88 77 66 55 44 33 22 11",
            x86_immediate(x, R11, 0x1122334455667788));
    ENCODES("lea rdx, [rbp+7]", "48 8d 55 07", x86_address(x, RDX, at(RBP, RSP, 7)));
    ENCODES("or rcx, r13", "4c 09 e9", x86_arithmetic(x, X86_OR, RCX, R13));
    ENCODES("add rdx, rax", "48 01 c2", x86_arithmetic(x, X86_ADD, RDX, RAX));
    ENCODES("and rcx, 0", "48 83 e1 00", x86_arithmetic_immediate(x, true, X86_AND, RCX, 0));
    ENCODES("and edx, 131008", "81 e2 c0 ff 01 00",
            x86_arithmetic_immediate(x, false, X86_AND, RDX, 131008));
    ENCODES("sub rsp, 272", "48 81 ec 10 01 00 00",
            x86_arithmetic_immediate(x, true, X86_SUB, RSP, 272));
    ENCODES("xor ebx, 0xa3000000", "81 f3 00 00 00 a3",
            x86_arithmetic_immediate(x, false, X86_XOR, RBX, (int32_t)0xA3000000));
    ENCODES("cmp ebp, 5", "83 fd 05", x86_arithmetic_immediate(x, false, X86_CMP, RBP, 5));
    ENCODES("add rax, qword ptr [rcx+8]", "48 03 41 08",
            x86_arithmetic_memory(x, X86_ADD, RAX, at(RCX, RSP, 8)));
    ENCODES("imul rdx, rbp", "48 0f af d5", x86_multiply(x, RDX, RBP));
    ENCODES("imul rdx, rbp, 1000", "48 69 d5 e8 03 00 00",
            x86_multiply_immediate(x, RDX, RBP, 1000));
    ENCODES("shr ebx, 1", "d1 eb", x86_shift_right_once(x, RBX));
    ENCODES("test bl, 4", "f6 c3 04", x86_test_byte(x, RBX, 4));
    ENCODES("dec dword ptr [rsp+8]", "ff 4c 24 08", x86_decrement_memory(x, at(RSP, RSP, 8)));
    ENCODES("cmp dword ptr [rsp+8], 0", "83 7c 24 08 00",
            x86_compare_memory(x, at(RSP, RSP, 8), 0));
    ENCODES("push rbx", "53", x86_push(x, RBX));
    ENCODES("push r12", "41 54", x86_push(x, R12));
    ENCODES("pop r15", "41 5f", x86_pop(x, R15));
    ENCODES("pop rbp", "5d", x86_pop(x, RBP));
}

static void test_vectors(void)
{
    ENCODES("movd xmm4, dword ptr [rdi]", "66 0f 6e 27", x86_vector_load(x, 2, 4, at(RDI, RSP, 0)));
    ENCODES("movq xmm15, qword ptr [rdi+rcx*1+8]", "f3 44 0f 7e 7c 0f 08",
            x86_vector_load(x, 3, 15, at(RDI, RCX, 8)));
    ENCODES("movdqu xmm9, xmmword ptr [rdi+16]", "f3 44 0f 6f 4f 10",
            x86_vector_load(x, 4, 9, at(RDI, RSP, 16)));
    ENCODES("movd dword ptr [rsi], xmm4", "66 0f 7e 26",
            x86_vector_store(x, 2, at(RSI, RSP, 0), 4));
    ENCODES("movq qword ptr [rsi+8], xmm15", "66 44 0f d6 7e 08",
            x86_vector_store(x, 3, at(RSI, RSP, 8), 15));
    ENCODES("movdqu xmmword ptr [rsi+1024], xmm3", "f3 0f 7f 9e 00 04 00 00",
            x86_vector_store(x, 4, at(RSI, RSP, 1024), 3));
    ENCODES("pxor xmm0, xmm0", "66 0f ef c0", x86_vector_zero(x, 0));
    ENCODES("pxor xmm12, xmm12", "66 45 0f ef e4", x86_vector_zero(x, 12));
    ENCODES("movq xmm3, rdx", "66 48 0f 6e da", x86_vector_low(x, 3, RDX));
    ENCODES("pinsrq xmm3, rdx, 1", "66 48 0f 3a 22 da 01", x86_vector_high(x, 3, RDX));
}

static void test_fences_and_caches(void)
{
    ENCODES("ret", "c3", x86_simple(x, X86_RETURN));
    ENCODES("lfence", "0f ae e8", x86_simple(x, X86_LFENCE));
    ENCODES("sfence", "0f ae f8", x86_simple(x, X86_SFENCE));
    ENCODES("mfence", "0f ae f0", x86_simple(x, X86_MFENCE));
    ENCODES("syscall", "0f 05", x86_simple(x, X86_SYSCALL));
    ENCODES("xend", "0f 01 d5", x86_simple(x, X86_XEND));
    ENCODES("prefetcht0 byte ptr [rdi+64]", "0f 18 4f 40",
            x86_cache(x, X86_PREFETCH, at(RDI, RSP, 64)));
    ENCODES("clflush byte ptr [rdi+64]", "0f ae 7f 40",
            x86_cache(x, X86_CLFLUSH, at(RDI, RSP, 64)));
    ENCODES("clflushopt byte ptr [rdi+rcx*1]", "66 0f ae 3c 0f",
            x86_cache(x, X86_CLFLUSHOPT, at(RDI, RCX, 0)));
    ENCODES("xabort 1", "c6 f8 01", x86_xabort(x, 1));
}

static void test_jumps(void)
{
    size_t forward = x86_jump(x, X86_NOT_CARRY);
    size_t always = x86_jump(x, X86_ALWAYS);
    x86_land(x, forward);
    x86_simple(x, X86_RETURN);
    x86_land(x, always);
    x86_jump_back(x, X86_BELOW, 11);
    x86_jump_back(x, X86_ALWAYS, 0);
    TEST_ASSERT_EQUAL_STRING("0f 83 05 00 00 00 e9 01 00 00 00 c3 "
                             "0f 82 f9 ff ff ff e9 e9 ff ff ff", bytes_made());
}

static void test_a_transaction_begins(void)
{
    size_t aborted = x86_xbegin(x);
    x86_simple(x, X86_XEND);
    x86_land(x, aborted);
    TEST_ASSERT_EQUAL_STRING("c7 f8 03 00 00 00 0f 01 d5", bytes_made());
}

/* At every size of the buffer: nothing is written behind it, and that it was too small is told. */
static void test_a_full_buffer(void)
{
    for (size_t room = 0; room <= 20; room++) {
        setUp();
        x->capacity = room;
        x86_immediate(x, R11, 0x1122334455667788);
        size_t jump = x86_jump(x, X86_ALWAYS);
        x86_land(x, jump);
        x86_jump_back(x, X86_ALWAYS, 0);
        TEST_ASSERT_EQUAL(room < 20, x->full);
        TEST_ASSERT_LESS_OR_EQUAL(room, x->length);
        for (size_t i = room; i < sizeof buffer; i++)
            TEST_ASSERT_EQUAL_HEX8(0xEE, buffer[i]);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_loads);
    RUN_TEST(test_stores);
    RUN_TEST(test_atomics);
    RUN_TEST(test_amos);
    RUN_TEST(test_registers);
    RUN_TEST(test_vectors);
    RUN_TEST(test_fences_and_caches);
    RUN_TEST(test_jumps);
    RUN_TEST(test_a_transaction_begins);
    RUN_TEST(test_a_full_buffer);
    return UNITY_END();
}
