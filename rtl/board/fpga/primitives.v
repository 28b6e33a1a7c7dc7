// SPDX-License-Identifier: Apache-2.0
// For lint alone: the vendor's cells that the tops use, as black boxes, with the ports and parameters
// that they use. Synthesis has its own.
`default_nettype none
module EHXPLLL #(
    parameter CLKI_DIV = 1,
    parameter CLKFB_DIV = 1,
    parameter FEEDBK_PATH = "CLKOP",
    parameter CLKOP_ENABLE = "ENABLED",
    parameter CLKOP_DIV = 8,
    parameter CLKOP_CPHASE = 0,
    parameter CLKOP_FPHASE = 0,
    parameter CLKOS_ENABLE = "DISABLED",
    parameter CLKOS_DIV = 8,
    parameter CLKOS_CPHASE = 0,
    parameter CLKOS_FPHASE = 0
) (
    input  wire CLKI,
    input  wire CLKFB,
    output wire CLKOP,
    output wire CLKOS,
    output wire LOCK,
    input  wire RST,
    input  wire STDBY,
    input  wire PHASESEL0,
    input  wire PHASESEL1,
    input  wire PHASEDIR,
    input  wire PHASESTEP,
    input  wire PHASELOADREG,
    input  wire PLLWAKESYNC,
    input  wire ENCLKOP,
    input  wire ENCLKOS
);
endmodule

module BB (
    inout  wire B,
    input  wire I,
    input  wire T,
    output wire O
);
endmodule

module SB_PLL40_CORE #(
    parameter FEEDBACK_PATH = "SIMPLE",
    parameter [3:0] DIVR = 4'd0,
    parameter [6:0] DIVF = 7'd0,
    parameter [2:0] DIVQ = 3'd0,
    parameter [2:0] FILTER_RANGE = 3'd0
) (
    input  wire REFERENCECLK,
    output wire PLLOUTGLOBAL,
    output wire LOCK,
    input  wire BYPASS,
    input  wire RESETB
);
endmodule

module SB_IO #(
    parameter [5:0] PIN_TYPE = 6'd0
) (
    inout  wire PACKAGE_PIN,
    input  wire OUTPUT_ENABLE,
    input  wire D_OUT_0,
    output wire D_IN_0
);
endmodule
`default_nettype wire
