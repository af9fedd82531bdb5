/* Projections of a volume, their transpose and back projection, of scans whose detectors have their rows above one another
 * along z: of a column of pixels, what is across the planes is the same for all rows. Neighbouring work-items have neighbours
 * along z or neighbouring rows, and read copies that are turned, so that these are neighbours in memory, with zeros around. PASS:
 *
 *     TURN     the copy, of a volume, or of values, which may be times the lengths of their rays between two planes
 *     FORWARD  sums along rays
 *     ADJOINT  the transpose: each texel gathers the scaled values of the rays through it, with the weights of the sums
 *     BACK     each texel adds the values where its ray meets the detector
 *
 * Volumes are [size_z][size_y][size_x], values [views][rows][columns]; all are packed. What is read or written has half
 * precision where the last argument is 1; copies and sums are floats. projector.cl has the same for other scans. */
#include "views.h"

#define TURN 0
#define FORWARD 1
#define ADJOINT 2
#define BACK 3

#ifdef __NVPTX__
#define BY_FOUR _Pragma("unroll 4") /* as UNROLLED */
#else
#define BY_FOUR
#endif

enum { LANES = 32, WARPS = 8, ITEMS = LANES * WARPS };

/* Zeros of a copy before the first element along each axis, and on both sides together. Its lines begin at multiples of 8. */
enum { BEFORE = 2, BEHIND = 4, AROUND = BEFORE + BEHIND };

INLINED uint pitch_of(uint size) { return (size + AROUND + 7) & ~7u; }

/* A pixel of a flat detector. */
INLINED __attribute__((unused)) struct pixel pixel_at(uint column, uint row, uint columns, uint rows)
{
    return pixel_of(0, 0, 0.0f, 0.5f * (float)(columns - 1), 0.5f * (float)(rows - 1), column, row);
}

#if PASS == TURN

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void bindless_projector_turn(global const uchar *source, uint columns, uint rows, uint slabs, uint row_step, uint slab_step,
                             uint slabs_before, global const float4 *views, uint is_scaled, global float *turned, uint is_half)
{
    local float tile[LANES][LANES + 1];
    const uint item = (uint)bindless_local_id(0), lane = item % LANES, warp = item / LANES;
    const uint pitch = pitch_of(rows), lines = columns + AROUND;
    const uint first_line = (uint)bindless_group_id(0) * LANES, first_place = (uint)bindless_group_id(1) * LANES;
    for (uint slab = (uint)bindless_group_id(2); slab < slabs + 2 * slabs_before; slab += (uint)bindless_group_count(2)) {
        const uint from = slab - slabs_before, column = first_line + lane - BEFORE; /* beyond, if negative */
        for (uint k = 0; k < LANES; k += WARPS) {
            const uint row = first_place + warp + k - BEFORE;
            float value = 0.0f;
            if (column < columns && row < rows && from < slabs) {
                value = real_at(source, (ulong)from * slab_step + (ulong)row * row_step + column, is_half != 0);
                if (is_scaled != 0) {
                    const struct rays rays = rays_of(views + from * BINDLESS_VIEW_VECTORS);
                    const float length = length_of(rays, ray_to(rays, pixel_at(column, row, columns, rows)));
                    value = length > 0.0f ? value * length : 0.0f;
                }
            }
            tile[warp + k][lane] = value;
        }
        bindless_barrier();
        const uint place = first_place + lane;
        for (uint k = 0; k < LANES; k += WARPS) {
            const uint line = first_line + warp + k;
            if (line < lines && place < pitch) turned[((ulong)slab * lines + line) * pitch + place] = tile[lane][warp + k];
        }
        bindless_barrier();
    }
}

#elif PASS == FORWARD

/* Rays of a work-item in a view, LANES rows apart; views that take turns, and the planes of a turn: what neighbouring views
 * read of these is near to a processor. */
enum { PER_ITEM = 2, VIEWS = 8, PLANES = 16 };

/* The rays of a column of pixels: their place in the copy at the middle plane and step from a plane to the next, across, and up for
 * row 0 and for a row more; the planes that they pass. */
