"""`dbce text`."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from dbce_spark import config as configuration
from dbce_spark.commands import text_inputs
from dbce_spark.commands.arguments import add_config, add_labels, add_settings, add_structure, given_parameters
from dbce_spark.commands.command_parser import Commands, add_command
from dbce_spark.commands.terminal import as_json, without_controls, write_lines
from dbce_spark.commands.text_files import LIST, Named, write_files
from dbce_spark.commands.text_inputs import TextInputs
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.extraction.extracted_page import ExtractedPage, error_in_file
from dbce_spark.dbce.extraction.page_extraction import extract_parsed, extract_readable
from dbce_spark.dbce.kept.kept_formats import ABOUT, FORMATS
from dbce_spark.dbce.pages import LOSSY_FLAGS, parse_fetches
from dbce_spark.errors import BudgetError, InputError
from dbce_spark.files import sources, storage
from dbce_spark.log import counted


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = add_command(commands, "text", _run, "print the main text of pages, web archives or standard input")
    command.add_argument(
        "input", nargs="+", metavar="INPUT",
        help="read an HTML file, a page of the web by its URL, a web archive, a folder, a glob in quotes, @FILE with"
        " one of these on each line, or standard input (-); files may be gzipped. Of a folder, at every depth, each"
        " file is read that is HTML or an archive by its first bytes or its name (input.patterns and"
        " input.page_patterns of conf/dbce.toml). Printed are first pages of the web, as they are given; then HTML"
        " files by path, standard input, and pages of archives by URL and time",
    )  # fmt: skip
    command.add_argument(
        "--url", metavar="URL", help="name the URL of the page, where INPUT is a single HTML file or standard input"
    )
    command.add_argument(
        "--format", choices=("text", "markdown", "html", "json"), default="text",
        help="print the main text as plain text, Markdown or clean HTML; json: one object on a line for each page, with"
        " all of these, what the page says of itself, and its record in the archive (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--output", metavar="DIR",
        help=f"write each page to a file of its own in this folder, new or empty, instead of printing it; {LIST} says"
        " which file has which page",
    )  # fmt: skip
    add_labels(command)
    add_structure(command)
    add_config(command)
    add_settings(command, "conf/dbce.toml, such as page.max_tags=100000")


def _run(arguments: argparse.Namespace) -> None:
    """Print the main text of pages from HTML files, folders of them, WARC, ARC and WACZ files, the web, or standard
    input. Needs no Spark. Pages of a site are compared with each other, as by `dbce extract`."""
    settings = configuration.load(arguments.config, arguments.settings, given_parameters(arguments))
    folder = sources.absolute(arguments.output) if arguments.output else ""
    if folder:
        storage.check_new(folder)
    with text_inputs.opened(arguments.input, settings) as given:
        pages, unread = _pages(given, arguments.url, settings)
    good = [(name, page) for name, page in pages if not page.error]
    bad = [": ".join(filter(None, (name, error_in_file(page)))) for name, page in pages if page.error]
    lost = [given.named(line) for line in (*bad, *unread)]
    if not good and len(lost) == 1:
        raise InputError(lost[0])
    for line in (*lost, *_lossy(good)):
        print(f"dbce: {without_controls(line)}", file=sys.stderr)
    if not good:
        hint = "; WET and WAT files have none, but texts and metadata of pages" if given.archives else ""
        raise InputError(f"no page {'could be printed, for the reasons above' if lost else f'is in the input{hint}'}")
    if folder:
        # What the list says and what the file has are written together, by one parse of the page.
        rows = [*_rows(good, given.named, FORMATS if arguments.format == "json" else (ABOUT, arguments.format))]
        write_files(good, rows, arguments.format, folder)
        print(f"{counted(len(good), 'page')} in {arguments.output}")
    elif arguments.format == "json":
        write_lines(as_json(row) for row in _rows(good, given.named, FORMATS))
    else:
        write_lines(_print(good, attrgetter(arguments.format)))
    if unread:
        raise BudgetError(f"{counted(len(unread), 'input')} could not be read, for the reasons above; all others were")


def _pages(given: TextInputs, url: str | None, settings: DbceConfig) -> tuple[list[Named], list[str]]:
    """Extract the pages of the inputs; return them, and the inputs that cannot be read, each with the reason."""
    if url and (given.archives or len(given.html) != 1):
        raise InputError("--url names one page; give a single HTML file, or - for standard input")
    fetches = [(content, url or own) for content, own in given.html.values()]
    of_html = extract_parsed(fetches, partial(parse_fetches, config=settings), settings)
    of_archives, broken = extract_readable(given.archives, settings)
    named = zip(map(sources.shown, given.html), of_html, strict=True)
    return [*named, *((page.url or "", page) for page in of_archives)], [*given.unread, *map(error_in_file, broken)]


def _lossy(pages: Iterable[Named]) -> Iterator[str]:
    """Iterate over the flags by which pages have lost text, each with its page and in words."""
    for name, page in pages:
        for flag in filter(LOSSY_FLAGS.__contains__, page.flags):
            yield f"{name}: {flag}: {LOSSY_FLAGS[flag]}"


def _print(pages: Sequence[Named], read: Callable[[ExtractedPage], str]) -> Iterator[str]:
    """Render pages for a person: their names, where there are several, and what is read of each."""
    for place, (name, page) in enumerate(pages):
        if len(pages) > 1:
            date = f"  {page.date:%Y-%m-%d %H:%M}" if page.date else ""
            yield from [""] * bool(place)
            yield f"== {without_controls(name)}{date}"
        yield from without_controls(read(page)).rstrip("\n").split("\n")


def _rows(pages: Iterable[Named], named: Callable[[str], str], formats: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Iterate over pages as plain values for programs; their archives have the names that they were given by."""
    for name, page in pages:
        row = {"name": name, **page.to_dict(formats)}
        if page.record:
            row["record"]["warc_file"] = named(page.record.warc_file)
        yield row
