/* Copy commands from memory to images, from images to memory, and between images. */
#include "level_zero_driver/command/command.h"
#include "level_zero_driver/image/image.h"
#include "level_zero_driver/command/command_list.h"
#include "reference/memory/parallel_copy.h"

#include <inttypes.h>
#include <string.h>

/* One side of a copy: a box of pixels in an image or in memory. */
struct side {
    struct blz_image *image;           /* retained, or NULL */
    struct blr_allocation *allocation; /* of memory that the driver allocated: retained */
    unsigned char *first;
    uint64_t row_pitch, slice_pitch, span;
};

struct copy_command {
    struct blz_command command;
    struct side destination, source;
    struct blr_box box;
    bool overlapping;
};

static void release_side(struct side *side)
{
    if (side->image != NULL)
        blz_image_release(side->image);
    blr_memory_release(side->allocation);
}

static void release(struct blz_command *command)
{
    struct copy_command *own = (struct copy_command *)command;
    release_side(&own->destination);
    release_side(&own->source);
}

/* ---------------------------------------------------------------- execution */

static ze_result_t run(const struct blz_command *command)
{
    const struct copy_command *own = (const struct copy_command *)command;
    if (!own->overlapping) {
        blr_transfer_box(&own->box);
        return ZE_RESULT_SUCCESS;
    }
    struct blr_box in = own->box, out = own->box;
    struct blr_pages between;
    uint64_t slice_size = in.row_size * in.rows;
    if (!blr_pages_allocate(&between, slice_size * in.slices, 64))
        return blz_fail(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                        "source and destination of a copy overlap, and the host has no memory for the %" PRIu64 " bytes between them",
                        slice_size * in.slices);
    in.destination = between.base;
    out.source = between.base;
    in.destination_row_pitch = out.source_row_pitch = in.row_size;
    in.destination_slice_pitch = out.source_slice_pitch = slice_size;
    blr_transfer_box(&in);
    blr_transfer_box(&out);
    blr_pages_free(&between);
    return ZE_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- regions */

/* A box of an image in pixels, rows and slices. The layer of a 1D array is the y coordinate of a region, and the
   slice of a box. */
struct box {
    uint32_t x, y, z, width, rows, slices;
};

/* An empty region gives an empty box, whatever its origin. */
static ze_result_t choose_box(const struct blz_image *image, const ze_image_region_t *region, const char *name, struct box *box)
{
    *box = (struct box){0, 0, 0, image->width, image->rows, image->slices};
    if (region == NULL)
        return ZE_RESULT_SUCCESS;
    bool lines = image->desc.type == ZE_IMAGE_TYPE_1DARRAY;
    /* The extent of a dimension that the image does not have may be 0. */
    uint32_t height = region->height == 0 && !lines && image->rows == 1 ? 1 : region->height;
    uint32_t depth = region->depth == 0 && (lines || image->slices == 1) ? 1 : region->depth;
    *box = (struct box){region->originX, lines ? 0 : region->originY, lines ? region->originY : region->originZ, region->width,
                        lines ? 1 : height, lines ? height : depth};
    if (box->width == 0 || height == 0 || depth == 0) {
        *box = (struct box){0};
        return ZE_RESULT_SUCCESS;
    }
    if ((lines && (region->originZ != 0 || depth != 1)) || box->x > image->width || box->width > image->width - box->x ||
        box->y > image->rows || box->rows > image->rows - box->y || box->z > image->slices ||
        box->slices > image->slices - box->z)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE,
                        "%s starts at (%u, %u, %u) with %u x %u x %u pixels: it exceeds the image of %u x %u%s x %u", name,
                        region->originX, region->originY, region->originZ, region->width, region->height, region->depth,
                        image->width, lines ? image->slices : image->rows, lines ? " lines" : "", lines ? 1 : image->slices);
    return ZE_RESULT_SUCCESS;
}

static void take_image(struct side *side, const struct blz_image *image, const struct box *box)
{
    side->row_pitch = image->row_pitch;
    side->slice_pitch = image->slice_pitch;
    side->first = image->pixels + box->z * image->slice_pitch + box->y * image->row_pitch +
                  (uint64_t)box->x * image->format.pixel_size;
}

