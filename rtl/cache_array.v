// SPDX-License-Identifier: Apache-2.0
// Tags and words of a cache: a RAM of each for every way.
//
// read_i reads the set of all ways, tags and one word; a cycle later match_o says where the line of
// tag_i is, and hit_word_o is its word. read_word_i alone reads another word of the same set. What
// was read stays.
`default_nettype none
module cache_array #(
    parameter W_SET = 4,
    parameter W_TAG = 24,
    parameter WAYS = 2,
    parameter W_WAY = 1,
    parameter W_BEAT = 2
) (
    input  wire              clk_i,
    input  wire              rst_i,

    input  wire              read_i,
    input  wire              read_word_i,
    input  wire [W_SET-1:0]  read_set_i,
    input  wire [W_BEAT-1:0] read_beat_i,

    input  wire              look_i,       // only then match_o, hit_* are of meaning
    input  wire [W_TAG-1:0]  tag_i,        // of a line, and its set: compared and written
    input  wire [W_SET-1:0]  set_i,
    input  wire [WAYS-1:0]   valid_i,      // the ways of the set that hold lines
    output wire [WAYS-1:0]   match_o,      // at most one
    output wire [W_WAY-1:0]  hit_way_o,
    output wire [31:0]       hit_word_o,

    input  wire              look_way_i,   // only then these two are of meaning:
    input  wire [W_WAY-1:0]  way_i,        // what was read of this way
    output wire [W_TAG-1:0]  tag_o,
    output wire [31:0]       word_o,

    input  wire [W_WAY-1:0]  write_way_i,
    input  wire              write_tag_i,
    input  wire              write_word_i,
    input  wire [W_BEAT-1:0] write_beat_i,
    input  wire [31:0]       write_data_i
);
    wire [WAYS*W_TAG-1:0] tags;
    wire [WAYS*32-1:0]    words;

    genvar g;
    generate for (g = 0; g < WAYS; g = g + 1) begin : way
        wire mine = WAYS == 1 || write_way_i == g[W_WAY-1:0];
        cache_ram #(.WIDTH(W_TAG), .W_ADDR(W_SET)) tag (
            .clk_i(clk_i), .rst_i(rst_i), .read_i(read_i), .read_addr_i(read_set_i),
            .read_data_o(tags[g*W_TAG +: W_TAG]),
            .write_i(mine && write_tag_i), .write_addr_i(set_i), .write_data_i(tag_i)
        );
        cache_ram #(.WIDTH(32), .W_ADDR(W_SET + W_BEAT)) word (
            .clk_i(clk_i), .rst_i(rst_i), .read_i(read_i || read_word_i),
            .read_addr_i({read_set_i, read_beat_i}), .read_data_o(words[g*32 +: 32]),
            .write_i(mine && write_word_i), .write_addr_i({set_i, write_beat_i}),
            .write_data_i(write_data_i)
        );
    end endgenerate

    reg [WAYS-1:0]  match;
    reg [W_WAY-1:0] hit_way;
    reg [31:0]      hit_word;
    integer i;
    always @* begin
        match = {WAYS{1'b0}};
        hit_way = {W_WAY{1'b0}};
        hit_word = 32'd0;
        if (look_i)
            for (i = 0; i < WAYS; i = i + 1)
                if (valid_i[i] && tags[i*W_TAG +: W_TAG] == tag_i) begin
                    match[i] = 1'b1;
                    hit_way = i[W_WAY-1:0];
                    hit_word = words[i*32 +: 32];
                end
    end
    assign match_o = match;
    assign hit_way_o = hit_way;
    assign hit_word_o = hit_word;

    reg [W_TAG-1:0] tag_of_way;
    reg [31:0]      word_of_way;
    always @* begin
        tag_of_way = {W_TAG{1'b0}};
        word_of_way = 32'd0;
        if (look_way_i)
            for (i = 0; i < WAYS; i = i + 1)
                if (WAYS == 1 || way_i == i[W_WAY-1:0]) begin
                    tag_of_way = tags[i*W_TAG +: W_TAG];
                    word_of_way = words[i*32 +: 32];
                end
    end
    assign tag_o = tag_of_way;
    assign word_o = word_of_way;
endmodule
`default_nettype wire
