/* SPDX-License-Identifier: Apache-2.0 */
// usb_core.h for the core that Verilator made of rtl/board/usb*.v (sim/build_usb).
#include "Vusb.h"
#include "Vusb__Dpi.h"
#include "verilated.h"
#include "verilated_syms.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

#include <cstdio>
#include <cstring>
#include <new>

#include "usb_core.h"

struct usb_core {
    VerilatedContext context;
    Vusb top;
    uint64_t half48, half;              // half periods of the two clocks, in the same unit
    uint64_t edge48 = 0, edge;          // when each changes next
    uint32_t reset = 16;                // samples for which it still lasts
    uint32_t data = 0, cycles = 0;
    bool failed = false;
    char failure[512];

    usb_core() : top(&context, "") {}
};

static thread_local struct usb_core *current;

void soc_assertion_failed(const char *name)
{
    struct usb_core *c = current;
    const char *file = "";
    int line = 0;
    if (c->failed)
        return;
    svScope scope = svGetScope();
    svGetCallerInfo(&file, &line);
    const char *slash = strrchr(file, '/');
    c->failed = true;
    snprintf(c->failure, sizeof c->failure, "%s (%s, %s:%d)", name,
             scope ? svGetNameFromScope(scope) : "?", slash ? slash + 1 : file, line);
}

// The next edges of either clock, or of both, if they fall together.
static void step(struct usb_core *c)
{
    uint64_t now = c->edge48 < c->edge ? c->edge48 : c->edge;
    bool rises = false, ready = c->top.reg_valid_i && c->top.reg_ready_o;
    uint32_t data = c->top.reg_rdata_o;
    if (c->edge48 == now) {
        c->top.clk48_i = !c->top.clk48_i;
        c->edge48 += c->half48;
    }
    if (c->edge == now) {
        c->top.clk_i = !c->top.clk_i;
        c->edge += c->half;
        rises = c->top.clk_i;
    }
    c->top.eval();
    if (!rises)
        return;
    // What firmware's side gives to the core changes after its edge.
    c->top.rst_i = c->reset != 0;
    if (c->top.reg_valid_i) {
        c->cycles++;
        if (ready) {
            c->data = data;
            c->top.reg_valid_i = 0;
        }
    }
    c->top.eval();
}

struct usb_core *usb_core_new(uint32_t clock, double phase)
{
    auto c = new (std::nothrow) usb_core;
    if (!c)
        return nullptr;
    c->half48 = clock;
    c->half   = 48000000;
    c->edge   = (uint64_t)(phase * 2 * (double)c->half);
    c->top.rst_i = 1;
    return c;
}

void usb_core_free(struct usb_core *c)
{
    if (c)
        c->top.final();
    delete c;
}

struct usb_pins usb_core_sample(struct usb_core *c, enum usb_line line)
{
    uint64_t end = c->edge48 + 2 * c->half48;
    current = c;
    Verilated::threadContextp(&c->context);
    c->top.dp_i = (line & USB_J) != 0;
    c->top.dn_i = (line & USB_K) != 0;
    while (c->edge48 < end)
        step(c);
    if (c->reset)
        c->reset--;
    return { (bool)c->top.dp_o, (bool)c->top.dn_o, (bool)c->top.oe_o, (bool)c->top.pullup_o };
}

void usb_core_access(struct usb_core *c, bool write, uint32_t offset, uint32_t data)
{
    c->top.reg_valid_i = 1;
    c->top.reg_write_i = write;
    c->top.reg_addr_i  = offset & 0xfff;
    c->top.reg_wdata_i = data;
    c->cycles = 0;
}

void usb_core_give_up(struct usb_core *c)
{
    c->top.reg_valid_i = 0;
    c->top.rst_i = 1;
}

bool usb_core_busy(const struct usb_core *c)
{
    return c->top.reg_valid_i;
}

uint32_t usb_core_data(const struct usb_core *c)
{
    return c->data;
}

uint32_t usb_core_cycles(const struct usb_core *c)
{
    return c->cycles;
}

void usb_core_reset(struct usb_core *c, uint32_t samples)
{
    c->reset = samples;
}

const char *usb_core_assertion(const struct usb_core *c)
{
    return c->failed ? c->failure : nullptr;
}

bool usb_core_coverage(struct usb_core *c, const char *file)
{
#if VM_COVERAGE
    c->context.coveragep()->write(file);
    return true;
#else
    (void)c;
    (void)file;
    return false;
#endif
}
