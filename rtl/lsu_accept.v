// SPDX-License-Identifier: Apache-2.0
// Who is accepted: whether the operation that the hart offers may go now, and what ends a
// transaction before its time. Combinational. Where two need the record port, the load that leaves
// the queue goes first.
`default_nettype none
`include "soc.vh"
module lsu_accept #(
    parameter TM = 1
) (
    input  wire [1:0]  model_i,
    input  wire [6:0]  bug_i,
    input  wire        op_valid_i,
    input  wire [3:0]  op_kind_i,
    input  wire        op_cached_i,     // its address is that of cached memory
    input  wire [7:0]  op_fence_i,      // pred and succ of a fence
    input  wire        stall_i,         // the capture unit has no room
    input  wire        atomic_i,        // an AMO, LR or SC is in progress
    input  wire        hint_i,          // a hint is
    input  wire        tx_i,            // a transaction is on,
    input  wire        abort_i,         // and being aborted,
    input  wire        kill_i,          // or has to be,
    input  wire        commit_flight_i, // or its commit is with the cache,
    input  wire        committed_i,     // and was done
    input  wire        lq_empty_i,
    input  wire        lq_full_i,
    input  wire        lq_leave_i,      // a load leaves
    input  wire        sb_empty_i,
    input  wire        sb_full_i,
    input  wire        sb_drained_i,    // empty, as fences see it
    input  wire        sb_tx_drained_i, // empty, as the end of a transaction sees it
    input  wire        sb_line_i,       // holds a store that a flush has to wait for

    output reg         stop_o,          // the transaction is to abort
    output reg         ready_o,         // the operation is accepted; if it is one of these:
    output reg         load_o,
    output reg         store_o,
    output reg         atomic_o,
    output reg         fence_o,
    output reg         hint_o,
    output reg         begin_o,
    output reg         void_o,          // it does nothing and leaves no record
    output reg         record_o,        // it leaves its record at once
    output reg         commit_o         // it is not, but the cache may be asked to commit
);
    reg pred_r, pred_w, succ_r, succ_w; // of a fence: I counts as R, O as W

    always @* begin
        {pred_r, pred_w, succ_r, succ_w} = 4'bx;
        {load_o, store_o, atomic_o, fence_o, hint_o, begin_o, void_o, commit_o} = 8'd0;
        ready_o = committed_i;
        record_o = committed_i;
        stop_o = 1'b0;
        if (TM != 0 && tx_i && !abort_i && !commit_flight_i) begin
            stop_o = kill_i;
            if (op_valid_i)
                case (op_kind_i) // what has no place inside one, or is its end
                    `LSU_LOAD, `LSU_STORE, `LSU_AMO: stop_o = kill_i || !op_cached_i;
                    `LSU_LR, `LSU_SC, `LSU_TX_BEGIN, `LSU_TX_ABORT, `LSU_DONE: stop_o = 1'b1;
                    default: ;
                endcase
        end
        if (op_valid_i && !stall_i && !atomic_i && !abort_i && !stop_o) begin
            case (op_kind_i)
                `LSU_LOAD: begin
                    load_o = !lq_full_i;
                    ready_o = load_o;
                end
                `LSU_STORE: begin
                    store_o = lq_empty_i && !sb_full_i;
                    ready_o = store_o;
                end
                `LSU_AMO, `LSU_LR, `LSU_SC: begin
                    atomic_o = lq_empty_i && (sb_empty_i
                        || (bug_i == `BUG_SWAP_NO_DRAIN && op_cached_i && !sb_line_i));
                    ready_o = atomic_o;
                end
                `LSU_FENCE: begin
                    pred_r = op_fence_i[5] || op_fence_i[7];
                    pred_w = op_fence_i[4] || op_fence_i[6];
                    succ_r = op_fence_i[1] || op_fence_i[3];
                    succ_w = op_fence_i[0] || op_fence_i[2];
                    fence_o = !lq_leave_i && (lq_empty_i || !pred_r || model_i != `MODEL_RMO)
                        && (sb_drained_i || !(pred_w && succ_r)
                            || (bug_i == `BUG_FENCE_FLAVOUR && (pred_r || succ_w)));
                    ready_o = fence_o;
                end
                `LSU_PREFETCH_R, `LSU_PREFETCH_W, `LSU_FLUSH: begin
                    hint_o = !hint_i && !lq_leave_i && !sb_line_i;
                    ready_o = hint_o;
                end
                `LSU_TX_BEGIN: begin
                    ready_o = lq_empty_i && !hint_i
                        && (sb_empty_i || bug_i == `BUG_TX_NO_MEMBAR);
                    begin_o = TM != 0 && ready_o;
                end
                `LSU_TX_COMMIT: begin
                    void_o = TM == 0 || !tx_i;
                    commit_o = !void_o && lq_empty_i && sb_tx_drained_i;
                    ready_o = void_o || committed_i;
                end
                `LSU_TX_ABORT: begin // outside a transaction; inside it is the end
                    void_o = 1'b1;
                    ready_o = 1'b1;
                end
                `LSU_DONE: ready_o = lq_empty_i && sb_empty_i && !hint_i;
                default:   ready_o = !lq_leave_i; // LSU_MARK
            endcase
            record_o = ready_o && !load_o && !atomic_o && !void_o;
        end
    end
endmodule
`default_nettype wire
