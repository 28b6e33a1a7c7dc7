/* SPDX-License-Identifier: Apache-2.0 */
#include "results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"

/* ---- reading and writing --------------------------------------------------------------------- */

/* All of it, with a zero behind; NULL, and errno. */
static char *slurp(const char *name, size_t *size)
{
    char *text = NULL;
    FILE *in = fopen(name, "re");
    FILE *memory = in ? open_memstream(&text, size) : NULL;
    bool good = memory;
    for (int c; good && (c = getc_unlocked(in)) != EOF;)
        putc_unlocked(c, memory);
    good = good && !ferror(in);
    int error = errno;
    if (in)
        fclose(in);
    if (memory && fclose(memory) == 0 && good)
        return text;
    free(text);
    errno = error;
    return NULL;
}

static bool is_run(const cJSON *run)
{
    return cJSON_IsString(cJSON_GetObjectItem(run, "command"))
        && cJSON_IsString(cJSON_GetObjectItem(run, "sources"))
        && cJSON_IsNumber(cJSON_GetObjectItem(run, "limit"));
}

static bool not_results(const struct results *r, struct why *why, const char *what, size_t place)
{
    return why_say(why, "%s is not a file of results (%s %zu); it was left as it is", r->file, what,
                   place);
}

static bool parse(struct results *r, const char *text, size_t size, struct why *why)
{
    const char *end = NULL;
    const cJSON *run;
    size_t number = 0;
    r->runs = cJSON_ParseWithLengthOpts(text, size + 1, &end, true);
    if (!r->runs)
        return not_results(r, why, "no JSON at byte", end ? (size_t)(end - text) : 0);
    if (!cJSON_IsArray(r->runs))
        return not_results(r, why, "no array at byte", 0);
    cJSON_ArrayForEach(run, r->runs)
    {
        number++;
        if (!is_run(run))
            return not_results(r, why, "no run is its element", number);
    }
    return true;
}

static bool read_runs(struct results *r, struct why *why)
{
    size_t size = 0;
    char *text = slurp(r->file, &size);
    bool good = true;
    if (!text && errno != ENOENT)
        return why_say(why, "%s: %s", r->file, strerror(errno));
    if (size && text)
        good = parse(r, text, size, why);
    else
        r->runs = cJSON_CreateArray();
    free(text);
    return good;
}

static bool write_runs(const struct results *r, struct why *why)
{
    struct output out;
    int error = output_open(&out, r->file);
    char *text = error ? NULL : cJSON_Print(r->runs);
    if (!error && !text)
        error = ENOMEM;
    if (error) {
        output_abandon(&out);
    } else {
        fprintf(out.file, "%s\n", text);
        error = output_commit(&out);
    }
    cJSON_free(text);
    return !error || why_say(why, "%s: %s", r->file, strerror(error));
}

bool results_open(struct results *r, const char *file, struct why *why)
{
    struct why reason;
    *r = (struct results){ .file = file };
    if (!temporary_hold(&r->held, file, &reason))
        return why_say(why, "%s: %s", file, reason.text);
    return read_runs(r, why) && write_runs(r, why);
}

void results_close(struct results *r)
{
    cJSON_Delete(r->runs);
    temporary_remove(&r->held);
    *r = (struct results){ 0 };
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool says(const cJSON *run, const char *key, const char *text)
{
    const char *said = cJSON_GetStringValue(cJSON_GetObjectItem(run, key));
    return said && strcmp(said, text) == 0;
}

const cJSON *results_find(struct results *r, const char *command, double limit, const char *stamp)
{
    cJSON *run;
    cJSON_ArrayForEach(run, r->runs) if (says(run, "command", command)
                                         && result_number(run, "limit") == limit) break;
    if (run && !says(run, "sources", stamp)) {
        cJSON_Delete(cJSON_DetachItemViaPointer(r->runs, run));
        run = NULL;
    }
    return run;
}

bool results_add(struct results *r, cJSON *run, struct why *why)
{
    cJSON_AddItemToArray(r->runs, run);
    return write_runs(r, why);
}

/* ---- what they say --------------------------------------------------------------------------- */

double result_number(const cJSON *result, const char *key)
{
    const cJSON *number = cJSON_GetObjectItem(result, key);
    return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

bool result_found(const cJSON *result) { return result_number(result, "fail") > 0; }

const char *result_verdict(const cJSON *result)
{
    int status = (int)result_number(result, "status");
    if (result_found(result))
        return cJSON_IsTrue(cJSON_GetObjectItem(result, "broke")) ? "broke" : "FAIL";
    return status == 0 ? "-" : status == 4 ? "UNDECIDED" : "error";
}
