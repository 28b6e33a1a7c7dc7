/* SPDX-License-Identifier: Apache-2.0 */
#include "waves.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"

enum { MARGIN = 20 };         /* cycles that are shown before the first and after the last */

/* ---- where to look ------------------------------------------------------------------------ */

static void note_cycle(struct waves_view *v, uint64_t cycle)
{
    if (!v->last || cycle < v->first)
        v->first = cycle;
    if (cycle > v->last)
        v->last = cycle;
}

static int compare_marks(const void *a, const void *b)
{
    const struct waves_mark *x = a, *y = b;
    return (x->cycle > y->cycle) - (x->cycle < y->cycle);
}

void waves_of_verdict(struct waves_view *v, const struct ordeal_trace *t,
                      const struct ordeal_verdict *verdict)
{
    const uint32_t *ops;
    size_t count = ordeal_verdict_core(verdict, &ops);
    *v = (struct waves_view){ 0 };
    for (size_t i = 0; i < count; i++) {
        const struct ordeal_op *op = ordeal_trace_op(t, ops[i]);
        uint64_t begin = 0, end = 0;
        if (op->thread < 32)
            v->harts |= UINT32_C(1) << op->thread;
        if (!ordeal_trace_times_of(t, ops[i], &begin, &end))
            continue;
        uint64_t cycle = op->flags & ORDEAL_HAS_END ? end : begin;
        note_cycle(v, op->flags & ORDEAL_HAS_BEGIN ? begin : cycle);
        note_cycle(v, cycle);
        if (v->marks < MOST_MARKS) {
            struct waves_mark *m = &v->mark[v->marks++];
            *m = (struct waves_mark){ .hart = op->thread, .cycle = cycle };
            ordeal_trace_format(t, ops[i], m->text, sizeof m->text);
        }
    }
    qsort(v->mark, (size_t)v->marks, sizeof *v->mark, compare_marks);
}

void waves_of_words(struct waves_view *v, const char *broke)
{
    static const char a_hart[] = "; hart ", at[] = ", cycle ", since[] = ", for ";
    const char *text = strstr(broke, at), *next;
    *v = (struct waves_view){ 0 };
    if (!text)
        return;
    uint64_t end = strtoull(text + strlen(at), NULL, 10);
    for (text = strstr(text, a_hart); text && v->marks < MOST_MARKS; text = next) {
        text += strlen(a_hart);
        uint32_t hart = (uint32_t)strtoul(text, NULL, 10);
        const char *found = strstr(text, since);
        next = strstr(text, a_hart);
        uint64_t cycles = found && (!next || found < next)
                        ? strtoull(found + strlen(since), NULL, 10) : 0;
        struct waves_mark *m = &v->mark[v->marks++];
        *m = (struct waves_mark){ .hart = hart, .cycle = cycles < end ? end - cycles : 0 };
        snprintf(m->text, sizeof m->text, "hart %" PRIu32 " waits", hart);
        v->harts |= hart < 32 ? UINT32_C(1) << hart : 0;
        note_cycle(v, m->cycle);
    }
    if (!v->marks)
        note_cycle(v, end);
}

int waves_describe(const struct waves_view *v, char *text, size_t size)
{
    if (!v->last)
        return snprintf(text, size, "the trace has no cycles: look through all of it");
    int n = snprintf(text, size, "cycles %" PRIu64 " to %" PRIu64, v->first, v->last);
    for (int i = 0; i < v->marks && (size_t)n < size; i++)
        n += snprintf(text + n, size - (size_t)n, "\n  %c  cycle %-8" PRIu64 " %s", 'A' + i,
                      v->mark[i].cycle, v->mark[i].text);
    return n;
}

/* ---- the save file ------------------------------------------------------------------------ */

/* What is worth seeing: ports and wires of rtl/tile.v and rtl/bus.v. GTKWave passes over what it
 * does not find, as in a machine of somebody else's. */
