/* The smallest board as synthesis leaves it, cell by cell, the firmware in its block RAMs: it
 * enumerates, runs tests over the simulated wires, and what it brings is, cycle by cycle, what its
 * RTL brings and the machine alone; a debugger finds all harts. ORDEAL in the environment names the program;
 * ordeal-board and sim/netlist.so lie beside it. */
#include <stdlib.h>
#include <unistd.h>

#include "shell.h"

static char directory[64], home[4096];

void setUp(void)
{
    snprintf(directory, sizeof directory, "/tmp/test-netlist-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    TEST_ASSERT_EQUAL(0, chdir(directory));
}

void tearDown(void)
{
    TEST_ASSERT_EQUAL(0, chdir(home));
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    TEST_ASSERT_EQUAL(0, system(command));
}

/* So short that no hart waits for room in the stream: when there is some depends on the host. */
#define TESTS "--set test.threads=2 --set test.operations=20 --iterations 1 --seed 7 --count 5 -o "

static void test_it_does_what_the_rtl_does(void)
{
    EXPECT(0, "\"$ORDEAL\" run --target sim --config lean=1 " TESTS "sim.trace");
    EXPECT(0, "timeout 900 \"$BOARD\" --model lean -- \"$ORDEAL\" run --target board "
              TESTS "rtl.trace");
    EXPECT(0, "timeout 900 \"$BOARD\" --board \"$NETLIST\" -- \"$ORDEAL\" run --target board "
              TESTS "netlist.trace");
    EXPECT(0, "cmp sim.trace rtl.trace && cmp rtl.trace netlist.trace");
    EXPECT(0, "\"$ORDEAL\" check netlist.trace | grep -c ^PASS");
    OUT("5");
}

static void test_a_debugger_finds_it(void)
{
    EXPECT(0, "timeout 900 \"$BOARD\" --board \"$NETLIST\" --jtag 0 -- sh -c '"
              "openocd -c \"set ORDEAL_JTAG $(sed -n \"s/.*remote_bitbang.* port //p\" err); "
              "set ORDEAL_HARTS 2; gdb_port disabled; telnet_port disabled; tcl_port disabled\" "
              "-f $HOME_OF_TESTS/tcl/ordeal-sim.cfg "
              "-c \"init; halt; reg s11 0x12345678; step; echo [reg s11 force]; shutdown\" 2>&1'");
    OUT("hart 2: XLEN=32");
    OUT("s11 (/32): 0x12345678");
}

static void test_its_firmware_is_in_it(void)
{
    EXPECT(2, "\"$BOARD\" --board \"$NETLIST\" --no-firmware -- true");
    ERR("has its firmware in it");
    EXPECT(2, "\"$BOARD\" --board nowhere.so -- true");
    ERR("nowhere.so");
}

int main(int argc, char **argv)
{
    static char program[4096], board[4096 + 8], netlist[4096 + 32];
    (void)argc;
    UNITY_BEGIN();
    if (!realpath(getenv("ORDEAL") ? getenv("ORDEAL") : "build/ordeal", program)
        || !getcwd(home, sizeof home)) {
        fprintf(stderr, "%s: ORDEAL does not name the program\n", argv[0]);
        return 1;
    }
    setenv("ORDEAL", program, 1);
    snprintf(board, sizeof board, "%s-board", program);
    setenv("BOARD", board, 1);
    *strrchr(program, '/') = '\0';
    snprintf(netlist, sizeof netlist, "%s/sim/netlist.so", program);
    setenv("NETLIST", netlist, 1);
    setenv("HOME_OF_TESTS", home, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1); /* the program is behind LD_PRELOAD */
    RUN_TEST(test_it_does_what_the_rtl_does);
    RUN_TEST(test_a_debugger_finds_it);
    RUN_TEST(test_its_firmware_is_in_it);
    return UNITY_END();
}
