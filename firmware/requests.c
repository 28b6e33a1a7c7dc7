/* SPDX-License-Identifier: Apache-2.0 */
/* The requests: see requests.h. Each returns how many words its answer has, or a refusal: a status,
 * negative. */
#include "registers.h"
#include "requests.h"
#include "trial_driver.h"

static int bad(union protocol_payload *p, uint32_t which, uint32_t why)
{
    p->argument.which = which;
    p->argument.why = why;
    return -STATUS_ARGUMENT;
}

/* Why words cannot be there for the loader, or 0. */
static uint32_t bad_address(uint32_t address, uint32_t words)
{
    bool code = address & DEV_LOAD_ADDRESS_CODE;
    uint32_t hart = FIELD_GET(address, DEV_LOAD_ADDRESS_HART);
    uint32_t offset = FIELD_GET(address, DEV_LOAD_ADDRESS_OFFSET);
    uint32_t bytes = trial_parameter(code ? PARAM_CODE_BYTES : PARAM_MEMORY_BYTES);
    if (address % 4 != 0)
        return PROTOCOL_BAD_ALIGNMENT;
    if (code ? hart >= trial_parameter(PARAM_HARTS) : hart != 0)
        return PROTOCOL_BAD_VALUE;
    return offset > bytes || words > (bytes - offset) / 4 ? PROTOCOL_BAD_RANGE : 0;
}

/* Whether the machine was built with all that DEV_SETUP asks for. */
static bool has(uint32_t setup)
{
    uint32_t flags = trial_parameter(PARAM_FLAGS), model = trial_parameter(PARAM_MODEL);
    uint32_t known = DEV_SETUP_MODEL | DEV_SETUP_LOSSY | (flags & FLAG_BUGS ? DEV_SETUP_BUG : 0)
        | (flags & FLAG_DELAYS ? DEV_SETUP_DELAY : 0)
        | (flags & FLAG_VISIBLE ? DEV_SETUP_VISIBLE : 0);
    return !(setup & ~known)
        && (model > SOC_MODEL_RMO || model == FIELD_GET(setup, DEV_SETUP_MODEL));
}

/* ---- one by one --------------------------------------------------------------------------- */

static int hello(struct firmware *f, union protocol_payload *p, uint32_t words)
{
    (void)words;
    p->hello.version = PROTOCOL_VERSION;
    p->hello.firmware = FIRMWARE_BUILD;
    p->hello.bitstream = trial_build();
    p->hello.clock = trial_clock();
    p->hello.run = f->runner.run;
    p->hello.phase = f->runner.phase;
    p->hello.window = f->runner.window;
    p->hello.cause = trial_cause();
    p->hello.last = f->messages.last;
    for (uint32_t i = 0; i < PROTOCOL_COUNT(p->hello.parameters); i++)
        p->hello.parameters[i] = trial_parameter(i);
    return PROTOCOL_COUNT(p->hello);
}

static int reset(struct firmware *f, union protocol_payload *p, uint32_t words)
{
    (void)words;
    if (!has(p->reset.setup))
        return bad(p, 0, PROTOCOL_BAD_VALUE);
    p->number = runner_reset(&f->runner, p->reset.setup, p->reset.seed);
    return 1;
}

static int load(struct firmware *f, union protocol_payload *p, uint32_t words)
{
    (void)f;
    uint32_t count = words - PROTOCOL_COUNT(p->load.address);
    uint32_t why = bad_address(p->load.address, count);
    if (why)
        return bad(p, 0, why);
    trial_load(p->load.address, p->load.words, count);
    return 0;
}

static int read(struct firmware *f, union protocol_payload *p, uint32_t words)
{
    (void)f, (void)words;
    uint32_t count = p->read.count;
    if (count > PROTOCOL_PAYLOAD)
        return bad(p, 1, PROTOCOL_BAD_RANGE);
    uint32_t why = bad_address(p->read.address, count);
    if (why)
        return bad(p, 0, why);
    trial_read(p->read.address, p->words, count);
    return (int)count;
}

static int run(struct firmware *f, union protocol_payload *p, uint32_t words)
{
    (void)words;
    return runner_run(&f->runner, &p->run) ? 0 : -STATUS_STATE;
}

