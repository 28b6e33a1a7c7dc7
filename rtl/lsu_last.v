// SPDX-License-Identifier: Apache-2.0
// For BUG_TX_FIRST_LOAD alone: what the hart last read of some words outside transactions, and
// whether the first load of a transaction is to be served with it. Without the bug nothing remains.
`default_nettype none
`include "soc.vh"
module lsu_last (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [6:0]  bug_i,
    input  wire        tx_i,
    input  wire        begin_i,  // a transaction begins
    input  wire        sample_i, // a load was read: word_i of addr_i,
    input  wire        whole_i,  // all of it
    input  wire [31:2] addr_i,   // that of the load that is about to read, too
    input  wire [31:0] word_i,
    output wire        stale_o,  // let it have word_o
    output wire [31:0] word_o
);
    reg [7:0]  valid_q;
    reg        first_q; // no load of the transaction was read yet
    reg [31:2] addr_q [0:7];
    reg [31:0] word_q [0:7];
    wire [2:0] at = addr_i[4:2];

    always @(posedge clk_i)
        if (rst_i) begin
            valid_q <= 8'd0;
            first_q <= 1'b0;
        end else if (bug_i == `BUG_TX_FIRST_LOAD) begin
            if (begin_i)
                first_q <= 1'b1;
            else if (sample_i)
                first_q <= 1'b0;
            if (sample_i && whole_i && !tx_i) begin
                valid_q[at] <= 1'b1;
                addr_q[at]  <= addr_i;
                word_q[at]  <= word_i;
            end
        end

    assign stale_o = bug_i == `BUG_TX_FIRST_LOAD && tx_i && first_q && valid_q[at]
        && addr_q[at] == addr_i;
    assign word_o  = word_q[at];
endmodule
`default_nettype wire
