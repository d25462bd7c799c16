/*
 * A libnvidia-ml.so.1 without a GPU. It has the functions that miglab calls, and
 * refuses what drivers refuse: instances that overlap or are at a wrong place, more
 * of a profile than there can be, any with MIG mode off, destroying what is in use
 * or has compute instances. Nothing in it was measured. Geometry and memory are
 * those of the listings in NVIDIA's MIG guide.
 *
 * The environment variable MIGLAB_NVML_STUB names a text file, the state: all
 * processes that have the same file see the same GPUs. Calls lock FILE.lock around
 * every access; a change is one write of less than a page, padded with empty lines, so
 * that who is killed leaves the state before it or after it. What takes time in a
 * driver - making and unmaking GPU instances - holds FILE.driver all the while, so that
 * one thing is done at a time by all processes together (FAR 2.1). An instance exists
 * from the beginning of its creation to the end of its destruction: the worst case for
 * who is killed in between. Lines of the file, a blank between words:
 *
 *   gpu INDEX MODEL UUID CURRENT PENDING
 *       A GPU. MODEL is A30, A100, H100, H100PCIe, H20, RTXPRO6000, L4 and T4 (which have no MIG) or
 *       X1 (which nobody knows); CURRENT and PENDING are its MIG modes, 0 or 1. UUIDs begin with GPU-.
 *   gi GPU ID PROFILE START BUSY
 *       A GPU instance: PROFILE is the driver's number, START a memory slice.
 *       Destroying it says IN_USE another BUSY times.
 *   ci GPU GI ID SLICES
 *       A compute instance. Its UUID follows from GPU, GI and ID.
 *   time create|destroy PROFILE MILLISECONDS
 *       What making or unmaking a GPU instance takes; 0 where no line says so.
 *   busy TIMES
 *       How often destroying a GPU instance says IN_USE after a compute instance of it
 *       was destroyed.
 *   fail FUNCTION SKIP TIMES ERROR
 *       Calls of FUNCTION fail TIMES times, after SKIP calls that do not; TIMES -1 is for
 *       ever. FUNCTION is a name of NVML without version, * for all that have a handle, or
 *       activation for the second result of nvmlDeviceSetMigMode; ERROR is a name of NVML
 *       without NVML_ERROR_.
 *   table PROFILE SLICES LENGTH MEMORY MAX
 *       Another driver's numbers for a profile: compute slices, memory slices, memory in
 *       MiB, count.
 *   driver VERSION
 *   prefix PREFIX
 *       How the UUIDs of MIG devices begin; MIG- where no line says so.
 *
 * A process that has the same MIGLAB_NVML_STUB in its environment and
 * CUDA_VISIBLE_DEVICES=UUID uses the GPU or the MIG device of that UUID as long as it
 * lives; MIGLAB_NVML_STUB_GRAPHICS and MIGLAB_NVML_STUB_MPS make it a graphics process or a
 * client of MPS.
 *
 * Compile with the folder of go-nvml's nvml.h as -I. -DOLD_DRIVER leaves out what
 * drivers before 535 do not have.
 */
#define _GNU_SOURCE
#define NVML_NO_UNVERSIONED_FUNC_DEFS 1
#include "nvml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* A row of a placement table. Bit i of starts stands for memory slice i. */
struct profile {
    unsigned enumerator, id, slices, length, starts, max, memory, multiprocessors;
};

struct model {
    const char *key, *name;
    unsigned memory; /* MiB */
    unsigned slices; /* compute slices; 0: no MIG */
    int reset;       /* a new MIG mode needs a reset, which waits for clients */
    struct profile profiles[8];
};

#define SEVEN(m1, m2, m4, m8, s1, sd, s2, s3, s4, s7)              \
    {                                                              \
        {NVML_GPU_INSTANCE_PROFILE_1_SLICE, 19, 1, 1, 0x7f, 7, m1, s1},      \
        {NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1, 20, 1, 1, 0x7f, 1, m1, s1}, \
        {NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV2, 15, 1, 2, 0x55, 4, m2, sd}, \
        {NVML_GPU_INSTANCE_PROFILE_2_SLICE, 14, 2, 2, 0x15, 3, m2, s2},      \
        {NVML_GPU_INSTANCE_PROFILE_3_SLICE, 9, 3, 4, 0x11, 2, m4, s3},       \
        {NVML_GPU_INSTANCE_PROFILE_4_SLICE, 5, 4, 4, 0x01, 1, m4, s4},       \
        {NVML_GPU_INSTANCE_PROFILE_7_SLICE, 0, 7, 8, 0x01, 1, m8, s7},       \
    }