/* clang-format off */
static const struct waves_signal signals[] = {
    { WAVES_HART, "pc_o", 32 }, { WAVES_HART, "wait_o", 4 }, { WAVES_HART, "wait_addr_o", 32 },
    { WAVES_HART, "rec_valid_o", 1 }, { WAVES_HART, "rec_kind_o", 4 },
    { WAVES_HART, "rec_addr_o", 32 }, { WAVES_HART, "rec_read_o", 32 },
    { WAVES_HART, "rec_written_o", 32 },
    { WAVES_HART, "bus_valid_o", 1 }, { WAVES_HART, "bus_cmd_o", 2 },
    { WAVES_HART, "bus_addr_o", 32 }, { WAVES_HART, "snp_valid_i", 1 },
    { WAVES_HART, "snp_cmd_i", 2 }, { WAVES_HART, "snp_addr_i", 32 },
    { WAVES_LSU, "op_valid", 1 }, { WAVES_LSU, "op_ready", 1 }, { WAVES_LSU, "op_kind", 4 },
    { WAVES_LSU, "op_addr", 32 }, { WAVES_LSU, "op_data", 32 }, { WAVES_LSU, "wb_valid", 1 },
    { WAVES_LSU, "wb_data", 32 }, { WAVES_LSU, "ipi_i", 1 }, { WAVES_LSU, "tx_active", 1 },
    { WAVES_LSU, "tx_abort", 1 },
    { WAVES_CACHE, "req_valid", 1 }, { WAVES_CACHE, "req_ready", 1 }, { WAVES_CACHE, "req_op", 4 },
    { WAVES_CACHE, "req_addr", 32 }, { WAVES_CACHE, "req_data", 32 },
    { WAVES_CACHE, "rsp_valid", 1 }, { WAVES_CACHE, "rsp_done", 1 },
    { WAVES_CACHE, "rsp_data", 32 }, { WAVES_CACHE, "inv_valid", 1 },
    { WAVES_CACHE, "inv_addr", 32 }, { WAVES_CACHE, "tx_doomed", 2 },
    { WAVES_CACHE, "vis_valid_o", 1 }, { WAVES_CACHE, "vis_addr_o", 32 },
    { WAVES_CACHE, "vis_data_o", 32 },
    { WAVES_BUS, "bus_ready_i", 1 }, { WAVES_BUS, "snp_ready_o", 1 },
    { WAVES_BUS, "ack_valid_o", 1 }, { WAVES_BUS, "ack_shared_o", 1 },
    { WAVES_BUS, "ack_data_o", 1 }, { WAVES_BUS, "out_valid_o", 1 }, { WAVES_BUS, "out_wb_o", 1 },
    { WAVES_BUS, "out_data_o", 32 }, { WAVES_BUS, "fill_valid_i", 1 },
    { WAVES_BUS, "fill_data_i", 32 }, { WAVES_BUS, "fill_done_o", 1 },
    { WAVES_BUS, "uc_valid_o", 1 }, { WAVES_BUS, "uc_write_o", 1 },
    { WAVES_BUS, "uc_addr_o", 32 }, { WAVES_BUS, "uc_data_o", 32 },
    { WAVES_BUS, "uc_rsp_valid_i", 1 }, { WAVES_BUS, "uc_rsp_data_i", 32 },
    { WAVES_MEMORY, "mem_rd_valid_o", 1 }, { WAVES_MEMORY, "mem_rd_ready_i", 1 },
    { WAVES_MEMORY, "mem_rd_addr_o", 32 }, { WAVES_MEMORY, "mem_rdata_valid_i", 1 },
    { WAVES_MEMORY, "mem_rdata_i", 32 }, { WAVES_MEMORY, "mem_wr_valid_o", 1 },
    { WAVES_MEMORY, "mem_wr_ready_i", 1 }, { WAVES_MEMORY, "mem_wr_addr_o", 32 },
    { WAVES_MEMORY, "mem_wdata_valid_o", 1 }, { WAVES_MEMORY, "mem_wdata_o", 32 },
    { WAVES_MEMORY, "mem_uc_valid_o", 1 }, { WAVES_MEMORY, "mem_uc_addr_o", 32 },
};
/* clang-format on */
enum { SIGNALS = sizeof signals / sizeof *signals };

const struct waves_signal *waves_signal(size_t i) { return i < SIGNALS ? &signals[i] : NULL; }

static const char *const groups[] = {
    [WAVES_HART] = "hart %d", [WAVES_LSU] = "hart %d to its load/store unit",
    [WAVES_CACHE] = "hart %d at its cache", [WAVES_BUS] = "hart %d at the bus, the rest",
    [WAVES_MEMORY] = "bus to memory",
};

