/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of umockdev for those of the bus, and the bus's side of what programs do with them. */
#include "usb_mock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "usb_mock_parts.h"

static const char library[] = "libumockdev-preload.so.0";

enum { NUMBERS = 127 };              /* of devices on a Linux bus */

struct usb_mock {
    UMockdevTestbed *testbed;
    char *room; /* where it has its sockets */
    int lock;   /* of the room */
    struct usb_mock_port ports[USB_MOCK_PORTS];
    unsigned devices;                /* that were ever plugged in */
};

/* ---- transfers --------------------------------------------------------------------------- */

static void transfer_done(struct usb_transfer *t)
{
    struct mock_urb *u = (struct mock_urb *)t;
    if (!u->port) {
        usb_mock_free_urb(u);
        return;
    }
    struct mock_urb **link = &u->port->flying;
    while (*link != u)
        link = &(*link)->next;
    *link = u->next;
    usb_mock_done(u);
}

static void submit(struct usb_mock_port *p, struct mock_urb *u)
{
    bool old = atomic_load(&u->file->device->gone);
    u->transfer.complete = transfer_done;
    u->next = p->flying;
    p->flying = u;
    if (old || !usb_bus_submit(p->bus, &u->transfer)) {
        u->transfer.status = USB_GONE;
        transfer_done(&u->transfer);
    }
}

static void do_job(struct usb_mock_port *p, const struct mock_job *job)
{
    bool all = job->kind == JOB_CLOSE;
    switch (job->kind) {
    case JOB_SUBMIT:
        submit(p, job->urb);
        return;
    case JOB_RESET:
        job->urb->next = p->resetting;
        p->resetting = job->urb;
        usb_bus_reset(p->bus);
        return;
    case JOB_CANCEL: case JOB_CLOSE:
        for (struct mock_urb *u = p->flying; u; u = u->next)
            if (u->file == job->file && (all || (u->data && u->data->client_addr == job->address)))
                usb_bus_cancel(p->bus, &u->transfer);
        if (all)
            usb_mock_closed(job->file);
        return;
    }
}

static void do_jobs(struct usb_mock_port *p)
{
    pthread_mutex_lock(&p->lock);
    struct mock_job *job = p->jobs;
    p->jobs = NULL;
    p->jobs_end = &p->jobs;
    atomic_store(&p->busy, false);
    pthread_mutex_unlock(&p->lock);
    for (struct mock_job *next; job; job = next) {
        next = job->next;
        do_job(p, job);
        g_free(job);
    }
}

static void end_resets(struct usb_mock_port *p, enum usb_status status)
{
    struct mock_urb *u = p->resetting;
    p->resetting = NULL;
    for (struct mock_urb *next; u; u = next) {
        next = u->next;
        u->transfer.status = status;
        usb_mock_done(u);
    }
}

/* ---- plug and unplug --------------------------------------------------------------------- */

static void add_attribute(GString *text, const char *name, const char *format, unsigned value)
{
    g_string_append_printf(text, "A: %s=", name);
    g_string_append_printf(text, format, value);
    g_string_append(text, "\\n\n");
}

static void add_hex(GString *text, const uint8_t *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        g_string_append_printf(text, "%02X", bytes[i]);
}

/* As umockdev-record would have written it. */
static char *describe(const struct mock_device *d)
{
    const struct usb_bus *b = d->port->bus;
    static const char *const strings[] = { "manufacturer", "product", "serial" };
    const uint8_t *u = b->device;
    unsigned vendor = u[8] | (unsigned)u[9] << 8, product = u[10] | (unsigned)u[11] << 8;
    unsigned release = u[12] | (unsigned)u[13] << 8;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "P: %s\nN: %s\n", d->sysfs + strlen("/sys"),
                           d->node + strlen("/dev/"));
    g_string_append_printf(text, "E: SUBSYSTEM=usb\nE: DEVTYPE=usb_device\nE: DRIVER=usb\n"
                           "E: BUSNUM=001\nE: DEVNUM=%03u\nE: DEVNAME=%s\nE: MAJOR=189\n"
                           "E: MINOR=%u\nE: PRODUCT=%x/%x/%x\nE: TYPE=%u/%u/%u\n", d->number,
                           d->node, d->number - 1, vendor, product, release, u[4], u[5], u[6]);
    add_attribute(text, "busnum", "%u", 1);
    add_attribute(text, "devnum", "%u", d->number);
    add_attribute(text, "devpath", "%u", d->port->index + 1);
    add_attribute(text, "speed", "%u", 12);
    add_attribute(text, "idVendor", "%04x", vendor);
    add_attribute(text, "idProduct", "%04x", product);
    add_attribute(text, "bcdDevice", "%04x", release);
    add_attribute(text, "bDeviceClass", "%02x", u[4]);
    add_attribute(text, "bDeviceSubClass", "%02x", u[5]);
    add_attribute(text, "bDeviceProtocol", "%02x", u[6]);
    add_attribute(text, "bNumConfigurations", "%u", u[17]);
    add_attribute(text, "bNumInterfaces", "%2u", b->config[4]);
    add_attribute(text, "bConfigurationValue", "%u", b->config[5]);
    for (unsigned i = 0; i < 3; i++) /* '\\' has a meaning there */
        if (b->strings[i][0] && !strchr(b->strings[i], '\\'))
            g_string_append_printf(text, "A: %s=%s\\n\n", strings[i], b->strings[i]);
    g_string_append(text, "H: descriptors=");
    add_hex(text, u, sizeof b->device);
    add_hex(text, b->config, b->config_length);
    g_string_append_c(text, '\n');
    return g_string_free(text, FALSE);
}

