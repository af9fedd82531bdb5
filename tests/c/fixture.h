/* Common set-up and helpers of the C tests. */
#ifndef BLR_FIXTURE_H
#define BLR_FIXTURE_H

#include "check.h"

#include <stdatomic.h>

static inline blr_device_t open_device(void)
{
    blr_device_t device = NULL;
    OK(blrDeviceGet(0, &device));
    return device;
}

static inline blr_context_t open_context(void)
{
    blr_context_t context = NULL;
    OK(blrContextCreate(open_device(), &context));
    return context;
}

static inline blr_queue_t open_queue(blr_context_t context, blr_queue_flags_t flags)
{
    blr_queue_t queue = NULL;
    OK(blrQueueCreate(context, flags, &queue));
    return queue;
}

static inline blr_image_desc_t plain_desc(uint64_t width, uint64_t height, uint64_t depth, blr_channel_type_t type,
                                          uint32_t channels)
{
    return (blr_image_desc_t){.width = width,
                              .height = height,
                              .depth = depth,
                              .num_channels = channels,
                              .channel_type = type,
                              .type = BLR_IMAGE_STANDARD,
                              .num_levels = 1,
                              .array_size = 1};
}

static inline blr_sampler_desc_t plain_sampler(void)
{
    return (blr_sampler_desc_t){.addressing = {BLR_ADDRESSING_CLAMP_TO_EDGE, BLR_ADDRESSING_CLAMP_TO_EDGE,
                                               BLR_ADDRESSING_CLAMP_TO_EDGE},
                                .filtering = BLR_FILTERING_NEAREST};
}

/* Bytes of one channel, independent of the driver's own table. */
static inline uint32_t channel_bytes(blr_channel_type_t type)
{
    switch (type) {
    case BLR_CHANNEL_SNORM_INT8:
    case BLR_CHANNEL_UNORM_INT8:
    case BLR_CHANNEL_SIGNED_INT8:
    case BLR_CHANNEL_UNSIGNED_INT8: return 1;
    case BLR_CHANNEL_SNORM_INT16:
    case BLR_CHANNEL_UNORM_INT16:
    case BLR_CHANNEL_SIGNED_INT16:
    case BLR_CHANNEL_UNSIGNED_INT16:
    case BLR_CHANNEL_FP16: return 2;
    case BLR_CHANNEL_SIGNED_INT32:
    case BLR_CHANNEL_UNSIGNED_INT32:
    case BLR_CHANNEL_FP32: return 4;
    default: return 0;
    }
}

static inline uint64_t object_count(void)
{
    uint64_t count = 0;
    OK(blrGetObjectCount(&count));
    return count;
}

static inline uint64_t clock_ns(void)
{
    uint64_t now = 0;
    OK(blrDeviceGetTimestamp(open_device(), &now));
    return now;
}

static inline uint32_t random_next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static inline void fill_random(void *bytes, size_t size, uint32_t seed)
{
    unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        byte[i] = (unsigned char)(random_next(&seed) >> 11);
}

static inline blr_event_status_t status_of(blr_event_t event)
{
    blr_event_status_t status = BLR_EVENT_SUBMITTED;
    OK(blrEventGetStatus(event, &status));
    return status;
}

#define MILLISECOND UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

#endif
