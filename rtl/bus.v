// SPDX-License-Identifier: Apache-2.0
// The interconnect: split transactions, snooped; the address phases are in order, one a cycle, the
// data comes later and in any order.
//
// Why nothing waits for itself. A write-back waits for a transaction of its line, for the way to
// memory (busy for one line at a time, whose words come at once) and for room in memory's queue,
// which drains by itself: never for a fill, an entry, or an answer about another line. A
// transaction of its line is another hart's, and snoops it out of the write-back buffer. So
// write-back buffers empty; so fills find room for their victims and are done. Caches answer snoops
// whatever else they wait for, so snoop queues move. Thus a transaction gets its answers, memory's
// words, the way to its hart (busy for one line at a time) and fill_done. A request waits for
// transactions and snoop queues only; of those that may go the one that went longest ago is first.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module bus #(
    parameter NHARTS     = 4, // 1 to 16
    parameter LINE_WORDS = 4,
    parameter TXNS       = 4, // transactions in flight, 1 to 8
    parameter SNOOPS     = 2, // depth of a hart's snoop queue, 1 to 8
    parameter DELAYS     = 1
) (
    input  wire                 clk_i,
    input  wire                 rst_i,
    input  wire [6:0]           bug_i,
    input  wire [31:0]          seed_i,
    input  wire [2:0]           level_i,

    // Of each cache: requests. May be withdrawn and changed until ready.
    input  wire [NHARTS-1:0]    bus_valid_i,
    output wire [NHARTS-1:0]    bus_ready_o,
    input  wire [NHARTS*2-1:0]  bus_cmd_i,
    input  wire [NHARTS*32-1:0] bus_addr_i,
    input  wire [NHARTS*2-1:0]  bus_id_i,
    // Snoops: stable until taken; the next comes after the answer and its words.
    output wire [NHARTS-1:0]    snp_valid_o,
    input  wire [NHARTS-1:0]    snp_ready_i,
    output wire [NHARTS*2-1:0]  snp_cmd_o,
    output wire [NHARTS*32-1:0] snp_addr_o,
    // Answers. shared: the cache still has the line after the snoop; so 0 for GETM and UPG.
    input  wire [NHARTS-1:0]    ack_valid_i,
    input  wire [NHARTS-1:0]    ack_shared_i,
    input  wire [NHARTS-1:0]    ack_data_i,
    // Words of a granted WB or of an answer, the first not before the answer: taken always.
    input  wire [NHARTS-1:0]    out_valid_i,
    input  wire [NHARTS-1:0]    out_wb_i,
    input  wire [NHARTS*32-1:0] out_data_i,
    input  wire [NHARTS-1:0]    out_last_i,
    // Fills: words in order, taken always; a single one of no meaning for UPG.
    output wire [NHARTS-1:0]    fill_valid_o,
    output wire [NHARTS*2-1:0]  fill_id_o,
    output wire [NHARTS*32-1:0] fill_data_o,
    output wire [NHARTS-1:0]    fill_last_o,
    output wire [NHARTS-1:0]    fill_shared_o,
    input  wire [NHARTS-1:0]    fill_done_i,    // not before the last word
    input  wire [NHARTS*2-1:0]  fill_done_id_i,

    // Uncached, of each hart: stable until ready; the next not before the answer, which comes at
    // the earliest in the cycle after ready.
    input  wire [NHARTS-1:0]    uc_valid_i,
    output wire [NHARTS-1:0]    uc_ready_o,
    input  wire [NHARTS-1:0]    uc_write_i,
    input  wire [NHARTS-1:0]    uc_atomic_i,
    input  wire [NHARTS*5-1:0]  uc_amo_i,
    input  wire [NHARTS*32-1:0] uc_addr_i,
    input  wire [NHARTS*4-1:0]  uc_be_i,
    input  wire [NHARTS*32-1:0] uc_data_i,
    input  wire [NHARTS*32-1:0] uc_compare_i,
    output wire [NHARTS-1:0]    uc_rsp_valid_o,
    output wire [31:0]          uc_rsp_data_o,    // for whom it is valid
    output wire [31:0]          uc_rsp_written_o,

    // memory.v
    output wire                 mem_rd_valid_o,
    input  wire                 mem_rd_ready_i,
    output wire [31:0]          mem_rd_addr_o,
    output wire [2:0]           mem_rd_tag_o,
    input  wire                 mem_rdata_valid_i,
    input  wire [2:0]           mem_rdata_tag_i,
    input  wire [31:0]          mem_rdata_i,
    input  wire                 mem_rdata_last_i,
    input  wire                 mem_behind_i,
    input  wire [2:0]           mem_behind_tag_i,
    output wire                 mem_wr_valid_o,
    input  wire                 mem_wr_ready_i,
    output wire [31:0]          mem_wr_addr_o,
    output wire                 mem_wdata_valid_o,
    output wire [31:0]          mem_wdata_o,
    output wire                 mem_wdata_last_o,
    output wire                 mem_uc_valid_o,
    input  wire                 mem_uc_ready_i,
    output wire [3:0]           mem_uc_hart_o,
    output wire                 mem_uc_write_o,
    output wire                 mem_uc_atomic_o,
    output wire [4:0]           mem_uc_amo_o,
    output wire [31:0]          mem_uc_addr_o,
    output wire [3:0]           mem_uc_be_o,
    output wire [31:0]          mem_uc_data_o,
    output wire [31:0]          mem_uc_compare_o,
    input  wire                 mem_rsp_valid_i,
    input  wire [3:0]           mem_rsp_hart_i,
    input  wire [31:0]          mem_rsp_data_i,
    input  wire [31:0]          mem_rsp_written_i,

    // ipi.v: one access a cycle, answered in it
    output wire                 ipi_valid_o,
    output wire                 ipi_write_o,
    output wire [3:0]           ipi_hart_o,
    output wire                 ipi_data_o,
    input  wire                 ipi_data_i,

    output wire [NHARTS*(`EVENTS-`EVENT_BUS_WAIT)-1:0] events_o, // of each hart, from there on
    output wire [NHARTS*3-1:0]  wait_o    // of each hart why its request waits: BUS_WAIT_* below
);
    localparam HW = NHARTS > 1 ? $clog2(NHARTS) : 1;

    // ---- the transactions: what bus_txn.v says of each
    wire [TXNS-1:0]    t_busy, t_read, t_fill, t_filling, t_update, t_owned, t_shared;
    wire [TXNS-1:0]    t_unsent, t_sent, t_sent_last, t_written, t_written_last;
    wire [TXNS-1:0]    t_line, t_early; // wants data that has not come; others want such longer
    wire [TXNS*HW-1:0] t_hart;
    wire [TXNS*2-1:0]  t_id, t_cmd;
    wire [TXNS*32-1:0] t_addr, t_data;

    // ---- the address phase
    reg  [NHARTS-1:0] conflict;  // a transaction or write-back of the line is under way
    reg  [NHARTS-1:0] may;
    wire [NHARTS-1:0] room;      // in the snoop queue of each hart
    wire [NHARTS-1:0] almost;    // there is place for one more in it
    wire [NHARTS-1:0] grant;
    wire              go;        // delay.v
    wire              granted = go && |may;
    wire              entry_free = !(&t_busy) && lost_q != TXNS[3:0];
    reg               way_busy_q; // a line is on its way to memory
    reg               way_wb_q;   // it is a write-back, of this line
    reg  [31:0]       way_addr_q;
    wire              way_for_wb; // a write-back could go
    reg               wb_waits;   // for the way to memory
    reg  [NHARTS-1:0] forgotten_q; // BUG_STARVATION
    reg  [3:0]        lost_q;      // BUG_DEADLOCK
    reg               written, written_last; // a word goes to memory, a line has gone
    integer h, e;
    genvar  g;

    always @* begin
        conflict = {NHARTS{1'b0}};
        wb_waits = 1'b0;
        for (h = 0; h < NHARTS; h = h + 1)
            if (bus_valid_i[h]) begin
                conflict[h] = way_wb_q && way_addr_q == bus_addr_i[h*32 +: 32];
                for (e = 0; e < TXNS; e = e + 1)
                    if (t_busy[e] && t_addr[e*32 +: 32] == bus_addr_i[h*32 +: 32])
                        conflict[h] = 1'b1;
                if (!conflict[h] && bus_cmd_i[h*2 +: 2] == `BUS_WB)
                    wb_waits = 1'b1;
            end
    end
    // A full queue keeps all but its own hart from asking.
    wire [NHARTS-1:0] full = ~room;
    wire              one_full = (full & (full - 1'b1)) == {NHARTS{1'b0}};
    always @* begin
        may = {NHARTS{1'b0}};
        for (h = 0; h < NHARTS; h = h + 1)
            if (bus_valid_i[h] && !conflict[h] && !forgotten_q[h])
                may[h] = bus_cmd_i[h*2 +: 2] == `BUS_WB ? way_for_wb
                       : entry_free && (full == {NHARTS{1'b0}} || one_full && full[h]);
    end

    bus_arbiter #(.N(NHARTS)) choice (.clk_i(clk_i), .rst_i(rst_i), .may_i(may), .grant_o(grant),
        .take_i(granted));
    delay #(.DELAYS(DELAYS), .SALT(32'h4202)) pause (.clk_i(clk_i), .rst_i(rst_i),
        .seed_i(seed_i), .level_i(level_i), .move_i(granted), .go_o(go));
    assign bus_ready_o = go ? grant : {NHARTS{1'b0}};

    // What was granted, and the entry it gets: the first that is free.
    reg [HW-1:0] hart;
    reg [1:0]    id, cmd;
    reg [31:0]   addr;
    always @* begin
        hart = {HW{1'b0}};
        id   = 2'd0;
        cmd  = 2'd0;
        addr = 32'd0;
        if (granted)
            for (h = 0; h < NHARTS; h = h + 1)
                if (grant[h]) begin
                    hart = h[HW-1:0];
                    id   = bus_id_i[h*2 +: 2];
                    cmd  = bus_cmd_i[h*2 +: 2];
                    addr = bus_addr_i[h*32 +: 32];
                end
    end
    wire            granted_wb = granted && cmd == `BUS_WB;
    wire            start = granted && cmd != `BUS_WB;
    wire [NHARTS-1:0] others = ~grant & ~(bug_i == `BUG_SNOOP_DROPPED && cmd != `BUS_GETS
                                          ? almost : {NHARTS{1'b0}});
    wire [TXNS-1:0] entry = start ? ~t_busy & (t_busy + 1'b1) : {TXNS{1'b0}};
    reg  [2:0]      entry_number;
    always @* begin
        entry_number = 3'd0;
        for (e = 0; e < TXNS; e = e + 1)
            if (entry[e])
                entry_number = e[2:0];
    end

    // BUG_STARVATION: how often a hart's line was busy when another one was granted. BUG_DEADLOCK:
    // the credits that were lost.
    reg [NHARTS*4-1:0] passed_q;
    always @(posedge clk_i)
        if (rst_i) begin
            passed_q    <= {NHARTS*4{1'b0}};
            forgotten_q <= {NHARTS{1'b0}};
        end else if (bug_i == `BUG_STARVATION && granted)
            for (h = 0; h < NHARTS; h = h + 1)
                if (conflict[h]) begin
                    passed_q[h*4 +: 4] <= passed_q[h*4 +: 4] + 4'd1;
                    if (passed_q[h*4 +: 4] == 4'd14)
                        forgotten_q[h] <= 1'b1;
                end
    always @(posedge clk_i)
        if (rst_i)
            lost_q <= 4'd0;
        else if (bug_i == `BUG_DEADLOCK && lost_q != TXNS[3:0] && |fill_done_i && way_wb_q
                 && written)
            lost_q <= lost_q + 4'd1;

    // ---- the snoops
    wire [NHARTS*3-1:0] asked;   // the transaction that the hart is asked about
    wire [NHARTS-1:0]   over;    // its answer is complete
    generate for (g = 0; g < NHARTS; g = g + 1) begin : snoop
        wire        pop;
        wire [2:0]  head;
        reg  [1:0]  head_cmd;
        reg  [31:0] head_addr;
        integer     t;
        always @* begin
            head_cmd  = 2'd0;
            head_addr = 32'd0;
            if (pop)
                for (t = 0; t < TXNS; t = t + 1)
                    if (head == t[2:0]) begin
                        head_cmd  = t_cmd[t*2 +: 2];
                        head_addr = t_addr[t*32 +: 32];
                    end
        end
        bus_snoop #(.SNOOPS(SNOOPS), .DELAYS(DELAYS), .SALT(32'h4210 + g)) queue (
            .clk_i(clk_i), .rst_i(rst_i), .seed_i(seed_i), .level_i(level_i),
            .push_i(start && others[g]), .push_txn_i(entry_number),
            .push_late_i(bug_i == `BUG_ACKS_EARLY && cmd == `BUS_UPG),
            .room_o(room[g]), .almost_o(almost[g]),
            .pop_o(pop), .head_o(head), .head_cmd_i(head_cmd), .head_addr_i(head_addr),
            .snp_valid_o(snp_valid_o[g]), .snp_ready_i(snp_ready_i[g]),
            .snp_cmd_o(snp_cmd_o[g*2 +: 2]), .snp_addr_o(snp_addr_o[g*32 +: 32]),
            .ack_valid_i(ack_valid_i[g]), .ack_data_i(ack_data_i[g]),
            .word_valid_i(out_valid_i[g] && !out_wb_i[g]), .word_last_i(out_last_i[g]),
            .txn_o(asked[g*3 +: 3]), .over_o(over[g]));
    end endgenerate

    // ---- the choices among transactions: who reads memory, who writes it, who sends to its hart
    wire [TXNS-1:0] read_grant, update_grant, fill_grant;
    reg  [TXNS-1:0] fill_may;
    wire [TXNS-1:0] update_may = t_update & ~fill_grant; // one after the other
    wire            way_free = !way_busy_q && mem_wr_ready_i;
    reg             wb_turn_q; // an update went last
    wire            update = way_free && |update_may && !(wb_turn_q && wb_waits);
    assign way_for_wb = way_free && !update;
    bus_arbiter #(.N(TXNS)) reads (.clk_i(clk_i), .rst_i(rst_i), .may_i(t_read),
        .grant_o(read_grant), .take_i(mem_rd_valid_o && mem_rd_ready_i));
    bus_arbiter #(.N(TXNS)) updates (.clk_i(clk_i), .rst_i(rst_i), .may_i(update_may),
        .grant_o(update_grant), .take_i(update));
    bus_arbiter #(.N(TXNS)) fills (.clk_i(clk_i), .rst_i(rst_i), .may_i(fill_may),
        .grant_o(fill_grant), .take_i(|fill_may));
    // The way to a hart is free when no line is on it, and delay.v lets the next go.
    wire [NHARTS-1:0] fill_go;
    reg  [NHARTS-1:0] fill_busy, fill_start;
    always @* begin
        fill_busy = {NHARTS{1'b0}};
        for (e = 0; e < TXNS; e = e + 1)
            if (t_filling[e])
                fill_busy[t_hart[e*HW +: HW]] = 1'b1;
        fill_may = {TXNS{1'b0}};
        for (e = 0; e < TXNS; e = e + 1)
            if (t_fill[e])
                fill_may[e] = fill_go[t_hart[e*HW +: HW]] && !fill_busy[t_hart[e*HW +: HW]];
    end
    always @* begin
        fill_start = {NHARTS{1'b0}};
        for (e = 0; e < TXNS; e = e + 1)
            if (fill_grant[e])
                fill_start[t_hart[e*HW +: HW]] = 1'b1;
    end

    // ---- the entries
    wire answers = |ack_valid_i || |out_valid_i;
    genvar x;
    generate for (x = 0; x < TXNS; x = x + 1) begin : txn
        localparam [2:0] X = x;
        // What comes for it: answers, words of the owner or of memory, the end.
        reg  [NHARTS-1:0] over_here;
        reg               shared_here, owner_here, word_here, last_here, done_here;
        reg  [31:0]       word;
        wire              undone;
        integer           i;
        always @* begin
            over_here   = {NHARTS{1'b0}};
            shared_here = 1'b0;
            owner_here  = 1'b0;
            word_here   = mem_rdata_valid_i && mem_rdata_tag_i == X;
            last_here   = mem_rdata_last_i;
            word        = mem_rdata_i;
            if (answers)
                for (i = 0; i < NHARTS; i = i + 1)
                    if (asked[i*3 +: 3] == X) begin
                        over_here[i] = over[i];
                        if (ack_valid_i[i] && ack_shared_i[i])
                            shared_here = !shared_here || bug_i != `BUG_TWO_OWNERS;
                        if (ack_valid_i[i] && ack_data_i[i])
                            owner_here = 1'b1;
                        if (out_valid_i[i] && !out_wb_i[i]) begin
                            word_here = 1'b1;
                            last_here = out_last_i[i];
                            word      = out_data_i[i*32 +: 32];
                        end
                    end
        end
        always @* begin
            done_here = 1'b0;
            if (|fill_done_i && undone)
                for (i = 0; i < NHARTS; i = i + 1)
                    if (fill_done_i[i] && t_hart[x*HW +: HW] == i[HW-1:0]
                            && fill_done_id_i[i*2 +: 2] == t_id[x*2 +: 2])
                        done_here = 1'b1;
        end
        bus_txn #(.NHARTS(NHARTS), .LINE_WORDS(LINE_WORDS), .HW(HW)) entry_state (
            .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i),
            .start_i(entry[x]), .start_hart_i(hart), .start_id_i(id), .start_cmd_i(cmd),
            .start_addr_i(addr), .start_others_i(others),
            .busy_o(t_busy[x]), .hart_o(t_hart[x*HW +: HW]), .id_o(t_id[x*2 +: 2]),
            .cmd_o(t_cmd[x*2 +: 2]), .addr_o(t_addr[x*32 +: 32]),
            .over_i(over_here), .shared_i(shared_here), .owner_i(owner_here),
            .word_valid_i(word_here), .word_i(word), .word_last_i(last_here),
            .read_o(t_read[x]), .read_go_i(read_grant[x] && mem_rd_ready_i),
            .fill_o(t_fill[x]), .filling_o(t_filling[x]), .fill_go_i(fill_grant[x]),
            .update_o(t_update[x]), .update_go_i(update && update_grant[x]),
            .owned_o(t_owned[x]), .shared_o(t_shared[x]),
            .unsent_o(t_unsent[x]), .sent_valid_o(t_sent[x]), .sent_last_o(t_sent_last[x]),
            .written_valid_o(t_written[x]), .written_last_o(t_written_last[x]),
            .data_o(t_data[x*32 +: 32]), .undone_o(undone), .done_i(done_here));
    end endgenerate

    // ---- to and from memory
    reg [31:0] read_addr, update_addr;
    reg [2:0]  read_tag;
    always @* begin
        read_addr = 32'd0;
        read_tag  = 3'd0;
        for (e = 0; e < TXNS; e = e + 1)
            if (read_grant[e]) begin
                read_addr = t_addr[e*32 +: 32];
                read_tag  = e[2:0];
            end
    end
    always @* begin
        update_addr = 32'd0;
        for (e = 0; e < TXNS; e = e + 1)
            if (update_grant[e])
                update_addr = t_addr[e*32 +: 32];
    end
    assign mem_rd_valid_o = |t_read;
    assign mem_rd_addr_o  = read_addr;
    assign mem_rd_tag_o   = read_tag;
    assign mem_wr_valid_o = update || granted_wb;
    assign mem_wr_addr_o  = update ? update_addr : addr;

    reg [31:0] written_data;
    always @* begin
        written      = 1'b0;
        written_last = 1'b0;
        written_data = 32'd0;
        if (way_wb_q) begin
            for (h = 0; h < NHARTS; h = h + 1)
                if (out_valid_i[h] && out_wb_i[h]) begin
                    written      = 1'b1;
                    written_last = out_last_i[h];
                    written_data = out_data_i[h*32 +: 32];
                end
        end else if (way_busy_q)
            for (e = 0; e < TXNS; e = e + 1)
                if (t_written[e]) begin
                    written      = 1'b1;
                    written_last = t_written_last[e];
                    written_data = t_data[e*32 +: 32];
                end
    end
    assign mem_wdata_valid_o = written;
    assign mem_wdata_last_o  = written_last;
    assign mem_wdata_o       = written_data;

    always @(posedge clk_i)
        if (rst_i) begin
            way_busy_q <= 1'b0;
            way_wb_q   <= 1'b0;
            wb_turn_q  <= 1'b0;
        end else if (update || granted_wb) begin
            way_busy_q <= 1'b1;
            way_wb_q   <= granted_wb;
            way_addr_q <= addr;
            wb_turn_q  <= update;
        end else if (written && written_last) begin
            way_busy_q <= 1'b0;
            way_wb_q   <= 1'b0;
        end

    // ---- to the harts
    reg [NHARTS-1:0] sent_to; // a word goes there
    always @* begin
        sent_to = {NHARTS{1'b0}};
        for (e = 0; e < TXNS; e = e + 1)
            if (t_sent[e])
                sent_to[t_hart[e*HW +: HW]] = 1'b1;
    end
    assign fill_valid_o = sent_to;
    generate for (g = 0; g < NHARTS; g = g + 1) begin : port
        localparam [HW-1:0] G = g;
        reg        last, shared;
        reg [1:0]  fill_id;
        reg [31:0] data;
        integer    t;
        always @* begin
            last    = 1'b0;
            shared  = 1'b0;
            fill_id = 2'd0;
            data    = 32'd0;
            if (sent_to[g]) begin
                for (t = 0; t < TXNS; t = t + 1)
                    if (t_sent[t] && t_hart[t*HW +: HW] == G) begin
                        last    = t_sent_last[t];
                        shared  = t_shared[t];
                        fill_id = t_id[t*2 +: 2];
                        data    = t_data[t*32 +: 32];
                    end
                if (bug_i == `BUG_WRONG_HART)
                    for (t = 0; t < TXNS; t = t + 1)
                        if (t_sent[t] && t_hart[t*HW +: HW] != G)
                            data = t_data[t*32 +: 32];
            end
        end
        assign fill_last_o[g]          = last;
        assign fill_shared_o[g]        = shared;
        assign fill_id_o[g*2 +: 2]     = fill_id;
        assign fill_data_o[g*32 +: 32] = data;
        delay #(.DELAYS(DELAYS), .SALT(32'h4220 + g)) pause (.clk_i(clk_i), .rst_i(rst_i),
            .seed_i(seed_i), .level_i(level_i), .move_i(fill_start[g]), .go_o(fill_go[g]));
        // Nothing, the line is busy, memory does not take it, no entry, a snoop queue, its turn.
        assign wait_o[g*3 +: 3] = !waits[g] ? 3'd0 : conflict[g] ? 3'd1 : may[g] ? 3'd5
            : bus_cmd_i[g*2 +: 2] == `BUS_WB ? 3'd2 : !entry_free ? 3'd3 : 3'd4;
    end endgenerate

    // ---- what is counted
    wire [NHARTS-1:0]  waits = bus_valid_i & ~bus_ready_o;
    reg                came, owned, early; // a line, from another cache, before an older one
    reg [NHARTS-1:0]   behind;
    localparam W_EVENTS = `EVENTS - `EVENT_BUS_WAIT;
    reg [NHARTS*W_EVENTS-1:0] events;
    reg [`EVENTS-1:`EVENT_BUS_WAIT] of_hart;
    always @* begin
        came   = 1'b0;
        owned  = 1'b0;
        early  = 1'b0;
        behind = {NHARTS{1'b0}};
        events = {NHARTS*W_EVENTS{1'b0}};
        of_hart = {W_EVENTS{1'b0}};
        if (|fill_may)
            for (e = 0; e < TXNS; e = e + 1)
                if (fill_grant[e] && t_cmd[e*2 +: 2] != `BUS_UPG) begin
                    came  = 1'b1;
                    owned = t_owned[e];
                    early = t_early[e];
                end
        if (mem_behind_i)
            for (e = 0; e < TXNS; e = e + 1)
                if (mem_behind_tag_i == e[2:0])
                    behind[t_hart[e*HW +: HW]] = 1'b1;
        if (|bus_valid_i || came || mem_behind_i)
            for (h = 0; h < NHARTS; h = h + 1) begin
                of_hart[`EVENT_BUS_WAIT]            = waits[h];
                of_hart[`EVENT_BUS_CONFLICT]        = waits[h] && conflict[h];
                of_hart[`EVENT_FROM_CACHE]          = came && owned && fill_start[h];
                of_hart[`EVENT_FROM_MEMORY]         = came && !owned && fill_start[h];
                of_hart[`EVENT_MEMORY_BEHIND_WRITE] = behind[h];
                of_hart[`EVENT_DATA_OUT_OF_ORDER]   = early && fill_start[h];
                events[h*W_EVENTS +: W_EVENTS] = of_hart;
            end
    end
    assign events_o = events;

    // Lines asked for before this one that have not come.
    generate for (x = 0; x < TXNS; x = x + 1) begin : order
        reg [TXNS-1:0] older_q;
        assign t_line[x]  = t_unsent[x] && t_cmd[x*2 +: 2] != `BUS_UPG;
        assign t_early[x] = older_q != {TXNS{1'b0}};
        always @(posedge clk_i)
            if (entry[x])
                older_q <= t_line & ~fill_grant;
            else if (|fill_may)
                older_q <= older_q & ~fill_grant;
    end endgenerate

    bus_uncached #(.NHARTS(NHARTS), .DELAYS(DELAYS)) uncached (
        .clk_i(clk_i), .rst_i(rst_i), .seed_i(seed_i), .level_i(level_i),
        .uc_valid_i(uc_valid_i), .uc_ready_o(uc_ready_o), .uc_write_i(uc_write_i),
        .uc_atomic_i(uc_atomic_i), .uc_amo_i(uc_amo_i), .uc_addr_i(uc_addr_i), .uc_be_i(uc_be_i),
        .uc_data_i(uc_data_i), .uc_compare_i(uc_compare_i), .uc_rsp_valid_o(uc_rsp_valid_o),
        .uc_rsp_data_o(uc_rsp_data_o), .uc_rsp_written_o(uc_rsp_written_o),
        .mem_valid_o(mem_uc_valid_o), .mem_ready_i(mem_uc_ready_i), .mem_hart_o(mem_uc_hart_o),
        .mem_write_o(mem_uc_write_o), .mem_atomic_o(mem_uc_atomic_o), .mem_amo_o(mem_uc_amo_o),
        .mem_addr_o(mem_uc_addr_o), .mem_be_o(mem_uc_be_o), .mem_data_o(mem_uc_data_o),
        .mem_compare_o(mem_uc_compare_o), .mem_rsp_valid_i(mem_rsp_valid_i),
        .mem_rsp_hart_i(mem_rsp_hart_i), .mem_rsp_data_i(mem_rsp_data_i),
        .mem_rsp_written_i(mem_rsp_written_i),
        .ipi_valid_o(ipi_valid_o), .ipi_write_o(ipi_write_o), .ipi_hart_o(ipi_hart_o),
        .ipi_data_o(ipi_data_o), .ipi_data_i(ipi_data_i));

    // ---- promises; the others stand where the logic is
`ifdef CHECKS
    reg [HW-1:0]     way_hart_q;  // whose write-back is on its way
    reg              stray;       // a word of a write-back that was not granted
    always @(posedge clk_i)
        if (granted_wb)
            way_hart_q <= hart;
    always @* begin
        stray = 1'b0;
        if (|out_valid_i)
            for (h = 0; h < NHARTS; h = h + 1)
                if (out_valid_i[h] && out_wb_i[h] && !(way_wb_q && way_hart_q == h[HW-1:0]))
                    stray = 1'b1;
    end
`endif
    `ASSERT(bus_words_of_granted_wb, !stray)
    `ASSERTIONS(granted || update || |fill_may)
        `HOLDS(bus_one_transaction_a_line, (bus_ready_o & conflict) == {NHARTS{1'b0}})
        `HOLDS(bus_one_grant, (bus_ready_o & (bus_ready_o - 1'b1)) == {NHARTS{1'b0}})
        `HOLDS(bus_one_fill_a_hart, (fill_start & fill_busy) == {NHARTS{1'b0}})
        `HOLDS(bus_way_to_memory, !(update && granted_wb) && !(mem_wr_valid_o && way_busy_q))
    `END_ASSERTIONS
    `COVER(bus_no_entry, !entry_free && |bus_valid_i)
    `COVER(bus_own_queue_full, granted && one_full && full != {NHARTS{1'b0}})
    `COVER(bus_wb_and_update_meet, wb_waits && |t_update && way_free)
    `COVER(bus_fill_and_update_meet, |(t_update & fill_grant))
endmodule
`default_nettype wire
