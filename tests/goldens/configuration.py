"""The configurations of the golden set, and the records of devices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

DATA = Path(__file__).resolve().parent.parent / "data"


@dataclass(frozen=True)
class Configuration:
    """One image, one sampler and one set of points.

    Attributes:
        name: key of the results in a record.
        operation: ``sample``, ``sample_lod``, ``sample_gradient`` or ``fetch``.
        type: type of the image.
        dimensions: of the image, layers not counted.
        channel_type, channels: format of the image.
        memory: ``array`` (image memory), ``pitch2d`` (pitched) or ``linear`` (one row of plain memory).
        addressing: one mode for each dimension.
        normalized, filtering, mipmap_filtering, seamless, min_level, max_level, max_anisotropy: the sampler.
        image: name of the image; ``levels`` arrays belong to it.
        points: name of the points.
    """

    name: str
    operation: str
    type: str
    dimensions: int
    channel_type: str
    channels: int
    memory: str
    addressing: tuple[str, ...]
    normalized: bool
    filtering: str
    mipmap_filtering: str
    seamless: bool
    min_level: float
    max_level: float
    max_anisotropy: float
    image: str
    levels: int
    points: str

    @property
    def family(self) -> str:
        """What the configuration is about: geometry, filter and format."""
        geometry = "cube" if self.type == "cubemap" else f"{self.dimensions}D"
        if self.type == "array":
            geometry += " layers"
        if self.operation == "sample_gradient":
            geometry += " anisotropic" if self.max_anisotropy >= 2 else " gradients"
        elif self.operation == "sample_lod":
            geometry += " levels"
        what = "fetch" if self.operation == "fetch" else self.filtering
        return f"{geometry:<16} {what:<8} {self.channel_type}"

    def pixels(self) -> list[Array]:
        """One array for each level: ([layers or depth,] [height,] width, channels)."""
        return [inputs()[f"image/{self.image}/{level}"] for level in range(self.levels)]

    def point(self, name: str) -> Array:
        """``coordinates``, ``layers``, ``levels``, ``gradient_x`` or ``gradient_y``."""
        return inputs()[f"points/{self.points}/{name}"]


@dataclass(frozen=True)
class Record:
    """What one device gave for every configuration."""

    name: str
    about: Mapping[str, str]
    results: Mapping[str, Array]


@lru_cache(maxsize=1)
def inputs() -> dict[str, Array]:
    """All images and points, by key."""
    with np.load(DATA / "golden_inputs.npz") as stored:
        return {key: stored[key] for key in stored.files}


@lru_cache(maxsize=1)
def configurations() -> tuple[Configuration, ...]:
    """All configurations, in the order of the index."""
    index = json.loads((DATA / "golden_index.json").read_text(encoding="utf-8"))
    return tuple(
        Configuration(**{**entry, "addressing": tuple(entry["addressing"])}) for entry in index["configurations"]
    )


def read_record(name: str) -> Record:
    """The record ``tests/data/golden_<name>``."""
    about = json.loads((DATA / f"golden_{name}.json").read_text(encoding="utf-8"))
    with np.load(DATA / f"golden_{name}.npz") as stored:
        return Record(name, about, {key: stored[key] for key in stored.files})


def write_record(record: Record, folder: Path = DATA) -> tuple[Path, Path]:
    """Writes a record; returns the paths of its results and of what is said about it."""
    results, about = folder / f"golden_{record.name}.npz", folder / f"golden_{record.name}.json"
    arrays: dict[str, Any] = dict(record.results)
    np.savez_compressed(results, **arrays)
    about.write_text(json.dumps(dict(record.about), indent=1) + "\n", encoding="utf-8")
    return results, about


def record_names(folder: Path = DATA) -> list[str]:
    """Names of the records that are carried."""
    return sorted(
        path.stem.removeprefix("golden_") for path in folder.glob("golden_*.json") if path.stem != "golden_index"
    )
