/* Lenses: where the ray of a pixel of one camera is seen by another one.
 *
 * A lens is 46 doubles:
 *
 *     0-13    the camera of the picture: its model, 12 coefficients, and its limit
 *     14-22   by rows, the rotation from its axes to those of the other camera: x to the right, y downward, z forward
 *     23-36   the camera of the image, likewise
 *     37-45   by rows, the homography of its tilted sensor, or the identity
 *
 * Positions are those of an ideal camera at distance 1, before the matrix of the camera: a matrix before the lens, and one
 * behind it, lead from and to pixels. The coefficients of OPENCV are k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4, those of FISHEYE k1 k2
 * k3 k4; positions of EQUIRECTANGULAR are longitude and latitude. The limit is the square of the largest radius, or the largest
 * angle from the axis, that the camera sees. A position is not a number where one of the cameras sees no ray.
 *
 * All steps have double precision. The inverse of a distortion takes Newton's steps, until one is shorter than 1e-10: the next
 * one would be of 1e-20, but for rays next to the limit. */
#ifndef BINDLESS_FILTER_LENS_H
#define BINDLESS_FILTER_LENS_H

#include "bindless/filter/real.h"

#define BINDLESS_LENS_NUMBERS 46
#define BINDLESS_LENS_CAMERA 23 /* where the camera of the image begins */
#define BINDLESS_LENS_STEPS 24 /* of Newton, at most */

#if defined(__GNUC__) || defined(__clang__)
#define BINDLESS_SQRT(X) __builtin_sqrt(X)
#else
#define BINDLESS_SQRT(X) sqrt(X)
#endif

#ifdef __NVPTX__
#define BINDLESS_NOT_SPECULATED __asm__ volatile("") /* LLVM would divide in any case */
#else
#define BINDLESS_NOT_SPECULATED
#endif

enum bindless_lens_model {
    BINDLESS_PINHOLE,
    BINDLESS_OPENCV,
    BINDLESS_FISHEYE,
    BINDLESS_EQUIRECTANGULAR,
    BINDLESS_STRAIGHT /* of the picture: a pinhole with the axes of the other camera */
};

/* Model, coefficients and limit of a camera. */
struct bindless_camera {
    int model;
    double k[12], limit;
};

struct bindless_ray {
    double x, y, z;
};

#define BINDLESS_HALF_PI 1.5707963267948966

/* The angle of (x, y), from -pi to pi. */
BINDLESS_INLINE double bindless_angle(double y, double x)
{
    const double up = y < 0 ? -y : y, along = x < 0 ? -x : x;
    const bool is_steep = up > along;
    const double low = is_steep ? along : up, high = is_steep ? up : along;
    const bool is_turned = low > 0.41421356237309503 * high; /* by 45 degrees: the tangent is less than that of 22.5 */
    const double over = is_turned ? low - high : low, under = is_turned ? low + high : high;
    const double t = over / (under > 0 ? under : 1.0), s = t * t;
    double series = -0.0191754047111049337;
    series = series * s + 0.0392304477847930952;
    series = series * s - 0.0508540783458948426;
    series = series * s + 0.0585814090486632828;
    series = series * s - 0.066645105255089366;
    series = series * s + 0.0769218312537689209;
    series = series * s - 0.0909090457530648908;
    series = series * s + 0.111111110151870187;
    series = series * s - 0.142857142846656808;
    series = series * s + 0.199999999999955165;
    series = series * s - 0.333333333333333302;
    const double least = t + t * s * series, first = is_turned ? 0.5 * BINDLESS_HALF_PI + least : least;
    const double quarter = is_steep ? BINDLESS_HALF_PI - first : first, whole = x < 0 ? 2 * BINDLESS_HALF_PI - quarter : quarter;
    return y < 0 ? -whole : whole;
}

BINDLESS_INLINE void bindless_sine_cosine(double angle, double *sine, double *cosine)
{
    const double turns = BINDLESS_FLOOR_double(angle * 0.63661977236758134 + 0.5); /* quarters */
    const double r = (angle - turns * 0x1.921fb544p0) - turns * 0x1.0b4611a626331p-34, s = r * r; /* pi / 2 in two parts */
    double odd = 1.59181152632659752e-10, even = -1.13679884232949867e-11;
    odd = odd * s - 2.50511316502351815e-8;
    odd = odd * s + 2.75573161016178744e-6;
    odd = odd * s - 0.000198412698367567725;
    odd = odd * s + 0.00833333333333094729;
    odd = odd * s - 0.166666666666666646;
    even = even * s + 2.0875886564482671e-9;
    even = even * s - 2.75573155652468171e-7;
    even = even * s + 0.000024801587293690305;
    even = even * s - 0.0013888888888880771;
    even = even * s + 0.0416666666666666354;
    even = even * s - 0.5;
    const double first = r + r * s * odd, second = 1 + s * even;
    const double quarter = turns - 4 * BINDLESS_FLOOR_double(turns * 0.25);
    const bool is_odd = quarter == 1 || quarter == 3;
    const double up = is_odd ? second : first, along = is_odd ? first : second;
    *sine = quarter >= 2 ? -up : up;
    *cosine = quarter == 1 || quarter == 2 ? -along : along;
}

