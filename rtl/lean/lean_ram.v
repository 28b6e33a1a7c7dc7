// SPDX-License-Identifier: Apache-2.0
// The RAM of a lean hart: one port to read, one to write, the word a cycle after its address. A
// word that is being written is not to be read.
`default_nettype none
module lean_ram #(
    parameter WORDS = 512,     // a power of two
    parameter BYTES = 0,       // 1: bytes are written by themselves
    parameter FIRMWARE = ""    // words in hex that are in it at power-on; "": none
) (
    input  wire                     clk_i,
    input  wire [$clog2(WORDS)-1:0] read_addr_i,
    output reg  [31:0]              read_data_o,
    input  wire                     write_i,
    input  wire [3:0]               be_i,
    input  wire [$clog2(WORDS)-1:0] write_addr_i,
    input  wire [31:0]              write_data_i
);
    (* no_rw_check *)
    reg [31:0] array [0:WORDS-1] /*verilator public_flat_rw*/;
    generate if (FIRMWARE != "") begin : filled
        initial $readmemh(FIRMWARE, array);
    end endgenerate
    always @(posedge clk_i) read_data_o <= array[read_addr_i];
    generate if (BYTES != 0) begin : bytes
        always @(posedge clk_i) begin
            if (write_i && be_i[0]) array[write_addr_i][7:0]   <= write_data_i[7:0];
            if (write_i && be_i[1]) array[write_addr_i][15:8]  <= write_data_i[15:8];
            if (write_i && be_i[2]) array[write_addr_i][23:16] <= write_data_i[23:16];
            if (write_i && be_i[3]) array[write_addr_i][31:24] <= write_data_i[31:24];
        end
    end else begin : words
        always @(posedge clk_i)
            if (write_i) array[write_addr_i] <= write_data_i;
        wire unused = &{1'b0, be_i};
    end endgenerate
endmodule
`default_nettype wire
