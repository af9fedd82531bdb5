"""Image instructions for one handle at a time: a loop over the different handles of a warp.

From sm_90 on, PTX's texture and surface instructions take one handle for all lanes, and ptxas makes a loop where the
handles may differ. ptxas of CUDA 12 can lose results in it: an instruction that computes a coordinate is executed in
each round for all lanes, and its register may be the one that holds the result of a lane of an earlier round. In the
loop of this module all lanes that execute the instruction have one handle, so that ptxas's own loop has one round.
ptxas of CUDA 13 is right.
"""

from __future__ import annotations

import re

__all__ = ["in_rounds", "with_rounds"]

_TEMPLATE = """{{
.reg .pred bl_mine, bl_more;
.reg .b32 bl_lanes, bl_left, bl_first, bl_low, bl_high, bl_same;
.reg .b64 bl_one;
activemask.b32 bl_lanes;
mov.b32 bl_left, bl_lanes;
BL_ROUND:
brev.b32 bl_first, bl_left;
clz.b32 bl_first, bl_first;
mov.b64 {{bl_low, bl_high}}, {handle};
shfl.sync.idx.b32 bl_low, bl_low, bl_first, 31, bl_lanes;
shfl.sync.idx.b32 bl_high, bl_high, bl_first, 31, bl_lanes;
mov.b64 bl_one, {{bl_low, bl_high}};
setp.eq.b64 bl_mine, bl_one, {handle};
vote.sync.ballot.b32 bl_same, bl_mine, bl_lanes;
@!bl_mine bra BL_NEXT;
{instruction}
BL_NEXT:
not.b32 bl_same, bl_same;
and.b32 bl_left, bl_left, bl_same;
setp.ne.b32 bl_more, bl_left, 0;
@bl_more bra BL_ROUND;
}}"""
_FUNCTION = re.compile(r"^(?:\.visible |\.weak )?\.(entry|func)\b[^;{]*\{.*?^\}", re.MULTILINE | re.DOTALL)
_IMAGE = re.compile(r"^[ \t]*(?:@!?%\w+[ \t]+)?(?:tex|tld4|suld|sust)\.[^;\[]*\[(%\w+)[^;]*;", re.MULTILINE)


def in_rounds(instruction: str, handle: str) -> str:
    """Return PTX that executes an image instruction for one handle after the other.

    Parameters
    ----------
    instruction
        The instruction, with its semicolon; it may have a predicate.
    handle
        Its handle, a 64-bit register.
    """
    return _TEMPLATE.format(instruction=instruction, handle=handle)


def with_rounds(ptx: str) -> str:
    """Return PTX in which the image instructions whose handles may differ between lanes are executed in rounds.

    A handle that is a kernel's parameter is the same for all lanes.
    """

    def function(match: re.Match[str]) -> str:
        text = match[0]
        same = _parameters(text) if match[1] == "entry" else set()

        def instruction(image: re.Match[str]) -> str:
            return image[0] if image[1] in same else in_rounds(image[0].strip(), image[1])

        return _IMAGE.sub(instruction, text)

    return _FUNCTION.sub(function, ptx)


def _parameters(text: str) -> set[str]:
    """The 64-bit registers that only ever hold a parameter."""
    registers = set(re.findall(r"\bld\.param\.[bu]64\s+(%\w+), \[\w+\];", text))
    return {
        name for name in registers if len(re.findall(rf"^\s*(?:@!?%\w+\s+)?[\w.]+\s+{name},", text, re.MULTILINE)) == 1
    }
