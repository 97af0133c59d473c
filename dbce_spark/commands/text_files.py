"""The pages of `dbce text` as files: one for each page, and a list of them."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
_NO_LETTERS = re.compile(r"[^\w.~-]+")
_MOST_BYTES = 150
"""Of a name, without date, number and ending: a file system takes 255."""


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
    the folder that all files lie in; "_" stands for all but letters, digits, ".", "~", "-" and "_". The captures of one
    URL have their dates, those of one date numbers, from the second on."""
    folders = [Path(name).parent for name, _ in pages if Path(name).is_absolute()]
    folder = os.path.commonpath(folders) if folders else ""
    stems = [_stem(name.removeprefix(folder)) for name, _ in pages]
    of_stem = Counter(map(_folded, stems))
    taken: set[str] = set()
    for stem, (_, page) in zip(stems, pages, strict=True):
        dated = f"{stem}_{page.date:%Y%m%d%H%M%S}" if page.date and of_stem[_folded(stem)] > 1 else stem
        found, number = dated, 1
        while _folded(found) in taken:
            number += 1
            found = f"{dated}_{number}"
        taken.add(_folded(found))
        yield found


def _stem(name: str) -> str:
    letters = _NO_LETTERS.sub("_", _SCHEME.sub("", name)).encode("utf-8", "ignore")[:_MOST_BYTES]
    return letters.decode("utf-8", "ignore").strip("_.-") or "page"


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
