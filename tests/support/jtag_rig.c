/* SPDX-License-Identifier: Apache-2.0 */
/* Bits of TMS, TDI and TDO, and upwards from there. */
#include "jtag_rig.h"

#include "models.h"
#include "unity.h"

#define NUMBER(name, bits, value) name = value,
enum {
#include "board/board.def"
};
#undef NUMBER

static void run(struct jtag_rig *r, uint32_t cycles)
{
    for (uint32_t i = 0; i < cycles * r->model->divider; i++)
        r->model->sample(r->board, USB_SE0);
}

void jtag_cycles(struct jtag_rig *r, uint32_t cycles)
{
    run(r, cycles);
    const char *assertion = r->model->assertion(r->board);
    TEST_ASSERT_NULL_MESSAGE(assertion, assertion);
}

static void edge(struct jtag_rig *r, bool tck)
{
    r->pins.tck = tck;
    r->model->jtag(r->board, r->pins);
    run(r, 2);
    r->tdo = r->model->jtag(r->board, r->pins);
}

bool jtag_tck(struct jtag_rig *r, bool tms, bool tdi)
{
    r->pins.tms = tms;
    r->pins.tdi = tdi;
    edge(r, false);
    bool tdo = r->tdo;
    edge(r, true);
    return tdo;
}

/* From Shift-IR or Shift-DR, by way of Update, to Run-Test/Idle. */
static uint64_t shift(struct jtag_rig *r, uint32_t bits, uint64_t value)
{
    uint64_t out = 0;
    for (uint32_t i = 0; i < bits; i++)
        out |= (uint64_t)jtag_tck(r, i == bits - 1, value >> i & 1) << i;
    jtag_tck(r, true, false);
    jtag_tck(r, false, false);
    return out;
}

uint64_t jtag_ir(struct jtag_rig *r, uint32_t value)
{
    jtag_tck(r, true, false);
    jtag_tck(r, true, false);
    jtag_tck(r, false, false);
    jtag_tck(r, false, false);
    return shift(r, 5, value);
}

uint64_t jtag_dr(struct jtag_rig *r, uint32_t bits, uint64_t value)
{
    jtag_tck(r, true, false);
    jtag_tck(r, false, false);
    jtag_tck(r, false, false);
    return shift(r, bits, value);
}

/* The answer to an access comes with the next one: it must not have come too early. */
static uint64_t dmi(struct jtag_rig *r, uint32_t address, uint32_t value, uint32_t op)
{
    uint64_t answer = jtag_dr(r, 41, (uint64_t)address << 34 | (uint64_t)value << 2 | op);
    TEST_ASSERT_EQUAL_UINT32(0, answer & 3);
    return answer >> 2;
}

uint32_t dmi_read(struct jtag_rig *r, uint32_t address)
{
    dmi(r, address, 0, 1);
    uint64_t answer = dmi(r, 0, 0, 0);
    TEST_ASSERT_EQUAL_HEX32(address, answer >> 32);
    return (uint32_t)answer;
}

void dmi_write(struct jtag_rig *r, uint32_t address, uint32_t value) { dmi(r, address, value, 2); }

static void open_model(struct jtag_rig *r, const struct soc_parameters *parameters)
{
    char why[1024] = "";
    const struct board_interface *model = model_open_board(parameters, NULL, why, sizeof why);
    TEST_ASSERT_NOT_NULL_MESSAGE(model, why);
    *r = (struct jtag_rig){ .model = model, .board = model->create(1) };
    TEST_ASSERT_NOT_NULL(r->board);
    for (int i = 0; i < 5; i++)
        jtag_tck(r, true, false);
    jtag_tck(r, false, false);
    jtag_ir(r, JTAG_DMI);
    dm_control(r, 0, 0);
}

void jtag_rig_open(struct jtag_rig *r)
{
    open_model(r, &(struct soc_parameters){ .harts = RIG_HARTS, .transactions = true, .bugs = true,
                                            .checks = true });
}

void jtag_rig_open_lean(struct jtag_rig *r)
{
    open_model(r, &(struct soc_parameters){ .lean = true, .checks = true });
}

void jtag_rig_close(struct jtag_rig *r)
{
    if (r->board)
        r->model->destroy(r->board);
    r->board = NULL;
}

void dm_control(struct jtag_rig *r, uint32_t hart, uint32_t bits)
{
    r->hart = hart;
    dmi_write(r, DM_CONTROL, bits | hart << 16 | DM_ACTIVE);
}

bool dm_halted(struct jtag_rig *r, uint32_t hart)
{
    if (hart != r->hart)
        dm_control(r, hart, 0);
    uint32_t status = dmi_read(r, DM_STATUS) & (DM_HALTED | DM_RUNNING);
    TEST_ASSERT_TRUE(status == DM_HALTED || status == DM_RUNNING);
    return status == DM_HALTED;
}

