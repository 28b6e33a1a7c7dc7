/* SPDX-License-Identifier: Apache-2.0 */
/* A counterexample as a picture. Each thread is a column, time goes downwards, memory is the column
 * at the right. A store in a buffer is a bar beside its thread that begins at the store; where it
 * ends an arrow goes to memory. What no order explains is framed. */
#include <inttypes.h>
#include <string.h>

#include "account.h"
#include "base/escape.h"

enum {
    ROW = 44,
    BOX = 34,
    COLUMN = 320,
    LANE = 10,
    LANES = 5,
    GAP = 30,
    TOP = 96,
    LEFT = 54,
    MEMORY = 190,
    LETTERS = 41, /* of a line in a box */
};

struct drawing {
    struct account *a;
    FILE *out;
    uint32_t threads, rows;
};

static int column_x(uint32_t thread) { return LEFT + (int)thread * (COLUMN + LANES * LANE + GAP); }
static int memory_x(const struct drawing *d) { return column_x(d->threads); }
static int row_y(uint32_t row) { return TOP + (int)(row - 1) * ROW; }

/* At most so many characters, as XML. */
static void put_text(const char *text, size_t most, FILE *out)
{
    size_t length;
    for (size_t n = 0; *text; text += length, n++) {
        uint32_t c = escape_character(text, &length);
        if (n == most) {
            fputs("…", out);
            return;
        }
        if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (escape_is_shown(c))
            fwrite(text, 1, length, out);
        else
            fputc('?', out);
    }
}

