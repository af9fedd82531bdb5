/* Arrays, textures and surfaces of the fake CUDA driver: a part of fake_cuda.c. */

static size_t pixel_size(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    size_t size = d->Format == CU_AD_FORMAT_UNSIGNED_INT8 || d->Format == CU_AD_FORMAT_SIGNED_INT8 ? 1
                  : d->Format == CU_AD_FORMAT_UNSIGNED_INT16 || d->Format == CU_AD_FORMAT_SIGNED_INT16 || d->Format == CU_AD_FORMAT_HALF ? 2 : 4;
    return size * d->NumChannels;
}
static int fill_array(array *a, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    a->owner = current;
    a->desc = *d;
    a->pixel = pixel_size(d);
    a->width = d->Width;
    a->height = d->Height ? d->Height : 1;
    a->depth = d->Depth ? d->Depth : 1;
    a->data = calloc(a->width * a->height * a->depth, a->pixel);
    return a->data != NULL;
}
static int array_allowed(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    int layered = d->Flags & CUDA_ARRAY3D_LAYERED, cube = d->Flags & CUDA_ARRAY3D_CUBEMAP, surface = d->Flags & CUDA_ARRAY3D_SURFACE_LDST;
    if (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4) return 0;
    if (!d->Width || (d->Depth && !d->Height && !layered)) return 0;
    if (cube && (d->Width != d->Height || d->Depth != 6)) return 0;
    if (d->Depth && !layered && !cube) return d->Width <= 16384 && d->Height <= 16384 && d->Depth <= 16384;
    if (!d->Height && !layered && surface) return d->Width <= 32768;
    return d->Width <= 131072 && d->Height <= 65536 && (!layered || d->Depth <= 2048);
}
static void note_array(const char *name, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels)
{
    char line[160];
    snprintf(line, sizeof line, "%s %zux%zux%zu format %d channels %u flags %u levels %u", name, d->Width, d->Height, d->Depth, d->Format, d->NumChannels, d->Flags, levels);
    note(line);
}
EXPORT CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    ENTER_CONTEXT("cuArray3DCreate");
    if (!array_allowed(d)) return CUDA_ERROR_INVALID_VALUE;
    array *a = calloc(1, sizeof *a);
    if (!fill_array(a, d)) return CUDA_ERROR_OUT_OF_MEMORY;
    live_arrays++;
    note_array("cuArray3DCreate", d, 1);
    *out = (CUarray)a;
    return 0;
}
EXPORT CUresult cuArrayDestroy(CUarray h) { ENTER_CONTEXT("cuArrayDestroy"); array *a = (array *)h; if (a->owner != current) return CUDA_ERROR_INVALID_HANDLE; free(a->data); free(a); live_arrays--; return 0; }
EXPORT CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray h) { *d = ((array *)h)->desc; return 0; }
static CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned i)
{
    CUDA_ARRAY3D_DESCRIPTOR level = *d;
    level.Width = d->Width >> i ? d->Width >> i : 1;
    level.Height = d->Height ? (d->Height >> i ? d->Height >> i : 1) : 0;
    level.Depth = d->Depth ? (d->Depth >> i ? d->Depth >> i : 1) : 0;
    return level;
}
EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels)
{
    ENTER_CONTEXT("cuMipmappedArrayCreate");
    if (!array_allowed(d) || d->Width > 32768) return CUDA_ERROR_INVALID_VALUE;
    array *a = calloc(1, sizeof *a);
    a->owner = current;
    a->levels = calloc(levels, sizeof *a);
    a->num_levels = levels;
    for (unsigned i = 0; i < levels; i++) {
        CUDA_ARRAY3D_DESCRIPTOR level = level_of(d, i);
        fill_array(&a->levels[i], &level);
    }
    live_arrays++;
    note_array("cuMipmappedArrayCreate", d, levels);
    *out = (CUmipmappedArray)a;
    return 0;
}
EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray h)
{
    ENTER_CONTEXT("cuMipmappedArrayDestroy");
    array *a = (array *)h;
    if (a->external) unmapped(a->external);
    else for (unsigned i = 0; i < a->num_levels; i++) free(a->levels[i].data);
    free(a->levels);
    free(a);
    live_arrays--;
    return 0;
}
EXPORT CUresult cuMipmappedArrayGetLevel(CUarray *out, CUmipmappedArray h, unsigned level)
{
    ENTER_CONTEXT("cuMipmappedArrayGetLevel");
    array *a = (array *)h;
    if (level >= a->num_levels) return CUDA_ERROR_INVALID_VALUE;
    *out = (CUarray)&a->levels[level];
    return 0;
}
static CUresult new_number(int used[MOST_NUMBERS], unsigned long long *out)
{
    for (int i = 1; i < MOST_NUMBERS; i++)
        if (!used[i]) {
            used[i] = 1;
            *out = (unsigned long long)i;
            return 0;
        }
    return CUDA_ERROR_OUT_OF_MEMORY;
}
static CUresult drop_number(int used[MOST_NUMBERS], unsigned long long number)
{
    if (number >= MOST_NUMBERS || !used[number]) return CUDA_ERROR_INVALID_VALUE;
    used[number] = 0;
    return 0;
}
EXPORT CUresult cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t, const CUDA_RESOURCE_VIEW_DESC *view)
{
    ENTER_CONTEXT("cuTexObjectCreate");
    char line[256], what[96] = "array";
    if (view) return CUDA_ERROR_INVALID_VALUE;
    if (r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) snprintf(what, sizeof what, "mipmap");
    if (r->resType == CU_RESOURCE_TYPE_LINEAR) snprintf(what, sizeof what, "linear format %d channels %u bytes %zu", r->res.linear.format, r->res.linear.numChannels, r->res.linear.sizeInBytes);
    if (r->resType == CU_RESOURCE_TYPE_PITCH2D) snprintf(what, sizeof what, "pitch2d %zux%zu pitch %zu", r->res.pitch2D.width, r->res.pitch2D.height, r->res.pitch2D.pitchInBytes);
    snprintf(line, sizeof line, "cuTexObjectCreate %s address %d %d %d filter %d mip %d flags %u aniso %u clamp %g %g border %g", what, t->addressMode[0],
             t->addressMode[1], t->addressMode[2], t->filterMode, t->mipmapFilterMode, t->flags, t->maxAnisotropy, t->minMipmapLevelClamp, t->maxMipmapLevelClamp, t->borderColor[3]);
    note(line);
    return new_number(textures[current->device], out);
}
EXPORT CUresult cuTexObjectDestroy(CUtexObject number) { ENTER_CONTEXT("cuTexObjectDestroy"); return drop_number(textures[current->device], number); }
EXPORT CUresult cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *r)
{
    ENTER_CONTEXT("cuSurfObjectCreate");
    if (r->resType != CU_RESOURCE_TYPE_ARRAY || !(((array *)r->res.array.hArray)->desc.Flags & CUDA_ARRAY3D_SURFACE_LDST)) return CUDA_ERROR_INVALID_VALUE;
    note("cuSurfObjectCreate");
    return new_number(surfaces[current->device], out);
}
EXPORT CUresult cuSurfObjectDestroy(CUsurfObject number) { ENTER_CONTEXT("cuSurfObjectDestroy"); return drop_number(surfaces[current->device], number); }
