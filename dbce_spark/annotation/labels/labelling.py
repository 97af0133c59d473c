"""Compare labels of pages: merged from people, of one of them, or of a machine, all of the same segments."""

from collections.abc import Mapping

from dbce_spark.annotation.markup.page_file import Sheet
from dbce_spark.annotation.markup.submission import Tags, parse_tags
from dbce_spark.errors import InputError
from dbce_spark.files import jsonl
from dbce_spark.files.jsonl import field
from dbce_spark.report.overlay import Contrast

Labelling = Mapping[str, Tags]
"""The tags of a page, one a segment, by its id."""


def read(path: str, annotator: str = "") -> Labelling:
    """Read the labels in a file of JSON lines with `page` and `tags`: of `labels merge`, or of submissions.

    annotator: whose submissions are taken, where there are several.

    Raises:
        InputError: it cannot be read, has a page twice, or none.
    """
    found: dict[str, Tags] = {}
    names: set[str] = set()
    for place, fields in jsonl.read(path):
        names.add(str(fields.get("annotator", "")))
        if annotator and fields.get("annotator") != annotator:
            continue
        page = field(fields, "page", "a text", place)
        if page in found:
            raise InputError(f"{place}: {page} has labels of several annotators; name one, as in {path}@NAME")
        found[page] = parse_tags(fields, place)
    if not found:
        there = f" of {annotator}; it has those of: {', '.join(sorted(names - {''})) or 'nobody'}" if annotator else ""
        raise InputError(f"{path}: no labels{there}")
    return found


def contrast(sheet: Sheet, reference: Tags, given: Tags) -> Contrast:
    """Set two labellings of one page beside each other.

    Raises:
        InputError: one of them has other segments.
    """
    if not len(sheet.segments) == len(reference) == len(given):
        raise InputError(
            f"{sheet.page}: {len(sheet.segments)} segments, {len(reference)} and {len(given)} labels; give labels"
            " of these pages"
        )
    return Contrast(
        page=sheet.page,
        url=sheet.url,
        html=sheet.html,
        text=sheet.text,
        spans=[(segment.start, segment.end) for segment in sheet.segments],
        reference=reference,
        given=given,
    )
