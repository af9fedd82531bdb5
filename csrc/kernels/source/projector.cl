/* Projections of a volume, their transpose and back projection, from the views of filter/view_table.h. PASS selects the kernel:
 *
 *     FORWARD  sums along rays: csrc/reference/projections has the same ones
 *     SCALE    values times the lengths of their rays between two planes
 *     ADJOINT  the transpose: each texel gathers the scaled values of the rays through it, with the weights of the sums
 *     BACK     each texel adds the values where its ray meets the detector
 *     FILTER   rows of values times weights, convolved with a response
 *
 * Volumes are [size_z][size_y][size_x], values [views][rows][columns]; all are packed floats. With HALF the bits of `halves` say
 * what has half precision: 1 what is read, 2 what is written; sums are floats. `angle` is that of filter/curve.h, 0 of a flat
 * detector; pixels count from the foot. */
#include "views.h"

#define FORWARD 0
#define SCALE 1
#define ADJOINT 2
#define BACK 3
#define FILTER 4

#ifdef HALF
#define STORED uchar
#define KERNEL(NAME) bindless_projector_##NAME##_half
#define HALVES , uint halves
#define AND_HALVES , halves
#define PART(ARRAY, OFFSET) ((ARRAY) + (ulong)(OFFSET) * (halves & 1 ? 2 : 4))
#define LOAD(ARRAY, INDEX) real_at(ARRAY, (ulong)(INDEX), (halves & 1) != 0)
#define STORE(ARRAY, INDEX, VALUE) put_real(ARRAY, (ulong)(INDEX), VALUE, (halves & 2) != 0)
#else
#define STORED float
enum { halves = 0 };
#define KERNEL(NAME) bindless_projector_##NAME
#define HALVES
#define AND_HALVES
#define PART(ARRAY, OFFSET) ((ARRAY) + (OFFSET))
#define LOAD(ARRAY, INDEX) ((ARRAY)[INDEX])
#define STORE(ARRAY, INDEX, VALUE) ((ARRAY)[INDEX] = (VALUE))
#endif

enum { COLUMN = 4 }; /* texels of a work-item, one above the other */

#if PASS == FORWARD

/* A work-group has a tile of pixels. Each ray has PARTS work-items, which take planes in turns. Neighbouring items have the
 * same ray if planes are across x, the axis of neighbouring texels; else they have neighbouring rays. */
enum { RAYS = 32, TILE = 8, PARTS = 8 };

INLINED float texel_at(global const STORED *plane, int across, int up, int size_across, int size_up, int next, int above HALVES)
{
    const bool inside = across >= 0 && across < size_across && up >= 0 && up < size_up;
    return inside ? LOAD(plane, across * next + up * above) : 0.0f;
}

