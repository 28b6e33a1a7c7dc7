// SPDX-License-Identifier: Apache-2.0
// Store buffer: stores in program order, entry 0 the oldest, until the cache or the bus has
// performed them.
//
// Says which store may go next under the memory model, and what a load finds here, byte by byte.
// A store in the cache's hands (flight_i) stays where it is until it leaves or is refused.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module lsu_store_buffer #(
    parameter DEPTH      = 8, // 1 to 16
    parameter LINE_WORDS = 4,
    parameter TM         = 1
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [1:0]  model_i,
    input  wire [6:0]  bug_i,
    input  wire [3:0]  random_i,
    input  wire        tx_i,            // a transaction is on: all that is here belongs to it
    output wire        empty_o,
    output wire        full_o,
    output wire        uncached_o,      // holds an uncached store
    output wire        drained_o,       // nothing that a fence has to wait for
    output wire        tx_drained_o,    // nothing that the end of a transaction has to wait for

    input  wire        push_i,          // not when full
    input  wire [31:2] push_addr_i,
    input  wire [3:0]  push_be_i,
    input  wire [31:0] push_data_i,     // in its lanes
    input  wire        push_barrier_i,  // all older stores leave before it and later ones
    input  wire        push_hold_i,     // it does not go to the cache while hold_i
    input  wire        hold_i,

    // A load asks.
    input  wire        look_valid_i,
    input  wire [31:2] look_addr_i,
    output reg  [3:0]  look_be_o,       // bytes found; 0 if not look_valid_i
    output reg  [31:0] look_data_o,
    // Whether a store of this line is here.
    input  wire        line_valid_i,
    input  wire [31:2] line_addr_i,
    output reg         line_o,

    // To the cache: the store that is with it, else one that may go.
    input  wire        flight_i,
    output reg         pick_valid_o,
    output reg  [31:2] pick_addr_o,
    output reg  [3:0]  pick_be_o,
    output reg  [31:0] pick_data_o,
    output reg         pick_tx_o,
    output reg         pick_young_o,    // it is not the oldest
    input  wire        take_i,          // the cache took it: flight_i in the next cycle
    input  wire        leave_i,         // performed
    input  wire        refuse_i,        // not
    input  wire        retry_i,         // those refused may try again

    // To the bus: the oldest.
    output wire        head_uncached_o,
    output wire [31:2] head_addr_o,
    output wire [3:0]  head_be_o,
    output wire [31:0] head_data_o,
    input  wire        head_leave_i,    // performed; not with leave_i

    input  wire        flush_i,         // a transaction aborts: all vanish
    input  wire        irq_taken_i
);
    localparam IW  = DEPTH > 1 ? $clog2(DEPTH) : 1;
    localparam CW  = $clog2(DEPTH + 1);
    localparam LSB = 2 + $clog2(LINE_WORDS);
    localparam [DEPTH-1:0] FIRST = 1;
    localparam [CW-1:0]    ONE   = 1;
    localparam [IW-1:0]    STEP  = 1;
    localparam             SECOND = DEPTH > 1 ? 1 : 0; // for BUG_STORES_REORDER

    reg [31:2]      addr_q [0:DEPTH-1];
    reg [3:0]       be_q   [0:DEPTH-1];
    reg [31:0]      data_q [0:DEPTH-1];
    reg [DEPTH-1:0] valid_q, barrier_q, uncached_q, refused_q, tx_q, held_q;
    reg [CW-1:0]    count_q;
    reg [IW-1:0]    flight_q;

    integer i;

    assign empty_o    = !valid_q[0];
    assign full_o     = valid_q[DEPTH-1];
    assign uncached_o = |(uncached_q & valid_q);
    assign drained_o  = empty_o
        || (bug_i == `BUG_FENCE_IN_FLIGHT && count_q == ONE)
        || (bug_i == `BUG_UNCACHED_REORDER && (valid_q & ~uncached_q) == {DEPTH{1'b0}});
    assign tx_drained_o = empty_o
        || (bug_i == `BUG_TX_NO_MEMBAR && (valid_q & tx_q) == {DEPTH{1'b0}});

    // Which store may go. The oldest always; any other (PSO, RMO) if nothing up to it asks for
    // order and no older one is of its word.
    wire            free  = model_i == `MODEL_PSO || model_i == `MODEL_RMO;
    wire [IW-1:0]   guess = random_i[IW-1:0];
    reg  [DEPTH-1:0] ordered;
    reg             may, blocked;
    reg  [IW-1:0]   pick, at;
    always @* begin
        {may, blocked, pick_valid_o} = 3'd0;
        pick = {IW{1'b0}};
        at = {IW{1'bx}};
        ordered = {DEPTH{1'bx}};
        pick_addr_o = 30'dx;
        pick_be_o = 4'dx;
        pick_data_o = 32'dx;
        {pick_tx_o, pick_young_o} = 2'bx;
        if (!empty_o) begin
            ordered = uncached_q | (barrier_q & ~FIRST);
            if (free && guess != {IW{1'b0}})
                for (i = 0; i < DEPTH; i = i + 1)
                    if (i[IW-1:0] == guess)
                        may = valid_q[i] && !refused_q[i] && !ordered[i] && !(hold_i && held_q[i]);
                    else if (i[IW-1:0] < guess)
                        blocked = blocked || ordered[i] || addr_q[i] == addr_q[guess];
            if (may && !blocked)
                pick = guess;
            else if (bug_i == `BUG_STORES_REORDER && DEPTH > 1) begin
                if (refused_q[0] && valid_q[SECOND] && addr_q[SECOND] != addr_q[0]
                    && !uncached_q[SECOND] && !barrier_q[SECOND])
                    pick = STEP;
            end else if (bug_i == `BUG_UNCACHED_REORDER)
                for (i = DEPTH - 1; i >= 0; i = i - 1)
                    if (valid_q[i] && !uncached_q[i])
                        pick = i[IW-1:0];
            pick_valid_o = valid_q[pick] && !uncached_q[pick] && !refused_q[pick]
                && !(hold_i && held_q[pick]);

            at = flight_i ? flight_q : pick;
            pick_addr_o  = addr_q[at];
            pick_be_o    = be_q[at];
            pick_data_o  = data_q[at];
            pick_tx_o    = tx_i && (tx_q[at] || bug_i != `BUG_TX_NO_MEMBAR);
            pick_young_o = at != {IW{1'b0}};
        end
    end

    assign head_uncached_o = valid_q[0] && uncached_q[0];
    assign head_addr_o     = addr_q[0];
    assign head_be_o       = be_q[0];
    assign head_data_o     = data_q[0];

    // What a load finds: the youngest store of each byte, so younger ones come last.
    reg  [3:0]  found;
    reg         blind;
    always @* begin
        look_be_o = 4'd0;
        look_data_o = 32'd0;
        found = 4'd0;
        blind = 1'bx;
        if (!empty_o) begin
            blind = bug_i == `BUG_FULL_BUFFER_PASSED && full_o;
            if (look_valid_i && !blind)
                for (i = 0; i < DEPTH; i = i + 1)
                    if (valid_q[i] && addr_q[i][7:2] == look_addr_i[7:2]
                        && (addr_q[i][31:8] == look_addr_i[31:8] || bug_i == `BUG_FORWARD_FEW_BITS))
                    begin
                        found = bug_i == `BUG_FORWARD_BYTES ? 4'd15 : be_q[i];
                        if (bug_i == `BUG_FORWARD_OLDEST)
                            found = found & ~look_be_o;
                        if (found[0]) look_data_o[7:0]   = data_q[i][7:0];
                        if (found[1]) look_data_o[15:8]  = data_q[i][15:8];
                        if (found[2]) look_data_o[23:16] = data_q[i][23:16];
                        if (found[3]) look_data_o[31:24] = data_q[i][31:24];
                        look_be_o = look_be_o | found;
                    end
        end
    end

    always @* begin
        line_o = 1'b0;
        if (line_valid_i)
            for (i = 0; i < DEPTH; i = i + 1)
                if (valid_q[i] && addr_q[i][31:LSB] == line_addr_i[31:LSB]
                    && (bug_i != `BUG_SWAP_NO_DRAIN || addr_q[i] == line_addr_i))
                    line_o = 1'b1;
    end

    // BUG_COALESCE: the youngest entry of the word that is not with the cache takes the new store.
    wire         gone = leave_i || head_leave_i;
    reg          coalesce, merge;
    reg [IW-1:0] merge_at;
    always @* begin
        merge = 1'b0;
        merge_at = {IW{1'b0}};
        coalesce = 1'bx;
        if (push_i) begin
            coalesce = bug_i == `BUG_COALESCE && model_i == `MODEL_TSO && !gone;
            if (coalesce)
                for (i = 0; i < DEPTH; i = i + 1)
                    if (valid_q[i] && !uncached_q[i] && addr_q[i] == push_addr_i
                        && !(flight_i && flight_q == i[IW-1:0])) begin
                        merge = 1'b1;
                        merge_at = i[IW-1:0];
                    end
        end
    end

    // BUG_INTERRUPT_DROPS: the youngest store vanishes, if nobody holds it just now.
    wire [CW-1:0] youngest = count_q - ONE;
    reg           drop;
    always @* begin
        drop = 1'b0;
        if (irq_taken_i)
            drop = bug_i == `BUG_INTERRUPT_DROPS && !empty_o && !push_i && !leave_i && !take_i
                && !uncached_q[youngest[IW-1:0]] && !(flight_i && flight_q == youngest[IW-1:0]);
    end

    // BUG_TX_NO_MEMBAR: what is older than the transaction stays when it aborts.
    reg [CW-1:0] kept;
    always @* begin
        kept = {CW{1'b0}};
        if (bug_i == `BUG_TX_NO_MEMBAR)
            for (i = 0; i < DEPTH; i = i + 1)
                kept = valid_q[i] && !tx_q[i] ? kept + ONE : kept;
    end

    // What changes, where something may. A flag of an entry that leaves is closed over by `move`.
    wire            add   = push_i && !merge;
    wire            touch = push_i || flight_i || head_leave_i || drop || retry_i;
    reg [IW-1:0]    where;
    reg [DEPTH-1:0] below, fresh, waits;
    reg [CW-1:0]    left; // where the next one goes
    always @* begin
        where = {IW{1'b0}};
        below = {DEPTH{1'b0}};
        fresh = {DEPTH{1'b0}};
        waits = {DEPTH{1'b0}};
        left  = count_q;
        if (touch) begin
            if (leave_i)
                where = flight_q;
            below = gone ? (FIRST << where) - FIRST : {DEPTH{1'b1}};
            if (gone || drop)
                left = count_q - ONE;
            if (add)
                fresh = FIRST << left[IW-1:0];
            if (!retry_i)
                waits = refuse_i ? refused_q | (FIRST << flight_q) : refused_q;
        end
    end

    function [DEPTH-1:0] move(input [DEPTH-1:0] flags, input value);
        move = (((flags & below) | ((flags >> 1) & ~below)) & ~fresh)
            | (value ? fresh : {DEPTH{1'b0}});
    endfunction

    function [31:0] lanes(input [31:0] old, input [3:0] be, input [31:0] data);
        lanes = {be[3] ? data[31:24] : old[31:24], be[2] ? data[23:16] : old[23:16],
            be[1] ? data[15:8] : old[15:8], be[0] ? data[7:0] : old[7:0]};
    endfunction

    always @(posedge clk_i)
        if (rst_i || (flush_i && TM != 0)) begin
            if (bug_i == `BUG_TX_NO_MEMBAR && !rst_i) begin
                valid_q <= valid_q & ~tx_q;
                count_q <= kept;
            end else begin
                valid_q    <= {DEPTH{1'b0}};
                barrier_q  <= {DEPTH{1'b0}};
                uncached_q <= {DEPTH{1'b0}};
                refused_q  <= {DEPTH{1'b0}};
                tx_q       <= {DEPTH{1'b0}};
                held_q     <= {DEPTH{1'b0}};
                count_q    <= {CW{1'b0}};
            end
        end else begin
            if (touch) begin
                refused_q <= move(waits, 1'b0);
                if (gone || push_i || drop) begin
                    valid_q    <= (gone || drop ? valid_q >> 1 : valid_q) | fresh;
                    barrier_q  <= move(barrier_q, push_barrier_i);
                    uncached_q <= move(uncached_q, !push_addr_i[31]);
                    tx_q       <= move(tx_q, tx_i);
                    held_q     <= move(held_q, push_hold_i);
                    count_q    <= add ? left + ONE : left;
                end
                if (gone)
                    for (i = 0; i < DEPTH - 1; i = i + 1)
                        if (i[IW-1:0] >= where) begin
                            addr_q[i] <= addr_q[i + 1];
                            be_q[i]   <= be_q[i + 1];
                            data_q[i] <= data_q[i + 1];
                        end
                if (add) begin
                    addr_q[left[IW-1:0]] <= push_addr_i;
                    be_q[left[IW-1:0]]   <= push_be_i;
                    data_q[left[IW-1:0]] <= push_data_i;
                end
                if (merge) begin
                    be_q[merge_at]   <= be_q[merge_at] | push_be_i;
                    data_q[merge_at] <= lanes(data_q[merge_at], push_be_i, push_data_i);
                end
            end
            if (take_i)
                flight_q <= head_leave_i ? pick - STEP : pick;
            else if (head_leave_i) // BUG_UNCACHED_REORDER alone has both on their way
                flight_q <= flight_q - STEP;
        end

    wire unused = &{1'b0, youngest, left, random_i, line_addr_i};

    `ASSERTIONS(push_i || gone)
        `HOLDS(store_buffer_overflow, !(push_i && full_o))
        `HOLDS(store_buffer_leaves_nothing, !(leave_i && !(flight_i && valid_q[flight_q])))
        `HOLDS(store_buffer_order, !(leave_i && !free && flight_q != {IW{1'b0}}) || bug_i != 7'd0)
        `HOLDS(store_buffer_two_leave, !(leave_i && head_leave_i))
        `HOLDS(store_buffer_uncached_leaves, !(head_leave_i && !head_uncached_o))
        `HOLDS(store_buffer_count, valid_q == ~({DEPTH{1'b1}} << count_q))
    `END_ASSERTIONS
    `COVER(store_buffer_full, full_o)
    `COVER(store_buffer_push_and_leave, push_i && gone)
    `COVER(store_buffer_barrier_waits, |(barrier_q & valid_q & ~FIRST))
    `COVER(store_buffer_left_from_the_middle, leave_i && flight_q != {IW{1'b0}})
    `COVER(store_buffer_uncached_behind_cached, uncached_o && !uncached_q[0])
endmodule
`default_nettype wire
