// SPDX-License-Identifier: Apache-2.0
// TinyFPGA BX with an iCE40 LP8K: two harts of the small machine, rtl/lean, and the firmware in the
// monitor's RAM from power-on.
//
// The oscillator's 16 MHz are the clock of all but USB, whose 48 MHz the PLL makes of them. The
// JTAG of the debug module is on ordinary pins (tinyfpga-bx.pcf): the FPGA itself has none.
`default_nettype none
module top_tinyfpga_bx #(
    parameter FIRMWARE = "",
    parameter [31:0] BUILD = 32'd0,
    parameter [31:0] SERIAL = 32'd0
) (
    input  wire clk16,
    inout  wire usb_d_p,
    inout  wire usb_d_n,
    output wire usb_pullup,
    input  wire jtag_tck,
    input  wire jtag_tms,
    input  wire jtag_tdi,
    output wire jtag_tdo,
    output wire led            // a test runs
);
    // ---- clocks: 16 MHz * 48 = 768 MHz, of which a sixteenth ----------------------------------

    wire clk48, locked;
    SB_PLL40_CORE #(
        .FEEDBACK_PATH("SIMPLE"), .DIVR(4'd0), .DIVF(7'd47), .DIVQ(3'd4), .FILTER_RANGE(3'd1)
    ) pll (
        .REFERENCECLK(clk16), .PLLOUTGLOBAL(clk48), .LOCK(locked), .BYPASS(1'b0), .RESETB(1'b1)
    );

    // Reset until the clocks have been there for a while; and so have the block RAMs, which answer
    // some microseconds after the chip has been configured.
    reg [8:0] awake_q = 9'd0;
    reg       locked_q = 1'b0, locked2_q = 1'b0;
    always @(posedge clk16) begin
        locked_q  <= locked;
        locked2_q <= locked_q;
        if (!locked2_q)
            awake_q <= 9'd0;
        else if (!awake_q[8])
            awake_q <= awake_q + 9'd1;
    end

    // ---- pins ---------------------------------------------------------------------------------

    localparam [5:0] TRISTATE = 6'b1010_01; // neither output, enable nor input are registered
    wire dp_in, dn_in, dp_out, dn_out, oe;
    SB_IO #(.PIN_TYPE(TRISTATE)) usb_p (
        .PACKAGE_PIN(usb_d_p), .OUTPUT_ENABLE(oe), .D_OUT_0(dp_out), .D_IN_0(dp_in)
    );
    SB_IO #(.PIN_TYPE(TRISTATE)) usb_n (
        .PACKAGE_PIN(usb_d_n), .OUTPUT_ENABLE(oe), .D_OUT_0(dn_out), .D_IN_0(dn_in)
    );

    wire unused_broken; // there are no bugs in it
    board #(
        .NHARTS(2), .SETS(16), .WAYS(1), .LINE_WORDS(1), .SB_DEPTH(8), .LQ_DEPTH(1),
        .MEMORY_WORDS(256), .CODE_WORDS(384), .CAPTURE_DEPTH(32), .RAM_WORDS(2048), .RAM_OWN(64),
        .FIFO_WORDS(256), .VISIBLE(0), .COUNTERS(0), .MULDIV(1), .TM(0), .DELAYS(1), .ZOO(0),
        .MODEL(1), .TRIGGER(0), .BUS(0), .USB_ERROR_BITS(4),
        .FIRMWARE(FIRMWARE), .CLOCK(32'd16000000), .BUILD(BUILD)
    ) board (
        .clk_i(clk16), .rst_i(!awake_q[8]), .serial_i(SERIAL), .clk48_i(clk48),
        .usb_dp_i(dp_in), .usb_dn_i(dn_in), .usb_dp_o(dp_out), .usb_dn_o(dn_out), .usb_oe_o(oe),
        .usb_pullup_o(usb_pullup), .tck_i(jtag_tck), .tms_i(jtag_tms), .tdi_i(jtag_tdi),
        .trst_i(1'b0), .tdo_o(jtag_tdo), .running_o(led), .broken_o(unused_broken)
    );
endmodule
`default_nettype wire
