/* SPDX-License-Identifier: Apache-2.0 */
/* The whole way to a board and back: OpenOCD loads the firmware over JTAG, the board enumerates,
 * the program runs tests over libusb, over the simulated wires, in the RTL; the traces must be
 * those of --target sim, over JTAG as well. Faults on the wires may cost time alone, a board that
 * loses its power one test; a bug must be found. */
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

/* Two threads with everything: transactions, swaps, fences. */
#define TESTS(count) \
    "--bias $HOME_OF_TESTS/examples/zoo.bias --set test.threads=2 --iterations 1 " \
    "--seed 7 --final read --count " #count

/* Within `sh -c '...'` of an ordeal-board that has `--jtag 0`. */
#define OPENOCD(tcl_port, command) \
    "openocd -c \"set ORDEAL_JTAG $(sed -n \"s/.*remote_bitbang.* port //p\" err); " \
    "set ORDEAL_HARTS 2; gdb_port disabled; telnet_port disabled; tcl_port " tcl_port "\" " \
    "-f $HOME_OF_TESTS/tcl/ordeal-sim.cfg -c \"init; " command "\" >openocd.log 2>&1 "

/* Reset, firmware over JTAG, enumeration, 50 tests, all right, and cycle by cycle what the
 * simulation of the machine alone says. */
static void test_from_reset_to_verdict(void)
{
    EXPECT(0, "timeout 600 \"$ORDEAL-board\" --no-firmware --jtag 0 -- sh -c '"
              OPENOCD("disabled", "ordeal_load_firmware $BUILD_OF_TESTS/firmware/firmware.elf; "
                                  "shutdown")
              "|| { cat openocd.log; exit 9; }; "
              "until \"$ORDEAL\" board list | grep -q .; do sleep 0.2; done; "
              "\"$ORDEAL\" run --target board " TESTS(50) " -o board.trace'");
    EXPECT(0, "\"$ORDEAL\" run --target sim --sizes usual --harts 2 " TESTS(50) " -o sim.trace");
    EXPECT(0, "cmp board.trace sim.trace && "
              "for kind in TX.BEGIN SWAP MEMBAR; do grep -q $kind board.trace || exit 1; done");
    EXPECT(0, "\"$ORDEAL\" check board.trace | grep -c ^PASS");
    OUT("50");
}

/* Without USB. */
static void test_the_same_over_jtag(void)
{
    EXPECT(0, "timeout 600 \"$ORDEAL-board\" --jtag 0 -- sh -c ': >openocd.log; " OPENOCD("0", "")
              "& server=$!; "
              "until port=$(sed -n \"s/.* port \\([0-9]*\\) for tcl .*/\\1/p\" openocd.log); "
              "[ \"$port\" ]; do kill -0 $server || { cat openocd.log; exit 9; }; sleep 0.1; done; "
              "\"$ORDEAL\" run --target board --link jtag --openocd 127.0.0.1:$port " TESTS(2)
              " -o jtag.trace; status=$?; kill $server; exit $status'");
    EXPECT(0, "\"$ORDEAL\" run --target sim --sizes usual --harts 2 " TESTS(2) " -o sim.trace");
    EXPECT(0, "cmp jtag.trace sim.trace");
}

/* `ordeal board flash` through OpenOCD: firmware into an empty board, which then enumerates; and an
 * SVF, of which what comes back from the chip is compared. */
