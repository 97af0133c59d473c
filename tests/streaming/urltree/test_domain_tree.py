"""Label, drop and evict the documents of a domain of the stream."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.model import Label
from dbce_spark.streaming.urltree.blocks import KEY_WORDS, Keys
from dbce_spark.streaming.urltree.domain_tree import Document, DomainTree
from dbce_spark.streaming.urltree.url_keys import url_key
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig
from tests.support.urltree_documents import CONFIG, config, counted, document, domain, plain

CONTENT, BOILERPLATE = Label.CONTENT, Label.BOILERPLATE


def article(at: int, day: float = 0, folder: str = "news") -> Document:
    """Return an article with a menu that all share."""
    return document(
        f"http://www.news.eu/{folder}/{'abcdefghij'[at % 10]}{at}", "Menu", f"Text {'x' * (at + 1)}", day=day
    )


def test_block_that_others_of_the_node_hold_is_boilerplate() -> None:
    """A document counts towards its own labels: it is inserted before it is labelled."""
    held = domain([article(at) for at in range(5)])
    (labelled,) = held.add(article(5))

    assert [BOILERPLATE, CONTENT] == labelled.labels.tolist()
    assert [6, 1] == labelled.counts.tolist()
    assert ("news.eu/www/news", 6, 6, 1) == (
        labelled.node,
        labelled.node_documents,
        labelled.domain_documents,
        labelled.c_max,
    )


def test_first_document_of_a_domain_is_all_content() -> None:
    """The first document has no others to compare with; the domain's node decides."""
    (labelled,) = DomainTree("news.eu", CONFIG).add(article(0))

    assert [CONTENT, CONTENT] == labelled.labels.tolist()
    assert labelled.node == "news.eu"


def test_duplicate_is_dropped_and_changes_nothing() -> None:
    """A duplicate would make its own text look like boilerplate."""
    held = domain([article(at) for at in range(3)])
    before = held.to_bytes()

    assert held.add(article(1, day=1)) == ()
    assert before == held.to_bytes()


def test_oldest_document_leaves_a_full_window() -> None:
    """The document with the oldest time of its event leaves, not the first that arrived."""
    held = domain([], config("window.max_documents=3", "window.min_documents=1"))
    for at, day in enumerate((2, 1, 3, 4)):
        held.add(article(at, day))

    assert [True, False, True, True] == [held.holds(article(at).url_key) for at in range(4)]


def test_documents_leave_by_age_but_the_most_recent_stay() -> None:
    """Documents older than 14 days behind the newest leave, but three always stay."""
    held = domain([], config("window.min_documents=3", "window.confirmed_by=1"))
    for at in range(5):
        held.add(article(at, day=at))
    held.add(article(5, day=40))

    assert [3, 4, 5] == [at for at in range(6) if held.holds(article(at).url_key)]


def test_one_document_of_the_far_future_costs_a_window_nothing() -> None:
    """Of 130 documents all stay when one is dated a century ahead, and so do all that come behind it."""
    held = domain([article(at) for at in range(130)])
    held.add(article(130, day=36_500))
    for at in range(131, 150):
        held.add(article(at, day=1))

    assert 150 == len(held)


def test_wrong_date_leaves_when_enough_documents_have_not_confirmed_it() -> None:
    """A date of the far future does not stay in the window as its newest document for good."""
    held = domain([article(at) for at in range(100)])
    held.add(article(100, day=36_500))
    present = []
    for at in range(101, 202):
        held.add(article(at))
        present.append(held.holds(article(100).url_key))

    assert [True] * 99 + [False, False] == present


def test_wrong_date_costs_nothing_across_a_state() -> None:
    """The times of the last documents are part of the state."""
    held = domain([article(at) for at in range(130)])
    held.add(article(130, day=36_500))
    again = DomainTree.from_bytes(held.to_bytes(), CONFIG)
    again.add(article(131, day=36_500))

    assert 132 == len(again)


