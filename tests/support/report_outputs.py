"""Archives and finished outputs for the tests of the report, made without Spark."""

import json
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from lxml import html as lxml_html

from dbce_spark import config
from dbce_spark.dbce import local
from dbce_spark.dbce.kept.kept_formats import Formats
from dbce_spark.html import language
from dbce_spark.output.schemas import extraction_rows, reject_rows
from tests.support.builders import gzipped, http, record

PATTERNS = config.load(settings=["label.by=T001"])
"""Labels by bit patterns: these alone know segments that are undecided."""

HOSTILE = (
    "<script>document.title = top.document.title = 'taken'; alert(1)</script>"
    "<img src='http://127.0.0.1:PORT/img.png' onerror='alert(2)'>"
    "<link rel='preconnect' href='http://127.0.0.1:PORT'><link rel='stylesheet' href='http://127.0.0.1:PORT/a.css'>"
    "<style>@import url(http://127.0.0.1:PORT/b.css); body { background: url(http://127.0.0.1:PORT/c.png) }</style>"
    '<style>/* "></iframe></style><script>alert(12)</script> */ p { color: inherit }</style>'
    '<style>/* "></iframe><script>alert(13)</script><img src=x onerror=alert(14)> */</style>'
    "<meta http-equiv='refresh' content='0;url=http://127.0.0.1:PORT/refresh'>"
    "<base href='http://127.0.0.1:PORT/base/' target='_top'>"
    "<a href='javascript:alert(3)'>press</a> <a href='http://127.0.0.1:PORT/away' target='_top'>leave</a>"
    "<iframe srcdoc='&lt;script&gt;alert(4)&lt;/script&gt;'></iframe><iframe src='http://127.0.0.1:PORT/frame'></iframe>"
    "<svg onload='alert(5)'><script>alert(6)</script><image xlink:href='http://127.0.0.1:PORT/svg.png'/></svg>"
    "<object data='http://127.0.0.1:PORT/object'></object><embed src='http://127.0.0.1:PORT/embed'>"
    "<video src='http://127.0.0.1:PORT/film' poster='http://127.0.0.1:PORT/poster' autoplay></video>"
    "<form action='http://127.0.0.1:PORT/form'><input name=a autofocus onfocus='alert(7)'><button>send</button></form>"
    "<p>words: &lt;/iframe&gt;&lt;script&gt;alert(8)&lt;/script&gt;, &quot;&gt;&lt;img src=x onerror=alert(9)&gt;</p>"
    '<p id=\'"></iframe><script>alert(10)</script>\'>" srcdoc="&amp;lt;script&amp;gt;alert(11)&amp;lt;/script&gt;</p>'
)
"""What a page may try. PORT stands for that of a server that must receive nothing."""


@dataclass(frozen=True)
class Fetched:
    """One response of an archive."""

    url: str
    html: str
    date: str = "2020-01-01T00:00:00Z"
    status: str = "200 OK"


def article(site: str, nth: int, *, extra: str = "", version: str = "") -> Fetched:
    """One of the articles of a site: what stands around them is the same, what they say is not."""
    words = " ".join(f"word{nth}x{place}" for place in range(120))
    html = (
        f"<html><head><title>Article {nth} of {site}</title></head><body>"
        "<div><ul><li>Home of the site</li><li>About us all</li></ul></div>"
        f"<article><h1>Heading number{nth} stands here</h1><section><p>{words}{version}</p></section>{extra}</article>"
        f"<footer><table><tr><td><b>All rights reserved by {site} in every year</b></td></tr></table></footer>"
        "</body></html>"
    )
    year = 2021 if version else 2020
    return Fetched(f"http://{site}/article/{nth}", html, f"{year}-01-01T00:00:00Z")


def crawl(extra: str = "") -> list[Fetched]:
    """Two sites with a template each, one article captured twice, a page like no other, an empty one, a missing one."""
    return [
        *(article("large.example", nth, extra=extra) for nth in range(6)),
        article("large.example", 0, version=" changed since"),
        *(article("small.example", nth) for nth in range(3)),
        Fetched("http://lone.example/", "<title>Lone</title><p>One page that stands for itself without a sibling.</p>"),
        Fetched("http://large.example/blank", "<html><script>1</script></html>"),
        Fetched("http://large.example/gone", "<p>not here</p>", status="404 Not Found"),
    ]


def tree(markup: str | bytes) -> Any:
    """The root element of some HTML."""
    return lxml_html.document_fromstring(markup)


def write_archive(path: Path, fetched: Sequence[Fetched], *, gzip: bool = True) -> Path:
    """A WARC file of some responses."""
    records = [_record(one) for one in fetched]
    path.write_bytes(b"".join(gzipped(*records) if gzip else records))
    return path


def _record(one: Fetched) -> bytes:
    block = http(one.html, one.status, "text/html")
    return record(block, url=one.url, date=one.date, WARC_Record_ID=f"<urn:uuid:{zlib.crc32(block):032x}>")


def write_output(
    folder: Path, archives: Sequence[Path], *, parts: int = 1, htmls: bool = False, by: str = "T001"
) -> Path:
    """The finished output of a run over some archives, in `parts` files, labelled by a table of patterns."""
    settings = config.load(settings=[f"label.by={by}"])
    result = local.extract([str(path) for path in archives], settings)
    html = [
        Formats(annotated_html=f"<pre>{one.page.blocks.text}</pre>" if htmls else None) for one in result.extractions
    ]
    languages = language.detect_languages([one.text for one in result.extractions], settings.language)
    batches = (
        [extraction_rows.extractions_batch(result.extractions, languages, html, parts)] if result.extractions else []
    )
    extractions = pa.Table.from_batches(batches, extraction_rows.EXTRACTIONS)
    rejects = pa.Table.from_batches([reject_rows.rejects_batch(result.rejects)]).select(reject_rows.REJECTS.names)
    for part in range(parts):
        file = folder / "extractions" / f"site_part={part}" / f"part-{part}.parquet"
        file.parent.mkdir(parents=True)
        rows = extractions.take(pa.array(range(part, len(extractions), parts), pa.int64()))
        pq.write_table(rows.drop_columns("site_part"), file, row_group_size=4)
    (folder / "rejects").mkdir()
    pq.write_table(rejects, folder / "rejects" / "part-0.parquet")
    (folder / "run.json").write_text(json.dumps(_run(result, len(archives))))
    return folder


def _run(result: local.Result, files: int) -> dict[str, Any]:
    statuses = Counter(one.status for one in result.extractions)
    return {
        "records_read": result.records_read,
        "captures": len(result.extractions) + len(result.revisits),
        "extractions": len(result.extractions),
        "revisits": len(result.revisits),
        "crossed": statuses["crossed"],
        "single": statuses["single"],
        "rejects": dict(Counter(str(one.reason) for one in result.rejects)),
        "skipped": dict(result.skipped),
        "seconds": {"start": 1.5, "pages": 2.0, "crosses": 0.5, "annotations": 0.25, "extractions": 0.25},
        "pages_per_second_per_core": 3.5,
        "largest_bucket": 7,
        "capped_buckets": 0,
        "files": files,
        "config": PATTERNS.as_dict(),
        "versions": {"dbce_spark": "0"},
    }
