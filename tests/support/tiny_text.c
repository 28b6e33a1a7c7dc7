/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny programs as text, and back: what a test that fails prints can be run again. */
#include "tiny.h"

#include <string.h>

static void print_place(const struct tiny_op *o, FILE *stream)
{
    fprintf(stream, "%c", "xyz"[o->address / 4]);
    if (o->size < 4)
        fprintf(stream, "+%u/%u", o->address % 4, o->size);
}

static void print_fence(const struct tiny_op *o, FILE *stream)
{
    static const char *const pair[] = { " rr", " rw", " wr", " ww" };
    fputs("fence", stream);
    for (unsigned i = 0; i < 4; i++)
        fputs(o->order >> i & 1 ? pair[i] : "", stream);
}

static void print_atomic(const struct tiny_op *o, FILE *stream)
{
    static const char *const name[] = { "swap", "add", "or", "max", "cas" };
    static const char *const order[] = { "", ".rl", ".aq", ".aqrl" };
    fprintf(stream, "r%u = %s%s ", o->target, name[o->kind - TINY_SWAP], order[o->order]);
    print_place(o, stream);
    if (o->kind == TINY_CAS)
        fprintf(stream, " 0x%x ->", o->compare);
    fprintf(stream, " 0x%x", o->value);
}

static void print_op(const struct tiny_op *o, FILE *stream)
{
    switch (o->kind) {
    case TINY_LOAD:
        fprintf(stream, "r%u = ", o->target);
        print_place(o, stream);
        break;
    case TINY_STORE:
        print_place(o, stream);
        fprintf(stream, " = 0x%x", o->value);
        if (o->source < TINY_REGISTERS)
            fprintf(stream, " + r%u", o->source);
        break;
    case TINY_FENCE: print_fence(o, stream); break;
    case TINY_SKIP:
        fprintf(stream, "if r%u %s 0x%x skip %u", o->source, o->negated ? "!=" : "==", o->value,
                o->distance);
        break;
    case TINY_LOOP:
        fprintf(stream, "if r%u != 0x%x back %u, %u times", o->source, o->value, o->distance,
                o->times);
        break;
    case TINY_ENTER: fputs("enter", stream); break;
    case TINY_LEAVE: fputs("leave", stream); break;
    default: print_atomic(o, stream);
    }
}

void tiny_print(const struct tiny_program *p, FILE *stream)
{
    for (unsigned t = 0; t < p->threads; t++) {
        fprintf(stream, "  P%u:", t);
        for (unsigned i = 0; i < p->ops[t]; i++) {
            fputs(i ? "; " : " ", stream);
            print_op(&p->op[t][i], stream);
        }
        fputc('\n', stream);
    }
}

/* ---- and back -------------------------------------------------------------------------------- */

/* "x", or "x+2/1" for one byte at 2; how many characters it has, 0: it is none. */
static int read_place(const char *text, struct tiny_op *o)
{
    unsigned offset = 0, size = 4;
    int length = 1, more = 0;
    if (*text < 'x' || *text > 'z')
        return 0;
    if (sscanf(text + 1, "+%u/%u%n", &offset, &size, &more) == 2)
        length += more;
    o->address = (uint8_t)(4 * (*text - 'x') + (int)offset);
    o->size = (uint8_t)size;
    return length;
}

static bool read_atomic(const char *text, struct tiny_op *o)
{
    static const char *const name[] = { "swap", "add", "or", "max", "cas" };
    char word[16];
    int at = 0;
    if (sscanf(text, "%15[a-z.] %n", word, &at) != 1 || !at)
        return false;
    char *dot = strchr(word, '.');
    o->order = dot ? (strstr(dot, "aq") ? TINY_AQ : 0) | (strstr(dot, "rl") ? TINY_RL : 0) : 0;
    if (dot)
        *dot = '\0';
    for (unsigned i = 0; i < 5; i++)
        if (strcmp(word, name[i]) == 0) {
            o->kind = (enum tiny_kind)(TINY_SWAP + i);
            at += read_place(text + at, o);
            return i == 4
                     ? sscanf(text + at, " %i -> %i", (int *)&o->compare, (int *)&o->value) == 2
                     : sscanf(text + at, " %i", (int *)&o->value) == 1;
        }
    return false;
}

static bool read_fence(const char *text, struct tiny_op *o)
{
    o->kind = TINY_FENCE;
    o->order = (strstr(text, " rr") ? TINY_RR : 0) | (strstr(text, " rw") ? TINY_RW : 0)
             | (strstr(text, " wr") ? TINY_WR : 0) | (strstr(text, " ww") ? TINY_WW : 0);
    if (o->order == 0)
        o->order = TINY_FULL;
    return true;
}

static bool read_branch(const char *text, struct tiny_op *o)
{
    char relation[3];
    unsigned source, distance, times;
    o->kind = TINY_LOOP;
    if (sscanf(text, "if r%u != %i back %u, %u times", &source, (int *)&o->value, &distance, &times)
        == 4) {
        o->times = (uint8_t)times;
    } else if (sscanf(text, "if r%u %2s %i skip %u", &source, relation, (int *)&o->value, &distance)
               == 4) {
        o->kind = TINY_SKIP;
        o->negated = *relation == '!';
    } else {
        return false;
    }
    o->source = (uint8_t)source;
    o->distance = (uint8_t)distance;
    return true;
}

static bool read_store(const char *text, struct tiny_op *o)
{
    unsigned source = TINY_REGISTERS;
    int at = read_place(text, o);
    o->kind = TINY_STORE;
    bool good = at && sscanf(text + at, " = %i + r%u", (int *)&o->value, &source) >= 1;
    o->source = (uint8_t)source;
    return good;
}

static bool read_op(const char *text, struct tiny_op *o)
{
    unsigned target;
    int at = 0;
    *o = (struct tiny_op){ .size = 4, .source = TINY_REGISTERS };
    if (strncmp(text, "fence", 5) == 0)
        return read_fence(text, o);
    if (strncmp(text, "if", 2) == 0)
        return read_branch(text, o);
    if (strncmp(text, "enter", 5) == 0 || strncmp(text, "leave", 5) == 0) {
        o->kind = *text == 'e' ? TINY_ENTER : TINY_LEAVE;
        return true;
    }
    if (sscanf(text, "r%u = %n", &target, &at) != 1 || !at)
        return read_store(text, o);
    o->target = (uint8_t)target;
    return read_place(text + at, o) ? true : read_atomic(text + at, o);
}

bool tiny_parse(struct tiny_program *p, const char *text)
{
    char copy[1024], *rest = copy;
    memset(p, 0, sizeof *p);
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return false;
    for (char *thread, *more; (thread = strsep(&rest, "|\n"));) {
        if (strspn(thread, " ") == strlen(thread))
            continue;
        thread = strchr(thread, ':') ? strchr(thread, ':') + 1 : thread;
        unsigned t = p->threads++;
        more = thread;
        for (char *op; t < TINY_THREADS && (op = strsep(&more, ";"));)
            if (p->ops[t] == TINY_OPS || !read_op(op + strspn(op, " "), &p->op[t][p->ops[t]++]))
                return false;
    }
    return p->threads > 0 && p->threads <= TINY_THREADS;
}
