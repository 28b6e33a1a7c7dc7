// SPDX-License-Identifier: Apache-2.0
// Inter-processor interrupts: a bit for each hart, set and cleared by uncached stores to its word
// of MAP_IPI, read by loads of it, cleared by the hart itself. When a store of 1 and the
// hart's own clearing meet, the store wins: no interrupt is lost.
`default_nettype none
`include "check.vh"
module ipi #(
    parameter NHARTS = 4
) (
    input  wire              clk_i,
    input  wire              rst_i,
    input  wire              valid_i, // an access to the word of hart_i, done in this cycle
    input  wire              write_i,
    input  wire [3:0]        hart_i,
    input  wire              data_i,
    output wire              data_o,  // the bit before it
    input  wire [NHARTS-1:0] clear_i, // ipi_clear of the harts
    output wire [NHARTS-1:0] ipi_o    // mip.MSIP of the harts
);
    reg [NHARTS-1:0] ipi_q;
    reg [NHARTS-1:0] chosen;

    assign data_o = |(ipi_q & chosen);
    assign ipi_o  = ipi_q;

    integer h;
    always @* begin
        chosen = {NHARTS{1'b0}};
        if (valid_i)
            for (h = 0; h < NHARTS; h = h + 1)
                chosen[h] = hart_i == h[3:0];
    end

    always @(posedge clk_i)
        if (rst_i)
            ipi_q <= {NHARTS{1'b0}};
        else
            ipi_q <= (ipi_q & ~clear_i & ~(write_i ? chosen : {NHARTS{1'b0}}))
                   | (write_i && data_i ? chosen : {NHARTS{1'b0}});

    `ASSERT(ipi_in_range, !valid_i || |chosen)
    `COVER(ipi_set_and_cleared, write_i && data_i && |(chosen & clear_i))
endmodule
`default_nettype wire
