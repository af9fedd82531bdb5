"""Multiscale images of OME-Zarr 0.4 and 0.5: the metadata, by the models of the package ome-zarr-models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..model.errors import InvalidError

__all__ = ["FORMATS", "Axis", "InputImage", "multiscale_attributes", "opened"]

FORMATS = {"0.4": 2, "0.5": 3}  # and the version of zarr
_NAMES = "tczyx"
_KINDS = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}


@dataclass(frozen=True)
class Axis:
    """An axis of an image.

    Attributes
    ----------
    name, kind, unit : str
        As in the metadata; the unit may be empty.
    scale, translation : float
        Size of an element, and the place of the first one.
    """

    name: str
    kind: str
    unit: str = ""
    scale: float = 1.0
    translation: float = 0.0


@dataclass(frozen=True)
class InputImage:
    """The full resolution of an image.

    Attributes
    ----------
    array : Any
        zarr array.
    axes : tuple[Axis, ...]
        One for each axis of the array.
    """

    array: Any
    axes: tuple[Axis, ...]


def opened(path: str) -> InputImage:
    """An array, or the first level of a multiscale image of OME-Zarr.

    Raises
    ------
    InvalidError
        Neither is there.
    """
    import zarr

    try:
        found = zarr.open(path, mode="r")
    except Exception as error:  # each store has its own
        raise InvalidError(f"{path} cannot be opened as zarr: {type(error).__name__}: {error}") from error
    if not isinstance(found, zarr.Group):
        return InputImage(found, _axes_of_array(len(found.shape)))
    attributes = dict(found.attrs)
    version = "0.5" if "ome" in attributes else "0.4"
    content = attributes.get("ome", attributes)
    if "multiscales" not in content:
        names = ", ".join(sorted(found.array_keys())) or "none"
        raise InvalidError(f"{path} is a group without an image of OME-Zarr; its arrays: {names}")
    try:
        described = _models(version).ImageAttrs.model_validate(content)
    except ValueError as error:
        raise InvalidError(f"{path}: metadata of OME-Zarr {version} is not valid: {error}") from error
    scales = described.multiscales[0]
    first = scales.datasets[0]
    if first.path not in found:
        raise InvalidError(f"{path}: the metadata names an array {first.path!r}, which is missing")
    array = found[first.path]
    whole = scales.coordinateTransformations
    size, place = [1.0] * len(scales.axes), [0.0] * len(scales.axes)
    for step in (*first.coordinateTransformations, *(() if whole is None else whole)):
        if step.type == "scale":
            size = [old * factor for old, factor in zip(size, step.scale)]
            place = [old * factor for old, factor in zip(place, step.scale)]
        elif step.type == "translation":
            place = [old + moved for old, moved in zip(place, step.translation)]
    axes = tuple(
        Axis(axis.name, str(axis.type or "space"), axis.unit or "", size[number], place[number])
        for number, axis in enumerate(scales.axes)
    )
    return InputImage(array, axes)


def _axes_of_array(ndim: int) -> tuple[Axis, ...]:
    if not 2 <= ndim <= len(_NAMES):
        raise InvalidError(f"an array of {ndim} axes: images of OME-Zarr have 2 to {len(_NAMES)}")
    return tuple(Axis(name, _KINDS[name]) for name in _NAMES[-ndim:])


def _models(version: str) -> Any:
    try:
        return import_module(f"ome_zarr_models.v{version.replace('.', '')}.image")
    except ImportError as error:
        raise InvalidError(
            f"OME-Zarr is read and written with ome-zarr-models: pip install 'bindless[dask]' ({error})"
        ) from error


def multiscale_attributes(version: str, name: str, levels: Sequence[Sequence[Axis]]) -> dict[str, Any]:
    """The attributes of a group with levels "0", "1" and so on.

    Parameters
    ----------
    version : str
        "0.4" or "0.5".
    name : str
        Of the image.
    levels : Sequence[Sequence[Axis]]
        The axes of each level.
    """
    axes = [{"name": axis.name, "type": axis.kind, **({"unit": axis.unit} if axis.unit else {})} for axis in levels[0]]
    datasets = [
        {
            "path": str(number),
            "coordinateTransformations": [
                {"type": "scale", "scale": [axis.scale for axis in level]},
                {"type": "translation", "translation": [axis.translation for axis in level]},
            ],
        }
        for number, level in enumerate(levels)
    ]
    scales: dict[str, Any] = {"name": name, "axes": axes, "datasets": datasets, "type": "mean"}
    if version == "0.4":
        scales["version"] = version
    content: dict[str, Any] = {"multiscales": [scales]}
    if version == "0.5":
        content = {"version": version, **content}
    try:
        model = _models(version).ImageAttrs.model_validate(content)
    except ValueError as error:
        raise InvalidError(f"the image has no valid metadata of OME-Zarr {version}: {error}") from error
    valid: dict[str, Any] = model.model_dump(mode="json", exclude_none=True)
    return {"ome": valid} if version == "0.5" else valid
