/* SPDX-License-Identifier: Apache-2.0 */
#include "signature.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/program_walk.h"

static const uint8_t magic[8] = { 0x89, 'O', 'S', 'G', '\r', '\n', 0x1A, '\n' };

static uint64_t get(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    while (bytes--)
        value = value << 8 | p[bytes];
    return value;
}

static uint32_t get32(const uint8_t *p) { return (uint32_t)get(p, 4); }
static uint64_t get64(const uint8_t *p) { return get(p, 8); }

static void put(uint8_t *p, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++, value >>= 8)
        p[i] = (uint8_t)value;
}

static uint64_t padded_length(uint32_t harts, uint64_t iterations, uint64_t words)
{
    uint64_t used = HEADER_BYTES + (uint64_t)harts * PROGRESS_BYTES + iterations * words * 8;
    return (used + 63) & ~UINT64_C(63);
}

uint64_t signature_length(const struct program *p, uint64_t iterations)
{
    return padded_length(p->threads, iterations, (uint64_t)p->slots + p->finals);
}

void signature_header(const struct program *p, uint32_t xlen, uint64_t first, uint32_t iterations,
                      uint8_t header[HEADER_BYTES])
{
    memset(header, 0, HEADER_BYTES);
    memcpy(header + HEADER_MAGIC, magic, sizeof magic);
    put(header + HEADER_VERSION, SIGNATURE_VERSION, 4);
    put(header + HEADER_XLEN, xlen, 4);
    put(header + HEADER_IDENTITY, program_identity(p), 8);
    put(header + HEADER_FIRST, first, 8);
    put(header + HEADER_ITERATIONS, iterations, 4);
    put(header + HEADER_SLOTS, p->slots, 4);
    put(header + HEADER_FINALS, p->finals, 4);
    put(header + HEADER_HARTS, p->threads, 4);
    put(header + HEADER_STATE, STATE_RUNNING, 4);
    put(header + HEADER_LENGTH, signature_length(p, iterations), 8);
}

uint32_t signature_checksum(const uint8_t *bytes, size_t length)
{
    uint32_t sum = CHECKSUM_START;
    for (size_t i = 0; i + 4 <= length; i += 4)
        sum = (sum ^ (i == HEADER_CHECKSUM ? 0 : get32(bytes + i))) * CHECKSUM_PRIME;
    return sum;
}

/* ---- raw or hexadecimal ---------------------------------------------------------------- */

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A line is one little-endian number, printed as people print numbers: its last byte first. */
static void reverse_line(uint8_t *out, const uint8_t *digits, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const uint8_t *pair = digits + count - 2 * i - 2;
        out[i] = (uint8_t)(hex_digit(pair[0]) << 4 | hex_digit(pair[1]));
    }
}

static bool from_text(uint8_t *bytes, size_t *length, struct why *why)
{
    size_t out = 0, width = 0;
    uint64_t line = 1;
    for (size_t i = 0; i < *length; line++) {
        size_t begin = i;
        while (i < *length && hex_digit(bytes[i]) >= 0)
            i++;
        size_t digits = i - begin;
        if (i < *length && bytes[i] == '\r')
            i++;
        if (i < *length && bytes[i++] != '\n')
            return why_say(why,
                           "line %" PRIu64 ": expected hexadecimal digits and nothing else; "
                           "the file is damaged or no signature",
                           line);
        if (!width)
            width = digits;
        if (width != 8 && width != 16 && width != 32)
            return why_say(why,
                           "line 1 has %zu hexadecimal digits; expected 8, 16 or 32, that is "
                           "4, 8 or 16 bytes a line",
                           digits);
        if (digits != width)
            return why_say(why,
                           "line %" PRIu64 " has %zu hexadecimal digits, those before it %zu; "
                           "the file is cut short or damaged",
                           line, digits, width);
        uint8_t number[16];
        reverse_line(number, bytes + begin, digits);
        memcpy(bytes + out, number, digits / 2);
        out += digits / 2;
    }
    *length = out;
    return true;
}

