/* SPDX-License-Identifier: Apache-2.0 */
#include "litmus/litmus_tell.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/text.h"
#include "litmus/litmus_condition.h"

static const char *const kinds[] = {
    [LITMUS_EXISTS] = "Allowed", [LITMUS_NOT_EXISTS] = "Forbidden", [LITMUS_FORALL] = "Required"
};

bool litmus_holds(const struct litmus *test, const struct litmus_result *result)
{
    return test->quantifier == LITMUS_EXISTS     ? result->positive > 0
         : test->quantifier == LITMUS_NOT_EXISTS ? result->positive == 0
                                                 : result->negative == 0;
}

const char *litmus_observation(const struct litmus_result *result)
{
    return !result->positive ? "Never" : result->negative ? "Sometimes" : "Always";
}

void litmus_tell(const struct litmus *test, const struct litmus_result *result, FILE *out)
{
    bool swapped = test->quantifier == LITMUS_NOT_EXISTS;
    fputs("Test ", out);
    escape_write(test->name, false, out);
    fprintf(out, " %s\nStates %zu\n", kinds[test->quantifier], result->state.count);
    for (size_t i = 0; i < result->state.count; i++) {
        const uint64_t *values = litmus_values(result, i);
        for (size_t k = 0; k < result->shown.count; k++) {
            const struct litmus_variable *v = &test->variables.data[result->shown.data[k]];
            fputs(k ? " " : "", out);
            litmus_variable_write(test, v, out);
            fputc('=', out);
            litmus_value_write(test, v, values[result->shown.data[k]], out);
            fputc(';', out);
        }
        fputc('\n', out);
    }
    fprintf(out, "%s%s\nWitnesses\n", result->cut ? "Loop " : "",
            litmus_holds(test, result) ? "Ok" : "No");
    fprintf(out, "Positive: %" PRIu64 " Negative: %" PRIu64 "\nCondition ",
            swapped ? result->negative : result->positive,
            swapped ? result->positive : result->negative);
    litmus_condition_write(test, out);
    fputs("\nObservation ", out);
    escape_write(test->name, false, out);
    fprintf(out, " %s %" PRIu64 " %" PRIu64 "\n\n", litmus_observation(result), result->positive,
            result->negative);
}

/* ---- JSON --------------------------------------------------------------------------------- */

/* What a function writes, for the caller to free; NULL: out of memory, which is noted. */
static char *text_of(const struct litmus *test, const struct litmus_variable *v,
                     const uint64_t *value)
{
    char *text = NULL;
    size_t size;
    FILE *out = text_stream(&text, &size);
    if (out && !v)
        litmus_condition_write(test, out);
    else if (out && !value)
        litmus_variable_write(test, v, out);
    else if (out)
        litmus_value_write(test, v, *value, out);
    if (out && fclose(out) == 0)
        return text;
    json_fail();
    return NULL;
}

static void add_states(cJSON *line, const struct litmus *test, const struct litmus_result *result)
{
    cJSON *states = cJSON_AddArrayToObject(line, "states");
    for (size_t i = 0; i < result->state.count; i++) {
        const uint64_t *values = litmus_values(result, i);
        cJSON *state = cJSON_CreateObject(), *holds = cJSON_AddObjectToObject(state, "values");
        for (size_t k = 0; k < result->shown.count; k++) {
            uint32_t n = result->shown.data[k];
            const struct litmus_variable *v = &test->variables.data[n];
            char *name = text_of(test, v, NULL), *value = text_of(test, v, &values[n]);
            if (name && value)
                cJSON_AddStringToObject(holds, name, value);
            free(name);
            free(value);
        }
        cJSON_AddBoolToObject(state, "holds",
                              litmus_condition_holds(test, test->condition, values));
        cJSON_AddItemToArray(states, state);
    }
}

void litmus_line(cJSON *line, const struct litmus *test, const struct litmus_result *result,
                 enum ordeal_model model, bool states)
{
    char *condition = text_of(test, NULL, NULL);
    cJSON_AddStringToObject(line, "test", test->name);
    cJSON_AddStringToObject(line, "model", ordeal_model_name(model));
    cJSON_AddStringToObject(line, "kind", kinds[test->quantifier]);
    cJSON_AddStringToObject(line, "observation", litmus_observation(result));
    cJSON_AddNumberToObject(line, "states", (double)result->state.count);
    cJSON_AddNumberToObject(line, "positive", (double)result->positive);
    cJSON_AddNumberToObject(line, "negative", (double)result->negative);
    cJSON_AddNumberToObject(line, "candidates", (double)result->candidates);
    cJSON_AddNumberToObject(line, "checks", (double)result->checks);
    cJSON_AddBoolToObject(line, "loop", result->cut);
    if (condition)
        cJSON_AddStringToObject(line, "condition", condition);
    if (states) {
        cJSON_DeleteItemFromObject(line, "states");
        add_states(line, test, result);
    }
    free(condition);
}
