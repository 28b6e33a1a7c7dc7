/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for litmus files: whatever the bytes are, they are refused with a reason and
 * a place, or are a test whose condition, as it is written, is read again and written the same;
 * and what it can do is found, or a limit. */
#include <stdlib.h>
#include <string.h>

#include "litmus/litmus_condition.h"
#include "litmus/litmus_run.h"

static void read_again(struct litmus *test)
{
    char first[1 << 16], second[1 << 16], text[(1 << 16) + 64];
    struct ordeal_error e;
    struct litmus again = *test;
    FILE *f = fmemopen(first, sizeof first, "w");
    litmus_condition_write(test, f);
    if (fclose(f) != 0 || strlen(first) > sizeof first - 2)
        return; /* longer than that */
    snprintf(text, sizeof text, "%s", strchr(first, '('));
    if (!litmus_read_outcome(test, text, &e))
        abort();
    again = *test;
    again.condition = test->outcome;
    f = fmemopen(second, sizeof second, "w");
    litmus_condition_write(&again, f);
    fclose(f);
    if (strcmp(first, second) != 0)
        abort();
}

static void run(struct litmus *test)
{
    static const struct litmus_run_options how = { .model = ORDEAL_RVWMO,
                                                   .threads = { .unroll = 1, .most = 200 },
                                                   .seconds = 0.5 };
    struct ordeal_error e = { 0 };
    struct litmus_result result;
    struct ordeal *o = ordeal_new(NULL);
    bool fine = litmus_run(test, &how, "f", o, &result, &e);
    if (!fine && (!e.reason[0] || e.status == ORDEAL_INTERNAL))
        abort();
    if (fine && result.positive + result.negative != result.state.count)
        abort();
    litmus_result_free(&result);
    ordeal_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct litmus test;
    struct ordeal_error e = { 0 };
    if (litmus_read(&test, (const char *)data, size, "f", &e)) {
        run(&test);
        read_again(&test);
    } else if (!e.reason[0] || (!e.line && e.status == ORDEAL_BAD_INPUT)) {
        abort();
    }
    litmus_free(&test);
    return 0;
}
