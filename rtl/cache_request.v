// SPDX-License-Identifier: Apache-2.0
// A request of the load/store unit, in the cycle in which it acts: what it does to the line that
// was found or not, what it answers. LR's reservation is kept here.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module cache_request #(
    parameter W_LINE = 28,
    parameter W_BEAT = 2,
    parameter TM = 1
) (
    input  wire              clk_i,
    input  wire              rst_i,
    input  wire [6:0]        bug_i,

    input  wire              take_i,      // it is taken, and acts in the cycle after
    input  wire [3:0]        op_i,
    input  wire [W_BEAT-1:0] word_i,
    input  wire [3:0]        be_i,        // of a store
    input  wire [31:0]       data_i,
    input  wire [31:0]       compare_i,
    input  wire [4:0]        amo_i,
    input  wire              tx_i,

    input  wire              act_i,       // it acts now
    input  wire [W_LINE-1:0] line_i,
    input  wire              hit_i,       // the line is there; and if it is:
    input  wire              exclusive_i,
    input  wire              dirty_i,
    input  wire              read_set_i,
    input  wire              write_set_i,
    input  wire [31:0]       hit_word_i,
    input  wire              upg_granted_i,   // for an UPG of it, it must stay
    input  wire              another_waits_i, // a request of another line waits for the bus
    input  wire              wb_room_i,
    input  wire              doomed_i,        // the transaction is

    output wire              done_o,
    output wire [31:0]       rsp_data_o,
    output wire [31:0]       rsp_written_o,
    output wire              ask_o,           // the line is needed
    output wire              ask_read_o,      // and only to read
    output wire              ask_prefetch_o,  // and not now
    output wire              reads_o,         // in a transaction it belongs to the read set now
    output wire              writes_o,
    output wire              writes_tx_o,     // if it does: in a transaction
    output wire              clean_write_o,   // BUG_SWAP_NOT_DIRTY
    output wire [W_BEAT-1:0] write_word_o,    // this word of the line
    output wire [31:0]       write_data_o,
    output wire              flush_o,         // it may drop the line
    output wire              drop_o,          // it does
    output wire              push_o,          // after the line was copied to the write-back buffer
    output wire              clean_o,         // it was copied, and stays
    output wire              used_o,          // the line was used
    output wire              used_write_o,    // not only read
    output wire              lr_o,
    output wire              sc_o,
    output wire              sc_failed_o,
    output wire              commit_o,
    output wire              commit_half_o,   // BUG_TX_TWO_PIECES
    output wire              abort_o,
    output wire              change_o,        // what was refused by a bug alone may come again

    input  wire              lost_i,          // the cache loses this line:
    input  wire [W_LINE-1:0] lost_line_i,
    input  wire              lost_snoop_i,    // to a snoop
    input  wire              forget_i,        // the reservation is void
    output wire              lost_reservation_o,
    output wire              lost_atomic_o    // an atomic operation waited for it
);
    reg [3:0]               op_q, be_q;
    reg [W_BEAT-1:0]        word_q;
    reg [31:0]              data_q, compare_q;
    reg [4:0]               amo_q;
    reg                     tx_q;
    always @(posedge clk_i)
        if (take_i) begin
            op_q <= op_i;
            word_q <= word_i;
            be_q <= op_i == `CACHE_STORE ? be_i : 4'b1111;
            data_q <= data_i;
            compare_q <= compare_i;
            amo_q <= amo_i;
            tx_q <= tx_i;
        end

    reg                     reserved_q;
    reg [W_LINE+W_BEAT-1:0] reserved_addr_q;
    reg                     atomic_q;        // an AMO, LR or SC was refused and waits for
    reg [W_LINE-1:0]        atomic_line_q;   // this line,
    reg                     atomic_taken_q;  // which was taken away meanwhile
    // For bugs alone.
    reg                     sc_left_q;       // SC_TWICE: an SC left its reservation: no watch
    reg                     split_q;         // SWAP_RELEASES: an AMO has read
    reg [31:0]              split_word_q;    // this word
    reg                     piece_q;         // TX_TWO_PIECES: half of a commit is done
    reg [4:0]               timer_q;         // until the second half of either

    // All that follows is of meaning, and not 0, only where act_i is 1.
    reg is_load, is_store, is_amo, is_lr, is_sc, is_commit, tx_void, reserved, is_write, must_clean;
    reg shared_hit, split, first_piece;
    wire [31:0] old_word = split_q ? split_word_q : hit_word_i;
    always @* begin
        is_load = 1'b0;
        is_store = 1'b0;
        is_amo = 1'b0;
        is_lr = 1'b0;
        is_sc = 1'b0;
        is_commit = 1'b0;
        tx_void = 1'b0;
        reserved = 1'b0;
        is_write = 1'b0;
        must_clean = 1'b0;
        shared_hit = 1'b0;
        split = 1'b0;
        first_piece = 1'b0;
        if (act_i) begin
            is_load = op_q == `CACHE_LOAD;
            is_store = op_q == `CACHE_STORE;
            is_amo = op_q == `CACHE_AMO;
            is_lr = op_q == `CACHE_LR;
            is_sc = op_q == `CACHE_SC;
            is_commit = TM != 0 && op_q == `CACHE_TX_COMMIT;
            tx_void = TM != 0 && tx_q && doomed_i;
            reserved = reserved_q && reserved_addr_q == {line_i, word_q};
            is_write = is_store || is_amo || is_sc && reserved;
            // The first write of a transaction to a dirty line: the line is written back first,
            // and stays as E. The write is refused meanwhile.
            must_clean = TM != 0 && tx_q && is_write && dirty_i && !write_set_i;
            shared_hit = bug_i == `BUG_STORE_ON_SHARED && is_store && hit_i && another_waits_i;
            split = is_amo && bug_i == `BUG_SWAP_RELEASES
                    && (split_q ? timer_q != 5'd0 : exclusive_i && !must_clean && !tx_void);
            first_piece = bug_i == `BUG_TX_TWO_PIECES && (!piece_q || timer_q != 5'd0);
        end
    end

    wire [31:0] amo_new;
    wire        amo_writes;
    amo amo (
        .bug_i(bug_i), .amo_i(is_amo ? amo_q : 5'b00001), .old_i(old_word), .data_i(data_q),
        .compare_i(compare_q), .be_i(is_write ? be_q : 4'b0), .new_o(amo_new), .write_o(amo_writes)
    );

    reg done, ask, drop, push, clean, writes;
    always @* begin
        {done, ask, drop, push, clean, writes} = 6'd0;
        if (act_i)
            case (op_q)
            `CACHE_LOAD: if (!tx_void) begin
                done = hit_i;
                ask = !hit_i;
            end
            `CACHE_STORE, `CACHE_AMO, `CACHE_SC: if (!is_write)
                done = 1'b1; // an SC that fails
            else if (!tx_void && !split) begin
                done = (exclusive_i || shared_hit) && !must_clean;
                ask = !exclusive_i && !shared_hit;
                writes = done && amo_writes;
                clean = exclusive_i && must_clean && wb_room_i;
                push = clean;
            end
            `CACHE_LR: if (!tx_void) begin
                done = exclusive_i;
                ask = !exclusive_i;
            end
            `CACHE_PREFETCH_R: begin
                done = 1'b1;
                ask = !hit_i;
            end
            `CACHE_PREFETCH_W: begin
                done = 1'b1;
                ask = !exclusive_i;
            end
            `CACHE_FLUSH: begin // of no effect on what a transaction or a granted UPG needs
                drop = hit_i && !read_set_i && !write_set_i && !upg_granted_i
                       && (!dirty_i || wb_room_i);
                push = drop && dirty_i && bug_i != `BUG_FLUSH_LOSES;
                done = drop || !dirty_i || read_set_i || write_set_i;
            end
            `CACHE_TX_COMMIT:
                done = !doomed_i && !first_piece;
            default: // TX_ABORT
                done = 1'b1;
            endcase
    end

    // What follows from it.
    reg reads, flush, used, lr, sc, sc_failed, commit, commit_half, abort;
    always @* begin
        reads = 1'b0;
        flush = 1'b0;
        used = 1'b0;
        lr = 1'b0;
        sc = 1'b0;
        sc_failed = 1'b0;
        commit = 1'b0;
        commit_half = 1'b0;
        abort = 1'b0;
        if (act_i) begin
            reads = TM != 0 && tx_q && done && (is_load || is_lr || is_amo);
            flush = op_q == `CACHE_FLUSH;
            used = done && (is_load || is_write) || drop || split;
            lr = done && is_lr;
            sc = done && is_sc;
            sc_failed = is_sc && !reserved;
            commit = done && is_commit;
            commit_half = is_commit && !doomed_i && first_piece && !piece_q;
            abort = TM != 0 && op_q == `CACHE_TX_ABORT;
        end
    end

    reg lost_reservation, lost_atomic;
    always @* begin
        lost_reservation = 1'b0;
        lost_atomic = 1'b0;
        if (lost_i) begin
            lost_reservation = reserved_q && reserved_addr_q[W_BEAT +: W_LINE] == lost_line_i
                               && !(lost_snoop_i && (bug_i == `BUG_LR_SURVIVES || sc_left_q));
            lost_atomic = atomic_q && lost_snoop_i && atomic_line_q == lost_line_i;
        end
    end

    assign done_o = done;
    assign rsp_data_o = is_sc ? {31'd0, !reserved} : old_word;
    assign rsp_written_o = amo_new;
    assign ask_o = ask;
    assign ask_read_o = is_load || op_q == `CACHE_PREFETCH_R;
    assign ask_prefetch_o = op_q == `CACHE_PREFETCH_R || op_q == `CACHE_PREFETCH_W;
    assign reads_o = reads;
    assign writes_o = writes;
    assign clean_write_o = bug_i == `BUG_SWAP_NOT_DIRTY && is_amo && atomic_taken_q;
    assign writes_tx_o = tx_q;
    assign write_word_o = word_q;
    assign write_data_o = amo_new;
    assign flush_o = flush;
    assign drop_o = drop;
    assign push_o = push;
    assign clean_o = clean;
    assign used_o = used;
    assign used_write_o = !is_load;
    assign lr_o = lr;
    assign sc_o = sc;
    assign sc_failed_o = sc_failed;
    assign commit_o = commit;
    assign commit_half_o = commit_half;
    assign abort_o = abort;
    assign change_o = timer_q == 5'd1;
    assign lost_reservation_o = lost_reservation;
    assign lost_atomic_o = lost_atomic;

    always @(posedge clk_i) begin
        if (lost_i || forget_i) begin
            if (lost_reservation_o || forget_i)
                reserved_q <= 1'b0;
            if (lost_atomic_o)
                atomic_taken_q <= 1'b1;
        end
        if (act_i) begin
            `HOLDS(request_writes_exclusive, rst_i || !writes || exclusive_i)
            if (sc_o) begin
                reserved_q <= bug_i == `BUG_SC_TWICE && reserved;
                sc_left_q <= bug_i == `BUG_SC_TWICE && reserved;
            end
            if (lr_o) begin
                reserved_q <= 1'b1;
                reserved_addr_q <= {line_i, word_q};
            end
            if (is_amo || is_lr || is_sc) begin
                atomic_q <= !done;
                atomic_line_q <= line_i;
                if (done || !atomic_q)
                    atomic_taken_q <= 1'b0;
            end
        end
        if (rst_i) begin
            reserved_q <= 1'b0;
            atomic_q <= 1'b0;
            atomic_taken_q <= 1'b0;
            sc_left_q <= 1'b0;
        end
    end

    always @(posedge clk_i) begin
        if (timer_q != 5'd0)
            timer_q <= timer_q - 1'b1;
        if (commit_half_o) begin
            piece_q <= 1'b1;
            timer_q <= 5'd31;
        end
        if (split && !split_q) begin
            split_q <= 1'b1;
            split_word_q <= hit_word_i;
            timer_q <= 5'd16;
        end
        if (abort_o || commit_o)
            piece_q <= 1'b0;
        if (abort_o || done && is_amo)
            split_q <= 1'b0;
        if (rst_i) begin
            split_q <= 1'b0;
            piece_q <= 1'b0;
            timer_q <= 5'd0;
        end
    end

    `COVER(request_e_write, writes && !dirty_i)
    `COVER(request_m_write, writes && dirty_i)
    `COVER(request_s_write, ask && hit_i && is_write)
    `COVER(request_i_write, ask && !hit_i && is_write)
    `COVER(request_flush_clean, drop && !push)
    `COVER(request_flush_dirty, drop && push)
    `COVER(request_flush_no_room, flush_o && !done)
    `COVER(request_flush_in_tx, flush_o && (read_set_i || write_set_i))
    `COVER(request_sc_succeeds, writes && is_sc)
    `COVER(request_sc_upgrades, ask && is_sc && hit_i)
    `COVER(request_cas_fails, done && is_amo && !writes)
    `COVER(request_tx_cleans, clean)
    `COVER(request_tx_no_room, exclusive_i && must_clean && !wb_room_i)
    `COVER(request_tx_void, tx_void)
    `COVER(request_commit_refused, is_commit && !done)
endmodule
`default_nettype wire
