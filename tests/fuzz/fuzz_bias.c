/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for bias files: what is read and goes together can be written, reads back as
 * the same, and makes tests, of every profile. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/generate.h"
#include "test/program.h"

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
        || b->idioms.count != back->idioms.count || b->profiles.count != back->profiles.count)
        abort();
    bias_free(back);
    free(text);
}

/* Those of the first numbers, so that most draws of its profiles come up in the end. */
static void makes_tests(struct bias *b)
{
    struct ordeal *o = ordeal_new(NULL);
    struct generator *g = generator_new(b, 1);
    for (uint64_t n = 0; n < (b->profiles.count ? 8 : 1); n++) {
        struct ordeal_trace *t = NULL;
        struct program p;
        struct ordeal_error e;
        if (generator_make(g, n, o, &t) != ORDEAL_OK || !program_compile(&p, t, "", &e))
            abort();
        program_free(&p);
        ordeal_trace_free(t);
    }
    generator_free(g);
    ordeal_free(o);
}

/* The largest that its tests can be, about. */
static uint64_t most_of(const struct bias *b, uint32_t slot)
{
    uint64_t most = b->values[slot];
    for (size_t i = 0; i < b->profiles.count; i++)
        for (size_t k = 0; k < b->profiles.data[i].varies.count; k++) {
            const struct bias_vary *v = &b->profiles.data[i].varies.data[k];
            for (uint32_t n = 0; v->slot == slot && n < v->count; n++)
                most = v->value[n] > most ? v->value[n] : most;
        }
    return most;
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
        if (most_of(b, BIAS_test_threads) * most_of(b, BIAS_test_operations) < 20000)
            makes_tests(b);
    }
    bias_free(b);
    return 0;
}
