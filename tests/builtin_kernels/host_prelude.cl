/* The primitives of device.h for the processor at hand, so that the kernels' own arithmetic and addressing can run and
 * be compared. A handle is the address of a `struct surface`. Surfaces are memory; texture instructions do not sample
 * but return what they were asked for, which a test compares with the arguments that it gave. */
#include "bindless/device.h"

struct surface {
    uchar *texels;
    int row_bytes; /* one row */
    int rows;
    int slices; /* slices or layers */
};

/* Lanes exchange registers, but here work-items run one after the other: a launch runs twice, first to record what each
 * lane gives to its exchanges, then to serve it. A lane that others did not join finds no record and gets POISON. */
#define LANES 32
#define MOST_LANES 512
#define MOST_EXCHANGES 256
#define POISON 0xdeadbeef

static ulong work_item, work_items, group_size;
static uint exchange, exchanges[MOST_LANES], recorded[MOST_LANES][MOST_EXCHANGES];
static bool serving;

void set_work_item(ulong id, ulong count, ulong group, uint pass)
{
    work_item = id;
    work_items = count;
    group_size = group;
    serving = pass == 1;
    exchange = 0;
    if (!serving && id < MOST_LANES) exchanges[id] = 0;
}

uint exchanges_of(ulong id) { return exchanges[id]; }

uint __bindless_shuffle(uint value, uint lane)
{
    const uint mine = exchange++;
    if (work_item >= MOST_LANES || mine >= MOST_EXCHANGES) return POISON;
    if (!serving) {
        recorded[work_item][mine] = value;
        exchanges[work_item] = exchange;
        return POISON;
    }
    const ulong other = work_item - work_item % LANES + lane;
    return mine < exchanges[other] ? recorded[other][mine] : POISON;
}

uint2 __bindless_load_once_b64(global const void *address) { return *(global const uint2 *)address; }
void __bindless_store_once_b128(global void *address, uint4 value) { *(global uint4 *)address = value; }
void __bindless_prefetch(global const void *address) {}

#define WORK_ITEM(D)                                                                                                   \
    ulong __bindless_global_id_##D(void) { return D == 0 ? work_item : 0; }                                            \
    ulong __bindless_global_size_##D(void) { return D == 0 ? work_items : 1; }                                         \
    ulong __bindless_local_id_##D(void) { return D == 0 ? work_item % group_size : 0; }                                \
    ulong __bindless_local_size_##D(void) { return D == 0 ? group_size : 1; }                                          \
    ulong __bindless_group_id_##D(void) { return D == 0 ? work_item / group_size : 0; }                                \
    ulong __bindless_group_count_##D(void) { return D == 0 ? work_items / group_size : 1; }
WORK_ITEM(0)
WORK_ITEM(1)
WORK_ITEM(2)
void __bindless_barrier(void) {}

static uchar *texel_at(ulong image, uint slice, int y, int x, int bytes)
{
    struct surface *s = (struct surface *)image;
    if (x < 0 || y < 0 || x + bytes > s->row_bytes || y >= s->rows || slice >= (uint)s->slices) return 0;
    return s->texels + ((size_t)slice * s->rows + y) * s->row_bytes + x;
}

static uint4 read(ulong image, uint slice, int y, int x, int bytes)
{
    union {
        uint4 blob;
        uchar bytes[16];
    } u;
    u.blob = 0;
    const uchar *at = texel_at(image, slice, y, x, bytes);
    for (int k = 0; at && k < bytes; ++k) u.bytes[k] = at[k];
    return u.blob;
}

static void write(ulong image, uint slice, int y, int x, int bytes, uint4 blob)
{
    union {
        uint4 blob;
        uchar bytes[16];
    } u;
    u.blob = blob;
    uchar *at = texel_at(image, slice, y, x, bytes);
    for (int k = 0; at && k < bytes; ++k) at[k] = u.bytes[k];
}

