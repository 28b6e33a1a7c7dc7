/* SPDX-License-Identifier: Apache-2.0 */
/* OpenOCD, as it comes, on the simulated board: a server of remote_bitbang around the model, the
 * scripts of tests/openocd/ in a client of it, and gdb on top. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "jtag_port.h"
#include "jtag_rig.h"
#include "unity.h"

enum { LIMIT = 600 }; /* seconds, for a machine that is busy with other things */

static struct jtag_rig rig;
static struct jtag_port *port;
static pthread_t server;
static atomic_bool over;
static char directory[] = "/tmp/ordeal-openocd-XXXXXX", text[1 << 16];
static struct child openocd, gdb;
static bool lean;        /* the board is the smallest */

/* The board runs on while nobody asks anything of it, but slowly: it is not alone here. */
static void *serve(void *unused)
{
    struct jtag_pins pins;
    while (!over) {
        while (jtag_port_poll(port, &pins, rig.tdo)) {
            rig.pins = (struct board_jtag){ pins.tck, pins.tms, pins.tdi, pins.trst };
            rig.model->jtag(rig.board, rig.pins);
            for (uint32_t i = 0; i < 2 * rig.model->divider; i++)
                rig.model->sample(rig.board, USB_SE0);
            rig.tdo = rig.model->jtag(rig.board, rig.pins);
        }
        for (uint32_t i = 0; i < 200 * rig.model->divider; i++)
            rig.model->sample(rig.board, USB_SE0);
        jtag_port_wait(port, 1);
    }
    return unused;
}

void setUp(void)
{
    char error[256] = "";
    if (lean)
        jtag_rig_open_lean(&rig);
    else
        jtag_rig_open(&rig);
    port = jtag_port_open(0, error, sizeof error);
    TEST_ASSERT_NOT_NULL_MESSAGE(port, error);
    over = false;
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&server, NULL, serve, NULL));
}

void tearDown(void)
{
    child_stop(&gdb);
    child_stop(&openocd);
    over = true;
    pthread_join(server, NULL);
    jtag_port_close(port);
    const char *assertion = rig.model->assertion(rig.board);
    TEST_ASSERT_NULL_MESSAGE(assertion, assertion);
    jtag_rig_close(&rig);
}

static const char *file(const char *name)
{
    static char path[4][128];
    static uint32_t next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", directory, name);
    return p;
}

static const char *firmware(void)
{
    static char path[4096];
    const char *ordeal = getenv("ORDEAL");
    const char *slash = ordeal ? strrchr(ordeal, '/') : NULL;
    snprintf(path, sizeof path, "%.*s/firmware/firmware.elf", slash ? (int)(slash - ordeal) : 5,
             slash ? ordeal : "build");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, access(path, R_OK), path);
    return path;
}

static void read_log(const char *name)
{
    FILE *f = fopen(file(name), "r");
    text[0] = '\0';
    if (!f)
        return;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
}

static void start_openocd(const char *ports, const char *settings, const char *script)
{
    char set[1024], last[1024];
    struct why why;
    snprintf(set, sizeof set, "set ORDEAL_JTAG %u; set ORDEAL_HARTS %d; %s", jtag_port_number(port),
             RIG_HARTS, settings);
    snprintf(last, sizeof last, "%s", script);
    char *argv[] = { "openocd", "-c", set, "-c", (char *)ports, "-f", "tcl/ordeal-sim.cfg",
                     "-c", "init", "-f", "tests/openocd/common.tcl", "-c", last, NULL };
    TEST_ASSERT_TRUE_MESSAGE(child_start(&openocd, argv, NULL, file("openocd.log"), &why),
                             why.text);
}

static void expect_end(struct child *c, const char *log)
{
    enum child_end end_of_it = child_wait(c, LIMIT);
    read_log(log);
    size_t length = strlen(text);
    const char *end = text + (length > 1500 ? length - 1500 : 0);
    TEST_ASSERT_EQUAL_INT_MESSAGE(CHILD_ENDED, end_of_it, end);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, c->status, end);
}

/* A script of tests/openocd/, to its end. */
static void run_script(const char *name, const char *settings)
{
    char script[256];
    snprintf(script, sizeof script,
             "source tests/openocd/%s.tcl; echo {all as it should be}; shutdown", name);
    start_openocd("gdb_port disabled; tcl_port disabled; telnet_port disabled", settings, script);
    expect_end(&openocd, "openocd.log");
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "all as it should be"), text);
}

static void test_harts(void)
{
    run_script("harts", "");
    TEST_ASSERT_NOT_NULL(strstr(text, "found 3 harts"));
    TEST_ASSERT_NOT_NULL(strstr(text, "hart 0: XLEN=32, misa=0x40001101"));
    TEST_ASSERT_NOT_NULL(strstr(text, "hart 1: XLEN=32, misa=0x40001101"));
    TEST_ASSERT_NOT_NULL(strstr(text, "hart 2: XLEN=32, misa=0x40000100"));
    TEST_ASSERT_NULL_MESSAGE(strstr(text, "Error"), text);
}

static void test_memory(void) { run_script("memory", ""); }
static void test_breakpoints(void) { run_script("breakpoints", ""); }
static void test_resets(void) { run_script("resets", ""); }
static void test_a_test_by_hand(void) { run_script("machine", ""); }

