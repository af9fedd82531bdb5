/*
 * Device functions of sycl_ext_oneapi_bindless_images (BI) for kernels in CUDA C++: NVRTC, CuPy, nvcc.
 *
 *     module = cupy.RawModule(code=source, options=(f"-I{bindless.get_include()}",))      # see docs/other_kernels.md
 *
 * Handles are the 64-bit numbers of bindless.create_image and of bindless.Image: kernel arguments, elements of arrays,
 * members of structures. The functions have the names of bindless/device.h, in the namespace `bindless`, and the type
 * of the result as a template argument:
 *
 *     #include <bindless/cuda.h>
 *     extern "C" __global__ void halve(unsigned long long image, float4 *out)
 *     {
 *         const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
 *         out[i] = bindless::sample_image<float4>(image, make_float2(2 * i + 1.0f, 0.5f));
 *     }
 *
 * Coordinates: float (1D), float2 (x, y) or float3 (x, y, z); pixel i has its centre at i + 0.5, or 0 to 1 spans the
 * image if the sampler's coordinates are normalized. Integers int, int2 and int3 count pixels from 0.
 *
 * Sampled images; T is float, int or unsigned, or their vectors of 2 or 4 components:
 *   T sample_image<T>(handle, at)                          a mipmap is sampled at level 0
 *   T sample_image_array<T>(handle, at, layer)             at: float or float2
 *   T sample_mipmap<T>(handle, at, level)
 *   T sample_mipmap<T>(handle, at, dx, dy)                 gradients, of the type of the coordinates
 *   T sample_cubemap<T>(handle, direction)                 float3
 *   T fetch_sampled_image<T>(handle, at)                   one pixel, without the sampler
 *   T fetch_sampled_image_array<T>(handle, at, layer)      at: int or int2
 * Unsampled images; T has the bits of a pixel (1, 2, 4, 8 or 16 bytes): float4, unsigned char, uchar4, ushort2, ...
 *   T fetch_image<T>(handle, at)                           outside the image the result is 0
 *   T fetch_image_array<T>(handle, at, layer)
 *   void write_image(handle, at, value)                    outside the image it has no effect
 *   void write_image_array(handle, at, layer, value)
 *
 * Each call is one texture or surface instruction. Handles may differ between the threads of a warp: GPUs from sm_90 on
 * take one handle at a time, so that a warp with n different handles needs n times the instructions. Compilers of CUDA
 * 12 can lose results of such warps; there, the functions make their own loop over the handles (about 12 instructions).
 */
#ifndef BINDLESS_CUDA_H
#define BINDLESS_CUDA_H

