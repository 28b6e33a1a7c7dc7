// SPDX-License-Identifier: Apache-2.0
// Whose turn it is at the cache, and who is there: one operation at a time, which is answered in
// the cycle after it was taken.
//
// The end of a transaction goes first, then an atomic operation, a hint, and loads and stores in
// turn. Of a transaction that aborts, or has to, nothing but its abort goes there any more.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module lsu_arbiter (
    input  wire        clk_i,
    input  wire        rst_i,

    // Who wants to go: may be withdrawn. What belongs to one is of meaning only while it wants to.
    input  wire        some_i,          // where it is 0 nobody does
    input  wire        tx_i,            // a transaction is on,
    input  wire        stopped_i,       // and nothing of it may go
    input  wire        abort_i,         // but this
    input  wire        commit_i,
    input  wire        atomic_i,
    input  wire [3:0]  atomic_op_i,     // CACHE_*
    input  wire [31:2] atomic_addr_i,
    input  wire [31:0] atomic_data_i,
    input  wire        hint_i,
    input  wire [3:0]  hint_op_i,       // CACHE_*
    input  wire [31:2] hint_addr_i,
    input  wire        load_i,
    input  wire [31:2] load_addr_i,
    input  wire [3:0]  load_be_i,
    input  wire        store_i,
    input  wire [31:2] store_addr_i,
    input  wire [3:0]  store_be_i,
    input  wire [31:0] store_data_i,
    input  wire        store_tx_i,
    output wire        take_load_o,     // the cache takes it now
    output wire        take_store_o,

    // Who was taken in the cycle before, and is answered in this one: at most one.
    output wire        flight_o,        // any of these
    output wire        flight_abort_o,
    output wire        flight_commit_o,
    output wire        flight_atomic_o,
    output wire        flight_hint_o,
    output wire        flight_load_o,
    output wire        flight_store_o,

    // To the cache.
    output wire        req_valid_o,     // may be withdrawn; never while flight_o
    input  wire        req_ready_i,
    output reg  [3:0]  req_op_o,
    output wire [31:0] req_addr_o,
    output reg  [3:0]  req_be_o,
    output reg  [31:0] req_data_o,
    output reg         req_tx_o,
    input  wire        rsp_valid_i      // when flight_o, and only then
);
    localparam [2:0] NONE = 3'd0, LOAD = 3'd1, STORE = 3'd2, ATOMIC = 3'd3, HINT = 3'd4,
        COMMIT = 3'd5, ABORT = 3'd6;

    reg any_q, abort_q, commit_q, atomic_q, hint_q, load_q, store_q;
    reg turn_q; // a load goes before a store

    reg [2:0]  sel;
    reg [31:2] addr;
    always @* begin
        sel = NONE;
        req_op_o = 4'dx;
        addr = 30'dx;
        req_be_o = 4'dx;
        req_data_o = 32'dx;
        req_tx_o = 1'bx;
        if (some_i && !any_q) begin
            addr = atomic_addr_i;
            req_be_o = 4'd15;
            req_data_o = atomic_data_i;
            req_tx_o = tx_i;
            if (stopped_i) begin
                sel = abort_i ? ABORT : NONE;
                req_op_o = `CACHE_TX_ABORT;
            end else if (commit_i) begin
                sel = COMMIT;
                req_op_o = `CACHE_TX_COMMIT;
            end else if (atomic_i) begin
                sel = ATOMIC;
                req_op_o = atomic_op_i;
            end else if (hint_i) begin
                sel = HINT;
                req_op_o = hint_op_i;
                addr = hint_addr_i;
            end else if (load_i && (turn_q || !store_i)) begin
                sel = LOAD;
                req_op_o = `CACHE_LOAD;
                addr = load_addr_i;
                req_be_o = load_be_i;
            end else if (store_i) begin
                sel = STORE;
                req_op_o = `CACHE_STORE;
                addr = store_addr_i;
                req_be_o = store_be_i;
                req_data_o = store_data_i;
                req_tx_o = store_tx_i;
            end
        end
    end
    assign req_valid_o = sel != NONE;
    assign req_addr_o  = {addr, 2'd0};

    wire take = req_valid_o && req_ready_i;
    assign take_load_o  = take && sel == LOAD;
    assign take_store_o = take && sel == STORE;

    always @(posedge clk_i)
        if (rst_i)
            {any_q, abort_q, commit_q, atomic_q, hint_q, load_q, store_q, turn_q} <= 8'd0;
        else begin
            any_q <= take;
            if (take || any_q) begin
                abort_q  <= take && sel == ABORT;
                commit_q <= take && sel == COMMIT;
                atomic_q <= take && sel == ATOMIC;
                hint_q   <= take && sel == HINT;
                load_q   <= take_load_o;
                store_q  <= take_store_o;
                if (take_load_o || take_store_o)
                    turn_q <= take_store_o;
            end
        end
    assign flight_o        = any_q;
    assign flight_abort_o  = abort_q;
    assign flight_commit_o = commit_q;
    assign flight_atomic_o = atomic_q;
    assign flight_hint_o   = hint_q;
    assign flight_load_o   = load_q;
    assign flight_store_o  = store_q;

    wire unused = &{1'b0, rsp_valid_i};
    `ASSERTIONS(rsp_valid_i != any_q)
        `HOLDS(lsu_answer_after_a_cycle, rsp_valid_i == any_q)
    `END_ASSERTIONS
endmodule
`default_nettype wire