static void appear(struct usb_mock_port *p)
{
    struct usb_mock *m = p->mock;
    GError *error = NULL;
    struct mock_device *d = g_new0(struct mock_device, 1);
    d->port = p;
    d->number = 1 + m->devices++ % NUMBERS;
    d->interfaces = MIN(p->bus->config[4], USB_MOCK_INTERFACES);
    snprintf(d->node, sizeof d->node, "/dev/bus/usb/001/%03u", d->number);
    snprintf(d->sysfs, sizeof d->sysfs, "/sys/devices/ordeal/usb1/1-%u", p->index + 1);
    d->base = umockdev_ioctl_base_new();
    g_signal_connect(d->base, "handle-ioctl", G_CALLBACK(usb_mock_ioctl), d);
    d->next = p->devices;
    p->devices = d;
    p->number = p->bus->number;
    char *text = describe(d);
    if (!umockdev_testbed_attach_ioctl(m->testbed, d->node, d->base, &error)
        || !umockdev_testbed_add_from_string(m->testbed, text, &error)) {
        snprintf(p->bus->why, sizeof p->bus->why, "umockdev: %s", error->message);
        p->bus->given_up = true;
        g_clear_error(&error);
    }
    g_free(text);
}

static void disappear(struct usb_mock_port *p)
{
    UMockdevTestbed *testbed = p->mock->testbed;
    struct mock_device *d = p->devices;
    atomic_store(&d->gone, true);
    p->number = 0;
    umockdev_testbed_uevent(testbed, d->sysfs, "remove");
    umockdev_testbed_remove_device(testbed, d->sysfs);
    umockdev_testbed_detach_ioctl(testbed, d->node, NULL);
    end_resets(p, USB_GONE);
}

void usb_mock_poll(struct usb_mock_port *p)
{
    const struct usb_bus *b = p->bus;
    bool there = b->state == USB_BUS_READY || b->state == USB_BUS_AGAIN;
    if (p->number && (!there || p->number != b->number))
        disappear(p);
    if (!p->number && there)
        appear(p);
    if (p->resetting && b->state == USB_BUS_READY)
        end_resets(p, USB_OK);
    if (atomic_load_explicit(&p->busy, memory_order_relaxed))
        do_jobs(p);
}

/* ---- for the program --------------------------------------------------------------------- */

void usb_mock_wait(struct usb_mock_port *p, int milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += milliseconds % 1000 * 1000000L;
    until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&p->lock);
    while (!p->jobs && pthread_cond_timedwait(&p->wake, &p->lock, &until) == 0)
        continue;
    pthread_mutex_unlock(&p->lock);
}

bool usb_mock_opened(const struct usb_mock_port *p)
{
    return atomic_load(&p->files) > 0;
}

/* A program that ends in the middle of an ioctl is no mistake of ours, as umockdev would have
 * it. */
static void quiet(const char *domain, GLogLevelFlags level, const char *message, gpointer user)
{
    if (!strstr(message, "Destroying IoctlClient with open stream"))
        g_log_default_handler(domain, level, message, user);
}

/* ---- a room for umockdev ----------------------------------------------------------------- */

/* It has a folder with sockets, and ends the program if it cannot. That one lies in a folder of our
 * own, with a name and a lock as host/base/temporary.h has them: what is left when we are killed is
 * removed by the next `ordeal` that works there, or by `ordeal clean`. */
#define ROOM "/board.ordeal-tmp-XXXXXX"

static bool is_short(const char *place, char *why, size_t size)
{
    static const char longest[] = ROOM "/umockdev.XXXXXX/ioctl/dev/bus/usb/001/127";
    size_t most = sizeof((struct sockaddr_un *)0)->sun_path - sizeof longest;
    if (strlen(place) > most)
        snprintf(why, size, "TMPDIR is too long: a folder for sockets has room for %zu letters",
                 most);
    return strlen(place) <= most;
}

