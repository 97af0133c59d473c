"""Annotation: bits per token, one diff a pair."""

import pytest

from dbce_spark.dbce import occurrence_bits as module
from dbce_spark.dbce.diff import Mask, shared
from dbce_spark.dbce.occurrence_bits import annotate
from dbce_spark.model import Hashes, bits_text
from tests.support.builders import cross, words

TEXTS = {
    "cur": words("home news sport the old story of today all rights reserved here"),
    "up": words("home news sport another tale altogether now all rights reserved here"),
    "down": words("home news sport something else"),
    "prev": words("menu the old story of today footer line"),
}


def test_bits_of_each_arm() -> None:
    """A token has the bit of each capture it is found in, and always that of `cur`."""
    (made,) = annotate([cross("cur", "up", "down", "prev")], TEXTS, exact_limit=10**6)
    expected = ["11100"] * 3 + ["10010"] * 5 + ["11000"] * 4

    assert expected == [bits_text(bits) for bits in made.per_token()]


def test_missing_arms_have_no_bits() -> None:
    """Nothing is found where nothing stands."""
    (made,) = annotate([cross("cur", "up")], TEXTS, exact_limit=10**6)

    assert {"11000", "10000"} == {bits_text(bits) for bits in made.bits}


def test_annotations_come_in_the_order_of_their_crosses() -> None:
    """One annotation a cross."""
    some = [cross("cur", "up"), cross("up", "cur"), cross("cur", "down")]

    assert some == [made.cross for made in annotate(some, TEXTS, exact_limit=10**6)]


def test_pair_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two captures that stand in each other's crosses cost one diff, and it is asked for in the order of their ids."""
    calls = []

    def counting(a: Hashes, b: Hashes, limit: int) -> tuple[Mask, Mask]:
        calls.append((len(a), len(b)))
        return shared(a, b, limit)

    monkeypatch.setattr(module, "shared", counting)
    list(annotate([cross("up", "cur"), cross("cur", "up"), cross("cur", "down", "up")], TEXTS, exact_limit=10**6))

    assert [(12, 11), (12, 5)] == calls


def test_empty_page_beside() -> None:
    """A capture without words is found nowhere and hides nothing."""
    (made,) = annotate([cross("cur", "none")], TEXTS | {"none": words("")}, exact_limit=10**6)

    assert ["10000"] == [bits_text(bits) for bits in made.bits]
