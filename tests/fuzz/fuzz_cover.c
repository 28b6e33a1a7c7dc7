/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for files of coverage and for Verilator's: what is read can be written and reads
 * back as the same; what is not has a reason and, unless it is empty, a line. */
#include <stdlib.h>
#include <string.h>

#include "cover/cover_rtl.h"

static char *written(struct cover *c, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    if (cover_write(c, f) != 0)
        abort();
    fclose(f);
    return text;
}

static bool read_bytes(struct cover *c, const void *data, size_t size, struct ordeal_error *e)
{
    FILE *f = fmemopen((void *)(uintptr_t)data, size, "r");
    bool good = cover_read(c, f, "x", e);
    fclose(f);
    return good;
}

static void reads_back(struct cover *c)
{
    size_t size, again_size;
    struct ordeal_error e;
    struct cover *back = cover_new();
    char *text = written(c, &size);
    if (!read_bytes(back, text, size, &e))
        abort();
    char *again = written(back, &again_size);
    if (size != again_size || memcmp(text, again, size) != 0)
        abort();
    cover_free(back);
    free(text);
    free(again);
}

static void read_verilator(const uint8_t *data, size_t size)
{
    struct ordeal_error e = { 0 };
    struct cover *c = cover_new();
    FILE *f = fmemopen((void *)(uintptr_t)data, size, "r"), *out = fopen("/dev/null", "w");
    bool good = cover_rtl_read(c, f, "x", &(struct cover_origin){ 1, 2, "" }, &e);
    if (good)
        reads_back(c);
    else if (!e.reason[0])
        abort();
    if (good && cover_rtl_lcov(c, out) != 0)
        abort();
    fclose(f);
    fclose(out);
    cover_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ordeal_error e = { 0 };
    struct cover *c = cover_new();
    if (size > 0) {
        if (read_bytes(c, data, size, &e))
            reads_back(c);
        else if (!e.reason[0] || !e.line)
            abort();
        read_verilator(data, size);
    }
    cover_free(c);
    return 0;
}
