/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over the bulk endpoints: see messages.h. */
#include "field.h"
#include "messages.h"
#include "usb_driver.h"

enum { CRC_START = -1 };
#define CRC_GOOD 0xdebb20e3u /* where the CRC of what ends with its own CRC gets to */

static uint32_t head_word(uint32_t type, uint32_t status)
{
    return PROTOCOL_MAGIC | FIELD_PUT(PROTOCOL_HEAD_TYPE, type)
        | FIELD_PUT(PROTOCOL_HEAD_STATUS, status);
}

/* Not by assignment: for structures the compiler would call memcpy, which is not here. */
static void copy(uint32_t *to, const uint32_t *from, uint32_t words)
{
    while (words--)
        *to++ = *from++;
}

/* From now on what comes is a new message. */
void messages_listen(struct messages *m)
{
    m->answered = false;
    m->damaged = false;
    m->words = 0;
    m->crc = CRC_START;
}

void messages_reset_out(struct messages *m)
{
    if (!m->answered)
        messages_listen(m);
}

void messages_reset_in(struct messages *m)
{
    m->sender.busy = false;
    if (m->answered)
        messages_listen(m);
}

/* ---- requests ----------------------------------------------------------------------------- */

static bool whole(const struct messages *m)
{
    return !m->damaged && m->crc == CRC_GOOD && m->words > PROTOCOL_HEADER
        && (m->message.header.head & ~PROTOCOL_HEAD_TYPE) == PROTOCOL_MAGIC
        && m->message.header.count == m->words - PROTOCOL_HEADER - 1;
}

uint32_t messages_type(const struct messages *m)
{
    return FIELD_GET(m->message.header.head, PROTOCOL_HEAD_TYPE);
}

static void refuse(struct messages *m, enum protocol_status status)
{
    uint32_t expected = m->greeted ? m->last + 1 : 0;
    struct protocol_header *h = &m->message.header;
    if (status == STATUS_DAMAGED) {
        h->head = 0;
        h->number = expected;
    }
    h->head = head_word(messages_type(m) | PROTOCOL_ANSWER, status);
    h->count = 1;
    m->message.payload.number = expected;
    m->answered = true;
    m->refused++;
}

static void repeat(struct messages *m)
{
    copy((uint32_t *)&m->message, (uint32_t *)&m->kept, PROTOCOL_COUNT(m->kept));
    m->answered = true;
}

/* A transfer is over. */
static bool message(struct messages *m)
{
    if (!whole(m)) {
        refuse(m, STATUS_DAMAGED);
        return false;
    }
    uint32_t type = messages_type(m), number = m->message.header.number;
    if (type == PROTOCOL_ACK || type == PROTOCOL_HELLO)
        return true;
    if (m->greeted && number == m->last + 1)
        return true;
    if (m->greeted && number == m->last
        && FIELD_GET(m->kept.header.head, PROTOCOL_HEAD_TYPE) == (type | PROTOCOL_ANSWER)) {
        if (m->kept.header.count > MESSAGES_KEPT) /* it changed nothing: it can be done again */
            return true;
        repeat(m);
        return false;
    }
    refuse(m, STATUS_ORDER);
    return false;
}

bool messages_receive(struct messages *m)
{
    int length;
    if (m->answered || (length = usb_out_length()) < 0)
        return false;
    uint32_t words = (uint32_t)length / 4;
    if (length % 4 != 0 || m->words + words > PROTOCOL_WORDS)
        m->damaged = true;
    if (!m->damaged) {
        m->crc = usb_out_copy((uint32_t *)&m->message + m->words, words, m->crc);
        m->words += words;
    }
    usb_out_release();
    if (length == USB_PACKET || (m->words == 0 && !m->damaged)) /* more comes; or nothing came */
        return false;
    return message(m);
}

void messages_answer(struct messages *m, enum protocol_status status, uint32_t count)
{
    m->message.header.head = head_word(messages_type(m) | PROTOCOL_ANSWER, status);
    m->message.header.count = count;
    m->answered = true;
    m->greeted = true;
    m->last = m->message.header.number;
    copy((uint32_t *)&m->kept, (uint32_t *)&m->message, PROTOCOL_COUNT(m->kept));
    if (status != STATUS_OK)
        m->refused++;
}

/* ---- what goes ---------------------------------------------------------------------------- */

static void begin(struct messages_sender *s, const uint32_t *body, uint32_t words)
{
    s->body = body;
    s->left = words;
    s->crc = CRC_START;
    s->answer = false;
    s->heading = false;
    s->closed = false;
    s->busy = true;
}

bool messages_idle(const struct messages *m)
{
    return !m->sender.busy && !m->answered;
}

void messages_stream(struct messages *m, const struct protocol_capture *capture,
                     const uint32_t *body, uint32_t words)
{
    struct messages_sender *s = &m->sender;
    s->head.header.head = head_word(PROTOCOL_CAPTURE, 0);
    s->head.header.number = 0;
    s->head.header.count = PROTOCOL_COUNT(*capture) + words;
    copy((uint32_t *)&s->head.capture, (const uint32_t *)capture, PROTOCOL_COUNT(*capture));
    begin(s, body, words);
    s->heading = true;
}

void messages_send(struct messages *m)
{
    struct messages_sender *s = &m->sender;
    if (!s->busy && m->answered) {
        begin(s, (uint32_t *)&m->message, PROTOCOL_HEADER + m->message.header.count);
        s->answer = true;
    }
    if (!s->busy || !usb_in_room())
        return;

    uint32_t at = 0;
    if (s->heading) {
        at = PROTOCOL_COUNT(s->head);
        s->crc = usb_in_copy(0, (uint32_t *)&s->head, at, s->crc);
        s->heading = false;
    }
    uint32_t words = USB_PACKET_WORDS - at;
    if (words > s->left)
        words = s->left;
    s->crc = usb_in_copy(at, s->body, words, s->crc);
    s->body += words;
    s->left -= words;
    at += words;
    if (!s->left && at < USB_PACKET_WORDS) {
        if (!s->closed)
            usb_in_word(at++, ~s->crc);
        s->closed = true;
        if (at < USB_PACKET_WORDS) {
            s->busy = false;
            if (s->answer)
                messages_listen(m);
        }
    }
    usb_in_send(at);
}
