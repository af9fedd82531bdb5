/*
 * What the driver tells of its objects: whose context a stream is of, a function's module, the state of primary contexts.
 * A context of its own (cuCtxCreate) is one more of a device.
 */
static context others[16];
static int other_count;

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    ENTER("cuDevicePrimaryCtxGetState");
    *flags = 0;
    *active = contexts[device].retained > 0;
    return 0;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    ENTER("cuDevicePrimaryCtxRelease");
    if (!contexts[device].retained) return CUDA_ERROR_INVALID_CONTEXT;
    contexts[device].retained--;
    note("cuDevicePrimaryCtxRelease");
    return 0;
}
EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }
EXPORT CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device)
{
    ENTER("cuCtxCreate");
    (void)flags;
    if (other_count == 16 || depth == MOST_PUSHED) return CUDA_ERROR_OUT_OF_MEMORY;
    others[other_count].device = device;
    stack[depth++] = current;
    current = &others[other_count++];
    *out = (CUcontext)current;
    return 0;
}
EXPORT CUresult cuCtxDestroy_v2(CUcontext context_) { ENTER("cuCtxDestroy"); (void)context_; return 0; }
EXPORT CUresult cuStreamGetCtx(CUstream h, CUcontext *out)
{
    ENTER_CONTEXT("cuStreamGetCtx");
    stream *s = (stream *)h;
    if ((uintptr_t)h > 2 && !s->alive) return CUDA_ERROR_INVALID_HANDLE;
    *out = (CUcontext)((uintptr_t)h > 2 ? s->owner : current);
    return 0;
}
static CUstream capturing;
EXPORT void fake_capture(CUstream h) { capturing = h; }
EXPORT CUresult cuStreamIsCapturing(CUstream h, CUstreamCaptureStatus *out)
{
    ENTER_CONTEXT("cuStreamIsCapturing");
    const int own = recorded && real(h) == recorded;
    *out = own && recording->invalid                ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
           : own || (capturing && h == capturing) ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                  : CU_STREAM_CAPTURE_STATUS_NONE;
    return 0;
}
EXPORT CUresult cuFuncGetModule(CUmodule *out, CUfunction f)
{
    ENTER_CONTEXT("cuFuncGetModule");
    *out = (CUmodule)((function *)f)->module;
    return 0;
}
EXPORT CUresult cuFuncGetName(const char **out, CUfunction f)
{
    ENTER_CONTEXT("cuFuncGetName");
    *out = ((function *)f)->name;
    return 0;
}
EXPORT CUresult cuPointerGetAttribute(void *out, CUpointer_attribute attribute, CUdeviceptr address)
{
    ENTER_CONTEXT("cuPointerGetAttribute");
    allocation *a = allocation_of(address);
    if (!a) return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_POINTER_ATTRIBUTE_CONTEXT) *(CUcontext *)out = (CUcontext)a->owner;
    else if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) *(unsigned *)out = a->kind == 2 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    else if (attribute == CU_POINTER_ATTRIBUTE_IS_MANAGED) *(unsigned *)out = a->kind == 3;
    else return CUDA_ERROR_INVALID_VALUE;
    return 0;
}
EXPORT CUresult cuStreamBeginCapture_v2(CUstream h, CUstreamCaptureMode mode)
{
    ENTER_CONTEXT("cuStreamBeginCapture");
    if (recorded || mode != CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    recorded = real(h);
    recording = calloc(1, sizeof *recording);
    return 0;
}
EXPORT CUresult cuStreamEndCapture(CUstream h, CUgraph *out)
{
    ENTER_CONTEXT("cuStreamEndCapture");
    if (real(h) != recorded) return CUDA_ERROR_INVALID_VALUE;
    recorded = NULL;
    *out = recording->invalid ? NULL : (CUgraph)recording;
    return recording->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : 0;
}
EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
    ENTER_CONTEXT("cuGraphInstantiate");
    (void)flags;
    graph *made = calloc(1, sizeof *made), *from = (graph *)g;
    made->count = from->count;
    made->commands = malloc(sizeof *made->commands * (size_t)(from->count + 1));
    memcpy(made->commands, from->commands, sizeof *made->commands * (size_t)from->count);
    *out = (CUgraphExec)made;
    note("cuGraphInstantiate");
    return 0;
}
EXPORT CUresult cuGraphInstantiate(CUgraphExec *out, CUgraph g, unsigned long long flags) { return cuGraphInstantiateWithFlags(out, g, flags); }
static CUresult free_graph(graph *g, const char *name) { free(g->commands); free(g); note(name); return 0; }
EXPORT CUresult cuGraphDestroy(CUgraph g) { return free_graph((graph *)g, "cuGraphDestroy"); }
EXPORT CUresult cuGraphExecDestroy(CUgraphExec g) { return free_graph((graph *)g, "cuGraphExecDestroy"); }
EXPORT CUresult cuGraphLaunch(CUgraphExec g, CUstream s)
{
    ENTER_CONTEXT("cuGraphLaunch");
    graph *made = (graph *)g;
    note("cuGraphLaunch");
    for (int i = 0; i < made->count; i++) {
        CUresult result = put((stream *)s, made->commands[i]);
        if (result) return result;
    }
    return 0;
}
