/* Filters of four texels along each axis of a volume of floats with one channel, at positions whose texels all exist. They
 * do what inside.h does, without copies: a row of texels is a vector of the smallest size. */

/* Sums over y and z of the four texels along x, for count items. */
static void sum_cubes(const struct blr_resample *resample, const struct run_float *run, uint32_t count,
                      float *restrict columns)
{
    const int64_t step_y = resample->step[1], step_z = resample->step[2];
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *plane = resample->origin_texel + run->offset[i];
        const float y_0 = run->weight[1][0][i], y_1 = run->weight[1][1][i], y_2 = run->weight[1][2][i],
                    y_3 = run->weight[1][3][i];
        float column[4] = {0};
        for (uint32_t kz = 0; kz < 4; kz++, plane += step_z) {
            const float z = run->weight[2][kz][i];
            float texels[4][4], row[4];
            memcpy(texels[0], plane, sizeof texels[0]);
            memcpy(texels[1], plane + step_y, sizeof texels[1]);
            memcpy(texels[2], plane + 2 * step_y, sizeof texels[2]);
            memcpy(texels[3], plane + 3 * step_y, sizeof texels[3]);
            for (uint32_t k = 0; k < 4; k++)
                row[k] = y_0 * texels[0][k] + y_1 * texels[1][k] + y_2 * texels[2][k] + y_3 * texels[3][k];
            for (uint32_t k = 0; k < 4; k++)
                column[k] = kz == 0 ? z * row[k] : column[k] + z * row[k];
        }
        memcpy(columns + 4 * (uint64_t)i, column, sizeof column);
    }
}

static void filter_cubes(const struct blr_resample *resample, double at[3][BLOCK], uint32_t item, uint32_t count, float *values)
{
    struct run_float run;
    const uintptr_t last = (uintptr_t)resample->origin_texel + 3 * (uintptr_t)(resample->step[1] + resample->step[2]);
    for (uint32_t done = 0, now; done < count; done += now) {
        now = count - done < LANES / 4 ? count - done : LANES / 4;
        begin_run_float(resample, at, item + done, now, 4, 1, &run);
        prefetch_texels(last + (uintptr_t)resample->prefetch_offset, run.offset, now);
        sum_cubes(resample, &run, now, run.column);
        sum_lanes_float(run.column, run.weight[0], now, 4, 1, 0, 1, values + item + done);
    }
}
