/* Sizes of a SPIR-V module's specialization constants, which callers of Level Zero do not pass. An invalid module
 * yields none: the reference driver refuses it at the build. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MODULE_SPEC_CONSTANT_SIZES_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MODULE_SPEC_CONSTANT_SIZES_H

#include <stddef.h>
#include <stdint.h>

/* Size in bytes of the specialization constant with this number; 0 when it does not exist. */
uint32_t blz_spirv_constant_size(const void *code, size_t size, uint32_t number);

#endif
