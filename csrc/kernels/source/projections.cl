/* Projections of a volume from poses of a source and a detector, and their gradients. PASS selects the kernel:
 *
 *     VALUES   integrals along the lines from the source to the pixels, and derivatives with respect to both ends
 *     TEXELS   adds gradients of values to those of texels, along the same lines
 *     SUMS     gradients of the moved frames (pose.h), a part of the pixels in each work-group
 *     POSES    gradients of poses from these sums
 *
 * The third dimension of the launch counts poses. Arrays: values [poses][height][width], gradients of values with
 * strides, derivatives [poses][6][height][width], sums [poses][groups][12]. The mode has bit 0: poses are matrices; bit 1: texels are halves. */
#include "rays.h"
#include "atomics.h"
#include "pose.h"

#define VALUES 0
#define TEXELS 1
#define SUMS 2
#define POSES 3

#define IS_MATRIX ((mode & 1) != 0)

#define DETECTOR                                                                                                       \
    float source_x, float source_y, float source_z, float first_x, float first_y, float first_z, float column_x,       \
        float column_y, float column_z, float row_x, float row_y, float row_z, float m00, float m01, float m02,        \
        float m03, float m10, float m11, float m12, float m13, float m20, float m21, float m22, float m23

#define THE_DETECTOR                                                                                                   \
    {                                                                                                                  \
        {{source_x, source_y, source_z}, {first_x, first_y, first_z}, {column_x, column_y, column_z},                  \
         {row_x, row_y, row_z}},                                                                                       \
            {{m00, m01, m02, m03}, {m10, m11, m12, m13}, {m20, m21, m22, m23}},                                        \
    }

#if PASS == VALUES || PASS == TEXELS

/* A work-group has a tile of pixels. Each line has PARTS work-items, which take samples in turns, so that all items of
 * the group read near one another at a time. Neighbouring items have the same line if lines are along x, the axis of
 * neighbouring texels; else they have neighbouring lines. */
enum { COLUMNS = 8, ROWS = 4, RAYS = COLUMNS * ROWS, PARTS = 8, RESULTS = 7 };

struct pixel {
    uint column, row;
    bool exists;
};

/* The moved frame of a pose, by four items of the group for all. */
INLINED void move_frame(const struct detector *detector, global const float *poses, ulong pose, uint mode, local float *frame)
{
    const uint item = (uint)bindless_local_id(0);
    if (item < 4) {
        double matrix[12];
        matrix_of_pose(poses + pose * (IS_MATRIX ? MATRIX_POSE : VECTOR_POSE), IS_MATRIX, matrix);
        move_row(detector, matrix, (int)item, frame);
    }
    bindless_barrier();
}

/* The line and the part of an item, for the lines of a moved frame. */
INLINED void share_work(uint item, uint width, uint height, local const float *frame, uint *ray, uint *part)
{
    float size[3];
    UNROLLED for (int a = 0; a < 3; a++)
    {
        const float step = frame[3 + a] - frame[a] + 0.5f * ((float)width * frame[6 + a] + (float)height * frame[9 + a]);
        size[a] = step < 0.0f ? -step : step;
    }
    const bool is_along_x = size[0] > size[1] && size[0] > size[2];
    *ray = is_along_x ? item / PARTS : item % RAYS;
    *part = is_along_x ? item % PARTS : item / RAYS;
}

INLINED struct pixel pixel_of(uint ray, uint width, uint height)
{
    const uint column = (uint)bindless_group_id(0) * COLUMNS + ray % COLUMNS, row = (uint)bindless_group_id(1) * ROWS + ray / COLUMNS;
    return (struct pixel){column, row, column < width && row < height};
}