/* ---------------------------------------------------------------- distortion */

/* Where OpenCV's rational model, with tangential and thin prism terms, moves a position. */
BINDLESS_INLINE void bindless_distort(const double *k, double x, double y, double *to_x, double *to_y)
{
    const double square = x * x + y * y, twice = 2 * x * y;
    double radial = 1 + ((k[4] * square + k[1]) * square + k[0]) * square;
    if (k[5] != 0 || k[6] != 0 || k[7] != 0) {
        BINDLESS_NOT_SPECULATED;
        radial /= 1 + ((k[7] * square + k[6]) * square + k[5]) * square;
    }
    *to_x = x * radial + k[2] * twice + k[3] * (square + 2 * x * x);
    *to_y = y * radial + k[2] * (square + 2 * y * y) + k[3] * twice;
    if (k[8] != 0 || k[9] != 0 || k[10] != 0 || k[11] != 0) {
        *to_x += (k[8] + k[9] * square) * square;
        *to_y += (k[10] + k[11] * square) * square;
    }
}

/* One of Newton's steps to the position that is moved to another one. `rest` is positive before the last step. */
BINDLESS_INLINE void bindless_undistort_step(const double *k, double to_x, double to_y, double *at_x, double *at_y, double *rest)
{
    const double x = *at_x, y = *at_y, square = x * x + y * y;
    const double above = 1 + ((k[4] * square + k[1]) * square + k[0]) * square;
    const double below = 1 + ((k[7] * square + k[6]) * square + k[5]) * square, radial = above / below;
    const double slope = ((3 * k[4] * square + 2 * k[1]) * square + k[0] -
                          radial * ((3 * k[7] * square + 2 * k[6]) * square + k[5])) / below; /* by the square */
    const double prism_x = 2 * (k[8] + 2 * k[9] * square), prism_y = 2 * (k[10] + 2 * k[11] * square);
    const double both = 2 * x * y * slope + 2 * k[2] * x + 2 * k[3] * y;
    const double xx = radial + 2 * x * x * slope + 2 * k[2] * y + 6 * k[3] * x + prism_x * x, xy = both + prism_x * y;
    const double yx = both + prism_y * x, yy = radial + 2 * y * y * slope + 6 * k[2] * y + 2 * k[3] * x + prism_y * y;
    double is_x, is_y;
    bindless_distort(k, x, y, &is_x, &is_y);
    const double off_x = is_x - to_x, off_y = is_y - to_y, determinant = xx * yy - xy * yx;
    const double step_x = (yy * off_x - xy * off_y) / determinant, step_y = (xx * off_y - yx * off_x) / determinant;
    const bool goes_on = *rest > 0;
    *at_x = goes_on ? x - step_x : x;
    *at_y = goes_on ? y - step_y : y;
    *rest = goes_on ? step_x * step_x + step_y * step_y - 1e-20 * (1 + square) : *rest;
}

/* The distance from the centre of a ray at an angle from the axis, of the fisheye. */
BINDLESS_INLINE double bindless_fisheye(const double *k, double angle)
{
    const double s = angle * angle;
    return angle * (1 + (((k[3] * s + k[2]) * s + k[1]) * s + k[0]) * s);
}

/* One of Newton's steps to the angle of a distance. */
BINDLESS_INLINE void bindless_fisheye_step(const double *k, double limit, double distance, double *angle, double *rest)
{
    const double from = *angle, s = from * from;
    const double slope = 1 + (((9 * k[3] * s + 7 * k[2]) * s + 5 * k[1]) * s + 3 * k[0]) * s;
    const double step = (bindless_fisheye(k, from) - distance) / slope, to = from - step;
    const bool goes_on = *rest > 0;
    const double within = to < 0 ? 0.0 : to > limit ? limit : to;
    *angle = goes_on ? within : from;
    *rest = goes_on ? step * step - 1e-20 * (1 + s) : *rest;
}

/* ---------------------------------------------------------------- rays */

