// SPDX-License-Identifier: Apache-2.0
// Load/store unit of a hart: takes its memory operations in program order and performs them as the
// memory model allows.
//
// Stores wait in the store buffer, loads in the load queue; of atomic operations, hints and ends of
// transactions there is one at a time. Here: who is accepted when, whose turn it is at the cache
// and at the uncached port, the transaction. One operation is with the cache at a time: nothing
// else happens to buffer and queue between a request and its answer.
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
    output reg  [15:0] events_o,        // EVENT 6 to 21

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


    // ---- What is in flight.

    // With the cache: taken in the cycle before, answered in this one.
    reg f_any_q, f_load_q, f_store_q, f_atomic_q, f_hint_q, f_commit_q, f_abort_q;

    // An AMO, LR or SC.
    reg         atomic_q, a_refused_q;
    reg  [3:0]  a_kind_q;
    reg  [31:0] a_addr_q, a_data_q, a_compare_q, a_issue_q;
    reg  [4:0]  a_amo_q, a_rd_q;
    reg  [7:0]  a_seq_q;

    // A prefetch or flush that the cache has not done yet.
    reg         hint_q, hint_refused_q;
    reg  [3:0]  hint_kind_q;
    reg  [31:2] hint_addr_q;

    // A transaction; abort_q: its abort has begun, over_q: and is over, in this cycle.
    reg         tx_q, abort_q, over_q, commit_refused_q;
    reg  [3:0]  cause_q;
    reg  [7:0]  code_q;

    // With the bus: which of UC_*, and whether it was taken.
    localparam [1:0] UC_NONE = 2'd0, UC_STORE = 2'd1, UC_LOAD = 2'd2, UC_ATOMIC = 2'd3;
    reg  [1:0]  uc_q;
    reg         uc_sent_q;

    reg         barrier_q;  // the next store is to stay behind those before it
    reg  [7:0]  seq_q;      // of the next operation
    reg         turn_q;     // a load goes before a store

    // What was refused tries again when the cache says that something changed, and now and then.
    reg  [5:0]  timer_q;
    wire        retry = change_i || timer_q == 6'd63;
    reg  [15:0] random_q;

    wire        lq_empty, lq_full, lq_pick, lq_early, lq_uncached, lq_dropped;
    wire        lq_bind, lq_bind_early, lq_leave, lq_go;
    wire [31:2] lq_pick_addr;
    wire [3:0]  lq_pick_be, lq_head_be;
    wire [31:0] lq_head_addr, lq_bind_data, lq_leave_addr, lq_leave_issue, lq_leave_data;
    wire [4:0]  lq_bind_rd;
    wire [1:0]  lq_leave_size;
    wire [7:0]  lq_leave_seq;
    wire        sb_empty, sb_full, sb_uncached, sb_drained, sb_tx_drained, sb_line;
    wire        sb_pick, sb_pick_tx, sb_pick_young, sb_head_uncached, sb_go;
    wire [31:2] sb_pick_addr, sb_head_addr;
    wire [3:0]  sb_pick_be, sb_head_be, look_be;
    wire [31:0] sb_pick_data, sb_head_data, look_data;

    // ---- The operation offered.

    wire is_store  = op_kind_i == `LSU_STORE;
    wire is_fence  = op_kind_i == `LSU_FENCE;
    wire is_commit = op_kind_i == `LSU_TX_COMMIT;

    wire done      = rsp_valid_i && rsp_done_i;
    wire committed = TM != 0 && f_commit_q && done;
    wire doomed    = TM != 0 && tx_q && tx_doomed_i != 2'd0;
    wire stop, ready, accepted, commit;
    wire go_load, go_store, go_atomic, go_fence, go_hint, go_begin, go_void;
    lsu_accept #(.TM(TM)) accept (
        .model_i(model_i), .bug_i(bug_i), .op_valid_i(op_valid_i), .op_kind_i(op_kind_i),
        .op_cached_i(op_addr_i[31]), .op_fence_i(op_addr_i[7:0]),
        .stall_i(cap_stall_i && !silent_i),
        .atomic_i(atomic_q), .hint_i(hint_q), .tx_i(tx_q), .abort_i(abort_q),
        .kill_i(doomed || tx_kill_i), .commit_flight_i(f_commit_q), .committed_i(committed),
        .lq_empty_i(lq_empty), .lq_full_i(lq_full), .lq_leave_i(lq_leave),
        .sb_empty_i(sb_empty), .sb_full_i(sb_full), .sb_drained_i(sb_drained),
        .sb_tx_drained_i(sb_tx_drained), .sb_line_i(sb_line),
        .stop_o(stop), .ready_o(ready), .load_o(go_load), .store_o(go_store), .atomic_o(go_atomic),
        .fence_o(go_fence), .hint_o(go_hint), .begin_o(go_begin), .void_o(go_void),
        .record_o(accepted), .commit_o(commit)
    );
    assign op_ready_o = ready;
    wire store_store = (op_addr_i[4] || op_addr_i[6]) && (op_addr_i[0] || op_addr_i[2]);

    // When it was first offered.
    reg         offered_q;
    reg  [31:0] since_q;
    wire [31:0] issue = offered_q ? since_q : cycle_i;

    reg  [3:0]  op_be;
    reg  [31:0] op_lanes, op_bytes;
    always @* begin // of a store; where nobody wants them a simulation leaves them out
        op_be = 4'dx;
        op_lanes = 32'dx;
        op_bytes = 32'dx;
        if (go_store)
            case (op_size_i)
                2'd0: begin
                    op_be = 4'd1 << op_addr_i[1:0];
                    op_lanes = {4{op_data_i[7:0]}};
                    op_bytes = {24'd0, op_data_i[7:0]};
                end
                2'd1: begin
                    op_be = 4'd3 << op_addr_i[1:0];
                    op_lanes = {2{op_data_i[15:0]}};
                    op_bytes = {16'd0, op_data_i[15:0]};
                end
                default: begin
                    op_be = 4'd15;
                    op_lanes = op_data_i;
                    op_bytes = op_data_i;
                end
            endcase
    end

    // ---- Loads and stores.

    wire flush = TM != 0 && abort_q && !f_any_q;

    // A load that the store buffer has all bytes of needs no cache.
    wire last_stale;
    wire [31:0] stale_data;
    reg  lq_may, stale, forward, sample, want_load; // stale: BUG_TX_FIRST_LOAD
    reg  [31:0] word;
    always @* begin
        {lq_may, stale, forward, sample, want_load} = 5'd0;
        word = uc_rsp_data_i;
        if (!lq_empty && !abort_q) begin
            lq_may = lq_pick && lq_go && !f_load_q;
            if (lq_may) begin
                stale = last_stale;
                forward = stale || (lq_pick_be & ~look_be) == 4'd0;
                want_load = !forward;
            end
            sample = forward || (f_load_q && done);
            if (sample) begin
                word = look_data;
                if (!look_be[0]) word[7:0]   = rsp_data_i[7:0];
                if (!look_be[1]) word[15:8]  = rsp_data_i[15:8];
                if (!look_be[2]) word[23:16] = rsp_data_i[23:16];
                if (!look_be[3]) word[31:24] = rsp_data_i[31:24];
                if (stale)
                    word = stale_data;
            end
        end
    end
    reg  lq_can;
    always @* begin
        lq_can = 1'b1;
        if (model_i == `MODEL_SC)
            lq_can = sb_empty || bug_i == `BUG_SC_BUFFER_KEPT;
    end

    wire sb_leave = f_store_q && done;
    reg  uc_store, uc_late;

    // What the bus has answered.
    reg  uc_load, uc_atomic;
    always @* begin
        {uc_load, uc_atomic} = 2'd0;
        if (uc_rsp_valid_i) begin
            uc_load   = uc_q == UC_LOAD;
            uc_atomic = uc_q == UC_ATOMIC;
        end
    end

    reg [2:0] sel;
    localparam [2:0] NONE = 3'd0, LOAD = 3'd1, STORE = 3'd2, ATOMIC = 3'd3, HINT = 3'd4,
        COMMIT = 3'd5, ABORT = 3'd6;
    wire take = req_valid_o && req_ready_i;

    lsu_load_queue #(.DEPTH(LQ_DEPTH), .LINE_WORDS(LINE_WORDS)) load_queue (
        .clk_i(clk_i), .rst_i(rst_i), .model_i(model_i), .bug_i(bug_i),
        .youngest_i(level_i != 3'd0 && random_q[5:4] == 2'd0),
        .empty_o(lq_empty), .full_o(lq_full),
        .push_i(go_load), .push_addr_i(op_addr_i), .push_size_i(op_size_i),
        .push_unsigned_i(op_unsigned_i), .push_rd_i(op_rd_i), .push_seq_i(seq_q),
        .push_issue_i(issue),
        .flight_i(f_load_q), .pick_valid_o(lq_pick), .pick_addr_o(lq_pick_addr),
        .pick_be_o(lq_pick_be), .pick_early_o(lq_early), .take_i(take && sel == LOAD),
        .sample_i(sample), .refuse_i(f_load_q && !done), .retry_i(retry),
        .head_uncached_o(lq_uncached), .head_addr_o(lq_head_addr), .head_be_o(lq_head_be),
        .head_sample_i(uc_load), .sample_data_i(word),
        .inv_valid_i(inv_valid_i), .inv_addr_i(inv_addr_i), .dropped_o(lq_dropped),
        .bind_i(lq_can && !abort_q), .bind_valid_o(lq_bind), .bind_rd_o(lq_bind_rd),
        .bind_data_o(lq_bind_data), .bind_early_o(lq_bind_early),
        .leave_o(lq_leave), .leave_addr_o(lq_leave_addr), .leave_size_o(lq_leave_size),
        .leave_seq_o(lq_leave_seq), .leave_issue_o(lq_leave_issue), .leave_data_o(lq_leave_data),
        .flush_i(flush)
    );
    delay #(.DELAYS(DELAYS), .SALT(32'd21)) load_queue_delay (
        .clk_i(clk_i), .rst_i(rst_i), .seed_i(seed_i), .level_i(level_i),
        .move_i(sample || uc_load), .go_o(lq_go)
    );

    lsu_store_buffer #(.DEPTH(SB_DEPTH), .LINE_WORDS(LINE_WORDS), .TM(TM)) store_buffer (
        .clk_i(clk_i), .rst_i(rst_i), .model_i(model_i), .bug_i(bug_i), .random_i(random_q[3:0]),
        .tx_i(tx_q), .empty_o(sb_empty), .full_o(sb_full), .uncached_o(sb_uncached),
        .drained_o(sb_drained), .tx_drained_o(sb_tx_drained),
        .push_i(go_store), .push_addr_i(op_addr_i[31:2]), .push_be_i(op_be), .push_data_i(op_lanes),
        .push_barrier_i(barrier_q),
        .look_valid_i((lq_pick && lq_go) || f_load_q), .look_addr_i(lq_pick_addr),
        .look_be_o(look_be), .look_data_o(look_data),
        .line_valid_i(op_valid_i && (op_kind_i == `LSU_FLUSH || bug_i == `BUG_SWAP_NO_DRAIN)),
        .line_addr_i(op_addr_i[31:2]), .line_o(sb_line),
        .flight_i(f_store_q), .pick_valid_o(sb_pick), .pick_addr_o(sb_pick_addr),
        .pick_be_o(sb_pick_be), .pick_data_o(sb_pick_data), .pick_tx_o(sb_pick_tx),
        .pick_young_o(sb_pick_young), .take_i(take && sel == STORE), .leave_i(sb_leave),
        .refuse_i(f_store_q && !done), .retry_i(retry),
        .head_uncached_o(sb_head_uncached), .head_addr_o(sb_head_addr), .head_be_o(sb_head_be),
        .head_data_o(sb_head_data), .head_leave_i(uc_store),
        .flush_i(flush), .irq_taken_i(irq_taken_i)
    );
    delay #(.DELAYS(DELAYS), .SALT(32'd22)) store_buffer_delay (
        .clk_i(clk_i), .rst_i(rst_i), .seed_i(seed_i), .level_i(level_i),
        .move_i(sb_leave || uc_store), .go_o(sb_go)
    );

    // ---- Whose turn it is at the cache. Nothing of a doomed transaction goes there any more.

    wire want_store = sb_pick && sb_go;
    reg [3:0]  req_op, req_be;
    reg [31:2] req_addr;
    reg [31:0] req_data;
    reg        req_tx;
    always @* begin
        sel = NONE;
        req_op = 4'dx;
        req_addr = 30'dx;
        req_be = 4'dx;
        req_data = 32'dx;
        req_tx = 1'bx;
        if (!f_any_q && (want_load || want_store || atomic_q || hint_q || tx_q)) begin
            req_op = `CACHE_LOAD;
            req_addr = a_addr_q[31:2];
            req_be = 4'd15;
            req_data = a_data_q;
            req_tx = tx_q;
            if (abort_q) begin
                if (!over_q)
                    sel = ABORT;
                req_op = `CACHE_TX_ABORT;
            end else if (doomed)
                sel = NONE;
            else if (commit && !commit_refused_q) begin
                sel = COMMIT;
                req_op = `CACHE_TX_COMMIT;
            end else if (atomic_q && a_addr_q[31] && !a_refused_q) begin
                sel = ATOMIC;
                req_op = a_kind_q == `LSU_AMO ? `CACHE_AMO
                    : a_kind_q == `LSU_LR ? `CACHE_LR : `CACHE_SC;
            end else if (hint_q && !hint_refused_q) begin
                sel = HINT;
                req_op = hint_kind_q == `LSU_FLUSH ? `CACHE_FLUSH
                    : hint_kind_q == `LSU_PREFETCH_W ? `CACHE_PREFETCH_W : `CACHE_PREFETCH_R;
                req_addr = hint_addr_q;
            end else if (want_load && (turn_q || !want_store)) begin
                sel = LOAD;
                req_addr = lq_pick_addr;
                req_be = lq_pick_be;
            end else if (want_store) begin
                sel = STORE;
                req_op = `CACHE_STORE;
                req_addr = sb_pick_addr;
                req_be = sb_pick_be;
                req_data = sb_pick_data;
                req_tx = sb_pick_tx;
            end
        end
    end
    assign req_valid_o   = sel != NONE;
    assign req_op_o      = req_op;
    assign req_addr_o    = {req_addr, 2'd0};
    assign req_be_o      = req_be;
    assign req_data_o    = req_data;
    assign req_compare_o = a_compare_q;
    assign req_amo_o     = a_amo_q;
    assign req_tx_o      = req_tx;

    // ---- Uncached: one at a time, the oldest of its kind. An uncached SC fails without going out.

    reg         uc_write, uc_amo;
    reg  [31:0] uc_addr, uc_data;
    reg  [3:0]  uc_be;
    always @* begin
        {uc_amo, uc_write} = 2'd0;
        uc_addr = 32'dx;
        uc_be = 4'dx;
        uc_data = 32'dx;
        if (uc_q != UC_NONE) begin
            uc_addr = a_addr_q;
            uc_be = 4'd15;
            uc_data = a_data_q;
            case (uc_q)
                UC_STORE: begin
                    uc_write = 1'b1;
                    uc_addr = {sb_head_addr, 2'd0};
                    uc_be = sb_head_be;
                    uc_data = sb_head_data;
                end
                UC_LOAD: begin
                    uc_addr = {lq_head_addr[31:2], 2'd0};
                    uc_be = lq_head_be;
                end
                default: begin // UC_ATOMIC
                    uc_amo = a_kind_q == `LSU_AMO;
                    uc_write = uc_amo;
                end
            endcase
        end
    end
    assign uc_valid_o   = uc_q != UC_NONE && !uc_sent_q;
    assign uc_write_o   = uc_write;
    assign uc_atomic_o  = uc_amo;
    assign uc_amo_o     = a_amo_q;
    assign uc_addr_o    = uc_addr;
    assign uc_be_o      = uc_be;
    assign uc_data_o    = uc_data;
    assign uc_compare_o = a_compare_q;

    // With some bugs a cached operation may be done in the same cycle: then the buffer hears later.
    reg  uc_late_q;
    wire uc_meets = (bug_i == `BUG_UNCACHED_REORDER || bug_i == `BUG_SWAP_NO_DRAIN)
        && done && (f_store_q || f_atomic_q);
    always @* begin
        {uc_store, uc_late} = 2'd0;
        if (uc_late_q || uc_rsp_valid_i) begin
            uc_late  = (uc_late_q || uc_q == UC_STORE) && uc_meets;
            uc_store = (uc_late_q || uc_q == UC_STORE) && !uc_meets;
        end
    end

    // ---- Atomic operations.

    reg         a_done, a_wrote;
    reg  [31:0] a_read, a_written;
    always @* begin
        {a_done, a_wrote} = 2'd0;
        a_read = rsp_data_i;
        a_written = a_data_q;
        if (atomic_q && !abort_q) begin
            a_done = uc_atomic || (f_atomic_q && done);
            if (uc_atomic)
                a_read = uc_rsp_data_i;
            if (a_kind_q == `LSU_AMO) begin
                a_written = uc_atomic ? uc_rsp_written_i : rsp_written_i;
                a_wrote = a_done && (a_amo_q != 5'd5 || a_read == a_compare_q); // 5: amocas.w
            end else if (a_kind_q == `LSU_SC) begin
                if (!a_addr_q[31]) begin
                    a_done = 1'b1;
                    a_read = 32'd1;
                end
                a_wrote = a_done && a_read == 32'd0;
            end
        end
    end

    // ---- State.

    always @(posedge clk_i)
        if (rst_i) begin
            {f_any_q, f_load_q, f_store_q, f_atomic_q, f_hint_q, f_commit_q, f_abort_q} <= 7'd0;
            {atomic_q, a_refused_q, hint_q, hint_refused_q, tx_q, abort_q, over_q} <= 7'd0;
            {commit_refused_q, barrier_q, turn_q, offered_q, uc_sent_q, uc_late_q} <= 6'd0;
            uc_q     <= UC_NONE;
            cause_q  <= 4'd0;
            code_q   <= 8'd0;
            seq_q    <= 8'd0;
            timer_q  <= 6'd0;
            random_q <= seed_i[31:16] ^ seed_i[15:0] ^ 16'hACE1;
        end else begin
            timer_q <= timer_q + 6'd1;
            if (!sb_empty || !lq_empty)
                random_q <= random_q == 16'd0 ? 16'd1
                    : {random_q[14:0], random_q[15] ^ random_q[13] ^ random_q[12] ^ random_q[10]};
            offered_q <= op_valid_i && !ready && !over_q;
            if (op_valid_i && !offered_q)
                since_q <= cycle_i;

            f_any_q <= take;
            if (take || f_any_q) begin
                f_load_q   <= take && sel == LOAD;
                f_store_q  <= take && sel == STORE;
                f_atomic_q <= take && sel == ATOMIC;
                f_hint_q   <= take && sel == HINT;
                f_commit_q <= take && sel == COMMIT;
                f_abort_q  <= take && sel == ABORT;
                if (take && (sel == LOAD || sel == STORE))
                    turn_q <= sel == STORE;
            end

            if (rsp_valid_i) begin
                if (f_hint_q && rsp_done_i) hint_q <= 1'b0;
                if (f_atomic_q && !rsp_done_i) a_refused_q <= 1'b1;
                if (f_hint_q && !rsp_done_i) hint_refused_q <= 1'b1;
                if (f_commit_q && !rsp_done_i) commit_refused_q <= 1'b1;
            end
            if (retry)
                {a_refused_q, hint_refused_q, commit_refused_q} <= 3'd0;

            if (ready) begin // one was accepted
                if (!go_void && !silent_i)
                    seq_q <= seq_q + 8'd1;
                if (go_store)
                    barrier_q <= 1'b0;
                if (go_fence && store_store)
                    barrier_q <= 1'b1;
                if (go_begin)
                    tx_q <= 1'b1;
                if (go_hint) begin
                    hint_q      <= 1'b1;
                    hint_kind_q <= op_kind_i;
                    hint_addr_q <= op_addr_i[31:2];
                end
                if (go_atomic) begin
                    atomic_q    <= 1'b1;
                    a_kind_q    <= op_kind_i;
                    a_addr_q    <= op_addr_i;
                    a_data_q    <= op_data_i;
                    a_compare_q <= op_compare_i;
                    a_issue_q   <= issue;
                    a_amo_q     <= op_amo_i;
                    a_rd_q      <= op_rd_i;
                    a_seq_q     <= seq_q;
                end
            end
            if (a_done)
                atomic_q <= 1'b0;

            if (TM != 0 && tx_q) begin
                if (flush)
                    {atomic_q, hint_q, barrier_q} <= 3'd0;
                if (committed || over_q)
                    tx_q <= 1'b0;
                if (over_q)
                    seq_q <= seq_q + 8'd1;
                if (stop) begin
                    abort_q <= 1'b1;
                    cause_q <= doomed ? (tx_doomed_i[0] ? `TX_CONFLICT : `TX_CAPACITY)
                        : tx_kill_i ? tx_kill_cause_i
                        : op_kind_i == `LSU_TX_ABORT ? `TX_EXPLICIT : `TX_UNSUPPORTED;
                    code_q  <= !doomed && !tx_kill_i && op_kind_i == `LSU_TX_ABORT
                        ? op_addr_i[7:0] : 8'd0;
                end else if (over_q)
                    abort_q <= 1'b0;
                over_q <= f_abort_q && done;
            end

            uc_late_q <= uc_late;
            if (uc_rsp_valid_i) begin
                uc_q      <= UC_NONE;
                uc_sent_q <= 1'b0;
            end else if (uc_q != UC_NONE)
                uc_sent_q <= uc_sent_q || uc_ready_i;
            else if (atomic_q || sb_head_uncached || lq_uncached) begin
                if (atomic_q && !a_addr_q[31] && a_kind_q != `LSU_SC)
                    uc_q <= UC_ATOMIC;
                else if (sb_head_uncached && sb_go && !uc_late_q
                    && (bug_i != `BUG_UNCACHED_REORDER || timer_q == 6'd63)) // it seldom moves then
                    uc_q <= UC_STORE;
                else if (lq_uncached && lq_go && lq_can && !sb_uncached)
                    uc_q <= UC_LOAD;
            end
        end

    lsu_last last (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i), .tx_i(tx_q), .begin_i(go_begin),
        .sample_i(sample), .whole_i(f_load_q || look_be == 4'd15), .addr_i(lq_pick_addr),
        .word_i(word), .stale_o(last_stale), .word_o(stale_data)
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
        end else if (a_done) begin
            wb_valid_o = a_rd_q != 5'd0;
            wb_rd_o = a_rd_q;
            wb_data_o = a_read;
        end
    end
    assign tx_active_o = tx_q;
    assign tx_abort_o  = over_q;
    assign tx_status_o = {16'd0, code_q, 4'd0, cause_q};
    assign tx_ending_o = TM != 0 && tx_q && !abort_q && op_valid_i && is_commit;

    // ---- To the capture unit.

    lsu_record record (
        .cycle_i(cycle_i), .tx_i(tx_q),
        .load_i(lq_leave), .load_size_i(lq_leave_size), .load_seq_i(lq_leave_seq),
        .load_issue_i(lq_leave_issue), .load_addr_i(lq_leave_addr), .load_data_i(lq_leave_data),
        .atomic_i(a_done), .atomic_kind_i(a_kind_q), .atomic_seq_i(a_seq_q),
        .atomic_issue_i(a_issue_q), .atomic_addr_i(a_addr_q), .atomic_read_i(a_read),
        .atomic_written_i(a_written), .atomic_wrote_i(a_wrote),
        .abort_i(over_q), .status_i(tx_status_o),
        .op_i(accepted), .op_kind_i(op_kind_i), .op_size_i(op_size_i), .op_seq_i(seq_q),
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

    // ---- For counters and the watchdog.

    wire partial = f_load_q && sample && (look_be & lq_pick_be) != 4'd0;
    always @* begin
        events_o = 16'd0;
        if (op_valid_i) begin
            events_o[13] = cap_stall_i;                    // EVENT 19
            events_o[11] = is_fence && !ready;             // 17
            events_o[3]  = is_store && sb_full;            // 9
            events_o[1]  = go_store;                       // 7
        end
        if (f_any_q) begin
            events_o[14] = committed;                      // 20
            events_o[9]  = f_load_q && sample && lq_early; // 15
            events_o[7]  = sb_leave && sb_pick_young;      // 13
            events_o[5]  = partial;                        // 11
        end
        if (!lq_empty) begin
            events_o[10] = lq_dropped;                     // 16
            events_o[4]  = forward && !stale;              // 10
            if (lq_bind || lq_leave) begin
                events_o[8] = lq_bind_early;               // 14
                events_o[6] = lq_bind && !sb_empty;        // 12
                events_o[0] = lq_leave;                    // 6
            end
        end
        if (atomic_q || uc_rsp_valid_i || over_q) begin
            events_o[15] = over_q;                         // 21
            events_o[12] = uc_rsp_valid_i;                 // 18
            events_o[2]  = a_done;                         // 8
        end
    end

    reg [3:0]  waits;
    reg [31:0] waits_addr;
    always @* begin
        waits = `WAIT_NOTHING;
        waits_addr = 32'd0;
        if (abort_q)
            waits = `WAIT_ABORT;
        else if (op_valid_i && cap_stall_i) begin
            waits = `WAIT_CAPTURE;
            waits_addr = op_addr_i;
        end else if (atomic_q) begin
            waits = a_addr_q[31] ? `WAIT_ATOMIC : `WAIT_UNCACHED;
            waits_addr = a_addr_q;
        end else if (!lq_empty && lq_can) begin
            waits = lq_uncached ? `WAIT_UNCACHED : `WAIT_LOAD;
            waits_addr = lq_head_addr;
        end else if (!lq_empty || (op_valid_i && !ready)) begin
            if (!sb_empty) begin
                waits = is_store && op_valid_i && sb_full ? `WAIT_BUFFER : `WAIT_DRAIN;
                waits_addr = {sb_head_addr, 2'd0};
            end else if (is_commit)
                waits = `WAIT_COMMIT;
        end
    end
    assign wait_o      = waits;
    assign wait_addr_o = waits_addr;

`ifdef CHECKS
    wire [1:0] records  = {1'b0, lq_leave} + {1'b0, a_done} + {1'b0, over_q} + {1'b0, accepted};
    wire [1:0] visibles = {1'b0, sb_leave} + {1'b0, uc_store} + {1'b0, a_wrote};
`endif
    `ASSERTIONS(rsp_valid_i != f_any_q || inv_valid_i)
        `HOLDS(lsu_answer_after_a_cycle, rsp_valid_i == f_any_q)
        `HOLDS(lsu_inv_with_answer, !(inv_valid_i && rsp_valid_i))
    `END_ASSERTIONS
    `ASSERTIONS(ready || atomic_q || abort_q || uc_rsp_valid_i || uc_store)
        `HOLDS(lsu_uncached_answer, !uc_rsp_valid_i || uc_sent_q)
        `HOLDS(lsu_one_record, records <= 2'd1)
        `HOLDS(lsu_one_visible, visibles <= 2'd1)
        `HOLDS(lsu_one_result, !(lq_bind && a_done))
        `HOLDS(lsu_stores_are_older, !(go_store && !lq_empty))
        `HOLDS(lsu_atomic_alone,
            !atomic_q || (lq_empty && (sb_empty || bug_i == `BUG_SWAP_NO_DRAIN)))
        `HOLDS(lsu_result_after_abort, !(abort_q && wb_valid_o))
    `END_ASSERTIONS
    `COVER(lsu_capture_stalls, op_valid_i && cap_stall_i)
    `COVER(lsu_forward, forward)
    `COVER(lsu_partial_forward, partial)
    `COVER(lsu_forward_as_store_leaves, forward && sb_leave)
    `COVER(lsu_load_passes_store, lq_bind && !sb_empty)
    `COVER(lsu_record_port_taken, op_valid_i && is_fence && lq_leave)
    `COVER(lsu_flush_waits, hint_q && hint_refused_q)
    `COVER(lsu_flush_behind_store, op_valid_i && op_kind_i == `LSU_FLUSH && sb_line)
    `COVER(lsu_uncached_load_behind_store, lq_uncached && sb_uncached)
    `COVER(lsu_commit_refused, f_commit_q && rsp_valid_i && !rsp_done_i)
    `COVER(lsu_doomed_as_commit_waits, doomed && tx_ending_o)
    `COVER(lsu_killed, stop && tx_kill_i)
    `COVER(lsu_abort_with_stores, flush && !sb_empty)
    `COVER(lsu_abort_with_loads, flush && !lq_empty)
    `COVER(lsu_abort_with_atomic, flush && atomic_q)
endmodule
`default_nettype wire
