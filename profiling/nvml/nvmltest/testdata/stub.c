/*
 * A libnvidia-ml.so.1 without a GPU. It has the functions that miglab calls, and
 * refuses what drivers refuse: instances that overlap or are at a wrong place, more
 * of a profile than there can be, any with MIG mode off, destroying what is in use
 * or has compute instances. Nothing in it was measured. Its profiles are the published ones of
 * listings.csv, which names their sources; fill() says what is assumed where a field is empty.
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
 *       A GPU. MODEL is a key of boards below; L4 and T4 have no MIG, and X1 is in no table.
 *       CURRENT and PENDING are its MIG modes, 0 or 1. UUIDs begin with GPU-.
 *   gi GPU ID PROFILE START BUSY
 *       A GPU instance: PROFILE is the driver's number, START a memory slice.
 *       Destroying it says IN_USE another BUSY times.
 *   ci GPU GI ID SLICES [MULTIPROCESSORS]
 *       A compute instance. Its UUID follows from GPU, GI and ID. Without MULTIPROCESSORS it has as many as its
 *       slices are of the GPU instance's.
 *   time create|destroy PROFILE MILLISECONDS
 *       What making or unmaking a GPU instance takes; 0 where no line says so.
 *   busy TIMES
 *       How often destroying a GPU instance says IN_USE after a compute instance of it
 *       was destroyed.
 *   fail FUNCTION SKIP TIMES ERROR
 *       Calls of FUNCTION fail TIMES times, after SKIP calls that do not; TIMES -1 is for
 *       ever. FUNCTION is a name of NVML without version, or * for all that have a handle;
 *       ERROR is a name of NVML without NVML_ERROR_.
 *   deny FUNCTION
 *       FUNCTION says NO_PERMISSION for a GPU and works for its MIG devices, as in a container that may
 *       look at MIG devices only: nvmlDeviceGetMemoryInfo and the ones that list processes.
 *   move TIMES
 *       How many times asking for a MIG device by its index is preceded by all of them moving to the next index.
 *   stale GPU GI CI INDEX
 *       A MIG device that is gone still has a handle at INDEX; calls with it say INVALID_ARGUMENT.
 *   linger TIMES
 *       How often destroying a GPU instance says SUCCESS and leaves it.
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

/* A row of listings.csv. Bit i of starts stands for memory slice i. */
struct profile {
    unsigned enumerator, id, slices, length, starts, max, memory, multiprocessors;
};

struct model {
    const char *key, *name;
    unsigned memory;          /* MiB */
    unsigned slices;          /* compute slices; 0: no MIG */
    unsigned multiprocessors; /* of the whole GPU, for profiles of which that is not published */
    unsigned unit;            /* memory slices to a compute slice */
    unsigned profiles;
    struct profile profile[16];
};

