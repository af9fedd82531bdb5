/* Decoding of image instructions. A 64-bit handle, an image and a sampler have the same representation in registers;
 * a sampled image is a pair of them, the second 0 for the image's own sampler. */
#include "spirv/compile/builder.h"
#include "spirv/execute/image.h"
#include "spirv/execute/operations.h"

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }

/* The image operand of an instruction, and its type. */
static struct blr_spirv_ref image_operand(struct blr_spirv_builder *b, uint32_t word, uint32_t id, bool sampled,
                                          const struct blr_spirv_type **type)
{
    struct blr_spirv_ref image = blr_spirv_operand(b, word, id);
    *type = image.type;
    if ((*type)->kind == BLR_TYPE_SAMPLED_IMAGE)
        *type = blr_spirv_type(b->module, word, (*type)->element);
    else if (sampled)
        blr_spirv_refuse(b->build, word, "%%%u is no sampled image", id);
    if ((*type)->kind != BLR_TYPE_IMAGE)
        blr_spirv_refuse(b->build, word, "%%%u is no image", id);
    return image;
}

static struct blr_spirv_image_use *new_use(struct blr_spirv_builder *b, const struct blr_spirv_type *image)
{
    struct blr_spirv_image_use *use = blr_spirv_allocate(b->build, 1, sizeof *use);
    use->cube = image->dimension == 3;
    use->dimensions = use->cube ? 3 : image->dimension + 1;
    use->arrayed = image->arrayed;
    use->depths = image->depths;
    use->plain = image->plain;
    return use;
}

static void refuse_cube(struct blr_spirv_builder *b, uint32_t word, const struct blr_spirv_image_use *use)
{
    if (use->cube)
        blr_spirv_unsupported(b->build, word, "a cube is sampled by a direction alone; its faces are layers of a 2D array");
}

/* Checks that coordinates have enough components. */
static void check_coordinates(struct blr_spirv_builder *b, uint32_t word, const struct blr_spirv_type *type,
                              struct blr_spirv_image_use *use, bool whole)
{
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, type);
    if (blr_spirv_components(type) < use->dimensions + use->arrayed)
        blr_spirv_refuse(b->build, word, "coordinates of %u components: the image needs %u", blr_spirv_components(type),
                         use->dimensions + use->arrayed);
    use->float_coordinates = scalar->kind == BLR_TYPE_FLOAT;
    if (scalar->scalar_size != 4 || (scalar->kind != BLR_TYPE_INT && scalar->kind != BLR_TYPE_FLOAT) ||
        (whole && use->float_coordinates))
        blr_spirv_unsupported(b->build, word, "coordinates are integers of 32 bits, or where it samples floats of 32 bits");
}

/* Checks that texels are floats of 16 or 32 bits, or integers of up to 32 bits. */
static void check_texel(struct blr_spirv_builder *b, uint32_t word, const struct blr_spirv_type *type,
                        struct blr_spirv_image_use *use)
{
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, type);
    use->floats = scalar->kind == BLR_TYPE_FLOAT;
    use->size = scalar->scalar_size;
    use->components = blr_spirv_components(type);
    const bool fits = use->size <= 4 && (use->floats ? use->size >= 2 : scalar->kind == BLR_TYPE_INT);
    if (use->components > 4 || !fits)
        blr_spirv_unsupported(b->build, word, "texels have up to 4 components, floats of 16 or 32 bits or integers of 8, 16 or 32");
}

static void emit(struct blr_spirv_builder *b, uint32_t word, const struct blr_spirv_image_use *use,
                 const struct blr_spirv_ref *inputs, uint32_t count, const struct blr_spirv_ref *result)
{
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = use->query != BLR_QUERY_NONE ? blr_spirv_run_image_query : blr_spirv_run_image;
    step->op.info = use;
    if (result != NULL)
        blr_spirv_step_result(step, *result, 0, blr_spirv_scalar(b->module, result->type)->scalar_size, use->components);
    for (uint32_t i = 0; i < count; i++)
        blr_spirv_step_input(step, i, inputs[i]);
}

static void require_float(struct blr_spirv_builder *b, uint32_t word, const struct blr_spirv_type *type, uint32_t components)
{
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, type);
    if (scalar->kind != BLR_TYPE_FLOAT || scalar->scalar_size != 4 || blr_spirv_components(type) < components)
        blr_spirv_unsupported(b->build, word, "a level or gradient is of floats of 32 bits, one for each dimension");
}

