"""Gold pages: HTML with the main text that people marked in it, one JSON object a line."""

import gzip
import json
import lzma
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

from tqdm import tqdm

from dbce_spark import sources, warc
from dbce_spark.errors import InputError
from dbce_spark.model import Capture, digest

MIN_COVERAGE = 0.9
"""Share of the gold's tokens that stand in the page (`tok_cov`). Below, gold and page are not of the same capture, and
no extractor could do well."""

_XZ, _GZIP = b"\xfd7zXZ\x00", b"\x1f\x8b"
_TEXTS = ("url", "site", "group", "url_key", "lang", "page_type", "dataset", "wayback_ts", "date")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldPage:
    """One page with its main text. What is not known is ""."""

    dataset: str
    page_id: str
    url: str
    site: str
    group: str  # pages that may share a template: site, or site and era
    url_key: str  # the same for all captures of one page, never ""
    timestamp: int  # microseconds since 1970-01-01 UTC, 0 if not known
    lang: str
    page_type: str
    html: str
    gold: str

    def fetch(self, offset: int) -> warc.Fetch:
        """The page as a capture of an archive, at a made-up place. Its site is its group, so that siblings meet."""
        html = self.html.encode("utf-8", "replace")
        capture = Capture(
            url=self.url or f"gold:{self.dataset}/{self.page_id}",
            url_key=self.url_key,
            site=self.group or f"gold:{self.page_id}",
            timestamp=self.timestamp,
            warc_file=self.dataset,
            warc_offset=offset,
            warc_length=len(html),
            record_id=self.page_id,
            payload_digest=f"blake2b:{digest(self.html)}",
            http_status=200,
            mime="text/html",
            declared_charset="utf-8",
            truncated=False,
        )
        return warc.Fetch(capture, html)


@dataclass(frozen=True, slots=True)
class Gold:
    """The pages of each data set, in the order of its lines, and how many of its pages were skipped for `tok_cov`."""

    sets: Mapping[str, list[GoldPage]]
    skipped: Counter[str]


def read(paths: Iterable[str], limit: int | None = None) -> Gold:
    """The pages of some files; of each data set the first `limit`.

    Raises:
        InputError: a file cannot be read, a line is no gold page, two pages have the same id, or there is no page.
    """
    sets: dict[str, dict[str, GoldPage]] = defaultdict(dict)
    skipped: Counter[str] = Counter()
    for path in paths:
        for place, fields in tqdm(
            _lines(path), desc=PurePosixPath(path).name, unit=" pages", leave=False, disable=None
        ):
            name = fields.get("dataset") or PurePosixPath(path).name.split(".")[0]
            page = _page(name, fields, place)
            if page.page_id in sets[name]:
                raise InputError(f"{place}: {name} already has a page {page.page_id}; give each file once")
            if _coverage(fields, place) < MIN_COVERAGE:
                skipped[name] += 1
            elif limit is None or len(sets[name]) < limit:
                sets[name][page.page_id] = page
    found = {name: list(pages.values()) for name, pages in sets.items() if pages}
    if not found:
        raise InputError(f"no page with tok_cov of {MIN_COVERAGE} or more; name files that hold some")
    return Gold(found, skipped)


def siblings(pages: Iterable[GoldPage]) -> dict[str, int]:
    """Of each page, by its id, how many other pages stand in its group. Captures of one URL count once."""
    pages = list(pages)
    keys: dict[str, set[str]] = defaultdict(set)
    for page in pages:
        keys[page.group].add(page.url_key)
    return {page.page_id: len(keys[page.group]) - 1 if page.group else 0 for page in pages}


def _lines(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line's place ("file:3") and fields."""
    number = 0
    try:
        with _plain(path) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    place = f"{path}:{number}"
                    yield place, _object(line, place)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read behind line {number}: {error}") from error


@contextmanager
def _plain(path: str) -> Iterator[BinaryIO]:
    """The file's bytes, decompressed by what it begins with, not by its name."""
    with sources.open_binary(path) as stream:
        start = stream.read(len(_XZ))
        stream.seek(0)
        if start == _XZ:
            with lzma.open(stream, "rb") as plain:
                yield cast(BinaryIO, plain)
        elif start.startswith(_GZIP):
            with gzip.open(stream, "rb") as plain:
                yield cast(BinaryIO, plain)
        else:
            yield stream


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place}: no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise InputError(f"{place}: a JSON {type(fields).__name__}, not an object with id, html and gold")
    for name in ("id", "html", "gold"):
        if not isinstance(fields.get(name), str):
            raise InputError(f"{place}: {name} must be a text, not {fields.get(name)!r}")
    for name in _TEXTS:
        if not isinstance(fields.get(name) or "", str):
            raise InputError(f"{place}: {name} must be a text, not {fields[name]!r}")
    return fields


def _page(dataset: str, fields: Mapping[str, Any], place: str) -> GoldPage:
    text = {name: fields.get(name) or "" for name in _TEXTS}
    url = text["url"] if _has_host(text["url"]) else ""
    return GoldPage(
        dataset=dataset,
        page_id=fields["id"],
        url=url,
        site=text["site"],
        group=text["group"] or text["site"],
        url_key=text["url_key"] or (warc.url_key(url) if url else f"gold:{fields['id']}"),
        timestamp=_microseconds(text["wayback_ts"] or text["date"], place),
        lang=text["lang"],
        page_type=text["page_type"],
        html=fields["html"],
        gold=fields["gold"],
    )


def _has_host(url: str) -> bool:
    """Some sets hide their URLs behind "http:///"."""
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False


def _microseconds(date: str, place: str) -> int:
    """From 20051230052639, 20051230 or ISO 8601; 0 if there is none."""
    if not date:
        return 0
    try:
        when = datetime.strptime(date, "%Y%m%d%H%M%S") if len(date) == 14 else datetime.fromisoformat(date)
    except ValueError as error:
        raise InputError(f"{place}: {date} is no date; write 20051230052639, 20051230 or 2005-12-30") from error
    return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1_000_000)


def _coverage(fields: Mapping[str, Any], place: str) -> float:
    value = fields.get("tok_cov", 1.0)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{place}: tok_cov must be a number, not {value!r}")
    return float(value)
