/* SPDX-License-Identifier: Apache-2.0 */
/* An unmodified libusb in a child process, and behind it the virtual host with a small device. The
 * child is this program with the name of a scenario; it speaks to the parent by letters on a pipe,
 * which make it unplug and plug the device. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libusb-1.0/libusb.h>

#include "unity.h"
#include "usb_bench.h"
#include "usb_mock.h"

/* ---- the child --------------------------------------------------------------------------- */

static libusb_context *context;
static libusb_device_handle *handle;
static uint8_t bytes[20000], back[20000];

#define CHECK(condition) do { \
    if (!(condition)) { \
        fprintf(stderr, "%s:%d: the child expected %s\n", __FILE__, __LINE__, #condition); \
        exit(1); \
    } } while (0)

#define CHECK_EQUAL(expected, got) do { \
    long expected_ = (long)(expected), got_ = (long)(got); \
    if (expected_ != got_) { \
        fprintf(stderr, "%s:%d: the child expected %ld for %s, got %ld\n", __FILE__, __LINE__, \
                expected_, #got, got_); \
        exit(1); \
    } } while (0)

static void open_device(void)
{
    handle = libusb_open_device_with_vid_pid(context, 0x1209, 0x0001);
    CHECK(handle);
    CHECK_EQUAL(0, libusb_claim_interface(handle, 0));
}

static int out(uint8_t *data, int length)
{
    int actual = -1, status = libusb_bulk_transfer(handle, 0x01, data, length, &actual, 20000);
    CHECK(status || actual == length);
    return status;
}

static int in(uint8_t *data, int length, int expected)
{
    int actual = -1, status = libusb_bulk_transfer(handle, 0x81, data, length, &actual, 20000);
    CHECK(status || actual == expected);
    return status;
}

static void child_list(void)
{
    libusb_device **devices;
    struct libusb_device_descriptor d;
    struct libusb_config_descriptor *config;
    CHECK_EQUAL(1, libusb_get_device_list(context, &devices));
    CHECK_EQUAL(1, libusb_get_bus_number(devices[0]));
    CHECK_EQUAL(LIBUSB_SPEED_FULL, libusb_get_device_speed(devices[0]));
    CHECK_EQUAL(0, libusb_get_device_descriptor(devices[0], &d));
    CHECK_EQUAL(0x1209, d.idVendor);
    CHECK_EQUAL(0x0001, d.idProduct);
    CHECK_EQUAL(0, libusb_get_active_config_descriptor(devices[0], &config));
    CHECK_EQUAL(2, config->interface[0].altsetting[0].bNumEndpoints);
    CHECK_EQUAL(0x81, config->interface[0].altsetting[0].endpoint[1].bEndpointAddress);
    libusb_free_config_descriptor(config);
    libusb_free_device_list(devices, 1);
}

static void child_control(void)
{
    char serial[40];
    int value = -1;
    open_device();
    CHECK_EQUAL(3, libusb_get_string_descriptor_ascii(handle, 3, (uint8_t *)serial, sizeof serial));
    CHECK(!strcmp(serial, "T-1"));
    CHECK_EQUAL(1000, libusb_control_transfer(handle, 0x40, DEVICE_VENDOR_OUT, 0, 0, bytes, 1000,
                                              9999));
    CHECK_EQUAL(1000, libusb_control_transfer(handle, 0xc0, DEVICE_VENDOR_IN, 0, 0, back, 1000,
                                              9999));
    CHECK(!memcmp(bytes, back, 1000));
    CHECK_EQUAL(LIBUSB_ERROR_PIPE, libusb_control_transfer(handle, 0xc0, 77, 0, 0, back, 10, 9999));
    CHECK_EQUAL(0, libusb_get_configuration(handle, &value));
    CHECK_EQUAL(1, value);
    CHECK_EQUAL(0, libusb_set_interface_alt_setting(handle, 0, 0));
    CHECK_EQUAL(LIBUSB_ERROR_NOT_FOUND, libusb_claim_interface(handle, 5));
}

static void child_bulk(void)
{
    open_device();
    for (int length = 1; length < (int)sizeof bytes; length = length * 3 + 1) {
        CHECK_EQUAL(0, out(bytes, length));
        CHECK_EQUAL(0, in(back, (int)sizeof back / 64 * 64, length));
        CHECK(!memcmp(bytes, back, (size_t)length));
    }
}

