/* SPDX-License-Identifier: Apache-2.0 */
#include "waves_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstapi.h>

#include "base/apart.h"
#include "base/list.h"
#include "base/text.h"

enum { AROUND = 20, BEFORE = 120, MOST_CHANGES = 60000, MOST_CYCLES = 4000, MOST_SHOWN_HARTS = 16 };

struct change {
    uint64_t time;
    char *bits;
};
struct watched {
    const struct waves_signal *signal;
    int hart; /* -1: of memory */
    fstHandle handle;
    LIST(struct change) changes;
};
struct watching {
    uint64_t from, to;    /* time */
    uint64_t first, last; /* cycles */
    int file;
    pid_t parent;
    uint32_t harts;
    LIST(struct watched) signals;
    size_t changes;
    bool out_of_memory;
};

/* ---- which signals ----------------------------------------------------------------------------- */

static void want(struct watching *w, int hart, enum waves_group group)
{
    const struct waves_signal *s;
    for (size_t i = 0; (s = waves_signal(i)); i++)
        if (s->group == group)
            w->out_of_memory |= !LIST_PUSH(&w->signals,
                                           ((struct watched){ .signal = s, .hart = hart }));
}

static void want_all(struct watching *w)
{
    for (int hart = 0; hart < MOST_SHOWN_HARTS; hart++)
        if (w->harts >> hart & 1)
            want(w, hart, WAVES_HART);
    want(w, -1, WAVES_MEMORY);
}

/* As the scopes are called; the names of variables have their range behind a space. */
static bool is_it(const struct watched *s, const char *scope, const char *name)
{
    char wanted[64];
    size_t length = strlen(s->signal->name);
    if (s->hart < 0)
        snprintf(wanted, sizeof wanted, "soc.bus");
    else
        snprintf(wanted, sizeof wanted, "soc.harts[%d].tile", s->hart);
    return strcmp(scope, wanted) == 0 && strncmp(name, s->signal->name, length) == 0
        && (name[length] == '\0' || name[length] == ' ' || name[length] == '[');
}

static void note_variable(struct watching *w, const char *scope, const char *name, fstHandle handle)
{
    if (!scope || strncmp(scope, "soc.", 4) != 0)
        return;
    for (size_t i = 0; i < w->signals.count; i++)
        if (!w->signals.data[i].handle && is_it(&w->signals.data[i], scope, name))
            w->signals.data[i].handle = handle;
}

static void find_signals(struct watching *w, void *reader)
{
    struct fstHier *h;
    while ((h = fstReaderIterateHier(reader)))
        if (h->htyp == FST_HT_SCOPE)
            fstReaderPushScope(reader, h->u.scope.name, NULL);
        else if (h->htyp == FST_HT_UPSCOPE)
            fstReaderPopScope(reader);
        else if (h->htyp == FST_HT_VAR)
            note_variable(w, fstReaderGetCurrentFlatScope(reader), h->u.var.name, h->u.var.handle);
}

/* ---- what they did ----------------------------------------------------------------------------- */

/* Before the beginning only the last change counts. */
static void note_change(struct watching *w, struct watched *s, uint64_t time, const char *bits)
{
    struct change *last = s->changes.count ? &s->changes.data[s->changes.count - 1] : NULL;
    if (last && strcmp(last->bits, bits) == 0)
        return;
    char *copy = strdup(bits);
    if (last && copy && (last->time == time || time <= w->from)) {
        free(last->bits);
        *last = (struct change){ time, copy };
    } else if (!copy || !LIST_PUSH(&s->changes, ((struct change){ time, copy }))) {
        w->out_of_memory = true;
        free(copy);
    } else {
        w->changes++;
    }
}

static void take_change(void *user, uint64_t time, fstHandle handle, const unsigned char *value)
{
    struct watching *w = user;
    for (size_t i = 0; i < w->signals.count; i++)
        if (w->signals.data[i].handle == handle && time <= w->to && w->changes < MOST_CHANGES)
            note_change(w, &w->signals.data[i], time, (const char *)value);
}

static void watch(struct watching *w, void *reader)
{
    find_signals(w, reader);
    fstReaderClrFacProcessMaskAll(reader);
    for (size_t i = 0; i < w->signals.count; i++)
        if (w->signals.data[i].handle)
            fstReaderSetFacProcessMask(reader, w->signals.data[i].handle);
    fstReaderSetLimitTimeRange(reader, w->from, w->to);
    fstReaderIterBlocks(reader, take_change, w, NULL);
}

/* ---- as JSON ----------------------------------------------------------------------------------- */

