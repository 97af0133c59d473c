"""Fuzz targets: each takes any bytes, and asserts what must be true of the result."""

import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise, zip_longest
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import brotli
import numpy as np
import zstandard

from dbce_spark.archive import http_message as http
from dbce_spark.archive import mime, warc
from dbce_spark.archive.content_coding import BodyError
from dbce_spark.archive.records import Cause, Damage, Limits, Record
from dbce_spark.archive.records import records as records_of
from dbce_spark.archive.segmented_records import Segment, join_segments
from dbce_spark.config import load
from dbce_spark.html import charset as charsets
from dbce_spark.html.dom import PageError
from dbce_spark.html.metadata import metadata
from dbce_spark.html.page import Parsed, parse
from dbce_spark.html.tokens import hashed

_CODINGS = (
    "",
    "gzip",
    "deflate",
    "br",
    "zstd",
    "chunked",
    "compress",
    "x-gzip",
    "gzip, gzip",
    "br, gzip",
    "chunked, x",
)
_CHARSETS = (
    "", "utf-8", "iso-8859-1", "shift_jis", "euc-jp", "iso-2022-jp", "big5", "gbk", "euc-kr", "koi8-r", "utf-16", "hz",
    "hz-gb-2312", "iso-2022-kr", "x-user-defined", "windows-1255", "windows-874", "gb18030", "macintosh", "no such",
)  # fmt: skip
_TYPES = ("text/html", "application/xhtml+xml", "", "text/xml", "image/svg+xml", "text/plain", "*/*")
_ZSTD = b"\x28\xb5\x2f\xfd"  # its frames may need a dictionary
_UNDONE = {http.Defect.CODING_LIES, http.Defect.CHUNKS_LIE}
_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: gzip.compress(content, 1),
    "deflate": lambda content: zlib.compress(content, 1),
    "br": lambda content: brotli.compress(content, quality=1),
    "zstd": zstandard.ZstdCompressor(1).compress,
    "": lambda content: content,
}
_CONFIG = load(settings=(
    "input.max_record_bytes=1_000_000", "input.max_inflated_bytes=10_000_000", "input.max_unpacked_bytes=4_000_000",
    "input.max_head_bytes=50_000", "input.max_inflated_ratio=50",
))  # fmt: skip
"""The shipped parameters, but that an input of a few kilobytes is not blown up to a gigabyte, which takes seconds."""
_LIMITS = Limits.from_config(_CONFIG.input)
_TIGHT = Limits(
    record_bytes=300, head_bytes=200, inflated_bytes=2000, inflated_ratio=2, unpacked_bytes=2000, zip_files=3,
    zip_depth=1,
)  # fmt: skip
_NARROW = load(settings=(
    "page.max_tags=300", "page.max_attributes=5", "page.trusted_bytes=200", "page.max_path_chars=3000",
    "page.max_blocks=20", "page.max_tokens=50", "page.max_html_bytes=20000",
)).page  # fmt: skip


def records(data: bytes) -> None:
    """Assert that every byte belongs to one record or damage, under any limits; that a record of its own member is read
    again from its own bytes; and that every record has one outcome."""
    for limits in (_TIGHT, _LIMITS):
        found = list(records_of(io.BytesIO(data), limits))
        _is_whole(found, data)
        some = [one for one in found if isinstance(one, Record)]
        for one in some:
            assert one.block is None or len(one.block) <= limits.record_bytes, one
            assert one.member <= one.offset, one
        starts = Counter((one.within, one.member, one.inner) for one in some)
        assert any(name for name, _, _ in starts) or len(starts) == len(some), starts.most_common(1)
        together = list(join_segments(found, limits.record_bytes))
        assert sorted(map(_place, found)) == sorted(map(_place, together))
    _are_read_again(found, data)
    outcomes = list(warc.read_stream(io.BytesIO(data), "a.warc", _CONFIG.input, 1 << 20))
    assert len(outcomes) == sum(isinstance(one, Record) or one.cause.is_loss for one in found), outcomes


def _place(one: Record | Damage | Segment) -> tuple[str, int]:
    return one.within, one.offset


