/* SPDX-License-Identifier: Apache-2.0 */
#include "default_bias.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "bias_check.h"
#include "draw.h"
#include "kinds.h"
#include "layout.h"
#include "registers.h"

/* The assembler takes it in, from the root of the sources, where make runs. */
__asm__(".section .rodata\n"
        "default_bias_begin:\n.incbin \"host/test/default.bias\"\ndefault_bias_end:\n.previous\n");
extern const char default_bias_begin[], default_bias_end[];

enum { MOST_HARTS = 8 }; /* more are not known to find more */

/* ---- what the machine lacks ---------------------------------------------------------------- */

static bool has_key(const struct abilities *can, const struct bias *beside, uint32_t key);

/* Could a test have it? */
static bool is_done(const struct bias *b, uint32_t key)
{
    bool done = b->values[key];
    for (size_t i = 0; i < b->profiles.count && !bias_held(b, key); i++)
        for (size_t k = 0; k < b->profiles.data[i].varies.count; k++)
            done |= b->profiles.data[i].varies.data[k].slot == key;
    return done;
}

/* Swaps, CAS and AMOs are of those sizes of 4 and 8 bytes that other accesses have: 8 is left out where
 * they lack it. */
static bool has_size(const struct abilities *can, const struct bias *beside, uint32_t log2)
{
    const struct {
        uint32_t key, sizes;
    } others[] = {
        { BIAS_operations_swap, can->swap_sizes },
        { BIAS_operations_cas, can->cas_sizes },
        { BIAS_operations_amo, can->amo_sizes },
        { BIAS_operations_lrsc, can->reserve_sizes },
    };
    uint32_t all = can->load_sizes & can->store_sizes;
    for (size_t i = 0; i < sizeof others / sizeof *others && log2 == 3; i++)
        if (has_key(can, NULL, others[i].key) && (!beside || is_done(beside, others[i].key)))
            all &= others[i].sizes;
    return all >> log2 & 1;
}

/* Can a machine do what a key is about, beside the other keys of a bias? NULL: whatever they are. */
static bool has_key(const struct abilities *can, const struct bias *beside, uint32_t key)
{
    switch (key) {
    case BIAS_transactions_share: return can->transactions;
    case BIAS_operations_interrupt: return can->interrupts;
    case BIAS_operations_flush: return can->flush;
    case BIAS_operations_nonfaulting: return can->nonfaulting;
    case BIAS_operations_swap: return can->swap_sizes & 1 << 2;
    case BIAS_operations_cas: return can->cas_sizes & 1 << 2 && can->registers;
    case BIAS_operations_amo: return can->amo_sizes & 1 << 2;
    case BIAS_operations_lrsc: return can->reserve_sizes & 1 << 2;
    case BIAS_marks_rmw: return can->marks;
    case BIAS_marks_plain: return can->plain_marks;
    case BIAS_dependencies_data: return can->data;
    case BIAS_dependencies_control: return can->control;
    case BIAS_placement_uncached: return can->uncached;
    case BIAS_dependencies_share:
    case BIAS_dependencies_atomics:
    case BIAS_cas_register: return can->registers >= REGISTERS + REGISTER_COMPARED;
    case BIAS_sizes_1:
    case BIAS_sizes_2:
    case BIAS_sizes_4:
    case BIAS_sizes_8: return has_size(can, beside, key - BIAS_sizes_1);
    case BIAS_sizes_64: return has_size(can, beside, 6);
    default: return true;
    }
}

bool default_bias_can(const struct abilities *can, uint32_t key) { return has_key(can, NULL, key); }

static bool has_step(const struct abilities *can, const struct idiom_step *s)
{
    if (s->flags & (ORDEAL_ACQUIRES | ORDEAL_RELEASES)
        && !(kind_is_atomic(s->kind) ? can->marks : can->plain_marks))
        return false;
    switch (s->kind) {
    case ORDEAL_TX_BEGIN: return can->transactions;
    case ORDEAL_INTERRUPT: return can->interrupts;
    case ORDEAL_FLUSH: return can->flush;
    case ORDEAL_LOAD: return can->load_sizes >> s->size_log2 & 1;
    case ORDEAL_STORE: return can->store_sizes >> s->size_log2 & 1;
    case ORDEAL_SWAP: return can->swap_sizes >> s->size_log2 & 1;
    case ORDEAL_CAS: return can->cas_sizes >> s->size_log2 & 1;
    case ORDEAL_AMO: return can->amo_sizes >> s->size_log2 & 1;
    case ORDEAL_LOAD_RESERVED:
    case ORDEAL_STORE_CONDITIONAL: return can->reserve_sizes >> s->size_log2 & 1;
    default: return true;
    }
}

