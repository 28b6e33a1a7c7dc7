/* SPDX-License-Identifier: Apache-2.0 */
#include "failure_signature.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core_form.h"
#include "requirement.h"

const char *const failure_kind_words[] = {
    [FAILURE_VIOLATION] = "violation",
    [FAILURE_STANDSTILL] = "standstill",
    [FAILURE_ASSERTION] = "assertion",
    [FAILURE_VALUE] = "value",
};

/* The family is what one cause seldom leaves, the rest what it likes to show as. */
static const struct {
    const char *text, *words;
} signatures[REQUIREMENTS] = {
    [REQUIRES_VALUES] = { "coherence.value", "a value that nobody wrote" },
    [REQUIRES_COHERENCE] = { "coherence.word", "accesses of one word contradict each other" },
    [REQUIRES_ATOMICITY] = { "atomicity.operation", "an atomic operation was not atomic" },
    [REQUIRES_ORDER] = { "order.program", "program order was not kept" },
    [REQUIRES_BARRIERS] = { "order.barrier", "order was not kept despite MEMBAR" },
    [REQUIRES_TRANSACTIONS] = { "atomicity.transaction", "a transaction did not happen at once" },
};

bool failure_signature_of_verdict(struct failure_signature *s, const struct ordeal_trace *t,
                                  const struct ordeal_verdict *v)
{
    struct core_form form;
    enum requirement broken;
    *s = (struct failure_signature){ 0 };
    if (!requirement_violated(t, v, &broken) || !core_form_make(&form, t, v))
        return false;
    s->kind = broken == REQUIRES_VALUES ? FAILURE_VALUE : FAILURE_VIOLATION;
    s->form = form.text;
    snprintf(s->text, sizeof s->text, "%s", signatures[broken].text);
    snprintf(s->shape, sizeof s->shape, "%016" PRIx64, form.hash);
    snprintf(s->title, sizeof s->title, "%s%s%s", signatures[broken].words, *form.text ? ": " : "",
             form.text);
    return true;
}

/* ---- machines that broke ----------------------------------------------------------------------- */

/* What was wrong stands first: "hart 3 made two SC succeed with one reservation, at 0x40, cycle 9, in
 * P3 SWAP[A]#7". Where, when and in which operation of the test comes behind it. */
static size_t first_clause(const char *broke)
{
    static const char *const ends[] = { ", ", ": ", "; ", " before P" };
    size_t length = strlen(broke);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *end = strstr(broke, ends[i]);
        if (end && (size_t)(end - broke) < length)
            length = (size_t)(end - broke);
    }
    return length;
}

/* Numbers are those of harts, but in the name of an assertion, which is its place in the source. */
static char *without_numbers(const char *broke)
{
    size_t length = first_clause(broke);
    bool named = strncmp(broke, "assertion ", 10) == 0;
    char *plain = malloc(length + 1), *to = plain;
    for (size_t i = 0; plain && i < length;) {
        if (named || !isdigit((unsigned char)broke[i])) {
            *to++ = broke[i++];
            continue;
        }
        *to++ = 'N';
        while (i < length && isalnum((unsigned char)broke[i]))
            i++;
    }
    if (plain)
        *to = '\0';
    return plain;
}

bool failure_signature_of_break(struct failure_signature *s, const char *broke)
{
    *s = (struct failure_signature){ .form = without_numbers(broke) };
    if (!s->form)
        return false;
    s->kind = strstr(s->form, "hang") ? FAILURE_STANDSTILL : FAILURE_ASSERTION;
    if (s->kind == FAILURE_STANDSTILL)
        snprintf(s->text, sizeof s->text, "standstill");
    else
        snprintf(s->text, sizeof s->text, "assertion.%016" PRIx64, core_form_hash(s->form));
    snprintf(s->title, sizeof s->title, "%s", s->kind == FAILURE_STANDSTILL ? broke : s->form);
    return true;
}

void failure_signature_free(struct failure_signature *s)
{
    free(s->form);
    *s = (struct failure_signature){ 0 };
}