#define SURFACE(BLOB, BYTES)                                                                                           \
    uint4 __bindless_read_1d_##BLOB(ulong h, int x) { return read(h, 0, 0, x, BYTES); }                                \
    uint4 __bindless_read_2d_##BLOB(ulong h, int x, int y) { return read(h, 0, y, x, BYTES); }                         \
    uint4 __bindless_read_3d_##BLOB(ulong h, int x, int y, int z) { return read(h, (uint)z, y, x, BYTES); }            \
    uint4 __bindless_read_1d_array_##BLOB(ulong h, uint l, int x) { return read(h, l, 0, x, BYTES); }                  \
    uint4 __bindless_read_2d_array_##BLOB(ulong h, uint l, int x, int y) { return read(h, l, y, x, BYTES); }           \
    void __bindless_write_1d_##BLOB(ulong h, int x, uint4 t) { write(h, 0, 0, x, BYTES, t); }                          \
    void __bindless_write_2d_##BLOB(ulong h, int x, int y, uint4 t) { write(h, 0, y, x, BYTES, t); }                   \
    void __bindless_write_3d_##BLOB(ulong h, int x, int y, int z, uint4 t) { write(h, (uint)z, y, x, BYTES, t); }      \
    void __bindless_write_1d_array_##BLOB(ulong h, uint l, int x, uint4 t) { write(h, l, 0, x, BYTES, t); }            \
    void __bindless_write_2d_array_##BLOB(ulong h, uint l, int x, int y, uint4 t) { write(h, l, y, x, BYTES, t); }
SURFACE(b8, 1)
SURFACE(b16, 2)
SURFACE(b32, 4)
SURFACE(b64, 8)
SURFACE(b128, 16)

/* Ten numbers tell any texture instruction: operation (1 sample, 2 level, 3 gradients, 4 fetch), layer, coordinates and
 * the rest; a hash of them comes back in four channels, each below 2^24 so that it is exact in every class. */
static uint4 told(ulong image, float a, float b, float c, float d, float e, float f, float g, float h, float i, float j,
                  float k)
{
    const float numbers[11] = {a, b, c, d, e, f, g, h, i, j, k};
    uint4 sum = (uint4)((uint)image & 0xff, 1, 2, 3);
    for (uint n = 0; n < 11; ++n) {
        uint bits = __builtin_astype(numbers[n], uint);
        sum = sum * (uint4)(31, 37, 41, 43) + (bits ^ bits >> 15) + n;
    }
    return sum & 0xffffff;
}

