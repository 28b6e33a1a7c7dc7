/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal litmus` from outside: files told apart by path, bad ones among good ones, one line a
 * test, JSON, executions that `ordeal check` and `show` take, limits. */
#include "shell.h"

void setUp(void)
{
    shell_enter();
    EXPECT(0, "mkdir d && cat > MP.litmus <<'END'\n"
              "RISCV MP\n"
              "{ 0:x5=1; 0:x6=x; 0:x7=y; 1:x6=y; 1:x8=x }\n"
              " P0          | P1          ;\n"
              " sw x5,0(x6) | lw x5,0(x6) ;\n"
              " sw x5,0(x7) | lw x7,0(x8) ;\n"
              "exists (1:x5=1 /\\ 1:x7=0)\n"
              "END\n"
              "sed 's/lw x5,/lw.aq x5,/; s/sw x5,0(x7)/sw.rl x5,0(x7)/' MP.litmus > d/MP.litmus\n"
              "sed 's/lw x7/lw q7/' MP.litmus > bad.litmus");
}

void tearDown(void) { shell_leave(); }

static void test_files_are_told_apart_by_path(void)
{
    EXPECT(0, "$ORDEAL litmus --brief MP.litmus d/MP.litmus");
    OUT("Ok MP.litmus test=MP model=RVWMO kind=Allowed "
        "observation=Sometimes states=4 positive=1 negative=3 ");
    OUT("\nNo d/MP.litmus test=MP model=RVWMO kind=Allowed "
        "observation=Never states=3 positive=0 negative=3 ");
}

static void test_a_bad_file_does_not_stop_the_others(void)
{
    EXPECT(2, "$ORDEAL litmus bad.litmus MP.litmus nowhere.litmus");
    OUT("ERROR bad.litmus:5:19: expected a register, found 'q7'\nTest MP Allowed\nStates 4\n");
    OUT("\nERROR nowhere.litmus: No such file or directory\n");
}

static void test_models(void)
{
    EXPECT(0, "$ORDEAL litmus --brief --model TSO MP.litmus && $ORDEAL litmus -b -m rvtso MP.litmus"
              " && $ORDEAL litmus -b < MP.litmus --model PSO -");
    OUT("No MP.litmus test=MP model=TSO ");
    OUT("No MP.litmus test=MP model=RVTSO ");
    OUT("Ok - test=MP model=PSO ");
    EXPECT(2, "$ORDEAL litmus --model PC d/MP.litmus");
    OUT("ERROR d/MP.litmus:5: PC has no acquire");
}

/* An xadd of registers leaves the sum in the destination, also where both are one. */
static void test_xadd_of_registers(void)
{
    EXPECT(0, "printf 'X86_64 A\\n{ 0:rax=1; 0:rbx=10 }\\n P0 ;\\n xaddl %%%%eax,%%%%ebx ;\\n"
              "forall (0:rax=10 /\\\\ 0:rbx=11)\\n' > a.litmus; $ORDEAL litmus -b a.litmus");
    OUT("Ok a.litmus ");
    EXPECT(
        0,
        "printf 'X86 B\\n{ 0:EAX=1 }\\n P0 ;\\n XADD EAX,EAX ;\\nforall (0:EAX=2)\\n' > b.litmus; "
        "$ORDEAL litmus -b b.litmus");
    OUT("Ok b.litmus ");
}

static void test_json(void)
{
    EXPECT(0, "$ORDEAL litmus --json d/MP.litmus");
    OUT("{\"verdict\":\"No\",\"file\":\"d/MP.litmus\",\"test\":\"MP\",\"model\":\"RVWMO\"");
    OUT("\"states\":[{\"values\":{\"1:x5\":\"0\",\"1:x7\":\"0\"},\"holds\":false},");
    OUT("\"condition\":\"exists (1:x5=1 /\\\\ 1:x7=0)\"");
    EXPECT(2, "$ORDEAL litmus --json bad.litmus");
    OUT("{\"verdict\":\"ERROR\",\"file\":\"bad.litmus\",\"line\":5,\"column\":19,");
}

/* The execution that is written is allowed, or not, as the report says. */
static void test_executions(void)
{
    EXPECT(0, "$ORDEAL litmus --execution mp.trace MP.litmus && $ORDEAL check mp.trace");
    OUT("PASS mp.trace model=RVWMO");
    EXPECT(0, "grep 'P1 L\\[y\\]=1' mp.trace && grep 'P1 L\\[x\\]=0' mp.trace");
    EXPECT(1,
           "$ORDEAL litmus --execution mp.trace d/MP.litmus && $ORDEAL show mp.trace --svg mp.svg");
    OUT("FAIL mp.trace violates RVWMO");
    EXPECT(0, "grep '<svg' mp.svg");
    EXPECT(0, "$ORDEAL litmus --execution mp.trace --outcome '1:x5=0 /\\ [x]=1' d/MP.litmus &&"
              " $ORDEAL check mp.trace && grep 'final x=1' mp.trace");
    EXPECT(0, "rm mp.trace; $ORDEAL litmus --execution mp.trace --outcome 1:x5=7 MP.litmus; "
              "[ ! -e mp.trace ]");
    ERR("there is no execution with that outcome");
    EXPECT(2, "$ORDEAL litmus --execution mp.trace --outcome 'z=1' MP.litmus");
    ERR("no location 'z'");
    EXPECT(2, "$ORDEAL litmus --execution mp.trace MP.litmus d/MP.litmus");
    EXPECT(2, "$ORDEAL litmus --outcome true MP.litmus");
    EXPECT(2, "$ORDEAL litmus");
}

static void test_undecided(void)
{
    EXPECT(0,
           "{ echo 'RISCV many'; echo '{ 0:x6=x; 1:x6=x; 0:x5=1; 1:x5=3 }'; echo ' P0 | P1 ;';"
           " for i in 1 2 3 4 5 6; do echo ' amoadd.w x7,x5,(x6) | amoadd.w x7,x5,(x6) ;'; done; }"
           " > many.litmus");
    EXPECT(4, "$ORDEAL litmus --limit 0.2 many.litmus MP.litmus");
    OUT("UNDECIDED many.litmus note=");
    OUT("\nTest MP Allowed\n");
}

int main(void)
{
    UNITY_BEGIN();
    if (!shell_open())
        return 1;
    RUN_TEST(test_files_are_told_apart_by_path);
    RUN_TEST(test_a_bad_file_does_not_stop_the_others);
    RUN_TEST(test_models);
    RUN_TEST(test_xadd_of_registers);
    RUN_TEST(test_json);
    RUN_TEST(test_executions);
    RUN_TEST(test_undecided);
    return UNITY_END();
}