static const struct model models[] = {
    {"A100", "NVIDIA A100-SXM4-40GB", 40960, 7, 1, SEVEN(4864, 9856, 19968, 40192, 14, 14, 28, 42, 56, 98)},
    {"H100", "NVIDIA H100 80GB HBM3", 81559, 7, 0, SEVEN(9984, 20096, 40448, 81152, 16, 26, 32, 60, 64, 132)},
    {"A30", "NVIDIA A30", 24576, 4, 1, {
        {NVML_GPU_INSTANCE_PROFILE_1_SLICE, 14, 1, 1, 0x0f, 4, 5952, 14},
        {NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1, 21, 1, 1, 0x0f, 1, 5952, 14},
        {NVML_GPU_INSTANCE_PROFILE_2_SLICE, 5, 2, 2, 0x05, 2, 11968, 28},
        {NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1, 6, 2, 2, 0x05, 1, 11968, 28},
        {NVML_GPU_INSTANCE_PROFILE_4_SLICE, 0, 4, 4, 0x01, 1, 24000, 56},
    }},
    {"L4", "NVIDIA L4", 23034, 0, 0, {{0}}},
    {"T4", "Tesla T4", 15360, 0, 0, {{0}}},
    {"H200", "NVIDIA H200", 143771, 7, 0, SEVEN(17664, 35584, 71424, 143104, 16, 26, 32, 60, 64, 132)},
    /* The profiles of the next ones are inferred from their numbers of multiprocessors and from the names that NVIDIA's
     * MIG guide lists; we have no listing of a driver. */
    {"H100PCIe", "NVIDIA H100 PCIe", 81559, 7, 0, SEVEN(9984, 20096, 40448, 81152, 14, 26, 30, 54, 56, 114)},
    {"H20", "NVIDIA H20", 97871, 7, 0, SEVEN(12032, 24192, 48512, 97280, 8, 16, 18, 34, 36, 78)},
    {"H100NVL", "NVIDIA H100 NVL", 95830, 7, 0, SEVEN(11776, 23680, 47616, 95488, 16, 26, 32, 60, 64, 132)},
    {"GH200", "NVIDIA GH200 480GB", 97871, 7, 0, SEVEN(12032, 24192, 48512, 97280, 16, 26, 32, 60, 64, 132)},
    {"H800", "NVIDIA H800", 81559, 7, 0, SEVEN(9984, 20096, 40448, 81152, 16, 26, 32, 60, 64, 132)},
    {"A800", "NVIDIA A800-SXM4-80GB", 81920, 7, 1, SEVEN(9856, 19968, 40192, 80896, 14, 14, 28, 42, 56, 98)},
    {"B300", "NVIDIA B300 SXM6 AC", 275040, 7, 0, SEVEN(34304, 68736, 137344, 274688, 18, 34, 36, 70, 72, 148)},
    {"RTXPRO6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, 4, 0, {
        {NVML_GPU_INSTANCE_PROFILE_1_SLICE, 14, 1, 1, 0x0f, 4, 24192, 46},
        {NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1, 21, 1, 1, 0x0f, 1, 24192, 46},
        {NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX, 47, 1, 1, 0x0f, 4, 24192, 46},
        {NVML_GPU_INSTANCE_PROFILE_2_SLICE, 5, 2, 2, 0x05, 2, 48512, 94},
        {NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1, 6, 2, 2, 0x05, 1, 48512, 94},
        {NVML_GPU_INSTANCE_PROFILE_2_SLICE_GFX, 35, 2, 2, 0x05, 2, 48512, 94},
        {NVML_GPU_INSTANCE_PROFILE_4_SLICE, 0, 4, 4, 0x01, 1, 97280, 188},
        {NVML_GPU_INSTANCE_PROFILE_4_SLICE_GFX, 32, 4, 4, 0x01, 1, 97280, 188},
    }},
    {"X1", "NVIDIA X1 of tomorrow", 40960, 7, 1, SEVEN(4864, 9856, 19968, 40192, 14, 14, 28, 42, 56, 98)},
};

enum { MAX_GPUS = 8, MAX_INSTANCES = 32, MAX_COMPUTE = 64, MAX_RULES = 64 };

struct gpu { unsigned index; char key[16], uuid[64]; unsigned mig, pending; const struct model *model; };
struct gi { unsigned gpu, id, profile, start, busy; };
struct ci { unsigned gpu, gi, id, slices; };
struct timing { char op[8]; unsigned profile, ms; };
struct fault { char function[64]; unsigned skip; int times; char error[40]; };
struct override { unsigned profile, slices, length, memory, max; };

struct state {
    int lock, fd;
    size_t size; /* of the file */
    char driver[64], prefix[8];
    unsigned busy;
    unsigned gpus, gis, cis, timings, faults, overrides;
    struct gpu gpu[MAX_GPUS];
    struct gi gi[MAX_INSTANCES];
    struct ci ci[MAX_COMPUTE];
    struct timing timing[MAX_RULES];
    struct fault fault[MAX_RULES];
    struct override override[MAX_RULES];
};

