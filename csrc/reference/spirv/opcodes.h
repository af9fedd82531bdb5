/* SPIR-V enumerants that this driver supports: instructions, storage classes, built-in variables and more. */
#ifndef BINDLESS_REFERENCE_SPIRV_OPCODES_H
#define BINDLESS_REFERENCE_SPIRV_OPCODES_H

#define BLR_SPIRV_MAGIC 0x07230203u
#define BLR_SPIRV_HEADER_WORDS 5u

/* name, number, result: N none, I an id without type, V a value (type and id) */
#define BLR_SPIRV_OPCODES(X)                                                                                           \
    X(Nop, 0, N) X(Undef, 1, V) X(SourceContinued, 2, N) X(Source, 3, N) X(SourceExtension, 4, N) X(Name, 5, N)        \
    X(MemberName, 6, N) X(String, 7, I) X(Line, 8, N) X(Extension, 10, N) X(ExtInstImport, 11, I)                      \
    X(ExtInst, 12, V) X(MemoryModel, 14, N) X(EntryPoint, 15, N) X(ExecutionMode, 16, N) X(Capability, 17, N)          \
    X(TypeVoid, 19, I) X(TypeBool, 20, I) X(TypeInt, 21, I) X(TypeFloat, 22, I) X(TypeVector, 23, I)                   \
    X(TypeMatrix, 24, I) X(TypeImage, 25, I) X(TypeSampler, 26, I) X(TypeSampledImage, 27, I)                          \
    X(TypeArray, 28, I) X(TypeRuntimeArray, 29, I) X(TypeStruct, 30, I) X(TypeOpaque, 31, I)                           \
    X(TypePointer, 32, I) X(TypeFunction, 33, I) X(TypeEvent, 34, I) X(TypeDeviceEvent, 35, I)                         \
    X(TypeReserveId, 36, I) X(TypeQueue, 37, I) X(TypePipe, 38, I) X(TypeForwardPointer, 39, N)                        \
    X(ConstantTrue, 41, V) X(ConstantFalse, 42, V) X(Constant, 43, V) X(ConstantComposite, 44, V)                      \
    X(ConstantSampler, 45, V) X(ConstantNull, 46, V) X(SpecConstantTrue, 48, V) X(SpecConstantFalse, 49, V)            \
    X(SpecConstant, 50, V) X(SpecConstantComposite, 51, V) X(SpecConstantOp, 52, V) X(Function, 54, V)                 \
    X(FunctionParameter, 55, V) X(FunctionEnd, 56, N) X(FunctionCall, 57, V) X(Variable, 59, V)                        \
    X(ImageTexelPointer, 60, V) X(Load, 61, V) X(Store, 62, N) X(CopyMemory, 63, N) X(CopyMemorySized, 64, N)          \
    X(AccessChain, 65, V) X(InBoundsAccessChain, 66, V) X(PtrAccessChain, 67, V) X(ArrayLength, 68, V)                 \
    X(GenericPtrMemSemantics, 69, V) X(InBoundsPtrAccessChain, 70, V) X(Decorate, 71, N)                               \
    X(MemberDecorate, 72, N) X(DecorationGroup, 73, I) X(GroupDecorate, 74, N) X(GroupMemberDecorate, 75, N)           \
    X(VectorExtractDynamic, 77, V) X(VectorInsertDynamic, 78, V) X(VectorShuffle, 79, V)                               \
    X(CompositeConstruct, 80, V) X(CompositeExtract, 81, V) X(CompositeInsert, 82, V) X(CopyObject, 83, V)             \
    X(Transpose, 84, V) X(SampledImage, 86, V) X(ImageSampleImplicitLod, 87, V) X(ImageSampleExplicitLod, 88, V)       \
    X(ImageFetch, 95, V) X(ImageGather, 96, V) X(ImageRead, 98, V) X(ImageWrite, 99, N) X(Image, 100, V)               \
    X(ImageQueryFormat, 101, V) X(ImageQueryOrder, 102, V) X(ImageQuerySizeLod, 103, V)                                \
    X(ImageQuerySize, 104, V) X(ImageQueryLod, 105, V) X(ImageQueryLevels, 106, V) X(ImageQuerySamples, 107, V)        \
    X(ConvertFToU, 109, V) X(ConvertFToS, 110, V) X(ConvertSToF, 111, V) X(ConvertUToF, 112, V)                        \
    X(UConvert, 113, V) X(SConvert, 114, V) X(FConvert, 115, V) X(QuantizeToF16, 116, V)                               \
    X(ConvertPtrToU, 117, V) X(SatConvertSToU, 118, V) X(SatConvertUToS, 119, V) X(ConvertUToPtr, 120, V)              \
    X(PtrCastToGeneric, 121, V) X(GenericCastToPtr, 122, V) X(GenericCastToPtrExplicit, 123, V)                        \
    X(Bitcast, 124, V) X(SNegate, 126, V) X(FNegate, 127, V) X(IAdd, 128, V) X(FAdd, 129, V) X(ISub, 130, V)           \
    X(FSub, 131, V) X(IMul, 132, V) X(FMul, 133, V) X(UDiv, 134, V) X(SDiv, 135, V) X(FDiv, 136, V)                    \
    X(UMod, 137, V) X(SRem, 138, V) X(SMod, 139, V) X(FRem, 140, V) X(FMod, 141, V) X(VectorTimesScalar, 142, V)       \
    X(Dot, 148, V) X(IAddCarry, 149, V) X(ISubBorrow, 150, V) X(UMulExtended, 151, V) X(SMulExtended, 152, V)          \
    X(Any, 154, V) X(All, 155, V) X(IsNan, 156, V) X(IsInf, 157, V) X(IsFinite, 158, V) X(IsNormal, 159, V)            \
    X(SignBitSet, 160, V) X(LessOrGreater, 161, V) X(Ordered, 162, V) X(Unordered, 163, V)                             \
    X(LogicalEqual, 164, V) X(LogicalNotEqual, 165, V) X(LogicalOr, 166, V) X(LogicalAnd, 167, V)                      \
    X(LogicalNot, 168, V) X(Select, 169, V) X(IEqual, 170, V) X(INotEqual, 171, V) X(UGreaterThan, 172, V)             \
    X(SGreaterThan, 173, V) X(UGreaterThanEqual, 174, V) X(SGreaterThanEqual, 175, V) X(ULessThan, 176, V)             \
    X(SLessThan, 177, V) X(ULessThanEqual, 178, V) X(SLessThanEqual, 179, V) X(FOrdEqual, 180, V)                      \
    X(FUnordEqual, 181, V) X(FOrdNotEqual, 182, V) X(FUnordNotEqual, 183, V) X(FOrdLessThan, 184, V)                   \
    X(FUnordLessThan, 185, V) X(FOrdGreaterThan, 186, V) X(FUnordGreaterThan, 187, V)                                  \
    X(FOrdLessThanEqual, 188, V) X(FUnordLessThanEqual, 189, V) X(FOrdGreaterThanEqual, 190, V)                        \
    X(FUnordGreaterThanEqual, 191, V) X(ShiftRightLogical, 194, V) X(ShiftRightArithmetic, 195, V)                     \
    X(ShiftLeftLogical, 196, V) X(BitwiseOr, 197, V) X(BitwiseXor, 198, V) X(BitwiseAnd, 199, V) X(Not, 200, V)        \
    X(BitFieldInsert, 201, V) X(BitFieldSExtract, 202, V) X(BitFieldUExtract, 203, V) X(BitReverse, 204, V)            \
    X(BitCount, 205, V) X(ControlBarrier, 224, N) X(MemoryBarrier, 225, N) X(AtomicLoad, 227, V)                       \
    X(AtomicStore, 228, N) X(AtomicExchange, 229, V) X(AtomicCompareExchange, 230, V)                                  \
    X(AtomicCompareExchangeWeak, 231, V) X(AtomicIIncrement, 232, V) X(AtomicIDecrement, 233, V)                       \
    X(AtomicIAdd, 234, V) X(AtomicISub, 235, V) X(AtomicSMin, 236, V) X(AtomicUMin, 237, V)                            \
    X(AtomicSMax, 238, V) X(AtomicUMax, 239, V) X(AtomicAnd, 240, V) X(AtomicOr, 241, V) X(AtomicXor, 242, V)          \
    X(Phi, 245, V) X(LoopMerge, 246, N) X(SelectionMerge, 247, N) X(Label, 248, I) X(Branch, 249, N)                   \
    X(BranchConditional, 250, N) X(Switch, 251, N) X(Kill, 252, N) X(Return, 253, N) X(ReturnValue, 254, N)            \
    X(Unreachable, 255, N) X(LifetimeStart, 256, N) X(LifetimeStop, 257, N) X(GroupAsyncCopy, 259, V)                  \
    X(GroupWaitEvents, 260, N) X(GroupAll, 261, V) X(GroupAny, 262, V) X(GroupBroadcast, 263, V)                       \
    X(GroupIAdd, 264, V) X(GroupFAdd, 265, V) X(GroupFMin, 266, V) X(GroupUMin, 267, V) X(GroupSMin, 268, V)           \
    X(GroupFMax, 269, V) X(GroupUMax, 270, V) X(GroupSMax, 271, V) X(ReadPipe, 274, V) X(WritePipe, 275, V)            \
    X(ReservedReadPipe, 276, V) X(ReservedWritePipe, 277, V) X(ReserveReadPipePackets, 278, V)                         \
    X(ReserveWritePipePackets, 279, V) X(CommitReadPipe, 280, N) X(CommitWritePipe, 281, N)                            \
    X(IsValidReserveId, 282, V) X(GetNumPipePackets, 283, V) X(GetMaxPipePackets, 284, V)                              \
    X(GroupReserveReadPipePackets, 285, V) X(GroupReserveWritePipePackets, 286, V)                                     \
    X(GroupCommitReadPipe, 287, N) X(GroupCommitWritePipe, 288, N) X(EnqueueMarker, 291, V)                            \
    X(EnqueueKernel, 292, V) X(GetKernelNDrangeSubGroupCount, 293, V) X(GetKernelNDrangeMaxSubGroupSize, 294, V)       \
    X(GetKernelWorkGroupSize, 295, V) X(GetKernelPreferredWorkGroupSizeMultiple, 296, V) X(RetainEvent, 297, N)        \
    X(ReleaseEvent, 298, N) X(CreateUserEvent, 299, V) X(IsValidEvent, 300, V) X(SetUserEventStatus, 301, N)           \
    X(CaptureEventProfilingInfo, 302, N) X(GetDefaultQueue, 303, V) X(BuildNDRange, 304, V) X(NoLine, 317, N)          \
    X(AtomicFlagTestAndSet, 318, V) X(AtomicFlagClear, 319, N) X(SizeOf, 321, V) X(TypePipeStorage, 322, I)            \
    X(ConstantPipeStorage, 323, V) X(CreatePipeFromPipeStorage, 324, V)                                                \
    X(GetKernelLocalSizeForSubgroupCount, 325, V) X(GetKernelMaxNumSubgroups, 326, V)                                  \
    X(TypeNamedBarrier, 327, I) X(NamedBarrierInitialize, 328, V) X(MemoryNamedBarrier, 329, N)                        \
    X(ModuleProcessed, 330, N) X(ExecutionModeId, 331, N) X(DecorateId, 332, N) X(GroupNonUniformElect, 333, V)        \
    X(GroupNonUniformAll, 334, V) X(GroupNonUniformAny, 335, V) X(GroupNonUniformAllEqual, 336, V)                     \
    X(GroupNonUniformBroadcast, 337, V) X(GroupNonUniformBroadcastFirst, 338, V)                                       \
    X(GroupNonUniformBallot, 339, V) X(GroupNonUniformInverseBallot, 340, V)                                           \
    X(GroupNonUniformBallotBitExtract, 341, V) X(GroupNonUniformBallotBitCount, 342, V)                                \
    X(GroupNonUniformBallotFindLSB, 343, V) X(GroupNonUniformBallotFindMSB, 344, V)                                    \
    X(GroupNonUniformShuffle, 345, V) X(GroupNonUniformShuffleXor, 346, V) X(GroupNonUniformShuffleUp, 347, V)         \
    X(GroupNonUniformShuffleDown, 348, V) X(GroupNonUniformIAdd, 349, V) X(GroupNonUniformFAdd, 350, V)                \
    X(GroupNonUniformIMul, 351, V) X(GroupNonUniformFMul, 352, V) X(GroupNonUniformSMin, 353, V)                       \
    X(GroupNonUniformUMin, 354, V) X(GroupNonUniformFMin, 355, V) X(GroupNonUniformSMax, 356, V)                       \
    X(GroupNonUniformUMax, 357, V) X(GroupNonUniformFMax, 358, V) X(GroupNonUniformBitwiseAnd, 359, V)                 \
    X(GroupNonUniformBitwiseOr, 360, V) X(GroupNonUniformBitwiseXor, 361, V)                                           \
    X(GroupNonUniformLogicalAnd, 362, V) X(GroupNonUniformLogicalOr, 363, V)                                           \
    X(GroupNonUniformLogicalXor, 364, V) X(GroupNonUniformQuadBroadcast, 365, V)                                       \
    X(GroupNonUniformQuadSwap, 366, V) X(CopyLogical, 400, V) X(PtrEqual, 401, V) X(PtrNotEqual, 402, V)               \
    X(PtrDiff, 403, V) X(SubgroupBallotKHR, 4421, V) X(SubgroupFirstInvocationKHR, 4422, V)                            \
    X(SubgroupAllKHR, 4428, V) X(SubgroupAnyKHR, 4429, V) X(SubgroupAllEqualKHR, 4430, V)                              \
    X(GroupNonUniformRotateKHR, 4431, V) X(SubgroupReadInvocationKHR, 4432, V) X(SDot, 4450, V) X(UDot, 4451, V)       \
    X(SUDot, 4452, V) X(SDotAccSat, 4453, V) X(UDotAccSat, 4454, V) X(SUDotAccSat, 4455, V)                            \
    X(ReadClockKHR, 5056, V)                                                                                           \
    X(SubgroupShuffleINTEL, 5571, V) X(SubgroupShuffleDownINTEL, 5572, V) X(SubgroupShuffleUpINTEL, 5573, V)           \
    X(SubgroupShuffleXorINTEL, 5574, V) X(SubgroupBlockReadINTEL, 5575, V) X(SubgroupBlockWriteINTEL, 5576, N)         \
    X(SubgroupImageBlockReadINTEL, 5577, V) X(SubgroupImageBlockWriteINTEL, 5578, N)                                   \
    X(SubgroupImageMediaBlockReadINTEL, 5580, V) X(SubgroupImageMediaBlockWriteINTEL, 5581, N)                         \
    X(ConstantFunctionPointerINTEL, 5600, V) X(FunctionPointerCallINTEL, 5601, V) X(AsmTargetINTEL, 5609, V)           \
    X(AsmINTEL, 5610, V) X(AsmCallINTEL, 5611, V) X(AtomicFMinEXT, 5614, V) X(AtomicFMaxEXT, 5615, V)                  \
    X(AssumeTrueKHR, 5630, N) X(ExpectKHR, 5631, V) X(DecorateString, 5632, N) X(MemberDecorateString, 5633, N)        \
    X(VariableLengthArrayINTEL, 5818, V) X(SaveMemoryINTEL, 5819, V) X(RestoreMemoryINTEL, 5820, N)                    \
    X(AliasDomainDeclINTEL, 5911, I) X(AliasScopeDeclINTEL, 5912, I) X(AliasScopeListDeclINTEL, 5913, I)               \
    X(AtomicFAddEXT, 6035, V) X(ControlBarrierArriveINTEL, 6142, N) X(ControlBarrierWaitINTEL, 6143, N)                \
    X(GroupIMulKHR, 6401, V) X(GroupFMulKHR, 6402, V) X(GroupBitwiseAndKHR, 6403, V)                                   \
    X(GroupBitwiseOrKHR, 6404, V) X(GroupBitwiseXorKHR, 6405, V) X(GroupLogicalAndKHR, 6406, V)                        \
    X(GroupLogicalOrKHR, 6407, V) X(GroupLogicalXorKHR, 6408, V) X(ConvertHandleToImageINTEL, 6529, V)                 \
    X(ConvertHandleToSamplerINTEL, 6530, V) X(ConvertHandleToSampledImageINTEL, 6531, V)

