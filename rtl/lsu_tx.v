// SPDX-License-Identifier: Apache-2.0
// The transaction of a hart, from TX_BEGIN to its commit or abort.
//
// An abort begins with stop_i; once nothing is with the cache any more all that the transaction had
// on its way vanishes (flush_o) and the cache is asked to abort; when it has, over_o tells. With
// TM = 0 there are no transactions.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module lsu_tx #(
    parameter TM = 1
) (
    input  wire        clk_i,
    input  wire        rst_i,

    input  wire        begin_i,         // TX_BEGIN was accepted: only while not active_o
    input  wire        stop_i,          // it is to abort, for the first of these reasons:
    input  wire [1:0]  doomed_i,        // the cache has lost a line: bit 0 to a snoop, bit 1 else;
    input  wire        kill_i,          // the hart asks for it;
    input  wire [3:0]  kill_cause_i,
    input  wire        op_valid_i,      // TX_ABORT is offered, or what has no place inside
    input  wire [3:0]  op_kind_i,
    input  wire [7:0]  op_code_i,       // of TX_ABORT
    input  wire        commit_i,        // TX_COMMIT is offered, and the cache may be asked to

    output wire        active_o,        // from the cycle after begin_i to that of its end
    output wire        doomed_o,        // the cache has lost a line of it
    output wire        ending_o,        // TX_COMMIT waits: for a bug alone
    output wire        aborts_o,        // its abort has begun
    output wire        flush_o,
    output wire        over_o,          // one cycle: it was aborted
    output wire        committed_o,     // one cycle: it has committed
    output wire [31:0] status_o,        // why it was aborted, with over_o

    // At the cache.
    output wire        want_abort_o,    // held until the answer
    output wire        want_commit_o,   // may be withdrawn
    input  wire        flight_i,        // something is there, and answered in this cycle;
    input  wire        flight_abort_i,  // it is one of these two:
    input  wire        flight_commit_i,
    input  wire        rsp_done_i,      // performed, else refused
    input  wire        retry_i          // a commit that was refused may try again
);
    reg         active_q, aborts_q, over_q, refused_q;
    reg  [3:0]  cause_q;
    reg  [7:0]  code_q;

    reg [31:0] status;
    always @* begin
        status = 32'd0;
        status[`TX_STATUS_CAUSE] = cause_q;
        status[`TX_STATUS_CODE]  = code_q;
    end

    wire   explicit     = op_kind_i == `LSU_TX_ABORT;
    assign active_o     = active_q;
    assign aborts_o     = aborts_q;
    assign over_o       = over_q;
    assign status_o     = status;
    assign doomed_o     = TM != 0 && active_q && doomed_i != 2'd0;
    assign committed_o  = TM != 0 && flight_commit_i && rsp_done_i;
    assign flush_o      = TM != 0 && aborts_q && !flight_i;
    assign ending_o     = TM != 0 && active_q && !aborts_q && op_valid_i
        && op_kind_i == `LSU_TX_COMMIT;
    assign want_abort_o  = aborts_q && !over_q;
    assign want_commit_o = commit_i && !refused_q;

    always @(posedge clk_i)
        if (rst_i) begin
            {active_q, aborts_q, over_q, refused_q} <= 4'd0;
            cause_q <= 4'd0;
            code_q  <= 8'd0;
        end else if (active_q || begin_i || retry_i) begin
            if (retry_i)
                refused_q <= 1'b0;
            else if (flight_commit_i && !rsp_done_i)
                refused_q <= 1'b1;
            if (begin_i)
                active_q <= 1'b1;
            if (TM != 0 && active_q) begin
                if (committed_o || over_q)
                    active_q <= 1'b0;
                if (stop_i) begin
                    aborts_q <= 1'b1;
                    cause_q  <= doomed_o ? (doomed_i[0] ? `TX_CONFLICT : `TX_CAPACITY)
                        : kill_i ? kill_cause_i : explicit ? `TX_EXPLICIT : `TX_UNSUPPORTED;
                    code_q   <= !doomed_o && !kill_i && explicit ? op_code_i : 8'd0;
                end else if (over_q)
                    aborts_q <= 1'b0;
                over_q <= flight_abort_i && rsp_done_i;
            end
        end

    `COVER(lsu_commit_refused, flight_commit_i && !rsp_done_i)
    `COVER(lsu_doomed_as_commit_waits, doomed_o && ending_o)
    `COVER(lsu_killed, stop_i && kill_i)
endmodule
`default_nettype wire