static ze_result_t take_memory(struct side *side, struct blz_context *context, const struct blz_image *image,
                               const struct box *box, const void *pointer, uint64_t row_pitch, uint64_t slice_pitch,
                               const char *name)
{
    uint64_t row_size = (uint64_t)box->width * image->format.pixel_size;
    bool lines = image->desc.type == ZE_IMAGE_TYPE_1DARRAY;
    if (lines && slice_pitch == 0) /* a 1D array has one line per slice: either pitch may give the distance */
        slice_pitch = row_pitch;
    if ((row_pitch != 0 && row_pitch < row_size) || (slice_pitch != 0 && box->slices > 1 && slice_pitch < row_size))
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE,
                        "pitches of %" PRIu64 " and %" PRIu64 " bytes of %s: at least the %" PRIu64 " bytes of a row are needed, or 0 for no "
                        "gaps", row_pitch, slice_pitch, name, row_size);
    side->row_pitch = row_pitch != 0 ? row_pitch : row_size;
    side->slice_pitch = slice_pitch != 0 ? slice_pitch : side->row_pitch * box->rows;
    if (box->slices > 1 && side->slice_pitch < side->row_pitch * (box->rows - 1) + row_size)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE,
                        "a slice pitch of %" PRIu64 " bytes of %s: %u rows %" PRIu64 " bytes apart do not fit", side->slice_pitch, name,
                        box->rows, side->row_pitch);
    side->span = side->slice_pitch * (box->slices - 1) + side->row_pitch * (box->rows - 1) + row_size;
    side->first = (unsigned char *)(uintptr_t)pointer;
    return blz_result(blr_memory_use(context->reference, pointer, side->span, name, &side->allocation));
}

static uint64_t span_of(const struct side *side, const struct blr_box *box)
{
    return side->slice_pitch * (box->slices - 1) + side->row_pitch * (box->rows - 1) + box->row_size;
}

static void set_box(struct copy_command *own, const struct box *box, uint32_t pixel_size)
{
    own->box = (struct blr_box){
        .destination = own->destination.first,
        .source = own->source.first,
        .row_size = (uint64_t)box->width * pixel_size,
        .rows = box->rows,
        .slices = box->slices,
        .destination_row_pitch = own->destination.row_pitch,
        .destination_slice_pitch = own->destination.slice_pitch,
        .source_row_pitch = own->source.row_pitch,
        .source_slice_pitch = own->source.slice_pitch,
    };
    uintptr_t to = (uintptr_t)own->destination.first, from = (uintptr_t)own->source.first;
    own->overlapping = from < to ? to - from < span_of(&own->source, &own->box) : from - to < span_of(&own->destination, &own->box);
    own->command.is_instant = blr_transfer_is_instant(false, own->box.row_size * box->rows * box->slices);
}

/* ---------------------------------------------------------------- the calls */

