/* Positions that fields of vectors move, a row at a time; bindless/filter/field.h describes fields. Included by resample_part.c.
 *
 * Along a straight line a linear field is a polynomial of the third degree in each cell of its grid: a row takes one polynomial
 * for each cell that it crosses. */

#define FIELD_LANES 4 /* floats of a vector */
#define FIELD_CHUNK 8 /* elements of a polynomial that are computed together */

/* The three components of a vector, and a fourth number. */
typedef float field_floats __attribute__((vector_size(16)));
typedef float field_floats_anywhere __attribute__((vector_size(16), aligned(4), may_alias));
typedef double field_doubles __attribute__((vector_size(32)));
typedef float field_vectors __attribute__((vector_size(32)));
typedef double field_positions __attribute__((vector_size(64)));

/* A field, with A and B by columns. */
struct field_map {
    struct bindless_field field;
    field_doubles linear[4];
    field_floats spread[3];
};

static struct field_map field_map_of(const double *fields, const double *description)
{
    const double *a = description, *b = description + 12;
    struct field_map map = {.field = bindless_field_of(fields, description)};
    for (int column = 0; column < 4; column++)
        map.linear[column] = (field_doubles){a[column], a[4 + column], a[8 + column], 0.0};
    for (int column = 0; column < 3; column++)
        map.spread[column] = (field_floats){(float)b[column], (float)b[3 + column], (float)b[6 + column], 0.0f};
    return map;
}

/* A (p, w). Vectors of 32 bytes are results by pointer: baseline x86-64 returns none. */
INLINE void set_linear(const struct field_map *map, const double p[3], double w, field_doubles *into)
{
    *into = p[0] * map->linear[0] + (p[1] * map->linear[1] + (p[2] * map->linear[2] + w * map->linear[3]));
}

/* B v. */
INLINE field_floats spread_of(const struct field_map *map, field_floats v)
{
    return v[0] * map->spread[0] + (v[1] * map->spread[1] + v[2] * map->spread[2]);
}

/* Adds B v. */
INLINE void add_spread(const struct field_map *map, field_floats v, field_doubles *sum)
{
    *sum += __builtin_convertvector(spread_of(map, v), field_doubles);
}

/* The polynomial of the vectors along p + t step, from p in the cell of floor(p) on. */
INLINE void field_polynomial(const struct bindless_field *field, const double p[3], const float step[3],
                             field_floats coefficients[4])
{
    int64_t index[3][2];
    float f[3];
    for (int d = 0; d < 3; d++) {
        const double low = BINDLESS_FLOOR_double(p[d]);
        const int64_t first = (int64_t)low, last = field->size[d] - 1;
        f[d] = (float)(p[d] - low);
        index[d][0] = first < 0 ? 0 : first < last ? first : last;
        index[d][1] = first + 1 < last ? first + 1 : last;
    }
    const int64_t width = field->size[0], height = field->size[1];
    const float *row00 = field->vectors + FIELD_LANES * width * (index[1][0] + height * index[2][0]),
                *row01 = field->vectors + FIELD_LANES * width * (index[1][1] + height * index[2][0]),
                *row10 = field->vectors + FIELD_LANES * width * (index[1][0] + height * index[2][1]),
                *row11 = field->vectors + FIELD_LANES * width * (index[1][1] + height * index[2][1]);
    const int64_t x0 = FIELD_LANES * index[0][0], x1 = FIELD_LANES * index[0][1];
#define FIELD_AT(ROW, X) ((field_floats)*(const field_floats_anywhere *)(const void *)((ROW) + (X)))
    /* along x: of each of four edges, the value and the slope */
    const float fx = f[0], fy = f[1], fz = f[2], dx = step[0], dy = step[1], dz = step[2];
    const field_floats c00 = FIELD_AT(row00, x0), c01 = FIELD_AT(row01, x0), c10 = FIELD_AT(row10, x0), c11 = FIELD_AT(row11, x0);
    const field_floats s00 = FIELD_AT(row00, x1) - c00, s01 = FIELD_AT(row01, x1) - c01, s10 = FIELD_AT(row10, x1) - c10,
                       s11 = FIELD_AT(row11, x1) - c11;
#undef FIELD_AT
    const field_floats e00 = c00 + s00 * fx, e01 = c01 + s01 * fx, e10 = c10 + s10 * fx, e11 = c11 + s11 * fx;
    /* along y: of two faces, in powers of t */
    const field_floats d00 = e01 - e00, d01 = (s01 - s00) * dx, d10 = e11 - e10, d11 = (s11 - s10) * dx;
    const field_floats l0 = e00 + d00 * fy, l1 = s00 * dx + (d01 * fy + d00 * dy), l2 = d01 * dy;
    const field_floats u0 = e10 + d10 * fy, u1 = s10 * dx + (d11 * fy + d10 * dy), u2 = d11 * dy;
    /* along z */
    const field_floats d0 = u0 - l0, d1 = u1 - l1, d2 = u2 - l2;
    coefficients[0] = l0 + d0 * fz;
    coefficients[1] = l1 + (d1 * fz + d0 * dz);
    coefficients[2] = l2 + (d2 * fz + d1 * dz);
    coefficients[3] = d2 * dz;
}

