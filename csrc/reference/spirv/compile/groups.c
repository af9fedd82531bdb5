/* Decoding of group operations, of sub-groups and work-groups. */
#include "spirv/execute/groups.h"

#include "spirv/compile/builder.h"
#include "spirv/execute/lane_operations.h"

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }

/* Appends a step that computes the instruction's result from in[0] and optionally in[1]. */
static struct blr_spirv_step *emit(struct blr_spirv_builder *b, uint32_t word, bool meets, blr_spirv_run_t run,
                                   struct blr_spirv_ref value, const struct blr_spirv_ref *other, uint64_t literal)
{
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, result.type);
    if (!meets)
        blr_spirv_gather(b);
    struct blr_spirv_step *step = meets ? blr_spirv_meeting(b, word) : blr_spirv_step(b, word);
    b->gathered = meets ? b->gathered : b->step_count;
    step->op.run = run;
    step->op.literal = literal;
    blr_spirv_step_result(step, result, 0, scalar->scalar_size, blr_spirv_components(result.type));
    blr_spirv_step_input(step, 0, value);
    if (other != NULL)
        blr_spirv_step_input(step, 1, *other);
    return step;
}

/* Operand at an index, counted from the word at which the instruction's own operands start. */
static struct blr_spirv_ref operand(struct blr_spirv_builder *b, uint32_t word, uint32_t at)
{
    blr_spirv_require_words(b->module, word, at - word + 1);
    return blr_spirv_operand(b, word, word_at(b, at));
}

static bool is_number(struct blr_spirv_builder *b, const struct blr_spirv_type *type)
{
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, type);
    return scalar->kind == BLR_TYPE_INT || scalar->kind == BLR_TYPE_FLOAT;
}

/* ---------------------------------------------------------------- predicates and ballots */

static bool is_ballot(struct blr_spirv_builder *b, const struct blr_spirv_type *type)
{
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, type);
    return scalar->kind == BLR_TYPE_INT && scalar->scalar_size == 4 && blr_spirv_components(type) == 4;
}

static void question(struct blr_spirv_builder *b, uint32_t word, uint32_t at, bool meets, blr_spirv_run_t run)
{
    struct blr_spirv_ref value = operand(b, word, at);
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    bool fits = run == blr_sub_group_ballot ? is_ballot(b, type) : type->kind == BLR_TYPE_BOOL;
    if (value.type->kind != BLR_TYPE_BOOL || !fits)
        blr_spirv_refuse(b->build, word, "its operand is no boolean, or its result is of another type than it gives");
    emit(b, word, meets, run, value, NULL, 0);
}

static void all_equal(struct blr_spirv_builder *b, uint32_t word, uint32_t at)
{
    struct blr_spirv_ref value = operand(b, word, at);
    if ((!is_number(b, value.type) && value.type->kind != BLR_TYPE_BOOL) ||
        blr_spirv_result_type(b, word)->kind != BLR_TYPE_BOOL)
        blr_spirv_refuse(b->build, word, "its operand is no number, or its result no boolean");
    uint32_t *components = blr_spirv_allocate(b->build, 1, sizeof *components);
    *components = blr_spirv_components(value.type);
    emit(b, word, false, blr_sub_group_all_equal, value, NULL, blr_spirv_scalar(b->module, value.type)->scalar_size)
        ->op.info = components;
}

static void about_ballot(struct blr_spirv_builder *b, uint32_t word, uint32_t at, blr_spirv_run_t run, uint64_t how,
                         const struct blr_spirv_ref *number)
{
    struct blr_spirv_ref ballot = operand(b, word, at);
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    bool bit = run == blr_sub_group_own_bit || run == blr_sub_group_bit;
    if (!is_ballot(b, ballot.type) || type->kind != (bit ? BLR_TYPE_BOOL : BLR_TYPE_INT))
        blr_spirv_refuse(b->build, word, "its operand is no ballot, or its result of another type than it gives");
    if (how > BLR_FOLD_EXCLUSIVE)
        blr_spirv_refuse(b->build, word, "group operation %u: Reduce, InclusiveScan and ExclusiveScan count bits", (unsigned)how);
    emit(b, word, false, run, ballot, number, how);
}

/* ---------------------------------------------------------------- exchanges between lanes */

