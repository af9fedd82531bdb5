/* BC7: one to three subsets, each with two endpoints, and one or two indices for each texel. */
#include "image/blocks/block_format.h"
#include "image/blocks/block_bits.h"

#include <string.h>

#define NUM_MODES 8u
#define MAX_ENDPOINTS 6u

enum low_bits { NO_LOW_BITS, ONE_OF_SUBSET, ONE_OF_ENDPOINT };

struct mode {
    uint8_t subsets;
    uint8_t partition_bits;
    uint8_t rotation_bits;
    uint8_t selection_bits;
    uint8_t colour_bits, alpha_bits;      /* of an endpoint, without its low bit */
    uint8_t low_bits;                     /* enum low_bits: shared by the channels of one or of two endpoints */
    uint8_t index_bits, second_bits;      /* of a texel's first index, and of its second or 0 */
};
static const struct mode modes[NUM_MODES] = {
    {3, 4, 0, 0, 4, 0, ONE_OF_ENDPOINT, 3, 0}, {2, 6, 0, 0, 6, 0, ONE_OF_SUBSET, 3, 0},
    {3, 6, 0, 0, 5, 0, NO_LOW_BITS, 2, 0},     {2, 6, 0, 0, 7, 0, ONE_OF_ENDPOINT, 2, 0},
    {1, 0, 2, 1, 5, 6, NO_LOW_BITS, 2, 3},     {1, 0, 2, 0, 7, 8, NO_LOW_BITS, 2, 2},
    {1, 0, 0, 0, 7, 7, ONE_OF_ENDPOINT, 4, 0}, {2, 6, 0, 0, 5, 5, ONE_OF_ENDPOINT, 2, 0},
};

/* A number of `bits` bits, 4 to 8, in 8. */
static uint8_t expand(uint32_t value, unsigned int bits)
{
    value <<= 8 - bits;
    return (uint8_t)(value | value >> bits);
}

static void take_endpoints(struct blr_block_bits *bits, const struct mode *mode, uint8_t endpoints[MAX_ENDPOINTS][4])
{
    uint32_t numbers[MAX_ENDPOINTS][4];
    unsigned int count = 2u * mode->subsets;
    for (unsigned int channel = 0; channel < 4; channel++)
        for (unsigned int i = 0; i < count; i++)
            numbers[i][channel] = blr_block_take(bits, channel < 3 ? mode->colour_bits : mode->alpha_bits);
    unsigned int low = mode->low_bits != NO_LOW_BITS;
    for (unsigned int i = 0, bit = 0; low && i < count; i++) {
        if (mode->low_bits == ONE_OF_ENDPOINT || i % 2 == 0)
            bit = blr_block_take(bits, 1);
        for (unsigned int channel = 0; channel < 4; channel++)
            numbers[i][channel] = numbers[i][channel] << 1 | bit;
    }
    for (unsigned int i = 0; i < count; i++) {
        for (unsigned int channel = 0; channel < 3; channel++)
            endpoints[i][channel] = expand(numbers[i][channel], mode->colour_bits + low);
        endpoints[i][3] = mode->alpha_bits ? expand(numbers[i][3], mode->alpha_bits + low) : 255;
    }
}

/* The subset of each texel, and a mask of the texels whose indices lack their highest bit. */
static uint32_t subsets_of(const struct mode *mode, uint32_t partition, uint8_t subsets[BLR_BLOCK_TEXELS])
{
    memset(subsets, 0, BLR_BLOCK_TEXELS);
    if (mode->subsets == 2) {
        for (unsigned int i = 0; i < BLR_BLOCK_TEXELS; i++)
            subsets[i] = blr_block_halves[partition] >> i & 1u;
        return 1u | 1u << blr_block_half_anchors[partition];
    }
    if (mode->subsets == 3) {
        for (unsigned int i = 0; i < BLR_BLOCK_TEXELS; i++)
            subsets[i] = blr_block_thirds[partition] >> 2 * i & 3u;
        return 1u | 1u << blr_block_third_anchors[partition][0] | 1u << blr_block_third_anchors[partition][1];
    }
    return 1u;
}

static void take_weights(struct blr_block_bits *bits, unsigned int index_bits, uint32_t anchors,
                         uint8_t weights[BLR_BLOCK_TEXELS])
{
    for (unsigned int i = 0; i < BLR_BLOCK_TEXELS; i++)
        weights[i] = blr_block_weights[index_bits - 2][blr_block_take(bits, index_bits - (anchors >> i & 1u))];
}

void blr_decode_bc7(const unsigned char *block, void *texels)
{
    unsigned char(*pixels)[4] = texels;
    struct blr_block_bits bits = blr_block_bits_of(block);
    unsigned int number = 0;
    while (number < NUM_MODES && blr_block_take(&bits, 1) == 0)
        number++;
    if (number == NUM_MODES) {            /* reserved: transparent black */
        memset(pixels, 0, 4 * BLR_BLOCK_TEXELS);
        return;
    }
    const struct mode *mode = &modes[number];
    uint32_t partition = blr_block_take(&bits, mode->partition_bits);
    uint32_t rotation = blr_block_take(&bits, mode->rotation_bits);
    uint32_t selection = blr_block_take(&bits, mode->selection_bits);
    uint8_t endpoints[MAX_ENDPOINTS][4], subsets[BLR_BLOCK_TEXELS], weights[2][BLR_BLOCK_TEXELS];
    take_endpoints(&bits, mode, endpoints);
    uint32_t anchors = subsets_of(mode, partition, subsets);
    take_weights(&bits, mode->index_bits, anchors, weights[0]);
    if (mode->second_bits != 0)
        take_weights(&bits, mode->second_bits, anchors, weights[1]);
    const uint8_t *colour = weights[selection], *alpha = weights[mode->second_bits != 0 ? !selection : 0];
    for (unsigned int i = 0; i < BLR_BLOCK_TEXELS; i++) {
        const uint8_t(*ends)[4] = (const uint8_t(*)[4])(endpoints + 2 * subsets[i]);
        for (unsigned int channel = 0; channel < 4; channel++)
            pixels[i][channel] =
                (unsigned char)blr_block_blend(ends[0][channel], ends[1][channel], channel < 3 ? colour[i] : alpha[i]);
        if (rotation != 0) {              /* alpha changes places with red, green or blue */
            unsigned char value = pixels[i][3];
            pixels[i][3] = pixels[i][rotation - 1];
            pixels[i][rotation - 1] = value;
        }
    }
}