/* Where a line leaves its cell along an axis: the element, a real number, from which on it is in the next one. */
struct crossing {
    double at, every, rate; /* elements to the next crossing, and its inverse */
};

static struct crossing crossing_of(double p, double step)
{
    const double f = p - BINDLESS_FLOOR_double(p), rate = step < 0.0 ? -step : step, every = 1.0 / rate;
    const struct crossing crossing = {step > 0.0 ? (1.0 - f) * every : step < 0.0 ? f * every : INFINITY, every, rate};
    return crossing;
}

/* The first crossing behind an element. */
INLINE void cross(struct crossing *crossing, double element)
{
    if (crossing->at <= element)
        crossing->at += crossing->every * (BINDLESS_FLOOR_double((element - crossing->at) * crossing->rate) + 1.0);
}

/* The elements of a line, from begin to end, at which an axis has a value. */
static void clip_line(double p, double step, double first, double last, double *begin, double *end)
{
    if (step == 0.0) {
        *end = p >= first && p <= last ? *end : *begin;
        return;
    }
    const double one = (first - p) / step, other = (last - p) / step, low = one < other ? one : other;
    const double high = one < other ? other : one;
    if (!(low <= high)) { /* not numbers */
        *end = *begin;
        return;
    }
    *begin = ceil(low) > *begin ? ceil(low) : *begin;
    *end = floor(high) + 1.0 < *end ? floor(high) + 1.0 : *end;
}

/* Positions of one axis from element t0 + first on, of which the polynomial begins at t0. */
INLINE void put_positions(const float *c, double t0, uint32_t first, double from, double along, double *into)
{
    const field_vectors t = (float)first + (field_vectors){0, 1, 2, 3, 4, 5, 6, 7};
    const field_positions element = (t0 + (double)first) + (field_positions){0, 1, 2, 3, 4, 5, 6, 7};
    const field_vectors shift = c[0] + t * (c[4] + t * (c[8] + t * c[12]));
#if defined(__AVX512F__) /* compilers convert halves */
    const field_positions at = (from + element * along) + (field_positions)_mm512_cvtps_pd((__m256)shift);
#else
    const field_positions at = (from + element * along) + __builtin_convertvector(shift, field_positions);
#endif
    memcpy(into, &at, sizeof at);
}

