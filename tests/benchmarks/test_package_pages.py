"""The pages of a package as a set to be labelled."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from benchmarks import package_pages
from dbce_spark.errors import InputError


def package(path: Path, **files: bytes) -> str:
    with tarfile.open(path, "w:gz") as written:
        for name, content in files.items():
            member = tarfile.TarInfo(f"forms-1.0/forms/data/{name}")
            member.size = len(content)
            written.addfile(member, io.BytesIO(content))
    return str(path)


def test_each_page_of_the_index_is_written_in_utf8_with_its_url(tmp_path: Path) -> None:
    """The index stands beside the pages."""
    html = "<html><meta charset=iso-8859-1><p>Køb</p>"
    index = json.dumps({"html/a.html": {"url": "http://a.example.org/1"}}).encode()
    path = package(tmp_path / "forms.tar.gz", **{"html/a.html": html.encode("iso-8859-1"), "index.json": index})
    output = tmp_path / "set.jsonl"

    assert 1 == package_pages.write(path, str(output))
    (row,) = map(json.loads, output.read_text(encoding="utf-8").splitlines())
    assert ("html/a.html", "http://a.example.org/1", html, "") == (row["id"], row["url"], row["html"], row["gold"])


@pytest.mark.parametrize("content", [b"", b"no archive"])
def test_what_is_no_package_is_named(tmp_path: Path, content: bytes) -> None:
    """A package without an index is refused as one that cannot be read is."""
    path = tmp_path / "wrong.tar.gz"
    path.write_bytes(content) if content else package(path)

    with pytest.raises(InputError, match=str(path)):
        package_pages.write(str(path), str(tmp_path / "set.jsonl"))


def test_a_page_that_the_index_names_and_the_package_lacks_is_named(tmp_path: Path) -> None:
    """A package that was cut short is no traceback."""
    index = json.dumps({"html/a.html": {"url": "http://a.example.org/1"}}).encode()
    path = package(tmp_path / "forms.tar.gz", **{"index.json": index})

    with pytest.raises(InputError, match=r"html/a\.html"):
        package_pages.write(path, str(tmp_path / "set.jsonl"))
