"""The pages of archives as a set to be labelled: JSON lines as gold sets have them, without gold."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dbce_spark.archive import warc
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import pages
from dbce_spark.files import jsonl, sources, timestamps
from dbce_spark.html import charset


def write(paths: Sequence[str], config: DbceConfig, output: str) -> int:
    """Write each page of some archives once, in the order of the archives; return how many they are.

    Raises:
        InputError: a path names no archive.
    """
    files = sources.expand(paths, config.input.patterns)
    return jsonl.write(output, (_row(fetch) for fetch in _fetches(files, config)))


def _fetches(files: Iterable[str], config: DbceConfig) -> Iterator[warc.Fetch]:
    seen: set[str] = set()
    for path in files:
        for found in pages.fetches(path, config):
            if isinstance(found, warc.Fetch) and found.capture.capture_id not in seen:
                seen.add(found.capture.capture_id)
                yield found


def _row(fetch: warc.Fetch) -> dict[str, Any]:
    capture = fetch.capture
    html = charset.decode(fetch.html, capture.declared_charset).html
    return {
        "id": capture.capture_id,
        "url": capture.url,
        "site": capture.site,
        "date": timestamps.to_datetime(capture.timestamp).isoformat(),
        "html": charset.cleaned(html).decode("utf-8", "replace"),
        "gold": "",
        "dataset": "archives",
    }
