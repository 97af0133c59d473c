"""Gold files in, pages out, and an error for every line that is none."""

import gzip
import json
import lzma
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from dbce_spark.dbce import buckets, sites
from dbce_spark.dbce.pages import parse_fetch
from dbce_spark.errors import InputError
from dbce_spark.evaluation.datasets import GoldPage, convert, read, siblings, snapshots
from dbce_spark.model import Cross, Page
from tests.support.builders import config
from tests.support.fake_extractors import gold_pages, line, own_set, written

PATTERNS = config("label.by=T002")


@pytest.mark.parametrize("pack", [bytes, lzma.compress, gzip.compress])
def test_a_file_is_read_by_its_first_bytes(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """Plain, xz and gzip are distinguished whatever the file is called."""
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


def test_a_sample_is_the_same_whatever_else_there_is(tmp_path: Path) -> None:
    """It is chosen by a hash of the ids, and keeps the order of the lines."""
    names = [str(number) for number in range(20)]
    every, fewer = (
        [page.page_id for page in read([written(tmp_path, [line(one) for one in some])], sample=5).sets["made"]]
        for some in (names, names[:12])
    )
    assert [one for one in names if one in every] == every
    assert 5 == len(every) == len(fewer)
    assert {one for one in every if one in names[:12]} <= set(fewer)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("{", "made.jsonl:2: no JSON"),
        ("[]", "made.jsonl:2: a JSON list, not an object"),
        ('{"id": "b", "html": "<p>"}', "made.jsonl:2: gold must be a text, not None"),
        ('{"id": "b", "html": "", "gold": "", "site": 3}', "made.jsonl:2: site must be a text, not 3"),
        ('{"id": "b", "html": "", "gold": "", "gold_comments": ["c"]}', "made.jsonl:2: gold_comments must be a text"),
        ('{"id": "b", "html": "", "gold": "", "date": "soon"}', "made.jsonl:2: soon is no date"),
        ('{"id": "b", "html": "", "gold": "", "tok_cov": "1"}', "made.jsonl:2: tok_cov must be a number"),
        ('{"id": "a", "html": "", "gold": "", "dataset": "made"}', "made.jsonl:2: made already has a page a"),
    ],
)
def test_a_broken_line_is_named(second: str, message: str, tmp_path: Path) -> None:
    """The error for a faulty line has the file and the line's number."""
    path = tmp_path / "made.jsonl"
    path.write_text(f"{json.dumps(line('a'))}\n{second}\n")
    with pytest.raises(InputError, match=r"made\.jsonl:2: ") as error:
        read([str(path)])
    assert message in str(error.value)


@pytest.mark.parametrize("content", [None, b"", lzma.compress(b"x" * 100)[:-20], b"\x1f\x8bnonsense"])
def test_a_file_that_holds_no_pages_is_refused(content: bytes | None, tmp_path: Path) -> None:
    """Missing, empty, cut off or no gzip inside: an error of one line."""
    if content is not None:
        (tmp_path / "pages").write_bytes(content)
    with pytest.raises(InputError, match=r"^[^\n]+$"):
        read([str(tmp_path / "pages")])


def test_siblings_are_other_urls_of_the_group(tmp_path: Path) -> None:
    """Two captures of one URL are one sibling to the others; pages without a site have none."""
    lines = [
        *(line(name, group="g", url_key=key) for name, key in [("a1", "a"), ("a2", "a"), ("b", "b")]),
        *(line("c"), line("d")),
    ]
    assert {"a1": 1, "a2": 1, "b": 1, "c": 0, "d": 0} == siblings(gold_pages(tmp_path, lines))


