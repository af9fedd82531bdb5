/* The sum of a filter's weighted texels, for one REAL: of two or four texels along an axis, a constant count, with loops that are
 * written out; with SPLINES of any count, the weights being those of B-splines. */
#if SPLINES
#define FORM(NAME) REAL_NAME(spline_##NAME)
#define LOOP ROLLED
#else
#define FORM(NAME) REAL_NAME(NAME)
#define LOOP UNROLLED
#endif

/* inner: all texels are known to be inside. */
INLINED struct REAL_NAME(taps) FORM(taps_of)(double p, int n, uint boundary, uint interpolation, int count, bool inner)
{
    const double near = inner ? p : folded(p, n, boundary);
    const double from = SPLINES ? near + (double)bindless_tap_shift((uint)count) : near;
    const struct whole whole = floor_of(from);
    const int first = whole.index - (int)bindless_taps_before((uint)count);
    const REAL f = (REAL)(from - whole.value);
    struct REAL_NAME(taps) taps;
#if SPLINES
    REAL_NAME(bindless_spline_weights)(f, count - 1, taps.weight, 1);
#else
    const uint four = interpolation < BINDLESS_BICUBIC ? interpolation : BINDLESS_BICUBIC;
    REAL_NAME(bindless_weights)(f, count == 2 ? BINDLESS_LINEAR : four, taps.weight, 1);
#endif
    LOOP for (int k = 0; k < count; ++k)
    {
        const int at = inner ? first + k : (int)bindless_tap_at(first + k, n, boundary, (uint)count);
        taps.inside[k] = inner || !bindless_has_border(boundary) || at != BINDLESS_OUTSIDE; /* known where the boundary is */
        taps.at[k] = taps.inside[k] ? at : 0;
    }
    return taps;
}

/* The same along an axis: the element's own texel alone where elements keep their index. */
INLINED struct REAL_NAME(taps) FORM(taps_along)(double p, int n, uint axis, uint mode, int count, bool inner)
{
    struct REAL_NAME(taps) taps = FORM(taps_of)(p, n, boundary(mode, axis), interpolation(mode), count, inner);
    if (keeps(mode, axis)) {
        taps.at[0] = floor_of(p).index;
        taps.inside[0] = true;
    }
    return taps;
}

INLINED REAL4 FORM(filtered)(IMAGE image, uint layer, struct position p, struct source source, int count, bool inner)
{
    const uint mode = source.mode, channels = value_channels(source.format);
    const bool ignore = !OF_MEMORY && ignores_nan(mode);
    const int count_y = DIMENSIONS > 1 ? count : 1, count_z = DIMENSIONS > 2 ? count : 1;
    const struct REAL_NAME(taps) missing = {{0}, {1}, {true}};
    const struct REAL_NAME(taps) x = FORM(taps_along)(p.x, source.size_x, 0, mode, count, inner);
    const struct REAL_NAME(taps) y = DIMENSIONS > 1 ? FORM(taps_along)(p.y, source.size_y, 1, mode, count, inner) : missing;
    const struct REAL_NAME(taps) z = DIMENSIONS > 2 ? FORM(taps_along)(p.z, source.size_z, 2, mode, count, inner) : missing;
    const bool keeps_y = DIMENSIONS < 2 || keeps(mode, 1), keeps_z = DIMENSIONS < 3 || keeps(mode, 2);
#if OF_MEMORY
    const struct array first = inner ? array_from(image, layer, x.at[0], y.at[0], z.at[0], source) : image;
#endif
    struct REAL_NAME(sums) sum = {0, 0};
    LOOP for (int k = 0; k < count_z; ++k)
    {
        if (k > 0 && keeps_z) continue;
        struct REAL_NAME(sums) plane = {0, 0};
        LOOP for (int j = 0; j < count_y; ++j)
        {
            if (j > 0 && keeps_y) continue;
            struct REAL_NAME(sums) row = {0, 0};
            const bool inside = y.inside[j] && z.inside[k];
            LOOP for (int i = 0; i < count; ++i)
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

#undef FORM
#undef LOOP