enum blr_spirv_opcode {
#define X(name, number, makes) BLR_OP_##name = number,
    BLR_SPIRV_OPCODES(X)
#undef X
};

enum blr_spirv_storage {
    BLR_STORAGE_UNIFORM_CONSTANT = 0,
    BLR_STORAGE_INPUT = 1,
    BLR_STORAGE_WORKGROUP = 4,
    BLR_STORAGE_CROSS_WORKGROUP = 5,
    BLR_STORAGE_FUNCTION = 7,
    BLR_STORAGE_GENERIC = 8,
    BLR_STORAGE_CODE_SECTION = 5605 /* of functions */
};

enum blr_spirv_decoration {
    BLR_DECORATION_SPEC_ID = 1,
    BLR_DECORATION_CPACKED = 10,
    BLR_DECORATION_BUILTIN = 11,
    BLR_DECORATION_FUNC_PARAM_ATTR = 38,
    BLR_DECORATION_ROUNDING = 39,
    BLR_DECORATION_LINKAGE = 41,
    BLR_DECORATION_ALIGNMENT = 44
};

#define BLR_FUNC_PARAM_BY_VALUE 2u
#define BLR_LINKAGE_IMPORT 1u
#define BLR_LINKAGE_LINK_ONCE 2u

#define BLR_SEMANTICS_WORK_GROUP_MEMORY 0x100u
#define BLR_SEMANTICS_GLOBAL_MEMORY 0x200u

