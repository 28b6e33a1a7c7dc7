// SPDX-License-Identifier: Apache-2.0
// An atomic operation (AMO, LR or SC) from its acceptance until it is done: one at a time.
//
// It goes to the cache, or, uncached, to the bus; an uncached SC fails without going out.
`default_nettype none
`include "soc.vh"
module lsu_atomic (
    input  wire        clk_i,
    input  wire        rst_i,

    input  wire        push_i,          // only while not busy_o
    input  wire [3:0]  push_kind_i,     // LSU_AMO, LSU_LR, LSU_SC
    input  wire [31:0] push_addr_i,
    input  wire [31:0] push_data_i,
    input  wire [31:0] push_compare_i,
    input  wire [4:0]  push_amo_i,
    input  wire [4:0]  push_rd_i,
    input  wire [7:0]  push_seq_i,
    input  wire [31:0] push_issue_i,

    output wire        busy_o,          // there is one; and of it, until it is done:
    output wire [3:0]  kind_o,
    output wire [31:0] addr_o,
    output wire [31:0] data_o,
    output wire [31:0] compare_o,
    output wire [4:0]  amo_o,
    output wire [4:0]  rd_o,
    output wire [7:0]  seq_o,
    output wire [31:0] issue_o,

    // At the cache.
    output wire        want_o,          // it wants to go there
    output wire [3:0]  op_o,            // CACHE_*
    input  wire        flight_i,        // it is there, and answered in this cycle:
    input  wire        rsp_done_i,      // performed, else refused
    input  wire [31:0] rsp_data_i,
    input  wire [31:0] rsp_written_i,
    input  wire        retry_i,         // refused, it may try again

    // At the bus.
    output wire        want_bus_o,      // it wants to go there, held until the answer:
    input  wire        bus_rsp_i,
    input  wire [31:0] bus_rsp_data_i,
    input  wire [31:0] bus_rsp_written_i,

    output reg         done_o,          // in this cycle,
    output reg         wrote_o,         // and it is a store, too
    output reg  [31:0] read_o,          // its result
    output reg  [31:0] written_o,       // the word after it

    input  wire        abort_i,         // its transaction aborts: it will not be done,
    input  wire        flush_i          // and vanishes
);
    reg         busy_q, refused_q;
    reg  [3:0]  kind_q;
    reg  [31:0] addr_q, data_q, compare_q, issue_q;
    reg  [4:0]  amo_q, rd_q;
    reg  [7:0]  seq_q;

    wire cached = addr_q[31];
    assign want_o     = busy_q && cached && !refused_q;
    assign want_bus_o = busy_q && !cached && kind_q != `LSU_SC;
    assign op_o       = kind_q == `LSU_AMO ? `CACHE_AMO : kind_q == `LSU_LR ? `CACHE_LR : `CACHE_SC;

    always @* begin
        {done_o, wrote_o} = 2'd0;
        read_o = rsp_data_i;
        written_o = data_q;
        if (busy_q && !abort_i) begin
            done_o = bus_rsp_i || (flight_i && rsp_done_i);
            if (bus_rsp_i)
                read_o = bus_rsp_data_i;
            if (kind_q == `LSU_AMO) begin
                written_o = bus_rsp_i ? bus_rsp_written_i : rsp_written_i;
                wrote_o = done_o && (amo_q != 5'd5 || read_o == compare_q); // 5: amocas.w
            end else if (kind_q == `LSU_SC) begin
                if (!cached) begin
                    done_o = 1'b1;
                    read_o = 32'd1;
                end
                wrote_o = done_o && read_o == 32'd0;
            end
        end
    end

    always @(posedge clk_i)
        if (rst_i)
            {busy_q, refused_q} <= 2'd0;
        else if (busy_q || push_i || retry_i) begin
            if (retry_i)
                refused_q <= 1'b0;
            else if (flight_i && !rsp_done_i)
                refused_q <= 1'b1;
            if (done_o || flush_i)
                busy_q <= 1'b0;
            else if (push_i) begin
                busy_q    <= 1'b1;
                kind_q    <= push_kind_i;
                addr_q    <= push_addr_i;
                data_q    <= push_data_i;
                compare_q <= push_compare_i;
                issue_q   <= push_issue_i;
                amo_q     <= push_amo_i;
                rd_q      <= push_rd_i;
                seq_q     <= push_seq_i;
            end
        end
    assign busy_o    = busy_q;
    assign kind_o    = kind_q;
    assign addr_o    = addr_q;
    assign data_o    = data_q;
    assign compare_o = compare_q;
    assign amo_o     = amo_q;
    assign rd_o      = rd_q;
    assign seq_o     = seq_q;
    assign issue_o   = issue_q;
endmodule
`default_nettype wire
