// SPDX-License-Identifier: Apache-2.0
// Chooses one of N: of those that may go the one that went longest ago, so that who is kept from
// going, by a busy line or a full queue, goes first as soon as it can. Nobody starves.
`default_nettype none
module bus_arbiter #(
    parameter N = 4
) (
    input  wire         clk_i,
    input  wire         rst_i,
    input  wire [N-1:0] may_i,
    output wire [N-1:0] grant_o, // one of them, if there is one
    input  wire         take_i   // it goes
);
    genvar i;
    generate for (i = 0; i < N; i = i + 1) begin : row
        localparam [31:0]  BIT  = 32'd1 << i;
        localparam [N-1:0] SELF = BIT[N-1:0];
        reg [N-1:0] before_q; // those that went longer ago than this one
        assign grant_o[i] = may_i[i] && (may_i & before_q) == {N{1'b0}};
        always @(posedge clk_i)
            if (rst_i)
                before_q <= SELF - 1'b1;
            else if (take_i)
                before_q <= grant_o[i] ? ~SELF : before_q & ~grant_o;
    end endgenerate
endmodule
`default_nettype wire
