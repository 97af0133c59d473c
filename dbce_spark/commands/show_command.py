"""`dbce show`."""

import argparse
import tempfile
import webbrowser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dbce_spark import config
from dbce_spark.archive.index import date_range
from dbce_spark.archive.index.urls import url_key
from dbce_spark.commands.archive_checks import check_fits
from dbce_spark.commands.arguments import OF_URL, add_in, add_version
from dbce_spark.commands.command_parser import Commands, add_command
from dbce_spark.commands.terminal import DIM, PLAIN, add_color, is_coloured, without_controls, write_lines
from dbce_spark.dbce.extraction.page_extraction import extract_archive
from dbce_spark.errors import InputError
from dbce_spark.files import sources
from dbce_spark.files.timestamps import from_datetime
from dbce_spark.log import counted
from dbce_spark.model import Label

_MARKS = {Label.CONTENT.word: "  ", Label.BOILERPLATE.word: "- ", Label.UNDECIDED.word: "? "}
_COLUMNS = ("url", "timestamp", "title", "status", "page_text", "segments")
_NAMED = 10
"""Other captures that are named."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A page as it is printed: pieces of its text, each with its label. `dates` are those of all captures of its URL,
    the newest first, and the page is that at place `at`."""

    url: str
    dates: Sequence[datetime]
    at: int
    title: str
    status: str
    pieces: Sequence[tuple[str, str]]  # (label, text)


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = add_command(commands, "show", _run, "show one page with its labels")
    command.add_argument("url", metavar="URL", help=OF_URL)
    add_in(command, "look in the output of `dbce extract`, in a collection, or in a web archive")
    add_version(command)
    command.add_argument(
        "--date", default="", metavar="DATE",
        help="show the newest capture of this date, such as 2010, 201003 or 2010-03-05T12:30 (default: the newest of"
        " all)",
    )  # fmt: skip
    add_color(command, "colour the labels")
    command.add_argument(
        "--browser",
        action="store_true",
        help="show the page in a browser, as the report does, beside the pages that it was compared with; needs an"
        " output or a collection",
    )


def _run(arguments: argparse.Namespace) -> None:
    """Show one page with its labels: content as it is, boilerplate dim and behind a dash, undecided text behind a
    question mark. Of several captures the newest is shown, or that of --date; the others are named."""
    if arguments.browser:
        _open(arguments)
        return
    shown = _in_output(arguments) if _is_output(arguments.place) else _in_archive(arguments)
    write_lines(_lines(shown, coloured=is_coloured(arguments.color)))


def _is_output(place: str) -> bool:
    """Return whether pages are looked for in an output, also an unfinished one; of a URL that follows from its name."""
    if sources.is_remote(place):
        return not sources.fits(place.partition("?")[0], config.default().input.patterns)
    return any((Path(place) / name).exists() for name in ("run.json", "extractions", "versions", "_staging"))


def _open(arguments: argparse.Namespace) -> None:
    """Write the report's page of a URL to a folder of its own, and open it."""
    from dbce_spark.report import write_report
    from dbce_spark.report.report_output import ReportOutput

    if not _is_output(arguments.place):
        raise InputError(f"{arguments.place} is no output; --browser shows pages of an output or a collection")
    dates = [*ReportOutput(arguments.place, arguments.version).captures_of(arguments.url).values()]
    number = _place(dates, arguments) + 1
    folder = tempfile.mkdtemp(prefix="dbce-show-")
    index = write_report(arguments.place, folder, version=arguments.version, url=arguments.url, pages=number)
    page = index.parent / "pages" / f"{number:02}.html"
    print(f"Page: {page}")
    webbrowser.open(page.as_uri())


def _in_output(arguments: argparse.Namespace) -> _Shown:
    """Find a page in an output.

    Raises:
        InputError: it has no such page.
    """
    from dbce_spark.report.report_output import ReportOutput

    output = ReportOutput(arguments.place, arguments.version)
    captures = output.captures_of(arguments.url)
    dates = [*captures.values()]
    at = _place(dates, arguments)
    capture_id = [*captures][at]
    row = output.rows([capture_id], _COLUMNS)[capture_id]
    pieces = [(one["label"], row["page_text"][one["start"] : one["end"]]) for one in row["segments"]]
    return _Shown(row["url"], dates, at, row["title"], row["status"], pieces)


def _in_archive(arguments: argparse.Namespace) -> _Shown:
    """Find a page in an archive, all of whose pages are compared with each other.

    Raises:
        InputError: it has no such page, or is no archive.
    """
    if arguments.version is not None:
        raise InputError(f"{arguments.place} is no collection, so it has no versions; leave --version out")
    settings = config.default()
    key = url_key(arguments.url)
    archives = sources.expand([arguments.place], settings.input.patterns)
    check_fits(archives, settings.engine.local_bytes)
    found = [page for page in extract_archive(archives) if not page.error and url_key(page.url or "") == key]
    dates = [page.date for page in reversed(found) if page.date]
    at = _place(dates, arguments)
    page = found[-1 - at]
    siblings = max((block.siblings for block in page.blocks), default=0)
    pieces = [(block.label, block.text) for block in page.blocks]
    assert page.url is not None
    status = "crossed" if siblings else "single"
    return _Shown(page.url, dates, at, page.title, status, pieces)


def _place(dates: Sequence[datetime], arguments: argparse.Namespace) -> int:
    """Return the place of the capture that is asked for among those of the URL, the newest first.

    Raises:
        InputError: there is none, or --date is no date.
    """
    if not dates:
        ways = "report` shows a sample of its pages" if _is_output(arguments.place) else "text` names all of its pages"
        raise InputError(f"{arguments.place} has no page {arguments.url}; `dbce {ways}")
    if not arguments.date:
        return 0
    try:
        low, high = date_range.since(arguments.date), date_range.until(arguments.date)
    except ValueError as error:
        raise InputError(f"--date: {error}") from error
    found = [at for at, date in enumerate(dates) if low <= from_datetime(date) < high]
    if not found:
        there = _listed(dates)
        raise InputError(f"{arguments.place} has no capture of {arguments.url} of {arguments.date}; it has {there}")
    return found[0]


def _listed(dates: Sequence[datetime]) -> str:
    """List dates as --date takes them."""
    more = f", and {len(dates) - _NAMED:,} more" if len(dates) > _NAMED else ""
    return ", ".join(f"{date:%Y-%m-%dT%H:%M:%S}" for date in dates[:_NAMED]) + more


def _lines(shown: _Shown, *, coloured: bool) -> Iterator[str]:
    """Render a page: a head, and each piece of its text behind the mark of its label."""
    yield without_controls(f"{shown.url}  {shown.dates[shown.at]:%Y-%m-%d %H:%M}  {shown.status}")
    if others := [*shown.dates[: shown.at], *shown.dates[shown.at + 1 :]]:
        yield f"{counted(len(others), 'other capture')}, for --date: {_listed(others)}"
    if shown.title:
        yield without_controls(shown.title)
    yield ""
    for label, text in shown.pieces:
        line = _MARKS[label] + without_controls(text).replace("\n", " ")
        yield f"{DIM}{line}{PLAIN}" if coloured and label != Label.CONTENT.word else line
