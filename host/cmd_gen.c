/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal gen`: tests from a bias. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "targets/target.h"
#include "test/default_bias.h"
#include "test/generate.h"
#include "tell/input.h"
#include "base/options.h"
#include "base/output.h"

struct gen {
    struct words bias, set;
    const char *target_name;
    struct choice model;
    struct target_options how; /* of the target, as far as its bias depends on them */
    uint64_t count, seed, first;
    const char *output;
    enum ordeal_format format;
    bool compress, print_bias, keys;

    const struct command *command;
    struct bias *values;
    struct why left_out; /* of the bias of a target */
    struct generator *generator;
    struct ordeal *o;
    struct progress progress;
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(gen, bias, "bias", 'b', "FILE", words, NULL,
           "what kind of tests to make; of several files later ones override"),
    OPTION(gen, set, "set", 's', "KEY=VALUE", words, NULL,
           "a key of the bias, as section.key=value; overrides the files;\n"
           "may be given many times"),
    OPTION(gen, target_name, "target", 't', "TARGET", text, NULL,
           "begin with the bias that 'ordeal run' has for this target, with the\n"
           "options of it below; not with --bias"),
    OPTION(gen, model, "model", 'm', "MODEL", model, NULL,
           "what the machine of the target obeys, as of 'ordeal run':"),
    OPTION(gen, how.harts, "harts", 0, "N", positive, NULL, "sim: as of 'ordeal run'"),
    OPTION(gen, how.config, "config", 0, "KEY=VALUE,...", text, NULL, "sim: as of 'ordeal run'"),
    OPTION(gen, how.sizes, "sizes", 0, "NAMES", text, NULL, "sim: as of 'ordeal run'"),
    OPTION(gen, count, "count", 'n', "N", positive, "1", "how many tests to make"),
    OPTION(gen, seed, "seed", 0, "S", whole, "1", "another seed makes other tests"),
    OPTION(gen, first, "first", 0, "N", whole, "0",
           "number of the first test; tests 7, 8, … of a seed are the same\n"
           "whether or not those before them are made"),
    OPTION(gen, output, "output", 'o', "OUT", text, "-",
           "file to write, 'DIR/' for a file a test, '-' is standard output"),
    OPTION(gen, format, "format", 'f', "FORMAT", format, NULL,
           "text or binary; without it told by the ending of OUT (.otr binary, else text):"),
    OPTION(gen, compress, "compress", 'z', NULL, flag, NULL, "binary only: pack with zstd"),
    OPTION(gen, print_bias, "print-bias", 0, NULL, flag, NULL,
           "write the bias as it is with --bias and --set, commented, and make no test"),
    OPTION(gen, keys, "keys", 'k', NULL, flag, NULL,
           "list the keys of a bias: defaults, what is allowed, and what they mean"),
    OPTION_END
};
/* clang-format on */

/* ---- the bias ------------------------------------------------------------------------------ */

static void print_keys(void)
{
    const char *section = "";
    for (int i = 0; i < BIAS_KEY_COUNT; i++) {
        const struct bias_key *k = &bias_keys[i];
        char name[64], preset[32], allowed[128];
        if (strcmp(section, k->section) != 0)
            printf("%s[%s]\n", i ? "\n" : "", k->section);
        section = k->section;
        bias_value_text(k, k->preset, preset, sizeof preset);
        bias_allowed(k, allowed, sizeof allowed);
        snprintf(name, sizeof name, "%s = %s", k->name, preset);
        printf("  %-24s ", name);
        for (const char *p = k->help; *p; p++) {
            putchar(*p);
            if (*p == '\n')
                printf("%27s", "");
        }
        printf(" (%s)\n", allowed);
    }
    puts(
        "\n[idiom NAME]               an idiom of your own\n"
        "  weight = …               as of the others in [idioms]: relative to [operations]\n"
        "  test = …                 lines in the test notation, indented: P0 S[x]#1;\n"
        "                           threads, names and values stand for any\n"
        "  file = …                 or a file that holds them\n"
        "  uncached = x …           these names of it lie in uncached lines\n"
        "  one_line = x y …         these in one line, near each other\n"
        "  one_set = x y …          these in different lines of one set (placement.lines_per_set)\n"
        "  apart = x y …            these in different lines\n"
        "\n"
        "[profile NAME]             a kind of tests: each test is of one of the profiles, if any;\n"
        "                           what --set gives holds in all of them\n"
        "  weight = …               how often, relative to the others (0 to 10000)\n"
        "  section.key = …          a key, for tests of this profile: a value; low..high, of which\n"
        "                           each test draws one; or a | b | c, of which it draws one\n"
        "  idiom NAME.weight = …    the same for an idiom of your own\n"
        "  only = …                 words: of [operations], [membar] and [idioms] only these keys\n"
        "                           keep their weights, of loops, branches and transactions those\n"
        "                           named; a section's name means all of it. What the profile\n"
        "                           itself gives holds in any case");
}

static void help_on_keys(void)
{
    puts("\nkeys of a bias:\n");
    print_keys();
}

static int complain_of_bias(const struct gen *g, const struct ordeal_error *e)
{
    char text[1024];
    error_format(e, text, sizeof text);
    return complain(g->command, "%s", text);
}

/* What the target can do, which it says when it is open. */
static int ask_target(struct gen *g, struct abilities *can)
{
    const struct target *target = target_find(g->target_name);
    struct target_options how = { .model = g->model.given ? (enum ordeal_model)g->model.value
                                                          : ORDEAL_TSO,
                                  .model_given = g->model.given,
                                  .seed = 1,
                                  .timeout = 60,
                                  .quiet = true,
                                  .harts = g->how.harts,
                                  .config = g->how.config,
                                  .sizes = g->how.sizes };
    struct why why = { "" };
    void *machine;
    if (!target)
        return complain(g->command,
                        "--target takes one of model, native, elf, sim, board, not "
                        "'%s'",
                        g->target_name);
    if (!target_options_fit(&how, target->name, &why))
        return complain(g->command, "%s", why.text);
    if (target == &target_elf)
        how.machine = "qemu"; /* the only one that it knows by name */
    if (target == &target_sim && !how.sizes)
        how.sizes = "usual"; /* the largest of them */
    if (!target->open(&how, &machine, &why)) {
        complain(g->command, "%s: %s", target->name, why.text);
        return EXIT_TARGET;
    }
    *can = target->can(machine);
    target->close(machine);
    return -1;
}

static bool read_bias(struct gen *g, const struct abilities *can, struct ordeal_error *e)
{
    bool good = !can || default_bias_read(g->values, can, e);
    for (size_t i = 0; good && i < g->bias.count; i++)
        good = bias_read(g->values, g->bias.word[i], e);
    for (size_t i = 0; good && i < g->set.count; i++)
        good = bias_set(g->values, g->set.word[i], e);
    return good
        && (can ? default_bias_settle(g->values, can, &g->left_out, e) : bias_check(g->values, e));
}

static int take_bias(struct gen *g)
{
    struct ordeal_error e;
    struct abilities can;
    int status = g->target_name ? ask_target(g, &can) : -1;
    if (status >= 0)
        return status;
    g->values = bias_new();
    if (!g->values)
        return complain(g->command, "out of memory");
    if (!read_bias(g, g->target_name ? &can : NULL, &e))
        return complain_of_bias(g, &e);
    if (*g->left_out.text)
        complain(g->command, "%s", g->left_out.text);
    return -1;
}

/* As lines of comment, which a bias file has no long ones of. */
static void print_comment(const char *text)
{
    enum { COLUMNS = 90 };
    int column = printf("#");
    for (const char *word = text; *word; word += strspn(word, " ")) {
        int length = (int)strcspn(word, " ");
        if (column + length >= COLUMNS)
            column = printf("\n#") - 1;
        column += printf(" %.*s", length, word);
        word += length;
    }
    putchar('\n');
}

static void print_bias(const struct gen *g)
{
    if (*g->left_out.text)
        print_comment(g->left_out.text);
    bias_write(g->values, stdout, true);
}

/* ---- tests --------------------------------------------------------------------------------- */

static enum ordeal_status write_test(const struct gen *g, uint64_t number,
                                     const struct ordeal_trace *t, FILE *out)
{
    uint32_t profile = generator_profile(g->generator, number);
    if (g->format == ORDEAL_FORMAT_BINARY)
        return ordeal_write_binary(t, out, g->compress);
    if (profile < g->values->profiles.count)
        fprintf(out, "# profile %s\n", g->values->profiles.data[profile].name);
    return ordeal_write_text(t, out);
}

/* -1: go on; else the exit status. */
static int make_test(struct gen *g, uint64_t number, FILE *out, const char *name)
{
    struct ordeal_trace *test;
    errno = 0;
    enum ordeal_status status = generator_make(g->generator, number, g->o, &test);
    if (status == ORDEAL_OK)
        status = write_test(g, number, test, out);
    ordeal_trace_free(test);
    if (status == ORDEAL_OK)
        return -1;
    progress_erase(&g->progress);
    return complain(g->command, "%s: %s", name,
                    errno ? strerror(errno) : ordeal_last_error(g->o)->reason);
}

static int write_failed(struct gen *g, struct output *out, const char *name, int error)
{
    output_abandon(out);
    return complain(g->command, "%s: %s", name, strerror(error));
}

static bool go_on(struct gen *g, uint64_t done)
{
    return !progress_callback(&g->progress, "making tests", (double)done / (double)g->count);
}

static int to_one_file(struct gen *g)
{
    struct output out;
    int error = output_open(&out, g->output), status = -1;
    if (error)
        return write_failed(g, &out, g->output, error);
    for (uint64_t i = 0; i < g->count && status < 0; i++)
        status = go_on(g, i) ? make_test(g, g->first + i, out.file, g->output) : EXIT_INTERRUPTED;
    if (status >= 0) {
        output_abandon(&out);
        return status;
    }
    error = output_commit(&out);
    return error ? write_failed(g, &out, g->output, error) : EXIT_FINE;
}

static int to_own_file(struct gen *g, uint64_t number, int digits)
{
    char *name;
    struct output out;
    if (asprintf(&name, "%s%0*" PRIu64 "%s", g->output, digits, number,
                 g->format == ORDEAL_FORMAT_BINARY ? ".otr" : ".test") < 0)
        return complain(g->command, "out of memory");
    int error = output_open(&out, name), status = -1;
    if (!error) {
        status = make_test(g, number, out.file, name);
        if (status < 0)
            error = output_finish(&out);
    }
    if (error)
        status = write_failed(g, &out, name, error);
    output_abandon(&out);
    free(name);
    return status;
}

/* DIR/0000.test, DIR/0001.test, …, so that they are listed in order. */
static int to_directory(struct gen *g)
{
    int status = -1, digits = snprintf(NULL, 0, "%" PRIu64, g->first + g->count - 1);
    int error = output_directory(g->output);
    if (error)
        return complain(g->command, "%s: %s", g->output, strerror(error));
    for (uint64_t i = 0; i < g->count && status < 0; i++)
        status = go_on(g, i) ? to_own_file(g, g->first + i, digits) : EXIT_INTERRUPTED;
    error = output_sync_folder(g->output);
    if (error && status < 0)
        status = complain(g->command, "%s: %s", g->output, strerror(error));
    return status < 0 ? EXIT_FINE : status;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

static int make_tests(struct gen *g)
{
    g->generator = generator_new(g->values, g->seed);
    g->o = ordeal_new(NULL);
    if (!g->generator || !g->o)
        return complain(g->command, "out of memory");
    interrupt_watch();
    progress_start(&g->progress, "ordeal gen");
    int status = ends_with(g->output, "/") ? to_directory(g) : to_one_file(g);
    progress_erase(&g->progress);
    return status;
}

static int gen_usage(struct gen *g, const char *operand)
{
    if (operand)
        return complain(g->command, "what is '%s'? A bias file is given with --bias", operand);
    if (!g->target_name && (g->model.given || g->how.harts || g->how.config || g->how.sizes))
        return complain(g->command, "--model, --harts, --config and --sizes are of a --target");
    if (g->target_name && g->bias.count)
        return complain(g->command, "--target has a bias of its own; it does not go with --bias");
    if (g->format == ORDEAL_FORMAT_AXE)
        return complain(g->command, "tests cannot be said in the axe format; "
                                    "use --format text or binary");
    if (g->format == ORDEAL_FORMAT_GUESS)
        g->format = ends_with(g->output, ".otr") ? ORDEAL_FORMAT_BINARY : ORDEAL_FORMAT_TEXT;
    if (g->compress && g->format != ORDEAL_FORMAT_BINARY)
        return complain(g->command, "--compress is for the binary format; use --format binary");
    if (g->format == ORDEAL_FORMAT_BINARY && strcmp(g->output, "-") == 0 && isatty(STDOUT_FILENO))
        return complain(g->command, "a binary test is not for a terminal; use -o FILE");
    if (g->count > UINT64_MAX - g->first)
        return complain(g->command, "--first and --count together are beyond any number");
    return -1;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct gen g = { .command = self };
    int operand, status = options_parse(self, argc, argv, &g, &operand);
    if (status < 0)
        status = gen_usage(&g, argv[operand]);
    if (status < 0 && g.keys) {
        print_keys();
        status = EXIT_FINE;
    }
    if (status < 0)
        status = take_bias(&g);
    if (status < 0 && g.print_bias) {
        print_bias(&g);
        status = EXIT_FINE;
    }
    if (status < 0)
        status = make_tests(&g);
    generator_free(g.generator);
    ordeal_free(g.o);
    bias_free(g.values);
    return status;
}

const struct command command_gen = {
    .name = "gen",
    .summary = "make random tests of a kind told by a bias file",
    .operands = "",
    .description =
        "Makes tests for multiprocessors: threads that race for a few words of memory. What they\n"
        "consist of is told by a bias file. Every key of it has a default; they are listed below,\n"
        "and 'ordeal gen --print-bias > my.bias' writes a file to begin with. Profiles in it make\n"
        "several kinds of tests; in text a comment says which one a test is of. The same bias,\n"
        "seed and number give the same test on every machine. 'ordeal run' runs them.",
    .example = "  $ ordeal gen --bias examples/swaps.bias --set threads=4 -n 1000 -o tests/\n"
               "  $ ordeal gen --set idioms.sb=100 --set operations.swap=0 | less\n",
    .options = options,
    .more_help = help_on_keys,
    .run = run,
};
