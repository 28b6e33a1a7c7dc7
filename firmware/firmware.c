/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware as a whole. No interrupts: the loop asks, each layer does a little and never
 * waits, and only who comes round the whole loop puts the watchdog off. */
#include "firmware.h"
#include "trial_driver.h"
#include "registers.h"

void firmware_start(struct firmware *f, uint32_t *ring, uint32_t window)
{
    f->watchdog = trial_clock() >> 3; /* 1/8 s */
    trial_watchdog(f->watchdog);
    runner_start(&f->runner, ring, window);
    messages_listen(&f->messages);
    usb_device_start(&f->usb, trial_parameter(PARAM_SERIAL));
}

static enum protocol_status hello(const struct firmware *f, uint32_t *payload, uint32_t *count)
{
    if (*count != 1) {
        *count = 0;
        return STATUS_LENGTH;
    }
    payload[0] = PROTOCOL_VERSION;
    payload[1] = FIRMWARE_BUILD;
    payload[2] = trial_build();
    payload[3] = trial_clock();
    payload[4] = f->runner.run;
    payload[5] = f->runner.phase;
    payload[6] = f->runner.window;
    payload[7] = trial_cause();
    payload[8] = f->messages.last;
    for (uint32_t i = 0; i < 16; i++)
        payload[9 + i] = trial_parameter(i);
    *count = sizeof(struct protocol_hello) / 4;
    return STATUS_OK;
}

static void serve(struct firmware *f)
{
    uint32_t type = messages_type(&f->messages), count = f->messages.message[2];
    uint32_t *payload = f->messages.message + PROTOCOL_HEADER;
    enum protocol_status status;
    if (type == PROTOCOL_ACK) {
        f->messages.refused += !runner_acknowledge(&f->runner, payload, count);
        messages_listen(&f->messages);
        return;
    }
    if (type == PROTOCOL_HELLO)
        status = hello(f, payload, &count);
    else
        status = runner_request(&f->runner, type, payload, &count);
    if (type == PROTOCOL_STATE && status == STATUS_OK)
        payload[7] = f->messages.refused;
    messages_answer(&f->messages, status, count);
}

static void send(struct firmware *f)
{
    uint32_t place[3], words;
    const uint32_t *body;
    if (messages_idle(&f->messages) && runner_stream(&f->runner, place, &body, &words))
        messages_stream(&f->messages, place, body, words);
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
