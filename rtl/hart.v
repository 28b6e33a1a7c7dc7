// SPDX-License-Identifier: Apache-2.0
// RV32IMA_Zicsr in order, machine mode only: what the test programs run on.
//
// Fetch: the address of the next word goes to code.v. D: the word is there, the registers are read.
// X: everything else happens, in one cycle where nothing is in the way: a result is written, an
// operation handed to the load/store unit, a branch or a trap taken. Loads and atomics
// leave their register marked as pending; whoever needs it waits in X.
`default_nettype none
`include "soc.vh"
`include "check.vh"
module hart #(
    parameter NHARTS       = 4,
    parameter MEMORY_WORDS = 16384,
    parameter CODE_WORDS   = 4096,
    parameter MULDIV       = 1, // 0: mul, div and the like are illegal; 2: mul bit by bit
    parameter TM           = 1, // 0: transactions are illegal
    parameter DELAYS       = 1,
    parameter DEBUG        = 0, // 1: there is a debug mode,
    parameter TRIGGER      = 0, // 1: and a breakpoint in hardware
    parameter MONITOR      = 0  // 1: accesses may go anywhere, and there are no atomics
) (
    input  wire        clk_i,
    input  wire        rst_i,
    input  wire [3:0]  hart_i,          // its number: mhartid
    input  wire [6:0]  bug_i,
    input  wire [31:0] seed_i,
    input  wire [2:0]  level_i,

    output wire [31:0] code_addr_o,     // byte address, word-aligned
    input  wire [31:0] code_data_i,     // the word of the address of the cycle before
    output wire        code_we_o,       // of the debugger: write the word at code_addr_o
    output wire [31:0] code_wdata_o,

    // To the load/store unit, in program order. Once valid, stays as it is until ready, tx_abort_i.
    output wire        op_valid_o,      // never in a cycle with tx_abort_i
    input  wire        op_ready_i,
    output wire [3:0]  op_kind_o,
    output wire [31:0] op_addr_o,
    output wire [31:0] op_data_o,
    output wire [31:0] op_compare_o,
    output wire [4:0]  op_amo_o,
    output wire [1:0]  op_size_o,
    output wire        op_unsigned_o,
    output wire [4:0]  op_rd_o,

    output wire        hold_o,          // one cycle: the next store offered is to be held
    output wire [11:0] hold_cycles_o,   // for so long

    input  wire        wb_valid_i,      // only for a register that is pending; not with tx_abort_i
    input  wire [4:0]  wb_rd_i,
    input  wire [31:0] wb_data_i,

    input  wire        tx_active_i,     // from the cycle after TX_BEGIN was accepted
    input  wire        tx_abort_i,      // ends tx_active_i: 0 in the next cycle
    input  wire [31:0] tx_status_i,     // valid with tx_abort_i
    output wire        tx_kill_o,       // held until tx_abort_i; no operation is offered meanwhile
    output wire [3:0]  tx_kill_cause_o,

    input  wire        ipi_i,           // software interrupt
    output wire        ipi_clear_o,     // one cycle; ipi_i is 0 in the next, unless raised anew
    output wire        irq_taken_o,     // one cycle

    output wire        done_o,          // until reset
    output wire [31:0] pc_o,            // of the instruction that issues next
    output wire [31:0] retired_o,       // instructions since reset
    output wire [3:0]  wait_o,          // WAIT_*
    output wire [31:0] wait_addr_o,     // of the operation offered to the load/store unit, else 0
    output wire [`EVENT_BRANCH_TAKEN:`EVENT_INSTRUCTION] events_o,

    // debug.v
    input  wire        dbg_rst_i,       // power-on
    input  wire        dbg_halt_i,      // level
    input  wire        dbg_resume_i,    // until dbg_halted_o falls
    output wire        dbg_halted_o,
    input  wire        dbg_insn_valid_i, // to a halted hart, until dbg_ack_o
    input  wire [31:0] dbg_insn_i,
    output wire        dbg_ack_o,       // it was done,
    output wire        dbg_fault_o,     // or raised an exception
    output wire [31:0] dbg_data_o,      // its result
    output wire        dbg_silent_o     // operations are the debugger's
);
    localparam [31:0] START        = `MAP_CODE;
    localparam [31:0] MEMORY_BYTES = MEMORY_WORDS * 4;
    localparam [31:0] CODE_BYTES   = CODE_WORDS * 4;
    localparam [31:0] IPI_BYTES    = NHARTS * 4;

    // D: the word at d_pc_q is on code_data_i, over and over until it moves on. -------------------
    reg         d_valid_q;
    reg  [31:2] d_pc_q;
    wire        d_go, d_move;
    wire        halted; // in debug mode: what goes to X comes from the debugger
    wire [31:0] d_insn = halted ? dbg_insn_i : code_data_i;
    wire        rst;    // a hart can be halted while it is in reset

    delay #(.DELAYS(DELAYS), .SALT(32'h100)) fetch_delay (
        .clk_i(clk_i), .rst_i(rst), .seed_i(seed_i ^ {hart_i, 28'd0}), .level_i(level_i),
        .move_i(d_move), .go_o(d_go));

    // X: one instruction, its operands read anew in every cycle it stays. -------------------------
    reg         x_valid_q;
    reg  [31:0] x_insn_q;
    reg  [31:2] x_pc_q;
    reg         x_outside_q;   // there is no code memory at x_pc_q
    reg         x_shadow_q;    // BUG_BRANCH_SHADOW: should not be here
    reg         offered_q;     // its operation has been offered: it can no longer be put off
    reg  [1:0]  cas_q;         // amocas.w: 0, 1: rd is being read, 2: compare_q has it
    reg  [31:0] compare_q;
    reg         done_q;
    reg  [31:0] pending_q;     // registers that the load/store unit will set
    reg         kill_q;        // the transaction must abort before anything else
    reg         kill_irq_q;    // for the interrupt; else for what stands in X
    reg  [4:0]  tx_rd_q;       // of the last TX.BEGIN
    reg  [31:2] tx_target_q;

    wire [4:0]  x_rd  = x_insn_q[11:7];
    wire [4:0]  x_rs1 = x_insn_q[19:15];
    wire [4:0]  x_rs2 = x_insn_q[24:20];
    wire [31:0] x_pc  = {x_pc_q, 2'd0};
    wire [31:0] x_next_pc = {d_pc_q, 2'd0}; // what follows X in the program stands in D

    wire [31:0] imm;
    wire [3:0]  kind;
    wire illegal, base_pc, base_zero, reads_rs1, reads_rs2, sets_rd, inverts;
    wire is_alu, is_alu_imm, is_muldiv, is_jump, is_branch, is_begin, is_csr, is_csr_write;
    wire is_ecall, is_ebreak, is_mret, is_wfi, is_op, is_hint, is_access, is_write, is_atomic;
    wire is_cas, is_hold, is_done, x_takes;
    hart_decode #(
        .MULDIV(MULDIV), .TM(TM), .DEBUG(DEBUG), .TRIGGER(TRIGGER), .ATOMICS(MONITOR == 0)
    ) decode (
        .clk_i(clk_i), .move_i(x_takes), .insn_i(d_insn), .debug_i(halted), .illegal_o(illegal),
        .imm_o(imm),
        .base_pc_o(base_pc), .base_zero_o(base_zero), .rs1_o(reads_rs1), .rs2_o(reads_rs2),
        .rd_o(sets_rd), .alu_o(is_alu), .alu_imm_o(is_alu_imm), .invert_o(inverts),
        .muldiv_o(is_muldiv), .jump_o(is_jump), .branch_o(is_branch), .begin_o(is_begin),
        .csr_o(is_csr), .csr_write_o(is_csr_write), .ecall_o(is_ecall), .ebreak_o(is_ebreak),
        .mret_o(is_mret), .wfi_o(is_wfi), .op_o(is_op), .kind_o(kind), .hint_o(is_hint),
        .access_o(is_access), .writes_o(is_write), .atomic_o(is_atomic), .cas_o(is_cas),
        .hold_o(is_hold), .done_o(is_done));

    // Operands
    wire        x_stays, registers_ready;
    wire [31:0] rs1, rs2;
    reg         writes; // a register is set
    reg  [4:0]  writes_rd;
    reg  [31:0] writes_data;
    reg  [4:0]  reads1, reads2;
    always @* begin
        reads1 = d_insn[19:15];
        reads2 = d_insn[24:20];
        if (x_stays) begin
            reads1 = x_rs1;
            reads2 = x_rs2;
            if (is_cas && cas_q == 2'd0)
                reads2 = x_rd;
        end
    end
    hart_registers registers (
        .clk_i(clk_i), .rst_i(rst), .ready_o(registers_ready),
        .addr1_i(reads1), .addr2_i(reads2), .data1_o(rs1), .data2_o(rs2),
        .we_i(writes), .rd_i(writes_rd), .data_i(writes_data));

    // Conditions without which the outcome would be the same are for simulation: what is not wanted
    // is not computed.
    wire x_active = x_valid_q && !tx_abort_i && !kill_q;
    reg  x_waits;
    always @* begin
        x_waits = 1'b0;
        if (x_active)
            x_waits = reads_rs1 && pending_q[x_rs1] || reads_rs2 && pending_q[x_rs2]
                || sets_rd && pending_q[x_rd]; // pending_q[0] is never 1
    end
    wire x_ready = x_active && !x_waits;

    wire [31:0] sum, alu_result;
    wire        alu_taken;
    hart_alu alu (
        .sum_i(x_ready), .alu_i(x_ready && is_alu), .branch_i(x_ready && is_branch),
        .base_i(base_pc ? x_pc : base_zero ? 32'd0 : rs1),
        .offset_i(imm), .a_i(rs1), .b_i(rs2), .imm_i(is_alu_imm), .invert_i(inverts),
        .funct3_i(x_insn_q[14:12]), .other_i(x_insn_q[30]),
        .sum_o(sum), .result_o(alu_result), .taken_o(alu_taken));

    // Debug mode. It begins before an instruction, even one that waits or whose operation was
    // offered in vain, when no register is pending and no transaction active; one that is is
    // aborted for it. d_pc_q is then dpc: the debugger reads it with AUIPC and jumps to set it.
    wire stop, step, ebreakm;
    wire at_ebreak = DEBUG != 0 && ebreakm && !halted && x_active && is_ebreak && !illegal
        && !x_outside_q && !tx_active_i;
    // What the monitor's bus has begun cannot be taken back.
    wire stoppable = x_active && !x_shadow_q
        && !(offered_q && (MONITOR != 0 || kind == `LSU_TX_COMMIT));
    wire halts = DEBUG != 0 && (stop || at_ebreak) && !tx_active_i && pending_q == 32'd0
        && (!x_valid_q || stoppable);

    // What happens in X: an interrupt, an exception, or the instruction. Decided before anything
    // else moves, and without a look at op_ready_i.
    wire irq_wanted, irq_wakes;
    wire irq = irq_wanted && !halted && !step;
    reg  x_irq, x_except, x_runs, op_valid;
    reg  taken, in_memory, misaligned, no_access, misjump;
    reg  wants_op; // hints outside memory and a DONE of 0 do nothing
    reg  repeats;  // BUG_INTERRUPT_REPEATS: the store is done first
    always @* begin
        repeats = 1'b0;
        if (irq)
            repeats = bug_i == `BUG_INTERRUPT_REPEATS && is_op && kind == `LSU_STORE
                && !tx_active_i;
        {x_irq, x_except, x_runs, op_valid, wants_op} = 5'd0;
        {taken, in_memory, misaligned, no_access, misjump} = 5'd0;
        if (x_active) begin
            if (DEBUG != 0 && (stop || at_ebreak) && stoppable)
                x_irq = tx_active_i;
            else if (offered_q) // decided before
                {x_runs, op_valid, wants_op} = 3'b111;
            else if (irq && !is_wfi && !x_shadow_q && !repeats)
                x_irq = 1'b1;
            else if (x_outside_q || illegal || is_ecall || is_ebreak)
                x_except = 1'b1;
            else if (x_ready) begin
                taken   = is_jump || is_branch && alu_taken;
                misjump = (taken || is_begin) && sum[1];
                if (is_access || is_hint) begin
                    in_memory  = (sum ^ `MAP_MEMORY) < MEMORY_BYTES;
                    misaligned = is_access
                        && (x_insn_q[12] && sum[0] || x_insn_q[13] && sum[1:0] != 2'd0);
                    no_access  = is_access && MONITOR == 0 && !in_memory
                        && !((sum ^ `MAP_UNCACHED) < MEMORY_BYTES)
                        && !((sum ^ `MAP_IPI) < IPI_BYTES && x_insn_q[13:12] == 2'd2 && !is_atomic);
                end
                x_except = misjump || misaligned || no_access || DEBUG != 0 && is_op && rst_i;
                x_runs   = !x_except;
                wants_op = is_op && (!is_hint || in_memory) && (!is_done || sum[0]);
                op_valid = wants_op && x_runs && (!is_cas || cas_q == 2'd2);
            end
        end
    end
    wire [3:0] cause = x_outside_q ? 4'd1 : illegal ? 4'd2 : is_ecall ? 4'd11 : is_ebreak ? 4'd3
        : misjump ? 4'd0 : misaligned ? is_write ? 4'd6 : 4'd4 : is_write ? 4'd7 : 4'd5;
    wire [31:0] trap_value = x_outside_q ? x_pc : illegal ? x_insn_q
        : misjump || is_access ? sum : 32'd0;

    // What becomes of it in this cycle: at most one of x_finish, x_trap, x_kill
    wire        muldiv_done;
    wire [31:0] muldiv_result, csr_data;
    reg         op_fire, x_finish, x_trap, x_kill, irq_after, x_irq_taken, x_jumps, x_stops;
    always @* begin
        {op_fire, x_finish, x_trap, x_kill, irq_after} = 5'd0;
        {x_irq_taken, x_jumps, x_stops} = 3'd0;
        if (x_irq || x_except) begin
            x_kill = TM != 0 && tx_active_i;
            x_trap = !x_kill && !halted;
            x_irq_taken = x_trap && x_irq;
        end else if (x_runs) begin
            op_fire   = op_valid && op_ready_i;
            irq_after = repeats && op_fire;
            x_trap    = irq_after;
            x_irq_taken = irq_after;
            // Not until a result of the load/store unit has passed, where both set a register.
            x_finish  = !irq_after && (wants_op ? op_fire : is_wfi ? irq_wakes || step
                : !(is_muldiv && !muldiv_done) && !(wb_valid_i && sets_rd));
            x_jumps   = x_finish && (taken || is_mret);
            x_stops   = x_finish && is_done && sum[0];
        end
    end

    always @* begin
        writes      = 1'b0;
        writes_rd   = 5'dx;
        writes_data = 32'dx;
        if (wb_valid_i) begin
            writes      = 1'b1;
            writes_rd   = wb_rd_i;
            writes_data = wb_data_i;
        end else if (TM != 0 && tx_abort_i) begin
            writes      = tx_rd_q != 5'd0;
            writes_rd   = tx_rd_q;
            writes_data = tx_status_i;
        end else if (x_finish) begin
            writes      = sets_rd && !is_op && x_rd != 5'd0;
            writes_rd   = x_rd;
            writes_data = is_alu ? alu_result : is_jump ? x_next_pc : is_csr ? csr_data
                : is_muldiv ? muldiv_result : sum;
        end
    end

    generate if (MULDIV != 0) begin : m
        hart_muldiv #(.FAST(MULDIV == 1)) muldiv (
            .clk_i(clk_i), .rst_i(rst), .run_i(x_runs && is_muldiv), .leave_i(x_finish),
            .funct3_i(x_insn_q[14:12]), .a_i(rs1), .b_i(rs2),
            .done_o(muldiv_done), .result_o(muldiv_result));
    end else begin : no_m
        assign muldiv_done   = 1'b1;
        assign muldiv_result = 32'd0;
    end endgenerate

    wire [31:2] mtvec, mepc;
    wire [31:0] csr_value, csr_others;
    hart_csr csr (
        .clk_i(clk_i), .rst_i(rst), .hart_i(hart_i),
        .addr_i(x_insn_q[31:20]), .read_i(x_ready && is_csr), .data_o(csr_data),
        .write_i(x_finish && is_csr_write), .funct_i(x_insn_q[13:12]), .data_i(sum),
        .value_o(csr_value), .others_i(csr_others),
        .trap_i(x_trap), .trap_pc_i(x_pc_q), .trap_irq_i(x_irq_taken),
        .trap_cause_i(cause), .trap_value_i(trap_value),
        .mret_i(x_finish && is_mret), .mtvec_o(mtvec), .mepc_o(mepc),
        .ipi_i(ipi_i), .ipi_clear_o(ipi_clear_o), .irq_wakes_o(irq_wakes), .irq_o(irq_wanted),
        .retire_i(x_finish && !halted), .retired_o(retired_o));

    wire x_faults = halted && x_except;
    generate if (DEBUG != 0) begin : debug
        localparam [31:0] MISA = 32'h40000100 | (MULDIV != 0 ? 32'h1000 : 32'd0)
            | (MONITOR == 0 ? 32'd1 : 32'd0);
        wire writes_csr = halted && x_finish && is_csr_write;
        hart_debug #(.TRIGGER(TRIGGER), .MISA(MISA)) debug (
            .clk_i(clk_i), .dbg_rst_i(dbg_rst_i), .rst_i(rst_i), .rst_o(rst), .halt_i(dbg_halt_i),
            .resume_i(dbg_resume_i), .halted_o(halted), .stop_o(stop), .halts_i(halts),
            .ebreak_i(at_ebreak), .ebreakm_o(ebreakm), .step_o(step),
            .over_i(x_finish || x_trap || tx_abort_i), .take_i(moves && !halted),
            .take_pc_i(d_pc_q), .csr_addr_i(x_insn_q[31:20]), .csr_data_o(csr_others),
            .csr_write_i(writes_csr), .csr_value_i(csr_value), .code_i(code_data_i));
        assign code_we_o    = writes_csr && x_insn_q[31:20] == 12'h7b4;
        assign code_wdata_o = csr_value;
        assign dbg_ack_o    = halted && x_finish || x_faults;
        assign dbg_data_o   = writes_data;
        reg silent_q;
        always @(posedge clk_i) silent_q <= halted && (silent_q || moves);
        assign dbg_silent_o = silent_q;
    end else begin : no_debug
        assign {halted, stop, step, ebreakm, code_we_o, dbg_ack_o, dbg_silent_o} = 7'd0;
        assign rst          = rst_i;
        assign csr_others   = 32'd0;
        assign code_wdata_o = 32'd0;
        assign dbg_data_o   = 32'd0;
        wire unused = &{1'b0, dbg_rst_i, dbg_halt_i, dbg_resume_i, csr_value};
    end endgenerate
    assign dbg_halted_o = halted;
    assign dbg_fault_o  = x_faults;

    // The way on
    reg [31:2] next_pc;
    reg        moves, shadows;
    always @* begin
        moves   = 1'b0;
        shadows = 1'b0;
        next_pc = d_pc_q;
        if (TM != 0 && tx_abort_i) next_pc = tx_target_q;
        else if (x_trap) next_pc = mtvec;
        else if (halts) begin
            if (x_valid_q) next_pc = x_pc_q;
        end else if (x_jumps) begin
            next_pc = is_mret ? mepc : sum[31:2];
            shadows = bug_i == `BUG_BRANCH_SHADOW && is_branch && d_valid_q && d_go
                && d_insn[6:0] == 7'h23;
        end else if (halted)
            moves = dbg_insn_valid_i && d_valid_q && !x_valid_q;
        else if (!x_stays) begin
            moves = d_valid_q && d_go && !x_stops && !done_q;
            if (moves) next_pc = d_pc_q + 30'd1;
        end
    end
    assign x_stays     = x_valid_q && !x_finish;
    assign d_move      = moves;
    assign x_takes     = moves || shadows;
    assign code_addr_o = {next_pc, 2'd0};

    always @(posedge clk_i)
        if (rst) begin
            d_valid_q   <= 1'b0;
            d_pc_q      <= START[31:2];
            x_valid_q   <= 1'b0;
            x_shadow_q  <= 1'b0;
            offered_q   <= 1'b0;
            cas_q       <= 2'd0;
            done_q      <= 1'b0;
            kill_q      <= 1'b0;
        end else begin
            d_valid_q <= registers_ready;
            d_pc_q    <= next_pc;
            if (x_takes) begin
                x_insn_q    <= d_insn;
                x_pc_q      <= d_pc_q;
                x_outside_q <= !halted && {d_pc_q, 2'd0} >= CODE_BYTES;
                x_shadow_q  <= shadows;
            end
            x_valid_q <= x_takes || x_stays && !tx_abort_i && !x_trap && !halts && !x_faults;
            offered_q <= op_valid && !op_ready_i;
            if (is_cas) begin
                cas_q <= !x_runs || op_fire ? 2'd0 : cas_q == 2'd0 ? 2'd1 : 2'd2;
                if (cas_q == 2'd1) compare_q <= rs2;
            end
            if (x_stops) done_q <= 1'b1;
            kill_q <= TM != 0 && tx_active_i && !tx_abort_i && (kill_q || x_kill);
            if (x_kill) kill_irq_q <= x_irq;
            if (op_fire && is_begin) begin
                tx_rd_q     <= x_rs1;
                tx_target_q <= sum[31:2];
            end
        end

    // Only what the load/store unit answers for: a load or an atomic with a register to set.
    wire sets = op_fire && op_rd_o != 5'd0;
    always @(posedge clk_i)
        if (rst || TM != 0 && tx_abort_i) pending_q <= 32'd0;
        else if (sets || wb_valid_i)
            pending_q <= pending_q & ~({31'd0, wb_valid_i} << wb_rd_i) | {31'd0, sets} << op_rd_o;

    assign op_valid_o    = op_valid;
    assign op_kind_o     = kind;
    assign op_addr_o     = sum;
    assign op_data_o     = rs2;
    assign op_compare_o  = compare_q;
    assign op_amo_o      = x_insn_q[31:27];
    assign op_size_o     = x_insn_q[13:12];
    assign op_unsigned_o = x_insn_q[14];
    assign op_rd_o       = is_access && sets_rd ? x_rd : 5'd0;

    assign hold_o          = DELAYS != 0 && x_finish && is_hold;
    assign hold_cycles_o   = imm[11:0];

    assign tx_kill_o       = TM != 0 && kill_q;
    assign tx_kill_cause_o = kill_irq_q ? `TX_INTERRUPT : `TX_UNSUPPORTED;
    assign irq_taken_o     = x_irq_taken;
    assign done_o          = done_q;
    assign pc_o            = x_valid_q ? x_pc : x_next_pc;
    assign wait_o          = x_valid_q ? kill_q ? `WAIT_ABORT : x_waits ? `WAIT_REGISTER
        : is_wfi ? `WAIT_INTERRUPT : `WAIT_NOTHING : done_q ? `WAIT_DONE : `WAIT_NOTHING;
    assign wait_addr_o     = op_valid ? sum : 32'd0;
    assign events_o[`EVENT_INSTRUCTION]  = x_finish && !halted;
    assign events_o[`EVENT_OPERAND_WAIT] = x_waits && !x_irq && !x_except;
    assign events_o[`EVENT_MEMORY_WAIT]  = op_valid && !op_ready_i;
    assign events_o[`EVENT_INTERRUPT]    = x_irq_taken;
    assign events_o[`EVENT_EXCEPTION]    = x_trap && !x_irq_taken;
    assign events_o[`EVENT_BRANCH_TAKEN] = x_jumps && taken && !halted;

    `ASSERTIONS(x_finish || wb_valid_i || tx_abort_i || kill_q || done_q || offered_q && !op_valid)
        `HOLDS(hart_wb_of_pending, !wb_valid_i || pending_q[wb_rd_i] && !tx_abort_i)
        `HOLDS(hart_no_overlap, !(sets && pending_q[op_rd_o]))
        `HOLDS(hart_offer_stays, !offered_q || op_valid || tx_abort_i || stop)
        `HOLDS(hart_abort_of_active, !tx_abort_i || tx_active_i)
        `HOLDS(hart_kill_of_active, !kill_q || tx_active_i)
        `HOLDS(hart_done_is_quiet, !done_q || halted || !x_valid_q && pending_q == 32'd0)
        `HOLDS(hart_order, !x_valid_q || x_shadow_q || halted || d_pc_q == x_pc_q + 30'd1)
    `END_ASSERTIONS

    `COVER(hart_result_passes_wb, x_runs && wb_valid_i && sets_rd && !is_op)
    `COVER(hart_irq_at_op, x_irq && is_op)
    `COVER(hart_irq_at_pending, x_irq && x_waits)
    `COVER(hart_irq_in_divide, x_irq && is_muldiv)
    `COVER(hart_irq_in_tx, x_kill && x_irq)
    `COVER(hart_exception_in_tx, x_kill && x_except)
    `COVER(hart_abort_drops_offer, offered_q && tx_abort_i)
    `COVER(hart_abort_drops_pending, tx_abort_i && pending_q != 32'd0)
    `COVER(hart_waits_for_rd, x_waits && sets_rd && pending_q[x_rd])
    `COVER(hart_wfi_wakes, x_finish && is_wfi)
endmodule
`default_nettype wire
