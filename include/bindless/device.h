/*
 * Device functions of sycl_ext_oneapi_bindless_images (BI) for kernels written in OpenCL C.
 *
 *     bindless build kernel.cl -o kernel.blk        finds this header by itself; see docs/guide/kernels.md
 *
 * The same source compiles for every target: a small prelude for each target defines the primitives that this header
 * declares (texture and surface instructions for PTX, SPV_INTEL_bindless_images for SPIR-V), and BI's functions use them.
 * Handles are 64-bit integers: kernel arguments by value, elements of arrays, or read through any pointer.
 *
 *     kernel void halve(sampled_image_handle image, global float4 *out)
 *     {
 *         size_t i = bindless_global_id(0);
 *         out[i] = sample_image_float4(image, (float2)(2 * i + 1.0f, 0.5f));
 *     }
 *
 *     kernel void tile(global const sampled_image_handle *atlas, global const uint *which, global float4 *out)
 *     {
 *         size_t i = bindless_global_id(0);
 *         out[i] = sample_image_float4(atlas[which[i]], (float2)(0.5f, 0.5f));
 *     }
 *
 * OpenCL C cannot overload on a result type, so function names end with it: T below is any of float, half, int, uint,
 * short, ushort, char, uchar, scalar or with 2, 3 or 4 components. half needs cl_khr_fp16, which `bindless build` enables.
 * A result has as many components as its type, independent of the image; channels that the image lacks are 0. A vector of
 * 3 components has the size of one of 4, and writing one stores 0 in the fourth channel.
 *
 * User types (BI's DataT with a HintT): a structure of a recognized type's size holds the same bits.
 *   DataT bindless_as(DataT, HintT, value)
 *       fetch_image<DataT, HintT>(image, at) of BI is bindless_as(DataT, HintT, fetch_image_HintT(image, at)), and
 *       write_image(image, at, color) of a DataT is write_image(image, at, bindless_as(HintT, DataT, color)). Types of
 *       different sizes are a compile error.
 *
 * The coordinate type selects the geometry: a scalar for 1D, two components (x, y) for 2D, three (x, y, z) for 3D. Integer
 * coordinates count pixels from 0. Float coordinates count pixels too, with the centre of pixel i at i + 0.5, unless the
 * sampler's coordinates are normalized: then 0 to 1 spans the image.
 *
 * Sampled images
 *
 *   T sample_image_T(sampled_image_handle, float | float2 | float3)
 *       Samples at a coordinate. A mipmap is sampled at level 0.
 *   T sample_image_array_T(sampled_image_handle, float | float2, uint layer)
 *       The same in one layer of an array, counted from 0; larger numbers are clamped to the last layer.
 *   T sample_mipmap_T(sampled_image_handle, float | float2 | float3, float level)
 *       Samples at a level of a mipmap: 0 is the largest, 1.5 interpolates between the next two.
 *   T sample_mipmap_T(sampled_image_handle, coordinate, dx, dy)
 *       The same with gradients: the coordinate's differences to the next pixel on the right and below determine the level
 *       and the anisotropic footprint. dx and dy have the coordinate's type.
 *   T sample_cubemap_T(sampled_image_handle, float3 direction)
 *       Samples where a ray from the centre intersects the cube; the direction may have any length.
 *   T sample_image_cubic_T(sampled_image_handle, float | float2 | float3)
 *   T sample_image_cubic_array_T(sampled_image_handle, float | float2, uint layer)
 *       The cubic B-spline whose coefficients are the pixels, as a sum of 2, 4 or 8 samples: the sampler's filtering is
 *       linear, its coordinates count pixels. T is float or half, with 1 to 4 components. The spline passes through the
 *       pixels of a picture if the image has their coefficients (scipy's spline_filter).
 *   T sample_image_cubic_T(sampled_image_handle, coordinate, size), T sample_image_cubic_array_T(..., layer, size)
 *       The same for a sampler with normalized coordinates. size has the numbers of pixels, in the coordinate's type.
 *   T4 gather_image_T4(sampled_image_handle, float2, uint component)
 *       One component, 0 to 3, of the four pixels that linear filtering blends at a coordinate of a 2D image,
 *       counter-clockwise from the lower left: (x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y). T4 has four components.
 *       Requires Aspect.ext_oneapi_bindless_images_gather; OpenCL has no such instruction. On CUDA the image has at most
 *       16384 pixels along each axis.
 *   T fetch_sampled_image_T(sampled_image_handle, int | int2 | int3)
 *       Reads one pixel without the sampler. (BI's fetch_image for sampled images; handles are plain integers here, so
 *       the function name distinguishes them.)
 *   T fetch_sampled_image_array_T(sampled_image_handle, int | int2, uint layer)
 *
 * Unsampled images
 *
 *   T fetch_image_T(unsampled_image_handle, int | int2 | int3)
 *       Reads one pixel.
 *   T fetch_image_array_T(unsampled_image_handle, int | int2, uint layer)
 *   T fetch_cubemap_T(unsampled_image_handle, int2, uint face)
 *       Faces are +x, -x, +y, -y, +z, -z, from 0.
 *   void write_image(unsampled_image_handle, int | int2 | int3, T)
 *   void write_image_array(unsampled_image_handle, int | int2, uint layer, T)
 *   void write_cubemap(unsampled_image_handle, int2, uint face, T)
 *       Writes one pixel; the colour's type selects the overload. A kernel must not read a pixel that it has written
 *       through another handle.
 *
 *   T fetch_image_T(unsampled_image_handle, int | int2 | int3, channel_type), and likewise the other fetches; writes take
 *   the channel type after the colour
 *       The pixel of a normalized image as floats, on every target. T is float or half, with the number of the image's
 *       channels; channel_type is bindless_unorm_int8, bindless_unorm_int16, bindless_snorm_int8 or bindless_snorm_int16.
 *       A write clamps, and rounds to the nearest code, ties to even.
 *
 *   Without a channel type, PTX surfaces copy bits: T must have the pixel's size and layout, so a normalized image is read
 *   and written as codes (uchar4 for four channels of unorm_int8). SPIR-V images convert: T is float or half for a
 *   normalized image. Where T is the image's own type, both behave the same. Fetches outside an image give zero on PTX and
 *   are undefined elsewhere; writes outside are ignored on PTX.
 *
 * Work-items, in SYCL's order of dimensions (the last of `dimensions` is the fastest; both are constants):
 *   size_t bindless_item_id(dimension, dimensions),       bindless_item_range(...)        in the whole range
 *   size_t bindless_item_local_id(dimension, dimensions), bindless_item_local_range(...)  in the work-group
 *   size_t bindless_item_group_id(dimension, dimensions), bindless_item_group_range(...)  of the work-group
 * and in the native order (dimension 0 is the fastest), like OpenCL C's own functions, which are available too:
 *   size_t bindless_global_id(d), bindless_global_size(d), bindless_local_id(d), bindless_local_size(d),
 *   bindless_group_id(d), bindless_group_count(d)                          d is a constant 0, 1 or 2
 *   void   bindless_barrier()                                              all work-items of the group, local memory
 *
 * Specialization constants
 *   int bindless_constant_int(number, otherwise), and the same for uint and float
 *       The value set by load_kernel_bundle(..., specialization={number: value}) before the kernel is built, else
 *       `otherwise`. Both arguments are constants. PTX has no specialization constants: the value is `otherwise`.
 */
