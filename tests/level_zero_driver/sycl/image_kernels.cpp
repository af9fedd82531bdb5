// Kernels of images.cpp, compiled by Intel's SYCL runtime when they run: for each type of texel
// and number of channels, the forms of fetches, writes and samples. A work-item handles the pixel of its number.
#include <sycl/ext/oneapi/bindless_images.hpp>
#include <sycl/sycl.hpp>

#include "user_types.hpp"

namespace sx = sycl::ext::oneapi::experimental;
using Plain = sx::unsampled_image_handle;
using Sampled = sx::sampled_image_handle;

#define KERNEL extern "C" SYCL_EXTERNAL SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sx::nd_range_kernel<1>)) void

template <typename T, int N> struct texel_of {
    using type = sycl::vec<T, N>;
};
template <typename T> struct texel_of<T, 1> {
    using type = T;
};

inline int item() { return (int)sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0); }

template <int D> auto place(int i, int w, int h)
{
    if constexpr (D == 1)
        return i;
    else if constexpr (D == 2)
        return sycl::int2(i % w, i / w);
    else
        return sycl::int3(i % w, i / w % h, i / (w * h));
}

template <int D> auto position(const float *at)
{
    if constexpr (D == 1)
        return at[item()];
    else if constexpr (D == 2)
        return sycl::float2(at[2 * item()], at[2 * item() + 1]);
    else
        return sycl::float3(at[3 * item()], at[3 * item() + 1], at[3 * item() + 2]);
}

template <typename P, int N> P sum(P a, P b)
{
    if constexpr (N == 1)
        return P(a + b);
    else {
        P out;
        for (int c = 0; c < N; c++)
            out[c] = a[c] + b[c];
        return out;
    }
}

// Vectors of three channels have gaps in memory; results have none.
template <typename P, int N> void store(void *out, P texel)
{
    if constexpr (N == 1)
        static_cast<P *>(out)[item()] = texel;
    else
        for (int c = 0; c < N; c++)
            static_cast<typename P::element_type *>(out)[item() * N + c] = texel[c];
}

#define ADD(D, T, tag, N)                                                                                             \
    KERNEL add_##D##d_##tag##N(Plain a, Plain b, Plain out, int w, int h)                                             \
    {                                                                                                                 \
        using P = texel_of<T, N>::type;                                                                               \
        auto at = place<D>(item(), w, h);                                                                             \
        sx::write_image(out, at, sum<P, N>(sx::fetch_image<P>(a, at), sx::fetch_image<P>(b, at)));                    \
    }
#define ADD_ARRAY(D, T, tag, N)                                                                                       \
    KERNEL add_array_##D##d_##tag##N(Plain a, Plain b, Plain out, int w, int h)                                       \
    {                                                                                                                 \
        using P = texel_of<T, N>::type;                                                                               \
        int layer = item() / (w * h);                                                                                 \
        auto at = place<D>(item() % (w * h), w, h);                                                                   \
        sx::write_image_array(                                                                                        \
            out, at, layer, sum<P, N>(sx::fetch_image_array<P>(a, at, layer), sx::fetch_image_array<P>(b, at, layer))); \
    }
#define FETCH(D, T, tag, N)                                                                                           \
    KERNEL fetch_##D##d_##tag##N(Plain image, void *out, int w, int h)                                                \
    {                                                                                                                 \
        using P = texel_of<T, N>::type;                                                                               \
        store<P, N>(out, sx::fetch_image<P>(image, place<D>(item(), w, h)));                                          \
    }                                                                                                                 \
    KERNEL fetch_sampled_##D##d_##tag##N(Sampled image, void *out, int w, int h)                                      \
    {                                                                                                                 \
        using P = texel_of<T, N>::type;                                                                               \
        store<P, N>(out, sx::fetch_image<P>(image, place<D>(item(), w, h)));                                          \
    }
#define FETCH_ARRAY(D, T, tag, N)                                                                                     \
    KERNEL fetch_sampled_array_##D##d_##tag##N(Sampled image, void *out, int w, int h)                                \
    {                                                                                                                 \
        using P = texel_of<T, N>::type;                                                                               \
        store<P, N>(out, sx::fetch_image_array<P>(image, place<D>(item() % (w * h), w, h), item() / (w * h)));        \
    }
#define SAMPLE(D, T, tag, N)                                                                                          \
    KERNEL sample_##D##d_##tag##N(Sampled image, const float *at, void *out)                                          \
    {                                                                                                                 \
        using P = texel_of<T, N>::type;                                                                               \
        store<P, N>(out, sx::sample_image<P>(image, position<D>(at)));                                                \
    }

#define TYPE(T, tag, N)                                                                                               \
    ADD(1, T, tag, N) ADD(2, T, tag, N) ADD(3, T, tag, N) ADD_ARRAY(1, T, tag, N) ADD_ARRAY(2, T, tag, N)             \
    FETCH(1, T, tag, N) FETCH(2, T, tag, N) FETCH(3, T, tag, N) FETCH_ARRAY(1, T, tag, N) FETCH_ARRAY(2, T, tag, N)   \
    SAMPLE(1, T, tag, N) SAMPLE(2, T, tag, N) SAMPLE(3, T, tag, N)
#define CHANNELS(T, tag) TYPE(T, tag, 1) TYPE(T, tag, 2) TYPE(T, tag, 4)

CHANNELS(int8_t, i8)
CHANNELS(uint8_t, u8)
CHANNELS(int16_t, i16)
CHANNELS(uint16_t, u16)
CHANNELS(int32_t, i32)
CHANNELS(uint32_t, u32)
CHANNELS(sycl::half, f16)
CHANNELS(float, f32)

// Pixels as structs of the user: read through a vector of the same size, written as they are.
#define USER(T, tag, N)                                                                                               \
    KERNEL user_##tag##N(Plain plain, Sampled sampled, Plain out, const float *at, int w, int h)                      \
    {                                                                                                                 \
        using S = pixel##N<T>;                                                                                        \
        auto here = place<2>(item(), w, h);                                                                           \
        S one = sx::fetch_image<S, sycl::vec<T, N>>(plain, here);                                                     \
        sx::write_image(out, here, one.plus(sx::sample_image<S, sycl::vec<T, N>>(sampled, position<2>(at))));         \
    }
#define USERS(T, tag) USER(T, tag, 2) USER(T, tag, 4)

USERS(uint8_t, u8)
USERS(uint16_t, u16)
USERS(uint32_t, u32)
USERS(sycl::half, f16)
USERS(float, f32)
