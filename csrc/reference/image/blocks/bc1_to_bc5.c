/* BC1 to BC5: two endpoints and an index of 2 or 3 bits for each texel. The weights are those of the hardware. */
#include "image/blocks/block_format.h"
#include "image/blocks/block_bits.h"

#include <string.h>

#define SCALAR_INDICES 2                  /* byte of the first index of a block of one channel */

/* ---------------------------------------------------------------- colours */

/* Red, green and blue of 5, 6 and 5 bits, as they are. */
struct colour {
    int32_t red, green, blue;
};

static struct colour colour_of(uint32_t code)
{
    return (struct colour){(int32_t)(code >> 11), (int32_t)(code >> 5 & 63), (int32_t)(code & 31)};
}

static int32_t green8(const struct colour *colour)
{
    return colour->green << 2 | colour->green >> 4;
}

static void write_pixel(unsigned char pixel[4], int32_t red, int32_t green, int32_t blue, int32_t alpha)
{
    pixel[0] = (unsigned char)red;
    pixel[1] = (unsigned char)green;
    pixel[2] = (unsigned char)blue;
    pixel[3] = (unsigned char)alpha;
}

static void write_endpoint(unsigned char pixel[4], const struct colour *colour)
{
    write_pixel(pixel, colour->red << 3 | colour->red >> 2, green8(colour), colour->blue << 3 | colour->blue >> 2, 255);
}

/* Green at about a third, `weight` 80, or half, 128, of the way from `first` to `second`. */
static int32_t blend_green(int32_t first, int32_t second, int32_t weight)
{
    int32_t difference = second - first;
    return (256 * first + difference / 4 + 128 + difference * weight) >> 8;
}

/* The colour a third of the way from `near` to `far`. */
static void write_third(unsigned char pixel[4], const struct colour *near, const struct colour *far)
{
    write_pixel(pixel, (2 * near->red + far->red) * 22 >> 3, blend_green(green8(near), green8(far), 80),
                (2 * near->blue + far->blue) * 22 >> 3, 255);
}

/* Colours of a block of 8 bytes; with `cut_out`, a first endpoint that is not larger makes the fourth transparent. */
static void decode_colours(const unsigned char *block, bool cut_out, unsigned char texels[BLR_BLOCK_TEXELS][4])
{
    uint32_t codes[2] = {(uint32_t)blr_block_number(block, 2), (uint32_t)blr_block_number(block + 2, 2)};
    struct colour first = colour_of(codes[0]), second = colour_of(codes[1]);
    unsigned char palette[4][4] = {{0}};
    write_endpoint(palette[0], &first);
    write_endpoint(palette[1], &second);
    if (!cut_out || codes[0] > codes[1]) {
        write_third(palette[2], &first, &second);
        write_third(palette[3], &second, &first);
    } else {
        write_pixel(palette[2], (first.red + second.red) * 33 >> 3, blend_green(green8(&first), green8(&second), 128),
                    (first.blue + second.blue) * 33 >> 3, 255);
    }
    uint32_t indices = (uint32_t)blr_block_number(block + 4, 4);
    for (unsigned int i = 0; i < BLR_BLOCK_TEXELS; i++, indices >>= 2)
        memcpy(texels[i], palette[indices & 3u], 4);
}

void blr_decode_bc1(const unsigned char *block, void *texels)
{
    decode_colours(block, true, texels);
}

void blr_decode_bc2(const unsigned char *block, void *texels)
{
    unsigned char(*pixels)[4] = texels;
    decode_colours(block + 8, false, pixels);
    uint64_t alphas = blr_block_number(block, 8);
    for (unsigned int i = 0; i < BLR_BLOCK_TEXELS; i++, alphas >>= 4)
        pixels[i][3] = (unsigned char)((alphas & 15u) * 17u);
}

/* ---------------------------------------------------------------- one channel */

