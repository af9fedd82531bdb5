/* Drafts: the command or child graph that the parameters of a node describe. */
#ifndef BINDLESS_CUDA_DRIVER_GRAPH_DRAFT_H
#define BINDLESS_CUDA_DRIVER_GRAPH_DRAFT_H

#include "cuda_driver/graph/graph.h"
#include "cuda_driver/memory/copy.h"
#include "cuda_driver/memory/fill.h"
#include "cuda_driver/stream/event.h"
#include "cuda_driver/stream/host_function.h"

struct bcu_draft {
    const struct bcu_command *command; /* NULL of an empty node and of a child */
    struct bcu_graph *child;           /* retained, or NULL */
    union {
        struct bcu_copy_command copy;
        struct bcu_fill_command fill;
        struct bcu_host_command host;
        struct bcu_event_command event;
    } own;
    struct bcu_launch_command *launch; /* owned, or NULL */
    struct bcu_event *event;           /* retained, or NULL */
};

/* Checks the parameters; bcu_draft_end ends what this begins. */
CUresult bcu_draft_begin(const CUgraphNodeParams *parameters, struct bcu_draft *draft);
void bcu_draft_end(struct bcu_draft *draft);

/* Gives a node the command of a draft of its kind. */
CUresult bcu_draft_replace(const struct bcu_draft *draft, struct bcu_node *node);

/* The parameters of a node of each kind, as one type. */
CUgraphNodeParams bcu_kernel_parameters(const CUDA_KERNEL_NODE_PARAMS *parameters);
CUDA_KERNEL_NODE_PARAMS bcu_widen_kernel(const CUDA_KERNEL_NODE_PARAMS_v1 *parameters);
CUgraphNodeParams bcu_copy_parameters(const CUDA_MEMCPY3D *parameters);
CUgraphNodeParams bcu_fill_parameters(const CUDA_MEMSET_NODE_PARAMS *parameters);
CUgraphNodeParams bcu_host_parameters(const CUDA_HOST_NODE_PARAMS *parameters);
CUgraphNodeParams bcu_event_parameters(CUevent event, bool record);

#endif
