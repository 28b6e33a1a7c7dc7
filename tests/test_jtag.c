/* SPDX-License-Identifier: Apache-2.0 */
/* JTAG and the debug module by their pins, on the simulated board: the TAP, the transport, harts
 * that halt, step and go on wherever they are, registers, memory, the system bus, resets. */
#include "jtag_rig.h"
#include "rv.h"
#include "unity.h"

#define NUMBER(name, bits, value) name = value,
enum {
#include "board/board.def"
};
#undef NUMBER

enum { MEMORY = (int)0x80000000, UNCACHED = 0x40000000 };
enum {
    COMMAND_REGISTER = 2 << 20 | 1 << 17, COMMAND_MEMORY = 2 << 24,
    WORDS = COMMAND_MEMORY | 2 << 20 | 1 << 19 /* the address counts up */
};

static struct jtag_rig r;
static uint32_t code[256], words;

void setUp(void)
{
    jtag_rig_open(&r);
    words = 0;
}
void tearDown(void) { jtag_rig_close(&r); }

static void emit(uint32_t word) { code[words++] = word; }

/* The code to all harts of the machine, which then runs. */
static void start(void)
{
    for (uint32_t h = 0; h < RIG_HARTS; h++)
        machine_code(&r, h, code, words);
    machine_run(&r, true);
}

static uint32_t load_word(uint32_t address)
{
    uint32_t value;
    TEST_ASSERT_EQUAL_UINT32(0, hart_load(&r, address, 2, &value));
    return value;
}

/* ---- the TAP and the transport ------------------------------------------------------------- */

static void test_tap_begins_with_idcode(void)
{
    for (int i = 0; i < 5; i++)
        jtag_tck(&r, true, false);
    jtag_tck(&r, false, false);
    TEST_ASSERT_EQUAL_HEX64(0x10000001, jtag_dr(&r, 32, 0));
    jtag_ir(&r, JTAG_BYPASS);
    r.pins.trst = true;
    jtag_tck(&r, true, false);
    r.pins.trst = false;
    jtag_tck(&r, false, false);
    TEST_ASSERT_EQUAL_HEX64(0x10000001, jtag_dr(&r, 32, 0));
}

static void test_registers_have_their_lengths(void)
{
    TEST_ASSERT_EQUAL_HEX64(1, jtag_ir(&r, JTAG_BYPASS)); /* what an IR must capture */
    TEST_ASSERT_EQUAL_HEX64(0x1234ull << 1, jtag_dr(&r, 20, 0x1234));
    jtag_ir(&r, 0x0a); /* unknown: bypass */
    TEST_ASSERT_EQUAL_HEX64(0x1234ull << 1, jtag_dr(&r, 20, 0x1234));
    jtag_ir(&r, JTAG_IDCODE);
    TEST_ASSERT_EQUAL_HEX64(0xabcull << 32 | 0x10000001, jtag_dr(&r, 44, 0xabc));
    jtag_ir(&r, JTAG_DTMCS);
    TEST_ASSERT_EQUAL_HEX64(0x071ull, jtag_dr(&r, 32, 0)); /* version 0.13, 7 bits of address */
    TEST_ASSERT_EQUAL_HEX64(0x071ull, jtag_dr(&r, 32, 1 << 16 | 1 << 17));
    TEST_ASSERT_EQUAL_HEX64(5ull << 32 | 0x071, jtag_dr(&r, 40, 5));
}

/* Shifting may pause, and what is shifted does not count before Update-DR. */
static void test_shifting_can_pause(void)
{
    jtag_ir(&r, JTAG_IDCODE);
    jtag_tck(&r, true, false);
    jtag_tck(&r, false, false);
    jtag_tck(&r, false, false);
    uint64_t id = 0;
    for (int i = 0; i < 16; i++)
        id |= (uint64_t)jtag_tck(&r, i == 15, 0) << i;
    for (int i = 0; i < 7; i++)
        jtag_tck(&r, false, true); /* Pause-DR */
    jtag_tck(&r, true, true);
    jtag_tck(&r, false, true);
    for (int i = 16; i < 32; i++)
        id |= (uint64_t)jtag_tck(&r, i == 31, 0) << i;
    jtag_tck(&r, true, false);
    jtag_tck(&r, false, false);
    TEST_ASSERT_EQUAL_HEX64(0x10000001, id);
}

static void test_nop_and_reserved_operations_do_nothing(void)
{
    dmi_write(&r, DM_DATA0, 0x13572468);
    jtag_dr(&r, 41, (uint64_t)DM_DATA0 << 34 | 0x1111ull << 2 | 0);
    jtag_dr(&r, 41, (uint64_t)DM_DATA0 << 34 | 0x2222ull << 2 | 3);
    TEST_ASSERT_EQUAL_HEX32(0x13572468, dmi_read(&r, DM_DATA0));
    TEST_ASSERT_EQUAL_HEX32(0, dmi_read(&r, 0x7f)); /* there is no such register */
}

