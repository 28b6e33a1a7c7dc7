// SPDX-License-Identifier: Apache-2.0
// The memory behind the bus: an array of words, one access a cycle, and the queues before it.
//
// Three queues: reads of lines, writes of lines with their words, uncached words. Each is in
// order; which of them is served next is chosen at random where there is a choice. A read waits
// for an older write to the same line. Addresses are taken modulo the size of the array.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module memory #(
    parameter MEMORY_WORDS = 16384, // two lines or more
    parameter LINE_WORDS   = 4,
    parameter READS        = 2,     // depth of the queues, 1 to 8
    parameter WRITES       = 2,
    parameter WORDS        = 2,
    parameter DELAYS       = 1
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [6:0]  bug_i,
    input  wire [31:0] seed_i,
    input  wire [2:0]  level_i,

    // Line reads. The words come in order, one line after the other, and are taken always.
    input  wire        rd_valid_i,
    output wire        rd_ready_o,
    input  wire [31:0] rd_addr_i,
    input  wire [2:0]  rd_tag_i,
    output wire        rdata_valid_o,
    output wire [2:0]  rdata_tag_o,
    output wire [31:0] rdata_o,
    output wire        rdata_last_o,
    output wire        behind_o,     // a read waits for a write to its line
    output wire [2:0]  behind_tag_o,

    // Line writes: the address first, then its words in order, from the next cycle on. No other
    // address before the last word.
    input  wire        wr_valid_i,
    output wire        wr_ready_o,
    input  wire [31:0] wr_addr_i,
    input  wire        wdata_valid_i,
    input  wire [31:0] wdata_i,
    input  wire        wdata_last_i,

    // Uncached words; the answer comes in the cycle in which the word is read, and written.
    input  wire        uc_valid_i,
    output wire        uc_ready_o,
    input  wire [3:0]  uc_hart_i,
    input  wire        uc_write_i,
    input  wire        uc_atomic_i,
    input  wire [4:0]  uc_amo_i,
    input  wire [31:0] uc_addr_i,
    input  wire [3:0]  uc_be_i,
    input  wire [31:0] uc_data_i,
    input  wire [31:0] uc_compare_i,
    output wire        rsp_valid_o,
    output wire [3:0]  rsp_hart_o,
    output wire [31:0] rsp_data_o,
    output wire [31:0] rsp_written_o,

    // The loader's way to the array, open while rst_i is 1. The address is a byte offset; the word
    // read comes a cycle later.
    input  wire        load_we_i,
    input  wire [31:0] load_addr_i,
    input  wire [31:0] load_data_i,
    output wire [31:0] load_data_o
);
    localparam LW = $clog2(LINE_WORDS);
    localparam AW = $clog2(MEMORY_WORDS);
    localparam TW = AW - LW;                         // what tells a line from another
    localparam RW = READS  > 1 ? $clog2(READS)  : 1; // indices of the queues
    localparam WW = WRITES > 1 ? $clog2(WRITES) : 1;
    localparam UW = WORDS  > 1 ? $clog2(WORDS)  : 1;
    localparam [RW-1:0] LAST_READ  = READS[RW-1:0] - 1'b1;
    localparam [WW-1:0] LAST_WRITE = WRITES[WW-1:0] - 1'b1;
    localparam [UW-1:0] LAST_UC    = WORDS[UW-1:0] - 1'b1;
    localparam [LW-1:0] LAST_WORD  = {LW{1'b1}};

    wire unused = &{1'b0, rd_addr_i, wr_addr_i, uc_addr_i, load_addr_i};

    // What the array is busy with. A word takes two cycles: FETCH reads it, PERFORM answers and
    // writes what it is after that; nobody else comes between.
    localparam [2:0] IDLE = 3'd0, READ = 3'd1, WRITE = 3'd2, FETCH = 3'd3, PERFORM = 3'd4;
    reg  [2:0]    state_q;
    reg  [LW-1:0] index_q; // of the word in READ and WRITE
    wire          last = index_q == LAST_WORD;
    wire          read_start, write_start, word_start; // at most one, in IDLE only

    // ---- the queue of reads
    reg  [TW-1:0] read_line_q [0:READS-1];
    reg  [2:0]    read_tag_q  [0:READS-1];
    reg  [RW-1:0] read_head_q, read_tail_q;
    reg  [3:0]    read_count_q;
    wire [TW-1:0] read_line = read_line_q[read_head_q];
    wire          read_push = rd_valid_i && rd_ready_o;
    wire          read_pop  = state_q == READ && last;
    assign rd_ready_o = read_count_q != READS[3:0];

    always @(posedge clk_i)
        if (rst_i) begin
            read_head_q  <= {RW{1'b0}};
            read_tail_q  <= {RW{1'b0}};
            read_count_q <= 4'd0;
        end else if (read_push || read_pop) begin
            if (read_push) begin
                read_line_q[read_tail_q] <= rd_addr_i[AW+1:LW+2];
                read_tag_q[read_tail_q]  <= rd_tag_i;
                read_tail_q <= read_tail_q == LAST_READ ? {RW{1'b0}} : read_tail_q + 1'b1;
            end
            if (read_pop)
                read_head_q <= read_head_q == LAST_READ ? {RW{1'b0}} : read_head_q + 1'b1;
            read_count_q <= read_count_q + {3'd0, read_push} - {3'd0, read_pop};
        end

    // ---- the queue of writes: lines with their words, some of which are still to come
    reg  [TW-1:0] write_line_q [0:WRITES-1];
    reg  [31:0]   write_data [0:(1<<WW)*LINE_WORDS-1];
    reg  [31:0]   write_word_q;
    reg  [WRITES-1:0] write_valid_q;           // taken and not yet written
    reg  [WW-1:0] write_head_q, write_tail_q;
    reg  [3:0]    write_count_q;               // of the lines with all their words
    reg  [LW-1:0] write_index_q;               // of the word that comes next
    wire [TW-1:0] write_line = write_line_q[write_head_q];
    wire          write_full  = write_valid_q[write_tail_q];
    wire          write_push  = wr_valid_i && !write_full;
    wire          write_word  = wdata_valid_i && !dropped_q;
    wire          write_whole = write_word && wdata_last_i;
    wire          write_pop   = state_q == WRITE && last && !younger;
    wire [LW-1:0] write_next = state_q == WRITE ? index_q + 1'b1 : {LW{1'b0}};
    reg           dropped_q;                   // BUG_REQUEST_DROPPED: so is the line that comes
    assign wr_ready_o = !write_full || bug_i == `BUG_REQUEST_DROPPED;

    always @(posedge clk_i)
        if (rst_i) begin
            write_valid_q <= {WRITES{1'b0}};
            write_head_q  <= {WW{1'b0}};
            write_tail_q  <= {WW{1'b0}};
            write_count_q <= 4'd0;
            write_index_q <= {LW{1'b0}};
            dropped_q     <= 1'b0;
        end else begin
            if (wr_valid_i && wr_ready_o)
                dropped_q <= write_full;
            if (write_push) begin
                write_line_q[write_tail_q]  <= wr_addr_i[AW+1:LW+2];
                write_valid_q[write_tail_q] <= 1'b1;
            end
            if (write_word) begin
                write_index_q <= write_index_q + 1'b1;
                if (wdata_last_i)
                    write_tail_q <= write_tail_q == LAST_WRITE ? {WW{1'b0}} : write_tail_q + 1'b1;
            end
            if (write_pop) begin
                write_valid_q[write_head_q] <= 1'b0;
                write_head_q <= write_head_q == LAST_WRITE ? {WW{1'b0}} : write_head_q + 1'b1;
            end
            write_count_q <= write_count_q + {3'd0, write_whole} - {3'd0, write_pop};
        end

    always @(posedge clk_i)
        if (write_word)
            write_data[{write_tail_q, write_index_q}] <= wdata_i;
    always @(posedge clk_i)
        if (write_start || state_q == WRITE)
            write_word_q <= write_data[{younger ? write_second : write_head_q, write_next}];

    // BUG_WRITE_MERGE: a write waits for another, and of two of one line the younger is done first
    // (1), then the older (2), then the younger is only forgotten (3).
    wire [WW-1:0] write_second = write_head_q == LAST_WRITE ? {WW{1'b0}} : write_head_q + 1'b1;
    wire          twins = bug_i == `BUG_WRITE_MERGE && write_count_q > 4'd1
                          && write_line == write_line_q[write_second];
    reg  [1:0]    merge_q;
    wire          younger = merge_q == 2'd1 || write_start && merge_q == 2'd0 && twins;
    wire          forget  = merge_q == 2'd3;
    always @(posedge clk_i)
        if (rst_i)
            merge_q <= 2'd0;
        else if (write_start && merge_q == 2'd0 && twins)
            merge_q <= 2'd1;
        else if (state_q == WRITE && last && merge_q != 2'd0)
            merge_q <= merge_q + 2'd1;

    // ---- the queue of uncached words
    reg  [3:0]    word_hart_q [0:WORDS-1];
    reg  [6:0]    word_op_q [0:WORDS-1];   // write, atomic, amo
    reg  [AW-1:0] word_addr_q [0:WORDS-1];
    reg  [3:0]    word_be_q [0:WORDS-1];
    reg  [31:0]   word_data_q [0:WORDS-1];
    reg  [31:0]   word_compare_q [0:WORDS-1];
    reg  [UW-1:0] word_head_q, word_tail_q;
    reg  [3:0]    word_count_q;
    wire          word_push = uc_valid_i && uc_ready_o;
    wire          word_pop  = state_q == PERFORM;
    assign uc_ready_o = word_count_q != WORDS[3:0];

    always @(posedge clk_i)
        if (rst_i) begin
            word_head_q  <= {UW{1'b0}};
            word_tail_q  <= {UW{1'b0}};
            word_count_q <= 4'd0;
        end else if (word_push || word_pop) begin
            if (word_push) begin
                word_hart_q[word_tail_q]    <= uc_hart_i;
                word_op_q[word_tail_q]      <= {uc_write_i, uc_atomic_i, uc_amo_i};
                word_addr_q[word_tail_q]    <= uc_addr_i[AW+1:2];
                word_be_q[word_tail_q]      <= uc_be_i;
                word_data_q[word_tail_q]    <= uc_data_i;
                word_compare_q[word_tail_q] <= uc_compare_i;
                word_tail_q <= word_tail_q == LAST_UC ? {UW{1'b0}} : word_tail_q + 1'b1;
            end
            if (word_pop)
                word_head_q <= word_head_q == LAST_UC ? {UW{1'b0}} : word_head_q + 1'b1;
            word_count_q <= word_count_q + {3'd0, word_push} - {3'd0, word_pop};
        end

    // ---- a read and the writes before it: while it waits no younger one of its line can come
    reg     behind;
    integer w;
    always @* begin
        behind = 1'b0;
        if (read_count_q != 4'd0)
            for (w = 0; w < WRITES; w = w + 1)
                if (write_valid_q[w] && write_line_q[w] == read_line)
                    behind = 1'b1;
    end
    assign behind_o     = behind;
    assign behind_tag_o = read_tag_q[read_head_q];

    // ---- the choice
    wire read_go, write_go, word_go;
    delay #(.DELAYS(DELAYS), .SALT(32'h4d01)) read_delay (.clk_i(clk_i), .rst_i(rst_i),
        .seed_i(seed_i), .level_i(level_i), .move_i(read_start), .go_o(read_go));
    delay #(.DELAYS(DELAYS), .SALT(32'h4d02)) write_delay (.clk_i(clk_i), .rst_i(rst_i),
        .seed_i(seed_i), .level_i(level_i), .move_i(write_start), .go_o(write_go));
    delay #(.DELAYS(DELAYS), .SALT(32'h4d03)) word_delay (.clk_i(clk_i), .rst_i(rst_i),
        .seed_i(seed_i), .level_i(level_i), .move_i(word_start), .go_o(word_go));

    reg  [15:0] random_q; // Galois LFSR x^16 + x^14 + x^13 + x^11 + 1, a step for every choice
    wire read_may  = state_q == IDLE && read_count_q != 4'd0 && read_go
                     && (!behind || bug_i == `BUG_READ_OVERTAKES);
    wire write_may = state_q == IDLE && write_count_q != 4'd0 && write_go
                     && (bug_i != `BUG_WRITE_MERGE || write_count_q > 4'd1 || behind || write_full);
    wire word_may  = state_q == IDLE && word_count_q != 4'd0 && word_go;
    // All six orders occur.
    wire read_first  = random_q[0]; // reads before writes
    wire write_first = random_q[1]; // writes before words
    // words before reads, where that is not settled by the other two
    wire word_first  = random_q[0] == random_q[1] ? !random_q[0] : random_q[2];
    assign read_start  = read_may  && !(write_may && !read_first)  && !(word_may && word_first);
    assign write_start = write_may && !(read_may && read_first)    && !(word_may && !write_first);
    assign word_start  = word_may  && !(write_may && write_first)  && !(read_may && !word_first);

    always @(posedge clk_i)
        if (rst_i)
            random_q <= seed_i[15:0] ^ seed_i[31:16] | 16'd1;
        else if (read_start || write_start || word_start)
            random_q <= {1'b0, random_q[15:1]} ^ (random_q[0] ? 16'hb400 : 16'd0);

    always @(posedge clk_i)
        if (rst_i) begin
            state_q <= IDLE;
            index_q <= {LW{1'b0}};
        end else
            case (state_q)
                READ, WRITE: begin
                    index_q <= index_q + 1'b1;
                    if (last)
                        state_q <= IDLE;
                end
                FETCH:   state_q <= PERFORM;
                PERFORM: state_q <= IDLE;
                default: state_q <= read_start ? READ : write_start ? WRITE
                                  : word_start ? FETCH : IDLE;
            endcase

    // ---- the array: one port, read or written in a cycle
    reg  [31:0]   array [0:MEMORY_WORDS-1] /*verilator public_flat_rw*/;
    reg  [31:0]   word_q;
    reg           array_valid, array_we;
    reg  [AW-1:0] array_addr;
    reg  [31:0]   array_data;
    wire [31:0]   word_written; // what the word is after PERFORM
    wire          word_writes;

    always @* begin
        array_valid = state_q != IDLE;
        array_we    = state_q == WRITE && !forget || state_q == PERFORM && word_writes;
        array_addr  = word_addr_q[word_head_q];
        array_data  = word_written;
        case (state_q)
            READ: array_addr = {read_line, index_q};
            WRITE: begin
                array_addr = {write_line, index_q};
                array_data = write_word_q;
            end
            default: ;
        endcase
        if (rst_i) begin
            array_valid = 1'b1;
            array_we    = load_we_i;
            array_addr  = load_addr_i[AW+1:2];
            array_data  = load_data_i;
        end
    end

    always @(posedge clk_i)
        if (array_valid) begin
            if (array_we)
                array[array_addr] <= array_data;
            else
                word_q <= array[array_addr];
        end
    assign load_data_o = word_q;

    reg       rdata_valid_q, rdata_last_q;
    reg [2:0] rdata_tag_q;
    always @(posedge clk_i) begin
        rdata_valid_q <= !rst_i && state_q == READ;
        rdata_last_q  <= last;
        if (state_q == READ)
            rdata_tag_q <= read_tag_q[read_head_q];
    end
    assign rdata_valid_o = rdata_valid_q;
    assign rdata_tag_o   = rdata_tag_q;
    assign rdata_o       = word_q;
    assign rdata_last_o  = rdata_last_q;

    // ---- uncached words: a load, a store and an atomic operation are all read, then perhaps write
    wire [6:0] word_op = word_op_q[word_head_q];
    wire       amo_write;
    amo word_amo (.bug_i(bug_i), .amo_i(word_op[5] ? word_op[4:0] : 5'b00001 /* swap */),
        .old_i(word_q), .data_i(word_data_q[word_head_q]),
        .compare_i(word_compare_q[word_head_q]), .be_i(word_be_q[word_head_q]),
        .new_o(word_written), .write_o(amo_write));

    assign word_writes   = (word_op[5] || word_op[6]) && amo_write;
    assign rsp_valid_o   = state_q == PERFORM;
    assign rsp_hart_o    = word_hart_q[word_head_q];
    assign rsp_data_o    = word_q;
    assign rsp_written_o = word_written;

    // ---- promises
    `ASSERT(memory_read_after_write, !(state_q == READ && behind))
    `ASSERTIONS(wr_valid_i || wdata_valid_i)
        `HOLDS(memory_no_write_during_read, !(write_push && read_count_q != 4'd0
                                              && wr_addr_i[AW+1:LW+2] == read_line))
        `HOLDS(memory_words_belong, !write_word || write_full)
        `HOLDS(memory_one_line_at_a_time, !wr_valid_i || write_index_q == {LW{1'b0}})
        `HOLDS(memory_last_word, !write_word || wdata_last_i == (write_index_q == LAST_WORD))
    `END_ASSERTIONS
    `ASSERT(memory_queue_bounds, read_count_q <= READS[3:0] && write_count_q <= WRITES[3:0]
                                 && word_count_q <= WORDS[3:0])
    `ASSERT(memory_one_choice, !(read_start && write_start) && !(read_start && word_start)
                               && !(write_start && word_start))
    `COVER(memory_three_ways, read_may && write_may && word_may)
    `COVER(memory_read_waits, behind && state_q == IDLE && !write_may)
    `COVER(memory_writes_full, !wr_ready_o)
    `COVER(memory_reads_full, !rd_ready_o)
endmodule
`default_nettype wire
