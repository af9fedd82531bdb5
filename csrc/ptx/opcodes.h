/* SPIR-V enumerants that the compiler writes. */
#ifndef BINDLESS_PTX_OPCODES_H
#define BINDLESS_PTX_OPCODES_H

enum ptx_opcode {
    OP_SourceExtension = 4, OP_Name = 5, OP_Extension = 10, OP_ExtInstImport = 11, OP_ExtInst = 12, OP_MemoryModel = 14, OP_EntryPoint = 15,
    OP_ExecutionMode = 16, OP_Capability = 17, OP_TypeVoid = 19, OP_TypeBool = 20, OP_TypeInt = 21, OP_TypeFloat = 22,
    OP_TypeVector = 23, OP_TypeImage = 25, OP_TypeSampledImage = 27, OP_TypeArray = 28, OP_TypeStruct = 30, OP_TypePointer = 32,
    OP_TypeFunction = 33, OP_ConstantTrue = 41, OP_ConstantFalse = 42, OP_Constant = 43, OP_ConstantComposite = 44,
    OP_ConstantNull = 46, OP_SpecConstant = 50, OP_SpecConstantOp = 52, OP_Function = 54, OP_FunctionParameter = 55,
    OP_FunctionEnd = 56, OP_FunctionCall = 57, OP_Variable = 59, OP_Load = 61, OP_Store = 62, OP_CopyMemorySized = 64, OP_InBoundsPtrAccessChain = 70,
    OP_Decorate = 71, OP_CompositeConstruct = 80, OP_CompositeExtract = 81, OP_CopyObject = 83, OP_ImageSampleExplicitLod = 88,
    OP_ImageGather = 96, OP_ImageRead = 98, OP_ImageWrite = 99, OP_ImageQueryFormat = 101, OP_ImageQueryOrder = 102,
    OP_ImageQuerySizeLod = 103, OP_ImageQuerySize = 104, OP_ImageQueryLevels = 106, OP_ConvertFToU = 109, OP_ConvertFToS = 110,
    OP_ConvertSToF = 111, OP_ConvertUToF = 112, OP_UConvert = 113, OP_SConvert = 114, OP_FConvert = 115, OP_ConvertPtrToU = 117,
    OP_ConvertUToPtr = 120, OP_PtrCastToGeneric = 121, OP_GenericCastToPtrExplicit = 123, OP_Bitcast = 124, OP_SNegate = 126,
    OP_FNegate = 127, OP_IAdd = 128, OP_FAdd = 129, OP_ISub = 130, OP_FSub = 131, OP_IMul = 132, OP_FMul = 133, OP_UDiv = 134,
    OP_SDiv = 135, OP_FDiv = 136, OP_UMod = 137, OP_SRem = 138, OP_IsNan = 156, OP_IsInf = 157, OP_IsFinite = 158,
    OP_IsNormal = 159, OP_SignBitSet = 160, OP_Ordered = 162, OP_Unordered = 163, OP_LogicalEqual = 164, OP_LogicalNotEqual = 165,
    OP_LogicalOr = 166, OP_LogicalAnd = 167, OP_LogicalNot = 168, OP_Select = 169, OP_IEqual = 170, OP_INotEqual = 171,
    OP_UGreaterThan = 172, OP_SGreaterThan = 173, OP_UGreaterThanEqual = 174, OP_SGreaterThanEqual = 175, OP_ULessThan = 176,
    OP_SLessThan = 177, OP_ULessThanEqual = 178, OP_SLessThanEqual = 179, OP_FOrdEqual = 180, OP_FUnordEqual = 181,
    OP_FOrdNotEqual = 182, OP_FUnordNotEqual = 183, OP_FOrdLessThan = 184, OP_FUnordLessThan = 185, OP_FOrdGreaterThan = 186,
    OP_FUnordGreaterThan = 187, OP_FOrdLessThanEqual = 188, OP_FUnordLessThanEqual = 189, OP_FOrdGreaterThanEqual = 190,
    OP_FUnordGreaterThanEqual = 191, OP_ShiftRightLogical = 194, OP_ShiftRightArithmetic = 195, OP_ShiftLeftLogical = 196,
    OP_BitwiseOr = 197, OP_BitwiseXor = 198, OP_BitwiseAnd = 199, OP_Not = 200, OP_BitReverse = 204, OP_BitCount = 205,
    OP_ControlBarrier = 224, OP_MemoryBarrier = 225, OP_AtomicLoad = 227, OP_AtomicStore = 228, OP_AtomicExchange = 229,
    OP_AtomicCompareExchange = 230, OP_AtomicIAdd = 234, OP_AtomicSMin = 236, OP_AtomicUMin = 237, OP_AtomicSMax = 238,
    OP_AtomicUMax = 239, OP_AtomicAnd = 240, OP_AtomicOr = 241, OP_AtomicXor = 242, OP_Phi = 245, OP_Label = 248, OP_Branch = 249,
    OP_BranchConditional = 250, OP_Switch = 251, OP_Return = 253, OP_ReturnValue = 254, OP_Unreachable = 255, OP_GroupAll = 261,
    OP_GroupAny = 262, OP_GroupIAdd = 264, OP_GroupNonUniformElect = 333, OP_GroupNonUniformAll = 334, OP_GroupNonUniformAny = 335,
    OP_GroupNonUniformBallot = 339, OP_GroupNonUniformShuffle = 345, OP_GroupNonUniformIAdd = 349, OP_GroupNonUniformSMin = 353,
    OP_GroupNonUniformUMin = 354, OP_GroupNonUniformSMax = 356, OP_GroupNonUniformUMax = 357, OP_GroupNonUniformBitwiseAnd = 359,
    OP_GroupNonUniformBitwiseOr = 360, OP_GroupNonUniformBitwiseXor = 361, OP_ReadClockKHR = 5056, OP_AtomicFAddEXT = 6035,
    OP_ConvertHandleToImageINTEL = 6529, OP_ConvertHandleToSampledImageINTEL = 6531
};

