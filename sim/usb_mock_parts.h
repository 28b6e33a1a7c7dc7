/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of usb_mock.h, shared by its two threads: usb_mock_ioctl.c is umockdev's worker,
 * which takes the ioctls of programs and answers them; usb_mock.c is the bus's own thread, which
 * submits, cancels and completes. What they hand to one another is under the port's lock: jobs
 * one way, URBs that are done the other way. All else belongs to one of them. */
#ifndef SIM_USB_MOCK_PARTS_H
#define SIM_USB_MOCK_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include <umockdev.h>

#include "usb_mock.h"

enum { USB_MOCK_INTERFACES = 32, USB_MOCK_BYTES = 16 << 20 /* of a URB: usbfs has no more */ };

/* A transfer: a URB, which will be reaped, or an ioctl that waits for its end. A reset is one,
 * too. */
struct mock_urb {
    struct usb_transfer transfer;    /* first: callbacks get it */
    struct usb_mock_port *port;      /* NULL: gone */
    struct mock_file *file;
    struct mock_urb *next;           /* in the list it is in: flying, resetting, or done */
    UMockdevIoctlData *data;         /* struct usbdevfs_urb in the program's memory */
    UMockdevIoctlData *buffer;       /* its buffer; the transfer's is the local copy */
    UMockdevIoctlClient *waits;      /* an ioctl, answered when it is done; NULL: it is a URB */
    bool answers_length;             /* that ioctl is USBDEVFS_CONTROL */
};

enum mock_job_kind { JOB_SUBMIT, JOB_CANCEL, JOB_RESET, JOB_CLOSE };

struct mock_job {
    enum mock_job_kind kind;
    struct mock_file *file;
    struct mock_urb *urb;            /* SUBMIT, RESET */
    gulong address;                  /* CANCEL: of the URB, for the program */
    struct mock_job *next;
};

/* What a program has opened. It ends when it is closed and nothing of it is under way. */
struct mock_file {
    struct mock_device *device;
    GMainContext *context;           /* the worker's */
    UMockdevIoctlClient *parked;     /* a reap that waits, until `timer` */
    GSource *timer;
    unsigned references;             /* jobs and URBs that will come back to usb_mock_serve() */
    bool closed;
    struct mock_urb *done, **done_end; /* under the lock */
};

/* One plug of a device: programs that keep an old one open are told that it is gone. */
struct mock_device {
    struct usb_mock_port *port;
    struct mock_device *next;
    UMockdevIoctlBase *base;
    char node[32], sysfs[64];
    unsigned number, interfaces;
    struct mock_file *claims[USB_MOCK_INTERFACES];
    atomic_bool gone;
};

struct usb_mock_port {
    struct usb_mock *mock;
    struct usb_bus *bus;             /* NULL: the port is free */
    unsigned index;
    bool left;                       /* unplugged while a program had it open */
    atomic_uint files;               /* that are open */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct mock_job *jobs, **jobs_end;
    atomic_bool busy;                /* there are jobs */

    /* Of the bus's thread. */
    struct mock_device *devices;     /* the first is the present one, or was the last */
    uint32_t number;                 /* of the device on the bus; 0: none is plugged in */
    struct mock_urb *flying;
    struct mock_urb *resetting;      /* done when the device is ready again */
};

/* usb_mock_ioctl.c, for the bus's thread. */
gboolean usb_mock_ioctl(UMockdevIoctlBase *base, UMockdevIoctlClient *client, gpointer device);
void usb_mock_done(struct mock_urb *u);       /* it goes to the worker */
void usb_mock_closed(struct mock_file *f);    /* so does the answer to JOB_CLOSE */
void usb_mock_free_urb(struct mock_urb *u);

#endif
