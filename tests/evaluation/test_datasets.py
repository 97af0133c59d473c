"""Gold files in, pages out, and a word on every line that is none."""

import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from dbce_spark.dbce.pages import page_of
from dbce_spark.errors import InputError
from dbce_spark.evaluation.datasets import GoldPage, read, siblings
from dbce_spark.model import Page
from tests.builders import CONFIG
from tests.evaluation.fakes import gold_pages, line, own_set, written


@pytest.mark.parametrize("pack", [bytes, lzma.compress, gzip.compress])
def test_a_file_is_read_by_its_first_bytes(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """Plain, xz and gzip are told apart whatever the file is called."""
    (tmp_path / "pages").write_bytes(pack(json.dumps(line("a", lang="pl", site="x.org")).encode() + b"\n\n"))
    expected = GoldPage(
        dataset="made",
        page_id="a",
        url="",
        site="x.org",
        group="x.org",
        url_key="gold:a",
        timestamp=0,
        lang="pl",
        page_type="",
        html="<p>one two</p>",
        gold="one two",
    )
    assert {"made": [expected]} == read([str(tmp_path / "pages")]).sets


@pytest.mark.parametrize("date", ["20051230000000", "20051230", "2005-12-30", "2005-12-30T00:00:00Z"])
def test_every_way_to_write_a_date(date: str, tmp_path: Path) -> None:
    """Capture times come in four spellings."""
    assert [1135900800000000] == [page.timestamp for page in gold_pages(tmp_path, [line("a", date=date)])]


def test_pages_whose_gold_is_elsewhere_are_counted_not_taken(tmp_path: Path) -> None:
    """tok_cov under 0.9 skips a page, and --limit takes the first of the others."""
    lines = [line("a", tok_cov=0.89), line("b", tok_cov=0.9), line("c"), line("d")]
    gold = read([written(tmp_path, lines)], limit=2)
    assert ["b", "c"] == [page.page_id for page in gold.sets["made"]]
    assert {"made": 1} == gold.skipped


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("{", "made.jsonl:2: no JSON"),
        ("[]", "made.jsonl:2: a JSON list, not an object"),
        ('{"id": "b", "html": "<p>"}', "made.jsonl:2: gold must be a text, not None"),
        ('{"id": "b", "html": "", "gold": "", "site": 3}', "made.jsonl:2: site must be a text, not 3"),
        ('{"id": "b", "html": "", "gold": "", "date": "soon"}', "made.jsonl:2: soon is no date"),
        ('{"id": "b", "html": "", "gold": "", "tok_cov": "1"}', "made.jsonl:2: tok_cov must be a number"),
        ('{"id": "a", "html": "", "gold": "", "dataset": "made"}', "made.jsonl:2: made already has a page a"),
    ],
)
def test_a_broken_line_is_named(second: str, told: str, tmp_path: Path) -> None:
    """Each fault of a line is told with the file and the line's number."""
    path = tmp_path / "made.jsonl"
    path.write_text(f"{json.dumps(line('a'))}\n{second}\n")
    with pytest.raises(InputError, match=r"made\.jsonl:2: ") as told_error:
        read([str(path)])
    assert told in str(told_error.value)


@pytest.mark.parametrize("content", [None, b"", lzma.compress(b"x" * 100)[:-20], b"\x1f\x8bnonsense"])
def test_a_file_that_holds_no_pages_is_refused(content: bytes | None, tmp_path: Path) -> None:
    """Missing, empty, cut off or no gzip inside: an error of one line."""
    if content is not None:
        (tmp_path / "pages").write_bytes(content)
    with pytest.raises(InputError, match=r"^[^\n]+$"):
        read([str(tmp_path / "pages")])


def test_siblings_are_other_urls_of_the_group(tmp_path: Path) -> None:
    """Two captures of one URL are one sibling to the others; pages of no known site have none."""
    lines = [
        *(line(name, group="g", url_key=key) for name, key in [("a1", "a"), ("a2", "a"), ("b", "b")]),
        *(line("c"), line("d")),
    ]
    assert {"a1": 1, "a2": 1, "b": 1, "c": 0, "d": 0} == siblings(gold_pages(tmp_path, lines))


def test_a_page_becomes_a_capture_of_its_group(tmp_path: Path) -> None:
    """The joint method gets its site from the group, and each page without a site is a site of its own."""
    pages = gold_pages(tmp_path, [line("a", group="x.org@2005", site="x.org"), line("b"), line("c", url="http:///")])
    captures = [page.fetch(at).capture for at, page in enumerate(pages)]
    assert ["x.org@2005", "gold:b", "gold:c"] == [capture.site for capture in captures]
    assert ["gold:made/a", "gold:made/b", "gold:made/c"] == [capture.url for capture in captures]


def test_pages_of_one_template_share_bands(tmp_path: Path) -> None:
    """Made captures go through the same door as archived ones, and siblings would meet in a bucket."""
    made = [page_of(page.fetch(0), CONFIG) for page in gold_pages(tmp_path, own_set())[:2]]
    first, second = (set(page.bands.tolist()) if isinstance(page, Page) else set() for page in made)
    assert first & second


@pytest.mark.data
@pytest.mark.parametrize(("name", "expected"), [("big9", (198, 2, 198)), ("wcxb", (865, 7, 89))])
def test_the_shared_sets(name: str, expected: tuple[int, int, int], shared_data: Path) -> None:
    """Pages, skipped pages, and pages with two siblings or more of two real sets."""
    gold = read([str(shared_data / "gold" / f"{name}.jsonl.xz")])
    counts = siblings(gold.sets[name]).values()
    assert expected == (len(gold.sets[name]), gold.skipped[name], sum(count >= 2 for count in counts))