struct column {
    float across, across_step, up, up_step, up_of_row, up_step_of_row;
    int begin, end;
};

INLINED struct column column_of(struct rays rays, struct pixel first, uint size_x, uint size_y)
{
    const bool is_along_x = rays.depth.w == 0.0f;
    const int size = (int)(is_along_x ? size_x : size_y);
    const float unit = 1.0f / of_pixel(rays.depth, first), middle = (float)((size - 1) / 2);
    const struct ray ray = ray_to(rays, first);
    float low = 0.0f, high = is_near(ray.across) && is_near(ray.across_step) ? (float)(size - 1) : -1.0f;
    limit(ray.across, ray.across_step, middle, (float)(is_along_x ? size_y : size_x), &low, &high);
    /* One plane more on both sides: places are rounded. Texels outside weigh nothing. */
    const bool passes = high >= low;
    return (struct column){ray.across + BEFORE, ray.across_step, ray.up + BEFORE, ray.up_step, rays.up.z * unit, rays.up_step.z * unit,
                           passes ? MAX((int)low - 1, 0) : 0, passes ? MIN((int)high + 3, size) : 0};
}

/* A work-group has WARPS columns, one for LANES work-items each, and LANES * PER_ITEM rows. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void bindless_projector_turned_forward(global const float *turned, uint size_x, uint size_y, uint size_z, global const float4 *views,
                                       uint num_views, uint columns, uint rows, global uchar *values, uint is_half)
{
    local struct column passing[WARPS][VIEWS];
    local float sums[VIEWS][PER_ITEM][ITEMS];
    const uint item = (uint)bindless_local_id(0), lane = item % LANES, warp = item / LANES;
    const uint column = (uint)bindless_group_id(0) * WARPS + warp, row = (uint)bindless_group_id(2) * (LANES * PER_ITEM) + lane;
    const uint pitch = pitch_of(size_z), slab = (size_x + AROUND) * pitch, last = (uint)bindless_group_count(1);
    const uint share = (num_views + last - 1) / last, first = (uint)bindless_group_id(1) * share, past = MIN(first + share, num_views);
    const float top = (float)(size_z + BEFORE);
    for (uint batch = first; batch < past; batch += VIEWS) {
        const uint count = MIN(past - batch, VIEWS);
        bindless_barrier();
        if (lane < count) {
            const struct rays rays = rays_of(views + (batch + lane) * BINDLESS_VIEW_VECTORS);
            passing[warp][lane] = column_of(rays, pixel_at(column, 0, columns, rows), size_x, size_y);
        }
        for (uint i = 0; i < count; i++)
            UNROLLED for (int k = 0; k < PER_ITEM; k++) sums[i][k][item] = 0.0f;
        bindless_barrier();
        for (int start = 0; start < (int)MAX(size_x, size_y); start += PLANES)
            for (uint i = 0; i < count; i++) {
                local const struct column *rays = &passing[warp][i];
                const int begin = MAX(rays->begin, start), end = MIN(rays->end, start + PLANES);
                if (begin >= end) continue;
                const bool is_along_x = views[(batch + i) * BINDLESS_VIEW_VECTORS].w == 0.0f;
                const uint step = is_along_x ? pitch : slab, next = is_along_x ? slab : pitch;
                const float size_across = (float)((is_along_x ? size_y : size_x) + BEFORE), across = rays->across, across_step = rays->across_step;
                float along = (float)(begin - (int)((is_along_x ? size_x : size_y) - 1) / 2), up[PER_ITEM], up_step[PER_ITEM], sum[PER_ITEM];
                UNROLLED for (int k = 0; k < PER_ITEM; k++)
                {
                    const float number = (float)(row + (uint)k * LANES);
                    up[k] = MULTIPLY_ADD(rays->up_of_row, number, rays->up), up_step[k] = MULTIPLY_ADD(rays->up_step_of_row, number, rays->up_step);
                    sum[k] = sums[i][k][item];
                }
                global const float *plane = turned + (ulong)((uint)begin + BEFORE) * step;
                BY_FOUR for (int j = begin; j < end; j++, along += 1.0f, plane += step)
                {
                    const float a = clamp_to(MULTIPLY_ADD(along, across_step, across), BEFORE - 1, size_across);
                    const struct whole low_a = at_or_below(a);
                    const float rest = a - low_a.value;
                    global const float *line = plane + (uint)low_a.number * next, *other = line + next;
                    UNROLLED for (int k = 0; k < PER_ITEM; k++)
                    {
                        const float u = clamp_to(MULTIPLY_ADD(along, up_step[k], up[k]), BEFORE - 1, top);
                        const struct whole low_u = at_or_below(u);
                        const uint i = (uint)low_u.number;
                        const float t00 = line[i], t01 = line[i + 1], t10 = other[i], t11 = other[i + 1];
                        const float lower = MULTIPLY_ADD(rest, t10 - t00, t00), upper = MULTIPLY_ADD(rest, t11 - t01, t01);
                        sum[k] += MULTIPLY_ADD(u - low_u.value, upper - lower, lower);
                    }
                }
                UNROLLED for (int k = 0; k < PER_ITEM; k++) sums[i][k][item] = sum[k];
            }
        for (uint i = 0; i < count; i++) {
            const struct rays rays = rays_of(views + (batch + i) * BINDLESS_VIEW_VECTORS);
            UNROLLED for (int k = 0; k < PER_ITEM; k++)
            {
                const uint number = row + (uint)k * LANES;
                const float length = length_of(rays, ray_to(rays, pixel_at(column, number, columns, rows)));
                const ulong to = ((ulong)(batch + i) * rows + number) * columns + column;
                if (column < columns && number < rows) put_real(values, to, length > 0.0f ? sums[i][k][item] * length : 0.0f, is_half != 0);
            }
        }
    }
}

#else

enum { PER_ITEM = 4, BATCH = LANES }; /* texels of a work-item, LANES apart; views whose part for a texel's x and y is computed at once */

