/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of violations can be read: no text lies on another, as wide as viewers' fonts make it. */
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

struct box {
    double left, right, top, bottom;
    char text[64];
};

enum { MOST_TEXTS = 400 };
static struct box boxes[MOST_TEXTS];
static char svg[1 << 20];

/* The number of an attribute within its element. */
static double attribute(const char *element, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *at = strstr(element, key);
    TEST_ASSERT_NOT_NULL_MESSAGE(at, element);
    return atof(at + strlen(key));
}

/* "&#45;" is one letter. */
static int letters(const char *text, const char *end)
{
    int count = 0;
    for (; text < end; text++, count++)
        if (*text == '&')
            text = strchr(text, ';');
    return count;
}

/* DejaVu Sans, which is what many viewers have for Helvetica: a letter is 0.64 of its size on average,
 * capitals and digits 0.66. */
static struct box box_of(const char *element)
{
    const char *text = strchr(element, '>') + 1, *end = strstr(text, "</text>");
    double size = attribute(element, "font-size"), width = letters(text, end) * 0.66 * size;
    double x = attribute(element, "x"), y = attribute(element, "y");
    bool middle = strncmp(element, "<text text-anchor=\"middle\"", 26) == 0;
    struct box b = { .left = middle ? x - width / 2 : x,
                     .top = y - 0.8 * size,
                     .bottom = y + 0.1 * size };
    b.right = b.left + width;
    snprintf(b.text, sizeof b.text, "%.*s", (int)(end - text), text);
    return b;
}

static int read_boxes(void)
{
    int count = 0;
    slurp("p.svg", svg, sizeof svg);
    for (const char *at = svg; (at = strstr(at, "<text ")) != NULL; at++) {
        TEST_ASSERT_TRUE(count < MOST_TEXTS);
        boxes[count++] = box_of(at);
    }
    return count;
}

static void expect_no_overlap(const char *picture)
{
    char message[256];
    int count = read_boxes();
    TEST_ASSERT_TRUE(count > 3);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++) {
            const struct box *a = &boxes[i], *b = &boxes[k];
            snprintf(message, sizeof message, "%s: '%s' lies on '%s'", picture, a->text, b->text);
            TEST_ASSERT_FALSE_MESSAGE(a->left < b->right && b->left < a->right && a->top < b->bottom
                                          && b->top < a->bottom,
                                      message);
        }
}

static void test_no_text_lies_on_another(void)
{
    static const char *const models[] = { "SC", "TSO", "PSO", "PC", "RMO", "RVWMO", "RVTSO" };
    char names[4096];
    int pictures = 0;
    EXPECT(0, "ls $HOME_OF_TESTS/tests/golden");
    snprintf(names, sizeof names, "%.4000s", out);
    for (char *rest, *name = strtok_r(names, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest))
        for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
            int status = sh("$ORDEAL show -m %s --svg p.svg $HOME_OF_TESTS/tests/golden/%s",
                            models[m], name);
            TEST_ASSERT_TRUE_MESSAGE(status == 0 || status == 1 || status == 2, name);
            if (status == 1)
                expect_no_overlap(name);
            pictures += status == 1;
        }
    TEST_ASSERT_EQUAL(127, pictures);
}

/* Under PC a swap that saw itself is before itself in two ways. */
static void test_edges_between_the_same_operations_are_one_line(void)
{
    EXPECT(1, "printf 'ordeal 1\\nP0 SWAP[A]=3#3\\n' >t && $ORDEAL show -m PC --dot p.dot t");
    EXPECT(0, "grep -c -e '->' p.dot; grep xlabel= p.dot");
    TEST_ASSERT_EQUAL(1, atoi(out));
    OUT("xlabel=\"R1, R4\"");
    EXPECT(
        0,
        "tr -d '\\\\\n' <p.dot | grep -c 'follows it; P0 SWAP.* which saw it'"); /* both reasons are told */
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_no_text_lies_on_another);
    RUN_TEST(test_edges_between_the_same_operations_are_one_line);
    return UNITY_END();
}
