"""The HTML behind an extraction: from its `html` column, or read once more from the archive."""

import dataclasses
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbce_spark import page, warc
from dbce_spark.charset import decode
from dbce_spark.config import DbceConfig, InputConfig
from dbce_spark.model import Blocks
from dbce_spark.sources import open_binary

COLUMNS = (
    "url", "title", "timestamp", "warc_file", "warc_offset", "warc_length", "http_status", "mime", "page_text", "html",
)  # fmt: skip
"""What must be known of a capture to find its HTML and to be sure that it is the right one."""


class Gone(ValueError):
    """The HTML of a capture cannot be had: the message says why."""


@dataclass(frozen=True, slots=True)
class Archived:
    """The HTML of a capture in UTF-8, and its blocks. `is_labelled`: the labels are marked in it already."""

    html: bytes
    blocks: Blocks
    is_labelled: bool


def archived(row: dict[str, Any], config: DbceConfig) -> Archived:
    """The HTML of an extraction, whose text is what the extraction says.

    Raises:
        Gone: neither the output nor the archive has it.
    """
    if row["html"]:
        found = _parsed(row["html"].encode("utf-8", "replace"), "utf-8", config, is_labelled=True)
        if found.blocks.text == row["page_text"]:
            return found
    # What this run let in is let in again, whatever the parameters of the program at hand.
    input_config = dataclasses.replace(config.input, statuses=(row["http_status"],), mimes=(row["mime"],))
    fetch = read_one(row["warc_file"], row["warc_offset"], row["warc_length"], input_config, config.page.max_html_bytes)
    if fetch.capture.capture_id != row["capture_id"]:
        raise Gone(f"{row['warc_file']} holds another record at {row['warc_offset']} than when it was read")
    found = _parsed(fetch.html, fetch.capture.declared_charset, config, is_labelled=False)
    if found.blocks.text != row["page_text"]:
        raise Gone("this version of the program cuts the page into other blocks than the one that labelled it")
    return found


def read_one(path: str, offset: int, length: int, config: InputConfig, max_html_bytes: int) -> warc.Fetch:
    """The capture that one record of a file holds.

    Raises:
        Gone: the file cannot be read, or there is no capture at that place.
    """
    try:
        with open_binary(path) as stream:
            stream.seek(offset)
            record = stream.read(length)
    except (OSError, ValueError, ImportError) as error:
        raise Gone(f"{path} cannot be read: {error}") from error
    # One record, cut out as stored, is an archive of its own in either format.
    with tempfile.TemporaryDirectory(prefix="dbce-report-") as folder:
        file = Path(folder, "record")
        file.write_bytes(record)
        for found in warc.read(str(file), config, max_html_bytes):
            if isinstance(found, warc.Fetch):
                return found
    raise Gone(f"{path} has no page at {offset}")


def _parsed(html: bytes, declared_charset: str, config: DbceConfig, *, is_labelled: bool) -> Archived:
    try:
        blocks = page.parse(html, declared_charset, config.page).blocks
    except page.PageError as error:
        raise Gone(f"the page cannot be parsed: {error}") from error
    return Archived(decode(html, declared_charset).html, blocks, is_labelled)
