"""Tables of docs/measurements/samplers.md: the arithmetic of other samplers by probes, and their speed.

    python docs/plots/samplers.py measure     # minutes; writes samplers.json
    python docs/plots/samplers.py             # writes the tables from samplers.json

Needs ``pip install opencv-python-headless torch scipy jax drjit OpenImageIO pyopencl wgpu``, PoCL, and variables of
environment: VK_ICD_FILENAMES (Vulkan drivers, with colons between: lvp_icd.x86_64.json of the package
mesa-vulkan-drivers, vk_swiftshader_icd.json of Chromium), DRJIT_LIBLLVM_PATH (libLLVM), and OPENCV4 (a folder of
``pip install --target`` with an OpenCV before version 5).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[1] / "measurements"
DOCUMENT = FOLDER / "samplers.json"
PAGE = FOLDER / "samplers.md"
THREADS = (1,)  # with more, processor time misses what other threads run in the last tick of the scheduler
STEPS = 1 << 16  # positions between two texels
SIDE = 1024
FORMATS = {"fp32 x1": ((SIDE, SIDE), np.float32), "unorm_int8 x4": ((SIDE, SIDE, 4), np.uint8)}

Array = Any


def random_texels(name: str, generator: np.random.Generator) -> Array:
    shape, dtype = FORMATS[name]
    return generator.random(shape, np.float32) if dtype == np.float32 else generator.integers(0, 256, shape, dtype)


def expected(texels: Array, xy: Array) -> Array:
    """Linear samples in double precision, clamped at the edges."""
    pixels = texels.astype(np.float64) / (1 if texels.dtype == np.float32 else 255)
    height, width = pixels.shape[:2]
    places = np.clip(xy.astype(np.float64) - 0.5, 0, [width - 1, height - 1])
    first = np.minimum(np.floor(places).astype(np.int64), [width - 2, height - 2])
    a, b = ((places - first).T).reshape(2, -1, *(1,) * (pixels.ndim - 2))
    x, y = first.T
    return (pixels[y, x] * (1 - a) + pixels[y, x + 1] * a) * (1 - b) + (
        pixels[y + 1, x] * (1 - a) + pixels[y + 1, x + 1] * a
    ) * b


def sampled(sampler: Any, texels: Array, xy: Array, outside: str = "edge") -> Array | None:
    try:
        work, values = sampler.prepare(texels, np.ascontiguousarray(xy, np.float32), outside)
    except NotImplementedError:
        return None
    work()
    return values()


def weights(values: Array) -> dict[str, Any]:
    """The steps of linear samples between two texels, 0 and 1, at k / STEPS of the way.

    Returns ``kind``, "float", "weight" (2^bits steps) or "codes" (steps of 1/255: the result is a byte), ``bits`` of
    the latter two, and ``error``, the least and the largest error in steps.
    """
    exact = np.arange(STEPS + 1) / STEPS
    steps = len(np.unique(np.round(values.astype(np.float64) * 2**20))) - 1
    bits = int(np.ceil(np.log2(max(steps, 1))))
    if bits > 12:
        return {"kind": "float"}
    error = (values.astype(np.float64) - exact)[1:-1] * steps
    kind = "codes" if steps == 255 else "weight"
    return {"kind": kind, "bits": bits, "steps": steps, "error": [float(error.min()), float(error.max())]}


def probe(sampler: Any) -> dict[str, Any]:
    """All of a sampler's arithmetic that the tables show."""
    generator = np.random.default_rng(5)
    found: dict[str, Any] = {"name": sampler.name, "version": sampler.version}
    line = np.zeros((64, 64), np.float32)
    line[:, 32:] = 1
    for name, texels in (
        ("fp32 x1", line),
        ("unorm_int8 x4", np.repeat((line * 255).astype(np.uint8)[..., None], 4, 2)),
    ):
        positions = np.stack([31.5 + np.arange(STEPS + 1) / STEPS, np.full(STEPS + 1, 10.5)], 1)
        values = sampled(sampler, texels, positions)
        shape, dtype = FORMATS[name]
        picture = (
            generator.random(shape, np.float32) if dtype == np.float32 else generator.integers(0, 256, shape, dtype)
        )
        places = generator.uniform(1, SIDE - 1, (1 << 16, 2)).astype(np.float32)
        random = sampled(sampler, picture, places)
        if values is not None and random is not None:
            error = float(abs(random - expected(picture, places)).max())
            found[name] = {**weights(values.reshape(STEPS + 1, -1)[:, 0]), "largest error": error}
    ones = np.ones((8, 8), np.float32)
    outside = np.array([[0.25, 4], [-0.25, 4], [-0.75, 4]], np.float32)
    for kind in ("edge", "zero"):
        values = sampled(sampler, ones, outside, kind)
        found[kind] = None if values is None else [round(float(value), 4) for value in values]
    ones[4, 5] = np.nan
    if (values := sampled(sampler, ones, np.array([[4.5, 4.5]], np.float32))) is not None:
        found["nan"] = bool(np.isnan(values).any())
    return found


