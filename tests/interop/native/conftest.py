"""Rigs of the tests of native objects: the reference driver always, each OpenCL device that is there, and Level Zero or
CUDA where the tests run on their devices."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import bindless as bl
from tests.interop.native.cuda_rig import CudaRig
from tests.interop.native.level_zero_rig import LevelZeroRig
from tests.interop.native.native_rig import SCALE, Rig, base
from tests.interop.native.opencl_rig import OpenCLRig
from tests.interop.native.reference_rig import ReferenceRig
from tests.support.compile_kernels import compiled_text
from tests.support.opencl_devices import opencl_devices, require_device
from tests.support.quick_collections import quick_collections  # noqa: F401  a fixture

MARKS = {"cuda": ["cuda"], "level_zero": ["level_zero", "on_level_zero"], "opencl": ["opencl"]}
RIGS: tuple[type[Rig], ...] = (ReferenceRig, OpenCLRig, LevelZeroRig, CudaRig)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Rows of the table: each rig, of the kinds that the test's mark ``kinds`` names by their base, or of no kind; an
    ``ownership`` is one of those that the back end takes."""
    if "rig" not in metafunc.fixturenames:
        return
    mark = metafunc.definition.get_closest_marker("kinds")
    only = metafunc.definition.get_closest_marker("rigs")
    names, rows = ["rig"], []
    names += [name for name in ("kind", "ownership") if name in metafunc.fixturenames]
    for form in RIGS:
        if only is not None and form.backend not in only.args:
            continue
        kinds = [kind for kind in form.kinds if mark is None or not mark.args or base(kind) in mark.args]
        ownerships = [None, "keep", "transfer"] if form.retains else ["keep", "transfer"]
        devices: list[bl.Device | None] = [*opencl_devices()] or [None] if form is OpenCLRig else [None]
        for device in devices:
            label = form.backend if device is None else device.platform.name.split()[0]
            for kind in kinds if "kind" in names else [None]:
                for ownership in ownerships if "ownership" in names else [None]:
                    values = [(form, device), *([kind] if kind else []), *([ownership] if "ownership" in names else [])]
                    marks = [getattr(pytest.mark, name) for name in MARKS.get(form.backend, [])]
                    words = [label, *([kind] if kind else []), *([str(ownership)] if "ownership" in names else [])]
                    rows.append(pytest.param(*values, marks=marks, id="-".join(words)))
    metafunc.parametrize(names, rows, indirect=["rig"])


@pytest.fixture
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    form, device = request.param
    gc.collect()
    if form is OpenCLRig:
        device = require_device(device)
    elif form is ReferenceRig:
        compiled_text(SCALE, "spirv")  # skips without a compiler, before there are objects to end
        device = bl.Device("reference:*:*")
    else:
        device = request.getfixturevalue("device")
    made = form(device)
    yield made
    made.close()