def test_jump_in_time_empties_the_window_when_documents_have_confirmed_it() -> None:
    """A stream that goes on after a year is believed at its fifth document, and not before."""
    held = domain([], config("window.min_documents=6"))
    for at in range(20):
        held.add(article(at))
    sizes = []
    for at in range(20, 26):
        held.add(article(at, day=365))
        sizes.append(len(held))

    assert [21, 22, 23, 24, 6, 6] == sizes
    assert [20, 21, 22, 23, 24, 25] == [at for at in range(26) if held.holds(article(at).url_key)]


def test_order_of_labels_is_that_of_the_page() -> None:
    """Labels have one entry a block in page order, though blocks repeat."""
    held = domain([document(f"http://news.eu/{name}", "Menu", "Menu", name) for name in ("p", "q", "r", "s", "t")])
    (labelled,) = held.add(document("http://news.eu/u", "u", "Menu", "uu", "Menu"))

    assert [CONTENT, BOILERPLATE, CONTENT, BOILERPLATE] == labelled.labels.tolist()


def test_early_pages_are_labelled_again_when_their_node_has_seen_enough() -> None:
    """The first four pages, labelled by fewer than five documents, are labelled again once."""
    held = DomainTree("news.eu", config("relabel.support=5"))
    labelled = [held.add(article(at)) for at in range(7)]

    assert [1, 1, 1, 1, 5, 1, 1] == [len(one) for one in labelled]
    assert all([BOILERPLATE, CONTENT] == one.labels.tolist() for one in labelled[4])
    assert [article(at).document_id for at in (4, 0, 1, 2, 3)] == [one.document_id for one in labelled[4]]


def test_label_of_a_node_that_had_seen_enough_is_final() -> None:
    """When a lower node comes to decide, pages that one above had decided on with enough documents stay as they are."""
    held = DomainTree("news.eu", config("relabel.support=5"))
    for at in range(5):
        held.add(article(at))
    labelled = [held.add(article(at, folder="sport")) for at in range(5, 10)]

    assert [1, 1, 1, 1, 1] == [len(one) for one in labelled]
    assert ["news.eu/www"] * 4 + ["news.eu/www/sport"] == [one[0].node for one in labelled]


arrivals = st.lists(
    st.tuples(st.sampled_from(("a", "a/b", "a/b/c", "d", "d/e")), st.lists(st.sampled_from("mnopqr"), max_size=4),
              st.integers(0, 30)), max_size=25
)  # fmt: skip


@given(arrivals)
def test_tree_after_eviction_is_the_tree_of_the_survivors(some: list[tuple[str, list[str], int]]) -> None:
    """Counts are exact whichever documents have left, and however long ago."""
    parameters = config("window.max_documents=6", "window.min_documents=2")
    held = DomainTree("news.eu", parameters)
    for at, (folder, texts, day) in enumerate(some):
        name = "".join("abcdefghij"[int(digit)] for digit in str(at))
        held.add(document(f"http://news.eu/{folder}/{name}", "Menu", *texts, name, day=day))

        tree, words = held._tree, held._vocabulary.keys[:, 0].tolist()
        survivors = [
            (tuple(node.name for node in reversed(list(one.leaf.up())))[1:], [words[number] for number in one.ids])
            for one in tree.documents.values()
        ]
        by_key = {
            path: (count, {words[number]: times for number, times in blocks.items()})
            for path, (count, blocks) in plain(tree).items()
        }

        assert counted("news.eu", survivors) == by_key
        assert len(tree.documents) <= 6


days = st.lists(st.integers(0, 30), max_size=25)