#ifndef BINDLESS_DEVICE_H
#define BINDLESS_DEVICE_H

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

typedef ulong unsampled_image_handle;
typedef ulong sampled_image_handle;

/* Channel types of normalized images, numbered as BI's image_channel_type. */
#define bindless_snorm_int8 0u
#define bindless_snorm_int16 1u
#define bindless_unorm_int8 2u
#define bindless_unorm_int16 3u

#define BINDLESS_FUNCTION static inline __attribute__((overloadable, always_inline))

/* The third member rejects types of different sizes: an array cannot have -1 elements. */
#define bindless_as(DataT, HintT, value)                                                                               \
    (((union {                                                                                                         \
         HintT hint;                                                                                                   \
         DataT data;                                                                                                   \
         char sizes_differ[sizeof(DataT) == sizeof(HintT) ? 1 : -1];                                                   \
     }){.hint = (value)})                                                                                              \
         .data)

/* ---- primitives, defined by the target's prelude ------------------------------------------------------------------ */

#define BINDLESS_DECLARE_CLASS(LETTER, COLOR)                                                                          \
    COLOR __bindless_sample_1d_##LETTER(ulong, float);                                                                 \
    COLOR __bindless_sample_2d_##LETTER(ulong, float, float);                                                          \
    COLOR __bindless_sample_3d_##LETTER(ulong, float, float, float);                                                   \
    COLOR __bindless_sample_1d_array_##LETTER(ulong, uint, float);                                                     \
    COLOR __bindless_sample_2d_array_##LETTER(ulong, uint, float, float);                                              \
    COLOR __bindless_sample_lod_1d_##LETTER(ulong, float, float);                                                      \
    COLOR __bindless_sample_lod_2d_##LETTER(ulong, float, float, float);                                               \
    COLOR __bindless_sample_lod_3d_##LETTER(ulong, float, float, float, float);                                        \
    COLOR __bindless_sample_lod_1d_array_##LETTER(ulong, uint, float, float);                                          \
    COLOR __bindless_sample_lod_2d_array_##LETTER(ulong, uint, float, float, float);                                   \
    COLOR __bindless_fetch_sampled_1d_##LETTER(ulong, int);                                                            \
    COLOR __bindless_fetch_sampled_2d_##LETTER(ulong, int, int);                                                       \
    COLOR __bindless_fetch_sampled_3d_##LETTER(ulong, int, int, int);                                                  \
    COLOR __bindless_fetch_sampled_1d_array_##LETTER(ulong, uint, int);                                                \
    COLOR __bindless_fetch_sampled_2d_array_##LETTER(ulong, uint, int, int);                                           \
    COLOR __bindless_sample_grad_1d_##LETTER(ulong, float, float, float);                                              \
    COLOR __bindless_sample_grad_2d_##LETTER(ulong, float, float, float, float, float, float);                         \
    COLOR __bindless_sample_grad_3d_##LETTER(ulong, float, float, float, float, float, float, float, float, float);    \
    COLOR __bindless_gather_2d_##LETTER(ulong, float, float, uint);                                                    \
    COLOR __bindless_sample_cube_##LETTER(ulong, float, float, float);
