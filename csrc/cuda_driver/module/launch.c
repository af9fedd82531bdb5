/* Launches: checks, parameters, and the command. */
#include "cuda_driver/module/launch.h"


#include <stdlib.h>
#include <string.h>

static CUresult retain(struct bcu_command *command)
{
    bcu_resource_retain(&((struct bcu_launch_command *)command)->function->resource);
    return CUDA_SUCCESS;
}

static void release(struct bcu_command *command) { bcu_resource_release(&((struct bcu_launch_command *)command)->function->resource); }

void bcu_launch_delete(struct bcu_launch_command *launch)
{
    release(&launch->command);
    blr_delete(launch);
}

/* The words of a launch that some kernels read: the workspace of the grid, and the shared memory of a block. */
static CUresult find_words(const struct bcu_launch_command *own, struct bcu_stream *stream, uint64_t words[2])
{
    enum { UNIT = 128 }; /* of shared memory */
    const uint64_t all = (own->function->entry->shared_bytes + own->shared + UNIT - 1) / UNIT * UNIT;
    words[0] = 0;
    words[1] = own->shared | all << 32;
    return own->is_cooperative ? bcu_stream_workspace(stream, &words[0]) : CUDA_SUCCESS;
}

static CUresult enqueue(const struct bcu_command *command, struct bcu_stream *stream, uint32_t count, const blr_event_t *waits,
                        blr_event_t *event)
{
    enum { FEW = 64 };
    const struct bcu_launch_command *own = (const struct bcu_launch_command *)command;
    const struct bindless_ptx_entry *entry = own->function->entry;
    const void *few_arguments[FEW], **arguments = few_arguments;
    uint64_t few_sizes[FEW], *sizes = few_sizes, words[2];
    uint32_t number = entry->parameter_count;
    CUresult result = CUDA_SUCCESS;
    if (number + 3 > FEW) {
        arguments = malloc((number + 3) * (sizeof *arguments + sizeof *sizes));
        sizes = (uint64_t *)(void *)(arguments + number + 3);
        if (arguments == NULL)
            return bcu_fail_memory("a launch");
    }
    for (uint32_t i = 0; i < number; i++) {
        arguments[i] = own->parameters + entry->parameters[i].offset;
        sizes[i] = entry->parameters[i].size;
    }
    if (entry->reads_launch)
        result = find_words(own, stream, words);
    for (uint32_t i = 0; i < 2 && entry->reads_launch; i++) {
        arguments[number] = &words[i];
        sizes[number++] = sizeof words[i];
    }
    if (entry->uses_dynamic_shared) {
        arguments[number] = NULL;
        sizes[number++] = own->shared > 0 ? own->shared : 1;
    }
    blr_launch_t launch = {.dimensions = 3, .cooperative = own->is_cooperative, .argument_count = number, .arguments = arguments,
                           .argument_sizes = sizes};
    for (int c = 0; c < 3; c++) {
        launch.global_size[c] = (uint64_t)own->grid[c] * own->block[c];
        launch.local_size[c] = own->block[c];
    }
    if (result == CUDA_SUCCESS)
        result = bcu_result(blrEnqueueKernel(stream->queue, own->function->kernel, &launch, count, waits, event));
    if (arguments != few_arguments)
        free(arguments);
    return result;
}

/* ---------------------------------------------------------------- checks */

static CUresult check_sizes(const struct bcu_function *function, const uint32_t grid[3], const uint32_t block[3], uint32_t shared)
{
    static const uint32_t most_grid[3] = {INT32_MAX, 65535, 65535}, most_block[3] = {1024, 1024, 64};
    const struct bindless_ptx_entry *entry = function->entry;
    for (int c = 0; c < 3; c++)
        if (grid[c] == 0 || grid[c] > most_grid[c] || block[c] == 0 || block[c] > most_block[c])
            return bcu_fail(CUDA_ERROR_INVALID_VALUE, "a grid of %u x %u x %u blocks of %u x %u x %u threads", grid[0], grid[1], grid[2],
                            block[0], block[1], block[2]);
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (threads > 1024)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "blocks of %llu threads: 1024 are possible", (unsigned long long)threads);
    if (threads > function->properties.max_work_group_size)
        return bcu_fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "blocks of %llu threads: this kernel has up to %u",
                        (unsigned long long)threads, function->properties.max_work_group_size);
    if (entry->maxntid[0] != 0) {
        uint64_t limit = (uint64_t)entry->maxntid[0] * (entry->maxntid[1] ? entry->maxntid[1] : 1) * (entry->maxntid[2] ? entry->maxntid[2] : 1);
        if (threads > limit)
            return bcu_fail(CUDA_ERROR_INVALID_VALUE, "blocks of %llu threads: the kernel's .maxntid is %llu", (unsigned long long)threads,
                            (unsigned long long)limit);
    }
    for (int c = 0; c < 3 && entry->reqntid[0] != 0; c++)
        if (block[c] != (entry->reqntid[c] ? entry->reqntid[c] : 1))
            return bcu_fail(CUDA_ERROR_INVALID_VALUE, "blocks of %u x %u x %u threads: the kernel's .reqntid is %u x %u x %u", block[0],
                            block[1], block[2], entry->reqntid[0], entry->reqntid[1], entry->reqntid[2]);
    uint64_t room = function->dynamic_shared > 0 ? (uint64_t)function->dynamic_shared
                    : entry->shared_bytes < BCU_SHARED_DEFAULT ? BCU_SHARED_DEFAULT - entry->shared_bytes
                                                               : 0;
    if (shared > room)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%u bytes of dynamic shared memory: the function has up to %llu", shared,
                        (unsigned long long)room);
    return CUDA_SUCCESS;
}

