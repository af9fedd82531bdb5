"""The exact mode of the reference, compared with OpenCL devices on the CPU: independent implementations.

FAULTS lists known faults. A probe detects each fault on the device, so that an entry excludes cases only while its
fault exists.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import opencl as cl
from tests.goldens.configuration import Array
from tests.goldens.device import run
from tests.goldens.report import show
from tests.support.needs import lacks

from .cases import INTEGERS, Case
from .exact import exact_results
from .opencl_cases import CASES
from .opencl_device import OpenCLSampler, cpu_devices
from .opencl_faults import FAULTS, allowed, known_faults

pytestmark = pytest.mark.opencl

_FAMILIES: dict[str, list[Case]] = defaultdict(list)
for _case in CASES:
    _FAMILIES[_case.family].append(_case)

Rows = dict[tuple[str, str], tuple[int, int, float]]
Faults = dict[str, dict[str, Callable[[Case], bool]]]


def _difference(got: Array, wanted: Array) -> float:
    return float(np.abs(got[:, : wanted.shape[1]].astype(np.float64) - wanted.astype(np.float64)).max())


@pytest.fixture(scope="module")
def samplers() -> Iterator[list[OpenCLSampler]]:
    """Every CPU device."""
    cl.load()
    with ExitStack() as kept:
        made = [OpenCLSampler(platform, device) for platform, device in cpu_devices()]
        for sampler in made:
            kept.callback(sampler.close)
        if not made:
            lacks("opencl", "no platform has a processor with images: apt install pocl-opencl-icd")
        yield made


@pytest.fixture(scope="module")
def faults(samplers: list[OpenCLSampler], exact: dict[str, Array]) -> Faults:
    """The known faults of a device."""
    cases = {case.name: case for case in CASES}
    found: Faults = {}
    for sampler in samplers:
        known = known_faults(sampler.name)
        probed = {name: cases[fault.probe] for name, fault in known.items()}
        found[sampler.name] = {
            name: known[name].spoils
            for name, case in probed.items()
            if sampler.supports(case) and not _difference(sampler.run(case), exact[case.name]) <= allowed(case)
        }
    return found


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Array]:
    """Results of the reference in its exact mode, by name of the case."""
    return exact_results("opencl", tmp_path_factory.mktemp("exact"))


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest) -> Iterator[Rows]:
    """(device, family): (cases compared, cases excluded by a known fault, worst difference); printed at the end."""
    made: Rows = {}
    yield made
    for device in dict.fromkeys(device for device, _ in made):
        lines = [f"exact mode beside {device}"]
        lines.append(f"{'configurations':<42} {'compared':>9} {'faulty':>7} {'worst of range':>15}")
        for (owner, family), (compared, faulty, worst) in made.items():
            if owner == device:
                lines.append(f"{family:<42} {compared:>9} {faulty:>7} {worst:>15.2g}")
        show(request.config, lines)


@pytest.mark.parametrize("family", _FAMILIES)
def test_second_opinion(
    family: str, samplers: list[OpenCLSampler], faults: Faults, exact: dict[str, Array], rows: Rows
) -> None:
    wrong = {}
    for sampler in samplers:
        compared, faulty, worst = 0, 0, 0.0
        for case in filter(sampler.supports, _FAMILIES[family]):
            if any(spoils(case) for spoils in faults[sampler.name].values()):
                faulty += 1
                continue
            error = _difference(sampler.run(case), exact[case.name])
            compared, worst = compared + 1, max(worst, error / case.value_range)
            if not error <= allowed(case):
                wrong[f"{sampler.name}: {case.name}"] = f"{error:.3g}, {allowed(case):.3g} allowed"
        rows[sampler.name, family] = (compared, faulty, worst)
    assert not wrong, f"{len(wrong)} cases: {wrong}"


@pytest.mark.parametrize("channel_type", ["fp32", "unsigned_int8"])
def test_the_package_on_these_devices(channel_type: str, faults: Faults, exact: dict[str, Array]) -> None:
    """Device functions of the package, with its OpenCL C kernels; `numerics.opencl_table` covers all formats."""
    cases = [case for case in CASES if case.channel_type == channel_type and case.channels == 4]
    devices = [each for each in bl.get_devices("opencl:cpu:*") if each.has(bl.Aspect.ext_oneapi_bindless_images)]
    if not devices:
        pytest.skip("no OpenCL device of a processor has Aspect.ext_oneapi_bindless_images")
    for device in devices:
        # Probes run on the platform; its devices share the driver's faults.
        known = faults[f"{device.platform.name} {device.platform.version}"]
        wrong, compared = {}, 0
        with bl.Queue(device) as queue:
            for case in cases:
                if not any(spoils(case) for spoils in known.values()):
                    error = _difference(run(queue, case), exact[case.name])
                    compared += 1
                    if not error <= allowed(case):
                        wrong[case.name] = f"{error:.3g}, {allowed(case):.3g} allowed"
        assert not wrong, f"{device.name}: {wrong}"
        assert compared >= len(cases) // 2


def test_known_faults_spoil_all_that_they_exclude(
    samplers: list[OpenCLSampler], faults: Faults, exact: dict[str, Array]
) -> None:
    for sampler in samplers:
        for name, spoils in faults[sampler.name].items():
            spoiled = [case for case in CASES if spoils(case) and sampler.supports(case)]
            right = [c.name for c in spoiled if _difference(sampler.run(c), exact[c.name]) <= allowed(c)]
            assert not right, f"{sampler.name}: '{name}' does not show in {right}: narrow it"


def test_probes_are_spoiled() -> None:
    cases = {case.name: case for case in CASES}
    for known in FAULTS.values():
        for fault in known.values():
            assert fault.spoils(cases[fault.probe])


def test_devices_have_the_formats(samplers: list[OpenCLSampler]) -> None:
    """Devices support four channels of every type, so that the comparison is not empty."""
    for sampler in samplers:
        missing = [case.name for case in CASES if case.channels == 4 and not sampler.supports(case)]
        assert not missing, f"{sampler.name} lacks the formats of {missing}"


@pytest.mark.parametrize("channels", [1, 2])
def test_alpha_of_the_border(channels: int, samplers: list[OpenCLSampler]) -> None:
    """OpenCL's border is opaque where the image has no alpha; the package's is transparent zero in the image's
    channels.

    PoCL gives 0 (3.1 and 5.0); no comparison above covers it.
    """
    name = f"sample standard 32x16 fp32x{channels} clamp_to_border,clamp_to_border nearest unnormalized dyadic"
    case = next(case for case in CASES if case.name == name)
    place = case.point("coordinates")
    outside = ((place < 0) | (place >= case.sizes)).any(1)
    supporting = [sampler for sampler in samplers if sampler.supports(case)]
    if not supporting:
        pytest.skip(f"no OpenCL device has images of {channels} channels of fp32")
    for sampler in supporting:
        alpha = sampler.run(case)[outside, 3]
        known = (0.0, 1.0) if sampler.name.startswith("Portable Computing Language") else (1.0,)
        assert alpha[0] in known and (alpha == alpha[0]).all(), sampler.name
        assert (sampler.run(case)[outside, :channels] == 0).all()


def test_integers_are_not_filtered() -> None:
    assert not [case.name for case in CASES if case.channel_type in INTEGERS and case.filtering == "linear"]
