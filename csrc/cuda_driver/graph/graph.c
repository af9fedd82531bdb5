/* Graphs: life, nodes, dependencies and copies. */
#include "cuda_driver/graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- lists */

bool bcu_list_add(struct bcu_node_list *list, struct bcu_node *node)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->nodes[i] == node)
            return true;
    struct bcu_node **longer = realloc(list->nodes, (list->count + 1) * sizeof *longer);
    if (longer == NULL)
        return false;
    list->nodes = longer;
    longer[list->count++] = node;
    return true;
}

bool bcu_list_copy(struct bcu_node_list *list, const struct bcu_node_list *from)
{
    *list = (struct bcu_node_list){0};
    for (size_t i = 0; i < from->count; i++)
        if (!bcu_list_add(list, from->nodes[i])) {
            bcu_list_clear(list);
            return false;
        }
    return true;
}

void bcu_list_remove(struct bcu_node_list *list, const struct bcu_node *node)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->nodes[i] != node)
            list->nodes[count++] = list->nodes[i];
    list->count = count;
}

void bcu_list_clear(struct bcu_node_list *list)
{
    free(list->nodes);
    *list = (struct bcu_node_list){0};
}

/* ---------------------------------------------------------------- nodes */

static void delete_command(struct bcu_command *command)
{
    if (command == NULL)
        return;
    if (command->release != NULL)
        command->release(command);
    blr_delete(command);
}

static CUresult copy_command(const struct bcu_command *command, struct bcu_command **copy)
{
    *copy = NULL;
    if (command == NULL)
        return CUDA_SUCCESS;
    struct bcu_command *twin = blr_new(command->size);
    if (twin == NULL)
        return bcu_fail_memory("a node of a graph");
    memcpy(twin, command, command->size);
    CUresult result = twin->retain != NULL ? twin->retain(twin) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        blr_delete(twin);
    else
        *copy = twin;
    return result;
}

static void release_node(struct bcu_resource *resource)
{
    struct bcu_node *node = (struct bcu_node *)resource;
    delete_command(node->command);
    blr_delete(node->pointers);
    if (node->child != NULL)
        bcu_resource_close(&node->child->resource);
    bcu_list_clear(&node->dependencies);
    blr_delete(node);
}

CUresult bcu_node_set_command(struct bcu_node *node, const struct bcu_command *command)
{
    struct bcu_command *copy;
    CUresult result = copy_command(command, &copy);
    if (result != CUDA_SUCCESS)
        return result;
    delete_command(node->command);
    node->command = copy;
    return CUDA_SUCCESS;
}

void bcu_node_remove(struct bcu_node *node)
{
    struct bcu_graph *graph = node->graph;
    struct bcu_node **link = &graph->first;
    for (struct bcu_node *other = graph->first; other != NULL; other = other->next)
        bcu_list_remove(&other->dependencies, node);
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    if (graph->last == &node->next)
        graph->last = link;
    graph->count--;
    bcu_resource_close(&node->resource);
}

CUresult bcu_graph_add(struct bcu_graph *graph, const struct bcu_command *command, struct bcu_graph *child,
                       const struct bcu_node_list *dependencies, struct bcu_node **added)
{
    struct bcu_node *node = blr_new(sizeof *node);
    if (node == NULL)
        return bcu_fail_memory("a node of a graph");
    CUresult result = copy_command(command, &node->command);
    if (result == CUDA_SUCCESS && !bcu_list_copy(&node->dependencies, dependencies))
        result = bcu_fail_memory("the dependencies of a node");
    if (result == CUDA_SUCCESS && child != NULL)
        result = bcu_graph_clone(child, &node->child, NULL);
    if (result != CUDA_SUCCESS) {
        release_node(&node->resource);
        return result;
    }
    node->is_enabled = true;
    node->graph = graph;
    result = bcu_resource_register(&node->resource, BCU_NODE, NULL, release_node, NULL);
    if (result != CUDA_SUCCESS)
        return result;
    node->source = node->resource.object.id;
    *graph->last = node;
    graph->last = &node->next;
    graph->count++;
    *added = node;
    return CUDA_SUCCESS;
}

