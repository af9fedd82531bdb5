/* Fills: the command and the functions. */
#include "cuda_driver/memory/fill.h"

#include "cuda_driver/memory/memory.h"
#include "reference/runtime/scheduler.h"

#include <string.h>

/* Rows with gaps between them. */
static void fill_rows(void *argument)
{
    const CUDA_MEMSET_NODE_PARAMS p = *(const CUDA_MEMSET_NODE_PARAMS *)argument;
    blr_delete(argument);
    blr_work_begin();
    for (size_t row = 0; row < p.height; row++) {
        char *to = (char *)(uintptr_t)(p.dst + row * p.pitch);
        if (p.elementSize == 1)
            memset(to, (int)p.value, p.width);
        else
            for (size_t i = 0; i < p.width; i++)
                memcpy(to + i * p.elementSize, &p.value, p.elementSize);
    }
    blr_work_end();
}

static CUresult enqueue(const struct bcu_command *command, struct bcu_stream *stream, uint32_t count, const blr_event_t *waits,
                        blr_event_t *event)
{
    const CUDA_MEMSET_NODE_PARAMS *p = &((const struct bcu_fill_command *)command)->parameters;
    if (p->width == 0 || p->height == 0)
        return bcu_result(blrEnqueueBarrier(stream->queue, count, waits, event));
    if (p->height == 1 || p->pitch == p->width * p->elementSize)
        return bcu_result(blrEnqueueFill(stream->queue, (void *)(uintptr_t)p->dst, &p->value, p->elementSize, p->width * p->height, count,
                                         waits, event));
    CUDA_MEMSET_NODE_PARAMS *rows = blr_new(sizeof *rows);
    if (rows == NULL)
        return bcu_fail_memory("a fill of rows");
    *rows = *p;
    CUresult result = bcu_result(blrEnqueueHostFunction(stream->queue, fill_rows, rows, count, waits, event));
    if (result != CUDA_SUCCESS)
        blr_delete(rows);
    return result;
}

CUresult bcu_fill_command(const CUDA_MEMSET_NODE_PARAMS *parameters, struct bcu_fill_command *fill)
{
    const CUDA_MEMSET_NODE_PARAMS *p = parameters;
    *fill = (struct bcu_fill_command){{CU_GRAPH_NODE_TYPE_MEMSET, sizeof *fill, enqueue, NULL, NULL}, *p};
    if ((p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) || p->dst % p->elementSize != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "elements of %u bytes at 0x%llx", p->elementSize, p->dst);
    if (p->width == 0 || p->height == 0)
        return CUDA_SUCCESS;
    if (p->width > SIZE_MAX / 8 || (p->height > 1 && (p->pitch < p->width * p->elementSize || p->pitch % p->elementSize != 0)))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "rows of %zu elements with a pitch of %zu bytes", p->width, p->pitch);
    if (p->height > 1 && p->pitch > SIZE_MAX / p->height)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%zu rows with a pitch of %zu bytes", p->height, p->pitch);
    return bcu_memory_check(p->dst, p->pitch * (p->height - 1) + p->width * p->elementSize, "the destination");
}

static CUresult submit(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height, CUstream handle,
                       bool is_async)
{
    struct bcu_stream *stream;
    struct bcu_fill_command fill;
    CUDA_MEMSET_NODE_PARAMS parameters = {to, pitch, value, element, width, height};
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_fill_command(&parameters, &fill);
    if (result == CUDA_SUCCESS)
        result = is_async ? bcu_submit(stream, &fill.command) : bcu_submit_and_wait(stream, &fill.command);
    bcu_stream_release(stream);
    return result;
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t n) { return submit(to, 0, value, 1, n, 1, NULL, false); }
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t n) { return submit(to, 0, value, 2, n, 1, NULL, false); }
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t n) { return submit(to, 0, value, 4, n, 1, NULL, false); }

CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height)
{
    return submit(to, pitch, value, 1, width, height, NULL, false);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height)
{
    return submit(to, pitch, value, 2, width, height, NULL, false);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height)
{
    return submit(to, pitch, value, 4, width, height, NULL, false);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream)
{
    return submit(to, 0, value, 1, n, 1, stream, true);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t n, CUstream stream)
{
    return submit(to, 0, value, 2, n, 1, stream, true);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t n, CUstream stream)
{
    return submit(to, 0, value, 4, n, 1, stream, true);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream)
{
    return submit(to, pitch, value, 1, width, height, stream, true);
}

CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream)
{
    return submit(to, pitch, value, 2, width, height, stream, true);
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height, CUstream stream)
{
    return submit(to, pitch, value, 4, width, height, stream, true);
}
