/* SPDX-License-Identifier: Apache-2.0 */
/* The program against things on USB that say they are boards and are not: descriptors of all
 * kinds, and a device on simulated wires that answers nothing, nonsense, or without an end. Each
 * is an error message and exit status 3, within the time that was given. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <umockdev.h>

#include "shell.h"
#include "usb_bench.h"
#include "usb_mock.h"

void setUp(void) {}
void tearDown(void) {}

/* ---- descriptors, and nothing behind them ---------------------------------------------------- */

#define DEVICE "12010002ff0000400912010000010001" "0001"
/* One configuration, whose length is `total`: an interface and what follows it. */
#define CONFIG(total, endpoints, rest) "0902" total "0101008032" \
                                       "09040000" endpoints "ff000000" rest
#define OUT_64 "0705010240" "0000"
#define IN_64 "0705810240" "0000"

static UMockdevTestbed *testbed;

static void plug(const char *descriptors)
{
    char text[2048];
    GError *error = NULL;
    snprintf(text, sizeof text,
             "P: /devices/pci0/usb1/1-1\nN: bus/usb/001/002\nE: SUBSYSTEM=usb\n"
             "E: DEVTYPE=usb_device\nE: BUSNUM=001\nE: DEVNUM=002\n"
             "E: DEVNAME=/dev/bus/usb/001/002\nE: MAJOR=189\nE: MINOR=1\n"
             "A: busnum=1\\n\nA: devnum=2\\n\nA: bConfigurationValue=1\\n\nA: speed=12\\n\n"
             "A: idVendor=1209\\n\nA: idProduct=0001\\n\nH: descriptors=%s\n", descriptors);
    TEST_ASSERT_TRUE_MESSAGE(umockdev_testbed_add_from_string(testbed, text, &error),
                             error ? error->message : "");
}

static void unplug(void) { umockdev_testbed_remove_device(testbed, "/sys/devices/pci0/usb1/1-1"); }

static void test_wrong_endpoints(void)
{
    static const char *const wrong[] = {
        DEVICE CONFIG("1900", "01", OUT_64),             /* one */
        DEVICE CONFIG("2000", "02", OUT_64 OUT_64),      /* two of a direction */
        DEVICE CONFIG("1200", "00", ""),                 /* none */
        DEVICE CONFIG("2000", "02", "07050103400000" "07058103400000"), /* interrupt */
        DEVICE CONFIG("2000", "02", "07050102080000" "07058102080000"), /* small packets */
        DEVICE CONFIG("0900", "02", OUT_64 IN_64),       /* behind the end */
    };
    testbed = umockdev_testbed_new();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        plug(wrong[i]);
        EXPECT(3, "$ORDEAL run --target board");
        ERR("the board at USB 1-1 has not the endpoints it should have");
        EXPECT(0, "$ORDEAL board list");
        OUT("problem: the board at USB 1-1 has not the endpoints");
        unplug();
    }
    g_object_unref(testbed);
}

/* Nobody knows its endpoints while it is enumerated, or when it has just gone: its firmware is not
 * to blame. */
static void test_not_set_up_yet(void)
{
    testbed = umockdev_testbed_new();
    plug(DEVICE CONFIG("2000", "02", OUT_64 IN_64));
    umockdev_testbed_set_attribute(testbed, "/sys/devices/pci0/usb1/1-1", "bConfigurationValue",
                                   "");
    EXPECT(3, "$ORDEAL run --target board");
    ERR("the board at USB 1-1 was unplugged, or is not set up yet");
    EXPECT(0, "$ORDEAL board list");
    OUT("was unplugged, or is not set up yet");
    TEST_ASSERT_NULL(strstr(out, "flash"));
    unplug();
    g_object_unref(testbed);
}

/* What libusb makes of these is its own affair. */
static void test_broken_descriptors(void)
{
    static const char *const broken[] = {
        DEVICE CONFIG("2000", "ff", OUT_64 IN_64),       /* more than there are */
        DEVICE CONFIG("ffff", "02", OUT_64 IN_64),       /* longer than it is */
        DEVICE CONFIG("2000", "02", "00050102400000" "ff058102400000"), /* lengths of no length */
        DEVICE "0902",                                   /* cut off */
        DEVICE,
        DEVICE "0902200000018032",
    };
    testbed = umockdev_testbed_new();
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        plug(broken[i]);
        EXPECT(3, "$ORDEAL run --target board --timeout 1");
        ERR("ordeal run: board: ");
        EXPECT(0, "$ORDEAL board list");
        unplug();
    }
    g_object_unref(testbed);
}

