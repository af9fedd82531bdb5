"""Sub-group and work-group functions for NVIDIA GPUs, in OpenCL C, added to a source that calls them.

A sub-group is a warp: 32 consecutive work-items by local id; the last one of a work-group may have fewer. Functions
that all work-items of a sub-group must reach wait for all of them, so that the hardware need not have reconverged; the
remaining functions apply to the active work-items (`activemask`). `shfl.sync` exchanges registers 32 bits at a time.
Scans double their distance five times; where lanes are missing, each lane asks the lane it read from for that lane's
source.
"""

from __future__ import annotations

import re

from ..llvm.undefined_functions import Declaration

__all__ = ["HELPERS", "SCRATCH", "definition", "helpers"]

SCRATCH = """
@__bindless_scratch = internal addrspace(3) global [32 x i64] poison, align 8
define internal ptr addrspace(3) @__bindless_group_scratch() alwaysinline nounwind {
  ret ptr addrspace(3) @__bindless_scratch
}
"""
"""Memory for results that the sub-groups of a work-group exchange: one value for each of at most 32."""

HELPERS = """
#define FUNCTION __attribute__((overloadable, always_inline))
#define INLINE static inline __attribute__((overloadable, always_inline))
local ulong *__bindless_group_scratch(void);
void __attribute__((overloadable)) barrier(uint flags);

INLINE uint item(void)
{
    return (__nvvm_read_ptx_sreg_tid_z() * __nvvm_read_ptx_sreg_ntid_y() + __nvvm_read_ptx_sreg_tid_y())
           * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
}
INLINE uint items(void)
{
    return __nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_ntid_y() * __nvvm_read_ptx_sreg_ntid_z();
}
INLINE uint lane(void) { return item() & 31; }
INLINE uint lanes(void) { const uint rest = items() - (item() & ~31u); return rest < 32 ? rest : 32; }
INLINE uint largest(void) { return items() < 32 ? items() : 32; }
INLINE uint first(uint count) { return ~0u >> (32 - count); }
INLINE uint everyone(void) { return first(lanes()); }
INLINE uint present(void) { return __nvvm_activemask(); }
INLINE uint below(void) { return (1u << lane()) - 1; }
INLINE int lowest(uint mask) { return __builtin_ffs(mask) - 1; }
INLINE int highest(uint mask) { return 31 - (int)__builtin_clzg(mask, 32); }
INLINE uint of_cluster(uint mask, uint size) { return mask & first(size < 32 ? size : 32) << (lane() & ~(size - 1)); }
"""

_EXCHANGE = """
INLINE T from_lane(T x, uint number, uint mask)
{
    union { T value; uint words[(sizeof(T) + 3) / 4]; } part = {.words = {0}};
    part.value = x;
    #pragma unroll
    for (uint k = 0; k < (sizeof(T) + 3) / 4; ++k)
        part.words[k] = __nvvm_shfl_sync_idx_i32(mask, part.words[k], number, 31);
    return part.value;
}
"""

# Of the lanes in `among`, which may be a subset of the active lanes.
_SCAN = """
INLINE T scan_OP(T x, uint mask, uint among)
{
    const uint whole = everyone();
    int from = highest(among & below());
    #pragma unroll
    for (int reach = 1; reach < 32; reach *= 2) {
        const uint number = from < 0 ? lane() : from;
        const T other = from_lane(x, number, mask);
        const int next = among == whole ? from - reach : (int)from_lane((uint)from, number, mask);
        if (from >= 0) { x = COMBINE(other, x); from = next; }
    }
    return x;
}
INLINE T total_OP(T x, uint mask, uint among)
{
    return from_lane(scan_OP(x, mask, among), highest(among), mask);
}
INLINE T before_OP(T x, uint mask, uint among)
{
    const int from = highest(among & below());
    const T other = from_lane(scan_OP(x, mask, among), from < 0 ? lane() : from, mask);
    return from < 0 ? IDENTITY : other;
}
"""

_GROUP_SCAN = """
INLINE T over_OP(T x, uint count, T start)
{
    for (uint k = 0; k < count; ++k) start = COMBINE(start, ((local T *)(__bindless_group_scratch() + k))[0]);
    return start;
}
INLINE T leave_OP(T x)
{
    const T reached = scan_OP(x, everyone(), everyone());
    if (lane() + 1 == lanes()) *(local T *)(__bindless_group_scratch() + item() / 32) = reached;
    barrier(1);
    return reached;
}
"""

_TYPES = {
    "c": "char", "h": "uchar", "s": "short", "t": "ushort", "i": "int", "j": "uint", "l": "long", "m": "ulong",
    "Dh": "half", "f": "float", "d": "double",
}  # fmt: skip
_OPERATIONS = {
    "add": "(a) + (b)", "mul": "(a) * (b)", "and": "(a) & (b)", "or": "(a) | (b)", "xor": "(a) ^ (b)",
    "min": "(b) < (a) ? (b) : (a)", "max": "(a) < (b) ? (b) : (a)",
    "logical_and": "(a) && (b)", "logical_or": "(a) || (b)", "logical_xor": "!(a) != !(b)",
}  # fmt: skip
_NEUTRAL = {"mul": "1", "logical_and": "1", "and": "-1"}

