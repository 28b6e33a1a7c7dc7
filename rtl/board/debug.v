// SPDX-License-Identifier: Apache-2.0
// The debug module of RISC-V debug 0.13.2, for all harts: the machine's, then the monitor.
//
// Here are its registers and what it asks of harts; debug_command.v carries out abstract commands,
// debug_bus.v the accesses to the system bus. No program buffer, no hart arrays. Every access over
// the DMI is answered at once.
`default_nettype none
module debug #(
    parameter HARTS = 1,           // 1 to 17
    parameter MONITOR = 0,         // 1: the last has its code where its loads find it
    parameter CODE_BYTES = 16384,  // of the others
    parameter BUS = 1              // 0: no system-bus access
) (
    input  wire                clk_i,
    input  wire                rst_i,       // power-on

    input  wire                dmi_valid_i,
    input  wire                dmi_write_i,
    input  wire [6:0]          dmi_addr_i,
    input  wire [31:0]         dmi_data_i,
    output wire                dmi_ready_o,
    output wire [31:0]         dmi_data_o,

    output wire                ndmreset_o,  // resets all but jtag.v and this

    input  wire [HARTS-1:0]    reset_i,     // a hart is being reset
    output wire [HARTS-1:0]    halt_o,      // requests, level
    output wire [HARTS-1:0]    resume_o,    // until halted_i falls
    input  wire [HARTS-1:0]    halted_i,
    output wire [HARTS-1:0]    insn_valid_o, // to a halted hart, until ack_i
    output wire [31:0]         insn_o,
    input  wire [HARTS-1:0]    ack_i,       // it was done,
    input  wire [HARTS-1:0]    fault_i,     // or raised an exception; one cycle
    input  wire [HARTS*32-1:0] data_i,      // its result

    output wire                sb_valid_o,  // a word, until ready
    output wire                sb_write_o,
    output wire [31:0]         sb_addr_o,
    output wire [3:0]          sb_be_o,
    output wire [31:0]         sb_wdata_o,
    input  wire                sb_ready_i,
    input  wire [31:0]         sb_rdata_i,
    input  wire                sb_error_i   // nothing is there
);
    localparam W_HART = HARTS > 1 ? $clog2(HARTS) : 1;
    localparam [31:0] LAST = HARTS - 1;
    localparam [6:0] DATA0 = 7'h04, DATA1 = 7'h05, DMCONTROL = 7'h10, DMSTATUS = 7'h11,
        ABSTRACTCS = 7'h16, COMMAND = 7'h17, SBCS = 7'h38, SBADDRESS0 = 7'h39, SBDATA0 = 7'h3c,
        HALTSUM0 = 7'h40;

    wire        write = dmi_valid_i && dmi_write_i;
    wire        read  = dmi_valid_i && !dmi_write_i;
    wire [31:0] data  = dmi_data_i;
    assign dmi_ready_o = dmi_valid_i;

    // ---- harts ----------------------------------------------------------------------------------

    wire              busy;                         // with a command
    reg               active_q, ndmreset_q;
    reg  [W_HART-1:0] hart_q;                       // hartsel
    reg  [HARTS-1:0]  halt_q, resume_q, resumed_q;  // requests; resumeack
    reg  [HARTS-1:0]  reset_q, havereset_q;
    wire              control = write && dmi_addr_i == DMCONTROL;
    wire [W_HART-1:0] hart    = control ? data[16 +: W_HART] : hart_q; // a write counts for it

    function [HARTS-1:0] one(input [W_HART-1:0] number); // none if there is no such hart
        integer h;
        for (h = 0; h < HARTS; h = h + 1)
            one[h] = number == h[W_HART-1:0];
    endfunction
    wire [HARTS-1:0] selected = one(hart_q);
    wire [HARTS-1:0] meant    = one(hart);
    wire             absent   = selected == 0;

    always @(posedge clk_i) begin
        reset_q     <= reset_i;
        havereset_q <= (control && data[28] ? havereset_q & ~meant : havereset_q)
            | reset_i & ~reset_q | {HARTS{ndmreset_q}};
        resume_q    <= resume_q & halted_i;
        resumed_q   <= resumed_q | resume_q & ~halted_i;
        if (control) begin
            if (!busy) hart_q <= hart; // a command goes on with its hart
            active_q   <= data[0];
            ndmreset_q <= data[1];
            halt_q     <= data[31] ? halt_q | meant : halt_q & ~meant;
            if (data[30] && !data[31]) begin
                resume_q  <= resume_q & halted_i | halted_i & meant;
                resumed_q <= resumed_q & ~meant;
            end
        end
        if (rst_i || !active_q && !(control && data[0])) begin
            active_q   <= 1'b0;
            ndmreset_q <= 1'b0;
            hart_q     <= 0;
            halt_q     <= 0;
            resume_q   <= 0;
            resumed_q  <= 0;
        end
        if (rst_i) havereset_q <= {HARTS{1'b1}};
    end
    assign ndmreset_o = ndmreset_q;
    assign halt_o     = halt_q;
    assign resume_o   = resume_q | {HARTS{ndmreset_q}}; // nor is one that was in reset halted then

    wire halted    = (halted_i & selected) != 0;
    wire resumed   = (resumed_q & selected) != 0;
    wire havereset = (havereset_q & selected) != 0;
    wire running   = !absent && !halted;

    // ---- abstract commands ----------------------------------------------------------------------

    wire        insn_valid;
    wire [2:0]  cmderr;
    wire [31:0] data0, data1;
    reg  [31:0] result;
    integer     i;
    always @* begin
        result = 32'd0;
        for (i = 0; i < HARTS; i = i + 1)
            result = result | {32{selected[i]}} & data_i[i*32 +: 32];
    end
    debug_command #(.CODE_BYTES(CODE_BYTES)) commands (
        .clk_i(clk_i), .rst_i(rst_i || !active_q), .halted_i(halted),
        .monitor_i(MONITOR != 0 && hart_q == LAST[W_HART-1:0]),
        .write_data0_i(write && dmi_addr_i == DATA0), .write_data1_i(write && dmi_addr_i == DATA1),
        .write_command_i(write && dmi_addr_i == COMMAND),
        .write_abstractcs_i(write && dmi_addr_i == ABSTRACTCS),
        .read_data_i(read && (dmi_addr_i == DATA0 || dmi_addr_i == DATA1)), .data_i(data),
        .busy_o(busy), .cmderr_o(cmderr), .data0_o(data0), .data1_o(data1),
        .insn_valid_o(insn_valid), .insn_o(insn_o), .ack_i((ack_i & selected) != 0),
        .fault_i((fault_i & selected) != 0), .result_i(result));
    assign insn_valid_o = {HARTS{insn_valid}} & selected;

    // ---- the system bus -------------------------------------------------------------------------

    wire [31:0] sbcs, sbaddress, sbdata;
    generate if (BUS != 0) begin : system_bus
        debug_bus bus (
            .clk_i(clk_i), .rst_i(rst_i || !active_q),
            .write_sbcs_i(write && dmi_addr_i == SBCS),
            .write_address_i(write && dmi_addr_i == SBADDRESS0),
            .write_data_i(write && dmi_addr_i == SBDATA0),
            .read_data_i(read && dmi_addr_i == SBDATA0), .data_i(data),
            .sbcs_o(sbcs), .address_o(sbaddress), .data_o(sbdata),
            .sb_valid_o(sb_valid_o), .sb_write_o(sb_write_o), .sb_addr_o(sb_addr_o),
            .sb_be_o(sb_be_o), .sb_wdata_o(sb_wdata_o), .sb_ready_i(sb_ready_i),
            .sb_rdata_i(sb_rdata_i), .sb_error_i(sb_error_i));
    end else begin : no_system_bus
        assign {sbcs, sbaddress, sbdata}           = 96'd0;
        assign {sb_valid_o, sb_write_o}            = 2'd0;
        assign {sb_addr_o, sb_be_o, sb_wdata_o}    = 68'd0;
        wire unused = &{1'b0, sb_ready_i, sb_rdata_i, sb_error_i, read};
    end endgenerate

    // ---- reading --------------------------------------------------------------------------------

    wire [19:0] hartsel = {{20-W_HART{1'b0}}, hart_q};
    reg  [31:0] word;
    always @*
        case (dmi_addr_i)
            DATA0:      word = data0;
            DATA1:      word = data1;
            DMCONTROL:  word = {6'd0, hartsel[9:0], hartsel[19:10], 4'd0, ndmreset_q, active_q};
            DMSTATUS:   word = {12'd0, {2{havereset}}, {2{resumed}}, {2{absent}}, 2'd0,
                {2{running}}, {2{halted}}, 8'h82}; // authenticated, version 0.13
            ABSTRACTCS: word = {19'd0, busy, 1'b0, cmderr, 8'd2}; // two data registers
            SBCS:       word = sbcs;
            SBADDRESS0: word = sbaddress;
            SBDATA0:    word = sbdata;
            HALTSUM0:   word = {{32-HARTS{1'b0}}, halted_i};
            default:    word = 32'd0; // hartinfo, nextdm and the like: all 0
        endcase
    assign dmi_data_o = word;
endmodule
`default_nettype wire