/* The test is wrong: nothing sensible can go on. */
static void fatal(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("NVML stub: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

static const char *file(void) {
    const char *f = getenv("MIGLAB_NVML_STUB");
    if (f == NULL) fatal("MIGLAB_NVML_STUB names no state");
    return f;
}

static int lock(const char *suffix) {
    char path[4096];
    snprintf(path, sizeof path, "%s%s", file(), suffix);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) fatal("%s: %s", path, strerror(errno));
    while (flock(fd, LOCK_EX) != 0)
        if (errno != EINTR) fatal("%s: %s", path, strerror(errno));
    return fd;
}

/* One more element of an array of the state. */
#define MORE(array, count) ((count) < sizeof(array) / sizeof *(array) ? &(array)[(count)++] : (fatal("too many lines"), (array)))

static void parse(struct state *s, const char *line) {
    char kind[16] = "";
    int ok = 0;
    sscanf(line, "%15s", kind);
    if (kind[0] == '\0' || kind[0] == '#') {
        ok = 1;
    } else if (strcmp(kind, "gpu") == 0) {
        struct gpu *g = MORE(s->gpu, s->gpus);
        ok = sscanf(line, "gpu %u %15s %63s %u %u", &g->index, g->key, g->uuid, &g->mig, &g->pending) == 5 && g->index == s->gpus - 1;
        for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
            if (strcmp(models[i].key, g->key) == 0) g->model = &models[i];
        ok = ok && g->model != NULL;
    } else if (strcmp(kind, "gi") == 0) {
        struct gi *g = MORE(s->gi, s->gis);
        ok = sscanf(line, "gi %u %u %u %u %u", &g->gpu, &g->id, &g->profile, &g->start, &g->busy) == 5;
    } else if (strcmp(kind, "ci") == 0) {
        struct ci *c = MORE(s->ci, s->cis);
        ok = sscanf(line, "ci %u %u %u %u", &c->gpu, &c->gi, &c->id, &c->slices) == 4;
    } else if (strcmp(kind, "time") == 0) {
        struct timing *t = MORE(s->timing, s->timings);
        ok = sscanf(line, "time %7s %u %u", t->op, &t->profile, &t->ms) == 3;
    } else if (strcmp(kind, "fail") == 0) {
        struct fault *f = MORE(s->fault, s->faults);
        ok = sscanf(line, "fail %63s %u %d %39s", f->function, &f->skip, &f->times, f->error) == 4;
    } else if (strcmp(kind, "table") == 0) {
        struct override *o = MORE(s->override, s->overrides);
        ok = sscanf(line, "table %u %u %u %u %u", &o->profile, &o->slices, &o->length, &o->memory, &o->max) == 5;
    } else if (strcmp(kind, "busy") == 0) {
        ok = sscanf(line, "busy %u", &s->busy) == 1;
    } else if (strcmp(kind, "driver") == 0) {
        ok = sscanf(line, "driver %63s", s->driver) == 1;
    } else if (strcmp(kind, "prefix") == 0) {
        ok = sscanf(line, "prefix %7s", s->prefix) == 1;
    }
    if (!ok) fatal("%s: not understood: %s", file(), line);
}

static void load(struct state *s) {
    char text[1 << 14], *rest = text;
    memset(s, 0, sizeof *s);
    strcpy(s->driver, "550.54.15");
    strcpy(s->prefix, "MIG-");
    s->lock = lock(".lock");
    s->fd = open(file(), O_RDWR | O_CLOEXEC);
    ssize_t n = s->fd < 0 ? -1 : read(s->fd, text, sizeof text - 1);
    if (n < 0) fatal("%s: %s", file(), strerror(errno));
    if (n == sizeof text - 1) fatal("%s: too large", file());
    text[n] = '\0';
    s->size = n;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) parse(s, line);
}

/* A text that grows. */
struct text { char bytes[1 << 14]; size_t size; };

static void append(struct text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    t->size += vsnprintf(t->bytes + t->size, sizeof t->bytes - t->size, format, args);
    va_end(args);
    if (t->size >= sizeof t->bytes) fatal("%s: too large", file());
}

static void save(struct state *s) {
    struct text t = {.size = 0};
    append(&t, "driver %s\nprefix %s\nbusy %u\n", s->driver, s->prefix, s->busy);
    for (unsigned i = 0; i < s->gpus; i++) {
        const struct gpu *g = &s->gpu[i];
        append(&t, "gpu %u %s %s %u %u\n", g->index, g->key, g->uuid, g->mig, g->pending);
    }
    for (unsigned i = 0; i < s->gis; i++) {
        const struct gi *g = &s->gi[i];
        append(&t, "gi %u %u %u %u %u\n", g->gpu, g->id, g->profile, g->start, g->busy);
    }
    for (unsigned i = 0; i < s->cis; i++) {
        const struct ci *c = &s->ci[i];
        append(&t, "ci %u %u %u %u\n", c->gpu, c->gi, c->id, c->slices);
    }
    for (unsigned i = 0; i < s->timings; i++)
        append(&t, "time %s %u %u\n", s->timing[i].op, s->timing[i].profile, s->timing[i].ms);
    for (unsigned i = 0; i < s->faults; i++)
        append(&t, "fail %s %u %d %s\n", s->fault[i].function, s->fault[i].skip, s->fault[i].times, s->fault[i].error);
    for (unsigned i = 0; i < s->overrides; i++) {
        const struct override *o = &s->override[i];
        append(&t, "table %u %u %u %u %u\n", o->profile, o->slices, o->length, o->memory, o->max);
    }
    while (t.size < s->size) append(&t, "\n");
    s->size = t.size;
    if (pwrite(s->fd, t.bytes, t.size, 0) != (ssize_t)t.size) fatal("%s: %s", file(), strerror(errno));
}

static const struct { const char *name; nvmlReturn_t code; } errors[] = {
    {"UNINITIALIZED", NVML_ERROR_UNINITIALIZED}, {"INVALID_ARGUMENT", NVML_ERROR_INVALID_ARGUMENT},
    {"NOT_SUPPORTED", NVML_ERROR_NOT_SUPPORTED}, {"NO_PERMISSION", NVML_ERROR_NO_PERMISSION},
    {"NOT_FOUND", NVML_ERROR_NOT_FOUND}, {"INSUFFICIENT_SIZE", NVML_ERROR_INSUFFICIENT_SIZE},
    {"DRIVER_NOT_LOADED", NVML_ERROR_DRIVER_NOT_LOADED}, {"TIMEOUT", NVML_ERROR_TIMEOUT},
    {"FUNCTION_NOT_FOUND", NVML_ERROR_FUNCTION_NOT_FOUND}, {"GPU_IS_LOST", NVML_ERROR_GPU_IS_LOST},
    {"RESET_REQUIRED", NVML_ERROR_RESET_REQUIRED}, {"OPERATING_SYSTEM", NVML_ERROR_OPERATING_SYSTEM},
    {"LIB_RM_VERSION_MISMATCH", NVML_ERROR_LIB_RM_VERSION_MISMATCH}, {"IN_USE", NVML_ERROR_IN_USE},
    {"INSUFFICIENT_RESOURCES", NVML_ERROR_INSUFFICIENT_RESOURCES}, {"UNKNOWN", NVML_ERROR_UNKNOWN},
};