/* Converts an integer in every lane to a number of bytes: extended or truncated. */
static struct blr_spirv_ref number_of(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref number, uint32_t size)
{
    if (number.type->kind != BLR_TYPE_INT)
        blr_spirv_refuse(b->build, word, "a number that is no whole number, or a vector");
    if (number.type->scalar_size == size)
        return number;
    struct blr_spirv_ref other = {.value = blr_spirv_new_value(b, size) + 1, .type = number.type};
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_conversion(BLR_OP_UConvert, number.type->scalar_size, size);
    blr_spirv_step_result(step, other, 0, size, 1);
    blr_spirv_step_input(step, 0, number);
    return other;
}

static void require_like_result(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref value)
{
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    if (!blr_spirv_same(b->module, value.type, type) ||
        (!is_number(b, type) && blr_spirv_scalar(b->module, type)->kind != BLR_TYPE_BOOL))
        blr_spirv_refuse(b->build, word, "its operand is no number, or of another type than its result");
}

static void exchange(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref value, struct blr_spirv_ref number,
                     enum blr_lane_source source, const uint32_t *cluster)
{
    require_like_result(b, word, value);
    if (source != BLR_LANE_FIRST)
        number = number_of(b, word, number, 4);
    emit(b, word, false, blr_sub_group_exchange, value, &number, source)->op.info = cluster;
}

/* Cluster size in lanes, from the operand at that word if present, else all. */
static uint32_t cluster_size(struct blr_spirv_builder *b, uint32_t word, uint32_t at, uint32_t otherwise)
{
    if (at >= word + blr_spirv_length_at(b->build, word))
        return otherwise;
    uint64_t size = blr_spirv_constant_number(b->module, word, word_at(b, at));
    if (size == 0 || size > BLR_LANES || (size & (size - 1)) != 0)
        blr_spirv_refuse(b->build, word, "clusters of %u: a power of 2 up to %u is needed", (unsigned)size, BLR_LANES);
    return (uint32_t)size;
}

static void rotate(struct blr_spirv_builder *b, uint32_t word)
{
    uint32_t *cluster = blr_spirv_allocate(b->build, 1, sizeof *cluster);
    *cluster = cluster_size(b, word, word + 6, 0);
    exchange(b, word, operand(b, word, word + 4), operand(b, word, word + 5), BLR_LANE_ROTATED, cluster);
}

static void swap_in_four(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 6);
    uint64_t direction = blr_spirv_constant_number(b->module, word, word_at(b, word + 5));
    if (direction > 2)
        blr_spirv_refuse(b->build, word, "direction %u: 0 horizontal, 1 vertical and 2 diagonal are known", (unsigned)direction);
    struct blr_spirv_ref other = blr_spirv_number(b, direction + 1, 4);
    other.type = b->module->ids[b->module->ids[word_at(b, word + 5)].type].of_type;
    require_like_result(b, word, operand(b, word, word + 4));
    emit(b, word, false, blr_sub_group_exchange, operand(b, word, word + 4), &other, BLR_LANE_XOR);
}

static void exchange_two(struct blr_spirv_builder *b, uint32_t word, enum blr_lane_source source)
{
    struct blr_spirv_ref one = operand(b, word, word + 3), two = operand(b, word, word + 4);
    struct blr_spirv_ref number = number_of(b, word, operand(b, word, word + 5), 4);
    require_like_result(b, word, one);
    require_like_result(b, word, two);
    blr_spirv_step_input(emit(b, word, false, blr_sub_group_exchange_two, one, &two, source), 2, number);
}

static void broadcast(struct blr_spirv_builder *b, uint32_t word)
{
    struct blr_spirv_ref value = operand(b, word, word + 4), id = operand(b, word, word + 5);
    const struct blr_spirv_type *number = blr_spirv_scalar(b->module, id.type);
    uint32_t components = blr_spirv_components(id.type);
    require_like_result(b, word, value);
    if (number->kind != BLR_TYPE_INT || components > 3)
        blr_spirv_refuse(b->build, word, "the local id is no whole number, nor a vector of 2 or 3 of them");
    uint32_t *shape = blr_spirv_allocate(b->build, 3, sizeof *shape);
    shape[0] = number->scalar_size;
    shape[1] = blr_spirv_components(value.type);
    shape[2] = blr_spirv_scalar(b->module, value.type)->scalar_size;
    emit(b, word, true, blr_work_group_broadcast, value, &id, components)->op.info = shape;
}

/* ---------------------------------------------------------------- reductions and scans */