static void sample(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 6);
    const struct blr_spirv_type *image;
    struct blr_spirv_ref inputs[4] = {image_operand(b, word, word_at(b, word + 3), true, &image)};
    struct blr_spirv_image_use *use = new_use(b, image);
    inputs[1] = blr_spirv_operand(b, word, word_at(b, word + 4));
    check_coordinates(b, word, inputs[1].type, use, false);
    uint32_t operands = word_at(b, word + 5) & ~(uint32_t)(BLR_IMAGE_OPERAND_SIGN_EXTEND | BLR_IMAGE_OPERAND_ZERO_EXTEND);
    uint32_t count;
    if (operands == BLR_IMAGE_OPERAND_LOD) {
        blr_spirv_require_words(b->module, word, 7);
        inputs[2] = blr_spirv_operand(b, word, word_at(b, word + 6));
        require_float(b, word, inputs[2].type, 1);
        use->operation = BLR_OPERATION_SAMPLE_LOD;
        count = 3;
    } else if (operands == BLR_IMAGE_OPERAND_GRAD) {
        refuse_cube(b, word, use);
        blr_spirv_require_words(b->module, word, 8);
        for (uint32_t i = 0; i < 2; i++) {
            inputs[2 + i] = blr_spirv_operand(b, word, word_at(b, word + 6 + i));
            require_float(b, word, inputs[2 + i].type, use->dimensions);
        }
        use->operation = BLR_OPERATION_SAMPLE_GRADIENT;
        count = 4;
    } else {
        blr_spirv_unsupported(b->build, word, "image operands other than Lod and Grad");
    }
    use->samples = true;
    check_texel(b, word, blr_spirv_result_type(b, word), use);
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    emit(b, word, use, inputs, count, &result);
}

/* Gathers from two-dimensional images, as SYCL extensions define them; offsets and other geometries exist in Vulkan
 * only. */
static void gather(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 6);
    const struct blr_spirv_type *image;
    struct blr_spirv_ref inputs[3] = {image_operand(b, word, word_at(b, word + 3), true, &image)};
    struct blr_spirv_image_use *use = new_use(b, image);
    if (use->cube || use->dimensions != 2 || use->arrayed || blr_spirv_length_at(b->build, word) > 6)
        blr_spirv_unsupported(b->build, word, "a gather of other than a 2D image, or with image operands");
    inputs[1] = blr_spirv_operand(b, word, word_at(b, word + 4));
    check_coordinates(b, word, inputs[1].type, use, false);
    inputs[2] = blr_spirv_operand(b, word, word_at(b, word + 5));
    if (!use->float_coordinates || inputs[2].type->kind != BLR_TYPE_INT || inputs[2].type->scalar_size != 4)
        blr_spirv_refuse(b->build, word, "coordinates are floats, and its component is a whole number of 32 bits");
    use->operation = BLR_OPERATION_SAMPLE;
    use->samples = use->gathers = true;
    check_texel(b, word, blr_spirv_result_type(b, word), use);
    if (use->components != 4)
        blr_spirv_refuse(b->build, word, "its result has %u components: a gather has four", use->components);
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    emit(b, word, use, inputs, 3, &result);
}

static bool harmless_operands(const struct blr_spirv_builder *b, uint32_t word, uint32_t at)
{
    return at >= word + blr_spirv_length_at(b->build, word) ||
           (word_at(b, at) & ~(uint32_t)(BLR_IMAGE_OPERAND_SIGN_EXTEND | BLR_IMAGE_OPERAND_ZERO_EXTEND)) == 0;
}

static void read(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 5);
    const struct blr_spirv_type *image;
    struct blr_spirv_ref inputs[2] = {image_operand(b, word, word_at(b, word + 3), false, &image)};
    struct blr_spirv_image_use *use = new_use(b, image);
    refuse_cube(b, word, use);
    inputs[1] = blr_spirv_operand(b, word, word_at(b, word + 4));
    check_coordinates(b, word, inputs[1].type, use, true);
    if (!harmless_operands(b, word, word + 5))
        blr_spirv_unsupported(b->build, word, "image operands of a read");
    use->operation = BLR_OPERATION_FETCH;
    check_texel(b, word, blr_spirv_result_type(b, word), use);
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    emit(b, word, use, inputs, 2, &result);
}

static void write(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 4);
    const struct blr_spirv_type *image;
    struct blr_spirv_ref inputs[3] = {image_operand(b, word, word_at(b, word + 1), false, &image)};
    struct blr_spirv_image_use *use = new_use(b, image);
    refuse_cube(b, word, use);
    inputs[1] = blr_spirv_operand(b, word, word_at(b, word + 2));
    inputs[2] = blr_spirv_operand(b, word, word_at(b, word + 3));
    check_coordinates(b, word, inputs[1].type, use, true);
    if (!harmless_operands(b, word, word + 4))
        blr_spirv_unsupported(b->build, word, "image operands of a write");
    use->operation = BLR_OPERATION_WRITE;
    check_texel(b, word, inputs[2].type, use);
    emit(b, word, use, inputs, 3, NULL);
}

