// For lint alone: the vendor's cells that the tops use, as black boxes, with the ports and parameters that
// they use. Synthesis has its own.
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
`default_nettype wire