BINDLESS_DECLARE_CLASS(f, float4)
BINDLESS_DECLARE_CLASS(i, int4)
BINDLESS_DECLARE_CLASS(u, uint4)

#ifdef __NVPTX__
#define BINDLESS_DECLARE_CLASS_PTX(LETTER, COLOR)                                                                      \
    COLOR __bindless_sample_lod_cube_##LETTER(ulong, float, float, float, float);                                      \
    COLOR __bindless_sample_grad_1d_array_##LETTER(ulong, uint, float, float, float);                                  \
    COLOR __bindless_sample_grad_2d_array_##LETTER(ulong, uint, float, float, float, float, float, float);             \
    COLOR __bindless_fetch_sampled_1d_linear_##LETTER(ulong, int);
BINDLESS_DECLARE_CLASS_PTX(f, float4)
BINDLESS_DECLARE_CLASS_PTX(i, int4)
BINDLESS_DECLARE_CLASS_PTX(u, uint4)

/* Loads and stores of 1, 2, 4, 8 and 16 bytes, zero-extended to a uint4; x is in bytes. */
#define BINDLESS_DECLARE_BLOB(BLOB)                                                                                    \
    uint4 __bindless_read_1d_##BLOB(ulong, int);                                                                       \
    uint4 __bindless_read_2d_##BLOB(ulong, int, int);                                                                  \
    uint4 __bindless_read_3d_##BLOB(ulong, int, int, int);                                                             \
    uint4 __bindless_read_1d_array_##BLOB(ulong, uint, int);                                                           \
    uint4 __bindless_read_2d_array_##BLOB(ulong, uint, int, int);                                                      \
    void __bindless_write_1d_##BLOB(ulong, int, uint4);                                                                \
    void __bindless_write_2d_##BLOB(ulong, int, int, uint4);                                                           \
    void __bindless_write_3d_##BLOB(ulong, int, int, int, uint4);                                                      \
    void __bindless_write_1d_array_##BLOB(ulong, uint, int, uint4);                                                    \
    void __bindless_write_2d_array_##BLOB(ulong, uint, int, int, uint4);