_ALL, _HERE = "everyone()", "present()"
_PLAIN = {
    "get_sub_group_size": "uint f(void) { return lanes(); }",
    "get_max_sub_group_size": "uint f(void) { return largest(); }",
    "get_num_sub_groups": "uint f(void) { return (items() + 31) / 32; }",
    "get_enqueued_num_sub_groups": "uint f(void) { return (items() + 31) / 32; }",
    "get_sub_group_id": "uint f(void) { return item() / 32; }",
    "get_sub_group_local_id": "uint f(void) { return lane(); }",
    "get_sub_group_eq_mask": "uint4 f(void) { return (uint4)(1u << lane(), 0, 0, 0); }",
    "get_sub_group_ge_mask": "uint4 f(void) { return (uint4)(first(largest()) & ~below(), 0, 0, 0); }",
    "get_sub_group_gt_mask": "uint4 f(void) { return (uint4)(first(largest()) & ~(below() | 1u << lane()), 0, 0, 0); }",
    "get_sub_group_le_mask": "uint4 f(void) { return (uint4)(below() | 1u << lane(), 0, 0, 0); }",
    "get_sub_group_lt_mask": "uint4 f(void) { return (uint4)(below(), 0, 0, 0); }",
    "sub_group_all": "int f(int x) { return __nvvm_vote_all_sync(everyone(), x != 0); }",
    "sub_group_any": "int f(int x) { return __nvvm_vote_any_sync(everyone(), x != 0); }",
    "sub_group_non_uniform_all": "int f(int x) { return __nvvm_vote_all_sync(present(), x != 0); }",
    "sub_group_non_uniform_any": "int f(int x) { return __nvvm_vote_any_sync(present(), x != 0); }",
    "sub_group_elect": "int f(void) { return (present() & below()) == 0; }",
    "sub_group_ballot": "uint4 f(int x) { return (uint4)(__nvvm_vote_ballot_sync(present(), x != 0), 0, 0, 0); }",
    "sub_group_inverse_ballot": "int f(uint4 v) { return v.x >> lane() & 1; }",
    "sub_group_ballot_bit_extract": "int f(uint4 v, uint n) { return n < 32 ? v.x >> n & 1 : 0; }",
    "sub_group_ballot_bit_count": "uint f(uint4 v) { return __builtin_popcount(v.x & first(largest())); }",
    "sub_group_ballot_inclusive_scan": "uint f(uint4 v) { return __builtin_popcount(v.x & (below() | 1u << lane())); }",
    "sub_group_ballot_exclusive_scan": "uint f(uint4 v) { return __builtin_popcount(v.x & below()); }",
    "sub_group_ballot_find_lsb": "uint f(uint4 v) { return lowest(v.x & first(largest())); }",
    "sub_group_ballot_find_msb": "uint f(uint4 v) { return highest(v.x & first(largest())); }",
    "work_group_all": "int f(int x) { return __nvvm_bar0_and(x != 0) != 0; }",
    "work_group_any": "int f(int x) { return __nvvm_bar0_or(x != 0) != 0; }",
}
"""Functions of one argument type."""

_EXCHANGES = {
    "sub_group_broadcast": "T f(T x, uint n) { return from_lane(x, n, everyone()); }",
    "sub_group_non_uniform_broadcast": "T f(T x, uint n) { return from_lane(x, n, present()); }",
    "sub_group_broadcast_first": "T f(T x) { const uint here = present(); return from_lane(x, lowest(here), here); }",
    "sub_group_shuffle": "T f(T x, uint n) { return from_lane(x, n, present()); }",
    "sub_group_shuffle_xor": "T f(T x, uint n) { return from_lane(x, lane() ^ n, present()); }",
    "sub_group_shuffle_up": "T f(T x, uint n) { return from_lane(x, lane() - n, present()); }",
    "sub_group_shuffle_down": "T f(T x, uint n) { return from_lane(x, lane() + n, present()); }",
    "sub_group_rotate": "T f(T x, int n) "
    "{ const int size = lanes(), to = ((int)lane() + n % size) % size; "
    "return from_lane(x, to < 0 ? to + size : to, everyone()); }",
    "sub_group_clustered_rotate": "T f(T x, int n, uint size) "
    "{ return from_lane(x, (lane() & ~(size - 1)) | ((lane() + n) & (size - 1)), everyone()); }",
    "sub_group_non_uniform_all_equal": "int f(T x) { const uint here = present(); "
    "return __nvvm_vote_all_sync(here, x == from_lane(x, lowest(here), here)); }",
}
"""Functions of values of any type T."""

