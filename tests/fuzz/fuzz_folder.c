/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for what `ordeal show` reads from a folder that may come from anywhere. The input
 * is taken for each of its files in turn: run.txt is refused with a line and a reason, or is the same
 * when it is written and read again, and its words name no file; what is said of a machine that broke
 * becomes a view of waves; a trace is judged, explained and drawn, all within limits. */
#include <stdlib.h>
#include <string.h>

#include "tell/picture.h"
#include "tell/tell.h"
#include "tell/waves.h"
#include "trial/saved_run.h"

static bool read_run(struct saved_run *r, const void *data, size_t size, struct ordeal_error *e)
{
    FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
    bool good = saved_run_read(r, in, "x", e);
    fclose(in);
    return good;
}

static char *written(const struct saved_run *r, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!saved_run_write(r, out) || fclose(out) != 0)
        abort();
    return text;
}

/* Nothing that could lead out of the folder. */
static void look_at_words(const struct saved_run *r)
{
    struct saved_run_words words;
    saved_run_words(r, &words);
    for (size_t i = 0; i < words.count; i++)
        if (strpbrk(words.word[i], "/\\'\"$`;|&<> \t\n\033"))
            abort();
}

static void try_run(const uint8_t *data, size_t size)
{
    static struct saved_run run, back;
    struct ordeal_error e = { .line = 0 };
    size_t length, again_length;
    if (!read_run(&run, data, size, &e)) {
        if (!e.reason[0] || (!e.line && size < SAVED_RUN_BYTES))
            abort();
        return;
    }
    look_at_words(&run);
    char *text = written(&run, &length);
    if (!read_run(&back, text, length, &e))
        abort();
    char *again = written(&back, &again_length);
    if (length != again_length || memcmp(text, again, length) != 0)
        abort();
    free(text);
    free(again);
}

static void look_at_view(const struct waves_view *view)
{
    char text[4096], *save = NULL;
    size_t size;
    FILE *out = open_memstream(&save, &size);
    waves_describe(view, text, sizeof text);
    if (!waves_write_view(view, "/x/waves.fst", out) || fclose(out) != 0)
        abort();
    if (strstr(save, "\n^>") || strchr(save, '\033')) /* programs that GTKWave would run */
        abort();
    free(save);
}

static void try_words(const uint8_t *data, size_t size)
{
    struct waves_view view;
    char *text = strndup((const char *)data, size);
    waves_of_words(&view, text);
    look_at_view(&view);
    free(text);
}

static void tell(struct input *in, const struct ordeal_verdict *v)
{
    struct waves_view view;
    struct proof proof = { 0 };
    struct explanation why = { 0 };
    enum ordeal_model model = ordeal_verdict_model(v);
    struct naming names = { .trace = in->trace, .verdict = v, .views = model == ORDEAL_PC };
    FILE *out = fopen("/dev/null", "w");
    struct told told = { .in = in, .verdict = v, .why = &why, .out = out };
    if (ordeal_verdict_result(v) == ORDEAL_FAIL) {
        if (!proof_read(&proof, v) || !explain(&why, &proof, &names, model))
            abort();
        if (proof.inferences.count && !picture_write(&proof, &names, model, "x", PICTURE_DOT, out))
            abort();
        waves_of_verdict(&view, in->trace, v);
        look_at_view(&view);
    }
    if (!tell_verdict(&told))
        abort();
    explanation_free(&why);
    proof_free(&proof);
    fclose(out);
}

static void try_trace(const uint8_t *data, size_t size)
{
    struct ordeal_limits limits = { .seconds = 0.2, .bytes = (size_t)64 << 20 };
    struct ordeal_options how = { .model = ORDEAL_TSO };
    struct ordeal_verdict *v = NULL;
    struct input in;
    FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
    if (input_take(&in, file, "x", ORDEAL_FORMAT_GUESS, &limits) == ORDEAL_OK
        && input_next(&in) == ORDEAL_OK && ordeal_check(in.trace, &how, &v) == ORDEAL_OK)
        tell(&in, v);
    ordeal_verdict_free(v);
    input_close(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    try_run(data, size);
    try_words(data, size);
    try_trace(data, size);
    return 0;
}