/* How a value of a palette is made of its two endpoints, in the order of indices: one of them, and the weight of the
 * other, multiplied by eight. A first endpoint that is larger has six values between, else four and the two ends of the
 * range. The weights are of 256 in 8 bits; in 16 bits they lack their last three bits, and are of 257 and 258. */
struct blend {
    uint8_t start;
    uint16_t weight;
};
static const struct blend sixths[8] = {{0, 0}, {1, 0}, {0, 289}, {0, 578}, {1, 1156}, {0, 1156}, {1, 578}, {1, 289}};
static const struct blend fourths[6] = {{0, 0}, {1, 0}, {0, 385}, {0, 770}, {1, 770}, {1, 385}};

static int32_t blend8(int32_t start, int32_t end, int32_t weight)
{
    return start + (((end - start) * weight + 1024) >> 11);
}

static int32_t blend_unorm16(int32_t start, int32_t end, int32_t weight)
{
    return start * 257 + (end - start) * (weight >> 3);
}

static int32_t blend_snorm16(int32_t start, int32_t end, int32_t weight)
{
    return start * 258 + (start >= 64) - (start <= -64) + (end - start) * (weight >> 3);
}

/* The eight values of endpoints; `lowest` and `highest` are the ends of the range. */
static void fill_palette(int32_t palette[8], const int32_t endpoints[2], int32_t lowest, int32_t highest,
                         int32_t (*blend)(int32_t start, int32_t end, int32_t weight))
{
    bool six = endpoints[0] > endpoints[1];
    palette[6] = lowest;
    palette[7] = highest;
    for (unsigned int i = 0; i < (six ? 8u : 6u); i++) {
        struct blend way = six ? sixths[i] : fourths[i];
        palette[i] = blend(endpoints[way.start], endpoints[!way.start], way.weight);
    }
}

void blr_decode_bc3(const unsigned char *block, void *texels)
{
    unsigned char(*pixels)[4] = texels;
    decode_colours(block + 8, false, pixels);
    int32_t palette[8];
    fill_palette(palette, (int32_t[2]){block[0], block[1]}, 0, 255, blend8);
    uint64_t indices = blr_block_number(block + SCALAR_INDICES, 6);
    for (unsigned int i = 0; i < BLR_BLOCK_TEXELS; i++, indices >>= 3)
        pixels[i][3] = (unsigned char)palette[indices & 7u];
}

/* One channel in 16 bits to every `stride`-th of `values`. */
static void decode_channel(const unsigned char *block, bool is_signed, uint16_t *values, unsigned int stride)
{
    int32_t palette[8];
    if (is_signed) {
        int32_t endpoints[2];
        for (int i = 0; i < 2; i++) {
            endpoints[i] = block[i] < 128 ? block[i] : block[i] - 256;
            if (endpoints[i] == -128)
                endpoints[i] = -127;
        }
        fill_palette(palette, endpoints, -32767, 32767, blend_snorm16);
    } else {
        fill_palette(palette, (int32_t[2]){block[0], block[1]}, 0, 65535, blend_unorm16);
    }
    uint64_t indices = blr_block_number(block + SCALAR_INDICES, 6);
    for (unsigned int i = 0; i < BLR_BLOCK_TEXELS; i++, indices >>= 3)
        values[i * stride] = (uint16_t)palette[indices & 7u];
}

void blr_decode_bc4_unorm(const unsigned char *block, void *texels)
{
    decode_channel(block, false, texels, 1);
}

void blr_decode_bc4_snorm(const unsigned char *block, void *texels)
{
    decode_channel(block, true, texels, 1);
}

void blr_decode_bc5_unorm(const unsigned char *block, void *texels)
{
    uint16_t *values = texels;
    decode_channel(block, false, values, 2);
    decode_channel(block + 8, false, values + 1, 2);
}

void blr_decode_bc5_snorm(const unsigned char *block, void *texels)
{
    uint16_t *values = texels;
    decode_channel(block, true, values, 2);
    decode_channel(block + 8, true, values + 1, 2);
}