/* ---------------------------------------------------------------- graphs */

static void release_graph(struct bcu_resource *resource)
{
    struct bcu_graph *graph = (struct bcu_graph *)resource;
    for (struct bcu_node *node = graph->first, *next; node != NULL; node = next) {
        next = node->next;
        bcu_resource_close(&node->resource);
    }
    bcu_objects_release(&graph->objects);
    blr_delete(graph);
}

CUresult bcu_graph_new(struct bcu_graph **graph, CUgraph *handle)
{
    struct bcu_graph *own_graph = blr_new(sizeof *own_graph);
    if (own_graph == NULL)
        return bcu_fail_memory("a graph");
    own_graph->last = &own_graph->first;
    CUresult result = bcu_resource_register(&own_graph->resource, BCU_GRAPH, NULL, release_graph, handle);
    if (result == CUDA_SUCCESS && graph != NULL)
        *graph = own_graph;
    return result;
}

CUresult bcu_graph_acquire(CUgraph handle, struct bcu_graph **graph) { return bcu_resource_acquire(handle, BCU_GRAPH, graph); }

bool bcu_graph_has_objects(const struct bcu_graph *graph)
{
    bool any = graph->objects != NULL;
    for (const struct bcu_node *node = graph->first; node != NULL && !any; node = node->next)
        any = node->child != NULL && bcu_graph_has_objects(node->child);
    return any;
}

CUresult bcu_graph_clone(struct bcu_graph *graph, struct bcu_graph **clone, CUgraph *handle)
{
    struct bcu_graph *own_graph;
    CUgraph own;
    CUresult result = bcu_graph_new(&own_graph, &own);
    if (result != CUDA_SUCCESS)
        return result;
    for (struct bcu_node *node = graph->first; node != NULL && result == CUDA_SUCCESS; node = node->next) {
        result = bcu_graph_add(own_graph, node->command, node->child, &(struct bcu_node_list){0}, &node->clone);
        if (result == CUDA_SUCCESS) {
            node->clone->source = node->source;
            node->clone->is_enabled = node->is_enabled;
        }
    }
    for (struct bcu_node *node = graph->first; node != NULL && result == CUDA_SUCCESS; node = node->next)
        for (size_t i = 0; i < node->dependencies.count; i++)
            if (!bcu_list_add(&node->clone->dependencies, node->dependencies.nodes[i]->clone))
                result = bcu_fail_memory("the dependencies of a node");
    if (result == CUDA_SUCCESS)
        result = bcu_objects_copy(&own_graph->objects, graph->objects);
    if (result != CUDA_SUCCESS) {
        bcu_resource_close(&own_graph->resource);
        return result;
    }
    *clone = own_graph;
    if (handle != NULL)
        *handle = own;
    return CUDA_SUCCESS;
}

/* Nodes are visited as soon as all that they depend on were: `clone` marks a visited node by its own address. */
CUresult bcu_graph_walk(struct bcu_graph *graph, CUresult (*visit)(struct bcu_node *node, void *argument), void *argument)
{
    CUresult result = CUDA_SUCCESS;
    size_t done = 0;
    for (struct bcu_node *node = graph->first; node != NULL; node = node->next)
        node->clone = NULL;
    for (bool any = true; any && result == CUDA_SUCCESS;) {
        any = false;
        for (struct bcu_node *node = graph->first; node != NULL && result == CUDA_SUCCESS; node = node->next) {
            bool ready = node->clone == NULL;
            for (size_t i = 0; i < node->dependencies.count && ready; i++)
                ready = node->dependencies.nodes[i]->clone != NULL;
            if (!ready)
                continue;
            node->clone = node;
            any = true;
            done++;
            if (node->is_enabled)
                result = node->child != NULL ? bcu_graph_walk(node->child, visit, argument) : visit(node, argument);
        }
    }
    if (result == CUDA_SUCCESS && done < graph->count)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "the nodes of the graph depend on each other in a circle");
    return result;
}
