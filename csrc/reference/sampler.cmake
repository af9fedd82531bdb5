# Sources and flags of the sampler: BLR_SAMPLER_SOURCES. Results are bit-identical on every processor, so compilers must
# not contract a multiplication and an addition.
# Sanitizers check every access, which makes the block sampler's optimised loops slow to compile: minutes at -O3.
set(BLR_OPTIMISATION -O3)
if(BINDLESS_SANITIZE)
  set(BLR_OPTIMISATION -O1)
endif()
set(BLR_SAMPLER_SOURCES
    format.c
    format_packed.c
    sample_anisotropy.c
    sample_blend_float.c
    sample_blend_integer.c
    sample_block.c
    sample_block_avx2.c
    sample_block_avx512.c
    sample_block_neon.c
    sample_cube.c
    sample_exact.c
    sample_footprint.c
    sample_gradient.c
    sample_item.c
    sample_level.c
    sample_tables.c
    texture.c
    texture_fetch.c
    texture_map.c
    texture_swizzle.c)

if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" AND NOT MSVC)
  set_source_files_properties(${BLR_SAMPLER_SOURCES} PROPERTIES COMPILE_OPTIONS "${BLR_OPTIMISATION};-ffp-contract=off")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set_source_files_properties(texture_map.c PROPERTIES
        COMPILE_OPTIONS "${BLR_OPTIMISATION};-ffp-contract=off;-fno-trapping-math;-fno-math-errno")
    # Selected at run time by the processor's instruction sets.
    set_source_files_properties(sample_block_avx2.c PROPERTIES
        COMPILE_OPTIONS "${BLR_OPTIMISATION};-ffp-contract=off;-fno-trapping-math;-fno-math-errno;-mavx2;-mfma;-mf16c")
    set_source_files_properties(sample_block_avx512.c PROPERTIES
        COMPILE_OPTIONS "${BLR_OPTIMISATION};-ffp-contract=off;-fno-trapping-math;-fno-math-errno;-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mfma;-mf16c;-mprefer-vector-width=512")
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
    set_source_files_properties(texture_map.c sample_block_neon.c PROPERTIES
        COMPILE_OPTIONS "${BLR_OPTIMISATION};-ffp-contract=off;-fno-trapping-math;-fno-math-errno")
  endif()
elseif(MSVC)
  set_source_files_properties(${BLR_SAMPLER_SOURCES} PROPERTIES COMPILE_OPTIONS "/fp:precise")
endif()
