"""One line makes what a test needs: pages, captures, members, crosses, records and archives."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa

from dbce_spark.archive import warc
from dbce_spark.archive.index.urls import url_key
from dbce_spark.archive.records import Limits
from dbce_spark.config import DbceConfig, load
from dbce_spark.dbce import pages, pools, sites
from dbce_spark.dbce.annotation_merge import resolve
from dbce_spark.dbce.classifier.layout import Layout
from dbce_spark.dbce.duplicates import Mark, MarkedText
from dbce_spark.dbce.occurrence_bits import run_lengths
from dbce_spark.html.page import Parsed, parse
from dbce_spark.html.tokens import hashed
from dbce_spark.model import (
    ARMS,
    Annotation,
    Bits,
    BlockFeatures,
    Blocks,
    Capture,
    ComparedPage,
    Cross,
    Hashes,
    Label,
    Member,
    Page,
    Revisit,
    Segments,
    Units,
)
from dbce_spark.output.schemas.codec import attributes, encode
from dbce_spark.output.schemas.duplicate_rows import DUPLICATES

CONFIG = load()
DATE = "2020-01-02T03:04:05Z"
URL = "http://www.example.org/a.html"


def config(*settings: str) -> DbceConfig:
    """The shipped parameters with some of them set, as `--set` does."""
    return load(settings=settings)


def at_most(**changes: int) -> Limits:
    """The shipped limits of the record reader with some of them set."""
    return replace(Limits.from_config(CONFIG.input), **changes)


def words(text: str) -> Hashes:
    """The token hashes of a text."""
    return hashed(text)[1]


def parsed(html: str | bytes, declared_charset: str = "", url: str = "") -> Parsed:
    """Parse a page in one walk."""
    return parse(html if isinstance(html, bytes) else html.encode(), declared_charset, CONFIG.page, url)


def lines(html: str | bytes, declared_charset: str = "") -> list[str]:
    """The texts of a page's blocks."""
    blocks = parsed(html, declared_charset).blocks
    return [blocks.text[start:end] for start, end in zip(blocks.starts, blocks.ends, strict=True)]


def body(html: str) -> list[str]:
    """The texts of the blocks of a page whose <body> holds this."""
    return lines(f"<!DOCTYPE html><html><head><title>T</title></head><body>{html}</body></html>")


def laid(*bodies: str) -> Layout:
    """The layout of pages with these bodies."""
    return Layout([parsed(f"<html><head><title>T</title></head><body>{body}</body></html>") for body in bodies])


def microseconds(date: str) -> int:
    return int(datetime.fromisoformat(date).timestamp() * 1_000_000)


def capture(url: str = URL, date: str = DATE, **fields: Any) -> Capture:
    """A capture of a page of www.example.org."""
    known: dict[str, Any] = {
        "url": url,
        "url_key": url_key(url),
        "site": warc.site_of(url, "domain"),
        "timestamp": microseconds(date),
        "warc_file": "a.warc.gz",
        "warc_offset": 0,
        "warc_length": 100,
        "record_id": "<urn:uuid:1>",
        "payload_digest": "sha1:A",
        "http_status": 200,
        "mime": "text/html",
        "declared_charset": "",
        "truncated": False,
    }
    return Capture(**(known | fields))


def page(html: str, url: str = URL, date: str = DATE, settings: DbceConfig = CONFIG, **fields: Any) -> Page:
    """A page of www.example.org, with its signature. No classifier has looked at it."""
    patterns_only = replace(settings, label=replace(settings.label, by="T002"))
    made = pages.parse_fetch(warc.Fetch(capture(url, date, **fields), html.encode()), patterns_only)
    assert isinstance(made, Page), made
    return made


def alone_on_site(of: Page) -> ComparedPage:
    """A page that was compared with no other, as its site has none."""
    return sites.gather(of, [], pools.page_evidence(of), "")


def one_unit(blocks: int) -> Units:
    """A page that is one unit with all its blocks."""
    outermost = np.zeros(1, np.int32)
    return Units(
        parents=outermost,
        firsts=outermost,
        lasts=outermost + blocks,
        kinds=outermost,
        holders=np.zeros(blocks, np.int32),
    )


def block_features(of: Page, features: int = 3) -> BlockFeatures:
    """Features that follow from a page's blocks in a way of their own: equal texts have equal keys and scores."""
    blocks = of.blocks
    texts = [blocks.text[start:end] for start, end in zip(blocks.starts, blocks.ends, strict=True)]
    hashes = np.array([crc32(text.encode()) for text in texts], np.uint32)
    return BlockFeatures(
        codes=np.stack([hashes >> np.uint32(row) for row in range(features)]).astype(np.uint8),
        first_scores=(hashes % 1025).astype(np.uint16),
        keys=np.stack([hashes * np.uint32(2 * row + 1) for row in range(6)]),
        units=one_unit(len(blocks)),
    )