/* What the faults want of a call; counts it. */
static nvmlReturn_t injected(struct state *s, const char *function, int handle) {
    for (unsigned i = 0; i < s->faults; i++) {
        struct fault *f = &s->fault[i];
        size_t n = strlen(f->function);
        int named = strncmp(function, f->function, n) == 0 && (function[n] == '\0' || strncmp(function + n, "_v", 2) == 0);
        if (f->times == 0 || !(named || (handle && strcmp(f->function, "*") == 0))) continue;
        if (f->skip > 0) {
            f->skip--;
            save(s);
            continue;
        }
        if (f->times > 0) f->times--;
        save(s);
        for (unsigned j = 0; j < sizeof errors / sizeof *errors; j++)
            if (strcmp(errors[j].name, f->error) == 0) return errors[j].code;
        fatal("%s: unknown error %s", file(), f->error);
    }
    return NVML_SUCCESS;
}

static nvmlReturn_t leave(struct state *s, nvmlReturn_t r) {
    close(s->fd);
    close(s->lock);
    return r;
}

/* Begins a function: s is the state, locked, until it is left by leave(). */
#define ENTER(handle)                                        \
    struct state state, *s = &state;                         \
    load(s);                                                 \
    do {                                                     \
        nvmlReturn_t fault = injected(s, __func__, handle);  \
        if (fault != NVML_SUCCESS) return leave(s, fault);   \
    } while (0)

/* Handles point into an array that nobody reads; where to is what they stand for. */
enum kind { GPU, MIG_DEVICE, GPU_INSTANCE, COMPUTE_INSTANCE };
static char handles[4 * MAX_GPUS * 32 * 8 + 1];

static void *encode(enum kind kind, unsigned gpu, unsigned gi, unsigned ci) {
    return &handles[1 + ((kind * MAX_GPUS + gpu) * 32 + gi) * 8 + ci];
}

/* What a handle stands for; NULL where it is of another kind, or that is gone. */
static int decode(struct state *s, const void *handle, enum kind kind, struct gpu **gpu, struct gi **gi, struct ci **ci) {
    long n = (const char *)handle - handles - 1;
    if (n < 0 || n >= (long)sizeof handles - 1 || n / (MAX_GPUS * 32 * 8) != (long)kind) return 0;
    unsigned c = n % 8, i = n / 8 % 32, g = n / 8 / 32 % MAX_GPUS;
    if (g >= s->gpus) return 0;
    *gpu = &s->gpu[g];
    if (kind == GPU) return 1;
    *gi = NULL;
    for (unsigned k = 0; k < s->gis; k++)
        if (s->gi[k].gpu == g && s->gi[k].id == i) *gi = &s->gi[k];
    if (*gi == NULL || kind == GPU_INSTANCE) return *gi != NULL;
    *ci = NULL;
    for (unsigned k = 0; k < s->cis; k++)
        if (s->ci[k].gpu == g && s->ci[k].gi == i && s->ci[k].id == c) *ci = &s->ci[k];
    return *ci != NULL;
}

/* Begins a function of a handle. */
#define ENTER_HANDLE(h, kind)                                \
    struct gpu *gpu = NULL;                                  \
    struct gi *gi = NULL;                                    \
    struct ci *ci = NULL;                                    \
    ENTER(1);                                                \
    if (!decode(s, (h).handle, kind, &gpu, &gi, &ci)) return leave(s, NVML_ERROR_INVALID_ARGUMENT); \
    (void)gpu, (void)gi, (void)ci

/* The UUID of a compute instance's MIG device: the same for the same numbers. */
static void mig_uuid(const struct state *s, const struct ci *ci, char out[64]) {
    char name[128];
    snprintf(name, sizeof name, "%s/%u/%u", s->gpu[ci->gpu].uuid, ci->gi, ci->id);
    unsigned long long h[2] = {14695981039346656037ULL, 1099511628211ULL};
    for (int half = 0; half < 2; half++)
        for (const char *c = name; *c != '\0'; c++) h[half] = (h[half] ^ (unsigned char)*c) * 1099511628211ULL;
    snprintf(out, 64, "%s%08llx-%04llx-%04llx-%04llx-%012llx", s->prefix, h[0] >> 32, h[0] >> 16 & 0xffff, h[0] & 0xffff,
             h[1] >> 48, h[1] & 0xffffffffffffULL);
}

/* In what ways a process can use a GPU or a MIG device. */
enum { COMPUTE = 1, GRAPHICS = 2, MPS = 4 };
static const struct { int way; const char *variable; } ways[] = {
    {COMPUTE, "CUDA_VISIBLE_DEVICES="}, {GRAPHICS, "MIGLAB_NVML_STUB_GRAPHICS="}, {MPS, "MIGLAB_NVML_STUB_MPS="},
};

/* Whether an environment, size bytes of strings, has NAME= with the value. */
static int has(const char *environment, size_t size, const char *name, const char *value) {
    size_t n = strlen(name);
    for (const char *v = environment; v < environment + size; v += strlen(v) + 1)
        if (strncmp(v, name, n) == 0 && strcmp(v + n, value) == 0) return 1;
    return 0;
}

