// SPDX-License-Identifier: Apache-2.0
// The request port of a cache to the bus: misses and write-backs take it in turn.
//
// Who is not granted for 8 cycles lets another one try: a write-back must not wait behind a miss
// that the bus cannot take, nor a miss behind a write-back.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module cache_port #(
    parameter OFFSET = 4,
    parameter MSHRS = 2,
    parameter WB_DEPTH = 2,
    parameter DELAYS = 1,
    parameter [31:0] SALT = 1
) (
    input  wire                 clk_i,
    input  wire                 rst_i,
    input  wire [31:0]          seed_i,
    input  wire [2:0]           level_i,

    input  wire [MSHRS-1:0]     mshr_want_i,
    output wire [1:0]           mshr_id_o,      // has the port, unless a write-back has it
    input  wire [1:0]           mshr_cmd_i,     // what it wants
    input  wire [31:OFFSET]     mshr_line_i,
    output wire                 mshr_granted_o,
    input  wire [WB_DEPTH-1:0]  wb_want_i,
    output wire [WB_DEPTH-1:0]  wb_ask_o,       // has the port, one-hot
    input  wire [31:OFFSET]     wb_line_i,
    output wire                 wb_granted_o,

    output wire                 bus_valid_o,
    input  wire                 bus_ready_i,
    output wire [1:0]           bus_cmd_o,
    output wire [31:0]          bus_addr_o,
    output wire [1:0]           bus_id_o
);
    // Misses are 0 to 3, write-backs 4 to 7.
    reg  [7:0] want;
    reg  [2:0] port_q, port, timer_q;
    wire [7:0] ask = 8'd1 << port;
    integer i;
    always @* begin
        want = 8'd0;
        want[0 +: MSHRS] = mshr_want_i;
        want[4 +: WB_DEPTH] = wb_want_i;
        port = port_q;
        if (want != 8'd0 && !want[port_q]) begin
            for (i = 7; i >= 0; i = i - 1)
                if (want[i])
                    port = i[2:0];
            for (i = 7; i > 0; i = i - 1)
                if (want[i] && i[2:0] > port_q)
                    port = i[2:0];
        end
    end

    wire go;
    wire wanted = want != 8'd0;
    wire granted = bus_valid_o && bus_ready_i;
    assign bus_valid_o = go && wanted;
    assign bus_cmd_o = port[2] ? `BUS_WB : mshr_cmd_i;
    assign bus_addr_o = {port[2] ? wb_line_i : mshr_line_i, {OFFSET{1'b0}}};
    assign bus_id_o = port[1:0];
    assign mshr_id_o = port[1:0];
    assign mshr_granted_o = granted && !port[2];
    assign wb_ask_o = ask[4 +: WB_DEPTH];
    assign wb_granted_o = granted && port[2];

    always @(posedge clk_i)
        if (rst_i) begin
            port_q <= 3'd0;
            timer_q <= 3'd0;
        end else if (bus_valid_o) begin
            port_q <= granted || timer_q == 3'd7 ? port + 1'b1 : port;
            timer_q <= granted || port != port_q ? 3'd0 : timer_q + 1'b1;
        end

    delay #(.DELAYS(DELAYS), .SALT(SALT)) delay (
        .clk_i(clk_i), .rst_i(rst_i), .seed_i(seed_i), .level_i(level_i),
        .move_i(granted), .go_o(go)
    );

    wire unused = &{1'b0, ask};
    `COVER(port_miss_beside_write_back, want[3:0] != 4'd0 && want[7:4] != 4'd0)
    `COVER(port_gives_up, bus_valid_o && !granted && timer_q == 3'd7)
endmodule
`default_nettype wire