enum ptx_storage { STORAGE_CONSTANT = 0, STORAGE_INPUT = 1, STORAGE_WORKGROUP = 4, STORAGE_GLOBAL = 5, STORAGE_FUNCTION = 7, STORAGE_GENERIC = 8 };

enum ptx_capability {
    CAN_ADDRESSES = 4, CAN_LINKAGE = 5, CAN_KERNEL = 6, CAN_FLOAT16 = 9, CAN_FLOAT64 = 10, CAN_INT64 = 11, CAN_INT64_ATOMICS = 12,
    CAN_IMAGES = 13, CAN_WRITE_IMAGES = 14, CAN_GROUPS = 18, CAN_INT16 = 22, CAN_GENERIC = 38, CAN_INT8 = 39, CAN_SAMPLED_1D = 43,
    CAN_IMAGE_1D = 44, CAN_SUBGROUP_DISPATCH = 58, CAN_NON_UNIFORM = 61, CAN_VOTE = 62, CAN_ARITHMETIC = 63, CAN_BALLOT = 64,
    CAN_SHUFFLE = 65, CAN_CLOCK = 5055, CAN_BIT_INSTRUCTIONS = 6025, CAN_ADD_FLOAT32 = 6033, CAN_ADD_FLOAT64 = 6034, CAN_BINDLESS = 6528
};

enum ptx_decoration { DECORATION_SPEC_ID = 1, DECORATION_CPACKED = 10, DECORATION_BUILTIN = 11, DECORATION_PARAMETER = 38,
                      DECORATION_ROUNDING = 39, DECORATION_LINKAGE = 41, DECORATION_ALIGNMENT = 44 };

enum ptx_builtin {
    BUILTIN_NUM_WORKGROUPS = 24, BUILTIN_WORKGROUP_SIZE = 25, BUILTIN_WORKGROUP_ID = 26, BUILTIN_LOCAL_ID = 27, BUILTIN_GLOBAL_ID = 28,
    BUILTIN_NUM_SUBGROUPS = 38, BUILTIN_SUBGROUP_ID = 40, BUILTIN_LANE = 41
};

enum ptx_rounding { ROUND_EVEN = 0, ROUND_ZERO = 1, ROUND_UP = 2, ROUND_DOWN = 3 };

/* Instructions of OpenCL.std. */
enum ptx_math {
    MATH_COS = 14, MATH_CEIL = 12, MATH_COPYSIGN = 13, MATH_EXP2 = 20, MATH_FABS = 23, MATH_FLOOR = 25, MATH_FMA = 26,
    MATH_FMAX = 27, MATH_FMIN = 28, MATH_LOG2 = 38, MATH_RINT = 53, MATH_RSQRT = 56, MATH_SIN = 57, MATH_SQRT = 61,
    MATH_TANH = 63, MATH_TRUNC = 66, MATH_SABS = 141, MATH_SABS_DIFF = 142, MATH_SADD_SAT = 143, MATH_UADD_SAT = 144,
    MATH_CLZ = 151, MATH_SMAX = 156, MATH_UMAX = 157, MATH_SMIN = 158, MATH_UMIN = 159, MATH_SMUL_HI = 160, MATH_SSUB_SAT = 162,
    MATH_USUB_SAT = 163, MATH_PRINTF = 184, MATH_UABS_DIFF = 202, MATH_UMUL_HI = 203
};

#endif
