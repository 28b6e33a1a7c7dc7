/* SPDX-License-Identifier: Apache-2.0 */
/* The link to a board: the real firmware at its other end, over a cable that does all that a
 * cable can do, and boards that answer nothing or nonsense. */
#include <stdlib.h>
#include <string.h>

#include "targets/board/board_link.h"
#include "board_rig.h"
#include "firmware_talk.h"
#include "unity.h"

enum { WINDOW = 300 };

static struct board_rig *rig;
static struct board_link *l;
static struct protocol_hello hello;
static struct why why;

void setUp(void)
{
    rig = board_rig_new(WINDOW);
    l = link_new(&rig->port);
    link_patience(l, 1);
    why.text[0] = 0;
}

void tearDown(void)
{
    link_free(l);
    if (rig)
        TEST_ASSERT_EQUAL_UINT32(1, rig->closed);
    board_rig_free(rig);
    rig = NULL;
}

#define OK(call) TEST_ASSERT_EQUAL_MESSAGE(LINK_OK, call, why.text)

static void greet(void) { OK(link_hello(l, &hello, &why)); }

static struct link_counts counts(void)
{
    struct link_counts c;
    link_counts(l, &c);
    return c;
}

/* What was loaded is there. */
static void load_and_read(uint32_t seed)
{
    uint32_t payload[PROTOCOL_PAYLOAD], answer[200];
    for (uint32_t m = 0; m < 10; m++) {
        payload[0] = m * 800;
        for (uint32_t i = 0; i < 200; i++)
            payload[1 + i] = seed + m * 1000 + i;
        OK(link_post(l, PROTOCOL_LOAD, payload, 201, &why));
    }
    for (uint32_t m = 0; m < 10; m++) {
        OK(link_ask(l, PROTOCOL_READ, (uint32_t[]){ m * 800, 200 }, 2, answer, 200, &why));
        for (uint32_t i = 0; i < 200; i++)
            TEST_ASSERT_EQUAL_UINT32(seed + m * 1000 + i, answer[i]);
    }
}

/* A stream of so many words, whatever happens. */
static void source(uint32_t words)
{
    uint32_t part[100], expected = 0;
    struct protocol_state state;
    bool behind;
    OK(link_begin(l, PROTOCOL_SOURCE, &words, 1, &why));
    for (int rounds = 0; !link_ended(l) || link_waiting(l); rounds++) {
        TEST_ASSERT_LESS_THAN(100000, rounds);
        uint32_t before = (uint32_t)link_waiting(l);
        if (!link_ended(l)) {
            OK(link_wait(l, 10, &why));
            if (link_waiting(l) == before)
                OK(link_look(l, &state, &behind, &why));
        }
        for (size_t n; (n = link_take(l, part, 100)); )
            for (size_t i = 0; i < n; i++)
                TEST_ASSERT_EQUAL_UINT32(expected++, part[i]);
    }
    TEST_ASSERT_EQUAL_UINT32(words, expected);
}

static void test_hello(void)
{
    greet();
    TEST_ASSERT_EQUAL_UINT32(PROTOCOL_VERSION, hello.version);
    TEST_ASSERT_EQUAL_UINT32(WINDOW, hello.window);
    TEST_ASSERT_EQUAL_UINT32(4, hello.parameters[0]);
}

static void test_requests_and_stream(void)
{
    greet();
    OK(link_begin(l, PROTOCOL_RESET, (uint32_t[]){ 1, 2 }, 2, &why));
    load_and_read(5);
    source(0);
    source(1);
    source(10 * WINDOW);
    TEST_ASSERT_EQUAL_UINT64(0, counts().again + counts().damaged + counts().replugs);
    TEST_ASSERT_EQUAL_UINT64(10 * WINDOW + 1, counts().stream_words);
}

static void test_refusals_are_told(void)
{
    uint32_t answer[4];
    greet();
    TEST_ASSERT_EQUAL(LINK_REFUSED, link_ask(l, PROTOCOL_COUNTERS, (uint32_t[]){ 99 }, 1, answer, 4,
                                             &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "no such thing (word 0, reason 1)"), why.text);
    TEST_ASSERT_EQUAL(LINK_REFUSED, link_ask(l, 99, NULL, 0, answer, 4, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "does not know it"), why.text);
    TEST_ASSERT_EQUAL(LINK_REFUSED, link_ask(l, PROTOCOL_ECHO, answer, 3, answer, 4, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "3 words instead of 4"), why.text);
    OK(link_ask(l, PROTOCOL_ECHO, (uint32_t[]){ 1, 2 }, 2, answer, 2, &why)); /* it goes on */
    TEST_ASSERT_EQUAL_UINT32(2, answer[1]);
}

