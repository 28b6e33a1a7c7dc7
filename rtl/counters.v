// SPDX-License-Identifier: Apache-2.0
// The event counters of a hart: `EVENTS of 32 bits, of what soc.def lists; cleared by reset alone.
//
// They come in groups, so that a simulator that finds no event in a group has nothing to do for it.
// With COUNTERS = 0 nothing remains but zeros to read.
`default_nettype none
`include "soc.vh"
module counters #(
    parameter COUNTERS = 1
) (
    input  wire               clk_i,
    input  wire               rst_i,
    input  wire [`EVENTS-1:0] event_i, // bit e: EVENT e happened in this cycle
    input  wire               peek_i,
    input  wire [5:0]         which_i,
    output wire [31:0]        count_o  // in the same cycle; 0 without peek_i, or if there is none
);
    localparam GROUP = 6;

    generate if (COUNTERS == 0) begin : none
        wire unused = &{1'b0, clk_i, rst_i, event_i, peek_i, which_i};
        assign count_o = 32'd0;
    end else begin : some
        (* mem2reg *) reg [31:0] count_q [0:`EVENTS-1];
        wire [`EVENTS-1:0] group = {{(`EVENTS-GROUP){1'b0}}, {GROUP{1'b1}}};
        integer g, e;
        // Blocking, since nobody reads them at the edge: a simulator need not keep two of each.
        always @(posedge clk_i)
            if (rst_i)
                for (e = 0; e < `EVENTS; e = e + 1)
                    count_q[e] = 32'd0;
            else if (event_i != 0)
                for (g = 0; g < `EVENTS; g = g + GROUP)
                    if ((event_i >> g & group) != 0)
                        for (e = g; e < g + GROUP && e < `EVENTS; e = e + 1)
                            if (event_i[e])
                                count_q[e] = count_q[e] + 32'd1;
        assign count_o = peek_i && which_i < `EVENTS ? count_q[which_i] : 32'd0;
    end endgenerate
endmodule
`default_nettype wire