/* A halted endpoint, and the toggles when it goes on. */
static void child_halt(void)
{
    open_device();
    CHECK_EQUAL(0, out(bytes, 64));
    CHECK_EQUAL(0, in(back, 64, 64));
    CHECK_EQUAL(0, libusb_control_transfer(handle, 2, 3, 0, 0x81, NULL, 0, 9999));
    CHECK_EQUAL(LIBUSB_ERROR_PIPE, in(back, 64, 64));
    CHECK_EQUAL(0, libusb_clear_halt(handle, 0x81));
    CHECK_EQUAL(0, out(bytes, 100));
    CHECK_EQUAL(0, in(back, 128, 100));
    CHECK_EQUAL(0, libusb_reset_device(handle));
    CHECK_EQUAL(0, out(bytes, 100));
    CHECK_EQUAL(0, in(back, 128, 100));
}

enum { MANY = 8, SIZE = 1024, ENOUGH = 60 };
static int completed, cancelled, stopped;
static bool ending;                  /* a transfer that is cancelled may have taken some of it */
static uint32_t word;

static void stream(struct libusb_transfer *t)
{
    if (t->status == LIBUSB_TRANSFER_CANCELLED) {
        cancelled++;
        return;
    }
    CHECK_EQUAL(LIBUSB_TRANSFER_COMPLETED, t->status);
    CHECK_EQUAL(SIZE, t->actual_length);
    for (int i = 0; i < SIZE && !ending; i += 4, word++)
        CHECK(!memcmp(&word, t->buffer + i, 4));
    if (++completed <= ENOUGH)
        CHECK_EQUAL(0, libusb_submit_transfer(t));
    else
        stopped++;
}

/* Several in flight, in order; then those that are left are cancelled. The source is the
 * parent's. */
static void child_stream(void)
{
    static uint8_t buffers[MANY][SIZE];
    struct libusb_transfer *t[MANY];
    open_device();
    for (int i = 0; i < MANY; i++) {
        t[i] = libusb_alloc_transfer(0);
        libusb_fill_bulk_transfer(t[i], handle, 0x81, buffers[i], SIZE, stream, NULL, 0);
        CHECK_EQUAL(0, libusb_submit_transfer(t[i]));
    }
    while (completed < ENOUGH)
        CHECK_EQUAL(0, libusb_handle_events(context));
    ending = true;
    for (int i = 0; i < MANY; i++)
        libusb_cancel_transfer(t[i]);
    while (cancelled + stopped < MANY)
        CHECK_EQUAL(0, libusb_handle_events(context));
    for (int i = 0; i < MANY; i++)
        libusb_free_transfer(t[i]);
}

static void child_timeout(void)
{
    int actual;
    open_device();
    CHECK_EQUAL(LIBUSB_ERROR_TIMEOUT, libusb_bulk_transfer(handle, 0x81, back, 64, &actual, 50));
    CHECK_EQUAL(0, actual);
    CHECK_EQUAL(0, out(bytes, 64));
    CHECK_EQUAL(0, in(back, 64, 64));
}

static int arrived, left;

static int LIBUSB_CALL plugged(libusb_context *c, libusb_device *d, libusb_hotplug_event event,
                               void *u)
{
    (void)c, (void)d, (void)u;
    *(event == LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED ? &arrived : &left) += 1;
    return 0;
}

static void lost(struct libusb_transfer *t)
{
    *(int *)t->user_data = (int)t->status;
}

static void tell_parent(char letter)
{
    CHECK(write(3, &letter, 1) == 1);
}

