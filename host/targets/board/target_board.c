/* SPDX-License-Identifier: Apache-2.0 */
/* `--target board`: the multiprocessor on an FPGA board, over USB or through OpenOCD. What runs
 * tests on a model in simulation runs them here, over another implementation of sim/soc.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board_jtag.h"
#include "board_machine.h"
#include "board_numbers.h"
#include "board_usb.h"
#include "targets/soc/soc_config.h"
#include "targets/soc/soc_image.h"
#include "targets/soc/soc_runner.h"
#include "targets/soc/zoo.h"

#define MOST_PATIENCE 30.0       /* seconds for a board that is gone */

struct board_target {
    struct board_machine *usb;   /* one of the two */
    struct board_jtag *jtag;
    struct soc_runner *machine;
    const uint32_t *parameters;
    struct event_counts events; /* of the last run */
};

/* A bitstream has what it was made with. */
static bool has_all(const uint32_t *parameters, const struct target_options *options,
                    const struct soc_setup *setup, struct why *why)
{
    uint32_t flags = parameters[BOARD_PARAM_FLAGS], model = parameters[BOARD_PARAM_MODEL];
    if (setup->bug && !(flags & BOARD_FLAG_BUGS))
        return why_say(why, "the board's machine was built without bugs");
    if (setup->visible && !(flags & BOARD_FLAG_VISIBLE))
        return why_say(why, "the board's machine does not tell when stores become visible");
    if (options->delay && setup->delay && !(flags & BOARD_FLAG_DELAYS))
        return why_say(why, "the board's machine was built without random delays");
    if (model < 4 && model != (uint32_t)setup->model)
        return why_say(why, "the board's machine was built for another memory model: "
                            "'ordeal board info' tells which, give that as --model");
    return true;
}

static void board_close(void *machine)
{
    struct board_target *t = machine;
    soc_runner_free(t->machine);
    board_machine_free(t->usb);
    board_jtag_free(t->jtag);
    free(t);
}

static const struct soc_interface *connect(struct board_target *t,
                                           const struct target_options *options, struct why *why)
{
    if (options->link && strcmp(options->link, "jtag") == 0) {
        t->jtag = board_jtag_open(options->openocd, options->timeout, why);
        t->parameters = t->jtag ? board_jtag_parameters(t->jtag) : NULL;
        return t->jtag ? board_jtag_interface(t->jtag) : NULL;
    }
    struct board_port *port = board_usb_open(options->serial, why);
    struct board_link *link = port ? link_new(port) : NULL;
    if (port && !link)
        why_say(why, "out of memory");
    if (link && options->timeout > 0 && options->timeout < MOST_PATIENCE)
        link_patience(link, options->timeout);
    t->usb = link ? board_machine_new(link, why) : NULL;
    t->parameters = t->usb ? board_machine_hello(t->usb)->parameters : NULL;
    return t->usb ? board_machine_interface(t->usb) : NULL;
}

static bool board_usage(const struct target_options *o, struct why *why)
{
    if (o->link && strcmp(o->link, "usb") != 0 && strcmp(o->link, "jtag") != 0)
        return why_say(why,
                       "--link '%s': a board is reached over 'usb' or "
                       "'jtag'",
                       o->link);
    bool jtag = o->link && strcmp(o->link, "jtag") == 0;
    if (o->openocd && !jtag)
        return why_say(why, "--openocd is of --link jtag");
    if (o->serial && jtag)
        return why_say(why, "--serial is of --link usb: which board OpenOCD talks to, it was told");
    struct soc_config config;
    return soc_config_parse(&config, o, why);
}

static bool board_open(const struct target_options *options, void **machine, struct why *why)
{
    struct soc_config config;
    *machine = NULL;
    if (!soc_config_parse(&config, options, why))
        return false;
    struct board_target *t = calloc(1, sizeof *t);
    if (!t)
        return why_say(why, "out of memory");
    const struct soc_interface *soc = connect(t, options, why);
    struct soc_runner_plan plan = { .soc = soc,
                                    .setup = config.setup,
                                    .seed = options->seed,
                                    .timeout = options->timeout,
                                    .cycles = true,
                                    .final = config.final == SOC_FINAL_READ,
                                    .events = options->events ? &t->events : NULL };
    bool good = soc && has_all(t->parameters, options, &config.setup, why);
    if (good) {
        plan.vary_delay = !options->delay && t->parameters[BOARD_PARAM_FLAGS] & BOARD_FLAG_DELAYS;
        t->machine = soc_runner_new(&plan);
        good = t->machine || why_say(why, "out of memory");
    }
    if (!good)
        board_close(t);
    else
        *machine = t;
    return good;
}

