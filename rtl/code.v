// SPDX-License-Identifier: Apache-2.0
// The code memory of a hart: a port to fetch from, and one for whoever loads it.
//
// Both give the word a cycle after its address; a word just being written is not to be read. Byte
// addresses; bits 1:0 and those above the memory are ignored. Nothing clears it.
`default_nettype none
module code #(
    parameter CODE_WORDS = 4096 // a power of two, at least 2
) (
    input  wire        clk_i,
    input  wire [31:0] fetch_addr_i,
    output reg  [31:0] fetch_data_o,

    input  wire        load_valid_i, // writes
    input  wire [31:0] load_addr_i,
    input  wire [31:0] load_data_i,
    output reg  [31:0] load_data_o   // reads; left open it costs nothing
);
    localparam AW = $clog2(CODE_WORDS);
    (* no_rw_check *)
    reg [31:0] array [0:CODE_WORDS-1] /*verilator public_flat_rw*/;

    always @(posedge clk_i) fetch_data_o <= array[fetch_addr_i[AW+1:2]];
    always @(posedge clk_i) begin
        if (load_valid_i) array[load_addr_i[AW+1:2]] <= load_data_i;
        load_data_o <= array[load_addr_i[AW+1:2]];
    end

    wire unused = &{1'b0, fetch_addr_i[31:AW+2], fetch_addr_i[1:0], load_addr_i[31:AW+2],
        load_addr_i[1:0]};
endmodule
`default_nettype wire
