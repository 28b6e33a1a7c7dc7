/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over the bulk endpoints: see messages.h. */
#include "messages.h"
#include "usb_driver.h"

enum { CRC_START = -1 };
#define CRC_GOOD 0xdebb20e3u /* where the CRC of what ends with its own CRC gets to */

static uint32_t head_word(uint32_t type, uint32_t status)
{
    return PROTOCOL_MAGIC | type << 16 | status << 24;
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
        && (m->message[0] & 0xff00ffff) == PROTOCOL_MAGIC
        && m->message[2] == m->words - PROTOCOL_HEADER - 1;
}

uint32_t messages_type(const struct messages *m)
{
    return m->message[0] >> 16 & 0xff;
}

static void refuse(struct messages *m, enum protocol_status status)
{
    uint32_t expected = m->greeted ? m->last + 1 : 0;
    if (status == STATUS_DAMAGED) {
        m->message[0] = 0;
        m->message[1] = expected;
    }
    m->message[0] = head_word(messages_type(m) | PROTOCOL_ANSWER, status);
    m->message[2] = 1;
    m->message[3] = expected;
    m->answered = true;
    m->refused++;
}

static void repeat(struct messages *m)
{
    for (int i = 0; i < PROTOCOL_HEADER + MESSAGES_KEPT; i++)
        m->message[i] = m->kept[i];
    m->answered = true;
}

/* A transfer is over. */
static bool message(struct messages *m)
{
    if (!whole(m)) {
        refuse(m, STATUS_DAMAGED);
        return false;
    }
    uint32_t type = messages_type(m), number = m->message[1];
    if (type == PROTOCOL_ACK || type == PROTOCOL_HELLO)
        return true;
    if (m->greeted && number == m->last + 1)
        return true;
    if (m->greeted && number == m->last && (m->kept[0] >> 16 & 0xff) == (type | PROTOCOL_ANSWER)) {
        if (m->kept[2] > MESSAGES_KEPT) /* it changed nothing: it can be done again */
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
        m->crc = usb_out_copy(m->message + m->words, words, m->crc);
        m->words += words;
    }
    usb_out_release();
    if (length == USB_PACKET || (m->words == 0 && !m->damaged)) /* more comes; or nothing came */
        return false;
    return message(m);
}

void messages_answer(struct messages *m, enum protocol_status status, uint32_t count)
{
    m->message[0] = head_word(messages_type(m) | PROTOCOL_ANSWER, status);
    m->message[2] = count;
    m->answered = true;
    m->greeted = true;
    m->last = m->message[1];
    for (int i = 0; i < PROTOCOL_HEADER + MESSAGES_KEPT; i++)
        m->kept[i] = m->message[i];
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

void messages_stream(struct messages *m, const uint32_t place[3], const uint32_t *body,
                     uint32_t words)
{
    struct messages_sender *s = &m->sender;
    s->head[0] = head_word(PROTOCOL_CAPTURE, 0);
    s->head[1] = 0;
    s->head[2] = 3 + words;
    for (int i = 0; i < 3; i++)
        s->head[PROTOCOL_HEADER + i] = place[i];
    begin(s, body, words);
    s->heading = true;
}

void messages_send(struct messages *m)
{
    struct messages_sender *s = &m->sender;
    if (!s->busy && m->answered) {
        begin(s, m->message, PROTOCOL_HEADER + m->message[2]);
        s->answer = true;
    }
    if (!s->busy || !usb_in_room())
        return;

    uint32_t at = 0;
    if (s->heading) {
        s->crc = usb_in_copy(0, s->head, MESSAGES_HEAD, s->crc);
        s->heading = false;
        at = MESSAGES_HEAD;
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
