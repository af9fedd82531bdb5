/* User objects: references to something of the user's, which graphs own together with him. The last one destroys it. */
#ifndef BINDLESS_CUDA_DRIVER_GRAPH_USER_OBJECT_H
#define BINDLESS_CUDA_DRIVER_GRAPH_USER_OBJECT_H

#include "cuda_driver/core/resource.h"

/* References of a graph to one object. */
struct bcu_object_use {
    struct bcu_object_use *next;
    struct bcu_user_object *object; /* retained */
    uint64_t count;
};

/* Adds as many references as another graph has. */
CUresult bcu_objects_copy(struct bcu_object_use **uses, const struct bcu_object_use *from);

/* Gives back all references. */
void bcu_objects_release(struct bcu_object_use **uses);

#endif
