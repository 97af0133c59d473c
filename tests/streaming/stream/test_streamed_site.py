"""Turn the pages of a site into rows by DBCE, in plain Python."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import page_labels, pages, pools, sites
from dbce_spark.dbce.classifier import evidence
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.kept import kept_formats
from dbce_spark.dbce.page_lots import LotSize
from dbce_spark.errors import OutputError
from dbce_spark.model import ComparedPage, Page
from dbce_spark.streaming.stream import outcomes
from dbce_spark.streaming.stream import streamed_site as module
from dbce_spark.streaming.stream.arrival import Row, make_arrival
from dbce_spark.streaming.stream.outcomes import LABELS, LATE_LABELS, REJECTS, REPEATS, build_rows
from dbce_spark.streaming.stream.streamed_page import pack_page
from dbce_spark.streaming.stream.streamed_site import StreamedSite
from tests.support.builders import alone_on_site, capture, config
from tests.support.endless import compute_for_ever
from tests.support.stream_files import TREE, primed_page, scored_page, site_arrivals
from tests.support.structure import ALL

BY_DBCE = config("stream.by=dbce", "stream.pool_pages=6", "stream.relabel_pages=[2, 4]")
REMEMBERED = 9
SENTENCE = "The {} of the harbour was opened on Sunday, and the mayor said that ships of any size can land there again."
Rows = list[tuple[str, Row]]


def story(name: str, *more: str, **given: Any) -> Page:
    texts = [SENTENCE.format(f"{name} {part}") for part in ("gate", "quay", "tower")]
    return scored_page(f"http://www.example.org/news/{name}.html", f"All about {name}", *texts, *more, **given)


STORIES = [story(name) for name in ("north", "south", "east", "west", "old", "new", "far", "near")]


def test_formats_are_those_of_the_batch_for_the_same_labels() -> None:
    """Written from the HTML that came with the page; null for a page that came without."""
    html = "<title>t</title><nav><a href=/>Home</a></nav>" + "".join(
        f"<p>{SENTENCE.format(f'<b>{part}</b>')}<img src=/{part}.png>" for part in ("gate", "quay", "tower")
    )
    one = pages.parse_fetch(Fetch(capture("http://www.example.org/news/x.html"), html.encode()), BY_DBCE)
    assert isinstance(one, Page)
    formats = replace(ALL, columns=("markdown", "html", "about"))
    came = make_arrival((one, html.encode()), 0, 0, TREE, partial(pack_page, with_titles=False))

    ((_, row),) = build_rows([came], StreamedSite(BY_DBCE, REMEMBERED), replace(BY_DBCE, formats=formats))

    (extraction,) = page_labels.label_pages([alone_on_site(one)], BY_DBCE.label)
    (expected,) = kept_formats.format_extractions([extraction], [html.encode()], formats, False)
    assert "**gate**" in str(row["markdown"])
    assert (extraction.text, expected.markdown, expected.html) == (row["text"], row["markdown"], row["html"])
    assert expected.about is not None
    assert asdict(expected.about) == row["about"]
    ((_, without),) = taken([one])
    assert without.get("markdown") is None


def test_formats_that_never_end_are_a_flag_of_their_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its labels and its text are written all the same."""
    html = f"<title>t</title><p>{SENTENCE.format('gate')}".encode()
    one = pages.parse_fetch(Fetch(capture("http://www.example.org/news/x.html"), html), BY_DBCE)
    assert isinstance(one, Page)
    came = make_arrival((one, html), 0, 0, TREE, partial(pack_page, with_titles=False))
    monkeypatch.setattr(outcomes, "write_formats", compute_for_ever)
    config = replace(BY_DBCE, formats=ALL, page=replace(BY_DBCE.page, max_seconds=1))

    ((_, row),) = build_rows([came], StreamedSite(BY_DBCE, REMEMBERED), config)

    assert "formats_failed" in row["flags"]
    assert row["words"] == len(SENTENCE.format("gate").split())


def taken(found: Sequence[Page], site: StreamedSite | None = None, by: DbceConfig = BY_DBCE) -> Rows:
    return [*build_rows(site_arrivals(found, by), StreamedSite(by, REMEMBERED) if site is None else site)]


