"""Members of enumerations: equal to their names in the specifications, to each of them where there are two."""

from __future__ import annotations

import pickle

import pytest

import bindless as bl


@pytest.mark.parametrize(
    "member, names",
    [
        (bl.Backend.level_zero, ("level_zero", "ext_oneapi_level_zero")),
        (bl.Backend.cuda, ("cuda",)),
        (bl.AddressingMode.clamp, ("clamp", "clamp_to_border", "ext_oneapi_clamp_to_border")),
        (bl.AddressingMode.clamp_to_edge, ("clamp_to_edge",)),
        (bl.AccessMode.read, ("read",)),
    ],
)
def test_a_member_is_equal_to_its_names(member: object, names: tuple[str, ...]) -> None:
    kind = type(member)
    for name in names:
        assert member == name and name == member and kind(name) is member
        assert (member != name) is False and (name != member) is False
    for other in kind.__members__:
        if other not in names:
            assert member != other and member != kind(other)
            assert (member == other) is False and (other == member) is False
    assert str(member) in {member} and pickle.loads(pickle.dumps(member)) is member
    assert member != 3 and member is not None
