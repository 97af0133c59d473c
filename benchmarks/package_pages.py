"""The pages that a Python package carries as its data, as a set to be labelled: JSON lines as gold sets have them,
without gold."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from dbce_spark.errors import InputError
from dbce_spark.files import jsonl
from dbce_spark.html import charset

_INDEX = "data/index.json"
"""Of Formasaurus, a classifier of forms: its source distribution has 954 pages of 396 hosts (2014 to 2016), and this
file says the URL of each."""


def write(path: str, output: str) -> int:
    """Write each page of a source distribution, in the order of its index; return how many they are.

    Raises:
        InputError: the file is no such distribution.
    """
    return jsonl.write(output, _rows(path))


def _rows(path: str) -> Iterator[dict[str, Any]]:
    try:
        with tarfile.open(path) as package:
            index = next((name for name in package.getnames() if name.endswith(_INDEX)), None)
            if index is None:
                raise InputError(f"{path}: has no {_INDEX}; give the source distribution of formasaurus (tar.gz)")
            for name, about in json.loads(_read(package, index)).items():
                yield _row(name, about["url"], _read(package, str(PurePosixPath(index).parent / name)))
    except (OSError, KeyError, tarfile.TarError) as error:
        raise InputError(f"{path}: cannot be read as formasaurus' source distribution (tar.gz): {error}") from error


def _read(package: tarfile.TarFile, name: str) -> bytes:
    stream = package.extractfile(name)
    return stream.read() if stream else b""


def _row(name: str, url: str, page: bytes) -> dict[str, Any]:
    html = charset.cleaned(charset.decode(page, "").html).decode("utf-8", "replace")
    return {"id": name, "url": url, "html": html, "gold": "", "dataset": "formasaurus"}