/* Raw or as text. */
static bool begins_well(uint8_t first) { return first == magic[0] || hex_digit(first) >= 0; }

bool signature_raw(uint8_t *bytes, size_t *length, struct why *why)
{
    if (*length == 0)
        return why_say(why, "it is empty; the program on the target wrote nothing");
    if (!begins_well(bytes[0]))
        return why_say(why, "no signature: it begins neither with the mark of one nor with "
                            "hexadecimal digits");
    return bytes[0] == magic[0] || from_text(bytes, length, why);
}

/* ---- files ------------------------------------------------------------------------------ */

/* A line has four bytes or more, as eight digits, "\r" and "\n". */
static uint64_t most_text(uint64_t bytes) { return bytes / 4 * 10 + 64; }

static ssize_t read_some(int file, uint8_t *bytes, size_t room)
{
    ssize_t n;
    do
        n = read(file, bytes, room);
    while (n < 0 && errno == EINTR);
    return n;
}

/* 0, or errno; EFBIG: there is more than `most`. */
static int read_all(int file, uint64_t most, uint8_t **bytes, size_t *length)
{
    size_t capacity = 0;
    *length = 0;
    for (;;) {
        if (*length == capacity) {
            capacity = capacity ? capacity * 2 : 65536;
            uint8_t *larger = realloc(*bytes, capacity);
            if (!larger)
                return ENOMEM;
            *bytes = larger;
        }
        ssize_t n = read_some(file, *bytes + *length, capacity - *length);
        if (n <= 0)
            return n < 0 ? errno : 0;
        *length += (size_t)n;
        if (*length > most)
            return EFBIG;
    }
}

static bool say_too_long(uint64_t most, struct why *why)
{
    return why_say(why,
                   "more than %" PRIu64 " bytes: a signature has %" PRIu64
                   " at most, and as text not three times as many",
                   most_text(most), most);
}

bool signature_read(int file, uint64_t most, uint8_t **bytes, size_t *length, struct why *why)
{
    *bytes = NULL;
    int error = read_all(file, most_text(most), bytes, length);
    bool fine = !error || (error == EFBIG && !begins_well(**bytes))
                  ? signature_raw(*bytes, length, why)
              : error == EFBIG ? say_too_long(most, why)
                               : why_say(why, "%s", strerror(error));
    if (!fine) {
        free(*bytes);
        *bytes = NULL;
    }
    return fine;
}

/* ---- is it one, and of this program? --------------------------------------------------- */

static bool is_whole(const uint8_t *bytes, size_t length, struct why *why)
{
    if (length < HEADER_BYTES)
        return why_say(why, "cut short: %zu bytes, and the header alone has %d", length,
                       HEADER_BYTES);
    if (memcmp(bytes + HEADER_MAGIC, magic, sizeof magic) != 0)
        return why_say(why, "no signature of a test: the mark at its beginning is missing or "
                            "damaged; if it is all zeros the program never started");
    if (get32(bytes + HEADER_VERSION) != SIGNATURE_VERSION)
        return why_say(why, "a signature of version %" PRIu32 "; this program reads version %u",
                       get32(bytes + HEADER_VERSION), SIGNATURE_VERSION);
    uint64_t says = get64(bytes + HEADER_LENGTH);
    if (length < says)
        return why_say(why, "cut short: %zu bytes of %" PRIu64, length, says);
    if (length > says)
        return why_say(why,
                       "%zu bytes, but the header says %" PRIu64 "; damaged, or more was saved "
                       "than lies between begin_signature and end_signature",
                       length, says);
    return true;
}

