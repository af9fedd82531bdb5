/* Image calls: checks and execution of device functions (fetch, sample, write) over arrays of items, as commands. */
#include "platform/heap.h"
#include "image/image_handle.h"
#include "memory/allocation.h"
#include "runtime/queue.h"
#include "texture/projective_map.h"
#include "platform/thread_pool.h"
#include "sampler/simd/block.h"

#include <inttypes.h>
#include <stdio.h>

/* Smallest part of a call for a thread; largest brief call, which a waiting thread may run alone. */
#define SMALLEST_PART 4096u
#define BRIEF_ITEMS 65536u

/* Largest instant calls, which the submitting thread runs in less time than another one takes to wake: of items in
 * vectors, at coordinates or along a map, and of items of which each is a sum of many texels or has a path of its own. */
#define INSTANT_ITEMS 2048u
#define INSTANT_PIXELS 4096u
#define INSTANT_SLOW_ITEMS 64u

enum { COORDINATES, LAYERS, LEVELS, GRADIENT_X, GRADIENT_Y, VALUES, ARRAY_COUNT };

struct image_call_command {
    struct blr_command command;
    struct blr_image_view *view; /* retained */
    struct blr_allocation *used[ARRAY_COUNT];
    blr_image_call_t call;
};

static const char *const operation_names[] = {"fetch", "sample", "sample with a level", "sample with gradients", "write"};
static const char *const type_names[] = {"standard", "mipmap", "array", "cubemap"};

static void release(struct blr_command *command)
{
    struct image_call_command *call = (struct image_call_command *)command;
    for (int i = 0; i < ARRAY_COUNT; i++)
        blr_memory_release(call->used[i]);
    if (call->view != NULL)
        blr_image_view_release(call->view);
}

/* ---------------------------------------------------------------- execution */

struct call_work {
    const struct blr_texture *texture;
    const blr_image_call_t *call;
    blr_mutex_t mutex;
    blr_result_t result; /* result of the earliest part that failed; guarded by the mutex */
    uint64_t failed_at;
    struct blr_fault fault;
};

static bool run_part(void *argument, uint64_t begin, uint64_t end)
{
    struct call_work *work = argument;
    struct blr_fault fault = {0};
    blr_result_t result = blr_texture_run(work->texture, work->call, begin, end, &fault);
    if (result == BLR_RESULT_SUCCESS)
        return true;
    blr_mutex_lock(&work->mutex);
    if (work->result == BLR_RESULT_SUCCESS || begin < work->failed_at) {
        work->result = result;
        work->failed_at = begin;
        work->fault = fault;
    }
    blr_mutex_unlock(&work->mutex);
    return true; /* a fault in one part does not stop the other parts */
}

static blr_result_t describe(const struct call_work *work)
{
    const blr_image_desc_t *desc = &work->texture->desc;
    const char *operation = operation_names[work->call->operation];
    const struct blr_fault *fault = &work->fault;
    if (fault->kind == BLR_FAULT_LAYER)
        return blr_fail(work->result, "%s: item %" PRIu64 " names %s %u; the image has %u, numbered from 0", operation,
                        fault->index, desc->type == BLR_IMAGE_CUBEMAP ? "face" : "layer", fault->layer,
                        work->texture->num_layers);
    if (fault->kind == BLR_FAULT_COORDINATES) {
        const int32_t *c = fault->coordinates;
        char place[64];
        if (fault->dimensions == 1)
            snprintf(place, sizeof place, "(%d)", c[0]);
        else if (fault->dimensions == 2)
            snprintf(place, sizeof place, "(%d, %d)", c[0], c[1]);
        else
            snprintf(place, sizeof place, "(%d, %d, %d)", c[0], c[1], c[2]);
        return blr_fail(work->result,
                        "%s: item %" PRIu64 " names the pixel %s of an image of %" PRIu64 " x %" PRIu64 " x %" PRIu64
                        " pixels: coordinates from 0 to below that are needed",
                        operation, fault->index, place, desc->width, desc->height > 0 ? desc->height : 1,
                        desc->depth > 0 ? desc->depth : 1);
    }
    return blr_fail(work->result, "%s: the texture unit ended with %s", operation, blr_result_name(work->result));
}

