// SPDX-License-Identifier: Apache-2.0
// Who has the arrays of a cache: a snoop, a fill or a request of the load/store unit, one at a
// time.
//
// In the first cycle (IDLE) it is taken; in the second (ACT) all is decided; where a line is to be
// copied (start_i) its words follow, one a cycle (STREAM). After a snoop a fill is preferred, then
// a request, then a snoop again.
`default_nettype none
module cache_turn #(
    parameter W_LINE = 28,
    parameter W_WAY = 1,
    parameter W_BEAT = 2
) (
    input  wire              clk_i,
    input  wire              rst_i,

    // Who wants them: may be withdrawn until taken.
    input  wire              snoop_i,
    input  wire [W_LINE-1:0] snoop_line_i,
    input  wire [1:0]        snoop_cmd_i,
    input  wire              fill_i,
    input  wire [W_LINE-1:0] fill_line_i,
    input  wire [1:0]        fill_cmd_i,
    input  wire              request_i,
    input  wire [W_LINE-1:0] request_line_i,
    output wire              take_snoop_o,
    output wire              take_fill_o,
    output wire              take_request_o,
    output wire              request_ready_o, // a request would be taken
    output wire [W_LINE-1:0] take_line_o,     // of whoever is taken

    output wire              idle_o,          // nobody has them
    output wire              act_o,           // one of these three acts:
    output wire              act_snoop_o,
    output wire              act_fill_o,
    output wire              act_request_o,
    output wire              snoop_o,         // the last that had them, or has them, is a snoop
    output wire [W_LINE-1:0] line_o,          // its line, until the next is taken
    output wire [1:0]        cmd_o,           // of a snoop or fill

    // A line is copied: out of the arrays, or into them, or both.
    input  wire              start_i,         // with act_o: beginning in the next cycle
    input  wire [W_WAY-1:0]  start_way_i,
    input  wire              start_copy_i,    // out of them
    output wire              stream_o,        // a word is copied now
    output wire              stream_last_o,   // and it is the last
    output wire [W_WAY-1:0]  stream_way_o,
    output wire [W_BEAT-1:0] stream_beat_o,
    output wire              stream_copy_o,
    output wire              stream_fill_o,   // into them, for a fill
    output reg  [W_BEAT-1:0] next_beat_o      // with start_i, stream_o: the word to come
);
    localparam [1:0] IDLE = 2'd0, ACT = 2'd1, STREAM = 2'd2;
    localparam [1:0] SNOOP = 2'd0, FILL = 2'd1, REQUEST = 2'd2;

    reg [1:0]        state_q, kind_q; // kind_q stays when it is over: the next in turn is preferred
    reg [W_LINE-1:0] line_q;
    reg [1:0]        cmd_q;
    reg [W_WAY-1:0]  way_q;
    reg [W_BEAT-1:0] beat_q;
    reg              copy_q, fill_q;

    assign idle_o = state_q == IDLE;
    assign take_snoop_o = idle_o && snoop_i
        && (kind_q == REQUEST || !request_i && (kind_q == FILL || !fill_i));
    assign take_fill_o = idle_o && fill_i
        && (kind_q == SNOOP || !snoop_i && (kind_q == REQUEST || !request_i));
    assign request_ready_o = idle_o
        && (kind_q == FILL || !fill_i && (kind_q == SNOOP || !snoop_i));
    assign take_request_o = request_ready_o && request_i;
    assign take_line_o = take_snoop_o ? snoop_line_i : take_fill_o ? fill_line_i : request_line_i;

    assign act_o = state_q == ACT;
    assign act_snoop_o = act_o && kind_q == SNOOP;
    assign act_fill_o = act_o && kind_q == FILL;
    assign act_request_o = act_o && kind_q == REQUEST;
    assign snoop_o = kind_q == SNOOP;
    assign line_o = line_q;
    assign cmd_o = cmd_q;

    assign stream_o = state_q == STREAM;
    assign stream_last_o = stream_o && beat_q == {W_BEAT{1'b1}};
    assign stream_way_o = way_q;
    assign stream_beat_o = beat_q;
    assign stream_copy_o = copy_q;
    assign stream_fill_o = fill_q;
    always @* begin
        next_beat_o = {W_BEAT{1'bx}};
        if (start_i || stream_o)
            next_beat_o = stream_o ? beat_q + 1'b1 : {W_BEAT{1'b0}};
    end

    always @(posedge clk_i) begin
        if (idle_o) begin
            if (take_snoop_o || take_fill_o || take_request_o) begin
                state_q <= ACT;
                kind_q <= take_snoop_o ? SNOOP : take_fill_o ? FILL : REQUEST;
                line_q <= take_line_o;
            end
            if (take_snoop_o)
                cmd_q <= snoop_cmd_i;
            if (take_fill_o)
                cmd_q <= fill_cmd_i;
        end
        if (act_o) begin
            state_q <= start_i ? STREAM : IDLE;
            beat_q <= {W_BEAT{1'b0}};
            way_q <= start_way_i;
            copy_q <= start_copy_i;
            fill_q <= act_fill_o;
        end
        if (stream_o) begin
            beat_q <= beat_q + 1'b1;
            if (stream_last_o)
                state_q <= IDLE;
        end
        if (rst_i) begin
            state_q <= IDLE;
            kind_q <= SNOOP;
        end
    end
endmodule
`default_nettype wire