static bool is_unharmed(const uint8_t *bytes, size_t length, const struct program *p,
                        struct why *why)
{
    uint32_t state = get32(bytes + HEADER_STATE);
    bool ours = get64(bytes + HEADER_IDENTITY) == program_identity(p);
    if (state == STATE_RUNNING || state == STATE_TRAPPED) {
        if (!ours)
            return why_say(why, "the program on the target did not come to its end, and it is "
                                "another test than this");
        signature_last_seen(bytes, length, p, why);
        return false;
    }
    if (state != STATE_FINISHED)
        return why_say(why, "damaged: there is no state %" PRIu32, state);
    uint32_t sum = signature_checksum(bytes, length);
    if (sum != get32(bytes + HEADER_CHECKSUM))
        return why_say(why,
                       "damaged: its checksum is 0x%08" PRIx32 ", the header says 0x%08" PRIx32,
                       sum, get32(bytes + HEADER_CHECKSUM));
    if (!ours)
        return why_say(why,
                       "a signature of another test: it is of 0x%016" PRIx64 ", this test is "
                       "0x%016" PRIx64,
                       get64(bytes + HEADER_IDENTITY), program_identity(p));
    return true;
}

bool signature_open(struct signature *s, const uint8_t *bytes, size_t length,
                    const struct program *p, struct why *why)
{
    if (!is_whole(bytes, length, why) || !is_unharmed(bytes, length, p, why))
        return false;
    *s = (struct signature){
        .xlen = get32(bytes + HEADER_XLEN),
        .iterations = get32(bytes + HEADER_ITERATIONS),
        .slots = get32(bytes + HEADER_SLOTS),
        .finals = get32(bytes + HEADER_FINALS),
        .harts = get32(bytes + HEADER_HARTS),
        .identity = get64(bytes + HEADER_IDENTITY),
        .first = get64(bytes + HEADER_FIRST),
        .bytes = bytes,
    };
    if (s->slots != p->slots || s->finals != p->finals || s->harts != p->threads
        || (s->xlen != 32 && s->xlen != 64) || length != signature_length(p, s->iterations))
        return why_say(why,
                       "the header contradicts itself or the test: %" PRIu32 " harts, %" PRIu32
                       " values an iteration, %" PRIu32 " iterations, %" PRIu32 "-bit",
                       s->harts, s->slots, s->iterations, s->xlen);
    return true;
}

struct machine_claims signature_claims(uint32_t xlen, enum ordeal_model model)
{
    return (struct machine_claims){ .model = model, .atomic = xlen / 8, .final = true };
}

/* RISC-V extends what AMOs, LR and AMOCAS read of a word by its sign. */
bool signature_extension(const struct signature *s, const struct program *p, struct extension *x)
{
    return extension_open(x, p, s->xlen, true);
}

bool signature_values(const struct signature *s, uint32_t iteration, struct extension *x,
                      uint64_t *values, struct why *why)
{
    size_t words = (size_t)s->slots + s->finals;
    const uint8_t *from = s->bytes + HEADER_BYTES + (size_t)s->harts * PROGRESS_BYTES
                        + iteration * words * 8;
    for (size_t i = 0; i < words; i++)
        values[i] = get64(from + i * 8);
    return extension_take_off(x, s->first + iteration, values, why);
}

/* ---- interrupts: those of an iteration that come together may be taken as one ------------- */

/* Interrupts that the way of a thread sends to `hart` in an iteration. */
static uint32_t sent_by(const struct program *p, uint32_t thread, uint64_t iteration, uint32_t hart)
{
    struct walker w = program_walk(p, thread, iteration);
    uint32_t sent = 0;
    for (const struct instruction *i; (i = program_step(&w));)
        sent += i->kind == ORDEAL_INTERRUPT && i->count == hart;
    return sent;
}

