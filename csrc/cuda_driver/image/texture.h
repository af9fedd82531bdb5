/* Texture and surface objects: handles of the reference driver, which kernels take as they are. */
#ifndef BINDLESS_CUDA_DRIVER_IMAGE_TEXTURE_H
#define BINDLESS_CUDA_DRIVER_IMAGE_TEXTURE_H

#include "cuda_driver/image/array.h"

/* Destroys the objects of a context. */
void bcu_textures_destroy(struct bcu_context *context);

#endif
