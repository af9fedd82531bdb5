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

    Attributes
    ----------
    name
        Key of the results in a record.
    operation
        ``sample``, ``sample_lod``, ``sample_gradient`` or ``fetch``.
    type
        Type of the image.
    dimensions
        Dimensions of the image, without layers.
    channel_type, channels
        Format of the image.
    memory
        ``array`` (image memory), ``pitch2d`` (pitched) or ``linear`` (one row of plain memory).
    addressing
        One mode per dimension.
    normalized, filtering, mipmap_filtering, seamless, min_level, max_level, max_anisotropy
        The sampler.
    image
        Name of the image and of its ``levels`` arrays.
    points
        Name of the points.
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
        """Family of the configuration: geometry, filter and format."""
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
        """Return one array per level: ([layers or depth,] [height,] width, channels)."""
        return [inputs()[f"image/{self.image}/{level}"] for level in range(self.levels)]

    def point(self, name: str) -> Array:
        """Return ``coordinates``, ``layers``, ``levels``, ``gradient_x`` or ``gradient_y``."""
        return inputs()[f"points/{self.points}/{name}"]


@dataclass(frozen=True)
class Record:
    """Results of one device for every configuration."""

    name: str
    about: Mapping[str, str]
    results: Mapping[str, Array]


@lru_cache(maxsize=1)
def inputs() -> dict[str, Array]:
    """Return all images and points, by key."""
    with np.load(DATA / "golden_inputs.npz") as stored:
        return {key: stored[key] for key in stored.files}


@lru_cache(maxsize=1)
def configurations() -> tuple[Configuration, ...]:
    """Return all configurations, in the order of the index."""
    index = json.loads((DATA / "golden_index.json").read_text(encoding="utf-8"))
    return tuple(
        Configuration(**{**entry, "addressing": tuple(entry["addressing"])}) for entry in index["configurations"]
    )


def read_record(name: str) -> Record:
    """Read the record ``tests/data/golden_<name>``."""
    about = json.loads((DATA / f"golden_{name}.json").read_text(encoding="utf-8"))
    with np.load(DATA / f"golden_{name}.npz") as stored:
        return Record(name, about, {key: stored[key] for key in stored.files})


def write_record(record: Record, folder: Path = DATA) -> tuple[Path, Path]:
    """Write a record; return the paths of its results and of its description."""
    results, about = folder / f"golden_{record.name}.npz", folder / f"golden_{record.name}.json"
    arrays: dict[str, Any] = dict(record.results)
    np.savez_compressed(results, **arrays)
    about.write_text(json.dumps(dict(record.about), indent=1) + "\n", encoding="utf-8")
    return results, about


def record_names(folder: Path = DATA) -> list[str]:
    """Return the names of the committed records."""
    return sorted(
        path.stem.removeprefix("golden_") for path in folder.glob("golden_*.json") if path.stem != "golden_index"
    )
