/* What the operating system knows of the processor. */
#ifndef BLZ_PROCESSOR_H
#define BLZ_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>

#define BLZ_MAX_CACHES 3u

/* The highest clock rate in MHz; 0 when the system does not say. */
uint32_t blz_processor_clock(void);

/* Sizes in bytes of the data caches, innermost first; returns how many there are. */
uint32_t blz_processor_caches(size_t sizes[BLZ_MAX_CACHES]);

/* Bytes of a line of the innermost data cache; 0 when the system does not say. */
size_t blz_processor_cache_line(void);

#endif