static void child_hotplug(void)
{
    int status = -1;
    struct libusb_transfer *t = libusb_alloc_transfer(0);
    CHECK_EQUAL(0, libusb_hotplug_register_callback(context, LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED
        | LIBUSB_HOTPLUG_EVENT_DEVICE_LEFT, LIBUSB_HOTPLUG_ENUMERATE, 0x1209, 1,
        LIBUSB_HOTPLUG_MATCH_ANY, plugged, NULL, NULL));
    CHECK_EQUAL(1, arrived);
    open_device();
    libusb_fill_bulk_transfer(t, handle, 0x81, back, 64, lost, &status, 0);
    CHECK_EQUAL(0, libusb_submit_transfer(t));
    tell_parent('U');
    while (status < 0 || !left)
        CHECK_EQUAL(0, libusb_handle_events(context));
    CHECK_EQUAL(LIBUSB_TRANSFER_NO_DEVICE, status);
    CHECK_EQUAL(LIBUSB_ERROR_NO_DEVICE, libusb_submit_transfer(t));
    libusb_close(handle);
    CHECK(!libusb_open_device_with_vid_pid(context, 0x1209, 1));
    tell_parent('P');
    while (arrived < 2)
        CHECK_EQUAL(0, libusb_handle_events(context));
    open_device();
    CHECK_EQUAL(0, out(bytes, 300));
    CHECK_EQUAL(0, in(back, 320, 300));
    libusb_free_transfer(t);
}

static void ignore(struct libusb_transfer *t)
{
    (void)t;
}

/* It ends in the middle of everything. */
static void child_killed(void)
{
    open_device();
    for (int i = 0; i < 4; i++) {
        struct libusb_transfer *t = libusb_alloc_transfer(0);
        libusb_fill_bulk_transfer(t, handle, 0x81, back + 64 * i, 64, ignore, NULL, 0);
        CHECK_EQUAL(0, libusb_submit_transfer(t));
    }
    struct timeval soon = { 0, 5000 };
    libusb_handle_events_timeout(context, &soon);
    raise(SIGKILL);
}

static void child_two(void)
{
    libusb_device **devices;
    CHECK_EQUAL(2, libusb_get_device_list(context, &devices));
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(0, libusb_open(devices[i], &handle));
        CHECK_EQUAL(0, libusb_claim_interface(handle, 0));
        libusb_device_handle *other;
        CHECK_EQUAL(0, libusb_open(devices[i], &other));
        CHECK_EQUAL(LIBUSB_ERROR_BUSY, libusb_claim_interface(other, 0));
        libusb_close(other);
        CHECK_EQUAL(0, out(bytes, 500 + i));
        CHECK_EQUAL(0, in(back, 512, 500 + i));
        CHECK(!memcmp(bytes, back, 500));
        if (i == 0)
            libusb_close(handle);
    }
    libusb_free_device_list(devices, 1);
}

static const struct { const char *name; void (*run)(void); } scenarios[] = {
    { "list", child_list }, { "control", child_control }, { "bulk", child_bulk },
    { "halt", child_halt }, { "stream", child_stream }, { "timeout", child_timeout },
    { "hotplug", child_hotplug }, { "killed", child_killed }, { "two", child_two }
};

