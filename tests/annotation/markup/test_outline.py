"""Resolve marks on nodes into tags of the segments below."""

from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.annotation.markup.outline import Marks, Outline
from dbce_spark.model import Label


@st.composite
def outlines(draw: st.DrawFn) -> Outline:
    """Draw trees whose nodes come after the node that holds them; the childless are the segments."""
    count = draw(st.integers(1, 30))
    parents = (-1, *(draw(st.integers(0, node - 1)) for node in range(1, count)))
    leaves = tuple(node for node in range(count) if node not in parents)
    return Outline(parents, leaves, leaves)


MARKS = st.dictionaries(st.integers(0, 29), st.sampled_from(Label))


def above(outline: Outline, node: int) -> list[int]:
    """Yield a node and those around it, the innermost first."""
    return [node, *above(outline, outline.parents[node])] if node >= 0 else []


@given(outlines(), MARKS)
def test_a_segment_has_the_tag_of_the_nearest_mark(outline: Outline, marks: Marks) -> None:
    """A segment has its own tag, or that of the innermost node around it that has one."""
    nearest = [next((marks[one] for one in above(outline, leaf) if one in marks), None) for leaf in outline.leaves]

    assert tuple(nearest) == outline.tags(marks)


@given(outlines(), MARKS, st.sampled_from(Label))
def test_a_mark_on_the_outermost_node_changes_only_what_had_no_tag(
    outline: Outline, marks: Marks, label: Label
) -> None:
    """A tag on a container reaches everything below that has none of its own."""
    below = {node: tag for node, tag in marks.items() if node}
    without, with_it = outline.tags(below), outline.tags({**below, 0: label})

    assert tuple(label if tag is None else tag for tag in without) == with_it


@given(outlines())
def test_an_outline_survives_the_store(outline: Outline) -> None:
    """An outline comes out of JSON as it went in."""
    assert outline == Outline.from_json(outline.as_json())