def by_batch(found: Sequence[Page], wanted: Page, by: DbceConfig = BY_DBCE) -> str:
    """The text of a page by the classifier and the evidence of all these pages, without crosses."""
    shown = pools.evidence(found, 256, lambda: load_classifier(""))[wanted.capture_id]
    return page_labels.label_pages([sites.gather(wanted, [], shown, "")], by.label)[0].text


def kept(page: Page, row: Row) -> str:
    """The text of a page by the labels of a row."""
    blocks = page.blocks
    spans = zip(blocks.starts.tolist(), blocks.ends.tolist(), row["blocks"], strict=True)
    return "\n".join(blocks.text[start:end] for start, end, block in spans if block["label"] == "content")


def test_each_page_is_labelled_by_itself_and_those_before_it() -> None:
    """As the batch labels it beside these; the first page by itself, so that it keeps no menu since it is first."""
    found = [row for table, row in taken(STORIES[:4]) if table == LABELS]

    assert [by_batch(STORIES[: at + 1], STORIES[at]) for at in range(4)] == [row["text"] for row in found]
    assert "Weather" not in found[0]["text"]
    assert "north tower" in found[0]["text"]


def test_a_row_says_what_the_labels_stand_on() -> None:
    """Siblings, snapshots, pages kept of the site, the F1 to expect, and of each block a score."""
    changed = story("north", "One thing more.", date="2021-01-01T00:00:00Z")
    *_, row = (row for table, row in taken([*STORIES[:3], changed]) if table == LABELS)

    assert (2, 1, 4) == tuple(row[name] for name in ("siblings", "snapshots", "domain_documents"))
    assert 0 < row["confidence"] <= 1
    assert all(0 <= block["score"] <= 1 for block in row["blocks"])


def test_pages_are_labelled_once_more_when_their_site_has_shown_enough() -> None:
    """At two pages the first, at four all three before: as the batch labels them beside what is there by then."""
    rows = taken(STORIES)
    late = [(row["row_no"], row["capture_id"], row) for table, row in rows if table == LATE_LABELS]
    expected = [(shown - 1, page) for shown in (2, 4) for page in STORIES[: shown - 1]]

    assert [(at, page.capture_id) for at, page in expected] == [(at, capture_id) for at, capture_id, _ in late]
    assert [by_batch(STORIES[: at + 1], page) for at, page in expected] == [
        kept(page, row) for (_, page), (*_, row) in zip(expected, late, strict=True)
    ]


def test_without_sizes_no_page_is_labelled_once_more() -> None:
    by = config("stream.by=dbce", "stream.relabel_pages=[]")

    assert {LABELS} == {table for table, _ in taken(STORIES, by=by)}


def test_a_repeat_has_the_words_of_an_earlier_page_of_its_key() -> None:
    """Under the same URL key with other words it is a snapshot, and is labelled."""
    north = story("north")
    changed = story("north", "One thing more.", date="2021-01-01T00:00:00Z")
    again = story("north", date="2021-01-02T00:00:00Z")
    found = taken([north, changed, again])

    assert [LABELS, LABELS, REPEATS] == [table for table, _ in found if table != LATE_LABELS]
    assert [0, 1] == [row["snapshots"] for table, row in found if table == LABELS]
    assert ["request", "response", "titled", "key"] == found[-1][1]["steps"]


@given(st.lists(st.tuples(st.integers(0, 7), st.booleans()), max_size=12), st.integers(0, 12))
@settings(max_examples=20)
def test_a_state_that_was_bytes_goes_on_as_if_it_had_not(drawn: list[tuple[int, bool]], cut: int) -> None:
    """With pages that leave the pool, come again, or change."""
    changed = [story(name, "One thing more.", date="2021-01-01T00:00:00Z") for name in ("north", "far")]
    some = [changed[at % 2] if is_changed else STORIES[at] for at, is_changed in drawn]
    arrivals = site_arrivals(some, BY_DBCE)
    whole, first = StreamedSite(BY_DBCE, REMEMBERED), StreamedSite(BY_DBCE, REMEMBERED)
    expected = [*build_rows(arrivals, whole)]
    found = [*build_rows(arrivals[:cut], first)]
    second = StreamedSite.from_bytes(first.to_bytes(), BY_DBCE, REMEMBERED)
    found += build_rows(arrivals[cut:], second)

    assert expected == found
    assert whole.to_bytes() == second.to_bytes()


