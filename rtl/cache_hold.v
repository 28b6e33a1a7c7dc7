// SPDX-License-Identifier: Apache-2.0
// The held line of a cache: whoever fetched a line shall be able to use it.
//
// A line is held from its fill until an operation performs on it (one that writes, if it was
// fetched to write), from LR to SC, and from the write-back before the first write of a
// transaction to that write: at most 32 cycles each. Snoops of the line and its replacement wait.
// A line that is used while a snoop of it waits is only held on if it was held for that use.
`default_nettype none
`include "check.vh"
module cache_hold #(
    parameter W_LINE = 28,
    parameter W_WAY = 1
) (
    input  wire              clk_i,
    input  wire              rst_i,
    input  wire [W_LINE-1:0] line_i,        // of what has the arrays now
    input  wire [W_WAY-1:0]  way_i,
    input  wire              fill_i,        // it was filled, to be used
    input  wire              fill_write_i,  // and to be written
    input  wire              clean_i,       // it was written back before a write
    input  wire              lr_i,          // it was reserved
    input  wire              sc_i,          // SC of any line: no line is reserved any more
    input  wire              used_i,        // it was read or written, or it is gone,
    input  wire              used_write_i,  // and not only read
    input  wire              release_i,     // nothing is held
    input  wire              snoop_i,       // a snoop waits, of this line:
    input  wire [W_LINE-1:0] snoop_line_i,

    output wire              held_o,
    output wire [W_LINE-1:0] held_line_o,
    output wire [W_WAY-1:0]  held_way_o,
    output wire              reserved_o,    // and it is held for an SC
    output wire              snoop_held_o   // the snoop must wait
);
    reg              held_q, write_q, lr_q;
    reg [W_LINE-1:0] line_q;
    reg [W_WAY-1:0]  way_q;
    reg [4:0]        timer_q;

    reg same, may, hold, over;
    always @* begin
        same = 1'b0;
        may = 1'b0;
        hold = 1'b0;
        over = 1'b0;
        if (held_q || fill_i || clean_i || lr_i) begin
            same = held_q && line_q == line_i;
            may = same ? !lr_q : !(snoop_i && snoop_line_i == line_i);
            hold = fill_i && !(held_q && lr_q && !same) || (clean_i || lr_i) && may;
            over = timer_q == 5'd0 || release_i || sc_i && lr_q
                   || same && used_i && !lr_q && (used_write_i || !write_q);
        end
    end

    always @(posedge clk_i) begin
        if (held_q)
            timer_q <= timer_q - 1'b1;
        if (over)
            held_q <= 1'b0;
        if (hold) begin
            held_q <= 1'b1;
            line_q <= line_i;
            way_q <= way_i;
            lr_q <= lr_i;
            write_q <= clean_i || fill_i && fill_write_i;
            timer_q <= 5'd31;
        end
        if (rst_i)
            held_q <= 1'b0;
    end

    assign held_o = held_q;
    assign held_line_o = line_q;
    assign held_way_o = way_q;
    assign reserved_o = lr_q;
    assign snoop_held_o = snoop_i && held_q && snoop_line_i == line_q;

    `COVER(hold_expires, held_q && timer_q == 5'd0)
    `COVER(hold_lr_after_fill, lr_i && same && !lr_q)
    `COVER(hold_lr_not_again, lr_i && !may)
    `COVER(hold_snoop_waits_for_sc, snoop_held_o && lr_q)
endmodule
`default_nettype wire