/* Copies the parameters, from pointers to each or from a buffer of all. */
static CUresult read_parameters(const struct bindless_ptx_entry *entry, void **pointers, void **extra, unsigned char *bytes)
{
    if (pointers != NULL && extra != NULL)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "kernelParams and extra: one is needed");
    if (entry->parameter_count == 0)
        return CUDA_SUCCESS;
    if (pointers != NULL) {
        for (uint32_t i = 0; i < entry->parameter_count; i++) {
            if (pointers[i] == NULL)
                return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the pointer to parameter %u is NULL", i);
            memcpy(bytes + entry->parameters[i].offset, pointers[i], entry->parameters[i].size);
        }
        return CUDA_SUCCESS;
    }
    const void *buffer = NULL;
    const size_t *size = NULL;
    for (; extra != NULL && *extra != (void *)CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == (void *)CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == (void *)CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = extra[1];
        else
            return bcu_fail(CUDA_ERROR_INVALID_VALUE, "extra has the unknown name %p", *extra);
    }
    if (buffer == NULL || size == NULL || *size < entry->parameter_bytes)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the kernel has %u parameters of %llu bytes in all", entry->parameter_count,
                        (unsigned long long)entry->parameter_bytes);
    memcpy(bytes, buffer, entry->parameter_bytes);
    return CUDA_SUCCESS;
}

CUresult bcu_launch_of_node(const CUDA_KERNEL_NODE_PARAMS *node, struct bcu_launch_command **launch)
{
    struct bcu_function *function;
    *launch = NULL;
    CUresult result = bcu_function_acquire(node->func != NULL ? (const void *)node->func : (const void *)node->kern, &function);
    if (result != CUDA_SUCCESS)
        return result;
    const uint32_t grid[3] = {node->gridDimX, node->gridDimY, node->gridDimZ};
    const uint32_t block[3] = {node->blockDimX, node->blockDimY, node->blockDimZ};
    result = check_sizes(function, grid, block, node->sharedMemBytes);
    size_t size = sizeof **launch + function->entry->parameter_bytes;
    struct bcu_launch_command *node_launch = result == CUDA_SUCCESS ? blr_new(size) : NULL;
    if (result == CUDA_SUCCESS && node_launch == NULL)
        result = bcu_fail_memory("a launch");
    if (result == CUDA_SUCCESS)
        result = read_parameters(function->entry, node->kernelParams, node->extra, node_launch->parameters);
    if (result != CUDA_SUCCESS) {
        blr_delete(node_launch);
        bcu_resource_release(&function->resource);
        return result;
    }
    node_launch->command = (struct bcu_command){CU_GRAPH_NODE_TYPE_KERNEL, size, enqueue, retain, release};
    node_launch->function = function;
    memcpy(node_launch->grid, grid, sizeof grid);
    memcpy(node_launch->block, block, sizeof block);
    node_launch->shared = node->sharedMemBytes;
    *launch = node_launch;
    return CUDA_SUCCESS;
}

/* ---------------------------------------------------------------- functions */

CUresult bcu_launch_check_cooperative(const struct bcu_launch_command *command)
{
    int processors = 0;
    const uint32_t *block = command->block, *grid = command->grid;
    CUresult result = cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    const uint64_t most = (uint64_t)processors * bcu_function_blocks(command->function, block[0] * block[1] * block[2], command->shared);
    const uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    if (result == CUDA_SUCCESS && blocks > most)
        return bcu_fail(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "%llu blocks: %llu of them run at the same time",
                        (unsigned long long)blocks, (unsigned long long)most);
    return result;
}

static CUresult launch(const CUDA_KERNEL_NODE_PARAMS *node, CUstream handle, bool is_cooperative)
{
    struct bcu_stream *stream;
    struct bcu_launch_command *command;
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_launch_of_node(node, &command);
    if (result == CUDA_SUCCESS) {
        command->is_cooperative = is_cooperative;
        if (is_cooperative)
            result = bcu_launch_check_cooperative(command);
        if (result == CUDA_SUCCESS)
            result = bcu_submit(stream, &command->command);
        bcu_launch_delete(command);
    }
    bcu_stream_release(stream);
    return result;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                        unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **parameters, void **extra)
{
    CUDA_KERNEL_NODE_PARAMS node = {function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, parameters, extra, NULL, NULL};
    return launch(&node, stream, false);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)
{
    if (config == NULL || (config->numAttrs > 0 && config->attrs == NULL))
        return bcu_fail_null("config or its attrs");
    bool is_cooperative = false;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        bool alone = attribute->value.clusterDim.x <= 1 && attribute->value.clusterDim.y <= 1 && attribute->value.clusterDim.z <= 1;
        if ((attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION || attribute->id == CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION) && !alone)
            return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "clusters of blocks");
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            is_cooperative = attribute->value.cooperative != 0;
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT || attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT ||
            attribute->id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
            return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "launch attribute %d", (int)attribute->id);
    }
    const CUDA_KERNEL_NODE_PARAMS node = {function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                                          config->blockDimY, config->blockDimZ, config->sharedMemBytes, parameters, extra, NULL, NULL};
    return launch(&node, config->hStream, is_cooperative);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                                   unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **parameters)
{
    CUDA_KERNEL_NODE_PARAMS node = {function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, parameters, NULL, NULL, NULL};
    return launch(&node, stream, true);
}
