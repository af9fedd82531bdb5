/* Stubs of external memory and semaphores for systems other than Linux: every function fails with UNSUPPORTED. */
#include "runtime/result.h"

static blr_result_t absent(void)
{
    return blr_fail(BLR_RESULT_UNSUPPORTED, "the reference driver imports external memory and semaphores on Linux "
                                            "only");
}

blr_result_t blrExternalMemoryImport(blr_context_t context, int32_t file, uint64_t size, blr_external_memory_t *memory)
{
    (void)context, (void)file, (void)size, (void)memory;
    return absent();
}

blr_result_t blrExternalMemoryMapImage(blr_external_memory_t memory, const blr_image_desc_t *desc, blr_image_t *image)
{
    (void)memory, (void)desc, (void)image;
    return absent();
}

blr_result_t blrExternalMemoryMapLinear(blr_external_memory_t memory, uint64_t offset, uint64_t size, void **pointer)
{
    (void)memory, (void)offset, (void)size, (void)pointer;
    return absent();
}

blr_result_t blrExternalMemoryRelease(blr_external_memory_t memory)
{
    (void)memory;
    return absent();
}

blr_result_t blrExternalSemaphoreImport(blr_context_t context, blr_semaphore_type_t type, int32_t file,
                                        blr_external_semaphore_t *semaphore)
{
    (void)context, (void)type, (void)file, (void)semaphore;
    return absent();
}

blr_result_t blrExternalSemaphoreRelease(blr_external_semaphore_t semaphore)
{
    (void)semaphore;
    return absent();
}

blr_result_t blrEnqueueSemaphoreWait(blr_queue_t queue, blr_external_semaphore_t semaphore, uint64_t value, uint32_t num_waits,
                                     const blr_event_t *waits, blr_event_t *event)
{
    (void)queue, (void)semaphore, (void)value, (void)num_waits, (void)waits, (void)event;
    return absent();
}

blr_result_t blrEnqueueSemaphoreSignal(blr_queue_t queue, blr_external_semaphore_t semaphore, uint64_t value, uint32_t num_waits,
                                       const blr_event_t *waits, blr_event_t *event)
{
    (void)queue, (void)semaphore, (void)value, (void)num_waits, (void)waits, (void)event;
    return absent();
}
