/* User objects: counts of references, those of graphs, and the call of the destructor. */
#include "cuda_driver/driver/driver.h"
#include "cuda_driver/graph/graph.h"

#include <limits.h>

struct bcu_user_object {
    struct bcu_resource resource; /* its handle is valid while there are references */
    _Atomic uint64_t count;
    CUhostFn destroy;
    void *data;
};

static void delete_object(struct bcu_resource *resource) { blr_delete(resource); }

static void give_back(struct bcu_user_object *object, uint64_t count)
{
    if (atomic_fetch_sub(&object->count, count) != count)
        return;
    bcu_resource_retain(&object->resource);
    bcu_resource_close(&object->resource);
    object->destroy(object->data);
    bcu_resource_release(&object->resource);
}

/* Gives back references of the caller, who may have fewer. */
static CUresult give_back_checked(struct bcu_user_object *object, uint64_t count)
{
    if (atomic_load(&object->count) < count)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%llu references of a user object are released: it has fewer", (unsigned long long)count);
    give_back(object, count);
    return CUDA_SUCCESS;
}

static CUresult acquire(CUuserObject handle, unsigned count, struct bcu_user_object **object)
{
    if (count == 0 || count > INT_MAX)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%u references: 1 to %d are possible", count, INT_MAX);
    return bcu_resource_acquire(handle, BCU_USER_OBJECT, object);
}

/* ---------------------------------------------------------------- references of graphs */

static CUresult add_use(struct bcu_object_use **uses, struct bcu_user_object *object, uint64_t count)
{
    struct bcu_object_use *use = *uses;
    while (use != NULL && use->object != object)
        use = use->next;
    if (use == NULL) {
        use = blr_new(sizeof *use);
        if (use == NULL)
            return bcu_fail_memory("a reference to a user object");
        bcu_resource_retain(&object->resource);
        *use = (struct bcu_object_use){*uses, object, 0};
        *uses = use;
    }
    use->count += count;
    return CUDA_SUCCESS;
}

/* Takes a use out of its list, which gives back its references. */
static void end_use(struct bcu_object_use **link, uint64_t count)
{
    struct bcu_object_use *use = *link;
    struct bcu_user_object *object = use->object;
    use->count -= count;
    bcu_resource_retain(&object->resource);
    if (use->count == 0) {
        *link = use->next;
        bcu_resource_release(&object->resource);
        blr_delete(use);
    }
    give_back(object, count);
    bcu_resource_release(&object->resource);
}

CUresult bcu_objects_copy(struct bcu_object_use **uses, const struct bcu_object_use *from)
{
    CUresult result = CUDA_SUCCESS;
    for (; from != NULL && result == CUDA_SUCCESS; from = from->next) {
        result = add_use(uses, from->object, from->count);
        if (result == CUDA_SUCCESS)
            atomic_fetch_add(&from->object->count, from->count);
    }
    return result;
}

void bcu_objects_release(struct bcu_object_use **uses)
{
    while (*uses != NULL)
        end_use(uses, (*uses)->count);
}

/* ---------------------------------------------------------------- functions */

CUresult cuUserObjectCreate(CUuserObject *handle, void *data, CUhostFn destroy, unsigned int count, unsigned int flags)
{
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || destroy == NULL)
        return bcu_fail_null("object_out or destroy");
    if (count == 0 || count > INT_MAX || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%u references with flags %u: 1 to %d, and CU_USER_OBJECT_NO_DESTRUCTOR_SYNC (1) are needed",
                        count, flags, INT_MAX);
    struct bcu_user_object *object = blr_new(sizeof *object);
    if (object == NULL)
        return bcu_fail_memory("a user object");
    object->count = count;
    object->destroy = destroy;
    object->data = data;
    return bcu_resource_register(&object->resource, BCU_USER_OBJECT, NULL, delete_object, handle);
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned int count)
{
    struct bcu_user_object *object;
    CUresult result = acquire(handle, count, &object);
    if (result != CUDA_SUCCESS)
        return result;
    atomic_fetch_add(&object->count, count);
    bcu_resource_release(&object->resource);
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned int count)
{
    struct bcu_user_object *object;
    CUresult result = acquire(handle, count, &object);
    if (result != CUDA_SUCCESS)
        return result;
    result = give_back_checked(object, count);
    bcu_resource_release(&object->resource);
    return result;
}

CUresult cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count, unsigned int flags)
{
    struct bcu_graph *graph;
    struct bcu_user_object *object;
    if ((flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE) != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags are %u: 0 or CU_GRAPH_USER_OBJECT_MOVE (1) is needed", flags);
    CUresult result = bcu_graph_acquire(graph_handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    result = acquire(handle, count, &object);
    if (result == CUDA_SUCCESS) {
        const bool moves = (flags & CU_GRAPH_USER_OBJECT_MOVE) != 0;
        if (moves && atomic_load(&object->count) < count)
            result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "%u references of a user object are moved: it has fewer", count);
        else
            result = add_use(&graph->objects, object, count);
        if (result == CUDA_SUCCESS && !moves)
            atomic_fetch_add(&object->count, count);
        bcu_resource_release(&object->resource);
    }
    bcu_graph_release(graph);
    return result;
}

CUresult cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count)
{
    struct bcu_graph *graph;
    struct bcu_user_object *object;
    CUresult result = bcu_graph_acquire(graph_handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    result = acquire(handle, count, &object);
    if (result == CUDA_SUCCESS) {
        struct bcu_object_use **link = &graph->objects;
        while (*link != NULL && (*link)->object != object)
            link = &(*link)->next;
        if (*link == NULL || (*link)->count < count)
            result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "%u references of a user object are released: the graph has fewer", count);
        else
            end_use(link, count);
        bcu_resource_release(&object->resource);
    }
    bcu_graph_release(graph);
    return result;
}
