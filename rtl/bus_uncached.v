// SPDX-License-Identifier: Apache-2.0
// The uncached words of all harts: one after the other to memory, or to the interrupts. Each hart
// has one in flight. The answer is given to all, and one is told that it is his.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module bus_uncached #(
    parameter NHARTS = 4,
    parameter DELAYS = 1
) (
    input  wire                 clk_i,
    input  wire                 rst_i,
    input  wire [31:0]          seed_i,
    input  wire [2:0]           level_i,

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
    output wire [31:0]          uc_rsp_data_o,
    output wire [31:0]          uc_rsp_written_o,

    output wire                 mem_valid_o,
    input  wire                 mem_ready_i,
    output wire [3:0]           mem_hart_o,
    output wire                 mem_write_o,
    output wire                 mem_atomic_o,
    output wire [4:0]           mem_amo_o,
    output wire [31:0]          mem_addr_o,
    output wire [3:0]           mem_be_o,
    output wire [31:0]          mem_data_o,
    output wire [31:0]          mem_compare_o,
    input  wire                 mem_rsp_valid_i,
    input  wire [3:0]           mem_rsp_hart_i,
    input  wire [31:0]          mem_rsp_data_i,
    input  wire [31:0]          mem_rsp_written_i,

    output wire                 ipi_valid_o,
    output wire                 ipi_write_o,
    output wire [3:0]           ipi_hart_o,
    output wire                 ipi_data_o,
    input  wire                 ipi_data_i
);
    wire [NHARTS-1:0] grant;
    wire go, any = |uc_valid_i;

    // What the chosen one wants.
    reg [3:0]  hart;
    reg        write, atomic;
    reg [4:0]  amo;
    reg [31:0] addr, data, compare;
    reg [3:0]  be;
    integer h;
    always @* begin
        hart    = 4'd0;
        write   = 1'b0;
        atomic  = 1'b0;
        amo     = 5'd0;
        addr    = 32'd0;
        be      = 4'd0;
        data    = 32'd0;
        compare = 32'd0;
        if (any)
            for (h = 0; h < NHARTS; h = h + 1)
                if (grant[h]) begin
                    hart    = h[3:0];
                    write   = uc_write_i[h];
                    atomic  = uc_atomic_i[h];
                    amo     = uc_amo_i[h*5 +: 5];
                    addr    = uc_addr_i[h*32 +: 32];
                    be      = uc_be_i[h*4 +: 4];
                    data    = uc_data_i[h*32 +: 32];
                    compare = uc_compare_i[h*32 +: 32];
                end
    end

    // An access to the interrupts waits a cycle when memory answers: there is one way back.
    reg       ipi_q, ipi_write_q, ipi_bit_q;
    reg [3:0] ipi_hart_q, ipi_from_q;
    wire      to_ipi = {addr[31:6], 6'd0} == `MAP_IPI;
    wire      take = any && go && (to_ipi ? !ipi_q : mem_ready_i);

    bus_arbiter #(.N(NHARTS)) choice (.clk_i(clk_i), .rst_i(rst_i), .may_i(uc_valid_i),
        .grant_o(grant), .take_i(take));
    delay #(.DELAYS(DELAYS), .SALT(32'h4201)) pause (.clk_i(clk_i), .rst_i(rst_i),
        .seed_i(seed_i), .level_i(level_i), .move_i(take), .go_o(go));

    assign uc_ready_o    = take ? grant : {NHARTS{1'b0}};
    assign mem_valid_o   = any && go && !to_ipi;
    assign mem_hart_o    = hart;
    assign mem_write_o   = write;
    assign mem_atomic_o  = atomic;
    assign mem_amo_o     = amo;
    assign mem_addr_o    = addr;
    assign mem_be_o      = be;
    assign mem_data_o    = data;
    assign mem_compare_o = compare;

    always @(posedge clk_i)
        if (rst_i)
            ipi_q <= 1'b0;
        else if (take && to_ipi) begin
            ipi_q       <= 1'b1;
            ipi_from_q  <= hart;
            ipi_hart_q  <= addr[5:2];
            ipi_write_q <= write && be[0];
            ipi_bit_q   <= data[0];
        end else if (ipi_valid_o)
            ipi_q <= 1'b0;

    assign ipi_valid_o = ipi_q && !mem_rsp_valid_i;
    assign ipi_write_o = ipi_write_q;
    assign ipi_hart_o  = ipi_hart_q;
    assign ipi_data_o  = ipi_bit_q;

    genvar g;
    generate for (g = 0; g < NHARTS; g = g + 1) begin : answer
        localparam [3:0] G = g;
        assign uc_rsp_valid_o[g] = mem_rsp_valid_i ? mem_rsp_hart_i == G
                                                   : ipi_q && ipi_from_q == G;
    end endgenerate
    assign uc_rsp_data_o    = mem_rsp_valid_i ? mem_rsp_data_i : {31'd0, ipi_data_i};
    assign uc_rsp_written_o = mem_rsp_valid_i ? mem_rsp_written_i
                            : {31'd0, ipi_write_q ? ipi_bit_q : ipi_data_i};

`ifdef CHECKS
    reg [NHARTS-1:0] flight_q; // whose word is on its way
    always @(posedge clk_i)
        flight_q <= rst_i ? {NHARTS{1'b0}} : flight_q & ~uc_rsp_valid_o | uc_ready_o;
`endif
    `ASSERTIONS(take || mem_rsp_valid_i || ipi_q)
        `HOLDS(uncached_one_in_flight, (uc_ready_o & flight_q) == {NHARTS{1'b0}})
        `HOLDS(uncached_answer_awaited, (uc_rsp_valid_o & ~flight_q) == {NHARTS{1'b0}})
        `HOLDS(uncached_no_atomic_ipi, !(take && to_ipi && atomic))
    `END_ASSERTIONS
    `COVER(uncached_ways_cross, ipi_q && mem_rsp_valid_i)
endmodule
`default_nettype wire
