/* SPDX-License-Identifier: Apache-2.0 */
#include "test_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "generate.h"

struct test_source {
    struct test_source_plan plan;
    struct ordeal *o;
    struct generator *generator;
    uint64_t given;
    FILE *open; /* of the file at hand */
    struct ordeal_reader *reader;
    const char *file;
    unsigned in_file;            /* tests it gave so far */
    struct ordeal_error error;
};

static bool asked_to_stop(void *user, const char *phase, double share)
{
    (void)phase, (void)share;
    const struct test_source *s = user;
    return s->plan.stop && s->plan.stop(s->plan.user);
}

struct test_source *test_source_new(const struct test_source_plan *plan)
{
    struct test_source *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->plan = *plan;
    s->o = ordeal_new(NULL);
    if (s->o && plan->bias)
        s->generator = generator_new(plan->bias, plan->seed);
    if (!s->o || (plan->bias && !s->generator)) {
        test_source_free(s);
        return NULL;
    }
    ordeal_set_limits(s->o, &(struct ordeal_limits){ .progress = asked_to_stop, .user = s });
    return s;
}

static void close_file(struct test_source *s)
{
    ordeal_reader_free(s->reader);
    if (s->open && s->open != stdin)
        fclose(s->open);
    s->reader = NULL;
    s->open = NULL;
}

void test_source_free(struct test_source *s)
{
    if (!s)
        return;
    close_file(s);
    generator_free(s->generator);
    ordeal_free(s->o);
    free(s);
}

const struct ordeal_error *test_source_error(const struct test_source *s) { return &s->error; }

/* What the library says, completed by what the system says of a failed read. */
static enum ordeal_status keep_error(struct test_source *s, enum ordeal_status status, int system)
{
    if (status == ORDEAL_IO && system)
        return error_set(&s->error, status, s->file ? s->file : "", strerror(system));
    s->error = *ordeal_last_error(s->o);
    s->error.status = status;
    if (!s->error.file[0] && s->file)
        snprintf(s->error.file, sizeof s->error.file, "%s", s->file);
    return status;
}

/* Goes on with the tests that come after those of this bias. */
static enum ordeal_status go_on(struct test_source *s)
{
    const struct test_source_plan *then = s->plan.then;
    if (!then)
        return ORDEAL_END;
    s->plan.bias = then->bias;
    s->plan.seed = then->seed;
    s->plan.first = then->first;
    s->plan.count = then->count;
    s->plan.knobs = then->knobs;
    s->plan.then = then->then;
    s->given = 0;
    generator_free(s->generator);
    s->generator = generator_new(then->bias, then->seed);
    return s->generator ? ORDEAL_OK : error_set(&s->error, ORDEAL_NO_MEMORY, "", "out of memory");
}

static enum ordeal_status make_next(struct test_source *s, struct test_source_test *test)
{
    while (s->given == s->plan.count) {
        enum ordeal_status status = go_on(s);
        if (status != ORDEAL_OK)
            return status;
    }
    test->number = s->plan.first + s->given++;
    test->knobs = s->plan.knobs;
    snprintf(test->name, sizeof test->name, "test-%" PRIu64, test->number);
    uint32_t profile = generator_profile(s->generator, test->number);
    test->profile = profile == UINT32_MAX ? NULL : s->plan.bias->profiles.data[profile].name;
    enum ordeal_status status = generator_make(s->generator, test->number, s->o, &test->trace);
    return status == ORDEAL_OK ? status : keep_error(s, status, 0);
}

static enum ordeal_status open_next(struct test_source *s)
{
    s->file = *s->plan.files;
    if (!s->file)
        return ORDEAL_END;
    s->plan.files++;
    s->in_file = 0;
    s->open = strcmp(s->file, "-") == 0 ? stdin : fopen(s->file, "re");
    if (!s->open)
        return error_set(&s->error, ORDEAL_IO, s->file ? s->file : "", strerror(errno));
    s->reader = ordeal_reader_new(s->o, s->open, s->file, ORDEAL_FORMAT_GUESS);
    return s->reader ? ORDEAL_OK : keep_error(s, ORDEAL_NO_MEMORY, 0);
}

static enum ordeal_status end_of_file(struct test_source *s)
{
    close_file(s);
    if (s->in_file == 0)
        return error_set(&s->error, ORDEAL_BAD_INPUT, s->file ? s->file : "",
                         "there is no test in it; expected 'ordeal 1' first");
    return ORDEAL_OK;
}

static enum ordeal_status read_next(struct test_source *s, struct test_source_test *test)
{
    for (;;) {
        enum ordeal_status status = s->reader ? ORDEAL_OK : open_next(s);
        if (status != ORDEAL_OK)
            return status;
        errno = 0;
        status = ordeal_reader_next(s->reader, &test->trace);
        if (status == ORDEAL_OK)
            break;
        if (status != ORDEAL_END) {
            keep_error(s, status, errno);
            test_source_take_back(s, test);
            return status;
        }
        status = end_of_file(s);
        if (status != ORDEAL_OK)
            return status;
    }
    test->number = s->given++;
    if (++s->in_file == 1)
        snprintf(test->name, sizeof test->name, "%.255s", s->file);
    else
        snprintf(test->name, sizeof test->name, "%.255s#%u", s->file, s->in_file);
    return ORDEAL_OK;
}

enum ordeal_status test_source_next(struct test_source *s, struct test_source_test *test)
{
    *test = (struct test_source_test){ 0 };
    return s->plan.bias ? make_next(s, test) : read_next(s, test);
}

void test_source_take_back(struct test_source *s, struct test_source_test *test)
{
    (void)s;
    ordeal_trace_free(test->trace);
    test->trace = NULL;
}