@given(days, st.integers(0, 25), st.integers(100, 60_000))
def test_wrong_date_evicts_no_document_that_the_newest_of_the_others_would_not(
    some: list[int], place: int, wrong: int
) -> None:
    """With one wrong date anywhere in any stream, all others stay that stay without it where the newest document alone
    decides, but the one whose place it takes among those that always stay."""
    trusting = domain([], config("window.min_documents=2", "window.confirmed_by=1"))
    robust = domain([], config("window.min_documents=2", "window.confirmed_by=2"))
    keys = []
    for at, day in enumerate(some):
        if at == place:
            robust.add(document("http://news.eu/wrong", "Text", day=wrong))
        one = article(at, day=day)
        keys.append(one.url_key)
        trusting.add(one)
        robust.add(one)

        assert sum(trusting.holds(key) and not robust.holds(key) for key in keys) <= 1


@given(st.lists(st.integers(0, 60_000), max_size=25), st.integers(0, 60_000))
def test_window_recovers_from_any_dates(wrong: list[int], day: int) -> None:
    """Whatever dates have come before, the window holds all documents of a day that follow, but the first five, and of
    those that lie far ahead or behind not more than always stay."""
    held = domain([], config("window.min_documents=2", "window.confirmed_by=2", "window.confirmed_among=5"))
    stream = [article(at, day=one) for at, one in enumerate((*wrong, *[day] * 20))]
    for one in stream:
        held.add(one)
    far = [one for one, at in zip(stream, wrong, strict=False) if abs(at - day) > 14]

    assert all(held.holds(one.url_key) for one in stream[len(wrong) + 5 :])
    assert not any(held.holds(one.url_key) for one in far)


@given(arrivals, st.integers(0, 25))
def test_state_as_bytes_goes_on_as_the_domain_itself(some: list[tuple[str, list[str], int]], at: int) -> None:
    """A stream packed and restored in between has the same labels and ends in the same state."""
    parameters = config("window.max_documents=6", "window.min_documents=2", "relabel.support=3", "label.n_min=2")
    stream = [
        document(f"http://news.eu/{folder}/{n}", *texts, "x", day=day) for n, (folder, texts, day) in enumerate(some)
    ]
    whole, cut = DomainTree("news.eu", parameters), DomainTree("news.eu", parameters)
    for number, one in enumerate(stream):
        if number == at:
            cut = DomainTree.from_bytes(cut.to_bytes(), parameters)
        for expected, actual in zip(whole.add(one), cut.add(one), strict=True):
            assert (expected.document_id, expected.node) == (actual.document_id, actual.node)
            np.testing.assert_array_equal(expected.counts, actual.counts)

    assert plain(whole._tree) == plain(cut._tree)


@pytest.mark.parametrize("name", ["xxh3", "md5"])
def test_document_takes_at_most_half_of_what_the_paper_says(name: str) -> None:
    """A document takes less than half of the paper's 6.5 KB, as allocated, on pages of 150 blocks of which 50 are their
    own."""
    parameters = config(f"blocks.hash={name}")
    stream = news(500, parameters)
    domain(stream[:2], parameters)  # what is imported at the first use belongs to no document
    tracemalloc.start()
    held = domain(stream, parameters)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    assert len(held) == 500
    assert size < 500 * 6_500 / 2


def news(count: int, settings: UrlTreeConfig) -> list[Document]:
    """Make a site by sections and days: a template of 80 blocks, lists of 20 that go from page to page, and texts of
    50."""
    random = np.random.default_rng(1)

    def keys(blocks: int) -> Keys:
        return random.integers(0, 1 << 63, (blocks, KEY_WORDS[settings.blocks.hash])).astype(np.uint64)

    template, heads = keys(80), keys(count)
    return [
        Document(
            document_id=f"{at:032x}",
            url_key=url_key(f"http://www.news.eu/{'abcd'[at % 4]}/2011/10/{at // 50}/a-story-of-the-day-{at}", "", ()),
            timestamp=at * 60_000_000,
            keys=np.concatenate([template, heads[np.maximum(np.arange(at - 19, at + 1), 0)], keys(50)]),
        )
        for at in range(count)
    ]
