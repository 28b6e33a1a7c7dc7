/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for bias files: what is read and goes together can be written, reads back as
 * the same, and makes a test. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/generate.h"

static bool read_bytes(struct bias *b, const void *data, size_t size, struct ordeal_error *e)
{
    char path[64];
    int descriptor = memfd_create("bias", 0);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    bool good = bias_read(b, path, e);
    close(descriptor);
    return good;
}

static void reads_back(const struct bias *b)
{
    char *text = NULL;
    size_t size = 0;
    struct ordeal_error e;
    struct bias *back = bias_new();
    FILE *f = open_memstream(&text, &size);
    bias_write(b, f, true);
    fclose(f);
    if (!read_bytes(back, text, size, &e) || !bias_check(back, &e)
        || memcmp(b->values, back->values, sizeof b->values) != 0
        || b->idioms.count != back->idioms.count)
        abort();
    bias_free(back);
    free(text);
}

static void makes_a_test(struct bias *b)
{
    struct ordeal *o = ordeal_new(NULL);
    struct generator *g = generator_new(b, 1);
    struct ordeal_trace *t = NULL;
    if (generator_make(g, 0, o, &t) != ORDEAL_OK)
        abort();
    ordeal_trace_free(t);
    generator_free(g);
    ordeal_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ordeal_error e = { 0 };
    struct bias *b = bias_new();
    bool good = read_bytes(b, data, size, &e) && bias_check(b, &e);
    if (!good && e.reason[0] == '\0')
        abort();
    if (good) {
        reads_back(b);
        if ((uint64_t)b->test_threads * b->test_operations < 20000)
            makes_a_test(b);
    }
    bias_free(b);
    return 0;
}
