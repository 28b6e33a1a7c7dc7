/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to and from a board in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "firmware_talk.h"

enum { POLLS = 200 };

static uint32_t checksum(const uint32_t *words, size_t count)
{
    return (uint32_t)crc32(0, (const void *)words, (uInt)(count * 4));
}

size_t firmware_talk_compose(uint32_t *words, uint32_t type, uint32_t number,
                             const uint32_t *payload, size_t count)
{
    words[0] = PROTOCOL_MAGIC | type << 16;
    words[1] = number;
    words[2] = (uint32_t)count;
    if (count)
        memcpy(words + PROTOCOL_HEADER, payload, count * 4);
    words[PROTOCOL_HEADER + count] = checksum(words, PROTOCOL_HEADER + count);
    return PROTOCOL_HEADER + count + 1;
}

bool firmware_talk_parse(struct firmware_message *m, const void *bytes, size_t length)
{
    uint32_t words[PROTOCOL_WORDS];
    size_t count = length / 4;
    if (length % 4 || count <= PROTOCOL_HEADER || count > PROTOCOL_WORDS)
        return false;
    memcpy(words, bytes, length);
    if ((words[0] & 0xffff) != PROTOCOL_MAGIC || words[2] != count - PROTOCOL_HEADER - 1
        || words[count - 1] != checksum(words, count - 1))
        return false;
    m->type = words[0] >> 16 & 0xff;
    m->status = words[0] >> 24;
    m->number = words[1];
    m->count = words[2];
    memcpy(m->payload, words + PROTOCOL_HEADER, m->count * 4);
    return true;
}

bool firmware_talk_send(struct firmware_device *d, uint32_t type, uint32_t number,
                        const uint32_t *payload, size_t count)
{
    uint32_t words[PROTOCOL_WORDS];
    size_t length = firmware_talk_compose(words, type, number, payload, count);
    return firmware_device_send(d, words, length * 4);
}

bool firmware_talk_receive(struct firmware_device *d, struct firmware_message *m)
{
    uint8_t bytes[PROTOCOL_WORDS * 4];
    int length = firmware_device_receive(d, bytes, sizeof bytes, POLLS);
    return length >= 0 && firmware_talk_parse(m, bytes, (size_t)length);
}

bool firmware_talk_ask(struct firmware_device *d, struct firmware_message *m, uint32_t type,
                       uint32_t number, const uint32_t *payload, size_t count)
{
    if (!firmware_talk_send(d, type, number, payload, count))
        return false;
    do
        if (!firmware_talk_receive(d, m))
            return false;
    while (m->type == PROTOCOL_CAPTURE);
    return true;
}

const char *firmware_talk_elf(void)
{
    static char path[4096];
    const char *program = getenv("ORDEAL"), *slash = program ? strrchr(program, '/') : NULL;
    int length = slash ? (int)(slash - program) : 1;
    snprintf(path, sizeof path, "%.*s/firmware/firmware.elf", length, slash ? program : ".");
    if (!program || access(path, R_OK) != 0) {
        fprintf(stderr, "ORDEAL must name the program, and %s be there ('make firmware')\n", path);
        exit(1);
    }
    return path;
}