/* ---- a bad cable ----------------------------------------------------------------------------- */

static void through(struct rig_faults faults)
{
    greet();
    rig->faults = faults;
    link_patience(l, 5);
    for (uint32_t i = 0; i < 5; i++) {
        rig->chance = i;
        OK(link_begin(l, PROTOCOL_RESET, (uint32_t[]){ 1, 2 }, 2, &why));
        load_and_read(i);
        source(2000);
    }
}

static void test_lost_messages(void)
{
    through((struct rig_faults){ .lose_in = 10, .lose_out = 10 });
    TEST_ASSERT_NOT_EQUAL(0, counts().again);
    TEST_ASSERT_NOT_EQUAL(0, counts().missing);
}

static void test_damaged_messages(void)
{
    through((struct rig_faults){ .damage_in = 30, .damage_out = 30 });
    TEST_ASSERT_NOT_EQUAL(0, counts().damaged);
}

static void test_repeated_messages(void) { through((struct rig_faults){ .repeat_in = 300 }); }
static void test_swapped_messages(void) { through((struct rig_faults){ .swap_in = 100 }); }

static void test_everything_at_once(void)
{
    through((struct rig_faults){ 5, 5, 5, 5, 50, 10 });
}

/* ---- coming and going ------------------------------------------------------------------------ */

static void test_unplugged_in_a_stream(void)
{
    greet();
    for (uint32_t cut = 1; cut < 12; cut++) {
        rig->cut_after = rig->messages + cut;
        source(2000);
        TEST_ASSERT_EQUAL_UINT64(cut, counts().replugs);
    }
}

static void test_unplugged_in_loading(void)
{
    greet();
    OK(link_begin(l, PROTOCOL_RESET, (uint32_t[]){ 1, 2 }, 2, &why));
    for (uint32_t cut = 1; cut < 20; cut++) {
        rig->cut_after = rig->messages + cut;
        load_and_read(cut);
    }
    TEST_ASSERT_EQUAL_UINT64(19, counts().replugs);
}

static void test_unplugged_at_reset(void)
{
    greet();
    for (uint32_t cut = 1; cut < 4; cut++) {
        rig->cut_after = rig->messages + cut;
        OK(link_begin(l, PROTOCOL_RESET, (uint32_t[]){ 1, 2 }, 2, &why));
        load_and_read(cut);
    }
}

/* RUN is never done twice: a test that is over would refuse it. */
static void test_unplugged_at_run(void)
{
    static const uint32_t idle[2] = { 0x7c00d073, 0x0000006f }; /* csrwi done, 1; j . */
    greet();
    for (uint32_t cut = 1; cut < 10; cut++) {
        OK(link_begin(l, PROTOCOL_RESET, (uint32_t[]){ 1, 2 }, 2, &why));
        for (uint32_t h = 0; h < 4; h++)
            OK(link_post(l, PROTOCOL_LOAD, (uint32_t[]){ 1u << 31 | h << 27, idle[0], idle[1] }, 3,
                         &why));
        rig->cut_after = rig->messages + cut;
        OK(link_post(l, PROTOCOL_RUN, (uint32_t[2]){ 0, 0 }, 2, &why));
        OK(link_settle(l, &why));
        for (int i = 0; !link_ended(l) && i < 1000; i++)
            OK(link_wait(l, 10, &why));
        TEST_ASSERT_TRUE(link_ended(l));
        TEST_ASSERT_EQUAL(8, link_waiting(l));
    }
}

static void test_a_forgotten_run_is_lost(void)
{
    uint32_t words = 2000;
    greet();
    rig->forgets = true;
    for (int i = 0; i < 3; i++) {
        OK(link_begin(l, PROTOCOL_SOURCE, &words, 1, &why));
        rig->cut_after = rig->messages + 2;
        enum link_result result = LINK_OK;
        for (int rounds = 0; result == LINK_OK && rounds < 1000; rounds++)
            result = link_wait(l, 10, &why);
        TEST_ASSERT_EQUAL(LINK_LOST, result);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "with it the test"), why.text);
    }
    source(1000);                    /* the next one */
}

/* What was loaded may be gone as well. */
static void test_a_reset_after_a_power_cut_is_lost(void)
{
    greet();
    OK(link_begin(l, PROTOCOL_RESET, (uint32_t[]){ 1, 2 }, 2, &why));
    rig->forgets = rig->unplugged = true;
    TEST_ASSERT_EQUAL(LINK_LOST, link_begin(l, PROTOCOL_RESET, (uint32_t[]){ 1, 2 }, 2, &why));
    OK(link_begin(l, PROTOCOL_RESET, (uint32_t[]){ 1, 2 }, 2, &why));
}

