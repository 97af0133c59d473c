"""`dbce text`."""

import argparse
import io
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO

from dbce_spark import config as configuration
from dbce_spark.archive import content_coding, mime
from dbce_spark.archive.content_coding import StreamEnd
from dbce_spark.archive.records import begins_archive, starts_record
from dbce_spark.commands.arguments import (
    Commands,
    add_command,
    add_config,
    add_labels,
    add_settings,
    add_structure,
    check_fits,
    given_settings,
    label_settings,
    structure_settings,
)
from dbce_spark.commands.terminal import as_json, standard_input, without_controls, write_lines
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.extracted_page import ExtractedPage, extract_parsed, extract_readable
from dbce_spark.dbce.pages import parse_fetches
from dbce_spark.errors import InputError
from dbce_spark.files import sources
from dbce_spark.html.charset import decode
from dbce_spark.log import counted

STDIN = "-"
_PIPED = "standard input"
_HEAD = 4096
"""Bytes by which an archive is distinguished from a page."""
_MOST_OF_HEAD = 1 << 23
"""More than so many bytes can hold in gzip."""
Named = tuple[str, ExtractedPage]
"""A page and its name: its URL, or that of its file."""


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = add_command(commands, "text", _run, "print the main text of pages, web archives or standard input")
    command.add_argument(
        "input", nargs="+", metavar="INPUT",
        help="read an HTML file, a page of the web by its URL, a web archive, a folder, a glob in quotes, @FILE with"
        " one of these on each line, or standard input (-); a file may be in gzip. Of a folder, at every depth, what"
        " begins as HTML or an archive does is read, whatever its name, and what is named as one (input.patterns"
        " and input.page_patterns of conf/dbce.toml)",
    )  # fmt: skip
    command.add_argument(
        "--url", metavar="URL", help="name the URL of the page, where INPUT is a single HTML file or standard input"
    )
    command.add_argument(
        "--format", choices=("text", "markdown", "html", "json"), default="text",
        help="print text, Markdown or clean HTML of what is kept, or a JSON object for each page, with all of them and"
        " what the page says of itself, on a line of its own (default: %(default)s)",
    )  # fmt: skip
    add_labels(command)
    add_structure(command)
    add_config(command)
    add_settings(command, "conf/dbce.toml, such as page.max_tags=100000")


def _run(arguments: argparse.Namespace) -> None:
    """Print the main text of pages: of HTML files, of folders of them, of WARC, ARC and WACZ files, of the web, or of
    standard input. Needs no Spark. Pages are compared with each other, as by `dbce extract`."""
    of_options = label_settings(arguments) | structure_settings(arguments)
    settings = configuration.load(arguments.config, [*arguments.settings, *given_settings(of_options)])
    with tempfile.TemporaryDirectory() as folder:
        given = _read(arguments.input, settings, folder)
        try:
            check_fits(given.archives, settings.engine.local_bytes)
        except InputError as error:
            raise InputError(str(error).replace(f"{folder}/", "")) from error
        if arguments.url and (given.archives or len(given.html) != 1):
            raise InputError("--url names one page; give a single HTML file, or - for standard input")
        pages_given = [(content, arguments.url or url) for content, url in given.html.values()]
        of_html = extract_parsed(pages_given, partial(parse_fetches, config=settings), settings)
        of_archives, broken = extract_readable(given.archives, settings)
    pages = [
        *zip(map(sources.shown, given.html), of_html, strict=True),
        *((page.url or "", page) for page in of_archives),
    ]
    good, unread = [(name, page) for name, page in pages if not page.error], [*given.unread, *broken]
    bad = [": ".join(filter(None, (name, page.error))) for name, page in pages if page.error]
    lost = [line.replace(f"{folder}/", "") for line in (*bad, *unread)]
    if not good and len(lost) == 1:
        raise InputError(lost[0])
    for line in lost:
        print(f"dbce: {without_controls(line)}", file=sys.stderr)
    if not good:
        raise InputError("no page was found in the input")
    write_lines(_json(good) if arguments.format == "json" else _print(good, attrgetter(arguments.format)))
    if unread:
        raise InputError(f"{len(unread)} of the inputs could not be read, as is said above; all others were")