static int child(const char *name)
{
    alarm(120);
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    CHECK_EQUAL(0, libusb_init(&context));
    for (unsigned i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (!strcmp(scenarios[i].name, name)) {
            scenarios[i].run();
            if (handle)
                libusb_close(handle);
            libusb_exit(context);
            return 0;
        }
    fprintf(stderr, "no scenario '%s'\n", name);
    return 2;
}

/* ---- the parent -------------------------------------------------------------------------- */

static struct usb_mock *mock;
static struct usb_mock_port *port, *second_port;
static struct {
    struct usb_host *host;
    struct usb_bus bus;
    struct usb_device device;
    struct usb_pins pins;
} second;

void setUp(void)
{
    bench_set_up();
    bench_start();
    char why[200] = "";
    port = usb_mock_plug(mock, &bench.bus, why, sizeof why);
    TEST_ASSERT_NOT_NULL_MESSAGE(port, why);
    usb_mock_poll(port);
    second_port = NULL;
}

static void go_on(void)
{
    for (unsigned i = 0; i < USB_MOCK_SAMPLES; i++) {
        bench_sample();
        if (second_port)
            second.pins = usb_device_sample(&second.device,
                                            usb_host_sample(second.host, second.pins));
    }
    usb_mock_poll(port);
    if (second_port)
        usb_mock_poll(second_port);
}

void tearDown(void)
{
    for (unsigned i = 0; i < 1000 && usb_mock_opened(port); i++) {
        usb_mock_wait(port, 1);
        go_on();
    }
    TEST_ASSERT_FALSE_MESSAGE(usb_mock_opened(port), "something of the child's is left");
    usb_host_plug(bench.host, false);
    for (unsigned i = 0; i < 10; i++)
        go_on();
    usb_mock_unplug(port);
    bench_tear_down();
}

/* The status of the child, as of waitpid. The bus goes on as long as it lives. */
static int run(const char *scenario)
{
    int link[2], status = 0;
    char letter;
    TEST_ASSERT_EQUAL(0, pipe2(link, O_NONBLOCK));
    pid_t pid = fork();
    if (pid == 0) {
        dup2(link[1], 3);
        execl("/proc/self/exe", "test_usb_mock", scenario, (char *)NULL);
        _exit(127);
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        go_on();
        if (read(link[0], &letter, 1) == 1)
            usb_host_plug(bench.host, letter == 'P');
    }
    close(link[0]);
    close(link[1]);
    return status;
}

static void test_libusb_lists_it(void)
{
    TEST_ASSERT_EQUAL(0, run("list"));
}

static void test_control_transfers(void)
{
    TEST_ASSERT_EQUAL(0, run("control"));
}

static void test_bulk_transfers(void)
{
    TEST_ASSERT_EQUAL(0, run("bulk"));
}

static void test_halt_and_reset(void)
{
    TEST_ASSERT_EQUAL(0, run("halt"));
    TEST_ASSERT_EQUAL(2, bench.device.resets);
}

static void test_a_stream(void)
{
    bench.device.source = true;
    TEST_ASSERT_EQUAL(0, run("stream"));
}

static void test_a_timeout(void)
{
    TEST_ASSERT_EQUAL(0, run("timeout"));
}

static void test_unplug_and_plug(void)
{
    TEST_ASSERT_EQUAL(0, run("hotplug"));
}

static void test_a_child_that_dies(void)
{
    for (unsigned i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL(SIGKILL, WTERMSIG(run("killed")));
    for (unsigned i = 0; i < 1000 && usb_mock_opened(port); i++) {
        usb_mock_wait(port, 1);
        go_on();
    }
    TEST_ASSERT_EQUAL(0, run("bulk"));
}

static void test_with_faults_on_the_bus(void)
{
    char why[200];
    bench_tear_down();
    bench.options.fault = &bench.fault;
    bench.options.strikes = 10;
    TEST_ASSERT_TRUE(usb_fault_parse(&bench.fault, "all=0.01", why, sizeof why));
    usb_device_init(&bench.device, 0, 0, 1);
    bench_start();
    TEST_ASSERT_EQUAL(0, run("bulk"));
    uint64_t faults = 0;
    for (unsigned k = 0; k < USB_FAULT_KINDS; k++)
        faults += bench.fault.count[k];
    TEST_ASSERT_GREATER_THAN(20, faults);
}

static void test_two_boards(void)
{
    char why[200] = "";
    usb_device_init(&second.device, 0, 0, 2);
    second.host = usb_host_new(NULL);
    usb_bus_init(&second.bus, second.host);
    second_port = usb_mock_plug(mock, &second.bus, why, sizeof why);
    TEST_ASSERT_NOT_NULL_MESSAGE(second_port, why);
    for (unsigned i = 0; i < 2000 && second.bus.state != USB_BUS_READY; i++)
        go_on();
    TEST_ASSERT_EQUAL(0, run("two"));
    usb_mock_unplug(second_port);
    second_port = NULL;
    usb_host_free(second.host);
}

int main(int argc, char **argv)
{
    char why[200] = "";
    if (argc > 1)
        return child(argv[1]);
    mock = usb_mock_new(why, sizeof why);
    if (!mock) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    usb_mock_environment(mock);
    UNITY_BEGIN();
    RUN_TEST(test_libusb_lists_it);
    RUN_TEST(test_control_transfers);
    RUN_TEST(test_bulk_transfers);
    RUN_TEST(test_halt_and_reset);
    RUN_TEST(test_a_stream);
    RUN_TEST(test_a_timeout);
    RUN_TEST(test_unplug_and_plug);
    RUN_TEST(test_a_child_that_dies);
    RUN_TEST(test_with_faults_on_the_bus);
    RUN_TEST(test_two_boards);
    usb_mock_free(mock);
    return UNITY_END();
}
