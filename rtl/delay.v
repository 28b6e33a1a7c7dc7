// SPDX-License-Identifier: Apache-2.0
// Seeded random delay: stands at the head of a queue and says when it may move.
//
// go_o is 1 in a cycle in which the queue may hand its head on. With level_i = 0 that is always.
// Level 1 to 7: waits of a few cycles, and now and then of many, the higher the level the longer
// and more often. move_i tells that the head was handed on: then the next wait begins. The
// same seed gives the same delays. SALT differs between instances, so that they do. With
// DELAYS = 0, as for synthesis, nothing of it remains.
`default_nettype none
module delay #(
    parameter DELAYS = 1,
    parameter [31:0] SALT = 1
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [31:0] seed_i,  // sampled while rst_i is 1
    input  wire [2:0]  level_i, // stable after reset
    input  wire        move_i,  // only where go_o is 1
    output wire        go_o
);
    generate if (DELAYS == 0) begin : none
        wire unused = &{1'b0, clk_i, rst_i, seed_i, level_i, move_i};
        assign go_o = 1'b1;
    end else begin : some
        reg [31:0] random_q; // xorshift32, stepped for every wait
        reg [6:0]  wait_q;
        // Functions, so that a simulation computes them only when a wait begins.
        function [31:0] step1(input [31:0] x); step1 = x ^ (x << 13); endfunction
        function [31:0] step2(input [31:0] x); step2 = x ^ (x >> 17); endfunction
        function [31:0] step3(input [31:0] x); step3 = x ^ (x << 5);  endfunction
        // Every second head does not wait; the others up to 2^level - 1 cycles; one in 32 longer.
        function [6:0] next(input [2:0] level, input late, input [4:0] odds, input [6:0] cycles);
            next = !late ? 7'd0 : cycles & (((odds == 5'd0 ? 7'd8 : 7'd1) << level) - 7'd1);
        endfunction

        assign go_o = wait_q == 7'd0;

        always @(posedge clk_i)
            if (rst_i) begin
                random_q <= (seed_i ^ (SALT * 32'h9E3779B9)) | 32'd1;
                wait_q   <= 7'd0;
            end else if (wait_q != 7'd0)
                wait_q <= wait_q - 7'd1;
            else if (move_i && level_i != 3'd0) begin
                random_q <= step3(step2(step1(random_q)));
                wait_q   <= next(level_i, !random_q[31], random_q[30:26], random_q[12:6]);
            end
    end endgenerate
endmodule
`default_nettype wire