/* Where a linear field leads from the line p + i step, for i from 0 to count - 1. */
INLINE void follow_line(const struct field_map *map, const double p[3], const double step[3], uint32_t count,
                        const uint32_t dimensions, double *const at[3])
{
    double line[3][BLOCK + FIELD_CHUNK], begin = 0.0, end = (double)count;
    const float slope[3] = {(float)step[0], (float)step[1], (float)step[2]};
    struct crossing crossing[3];
    field_doubles from, along;
    set_linear(map, p, 1.0, &from);
    set_linear(map, step, 0.0, &along);
    for (uint32_t d = 0; d < map->field.dimensions; d++)
        clip_line(p[d], step[d], bindless_field_begin(BINDLESS_LINEAR),
                  bindless_field_end(map->field.size[d], BINDLESS_LINEAR), &begin, &end);
    const uint32_t first = begin < (double)count ? (uint32_t)begin : count;
    const uint32_t last = end > begin ? (uint32_t)end : first;
    for (uint32_t d = 0; d < dimensions; d++)
        crossing[d] = crossing_of(p[d], step[d]);
    for (uint32_t i = first, next; i < last; i = next) {
        const double t0 = (double)i, here[3] = {p[0] + t0 * step[0], p[1] + t0 * step[1], p[2] + t0 * step[2]};
        double least = (double)last;
        for (uint32_t d = 0; d < dimensions; d++) {
            cross(&crossing[d], t0);
            least = crossing[d].at < least ? crossing[d].at : least;
        }
        next = (uint32_t)least + ((double)(uint32_t)least < least);
        next = next > i ? next : i + 1;
        field_floats powers[4];
        field_polynomial(&map->field, here, slope, powers);
        float numbers[4 * FIELD_LANES];
        for (int k = 0; k < 4; k++)
            powers[k] = spread_of(map, powers[k]);
        memcpy(numbers, powers, sizeof numbers);
        __asm__("" : "+m"(numbers)); /* broadcast from memory: compilers would unpack the vectors */
        for (uint32_t j = 0; j < next - i; j += FIELD_CHUNK) /* the rest of a chunk is written again */
            for (uint32_t d = 0; d < dimensions; d++)
                put_positions(numbers + d, t0, j, from[d], along[d], line[d] + i + j);
    }
    for (uint32_t d = 0; d < dimensions; d++) {
        for (uint32_t i = 0; i < first; i++)
            line[d][i] = from[d] + (double)i * along[d];
        for (uint32_t i = last; i < count; i++)
            line[d][i] = from[d] + (double)i * along[d];
        memcpy(at[d], line[d], count * sizeof(double));
    }
}

/* Where a field leads from any positions. */
INLINE void follow_each(const struct field_map *map, uint32_t count, const uint32_t dimensions,
                        const unsigned int interpolation, double *const at[3])
{
    static const float still[3] = {0.0f, 0.0f, 0.0f};
    for (uint32_t i = 0; i < count; i++) {
        double p[3] = {0.0, 0.0, 0.0};
        bool inside = true;
        for (uint32_t d = 0; d < dimensions; d++) {
            p[d] = at[d][i];
            inside &= p[d] >= bindless_field_begin(interpolation) &&
                      p[d] <= bindless_field_end(map->field.size[d], interpolation);
        }
        field_doubles into;
        set_linear(map, p, 1.0, &into);
        if (inside && interpolation == BINDLESS_CUBIC) {
            float vector[3];
            bindless_field_vector(map->field, p, dimensions, interpolation, vector);
            add_spread(map, (field_floats){vector[0], vector[1], vector[2], 0.0f}, &into);
        } else if (inside) {
            field_floats vectors[4];
            field_polynomial(&map->field, p, still, vectors);
            add_spread(map, vectors[0], &into);
        }
        for (uint32_t d = 0; d < dimensions; d++)
            at[d][i] = into[d];
    }
}

/* Where fields lead from a line, which `at` has too. */
INLINE void follow_fields_of(const double *fields, const double p[3], const double step[3], bool straight, uint32_t count,
                             const uint32_t dimensions, double *const at[3])
{
    const double *description = fields;
    for (bool more = true; more; description += BINDLESS_FIELD_NUMBERS) {
        const struct field_map map = field_map_of(fields, description);
        if (dimensions == 2 && map.field.interpolation == BINDLESS_LENS)
            follow_lens((const double *)(const void *)map.field.vectors, description, count, at[0], at[1]);
        else if (map.field.interpolation == BINDLESS_CUBIC)
            follow_each(&map, count, dimensions, BINDLESS_CUBIC, at);
        else if (straight && description == fields)
            follow_line(&map, p, step, count, dimensions, at);
        else
            follow_each(&map, count, dimensions, BINDLESS_LINEAR, at);
        more = description[27] != 0.0;
    }
}
