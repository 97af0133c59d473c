"""Pack what the state of a site needs of a page, on its way there and while its labels may change."""

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.kept.title_heading import is_main_heading, title_blocks
from dbce_spark.model import BlockFeatures, Blocks, Capture, Metadata, Page, Units
from dbce_spark.streaming.stream import json_head

_HEADING = "/h1[1]"
_BLOCKS = ("words", "link_words")
_FEATURES = ("codes", "first_scores", "keys")
_UNITS = ("parents", "firsts", "lasts", "kinds", "holders")


def pack_page(page: Page, with_titles: bool) -> bytes:
    """Pack a page that has features, without its text, its XPaths, its words and its place in an archive.

    `with_titles`: the text of the blocks that say its title, too, and which are in an <h1>, for who drops the title
    heading.
    """
    assert page.features is not None
    columns: dict[str, npt.NDArray[Any]] = {name: getattr(page.blocks, name) for name in _BLOCKS}
    columns |= {name: getattr(page.features, name) for name in _FEATURES}
    columns |= {name: getattr(page.features.units, name) for name in _UNITS}
    if page.signature is not None:
        columns |= {"signature": page.signature, "bands": page.bands}
    titles = title_blocks(page) if with_titles else {}
    head = {
        "capture": [page.capture_id, page.capture.url_key, page.capture.site, page.capture.timestamp],
        "title": page.metadata.title if with_titles else "",
        "titles": titles,
        "headings": [at for at in titles if is_main_heading(page.blocks.xpaths[at])],
        "columns": [[name, column.dtype.newbyteorder("<").str, column.shape] for name, column in columns.items()],
    }
    little = (column.astype(column.dtype.newbyteorder("<"), copy=False) for column in columns.values())
    return b"".join([json_head.pack(head), *(column.tobytes() for column in little)])


def unpack_page(data: bytes) -> Page:
    """Restore a page that `pack_page` packed; what it left out is empty."""
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
        blocks=_blocks(head["titles"], frozenset(head.get("headings", ())), {name: columns[name] for name in _BLOCKS}),
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


def _blocks(titles: dict[str, str], headings: Collection[int], columns: dict[str, Any]) -> Blocks:
    """Make blocks of which only those that say the title have a text, and only those in an <h1> an XPath."""
    count = len(columns["words"])
    lengths = [len(titles.get(str(at), "")) for at in range(count)]
    ends = np.cumsum(lengths, dtype=np.int32)
    return Blocks(
        text="".join(titles.values()),
        starts=ends - np.array(lengths, np.int32),
        ends=ends,
        xpaths=[_HEADING if at in headings else "" for at in range(count)],
        tokens=np.empty(0, np.uint64),
        **columns,
    )
