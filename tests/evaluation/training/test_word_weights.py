"""What class words say is learned: of many hosts, with the sign that the labels give, and from no page left out."""

import numpy as np
import pytest

from dbce_spark.dbce.classifier import class_words
from dbce_spark.dbce.classifier.class_words import ClassWords
from dbce_spark.dbce.classifier.layout import Layout
from dbce_spark.evaluation.training import word_weights
from dbce_spark.evaluation.training.word_weights import NamedSlots
from tests.support import small_classifier
from tests.support.builders import parsed

PAGE = "<html><body><div class='menu {own}'><p>Go</p></div><div class=post><div class=x9><p>Text</p></div></div></body>"


@pytest.fixture(scope="module")
def slots() -> NamedSlots:
    """Collect the slots of 30 pages with the same two words, and a word of its own each."""
    names = [chr(ord("a") + at % 26) * (2 + at // 26) for at in range(30)]
    return word_weights.named_slots(Layout([parsed(PAGE.format(own=name))]) for name in names)


def learned(slots: NamedSlots, is_content: list[bool], weight: float) -> ClassWords:
    words = word_weights.count_common(slots, [f"{page}.example" for page in range(30)])
    return word_weights.learn(words, slots.of_blocks, np.array(is_content * 30), np.full(60, weight))


def test_words_of_few_hosts_are_left_out(slots: NamedSlots) -> None:
    """A word of one host, on however many pages, is none; two are on all hosts."""
    hosts = [f"{page}.example" for page in range(30)]
    common = word_weights.count_common(slots, hosts).hashes

    assert {class_words.hashed("menu"), class_words.hashed("post")} == {*common.tolist()}
    assert not len(word_weights.count_common(slots, ["one.example"] * 30).hashes)
    assert not len(word_weights.count_common(slots, hosts[:19] + hosts[:11]).hashes)


@pytest.mark.parametrize("menu", [False, True], ids=["menu is none", "menu is content"])
def test_weights_have_the_sign_of_the_labels(slots: NamedSlots, menu: bool) -> None:
    """A word says what the pages say, not what it means in English."""
    found = learned(slots, [menu, not menu], 100.0)
    at = found.hashes.tolist().index(class_words.hashed("menu"))

    assert (found.weights[:, at] > 0).tolist() == [menu, menu]
    assert (found.weights[:, 1 - at] > 0).tolist() == [not menu, not menu]


def test_what_weighs_nothing_teaches_nothing(slots: NamedSlots) -> None:
    """Without weights all words are 0, and less weight leaves them closer to it."""
    assert not learned(slots, [False, True], 0.0).weights.any()
    assert (
        abs(learned(slots, [False, True], 1.0).weights).max() < abs(learned(slots, [False, True], 99.0).weights).max()
    )


def test_training_sees_the_features_of_a_run() -> None:
    """Of all pages together by matrices, as of batches of pages by names."""
    of = small_classifier.prepared()
    words = small_classifier.classifier().class_words
    found = of.slots.columns(words)
    expected = [words.columns(Layout([one.parsed])) for one in of.examples]

    assert len(words.hashes)
    for name, values in found.items():
        assert np.concatenate([columns[name] for columns in expected]).tolist() == values.tolist(), name


def test_slots_of_some_pages_are_those_of_the_pages_alone(slots: NamedSlots) -> None:
    """Pages that are left out leave no trace but their words among the hashes."""
    words = learned(slots, [False, True], 9.0)
    chosen = slots.of_pages(np.arange(30) % 3 == 1)
    kept = np.repeat(np.arange(30) % 3 == 1, 2)

    assert chosen.pages.max() == 9
    for name, values in slots.columns(words).items():
        assert values[kept].tolist() == chosen.columns(words)[name].tolist()