def _is_whole(found: list[Record | Damage], data: bytes) -> None:
    """Assert that records and damages lie side by side from the first byte to the last; in a zip, those of each file in
    it."""
    sizes = _stored_sizes(data) if data.startswith(b"PK\x03\x04") else {}
    for name, group in groupby(found, key=lambda one: one.within):
        at = 0
        for one in group:
            assert one.length >= 0, one
            # Two files of a zip may have the same name, the one behind the other.
            assert one.offset == at or (one.offset == 0 and name), (one, at)
            at = one.offset + one.length
        if name in sizes and not _is_no_zip(found):
            assert at == sizes[name], (name, at, sizes[name])
        elif not name and not sizes:
            assert at == len(data), (at, len(data))


def _is_no_zip(found: list[Record | Damage]) -> bool:
    """Test for a zip too large for the limits, which is read as any other file."""
    return any(isinstance(one, Damage) and one.cause is Cause.FOREIGN and not one.within for one in found)


def _stored_sizes(data: bytes) -> dict[str, int]:
    """Measure the frame of a zip, as "", and the files in it that are stored and have a name of their own, in bytes."""
    try:
        with ZipFile(io.BytesIO(data)) as directory:
            entries = directory.infolist()
            nested = {entry.filename for entry in entries if _may_be_zip(directory, entry)}
    except Exception:  # whatever zipfile makes of it; then it is read as any other file
        return {}
    names = Counter(entry.filename for entry in entries)
    sizes = {"": max(0, len(data) - sum(entry.compress_size for entry in entries))}
    return sizes | {
        entry.filename: entry.compress_size
        for entry in entries
        if entry.compress_type == ZIP_STORED and names[entry.filename] == 1 and entry.filename not in nested
    }


def _may_be_zip(directory: ZipFile, entry: ZipInfo) -> bool:
    try:
        with directory.open(entry) as inner:
            return inner.read(4) == b"PK\x03\x04"
    except Exception:  # as above; it is left out then
        return True


def _are_read_again(found: list[Record | Damage], data: bytes) -> None:
    """Assert that records of WARC with members of their own, or in none, equal the records read from their bytes.

    (A frame of zstd may need a dictionary. Of an ARC's line less is asserted where its neighbours are such, too.)
    """
    for one, behind in zip_longest(found, found[1:]):
        if isinstance(one, Damage) or isinstance(behind, Damage) or one.within or one.is_arc:
            continue
        if data[one.member : one.member + 4] == _ZSTD:
            continue
        if one.inner == 0 and one.length and (behind is None or behind.inner == 0):
            again = next(records_of(io.BytesIO(data[one.offset : one.offset + one.length]), _LIMITS))
            assert isinstance(again, Record), (one, again)
            assert (one.url, one.date, one.kind) == (again.url, again.date, again.kind), (one, again)
            if one.block is not None and len(one.block) == one.declared_length:
                assert one.block == again.block, (one, again)


def body(data: bytes) -> None:
    """Assert that an HTTP message is cut into head and body, and its codings undone within the limits, or that it is
    refused."""
    found = http.parse(data)
    if found is not None:
        assert data.endswith(found.body)
        assert found.status in range(1000)
        for most, ratio in ((1 << 20, 200), (50, 1)):
            _is_within(found, most, ratio)
    for headers in _announced(data):
        _is_within(http.Response(200, headers, data[2:]), 5000, 3)
    if mime.opens_as_page(data[:64]) and b"<" in data[:1]:
        _comes_back(data)


def _announced(data: bytes) -> Iterator[dict[str, str]]:
    """Iterate over headers that announce the codings chosen by the first two bytes."""
    first, second = (*data[:2], 0, 0)[:2]
    yield {"content-encoding": _CODINGS[first % len(_CODINGS)], "content-length": str(second)}
    yield {"transfer-encoding": _CODINGS[second % len(_CODINGS)], "content-encoding": _CODINGS[first % len(_CODINGS)]}


def _is_within(response: http.Response, most: int, ratio: int) -> None:
    try:
        found = http.decode_body(response, max_bytes=most, max_ratio=ratio)
    except BodyError:
        return
    assert len(found.html) <= min(most, max(http.ALWAYS_ALLOWED, ratio * len(response.body))), found.defects
    assert found.defects >= response.defects
    named = {"content-encoding", "transfer-encoding"} & set(response.headers)
    if not named and not found.defects & _UNDONE:
        assert found.html == response.body


def _comes_back(page: bytes) -> None:
    """Assert that a page that is encoded and announced comes back without a defect."""
    for coding, encode in _ENCODERS.items():
        response = http.Response(200, {"content-encoding": coding}, encode(page))
        found = http.decode_body(response, max_bytes=len(page), max_ratio=1 << 20)
        assert (found.html, found.defects) == (page, frozenset()), (coding, found)