#if PASS == ADJOINT

/* A column of pixels whose rays pass the texels with an x and y: its line in the copy, its weight, the height of its row 0 at
 * these texels, that of a row more, and the reciprocal. */
struct column {
    int line;
    float weight, first, next, per_height;
};

/* The columns of a view for an x and y: the first ones that weigh, or the range of all candidates. */
enum { MOST = 3 };

struct share {
    int first, last, count;
    struct column columns[MOST];
};

INLINED struct column column_of(struct rays rays, int number, uint x, uint y, uint size_x, uint size_y, uint columns, uint rows)
{
    const bool is_along_x = rays.depth.w == 0.0f;
    const float along = is_along_x ? (float)x - (float)((size_x - 1) / 2) : (float)y - (float)((size_y - 1) / 2);
    const float c = (float)number - 0.5f * (float)(columns - 1), depth = MULTIPLY_ADD(rays.depth.y, c, rays.depth.x), unit = 1.0f / depth;
    const float across = MULTIPLY_ADD(MULTIPLY_ADD(along, rays.across_step.y, rays.across.y), c, MULTIPLY_ADD(along, rays.across_step.x, rays.across.x));
    const float up = MULTIPLY_ADD(MULTIPLY_ADD(along, rays.up_step.y, rays.up.y), c, MULTIPLY_ADD(along, rays.up_step.x, rays.up.x));
    const float row = MULTIPLY_ADD(along, rays.up_step.z, rays.up.z), next = row * unit;
    return (struct column){number + BEFORE, weight_at(MULTIPLY_ADD(across, unit, -(float)(is_along_x ? y : x))),
                           MULTIPLY_ADD(-0.5f * (float)(rows - 1), next, up * unit), next, depth / row};
}

