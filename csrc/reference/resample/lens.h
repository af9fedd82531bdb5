/* Positions that a lens moves, a row at a time; bindless/filter/lens.h describes lenses. Included by resample_part.c. Each loop is
 * over positions of one model, without branches, so that compilers make vectors of it. */

/* Rays in place of positions of a camera, of which `at_x` and `at_y` have copies. */
INLINE void undistort_line(const double k[12], double limit, uint32_t count, double *restrict x, double *restrict y,
                           double *restrict z)
{
    double at_x[BLOCK], at_y[BLOCK], rest[BLOCK];
    for (uint32_t i = 0; i < count; i++)
        at_x[i] = x[i], at_y[i] = y[i], rest[i] = 1.0;
    bool goes_on = true;
    for (uint32_t step = 0; step < BINDLESS_LENS_STEPS && goes_on; step++) {
        double most = 0.0;
        for (uint32_t i = 0; i < count; i++)
            bindless_undistort_step(k, x[i], y[i], &at_x[i], &at_y[i], &rest[i]);
        for (uint32_t i = 0; i < count; i++)
            most = rest[i] > most ? rest[i] : most;
        goes_on = most > 0.0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct bindless_ray ray = bindless_ray_of(at_x[i], at_y[i], limit, rest[i]);
        x[i] = ray.x, y[i] = ray.y, z[i] = ray.z;
    }
}

INLINE void leave_fisheye(const double k[12], double limit, uint32_t count, double *restrict x, double *restrict y,
                          double *restrict z)
{
    double distance[BLOCK], angle[BLOCK], rest[BLOCK];
    for (uint32_t i = 0; i < count; i++) {
        distance[i] = BINDLESS_SQRT(x[i] * x[i] + y[i] * y[i]);
        angle[i] = distance[i] < limit ? distance[i] : limit;
        rest[i] = 1.0;
    }
    bool goes_on = true;
    for (uint32_t step = 0; step < BINDLESS_LENS_STEPS && goes_on; step++) {
        double most = 0.0;
        for (uint32_t i = 0; i < count; i++)
            bindless_fisheye_step(k, limit, distance[i], &angle[i], &rest[i]);
        for (uint32_t i = 0; i < count; i++)
            most = rest[i] > most ? rest[i] : most;
        goes_on = most > 0.0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct bindless_ray ray = bindless_fisheye_ray(x[i], y[i], distance[i], angle[i], rest[i]);
        x[i] = ray.x, y[i] = ray.y, z[i] = ray.z;
    }
}

static void leave_camera(const struct bindless_camera camera, uint32_t count, double *restrict x, double *restrict y,
                         double *restrict z)
{
    if (camera.model == BINDLESS_OPENCV)
        undistort_line(camera.k, camera.limit, count, x, y, z);
    else if (camera.model == BINDLESS_FISHEYE)
        leave_fisheye(camera.k, camera.limit, count, x, y, z);
    else if (camera.model == BINDLESS_EQUIRECTANGULAR)
        for (uint32_t i = 0; i < count; i++) {
            const struct bindless_ray ray = bindless_sphere_ray(x[i], y[i]);
            x[i] = ray.x, y[i] = ray.y, z[i] = ray.z;
        }
    else
        for (uint32_t i = 0; i < count; i++) {
            const struct bindless_ray ray = bindless_ray_of(x[i], y[i], camera.limit, 0.0);
            x[i] = ray.x, y[i] = ray.y, z[i] = ray.z;
        }
}

/* Positions of a camera in place of the rays of another one. */
#define SEE(FUNCTION, ...)                                                                                               \
    for (uint32_t i = 0; i < count; i++) {                                                                               \
        const struct bindless_ray ray = {x[i], y[i], z[i]};                                                              \
        double at_x, at_y;                                                                                               \
        FUNCTION(__VA_ARGS__ bindless_turn(rotation, ray), &at_x, &at_y);                                                \
        x[i] = at_x, y[i] = at_y;                                                                                        \
    }

static void enter_camera(const struct bindless_camera camera, const double rotation[9], uint32_t count, double *restrict x,
                         double *restrict y, const double *restrict z)
{
#define COEFFICIENTS camera.k, camera.limit,
    if (camera.model == BINDLESS_PINHOLE) {
        SEE(bindless_see_pinhole, )
    } else if (camera.model == BINDLESS_OPENCV) {
        SEE(bindless_see_opencv, COEFFICIENTS)
    } else if (camera.model == BINDLESS_FISHEYE) {
        SEE(bindless_see_fisheye, COEFFICIENTS)
    } else {
        SEE(bindless_see_sphere, )
    }
#undef COEFFICIENTS
}
#undef SEE

/* Where a lens leads from positions, and the matrix behind it. */
static void follow_lens(const double *numbers, const double *matrix, uint32_t count, double *restrict x, double *restrict y)
{
    double z[BLOCK], rotation[9], tilt[9], behind[8];
    memcpy(rotation, numbers + 14, sizeof rotation);
    memcpy(tilt, numbers + 37, sizeof tilt);
    memcpy(behind, matrix, sizeof behind);
    leave_camera(bindless_camera_of(numbers), count, x, y, z);
    enter_camera(bindless_camera_of(numbers + 23), rotation, count, x, y, z);
    if (tilt[6] != 0.0 || tilt[7] != 0.0)
        for (uint32_t i = 0; i < count; i++)
            bindless_tilt(tilt, &x[i], &y[i]);
    for (uint32_t i = 0; i < count; i++)
        bindless_place(behind, &x[i], &y[i]);
}