/* The line of a pixel, and its length, which a pose does not change. */
INLINED struct segment segment_of_pixel(struct volume volume, const struct detector *detector, local const float *frame,
                                        struct pixel pixel, uint samples, float *length)
{
    const float x = (float)pixel.column, y = (float)pixel.row;
    float start[3], step[3], square = 0.0f;
    UNROLLED for (int a = 0; a < 3; a++) {
        start[a] = frame[a];
        step[a] = MULTIPLY_ADD(y, frame[9 + a], MULTIPLY_ADD(x, frame[6 + a], frame[3 + a] - frame[a]));
        const float from = detector->frame[1][a] - detector->frame[0][a];
        const float leg = MULTIPLY_ADD(y, detector->frame[3][a], MULTIPLY_ADD(x, detector->frame[2][a], from));
        square = MULTIPLY_ADD(leg, leg, square);
    }
    *length = __builtin_elementwise_sqrt(square);
    return segment_of(volume, (float3)(start[0], start[1], start[2]), (float3)(step[0], step[1], step[2]), samples);
}

#endif

#if PASS == VALUES

kernel __attribute__((reqd_work_group_size(RAYS * PARTS, 1, 1)))
void bindless_projections(global const void *texels, uint size_x, uint size_y, uint size_z, global const float *poses,
                          DETECTOR, uint width, uint height, uint samples, global float *values, global float *derivatives,
                          uint mode)
{
    local float frame[FRAME];
    local float sums[PARTS][RESULTS][RAYS];
    const struct detector detector = THE_DETECTOR;
    const struct volume volume = {texels, (int)size_x, (int)size_y, (int)size_z, (mode & 2) != 0};
    const uint item = (uint)bindless_local_id(0);
    const ulong pose = bindless_group_id(2), pixels = (ulong)width * height;
    move_frame(&detector, poses, pose, mode, frame);
    uint ray, part;
    share_work(item, width, height, frame, &ray, &part);
    const struct pixel pixel = pixel_of(ray, width, height);
    float value = 0.0f, length = 0.0f;
    float3 all = 0.0f, last = 0.0f;
    if (pixel.exists) {
        const struct segment segment = segment_of_pixel(volume, &detector, frame, pixel, samples, &length);
        for (int k = segment.from + (int)part; k < segment.to; k += PARTS) {
            const float along = along_segment(segment, k);
            const float4 term = sample_of(volume, position_on(segment, along));
            value += term.w;
            all += term.xyz;
            last += along * term.xyz;
        }
        const float scale = segment.scale * length;
        value *= scale, all *= scale, last *= scale;
    }
    const float3 start = all - last;
    const float mine[RESULTS] = {value, start.x, start.y, start.z, last.x, last.y, last.z};
    UNROLLED for (int i = 0; i < RESULTS; i++) sums[part][i][ray] = mine[i];
    bindless_barrier();
    const uint of = item % RAYS, result = item / RAYS;
    const struct pixel to = pixel_of(of, width, height);
    if (result >= RESULTS || !to.exists) return;
    float total = 0.0f;
    UNROLLED for (int other = 0; other < PARTS; other++) total += sums[other][result][of];
    const ulong place = (ulong)to.row * width + to.column;
    if (result == 0)
        values[pose * pixels + place] = total;
    else if (derivatives)
        derivatives[(6 * pose + (result - 1)) * pixels + place] = total;
}

#elif PASS == TEXELS

