// SPDX-License-Identifier: Apache-2.0
// A hint, a prefetch or flush, from its acceptance until the cache has done it: one at a time.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module lsu_hint (
    input  wire        clk_i,
    input  wire        rst_i,

    input  wire        push_i,          // only while not busy_o
    input  wire [3:0]  push_kind_i,     // LSU_FLUSH, LSU_PREFETCH_*
    input  wire [31:2] push_addr_i,
    output wire        busy_o,          // there is one

    // At the cache.
    output wire        want_o,          // it wants to go there
    output wire [3:0]  op_o,            // CACHE_*
    output wire [31:2] addr_o,
    input  wire        flight_i,        // it is there, and answered in this cycle:
    input  wire        rsp_done_i,      // performed, else refused
    input  wire        retry_i,         // refused, it may try again

    input  wire        flush_i          // its transaction aborts: it vanishes
);
    reg         busy_q, refused_q;
    reg  [3:0]  kind_q;
    reg  [31:2] addr_q;

    assign busy_o = busy_q;
    assign want_o = busy_q && !refused_q;
    assign op_o   = kind_q == `LSU_FLUSH ? `CACHE_FLUSH
        : kind_q == `LSU_PREFETCH_W ? `CACHE_PREFETCH_W : `CACHE_PREFETCH_R;
    assign addr_o = addr_q;

    always @(posedge clk_i)
        if (rst_i)
            {busy_q, refused_q} <= 2'd0;
        else if (busy_q || push_i || retry_i) begin
            if (retry_i)
                refused_q <= 1'b0;
            else if (flight_i && !rsp_done_i)
                refused_q <= 1'b1;
            if (flush_i || (flight_i && rsp_done_i))
                busy_q <= 1'b0;
            else if (push_i) begin
                busy_q <= 1'b1;
                kind_q <= push_kind_i;
                addr_q <= push_addr_i;
            end
        end

    `COVER(lsu_flush_waits, busy_q && refused_q)
endmodule
`default_nettype wire
