/* The kept textures of CUDA contexts. */

#include "textures.h"

#include <stdio.h>
#include <string.h>

#include "../reference/platform/threads.h"

typedef struct {
    CUcontext context; /* NULL: the place is free */
    int64_t description[TEXTURE_WORDS];
    CUarray array;
    CUtexObject texture;
    CUevent event;     /* after the last launch that reads the texture */
    uint64_t turn;     /* of its last use */
} CachedTexture;

static blr_mutex_t lock = BLR_MUTEX_INIT;
static CachedTexture cache[MOST_TEXTURES];
static uint64_t turns;

static CUresult create(CachedTexture *row, int *function)
{
    const int64_t *words = row->description;
    const CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = (size_t)words[TEXTURE_WIDTH], .Height = (size_t)words[TEXTURE_HEIGHT], .Depth = (size_t)words[TEXTURE_DEPTH],
        .Format = (CUarray_format)words[TEXTURE_FORMAT], .NumChannels = (unsigned)words[TEXTURE_CHANNELS],
    };
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC sampler = {
        .filterMode = words[TEXTURE_LINEAR] ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT,
        .flags = CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | (words[TEXTURE_NORMALIZED] ? CU_TRSF_NORMALIZED_COORDINATES : 0),
    };
    for (int axis = 0; axis < 3; axis++)
        sampler.addressMode[axis] = (CUaddress_mode)words[TEXTURE_ADDRESSING + axis];
    CUresult code = cuda.create_event(&row->event, CU_EVENT_DISABLE_TIMING);
    *function = CREATE_EVENT;
    if (code == CUDA_SUCCESS) {
        code = cuda.create_array(&row->array, &shape);
        *function = CREATE_ARRAY;
    }
    if (code == CUDA_SUCCESS) {
        resource.res.array.hArray = row->array;
        code = cuda.create_texture(&row->texture, &resource, &sampler, NULL);
        *function = CREATE_TEXTURE;
    }
    return code;
}

/* Destroys what there is, in its context; nothing uses it. */
static void destroy(CachedTexture *one)
{
    CUcontext previous;
    if (cuda.push(one->context) == CUDA_SUCCESS) {
        if (one->texture != 0)
            cuda.destroy_texture(one->texture);
        if (one->array != NULL)
            cuda.destroy_array(one->array);
        if (one->event != NULL)
            cuda.destroy_event(one->event);
        cuda.pop(&previous);
    }
    *one = (CachedTexture){0};
}

/* A free place, or that of the texture that was not used for longest, whose work is waited for; NULL if this program uses
 * them all. */
static CachedTexture *make_room(const Textures *textures)
{
    CachedTexture *oldest = NULL;
    for (int i = 0; i < MOST_TEXTURES; i++) {
        if (cache[i].context == NULL)
            return &cache[i];
        if (!(textures->used >> i & 1) && (oldest == NULL || cache[i].turn < oldest->turn))
            oldest = &cache[i];
    }
    if (oldest != NULL) {
        cuda.synchronize(oldest->event);
        destroy(oldest);
    }
    return oldest;
}

/* Destroys all textures that this program does not use. */
static void forget_others(const Textures *textures)
{
    for (int i = 0; i < MOST_TEXTURES; i++)
        if (cache[i].context != NULL && !(textures->used >> i & 1)) {
            cuda.synchronize(cache[i].event);
            destroy(&cache[i]);
        }
}

static const char *make(Target *target, const Textures *textures, const int64_t *description, CachedTexture **result)
{
    CachedTexture *place = make_room(textures);
    if (place == NULL)
        return "the program has too many textures";
    int function = 0;
    CUresult code = CUDA_SUCCESS;
    for (int attempt = 0; attempt < 2; attempt++) {
        *place = (CachedTexture){.context = textures->context};
        memcpy(place->description, description, sizeof place->description);
        code = create(place, &function);
        if (code == CUDA_SUCCESS) {
            *result = place;
            return NULL;
        }
        destroy(place);
        if (code != CUDA_ERROR_OUT_OF_MEMORY)
            break;
        forget_others(textures);
    }
    cuda_result(target, function, code);
    if (code == CUDA_ERROR_OUT_OF_MEMORY) {
        const size_t length = strlen(target->message);
        snprintf(target->message + length, sizeof target->message - length,
                 ": the image needs memory outside of XLA's: lower XLA_PYTHON_CLIENT_MEM_FRACTION, or take precision='exact'");
    }
    return target->message;
}

static const char *find(Target *target, const Textures *textures, const int64_t *description, CachedTexture **result)
{
    for (int i = 0; i < MOST_TEXTURES; i++)
        if (cache[i].context == textures->context &&
            memcmp(cache[i].description, description, sizeof cache[i].description) == 0) {
            *result = &cache[i];
            return NULL;
        }
    return make(target, textures, description, result);
}

static CUresult copy(const CachedTexture *to, const void *pixels, CUstream stream)
{
    const int64_t *words = to->description;
    const size_t height = words[TEXTURE_HEIGHT] ? (size_t)words[TEXTURE_HEIGHT] : 1;
    const size_t row = (size_t)(words[TEXTURE_WIDTH] * words[TEXTURE_CHANNELS]) *
                       (words[TEXTURE_FORMAT] == CU_AD_FORMAT_HALF ? 2 : 4);
    const CUDA_MEMCPY3D copied = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = (CUdeviceptr)(uintptr_t)pixels,
        .srcPitch = row,
        .srcHeight = height,
        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
        .dstArray = to->array,
        .WidthInBytes = row,
        .Height = height,
        .Depth = words[TEXTURE_DEPTH] ? (size_t)words[TEXTURE_DEPTH] : 1,
    };
    return cuda.copy(&copied, stream);
}

/* The texture of a description, ready for the stream. */
static const char *use(Target *target, Textures *textures, const int64_t *description, CachedTexture **used)
{
    const char *failure = find(target, textures, description, used);
    const uint32_t bit = failure == NULL ? (uint32_t)1 << (*used - cache) : 0;
    if (failure != NULL || textures->used & bit)
        return failure;
    failure = cuda_result(target, WAIT, cuda.wait(textures->stream, (*used)->event, 0));
    if (failure == NULL) {
        (*used)->turn = ++turns;
        textures->used |= bit;
    }
    return failure;
}

const char *fill_texture(Target *target, Textures *textures, const void *pixels, const int64_t *description,
                         uint64_t *handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const char *failure = cuda_result(target, IS_CAPTURING, cuda.is_capturing(textures->stream, &status));
    if (failure != NULL)
        return failure;
    if (status != CU_STREAM_CAPTURE_STATUS_NONE)
        return "precision='hardware' cannot be part of a CUDA graph: use 'exact'";
    const int locks = textures->used == 0;
    if (locks)
        blr_mutex_lock(&lock);
    CachedTexture *used = NULL;
    failure = use(target, textures, description, &used);
    if (failure == NULL)
        failure = cuda_result(target, COPY, copy(used, pixels, textures->stream));
    if (failure == NULL)
        *handle = used->texture;
    if (locks && textures->used == 0)
        blr_mutex_unlock(&lock);
    return failure;
}

const char *release_textures(Target *target, Textures *textures)
{
    const char *failure = NULL;
    if (textures->used == 0)
        return NULL;
    for (int i = 0; i < MOST_TEXTURES; i++)
        if (textures->used >> i & 1) {
            const CUresult code = cuda.record(cache[i].event, textures->stream);
            failure = code != CUDA_SUCCESS ? cuda_result(target, RECORD, code) : failure;
        }
    textures->used = 0;
    blr_mutex_unlock(&lock);
    return failure;
}
