"""Gold pages as examples."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbce_spark.dbce.classifier.forest import BINS
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.training import example_columns, prepared_pages, shown_neighbours, training_examples
from tests.support import small_classifier as trained
from tests.support.builders import config

WORDS = st.sampled_from(("alpha", "beta", "gamma", "delta"))


def longest(one: list[str], other: list[str]) -> int:
    """The length of the longest common subsequence, as textbooks have it."""
    row = [0] * (len(other) + 1)
    for word in one:
        before = row
        row = [0]
        for at, another in enumerate(other, start=1):
            row.append(before[at - 1] + 1 if word == another else max(before[at], row[at - 1]))
    return row[-1]


@given(st.lists(WORDS, max_size=12), st.lists(st.lists(WORDS, max_size=5), min_size=1, max_size=5))
def test_held_words_are_a_longest_common_subsequence(gold: list[str], texts: list[list[str]]) -> None:
    """They are as many in all as it is long, and in each block no more than stand there."""
    found = training_examples.held(" ".join(gold), texts).tolist()

    assert longest(gold, [word for text in texts for word in text]) == sum(found)
    assert all(0 <= held <= len(text) for held, text in zip(found, texts, strict=True))


def test_held_words_of_each_block() -> None:
    """Text that is only in the gold, or only on the page, counts for none."""
    texts = [["menu"], ["one", "two", "three"], [], ["four", "five", "six"]]

    assert [0, 3, 0, 2] == training_examples.held("One two three. More! Four five", texts).tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [([3.0, 1.0, 3.0, 2.0], [2.0, 3.0]), ([5.0, 5.0], []), ([-1.0, 0.0], [0.0])],
)
def test_few_values_have_a_bin_each(values: list[float], expected: list[float]) -> None:
    """Whole numbers keep their differences."""
    assert [expected] == [edges.tolist() for edges in example_columns.binning({"a": np.array(values)}).edges]


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(65, 2000), st.booleans())
def test_many_values_have_bins_of_about_as_many(seed: int, count: int, is_skewed: bool) -> None:
    """Never more than there may be, and each holds something."""
    draw = np.random.default_rng(seed).random(count)
    values = np.where(draw < 0.9, 0.0, draw) if is_skewed else draw
    binning = example_columns.binning({"a": values})
    codes = binning.codes({"a": values}, count)[0]

    assert codes.max() < BINS
    assert len(binning.edges[0]) + 1 == len(set(codes.tolist()))
    if not is_skewed:
        assert np.bincount(codes).max() <= 2 * (count / BINS + 1)


def test_examples_are_the_pages_of_the_gold() -> None:
    """In their order, each block with its words, of which gold and comments hold no more than there are."""
    assert [one.page_id for one in trained.gold()] == [one.gold.page_id for one in trained.examples()]
    for one in trained.examples():
        held, replied = one.marked.held, one.marked.replied
        assert len(one.page.blocks) == len(one.counted) == len(held) == len(replied)
        assert (held <= one.counted).all()
        assert (replied <= one.counted).all()
        assert held.any()
        assert one.page.features is None
        assert one.parsed.blocks.text == one.page.blocks.text


def test_batches_hold_all() -> None:
    """Each example once, in order."""
    examples = list(trained.examples()) * 3
    found = [one for some in training_examples.batches(examples) for one in some]

    assert [id(one) for one in examples] == [id(one) for one in found]


def test_beside_when_nothing_is_hidden() -> None:
    """Pages of one template are in each other's pools; every member is a page; a page is a member of its own pool."""
    whole = shown_neighbours.find_all(trained.examples(), trained.PATTERNS)

    assert {one.page.capture_id for one in trained.examples()} == set(whole)
    assert any(one.siblings for one in whole.values())
    assert any(one.annotations for one in whole.values())
    for capture_id, one in whole.items():
        assert set(one.siblings) <= set(whole)
        assert not one.siblings or capture_id in one.siblings


def test_hidden_leaves_few_or_none() -> None:
    """About half of the pages keep no sibling, the others one to FEW, with a cross of just these."""
    examples = trained.examples()
    whole = shown_neighbours.find_all(examples, trained.PATTERNS)
    urls = {one.page.capture_id: one.page.capture.url_key for one in examples}
    alone = few = 0
    for seed in range(8):
        shown = shown_neighbours.hide_most(examples, whole, trained.PATTERNS, seed)
        assert set(whole) == set(shown)
        for capture_id, one in shown.items():
            others = [other for other in one.siblings if other != capture_id]
            had_any = any(urls[other] != urls[capture_id] for other in whole[capture_id].siblings)
            alone += had_any and not others
            few += bool(others)

            assert len(others) <= shown_neighbours.FEW
            assert set(others) <= set(whole[capture_id].siblings)
            assert urls[capture_id] not in {urls[other] for other in others}
            arms = {arm for made in one.annotations for arm in (made.cross.up, made.cross.down) if arm}
            assert arms <= set(others)
            assert bool(one.annotations) == bool(others)

    assert 0.35 < alone / (alone + few) < 0.65


