// SPDX-License-Identifier: Apache-2.0
// The states of all lines of a cache, by set and way: I, S (valid), E (exclusive, too), M (dirty,
// too).
`default_nettype none
`include "soc.vh"
module cache_states #(
    parameter W_SET = 4,
    parameter WAYS = 2,
    parameter W_WAY = 1,
    parameter LINES = 32                     // by set and way, 1 << W_SET + W_WAY
) (
    input  wire             clk_i,
    input  wire             rst_i,
    input  wire [6:0]       bug_i,

    input  wire             act_i,           // only then a state changes
    input  wire [W_SET-1:0] set_i,           // of what acts; and of the set:
    output wire [WAYS-1:0]  set_valid_o,
    output wire [WAYS-1:0]  set_dirty_o,     // where valid
    output wire             first_clean_o,   // for a bug: the first way holds a clean line

    input  wire             hit_i,           // its line was found,
    input  wire [W_WAY-1:0] hit_way_i,       // there; and if it was:
    output reg              exclusive_o,
    output reg              dirty_o,
    output wire             prefetched_o,    // BUG_PREFETCH_STALE: it came by a prefetch

    // What happens to the line that was found.
    input  wire             write_i,
    input  wire             write_clean_i,   // BUG_SWAP_NOT_DIRTY
    input  wire             clean_i,         // it was written back, and stays
    input  wire             share_i,         // another cache reads it
    input  wire             take_i,          // another cache wants it
    input  wire             drop_i,          // it goes
    input  wire             drop_first_i,    // BUG_WRONG_WAY: not it, but that of the first way

    input  wire             fill_i,          // a line came, or was upgraded, in this way:
    input  wire [W_WAY-1:0] fill_way_i,
    input  wire             fill_exclusive_i,
    input  wire             fill_dirty_i,
    input  wire             fill_prefetch_i,

    input  wire             forget_i,        // a transaction aborts:
    input  wire [LINES-1:0] gone_i           // these go
);
    localparam W_INDEX = W_SET + W_WAY;
    wire [W_INDEX-1:0] first = {set_i, {W_WAY{1'b0}}};
    wire [W_INDEX-1:0] hit = {set_i, hit_way_i};
    wire [W_INDEX-1:0] fill = {set_i, fill_way_i};

    reg [LINES-1:0] valid_q, exclusive_q, dirty_q; // I 000, S 100, E 110, M 111
    reg [LINES-1:0] prefetched_q;                  // for the bug alone

    assign set_valid_o = valid_q[first +: WAYS];
    assign set_dirty_o = dirty_q[first +: WAYS];
    assign first_clean_o = valid_q[first] && !dirty_q[first];
    assign prefetched_o = prefetched_q[hit];
    always @* begin
        exclusive_o = 1'b0;
        dirty_o = 1'b0;
        if (hit_i) begin
            exclusive_o = exclusive_q[hit];
            dirty_o = dirty_q[hit];
        end
    end

    always @(posedge clk_i) begin
        if (act_i) begin
            if (forget_i)
                valid_q <= valid_q & ~gone_i;
            if (drop_i)
                valid_q[drop_first_i ? first : hit] <= 1'b0;
            if (write_i)
                dirty_q[hit] <= !write_clean_i;
            if (clean_i)
                dirty_q[hit] <= 1'b0;
            if (share_i) begin
                exclusive_q[hit] <= 1'b0;
                dirty_q[hit] <= 1'b0;
            end
            if (take_i)
                prefetched_q[hit] <= 1'b0;
            if (fill_i) begin
                valid_q[fill] <= 1'b1;
                exclusive_q[fill] <= fill_exclusive_i;
                dirty_q[fill] <= fill_dirty_i;
                prefetched_q[fill] <= fill_prefetch_i && bug_i == `BUG_PREFETCH_STALE;
            end
        end
        if (rst_i) begin
            valid_q <= {LINES{1'b0}};
            prefetched_q <= {LINES{1'b0}};
        end
    end
endmodule
`default_nettype wire
