/*
 * A kernel without a GPU: it finds the size of the instance that CUDA_VISIBLE_DEVICES
 * names in the state of the stub of NVML, and sleeps as long as its arguments say for
 * that size. The times are seconds on 1, 2, 3, 4 and 7 slices.
 *
 *   sleeper SECONDS SECONDS SECONDS SECONDS SECONDS
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The stub's UUID of a MIG device. */
static void mig_uuid(const char *gpu, unsigned gi, unsigned ci, char out[64]) {
    char name[128];
    snprintf(name, sizeof name, "%s/%u/%u", gpu, gi, ci);
    unsigned long long h[2] = {14695981039346656037ULL, 1099511628211ULL};
    for (int half = 0; half < 2; half++)
        for (const char *c = name; *c != '\0'; c++) h[half] = (h[half] ^ (unsigned char)*c) * 1099511628211ULL;
    snprintf(out, 64, "MIG-%08llx-%04llx-%04llx-%04llx-%012llx", h[0] >> 32, h[0] >> 16 & 0xffff, h[0] & 0xffff,
             h[1] >> 48, h[1] & 0xffffffffffffULL);
}

int main(int argc, char **argv) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const char *mine = getenv("CUDA_VISIBLE_DEVICES"), *state = getenv("MIGLAB_NVML_STUB");
    FILE *f = state == NULL ? NULL : fopen(state, "r");
    if (argc != 6 || mine == NULL || f == NULL) return 2;
    char line[256], gpu[64] = "", uuid[64];
    unsigned device, gi, ci, slices;
    int size = 0;
    while (fgets(line, sizeof line, f) != NULL) sscanf(line, "gpu %u %*s %63s", &device, gpu);
    rewind(f);
    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "ci %u %u %u %u", &device, &gi, &ci, &slices) != 4) continue;
        mig_uuid(gpu, gi, ci, uuid);
        if (strcmp(uuid, mine) == 0) size = slices == 7 ? 5 : (int)slices;
    }
    if (size == 0) {
        fprintf(stderr, "no instance %s\n", mine);
        return 1;
    }
    double seconds = atof(argv[size]);
    if (seconds == 0) {
        fprintf(stderr, "CUDA error: out of memory\n");
        return 1;
    }
    long long end = until.tv_sec * 1000000000LL + until.tv_nsec + (long long)(seconds * 1e9);
    until.tv_sec = end / 1000000000LL;
    until.tv_nsec = end % 1000000000LL;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {}
    puts("ok");
    return 0;
}
