// SPDX-License-Identifier: Apache-2.0
// A memory with a port to read, the word coming a cycle later and staying, and one to write.
// Block RAM where there is some. Nobody reads a word in the cycle in which it is written: what
// would come then is left to the RAM.
`default_nettype none
`include "check.vh"
module cache_ram #(
    parameter WIDTH = 32,
    parameter W_ADDR = 6
) (
    input  wire              clk_i,
    input  wire              rst_i,
    input  wire              read_i,
    input  wire [W_ADDR-1:0] read_addr_i,
    output wire [WIDTH-1:0]  read_data_o,
    input  wire              write_i,
    input  wire [W_ADDR-1:0] write_addr_i,
    input  wire [WIDTH-1:0]  write_data_i
);
    reg [WIDTH-1:0] cells [0:(1<<W_ADDR)-1];
    reg [WIDTH-1:0] read_q;

    always @(posedge clk_i) begin
        if (read_i)
            read_q <= cells[read_addr_i];
        if (write_i) begin
            cells[write_addr_i] <= write_data_i;
            `HOLDS(cache_ram_collision, rst_i || !(read_i && read_addr_i == write_addr_i))
        end
    end

    assign read_data_o = read_q;

    wire unused = &{1'b0, rst_i}; // the assertions' alone
endmodule
`default_nettype wire
