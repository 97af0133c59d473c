"""docs/export.md is true."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from dbce_spark.commands.cli import main
from dbce_spark.export.attributes import FOLDERS
from dbce_spark.export.documents import METADATA
from tests.support.exports import lines, written

PAGE = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")
COMMANDS = [shlex.split(line, comments=True) for line in PAGE.splitlines() if line.startswith("dbce export")]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[5])
def test_a_command_runs(
    command: list[str],
    extracted: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each command of the page finds documents in the sample."""
    monkeypatch.chdir(tmp_path)
    Path("extracted").symlink_to(extracted)
    status = main([*command[1:], "--processes", "1"])

    assert 0 == status
    assert re.match(r"[1-9]\d* documents in ", capsys.readouterr().out)


def test_fields_and_attributes_are_all_listed(extracted: Path, tmp_path: Path) -> None:
    """The tables of the page have the fields of a document, its metadata, and the attributes, in their order."""
    main(["export", str(extracted), "--format", "dolma", "--output", str(tmp_path / "out"), "--processes", "1"])
    files = written(tmp_path / "out")
    documents_by_folder = {name.split("/")[-2]: lines(data)[0] for name, data in files.items() if name != "export.json"}
    attributes = [name for folder in FOLDERS for name in documents_by_folder[folder]["attributes"]]

    assert list(documents_by_folder["documents"]) == re.findall(
        r"^\| ([a-z]+) \| ", PAGE.partition("| field |")[2].partition("## Plain")[0], re.MULTILINE
    )
    assert list(METADATA) == re.findall(r"`([a-z_]+)`", re.findall(r"^\| metadata \| (.*?)\(", PAGE, re.MULTILINE)[0])
    assert sorted(attributes) == sorted(re.findall(r"^\| `(dbce__\w+)` \|", PAGE, re.MULTILINE))


def test_the_mixer_configuration_names_what_is_there() -> None:
    """The configuration of the page names folders and an attribute that exports have."""
    (stream,) = yaml.safe_load(re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0])["streams"]

    assert list(FOLDERS) == stream["attributes"]
    assert "$.attributes.dbce__labels__boilerplate" == stream["span_replacement"][0]["span"]
