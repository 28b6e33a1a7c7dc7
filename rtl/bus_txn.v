// SPDX-License-Identifier: Apache-2.0
// One transaction in flight, from its address phase until the line is in the requester's cache and,
// where an owner's data must go there too, in the queue of memory. While it is busy nobody
// else has an address phase for its line.
//
// First all other caches answer; an owner's data comes with the answer, else memory is read. Then
// the line buffer goes to the requester and, GETS of a dirty line, to memory, one after the other.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module bus_txn #(
    parameter NHARTS     = 4,
    parameter LINE_WORDS = 4,
    parameter HW         = 2  // bits of a hart's number
) (
    input  wire              clk_i,
    input  wire              rst_i,
    input  wire [6:0]        bug_i,

    input  wire              start_i,        // only where busy_o is 0
    input  wire [HW-1:0]     start_hart_i,
    input  wire [1:0]        start_id_i,
    input  wire [1:0]        start_cmd_i,
    input  wire [31:0]       start_addr_i,
    input  wire [NHARTS-1:0] start_others_i, // whose answers are awaited
    output wire              busy_o,
    output wire [HW-1:0]     hart_o,         // the requester, its MSHR, what it wants
    output wire [1:0]        id_o,
    output wire [1:0]        cmd_o,
    output wire [31:0]       addr_o,

    input  wire [NHARTS-1:0] over_i,         // these answers are complete
    input  wire              shared_i,       // somebody answers that he keeps the line
    input  wire              owner_i,        // somebody answers that he has it dirty
    input  wire              word_valid_i,   // the next word, of the owner or of memory
    input  wire [31:0]       word_i,
    input  wire              word_last_i,

    output wire              read_o,         // wants to read memory
    input  wire              read_go_i,
    output wire              fill_o,         // wants to send the line to the requester
    output wire              filling_o,      // does
    input  wire              fill_go_i,
    output wire              update_o,       // wants to send it to memory
    input  wire              update_go_i,
    output wire              owned_o,        // the data is an owner's
    output wire              shared_o,
    output wire              unsent_o,       // nothing has gone to the requester yet
    output wire              sent_valid_o,   // a word for the requester
    output wire              sent_last_o,
    output wire              written_valid_o, // a word for memory
    output wire              written_last_o,
    output wire [31:0]       data_o,
    output wire              undone_o,       // fill_done has not come; then the MSHR may be reused
    input  wire              done_i          // fill_done of the requester
);
    localparam LW = $clog2(LINE_WORDS);
    localparam [2:0] FREE = 3'd0, SNOOP = 3'd1, READ = 3'd2, WAIT = 3'd3, // for memory's words
                     HOLD = 3'd4, FILL = 3'd5, UPDATE = 3'd6;
    reg [2:0]        state_q;
    reg [HW-1:0]     hart_q;
    reg [1:0]        id_q, cmd_q;
    reg [31:0]       addr_q;
    reg [NHARTS-1:0] pending_q;
    reg              shared_q, owner_q, filled_q, update_q, done_q;
    reg [LW-1:0]     in_q, out_q; // the word that comes, goes next
    reg              sent_q, written_q, last_q;

    wire             upgrade  = cmd_q == `BUS_UPG;
    wire             out_last = out_q == {LW{1'b1}} || state_q == FILL && upgrade;
    wire [NHARTS-1:0] pending = pending_q & ~over_i;
    wire             owner    = owner_q || owner_i;

    // The line buffer: written by one, read by one, a word each.
    reg [31:0] line [0:LINE_WORDS-1];
    reg [31:0] data_q;
    always @(posedge clk_i)
        if (word_valid_i)
            line[in_q] <= word_i;
    always @(posedge clk_i)
        if (state_q == FILL || state_q == UPDATE)
            data_q <= line[out_q];

    always @(posedge clk_i) begin
        sent_q    <= !rst_i && state_q == FILL;
        written_q <= !rst_i && state_q == UPDATE;
        if (rst_i)
            state_q <= FREE;
        else if (state_q == FREE) begin
            if (start_i) begin
                state_q   <= SNOOP;
                hart_q    <= start_hart_i;
                id_q      <= start_id_i;
                cmd_q     <= start_cmd_i;
                addr_q    <= start_addr_i;
                pending_q <= start_others_i;
                shared_q  <= 1'b0;
                owner_q   <= 1'b0;
                filled_q  <= 1'b0;
                update_q  <= 1'b0;
                done_q    <= 1'b0;
                in_q      <= {LW{1'b0}};
                out_q     <= {LW{1'b0}};
            end
        end else begin
            last_q    <= out_last;
            pending_q <= pending;
            if (shared_i)
                shared_q <= bug_i == `BUG_TWO_OWNERS ? !shared_q : 1'b1;
            if (owner_i)
                owner_q <= 1'b1;
            if (done_i)
                done_q <= 1'b1;
            if (word_valid_i)
                in_q <= in_q + 1'b1;
            case (state_q)
                SNOOP:
                    if (pending == {NHARTS{1'b0}} || bug_i == `BUG_ACKS_EARLY && upgrade) begin
                        state_q  <= upgrade || owner ? HOLD : READ;
                        update_q <= owner && cmd_q == `BUS_GETS && bug_i != `BUG_NO_UPDATE;
                    end
                READ:
                    if (read_go_i)
                        state_q <= WAIT;
                WAIT:
                    if (word_valid_i && word_last_i)
                        state_q <= HOLD;
                HOLD:
                    if (fill_go_i) begin
                        state_q  <= FILL;
                        filled_q <= 1'b1;
                    end else if (update_go_i) begin
                        state_q  <= UPDATE;
                        update_q <= 1'b0;
                    end else if ((done_i || done_q) && !update_q && pending_q == {NHARTS{1'b0}})
                        state_q <= FREE;
                default: begin // FILL, UPDATE
                    out_q <= out_q + 1'b1;
                    if (out_last) begin
                        out_q   <= {LW{1'b0}};
                        state_q <= HOLD;
                    end
                end
            endcase
        end
    end

    assign busy_o          = state_q != FREE;
    assign hart_o          = hart_q;
    assign id_o            = id_q;
    assign cmd_o           = cmd_q;
    assign addr_o          = addr_q;
    assign read_o          = state_q == READ;
    assign fill_o          = state_q == HOLD && !filled_q;
    assign filling_o       = state_q == FILL;
    assign update_o        = state_q == HOLD && update_q;
    assign owned_o         = owner_q;
    assign shared_o        = shared_q;
    assign unsent_o        = state_q != FREE && !filled_q;
    assign sent_valid_o    = sent_q;
    assign sent_last_o     = last_q;
    assign written_valid_o = written_q;
    assign written_last_o  = last_q;
    assign data_o          = data_q;
    assign undone_o        = state_q != FREE && !done_q;

    `ASSERTIONS(start_i || |over_i || shared_i || owner_i || word_valid_i || done_i)
        `HOLDS(txn_start_when_free, !start_i || state_q == FREE)
        `HOLDS(txn_answer_awaited, (over_i & ~pending_q) == {NHARTS{1'b0}} || state_q == FREE)
        `HOLDS(txn_answer_of_nobody, state_q != FREE || over_i == {NHARTS{1'b0}})
        `HOLDS(txn_word_awaited, !word_valid_i || state_q == WAIT || state_q == SNOOP && owner)
        `HOLDS(txn_single_writer, !(shared_i && cmd_q != `BUS_GETS))
        `HOLDS(txn_one_owner, !(owner_i && owner_q))
        `HOLDS(txn_no_owner_of_shared, !(owner_i && upgrade))
        `HOLDS(txn_done_after_fill, !done_i || filled_q && state_q != FILL)
        `HOLDS(txn_done_once, !(done_i && done_q))
    `END_ASSERTIONS
    `COVER(txn_done_before_update, done_i && (update_q || state_q == UPDATE))
    `COVER(txn_owner_leaves, state_q == FILL && owner_q && !shared_q && cmd_q == `BUS_GETS)
endmodule
`default_nettype wire
