/* blrSampleMemory: samples of images that no image memory holds. */
#include "image/image_memory.h"
#include "image/sampler_limits.h"
#include "platform/fp_environment.h"
#include "platform/thread_pool.h"
#include "runtime/device.h"
#include "texture/texture.h"

#include <inttypes.h>

/* Samples that are computed together, and parts of one image that one thread computes sooner than several. */
#define PART 1024u
#define BRIEF_PARTS 8u

struct work {
    const blr_memory_samples_t *call;
    struct blr_texture texture;           /* of the first image */
    uint64_t parts;                       /* of the samples of an image */
    uint64_t image_size;                  /* bytes */
    bool scales;
};

/* The coordinates of a part as the sampler takes them. */
static const float *place(const struct work *work, uint64_t first, uint64_t count, float *placed)
{
    const blr_memory_samples_t *call = work->call;
    const uint32_t dimensions = work->texture.dimensions;
    const float *position = call->coordinates + first * dimensions;
    if (!work->scales)
        return position;
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t d = 0; d < dimensions; d++)
            placed[i * dimensions + d] = (float)((double)position[i * dimensions + d] / call->scale[d] + call->bias[d]);
    return placed;
}

static bool run_parts(void *argument, uint64_t begin, uint64_t end)
{
    const struct work *work = argument;
    const blr_memory_samples_t *call = work->call;
    struct blr_texture texture = work->texture;
    _Alignas(64) float placed[3 * PART];
    for (uint64_t number = begin; number < end; number++) {
        const uint64_t image = number / work->parts, start = number % work->parts * PART;
        const uint64_t count = call->samples - start < PART ? call->samples - start : PART;
        const uint64_t first = image * call->samples + start;
        texture.level[0].data = (unsigned char *)work->texture.level[0].data + image * work->image_size;
        const blr_image_call_t items = {
            .operation = BLR_OPERATION_SAMPLE,
            .type = BLR_IMAGE_STANDARD,
            .count = count,
            .coordinates = place(work, first, count, placed),
            .values = (unsigned char *)call->values + first * texture.pixel_size,
            .value_type = call->desc.channel_type == BLR_CHANNEL_FP16 ? BLR_ELEMENT_F16 : BLR_ELEMENT_F32,
            .value_channels = call->desc.num_channels,
        };
        struct blr_fault fault; /* there is none: the image has no layers */
        blr_texture_run(&texture, &items, 0, count, &fault);
    }
    return true;
}

static blr_result_t check(const blr_memory_samples_t *call, blr_sampler_desc_t *sampler)
{
    blr_result_t result = blr_image_check_desc(&call->desc);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if (call->desc.type != BLR_IMAGE_STANDARD)
        return blr_fail(BLR_RESULT_UNSUPPORTED, "image type %d: only standard images are sampled so", (int)call->desc.type);
    if (call->desc.channel_type != BLR_CHANNEL_FP16 && call->desc.channel_type != BLR_CHANNEL_FP32)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "channel type %d: FP16 (%d) or FP32 (%d) is needed",
                        (int)call->desc.channel_type, BLR_CHANNEL_FP16, BLR_CHANNEL_FP32);
    if (call->pixels == NULL || call->coordinates == NULL || call->values == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "pixels, coordinates or values are NULL");
    if (call->samples > (uint64_t)1 << 48 || call->images > (uint64_t)1 << 32)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " samples of %" PRIu64 " images are too many", call->samples,
                        call->images);
    return blr_sampler_check(&call->sampler, &call->desc, sampler);
}

blr_result_t blrSampleMemory(const blr_memory_samples_t *call)
{
    if (call == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "call is NULL: a description of the samples is needed");
    if (call->images == 0 || call->samples == 0)
        return BLR_RESULT_SUCCESS;
    blr_sampler_desc_t sampler;
    blr_result_t result = check(call, &sampler);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    struct work work = {.call = call, .parts = (call->samples + PART - 1) / PART};
    const blr_image_desc_t *desc = &call->desc;
    struct blr_texture_level level = {(void *)(uintptr_t)call->pixels, (uint32_t)desc->width,
                                      desc->height > 0 ? (uint32_t)desc->height : 1,
                                      desc->depth > 0 ? (uint32_t)desc->depth : 1, 0, 0};
    level.row_pitch = desc->width * blr_pixel_size(desc->channel_type, desc->num_channels);
    level.slice_pitch = level.row_pitch * level.height;
    work.image_size = level.slice_pitch * level.depth;
    result = blr_texture_init(&work.texture, desc, &level, 1, &sampler,
                              blr_device_exact_filtering() ? BLR_TEXTURE_EXACT_FILTERING : 0);
    if (result != BLR_RESULT_SUCCESS)
        return blr_fail(result, "the device has no texture of channel type %d with %u channels", (int)desc->channel_type,
                        desc->num_channels);
    for (uint32_t d = 0; d < work.texture.dimensions; d++)
        work.scales = work.scales || call->scale[d] != 1 || call->bias[d] != 0;
    struct blr_environment environment;
    blr_environment_enter(&environment);
    const uint64_t total = call->images * work.parts;
    blr_parallel_for(total, total <= BRIEF_PARTS ? total : blr_parallel_grain(total, 4), run_parts, &work);
    blr_environment_leave(&environment);
    return BLR_RESULT_SUCCESS;
}
