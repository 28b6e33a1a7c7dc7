// SPDX-License-Identifier: Apache-2.0
// The misses of a cache: lines that were asked for, or will be, and their words as they come.
//
// An entry is taken for a line by alloc_i; asks the bus (want_o) once the write-back buffer does
// not hold its line; is granted; fills; is offered as complete (ready_o), and freed when its line
// is in the arrays. lost_i tells that the cache no longer has the line look_addr_i: an UPG of it
// that was not granted becomes GETM. Line addresses are without the offset.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module cache_mshr #(
    parameter W_LINE = 28,
    parameter W_SET = 4,
    parameter SETS = 16,
    parameter WAYS = 2,
    parameter W_WAY = 1,
    parameter W_BEAT = 2,
    parameter MSHRS = 2,
    parameter WB_DEPTH = 2
) (
    input  wire                clk_i,
    input  wire                rst_i,
    input  wire [6:0]          bug_i,

    // Who asks for line look_addr_i? Nobody does where look_i is 0.
    input  wire                look_i,
    input  wire [W_LINE-1:0]   look_addr_i,
    output wire                look_hit_o,
    output wire                look_granted_upg_o, // an UPG that was granted: the line must stay
    output wire                look_waiting_upg_o, // one that was not
    input  wire                lost_i,             // the cache lost that line
    input  wire                demand_i,           // somebody but a prefetch wants that line

    input  wire                alloc_i,            // an entry for that line: only where not full_o
    input  wire [1:0]          alloc_cmd_i,
    input  wire [W_WAY-1:0]    alloc_way_i,        // UPG: where the line is
    input  wire                alloc_prefetch_i,
    input  wire [WB_DEPTH-1:0] alloc_behind_i,     // entries of the write-back buffer that hold it
    input  wire [WB_DEPTH-1:0] freed_i,            // these no longer do
    output wire                full_o,
    output wire                busy_o,             // some line is on its way
    output wire                waits_o,            // some line waits to be asked for

    // The ways of the set that must stay, for an UPG of them was granted.
    input  wire [W_SET-1:0]    set_i,
    output wire [WAYS-1:0]     keep_o,

    output wire [MSHRS-1:0]    want_o,
    output wire [MSHRS-1:0]    want_upg_o,         // of these, UPG
    input  wire [1:0]          ask_id_i,           // the one that has the request port
    output wire [1:0]          ask_cmd_o,
    output wire [W_LINE-1:0]   ask_addr_o,
    input  wire                granted_i,          // and was granted

    input  wire                fill_valid_i,
    input  wire [1:0]          fill_id_i,
    input  wire [31:0]         fill_data_i,
    input  wire                fill_last_i,
    input  wire                fill_shared_i,
    input  wire                fill_stale_i,       // BUG_FILL_STALE_BEAT: this word is lost

    output wire                ready_o,            // an entry is complete:
    output wire [1:0]          ready_id_o,
    output wire [W_LINE-1:0]   ready_addr_o,
    output wire [1:0]          ready_cmd_o,
    output wire [W_WAY-1:0]    ready_way_o,
    output wire                ready_shared_o,
    output wire                ready_prefetch_o,
    input  wire                next_i,             // offer another one, if there is one
    input  wire                free_i,
    input  wire [1:0]          free_id_i,
    input  wire                read_i,             // a word of an entry, which comes a cycle later
    input  wire [1:0]          read_id_i,
    input  wire [W_BEAT-1:0]   read_beat_i,
    output wire [31:0]         read_data_o
);
    localparam W_ID = MSHRS > 1 ? $clog2(MSHRS) : 1;
    localparam [W_ID-1:0] LAST_ID = MSHRS[W_ID-1:0] - 1'b1;
    wire [W_ID-1:0] ask_id = ask_id_i[W_ID-1:0];
    wire [W_ID-1:0] fill_id = fill_id_i[W_ID-1:0];
    wire [W_ID-1:0] free_id = free_id_i[W_ID-1:0];
    localparam [MSHRS-1:0] NONE = {MSHRS{1'b0}};
    localparam [WAYS-1:0] WAY_0 = 1;

    reg [MSHRS-1:0]    used_q, granted_q, complete_q, prefetch_q, shared_q;
    reg [W_LINE-1:0]   addr_q [0:MSHRS-1];
    reg [MSHRS-1:0]    upg_q, getm_q;           // neither: GETS
    reg [MSHRS*W_WAY-1:0]    way_q;
    reg [MSHRS*WB_DEPTH-1:0] behind_q;
    reg [MSHRS*W_BEAT-1:0]   beat_q;
    reg [W_ID-1:0]     first_q; // of the complete ones: where the search begins
    integer i;
    wire [W_BEAT-1:0] fill_beat = beat_q[fill_id*W_BEAT +: W_BEAT];

    reg [MSHRS-1:0] match;
    always @* begin
        match = NONE;
        if (look_i && used_q != NONE)
            for (i = 0; i < MSHRS; i = i + 1)
                match[i] = used_q[i] && addr_q[i] == look_addr_i;
    end

    reg [WAYS-1:0] keep;
    always @* begin
        keep = {WAYS{1'b0}};
        if (look_i && (used_q & granted_q & upg_q) != NONE)
            for (i = 0; i < MSHRS; i = i + 1)
                if (used_q[i] && granted_q[i] && upg_q[i]
                    && (SETS == 1 || addr_q[i][W_SET-1:0] == set_i))
                    keep = keep | WAY_0 << way_q[i*W_WAY +: W_WAY];
    end

    reg [MSHRS-1:0] want;
    reg [W_ID-1:0]  free_entry;
    always @* begin
        want = NONE;
        if (waits_o)
            for (i = 0; i < MSHRS; i = i + 1)
                want[i] = used_q[i] && !granted_q[i]
                          && behind_q[i*WB_DEPTH +: WB_DEPTH] == {WB_DEPTH{1'b0}};
        free_entry = {W_ID{1'b0}};
        for (i = 1; i < MSHRS; i = i + 1)
            if (!used_q[i])
                free_entry = i[W_ID-1:0];
    end

    assign look_hit_o = match != NONE;
    assign look_granted_upg_o = (match & upg_q & granted_q) != NONE;
    assign look_waiting_upg_o = (match & upg_q & ~granted_q) != NONE;
    assign full_o = &used_q;
    assign busy_o = used_q != NONE;
    assign waits_o = (used_q & ~granted_q) != NONE;
    assign keep_o = keep;
    assign want_o = want;
    assign want_upg_o = want & upg_q;
    assign ask_cmd_o = upg_q[ask_id] ? `BUS_UPG : getm_q[ask_id] ? `BUS_GETM : `BUS_GETS;
    assign ask_addr_o = addr_q[ask_id];

    // The first complete one from first_q on.
    reg [W_ID-1:0] ready_id;
    always @* begin
        ready_id = first_q;
        if (complete_q != NONE && !complete_q[first_q]) begin
            for (i = MSHRS - 1; i >= 0; i = i - 1)
                if (complete_q[i])
                    ready_id = i[W_ID-1:0];
            for (i = MSHRS - 1; i >= 0; i = i - 1)
                if (complete_q[i] && i[W_ID-1:0] > first_q)
                    ready_id = i[W_ID-1:0];
        end
    end
    assign ready_o = complete_q != NONE;
    assign ready_id_o = MSHRS > 2 ? {ready_id[W_ID-1], ready_id[0]} : {1'b0, ready_id[0]};
    assign ready_addr_o = addr_q[ready_id];
    assign ready_cmd_o = upg_q[ready_id] ? `BUS_UPG : getm_q[ready_id] ? `BUS_GETM : `BUS_GETS;
    assign ready_way_o = way_q[ready_id*W_WAY +: W_WAY];
    assign ready_shared_o = shared_q[ready_id];
    assign ready_prefetch_o = prefetch_q[ready_id];

    always @(posedge clk_i) begin
        if (next_i)
            first_q <= ready_id == LAST_ID ? {W_ID{1'b0}} : ready_id + 1'b1;
        if (demand_i)
            prefetch_q <= prefetch_q & ~match;
        if (lost_i && look_waiting_upg_o && bug_i != `BUG_UPGRADE_WINS) begin
            upg_q <= upg_q & ~match;
            getm_q <= getm_q | match;
        end
        if (freed_i != {WB_DEPTH{1'b0}})
            behind_q <= behind_q & ~{MSHRS{freed_i}};
        if (granted_i)
            granted_q[ask_id] <= 1'b1;
        if (fill_valid_i) begin
            beat_q[fill_id*W_BEAT +: W_BEAT] <= fill_beat + 1'b1;
            shared_q[fill_id] <= fill_shared_i;
            if (fill_last_i)
                complete_q[fill_id] <= 1'b1;
        end
        if (free_i) begin
            used_q[free_id] <= 1'b0;
            complete_q[free_id] <= 1'b0;
        end
        if (alloc_i) begin
            used_q[free_entry] <= 1'b1;
            granted_q[free_entry] <= 1'b0;
            prefetch_q[free_entry] <= alloc_prefetch_i;
            addr_q[free_entry] <= look_addr_i;
            upg_q[free_entry] <= alloc_cmd_i == `BUS_UPG;
            getm_q[free_entry] <= alloc_cmd_i == `BUS_GETM;
            way_q[free_entry*W_WAY +: W_WAY] <= alloc_way_i;
            behind_q[free_entry*WB_DEPTH +: WB_DEPTH] <= alloc_behind_i & ~freed_i;
            beat_q[free_entry*W_BEAT +: W_BEAT] <= {W_BEAT{1'b0}};
        end
        if (rst_i) begin
            used_q <= {MSHRS{1'b0}};
            granted_q <= {MSHRS{1'b0}};
            complete_q <= {MSHRS{1'b0}};
            first_q <= {W_ID{1'b0}};
        end
    end

    cache_ram #(.WIDTH(32), .W_ADDR(W_ID + W_BEAT)) words (
        .clk_i(clk_i), .rst_i(rst_i),
        .read_i(read_i), .read_addr_i({read_id_i[W_ID-1:0], read_beat_i}),
        .read_data_o(read_data_o),
        .write_i(fill_valid_i && !fill_stale_i), .write_addr_i({fill_id, fill_beat}),
        .write_data_i(fill_data_i)
    );

    wire unused = &{1'b0, ask_id_i, fill_id_i, free_id_i, read_id_i};
    `ASSERT(mshr_free_complete, !free_i || complete_q[free_id])
    `ASSERTIONS(look_i)
        `HOLDS(mshr_one_entry_a_line, (match & (match - 1'b1)) == NONE)
        `HOLDS(mshr_alloc_free, !(alloc_i && full_o))
        `HOLDS(mshr_alloc_once, !(alloc_i && look_hit_o))
        `HOLDS(mshr_keeps_granted, !(lost_i && look_granted_upg_o) || bug_i == `BUG_UPGRADE_WINS)
        // The bus grants nothing for a line that a snoop of is on its way.
        `HOLDS(mshr_lost_not_granted,
               !(lost_i && granted_i && look_waiting_upg_o && match[ask_id]))
    `END_ASSERTIONS
    `ASSERTIONS(fill_valid_i)
        `HOLDS(mshr_fill_granted, used_q[fill_id] && granted_q[fill_id] && !complete_q[fill_id])
        `HOLDS(mshr_fill_length,
               upg_q[fill_id] || fill_last_i == (fill_beat == {W_BEAT{1'b1}}))
        `HOLDS(mshr_fill_upg_one_beat, !upg_q[fill_id] || fill_last_i)
    `END_ASSERTIONS
    `COVER(mshr_all_used, full_o)
    `COVER(mshr_all_complete, &complete_q)
    `COVER(mshr_behind_write_back, alloc_i && alloc_behind_i != {WB_DEPTH{1'b0}})
    `COVER(mshr_upg_lost, lost_i && look_waiting_upg_o)
endmodule
`default_nettype wire
