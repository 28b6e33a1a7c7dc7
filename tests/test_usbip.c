/* SPDX-License-Identifier: Apache-2.0 */
/* The usbip server before a small device: a client that speaks the protocol byte by byte, one that
 * breaks it, and Linux's own `usbip list`. Bus and server go on whenever the client waits. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board_usbip.h"
#include "unity.h"
#include "usb_bench.h"

static struct board_usbip *server;
static double seconds; /* its clock */

static double clock_of_test(void) { return seconds; }
static uint32_t seqnum;

void setUp(void)
{
    char why[200] = "";
    bench_set_up();
    bench_start();
    server = board_usbip_new(&bench.bus, 0, why, sizeof why);
    TEST_ASSERT_NOT_NULL_MESSAGE(server, why);
    board_usbip_clock(server, clock_of_test);
    seqnum = 100;
}

void tearDown(void)
{
    board_usbip_free(server);
    bench_tear_down();
}

static void go_on(void)
{
    for (unsigned i = 0; i < BOARD_USBIP_SAMPLES; i++)
        bench_sample();
    board_usbip_poll(server);
}

/* ---- a client ---------------------------------------------------------------------------- */

static int dial(void)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(board_usbip_port(server)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    TEST_ASSERT_EQUAL(0, connect(fd, (struct sockaddr *)&address, sizeof address));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static void say(int fd, const void *bytes, size_t length)
{
    for (size_t sent = 0; sent < length; ) {
        ssize_t n = send(fd, (const char *)bytes + sent, length - sent, MSG_NOSIGNAL);
        if (n > 0)
            sent += (size_t)n;
        else
            go_on();
    }
}

/* So many bytes, or less if the server closes; 0 at once then. */
static size_t hear(int fd, void *bytes, size_t length)
{
    size_t have = 0;
    for (unsigned i = 0; i < 200000 && have < length; i++) {
        ssize_t n = recv(fd, (char *)bytes + have, length - have, 0);
        if (n == 0 || (n < 0 && errno == ECONNRESET))
            return have;
        if (n > 0)
            have += (size_t)n;
        else
            go_on();
    }
    TEST_ASSERT_EQUAL_MESSAGE(length, have, "no answer within two seconds of the bus");
    return have;
}

static void put32(uint8_t *at, uint32_t value)
{
    value = htonl(value);
    memcpy(at, &value, 4);
}

static uint32_t get32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return ntohl(value);
}

static uint32_t import(int fd, const char *busid)
{
    uint8_t request[40] = { 0x01, 0x11, 0x80, 0x03 }, reply[8 + 312];
    strcpy((char *)request + 8, busid);
    say(fd, request, sizeof request);
    TEST_ASSERT_EQUAL(8, hear(fd, reply, 8));
    TEST_ASSERT_EQUAL_HEX32(0x01110003, get32(reply));
    if (get32(reply + 4) == 0)
        TEST_ASSERT_EQUAL(312, hear(fd, reply + 8, 312));
    return get32(reply + 4);
}

static int attach(void)
{
    int fd = dial();
    TEST_ASSERT_EQUAL(0, import(fd, "1-1"));
    TEST_ASSERT_TRUE(board_usbip_attached(server));
    return fd;
}

static uint32_t submit(int fd, bool in, uint32_t endpoint, uint32_t flags, const uint8_t *setup,
                       const void *bytes, uint32_t length)
{
    uint8_t request[48] = { 0 };
    put32(request, 1);
    put32(request + 4, ++seqnum);
    put32(request + 8, 0x10002);
    put32(request + 12, in);
    put32(request + 16, endpoint);
    put32(request + 20, flags);
    put32(request + 24, length);
    if (setup)
        memcpy(request + 40, setup, 8);
    say(fd, request, sizeof request);
    if (!in)
        say(fd, bytes, length);
    return seqnum;
}

struct ret {
    uint32_t command, seqnum, actual;
    int status;
};

static struct ret hear_ret(int fd, bool in, void *bytes)
{
    uint8_t reply[48];
    TEST_ASSERT_EQUAL(48, hear(fd, reply, 48));
    struct ret r = { get32(reply), get32(reply + 4), get32(reply + 24), (int)get32(reply + 20) };
    if (r.command == 3 && in && r.actual)
        TEST_ASSERT_EQUAL(r.actual, hear(fd, bytes, r.actual));
    return r;
}