def speeds(threads: int) -> list[dict[str, Any]]:
    """Samples in a second of processor time, of all threads together, by each sampler; the best of alternating rounds.

    Processor time leaves out the time that other programs take on a machine in use.
    """
    import cv2
    import drjit
    import torch
    from sampler_peers import samplers

    import bindless as bl
    from bindless.bench.measure import Bench, Peer

    cv2.setNumThreads(threads)
    torch.set_num_threads(threads)
    drjit.set_thread_count(threads)
    count, across = 1 << 20, 1 << 10
    index = np.arange(count)
    x, y = index % across - across / 2 + 0.5, index // across - across / 2 + 0.5
    c, s = np.cos(np.deg2rad(10)), np.sin(np.deg2rad(10))
    xy = (np.stack([c * x - s * y, s * x + c * y], 1) + across / 2).astype(np.float32)
    generator = np.random.default_rng(1)
    rows: list[dict[str, Any]] = []
    for name, (shape, dtype) in FORMATS.items():
        texels = (
            generator.random(shape, np.float32) if dtype == np.float32 else generator.integers(0, 256, shape, dtype)
        )
        works: dict[str, Peer] = {}
        for sampler in samplers():
            part = np.ascontiguousarray(xy[: count // sampler.share])
            try:
                works[sampler.name] = Peer(sampler.prepare(texels, part, "edge")[0], 1 / sampler.share)
            except NotImplementedError:
                continue
        mine = next(iter(works))
        bench = Bench(bl.Queue("reference"), count, clock=time.process_time)
        best = {mine: bench.measure(name, works[mine].work, {key: works[key] for key in works if key != mine})}
        if bench.notes:
            raise SystemExit(f"{bench.notes}")
        best |= {row.peer: row.peer_seconds for row in bench.rows}
        rows += [{"format": name, "threads": threads, "name": key, "samples": count / best[key]} for key in works]
    return rows


def older_opencv() -> list[dict[str, Any]]:
    """The probes of OpenCV in the folder OPENCV4, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.environ["OPENCV4"]}
    done = subprocess.run(
        [sys.executable, __file__, "opencv"], env=environment, stdout=subprocess.PIPE, check=True, text=True
    )
    return list(json.loads(done.stdout.splitlines()[-1]))


def apart(threads: int, runs: int) -> list[dict[str, Any]]:
    """``speeds`` in processes of their own, on as many processors as threads; ``samples`` lists all runs."""
    number = str(threads)
    names = ("BINDLESS_REFERENCE_THREADS", "OMP_NUM_THREADS", "LP_NUM_THREADS", "POCL_MAX_PTHREAD_COUNT")
    environment = {**os.environ, **dict.fromkeys(names, number), "OMP_WAIT_POLICY": "passive"}
    documents = []
    for _ in range(runs):
        command = [sys.executable, __file__, "speeds", number]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
        documents.append(json.loads(done.stdout.splitlines()[-1]))
    return [{**rows[0], "samples": [round(row["samples"]) for row in rows]} for rows in zip(*documents)]


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def measure(runs: int) -> None:
    from sampler_peers import samplers

    started = os.getloadavg()[1]
    document = {
        "date": date.today().isoformat(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "runs": runs,
        "samplers": [*(probe(sampler) for sampler in samplers()), *older_opencv()],
        "speeds": [row for threads in THREADS for row in apart(threads, runs)],
        "load": [round(started, 1), round(os.getloadavg()[1], 1)],
    }
    DOCUMENT.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


OUTSIDE = {  # values of an image of ones, at 1/4 inside its border and at 1/4 and 3/4 outside
    (1, 1, 1): "the edge texel",
    (0.75, 0.25, 0): "blends to zero over one texel",
    (0, 0, 0): "zero from the outermost centre on",
    (1, 0, 0): "zero from the border on",
}


def _outside(values: list[float] | None) -> str:
    return "none" if values is None else OUTSIDE.get(tuple(values), ", ".join(map(str, values)))


def _steps(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    if row["kind"] == "float":
        return "float"
    low, high = row["error"]
    rounding = "nearest" if max(-low, high) < 0.6 else "within one step" if max(-low, high) < 1.1 else "uneven"
    what = {"weight": f"{row['bits']} bits", "codes": "result in bytes"}[row["kind"]]
    return f"{what}, {rounding}"


def _error(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    error = row["largest error"]
    return f"{error:.1e}" if row["kind"] == "float" else f"1/{1 / error:.0f}"


def arithmetic(document: dict[str, Any]) -> str:
    """The table of weights, errors and borders."""
    head = ["sampler", "fp32: weights", "error", "unorm_int8: weights", "error", "zero outside", "NaN of weight 0"]
    rows = []
    for found in document["samplers"]:
        floats, codes = found.get("fp32 x1"), found.get("unorm_int8 x4")
        nan = {True: "NaN", False: "ignored", None: ""}[found.get("nan")]
        name = f"{found['name']} {found['version']}".strip()
        zero = _outside(found["zero"]) if floats else ""
        rows.append([name, _steps(floats), _error(floats), _steps(codes), _error(codes), zero, nan])
    return _table(head, rows)


def speed(document: dict[str, Any]) -> str:
    """The table of million samples in a second of processor time, with this package's speed divided by it."""
    rates = {
        (row["name"], row["format"]): [part / 1e6 for part in sorted(row["samples"])] for row in document["speeds"]
    }
    names = list(dict.fromkeys(row["name"] for row in document["speeds"]))
    rows = []
    for name in names:
        cells = [name]
        for form in FORMATS:
            if (name, form) in rates:
                runs = rates[(name, form)]
                ratio = median(rates[(names[0], form)]) / median(runs)
                cells += [
                    f"{median(runs):.3g} ({runs[0]:.3g} to {runs[-1]:.3g})",
                    f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}",
                ]
            else:
                cells += ["", ""]
        rows.append(cells)
    return _table(["sampler", *(part for form in FORMATS for part in (form, "ours / it"))], rows)


def conditions(document: dict[str, Any]) -> str:
    return (
        f"Measured on {document['date']}: {document['processor']}, {document['processors']} processors in use by other "
        f"programs\n(load {document['load'][0]} before, {document['load'][1]} after), Python {document['python']}, "
        f"{document['runs']} runs."
    )


def write(page: Path) -> None:
    """Replace what is between the marks of the page."""
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    text = page.read_text(encoding="utf-8")
    for mark, part in (("conditions", conditions), ("arithmetic", arithmetic), ("speed", speed)):
        before, start, rest = text.partition(f"<!-- {mark} -->\n")
        _, end, after = rest.partition(f"<!-- end of {mark} -->")
        if not end:
            raise SystemExit(f"{page} has no marks of {mark}")
        text = f"{before}{start}{part(document)}\n{end}{after}"
    page.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="?", choices=("measure", "speeds", "opencv"))
    parser.add_argument("threads", nargs="?", type=int, default=1)
    parser.add_argument("--runs", type=int, default=4)
    given = parser.parse_args()
    if given.part == "speeds":
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.threads])
        print(json.dumps(speeds(given.threads)))
        return
    if given.part == "opencv":
        from sampler_peers import opencv_samplers

        print(json.dumps([probe(sampler) for sampler in opencv_samplers()]))
        return
    if given.part == "measure":
        measure(given.runs)
    write(PAGE)


if __name__ == "__main__":
    main()
