/* SPDX-License-Identifier: Apache-2.0 */
#include "wire_speed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board_firmware.h"
#include "targets/board/board_link.h"
#include "targets/board/board_numbers.h"
#include "models.h"
#include "targets/soc/soc_numbers.h"
#include "usb_bus.h"

enum {
    BUS_BYTES = 19 * 64 * 1000, /* a second of bulk transfers at full speed, and no more */
    TRANSFERS = 8,              /* in flight, each way */
    MESSAGE = PROTOCOL_WORDS * 4 + 64,
    ENUMERATION_MS = 500        /* at most */
};

struct wire_transfer {
    struct usb_transfer usb;
    uint8_t bytes[MESSAGE];
};

/* A board at the end of simulated wires, and its port. */
struct wire_board {
    struct board_port port;
    const struct board_interface *model;
    struct board *board;
    struct usb_fault fault;
    struct usb_host *host;
    struct usb_bus bus;
    struct usb_pins pins;
    struct wire_transfer in[TRANSFERS], out[TRANSFERS];
    unsigned oldest;            /* of `in`: they end in turn */
};

/* ---- the bus --------------------------------------------------------------------------------- */

static void sample(struct wire_board *w)
{
    w->pins = w->model->sample(w->board, usb_host_sample(w->host, w->pins));
}

static double seconds_of(const struct wire_board *w)
{
    return (double)usb_host_now(w->host) / (USB_SAMPLES_FRAME * 1000.0);
}

static bool wait_ready(struct wire_board *w, double seconds)
{
    double until = seconds_of(w) + seconds;
    while (w->bus.state != USB_BUS_READY && seconds_of(w) < until)
        sample(w);
    return w->bus.state == USB_BUS_READY;
}

static void submit(struct wire_board *w, struct wire_transfer *t, uint8_t endpoint, size_t bytes)
{
    t->usb = (struct usb_transfer){ .endpoint = endpoint, .buffer = t->bytes,
                                    .length = (uint32_t)bytes, .zero_packet = true };
    if (!usb_bus_submit(&w->bus, &t->usb))
        t->usb.status = USB_GONE;
}

/* CLEAR_FEATURE(ENDPOINT_HALT), as whoever begins to use the board does it. */
static bool clear_halt(struct wire_board *w, uint8_t endpoint)
{
    struct usb_transfer t = { .setup = { 0x02, 1, 0, 0, endpoint, 0, 0, 0 } };
    if (!usb_bus_submit(&w->bus, &t))
        return false;
    while (t.status == USB_PENDING)
        sample(w);
    return t.status == USB_OK;
}

static bool begin(struct wire_board *w)
{
    bool good = clear_halt(w, BOARD_BULK_OUT) && clear_halt(w, BOARD_BULK_IN);
    for (int i = 0; good && i < TRANSFERS; i++)
        submit(w, &w->in[i], BOARD_BULK_IN, MESSAGE);
    w->oldest = 0;
    return good;
}

static bool is_gone(const struct wire_transfer *t)
{
    return t->usb.status == USB_GONE || t->usb.status == USB_ABORTED;
}

/* ---- the port -------------------------------------------------------------------------------- */

static bool wire_send(struct board_port *port, const uint32_t *words, size_t count)
{
    struct wire_board *w = (struct wire_board *)port;
    struct wire_transfer *t = NULL;
    while (!t) {
        for (int i = 0; i < TRANSFERS; i++)
            if (w->out[i].usb.status != USB_PENDING || !w->out[i].usb.buffer)
                t = &w->out[i];
        if (!t)
            sample(w);
    }
    memcpy(t->bytes, words, count * 4);
    submit(w, t, BOARD_BULK_OUT, count * 4);
    return !is_gone(t);
}

/* What failed on the way goes again; the link notices what it brought, if anything. */
static enum port_result wire_receive(struct board_port *port, void *message, size_t room,
                                     size_t *bytes, int milliseconds)
{
    struct wire_board *w = (struct wire_board *)port;
    struct wire_transfer *t = &w->in[w->oldest];
    double until = seconds_of(w) + milliseconds / 1000.0;
    while (t->usb.status == USB_PENDING && seconds_of(w) < until)
        sample(w);
    if (t->usb.status == USB_PENDING)
        return PORT_NOTHING;
    if (is_gone(t))
        return PORT_LOST;
    bool good = t->usb.status == USB_OK;
    *bytes = t->usb.actual;
    memcpy(message, t->bytes, *bytes < room ? *bytes : room);
    submit(w, t, BOARD_BULK_IN, MESSAGE);
    w->oldest = (w->oldest + 1) % TRANSFERS;
    return good ? PORT_MESSAGE : PORT_NOTHING;
}

static bool wire_reopen(struct board_port *port, double seconds, struct why *why)
{
    struct wire_board *w = (struct wire_board *)port;
    if (wait_ready(w, seconds) && begin(w))
        return true;
    snprintf(why->text, sizeof why->text, "the board does not come back: %.100s", w->bus.why);
    return false;
}

static void wire_close(struct board_port *port)
{
    struct wire_board *w = (struct wire_board *)port;
    usb_host_free(w->host);
    if (w->board)
        w->model->destroy(w->board);
    free(w);
}

