/* Fills: rows of a repeated pattern of 1, 2 or 4 bytes. */
#ifndef BINDLESS_CUDA_DRIVER_MEMORY_FILL_H
#define BINDLESS_CUDA_DRIVER_MEMORY_FILL_H

#include "cuda_driver/stream/command.h"

struct bcu_fill_command {
    struct bcu_command command;
    CUDA_MEMSET_NODE_PARAMS parameters;
};

CUresult bcu_fill_command(const CUDA_MEMSET_NODE_PARAMS *parameters, struct bcu_fill_command *fill);

#endif
