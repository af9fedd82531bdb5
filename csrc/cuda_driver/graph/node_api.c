/* The functions that add nodes to graphs, tell their parameters and replace them. */
#include "cuda_driver/graph/draft.h"
#include "cuda_driver/module/launch.h"

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

static CUresult add_by(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, const CUgraphNodeParams *parameters)
{
    struct bcu_draft draft;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUresult result = bcu_draft_begin(parameters, &draft);
    if (result == CUDA_SUCCESS)
        result = add(node, graph, dependencies, count, draft.command, draft.child);
    bcu_draft_end(&draft);
    return result;
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUgraphNodeParams *parameters)
{
    return add_by(node, graph, dependencies, count, parameters);
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *data, size_t count,
                           CUgraphNodeParams *parameters)
{
    (void)data;
    return add_by(node, graph, dependencies, count, parameters);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count)
{
    return add(node, graph, dependencies, count, NULL, NULL);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    const CUgraphNodeParams own = bcu_kernel_parameters(parameters);
    return add_by(node, graph, dependencies, count, &own);
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    const CUDA_KERNEL_NODE_PARAMS wide = bcu_widen_kernel(parameters);
    return cuGraphAddKernelNode_v2(node, graph, dependencies, count, &wide);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMCPY3D *parameters, CUcontext context)
{
    (void)context;
    if (parameters == NULL)
        return bcu_fail_null("copyParams");
    const CUgraphNodeParams own = bcu_copy_parameters(parameters);
    return add_by(node, graph, dependencies, count, &own);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context)
{
    (void)context;
    if (parameters == NULL)
        return bcu_fail_null("memsetParams");
    const CUgraphNodeParams own = bcu_fill_parameters(parameters);
    return add_by(node, graph, dependencies, count, &own);
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    const CUgraphNodeParams own = bcu_host_parameters(parameters);
    return add_by(node, graph, dependencies, count, &own);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUgraph child)
{
    const CUgraphNodeParams own = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {.graph = child}};
    return add_by(node, graph, dependencies, count, &own);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent event)
{
    const CUgraphNodeParams own = bcu_event_parameters(event, true);
    return add_by(node, graph, dependencies, count, &own);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent event)
{
    const CUgraphNodeParams own = bcu_event_parameters(event, false);
    return add_by(node, graph, dependencies, count, &own);
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

/* The pointers to the parameters last until the node ends or is asked again. */
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *parameters)
{
    struct bcu_node *node;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUresult result = acquire(handle, CU_GRAPH_NODE_TYPE_KERNEL, &node);
    if (result != CUDA_SUCCESS)
        return result;
    struct bcu_launch_command *launch = (struct bcu_launch_command *)node->command;
    const struct bindless_ptx_entry *entry = launch->function->entry;
    void **pointers = blr_new((entry->parameter_count + 1u) * sizeof *pointers);
    if (pointers == NULL) {
        result = bcu_fail_memory("the parameters of a node");
    } else {
        for (uint32_t i = 0; i < entry->parameter_count; i++)
            pointers[i] = launch->parameters + entry->parameters[i].offset;
        blr_delete(node->pointers);
        node->pointers = pointers;
        *parameters = (CUDA_KERNEL_NODE_PARAMS){bcu_handle(&launch->function->resource), launch->grid[0], launch->grid[1], launch->grid[2],
                                                launch->block[0], launch->block[1], launch->block[2], launch->shared, pointers, NULL, NULL, NULL};
    }
    bcu_resource_release(&node->resource);
    return result;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    CUDA_KERNEL_NODE_PARAMS p;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUresult result = cuGraphKernelNodeGetParams_v2(handle, &p);
    if (result == CUDA_SUCCESS)
        *parameters = (CUDA_KERNEL_NODE_PARAMS_v1){p.func, p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY, p.blockDimZ,
                                                   p.sharedMemBytes, p.kernelParams, NULL};
    return result;
}

/* A kernel that is cooperative, or has clusters of one block: no other attribute changes what runs here. */
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue *value)
{
    struct bcu_node *node;
    if (value == NULL)
        return bcu_fail_null("value_out");
    if (attribute <= CU_LAUNCH_ATTRIBUTE_IGNORE || attribute > CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "attribute %d of a node", (int)attribute);
    CUresult result = acquire(handle, CU_GRAPH_NODE_TYPE_KERNEL, &node);
    if (result != CUDA_SUCCESS)
        return result;
    *value = (CUkernelNodeAttrValue){0};
    if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        value->cooperative = ((const struct bcu_launch_command *)node->command)->is_cooperative;
    bcu_resource_release(&node->resource);
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute, const CUkernelNodeAttrValue *value)
{
    struct bcu_node *node;
    if (value == NULL)
        return bcu_fail_null("value");
    if (attribute != CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "attribute %d of a node", (int)attribute);
    CUresult result = acquire(handle, CU_GRAPH_NODE_TYPE_KERNEL, &node);
    if (result != CUDA_SUCCESS)
        return result;
    struct bcu_launch_command *launch = (struct bcu_launch_command *)node->command;
    if (value->cooperative != 0)
        result = bcu_launch_check_cooperative(launch);
    if (result == CUDA_SUCCESS)
        launch->is_cooperative = value->cooperative != 0;
    bcu_resource_release(&node->resource);
    return result;
}

static CUresult get_event(CUgraphNode handle, CUgraphNodeType type, CUevent *event)
{
    struct bcu_node *node;
    if (event == NULL)
        return bcu_fail_null("event_out");
    CUresult result = acquire(handle, type, &node);
    if (result != CUDA_SUCCESS)
        return result;
    *event = bcu_handle(&((const struct bcu_event_command *)node->command)->event->resource);
    bcu_resource_release(&node->resource);
    return CUDA_SUCCESS;
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event) { return get_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event); }
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event) { return get_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event); }

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *graph)
{
    struct bcu_node *node;
    if (graph == NULL)
        return bcu_fail_null("phGraph");
    CUresult result = bcu_resource_acquire(handle, BCU_NODE, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (node->child == NULL)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "the node has no graph");
    else
        *graph = bcu_handle(&node->child->resource);
    bcu_resource_release(&node->resource);
    return result;
}

CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams *parameters)
{
    struct bcu_draft draft;
    struct bcu_node *node;
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUresult result = bcu_resource_acquire(handle, BCU_NODE, &node);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_draft_begin(parameters, &draft);
    if (result == CUDA_SUCCESS)
        result = bcu_draft_replace(&draft, node);
    bcu_draft_end(&draft);
    bcu_resource_release(&node->resource);
    return result;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUgraphNodeParams own = bcu_kernel_parameters(parameters);
    return cuGraphNodeSetParams(node, &own);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    const CUDA_KERNEL_NODE_PARAMS wide = bcu_widen_kernel(parameters);
    return cuGraphKernelNodeSetParams_v2(node, &wide);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUgraphNodeParams own = bcu_copy_parameters(parameters);
    return cuGraphNodeSetParams(node, &own);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUgraphNodeParams own = bcu_fill_parameters(parameters);
    return cuGraphNodeSetParams(node, &own);
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *parameters)
{
    if (parameters == NULL)
        return bcu_fail_null("nodeParams");
    CUgraphNodeParams own = bcu_host_parameters(parameters);
    return cuGraphNodeSetParams(node, &own);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
    CUgraphNodeParams own = bcu_event_parameters(event, true);
    return cuGraphNodeSetParams(node, &own);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
    CUgraphNodeParams own = bcu_event_parameters(event, false);
    return cuGraphNodeSetParams(node, &own);
}
