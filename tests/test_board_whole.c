/* The whole way to a board and back: OpenOCD loads the firmware over JTAG, the board enumerates, the
 * program runs tests over libusb, over the simulated wires, in the RTL; the traces must be those of
 * --target sim, faults on the wires may cost time alone, and a bug must be found. ORDEAL in the environment
 * names the program; ordeal-board and its firmware lie beside it. */
#include <stdlib.h>
#include <unistd.h>

#include "shell.h"

static char directory[64], home[4096];

void setUp(void)
{
    snprintf(directory, sizeof directory, "/tmp/test-board-XXXXXX");
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

/* Two threads with everything: transactions, swaps, fences. */
#define TESTS(count) "--bias $HOME_OF_TESTS/examples/zoo.bias --set test.threads=2 --iterations 1 " \
                     "--seed 7 --count " #count

/* Reset, firmware over JTAG, enumeration, 50 tests, all right, and cycle by cycle what the simulation of
 * the machine alone says. */
static void test_from_reset_to_verdict(void)
{
    EXPECT(0, "timeout 600 \"$BOARD\" --no-firmware --jtag 0 -- sh -c '"
              "port=$(sed -n \"s/.*remote_bitbang.* port //p\" err); "
              "openocd -c \"set ORDEAL_JTAG $port; set ORDEAL_HARTS 2\" "
              "-c \"gdb_port disabled; telnet_port disabled; tcl_port disabled\" "
              "-f $HOME_OF_TESTS/tcl/ordeal-sim.cfg "
              "-c \"init; ordeal_load_firmware $FIRMWARE; shutdown\" >openocd.log 2>&1 || "
              "{ cat openocd.log; exit 9; }; "
              "until \"$ORDEAL\" board list | grep -q .; do sleep 0.2; done; "
              "\"$ORDEAL\" run --target board " TESTS(50) " -o board.trace'");
    EXPECT(0, "\"$ORDEAL\" run --target sim --harts 2 " TESTS(50) " -o sim.trace");
    EXPECT(0, "cmp board.trace sim.trace && grep -c '^P' board.trace");
    EXPECT(0, "\"$ORDEAL\" check board.trace | grep -c ^PASS");
    OUT("50");
}

/* With 1 % of packets damaged, lost, shortened nothing is lost or wrong. */
static void test_faults_cost_time_alone(void)
{
    EXPECT(0, "timeout 900 \"$BOARD\" --fault all=0.01 --seed 3 -- \"$ORDEAL\" run --target board "
              TESTS(10) " -o board.trace");
    ERR("packets");
    EXPECT(0, "\"$ORDEAL\" run --target sim --harts 2 " TESTS(10) " -o sim.trace");
    EXPECT(0, "cmp board.trace sim.trace");
}

static void test_a_bug_is_found_and_explained(void)
{
    EXPECT(1, "timeout 600 \"$BOARD\" -- \"$ORDEAL\" run --target board --check --stop-after 1 "
              "--bug upgrade-wins --save kept " TESTS(200));
    OUT("FAIL");
    EXPECT(1, "\"$ORDEAL\" show kept/*/*.trace");
    OUT("violates");
}

int main(int argc, char **argv)
{
    static char program[4096], board[4096 + 8], firmware[4096 + 32];
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
    snprintf(firmware, sizeof firmware, "%s/firmware/firmware.elf", program);
    setenv("FIRMWARE", firmware, 1);
    setenv("HOME_OF_TESTS", home, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1); /* the program is behind LD_PRELOAD */
    RUN_TEST(test_from_reset_to_verdict);
    RUN_TEST(test_faults_cost_time_alone);
    RUN_TEST(test_a_bug_is_found_and_explained);
    return UNITY_END();
}
