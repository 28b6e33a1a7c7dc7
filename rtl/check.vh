// SPDX-License-Identifier: Apache-2.0
// Assertions and cover points beside the logic they guard. They need clk_i and rst_i where they stand.
//
// `ASSERT(name, condition): must hold in every cycle out of reset; when it does not, the simulation is
//   told its name and place (sim/). Several that can fail in some cycles only stand together, so that the
//   simulation looks at them only then: `ASSERTIONS(when) `HOLDS(name, condition) ... `END_ASSERTIONS.
// `COVER(name, condition): counted by `make cov`. Synthesis sees none of them.
`ifndef CHECK_VH
`define CHECK_VH
`ifdef CHECKS
import "DPI-C" context function void soc_assertion_failed(input string name);
`define ASSERT(name, condition) \
    always @(posedge clk_i) if (!rst_i && !(condition)) soc_assertion_failed(`"name`");
`define ASSERTIONS(when) always @(posedge clk_i) if (!rst_i && (when)) begin
`define HOLDS(name, condition) if (!(condition)) soc_assertion_failed(`"name`");
`define END_ASSERTIONS end
`else
`define ASSERT(name, condition)
`define ASSERTIONS(when)
`define HOLDS(name, condition)
`define END_ASSERTIONS
`endif
`ifdef COVERS
`define COVER(name, condition) name: cover property (@(posedge clk_i) !rst_i && (condition));
`else
`define COVER(name, condition)
`endif
`endif
