/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of the two wires from packets, and packets from levels. */
#include "usb_wire.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "usb_random.h"

enum { SIX_ONES = 6, SYNC = 0x80 };

/* ---- sender ------------------------------------------------------------------------------ */

static const double sample_units = 4294967296.0;

void usb_sender_init(struct usb_sender *s, double ppm, double jitter, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->sample = llround(sample_units * (1 + ppm / 1e6));
    s->jitter = llround(sample_units * jitter);
    s->random = seed;
}

/* A one keeps the level, a zero changes it; after six ones a zero is put in (7.1.8, 7.1.9). */
static void put_bit(struct usb_sender *s, unsigned bit, enum usb_line *line, unsigned *ones)
{
    if (!bit)
        *line = *line == USB_J ? USB_K : USB_J;
    s->levels[s->count++] = *line;
    *ones = bit ? *ones + 1 : 0;
    if (*ones == SIX_ONES)
        put_bit(s, 0, line, ones);
}

static void put_byte(struct usb_sender *s, uint8_t byte, enum usb_line *line, unsigned *ones)
{
    for (unsigned i = 0; i < 8; i++)
        put_bit(s, byte >> i & 1, line, ones);
}

/* When the level after the present one begins. */
static void next_edge(struct usb_sender *s)
{
    s->edge = (int64_t)(s->index + 1) * USB_SAMPLES_BIT << 32;
    if (s->jitter)
        s->edge += (int64_t)(usb_random(&s->random) % (uint64_t)(2 * s->jitter + 1)) - s->jitter;
}

void usb_sender_start(struct usb_sender *s, const uint8_t *bytes, uint32_t length)
{
    enum usb_line line = USB_J;
    unsigned ones = 0;
    assert(length <= USB_PACKET_MAX);
    s->count = 0;
    put_byte(s, SYNC, &line, &ones);
    for (uint32_t i = 0; i < length; i++)
        put_byte(s, bytes[i], &line, &ones);
    s->levels[s->count++] = USB_SE0;
    s->levels[s->count++] = USB_SE0;
    s->levels[s->count++] = USB_J;
    s->index = 0;
    s->clock = 0;
    next_edge(s);
}

bool usb_sender_step(struct usb_sender *s, enum usb_line *line)
{
    if (!s->count)
        return false;
    if (s->clock >= s->edge) {
        s->index++;
        next_edge(s);
        if (s->index == s->count) {
            s->count = 0;
            return false;
        }
    }
    s->clock += s->sample;
    *line = (enum usb_line)s->levels[s->index];
    return true;
}

/* ---- receiver ---------------------------------------------------------------------------- */

enum {
    MIDDLE      = 1,                     /* of a bit's samples 0 to 3 */
    SE0_LEAST   = 3,                     /* samples: less is a glitch; a whole bit is EOP */
    SE0_MIN     = 7, SE0_MAX = 9,        /* of a good EOP, give or take one for the sampling */
    IDLE_BITS   = 8                      /* so long can no packet be without an edge */
};

void usb_receiver_init(struct usb_receiver *r)
{
    memset(r, 0, sizeof *r);
    r->line = r->bit = USB_J;
}

static void begin(struct usb_receiver *r, uint64_t now)
{
    r->active = true;
    r->synced = false;
    r->begin = now;
    r->packet.length = 0;
    r->flaws = 0;
    r->bit = USB_J;
    r->ones = r->bits = 0;
    r->shift = 0xff;
}

static bool end(struct usb_receiver *r, uint64_t now, uint32_t flaws)
{
    r->active = false;
    r->end = now;
    r->flaws |= flaws | (r->synced ? 0 : USB_FLAW_SYNC) | (r->bits ? USB_FLAW_RAGGED : 0);
    return true;
}

static void take_bit(struct usb_receiver *r, unsigned bit)
{
    if (!r->synced) { /* its first bits may be lost; it ends with two K, a one after zeros */
        r->shift = (uint8_t)(r->shift >> 1 | bit << 7);
        if ((r->shift & 0xf0) == SYNC) {
            r->synced = true;
            r->ones = 1;
        }
        return;
    }
    if (r->ones == SIX_ONES) {
        if (bit)
            r->flaws |= USB_FLAW_STUFF;
        r->ones = 0;
        return;
    }
    r->ones = bit ? r->ones + 1 : 0;
    r->shift = (uint8_t)(r->shift >> 1 | bit << 7);
    if (++r->bits < 8)
        return;
    r->bits = 0;
    if (r->packet.length < USB_PACKET_MAX)
        r->packet.bytes[r->packet.length++] = r->shift;
    else
        r->flaws |= USB_FLAW_LONG;
}

bool usb_receiver_step(struct usb_receiver *r, enum usb_line line, uint64_t now)
{
    enum usb_line before = r->line;
    uint64_t still = now - r->edge;      /* samples of the level that ended, or that goes on */
    if (line != before) {
        r->line = line;
        r->edge = now;
        if (!r->active) {
            if (before == USB_J && line == USB_K)
                begin(r, now);
            return false;
        }
        if (before == USB_SE0 && still >= SE0_LEAST) {
            bool good = still >= SE0_MIN && still <= SE0_MAX && line == USB_J;
            return end(r, now, good ? 0 : USB_FLAW_EOP);
        }
        return false;
    }
    if (!r->active)
        return false;
    if (line == USB_J && still >= IDLE_BITS * USB_SAMPLES_BIT)
        return end(r, now, USB_FLAW_END);
    if (line == USB_SE0 && still >= USB_SAMPLES_RESET)
        return end(r, now, USB_FLAW_END);
    if (still % USB_SAMPLES_BIT != MIDDLE)
        return false;
    if (line == USB_SE1)
        r->flaws |= USB_FLAW_STUFF;
    else if (line != USB_SE0) {
        take_bit(r, line == r->bit);
        r->bit = line;
    }
    return false;
}
