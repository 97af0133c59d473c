"""T001 to T006 on small pages."""

import pytest
from hypothesis import given

from dbce_spark.dbce.annotation_merge import resolve
from dbce_spark.dbce.kept import main_text
from dbce_spark.model import Annotation, Label
from reproductions.thesis import learned_cases
from reproductions.thesis.learned_cases import CASES
from reproductions.thesis.phases import PHASES, Clock
from tests.support.builders import annotation, filled_cross
from tests.support.strategies import annotations, documents
from tests.support.thesis_pages import B, C, U, read

ROWS = "".join(f"<li>menu {number}</li>" for number in range(6))
STORY = "".join(f"<p>A story of {number} words with many more of them in it</p>" for number in range(6))
HTML = f"<html><body><ul>{ROWS}</ul><div>{STORY}<p>A story that was changed between words of it</p></div></body></html>"
"""Six items of a menu, six paragraphs of a story, and one that no pattern knows."""


def full(html: str = HTML) -> Annotation:
    """A full cross: the menu is everywhere, the story in the snapshots, its last paragraph in one sibling."""
    patterns = ["11111"] * 12 + ["10011"] * 6 * 12 + ["11000"] * 9
    return annotation(filled_cross("11111"), patterns)


def labels_by(name: str) -> list[int]:
    dom, blocks = read(HTML)
    _, labels = learned_cases.merged(dom, blocks, [full()], CASES[name], Clock())
    return [int(label) for label in labels]


def test_patterns_leave_undecided_what_the_tables_do_not_know() -> None:
    """T001."""
    assert [*[B] * 6, *[C] * 6, U] == labels_by("T001")


def test_t002_calls_that_boilerplate() -> None:
    """T002 is T001 but for it."""
    assert [*[B] * 6, *[C] * 6, B] == labels_by("T002")


@pytest.mark.parametrize("name", ["T003", "T004", "T005", "T006"])
def test_learned_cases_label_it_by_what_it_is_like(name: str) -> None:
    """A paragraph of the story is content."""
    assert [*[B] * 6, *[C] * 7] == labels_by(name)


def test_elements_get_the_label_of_what_is_in_them() -> None:
    """The menu's list is boilerplate; the story's element is content once its last paragraph is."""
    dom, _ = read(HTML)

    def of_tag(name: str, at: int) -> Label | None:
        return learned_cases.label(dom, full(), CASES[name], Clock()).elements.get(dom.paths[at])

    assert (B, B) == (of_tag("T001", 2), of_tag("T006", 2))
    assert (None, C) == (of_tag("T001", 9), of_tag("T006", 9))


def test_phases_are_timed_where_they_are() -> None:
    """A case without learning spends nothing on it."""
    plain, learned = Clock(), Clock()
    dom, blocks = read(HTML)
    learned_cases.merged(dom, blocks, [full()], CASES["T002"], plain)
    learned_cases.merged(dom, blocks, [full()], CASES["T006"], learned)
    assert list(PHASES) == list(plain.seconds)
    assert (0, 0) == (plain.seconds["learn"], plain.seconds["reclassify"])
    assert learned.seconds["learn"] > 0


def test_text_is_not_torn_where_an_element_begins() -> None:
    """Characters of a script without spaces stay together, and so does what stands between two nodes."""
    dom, blocks = read("<html><body><p>日<b>本</b>語, <i>yes</i>no</p><p>two</p></body></html>")
    some = annotation(filled_cross("11000"), ["10000"] * len(blocks.tokens))
    nodes, labels = learned_cases.merged(dom, blocks, [some], CASES["T001"], Clock())
    assert "日本語, yesno\ntwo" == learned_cases.text(dom, blocks, nodes, labels)


@given(documents.flatmap(lambda html: annotations(len(read(html)[1].tokens)).map(lambda some: (html, some))))
def test_t001_and_t002_label_as_the_method_does(drawn: tuple[str, list[Annotation]]) -> None:
    """Merged by evidence, nodes have the labels of the segments they lie in: the same words in the same order."""
    html, some = drawn
    dom, blocks = read(html)
    for name in ("T001", "T002"):
        nodes, labels = learned_cases.merged(dom, blocks, some, CASES[name], Clock())
        expected = main_text.text(blocks.text, resolve(blocks, some, undecided=CASES[name].undecided))
        assert "".join(expected.split()) == "".join(learned_cases.text(dom, blocks, nodes, labels).split())