/* ---- the debug module ---------------------------------------------------------------------- */

static void test_harts_that_are_there(void)
{
    dmi_write(&r, DM_CONTROL, 0x03ffffc0 | DM_ACTIVE);
    TEST_ASSERT_EQUAL_HEX32(0x00030001, dmi_read(&r, DM_CONTROL)); /* 2 bits of hartsel */
    for (uint32_t h = 0; h < 4; h++) {
        dm_control(&r, h, DM_ACKHAVERESET);
        uint32_t status = dmi_read(&r, DM_STATUS);
        TEST_ASSERT_EQUAL_HEX32(0x82, status & 0xff); /* authenticated, 0.13 */
        TEST_ASSERT_EQUAL_HEX32(h <= RIG_MONITOR ? DM_RUNNING : DM_NONEXISTENT,
                                status & (DM_RUNNING | DM_HALTED | DM_NONEXISTENT));
        TEST_ASSERT_EQUAL_HEX32(h << 16 | DM_ACTIVE, dmi_read(&r, DM_CONTROL));
    }
    TEST_ASSERT_EQUAL_HEX32(0, dmi_read(&r, DM_HARTINFO));
    TEST_ASSERT_EQUAL_HEX32(2, dmi_read(&r, DM_ABSTRACTCS)); /* two data registers, no program */
    TEST_ASSERT_EQUAL_HEX32(0x20040407, dmi_read(&r, DM_SBCS));
}

static void test_inactive_it_forgets(void)
{
    dm_control(&r, 1, (uint32_t)DM_HALTREQ | DM_NDMRESET);
    dmi_write(&r, DM_SBCS, 0);
    dmi_write(&r, DM_CONTROL, 0);
    TEST_ASSERT_EQUAL_HEX32(0, dmi_read(&r, DM_CONTROL));
    dm_control(&r, 0, 0);
    TEST_ASSERT_EQUAL_HEX32(DM_ACTIVE, dmi_read(&r, DM_CONTROL));
    TEST_ASSERT_EQUAL_HEX32(0x20040407, dmi_read(&r, DM_SBCS));
    jtag_cycles(&r, 100);
}

/* Requests are kept for each hart, and haltsum shows who followed. */
static void test_each_hart_halts_for_itself(void)
{
    emit(rv_beq(ZERO, ZERO, 0));
    start();
    dm_halt(&r, 1);
    TEST_ASSERT_EQUAL_HEX32(2, dmi_read(&r, DM_HALTSUM));
    dm_halt(&r, RIG_MONITOR);
    TEST_ASSERT_EQUAL_HEX32(6, dmi_read(&r, DM_HALTSUM));
    dm_resume(&r, 1);
    TEST_ASSERT_EQUAL_HEX32(4, dmi_read(&r, DM_HALTSUM));
    dm_control(&r, 0, (uint32_t)DM_HALTREQ);
    dm_control(&r, 1, (uint32_t)DM_HALTREQ);
    TEST_ASSERT_EQUAL_HEX32(7, dmi_read(&r, DM_HALTSUM));
    dm_control(&r, 0, (uint32_t)DM_HALTREQ | DM_RESUMEREQ); /* halt wins */
    TEST_ASSERT_EQUAL_HEX32(7, dmi_read(&r, DM_HALTSUM));
}