kernel __attribute__((reqd_work_group_size(RAYS * PARTS, 1, 1)))
void bindless_projections_texels(global float *gradients, uint size_x, uint size_y, uint size_z, global const float *poses,
                                 DETECTOR, uint width, uint height, uint samples, global const float *grad_values,
                                 ulong grad_pose, ulong grad_row, ulong grad_column, uint mode)
{
    local float frame[FRAME];
    const struct detector detector = THE_DETECTOR;
    const struct volume volume = {gradients, (int)size_x, (int)size_y, (int)size_z, false};
    const uint item = (uint)bindless_local_id(0);
    const ulong pose = bindless_group_id(2);
    move_frame(&detector, poses, pose, mode, frame);
    uint ray, part;
    share_work(item, width, height, frame, &ray, &part);
    const struct pixel pixel = pixel_of(ray, width, height);
    if (!pixel.exists) return;
    float length = 0.0f;
    const struct segment segment = segment_of_pixel(volume, &detector, frame, pixel, samples, &length);
    const float gradient = grad_values[pose * grad_pose + pixel.row * grad_row + pixel.column * grad_column] * segment.scale * length;
    if (gradient == 0.0f) return;
    for (int k = segment.from + (int)part; k < segment.to; k += PARTS) {
        const struct cell cell = cell_at(position_on(segment, along_segment(segment, k)));
        const float3 high = cell.rest, low = 1.0f - high;
        UNROLLED for (int corner = 0; corner < 8; corner++) {
            const long place = place_of_corner(volume, cell, corner);
            const float x = corner & 1 ? high.x : low.x, y = corner & 2 ? high.y : low.y, z = corner & 4 ? high.z : low.z;
            if (place >= 0) add_float(gradients + place, x * y * z * gradient);
        }
    }
}

#elif PASS == SUMS

enum { ITEMS = 256 };

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void bindless_projections_sums(global const float *grad_values, ulong grad_pose, ulong grad_row, ulong grad_column,
                               global const float *derivatives, uint width, uint height, global double *sums)
{
    local double part[FRAME][ITEMS];
    const uint item = (uint)bindless_local_id(0), pixels = width * height;
    const ulong pose = bindless_group_id(2), groups = bindless_group_count(0);
    global const float *grad = grad_values + pose * grad_pose, *derivative = derivatives + 6 * pose * pixels;
    double mine[FRAME]; /* sums of products with columns and rows cancel one another */
    UNROLLED for (int i = 0; i < FRAME; i++) mine[i] = 0.0;
    for (uint place = (uint)bindless_group_id(0) * ITEMS + item; place < pixels; place += (uint)groups * ITEMS) {
        const uint column = place % width, row = place / width;
        const double gradient = grad[row * grad_row + column * grad_column], x = column, y = row;
        UNROLLED for (int a = 0; a < 3; a++) {
            const double of_start = gradient * derivative[a * (ulong)pixels + place];
            const double of_end = gradient * derivative[(3 + a) * (ulong)pixels + place];
            mine[a] += of_start;
            mine[3 + a] += of_end;
            mine[6 + a] += of_end * x;
            mine[9 + a] += of_end * y;
        }
    }
    UNROLLED for (int i = 0; i < FRAME; i++) part[i][item] = mine[i];
    bindless_barrier();
    for (uint half_of = ITEMS / 2; half_of != 0; half_of >>= 1) {
        if (item < half_of) UNROLLED for (int i = 0; i < FRAME; i++) part[i][item] += part[i][item + half_of];
        bindless_barrier();
    }
    if (item < FRAME) sums[(pose * groups + bindless_group_id(0)) * FRAME + item] = part[item][0];
}

#else

enum { ITEMS = 192, SHARES = ITEMS / FRAME };

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void bindless_projections_poses(global const double *sums, uint groups, global const float *poses, DETECTOR,
                                global float *gradients, uint mode)
{
    local double part[ITEMS];
    const struct detector detector = THE_DETECTOR;
    const uint item = (uint)bindless_local_id(0), numbers = IS_MATRIX ? MATRIX_POSE : VECTOR_POSE;
    const ulong pose = bindless_group_id(2);
    double sum = 0.0;
    for (uint group = item / FRAME; group < groups; group += SHARES)
        sum += sums[(pose * groups + group) * FRAME + item % FRAME];
    part[item] = sum;
    bindless_barrier();
    if (item < FRAME)
        UNROLLED for (uint share = 1; share < SHARES; share++) sum += part[share * FRAME + item];
    bindless_barrier();
    if (item < FRAME) part[item] = sum;
    bindless_barrier();
    if (item == 0) gradient_of_pose(&detector, poses + pose * numbers, IS_MATRIX, part, gradients + pose * numbers);
}

#endif