static struct abilities board_can(const void *machine)
{
    return soc_runner_can(((const struct board_target *)machine)->machine);
}

static struct machine_claims board_claims(const void *machine)
{
    return soc_runner_claims(((const struct board_target *)machine)->machine);
}

/* A test is lost when the board is back and has forgotten it; without a board there is no next
 * one. */
static enum target_result board_run(void *machine, const struct program *p, uint64_t first,
                                    uint64_t count, const struct target_sink *sink,
                                    struct why *why)
{
    struct board_target *t = machine;
    memset(&t->events, 0, sizeof t->events);
    enum target_result result = soc_runner_run(t->machine, p, first, count, sink, why);
    if (result == TARGET_LOST && (!t->usb || board_machine_trouble(t->usb) != LINK_LOST))
        result = TARGET_FAILED;
    return result;
}

static enum target_result board_image(void *machine, const struct soc_image *image,
                                      uint64_t iteration, struct soc_image_run *run,
                                      struct why *why)
{
    struct board_target *t = machine;
    return soc_image_run(t->machine, image, iteration, run, why);
}

static uint32_t board_code_bytes(const void *machine)
{
    return ((const struct board_target *)machine)->parameters[BOARD_PARAM_CODE_BYTES];
}

static bool board_delay(void *machine, int level)
{
    return soc_runner_delay(((struct board_target *)machine)->machine, level);
}

static uint64_t board_cycles(const void *machine)
{
    return soc_runner_cycles(((const struct board_target *)machine)->machine);
}

static double board_seconds(const void *machine)
{
    return soc_runner_seconds(((const struct board_target *)machine)->machine);
}

static const struct event_counts *board_events(const void *machine)
{
    return &((const struct board_target *)machine)->events;
}

static int board_connected(void)
{
    struct board_found *found;
    struct why why;
    size_t count;
    int usable = 0;
    if (!board_usb_list(&found, &count, &why))
        return 0;
    for (size_t i = 0; i < count; i++)
        usable += !*found[i].problem;
    free(found);
    return usable;
}

static bool board_alike(const void *a, const void *b, struct why *why)
{
    static const char *const names[] = {
        [BOARD_PARAM_HARTS] = "number of harts", [BOARD_PARAM_SETS] = "cache sets",
        [BOARD_PARAM_WAYS] = "cache ways", [BOARD_PARAM_LINE_BYTES] = "cache line",
        [BOARD_PARAM_STORE_BUFFER] = "store buffer", [BOARD_PARAM_LOAD_QUEUE] = "load queue",
        [BOARD_PARAM_MEMORY_BYTES] = "memory", [BOARD_PARAM_CODE_BYTES] = "code memory",
        [BOARD_PARAM_CAPTURE] = "capture FIFO", [BOARD_PARAM_FLAGS] = "features",
        [BOARD_PARAM_MODEL] = "memory model"
    };
    const struct board_target *one = a, *other = b;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (one->parameters[i] != other->parameters[i])
            return why_say(why,
                           "the boards are not alike: their machines differ "
                           "in %s; name one by --serial",
                           names[i]);
    return true;
}

const struct target target_board = {
    .name = "board",
    .summary = "the multiprocessor on an FPGA board, over USB",
    .open = board_open,
    .can = board_can,
    .claims = board_claims,
    .exact = true,
    .iterations = 4,
    .run = board_run,
    .image = board_image,
    .code_bytes = board_code_bytes,
    .close = board_close,
    .bugs = &zoo,
    .delay = board_delay,
    .cycles = board_cycles,
    .seconds = board_seconds,
    .events = board_events,
    .usage = board_usage,
    .connected = board_connected,
    .present = board_usb_present,
    .alike = board_alike,
};
