"""Words that touch in the markup are parted in a page's tree as in the page's text."""

import numpy as np
import pytest
from lxml import etree

from dbce_spark.html.structure.touching_words import part_words


@pytest.mark.parametrize(
    ("body", "page_text", "expected"),
    [
        ("<body/>", "", ""),
        ("<body><a>one</a><a>two</a></body>", "one two", "one two"),
        ("<body><a>one</a><a>two</a></body>", "onetwo", "onetwo"),
        ("<body><a><b>one</b></a><i/><a>two</a></body>", "one two", "one two"),
        ("<body><p>one</p><p>two</p></body>", "one\ntwo", "onetwo"),
        ("<body><a>onetwo three</a>four</body>", "one two three four", "one two three four"),
        ("<body><a>our</a> <a>own</a>two</body>", "our own two", "our own two"),
    ],
)
def test_white_space_stands_where_the_page_has_some(body: str, page_text: str, expected: str) -> None:
    """Between elements in a line, and within a text; blocks part their texts by themselves."""
    root = etree.fromstring(body.encode())
    part_words(root, page_text, np.ones(len("".join(page_text.split())), np.bool_))

    assert expected == "".join(map(str, root.itertext()))


def test_words_that_are_not_kept_part_nothing() -> None:
    """Each character that is left has another place than in the page's text."""
    root = etree.fromstring(b"<body><a>one</a><a>two</a><a>ly</a></body>")
    part_words(root, "gone one twoly", np.array([False] * 4 + [True] * 8))

    assert "one twoly" == "".join(map(str, root.itertext()))
