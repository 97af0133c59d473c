"""The patterns of all modules match alike on every Python that is supported."""

import ast
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

from tests.test_layout import CODE, ROOT


def patterns() -> Iterator[tuple[str, Any]]:
    """Yield the place and the pattern of each `re.compile`; what is filled in is a letter."""
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", written(node.args[0])


def written(node: ast.expr) -> Any:
    """Return the text or bytes of an expression, with a letter for each part that is computed."""
    if isinstance(node, ast.BinOp):
        sides = [written(node.left), written(node.right)]
        return b"".join(sides) if all(isinstance(one, bytes) for one in sides) else "".join(map(as_text, sides))
    if isinstance(node, ast.JoinedStr):
        return "".join(map(as_text, map(written, node.values)))
    return node.value if isinstance(node, ast.Constant) else "x"


def as_text(part: str | bytes) -> str:
    """Return a part as text; each byte is the character of its number."""
    return part if isinstance(part, str) else part.decode("latin-1")


def repeats_group(parsed: Any) -> bool:
    """Return whether a parsed pattern has a possessive or an atomic group."""
    return any(
        name is _constants.ATOMIC_GROUP
        or (name is _constants.POSSESSIVE_REPEAT and not is_character(value[2]))
        or any(map(repeats_group, inner(value)))
        for name, value in parsed
    )


def is_character(parsed: Any) -> bool:
    """Return whether a parsed pattern is one character, or one of a class."""
    return len(parsed) == 1 and parsed[0][0] in (_constants.IN, _constants.LITERAL, _constants.NOT_LITERAL)


def inner(value: Any) -> Iterator[Any]:
    """Yield the patterns within an element of one."""
    if isinstance(value, _parser.SubPattern):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from inner(one)


def test_no_group_is_possessive() -> None:
    """Python before 3.11.5 takes the wrong text with such groups; possessive classes of characters are right there."""
    found = dict(patterns())

    assert len(found) > 200
    assert repeats_group(_parser.parse("(?:a(?:b|c))*+"))
    assert [] == [place for place, pattern in found.items() if repeats_group(_parser.parse(pattern))]
