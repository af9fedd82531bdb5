"""Parser of preprocessed OpenCL C into top-level items: functions with their parameters, and everything else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["Item", "Parameter", "items", "text_of"]

_TOKEN = re.compile(
    r"(?P<directive>^[ \t]*#[^\n]*)|(?P<space>\s+)|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)|(?P<mark>->|\.\.\.|.)",
    re.MULTILINE,
)
_MARKER = re.compile(r"\s*#\s*(?:line\s+)?\d+")
_NAME = re.compile(r"[A-Za-z_]\w*$")


@dataclass
class Parameter:
    """A parameter of a function: positions of its tokens in the item, and its name, if it has one."""

    begin: int
    end: int
    name: str


@dataclass
class Item:
    """A definition or declaration, or the directives between them.

    Attributes
    ----------
    tokens
        Tokens of the preprocessed source, including spaces.
    name
        Name of a function, else empty.
    place
        Index of the name's token.
    parameters
        Parameters of a function.
    body
        Index of the first token of a definition's body; -1 without a body.
    """

    tokens: list[str]
    name: str = ""
    place: int = 0
    parameters: list[Parameter] = field(default_factory=list)
    body: int = -1

    @property
    def lines_before(self) -> int:
        """Number of lines of its text before that of the name."""
        return "".join(self.tokens[: self.place]).lstrip().count("\n")

    @property
    def is_kernel(self) -> bool:
        """Whether it defines a kernel."""
        head = self.tokens[: max(self.body, 0)]
        return bool(self.name) and ("kernel" in head or "__kernel" in head)

    def names(self) -> set[str]:
        """All identifiers in it."""
        return {token for token in self.tokens if _NAME.match(token)}


def text_of(item: Item) -> str:
    """The item's text."""
    return "".join(item.tokens).strip()


def items(text: str) -> list[Item]:
    """Parse a preprocessed source into items, in order."""
    result: list[Item] = []
    tokens: list[str] = []
    depth = 0
    for token in _tokens(text):
        tokens.append(token)
        if token[:1] == "#" and depth == 0 and not "".join(tokens[:-1]).strip():
            result.append(Item(tokens))
            tokens = []
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        if depth == 0 and (token == ";" or (token == "}" and _head(tokens))):
            result.append(_item(tokens))
            tokens = []
    if "".join(tokens).strip():
        result.append(Item(tokens))
    return result


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match[0]
        if match.lastgroup == "directive":
            if not _MARKER.match(token):
                yield token.strip()
        elif match.lastgroup == "space":
            yield "\n" if "\n" in token else " "
        else:
            yield token


def _item(tokens: list[str]) -> Item:
    head = _head(tokens)
    if head is None:
        return Item(tokens)
    name, begin, end = head
    body = next((place for place in range(end, len(tokens)) if tokens[place] == "{"), -1)
    return Item(tokens, tokens[name], name, _parameters(tokens, begin + 1, end), body)


def _head(tokens: Sequence[str]) -> tuple[int, int, int] | None:
    """Return the positions of a function's name and of its parameter list's parentheses, or None for another item."""
    depth, head, opening = 0, None, -1
    for place, token in enumerate(tokens):
        if depth == 0 and token in ("{", "=", "typedef"):
            break
        if token in "([":
            if depth == 0:
                opening = place
            depth += 1
        elif token in ")]":
            depth -= 1
            before = _before(tokens, opening)
            if depth == 0 and tokens[opening] == "(" and before >= 0:
                name = tokens[before]
                if _NAME.match(name) and name != "__attribute__":
                    head = (before, opening, place)
    return head


def _before(tokens: Sequence[str], place: int) -> int:
    """Return the index of the previous token, ignoring spaces; -1 if there is none."""
    place -= 1
    while place >= 0 and not tokens[place].strip():
        place -= 1
    return place


def _parameters(tokens: Sequence[str], begin: int, end: int) -> list[Parameter]:
    parameters, depth, first = [], 0, begin
    for place in range(begin, end + 1):
        token = tokens[place]
        if place == end or (token == "," and depth == 0):
            words = [word for word in tokens[first:place] if _NAME.match(word)]
            if words and words != ["void"]:
                begin = next(at for at in range(first, place) if tokens[at].strip())
                parameters.append(Parameter(begin, place, words[-1] if len(words) > 1 else ""))
            first = place + 1
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
    return parameters