static bool fold(struct blr_spirv_builder *b, uint32_t word, unsigned opcode, bool meets)
{
    const struct blr_fold *row = blr_fold_of(opcode);
    if (row == NULL)
        return false;
    struct blr_spirv_ref value = operand(b, word, word + 5);
    uint32_t how = word_at(b, word + 4);
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, value.type);
    bool clusters = opcode >= BLR_OP_GroupNonUniformElect && opcode <= BLR_OP_GroupNonUniformQuadSwap;
    if (how > (clusters ? BLR_FOLD_CLUSTERED : BLR_FOLD_EXCLUSIVE))
        blr_spirv_unsupported(b->build, word, "group operations other than Reduce, InclusiveScan, ExclusiveScan and, of a "
                              "sub-group, ClusteredReduce");
    if (how == BLR_FOLD_CLUSTERED)
        blr_spirv_require_words(b->module, word, 7);
    if (scalar->kind != row->kind || !blr_spirv_same(b->module, value.type, blr_spirv_result_type(b, word)))
        blr_spirv_refuse(b->build, word, "its operand is of a type that it does not take, or unlike its result");
    struct blr_fold_use *use = blr_spirv_allocate(b->build, 1, sizeof *use);
    use->run = row->run[blr_size_index(scalar->scalar_size)];
    use->step = (enum blr_fold_step)how;
    const uint32_t whole = b->program->sub_group_size;
    use->cluster = how == BLR_FOLD_CLUSTERED ? cluster_size(b, word, word + 6, whole) : whole;
    if (use->cluster > whole)
        use->cluster = whole;
    use->components = blr_spirv_components(value.type);
    use->size = scalar->scalar_size;
    emit(b, word, meets, meets ? blr_work_group_fold : blr_sub_group_fold, value, NULL, 0)->op.info = use;
    return true;
}

/* ---------------------------------------------------------------- memory blocks and copies */

static const struct blr_spirv_type *pointee(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref pointer)
{
    if (pointer.type->kind != BLR_TYPE_POINTER)
        blr_spirv_refuse(b->build, word, "its operand is no pointer");
    return blr_spirv_type(b->module, word, pointer.type->element);
}

static void block(struct blr_spirv_builder *b, uint32_t word, bool writes)
{
    struct blr_spirv_ref pointer = operand(b, word, writes ? word + 1 : word + 3), data = {0};
    const struct blr_spirv_type *element = pointee(b, word, pointer), *type;
    if (writes)
        data = operand(b, word, word + 2);
    type = writes ? data.type : blr_spirv_result_type(b, word);
    if (!is_number(b, type) || !is_number(b, element) || blr_spirv_components(element) != 1)
        blr_spirv_refuse(b->build, word, "blocks are of numbers");
    uint32_t *components = blr_spirv_allocate(b->build, 1, sizeof *components);
    *components = blr_spirv_components(type);
    uint32_t size = blr_spirv_scalar(b->module, type)->scalar_size; /* LLVM may use byte pointers */
    struct blr_spirv_step *step;
    if (writes) {
        step = blr_spirv_step(b, word);
        step->op.run = blr_sub_group_write_block;
        step->op.literal = size;
        blr_spirv_step_input(step, 0, pointer);
        blr_spirv_step_input(step, 1, data);
    } else {
        step = emit(b, word, false, blr_sub_group_read_block, pointer, NULL, size);
    }
    step->op.info = components;
}

/* The copy executes when all work-items of the group have arrived, so that a later wait has nothing to do. */
static void copy(struct blr_spirv_builder *b, uint32_t word)
{
    struct blr_spirv_ref to = operand(b, word, word + 4), from = operand(b, word, word + 5);
    const struct blr_spirv_type *element = pointee(b, word, to);
    if (!blr_spirv_same(b->module, pointee(b, word, from), element) || element->size == 0 ||
        blr_spirv_result_type(b, word)->kind != BLR_TYPE_EVENT)
        blr_spirv_refuse(b->build, word, "source and target of the copy differ in type, or its result no event");
    bool out = from.type->storage == BLR_STORAGE_WORKGROUP && to.type->storage == BLR_STORAGE_CROSS_WORKGROUP;
    if (!out && !(to.type->storage == BLR_STORAGE_WORKGROUP && from.type->storage == BLR_STORAGE_CROSS_WORKGROUP))
        blr_spirv_refuse(b->build, word, "it copies between memory of the work-group and global memory");
    struct blr_spirv_ref count = number_of(b, word, operand(b, word, word + 6), 8);
    struct blr_spirv_ref stride = number_of(b, word, operand(b, word, word + 7), 8);
    operand(b, word, word + 8);
    struct blr_async_copy *shape = blr_spirv_allocate(b->build, 1, sizeof *shape);
    *shape = (struct blr_async_copy){.element = (uint32_t)element->size, .strided_target = out};
    if (element->size > UINT32_MAX)
        blr_spirv_refuse(b->build, word, "elements of more than 4 GiB");
    b->program->uses_local = b->program->uses_groups = true;
    struct blr_spirv_step *step = blr_spirv_meeting(b, word);
    step->op.run = blr_work_group_copy;
    step->op.info = shape;
    const struct blr_spirv_ref inputs[4] = {to, from, count, stride};
    for (uint32_t i = 0; i < 4; i++)
        blr_spirv_step_input(step, i, inputs[i]);
    blr_spirv_bind(b, word, blr_spirv_number(b, 0, 8)); /* the event carries no information */
}

