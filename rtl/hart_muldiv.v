// SPDX-License-Identifier: Apache-2.0
// The M extension. A quotient or remainder takes 34 cycles, a product 2; without FAST, which needs
// a multiplier, 34 as well.
//
// run_i is 1, with operands that stay, from the cycle the instruction may begin until it leaves
// (leave_i) or is put off (run_i falls: it starts anew then). done_o: result_o is there.
`default_nettype none
`include "check.vh"
module hart_muldiv #(
    parameter FAST = 1
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire        run_i,
    input  wire        leave_i,
    input  wire [2:0]  funct3_i,
    input  wire [31:0] a_i,
    input  wire [31:0] b_i,
    output wire        done_o,
    output wire [31:0] result_o
);
    wire divide = funct3_i[2];
    reg         a_minus, b_minus;
    reg  [31:0] a, b;
    always @* begin // conditions like this one are for simulation: nobody wants the values else
        {a_minus, b_minus} = 2'bx;
        {a, b} = 64'dx;
        if (run_i) begin // signed: all but divu, remu, mulhu; and of mulhsu only the first
            a_minus = a_i[31] && (divide ? !funct3_i[0] : funct3_i[1:0] != 2'd3);
            b_minus = b_i[31] && (divide ? !funct3_i[0] : !funct3_i[1]);
            a       = a_minus ? -a_i : a_i;
            b       = b_minus ? -b_i : b_i;
        end
    end

    reg         busy_q, done_q;
    reg  [4:0]  count_q;
    reg  [31:0] high_q;  // remainder so far; high half of the product
    reg  [31:0] low_q;   // dividend to the left, quotient to the right; multiplier, low half
    reg  [31:0] b_q;

    // One bit a cycle: the remainder takes the next bit of the dividend, and b off where it can;
    // the product takes b where the multiplier has a 1, and moves to the right.
    reg [32:0] left, next;
    always @* begin
        left = 33'dx;
        next = 33'dx;
        if (busy_q) begin
            left = divide ? {high_q, low_q[31]} : {1'b0, high_q};
            next = divide ? left - {1'b0, b_q} : left + {1'b0, low_q[0] ? b_q : 32'd0};
        end
    end

    always @(posedge clk_i)
        if (rst_i || !run_i || leave_i) begin
            busy_q <= 1'b0;
            done_q <= 1'b0;
        end else if (!busy_q) begin
            busy_q  <= 1'b1;
            done_q  <= !divide && FAST != 0;
            count_q <= 5'd31;
            b_q     <= b;
            {high_q, low_q} <= divide || FAST == 0 ? {32'd0, a} : {32'd0, a} * {32'd0, b};
        end else if (!done_q) begin
            {high_q, low_q} <= !divide ? {next, low_q[31:1]}
                : {next[32] ? left[31:0] : next[31:0], low_q[30:0], !next[32]};
            count_q <= count_q - 5'd1;
            done_q  <= count_q == 5'd0;
        end

    // The sign. Division by zero gives all ones and the dividend: the quotient's is left alone
    // then. -2^31 / -1 comes out right by itself. The high half of -x is ~x, and 1 more if the
    // low half is 0.
    reg         high, minus, one;
    reg  [31:0] half, result;
    always @* begin
        {high, minus, one} = 3'bx;
        {half, result} = 64'dx;
        if (run_i && done_q) begin
            high   = divide ? funct3_i[1] : funct3_i[1:0] != 2'd0;
            minus  = divide && high ? a_minus : a_minus != b_minus && !(divide && b_i == 32'd0);
            one    = divide || !high || low_q == 32'd0;
            half   = high ? high_q : low_q;
            result = minus ? ~half + {31'd0, one} : half;
        end
    end
    assign result_o = result;
    assign done_o   = done_q;

    `ASSERTIONS(run_i)
        `HOLDS(muldiv_leaves_when_done, !leave_i || done_q)
    `END_ASSERTIONS
endmodule
`default_nettype wire
