// SPDX-License-Identifier: Apache-2.0
// Packets between the two clocks: 256 words, written in one clock and read in the other, which is a
// block RAM with a clock for each port. Who reads a word has been told by a handshake that it was
// written, and until he has told in turn that he is done with it, it is not written again. What was
// never written is 0.
`default_nettype none
module usb_ram (
    input  wire        write_clk_i,
    input  wire [3:0]  write_i,     // for each byte
    input  wire [7:0]  write_addr_i,
    input  wire [31:0] write_data_i,
    input  wire        read_clk_i,
    input  wire [7:0]  read_addr_i,
    output wire [31:0] read_data_o  // a cycle later
);
    reg [31:0] cells [0:255];
    reg [31:0] read_q;

    integer i;
    initial for (i = 0; i < 256; i = i + 1)
        cells[i] = 32'd0;

    always @(posedge write_clk_i) begin
        if (write_i[0]) cells[write_addr_i][7:0]   <= write_data_i[7:0];
        if (write_i[1]) cells[write_addr_i][15:8]  <= write_data_i[15:8];
        if (write_i[2]) cells[write_addr_i][23:16] <= write_data_i[23:16];
        if (write_i[3]) cells[write_addr_i][31:24] <= write_data_i[31:24];
    end
    always @(posedge read_clk_i)
        read_q <= cells[read_addr_i];
    assign read_data_o = read_q;
endmodule
`default_nettype wire