static void test_commands_that_cannot_be(void)
{
    dm_halt(&r, RIG_MONITOR);
    dmi_write(&r, DM_DATA0, 0x77);
    /* 64 bits, f0, a register of somebody else, a program, quick access, 64 bits of memory */
    TEST_ASSERT_EQUAL_UINT32(CMDERR_SUPPORT, dm_command(&r, 3 << 20 | 1 << 17 | 0x1008));
    TEST_ASSERT_EQUAL_UINT32(CMDERR_SUPPORT, dm_command(&r, COMMAND_REGISTER | 0x1020));
    TEST_ASSERT_EQUAL_UINT32(CMDERR_SUPPORT, dm_command(&r, COMMAND_REGISTER | 0xc000));
    TEST_ASSERT_EQUAL_UINT32(CMDERR_SUPPORT, dm_command(&r, COMMAND_REGISTER | 1 << 18 | 0x1008));
    TEST_ASSERT_EQUAL_UINT32(CMDERR_SUPPORT, dm_command(&r, 1 << 24));
    TEST_ASSERT_EQUAL_UINT32(CMDERR_SUPPORT, dm_command(&r, COMMAND_MEMORY | 3 << 20));
    /* A CSR that is not there is an exception: not supported would mean that none is. */
    TEST_ASSERT_EQUAL_UINT32(CMDERR_EXCEPTION, dm_command(&r, COMMAND_REGISTER | 0x7a4));
    TEST_ASSERT_EQUAL_UINT32(CMDERR_EXCEPTION, dm_command(&r, COMMAND_REGISTER | 1 << 16 | 0x7b2));
    TEST_ASSERT_EQUAL_UINT32(CMDERR_EXCEPTION, dm_command(&r, COMMAND_REGISTER | 1 << 16 | 0xf14));
    TEST_ASSERT_EQUAL_UINT32(0, dm_command(&r, 2 << 20)); /* no transfer: nothing */
    TEST_ASSERT_EQUAL_HEX32(0x77, dmi_read(&r, DM_DATA0));
    /* An error stays, and stops what follows, until it is cleared. */
    dmi_write(&r, DM_COMMAND, 3 << 20 | 1 << 17 | 0x1008);
    dmi_write(&r, DM_COMMAND, COMMAND_REGISTER | 0x1000);
    TEST_ASSERT_EQUAL_HEX32(CMDERR_SUPPORT << 8 | 2, dmi_read(&r, DM_ABSTRACTCS));
    TEST_ASSERT_EQUAL_HEX32(0x77, dmi_read(&r, DM_DATA0));
    dmi_write(&r, DM_ABSTRACTCS, 7 << 8);
    TEST_ASSERT_EQUAL_UINT32(0, hart_gpr(&r, 0));
    dm_resume(&r, RIG_MONITOR);
    TEST_ASSERT_EQUAL_UINT32(CMDERR_STATE, dm_command(&r, COMMAND_REGISTER | 0x1008));
}

static void test_all_registers(void)
{
    for (uint32_t h = 0; h <= RIG_MONITOR; h++) {
        dm_halt(&r, h);
        for (uint32_t x = 0; x < 32; x++)
            hart_set_gpr(&r, x, 0xfffff800u * x + h);
        for (uint32_t x = 1; x < 32; x++)
            TEST_ASSERT_EQUAL_HEX32(0xfffff800u * x + h, hart_gpr(&r, x));
        TEST_ASSERT_EQUAL_HEX32(0, hart_gpr(&r, 0));
        hart_set_csr(&r, RV_MSCRATCH, 0x89abcdef);
        hart_set_csr(&r, RV_MTVEC, 0x1234567b);
        TEST_ASSERT_EQUAL_HEX32(0x89abcdef, hart_csr(&r, RV_MSCRATCH));
        TEST_ASSERT_EQUAL_HEX32(0x12345678, hart_csr(&r, RV_MTVEC));
        TEST_ASSERT_EQUAL_HEX32(h, hart_csr(&r, 0xf14));
        TEST_ASSERT_EQUAL_HEX32(h < RIG_MONITOR ? 0x40001101 : 0x40000100,
                                hart_csr(&r, CSR_MISA));
        hart_set_csr(&r, CSR_DPC, 0x12e);
        TEST_ASSERT_EQUAL_HEX32(0x12c, hart_csr(&r, CSR_DPC));
        for (uint32_t x = 1; x < 32; x++) /* s0 was made use of */
            TEST_ASSERT_EQUAL_HEX32(0xfffff800u * x + h, hart_gpr(&r, x));
    }
}

/* ---- memory -------------------------------------------------------------------------------- */

