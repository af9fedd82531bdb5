/* Modules, links, kernels and launches of the fake CUDA driver: a part of fake_cuda.c. */

EXPORT CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, CUjit_option *options, void **values)
{
    ENTER_CONTEXT("cuModuleLoadDataEx");
    char line[64];
    for (unsigned i = 0; i < count; i++) {
        snprintf(line, sizeof line, "jit option %d", options[i]);
        note(line);
    }
    if (strstr(image, "syntax error")) {
        for (unsigned i = 0; i < count; i++)
            if (options[i] == CU_JIT_ERROR_LOG_BUFFER) strcpy(values[i], "ptxas fatal: line 7: what is this?");
        return CUDA_ERROR_INVALID_PTX;
    }
    module *m = calloc(1, sizeof *m);
    m->owner = current;
    m->text = strdup(image);
    *out = (CUmodule)m;
    return 0;
}
/* A link is the text of its inputs; one that calls a function which none of them has does not end well. */
typedef struct linkage { char *text, *log; } linkage;
static int live_links;
EXPORT int fake_live_links(void) { return live_links; }
EXPORT CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *out)
{
    ENTER_CONTEXT("cuLinkCreate");
    linkage *link = calloc(1, sizeof *link);
    link->text = strdup("");
    for (unsigned i = 0; i < count; i++)
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER) link->log = values[i];
    *out = (CUlinkState)link;
    live_links++;
    return 0;
}
EXPORT CUresult cuLinkAddData_v2(CUlinkState h, CUjitInputType type, void *data, size_t size, const char *name, unsigned count, CUjit_option *options, void **values)
{
    (void)name, (void)count, (void)options, (void)values;
    ENTER_CONTEXT("cuLinkAddData");
    linkage *link = (linkage *)h;
    char line[64];
    snprintf(line, sizeof line, "cuLinkAddData %d %zu", type, size);
    note(line);
    if (strstr(data, "syntax error")) {
        strcpy(link->log, "ptxas fatal: line 7: what is this?");
        return CUDA_ERROR_INVALID_PTX;
    }
    link->text = realloc(link->text, strlen(link->text) + strlen(data) + 1);
    strcat(link->text, data);
    return 0;
}
EXPORT CUresult cuLinkComplete(CUlinkState h, void **out, size_t *size)
{
    ENTER_CONTEXT("cuLinkComplete");
    linkage *link = (linkage *)h;
    if (strstr(link->text, ".extern .func") && !strstr(link->text, ".visible .func")) {
        strcpy(link->log, "error: undefined reference");
        return CUDA_ERROR_NOT_FOUND;
    }
    *out = link->text;
    *size = strlen(link->text);
    note("cuLinkComplete");
    return 0;
}
EXPORT CUresult cuLinkDestroy(CUlinkState h) { ENTER_CONTEXT("cuLinkDestroy"); free(((linkage *)h)->text); free((void *)h); live_links--; return 0; }
EXPORT CUresult cuModuleLoadData(CUmodule *out, const void *image) { return cuModuleLoadDataEx(out, image, 0, NULL, NULL); }
EXPORT CUresult cuModuleUnload(CUmodule h) { ENTER_CONTEXT("cuModuleUnload"); free(((module *)h)->text); free((void *)h); note("cuModuleUnload"); return 0; }
EXPORT CUresult cuModuleGetFunction(CUfunction *out, CUmodule h, const char *name)
{
    ENTER_CONTEXT("cuModuleGetFunction");
    module *m = (module *)h;
    char entry[160];
    snprintf(entry, sizeof entry, ".entry %s", name);
    if (!strstr(m->text, entry)) return CUDA_ERROR_NOT_FOUND;
    function *f = calloc(1, sizeof *f);
    f->module = m;
    snprintf(f->name, sizeof f->name, "%s", name);
    *out = (CUfunction)f;
    return 0;
}
EXPORT CUresult cuFuncGetAttribute(int *out, CUfunction_attribute attribute, CUfunction f) { (void)f; *out = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 768 : attribute * 10; return 0; }
EXPORT CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value)
{
    char line[192];
    snprintf(line, sizeof line, "cuFuncSetAttribute %s %d %d", ((function *)f)->name, attribute, value);
    note(line);
    return 0;
}
EXPORT CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, CUoccupancyB2DSize size, size_t bytes, int limit) { (void)f, (void)size, (void)bytes, (void)limit; *grid = 264; *block = 512; return 0; }
EXPORT CUresult cuLaunchKernel(CUfunction h, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **parameters, void **extra)
{
    ENTER_CONTEXT("cuLaunchKernel");
    function *f = (function *)h;
    if (extra || f->module->owner != real(s)->owner) return CUDA_ERROR_INVALID_VALUE;
    char line[2048];
    int used = snprintf(line, sizeof line, "cuLaunchKernel %s %u %u %u %u %u %u shared %u:", f->name, gx, gy, gz, bx, by, bz, shared);
    for (int i = 0; i < parameter_count && parameters; i++) {
        used += snprintf(line + used, sizeof line - (size_t)used, " ");
        for (size_t b = 0; b < parameter_sizes[i]; b++) used += snprintf(line + used, sizeof line - (size_t)used, "%02x", ((unsigned char *)parameters[i])[b]);
    }
    note(line);
    command c = {.kind = KERNEL};
    if (work.bytes) {
        uint64_t count;
        memcpy(&c.src, parameters[work.from], sizeof c.src);
        memcpy(&c.dst, parameters[work.to], sizeof c.dst);
        memcpy(&count, parameters[work.count], sizeof count);
        c = (command){.kind = COPY, .src = c.src, .dst = c.dst, .bytes = count * work.bytes};
    }
    return put((stream *)s, c);
}
