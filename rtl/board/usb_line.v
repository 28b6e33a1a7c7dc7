// SPDX-License-Identifier: Apache-2.0
// The two wires as the device sees them: samples in step with the clock, the middle of each bit
// found in them, and what takes long: reset, suspend, a pause that is too long, one that is long
// enough to answer in.
`default_nettype none
`include "check.vh"
module usb_line (
    input  wire       clk_i,       // 48 MHz: four samples a bit
    input  wire       rst_i,
    input  wire       dp_i,        // as they are at the pins
    input  wire       dn_i,
    input  wire       attached_i,
    input  wire       sending_i,   // what the wires show is our own

    output wire       tick_o,      // once a bit, in its middle; also when sending
    output wire [1:0] phase_o,     // of the bit; the tick is in phase 1
    output wire       dp_o,        // the sample
    output wire       se0_o,
    output wire       answer_o,    // a tick: J has lasted long enough that others are off the wires
    output wire       timeout_o,   // a tick: nothing has moved for 17 bits
    output wire       reset_o,     // the host drives a reset, or there is none
    output wire       suspended_o,
    output wire       reset_end_o, // three pulses
    output wire       suspend_o,
    output wire       resume_o
);
    // The first of each is there to settle. The third is the sample that all others go by: the
    // second is the one after it.
    reg [2:0]  dp_q, dn_q;
    reg [1:0]  phase_q;
    reg [15:0] still_q;            // bits since the wires changed
    reg        reset_q, suspended_q;

    wire edge_dp = dp_q[2] != dp_q[1];
    wire change  = edge_dp || dn_q[2] != dn_q[1];
    wire j       = dp_q[2] && !dn_q[2];
    wire off     = rst_i || !attached_i;

    assign dp_o    = dp_q[2];
    assign se0_o   = !dp_q[2] && !dn_q[2];
    assign phase_o = phase_q;
    assign tick_o  = phase_q == 2'd1;

    // An edge of D+ is sample 0 of a bit, sample 2 of it is taken: half a bit to three quarters
    // after the edge. What D- does around an edge, and an SE0 of less than half a bit, is not seen.
    always @(posedge clk_i) begin
        dp_q    <= {dp_q[1:0], dp_i};
        dn_q    <= {dn_q[1:0], dn_i};
        phase_q <= edge_dp && !sending_i ? 2'd3 : phase_q + 2'd1;
    end

    always @(posedge clk_i)
        if (off || change || sending_i)
            still_q <= 16'd0;
        else if (tick_o)
            still_q <= still_q + 16'd1; // when it comes round nothing waits for it any longer

    // A reset after 32 bits of SE0 (2.7 us of the 2.5 to 10,000 that it may take), suspended after
    // 36,864 of J (3.07 ms of 3 to 10).
    always @(posedge clk_i)
        if (off) begin
            reset_q     <= 1'b0;
            suspended_q <= 1'b0;
        end else begin
            reset_q     <= se0_o && (reset_q || still_q[5]);
            suspended_q <= j && (suspended_q || still_q[15] && still_q[12]);
        end

    assign answer_o    = tick_o && j && still_q[1:0] == 2'd2;
    assign timeout_o   = tick_o && still_q[4] && still_q[0];
    assign reset_o     = reset_q || !attached_i;
    assign suspended_o = suspended_q;
    assign reset_end_o = reset_q && !se0_o;
    assign suspend_o   = !suspended_q && j && still_q[15] && still_q[12];
    assign resume_o    = suspended_q && !j;

    `ASSERT(usb_line_reset_or_suspended, !(reset_q && suspended_q))
    `COVER(usb_line_early_edge, edge_dp && !sending_i && phase_q == 2'd1)
    `COVER(usb_line_late_edge, edge_dp && !sending_i && phase_q == 2'd3)
    `COVER(usb_line_reset, reset_end_o)
    `COVER(usb_line_suspend, suspend_o)
    `COVER(usb_line_resume, resume_o)
endmodule
`default_nettype wire
