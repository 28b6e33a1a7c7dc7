/* SPDX-License-Identifier: Apache-2.0 */
#include "board_rig.h"

#include <stdlib.h>
#include <string.h>

#include "targets/board/board_numbers.h"
#include "iss.h"

enum { POLLS = 3000, CYCLES = 100, CAPTURE_WORDS = 4096 };

struct rig_message {
    struct rig_message *next;
    size_t length;
    uint8_t bytes[];
};

/* ---- the cable ------------------------------------------------------------------------------- */

static bool happens(struct board_rig *r, uint32_t in_1000)
{
    r->chance = r->chance * 6364136223846793005u + 1442695040888963407u;
    return (r->chance >> 33) % 1000 < in_1000;
}

static void push(struct rig_queue *q, const void *bytes, size_t length)
{
    struct rig_message *m = malloc(sizeof *m + length);
    if (!m)
        abort();
    m->next = NULL;
    m->length = length;
    if (length)
        memcpy(m->bytes, bytes, length);
    *q->end = m;
    q->end = &m->next;
}

static void drop(struct rig_queue *q)
{
    struct rig_message *m = q->first;
    q->first = m->next;
    if (!q->first)
        q->end = &q->first;
    free(m);
}

static void clear(struct board_rig *r)
{
    while (r->out.first)
        drop(&r->out);
    while (r->in.first)
        drop(&r->in);
    r->at = r->came = 0;
}

static void damage(struct board_rig *r, struct rig_message *m)
{
    happens(r, 0);
    if (m->length)
        m->bytes[(r->chance >> 20) % m->length] ^= 1u << (r->chance >> 60) % 8;
}

/* A message has come whole: what the host sees of it. */
static void arrive(struct board_rig *r)
{
    struct rig_queue *q = &r->in;
    struct rig_message **place = q->end;
    bool lost = happens(r, r->faults.lose_in) || r->mute;
    if (!lost) {
        push(q, r->coming, r->came);
        if (happens(r, r->faults.damage_in))
            damage(r, *place);
        if (happens(r, r->faults.repeat_in))
            push(q, r->coming, r->came);
        if (happens(r, r->faults.swap_in) && q->first->next) {
            struct rig_message *last = q->first; /* the oldest becomes the youngest */
            q->first = last->next;
            last->next = NULL;
            *q->end = last;
            q->end = &last->next;
        }
    }
    r->came = 0;
    r->unplugged |= ++r->messages == r->cut_after;
}

/* One turn of the firmware, a packet each way. */
static void turn(struct board_rig *r)
{
    struct rig_message *m = r->out.first;
    uint8_t packet[DEVICE_PACKET];
    firmware_device_poll(r->device);
    if (m) {
        size_t n = m->length - r->at < sizeof packet ? m->length - r->at : sizeof packet;
        if (firmware_device_out(r->device, m->bytes + r->at, n) >= 0) {
            r->at += n;
            if (n < sizeof packet) {
                drop(&r->out);
                r->at = 0;
            }
        }
    }
    int n = firmware_device_in(r->device, packet);
    if (n < 0)
        return;
    if (r->came + (size_t)n > sizeof r->coming)
        abort();
    memcpy(r->coming + r->came, packet, (size_t)n);
    r->came += (size_t)n;
    if (n < (int)sizeof packet && r->came)
        arrive(r);
}

static bool rig_send(struct board_port *port, const uint32_t *words, size_t count)
{
    struct board_rig *r = (struct board_rig *)port;
    struct rig_message **place = r->out.end;
    if (r->unplugged)
        return false;
    if (happens(r, r->faults.lose_out))
        return true;
    push(&r->out, words, count * 4);
    if (happens(r, r->faults.damage_out))
        damage(r, *place);
    return true;
}

