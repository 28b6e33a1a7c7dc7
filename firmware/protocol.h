/* SPDX-License-Identifier: Apache-2.0 */
/* What host and firmware say to one another over the bulk endpoints. Shared by both.
 *
 * A message is one bulk transfer: a header, a payload of whole 32-bit words, a CRC-32 (that of
 * zlib) of all before it. Words are little-endian. A transfer ends with a packet of less than 64
 * bytes, empty if need be.
 *
 *     word 0   15:0 PROTOCOL_MAGIC, 23:16 type, 31:24 status (of an answer; else 0)
 *     word 1   sequence number
 *     word 2   words of payload, at most PROTOCOL_PAYLOAD
 *     ...      payload
 *     last     CRC-32
 *
 * Requests are numbered one by one; each is answered by one message of the same type with
 * PROTOCOL_ANSWER and the same number. Several may be on their way; they are done in order.
 *   - The number that follows the last one done: it is done and answered. A refusal (TYPE, LENGTH,
 *     ARGUMENT, STATE) is an answer, too, and takes the number.
 *   - The last one done, once more: it is answered again; nothing is done twice.
 *   - HELLO is taken with any number and sets what follows; it changes nothing else, so that a
 *     link that was lost in the middle of a run is taken up again.
 *   - Any other, and all before the first HELLO: STATUS_ORDER with the number that is expected,
 *     and nothing is done.
 *   - What is damaged (magic, length, CRC) is counted and refused by a message of type
 *     PROTOCOL_ANSWER alone, STATUS_DAMAGED, with the number expected: the host sends again from
 *     there. It may have been an ACK.
 *
 * The capture stream comes without being asked for, in CAPTURE messages, while a test runs: each
 * says at which word of the stream it begins. The host acknowledges by ACK, which has no answer
 * and no number; the firmware keeps what is not acknowledged, and when its memory is full it
 * stops reading the capture FIFOs, so that harts wait. With ACK_AGAIN it goes back to the
 * acknowledged word, as it does by itself when the endpoints are reset (bus reset,
 * SET_CONFIGURATION, SET_INTERFACE, CLEAR_FEATURE(HALT)): these also drop what is half sent or
 * half received. A host begins with CLEAR_FEATURE(HALT) of both. An ACK of another run, of less
 * than was acknowledged or of more than there is, is counted as refused and does nothing.
 *
 * While an answer has not gone, no request is taken: read and write independently of one another.
 * PROTOCOL.md tells it at length. */
#ifndef FIRMWARE_PROTOCOL_H
#define FIRMWARE_PROTOCOL_H

#include <stdint.h>

enum {
    PROTOCOL_VERSION = 1,
    PROTOCOL_MAGIC   = 0x444f,      /* "OD" */
    PROTOCOL_HEADER  = 3,           /* words before the payload */
    PROTOCOL_PAYLOAD = 252,         /* words at most: 1024 bytes in all */
    PROTOCOL_WORDS   = PROTOCOL_HEADER + PROTOCOL_PAYLOAD + 1,
    PROTOCOL_ANSWER  = 0x80
};

enum {                               /* word 0: its fields, for rtl/field.h */
    PROTOCOL_HEAD_MAGIC  = 0x0000ffff,
    PROTOCOL_HEAD_TYPE   = 0x00ff0000,
    PROTOCOL_HEAD_STATUS = 0xff000000
};

enum protocol_type {
    PROTOCOL_HELLO    = 1,  /* version wanted -> struct protocol_hello */
    PROTOCOL_RESET    = 2,  /* setup, seed (as DEV_SETUP, DEV_SEED of rtl/board/board.def): machine
                             * in reset -> the number of the run that will be */
    PROTOCOL_LOAD     = 3,  /* address (as DEV_LOAD_ADDRESS), words ... -> nothing. In reset only */
    PROTOCOL_READ     = 4,  /* address, count -> words. In reset only */
    PROTOCOL_RUN      = 5,  /* cycles at most, low and high word; 0: no limit -> nothing. Starts the
                             * run that RESET made, or goes on after the limit. Cycles are those
                             * since the run began. The machine cannot be held: at the limit its
                             * stream is no longer read (PHASE_LIMIT), and that is all; harts run
                             * on until they wait for the capture. STOP ends it */
    PROTOCOL_STATE    = 6,  /* -> struct protocol_state */
    PROTOCOL_STOP     = 7,  /* ends the run: machine in reset, the stream ends with what was read so
                             * far -> nothing. Does nothing in reset. LOAD and READ may follow, but
                             * no RUN before the next RESET */
    PROTOCOL_COUNTERS = 8,  /* hart -> its event counters (EVENT of rtl/soc.def), then PEEK_PC,
                             * WAIT, WAIT_ADDRESS, INSTRUCTIONS, BUS_WAIT */
    PROTOCOL_ECHO     = 9,  /* words ... -> the same */
    PROTOCOL_SOURCE   = 10, /* words: a stream of so many words 0, 1, 2, ..., as if captured, by a
                             * run of its own -> the number of that run. The machine is in reset
                             * meanwhile, and has to be RESET to run */
    PROTOCOL_ACK      = 16, /* run, words received, flags; no answer */
    PROTOCOL_CAPTURE  = 17, /* device to host: run, first word's place, flags, then words */
};

