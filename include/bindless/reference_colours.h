/* Colours by tables: a part of the reference driver's API, bindless/reference.h. */
#ifndef BINDLESS_REFERENCE_COLOURS_H
#define BINDLESS_REFERENCE_COLOURS_H

#include "bindless/reference.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The colours of pixels, mapped by a table of three dimensions, linearly between its entries. Before it, each channel may go
 * through a table of its own, the shaper. A value is at the place (value - first) * scale of a table, clamped to it; what
 * is no number is at its beginning. Codes stand for values from 0 to 1; results are rounded to the nearest code, of two
 * to the even one. Weights and sums have single precision. A fourth channel stays as it is. Pixels and values
 * are packed, and the same or apart.
 */
typedef struct blr_colour_table {
    const void *pixels;
    void *values;
    uint64_t count;                       /* pixels */
    blr_element_type_t pixel_type;        /* U8, U16, F16 or F32 */
    blr_element_type_t value_type;
    uint32_t channels;                    /* 3 or 4 */
    uint32_t tetrahedral;                 /* 1: between four entries, the corners of a tetrahedron; 0: between eight */
    const float *table;                   /* size^3 entries of four floats, red fastest; or NULL */
    const float *shaper;                  /* shaper_size entries of three floats; or NULL */
    uint32_t size, shaper_size;           /* at least 2 */
    float first[3], scale[3];
    float shaper_first[3], shaper_scale[3];
} blr_colour_table_t;

BLR_API blr_result_t blrEnqueueColourTable(blr_queue_t queue, const blr_colour_table_t *table, uint32_t num_waits,
                                           const blr_event_t *waits, blr_event_t *event);

#ifdef __cplusplus
}
#endif

#endif
