/* SPDX-License-Identifier: Apache-2.0 */
#include "fence_patch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"

/* ---- tokens of C, as far as statements go --------------------------------------------------- */

/* Behind what stands at `at` if that is no code: blanks, comments, lines for the preprocessor. */
static size_t skip_no_code(const char *text, size_t at)
{
    for (;;) {
        size_t from = at;
        bool fresh = at == 0 || text[at - 1] == '\n';
        at += strspn(text + at, " \t\r\n\f\v");
        fresh = fresh || memchr(text + from, '\n', at - from);
        if (strncmp(text + at, "//", 2) == 0) {
            at += strcspn(text + at, "\n");
        } else if (strncmp(text + at, "/*", 2) == 0) {
            const char *end = strstr(text + at + 2, "*/");
            at = end ? (size_t)(end + 2 - text) : strlen(text);
        } else if (text[at] == '#' && fresh) {
            while (text[at] && text[at] != '\n')
                at += text[at] == '\\' && text[at + 1] ? 2 : 1;
        } else if (at == from) {
            return at;
        }
    }
}

static size_t skip_quoted(const char *text, size_t at)
{
    char quote = text[at++];
    while (text[at] && text[at] != quote)
        at += text[at] == '\\' && text[at + 1] ? 2 : 1;
    return at + (text[at] != '\0');
}

static size_t skip_token(const char *text, size_t at)
{
    if (text[at] == '"' || text[at] == '\'')
        return skip_quoted(text, at);
    if (!isalnum((unsigned char)text[at]) && text[at] != '_')
        return at + 1;
    while (isalnum((unsigned char)text[at]) || text[at] == '_' || text[at] == '.')
        at++;
    return at;
}

static bool is_word(const char *text, size_t from, size_t to, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == to - from && strncmp(text + from, *words, to - from) == 0)
            return true;
    return false;
}

/* ---- the statement around a place ------------------------------------------------------------ */

struct statement {
    size_t from, to; /* up to behind its semicolon */
    bool body;       /* it stands alone behind a head, `else` or `do` */
    bool in_head;    /* the place is in the head of a loop or of an `if`: there is none */
};

struct scan {
    size_t place, parentheses, head; /* `head`: how many were open before that of a head; 0: none */
    size_t questions;                /* that wait for their colon */
    bool head_next, past;
    struct statement now;
};

static void begin_statement(struct scan *s, size_t from, bool body)
{
    if (!s->past)
        s->now = (struct statement){ .from = from, .body = body };
    s->head = s->questions = 0;
    s->head_next = false;
}

/* That of a label, behind which a statement begins, and not of `?` or `::`. */
static bool ends_label(struct scan *s, const char *text, size_t at)
{
    if (text[at] == '?')
        s->questions++;
    if (text[at] != ':' || text[at + 1] == ':' || (at && text[at - 1] == ':') || s->parentheses)
        return false;
    if (!s->questions)
        return true;
    s->questions--;
    return false;
}

static void see_parenthesis(struct scan *s, const char *text, size_t at)
{
    if (text[at] == '(') {
        s->parentheses++;
        if (s->head_next)
            s->head = s->parentheses;
        s->head_next = false;
        return;
    }
    bool ends_head = s->head && s->parentheses == s->head;
    s->parentheses -= s->parentheses > 0;
    if (ends_head)
        begin_statement(s, skip_no_code(text, at + 1), true);
}

/* False: the statement around the place is known. */
static bool see_token(struct scan *s, const char *text, size_t at, size_t end)
{
    static const char *const heads[] = { "if", "while", "for", "switch", NULL };
    static const char *const alone[] = { "else", "do", NULL };
    if (!s->past && end > s->place) {
        s->past = true;
        s->now.in_head = s->head && s->parentheses >= s->head;
    }
    if (text[at] == '(' || text[at] == ')')
        see_parenthesis(s, text, at);
    else if (is_word(text, at, end, heads))
        s->head_next = true;
    else if (is_word(text, at, end, alone))
        begin_statement(s, skip_no_code(text, end), true);
    else if (ends_label(s, text, at))
        begin_statement(s, skip_no_code(text, end), s->now.body);
    else if (strchr(";{}", text[at]) && !s->parentheses) {
        s->now.to = end;
        if (s->past)
            return text[at] != ';';
        begin_statement(s, skip_no_code(text, end), false);
    }
    return true;
}

