"""The pages of packages as a set to be labelled."""

import gzip
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

    assert 1 == package_pages.write([path], None, str(output))
    (row,) = map(json.loads, output.read_text(encoding="utf-8").splitlines())
    assert ("html/a.html", "http://a.example.org/1", html, "") == (row["id"], row["url"], row["html"], row["gold"])


@pytest.mark.parametrize("content", [b"", b"no archive"])
def test_what_is_no_package_is_named(tmp_path: Path, content: bytes) -> None:
    """A package without an index is refused as one that cannot be read is."""
    path = tmp_path / "wrong.tar.gz"
    path.write_bytes(content) if content else package(path)

    with pytest.raises(InputError, match=str(path)):
        package_pages.write([str(path)], None, str(tmp_path / "set.jsonl"))


def test_a_page_that_the_index_names_and_the_package_lacks_is_named(tmp_path: Path) -> None:
    """A package that was cut short is no traceback."""
    index = json.dumps({"html/a.html": {"url": "http://a.example.org/1"}}).encode()
    path = package(tmp_path / "forms.tar.gz", **{"index.json": index})

    with pytest.raises(InputError, match=r"html/a\.html"):
        package_pages.write([path], None, str(tmp_path / "set.jsonl"))


def tarred(first: str, **files: bytes) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:xz") as written:
        for name, page in files.items():
            member = tarfile.TarInfo(f"{first}{name}")
            member.size = len(page)
            written.addfile(member, io.BytesIO(page))
    return content.getvalue()


def debian_package(**files: bytes) -> bytes:
    members = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.xz": tarred("./usr/", **files)}
    header = "{:16}{:12}{:6}{:6}{:8}{:<10}`\n"
    parts = [
        header.format(name, 0, 0, 0, 100644, len(content)).encode() + content + b"\n" * (len(content) % 2)
        for name, content in members.items()
    ]
    return b"!<arch>\n" + b"".join(parts)


def labels(folder: Path, *ids: str) -> str:
    path = folder / "docs.jsonl"
    rows = [{"id": one, "url": f"http://docs.invalid/{number}"} for number, one in enumerate(ids)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def test_labels_name_pages_of_packages_of_debian_and_npm(tmp_path: Path) -> None:
    """The id has the package's file without suffix, and the path in it; Debian presses long pages."""
    (tmp_path / "manual_1.0-2_all.deb").write_bytes(
        debian_package(**{"a.html.gz": gzip.compress(b"<p>press"), "b.html": b"<p>other"})
    )
    (tmp_path / "slides-1.0.tgz").write_bytes(tarred("package/", **{"demo/index.htm": b"<p>show"}))
    named = labels(tmp_path, "slides-1.0:demo/index.htm", "manual_1.0-2_all:usr/a.html.gz")
    output = tmp_path / "set.jsonl"

    packages = [str(tmp_path / "manual_1.0-2_all.deb"), str(tmp_path / "slides-1.0.tgz")]
    assert 2 == package_pages.write(packages, named, str(output))
    rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert [("<p>show", "http://docs.invalid/0", "docs"), ("<p>press", "http://docs.invalid/1", "docs")] == [
        (row["html"], row["url"], row["dataset"]) for row in rows
    ]


@pytest.mark.parametrize(
    ("content", "named", "said"),
    [
        (b"!<arch>\n", "manual:usr/a.html", r"manual\.deb.*data\.tar"),
        (b"no package", "manual:usr/a.html", r"manual\.deb.*data\.tar"),
        (debian_package(), "manual:usr/a.html", r"manual\.deb has no usr/a\.html"),
        (debian_package(), "other:usr/a.html", "other is not among the packages"),
        (
            debian_package(**{"a.html.gz": gzip.compress(b"cut")[:-9]}),
            "manual:usr/a.html.gz",
            r"manual\.deb.*usr/a\.html",
        ),
        (debian_package(**{"a.html": b"cut"})[:-100], "manual:usr/a.html", r"manual\.deb"),
    ],
    ids=["empty", "other", "lacks the page", "not given", "page cut short", "package cut short"],
)
def test_a_labelled_page_that_no_package_has_is_named(tmp_path: Path, content: bytes, named: str, said: str) -> None:
    """The package is not given, is none, lacks the page, or it or the page in it is cut short."""
    (tmp_path / "manual.deb").write_bytes(content)

    with pytest.raises(InputError, match=said):
        package_pages.write([str(tmp_path / "manual.deb")], labels(tmp_path, named), str(tmp_path / "set.jsonl"))
