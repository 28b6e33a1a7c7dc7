// SPDX-License-Identifier: Apache-2.0
// On-chip capture of what the harts' memory operations did: records of all harts, one stream of
// words out.
//
// Beside another core: give each hart's operations to its port, in the cycle in which their values
// are final, with a sequence number that counts them in program order (modulo 256) and the cycle in
// which they were issued; kinds and the words of a record are in soc.def. The core looks at stall_o
// alone, before it issues a memory operation: no more than SLACK records of a hart (SLACK_VISIBLE
// stores) may come after it rose. Nothing else is asked of it; with lossy_i = 1, not even that.
// NHARTS, depths and VISIBLE are free; the files are capture.v, capture_fifo.v, check.vh and what
// header.awk makes of soc.def.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module capture #(
    parameter NHARTS = 4,
    parameter DEPTH = 64,               // records of a hart: a power of two above SLACK
    parameter SLACK = 16,
    parameter VISIBLE = 1,              // 0: visible_i does nothing, and there is no RAM for it
    parameter DEPTH_VISIBLE = 64,
    parameter SLACK_VISIBLE = 24
) (
    input  wire                 clk_i,
    input  wire                 rst_i,
    input  wire [31:0]          cycle_i,
    input  wire                 lossy_i,   // stable out of reset; 1: drop, count, never stall
    input  wire                 visible_i, // stable out of reset; 1: REC_VISIBLE, too

    // Operations that completed. Never refused.
    input  wire [NHARTS-1:0]    rec_valid_i,
    input  wire [NHARTS*4-1:0]  rec_kind_i,
    input  wire [NHARTS*2-1:0]  rec_size_i,
    input  wire [NHARTS-1:0]    rec_tx_i,
    input  wire [NHARTS*8-1:0]  rec_seq_i,
    input  wire [NHARTS*32-1:0] rec_issue_i,
    input  wire [NHARTS*32-1:0] rec_addr_i,
    input  wire [NHARTS*32-1:0] rec_read_i,
    input  wire [NHARTS*32-1:0] rec_written_i,
    // Stores in the cycle in which all see them. Never refused.
    input  wire [NHARTS-1:0]    vis_valid_i,
    input  wire [NHARTS-1:0]    vis_tx_i,
    input  wire [NHARTS*2-1:0]  vis_size_i,
    input  wire [NHARTS*32-1:0] vis_addr_i,
    input  wire [NHARTS*32-1:0] vis_data_i,

    output wire [NHARTS-1:0]    stall_o,
    output wire                 empty_o,   // all that was given has gone out

    // Stable until ready. last: the last word of a record.
    output wire                 out_valid_o,
    input  wire                 out_ready_i,
    output wire [31:0]          out_data_o,
    output wire                 out_last_o
);
    localparam FIFOS = VISIBLE != 0 ? 2 * NHARTS : NHARTS;
    localparam W = FIFOS == 1 ? 1 : $clog2(FIFOS);
    localparam [FIFOS-1:0] ONE = 1;

    wire [FIFOS-1:0] crowded, empty, have, more;
    wire [31:0]      word [0:FIFOS-1];
    wire [2:0]       last [0:FIFOS-1];

    reg              busy_q;
    reg [W-1:0]      turn_q;            // whose record goes out, or went last
    reg [2:0]        word_q;
    wire             ends = busy_q && out_ready_i && out_last_o;

    genvar h;
    generate for (h = 0; h < NHARTS; h = h + 1) begin : hart
        localparam [31:0] NUMBER = h;
        capture_fifo #(.DEPTH(DEPTH), .SLACK(SLACK), .VISIBLE(0)) operations (
            .clk_i(clk_i), .rst_i(rst_i), .cycle_i(cycle_i), .hart_i(NUMBER[3:0]),
            .lossy_i(lossy_i), .valid_i(rec_valid_i[h]), .kind_i(rec_kind_i[h*4 +: 4]),
            .size_i(rec_size_i[h*2 +: 2]), .tx_i(rec_tx_i[h]), .seq_i(rec_seq_i[h*8 +: 8]),
            .issue_i(rec_issue_i[h*32 +: 32]), .addr_i(rec_addr_i[h*32 +: 32]),
            .read_i(rec_read_i[h*32 +: 32]), .written_i(rec_written_i[h*32 +: 32]),
            .crowded_o(crowded[h]), .empty_o(empty[h]), .have_o(have[h]), .more_o(more[h]),
            .select_i(busy_q && turn_q == NUMBER[W-1:0]), .word_i(word_q),
            .word_o(word[h]), .last_o(last[h]), .pop_i(ends)
        );
        if (VISIBLE != 0) begin : visible
            localparam [31:0] ME = NHARTS + h;
            capture_fifo #(.DEPTH(DEPTH_VISIBLE), .SLACK(SLACK_VISIBLE), .VISIBLE(1))
            stores (
                .clk_i(clk_i), .rst_i(rst_i), .cycle_i(cycle_i), .hart_i(NUMBER[3:0]),
                .lossy_i(lossy_i), .valid_i(vis_valid_i[h] && visible_i), .kind_i(`REC_VISIBLE),
                .size_i(vis_size_i[h*2 +: 2]), .tx_i(vis_tx_i[h]), .seq_i(8'd0),
                .issue_i(cycle_i), .addr_i(vis_addr_i[h*32 +: 32]),
                .read_i(32'd0), .written_i(vis_data_i[h*32 +: 32]),
                .crowded_o(crowded[NHARTS+h]), .empty_o(empty[NHARTS+h]),
                .have_o(have[NHARTS+h]), .more_o(more[NHARTS+h]),
                .select_i(busy_q && turn_q == ME[W-1:0]), .word_i(word_q),
                .word_o(word[NHARTS+h]), .last_o(last[NHARTS+h]), .pop_i(ends)
            );
            assign stall_o[h] = !lossy_i && (crowded[h] || crowded[NHARTS+h]);
        end else begin : invisible
            wire unused = &{1'b0, visible_i, vis_valid_i[h], vis_tx_i[h], vis_size_i[h*2 +: 2],
                            vis_addr_i[h*32 +: 32], vis_data_i[h*32 +: 32]};
            assign stall_o[h] = !lossy_i && crowded[h];
        end
    end endgenerate

    assign empty_o = &empty && !busy_q;

    // The words of all but the selected one are 0.
    reg [31:0] data;
    reg [2:0]  final_word;
    integer    f;
    always @* begin
        data = 32'd0;
        final_word = 3'd0;
        if (busy_q)
            for (f = 0; f < FIFOS; f = f + 1) begin
                data = data | word[f];
                final_word = final_word | last[f];
            end
    end
    assign out_valid_o = busy_q;
    assign out_data_o  = data;
    assign out_last_o  = word_q == final_word;

    // Round robin: the next after `turn` that has a record, itself last.
    function [W-1:0] next(input [FIFOS-1:0] ready, input [W-1:0] turn);
        integer       k;
        reg           found;
        begin
            next = turn;
            found = 1'b0;
            for (k = 0; k < FIFOS; k = k + 1)
                if (ready[k] && !found && k[W-1:0] > turn) begin
                    next = k[W-1:0];
                    found = 1'b1;
                end
            for (k = 0; k < FIFOS; k = k + 1)
                if (ready[k] && !found) begin
                    next = k[W-1:0];
                    found = 1'b1;
                end
        end
    endfunction

    // Those that have a record when the present one is gone.
    wire [FIFOS-1:0] ready = busy_q ? have & ~(ONE << turn_q) | more & ONE << turn_q : have;

    always @(posedge clk_i)
        if (rst_i) begin
            busy_q <= 1'b0;
            turn_q <= 0;
            word_q <= 3'd0;
        end else if (!busy_q || ends) begin
            busy_q <= ready != 0;
            word_q <= 3'd0;
            if (ready != 0)
                turn_q <= next(ready, turn_q);
        end else if (out_ready_i)
            word_q <= word_q + 3'd1;

`ifdef CHECKS
    // The model's own log, taken before all of the above, to hold the stream against.
    import "DPI-C" function void soc_log_record(input int hart, input int kind, input int size,
        input int tx, input int seq, input int issue, input int cycle, input int addr,
        input int read, input int written);
    generate for (h = 0; h < NHARTS; h = h + 1) begin : log
        always @(posedge clk_i)
            if (!rst_i) begin
                if (rec_valid_i[h])
                    soc_log_record(h, {28'd0, rec_kind_i[h*4 +: 4]}, {30'd0, rec_size_i[h*2 +: 2]},
                                   {31'd0, rec_tx_i[h]}, {24'd0, rec_seq_i[h*8 +: 8]},
                                   rec_issue_i[h*32 +: 32], cycle_i, rec_addr_i[h*32 +: 32],
                                   rec_read_i[h*32 +: 32], rec_written_i[h*32 +: 32]);
                if (VISIBLE != 0 && visible_i && vis_valid_i[h])
                    soc_log_record(h, {28'd0, `REC_VISIBLE}, {30'd0, vis_size_i[h*2 +: 2]},
                                   {31'd0, vis_tx_i[h]}, 0, cycle_i, cycle_i,
                                   vis_addr_i[h*32 +: 32], 0, vis_data_i[h*32 +: 32]);
            end
    end endgenerate
`endif

    `ASSERT(capture_sends_what_is_there, !busy_q || have[turn_q])
    `COVER(capture_stalls, stall_o != 0)
    `COVER(capture_two_wait, (have & (have - 1'b1)) != 0)
    `COVER(capture_stream_held, out_valid_o && !out_ready_i)
endmodule
`default_nettype wire