static void test_gone_for_good(void)
{
    uint32_t words = 2000;
    greet();
    OK(link_begin(l, PROTOCOL_SOURCE, &words, 1, &why));
    rig->gone = true;
    rig->unplugged = true;
    while (link_wait(l, 10, &why) == LINK_OK)
        ;
    TEST_ASSERT_EQUAL(LINK_GONE, link_wait(l, 10, &why));
    TEST_ASSERT_EQUAL_STRING("it does not come back", why.text);
}

static void test_silence_ends(void)
{
    greet();
    rig->mute = true;
    link_patience(l, 0.1);
    TEST_ASSERT_EQUAL(LINK_GONE, link_ask(l, PROTOCOL_STATE, NULL, 0, NULL, 0, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "has not answered for 0.1 s"), why.text);
    rig->mute = false;
    greet();
    load_and_read(1);
}

/* ---- boards that are not what they say ------------------------------------------------------- */

/* Says what a test gives it, and comes back as often as one likes. */
static struct actor {
    struct board_port port;
    enum port_result (*receive)(uint32_t *words, size_t room, size_t *bytes);
    uint32_t number;                 /* of the last request */
    uint32_t rounds;
} actor;

static bool actor_send(struct board_port *port, const uint32_t *words, size_t count)
{
    (void)port;
    TEST_ASSERT_LESS_OR_EQUAL(PROTOCOL_WORDS, count);
    if ((words[0] >> 16 & 0xff) != PROTOCOL_ACK)
        actor.number = words[1];
    return true;
}

static enum port_result actor_receive(struct board_port *port, void *message, size_t room,
                                      size_t *bytes, int milliseconds)
{
    (void)port, (void)milliseconds;
    actor.rounds++;
    return actor.receive(message, room, bytes);
}

static bool actor_reopen(struct board_port *port, double seconds, struct why *reason)
{
    (void)port, (void)seconds, (void)reason;
    return true;
}

static void actor_close(struct board_port *port) { (void)port; }

static void play(enum port_result (*receive)(uint32_t *, size_t, size_t *))
{
    tearDown();
    actor = (struct actor){ .port = { actor_send, actor_receive, actor_reopen, actor_close },
                            .receive = receive };
    l = link_new(&actor.port);
    link_patience(l, 0.05);
}

static enum port_result answer(uint32_t *words, size_t *bytes, uint32_t type, uint32_t number,
                               const uint32_t *payload, size_t count)
{
    *bytes = 4 * firmware_talk_compose(words, type, number, payload, count);
    return PORT_MESSAGE;
}

static struct protocol_hello lie;
static enum port_result say_hello(uint32_t *words, size_t room, size_t *bytes)
{
    uint32_t payload[sizeof lie / 4];
    (void)room;
    memcpy(payload, &lie, sizeof lie);
    return answer(words, bytes, PROTOCOL_HELLO | PROTOCOL_ANSWER, actor.number, payload,
                  sizeof lie / 4);
}

static void test_absurd_hellos(void)
{
    static const uint32_t windows[] = { 0, UINT32_MAX, 1u << 31, (1 << 20) + 1 };
    play(say_hello);
    for (size_t i = 0; i < 4; i++) {
        lie = (struct protocol_hello){ .version = PROTOCOL_VERSION, .window = windows[i] };
        TEST_ASSERT_EQUAL(LINK_REFUSED, link_hello(l, &hello, &why));
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "that cannot be"), why.text);
    }
    lie = (struct protocol_hello){ .version = 7, .window = 5 };
    TEST_ASSERT_EQUAL(LINK_REFUSED, link_hello(l, &hello, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "version 7"), why.text);
}

static enum port_result short_hello(uint32_t *words, size_t room, size_t *bytes)
{
    (void)room;
    return answer(words, bytes, PROTOCOL_HELLO | PROTOCOL_ANSWER, actor.number, NULL, 0);
}

static void test_a_hello_of_another_length(void)
{
    play(short_hello);
    TEST_ASSERT_EQUAL(LINK_REFUSED, link_hello(l, &hello, &why));
}

/* Hello; then whatever `then` says. */
static enum port_result (*then)(uint32_t *words, size_t room, size_t *bytes);
static enum port_result hello_first(uint32_t *words, size_t room, size_t *bytes)
{
    lie = (struct protocol_hello){ .version = PROTOCOL_VERSION, .window = 500 };
    return actor.number <= 1 ? say_hello(words, room, bytes) : then(words, room, bytes);
}

static void expect(enum port_result (*behaviour)(uint32_t *, size_t, size_t *),
                   enum link_result result)
{
    uint32_t run;
    then = behaviour;
    play(hello_first);
    greet();
    TEST_ASSERT_EQUAL_MESSAGE(result, link_ask(l, PROTOCOL_RESET, (uint32_t[]){ 1, 2 }, 2, &run, 1,
                                               &why), why.text);
}