INLINED void find_share(local struct share *share, global const float4 *view, uint x, uint y, uint size_x, uint size_y, uint columns,
                        uint rows)
{
    const struct rays rays = rays_of(view);
    const uint of_across = rays.depth.w == 0.0f ? 1 : 0;
    const float4 column = view[BINDLESS_VIEW_COLUMN], distance = view[BINDLESS_VIEW_DISTANCE];
    const float place_x = (float)x - 0.5f * (float)(size_x - 1), place_y = (float)y - 0.5f * (float)(size_y - 1);
    const float w = of_place(distance, place_x, place_y, 0.0f), w_step = of_axis(distance, of_across);
    const float c = of_place(column, place_x, place_y, 0.0f), c_step = of_axis(column, of_across);
    const float before = w - w_step, behind = w + w_step;
    const bool bounded = (before > NEAREST && behind > NEAREST) || (before < -NEAREST && behind < -NEAREST);
    const float one = (c - c_step) / before, other = (c + c_step) / behind;
    struct range range = range_of(bounded ? __builtin_fminf(one, other) : 1.0f, bounded ? __builtin_fmaxf(one, other) : 0.0f,
                                  0.5f * (float)(columns - 1), columns);
    if (rays.depth.x == 0.0f && rays.depth.y == 0.0f) range.last = range.first - 1; /* no ray counts */
    int count = 0;
    for (int number = range.first; number <= range.last && count <= MOST; number++) {
        const struct column passing = column_of(rays, number, x, y, size_x, size_y, columns, rows);
        if (passing.weight == 0.0f) continue;
        if (count < MOST) share->columns[count] = passing;
        count++;
    }
    share->first = range.first, share->last = range.last, share->count = count;
}

/* Adds to the texels what the rays of a column give. */
INLINED void gather(struct column column, global const float *of_view, uint pitch, uint rows, float height, float sums[PER_ITEM])
{
    const float reach = __builtin_fabsf(column.per_height);
    const int through = reach < 1e6f ? (int)(2.0f * reach) + 1 : (int)rows; /* rows whose rays pass a texel */
    global const float *pixels = of_view + ((uint)column.line * pitch + BEFORE);
    float distance[PER_ITEM], sum[PER_ITEM];
    uint row[PER_ITEM];
    UNROLLED for (int k = 0; k < PER_ITEM; k++)
    {
        const float at = height + (float)(k * LANES);
        const float from = clamp_to(MULTIPLY_ADD(at - column.first, column.per_height, 0.5f - reach), 0.0f, (float)rows) + 0x1p23f;
        distance[k] = MULTIPLY_ADD(column.next, from - 0x1p23f, column.first - at), row[k] = bits_of(from), sum[k] = 0.0f;
    }
    if (through <= BEHIND) { /* there are zeros behind the last row */
        for (int j = 0; j < through; j++, pixels++)
            UNROLLED for (int k = 0; k < PER_ITEM; k++)
            {
                sum[k] = MULTIPLY_ADD(weight_at(distance[k]), pixels[row[k]], sum[k]);
                distance[k] += column.next;
            }
    } else {
        for (int j = 0; j < through; j++)
            UNROLLED for (int k = 0; k < PER_ITEM; k++)
            {
                sum[k] = MULTIPLY_ADD(weight_at(distance[k]), pixels[MIN(row[k] + (uint)j, rows)], sum[k]);
                distance[k] += column.next;
            }
    }
    UNROLLED for (int k = 0; k < PER_ITEM; k++) sums[k] = MULTIPLY_ADD(column.weight, sum[k], sums[k]);
}

#else

/* Of the texels with an x and y: the column of a view where their rays meet the detector, and the row, linear in z. */
struct share {
    int column;
    float rest, factor, row, row_step;
};

INLINED struct share share_of(global const float4 *view, float x, float y, uint columns, uint rows, uint power)
{
    const float4 column = view[BINDLESS_VIEW_COLUMN], row = view[BINDLESS_VIEW_ROW], distance = view[BINDLESS_VIEW_DISTANCE];
    const float near = of_place(distance, x, y, 0.0f), unit = 1.0f / near;
    const float c = MULTIPLY_ADD(of_place(column, x, y, 0.0f), unit, 0.5f * (float)(columns - 1));
    const bool meets = near > NEAREST && c > -1.0f && c < (float)columns;
    const struct whole low = at_or_below(meets ? c + BEFORE : 0.0f);
    const float factor = power == 2 ? unit * unit : power == 1 ? unit : 1.0f;
    return (struct share){low.number, c + BEFORE - low.value, meets ? factor : 0.0f,
                          MULTIPLY_ADD(of_place(row, x, y, 0.0f), unit, 0.5f * (float)(rows - 1) + BEFORE), row.z * unit};
}

