"""Files of pages as they come from some domains, day by day."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, pages, pools
from dbce_spark.model import Page
from dbce_spark.streaming.stream import stream_parts
from dbce_spark.streaming.stream.arrival import Arrival, Row, make_arrival, pack_keys
from dbce_spark.streaming.stream.stream_method import stream_method
from dbce_spark.streaming.stream.stream_parts import WrittenPart
from dbce_spark.streaming.stream.streamed_site import PrimedPage, seen_as
from dbce_spark.streaming.urltree.url_keys import url_key
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig, load
from tests.support.builders import CONFIG, DATE, archive, capture, gzipped, http, page, record

TREE = load()


def tree(*settings: str) -> UrlTreeConfig:
    """The shipped parameters of URL Tree with some of them set."""
    return load(settings=settings)


def html(*texts: str, title: str = "T") -> str:
    return f"<html><title>{title}</title><body>{''.join(f'<p>{text}</p>' for text in texts)}</body></html>"


def arrival(url: str, *texts: str, row_no: int = 0, settings: UrlTreeConfig = TREE, **fields: Any) -> Arrival:
    """A page with these texts as blocks, the nth of the first file."""
    return make_arrival(
        (page(html(*texts), url, **fields), None), 0, row_no, settings, partial(pack_keys, config=settings)
    )


def scored_page(url: str, *texts: str, date: str = DATE, title: str = "T", settings: DbceConfig = CONFIG) -> Page:
    """A page with a menu, a footer and these texts, the first as its heading, that the classifier has looked at."""
    menu = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in ("News", "Sport", "Weather", "Contact"))
    heading, *others = texts
    own = f"<h1>{heading}</h1>" + "".join(f"<p>{text}</p>" for text in others)
    body = f"<nav><ul>{menu}</ul></nav><main><div>{own}</div></main><footer><p>All rights reserved</p></footer>"
    text = f"<html><title>{title}</title><body>{body}</body></html>"
    made = pages.parse_fetch(Fetch(capture(url, date), text.encode()), settings)
    assert isinstance(made, Page), made
    return made


def site_arrivals(found: Iterable[Page], by: DbceConfig) -> list[Arrival]:
    """These pages as they come to a site of a stream by DBCE, in this order."""
    method = stream_method(by, TREE)
    return [make_arrival((one, None), 0, at, TREE, method.pack_blocks) for at, one in enumerate(found)]


def primed_page(one: Page, settings: UrlTreeConfig) -> PrimedPage:
    """A page as a site begins with it."""
    assert one.features is not None
    known = url_key(one.capture.url, one.metadata.title, settings.keys.rules)
    return PrimedPage(seen_as(known, one.features.keys), (pools.page_features(one), buckets.member(one)))


def article(domain: str, number: int) -> bytes:
    """A record of a page: a menu and a footer that all pages of the domain have, and two paragraphs of its own."""
    own = (f"Paragraph {letters(number)} of {domain} tells something.", f"And {letters(number)} goes on in {domain}.")
    body = (
        f"<header><p>Menu of {domain}</p></header><main><div>{''.join(f'<p>{text}</p>' for text in own)}</div></main>"
        f"<footer><p>Footer of {domain}</p></footer>"
    )
    text = f"<html><title>Title {letters(number)}</title><body>{body}</body></html>"
    day, hour = 1 + number // 24 % 28, number % 24
    return record(
        http(text),
        url=f"http://www.{domain}/news/{number % 3}/{letters(number)}.html?session={number}",
        date=f"2020-01-{day:02}T{hour:02}:00:00Z",
    )


def letters(number: int) -> str:
    """A number in letters, since digits do not tell blocks apart."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def file(path: Path, articles: Iterable[tuple[str, int]], *more: bytes) -> str:
    """A WARC file of these articles, and of other records behind them; it appears when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"_{path.name}.part")
    archive(partial, *gzipped(*(article(domain, number) for domain, number in articles), *more))
    partial.replace(path)
    return str(path)


def part(
    files: Mapping[str, int], counts: Mapping[str, int], digests: Mapping[str, int] = MappingProxyType({})
) -> WrittenPart:
    """Files with so many rows, what is counted in them, and the sums of their digests."""
    return WrittenPart(Counter(files), Counter(counts), Counter(digests))


def as_table(name: str, rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows as they are read from the table, in the order of the stream."""
    schema, some = stream_parts.SCHEMAS[name], [*rows]
    arrays = [pa.array([row.get(field.name) for row in some], field.type) for field in schema]
    return in_order(pa.Table.from_arrays(arrays, schema=schema).to_pylist())


def in_order(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["file_no"], row.get("row_no", 0), row.get("capture_id", ""), row.get("warc_offset", 0)

    return sorted(rows, key=place)