static struct model models[] = {
    {"A30", "NVIDIA A30", 24576, 4, 56, 1, 0, {{0}}},
    {"A100", "NVIDIA A100-SXM4-40GB", 40960, 7, 98, 1, 0, {{0}}},
    {"A800", "NVIDIA A800-SXM4-80GB", 81920, 7, 98, 1, 0, {{0}}},
    {"H100", "NVIDIA H100 80GB HBM3", 81559, 7, 132, 1, 0, {{0}}},
    {"H800", "NVIDIA H800", 81559, 7, 132, 1, 0, {{0}}},
    {"H100PCIe", "NVIDIA H100 PCIe", 81559, 7, 114, 1, 0, {{0}}},
    {"H100NVL", "NVIDIA H100 NVL", 95830, 7, 132, 1, 0, {{0}}},
    {"H20", "NVIDIA H20", 97871, 7, 78, 1, 0, {{0}}},
    {"GH200", "NVIDIA GH200 480GB", 97871, 7, 132, 1, 0, {{0}}},
    {"GH200-144", "NVIDIA GH200 144G HBM3e", 147456, 7, 132, 1, 0, {{0}}},
    {"H200", "NVIDIA H200", 143771, 7, 132, 1, 0, {{0}}},
    {"B200", "NVIDIA B200", 183359, 7, 148, 1, 0, {{0}}},
    {"GB200", "NVIDIA GB200", 189471, 7, 152, 1, 0, {{0}}},
    {"B300", "NVIDIA B300 SXM6 AC", 275040, 7, 148, 1, 0, {{0}}},
    {"GB300", "NVIDIA GB300", 284208, 7, 152, 1, 0, {{0}}},
    {"RTXPRO6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, 4, 188, 3, 0, {{0}}},
    {"RTXPRO5000", "NVIDIA RTX PRO 5000 Blackwell", 48935, 4, 110, 3, 0, {{0}}},
    {"X1", "NVIDIA X1 of tomorrow", 40960, 7, 98, 1, 0, {{0}}},
    {"L4", "NVIDIA L4", 23034, 0, 0, 1, 0, {{0}}},
    {"T4", "Tesla T4", 15360, 0, 0, 1, 0, {{0}}},
};

enum { DOUBLE_MEMORY = 15 }; /* the number of the one-slice profile with two memory slices */

/* listings.csv, which the compiler puts here. */
__asm__(".section .rodata\nlistings:\n.incbin \"listings.csv\"\n.byte 0\n.previous\n");
extern const char listings[] __attribute__((visibility("hidden")));

/* The number of a profile in nvml.h, by the end of its name and its slices. */
static unsigned enumerator(const char *suffix, const struct profile *p) {
    static const struct { const char *suffix; unsigned by_slices[3]; } kinds[] = { /* of 1, 2 and 4 slices */
        {"+me", {NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1, NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1, 0}},
        {"+gfx", {NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX, NVML_GPU_INSTANCE_PROFILE_2_SLICE_GFX, NVML_GPU_INSTANCE_PROFILE_4_SLICE_GFX}},
        {"-me", {NVML_GPU_INSTANCE_PROFILE_1_SLICE_NO_ME, NVML_GPU_INSTANCE_PROFILE_2_SLICE_NO_ME, 0}},
        {"+me.all", {NVML_GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME, NVML_GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME, 0}},
    };
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].suffix, suffix) == 0) return kinds[i].by_slices[p->slices / 2];
    if (p->slices == 1 && p->id == DOUBLE_MEMORY) return NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV2;
    return p->slices == 7 ? NVML_GPU_INSTANCE_PROFILE_7_SLICE : NVML_GPU_INSTANCE_PROFILE_1_SLICE + p->slices - 1;
}

/* Fills what was not published of a profile by what is assumed: placements as on H100 or RTX PRO 6000, as many instances
 * as have room, the share of the memory but for 512 MiB, and an even number of multiprocessors, in proportion to those of
 * H100 or to the slices. */
static void fill(const struct model *m, struct profile *p) {
    static const unsigned h100[] = {0, 16, 32, 60, 64, 0, 0, 132};
    unsigned all = m->slices == 7 ? 8 : m->slices * m->unit, share = p->slices, of = m->slices;
    if (p->length == 0)
        p->length = p->slices == m->slices ? all : p->slices == 3 || p->id == DOUBLE_MEMORY ? p->slices + 1 : p->slices * m->unit;
    if (p->starts == 0)
        for (unsigned at = 0; at + p->length <= all && at / m->unit + p->slices <= m->slices; at += p->length)
            p->starts |= 1 << at;
    if (p->max == 0) p->max = __builtin_popcount(p->starts);
    if (p->memory == 0) p->memory = m->memory * p->length / all - 512;
    if (m->slices == 7) share = p->id == DOUBLE_MEMORY ? 26 : h100[p->slices], of = 132;
    if (p->multiprocessors == 0)
        p->multiprocessors = p->slices == m->slices ? m->multiprocessors : (m->multiprocessors * share + of) / (2 * of) * 2;
}