static void check_memory(uint32_t base)
{
    uint32_t value;
    hart_set_gpr(&r, S0, 0x5050);
    hart_set_gpr(&r, S1, 0x5151);
    TEST_ASSERT_EQUAL_UINT32(0, hart_store(&r, base, 2, 0x11223344));
    TEST_ASSERT_EQUAL_UINT32(0, hart_store(&r, base + 4, 2, 0x55667788));
    for (uint32_t i = 0; i < 4; i++) {
        TEST_ASSERT_EQUAL_UINT32(0, hart_load(&r, base + i, 0, &value));
        TEST_ASSERT_EQUAL_HEX32(0x11223344 >> 8 * i & 0xff, value & 0xff);
        TEST_ASSERT_EQUAL_UINT32(0, hart_store(&r, base + i, 0, 0xffffff00 + 0x80 + i));
    }
    TEST_ASSERT_EQUAL_HEX32(0x83828180, load_word(base));
    TEST_ASSERT_EQUAL_UINT32(0, hart_store(&r, base + 6, 1, 0xabcd1234));
    TEST_ASSERT_EQUAL_UINT32(0, hart_store(&r, base + 4, 1, 0xabcdfedc));
    TEST_ASSERT_EQUAL_HEX32(0x1234fedc, load_word(base + 4));
    TEST_ASSERT_EQUAL_UINT32(0, hart_load(&r, base + 6, 1, &value));
    TEST_ASSERT_EQUAL_HEX32(0x1234, value & 0xffff);
    TEST_ASSERT_EQUAL_UINT32(CMDERR_EXCEPTION, hart_load(&r, base + 2, 2, &value));
    TEST_ASSERT_EQUAL_UINT32(CMDERR_EXCEPTION, hart_store(&r, base + 1, 1, 0));
    /* A row of them: data1 counts up, but not for a failure. */
    dmi_write(&r, DM_DATA1, base + 8);
    for (uint32_t i = 0; i < 3; i++) {
        dmi_write(&r, DM_DATA0, 0x1000 + i);
        TEST_ASSERT_EQUAL_UINT32(0, dm_command(&r, WORDS | 1 << 16));
        TEST_ASSERT_EQUAL_HEX32(0x1000 + i, dmi_read(&r, DM_DATA0));
    }
    TEST_ASSERT_EQUAL_HEX32(base + 20, dmi_read(&r, DM_DATA1));
    TEST_ASSERT_EQUAL_HEX32(0x1002, load_word(base + 16));
    dmi_write(&r, DM_DATA1, base + 2);
    TEST_ASSERT_EQUAL_UINT32(CMDERR_EXCEPTION, dm_command(&r, WORDS));
    TEST_ASSERT_EQUAL_HEX32(base + 2, dmi_read(&r, DM_DATA1));
    TEST_ASSERT_EQUAL_HEX32(0x5050, hart_gpr(&r, S0));
    TEST_ASSERT_EQUAL_HEX32(0x5151, hart_gpr(&r, S1));
}

static void test_memory_of_a_hart(void)
{
    uint32_t value;
    emit(rv_beq(ZERO, ZERO, 0));
    start();
    for (uint32_t h = 0; h < RIG_HARTS; h++) {
        dm_halt(&r, h);
        check_memory((uint32_t)MEMORY + 0x100);
        check_memory(UNCACHED + 0x200);
        hart_set_csr(&r, CSR_DPC, 0x40);
        check_memory(0x80 + 0x40 * h); /* its code */
        TEST_ASSERT_EQUAL_HEX32(0x40, hart_csr(&r, CSR_DPC));
        TEST_ASSERT_EQUAL_UINT32(CMDERR_EXCEPTION, hart_load(&r, 0x70000000, 2, &value));
        TEST_ASSERT_EQUAL_UINT32(CMDERR_EXCEPTION, hart_store(&r, 0x70000000, 2, 1));
    }
    dm_halt(&r, RIG_MONITOR);
    check_memory(0x1000);
    TEST_ASSERT_EQUAL_HEX32(0x1002, bus_read(&r, 0x1010));
    TEST_ASSERT_EQUAL_HEX32(DEV_MAGIC, load_word(BOARD_DEVICES + DEV_ID));
}

/* What one hart writes into its cache the other's debugger reads, and neither is in the capture. */
static void test_memory_is_coherent(void)
{
    emit(rv_beq(ZERO, ZERO, 0));
    start();
    dm_halt(&r, 0);
    dm_halt(&r, 1);
    for (uint32_t i = 0; i < 8; i++) {
        dm_control(&r, i & 1, 0);
        TEST_ASSERT_EQUAL_UINT32(0, hart_store(&r, (uint32_t)MEMORY, 2, 0x100 + i));
        dm_control(&r, ~i & 1, 0);
        TEST_ASSERT_EQUAL_HEX32(0x100 + i, load_word((uint32_t)MEMORY));
    }
    TEST_ASSERT_EQUAL_UINT32(0, bus_read(&r, BOARD_DEVICES + DEV_CAPTURE_COUNT));
}

static uint32_t bus_errors(uint32_t error)
{
    uint32_t sbcs = dmi_read(&r, DM_SBCS);
    dmi_write(&r, DM_SBCS, 7 << 12);
    TEST_ASSERT_EQUAL_UINT32(0, dmi_read(&r, DM_SBCS) >> 12 & 7);
    return (sbcs >> 12 & 7) == error;
}