static struct ret transfer(int fd, bool in, uint32_t endpoint, const uint8_t *setup, void *bytes,
                           uint32_t length)
{
    uint32_t number = submit(fd, in, endpoint, 0, setup, bytes, length);
    struct ret r = hear_ret(fd, in, bytes);
    TEST_ASSERT_EQUAL(3, r.command);
    TEST_ASSERT_EQUAL(number, r.seqnum);
    return r;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void test_the_list(void)
{
    static const uint8_t request[8] = { 0x01, 0x11, 0x80, 0x05 };
    static const uint8_t tail[] = {
        0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0x12, 0x09, 0x00, 0x01, 0x01, 0x00, 0xff, 0, 0, 1, 1, 1,
        0xff, 0, 0, 0
    };
    uint8_t reply[400];
    int fd = dial();
    say(fd, request, 3);             /* in pieces */
    go_on();
    say(fd, request + 3, 5);
    TEST_ASSERT_EQUAL(12 + 256 + 32 + sizeof tail, hear(fd, reply, sizeof reply)); /* and closes */
    TEST_ASSERT_EQUAL_HEX32(0x01110005, get32(reply));
    TEST_ASSERT_EQUAL(0, get32(reply + 4));
    TEST_ASSERT_EQUAL(1, get32(reply + 8));
    TEST_ASSERT_EQUAL_STRING("1-1", (char *)reply + 12 + 256);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(tail, reply + 12 + 256 + 32, sizeof tail);
    close(fd);
    usb_host_plug(bench.host, false);
    bench_milliseconds(1);
    fd = dial();
    say(fd, request, 8);
    TEST_ASSERT_EQUAL(12, hear(fd, reply, sizeof reply));
    TEST_ASSERT_EQUAL(0, get32(reply + 8));
    close(fd);
}

static void test_import_once(void)
{
    int fd = dial();
    TEST_ASSERT_NOT_EQUAL(0, import(fd, "2-1"));
    close(fd);
    fd = attach();
    int other = dial();
    TEST_ASSERT_EQUAL(2, import(other, "1-1"));
    close(other);
    close(fd);
    for (unsigned i = 0; i < 10 && board_usbip_attached(server); i++)
        go_on();
    TEST_ASSERT_FALSE(board_usbip_attached(server));
    close(attach());                 /* and again */
}

static void test_control_and_bulk(void)
{
    static const uint8_t get_device[8] = { 0x80, 6, 0, 1, 0, 0, 64, 0 };
    static const uint8_t bad[8] = { 0x80, 6, 0, 9, 0, 0, 64, 0 };
    static const uint8_t configure[8] = { 0, 9, 1, 0, 0, 0, 0, 0 };
    static const uint8_t address[8] = { 0, 5, 9, 0, 0, 0, 0, 0 };
    uint8_t bytes[3000], back[3072];
    int fd = attach();
    struct ret r = transfer(fd, true, 0, get_device, bytes, 64);
    TEST_ASSERT_EQUAL(0, r.status);
    TEST_ASSERT_EQUAL(18, r.actual);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(usb_device_descriptor, bytes, 18);
    TEST_ASSERT_EQUAL(-EPIPE, transfer(fd, true, 0, bad, bytes, 64).status);
    TEST_ASSERT_EQUAL(0, transfer(fd, false, 0, configure, NULL, 0).status);
    TEST_ASSERT_EQUAL(0, transfer(fd, false, 0, address, NULL, 0).status); /* stays here */
    bench_fill(bytes, sizeof bytes);
    r = transfer(fd, false, 1, NULL, bytes, sizeof bytes);
    TEST_ASSERT_EQUAL(0, r.status);
    TEST_ASSERT_EQUAL(sizeof bytes, r.actual);
    r = transfer(fd, true, 1, NULL, back, sizeof back);
    TEST_ASSERT_EQUAL(0, r.status);
    TEST_ASSERT_EQUAL(sizeof bytes, r.actual);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(bytes, back, sizeof bytes);
    close(fd);
}

static void test_vendor_requests_with_data(void)
{
    static const uint8_t out[8] = { 0x40, DEVICE_VENDOR_OUT, 0, 0, 0, 0, 200, 0 };
    static const uint8_t in[8] = { 0xc0, DEVICE_VENDOR_IN, 0, 0, 0, 0, 200, 0 };
    uint8_t bytes[200], back[200];
    int fd = attach();
    bench_fill(bytes, sizeof bytes);
    TEST_ASSERT_EQUAL(200, transfer(fd, false, 0, out, bytes, 200).actual);
    TEST_ASSERT_EQUAL(200, transfer(fd, true, 0, in, back, 200).actual);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(bytes, back, 200);
    /* A length or direction that contradicts the setup packet. */
    TEST_ASSERT_EQUAL(-EINVAL, transfer(fd, true, 0, in, back, 100).status);
    TEST_ASSERT_EQUAL(-EINVAL, transfer(fd, true, 0, out, back, 200).status);
    TEST_ASSERT_EQUAL(200, transfer(fd, true, 0, in, back, 200).actual);
    close(fd);
}

static void test_flags(void)
{
    uint8_t bytes[128];
    int fd = attach();
    bench.device.sink = true;
    submit(fd, false, 1, 0x40, NULL, bytes, 128); /* URB_ZERO_PACKET */
    TEST_ASSERT_EQUAL(0, hear_ret(fd, false, NULL).status);
    TEST_ASSERT_TRUE(bench.device.out.toggle);    /* three packets */
    bench.device.sink = false;
    TEST_ASSERT_EQUAL(0, transfer(fd, false, 1, NULL, bytes, 10).status);
    submit(fd, true, 1, 1, NULL, NULL, 128);      /* URB_SHORT_NOT_OK */
    struct ret r = hear_ret(fd, true, bytes);
    TEST_ASSERT_EQUAL(-EREMOTEIO, r.status);
    TEST_ASSERT_EQUAL(10, r.actual);
    close(fd);
}

static void test_many_in_flight(void)
{
    enum { MANY = 30, SIZE = 640 };
    static uint8_t bytes[SIZE];
    uint32_t first = seqnum + 1, word = 0;
    int fd = attach();
    bench.device.source = true;
    for (unsigned i = 0; i < MANY; i++)
        submit(fd, true, 1, 0, NULL, NULL, SIZE);
    for (unsigned i = 0; i < MANY; i++) {
        struct ret r = hear_ret(fd, true, bytes);
        TEST_ASSERT_EQUAL(0, r.status);
        TEST_ASSERT_EQUAL(first + i, r.seqnum);
        TEST_ASSERT_EQUAL(SIZE, r.actual);
        for (unsigned k = 0; k < SIZE; k += 4, word++)
            TEST_ASSERT_EQUAL_MEMORY(&word, bytes + k, 4);
    }
    close(fd);
}

static uint32_t unlink_urb(int fd, uint32_t wanted)
{
    uint8_t request[48] = { 0 };
    put32(request, 2);
    put32(request + 4, ++seqnum);
    put32(request + 8, 0x10002);
    put32(request + 20, wanted);
    say(fd, request, sizeof request);
    return seqnum;
}

static void test_unlink(void)
{
    uint8_t bytes[64];
    int fd = attach();
    uint32_t one = submit(fd, true, 1, 0, NULL, NULL, 64);
    uint32_t two = submit(fd, true, 1, 0, NULL, NULL, 64);
    uint32_t number = unlink_urb(fd, one);
    struct ret r = hear_ret(fd, true, bytes);
    TEST_ASSERT_EQUAL(4, r.command); /* and no answer to the URB itself */
    TEST_ASSERT_EQUAL(number, r.seqnum);
    TEST_ASSERT_EQUAL(-ECONNRESET, r.status);
    submit(fd, false, 1, 0, NULL, bytes, 64);
    TEST_ASSERT_EQUAL(seqnum, hear_ret(fd, false, NULL).seqnum);
    TEST_ASSERT_EQUAL(two, hear_ret(fd, true, bytes).seqnum);
    number = unlink_urb(fd, two);    /* too late */
    r = hear_ret(fd, true, bytes);
    TEST_ASSERT_EQUAL(4, r.command);
    TEST_ASSERT_EQUAL(number, r.seqnum);
    TEST_ASSERT_EQUAL(0, r.status);
    close(fd);
}

/* With URBs in flight; the next client finds everything in order. */
static void test_a_client_goes_away(void)
{
    uint8_t bytes[64];
    for (unsigned i = 0; i < 5; i++) {
        int fd = attach();
        for (unsigned k = 0; k < 10; k++)
            submit(fd, true, 1, 0, NULL, NULL, 64);
        go_on();
        close(fd);
        for (unsigned k = 0; k < 10; k++)
            go_on();
        TEST_ASSERT_FALSE(board_usbip_attached(server));
    }
    int fd = attach();
    TEST_ASSERT_EQUAL(0, transfer(fd, false, 1, NULL, bytes, 64).status);
    TEST_ASSERT_EQUAL(64, transfer(fd, true, 1, NULL, bytes, 64).actual);
    submit(fd, true, 1, 0, NULL, NULL, 64); /* left to tearDown() */
    go_on();
    close(fd);
}

static void test_the_device_goes_away(void)
{
    uint8_t bytes[64];
    int fd = attach();
    uint32_t number = submit(fd, true, 1, 0, NULL, NULL, 64);
    go_on();
    usb_host_plug(bench.host, false);
    struct ret r = hear_ret(fd, true, bytes);
    TEST_ASSERT_EQUAL(number, r.seqnum);
    TEST_ASSERT_EQUAL(-ESHUTDOWN, r.status);
    TEST_ASSERT_EQUAL(0, hear(fd, bytes, 1)); /* closed */
    TEST_ASSERT_EQUAL_STRING("the device was unplugged", board_usbip_why(server));
    close(fd);
    usb_host_plug(bench.host, true);
    bench_wait_ready();
    close(attach());
}

static void test_reset_keeps_the_connection(void)
{
    static const uint8_t reset[8] = { 0x23, 3, 4, 0, 0, 0, 0, 0 };
    uint8_t bytes[64];
    int fd = attach();
    TEST_ASSERT_EQUAL(0, transfer(fd, false, 0, reset, NULL, 0).status);
    TEST_ASSERT_EQUAL(0, transfer(fd, false, 1, NULL, bytes, 64).status); /* after it */
    TEST_ASSERT_EQUAL(2, bench.device.resets);
    TEST_ASSERT_EQUAL(64, transfer(fd, true, 1, NULL, bytes, 64).actual);
    close(fd);
}

static void refused(int fd, const void *bytes, size_t length)
{
    uint8_t byte;
    say(fd, bytes, length);
    TEST_ASSERT_EQUAL(0, hear(fd, &byte, 1));
    close(fd);
    TEST_ASSERT_NOT_EQUAL(0, board_usbip_why(server)[0]);
    TEST_ASSERT_FALSE(board_usbip_attached(server));
}

static void test_other_protocols_are_refused(void)
{
    static const uint8_t old[8] = { 0x01, 0x06, 0x80, 0x05 };
    static const uint8_t unknown[8] = { 0x01, 0x11, 0x80, 0x06 };
    refused(dial(), "GET / HTTP/1.0\r\n\r\n", 18);
    refused(dial(), old, 8);
    refused(dial(), unknown, 8);
    for (unsigned i = 0; i < 5; i++) {
        static const uint32_t wrong[5][2] = {
            { 0, 7 }, { 8, 0x10003 }, { 12, 2 }, { 16, 16 }, { 24, 0x7fffffff }
        };
        uint8_t request[48] = { 0 };
        put32(request, 1);
        put32(request + 4, 1);
        put32(request + 8, 0x10002);
        put32(request + wrong[i][0], wrong[i][1]);
        refused(attach(), request, 48);
    }
    close(attach());
}

/* Anything at all, before and after the import. */
static void test_garbage(void)
{
    uint8_t bytes[300];
    for (unsigned i = 0; i < 200; i++) {
        int fd = i % 2 ? attach() : dial();
        bench_fill(bytes, sizeof bytes);
        if (i % 2) {                 /* so that some of it makes sense */
            put32(bytes, 1 + i % 3);
            put32(bytes + 8, 0x10002);
            put32(bytes + 12, i / 2 % 2);
            put32(bytes + 16, i / 4 % 3);
            put32(bytes + 24, i);
        }
        send(fd, bytes, 1 + i % sizeof bytes, MSG_NOSIGNAL);
        for (unsigned k = 0; k < 20; k++)
            go_on();
        close(fd);
        for (unsigned k = 0; k < 20 && board_usbip_attached(server); k++)
            go_on();
    }
    close(attach());
}

/* ---- clients that take what others need ---------------------------------------------------- */

static bool closed_by_server(int fd)
{
    char bytes[4096];
    for (unsigned i = 0; i < 20; i++) {
        ssize_t n = recv(fd, bytes, sizeof bytes, 0);
        if (n == 0 || (n < 0 && errno == ECONNRESET))
            return true;
        go_on();
    }
    return false;
}

static void test_eight_idle_clients_keep_nobody_out(void)
{
    static const uint8_t request[8] = { 0x01, 0x11, 0x80, 0x05 };
    uint8_t reply[12];
    int idle[8], first = attach();
    for (unsigned i = 0; i < 8; i++) {
        idle[i] = dial();
        go_on();
        go_on();
    }
    int ninth = dial();
    say(ninth, request, 8);
    TEST_ASSERT_EQUAL(12, hear(ninth, reply, 12));
    close(ninth);
    TEST_ASSERT_TRUE(closed_by_server(idle[0]));
    TEST_ASSERT_FALSE(closed_by_server(idle[7]));
    TEST_ASSERT_FALSE(closed_by_server(first)); /* who has the device keeps it */
    close(first);
    for (unsigned i = 0; i < 8; i++)
        close(idle[i]);
}

/* As slowly as it likes, but until a deadline. */
static void test_requests_are_finished_in_time(void)
{
    static const uint8_t half[4] = { 0x01, 0x11, 0x80, 0x05 };
    int silent = dial(), slow = dial(), imported = attach();
    go_on();
    say(slow, half, 4);
    seconds += BOARD_USBIP_PATIENCE - 1;
    TEST_ASSERT_FALSE(closed_by_server(silent));
    TEST_ASSERT_FALSE(closed_by_server(slow));
    seconds += 2;
    TEST_ASSERT_TRUE(closed_by_server(silent));
    TEST_ASSERT_TRUE(closed_by_server(slow));
    TEST_ASSERT_NOT_NULL(strstr(board_usbip_why(server), "did not finish its request"));
    seconds += 3600;
    TEST_ASSERT_FALSE(closed_by_server(imported)); /* it need not ask for anything */
    say(imported, half, 1);
    TEST_ASSERT_FALSE(closed_by_server(imported));
    seconds += BOARD_USBIP_PATIENCE + 1;
    TEST_ASSERT_TRUE(closed_by_server(imported));
    TEST_ASSERT_FALSE(board_usbip_attached(server));
    close(silent);
    close(slow);
    close(imported);
}

static int attach_narrow(void)
{
    int fd = attach(), bytes = 64 << 10;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    return fd;
}

/* Requests to forget what never was: each has an answer, of the same length. Until so many bytes
 * are sent, after those that were, or the server takes no more. */
static size_t flood(int fd, size_t sent, size_t most)
{
    static uint8_t requests[100][48];
    for (unsigned i = 0; i < 100; i++) {
        put32(requests[i], 2);
        put32(requests[i] + 4, i);
        put32(requests[i] + 20, 7);
    }
    for (unsigned idle = 0; sent < most && idle < 5; idle++) {
        size_t at = sent % sizeof requests;
        ssize_t n = send(fd, &requests[0][0] + at, sizeof requests - at, MSG_NOSIGNAL);
        if (n > 0) {
            sent += (size_t)n;
            idle = 0;
        }
        go_on();
    }
    return sent;
}

static void test_who_does_not_read_is_not_heard(void)
{
    int fd = attach_narrow();
    size_t sent = flood(fd, 0, 64 << 20);
    TEST_ASSERT_LESS_THAN(16 << 20, sent);
    TEST_ASSERT_TRUE(board_usbip_attached(server));
    seconds += BOARD_USBIP_PATIENCE - 1;
    go_on();
    TEST_ASSERT_TRUE(board_usbip_attached(server));
    seconds += 2;
    go_on();
    TEST_ASSERT_FALSE(board_usbip_attached(server));
    TEST_ASSERT_NOT_NULL(strstr(board_usbip_why(server), "does not fetch"));
    close(fd);
    close(attach());
}

static size_t allocated(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* It reads less than it asks for, all the time: what was sent takes no room. */
static void test_a_slow_reader_takes_no_memory(void)
{
    static uint8_t bytes[64 << 10];
    int fd = attach_narrow();
    size_t before = allocated(), sent = flood(fd, 0, 6 << 20), fetched = 0;
    for (unsigned i = 0; i < 10000 && fetched < 24 << 20; i++) {
        sent = flood(fd, sent, sent + sizeof bytes);
        ssize_t n = recv(fd, bytes, sizeof bytes, 0);
        fetched += n > 0 ? (size_t)n : 0;
        TEST_ASSERT_LESS_THAN(before + (6 << 20), allocated());
    }
    TEST_ASSERT_TRUE(board_usbip_attached(server));
    TEST_ASSERT_GREATER_OR_EQUAL(24 << 20, fetched);
    close(fd);
}

/* Sixteen of a megabyte are under way, and there is no room for the next; those before it can
 * still be forgotten. */
static void test_no_room_for_an_urb(void)
{
    uint8_t bytes[64];
    uint32_t first = seqnum + 1;
    int fd = attach();
    for (unsigned i = 0; i < 16; i++)
        submit(fd, true, 1, 0, NULL, NULL, 1 << 20);
    TEST_ASSERT_EQUAL(-ENOMEM, transfer(fd, true, 1, NULL, bytes, 64).status);
    uint32_t number = unlink_urb(fd, first);
    struct ret r = hear_ret(fd, true, bytes);
    TEST_ASSERT_EQUAL(4, r.command);
    TEST_ASSERT_EQUAL(number, r.seqnum);
    TEST_ASSERT_EQUAL(-ECONNRESET, r.status);
    submit(fd, true, 1, 0, NULL, NULL, 64);
    for (unsigned i = 1; i < 1024 - 16; i++)
        submit(fd, true, 1, 0, NULL, NULL, 0);
    submit(fd, true, 1, 0, NULL, NULL, 0);
    submit(fd, true, 1, 0, NULL, NULL, 0);
    r = hear_ret(fd, true, bytes);
    TEST_ASSERT_EQUAL(seqnum, r.seqnum);
    TEST_ASSERT_EQUAL(-ENOMEM, r.status);
    close(fd);
}

static void test_a_port_that_is_taken(void)
{
    char why[200] = "", expected[200];
    TEST_ASSERT_NULL(board_usbip_new(&bench.bus, board_usbip_port(server), why, sizeof why));
    snprintf(expected, sizeof expected, "usbip on 127.0.0.1, port %d: Address already in use",
             board_usbip_port(server));
    TEST_ASSERT_EQUAL_STRING(expected, why);
}

/* Linux's own tool. */
static void test_usbip_list(void)
{
    char command[200], text[4000] = "";
    size_t have = 0;
    snprintf(command, sizeof command,
             "PATH=$PATH:/usr/sbin:/sbin exec usbip --tcp-port %d list -r 127.0.0.1 2>&1",
             board_usbip_port(server));
    FILE *f = popen(command, "r");
    TEST_ASSERT_NOT_NULL(f);
    fcntl(fileno(f), F_SETFL, O_NONBLOCK);
    for (unsigned i = 0; i < 100000; i++) {
        ssize_t n = read(fileno(f), text + have, sizeof text - 1 - have);
        if (n == 0)
            break;
        if (n > 0)
            have += (size_t)n;
        board_usbip_wait(server, 10);
        go_on();
    }
    TEST_ASSERT_EQUAL_MESSAGE(0, pclose(f), text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "1-1: "), text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "(1209:0001)"), text);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_list);
    RUN_TEST(test_import_once);
    RUN_TEST(test_control_and_bulk);
    RUN_TEST(test_vendor_requests_with_data);
    RUN_TEST(test_flags);
    RUN_TEST(test_many_in_flight);
    RUN_TEST(test_unlink);
    RUN_TEST(test_a_client_goes_away);
    RUN_TEST(test_the_device_goes_away);
    RUN_TEST(test_reset_keeps_the_connection);
    RUN_TEST(test_other_protocols_are_refused);
    RUN_TEST(test_garbage);
    RUN_TEST(test_eight_idle_clients_keep_nobody_out);
    RUN_TEST(test_requests_are_finished_in_time);
    RUN_TEST(test_who_does_not_read_is_not_heard);
    RUN_TEST(test_a_slow_reader_takes_no_memory);
    RUN_TEST(test_no_room_for_an_urb);
    RUN_TEST(test_a_port_that_is_taken);
    RUN_TEST(test_usbip_list);
    return UNITY_END();
}