def test_snapshots_are_other_captures_of_the_page(tmp_path: Path) -> None:
    """They are counted through all eras of the site, while siblings are those of the page's own."""
    lines = [
        line(f"{key}{year}", url=f"http://x.org/{key}", site="x.org", group=f"x.org@{year}", date=f"{year}0102")
        for key, year in [("a", 2005), ("a", 2006), ("a", 2007), ("b", 2007)]
    ]
    pages = gold_pages(tmp_path, lines)
    assert {"a2005": 2, "a2006": 2, "a2007": 2, "b2007": 0} == snapshots(pages)
    assert {"a2005": 0, "a2006": 0, "a2007": 1, "b2007": 1} == siblings(pages)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({}, {}, 0),
        ({"date": "20050102"}, {}, 0),
        ({"date": "20050102"}, {"date": "20050102"}, 0),
        ({"date": "20050102"}, {"date": "20050103"}, 1),
        ({"url_key": "k"}, {"url_key": "k"}, 1),
    ],
)
def test_pages_that_share_a_url_are_snapshots_only_by_their_time(
    first: dict[str, str], second: dict[str, str], expected: int, tmp_path: Path
) -> None:
    """Sets hide pages behind the URL of a front page. A key that the set itself gives is believed."""
    lines = [line(name, url="http://x.org/", **fields) for name, fields in [("a", first), ("b", second)]]
    pages = gold_pages(tmp_path, lines)
    assert {"a": expected, "b": expected} == snapshots(pages)
    assert {"a": 1 - expected, "b": 1 - expected} == siblings(pages)
    assert 2 - expected == len({page.fetch(0).capture.url_key for page in pages})


def test_the_site_of_a_page_is_taken_from_its_url(tmp_path: Path) -> None:
    """If the set does not name it, the host is the site, and the site the group."""
    [page] = gold_pages(tmp_path, [line("a", url="http://www.x.org:80/a")])
    assert ("x.org", "x.org") == (page.site, page.group)


@pytest.mark.parametrize(
    ("fields", "address"),
    [
        ({"site": "x.org", "url": "http://www.x.org/a?b=1"}, r"http://www\.x\.org/a\?b=1"),
        ({"site": "x.org", "url": "http://blog.x.org/a", "url_key": "org,x,blog)/a"}, r"http://blog\.x\.org/a"),
        ({"site": "x.org"}, r"http://x\.org/made-up\.invalid/[0-9a-f]{32}\.html"),
        ({"site": "x.org/docs", "group": "x.org@2005"}, r"http://x\.org/made-up\.invalid/[0-9a-f]{32}\.html"),
        ({"site": "x.org", "url": "http://x-mirror.net/a"}, r"http://x\.org/made-up\.invalid/[0-9a-f]{32}\.html"),
        (
            {"site": "x.org", "url": "http://x.org/v2/a", "url_key": "a"},
            r"http://x\.org/made-up\.invalid/[0-9a-f]{32}\.html",
        ),
        ({"url": "http://x.org/a b"}, r"http://x\.org/made-up\.invalid/[0-9a-f]{32}\.html"),
        ({"url": "ftp://x.org/a"}, r"http://x\.org/made-up\.invalid/[0-9a-f]{32}\.html"),
        ({"site": "x.org", "url": "http://[x.org/a"}, r"http://x\.org/made-up\.invalid/[0-9a-f]{32}\.html"),
        ({"group": "old news"}, r"http://[0-9a-f]{32}\.invalid/[0-9a-f]{32}\.html"),
        ({"url": "http:///"}, r"http://[0-9a-f]{32}\.invalid/[0-9a-f]{32}\.html"),
    ],
)
def test_where_a_page_stands_in_an_archive(fields: dict[str, str], address: str, tmp_path: Path) -> None:
    """At its own URL, if that is one of its site and its key; else at a made-up one of its site."""
    [page] = gold_pages(tmp_path, [line("a", **fields)])
    assert re.fullmatch(address, page.address), page.address
    assert page.address == page.fetch(0).capture.url


def test_eras_of_a_site_are_one_site_and_pages_of_none_are_each_their_own(tmp_path: Path) -> None:
    """The group keeps pages together only if they have no site."""
    eras = [line(f"e{year}", site="x.org", group=f"x.org@{year}") for year in (2005, 2006)]
    others = [line("g1", group="g"), line("g2", group="g"), line("n1"), line("n2")]
    sites = [page.fetch(0).capture.site for page in gold_pages(tmp_path, [*eras, *others])]
    assert ["x.org", "x.org"] == sites[:2]
    assert [True, False, False] == [sites[2] == sites[3], sites[3] == sites[4], sites[4] == sites[5]]