static void test_images(void)
{
    char settings[256];
    FILE *f = fopen(file("image.bin"), "w");
    TEST_ASSERT_NOT_NULL(f);
    for (uint32_t i = 0; i < 203; i++) /* no whole number of words */
        fputc((int)(i * 7 & 0xff), f);
    fclose(f);
    snprintf(settings, sizeof settings, "set IMAGE %s", file("image.bin"));
    run_script("images", settings);
}

static void test_smallest_board(void)
{
    char settings[4200];
    snprintf(settings, sizeof settings, "set FIRMWARE %s", firmware());
    run_script("lean", settings);
    TEST_ASSERT_NOT_NULL(strstr(text, "found 3 harts"));
    TEST_ASSERT_NOT_NULL(strstr(text, "hart 1: XLEN=32, misa=0x40000101"));
}

/* As far as the adapter, which is not there: a product of that number does not exist. */
static void test_configurations_of_the_bench(void)
{
    static const char *const configs[] = { "tcl/ordeal-ftdi.cfg", "tcl/ecp5-ftdi.cfg" };
    for (int i = 0; i < 2; i++) {
        char *argv[] = { "openocd", "-c", "set ORDEAL_FTDI_PID 0xffff", "-f", (char *)configs[i],
                         "-c", "init", NULL };
        struct why why;
        TEST_ASSERT_TRUE_MESSAGE(child_start(&openocd, argv, NULL, file("openocd.log"), &why),
                                 why.text);
        child_wait(&openocd, LIMIT);
        read_log("openocd.log");
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "unable to open ftdi device with vid 0403, pid "
                                                  "ffff"), text);
        child_stop(&openocd);
    }
}

static void test_firmware(void)
{
    char settings[4200];
    snprintf(settings, sizeof settings, "set FIRMWARE %s", firmware());
    run_script("firmware", settings);
}

/* The number of the port on which the server for a target listens. */
static uint32_t gdb_port(const char *target)
{
    char start[128];
    snprintf(start, sizeof start, "starting gdb server for %s ", target);
    for (int i = 0; i < LIMIT * 10; i++) {
        uint32_t number;
        read_log("openocd.log");
        const char *at = strstr(text, start);
        at = at ? strstr(at, "Listening on port ") : NULL;
        if (at && sscanf(at, "Listening on port %u for gdb", &number) == 1)
            return number;
        if (!child_running(&openocd))
            break;
        usleep(100000);
    }
    TEST_FAIL_MESSAGE(text);
    return 0;
}

static void run_gdb(uint32_t number, const char *program, const char *const *commands)
{
    char connect[64];
    char *argv[64] = { "gdb-multiarch", "-nx", "-batch", "-ex", "set remotetimeout 120", "-ex",
                       connect };
    uint32_t n = 7;
    struct why why;
    snprintf(connect, sizeof connect, "target extended-remote 127.0.0.1:%u", number);
    while (*commands) {
        argv[n++] = "-ex";
        argv[n++] = (char *)*commands++;
    }
    argv[n++] = (char *)program;
    argv[n] = NULL;
    TEST_ASSERT_TRUE_MESSAGE(child_start(&gdb, argv, NULL, file("gdb.log"), &why), why.text);
    expect_end(&gdb, "gdb.log");
}

static void has(const char *part)
{
    char message[3000];
    snprintf(message, sizeof message, "'%s' is not in: %.2800s", part, text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, part), message);
}

static void test_gdb_breaks_in_firmware(void)
{
    static const char *const commands[] = {
        "monitor reset halt", "load", "break main", "continue", "print $pc == &main",
        "stepi", "print $pc == (char *)&main + 4", "info registers pc", "delete", "detach", NULL
    };
    start_openocd("gdb_port 0; tcl_port disabled; telnet_port disabled", "", "");
    run_gdb(gdb_port("ordeal.monitor"), firmware(), commands);
    has("Breakpoint 1, ");
    has("$1 = 1");
    has("$2 = 1");
}

/* Harts of the machine as threads, which stop together. */
static void test_gdb_sees_harts_as_threads(void)
{
    static const char *const commands[] = {
        "info threads", "hbreak *0x10", "continue", "print/x $pc", "print $a0 > 0", "x/i $pc",
        "stepi", "print/x $pc", "thread 2", "print $a0 > 0", "x/2xw 0x80000000", "detach", NULL
    };
    start_openocd("gdb_port 0; tcl_port disabled; telnet_port disabled", "set ORDEAL_SMP 1",
                  "start_machine; targets ordeal.hart0; halt");
    run_gdb(gdb_port("ordeal.hart0"), "-q", commands);
    has("Thread 1 ");
    has("Thread 2 ");
    has("$1 = 0x10");
    has("lw");
    has("$3 = 0x14");
}

int main(void)
{
    if (!mkdtemp(directory)) {
        perror(directory);
        return 1;
    }
    UNITY_BEGIN();
    RUN_TEST(test_harts);
    RUN_TEST(test_memory);
    RUN_TEST(test_breakpoints);
    RUN_TEST(test_images);
    RUN_TEST(test_resets);
    RUN_TEST(test_a_test_by_hand);
    RUN_TEST(test_configurations_of_the_bench);
    RUN_TEST(test_firmware);
    RUN_TEST(test_gdb_breaks_in_firmware);
    RUN_TEST(test_gdb_sees_harts_as_threads);
    lean = true;
    RUN_TEST(test_smallest_board);
    int failed = UNITY_END();
    if (!failed) { /* what went wrong can be read there */
        static const char *const names[] = { "openocd.log", "gdb.log", "image.bin" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            unlink(file(names[i]));
        rmdir(directory);
    }
    return failed;
}
