# Sources and flags of the sampler: BLR_SAMPLER_SOURCES. Results are bit-identical on every processor, so compilers must
# not contract a multiplication and an addition.
# GCC 12 needs -O3. "-O2 -ftree-loop-vectorize -fvect-cost-model=dynamic" compiles resampling, means and samples in 0.4
# to 0.75 of the time; cubic filters then take 1.8 times as long, samples of volumes 2 times, means of thirds 3.8 times.
# Sanitizers check every access, which makes the block sampler's optimised loops slow to compile: minutes at -O3.
set(BLR_OPTIMISATION -O3 CACHE STRING "Optimisation of the reference driver")
if(BINDLESS_SANITIZE)
  set(BLR_OPTIMISATION -O1)
endif()
set(BLR_SAMPLER_SOURCES
    image/pixel_format.c
    image/packed_format.c
    image/srgb_codes.c
    image/blocks/bc1_to_bc5.c
    image/blocks/bc6h.c
    image/blocks/bc7.c
    image/blocks/block_bits.c
    image/blocks/block_format.c
    sampler/anisotropy.c
    sampler/filter_float.c
    sampler/filter_integer.c
    sampler/simd/dispatch.c
    sampler/simd/avx2.c
    sampler/simd/avx512.c
    sampler/simd/neon.c
    sampler/cube.c
    sampler/exact.c
    sampler/footprint.c
    sampler/lod_from_gradients.c
    sampler/scalar.c
    sampler/lod.c
    sampler/tables.c
    texture/texture.c
    texture/fetch_write.c
    texture/blend_rows.c
    texture/projective_map.c
    texture/scaled_picture.c
    texture/swizzle.c)

if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" AND NOT MSVC)
  set_source_files_properties(${BLR_SAMPLER_SOURCES} PROPERTIES COMPILE_OPTIONS "${BLR_OPTIMISATION};-ffp-contract=off")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set_source_files_properties(texture/projective_map.c PROPERTIES
        COMPILE_OPTIONS "${BLR_OPTIMISATION};-ffp-contract=off;-fno-trapping-math;-fno-math-errno")
    # Selected at run time by the processor's instruction sets.
    set_source_files_properties(sampler/simd/avx2.c PROPERTIES
        COMPILE_OPTIONS "${BLR_OPTIMISATION};-ffp-contract=off;-fno-trapping-math;-fno-math-errno;-mavx2;-mfma;-mf16c")
    set_source_files_properties(sampler/simd/avx512.c PROPERTIES
        COMPILE_OPTIONS "${BLR_OPTIMISATION};-ffp-contract=off;-fno-trapping-math;-fno-math-errno;-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mfma;-mf16c;-mprefer-vector-width=512")
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
    set_source_files_properties(texture/projective_map.c sampler/simd/neon.c PROPERTIES
        COMPILE_OPTIONS "${BLR_OPTIMISATION};-ffp-contract=off;-fno-trapping-math;-fno-math-errno")
  endif()
elseif(MSVC)
  set_source_files_properties(${BLR_SAMPLER_SOURCES} PROPERTIES COMPILE_OPTIONS "/fp:precise")
endif()
