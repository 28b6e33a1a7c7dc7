// SPDX-License-Identifier: Apache-2.0
// The memory that the harts share: one port, words with byte enables, what is read a cycle later.
`default_nettype none
module lean_memory #(
    parameter WORDS = 256
) (
    input  wire                     clk_i,
    input  wire [$clog2(WORDS)-1:0] addr_i,
    input  wire                     write_i,
    input  wire [3:0]               be_i,
    input  wire [31:0]              data_i,
    output reg  [31:0]              data_o
);
    (* no_rw_check *)
    reg [31:0] array [0:WORDS-1] /*verilator public_flat_rw*/;
    always @(posedge clk_i) begin
        if (write_i && be_i[0]) array[addr_i][7:0]   <= data_i[7:0];
        if (write_i && be_i[1]) array[addr_i][15:8]  <= data_i[15:8];
        if (write_i && be_i[2]) array[addr_i][23:16] <= data_i[23:16];
        if (write_i && be_i[3]) array[addr_i][31:24] <= data_i[31:24];
        data_o <= array[addr_i];
    end
endmodule
`default_nettype wire
