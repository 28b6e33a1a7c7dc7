// SPDX-License-Identifier: Apache-2.0
// OrangeCrab r0.2 with an ECP5-85F: four harts, with everything but bugs and delays, and the
// firmware in the monitor's RAM from power-on.
//
// Of the oscillator's 48 MHz the PLL makes both clocks: 48 MHz for USB, 24 MHz for the rest. The
// JTAG of the debug module is on ordinary pins (ecp5-85f.lpf): that of the FPGA itself is another.
`default_nettype none
module top_ecp5 #(
    parameter FIRMWARE = "",
    parameter [31:0] BUILD = 32'd0,
    parameter [31:0] SERIAL = 32'd0
) (
    input  wire clk48,
    inout  wire usb_d_p,
    inout  wire usb_d_n,
    output wire usb_pullup,
    input  wire jtag_tck,
    input  wire jtag_tms,
    input  wire jtag_tdi,
    output wire jtag_tdo,
    output wire led_r_n,       // a bug is chosen
    output wire led_g_n,       // waits for a test
    output wire led_b_n        // a test runs
);
    // ---- clocks: 48 MHz * 12 = 576 MHz, of which a twelfth and a twenty-fourth ----------------

    wire clk_usb, clk, locked;
    (* FREQUENCY_PIN_CLKI="48", FREQUENCY_PIN_CLKOP="48", FREQUENCY_PIN_CLKOS="24",
       ICP_CURRENT="12", LPF_RESISTOR="8", MFG_ENABLE_FILTEROPAMP="1", MFG_GMCREF_SEL="2" *)
    EHXPLLL #(
        .CLKI_DIV(1), .CLKFB_DIV(1), .FEEDBK_PATH("CLKOP"),
        .CLKOP_ENABLE("ENABLED"), .CLKOP_DIV(12), .CLKOP_CPHASE(11), .CLKOP_FPHASE(0),
        .CLKOS_ENABLE("ENABLED"), .CLKOS_DIV(24), .CLKOS_CPHASE(23), .CLKOS_FPHASE(0)
    ) pll (
        .CLKI(clk48), .CLKFB(clk_usb), .CLKOP(clk_usb), .CLKOS(clk), .LOCK(locked), .RST(1'b0),
        .STDBY(1'b0), .PHASESEL0(1'b0), .PHASESEL1(1'b0), .PHASEDIR(1'b0), .PHASESTEP(1'b0),
        .PHASELOADREG(1'b0), .PLLWAKESYNC(1'b0), .ENCLKOP(1'b0), .ENCLKOS(1'b0)
    );

    // Reset until the clocks have been there for a while.
    reg [7:0] awake_q = 8'd0;
    reg       locked_q = 1'b0, locked2_q = 1'b0;
    always @(posedge clk) begin
        locked_q  <= locked;
        locked2_q <= locked_q;
        if (!locked2_q)
            awake_q <= 8'd0;
        else if (!awake_q[7])
            awake_q <= awake_q + 8'd1;
    end

    // ---- pins ---------------------------------------------------------------------------------

    wire dp_in, dn_in, dp_out, dn_out, oe;
    BB usb_p (.B(usb_d_p), .I(dp_out), .T(!oe), .O(dp_in));
    BB usb_n (.B(usb_d_n), .I(dn_out), .T(!oe), .O(dn_in));

    wire running, broken;
    assign led_r_n = !broken;
    assign led_g_n = running;
    assign led_b_n = !running;

    board #(
        .NHARTS(4), .ZOO(0), .DELAYS(0), .FIRMWARE(FIRMWARE), .CLOCK(32'd24000000), .BUILD(BUILD)
    ) board (
        .clk_i(clk), .rst_i(!awake_q[7]), .serial_i(SERIAL), .clk48_i(clk_usb),
        .usb_dp_i(dp_in), .usb_dn_i(dn_in), .usb_dp_o(dp_out), .usb_dn_o(dn_out), .usb_oe_o(oe),
        .usb_pullup_o(usb_pullup),
        .tck_i(jtag_tck), .tms_i(jtag_tms), .tdi_i(jtag_tdi), .trst_i(1'b0), .tdo_o(jtag_tdo),
        .running_o(running), .broken_o(broken)
    );
endmodule
`default_nettype wire
