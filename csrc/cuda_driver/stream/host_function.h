/* Functions of the host as commands of a stream. */
#ifndef BINDLESS_CUDA_DRIVER_STREAM_HOST_FUNCTION_H
#define BINDLESS_CUDA_DRIVER_STREAM_HOST_FUNCTION_H

#include "cuda_driver/stream/command.h"

struct bcu_host_command {
    struct bcu_command command;
    CUhostFn function;
    void *data;
};

struct bcu_host_command bcu_host_command(CUhostFn function, void *data);

#endif
