/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that hardware, firmware and host share, rtl/soc.def and rtl/board/board.def, held
 * against what they promise: fields of a word lie within it and apart from one another, a kind of
 * record has a shape that the capture unit can give; and Verilog is told the same as C. */
#include <stdio.h>
#include <string.h>

#include "field.h"
#include "protocol.h"
#include "shell.h"
#include "targets/board/board_numbers.h"
#include "targets/soc/soc_numbers.h"
#include "unity.h"

struct field { const char *word, *name; int high, low; uint32_t mask; };
struct record { int number; const char *name; int address, read, written; };
struct number { const char *name; int bits; uint32_t value; };

#define NUMBER(name, bits, value) { #name, bits, value },
#define FIELD(word, name, high, low) /* those of their own pass */
#define RECORD(number, name, address, read, written, text)
static const struct number numbers[] = {
#include "soc.def"
#include "board/board.def"
};
#undef NUMBER
#undef FIELD
#define FIELD(word, name, high, low) { #word, #name, high, low, SOC_##word##_##name },
static const struct field soc_fields[] = {
#include "soc.def"
};
#undef FIELD
#define FIELD(word, name, high, low) { #word, #name, high, low, BOARD_##word##_##name },
static const struct field board_fields[] = {
#include "board/board.def"
};
#undef FIELD
#undef RECORD
#define RECORD(number, name, address, read, written, text) { number, #name, address, read, written },
static const struct record records[] = {
#include "soc.def"
};
#undef RECORD

#define COUNT(array) (sizeof(array) / sizeof *(array))

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

/* ---- what is wrong with a table; NULL: nothing ----------------------------------------------- */

static const char *wrong_field(const struct field *f, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (f[i].low < 0 || f[i].high < f[i].low || f[i].high > 31)
            return "is not within its word";
        uint32_t mask = 0;
        for (int bit = f[i].low; bit <= f[i].high; bit++)
            mask |= UINT32_C(1) << bit;
        if (f[i].mask != mask)
            return "has another mask in C";
        for (size_t k = 0; k < i; k++)
            if (!strcmp(f[i].word, f[k].word) && f[i].mask & f[k].mask)
                return "overlaps another";
    }
    return NULL;
}

/* The capture unit gives address, value read and value written in this order, behind two words. */
static const char *wrong_record(const struct record *r, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int places[] = { r[i].address, r[i].read, r[i].written };
        int next = 2;
        for (size_t p = 0; p < COUNT(places); p++)
            if (places[p] && places[p] != next++)
                return "has its words out of order, or a gap";
        if (r[i].number < 1 || r[i].number > 15)
            return "has a number that the header cannot hold";
        for (size_t k = 0; k < i; k++)
            if (r[i].number == r[k].number)
                return "has the number of another";
    }
    return NULL;
}

/* ---- the tables ------------------------------------------------------------------------------ */

static void fields_lie_apart_and_within_their_words(void)
{
    TEST_ASSERT_NULL(wrong_field(soc_fields, COUNT(soc_fields)));
    TEST_ASSERT_NULL(wrong_field(board_fields, COUNT(board_fields)));
    static const struct field touching[] = { { "W", "A", 7, 0, 0xff }, { "V", "B", 7, 0, 0xff },
                                             { "W", "C", 9, 7, 0x380 } };
    TEST_ASSERT_EQUAL_STRING("overlaps another", wrong_field(touching, 3));
    static const struct field wide[] = { { "W", "A", 32, 31, 0x80000000 } };
    TEST_ASSERT_EQUAL_STRING("is not within its word", wrong_field(wide, 1));
    static const struct field backwards[] = { { "W", "A", 3, 4, 0 } };
    TEST_ASSERT_EQUAL_STRING("is not within its word", wrong_field(backwards, 1));
}

static void every_kind_of_record_has_a_shape(void)
{
    TEST_ASSERT_NULL(wrong_record(records, COUNT(records)));
    for (size_t i = 0; i < COUNT(numbers); i++) /* kinds are those that RECORD has, and no others */
        TEST_ASSERT_NOT_EQUAL_MESSAGE(0, strncmp(numbers[i].name, "REC_", 4), numbers[i].name);
    static const struct record gap[] = { { 1, "A", 2, 4, 0 } }, order[] = { { 1, "A", 3, 2, 0 } };
    TEST_ASSERT_NOT_NULL(wrong_record(gap, 1));
    TEST_ASSERT_NOT_NULL(wrong_record(order, 1));
    static const struct record twice[] = { { 1, "A", 0, 0, 0 }, { 1, "B", 0, 0, 0 } };
    TEST_ASSERT_NOT_NULL(wrong_record(twice, 2));
}

