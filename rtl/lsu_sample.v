// SPDX-License-Identifier: Apache-2.0
// The word of a load: byte by byte the youngest store of the store buffer, else the cache. A load
// that the buffer has all bytes of needs no cache. Combinational but for a bug's memory.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module lsu_sample (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [6:0]  bug_i,
    input  wire        tx_i,            // a transaction is on
    input  wire        begin_i,         // one begins
    input  wire        abort_i,         // it aborts: nothing is read

    input  wire        empty_i,         // there is no load
    input  wire        pick_i,          // one may read,
    input  wire        flight_i,        // or is with the cache, and answered in this cycle; of it:
    input  wire [31:2] pick_addr_i,
    input  wire [3:0]  pick_be_i,       // bytes it needs
    input  wire [3:0]  look_be_i,       // bytes that the buffer has
    input  wire [31:0] look_data_i,
    input  wire        rsp_done_i,      // with flight_i: the cache has read rsp_data_i
    input  wire [31:0] rsp_data_i,
    input  wire [31:0] uc_rsp_data_i,   // the word of an uncached load

    output reg         want_o,          // it needs the cache
    output reg         sample_o,        // it is read now, and word_o is its word
    output reg         forward_o,       // all of it from the buffer,
    output wire        partial_o,       // or some of it
    output reg         stale_o,         // or it is the old word of BUG_TX_FIRST_LOAD
    output reg  [31:0] word_o           // where not: uc_rsp_data_i
);
    wire        last_stale;
    wire [31:0] last_word;
    always @* begin
        {stale_o, forward_o, sample_o, want_o} = 4'd0;
        word_o = uc_rsp_data_i;
        if (!empty_i && !abort_i) begin
            if (pick_i && !flight_i) begin
                stale_o = last_stale;
                forward_o = stale_o || (pick_be_i & ~look_be_i) == 4'd0;
                want_o = !forward_o;
            end
            sample_o = forward_o || (flight_i && rsp_done_i);
            if (sample_o) begin
                word_o = look_data_i;
                if (!look_be_i[0]) word_o[7:0]   = rsp_data_i[7:0];
                if (!look_be_i[1]) word_o[15:8]  = rsp_data_i[15:8];
                if (!look_be_i[2]) word_o[23:16] = rsp_data_i[23:16];
                if (!look_be_i[3]) word_o[31:24] = rsp_data_i[31:24];
                if (stale_o)
                    word_o = last_word;
            end
        end
    end
    assign partial_o = flight_i && sample_o && (look_be_i & pick_be_i) != 4'd0;

    lsu_last last (
        .clk_i(clk_i), .rst_i(rst_i), .bug_i(bug_i), .tx_i(tx_i), .begin_i(begin_i),
        .sample_i(sample_o), .whole_i(flight_i || look_be_i == 4'd15), .addr_i(pick_addr_i),
        .word_i(word_o), .stale_o(last_stale), .word_o(last_word)
    );

    `COVER(lsu_forward, forward_o)
    `COVER(lsu_partial_forward, partial_o)
endmodule
`default_nettype wire
