// SPDX-License-Identifier: Apache-2.0
// The write-back buffer of a cache, and the way out for all its lines.
//
// A slot is free, pending (a dirty line that asks the bus to be written back), or on its way
// out: granted, or given to a snoop instead. One more slot takes lines that the arrays give to a
// snoop. A line has at most one pending slot: a newer copy of it replaces the older. The words of
// a line are copied in (copy_i) in the cycles after push_i or supply_copy_i, one each, in order;
// the way out follows behind.
`default_nettype none
`include "check.vh"
module cache_writeback #(
    parameter W_LINE = 28,
    parameter W_BEAT = 2,
    parameter WB_DEPTH = 2,
    parameter W_SLOT = 2   // of WB_DEPTH + 1 slots
) (
    input  wire                clk_i,
    input  wire                rst_i,

    // Which slots hold line look_addr_i? None does where look_i is 0.
    input  wire                look_i,
    input  wire [W_LINE-1:0]   look_addr_i,
    output wire [WB_DEPTH-1:0] look_pending_o, // one at most
    output wire [WB_DEPTH-1:0] look_any_o,     // pending or being written back

    output wire                room_o,
    output wire                empty_o,        // no slot is used
    input  wire                push_i,         // line look_addr_i into a slot: only where room_o
    input  wire                drop_i,         // the pending slot of the line is void
    input  wire                supply_slot_i,  // the pending slot of the line goes to a snoop
    input  wire                supply_copy_i,  // a line from the arrays goes to a snoop
    output wire                supply_busy_o,  // one still does: no other may
    input  wire                supply_go_i,    // the snoop has been answered
    input  wire                copy_i,
    input  wire [W_BEAT-1:0]   copy_beat_i,
    input  wire [31:0]         copy_data_i,
    output wire [WB_DEPTH-1:0] freed_o,        // slots that no longer hold a line to write back

    output wire [WB_DEPTH-1:0] want_o,
    input  wire [WB_DEPTH-1:0] ask_i,          // the one that has the request port, one-hot
    output wire [W_LINE-1:0]   ask_addr_o,
    input  wire                granted_i,

    output wire                out_valid_o,
    output wire                out_wb_o,
    output wire [31:0]         out_data_o,
    output wire                out_last_o
);
    localparam [W_SLOT-1:0] SNOOP_SLOT = WB_DEPTH[W_SLOT-1:0];
    localparam [WB_DEPTH-1:0] NONE = {WB_DEPTH{1'b0}};

    reg [WB_DEPTH-1:0] pending_q, granted_q, supply_q; // at most one of these for a slot; granted_q
                                                       // and supply_q have at most one bit
    reg                supply_copy_q;                  // the additional slot goes to a snoop
    reg [W_LINE-1:0]   addr_q [0:WB_DEPTH-1];
    reg [W_SLOT-1:0]   copy_slot_q;
    reg                run_q, run_wb_q;
    reg [W_SLOT-1:0]   run_slot_q;
    reg [W_BEAT-1:0]   run_beat_q;
    reg                out_valid_q, out_wb_q, out_last_q;
    integer i;

    wire [WB_DEPTH-1:0] used = pending_q | granted_q | supply_q;
    reg  [WB_DEPTH-1:0] match;
    always @* begin
        match = NONE;
        if (look_i && used != NONE)
            for (i = 0; i < WB_DEPTH; i = i + 1)
                match[i] = used[i] && addr_q[i] == look_addr_i;
    end

    reg  [W_LINE-1:0]   ask_addr;
    reg  [W_SLOT-1:0]   free_slot, granted_slot, supply_slot;
    always @* begin
        ask_addr = addr_q[0];
        free_slot = {W_SLOT{1'b0}};
        granted_slot = {W_SLOT{1'b0}};
        supply_slot = SNOOP_SLOT;
        if (used != NONE)
            for (i = 0; i < WB_DEPTH; i = i + 1) begin
                if (!used[i])
                    free_slot = i[W_SLOT-1:0];
                if (ask_i[i])
                    ask_addr = addr_q[i];
                if (granted_q[i])
                    granted_slot = i[W_SLOT-1:0];
                if (supply_q[i])
                    supply_slot = i[W_SLOT-1:0];
            end
    end

    localparam W_FREE = WB_DEPTH > 1 ? $clog2(WB_DEPTH) : 1;
    wire [W_FREE-1:0] free_index = free_slot[W_FREE-1:0];

    assign look_pending_o = match & pending_q;
    assign look_any_o = match & (pending_q | granted_q);
    assign room_o = !(&used);
    assign empty_o = used == NONE;
    assign want_o = granted_q == NONE ? pending_q : NONE;
    assign ask_addr_o = ask_addr;
    assign supply_busy_o = supply_copy_q || supply_q != NONE;

    wire supply = supply_busy_o && supply_go_i;
    wire run_last = run_q && run_beat_q == {W_BEAT{1'b1}};
    wire start = !run_q && (supply || granted_q != NONE);
    wire start_wb = !supply;
    wire [WB_DEPTH-1:0] granting = granted_i ? ask_i : NONE;

    wire [WB_DEPTH-1:0] voided = drop_i || push_i || supply_slot_i
                                 ? look_pending_o & ~granting : NONE;
    assign freed_o = voided | (run_last && run_wb_q ? granted_q : NONE);

    always @(posedge clk_i) begin
        if (used != NONE)
            pending_q <= pending_q & ~voided & ~granting;
        if (push_i) begin
            pending_q[free_index] <= 1'b1;
            addr_q[free_index] <= look_addr_i;
            copy_slot_q <= free_slot;
        end
        if (supply_copy_i) begin
            supply_copy_q <= 1'b1;
            copy_slot_q <= SNOOP_SLOT;
        end
        if (supply_slot_i)
            supply_q <= look_pending_o;
        if (granted_i)
            granted_q <= ask_i;
        if (run_q)
            run_beat_q <= run_beat_q + 1'b1;
        if (run_last) begin
            run_q <= 1'b0;
            if (run_wb_q)
                granted_q <= NONE;
            else begin
                supply_q <= NONE;
                supply_copy_q <= 1'b0;
            end
        end
        if (start) begin
            run_q <= 1'b1;
            run_wb_q <= start_wb;
            run_slot_q <= start_wb ? granted_slot : supply_slot;
            run_beat_q <= {W_BEAT{1'b0}};
        end
        out_valid_q <= run_q;
        out_wb_q <= run_wb_q;
        out_last_q <= run_last;
        if (rst_i) begin
            pending_q <= NONE;
            granted_q <= NONE;
            supply_q <= NONE;
            supply_copy_q <= 1'b0;
            run_q <= 1'b0;
            out_valid_q <= 1'b0;
        end
    end

    cache_ram #(.WIDTH(32), .W_ADDR(W_SLOT + W_BEAT))
    words (
        .clk_i(clk_i), .rst_i(rst_i),
        .read_i(run_q), .read_addr_i({run_slot_q, run_beat_q}), .read_data_o(out_data_o),
        .write_i(copy_i), .write_addr_i({copy_slot_q, copy_beat_i}), .write_data_i(copy_data_i)
    );
    assign out_valid_o = out_valid_q;
    assign out_wb_o = out_wb_q;
    assign out_last_o = out_last_q;

    `ASSERTIONS(used != NONE || granted_i || supply_busy_o)
        `HOLDS(writeback_one_state,
               ((pending_q & granted_q) | (pending_q & supply_q) | (granted_q & supply_q)) == NONE)
        `HOLDS(writeback_push_room, !(push_i && !room_o))
        `HOLDS(writeback_one_pending, (look_pending_o & (look_pending_o - 1'b1)) == NONE)
        `HOLDS(writeback_granted_pending,
               !granted_i || (ask_i & pending_q) == ask_i && ask_i != NONE)
        // The bus does not grant what a snoop on its way takes away.
        `HOLDS(writeback_granted_not_void,
               !((drop_i || supply_slot_i) && (granting & look_pending_o) != NONE))
        `HOLDS(writeback_supply_once, !((supply_copy_i || supply_slot_i) && supply_busy_o))
    `END_ASSERTIONS
    `COVER(writeback_full, !room_o)
    `COVER(writeback_newer_copy, push_i && look_pending_o != NONE)
    `COVER(writeback_newer_behind_granted, push_i && (match & granted_q) != NONE)
    `COVER(writeback_supplies, supply_slot_i)
    `COVER(writeback_dropped, drop_i && look_pending_o != NONE)
endmodule
`default_nettype wire