/* Collects the processes that use what has the UUID; returns how many there are. */
static unsigned users(const char *uuid, int in, unsigned *pids, unsigned max) {
    unsigned n = 0;
    DIR *proc = opendir("/proc");
    if (proc == NULL) fatal("/proc: %s", strerror(errno));
    for (struct dirent *e; (e = readdir(proc)) != NULL;) {
        unsigned pid = strtoul(e->d_name, NULL, 10);
        if (pid == 0) continue;
        char path[64], text[1 << 16];
        snprintf(path, sizeof path, "/proc/%u/environ", pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue;
        size_t got = 0;
        for (ssize_t r; got < sizeof text - 1 && (r = read(fd, text + got, sizeof text - 1 - got)) > 0;) got += r;
        close(fd);
        text[got] = '\0';
        int uses = 0;
        for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
            uses |= in & ways[i].way && has(text, got, ways[i].variable, uuid);
        if (!uses || !has(text, got, "MIGLAB_NVML_STUB=", file())) continue;
        if (n < max) pids[n] = pid;
        n++;
    }
    closedir(proc);
    return n;
}

static int used(const char *uuid) { return users(uuid, COMPUTE | GRAPHICS | MPS, NULL, 0) > 0; }

/* The row of a profile, with what the state says otherwise; 0 where there is none. */
static int row(const struct state *s, const struct gpu *g, unsigned id, struct profile *out) {
    for (unsigned i = 0; i < 8 && g->model->profiles[i].length > 0; i++) {
        if (g->model->profiles[i].id != id) continue;
        *out = g->model->profiles[i];
        for (unsigned j = 0; j < s->overrides; j++) {
            if (s->override[j].profile != id) continue;
            out->slices = s->override[j].slices;
            out->length = s->override[j].length;
            out->memory = s->override[j].memory;
            out->max = s->override[j].max;
        }
        return 1;
    }
    return 0;
}

/* Sleeps what an operation takes, counted from its beginning. */
static void take(struct timespec from, unsigned ms) {
    from.tv_nsec += (long)(ms % 1000) * 1000000;
    from.tv_sec += ms / 1000 + from.tv_nsec / 1000000000;
    from.tv_nsec %= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &from, NULL) == EINTR) {}
}

static unsigned duration(const struct state *s, const char *op, unsigned profile) {
    for (unsigned i = 0; i < s->timings; i++)
        if (s->timing[i].profile == profile && strcmp(s->timing[i].op, op) == 0) return s->timing[i].ms;
    return 0;
}

/* ---- The library ---- */

nvmlReturn_t nvmlInit_v2(void) {
    ENTER(0);
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlShutdown(void) { return NVML_SUCCESS; }

const char *nvmlErrorString(nvmlReturn_t r) {
    for (unsigned j = 0; j < sizeof errors / sizeof *errors; j++)
        if (errors[j].code == r) return errors[j].name;
    return r == NVML_SUCCESS ? "Success" : "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length) {
    ENTER(0);
    snprintf(version, length, "%s", s->driver);
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count) {
    ENTER(0);
    *count = s->gpus;
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device) {
    ENTER(0);
    if (index >= s->gpus) return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    device->handle = encode(GPU, index, 0, 0);
    return leave(s, NVML_SUCCESS);
}

/* ---- GPUs ---- */

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length) {
    ENTER_HANDLE(device, GPU);
    snprintf(name, length, "%s", gpu->model->name);
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length) {
    struct gpu *gpu = NULL;
    struct gi *gi = NULL;
    struct ci *ci = NULL;
    char text[64];
    ENTER(1);
    if (decode(s, device.handle, GPU, &gpu, &gi, &ci))
        strcpy(text, gpu->uuid);
    else if (decode(s, device.handle, MIG_DEVICE, &gpu, &gi, &ci))
        mig_uuid(s, ci, text);
    else
        return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    snprintf(uuid, length, "%s", text);
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    ENTER_HANDLE(device, GPU);
    memory->total = (unsigned long long)gpu->model->memory << 20;
    memory->used = 0;
    memory->free = memory->total;
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned *clock) {
    ENTER_HANDLE(device, GPU);
    *clock = type == NVML_CLOCK_MEM ? 1215 : 1410;
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned *temperature) {
    ENTER_HANDLE(device, GPU);
    *temperature = 31;
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned *limit) {
    ENTER_HANDLE(device, GPU);
    *limit = 400000;
    return leave(s, NVML_SUCCESS);
}

/* A handle of a GPU is asked for its own processes, one of a MIG device for that one's:
 * the aggregate that drivers give privileged users of a GPU's handle is not given. */
static unsigned processes(struct state *s, nvmlDevice_t device, int in, unsigned *pids, unsigned max) {
    struct gpu *gpu = NULL;
    struct gi *gi = NULL;
    struct ci *ci = NULL;
    char uuid[64];
    if (decode(s, device.handle, GPU, &gpu, &gi, &ci))
        strcpy(uuid, gpu->uuid);
    else if (decode(s, device.handle, MIG_DEVICE, &gpu, &gi, &ci))
        mig_uuid(s, ci, uuid);
    else
        return 0;
    return users(uuid, in, pids, max);
}

