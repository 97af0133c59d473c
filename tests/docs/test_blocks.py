"""No command and no program stands in the documentation that nothing checks."""

import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from configparser import ConfigParser
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from dbce_spark import config
from dbce_spark.commands import cli
from docs.hooks import leaves
from tests.support.code_blocks import PAGES, ROOT, Block, blocks, commands, inline

KINDS = {"sh", "python", "sql", "yaml", "text"}
RUN_BY = {
    ("README.md", "python"): "tests/docs/test_programs.py",
    ("docs/benchmark.md", "python"): "tests/evaluation/extracting/test_given_extractors.py",
    ("docs/collections.md", "python"): "tests/docs/test_without_spark.py",
    ("docs/collections.md", "sql"): "tests/docs/test_tutorial.py",
    ("docs/duplicates.md", "sql"): "tests/docs/test_without_spark.py",
    ("docs/export.md", "yaml"): "tests/docs/test_export.py",
    ("docs/operations.md", "yaml"): "tests/docs/test_programs.py",
    ("docs/pipelines.md", "python"): "tests/examples/test_pipelines.py",
    ("docs/python.md", "python"): "tests/docs/test_programs.py",
    ("docs/reading.md", "python"): "tests/docs/test_reading.py",
    ("docs/source.md", "python"): "tests/docs/test_programs.py",
    ("docs/tables.md", "sql"): "tests/docs/test_programs.py",
    ("docs/tutorial.md", "python"): "tests/docs/test_tutorial.py",
    ("docs/urltree.md", "python"): "tests/docs/test_programs.py",
}
"""Which test runs what is neither shell nor to be read only."""
OF_THE_SHELL = {"[", "case", "esac", "exit", "export", "kill", "mkdir", "sleep", "source", "wait"}
NOT_OURS = {
    "jq": "a program of others, of which nothing is written here but names of fields (docs/operations.md, Logs)"
}
OPTIONS = {one.prog: set(one._option_string_actions) for one in leaves(cli.parser())}


def is_accepted(words: list[str]) -> None:
    """By the parser, and by the configuration what it sets of that."""
    arguments = cli.parser().parse_args(words)
    config.load(None, getattr(arguments, "settings", []))


def is_target(words: list[str]) -> None:
    """Each word is a target of the Makefile, or sets one of its variables."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in words:
        name, is_variable, _ = word.partition("=")
        assert re.search(rf"^{name} *\??=" if is_variable else rf"^{name}:", makefile, re.MULTILINE), word


def is_submitted(words: list[str]) -> None:
    """Files exist, and what stands behind the job is accepted as by `dbce extract`."""
    at = next(nth for nth, word in enumerate(words) if word.endswith(".py"))
    files = [words[at], *(word for word in words[:at] if word.startswith("conf/"))]

    assert [] == [one for one in files if not (ROOT / one).is_file()]
    is_accepted(["extract", *words[at + 1 :]])


def is_extra(words: list[str]) -> None:
    """`pip install .` installs the package, and `pip install '.[NAME]'` names an extra."""
    parsed = ConfigParser()
    parsed.read(ROOT / "setup.cfg", encoding="utf-8")
    asked = re.findall(r"\[(.+)\]", " ".join(words))

    assert "install" == words[0]
    assert asked or ["."] == words[1:]
    assert {name for one in asked for name in one.split(",")} <= set(parsed["options.extras_require"])


def is_program(words: list[str]) -> None:
    """A module that is there, or a text that runs."""
    if words[0] == "-m":
        assert find_spec(words[1]), words[1]
    else:
        assert "-c" == words[0]
        subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True)


def is_service(words: list[str]) -> None:
    """`docker compose` names services that are there."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]

    assert words[0] == "compose"
    assert {word for word in words[2:] if not word.startswith("-")} <= set(services)


def is_class(words: list[str]) -> None:
    """A class of Spark's."""
    spark = find_spec("pyspark")
    assert spark
    assert spark.origin
    (jar,) = (Path(spark.origin).parent / "jars").glob("spark-core_*.jar")

    assert f"{words[0].replace('.', '/')}.class" in zipfile.ZipFile(jar).namelist()


def is_script(words: list[str]) -> None:
    """A file that is there."""
    assert (ROOT / words[0]).is_file()


CHECKS: dict[str, Callable[[list[str]], None]] = {
    "bash": is_script,
    "dbce": is_accepted,
    "docker": is_service,
    "make": is_target,
    "pip": is_extra,
    "python": is_program,
    "python3": is_program,
    "spark-class": is_class,
    "spark-submit": is_submitted,
}


def of_kind(kind: str) -> list[Block]:
    return [one for one in blocks() if one.kind == kind]


def test_every_block_says_what_it_is() -> None:
    """Also those that are only to be read: "text". Indented ones cannot say it, so there are none."""
    assert [] == [str(one) for one in blocks() if one.kind not in KINDS]


def test_every_program_is_run_by_a_test() -> None:
    """The table above names it, and nothing that is gone."""
    found = {(one.page, one.kind) for one in blocks() if one.kind not in ("sh", "text")}

    assert found == set(RUN_BY)
    assert [] == [test for test in RUN_BY.values() if not (ROOT / test).is_file()]


@pytest.mark.parametrize("block", of_kind("sh"), ids=str)
def test_a_command_is_one(block: Block, capsys: pytest.CaptureFixture[str]) -> None:
    """A shell can read it; what it calls is there, and takes the words that it is given."""
    done = subprocess.run(["bash", "-n"], input=block.code, text=True, capture_output=True, check=False)
    called = [*commands(block.code)]

    assert "" == done.stderr
    assert called
    for name, *words in called:
        assert name in CHECKS or name in OF_THE_SHELL or name in NOT_OURS, name
        if name in CHECKS:
            try:
                CHECKS[name](words)
            except SystemExit:
                pytest.fail(f"{name} {words}: {capsys.readouterr().err}")


def test_what_is_only_read_hides_no_command() -> None:
    """In a block of text `dbce` stands in a synopsis, or behind a prompt; both name what there is."""
    for block in of_kind("text"):
        for line in block.code.splitlines():
            called = re.match(rf"(?:\$ )?(({'|'.join(CHECKS)}) \w.*)", line)
            if called:
                assert "dbce" == called[2], f"{block}: {line}"
                assert [] == unknown(called[1]), str(block)


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_prose_have_the_options_that_are_named(page: str) -> None:
    """`dbce corpus --within url` is written only where there is such an option."""
    assert [] == [problem for code in inline(page) if code.startswith("dbce ") for problem in unknown(code)]


def unknown(code: str) -> list[str]:
    """The commands and options of a line that there are none of. `log|show` are two commands."""
    _, command, *rest = code.split()
    has_parts = any(one.startswith(f"dbce {command} ") for one in OPTIONS)
    parts = rest[0].split("|") if has_parts and rest else []
    names = [f"dbce {command} {part}" for part in parts] if has_parts else [f"dbce {command}"]
    known = set().union(*(OPTIONS.get(name, set()) for name in names))
    options = re.findall(r"(?<![\w-])--[a-z-]+", code)
    return [one for one in names if one not in OPTIONS] + [one for one in options if one not in known]
