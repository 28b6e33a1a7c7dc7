/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/PROTOCOL.md is true: the exchange in it, byte by byte, with a board whose machine
 * captures what the text says; and its tables have the numbers of protocol.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware_talk.h"
#include "unity.h"

#define DOCUMENT "firmware/PROTOCOL.md"

void setUp(void) {}
void tearDown(void) {}

/* Hart 0 loads a word, and is done; the others were done before. */
static void starts(void *context, struct firmware_device *d)
{
    static const uint32_t records[] = { 0x00300021, 0x12, 0x80000040, 0, 0x0000100c, 0x20 };
    (void)context;
    firmware_device_captures(d, records, sizeof records / 4);
    firmware_device_done(d, 15);
}

struct transfer {
    uint8_t bytes[PROTOCOL_WORDS * 4];
    size_t length;
    bool from_host;
    int line;
};

static void happens(struct firmware_device *d, const struct transfer *t)
{
    uint8_t bytes[PROTOCOL_WORDS * 4];
    char where[64];
    snprintf(where, sizeof where, DOCUMENT ":%d", t->line);
    if (t->from_host) {
        TEST_ASSERT_TRUE_MESSAGE(firmware_device_send(d, t->bytes, t->length), where);
        return;
    }
    int length = firmware_device_receive(d, bytes, sizeof bytes, 100);
    if (getenv("SHOW_EXCHANGE")) { /* for whoever edits the text */
        printf("%s:", where);
        for (int i = 0; i < length; i++)
            printf("%s%02x", i % 16 ? " " : "\n       ", bytes[i]);
        printf("\n");
    }
    TEST_ASSERT_EQUAL_INT_MESSAGE(t->length, length, where);
    TEST_ASSERT_EQUAL_HEX8_ARRAY_MESSAGE(t->bytes, bytes, t->length, where);
}

/* Bytes in hex, up to the remark behind them. */
static void add_bytes(struct transfer *t, const char *text)
{
    unsigned byte;
    int used;
    while (strcspn(text, " \n") == 2 && sscanf(text, "%2x%n", &byte, &used) == 1 && used == 2) {
        TEST_ASSERT_TRUE(t->length < sizeof t->bytes);
        t->bytes[t->length++] = (uint8_t)byte;
        text += text[2] == ' ' ? 3 : 2;
    }
}

static void test_the_exchange(void)
{
    struct firmware_device *d = firmware_device_new(NULL);
    struct transfer t = { .length = 0 };
    char line[256];
    int transfers = 0, number = 0;
    bool inside = false;
    firmware_device_machine(d, starts, NULL, NULL);
    firmware_device_plug(d);
    FILE *f = fopen(DOCUMENT, "r");
    TEST_ASSERT_NOT_NULL_MESSAGE(f, DOCUMENT " (tests run in the top directory)");
    while (fgets(line, sizeof line, f)) {
        number++;
        bool fence = strncmp(line, "```", 3) == 0;
        bool host = strncmp(line, "host ", 5) == 0, board = strncmp(line, "board ", 6) == 0;
        if (inside && t.length && (fence || host || board)) {
            happens(d, &t);
            transfers++;
            t.length = 0;
        }
        if (fence)
            inside = strcmp(line, "```exchange\n") == 0;
        if (!inside || strlen(line) < 7)
            continue;
        if (host || board) {
            t.from_host = host;
            t.line = number;
        }
        if (host || board || strncmp(line, "       ", 7) == 0)
            add_bytes(&t, line + 7);
    }
    fclose(f);
    firmware_device_free(d);
    TEST_ASSERT_GREATER_OR_EQUAL_INT(16, transfers);
}

/* Rows of tables that begin with | number | `NAME` |. */
static void test_the_tables(void)
{
    static const struct { const char *name; unsigned value; } numbers[] = {
        { "HELLO", PROTOCOL_HELLO }, { "RESET", PROTOCOL_RESET }, { "LOAD", PROTOCOL_LOAD },
        { "READ", PROTOCOL_READ }, { "RUN", PROTOCOL_RUN }, { "STATE", PROTOCOL_STATE },
        { "STOP", PROTOCOL_STOP }, { "COUNTERS", PROTOCOL_COUNTERS }, { "ECHO", PROTOCOL_ECHO },
        { "SOURCE", PROTOCOL_SOURCE }, { "ACK", PROTOCOL_ACK }, { "CAPTURE", PROTOCOL_CAPTURE },
        { "STATUS_OK", STATUS_OK }, { "STATUS_DAMAGED", STATUS_DAMAGED },
        { "STATUS_ORDER", STATUS_ORDER }, { "STATUS_TYPE", STATUS_TYPE },
        { "STATUS_LENGTH", STATUS_LENGTH }, { "STATUS_ARGUMENT", STATUS_ARGUMENT },
        { "STATUS_STATE", STATUS_STATE }
    };
    char line[512];
    unsigned found = 0;
    FILE *f = fopen(DOCUMENT, "r");
    TEST_ASSERT_NOT_NULL(f);
    while (fgets(line, sizeof line, f)) {
        unsigned value;
        char name[32];
        if (sscanf(line, "| %u | `%31[A-Z_]` |", &value, name) != 2)
            continue;
        size_t i = 0;
        while (i < sizeof numbers / sizeof *numbers && strcmp(numbers[i].name, name) != 0)
            i++;
        TEST_ASSERT_TRUE_MESSAGE(i < sizeof numbers / sizeof *numbers, name);
        TEST_ASSERT_EQUAL_UINT_MESSAGE(numbers[i].value, value, name);
        found++;
    }
    fclose(f);
    TEST_ASSERT_EQUAL_UINT(sizeof numbers / sizeof *numbers, found);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_exchange);
    RUN_TEST(test_the_tables);
    return UNITY_END();
}
