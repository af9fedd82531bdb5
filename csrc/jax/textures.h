/* Kept textures: a CUDA array and a texture object for images of one size, type and sampler.
 *
 * XLA does not say when a buffer changes, so that each call copies its image into the array. The lock is held from the
 * first copy of a program to its last launch, and an event orders the calls of several streams: no call overwrites an
 * array that another one reads. Arrays are created at their first use, and the one that was not used for longest makes
 * room for a new one. */
#ifndef BINDLESS_JAX_TEXTURES_H
#define BINDLESS_JAX_TEXTURES_H

#include "cuda_driver.h"

enum { MOST_TEXTURES = 16 };

/* The textures that a program uses. */
typedef struct {
    CUcontext context; /* the current one */
    CUstream stream;
    uint32_t used;     /* a bit for each kept texture; the lock is held unless it is 0 */
} Textures;

/* Copies the packed pixels of an image into a kept array, in the order of the stream. Returns NULL or the reason of a
 * failure. */
const char *fill_texture(Target *target, Textures *textures, const void *pixels, const int64_t *description,
                         uint64_t *handle);

/* Gives the textures of a program back to other calls, after its last launch. */
const char *release_textures(Target *target, Textures *textures);

#endif