#endif

/* A work-group has WARPS texels along x, and LANES * PER_ITEM along z. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
#if PASS == ADJOINT
void bindless_projector_turned_adjoint(global const float *turned, uint size_x, uint size_y, uint size_z, global const float4 *views,
                                       uint num_views, uint columns, uint rows, global uchar *volume, uint is_half)
#else
void bindless_projector_turned_back(global const float *turned, uint size_x, uint size_y, uint size_z, global const float4 *views,
                                    uint num_views, uint columns, uint rows, global uchar *volume, uint power, uint is_half)
#endif
{
    local struct share shares[WARPS][BATCH];
    const uint item = (uint)bindless_local_id(0), lane = item % LANES, warp = item / LANES;
    const uint x = (uint)bindless_group_id(0) * WARPS + warp, y = (uint)bindless_group_id(1);
    const uint pitch = pitch_of(rows);
    for (uint z = (uint)bindless_group_id(2) * (LANES * PER_ITEM); z < size_z; z += (uint)bindless_group_count(2) * (LANES * PER_ITEM)) {
        float sums[PER_ITEM];
        UNROLLED for (int k = 0; k < PER_ITEM; k++) sums[k] = 0.0f;
        for (uint batch = 0; batch < num_views; batch += BATCH) {
            const uint count = MIN(num_views - batch, BATCH);
            bindless_barrier();
            if (lane < count) {
                global const float4 *view = views + (batch + lane) * BINDLESS_VIEW_VECTORS;
#if PASS == ADJOINT
                find_share(&shares[warp][lane], view, x, y, size_x, size_y, columns, rows);
#else
                const float place_x = (float)x - 0.5f * (float)(size_x - 1), place_y = (float)y - 0.5f * (float)(size_y - 1);
                shares[warp][lane] = share_of(view, place_x, place_y, columns, rows, power);
#endif
            }
            bindless_barrier();
            for (uint i = 0; i < count; i++) {
                global const float *of_view = turned + (ulong)(batch + i) * ((columns + AROUND) * pitch);
#if PASS == ADJOINT
                local const struct share *share = &shares[warp][i];
                const float height = (float)(z + lane);
                if (share->count <= MOST) {
                    for (int j = 0; j < share->count; j++) gather(share->columns[j], of_view, pitch, rows, height, sums);
                } else {
                    const struct rays rays = rays_of(views + (batch + i) * BINDLESS_VIEW_VECTORS);
                    for (int number = share->first; number <= share->last; number++) {
                        const struct column column = column_of(rays, number, x, y, size_x, size_y, columns, rows);
                        if (column.weight != 0.0f) gather(column, of_view, pitch, rows, height, sums);
                    }
                }
#else
                const struct share share = shares[warp][i];
                if (share.factor == 0.0f) continue;
                global const float *pixels = of_view + (uint)share.column * pitch, *others = pixels + pitch;
                UNROLLED for (int k = 0; k < PER_ITEM; k++)
                {
                    const float height = (float)(z + lane + (uint)k * LANES) - 0.5f * (float)(size_z - 1);
                    const float r = clamp_to(MULTIPLY_ADD(height, share.row_step, share.row), BEFORE - 1, (float)(rows + BEFORE));
                    const struct whole low = at_or_below(r);
                    const uint j = (uint)low.number;
                    const float p00 = pixels[j], p01 = pixels[j + 1], p10 = others[j], p11 = others[j + 1];
                    const float lower = MULTIPLY_ADD(share.rest, p10 - p00, p00), upper = MULTIPLY_ADD(share.rest, p11 - p01, p01);
                    sums[k] = MULTIPLY_ADD(share.factor, MULTIPLY_ADD(r - low.value, upper - lower, lower), sums[k]);
                }
#endif
            }
        }
        UNROLLED for (int k = 0; k < PER_ITEM; k++)
        {
            const uint to = z + lane + (uint)k * LANES;
            if (x < size_x && to < size_z) put_real(volume, ((ulong)to * size_y + y) * size_x + x, sums[k], is_half != 0);
        }
    }
}

#endif
