// SPDX-License-Identifier: Apache-2.0
// JTAG: the TAP, and the debug transport module of RISC-V debug 0.13 behind it.
//
// TCK, TMS, TDI are sampled by clk_i, so TCK may have at most a quarter of its frequency. TDO
// changes three cycles after TCK rose, and not when it falls: with the fastest TCK that is early
// enough, with a slow one late enough for whoever samples with the rising edge.
`default_nettype none
module jtag #(
    parameter [31:0] IDCODE = 32'h10000001 // bit 0 is 1; no manufacturer has this number
) (
    input  wire        clk_i,
    input  wire        rst_i,         // power-on
    input  wire        tck_i,
    input  wire        tms_i,
    input  wire        tdi_i,
    input  wire        trst_i,        // active high
    output wire        tdo_o,

    // Debug module interface: held until ready, when the word is there.
    output wire        dmi_valid_o,
    output wire        dmi_write_o,
    output wire [6:0]  dmi_addr_o,
    output wire [31:0] dmi_data_o,
    input  wire        dmi_ready_i,
    input  wire [31:0] dmi_data_i
);
    localparam [3:0] RESET = 0, IDLE = 1, SELECT_DR = 2, CAPTURE_DR = 3, SHIFT_DR = 4, EXIT1_DR = 5,
        PAUSE_DR = 6, EXIT2_DR = 7, UPDATE_DR = 8, SELECT_IR = 9, CAPTURE_IR = 10, SHIFT_IR = 11,
        EXIT1_IR = 12, PAUSE_IR = 13, EXIT2_IR = 14, UPDATE_IR = 15;
    localparam [4:0] IR_IDCODE = 5'h01, IR_DTMCS = 5'h10, IR_DMI = 5'h11; // all else: BYPASS

    reg [2:0] tck_q;
    reg [1:0] tms_q, tdi_q, trst_q;
    always @(posedge clk_i) begin
        tck_q  <= {tck_q[1:0], tck_i};
        tms_q  <= {tms_q[0], tms_i};
        tdi_q  <= {tdi_q[0], tdi_i};
        trst_q <= {trst_q[0], trst_i};
    end
    wire rises = tck_q[2:1] == 2'b01;
    wire tms   = tms_q[1];
    wire tdi   = tdi_q[1];

    // The state that the TAP is in; what belongs to it is done when TCK rises the next time.
    reg [3:0] state_q, next;
    always @*
        case (state_q)
            RESET:      next = tms ? RESET : IDLE;
            IDLE:       next = tms ? SELECT_DR : IDLE;
            SELECT_DR:  next = tms ? SELECT_IR : CAPTURE_DR;
            CAPTURE_DR: next = tms ? EXIT1_DR : SHIFT_DR;
            SHIFT_DR:   next = tms ? EXIT1_DR : SHIFT_DR;
            EXIT1_DR:   next = tms ? UPDATE_DR : PAUSE_DR;
            PAUSE_DR:   next = tms ? EXIT2_DR : PAUSE_DR;
            EXIT2_DR:   next = tms ? UPDATE_DR : SHIFT_DR;
            UPDATE_DR:  next = tms ? SELECT_DR : IDLE;
            SELECT_IR:  next = tms ? RESET : CAPTURE_IR;
            CAPTURE_IR: next = tms ? EXIT1_IR : SHIFT_IR;
            SHIFT_IR:   next = tms ? EXIT1_IR : SHIFT_IR;
            EXIT1_IR:   next = tms ? UPDATE_IR : PAUSE_IR;
            PAUSE_IR:   next = tms ? EXIT2_IR : PAUSE_IR;
            EXIT2_IR:   next = tms ? UPDATE_IR : SHIFT_IR;
            default:    next = tms ? SELECT_DR : IDLE; // UPDATE_IR
        endcase

    reg [4:0]  ir_q;
    reg [40:0] shift_q;       // its low bits, as many as the register has that is shifted
    reg        busy_q;        // a DMI access is under way
    reg [1:0]  error_q;       // 0: none; 3: one was asked for while another was under way
    reg [40:0] dmi_q;         // address, data, op
    wire       is_dmi   = ir_q == IR_DMI;
    wire       is_dtmcs = ir_q == IR_DTMCS;
    wire       is_id    = ir_q == IR_IDCODE;
    wire       late     = busy_q || error_q != 2'd0;

    always @(posedge clk_i) begin
        if (rst_i || trst_q[1])
            state_q <= RESET;
        else if (rises)
            state_q <= next;

        if (state_q == RESET)
            ir_q <= IR_IDCODE;
        else if (rises && state_q == UPDATE_IR)
            ir_q <= shift_q[4:0];

        if (rises)
            case (state_q)
                CAPTURE_IR: shift_q <= 41'd1;
                CAPTURE_DR: shift_q <= is_dmi ? {dmi_q[40:2], late ? 2'd3 : 2'd0}
                    : is_dtmcs ? {9'd0, 17'd0, 3'd0, error_q, 6'd7, 4'd1}
                    : is_id ? {9'd0, IDCODE} : 41'd0;
                SHIFT_IR: shift_q[4:0] <= {tdi, shift_q[4:1]};
                SHIFT_DR: begin
                    shift_q <= {tdi, shift_q[40:1]};
                    if (is_dtmcs || is_id) shift_q[31] <= tdi;
                    else if (!is_dmi) shift_q[0] <= tdi;
                end
                default: ;
            endcase

        if (busy_q && dmi_ready_i) begin
            busy_q <= 1'b0;
            if (dmi_q[1:0] == 2'd1) dmi_q[33:2] <= dmi_data_i;
        end
        if (rises && is_dmi && state_q == CAPTURE_DR && busy_q)
            error_q <= 2'd3;
        if (rises && state_q == UPDATE_DR) begin
            if (is_dmi && !late && shift_q[1] != shift_q[0]) begin // read, write
                dmi_q  <= shift_q;
                busy_q <= 1'b1;
            end
            if (is_dtmcs && (shift_q[16] || shift_q[17])) // dmireset, dmihardreset
                error_q <= 2'd0;
            if (is_dtmcs && shift_q[17])
                busy_q <= 1'b0;
        end
        if (rst_i) begin
            busy_q  <= 1'b0;
            error_q <= 2'd0;
            dmi_q   <= 41'd0;
        end
    end

    assign tdo_o       = shift_q[0];
    assign dmi_valid_o = busy_q;
    assign dmi_write_o = dmi_q[1];
    assign dmi_addr_o  = dmi_q[40:34];
    assign dmi_data_o  = dmi_q[33:2];
endmodule
`default_nettype wire
