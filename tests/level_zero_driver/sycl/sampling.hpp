// What a sample is, computed pixel by pixel: positions are multiples of 1/4 of a pixel, so that all weights are exact.
#pragma once

#include "program.hpp"

// The index of a texel along an axis, or -1 for the border.
inline long address(sycl::addressing_mode mode, long texel, long extent)
{
    const long around = ((texel % (2 * extent)) + 2 * extent) % (2 * extent);
    switch (mode) {
    case sycl::addressing_mode::clamp: return texel < 0 || texel >= extent ? -1 : texel;
    case sycl::addressing_mode::repeat: return around % extent;
    case sycl::addressing_mode::mirrored_repeat: return std::min(around, 2 * extent - 1 - around);
    default: return std::clamp(texel, 0l, extent - 1);
    }
}

// The value of a channel at a position in pixels.
inline double sample(const Format &format, const Shape &shape, unsigned channels, const Bytes &pixels, unsigned channel,
                     const float *at, const sycl::addressing_mode *modes, bool linear)
{
    const long extents[3] = {(long)shape.w, (long)shape.h, (long)shape.d};
    double total = 0;
    for (unsigned corner = 0; corner < (linear ? 1u << shape.dimensions : 1); corner++) {
        double weight = 1;
        long index = 0, stride = 1;
        for (unsigned axis = 0; axis < shape.dimensions; axis++) {
            const double from = linear ? at[axis] - 0.5 : at[axis];
            const long texel = (long)std::floor(from) + (corner >> axis & 1);
            const double fraction = from - std::floor(from);
            const long place = address(modes[axis], texel, extents[axis]);
            weight *= place < 0 ? 0 : !linear ? 1 : corner >> axis & 1 ? fraction : 1 - fraction;
            index += std::max(place, 0l) * stride;
            stride *= extents[axis];
        }
        total += weight * format.value(&pixels[(index * channels + channel) * format.size]);
    }
    // Integers of 8 and 16 bits are rounded to the nearest, the fraction of 32 bits is dropped.
    return format.real ? total : std::floor(total + (linear && format.size < 4 ? 0.5 : 0));
}

// Positions around and within an image, or within it alone.
inline std::vector<float> positions(const Shape &shape, size_t count, bool within, std::mt19937 &generator)
{
    const size_t extents[3] = {shape.w, shape.h, shape.d};
    std::vector<float> at;
    for (size_t i = 0; i < count; i++)
        for (unsigned axis = 0; axis < shape.dimensions; axis++) {
            const long quarters = 4 * (long)extents[axis];
            at.push_back(within ? 0.25f * float(generator() % (quarters - 4)) + 0.5f
                                : 0.25f * float((long)(generator() % (3 * quarters)) - quarters));
        }
    return at;
}

inline std::string name_of(sycl::addressing_mode mode)
{
    return "mode " + std::to_string(int(mode));
}
