/* SPDX-License-Identifier: Apache-2.0 */
#include "board_usb.h"

#include <libusb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/list.h"
#include "protocol.h"

enum {
    INTERFACE = 0,
    PACKET = 64,
    MESSAGE = PROTOCOL_WORDS * 4,
    IN_BYTES = MESSAGE + PACKET, /* a whole message ends with a short packet before it is full */
    IN_TRANSFERS = 8,
    OUT_TRANSFERS = 8,
    WAITING = 256,   /* messages that came and nobody took: then no more are fetched */
    SEND_MS = 1000,  /* what a board does not take for so long is dropped */
    REOPEN_MS = 100, /* between tries */
    STRIKES = 16,    /* failed transfers in a row: it is gone */
    STRING_TRIES = 5 /* to read the serial number */
};

struct usb_message { size_t bytes; uint8_t data[IN_BYTES]; };

struct in_transfer {
    struct usb_port *owner;
    struct libusb_transfer *transfer;
    bool flying;
    uint8_t data[IN_BYTES];
};

struct out_transfer {
    struct usb_port *owner;
    struct libusb_transfer *transfer;
    bool flying;
    uint8_t data[MESSAGE];
};

struct usb_port {
    struct board_port port;
    libusb_context *context;
    libusb_device_handle *handle; /* NULL: it is gone */
    uint8_t in, out;              /* endpoints */
    char serial[BOARD_SERIAL];
    bool lost, closing;
    struct usb_port *next_awaiting;
    unsigned strikes;             /* since something came or went well */
    struct in_transfer receiving[IN_TRANSFERS];
    struct out_transfer sending[OUT_TRANSFERS];
    struct usb_message *waiting[WAITING]; /* a ring */
    size_t first, count;
};

/* ---- what is there --------------------------------------------------------------------------- */

