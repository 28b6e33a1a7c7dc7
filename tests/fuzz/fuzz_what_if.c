/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for the body of a question to `ordeal serve`. Whatever it is, it is refused
 * with words, or becomes a text that is judged within limits, and what is answered is JSON. What
 * is no question is taken for edits of a fixed trace, too, so that the lines of its text come
 * under them. */
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "report/execution.h"
#include "serve/what_if.h"

static const char fixed[] =
    "ordeal 1\nmodel TSO\ninit A=7\nP0 CAS[A]=7?7#3 >r1 @1:2 # x=1\nP0 S[B]#1 <r1\n"
    "P1 L[B]=1\nP1 L[A]=7\nfinal A=3";

static char *trace_of(void *user, const char *page, const char *part, enum ordeal_model *model,
                      bool *known, struct why *why)
{
    (void)user;
    if (strcmp(page, "index") != 0 || strcmp(part, "whole") != 0) {
        why_say(why, "there is no such page");
        return NULL;
    }
    *model = ORDEAL_TSO;
    *known = true;
    return strdup(fixed);
}

static void judge(const struct what_if *w)
{
    struct ordeal_limits limits = { .seconds = 0.1, .bytes = (size_t)64 << 20 };
    struct execution x;
    struct why why = { "" };
    bool good = execution_open_within(&x, w->text, "what-if", w->known ? &w->model : NULL, &limits,
                                      &why);
    if (!good && !why.text[0])
        abort();
    if (good && !cJSON_GetObjectItem(x.data, "verdict"))
        abort();
    execution_close(&x);
}

static void ask(const char *body, size_t size)
{
    const struct what_if_source source = { trace_of, NULL };
    struct what_if w;
    struct why why = { "" };
    enum what_if_read is = what_if_read(&w, body, size, &source, &why);
    if (is == WHAT_IF_GOOD)
        judge(&w);
    else if (!why.text[0])
        abort();
    what_if_free(&w);
}

/* The input as the edits of the fixed trace. */
static void edit(const uint8_t *data, size_t size)
{
    char *body;
    int length = asprintf(&body,
                          "{\"page\":\"index\",\"part\":\"whole\",\"sum\":%u,\"edits\":%.*s}",
                          execution_sum(fixed), (int)size, (const char *)data);
    if (length < 0)
        abort();
    ask(body, (size_t)length);
    free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > WHAT_IF_BYTES)
        return 0;
    ask((const char *)data, size);
    edit(data, size);
    return 0;
}
