/* Executable graphs: a copy of a graph, whose commands a launch enqueues one after the other. */
#include "cuda_driver/graph/capture.h"
#include "cuda_driver/graph/draft.h"

struct executable {
    struct bcu_resource resource;
    struct bcu_graph *graph; /* owned */
    unsigned long long flags;
    blr_mutex_t mutex;       /* launches and changes follow each other */
};

static void release(struct bcu_resource *resource)
{
    struct executable *executable = (struct executable *)resource;
    if (executable->graph != NULL)
        bcu_resource_close(&executable->graph->resource);
    blr_mutex_destroy(&executable->mutex);
    blr_delete(executable);
}

static CUresult count_node(struct bcu_node *node, void *argument)
{
    (void)node;
    ++*(size_t *)argument;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *handle, CUgraph graph_handle, unsigned long long flags)
{
    struct bcu_context *context;
    struct bcu_graph *graph;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || (flags & ~15ull) != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "phGraphExec is NULL, or flags are 0x%llx", flags);
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0)
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "launches of graphs by kernels");
    result = bcu_graph_acquire(graph_handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    struct executable *executable = blr_new(sizeof *executable);
    size_t count = 0;
    if (executable == NULL) {
        result = bcu_fail_memory("an executable graph");
    } else {
        blr_mutex_init(&executable->mutex);
        executable->flags = flags;
        result = bcu_graph_clone(graph, &executable->graph, NULL);
        if (result == CUDA_SUCCESS)
            result = bcu_graph_walk(executable->graph, count_node, &count);
        if (result == CUDA_SUCCESS)
            result = bcu_resource_register(&executable->resource, BCU_EXECUTABLE, NULL, release, handle);
        else
            release(&executable->resource);
    }
    bcu_graph_release(graph);
    return result;
}

CUresult cuGraphInstantiate_v2(CUgraphExec *handle, CUgraph graph, CUgraphNode *node, char *log, size_t room)
{
    if (node != NULL)
        *node = NULL;
    if (log != NULL && room > 0)
        log[0] = '\0';
    return cuGraphInstantiateWithFlags(handle, graph, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *handle, CUgraph graph, CUgraphNode *node, char *log, size_t room)
{
    return cuGraphInstantiate_v2(handle, graph, node, log, room);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *handle, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("instantiateParams");
    CUresult result = cuGraphInstantiateWithFlags(handle, graph, parameters->flags);
    parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    parameters->hErrNode_out = NULL;
    return result;
}

CUresult cuGraphExecDestroy(CUgraphExec handle) { return bcu_resource_destroy(handle, BCU_EXECUTABLE); }

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *flags)
{
    struct executable *executable;
    if (flags == NULL)
        return bcu_fail_null("flags");
    CUresult result = bcu_resource_acquire(handle, BCU_EXECUTABLE, &executable);
    if (result != CUDA_SUCCESS)
        return result;
    *flags = executable->flags;
    bcu_resource_release(&executable->resource);
    return CUDA_SUCCESS;
}

static CUresult launch_node(struct bcu_node *node, void *argument)
{
    struct bcu_stream *stream = argument;
    return node->command == NULL ? CUDA_SUCCESS : bcu_enqueue(stream, node->command, NULL);
}

static void let_graph_go(void *graph) { bcu_graph_release(graph); }