static void test_system_bus(void)
{
    dmi_write(&r, DM_SBCS, 2 << 17 | 1 << 16); /* 32 bits, counting up */
    dmi_write(&r, DM_SBADDRESS, 0x2000);
    for (uint32_t i = 0; i < 16; i++)
        dmi_write(&r, DM_SBDATA, 0x01010101 * i);
    TEST_ASSERT_EQUAL_HEX32(0x2040, dmi_read(&r, DM_SBADDRESS));
    dmi_write(&r, DM_SBCS, 2 << 17 | 1 << 16 | 1 << 20 | 1 << 15); /* reads likewise */
    dmi_write(&r, DM_SBADDRESS, 0x2000);
    for (uint32_t i = 0; i < 16; i++)
        TEST_ASSERT_EQUAL_HEX32(0x01010101 * i, dmi_read(&r, DM_SBDATA));
    TEST_ASSERT_EQUAL_HEX32(0x2044, dmi_read(&r, DM_SBADDRESS));

    for (uint32_t size = 0; size < 2; size++) {
        dmi_write(&r, DM_SBCS, size << 17 | 1 << 16);
        dmi_write(&r, DM_SBADDRESS, 0x2100);
        for (uint32_t i = 0; i < 4; i++)
            dmi_write(&r, DM_SBDATA, 0xff00 + 0x10 * i);
        TEST_ASSERT_EQUAL_HEX32(size ? 0xff10ff00 : 0x30201000, bus_read(&r, 0x2100));
        dmi_write(&r, DM_SBCS, size << 17 | 1 << 20);
        dmi_write(&r, DM_SBADDRESS, 0x2102);
        TEST_ASSERT_EQUAL_HEX32(size ? 0xff10 : 0x20,
                                dmi_read(&r, DM_SBDATA) & (size ? 0xffff : 0xff));
    }

    dmi_write(&r, DM_SBCS, 2 << 17 | 1 << 20);
    dmi_write(&r, DM_SBADDRESS, 0x2002);
    TEST_ASSERT_TRUE(bus_errors(3)); /* alignment */
    dmi_write(&r, DM_SBCS, 3 << 17 | 1 << 20);
    dmi_write(&r, DM_SBADDRESS, 0x2000);
    TEST_ASSERT_TRUE(bus_errors(4)); /* size */
    dmi_write(&r, DM_SBCS, 2 << 17 | 1 << 20 | 1 << 16);
    dmi_write(&r, DM_SBADDRESS, 0x70000000);
    /* It stays at the error, which stops all that follows. */
    TEST_ASSERT_EQUAL_HEX32(0x70000000, dmi_read(&r, DM_SBADDRESS));
    dmi_write(&r, DM_SBADDRESS, 0x2004);
    dmi_write(&r, DM_SBDATA, 0x66);
    TEST_ASSERT_TRUE(bus_errors(2));
    TEST_ASSERT_EQUAL_HEX32(0x01010101, bus_read(&r, 0x2004));
    TEST_ASSERT_EQUAL_HEX32(DEV_MAGIC, bus_read(&r, BOARD_DEVICES + DEV_ID));
}

/* ---- running ------------------------------------------------------------------------------- */

static void test_stepping(void)
{
    emit(rv_lui(A1, (uint32_t)MEMORY));
    emit(rv_addi(A0, ZERO, 5));
    emit(rv_sw(A0, A1, 0));
    emit(rv_lw(A2, A1, 0));
    emit(rv_beq(A0, A2, 8));
    emit(rv_addi(A0, ZERO, 6));      /* passed over */
    emit(rv_mul(A3, A0, A2));
    emit(0x10500073);                /* wfi: does not wait in a step */
    emit(rv_csrrwi(ZERO, RV_MTVEC, 0x10));
    emit(rv_ecall());
    static const uint32_t way[] = { 4, 8, 12, 16, 24, 28, 32, 36, 0x10 };
    for (uint32_t h = 0; h < RIG_HARTS; h++)
        machine_code(&r, h, code, words);
    dm_halt(&r, 1); /* in reset, and so before the first instruction */
    TEST_ASSERT_EQUAL_HEX32(0, hart_csr(&r, CSR_DPC));
    machine_run(&r, true);
    jtag_cycles(&r, 500);
    TEST_ASSERT_TRUE(dm_halted(&r, 1));
    TEST_ASSERT_EQUAL_HEX32(0, hart_csr(&r, CSR_DPC));
    for (uint32_t i = 0; i < sizeof way / sizeof *way; i++) {
        hart_step(&r);
        TEST_ASSERT_EQUAL_HEX32(way[i], hart_csr(&r, CSR_DPC));
    }
    TEST_ASSERT_EQUAL_HEX32(11, hart_csr(&r, RV_MCAUSE));
    TEST_ASSERT_EQUAL_HEX32(36, hart_csr(&r, RV_MEPC));
    TEST_ASSERT_EQUAL_HEX32(25, hart_gpr(&r, A3));
    TEST_ASSERT_EQUAL_HEX32(8, hart_csr(&r, 0xb02)); /* minstret: nobody else's count */
}

