// SPDX-License-Identifier: Apache-2.0
// The uncached port: operations past the cache, one at a time, the oldest of its kind; an atomic
// operation before a store before a load.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module lsu_uncached (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [6:0]  bug_i,
    input  wire        seldom_i,        // now and then, for a bug

    // Who wants to go, and, once he goes, what: held until the answer.
    input  wire        atomic_i,
    input  wire        atomic_write_i,  // an AMO; else a load
    input  wire [4:0]  atomic_amo_i,
    input  wire [31:0] atomic_addr_i,
    input  wire [31:0] atomic_data_i,
    input  wire [31:0] atomic_compare_i,
    input  wire        store_i,         // the oldest store is uncached
    input  wire        store_go_i,      // and may move
    input  wire [31:2] store_addr_i,
    input  wire [3:0]  store_be_i,
    input  wire [31:0] store_data_i,
    input  wire        load_i,          // the oldest load is uncached
    input  wire        load_go_i,       // and may move
    input  wire [31:2] load_addr_i,
    input  wire [3:0]  load_be_i,
    input  wire        cached_i,        // the cache has performed a store or atomic operation

    // Whose answer has come.
    output reg         atomic_o,
    output reg         store_o,         // not with cached_i: the store buffer hears of one store
    output reg         load_o,

    // To the bus. Stable from valid to ready; the answer comes in a later cycle.
    output wire        uc_valid_o,
    input  wire        uc_ready_i,
    output reg         uc_write_o,
    output reg         uc_atomic_o,
    output wire [4:0]  uc_amo_o,
    output reg  [31:0] uc_addr_o,       // of the word
    output reg  [3:0]  uc_be_o,
    output reg  [31:0] uc_data_o,
    output wire [31:0] uc_compare_o,
    input  wire        uc_rsp_valid_i
);
    localparam [1:0] NONE = 2'd0, STORE = 2'd1, LOAD = 2'd2, ATOMIC = 2'd3;
    reg [1:0] who_q;
    reg       sent_q; // the bus took it
    reg       late_q; // a store was performed, and the buffer has not heard of it

    always @* begin
        {uc_atomic_o, uc_write_o} = 2'd0;
        uc_addr_o = 32'dx;
        uc_be_o = 4'dx;
        uc_data_o = 32'dx;
        if (who_q != NONE) begin
            uc_addr_o = atomic_addr_i;
            uc_be_o = 4'd15;
            uc_data_o = atomic_data_i;
            case (who_q)
                STORE: begin
                    uc_write_o = 1'b1;
                    uc_addr_o = {store_addr_i, 2'd0};
                    uc_be_o = store_be_i;
                    uc_data_o = store_data_i;
                end
                LOAD: begin
                    uc_addr_o = {load_addr_i, 2'd0};
                    uc_be_o = load_be_i;
                end
                default: {uc_atomic_o, uc_write_o} = {2{atomic_write_i}}; // ATOMIC
            endcase
        end
    end
    assign uc_valid_o   = who_q != NONE && !sent_q;
    assign uc_amo_o     = atomic_amo_i;
    assign uc_compare_o = atomic_compare_i;

    always @* begin
        {load_o, atomic_o} = 2'd0;
        if (uc_rsp_valid_i) begin
            load_o   = who_q == LOAD;
            atomic_o = who_q == ATOMIC;
        end
    end

    // With some bugs a cached operation may be done in the same cycle: then the buffer hears later.
    reg  late;
    wire meets = (bug_i == `BUG_UNCACHED_REORDER || bug_i == `BUG_SWAP_NO_DRAIN) && cached_i;
    always @* begin
        {store_o, late} = 2'd0;
        if (late_q || uc_rsp_valid_i) begin
            late    = (late_q || who_q == STORE) && meets;
            store_o = (late_q || who_q == STORE) && !meets;
        end
    end

    always @(posedge clk_i)
        if (rst_i) begin
            who_q <= NONE;
            {sent_q, late_q} <= 2'd0;
        end else begin
            late_q <= late;
            if (uc_rsp_valid_i) begin
                who_q  <= NONE;
                sent_q <= 1'b0;
            end else if (who_q != NONE)
                sent_q <= sent_q || uc_ready_i;
            else if (atomic_i)
                who_q <= ATOMIC;
            else if (store_i || load_i) begin
                if (store_i && store_go_i && !late_q
                    && (bug_i != `BUG_UNCACHED_REORDER || seldom_i))
                    who_q <= STORE;
                else if (load_i && load_go_i)
                    who_q <= LOAD;
            end
        end

    `ASSERTIONS(uc_rsp_valid_i)
        `HOLDS(lsu_uncached_answer, sent_q)
    `END_ASSERTIONS
endmodule
`default_nettype wire
