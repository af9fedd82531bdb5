/* Drafts of nodes. */
#include "cuda_driver/graph/draft.h"

#include "cuda_driver/module/launch.h"

static CUresult begin_event(CUevent handle, bool record, struct bcu_draft *draft)
{
    CUresult result = bcu_resource_acquire(handle, BCU_EVENT, &draft->event);
    if (result != CUDA_SUCCESS)
        return result;
    draft->own.event = record ? bcu_event_record_command(draft->event) : bcu_event_wait_command(draft->event);
    draft->command = &draft->own.event.command;
    return CUDA_SUCCESS;
}

CUresult bcu_draft_begin(const CUgraphNodeParams *parameters, struct bcu_draft *draft)
{
    CUresult result = CUDA_SUCCESS;
    *draft = (struct bcu_draft){0};
    switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        const CUDA_KERNEL_NODE_PARAMS_v3 *k = &parameters->kernel;
        const CUDA_KERNEL_NODE_PARAMS kernel = {k->func, k->gridDimX, k->gridDimY, k->gridDimZ, k->blockDimX, k->blockDimY, k->blockDimZ,
                                                k->sharedMemBytes, k->kernelParams, k->extra, k->kern, k->ctx};
        result = bcu_launch_of_node(&kernel, &draft->launch);
        if (result == CUDA_SUCCESS)
            draft->command = &draft->launch->command;
        return result;
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        result = bcu_copy_begin(&parameters->memcpy.copyParams, &draft->own.copy);
        if (result == CUDA_SUCCESS)
            draft->command = &draft->own.copy.command;
        return result;
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        const CUDA_MEMSET_NODE_PARAMS_v2 *m = &parameters->memset;
        const CUDA_MEMSET_NODE_PARAMS fill = {m->dst, m->pitch, m->value, m->elementSize, m->width, m->height};
        result = bcu_fill_command(&fill, &draft->own.fill);
        if (result == CUDA_SUCCESS)
            draft->command = &draft->own.fill.command;
        return result;
    }
    case CU_GRAPH_NODE_TYPE_HOST:
        if (parameters->host.fn == NULL)
            return bcu_fail_null("fn");
        draft->own.host = bcu_host_command(parameters->host.fn, parameters->host.userData);
        draft->command = &draft->own.host.command;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH: return bcu_graph_acquire(parameters->graph.graph, &draft->child);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return begin_event(parameters->eventRecord.event, true, draft);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return begin_event(parameters->eventWait.event, false, draft);
    default: return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "nodes of type %d", (int)parameters->type);
    }
}

void bcu_draft_end(struct bcu_draft *draft)
{
    if (draft->command != NULL && draft->command->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        bcu_copy_end(&draft->own.copy);
    if (draft->launch != NULL)
        bcu_launch_delete(draft->launch);
    if (draft->event != NULL)
        bcu_resource_release(&draft->event->resource);
    if (draft->child != NULL)
        bcu_graph_release(draft->child);
}

CUresult bcu_draft_replace(const struct bcu_draft *draft, struct bcu_node *node)
{
    if (draft->command == NULL || node->command == NULL || draft->command->type != node->command->type)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the node is of another kind than its new parameters");
    if (draft->launch != NULL) /* the parameters do not say it */
        draft->launch->is_cooperative = ((const struct bcu_launch_command *)node->command)->is_cooperative;
    return bcu_node_set_command(node, draft->command);
}

/* ---------------------------------------------------------------- one type of parameters */

CUgraphNodeParams bcu_kernel_parameters(const CUDA_KERNEL_NODE_PARAMS *p)
{
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_KERNEL,
                               .kernel = {p->func, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ,
                                          p->sharedMemBytes, p->kernelParams, p->extra, p->kern, p->ctx}};
}

CUDA_KERNEL_NODE_PARAMS bcu_widen_kernel(const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    return (CUDA_KERNEL_NODE_PARAMS){p->func, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ,
                                     p->sharedMemBytes, p->kernelParams, p->extra, NULL, NULL};
}

CUgraphNodeParams bcu_copy_parameters(const CUDA_MEMCPY3D *p)
{
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy = {.copyParams = *p}};
}

CUgraphNodeParams bcu_fill_parameters(const CUDA_MEMSET_NODE_PARAMS *p)
{
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMSET, .memset = {p->dst, p->pitch, p->value, p->elementSize, p->width, p->height, NULL}};
}

CUgraphNodeParams bcu_host_parameters(const CUDA_HOST_NODE_PARAMS *p)
{
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_HOST, .host = {.fn = p->fn, .userData = p->userData}};
}

CUgraphNodeParams bcu_event_parameters(CUevent event, bool record)
{
    CUgraphNodeParams parameters = {.type = record ? CU_GRAPH_NODE_TYPE_EVENT_RECORD : CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    if (record)
        parameters.eventRecord.event = event;
    else
        parameters.eventWait.event = event;
    return parameters;
}
