/* Pixel formats: channel types, one to four channels; sizes and single-channel conversions. */
#ifndef BLR_FORMAT_H
#define BLR_FORMAT_H

#include "bindless/reference.h"

#include <stdbool.h>
#include <stdint.h>

#define BLR_NUM_CHANNEL_TYPES 23
#define BLR_NUM_ELEMENT_TYPES 8
#define BLR_MAX_CHANNELS 4
#define BLR_MAX_PIXEL_SIZE 16

/* How the codes of a channel are turned into values. */
enum blr_format_class {
    BLR_CLASS_SNORM,
    BLR_CLASS_UNORM,
    BLR_CLASS_SIGNED,
    BLR_CLASS_UNSIGNED,
    BLR_CLASS_FLOAT
};

/* Pixels that are not one element after the other: format_packed.h. */
struct blr_packing;

struct blr_format {
    blr_element_type_t storage;           /* the element type of a stored channel; unpacked, where there is a packing */
    enum blr_format_class class;
    uint32_t size;                        /* bytes of one channel */
    int32_t maximum;                      /* the code that means 1 in a normalized format, else 0 */
    bool filterable;                      /* linear filtering is offered */
    const char *name;                     /* as written in bindless: "unorm_int8" */
    const struct blr_packing *packing;    /* or NULL */
};

/* The table's row, or NULL for a value that is not a channel type. */
const struct blr_format *blr_format_get(blr_channel_type_t channel_type);

/* Bytes of one pixel; 0 for an unknown channel type or a channel count outside 1..4. */
uint32_t blr_pixel_size(blr_channel_type_t channel_type, uint32_t num_channels);

/* Bytes of one element of an array of values; 0 for an unknown type. */
uint32_t blr_element_size(blr_element_type_t element_type);

/* Whether values of value_type may be read from (FETCH, SAMPLE...) or stored to (WRITE) images of
 * channel_type: float and half for float and normalized images, the own integer type for integer
 * images; a WRITE to a normalized image also takes codes of its own storage type, stored verbatim. */
bool blr_format_accepts(blr_channel_type_t channel_type, blr_element_type_t value_type,
                        blr_image_operation_t operation);

/* Half precision: exact widening; narrowing to nearest even. NaNs become quiet. */
float blr_half_to_float(uint16_t half);
uint16_t blr_float_to_half(float value);

/* One stored channel of a float or normalized format as a float, correctly rounded. */
float blr_format_decode(const struct blr_format *format, const void *channel);

/* One stored channel of a format other than float as its code. */
int64_t blr_format_code(const struct blr_format *format, const void *channel);

/* Stores a float in a channel of a float or normalized format: normalized values are clamped, NaN
 * is 0, the product with the maximum is rounded to nearest even; halves are rounded to nearest even. */
void blr_format_encode(const struct blr_format *format, void *channel, float value);

#endif
