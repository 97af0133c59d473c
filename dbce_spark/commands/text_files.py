"""The pages of `dbce text` as files: one for each page, and a list of them."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from html import escape
from pathlib import Path
from typing import Any

from dbce_spark.dbce.extraction.extracted_page import ExtractedPage
from dbce_spark.files import storage

Named = tuple[str, ExtractedPage]
"""A page and its name: its URL, or that of its file."""

LIST = "pages.jsonl"
"""The file that says of each other one which page it has."""
ENDINGS = {"text": "txt", "markdown": "md", "html": "html", "json": "json"}
"""Of the files, by `--format`."""
_SCHEME = re.compile(r"^\w+://")
_OTHERS = re.compile(r"[^\w.~-]+")
_MOST_BYTES = 150
"""Of a name, without digest, date, number and ending: a file system takes 255."""


def write_files(pages: Sequence[Named], rows: Sequence[Mapping[str, Any]], form: str, folder: str) -> None:
    """Write each page to a file of a new folder, in a format of `dbce text`, and LIST.

    `rows` has all of each page as JSON; without texts it goes into LIST, behind the name of the file.

    Raises:
        OutputError: the folder is not empty, or cannot be written.
    """
    with storage.atomic_folder(folder) as place:
        listed = []
        for stem, (_, page), row in zip(file_stems(pages), pages, rows, strict=True):
            file = f"{stem}.{ENDINGS[form]}"
            storage.write_text(f"{place}/{file}", _content(page, row, form))
            about = {"file": file, **row}
            listed.append(json.dumps({key: about[key] for key in about if key not in ("text", "markdown", "html")}))
        storage.write_text(f"{place}/{LIST}", "".join(f"{row}\n" for row in listed))


def file_stems(pages: Sequence[Named]) -> Iterator[str]:
    """Iterate over the names of the files of some pages, without endings: its URL without the scheme, or its path in
    the folder that all files lie in; "_" stands for all but letters, digits, ".", "~", "-" and "_". Pages of one name,
    such as captures of a URL, have their dates, those of one date numbers, from the second on."""
    folders = [Path(name).parent for name, _ in pages if Path(name).is_absolute()]
    folder = os.path.commonpath(folders) if folders else ""
    stems = [_stem(name.removeprefix(folder)) for name, _ in pages]
    of_stem = Counter(map(_folded, stems))
    numbers: Counter[str] = Counter()
    for stem, (_, page) in zip(stems, pages, strict=True):
        dated = f"{stem}_{page.date:%Y%m%d%H%M%S}" if page.date and of_stem[_folded(stem)] > 1 else stem
        found = dated
        while numbers[_folded(found)]:
            numbers[_folded(dated)] += 1
            found = f"{dated}_{numbers[_folded(dated)]}"
        numbers[_folded(found)] += 1
        yield found


def _stem(name: str) -> str:
    """Write a name as one of a file, never hidden; a long one is cut, and has a digest."""
    whole = _OTHERS.sub("_", _SCHEME.sub("", name)).strip("_.-") or "page"
    letters = whole.encode("utf-8", "ignore")
    if len(letters) <= _MOST_BYTES:
        return letters.decode()
    return f"{letters[:_MOST_BYTES].decode('utf-8', 'ignore')}~{blake2b(letters, digest_size=4).hexdigest()}"


def _folded(stem: str) -> str:
    """Return a name as a file system that ignores case compares it."""
    return stem.casefold()


def _content(page: ExtractedPage, row: Mapping[str, Any], form: str) -> str:
    if form == "json":
        return f"{json.dumps(row)}\n"
    written = str(getattr(page, form)).rstrip("\n")
    if form != "html":
        return f"{written}\n"
    return f'<!DOCTYPE html>\n<meta charset="utf-8">\n<title>{escape(page.title)}</title>\n{written}\n'