/* An ebreak halts when dcsr says so, and is an exception otherwise. */
static void test_ebreak(void)
{
    emit(rv_addi(A0, A0, 1));
    emit(0x00100073);
    emit(rv_beq(ZERO, ZERO, -8));
    for (uint32_t h = 0; h < RIG_HARTS; h++)
        machine_code(&r, h, code, words);
    dm_halt(&r, 0);
    hart_set_csr(&r, CSR_DCSR, 1 << 15);
    TEST_ASSERT_EQUAL_HEX32(0x400080c3, hart_csr(&r, CSR_DCSR));
    dm_resume(&r, 0); /* still in reset */
    machine_run(&r, true);
    jtag_cycles(&r, 500);
    for (uint32_t i = 1; i < 4; i++) {
        TEST_ASSERT_TRUE(dm_halted(&r, 0));
        TEST_ASSERT_EQUAL_HEX32(0x40008043, hart_csr(&r, CSR_DCSR)); /* cause: ebreak */
        TEST_ASSERT_EQUAL_HEX32(4, hart_csr(&r, CSR_DPC));
        TEST_ASSERT_EQUAL_UINT32(i, hart_gpr(&r, A0));
        hart_set_csr(&r, CSR_DPC, 8);
        dm_resume(&r, 0);
        jtag_cycles(&r, 100);
    }
    dm_halt(&r, 1);
    TEST_ASSERT_EQUAL_HEX32(0x400000c3, hart_csr(&r, CSR_DCSR)); /* cause: asked to */
    TEST_ASSERT_EQUAL_HEX32(3, hart_csr(&r, RV_MCAUSE));
}

/* A hart halts asleep, done, and while nobody takes its records; and goes on as it was. */
static void test_halting_one_that_waits(void)
{
    emit(rv_lui(A1, (uint32_t)MEMORY));
    emit(rv_csrrs(A0, 0xf14, ZERO));
    emit(rv_bne(A0, ZERO, 16));
    emit(rv_sw(A2, A1, 0));              /* hart 0: on and on */
    emit(rv_addi(A2, A2, 1));
    emit(rv_beq(ZERO, ZERO, -8));
    emit(0x10500073);                    /* hart 1: asleep */
    emit(rv_csrrwi(ZERO, RV_MSCRATCH, 7));
    emit(rv_done());
    emit(rv_addi(A3, ZERO, 1));
    start();
    jtag_cycles(&r, 5000); /* the capture is full by now */
    dm_halt(&r, 0);
    uint32_t count = hart_gpr(&r, A2);
    TEST_ASSERT_EQUAL_UINT32(count - 1, load_word((uint32_t)MEMORY));
    dm_resume(&r, 0);
    jtag_cycles(&r, 100);
    dm_halt(&r, 0);
    TEST_ASSERT_EQUAL_UINT32(count, hart_gpr(&r, A2));

    dm_halt(&r, 1);
    TEST_ASSERT_EQUAL_HEX32(24, hart_csr(&r, CSR_DPC));
    dm_resume(&r, 1);
    jtag_cycles(&r, 100);
    dm_halt(&r, 1);
    TEST_ASSERT_EQUAL_HEX32(24, hart_csr(&r, CSR_DPC)); /* it slept again */
    TEST_ASSERT_EQUAL_HEX32(0, hart_csr(&r, RV_MSCRATCH));
    hart_set_csr(&r, CSR_DPC, 28);
    dm_resume(&r, 1);
    for (uint32_t i = 0; i < 3; i++) { /* done needs a record, and there is room */
        jtag_cycles(&r, 500);
        TEST_ASSERT_EQUAL_HEX32(2, bus_read(&r, BOARD_DEVICES + DEV_DONE));
        dm_halt(&r, 1);
        TEST_ASSERT_EQUAL_HEX32(36, hart_csr(&r, CSR_DPC));
        TEST_ASSERT_EQUAL_HEX32(7, hart_csr(&r, RV_MSCRATCH));
        TEST_ASSERT_EQUAL_HEX32(0, hart_gpr(&r, A3));
        dm_resume(&r, 1);
    }
}