static void put_at(struct drawing *d, int x, int y, const char *class, const char *text,
                   size_t most)
{
    fprintf(d->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
    put_text(text, most, d->out);
    fputs("</text>\n", d->out);
}

static bool in_core(const struct account *a, uint32_t event)
{
    for (size_t i = 0; i < a->core.count; i++)
        if (a->core.data[i] == event)
            return true;
    return false;
}

static const char *class_of(uint8_t kind)
{
    switch (kind) {
    case EVENT_LOAD: return "load";
    case EVENT_STORE: return "store";
    case EVENT_ATOMIC: return "atomic";
    case EVENT_ERROR: return "error";
    default: return "other";
    }
}

/* Bars show what waits, memory what was written; a number does for where the value came from. */
static void shorten_read(const struct account *a, uint32_t event, char words[ACCOUNT_WORDS])
{
    uint32_t from = a->item[event].from;
    size_t length = strcspn(words, ",;");
    words[length] = '\0';
    if (from != ACCOUNT_NONE && a->item[from].row)
        snprintf(words + length, ACCOUNT_WORDS - length, " ← step %" PRIu32, a->item[from].row);
}

static void draw_box(struct drawing *d, uint32_t event)
{
    struct account *a = d->a;
    const struct program_event *e = &a->events->event[event];
    int x = column_x(e->thread), y = row_y(a->item[event].row);
    char words[ACCOUNT_WORDS], place[512] = "";
    struct source_place at;
    account_words(a, event, words);
    if (lines_place(&a->lines, e, &at))
        snprintf(place, sizeof place, "%s:%" PRIu32 "  %s", lines_short_name(at.file), at.line,
                 lines_text(&a->lines, &at));
    fprintf(d->out, "<g id=\"step_%" PRIu32 "\" class=\"%s%s\"><title>", a->item[event].row,
            class_of(e->kind), in_core(a, event) ? " core" : "");
    put_text(words, ACCOUNT_WORDS, d->out);
    fprintf(d->out, "</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>\n", x, y,
            COLUMN, BOX);
    put_at(d, x + 8, y + 14, "source", place, LETTERS + 5);
    if (e->kind == EVENT_LOAD || e->kind == EVENT_ATOMIC)
        shorten_read(a, event, words);
    put_at(d, x + 8, y + 28, "words", words, LETTERS);
    fputs("</g>\n", d->out);
}

/* ---- buffers ----------------------------------------------------------------------------- */

static uint32_t end_row(const struct drawing *d, uint32_t store)
{
    uint32_t left = d->a->item[store].left;
    return left != ACCOUNT_NONE && d->a->item[left].row ? d->a->item[left].row : d->rows + 1;
}

static void draw_arrow(struct drawing *d, const char *class, int x0, int x1, int y)
{
    fprintf(d->out, "<path class=\"%s\" marker-end=\"url(#%s)\" d=\"M%d %dH%d\"/>\n", class, class,
            x0, y, x1);
}

/* The bar of a store, in the first lane that is free, and where it goes. */
static void draw_buffered(struct drawing *d, uint32_t event, uint32_t lane)
{
    const struct account *a = d->a;
    const struct program_event *e = &a->events->event[event];
    uint32_t left = a->item[event].left;
    int x = column_x(e->thread) + COLUMN + 6 + (int)lane * LANE;
    int from = row_y(a->item[event].row) + BOX / 2, to = row_y(end_row(d, event)) + BOX / 2;
    fprintf(d->out, "<path class=\"buffer\" d=\"M%d %dH%dV%d\"/>\n", column_x(e->thread) + COLUMN,
            from, x, to);
    if (left == ACCOUNT_NONE)
        put_at(d, x - 3, to + 12, "stays", "▼", 1);
    else if (a->events->event[left].kind == EVENT_COMMIT)
        draw_arrow(d, "commit", x, memory_x(d) - 2, to);
    else
        put_at(d, x - 4, to + 5, "stays", "✕", 1);
}

static void draw_buffers(struct drawing *d, uint32_t thread)
{
    uint32_t busy[LANES] = { 0 }; /* until which row */
    for (uint32_t i = 0; i < d->a->events->count; i++) {
        const struct program_event *e = &d->a->events->event[i];
        if (e->kind != EVENT_STORE || !e->buffered || e->thread != thread || !d->a->item[i].row)
            continue;
        uint32_t lane = 0;
        while (lane + 1 < LANES && busy[lane] >= d->a->item[i].row)
            lane++;
        busy[lane] = end_row(d, i);
        draw_buffered(d, i, lane);
    }
}

/* ---- memory ------------------------------------------------------------------------------ */

static void draw_memory(struct drawing *d, uint32_t event, const struct program_event *store,
                        uint32_t cause)
{
    char place[PLACE_NAME], value[PLACE_NAME], text[2 * PLACE_NAME + 4];
    int y = row_y(d->a->item[event].row);
    places_name(&d->a->places, store->address, cause, place);
    places_value(&d->a->places, store->written, store->size, cause, value);
    snprintf(text, sizeof text, "%s = %s", place, value);
    fprintf(d->out,
            "<g class=\"memory\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"24\" rx=\"12\"/>\n",
            memory_x(d), y + 5, MEMORY);
    put_at(d, memory_x(d) + 12, y + 21, "words", text, 22);
    fputs("</g>\n", d->out);
}

static void draw_event(struct drawing *d, uint32_t event)
{
    const struct program_event *e = &d->a->events->event[event];
    char number[16];
    if (!d->a->item[event].row)
        return;
    snprintf(number, sizeof number, "%" PRIu32, d->a->item[event].row);
    put_at(d, 8, row_y(d->a->item[event].row) + 22, "number", number, 10);
    if (e->kind == EVENT_COMMIT)
        draw_memory(d, event, &d->a->events->event[e->cause], e->cause);
    else if (e->kind != EVENT_DROP)
        draw_box(d, event);
    if (event_is_access(e) && event_writes(e) && !(e->kind == EVENT_STORE && e->buffered)) {
        draw_arrow(d, "commit", column_x(e->thread) + COLUMN, memory_x(d) - 2,
                   row_y(d->a->item[event].row) + BOX / 2);
        draw_memory(d, event, e, event);
    }
}

/* ---- the page ---------------------------------------------------------------------------- */

static void draw_marker(FILE *out, const char *name, const char *colour)
{
    fprintf(out,
            "<marker id=\"%s\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
            "markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"%s\"/></marker>",
            name, colour);
}

static void begin(struct drawing *d, const char *title)
{
    int width = memory_x(d) + MEMORY + 30, height = row_y(d->rows + 2);
    fprintf(d->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
            "%d\">\n<style>\n"
            "text{font:12px monospace;fill:#263238}.title{font-weight:bold;font-size:15px}\n"
            ".head{font-weight:bold;font-size:13px}.number{fill:#78909c}.source{fill:#607d8b;"
            "font-size:10.5px}\n"
            "rect{fill:#fafafa;stroke:#b0bec5}.load rect{fill:#e3f2fd}.store rect{fill:#fff3e0}\n"
            ".atomic rect{fill:#f3e5f5}.error rect{fill:#ffcdd2;stroke:#c62828}\n"
            ".core rect{stroke:#c62828;stroke-width:2.5}.memory rect{fill:#e8f5e9;stroke:#66bb6a}\n"
            ".line{stroke:#cfd8dc;fill:none}.buffer{stroke:#ef6c00;stroke-width:3;fill:none}\n"
            ".commit{stroke:#ef6c00;stroke-width:1.2;fill:none;stroke-dasharray:5 3}"
            ".stays{fill:#ef6c00}\n</style>\n<defs>",
            width, height, width, height);
    draw_marker(d->out, "commit", "#ef6c00");
    fputs("</defs>\n<rect width=\"100%\" height=\"100%\" style=\"fill:white;stroke:none\"/>\n",
          d->out);
    put_at(d, 16, 28, "title", title, 150);
    put_at(d, 16, 50, "source",
           d->a->core.count ? "orange bar: a store waits in its thread's buffer; dashed arrow: it "
                              "reaches memory; red frame: no order of these explains what they saw"
                            : "orange bar: a store waits in its thread's buffer; dashed arrow: it "
                              "reaches memory",
           200);
}

static void draw_heads(struct drawing *d)
{
    for (uint32_t t = 0; t <= d->threads; t++) {
        char head[32];
        int x = column_x(t) + (t == d->threads ? MEMORY : COLUMN) / 2;
        snprintf(head, sizeof head, t == d->threads ? "memory" : "thread %" PRIu32, t);
        put_at(d, x - 30, TOP - 14, "head", head, 20);
        fprintf(d->out, "<path class=\"line\" d=\"M%d %dV%d\"/>\n", x, TOP - 8, row_y(d->rows + 1));
    }
}

bool account_svg(struct account *a, const struct explore_finding *f, FILE *out)
{
    struct drawing d = { .a = a, .out = out, .rows = a->rows };
    struct account_story s;
    bool whole = account_story(a, f, &s);
    for (size_t i = 0; i < a->events->count; i++)
        if (a->events->event[i].thread >= d.threads)
            d.threads = a->events->event[i].thread + 1;
    begin(&d, s.sentence.count ? s.sentence.data[0] : "");
    draw_heads(&d);
    for (uint32_t t = 0; t < d.threads; t++)
        draw_buffers(&d, t);
    for (uint32_t i = 0; i < a->events->count; i++)
        draw_event(&d, i);
    fputs("</svg>\n", out);
    account_story_free(&s);
    return whole;
}
