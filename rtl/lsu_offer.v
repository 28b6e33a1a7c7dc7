// SPDX-License-Identifier: Apache-2.0
// The operation that the hart offers, as others want it: its number, the cycle in which it was
// first offered, the barrier before it, and a store's bytes.
`default_nettype none
module lsu_offer (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [31:0] cycle_i,

    input  wire        valid_i,         // stays as it is until ready_i or over_i
    input  wire [31:0] addr_i,          // of a fence pred and succ
    input  wire [31:0] data_i,          // of a store, in the low bits
    input  wire [1:0]  size_i,
    input  wire        ready_i,         // it is accepted
    input  wire        number_i,        // and takes a number: only with ready_i
    input  wire        store_i,         // and is a store
    input  wire        fence_i,         // and is a fence
    input  wire        flush_i,         // a transaction aborts: barriers vanish
    input  wire        over_i,          // it was aborted: that takes a number

    output wire [7:0]  seq_o,           // its number
    output wire [31:0] issue_o,
    output wire        barrier_o,       // a store is to stay behind those before it
    output reg  [3:0]  be_o,            // of a store, with store_i
    output reg  [31:0] lanes_o,         // its bytes in their lanes
    output reg  [31:0] bytes_o          // its bytes, zeros above
);
    reg        offered_q, barrier_q;
    reg [31:0] since_q;
    reg [7:0]  seq_q;

    wire store_store = (addr_i[4] || addr_i[6]) && (addr_i[0] || addr_i[2]);
    always @(posedge clk_i)
        if (rst_i) begin
            {offered_q, barrier_q} <= 2'd0;
            seq_q <= 8'd0;
        end else begin
            offered_q <= valid_i && !ready_i && !over_i;
            if (valid_i && !offered_q)
                since_q <= cycle_i;
            if (ready_i || over_i || flush_i) begin
                if (number_i || over_i)
                    seq_q <= seq_q + 8'd1;
                if (store_i || flush_i)
                    barrier_q <= 1'b0;
                else if (fence_i && store_store)
                    barrier_q <= 1'b1;
            end
        end
    assign seq_o     = seq_q;
    assign issue_o   = offered_q ? since_q : cycle_i;
    assign barrier_o = barrier_q;

    always @* begin
        be_o = 4'dx;
        lanes_o = 32'dx;
        bytes_o = 32'dx;
        if (store_i)
            case (size_i)
                2'd0: begin
                    be_o = 4'd1 << addr_i[1:0];
                    lanes_o = {4{data_i[7:0]}};
                    bytes_o = {24'd0, data_i[7:0]};
                end
                2'd1: begin
                    be_o = 4'd3 << addr_i[1:0];
                    lanes_o = {2{data_i[15:0]}};
                    bytes_o = {16'd0, data_i[15:0]};
                end
                default: begin
                    be_o = 4'd15;
                    lanes_o = data_i;
                    bytes_o = data_i;
                end
            endcase
    end

    wire unused = &{1'b0, addr_i};
endmodule
`default_nettype wire