static void test_flash(void)
{
    EXPECT(0, "printf 'SIR 5 TDI (01);\nSDR 32 TDI (00000000) TDO (10000001) MASK (0FFFFFFF);\n' "
              ">right.svf; sed s/10000001/10000003/ right.svf >wrong.svf");
    EXPECT(0, "timeout 600 \"$ORDEAL-board\" --no-firmware --jtag 0 -- sh -c '"
              "{ echo \"set ORDEAL_HARTS 2; gdb_port disabled; telnet_port disabled\"; "
              "echo \"tcl_port disabled; set ORDEAL_JTAG \""
              "$(sed -n \"s/.*remote_bitbang.* port //p\" err); "
              "echo \"source $HOME_OF_TESTS/tcl/ordeal-sim.cfg\"; } >sim.cfg; "
              "\"$ORDEAL\" board flash right.svf --config sim.cfg; echo right $?; "
              "\"$ORDEAL\" board flash wrong.svf --config sim.cfg; echo wrong $?; "
              "\"$ORDEAL\" board flash $BUILD_OF_TESTS/firmware/firmware.elf --config sim.cfg; "
              "echo firmware $?; until \"$ORDEAL\" board list | grep -q .; do sleep 0.2; done; "
              "\"$ORDEAL\" board info'");
    OUT("right 0");
    OUT("wrong 3");
    OUT("firmware 0");
    OUT("reset=debugger");
    ERR("tdo check error");
}

/* With 1 % of packets damaged, lost, shortened nothing is lost or wrong. */
static void test_faults_cost_time_alone(void)
{
    EXPECT(0, "timeout 900 \"$ORDEAL-board\" --fault all=0.01 --seed 3 -- \"$ORDEAL\" run --target board "
              TESTS(50) " -o board.trace");
    ERR("packets");
    EXPECT(0, "\"$ORDEAL\" run --target sim --sizes usual --harts 2 " TESTS(50) " -o sim.trace");
    EXPECT(0, "cmp board.trace sim.trace");
}

static void test_faults_that_cannot_be(void)
{
    static const char *const places[] = { "", "0", "-1", "1.5", "x", "nan", "1e99", "5x", "5," };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        EXPECT(2, "\"$ORDEAL-board\" --fault unplug@%s -- true", places[i]);
        ERR("--fault: '");
    }
    EXPECT(2, "\"$ORDEAL-board\" --fault lose_in=0.1,all@5 -- true");
    ERR("'all@5': what happens to packets has a chance and no place");
    EXPECT(0, "\"$ORDEAL-board\" --fault lose_in=0.1,reset@1000000,unplug=0 -- true");
}

static void test_a_bug_is_found_and_explained(void)
{
    EXPECT(1, "timeout 600 \"$ORDEAL-board\" -- \"$ORDEAL\" run --target board --check --stop-after 1 "
              "--bug upgrade-wins --save kept " TESTS(200));
    OUT("FAIL");
    EXPECT(1, "\"$ORDEAL\" show kept/*/*.trace");
    OUT("violates");
}

/* A second board that is plugged in meanwhile takes part; nobody can tell from the traces. */
static void test_a_board_comes(void)
{
    EXPECT(0, "timeout 600 \"$ORDEAL-board\" --boards 2 --late 20000 -- \"$ORDEAL\" run "
              "--target board " TESTS(30) " -o board.trace");
    ERR("another board is there and takes part");
    EXPECT(0, "\"$ORDEAL\" run --target sim --sizes usual --harts 2 " TESTS(30) " -o sim.trace");
    EXPECT(0, "cmp board.trace sim.trace");
    EXPECT(2, "\"$ORDEAL-board\" --late 1 -- true");
    ERR("give --boards");
}

/* A signal to the board alone, one to all that ^C reaches: the program ends as without a board, and
 * says how far it came. */
static void test_interrupted(void)
{
    static const char *const whom[] = { "-INT $board", "-TERM $board", "-INT -$board",
                                        "-HUP $board", "-HUP -$board" };
    for (size_t i = 0; i < sizeof whom / sizeof *whom; i++) {
        EXPECT(130, "setsid \"$ORDEAL-board\" --log packets -- \"$ORDEAL\" run --target board "
                    "--check --no-save " TESTS(100000) " & board=$!; "
                    "until [ $(wc -c <packets) -gt 300000 ]; do "
                    "kill -0 $board || exit 9; sleep 0.1; done 2>wait; "
                    "kill %s; wait $board; status=$?; rm packets; exit $status", whom[i]);
        OUT(" fail=0 undecided=0 lost=0 ");
        OUT(" end=interrupted\n");
    }
}

/* Killed outright: whoever watched over the simulation is gone, and so is the board, but the
 * program says how far it came. */