def test_a_state_does_not_grow_with_its_site() -> None:
    """The pool, the URLs and the pages that wait are bounded."""
    site, sizes = StreamedSite(BY_DBCE, REMEMBERED), []
    for letter in "abcdefghijklmnopqrst":
        rows = taken([story(letter)], site)
        sizes.append(len(site.to_bytes()))

    assert sizes[9] == sizes[-1]
    assert 6 == rows[0][1]["domain_documents"]


LARGE = 300
"""Short blocks that a large page has."""


def large(name: str, blocks: int = LARGE) -> Page:
    return story(name, *(f"{name} {at}" for at in range(blocks)))


def bounded(*bounds: str) -> DbceConfig:
    return config("stream.by=dbce", "stream.pool_pages=20", "stream.relabel_pages=[5, 20]", *bounds)


def test_a_state_of_large_pages_is_bounded() -> None:
    """However many come, and while they wait to be labelled again: by blocks and bytes as well as by number."""
    by = bounded(f"stream.pool_blocks={3 * LARGE}", f"stream.waiting_bytes={2 * 600 * LARGE}")
    site, sizes = StreamedSite(by, REMEMBERED), []
    for letter in "abcdefghijklmnopqrstuvwx":
        taken([large(letter)], site, by)
        sizes.append(len(site.to_bytes()))
    alone = StreamedSite(by, REMEMBERED)
    taken([large("a")], alone, by)

    assert max(sizes) < 3 * len(alone.to_bytes())


def test_pages_that_are_too_large_together_are_not_labelled_again() -> None:
    """The largest go: here one that is larger than all may be together. The others are labelled again beside it."""
    by = bounded(f"stream.waiting_bytes={600 * LARGE // 2}")
    found = [STORIES[0], large("large"), *STORIES[1:4]]
    late = [row["capture_id"] for table, row in taken(found, by=by) if table == LATE_LABELS]

    assert [one.capture_id for one in (STORIES[0], *STORIES[1:3])] == late
    assert len(taken(found, by=bounded())) == len(taken(found, by=by)) + 1


def test_a_page_that_the_pool_has_let_go_of_is_not_labelled_again() -> None:
    """It is no evidence on the next pages either; it counts among those that have come."""
    by = bounded(f"stream.pool_blocks={LARGE}")
    found = [STORIES[0], large("large"), *STORIES[1:4]]
    rows = taken(found, by=by)
    late = [row["capture_id"] for table, row in rows if table == LATE_LABELS]
    of_large, last = (next(row for _, row in rows if row["row_no"] == at) for at in (1, 4))

    assert [one.capture_id for one in (STORIES[0], *STORIES[1:3])] == late
    assert (1, 3, 5) == (of_large["siblings"], last["siblings"], last["domain_documents"])


def test_a_page_that_the_pool_has_let_go_of_does_not_wait() -> None:
    """Its state is as large as one in which no page may wait."""
    sizes = []
    for waiting_bytes in (1 << 20, 1):
        by = bounded(f"stream.pool_blocks={LARGE}", f"stream.waiting_bytes={waiting_bytes}")
        site = StreamedSite(by, REMEMBERED)
        taken([large("large")], site, by)
        sizes.append(len(site.to_bytes()))

    assert sizes[0] == sizes[1]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 30)), max_size=12), st.integers(1, 99), st.integers(1, 5))
@settings(max_examples=20)
def test_rows_do_not_depend_on_the_lots_that_are_scored(drawn: list[tuple[int, int]], blocks: int, most: int) -> None:
    """However few pages or blocks are scored together."""
    found = [large(f"{STORIES[at].capture.url[-9:-5]} {count}", count) for at, count in drawn]
    expected = taken(found)
    with pytest.MonkeyPatch.context() as patch:
        for one in (module, page_labels, evidence):
            patch.setattr(one, "TOGETHER", LotSize(most, blocks))

        assert expected == taken(found)


