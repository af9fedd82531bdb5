/* Filters of fetched texels: functions for one REAL, float or double, each time that the file is included. */
#define REAL_NAME__(NAME, TYPE) NAME##_##TYPE
#define REAL_NAME_(NAME, TYPE) REAL_NAME__(NAME, TYPE)
#define REAL_NAME(NAME) REAL_NAME_(NAME, REAL)
#define REAL4__(TYPE) TYPE##4
#define REAL4_(TYPE) REAL4__(TYPE)
#define REAL4 REAL4_(REAL)
#define AS_REAL4_(VALUE, TYPE) __builtin_convertvector(VALUE, TYPE)
#define AS_REAL4(VALUE) AS_REAL4_(VALUE, REAL4)

/* The texels of a filter along one axis: indices, weights, and whether each is a texel of the image or the border's. */
struct REAL_NAME(taps) {
    int at[4];
    REAL weight[4];
    bool inside[4];
};

/* inner: all texels are known to be inside. */
INLINED struct REAL_NAME(taps) REAL_NAME(taps_of)(double p, int n, uint boundary, uint interpolation, int count, bool inner)
{
    const double from = inner ? p : folded(p, n, boundary);
    const struct whole whole = floor_of(from);
    int first = whole.index;
    const REAL f = (REAL)(from - whole.value);
    struct REAL_NAME(taps) taps;
    REAL_NAME(bindless_weights)(f, count == 2 ? BINDLESS_LINEAR : interpolation, taps.weight, 1);
    if (count == 4) first -= 1;
    UNROLLED for (int k = 0; k < count; ++k)
    {
        const int at = inner ? first + k : (int)bindless_tap_at(first + k, n, boundary, (uint)count);
        taps.inside[k] = inner || !bindless_has_border(boundary) || at != BINDLESS_OUTSIDE; /* known where the boundary is */
        taps.at[k] = taps.inside[k] ? at : 0;
    }
    return taps;
}

/* The same along an axis: the element's own texel alone where elements keep their index. */
INLINED struct REAL_NAME(taps) REAL_NAME(taps_along)(double p, int n, uint axis, uint mode, int count, bool inner)
{
    struct REAL_NAME(taps) taps = REAL_NAME(taps_of)(p, n, boundary(mode, axis), interpolation(mode), count, inner);
    if (keeps(mode, axis)) {
        taps.at[0] = floor_of(p).index;
        taps.inside[0] = true;
    }
    return taps;
}

/* Sums of weighted texels, and of the weights that count. */
struct REAL_NAME(sums) {
    REAL4 value, weight;
};

/* Adds one channel; only a filter that ignores texels sums weights. */
#define ADD_CHANNEL(SUM, WEIGHT, VALUE, TOTAL, CHANNEL)                                                                \
    do {                                                                                                               \
        (SUM).value.CHANNEL = MULTIPLY_ADD(WEIGHT, (VALUE).CHANNEL, (SUM).value.CHANNEL);                              \
        if (ignore) (SUM).weight.CHANNEL = MULTIPLY_ADD(WEIGHT, (TOTAL).CHANNEL, (SUM).weight.CHANNEL);                \
    } while (0)

INLINED struct REAL_NAME(sums) REAL_NAME(added)(struct REAL_NAME(sums) sum, REAL weight, REAL4 value, REAL4 total,
                                                      uint channels, bool ignore)
{
    ADD_CHANNEL(sum, weight, value, total, x);
    if (channels > 1) ADD_CHANNEL(sum, weight, value, total, y);
    if (channels > 2) ADD_CHANNEL(sum, weight, value, total, z);
    if (channels > 3) ADD_CHANNEL(sum, weight, value, total, w);
    return sum;
}

INLINED REAL4 REAL_NAME(filtered)(IMAGE image, uint layer, struct position p, struct source source, int count, bool inner)
{
    const uint mode = source.mode, channels = value_channels(source.format);
    const bool ignore = !OF_MEMORY && ignores_nan(mode);
    const int count_y = DIMENSIONS > 1 ? count : 1, count_z = DIMENSIONS > 2 ? count : 1;
    const struct REAL_NAME(taps) missing = {{0}, {1}, {true}};
    const struct REAL_NAME(taps) x = REAL_NAME(taps_along)(p.x, source.size_x, 0, mode, count, inner);
    const struct REAL_NAME(taps) y = DIMENSIONS > 1 ? REAL_NAME(taps_along)(p.y, source.size_y, 1, mode, count, inner) : missing;
    const struct REAL_NAME(taps) z = DIMENSIONS > 2 ? REAL_NAME(taps_along)(p.z, source.size_z, 2, mode, count, inner) : missing;
    const bool keeps_y = DIMENSIONS < 2 || keeps(mode, 1), keeps_z = DIMENSIONS < 3 || keeps(mode, 2);
#if OF_MEMORY
    const struct array first = inner ? array_from(image, layer, x.at[0], y.at[0], z.at[0], source) : image;
#endif
    struct REAL_NAME(sums) sum = {0, 0};
    UNROLLED for (int k = 0; k < count_z; ++k)
    {
        if (k > 0 && keeps_z) continue;
        struct REAL_NAME(sums) plane = {0, 0};
        UNROLLED for (int j = 0; j < count_y; ++j)
        {
            if (j > 0 && keeps_y) continue;
            struct REAL_NAME(sums) row = {0, 0};
            const bool inside = y.inside[j] && z.inside[k];
            UNROLLED for (int i = 0; i < count; ++i)
            {
                if (i > 0 && keeps(mode, 0)) continue;
#if OF_MEMORY
                const color texel = inner ? fetched_after(first, i, j, k, source)
                                          : fetched(image, layer, x.at[i], y.at[j], z.at[k], source);
#else
                const color texel = fetched(image, layer, x.at[i], y.at[j], z.at[k], source);
#endif
                REAL4 value = AS_REAL4(texel), counts = 1;
                if (!(inside && x.inside[i])) value = (REAL4)source.fill;
                if (ignore) {
                    counts = (REAL4)(value.x == value.x ? 1 : 0, value.y == value.y ? 1 : 0, value.z == value.z ? 1 : 0,
                                     value.w == value.w ? 1 : 0);
                    value = (REAL4)(value.x == value.x ? value.x : 0, value.y == value.y ? value.y : 0,
                                    value.z == value.z ? value.z : 0, value.w == value.w ? value.w : 0);
                }
                if (keeps(mode, 0))
                    row = (struct REAL_NAME(sums)){value, counts};
                else
                    row = REAL_NAME(added)(row, x.weight[i], value, counts, channels, ignore);
            }
            plane = keeps_y ? row : REAL_NAME(added)(plane, y.weight[j], row.value, row.weight, channels, ignore);
        }
        sum = keeps_z ? plane : REAL_NAME(added)(sum, z.weight[k], plane.value, plane.weight, channels, ignore);
    }
    if (ignore) {
        NOT_SPECULATED;
        sum.value /= sum.weight;
    }
    return sum.value;
}
