// SPDX-License-Identifier: Apache-2.0
// Records of one kind of one hart: a FIFO in RAM, and the words of its head.
//
// A record that finds it full is dropped and counted; as soon as there is room again, a quarter of
// it, so that not every second record is one of loss, REC_LOST takes the place of those that are
// missing. Whether it may come to that is for capture.v: `crowded_o` tells it in time.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module capture_fifo #(
    parameter DEPTH = 64,         // a power of two, 4 or more
    parameter SLACK = 16,         // crowded_o: less room than this, as it was a cycle ago
    parameter VISIBLE = 0         // 1: holds REC_VISIBLE, which have no third word
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [31:0] cycle_i,
    input  wire [3:0]  hart_i,    // a constant
    input  wire        lossy_i,   // for an assertion alone: records may be dropped

    input  wire        valid_i,
    input  wire [3:0]  kind_i,
    input  wire [1:0]  size_i,
    input  wire        tx_i,
    input  wire [7:0]  seq_i,
    input  wire [31:0] issue_i,
    input  wire [31:0] addr_i,
    input  wire [31:0] read_i,
    input  wire [31:0] written_i,

    output reg         crowded_o,
    output wire        empty_o,   // of records and of counts

    output wire        have_o,    // there is a head
    output wire        more_o,    // and another record behind it
    input  wire        select_i,  // word_o is 0 without
    input  wire [2:0]  word_i,    // which
    output wire [31:0] word_o,
    output wire [2:0]  last_o,    // number of the head's last word; 0 without select_i
    input  wire        pop_i      // of the one that is selected
);
    localparam W = $clog2(DEPTH);

    // In the RAM: cycle, number of the last word, all of the header but the hart; words in their
    // order.
    reg [62:0] head_ram [0:DEPTH-1];
    reg [63:0] body_ram [0:DEPTH-1];
    reg [62:0] head_q;
    reg [63:0] body_q;
    wire [31:0] third;

    reg [W-1:0] write_q, read_q;
    reg [W:0]   count_q;          // in the RAM; the head is no longer
    reg         have_q;
    reg [31:0]  lost_q;

    wire full = count_q[W];
    wire lost = lost_q != 32'd0 && count_q <= DEPTH[W:0] - DEPTH[W:0] / 4;
    wire take = valid_i && lost_q == 32'd0 && !full;
    wire push = take || lost;
    wire dropped = valid_i && !take;
    wire stays = have_q && !(select_i && pop_i); // the head

    assign have_o    = have_q;
    assign more_o    = count_q != 0;
    assign empty_o   = !have_q && count_q == 0 && lost_q == 32'd0;

    // Whether a kind is among these, and the number of a record's last word.
    function among(input [15:0] kinds, input [3:0] kind);
        among = kinds[kind];
    endfunction
    function [2:0] last_word(input [3:0] kind);
        last_word = 3'd1 + {2'd0, among(`REC_HAS_ADDRESS, kind)}
                  + {2'd0, among(`REC_HAS_READ, kind)} + {2'd0, among(`REC_HAS_WRITTEN, kind)};
    endfunction
    function [11:0] latency(input [31:0] cycles);
        latency = cycles[31:12] != 20'd0 ? 12'hfff : cycles[11:0];
    endfunction

    // All of it under the condition, so that a simulator has nothing to do in other cycles.
    always @(posedge clk_i)
        if (push) begin
            head_ram[write_q] <= {cycle_i,
                lost ? {last_word(`REC_LOST), 12'd0, 8'd0, VISIBLE[0], 1'b0, 2'd0, `REC_LOST}
                     : {last_word(kind_i), latency(cycle_i - issue_i), seq_i, 1'b0, tx_i, size_i,
                        kind_i}};
            body_ram[write_q] <= {among(`REC_HAS_READ, kind_i) ? read_i : written_i,
                lost ? lost_q + {31'd0, valid_i}
                     : among(`REC_HAS_ADDRESS, kind_i) ? addr_i : read_i};
        end
    always @(posedge clk_i)
        if (count_q != 0 && !stays) begin
            head_q <= head_ram[read_q];
            body_q <= body_ram[read_q];
        end

    generate if (VISIBLE == 0) begin : with_third
        reg [31:0] third_ram [0:DEPTH-1];
        reg [31:0] third_q;
        always @(posedge clk_i) begin
            if (push)
                third_ram[write_q] <= written_i;
            if (count_q != 0 && !stays)
                third_q <= third_ram[read_q];
        end
        assign third = third_q;
    end else begin : without_third
        assign third = 32'd0;
    end endgenerate

    always @(posedge clk_i)
        if (rst_i) begin
            write_q   <= 0;
            read_q    <= 0;
            count_q   <= 0;
            have_q    <= 1'b0;
            lost_q    <= 32'd0;
            crowded_o <= 1'b0;
        end else if (valid_i || !empty_o || crowded_o) begin // else nothing changes
            if (push)
                write_q <= write_q + 1'b1;
            if (count_q == 0 || stays) begin
                have_q <= stays;
                if (push)
                    count_q <= count_q + 1'b1;
            end else begin
                have_q <= 1'b1;
                read_q <= read_q + 1'b1;
                if (!push)
                    count_q <= count_q - 1'b1;
            end
            if (lost)
                lost_q <= 32'd0;
            else if (dropped)
                lost_q <= lost_q + 32'd1;
            `HOLDS(capture_stalls_in_time, lossy_i || !dropped)
            `HOLDS(capture_fifo_count, count_q <= DEPTH[W:0])
            crowded_o <= count_q > DEPTH[W:0] - SLACK[W:0];
        end

    reg [31:0] header, cycle;
    reg [2:0]  last;
    always @* begin
        header[`REC_HEAD_HART] = hart_i;
        {cycle, last, header[`REC_HEAD_LATENCY], header[`REC_HEAD_SEQUENCE],
            header[`REC_HEAD_VISIBLE], header[`REC_HEAD_TX], header[`REC_HEAD_SIZE],
            header[`REC_HEAD_KIND]} = head_q;
    end

    reg [31:0] word;
    always @*
        if (!select_i)
            word = 32'd0;
        else
            case (word_i)
            3'd0:    word = header;
            3'd1:    word = cycle;
            3'd2:    word = body_q[31:0];
            3'd3:    word = body_q[63:32];
            default: word = third;
            endcase
    assign word_o = word;
    assign last_o = select_i ? last : 3'd0;

    wire unused = &{1'b0, lossy_i};
    `COVER(capture_fifo_loses, dropped)
    `COVER(capture_fifo_says_so, lost)
    `COVER(capture_fifo_loses_while_it_says_so, lost && valid_i)
endmodule
`default_nettype wire
