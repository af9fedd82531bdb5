"""Kernels, parameters and commands that tests of Level Zero's native objects share."""

from __future__ import annotations

import pytest

import bindless as bl
from tests.support.compile_kernels import compiled_text

__all__ = ["BOTH", "FORMS", "SCALE", "code", "command_on", "fill_all", "filled"]

SCALE = "kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }"
BOTH = pytest.mark.parametrize("ownership", ["transfer", "keep"])
FORMS = pytest.mark.parametrize("immediate", [False, True], ids=["queue", "immediate_list"])


def code(text: str) -> bytes:
    return compiled_text(text, "spirv")


def filled(queue: bl.Queue, value: int) -> list[int]:
    array = bl.usm_empty(4, "int32", queue, kind="shared")
    queue.fill(array, value).wait()
    return list(array.numpy())


def fill_all(buffer: bl.Buffer, value: int, handler: bl.Handler) -> None:
    handler.fill(buffer.get_access(handler, "write"), value)


def command_on(queue: bl.Queue, buffer: bl.Buffer, after: bl.Event, value: int) -> bl.Event:
    """Fills a buffer once an event allows it."""

    def group(handler: bl.Handler) -> None:
        handler.depends_on(after)
        handler.fill(buffer.get_access(handler, "write"), value)

    return queue.submit(group)
