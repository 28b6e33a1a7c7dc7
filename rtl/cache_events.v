// SPDX-License-Identifier: Apache-2.0
// What the counters count of a cache. Combinational, in groups, so that a simulation passes over
// what cannot happen in a cycle.
`default_nettype none
`include "soc.vh"
module cache_events (
    input  wire request_i,     // a request acts:
    input  wire used_i,        // it found its line as it needs it
    input  wire miss_i,        // a line is asked for,
    input  wire upgrade_i,     // which is there to read,
    input  wire under_miss_i,  // or while another is on its way
    input  wire sc_failed_i,   // it is an SC, and failed

    input  wire fill_i,        // a fill acts:
    input  wire replace_i,     // a line goes for it,
    input  wire push_i,        // to the write-back buffer
    input  wire capacity_i,    // the transaction is doomed by it

    input  wire snoop_i,       // a snoop acts:
    input  wire snoop_hit_i,   // it found the line
    input  wire wb_hit_i,      // it found it in the write-back buffer
    input  wire supply_i,      // it is answered with data
    input  wire taken_i,       // it took the line away
    input  wire conflict_i,    // the transaction is doomed by it

    input  wire lost_i,        // any of these takes a line away:
    input  wire upgrade_lost_i,// an UPG of it waited
    input  wire reserved_i,    // it was reserved, and not flushed
    input  wire atomic_i,      // an atomic operation waited for it

    input  wire snoop_held_i,  // a snoop waits for a line that is held
    input  wire wb_full_i,     // a fill waits for the write-back buffer

    output reg  [`EVENT_TX_CAPACITIES:`EVENT_HIT] events_o // bit e: EVENT e happened in this cycle
);
    always @* begin
        events_o = 18'd0;
        if (request_i) begin
            events_o[`EVENT_HIT]             = used_i;
            events_o[`EVENT_MISS]            = miss_i;
            events_o[`EVENT_UPGRADE]         = upgrade_i;
            events_o[`EVENT_MISS_UNDER_MISS] = under_miss_i;
            events_o[`EVENT_SC_FAILED]       = sc_failed_i;
        end
        if (fill_i) begin
            events_o[`EVENT_EVICT_CLEAN]     = replace_i && !push_i;
            events_o[`EVENT_EVICT_DIRTY]     = push_i;
            events_o[`EVENT_TX_CAPACITIES]   = capacity_i;
        end
        if (snoop_i) begin
            events_o[`EVENT_SNOOP_HIT]       = snoop_hit_i;
            events_o[`EVENT_SNOOP_HIT_WB]    = wb_hit_i;
            events_o[`EVENT_SNOOP_SUPPLY]    = supply_i;
            events_o[`EVENT_INVALIDATED]     = taken_i;
            events_o[`EVENT_TX_CONFLICTS]    = conflict_i;
        end
        if (lost_i) begin
            events_o[`EVENT_UPGRADE_RACE]    = upgrade_lost_i;
            events_o[`EVENT_RESERVATION_LOST] = reserved_i;
            events_o[`EVENT_ATOMIC_INVALIDATED] = atomic_i;
        end
        events_o[`EVENT_SNOOP_HELD]          = snoop_held_i;
        events_o[`EVENT_WB_FULL]             = wb_full_i;
    end
endmodule
`default_nettype wire