kernel __attribute__((reqd_work_group_size(RAYS * PARTS, 1, 1)))
void KERNEL(forward)(global const STORED *volume, uint size_x, uint size_y, uint size_z, global const float4 *views, uint num_views,
                     uint columns, uint rows, float angle, float foot_column, float foot_row, global STORED *values HALVES)
{
    local float sums[PARTS][RAYS];
    const uint item = (uint)bindless_local_id(0), tile = rows == 1 ? RAYS : TILE;
    for (uint number = (uint)bindless_group_id(2); number < num_views; number += (uint)bindless_group_count(2)) {
        const struct rays rays = rays_of(views + number * BINDLESS_VIEW_VECTORS);
        const uint axis = (uint)rays.depth.w;
        const int size_across = (int)(axis == 0 ? size_y : size_x), size_up = (int)(axis == 2 ? size_y : size_z);
        const int size = (int)(axis == 0 ? size_x : axis == 1 ? size_y : size_z);
        const int next = axis == 0 ? (int)size_x : 1, above = (int)(axis == 2 ? size_x : size_x * size_y);
        const int stride = axis == 0 ? 1 : axis == 1 ? (int)size_x : (int)(size_x * size_y);
        const uint ray = axis == 0 ? item / PARTS : item % RAYS, part = axis == 0 ? item % PARTS : item / RAYS;
        const uint column = (uint)bindless_group_id(0) * tile + ray % tile;
        const uint row = (uint)bindless_group_id(1) * (RAYS / tile) + ray / tile;
        float sum = 0.0f;
        if (column < columns && row < rows) {
            const struct ray to = ray_to(rays, pixel_of(views, num_views, angle, foot_column, foot_row, column, row));
            const float length = length_of(rays, to), middle = (float)((size - 1) / 2);
            float low = 0.0f, high = length > 0.0f ? (float)(size - 1) : -1.0f;
            limit(to.across, to.across_step, middle, (float)size_across, &low, &high);
            limit(to.up, to.up_step, middle, (float)size_up, &low, &high);
            const float last_across = (float)(size_across - 1), last_up = (float)(size_up - 1);
            /* One plane more on both sides: places are rounded. Texels outside weigh nothing. */
            const int begin = high >= low ? MAX((int)low - 1, 0) : 0, end = high >= low ? MIN((int)high + 3, size) : 0;
            float along = (float)(begin + (int)part) - middle;
            for (int plane = begin + (int)part; plane < end; plane += PARTS, along += (float)PARTS) {
                float a = MULTIPLY_ADD(along, to.across_step, to.across), u = MULTIPLY_ADD(along, to.up_step, to.up);
                struct whole low_a = below(a), low_u = below(u);
                float t00, t10, t01, t11;
                if (low_a.value >= 0.0f && low_a.value < last_across && low_u.value >= 0.0f && low_u.value < last_up) {
                    global const STORED *texels = PART(volume, plane * stride + low_a.number * next + low_u.number * above);
                    t00 = LOAD(texels, 0), t10 = LOAD(texels, next);
                    t01 = LOAD(texels, above), t11 = LOAD(texels, next + above);
                } else if (size_up == 1 && u == 0.0f && low_a.value >= 0.0f && low_a.value < last_across) { /* a picture */
                    global const STORED *texels = PART(volume, plane * stride + low_a.number * next);
                    t00 = LOAD(texels, 0), t10 = LOAD(texels, next), t01 = 0.0f, t11 = 0.0f;
                    low_u.value = u;
                } else {
                    global const STORED *texels = PART(volume, plane * stride);
                    a = clamp_to(a, -1.5f, last_across + 1.5f);
                    u = clamp_to(u, -1.5f, last_up + 1.5f);
                    low_a = below(a), low_u = below(u);
                    const int i = low_a.number, j = low_u.number;
                    t00 = texel_at(texels, i, j, size_across, size_up, next, above AND_HALVES);
                    t10 = texel_at(texels, i + 1, j, size_across, size_up, next, above AND_HALVES);
                    t01 = texel_at(texels, i, j + 1, size_across, size_up, next, above AND_HALVES);
                    t11 = texel_at(texels, i + 1, j + 1, size_across, size_up, next, above AND_HALVES);
                }
                const float rest = a - low_a.value, lower = MULTIPLY_ADD(rest, t10 - t00, t00);
                const float upper = MULTIPLY_ADD(rest, t11 - t01, t01);
                sum += MULTIPLY_ADD(u - low_u.value, upper - lower, lower);
            }
            sum *= length;
        }
        sums[part][ray] = sum;
        bindless_barrier();
        if (item < RAYS) {
            const uint to_column = (uint)bindless_group_id(0) * tile + item % tile;
            const uint to_row = (uint)bindless_group_id(1) * (RAYS / tile) + item / tile;
            float total = 0.0f;
            UNROLLED for (int other = 0; other < PARTS; other++) total += sums[other][item];
            if (to_column < columns && to_row < rows)
                STORE(values, ((ulong)number * rows + to_row) * columns + to_column, total);
        }
        bindless_barrier();
    }
}

#elif PASS == SCALE

kernel void KERNEL(scale)(global const STORED *values, global const float4 *views, uint num_views, uint columns, uint rows,
                          float angle, float foot_column, float foot_row, global float *scaled HALVES)
{
    const uint column = (uint)bindless_global_id(0), row = (uint)bindless_global_id(1);
    if (column >= columns || row >= rows) return;
    for (uint number = (uint)bindless_global_id(2); number < num_views; number += (uint)bindless_global_size(2)) {
        const struct rays rays = rays_of(views + number * BINDLESS_VIEW_VECTORS);
        const ulong place = ((ulong)number * rows + row) * columns + column;
        const struct pixel to = pixel_of(views, num_views, angle, foot_column, foot_row, column, row);
        const float length = length_of(rays, ray_to(rays, to));
        scaled[place] = length > 0.0f ? LOAD(values, place) * length : 0.0f;
    }
}