/* ---------------------------------------------------------------- dispatch */

static void require_scope(struct blr_spirv_builder *b, uint32_t word, uint32_t at, bool work_group, bool sub_group)
{
    blr_spirv_require_words(b->module, word, at - word + 1);
    uint64_t scope = blr_spirv_constant_number(b->module, word, word_at(b, at));
    if (!(scope == BLR_SCOPE_WORK_GROUP && work_group) && !(scope == BLR_SCOPE_SUB_GROUP && sub_group))
        blr_spirv_unsupported(b->build, word, !sub_group    ? "only the work-group scope is supported"
                                              : !work_group ? "only the sub-group scope is supported"
                                                            : "only the work-group and sub-group scopes are supported");
}

/* OpGroup...: work-group or sub-group operations. */
static bool of_any_group(struct blr_spirv_builder *b, uint32_t word, unsigned opcode)
{
    require_scope(b, word, word + 3, true, true);
    bool meets = blr_spirv_constant_number(b->module, word, word_at(b, word + 3)) == BLR_SCOPE_WORK_GROUP;
    switch (opcode) {
    case BLR_OP_GroupAll: question(b, word, word + 4, meets, meets ? blr_work_group_all : blr_sub_group_all); return true;
    case BLR_OP_GroupAny: question(b, word, word + 4, meets, meets ? blr_work_group_any : blr_sub_group_any); return true;
    case BLR_OP_GroupBroadcast:
        if (meets)
            broadcast(b, word);
        else
            exchange(b, word, operand(b, word, word + 4), operand(b, word, word + 5), BLR_LANE_NUMBER, NULL);
        return true;
    default: return fold(b, word, opcode, meets);
    }
}

/* OpGroupNonUniform...: the first operand is the scope. */
static bool of_sub_group(struct blr_spirv_builder *b, uint32_t word, unsigned opcode)
{
    require_scope(b, word, word + 3, false, true);
    const uint32_t first = word + 4, second = word + 5;
    struct blr_spirv_ref number;
    switch (opcode) {
    case BLR_OP_GroupNonUniformElect:
        if (blr_spirv_result_type(b, word)->kind != BLR_TYPE_BOOL)
            blr_spirv_refuse(b->build, word, "its result is no boolean");
        emit(b, word, false, blr_sub_group_elect, blr_spirv_number(b, 0, 1), NULL, 0);
        return true;
    case BLR_OP_GroupNonUniformAll: question(b, word, first, false, blr_sub_group_all); return true;
    case BLR_OP_GroupNonUniformAny: question(b, word, first, false, blr_sub_group_any); return true;
    case BLR_OP_GroupNonUniformAllEqual: all_equal(b, word, first); return true;
    case BLR_OP_GroupNonUniformBallot: question(b, word, first, false, blr_sub_group_ballot); return true;
    case BLR_OP_GroupNonUniformInverseBallot: about_ballot(b, word, first, blr_sub_group_own_bit, 0, NULL); return true;
    case BLR_OP_GroupNonUniformBallotBitExtract:
        number = number_of(b, word, operand(b, word, second), 4);
        about_ballot(b, word, first, blr_sub_group_bit, 0, &number);
        return true;
    case BLR_OP_GroupNonUniformBallotBitCount:
        blr_spirv_require_words(b->module, word, 6);
        about_ballot(b, word, second, blr_sub_group_count, word_at(b, first), NULL);
        return true;
    case BLR_OP_GroupNonUniformBallotFindLSB: about_ballot(b, word, first, blr_sub_group_lowest, 0, NULL); return true;
    case BLR_OP_GroupNonUniformBallotFindMSB: about_ballot(b, word, first, blr_sub_group_highest, 0, NULL); return true;
    case BLR_OP_GroupNonUniformBroadcastFirst:
        exchange(b, word, operand(b, word, first), operand(b, word, first), BLR_LANE_FIRST, NULL);
        return true;
    case BLR_OP_GroupNonUniformRotateKHR: rotate(b, word); return true;
    case BLR_OP_GroupNonUniformQuadSwap: swap_in_four(b, word); return true;
    case BLR_OP_GroupNonUniformBroadcast:
    case BLR_OP_GroupNonUniformShuffle:
    case BLR_OP_GroupNonUniformShuffleXor:
    case BLR_OP_GroupNonUniformShuffleUp:
    case BLR_OP_GroupNonUniformShuffleDown:
    case BLR_OP_GroupNonUniformQuadBroadcast:
        exchange(b, word, operand(b, word, first), operand(b, word, second),
                 opcode == BLR_OP_GroupNonUniformShuffleXor       ? BLR_LANE_XOR
                 : opcode == BLR_OP_GroupNonUniformShuffleUp      ? BLR_LANE_BELOW
                 : opcode == BLR_OP_GroupNonUniformShuffleDown    ? BLR_LANE_ABOVE
                 : opcode == BLR_OP_GroupNonUniformQuadBroadcast  ? BLR_LANE_OF_FOUR
                                                                  : BLR_LANE_NUMBER,
                 NULL);
        return true;
    default: return fold(b, word, opcode, false);
    }
}

