/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the host, shared by its two halves: usb_host.c has the port and the queues,
 * usb_transact.c what happens within a frame, packet by packet. */
#ifndef SIM_USB_HOST_PARTS_H
#define SIM_USB_HOST_PARTS_H

#include "usb_host.h"

enum usb_port {
    PORT_EMPTY,
    PORT_DEBOUNCE,                   /* a pull-up is there, until `deadline` it may bounce */
    PORT_OFF,                        /* a device is there; no reset yet, or disabled */
    PORT_RESET,                      /* SE0 is driven until `deadline` */
    PORT_RECOVERY,                   /* SOFs alone until `deadline` */
    PORT_ENABLED,
    PORT_SUSPENDED,                  /* J, and no SOF */
    PORT_RESUME,                     /* K is driven until `deadline` */
    PORT_RESUME_END                  /* SE0 of two low-speed bit times (7.1.7.7) */
};

enum usb_engine {
    ENGINE_IDLE,                     /* the next packet may begin at `due` */
    ENGINE_SENDING,
    ENGINE_TURN,                     /* `next` will be sent at `due` */
    ENGINE_LISTENING,                /* for an answer until `due` */
    ENGINE_RECEIVING                 /* it */
};

enum usb_stage { STAGE_SETUP, STAGE_DATA, STAGE_STATUS };

struct usb_pipe {                    /* one direction of an endpoint; control has one, number 0 */
    struct usb_transfer *head, **tail;
    uint64_t pause;                  /* not before this sample */
    uint32_t strikes;                /* in a row */
    bool toggle;                     /* of the next data packet */
};

enum { PIPES = 32 };                 /* OUT 0 to 15, IN 0 to 15; IN 0 is not used */

struct usb_host {
    struct usb_host_options options;
    struct usb_host_statistics statistics;
    void (*event)(void *user, enum usb_port_event);
    void *user;

    /* The wires. */
    uint64_t now;                    /* number of the sample that comes next */
    uint64_t wake;                   /* nothing is to be done before, unless the line changes */
    struct usb_pins pins;            /* ours in that sample */
    enum usb_line line;              /* as we saw it last */
    uint64_t edge;                   /* when it became so */
    struct usb_sender sender;
    struct usb_receiver receiver;

    /* The port. */
    enum usb_port port;
    bool plugged;
    bool want_reset, want_suspend, want_resume;
    uint64_t deadline, alarm;        /* 0: none */
    enum usb_fault_kind trouble;     /* of this frame, and when it comes or, if it is on, ends */
    uint64_t trouble_at;
    bool trouble_on;

    /* The frame. */
    uint32_t frame, frame_packets;
    double next_sof;

    /* The transaction. */
    enum usb_engine engine;
    uint64_t due;
    bool lost;                       /* what is being sent never arrives */
    bool turn;                       /* `next` follows what is being sent */
    bool answer;                     /* an answer follows what is being sent */
    struct usb_packet next;
    uint64_t asked;                  /* J of the EOP that is to be answered */
    uint32_t current;                /* its pipe; PIPES: none */
    uint8_t token;
    uint32_t size;                   /* of the data we send in it */

    uint32_t address, packet_size;
    struct usb_pipe pipes[PIPES];
    uint32_t last_pipe;              /* that had its turn */
    struct usb_transfer *done, **done_end; /* their callbacks are due */
};

/* usb_transact.c */
void usb_frame_begin(struct usb_host *h, uint64_t now);
void usb_engine_stop(struct usb_host *h);
void usb_engine_step(struct usb_host *h, uint64_t now);
uint64_t usb_engine_wake(const struct usb_host *h); /* the sample in which it has to be called */

/* usb_host.c */
void usb_host_finish(struct usb_host *h, uint32_t pipe, enum usb_status status); /* its head */
void usb_host_babble(struct usb_host *h);

#endif
