/* Coordinates of the pixels of pictures seen through matrices, and the gradients of the matrices. PASS selects the kernel.
 *
 *     COORDS  [images][pixels][axes] of matrices [images][rows][axes + 1]: of the pixel's centre, in the order x, y, z, and 1
 *     SUMS    of a group's pixels: gradients of a matrix; the only group of an image writes them to the result
 *     TOTALS  of the groups of an image
 *
 * The last two bits of the mode are the axes; the third: a matrix has axes + 1 rows, and results are divided by the last one.
 * Sums are in double precision, [images][groups][NUMBERS], in the order of the rows, each with 4 numbers. */
#include "mode.h"

#define COORDS 0
#define SUMS 1
#define TOTALS 2

#define AXES (int)(mode & 3)
#define IS_PROJECTIVE ((mode & 4) != 0)
#define ROWS (AXES + (int)IS_PROJECTIVE)
#define FOR_ROWS UNROLLED for (int r = 0; r < 4; r++) if (r < ROWS)
#define FOR_COLUMNS UNROLLED for (int c = 0; c < 4; c++) if (c <= AXES)
#define FOR_AXES UNROLLED for (int a = 0; a < 3; a++) if (a < AXES)

enum { NUMBERS = 16, ITEMS = 128, SHARES = ITEMS / NUMBERS };

#if PASS != TOTALS

/* The centre of a pixel, and 1 after its last axis. */
INLINED void place_of(uint pixel, uint size_x, uint size_y, uint mode, float *place)
{
    place[0] = (float)(pixel % size_x) + 0.5f;
    place[1] = AXES > 1 ? (float)(pixel / size_x % size_y) + 0.5f : 1.0f;
    place[2] = AXES > 2 ? (float)(pixel / size_x / size_y) + 0.5f : 1.0f;
    place[3] = 1.0f;
}

INLINED void products_of(global const float *matrix, const float *place, uint mode, float *products)
{
    FOR_ROWS {
        products[r] = matrix[r * (AXES + 1) + AXES];
        FOR_AXES products[r] += place[a] * matrix[r * (AXES + 1) + a];
    }
}

#endif

#if PASS == COORDS

kernel void bindless_mapping_coords(global const float *matrices, global float *coords, uint size_x, uint size_y, uint pixels,
                                    uint mode)
{
    const ulong pixel = bindless_global_id(0), image = bindless_group_id(1);
    if (pixel >= pixels) return;
    float place[4], products[4];
    place_of((uint)pixel, size_x, size_y, mode, place);
    products_of(matrices + image * ROWS * (AXES + 1), place, mode, products);
    global float *position = coords + (image * pixels + pixel) * AXES;
    FOR_AXES position[a] = IS_PROJECTIVE ? products[a] / products[AXES] : products[a];
}

#elif PASS == SUMS

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void bindless_mapping_sums(global const float *matrices, global const float *grad_coords, global double *sums,
                           global float *gradients, uint size_x, uint size_y, uint pixels, uint mode)
{
    local double part[NUMBERS][ITEMS];
    const uint item = (uint)bindless_local_id(0), group = (uint)bindless_group_id(0), groups = (uint)bindless_group_count(0);
    const ulong image = bindless_group_id(1);
    double mine[NUMBERS];
    UNROLLED for (int i = 0; i < NUMBERS; i++) mine[i] = 0.0;
    for (ulong pixel = (ulong)group * ITEMS + item; pixel < pixels; pixel += (ulong)groups * ITEMS) {
        global const float *gradient = grad_coords + (image * pixels + pixel) * AXES;
        float place[4], products[4], grads[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        place_of((uint)pixel, size_x, size_y, mode, place);
        FOR_AXES grads[a] = gradient[a];
        if (IS_PROJECTIVE) {
            products_of(matrices + image * ROWS * (AXES + 1), place, mode, products);
            float of_last = 0.0f;
            FOR_AXES {
                grads[a] /= products[AXES];
                of_last -= grads[a] * (products[a] / products[AXES]);
            }
            grads[AXES] = of_last;
        }
        FOR_ROWS FOR_COLUMNS mine[4 * r + c] += (double)grads[r] * (c < AXES ? place[c] : 1.0f);
    }
    UNROLLED for (int i = 0; i < NUMBERS; i++) part[i][item] = mine[i];
    bindless_barrier();
    for (uint half_of = ITEMS / 2; half_of != 0; half_of >>= 1) {
        if (item < half_of) UNROLLED for (int i = 0; i < NUMBERS; i++) part[i][item] += part[i][item + half_of];
        bindless_barrier();
    }
    const int row = (int)item / 4, column = (int)item % 4;
    if (item >= NUMBERS || row >= ROWS || column > AXES) return;
    if (groups > 1) sums[(image * groups + group) * NUMBERS + item] = part[item][0];
    else gradients[(image * ROWS + row) * (AXES + 1) + column] = (float)part[item][0];
}

#else

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void bindless_mapping_totals(global const double *sums, global float *gradients, uint groups, uint mode)
{
    local double part[ITEMS];
    const uint item = (uint)bindless_local_id(0), number = item % NUMBERS;
    const int row = (int)number / 4, column = (int)number % 4;
    const ulong image = bindless_group_id(1);
    const bool is_used = row < ROWS && column <= AXES; /* nothing wrote the others */
    double sum = 0.0;
    if (is_used)
        for (uint group = item / NUMBERS; group < groups; group += SHARES) sum += sums[(image * groups + group) * NUMBERS + number];
    part[item] = sum;
    bindless_barrier();
    if (item >= NUMBERS || !is_used) return;
    UNROLLED for (uint share = 1; share < SHARES; share++) sum += part[share * NUMBERS + item];
    gradients[(image * ROWS + row) * (AXES + 1) + column] = (float)sum;
}

#endif
