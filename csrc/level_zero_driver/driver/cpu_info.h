/* Properties of the processor, read from the operating system. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_CPU_INFO_H
#define BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_CPU_INFO_H

#include <stddef.h>
#include <stdint.h>

#define BLZ_MAX_CACHES 3u

/* The highest clock rate in MHz; 0 where unknown. */
uint32_t blz_processor_clock(void);

/* Sizes in bytes of the data caches, innermost first; returns their number. */
uint32_t blz_processor_caches(size_t sizes[BLZ_MAX_CACHES]);

/* Line size in bytes of the innermost data cache; 0 where unknown. */
size_t blz_processor_cache_line(void);

#endif
