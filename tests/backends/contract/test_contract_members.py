"""Every back end has each member of the contract, and each optional group that it declares is complete."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bindless.backends.contract import BackendProtocol, OptionalGroups, Traits
from bindless.backends.contract import optional_groups as groups_module
from bindless.backends.cuda.backend import CudaBackend
from bindless.backends.cuda.event import Event
from bindless.backends.level_zero.backend import LevelZeroBackend
from bindless.backends.opencl.backend import OpenCLBackend
from bindless.backends.reference.backend import ReferenceBackend

# The constructors of back ends open no vendor's driver.
BACKENDS: dict[str, Callable[[], Any]] = {
    "cuda": CudaBackend,
    "level_zero": LevelZeroBackend,
    "opencl": OpenCLBackend,
    "reference": ReferenceBackend,
}

GROUPS = tuple(name for name, member in vars(OptionalGroups).items() if isinstance(member, property))


def members(protocol: type) -> Iterator[str]:
    """Names of a protocol's methods and properties, inherited ones included, without groups and dunders."""
    for base in protocol.__mro__:
        if getattr(base, "_is_protocol", False) and base is not OptionalGroups:
            for name, member in vars(base).items():
                if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                    yield name


def protocol_of(group: str) -> type:
    """The protocol that annotates the attribute of a group."""
    declared = inspect.getattr_static(OptionalGroups, group).fget.__annotations__["return"]
    name, _, rest = declared.partition(" | ")
    assert rest == "None"
    protocol: type = vars(groups_module)[name]
    return protocol


# Back ends have types of their own for these, with names of their own.
OWN_NAMES = re.compile(r"\b(Any|Native(ExternalMemory|Fence|Graph|Physical|Pool|PoolEvent|Semaphore))\b")
# Types of results that are narrower than those of the contract.
NARROWER = {"NativeHandle": "int", "ForeignEvent": "Event", "list": "Sequence"}


def alternatives(annotation: object, narrower: bool = False) -> set[str]:
    """Parts of the union in an annotation, native types by the name of the back ends' classes."""
    text = re.sub(r"\b_?[a-z_]+\.(?=[A-Z])", "", str(annotation))
    if narrower:
        text = re.sub(r"\w+", lambda word: NARROWER.get(word[0], word[0]), text)
        text = re.sub(r"Callable\[(\[[^\]]*\]|\.\.\.)", "Callable[...", text)
        text = re.sub(r"\btuple\[(\w+), \.\.\.\]", r"Sequence[\1]", text)
    text = re.sub(r"\bNative(?!Handle\b)", "", text)
    text = re.sub(r"~?\b_([A-Z]\w+)", r"\1", text)  # type variables of classes that several back ends share
    return {part.strip() for part in re.split(r"\|(?![^\[]*\])", text)}


def type_mismatches(wanted: Callable[..., Any], present: Callable[..., Any]) -> list[str]:
    """Parameters of other types than the contract's, and results that are none of the contract's."""
    expected, own = inspect.signature(wanted), inspect.signature(present)
    found = [
        f"{name}: {own.parameters[name].annotation}, not {parameter.annotation}"
        for name, parameter in list(expected.parameters.items())[1:]
        if name in own.parameters
        and not OWN_NAMES.search(str(parameter.annotation))
        and str(own.parameters[name].annotation) not in ("object", "Sequence[object]")  # wider than any other
        and alternatives(own.parameters[name].annotation) != alternatives(parameter.annotation)
    ]
    results = str(expected.return_annotation), str(own.return_annotation)
    if results[1] == "NoReturn" or inspect.isclass(present):  # a refusal; a constructor, which returns its class
        return found
    if not OWN_NAMES.search(results[0]) and not alternatives(results[1], True) <= alternatives(results[0], True):
        found.append(f"-> {results[1]}, not {results[0]}")
    return found


def mismatches(protocol: type, made: object) -> list[str]:
    """What an object lacks of a protocol: missing members, and methods with other parameters or results."""
    found = []
    for name in members(protocol):
        wanted = inspect.getattr_static(protocol, name)
        if not hasattr(made, name):
            found.append(f"{name} is missing")
        elif not isinstance(wanted, property):
            expected = list(inspect.signature(wanted).parameters.values())[1:]
            present = list(inspect.signature(getattr(made, name)).parameters.values())
            extra = [own for own in present[len(expected) :] if own.default is inspect.Parameter.empty]
            names = [own.name for own in expected], [own.name for own in present[: len(expected)]]
            if names[0] != names[1] or extra:
                found.append(f"{name}{inspect.signature(getattr(made, name))}, not {names[0]}")
            found += [f"{name}: {text}" for text in type_mismatches(wanted, getattr(made, name))]
    return found


@pytest.fixture(scope="module", params=sorted(BACKENDS))
def made(request: pytest.FixtureRequest) -> BackendProtocol:
    return BACKENDS[request.param]()


def test_required_members(made: BackendProtocol) -> None:
    assert mismatches(BackendProtocol, made) == []
    assert type(made.traits) is Traits


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_is_none_or_complete(made: BackendProtocol, group: str) -> None:
    calls = getattr(made, group)
    if calls is not None:
        assert mismatches(protocol_of(group), calls) == []


@pytest.mark.parametrize("group", GROUPS)
def test_methods_of_a_group_are_declared(made: BackendProtocol, group: str) -> None:
    """A back end with all methods of a group declares the group; otherwise the code above does not use them."""
    if getattr(made, group) is None:
        assert any(not hasattr(made, name) for name in members(protocol_of(group)))


def test_every_group_has_a_back_end() -> None:
    instances = [make() for make in BACKENDS.values()]
    assert [group for group in GROUPS if all(getattr(made, group) is None for made in instances)] == []


def test_a_missing_method_is_found() -> None:
    class Partial:
        def record_graph(self, queue: Any) -> None: ...

    found = mismatches(protocol_of("graph"), Partial())
    assert "launch_graph is missing" in found
    assert any(entry.startswith("record_graph(") for entry in found)


def test_other_types_are_found() -> None:
    class Confused:
        def records_graphs(self, queue: Event) -> int: ...

    found = mismatches(protocol_of("graph"), Confused())
    assert "records_graphs: queue: Event, not NativeQueue" in found
    assert "records_graphs: -> int, not bool" in found