static blr_result_t run(struct blr_command *command)
{
    struct image_call_command *own = (struct image_call_command *)command;
    struct call_work work = {.texture = &own->view->texture, .call = &own->call};
    struct blr_texture other;
    if (own->call.precision != BLR_PRECISION_HARDWARE) {
        other = *work.texture;
        other.flags &= ~BLR_TEXTURE_EXACT_FILTERING;
        other.flags |= own->call.precision == BLR_PRECISION_EXACT ? BLR_TEXTURE_EXACT_FILTERING : 0;
        work.texture = &other;
    }
    uint64_t count = own->call.count;
    blr_mutex_init(&work.mutex);
    blr_parallel_for(count, count <= 2 * SMALLEST_PART ? count : blr_parallel_grain(count, SMALLEST_PART), run_part,
                     &work);
    blr_mutex_destroy(&work.mutex);
    return work.result == BLR_RESULT_SUCCESS ? BLR_RESULT_SUCCESS : describe(&work);
}

/* ---------------------------------------------------------------- checks */

static blr_result_t check_form(const blr_image_call_t *call, const struct blr_texture *texture)
{
    blr_image_type_t type = texture->desc.type;
    if ((unsigned)call->operation > BLR_OPERATION_WRITE)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "operation %d: FETCH (0) to WRITE (4) is needed",
                        (int)call->operation);
    const char *operation = operation_names[call->operation];
    if ((unsigned)call->precision > BLR_PRECISION_REPRODUCIBLE)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "precision %d: HARDWARE (0) to REPRODUCIBLE (2) is needed",
                        (int)call->precision);
    if ((unsigned)call->type > BLR_IMAGE_CUBEMAP)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "image type %d: STANDARD (0) to CUBEMAP (3) is needed",
                        (int)call->type);
    if (call->type != type)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s for images of type %s: the handle's image is of type %s",
                        operation, type_names[call->type], type_names[type]);
    bool mip_operation =
        call->operation == BLR_OPERATION_SAMPLE_LOD || call->operation == BLR_OPERATION_SAMPLE_GRADIENT;
    if (mip_operation != (type == BLR_IMAGE_MIPMAP))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s is not supported for an image of type %s: %s", operation,
                        type_names[type],
                        mip_operation ? "only a mipmap has levels" : "a mipmap is sampled with a level or gradients");
    if (call->operation == BLR_OPERATION_WRITE && texture->sampled)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "write through a sampled handle: make an unsampled one");
    if (call->operation != BLR_OPERATION_WRITE && call->operation != BLR_OPERATION_FETCH && !texture->sampled)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s through an unsampled handle: make one with a sampler",
                        operation);
    return BLR_RESULT_SUCCESS;
}

/* Checks a call with a map: the map replaces the per-item arrays. */
static blr_result_t check_map(const blr_image_call_t *call, const struct blr_texture *texture)
{
    if (call->operation == BLR_OPERATION_FETCH || call->operation == BLR_OPERATION_WRITE || texture->dimensions != 2 ||
        call->type == BLR_IMAGE_CUBEMAP)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s of a %s image of %u dimensions by a map: maps sample images of two",
                        operation_names[call->operation], type_names[call->type], texture->dimensions);
    if (call->coordinates != NULL || call->layers != NULL || call->levels != NULL || call->gradient_x != NULL ||
        call->gradient_y != NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "%s by a map: coordinates, layers, levels and gradients are NULL, they follow from the map",
                        operation_names[call->operation]);
    if (call->count % call->map.width != 0)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " items are not a picture with rows of %" PRIu64, call->count,
                        call->map.width);
    return BLR_RESULT_SUCCESS;
}

/* Whether the values are codes of a normalized image, the format of stored pictures. */
static bool takes_codes(const blr_image_call_t *call, const struct blr_texture *texture)
{
    const struct blr_format *format = texture->format;
    return blr_call_is_mapped(call) && format->maximum != 0 && format->packing == NULL && format->size <= 2 &&
           call->value_type == format->storage;
}

static blr_result_t check_values(const blr_image_call_t *call, const struct blr_texture *texture)
{
    const blr_image_desc_t *desc = &texture->desc;
    const uint32_t written = blr_texture_write_channels(texture);
    const char *operation = operation_names[call->operation];
    if (blr_element_size(call->value_type) == 0)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "value type %d: S8 (0) to F32 (7) is needed", (int)call->value_type);
    if (!takes_codes(call, texture) && !blr_format_accepts(desc->channel_type, call->value_type, call->operation))
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "%s of values of type %d does not match channels of %s", operation,
                        (int)call->value_type, blr_format_get(desc->channel_type)->name);
    if (call->value_channels == 0 || call->value_channels > BLR_MAX_CHANNELS)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "value channels %u: 1 to %d are needed", call->value_channels,
                        BLR_MAX_CHANNELS);
    if (call->operation == BLR_OPERATION_WRITE && call->value_channels != written)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "write of %u channels: the image has %u", call->value_channels, written);
    return BLR_RESULT_SUCCESS;
}