BINDLESS_DECLARE_BLOB(b8)
BINDLESS_DECLARE_BLOB(b16)
BINDLESS_DECLARE_BLOB(b32)
BINDLESS_DECLARE_BLOB(b64)
BINDLESS_DECLARE_BLOB(b128)
#else
#define BINDLESS_DECLARE_UNSAMPLED(LETTER, COLOR)                                                                      \
    COLOR __bindless_read_1d_##LETTER(ulong, int);                                                                     \
    COLOR __bindless_read_2d_##LETTER(ulong, int, int);                                                                \
    COLOR __bindless_read_3d_##LETTER(ulong, int, int, int);                                                           \
    COLOR __bindless_read_1d_array_##LETTER(ulong, uint, int);                                                         \
    COLOR __bindless_read_2d_array_##LETTER(ulong, uint, int, int);                                                    \
    void __bindless_write_1d_##LETTER(ulong, int, COLOR);                                                              \
    void __bindless_write_2d_##LETTER(ulong, int, int, COLOR);                                                         \
    void __bindless_write_3d_##LETTER(ulong, int, int, int, COLOR);                                                    \
    void __bindless_write_1d_array_##LETTER(ulong, uint, int, COLOR);                                                  \
    void __bindless_write_2d_array_##LETTER(ulong, uint, int, int, COLOR);
BINDLESS_DECLARE_UNSAMPLED(f, float4)
BINDLESS_DECLARE_UNSAMPLED(i, int4)
BINDLESS_DECLARE_UNSAMPLED(u, uint4)
#endif

#define BINDLESS_DECLARE_DIMENSION(D)                                                                                  \
    ulong __bindless_global_id_##D(void);                                                                              \
    ulong __bindless_global_size_##D(void);                                                                            \
    ulong __bindless_local_id_##D(void);                                                                               \
    ulong __bindless_local_size_##D(void);                                                                             \
    ulong __bindless_group_id_##D(void);                                                                               \
    ulong __bindless_group_count_##D(void);
BINDLESS_DECLARE_DIMENSION(0)
BINDLESS_DECLARE_DIMENSION(1)
BINDLESS_DECLARE_DIMENSION(2)
void __bindless_barrier(void) __attribute__((convergent));

/* ---- work-items --------------------------------------------------------------------------------------------------- */

#define BINDLESS_WORK_ITEM(NAME)                                                                                       \
    BINDLESS_FUNCTION size_t bindless_##NAME(uint dimension)                                                           \
    {                                                                                                                  \
        return dimension == 0   ? __bindless_##NAME##_0()                                                              \
               : dimension == 1 ? __bindless_##NAME##_1()                                                              \
                                : __bindless_##NAME##_2();                                                             \
    }
BINDLESS_WORK_ITEM(global_id)
BINDLESS_WORK_ITEM(global_size)
BINDLESS_WORK_ITEM(local_id)
BINDLESS_WORK_ITEM(local_size)
BINDLESS_WORK_ITEM(group_id)
BINDLESS_WORK_ITEM(group_count)

BINDLESS_FUNCTION size_t bindless_item_id(uint dimension, uint dimensions)
{
    return bindless_global_id(dimensions - 1 - dimension);
}

BINDLESS_FUNCTION size_t bindless_item_range(uint dimension, uint dimensions)
{
    return bindless_global_size(dimensions - 1 - dimension);
}

BINDLESS_FUNCTION size_t bindless_item_local_id(uint dimension, uint dimensions)
{
    return bindless_local_id(dimensions - 1 - dimension);
}

BINDLESS_FUNCTION size_t bindless_item_local_range(uint dimension, uint dimensions)
{
    return bindless_local_size(dimensions - 1 - dimension);
}

BINDLESS_FUNCTION size_t bindless_item_group_id(uint dimension, uint dimensions)
{
    return bindless_group_id(dimensions - 1 - dimension);
}

BINDLESS_FUNCTION size_t bindless_item_group_range(uint dimension, uint dimensions)
{
    return bindless_group_count(dimensions - 1 - dimension);
}

BINDLESS_FUNCTION void bindless_barrier(void) { __bindless_barrier(); }

/* ---- specialization constants ------------------------------------------------------------------------------------- */

#ifdef __NVPTX__
#define BINDLESS_CONSTANT(T)                                                                                           \
    BINDLESS_FUNCTION T bindless_constant_##T(uint number, T otherwise)                                                \
    {                                                                                                                  \
        (void)number;                                                                                                  \
        return otherwise;                                                                                              \
    }
