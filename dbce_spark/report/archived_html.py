"""Find the HTML of an extraction: in its `annotated_html` column, or once more in the archive."""

import dataclasses
from dataclasses import dataclass
from io import BytesIO
from typing import Any, BinaryIO

from dbce_spark.archive import warc
from dbce_spark.archive.index.range_reader import open_ranges
from dbce_spark.config import DbceConfig
from dbce_spark.html import page
from dbce_spark.html.charset import decode
from dbce_spark.html.dom import PageError
from dbce_spark.model import Blocks

COLUMNS = (
    "url", "title", "timestamp", "warc_file", "warc_offset", "warc_length", "http_status", "mime", "page_text",
    "annotated_html", "record_type", "payload_digest",
)  # fmt: skip
"""Columns by which the HTML of a capture is found, and checked to be the right one."""


class HtmlGone(ValueError):
    """The HTML of a capture cannot be shown: the message says why."""


@dataclass(frozen=True, slots=True)
class Archived:
    """The HTML of a capture in UTF-8, and its blocks. `is_labelled`: the labels are marked in it already."""

    html: bytes
    blocks: Blocks
    is_labelled: bool


def archived(row: dict[str, Any], config: DbceConfig) -> Archived:
    """Read the HTML of an extraction, and check that it has the extraction's text.

    Raises:
        HtmlGone: neither the output nor the archive has it.
    """
    if row["annotated_html"]:
        found = _parsed(row["annotated_html"].encode("utf-8", "replace"), "utf-8", config, is_labelled=True)
        if found.blocks.text == row["page_text"]:
            return found
    fetch = _fetch(row, config)
    found = _parsed(fetch.html, fetch.capture.declared_charset, config, is_labelled=False)
    if found.blocks.text != row["page_text"]:
        raise HtmlGone("this version of the program cuts the page into other blocks than the one that labelled it")
    return found


def _fetch(row: dict[str, Any], config: DbceConfig) -> warc.Fetch:
    """Read the capture of an extraction once more from its archive.

    Raises:
        HtmlGone: the archive cannot be read, or the capture is not in it.
    """
    path, offset = row["warc_file"], row["warc_offset"]
    is_revisit = row["record_type"] == "revisit"
    # What this run let in is let in again, whatever the parameters of the program at hand. Of a revisit's original the
    # status is not known.
    statuses = config.input.statuses if is_revisit else (row["http_status"],)
    input_config = dataclasses.replace(config.input, statuses=statuses, mimes=(row["mime"],))
    refusal = None if is_revisit else _other_urls_refused(row["url"])
    name = "payload_digest" if is_revisit else "capture_id"
    try:
        with open_ranges(path, config.fetch) as stream:
            for part, refused in ((_part(stream, offset, row["warc_length"]), None), (stream, refusal)):
                for found in warc.read_stream(part, path, input_config, config.page.max_html_bytes, refused):
                    if isinstance(found, warc.Fetch) and getattr(found.capture, name) == row[name]:
                        return found
    except (OSError, ValueError, ImportError) as error:
        raise HtmlGone(f"{path} cannot be read: {error}") from error
    raise HtmlGone(f"{path} does not hold the page that lay at {offset} when it was read")


def _part(stream: BinaryIO, offset: int, length: int) -> BinaryIO:
    """Read a record as stored, which nearly always is an archive of its own. The first segment of a record, one of many
    in a compressed member, and a record that takes its dictionary or its date from the head of the file are not: these
    are found by reading all of it."""
    stream.seek(offset)
    return BytesIO(stream.read(length))


def _other_urls_refused(url: str) -> warc.Refusal:
    """Build a filter that passes over every capture of another URL."""
    return lambda capture: None if capture.url == url else "url"


def _parsed(html: bytes, declared_charset: str, config: DbceConfig, *, is_labelled: bool) -> Archived:
    try:
        blocks = page.parse(html, declared_charset, config.page).blocks
    except PageError as error:
        raise HtmlGone(f"the page cannot be parsed: {error}") from error
    return Archived(decode(html, declared_charset).html, blocks, is_labelled)