/* Inside a transaction there is no halting: it is aborted first. */
static void test_halting_in_a_transaction(void)
{
    emit(rv_lui(A1, (uint32_t)MEMORY));
    emit(rv_csrrs(A0, 0xf14, ZERO));
    emit(rv_add(A0, A0, A0));            /* each its own line: 64 bytes apart */
    emit(rv_add(A0, A0, A0));
    emit(rv_mul(A0, A0, A0));
    emit(rv_add(A0, A0, A0));
    emit(rv_add(A0, A0, A0));
    emit(rv_add(A1, A1, A0));
    emit(rv_tx_begin(A0, 20));
    emit(rv_addi(A2, ZERO, 1));
    emit(rv_sw(A2, A1, 0));
    emit(rv_beq(ZERO, ZERO, 0));
    emit(rv_tx_commit());
    emit(rv_beq(ZERO, ZERO, 0));         /* the abort goes here */
    start();
    jtag_cycles(&r, 1000);
    for (uint32_t h = 0; h < RIG_HARTS; h++) {
        dm_halt(&r, h);
        TEST_ASSERT_EQUAL_HEX32(52, hart_csr(&r, CSR_DPC));
        TEST_ASSERT_EQUAL_HEX32(4, hart_gpr(&r, A0)); /* TX_INTERRUPT */
        TEST_ASSERT_EQUAL_HEX32(0, load_word((uint32_t)MEMORY + 64 * h));
    }
}

/* Harts that are halted again and again at random moments add up the same. */
static void test_halting_changes_nothing(void)
{
    enum { ROUNDS = 2000, LOSSY = 1 << 24 };
    uint32_t squares = 0;
    for (uint32_t i = 1; i <= ROUNDS; i++)
        squares += i * i;
    emit(rv_lui(A1, (uint32_t)MEMORY));
    emit(rv_addi(A0, ZERO, ROUNDS));
    emit(rv_addi(A2, ZERO, 1));
    emit(rv_amoadd(A3, A2, A1));
    emit(rv_lw(A4, A1, 4));
    emit(rv_lr(A5, A1));
    emit(rv_swap(A6, A2, A1));
    emit(rv_add(S2, S2, A2));
    emit(rv_mul(S3, S2, S2));
    emit(rv_add(S4, S4, S3));
    emit(rv_addi(A0, A0, -1));
    emit(rv_bne(A0, ZERO, -32));
    emit(rv_done());
    bus_write(&r, BOARD_DEVICES + DEV_SETUP, LOSSY); /* nobody takes the records */
    start();
    uint32_t seed = 1, halts = 0;
    while (bus_read(&r, BOARD_DEVICES + DEV_DONE) << 16 != 3u << 16) {
        TEST_ASSERT_TRUE_MESSAGE(++halts < 2000, "they never end");
        seed = seed * 1664525 + 1013904223;
        dm_halt(&r, seed >> 31);
        hart_gpr(&r, S2);
        jtag_cycles(&r, seed >> 16 & 15);
        dm_resume(&r, seed >> 31);
    }
    TEST_ASSERT_GREATER_THAN_UINT32(10, halts);
    for (uint32_t h = 0; h < RIG_HARTS; h++) {
        dm_halt(&r, h);
        TEST_ASSERT_EQUAL_UINT32(ROUNDS, hart_gpr(&r, S2));
        TEST_ASSERT_EQUAL_UINT32(squares, hart_gpr(&r, S4));
        TEST_ASSERT_EQUAL_UINT32(3 + 9 * ROUNDS + 1, hart_csr(&r, 0xb02));
    }
}

/* ---- resets -------------------------------------------------------------------------------- */

/* A register of the devices that goes on with every access tells of one that was made twice or not
 * at all; the USB core, whose registers take several cycles, of one that was broken off. */
static void test_halting_between_accesses_alone(void)
{
    enum { COUNT = 2000, RESTART = 5, LOOP = 7, BAD = 14 };
    emit(rv_lui(A1, BOARD_DEVICES));
    emit(rv_addi(A3, ZERO, COUNT));
    emit(rv_sw(A0, A1, DEV_LOAD_DATA));
    emit(rv_addi(A0, A0, 1));
    emit(rv_bne(A0, A3, -8));
    emit(rv_sw(ZERO, A1, DEV_LOAD_ADDRESS)); /* restart */
    emit(rv_addi(A0, ZERO, 0));
    emit(rv_lw(A2, A1, DEV_LOAD_DATA));      /* loop */
    emit(rv_lui(A4, BOARD_USB));
    emit(rv_lw(A4, A4, USB_STATUS));
    emit(rv_bne(A2, A0, (BAD - 10) * 4));
    emit(rv_addi(A0, A0, 1));
    emit(rv_bne(A0, A3, (LOOP - 12) * 4));
    emit(rv_beq(ZERO, ZERO, (RESTART - 13) * 4));
    emit(rv_beq(ZERO, ZERO, 0));             /* bad */
    dm_halt(&r, RIG_MONITOR);
    for (uint32_t i = 0; i < words; i++)
        bus_write(&r, i * 4, code[i]);
    bus_write(&r, BOARD_DEVICES + DEV_LOAD_ADDRESS, 0);
    hart_set_gpr(&r, A0, 0);
    hart_set_csr(&r, CSR_DPC, 0);
    uint32_t before = 0, moved = 0;
    for (uint32_t i = 0; i < 100; i++) {
        dm_resume(&r, RIG_MONITOR);
        jtag_cycles(&r, i ? 200 + i % 17 : 30000);
        dm_halt(&r, RIG_MONITOR);
        TEST_ASSERT_LESS_THAN_UINT32(BAD * 4, hart_csr(&r, CSR_DPC));
        uint32_t now = hart_gpr(&r, A0);
        moved += now != before;
        before = now;
    }
    TEST_ASSERT_GREATER_THAN_UINT32(90, moved);
}