def test_no_lot_that_is_scored_has_more_blocks_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of large pages that are labelled again all at once, too; a page with more is scored by itself."""
    score, scored = page_labels.score_pages, []

    def counting(compared: Sequence[ComparedPage], label: Any) -> Any:
        scored.append([len(one.page.blocks) for one in compared])
        return score(compared, label)

    monkeypatch.setattr(module, "TOGETHER", LotSize(64, 2 * LARGE))
    monkeypatch.setattr(page_labels, "score_pages", counting)
    taken([large(letter, LARGE // 2) for letter in "abcde"] + [large("f", 3 * LARGE)], by=bounded())

    assert [len(lot) for lot in scored if sum(lot) > 2 * LARGE] == [1]
    assert 5 + 4 + 1 == sum(map(len, scored))
    assert len(scored) < 10


def primed(found: Sequence[Page]) -> StreamedSite:
    """A site that begins with these pages."""
    site = StreamedSite(BY_DBCE, REMEMBERED)
    site.prime(primed_page(one, TREE) for one in found)
    return site


def test_a_primed_site_labels_its_first_page_by_what_the_collection_has() -> None:
    ((_, row),) = taken(STORIES[4:5], primed(STORIES[:4]))

    assert by_batch(STORIES[:5], STORIES[4]) == row["text"]
    assert 4 == row["siblings"]


def test_a_primed_site_knows_repeats_of_what_the_collection_has() -> None:
    """As if its pages had come: the same words under the same URL key are a repeat, others are a snapshot."""
    date = "2021-01-01T00:00:00Z"
    same, changed = story("north", date=date), story("south", "One thing more.", date=date)
    first, second = taken([same, changed], primed(STORIES[:4]))

    assert [REPEATS, LABELS] == [table for table, _ in (first, second)]
    assert ["request", "response", "titled", "key"] == first[1]["steps"]
    assert 1 == second[1]["snapshots"]


@given(st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["", "One thing more."])), max_size=9))
@settings(max_examples=20)
def test_what_a_site_is_primed_with_is_as_if_it_had_come(drawn: list[tuple[int, str]]) -> None:
    """With pages that come again or change: the next page has the same row, whatever becomes of it."""
    names = ("north", "south", "east", "west", "old", "new", "far", "near")
    dated = [(names[at], more, f"2021-01-{day:02}T00:00:00Z") for day, (at, more) in enumerate(drawn, 1)]
    found = [story(name, *([more] if more else []), date=date) for name, more, date in dated]
    came = StreamedSite(BY_DBCE, REMEMBERED)
    taken(found, came)
    last = [story("north", date="2021-02-01T00:00:00Z")]
    others = (LABELS, REPEATS)

    assert [row for row in taken(last, came) if row[0] in others] == [
        row for row in taken(last, primed(found)) if row[0] in others
    ]


@pytest.mark.parametrize("title", ["All about {} - Gazette", "What there is about {}"])
def test_a_title_heading_is_left_out_at_once_and_late(title: str) -> None:
    """As the batch does, where the state has no other text of the page than what says the title, or its <h1> alone."""
    by = replace(BY_DBCE, label=replace(BY_DBCE.label, title="drop"))
    titled = [story(name, title=title.format(name)) for name in ("north", "south")]
    first, second, late = (row for _, row in taken(titled, by=by))

    assert [by_batch(titled[:1], titled[0], by), by_batch(titled, titled[1], by)] == [first["text"], second["text"]]
    assert by_batch(titled, titled[0], by) == kept(titled[0], late)
    assert "All about" not in first["text"]


def test_a_page_that_cannot_be_labelled_is_a_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others beside it are labelled, and the stream goes on."""
    score = page_labels.score_pages

    def failing(compared: Sequence[ComparedPage], label: Any) -> Any:
        if any(one.page.capture_id == STORIES[1].capture_id for one in compared):
            raise ValueError("no such score")
        return score(compared, label)

    monkeypatch.setattr(page_labels, "score_pages", failing)
    found = taken(STORIES[:3])
    ((_, lost),) = [one for one in found if one[0] == REJECTS]

    assert [LABELS, REJECTS, LATE_LABELS, LABELS] == [table for table, _ in found]
    assert ("label", "page_failed", "ValueError: no such score") == (lost["stage"], lost["reason"], lost["detail"])
    assert STORIES[1].capture.url == lost["url"]


def test_a_state_of_another_version_is_refused_with_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names both versions, and what can be done."""
    data = StreamedSite(BY_DBCE, REMEMBERED).to_bytes()
    monkeypatch.setattr(module, "VERSION", 9)

    with pytest.raises(OutputError, match=r"is of version 4, this program has 9: .*another --output"):
        StreamedSite.from_bytes(data, BY_DBCE, REMEMBERED)
    with pytest.raises(OutputError, match="version unknown"):
        StreamedSite.from_bytes(b"x" * 100, BY_DBCE, REMEMBERED)