#define NONE 0, 0, 0
#define TEXTURE(LETTER, COLOR)                                                                                         \
    static COLOR tell_##LETTER(ulong t, float op, uint l, float x, float y, float z, float p, float q, float r, float s, \
                               float u, float v)                                                                       \
    {                                                                                                                  \
        return __builtin_convertvector(told(t, op, (float)l, x, y, z, p, q, r, s, u, v), COLOR);                       \
    }                                                                                                                  \
    COLOR __bindless_sample_1d_##LETTER(ulong t, float x) { return tell_##LETTER(t, 1, 0, x, 0, 0, NONE, NONE); }      \
    COLOR __bindless_sample_2d_##LETTER(ulong t, float x, float y)                                                     \
    {                                                                                                                  \
        return tell_##LETTER(t, 1, 0, x, y, 0, NONE, NONE);                                                            \
    }                                                                                                                  \
    COLOR __bindless_sample_3d_##LETTER(ulong t, float x, float y, float z)                                            \
    {                                                                                                                  \
        return tell_##LETTER(t, 1, 0, x, y, z, NONE, NONE);                                                            \
    }                                                                                                                  \
    COLOR __bindless_sample_cube_##LETTER(ulong t, float x, float y, float z)                                          \
    {                                                                                                                  \
        return tell_##LETTER(t, 1, 0, x, y, z, NONE, NONE);                                                            \
    }                                                                                                                  \
    COLOR __bindless_sample_1d_array_##LETTER(ulong t, uint l, float x)                                                \
    {                                                                                                                  \
        return tell_##LETTER(t, 1, l, x, 0, 0, NONE, NONE);                                                            \
    }                                                                                                                  \
    COLOR __bindless_sample_2d_array_##LETTER(ulong t, uint l, float x, float y)                                       \
    {                                                                                                                  \
        return tell_##LETTER(t, 1, l, x, y, 0, NONE, NONE);                                                            \
    }                                                                                                                  \
    COLOR __bindless_sample_lod_1d_##LETTER(ulong t, float x, float lod)                                               \
    {                                                                                                                  \
        return tell_##LETTER(t, 2, 0, x, 0, 0, lod, 0, 0, NONE);                                                       \
    }                                                                                                                  \
    COLOR __bindless_sample_lod_2d_##LETTER(ulong t, float x, float y, float lod)                                      \
    {                                                                                                                  \
        return tell_##LETTER(t, 2, 0, x, y, 0, lod, 0, 0, NONE);                                                       \
    }                                                                                                                  \
    COLOR __bindless_sample_lod_3d_##LETTER(ulong t, float x, float y, float z, float lod)                             \
    {                                                                                                                  \
        return tell_##LETTER(t, 2, 0, x, y, z, lod, 0, 0, NONE);                                                       \
    }                                                                                                                  \
    COLOR __bindless_sample_lod_cube_##LETTER(ulong t, float x, float y, float z, float lod)                           \
    {                                                                                                                  \
        return tell_##LETTER(t, 2, 0, x, y, z, lod, 0, 0, NONE);                                                       \
    }                                                                                                                  \
    COLOR __bindless_sample_lod_1d_array_##LETTER(ulong t, uint l, float x, float lod)                                 \
    {                                                                                                                  \
        return tell_##LETTER(t, 2, l, x, 0, 0, lod, 0, 0, NONE);                                                       \
    }                                                                                                                  \
    COLOR __bindless_sample_lod_2d_array_##LETTER(ulong t, uint l, float x, float y, float lod)                        \
    {                                                                                                                  \
        return tell_##LETTER(t, 2, l, x, y, 0, lod, 0, 0, NONE);                                                       \
    }                                                                                                                  \
    COLOR __bindless_sample_grad_1d_##LETTER(ulong t, float x, float px, float qx)                                     \
    {                                                                                                                  \
        return tell_##LETTER(t, 3, 0, x, 0, 0, px, 0, 0, qx, 0, 0);                                                    \
    }                                                                                                                  \
    COLOR __bindless_sample_grad_2d_##LETTER(ulong t, float x, float y, float px, float py, float qx, float qy)        \
    {                                                                                                                  \
        return tell_##LETTER(t, 3, 0, x, y, 0, px, py, 0, qx, qy, 0);                                                  \
    }                                                                                                                  \
    COLOR __bindless_sample_grad_3d_##LETTER(ulong t, float x, float y, float z, float px, float py, float pz,         \
                                             float qx, float qy, float qz)                                             \
    {                                                                                                                  \
        return tell_##LETTER(t, 3, 0, x, y, z, px, py, pz, qx, qy, qz);                                                \
    }                                                                                                                  \
    COLOR __bindless_sample_grad_1d_array_##LETTER(ulong t, uint l, float x, float px, float qx)                       \
    {                                                                                                                  \
        return tell_##LETTER(t, 3, l, x, 0, 0, px, 0, 0, qx, 0, 0);                                                    \
    }                                                                                                                  \
    COLOR __bindless_sample_grad_2d_array_##LETTER(ulong t, uint l, float x, float y, float px, float py, float qx,    \
                                                   float qy)                                                           \
    {                                                                                                                  \
        return tell_##LETTER(t, 3, l, x, y, 0, px, py, 0, qx, qy, 0);                                                  \
    }                                                                                                                  \
    COLOR __bindless_fetch_sampled_1d_##LETTER(ulong t, int x) { return tell_##LETTER(t, 4, 0, x, 0, 0, NONE, NONE); } \
    COLOR __bindless_fetch_sampled_1d_linear_##LETTER(ulong t, int x)                                                  \
    {                                                                                                                  \
        return tell_##LETTER(t, 4, 0, x, 0, 0, NONE, NONE);                                                            \
    }                                                                                                                  \
    COLOR __bindless_fetch_sampled_2d_##LETTER(ulong t, int x, int y)                                                  \
    {                                                                                                                  \
        return tell_##LETTER(t, 4, 0, x, y, 0, NONE, NONE);                                                            \
    }                                                                                                                  \
    COLOR __bindless_fetch_sampled_3d_##LETTER(ulong t, int x, int y, int z)                                           \
    {                                                                                                                  \
        return tell_##LETTER(t, 4, 0, x, y, z, NONE, NONE);                                                            \
    }                                                                                                                  \
    COLOR __bindless_fetch_sampled_1d_array_##LETTER(ulong t, uint l, int x)                                           \
    {                                                                                                                  \
        return tell_##LETTER(t, 4, l, x, 0, 0, NONE, NONE);                                                            \
    }                                                                                                                  \
    COLOR __bindless_fetch_sampled_2d_array_##LETTER(ulong t, uint l, int x, int y)                                    \
    {                                                                                                                  \
        return tell_##LETTER(t, 4, l, x, y, 0, NONE, NONE);                                                            \
    }
TEXTURE(f, float4)
TEXTURE(i, int4)
TEXTURE(u, uint4)
