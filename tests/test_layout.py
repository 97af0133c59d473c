"""The house: how many rooms it has, in how many layers, and that nothing in it has the name of another.

`python -m tests.test_layout` prints the lines of code of each room.
"""

import ast
import io
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dbce_spark"
CODE = ("dbce_spark", "benchmarks", "reproductions", "jobs")
ROOMS = 16
LAYERS = 8
PARAMETERS = 5
NOT_ROOMS = {"__main__"}
Imports = Mapping[str, set[str]]


@cache
def imports() -> Imports:
    """Return the modules that each module imports, by dotted names below the package."""
    graph = grimp.build_graph("dbce_spark", cache_dir=None)
    return {one: set(graph.find_modules_directly_imported_by(one)) for one in graph.modules}


def room(module: str) -> str:
    """Return the room that a module stands in: `dbce_spark.html.page` in `html`."""
    return [*module.split("."), ""][1]


@cache
def imports_of_rooms() -> Imports:
    """Return the rooms that each room imports from."""
    found: dict[str, set[str]] = defaultdict(set)
    for module, imported in imports().items():
        found[room(module)] |= {room(one) for one in imported} - {room(module)}
    return {name: others - NOT_ROOMS - {""} for name, others in found.items() if name and name not in NOT_ROOMS}


def circles(of: Imports) -> list[str]:
    """Return the names that import each other, directly or not."""
    left = {name: {one for one in others if one in of} for name, others in of.items()}
    while ground := {name for name, others in left.items() if not others}:
        left = {name: others - ground for name, others in left.items() if name not in ground}
    while top := set(left) - set().union(*left.values()):
        left = {name: others for name, others in left.items() if name not in top}
    return sorted(left)


def layer(name: str, of: Imports) -> int:
    """Return the layer of a room, counted from 1: one above the highest that it imports from."""
    return 1 + max((layer(one, of) for one in of[name]), default=0)


def trees(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    """Iterate over the modules of some folders, or of the package, with their syntax trees."""
    for folder in folders or CODE[:1]:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def code_lines(source: str) -> int:
    """Count the lines of code of a module, without docstrings, comments and blank lines."""
    no_code = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = [one for one in tokenize.generate_tokens(io.StringIO(source).readline) if one.type not in no_code]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= {*range(node.lineno, (node.end_lineno or 0) + 1)}  # a docstring, of a constant too
    return len(lines)


def lines_by_room() -> Mapping[str, int]:
    """Count the lines of code of each room, and of the folders beside the package."""
    lines: Counter[str] = Counter()
    for folder in (*CODE, "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            names = path.relative_to(ROOT).with_suffix("").parts
            lines["/".join(names[: 1 + (folder == PACKAGE.name)])] += code_lines(path.read_text(encoding="utf-8"))
    return lines


def parameters(function: ast.FunctionDef) -> int:
    """Count the parameters of a function, without the object or class of a method."""
    given = function.args
    named = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs) if one.arg not in ("self", "cls")]
    return len(named) + (given.vararg is not None) + (given.kwarg is not None)


def test_the_package_has_few_rooms() -> None:
    """Sixteen folders and files at most, beside `__init__` and `__main__`."""
    assert len({room(module) for module in imports()} - NOT_ROOMS - {""}) <= ROOMS


def test_the_rooms_are_in_few_layers() -> None:
    """The longest chain of imports between rooms, from the commands to the ground."""
    of = imports_of_rooms()

    assert max(layer(name, of) for name in of) <= LAYERS


def test_no_rooms_import_each_other() -> None:
    """No circle of any length."""
    assert [] == circles(imports_of_rooms())


def test_no_files_import_each_other() -> None:
    """No circle of any length, also within a room."""
    assert [] == circles(imports())


def test_no_two_modules_have_one_file_name() -> None:
    """A file's name alone says which it is."""
    names = Counter(path.name for path in PACKAGE.rglob("*.py"))

    assert {"__init__.py", "__main__.py"} >= {name for name, count in names.items() if count > 1}


def test_no_two_public_classes_have_one_name() -> None:
    """A class's name alone says which it is."""
    names = Counter(
        node.name
        for _, tree in trees()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert [] == [name for name, count in names.items() if count > 1]


RIDDLES = ("What", "Who", "Those", "Which", "Where", "How", "Whether", "That")


def test_what_is_documented_is_named() -> None:
    """No string behind a constant, a field, a class, a module or a function begins with one of these words."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.value.value[:40]}"
        for path, tree in trees(*CODE)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        and node.value.value.split(" ")[0] in RIDDLES
    ]  # fmt: skip

    assert [] == found


def test_docstrings_of_functions_are_no_riddles() -> None:
    """Nor does one of a function begin with them in the tests."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {ast.get_docstring(node)}"
        for path, tree in trees(*CODE, "tests")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (ast.get_docstring(node) or "").split(" ")[0] in RIDDLES
    ]

    assert [] == found


def test_functions_have_few_parameters() -> None:
    """Five at most: more of them are a noun that has not been found."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path, tree in trees(*CODE)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and parameters(node) > PARAMETERS
    ]

    assert [] == found


def test_lines_of_code_are_counted_without_docstrings() -> None:
    """A string that is used is code, also one of several lines."""
    source = (
        '"""Module."""\n\nA = """one\ntwo"""\n"""Of A."""\n\ndef f():  # why\n    """Do."""\n    # why\n    return 1\n'
    )

    assert 4 == code_lines(source)


if __name__ == "__main__":
    for room_name, count in sorted(lines_by_room().items()):
        print(f"{count:7,}  {room_name}")
