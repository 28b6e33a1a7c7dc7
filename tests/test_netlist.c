/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest board as synthesis leaves it, cell by cell, the firmware in its block RAMs: it
 * enumerates, runs tests over the simulated wires, and what it brings is, cycle by cycle, what its
 * RTL brings and the machine alone; a debugger finds all harts. */
#include "shell.h"

#define NETLIST "\"$ORDEAL-board\" --board \"$BUILD_OF_TESTS/sim/netlist.so\""

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

/* So short that no hart waits for room in the stream: when there is some depends on the host. */
#define TESTS \
    "--set test.threads=2 --set test.operations=20 --iterations 1 --seed 7 --count 5 " \
    "--final read -o "

static void test_it_does_what_the_rtl_does(void)
{
    EXPECT(0, "\"$ORDEAL\" run --target sim --config lean=1 " TESTS "sim.trace");
    EXPECT(0, "timeout 900 \"$ORDEAL-board\" --model lean -- \"$ORDEAL\" run --target board "
              TESTS "rtl.trace");
    EXPECT(0, "timeout 900 " NETLIST " -- \"$ORDEAL\" run --target board "
              TESTS "netlist.trace");
    EXPECT(0, "cmp sim.trace rtl.trace && cmp rtl.trace netlist.trace");
    EXPECT(0, "\"$ORDEAL\" check netlist.trace | grep -c ^PASS");
    OUT("5");
}

static void test_a_debugger_finds_it(void)
{
    EXPECT(0, "timeout 900 " NETLIST " --jtag 0 -- sh -c '"
              "openocd -c \"set ORDEAL_JTAG $(sed -n \"s/.*remote_bitbang.* port //p\" err); "
              "set ORDEAL_HARTS 2; gdb_port disabled; telnet_port disabled; tcl_port disabled\" "
              "-f $HOME_OF_TESTS/tcl/ordeal-sim.cfg "
              "-c \"init; halt; reg s11 0x12345678; step; echo [reg s11 force]; shutdown\" 2>&1'");
    OUT("hart 2: XLEN=32");
    OUT("s11 (/32): 0x12345678");
}

static void test_its_firmware_is_in_it(void)
{
    EXPECT(2, NETLIST " --no-firmware -- true");
    ERR("has its firmware in it");
    EXPECT(2, "\"$ORDEAL-board\" --board nowhere.so -- true");
    ERR("nowhere.so");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_it_does_what_the_rtl_does);
    RUN_TEST(test_a_debugger_finds_it);
    RUN_TEST(test_its_firmware_is_in_it);
    return UNITY_END();
}
