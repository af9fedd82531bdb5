/* Blobs: up to 16 bytes of a pixel or of one item of a values array, in a uint4, first byte lowest. */
#ifndef BINDLESS_KERNELS_INCLUDE_BLOB_H
#define BINDLESS_KERNELS_INCLUDE_BLOB_H

#include "bindless/device.h"

/* Unpacks the elements of a blob, each zero-extended; size is an element's, 1, 2 or 4 bytes. */
static inline uint4 unpack(uint4 blob, uint size)
{
    if (size == 1)
        return (uint4)(blob.x & 0xff, blob.x >> 8 & 0xff, blob.x >> 16 & 0xff, blob.x >> 24);
    if (size == 2)
        return (uint4)(blob.x & 0xffff, blob.x >> 16, blob.y & 0xffff, blob.y >> 16);
    return blob;
}

/* Packs elements into a blob; drops the bits of an element beyond its size. */
static inline uint4 pack(uint4 elements, uint size)
{
    if (size == 1)
        return (uint4)((elements.x & 0xff) | (elements.y & 0xff) << 8 | (elements.z & 0xff) << 16 | elements.w << 24, 0, 0, 0);
    if (size == 2)
        return (uint4)((elements.x & 0xffff) | elements.y << 16, (elements.z & 0xffff) | elements.w << 16, 0, 0);
    return elements;
}

/* Extends the sign bit of each element. */
static inline int4 sign_extend(uint4 elements, uint size)
{
    uint shift = 32 - 8 * size;
    return __builtin_astype(elements << shift, int4) >> (int)shift;
}

/* A packed values array. Items move as a whole if their size is a power of two and the array is aligned to it, which
 * `aligned` promises; otherwise element by element. The same for every item of a launch. */
struct values {
    global void *items;
    uint size;     /* of an element, in bytes */
    uint channels; /* of an item */
    uint whole;    /* bytes per access; 0: element by element */
};

static inline struct values values_of(global void *items, uint size, uint channels, bool aligned)
{
    struct values values = {items, size, channels, size * channels};
    if (channels == 3 || (!aligned && ((size_t)items & (values.whole - 1)) != 0))
        values.whole = 0;
    return values;
}

#define LANES 32u /* work-items that run together */

#ifdef __NVPTX__
/* Exchange of registers between lanes. */

uint __bindless_shuffle(uint value, uint lane) __attribute__((convergent));

/* Transposes three elements of each of 32 items, so that lane l holds the elements l, l + 32 and l + 64 of all 96.
 * Element c of item s has the number 3 s + c, so that for each c one item serves lane l: s = 11 (l - c) modulo 32. */
static inline uint4 turn_triples(uint4 elements, uint lane)
{
    const uint a = __bindless_shuffle(elements.x, 11 * lane % LANES);
    const uint b = __bindless_shuffle(elements.y, 11 * (lane - 1) % LANES);
    const uint c = __bindless_shuffle(elements.z, 11 * (lane - 2) % LANES);
    const uint first = lane % 3;
    return first == 0 ? (uint4)(a, c, b, 0) : first == 1 ? (uint4)(b, a, c, 0) : (uint4)(c, b, a, 0);
}

/* Streaming accesses: their cache lines are evicted before those of the image. */
uint2 __bindless_load_once_b64(global const void *address);
void __bindless_store_once_b128(global void *address, uint4 value);

/* Prefetches memory without a wait. */
void __bindless_prefetch(global const void *address);

/* Returns whether the group consists of full rows of lanes. */
static inline bool lanes_are_full(void) { return bindless_local_size(0) % LANES == 0; }
#else
static inline uint4 turn_triples(uint4 elements, uint lane) { return elements; }
static inline uint2 __bindless_load_once_b64(global const void *address) { return *(global const uint2 *)address; }
static inline void __bindless_store_once_b128(global void *address, uint4 value) { *(global uint4 *)address = value; }
static inline void __bindless_prefetch(global const void *address) {}
static inline bool lanes_are_full(void) { return false; }
#endif