static bool check_hart(const struct signature *s, const struct program *p, uint32_t hart,
                       struct why *why)
{
    const uint8_t *progress = s->bytes + HEADER_BYTES + (size_t)hart * PROGRESS_BYTES;
    uint64_t taken = get32(progress + PROGRESS_INTERRUPTS), least = 0, most = 0;
    for (uint32_t i = 0; i < s->iterations; i++) {
        uint64_t before = most;
        for (uint32_t t = 0; t < p->threads; t++)
            most += sent_by(p, t, s->first + i, hart);
        least += most > before;
    }
    if (taken >= least && taken <= most)
        return true;
    return why_say(why,
                   "hart %" PRIu32 " took %" PRIu64 " interrupts in %" PRIu32
                   " iterations, but %" PRIu64 " were sent to it, in %" PRIu64 " of them",
                   hart, taken, s->iterations, most, least);
}

bool signature_interrupts(const struct signature *s, const struct program *p, struct why *why)
{
    bool good = true;
    for (uint32_t h = 0; p->asks.interrupts && good && h < s->harts; h++)
        good = check_hart(s, p, h, why);
    return good;
}

/* ---- what became of one that did not finish -------------------------------------------- */

static void say_hart(struct why *why, const uint8_t *record, const struct program *p, uint32_t n,
                     uint64_t first)
{
    const struct program_thread *t = &p->thread[n];
    uint32_t begun = get32(record + PROGRESS_ITERATION);
    uint32_t operation = get32(record + PROGRESS_OPERATION), cause = get32(record + PROGRESS_CAUSE);
    why_add(why, "; P%" PRIu32, t->number);
    if (cause)
        why_add(why, " trapped with cause %" PRIu32 " at 0x%" PRIx64 ",", cause,
                get64(record + PROGRESS_PC));
    if (begun == 0) {
        why_add(why, " never began");
        return;
    }
    why_add(why, " last seen in iteration %" PRIu64, first + begun - 1);
    if (operation < t->length) {
        const struct ordeal_op *op = ordeal_trace_op(p->test, t->code[operation].op);
        char text[128];
        ordeal_trace_format(p->test, t->code[operation].op, text, sizeof text);
        why_add(why, " at %s", text);
        if (op->line)
            why_add(why, " (line %" PRIu32 " of the test)", op->line);
    } else {
        why_add(why, " before its first operation");
    }
}

static bool has_records(const uint8_t *bytes, size_t length, uint32_t harts)
{
    size_t records = (size_t)HEADER_BYTES + (size_t)harts * PROGRESS_BYTES;
    return bytes && length >= records && memcmp(bytes, magic, sizeof magic) == 0;
}

bool signature_trapped(const uint8_t *bytes, size_t length)
{
    return has_records(bytes, length, 0) && get32(bytes + HEADER_STATE) == STATE_TRAPPED;
}

bool signature_unfinished(const uint8_t *bytes, size_t length, const struct program *p)
{
    return has_records(bytes, length, p->threads)
        && get64(bytes + HEADER_IDENTITY) == program_identity(p)
        && (signature_trapped(bytes, length) || get32(bytes + HEADER_STATE) == STATE_RUNNING);
}

void signature_last_seen(const uint8_t *bytes, size_t length, const struct program *p,
                         struct why *why)
{
    if (!has_records(bytes, length, p->threads)) {
        why_say(why, "the program on the target never started: no hart was seen");
        return;
    }
    bool trapped = signature_trapped(bytes, length);
    why_say(why, "the program on the target %s",
            trapped ? "met an exception" : "did not come to its end");
    uint32_t named = 0;
    for (uint32_t n = 0; n < p->threads; n++) {
        const uint8_t *record = bytes + HEADER_BYTES + (size_t)n * PROGRESS_BYTES;
        bool done = get32(record + PROGRESS_OPERATION) == OPERATION_DONE;
        if (trapped ? get32(record + PROGRESS_CAUSE) == 0 : done)
            continue;
        if (named++ < 4)
            say_hart(why, record, p, n, get64(bytes + HEADER_FIRST));
    }
    if (named > 4)
        why_add(why, "; and %" PRIu32 " others", named - 4);
    if (named == 0)
        why_add(why, "; every hart was last seen at the end of an iteration");
}