static void put_title(FILE *out, enum waves_group group, int hart)
{
    fputc('-', out);
    for (const char *at = groups[group]; *at; at++)
        if (at[0] == '%')
            fprintf(out, "%d", hart), at++;
        else
            fputc(*at, out);
    fputc('\n', out);
}

/* Flags of GTKWave: 0x22 hexadecimal, 0x28 binary; 0x200 a title, with 0x800000 of a group, at its
 * end 0x1000000; 0x400000 of one that is folded, with 0x1000 at its end. */
static void put_group(FILE *out, enum waves_group group, int hart)
{
    bool folded = group != WAVES_HART;
    fputs(folded ? "@c00200\n" : "@800200\n", out);
    put_title(out, group, hart);
    for (const struct waves_signal *s = signals; s < signals + SIGNALS; s++) {
        if (s->group != group)
            continue;
        fputs(s->width == 1 ? "@28\n" : "@22\n", out);
        if (group == WAVES_MEMORY)
            fprintf(out, "soc.bus.%s", s->name);
        else
            fprintf(out, "soc.harts[%d].tile.%s", hart, s->name);
        if (s->width > 1)
            fprintf(out, "[%d:0]", s->width - 1);
        fputc('\n', out);
    }
    fputs(folded ? "@1401200\n" : "@1000200\n", out);
    put_title(out, group, hart);
}

/* So that the cycles fill the window: GTKWave's zoom is the logarithm of the time that 200 of its
 * pixels are, negated; about 1000 are beside the names. */
static double zoom_for(uint64_t cycles)
{
    return -log2((double)cycles * TIME_PER_CYCLE * 200 / 1000);
}

static void put_markers(const struct waves_view *v, FILE *out)
{
    fprintf(out, "*%.6f", zoom_for(v->last - v->first + 2 * MARGIN));
    fprintf(out, " %" PRIu64, v->marks ? v->mark[0].cycle * TIME_PER_CYCLE : 0);
    for (int i = 0; i < MOST_MARKS; i++)
        if (i < v->marks)
            fprintf(out, " %" PRIu64, v->mark[i].cycle * TIME_PER_CYCLE);
        else
            fputs(" -1", out);
    fputc('\n', out);
    for (int i = 0; i < v->marks; i++)
        fprintf(out, "[markername] %c%s\n", 'A' + i, v->mark[i].text);
}

bool waves_write_view(const struct waves_view *v, const char *fst, FILE *out)
{
    uint64_t from = v->first > MARGIN ? v->first - MARGIN : 0;
    const char *end = strrchr(fst, '.');
    int stem = (int)(end ? end - fst : (ptrdiff_t)strlen(fst));
    /* Where both were: with that GTKWave finds the waves also when the folder has moved. */
    fprintf(out, "[*] made by ordeal: the cycles of a violation\n"
                 "[dumpfile] \"%s\"\n[savefile] \"%.*s.gtkw\"\n", fst, stem, fst);
    fprintf(out, "[timestart] %" PRIu64 "\n[size] 1600 900\n[pos] -1 -1\n",
            from * TIME_PER_CYCLE);
    put_markers(v, out);
    fputs("@28\nsoc.clk_i\n@24\nsoc.cycle_q[31:0]\n", out);
    for (int group = WAVES_HART; group <= WAVES_BUS; group++)
        for (int hart = 0; hart < 32; hart++)
            if (v->harts >> hart & 1)
                put_group(out, (enum waves_group)group, hart);
    put_group(out, WAVES_MEMORY, 0);
    return !ferror(out);
}

/* ---- GTKWave ------------------------------------------------------------------------------ */

static bool has_display(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && *x) || (wayland && *wayland);
}

bool waves_open(const char *gtkw, struct why *why)
{
    const char *viewer = "gtkwave";
    char buffer[PATH_MAX + 128];
    gtkw = child_argument(gtkw, buffer, sizeof buffer);
    if (!has_display() || !child_exists(viewer))
        return why_say(why, "%s; open it with: gtkwave %s",
                       has_display() ? "there is no gtkwave" : "there is no display", gtkw);
    pid_t child = fork();
    if (child == 0) {            /* a child of a child, so that nobody waits for it */
        if (setsid() >= 0 && fork() == 0)
            execlp(viewer, viewer, gtkw, (char *)NULL);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    return child > 0;
}
