/* Properties of the processor, read from the operating system. */

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "level_zero_driver/driver/cpu_info.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static uint32_t read_clock(void)
{
    unsigned long kilohertz = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "re");
    if (file != NULL) {
        if (fscanf(file, "%lu", &kilohertz) != 1)
            kilohertz = 0;
        fclose(file);
    }
    if (kilohertz != 0 || (file = fopen("/proc/cpuinfo", "re")) == NULL)
        return (uint32_t)(kilohertz / 1000);
    char line[256];
    double megahertz = 0;
    while (megahertz == 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "cpu MHz : %lf", &megahertz) != 1)
            megahertz = 0;
    fclose(file);
    return (uint32_t)(megahertz + 0.5);
}

uint32_t blz_processor_caches(size_t sizes[BLZ_MAX_CACHES])
{
#ifdef _SC_LEVEL1_DCACHE_SIZE             /* glibc's; musl does not say */
    static const int names[BLZ_MAX_CACHES] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    uint32_t count = 0;
    for (uint32_t i = 0; i < BLZ_MAX_CACHES; i++) {
        long size = sysconf(names[i]);
        if (size > 0)
            sizes[count++] = (size_t)size;
    }
    return count;
#else
    (void)sizes;
    return 0;
#endif
}

uint32_t blz_processor_clock(void)
{
    static _Atomic uint32_t cache;
    uint32_t megahertz = atomic_load(&cache);
    if (megahertz == 0)
        atomic_store(&cache, megahertz = read_clock());
    return megahertz;
}

size_t blz_processor_cache_line(void)
{
#ifdef _SC_LEVEL1_DCACHE_LINESIZE
    long size = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
    return size > 0 ? (size_t)size : 0;
#else
    return 0;
#endif
}