static void query(struct blr_spirv_builder *b, uint32_t word, enum blr_spirv_query what)
{
    bool level = what == BLR_QUERY_SIZE_LOD;
    blr_spirv_require_words(b->module, word, level ? 5 : 4);
    const struct blr_spirv_type *image, *type = blr_spirv_result_type(b, word);
    struct blr_spirv_ref inputs[2] = {image_operand(b, word, word_at(b, word + 3), false, &image)};
    struct blr_spirv_image_use *use = new_use(b, image);
    refuse_cube(b, word, use);
    use->query = what;
    use->operation = BLR_OPERATION_FETCH;
    use->components = blr_spirv_components(type);
    if (blr_spirv_scalar(b->module, type)->kind != BLR_TYPE_INT || use->components > 4)
        blr_spirv_refuse(b->build, word, "its result is no whole number, or has more than 4 components");
    if (level) {
        inputs[1] = blr_spirv_operand(b, word, word_at(b, word + 4));
        if (inputs[1].type->kind != BLR_TYPE_INT || inputs[1].type->scalar_size != 4)
            blr_spirv_unsupported(b->build, word, "a level is a whole number of 32 bits");
    }
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    emit(b, word, use, inputs, level ? 2 : 1, &result);
}

static void copy_handle(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref to, uint32_t lane,
                        struct blr_spirv_ref from)
{
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_copy;
    blr_spirv_step_result(step, to, lane, 8, 1);
    blr_spirv_step_input(step, 0, from);
}

static void combine(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref image, struct blr_spirv_ref sampler)
{
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    copy_handle(b, word, result, 0, image);
    copy_handle(b, word, result, 8, sampler);
}

/* Converts a 64-bit handle to an image, a sampled image or a sampler. */
static void convert(struct blr_spirv_builder *b, uint32_t word, enum blr_spirv_type_kind kind)
{
    blr_spirv_require_words(b->module, word, 4);
    struct blr_spirv_ref handle = blr_spirv_operand(b, word, word_at(b, word + 3));
    if (handle.type->kind != BLR_TYPE_INT || handle.type->scalar_size != 8)
        blr_spirv_refuse(b->build, word, "its handle is no whole number of 64 bits");
    if (blr_spirv_result_type(b, word)->kind != kind)
        blr_spirv_refuse(b->build, word, "its result is of another type than it makes");
    if (kind == BLR_TYPE_SAMPLED_IMAGE)
        combine(b, word, handle, blr_spirv_number(b, 0, 8));
    else
        blr_spirv_bind(b, word, handle);
}

static void sampled_image(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 5);
    const struct blr_spirv_type *image, *type = blr_spirv_result_type(b, word);
    struct blr_spirv_ref one = image_operand(b, word, word_at(b, word + 3), false, &image);
    struct blr_spirv_ref two = blr_spirv_operand(b, word, word_at(b, word + 4));
    if (two.type->kind != BLR_TYPE_SAMPLER || type->kind != BLR_TYPE_SAMPLED_IMAGE ||
        blr_spirv_type(b->module, word, type->element) != image || one.type->kind != BLR_TYPE_IMAGE)
        blr_spirv_refuse(b->build, word, "it takes an image and a sampler, and its result is a sampled image of that type");
    combine(b, word, one, two);
}

bool blr_spirv_decode_image(struct blr_spirv_builder *b, uint32_t word)
{
    switch (blr_spirv_opcode_at(b->build, word)) {
    case BLR_OP_ConvertHandleToImageINTEL: convert(b, word, BLR_TYPE_IMAGE); return true;
    case BLR_OP_ConvertHandleToSamplerINTEL: convert(b, word, BLR_TYPE_SAMPLER); return true;
    case BLR_OP_ConvertHandleToSampledImageINTEL: convert(b, word, BLR_TYPE_SAMPLED_IMAGE); return true;
    case BLR_OP_SampledImage: sampled_image(b, word); return true;
    case BLR_OP_ImageSampleExplicitLod: sample(b, word); return true;
    case BLR_OP_ImageGather: gather(b, word); return true;
    case BLR_OP_ImageFetch:
    case BLR_OP_ImageRead: read(b, word); return true;
    case BLR_OP_ImageWrite: write(b, word); return true;
    case BLR_OP_ImageQuerySize: query(b, word, BLR_QUERY_SIZE); return true;
    case BLR_OP_ImageQuerySizeLod: query(b, word, BLR_QUERY_SIZE_LOD); return true;
    case BLR_OP_ImageQueryLevels: query(b, word, BLR_QUERY_LEVELS); return true;
    case BLR_OP_ImageQueryFormat: query(b, word, BLR_QUERY_FORMAT); return true;
    case BLR_OP_ImageQueryOrder: query(b, word, BLR_QUERY_ORDER); return true;
    case BLR_OP_Image: {
        blr_spirv_require_words(b->module, word, 4);
        const struct blr_spirv_type *image;
        struct blr_spirv_ref sampled = image_operand(b, word, word_at(b, word + 3), true, &image);
        if (blr_spirv_result_type(b, word) != image)
            blr_spirv_refuse(b->build, word, "its result is not the image of %%%u", word_at(b, word + 3));
        blr_spirv_bind(b, word, sampled);
        return true;
    }
    default: return false;
    }
}
