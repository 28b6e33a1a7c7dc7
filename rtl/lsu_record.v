// SPDX-License-Identifier: Apache-2.0
// What the load/store unit tells the capture unit: a record of each operation, and of each store
// the moment from which it is there for all.
//
// Combinational, for a record is of the cycle it is given in. At most one of load_i, atomic_i,
// abort_i and op_i, and at most one of store_i, uncached_i and atomic_wrote_i, is 1.
`default_nettype none
`include "soc.vh"
module lsu_record (
    input  wire [31:0] cycle_i,
    input  wire        tx_i,

    input  wire        load_i,          // a load leaves the queue
    input  wire [1:0]  load_size_i,
    input  wire [7:0]  load_seq_i,
    input  wire [31:0] load_issue_i,
    input  wire [31:0] load_addr_i,
    input  wire [31:0] load_data_i,     // the bytes loaded, zeros above

    input  wire        atomic_i,        // an AMO, LR or SC is done
    input  wire [3:0]  atomic_kind_i,
    input  wire [7:0]  atomic_seq_i,
    input  wire [31:0] atomic_issue_i,
    input  wire [31:0] atomic_addr_i,
    input  wire [31:0] atomic_read_i,
    input  wire [31:0] atomic_written_i,
    input  wire        atomic_wrote_i,  // and it is a store, too

    input  wire        abort_i,         // a transaction was aborted
    input  wire [31:0] status_i,

    input  wire        op_i,            // any other operation was accepted
    input  wire [3:0]  op_kind_i,
    input  wire [1:0]  op_size_i,
    input  wire [7:0]  op_seq_i,        // of abort_i, too
    input  wire [31:0] op_issue_i,
    input  wire [31:0] op_addr_i,
    input  wire [31:0] op_bytes_i,      // of a store, zeros above

    input  wire        store_i,         // the cache has performed a store
    input  wire        store_tx_i,
    input  wire [31:2] store_addr_i,
    input  wire [3:0]  store_be_i,
    input  wire [31:0] store_data_i,
    input  wire        uncached_i,      // the bus has
    input  wire [31:2] uncached_addr_i,
    input  wire [3:0]  uncached_be_i,
    input  wire [31:0] uncached_data_i,

    output wire        rec_valid_o,
    output reg  [3:0]  rec_kind_o,
    output reg  [1:0]  rec_size_o,
    output wire        rec_tx_o,
    output reg  [7:0]  rec_seq_o,
    output reg  [31:0] rec_issue_o,
    output reg  [31:0] rec_addr_o,
    output reg  [31:0] rec_read_o,
    output reg  [31:0] rec_written_o,
    output wire        vis_valid_o,
    output reg         vis_tx_o,
    output reg  [1:0]  vis_size_o,
    output reg  [31:0] vis_addr_o,
    output reg  [31:0] vis_data_o
);
    assign rec_valid_o = load_i || atomic_i || abort_i || op_i;
    assign rec_tx_o    = tx_i || (op_i && op_kind_i == `LSU_TX_BEGIN);
    always @* begin
        rec_kind_o    = 4'dx;
        rec_size_o    = 2'dx;
        rec_seq_o     = 8'dx;
        rec_issue_o   = 32'dx;
        rec_addr_o    = 32'dx;
        rec_read_o    = 32'dx;
        rec_written_o = 32'dx;
        if (rec_valid_o) begin
            rec_kind_o    = 4'd0;
            rec_size_o    = 2'd2;
            rec_seq_o     = op_seq_i;
            rec_issue_o   = op_issue_i;
            rec_addr_o    = op_addr_i;
            rec_read_o    = op_addr_i; // of LSU_MARK the value
            rec_written_o = op_bytes_i;
            if (load_i) begin
                rec_kind_o  = `REC_LOAD;
                rec_size_o  = load_size_i;
                rec_seq_o   = load_seq_i;
                rec_issue_o = load_issue_i;
                rec_addr_o  = load_addr_i;
                rec_read_o  = load_data_i;
            end else if (atomic_i) begin
                rec_kind_o    = atomic_kind_i == `LSU_AMO ? `REC_ATOMIC
                    : atomic_kind_i == `LSU_LR ? `REC_LR : `REC_SC;
                rec_seq_o     = atomic_seq_i;
                rec_issue_o   = atomic_issue_i;
                rec_addr_o    = atomic_addr_i;
                rec_read_o    = atomic_read_i;
                rec_written_o = atomic_written_i;
            end else if (abort_i) begin
                rec_kind_o  = `REC_TX_ABORT;
                rec_issue_o = cycle_i;
                rec_read_o  = status_i;
            end else if (op_i)
                case (op_kind_i)
                    `LSU_STORE: begin
                        rec_kind_o = `REC_STORE;
                        rec_size_o = op_size_i;
                    end
                    `LSU_FENCE:     rec_kind_o = `REC_FENCE;
                    `LSU_TX_BEGIN:  rec_kind_o = `REC_TX_BEGIN;
                    `LSU_TX_COMMIT: rec_kind_o = `REC_TX_COMMIT;
                    `LSU_MARK:      rec_kind_o = `REC_MARK;
                    `LSU_DONE:      rec_kind_o = `REC_DONE;
                    default:        rec_kind_o = `REC_HINT;
                endcase
        end
    end

    // A store is known by its byte enables.
    reg [3:0]  be;
    reg [1:0]  first;
    reg [31:0] word, moved;
    assign vis_valid_o = store_i || uncached_i || atomic_wrote_i;
    always @* begin
        vis_tx_o   = 1'bx;
        vis_size_o = 2'd2;
        vis_addr_o = 32'dx;
        vis_data_o = 32'dx;
        be    = 4'dx;
        first = 2'dx;
        word  = 32'dx;
        moved = 32'dx;
        if (store_i || uncached_i) begin
            vis_tx_o = store_i && store_tx_i;
            be   = store_i ? store_be_i : uncached_be_i;
            word = store_i ? store_data_i : uncached_data_i;
            first = be[0] ? 2'd0 : be[1] ? 2'd1 : be[2] ? 2'd2 : 2'd3;
            moved = word >> {first, 3'd0};
            vis_addr_o = {store_i ? store_addr_i : uncached_addr_i, first};
            vis_data_o = moved;
            if (be == 4'd3 || be == 4'd12) begin
                vis_size_o = 2'd1;
                vis_data_o = {16'd0, moved[15:0]};
            end else if (be != 4'd15) begin
                vis_size_o = 2'd0;
                vis_data_o = {24'd0, moved[7:0]};
            end
        end else if (atomic_wrote_i) begin
            vis_tx_o   = tx_i;
            vis_addr_o = atomic_addr_i;
            vis_data_o = atomic_written_i;
        end
    end
endmodule
`default_nettype wire
