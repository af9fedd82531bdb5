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

/* ---------------------------------------------------------------- changes of nodes */

enum { ITEMS = 8 };

static void check_items(CUdeviceptr memory, unsigned value)
{
    unsigned items[ITEMS];
    SUCCEEDS(cuCtxSynchronize());
    SUCCEEDS(cuMemcpyDtoH_v2(items, memory, sizeof items));
    for (int i = 0; i < ITEMS; i++)
        CHECK_EQUAL(value, items[i]);
}

/* fill(x, 5); x += 7; y = x; count: every kind of node gets new parameters, first in the executable graph, then in the graph. */
static void test_changes(void)
{
    _Atomic int calls = 0, others = 0;
    CUmodule module;
    CUfunction add;
    CUdeviceptr x, y, z;
    CUcontext context;
    CUgraph graph;
    CUgraphNode fill, sum, copy, host;
    CUgraphExec executable;
    SUCCEEDS(cuCtxGetCurrent(&context));
    SUCCEEDS(cuModuleLoadData(&module, add_ptx));
    SUCCEEDS(cuModuleGetFunction(&add, module, "add"));
    SUCCEEDS(cuMemAlloc_v2(&x, 4 * ITEMS));
    SUCCEEDS(cuMemAlloc_v2(&y, 4 * ITEMS));
    SUCCEEDS(cuMemAlloc_v2(&z, 4 * ITEMS));
    SUCCEEDS(cuGraphCreate(&graph, 0));
    unsigned more = 7;
    void *parameters[] = {&x, &more};
    CUDA_MEMSET_NODE_PARAMS fill_of = {x, 0, 5, 4, ITEMS, 1};
    CUDA_KERNEL_NODE_PARAMS sum_of = {add, 1, 1, 1, ITEMS, 1, 1, 0, parameters, NULL, NULL, NULL}, now;
    CUDA_MEMCPY3D copy_of = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = x, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = y,
                             .WidthInBytes = 4 * ITEMS, .Height = 1, .Depth = 1};
    CUDA_HOST_NODE_PARAMS host_of = {count_up, (void *)&calls};
    SUCCEEDS(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &fill_of, context));
    SUCCEEDS(cuGraphAddKernelNode_v2(&sum, graph, &fill, 1, &sum_of));
    SUCCEEDS(cuGraphAddMemcpyNode(&copy, graph, &sum, 1, &copy_of, context));
    SUCCEEDS(cuGraphAddHostNode(&host, graph, &copy, 1, &host_of));
    SUCCEEDS(cuGraphInstantiateWithFlags(&executable, graph, 0));
    SUCCEEDS(cuGraphLaunch(executable, NULL));
    check_items(y, 12);

    fill_of.value = 50;
    more = 8;
    copy_of.dstDevice = z;
    host_of.userData = (void *)&others;
    SUCCEEDS(cuGraphExecMemsetNodeSetParams(executable, fill, &fill_of, context));
    SUCCEEDS(cuGraphExecKernelNodeSetParams_v2(executable, sum, &sum_of));
    SUCCEEDS(cuGraphExecMemcpyNodeSetParams(executable, copy, &copy_of, context));
    SUCCEEDS(cuGraphExecHostNodeSetParams(executable, host, &host_of));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemsetNodeSetParams(executable, sum, &fill_of, context));
    SUCCEEDS(cuGraphLaunch(executable, NULL));
    check_items(z, 58);
    check_items(y, 12);
    CHECK(calls == 1 && others == 1);

    fill_of.value = 600;
    more = 9;
    SUCCEEDS(cuGraphMemsetNodeSetParams(fill, &fill_of));
    SUCCEEDS(cuGraphKernelNodeSetParams_v2(sum, &sum_of));
    SUCCEEDS(cuGraphMemcpyNodeSetParams(copy, &copy_of));
    SUCCEEDS(cuGraphHostNodeSetParams(host, &host_of));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphHostNodeSetParams(copy, &host_of));
    more = 1;
    SUCCEEDS(cuGraphKernelNodeGetParams_v2(sum, &now));
    CHECK(now.func == add && now.blockDimX == ITEMS && *(unsigned *)now.kernelParams[1] == 9);
    CUgraphExecUpdateResult update;
    CUgraphNode wrong;
    SUCCEEDS(cuGraphLaunch(executable, NULL));
    check_items(z, 58);
    SUCCEEDS(cuGraphExecUpdate(executable, graph, &wrong, &update));
    CHECK_EQUAL(CU_GRAPH_EXEC_UPDATE_SUCCESS, update);
    SUCCEEDS(cuGraphLaunch(executable, NULL));
    check_items(z, 609);

    SUCCEEDS(cuGraphRemoveDependencies(graph, &sum, &copy, 1));
    SUCCEEDS(cuGraphDestroyNode(sum));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuGraphDestroyNode(sum));
    SUCCEEDS(cuGraphAddDependencies(graph, &fill, &copy, 1));
    GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(executable, graph, &wrong, &update));
    SUCCEEDS(cuGraphExecDestroy(executable));
    SUCCEEDS(cuGraphInstantiateWithFlags(&executable, graph, 0));
    SUCCEEDS(cuGraphLaunch(executable, NULL));
    check_items(z, 600);
    SUCCEEDS(cuGraphDestroyNode(host));
    SUCCEEDS(cuGraphAddEmptyNode(&host, graph, &copy, 1));
    SUCCEEDS(cuGraphExecDestroy(executable));
    SUCCEEDS(cuGraphDestroy(graph));
}

/* Nodes by their general parameters; a child's graph and an event by their nodes. */
static void test_general_nodes(void)
{
    CUgraph graph, child, own;
    CUgraphNode node, nodes[2];
    CUevent event, other;
    size_t count = 2;
    SUCCEEDS(cuEventCreate(&event, 0));
    SUCCEEDS(cuEventCreate(&other, 0));
    SUCCEEDS(cuGraphCreate(&graph, 0));
    SUCCEEDS(cuGraphCreate(&child, 0));
    CUgraphNodeParams parameters = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {event}};
    SUCCEEDS(cuGraphAddNode_v2(&node, child, NULL, NULL, 0, &parameters));
    parameters.eventRecord.event = other;
    SUCCEEDS(cuGraphNodeSetParams(node, &parameters));
    SUCCEEDS(cuGraphEventRecordNodeGetEvent(node, &event));
    CHECK(event == other);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphEventWaitNodeGetEvent(node, &event));
    parameters = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {.graph = child}};
    SUCCEEDS(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &parameters));
    SUCCEEDS(cuGraphChildGraphNodeGetGraph(node, &own));
    CHECK(own != child);
    SUCCEEDS(cuGraphGetNodes(own, nodes, &count));
    CHECK_EQUAL(1, count);
    SUCCEEDS(cuGraphEventRecordNodeGetEvent(nodes[0], &event));
    CHECK(event == other);
    SUCCEEDS(cuGraphDestroy(child));
    SUCCEEDS(cuGraphDestroy(graph));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuGraphGetNodes(own, nodes, &count));
}

int main(void)
{
    CUcontext context;
    SUCCEEDS(cuInit(0));
    SUCCEEDS(cuCtxCreate_v2(&context, 0, 0));
    test_references();
    test_graphs_own_objects();
    test_launches_keep_objects();
    test_changes();
    test_general_nodes();
    SUCCEEDS(cuCtxDestroy_v2(context));
    return 0;
}
