// SPDX-License-Identifier: Apache-2.0
// A fill, in the cycle in which it acts: where its line goes, which one leaves for it, whether it
// may now.
//
// A line goes into a way that may go and is free, or else was not marked by the transaction, or
// else any; in turn. It waits while another line is held, while all ways must stay, while the
// write-back buffer has no room for its victim; then it tries again four cycles later.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module cache_fill #(
    parameter W_LINE = 28,
    parameter W_SET = 4,
    parameter W_TAG = 24,
    parameter SETS = 16,
    parameter WAYS = 2,
    parameter W_WAY = 1,
    parameter TM = 1
) (
    input  wire              clk_i,
    input  wire              rst_i,
    input  wire [6:0]        bug_i,

    // A line that is complete, of cache_mshr.v: taken with take_i, acts in the cycle after.
    input  wire              take_i,
    input  wire [1:0]        id_i,
    input  wire [W_WAY-1:0]  upg_way_i,      // UPG: where its line is
    input  wire              shared_i,
    input  wire              prefetch_i,
    output wire              retry_o,        // none may be taken yet

    input  wire              act_i,          // it acts now
    input  wire [1:0]        cmd_i,
    input  wire [W_LINE-1:0] line_i,
    input  wire              held_i,         // a line is held:
    input  wire [W_LINE-1:0] held_line_i,
    input  wire [W_WAY-1:0]  held_way_i,
    input  wire              held_by_lr_i,   // for an SC
    input  wire [WAYS-1:0]   keep_i,         // the ways of the set that must stay; of the set, too:
    input  wire [WAYS-1:0]   valid_i,
    input  wire [WAYS-1:0]   dirty_i,
    input  wire [WAYS-1:0]   read_set_i,
    input  wire [WAYS-1:0]   write_set_i,
    input  wire              wb_room_i,
    input  wire              wb_empty_i,     // for a bug
    input  wire [W_TAG-1:0]  way_tag_i,      // of the line that is in way_o
    input  wire              upg_waits_i,    // an UPG of that line waits for its grant

    // All of these are 0 where act_i is.
    output wire              line_o,         // a line comes; else an UPG was granted
    output wire              go_o,           // it may now
    output wire              write_o,        // and a line is to be written
    output wire              placed_o,       // and the way holds the line from now on
    output wire              replace_o,      // another one goes
    output wire              push_o,         // after it was copied to the write-back buffer
    output wire              capacity_o,     // and the transaction is doomed

    output wire [W_WAY-1:0]  way_o,          // where it goes
    output wire              exclusive_o,    // E or M, else S
    output wire              prefetch_o,     // nobody waits for it
    output wire [1:0]        id_o,

    output wire              done_o,         // a cycle later: it is over
    output wire [1:0]        done_id_o,
    output wire              wb_full_o       // a fill waits for the write-back buffer
);
    localparam [WAYS-1:0] NO_WAY = 0, WAY_0 = 1;

    reg [1:0]       id_q;
    reg [W_WAY-1:0] way_q;
    reg             shared_q, prefetch_q;

    // Where it goes.
    assign line_o = act_i && cmd_i != `BUS_UPG;
    reg  [WAYS-1:0]  may_go, read, written, among;
    reg  [W_WAY-1:0] turn_q, victim;
    reg  victim_valid, victim_written, victim_dirty, victim_marked;
    integer w;
    always @* begin
        may_go = NO_WAY;
        read = NO_WAY;
        written = NO_WAY;
        among = NO_WAY;
        victim = {W_WAY{1'b0}};
        {victim_valid, victim_written, victim_dirty, victim_marked} = 4'd0;
        if (line_o) begin
            may_go = ~keep_i;
            if (held_i && (SETS == 1 || held_line_i[W_SET-1:0] == line_i[W_SET-1:0]))
                may_go = may_go & ~(WAY_0 << held_way_i);
            if (TM != 0) begin
                read = read_set_i;
                written = write_set_i;
            end
            among = may_go & ~valid_i;
            if (among == NO_WAY)
                among = may_go & ~read & ~written;
            if (among == NO_WAY)
                among = may_go;
            for (w = WAYS - 1; w >= 0; w = w - 1)
                if (among[w])
                    victim = w[W_WAY-1:0];
            if (WAYS > 1 && among[turn_q])
                victim = turn_q;
            victim_valid = valid_i[victim];
            victim_written = victim_valid && written[victim];
            victim_dirty = victim_valid && dirty_i[victim] && !victim_written
                           && !(bug_i == `BUG_VICTIM_DROPPED && !wb_empty_i);
            victim_marked = victim_written || victim_valid && read[victim]
                                              && bug_i != `BUG_TX_READS_LOST;
        end
    end

    // Whether it may.
    reg behind, needs_room, go, placed, replace, push;
    always @* begin
        {behind, needs_room, go, placed, replace, push} = 6'd0;
        if (act_i) begin
            behind = held_i && !held_by_lr_i && !prefetch_q && held_line_i != line_i;
            needs_room = victim_dirty && !wb_room_i;
            go = !behind && (!line_o || may_go != NO_WAY && !needs_room);
            placed = go && (line_o || way_tag_i == line_i[W_LINE-1 -: W_TAG]);
            replace = go && victim_valid;
            push = replace && victim_dirty;
        end
    end
    assign go_o = go;
    assign write_o = go && line_o;
    assign placed_o = placed;
    assign replace_o = replace;
    assign push_o = push;
    assign capacity_o = TM != 0 && replace && victim_marked;
    assign way_o = line_o ? victim : way_q;
    assign exclusive_o = cmd_i != `BUS_GETS || !shared_q;
    assign prefetch_o = prefetch_q;
    assign id_o = id_q;

    reg       done_q, wb_full_q;
    reg [1:0] done_id_q, retry_q;
    always @(posedge clk_i) begin
        done_q <= go;
        if (go)
            done_id_q <= id_q;
        if (take_i) begin
            id_q <= id_i;
            way_q <= upg_way_i;
            shared_q <= shared_i;
            prefetch_q <= prefetch_i;
        end
        if (placed)
            turn_q <= turn_q + 1'b1;
        if (retry_q != 2'd0)
            retry_q <= retry_q - 1'b1;
        if (act_i) begin
            retry_q <= go ? 2'd0 : 2'd3;
            wb_full_q <= !go && !behind && needs_room;
        end
        if (rst_i) begin
            done_q <= 1'b0;
            turn_q <= {W_WAY{1'b0}};
            retry_q <= 2'd0;
            wb_full_q <= 1'b0;
        end
    end
    assign retry_o = retry_q != 2'd0;
    assign done_o = done_q;
    assign done_id_o = done_id_q;
    assign wb_full_o = wb_full_q;

    wire unused = &{1'b0, upg_waits_i};
    `COVER(cache_fill_s, go && !exclusive_o)
    `COVER(cache_fill_e, go && exclusive_o && cmd_i == `BUS_GETS)
    `COVER(cache_fill_m, go && cmd_i == `BUS_GETM)
    `COVER(cache_fill_upg, go && cmd_i == `BUS_UPG)
    `COVER(cache_replace_m, push)
    `COVER(cache_upg_replaced, replace && upg_waits_i)
    `COVER(cache_upg_granted_stays, line_o && keep_i != NO_WAY)
    `COVER(cache_fill_no_way, line_o && may_go == NO_WAY)
    `COVER(cache_fill_behind_held, behind)
    `COVER(cache_fill_no_room, !behind && needs_room)
    `COVER(cache_tx_capacity_read, capacity_o && !victim_written)
    `COVER(cache_tx_capacity_write, capacity_o && victim_written)
endmodule
`default_nettype wire
