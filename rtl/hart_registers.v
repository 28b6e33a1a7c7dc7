// SPDX-License-Identifier: Apache-2.0
// Registers x0 to x31: block RAM, two reads a cycle, one write.
//
// A value comes in the cycle after its address, and is then up to date: a write in the cycle of the
// address is passed by. In the 32 cycles after reset (ready_o = 0) all are set to 0; x0 remains so
// since the hart never writes it.
`default_nettype none
module hart_registers (
    input  wire        clk_i,
    input  wire        rst_i,
    output wire        ready_o,
    input  wire [4:0]  addr1_i,
    input  wire [4:0]  addr2_i,
    output wire [31:0] data1_o,
    output wire [31:0] data2_o,
    input  wire        we_i,    // only when ready_o
    input  wire [4:0]  rd_i,    // not 0
    input  wire [31:0] data_i
);
    (* no_rw_check *) // what a read of the word just being written gives does not matter
    reg [31:0] array [0:31] /*verilator public_flat_rw*/;
    reg [31:0] ram1_q, ram2_q, passed_q;
    reg        pass1_q, pass2_q;
    reg [5:0]  cleared_q; // so many are set to 0

    assign ready_o = cleared_q[5];
    reg         we;
    reg  [4:0]  rd;
    reg  [31:0] data;
    always @* begin
        we   = we_i;
        rd   = rd_i;
        data = data_i;
        if (!ready_o) begin
            we   = 1'b1;
            rd   = cleared_q[4:0];
            data = 32'd0;
        end
    end

    always @(posedge clk_i) begin
        ram1_q  <= array[addr1_i];
        ram2_q  <= array[addr2_i];
        pass1_q <= 1'b0;
        pass2_q <= 1'b0;
        if (we) begin
            array[rd] <= data;
            passed_q  <= data;
            pass1_q   <= rd == addr1_i;
            pass2_q   <= rd == addr2_i;
        end
        if (rst_i) cleared_q <= 6'd0;
        else if (!ready_o) cleared_q <= cleared_q + 6'd1;
    end
    assign data1_o = pass1_q ? passed_q : ram1_q;
    assign data2_o = pass2_q ? passed_q : ram2_q;
endmodule
`default_nettype wire
