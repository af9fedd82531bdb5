/* Submission of commands. */
#include "cuda_driver/stream/command.h"

#include "cuda_driver/graph/capture.h"

CUresult bcu_enqueue(struct bcu_stream *stream, const struct bcu_command *command, blr_event_t *event)
{
    blr_event_t *waits;
    uint32_t count;
    CUresult result = bcu_stream_waits(stream, &waits, &count);
    if (result != CUDA_SUCCESS)
        return result;
    result = command->enqueue(command, stream, count, waits, event);
    bcu_stream_free_waits(waits, count);
    return result;
}

CUresult bcu_submit(struct bcu_stream *stream, const struct bcu_command *command)
{
    if (bcu_capture_is_active(stream))
        return bcu_capture_add(stream, command);
    return bcu_enqueue(stream, command, NULL);
}

CUresult bcu_submit_and_wait(struct bcu_stream *stream, const struct bcu_command *command)
{
    if (bcu_capture_is_active(stream))
        return bcu_capture_refuse(stream, "a call that waits");
    blr_event_t event = NULL;
    CUresult result = bcu_enqueue(stream, command, &event);
    if (result != CUDA_SUCCESS)
        return result;
    blr_result_t waited = blrEventWait(event, BLR_TIMEOUT_INFINITE);
    const char *message = "";
    if (waited != BLR_RESULT_SUCCESS) {
        blrGetLastError(NULL, &message);
        result = bcu_command_result(waited, message);
    }
    blrEventRelease(event);
    CUresult failure = bcu_context_failure(stream->resource.context);
    return failure != CUDA_SUCCESS ? failure : result;
}