/* Registers an array of count items, in memory of any kind, as used by the call. */
static blr_result_t use_array(struct image_call_command *own, struct blr_context *context, int number, const char *name,
                              const void *pointer, uint64_t item_size, uint64_t alignment)
{
    uint64_t count = own->call.count;
    if (count > UINT64_MAX / item_size)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " items of %" PRIu64 " bytes are more than memory has", count,
                        item_size);
    if ((uintptr_t)pointer % alignment != 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "the array of %s at 0x%" PRIxPTR " is not aligned to its elements of %" PRIu64 " bytes", name,
                        (uintptr_t)pointer, alignment);
    return blr_memory_use(context, pointer, count * item_size, name, &own->used[number]);
}

static blr_result_t check_arrays(struct image_call_command *own, struct blr_context *context)
{
    const blr_image_call_t *call = &own->call;
    const struct blr_texture *texture = &own->view->texture;
    bool layered = call->type == BLR_IMAGE_ARRAY ||
                   (call->type == BLR_IMAGE_CUBEMAP && call->operation != BLR_OPERATION_SAMPLE);
    uint64_t dimensions = call->type == BLR_IMAGE_CUBEMAP && !layered ? 3 : texture->dimensions;
    uint64_t element = blr_element_size(call->value_type);
    if (call->layers != NULL && !layered)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "layers are given, and the %s of a %s image has none",
                        operation_names[call->operation], type_names[call->type]);
    blr_result_t result =
        use_array(own, context, VALUES, "values", call->values, call->value_channels * element, element);
    if (blr_call_is_mapped(call))
        return result;
    if (result == BLR_RESULT_SUCCESS)
        result = use_array(own, context, COORDINATES, "coordinates", call->coordinates, dimensions * 4, sizeof(float));
    if (result == BLR_RESULT_SUCCESS && call->layers != NULL)
        result = use_array(own, context, LAYERS, "layers", call->layers, 4, sizeof(uint32_t));
    if (result == BLR_RESULT_SUCCESS && call->levels != NULL && call->operation == BLR_OPERATION_SAMPLE_LOD)
        result = use_array(own, context, LEVELS, "levels", call->levels, 4, sizeof(float));
    if (call->operation != BLR_OPERATION_SAMPLE_GRADIENT)
        return result;
    if (result == BLR_RESULT_SUCCESS)
        result = use_array(own, context, GRADIENT_X, "gradients in x", call->gradient_x, dimensions * 4, sizeof(float));
    if (result == BLR_RESULT_SUCCESS)
        result = use_array(own, context, GRADIENT_Y, "gradients in y", call->gradient_y, dimensions * 4, sizeof(float));
    return result;
}

static uint64_t instant_items(const blr_image_call_t *call, const struct blr_texture *texture)
{
    const bool exact = call->precision == BLR_PRECISION_EXACT ||
                       (call->precision == BLR_PRECISION_HARDWARE && (texture->flags & BLR_TEXTURE_EXACT_FILTERING));
    if (exact || call->operation == BLR_OPERATION_SAMPLE_GRADIENT || blr_vectors_of(texture) == BLR_VECTORS_NONE)
        return INSTANT_SLOW_ITEMS;
    return blr_call_is_mapped(call) ? INSTANT_PIXELS : INSTANT_ITEMS;
}

static blr_result_t prepare(struct image_call_command *own, struct blr_queue *queue)
{
    const blr_image_call_t *call = &own->call;
    own->view = blr_image_view_acquire(call->handle);
    if (own->view == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    if (own->view->context != queue->context)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the image handle is of another context than the queue");
    blr_result_t result = check_form(call, &own->view->texture);
    if (result == BLR_RESULT_SUCCESS && blr_call_is_mapped(call))
        result = check_map(call, &own->view->texture);
    if (result == BLR_RESULT_SUCCESS)
        result = check_values(call, &own->view->texture);
    if (result == BLR_RESULT_SUCCESS && call->count > 0)
        result = check_arrays(own, queue->context);
    own->command.is_repeatable = true;
    own->command.is_brief = call->count <= BRIEF_ITEMS;
    own->command.is_instant = call->count <= instant_items(call, &own->view->texture);
    return result;
}

blr_result_t blrEnqueueImageCall(blr_queue_t handle, const blr_image_call_t *call, uint32_t num_waits,
                                 const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct image_call_command *own;
    if (call == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "call is NULL: a description of the device function is needed");
    } else if ((own = blr_command_new(sizeof *own, run, release)) != NULL) {
        own->call = *call;
        result = prepare(own, queue);
        if (result == BLR_RESULT_SUCCESS)
            result = blr_submit(queue, &own->command, num_waits, waits, event);
        else
            blr_command_discard(&own->command);
    }
    blr_queue_release(queue);
    return result;
}