#elif PASS == ADJOINT

/* A vector of the table, linear in the number of the plane. */
INLINED float4 on_plane(float4 place, float4 step, float along)
{
    return (float4)(MULTIPLY_ADD(along, step.x, place.x), MULTIPLY_ADD(along, step.y, place.y), MULTIPLY_ADD(along, step.z, place.z), 0.0f);
}

/* The arguments of a call, of one view. */
struct detector {
    global const float4 *views;
    uint num_views, columns, rows;
    float angle, foot_column, foot_row;
};

/* Bounds of a place on the flat detector, along an axis. */
struct bounds {
    float low, high;
};

INLINED void reach(struct bounds *bounds, float place)
{
    bounds->low = __builtin_fminf(bounds->low, place), bounds->high = __builtin_fmaxf(bounds->high, place);
}

/* Gathers texels of a plane from the rays of any view: `count` of them, one above the other along the axis that is up. The rays
 * through their neighbours bound those through them. */
INLINED void gather_any(struct rays rays, global const float4 *view, float3 place, float a, float u, float along,
                        global const float *values, struct detector to, int count, float sums[COLUMN])
{
    const uint axis = (uint)rays.depth.w, of_across = axis == 0 ? 1 : 0, of_up = axis == 2 ? 1 : 2;
    const float4 column = view[BINDLESS_VIEW_COLUMN], row = view[BINDLESS_VIEW_ROW], distance = view[BINDLESS_VIEW_DISTANCE];
    const float3 here = (float3)(of_place(column, place.x, place.y, place.z), of_place(row, place.x, place.y, place.z),
                                 of_place(distance, place.x, place.y, place.z));
    const float3 beside = (float3)(of_axis(column, of_across), of_axis(row, of_across), of_axis(distance, of_across));
    const float3 above = (float3)(of_axis(column, of_up), of_axis(row, of_up), of_axis(distance, of_up));
    struct bounds x = {FARTHEST, -FARTHEST}, y = {FARTHEST, -FARTHEST};
    int signs = 0;
    UNROLLED for (int corner = 0; corner < 4; corner++)
    {
        const float3 at = here + (corner & 1 ? beside : -beside) + (corner & 2 ? (float)count : -1.0f) * above;
        const float unit = 1.0f / at.z;
        signs += at.z > NEAREST ? 1 : at.z < -NEAREST ? -1 : 0;
        reach(&x, at.x * unit), reach(&y, at.y * unit);
    }
    const bool bounded = signs == 4 || (signs == -4 && to.angle == 0.0f);
    if (to.angle != 0.0f) {
        const float one = cosine_at(x.low, to.angle), other = cosine_at(x.high, to.angle);
        const float least = __builtin_fminf(one, other), most = x.low < 0.0f && x.high > 0.0f ? 1.0f : __builtin_fmaxf(one, other);
        x.low = column_at(x.low, to.angle), x.high = column_at(x.high, to.angle);
        y.low *= y.low < 0.0f ? most : least, y.high *= y.high > 0.0f ? most : least;
    }
    const struct range across_range = range_of(bounded ? x.low : 1.0f, bounded ? x.high : 0.0f, to.foot_column, to.columns);
    const struct range up_range = range_of(bounded ? y.low : 1.0f, bounded ? y.high : 0.0f, to.foot_row, to.rows);
    const float4 across = on_plane(rays.across, rays.across_step, along), up = on_plane(rays.up, rays.up_step, along);
    for (int c = across_range.first; c <= across_range.last; c++) {
        struct pixel pixel = pixel_of(to.views, to.num_views, to.angle, to.foot_column, to.foot_row, (uint)c, (uint)up_range.first);
        const float depth_c = of_column(rays.depth, pixel), across_c = of_column(across, pixel), up_c = of_column(up, pixel);
        global const float *value = values + ((uint)up_range.first * to.columns + (uint)c);
        for (int r = up_range.first; r <= up_range.last; r++, pixel.row += 1.0f, value += to.columns) {
            const float unit = 1.0f / MULTIPLY_ADD(rays.depth.z, pixel.row, depth_c);
            const float weight = weight_at(MULTIPLY_ADD(MULTIPLY_ADD(across.z, pixel.row, across_c), unit, -a));
            const float at = MULTIPLY_ADD(MULTIPLY_ADD(up.z, pixel.row, up_c), unit, -u);
            if (!(weight > 0.0f && at > -1.0f && at < (float)count)) continue;
            const float weighted = *value * weight;
            UNROLLED for (int k = 0; k < COLUMN; k++)
                if (k < count) sums[k] = MULTIPLY_ADD(weight_at(at - (float)k), weighted, sums[k]);
        }
    }
}

