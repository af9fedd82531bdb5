/* Whether addresses are reserved: see virtual_memory.c. */
#ifndef BLZ_VIRTUAL_MEMORY_H
#define BLZ_VIRTUAL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Whether some of the bytes lie in a reservation. What is there without being mapped is no memory of the program either. */
bool blz_virtual_is_reserved(uint64_t address, uint64_t size);

#endif