void dm_halt(struct jtag_rig *r, uint32_t hart)
{
    dm_control(r, hart, (uint32_t)DM_HALTREQ);
    for (int i = 0; i < 100 && !dm_halted(r, hart); i++)
        jtag_cycles(r, 100);
    TEST_ASSERT_TRUE_MESSAGE(dm_halted(r, hart), "a hart does not halt");
    dm_control(r, hart, 0);
}

void dm_resume(struct jtag_rig *r, uint32_t hart)
{
    dm_control(r, hart, DM_RESUMEREQ);
    TEST_ASSERT_EQUAL_HEX32(DM_RESUMEACK, dmi_read(r, DM_STATUS) & DM_RESUMEACK);
    dm_control(r, hart, 0);
}

uint32_t dm_command(struct jtag_rig *r, uint32_t command)
{
    dmi_write(r, DM_COMMAND, command);
    uint32_t cs = dmi_read(r, DM_ABSTRACTCS);
    for (int i = 0; i < 1000 && cs >> 12 & 1; i++)
        cs = dmi_read(r, DM_ABSTRACTCS);
    TEST_ASSERT_EQUAL_UINT32_MESSAGE(0, cs >> 12 & 1, "a command does not end");
    if (cs >> 8 & 7)
        dmi_write(r, DM_ABSTRACTCS, 7 << 8);
    return cs >> 8 & 7;
}

static uint32_t transfer(struct jtag_rig *r, uint32_t number, bool write)
{
    return dm_command(r, 2 << 20 | 1 << 17 | (uint32_t)write << 16 | number);
}

static uint32_t get(struct jtag_rig *r, uint32_t number)
{
    TEST_ASSERT_EQUAL_UINT32(0, transfer(r, number, false));
    return dmi_read(r, DM_DATA0);
}

static void set(struct jtag_rig *r, uint32_t number, uint32_t value)
{
    dmi_write(r, DM_DATA0, value);
    TEST_ASSERT_EQUAL_UINT32(0, transfer(r, number, true));
}

uint32_t hart_gpr(struct jtag_rig *r, uint32_t number) { return get(r, 0x1000 + number); }
uint32_t hart_csr(struct jtag_rig *r, uint32_t number) { return get(r, number); }
void hart_set_gpr(struct jtag_rig *r, uint32_t n, uint32_t value) { set(r, 0x1000 + n, value); }
void hart_set_csr(struct jtag_rig *r, uint32_t n, uint32_t value) { set(r, n, value); }

uint32_t hart_load(struct jtag_rig *r, uint32_t address, uint32_t size, uint32_t *value)
{
    dmi_write(r, DM_DATA1, address);
    uint32_t error = dm_command(r, 2 << 24 | size << 20);
    *value = dmi_read(r, DM_DATA0);
    return error;
}

uint32_t hart_store(struct jtag_rig *r, uint32_t address, uint32_t size, uint32_t value)
{
    dmi_write(r, DM_DATA0, value);
    dmi_write(r, DM_DATA1, address);
    return dm_command(r, 2 << 24 | size << 20 | 1 << 16);
}

void hart_step(struct jtag_rig *r)
{
    hart_set_csr(r, CSR_DCSR, 1 << 2);
    dm_control(r, r->hart, DM_RESUMEREQ);
    for (int i = 0; i < 100 && !dm_halted(r, r->hart); i++)
        jtag_cycles(r, 10);
    TEST_ASSERT_TRUE_MESSAGE(dm_halted(r, r->hart), "a step does not end");
    TEST_ASSERT_EQUAL_UINT32(4, hart_csr(r, CSR_DCSR) >> 6 & 7);
    hart_set_csr(r, CSR_DCSR, 0);
}

/* sbcs: 32 bits, read on a write of the address. */
uint32_t bus_read(struct jtag_rig *r, uint32_t address)
{
    dmi_write(r, DM_SBCS, 2 << 17 | 1 << 20);
    dmi_write(r, DM_SBADDRESS, address);
    uint32_t value = dmi_read(r, DM_SBDATA);
    TEST_ASSERT_EQUAL_HEX32(0, dmi_read(r, DM_SBCS) & (7 << 12 | 3 << 21));
    return value;
}

void bus_write(struct jtag_rig *r, uint32_t address, uint32_t value)
{
    dmi_write(r, DM_SBCS, 2 << 17);
    dmi_write(r, DM_SBADDRESS, address);
    dmi_write(r, DM_SBDATA, value);
    TEST_ASSERT_EQUAL_HEX32(0, dmi_read(r, DM_SBCS) & (7 << 12 | 3 << 21));
}

void machine_code(struct jtag_rig *r, uint32_t hart, const uint32_t *words, uint32_t count)
{
    machine_run(r, false);
    bus_write(r, BOARD_DEVICES + DEV_LOAD_ADDRESS, 1u << 31 | hart << 27);
    dmi_write(r, DM_SBADDRESS, BOARD_DEVICES + DEV_LOAD_DATA);
    for (uint32_t i = 0; i < count; i++)
        dmi_write(r, DM_SBDATA, words[i]);
}

void machine_run(struct jtag_rig *r, bool on) { bus_write(r, BOARD_DEVICES + DEV_RUN, on); }