static enum port_result rig_receive(struct board_port *port, void *message, size_t room,
                                    size_t *bytes, int milliseconds)
{
    struct board_rig *r = (struct board_rig *)port;
    (void)milliseconds;
    for (int polls = 0; !r->in.first && !r->unplugged; polls++) {
        if (polls == POLLS)
            return PORT_NOTHING;
        turn(r);
    }
    if (!r->in.first)
        return PORT_LOST;
    *bytes = r->in.first->length;
    memcpy(message, r->in.first->bytes, *bytes < room ? *bytes : room);
    drop(&r->in);
    return PORT_MESSAGE;
}

static bool rig_reopen(struct board_port *port, double seconds, struct why *why)
{
    struct board_rig *r = (struct board_rig *)port;
    (void)seconds;
    if (r->gone) {
        strcpy(why->text, "it does not come back");
        return false;
    }
    clear(r);
    if (r->forgets)
        firmware_device_restart(r->device, BOARD_CAUSE_POWER);
    firmware_device_plug(r->device);
    r->unplugged = false;
    r->cut_after = r->cut_again ? r->messages + r->cut_again : 0;
    r->opened++;
    return true;
}

static void rig_close(struct board_port *port) { ((struct board_rig *)port)->closed++; }

/* ---- the machine on trial -------------------------------------------------------------------- */

struct soc_parameters board_rig_parameters(void)
{
    const uint32_t *p = firmware_board_usual.parameters;
    struct soc_parameters has = iss_interface(p[BOARD_PARAM_HARTS])->parameters;
    has.memory_bytes = p[BOARD_PARAM_MEMORY_BYTES];
    has.code_bytes = p[BOARD_PARAM_CODE_BYTES];
    has.line_bytes = p[BOARD_PARAM_LINE_BYTES];
    return has;
}

static void starts(void *user, struct firmware_device *d)
{
    struct board_rig *r = user;
    struct soc_parameters has = board_rig_parameters();
    uint32_t setup = firmware_device_model(d);
    r->reference->reset(r->soc, &(struct soc_setup){
        .model = (enum soc_model)(setup & 3), .bug = setup >> 8 & 0x7f, .delay = setup >> 16 & 7,
        .capture = setup >> 24 & 1 ? SOC_CAPTURE_LOSSY : SOC_CAPTURE_STALL,
        .visible = setup >> 25 & 1, .seed = firmware_device_seed(d) });
    for (uint32_t h = 0; h < has.harts; h++)
        r->reference->write_code(r->soc, h, 0, firmware_device_code(d, h), has.code_bytes / 4);
    r->reference->write_memory(r->soc, 0, firmware_device_memory(d), has.memory_bytes / 4);
}

static void runs(void *user, struct firmware_device *d)
{
    struct board_rig *r = user;
    uint32_t words[CAPTURE_WORDS];
    if (r->hangs)
        return;
    r->reference->step(r->soc, CYCLES);
    size_t count = r->reference->read_capture(r->soc, words, CAPTURE_WORDS);
    firmware_device_captures(d, words, count);
    if (!r->reference->done(r->soc))
        return;
    r->reference->read_memory(r->soc, 0, firmware_device_memory(d),
                              board_rig_parameters().memory_bytes / 4);
    firmware_device_done(d, (1u << board_rig_parameters().harts) - 1);
}

struct board_rig *board_rig_new(uint32_t window)
{
    struct board_rig *r = calloc(1, sizeof *r);
    struct firmware_board board = firmware_board_usual;
    if (!r)
        abort();
    board.window = window;
    r->port = (struct board_port){ rig_send, rig_receive, rig_reopen, rig_close };
    r->reference = iss_interface(board.parameters[BOARD_PARAM_HARTS]);
    r->soc = r->reference->create(r->reference);
    r->device = firmware_device_new(&board);
    r->chance = 1;
    r->out.end = &r->out.first;
    r->in.end = &r->in.first;
    firmware_device_machine(r->device, starts, runs, r);
    firmware_device_plug(r->device);
    return r;
}

void board_rig_free(struct board_rig *r)
{
    if (!r)
        return;
    clear(r);
    firmware_device_free(r->device);
    r->reference->destroy(r->soc);
    free(r);
}
