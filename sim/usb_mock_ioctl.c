/* SPDX-License-Identifier: Apache-2.0 */
/* The ioctls of Linux's usbfs, as far as libusb uses them, in umockdev's worker thread. */
#include <errno.h>
#include <linux/usbdevice_fs.h>
#include <string.h>
#include <sys/ioctl.h>

#include "usb_mock_parts.h"

enum {
    REAP_MILLISECONDS = 2,           /* an empty-handed reap waits so long: see park() */
    SPEED_FULL = 2,
    ANSWERED = -1                    /* instead of an errno */
};

static void push_job(struct mock_file *f, struct mock_job job)
{
    struct usb_mock_port *p = f->device->port;
    struct mock_job *j = g_new(struct mock_job, 1);
    *j = job;
    j->file = f;
    j->next = NULL;
    pthread_mutex_lock(&p->lock);
    *p->jobs_end = j;
    p->jobs_end = &j->next;
    atomic_store(&p->busy, true);
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

/* ---- answers ----------------------------------------------------------------------------- */

static void answer(UMockdevIoctlClient *client, int error)
{
    umockdev_ioctl_client_complete(client, error ? -1 : 0, error);
}

void usb_mock_free_urb(struct mock_urb *u)
{
    g_clear_object(&u->data);
    g_clear_object(&u->buffer);
    g_clear_object(&u->waits);
    g_free(u);
}

/* The first URB that is done, or, if `waits`, the first ioctl. */
static struct mock_urb *take_done(struct mock_file *f, bool waits)
{
    struct usb_mock_port *p = f->device->port;
    pthread_mutex_lock(&p->lock);
    struct mock_urb **link = &f->done;
    while (*link && !(*link)->waits == waits)
        link = &(*link)->next;
    struct mock_urb *u = *link;
    if (u) {
        *link = u->next;
        if (f->done_end == &u->next)
            f->done_end = link;
    }
    pthread_mutex_unlock(&p->lock);
    return u;
}

/* usbfs says ENOENT of what was discarded. */
static int urb_status(const struct usb_transfer *t)
{
    return t->status == USB_CANCELLED ? -ENOENT : usb_status_errno(t->status);
}

/* The URB goes to the reap that asks for one. What was read is in its buffer already. */
static void hand_over(UMockdevIoctlClient *client, struct mock_urb *u)
{
    UMockdevIoctlData *argument = umockdev_ioctl_client_get_arg(client);
    UMockdevIoctlData *pointer = umockdev_ioctl_data_resolve(argument, 0, sizeof(void *), NULL);
    struct usbdevfs_urb *urb = (struct usbdevfs_urb *)u->data->data;
    urb->status = urb_status(&u->transfer);
    urb->actual_length = (int)u->transfer.actual;
    if (pointer)
        umockdev_ioctl_data_set_ptr(pointer, 0, u->data);
    answer(client, pointer ? 0 : EFAULT);
    g_clear_object(&pointer);
    usb_mock_free_urb(u);
}

static void answer_waiting(struct mock_urb *u)
{
    int status = urb_status(&u->transfer);
    if (status)
        answer(u->waits, status == -ESHUTDOWN ? ENODEV : -status);
    else
        umockdev_ioctl_client_complete(u->waits,
                                       u->answers_length ? (long)u->transfer.actual : 0, 0);
    usb_mock_free_urb(u);
}

static UMockdevIoctlClient *unpark(struct mock_file *f)
{
    UMockdevIoctlClient *client = f->parked;
    f->parked = NULL;
    if (f->timer) {
        g_source_destroy(f->timer);
        g_source_unref(f->timer);
        f->timer = NULL;
    }
    return client;
}

static void end_file(struct mock_file *f)
{
    struct mock_device *d = f->device;
    for (unsigned i = 0; i < USB_MOCK_INTERFACES; i++)
        if (d->claims[i] == f)
            d->claims[i] = NULL;
    g_main_context_unref(f->context);
    atomic_fetch_sub(&d->port->files, 1);
    g_free(f);
}

/* A URB or a job has come back. */
static gboolean serve(gpointer user)
{
    struct mock_file *f = user;
    struct mock_urb *u;
    while ((u = take_done(f, true)))
        answer_waiting(u);
    if (f->closed) {
        while ((u = take_done(f, false)))
            usb_mock_free_urb(u);
    } else if (f->parked && (u = take_done(f, false))) {
        UMockdevIoctlClient *client = unpark(f);
        hand_over(client, u);
        g_object_unref(client);
    }
    if (--f->references == 0 && f->closed)
        end_file(f);
    return G_SOURCE_REMOVE;
}

void usb_mock_done(struct mock_urb *u)
{
    struct mock_file *f = u->file;
    struct usb_mock_port *p = f->device->port;
    pthread_mutex_lock(&p->lock);
    u->next = NULL;
    *f->done_end = u;
    f->done_end = &u->next;
    pthread_mutex_unlock(&p->lock);
    g_main_context_invoke(f->context, serve, f);
}

void usb_mock_closed(struct mock_file *f)
{
    g_main_context_invoke(f->context, serve, f);
}

/* ---- URBs -------------------------------------------------------------------------------- */

static gboolean give_up(gpointer user)
{
    UMockdevIoctlClient *client = unpark(user);
    answer(client, EAGAIN);
    g_object_unref(client);
    return G_SOURCE_REMOVE;
}

/* What stands for the device file is always ready for poll(2), so that libusb asks again and
 * again. So it waits here, for a while. */
static void park(struct mock_file *f, UMockdevIoctlClient *client, bool for_ever)
{
    f->parked = g_object_ref(client);
    if (for_ever)
        return;
    f->timer = g_timeout_source_new(REAP_MILLISECONDS);
    g_source_set_callback(f->timer, give_up, f, NULL);
    g_source_attach(f->timer, f->context);
}

static void reap(struct mock_file *f, UMockdevIoctlClient *client, bool for_ever)
{
    struct mock_urb *u = take_done(f, false);
    if (u)
        hand_over(client, u);
    else if (atomic_load(&f->device->gone) && !f->references)
        answer(client, ENODEV);
    else
        park(f, client, for_ever);
}

static struct mock_urb *new_urb(struct mock_file *f)
{
    struct mock_urb *u = g_new0(struct mock_urb, 1);
    u->port = f->device->port;
    u->file = f;
    return u;
}

static void start(struct mock_file *f, struct mock_urb *u, enum mock_job_kind kind)
{
    f->references++;
    push_job(f, (struct mock_job){ .kind = kind, .urb = u });
}

static int submit(struct mock_file *f, UMockdevIoctlClient *client, UMockdevIoctlData *data)
{
    const struct usbdevfs_urb *urb = (const struct usbdevfs_urb *)data->data;
    bool control = urb->type == USBDEVFS_URB_TYPE_CONTROL;
    UMockdevIoctlData *buffer = NULL;
    if ((!control && urb->type != USBDEVFS_URB_TYPE_BULK) || urb->buffer_length < (control ? 8 : 0))
        return EINVAL;
    if (urb->buffer_length > USB_MOCK_BYTES)
        return ENOMEM;
    if (urb->buffer_length) {
        buffer = umockdev_ioctl_data_resolve(data, G_STRUCT_OFFSET(struct usbdevfs_urb, buffer),
                                             (size_t)urb->buffer_length, NULL);
        if (!buffer)
            return EFAULT;
    }
    struct mock_urb *u = new_urb(f);
    struct usb_transfer *t = &u->transfer;
    u->data = g_object_ref(data);
    u->buffer = buffer;
    t->endpoint = control ? 0 : urb->endpoint;
    t->zero_packet = urb->flags & USBDEVFS_URB_ZERO_PACKET;
    t->short_not_ok = urb->flags & USBDEVFS_URB_SHORT_NOT_OK;
    t->buffer = buffer ? buffer->data : NULL;
    t->length = (uint32_t)urb->buffer_length;
    if (control) {                   /* the setup packet is at the begin of the buffer */
        memcpy(t->setup, t->buffer, sizeof t->setup);
        t->buffer += sizeof t->setup;
        t->length = t->setup[6] | (uint32_t)t->setup[7] << 8;
        if (t->length > (uint32_t)urb->buffer_length - sizeof t->setup) {
            usb_mock_free_urb(u);
            return EINVAL;
        }
    }
    answer(client, 0);               /* first: it compares the buffer with the program's */
    start(f, u, JOB_SUBMIT);
    return ANSWERED;
}

static int discard(struct mock_file *f, gulong address)
{
    struct usb_mock_port *p = f->device->port;
    bool done = false;
    pthread_mutex_lock(&p->lock);
    for (const struct mock_urb *u = f->done; u; u = u->next)
        done |= u->data && u->data->client_addr == address;
    pthread_mutex_unlock(&p->lock);
    if (done)
        return EINVAL;               /* too late, as usbfs says it */
    push_job(f, (struct mock_job){ .kind = JOB_CANCEL, .address = address });
    return 0;
}

/* ---- the others -------------------------------------------------------------------------- */

/* An ioctl that is a control transfer. */
static int request(struct mock_file *f, UMockdevIoctlClient *client, uint8_t type, uint8_t request,
                   uint32_t value, uint32_t index)
{
    struct mock_urb *u = new_urb(f);
    u->waits = g_object_ref(client);
    u->transfer = (struct usb_transfer){
        .setup = { type, request, value & 0xff, value >> 8 & 0xff, index & 0xff, index >> 8 & 0xff }
    };
    start(f, u, JOB_SUBMIT);
    return ANSWERED;
}

static int control(struct mock_file *f, UMockdevIoctlClient *client, UMockdevIoctlData *data)
{
    const struct usbdevfs_ctrltransfer *c = (const struct usbdevfs_ctrltransfer *)data->data;
    UMockdevIoctlData *buffer = NULL;
    if (c->wLength) {
        size_t offset = G_STRUCT_OFFSET(struct usbdevfs_ctrltransfer, data);
        buffer = umockdev_ioctl_data_resolve(data, offset, c->wLength, NULL);
        if (!buffer)
            return EFAULT;
    }
    struct mock_urb *u = new_urb(f);
    u->waits = g_object_ref(client);
    u->buffer = buffer;
    u->answers_length = true;
    u->transfer = (struct usb_transfer){
        .setup = { c->bRequestType, c->bRequest, c->wValue & 0xff, c->wValue >> 8, c->wIndex & 0xff,
                   c->wIndex >> 8, c->wLength & 0xff, c->wLength >> 8 },
        .buffer = buffer ? buffer->data : NULL, .length = c->wLength
    };
    start(f, u, JOB_SUBMIT);
    return ANSWERED;
}

static int reset(struct mock_file *f, UMockdevIoctlClient *client)
{
    struct mock_urb *u = new_urb(f);
    u->waits = g_object_ref(client);
    start(f, u, JOB_RESET);
    return ANSWERED;
}

static int claim(struct mock_file *f, unsigned interface)
{
    struct mock_file **owner = &f->device->claims[interface % USB_MOCK_INTERFACES];
    if (interface >= f->device->interfaces)
        return ENOENT;
    if (*owner && *owner != f)
        return EBUSY;
    *owner = f;
    return 0;
}

static int release(struct mock_file *f, unsigned interface)
{
    struct mock_file **owner = &f->device->claims[interface % USB_MOCK_INTERFACES];
    if (interface >= f->device->interfaces || *owner != f)
        return EINVAL;
    *owner = NULL;
    return 0;
}

/* What the argument points to, if the ioctl is answered at once. */
static size_t argument_size(unsigned long ioctl)
{
    switch (ioctl) {
    case USBDEVFS_DISCARDURB: case USBDEVFS_RESET: case USBDEVFS_GET_SPEED:
    case USBDEVFS_REAPURB: case USBDEVFS_REAPURBNDELAY:
        return 0;
    case USBDEVFS_CONTROL:          return sizeof(struct usbdevfs_ctrltransfer);
    case USBDEVFS_SUBMITURB:        return sizeof(struct usbdevfs_urb);
    case USBDEVFS_SETINTERFACE:     return sizeof(struct usbdevfs_setinterface);
    case USBDEVFS_CONNECTINFO:      return sizeof(struct usbdevfs_connectinfo);
    case USBDEVFS_DISCONNECT_CLAIM: return sizeof(struct usbdevfs_disconnect_claim);
    default:                        return sizeof(uint32_t);
    }
}

/* The errno to answer, 0 if all is well, or ANSWERED: it was, or will be. */
static int handle(struct mock_file *f, UMockdevIoctlClient *client, UMockdevIoctlData *data)
{
    unsigned long ioctl = umockdev_ioctl_client_get_request(client);
    UMockdevIoctlData *argument = umockdev_ioctl_client_get_arg(client);
    uint32_t words[2] = { 0, 0 };
    if (data)
        memcpy(words, data->data, (size_t)data->data_len < sizeof words ? 4 : 8);
    if (ioctl == USBDEVFS_REAPURB || ioctl == USBDEVFS_REAPURBNDELAY) {
        reap(f, client, ioctl == USBDEVFS_REAPURB);
        return ANSWERED;
    }
    if (atomic_load(&f->device->gone))
        return ENODEV;
    switch (ioctl) {
    case USBDEVFS_GET_CAPABILITIES:
        words[0] = USBDEVFS_CAP_ZERO_PACKET | USBDEVFS_CAP_NO_PACKET_SIZE_LIM
                 | USBDEVFS_CAP_REAP_AFTER_DISCONNECT;
        memcpy(data->data, words, sizeof words[0]);
        return 0;
    case USBDEVFS_GET_SPEED:
        umockdev_ioctl_client_complete(client, SPEED_FULL, 0);
        return ANSWERED;
    case USBDEVFS_CONNECTINFO:
        ((struct usbdevfs_connectinfo *)data->data)->devnum = f->device->number;
        ((struct usbdevfs_connectinfo *)data->data)->slow = 0;
        return 0;
    case USBDEVFS_SUBMITURB:
        return submit(f, client, data);
    case USBDEVFS_DISCARDURB: {
        gulong address;
        memcpy(&address, argument->data, sizeof address);
        return discard(f, address);
    }
    case USBDEVFS_CLAIMINTERFACE: case USBDEVFS_DISCONNECT_CLAIM:
        return claim(f, words[0]);
    case USBDEVFS_RELEASEINTERFACE:
        return release(f, words[0]);
    case USBDEVFS_CLEAR_HALT:
        return request(f, client, 2, 1, 0, words[0]);
    case USBDEVFS_SETCONFIGURATION:
        return request(f, client, 0, 9, words[0], 0);
    case USBDEVFS_SETINTERFACE:      /* interface and alternate setting */
        return request(f, client, 1, 11, words[1], words[0]);
    case USBDEVFS_CONTROL:
        return control(f, client, data);
    case USBDEVFS_RESET:
        return reset(f, client);
    case USBDEVFS_GETDRIVER: case USBDEVFS_IOCTL:
        return ENODATA;              /* no driver of the kernel's has an interface */
    default:
        return ENOTTY;
    }
}

/* ---- files ------------------------------------------------------------------------------- */

/* The program has closed it, or ended. */
static void closed(gpointer user)
{
    struct mock_file *f = user;
    f->closed = true;
    f->references++;
    push_job(f, (struct mock_job){ .kind = JOB_CLOSE });
}

static struct mock_file *file_of(struct mock_device *d, UMockdevIoctlClient *client)
{
    struct mock_file *f = g_object_get_data(G_OBJECT(client), "file");
    if (f)
        return f;
    f = g_new0(struct mock_file, 1);
    f->device = d;
    f->done_end = &f->done;
    f->context = g_main_context_ref_thread_default();
    g_object_set_data_full(G_OBJECT(client), "file", f, closed);
    atomic_fetch_add(&d->port->files, 1);
    return f;
}

gboolean usb_mock_ioctl(UMockdevIoctlBase *base, UMockdevIoctlClient *client, gpointer device)
{
    struct mock_file *f = file_of(device, client);
    size_t size = argument_size(umockdev_ioctl_client_get_request(client));
    UMockdevIoctlData *argument = umockdev_ioctl_client_get_arg(client), *data = NULL;
    (void)base;
    if (size)
        data = umockdev_ioctl_data_resolve(argument, 0, size, NULL);
    int error = size && !data ? EFAULT : handle(f, client, data);
    if (error != ANSWERED)
        answer(client, error);
    g_clear_object(&data);
    return TRUE;
}
