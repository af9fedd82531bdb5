/* Poses of a detector, and their derivatives.
 *
 * A frame has four rows of three numbers: the source, the centre of the first pixel, and the steps to the next pixel of a row
 * and to the next row. A pose moves the detector's frame to matrix * (pose * frame), in texels whose centres are at integers.
 * It is 3 x 4 numbers of a matrix, or a rotation vector in radians and a translation. */
#ifndef BINDLESS_KERNELS_INCLUDE_POSE_H
#define BINDLESS_KERNELS_INCLUDE_POSE_H

#include "mode.h"

struct detector {
    float frame[4][3];
    float matrix[3][4];
};

enum { VECTOR_POSE = 6, MATRIX_POSE = 12, FRAME = 12 };

/* sin(t) / t, (1 - cos(t)) / t^2, and their derivatives by t, divided by t. */
struct turn {
    double first, second, first_slope, second_slope;
};

INLINED struct turn turn_of(double square)
{
    struct turn turn;
    if (square < 0.01) {
        turn.first = 1.0 - square * (1.0 / 6.0 - square * (1.0 / 120.0 - square * (1.0 / 5040.0 - square / 362880.0)));
        turn.second = 0.5 - square * (1.0 / 24.0 - square * (1.0 / 720.0 - square * (1.0 / 40320.0 - square / 3628800.0)));
        turn.first_slope = -1.0 / 3.0 + square * (1.0 / 30.0 - square * (1.0 / 840.0 - square / 45360.0));
        turn.second_slope = -1.0 / 12.0 + square * (1.0 / 180.0 - square * (1.0 / 6720.0 - square / 453600.0));
        return turn;
    }
    const double angle = __builtin_elementwise_sqrt(square), circle = 6.283185307179586;
    const double rest = angle - circle * __builtin_elementwise_floor(angle / circle + 0.5), rest_square = rest * rest;
    /* Taylor's series of sine and cosine up to pi: the terms fall below 1e-17. */
    double sine = 0.0, cosine = 0.0;
    for (int n = 13; n >= 0; n--) {
        sine = 1.0 - sine * rest_square / (double)((2 * n + 2) * (2 * n + 3));
        cosine = 1.0 - cosine * rest_square / (double)((2 * n + 1) * (2 * n + 2));
    }
    turn.first = rest * sine / angle;
    turn.second = (1.0 - cosine) / square;
    turn.first_slope = (cosine - turn.first) / square;
    turn.second_slope = (turn.first - 2.0 * turn.second) / square;
    return turn;
}

/* Rows of [v]x, the matrix of the cross product. */
INLINED void cross_matrix(const double *v, double *k)
{
    k[0] = 0.0, k[1] = -v[2], k[2] = v[1];
    k[3] = v[2], k[4] = 0.0, k[5] = -v[0];
    k[6] = -v[1], k[7] = v[0], k[8] = 0.0;
}

/* The 3 x 4 matrix of a pose. */
INLINED void matrix_of_pose(global const float *pose, bool is_matrix, double *matrix)
{
    if (is_matrix) {
        UNROLLED for (int i = 0; i < 12; i++) matrix[i] = pose[i];
        return;
    }
    const double v[3] = {pose[0], pose[1], pose[2]}, square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const struct turn turn = turn_of(square);
    double k[9];
    cross_matrix(v, k);
    UNROLLED for (int row = 0; row < 3; row++) {
        UNROLLED for (int column = 0; column < 3; column++) {
            const double diagonal = row == column ? 1.0 : 0.0, product = v[row] * v[column] - diagonal * square; /* [v]x [v]x */
            matrix[4 * row + column] = diagonal + turn.first * k[3 * row + column] + turn.second * product;
        }
        matrix[4 * row + 3] = pose[3 + row];
    }
}

/* Row `number` of the moved frame; only the first two rows are places, which move. */
INLINED void move_row(const struct detector *detector, const double *matrix, int number, local float *frame)
{
    const double is_place = number < 2 ? 1.0 : 0.0;
    double at[3];
    UNROLLED for (int row = 0; row < 3; row++) {
        at[row] = is_place * matrix[4 * row + 3];
        UNROLLED for (int column = 0; column < 3; column++) at[row] += matrix[4 * row + column] * detector->frame[number][column];
    }
    UNROLLED for (int row = 0; row < 3; row++) {
        double sum = is_place * (detector->matrix[row][3] - 0.5);
        UNROLLED for (int column = 0; column < 3; column++) sum += detector->matrix[row][column] * at[column];
        frame[3 * number + row] = (float)sum;
    }
}

/* The gradient of a pose from that of the moved frame. */
INLINED void gradient_of_pose(const struct detector *detector, global const float *pose, bool is_matrix,
                              local const double *frame, global float *gradient)
{
    double matrix[12];
    UNROLLED for (int i = 0; i < 12; i++) matrix[i] = 0.0;
    UNROLLED for (int number = 0; number < 4; number++)
        UNROLLED for (int row = 0; row < 3; row++) {
            double at = 0.0;
            UNROLLED for (int other = 0; other < 3; other++) at += detector->matrix[other][row] * frame[3 * number + other];
            UNROLLED for (int column = 0; column < 3; column++) matrix[4 * row + column] += at * detector->frame[number][column];
            if (number < 2) matrix[4 * row + 3] += at;
        }
    if (is_matrix) {
        UNROLLED for (int i = 0; i < 12; i++) gradient[i] = (float)matrix[i];
        return;
    }
    const double v[3] = {pose[0], pose[1], pose[2]}, square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const struct turn turn = turn_of(square);
    double k[9], by_first = 0.0, by_second = 0.0;
    cross_matrix(v, k);
    UNROLLED for (int row = 0; row < 3; row++)
        UNROLLED for (int column = 0; column < 3; column++) {
            by_first += matrix[4 * row + column] * k[3 * row + column];
            by_second += matrix[4 * row + column] * (v[row] * v[column] - (row == column ? square : 0.0));
        }
    UNROLLED for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3; /* d[v]x / dv_i has 1 at (l, j) and -1 at (j, l) */
        double sum = turn.first * (matrix[4 * l + j] - matrix[4 * j + l]);
        double product = 0.0; /* of v v^T - v.v I */
        UNROLLED for (int other = 0; other < 3; other++)
            product += (matrix[4 * i + other] + matrix[4 * other + i]) * v[other] - 2.0 * v[i] * matrix[5 * other];
        sum += turn.second * product + v[i] * (turn.first_slope * by_first + turn.second_slope * by_second);
        gradient[i] = (float)sum;
        gradient[3 + i] = (float)matrix[4 * i + 3];
    }
}

#endif