/* The ray of a position that is not distorted, or none. */
BINDLESS_INLINE struct bindless_ray bindless_ray_of(double x, double y, double limit, double rest)
{
    const struct bindless_ray ray = {!(rest > 0) && x * x + y * y <= limit ? x : (double)NAN, y, 1};
    return ray;
}

/* The ray of a position of the fisheye, whose distance from the centre and angle from the axis are known. */
BINDLESS_INLINE struct bindless_ray bindless_fisheye_ray(double x, double y, double distance, double angle, double rest)
{
    struct bindless_ray ray;
    double sine, cosine;
    bindless_sine_cosine(angle, &sine, &cosine);
    const double scale = distance > 0 ? sine / distance : 1.0;
    ray.x = rest > 0 ? (double)NAN : x * scale;
    ray.y = y * scale;
    ray.z = cosine;
    return ray;
}

/* The ray of longitude and latitude. */
BINDLESS_INLINE struct bindless_ray bindless_sphere_ray(double longitude, double latitude)
{
    struct bindless_ray ray;
    double out, along, level;
    bindless_sine_cosine(longitude, &out, &along);
    bindless_sine_cosine(latitude, &ray.y, &level);
    ray.x = latitude >= -BINDLESS_HALF_PI && latitude <= BINDLESS_HALF_PI ? level * out : (double)NAN;
    ray.z = level * along;
    return ray;
}

BINDLESS_INLINE struct bindless_ray bindless_turn(const double *rotation, struct bindless_ray ray)
{
    const struct bindless_ray turn = {rotation[0] * ray.x + rotation[1] * ray.y + rotation[2] * ray.z,
                                      rotation[3] * ray.x + rotation[4] * ray.y + rotation[5] * ray.z,
                                      rotation[6] * ray.x + rotation[7] * ray.y + rotation[8] * ray.z};
    return turn;
}

/* ---------------------------------------------------------------- positions */

BINDLESS_INLINE void bindless_see_pinhole(struct bindless_ray ray, double *x, double *y)
{
    *x = ray.z > 0 ? ray.x / ray.z : (double)NAN;
    *y = ray.y / ray.z;
}

/* Where the model of OpenCV sees a position on the plane before it. */
BINDLESS_INLINE void bindless_bend(const double *k, double limit, double *x, double *y)
{
    const double at_x = *x, at_y = *y;
    bindless_distort(k, at_x, at_y, x, y);
    *x = at_x * at_x + at_y * at_y <= limit ? *x : (double)NAN;
}

BINDLESS_INLINE void bindless_see_opencv(const double *k, double limit, struct bindless_ray ray, double *x, double *y)
{
    bindless_see_pinhole(ray, x, y);
    bindless_bend(k, limit, x, y);
}

BINDLESS_INLINE void bindless_see_fisheye(const double *k, double limit, struct bindless_ray ray, double *x, double *y)
{
    const double out = BINDLESS_SQRT(ray.x * ray.x + ray.y * ray.y), angle = bindless_angle(out, ray.z);
    const double distance = bindless_fisheye(k, angle), scale = out > 0 || !(ray.z > 0) ? distance / out : 1.0;
    *x = angle <= limit ? ray.x * scale : (double)NAN;
    *y = ray.y * scale;
}

BINDLESS_INLINE void bindless_see_sphere(struct bindless_ray ray, double *x, double *y)
{
    *x = bindless_angle(ray.x, ray.z);
    *y = bindless_angle(ray.y, BINDLESS_SQRT(ray.x * ray.x + ray.z * ray.z));
}

/* Where a tilted sensor has a position. */
BINDLESS_INLINE void bindless_tilt(const double *tilt, double *at_x, double *at_y)
{
    const double x = *at_x, y = *at_y, z = tilt[6] * x + tilt[7] * y + tilt[8];
    *at_x = (tilt[0] * x + tilt[1] * y + tilt[2]) / z;
    *at_y = (tilt[3] * x + tilt[4] * y + tilt[5]) / z;
}

/* What stands behind a lens: a matrix of two rows of four, in steps of four. A place that no ray leads to is far outside. */
BINDLESS_INLINE void bindless_place(const double *a, double *at_x, double *at_y)
{
    const double x = *at_x, y = *at_y, to_x = a[0] * x + (a[1] * y + a[3]), to_y = a[4] * x + (a[5] * y + a[7]);
    const bool is_seen = to_x == to_x && to_y == to_y;
    *at_x = is_seen ? to_x : -(double)INFINITY;
    *at_y = is_seen ? to_y : -(double)INFINITY;
}

#endif