@dataclass(frozen=True, slots=True)
class _Given:
    """The HTML that arguments name, by file or URL, each with its URL if that is known; the archives; and the inputs
    that cannot be read, each with the reason."""

    html: dict[str, tuple[str | bytes, str | None]]
    archives: list[str]
    unread: list[str]


def _read(arguments: Sequence[str], settings: DbceConfig, folder: str) -> _Given:
    """Read the files and pages that some arguments name; an archive from standard input is put into the folder.

    Raises:
        InputError: an argument names nothing.
    """
    given = _Given({}, [], [])
    names: list[str] = []
    for name in sources.read_manifests(argument for argument in arguments if argument != STDIN):
        if _is_page_of_web(name, settings.input.patterns):
            _fetch(name, settings, given)
        else:
            names.append(name)
    _read_files(names, settings, given)
    if STDIN in arguments:
        piped = standard_input().buffer.read()
        _take(STDIN, io.BytesIO(piped), settings, given)
        if STDIN in given.archives:
            given.archives[given.archives.index(STDIN)] = f"{folder}/{_PIPED}"
            Path(folder, _PIPED).write_bytes(piped)
    return given


def _read_files(names: Sequence[str], settings: DbceConfig, given: _Given) -> None:
    """Read files that are named, and those of folders that are pages or archives; say how many others there are."""
    folders = [*filter(sources.is_folder, names)]
    patterns = (*settings.input.patterns, *settings.input.page_patterns)
    named = sources.expand([name for name in names if name not in folders], patterns)
    found = {path for folder in folders for path in sources.files_below(folder)}.difference(named)
    if folders and not named and not found:
        raise InputError(f"{folders[0]}: no file is in this folder")
    passed_over = 0
    for path in sorted([*named, *found]):
        try:
            with sources.open_binary(path) as file:
                if path in found and not _is_read(path, file.read(_HEAD), patterns):
                    passed_over += 1
                    continue
                file.seek(0)
                _take(path, file, settings, given)
        except (OSError, ValueError) as error:
            given.unread.append(f"{sources.shown(path)}: cannot be read: {error}")
    if passed_over:
        print(f"dbce: {counted(passed_over, 'file')} passed over: neither a page nor an archive", file=sys.stderr)


def _is_read(path: str, first: bytes, patterns: Sequence[str]) -> bool:
    """Return whether a file of a folder is one to read: it begins as a page or an archive does, or is named as one."""
    start = _inflated(first)
    return mime.computed_type("", start) in mime.PAGES or starts_record(start) or sources.fits(path, patterns)


def _take(path: str, file: BinaryIO, settings: DbceConfig, given: _Given) -> None:
    """Take what a file holds: a page, also in gzip, or an archive.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    first = file.read(_HEAD)
    if _is_page(first):
        given.html[path] = _unpacked(first + file.read(), settings.page.max_html_bytes), None
    elif sources.is_utf8(path):
        given.archives.append(path)
    else:
        raise ValueError("the name of an archive must be UTF-8; rename the file")


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
    return sources.is_web_url(path) and "*" not in path and not any(fnmatch(path, pattern) for pattern in archives)


def _fetch(url: str, settings: DbceConfig, given: _Given) -> None:
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


def _print(pages: Sequence[Named], read: Callable[[ExtractedPage], str]) -> Iterator[str]:
    """Render pages for a person: their names, where there are several, and what is read of each."""
    for place, (name, page) in enumerate(pages):
        if len(pages) > 1:
            date = f"  {page.date:%Y-%m-%d %H:%M}" if page.date else ""
            yield from [""] * bool(place)
            yield f"== {without_controls(name)}{date}"
        yield from without_controls(read(page)).rstrip("\n").split("\n")


def _json(pages: Iterable[Named]) -> Iterator[str]:
    """Render pages for programs."""
    for name, page in pages:
        row = {
            "name": name,
            "url": page.url,
            "date": page.date.isoformat() if page.date else None,
            "title": page.title,
            "language": page.language,
            "confidence": page.confidence,
            "page_type": page.page_type,
            "text": page.text,
            "markdown": page.markdown,
            "html": page.html,
            "about": asdict(page.about),
        }
        yield as_json(_plain(row))


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [*map(_plain, value)] if isinstance(value, tuple) else value