/* Reads the listings when the library is loaded. */
__attribute__((constructor)) static void read_listings(void) {
    for (const char *line = strchr(listings, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
        char field[10][64] = {{0}};
        const char *from = line;
        for (unsigned i = 0; i < 10; i++) {
            size_t n = strcspn(from, ",");
            memcpy(field[i], from, n < 64 ? n : 63);
            from += n + 1;
        }
        for (unsigned i = 0; i < sizeof models / sizeof *models; i++) {
            struct model *m = &models[i];
            if (strcmp(m->key, field[0]) != 0) continue;
            struct profile *p = &m->profile[m->profiles++];
            p->id = atoi(field[3]), p->slices = atoi(field[4]), p->length = atoi(field[5]);
            for (char *rest = field[6], *start; (start = strsep(&rest, " ")) != NULL && *start != '\0';) p->starts |= 1 << atoi(start);
            p->max = atoi(field[7]), p->memory = atoi(field[8]), p->multiprocessors = atoi(field[9]);
            p->enumerator = enumerator(strstr(field[2], "gb") + 2, p);
            fill(m, p);
        }
    }
}

enum { MAX_GPUS = 8, MAX_INSTANCES = 32, MAX_COMPUTE = 64, MAX_RULES = 64 };

struct gpu { unsigned index; char key[16], uuid[64]; unsigned mig, pending; const struct model *model; };
struct gi { unsigned gpu, id, profile, start, busy; };
struct ci { unsigned gpu, gi, id, slices, multiprocessors; };
struct stale { unsigned gpu, gi, ci, index; };
struct denial { char function[64]; };
struct timing { char op[8]; unsigned profile, ms; };
struct fault { char function[64]; unsigned skip; int times; char error[40]; };
struct override { unsigned profile, slices, length, memory, max; };

struct state {
    int lock, fd;
    size_t size; /* of the file */
    char driver[64], prefix[8];
    unsigned busy, move, moved, linger;
    unsigned gpus, gis, cis, timings, faults, overrides, stales, denials;
    struct gpu gpu[MAX_GPUS];
    struct gi gi[MAX_INSTANCES];
    struct ci ci[MAX_COMPUTE];
    struct timing timing[MAX_RULES];
    struct fault fault[MAX_RULES];
    struct override override[MAX_RULES];
    struct stale stale[MAX_RULES];
    struct denial denial[MAX_RULES];
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
        ok = sscanf(line, "ci %u %u %u %u %u", &c->gpu, &c->gi, &c->id, &c->slices, &c->multiprocessors) >= 4;
    } else if (strcmp(kind, "time") == 0) {
        struct timing *t = MORE(s->timing, s->timings);
        ok = sscanf(line, "time %7s %u %u", t->op, &t->profile, &t->ms) == 3;
    } else if (strcmp(kind, "fail") == 0) {
        struct fault *f = MORE(s->fault, s->faults);
        ok = sscanf(line, "fail %63s %u %d %39s", f->function, &f->skip, &f->times, f->error) == 4;
    } else if (strcmp(kind, "table") == 0) {
        struct override *o = MORE(s->override, s->overrides);
        ok = sscanf(line, "table %u %u %u %u %u", &o->profile, &o->slices, &o->length, &o->memory, &o->max) == 5;
    } else if (strcmp(kind, "stale") == 0) {
        struct stale *h = MORE(s->stale, s->stales);
        ok = sscanf(line, "stale %u %u %u %u", &h->gpu, &h->gi, &h->ci, &h->index) == 4;
    } else if (strcmp(kind, "deny") == 0) {
        ok = sscanf(line, "deny %63s", MORE(s->denial, s->denials)->function) == 1;
    } else if (strcmp(kind, "move") == 0) {
        ok = sscanf(line, "move %u %u", &s->move, &s->moved) >= 1;
    } else if (strcmp(kind, "linger") == 0) {
        ok = sscanf(line, "linger %u", &s->linger) == 1;
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
    append(&t, "driver %s\nprefix %s\nbusy %u\nmove %u %u\nlinger %u\n", s->driver, s->prefix, s->busy, s->move, s->moved, s->linger);
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
        append(&t, "ci %u %u %u %u", c->gpu, c->gi, c->id, c->slices);
        append(&t, c->multiprocessors > 0 ? " %u\n" : "\n", c->multiprocessors);
    }
    for (unsigned i = 0; i < s->stales; i++)
        append(&t, "stale %u %u %u %u\n", s->stale[i].gpu, s->stale[i].gi, s->stale[i].ci, s->stale[i].index);
    for (unsigned i = 0; i < s->denials; i++) append(&t, "deny %s\n", s->denial[i].function);
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

/* Whether a function that also takes MIG devices is denied for GPUs. */
static int denied(const struct state *s, const char *function) {
    for (unsigned i = 0; i < s->denials; i++) {
        size_t n = strlen(s->denial[i].function);
        if (strncmp(function, s->denial[i].function, n) == 0 && (function[n] == '\0' || strncmp(function + n, "_v", 2) == 0)) return 1;
    }
    return 0;
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
    for (unsigned i = 0; i < g->model->profiles; i++) {
        if (g->model->profile[i].id != id) continue;
        *out = g->model->profile[i];
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
    struct gpu *gpu = NULL;
    struct gi *gi = NULL;
    struct ci *ci = NULL;
    struct profile p;
    ENTER(1);
    if (decode(s, device.handle, MIG_DEVICE, &gpu, &gi, &ci) && row(s, gpu, gi->profile, &p))
        memory->total = (unsigned long long)p.memory << 20;
    else if (!decode(s, device.handle, GPU, &gpu, &gi, &ci))
        return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    else if (denied(s, __func__))
        return leave(s, NVML_ERROR_NO_PERMISSION);
    else
        memory->total = (unsigned long long)gpu->model->memory << 20;
    memory->used = 0;
    memory->free = memory->total;
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned *clock) {
    ENTER_HANDLE(device, GPU);
    *clock = 1410;
    return leave(s, NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned *temperature) {
    ENTER_HANDLE(device, GPU);
    *temperature = 31;
    return leave(s, NVML_SUCCESS);
}

/* A handle of a GPU is asked for its own processes, one of a MIG device for that one's:
 * the aggregate that drivers give privileged users of a GPU's handle is not given. */
static nvmlReturn_t processes(struct state *s, nvmlDevice_t device, int in, unsigned *pids, unsigned max, unsigned *n, const char *function) {
    struct gpu *gpu = NULL;
    struct gi *gi = NULL;
    struct ci *ci = NULL;
    char uuid[64];
    if (decode(s, device.handle, MIG_DEVICE, &gpu, &gi, &ci))
        mig_uuid(s, ci, uuid);
    else if (!decode(s, device.handle, GPU, &gpu, &gi, &ci))
        return NVML_ERROR_INVALID_ARGUMENT;
    else if (denied(s, function))
        return NVML_ERROR_NO_PERMISSION;
    else
        strcpy(uuid, gpu->uuid);
    *n = users(uuid, in, pids, max);
    return NVML_SUCCESS;
}

#define PROCESSES(function, type, in)                                                        \
    nvmlReturn_t function(nvmlDevice_t device, unsigned *count, type *infos) {               \
        unsigned pids[256], n, max = *count;                                                 \
        ENTER(1);                                                                            \
        nvmlReturn_t r = processes(s, device, in, pids, 256, &n, __func__);                  \
        if (r != NVML_SUCCESS) return leave(s, r);                                           \
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

nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned profile, nvmlGpuInstanceProfileInfo_t *info) {
    ENTER_HANDLE(device, GPU);
    if (profile >= NVML_GPU_INSTANCE_PROFILE_COUNT) return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    for (unsigned i = 0; i < gpu->model->profiles; i++) {
        struct profile p = gpu->model->profile[i];
        if (p.enumerator != profile) continue;
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
    for (unsigned start = 0; start < 32; start++) {
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
    if (!row(s, gpu, id, p) || at->start >= 32 || (p->starts >> at->start & 1) == 0 || at->size != p->length)
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
    if (end && s->linger > 0) {
        s->linger--;
    } else if (end) {
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

/* The slices and multiprocessors of a compute instance profile of a GPU instance; 0 where it has none such. Where the
 * instance with double memory has more multiprocessors than a slice, it has two profiles of one slice, as on B300:
 * one with those of a slice, and one (REV1) with all. */
static unsigned compute(const struct state *s, const struct gpu *g, const struct gi *gi, unsigned profile, unsigned *whole, unsigned *sms) {
    static const unsigned slices[NVML_COMPUTE_INSTANCE_PROFILE_COUNT] = {1, 2, 3, 4, 7, 0, 0, 1, 0};
    struct profile p, single;
    if (!row(s, g, gi->profile, &p)) fatal("instance of profile %u, which %s does not have", gi->profile, g->key);
    int larger = p.id == DOUBLE_MEMORY && p.slices == 1 && row(s, g, 19, &single) && single.multiprocessors < p.multiprocessors;
    unsigned n = slices[profile];
    if (n > p.slices || (n == 3 && p.slices == 4) || (profile == NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1 && !larger)) return 0;
    *whole = p.slices;
    *sms = larger && profile == NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE ? single.multiprocessors : p.multiprocessors * n / p.slices;
    return n;
}

/* How many multiprocessors a compute instance has. */
static unsigned multiprocessors(const struct state *s, const struct gpu *g, const struct gi *gi, const struct ci *ci) {
    struct profile p;
    if (!row(s, g, gi->profile, &p)) fatal("instance of profile %u, which %s does not have", gi->profile, g->key);
    return ci->multiprocessors > 0 ? ci->multiprocessors : p.multiprocessors * ci->slices / p.slices;
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t instance, unsigned profile, unsigned engine, nvmlComputeInstanceProfileInfo_t *info) {
    unsigned whole, sms;
    ENTER_HANDLE(instance, GPU_INSTANCE);
    if (profile >= NVML_COMPUTE_INSTANCE_PROFILE_COUNT || engine != NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED)
        return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    unsigned n = compute(s, gpu, gi, profile, &whole, &sms);
    if (n == 0) return leave(s, NVML_ERROR_NOT_SUPPORTED);
    *info = (nvmlComputeInstanceProfileInfo_t){.id = profile, .sliceCount = n, .instanceCount = whole / n,
        .multiprocessorCount = sms};
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
    struct ci made = {gi->gpu, gi->id, id, n, 0};
    if (multiprocessors(s, gpu, gi, &made) != sms) made.multiprocessors = sms;
    *MORE(s->ci, s->cis) = made;
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
        if (s->ci[i].gpu == gi->gpu && s->ci[i].gi == gi->id && s->ci[i].slices == n && multiprocessors(s, gpu, gi, &s->ci[i]) == sms)
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
    *attributes = (nvmlDeviceAttributes_t){.multiprocessorCount = multiprocessors(s, gpu, gi, ci),
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
    unsigned slices = gpu->model->slices;
    if (!gpu->mig) return leave(s, NVML_ERROR_NOT_SUPPORTED);
    if (index >= slices) return leave(s, NVML_ERROR_INVALID_ARGUMENT);
    if (s->move > 0) s->move--, s->moved++, save(s);
    for (unsigned i = 0; i < s->stales; i++) {
        if (s->stale[i].gpu != gpu->index || s->stale[i].index != index) continue;
        out->handle = encode(MIG_DEVICE, gpu->index, s->stale[i].gi, s->stale[i].ci);
        return leave(s, NVML_SUCCESS);
    }
    for (unsigned i = 0; i < s->cis; i++) {
        for (unsigned j = 0; j < s->gis; j++) {
            if (s->ci[i].gpu != gpu->index || s->gi[j].gpu != gpu->index || s->ci[i].gi != s->gi[j].id) continue;
            unsigned first = slices - 1 - (s->gi[j].start / gpu->model->unit + s->ci[i].id);
            if ((first + s->moved) % slices != index) continue;
            out->handle = encode(MIG_DEVICE, gpu->index, s->gi[j].id, s->ci[i].id);
            return leave(s, NVML_SUCCESS);
        }
    }
    return leave(s, NVML_ERROR_NOT_FOUND);
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t device, nvmlDevice_t *out) {
    ENTER_HANDLE(device, MIG_DEVICE);
    out->handle = encode(GPU, gpu->index, 0, 0);
    return leave(s, NVML_SUCCESS);
}

/* ---- samples ---- */

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    ENTER(1);
    for (unsigned i = 0; i < s->gpus; i++) {
        if (strcmp(s->gpu[i].uuid, uuid) != 0) continue;
        device->handle = encode(GPU, s->gpu[i].index, 0, 0);
        return leave(s, NVML_SUCCESS);
    }
    for (unsigned i = 0; i < s->cis; i++) {
        char text[64];
        mig_uuid(s, &s->ci[i], text);
        if (strcmp(text, uuid) != 0) continue;
        device->handle = encode(MIG_DEVICE, s->ci[i].gpu, s->ci[i].gi, s->ci[i].id);
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
