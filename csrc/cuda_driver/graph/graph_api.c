/* The functions that create, copy, question and destroy graphs. */
#include "cuda_driver/graph/graph.h"

#include "cuda_driver/driver/driver.h"

CUresult cuGraphCreate(CUgraph *handle, unsigned int flags)
{
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || flags != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "phGraph is NULL, or flags are not 0");
    return bcu_graph_new(NULL, handle);
}

CUresult cuGraphDestroy(CUgraph handle) { return bcu_resource_destroy(handle, BCU_GRAPH); }

CUresult cuGraphClone(CUgraph *handle, CUgraph original)
{
    struct bcu_graph *graph, *clone;
    if (handle == NULL)
        return bcu_fail_null("phGraphClone");
    CUresult result = bcu_graph_acquire(original, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_graph_clone(graph, &clone, handle);
    bcu_graph_release(graph);
    return result;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *handle, CUgraphNode original, CUgraph clone_handle)
{
    struct bcu_graph *clone;
    CUresult result = bcu_graph_acquire(clone_handle, &clone);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "the graph has no copy of the node");
    for (struct bcu_node *node = clone->first; node != NULL && handle != NULL; node = node->next)
        if (node->source == blr_handle_id(original)) {
            *handle = bcu_handle(&node->resource);
            result = CUDA_SUCCESS;
        }
    bcu_graph_release(clone);
    return result;
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type)
{
    struct bcu_node *node;
    if (type == NULL)
        return bcu_fail_null("type");
    CUresult result = bcu_resource_acquire(handle, BCU_NODE, &node);
    if (result != CUDA_SUCCESS)
        return result;
    *type = node->child != NULL ? CU_GRAPH_NODE_TYPE_GRAPH : node->command != NULL ? node->command->type : CU_GRAPH_NODE_TYPE_EMPTY;
    bcu_resource_release(&node->resource);
    return CUDA_SUCCESS;
}

/* Lists nodes: room is the length of the array, then the number of nodes. */
static CUresult list_nodes(struct bcu_graph *graph, bool roots, CUgraphNode *nodes, size_t *room)
{
    size_t count = 0;
    if (room == NULL)
        return bcu_fail_null("numNodes");
    for (struct bcu_node *node = graph->first; node != NULL; node = node->next) {
        if (roots && node->dependencies.count > 0)
            continue;
        if (nodes != NULL && count < *room)
            nodes[count] = bcu_handle(&node->resource);
        count++;
    }
    for (size_t i = count; nodes != NULL && i < *room; i++)
        nodes[i] = NULL;
    if (nodes == NULL || count < *room)
        *room = count;
    return CUDA_SUCCESS;
}

static CUresult list_of(CUgraph handle, bool roots, CUgraphNode *nodes, size_t *room)
{
    struct bcu_graph *graph;
    CUresult result = bcu_graph_acquire(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    result = list_nodes(graph, roots, nodes, room);
    bcu_graph_release(graph);
    return result;
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *room) { return list_of(handle, false, nodes, room); }
CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode *nodes, size_t *room) { return list_of(handle, true, nodes, room); }

CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, size_t *room)
{
    struct bcu_graph *graph;
    size_t count = 0;
    if (room == NULL || (from == NULL) != (to == NULL))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "numEdges, or one of the arrays is NULL");
    CUresult result = bcu_graph_acquire(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    for (struct bcu_node *node = graph->first; node != NULL; node = node->next)
        for (size_t i = 0; i < node->dependencies.count; i++, count++)
            if (from != NULL && count < *room) {
                from[count] = bcu_handle(&node->dependencies.nodes[i]->resource);
                to[count] = bcu_handle(&node->resource);
            }
    if (from == NULL || count < *room)
        *room = count;
    bcu_graph_release(graph);
    return CUDA_SUCCESS;
}

/* Data of edges: all are plain. */
static void clear_data(CUgraphEdgeData *data, const size_t *count)
{
    for (size_t i = 0; data != NULL && i < *count; i++)
        data[i] = (CUgraphEdgeData){0};
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *room)
{
    CUresult result = cuGraphGetEdges(handle, from, to, room);
    if (result == CUDA_SUCCESS && from != NULL)
        clear_data(data, room);
    return result;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode *nodes, size_t *room)
{
    struct bcu_node *node;
    if (room == NULL)
        return bcu_fail_null("numDependencies");
    CUresult result = bcu_resource_acquire(handle, BCU_NODE, &node);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t i = 0; nodes != NULL && i < *room; i++)
        nodes[i] = i < node->dependencies.count ? bcu_handle(&node->dependencies.nodes[i]->resource) : NULL;
    if (nodes == NULL || node->dependencies.count < *room)
        *room = node->dependencies.count;
    bcu_resource_release(&node->resource);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *room)
{
    CUresult result = cuGraphNodeGetDependencies(handle, nodes, room);
    if (result == CUDA_SUCCESS && nodes != NULL)
        clear_data(data, room);
    return result;
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode *nodes, size_t *room)
{
    struct bcu_node *node;
    size_t count = 0;
    if (room == NULL)
        return bcu_fail_null("numDependentNodes");
    CUresult result = bcu_resource_acquire(handle, BCU_NODE, &node);
    if (result != CUDA_SUCCESS)
        return result;
    for (struct bcu_node *other = node->graph->first; other != NULL; other = other->next)
        for (size_t i = 0; i < other->dependencies.count; i++)
            if (other->dependencies.nodes[i] == node) {
                if (nodes != NULL && count < *room)
                    nodes[count] = bcu_handle(&other->resource);
                count++;
            }
    if (nodes == NULL || count < *room)
        *room = count;
    bcu_resource_release(&node->resource);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *room)
{
    CUresult result = cuGraphNodeGetDependentNodes(handle, nodes, room);
    if (result == CUDA_SUCCESS && nodes != NULL)
        clear_data(data, room);
    return result;
}

CUresult cuGraphDestroyNode(CUgraphNode handle)
{
    struct bcu_node *node;
    CUresult result = bcu_resource_acquire(handle, BCU_NODE, &node);
    if (result != CUDA_SUCCESS)
        return result;
    bcu_node_remove(node);
    bcu_resource_release(&node->resource);
    return CUDA_SUCCESS;
}

static CUresult change_edges(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to, size_t count, bool adds)
{
    struct bcu_graph *graph;
    if (count > 0 && (from == NULL || to == NULL))
        return bcu_fail_null("from or to");
    CUresult result = bcu_graph_acquire(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        struct bcu_node *before = NULL, *after = NULL;
        result = bcu_resource_acquire(from[i], BCU_NODE, &before);
        if (result == CUDA_SUCCESS)
            result = bcu_resource_acquire(to[i], BCU_NODE, &after);
        if (result == CUDA_SUCCESS && (before->graph != graph || after->graph != graph || before == after))
            result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "edge %zu is not between two nodes of the graph", i);
        if (result == CUDA_SUCCESS && !adds)
            bcu_list_remove(&after->dependencies, before);
        else if (result == CUDA_SUCCESS && !bcu_list_add(&after->dependencies, before))
            result = bcu_fail_memory("an edge");
        if (before != NULL)
            bcu_resource_release(&before->resource);
        if (after != NULL)
            bcu_resource_release(&after->resource);
    }
    bcu_graph_release(graph);
    return result;
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return change_edges(graph, from, to, count, true);
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data, size_t count)
{
    (void)data;
    return change_edges(graph, from, to, count, true);
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return change_edges(graph, from, to, count, false);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
                                      size_t count)
{
    (void)data;
    return change_edges(graph, from, to, count, false);
}