namespace bindless {

typedef unsigned long long sampled_image_handle;
typedef unsigned long long unsampled_image_handle;

namespace detail {

#define BINDLESS_INLINE static __device__ __forceinline__

#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13 && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define BINDLESS_ONE_HANDLE_AT_A_TIME 1
#else
#define BINDLESS_ONE_HANDLE_AT_A_TIME 0
#endif

/* Runs a function for the threads with one handle after the other. */
template <class Run> BINDLESS_INLINE void for_each_handle(unsigned long long handle, Run run)
{
#if BINDLESS_ONE_HANDLE_AT_A_TIME
    const unsigned lanes = __activemask();
    unsigned left = lanes;
    do {
        const unsigned long long one = __shfl_sync(lanes, handle, __ffs(left) - 1);
        const bool mine = one == handle;
        left &= ~__ballot_sync(lanes, mine);
        if (mine) run();
    } while (left);
#else
    (void)handle;
    run();
#endif
}

template <class Scalar> struct texel {
    Scalar r, g, b, a;
};

template <class T> struct channels;
#define BINDLESS_CHANNELS(SCALAR, TWO, FOUR)                                                                           \
    template <> struct channels<SCALAR> {                                                                              \
        typedef SCALAR scalar;                                                                                         \
        BINDLESS_INLINE SCALAR of(texel<SCALAR> t) { return t.r; }                                                     \
    };                                                                                                                 \
    template <> struct channels<TWO> {                                                                                 \
        typedef SCALAR scalar;                                                                                         \
        BINDLESS_INLINE TWO of(texel<SCALAR> t) { return make_##TWO(t.r, t.g); }                                       \
    };                                                                                                                 \
    template <> struct channels<FOUR> {                                                                                \
        typedef SCALAR scalar;                                                                                         \
        BINDLESS_INLINE FOUR of(texel<SCALAR> t) { return make_##FOUR(t.r, t.g, t.b, t.a); }                           \
    };
BINDLESS_CHANNELS(float, float2, float4)
BINDLESS_CHANNELS(int, int2, int4)
BINDLESS_CHANNELS(unsigned, uint2, uint4)
#undef BINDLESS_CHANNELS

/* Overloads of NAME for the three kinds of values; the operands of PTX begin with the results %0 to %3 and the handle
 * %4, and HANDLES_AND_MORE are the other inputs. */
#define BINDLESS_TEXTURE_OF(SCALAR, LETTER, KIND, NAME, PARAMETERS, BEFORE, AFTER, ...)                                \
    BINDLESS_INLINE void NAME(texel<SCALAR> &t, unsigned long long image, PARAMETERS)                                  \
    {                                                                                                                  \
        for_each_handle(image, [&] {                                                                                   \
            asm(BEFORE KIND AFTER                                                                                      \
                : "=" LETTER(t.r), "=" LETTER(t.g), "=" LETTER(t.b), "=" LETTER(t.a)                                   \
                : "l"(image), __VA_ARGS__);                                                                            \
        });                                                                                                            \
    }
#define BINDLESS_TEXTURE(NAME, PARAMETERS, BEFORE, AFTER, ...)                                                         \
    BINDLESS_TEXTURE_OF(float, "f", "f32", NAME, BINDLESS_LIST PARAMETERS, BEFORE, AFTER, __VA_ARGS__)                 \
    BINDLESS_TEXTURE_OF(int, "r", "s32", NAME, BINDLESS_LIST PARAMETERS, BEFORE, AFTER, __VA_ARGS__)                   \
    BINDLESS_TEXTURE_OF(unsigned, "r", "u32", NAME, BINDLESS_LIST PARAMETERS, BEFORE, AFTER, __VA_ARGS__)
#define BINDLESS_LIST(...) __VA_ARGS__
#define BINDLESS_FOUR ".f32 {%0, %1, %2, %3}, [%4, "
#define BINDLESS_FOUR_WHOLE ".s32 {%0, %1, %2, %3}, [%4, "
#define BINDLESS_2(V, C) C(V.x), C(V.y)
#define BINDLESS_3(V, C) C(V.x), C(V.y), C(V.z)

BINDLESS_TEXTURE(sample, (float p), "tex.1d.v4.", BINDLESS_FOUR "{%5}];", "f"(p))
BINDLESS_TEXTURE(sample, (float2 p), "tex.2d.v4.", BINDLESS_FOUR "{%5, %6}];", BINDLESS_2(p, "f"))
BINDLESS_TEXTURE(sample, (float3 p), "tex.3d.v4.", BINDLESS_FOUR "{%5, %6, %7, %7}];", BINDLESS_3(p, "f"))
BINDLESS_TEXTURE(cube, (float3 p), "tex.cube.v4.", BINDLESS_FOUR "{%5, %6, %7, %7}];", BINDLESS_3(p, "f"))
BINDLESS_TEXTURE(layer, (float p, unsigned n), "tex.a1d.v4.", BINDLESS_FOUR "{%5, %6}];", "r"(n), "f"(p))
BINDLESS_TEXTURE(layer, (float2 p, unsigned n), "tex.a2d.v4.", BINDLESS_FOUR "{%5, %6, %7, %7}];", "r"(n),
                 BINDLESS_2(p, "f"))
BINDLESS_TEXTURE(level, (float p, float l), "tex.level.1d.v4.", BINDLESS_FOUR "{%5}], %6;", "f"(p), "f"(l))
BINDLESS_TEXTURE(level, (float2 p, float l), "tex.level.2d.v4.", BINDLESS_FOUR "{%5, %6}], %7;", BINDLESS_2(p, "f"),
                 "f"(l))
BINDLESS_TEXTURE(level, (float3 p, float l), "tex.level.3d.v4.", BINDLESS_FOUR "{%5, %6, %7, %7}], %8;",
                 BINDLESS_3(p, "f"), "f"(l))
BINDLESS_TEXTURE(slope, (float p, float dx, float dy), "tex.grad.1d.v4.", BINDLESS_FOUR "{%5}], {%6}, {%7};", "f"(p),
                 "f"(dx), "f"(dy))
BINDLESS_TEXTURE(slope, (float2 p, float2 dx, float2 dy), "tex.grad.2d.v4.",
                 BINDLESS_FOUR "{%5, %6}], {%7, %8}, {%9, %10};", BINDLESS_2(p, "f"), BINDLESS_2(dx, "f"),
                 BINDLESS_2(dy, "f"))
BINDLESS_TEXTURE(slope, (float3 p, float3 dx, float3 dy), "tex.grad.3d.v4.",
                 BINDLESS_FOUR "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13};", BINDLESS_3(p, "f"),
                 BINDLESS_3(dx, "f"), BINDLESS_3(dy, "f"))
/* One-dimensional arrays are two-dimensional ones of height 1 to a fetch. */
BINDLESS_TEXTURE(fetch, (int p), "tex.2d.v4.", BINDLESS_FOUR_WHOLE "{%5, %6}];", "r"(p), "r"(0))
BINDLESS_TEXTURE(fetch, (int2 p), "tex.2d.v4.", BINDLESS_FOUR_WHOLE "{%5, %6}];", BINDLESS_2(p, "r"))
BINDLESS_TEXTURE(fetch, (int3 p), "tex.3d.v4.", BINDLESS_FOUR_WHOLE "{%5, %6, %7, %7}];", BINDLESS_3(p, "r"))
BINDLESS_TEXTURE(fetch_layer, (int p, unsigned n), "tex.a2d.v4.", BINDLESS_FOUR_WHOLE "{%5, %6, %7, %7}];", "r"(n),
                 "r"(p), "r"(0))
BINDLESS_TEXTURE(fetch_layer, (int2 p, unsigned n), "tex.a2d.v4.", BINDLESS_FOUR_WHOLE "{%5, %6, %7, %7}];", "r"(n),
                 BINDLESS_2(p, "r"))

#undef BINDLESS_TEXTURE
#undef BINDLESS_TEXTURE_OF
#undef BINDLESS_FOUR
#undef BINDLESS_FOUR_WHOLE

/* The registers of a pixel of a number of bytes. */
template <int bytes> struct blob;
template <> struct blob<1> {
    unsigned short v[1];
};
template <> struct blob<2> {
    unsigned short v[1];
};
template <> struct blob<4> {
    unsigned v[1];
};
template <> struct blob<8> {
    unsigned v[2];
};
template <> struct blob<16> {
    unsigned v[4];
};
template <class T> union pixel {
    blob<sizeof(T)> bits;
    T value;
    __device__ __forceinline__ pixel() : bits() {}
};

/* In PTX the operands are the values, the handle H and the place, whose first coordinate X counts bytes. */
#define BINDLESS_SURFACE(BYTES, WIDTH, GEOMETRY, PARAMETERS, VALUES, OUT, IN, H, PLACE, ...)                           \
    BINDLESS_INLINE void read(blob<BYTES> &b, unsigned long long image, PARAMETERS)                                    \
    {                                                                                                                  \
        for_each_handle(image, [&] {                                                                                   \
            asm volatile("suld.b." GEOMETRY WIDTH ".zero {" VALUES "}, [" H ", {" PLACE "}];"                          \
                         : OUT                                                                                         \
                         : "l"(image), __VA_ARGS__                                                                     \
                         : "memory");                                                                                  \
        });                                                                                                            \
    }                                                                                                                  \
    BINDLESS_INLINE void write(const blob<BYTES> &b, unsigned long long image, PARAMETERS)                             \
    {                                                                                                                  \
        for_each_handle(image, [&] {                                                                                   \
            asm volatile("sust.b." GEOMETRY WIDTH ".zero [" H ", {" PLACE "}], {" VALUES "};"                          \
                         :                                                                                             \
                         : IN, "l"(image), __VA_ARGS__                                                                 \
                         : "memory");                                                                                  \
        });                                                                                                            \
    }
#define BINDLESS_SURFACES(BYTES, WIDTH, VALUES, OUT, IN, H, X, Y, Z)                                                   \
    BINDLESS_SURFACE(BYTES, WIDTH, "1d", BINDLESS_LIST(int x), VALUES, BINDLESS_LIST OUT, BINDLESS_LIST IN, H, X,      \
                     "r"(x * BYTES))                                                                                   \
    BINDLESS_SURFACE(BYTES, WIDTH, "2d", BINDLESS_LIST(int x, int y), VALUES, BINDLESS_LIST OUT, BINDLESS_LIST IN, H,  \
                     X ", " Y, "r"(x * BYTES), "r"(y))                                                                 \
    BINDLESS_SURFACE(BYTES, WIDTH, "3d", BINDLESS_LIST(int x, int y, int z), VALUES, BINDLESS_LIST OUT,                \
                     BINDLESS_LIST IN, H, X ", " Y ", " Z ", " Z, "r"(x * BYTES), "r"(y), "r"(z))                      \
    BINDLESS_SURFACE(BYTES, WIDTH, "a1d", BINDLESS_LIST(unsigned n, int x), VALUES, BINDLESS_LIST OUT,                 \
                     BINDLESS_LIST IN, H, X ", " Y, "r"(n), "r"(x * BYTES))                                            \
    BINDLESS_SURFACE(BYTES, WIDTH, "a2d", BINDLESS_LIST(unsigned n, int x, int y), VALUES, BINDLESS_LIST OUT,          \
                     BINDLESS_LIST IN, H, X ", " Y ", " Z ", " Z, "r"(n), "r"(x * BYTES), "r"(y))
#define BINDLESS_OUT_1(L) ("=" L(b.v[0]))
#define BINDLESS_IN_1(L) (L(b.v[0]))
#define BINDLESS_OUT_2 ("=r"(b.v[0]), "=r"(b.v[1]))
#define BINDLESS_IN_2 ("r"(b.v[0]), "r"(b.v[1]))
#define BINDLESS_OUT_4 ("=r"(b.v[0]), "=r"(b.v[1]), "=r"(b.v[2]), "=r"(b.v[3]))
#define BINDLESS_IN_4 ("r"(b.v[0]), "r"(b.v[1]), "r"(b.v[2]), "r"(b.v[3]))

BINDLESS_SURFACES(1, ".b8", "%0", BINDLESS_OUT_1("h"), BINDLESS_IN_1("h"), "%1", "%2", "%3", "%4")
BINDLESS_SURFACES(2, ".b16", "%0", BINDLESS_OUT_1("h"), BINDLESS_IN_1("h"), "%1", "%2", "%3", "%4")
BINDLESS_SURFACES(4, ".b32", "%0", BINDLESS_OUT_1("r"), BINDLESS_IN_1("r"), "%1", "%2", "%3", "%4")
BINDLESS_SURFACES(8, ".v2.b32", "%0, %1", BINDLESS_OUT_2, BINDLESS_IN_2, "%2", "%3", "%4", "%5")
BINDLESS_SURFACES(16, ".v4.b32", "%0, %1, %2, %3", BINDLESS_OUT_4, BINDLESS_IN_4, "%4", "%5", "%6", "%7")

}  // namespace detail

#define BINDLESS_SAMPLES(NAME, PRIMITIVE, PARAMETERS, ...)                                                             \
    template <class T> BINDLESS_INLINE T NAME(sampled_image_handle image, PARAMETERS)                                  \
    {                                                                                                                  \
        detail::texel<typename detail::channels<T>::scalar> t = {};                                                    \
        detail::PRIMITIVE(t, image, __VA_ARGS__);                                                                      \
        return detail::channels<T>::of(t);                                                                             \
    }
#define BINDLESS_LIST_2(A, B) A, B
#define BINDLESS_LIST_3(A, B, C) A, B, C
BINDLESS_SAMPLES(sample_image, sample, float at, at)
BINDLESS_SAMPLES(sample_image, sample, float2 at, at)
BINDLESS_SAMPLES(sample_image, sample, float3 at, at)
BINDLESS_SAMPLES(sample_image_array, layer, BINDLESS_LIST_2(float at, unsigned layer), at, layer)
BINDLESS_SAMPLES(sample_image_array, layer, BINDLESS_LIST_2(float2 at, unsigned layer), at, layer)
BINDLESS_SAMPLES(sample_mipmap, level, BINDLESS_LIST_2(float at, float level), at, level)
BINDLESS_SAMPLES(sample_mipmap, level, BINDLESS_LIST_2(float2 at, float level), at, level)
BINDLESS_SAMPLES(sample_mipmap, level, BINDLESS_LIST_2(float3 at, float level), at, level)
BINDLESS_SAMPLES(sample_mipmap, slope, BINDLESS_LIST_3(float at, float dx, float dy), at, dx, dy)
BINDLESS_SAMPLES(sample_mipmap, slope, BINDLESS_LIST_3(float2 at, float2 dx, float2 dy), at, dx, dy)
BINDLESS_SAMPLES(sample_mipmap, slope, BINDLESS_LIST_3(float3 at, float3 dx, float3 dy), at, dx, dy)
BINDLESS_SAMPLES(sample_cubemap, cube, float3 direction, direction)
BINDLESS_SAMPLES(fetch_sampled_image, fetch, int at, at)
BINDLESS_SAMPLES(fetch_sampled_image, fetch, int2 at, at)
BINDLESS_SAMPLES(fetch_sampled_image, fetch, int3 at, at)
BINDLESS_SAMPLES(fetch_sampled_image_array, fetch_layer, BINDLESS_LIST_2(int at, unsigned layer), at, layer)
BINDLESS_SAMPLES(fetch_sampled_image_array, fetch_layer, BINDLESS_LIST_2(int2 at, unsigned layer), at, layer)

#define BINDLESS_PIXELS(READ, WRITE, PARAMETERS, ...)                                                                  \
    template <class T> BINDLESS_INLINE T READ(unsampled_image_handle image, PARAMETERS)                                \
    {                                                                                                                  \
        detail::pixel<T> p;                                                                                            \
        detail::read(p.bits, image, __VA_ARGS__);                                                                      \
        return p.value;                                                                                                \
    }                                                                                                                  \
    template <class T> BINDLESS_INLINE void WRITE(unsampled_image_handle image, PARAMETERS, T value)                   \
    {                                                                                                                  \
        detail::pixel<T> p;                                                                                            \
        p.value = value;                                                                                               \
        detail::write(p.bits, image, __VA_ARGS__);                                                                     \
    }
BINDLESS_PIXELS(fetch_image, write_image, int at, at)
BINDLESS_PIXELS(fetch_image, write_image, int2 at, at.x, at.y)
BINDLESS_PIXELS(fetch_image, write_image, int3 at, at.x, at.y, at.z)
BINDLESS_PIXELS(fetch_image_array, write_image_array, BINDLESS_LIST_2(int at, unsigned layer), layer, at)
BINDLESS_PIXELS(fetch_image_array, write_image_array, BINDLESS_LIST_2(int2 at, unsigned layer), layer, at.x, at.y)

}  // namespace bindless

#undef BINDLESS_2
#undef BINDLESS_3
#undef BINDLESS_INLINE
#undef BINDLESS_IN_1
#undef BINDLESS_IN_2
#undef BINDLESS_IN_4
#undef BINDLESS_LIST
#undef BINDLESS_LIST_2
#undef BINDLESS_LIST_3
#undef BINDLESS_ONE_HANDLE_AT_A_TIME
#undef BINDLESS_OUT_1
#undef BINDLESS_OUT_2
#undef BINDLESS_OUT_4
#undef BINDLESS_PIXELS
#undef BINDLESS_SAMPLES
#undef BINDLESS_SURFACE
#undef BINDLESS_SURFACES
#endif
