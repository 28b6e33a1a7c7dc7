// SPDX-License-Identifier: Apache-2.0
// The register bus of firmware, from its clock to that of USB.
//
// Buffers answer in firmware's clock. A register is accessed in the other: a toggle goes over, the
// access is done there, and the toggle comes back. Address and data need no synchronisers: the bus
// holds them until ready, so they have stood still for two cycles when the toggle arrives; the word
// that was read stands still from before the toggle goes back until the next access. Nothing of it
// is reset, so that no toggle is ever missed or made up; an access that a reset of firmware's side
// cuts off is done, and its end waited for.
`default_nettype none
`include "check.vh"
module usb_bus (
    input  wire clk_i,
    input  wire rst_i,
    input  wire valid_i,
    input  wire slow_i,    // a register, not a buffer
    output wire first_o,   // the first cycle of an access
    output wire ready_o,

    input  wire clk48_i,
    output wire rst48_o,   // rst_i there; it must last for two cycles of clk48_i
    output wire access_o   // a pulse there: do it in this cycle
);
    reg [1:0] done_q;      // the first is there to settle
    reg       request_q, busy_q, ready_q;
    reg [2:0] access_q;    // likewise; the third is the toggle that goes back
    reg [1:0] run48_q;     // not in reset; without a clock it is
    initial begin
        done_q    = 2'd0;
        request_q = 1'b0;
        access_q  = 3'd0;
        run48_q   = 2'd0;
    end

    wire idle = request_q == done_q[1];
    assign first_o = valid_i && !ready_q && !busy_q && (idle || !slow_i);

    always @(posedge clk_i) begin
        done_q  <= {done_q[0], access_q[2]};
        if (first_o && slow_i && !rst_i)
            request_q <= !request_q;
        busy_q  <= !rst_i && (busy_q ? !idle : first_o && slow_i);
        ready_q <= !rst_i && (busy_q ? idle : first_o && !slow_i);
    end

    always @(posedge clk48_i) begin
        access_q <= {access_q[1:0], request_q};
        run48_q  <= {run48_q[0], !rst_i};
    end

    assign ready_o  = ready_q;
    assign access_o = access_q[2] != access_q[1];
    assign rst48_o  = !run48_q[1];

    `ASSERT(usb_bus_held, !busy_q || valid_i)
    `ASSERT(usb_bus_ready, !ready_q || valid_i)
endmodule
`default_nettype wire