static void test_resets(void)
{
    emit(rv_beq(ZERO, ZERO, 0));
    for (uint32_t h = 0; h <= RIG_MONITOR; h++) {
        dm_control(&r, h, 0);
        TEST_ASSERT_EQUAL_HEX32(DM_HAVERESET, dmi_read(&r, DM_STATUS) & DM_HAVERESET);
        dm_control(&r, h, DM_ACKHAVERESET);
        TEST_ASSERT_EQUAL_HEX32(0, dmi_read(&r, DM_STATUS) & DM_HAVERESET);
    }
    start();
    dm_halt(&r, 0);
    dm_halt(&r, RIG_MONITOR);
    bus_write(&r, 0x3000, 0x600d);
    hart_set_csr(&r, CSR_DPC, 0x40);

    /* Hart 1 is asked to halt, and comes out of it halted; the others run. */
    dm_control(&r, 1, (uint32_t)DM_HALTREQ);
    dm_control(&r, 1, (uint32_t)DM_HALTREQ | DM_NDMRESET);
    jtag_cycles(&r, 50);
    dm_control(&r, 1, (uint32_t)DM_HALTREQ);
    TEST_ASSERT_EQUAL_HEX32(2, dmi_read(&r, DM_HALTSUM));
    TEST_ASSERT_EQUAL_HEX32(DM_HAVERESET, dmi_read(&r, DM_STATUS) & DM_HAVERESET);
    TEST_ASSERT_EQUAL_HEX32(0, hart_csr(&r, CSR_DPC));
    TEST_ASSERT_EQUAL_UINT32(0, bus_read(&r, BOARD_DEVICES + DEV_RUN));
    TEST_ASSERT_EQUAL_UINT32(CAUSE_DEBUG, bus_read(&r, BOARD_DEVICES + DEV_CAUSE));
    TEST_ASSERT_EQUAL_HEX32(0x600d, bus_read(&r, 0x3000));

    /* A hart in reset has its code, but no memory. */
    uint32_t value;
    dm_control(&r, 1, DM_ACKHAVERESET);
    TEST_ASSERT_EQUAL_HEX32(code[0], load_word(0));
    TEST_ASSERT_EQUAL_UINT32(CMDERR_EXCEPTION, hart_load(&r, (uint32_t)MEMORY, 2, &value));
    /* It stays halted when the reset ends, and the next reset ends that. */
    machine_run(&r, true);
    jtag_cycles(&r, 200);
    TEST_ASSERT_TRUE(dm_halted(&r, 1));
    TEST_ASSERT_EQUAL_HEX32(0, hart_csr(&r, CSR_DPC));
    machine_run(&r, false);
    TEST_ASSERT_FALSE(dm_halted(&r, 1));
    TEST_ASSERT_EQUAL_HEX32(DM_HAVERESET, dmi_read(&r, DM_STATUS) & DM_HAVERESET);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_tap_begins_with_idcode);
    RUN_TEST(test_registers_have_their_lengths);
    RUN_TEST(test_shifting_can_pause);
    RUN_TEST(test_nop_and_reserved_operations_do_nothing);
    RUN_TEST(test_harts_that_are_there);
    RUN_TEST(test_inactive_it_forgets);
    RUN_TEST(test_each_hart_halts_for_itself);
    RUN_TEST(test_commands_that_cannot_be);
    RUN_TEST(test_all_registers);
    RUN_TEST(test_memory_of_a_hart);
    RUN_TEST(test_memory_is_coherent);
    RUN_TEST(test_system_bus);
    RUN_TEST(test_stepping);
    RUN_TEST(test_ebreak);
    RUN_TEST(test_halting_one_that_waits);
    RUN_TEST(test_halting_in_a_transaction);
    RUN_TEST(test_halting_changes_nothing);
    RUN_TEST(test_halting_between_accesses_alone);
    RUN_TEST(test_resets);
    return UNITY_END();
}