_ARITHMETIC = re.compile(
    r"(work_group|sub_group)_(non_uniform_|clustered_)?(reduce|scan_inclusive|scan_exclusive)_(\w+)$"
)
_BODIES = {
    ("sub", "reduce"): "T f(T x) { const uint mask = MASK; return total_OP(x, mask, mask); }",
    ("sub", "scan_inclusive"): "T f(T x) { const uint mask = MASK; return scan_OP(x, mask, mask); }",
    ("sub", "scan_exclusive"): "T f(T x) { const uint mask = MASK; return before_OP(x, mask, mask); }",
    ("clustered", "reduce"): "T f(T x, uint size) "
    "{ const uint mask = present(); return total_OP(x, mask, of_cluster(mask, size)); }",
    (
        "work",
        "reduce",
    ): "T f(T x) { leave_OP(x); x = over_OP(x, (items() + 31) / 32, IDENTITY); barrier(1); return x; }",
    ("work", "scan_inclusive"): "T f(T x) { x = leave_OP(x); const T before = over_OP(x, item() / 32, IDENTITY); "
    "barrier(1); return COMBINE(before, x); }",
    ("work", "scan_exclusive"): "T f(T x) { leave_OP(x); const T before = over_OP(x, item() / 32, IDENTITY); "
    "barrier(1); const T within = before_OP(x, everyone(), everyone()); return COMBINE(before, within); }",
}


def definition(function: Declaration) -> tuple[list[str], str] | None:
    """Return the definitions that the function needs after ``HELPERS``, and the function in OpenCL C; None for an
    unknown function.
    """
    name, letters = function.function, function.letters
    if name == "sub_group_barrier":
        parameters = "uint flags, memory_scope scope" if letters != "j" else "uint flags"
        return [], f"void FUNCTION {name}({parameters}) {{ __nvvm_bar_warp_sync(everyone()); }}"
    if name in _PLAIN:
        return [], _rename(_PLAIN[name], name)
    vector = re.match(r"(?:Dv(\d+)_)?(Dh|[a-z])", letters)
    if vector is None or vector[2] not in _TYPES:
        return None
    type_ = _TYPES[vector[2]] + (vector[1] or "")
    exchange = _EXCHANGE.replace("T ", f"{type_} ").replace("(T)", f"({type_})")
    if name in _EXCHANGES:
        return [exchange], _rename(_EXCHANGES[name], name, type_)
    if name == "work_group_broadcast":
        return [exchange], _broadcast(type_, letters.count("m") - (vector[2] == "m"))
    arithmetic = _ARITHMETIC.match(name)
    if arithmetic is None or arithmetic[4] not in _OPERATIONS or vector[1]:
        return None
    return _arithmetic(arithmetic, name, type_, vector[2], exchange)


def _arithmetic(arithmetic: re.Match[str], name: str, type_: str, letter: str, exchange: str) -> tuple[list[str], str]:
    group, how, form, operation = arithmetic.groups()
    key = ("work" if group == "work_group" else "clustered" if how == "clustered_" else "sub", form)
    combine = f"combine_{type_}_{operation}"
    words = {
        "OP": f"{type_}_{operation}",
        "T": type_,
        "COMBINE": combine,
        "IDENTITY": f"(({type_}){_identity(operation, letter)})",
        "MASK": _HERE if how else _ALL,
    }

    def fill(text: str) -> str:
        text = re.sub(r"(?<=_)OP\b", words["OP"], text)
        return re.sub(r"\b(T|COMBINE|IDENTITY|MASK)\b", lambda match: words[match[0]], text)

    index = _EXCHANGE.replace("T ", "uint ").replace("(T)", "(uint)")
    definitions = [index, exchange, f"#define {combine}(a, b) (({type_})({_OPERATIONS[operation]}))\n", fill(_SCAN)]
    if group == "work_group":
        definitions.append(fill(_GROUP_SCAN))
    return definitions, _rename(fill(_BODIES[key]), name)


def _identity(operation: str, letter: str) -> str:
    """Return the identity element."""
    if operation not in ("min", "max"):
        return _NEUTRAL.get(operation, "0")
    if letter in ("Dh", "f", "d"):
        return "INFINITY" if operation == "min" else "-INFINITY"
    bits = 8 << "chstijlm".index(letter) // 2
    signed = letter in "csil"
    if operation == "min":
        return f"{(1 << (bits - signed)) - 1}{'' if signed else 'u'}l"
    return f"(-{(1 << (bits - 1)) - 1}l - 1)" if signed else "0"


def _broadcast(type_: str, dimensions: int) -> str:
    """Define the broadcast from the work-item with the given local ids."""
    parameters = ", ".join(f"size_t n{axis}" for axis in "xyz"[:dimensions])
    same = " && ".join(f"__nvvm_read_ptx_sreg_tid_{axis}() == n{axis}" for axis in "xyz"[:dimensions])
    return (
        f"{type_} FUNCTION work_group_broadcast({type_} x, {parameters})\n{{\n"
        f"    local {type_} *place = (local {type_} *)__bindless_group_scratch();\n    if ({same}) *place = x;\n"
        f"    barrier(1);\n    x = *place;\n    barrier(1);\n    return x;\n}}"
    )


def _rename(text: str, name: str, type_: str = "T") -> str:
    return re.sub(r"\bT\b", type_, re.sub(r"\bf\(", f"FUNCTION {name}(", text, count=1))


def helpers(definitions: list[str]) -> str:
    """Return the helpers of all functions, each once."""
    return "".join([HELPERS, *dict.fromkeys(definitions)])