/* As somebody who is not root, and may not write to the device. */
static void test_no_permission(void)
{
    testbed = umockdev_testbed_new();
    plug(DEVICE CONFIG("2000", "02", OUT_64 IN_64));
    EXPECT(0, "chmod a+rx . && cp $ORDEAL ordeal && chmod -R a+rwX $UMOCKDEV_DIR && "
              "chmod 0400 $UMOCKDEV_DIR/dev/bus/usb/001/002");
    const char *who = getuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : "";
    EXPECT(3, "%s./ordeal run --target board", who);
    ERR("no permission to use the board at USB 1");
    ERR("70-ordeal.rules");
    EXPECT(0, "%s./ordeal board list", who);
    OUT("- usb=1");
    OUT("problem: no permission");
    unplug();
    g_object_unref(testbed);
}

/* ---- a device that misbehaves ---------------------------------------------------------------- */

static struct usb_mock_port *port;

static void go_on(void)
{
    for (unsigned i = 0; i < USB_MOCK_SAMPLES; i++)
        bench_sample();
    usb_mock_poll(port);
}

/* The bus goes on while the command runs. */
static int run(const char *command)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(sh("%s", command));
    while (waitpid(pid, &status, WNOHANG) == 0)
        go_on();
    slurp("out", out, sizeof out);
    slurp("err", err, sizeof err);
    for (int i = 0; i < 1000 && usb_mock_opened(port); i++) {
        usb_mock_wait(port, 1);
        go_on();
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void is_refused(const char *reason)
{
    expect(3, run("$ORDEAL run --target board --timeout 1"), __LINE__);
    contains(err, reason, __LINE__);
}

static void begin(void)
{
    bench_set_up();
    bench_start();
    char why[200] = "";
    static struct usb_mock *mock;
    if (!mock) {
        mock = usb_mock_new(why, sizeof why);
        TEST_ASSERT_NOT_NULL_MESSAGE(mock, why);
        usb_mock_environment(mock);
    }
    port = usb_mock_plug(mock, &bench.bus, why, sizeof why);
    TEST_ASSERT_NOT_NULL_MESSAGE(port, why);
    usb_mock_poll(port);
}

static void end(void)
{
    usb_host_plug(bench.host, false);
    for (int i = 0; i < 10; i++)
        go_on();
    usb_mock_unplug(port);
    bench_tear_down();
}

static void test_list(void)
{
    begin();
    expect(0, run("$ORDEAL board list"), __LINE__);
    TEST_ASSERT_EQUAL_STRING("T-1 usb=1-1 ready\n", out);
    expect(0, run("$ORDEAL board list --json"), __LINE__);
    TEST_ASSERT_EQUAL_STRING("{\"serial\":\"T-1\",\"usb\":\"1-1\",\"ready\":true}\n", out);
    expect(3, run("$ORDEAL board info --serial T-2"), __LINE__);
    ERR("no board with serial number 'T-2'");
    end();
}

static void test_an_echo_is_no_board(void)
{
    begin();
    is_refused("has not answered for 1 s");
    end();
}

static void test_silence(void)
{
    begin();
    bench.device.sink = true;
    is_refused("has not answered for 1 s");
    end();
}

static void test_an_endless_stream(void)
{
    begin();
    bench.device.source = true;
    bench.device.sink = true;
    is_refused("has not answered for 1 s");
    end();
}

static void test_packets_that_are_too_long(void)
{
    begin();
    bench.device.source = true;
    bench.device.extra = 8;
    expect(3, run("$ORDEAL run --target board --timeout 1"), __LINE__);
    end();
}

static void test_a_broken_checksum(void)
{
    begin();
    bench.device.damage = true;
    expect(3, run("$ORDEAL run --target board --timeout 1"), __LINE__);
    end();
}

int main(void)
{
    const char *program = getenv("ORDEAL");
    char directory[] = "/tmp/ordeal-board-XXXXXX", path[4096], clean[64];
    if (!program || !realpath(program, path) || !mkdtemp(directory) || chdir(directory) != 0) {
        fprintf(stderr, "test_board_usb: ORDEAL names no program\n");
        return 1;
    }
    setenv("ORDEAL", path, 1);
    setenv("LD_PRELOAD", "libumockdev-preload.so.0", 1); /* of those that this one starts */
    UNITY_BEGIN();
    RUN_TEST(test_wrong_endpoints);
    RUN_TEST(test_not_set_up_yet);
    RUN_TEST(test_broken_descriptors);
    RUN_TEST(test_no_permission);
    RUN_TEST(test_list);
    RUN_TEST(test_an_echo_is_no_board);
    RUN_TEST(test_silence);
    RUN_TEST(test_an_endless_stream);
    RUN_TEST(test_packets_that_are_too_long);
    RUN_TEST(test_a_broken_checksum);
    int failures = UNITY_END();
    snprintf(clean, sizeof clean, "rm -rf '%s'", directory);
    return system(clean) != 0 || failures;
}
