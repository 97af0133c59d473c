"""A page as the state of a site keeps it: the labels that it gets are those of the whole page."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbce_spark.archive.warc import Fetch
from dbce_spark.dbce import pages
from dbce_spark.dbce.kept.kept_blocks import choose_blocks
from dbce_spark.dbce.kept.title_heading import without_title
from dbce_spark.model import Page
from dbce_spark.streaming.stream.streamed_page import pack_page, unpack_page
from tests.support.builders import capture, config
from tests.support.strategies import markup

LINES = "".join(f"<li>News of {day} <a href=/{day}>(more)</a>" for day in ("Monday", "Tuesday", "Friday"))
LINKS = "".join(f"<li><a href=/{name}>All about {name}</a>" for name in ("north", "south", "east", "west"))
TWICE = "<h2>Old harbour</h2><h2>Old harbour</h2><p>It opens on Sunday.</p>"
FILLER = "<div class=text>Lorem ipsum dolor sit amet consectetur</div>" * 3
ROWS = "<table>" + "<tr><td>Ann Lee of Kiel<td class=state>tbc<td>4711" * 3 + "</table>"
LOG = (
    "<table>"
    + "<tr><td>May 4<td>the harbour was closed<td>ships lay in the bay<td>none came in at all" * 2
    + "</table>"
)
DATED = LOG.replace("<td>May 4", "<td><p>May</p><p>4</p>")
HEADING = "<h1>The harbour</h1><p>It opens on Sunday.</p>"
CODE = "<table><tr><td><pre>1\n2\n3</pre><td><pre>one\n\ntwo</pre></table>"
DIFF = "<table><tr><td><pre>1\n2\n3</pre><td><pre>2\n3\n4</pre><td><pre>one\n\ntwo</pre></table>"


def read(body: str) -> Page:
    html = f"<html><title>The harbour - Gazette</title><body><p>word</p>{body}</body></html>"
    page = pages.parse_fetch(Fetch(capture("http://www.example.org/"), html.encode()), config())
    assert isinstance(page, Page)
    return page


def drawn(page: Page, seed: int) -> npt.NDArray[Any]:
    """Draw scores of a page's blocks, in the steps of scores; most of them are content."""
    return np.rint(np.random.default_rng(seed).uniform(0.1, 1.0, len(page.blocks)) * 10_000) / 10_000


@given(body=markup, seed=st.integers(0, 99))
@example(body=LINES, seed=1)
@example(body=LINKS, seed=1)
@example(body=TWICE, seed=1)
@example(body=HEADING, seed=3)
@example(body=FILLER, seed=6)
@example(body=ROWS, seed=6)
@example(body=LOG, seed=6)
@example(body=DATED, seed=6)
@example(body=CODE, seed=1)
@example(body=DIFF, seed=1)
def test_the_blocks_to_keep_are_those_of_the_whole_page(body: str, seed: int) -> None:
    """By the same scores; with titles, also where the title heading is dropped."""
    page, label = read(body), config().label
    scores = drawn(page, seed)
    whole = choose_blocks(page, scores, label)

    kept, with_titles = (unpack_page(pack_page(page, with_titles=one)) for one in (False, True))

    assert whole.tolist() == choose_blocks(kept, scores, label).tolist()
    assert without_title(page, whole).tolist() == without_title(with_titles, whole).tolist()


def test_links_that_are_the_content_are_kept() -> None:
    """Their texts are not in the state, so all looked like one recurring link."""
    page = unpack_page(pack_page(read(LINKS), with_titles=False))

    assert [True] * 5 == choose_blocks(page, np.full(5, 0.9), config().label).tolist()


def test_cells_are_cells_in_the_state_too() -> None:
    """Their tabs are not in the state, so a text that all rows have looked like the button of each item."""
    page = unpack_page(pack_page(read(ROWS), with_titles=False))

    assert [True] * 10 == choose_blocks(page, np.array([0.9, *([0.9, 0.34, 0.9] * 3)]), config().label).tolist()


@pytest.mark.parametrize(
    ("body", "held"), [(LINKS, ""), (LINES, "(more)" * 3), (HEADING, "The harbour"), (CODE, "1\n2\n3one\n\ntwo")]
)
def test_no_more_text_is_kept_than_is_read(body: str, held: str) -> None:
    """Recurring links are read, line numbers with their code, and a main heading that says the title."""
    assert held == unpack_page(pack_page(read(body), with_titles=False)).blocks.text
