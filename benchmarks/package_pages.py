"""The pages that packages carry, as a set to be labelled: JSON lines as gold sets have them, without gold.

Formasaurus, a classifier of forms, has pages of the web as its data. Packages of Debian and npm have documentation and
sites of projects, of which a file of labels names some.
"""

import gzip
import io
import json
import lzma
import re
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from dbce_spark.errors import InputError
from dbce_spark.files import jsonl
from dbce_spark.html import charset

_INDEX = "data/index.json"
"""Of formasaurus: its source distribution has 954 pages of 396 hosts (2014 to 2016), and this file says the URL of
each."""

_HTML = re.compile(r"\.html?(\.gz)?$", re.IGNORECASE)
_UNREADABLE = (OSError, EOFError, KeyError, ValueError, tarfile.TarError, lzma.LZMAError, zlib.error)
"""Errors of a file that is no package, or is damaged or cut short."""
_AR = b"!<arch>\n"
_AR_HEADER = 60
"""Bytes before each member of a Debian package: its name, times, owner and size."""


def write(packages: Sequence[str], labels: str | None, output: str) -> int:
    """Write the pages of some packages, and return how many they are: without labels each page of formasaurus' source
    distribution, in the order of its index; with them those that the labels name, in their order.

    A page's id in the labels is the package's file name without suffix, a colon, and its path in the package.

    Raises:
        InputError: a file is no such package, or a page that is named is in none.
    """
    if labels is None:
        return jsonl.write(output, (row for path in packages for row in _indexed(path)))
    return jsonl.write(output, _labelled(packages, labels))


def _indexed(path: str) -> Iterator[dict[str, Any]]:
    try:
        with tarfile.open(path) as package:
            index = next((name for name in package.getnames() if name.endswith(_INDEX)), None)
            if index is None:
                raise InputError(f"{path}: has no {_INDEX}; give the source distribution of formasaurus (tar.gz)")
            for name, about in json.loads(_read(package, index)).items():
                page = _read(package, str(PurePosixPath(index).parent / name))
                yield _row("formasaurus", name, about["url"], page)
    except _UNREADABLE as error:
        raise InputError(f"{path}: cannot be read as formasaurus' source distribution (tar.gz): {error}") from error


def _labelled(packages: Sequence[str], labels: str) -> Iterator[dict[str, Any]]:
    path_of = {Path(path).stem: path for path in packages}
    name, files = "", dict[str, bytes]()
    for place, label in jsonl.read(labels):
        package, _, page = label["id"].partition(":")
        if package not in path_of:
            raise InputError(f"{place}: {package} is not among the packages given")
        if package != name:
            name, files = package, _pages(path_of[package])
        if page not in files:
            raise InputError(f"{place}: {path_of[package]} has no {page}")
        yield _row(Path(labels).stem, label["id"], label["url"], files[page])


def _pages(path: str) -> dict[str, bytes]:
    """Read the HTML files of a package of Debian or npm, by their paths in it."""
    is_of_debian = path.endswith(".deb")
    try:
        content = Path(path).read_bytes()
        with tarfile.open(fileobj=io.BytesIO(_data_member(content) if is_of_debian else content)) as package:
            names = [one.name for one in package.getmembers() if one.isfile() and _HTML.search(one.name)]
            return {
                name.removeprefix("./") if is_of_debian else name.partition("/")[2]: _read(package, name)
                for name in names
            }
    except _UNREADABLE as error:
        raise InputError(f"{path}: cannot be read as a package of Debian (deb) or npm (tgz): {error}") from error


def _data_member(package: bytes) -> bytes:
    """Return the tar that holds the files of a Debian package.

    Raises:
        ValueError: it has none.
    """
    at = len(_AR) if package.startswith(_AR) else len(package)
    while header := package[at : at + _AR_HEADER]:
        size = int(header[48:58])
        at += _AR_HEADER
        if header.startswith(b"data.tar"):
            return package[at : at + size]
        at += size + size % 2
    raise ValueError("it has no data.tar")


def _read(package: tarfile.TarFile, name: str) -> bytes:
    """Read a file of a package, unpacked.

    Raises:
        ValueError: it is compressed, and damaged or cut short.
    """
    stream = package.extractfile(name)
    content = stream.read() if stream else b""
    try:
        return gzip.decompress(content) if name.endswith(".gz") else content
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name}: {error}") from error


def _row(dataset: str, name: str, url: str, page: bytes) -> dict[str, Any]:
    html = charset.cleaned(charset.decode(page, "").html).decode("utf-8", "replace")
    return {"id": name, "url": url, "html": html, "gold": "", "dataset": dataset}