/* Gathers a column of texels of a view whose rows are above one another along z, as are its rays: what is across depends on
 * the columns of the detector alone. */
INLINED void gather_upright(struct rays rays, global const float4 *view, float3 place, float a, float u, float along,
                            global const float *values, struct detector to, float sums[COLUMN])
{
    const uint of_across = (uint)rays.depth.w == 0 ? 1 : 0;
    const float4 column = view[BINDLESS_VIEW_COLUMN], distance = view[BINDLESS_VIEW_DISTANCE];
    const float w = of_place(distance, place.x, place.y, place.z), w_step = of_axis(distance, of_across);
    const float c = of_place(column, place.x, place.y, place.z), c_step = of_axis(column, of_across);
    const float before = w - w_step, behind = w + w_step;
    const bool bounded = (before > NEAREST && behind > NEAREST) || (before < -NEAREST && behind < -NEAREST && to.angle == 0.0f);
    const float one = column_at((c - c_step) / before, to.angle), other = column_at((c + c_step) / behind, to.angle);
    const struct range range = range_of(bounded ? __builtin_fminf(one, other) : 1.0f, bounded ? __builtin_fmaxf(one, other) : 0.0f,
                                        to.foot_column, to.columns);
    const float4 across = on_plane(rays.across, rays.across_step, along), up = on_plane(rays.up, rays.up_step, along);
    const float per_row = 1.0f / up.z;
    for (int number = range.first; number <= range.last; number++) {
        const struct pixel pixel = pixel_of(to.views, to.num_views, to.angle, to.foot_column, to.foot_row, (uint)number, 0);
        const float depth = of_column(rays.depth, pixel), unit = 1.0f / depth;
        const float weight = weight_at(MULTIPLY_ADD(of_column(across, pixel), unit, -a));
        if (weight == 0.0f) continue;
        /* Places above the first texel, and steps, along the rows. */
        const float first = MULTIPLY_ADD(of_column(up, pixel), unit, -u), next = up.z * unit;
        const float low = (-1.0f - first) * (depth * per_row), high = ((float)COLUMN - first) * (depth * per_row);
        const struct range through = range_of(__builtin_fminf(low, high), __builtin_fmaxf(low, high), to.foot_row, to.rows);
        global const float *value = values + ((uint)through.first * to.columns + (uint)number);
        float y = (float)through.first - to.foot_row;
        for (int row = through.first; row <= through.last; row++, y += 1.0f, value += to.columns) {
            const float at = MULTIPLY_ADD(next, y, first), weighted = *value * weight;
            UNROLLED for (int k = 0; k < COLUMN; k++) sums[k] = MULTIPLY_ADD(weight_at(at - (float)k), weighted, sums[k]);
        }
    }
}

