/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal board` and the options of `--target board` from outside, without any board: usage, the
 * command lines of programming, and OpenOCD's Tcl port with somebody else behind it. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "targets/board/board_jtag.h"
#include "shell.h"
#include "targets/board/tcl_port.h"

void setUp(void) {}
void tearDown(void) {}

static void test_usage(void)
{
    EXPECT(2, "$ORDEAL board");
    ERR("list, info, selftest, or flash FILE");
    EXPECT(2, "$ORDEAL board lst");
    ERR("did you mean 'list'?");
    EXPECT(2, "$ORDEAL board list now");
    ERR("takes no 'now'");
    EXPECT(2, "$ORDEAL board list --serial 1");
    ERR("--serial is not of 'board list'");
    EXPECT(2, "$ORDEAL board flash");
    ERR("which file?");
    EXPECT(0, "$ORDEAL board --help");
    OUT("selftest");
    EXPECT(0, "$ORDEAL --help");
    OUT("board");
}

static void test_a_board_that_is_not_there(void)
{
    EXPECT(3, "$ORDEAL board info --serial no-such-board");
    EXPECT(3, "$ORDEAL board selftest --serial no-such-board");
    EXPECT(3, "$ORDEAL run --target board --serial no-such-board");
    TEST_ASSERT_EQUAL_STRING("", out);
}

static void test_options_of_the_target(void)
{
    EXPECT(2, "$ORDEAL run --target board --link telepathy");
    ERR("'usb' or 'jtag'");
    EXPECT(2, "$ORDEAL run --target board --openocd localhost:1");
    ERR("--openocd is of --link jtag");
    EXPECT(2, "$ORDEAL run --target board --link jtag --serial 1");
    EXPECT(2, "$ORDEAL run --target board --bug no-such-bug");
    EXPECT(2, "$ORDEAL run --target board --model PC");
    EXPECT(2, "$ORDEAL run --target board --waves --check");
    EXPECT(2, "$ORDEAL run --target sim --serial 1");
    ERR("--serial is for --target board");
    EXPECT(2, "$ORDEAL run --target native --visible");
    ERR("--visible is for --target sim or board");
}

static void test_flash_shows_its_command(void)
{
    EXPECT(0, "$ORDEAL board flash x.bin --dry-run");
    TEST_ASSERT_EQUAL_STRING("iceprog x.bin\n", out);
    EXPECT(0, "$ORDEAL board flash x.bin --programmer tinyprog --dry-run");
    TEST_ASSERT_EQUAL_STRING("tinyprog -p x.bin\n", out);
    EXPECT(0, "$ORDEAL board flash f.elf --config my.cfg --dry-run");
    TEST_ASSERT_EQUAL_STRING("openocd -f my.cfg -c 'init; ordeal_load_firmware {f.elf}; "
                             "shutdown'\n", out);
    EXPECT(0, "$ORDEAL board flash 'a b.svf' --config my.cfg --dry-run");
    OUT("ordeal_program {a b.svf}");
    EXPECT(0, "$ORDEAL board flash f.elf --dry-run");
    OUT("tcl/ordeal-ftdi.cfg -c 'init; ordeal_load_firmware");
    EXPECT(0, "$ORDEAL board flash b.svf --dry-run");
    OUT("tcl/ecp5-ftdi.cfg -c 'init; ordeal_program");
    EXPECT(2, "$ORDEAL board flash x.hex");
    ERR("'x.hex' is none of");
    EXPECT(2, "$ORDEAL board flash x.bin --programmer hammer");
    ERR("not 'hammer'");
    EXPECT(2, "$ORDEAL board flash x.bin --config my.cfg");
    EXPECT(2, "$ORDEAL board flash x.elf --programmer iceprog");
    EXPECT(2, "$ORDEAL board flash 'a}; shutdown; {.elf' --config my.cfg");
}

/* A name that begins like an option stays a name. */
static void test_flash_names_files(void)
{
    EXPECT(0, "$ORDEAL board flash --dry-run -- -x.bin");
    TEST_ASSERT_EQUAL_STRING("iceprog ./-x.bin\n", out);
    EXPECT(0, "$ORDEAL board flash --programmer tinyprog --dry-run -- -x.bin");
    TEST_ASSERT_EQUAL_STRING("tinyprog -p ./-x.bin\n", out);
    EXPECT(0, "$ORDEAL board flash --config my.cfg --dry-run -- -x.svf");
    OUT("ordeal_program {./-x.svf}");
    EXPECT(0, "$ORDEAL board flash --dry-run \"$(printf 'a\\033[31m.bin')\"");
    TEST_ASSERT_EQUAL_STRING("iceprog 'a\\x1b[31m.bin'\n", out);
    EXPECT(0, "$ORDEAL board flash --dry-run \"it's.bin\"");
    TEST_ASSERT_EQUAL_STRING("iceprog 'it'\\''s.bin'\n", out);
}

static void test_flash_runs_it(void)
{
    EXPECT(0, "mkdir tools && printf '#!/bin/sh\\necho \"got $@\"\\n' > tools/iceprog && "
              "printf '#!/bin/sh\\nexit 7\\n' > tools/tinyprog && chmod +x tools/*");
    EXPECT(0, "PATH=$PWD/tools $ORDEAL board flash x.bin");
    TEST_ASSERT_EQUAL_STRING("got x.bin\n", out);
    EXPECT(3, "PATH=$PWD/tools $ORDEAL board flash x.bin --programmer tinyprog");
    ERR("tinyprog ended with status 7");
    EXPECT(3, "PATH=$PWD/tools $ORDEAL board flash x.elf --config my.cfg");
    ERR("'openocd' is not installed: it is in the Debian package 'openocd'");
}

/* ---- the Tcl port ---------------------------------------------------------------------------- */

static int listener;
static char place[64];
static const char *replies[8];       /* one for each command; NULL: hang up */
static int trickle;                  /* bytes without an end before that, one by one */

static void *serve(void *user)
{
    int s = accept(listener, NULL, NULL);
    (void)user;
    for (int i = 0; replies[i]; i++) {
        char c = 0;
        while (c != 0x1a)
            if (recv(s, &c, 1, 0) != 1)
                goto end;
        if (send(s, replies[i], strlen(replies[i]), MSG_NOSIGNAL) < 0)
            break;
    }
    for (; trickle && send(s, "1", 1, MSG_NOSIGNAL) == 1; trickle--)
        usleep(5000);
end:
    close(s);
    return NULL;
}

static pthread_t server(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof a;
    pthread_t thread;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    TEST_ASSERT_EQUAL(0, bind(listener, (struct sockaddr *)&a, sizeof a));
    TEST_ASSERT_EQUAL(0, listen(listener, 1));
    TEST_ASSERT_EQUAL(0, getsockname(listener, (struct sockaddr *)&a, &size));
    sprintf(place, "127.0.0.1:%d", ntohs(a.sin_port));
    TEST_ASSERT_EQUAL(0, pthread_create(&thread, NULL, serve, NULL));
    return thread;
}

static void finish(pthread_t thread)
{
    pthread_join(thread, NULL);
    close(listener);
    memset(replies, 0, sizeof replies);
}

static void test_tcl(void)
{
    struct why why;
    replies[0] = "OK 1 2 3\x1a";
    replies[1] = "ERROR no such proc\x1a";
    replies[2] = "something else\x1a";
    replies[3] = "OK \x1a";
    pthread_t thread = server();
    struct tcl_port *t = tcl_open(place, 0, &why);
    TEST_ASSERT_NOT_NULL_MESSAGE(t, why.text);
    TEST_ASSERT_EQUAL_STRING("1 2 3", tcl_ask(t, "a", &why));
    TEST_ASSERT_NULL(tcl_ask(t, "b", &why));
    contains(why.text, "no such proc", __LINE__);
    TEST_ASSERT_NULL(tcl_ask(t, "c", &why));
    TEST_ASSERT_EQUAL_STRING("", tcl_ask(t, "d", &why)); /* an error is not the end */
    TEST_ASSERT_NULL(tcl_ask(t, "e", &why));
    contains(why.text, "it has gone", __LINE__);
    TEST_ASSERT_NULL(tcl_ask(t, "f", &why));
    tcl_close(t);
    finish(thread);
}

static void test_tcl_answers_are_one_each(void)
{
    struct why why;
    replies[0] = "\x1a";
    replies[1] = "OK 1\x1aOK 2\x1a";
    pthread_t thread = server();
    struct tcl_port *t = tcl_open(place, 0, &why);
    TEST_ASSERT_NULL(tcl_ask(t, "a", &why));
    contains(why.text, "an empty answer", __LINE__);
    TEST_ASSERT_NULL(tcl_ask(t, "b", &why));
    contains(why.text, "more than it was asked", __LINE__);
    TEST_ASSERT_NULL(tcl_ask(t, "c", &why));
    contains(why.text, "it has gone", __LINE__);
    tcl_close(t);
    finish(thread);
}

static void test_tcl_places(void)
{
    struct why why;
    static const char *const wrong[] = { "", "host", ":1", "host:", "127.0.0.1:no" };
    for (int i = 0; i < 5; i++)
        TEST_ASSERT_NULL(tcl_open(wrong[i], 0, &why));
    pthread_t thread = server();
    struct tcl_port *t = tcl_open(place, 0, &why);
    tcl_close(t);
    finish(thread);
    TEST_ASSERT_NULL(tcl_open(place, 0, &why)); /* nobody is there any more */
    contains(why.text, "Start it with 'openocd", __LINE__);
}

/* A byte every now and then is no answer: the server does not come to its end. */
static void test_tcl_has_a_deadline(void)
{
    struct why why;
    trickle = 2000;
    pthread_t thread = server();
    struct tcl_port *t = tcl_open(place, 0.2, &why);
    TEST_ASSERT_NOT_NULL_MESSAGE(t, why.text);
    TEST_ASSERT_NULL(tcl_ask(t, "a", &why));
    contains(why.text, "no answer within 0.2 s", __LINE__);
    tcl_close(t);
    finish(thread);
    TEST_ASSERT_GREATER_THAN(0, trickle);
    trickle = 0;
}

/* What OpenOCD says cannot colour the terminal, or pretend to be another line. */
static void test_tcl_text_is_escaped(void)
{
    struct why why;
    replies[0] = "ERROR \x1b[31mbad\r\nordeal: all is well\x1a";
    replies[1] = "\x9b what\x1a";
    pthread_t thread = server();
    struct tcl_port *t = tcl_open(place, 0, &why);
    TEST_ASSERT_NULL(tcl_ask(t, "a", &why));
    contains(why.text, "\\x1b[31mbad\\x0d\\x0aordeal: all is well", __LINE__);
    TEST_ASSERT_NULL(strpbrk(why.text, "\x1b\r\n"));
    TEST_ASSERT_NULL(tcl_ask(t, "b", &why));
    contains(why.text, "\\x9b what", __LINE__);
    tcl_close(t);
    finish(thread);
}

/* Somebody who is OpenOCD, but knows nothing of boards, or of other ones. */
static void opens(const char *parameters, const char *reason)
{
    struct why why;
    replies[0] = "OK running\x1a";
    replies[1] = "OK \x1a";
    replies[2] = parameters;
    replies[3] = replies[4] = "OK \x1a";
    pthread_t thread = server();
    TEST_ASSERT_NULL(board_jtag_open(place, 0, &why));
    contains(why.text, reason, __LINE__);
    finish(thread);
}

static void test_jtag_believes_nothing(void)
{
    opens("ERROR invalid command name\x1a", "invalid command name");
    opens("OK 1 2 3\x1a", "3 numbers instead of 16");
    opens("OK \x1a", "0 numbers instead of 16");
    opens("OK 99 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\x1a", "99 harts");
    opens("OK 0xffffffffffffffffffff x\x1a", "numbers instead of 16");
}

int main(void)
{
    const char *program = getenv("ORDEAL");
    char directory[] = "/tmp/ordeal-board-XXXXXX", path[4096], clean[64];
    if (!program || !realpath(program, path) || !mkdtemp(directory) || chdir(directory) != 0) {
        fprintf(stderr, "test_board_cmd: ORDEAL names no program\n");
        return 1;
    }
    setenv("ORDEAL", path, 1);
    UNITY_BEGIN();
    RUN_TEST(test_usage);
    RUN_TEST(test_a_board_that_is_not_there);
    RUN_TEST(test_options_of_the_target);
    RUN_TEST(test_flash_shows_its_command);
    RUN_TEST(test_flash_names_files);
    RUN_TEST(test_flash_runs_it);
    RUN_TEST(test_tcl);
    RUN_TEST(test_tcl_answers_are_one_each);
    RUN_TEST(test_tcl_places);
    RUN_TEST(test_tcl_has_a_deadline);
    RUN_TEST(test_tcl_text_is_escaped);
    RUN_TEST(test_jtag_believes_nothing);
    int failures = UNITY_END();
    snprintf(clean, sizeof clean, "rm -rf '%s'", directory);
    return system(clean) != 0 || failures;
}