static bool plug_in(struct wire_board *w, const struct wire_plan *plan, char *why, size_t size)
{
    struct soc_parameters parameters;
    struct board_firmware firmware;
    struct usb_host_options options = { .seed = 1 };
    usb_fault_init(&w->fault, 1);
    if (plan->faults && !usb_fault_parse(&w->fault, plan->faults, why, size))
        return false;
    options.fault = plan->faults ? &w->fault : NULL;
    if (!model_parse(plan->model, &parameters, why, size)
        || !(w->model = model_open_board(&parameters, NULL, why, size))
        || !board_firmware_read(&firmware, NULL, why, size))
        return false;
    w->board = w->model->create(1);
    w->host = usb_host_new(&options);
    bool good = w->board && w->host
        && w->model->write_ram(w->board, 0, firmware.words, (uint32_t)firmware.count);
    board_firmware_free(&firmware);
    if (!good) {
        snprintf(why, size, "out of memory");
        return false;
    }
    w->model->power(w->board);
    usb_bus_init(&w->bus, w->host);
    if (wait_ready(w, ENUMERATION_MS / 1000.0) && begin(w))
        return true;
    snprintf(why, size, "the board does not enumerate: %s", w->bus.why);
    return false;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Is this what the stream must have at this place? */
static bool is_right(const struct wire_plan *plan, uint32_t place, uint32_t word)
{
    if (!plan->capture)
        return word == place;
    switch (place % 4) {             /* a record: head, cycle, address, value */
    case 0: return (word & 0xf) == SOC_REC_LOAD;
    case 2: return word == SOC_MAP_MEMORY;
    case 3: return word == 0;
    default: return true;
    }
}

/* Every hart loads one word, again and again. */
static enum link_result start_harts(struct board_link *l, uint32_t harts, struct why *why)
{
    static const uint32_t code[] = {
        0x800005b7,                  /* lui a1, 0x80000 */
        0x0005a503,                  /* lw  a0, 0(a1) */
        0xffdff06f                   /* j   -4 */
    };
    uint32_t setup[] = { SOC_MODEL_TSO, 1 }, limit[] = { 0, 0 }, zero[] = { 0, 0 };
    enum link_result result = link_begin(l, PROTOCOL_RESET, setup, 2, why);
    if (result == LINK_OK)
        result = link_post(l, PROTOCOL_LOAD, zero, 2, why);
    for (uint32_t h = 0; result == LINK_OK && h < harts; h++) {
        uint32_t load[1 + sizeof code / sizeof *code] = {
            BOARD_DEV_LOAD_ADDRESS_CODE | FIELD_PUT(BOARD_DEV_LOAD_ADDRESS_HART, h)
        };
        memcpy(load + 1, code, sizeof code);
        result = link_post(l, PROTOCOL_LOAD, load, sizeof load / sizeof *load, why);
    }
    if (result == LINK_OK)
        result = link_post(l, PROTOCOL_RUN, limit, 2, why);
    return result == LINK_OK ? link_settle(l, why) : result;
}

static bool take_words(const struct wire_plan *plan, struct board_link *l, uint32_t *came,
                       struct why *why)
{
    uint32_t part[1024];
    for (size_t n; (n = link_take(l, part, sizeof part / sizeof *part)); )
        for (size_t i = 0; i < n && *came < plan->words; i++)
            if (!is_right(plan, (*came)++, part[i])) {
                snprintf(why->text, sizeof why->text, "word %u of the stream is %08x", *came - 1,
                         part[i]);
                return false;
            }
    return true;
}

static bool stream(const struct wire_plan *plan, struct wire_board *w, struct board_link *l,
                   struct wire_speed *speed, struct why *why)
{
    struct protocol_hello hello;
    struct protocol_state state;
    uint32_t came = 0;
    bool behind;
    if (link_hello(l, &hello, why) != LINK_OK)
        return false;
    double begin = seconds_of(w);
    if ((plan->capture ? start_harts(l, hello.parameters[BOARD_PARAM_HARTS], why)
                       : link_begin(l, PROTOCOL_SOURCE, &plan->words, 1, why)) != LINK_OK)
        return false;
    while (came < plan->words) {
        uint32_t before = came;
        if (link_wait(l, 20, why) != LINK_OK || !take_words(plan, l, &came, why)
            || (came == before && link_look(l, &state, &behind, why) != LINK_OK))
            return false;
    }
    speed->bytes_per_second = plan->words * 4.0 / (seconds_of(w) - begin);
    speed->percent = speed->bytes_per_second * 100 / BUS_BYTES;
    for (int i = 0; i < USB_FAULT_KINDS; i++)
        speed->faults += w->fault.count[i];
    return true;
}

bool wire_measure(const struct wire_plan *plan, struct wire_speed *speed, struct why *why)
{
    struct wire_board *w = calloc(1, sizeof *w);
    *speed = (struct wire_speed){ 0 };
    if (!w) {
        snprintf(why->text, sizeof why->text, "out of memory");
        return false;
    }
    w->port = (struct board_port){ wire_send, wire_receive, wire_reopen, wire_close };
    if (!plug_in(w, plan, why->text, sizeof why->text)) {
        wire_close(&w->port);
        return false;
    }
    struct board_link *l = link_new(&w->port);
    bool good = l && stream(plan, w, l, speed, why);
    const char *assertion = w->model->assertion(w->board);
    if (good && assertion) {
        snprintf(why->text, sizeof why->text, "%s", assertion);
        good = false;
    }
    link_free(l);
    return good;
}
