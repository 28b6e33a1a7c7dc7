// SPDX-License-Identifier: Apache-2.0
// The transaction of a hart as its cache sees it: the lines it has read, those it has written,
// whether it is doomed since it lost one.
//
// When it is doomed or aborted its marks vanish at once, and with them the lines it has written;
// when it commits, the marks alone. With TM = 0 nothing remains.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module cache_tx #(
    parameter W_SET = 4,
    parameter WAYS = 2,
    parameter W_WAY = 1,
    parameter LINES = 32,                    // by set and way, 1 << W_SET + W_WAY
    parameter TM = 1
) (
    input  wire             clk_i,
    input  wire             rst_i,
    input  wire [6:0]       bug_i,

    input  wire             act_i,           // only then something changes
    input  wire [W_SET-1:0] set_i,           // of what acts; and of the set:
    output wire [WAYS-1:0]  set_read_o,
    output wire [WAYS-1:0]  set_written_o,

    input  wire             hit_i,           // its line was found,
    input  wire [W_WAY-1:0] hit_way_i,       // there; and if it was:
    output reg              read_o,
    output reg              written_o,

    // What happens to the line that was found.
    input  wire             read_i,          // the transaction reads it
    input  wire             write_i,         // somebody writes it,
    input  wire             write_tx_i,      // the transaction does
    input  wire             early_i,         // BUG_TX_EARLY: it was given away

    input  wire             fill_i,          // a line came in this way
    input  wire [W_WAY-1:0] fill_way_i,

    input  wire             commit_i,
    input  wire             commit_half_i,   // BUG_TX_TWO_PIECES
    input  wire             abort_i,         // and it is no longer doomed
    input  wire             conflict_i,      // a snoop dooms it,
    input  wire             snoop_i,         // or somebody else is
    input  wire             capacity_i,      // a replacement dooms it
    output wire             forget_o,        // any of the last three
    output reg  [LINES-1:0] gone_o,          // the lines that go with it
    output wire [1:0]       doomed_o         // level: bit 0 by a conflict, bit 1 by a capacity
);
    localparam W_INDEX = W_SET + W_WAY;
    wire [W_INDEX-1:0] first = {set_i, {W_WAY{1'b0}}};
    wire [W_INDEX-1:0] hit = {set_i, hit_way_i};

    reg [LINES-1:0] read_q, written_q;
    reg [1:0]       doomed_q;

    // For bugs alone.
    reg [W_INDEX-1:0] last_q;         // TX_ABORT_LEAKS: the line written last
    wire [LINES-1:0]  second_piece;   // TX_TWO_PIECES: half of the lines
    genvar g;
    generate for (g = 0; g < LINES; g = g + 1) begin : pieces
        assign second_piece[g] = ^g[W_INDEX-1:0];
    end endgenerate

    assign doomed_o = doomed_q;
    assign set_read_o = read_q[first +: WAYS];
    assign set_written_o = written_q[first +: WAYS];
    always @* begin
        read_o = 1'b0;
        written_o = 1'b0;
        if (hit_i) begin
            read_o = TM != 0 && read_q[hit];
            written_o = TM != 0 && written_q[hit];
        end
    end

    assign forget_o = conflict_i || capacity_i || abort_i;
    always @* begin
        gone_o = {LINES{1'b0}};
        if (forget_o) begin
            gone_o = written_q;
            if (bug_i == `BUG_TX_ABORT_LEAKS && !(snoop_i && hit == last_q))
                gone_o[last_q] = 1'b0;
        end
    end

    always @(posedge clk_i) begin
        if (act_i) begin
            if (forget_o || commit_i) begin
                read_q <= {LINES{1'b0}};
                written_q <= {LINES{1'b0}};
            end
            if (commit_half_i)
                written_q <= written_q & second_piece;
            if (read_i)
                read_q[hit] <= 1'b1;
            if (write_i) begin
                if (TM != 0 && write_tx_i)
                    written_q[hit] <= 1'b1;
                last_q <= hit;
            end
            if (early_i)
                written_q[hit] <= 1'b0;
            if (fill_i)
                read_q[{set_i, fill_way_i}] <= 1'b0;
            if (TM != 0) begin
                if (conflict_i)
                    doomed_q[0] <= 1'b1;
                if (capacity_i)
                    doomed_q[1] <= 1'b1;
                if (abort_i)
                    doomed_q <= 2'd0;
            end
        end
        if (rst_i) begin
            read_q <= {LINES{1'b0}};
            written_q <= {LINES{1'b0}};
            doomed_q <= 2'd0;
        end
    end

    `ASSERT(cache_doomed_unmarked, doomed_q == 2'd0 || (read_q | written_q) == {LINES{1'b0}})
    `COVER(cache_tx_commits_writes, commit_i && written_q != {LINES{1'b0}})
    `COVER(cache_tx_aborts_writes, abort_i && written_q != {LINES{1'b0}})
endmodule
`default_nettype wire
