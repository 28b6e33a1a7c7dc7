// SPDX-License-Identifier: Apache-2.0
// The machine of lean harts: it has the ports of ../soc.v and takes its place where there is no
// room for that. Harts with their store buffers and caches (lean.v), one memory, one stream of
// records.
//
// It is TSO and nothing else, and has no bugs to choose. Parameters of which nothing is said are
// those of ../soc.v and mean nothing here.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module soc #(
    parameter NHARTS = 2,         // 1 to 4
    parameter SETS = 16,          // words in a cache: 2 to 32
    parameter WAYS = 1,
    parameter LINE_WORDS = 1,
    parameter SB_DEPTH = 8,       // store buffer: 2, 4, 8
    parameter LQ_DEPTH = 1,
    parameter MSHRS = 1,
    parameter WB_DEPTH = 1,
    parameter TXNS = 1,
    parameter SNOOPS = 1,
    parameter MEMORY_WORDS = 256, // up to 4096
    parameter CODE_WORDS = 384,   // of each hart: 128 less than a power of two
    parameter CAPTURE_DEPTH = 1,
    parameter VISIBLE = 0,
    parameter COUNTERS = 0,
    parameter MULDIV = 1,         // 0: no mul and mulhu
    parameter TM = 0,
    parameter DELAYS = 1,         // 0: level_i is 0
    parameter ZOO = 0,
    parameter MODEL = 1,
    parameter DEBUG = 0,
    parameter TRIGGER = 0
) (
    input  wire              clk_i,
    input  wire              rst_i,

    input  wire [1:0]        model_i,
    input  wire [6:0]        bug_i,
    input  wire [31:0]       seed_i,
    input  wire [2:0]        level_i,      // stores stay for about 2 instructions, or 4, 8 ...
    input  wire              lossy_i,
    input  wire              visible_i,

    input  wire              load_valid_i,
    input  wire              load_code_i,
    input  wire [3:0]        load_hart_i,
    input  wire [31:0]       load_addr_i,
    input  wire [31:0]       load_data_i,
    output wire [31:0]       load_data_o,

    output wire              out_valid_o,
    input  wire              out_ready_i,
    input  wire              out_room_i,   // for a record of every hart
    output wire [31:0]       out_data_o,
    output wire              out_last_o,

    output wire [NHARTS-1:0] done_o,
    output wire              idle_o,

    input  wire [3:0]        peek_hart_i,
    input  wire [5:0]        peek_i,
    output wire [31:0]       peek_o,

    input  wire              dbg_rst_i,
    input  wire [NHARTS-1:0] dbg_halt_i,
    input  wire [NHARTS-1:0] dbg_resume_i,
    output wire [NHARTS-1:0] dbg_halted_o,
    input  wire [NHARTS-1:0] dbg_insn_valid_i,
    input  wire [31:0]       dbg_insn_i,
    output wire [NHARTS-1:0] dbg_ack_o,
    output wire [NHARTS-1:0] dbg_fault_o,
    output wire [NHARTS*32-1:0] dbg_data_o
);
    localparam HW = NHARTS > 1 ? $clog2(NHARTS) : 1;
    localparam MAW = $clog2(MEMORY_WORDS);

    reg [2:0]  level_q;
    reg [31:0] cycle_q, random_q;
    always @(posedge clk_i)
        if (rst_i) begin
            level_q  <= DELAYS != 0 ? level_i : 3'd0;
            cycle_q  <= 32'd0;
            random_q <= seed_i | 32'h80000000; // never all 0
        end else begin
            cycle_q  <= cycle_q + 32'd1;
            random_q <= {1'b0, random_q[31:1]} ^ (random_q[0] ? 32'hb4bcd35c : 32'd0);
        end

    // ---- harts ---------------------------------------------------------------------------------

    wire [NHARTS-1:0]    mem_valid, mem_lock, mem_write, mem_other, mem_ready;
    wire [NHARTS*14-1:0] mem_addr;
    wire [NHARTS*4-1:0]  mem_be;
    wire [NHARTS*32-1:0] mem_wdata, rec_data, code_data, pc;
    wire [NHARTS*16-1:0] retired;
    wire [NHARTS-1:0]    rec_valid, rec_ready, rec_last, ipi_clear;
    reg  [NHARTS-1:0]    ipi_q;
    reg                  write;           // the access that is done in this cycle, if one is
    reg  [13:0]          addr;
    reg  [3:0]           be;
    reg  [31:0]          wdata;
    reg                  valid, other;
    wire [31:0]          rdata;

    genvar h;
    generate for (h = 0; h < NHARTS; h = h + 1) begin : harts
        localparam [31:0] NUMBER = h;
        lean #(
            .NHARTS(NHARTS), .RAM_WORDS(CODE_WORDS + 128), .MEMORY_WORDS(MEMORY_WORDS),
            .SB_DEPTH(SB_DEPTH), .SETS(SETS), .MULTIPLY(MULDIV), .DEBUG(DEBUG)
        ) tile (
            .clk_i(clk_i), .rst_i(rst_i), .hart_i(NUMBER[3:0]),
            .random_i((random_q[h*7 +: 8] & ~(8'hfe << level_q)) == 8'd0), .cycle_i(cycle_q),
            .load_we_i(rst_i && load_valid_i && load_code_i && load_hart_i == NUMBER[3:0]),
            .load_addr_i(load_addr_i), .load_data_i(load_data_i),
            .load_data_o(code_data[h*32 +: 32]),
            .mem_valid_o(mem_valid[h]), .mem_lock_o(mem_lock[h]), .mem_write_o(mem_write[h]),
            .mem_other_o(mem_other[h]), .mem_addr_o(mem_addr[h*14 +: 14]),
            .mem_be_o(mem_be[h*4 +: 4]), .mem_data_o(mem_wdata[h*32 +: 32]),
            .mem_ready_i(mem_ready[h]), .mem_data_i(rdata),
            .inv_valid_i(valid && write && !other), .inv_addr_i(addr),
            .ipi_i(ipi_q[h]), .ipi_clear_o(ipi_clear[h]),
            .rec_room_i(out_room_i), .rec_valid_o(rec_valid[h]), .rec_ready_i(rec_ready[h]),
            .rec_last_o(rec_last[h]), .rec_data_o(rec_data[h*32 +: 32]),
            .done_o(done_o[h]), .pc_o(pc[h*32 +: 32]),
            .retired_o(retired[h*16 +: 16]),
            .dbg_rst_i(dbg_rst_i), .dbg_halt_i(dbg_halt_i[h]), .dbg_resume_i(dbg_resume_i[h]),
            .dbg_halted_o(dbg_halted_o[h]), .dbg_insn_valid_i(dbg_insn_valid_i[h]),
            .dbg_insn_i(dbg_insn_i), .dbg_ack_o(dbg_ack_o[h]), .dbg_fault_o(dbg_fault_o[h]),
            .dbg_data_o(dbg_data_o[h*32 +: 32])
        );
    end endgenerate

    function [HW-1:0] after(input [HW-1:0] hart, input integer by); // in a ring
        integer n;
        begin
            n = {{32-HW{1'b0}}, hart} + by;
            if (n >= NHARTS) n = n - NHARTS;
            after = n[HW-1:0];
        end
    endfunction

    // ---- memory: one access a cycle ------------------------------------------------------------

    // Whoever holds the lock; else the first that wants one after the one that had the last.
    reg  [HW-1:0] turn_q, turn;
    integer       k;
    always @* begin
        turn = turn_q;
        if (!mem_lock[turn_q])
            for (k = NHARTS; k >= 1; k = k - 1)
                if (mem_valid[after(turn_q, k)]) turn = after(turn_q, k);
        valid = mem_valid[turn];
        write = mem_write[turn];
        other = mem_other[turn];
        addr  = mem_addr[turn*14 +: 14];
        be    = mem_be[turn*4 +: 4];
        wdata = mem_wdata[turn*32 +: 32];
    end
    assign mem_ready = {{NHARTS-1{1'b0}}, valid} << turn;

    reg other_q, ipi_word_q;
    always @(posedge clk_i)
        if (rst_i) begin
            turn_q <= 0;
            ipi_q  <= 0;
        end else begin
            if (valid) turn_q <= turn;
            ipi_q <= ipi_q & ~ipi_clear;
            if (valid && write && other) ipi_q[addr[2 +: HW]] <= wdata[0];
            other_q    <= other;
            ipi_word_q <= ipi_q[addr[2 +: HW]];
        end

    wire [31:0] word;
    lean_memory #(.WORDS(MEMORY_WORDS)) memory (
        .clk_i(clk_i), .addr_i(rst_i ? load_addr_i[MAW+1:2] : addr[MAW+1:2]),
        .write_i(rst_i ? load_valid_i && !load_code_i : valid && write && !other),
        .be_i(rst_i ? 4'b1111 : be), .data_i(rst_i ? load_data_i : wdata), .data_o(word)
    );
    assign rdata = other_q ? {31'd0, ipi_word_q} : word;

    reg         load_code_q;
    reg  [3:0]  load_hart_q;
    reg  [31:0] loaded, peeked;
    always @(posedge clk_i) {load_code_q, load_hart_q} <= {load_code_i, load_hart_i};
    always @* begin
        loaded = word;
        peeked = 32'd0;
        for (k = 0; k < NHARTS; k = k + 1) begin
            if (load_code_q && load_hart_q == k[3:0]) loaded = code_data[k*32 +: 32];
            if (peek_hart_i == k[3:0])
                case (peek_i)
                    `PEEK_PC:           peeked = pc[k*32 +: 32];
                    `PEEK_WAIT:         peeked = {28'd0, done_o[k] ? `WAIT_DONE : `WAIT_NOTHING};
                    `PEEK_INSTRUCTIONS: peeked = {16'd0, retired[k*16 +: 16]};
                    default: ;
                endcase
        end
    end
    assign load_data_o = loaded;
    assign peek_o      = peeked;

    // ---- the stream: record by record ----------------------------------------------------------

    reg           sends_q;
    reg  [HW-1:0] sender_q, sender;
    always @* begin
        sender = sender_q;
        if (!sends_q)
            for (k = NHARTS; k >= 1; k = k - 1)
                if (rec_valid[after(sender_q, k)]) sender = after(sender_q, k);
    end
    assign out_valid_o = rec_valid[sender];
    assign out_data_o  = rec_data[sender*32 +: 32];
    assign out_last_o  = rec_last[sender];
    assign rec_ready   = {{NHARTS-1{1'b0}}, out_ready_i} << sender;
    always @(posedge clk_i)
        if (rst_i) begin
            sends_q  <= 1'b0;
            sender_q <= 0;
        end else if (out_valid_o) begin
            sends_q  <= !(out_ready_i && out_last_o);
            sender_q <= sender;
        end
    assign idle_o = &done_o;

    wire unused = &{1'b0, model_i, bug_i, lossy_i, visible_i, load_addr_i, mem_lock, addr};
endmodule
`default_nettype wire