def test_hidden_is_drawn_for_each_page_by_itself() -> None:
    """One seed hides the same siblings, whatever other pages there are."""
    examples = trained.examples()
    whole = shown_neighbours.find_all(examples, trained.PATTERNS)
    one, other = (shown_neighbours.hide_most(some, whole, trained.PATTERNS, 1) for some in (examples, examples[::-1]))

    assert {key: value.siblings for key, value in one.items()} == {key: value.siblings for key, value in other.items()}


def test_alone_hides_everything() -> None:
    """No evidence of any kind."""
    shown = trained.alone(trained.examples())

    assert {((), ())} == {(one.siblings, one.annotations) for one in shown.values()}
    nothing: list[dict[str, object]] = [{}] * len(trained.examples())
    found = shown_neighbours.evidence_columns(trained.examples(), shown, {})
    assert {"siblings": nothing, "crosses": nothing} == found


def test_sampled_examples_are_the_same_each_time() -> None:
    """By the seed; all of them where there are few."""
    one, again, other = (example_columns.sampled(trained.examples(), seed) for seed in (1, 1, 2))

    assert [id(some) for some in one] == [id(some) for some in again] != [id(some) for some in other]
    assert len(trained.examples()) == len(one)


def labelled(page: GoldPage) -> GoldPage:
    """The same page as a reader labels it: the last of its blocks are content, and no others."""
    (one,) = training_examples.read([page], config("label.by=T002"))
    texts = one.page.blocks.text.split("\n")
    kept = len(texts) - 2
    return replace(page, dataset="read", page_id="r", nodes=[(int(at >= kept), text) for at, text in enumerate(texts)])


def test_a_page_that_a_reader_labelled_too_is_one_example_with_both_marks() -> None:
    """Whichever comes first, the gold of the set stays beside the reader's labels, which go before."""
    page = trained.gold()[0]
    for pages in ([page, labelled(page)], [labelled(page), page]):
        (one,) = training_examples.read(pages, config("label.by=T002"))
        (alone,) = training_examples.read([page], config("label.by=T002"))

        assert one.gold.dataset == page.dataset
        assert one.by_set is not None
        assert alone.by_set is not None
        assert alone.by_set.held.tolist() == one.by_set.held.tolist()
        assert one.marked is one.by_reader
        assert [0] * (len(one.counted) - 2) + one.counted[-2:].tolist() == one.marked.held.tolist()


@pytest.mark.parametrize("title", [0, 1])
def test_a_heading_that_says_what_the_title_says_has_its_own_label(title: int) -> None:
    """The title of the head stands in no block; a reader who shows it as content shows the heading so too."""
    html = "<title>High  tides</title><ul><li>Home<li>News</ul><h1>High tides</h1><p>At six and at noon.</p>"
    nodes = [(title, "High tides"), (0, "Home"), (0, "News"), (1, "High tides"), (1, "At six and at noon.")]
    page = replace(trained.gold()[0], html=html, nodes=nodes)
    (one,) = training_examples.read([page], config("label.by=T002"))

    assert [0, 0, 2, 5] == one.marked.held.tolist()


def test_a_readers_comments_are_apart_from_the_content() -> None:
    page = labelled(trained.gold()[0])
    nodes = [(2 * label, text) for label, text in page.nodes]
    (one,) = training_examples.read([replace(page, nodes=nodes)], config("label.by=T002"))

    assert not one.marked.held.any()
    assert one.counted[-2:].tolist() == one.marked.replied[-2:].tolist()
    assert one.by_set is None


def test_only_pages_that_a_reader_labelled_teach_whole_pages() -> None:
    """Each block of them weighs the same; where no reader labelled any page, all pages teach."""
    first, *others = trained.gold()[:6]
    pages = [first, labelled(first), *others]
    patterns = config("label.by=T002")
    of = prepared_pages.prepare(training_examples.read(pages, patterns), patterns)
    without = prepared_pages.prepare(training_examples.read([first, *others], patterns), patterns)
    of_first = of.page_of_row == 0

    assert (of.whole_weights[of_first] > 0).all()
    assert 1 == len(set(of.whole_weights[of_first].tolist()))
    assert not of.whole_weights[~of_first].any()
    assert (of.article_weights > 0).any()
    assert (without.whole_weights > 0).all()
