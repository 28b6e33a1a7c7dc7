// SPDX-License-Identifier: Apache-2.0
// What one hart has of its own: the hart, its code memory, its load/store unit, its cache.
//
// All tiles are alike; their number and a seed of their own come in by ports.
`default_nettype none
`include "soc.vh"
module tile #(
    parameter NHARTS = 4,
    parameter SETS = 16,
    parameter WAYS = 2,
    parameter LINE_WORDS = 4,
    parameter SB_DEPTH = 8,
    parameter LQ_DEPTH = 4,
    parameter MSHRS = 2,
    parameter WB_DEPTH = 2,
    parameter MEMORY_WORDS = 16384,
    parameter CODE_WORDS = 4096,
    parameter MULDIV = 1,
    parameter TM = 1,
    parameter DELAYS = 1,
    parameter DEBUG = 0,
    parameter TRIGGER = 0
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [3:0]  hart_i,          // its number, a constant
    input  wire [1:0]  model_i,
    input  wire [6:0]  bug_i,
    input  wire [31:0] seed_i,
    input  wire [2:0]  level_i,
    input  wire [31:0] cycle_i,

    input  wire        load_we_i,       // the loader's way to the code memory
    input  wire [31:0] load_addr_i,
    input  wire [31:0] load_data_i,
    output wire [31:0] load_data_o,

    input  wire        ipi_i,
    output wire        ipi_clear_o,

    output wire        done_o,
    output wire [31:0] pc_o,
    output wire [31:0] retired_o,
    output wire [3:0]  wait_o,
    output wire [31:0] wait_addr_o,
    output wire [`EVENT_TX_CAPACITIES:0] events_o,

    output wire        bus_valid_o,
    input  wire        bus_ready_i,
    output wire [1:0]  bus_cmd_o,
    output wire [31:0] bus_addr_o,
    output wire [1:0]  bus_id_o,
    input  wire        snp_valid_i,
    output wire        snp_ready_o,
    input  wire [1:0]  snp_cmd_i,
    input  wire [31:0] snp_addr_i,
    output wire        ack_valid_o,
    output wire        ack_shared_o,
    output wire        ack_data_o,
    output wire        out_valid_o,
    output wire        out_wb_o,
    output wire [31:0] out_data_o,
    output wire        out_last_o,
    input  wire        fill_valid_i,
    input  wire [1:0]  fill_id_i,
    input  wire [31:0] fill_data_i,
    input  wire        fill_last_i,
    input  wire        fill_shared_i,
    output wire        fill_done_o,
    output wire [1:0]  fill_done_id_o,

    output wire        uc_valid_o,
    input  wire        uc_ready_i,
    output wire        uc_write_o,
    output wire        uc_atomic_o,
    output wire [4:0]  uc_amo_o,
    output wire [31:0] uc_addr_o,
    output wire [3:0]  uc_be_o,
    output wire [31:0] uc_data_o,
    output wire [31:0] uc_compare_o,
    input  wire        uc_rsp_valid_i,
    input  wire [31:0] uc_rsp_data_i,
    input  wire [31:0] uc_rsp_written_i,

    input  wire        cap_stall_i,
    output wire        rec_valid_o,
    output wire [3:0]  rec_kind_o,
    output wire [1:0]  rec_size_o,
    output wire        rec_tx_o,
    output wire [7:0]  rec_seq_o,
    output wire [31:0] rec_issue_o,
    output wire [31:0] rec_addr_o,
    output wire [31:0] rec_read_o,
    output wire [31:0] rec_written_o,
    output wire        vis_valid_o,
    output wire        vis_tx_o,
    output wire [1:0]  vis_size_o,
    output wire [31:0] vis_addr_o,
    output wire [31:0] vis_data_o,

    input  wire        dbg_rst_i,       // see hart.v
    input  wire        dbg_halt_i,
    input  wire        dbg_resume_i,
    output wire        dbg_halted_o,
    input  wire        dbg_insn_valid_i,
    input  wire [31:0] dbg_insn_i,
    output wire        dbg_ack_o,
    output wire        dbg_fault_o,
    output wire [31:0] dbg_data_o
);
    wire [31:0] code_addr, code_data, code_wdata;
    wire        code_we, rec_valid, silent;
    wire        op_valid, op_ready, op_unsigned;
    wire [3:0]  op_kind;
    wire [31:0] op_addr, op_data, op_compare;
    wire [4:0]  op_amo, op_rd;
    wire [1:0]  op_size;
    wire        hold;
    wire [11:0] hold_cycles;
    wire        wb_valid;
    wire [4:0]  wb_rd;
    wire [31:0] wb_data;
    wire        tx_active, tx_abort, tx_kill, tx_ending, irq_taken;
    wire [31:0] tx_status;
    wire [3:0]  tx_kill_cause;
    wire        req_valid, req_ready, req_tx, rsp_valid, rsp_done, change, inv_valid;
    wire [3:0]  req_op, req_be;
    wire [4:0]  req_amo;
    wire [31:0] req_addr, req_data, req_compare, rsp_data, rsp_written, inv_addr;
    wire [1:0]  tx_doomed;
    wire [3:0]  hart_wait, lsu_wait;
    wire [31:0] hart_wait_addr, lsu_wait_addr;

    // What the load/store unit waits for is the reason for what the hart waits for.
    wire blocked = lsu_wait != `WAIT_NOTHING && hart_wait != `WAIT_DONE;
    assign wait_o      = blocked ? lsu_wait : hart_wait;
    assign wait_addr_o = blocked ? lsu_wait_addr : hart_wait_addr;

    assign rec_valid_o = rec_valid && !silent;

    code #(.CODE_WORDS(CODE_WORDS)) code (
        .clk_i(clk_i), .fetch_addr_i(code_addr), .fetch_data_o(code_data),
        .load_valid_i(load_we_i || code_we), .load_addr_i(code_we ? code_addr : load_addr_i),
        .load_data_i(code_we ? code_wdata : load_data_i), .load_data_o(load_data_o)
    );

    hart #(
        .NHARTS(NHARTS), .MEMORY_WORDS(MEMORY_WORDS), .CODE_WORDS(CODE_WORDS), .MULDIV(MULDIV),
        .TM(TM), .DELAYS(DELAYS), .DEBUG(DEBUG), .TRIGGER(TRIGGER)
    ) hart (
        .clk_i(clk_i), .rst_i(rst_i), .hart_i(hart_i), .bug_i(bug_i), .seed_i(seed_i),
        .level_i(level_i), .code_addr_o(code_addr), .code_data_i(code_data),
        .code_we_o(code_we), .code_wdata_o(code_wdata), .op_valid_o(op_valid),
        .op_ready_i(op_ready), .op_kind_o(op_kind), .op_addr_o(op_addr),
        .op_data_o(op_data), .op_compare_o(op_compare), .op_amo_o(op_amo), .op_size_o(op_size),
        .op_unsigned_o(op_unsigned), .op_rd_o(op_rd), .hold_o(hold),
        .hold_cycles_o(hold_cycles), .wb_valid_i(wb_valid), .wb_rd_i(wb_rd),
        .wb_data_i(wb_data), .tx_active_i(tx_active), .tx_abort_i(tx_abort),
        .tx_status_i(tx_status), .tx_kill_o(tx_kill), .tx_kill_cause_o(tx_kill_cause),
        .ipi_i(ipi_i), .ipi_clear_o(ipi_clear_o), .irq_taken_o(irq_taken), .done_o(done_o),
        .pc_o(pc_o), .retired_o(retired_o), .wait_o(hart_wait), .wait_addr_o(hart_wait_addr),
        .events_o(events_o[`EVENT_BRANCH_TAKEN:`EVENT_INSTRUCTION]),
        .dbg_rst_i(dbg_rst_i), .dbg_halt_i(dbg_halt_i), .dbg_resume_i(dbg_resume_i),
        .dbg_halted_o(dbg_halted_o), .dbg_insn_valid_i(dbg_insn_valid_i), .dbg_insn_i(dbg_insn_i),
        .dbg_ack_o(dbg_ack_o), .dbg_fault_o(dbg_fault_o), .dbg_data_o(dbg_data_o),
        .dbg_silent_o(silent)
    );

    lsu #(
        .SB_DEPTH(SB_DEPTH), .LQ_DEPTH(LQ_DEPTH), .LINE_WORDS(LINE_WORDS), .TM(TM),
        .DELAYS(DELAYS)
    ) lsu (
        .clk_i(clk_i), .rst_i(rst_i), .model_i(model_i), .bug_i(bug_i),
        .seed_i(seed_i), .level_i(level_i), .cycle_i(cycle_i),
        .op_valid_i(op_valid), .op_ready_o(op_ready), .op_kind_i(op_kind), .op_addr_i(op_addr),
        .op_data_i(op_data), .op_compare_i(op_compare), .op_amo_i(op_amo), .op_size_i(op_size),
        .op_unsigned_i(op_unsigned), .op_rd_i(op_rd), .hold_i(hold),
        .hold_cycles_i(hold_cycles), .wb_valid_o(wb_valid), .wb_rd_o(wb_rd),
        .wb_data_o(wb_data), .tx_active_o(tx_active), .tx_abort_o(tx_abort),
        .tx_status_o(tx_status), .tx_ending_o(tx_ending), .tx_kill_i(tx_kill),
        .tx_kill_cause_i(tx_kill_cause), .irq_taken_i(irq_taken),
        .wait_o(lsu_wait), .wait_addr_o(lsu_wait_addr),
        .events_o(events_o[`EVENT_TX_ABORTED:`EVENT_LOAD]),
        .req_valid_o(req_valid), .req_ready_i(req_ready), .req_op_o(req_op), .req_addr_o(req_addr),
        .req_be_o(req_be), .req_data_o(req_data), .req_compare_o(req_compare),
        .req_amo_o(req_amo), .req_tx_o(req_tx), .rsp_valid_i(rsp_valid), .rsp_done_i(rsp_done),
        .rsp_data_i(rsp_data), .rsp_written_i(rsp_written), .change_i(change),
        .inv_valid_i(inv_valid), .inv_addr_i(inv_addr), .tx_doomed_i(tx_doomed),
        .uc_valid_o(uc_valid_o), .uc_ready_i(uc_ready_i), .uc_write_o(uc_write_o),
        .uc_atomic_o(uc_atomic_o), .uc_amo_o(uc_amo_o), .uc_addr_o(uc_addr_o), .uc_be_o(uc_be_o),
        .uc_data_o(uc_data_o), .uc_compare_o(uc_compare_o), .uc_rsp_valid_i(uc_rsp_valid_i),
        .uc_rsp_data_i(uc_rsp_data_i), .uc_rsp_written_i(uc_rsp_written_i),
        .cap_stall_i(cap_stall_i), .silent_i(silent), .rec_valid_o(rec_valid),
        .rec_kind_o(rec_kind_o),
        .rec_size_o(rec_size_o), .rec_tx_o(rec_tx_o), .rec_seq_o(rec_seq_o),
        .rec_issue_o(rec_issue_o), .rec_addr_o(rec_addr_o), .rec_read_o(rec_read_o),
        .rec_written_o(rec_written_o), .vis_valid_o(vis_valid_o), .vis_tx_o(vis_tx_o),
        .vis_size_o(vis_size_o), .vis_addr_o(vis_addr_o), .vis_data_o(vis_data_o)
    );

    cache #(
        .SETS(SETS), .WAYS(WAYS), .LINE_WORDS(LINE_WORDS), .MSHRS(MSHRS), .WB_DEPTH(WB_DEPTH),
        .TM(TM), .DELAYS(DELAYS)
    ) cache (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i), .seed_i(seed_i), .level_i(level_i),
        .req_valid_i(req_valid), .req_ready_o(req_ready), .req_op_i(req_op), .req_addr_i(req_addr),
        .req_be_i(req_be), .req_data_i(req_data), .req_compare_i(req_compare),
        .req_amo_i(req_amo), .req_tx_i(req_tx), .rsp_valid_o(rsp_valid), .rsp_done_o(rsp_done),
        .rsp_data_o(rsp_data), .rsp_written_o(rsp_written), .change_o(change),
        .inv_valid_o(inv_valid), .inv_addr_o(inv_addr), .tx_doomed_o(tx_doomed),
        .tx_ending_i(tx_ending),
        .bus_valid_o(bus_valid_o), .bus_ready_i(bus_ready_i), .bus_cmd_o(bus_cmd_o),
        .bus_addr_o(bus_addr_o), .bus_id_o(bus_id_o), .snp_valid_i(snp_valid_i),
        .snp_ready_o(snp_ready_o), .snp_cmd_i(snp_cmd_i), .snp_addr_i(snp_addr_i),
        .ack_valid_o(ack_valid_o), .ack_shared_o(ack_shared_o), .ack_data_o(ack_data_o),
        .out_valid_o(out_valid_o), .out_wb_o(out_wb_o), .out_data_o(out_data_o),
        .out_last_o(out_last_o), .fill_valid_i(fill_valid_i), .fill_id_i(fill_id_i),
        .fill_data_i(fill_data_i), .fill_last_i(fill_last_i), .fill_shared_i(fill_shared_i),
        .fill_done_o(fill_done_o), .fill_done_id_o(fill_done_id_o),
        .events_o(events_o[`EVENT_TX_CAPACITIES:`EVENT_HIT])
    );
endmodule
`default_nettype wire