def member(capture_id: str, url_key: str = "u", timestamp: int = 0, rows: Sequence[int] = (1, 2, 3, 4)) -> Member:
    """A capture as a bucket knows it."""
    signature = np.array(rows, np.uint32)
    return Member(
        capture_id=capture_id,
        site="example.org",
        url_key=url_key,
        timestamp=timestamp,
        signature=signature,
        bands=signature.astype(np.uint64),
    )


def cross(cur: str = "cur", up: str = "up", down: str = "", prev: str = "", next: str = "") -> Cross:
    """A cross of these captures, all of them as similar as can be."""
    similarities = [float(bool(arm)) for arm in (up, down, prev, next)]
    return Cross(
        cur=cur,
        up=up,
        down=down,
        prev=prev,
        next=next,
        **{f"{arm}_similarity": value for arm, value in zip(ARMS[1:], similarities, strict=True)},
    )


def annotation(of: Cross, per_token: Sequence[str]) -> Annotation:
    """An annotation from the bits of each token, written as "11010"."""
    return run_lengths(of, bits(*per_token))


def segments_of(blocks: Blocks, *patterns: str) -> Segments:
    """Segments from the bits of each word in a cross with one sibling."""
    return resolve(blocks, [annotation(cross(), patterns)], undecided=Label.UNDECIDED)


def bits(*patterns: str) -> Bits:
    return np.array([int(pattern, 2) for pattern in patterns], np.uint8)


def filled_cross(pattern: str, prefix: str = "") -> Cross:
    """A cross with these arms, each named by itself: "11010" has cur, up and prev."""
    return cross(*(f"{prefix}{arm}" if bit == "1" else "" for arm, bit in zip(ARMS, pattern, strict=True)))


def http(
    html: str | bytes = "<p>Hello world</p>",
    status: str = "200 OK",
    content_type: str | None = "text/html; charset=utf-8",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """An HTTP response as stored."""
    payload = html if isinstance(html, bytes) else html.encode()
    fields = ({} if content_type is None else {"Content-Type": content_type}) | dict(headers or {})
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + payload


def record(
    block: bytes | None = None,
    *,
    url: str | None = URL,
    date: str = DATE,
    kind: str = "response",
    version: str = "1.0",
    **headers: str,
) -> bytes:
    """A WARC record; keywords are more of its headers (`WARC_Truncated="length"`)."""
    content = http() if block is None else block
    fields = {"WARC-Type": kind, "WARC-Record-ID": "<urn:uuid:0>", "WARC-Date": date}
    fields |= {} if url is None else {"WARC-Target-URI": url}
    fields |= {"Content-Type": "application/http; msgtype=response", "Content-Length": str(len(content))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/{version}\r\n{head}\r\n".encode() + content + b"\r\n\r\n"


def arc_header() -> bytes:
    """The version block that an ARC file begins with."""
    content = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
    return b"filedesc://a.arc 0.0.0.0 20080430204825 text/plain %d\n" % len(content) + content + b"\n"


def arc_record(block: bytes | None = None, *, url: str = URL, date: str = "20080430204826") -> bytes:
    """A record of ARC version 1."""
    content = http() if block is None else block
    return f"{url} 192.0.2.1 {date} text/html {len(content)}\n".encode() + content + b"\n"


def gzipped(*records: bytes) -> list[bytes]:
    """Each record a gzip member of its own, without a time in it."""
    return [gzip.compress(one, mtime=0) for one in records]


def archive(path: Path, *records: bytes) -> str:
    """A file of these records, one behind the other."""
    path.write_bytes(b"".join(records))
    return str(path)


def read(path: str | Path, *settings: str) -> list[Any]:
    """Every record of a file: fetches, rejects and skips."""
    made = config(*settings)
    return list(warc.read(str(path), made.input, made.page.max_html_bytes))


def outcomes_of(path: str | Path, *settings: str) -> list[str]:
    """List the outcome of each record of a file: its URL, "revisit:URL", "reject:REASON" or "skip:FILTER"."""
    return [outcome_of(one) for one in read(path, *settings)]


def outcome_of(found: Any) -> str:
    if isinstance(found, warc.Fetch):
        return found.capture.url
    if isinstance(found, Revisit):
        return f"revisit:{found.url}"
    return f"reject:{found.reason}" if hasattr(found, "reason") else f"skip:{found.filter}"


def marked_batch(marked: Sequence[MarkedText]) -> pa.RecordBatch:
    """Texts and their marks as DUPLICATES rows."""
    return encode(
        DUPLICATES,
        [text for text, _ in marked],
        text_digest=[text.digest for text, _ in marked],
        signature=[None if text.signature is None else text.signature.tobytes() for text, _ in marked],
        **attributes([mark for _, mark in marked], Mark.__dataclass_fields__),
    )