static void place_of(libusb_device *device, char *text, size_t size)
{
    uint8_t ports[8];
    int n = libusb_get_port_numbers(device, ports, sizeof ports);
    int used = snprintf(text, size, "%d", libusb_get_bus_number(device));
    for (int i = 0; i < n && used > 0 && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%c%d", i ? '.' : '-', ports[i]);
}

static void say_error(int error, const char *place, char *text, size_t size)
{
    if (error == LIBUSB_ERROR_ACCESS)
        snprintf(text, size, "no permission to use the board at USB %s: as root copy "
                 "70-ordeal.rules (in share/ordeal of the installation, or tcl/ of the sources) to "
                 "/etc/udev/rules.d, run 'udevadm control --reload', and plug the board in again",
                 place);
    else if (error == LIBUSB_ERROR_BUSY)
        snprintf(text, size, "the board at USB %s is in use by another program", place);
    else if (error == LIBUSB_ERROR_NO_DEVICE || error == LIBUSB_ERROR_NOT_FOUND)
        snprintf(text, size,
                 "the board at USB %s was unplugged, or is not set up yet: look at its "
                 "cable, and try again when it has been in for a second",
                 place);
    else
        snprintf(text, size, "the board at USB %s: %s", place, libusb_strerror(error));
}

static bool is_board(libusb_device *device)
{
    struct libusb_device_descriptor d;
    return libusb_get_device_descriptor(device, &d) == 0 && d.idVendor == BOARD_VENDOR
           && d.idProduct == BOARD_PRODUCT;
}

/* Its one interface: two bulk endpoints, whatever their numbers; 0 if they are not there. Not 0:
 * libusb's error, and nobody knows. */
static int find_endpoints(libusb_device *device, uint8_t *in, uint8_t *out)
{
    struct libusb_config_descriptor *config;
    *in = *out = 0;
    int error = libusb_get_active_config_descriptor(device, &config);
    if (error)
        return error;
    for (int i = 0; i < config->bNumInterfaces; i++) {
        const struct libusb_interface *interface = &config->interface[i];
        for (int a = 0; a < interface->num_altsetting; a++) {
            const struct libusb_interface_descriptor *d = &interface->altsetting[a];
            for (int e = 0; d->bInterfaceNumber == INTERFACE && e < d->bNumEndpoints; e++) {
                const struct libusb_endpoint_descriptor *endpoint = &d->endpoint[e];
                bool bulk = (endpoint->bmAttributes & 3) == LIBUSB_TRANSFER_TYPE_BULK
                            && endpoint->wMaxPacketSize == PACKET;
                uint8_t *which = endpoint->bEndpointAddress & LIBUSB_ENDPOINT_IN ? in : out;
                if (bulk && !*which)
                    *which = endpoint->bEndpointAddress;
            }
        }
    }
    libusb_free_config_descriptor(config);
    return 0;
}

/* "" if it has none, or none that can be read. Only what can be typed and printed is kept. */
static void read_serial(libusb_device *device, libusb_device_handle *handle, char *serial)
{
    struct libusb_device_descriptor d;
    unsigned char text[BOARD_SERIAL];
    int n = libusb_get_device_descriptor(device, &d) == 0 && d.iSerialNumber ? LIBUSB_ERROR_IO : 0;
    for (int i = 0; i < STRING_TRIES && n < 0 && n != LIBUSB_ERROR_NO_DEVICE; i++)
        n = libusb_get_string_descriptor_ascii(handle, d.iSerialNumber, text, sizeof text - 1);
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (text[i] > ' ' && text[i] < 0x7f)
            serial[kept++] = (char)text[i];
    serial[kept] = 0;
}

/* Those who wait for their board to come back. When it does, it is theirs: nobody else here who is
 * content with any board takes it. */
static struct usb_port *awaiting;
static pthread_mutex_t awaiting_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_awaited(const char *serial)
{
    bool awaited = false;
    pthread_mutex_lock(&awaiting_lock);
    for (const struct usb_port *p = awaiting; p && *serial; p = p->next_awaiting)
        awaited |= strcmp(p->serial, serial) == 0;
    pthread_mutex_unlock(&awaiting_lock);
    return awaited;
}

static void await(struct usb_port *p, bool begins)
{
    pthread_mutex_lock(&awaiting_lock);
    struct usb_port **link = &awaiting;
    while (!begins && *link != p)
        link = &(*link)->next_awaiting;
    if (begins) {
        p->next_awaiting = awaiting;
        awaiting = p;
    } else {
        *link = p->next_awaiting;
    }
    pthread_mutex_unlock(&awaiting_lock);
}

/* Opens one and claims it, if it has the serial number that is wanted (NULL: any). NULL: it has
 * not, or there is a problem with it. */
static libusb_device_handle *open_device(libusb_device *device, const char *wanted, uint8_t *in,
                                         uint8_t *out, struct board_found *found)
{
    libusb_device_handle *handle;
    *found = (struct board_found){ 0 };
    place_of(device, found->place, sizeof found->place);
    int error = libusb_open(device, &handle);
    if (error) {
        say_error(error, found->place, found->problem, sizeof found->problem);
        return NULL;
    }
    read_serial(device, handle, found->serial);
    bool good = wanted ? strcmp(wanted, found->serial) == 0 : !is_awaited(found->serial);
    if (good && (error = find_endpoints(device, in, out)) != 0) {
        say_error(error, found->place, found->problem, sizeof found->problem);
        good = false;
    } else if (good && (!*in || !*out)) {
        snprintf(found->problem, sizeof found->problem, "the board at USB %s has not the endpoints "
                 "it should have: 'ordeal board flash' brings its firmware up to date",
                 found->place);
        good = false;
    }
    if (good && (error = libusb_claim_interface(handle, INTERFACE)) != 0) {
        say_error(error, found->place, found->problem, sizeof found->problem);
        good = false;
    }
    if (good)
        return handle;
    libusb_close(handle);
    return NULL;
}

static void close_device(libusb_device_handle *handle)
{
    libusb_release_interface(handle, INTERFACE);
    libusb_close(handle);
}

static int by_place(const void *a, const void *b)
{
    return strverscmp(((const struct board_found *)a)->place,
                      ((const struct board_found *)b)->place);
}

bool board_usb_list(struct board_found **found, size_t *count, struct why *why)
{
    libusb_context *context;
    libusb_device **devices;
    LIST(struct board_found) list = { 0 };
    int error = libusb_init(&context);
    ssize_t n = error == 0 ? libusb_get_device_list(context, &devices) : error;
    if (n < 0) {
        why_say(why, "USB: %s", libusb_strerror((int)n));
        if (error == 0)
            libusb_exit(context);
        return false;
    }
    bool good = true;
    for (ssize_t i = 0; i < n && good; i++) {
        struct board_found one;
        uint8_t in, out;
        if (!is_board(devices[i]))
            continue;
        libusb_device_handle *handle = open_device(devices[i], NULL, &in, &out, &one);
        if (handle)
            close_device(handle);
        good = LIST_PUSH(&list, one);
    }
    libusb_free_device_list(devices, 1);
    libusb_exit(context);
    if (!good) {
        why_say(why, "out of memory");
        LIST_FREE(&list);
    }
    if (list.count)
        qsort(list.data, list.count, sizeof *list.data, by_place);
    *found = list.data;
    *count = list.count;
    return good;
}

int board_usb_present(void)
{
    libusb_context *context;
    libusb_device **devices;
    int count = 0;
    if (libusb_init(&context) != 0)
        return 0;
    ssize_t n = libusb_get_device_list(context, &devices);
    for (ssize_t i = 0; i < n; i++)
        count += is_board(devices[i]);
    if (n >= 0)
        libusb_free_device_list(devices, 1);
    libusb_exit(context);
    return count;
}

/* ---- transfers ------------------------------------------------------------------------------- */

static void receive_more(struct usb_port *p);

/* A halted endpoint fails every time, and is cleared when the board is opened again. */
static void strike(struct usb_port *p, enum libusb_transfer_status status)
{
    p->lost |= status == LIBUSB_TRANSFER_NO_DEVICE || ++p->strikes > STRIKES;
}

static void LIBUSB_CALL received(struct libusb_transfer *transfer)
{
    struct in_transfer *t = transfer->user_data;
    struct usb_port *p = t->owner;
    t->flying = false;
    if (p->closing || transfer->status == LIBUSB_TRANSFER_CANCELLED)
        return;
    if (transfer->status != LIBUSB_TRANSFER_COMPLETED)
        strike(p, transfer->status);
    else {
        p->strikes = 0;
        struct usb_message *m = transfer->actual_length > 0 ? malloc(sizeof *m) : NULL;
        if (m) {                  /* out of memory: as if lost on the way, and sent again */
            m->bytes = (size_t)transfer->actual_length;
            memcpy(m->data, t->data, m->bytes);
            p->waiting[(p->first + p->count++) % WAITING] = m;
        }
    }
    receive_more(p);
}

/* As many as there is room for what they may bring. */
static void receive_more(struct usb_port *p)
{
    size_t flying = 0;
    for (int i = 0; i < IN_TRANSFERS; i++)
        flying += p->receiving[i].flying;
    for (int i = 0; i < IN_TRANSFERS && !p->lost && p->count + flying < WAITING; i++) {
        struct in_transfer *t = &p->receiving[i];
        if (t->flying)
            continue;
        libusb_fill_bulk_transfer(t->transfer, p->handle, p->in, t->data, IN_BYTES, received, t, 0);
        if (libusb_submit_transfer(t->transfer) != 0) {
            p->lost = true;
            return;
        }
        t->flying = true;
        flying++;
    }
}

static void LIBUSB_CALL sent(struct libusb_transfer *transfer)
{
    struct out_transfer *t = transfer->user_data;
    struct usb_port *p = t->owner;
    t->flying = false;
    if (p->closing || transfer->status == LIBUSB_TRANSFER_CANCELLED)
        return;
    if (transfer->status == LIBUSB_TRANSFER_COMPLETED)
        p->strikes = 0;
    else                          /* the message is lost; whoever sent it asks again */
        strike(p, transfer->status);
}

static void handle_events(struct usb_port *p, int milliseconds)
{
    struct timeval wait = { milliseconds / 1000, milliseconds % 1000 * 1000 };
    if (libusb_handle_events_timeout_completed(p->context, &wait, NULL) == LIBUSB_ERROR_NO_DEVICE)
        p->lost = true;
}

static struct out_transfer *free_transfer(struct usb_port *p)
{
    for (int i = 0; i < OUT_TRANSFERS; i++)
        if (!p->sending[i].flying)
            return &p->sending[i];
    return NULL;
}

static bool usb_send(struct board_port *port, const uint32_t *words, size_t count)
{
    struct usb_port *p = (struct usb_port *)port;
    double until = now_seconds() + SEND_MS / 1000.0;
    struct out_transfer *t;
    while (!p->lost && !(t = free_transfer(p))) {
        handle_events(p, 100);
        if (interrupted() || now_seconds() > until)
            return true;          /* as if lost on the way */
    }
    if (p->lost)
        return false;
    memcpy(t->data, words, count * 4);
    libusb_fill_bulk_transfer(t->transfer, p->handle, p->out, t->data, (int)(count * 4), sent, t,
                              0);
    t->transfer->flags = LIBUSB_TRANSFER_ADD_ZERO_PACKET;
    p->lost = libusb_submit_transfer(t->transfer) != 0;
    t->flying = !p->lost;
    return !p->lost;
}

static enum port_result usb_receive(struct board_port *port, void *message, size_t room,
                                    size_t *bytes, int milliseconds)
{
    struct usb_port *p = (struct usb_port *)port;
    double until = now_seconds() + milliseconds / 1000.0;
    while (!p->count && !p->lost) {
        double left = until - now_seconds();
        if (left < 0 || interrupted())
            return PORT_NOTHING;
        handle_events(p, (int)(left * 1000) + 1);
    }
    if (!p->count)
        return PORT_LOST;
    struct usb_message *m = p->waiting[p->first];
    p->first = (p->first + 1) % WAITING;
    p->count--;
    *bytes = m->bytes;
    memcpy(message, m->data, m->bytes < room ? m->bytes : room);
    free(m);
    receive_more(p);
    return PORT_MESSAGE;
}

/* ---- coming and going ------------------------------------------------------------------------ */

static bool any_flying(const struct usb_port *p)
{
    bool flying = false;
    for (int i = 0; i < IN_TRANSFERS; i++)
        flying |= p->receiving[i].flying;
    for (int i = 0; i < OUT_TRANSFERS; i++)
        flying |= p->sending[i].flying;
    return flying;
}

/* What flies is called back, as libusb needs it before the device may be closed. */
static void leave(struct usb_port *p)
{
    p->closing = true;
    for (int i = 0; i < IN_TRANSFERS; i++)
        if (p->receiving[i].flying)
            libusb_cancel_transfer(p->receiving[i].transfer);
    for (int i = 0; i < OUT_TRANSFERS; i++)
        if (p->sending[i].flying)
            libusb_cancel_transfer(p->sending[i].transfer);
    double started = now_seconds();
    while (any_flying(p) && now_seconds() - started < 10) {
        struct timeval wait = { 0, 100000 };
        libusb_handle_events_timeout_completed(p->context, &wait, NULL);
    }
    if (p->handle)
        close_device(p->handle);
    p->handle = NULL;
    p->closing = false;
    for (; p->count; p->count--, p->first = (p->first + 1) % WAITING)
        free(p->waiting[p->first]);
}

/* The first that fits and can be used. False: `why` says what was in the way of the best one. */
static bool enter(struct usb_port *p, const char *serial, struct why *why)
{
    libusb_device **devices;
    ssize_t n = libusb_get_device_list(p->context, &devices);
    struct board_found found, worst = { 0 };
    if (n < 0)
        return why_say(why, "USB: %s", libusb_strerror((int)n));
    for (ssize_t i = 0; i < n && !p->handle; i++) {
        if (!is_board(devices[i]))
            continue;
        p->handle = open_device(devices[i], serial, &p->in, &p->out, &found);
        if (p->handle)
            snprintf(p->serial, sizeof p->serial, "%s", found.serial);
        else if (*found.problem)
            worst = found;
    }
    libusb_free_device_list(devices, 1);
    if (!p->handle && *worst.problem)
        return why_say(why, "%s", worst.problem);
    if (!p->handle && serial)
        return why_say(why,
                       "no board with serial number '%s' is connected: "
                       "'ordeal board list' shows what is",
                       serial);
    if (!p->handle)
        return why_say(why,
                       "no board is connected (USB %04x:%04x); "
                       "'ordeal-board -- ordeal run --target board ...' simulates one",
                       BOARD_VENDOR, BOARD_PRODUCT);
    /* Half a message of whoever was here before is forgotten on both sides. */
    libusb_clear_halt(p->handle, p->out);
    libusb_clear_halt(p->handle, p->in);
    p->lost = false;
    p->strikes = 0;
    receive_more(p);
    return true;
}

static bool usb_reopen(struct board_port *port, double seconds, struct why *why)
{
    struct usb_port *p = (struct usb_port *)port;
    double started = now_seconds();
    bool back = false;
    leave(p);
    await(p, true);
    do {
        struct timeval wait = { 0, REOPEN_MS * 1000 };
        libusb_handle_events_timeout_completed(p->context, &wait, NULL);
        back = !interrupted() && enter(p, *p->serial ? p->serial : NULL, why);
    } while (!back && !interrupted() && now_seconds() - started < seconds);
    await(p, false);
    return back;
}

static void usb_close(struct board_port *port)
{
    struct usb_port *p = (struct usb_port *)port;
    leave(p);
    if (any_flying(p))
        return;                   /* libusb may still write there: rather lose the memory */
    for (int i = 0; i < IN_TRANSFERS; i++)
        libusb_free_transfer(p->receiving[i].transfer);
    for (int i = 0; i < OUT_TRANSFERS; i++)
        libusb_free_transfer(p->sending[i].transfer);
    if (p->context)
        libusb_exit(p->context);
    free(p);
}

struct board_port *board_usb_open(const char *serial, struct why *why)
{
    struct usb_port *p = calloc(1, sizeof *p);
    bool good = p != NULL;
    if (p)
        p->port = (struct board_port){ usb_send, usb_receive, usb_reopen, usb_close };
    for (int i = 0; good && i < IN_TRANSFERS; i++) {
        p->receiving[i].owner = p;
        good = (p->receiving[i].transfer = libusb_alloc_transfer(0));
    }
    for (int i = 0; good && i < OUT_TRANSFERS; i++) {
        p->sending[i].owner = p;
        good = (p->sending[i].transfer = libusb_alloc_transfer(0));
    }
    if (!good)
        why_say(why, "out of memory");
    int error = good ? libusb_init(&p->context) : 0;
    if (error) {
        why_say(why, "USB: %s", libusb_strerror(error));
        p->context = NULL;
    }
    if (good && !error && enter(p, serial, why))
        return &p->port;
    if (p)
        usb_close(&p->port);
    return NULL;
}

const char *board_usb_serial(const struct board_port *port)
{
    return ((const struct usb_port *)port)->serial;
}
