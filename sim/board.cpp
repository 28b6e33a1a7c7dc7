/* SPDX-License-Identifier: Apache-2.0 */
// The interface of board.h for a model that Verilator made of rtl/ and rtl/board/, as soc.cpp is
// that of soc.h. sim/build compiles it and says by BOARD_* what the model was made with.
#include "Vboard.h"
#include "verilated.h"
#include "verilated_syms.h"
#if BOARD_CHECKS
#include "Vboard__Dpi.h"
#endif
#if BOARD_WAVES
#include "verilated_fst_c.h"
#endif

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

#include "board.h"

struct board {
    VerilatedContext context;
    Vboard top;
    uint32_t *ram = nullptr;
    uint64_t samples = 0, cycle = 0;
    uint32_t phase = 0;                 // samples since the system's clock rose
    bool failed = false;
    char failure[512];
#if BOARD_WAVES
    std::unique_ptr<VerilatedFstC> waves;
#endif

    board() : top(&context, "") {}
};

static thread_local struct board *current;

static void enter(struct board *b)
{
    current = b;
    Verilated::threadContextp(&b->context);
}

#if BOARD_CHECKS
void soc_assertion_failed(const char *name)
{
    struct board *b = current;
    const char *file = "";
    int line = 0;
    if (b->failed || b->top.broken_o)
        return;
    svScope scope = svGetScope();
    svGetCallerInfo(&file, &line);
    const char *slash = strrchr(file, '/');
    b->failed = true;
    snprintf(b->failure, sizeof b->failure, "%s (%s, %s:%d)", name,
             scope ? svGetNameFromScope(scope) : "?", slash ? slash + 1 : file, line);
}

// The log of soc.h is not kept here.
void soc_log_record(int, int, int, int, int, int, int, int, int, int) {}
#endif

// One period of the 48 MHz clock. The system's clock rises with it at the first of its samples.
static void tick(struct board *b)
{
    b->top.clk48_i = 1;
    if (b->phase == 0) {
        b->top.clk_i = 1;
        b->cycle++;
    }
    b->top.eval();
#if BOARD_WAVES
    if (b->waves)
        b->waves->dump(b->samples * 2);
#endif
    b->top.clk48_i = 0;
    if (b->phase == BOARD_DIVIDER / 2)
        b->top.clk_i = 0;
    b->top.eval();
#if BOARD_WAVES
    if (b->waves)
        b->waves->dump(b->samples * 2 + 1);
#endif
    b->samples++;
    b->phase = b->phase + 1 == BOARD_DIVIDER ? 0 : b->phase + 1;
}

static void board_power(struct board *b)
{
    enter(b);
    b->failed = false;
    b->top.usb_dp_i = b->top.usb_dn_i = 0;
    b->top.tck_i = b->top.tms_i = b->top.tdi_i = b->top.trst_i = 0;
    b->top.rst_i = 1;
    for (int i = 0; i < 8 * BOARD_DIVIDER; i++)
        tick(b);
    b->top.rst_i = 0;
    b->cycle = 0;
}

static struct board *board_create(uint32_t serial)
{
    try {
        std::unique_ptr<struct board> b(new struct board);
#if BOARD_WAVES
        b->context.traceEverOn(true);
#endif
        enter(b.get());
        b->top.serial_i = serial;
        b->top.eval();
#if BOARD_RAM_WORDS
        const VerilatedScope *scope = b->context.scopeFind(BOARD_RAM);
        const VerilatedVar *var = scope ? scope->varFind("array") : nullptr;
        b->ram = var ? static_cast<uint32_t *>(var->datap()) : nullptr;
        if (!b->ram) {
            fprintf(stderr, "%s: the model has no RAM\n", BOARD_NAME);
            return nullptr;
        }
#endif
        board_power(b.get());
        return b.release();
    } catch (const std::exception &) {
        return nullptr;
    }
}

static void board_destroy(struct board *b)
{
    if (!b)
        return;
    enter(b);
#if BOARD_WAVES
    if (b->waves)
        b->waves->close();
#endif
    b->top.final();
    delete b;
}

static bool board_write_ram(struct board *b, uint32_t offset, const uint32_t *words, uint32_t count)
{
    if (offset % 4 || offset / 4 > BOARD_RAM_WORDS || count > BOARD_RAM_WORDS - offset / 4)
        return false;
    if (count)
        memcpy(b->ram + offset / 4, words, count * sizeof *words);
    return true;
}

static struct usb_pins board_sample(struct board *b, enum usb_line line)
{
    enter(b);
    b->top.usb_dp_i = line & 1;
    b->top.usb_dn_i = line >> 1 & 1;
    tick(b);
    return usb_pins{ b->top.usb_dp_o != 0, b->top.usb_dn_o != 0, b->top.usb_oe_o != 0,
                     b->top.usb_pullup_o != 0 };
}

static bool board_jtag(struct board *b, struct board_jtag pins)
{
    b->top.tck_i = pins.tck;
    b->top.tms_i = pins.tms;
    b->top.tdi_i = pins.tdi;
    b->top.trst_i = pins.trst;
    return b->top.tdo_o;
}

static uint64_t board_cycle(const struct board *b) { return b->cycle; }
static bool board_running(const struct board *b) { return b->top.running_o; }
static const char *board_assertion(const struct board *b)
{
    return b->failed ? b->failure : nullptr;
}


static bool board_waves(struct board *b, const char *file)
{
#if BOARD_WAVES
    enter(b);
    if (b->waves)
        b->waves->close();
    b->waves.reset();
    if (!file)
        return true;
    b->waves.reset(new (std::nothrow) VerilatedFstC);
    if (!b->waves)
        return false;
    b->top.trace(b->waves.get(), 99);
    b->waves->open(file);
    if (b->waves->isOpen())
        return true;
    b->waves.reset();
    return false;
#else
    (void)b;
    return !file;
#endif
}

extern "C" __attribute__((visibility("default"))) const struct board_interface board_interface = {
    BOARD_VERSION, BOARD_NAME, BOARD_RAM_WORDS, BOARD_DIVIDER,
    board_create, board_destroy, board_power, board_write_ram, board_sample, board_jtag,
    board_cycle, board_running, board_assertion, board_waves,
};
