/* SPDX-License-Identifier: Apache-2.0 */
#include "checking.h"

#include <stdlib.h>
#include <string.h>
#include "unity.h"

/* ---- traces ------------------------------------------------------------------------------ */

static struct ordeal_trace *read_stream(struct ordeal *o, FILE *stream, const char *name)
{
    struct ordeal_trace *t = NULL;
    struct ordeal_reader *r = ordeal_reader_new(o, stream, name, ORDEAL_FORMAT_TEXT);
    TEST_ASSERT_NOT_NULL(r);
    enum ordeal_status status = ordeal_reader_next(r, &t);
    ordeal_reader_free(r);
    fclose(stream);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
    return t;
}

struct ordeal_trace *trace_of_lines(struct ordeal *o, const char *lines)
{
    char *text = NULL;
    int length = asprintf(&text, "ordeal 1\n%s", lines);
    TEST_ASSERT_GREATER_THAN(0, length);
    struct ordeal_trace *t = read_stream(o, fmemopen(text, (size_t)length, "r"), "lines");
    free(text);
    return t;
}

struct ordeal_trace *trace_of_file(struct ordeal *o, const char *path)
{
    FILE *stream = fopen(path, "r");
    TEST_ASSERT_NOT_NULL_MESSAGE(stream, path);
    return read_stream(o, stream, path);
}

struct ordeal_trace *trace_of_workload(struct ordeal *o, const struct workload *w)
{
    struct ordeal_trace *t = ordeal_trace_new(o);
    TEST_ASSERT_NOT_NULL(t);
    TEST_ASSERT_EQUAL(ORDEAL_OK, workload_trace(w, WORKLOAD_BY_THREAD, 0, t));
    return t;
}

/* The writer's text has one line for each operation, in order; those alone begin with a P. */
struct ordeal_trace *trace_part(struct ordeal *o, const struct ordeal_trace *t, const bool *keep)
{
    char *text = NULL, *part = NULL;
    size_t length, part_length, op = 0;
    FILE *out = open_memstream(&text, &length);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_write_text(t, out));
    fclose(out);
    out = open_memstream(&part, &part_length);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        TEST_ASSERT_TRUE(strncmp(line, "final", 5) != 0 && strncmp(line, "order", 5) != 0);
        if (strncmp(line, "ordeal", 6) != 0 && (line[0] != 'P' || keep[op++]))
            fprintf(out, "%s\n", line);
    }
    fclose(out);
    TEST_ASSERT_EQUAL(ordeal_trace_length(t), op);
    struct ordeal_trace *s = trace_of_lines(o, part);
    free(text);
    free(part);
    return s;
}

/* ---- verdicts ---------------------------------------------------------------------------- */

struct ordeal_verdict *check_trace(struct ordeal *o, const struct ordeal_trace *t,
                                   const struct ordeal_options *options)
{
    struct ordeal_verdict *v = NULL;
    enum ordeal_status status = ordeal_check(t, options, &v);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
    TEST_ASSERT_NOT_NULL(v);
    return v;
}

enum ordeal_result result_of(struct ordeal *o, const struct ordeal_trace *t,
                             enum ordeal_model model, enum ordeal_algorithm algorithm)
{
    struct ordeal_options options = { .model = model, .algorithm = algorithm };
    struct ordeal_verdict *v = check_trace(o, t, &options);
    enum ordeal_result result = ordeal_verdict_result(v);
    bool may = algorithm == ORDEAL_BASELINE || algorithm == ORDEAL_HEU || algorithm == ORDEAL_DERIV;
    TEST_ASSERT_TRUE_MESSAGE(may || result != ORDEAL_UNDECIDED, ordeal_verdict_note(v));
    ordeal_verdict_free(v);
    return result;
}

uint64_t counter_of(const struct ordeal_verdict *v, const char *name)
{
    const char *is;
    uint64_t value;
    for (size_t i = 0; ordeal_verdict_counter(v, i, &is, &value); i++)
        if (strcmp(is, name) == 0)
            return value;
    TEST_FAIL_MESSAGE(name);
    return 0;
}

/* ---- workloads --------------------------------------------------------------------------- */

static bool reads(const struct workload_op *op)
{
    return op->kind == ORDEAL_LOAD || op->kind == ORDEAL_SWAP;
}

static bool writes(const struct workload_op *op)
{
    return op->kind == ORDEAL_STORE || op->kind == ORDEAL_SWAP;
}

void spoil_workload(struct workload *w, unsigned loads, uint64_t *chance)
{
    for (unsigned tries = 0; loads > 0 && tries < 1000000; tries++) {
        struct workload_op *load = &w->op[workload_below(chance, w->spec.ops)];
        const struct workload_op *store = &w->op[workload_below(chance, w->spec.ops)];
        if (!reads(load) || !writes(store) || load->word != store->word || load == store
            || load->read == store->write)
            continue;
        load->read = store->write;
        loads--;
    }
    TEST_ASSERT_EQUAL(0, loads);
}

static uint32_t coarse(uint32_t word, uint32_t value, uint32_t values)
{
    uint64_t state = (uint64_t)word << 32 | value;
    return value ? 1 + (uint32_t)(workload_random(&state) % values) : 0;
}

void coarsen_workload(struct workload *w, uint32_t values)
{
    for (uint32_t i = 0; i < w->spec.ops; i++) {
        struct workload_op *op = &w->op[i];
        op->read = coarse(op->word, op->read, values);
        op->write = coarse(op->word, op->write, values);
    }
}

/* ---- memory ------------------------------------------------------------------------------ */

enum { HEADER = 16 }; /* holds the block's size, and keeps the rest aligned */

static void *one_failure_resize(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    struct one_failure *f = user;
    char *block = pointer ? (char *)pointer - HEADER : NULL;
    size_t was = 0;
    if (block)
        memcpy(&was, block, sizeof was);
    f->wrong_size |= was != old_bytes;
    if (new_bytes == 0) {
        f->bytes -= was;
        free(block);
        return NULL;
    }
    if (++f->calls == f->fail_at)
        return NULL;
    block = realloc(block, HEADER + new_bytes);
    memcpy(block, &new_bytes, sizeof new_bytes);
    f->bytes += new_bytes - was;
    return block + HEADER;
}

struct ordeal_memory one_failure_memory(struct one_failure *f)
{
    return (struct ordeal_memory){ one_failure_resize, f };
}