#elif defined(BINDLESS_OPENCL_C)
/* The device compiler expands the macro of each constant. */
#define BINDLESS_CONSTANT(T) T bindless_constant_##T(uint number, T otherwise);
#else
#define BINDLESS_CONSTANT(T)                                                                                           \
    T __attribute__((overloadable)) __spirv_SpecConstant(uint, T);                                                     \
    BINDLESS_FUNCTION T bindless_constant_##T(uint number, T otherwise)                                                \
    {                                                                                                                  \
        return __spirv_SpecConstant(number, otherwise);                                                                \
    }
#endif
BINDLESS_CONSTANT(int)
BINDLESS_CONSTANT(uint)
BINDLESS_CONSTANT(float)

/* ---- directions into a cubemap ------------------------------------------------------------------------------------ */

/* Divides a direction by its largest component, which becomes exactly 1 or -1, and replaces NaNs by 0. The division
 * is IEEE's: a texture instruction scales by an approximate reciprocal, and the reciprocal of 1 is exact. */
BINDLESS_FUNCTION float3 bindless_cube_direction(float3 v)
{
    float largest = __builtin_fmaxf(__builtin_fmaxf(__builtin_fabsf(v.x), __builtin_fabsf(v.y)), __builtin_fabsf(v.z));
    float3 w = (float3)(v.x / largest, v.y / largest, v.z / largest);
    return (float3)(w.x == w.x ? w.x : 0.0f, w.y == w.y ? w.y : 0.0f, w.z == w.z ? w.z : 0.0f);
}

/* ---- BI's functions ----------------------------------------------------------------------------------------------- */

#define BINDLESS_SPREAD_1(P) (P)
#define BINDLESS_SPREAD_2(P) (P).x, (P).y
#define BINDLESS_SPREAD_3(P) (P).x, (P).y, (P).z
#define BINDLESS_NARROW_1(V, T) ((T)(V).x)
#define BINDLESS_NARROW_2(V, T) __builtin_convertvector((V).xy, T)
#define BINDLESS_NARROW_3(V, T) __builtin_convertvector((V).xyz, T)
#define BINDLESS_NARROW_4(V, T) __builtin_convertvector((V), T)

#define BINDLESS_WIDEN_1(V, COLOR) ((COLOR)((V), 0, 0, 0))
#define BINDLESS_WIDEN_2(V, COLOR) ((COLOR)((V).x, (V).y, 0, 0))
#define BINDLESS_WIDEN_3(V, COLOR) ((COLOR)((V).x, (V).y, (V).z, 0))
#define BINDLESS_WIDEN_4(V, COLOR) __builtin_convertvector((V), COLOR)

/* Functions for one result type T with N components, of the class LETTER; GEOMETRY takes D coordinates. */
#define BINDLESS_SAMPLED(T, N, LETTER, GEOMETRY, D, POINT, PIXEL)                                                      \
    BINDLESS_FUNCTION T fetch_sampled_image_##T(sampled_image_handle image, PIXEL at)                                  \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(__bindless_fetch_sampled_##GEOMETRY##_##LETTER(image, BINDLESS_SPREAD_##D(at)), T); \
    }                                                                                                                  \
    BINDLESS_FUNCTION T sample_image_##T(sampled_image_handle image, POINT at)                                         \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(__bindless_sample_##GEOMETRY##_##LETTER(image, BINDLESS_SPREAD_##D(at)), T);        \
    }                                                                                                                  \
    BINDLESS_FUNCTION T sample_mipmap_##T(sampled_image_handle image, POINT at, float level)                           \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(                                                                                    \
            __bindless_sample_lod_##GEOMETRY##_##LETTER(image, BINDLESS_SPREAD_##D(at), level), T);                    \
    }

#define BINDLESS_SAMPLED_ARRAY(T, N, LETTER, GEOMETRY, D, POINT, PIXEL)                                                \
    BINDLESS_FUNCTION T fetch_sampled_image_array_##T(sampled_image_handle image, PIXEL at, uint layer)                \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(                                                                                    \
            __bindless_fetch_sampled_##GEOMETRY##_##LETTER(image, layer, BINDLESS_SPREAD_##D(at)), T);                 \
    }                                                                                                                  \
    BINDLESS_FUNCTION T sample_image_array_##T(sampled_image_handle image, POINT at, uint layer)                       \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(                                                                                    \
            __bindless_sample_##GEOMETRY##_##LETTER(image, layer, BINDLESS_SPREAD_##D(at)), T);                        \
    }