static struct statement statement_at(const char *text, size_t place)
{
    struct scan s = { .place = place };
    size_t at = skip_no_code(text, 0);
    begin_statement(&s, at, false);
    while (text[at]) {
        size_t end = skip_token(text, at);
        if (!see_token(&s, text, at, end))
            return s.now;
        at = skip_no_code(text, end);
    }
    s.now.in_head = true;
    return s.now;
}

/* ---- the text with fences ---------------------------------------------------------------------- */

struct change {
    struct statement at;
    bool before, behind;
};
typedef LIST(struct change) changes;

static size_t offset_of(const char *text, uint32_t line, uint32_t column)
{
    size_t at = 0;
    for (; line > 1 && text[at]; line--)
        at += strcspn(text + at, "\n") + (text[at + strcspn(text + at, "\n")] == '\n');
    return at + (column ? column - 1 : strspn(text + at, " \t"));
}

static bool add_change(changes *all, struct statement at, bool before)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->data[i].at.from == at.from) {
            all->data[i].before |= before;
            all->data[i].behind |= !before;
            return true;
        }
    struct change c = { at, before, !before };
    return LIST_PUSH(all, c);
}

static int by_place(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return x->at.from < y->at.from ? -1 : x->at.from > y->at.from;
}

static void write_changed(FILE *out, const char *text, const changes *all)
{
    size_t at = 0;
    if (!strstr(text, "ordeal_program.h"))
        fputs("#include <ordeal_program.h> /* __ordeal_mfence, __ordeal_sfence */\n", out);
    for (size_t i = 0; i < all->count; i++) {
        const struct change *c = &all->data[i];
        fwrite(text + at, 1, c->at.from - at, out);
        fprintf(out, "%s%s%.*s%s%s", c->at.body ? "{ " : "", c->before ? "__ordeal_sfence(); " : "",
                (int)(c->at.to - c->at.from), text + c->at.from,
                c->behind ? " __ordeal_mfence();" : "", c->at.body ? " }" : "");
        at = c->at.to;
    }
    fputs(text + at, out);
}

static bool find_changes(const char *file, const char *text, const struct fence_patch *patch,
                         size_t patches, changes *all, struct why *why)
{
    for (size_t i = 0; i < patches; i++) {
        if (strcmp(patch[i].file, file) != 0)
            continue;
        struct statement at = statement_at(text, offset_of(text, patch[i].line, patch[i].column));
        if (at.in_head)
            return why_say(why,
                           "%s:%u: the store is in the head of a loop, of an 'if' or of no "
                           "statement: write it as a statement of its own, and try again",
                           file, patch[i].line);
        if (!add_change(all, at, patch[i].before))
            return why_say(why, "out of memory");
    }
    if (all->count)
        qsort(all->data, all->count, sizeof *all->data, by_place);
    return true;
}

char *fence_patch_text(const char *file, const char *text, const struct fence_patch *patch,
                       size_t patches, bool *changed, struct why *why)
{
    changes all = { 0 };
    char *patched = NULL;
    size_t size;
    bool fine = find_changes(file, text, patch, patches, &all, why);
    *changed = all.count > 0;
    FILE *out = fine ? text_stream(&patched, &size) : NULL;
    if (out) {
        write_changed(out, text, &all);
        if (fclose(out) != 0) {
            free(patched);
            patched = NULL;
        }
    }
    if (fine && !patched)
        why_say(why, "out of memory");
    LIST_FREE(&all);
    return patched;
}
