"""The evidence of other pages: counted by tables, and in plain Python."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.classifier.context import CERTAIN
from dbce_spark.dbce.classifier.evidence import LOG_ODDS_STEPS, of_crosses, of_siblings, of_snapshots, shifts
from dbce_spark.dbce.classifier.features import UNKNOWN, Columns
from dbce_spark.model import (
    ABOVE,
    CLASS,
    ID,
    PATH,
    SHAPE,
    SIBLING_ARMS,
    TEXT,
    Annotation,
    Codes,
    PageFeatures,
    arm_bit,
)
from tests.support.plain_pools import first_captures, plainly_joined, pools, rows, share
from tests.support.strategies import annotations, captures_of_few_texts

SLOTS = {"class": CLASS, "id": ID, "path": PATH, "above": ABOVE}


def plain(found: dict[str, Columns]) -> dict[str, dict[str, list[float]]]:
    return {one: {name: values.tolist() for name, values in of_one.items()} for one, of_one in found.items()}


def moves(found: dict[str, Codes]) -> dict[str, list[float]]:
    return {one: shifts(codes).tolist() for one, codes in found.items()}


def counted(one: PageFeatures, pool: list[PageFeatures]) -> list[dict[str, float]]:
    """Count the evidence of siblings on each block of a capture, block by block and page by page."""
    first = first_captures(pool)
    others = [rows(other) for url, other in first.items() if url != one.url_key]
    every = [rows(speaker) for speaker in first.values()]
    mass = sum(block["mass"] for other in others for block in other)
    return [_said(block, rows(one), others, every, mass) for block in rows(one)]


def _said(
    block: dict[str, Any],
    own: list[dict[str, Any]],
    others: list[list[dict[str, Any]]],
    every: list[list[dict[str, Any]]],
    mass: int,
) -> dict[str, float]:
    def holds(page: list[dict[str, Any]], *at: int) -> bool:
        return any(all(other["keys"][row] == block["keys"][row] for row in at) for other in page)

    def recurs(one: dict[str, Any]) -> bool:
        return sum(any(other["keys"][TEXT] == one["keys"][TEXT] for other in page) for page in every) > 1

    with_text = sum(holds(page, TEXT) for page in others)
    expected = {
        "siblings": float(len(others)),
        "sibling_text": share(with_text, len(others)),
        "sibling_text_count": float(min(with_text, 4)),
        "sibling_shape": share(sum(holds(page, SHAPE) for page in others), len(others)),
        "sibling_text_here": share(sum(holds(page, TEXT, CLASS) for page in others), len(others)),
        "sibling_mass": mass / (CERTAIN * len(others)),
    }
    for name, row in SLOTS.items():
        key = block["keys"][row]
        here = [other for page in others for other in page if other["keys"][row] == key]
        in_all = [other for page in every for other in page if other["keys"][row] == key]
        pages = sum(holds(page, row) for page in others)
        words, found = sum(other["words"] for other in here), sum(other["mass"] for other in here)
        measured = {
            "words": share(words, pages),
            "blocks": share(len(here), pages),
            "links": share(sum(other["links"] for other in here), words),
            "variety": share(len({other["keys"][TEXT] for other in in_all}), len(in_all)),
            "recurring": share(sum(other["words"] for other in here if recurs(other)), words),
            "own_words": share(sum(other["words"] for other in own if other["keys"][row] == key) * pages, words),
            "mean": share(words, len(here)),
            "score": share(found, words),
        }
        expected |= {f"{name}_slot_{what}": value if pages else UNKNOWN for what, value in measured.items()}
        expected |= {f"{name}_slot_pages": share(pages, len(others)), f"{name}_slot_mass": share(found, mass)}
    return expected


@given(pools())
def test_siblings_say_what_a_plain_count_says(pool: list[PageFeatures]) -> None:
    """Every feature of every block, bit for bit."""
    found = plain(of_siblings(pool, {one.capture_id for one in pool}))
    pool = plainly_joined(pool)
    if len(first_captures(pool)) < 2:
        assert {} == found
        return
    for one in pool:
        blocks = counted(one, pool)
        expected = {name: [block[name] for block in blocks] for name in blocks[0]}

        assert expected == found[one.capture_id]


@given(pools(), st.randoms(use_true_random=False))
def test_order_of_the_pages_does_not_matter(pool: list[PageFeatures], random: Any) -> None:
    """Neither for siblings nor for snapshots."""
    shuffled = sorted(pool, key=lambda _: random.random())
    ids = {one.capture_id for one in pool}
    of_one_url = [replace(one, url_key="u") for one in pool]
    shuffled_too = [replace(one, url_key="u") for one in shuffled]

    assert plain(of_siblings(pool, ids)) == plain(of_siblings(shuffled, ids))
    assert moves(of_snapshots(of_one_url)) == moves(of_snapshots(shuffled_too))


@given(pools(), st.sets(st.sampled_from([f"id{at}" for at in range(6)])))
def test_only_the_wanted_get_evidence(pool: list[PageFeatures], wanted: set[str]) -> None:
    """And each has the same evidence, whoever else is given any."""
    everyone = plain(of_siblings(pool, {one.capture_id for one in pool}))

    assert {one: everyone[one] for one in everyone if one in wanted} == plain(of_siblings(pool, wanted))


@given(pools("u"))
def test_captures_of_one_url_are_no_siblings(pool: list[PageFeatures]) -> None:
    """However many they are."""
    assert {} == of_siblings(pool, {one.capture_id for one in pool})


@given(pools("vwx", max_size=4), captures_of_few_texts(st.just("u"), "own"), st.lists(st.integers(4, 9), max_size=3))
def test_later_captures_of_a_url_count_for_nobody(
    pool: list[PageFeatures], one: PageFeatures, times: list[int]
) -> None:
    """The first stands for all: the later ones are evidence for neither its own page nor any other."""
    later = [replace(one, capture_id=f"later{at}", timestamp=time) for at, time in enumerate(times)]
    ids = {some.capture_id for some in (*pool, one)}

    assert plain(of_siblings([*pool, one], ids)) == plain(of_siblings([*pool, one, *later], ids))


def test_capture_is_not_its_own_sibling() -> None:
    """Texts on one page alone are counted on none of its siblings."""
    one = PageFeatures(
        capture_id="a", url_key="u", timestamp=0, words=np.array([3], np.int32), link_words=np.array([0], np.int32),
        first_scores=np.array([CERTAIN], np.uint16), keys=np.ones((6, 1), np.uint32),
    )  # fmt: skip
    twin, other = (
        replace(one, capture_id="b", timestamp=1),
        replace(one, capture_id="c", url_key="v", keys=one.keys * 2),
    )
    found = of_siblings([one, twin, other], {"a", "b", "c"})

    assert [0, 0, 0] == [found[name]["sibling_text"][0] for name in "abc"]
    assert [1, 1, 1] == [found[name]["siblings"][0] for name in "abc"]
    assert {UNKNOWN} == {found[name]["class_slot_score"][0] for name in "abc"}


@given(pools("u", max_size=7))
def test_snapshots_move_a_block_half_of_the_way_to_the_mean(pool: list[PageFeatures]) -> None:
    """The mean is of the first scores of its text in its slot: of two moments before and two behind."""
    times = sorted({one.timestamp for one in pool})
    found = of_snapshots(pool)
    for one in pool:
        at = times.index(one.timestamp)
        others = [other for other in pool if other is not one and abs(times.index(other.timestamp) - at) in (1, 2)]
        if not others:
            assert one.capture_id not in found
            continue
        for block, moved in zip(rows(one), shifts(found[one.capture_id]).tolist(), strict=True):
            alike = [other for page in others for other in rows(page) if _place(other) == _place(block)]
            mean = sum(map(_log_odds, [block, *alike])) / (1 + len(alike))

            assert moved == pytest.approx((mean - _log_odds(block)) / 2, abs=1.5 / LOG_ODDS_STEPS)
            assert alike or moved == 0


def _place(block: dict[str, Any]) -> tuple[int, int]:
    return block["keys"][TEXT], block["keys"][CLASS]


def _log_odds(block: dict[str, Any]) -> float:
    return math.log((block["score"] + 0.5) / (CERTAIN + 0.5 - block["score"]))


@given(pools("u", max_size=7), st.permutations(range(7)))
def test_snapshots_say_the_same_whatever_the_ids(pool: list[PageFeatures], order: list[int]) -> None:
    """Captures of one moment have no order but that of their ids, which are hashes: other ids move blocks as far."""
    named = {one.capture_id: f"id{order[at]}" for at, one in enumerate(pool)}
    renamed = [replace(one, capture_id=named[one.capture_id]) for one in pool]

    assert {named[one]: moved for one, moved in moves(of_snapshots(pool)).items()} == moves(of_snapshots(renamed))


@given(pools("u", max_size=5))
def test_same_moment_is_no_snapshot(pool: list[PageFeatures]) -> None:
    """Captures of one time say nothing of each other."""
    assert {} == of_snapshots([replace(one, timestamp=7) for one in pool])


WORDS = np.array([2, 1, 4], np.int32)
ENDS = (0, 2, 3, 7)


@given(annotations(7))
def test_crosses_say_what_a_plain_count_says(some: list[Annotation]) -> None:
    """The share of each block's words that each sibling on the arms holds; nothing where there is none."""
    columns = of_crosses(WORDS, some)
    held: dict[str, list[bool]] = {}
    for one in some:
        for arm in SIBLING_ARMS:
            if capture_id := getattr(one.cross, arm):
                held[capture_id] = [bool(bits & arm_bit(arm)) for bits in one.per_token().tolist()]
    if not held:
        assert {} == columns
        return
    counts = [[sum(one[start:end]) for one in held.values()] for start, end in pairwise(ENDS)]
    mean = [sum(of_block) / (words * len(held)) for of_block, words in zip(counts, WORDS.tolist(), strict=True)]
    most = [max(of_block) / words for of_block, words in zip(counts, WORDS.tolist(), strict=True)]

    assert mean == columns["sibling_words"].tolist()
    assert most == columns["sibling_words_most"].tolist()
    assert [pytest.approx(sum(map(sum, counts)) / (7 * len(held)))] * 3 == columns["sibling_words_page"].tolist()
