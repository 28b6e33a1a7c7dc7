/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for records of workers: whatever the bytes are, they are refused with a reason, or
 * are a record that is the same when it is written and read again. */
#include <stdlib.h>
#include <string.h>

#include "regress/record.h"

static char *written(const struct record *r, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out || !record_write(r, out) || fclose(out) != 0)
        abort();
    return text;
}

static bool take(struct record *r, const char *text, size_t size, struct why *why)
{
    FILE *in = fmemopen((void *)text, size, "r");
    bool good = in && record_read(r, in, "record", why);
    if (in)
        fclose(in);
    return good;
}

static void is_the_same_again(const struct record *r)
{
    struct record back;
    struct why why;
    size_t size, size_again;
    char *text = written(r, &size);
    if (!take(&back, text, size, &why))
        abort();
    char *again = written(&back, &size_again);
    if (size != size_again || memcmp(text, again, size) != 0)
        abort();
    record_free(&back);
    free(text);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record r = { 0 };
    struct why why = { "" };
    if (!size)
        return 0;
    if (take(&r, (const char *)data, size, &why))
        is_the_same_again(&r);
    else if (!why.text[0])
        abort();
    record_free(&r);
    return 0;
}
