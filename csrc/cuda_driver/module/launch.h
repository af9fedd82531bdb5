/* Launches of kernels. */
#ifndef BINDLESS_CUDA_DRIVER_MODULE_LAUNCH_H
#define BINDLESS_CUDA_DRIVER_MODULE_LAUNCH_H

#include "cuda_driver/module/module.h"
#include "cuda_driver/stream/command.h"

struct bcu_launch_command {
    struct bcu_command command;
    struct bcu_function *function; /* retained */
    uint32_t grid[3], block[3];
    uint32_t shared;               /* dynamic bytes */
    bool is_cooperative;           /* the blocks may wait for each other */
    unsigned char parameters[];    /* bytes of all */
};

/* Makes the launch of a kernel node; bcu_launch_delete ends it. */
CUresult bcu_launch_of_node(const CUDA_KERNEL_NODE_PARAMS *node, struct bcu_launch_command **launch);
void bcu_launch_delete(struct bcu_launch_command *launch);

/* All blocks of a cooperative launch run at the same time: as many as the multiprocessors have room for. */
CUresult bcu_launch_check_cooperative(const struct bcu_launch_command *launch);

#endif