def charset(data: bytes) -> None:
    """Assert that the result is UTF-8 without zeros, that replacements are reported, and that content has a type."""
    for label in ("", _CHARSETS[(data[0] if data else 0) % len(_CHARSETS)]):
        found = charsets.decode(data, label)
        is_kept = found.source == "utf8" and not found.lossy  # valid UTF-8 as it is, surrogates and all
        text = found.html.decode("utf-8")
        assert "\0" not in text
        assert is_kept or found.lossy == ("\ufffd" in text) or found.source == "utf8"
        assert found.source in ("bom", "utf8", "http", "meta", "detected", "fallback")
        assert charsets.decode(found.html, "utf-8").html == found.html or _is_seven_bit(found.html)
    for essence in _TYPES:
        assert "/" in mime.computed_type(essence, data)
    declared = mime.declared_type(data[:200].decode("latin-1"))
    assert declared.essence == declared.essence.lower()
    assert not declared.essence or declared.essence.count("/") == 1


def _is_seven_bit(html: bytes) -> bool:
    """Test for escapes, a byte order mark or zeros, by which a second decoding may go wrong."""
    return b"\x1b" in html or b"~{" in html or html.startswith(b"\xef\xbb\xbf")


def page(data: bytes) -> None:
    """Assert that a page's blocks are spans of its text and that its tree is one, or that there is a reason why not."""
    label = _CHARSETS[zlib.crc32(data[:4]) % len(_CHARSETS)]
    for limits in (_CONFIG.page, _NARROW):
        try:
            found = parse(data, label, limits)
        except PageError:
            continue
        _has_blocks(found)
        _has_tree(found)
        assert len(found.blocks) <= limits.max_blocks or "too_many_blocks" in found.flags
        assert len(found.blocks.tokens) <= limits.max_tokens or "too_many_tokens" in found.flags
        assert sum(map(len, found.tree.path_names)) <= limits.max_path_chars
        declared = metadata(found.declared, "http://www.example.org/a", 1_600_000_000_000_000)
        declared.title.encode()
        assert declared.canonical_url is None or declared.canonical_url.startswith(("http://", "https://"))


def _has_blocks(found: Parsed) -> None:
    blocks = found.blocks
    spans = list(zip(blocks.starts.tolist(), blocks.ends.tolist(), strict=True))
    assert (0, len(blocks.text)) == (spans[0][0], spans[-1][1])
    parted = (blocks.text[before[1] : after[0]] for before, after in pairwise(spans))
    assert all(re.fullmatch("\n\t*|\t+", between) for between in parted)
    assert all(blocks.text[start:end].strip() for start, end in spans)
    assert len(spans) == len(blocks.xpaths) == len(blocks.words) == len(blocks.link_words)
    blocks.text.encode()  # no half of a surrogate pair
    assert np.array_equal(blocks.tokens, np.concatenate([hashed(blocks.text[start:end])[1] for start, end in spans]))
    assert blocks.words.sum() == len(blocks.tokens) == len(found.token_starts)
    assert ((blocks.link_words >= 0) & (blocks.link_words <= blocks.words)).all()
    assert (np.diff(found.token_starts) > 0).all()


def _has_tree(found: Parsed) -> None:
    tree, blocks = found.tree, len(found.blocks)
    assert len(tree.parents) == len(tree.slots) == len(tree.firsts) == len(tree.lasts)
    assert len(set(tree.path_names)) == len(tree.path_names)
    for at, (parent, first, last) in enumerate(zip(tree.parents, tree.firsts, tree.lasts, strict=True)):
        assert -1 <= parent < at
        assert 0 <= first <= last <= blocks
        assert parent < 0 or tree.firsts[parent] <= first <= last <= tree.lasts[parent]
    for nth, (holder, xpath) in enumerate(zip(tree.holders, found.blocks.xpaths, strict=True)):
        assert tree.firsts[holder] <= nth < tree.lasts[holder]
        assert xpath.endswith(f"[{tree.nths[nth]}]")
    for places in (tree.control_blocks, tree.text_area_blocks, tree.foreign_link_blocks, tree.place_link_blocks):
        assert places == sorted(places)
        assert all(0 <= place <= blocks for place in places)


TARGETS: dict[str, Callable[[bytes], None]] = {"records": records, "body": body, "charset": charset, "page": page}
