// SPDX-License-Identifier: Apache-2.0
// The hart that runs the firmware, as a lean one: it takes the place of ../board/monitor.v. Code,
// data and its registers are in one RAM; nobody reaches that but by way of the hart itself: the
// system bus of the debugger ends here.
`default_nettype none
module monitor #(
    parameter RAM_WORDS = 2048, // a power of two; the last 64 are the hart's own
    parameter FIRMWARE = "",
    parameter DEBUG = 1,
    parameter TRIGGER = 0
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire        bus_rst_i,
    input  wire [3:0]  hart_i,

    input  wire        dbg_rst_i,
    input  wire        dbg_halt_i,
    input  wire        dbg_resume_i,
    input  wire        dbg_insn_valid_i,
    input  wire [31:0] dbg_insn_i,
    output wire        dbg_halted_o,
    output wire        dbg_ack_o,
    output wire        dbg_fault_o,
    output wire [31:0] dbg_data_o,

    input  wire        sb_valid_i,
    input  wire        sb_write_i,
    input  wire [31:0] sb_addr_i,
    input  wire [3:0]  sb_be_i,
    input  wire [31:0] sb_wdata_i,
    output wire        sb_ready_o,
    output wire [31:0] sb_rdata_o,
    output wire        sb_error_o,

    output wire        dev_valid_o,
    output wire        usb_valid_o,
    output wire        reg_write_o,
    output wire [11:0] reg_addr_o,
    output wire [31:0] reg_wdata_o,
    input  wire        dev_ready_i,
    input  wire [31:0] dev_rdata_i,
    input  wire        usb_ready_i,
    input  wire [31:0] usb_rdata_i
);
    wire        valid, usb;
    wire [13:0] addr;
    wire        ready = usb ? usb_ready_i : dev_ready_i;

    // The watchdog does not break off an access: devices count on that.
    reg         late_q;
    wire        busy = valid && !ready;
    wire        rst  = bus_rst_i || (rst_i || late_q) && !busy;
    always @(posedge clk_i) late_q <= !bus_rst_i && (rst_i || late_q) && busy;

    reg  [31:0] word_q;
    always @(posedge clk_i) word_q <= usb ? usb_rdata_i : dev_rdata_i;

    wire [31:0] unused_loaded, unused_record, unused_pc;
    wire [15:0] unused_retired;
    wire [3:0]  unused_be;
    wire        unused_lock, unused_clear, unused_valid, unused_last, unused_done;
    lean #(
        .RAM_WORDS(RAM_WORDS), .MULTIPLY(0), .DEBUG(DEBUG), .MONITOR(1), .FIRMWARE(FIRMWARE)
    ) hart (
        .clk_i(clk_i), .rst_i(rst), .hart_i(hart_i), .random_i(1'b0),
        .cycle_i(32'd0), .load_we_i(1'b0), .load_addr_i(32'd0), .load_data_i(32'd0),
        .load_data_o(unused_loaded), .mem_valid_o(valid), .mem_lock_o(unused_lock),
        .mem_write_o(reg_write_o), .mem_other_o(usb), .mem_addr_o(addr),
        .mem_be_o(unused_be), .mem_data_o(reg_wdata_o), .mem_ready_i(ready), .mem_data_i(word_q),
        .inv_valid_i(1'b0), .inv_addr_i(14'd0), .ipi_i(1'b0),
        .ipi_clear_o(unused_clear), .rec_room_i(1'b1), .rec_valid_o(unused_valid),
        .rec_ready_i(1'b0), .rec_last_o(unused_last), .rec_data_o(unused_record),
        .done_o(unused_done), .pc_o(unused_pc), .retired_o(unused_retired),
        .dbg_rst_i(dbg_rst_i), .dbg_halt_i(dbg_halt_i),
        .dbg_resume_i(dbg_resume_i), .dbg_halted_o(dbg_halted_o),
        .dbg_insn_valid_i(dbg_insn_valid_i), .dbg_insn_i(dbg_insn_i), .dbg_ack_o(dbg_ack_o),
        .dbg_fault_o(dbg_fault_o), .dbg_data_o(dbg_data_o)
    );
    assign dev_valid_o = valid && !usb;
    assign usb_valid_o = valid && usb;
    assign reg_addr_o  = addr[11:0];

    assign sb_ready_o = 1'b1;
    assign sb_rdata_o = 32'd0;
    assign sb_error_o = 1'b1;
    wire unused = &{1'b0, addr, sb_valid_i, sb_write_i, sb_addr_i, sb_be_i, sb_wdata_i,
        unused_loaded, unused_record, unused_pc, unused_retired, unused_be, unused_lock,
        unused_clear, unused_valid, unused_last, unused_done};
endmodule
`default_nettype wire
