"""Pack what the state of a site needs of a page, on its way there and while its labels may change."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from dbce_spark.dbce.kept.kept_blocks import texts_read
from dbce_spark.dbce.kept.line_numbers import line_numbers
from dbce_spark.dbce.kept.repeated_blocks import is_heading
from dbce_spark.dbce.kept.title_heading import is_main_heading, title_blocks
from dbce_spark.model import BlockFeatures, Blocks, Capture, Metadata, Page, Units
from dbce_spark.streaming import json_head

_SAME, _HEADING, _MAIN, _NUMBERS, _ROW = 1, 2, 4, 8, 16
"""Marks of a block: its XPath is that of the block before, of a heading, of what is in an <h1>, of line numbers; more
of its row stands behind it."""
_LAST_STEPS = {0: "", _HEADING: "/h2[1]", _MAIN: "/h1[1]/div[1]", _HEADING | _MAIN: "/h1[1]"}
_BLOCKS = ("words", "link_words")
_FEATURES = ("codes", "first_scores", "keys")
_UNITS = ("parents", "firsts", "lasts", "kinds", "holders")
_ZSTD_LEVEL = 1
"""Level of compression, low: of 480 gold pages of four sets it leaves 0.19 to 0.22 of the bytes, in 0.2 ms a page."""


def pack_page(page: Page, with_titles: bool) -> bytes:
    """Pack a page that has features, with no more of its text and its XPaths than it is labelled by, and without its
    words and its place in an archive.

    `with_titles`: the text of the blocks that say its title, too, for who drops the title heading.
    """
    assert page.features is not None
    columns: dict[str, npt.NDArray[Any]] = {name: getattr(page.blocks, name) for name in _BLOCKS}
    columns |= {name: getattr(page.features, name) for name in _FEATURES}
    columns |= {name: getattr(page.features.units, name) for name in _UNITS}
    if page.signature is not None:
        columns |= {"signature": page.signature, "bands": page.bands}
    columns["marks"] = _marks(page.blocks)
    texts = texts_read(page) | (title_blocks(page) if with_titles else {})
    head = {
        "capture": [page.capture_id, page.capture.url_key, page.capture.site, page.capture.timestamp],
        "title": page.metadata.title,
        "texts": dict(sorted(texts.items())),
        "columns": [[name, column.dtype.newbyteorder("<").str, column.shape] for name, column in columns.items()],
    }
    little = (column.astype(column.dtype.newbyteorder("<"), copy=False) for column in columns.values())
    packed = b"".join([json_head.pack(head), *(column.tobytes() for column in little)])
    return zstandard.compress(packed, _ZSTD_LEVEL)


def unpacked_bytes(packed: bytes) -> int:
    """Count the bytes of a packed page without its compression, whatever they were compressed by."""
    return zstandard.frame_content_size(packed)


def unpack_page(packed: bytes) -> Page:
    """Restore a page that `pack_page` packed; what it left out is empty."""
    data = zstandard.decompress(packed)
    head, at = json_head.unpack(data)
    columns: dict[str, Any] = {}
    for name, kind, shape in head["columns"]:
        values = np.frombuffer(data, kind, int(np.prod(shape)), at).reshape(shape)
        columns[name], at = values.astype(values.dtype.newbyteorder("="), copy=False), at + values.nbytes
    capture_id, url_key, site, timestamp = head["capture"]
    return Page(
        capture_id=capture_id,
        capture=_unplaced(url_key, site, timestamp),
        charset="",
        charset_source="",
        metadata=Metadata(title=head["title"], declared_language="", published=None, modified=None, canonical_url=None),
        flags=(),
        blocks=_blocks(head["texts"], columns["marks"], {name: columns[name] for name in _BLOCKS}),
        signature=columns.get("signature"),
        bands=columns.get("bands", np.empty(0, np.uint64)),
        features=BlockFeatures(
            **{name: columns[name] for name in _FEATURES}, units=Units(**{name: columns[name] for name in _UNITS})
        ),
    )


def _unplaced(url_key: str, site: str, timestamp: int) -> Capture:
    """Make a capture that lies nowhere."""
    return Capture(
        url="",
        url_key=url_key,
        site=site,
        timestamp=timestamp,
        warc_file="",
        warc_offset=0,
        warc_length=0,
        record_id="",
        payload_digest="",
        http_status=0,
        mime="",
        declared_charset="",
        truncated=False,
    )


def _blocks(texts: dict[str, str], marks: npt.NDArray[np.uint8], columns: dict[str, Any]) -> Blocks:
    """Make blocks of which only some have a text, and which have XPaths and tabs that stand for theirs."""
    in_row = (marks & _ROW) > 0
    parts = [texts.get(str(at), "") + "\t" * tab for at, tab in enumerate(in_row.tolist())]
    lengths = np.array([*map(len, parts)], np.int32)
    ends = np.cumsum(lengths, dtype=np.int32)
    return Blocks(
        text="".join(parts),
        starts=ends - lengths,
        ends=ends - in_row.astype(np.int32),
        xpaths=_stand_ins((marks % _ROW).tolist()),
        tokens=np.empty(0, np.uint64),
        **columns,
    )


def _marks(blocks: Blocks) -> npt.NDArray[np.uint8]:
    paths = blocks.xpaths
    marks = [
        _SAME * (at > 0 and path == paths[at - 1]) + _HEADING * is_heading(path) + _MAIN * is_main_heading(path)
        for at, path in enumerate(paths)
    ]
    found = np.array(marks, np.uint8) | _ROW * blocks.before_row_ends().astype(np.uint8)
    found[line_numbers(blocks)] |= _NUMBERS
    return found


def _stand_ins(marks: Sequence[int]) -> list[str]:
    """Make XPaths with the marks of those that they stand for."""
    found: list[str] = []
    row, before = "", 0
    for at, mark in enumerate(marks):
        row = row if before & _NUMBERS else f"/{at}"  # behind line numbers it goes on
        cell = f"{row}/td[{at}]/pre[1]" if (before | mark) & _NUMBERS else row
        found.append(found[-1] if mark & _SAME else f"{cell}{_LAST_STEPS[mark & (_HEADING | _MAIN)]}")
        before = mark
    return found
