// SPDX-License-Identifier: Apache-2.0
// The hart that runs the firmware, its RAM, and the bus on which it and the debugger's system-bus
// access reach that RAM, the devices and the USB core.
//
// It is a hart like those on trial, with neither cache nor load/store unit: an access is over
// before the next begins. Fetches have a port of the RAM to themselves.
`default_nettype none
`include "soc.vh"
`include "board.vh"
module monitor #(
    parameter RAM_WORDS = 16384, // a power of two
    parameter FIRMWARE = "",     // words in hex that are in the RAM at power-on; "": none
    parameter DEBUG = 1,
    parameter TRIGGER = 0
) (
    input  wire        clk_i,
    input  wire        rst_i,          // of the hart: the RAM and the bus go on
    input  wire        bus_rst_i,      // of the bus, with the devices on it
    input  wire [3:0]  hart_i,         // its number

    // As hart.v has them.
    input  wire        dbg_rst_i,
    input  wire        dbg_halt_i,
    input  wire        dbg_resume_i,
    input  wire        dbg_insn_valid_i,
    input  wire [31:0] dbg_insn_i,
    output wire        dbg_halted_o,
    output wire        dbg_ack_o,
    output wire        dbg_fault_o,
    output wire [31:0] dbg_data_o,

    // Another master. Held until ready, one cycle, when the word is there; error: nothing is there.
    input  wire        sb_valid_i,
    input  wire        sb_write_i,
    input  wire [31:0] sb_addr_i,
    input  wire [3:0]  sb_be_i,
    input  wire [31:0] sb_wdata_i,     // in its lanes
    output wire        sb_ready_o,
    output wire [31:0] sb_rdata_o,
    output wire        sb_error_o,

    // The register bus, of both masters
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
    localparam AW = $clog2(RAM_WORDS);

    // ---- the hart -----------------------------------------------------------------------------

    wire [31:0] code_addr, op_addr, op_data;
    reg  [31:0] code_data_q;
    wire        op_valid, op_ready, op_unsigned;
    wire [3:0]  op_kind;
    wire [1:0]  op_size;
    wire [4:0]  op_rd;
    reg         wb_valid_q, wb_unsigned_q, wb_ram_q;
    reg  [4:0]  wb_rd_q;
    reg  [1:0]  wb_lane_q, wb_size_q;
    reg  [31:0] wb_word_q, wb_data;
    reg  [31:0] ram_word_q;

    wire [31:0] unused_compare, unused_pc, unused_retired, unused_wait_addr, unused_code_wdata;
    wire [4:0]  unused_amo;
    wire [3:0]  unused_cause, unused_wait;
    wire [`EVENT_BRANCH_TAKEN:0] unused_events;
    wire [11:0] unused_hold_cycles;
    wire        unused_kill, unused_clear, unused_taken, unused_done, unused_code_we,
                unused_silent, unused_hold;
    hart #(
        .NHARTS(1), .MEMORY_WORDS(RAM_WORDS), .CODE_WORDS(RAM_WORDS), .MULDIV(0), .TM(0),
        .DELAYS(0), .MONITOR(1), .DEBUG(DEBUG), .TRIGGER(TRIGGER)
    ) hart (
        .clk_i(clk_i), .rst_i(rst_i), .hart_i(hart_i), .bug_i(7'd0), .seed_i(32'd0),
        .level_i(3'd0), .code_addr_o(code_addr), .code_data_i(code_data_q), .op_valid_o(op_valid),
        .op_ready_i(op_ready), .op_kind_o(op_kind), .op_addr_o(op_addr), .op_data_o(op_data),
        .op_compare_o(unused_compare), .op_amo_o(unused_amo), .op_size_o(op_size),
        .op_unsigned_o(op_unsigned), .op_rd_o(op_rd), .hold_o(unused_hold),
        .hold_cycles_o(unused_hold_cycles), .wb_valid_i(wb_valid_q), .wb_rd_i(wb_rd_q),
        .wb_data_i(wb_data), .tx_active_i(1'b0), .tx_abort_i(1'b0), .tx_status_i(32'd0),
        .tx_kill_o(unused_kill), .tx_kill_cause_o(unused_cause), .ipi_i(1'b0),
        .ipi_clear_o(unused_clear), .irq_taken_o(unused_taken), .done_o(unused_done),
        .pc_o(unused_pc), .retired_o(unused_retired), .wait_o(unused_wait),
        .wait_addr_o(unused_wait_addr), .events_o(unused_events), .dbg_rst_i(dbg_rst_i),
        .dbg_halt_i(dbg_halt_i), .dbg_resume_i(dbg_resume_i), .dbg_insn_valid_i(dbg_insn_valid_i),
        .dbg_insn_i(dbg_insn_i), .dbg_halted_o(dbg_halted_o), .dbg_ack_o(dbg_ack_o),
        .dbg_fault_o(dbg_fault_o), .dbg_data_o(dbg_data_o), .code_we_o(unused_code_we),
        .code_wdata_o(unused_code_wdata), .dbg_silent_o(unused_silent)
    );

    wire        op_load   = op_kind == `LSU_LOAD;
    wire        op_access = op_valid && (op_load || op_kind == `LSU_STORE);
    wire [31:0] op_lanes  = op_size == 2'd0 ? {4{op_data[7:0]}}
                          : op_size == 2'd1 ? {2{op_data[15:0]}} : op_data;
    wire [3:0]  op_be     = op_size == 2'd0 ? 4'b0001 << op_addr[1:0]
                          : op_size == 2'd1 ? 4'b0011 << op_addr[1:0] : 4'b1111;

    // ---- who has the bus ----------------------------------------------------------------------

    // The hart, unless the other waits and the hart had it last. Kept until the access is over,
    // which it comes to even if the hart is reset meanwhile: devices count on that.
    reg         busy_q, other_q; // an access goes on; it is, or the last was, the other's
    reg         write_q;         // of the one that goes on
    reg  [31:0] addr_q, wdata_q;
    wire        other = busy_q ? other_q : sb_valid_i && (!op_access || !other_q);
    wire        valid = busy_q || (other ? sb_valid_i : op_access);
    wire        write = busy_q ? write_q : other ? sb_write_i : !op_load;
    wire [31:0] addr  = busy_q ? addr_q : other ? sb_addr_i : op_addr;
    wire [31:0] wdata = busy_q ? wdata_q : other ? sb_wdata_i : op_lanes;
    wire [3:0]  be    = other ? sb_be_i : op_be; // of RAM alone, whose writes end at once

    wire in_ram  = ((addr ^ `BOARD_RAM) >> (AW + 2)) == 32'd0;
    wire in_dev  = ((addr ^ `BOARD_DEVICES) >> 12) == 32'd0;
    wire in_usb  = ((addr ^ `BOARD_USB) >> 12) == 32'd0;
    wire nowhere = !in_ram && !in_dev && !in_usb;

    // The other's reads of RAM take a cycle more; all else of RAM is done at once.
    reg  ram_read_q;
    wire ram_ends = in_ram && (write || !other || ram_read_q);
    wire ends     = valid && (nowhere || ram_ends || in_dev && dev_ready_i
        || in_usb && usb_ready_i);
    always @(posedge clk_i) begin
        busy_q  <= !bus_rst_i && valid && !ends;
        write_q <= write;
        addr_q  <= addr;
        wdata_q <= wdata;
        if (valid) other_q <= other;
        ram_read_q <= valid && in_ram && !ends;
    end

    assign dev_valid_o = valid && in_dev;
    assign usb_valid_o = valid && in_usb;
    assign reg_write_o = write;
    assign reg_addr_o  = addr[11:0];
    assign reg_wdata_o = wdata;
    wire [31:0] reg_word = in_dev ? dev_rdata_i : usb_rdata_i;

    assign sb_ready_o = other && ends;
    assign sb_error_o = nowhere;
    assign sb_rdata_o = in_ram ? ram_word_q : reg_word;

    // Fences and hints have nothing to wait for.
    assign op_ready = op_access ? !other && ends : op_valid;

    // ---- RAM ----------------------------------------------------------------------------------

    (* no_rw_check *)
    reg [31:0] array [0:RAM_WORDS-1] /*verilator public_flat_rw*/;
    generate if (FIRMWARE != "") begin : filled
        initial $readmemh(FIRMWARE, array);
    end endgenerate
    wire ram_write = valid && in_ram && write;
    always @(posedge clk_i) code_data_q <= array[code_addr[AW+1:2]];
    always @(posedge clk_i) begin
        if (ram_write && be[0]) array[addr[AW+1:2]][7:0]   <= wdata[7:0];
        if (ram_write && be[1]) array[addr[AW+1:2]][15:8]  <= wdata[15:8];
        if (ram_write && be[2]) array[addr[AW+1:2]][23:16] <= wdata[23:16];
        if (ram_write && be[3]) array[addr[AW+1:2]][31:24] <= wdata[31:24];
        ram_word_q <= array[addr[AW+1:2]];
    end

    // ---- results ------------------------------------------------------------------------------

    always @(posedge clk_i) begin
        wb_valid_q    <= !rst_i && op_access && op_load && op_ready && op_rd != 5'd0;
        wb_rd_q       <= op_rd;
        wb_lane_q     <= op_addr[1:0];
        wb_size_q     <= op_size;
        wb_unsigned_q <= op_unsigned;
        wb_ram_q      <= in_ram;
        wb_word_q     <= reg_word;
    end
    wire [31:0] wb_shifted = (wb_ram_q ? ram_word_q : wb_word_q) >> {wb_lane_q, 3'd0};
    always @*
        case (wb_size_q)
            2'd0: wb_data = {{24{wb_shifted[7] && !wb_unsigned_q}}, wb_shifted[7:0]};
            2'd1: wb_data = {{16{wb_shifted[15] && !wb_unsigned_q}}, wb_shifted[15:0]};
            default: wb_data = wb_shifted;
        endcase

    wire unused = &{1'b0, code_addr[31:AW+2], code_addr[1:0], unused_compare, unused_amo,
        unused_kill, unused_cause, unused_clear, unused_taken, unused_done, unused_pc,
        unused_retired, unused_wait, unused_wait_addr, unused_events, unused_code_we,
        unused_code_wdata, unused_silent, unused_hold, unused_hold_cycles};
endmodule
`default_nettype wire
