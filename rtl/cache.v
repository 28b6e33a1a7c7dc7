// SPDX-License-Identifier: Apache-2.0
// A hart's cache: set-associative, MESI, write-back, misses outstanding, transactions, LR and SC.
//
// One operation at a time has the arrays: a snoop, a fill, a request of the load/store unit, in
// turn. In the first cycle it is taken and tags and words are read; in the second all is decided
// and all states change; lines are then copied word by word: to the write-back buffer, from a fill,
// or both. PROTOCOL.md has the rules.
//
// Its parts, each in a file cache_* of its own, meet here: whose turn it is (turn), what he does
// (request, snoop, fill), the lines (array, states, tx, hold), the way to the bus (mshr, writeback,
// port), what is counted (events).
`default_nettype none
`include "soc.vh"
`include "check.vh"
module cache #(
    parameter SETS = 16,            // 1, 2, 4 ...
    parameter WAYS = 2,             // 1, 2, 4
    parameter LINE_WORDS = 4,       // 4, 8, 16
    parameter MSHRS = 2,            // 1 to 4
    parameter WB_DEPTH = 2,         // 1 to 4
    parameter TM = 1,
    parameter DELAYS = 1,
    parameter [31:0] SALT = 1       // differs between the caches
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [6:0]  bug_i,
    input  wire [31:0] seed_i,
    input  wire [2:0]  level_i,

    // The load/store unit.
    input  wire        req_valid_i, // may be withdrawn or changed freely until taken
    output wire        req_ready_o,
    input  wire [3:0]  req_op_i,
    input  wire [31:0] req_addr_i,
    input  wire [3:0]  req_be_i,
    input  wire [31:0] req_data_i,
    input  wire [31:0] req_compare_i,
    input  wire [4:0]  req_amo_i,
    input  wire        req_tx_i,
    output wire        rsp_valid_o, // exactly one cycle after the request was taken
    output wire        rsp_done_o,
    output wire [31:0] rsp_data_o,
    output wire [31:0] rsp_written_o,
    output wire        change_o,
    output wire        inv_valid_o, // never in a cycle with rsp_valid_o
    output wire [31:0] inv_addr_o,
    output wire [1:0]  tx_doomed_o,
    input  wire        tx_ending_i, // a commit waits for the last stores: for a bug alone

    // The bus.
    output wire        bus_valid_o,
    input  wire        bus_ready_i,
    output wire [1:0]  bus_cmd_o,
    output wire [31:0] bus_addr_o,
    output wire [1:0]  bus_id_o,
    input  wire        snp_valid_i,
    output wire        snp_ready_o,
    input  wire [1:0]  snp_cmd_i,
    input  wire [31:0] snp_addr_i,
    output wire        ack_valid_o,
    output wire        ack_shared_o,
    output wire        ack_data_o,
    output wire        out_valid_o,
    output wire        out_wb_o,
    output wire [31:0] out_data_o,
    output wire        out_last_o,
    input  wire        fill_valid_i,
    input  wire [1:0]  fill_id_i,
    input  wire [31:0] fill_data_i,
    input  wire        fill_last_i,
    input  wire        fill_shared_i,
    output wire        fill_done_o,
    output wire [1:0]  fill_done_id_o,

    output wire [`EVENT_TX_CAPACITIES:`EVENT_HIT] events_o
);

    localparam W_BEAT = $clog2(LINE_WORDS);
    localparam OFFSET = W_BEAT + 2;
    localparam W_LINE = 32 - OFFSET;               // a line address without its zeros
    localparam W_SET  = SETS > 1 ? $clog2(SETS) : 1;
    localparam [W_SET-1:0] SET = SETS > 1 ? {W_SET{1'b1}} : {W_SET{1'b0}};
    localparam W_TAG  = W_LINE - $clog2(SETS);
    localparam W_WAY  = WAYS > 1 ? $clog2(WAYS) : 1;
    localparam W_SLOT = $clog2(WB_DEPTH + 1);
    localparam LINES  = 1 << W_SET + W_WAY;        // some are not there where SETS or WAYS is 1
    localparam [WAYS-1:0] NO_WAY = 0;

    // ---- Who has the arrays.
    wire [W_LINE-1:0] snp_line = snp_addr_i[31:OFFSET];
    wire              idle, act, act_snoop, act_fill, act_request, take_fill, take_request;
    wire              kind_snoop;
    wire [W_LINE-1:0] take_line, line;
    wire [1:0]        cmd;
    wire [W_SET-1:0]  set = line[W_SET-1:0] & SET;
    wire              stream, stream_last, stream_copy, stream_fill;
    wire [W_WAY-1:0]  stream_way;
    wire [W_BEAT-1:0] stream_beat, next_beat;

    wire              ready;           // a fill is complete
    wire [1:0]        ready_id;
    wire [W_LINE-1:0] ready_line;
    wire [1:0]        ready_cmd;
    wire [W_WAY-1:0]  ready_way;
    wire              ready_shared, ready_prefetch;

    // What a request does, a snoop, a fill: see their ports.
    wire done, ask, ask_read, ask_prefetch, reads, writes, writes_tx, clean_write, flush, drop;
    wire push, clean, used, used_write, lr, sc, sc_failed, commit, commit_half, abort;
    wire request_change, lost_reservation, lost_atomic;
    wire [W_BEAT-1:0] write_word;
    wire [31:0]       write_data;

    wire snoop_hides, conflict, snoop_hit, snoop_shares, snoop_wants, snoop_takes, wrong_way;
    wire supply_copy, supply_slot, supply_busy, ack_pending;

    wire fill_line, fill_go, fill_write, fill_placed, replace, fill_push, capacity;
    wire fill_exclusive, fill_prefetch, fill_retry, fill_full;
    wire [1:0]        fill_id;
    wire [W_WAY-1:0]  fill_way;

    // The line that is held.
    wire held, held_by_lr, snoop_held;
    wire [W_LINE-1:0] held_line;
    wire [W_WAY-1:0]  held_way;

    wire [W_WAY-1:0] hit_way;
    wire [W_WAY-1:0] act_way = stream ? stream_way : act_fill ? fill_way : hit_way;
    wire start = push || supply_copy || fill_write; // a line will be copied
    cache_turn #(.W_LINE(W_LINE), .W_WAY(W_WAY), .W_BEAT(W_BEAT)) turn (
        .clk_i(clk_i), .rst_i(rst_i),
        .snoop_i(snp_valid_i && !snoop_held && !supply_busy && !ack_pending),
        .snoop_line_i(snp_line), .snoop_cmd_i(snp_cmd_i),
        .fill_i(ready && !fill_retry), .fill_line_i(ready_line), .fill_cmd_i(ready_cmd),
        .request_i(req_valid_i), .request_line_i(req_addr_i[31:OFFSET]),
        .take_snoop_o(snp_ready_o), .take_fill_o(take_fill), .take_request_o(take_request),
        .request_ready_o(req_ready_o), .take_line_o(take_line),
        .idle_o(idle), .act_o(act), .act_snoop_o(act_snoop), .act_fill_o(act_fill),
        .act_request_o(act_request), .snoop_o(kind_snoop), .line_o(line), .cmd_o(cmd),
        .start_i(start), .start_way_i(act_way),
        .start_copy_i(push || supply_copy || fill_push),
        .stream_o(stream), .stream_last_o(stream_last), .stream_way_o(stream_way),
        .stream_beat_o(stream_beat), .stream_copy_o(stream_copy), .stream_fill_o(stream_fill),
        .next_beat_o(next_beat)
    );

    // ---- The lines: tags and words, states, marks of the transaction, the one that is held.
    wire [31:0]      fill_word, hit_word, copy_word;
    wire [WAYS-1:0]  match, set_valid, set_dirty, set_read, set_written;
    wire [W_TAG-1:0] victim_tag;
    wire             write_line = stream && stream_fill;
    cache_array #(
        .W_SET(W_SET), .W_TAG(W_TAG), .WAYS(WAYS), .W_WAY(W_WAY), .W_BEAT(W_BEAT)
    ) arrays (
        .clk_i(clk_i), .rst_i(rst_i),
        .read_i(snp_ready_o || take_fill || take_request),
        .read_word_i(start || stream && !stream_last),
        .read_set_i(idle ? take_line[W_SET-1:0] & SET : set),
        .read_beat_i(idle ? req_addr_i[OFFSET-1:2] : next_beat),
        .look_i(act), .tag_i(line[W_LINE-1 -: W_TAG]), .set_i(set), .valid_i(set_valid),
        .match_o(match), .hit_way_o(hit_way), .hit_word_o(hit_word),
        .look_way_i(act_fill || stream), .way_i(stream ? stream_way : fill_way),
        .tag_o(victim_tag), .word_o(copy_word),
        .write_way_i(act_way), .write_tag_i(fill_write),
        .write_word_i(write_line || writes),
        .write_beat_i(write_line ? stream_beat : write_word),
        .write_data_i(write_line ? fill_word : write_data)
    );

    wire hit = match != NO_WAY;
    wire hit_exclusive, hit_dirty, hit_prefetched, hit_read_set, hit_write_set, first_clean;
    wire forget; // the transaction loses its marks
    wire [LINES-1:0] gone;
    cache_states #(.W_SET(W_SET), .WAYS(WAYS), .W_WAY(W_WAY), .LINES(LINES)) states (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i),
        .act_i(act), .set_i(set), .set_valid_o(set_valid), .set_dirty_o(set_dirty),
        .first_clean_o(first_clean),
        .hit_i(hit), .hit_way_i(hit_way), .exclusive_o(hit_exclusive), .dirty_o(hit_dirty),
        .prefetched_o(hit_prefetched),
        .write_i(writes), .write_clean_i(clean_write), .clean_i(clean), .share_i(snoop_shares),
        .take_i(snoop_wants), .drop_i(drop || snoop_takes),
        .drop_first_i(snoop_takes && wrong_way),
        .fill_i(fill_placed), .fill_way_i(fill_way), .fill_exclusive_i(fill_exclusive),
        .fill_dirty_i(cmd == `BUS_GETM), .fill_prefetch_i(fill_prefetch),
        .forget_i(forget), .gone_i(gone)
    );
    cache_tx #(.W_SET(W_SET), .WAYS(WAYS), .W_WAY(W_WAY), .LINES(LINES), .TM(TM)) transaction (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i),
        .act_i(act), .set_i(set), .set_read_o(set_read), .set_written_o(set_written),
        .hit_i(hit), .hit_way_i(hit_way), .read_o(hit_read_set), .written_o(hit_write_set),
        .read_i(reads), .write_i(writes), .write_tx_i(writes_tx),
        .early_i(snoop_hit && hit_write_set),
        .fill_i(fill_write), .fill_way_i(fill_way),
        .commit_i(commit), .commit_half_i(commit_half), .abort_i(abort), .conflict_i(conflict),
        .snoop_i(act_snoop), .capacity_i(capacity), .forget_o(forget), .gone_o(gone),
        .doomed_o(tx_doomed_o)
    );
    cache_hold #(.W_LINE(W_LINE), .W_WAY(W_WAY)) holder (
        .clk_i(clk_i), .rst_i(rst_i), .line_i(line), .way_i(act_way),
        .fill_i(fill_go && !fill_prefetch), .fill_write_i(cmd != `BUS_GETS),
        .clean_i(clean), .lr_i(lr), .sc_i(sc || lost_reservation), .used_i(used),
        .used_write_i(used_write), .release_i(forget),
        .snoop_i(snp_valid_i), .snoop_line_i(snp_line),
        .held_o(held), .held_line_o(held_line), .held_way_o(held_way), .reserved_o(held_by_lr),
        .snoop_held_o(snoop_held)
    );

    // ---- Line `look` is looked up in misses and write-backs, and is the one that is lost.
    wire [W_LINE-1:0] victim_line;
    generate if (SETS > 1) begin : sets
        assign victim_line = {victim_tag, set};
    end else begin : one_set
        assign victim_line = victim_tag;
    end endgenerate
    wire [W_LINE-1:0] look = fill_line ? victim_line : line;
    wire lost = drop || snoop_takes || replace;
    wire mshr_hit, mshr_granted_upg, mshr_waiting_upg, mshr_full, mshr_busy, mshr_waits;
    wire [WB_DEPTH-1:0] wb_pending, wb_any, wb_freed;
    wire [WAYS-1:0] keep; // an UPG of it was granted
    wire wb_room, wb_empty;
    wire wb_hit = wb_pending != {WB_DEPTH{1'b0}};

    // ---- What acts.
    cache_request #(.W_LINE(W_LINE), .W_BEAT(W_BEAT), .TM(TM)) request (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i),
        .take_i(take_request), .op_i(req_op_i), .word_i(req_addr_i[OFFSET-1:2]), .be_i(req_be_i),
        .data_i(req_data_i), .compare_i(req_compare_i), .amo_i(req_amo_i), .tx_i(req_tx_i),
        .act_i(act_request), .line_i(line),
        .hit_i(hit), .exclusive_i(hit_exclusive), .dirty_i(hit_dirty), .read_set_i(hit_read_set),
        .write_set_i(hit_write_set), .hit_word_i(hit_word), .upg_granted_i(mshr_granted_upg),
        .another_waits_i(mshr_waits && !mshr_hit), .wb_room_i(wb_room),
        .doomed_i(tx_doomed_o != 2'd0),
        .done_o(done), .rsp_data_o(rsp_data_o), .rsp_written_o(rsp_written_o), .ask_o(ask),
        .ask_read_o(ask_read), .ask_prefetch_o(ask_prefetch), .reads_o(reads), .writes_o(writes),
        .writes_tx_o(writes_tx), .clean_write_o(clean_write), .write_word_o(write_word),
        .write_data_o(write_data), .flush_o(flush), .drop_o(drop), .push_o(push),
        .clean_o(clean), .used_o(used), .used_write_o(used_write), .lr_o(lr),
        .sc_o(sc), .sc_failed_o(sc_failed), .commit_o(commit), .commit_half_o(commit_half),
        .abort_o(abort), .change_o(request_change),
        .lost_i(lost), .lost_line_i(look), .lost_snoop_i(act_snoop), .forget_i(forget),
        .lost_reservation_o(lost_reservation), .lost_atomic_o(lost_atomic)
    );
    wire alloc = ask && !mshr_hit && !mshr_full;
    assign rsp_valid_o = act_request;
    assign rsp_done_o = done;

    cache_snoop #(
        .WAYS(WAYS), .W_WAY(W_WAY), .DELAYS(DELAYS), .SALT(SALT * 2 + 1)
    ) snoop (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i), .seed_i(seed_i), .level_i(level_i),
        .act_i(act_snoop), .cmd_i(cmd), .hit_i(hit), .hit_way_i(hit_way),
        .exclusive_i(hit_exclusive), .dirty_i(hit_dirty), .prefetched_i(hit_prefetched),
        .read_set_i(hit_read_set), .write_set_i(hit_write_set),
        .first_clean_i(first_clean), .upg_waits_i(mshr_waiting_upg),
        .wb_hit_i(wb_hit), .tx_ending_i(tx_ending_i),
        .hides_o(snoop_hides), .conflict_o(conflict), .hit_o(snoop_hit), .shares_o(snoop_shares),
        .wants_o(snoop_wants), .takes_o(snoop_takes), .wrong_way_o(wrong_way),
        .supply_copy_o(supply_copy), .supply_slot_o(supply_slot), .pending_o(ack_pending),
        .ack_valid_o(ack_valid_o), .ack_shared_o(ack_shared_o), .ack_data_o(ack_data_o)
    );

    cache_fill #(
        .W_LINE(W_LINE), .W_SET(W_SET), .W_TAG(W_TAG), .SETS(SETS), .WAYS(WAYS), .W_WAY(W_WAY),
        .TM(TM)
    ) fill (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i),
        .take_i(take_fill), .id_i(ready_id), .upg_way_i(ready_way), .shared_i(ready_shared),
        .prefetch_i(ready_prefetch), .retry_o(fill_retry),
        .act_i(act_fill), .cmd_i(cmd), .line_i(line), .held_i(held), .held_line_i(held_line),
        .held_way_i(held_way), .held_by_lr_i(held_by_lr), .keep_i(keep),
        .valid_i(set_valid), .dirty_i(set_dirty), .read_set_i(set_read), .write_set_i(set_written),
        .wb_room_i(wb_room), .wb_empty_i(wb_empty), .way_tag_i(victim_tag),
        .upg_waits_i(mshr_waiting_upg),
        .line_o(fill_line), .go_o(fill_go), .write_o(fill_write), .placed_o(fill_placed),
        .replace_o(replace), .push_o(fill_push), .capacity_o(capacity), .way_o(fill_way),
        .exclusive_o(fill_exclusive), .prefetch_o(fill_prefetch), .id_o(fill_id),
        .done_o(fill_done_o), .done_id_o(fill_done_id_o), .wb_full_o(fill_full)
    );

    // ---- What the load/store unit is told of.
    reg              inv_q, change_q;
    reg [W_LINE-1:0] inv_line_q;
    always @(posedge clk_i) begin
        change_q <= fill_go || clean || request_change || wb_freed != {WB_DEPTH{1'b0}};
        inv_q <= lost || snoop_hides;
        inv_line_q <= look;
        if (rst_i) begin
            inv_q <= 1'b0;
            change_q <= 1'b0;
        end
    end
    assign change_o = change_q;
    assign inv_valid_o = inv_q;
    assign inv_addr_o = {inv_line_q, {OFFSET{1'b0}}};

    // ---- The bus. An UPG does not ask while its line may just be going.
    wire [MSHRS-1:0]    mshr_want, mshr_want_upg;
    wire [WB_DEPTH-1:0] wb_want, wb_ask;
    wire [1:0]          mshr_id, mshr_cmd;
    wire [W_LINE-1:0]   mshr_line, wb_line;
    wire                mshr_granted, wb_granted;
    wire upg_rests = act_fill || flush;
    cache_port #(
        .OFFSET(OFFSET), .MSHRS(MSHRS), .WB_DEPTH(WB_DEPTH), .DELAYS(DELAYS), .SALT(SALT * 2)
    ) asker (
        .clk_i(clk_i), .rst_i(rst_i), .seed_i(seed_i), .level_i(level_i),
        .mshr_want_i(mshr_want & ~(upg_rests ? mshr_want_upg : {MSHRS{1'b0}})),
        .mshr_id_o(mshr_id), .mshr_cmd_i(mshr_cmd), .mshr_line_i(mshr_line),
        .mshr_granted_o(mshr_granted),
        .wb_want_i(wb_want), .wb_ask_o(wb_ask), .wb_line_i(wb_line), .wb_granted_o(wb_granted),
        .bus_valid_o(bus_valid_o), .bus_ready_i(bus_ready_i), .bus_cmd_o(bus_cmd_o),
        .bus_addr_o(bus_addr_o), .bus_id_o(bus_id_o)
    );

    wire fill_stale = bug_i == `BUG_FILL_STALE_BEAT && fill_last_i && !idle && kind_snoop;
    cache_mshr #(
        .W_LINE(W_LINE), .W_SET(W_SET), .SETS(SETS), .WAYS(WAYS), .W_WAY(W_WAY), .W_BEAT(W_BEAT),
        .MSHRS(MSHRS), .WB_DEPTH(WB_DEPTH)
    ) mshr (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i),
        .look_i(act), .look_addr_i(look), .look_hit_o(mshr_hit),
        .look_granted_upg_o(mshr_granted_upg), .look_waiting_upg_o(mshr_waiting_upg),
        .lost_i(lost), .demand_i(ask && !ask_prefetch),
        .alloc_i(alloc), .alloc_way_i(hit_way), .alloc_prefetch_i(ask_prefetch),
        .alloc_cmd_i(hit ? `BUS_UPG : ask_read ? `BUS_GETS : `BUS_GETM),
        .alloc_behind_i(wb_any), .freed_i(wb_freed), .full_o(mshr_full), .busy_o(mshr_busy),
        .waits_o(mshr_waits), .set_i(set), .keep_o(keep),
        .want_o(mshr_want), .want_upg_o(mshr_want_upg), .ask_id_i(mshr_id), .ask_cmd_o(mshr_cmd),
        .ask_addr_o(mshr_line), .granted_i(mshr_granted),
        .fill_valid_i(fill_valid_i), .fill_id_i(fill_id_i), .fill_data_i(fill_data_i),
        .fill_last_i(fill_last_i), .fill_shared_i(fill_shared_i), .fill_stale_i(fill_stale),
        .ready_o(ready), .ready_id_o(ready_id), .ready_addr_o(ready_line), .ready_cmd_o(ready_cmd),
        .ready_way_o(ready_way), .ready_shared_o(ready_shared), .ready_prefetch_o(ready_prefetch),
        .next_i(act_fill), .free_i(fill_go && !fill_line || stream_last && stream_fill),
        .free_id_i(fill_id), .read_i(fill_write || write_line),
        .read_id_i(fill_id), .read_beat_i(next_beat),
        .read_data_o(fill_word)
    );

    cache_writeback #(
        .W_LINE(W_LINE), .W_BEAT(W_BEAT), .WB_DEPTH(WB_DEPTH), .W_SLOT(W_SLOT)
    ) writeback (
        .clk_i(clk_i), .rst_i(rst_i),
        .look_i(act), .look_addr_i(look), .look_pending_o(wb_pending), .look_any_o(wb_any),
        .room_o(wb_room), .empty_o(wb_empty), .push_i(push || fill_push),
        .drop_i(supply_copy), .supply_slot_i(supply_slot), .supply_copy_i(supply_copy),
        .supply_busy_o(supply_busy), .supply_go_i(!ack_pending),
        .copy_i(stream && stream_copy), .copy_beat_i(stream_beat), .copy_data_i(copy_word),
        .freed_o(wb_freed), .want_o(wb_want), .ask_i(wb_ask),
        .ask_addr_o(wb_line), .granted_i(wb_granted),
        .out_valid_o(out_valid_o), .out_wb_o(out_wb_o), .out_data_o(out_data_o),
        .out_last_o(out_last_o)
    );

    cache_events events (
        .request_i(act_request), .used_i(used && !flush || lr), .miss_i(alloc),
        .upgrade_i(alloc && hit), .under_miss_i(alloc && mshr_busy), .sc_failed_i(sc_failed),
        .fill_i(act_fill), .replace_i(replace), .push_i(fill_push), .capacity_i(capacity),
        .snoop_i(act_snoop), .snoop_hit_i(snoop_hit), .wb_hit_i(wb_hit),
        .supply_i(supply_copy || supply_slot), .taken_i(snoop_takes), .conflict_i(conflict),
        .lost_i(lost), .upgrade_lost_i(mshr_waiting_upg), .reserved_i(lost_reservation && !drop),
        .atomic_i(lost_atomic), .snoop_held_i(snoop_held), .wb_full_i(fill_full),
        .events_o(events_o)
    );

    wire unused = &{1'b0, req_addr_i, snp_addr_i, take_line};

`ifdef CHECKS
    // For whoever watches all caches: lines by index (as their states are), and a line that gets
    // S, or E or M, from the next cycle on.
    reg [W_LINE-1:0] tag [0:LINES-1];
    always @(posedge clk_i)
        if (fill_write)
            tag[{set, fill_way}] <= line;
    wire        raised = fill_go;
    wire [31:0] raised_addr = {line, {OFFSET{1'b0}}};
    wire        raised_exclusive = fill_exclusive;
    wire unused_raised = &{1'b0, raised, raised_addr, raised_exclusive, tag[0]};
`endif
    `ASSERTIONS(act) // nothing of the following happens in other cycles
        `HOLDS(cache_one_way, (match & (match - 1'b1)) == NO_WAY)
        `HOLDS(cache_fill_is_new, !(act_fill && fill_line && hit))
        `HOLDS(cache_upg_has_line, !(act_fill && !fill_line)
               || hit && hit_way == fill_way && !hit_exclusive)
        `HOLDS(cache_dirty_is_exclusive, !(hit_dirty && !hit_exclusive))
        `HOLDS(cache_write_set_is_dirty, !(hit_write_set && !(hit_exclusive && hit_dirty)))
        `HOLDS(cache_dirty_not_dropped, !(lost && !fill_line && hit_dirty) || push || supply_copy)
        // The bus orders what happens to a line: nobody is asked for one that was granted to him.
        `HOLDS(cache_snoop_not_granted, !(act_snoop && mshr_granted_upg))
        `HOLDS(cache_snoop_behind_write_back, !(act_snoop && (wb_any & ~wb_pending) != 0))
        `HOLDS(cache_held_stays, !(held && lost && look == held_line) || act_request)
        `HOLDS(cache_inv_not_with_rsp, !(inv_valid_o && rsp_valid_o))
    `END_ASSERTIONS
    // Transitions of lines by the hart, by snoops and by fills are where these are.
    `COVER(cache_replace_s, replace && !states.exclusive_q[{set, fill_way}])
    `COVER(cache_replace_e, replace && states.exclusive_q[{set, fill_way}]
           && !states.dirty_q[{set, fill_way}])
    `COVER(cache_upg_flushed, drop && mshr_waiting_upg)
    `COVER(cache_miss_in_write_back, alloc && wb_any != 0)
    `COVER(cache_refused_full, ask && !mshr_hit && mshr_full)
    `COVER(cache_reservation_replaced, lost_reservation && replace)
    `COVER(cache_reservation_taken, lost_reservation && snoop_takes)
endmodule
`default_nettype wire