def test_captures_meet_their_siblings_and_their_snapshots(tmp_path: Path) -> None:
    """A page of three eras has its earlier capture, its later one and another page around it."""
    lines = [
        {**fields, "id": f"{fields['id']}@{year}", "group": f"harbour@{year}", "date": f"{year}0102"}
        for year in (2005, 2006, 2007)
        for fields in own_set()[:4]
    ]
    made = {page.page_id: parse_fetch(page.fetch(0), PATTERNS) for page in gold_pages(tmp_path, lines)}
    names = {page.capture_id: name for name, page in made.items() if isinstance(page, Page)}
    found = sites.choose_crosses(buckets.members(page for page in made.values() if isinstance(page, Page)), PATTERNS)
    arms = [arms_of(one.cross, names) for one in found if names[one.cross.cur] == "story-1@2006"]
    assert ("story-1@2005", "story-1@2007") in {(prev, after) for _, _, prev, after in arms}
    assert all(up.split("@")[0] != "story-1" != down.split("@")[0] for up, down, _, _ in arms)


def arms_of(cross: Cross, names: Mapping[str, str]) -> tuple[str, str, str, str]:
    """Name the pages in the arms of a cross."""
    return (names[cross.up], names[cross.down], names.get(cross.prev, ""), names.get(cross.next, ""))


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.xz", "all.jsonl.gz"])
def test_what_is_converted_is_read_again(name: str, tmp_path: Path) -> None:
    """Two sets in one file are the same pages, and the bytes of two runs are the same."""
    paths = [written(tmp_path, own_set()), written(tmp_path, [line("z", dataset="other", tok_cov=0.5)], "other.jsonl")]
    outputs = [str(tmp_path / folder / name) for folder in "ab"]
    assert [6, 6] == [convert(paths, output) for output in outputs]
    assert Path(outputs[0]).read_bytes() == Path(outputs[1]).read_bytes()
    before, after = read(paths), read(outputs[:1])
    assert (before.sets, before.skipped) == (after.sets, after.skipped)


def test_a_converted_file_has_no_time_of_its_making(tmp_path: Path) -> None:
    """gzip's header has a place for the time, which stays empty."""
    convert([written(tmp_path, own_set())], str(tmp_path / "all.jsonl.gz"))
    assert bytes(4) == (tmp_path / "all.jsonl.gz").read_bytes()[4:8]


def test_converting_nothing_is_an_error(tmp_path: Path) -> None:
    """No file is left behind."""
    with pytest.raises(InputError, match="no page with a gold text"):
        convert([written(tmp_path, [])], str(tmp_path / "out.jsonl"))
    assert not (tmp_path / "out.jsonl").exists()


def test_pages_of_one_template_share_bands(tmp_path: Path) -> None:
    """Made captures go through the same door as archived ones, and siblings would meet in a bucket."""
    made = [parse_fetch(page.fetch(0), PATTERNS) for page in gold_pages(tmp_path, own_set())[:2]]
    first, second = (set(page.bands.tolist()) if isinstance(page, Page) else set() for page in made)
    assert first & second


@pytest.mark.data
@pytest.mark.parametrize(("name", "expected"), [("big9", (198, 2, 198)), ("wcxb", (865, 7, 89))])
def test_the_shared_sets(name: str, expected: tuple[int, int, int], shared_data: Path) -> None:
    """Pages, skipped pages, and pages with two siblings or more of two real sets."""
    gold = read([str(shared_data / "gold" / f"{name}.jsonl.xz")])
    counts = siblings(gold.sets[name]).values()
    assert expected == (len(gold.sets[name]), gold.skipped[name], sum(count >= 2 for count in counts))


@pytest.mark.data
@pytest.mark.parametrize(("name", "expected"), [("docs-snapshots", 342), ("ghpages-snapshots", 158), ("daniel", 25)])
def test_the_shared_snapshots(name: str, expected: int, shared_data: Path) -> None:
    """Pages with another capture in three real sets; the key of each page is that of its address."""
    pages = read([str(shared_data / "gold" / f"{name}.jsonl.xz")]).sets[name]
    assert expected == sum(count > 0 for count in snapshots(pages).values())
    assert len({page.url_key for page in pages}) == len({page.fetch(0).capture.url_key for page in pages})


def test_a_site_is_drawn_as_one_whatever_a_set_calls_it(tmp_path: Path) -> None:
    """One set names it with www., another without: its pages succeed and fail together all the same."""
    pages = gold_pages(tmp_path, [line("a", site="www.s.example"), line("b", site="s.example"), line("c")])
    assert ["s.example", "s.example", "made/c"] == [page.unit for page in pages]
