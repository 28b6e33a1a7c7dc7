/* SPDX-License-Identifier: Apache-2.0 */
#include "models.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool refuse(char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return false;
}

/* ---- parameters and names ------------------------------------------------------------------ */

/* The one table: how a parameter is called in names and messages, what it may be. Those without a
 * letter in every name stand there only when they are not as usual. */
static const struct number {
    size_t offset;
    const char *words;
    char letter;
    bool always, power;
    uint32_t unit, usual, least, most;     /* in the name it stands divided by the unit */
} numbers[] = {
#define AT(field) offsetof(struct soc_parameters, field)
    { AT(harts), "harts", 'h', true, false, 1, 4, 1, 16 },
    { AT(sets), "sets of a cache", 's', true, true, 1, 16, 1, 1024 },
    { AT(ways), "ways of a cache", 'w', true, true, 1, 2, 1, 4 },
    { AT(line_bytes), "bytes of a line", 'l', true, true, 4, 16, 16, 64 },
    { AT(store_buffer), "entries of the store buffer", 'b', true, false, 1, 8, 1, 16 },
    { AT(load_queue), "entries of the load queue", 'q', true, false, 1, 4, 1, 8 },
    { AT(capture), "records of a capture FIFO", 'c', false, true, 1, 256, 32, 65536 },
    { AT(memory_bytes), "bytes of memory", 'm', false, true, 1024, 1 << 20, 4096, 1u << 30 },
    { AT(code_bytes), "bytes of code of a hart", 'k', false, true, 1024, 1 << 18, 1024, 1 << 24 },
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static const struct flag {
    size_t offset;
    const char *word;                      /* in the name, when it is not as usual */
    bool usual;
} flags[] = {
    { AT(lean), "lean", false },
    { AT(transactions), "notm", true },
    { AT(bugs), "nobugs", true },
    { AT(checks), "nochecks", true },
    { AT(waves), "waves", false },
    { AT(coverage), "cov", false },
#undef AT
};
enum { FLAGS = sizeof flags / sizeof *flags };

/* The machine of rtl/lean/: of it only memory and code come in other sizes. 512 bytes of those of
 * the code are the hart's own. */
enum { LEAN_OWN = 512, LEAN_MEMORY = 16384 };
static const struct soc_parameters lean = {
    .harts = 2, .sets = 16, .ways = 1, .line_bytes = 4, .store_buffer = 8, .load_queue = 1,
    .memory_bytes = 1024, .code_bytes = 1536, .capture = 32
};

static uint32_t *number_of(struct soc_parameters *p, int i)
{
    return (uint32_t *)((char *)p + numbers[i].offset);
}

static bool *flag_of(struct soc_parameters *p, int i)
{
    return (bool *)((char *)p + flags[i].offset);
}

static void usual_parameters(struct soc_parameters *p)
{
    *p = (struct soc_parameters){ 0 };
    for (int i = 0; i < NUMBERS; i++)
        *number_of(p, i) = numbers[i].usual;
    for (int i = 0; i < FLAGS; i++)
        *flag_of(p, i) = flags[i].usual;
}

static bool complete_lean(struct soc_parameters *p, char *why, size_t size)
{
    struct soc_parameters is = lean;
    if (p->memory_bytes)
        is.memory_bytes = p->memory_bytes;
    if (p->code_bytes)
        is.code_bytes = p->code_bytes;
    for (int i = 0; i < NUMBERS; i++) {
        uint32_t wanted = *number_of(p, i), has = *number_of(&is, i);
        if (wanted && wanted != has)
            return refuse(why, size, "%s: %" PRIu32 ", but the lean machine has %" PRIu32,
                          numbers[i].words, wanted, has);
        *number_of(p, i) = has;
    }
    uint32_t ram = p->code_bytes + LEAN_OWN;
    p->transactions = p->bugs = false;
    return (p->memory_bytes >= 1024 && p->memory_bytes <= LEAN_MEMORY
            && !(p->memory_bytes & (p->memory_bytes - 1)) && ram >= 1024 && !(ram & (ram - 1)))
           || refuse(why, size, "the lean machine has no %" PRIu32 " bytes of memory and %" PRIu32
                     " of code", p->memory_bytes, p->code_bytes);
}

bool model_complete(struct soc_parameters *p, char *why, size_t size)
{
    if (p->lean)
        return complete_lean(p, why, size);
    for (int i = 0; i < NUMBERS; i++) {
        const struct number *n = &numbers[i];
        uint32_t *value = number_of(p, i);
        if (*value == 0)
            *value = n->usual;
        if (*value < n->least || *value > n->most || (n->power && (*value & (*value - 1))))
            return refuse(why, size, "%s: %" PRIu32 " is not %s%" PRIu32 " to %" PRIu32, n->words,
                          *value, n->power ? "a power of two from " : "", n->least, n->most);
    }
    return true;
}

void model_name(const struct soc_parameters *p, char *name, size_t size)
{
    struct soc_parameters copy = *p;
    size_t n = 0;
    struct soc_parameters usual = lean;
    if (p->lean) {
        n += (size_t)snprintf(name, size, "lean");
        usual.code_bytes += LEAN_OWN;
        copy.code_bytes += LEAN_OWN;
    } else {
        usual_parameters(&usual);
    }
    for (int i = 0; i < NUMBERS; i++) {
        uint32_t value = *number_of(&copy, i);
        if ((numbers[i].always && !p->lean) || value != *number_of(&usual, i))
            n += (size_t)snprintf(name + n, size - n, "%s%c%" PRIu32, n ? "-" : "",
                                  numbers[i].letter, value / numbers[i].unit);
    }
    if (p->lean)
        copy.transactions = copy.bugs = true, copy.lean = false; /* it goes without saying */
    for (int i = 0; i < FLAGS; i++)
        if (*flag_of(&copy, i) != flags[i].usual)
            n += (size_t)snprintf(name + n, size - n, "%s%s", n ? "-" : "", flags[i].word);
}

const char *const model_sizes[] = {
#define SIZE(NAME) NAME,
#include "sizes.def"
#undef SIZE
    NULL
};

/* One part of a name; false: there is no such. */
static bool parse_part(const char *part, size_t length, struct soc_parameters *p)
{
    for (int i = 0; i < FLAGS; i++)
        if (strlen(flags[i].word) == length && strncmp(part, flags[i].word, length) == 0) {
            *flag_of(p, i) = !flags[i].usual;
            return true;
        }
    for (int i = 0; i < NUMBERS; i++)
        if (part[0] == numbers[i].letter && length > 1 && part[1] >= '1' && part[1] <= '9') {
            char *end;
            unsigned long value = strtoul(part + 1, &end, 10);
            if (end != part + length || value > numbers[i].most / numbers[i].unit)
                return false;
            *number_of(p, i) = (uint32_t)value * numbers[i].unit;
            return true;
        }
    return false;
}

bool model_parse(const char *name, struct soc_parameters *p, char *why, size_t size)
{
    char again[MODEL_NAME];
    usual_parameters(p);
    for (int i = 0; i < NUMBERS; i++)
        *number_of(p, i) = 0;
    for (const char *part = name;; part++) {
        size_t length = strcspn(part, "-");
        if (!parse_part(part, length, p))
            return refuse(why, size, "'%s' is not the name of a model: what is '%.*s'?", name,
                          (int)length, part);
        part += length;
        if (*part == '\0')
            break;
    }
    if (p->lean && p->code_bytes)
        p->code_bytes -= LEAN_OWN;
    if (!model_complete(p, why, size))
        return false;
    model_name(p, again, sizeof again); /* so that each model has one name */
    return strcmp(again, name) == 0
           || refuse(why, size, "'%s' is not the name of a model; it would be '%s'", name, again);
}

/* ---- files --------------------------------------------------------------------------------- */

/* What a shared object may be a model of: the machine alone, or a board with it. Both interfaces
 * begin with their version. */
struct kind {
    const char *prefix;                    /* of its name */
    const char *symbol;
    uint32_t version;
};
static const struct kind machine = { "", "soc_interface", SOC_VERSION };
static const struct kind board = { "board-", "board_interface", BOARD_VERSION };

static const void *load(const struct kind *kind, const char *file, char *why, size_t size)
{
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    const uint32_t *model = object ? dlsym(object, kind->symbol) : NULL;
    if (model && *model == kind->version)
        return model;
    if (!object)
        refuse(why, size, "%s", dlerror());
    else if (!model)
        refuse(why, size, "%s is not a model: it does not export %s", file, kind->symbol);
    else
        refuse(why, size, "%s is a model of version %" PRIu32 ", not %" PRIu32, file, *model,
               kind->version);
    if (object)
        dlclose(object);
    return NULL;
}

const struct soc_interface *model_load(const char *file, char *why, size_t size)
{
    return load(&machine, file, why, size);
}

const struct board_interface *model_load_board(const char *file, char *why, size_t size)
{
    return load(&board, file, why, size);
}

/* Where things may lie, seen from the directory of the program: of a build tree, of a test in it,
 * installed. */
static const char *const model_places[] = { "sim", "../sim", "../lib/ordeal", NULL };
static const char *const script_places[] = { "sim", "../sim", "../share/ordeal/sim", NULL };

/* The first of them that has the file, in `path`. */
static bool find(const char *const *places, const char *file, char path[PATH_MAX])
{
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n < 0)
        return false;
    program[n] = '\0';
    *strrchr(program, '/') = '\0';
    for (; *places; places++)
        if (snprintf(path, PATH_MAX, "%s/%s/%s", program, *places, file) < PATH_MAX
            && access(path, R_OK) == 0)
            return true;
    return false;
}