#define BINDLESS_SAMPLED_GRADIENTS(T, N, LETTER)                                                                       \
    BINDLESS_FUNCTION T sample_mipmap_##T(sampled_image_handle image, float at, float dx, float dy)                    \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(__bindless_sample_grad_1d_##LETTER(image, at, dx, dy), T);                          \
    }                                                                                                                  \
    BINDLESS_FUNCTION T sample_mipmap_##T(sampled_image_handle image, float2 at, float2 dx, float2 dy)                 \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(                                                                                    \
            __bindless_sample_grad_2d_##LETTER(image, at.x, at.y, dx.x, dx.y, dy.x, dy.y), T);                         \
    }                                                                                                                  \
    BINDLESS_FUNCTION T sample_mipmap_##T(sampled_image_handle image, float3 at, float3 dx, float3 dy)                 \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(                                                                                    \
            __bindless_sample_grad_3d_##LETTER(image, at.x, at.y, at.z, dx.x, dx.y, dx.z, dy.x, dy.y, dy.z), T);       \
    }

/* Gathers, with results of four components. */
#define BINDLESS_GATHER_1(T, LETTER)
#define BINDLESS_GATHER_2(T, LETTER)
#define BINDLESS_GATHER_3(T, LETTER)
#define BINDLESS_GATHER_4(T, LETTER)                                                                                   \
    BINDLESS_FUNCTION T gather_image_##T(sampled_image_handle image, float2 at, uint component)                        \
    {                                                                                                                  \
        return BINDLESS_NARROW_4(__bindless_gather_2d_##LETTER(image, at.x, at.y, component), T);                      \
    }

#define BINDLESS_SAMPLED_CUBE(T, N, LETTER)                                                                            \
    BINDLESS_FUNCTION T sample_cubemap_##T(sampled_image_handle image, float3 direction)                               \
    {                                                                                                                  \
        float3 w = bindless_cube_direction(direction);                                                                 \
        return BINDLESS_NARROW_##N(__bindless_sample_cube_##LETTER(image, w.x, w.y, w.z), T);                          \
    }

#ifdef __NVPTX__
/* BLOB holds a T; CARRIER is the part of the uint4 `raw` that has T's size. */
#define BINDLESS_UNSAMPLED(T, N, LETTER, COLOR, BLOB, CARRIER, RAW)                                                    \
    BINDLESS_FUNCTION T fetch_image_##T(unsampled_image_handle image, int at)                                          \
    {                                                                                                                  \
        uint4 raw = __bindless_read_1d_##BLOB(image, at * (int)sizeof(T));                                             \
        return __builtin_astype(CARRIER, T);                                                                           \
    }                                                                                                                  \
    BINDLESS_FUNCTION T fetch_image_##T(unsampled_image_handle image, int2 at)                                         \
    {                                                                                                                  \
        uint4 raw = __bindless_read_2d_##BLOB(image, at.x * (int)sizeof(T), at.y);                                     \
        return __builtin_astype(CARRIER, T);                                                                           \
    }                                                                                                                  \
    BINDLESS_FUNCTION T fetch_image_##T(unsampled_image_handle image, int3 at)                                         \
    {                                                                                                                  \
        uint4 raw = __bindless_read_3d_##BLOB(image, at.x * (int)sizeof(T), at.y, at.z);                               \
        return __builtin_astype(CARRIER, T);                                                                           \
    }                                                                                                                  \
    BINDLESS_FUNCTION T fetch_image_array_##T(unsampled_image_handle image, int at, uint layer)                        \
    {                                                                                                                  \
        uint4 raw = __bindless_read_1d_array_##BLOB(image, layer, at * (int)sizeof(T));                                \
        return __builtin_astype(CARRIER, T);                                                                           \
    }                                                                                                                  \
    BINDLESS_FUNCTION T fetch_image_array_##T(unsampled_image_handle image, int2 at, uint layer)                       \
    {                                                                                                                  \
        uint4 raw = __bindless_read_2d_array_##BLOB(image, layer, at.x * (int)sizeof(T), at.y);                        \
        return __builtin_astype(CARRIER, T);                                                                           \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_image(unsampled_image_handle image, int at, T color)                                  \
    {                                                                                                                  \
        __bindless_write_1d_##BLOB(image, at * (int)sizeof(T), RAW);                                                   \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_image(unsampled_image_handle image, int2 at, T color)                                 \
    {                                                                                                                  \
        __bindless_write_2d_##BLOB(image, at.x * (int)sizeof(T), at.y, RAW);                                           \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_image(unsampled_image_handle image, int3 at, T color)                                 \
    {                                                                                                                  \
        __bindless_write_3d_##BLOB(image, at.x * (int)sizeof(T), at.y, at.z, RAW);                                     \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_image_array(unsampled_image_handle image, int at, uint layer, T color)                \
    {                                                                                                                  \
        __bindless_write_1d_array_##BLOB(image, layer, at * (int)sizeof(T), RAW);                                      \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_image_array(unsampled_image_handle image, int2 at, uint layer, T color)               \
    {                                                                                                                  \
        __bindless_write_2d_array_##BLOB(image, layer, at.x * (int)sizeof(T), at.y, RAW);                              \
    }
#else
#define BINDLESS_UNSAMPLED(T, N, LETTER, COLOR, BLOB, CARRIER, RAW)                                                    \
    BINDLESS_FUNCTION T fetch_image_##T(unsampled_image_handle image, int at)                                          \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(__bindless_read_1d_##LETTER(image, at), T);                                         \
    }                                                                                                                  \
    BINDLESS_FUNCTION T fetch_image_##T(unsampled_image_handle image, int2 at)                                         \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(__bindless_read_2d_##LETTER(image, at.x, at.y), T);                                 \
    }                                                                                                                  \
    BINDLESS_FUNCTION T fetch_image_##T(unsampled_image_handle image, int3 at)                                         \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(__bindless_read_3d_##LETTER(image, at.x, at.y, at.z), T);                           \
    }                                                                                                                  \
    BINDLESS_FUNCTION T fetch_image_array_##T(unsampled_image_handle image, int at, uint layer)                        \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(__bindless_read_1d_array_##LETTER(image, layer, at), T);                            \
    }                                                                                                                  \
    BINDLESS_FUNCTION T fetch_image_array_##T(unsampled_image_handle image, int2 at, uint layer)                       \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(__bindless_read_2d_array_##LETTER(image, layer, at.x, at.y), T);                    \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_image(unsampled_image_handle image, int at, T color)                                  \
    {                                                                                                                  \
        __bindless_write_1d_##LETTER(image, at, BINDLESS_WIDEN_##N(color, COLOR));                                     \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_image(unsampled_image_handle image, int2 at, T color)                                 \
    {                                                                                                                  \
        __bindless_write_2d_##LETTER(image, at.x, at.y, BINDLESS_WIDEN_##N(color, COLOR));                             \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_image(unsampled_image_handle image, int3 at, T color)                                 \
    {                                                                                                                  \
        __bindless_write_3d_##LETTER(image, at.x, at.y, at.z, BINDLESS_WIDEN_##N(color, COLOR));                       \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_image_array(unsampled_image_handle image, int at, uint layer, T color)                \
    {                                                                                                                  \
        __bindless_write_1d_array_##LETTER(image, layer, at, BINDLESS_WIDEN_##N(color, COLOR));                        \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_image_array(unsampled_image_handle image, int2 at, uint layer, T color)               \
    {                                                                                                                  \
        __bindless_write_2d_array_##LETTER(image, layer, at.x, at.y, BINDLESS_WIDEN_##N(color, COLOR));                \
    }
#endif

/* An unsampled cubemap is an array of six layers. */
#define BINDLESS_CUBEMAP(T)                                                                                            \
    BINDLESS_FUNCTION T fetch_cubemap_##T(unsampled_image_handle image, int2 at, uint face)                            \
    {                                                                                                                  \
        return fetch_image_array_##T(image, at, face);                                                                 \
    }                                                                                                                  \
    BINDLESS_FUNCTION void write_cubemap(unsampled_image_handle image, int2 at, uint face, T color)                    \
    {                                                                                                                  \
        write_image_array(image, at, face, color);                                                                     \
    }

#define BINDLESS_RESULT(T, N, LETTER, COLOR, BLOB, CARRIER, RAW)                                                       \
    BINDLESS_SAMPLED(T, N, LETTER, 1d, 1, float, int)                                                                  \
    BINDLESS_SAMPLED(T, N, LETTER, 2d, 2, float2, int2)                                                                \
    BINDLESS_SAMPLED(T, N, LETTER, 3d, 3, float3, int3)                                                                \
    BINDLESS_SAMPLED_ARRAY(T, N, LETTER, 1d_array, 1, float, int)                                                      \
    BINDLESS_SAMPLED_ARRAY(T, N, LETTER, 2d_array, 2, float2, int2)                                                    \
    BINDLESS_SAMPLED_GRADIENTS(T, N, LETTER)                                                                           \
    BINDLESS_SAMPLED_CUBE(T, N, LETTER)                                                                                \
    BINDLESS_GATHER_##N(T, LETTER)                                                                                     \
    BINDLESS_UNSAMPLED(T, N, LETTER, COLOR, BLOB, CARRIER, RAW)                                                        \
    BINDLESS_CUBEMAP(T)

#define BINDLESS_RAW_8(V) ((uint4)(__builtin_astype((V), uchar), 0, 0, 0))
#define BINDLESS_RAW_16(V) ((uint4)(__builtin_astype((V), ushort), 0, 0, 0))
#define BINDLESS_RAW_32(V) ((uint4)(__builtin_astype((V), uint), 0, 0, 0))
#define BINDLESS_RAW_64(V) ((uint4)(__builtin_astype((V), uint2), 0, 0))

#define BINDLESS_RESULTS_8(S, LETTER, COLOR)                                                                           \
    BINDLESS_RESULT(S, 1, LETTER, COLOR, b8, (uchar)raw.x, BINDLESS_RAW_8(color))                                      \
    BINDLESS_RESULT(S##2, 2, LETTER, COLOR, b16, (ushort)raw.x, BINDLESS_RAW_16(color))                                \
    BINDLESS_RESULT(S##3, 3, LETTER, COLOR, b32, raw.x, BINDLESS_RAW_32((S##4)(color, 0)))                             \
    BINDLESS_RESULT(S##4, 4, LETTER, COLOR, b32, raw.x, BINDLESS_RAW_32(color))
#define BINDLESS_RESULTS_16(S, LETTER, COLOR)                                                                          \
    BINDLESS_RESULT(S, 1, LETTER, COLOR, b16, (ushort)raw.x, BINDLESS_RAW_16(color))                                   \
    BINDLESS_RESULT(S##2, 2, LETTER, COLOR, b32, raw.x, BINDLESS_RAW_32(color))                                        \
    BINDLESS_RESULT(S##3, 3, LETTER, COLOR, b64, raw.xy, BINDLESS_RAW_64((S##4)(color, 0)))                            \
    BINDLESS_RESULT(S##4, 4, LETTER, COLOR, b64, raw.xy, BINDLESS_RAW_64(color))
#define BINDLESS_RESULTS_32(S, LETTER, COLOR)                                                                          \
    BINDLESS_RESULT(S, 1, LETTER, COLOR, b32, raw.x, BINDLESS_RAW_32(color))                                           \
    BINDLESS_RESULT(S##2, 2, LETTER, COLOR, b64, raw.xy, BINDLESS_RAW_64(color))                                       \
    BINDLESS_RESULT(S##3, 3, LETTER, COLOR, b128, raw, __builtin_astype((S##4)(color, 0), uint4))                      \
    BINDLESS_RESULT(S##4, 4, LETTER, COLOR, b128, raw, __builtin_astype(color, uint4))

BINDLESS_RESULTS_32(float, f, float4)
#ifdef cl_khr_fp16
BINDLESS_RESULTS_16(half, f, float4)
#endif
BINDLESS_RESULTS_32(int, i, int4)
BINDLESS_RESULTS_16(short, i, int4)
BINDLESS_RESULTS_8(char, i, int4)
BINDLESS_RESULTS_32(uint, u, uint4)
BINDLESS_RESULTS_16(ushort, u, uint4)
BINDLESS_RESULTS_8(uchar, u, uint4)

#include "device_normalized.h"

#include "device_cubic.h"

#endif