static bool has_idiom(const struct abilities *can, const struct idiom *x, uint32_t threads)
{
    for (uint32_t i = 0; i < x->steps; i++)
        if (!has_step(can, &x->step[i]))
            return false;
    for (uint32_t i = 0; i < x->register_count; i++)
        if ((x->registers[i].use == ORDEAL_REGISTER_DATA && !can->data)
            || (x->registers[i].use == ORDEAL_REGISTER_CONTROL && !can->control))
            return false;
    return x->threads <= threads && (can->uncached || !x->placed[IDIOM_UNCACHED])
        && (x->register_count == 0 || can->registers > REGISTERS + REGISTER_COMPARED);
}

/* As --set would give it: it then holds in all profiles, and --set may give it again. */
static bool hold_zero(struct bias *b, uint32_t slot, struct ordeal_error *e)
{
    char text[128];
    if (slot < BIAS_KEY_COUNT)
        snprintf(text, sizeof text, "%s.%s=0", bias_keys[slot].section, bias_keys[slot].name);
    else
        snprintf(text, sizeof text, "idiom %s.weight=0",
                 b->idioms.data[slot - BIAS_KEY_COUNT].name);
    return bias_set(b, text, e);
}

static bool is_asked_for(const struct bias *b, uint32_t slot)
{
    return bias_held(b, slot) && bias_value(b, slot);
}

static bool leave_out_idioms(struct bias *b, const struct abilities *can, uint32_t threads,
                             struct ordeal_error *e)
{
    struct idiom_list list;
    bool good = idioms_of_bias(&list, b, e);
    for (size_t i = 0; good && i < list.all_count; i++)
        if (!has_idiom(can, &list.all[i], threads) && !is_asked_for(b, list.all[i].slot))
            good = hold_zero(b, list.all[i].slot, e);
    idioms_free(&list);
    return good;
}

static bool leave_out_keys(struct bias *b, const struct abilities *can, struct ordeal_error *e)
{
    for (uint32_t key = 0; key < BIAS_KEY_COUNT; key++)
        if (!has_key(can, NULL, key) && is_done(b, key) && !hold_zero(b, key, e))
            return false;
    return true;
}

/* ---- profiles ------------------------------------------------------------------------------ */

static void drop_profile(struct bias *b, size_t i)
{
    struct bias_profile *p = &b->profiles.data[i];
    free(p->name);
    free(p->only);
    free(p->comment);
    LIST_FREE(&p->varies);
    memmove(p, p + 1, (--b->profiles.count - i) * sizeof *p);
}

struct reach {
    uint32_t least, most;
};

static struct reach reach_of_vary(const struct bias_vary *v)
{
    struct reach r = { v->value[0], v->value[0] };
    for (uint32_t k = 1; k < v->count; k++) {
        r.least = v->value[k] < r.least ? v->value[k] : r.least;
        r.most = v->value[k] > r.most ? v->value[k] : r.most;
    }
    return r;
}

/* The key that a profile is about, if the machine lacks it; else NULL. One whose tests all have what
 * the machine lacks is about that, unless it is about everything, of
 * which its tests omit some; where 0 is among the values of a key the profile can do without. Sizes
 * and idioms are not what profiles are about. */
static const struct bias_key *key_lacking(const struct bias_profile *p, const struct abilities *can)
{
    const struct bias_key *lacks = NULL;
    for (size_t i = 0; i < p->varies.count; i++) {
        const struct bias_vary *v = &p->varies.data[i];
        if (v->slot == BIAS_test_omit)
            return NULL;
        if (v->slot < BIAS_KEY_COUNT && reach_of_vary(v).least && !has_key(can, NULL, v->slot)
            && strcmp(bias_keys[v->slot].section, "sizes") != 0)
            lacks = &bias_keys[v->slot];
    }
    return lacks;
}

