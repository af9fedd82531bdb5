/*
 * Colours by a table of three dimensions, with the bits of the kernel csrc/kernels/source/lut3d.cl.
 *
 * Threads take ranges of pixels, and a range goes block by block through arrays that the caches hold: channels are apart
 * while places and weights are computed, and together where entries are added up.
 */
#ifndef BINDLESS_REFERENCE_IMAGE_COLOUR_TABLE_H
#define BINDLESS_REFERENCE_IMAGE_COLOUR_TABLE_H

#include "bindless/reference_colours.h"
#include "image/pixel_format.h"
#include "spirv/execute/isa_names.h"

#include <stdbool.h>

#define BLR_COLOUR_BLOCK ((uint64_t)64) /* pixels that are mapped together */

struct blr_colours {
    blr_colour_table_t table;
    bool streams; /* the values leave the caches before they are read */
};

/* Maps pixels [begin, end). */
void blr_colour_part(const struct blr_colours *colours, uint64_t begin, uint64_t end);

#endif