static void numbers_fit_their_bits(void)
{
    for (size_t i = 0; i < COUNT(numbers); i++)
        TEST_ASSERT_TRUE_MESSAGE(numbers[i].bits == 32 || numbers[i].value >> numbers[i].bits == 0,
                                 numbers[i].name);
}

static void the_host_has_these_shapes(void)
{
    size_t kinds = 0;
    for (size_t i = 0; i < COUNT(soc_shape); i++)
        kinds += soc_shape[i].words != 0;
    TEST_ASSERT_EQUAL_size_t(COUNT(records), kinds);
    for (size_t i = 0; i < COUNT(records); i++) {
        const struct record *r = &records[i];
        const struct soc_shape *s = &soc_shape[r->number];
        int last = 1;
        last = r->address ? r->address : last;
        last = r->read ? r->read : last;
        last = r->written ? r->written : last;
        TEST_ASSERT_EQUAL_INT_MESSAGE(last + 1, s->words, r->name);
        TEST_ASSERT_TRUE(s->words <= SOC_LONGEST_RECORD);
        TEST_ASSERT_EQUAL_INT(r->written, s->written);
    }
    TEST_ASSERT_EQUAL_INT(5, SOC_LONGEST_RECORD);
}

/* ---- others that must know the same ---------------------------------------------------------- */

static void expect_define(const char *format, ...)
{
    char line[128];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(out, line), line);
}

static void expect_fields(const struct field *f, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (f[i].high == f[i].low)
            expect_define("`define %s_%s %d\n", f[i].word, f[i].name, f[i].low);
        else
            expect_define("`define %s_%s %d:%d\n`define %s_%s_LOW %d\n", f[i].word, f[i].name,
                          f[i].high, f[i].low, f[i].word, f[i].name, f[i].low);
}

static void verilog_is_told_the_same(void)
{
    unsigned address = 0, read = 0, written = 0;
    EXPECT(0, "awk -f '%s/rtl/header.awk' '%s/rtl/board/board.def'", home, home);
    expect_fields(board_fields, COUNT(board_fields));
    EXPECT(0, "awk -f '%s/rtl/header.awk' '%s/rtl/soc.def' '%s/rtl/zoo.def'", home, home, home);
    expect_fields(soc_fields, COUNT(soc_fields));
    for (size_t i = 0; i < COUNT(records); i++) {
        const struct record *r = &records[i];
        expect_define("`define REC_%s 4'd%d\n", r->name, r->number);
        address |= r->address ? 1u << r->number : 0;
        read |= r->read ? 1u << r->number : 0;
        written |= r->written ? 1u << r->number : 0;
    }
    expect_define("`define REC_HAS_ADDRESS 16'h%04x\n", address);
    expect_define("`define REC_HAS_READ 16'h%04x\n", read);
    expect_define("`define REC_HAS_WRITTEN 16'h%04x\n", written);
}

static void fields_are_put_and_got(void)
{
    TEST_ASSERT_EQUAL_HEX32(0x00005a00, FIELD_PUT(BOARD_DEV_SETUP_BUG, 0x5a));
    TEST_ASSERT_EQUAL_HEX32(0x5a, FIELD_GET(0xffffdaff, BOARD_DEV_SETUP_BUG));
    TEST_ASSERT_EQUAL_HEX32(0x80000000, FIELD_PUT(BOARD_DEV_DONE_ALL, true));
    TEST_ASSERT_EQUAL_HEX32(1, FIELD_GET(0x80000000, BOARD_DEV_DONE_ALL));
    TEST_ASSERT_EQUAL_HEX32(0xffff, FIELD_GET(UINT32_MAX, BOARD_USB_ERRORS_LOST));
    TEST_ASSERT_EQUAL_size_t(4 * PROTOCOL_WORDS, sizeof(struct protocol_message));
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(fields_lie_apart_and_within_their_words);
    RUN_TEST(every_kind_of_record_has_a_shape);
    RUN_TEST(numbers_fit_their_bits);
    RUN_TEST(the_host_has_these_shapes);
    RUN_TEST(verilog_is_told_the_same);
    RUN_TEST(fields_are_put_and_got);
    return UNITY_END();
}