/* Acquires the list and creates the command; the error is already recorded on failure. */
static ze_result_t begin(ze_command_list_handle_t handle, struct blz_list **list, struct copy_command **own)
{
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *own = blz_command_new(sizeof **own, run, release);
    if (*own != NULL)
        return ZE_RESULT_SUCCESS;
    blz_list_release(*list);
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static bool boxes_overlap(const struct box *a, const struct box *b)
{
    const uint32_t first[3] = {a->x, a->y, a->z}, second[3] = {b->x, b->y, b->z}, extent[3] = {a->width, a->rows, a->slices};
    for (int i = 0; i < 3; i++)
        if ((first[i] > second[i] ? first[i] - second[i] : second[i] - first[i]) >= extent[i])
            return false;
    return true;
}

static ze_result_t prepare_images(struct copy_command *own, const ze_image_region_t *to_region,
                                  const ze_image_region_t *from_region)
{
    const struct blz_image *to = own->destination.image, *from = own->source.image;
    struct box target, origin;
    ze_result_t result = choose_box(to, to_region, "pDstRegion", &target);
    if (result == ZE_RESULT_SUCCESS)
        result = choose_box(from, from_region, "pSrcRegion", &origin);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (to->format.pixel_size != from->format.pixel_size)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                        "a copy of pixels of %u bytes to pixels of %u: bits are copied between pixels of equal size",
                        from->format.pixel_size, to->format.pixel_size);
    if (target.width != origin.width || target.rows * target.slices != origin.rows * origin.slices ||
        (target.rows != origin.rows && target.rows != 1 && origin.rows != 1))
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "a copy of %u x %u x %u pixels to %u x %u x %u: both must be equal",
                        origin.width, origin.rows, origin.slices, target.width, target.rows, target.slices);
    if (to == from && boxes_overlap(&target, &origin))
        return blz_fail(ZE_RESULT_ERROR_OVERLAPPING_REGIONS, "pDstRegion and pSrcRegion overlap in one image");
    if (target.width == 0)
        return ZE_RESULT_SUCCESS;
    take_image(&own->destination, to, &target);
    take_image(&own->source, from, &origin);
    if (target.rows != origin.rows) { /* a 1D array and a 2D image: one line per slice on both sides */
        if (target.rows != 1)
            own->destination.slice_pitch = own->destination.row_pitch;
        if (origin.rows != 1)
            own->source.slice_pitch = own->source.row_pitch;
        target.slices *= target.rows;
        target.rows = 1;
    }
    set_box(own, &target, to->format.pixel_size);
    own->overlapping = own->overlapping && to != from;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListAppendImageCopyRegion(ze_command_list_handle_t list_handle, ze_image_handle_t destination,
                                               ze_image_handle_t source, const ze_image_region_t *to, const ze_image_region_t *from,
                                               ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    struct blz_list *list;
    struct copy_command *own;
    ze_result_t result = begin(list_handle, &list, &own);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_image_acquire(destination, &own->destination.image);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_image_acquire(source, &own->source.image);
    if (result == ZE_RESULT_SUCCESS)
        result = prepare_images(own, to, from);
    return blz_list_end(list, &own->command, result, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendImageCopy(ze_command_list_handle_t list, ze_image_handle_t destination, ze_image_handle_t source,
                                         ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    return zeCommandListAppendImageCopyRegion(list, destination, source, NULL, NULL, signal, wait_count, waits);
}

/* Copies between an image and memory; into means that the image is the destination. */
static ze_result_t append(ze_command_list_handle_t list_handle, ze_image_handle_t image_handle, const void *pointer, bool into,
                          const ze_image_region_t *region, uint32_t row_pitch, uint32_t slice_pitch, ze_event_handle_t signal,
                          uint32_t wait_count, ze_event_handle_t *waits)
{
    struct blz_list *list;
    struct copy_command *own;
    struct box box;
    ze_result_t result = begin(list_handle, &list, &own);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct side *image = into ? &own->destination : &own->source, *memory = into ? &own->source : &own->destination;
    const char *name = into ? "srcptr" : "dstptr";
    result = blz_image_acquire(image_handle, &image->image);
    if (result == ZE_RESULT_SUCCESS && pointer == NULL)
        result = blz_fail_null(name);
    if (result == ZE_RESULT_SUCCESS)
        result = choose_box(image->image, region, into ? "pDstRegion" : "pSrcRegion", &box);
    bool is_empty = result == ZE_RESULT_SUCCESS && box.width == 0;
    if (result == ZE_RESULT_SUCCESS && !is_empty)
        result = take_memory(memory, list->context, image->image, &box, pointer, row_pitch, slice_pitch, name);
    if (result == ZE_RESULT_SUCCESS && !is_empty) {
        take_image(image, image->image, &box);
        set_box(own, &box, image->image->format.pixel_size);
    }
    return blz_list_end(list, &own->command, result, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendImageCopyToMemoryExt(ze_command_list_handle_t list, void *destination, ze_image_handle_t source,
                                                    const ze_image_region_t *region, uint32_t row_pitch, uint32_t slice_pitch,
                                                    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    return append(list, source, destination, false, region, row_pitch, slice_pitch, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendImageCopyFromMemoryExt(ze_command_list_handle_t list, ze_image_handle_t destination,
                                                      const void *source, const ze_image_region_t *region, uint32_t row_pitch,
                                                      uint32_t slice_pitch, ze_event_handle_t signal, uint32_t wait_count,
                                                      ze_event_handle_t *waits)
{
    return append(list, destination, source, true, region, row_pitch, slice_pitch, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendImageCopyToMemory(ze_command_list_handle_t list, void *destination, ze_image_handle_t source,
                                                 const ze_image_region_t *region, ze_event_handle_t signal, uint32_t wait_count,
                                                 ze_event_handle_t *waits)
{
    return append(list, source, destination, false, region, 0, 0, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendImageCopyFromMemory(ze_command_list_handle_t list, ze_image_handle_t destination, const void *source,
                                                   const ze_image_region_t *region, ze_event_handle_t signal, uint32_t wait_count,
                                                   ze_event_handle_t *waits)
{
    return append(list, destination, source, true, region, 0, 0, signal, wait_count, waits);
}