static void put_value(const char *bits, FILE *out)
{
    size_t length = strlen(bits);
    unsigned digit = 0;
    putc('"', out);
    if (strspn(bits, "01") != length || length == 0) {
        putc('x', out);
        length = 0;
    }
    for (size_t i = 0; i < length; i++) {
        digit = digit << 1 | (unsigned)(bits[i] - '0');
        if ((length - i - 1) % 4 == 0) {
            fprintf(out, "%x", digit);
            digit = 0;
        }
    }
    putc('"', out);
}

static void put_signal(const struct watching *w, const struct watched *s, FILE *out)
{
    fprintf(out, "{\"name\":\"%s\",\"width\":%d,", s->signal->name, s->signal->width);
    if (s->hart >= 0)
        fprintf(out, "\"hart\":%d,", s->hart);
    fputs("\"changes\":[", out);
    for (size_t i = 0; i < s->changes.count; i++) {
        uint64_t cycle = s->changes.data[i].time / TIME_PER_CYCLE;
        fprintf(out, "%s[%" PRIu64 ",", i ? "," : "", cycle < w->first ? w->first : cycle);
        put_value(s->changes.data[i].bits, out);
        putc(']', out);
    }
    fputs("]}", out);
}

static void put_all(const struct watching *w, FILE *out)
{
    const char *separator = "";
    fprintf(out, "{\"first\":%" PRIu64 ",\"last\":%" PRIu64 ",\"cut\":%s,\"signals\":[", w->first,
            w->last, w->changes >= MOST_CHANGES ? "true" : "false");
    for (size_t i = 0; i < w->signals.count; i++)
        if (w->signals.data[i].changes.count) {
            fputs(separator, out);
            put_signal(w, &w->signals.data[i], out);
            separator = ",";
        }
    fputs("]}", out);
}

/* ---- apart ------------------------------------------------------------------------------------- */

/* The reader opens the file by a name, and a temporary file for what is packed twice. */
static void limit_process(void)
{
    const struct rlimit files = { 1 << 28, 1 << 28 }, seconds = { 20, 20 }, none = { 0, 0 },
                        memory = { UINT64_C(1) << 32, UINT64_C(1) << 32 };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    setrlimit(RLIMIT_FSIZE, &files);
    setrlimit(RLIMIT_CPU, &seconds);
    setrlimit(RLIMIT_NPROC, &none);
    setrlimit(RLIMIT_AS, &memory);
}

static void forget(struct watching *w)
{
    for (size_t i = 0; i < w->signals.count; i++) {
        for (size_t k = 0; k < w->signals.data[i].changes.count; k++)
            free(w->signals.data[i].changes.data[k].bits);
        LIST_FREE(&w->signals.data[i].changes);
    }
    LIST_FREE(&w->signals);
}

static void look_at(struct watching *w, uint64_t first, uint64_t last)
{
    w->first = last - first > MOST_CYCLES ? last - MOST_CYCLES : first;
    w->last = last;
    w->from = w->first * TIME_PER_CYCLE;
    w->to = w->last * TIME_PER_CYCLE + TIME_PER_CYCLE - 1;
}

static bool watch_file(struct watching *w)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", w->file);
    void *reader = fstReaderOpen(name);
    if (!reader)
        return false;
    w->changes = 0;
    want_all(w);
    watch(w, reader);
    fstReaderClose(reader);
    return true;
}

/* Does nothing move where we look? Then when something did for the last time, as far as that is known. */
static bool is_still(const struct watching *w, uint64_t *moved)
{
    *moved = 0;
    for (size_t i = 0; i < w->signals.count; i++) {
        const struct watched *s = &w->signals.data[i];
        uint64_t time = s->changes.count ? s->changes.data[s->changes.count - 1].time : 0;
        *moved = time > *moved ? time : *moved;
    }
    return *moved <= w->from;
}

static bool read_waves(void *user, FILE *out)
{
    struct watching *w = user;
    uint64_t moved;
    if (w->parent != getpid()) /* with sanitizers it is this process (base/apart.c) */
        limit_process();
    if (!watch_file(w))
        return false;
    if (is_still(w, &moved) && moved) {
        uint64_t cycle = moved / TIME_PER_CYCLE;
        forget(w);
        look_at(w, cycle > BEFORE ? cycle - BEFORE : 0, cycle + AROUND);
        watch_file(w);
    }
    put_all(w, out);
    forget(w);
    return !w->out_of_memory;
}

cJSON *waves_data(int file, const struct waves_view *view, struct why *why)
{
    struct watching w = { .file = file, .parent = getpid(), .harts = view->harts };
    look_at(&w, view->first > AROUND ? view->first - AROUND : 0, view->last + AROUND);
    char *text = NULL;
    size_t size;
    FILE *out = text_stream(&text, &size);
    bool good = out && apart_write(read_waves, &w, out);
    good = out && fclose(out) == 0 && good;
    cJSON *data = good ? cJSON_ParseWithLength(text, size) : NULL;
    free(text);
    if (!data)
        why_say(why, "the waves could not be read");
    return data;
}
