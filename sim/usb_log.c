/* SPDX-License-Identifier: Apache-2.0 */
/* The log of packets: text, or pcap with the link type of full-speed USB packets. */
#include "usb_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct usb_log {
    FILE *file;
    bool pcap, sofs;
};

static void put32(FILE *file, uint32_t word)
{
    fwrite(&word, sizeof word, 1, file); /* readers see the byte order by the magic number */
}

/* A pipe that nobody reads is refused: umockdev blocks all signals while a file is opened, so that
 * nothing would end the wait. */
static FILE *open_file(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
    if (file < 0)
        return NULL;
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    FILE *opened = fdopen(file, "w");
    if (!opened)
        close(file);
    return opened;
}

struct usb_log *usb_log_open(const char *path)
{
    enum { MAGIC_NANOSECONDS = 0xa1b23c4d, SNAPLEN = 65535, LINKTYPE_USB_2_0_FULL_SPEED = 294 };
    static const uint16_t version[2] = { 2, 4 };
    struct usb_log *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->file = open_file(path);
    if (!log->file) {
        int error = errno;
        free(log);
        errno = error;
        return NULL;
    }
    size_t length = strlen(path);
    log->pcap = length >= 5 && !strcmp(path + length - 5, ".pcap");
    if (log->pcap) {
        put32(log->file, MAGIC_NANOSECONDS);
        fwrite(version, sizeof version, 1, log->file);
        put32(log->file, 0);
        put32(log->file, 0);
        put32(log->file, SNAPLEN);
        put32(log->file, LINKTYPE_USB_2_0_FULL_SPEED);
    }
    return log;
}

void usb_log_sofs(struct usb_log *log, bool sofs)
{
    log->sofs = sofs;
}

/* 48 samples are a microsecond. */
static uint64_t nanoseconds(uint64_t sample)
{
    return sample / 48 * 1000 + sample % 48 * 1000 / 48;
}

static void put_pcap(struct usb_log *log, uint64_t time, const struct usb_packet *p)
{
    put32(log->file, (uint32_t)(time / 1000000000));
    put32(log->file, (uint32_t)(time % 1000000000));
    put32(log->file, p->length);
    put32(log->file, p->length);
    fwrite(p->bytes, 1, p->length, log->file);
}

static void put_time(struct usb_log *log, uint64_t time)
{
    fprintf(log->file, "%3" PRIu64 ".%09" PRIu64, time / 1000000000, time % 1000000000);
}

void usb_log_packet(struct usb_log *log, uint64_t sample, bool from_device,
                    const struct usb_packet *p, const char *note)
{
    bool sof = p->length && p->bytes[0] == USB_PID_SOF;
    char room[8];
    if (sof && !log->sofs)
        return;
    if (log->pcap) {
        put_pcap(log, nanoseconds(sample), p);
        return;
    }
    put_time(log, nanoseconds(sample));
    fprintf(log->file, "  %-6s  %s", from_device ? "device" : "host",
            p->length ? usb_pid_name(p->bytes[0], room) : "empty");
    if (p->length == 3 && !usb_packet_is_data(p) && usb_packet_good(p)) {
        uint32_t bits = usb_packet_bits(p);
        if (sof)
            fprintf(log->file, "  frame %" PRIu32, bits);
        else
            fprintf(log->file, "  address %" PRIu32 " endpoint %" PRIu32, bits & 0x7f, bits >> 7);
    } else if (p->length > 1) {
        bool data = usb_packet_is_data(p) && usb_packet_good(p);
        uint32_t end = data ? p->length - 2 : p->length;
        if (data)
            fprintf(log->file, "  %" PRIu32 " bytes", p->length - 3);
        for (uint32_t i = 1; i < end; i++)
            fprintf(log->file, "%s%02x", i % 4 == 1 ? "  " : " ", p->bytes[i]);
    }
    fprintf(log->file, "%s%s\n", note ? "  # " : "", note ? note : "");
}

void usb_log_event(struct usb_log *log, uint64_t sample, const char *text)
{
    if (log->pcap)
        return;
    put_time(log, nanoseconds(sample));
    fprintf(log->file, "  # %s\n", text);
}

bool usb_log_close(struct usb_log *log)
{
    bool good = !ferror(log->file);
    int error = good ? 0 : EIO;
    if (fclose(log->file)) {
        error = errno;
        good = false;
    }
    free(log);
    errno = error;
    return good;
}
