/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware as a whole. No interrupts: the loop asks, each layer does a little and never
 * waits, and only who comes round the whole loop puts the watchdog off. */
#include "registers.h"
#include "requests.h"
#include "trial_driver.h"

void firmware_start(struct firmware *f, uint32_t *ring, uint32_t window)
{
    f->watchdog = trial_clock() >> 3; /* 1/8 s */
    trial_watchdog(f->watchdog);
    runner_start(&f->runner, ring, window);
    messages_listen(&f->messages);
    usb_device_start(&f->usb, trial_parameter(PARAM_SERIAL));
}

static void serve(struct firmware *f)
{
    struct messages *m = &f->messages;
    uint32_t type = messages_type(m), count = m->message.header.count;
    union protocol_payload *p = &m->message.payload;
    if (type == PROTOCOL_ACK) {
        m->refused += count != PROTOCOL_COUNT(p->ack) || !runner_acknowledge(&f->runner, &p->ack);
        messages_listen(m);
        return;
    }
    enum protocol_status status = requests_serve(f, type, p, &count);
    messages_answer(m, status, count);
}

static void send(struct firmware *f)
{
    struct protocol_capture capture;
    const uint32_t *body;
    uint32_t words;
    if (messages_idle(&f->messages) && runner_stream(&f->runner, &capture, &body, &words))
        messages_stream(&f->messages, &capture, body, words);
    messages_send(&f->messages);
}

void firmware_poll(struct firmware *f)
{
    uint32_t reset = usb_device_poll(&f->usb);
    if (reset & USB_BULK_OUT)
        messages_reset_out(&f->messages);
    if (reset & USB_BULK_IN) {
        messages_reset_in(&f->messages);
        runner_again(&f->runner);
    }

    uint32_t open = usb_device_open(&f->usb);
    if (open & USB_BULK_OUT && messages_receive(&f->messages))
        serve(f);
    runner_poll(&f->runner, !f->messages.sender.busy);
    if (open & USB_BULK_IN) {
        send(f);
        send(f);
    }
    trial_watchdog(f->watchdog);
}
