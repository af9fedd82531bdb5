/* Image layouts of external memory, by exporter. */
#include "external/shared_file.h"
#include "image/image_memory.h"

/* Alignment of row lengths and heights (pixels), and of row pitches, slices and levels (bytes). */
struct rounding {
    uint64_t width, height, row, slice, level;
};

static uint64_t round_up(uint64_t number, uint64_t multiple) { return (number + multiple - 1) / multiple * multiple; }

static uint64_t level_extent(uint64_t extent, uint32_t level)
{
    return extent == 0 ? 1 : extent >> level > 0 ? extent >> level : 1;
}

static struct rounding rounding_of(enum blr_exporter exporter, uint32_t dimensions)
{
    switch (exporter) {
    case BLR_EXPORTER_SWIFTSHADER: return (struct rounding){2, 2, 1, 16, 1};
    case BLR_EXPORTER_LLVMPIPE: return (struct rounding){4, dimensions > 1 ? 4 : 1, 64, 1, 64};
    case BLR_EXPORTER_ANY: break;
    }
    return (struct rounding){1, 1, 1, 1, 1};
}

uint64_t blr_external_lay_out(enum blr_exporter exporter, const blr_image_desc_t *desc, struct blr_texture_level *levels)
{
    struct rounding to = rounding_of(exporter, blr_image_dimensions(desc));
    uint64_t pixel = blr_pixel_size(desc->channel_type, desc->num_channels), offset = 0;
    for (uint32_t i = 0; i < desc->num_levels; i++) {
        struct blr_texture_level *level = &levels[i];
        level->width = (uint32_t)level_extent(desc->width, i);
        level->height = (uint32_t)level_extent(desc->height, i);
        level->depth = (uint32_t)level_extent(desc->depth, i);
        level->row_pitch = round_up(round_up(level->width, to.width) * pixel, to.row);
        level->slice_pitch = round_up(level->row_pitch * round_up(level->height, to.height), to.slice);
        level->data = (void *)(uintptr_t)offset;
        offset += round_up(level->slice_pitch * level->depth * blr_image_layers(desc), to.level);
    }
    return offset;
}