/* What --set gives weight to is asked for. */
static bool drop_lacking(struct bias *b, const struct abilities *can, struct ordeal_error *e)
{
    for (size_t i = b->profiles.count; i-- > 0;) {
        const struct bias_profile *p = &b->profiles.data[i];
        const struct bias_key *lacks = key_lacking(p, can);
        if (lacks && p->weight && p->weight_at.line == 0)
            return bias_refuse(e, &p->weight_at,
                               "profile %s is about %s.%s, which the machine cannot do", p->name,
                               lacks->section, lacks->name);
        if (lacks)
            drop_profile(b, i);
    }
    return true;
}

static void limit(struct bias *b, uint32_t key, uint32_t most)
{
    b->values[key] = b->values[key] < most ? b->values[key] : most;
    for (size_t i = 0; i < b->profiles.count; i++)
        for (size_t k = 0; k < b->profiles.data[i].varies.count; k++) {
            struct bias_vary *v = &b->profiles.data[i].varies.data[k];
            for (uint32_t n = 0; v->slot == key && n < v->count; n++)
                v->value[n] = v->value[n] < most ? v->value[n] : most;
        }
}

/* As many as run at a time; on a single core two, which it takes in turn. */
static uint32_t usual_threads(const struct abilities *can)
{
    uint32_t harts = can->harts == 0 ? can->threads : can->harts < 2 ? 2 : can->harts;
    harts = harts < can->threads ? harts : can->threads;
    return harts < MOST_HARTS ? harts : MOST_HARTS;
}

bool default_bias_read_whole(struct bias *b, struct ordeal_error *e)
{
    FILE *text = fmemopen((void *)default_bias_begin,
                          (size_t)(default_bias_end - default_bias_begin), "r");
    if (!text)
        return error_out_of_memory(e, "");
    bool good = bias_read_stream(b, text, "default.bias", e);
    fclose(text);
    return good;
}

bool default_bias_read(struct bias *b, const struct abilities *can, struct ordeal_error *e)
{
    if (!default_bias_read_whole(b, e))
        return false;
    uint32_t threads = usual_threads(can);
    limit(b, BIAS_test_threads, threads);
    if (can->operations)
        limit(b, BIAS_test_operations, can->operations);
    return leave_out_keys(b, can, e) && leave_out_idioms(b, can, threads, e);
}

/* ---- after --set --------------------------------------------------------------------------- */

static bool set_keys_fit(const struct bias *b, const struct abilities *can, struct ordeal_error *e)
{
    for (uint32_t key = 0; key < BIAS_KEY_COUNT; key++) {
        const struct bias_key *k = &bias_keys[key];
        bool eight = key == BIAS_sizes_8 && can->load_sizes & can->store_sizes & 1 << 3;
        if (bias_held(b, key) && b->values[key] && !has_key(can, b, key))
            return bias_refuse(e, &b->origins[key], "%s.%s = %" PRIu32 ": the machine cannot do %s",
                               k->section, k->name, b->values[key],
                               eight ? "swaps, CAS or AMOs of 8 bytes; it goes together with "
                                       "operations.swap, .cas and .amo = 0"
                                     : "that");
    }
    return true;
}

static bool set_idioms_fit(const struct bias *b, const struct abilities *can,
                           struct ordeal_error *e)
{
    struct idiom_list list;
    bool good = idioms_of_bias(&list, b, e);
    for (size_t i = 0; good && i < list.count; i++) {
        const struct idiom *x = list.data[i];
        if (bias_held(b, x->slot) && !has_idiom(can, x, x->threads))
            good = bias_refuse(e, bias_origin_of(b, x->slot),
                               "%s = %" PRIu32
                               ": the machine cannot do all operations of the idiom",
                               x->called, x->weight);
    }
    idioms_free(&list);
    return good;
}

bool bias_set_fits(const struct bias *b, const struct abilities *can, struct ordeal_error *e)
{
    if (bias_held(b, BIAS_test_threads) && b->test_threads > can->threads)
        return bias_refuse(e, &b->origins[BIAS_test_threads],
                           "test.threads = %" PRIu32 ": the machine has %" PRIu32, b->test_threads,
                           can->threads);
    return set_keys_fit(b, can, e) && set_idioms_fit(b, can, e);
}

/* The values that a key may have in a profile. */
static struct reach reach_of(const struct bias *b, const struct bias_profile *p, uint32_t key)
{
    struct reach r = { b->values[key], b->values[key] };
    for (size_t i = 0; i < p->varies.count && !bias_held(b, key); i++)
        if (p->varies.data[i].slot == key)
            r = reach_of_vary(&p->varies.data[i]);
    return r;
}

