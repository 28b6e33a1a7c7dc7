#include "campaign.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- the file -------------------------------------------------------------------------------- */

static uint64_t sum_of_file(uint64_t sum, const char *name)
{
    FILE *f = fopen(name, "r");
    for (int c; f && (c = fgetc(f)) != EOF; )
        sum = (sum ^ (uint64_t)c) * UINT64_C(0x100000001b3);
    if (f)
        fclose(f);
    return sum;
}

/* What results depend on: another machine or another bias is another campaign. */
static cJSON *settings_of(const struct campaign *c)
{
    uint64_t sum = sum_of_file(UINT64_C(0xcbf29ce484222325), c->bias);
    glob_t files;
    if (glob("rtl/*.[vd]*", 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++)
            sum = sum_of_file(sum, files.gl_pathv[i]);
        globfree(&files);
    }
    char text[32];
    cJSON *s = cJSON_CreateObject();
    snprintf(text, sizeof text, "%016llx", (unsigned long long)sum);
    cJSON_AddStringToObject(s, "sources", text);
    cJSON_AddStringToObject(s, "bias", c->bias);
    cJSON_AddStringToObject(s, "config", c->config);
    cJSON_AddNumberToObject(s, "count", (double)c->count);
    cJSON_AddNumberToObject(s, "seed", (double)c->seed);
    cJSON_AddBoolToObject(s, "shrink", c->shrink);
    return s;
}

static cJSON *read_file(const char *name)
{
    FILE *f = fopen(name, "r");
    char *text = NULL;
    size_t length = 0;
    cJSON *root = NULL;
    if (f && getdelim(&text, &length, '\0', f) > 0)
        root = cJSON_Parse(text);
    free(text);
    if (f)
        fclose(f);
    return root;
}

static bool write_file(const struct campaign *c)
{
    char fresh[4096];
    snprintf(fresh, sizeof fresh, "%s.new", c->file);
    char *text = cJSON_Print(c->root);
    FILE *f = text ? fopen(fresh, "w") : NULL;
    bool good = f && fprintf(f, "%s\n", text) > 0;
    good = f && fclose(f) == 0 && good && rename(fresh, c->file) == 0;
    cJSON_free(text);
    if (!good)
        perror(c->file);
    return good;
}

bool campaign_open(struct campaign *c)
{
    cJSON *settings = settings_of(c), *before = read_file(c->file);
    cJSON *runs = cJSON_GetObjectItem(before, "runs");
    bool same = cJSON_Compare(settings, cJSON_GetObjectItem(before, "settings"), true);
    c->root = cJSON_CreateObject();
    cJSON_AddItemToObject(c->root, "settings", settings);
    if (same && cJSON_IsArray(runs)) {
        c->runs = cJSON_DetachItemFromObject(before, "runs");
        cJSON_AddItemToObject(c->root, "runs", c->runs);
        printf("%s goes on: %d runs are done\n", c->file, cJSON_GetArraySize(c->runs));
    } else {
        c->runs = cJSON_AddArrayToObject(c->root, "runs");
    }
    cJSON_Delete(before);
    return write_file(c);
}

void campaign_close(struct campaign *c) { cJSON_Delete(c->root); }

/* ---- runs ------------------------------------------------------------------------------------ */

static cJSON *find(const struct campaign *c, const char *name)
{
    cJSON *run;
    cJSON_ArrayForEach(run, c->runs)
        if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(run, "name")), name) == 0)
            return run;
    return NULL;
}

/* The lines of ordeal run --json: tests that failed, of which the first is kept, and the sum. */
static void take_line(cJSON *result, const char *line)
{
    static const char *const kept[] = { "broke", "reason", "small", "saved", "verdict" };
    static const char *const sums[] = { "tests", "iterations", "operations", "cycles", "seconds",
                                        "fail", "undecided", "end", "cycles_per_second",
                                        "running_percent" };
    cJSON *said = cJSON_Parse(line);
    bool is_sum = cJSON_HasObjectItem(said, "end");
    const char *const *keys = is_sum ? sums : kept;
    size_t count = is_sum ? sizeof sums / sizeof *sums : sizeof kept / sizeof *kept;
    if (said && (is_sum || !cJSON_HasObjectItem(result, "verdict"))) {
        for (size_t i = 0; i < count; i++)
            if (cJSON_HasObjectItem(said, keys[i]))
                cJSON_AddItemToObject(result, keys[i],
                                      cJSON_DetachItemFromObject(said, keys[i]));
        if (!is_sum)
            cJSON_AddNumberToObject(result, "core",
                                    cJSON_GetArraySize(cJSON_GetObjectItem(said, "core")));
    }
    cJSON_Delete(said);
}

const cJSON *campaign_run(struct campaign *c, const char *name, const char *words)
{
    char command[4096], *line = NULL;
    size_t room = 0;
    cJSON *result = find(c, name);
    if (result)
        return result;
    snprintf(command, sizeof command, "'%s' run --target sim --check --json --seed %llu %s",
             c->program, (unsigned long long)c->seed, words);
    fflush(stdout);
    FILE *pipe = popen(command, "r");
    if (!pipe) {
        perror(c->program);
        return NULL;
    }
    result = cJSON_CreateObject();
    cJSON_AddStringToObject(result, "name", name);
    cJSON_AddStringToObject(result, "command", command);
    while (getline(&line, &room, pipe) > 0)
        take_line(result, line);
    free(line);
    int status = pclose(pipe);
    cJSON_AddNumberToObject(result, "status", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 130 || WEXITSTATUS(status) == 127) {
        cJSON_Delete(result);
        return NULL;
    }
    cJSON_AddItemToArray(c->runs, result);
    return write_file(c) ? result : NULL;
}

/* ---- results --------------------------------------------------------------------------------- */

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
