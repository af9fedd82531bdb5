/* Graphs of the CUDA driver: the life of user objects, and changes of nodes. */
#include "cuda_fixture.h"

#include <stdatomic.h>

static void count_up(void *number) { atomic_fetch_add((_Atomic int *)number, 1); }

static CUuserObject object_of(_Atomic int *number, unsigned count)
{
    CUuserObject object = NULL;
    SUCCEEDS(cuUserObjectCreate(&object, number, count_up, count, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

static void test_references(void)
{
    _Atomic int ends = 0;
    CUuserObject object = object_of(&ends, 2);
    SUCCEEDS(cuUserObjectRetain(object, 3));
    SUCCEEDS(cuUserObjectRelease(object, 4));
    CHECK_EQUAL(0, ends);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 2));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 0));
    SUCCEEDS(cuUserObjectRelease(object, 1));
    CHECK_EQUAL(1, ends);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuUserObjectRelease(object, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, NULL, count_up, 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, NULL, count_up, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, NULL, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
}

/* A graph, its clones, its parents and their executable graphs each own references. */
static void test_graphs_own_objects(void)
{
    _Atomic int moved = 0, shared = 0;
    CUuserObject one = object_of(&moved, 1), two = object_of(&shared, 1);
    CUgraph graph, clone, parent;
    CUgraphNode node;
    CUgraphExec executable;
    SUCCEEDS(cuGraphCreate(&graph, 0));
    SUCCEEDS(cuGraphRetainUserObject(graph, one, 1, CU_GRAPH_USER_OBJECT_MOVE));
    SUCCEEDS(cuGraphRetainUserObject(graph, two, 2, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphRetainUserObject(graph, two, 1, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphRetainUserObject(graph, two, 9, CU_GRAPH_USER_OBJECT_MOVE));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphReleaseUserObject(graph, two, 3));
    SUCCEEDS(cuGraphReleaseUserObject(graph, two, 1));
    SUCCEEDS(cuUserObjectRelease(two, 1));
    SUCCEEDS(cuGraphClone(&clone, graph));
    SUCCEEDS(cuGraphDestroy(graph));
    CHECK(moved == 0 && shared == 0);
    SUCCEEDS(cuGraphCreate(&parent, 0));
    SUCCEEDS(cuGraphAddChildGraphNode(&node, parent, NULL, 0, clone));
    SUCCEEDS(cuGraphReleaseUserObject(clone, one, 1));
    SUCCEEDS(cuGraphDestroy(clone));
    SUCCEEDS(cuGraphInstantiateWithFlags(&executable, parent, 0));
    SUCCEEDS(cuGraphDestroy(parent));
    CHECK(moved == 0 && shared == 0);
    SUCCEEDS(cuGraphExecDestroy(executable));
    CHECK(moved == 1 && shared == 1);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuUserObjectRetain(two, 1));
}

static void wait_for(void *gate)
{
    while (!atomic_load((_Atomic int *)gate))
        ;
}

/* An object outlives its executable graph until the launches have run. */
static void test_launches_keep_objects(void)
{
    _Atomic int ends = 0, gate = 0;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec executable;
    CUstream stream;
    SUCCEEDS(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SUCCEEDS(cuGraphCreate(&graph, 0));
    CUDA_HOST_NODE_PARAMS host = {wait_for, (void *)&gate};
    SUCCEEDS(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
    SUCCEEDS(cuGraphRetainUserObject(graph, object_of(&ends, 1), 1, CU_GRAPH_USER_OBJECT_MOVE));
    SUCCEEDS(cuGraphInstantiateWithFlags(&executable, graph, 0));
    SUCCEEDS(cuGraphLaunch(executable, stream));
    SUCCEEDS(cuGraphDestroy(graph));
    SUCCEEDS(cuGraphExecDestroy(executable));
    CHECK_EQUAL(0, ends);
    atomic_store(&gate, 1);
    SUCCEEDS(cuStreamSynchronize(stream));
    CHECK_EQUAL(1, ends);
    SUCCEEDS(cuStreamDestroy_v2(stream));
}

int main(void)
{
    CUcontext context;
    SUCCEEDS(cuInit(0));
    SUCCEEDS(cuCtxCreate_v2(&context, 0, 0));
    test_references();
    test_graphs_own_objects();
    test_launches_keep_objects();
    SUCCEEDS(cuCtxDestroy_v2(context));
    return 0;
}