static void test_killed(void)
{
    EXPECT(
        137,
        "setsid \"$ORDEAL-board\" --log packets -- sh -c '\"$ORDEAL\" run --target board "
        "--check --no-save --timeout 2 " TESTS(
            100000) "; echo status $? >ended' & board=$!; "
                    "until [ $(wc -c <packets) -gt 300000 ]; do "
                    "kill -0 $board || exit 9; sleep 0.1; done 2>wait; "
                    "kill -KILL $board; wait $board; status=$?; "
                    "for i in $(seq 600); do [ -s ended ] && break; sleep 0.1; done; exit $status");
    OUT(" fail=0 undecided=0 lost=0 ");
    OUT(" end=target\n");
    ERR("is connected");
    EXPECT(0, "cat ended");
    TEST_ASSERT_EQUAL_STRING("status 3\n", out);
}

/* timeout(1) does that: the command still has the time to end in order. */
static void test_asked_twice_at_once(void)
{
    EXPECT(7, "\"$ORDEAL-board\" -- sh -c 'trap \"sleep 1; exit 7\" TERM; echo >started; "
              "while :; do sleep 0.05; done' & board=$!; "
              "for i in $(seq 600); do [ -s started ] && break; sleep 0.1; done; "
              "kill -TERM $board; sleep 0.1; kill -TERM $board; wait $board");
}

/* Nobody is left to remove the sockets of the simulation: whoever comes next does. */
static void test_what_is_left_of_killed_simulations_goes(void)
{
    EXPECT(137, "mkdir t; export TMPDIR=$PWD/t; setsid \"$ORDEAL-board\" -- "
                "sh -c 'echo >started; sleep 100' & board=$!; "
                "for i in $(seq 600); do [ -s started ] && break; sleep 0.1; done; "
                "kill -KILL -$board; wait $board");
    EXPECT(0, "ls -A t | grep -qx 'board.ordeal-tmp-......'");
    EXPECT(0, "TMPDIR=$PWD/t \"$ORDEAL\" clean && ls -A t");
    OUT("removed ");
    EXPECT(0, "ls -A t");
    TEST_ASSERT_EQUAL_STRING("", out);
    EXPECT(0, "TMPDIR=$PWD/t \"$ORDEAL-board\" -- sh -c '[ $TMPDIR = $PWD/t ]' && ls -A t");
    TEST_ASSERT_EQUAL_STRING("", out);
}

/* Nothing of umockdev's ends the program without a word. */
static void test_no_place_for_sockets(void)
{
    EXPECT(0, "mkdir here; TMPDIR=here \"$ORDEAL-board\" -- \"$ORDEAL\" board list");
    OUT("00000001 ");
    EXPECT(3, "TMPDIR=/nowhere \"$ORDEAL-board\" -- true");
    ERR("no folder can be made in /nowhere: No such file or directory");
    EXPECT(3, "TMPDIR=$(printf /%%070d 0) \"$ORDEAL-board\" -- true");
    ERR("TMPDIR is too long");
}

static void test_firmware_that_is_none(void)
{
    EXPECT(0, "yes 00000013 | head -1100000 >big.hex; printf '00000013\n\033[31mx' >text.hex");
    EXPECT(2, "\"$ORDEAL-board\" --firmware big.hex -- true");
    ERR("big.hex:1048577: more words than any monitor has");
    EXPECT(2, "\"$ORDEAL-board\" --firmware text.hex -- true");
    ERR("text.hex:2: not a word of 8 hex digits");
}

/* What programs cannot know, the board says: what it waited for, and what was in its way. */
static void test_a_board_that_cannot_enumerate(void)
{
    EXPECT(3, "\"$ORDEAL-board\" --fault damage_in=1 -- \"$ORDEAL\" run --target board");
    ERR("no program sees the board: enumeration, first 8 bytes of the device descriptor: failed; "
        "given up after 16 resets and 80 requests that failed");
    ERR("packets from the device with a bit error\n");
    EXPECT(0, "\"$ORDEAL-board\" --fault all=0.05 -- \"$ORDEAL\" board list");
    OUT("00000001 usb=1-1 ready");
}

