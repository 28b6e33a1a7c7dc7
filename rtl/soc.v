// SPDX-License-Identifier: Apache-2.0
// The machine: harts with their caches on a bus, memory, capture unit, counters.
//
// What is chosen at reset (model, bug, seed, delays, mode of the capture) is sampled while rst_i is
// 1, for two cycles or more. Code and memory are loaded meanwhile; harts start at MAP_CODE when
// rst_i falls. rtl/PROTOCOL.md says what its parts promise one another.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module soc #(
    parameter NHARTS = 4,         // 1 to 16
    parameter SETS = 16,          // of a cache: 1, 2, 4 ...
    parameter WAYS = 2,           // 1, 2, 4
    parameter LINE_WORDS = 4,     // 4, 8, 16
    parameter SB_DEPTH = 8,       // store buffer, 1 to 16
    parameter LQ_DEPTH = 4,       // load queue, 1 to 8
    parameter MSHRS = 2,          // misses of a cache in flight, 1 to 4
    parameter WB_DEPTH = 2,       // its write-back buffer, 1 to 4
    parameter TXNS = 4,           // bus transactions in flight, 1 to 8
    parameter SNOOPS = 2,         // of a cache's snoop queue in the bus, 1 to 8
    parameter MEMORY_WORDS = 16384,
    parameter CODE_WORDS = 4096,  // of each hart
    parameter CAPTURE_DEPTH = 64, // records of each hart: a power of two, 32 or more
    parameter VISIBLE = 1,        // 0: no records of stores that become visible
    parameter COUNTERS = 1,       // 0: no event counters
    parameter MULDIV = 1,         // 0: no multiplication and division
    parameter TM = 1,             // 0: no transactions
    parameter DELAYS = 1,         // 0: no random delays
    parameter ZOO = 1,            // 0: no bugs
    parameter MODEL = 4,          // 0 to 3: MODEL_*, for good; 4: as model_i says
    parameter DEBUG = 0,          // 1: harts have a debug mode,
    parameter TRIGGER = 0         // 1: with a breakpoint in hardware each
) (
    input  wire              clk_i,
    input  wire              rst_i,

    input  wire [1:0]        model_i,      // MODEL_*
    input  wire [6:0]        bug_i,        // BUG_*; 0: none
    input  wire [31:0]       seed_i,       // of the delays
    input  wire [2:0]        level_i,      // of the delays; 0: none
    input  wire              lossy_i,      // a full capture FIFO drops records; 0: stalls its hart
    input  wire              visible_i,    // records of stores that become visible, too

    // The loader, while rst_i is 1. What is read comes a cycle later.
    input  wire              load_valid_i, // writes
    input  wire              load_code_i,  // the code of load_hart_i; 0: the memory
    input  wire [3:0]        load_hart_i,
    input  wire [31:0]       load_addr_i,  // byte offset, of a word
    input  wire [31:0]       load_data_i,
    output wire [31:0]       load_data_o,

    // Records of the capture unit. Stable until ready.
    output wire              out_valid_o,
    input  wire              out_ready_i,
    input  wire              out_room_i,   // for a record of every hart: for lean/soc.v alone
    output wire [31:0]       out_data_o,
    output wire              out_last_o,   // of a record

    output wire [NHARTS-1:0] done_o,       // harts that are
    output wire              idle_o,       // all are, and all records have gone out

    // Counters and what a hart does: EVENT numbers and PEEK_*. In the same cycle.
    input  wire [3:0]        peek_hart_i,
    input  wire [5:0]        peek_i,
    output wire [31:0]       peek_o,

    // The debug module (rtl/board/debug.v), with DEBUG = 1
    input  wire              dbg_rst_i,    // power-on
    input  wire [NHARTS-1:0] dbg_halt_i,
    input  wire [NHARTS-1:0] dbg_resume_i,
    output wire [NHARTS-1:0] dbg_halted_o,
    input  wire [NHARTS-1:0] dbg_insn_valid_i,
    input  wire [31:0]       dbg_insn_i,
    output wire [NHARTS-1:0] dbg_ack_o,
    output wire [NHARTS-1:0] dbg_fault_o,
    output wire [NHARTS*32-1:0] dbg_data_o
);
    // Ports are registered at once: what a simulator must follow behind an input is then little.
    reg [1:0]  model_q;
    reg [6:0]  bug_q;
    reg [31:0] seed_q;
    reg [2:0]  level_q;
    reg        lossy_q, visible_q;
    always @(posedge clk_i)
        if (rst_i) begin
            model_q   <= model_i;
            bug_q     <= bug_i;
            seed_q    <= seed_i;
            level_q   <= level_i;
            lossy_q   <= lossy_i;
            visible_q <= visible_i;
        end
    localparam [31:0] FIXED = MODEL;
    wire [1:0] model = MODEL < 4 ? FIXED[1:0] : model_q;
    wire [6:0] bug   = ZOO != 0 ? bug_q : 7'd0;
    wire [2:0] level = DELAYS != 0 ? level_q : 3'd0;

    reg [31:0] cycle_q;
    always @(posedge clk_i)
        if (rst_i)
            cycle_q <= 32'd0;
        else
            cycle_q <= cycle_q + 32'd1;

    // ---- harts -------------------------------------------------------------------------------

    wire [NHARTS-1:0]     bus_valid, bus_ready, snp_valid, snp_ready, ack_valid, ack_shared,
                          ack_data, out_valid, out_wb, out_last, fill_valid, fill_last,
                          fill_shared, fill_done, uc_valid, uc_ready, uc_write, uc_atomic,
                          uc_rsp_valid, rec_valid, rec_tx, vis_valid, vis_tx;
    wire [NHARTS*2-1:0]   bus_cmd, bus_id, snp_cmd, fill_id, fill_done_id, rec_size, vis_size;
    wire [NHARTS*32-1:0]  bus_addr, snp_addr, out_data, fill_data, uc_addr, uc_data, uc_compare,
                          rec_issue, rec_addr, rec_read, rec_written, vis_addr, vis_data;
    wire [NHARTS*5-1:0]   uc_amo;
    wire [NHARTS*4-1:0]   uc_be, rec_kind;
    wire [NHARTS*8-1:0]   rec_seq;
    wire [31:0]          uc_rsp_data, uc_rsp_written;
    wire [NHARTS-1:0]    ipi, ipi_clear, cap_stall;
    localparam W_BUS_EVENTS = `EVENTS - `EVENT_BUS_WAIT;
    wire [NHARTS*W_BUS_EVENTS-1:0] bus_events;
    wire [NHARTS*3-1:0]  bus_wait;
    wire [31:0]          peeked [0:NHARTS-1];
    wire [31:0]          code_data [0:NHARTS-1];

    genvar h;
    generate for (h = 0; h < NHARTS; h = h + 1) begin : harts
        localparam [31:0] NUMBER = h;
        wire [`EVENT_BUS_WAIT-1:0] events;
        wire [31:0] pc, retired, wait_addr, count;
        wire [3:0]  waits;
        wire        peek = peek_hart_i == NUMBER[3:0];

        tile #(
            .NHARTS(NHARTS), .SETS(SETS), .WAYS(WAYS), .LINE_WORDS(LINE_WORDS),
            .SB_DEPTH(SB_DEPTH), .LQ_DEPTH(LQ_DEPTH), .MSHRS(MSHRS), .WB_DEPTH(WB_DEPTH),
            .MEMORY_WORDS(MEMORY_WORDS), .CODE_WORDS(CODE_WORDS), .MULDIV(MULDIV), .TM(TM),
            .DELAYS(DELAYS), .DEBUG(DEBUG), .TRIGGER(TRIGGER)
        ) tile (
            .clk_i(clk_i), .rst_i(rst_i), .hart_i(NUMBER[3:0]), .model_i(model), .bug_i(bug),
            .seed_i(seed_q + NUMBER * 32'h3c6ef35f), .level_i(level), .cycle_i(cycle_q),
            .load_we_i(rst_i && load_valid_i && load_code_i && load_hart_i == NUMBER[3:0]),
            .load_addr_i(load_addr_i), .load_data_i(load_data_i), .load_data_o(code_data[h]),
            .ipi_i(ipi[h]), .ipi_clear_o(ipi_clear[h]), .done_o(done_o[h]), .pc_o(pc),
            .retired_o(retired), .wait_o(waits), .wait_addr_o(wait_addr), .events_o(events),
            .bus_valid_o(bus_valid[h]), .bus_ready_i(bus_ready[h]), .bus_cmd_o(bus_cmd[h*2 +: 2]),
            .bus_addr_o(bus_addr[h*32 +: 32]), .bus_id_o(bus_id[h*2 +: 2]),
            .snp_valid_i(snp_valid[h]), .snp_ready_o(snp_ready[h]), .snp_cmd_i(snp_cmd[h*2 +: 2]),
            .snp_addr_i(snp_addr[h*32 +: 32]), .ack_valid_o(ack_valid[h]),
            .ack_shared_o(ack_shared[h]), .ack_data_o(ack_data[h]), .out_valid_o(out_valid[h]),
            .out_wb_o(out_wb[h]), .out_data_o(out_data[h*32 +: 32]), .out_last_o(out_last[h]),
            .fill_valid_i(fill_valid[h]), .fill_id_i(fill_id[h*2 +: 2]),
            .fill_data_i(fill_data[h*32 +: 32]), .fill_last_i(fill_last[h]),
            .fill_shared_i(fill_shared[h]), .fill_done_o(fill_done[h]),
            .fill_done_id_o(fill_done_id[h*2 +: 2]), .uc_valid_o(uc_valid[h]),
            .uc_ready_i(uc_ready[h]), .uc_write_o(uc_write[h]), .uc_atomic_o(uc_atomic[h]),
            .uc_amo_o(uc_amo[h*5 +: 5]), .uc_addr_o(uc_addr[h*32 +: 32]),
            .uc_be_o(uc_be[h*4 +: 4]), .uc_data_o(uc_data[h*32 +: 32]),
            .uc_compare_o(uc_compare[h*32 +: 32]), .uc_rsp_valid_i(uc_rsp_valid[h]),
            .uc_rsp_data_i(uc_rsp_data), .uc_rsp_written_i(uc_rsp_written),
            .cap_stall_i(cap_stall[h]),
            .rec_valid_o(rec_valid[h]), .rec_kind_o(rec_kind[h*4 +: 4]),
            .rec_size_o(rec_size[h*2 +: 2]), .rec_tx_o(rec_tx[h]), .rec_seq_o(rec_seq[h*8 +: 8]),
            .rec_issue_o(rec_issue[h*32 +: 32]), .rec_addr_o(rec_addr[h*32 +: 32]),
            .rec_read_o(rec_read[h*32 +: 32]), .rec_written_o(rec_written[h*32 +: 32]),
            .vis_valid_o(vis_valid[h]), .vis_tx_o(vis_tx[h]), .vis_size_o(vis_size[h*2 +: 2]),
            .vis_addr_o(vis_addr[h*32 +: 32]), .vis_data_o(vis_data[h*32 +: 32]),
            .dbg_rst_i(dbg_rst_i), .dbg_halt_i(dbg_halt_i[h]), .dbg_resume_i(dbg_resume_i[h]),
            .dbg_halted_o(dbg_halted_o[h]), .dbg_insn_valid_i(dbg_insn_valid_i[h]),
            .dbg_insn_i(dbg_insn_i), .dbg_ack_o(dbg_ack_o[h]), .dbg_fault_o(dbg_fault_o[h]),
            .dbg_data_o(dbg_data_o[h*32 +: 32])
        );

        counters #(.COUNTERS(COUNTERS)) counters (
            .clk_i(clk_i), .rst_i(rst_i),
            .event_i({bus_events[h*W_BUS_EVENTS +: W_BUS_EVENTS], events}),
            .peek_i(peek), .which_i(peek_i), .count_o(count)
        );

        assign peeked[h] = !peek                         ? 32'd0
                         : peek_i == `PEEK_PC            ? pc
                         : peek_i == `PEEK_WAIT          ? {28'd0, waits}
                         : peek_i == `PEEK_WAIT_ADDRESS  ? wait_addr
                         : peek_i == `PEEK_INSTRUCTIONS  ? retired
                         : peek_i == `PEEK_BUS_WAIT      ? {29'd0, bus_wait[h*3 +: 3]}
                         : count;
    end endgenerate

    reg [31:0] peek_data, loaded;
    reg [3:0]  load_hart_q;
    reg        load_code_q;
    integer    k;
    always @* begin
        peek_data = 32'd0;
        for (k = 0; k < NHARTS; k = k + 1)
            peek_data = peek_data | peeked[k];
    end
    assign peek_o = peek_data;

    // ---- bus, memory, interrupts ---------------------------------------------------------------

    wire                  mem_rd_valid, mem_rd_ready, mem_rdata_valid, mem_rdata_last,
                          mem_behind, mem_wr_valid, mem_wr_ready, mem_wdata_valid,
                          mem_wdata_last, mem_uc_valid, mem_uc_ready, mem_uc_write,
                          mem_uc_atomic, mem_rsp_valid;
    wire [31:0]           mem_rd_addr, mem_rdata, mem_wr_addr, mem_wdata, mem_uc_addr,
                          mem_uc_data, mem_uc_compare, mem_rsp_data, mem_rsp_written;
    wire [2:0]            mem_rd_tag, mem_rdata_tag, mem_behind_tag;
    wire [3:0]            mem_uc_hart, mem_uc_be, mem_rsp_hart;
    wire [4:0]            mem_uc_amo;
    wire                 ipi_valid, ipi_write, ipi_wdata, ipi_rdata;
    wire [3:0]           ipi_hart;
    wire [31:0]          memory_data;

    bus #(
        .NHARTS(NHARTS), .LINE_WORDS(LINE_WORDS), .TXNS(TXNS), .SNOOPS(SNOOPS),
        .DELAYS(DELAYS)
    ) bus (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug), .seed_i(seed_q), .level_i(level),
        .bus_valid_i(bus_valid), .bus_ready_o(bus_ready), .bus_cmd_i(bus_cmd),
        .bus_addr_i(bus_addr), .bus_id_i(bus_id), .snp_valid_o(snp_valid), .snp_ready_i(snp_ready),
        .snp_cmd_o(snp_cmd), .snp_addr_o(snp_addr), .ack_valid_i(ack_valid),
        .ack_shared_i(ack_shared), .ack_data_i(ack_data), .out_valid_i(out_valid),
        .out_wb_i(out_wb), .out_data_i(out_data), .out_last_i(out_last), .fill_valid_o(fill_valid),
        .fill_id_o(fill_id), .fill_data_o(fill_data), .fill_last_o(fill_last),
        .fill_shared_o(fill_shared), .fill_done_i(fill_done), .fill_done_id_i(fill_done_id),
        .uc_valid_i(uc_valid), .uc_ready_o(uc_ready), .uc_write_i(uc_write),
        .uc_atomic_i(uc_atomic), .uc_amo_i(uc_amo), .uc_addr_i(uc_addr), .uc_be_i(uc_be),
        .uc_data_i(uc_data), .uc_compare_i(uc_compare), .uc_rsp_valid_o(uc_rsp_valid),
        .uc_rsp_data_o(uc_rsp_data), .uc_rsp_written_o(uc_rsp_written),
        .mem_rd_valid_o(mem_rd_valid), .mem_rd_ready_i(mem_rd_ready), .mem_rd_addr_o(mem_rd_addr),
        .mem_rd_tag_o(mem_rd_tag), .mem_rdata_valid_i(mem_rdata_valid),
        .mem_rdata_tag_i(mem_rdata_tag), .mem_rdata_i(mem_rdata),
        .mem_rdata_last_i(mem_rdata_last), .mem_behind_i(mem_behind),
        .mem_behind_tag_i(mem_behind_tag), .mem_wr_valid_o(mem_wr_valid),
        .mem_wr_ready_i(mem_wr_ready), .mem_wr_addr_o(mem_wr_addr),
        .mem_wdata_valid_o(mem_wdata_valid), .mem_wdata_o(mem_wdata),
        .mem_wdata_last_o(mem_wdata_last), .mem_uc_valid_o(mem_uc_valid),
        .mem_uc_ready_i(mem_uc_ready), .mem_uc_hart_o(mem_uc_hart), .mem_uc_write_o(mem_uc_write),
        .mem_uc_atomic_o(mem_uc_atomic), .mem_uc_amo_o(mem_uc_amo), .mem_uc_addr_o(mem_uc_addr),
        .mem_uc_be_o(mem_uc_be), .mem_uc_data_o(mem_uc_data), .mem_uc_compare_o(mem_uc_compare),
        .mem_rsp_valid_i(mem_rsp_valid), .mem_rsp_hart_i(mem_rsp_hart),
        .mem_rsp_data_i(mem_rsp_data), .mem_rsp_written_i(mem_rsp_written),
        .ipi_valid_o(ipi_valid), .ipi_write_o(ipi_write), .ipi_hart_o(ipi_hart),
        .ipi_data_o(ipi_wdata), .ipi_data_i(ipi_rdata), .events_o(bus_events),
        .wait_o(bus_wait)
    );

    memory #(
        .MEMORY_WORDS(MEMORY_WORDS), .LINE_WORDS(LINE_WORDS), .DELAYS(DELAYS)
    ) memory (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug), .seed_i(seed_q), .level_i(level),
        .rd_valid_i(mem_rd_valid), .rd_ready_o(mem_rd_ready), .rd_addr_i(mem_rd_addr),
        .rd_tag_i(mem_rd_tag), .rdata_valid_o(mem_rdata_valid), .rdata_tag_o(mem_rdata_tag),
        .rdata_o(mem_rdata), .rdata_last_o(mem_rdata_last), .behind_o(mem_behind),
        .behind_tag_o(mem_behind_tag), .wr_valid_i(mem_wr_valid), .wr_ready_o(mem_wr_ready),
        .wr_addr_i(mem_wr_addr), .wdata_valid_i(mem_wdata_valid), .wdata_i(mem_wdata),
        .wdata_last_i(mem_wdata_last), .uc_valid_i(mem_uc_valid), .uc_ready_o(mem_uc_ready),
        .uc_hart_i(mem_uc_hart), .uc_write_i(mem_uc_write), .uc_atomic_i(mem_uc_atomic),
        .uc_amo_i(mem_uc_amo), .uc_addr_i(mem_uc_addr), .uc_be_i(mem_uc_be),
        .uc_data_i(mem_uc_data), .uc_compare_i(mem_uc_compare), .rsp_valid_o(mem_rsp_valid),
        .rsp_hart_o(mem_rsp_hart), .rsp_data_o(mem_rsp_data), .rsp_written_o(mem_rsp_written),
        .load_we_i(rst_i && load_valid_i && !load_code_i), .load_addr_i(load_addr_i),
        .load_data_i(load_data_i), .load_data_o(memory_data)
    );

    ipi #(.NHARTS(NHARTS)) ipis (
        .clk_i(clk_i), .rst_i(rst_i), .valid_i(ipi_valid), .write_i(ipi_write),
        .hart_i(ipi_hart), .data_i(ipi_wdata), .data_o(ipi_rdata), .clear_i(ipi_clear),
        .ipi_o(ipi)
    );

    always @(posedge clk_i)
        if (rst_i) begin
            load_code_q <= load_code_i;
            load_hart_q <= load_hart_i;
        end
    always @* begin
        loaded = memory_data;
        if (load_code_q)
            for (k = 0; k < NHARTS; k = k + 1)
                if (load_hart_q == k[3:0])
                    loaded = code_data[k];
    end
    assign load_data_o = loaded;

    // ---- capture -------------------------------------------------------------------------------

    wire captured; // all of it has gone out

    capture #(
        .NHARTS(NHARTS), .DEPTH(CAPTURE_DEPTH), .SLACK(LQ_DEPTH + 4), .VISIBLE(VISIBLE),
        .DEPTH_VISIBLE(CAPTURE_DEPTH), .SLACK_VISIBLE(SB_DEPTH + 4)
    ) capture (
        .clk_i(clk_i), .rst_i(rst_i), .cycle_i(cycle_q), .lossy_i(lossy_q),
        .visible_i(visible_q), .stall_o(cap_stall), .empty_o(captured),
        .rec_valid_i(rec_valid), .rec_kind_i(rec_kind), .rec_size_i(rec_size), .rec_tx_i(rec_tx),
        .rec_seq_i(rec_seq), .rec_issue_i(rec_issue), .rec_addr_i(rec_addr), .rec_read_i(rec_read),
        .rec_written_i(rec_written), .vis_valid_i(vis_valid), .vis_tx_i(vis_tx),
        .vis_size_i(vis_size), .vis_addr_i(vis_addr), .vis_data_i(vis_data),
        .out_valid_o(out_valid_o), .out_ready_i(out_ready_i), .out_data_o(out_data_o),
        .out_last_o(out_last_o)
    );

    assign idle_o = &done_o && captured;
    wire unused = &{1'b0, out_room_i};

`ifdef CHECKS
    // Single writer: when a cache gets a line no other may write it; when to write, none may have
    // it.
    localparam LINE = $clog2(LINE_WORDS * 4);
    localparam STRIDE = WAYS > 1 ? WAYS : 2;
    genvar g;
    generate for (h = 0; h < NHARTS; h = h + 1) begin : owner
        wire             raised    = harts[h].tile.cache.raised;
        wire             exclusive = harts[h].tile.cache.raised_exclusive;
        wire [31-LINE:0] line      = harts[h].tile.cache.raised_addr[31:LINE];
        wire [31:0]      first     = {{LINE{1'b0}}, line} % SETS * STRIDE; // of its set
        for (g = 0; g < NHARTS; g = g + 1) begin : other
            integer w;
            `ASSERTIONS(h != g && raised)
                for (w = 0; w < WAYS; w = w + 1)
                    `HOLDS(single_writer,
                           !(harts[g].tile.cache.states.valid_q[first + w]
                             && harts[g].tile.cache.tag[first + w] == line
                             && (exclusive || harts[g].tile.cache.states.exclusive_q[first + w])))
            `END_ASSERTIONS
        end
    end endgenerate
`endif
endmodule
`default_nettype wire