enum blr_spirv_scope { BLR_SCOPE_WORK_GROUP = 2, BLR_SCOPE_SUB_GROUP = 3, BLR_SCOPE_WORK_ITEM = 4 };

enum blr_spirv_rounding {
    BLR_ROUNDING_NEAREST_EVEN = 0,
    BLR_ROUNDING_TO_ZERO = 1,
    BLR_ROUNDING_UP = 2,
    BLR_ROUNDING_DOWN = 3
};

enum blr_spirv_builtin {
    BLR_BUILTIN_NUM_WORKGROUPS = 24,
    BLR_BUILTIN_WORKGROUP_SIZE = 25,
    BLR_BUILTIN_WORKGROUP_ID = 26,
    BLR_BUILTIN_LOCAL_INVOCATION_ID = 27,
    BLR_BUILTIN_GLOBAL_INVOCATION_ID = 28,
    BLR_BUILTIN_LOCAL_INVOCATION_INDEX = 29,
    BLR_BUILTIN_WORK_DIM = 30,
    BLR_BUILTIN_GLOBAL_SIZE = 31,
    BLR_BUILTIN_ENQUEUED_WORKGROUP_SIZE = 32,
    BLR_BUILTIN_GLOBAL_OFFSET = 33,
    BLR_BUILTIN_GLOBAL_LINEAR_ID = 34,
    BLR_BUILTIN_SUBGROUP_SIZE = 36,
    BLR_BUILTIN_SUBGROUP_MAX_SIZE = 37,
    BLR_BUILTIN_NUM_SUBGROUPS = 38,
    BLR_BUILTIN_NUM_ENQUEUED_SUBGROUPS = 39,
    BLR_BUILTIN_SUBGROUP_ID = 40,
    BLR_BUILTIN_SUBGROUP_LOCAL_INVOCATION_ID = 41,
    BLR_BUILTIN_SUBGROUP_EQ_MASK = 4416,
    BLR_BUILTIN_SUBGROUP_GE_MASK = 4417,
    BLR_BUILTIN_SUBGROUP_GT_MASK = 4418,
    BLR_BUILTIN_SUBGROUP_LE_MASK = 4419,
    BLR_BUILTIN_SUBGROUP_LT_MASK = 4420
};

enum blr_spirv_execution_mode {
    BLR_MODE_LOCAL_SIZE = 17,
    BLR_MODE_SUBGROUP_SIZE = 35,
    BLR_MODE_LOCAL_SIZE_ID = 38,
    BLR_MODE_DENORM_FLUSH_TO_ZERO = 4460,
    BLR_MODE_ROUNDING_RTZ = 4463
};

enum blr_spirv_image_operand {
    BLR_IMAGE_OPERAND_BIAS = 1,
    BLR_IMAGE_OPERAND_LOD = 2,
    BLR_IMAGE_OPERAND_GRAD = 4,
    BLR_IMAGE_OPERAND_SIGN_EXTEND = 0x1000,
    BLR_IMAGE_OPERAND_ZERO_EXTEND = 0x2000
};

#define BLR_EXECUTION_MODEL_KERNEL 6u
#define BLR_ADDRESSING_PHYSICAL64 2u
#define BLR_MEMORY_MODEL_OPENCL 2u

/* "IAdd", or NULL for an instruction that is not in the table. */
const char *blr_spirv_opcode_name(unsigned opcode);

/* 'N', 'I', 'V', or 0 for an instruction that is not in the table. */
char blr_spirv_opcode_makes(unsigned opcode);

#endif