bool model_sources(void (*take)(void *user, const char *file), void *user, char *folder,
                   size_t size)
{
    static const char *const kinds[] = { "rtl/*.v",       "rtl/*.vh",  "rtl/*.def",
                                         "rtl/*.h",       "rtl/*.awk", "rtl/lean/*.v",
                                         "sim/soc.*[ph]", "sim/build", "sim/compile" };
    char script[PATH_MAX], real[PATH_MAX], pattern[PATH_MAX + 16];
    glob_t found = { 0 };
    if (!find(script_places, "build", script) || !realpath(script, real))
        return false;
    for (int up = 0; up < 2; up++)
        *strrchr(real, '/') = '\0';
    snprintf(folder, size, "%s", real);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        snprintf(pattern, sizeof pattern, "%s/%s", real, kinds[i]);
        glob(pattern, i ? GLOB_APPEND : 0, NULL, &found);
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        take(user, found.gl_pathv[i]);
    bool some = found.gl_pathc > 0;
    globfree(&found);
    return some;
}

/* Runs the script; its one line of output is the path of the model, "" if `look` is set and it is
 * not there, or why it cannot be built. More about that is on standard error. */
static bool run_script(char *script, bool look, char *name, char path[PATH_MAX], char *why,
                       size_t size)
{
    char option[] = "-c", end[] = "--";
    char *argv[] = { script, look ? option : end, name, NULL };
    posix_spawn_file_actions_t actions;
    int out[2], error, status = -1;
    size_t length = 0;
    ssize_t n;
    pid_t pid;
    if (pipe2(out, O_CLOEXEC) != 0)
        return refuse(why, size, "%s: %s", script, strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    error = posix_spawn(&pid, script, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    while (!error && length < PATH_MAX - 1
           && ((n = read(out[0], path + length, PATH_MAX - 1 - length)) > 0
               || (n < 0 && errno == EINTR)))
        length += n > 0 ? (size_t)n : 0;
    close(out[0]);
    path[length] = '\0';
    path[strcspn(path, "\n")] = '\0';
    while (!error && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (error)
        return refuse(why, size, "%s cannot be started: %s", script, strerror(error));
    return (status == 0 && (*path || look))
        || refuse(why, size, "the model %s could not be built: %s", name,
                  *path ? path : "see above");
}

/* False, with the reason: the directory is not there and cannot be made, or nothing can be put there. */
static bool make_directory(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/", name);
    for (char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        if (mkdir(path, 0777) != 0 && access(path, F_OK) != 0)
            return false;
        *at = '/';
    }
    return access(path, W_OK) == 0;
}

/* The script would say that there is no place; here it is known that one was named, and which. */
static bool place_is_good(char *why, size_t size)
{
    const char *place = getenv("ORDEAL_MODELS");
    return !place || !*place || make_directory(place)
        || refuse(
            why, size,
            "models are kept in '%s', which ORDEAL_MODELS names, and it cannot be written: %s; "
            "name another directory, or unset it",
            place, strerror(errno));
}

/* What lies where nobody named a place is loaded if we made it, or root did. */
static bool is_ours(const char *file, char *why, size_t size)
{
    const char *place = getenv("ORDEAL_MODELS");
    struct stat is;
    return (place && *place)
        || (stat(file, &is) == 0 && (is.st_uid == geteuid() || is.st_uid == 0)
            && !(is.st_mode & S_IWOTH))
        || refuse(why, size,
                  "the model %s was made by another user, or anybody may write to it: remove it, "
                  "or name a folder that you trust by ORDEAL_MODELS",
                  file);
}

static const void *open_named(const struct kind *kind, char *name,
                              void (*tell)(const char *message), char *why, size_t size)
{
    char path[PATH_MAX], script[PATH_MAX], file[MODEL_NAME + 4], message[MODEL_NAME + 64];
    snprintf(file, sizeof file, "%s.so", name);
    if (find(model_places, file, path))
        return load(kind, path, why, size);
    if (!find(script_places, "build", script)) {
        refuse(why, size, "there is no model %s, and no script sim/build to make it", name);
        return NULL;
    }
    if (!run_script(script, true, name, path, why, size))
        return NULL;
    if (*path == '\0') {
        if (!place_is_good(why, size))
            return NULL;
        snprintf(message, sizeof message, "building the model %s, which takes a minute, once",
                 name);
        if (tell)
            tell(message);
        if (!run_script(script, false, name, path, why, size))
            return NULL;
    }
    if (!is_ours(path, why, size))
        return NULL;
    return load(kind, path, why, size);
}

/* Those that were opened. What is built meanwhile keeps nobody waiting. */
struct known {
    char name[MODEL_NAME];
    const void *model;
    struct known *next;
};
static struct known *known;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

static const void *find_known(const char *name)
{
    pthread_mutex_lock(&known_lock);
    struct known *k = known;
    while (k && strcmp(k->name, name) != 0)
        k = k->next;
    pthread_mutex_unlock(&known_lock);
    return k ? k->model : NULL;
}

static bool add_known(const char *name, const void *model)
{
    struct known *k = calloc(1, sizeof *k);
    if (!k)
        return false;
    strcpy(k->name, name);
    k->model = model;
    pthread_mutex_lock(&known_lock);
    k->next = known;
    known = k;
    pthread_mutex_unlock(&known_lock);
    return true;
}

static const void *open_kind(const struct kind *kind, const struct soc_parameters *p,
                             void (*tell)(const char *message), char *why, size_t size)
{
    struct soc_parameters complete = *p;
    char name[MODEL_NAME];
    if (!model_complete(&complete, why, size))
        return NULL;
    size_t n = (size_t)snprintf(name, sizeof name, "%s", kind->prefix);
    model_name(&complete, name + n, sizeof name - n);
    const void *model = find_known(name);
    if (model)
        return model;
    model = open_named(kind, name, tell, why, size);
    if (model && !add_known(name, model)) {
        refuse(why, size, "out of memory");
        return NULL;
    }
    return model;
}

const struct soc_interface *model_open(const struct soc_parameters *p,
                                       void (*tell)(const char *message), char *why, size_t size)
{
    return open_kind(&machine, p, tell, why, size);
}

/* Of several that open together: what is still to do, and how it ends. */
struct opening {
    const struct soc_parameters *p;
    const struct soc_interface **models;
    void (*tell)(const char *message);
    int next, count;
    bool failed;
    char *why;
    size_t size;
    pthread_mutex_t lock;
};

static int next_to_open(struct opening *o)
{
    pthread_mutex_lock(&o->lock);
    int next = o->failed || o->next == o->count ? -1 : o->next++;
    pthread_mutex_unlock(&o->lock);
    return next;
}

static void *open_some(void *user)
{
    struct opening *o = user;
    for (int i; (i = next_to_open(o)) >= 0;) {
        char why[512];
        o->models[i] = model_open(&o->p[i], o->tell, why, sizeof why);
        pthread_mutex_lock(&o->lock);
        if (!o->models[i] && !o->failed)
            o->failed = !refuse(o->why, o->size, "%s", why);
        pthread_mutex_unlock(&o->lock);
    }
    return NULL;
}

bool model_open_all(const struct soc_parameters *p, int count, const struct soc_interface **models,
                    void (*tell)(const char *message), char *why, size_t size)
{
    struct opening o = { .p = p,
                         .models = models,
                         .tell = tell,
                         .count = count,
                         .why = why,
                         .size = size,
                         .lock = PTHREAD_MUTEX_INITIALIZER };
    pthread_t other;
    bool two = count > 1 && pthread_create(&other, NULL, open_some, &o) == 0;
    open_some(&o);
    if (two)
        pthread_join(other, NULL);
    pthread_mutex_destroy(&o.lock);
    return !o.failed;
}

const struct board_interface *model_open_board(const struct soc_parameters *p,
                                               void (*tell)(const char *message), char *why,
                                               size_t size)
{
    return open_kind(&board, p, tell, why, size);
}
