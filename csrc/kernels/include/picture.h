/* Elements of a picture of up to three dimensions, and their distribution over a launch.
 *
 * Images have a blocked layout, and elements that are near each other read texels that are near each other, whatever
 * the map between them: a work-group processes a block of the picture, which is as wide as it is high and deep. A row
 * of LANES work-items and the ITEMS elements of each form a step, and four steps form a block:
 *
 *     picture   lanes    elements of a lane   step         block
 *     line      32       every 32nd in x      128          512
 *     plane     16 x 2   every 2nd in y       16 x 8       32 x 16
 *     volume    8 x 4    next in z            8 x 4 x 4    8 x 8 x 8
 *
 * Arrays have rows. There a row of work-items is a row of the picture:
 *
 *     plane     32       every 32nd in x      128          128 x 4
 *     volume    32       every 32nd in x      128          128 x 4 x 1
 *     slab      32       the same in 4 planes 128 x 1 x 4  128 x 4 x 4
 *
 * A slab is a large volume: its steps share what finds them, and the planes of a step share texels.
 *
 * Blocks are ordered by x, then y, then z. Global and local sizes are multiples of 4 LANES. */
#ifndef BINDLESS_KERNELS_INCLUDE_PICTURE_H
#define BINDLESS_KERNELS_INCLUDE_PICTURE_H

#ifndef OF_MEMORY
#define OF_MEMORY 0 /* whether the picture is that of an array in memory */
#endif

#include "blob.h"
#include "mode.h"

struct extent {
    uint x, y, z;
};

struct element {
    uint x, y, z;
    ulong number; /* x + width (y + height z) */
    bool inside;  /* of the picture; the others are computed, but not stored */
};

INLINED struct element element_at(struct extent size, uint x, uint y, uint z)
{
    const uint within_x = x < size.x ? x : size.x - 1, within_y = y < size.y ? y : size.y - 1;
    const uint within_z = z < size.z ? z : size.z - 1;
    const bool inside = x < size.x && y < size.y && z < size.z;
    return (struct element){within_x, within_y, within_z, within_x + (ulong)size.x * (within_y + (ulong)size.y * within_z),
                            inside};
}

#ifdef BINDLESS_OPENCL_C

/* Compilers for processors vectorise over work-items themselves. */
#define FOR_ELEMENTS(SIZE, TILE, ARGUMENTS, LOAD, RESULT, DO, PUT)                                                     \
    do {                                                                                                               \
        const ulong rows = (ulong)(SIZE).y * (SIZE).z, count = rows * (SIZE).x;                                        \
        for (ulong i = bindless_global_id(0); i < count; i += bindless_global_size(0)) {                               \
            const ulong row = count >> 32 ? i / (SIZE).x : (uint)i / (SIZE).x;                                         \
            const uint z = (SIZE).z == 1 ? 0 : (uint)(row / (SIZE).y);                                                 \
            const struct element element = {(uint)(i - row * (SIZE).x), (uint)(row - (ulong)z * (SIZE).y), z, i, true};   \
            const ARGUMENTS arguments = LOAD(element);                                                                 \
            const RESULT result = DO(arguments);                                                                       \
            PUT(element, result);                                                                                      \
        }                                                                                                              \
    } while (0)
#define FOR_ELEMENTS_TOGETHER FOR_ELEMENTS

#else

#define ITEMS 4u

enum tile { LINE, PLANE, VOLUME, SLAB };

/* The elements of a lane in a step: the first, and the distance between them along one axis. */
struct lane {
    uint x, y, z;
    uint next_x, next_y, next_z;
};

#if OF_MEMORY
enum { PLANE_X = 128, PLANE_Y = 4, VOLUME_X = 128, VOLUME_Y = 4, VOLUME_Z = 1, SLAB_Z = 4 };
#else
enum { PLANE_X = 32, PLANE_Y = 16, VOLUME_X = 8, VOLUME_Y = 8, VOLUME_Z = 8, SLAB_Z = 8 };
#endif

INLINED uint blocks_of(uint size, uint block) { return (size - 1) / block + 1; }

INLINED uint steps_of(struct extent size, uint tile)
{
    switch (tile) {
    case LINE: return 4 * blocks_of(size.x, 512) * size.y * size.z;
    case PLANE: return 4 * blocks_of(size.x, PLANE_X) * blocks_of(size.y, PLANE_Y) * size.z;
    default: return 4 * blocks_of(size.x, VOLUME_X) * blocks_of(size.y, VOLUME_Y) * blocks_of(size.z, tile == SLAB ? SLAB_Z : VOLUME_Z);
    }
}