/* Stores element by element. Three channels fit no vector; where all lanes store (`together`), they exchange
 * elements so that each store writes adjacent elements instead of every third one. */
static inline void store_elements(struct values values, ulong i, uint4 elements, bool together)
{
    ulong at = i * values.channels;
    uint stride = 1;
    if (values.channels == 3 && together && lanes_are_full()) {
        const uint lane = (uint)bindless_local_id(0) % LANES;
        elements = turn_triples(elements, lane);
        at = (i - lane) * 3 + lane;
        stride = LANES;
    }
    if (values.size == 1) {
        global uchar *out = (global uchar *)values.items + at;
        out[0] = (uchar)elements.x;
        if (values.channels > 1) out[stride] = (uchar)elements.y;
        if (values.channels > 2) out[2 * stride] = (uchar)elements.z;
        if (values.channels > 3) out[3] = (uchar)elements.w;
    } else if (values.size == 2) {
        global ushort *out = (global ushort *)values.items + at;
        out[0] = (ushort)elements.x;
        if (values.channels > 1) out[stride] = (ushort)elements.y;
        if (values.channels > 2) out[2 * stride] = (ushort)elements.z;
        if (values.channels > 3) out[3] = (ushort)elements.w;
    } else {
        global uint *out = (global uint *)values.items + at;
        out[0] = elements.x;
        if (values.channels > 1) out[stride] = elements.y;
        if (values.channels > 2) out[2 * stride] = elements.z;
        if (values.channels > 3) out[3] = elements.w;
    }
}

/* Writes item i; drops the bits of an element beyond its size and the elements beyond the item's channels.
 * `together` promises that all lanes of the work-item's row call this for consecutive items. */
static inline void store_item(struct values values, ulong i, uint4 elements, bool together)
{
    uint4 blob = pack(elements, values.size);
    switch (values.whole) {
    case 16: ((global uint4 *)values.items)[i] = blob; break;
    case 8: ((global uint2 *)values.items)[i] = blob.xy; break;
    case 4: ((global uint *)values.items)[i] = blob.x; break;
    case 2: ((global ushort *)values.items)[i] = (ushort)blob.x; break;
    case 1: ((global uchar *)values.items)[i] = (uchar)blob.x; break;
    default: store_elements(values, i, elements, together);
    }
}

static inline uint4 load_elements(struct values values, ulong i)
{
    ulong at = i * values.channels;
    uint4 elements = 0;
    if (values.size == 1) {
        global const uchar *in = (global const uchar *)values.items + at;
        elements.x = in[0];
        if (values.channels > 1) elements.y = in[1];
        if (values.channels > 2) elements.z = in[2];
        if (values.channels > 3) elements.w = in[3];
    } else if (values.size == 2) {
        global const ushort *in = (global const ushort *)values.items + at;
        elements.x = in[0];
        if (values.channels > 1) elements.y = in[1];
        if (values.channels > 2) elements.z = in[2];
        if (values.channels > 3) elements.w = in[3];
    } else {
        global const uint *in = (global const uint *)values.items + at;
        elements.x = in[0];
        if (values.channels > 1) elements.y = in[1];
        if (values.channels > 2) elements.z = in[2];
        if (values.channels > 3) elements.w = in[3];
    }
    return elements;
}

/* Reads item i: its elements zero-extended, zero beyond its channels. */
static inline uint4 load_item(struct values values, ulong i)
{
    uint4 blob = 0;
    switch (values.whole) {
    case 16: blob = ((global const uint4 *)values.items)[i]; break;
    case 8: blob.xy = ((global const uint2 *)values.items)[i]; break;
    case 4: blob.x = ((global const uint *)values.items)[i]; break;
    case 2: blob.x = ((global const ushort *)values.items)[i]; break;
    case 1: blob.x = ((global const uchar *)values.items)[i]; break;
    default: return load_elements(values, i);
    }
    return unpack(blob, values.size);
}

#endif
