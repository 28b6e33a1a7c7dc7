// SPDX-License-Identifier: Apache-2.0
// One hart's snoops: a queue of the transactions that its cache has not been asked about, and the
// one that it has been asked about. That one is over with the answer, or, when data was promised,
// with its last word; only then the next is given.
`default_nettype none
`include "check.vh"
module bus_snoop #(
    parameter SNOOPS = 2, // depth of the queue, 1 to 8
    parameter DELAYS = 1,
    parameter [31:0] SALT = 1
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [31:0] seed_i,
    input  wire [2:0]  level_i,

    input  wire        push_i,    // only where room_o is 1
    input  wire [2:0]  push_txn_i,
    input  wire        push_late_i, // BUG_ACKS_EARLY: set it aside
    output wire        room_o,
    output wire        almost_o,  // room for one more, and not empty

    output wire        pop_o,     // the head is taken out of the queue: what is asked about it
    output wire [2:0]  head_o,
    input  wire [1:0]  head_cmd_i,
    input  wire [31:0] head_addr_i,

    output wire        snp_valid_o,
    input  wire        snp_ready_i,
    output wire [1:0]  snp_cmd_o,
    output wire [31:0] snp_addr_o,
    input  wire        ack_valid_i,
    input  wire        ack_data_i,
    input  wire        word_valid_i, // a word of an answer
    input  wire        word_last_i,

    output wire [2:0]  txn_o,     // the transaction that is asked about
    output wire        over_o     // the answer is complete
);
    localparam [1:0] IDLE = 2'd0, OFFER = 2'd1, ASKED = 2'd2, DATA = 2'd3;
    reg [1:0]          state_q;
    reg [SNOOPS*3-1:0] queue_q; // the head in the low bits
    reg [3:0]          count_q;
    reg [2:0]          txn_q;
    reg [1:0]          cmd_q;
    reg [31:0]         addr_q;

    reg  [6:0] aside_q;     // BUG_ACKS_EARLY: a snoop set aside, and for how long still, plus 1
    reg  [2:0] aside_txn_q;
    wire       aside = aside_q == 7'd1;
    wire go;
    wire next = state_q == IDLE && (count_q != 4'd0 || aside) && go;
    wire pop  = next && !aside;
    wire push = push_i && !(push_late_i && aside_q == 7'd0);
    delay #(.DELAYS(DELAYS), .SALT(SALT)) pause (.clk_i(clk_i), .rst_i(rst_i),
        .seed_i(seed_i), .level_i(level_i), .move_i(next), .go_o(go));

    assign room_o      = count_q != SNOOPS[3:0];
    assign almost_o    = count_q == SNOOPS[3:0] - 4'd1 && count_q != 4'd0;
    assign pop_o       = next;
    assign head_o      = aside ? aside_txn_q : queue_q[2:0];
    assign snp_valid_o = state_q == OFFER;
    assign snp_cmd_o   = cmd_q;
    assign snp_addr_o  = addr_q;
    assign txn_o       = txn_q;
    assign over_o      = ack_valid_i && !ack_data_i
                      || state_q == DATA && word_valid_i && word_last_i;

    always @(posedge clk_i)
        if (rst_i)
            aside_q <= 7'd0;
        else if (aside_q == 7'd0) begin
            if (push_late_i && push_i) begin
                aside_q     <= 7'd127;
                aside_txn_q <= push_txn_i;
            end
        end else if (!aside || next)
            aside_q <= aside_q - 7'd1;

    wire [3:0] place = count_q - {3'd0, pop}; // of what is pushed
    integer i;
    always @(posedge clk_i)
        if (rst_i) begin
            count_q <= 4'd0;
            queue_q <= {SNOOPS*3{1'b0}};
        end else if (push || pop) begin
            count_q <= place + {3'd0, push};
            if (pop)
                queue_q <= queue_q >> 3;
            for (i = 0; i < SNOOPS; i = i + 1)
                if (push && place == i[3:0])
                    queue_q[i*3 +: 3] <= push_txn_i;
        end

    always @(posedge clk_i)
        if (rst_i)
            state_q <= IDLE;
        else if (next) begin
            state_q <= OFFER;
            txn_q   <= head_o;
            cmd_q   <= head_cmd_i;
            addr_q  <= head_addr_i;
        end else if (ack_valid_i)
            state_q <= ack_data_i ? DATA : IDLE;
        else if (over_o)
            state_q <= IDLE;
        else if (state_q == OFFER && snp_ready_i)
            state_q <= ASKED;

    `ASSERTIONS(push_i || ack_valid_i || word_valid_i)
        `HOLDS(snoop_queue_bounds, !(push_i && !room_o) && count_q <= SNOOPS[3:0])
        `HOLDS(snoop_answered_once, !ack_valid_i || state_q == ASKED
                                    || state_q == OFFER && snp_ready_i)
        `HOLDS(snoop_words_promised,
               !word_valid_i || state_q == DATA || ack_valid_i && ack_data_i)
    `END_ASSERTIONS
    `COVER(snoop_queue_full, !room_o)
    `COVER(snoop_data_with_answer, ack_valid_i && word_valid_i)
endmodule
`default_nettype wire