#define PROCESSES(function, type, in)                                                        \
    nvmlReturn_t function(nvmlDevice_t device, unsigned *count, type *infos) {               \
        unsigned pids[256];                                                                  \
        ENTER(1);                                                                            \
        unsigned n = processes(s, device, in, pids, 256), max = *count;                      \
        *count = n;                                                                          \
        if (n > max) return leave(s, NVML_ERROR_INSUFFICIENT_SIZE);                          \
        for (unsigned i = 0; i < n; i++) infos[i] = (type){.pid = pids[i]};                  \
        return leave(s, NVML_SUCCESS);                                                       \
    }

PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t, COMPUTE)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t, GRAPHICS)
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t, MPS)

/* ---- MIG ---- */

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned *current, unsigned *pending) {
    ENTER_HANDLE(device, GPU);
    if (gpu->model->slices == 0) return leave(s, NVML_ERROR_NOT_SUPPORTED);
    *current = gpu->mig;
    *pending = gpu->pending;
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned mode, nvmlReturn_t *activation) {
    ENTER_HANDLE(device, GPU);
    if (gpu->model->slices == 0) return leave(s, NVML_ERROR_NOT_SUPPORTED);
    if (mode > 1) return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    for (unsigned i = 0; i < s->gis; i++)
        if (s->gi[i].gpu == gpu->index && mode == 0) return leave(s, NVML_ERROR_IN_USE);
    *activation = injected(s, "activation", 0);
    if (*activation == NVML_SUCCESS && gpu->model->reset && gpu->mig != mode && used(gpu->uuid)) *activation = NVML_ERROR_IN_USE;
    if (*activation == NVML_SUCCESS) gpu->mig = mode;
    gpu->pending = mode;
    save(s);
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned profile, nvmlGpuInstanceProfileInfo_t *info) {
    ENTER_HANDLE(device, GPU);
    if (profile >= NVML_GPU_INSTANCE_PROFILE_COUNT) return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    for (unsigned i = 0; i < 8; i++) {
        struct profile p = gpu->model->profiles[i];
        if (p.length == 0 || p.enumerator != profile) continue;
        row(s, gpu, p.id, &p);
        *info = (nvmlGpuInstanceProfileInfo_t){.id = p.id, .sliceCount = p.slices, .instanceCount = p.max,
            .multiprocessorCount = p.multiprocessors, .memorySizeMB = p.memory};
        return leave(s, NVML_SUCCESS);
    }
    return leave(s, NVML_ERROR_NOT_SUPPORTED);
}

static nvmlReturn_t placements(struct state *s, struct gpu *gpu, unsigned id, nvmlGpuInstancePlacement_t *out, unsigned *count) {
    struct profile p;
    if (!row(s, gpu, id, &p)) return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    for (unsigned start = 0; start < 8; start++) {
        if ((p.starts >> start & 1) == 0) continue;
        if (out != NULL) out[*count] = (nvmlGpuInstancePlacement_t){.start = start, .size = p.length};
        ++*count;
    }
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t device, unsigned id, nvmlGpuInstancePlacement_t *out, unsigned *count) {
    ENTER_HANDLE(device, GPU);
    return leave(s, placements(s, gpu, id, out, count));
}

/* The number that a driver gives an instance: the lowest one that is free from where
 * its size begins. */
static unsigned number(const struct state *s, const struct gpu *g, const struct profile *p) {
    unsigned id = p->slices == g->model->slices ? 0 : p->slices >= 3 ? 1 : p->slices == 2 ? 3 : 7;
    for (unsigned i = 0; i < s->gis; i++)
        if (s->gi[i].gpu == g->index && s->gi[i].id == id) id++, i = -1;
    return id;
}

static nvmlReturn_t admit(struct state *s, struct gpu *gpu, unsigned id, const nvmlGpuInstancePlacement_t *at, struct profile *p) {
    if (!gpu->mig) return NVML_ERROR_NOT_SUPPORTED;
    if (!row(s, gpu, id, p) || at->start >= 8 || (p->starts >> at->start & 1) == 0 || at->size != p->length)
        return NVML_ERROR_INVALID_ARGUMENT;
    unsigned same = 0;
    for (unsigned i = 0; i < s->gis; i++) {
        struct profile other;
        if (s->gi[i].gpu != gpu->index || !row(s, gpu, s->gi[i].profile, &other)) continue;
        same += other.id == id;
        if (at->start < s->gi[i].start + other.length && s->gi[i].start < at->start + p->length)
            return NVML_ERROR_INSUFFICIENT_RESOURCES;
    }
    return same < p->max ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_RESOURCES;
}

