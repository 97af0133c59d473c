"""Gold pages as a stream: each is labelled by what has come before, and by nothing else."""

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path

import pytest
from numpy import float32

from dbce_spark import config
from dbce_spark.dbce import local, page_labels, pages, sites
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting import arriving_pages, gold_stream
from dbce_spark.model import Page
from dbce_spark.streaming.stream.outcomes import build_rows
from dbce_spark.streaming.stream.streamed_site import StreamedSite
from dbce_spark.streaming.urltree import urltree_settings
from tests.support.fake_extractors import gold_pages, line, own_set
from tests.support.stream_files import site_arrivals

CONFIG = config.default()
STRICT = urltree_settings.load(settings=["label.heuristic=strict"])


def story(name: str, date: str = "", **fields: str) -> dict[str, object]:
    """A page of a site with a menu."""
    html = f"<html><body><p>Menu</p><p>Story {name}</p></body></html>"
    return line(name, html, f"Story {name}", site="news.eu", url=f"http://news.eu/{name}", date=date, **fields)


def extracted(of: Sequence[GoldPage]) -> dict[str, str]:
    return {page_id: one.text for page_id, one in gold_stream.extract(of, STRICT, CONFIG.page).items()}


def test_pages_come_by_date_and_those_without_one_last(tmp_path: Path) -> None:
    """The latter in the order of their lines."""
    days = {"a": "", "b": "20120102", "c": "", "d": "20120101"}
    found = gold_stream.arrivals(gold_pages(tmp_path, [story(name, date) for name, date in days.items()]))

    assert ["d", "b", "a", "c"] == [page.page_id for page in found]


def test_menu_is_content_only_until_it_is_seen_again(tmp_path: Path) -> None:
    """The first page of a domain knows nothing; the domain decides for the next."""
    texts = extracted(gold_pages(tmp_path, [story("a", "20120102"), story("b", "20120101"), story("c", "20120103")]))

    assert {"a": "Story a", "b": "Menu\nStory b", "c": "Story c"} == texts


def test_pages_with_one_url_key_all_have_a_text(tmp_path: Path) -> None:
    """A stream would drop them as duplicates; here each has a gold text of its own."""
    lines = [story(name) | {"url": f"http://news.eu/story?x={name}"} for name in "ab"]

    assert {"a": "Menu\nStory a", "b": "Story b"} == extracted(gold_pages(tmp_path, lines))


def test_page_without_a_word_is_a_miss(tmp_path: Path) -> None:
    """It has the reason that the other joint methods give."""
    found = gold_stream.extract(gold_pages(tmp_path, [line("a", "<br>", "")]), STRICT, CONFIG.page)

    assert ("", "no_text: no word outside scripts, styles and forms") == (found["a"].text, found["a"].error)


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Page]:
    """Four pages of one template, and one page alone."""
    gold = gold_pages(tmp_path_factory.mktemp("stream"), own_set())
    made = pages.parse_fetches([page.fetch(at) for at, page in enumerate(gold)], CONFIG)
    return pages.unique(page for page in made if isinstance(page, Page))


def test_page_is_labelled_beside_those_that_had_come(captures: list[Page]) -> None:
    """The first as if it were alone, the last as if all had come at once."""
    by_place = {one.page.capture.warc_offset: one for one in arriving_pages.arrived(captures, CONFIG)}
    whole = {one.page.capture.warc_offset: one for one in local.extract_pages(captures, CONFIG)}
    first = min(captures, key=lambda page: page.capture.warc_offset)
    (alone,) = local.extract_pages([first], CONFIG)

    assert len(captures) == len(by_place)
    assert alone.segments.scores.tolist() == by_place[0].segments.scores.tolist()
    assert whole[0].segments.scores.tolist() != by_place[0].segments.scores.tolist()
    assert whole[3].segments.scores.tolist() == by_place[3].segments.scores.tolist()
    assert whole[3].crosses == by_place[3].crosses


def test_state_of_a_site_gives_the_scores_of_its_pages_without_crosses(captures: list[Page]) -> None:
    """Each beside those that had come; the order in which they are handed over is nothing."""
    pooled = arriving_pages.by_site_pool(captures[::-1], CONFIG)
    came = sorted(captures, key=arriving_pages._arrival)
    evidence = {at: arriving_pages._evidence(came[at], came[: at + 1], CONFIG) for at in range(len(came))}
    compared = [sites.gather(page, [], evidence[at], "") for at, page in enumerate(came)]

    expected = {one.page.capture_id: one.text for one in page_labels.label_pages(compared, CONFIG.label)}
    assert expected == {one.page.capture_id: one.text for one in pooled}


def test_late_labels_are_the_last_ones_of_a_stream(captures: list[Page]) -> None:
    """The scores of each page are those in its last row, on arrival or later."""
    by = config.load(settings=["stream.relabel_pages=[2, 4]"])
    site = max(Counter(page.capture.site for page in captures).items(), key=itemgetter(1))[0]
    of_site = sorted((page for page in captures if page.capture.site == site), key=arriving_pages._arrival)
    rows = build_rows(site_arrivals(of_site, by), StreamedSite(by, remembered=99))
    expected = {row["capture_id"]: [float32(block["score"]) for block in row["blocks"]] for _, row in rows}
    found = arriving_pages.relabelled(of_site[::-1], by)

    assert 4 == len(of_site)
    assert expected == {one.page.capture_id: [*one.segments.scores] for one in found}


def test_primed_sites_have_the_other_half_of_the_pages_from_the_start(captures: list[Page]) -> None:
    """Halves by capture id; of its own half a page is labelled beside those before it."""
    came = sorted(captures, key=arriving_pages._arrival)
    halves = [int(one.capture_id, 16) % 2 for one in came]
    expected = {}
    for at, page in enumerate(came):
        beside = [one for place, one in enumerate(came) if place <= at or halves[place] != halves[at]]
        gathered = sites.gather(page, [], arriving_pages._evidence(page, beside, CONFIG), "")
        expected[page.capture_id] = page_labels.label_pages([gathered], CONFIG.label)[0].text

    assert {0, 1} == {*halves}
    assert expected == {one.page.capture_id: one.text for one in arriving_pages.primed(captures, CONFIG)}
