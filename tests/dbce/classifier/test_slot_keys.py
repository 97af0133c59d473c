"""Slot keys: names that are the same on every page of a template, and the marks of standards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.classifier.slot_keys import CLASSES, PROPERTIES, ROLES, TYPES, slot_keys
from dbce_spark.html.page_walk import SlotName
from tests.support.builders import laid


def leaf(body: str) -> tuple[int, int, int, int, int]:
    """Return the keys of the slot of a page's last block: by class, by id, own, numbered; and its marks."""
    page = laid(body)
    slot, slots = page.block_slots[-1], page.slots
    names = (slots.by_class, slots.by_id, slots.own, slots.numbered)
    return (*(int(name[slot]) for name in names), int(slots.marks[slot]))  # type: ignore[return-value]


def test_slots_are_named_by_what_does_not_number() -> None:
    """Names with digits are left out, the order of classes does not matter, and ids count only where they should."""
    one = leaf('<div class="b a post-17" id="main"><p>x</p></div>')
    same = leaf('<div class="a b post-18" id="main"><p>y</p></div>')
    other_id = leaf('<div class="a b" id="side"><p>x</p></div>')
    other_class = leaf('<div class="a c" id="main"><p>x</p></div>')

    assert one == same
    assert (one[0], one[2]) == (other_id[0], other_id[2])
    assert one[1] != other_id[1]
    assert one[0] != other_class[0]
    assert one[2] == other_class[2]


def test_numbered_ids_are_named_by_the_rest() -> None:
    """comment-1 and comment-2 are of one kind; an id without a number has none."""
    first, second, other, none = (leaf(f"<p id={name}>x</p>")[3] for name in ("c-1", "c-2", "d-1", "c"))

    assert first == second != other
    assert 0 == none != first


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<div role=Main><p>x</p></div>", ROLES["main"]),
        ('<div itemprop="articleBody"><p>x</p></div>', PROPERTIES["articlebody"]),
        ('<div itemtype="https://schema.org/Comment"><p>x</p></div>', TYPES["comment"]),
        ('<div class="x entry-content"><p>x</p></div>', CLASSES["entry-content"]),
        ('<div role=main><p class="u-comment">x</p></div>', ROLES["main"] | CLASSES["u-comment"]),
        ("<div role=mainly><p>x</p></div>", 0),
        ("<div role=main>y</div><p>x</p>", 0),
    ],
)
def test_marks_are_what_the_page_says_of_itself(markup: str, expected: int) -> None:
    """By role, property, type or class, of the element or of one it lies in."""
    actual = leaf(markup)[4]

    assert expected == actual


NAMES: tuple[SlotName, ...] = (
    "div", "p", ("div", "a"), ("div", "b"), ("div", None, "x", None, None, None), ("div", "a", "x", None, None, None),
    ("p", None, None, "main", None, None), ("p", None, None, "comment", None, None),
)  # fmt: skip
forests = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 40)), min_size=1, max_size=40)
"""Slots, and of each which is above it: one before it, or with its own index none."""


@given(forests)
def test_a_slot_is_named_by_the_whole_chain_from_the_root(forest: list[tuple[SlotName, int]]) -> None:
    """Two have one name if, and only if, all above them have, step by step; and marks of what is above are theirs."""
    above = [min(place, at) for at, (_, place) in enumerate(forest)]
    keys = slot_keys([name for name, _ in forest], np.array(above))
    chains: list[tuple[tuple[str | None, ...], ...]] = []
    for at, (name, _) in enumerate(forest):
        chain = chains[above[at]] if above[at] < at else ()
        chains.append((*chain, (name,) if isinstance(name, str) else name))

    for depth, named in ((3, keys.by_id), (2, keys.by_class), (1, keys.by_path)):
        known = [tuple((*one, None, None)[:depth] for one in chain) for chain in chains]
        assert len({*known}) == len({*named.tolist()}) == len({*zip(known, named.tolist(), strict=True)})
    marks = [{one[3] for one in chain if len(one) > 3} for chain in chains]
    assert [sum(ROLES[role] for role in some if role) for some in marks] == keys.marks.tolist()
