"""The DOM beside the tokens."""

import numpy as np
from hypothesis import given

from dbce_spark.annotation.markup.token_dom import FIRST_TAG, class_hash
from dbce_spark.evaluation.scoring import leaves
from tests.support.strategies import documents
from tests.support.thesis_pages import read


def test_a_token_belongs_to_the_text_node_it_begins_in() -> None:
    """A word that an inline element cuts is its first piece's."""
    dom, _ = read("<html><body><p>one <b>bold</b>ness <i>two</i></p></body></html>")
    assert [0, 1, 3] == dom.token_texts.tolist()
    assert [2, 3, 2, 4] == dom.text_parents.tolist()


def test_scripts_and_forms_are_no_part_of_the_dom() -> None:
    """Neither as tags nor as text; what stands behind them is."""
    dom, _ = read("<html><body><p>one</p><script>two three</script>four<select><option>five</select></body></html>")
    assert [2, 1] == dom.text_parents.tolist()
    assert 3 == len(dom.names)


def test_names_are_numbered_in_order_of_first_occurrence() -> None:
    """Equal tags have equal numbers."""
    dom, _ = read("<html><body><p>one</p><div>two</div><p>three</p></body></html>")
    assert [0, 1, 2, 3, 2] == (dom.names - FIRST_TAG).tolist()


def test_the_order_of_class_names_does_not_count() -> None:
    """The attribute is sorted before it is hashed; the hash is the same in every process."""
    assert class_hash("b  a") == class_hash("a b") == 433422276 != class_hash("a")
    assert 0 == class_hash(" ")


def test_an_element_holds_its_descendants_and_their_texts() -> None:
    """From its own index to the end of what is in it."""
    dom, _ = read("<html><body><div><p>one</p><p>two <b>three</b></p></div><p>four</p></body></html>")
    assert [7, 7, 6, 4, 6, 6, 7] == dom.element_ends.tolist()
    assert [(0, 4), (0, 4), (0, 3), (0, 1), (1, 3), (2, 3), (3, 4)] == list(
        zip(dom.first_texts.tolist(), dom.last_texts.tolist(), strict=True)
    )


@given(documents)
def test_every_token_begins_with_a_character_of_its_text_node(html: str) -> None:
    """Whatever the markup; text nodes are those that the evaluation calls leaves."""
    dom, blocks = read(html)
    texts = leaves.parse_leaves(html).texts
    assert len(texts) == len(dom.text_parents)
    assert all(
        blocks.text[start] in texts[text]
        for text, start in zip(dom.token_texts.tolist(), dom.token_starts.tolist(), strict=True)
    )
    assert (np.diff(dom.token_texts) >= 0).all()