INLINED struct lane lane_of(struct extent size, uint tile, uint step, uint me)
{
    const uint block = step / 4, part = step % 4;
    const uint wide = blocks_of(size.x, tile == LINE ? 512 : tile == PLANE ? PLANE_X : VOLUME_X);
    const uint high = tile == LINE ? size.y : blocks_of(size.y, tile == PLANE ? PLANE_Y : VOLUME_Y);
    const uint row = block / wide, column = block - row * wide;
    const uint z = row / high, y = row - z * high;
#if OF_MEMORY
    if (tile != LINE) return (struct lane){128 * column + me, 4 * y + part, tile == SLAB ? SLAB_Z * z : z, LANES, 0, 0};
#endif
    switch (tile) {
    case LINE: return (struct lane){512 * column + 128 * part + me, y, z, LANES, 0, 0};
    case PLANE: return (struct lane){32 * column + 16 * (part % 2) + me % 16, 16 * y + 8 * (part / 2) + me / 16, z, 0, 2, 0};
    default: return (struct lane){8 * column + me % 8, 8 * y + 4 * (part % 2) + me / 8, 8 * z + 4 * (part / 2), 0, 0, 1};
    }
}

/* Planes of a step, one after the other. */
INLINED uint planes_of(uint tile) { return OF_MEMORY && tile == SLAB ? SLAB_Z : 1; }

INLINED struct element element_of(struct extent size, struct lane lane, uint k)
{
    return element_at(size, lane.x + k * lane.next_x, lane.y + k * lane.next_y, lane.z + k * lane.next_z);
}

/* LOAD(element) gives an element's arguments, DO(arguments) reads the image, PUT(element, result) stores. Filters of many
 * texels overlap the accesses of one element. */
#define FOR_ELEMENTS(SIZE, TILE, ARGUMENTS, LOAD, RESULT, DO, PUT)                                                     \
    do {                                                                                                               \
        const uint steps = steps_of(SIZE, TILE), all = (uint)bindless_global_size(0) / LANES;                          \
        const uint me = (uint)bindless_global_id(0);                                                                   \
        for (uint step = me / LANES; step < steps; step += all) {                                                      \
            struct lane lane = lane_of(SIZE, TILE, step, me % LANES);                                                  \
            _Pragma("nounroll") for (uint plane = 0; plane < planes_of(TILE); ++plane, ++lane.z)                       \
            _Pragma("nounroll") for (uint k = 0; k < ITEMS; ++k)                                                       \
            {                                                                                                          \
                const struct element element = element_of(SIZE, lane, k);                                              \
                const ARGUMENTS arguments = LOAD(element); /* what elements share is computed once */                  \
                if (element.inside) {                                                                                  \
                    const RESULT result = DO(arguments);                                                               \
                    PUT(element, result);                                                                              \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

#ifndef __NVPTX__
#define FOR_ELEMENTS_TOGETHER FOR_ELEMENTS
#else

/* The same for single accesses: each phase handles all of a lane's elements before the next one begins, so that their
 * memory accesses overlap. The kind of picture is a constant, so that elements share what they have in common. */
#define FOR_ELEMENTS_OF(SIZE, TILE, ARGUMENTS, LOAD, RESULT, DO, PUT)                                                  \
    do {                                                                                                               \
        const uint steps = steps_of(SIZE, TILE), all = (uint)bindless_global_size(0) / LANES;                          \
        const uint me = (uint)bindless_global_id(0);                                                                   \
        for (uint step = me / LANES; step < steps; step += all) {                                                      \
            const struct lane lane = lane_of(SIZE, TILE, step, me % LANES);                                            \
            struct element elements[ITEMS];                                                                            \
            ARGUMENTS arguments[ITEMS];                                                                                \
            RESULT results[ITEMS];                                                                                     \
            _Pragma("unroll") for (uint k = 0; k < ITEMS; ++k)                                                         \
            {                                                                                                          \
                elements[k] = element_of(SIZE, lane, k);                                                               \
                arguments[k] = LOAD(elements[k]);                                                                      \
            }                                                                                                          \
            _Pragma("unroll") for (uint k = 0; k < ITEMS; ++k) results[k] = DO(arguments[k]);                          \
            _Pragma("unroll") for (uint k = 0; k < ITEMS; ++k) if (elements[k].inside) PUT(elements[k], results[k]);   \
        }                                                                                                              \
    } while (0)

#define FOR_ELEMENTS_TOGETHER(SIZE, TILE, ARGUMENTS, LOAD, RESULT, DO, PUT)                                            \
    do {                                                                                                               \
        if ((TILE) == LINE)                                                                                            \
            FOR_ELEMENTS_OF(SIZE, LINE, ARGUMENTS, LOAD, RESULT, DO, PUT);                                             \
        else if ((TILE) == PLANE)                                                                                      \
            FOR_ELEMENTS_OF(SIZE, PLANE, ARGUMENTS, LOAD, RESULT, DO, PUT);                                            \
        else                                                                                                           \
            FOR_ELEMENTS_OF(SIZE, VOLUME, ARGUMENTS, LOAD, RESULT, DO, PUT);                                           \
    } while (0)

#endif
#endif
#endif
