/* The functions that add nodes to graphs. */
#include "cuda_driver/graph/graph.h"
#include "cuda_driver/memory/copy.h"
#include "cuda_driver/memory/fill.h"
#include "cuda_driver/module/launch.h"
#include "cuda_driver/stream/event.h"
#include "cuda_driver/stream/host_function.h"

static CUresult add(CUgraphNode *handle, CUgraph graph_handle, const CUgraphNode *dependencies, size_t count,
                    const struct bcu_command *command, struct bcu_graph *child)
{
    struct bcu_graph *graph;
    struct bcu_node_list list = {0};
    struct bcu_node *node;
    if (handle == NULL || (count > 0 && dependencies == NULL))
        return bcu_fail_null("phGraphNode or dependencies");
    CUresult result = bcu_graph_acquire(graph_handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        result = bcu_resource_acquire(dependencies[i], BCU_NODE, &node);
        if (result == CUDA_SUCCESS) {
            if (node->graph != graph)
                result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "dependency %zu is of another graph", i);
            else if (!bcu_list_add(&list, node))
                result = bcu_fail_memory("the dependencies of a node");
            bcu_resource_release(&node->resource);
        }
    }
    if (result == CUDA_SUCCESS)
        result = bcu_graph_add(graph, command, child, &list, &node);
    if (result == CUDA_SUCCESS)
        *handle = bcu_handle(&node->resource);
    bcu_list_clear(&list);
    bcu_graph_release(graph);
    return result;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count)
{
    return add(node, graph, dependencies, count, NULL, NULL);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    struct bcu_launch_command *launch;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUresult result = bcu_launch_of_node(parameters, &launch);
    if (result != CUDA_SUCCESS)
        return result;
    result = add(node, graph, dependencies, count, &launch->command, NULL);
    bcu_launch_delete(launch);
    return result;
}

static CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    return (CUDA_KERNEL_NODE_PARAMS){p->func, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ,
                                     p->sharedMemBytes, p->kernelParams, p->extra, NULL, NULL};
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUDA_KERNEL_NODE_PARAMS wide = widen(parameters);
    return cuGraphAddKernelNode_v2(node, graph, dependencies, count, &wide);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMCPY3D *parameters, CUcontext context)
{
    struct bcu_copy_command copy;
    (void)context;
    if (parameters == NULL)
        return bcu_fail_null("copyParams");
    CUresult result = bcu_copy_begin(parameters, &copy);
    if (result != CUDA_SUCCESS)
        return result;
    result = add(node, graph, dependencies, count, &copy.command, NULL);
    bcu_copy_end(&copy);
    return result;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context)
{
    struct bcu_fill_command fill;
    (void)context;
    if (parameters == NULL)
        return bcu_fail_null("memsetParams");
    CUresult result = bcu_fill_command(parameters, &fill);
    return result != CUDA_SUCCESS ? result : add(node, graph, dependencies, count, &fill.command, NULL);
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS *parameters)
{
    if (parameters == NULL || parameters->fn == NULL)
        return bcu_fail_null("nodeParams or fn");
    struct bcu_host_command command = bcu_host_command(parameters->fn, parameters->userData);
    return add(node, graph, dependencies, count, &command.command, NULL);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUgraph child_handle)
{
    struct bcu_graph *child;
    CUresult result = bcu_graph_acquire(child_handle, &child);
    if (result != CUDA_SUCCESS)
        return result;
    result = add(node, graph, dependencies, count, NULL, child);
    bcu_graph_release(child);
    return result;
}

static CUresult add_event(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent handle, bool record)
{
    struct bcu_event *event;
    CUresult result = bcu_resource_acquire(handle, BCU_EVENT, &event);
    if (result != CUDA_SUCCESS)
        return result;
    struct bcu_event_command command = record ? bcu_event_record_command(event) : bcu_event_wait_command(event);
    result = add(node, graph, dependencies, count, &command.command, NULL);
    bcu_resource_release(&event->resource);
    return result;
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent event)
{
    return add_event(node, graph, dependencies, count, event, true);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent event)
{
    return add_event(node, graph, dependencies, count, event, false);
}

/* ---------------------------------------------------------------- parameters */

/* A node of a kind, with its command. */
static CUresult acquire(CUgraphNode handle, CUgraphNodeType type, struct bcu_node **node)
{
    CUresult result = bcu_resource_acquire(handle, BCU_NODE, node);
    if (result == CUDA_SUCCESS && ((*node)->command == NULL || (*node)->command->type != type)) {
        bcu_resource_release(&(*node)->resource);
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "the node is of another kind");
    }
    return result;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *parameters)
{
    struct bcu_node *node;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUresult result = acquire(handle, CU_GRAPH_NODE_TYPE_MEMCPY, &node);
    if (result != CUDA_SUCCESS)
        return result;
    *parameters = ((struct bcu_copy_command *)node->command)->parameters;
    bcu_resource_release(&node->resource);
    return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *parameters)
{
    struct bcu_node *node;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUresult result = acquire(handle, CU_GRAPH_NODE_TYPE_MEMSET, &node);
    if (result != CUDA_SUCCESS)
        return result;
    *parameters = ((struct bcu_fill_command *)node->command)->parameters;
    bcu_resource_release(&node->resource);
    return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *parameters)
{
    struct bcu_node *node;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUresult result = acquire(handle, CU_GRAPH_NODE_TYPE_HOST, &node);
    if (result != CUDA_SUCCESS)
        return result;
    const struct bcu_host_command *host = (const struct bcu_host_command *)node->command;
    *parameters = (CUDA_HOST_NODE_PARAMS){host->function, host->data};
    bcu_resource_release(&node->resource);
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    struct bcu_node *node;
    struct bcu_launch_command *launch;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUresult result = acquire(handle, CU_GRAPH_NODE_TYPE_KERNEL, &node);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_launch_of_node(parameters, &launch);
    if (result == CUDA_SUCCESS) {
        result = bcu_node_set_command(node, &launch->command);
        bcu_launch_delete(launch);
    }
    bcu_resource_release(&node->resource);
    return result;
}
