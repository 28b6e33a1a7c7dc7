// SPDX-License-Identifier: Apache-2.0
// What the counters count of the load/store unit. Combinational, in groups, so that a simulation
// passes over what cannot happen in a cycle.
`default_nettype none
`include "soc.vh"
module lsu_events (
    input  wire        op_valid_i,      // an operation is offered:
    input  wire        stall_i,         // the capture unit has no room for it
    input  wire        fence_waits_i,   // it is a fence and is not accepted
    input  wire        store_waits_i,   // it is a store and the buffer is full
    input  wire        store_i,         // it is a store and is accepted

    input  wire        flight_i,        // something is with the cache:
    input  wire        committed_i,     // a transaction has committed
    input  wire        early_i,         // a load has read before an older one was bound
    input  wire        partial_i,       // it has read some bytes from the buffer
    input  wire        young_i,         // a store has left before an older one

    input  wire        empty_i,         // the load queue is: none of these
    input  wire        dropped_i,       // a sample was lost
    input  wire        forward_i,       // a load has read all bytes from the buffer
    input  wire        bind_i,          // a load was bound
    input  wire        bind_early_i,    // and an older one was not
    input  wire        bind_passes_i,   // and older stores wait
    input  wire        leave_i,         // a load left the queue

    input  wire        atomic_i,        // an atomic operation is done
    input  wire        uncached_i,      // an uncached operation is
    input  wire        aborted_i,       // a transaction was aborted

    output reg  [`EVENT_TX_ABORTED:`EVENT_LOAD] events_o // bit e: EVENT e happened in this cycle
);
    always @* begin
        events_o = 16'd0;
        if (op_valid_i) begin
            events_o[`EVENT_CAPTURE_STALL]      = stall_i;
            events_o[`EVENT_FENCE_WAIT]         = fence_waits_i;
            events_o[`EVENT_BUFFER_FULL]        = store_waits_i;
            events_o[`EVENT_STORE]              = store_i;
        end
        if (flight_i) begin
            events_o[`EVENT_TX_COMMITTED]       = committed_i;
            events_o[`EVENT_LOAD_SAMPLED_EARLY] = early_i;
            events_o[`EVENT_STORE_OUT_OF_ORDER] = young_i;
            events_o[`EVENT_PARTIAL_FORWARD]    = partial_i;
        end
        if (!empty_i) begin
            events_o[`EVENT_LOAD_RESAMPLED]     = dropped_i;
            events_o[`EVENT_FORWARD]            = forward_i;
            if (bind_i || leave_i) begin
                events_o[`EVENT_LOAD_OUT_OF_ORDER] = bind_early_i;
                events_o[`EVENT_LOAD_PASSED_STORE] = bind_passes_i;
                events_o[`EVENT_LOAD]           = leave_i;
            end
        end
        if (atomic_i || uncached_i || aborted_i) begin
            events_o[`EVENT_TX_ABORTED]         = aborted_i;
            events_o[`EVENT_UNCACHED]           = uncached_i;
            events_o[`EVENT_ATOMIC]             = atomic_i;
        end
    end
endmodule
`default_nettype wire
