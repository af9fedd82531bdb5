/*
 * Memory of the process that kernels may use: ranges that a caller has registered with a context.
 *
 * They are no allocations of the driver: queries by address do not know them, and copies need no registration. Ranges may
 * overlap and be the same; each is forgotten by itself. Commands that use one keep the range, not the memory: that is the
 * caller's for as long.
 */
#ifndef BLR_REGISTRATION_H
#define BLR_REGISTRATION_H

#include "memory.h"

/* A registered range of the context that holds size bytes at the address, and may be written if write, with a reference
 * added; NULL if there is none. */
struct blr_allocation *blr_registration_find(const struct blr_context *context, uint64_t address, uint64_t size,
                                             bool write);

/* How many ranges of the context hold the address. If there is room for all, they are put there, with references. */
uint32_t blr_registration_collect(const struct blr_context *context, uint64_t address, struct blr_allocation **found,
                                  uint32_t room);

#endif
