/* Graphs: nodes in the order of their creation, each with a command and the nodes that it depends on. */
#ifndef BINDLESS_CUDA_DRIVER_GRAPH_GRAPH_H
#define BINDLESS_CUDA_DRIVER_GRAPH_GRAPH_H

#include "cuda_driver/graph/user_object.h"
#include "cuda_driver/stream/command.h"

struct bcu_graph;

struct bcu_node_list {
    struct bcu_node **nodes; /* not retained: nodes live as long as their graph */
    size_t count;
};

struct bcu_node {
    struct bcu_resource resource;
    struct bcu_graph *graph;
    struct bcu_node *next;         /* of the graph */
    struct bcu_command *command;   /* owned; NULL for an empty node */
    struct bcu_graph *child;       /* retained: of a child graph node, else NULL */
    struct bcu_node_list dependencies;
    struct bcu_node *clone;        /* while the graph is cloned: the node's copy */
    uint64_t source;               /* id of the node that this one is a copy of, or of itself */
    bool is_enabled;
    void **pointers;               /* to the parameters of a kernel, as they were asked for last; owned */
};

struct bcu_graph {
    struct bcu_resource resource;
    struct bcu_node *first, **last;
    size_t count;
    struct bcu_object_use *objects; /* owned */
};

bool bcu_list_add(struct bcu_node_list *list, struct bcu_node *node); /* false without memory; a set */
bool bcu_list_copy(struct bcu_node_list *list, const struct bcu_node_list *from);
void bcu_list_remove(struct bcu_node_list *list, const struct bcu_node *node);
void bcu_list_clear(struct bcu_node_list *list);

CUresult bcu_graph_new(struct bcu_graph **graph, CUgraph *handle);
CUresult bcu_graph_acquire(CUgraph handle, struct bcu_graph **graph);
static inline void bcu_graph_release(struct bcu_graph *graph) { bcu_resource_release(&graph->resource); }

/* Adds a node with a copy of the command, which may be NULL, and the dependencies. */
CUresult bcu_graph_add(struct bcu_graph *graph, const struct bcu_command *command, struct bcu_graph *child,
                       const struct bcu_node_list *dependencies, struct bcu_node **node);

/* Whether the graph or a child of it owns user objects. */
bool bcu_graph_has_objects(const struct bcu_graph *graph);

/* A copy of a graph, its nodes, and its references to user objects. */
CUresult bcu_graph_clone(struct bcu_graph *graph, struct bcu_graph **clone, CUgraph *handle);

/* Takes a node out of its graph, with its edges. */
void bcu_node_remove(struct bcu_node *node);

/* Replaces the command of a node by a copy of another. */
CUresult bcu_node_set_command(struct bcu_node *node, const struct bcu_command *command);

/* Calls a function for the enabled nodes in an order that obeys all dependencies, those of child graphs in their place. */
CUresult bcu_graph_walk(struct bcu_graph *graph, CUresult (*visit)(struct bcu_node *node, void *argument), void *argument);

#endif