static bool is_beyond(const struct bias *b, uint32_t slot, uint32_t most,
                      const struct abilities *can)
{
    return slot == BIAS_test_threads ? most > can->threads
                                     : slot < BIAS_KEY_COUNT && most && !has_key(can, b, slot);
}

const struct bias_origin *bias_beyond(const struct bias *b, const struct bias_profile *p,
                                      const struct abilities *can)
{
    for (size_t i = 0; p && i < p->varies.count; i++) {
        const struct bias_vary *v = &p->varies.data[i];
        if (!bias_held(b, v->slot) && is_beyond(b, v->slot, reach_of_vary(v).most, can))
            return &v->at;
    }
    for (uint32_t key = 0; !p && key < BIAS_KEY_COUNT; key++)
        if (b->origins[key].reading && is_beyond(b, key, b->values[key], can))
            return &b->origins[key];
    return NULL;
}

/* What the lines of a test may reach to; not less, and more only where keys exclude each other. */
static bool fits_memory(const struct bias *b, const struct bias_profile *p,
                        const struct abilities *can, struct ordeal_error *e)
{
    uint32_t words = reach_of(b, p, BIAS_placement_words_per_line).least;
    if (reach_of(b, p, BIAS_test_omit).most)
        words = 1; /* a test may omit some */
    uint64_t lines = (reach_of(b, p, BIAS_test_locations).most + words - 1) / words;
    struct reach set = reach_of(b, p, BIAS_placement_lines_per_set);
    uint64_t apart = set.most < lines ? set.most : lines;
    uint64_t takes = (lines + set.least - 1) / set.least * LINE_BYTES
                   + (apart - 1) * reach_of(b, p, BIAS_placement_set_stride).most;
    return takes <= can->memory
        || bias_refuse(e, &p->section,
                       "profile %s: a test may take %" PRIu64 " bytes of memory, it "
                       "has %" PRIu64,
                       p->name, takes, can->memory);
}

static bool can_go(struct draw *d, uint32_t i, const struct abilities *can, struct ordeal_error *e)
{
    return bias_check_profile(d, i, e)
        && fits_memory(d->given, &d->given->profiles.data[i], can, e);
}

/* "2 profiles do not fit and are left out: narrow, uncached (why the first does not)". One that no
 * test would be of is not missed. */
static void tell_left_out(const struct bias *b, const bool *goes, const struct ordeal_error *first,
                          struct why *left_out)
{
    size_t count = 0;
    struct why names = { "" };
    for (size_t i = 0; i < b->profiles.count; i++)
        if (!goes[i] && b->profiles.data[i].weight)
            why_add(&names, "%s%s", count++ ? ", " : "", b->profiles.data[i].name);
    why_say(left_out, "%s", "");
    if (count)
        why_say(left_out, "%zu profile%s not fit and %s left out: %s (%s)", count,
                count > 1 ? "s do" : " does", count > 1 ? "are" : "is", names.text, first->reason);
}

static bool drop_unfit(struct bias *b, const struct abilities *can, struct why *left_out,
                       struct ordeal_error *e)
{
    struct draw d;
    bool good = draw_new(&d, b, e), all_go = true;
    bool *goes = calloc(b->profiles.count + 1, sizeof *goes);
    if (good && !goes)
        good = error_out_of_memory(e, "");
    for (uint32_t i = 0; good && i < b->profiles.count; i++) {
        struct ordeal_error other;
        goes[i] = can_go(&d, i, can, all_go ? e : &other); /* the first speaks for the others */
        all_go = all_go && goes[i];
    }
    draw_free(&d);
    if (good)
        tell_left_out(b, goes, e, left_out);
    for (size_t i = b->profiles.count; good && i-- > 0;)
        if (!goes[i])
            drop_profile(b, i);
    free(goes);
    return good && b->profiles.count > 0;
}

/* Idioms of more threads than --set gave go, unless --set asked for them; their profiles stay. */
static bool leave_out_wide_idioms(struct bias *b, const struct abilities *can,
                                  struct ordeal_error *e)
{
    return !bias_held(b, BIAS_test_threads) || leave_out_idioms(b, can, b->test_threads, e);
}

bool default_bias_settle(struct bias *b, const struct abilities *can, struct why *left_out,
                         struct ordeal_error *e)
{
    return bias_set_fits(b, can, e) && leave_out_wide_idioms(b, can, e) && drop_lacking(b, can, e)
        && drop_unfit(b, can, left_out, e);
}