/* False and errno; ENOENT: whoever sweeps there was faster than the lock. */
static bool make_room(struct usb_mock *m)
{
    struct stat made;
    if (!mkdtemp(m->room))
        return false;
    m->lock = open(m->room, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (m->lock < 0)
        return false;
    flock(m->lock, LOCK_EX);
    if (fstat(m->lock, &made) == 0 && made.st_nlink > 0)
        return true;
    close(m->lock);
    errno = ENOENT;
    return false;
}

static bool have_room(struct usb_mock *m, const char *place, char *why, size_t size)
{
    if (!is_short(place, why, size))
        return false;
    for (int attempt = 0; attempt < 3; attempt++) {
        m->room = g_strconcat(place, ROOM, NULL);
        if (make_room(m))
            return true;
        int error = errno;
        g_free(m->room);
        errno = error;
    }
    snprintf(why, size, "no folder can be made in %.150s: %s; TMPDIR names another place", place,
             strerror(errno));
    return false;
}

/* GLib asks once in a process where temporary files go. */
static void open_testbed(struct usb_mock *m, const char *given)
{
    setenv("TMPDIR", m->room, 1);
    m->testbed = umockdev_testbed_new();
    if (given)
        setenv("TMPDIR", given, 1);
    else
        unsetenv("TMPDIR");
}

static bool open_mock(struct usb_mock *m, char *why, size_t size)
{
    const char *set = getenv("TMPDIR"), *place = set && *set ? set : P_tmpdir;
    char *given = g_strdup(set), whole[PATH_MAX];
    bool good = have_room(m, realpath(place, whole) ? whole : place, why, size);
    if (good)
        open_testbed(m, given);
    g_free(given);
    return good;
}

struct usb_mock *usb_mock_new(char *why, size_t size)
{
    void *loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (!loaded) {                   /* umockdev itself would end the program */
        snprintf(why, size, "libumockdev-preload is not loaded: link the program with "
                            "-Wl,--no-as-needed -lumockdev-preload");
        return NULL;
    }
    dlclose(loaded);
    struct usb_mock *m = calloc(1, sizeof *m);
    if (!m) {
        snprintf(why, size, "out of memory");
        return NULL;
    }
    g_log_set_handler("libumockdev", G_LOG_LEVEL_CRITICAL, quiet, NULL);
    g_log_set_handler(NULL, G_LOG_LEVEL_CRITICAL, quiet, NULL);
    if (open_mock(m, why, size))
        return m;
    free(m);
    return NULL;
}

struct usb_mock_port *usb_mock_plug(struct usb_mock *m, struct usb_bus *bus, char *why, size_t size)
{
    unsigned index = 0;
    while (index < USB_MOCK_PORTS && m->ports[index].bus)
        index++;
    if (index == USB_MOCK_PORTS) {
        snprintf(why, size, "more than %d boards", USB_MOCK_PORTS);
        return NULL;
    }
    struct usb_mock_port *p = &m->ports[index];
    p->mock = m;
    p->bus = bus;
    p->index = index;
    p->jobs_end = &p->jobs;
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return p;
}

void usb_mock_environment(const struct usb_mock *m)
{
    const char *others = getenv("LD_PRELOAD");
    char *root = umockdev_testbed_get_root_dir(m->testbed);
    char *all = others && *others ? g_strconcat(library, ":", others, NULL) : g_strdup(library);
    setenv("LD_PRELOAD", all, 1);
    setenv("UMOCKDEV_DIR", root, 1);
    g_free(all);
    g_free(root);
}

/* Whether nothing of it is left. Files that are closed by now end when the worker has heard of
 * it; what somebody still has open is left to the worker. */
static bool empty_port(struct usb_mock_port *p)
{
    enum { PATIENCE = 1000 };        /* milliseconds */
    do_jobs(p);
    for (int i = 0; i < PATIENCE && usb_mock_opened(p) && !p->flying; i++) {
        usb_mock_wait(p, 1);
        do_jobs(p);
    }
    for (struct mock_urb *u = p->flying; u; u = u->next) {
        u->port = NULL;
        usb_bus_cancel(p->bus, &u->transfer);
    }
    return !usb_mock_opened(p);
}

void usb_mock_unplug(struct usb_mock_port *p)
{
    if (p->number)
        disappear(p);
    if (!empty_port(p)) {
        p->left = true;
        return;
    }
    for (struct mock_device *d = p->devices, *next; d; d = next) {
        next = d->next;
        g_signal_handlers_disconnect_by_data(d->base, d);
        g_object_unref(d->base);
        g_free(d);
    }
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    memset(p, 0, sizeof *p);
}

void usb_mock_free(struct usb_mock *m)
{
    bool left = false;
    if (!m)
        return;
    for (unsigned i = 0; i < USB_MOCK_PORTS; i++) {
        if (m->ports[i].bus && !m->ports[i].left)
            usb_mock_unplug(&m->ports[i]);
        left |= m->ports[i].left;
    }
    g_object_unref(m->testbed);
    rmdir(m->room);
    close(m->lock);
    g_free(m->room);
    if (!left)
        free(m);
}
