/*
 * Name suffixes of sources that are compiled for each instruction set: BLR_SET is the set's name (avx2, avx512),
 * appended to every function they define. The sources themselves do not depend on it.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_ISA_NAMES_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_ISA_NAMES_H

#ifdef BLR_SET

#define BLR_SET_JOIN(name, set) name##_##set
#define BLR_SET_EXPAND(name, set) BLR_SET_JOIN(name, set)
#define BLR_IN_SET(name) BLR_SET_EXPAND(name, BLR_SET)

#define blr_spirv_integer_lanes BLR_IN_SET(blr_spirv_integer_lanes)
#define blr_spirv_integer_lane_count BLR_IN_SET(blr_spirv_integer_lane_count)
#define blr_spirv_float_lanes BLR_IN_SET(blr_spirv_float_lanes)
#define blr_spirv_float_lane_count BLR_IN_SET(blr_spirv_float_lane_count)
#define blr_spirv_half BLR_IN_SET(blr_spirv_half)
#define blr_spirv_conversion BLR_IN_SET(blr_spirv_conversion)
#define blr_spirv_float_functions BLR_IN_SET(blr_spirv_float_functions)
#define blr_spirv_float_function_count BLR_IN_SET(blr_spirv_float_function_count)
#define blr_spirv_integer_functions BLR_IN_SET(blr_spirv_integer_functions)
#define blr_spirv_integer_function_count BLR_IN_SET(blr_spirv_integer_function_count)
#define blr_spirv_extended BLR_IN_SET(blr_spirv_extended)
#define blr_spirv_mixed BLR_IN_SET(blr_spirv_mixed)
#define blr_spirv_dot_float BLR_IN_SET(blr_spirv_dot_float)
#define blr_spirv_dot_double BLR_IN_SET(blr_spirv_dot_double)
#define blr_spirv_length_float BLR_IN_SET(blr_spirv_length_float)
#define blr_spirv_distance_float BLR_IN_SET(blr_spirv_distance_float)
#define blr_spirv_normalized_float BLR_IN_SET(blr_spirv_normalized_float)
#define blr_spirv_cross_float BLR_IN_SET(blr_spirv_cross_float)
#define blr_spirv_select BLR_IN_SET(blr_spirv_select)
#define blr_spirv_scale BLR_IN_SET(blr_spirv_scale)
#define blr_spirv_dot BLR_IN_SET(blr_spirv_dot)
#define blr_spirv_index BLR_IN_SET(blr_spirv_index)
#define blr_spirv_run_copy BLR_IN_SET(blr_spirv_run_copy)
#define blr_spirv_run_extract BLR_IN_SET(blr_spirv_run_extract)
#define blr_spirv_run_extract_wrapped BLR_IN_SET(blr_spirv_run_extract_wrapped)
#define blr_spirv_run_insert BLR_IN_SET(blr_spirv_run_insert)
#define blr_spirv_run_bitcast BLR_IN_SET(blr_spirv_run_bitcast)
#define blr_spirv_run_choose BLR_IN_SET(blr_spirv_run_choose)
#define blr_spirv_run_any BLR_IN_SET(blr_spirv_run_any)
#define blr_spirv_run_all BLR_IN_SET(blr_spirv_run_all)
#define blr_spirv_run_offset BLR_IN_SET(blr_spirv_run_offset)
#define blr_spirv_run_array_index BLR_IN_SET(blr_spirv_run_array_index)
#define blr_spirv_run_argument_index BLR_IN_SET(blr_spirv_run_argument_index)
#define blr_spirv_run_difference BLR_IN_SET(blr_spirv_run_difference)
#define blr_spirv_run_load BLR_IN_SET(blr_spirv_run_load)
#define blr_spirv_run_store BLR_IN_SET(blr_spirv_run_store)
#define blr_spirv_run_move_memory BLR_IN_SET(blr_spirv_run_move_memory)
#define blr_spirv_run_explicit_cast BLR_IN_SET(blr_spirv_run_explicit_cast)
#define blr_spirv_run_semantics BLR_IN_SET(blr_spirv_run_semantics)
#define blr_spirv_run_image BLR_IN_SET(blr_spirv_run_image)
#define blr_spirv_run_image_query BLR_IN_SET(blr_spirv_run_image_query)
#define blr_spirv_blend BLR_IN_SET(blr_spirv_blend)
#define blr_affine_write BLR_IN_SET(blr_affine_write)
#define blr_affine_operations BLR_IN_SET(blr_affine_operations)
#define blr_spirv_run_batch BLR_IN_SET(blr_spirv_run_batch)
#define blr_spirv_set_of_this BLR_IN_SET(blr_spirv_set_of_this)

#define blr_area_rows BLR_IN_SET(blr_area_rows)
#define blr_pyramid_rows BLR_IN_SET(blr_pyramid_rows)
#define blr_area_scratch BLR_IN_SET(blr_area_scratch)
#define blr_colour_part BLR_IN_SET(blr_colour_part)
#define blr_spline_rows BLR_IN_SET(blr_spline_rows)
#define blr_spline_columns BLR_IN_SET(blr_spline_columns)
#define blr_spline_panels BLR_IN_SET(blr_spline_panels)
#define blr_spline_scratch BLR_IN_SET(blr_spline_scratch)
#define blr_blend_bytes BLR_IN_SET(blr_blend_bytes)
#define blr_spread_bytes BLR_IN_SET(blr_spread_bytes)
#define blr_resample_set BLR_IN_SET(blr_resample_set)
#define blr_gradient_set BLR_IN_SET(blr_gradient_set)
#define blr_planar_set BLR_IN_SET(blr_planar_set)
#define blr_projection_set BLR_IN_SET(blr_projection_set)

#endif

#endif
