// SPDX-License-Identifier: Apache-2.0
// A hart's cache: set-associative, MESI, write-back, misses outstanding, transactions, LR and SC.
//
// One operation at a time has the arrays: a snoop, a fill, a request of the load/store unit, in
// turn. In the first cycle (state_q = IDLE) it is taken and tags and words are read; in the second
// (ACT) all is decided and all states change; lines are then copied word by word (STREAM): to the
// write-back buffer, from a fill, or both. PROTOCOL.md has the rules.
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

    output wire [17:0] events_o      // bit 0 is event 22, HIT
);

    localparam W_BEAT = $clog2(LINE_WORDS);
    localparam OFFSET = W_BEAT + 2;
    localparam W_LINE = 32 - OFFSET;               // a line address without its zeros
    localparam W_SET  = SETS > 1 ? $clog2(SETS) : 1;
    localparam [W_SET-1:0] SET = SETS > 1 ? {W_SET{1'b1}} : {W_SET{1'b0}};
    localparam W_TAG  = W_LINE - $clog2(SETS);
    localparam W_WAY  = WAYS > 1 ? $clog2(WAYS) : 1;
    localparam W_SLOT = $clog2(WB_DEPTH + 1);
    localparam W_INDEX = W_SET + W_WAY;            // a line by set and way
    localparam LINES  = 1 << W_INDEX;              // some are not there where SETS or WAYS is 1
    localparam [WAYS-1:0] NO_WAY = 0, WAY_0 = 1;
    localparam [W_WAY-1:0] LAST_WAY = WAYS[W_WAY-1:0] - 1'b1;

    localparam [1:0] IDLE = 2'd0, ACT = 2'd1, STREAM = 2'd2;
    localparam [1:0] SNOOP = 2'd0, FILL = 2'd1, REQUEST = 2'd2;

    // What has the arrays.
    reg [1:0]        state_q, kind_q; // kind_q stays when it is over: the next in turn is preferred
    reg [W_LINE-1:0] line_q;
    reg [W_BEAT-1:0] word_q;
    reg [3:0]        op_q, be_q;      // REQUEST
    reg [31:0]       data_q, compare_q;
    reg [4:0]        amo_q;
    reg              tx_q;
    reg [1:0]        cmd_q;           // SNOOP, FILL
    reg [1:0]        fill_id_q;
    reg [W_WAY-1:0]  fill_way_q;
    reg              fill_shared_q, fill_prefetch_q;
    reg [W_WAY-1:0]  stream_way_q;
    reg [W_BEAT-1:0] stream_beat_q;
    reg              stream_copy_q, stream_fill_q;

    // States of the lines: I 000, S 100, E 110, M 111; read and write set of the transaction.
    reg [LINES-1:0] valid_q, exclusive_q, dirty_q, read_set_q, write_set_q;
    reg [1:0]       doomed_q;

    // For bugs alone.
    reg [LINES-1:0]   prefetched_q;   // PREFETCH_STALE: lines that a prefetch brought
    reg [W_INDEX-1:0] last_q;         // TX_ABORT_LEAKS: the line written last
    wire [LINES-1:0]  second_piece;   // TX_TWO_PIECES: half of the lines
    genvar g;
    generate for (g = 0; g < LINES; g = g + 1) begin : pieces
        assign second_piece[g] = ^g[W_INDEX-1:0];
    end endgenerate

    reg              ack_q, ack_shared_q, ack_data_q;
    reg              inv_q, change_q, fill_done_q;
    reg [W_LINE-1:0] inv_line_q;
    reg [1:0]        fill_done_id_q;
    reg [1:0]        fill_retry_q;    // cycles until a fill that found no place tries again
    reg              wb_full_q;       // the reason was the write-back buffer

    wire act = state_q == ACT;
    wire act_request = act && kind_q == REQUEST;
    wire act_snoop = act && kind_q == SNOOP;
    wire act_fill = act && kind_q == FILL;
    wire stream = state_q == STREAM;
    wire stream_last = stream && stream_beat_q == {W_BEAT{1'b1}};

    // ---- Who is next. After a snoop a fill is preferred, then a request; and so on in a circle.
    wire              ready;          // a fill is complete
    wire [1:0]        ready_id;
    wire [W_LINE-1:0] ready_line;
    wire [1:0]        ready_cmd;
    wire [W_WAY-1:0]  ready_way;
    wire              ready_shared, ready_prefetch;
    wire              supply_busy;

    wire [W_LINE-1:0] snp_line = snp_addr_i[31:OFFSET];
    wire [W_LINE-1:0] req_line = req_addr_i[31:OFFSET];
    wire              held, held_by_lr, snoop_held; // cache_hold.v
    wire [W_LINE-1:0] held_line;
    wire [W_WAY-1:0]  held_way_id;
    wire snoop_can = snp_valid_i && !snoop_held && !supply_busy && !ack_q;
    wire fill_can = ready && fill_retry_q == 2'd0;
    wire idle = state_q == IDLE;
    wire pick_snoop = idle && snoop_can
                      && (kind_q == REQUEST || !req_valid_i && (kind_q == FILL || !fill_can));
    wire pick_fill = idle && fill_can
                     && (kind_q == SNOOP || !snoop_can && (kind_q == REQUEST || !req_valid_i));
    wire pick_request = idle && (kind_q == FILL || !fill_can && (kind_q == SNOOP || !snoop_can));
    wire take_request = pick_request && req_valid_i;
    assign req_ready_o = pick_request;
    assign snp_ready_o = pick_snoop;

    wire [W_LINE-1:0] pick_line = pick_snoop ? snp_line : pick_fill ? ready_line : req_line;

    // ---- The arrays.
    wire [W_SET-1:0] set = line_q[W_SET-1:0] & SET;
    wire             start;            // a line will be copied
    wire [31:0]      write_data;
    wire [W_WAY-1:0] act_way;          // the way that is written or copied
    wire [W_WAY-1:0] fill_way;
    wire [31:0]      fill_word;
    wire [W_INDEX-1:0] set_index = {set, {W_WAY{1'b0}}};
    wire [WAYS-1:0]  set_valid = valid_q[set_index +: WAYS];
    wire [WAYS-1:0]  match;
    wire [W_WAY-1:0] hit_way;
    wire [31:0]      hit_word, copy_word;
    wire [W_TAG-1:0] victim_tag;
    wire write_line = stream && stream_fill_q;
    wire write_tag;
    cache_array #(
        .W_SET(W_SET), .W_TAG(W_TAG), .WAYS(WAYS), .W_WAY(W_WAY), .W_BEAT(W_BEAT)
    ) arrays (
        .clk_i(clk_i), .rst_i(rst_i),
        .read_i(pick_snoop || pick_fill || take_request),
        .read_word_i(start || stream && !stream_last),
        .read_set_i(idle ? pick_line[W_SET-1:0] & SET : set),
        .read_beat_i(idle ? req_addr_i[OFFSET-1:2]
                     : start ? {W_BEAT{1'b0}} : stream_beat_q + 1'b1),
        .look_i(act), .tag_i(line_q[W_LINE-1 -: W_TAG]), .set_i(set), .valid_i(set_valid),
        .match_o(match), .hit_way_o(hit_way), .hit_word_o(hit_word),
        .look_way_i(act_fill || stream), .way_i(stream ? stream_way_q : fill_way),
        .tag_o(victim_tag), .word_o(copy_word),
        .write_way_i(act_way), .write_tag_i(write_tag),
        .write_word_i(write_line || writes),
        .write_beat_i(write_line ? stream_beat_q : word_q),
        .write_data_i(write_line ? fill_word : write_data)
    );
    wire [W_INDEX-1:0] hit_index = {set, hit_way};
    reg hit, hit_exclusive, hit_dirty, hit_read_set, hit_write_set;
    always @* begin
        hit = 1'b0;
        hit_exclusive = 1'b0;
        hit_dirty = 1'b0;
        hit_read_set = 1'b0;
        hit_write_set = 1'b0;
        if (match != NO_WAY) begin
            hit = 1'b1;
            hit_exclusive = exclusive_q[hit_index];
            hit_dirty = dirty_q[hit_index];
            hit_read_set = TM != 0 && read_set_q[hit_index];
            hit_write_set = TM != 0 && write_set_q[hit_index];
        end
    end

    // ---- Where does a fill go? Into a way that may go and is free, or else was not marked by the
    // transaction, or else any; in turn.
    wire fill_line = act_fill && cmd_q != `BUS_UPG;
    wire [WAYS-1:0] keep;              // an UPG of it was granted
    reg  [WAYS-1:0] may_go, marked, among;
    reg  [W_WAY-1:0] turn_q, victim_way;
    reg  [W_INDEX-1:0] victim_index;
    reg  victim_valid, victim_write_set, victim_dirty, victim_marked;
    integer w;
    always @* begin
        may_go = NO_WAY;
        marked = NO_WAY;
        among = NO_WAY;
        victim_way = {W_WAY{1'b0}};
        victim_index = {W_INDEX{1'b0}};
        victim_valid = 1'b0;
        victim_write_set = 1'b0;
        victim_dirty = 1'b0;
        victim_marked = 1'b0;
        if (fill_line) begin
            may_go = ~keep;
            if (held && (held_line[W_SET-1:0] & SET) == set)
                may_go = may_go & ~(WAY_0 << held_way_id);
            if (TM != 0)
                marked = read_set_q[set_index +: WAYS] | write_set_q[set_index +: WAYS];
            among = (may_go & ~set_valid) != NO_WAY ? may_go & ~set_valid
                    : (may_go & ~marked) != NO_WAY ? may_go & ~marked : may_go;
            for (w = WAYS - 1; w >= 0; w = w - 1)
                if (among[w])
                    victim_way = w[W_WAY-1:0];
            if (WAYS > 1 && among[turn_q])
                victim_way = turn_q;
            victim_index = {set, victim_way};
            victim_valid = valid_q[victim_index];
            victim_write_set = TM != 0 && victim_valid && write_set_q[victim_index];
            victim_dirty = victim_valid && dirty_q[victim_index] && !victim_write_set
                           && !(bug_i == `BUG_VICTIM_DROPPED && !wb_empty);
            victim_marked = victim_write_set || TM != 0 && victim_valid && read_set_q[victim_index]
                                                && bug_i != `BUG_TX_READS_LOST;
        end
    end
    wire [W_LINE-1:0] victim_line;
    generate if (SETS > 1) begin : sets
        assign victim_line = {victim_tag, set};
    end else begin : one_set
        assign victim_line = victim_tag;
    end endgenerate

    // ---- Misses and write-backs: line `look` is looked up in both.
    wire [W_LINE-1:0] look = fill_line ? victim_line : line_q;
    wire mshr_hit, mshr_granted_upg, mshr_waiting_upg, mshr_full, mshr_busy, mshr_waits;
    wire [WB_DEPTH-1:0] wb_pending, wb_any, wb_freed;
    wire wb_room, wb_empty;
    wire wb_hit = wb_pending != {WB_DEPTH{1'b0}};

    // ---- A request.
    wire done, ask, ask_read, ask_prefetch, reads, writes, clean_write, flush, drop, push, clean;
    wire used, used_write, lr, sc, sc_failed, commit, commit_half, abort, request_change;
    wire lost, drop_write_set, lost_reservation, lost_atomic; // see below
    cache_request #(.W_LINE(W_LINE), .W_BEAT(W_BEAT), .TM(TM)) request (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i),
        .act_i(act_request), .op_i(op_q), .line_i(line_q), .word_i(word_q), .be_i(be_q),
        .data_i(data_q), .compare_i(compare_q), .amo_i(amo_q), .tx_i(tx_q),
        .hit_i(hit), .exclusive_i(hit_exclusive), .dirty_i(hit_dirty), .read_set_i(hit_read_set),
        .write_set_i(hit_write_set), .hit_word_i(hit_word), .upg_granted_i(mshr_granted_upg),
        .another_waits_i(mshr_waits && !mshr_hit), .wb_room_i(wb_room),
        .doomed_i(doomed_q != 2'd0),
        .done_o(done), .rsp_data_o(rsp_data_o), .rsp_written_o(rsp_written_o), .ask_o(ask),
        .ask_read_o(ask_read), .ask_prefetch_o(ask_prefetch), .reads_o(reads), .writes_o(writes),
        .clean_write_o(clean_write), .write_data_o(write_data), .flush_o(flush), .drop_o(drop),
        .push_o(push), .clean_o(clean), .used_o(used), .used_write_o(used_write), .lr_o(lr),
        .sc_o(sc), .sc_failed_o(sc_failed), .commit_o(commit), .commit_half_o(commit_half),
        .abort_o(abort), .change_o(request_change),
        .lost_i(lost), .lost_line_i(look), .lost_snoop_i(act_snoop), .forget_i(drop_write_set),
        .lost_reservation_o(lost_reservation), .lost_atomic_o(lost_atomic)
    );
    wire alloc = ask && !mshr_hit && !mshr_full;
    assign rsp_valid_o = act_request;
    assign rsp_done_o = done;

    // ---- A snoop. Lines of the write set are not there for it.
    reg snoop_hides, conflict, snoop_hit, snoop_takes, snoop_shares, supply_copy, supply_slot;
    reg wrong_way;
    always @* begin
        snoop_hides = 1'b0;
        conflict = 1'b0;
        snoop_hit = 1'b0;
        snoop_takes = 1'b0;
        snoop_shares = 1'b0;
        supply_copy = 1'b0;
        supply_slot = 1'b0;
        wrong_way = 1'b0;
        if (act_snoop) begin
            snoop_hides = hit_write_set && bug_i != `BUG_TX_EARLY;
            conflict = snoop_hides
                       || hit_read_set && !hit_write_set && cmd_q != `BUS_GETS
                          && bug_i != `BUG_TX_TWO_MOMENTS
                          && !(bug_i == `BUG_TX_LATE_CONFLICT && tx_ending_i);
            snoop_hit = hit && !snoop_hides;
            snoop_shares = snoop_hit && cmd_q == `BUS_GETS;
            snoop_takes = snoop_hit && cmd_q != `BUS_GETS
                          && !(bug_i == `BUG_PREFETCH_STALE && prefetched_q[hit_index]
                               && !hit_dirty);
            supply_copy = snoop_hit && hit_dirty;
            supply_slot = !supply_copy && wb_hit && bug_i != `BUG_EVICT_SNOOP;
            wrong_way = bug_i == `BUG_WRONG_WAY && WAYS > 1 && hit_way == LAST_WAY
                        && valid_q[set_index] && !dirty_q[set_index];
        end
    end

    // ---- A fill. It waits while another line is held, while all ways must stay, while the
    // write-back buffer has no room for its victim.
    reg fill_behind, fill_needs_room, fill_go, replace, fill_push;
    always @* begin
        fill_behind = 1'b0;
        fill_needs_room = 1'b0;
        fill_go = 1'b0;
        replace = 1'b0;
        fill_push = 1'b0;
        if (act_fill) begin
            fill_behind = held && !held_by_lr && !fill_prefetch_q && held_line != line_q;
            fill_needs_room = victim_dirty && !wb_room;
            fill_go = !fill_behind && (!fill_line || may_go != NO_WAY && !fill_needs_room);
            replace = fill_go && victim_valid;
            fill_push = replace && victim_dirty;
        end
    end
    wire fill_exclusive = cmd_q != `BUS_GETS || !fill_shared_q;
    assign fill_way = fill_line ? victim_way : fill_way_q;
    wire [W_INDEX-1:0] fill_index = {set, fill_way};
    assign write_tag = fill_go && fill_line;

    assign act_way = stream ? stream_way_q : act_fill ? fill_way : hit_way;
    assign start = push || supply_copy || fill_go && fill_line;

    // ---- What follows from all three. A line that is lost is `look`.
    assign lost = drop || snoop_takes || replace;
    wire capacity = TM != 0 && replace && victim_marked;
    assign drop_write_set = conflict || capacity || abort;

    cache_hold #(.W_LINE(W_LINE), .W_WAY(W_WAY)) holder (
        .clk_i(clk_i), .rst_i(rst_i), .line_i(line_q), .way_i(act_way),
        .fill_i(fill_go && !fill_prefetch_q), .fill_write_i(cmd_q != `BUS_GETS),
        .clean_i(clean), .lr_i(lr), .sc_i(sc || lost_reservation), .used_i(used),
        .used_write_i(used_write), .release_i(drop_write_set),
        .snoop_i(snp_valid_i), .snoop_line_i(snp_line),
        .held_o(held), .held_line_o(held_line), .held_way_o(held_way_id), .reserved_o(held_by_lr),
        .snoop_held_o(snoop_held)
    );

    always @(posedge clk_i) begin
        change_q <= fill_go || clean || request_change || wb_freed != {WB_DEPTH{1'b0}};
        inv_q <= lost || snoop_hides;
        inv_line_q <= look;
        fill_done_q <= fill_go;
        if (fill_go)
            fill_done_id_q <= fill_id_q;

        // The arrays.
        if (idle) begin
            if (pick_snoop || pick_fill || take_request) begin
                state_q <= ACT;
                kind_q <= pick_snoop ? SNOOP : pick_fill ? FILL : REQUEST;
                line_q <= pick_line;
            end
            if (take_request) begin
                op_q <= req_op_i;
                word_q <= req_addr_i[OFFSET-1:2];
                be_q <= req_op_i == `CACHE_STORE ? req_be_i : 4'b1111;
                data_q <= req_data_i;
                compare_q <= req_compare_i;
                amo_q <= req_amo_i;
                tx_q <= req_tx_i;
            end
            if (pick_snoop)
                cmd_q <= snp_cmd_i;
            if (pick_fill) begin
                cmd_q <= ready_cmd;
                fill_id_q <= ready_id;
                fill_way_q <= ready_way;
                fill_shared_q <= ready_shared;
                fill_prefetch_q <= ready_prefetch;
            end
        end
        if (act) begin
            state_q <= start ? STREAM : IDLE;
            stream_beat_q <= {W_BEAT{1'b0}};
            stream_way_q <= act_way;
            stream_copy_q <= push || supply_copy || fill_push;
            stream_fill_q <= act_fill;
        end
        if (stream) begin
            stream_beat_q <= stream_beat_q + 1'b1;
            if (stream_last)
                state_q <= IDLE;
        end

        // States.
        if (act) begin
            if (drop_write_set) begin
                valid_q <= valid_q & ~write_set_q;
                if (bug_i == `BUG_TX_ABORT_LEAKS && !(act_snoop && hit_index == last_q))
                    valid_q[last_q] <= valid_q[last_q];
            end
            if (drop_write_set || commit) begin
                read_set_q <= {LINES{1'b0}};
                write_set_q <= {LINES{1'b0}};
            end
            if (commit_half)
                write_set_q <= write_set_q & second_piece;
            if (reads)
                read_set_q[hit_index] <= 1'b1;
            if (writes) begin
                dirty_q[hit_index] <= !clean_write;
                if (TM != 0 && tx_q)
                    write_set_q[hit_index] <= 1'b1;
                last_q <= hit_index;
            end
            if (clean)
                dirty_q[hit_index] <= 1'b0;
            if (drop || snoop_takes)
                valid_q[snoop_takes && wrong_way ? set_index : hit_index] <= 1'b0;
            if (snoop_shares) begin
                exclusive_q[hit_index] <= 1'b0;
                dirty_q[hit_index] <= 1'b0;
            end
            if (snoop_hit && cmd_q != `BUS_GETS)
                prefetched_q[hit_index] <= 1'b0;
            if (snoop_hit && hit_write_set) // BUG_TX_EARLY
                write_set_q[hit_index] <= 1'b0;
            if (fill_go && (fill_line || victim_tag == line_q[W_LINE-1 -: W_TAG])) begin
                valid_q[fill_index] <= 1'b1;
                prefetched_q[fill_index] <= fill_prefetch_q && bug_i == `BUG_PREFETCH_STALE;
                read_set_q[fill_index] <= fill_line ? 1'b0 : read_set_q[fill_index];
                exclusive_q[fill_index] <= fill_exclusive;
                dirty_q[fill_index] <= cmd_q == `BUS_GETM;
                turn_q <= turn_q + 1'b1;
            end
            if (TM != 0) begin
                if (conflict)
                    doomed_q[0] <= 1'b1;
                if (capacity)
                    doomed_q[1] <= 1'b1;
                if (abort)
                    doomed_q <= 2'd0;
            end
        end

        // Fills that found no place.
        if (fill_retry_q != 2'd0)
            fill_retry_q <= fill_retry_q - 1'b1;
        if (act_fill) begin
            fill_retry_q <= fill_go ? 2'd0 : 2'd3;
            wb_full_q <= !fill_go && !fill_behind && fill_needs_room;
        end

        // The answer to a snoop.
        if (ack_valid_o)
            ack_q <= 1'b0;
        if (act_snoop) begin
            ack_q <= 1'b1;
            ack_shared_q <= snoop_shares && !(bug_i == `BUG_WRONG_TRANSIENT && mshr_waiting_upg);
            ack_data_q <= supply_copy || supply_slot;
        end

        if (rst_i) begin
            state_q <= IDLE;
            kind_q <= SNOOP;
            valid_q <= {LINES{1'b0}};
            read_set_q <= {LINES{1'b0}};
            write_set_q <= {LINES{1'b0}};
            doomed_q <= 2'd0;
            turn_q <= {W_WAY{1'b0}};
            ack_q <= 1'b0;
            inv_q <= 1'b0;
            change_q <= 1'b0;
            fill_done_q <= 1'b0;
            prefetched_q <= {LINES{1'b0}};
            fill_retry_q <= 2'd0;
            wb_full_q <= 1'b0;
        end
    end

    assign change_o = change_q;
    assign inv_valid_o = inv_q;
    assign inv_addr_o = {inv_line_q, {OFFSET{1'b0}}};
    assign tx_doomed_o = doomed_q;
    assign fill_done_o = fill_done_q;
    assign fill_done_id_o = fill_done_id_q;

    wire ack_go;
    assign ack_valid_o = ack_q && ack_go;
    assign ack_shared_o = ack_shared_q;
    assign ack_data_o = ack_data_q;
    delay #(.DELAYS(DELAYS), .SALT(SALT * 2 + 1)) ack_delay (
        .clk_i(clk_i), .rst_i(rst_i), .seed_i(seed_i), .level_i(level_i),
        .move_i(ack_valid_o), .go_o(ack_go)
    );

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

    wire fill_stale = bug_i == `BUG_FILL_STALE_BEAT && fill_last_i && !idle && kind_q == SNOOP;
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
        .next_i(act_fill), .free_i(fill_go && !fill_line || stream_last && stream_fill_q),
        .free_id_i(fill_id_q), .read_i(fill_go && fill_line || write_line),
        .read_id_i(fill_id_q), .read_beat_i(start ? {W_BEAT{1'b0}} : stream_beat_q + 1'b1),
        .read_data_o(fill_word)
    );

    cache_writeback #(
        .W_LINE(W_LINE), .W_BEAT(W_BEAT), .WB_DEPTH(WB_DEPTH), .W_SLOT(W_SLOT)
    ) writeback (
        .clk_i(clk_i), .rst_i(rst_i),
        .look_i(act), .look_addr_i(look), .look_pending_o(wb_pending), .look_any_o(wb_any),
        .room_o(wb_room), .empty_o(wb_empty), .push_i(push || fill_push),
        .drop_i(supply_copy), .supply_slot_i(supply_slot), .supply_copy_i(supply_copy),
        .supply_busy_o(supply_busy), .supply_go_i(!ack_q),
        .copy_i(stream && stream_copy_q), .copy_beat_i(stream_beat_q), .copy_data_i(copy_word),
        .freed_o(wb_freed), .want_o(wb_want), .ask_i(wb_ask),
        .ask_addr_o(wb_line), .granted_i(wb_granted),
        .out_valid_o(out_valid_o), .out_wb_o(out_wb_o), .out_data_o(out_data_o),
        .out_last_o(out_last_o)
    );

    // ---- Events.
    reg [17:0] events;
    always @* begin
        events = 18'd0;
        if (act)
            events = {
                capacity, conflict, sc_failed, lost_reservation && !drop, lost_atomic, snoop_takes,
                1'b0, act_snoop && wb_hit, supply_copy || supply_slot, snoop_hit, 1'b0,
                fill_push, replace && !fill_push, alloc && mshr_busy, lost && mshr_waiting_upg,
                alloc && hit, alloc, used && !flush || lr
            };
        events[11] = snoop_held;
        events[7] = wb_full_q;
    end
    assign events_o = events;

    wire unused = &{1'b0, req_addr_i, snp_addr_i};

`ifdef CHECKS
    // For whoever watches all caches: lines by index (where their states are), and a line that gets
    // S, or E or M, from the next cycle on.
    reg [W_LINE-1:0] tag [0:LINES-1];
    always @(posedge clk_i)
        if (write_tag)
            tag[fill_index] <= line_q;
    wire        raised = fill_go;
    wire [31:0] raised_addr = {line_q, {OFFSET{1'b0}}};
    wire        raised_exclusive = fill_exclusive;
    wire unused_raised = &{1'b0, raised, raised_addr, raised_exclusive, tag[0]};
`endif
    `include "cache_checks.vh"
endmodule
`default_nettype wire