/* Instructions of extensions, which imply the sub-group scope. */
static bool of_extension(struct blr_spirv_builder *b, uint32_t word, unsigned opcode)
{
    const uint32_t first = word + 3, second = word + 4;
    switch (opcode) {
    case BLR_OP_SubgroupBallotKHR: question(b, word, first, false, blr_sub_group_ballot); return true;
    case BLR_OP_SubgroupAllKHR: question(b, word, first, false, blr_sub_group_all); return true;
    case BLR_OP_SubgroupAnyKHR: question(b, word, first, false, blr_sub_group_any); return true;
    case BLR_OP_SubgroupAllEqualKHR: all_equal(b, word, first); return true;
    case BLR_OP_SubgroupFirstInvocationKHR:
        exchange(b, word, operand(b, word, first), operand(b, word, first), BLR_LANE_FIRST, NULL);
        return true;
    case BLR_OP_SubgroupReadInvocationKHR:
    case BLR_OP_SubgroupShuffleINTEL:
        exchange(b, word, operand(b, word, first), operand(b, word, second), BLR_LANE_NUMBER, NULL);
        return true;
    case BLR_OP_SubgroupShuffleXorINTEL:
        exchange(b, word, operand(b, word, first), operand(b, word, second), BLR_LANE_XOR, NULL);
        return true;
    case BLR_OP_SubgroupShuffleDownINTEL: exchange_two(b, word, BLR_LANE_ABOVE); return true;
    case BLR_OP_SubgroupShuffleUpINTEL: exchange_two(b, word, BLR_LANE_BELOW); return true;
    case BLR_OP_SubgroupBlockReadINTEL: block(b, word, false); return true;
    case BLR_OP_SubgroupBlockWriteINTEL: block(b, word, true); return true;
    default: return false;
    }
}

bool blr_spirv_decode_group(struct blr_spirv_builder *b, uint32_t word)
{
    unsigned opcode = blr_spirv_opcode_at(b->build, word);
    bool decoded;
    if (opcode == BLR_OP_GroupAsyncCopy) {
        require_scope(b, word, word + 3, true, false);
        copy(b, word);
        return true;
    }
    if (opcode == BLR_OP_GroupWaitEvents) {
        require_scope(b, word, word + 1, true, false);
        operand(b, word, word + 2);
        operand(b, word, word + 3);
        return true;
    }
    if ((opcode >= BLR_OP_GroupAll && opcode <= BLR_OP_GroupSMax) ||
        (opcode >= BLR_OP_GroupIMulKHR && opcode <= BLR_OP_GroupLogicalXorKHR))
        decoded = of_any_group(b, word, opcode);
    else if ((opcode >= BLR_OP_GroupNonUniformElect && opcode <= BLR_OP_GroupNonUniformQuadSwap) ||
             opcode == BLR_OP_GroupNonUniformRotateKHR)
        decoded = of_sub_group(b, word, opcode);
    else
        decoded = of_extension(b, word, opcode);
    if (decoded)
        b->program->uses_local = b->program->uses_groups = true; /* all lanes of a batch belong to one group */
    return decoded;
}
