/* Query of reserved virtual addresses (virtual_memory.c). */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MEMORY_VIRTUAL_MEMORY_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MEMORY_VIRTUAL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether any of the bytes lies in a reservation. A reserved address without a mapping is not memory of the
   program either. */
bool blz_virtual_is_reserved(uint64_t address, uint64_t size);

#endif