kernel void KERNEL(adjoint)(global const float *values, uint size_x, uint size_y, uint size_z, global const float4 *views,
                            uint num_views, uint columns, uint rows, float angle, float foot_column, float foot_row,
                            global STORED *volume HALVES)
{
    const uint x = (uint)bindless_global_id(0), y = (uint)bindless_global_id(1);
    if (x >= size_x || y >= size_y) return;
    const float middle_x = 0.5f * (float)(size_x - 1), middle_y = 0.5f * (float)(size_y - 1), middle_z = 0.5f * (float)(size_z - 1);
    struct detector to = {views, num_views, columns, rows, angle, foot_column, foot_row};
    for (uint z = (uint)bindless_global_id(2) * COLUMN; z < size_z; z += (uint)bindless_global_size(2) * COLUMN) {
        float sums[COLUMN];
        UNROLLED for (int k = 0; k < COLUMN; k++) sums[k] = 0.0f;
        for (uint number = 0; number < num_views; number++) {
            global const float4 *view = views + number * BINDLESS_VIEW_VECTORS;
            global const float *of_view = values + (ulong)number * rows * columns;
            const struct rays rays = rays_of(view);
            const uint axis = (uint)rays.depth.w;
            const float3 place = (float3)((float)x - middle_x, (float)y - middle_y, (float)z - middle_z);
            if (rays.depth.x == 0.0f && rays.depth.y == 0.0f && rays.depth.z == 0.0f) continue;
            if (axis != 2 && rays.depth.z == 0.0f && rays.across.z == 0.0f && rays.across_step.z == 0.0f) {
                const float along = axis == 0 ? (float)x - (float)((size_x - 1) / 2) : (float)y - (float)((size_y - 1) / 2);
                const float a = (float)(axis == 0 ? y : x);
                /* The first call has the angle as a constant, and no code of curved detectors. */
                to.angle = 0.0f;
                if (angle == 0.0f) {
                    gather_upright(rays, view, place, a, (float)z, along, of_view, to, sums);
                    continue;
                }
                to.angle = angle;
                gather_upright(rays, view, place, a, (float)z, along, of_view, to, sums);
                continue;
            }
            to.angle = angle;
            if (axis != 2) {
                const float along = axis == 0 ? (float)x - (float)((size_x - 1) / 2) : (float)y - (float)((size_y - 1) / 2);
                gather_any(rays, view, place, (float)(axis == 0 ? y : x), (float)z, along, of_view, to, COLUMN, sums);
                continue;
            }
            for (int k = 0; k < COLUMN; k++) {
                float sum[COLUMN] = {0.0f};
                const float3 at = (float3)(place.x, place.y, place.z + (float)k);
                const float along = (float)z + (float)k - (float)((size_z - 1) / 2);
                gather_any(rays, view, at, (float)x, (float)y, along, of_view, to, 1, sum);
                UNROLLED for (int i = 0; i < COLUMN; i++) sums[i] += i == k ? sum[0] : 0.0f;
            }
        }
        UNROLLED for (int k = 0; k < COLUMN; k++)
            if (z + k < size_z) STORE(volume, ((ulong)(z + k) * size_y + y) * size_x + x, sums[k]);
    }
}

#elif PASS == BACK

INLINED float value_at(global const STORED *values, int column, int row, int columns, int rows HALVES)
{
    return column >= 0 && column < columns && row >= 0 && row < rows ? LOAD(values, row * columns + column) : 0.0f;
}