static nvmlReturn_t create(nvmlDevice_t device, unsigned id, const nvmlGpuInstancePlacement_t *at, nvmlGpuInstance_t *out, unsigned *ms,
                           const char *function) {
    struct gpu *gpu = NULL;
    struct gi *gi = NULL;
    struct ci *ci = NULL;
    struct profile p;
    struct state state, *s = &state;
    load(s);
    nvmlReturn_t r = injected(s, function, 1);
    if (r == NVML_SUCCESS && !decode(s, device.handle, GPU, &gpu, &gi, &ci)) r = NVML_ERROR_INVALID_ARGUMENT;
    if (r == NVML_SUCCESS) r = admit(s, gpu, id, at, &p);
    if (r != NVML_SUCCESS) return leave(s, r);
    struct gi made = {gpu->index, number(s, gpu, &p), id, at->start, 0};
    *MORE(s->gi, s->gis) = made;
    save(s);
    out->handle = encode(GPU_INSTANCE, made.gpu, made.id, 0);
    *ms = duration(s, "create", id);
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceCreateGpuInstanceWithPlacement(nvmlDevice_t device, unsigned id, const nvmlGpuInstancePlacement_t *at, nvmlGpuInstance_t *out) {
    struct timespec begin;
    unsigned ms = 0;
    int driver = lock(".driver");
    clock_gettime(CLOCK_MONOTONIC, &begin);
    nvmlReturn_t r = create(device, id, at, out, &ms, __func__);
    if (r == NVML_SUCCESS) take(begin, ms);
    close(driver);
    return r;
}

/* Takes what is at i out of an array of n. */
#define REMOVE(array, n, i) memmove(&(array)[i], &(array)[(i) + 1], (--(n) - (i)) * sizeof *(array))

static nvmlReturn_t destroy(nvmlGpuInstance_t instance, int end, unsigned *ms, const char *function) {
    struct gpu *gpu = NULL;
    struct gi *gi = NULL;
    struct ci *ci = NULL;
    struct state state, *s = &state;
    load(s);
    nvmlReturn_t r = end ? NVML_SUCCESS : injected(s, function, 1);
    if (r != NVML_SUCCESS) return leave(s, r);
    if (!decode(s, instance.handle, GPU_INSTANCE, &gpu, &gi, &ci)) return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    for (unsigned i = 0; i < s->cis; i++)
        if (s->ci[i].gpu == gi->gpu && s->ci[i].gi == gi->id) return leave(s, NVML_ERROR_IN_USE);
    if (end) {
        REMOVE(s->gi, s->gis, (unsigned)(gi - s->gi));
    } else if (gi->busy > 0) {
        gi->busy--;
        r = NVML_ERROR_IN_USE;
    } else {
        *ms = duration(s, "destroy", gi->profile);
    }
    save(s);
    return leave(s, r);
}

nvmlReturn_t nvmlGpuInstanceDestroy(nvmlGpuInstance_t instance) {
    struct timespec begin;
    unsigned ms = 0;
    int driver = lock(".driver");
    clock_gettime(CLOCK_MONOTONIC, &begin);
    nvmlReturn_t r = destroy(instance, 0, &ms, __func__);
    if (r == NVML_SUCCESS) {
        take(begin, ms);
        r = destroy(instance, 1, &ms, __func__);
    }
    close(driver);
    return r;
}

nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device, unsigned id, nvmlGpuInstance_t *out, unsigned *count) {
    struct profile p;
    ENTER_HANDLE(device, GPU);
    if (!gpu->mig) return leave(s, NVML_ERROR_NOT_SUPPORTED);
    if (!row(s, gpu, id, &p)) return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    *count = 0;
    for (unsigned i = 0; i < s->gis; i++)
        if (s->gi[i].gpu == gpu->index && s->gi[i].profile == id)
            out[(*count)++].handle = encode(GPU_INSTANCE, gpu->index, s->gi[i].id, 0);
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned id, nvmlGpuInstance_t *out) {
    ENTER_HANDLE(device, GPU);
    if (!gpu->mig) return leave(s, NVML_ERROR_NOT_SUPPORTED);
    for (unsigned i = 0; i < s->gis; i++) {
        if (s->gi[i].gpu != gpu->index || s->gi[i].id != id) continue;
        out->handle = encode(GPU_INSTANCE, gpu->index, id, 0);
        return leave(s, NVML_SUCCESS);
    }
    return leave(s, NVML_ERROR_NOT_FOUND);
}

nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t instance, nvmlGpuInstanceInfo_t *info) {
    struct profile p;
    ENTER_HANDLE(instance, GPU_INSTANCE);
    if (!row(s, gpu, gi->profile, &p)) fatal("instance of profile %u, which %s does not have", gi->profile, gpu->key);
    *info = (nvmlGpuInstanceInfo_t){.device = {encode(GPU, gpu->index, 0, 0)}, .id = gi->id, .profileId = gi->profile,
        .placement = {.start = gi->start, .size = p.length}};
    return leave(s, NVML_SUCCESS);
}

/* ---- Compute instances ---- */

static const unsigned compute_slices[NVML_COMPUTE_INSTANCE_PROFILE_COUNT] = {1, 2, 3, 4, 7};

