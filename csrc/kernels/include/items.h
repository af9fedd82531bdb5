/* Distribution of items over a launch.
 *
 * Work-items run in rows of LANES, and a row processes ITEMS items per lane at a time: a step. Each phase of a step
 * handles all of a lane's items before the next phase begins, so that their memory accesses overlap. LOAD(i) reads
 * item i's arguments, DO(arguments) accesses the image, and PUT(i, result, together) converts and stores; together
 * means that the lanes of the row store adjacent items.
 *
 * The assignment of items to steps affects only speed. Items are often the pixels of a picture, row by row, and
 * images have a blocked layout: with `row`, the number of items in a row of the picture, steps are blocks of it,
 * ordered so that blocks that share parts of an image run at nearly the same time. Rows after the last full band of
 * BAND rows are processed in order, and so are all items if row is 0. If the row length is not a multiple of the
 * block width, the last block overlaps the previous one: its items are processed twice, with the same result. */
#ifndef BINDLESS_KERNELS_INCLUDE_ITEMS_H
#define BINDLESS_KERNELS_INCLUDE_ITEMS_H

#include "blob.h"

#ifdef BINDLESS_OPENCL_C

/* Compilers for processors vectorise over work-items themselves: the plain loop compiles in a quarter of the time to
 * code that is twice as fast. */
#define FOR_ITEMS(COUNT, ROW, ARGUMENTS, LOAD, RESULT, DO, PUT)                                                        \
    for (ulong i = bindless_global_id(0); i < (COUNT); i += bindless_global_size(0)) {                                 \
        ARGUMENTS loaded = LOAD(i);                                                                                    \
        RESULT result = DO(loaded);                                                                                    \
        PUT(i, result, false);                                                                                         \
    }

#else

#define ITEMS 4u                /* of a lane per step */
#define STEP (ITEMS * LANES)
#define BAND (2 * ITEMS)        /* rows of a picture; memory blocks are 8 rows high */

/* Set to halve a block's width: lanes then form two rows of 16. A single row of 16-byte pixels is half of each
 * memory unit that it touches, which matters for writes; but then fewer than LANES items are adjacent. */
#ifndef TWO_ROWS
#define TWO_ROWS 0
#endif
#define BLOCK_WIDTH (TWO_ROWS ? LANES / 2 : LANES)

struct walk {
    uint row;     /* 0: in order */
    uint a_band;  /* steps per band */
    uint blocks;  /* steps in all bands */
    ulong banded; /* items in all bands */
    ulong steps;  /* all */
};

static inline struct walk walk_of(ulong count, uint row)
{
    struct walk walk = {0, 1, 0, 0, 0};
    if (row >= LANES && row <= 1u << 24 && count >> 31 == 0) {
        const uint bands = (uint)count / (BAND * row);
        walk.row = row;
        walk.a_band = (row + BLOCK_WIDTH - 1) / BLOCK_WIDTH * (BAND * BLOCK_WIDTH / STEP);
        walk.blocks = bands * walk.a_band;
        walk.banded = bands * BAND * row;
    }
    walk.steps = walk.blocks + (count - walk.banded) / STEP;
    return walk;
}

/* Items of a lane in a step: the first, and the distance between them. */
struct stride {
    ulong first;
    uint next;
};

static inline uint block_start(uint block, uint row)
{
    return (block + 1) * BLOCK_WIDTH <= row ? block * BLOCK_WIDTH : row - BLOCK_WIDTH;
}

static inline struct stride stride_of(struct walk walk, ulong step, uint lane)
{
    if (step >= walk.blocks) return (struct stride){walk.banded + (step - walk.blocks) * STEP + lane, LANES};
    const uint band = (uint)step / walk.a_band;
    const uint block = (uint)step - band * walk.a_band;
#if TWO_ROWS
    const uint x = block_start(block, walk.row) + lane % BLOCK_WIDTH;
    return (struct stride){(band * BAND + lane / BLOCK_WIDTH) * walk.row + x, 2 * walk.row};
#else
    const uint x = block_start(block / 2, walk.row) + lane;
    return (struct stride){(band * BAND + block % 2 * ITEMS) * walk.row + x, walk.row};
#endif
}

#define FOR_ITEMS(COUNT, ROW, ARGUMENTS, LOAD, RESULT, DO, PUT)                                                        \
    do {                                                                                                               \
        const ulong me = bindless_global_id(0), all = bindless_global_size(0);                                         \
        const uint lane = (uint)me % LANES;                                                                            \
        ulong i = me;                                                                                                  \
        if (all % LANES == 0) {                                                                                        \
            const struct walk walk = walk_of(COUNT, ROW);                                                              \
            for (ulong step = me / LANES; step < walk.steps; step += all / LANES) {                                    \
                const struct stride stride = stride_of(walk, step, lane);                                              \
                ARGUMENTS arguments[ITEMS];                                                                            \
                RESULT results[ITEMS];                                                                                 \
                _Pragma("unroll") for (uint k = 0; k < ITEMS; ++k)                                                     \
                {                                                                                                      \
                    ARGUMENTS loaded = LOAD(stride.first + k * stride.next);                                           \
                    arguments[k] = loaded;                                                                             \
                }                                                                                                      \
                _Pragma("unroll") for (uint k = 0; k < ITEMS; ++k) results[k] = DO(arguments[k]);                      \
                _Pragma("unroll") for (uint k = 0; k < ITEMS; ++k)                                                     \
                    PUT(stride.first + k * stride.next, results[k], true);                                             \
            }                                                                                                          \
            i += walk.banded + (walk.steps - walk.blocks) * STEP;                                                      \
        }                                                                                                              \
        /* Items after the last full step, or all items of a launch without full rows of lanes. */                     \
        for (; i < (COUNT); i += all) {                                                                                \
            ARGUMENTS loaded = LOAD(i);                                                                                \
            RESULT result = DO(loaded);                                                                                \
            PUT(i, result, i - lane + (LANES - 1) < (COUNT));                                                          \
        }                                                                                                              \
    } while (0)

#endif
#endif
