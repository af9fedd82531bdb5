/*
 * Registered memory: ranges of ordinary process memory that a caller has made accessible to kernels of a context.
 *
 * A range is not an allocation of the driver: address queries do not find it, and copies need no registration. Ranges
 * may overlap or be equal; each registration ends separately. Commands retain the range's record, not its memory: the
 * caller must keep that valid.
 */
#ifndef BINDLESS_REFERENCE_MEMORY_HOST_REGISTRATION_H
#define BINDLESS_REFERENCE_MEMORY_HOST_REGISTRATION_H

#include "memory/allocation.h"

/* A registered range of the context that contains size bytes at the address, writable if write is set, with a
 * reference added; NULL if there is none. */
struct blr_allocation *blr_registration_find(const struct blr_context *context, uint64_t address, uint64_t size,
                                             bool write);

/* Number of the context's ranges that contain the address. If all of them fit, they are stored in the array,
 * retained. */
uint32_t blr_registration_collect(const struct blr_context *context, uint64_t address, struct blr_allocation **allocations,
                                  uint32_t room);

#endif
