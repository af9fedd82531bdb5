/* Order between a stream and the stream of another library, without the host: one event each way. */
#ifndef BINDLESS_DRIVER_CALLS_CUDA_STREAM_ORDER_H
#define BINDLESS_DRIVER_CALLS_CUDA_STREAM_ORDER_H

#include "cuda/current_context.h"

/* Makes a stream wait for the present work of another one. The event is used again: a wait refers to the record before
 * it. */
static CUresult bindless_order_streams(const bindless_order_t *order, CUevent *event, CUstream first, CUstream second)
{
    CUresult result = bindless_activate(order->context);
    if (result == CUDA_SUCCESS && *event == NULL) {
        result = cuEventCreate(event, CU_EVENT_DISABLE_TIMING);
    }
    if (result == CUDA_SUCCESS) {
        result = cuEventRecord(*event, first);
    }
    return result == CUDA_SUCCESS ? cuStreamWaitEvent(second, *event, 0) : result;
}

static int bindless_order_after(bindless_order_t *order, uint64_t other)
{
    CUstream stream = (CUstream)(uintptr_t)other;
    return stream == order->stream ? 0 : (int)bindless_order_streams(order, &order->before, stream, order->stream);
}

static int bindless_order_before(bindless_order_t *order, uint64_t other)
{
    CUstream stream = (CUstream)(uintptr_t)other;
    return stream == order->stream ? 0 : (int)bindless_order_streams(order, &order->after, order->stream, stream);
}

static void bindless_order_end(bindless_order_t *order)
{
    if (order->before != NULL) {
        cuEventDestroy(order->before);
    }
    if (order->after != NULL) {
        cuEventDestroy(order->after);
    }
    order->before = order->after = NULL;
}

#endif
