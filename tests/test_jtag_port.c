/* SPDX-License-Identifier: Apache-2.0 */
/* The server of remote_bitbang: pins in, TDO out, clients that come, go, and talk nonsense. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "jtag_port.h"
#include "unity.h"

static struct jtag_port *port;
static int client = -1;
static double seconds; /* the port's clock */

static double clock_of_test(void) { return seconds; }

void setUp(void)
{
    char error[256] = "";
    port = jtag_port_open(0, error, sizeof error);
    TEST_ASSERT_NOT_NULL_MESSAGE(port, error);
    jtag_port_clock(port, clock_of_test);
}

void tearDown(void)
{
    if (client >= 0)
        close(client);
    client = -1;
    jtag_port_close(port);
}

static int dial(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(jtag_port_number(port)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval limit = { .tv_sec = 60 };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    TEST_ASSERT_EQUAL_INT(0, setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
    TEST_ASSERT_EQUAL_INT(0, connect(fd, (struct sockaddr *)&address, sizeof address));
    return fd;
}

static void say(const char *text)
{
    TEST_ASSERT_EQUAL_INT(strlen(text), send(client, text, strlen(text), MSG_NOSIGNAL));
}

/* The next change of the pins. */
static struct jtag_pins next(bool tdo)
{
    struct jtag_pins pins;
    for (int i = 0; i < 1000; i++) {
        if (jtag_port_poll(port, &pins, tdo))
            return pins;
        jtag_port_wait(port, 100);
    }
    TEST_FAIL_MESSAGE("nothing came");
    return pins;
}

/* Until all that was sent has been looked at, and the client is there or not. */
static void settle(bool connected)
{
    struct jtag_pins pins;
    for (int i = 0; i < 1000; i++) {
        jtag_port_wait(port, 10);
        TEST_ASSERT_FALSE(jtag_port_poll(port, &pins, false));
        if (jtag_port_connected(port) == connected)
            return;
    }
    TEST_FAIL_MESSAGE("the connection is not as it should be");
}

static void test_pins_follow_commands(void)
{
    client = dial();
    say("01234567rstu");
    for (uint32_t i = 0; i < 8; i++) {
        struct jtag_pins pins = next(false);
        TEST_ASSERT_EQUAL_UINT32(i, pins.tck << 2 | pins.tms << 1 | pins.tdi);
    }
    for (uint32_t i = 0; i < 4; i++) {
        struct jtag_pins pins = next(false);
        TEST_ASSERT_EQUAL_UINT32(i, pins.trst << 1 | pins.srst);
        TEST_ASSERT_EQUAL_UINT32(7, pins.tck << 2 | pins.tms << 1 | pins.tdi); /* they stay */
    }
}

/* Each answer is TDO as it was after the change before it. */
static void test_tdo_is_of_its_moment(void)
{
    char answers[8] = "";
    client = dial();
    say("B0R4bR0RR");
    struct jtag_pins pins;
    next(true);
    next(false);
    next(true);
    TEST_ASSERT_FALSE(jtag_port_poll(port, &pins, true)); /* the answers go */
    TEST_ASSERT_EQUAL_INT(4, recv(client, answers, 4, MSG_WAITALL));
    TEST_ASSERT_EQUAL_STRING("0111", answers);
}

static void test_one_client_after_the_other(void)
{
    settle(false);
    client = dial();
    settle(true);
    say("Q");
    settle(false);
    close(client);
    client = dial();
    settle(true);
    close(client); /* gone without a word */
    client = -1;
    settle(false);
    client = dial();
    say("5");
    TEST_ASSERT_TRUE(next(false).tck);
}

/* Who is alone may think as long as it likes; who is not loses its place by that, but not before. */
static void test_an_idle_client_makes_place(void)
{
    char byte = '?';
    struct jtag_pins pins;
    int idle = client = dial();
    settle(true);
    seconds += 10 * JTAG_PORT_PATIENCE;
    say("5");
    TEST_ASSERT_TRUE(next(false).tck);
    int waiting = client = dial();
    say("R");
    seconds += JTAG_PORT_PATIENCE - 1;
    for (int i = 0; i < 10; i++) {
        jtag_port_wait(port, 1);
        TEST_ASSERT_FALSE(jtag_port_poll(port, &pins, true));
    }
    TEST_ASSERT_EQUAL_INT(-1, recv(waiting, &byte, 1, MSG_DONTWAIT));
    TEST_ASSERT_EQUAL_INT(-1, recv(idle, &byte, 1, MSG_DONTWAIT));
    seconds += 2;
    for (int i = 0; i < 100 && recv(waiting, &byte, 1, MSG_DONTWAIT) < 0; i++) {
        jtag_port_wait(port, 10);
        TEST_ASSERT_FALSE(jtag_port_poll(port, &pins, true));
    }
    TEST_ASSERT_EQUAL('1', byte);
    TEST_ASSERT_EQUAL_INT(0, recv(idle, &byte, 1, 0));
    close(idle);
}

/* So does one that takes no answers. One that asks for nothing but answers, and takes them, does
 * not keep the simulation from going on: the poll ends. */
static void test_answers_that_nobody_takes(void)
{
    enum { ALL = 16 << 20 };
    static char reads[1 << 16], answers[1 << 16];
    struct jtag_pins pins;
    size_t said = 0;
    client = dial();
    settle(true);
    memset(reads, 'R', sizeof reads);
    for (int idle = 0; idle < 10 && said < ALL; idle++) {
        ssize_t n = send(client, reads, sizeof reads, MSG_NOSIGNAL | MSG_DONTWAIT);
        said += n > 0 ? (size_t)n : 0;
        idle = n > 0 ? 0 : idle;
        for (int i = 0; i < 10; i++)
            TEST_ASSERT_FALSE(jtag_port_poll(port, &pins, true));
    }
    TEST_ASSERT_LESS_THAN(ALL, said); /* it is not heard any more */
    TEST_ASSERT_GREATER_THAN(0, recv(client, answers, sizeof answers, MSG_DONTWAIT));
    int stuck = client;
    client = dial();
    say("4");
    seconds += JTAG_PORT_PATIENCE + 1;
    for (int i = 0; i < 100; i++) /* some more answers go, as some were taken */
        jtag_port_poll(port, &pins, true);
    seconds += JTAG_PORT_PATIENCE + 1;
    TEST_ASSERT_TRUE(next(false).tck);
    close(stuck);
}

static void test_nonsense_ends_the_connection(void)
{
    char byte;
    client = dial();
    settle(true);
    say("\x1b[A 7");
    settle(false);
    TEST_ASSERT_LESS_OR_EQUAL_INT(0, recv(client, &byte, 1, 0));
}

static void test_a_port_that_is_taken(void)
{
    char error[256] = "", number[16];
    TEST_ASSERT_NULL(jtag_port_open(jtag_port_number(port), error, sizeof error));
    snprintf(number, sizeof number, "%u", jtag_port_number(port));
    TEST_ASSERT_NOT_NULL(strstr(error, number));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_pins_follow_commands);
    RUN_TEST(test_tdo_is_of_its_moment);
    RUN_TEST(test_one_client_after_the_other);
    RUN_TEST(test_an_idle_client_makes_place);
    RUN_TEST(test_answers_that_nobody_takes);
    RUN_TEST(test_nonsense_ends_the_connection);
    RUN_TEST(test_a_port_that_is_taken);
    return UNITY_END();
}
