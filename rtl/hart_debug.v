// SPDX-License-Identifier: Apache-2.0
// Debug mode of a hart: when it halts, why it did, its debug CSRs. debug.v is at the other end.
//
// A hart that is halted keeps its next pc, dpc, where it always is, and carries out what debug.v
// gives it instead of its code. A hart in reset halts, too, when it is asked to: rst_o then is 0
// although rst_i is 1, so that it can be looked at; resumed, it is in reset again. The beginning of
// a reset ends debug mode.
`default_nettype none
module hart_debug #(
    parameter TRIGGER = 0,         // 1: a breakpoint in hardware
    parameter [31:0] MISA = 32'd0
) (
    input  wire        clk_i,
    input  wire        dbg_rst_i,  // power-on
    input  wire        rst_i,      // of the hart, as it is asked for,
    output wire        rst_o,      // and as it is

    input  wire        halt_i,
    input  wire        resume_i,
    output wire        halted_o,
    output wire        stop_o,     // no more instructions: halts_i as soon as it can be
    output wire        ebreakm_o,  // so does an ebreak
    input  wire        halts_i,    // for one of these
    input  wire        ebreak_i,   // an ebreak would be next
    output wire        step_o,     // one instruction only: wfi does not wait, no interrupts
    input  wire        over_i,     // an instruction is over

    input  wire        take_i,     // an instruction comes to X,
    input  wire [31:2] take_pc_i,  // from there

    // CSRs, in debug mode
    input  wire [11:0] csr_addr_i,
    output reg  [31:0] csr_data_o, // 0: of others
    input  wire        csr_write_i,
    input  wire [31:0] csr_value_i,
    input  wire [31:0] code_i      // the word at dpc
);
    localparam [2:0] EBREAK = 1, HIT = 2, REQUEST = 3, STEP = 4;

    reg       halted_q, rst_q, ebreakm_q, step_q, stepped_q;
    reg [2:0] cause_q;
    wire      hit;
    wire [31:0] tdata1, tdata2;

    assign rst_o     = rst_i && !(rst_q && halted_q);
    assign halted_o  = halted_q;
    assign stop_o    = !halted_q && (halt_i || step_q && stepped_q || hit);
    assign ebreakm_o = ebreakm_q;
    assign step_o    = step_q && !halted_q;

    always @(posedge clk_i) begin
        rst_q <= rst_i;
        if (resume_i) stepped_q <= 1'b0;
        else if (over_i) stepped_q <= 1'b1;
        if (rst_i && !rst_q) begin // a reset begins
            halted_q  <= 1'b0;
            ebreakm_q <= 1'b0;
            step_q    <= 1'b0;
        end else if (rst_i && !halted_q) begin
            halted_q <= halt_i;
            cause_q  <= REQUEST;
        end else if (halts_i) begin
            halted_q <= 1'b1;
            cause_q  <= hit ? HIT : step_q && stepped_q ? STEP : ebreak_i ? EBREAK : REQUEST;
        end else if (resume_i)
            halted_q <= 1'b0;
        if (csr_write_i && csr_addr_i == 12'h7b0)
            {ebreakm_q, step_q} <= {csr_value_i[15], csr_value_i[2]};
        if (dbg_rst_i) begin
            halted_q  <= 1'b0;
            ebreakm_q <= 1'b0;
            step_q    <= 1'b0;
        end
    end

    generate if (TRIGGER != 0) begin : trigger
        reg        armed_q, hit_q;
        reg [31:2] address_q;
        always @(posedge clk_i) begin
            if (take_i || halts_i) hit_q <= !halts_i && armed_q && take_pc_i == address_q;
            // Before the instruction at an address, to debug mode, and nothing else
            if (csr_write_i && csr_addr_i == 12'h7a1)
                armed_q <= {csr_value_i[15:12], csr_value_i[10:6], csr_value_i[2:0]} == 12'h10c;
            if (csr_write_i && csr_addr_i == 12'h7a2) address_q <= csr_value_i[31:2];
            if (dbg_rst_i) {armed_q, hit_q} <= 2'd0;
        end
        assign hit    = hit_q;
        assign tdata1 = {4'd2, armed_q, 14'd0, armed_q, 5'd0, armed_q, 3'd0, armed_q, 2'd0};
        assign tdata2 = {address_q, 2'd0};
    end else begin : no_trigger
        assign hit    = 1'b0;
        assign tdata1 = 32'd0;
        assign tdata2 = 32'd0;
        wire unused = &{1'b0, take_i, take_pc_i};
    end endgenerate

    always @*
        case (csr_addr_i)
            12'h301: csr_data_o = MISA;
            12'h7a1: csr_data_o = tdata1; // tselect reads as 0: there is but one
            12'h7a2: csr_data_o = tdata2;
            12'h7b0: csr_data_o = {4'd4, 12'd0, ebreakm_q, 6'd0, cause_q, 3'd0, step_q, 2'd3};
            12'h7b4: csr_data_o = code_i;
            default: csr_data_o = 32'd0;
        endcase

    wire unused_value = &{1'b0, csr_value_i};
endmodule
`default_nettype wire