static enum port_result nothing(uint32_t *words, size_t room, size_t *bytes)
{
    (void)words, (void)room, (void)bytes;
    return PORT_NOTHING;
}

static enum port_result lost(uint32_t *words, size_t room, size_t *bytes)
{
    (void)words, (void)room, (void)bytes;
    return PORT_LOST;
}

static enum port_result rubbish(uint32_t *words, size_t room, size_t *bytes)
{
    static const size_t lengths[] = { 0, 1, 3, 4, 15, 16, 17, 64, 1020, 1024, 1025, 1088, 5000 };
    *bytes = lengths[actor.rounds % 13];
    memset(words, (int)actor.rounds, room);
    words[0] = PROTOCOL_MAGIC | 0x82 << 16;
    return PORT_MESSAGE;
}

static enum port_result disorder(uint32_t *words, size_t room, size_t *bytes)
{
    (void)room;
    return answer(words, bytes, PROTOCOL_RESET | PROTOCOL_ANSWER | (uint32_t)STATUS_ORDER << 8,
                  actor.number, &actor.rounds, 1);
}

static enum port_result stream_for_ever(uint32_t *words, size_t room, size_t *bytes)
{
    uint32_t payload[103] = { 0, actor.rounds * 100, 0 };
    (void)room;
    return answer(words, bytes, PROTOCOL_CAPTURE, 0, payload, 103);
}

static enum port_result other_numbers(uint32_t *words, size_t room, size_t *bytes)
{
    (void)room;
    return answer(words, bytes, PROTOCOL_RESET | PROTOCOL_ANSWER, actor.number + 1 + actor.rounds,
                  &actor.rounds, 1);
}

static void test_hostile_boards_end(void)
{
    expect(nothing, LINK_GONE);
    expect(lost, LINK_GONE);
    expect(rubbish, LINK_GONE);
    TEST_ASSERT_NOT_EQUAL(0, counts().damaged);
    expect(disorder, LINK_GONE);
    expect(stream_for_ever, LINK_GONE);
    expect(other_numbers, LINK_GONE);
}

/* Answers everything, and streams more than it was acknowledged. */
static uint32_t place;
static enum port_result flood(uint32_t *words, size_t room, size_t *bytes)
{
    uint32_t run = 1, payload[103] = { 1, place, 0 };
    (void)room;
    if (actor.rounds == 2)
        return answer(words, bytes, PROTOCOL_SOURCE | PROTOCOL_ANSWER, actor.number, &run, 1);
    place += 100;
    return answer(words, bytes, PROTOCOL_CAPTURE, 0, payload, 103);
}

static void flooded(bool taken, size_t most)
{
    uint32_t words = UINT32_MAX, part[1000];
    then = flood;
    place = 0;
    play(hello_first);
    greet();
    OK(link_begin(l, PROTOCOL_SOURCE, &words, 1, &why));
    enum link_result result = LINK_OK;
    for (int i = 0; result == LINK_OK && i < 50000; i++) {
        result = link_wait(l, 1, &why);
        if (taken)
            link_take(l, part, 1000);
        TEST_ASSERT_LESS_OR_EQUAL(most, link_waiting(l));
    }
    TEST_ASSERT_EQUAL(taken ? LINK_OK : LINK_REFUSED, result);
}

static void test_an_endless_stream_is_held_back(void)
{
    flooded(true, 1000);
    flooded(false, (1 << 20) + 1000);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "more of its stream than it may"), why.text);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_hello);
    RUN_TEST(test_requests_and_stream);
    RUN_TEST(test_refusals_are_told);
    RUN_TEST(test_lost_messages);
    RUN_TEST(test_damaged_messages);
    RUN_TEST(test_repeated_messages);
    RUN_TEST(test_swapped_messages);
    RUN_TEST(test_everything_at_once);
    RUN_TEST(test_unplugged_in_a_stream);
    RUN_TEST(test_unplugged_in_loading);
    RUN_TEST(test_unplugged_at_reset);
    RUN_TEST(test_unplugged_at_run);
    RUN_TEST(test_a_forgotten_run_is_lost);
    RUN_TEST(test_a_reset_after_a_power_cut_is_lost);
    RUN_TEST(test_gone_for_good);
    RUN_TEST(test_silence_ends);
    RUN_TEST(test_absurd_hellos);
    RUN_TEST(test_a_hello_of_another_length);
    RUN_TEST(test_hostile_boards_end);
    RUN_TEST(test_an_endless_stream_is_held_back);
    return UNITY_END();
}