/* The slices of a compute instance profile of a GPU instance; 0 where it has none such. */
static unsigned compute(const struct state *s, const struct gpu *g, const struct gi *gi, unsigned profile, unsigned *whole, unsigned *sms) {
    struct profile p;
    if (!row(s, g, gi->profile, &p)) fatal("instance of profile %u, which %s does not have", gi->profile, g->key);
    *whole = p.slices;
    *sms = p.multiprocessors;
    unsigned n = compute_slices[profile];
    return n <= p.slices && !(n == 3 && p.slices == 4) ? n : 0;
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t instance, unsigned profile, unsigned engine, nvmlComputeInstanceProfileInfo_t *info) {
    unsigned whole, sms;
    ENTER_HANDLE(instance, GPU_INSTANCE);
    if (profile >= NVML_COMPUTE_INSTANCE_PROFILE_COUNT || engine != NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED)
        return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    unsigned n = compute(s, gpu, gi, profile, &whole, &sms);
    if (n == 0) return leave(s, NVML_ERROR_NOT_SUPPORTED);
    *info = (nvmlComputeInstanceProfileInfo_t){.id = profile, .sliceCount = n, .instanceCount = whole / n,
        .multiprocessorCount = sms * n / whole};
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlGpuInstanceCreateComputeInstance(nvmlGpuInstance_t instance, unsigned profile, nvmlComputeInstance_t *out) {
    unsigned whole, sms, taken = 0, id = 0;
    ENTER_HANDLE(instance, GPU_INSTANCE);
    if (profile >= NVML_COMPUTE_INSTANCE_PROFILE_COUNT) return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    unsigned n = compute(s, gpu, gi, profile, &whole, &sms);
    if (n == 0) return leave(s, NVML_ERROR_NOT_SUPPORTED);
    for (unsigned i = 0; i < s->cis; i++)
        if (s->ci[i].gpu == gi->gpu && s->ci[i].gi == gi->id) taken += s->ci[i].slices;
    if (taken + n > whole) return leave(s, NVML_ERROR_INSUFFICIENT_RESOURCES);
    for (unsigned i = 0; i < s->cis; i++)
        if (s->ci[i].gpu == gi->gpu && s->ci[i].gi == gi->id && s->ci[i].id == id) id++, i = -1;
    *MORE(s->ci, s->cis) = (struct ci){gi->gpu, gi->id, id, n};
    save(s);
    out->handle = encode(COMPUTE_INSTANCE, gi->gpu, gi->id, id);
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlComputeInstanceDestroy(nvmlComputeInstance_t instance) {
    char uuid[64];
    ENTER_HANDLE(instance, COMPUTE_INSTANCE);
    mig_uuid(s, ci, uuid);
    if (used(uuid)) return leave(s, NVML_ERROR_IN_USE);
    REMOVE(s->ci, s->cis, (unsigned)(ci - s->ci));
    gi->busy = s->busy;
    save(s);
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t instance, unsigned profile, nvmlComputeInstance_t *out, unsigned *count) {
    unsigned whole, sms;
    ENTER_HANDLE(instance, GPU_INSTANCE);
    if (profile >= NVML_COMPUTE_INSTANCE_PROFILE_COUNT) return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    unsigned n = compute(s, gpu, gi, profile, &whole, &sms);
    if (n == 0) return leave(s, NVML_ERROR_NOT_SUPPORTED);
    *count = 0;
    for (unsigned i = 0; i < s->cis; i++)
        if (s->ci[i].gpu == gi->gpu && s->ci[i].gi == gi->id && s->ci[i].slices == n)
            out[(*count)++].handle = encode(COMPUTE_INSTANCE, gi->gpu, gi->id, s->ci[i].id);
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t instance, nvmlComputeInstanceInfo_t *info) {
    ENTER_HANDLE(instance, COMPUTE_INSTANCE);
    /* The device is the parent, as nvml.h says, and not the MIG device. */
    *info = (nvmlComputeInstanceInfo_t){.device = {encode(GPU, ci->gpu, 0, 0)},
        .gpuInstance = {encode(GPU_INSTANCE, ci->gpu, ci->gi, 0)}, .id = ci->id};
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned *id) {
    ENTER_HANDLE(device, MIG_DEVICE);
    *id = gi->id;
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned *id) {
    ENTER_HANDLE(device, MIG_DEVICE);
    *id = ci->id;
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes) {
    struct profile p;
    ENTER_HANDLE(device, MIG_DEVICE);
    if (!row(s, gpu, gi->profile, &p)) fatal("instance of profile %u, which %s does not have", gi->profile, gpu->key);
    *attributes = (nvmlDeviceAttributes_t){.multiprocessorCount = p.multiprocessors * ci->slices / p.slices,
        .gpuInstanceSliceCount = p.slices, .computeInstanceSliceCount = ci->slices, .memorySizeMB = p.memory};
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned *count) {
    ENTER_HANDLE(device, GPU);
    *count = gpu->mig ? gpu->model->slices : 0;
    return leave(s, NVML_SUCCESS);
}

/* MIG devices are numbered by the first slice of their GPU instance, from the last one down:
 * there are numbers without a device, and neither the order of creation nor that of the
 * instances' numbers holds. */
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned index, nvmlDevice_t *out) {
    ENTER_HANDLE(device, GPU);
    if (!gpu->mig) return leave(s, NVML_ERROR_NOT_SUPPORTED);
    if (index >= gpu->model->slices) return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    for (unsigned i = 0; i < s->cis; i++) {
        for (unsigned j = 0; j < s->gis; j++) {
            if (s->ci[i].gpu != gpu->index || s->gi[j].gpu != gpu->index || s->ci[i].gi != s->gi[j].id) continue;
            if (gpu->model->slices - 1 - (s->gi[j].start + s->ci[i].id) != index) continue;
            out->handle = encode(MIG_DEVICE, gpu->index, s->gi[j].id, s->ci[i].id);
            return leave(s, NVML_SUCCESS);
        }
    }
    return leave(s, NVML_ERROR_NOT_FOUND);
}

/* ---- samples ---- */

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    ENTER(1);
    for (unsigned i = 0; i < s->gpus; i++) {
        if (strcmp(s->gpu[i].uuid, uuid) != 0) continue;
        device->handle = encode(GPU, s->gpu[i].index, 0, 0);
        return leave(s, NVML_SUCCESS);
    }
    return leave(s, NVML_ERROR_NOT_FOUND);
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *milliwatts) {
    ENTER_HANDLE(device, GPU);
    *milliwatts = 387500;
    return leave(s, NVML_SUCCESS);
}

#ifndef OLD_DRIVER
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *reasons) {
    ENTER_HANDLE(device, GPU);
    *reasons = nvmlClocksEventReasonSwPowerCap;
    return leave(s, NVML_SUCCESS);
}
#endif