/* Enqueues the commands. User objects live until the last of them has run, also where the executable graph does not. */
static CUresult launch(struct bcu_graph *graph, struct bcu_stream *stream)
{
    CUresult result = bcu_graph_walk(graph, launch_node, stream);
    if (!bcu_graph_has_objects(graph))
        return result;
    struct bcu_host_command command = bcu_host_command(let_graph_go, graph);
    bcu_resource_retain(&graph->resource);
    CUresult last = bcu_enqueue(stream, &command.command, NULL);
    if (last != CUDA_SUCCESS)
        bcu_graph_release(graph);
    return result != CUDA_SUCCESS ? result : last;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle)
{
    struct executable *executable;
    struct bcu_stream *stream;
    CUresult result = bcu_stream_acquire(stream_handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_resource_acquire(handle, BCU_EXECUTABLE, &executable);
    if (result == CUDA_SUCCESS) {
        blr_mutex_lock(&executable->mutex);
        if (bcu_capture_is_active(stream))
            result = bcu_capture_refuse(stream, "cuGraphLaunch");
        else
            result = launch(executable->graph, stream);
        blr_mutex_unlock(&executable->mutex);
        bcu_resource_release(&executable->resource);
    }
    bcu_stream_release(stream);
    return result;
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream_handle)
{
    struct executable *executable;
    struct bcu_stream *stream;
    CUresult result = bcu_stream_acquire(stream_handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    bcu_stream_release(stream);
    result = bcu_resource_acquire(handle, BCU_EXECUTABLE, &executable);
    if (result == CUDA_SUCCESS)
        bcu_resource_release(&executable->resource);
    return result;
}

/* ---------------------------------------------------------------- changes */

/* The executable's copy of a node; the executable is locked, and unlocked by let_go. */
static CUresult take(CUgraphExec handle, CUgraphNode node_handle, struct executable **executable, struct bcu_node **copy)
{
    struct bcu_node *node;
    CUresult result = bcu_resource_acquire(node_handle, BCU_NODE, &node);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t source = node->source;
    bcu_resource_release(&node->resource);
    result = bcu_resource_acquire(handle, BCU_EXECUTABLE, executable);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&(*executable)->mutex);
    *copy = (*executable)->graph->first;
    while (*copy != NULL && (*copy)->source != source)
        *copy = (*copy)->next;
    return CUDA_SUCCESS;
}

static void let_go(struct executable *executable)
{
    blr_mutex_unlock(&executable->mutex);
    bcu_resource_release(&executable->resource);
}

static CUresult fail_absent(void) { return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the graph has no copy of the node of this kind"); }

static size_t place_of(const struct bcu_graph *graph, const struct bcu_node *node)
{
    size_t place = 0;
    for (const struct bcu_node *one = graph->first; one != NULL && one != node; one = one->next)
        place++;
    return place;
}

static bool depends_on(const struct bcu_graph *graph, const struct bcu_node *node, size_t place)
{
    for (size_t i = 0; i < node->dependencies.count; i++)
        if (place_of(graph, node->dependencies.nodes[i]) == place)
            return true;
    return false;
}

/* Whether two graphs have the same nodes, of the same kinds, with the same dependencies, in one order. */
static bool is_alike(const struct bcu_graph *graph, const struct bcu_graph *other)
{
    const struct bcu_node *a = graph->first, *b = other->first;
    for (; a != NULL && b != NULL; a = a->next, b = b->next) {
        if ((a->command == NULL) != (b->command == NULL) || (a->child == NULL) != (b->child == NULL) ||
            (a->command != NULL && a->command->type != b->command->type) || a->dependencies.count != b->dependencies.count ||
            (a->child != NULL && !is_alike(a->child, b->child)))
            return false;
        for (size_t i = 0; i < a->dependencies.count; i++)
            if (!depends_on(other, b, place_of(graph, a->dependencies.nodes[i])))
                return false;
    }
    return a == NULL && b == NULL;
}

static CUresult replace_child(struct bcu_node *node, struct bcu_graph *child)
{
    struct bcu_graph *clone;
    if (node->child == NULL || !is_alike(node->child, child))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the node has no child graph, or one with other nodes or dependencies");
    CUresult result = bcu_graph_clone(child, &clone, NULL);
    if (result != CUDA_SUCCESS)
        return result;
    bcu_resource_close(&node->child->resource);
    node->child = clone;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecNodeSetParams(CUgraphExec handle, CUgraphNode node, CUgraphNodeParams *parameters)
{
    struct executable *executable;
    struct bcu_node *copy;
    struct bcu_draft draft;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUresult result = bcu_draft_begin(parameters, &draft);
    if (result == CUDA_SUCCESS)
        result = take(handle, node, &executable, &copy);
    if (result == CUDA_SUCCESS) {
        result = copy == NULL          ? fail_absent()
                 : draft.child != NULL ? replace_child(copy, draft.child)
                                       : bcu_draft_replace(&draft, copy);
        let_go(executable);
    }
    bcu_draft_end(&draft);
    return result;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec handle, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUgraphNodeParams own = bcu_kernel_parameters(parameters);
    return cuGraphExecNodeSetParams(handle, node, &own);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec handle, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    const CUDA_KERNEL_NODE_PARAMS wide = bcu_widen_kernel(parameters);
    return cuGraphExecKernelNodeSetParams_v2(handle, node, &wide);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec handle, CUgraphNode node, const CUDA_MEMCPY3D *parameters, CUcontext context)
{
    (void)context;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUgraphNodeParams own = bcu_copy_parameters(parameters);
    return cuGraphExecNodeSetParams(handle, node, &own);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec handle, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context)
{
    (void)context;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUgraphNodeParams own = bcu_fill_parameters(parameters);
    return cuGraphExecNodeSetParams(handle, node, &own);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec handle, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUgraphNodeParams own = bcu_host_parameters(parameters);
    return cuGraphExecNodeSetParams(handle, node, &own);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec handle, CUgraphNode node, CUevent event)
{
    CUgraphNodeParams own = bcu_event_parameters(event, true);
    return cuGraphExecNodeSetParams(handle, node, &own);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec handle, CUgraphNode node, CUevent event)
{
    CUgraphNodeParams own = bcu_event_parameters(event, false);
    return cuGraphExecNodeSetParams(handle, node, &own);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec handle, CUgraphNode node, CUgraph child)
{
    CUgraphNodeParams own = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {.graph = child}};
    return cuGraphExecNodeSetParams(handle, node, &own);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node, unsigned int enabled)
{
    struct executable *executable;
    struct bcu_node *copy;
    CUresult result = take(handle, node, &executable, &copy);
    if (result != CUDA_SUCCESS)
        return result;
    if (copy == NULL || copy->command == NULL)
        result = fail_absent();
    else
        copy->is_enabled = enabled != 0;
    let_go(executable);
    return result;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node, unsigned int *enabled)
{
    struct executable *executable;
    struct bcu_node *copy;
    if (enabled == NULL)
        return bcu_fail_null("isEnabled");
    CUresult result = take(handle, node, &executable, &copy);
    if (result != CUDA_SUCCESS)
        return result;
    if (copy == NULL)
        result = fail_absent();
    else
        *enabled = copy->is_enabled;
    let_go(executable);
    return result;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo *info)
{
    struct executable *executable;
    struct bcu_graph *graph, *copy = NULL;
    if (info == NULL)
        return bcu_fail_null("resultInfo");
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    CUresult result = bcu_graph_acquire(graph_handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_resource_acquire(handle, BCU_EXECUTABLE, &executable);
    if (result == CUDA_SUCCESS) {
        blr_mutex_lock(&executable->mutex);
        if (!is_alike(executable->graph, graph)) {
            info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
            result = bcu_fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graphs differ in their nodes");
        } else {
            result = bcu_graph_clone(graph, &copy, NULL);
        }
        if (result == CUDA_SUCCESS) {
            struct bcu_graph *before = executable->graph;
            executable->graph = copy;
            bcu_resource_close(&before->resource);
        }
        let_go(executable);
    }
    bcu_graph_release(graph);
    return result;
}

CUresult cuGraphExecUpdate(CUgraphExec handle, CUgraph graph, CUgraphNode *node, CUgraphExecUpdateResult *update)
{
    CUgraphExecUpdateResultInfo info;
    if (update == NULL)
        return bcu_fail_null("updateResult_out");
    CUresult result = cuGraphExecUpdate_v2(handle, graph, &info);
    *update = info.result;
    if (node != NULL)
        *node = NULL;
    return result;
}