kernel void KERNEL(back)(global const STORED *values, uint size_x, uint size_y, uint size_z, global const float4 *views,
                         uint num_views, uint columns, uint rows, float angle, float foot_column, float foot_row,
                         global STORED *volume, uint power HALVES)
{
    const uint x = (uint)bindless_global_id(0), y = (uint)bindless_global_id(1);
    if (x >= size_x || y >= size_y) return;
    const float place_x = (float)x - 0.5f * (float)(size_x - 1), place_y = (float)y - 0.5f * (float)(size_y - 1);
    const float last_column = (float)(columns - 1), last_row = (float)(rows - 1);
    for (uint z = (uint)bindless_global_id(2) * COLUMN; z < size_z; z += (uint)bindless_global_size(2) * COLUMN) {
        const float place_z = (float)z - 0.5f * (float)(size_z - 1);
        float sums[COLUMN];
        UNROLLED for (int k = 0; k < COLUMN; k++) sums[k] = 0.0f;
        for (uint number = 0; number < num_views; number++) {
            global const float4 *view = views + number * BINDLESS_VIEW_VECTORS;
            global const STORED *of_view = PART(values, (ulong)number * rows * columns);
            const float4 column = view[BINDLESS_VIEW_COLUMN], row = view[BINDLESS_VIEW_ROW], distance = view[BINDLESS_VIEW_DISTANCE];
            const float first_column = of_place(column, place_x, place_y, place_z);
            const float first_row = of_place(row, place_x, place_y, place_z);
            const float first = of_place(distance, place_x, place_y, place_z);
            /* Rows above one another along z: the column and the distance are the same for all texels. */
            const bool is_upright = distance.z == 0.0f && column.z == 0.0f;
            float near = first, unit = 1.0f / first, per_row = unit * cosine_at(first_column * unit, angle);
            float c = column_at(first_column * unit, angle) + foot_column;
            struct whole low_c = below(c);
            UNROLLED for (int k = 0; k < COLUMN; k++)
            {
                if (k != 0 && !is_upright) {
                    near = MULTIPLY_ADD(distance.z, (float)k, first), unit = 1.0f / near;
                    const float flat = MULTIPLY_ADD(column.z, (float)k, first_column) * unit;
                    c = column_at(flat, angle) + foot_column, low_c = below(c);
                    per_row = unit * cosine_at(flat, angle);
                }
                const float r = MULTIPLY_ADD(MULTIPLY_ADD(row.z, (float)k, first_row), per_row, foot_row);
                const struct whole low_r = below(r);
                float p00, p10, p01, p11;
                if (!(near > NEAREST && c > -1.0f && r > -1.0f && c < last_column + 1.0f && r < last_row + 1.0f)) continue;
                const int i = low_c.number, j = low_r.number;
                if (i >= 0 && j >= 0 && low_c.value < last_column && low_r.value < last_row) {
                    global const STORED *pixels = PART(of_view, (uint)j * columns + (uint)i);
                    p00 = LOAD(pixels, 0), p10 = LOAD(pixels, 1), p01 = LOAD(pixels, columns), p11 = LOAD(pixels, columns + 1);
                } else {
                    p00 = value_at(of_view, i, j, (int)columns, (int)rows AND_HALVES);
                    p10 = value_at(of_view, i + 1, j, (int)columns, (int)rows AND_HALVES);
                    p01 = value_at(of_view, i, j + 1, (int)columns, (int)rows AND_HALVES);
                    p11 = value_at(of_view, i + 1, j + 1, (int)columns, (int)rows AND_HALVES);
                }
                const float rest = c - low_c.value, lower = MULTIPLY_ADD(rest, p10 - p00, p00);
                const float upper = MULTIPLY_ADD(rest, p11 - p01, p01);
                const float factor = power == 2 ? per_row * per_row : power == 1 ? per_row : 1.0f;
                sums[k] = MULTIPLY_ADD(factor, MULTIPLY_ADD(r - low_r.value, upper - lower, lower), sums[k]);
            }
        }
        UNROLLED for (int k = 0; k < COLUMN; k++)
            if (z + k < size_z) STORE(volume, ((ulong)(z + k) * size_y + y) * size_x + x, sums[k]);
    }
}

#else

/* A work-group has a row, in steps of ITEMS of its values and PER_ITEM * ITEMS results. Results have `before` columns before
 * the first value; the response is that of differences from 1 - width to width - 1. `turn_weights` has (columns) floats for
 * each view, or with a step of 0 for all; `pixel_weights` (rows, columns). */
enum { ITEMS = 128, PER_ITEM = 4 };

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void KERNEL(filter)(global const STORED *values, uint columns, uint rows, global const float *turn_weights, uint turn_step,
                    global const float *pixel_weights, global const float *response, uint width, uint before,
                    global float *filtered HALVES)
{
    local float part[ITEMS];
    const uint item = (uint)bindless_local_id(0);
    const ulong number = bindless_group_id(0);
    const uint row = (uint)(number % rows);
    global const float *turn = turn_weights + number / rows * turn_step;
    global const STORED *of_row = PART(values, number * columns);
    for (uint start = 0; start < width; start += ITEMS * PER_ITEM) {
        float sums[PER_ITEM];
        UNROLLED for (uint k = 0; k < PER_ITEM; k++) sums[k] = 0.0f;
        for (uint from = 0; from < columns; from += ITEMS) {
            const uint column = from + item, count = MIN(columns - from, ITEMS);
            if (column < columns) part[item] = LOAD(of_row, column) * turn[column] * pixel_weights[row * columns + column];
            bindless_barrier();
            UNROLLED for (uint k = 0; k < PER_ITEM; k++)
            {
                const uint to = start + k * ITEMS + item;
                if (to >= width) continue;
                global const float *last = response + (width - 1 + to - before - from);
                for (uint i = 0; i < count; i++) sums[k] = MULTIPLY_ADD(part[i], last[-(int)i], sums[k]);
            }
            bindless_barrier();
        }
        UNROLLED for (uint k = 0; k < PER_ITEM; k++)
        {
            const uint to = start + k * ITEMS + item;
            if (to < width) filtered[number * width + to] = sums[k];
        }
    }
}

#endif
