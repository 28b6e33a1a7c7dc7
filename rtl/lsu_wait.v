// SPDX-License-Identifier: Apache-2.0
// What the load/store unit waits for, for the watchdog. Combinational.
`default_nettype none
`include "soc.vh"
module lsu_wait (
    input  wire        abort_i,         // a transaction is being aborted
    input  wire        stall_i,         // the capture unit has no room
    input  wire        op_valid_i,      // an operation is offered,
    input  wire        op_ready_i,      // and accepted
    input  wire [3:0]  op_kind_i,
    input  wire [31:0] op_addr_i,
    input  wire        atomic_i,        // an atomic operation is in progress
    input  wire [31:0] atomic_addr_i,
    input  wire        lq_empty_i,
    input  wire        lq_can_i,        // loads need not wait for stores
    input  wire        lq_uncached_i,   // the oldest load is uncached
    input  wire [31:0] lq_addr_i,       // its address
    input  wire        sb_empty_i,
    input  wire        sb_full_i,
    input  wire [31:2] sb_addr_i,       // of the oldest store

    output reg  [3:0]  wait_o,          // WAIT_*
    output reg  [31:0] wait_addr_o      // 0: nowhere
);
    always @* begin
        wait_o = `WAIT_NOTHING;
        wait_addr_o = 32'd0;
        if (abort_i)
            wait_o = `WAIT_ABORT;
        else if (op_valid_i && stall_i) begin
            wait_o = `WAIT_CAPTURE;
            wait_addr_o = op_addr_i;
        end else if (atomic_i) begin
            wait_o = atomic_addr_i[31] ? `WAIT_ATOMIC : `WAIT_UNCACHED;
            wait_addr_o = atomic_addr_i;
        end else if (!lq_empty_i && lq_can_i) begin
            wait_o = lq_uncached_i ? `WAIT_UNCACHED : `WAIT_LOAD;
            wait_addr_o = lq_addr_i;
        end else if (!lq_empty_i || (op_valid_i && !op_ready_i)) begin
            if (!sb_empty_i) begin
                wait_o = op_kind_i == `LSU_STORE && op_valid_i && sb_full_i
                    ? `WAIT_BUFFER : `WAIT_DRAIN;
                wait_addr_o = {sb_addr_i, 2'd0};
            end else if (op_kind_i == `LSU_TX_COMMIT)
                wait_o = `WAIT_COMMIT;
        end
    end
endmodule
`default_nettype wire
