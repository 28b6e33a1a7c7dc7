// SPDX-License-Identifier: Apache-2.0
// Control and status registers of a hart, its traps and its counters.
//
// An access comes with addr_i; data_o answers in the same cycle, and write_i changes the register.
// mcycle and minstret count since reset; writes to them, and to what reads as 0, are ignored.
`default_nettype none
module hart_csr (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [3:0]  hart_i,

    input  wire [11:0] addr_i,
    input  wire        read_i,       // data_o is wanted
    output reg  [31:0] data_o,
    input  wire        write_i,      // not together with trap_i or mret_i
    input  wire [1:0]  funct_i,      // 1: write, 2: set, 3: clear the bits of
    input  wire [31:0] data_i,
    output wire [31:0] value_o,      // what is written
    input  wire [31:0] others_i,     // what CSRs read as that are not here

    input  wire        trap_i,       // one cycle each
    input  wire [31:2] trap_pc_i,
    input  wire        trap_irq_i,   // the interrupt; else the exception of
    input  wire [3:0]  trap_cause_i,
    input  wire [31:0] trap_value_i,
    input  wire        mret_i,
    output wire [31:2] mtvec_o,
    output wire [31:2] mepc_o,

    input  wire        ipi_i,
    output wire        ipi_clear_o,
    output wire        irq_wakes_o,  // pending and enabled in mie
    output wire        irq_o,        // and in mstatus: take it

    input  wire        retire_i,
    output wire [31:0] retired_o
);
    reg [31:2] mtvec_q, mepc_q;
    reg [31:0] mscratch_q, mtval_q;
    reg        irq_q;                // mcause
    reg [3:0]  cause_q;
    reg        mie_q, mpie_q;        // mstatus
    reg        msie_q;               // mie
    reg [63:0] cycle_q, instret_q;

    always @* begin
        data_o = 32'dx;
        if (read_i) case (addr_i)
            12'h300: data_o = {19'd0, 2'b11, 3'd0, mpie_q, 3'd0, mie_q, 3'd0}; // mstatus
            12'h304: data_o = {28'd0, msie_q, 3'd0};                           // mie
            12'h305: data_o = {mtvec_q, 2'd0};                                 // mtvec
            12'h340: data_o = mscratch_q;                                      // mscratch
            12'h341: data_o = {mepc_q, 2'd0};                                  // mepc
            12'h342: data_o = {irq_q, 27'd0, cause_q};                         // mcause
            12'h343: data_o = mtval_q;                                         // mtval
            12'h344: data_o = {28'd0, ipi_i, 3'd0};                            // mip
            12'hb00: data_o = cycle_q[31:0];                                   // mcycle
            12'hb02: data_o = instret_q[31:0];                                 // minstret
            12'hb80: data_o = cycle_q[63:32];                                  // mcycleh
            12'hb82: data_o = instret_q[63:32];                                // minstreth
            12'hf14: data_o = {28'd0, hart_i};                                 // mhartid
            default: data_o = others_i; // or there is no such register: hart_decode.v knows
        endcase
    end

    reg [31:0] value;
    always @* begin
        value = 32'dx;
        if (read_i)
            value = funct_i == 2'd1 ? data_i : funct_i == 2'd2 ? data_o | data_i : data_o & ~data_i;
    end

    always @(posedge clk_i)
        if (rst_i) begin
            mtvec_q    <= 30'd0;
            mepc_q     <= 30'd0;
            mscratch_q <= 32'd0;
            mtval_q    <= 32'd0;
            irq_q      <= 1'b0;
            cause_q    <= 4'd0;
            mie_q      <= 1'b0;
            mpie_q     <= 1'b0;
            msie_q     <= 1'b0;
        end else if (trap_i) begin
            mepc_q  <= trap_pc_i;
            irq_q   <= trap_irq_i;
            cause_q <= trap_irq_i ? 4'd3 : trap_cause_i;
            mtval_q <= trap_irq_i ? 32'd0 : trap_value_i;
            mpie_q  <= mie_q;
            mie_q   <= 1'b0;
        end else if (mret_i) begin
            mie_q  <= mpie_q;
            mpie_q <= 1'b1;
        end else if (write_i)
            case (addr_i)
                12'h300: {mpie_q, mie_q} <= {value[7], value[3]};
                12'h304: msie_q <= value[3];
                12'h305: mtvec_q <= value[31:2];
                12'h340: mscratch_q <= value;
                12'h341: mepc_q <= value[31:2];
                12'h342: {irq_q, cause_q} <= {value[31], value[3:0]};
                12'h343: mtval_q <= value;
                default: ;
            endcase

    always @(posedge clk_i)
        if (rst_i) begin
            cycle_q   <= 64'd0;
            instret_q <= 64'd0;
        end else begin
            cycle_q   <= cycle_q + 64'd1;
            instret_q <= instret_q + {63'd0, retire_i};
        end

    // Not by CSRRS, which would take back an interrupt that comes in this very cycle.
    reg ipi_clear;
    always @* begin
        ipi_clear = 1'b0;
        if (write_i)
            ipi_clear = addr_i == 12'h344
                && (funct_i == 2'd1 && !data_i[3] || funct_i == 2'd3 && data_i[3]);
    end
    assign ipi_clear_o = ipi_clear;
    assign irq_wakes_o = ipi_i && msie_q;
    assign irq_o       = irq_wakes_o && mie_q;
    assign value_o     = value;
    assign mtvec_o     = mtvec_q;
    assign mepc_o      = mepc_q;
    assign retired_o   = instret_q[31:0];
endmodule
`default_nettype wire
