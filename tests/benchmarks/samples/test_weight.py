"""Pages as heavy as those of real sites."""

import json
from pathlib import Path

from benchmarks.samples import write_archive
from dbce_spark import config
from dbce_spark.archive import warc
from dbce_spark.html.page import parse


def heavy(folder: Path) -> list[warc.Fetch]:
    """The pages of a small archive of weight 6."""
    write_archive(folder, pages=20, seed=1, weight=6)
    limits = config.default()
    records = (
        record
        for path in sorted(folder.glob("*.warc.gz"))
        for record in warc.read(str(path), limits.input, limits.page.max_html_bytes)
    )
    return [record for record in records if isinstance(record, warc.Fetch)]


def test_heavy_pages_are_like_those_of_news_sites(tmp_path: Path) -> None:
    """At weight 6 a page has over 100 KB and some 600 elements and 1,000 words, as news sites have."""
    fetches = heavy(tmp_path / "archive")
    pages = [parse(fetch.html, fetch.capture.declared_charset, config.default().page) for fetch in fetches]

    assert min(len(fetch.html) for fetch in fetches) > 100_000
    assert 450 < sum(len(page.tree.paths) for page in pages) / len(pages) < 900
    assert 800 < sum(len(page.blocks.tokens) for page in pages) / len(pages) < 2_000


def test_what_is_added_is_boilerplate(tmp_path: Path) -> None:
    """Weight adds to the boilerplate of the labels and leaves their content as it is."""
    for weight in (0, 6):
        write_archive(tmp_path / str(weight), pages=20, seed=1, weight=weight)
    light, loaded = (
        [json.loads(line) for line in (tmp_path / str(weight) / "labels.jsonl").read_text().splitlines()]
        for weight in (0, 6)
    )

    assert [page["content"] for page in light] == [page["content"] for page in loaded]
    assert all(len(b["boilerplate"]) > len(a["boilerplate"]) + 200 for a, b in zip(light, loaded, strict=True))
