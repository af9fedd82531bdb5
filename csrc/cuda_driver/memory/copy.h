/* Copies: between two sides, each of which is memory or an array, in one to three dimensions. */
#ifndef BINDLESS_CUDA_DRIVER_MEMORY_COPY_H
#define BINDLESS_CUDA_DRIVER_MEMORY_COPY_H

#include "cuda_driver/image/array.h"
#include "cuda_driver/stream/command.h"

struct bcu_copy_command {
    struct bcu_command command;
    struct bcu_array *source, *destination; /* or NULL for memory */
    blr_copy_region_t region;               /* pixels, or bytes between two memories */
    uint64_t flat;                          /* bytes of a copy without rows, or 0 */
    bool is_pageable;                       /* a side is memory that the driver does not know */
    CUDA_MEMCPY3D parameters;               /* as given */
};

/* Makes the command of a copy; the arrays are acquired, and released by bcu_copy_end. */
CUresult bcu_copy_begin(const CUDA_MEMCPY3D *parameters, struct bcu_copy_command *copy);
void bcu_copy_end(struct bcu_copy_command *copy);

#endif
