"""Show how the Markdown of a page changed from capture to capture, as diffs of its lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice, pairwise

from dbce_spark.dbce.kept.kept_formats import MARKDOWN
from dbce_spark.errors import InputError
from dbce_spark.files.timestamps import from_datetime, minute
from dbce_spark.log import counted
from dbce_spark.output.history.url_history import COLOURS, captures_of
from dbce_spark.output.output_reader import Output

_AROUND = 1
"""Unchanged lines that are shown before and behind a change: a paragraph is a line."""
_FILE_NAMES = 2
"""Lines that a diff begins with, of files that there are none of."""


@dataclass(frozen=True, slots=True)
class MarkdownCapture:
    """The kept part of a page at one time (microseconds since 1970 UTC), as Markdown."""

    timestamp: int
    markdown: str


def markdown_captures(output: Output, url: str) -> list[MarkdownCapture]:
    """Read the Markdown of all captures of a URL, in order of time.

    Raises:
        InputError: there is no capture, or one without Markdown.
    """
    fetched, pages = captures_of(output, url, [MARKDOWN])
    found = [(from_datetime(row["timestamp"]), pages[row["extraction_id"]].get(MARKDOWN)) for row in fetched]
    lacking = next((timestamp for timestamp, markdown in found if markdown is None), None)
    if lacking is not None:
        raise InputError(
            f"the capture of {minute(lacking)} has no Markdown: {output.root} was extracted without --format"
            " text,markdown; leave --format out to see what changed in the text"
        )
    return [MarkdownCapture(timestamp, markdown or "") for timestamp, markdown in found]


def diffs(url: str, line: Sequence[MarkdownCapture], *, coloured: bool) -> str:
    """Describe the changes of a page's Markdown, capture by capture; those that changed nothing are a number."""
    return "\n".join(_lines(url, line, coloured=coloured))


def _lines(url: str, line: Sequence[MarkdownCapture], *, coloured: bool) -> Iterator[str]:
    yield f"{url}: {counted(len(line), 'capture')}, {minute(line[0].timestamp)} to {minute(line[-1].timestamp)}"
    same = 0
    for before, after in pairwise(line):
        lines = unified_diff(before.markdown.splitlines(), after.markdown.splitlines(), lineterm="", n=_AROUND)
        changed = [*islice(lines, _FILE_NAMES, None)]
        if not changed:
            same += 1
            continue
        yield from _unchanged(same)
        same = 0
        yield from ("", minute(after.timestamp))
        yield from (_painted(one) if coloured else one for one in changed)
    yield from _unchanged(same)


def _unchanged(count: int) -> Iterator[str]:
    if count:
        yield from ("", f"unchanged in {count} more")


def _painted(line: str) -> str:
    colour = COLOURS.get(line[:1])
    return line if colour is None else f"{colour}{line}{COLOURS['']}"
