// SPDX-License-Identifier: Apache-2.0
// A snoop, in the cycle in which it acts: what it does to the line that was found or not; and its
// answer. Lines that the transaction has written are not there for it.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module cache_snoop #(
    parameter WAYS = 2,
    parameter W_WAY = 1,
    parameter DELAYS = 1,
    parameter [31:0] SALT = 1
) (
    input  wire             clk_i,
    input  wire             rst_i,
    input  wire [6:0]       bug_i,
    input  wire [31:0]      seed_i,
    input  wire [2:0]       level_i,

    input  wire             act_i,          // it acts now
    input  wire [1:0]       cmd_i,
    input  wire             hit_i,          // the line is there; and if it is:
    input  wire [W_WAY-1:0] hit_way_i,
    input  wire             exclusive_i,
    input  wire             dirty_i,
    input  wire             prefetched_i,   // for a bug
    input  wire             read_set_i,
    input  wire             write_set_i,
    input  wire             first_clean_i,  // for a bug: in the first way is a clean line
    input  wire             upg_waits_i,    // an UPG of the line waits for its grant
    input  wire             wb_hit_i,       // the write-back buffer has a copy of the line
    input  wire             tx_ending_i,    // for a bug

    // All of these are 0 where act_i is.
    output reg              hides_o,        // the line is there, but not for it
    output reg              conflict_o,     // the transaction is doomed
    output reg              hit_o,          // the line is there
    output reg              shares_o,       // and is only shared now,
    output reg              wants_o,        // or wanted,
    output reg              takes_o,        // and is taken away
    output reg              wrong_way_o,    // BUG_WRONG_WAY: from the first way of the set
    output reg              supply_copy_o,  // answered with the line
    output reg              supply_slot_o,  // answered with the copy of the write-back buffer

    output wire             pending_o,      // the answer has not gone: no other may act
    output wire             ack_valid_o,    // from the next cycle on; one cycle
    output wire             ack_shared_o,
    output wire             ack_data_o
);
    localparam [W_WAY-1:0] LAST_WAY = WAYS[W_WAY-1:0] - 1'b1;

    always @* begin
        {hides_o, conflict_o, hit_o, shares_o, wants_o, takes_o} = 6'd0;
        {wrong_way_o, supply_copy_o, supply_slot_o} = 3'd0;
        if (act_i) begin
            hides_o = write_set_i && bug_i != `BUG_TX_EARLY;
            conflict_o = hides_o
                || read_set_i && !write_set_i && cmd_i != `BUS_GETS
                   && bug_i != `BUG_TX_TWO_MOMENTS
                   && !(bug_i == `BUG_TX_LATE_CONFLICT && tx_ending_i);
            hit_o = hit_i && !hides_o;
            shares_o = hit_o && cmd_i == `BUS_GETS;
            wants_o = hit_o && cmd_i != `BUS_GETS;
            takes_o = wants_o && !(bug_i == `BUG_PREFETCH_STALE && prefetched_i && !dirty_i);
            wrong_way_o = bug_i == `BUG_WRONG_WAY && WAYS > 1 && hit_way_i == LAST_WAY
                && first_clean_i;
            supply_copy_o = hit_o && dirty_i;
            supply_slot_o = !supply_copy_o && wb_hit_i && bug_i != `BUG_EVICT_SNOOP;
        end
    end

    reg  pending_q, shared_q, data_q;
    wire go;
    always @(posedge clk_i) begin
        if (ack_valid_o)
            pending_q <= 1'b0;
        if (act_i) begin
            pending_q <= 1'b1;
            shared_q <= shares_o && !(bug_i == `BUG_WRONG_TRANSIENT && upg_waits_i);
            data_q <= supply_copy_o || supply_slot_o;
        end
        if (rst_i)
            pending_q <= 1'b0;
    end
    assign pending_o = pending_q;
    assign ack_valid_o = pending_q && go;
    assign ack_shared_o = shared_q;
    assign ack_data_o = data_q;
    delay #(.DELAYS(DELAYS), .SALT(SALT)) delay (
        .clk_i(clk_i), .rst_i(rst_i), .seed_i(seed_i), .level_i(level_i),
        .move_i(ack_valid_o), .go_o(go)
    );

    wire unused = &{1'b0, exclusive_i, hit_way_i};
    `ASSERTIONS(act_i)
        `HOLDS(cache_snoop_upg_clean, !(cmd_i == `BUS_UPG && (exclusive_i || wb_hit_i)))
        `HOLDS(cache_snoop_not_wb, cmd_i != `BUS_WB)
    `END_ASSERTIONS
    `COVER(cache_s_gets, shares_o && !exclusive_i)
    `COVER(cache_e_gets, shares_o && exclusive_i && !dirty_i)
    `COVER(cache_m_gets, shares_o && dirty_i)
    `COVER(cache_s_getm, takes_o && !exclusive_i && cmd_i == `BUS_GETM)
    `COVER(cache_s_upg, takes_o && cmd_i == `BUS_UPG)
    `COVER(cache_e_getm, takes_o && exclusive_i && !dirty_i)
    `COVER(cache_m_getm, takes_o && dirty_i)
    `COVER(cache_i_gets, act_i && !hit_i && !wb_hit_i && cmd_i == `BUS_GETS)
    `COVER(cache_i_getm, act_i && !hit_i && !wb_hit_i && cmd_i == `BUS_GETM)
    `COVER(cache_upg_gets, shares_o && upg_waits_i)
    `COVER(cache_upg_taken, takes_o && upg_waits_i)
    `COVER(cache_snoop_write_back, supply_slot_o && !hit_i)
    `COVER(cache_snoop_e_write_back, supply_slot_o && hit_o)
    `COVER(cache_snoop_m_write_back, supply_copy_o && wb_hit_i)
    `COVER(cache_tx_conflict_read, conflict_o && !write_set_i)
    `COVER(cache_tx_conflict_write, conflict_o && write_set_i && !wb_hit_i)
    `COVER(cache_tx_conflict_pre_image, conflict_o && write_set_i && wb_hit_i)
endmodule
`default_nettype wire
