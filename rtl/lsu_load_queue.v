// SPDX-License-Identifier: Apache-2.0
// Load queue: loads in program order, entry 0 the oldest, until their value is bound and their
// turn to leave has come.
//
// A load is sampled (its word was read) in any order and bound (given to the hart) in order; with
// RMO as soon as it is sampled, unless it follows one of the same word or an uncached one. A sample
// whose line the cache loses before it is bound is dropped. One that came from the store buffer
// stays right when its store leaves: then the line is in the cache, and its loss is seen.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module lsu_load_queue #(
    parameter DEPTH      = 4, // 1 to 8
    parameter LINE_WORDS = 4
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [1:0]  model_i,
    input  wire [6:0]  bug_i,
    input  wire        youngest_i,      // read the youngest first, not the oldest
    output wire        empty_o,
    output wire        full_o,

    input  wire        push_i,          // not when full
    input  wire [31:0] push_addr_i,
    input  wire [1:0]  push_size_i,
    input  wire        push_unsigned_i,
    input  wire [4:0]  push_rd_i,
    input  wire [7:0]  push_seq_i,
    input  wire [31:0] push_issue_i,

    // The load that is with the cache, else one that wants its word.
    input  wire        flight_i,
    output wire        pick_valid_o,
    output reg  [31:2] pick_addr_o,
    output reg  [3:0]  pick_be_o,       // bytes it needs
    output reg         pick_early_o,    // an older one is not bound yet
    input  wire        take_i,          // the cache took it: flight_i in the next cycle
    input  wire        sample_i,        // here is its word
    input  wire        refuse_i,
    input  wire        retry_i,         // those refused may try again

    // An uncached load reads when it is the oldest, and later ones wait for it.
    output wire        head_uncached_o, // it is, and has not read yet
    output wire [31:0] head_addr_o,
    output reg  [3:0]  head_be_o,
    input  wire        head_sample_i,   // here is its word; not with sample_i
    input  wire [31:0] sample_data_i,   // the word, for both

    input  wire        inv_valid_i,     // the cache lost a line; not with sample_i while flight_i
    input  wire [31:0] inv_addr_i,
    output wire        dropped_o,       // a sample was lost to that

    input  wire        bind_i,          // a load may be bound
    output reg         bind_valid_o,
    output reg  [4:0]  bind_rd_o,
    output reg  [31:0] bind_data_o,
    output reg         bind_early_o,    // before an older one

    output reg         leave_o,         // the oldest leaves, with
    output wire [31:0] leave_addr_o,
    output wire [1:0]  leave_size_o,
    output wire [7:0]  leave_seq_o,
    output wire [31:0] leave_issue_o,
    output wire [31:0] leave_data_o,    // its bytes, zeros above

    input  wire        flush_i          // all vanish; bind_i is 0 then
);
    localparam IW  = DEPTH > 1 ? $clog2(DEPTH) : 1;
    localparam CW  = $clog2(DEPTH + 1);
    localparam LSB = 2 + $clog2(LINE_WORDS);
    localparam [DEPTH-1:0] FIRST = 1;
    localparam [CW-1:0]    ONE   = 1;
    localparam [IW-1:0]    STEP  = 1;

    reg [31:0]      addr_q  [0:DEPTH-1];
    reg [15:0]      info_q  [0:DEPTH-1]; // sequence number, size, unsigned, register
    reg [31:0]      issue_q [0:DEPTH-1];
    reg [31:0]      data_q  [0:DEPTH-1]; // the bytes loaded, zeros above
    reg [DEPTH-1:0] valid_q, sampled_q, bound_q, refused_q;
    reg [DEPTH-1:0] follows_q;           // may not be bound before older ones (RMO)
    reg [DEPTH-1:0] uncached_q;
    reg [CW-1:0]    count_q;
    reg [IW-1:0]    flight_q;

    integer i;

    function [3:0] lanes(input [1:0] size, input [1:0] offset);
        lanes = size == 2'd0 ? 4'd1 << offset : size == 2'd1 ? 4'd3 << offset : 4'd15;
    endfunction

    assign empty_o = !valid_q[0];
    assign full_o  = valid_q[DEPTH-1];

    assign head_uncached_o = valid_q[0] && uncached_q[0] && !sampled_q[0];
    assign head_addr_o     = addr_q[0];
    always @* begin
        head_be_o = 4'dx;
        if (head_uncached_o)
            head_be_o = lanes(info_q[0][7:6], addr_q[0][1:0]);
    end

    // Who reads next, or is reading.
    wire [DEPTH-1:0] open = valid_q & ~sampled_q & ~refused_q & ~uncached_q;
    reg  [IW-1:0]    pick, at;
    reg  [31:0]      at_addr;
    reg  [1:0]       at_size;
    assign pick_valid_o = open != {DEPTH{1'b0}} && !head_uncached_o;
    always @* begin
        pick = {IW{1'b0}};
        at = {IW{1'bx}};
        at_addr = 32'dx;
        at_size = 2'dx;
        pick_addr_o = 30'dx;
        pick_be_o = 4'dx;
        pick_early_o = 1'bx;
        if (open != {DEPTH{1'b0}} || flight_i || head_sample_i) begin
            if (youngest_i) begin
                for (i = 0; i < DEPTH; i = i + 1)
                    if (open[i])
                        pick = i[IW-1:0];
            end else
                for (i = DEPTH - 1; i >= 0; i = i - 1)
                    if (open[i])
                        pick = i[IW-1:0];
            at = flight_i ? flight_q : head_sample_i ? {IW{1'b0}} : pick;
            at_addr = addr_q[at];
            at_size = info_q[at][7:6];
            pick_addr_o  = at_addr[31:2];
            pick_be_o    = lanes(at_size, at_addr[1:0]);
            pick_early_o = (~bound_q & ((FIRST << at) - FIRST)) != {DEPTH{1'b0}};
        end
    end

    reg [31:0] sample;
    always @* begin
        sample = sample_data_i;
        if (sample_i || head_sample_i) begin
            sample = sample >> {at_addr[1:0], 3'd0};
            if (at_size == 2'd0)
                sample[31:8] = 24'd0;
            if (!at_size[1])
                sample[31:16] = 16'd0;
        end
    end

    // Who is bound, and whether the oldest leaves: what is bound is sampled.
    reg [IW-1:0]    ripe;
    reg             older; // all older ones are bound
    reg [DEPTH-1:0] binds;
    reg [7:0]       bind_info;
    always @* begin
        {bind_valid_o, bind_early_o, leave_o} = 3'd0;
        ripe = {IW{1'b0}};
        older = 1'b1;
        binds = {DEPTH{1'b0}};
        bind_info = 8'dx;
        bind_rd_o = 5'dx;
        bind_data_o = 32'dx;
        if (sampled_q != {DEPTH{1'b0}}) begin
            if (bind_i)
                for (i = 0; i < DEPTH; i = i + 1) begin
                    if (!bind_valid_o && valid_q[i] && sampled_q[i] && !bound_q[i]
                        && (older || (model_i == `MODEL_RMO && !follows_q[i]))) begin
                        bind_valid_o = 1'b1;
                        bind_early_o = !older;
                        binds[i] = 1'b1;
                        ripe = i[IW-1:0];
                    end
                    older = older && bound_q[i];
                end
            leave_o = bind_i && valid_q[0] && (bound_q[0] || binds[0]);
            if (bind_valid_o) begin
                bind_info = info_q[ripe][7:0];
                bind_rd_o = bind_info[4:0];
                bind_data_o = data_q[ripe];
                if (!bind_info[5]) begin
                    if (bind_info[7:6] == 2'd0)
                        bind_data_o = {{24{bind_data_o[7]}}, bind_data_o[7:0]};
                    else if (bind_info[7:6] == 2'd1)
                        bind_data_o = {{16{bind_data_o[15]}}, bind_data_o[15:0]};
                end
            end
        end
    end
    assign leave_addr_o  = addr_q[0];
    assign leave_size_o  = info_q[0][7:6];
    assign leave_seq_o   = info_q[0][15:8];
    assign leave_issue_o = issue_q[0];
    assign leave_data_o  = data_q[0];

    // Whose sample is void. What is bound in this very cycle saw the line before it went.
    reg [DEPTH-1:0] drops;
    always @* begin
        drops = {DEPTH{1'b0}};
        if (inv_valid_i && sampled_q != {DEPTH{1'b0}} && bug_i != `BUG_STALE_LOAD)
            for (i = 0; i < DEPTH; i = i + 1)
                drops[i] = sampled_q[i] && !bound_q[i] && !binds[i]
                    && addr_q[i][31:LSB] == inv_addr_i[31:LSB];
    end
    assign dropped_o = drops != {DEPTH{1'b0}};

    // Whether a new load has to wait for older ones.
    reg follows;
    always @* begin
        follows = 1'b0;
        if (push_i && model_i == `MODEL_RMO)
            for (i = 0; i < DEPTH; i = i + 1)
                if (valid_q[i] && !bound_q[i]
                    && (uncached_q[i] || addr_q[i][31:2] == push_addr_i[31:2]))
                    follows = 1'b1;
    end

    // What changes, where something may.
    wire            touch = push_i || leave_o || bind_valid_o || sample_i || head_sample_i
        || flight_i || inv_valid_i || retry_i;
    reg [CW-1:0]    left; // where the next one goes
    reg [DEPTH-1:0] fresh, reads, waits;
    always @* begin
        left  = count_q;
        fresh = {DEPTH{1'b0}};
        reads = {DEPTH{1'b0}};
        waits = {DEPTH{1'b0}};
        if (touch) begin
            if (leave_o)
                left = count_q - ONE;
            if (push_i)
                fresh = FIRST << left[IW-1:0];
            if (sample_i || head_sample_i)
                reads = FIRST << at;
            if (!retry_i)
                waits = refuse_i ? refused_q | (FIRST << flight_q) : refused_q;
        end
    end

    // A flag of each entry in the next cycle, `value` being that of a new one.
    function [DEPTH-1:0] move(input [DEPTH-1:0] flags, input value);
        move = ((leave_o ? flags >> 1 : flags) & ~fresh) | (value ? fresh : {DEPTH{1'b0}});
    endfunction

    always @(posedge clk_i)
        if (rst_i || flush_i) begin
            valid_q    <= {DEPTH{1'b0}};
            sampled_q  <= {DEPTH{1'b0}};
            bound_q    <= {DEPTH{1'b0}};
            refused_q  <= {DEPTH{1'b0}};
            follows_q  <= {DEPTH{1'b0}};
            uncached_q <= {DEPTH{1'b0}};
            count_q    <= {CW{1'b0}};
        end else begin
            if (touch) begin
                sampled_q <= move((sampled_q | reads) & ~drops, 1'b0);
                bound_q   <= move(bound_q | binds, 1'b0);
                refused_q <= move(waits, 1'b0);
                if (push_i || leave_o) begin
                    valid_q    <= (leave_o ? valid_q >> 1 : valid_q) | fresh;
                    follows_q  <= move(follows_q, follows);
                    uncached_q <= move(uncached_q, !push_addr_i[31]);
                    count_q    <= push_i ? left + ONE : left;
                end
                if (leave_o)
                    for (i = 0; i < DEPTH - 1; i = i + 1) begin
                        addr_q[i]  <= addr_q[i + 1];
                        info_q[i]  <= info_q[i + 1];
                        issue_q[i] <= issue_q[i + 1];
                        data_q[i]  <= data_q[i + 1];
                    end
                if (sample_i || head_sample_i)
                    data_q[leave_o ? at - STEP : at] <= sample;
                if (push_i) begin
                    addr_q[left[IW-1:0]]  <= push_addr_i;
                    info_q[left[IW-1:0]]  <= {push_seq_i, push_size_i, push_unsigned_i, push_rd_i};
                    issue_q[left[IW-1:0]] <= push_issue_i;
                end
            end
            if (take_i)
                flight_q <= leave_o ? pick - STEP : pick;
        end

    wire unused = &{1'b0, inv_addr_i, left};

    `ASSERTIONS(push_i || sample_i || head_sample_i || bind_valid_o)
        `HOLDS(load_queue_overflow, !(push_i && full_o))
        `HOLDS(load_queue_sampled_twice, (reads & sampled_q) == {DEPTH{1'b0}})
        `HOLDS(load_queue_two_samples, !(head_sample_i && (flight_i || sample_i)))
        `HOLDS(load_queue_samples_nothing, (reads & ~valid_q) == {DEPTH{1'b0}})
        `HOLDS(load_queue_order, !(bind_early_o && model_i != `MODEL_RMO))
        `HOLDS(load_queue_count, valid_q == ~({DEPTH{1'b1}} << count_q))
        `HOLDS(load_queue_bound_unsampled, (bound_q & ~sampled_q) == {DEPTH{1'b0}})
    `END_ASSERTIONS
    `COVER(load_queue_full, full_o)
    `COVER(load_queue_dropped, dropped_o)
    `COVER(load_queue_dropped_two, (drops & (drops - FIRST)) != {DEPTH{1'b0}})
    `COVER(load_queue_bound_as_the_line_goes, inv_valid_i && bind_valid_o
        && addr_q[ripe][31:LSB] == inv_addr_i[31:LSB])
    `COVER(load_queue_bound_early, bind_early_o)
    `COVER(load_queue_follows, |(follows_q & sampled_q & ~bound_q & ~FIRST))
endmodule
`default_nettype wire
