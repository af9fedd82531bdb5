/* Pixel formats: channel types, their sizes, and conversions of single channels. */
#ifndef BINDLESS_REFERENCE_IMAGE_PIXEL_FORMAT_H
#define BINDLESS_REFERENCE_IMAGE_PIXEL_FORMAT_H

#include "platform/shared.h"
#include "bindless/reference.h"

#include <stdbool.h>
#include <stdint.h>

#define BLR_NUM_CHANNEL_TYPES 38
#define BLR_NUM_ELEMENT_TYPES 8
#define BLR_MAX_CHANNELS 4
#define BLR_MAX_PIXEL_SIZE 16

/* Conversion between the stored codes of a channel and its values. */
enum blr_format_class {
    BLR_CLASS_SNORM,
    BLR_CLASS_UNORM,
    BLR_CLASS_SIGNED,
    BLR_CLASS_UNSIGNED,
    BLR_CLASS_FLOAT
};

/* Layout of pixels whose channels are bit fields: image/packed_format.h. */
struct blr_packing;

struct blr_format {
    blr_element_type_t storage;           /* element type of a stored channel, or of an unpacked one where packing is set */
    enum blr_format_class class;
    uint32_t size;                        /* bytes of one channel; 0: blocks, whose texels the other members describe */
    int32_t maximum;                      /* largest code, which means 1, of a normalized format, else 0 */
    bool filterable;                      /* supports linear filtering */
    const char *name;                     /* name in bindless: "unorm_int8" */
    const struct blr_packing *packing;    /* layout of bit fields, or NULL */
};

/* The format of a channel type, or NULL for an invalid one. */
const struct blr_format *blr_format_get(blr_channel_type_t channel_type);

/* Whether the channels of a pixel are elements of memory: neither bit fields nor blocks. */
static inline bool blr_format_is_plain(const struct blr_format *format) { return format->packing == NULL && format->size != 0; }

/* Bytes of one pixel, or block of texels; 0 for an unknown channel type or a channel count outside 1..4. */
BLR_SHARED uint32_t blr_pixel_size(blr_channel_type_t channel_type, uint32_t num_channels);

/* Bytes of one element of an array of values; 0 for an unknown type. */
uint32_t blr_element_size(blr_element_type_t element_type);

/* Whether a call may read (FETCH, SAMPLE...) or store (WRITE) values of value_type in images of channel_type: float
 * and half for float and normalized images, the image's own integer type for integer images; a WRITE to a normalized
 * image also takes codes of its storage type, stored verbatim. */
bool blr_format_accepts(blr_channel_type_t channel_type, blr_element_type_t value_type,
                        blr_image_operation_t operation);

/* Half precision: exact widening; narrowing rounds to nearest even. NaNs become quiet. */
float blr_half_to_float(uint16_t half);
uint16_t blr_float_to_half(float value);

/* Decodes one stored channel of a float or normalized format to a float, correctly rounded. */
float blr_format_decode(const struct blr_format *format, const void *channel);

/* The code of one stored channel of a format other than float. */
int64_t blr_format_code(const struct blr_format *format, const void *channel);

/* Encodes a float as a channel of a float or normalized format: normalized values are clamped, NaN becomes 0, the
 * product with the maximum is rounded to nearest even; halves are rounded to nearest even. */
void blr_format_encode(const struct blr_format *format, void *channel, float value);

#endif