/* ---- unplugged ------------------------------------------------------------------------------- */

/* The cable is pulled when the board has sent 10,000 bytes: of three tests the first brings some
 * hundreds of them, the second 20,000. */
#define PULLED "--fault unplug@10000 "

static void run_three(int status, const char *board, const char *options)
{
    EXPECT(0, "printf 'ordeal 1\nP0 S[A]#1\nP0 L[B]\nP1 S[B]#1\nP1 L[A]\n' >first.test; "
              "{ echo ordeal 1; seq -f 'P0 S[A]#%%.0f' 600; yes 'P1 L[A]' | head -600; } >long.test; "
              "printf 'ordeal 1\nP0 CAS[A]?1#2\nP0 L[A]\nP1 S[B]#1\n' >last.test");
    EXPECT(status, "timeout 600 \"$ORDEAL-board\" %s -- \"$ORDEAL\" run --target board --check --no-save "
                   "--iterations 1 %s first.test long.test last.test", board, options);
    if (strstr(board, PULLED))
        ERR("1 frames in which the cable is pulled");
}

static void begins(const char *lines)
{
    TEST_ASSERT_EQUAL_STRING_LEN(lines, out, strlen(lines));
}

/* A board that keeps its power goes on where it was. One that has none but the cable's loses that
 * test, and it alone. The others do what they do without, cycle by cycle; the long one waits for
 * the cable, and may see other values then. */
static void test_a_test_is_lost_with_the_power(void)
{
    run_three(0, "--bus-powered", "-o whole.trace");
    OUT(" pass=3 fail=0 undecided=0 lost=0 ");
    run_three(0, PULLED, "-o kept.trace");
    OUT(" pass=3 fail=0 undecided=0 lost=0 ");
    run_three(3, PULLED "--bus-powered", "-o lost.trace");
    begins("LOST long.test#0 reason=\"the board was gone, and with it the test\"\ntests=3 ");
    OUT(" pass=2 fail=0 undecided=0 lost=1 ");
    OUT(" end=done\n");
    EXPECT(0, "for t in whole kept lost; do csplit -sz -f $t- $t.trace '/^ordeal 1/' '{*}'; done; "
              "cmp whole-00 kept-00 && cmp whole-02 kept-02 && "
              "cmp whole-00 lost-00 && cmp whole-02 lost-01 && ls whole-* kept-* lost-* | wc -l");
    TEST_ASSERT_EQUAL_STRING("8\n", out);
}

static void test_a_violation_is_graver_than_a_loss(void)
{
    static const char bug[] = "--bug cas-writes-on-mismatch"; /* of which the last test has one */
    char verdict[1024];
    run_three(1, "--bus-powered", bug);
    begins("FAIL last.test#0 ");
    snprintf(verdict, sizeof verdict, "\n%.*s\ntests=3 ", (int)strcspn(out, "\n"), out);
    run_three(1, PULLED "--bus-powered", bug);
    begins("LOST long.test#0 ");
    OUT(verdict);
    OUT(" pass=1 fail=1 undecided=0 lost=1 ");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_from_reset_to_verdict);
    RUN_TEST(test_the_same_over_jtag);
    RUN_TEST(test_flash);
    RUN_TEST(test_faults_cost_time_alone);
    RUN_TEST(test_faults_that_cannot_be);
    RUN_TEST(test_a_bug_is_found_and_explained);
    RUN_TEST(test_a_board_comes);
    RUN_TEST(test_interrupted);
    RUN_TEST(test_killed);
    RUN_TEST(test_asked_twice_at_once);
    RUN_TEST(test_what_is_left_of_killed_simulations_goes);
    RUN_TEST(test_no_place_for_sockets);
    RUN_TEST(test_firmware_that_is_none);
    RUN_TEST(test_a_board_that_cannot_enumerate);
    RUN_TEST(test_a_test_is_lost_with_the_power);
    RUN_TEST(test_a_violation_is_graver_than_a_loss);
    return UNITY_END();
}