enum protocol_status {
    STATUS_OK       = 0,
    STATUS_DAMAGED  = 1,    /* payload: the number expected */
    STATUS_ORDER    = 2,    /* payload: the number expected */
    STATUS_TYPE     = 3,    /* no such request */
    STATUS_LENGTH   = 4,    /* not the payload of this request */
    STATUS_ARGUMENT = 5,    /* payload: which word, and why: PROTOCOL_BAD_* */
    STATUS_STATE    = 6     /* not while the machine runs, or not while it does not */
};

enum {                               /* second word of STATUS_ARGUMENT: why; the first is which */
    PROTOCOL_BAD_VALUE     = 1,      /* the machine has no such thing, or was not built with it */
    PROTOCOL_BAD_ALIGNMENT = 2,      /* not the address of a word */
    PROTOCOL_BAD_RANGE     = 3       /* outside the memory, or more than a message holds */
};

enum { PROTOCOL_ACK_AGAIN = 1 };     /* flags of ACK */
enum {                               /* flags of CAPTURE */
    PROTOCOL_CAPTURE_END   = 1,      /* nothing follows: all harts are done, or STOP came */
    PROTOCOL_CAPTURE_LIMIT = 2       /* nothing follows until RUN: its limit is reached */
};

enum protocol_phase { PHASE_RESET, PHASE_RUNNING, PHASE_LIMIT, PHASE_DONE };

/* The payloads of requests, word by word. Those that are not here are one word or none. */
struct protocol_reset { uint32_t setup, seed; };
struct protocol_load  { uint32_t address, words[PROTOCOL_PAYLOAD - 1]; };
struct protocol_read  { uint32_t address, count; };
struct protocol_run   { uint32_t limit_low, limit_high; };
struct protocol_ack   { uint32_t run, words, flags; };

/* And of answers. */
struct protocol_hello {
    uint32_t version;                /* PROTOCOL_VERSION of the firmware */
    uint32_t firmware;               /* its build */
    uint32_t bitstream;              /* DEV_BUILD */
    uint32_t clock;                  /* Hz */
    uint32_t run;                    /* the present one's number */
    uint32_t phase;
    uint32_t window;                 /* words of the stream it keeps for the host */
    uint32_t cause;                  /* of its last reset */
    uint32_t last;                   /* number of the last request done before this one */
    uint32_t parameters[16];         /* DEV_PARAMETERS */
};
struct protocol_state {
    uint32_t run, phase;
    uint32_t cycle_low, cycle_high;  /* since the run began */
    uint32_t done;                   /* harts */
    uint32_t sent;                   /* words of the stream that went before this answer: who has
                                      * less lost some on the way */
    uint32_t acknowledged;
    uint32_t refused;                /* messages since power-on that were not what they should be */
    uint32_t usb_errors;             /* USB_ERRORS */
};
struct protocol_argument { uint32_t which, why; };   /* STATUS_ARGUMENT */

/* What a CAPTURE begins with; words of the stream follow. */
struct protocol_capture { uint32_t run, place, flags; };

/* A message; the CRC is behind what its payload has. */
struct protocol_header { uint32_t head, number, count; };
union protocol_payload {
    uint32_t words[PROTOCOL_PAYLOAD];
    uint32_t number;                 /* of a run; the one expected; the one word of a request */
    struct protocol_reset reset;
    struct protocol_load load;
    struct protocol_read read;
    struct protocol_run run;
    struct protocol_ack ack;
    struct protocol_hello hello;
    struct protocol_state state;
    struct protocol_argument argument;
};
struct protocol_message {
    struct protocol_header header;
    union protocol_payload payload;
    uint32_t crc;                    /* of the longest */
};
#define PROTOCOL_COUNT(payload) (sizeof(payload) / sizeof(uint32_t)) /* its words */

/* USB identity. */
enum {
    BOARD_VENDOR  = 0x1209,          /* pid.codes, and its number for tests */
    BOARD_PRODUCT = 0x0001,
    BOARD_BULK_OUT = 0x01,           /* addresses of the endpoints, of interface 0 */
    BOARD_BULK_IN  = 0x81
};

/* Vendor requests of endpoint 0, to the device. */
enum {
    VENDOR_VERSION    = 1,           /* IN: 4 bytes, PROTOCOL_VERSION */
    VENDOR_MICROSOFT  = 2            /* IN, wIndex 7: the Microsoft OS 2.0 descriptor set */
};

#endif
