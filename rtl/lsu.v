// SPDX-License-Identifier: Apache-2.0
// Load/store unit of a hart: takes its memory operations in program order and performs them as the
// memory model allows.
//
// Its parts, each in a file lsu_* of its own, meet here: the operation offered is accepted (offer,
// accept), waits in its place (store_buffer, load_queue, atomic, hint, tx), goes to the cache in
// turn (arbiter) or past it to the bus (uncached), and is told of (record, events, wait). One
// operation is with the cache at a time: nothing else happens to buffer and queue between a request
// and its answer.
//
// Values that nobody wants are x here and in the files of lsu_*: a simulation that branches around
// them is much faster, and synthesis is free in them.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module lsu #(
    parameter SB_DEPTH   = 8, // 1 to 16
    parameter LQ_DEPTH   = 4, // 1 to 8
    parameter LINE_WORDS = 4,
    parameter TM         = 1, // 0: no transactions
    parameter DELAYS     = 1
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [1:0]  model_i,
    input  wire [6:0]  bug_i,
    input  wire [31:0] seed_i,
    input  wire [2:0]  level_i,
    input  wire [31:0] cycle_i,

    // From the hart. Once valid, an operation stays as it is until ready, or tx_abort_o.
    input  wire        op_valid_i,
    output wire        op_ready_o,      // depends on op_*_i
    input  wire [3:0]  op_kind_i,
    input  wire [31:0] op_addr_i,       // aligned, and somewhere something is
    input  wire [31:0] op_data_i,
    input  wire [31:0] op_compare_i,
    input  wire [4:0]  op_amo_i,
    input  wire [1:0]  op_size_i,
    input  wire        op_unsigned_i,
    input  wire [4:0]  op_rd_i,

    input  wire        hold_i,          // the next store accepted stays in the store buffer
    input  wire [11:0] hold_cycles_i,   // for so long; with DELAYS = 0 nothing does

    output reg         wb_valid_o,      // never with wb_rd_o = 0, never with tx_abort_o
    output reg  [4:0]  wb_rd_o,
    output reg  [31:0] wb_data_o,

    output wire        tx_active_o,     // from the cycle after TX_BEGIN to that of its end
    output wire        tx_abort_o,      // one cycle, does not depend on op_*_i
    output wire [31:0] tx_status_o,
    output wire        tx_ending_o,     // to the cache, for BUG_TX_LATE_CONFLICT: TX_COMMIT waits
    input  wire        tx_kill_i,       // held until tx_abort_o, or until the transaction is over
    input  wire [3:0]  tx_kill_cause_i,
    input  wire        irq_taken_i,

    output wire [3:0]  wait_o,          // WAIT_*
    output wire [31:0] wait_addr_o,
    output wire [`EVENT_TX_ABORTED:`EVENT_LOAD] events_o,

    // To the cache. Valid may be withdrawn. The answer comes one cycle after the request was taken.
    output wire        req_valid_o,
    input  wire        req_ready_i,
    output wire [3:0]  req_op_o,
    output wire [31:0] req_addr_o,      // of the word
    output wire [3:0]  req_be_o,
    output wire [31:0] req_data_o,
    output wire [31:0] req_compare_o,
    output wire [4:0]  req_amo_o,
    output wire        req_tx_o,
    input  wire        rsp_valid_i,
    input  wire        rsp_done_i,
    input  wire [31:0] rsp_data_i,
    input  wire [31:0] rsp_written_i,
    input  wire        change_i,
    input  wire        inv_valid_i,     // never with rsp_valid_i
    input  wire [31:0] inv_addr_i,
    input  wire [1:0]  tx_doomed_i,

    // To the bus, past the cache. Stable from valid to ready; the answer comes in a later cycle.
    output wire        uc_valid_o,
    input  wire        uc_ready_i,
    output wire        uc_write_o,
    output wire        uc_atomic_o,
    output wire [4:0]  uc_amo_o,
    output wire [31:0] uc_addr_o,       // of the word
    output wire [3:0]  uc_be_o,
    output wire [31:0] uc_data_o,
    output wire [31:0] uc_compare_o,
    input  wire        uc_rsp_valid_i,
    input  wire [31:0] uc_rsp_data_i,
    input  wire [31:0] uc_rsp_written_i,

    // To the capture unit: never refused. With cap_stall_i no operation is accepted any more; those
    // in flight give at most LQ_DEPTH + 1 records and SB_DEPTH + 1 visible stores.
    input  wire        cap_stall_i,
    input  wire        silent_i,        // operations are the debugger's: no number, no stall
    output wire        rec_valid_o,
    output wire [3:0]  rec_kind_o,
    output wire [1:0]  rec_size_o,
    output wire        rec_tx_o,
    output wire [7:0]  rec_seq_o,
    output wire [31:0] rec_issue_o,
    output wire [31:0] rec_addr_o,
    output wire [31:0] rec_read_o,
    output wire [31:0] rec_written_o,
    output wire        vis_valid_o,
    output wire        vis_tx_o,
    output wire [1:0]  vis_size_o,
    output wire [31:0] vis_addr_o,
    output wire [31:0] vis_data_o
);
    // ---- What the parts tell one another.

    // Who is with the cache: taken in the cycle before, answered in this one.
    wire        flight, flight_load, flight_store, flight_atomic, flight_hint, flight_commit,
                flight_abort;
    wire        done = rsp_valid_i && rsp_done_i;
    wire        take_load, take_store;

    // The operation offered: whether it is accepted, and as what.
    wire        stop, go_load, go_store, go_atomic, go_fence, go_hint, go_begin, go_void, accepted,
                commit;
    wire [7:0]  seq;
    wire [31:0] issue, op_lanes, op_bytes;
    wire [3:0]  op_be;
    wire        barrier;
    wire        is_store = op_kind_i == `LSU_STORE;
    wire        is_fence = op_kind_i == `LSU_FENCE;

    // Stores.
    wire        sb_empty, sb_full, sb_uncached, sb_drained, sb_tx_drained, sb_line;
    wire        sb_pick, sb_pick_tx, sb_pick_young, sb_head_uncached, sb_go;
    wire [31:2] sb_pick_addr, sb_head_addr;
    wire [3:0]  sb_pick_be, sb_head_be, look_be;
    wire [31:0] sb_pick_data, sb_head_data, look_data;
    wire        want_store = sb_pick && sb_go;
    wire        sb_leave = flight_store && done;

    // Loads.
    wire        lq_empty, lq_full, lq_pick, lq_early, lq_uncached, lq_dropped;
    wire        lq_bind, lq_bind_early, lq_leave, lq_go;
    wire [31:2] lq_pick_addr;
    wire [3:0]  lq_pick_be, lq_head_be;
    wire [31:0] lq_head_addr, lq_bind_data, lq_leave_addr, lq_leave_issue, lq_leave_data;
    wire [4:0]  lq_bind_rd;
    wire [1:0]  lq_leave_size;
    wire [7:0]  lq_leave_seq;
    wire        want_load, sample, forward, partial, stale;
    wire [31:0] word;
    reg         lq_can; // loads need not wait for stores
    always @* begin
        lq_can = 1'b1;
        if (model_i == `MODEL_SC)
            lq_can = sb_empty || bug_i == `BUG_SC_BUFFER_KEPT;
    end

    // An atomic operation, a hint.
    wire        atomic, want_atomic, want_atomic_bus, atomic_done, atomic_wrote;
    wire [3:0]  atomic_kind, atomic_op;
    wire [31:0] atomic_addr, atomic_data, atomic_compare, atomic_issue, atomic_read, atomic_written;
    wire [4:0]  atomic_amo, atomic_rd;
    wire [7:0]  atomic_seq;
    wire        hint, want_hint;
    wire [3:0]  hint_op;
    wire [31:2] hint_addr;

    // The transaction.
    wire        tx, doomed, aborts, flush, over, committed, want_abort, want_commit;

    // What the bus has answered.
    wire        uc_load, uc_store, uc_atomic;

    // The stores that are held are so together: a new one sets the time for all of them.
    wire        hold_next, holds;
    generate if (DELAYS == 0) begin : no_hold
        assign {hold_next, holds} = 2'd0;
        wire unused = &{1'b0, hold_i, hold_cycles_i};
    end else begin : hold
        reg        next_q;
        reg [11:0] cycles_q, left_q;
        always @(posedge clk_i)
            if (rst_i) begin
                next_q <= 1'b0;
                left_q <= 12'd0;
            end else begin
                if (hold_i) begin
                    next_q   <= hold_cycles_i != 12'd0;
                    cycles_q <= hold_cycles_i;
                end else if (go_store)
                    next_q <= 1'b0;
                if (go_store && next_q)
                    left_q <= cycles_q;
                else if (left_q != 12'd0)
                    left_q <= left_q - 12'd1;
            end
        assign hold_next = next_q;
        assign holds     = left_q != 12'd0;
    end endgenerate

    // What was refused tries again when the cache says that something changed, and now and then.
    reg  [5:0]  timer_q;
    wire        seldom = timer_q == 6'd63;
    wire        retry  = change_i || seldom;
    reg  [15:0] random_q;
    always @(posedge clk_i)
        if (rst_i) begin
            timer_q  <= 6'd0;
            random_q <= seed_i[31:16] ^ seed_i[15:0] ^ 16'hACE1;
        end else begin
            timer_q <= timer_q + 6'd1;
            if (!sb_empty || !lq_empty)
                random_q <= random_q == 16'd0 ? 16'd1
                    : {random_q[14:0], random_q[15] ^ random_q[13] ^ random_q[12] ^ random_q[10]};
        end

    // ---- From the hart.

    lsu_accept #(.TM(TM)) accept (
        .model_i(model_i), .bug_i(bug_i), .op_valid_i(op_valid_i), .op_kind_i(op_kind_i),
        .op_cached_i(op_addr_i[31]), .op_fence_i(op_addr_i[7:0]),
        .stall_i(cap_stall_i && !silent_i),
        .atomic_i(atomic), .hint_i(hint), .tx_i(tx), .abort_i(aborts),
        .kill_i(doomed || tx_kill_i), .commit_flight_i(flight_commit), .committed_i(committed),
        .lq_empty_i(lq_empty), .lq_full_i(lq_full), .lq_leave_i(lq_leave),
        .sb_empty_i(sb_empty), .sb_full_i(sb_full), .sb_drained_i(sb_drained),
        .sb_tx_drained_i(sb_tx_drained), .sb_line_i(sb_line),
        .stop_o(stop), .ready_o(op_ready_o), .load_o(go_load), .store_o(go_store),
        .atomic_o(go_atomic), .fence_o(go_fence), .hint_o(go_hint), .begin_o(go_begin),
        .void_o(go_void), .record_o(accepted), .commit_o(commit)
    );

    lsu_offer offer (
        .clk_i(clk_i), .rst_i(rst_i), .cycle_i(cycle_i),
        .valid_i(op_valid_i), .addr_i(op_addr_i), .data_i(op_data_i), .size_i(op_size_i),
        .ready_i(op_ready_o), .number_i(op_ready_o && !go_void && !silent_i), .store_i(go_store),
        .fence_i(go_fence), .flush_i(flush), .over_i(over),
        .seq_o(seq), .issue_o(issue), .barrier_o(barrier), .be_o(op_be), .lanes_o(op_lanes),
        .bytes_o(op_bytes)
    );

    // ---- Loads and stores.

    lsu_load_queue #(.DEPTH(LQ_DEPTH), .LINE_WORDS(LINE_WORDS)) load_queue (
        .clk_i(clk_i), .rst_i(rst_i), .model_i(model_i), .bug_i(bug_i),
        .youngest_i(level_i != 3'd0 && random_q[5:4] == 2'd0),
        .empty_o(lq_empty), .full_o(lq_full),
        .push_i(go_load), .push_addr_i(op_addr_i), .push_size_i(op_size_i),
        .push_unsigned_i(op_unsigned_i), .push_rd_i(op_rd_i), .push_seq_i(seq),
        .push_issue_i(issue),
        .flight_i(flight_load), .pick_valid_o(lq_pick), .pick_addr_o(lq_pick_addr),
        .pick_be_o(lq_pick_be), .pick_early_o(lq_early), .take_i(take_load),
        .sample_i(sample), .refuse_i(flight_load && !done), .retry_i(retry),
        .head_uncached_o(lq_uncached), .head_addr_o(lq_head_addr), .head_be_o(lq_head_be),
        .head_sample_i(uc_load), .sample_data_i(word),
        .inv_valid_i(inv_valid_i), .inv_addr_i(inv_addr_i), .dropped_o(lq_dropped),
        .bind_i(lq_can && !aborts), .bind_valid_o(lq_bind), .bind_rd_o(lq_bind_rd),
        .bind_data_o(lq_bind_data), .bind_early_o(lq_bind_early),
        .leave_o(lq_leave), .leave_addr_o(lq_leave_addr), .leave_size_o(lq_leave_size),
        .leave_seq_o(lq_leave_seq), .leave_issue_o(lq_leave_issue), .leave_data_o(lq_leave_data),
        .flush_i(flush)
    );
    delay #(.DELAYS(DELAYS), .SALT(32'd21)) load_queue_delay (
        .clk_i(clk_i), .rst_i(rst_i), .seed_i(seed_i), .level_i(level_i),
        .move_i(sample || uc_load), .go_o(lq_go)
    );
    lsu_sample sampler (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i), .tx_i(tx), .begin_i(go_begin),
        .abort_i(aborts), .empty_i(lq_empty), .pick_i(lq_pick && lq_go), .flight_i(flight_load),
        .pick_addr_i(lq_pick_addr), .pick_be_i(lq_pick_be), .look_be_i(look_be),
        .look_data_i(look_data), .rsp_done_i(done), .rsp_data_i(rsp_data_i),
        .uc_rsp_data_i(uc_rsp_data_i),
        .want_o(want_load), .sample_o(sample), .forward_o(forward), .partial_o(partial),
        .stale_o(stale), .word_o(word)
    );

    lsu_store_buffer #(.DEPTH(SB_DEPTH), .LINE_WORDS(LINE_WORDS), .TM(TM)) store_buffer (
        .clk_i(clk_i), .rst_i(rst_i), .model_i(model_i), .bug_i(bug_i), .random_i(random_q[3:0]),
        .tx_i(tx), .empty_o(sb_empty), .full_o(sb_full), .uncached_o(sb_uncached),
        .drained_o(sb_drained), .tx_drained_o(sb_tx_drained),
        .push_i(go_store), .push_addr_i(op_addr_i[31:2]), .push_be_i(op_be), .push_data_i(op_lanes),
        .push_barrier_i(barrier), .push_hold_i(hold_next), .hold_i(holds),
        .look_valid_i((lq_pick && lq_go) || flight_load), .look_addr_i(lq_pick_addr),
        .look_be_o(look_be), .look_data_o(look_data),
        .line_valid_i(op_valid_i && (op_kind_i == `LSU_FLUSH || bug_i == `BUG_SWAP_NO_DRAIN)),
        .line_addr_i(op_addr_i[31:2]), .line_o(sb_line),
        .flight_i(flight_store), .pick_valid_o(sb_pick), .pick_addr_o(sb_pick_addr),
        .pick_be_o(sb_pick_be), .pick_data_o(sb_pick_data), .pick_tx_o(sb_pick_tx),
        .pick_young_o(sb_pick_young), .take_i(take_store), .leave_i(sb_leave),
        .refuse_i(flight_store && !done), .retry_i(retry),
        .head_uncached_o(sb_head_uncached), .head_addr_o(sb_head_addr), .head_be_o(sb_head_be),
        .head_data_o(sb_head_data), .head_leave_i(uc_store),
        .flush_i(flush), .irq_taken_i(irq_taken_i)
    );
    delay #(.DELAYS(DELAYS), .SALT(32'd22)) store_buffer_delay (
        .clk_i(clk_i), .rst_i(rst_i), .seed_i(seed_i), .level_i(level_i),
        .move_i(sb_leave || uc_store), .go_o(sb_go)
    );

    // ---- One at a time of these.

    lsu_atomic atomics (
        .clk_i(clk_i), .rst_i(rst_i),
        .push_i(go_atomic), .push_kind_i(op_kind_i), .push_addr_i(op_addr_i),
        .push_data_i(op_data_i), .push_compare_i(op_compare_i), .push_amo_i(op_amo_i),
        .push_rd_i(op_rd_i), .push_seq_i(seq), .push_issue_i(issue),
        .busy_o(atomic), .kind_o(atomic_kind), .addr_o(atomic_addr), .data_o(atomic_data),
        .compare_o(atomic_compare), .amo_o(atomic_amo), .rd_o(atomic_rd), .seq_o(atomic_seq),
        .issue_o(atomic_issue),
        .want_o(want_atomic), .op_o(atomic_op), .flight_i(flight_atomic), .rsp_done_i(done),
        .rsp_data_i(rsp_data_i), .rsp_written_i(rsp_written_i), .retry_i(retry),
        .want_bus_o(want_atomic_bus), .bus_rsp_i(uc_atomic), .bus_rsp_data_i(uc_rsp_data_i),
        .bus_rsp_written_i(uc_rsp_written_i),
        .done_o(atomic_done), .wrote_o(atomic_wrote), .read_o(atomic_read),
        .written_o(atomic_written), .abort_i(aborts), .flush_i(flush)
    );

    lsu_hint hints (
        .clk_i(clk_i), .rst_i(rst_i), .push_i(go_hint), .push_kind_i(op_kind_i),
        .push_addr_i(op_addr_i[31:2]), .busy_o(hint), .want_o(want_hint), .op_o(hint_op),
        .addr_o(hint_addr), .flight_i(flight_hint), .rsp_done_i(done), .retry_i(retry),
        .flush_i(flush)
    );

    lsu_tx #(.TM(TM)) transaction (
        .clk_i(clk_i), .rst_i(rst_i), .begin_i(go_begin), .stop_i(stop), .doomed_i(tx_doomed_i),
        .kill_i(tx_kill_i), .kill_cause_i(tx_kill_cause_i), .op_valid_i(op_valid_i),
        .op_kind_i(op_kind_i), .op_code_i(op_addr_i[7:0]), .commit_i(commit),
        .active_o(tx), .doomed_o(doomed), .ending_o(tx_ending_o), .aborts_o(aborts),
        .flush_o(flush), .over_o(over), .committed_o(committed), .status_o(tx_status_o),
        .want_abort_o(want_abort), .want_commit_o(want_commit), .flight_i(flight),
        .flight_abort_i(flight_abort), .flight_commit_i(flight_commit), .rsp_done_i(done),
        .retry_i(retry)
    );

    // ---- To the cache, or past it.

    lsu_arbiter arbiter (
        .clk_i(clk_i), .rst_i(rst_i),
        .some_i(want_load || want_store || atomic || hint || tx), .tx_i(tx),
        .stopped_i(aborts || doomed), .abort_i(want_abort), .commit_i(want_commit),
        .atomic_i(want_atomic), .atomic_op_i(atomic_op), .atomic_addr_i(atomic_addr[31:2]),
        .atomic_data_i(atomic_data),
        .hint_i(want_hint), .hint_op_i(hint_op), .hint_addr_i(hint_addr),
        .load_i(want_load), .load_addr_i(lq_pick_addr), .load_be_i(lq_pick_be),
        .store_i(want_store), .store_addr_i(sb_pick_addr), .store_be_i(sb_pick_be),
        .store_data_i(sb_pick_data), .store_tx_i(sb_pick_tx),
        .take_load_o(take_load), .take_store_o(take_store),
        .flight_o(flight), .flight_abort_o(flight_abort), .flight_commit_o(flight_commit),
        .flight_atomic_o(flight_atomic), .flight_hint_o(flight_hint),
        .flight_load_o(flight_load), .flight_store_o(flight_store),
        .req_valid_o(req_valid_o), .req_ready_i(req_ready_i), .req_op_o(req_op_o),
        .req_addr_o(req_addr_o), .req_be_o(req_be_o), .req_data_o(req_data_o),
        .req_tx_o(req_tx_o), .rsp_valid_i(rsp_valid_i)
    );
    assign req_compare_o = atomic_compare;
    assign req_amo_o     = atomic_amo;

    lsu_uncached uncached (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i), .seldom_i(seldom),
        .atomic_i(want_atomic_bus), .atomic_write_i(atomic_kind == `LSU_AMO),
        .atomic_amo_i(atomic_amo), .atomic_addr_i(atomic_addr), .atomic_data_i(atomic_data),
        .atomic_compare_i(atomic_compare),
        .store_i(sb_head_uncached), .store_go_i(sb_go), .store_addr_i(sb_head_addr),
        .store_be_i(sb_head_be), .store_data_i(sb_head_data),
        .load_i(lq_uncached), .load_go_i(lq_go && lq_can && !sb_uncached),
        .load_addr_i(lq_head_addr[31:2]), .load_be_i(lq_head_be),
        .cached_i(done && (flight_store || flight_atomic)),
        .atomic_o(uc_atomic), .store_o(uc_store), .load_o(uc_load),
        .uc_valid_o(uc_valid_o), .uc_ready_i(uc_ready_i), .uc_write_o(uc_write_o),
        .uc_atomic_o(uc_atomic_o), .uc_amo_o(uc_amo_o), .uc_addr_o(uc_addr_o), .uc_be_o(uc_be_o),
        .uc_data_o(uc_data_o), .uc_compare_o(uc_compare_o), .uc_rsp_valid_i(uc_rsp_valid_i)
    );

    // ---- To the hart.

    always @* begin
        wb_valid_o = 1'b0;
        wb_rd_o = 5'dx;
        wb_data_o = 32'dx;
        if (lq_bind) begin
            wb_valid_o = lq_bind_rd != 5'd0;
            wb_rd_o = lq_bind_rd;
            wb_data_o = lq_bind_data;
        end else if (atomic_done) begin
            wb_valid_o = atomic_rd != 5'd0;
            wb_rd_o = atomic_rd;
            wb_data_o = atomic_read;
        end
    end
    assign tx_active_o = tx;
    assign tx_abort_o  = over;

    // ---- To the capture unit, the counters, the watchdog.

    lsu_record record (
        .cycle_i(cycle_i), .tx_i(tx),
        .load_i(lq_leave), .load_size_i(lq_leave_size), .load_seq_i(lq_leave_seq),
        .load_issue_i(lq_leave_issue), .load_addr_i(lq_leave_addr), .load_data_i(lq_leave_data),
        .atomic_i(atomic_done), .atomic_kind_i(atomic_kind), .atomic_seq_i(atomic_seq),
        .atomic_issue_i(atomic_issue), .atomic_addr_i(atomic_addr), .atomic_read_i(atomic_read),
        .atomic_written_i(atomic_written), .atomic_wrote_i(atomic_wrote),
        .abort_i(over), .status_i(tx_status_o),
        .op_i(accepted), .op_kind_i(op_kind_i), .op_size_i(op_size_i), .op_seq_i(seq),
        .op_issue_i(issue), .op_addr_i(op_addr_i), .op_bytes_i(op_bytes),
        .store_i(sb_leave), .store_tx_i(sb_pick_tx), .store_addr_i(sb_pick_addr),
        .store_be_i(sb_pick_be), .store_data_i(sb_pick_data),
        .uncached_i(uc_store), .uncached_addr_i(sb_head_addr), .uncached_be_i(sb_head_be),
        .uncached_data_i(sb_head_data),
        .rec_valid_o(rec_valid_o), .rec_kind_o(rec_kind_o), .rec_size_o(rec_size_o),
        .rec_tx_o(rec_tx_o), .rec_seq_o(rec_seq_o), .rec_issue_o(rec_issue_o),
        .rec_addr_o(rec_addr_o), .rec_read_o(rec_read_o), .rec_written_o(rec_written_o),
        .vis_valid_o(vis_valid_o), .vis_tx_o(vis_tx_o), .vis_size_o(vis_size_o),
        .vis_addr_o(vis_addr_o), .vis_data_o(vis_data_o)
    );

    lsu_events events (
        .op_valid_i(op_valid_i), .stall_i(cap_stall_i), .fence_waits_i(is_fence && !op_ready_o),
        .store_waits_i(is_store && sb_full), .store_i(go_store),
        .flight_i(flight), .committed_i(committed), .early_i(flight_load && sample && lq_early),
        .partial_i(partial), .young_i(sb_leave && sb_pick_young),
        .empty_i(lq_empty), .dropped_i(lq_dropped), .forward_i(forward && !stale),
        .bind_i(lq_bind), .bind_early_i(lq_bind_early), .bind_passes_i(lq_bind && !sb_empty),
        .leave_i(lq_leave),
        .atomic_i(atomic_done), .uncached_i(uc_rsp_valid_i), .aborted_i(over),
        .events_o(events_o)
    );

    lsu_wait waits (
        .abort_i(aborts), .stall_i(cap_stall_i), .op_valid_i(op_valid_i),
        .op_ready_i(op_ready_o), .op_kind_i(op_kind_i), .op_addr_i(op_addr_i),
        .atomic_i(atomic), .atomic_addr_i(atomic_addr), .lq_empty_i(lq_empty),
        .lq_can_i(lq_can), .lq_uncached_i(lq_uncached), .lq_addr_i(lq_head_addr),
        .sb_empty_i(sb_empty), .sb_full_i(sb_full), .sb_addr_i(sb_head_addr),
        .wait_o(wait_o), .wait_addr_o(wait_addr_o)
    );

`ifdef CHECKS
    wire [1:0] records  = {1'b0, lq_leave} + {1'b0, atomic_done} + {1'b0, over}
        + {1'b0, accepted};
    wire [1:0] visibles = {1'b0, sb_leave} + {1'b0, uc_store} + {1'b0, atomic_wrote};
`endif
    `ASSERTIONS(inv_valid_i)
        `HOLDS(lsu_inv_with_answer, !rsp_valid_i)
    `END_ASSERTIONS
    `ASSERTIONS(op_ready_o || atomic || aborts || uc_store)
        `HOLDS(lsu_one_record, records <= 2'd1)
        `HOLDS(lsu_one_visible, visibles <= 2'd1)
        `HOLDS(lsu_one_result, !(lq_bind && atomic_done))
        `HOLDS(lsu_stores_are_older, !(go_store && !lq_empty))
        `HOLDS(lsu_atomic_alone,
            !atomic || (lq_empty && (sb_empty || bug_i == `BUG_SWAP_NO_DRAIN)))
        `HOLDS(lsu_result_after_abort, !(aborts && wb_valid_o))
    `END_ASSERTIONS
    `COVER(lsu_capture_stalls, op_valid_i && cap_stall_i)
    `COVER(lsu_forward_as_store_leaves, forward && sb_leave)
    `COVER(lsu_load_passes_store, lq_bind && !sb_empty)
    `COVER(lsu_record_port_taken, op_valid_i && is_fence && lq_leave)
    `COVER(lsu_flush_behind_store, op_valid_i && op_kind_i == `LSU_FLUSH && sb_line)
    `COVER(lsu_uncached_load_behind_store, lq_uncached && sb_uncached)
    `COVER(lsu_abort_with_stores, flush && !sb_empty)
    `COVER(lsu_abort_with_loads, flush && !lq_empty)
    `COVER(lsu_abort_with_atomic, flush && atomic)
endmodule
`default_nettype wire
