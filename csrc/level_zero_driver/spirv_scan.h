/* The sizes of a SPIR-V module's specialization constants, which Level Zero's callers do not tell. A module that is not valid
 * is for the reference driver to refuse: here it merely has nothing in it. */
#ifndef BLZ_SPIRV_SCAN_H
#define BLZ_SPIRV_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the specialization constant with this number; 0 when there is none. */
uint32_t blz_spirv_constant_size(const void *code, size_t size, uint32_t number);

#endif
