// SPDX-License-Identifier: Apache-2.0
// A board: the machine on trial with all that is around it (BOARD.md). Clocks, pins and sizes are
// its top's.
`default_nettype none
`include "soc.vh"
`include "board.vh"
module board #(
    parameter NHARTS = 4,
    parameter SETS = 16,
    parameter WAYS = 2,
    parameter LINE_WORDS = 4,
    parameter SB_DEPTH = 8,
    parameter LQ_DEPTH = 4,
    parameter MSHRS = 2,
    parameter WB_DEPTH = 2,
    parameter TXNS = 4,
    parameter MEMORY_WORDS = 16384,
    parameter CODE_WORDS = 4096,
    parameter CAPTURE_DEPTH = 64,
    parameter VISIBLE = 1,
    parameter COUNTERS = 1,
    parameter MULDIV = 1,
    parameter TM = 1,
    parameter DELAYS = 1,
    parameter ZOO = 1,
    parameter MODEL = 4,                   // as soc.v
    parameter RAM_WORDS = 16384,           // of the monitor
    parameter RAM_OWN = 0,                 // of these, the last: not for firmware (../lean/)
    parameter FIRMWARE = "",               // in it at power-on
    parameter TRIGGER = 1,                 // a breakpoint in hardware for every hart
    parameter BUS = 1,                     // 0: the debugger has no way to the monitor's bus
    parameter USB_ERROR_BITS = 16,         // of the counters of usb.v
    parameter FIFO_WORDS = 64,             // of the capture stream, for the monitor
    parameter [31:0] CLOCK = 32'd12000000, // Hz of clk_i
    parameter [31:0] BUILD = 32'd0,
    parameter [31:0] IDCODE = 32'h1000_0001
) (
    input  wire clk_i,
    input  wire rst_i,                     // power-on; synchronous to clk_i
    input  wire clk48_i,
    input  wire [31:0] serial_i,           // a number of its own, constant

    input  wire usb_dp_i,
    input  wire usb_dn_i,
    output wire usb_dp_o,
    output wire usb_dn_o,
    output wire usb_oe_o,
    output wire usb_pullup_o,

    input  wire tck_i,
    input  wire tms_i,
    input  wire tdi_i,
    input  wire trst_i,
    output wire tdo_o,

    output wire running_o,                 // a test runs: for a light
    output wire broken_o                   // on purpose: a bug is chosen
);
    localparam DHARTS = NHARTS + 1;        // of the debug module: the monitor is the last
    localparam [31:0] MONITOR = NHARTS;
    localparam [31:0] FLAGS = {31'd0, TM != 0} << `FLAG_TRANSACTIONS
        | {31'd0, ZOO != 0} << `FLAG_BUGS | {31'd0, MULDIV != 0} << `FLAG_MULDIV
        | {31'd0, COUNTERS != 0} << `FLAG_COUNTERS | {31'd0, VISIBLE != 0} << `FLAG_VISIBLE
        | {31'd0, DELAYS != 0} << `FLAG_DELAYS | 32'd1 << `FLAG_MONITOR;
    function [511:0] parameter_word(input [3:0] place, input [31:0] value);
        parameter_word = {480'd0, value} << {place, 5'd0};
    endfunction
    localparam [511:0] PARAMETERS = parameter_word(`PARAM_HARTS, NHARTS)
        | parameter_word(`PARAM_SETS, SETS) | parameter_word(`PARAM_WAYS, WAYS)
        | parameter_word(`PARAM_LINE_BYTES, LINE_WORDS * 4)
        | parameter_word(`PARAM_STORE_BUFFER, SB_DEPTH)
        | parameter_word(`PARAM_LOAD_QUEUE, LQ_DEPTH)
        | parameter_word(`PARAM_MEMORY_BYTES, MEMORY_WORDS * 4)
        | parameter_word(`PARAM_CODE_BYTES, CODE_WORDS * 4)
        | parameter_word(`PARAM_CAPTURE, CAPTURE_DEPTH) | parameter_word(`PARAM_FLAGS, FLAGS)
        | parameter_word(`PARAM_MODEL, MODEL)
        | parameter_word(`PARAM_RAM_BYTES, (RAM_WORDS - RAM_OWN) * 4);

    wire [DHARTS-1:0]    dbg_halt, dbg_halted, dbg_resume, dbg_insn_valid, dbg_ack, dbg_fault;
    wire [DHARTS*32-1:0] dbg_data;
    wire [31:0]          dbg_insn;
    wire                 ndmreset, monitor_rst, soc_rst;

    wire                 sb_valid, sb_write, sb_ready, sb_error;
    wire [31:0]          sb_addr, sb_wdata, sb_rdata;
    wire [3:0]           sb_be;
    wire                 dev_valid, usb_valid, reg_write, dev_ready, usb_ready;
    wire [11:0]          reg_addr;
    wire [31:0]          reg_wdata, dev_rdata, usb_rdata;

    monitor #(.RAM_WORDS(RAM_WORDS), .FIRMWARE(FIRMWARE), .TRIGGER(TRIGGER)) monitor (
        .clk_i(clk_i), .rst_i(monitor_rst), .bus_rst_i(rst_i || ndmreset), .hart_i(MONITOR[3:0]),
        .dbg_rst_i(rst_i),
        .dbg_halt_i(dbg_halt[NHARTS]), .dbg_resume_i(dbg_resume[NHARTS]),
        .dbg_insn_valid_i(dbg_insn_valid[NHARTS]), .dbg_insn_i(dbg_insn),
        .dbg_halted_o(dbg_halted[NHARTS]), .dbg_ack_o(dbg_ack[NHARTS]),
        .dbg_fault_o(dbg_fault[NHARTS]), .dbg_data_o(dbg_data[NHARTS*32 +: 32]),
        .sb_valid_i(sb_valid), .sb_write_i(sb_write), .sb_addr_i(sb_addr), .sb_be_i(sb_be),
        .sb_wdata_i(sb_wdata), .sb_ready_o(sb_ready), .sb_rdata_o(sb_rdata),
        .sb_error_o(sb_error), .dev_valid_o(dev_valid), .usb_valid_o(usb_valid),
        .reg_write_o(reg_write), .reg_addr_o(reg_addr), .reg_wdata_o(reg_wdata),
        .dev_ready_i(dev_ready), .dev_rdata_i(dev_rdata), .usb_ready_i(usb_ready),
        .usb_rdata_i(usb_rdata)
    );

    wire [1:0]  model;
    wire [6:0]  bug;
    wire [31:0] seed, load_addr, load_wdata, load_rdata, out_data, peek_data;
    wire [2:0]  level;
    wire        lossy, visible, load_valid, load_code, out_valid, out_ready, out_room, out_last,
                idle;
    wire [3:0]  load_hart, peek_hart;
    wire [5:0]  peek;
    wire [NHARTS-1:0] done;
    wire [15:0] done_all;
    assign done_all = {{16-NHARTS{1'b0}}, done};

    devices #(
        .BUILD(BUILD), .CLOCK(CLOCK), .FIFO_WORDS(FIFO_WORDS), .PARAMETERS(PARAMETERS)
    ) devices (
        .clk_i(clk_i), .rst_i(rst_i), .serial_i(serial_i),
        .reg_valid_i(dev_valid), .reg_write_i(reg_write),
        .reg_addr_i(reg_addr), .reg_wdata_i(reg_wdata), .reg_ready_o(dev_ready),
        .reg_rdata_o(dev_rdata), .debug_reset_i(ndmreset), .monitor_halted_i(dbg_halted[NHARTS]),
        .monitor_reset_o(monitor_rst), .soc_rst_o(soc_rst), .model_o(model), .bug_o(bug),
        .seed_o(seed), .level_o(level), .lossy_o(lossy), .visible_o(visible),
        .load_valid_o(load_valid), .load_code_o(load_code), .load_hart_o(load_hart),
        .load_addr_o(load_addr), .load_data_o(load_wdata), .load_data_i(load_rdata),
        .out_valid_i(out_valid), .out_ready_o(out_ready), .out_room_o(out_room),
        .out_data_i(out_data),
        .done_i(done_all), .idle_i(idle), .peek_hart_o(peek_hart), .peek_o(peek),
        .peek_i(peek_data)
    );

    soc #(
        .NHARTS(NHARTS), .SETS(SETS), .WAYS(WAYS), .LINE_WORDS(LINE_WORDS), .SB_DEPTH(SB_DEPTH),
        .LQ_DEPTH(LQ_DEPTH), .MSHRS(MSHRS), .WB_DEPTH(WB_DEPTH), .TXNS(TXNS),
        .MEMORY_WORDS(MEMORY_WORDS), .CODE_WORDS(CODE_WORDS), .CAPTURE_DEPTH(CAPTURE_DEPTH),
        .VISIBLE(VISIBLE), .COUNTERS(COUNTERS), .MULDIV(MULDIV), .TM(TM), .DELAYS(DELAYS),
        .ZOO(ZOO), .MODEL(MODEL), .DEBUG(1), .TRIGGER(TRIGGER)
    ) soc (
        .clk_i(clk_i), .rst_i(soc_rst), .model_i(model), .bug_i(bug), .seed_i(seed),
        .level_i(level), .lossy_i(lossy), .visible_i(visible), .load_valid_i(load_valid),
        .load_code_i(load_code), .load_hart_i(load_hart), .load_addr_i(load_addr),
        .load_data_i(load_wdata), .load_data_o(load_rdata), .out_valid_o(out_valid),
        .out_ready_i(out_ready), .out_room_i(out_room), .out_data_o(out_data),
        .out_last_o(out_last), .done_o(done), .idle_o(idle), .peek_hart_i(peek_hart),
        .peek_i(peek), .peek_o(peek_data),
        .dbg_rst_i(rst_i), .dbg_halt_i(dbg_halt[NHARTS-1:0]),
        .dbg_resume_i(dbg_resume[NHARTS-1:0]), .dbg_insn_valid_i(dbg_insn_valid[NHARTS-1:0]),
        .dbg_insn_i(dbg_insn), .dbg_halted_o(dbg_halted[NHARTS-1:0]),
        .dbg_ack_o(dbg_ack[NHARTS-1:0]), .dbg_fault_o(dbg_fault[NHARTS-1:0]),
        .dbg_data_o(dbg_data[NHARTS*32-1:0])
    );

    usb #(.ERROR_BITS(USB_ERROR_BITS)) usb (
        .clk48_i(clk48_i), .dp_i(usb_dp_i), .dn_i(usb_dn_i), .dp_o(usb_dp_o), .dn_o(usb_dn_o),
        .oe_o(usb_oe_o), .pullup_o(usb_pullup_o), .clk_i(clk_i), .rst_i(rst_i || ndmreset),
        .reg_valid_i(usb_valid), .reg_write_i(reg_write), .reg_addr_i(reg_addr),
        .reg_wdata_i(reg_wdata), .reg_ready_o(usb_ready), .reg_rdata_o(usb_rdata)
    );

    wire        dmi_valid, dmi_write, dmi_ready;
    wire [6:0]  dmi_addr;
    wire [31:0] dmi_wdata, dmi_rdata;

    jtag #(.IDCODE(IDCODE)) jtag (
        .clk_i(clk_i), .rst_i(rst_i), .tck_i(tck_i), .tms_i(tms_i), .tdi_i(tdi_i),
        .trst_i(trst_i), .tdo_o(tdo_o), .dmi_valid_o(dmi_valid), .dmi_write_o(dmi_write),
        .dmi_addr_o(dmi_addr), .dmi_data_o(dmi_wdata), .dmi_ready_i(dmi_ready),
        .dmi_data_i(dmi_rdata)
    );

    debug #(.HARTS(DHARTS), .MONITOR(1), .CODE_BYTES(CODE_WORDS * 4), .BUS(BUS)) debug (
        .clk_i(clk_i), .rst_i(rst_i), .dmi_valid_i(dmi_valid), .dmi_write_i(dmi_write),
        .dmi_addr_i(dmi_addr), .dmi_data_i(dmi_wdata), .dmi_ready_o(dmi_ready),
        .dmi_data_o(dmi_rdata), .ndmreset_o(ndmreset),
        .reset_i({monitor_rst, {NHARTS{soc_rst}}}), .halt_o(dbg_halt), .halted_i(dbg_halted),
        .resume_o(dbg_resume), .insn_valid_o(dbg_insn_valid), .insn_o(dbg_insn),
        .ack_i(dbg_ack), .fault_i(dbg_fault), .data_i(dbg_data), .sb_valid_o(sb_valid),
        .sb_write_o(sb_write), .sb_addr_o(sb_addr), .sb_be_o(sb_be), .sb_wdata_o(sb_wdata),
        .sb_ready_i(sb_ready), .sb_rdata_i(sb_rdata), .sb_error_i(sb_error)
    );

    assign running_o = !soc_rst;
    assign broken_o  = bug != 7'd0;
    wire unused = &{1'b0, out_last};
endmodule
`default_nettype wire
