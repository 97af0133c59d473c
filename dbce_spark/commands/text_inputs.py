"""The inputs of `dbce text`: pages and archives in files, folders, on the web, or from standard input."""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from dbce_spark.archive import content_coding, mime
from dbce_spark.archive.content_coding import StreamEnd
from dbce_spark.archive.index import index_file
from dbce_spark.archive.records import begins_archive, starts_record
from dbce_spark.commands.archive_checks import check_fits
from dbce_spark.commands.terminal import standard_input, without_controls
from dbce_spark.config import DbceConfig
from dbce_spark.errors import InputError
from dbce_spark.files import sources
from dbce_spark.html.charset import decode
from dbce_spark.log import counted

STDIN = "-"
_PIPED = "standard input"
_HEAD = 4096
"""Bytes by which an archive is distinguished from a page."""
_NAMED = 3
"""Files that are named where files are passed over."""
_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)*\{\s*(?:"[^"\\]*"\s*:|\}\s*$)')
"""Begins an object of JSON, a list of them, or JSON lines."""
_NO_PAGE = "it is JSON, and no page; give an HTML file or an archive (`dbce show` and `dbce report` read outputs)"
_MOST_OF_HEAD = 1 << 23
"""Bytes: more than a head can inflate to, which is a thousand times its size in gzip at most."""


@dataclass(frozen=True, slots=True)
class TextInputs:
    """The HTML that arguments name, by file or URL, each with its URL if that is known; the archives; and the inputs
    that cannot be read, each with the reason. An archive from standard input is in the folder."""

    folder: str
    html: dict[str, tuple[str | bytes, str | None]]
    archives: list[str]
    unread: list[str]

    def named(self, message: str) -> str:
        """Return a message with the names that the inputs were given by."""
        return message.replace(f"{self.folder}/", "")


@contextmanager
def opened(arguments: Sequence[str], settings: DbceConfig) -> Iterator[TextInputs]:
    """Read the files and pages that some arguments name; within the block an archive from standard input is a file.

    Raises:
        InputError: an argument names nothing, or the archives are larger than what is held in memory.
    """
    with tempfile.TemporaryDirectory() as folder:
        given = TextInputs(folder, {}, [], [])
        _read(arguments, settings, given)
        try:
            check_fits(given.archives, settings.engine.local_bytes)
        except InputError as error:
            raise InputError(given.named(str(error))) from error
        yield given


def _read(arguments: Sequence[str], settings: DbceConfig, given: TextInputs) -> None:
    names: list[str] = []
    for name in sources.read_manifests(argument for argument in arguments if argument != STDIN):
        if _is_page_of_web(name, settings.input.patterns):
            _fetch(name, settings, given)
        else:
            names.append(name)
    _read_files(names, settings, given)
    if STDIN in arguments:
        _read_piped(standard_input().buffer, settings, given)


def _read_piped(stream: BinaryIO, settings: DbceConfig, given: TextInputs) -> None:
    """Read the page of standard input, or write its archive to a file."""
    first = stream.read(_HEAD)
    if not _is_page(first):
        path = f"{given.folder}/{_PIPED}"
        with Path(path).open("wb") as file:
            file.write(first)
            shutil.copyfileobj(stream, file)
        given.archives.append(path)
        return
    try:
        given.html[STDIN] = _read_page(first, stream, settings.page.max_html_bytes), None
    except (OSError, ValueError) as error:
        given.unread.append(f"{_PIPED}: cannot be read: {error}")


def _read_files(names: Sequence[str], settings: DbceConfig, given: TextInputs) -> None:
    """Read files that are named, and those of folders that are pages or archives; say how many others there are,
    and name the first."""
    folders = [*filter(sources.is_folder, names)]
    patterns = (*settings.input.patterns, *settings.input.page_patterns)
    named = sources.expand([name for name in names if name not in folders], patterns)
    found = {path for folder in folders for path in sources.files_below(sources.absolute(folder))}.difference(named)
    if folders and not named and not found:
        raise InputError(f"{folders[0]}: no file is in this folder")
    passed_over: list[str] = []
    for path in sorted([*named, *found]):
        try:
            with sources.open_binary(path) as file:
                if path in found and not _is_read(path, file.read(_HEAD), patterns):
                    passed_over.append(path)
                    continue
                file.seek(0)
                _take(path, file, settings, given)
        except (OSError, ValueError) as error:
            given.unread.append(f"{sources.shown(path)}: cannot be read: {error}")
    if passed_over:
        first = ", ".join(without_controls(sources.shown(path)) for path in passed_over[:_NAMED])
        more = ", ..." if len(passed_over) > _NAMED else ""
        print(
            f"dbce: {counted(len(passed_over), 'file')} passed over, neither a page nor an archive: {first}{more}",
            file=sys.stderr,
        )


def _is_read(path: str, first: bytes, patterns: Sequence[str]) -> bool:
    """Return whether a file of a folder is one to read: it begins as a page or an archive does, or is named as one."""
    start = _inflated(first)
    return mime.computed_type("", start) in mime.PAGES or starts_record(start) or sources.fits(path, patterns)


def _take(path: str, file: BinaryIO, settings: DbceConfig, given: TextInputs) -> None:
    """Take what a file holds: a page, also in gzip, or an archive.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    first = file.read(_HEAD)
    if _is_page(first):
        given.html[path] = _read_page(first, file, settings.page.max_html_bytes), None
    elif sources.is_utf8(path):
        given.archives.append(path)
    else:
        raise ValueError("the name of an archive must be UTF-8; rename the file")


def _read_page(first: bytes, rest: BinaryIO, most: int) -> bytes:
    """Read a page that begins with some bytes, without gzip, if it is in that.

    Raises:
        OSError, ValueError: it cannot be read, has more than `most` bytes, or is an index or JSON.
    """
    start = _inflated(first)
    is_html = mime.computed_type("", start) in mime.PAGES
    if not is_html and (what := index_file.remedy(BytesIO(start)) or (_JSON.match(start) and _NO_PAGE)):
        raise ValueError(what)
    content = first + rest.read(max(0, most + 1 - len(first)))
    if len(content) > most:
        raise ValueError(f"it has more than {most} bytes (page.max_html_bytes)")
    return _unpacked(content, most)


def _is_page(first: bytes) -> bool:
    """Return whether a file that begins with these bytes is taken as a page: it is no archive, or a page in gzip."""
    return not begins_archive(first) or mime.opens_as_page(_inflated(first))


def _inflated(first: bytes) -> bytes:
    """Return what a file begins with, behind gzip if it is in that."""
    stream = content_coding.undo(first, "gzip", _MOST_OF_HEAD)
    return first if stream is None else stream.out


def _unpacked(content: bytes, most: int) -> bytes:
    """Undo gzip, if a page is in that.

    Raises:
        ValueError: it is damaged, or more than `most` bytes come out.
    """
    stream = content_coding.undo(content, "gzip", most)
    if stream is None:
        return content
    if stream.end in (StreamEnd.CUT, StreamEnd.BROKEN):
        raise ValueError(f"its gzip is {stream.end}")
    return stream.out


def _is_page_of_web(name: str, archives: Sequence[str]) -> bool:
    """Test for the URL of a page; one whose path ends like an archive, or a glob, names files that are on the web."""
    path = name.lower().partition("?")[0]
    return sources.is_web_url(path) and "*" not in path and not sources.fits(path, archives)


def _fetch(url: str, settings: DbceConfig, given: TextInputs) -> None:
    """Fetch a page of the web, or find that it is an archive."""
    from dbce_spark.archive import web_page  # its libraries take 50 ms, which no file need wait for

    try:
        page = web_page.fetch(
            url,
            max_bytes=settings.page.max_html_bytes,
            max_ratio=settings.input.max_ratio,
            timeout_seconds=settings.fetch.timeout_seconds,
        )
        is_page = _is_page(page.body[:_HEAD])
        body = _unpacked(page.body, settings.page.max_html_bytes) if is_page else b""
    except (OSError, ValueError) as error:
        given.unread.append(f"{url}: cannot be fetched: {error}")
        return
    if not is_page:
        given.archives.append(url)
    else:
        # As a header says it; else the bytes tell, as those of a file do.
        html = decode(body, page.charset).html.decode() if page.charset else body
        given.html[url] = html, page.url