static int state(struct firmware *f, union protocol_payload *p, uint32_t words)
{
    const struct runner *r = &f->runner;
    (void)words;
    p->state.run = r->run;
    p->state.phase = r->phase;
    p->state.cycle_low = r->cycle_low;
    p->state.cycle_high = r->cycle_high;
    p->state.done = trial_harts_done();
    p->state.sent = r->next.word;
    p->state.acknowledged = r->acknowledged.word;
    p->state.refused = f->messages.refused;
    p->state.usb_errors = usb_errors();
    return PROTOCOL_COUNT(p->state);
}

static int stop(struct firmware *f, union protocol_payload *p, uint32_t words)
{
    (void)p, (void)words;
    runner_stop(&f->runner);
    return 0;
}

static int counters(struct firmware *f, union protocol_payload *p, uint32_t words)
{
    (void)f, (void)words;
    uint32_t hart = p->number, *to = p->words;
    if (hart >= trial_parameter(PARAM_HARTS))
        return bad(p, 0, PROTOCOL_BAD_VALUE);
    for (uint32_t i = 0; i < SOC_EVENTS; i++)
        *to++ = trial_peek(hart, i);
    for (uint32_t i = SOC_PEEK_PC; i <= SOC_PEEK_BUS_WAIT; i++)
        *to++ = trial_peek(hart, i);
    return SOC_EVENTS + SOC_PEEK_BUS_WAIT - SOC_PEEK_PC + 1;
}

static int echo(struct firmware *f, union protocol_payload *p, uint32_t words)
{
    (void)f, (void)p;
    return (int)words;
}

static int source(struct firmware *f, union protocol_payload *p, uint32_t words)
{
    (void)words;
    p->number = runner_source(&f->runner, p->number);
    return 1;
}

/* ---- all of them -------------------------------------------------------------------------- */

/* What it is called, what does it, how many words its payload has, at least and at most, and
 * whether it may come in reset alone. A switch is made of it, so that they can be inlined: with
 * pointers to them the firmware is larger by 250 bytes, which a small board needs for its ring. */
/* clang-format off */
#define REQUESTS(REQUEST)                                                                          \
    REQUEST(HELLO,    hello,    1, 1, false)                                                       \
    REQUEST(RESET,    reset,    2, 2, false)                                                       \
    REQUEST(LOAD,     load,     1, PROTOCOL_PAYLOAD, true)                                         \
    REQUEST(READ,     read,     2, 2, true)                                                        \
    REQUEST(RUN,      run,      2, 2, false)                                                       \
    REQUEST(STATE,    state,    0, 0, false)                                                       \
    REQUEST(STOP,     stop,     0, 0, false)                                                       \
    REQUEST(COUNTERS, counters, 1, 1, false)                                                       \
    REQUEST(ECHO,     echo,     0, PROTOCOL_PAYLOAD, false)                                        \
    REQUEST(SOURCE,   source,   1, 1, false)
/* clang-format on */

static bool fits(uint32_t words, uint32_t least, uint32_t most)
{
    return words - least <= most - least;
}

static int serve(struct firmware *f, uint32_t type, union protocol_payload *p, uint32_t words)
{
    bool in_reset = f->runner.phase == PHASE_RESET;
    switch (type) {
#define REQUEST(name, does, least, most, reset_alone)                                              \
    case PROTOCOL_##name:                                                                          \
        return !fits(words, least, most) ? -STATUS_LENGTH                                          \
            : (reset_alone) && !in_reset ? -STATUS_STATE : does(f, p, words);
    REQUESTS(REQUEST)
#undef REQUEST
    default:
        return -STATUS_TYPE;
    }
}

enum protocol_status requests_serve(struct firmware *f, uint32_t type, union protocol_payload *p,
                                    uint32_t *count)
{
    int answer = serve(f, type, p, *count);
    *count = answer >= 0 ? (uint32_t)answer
        : answer == -STATUS_ARGUMENT ? PROTOCOL_COUNT(p->argument) : 0;
    return answer < 0 ? (enum protocol_status)-answer : STATUS_OK;
}
