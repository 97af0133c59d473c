"""One line makes what the tests of the thesis's cases need: a DOM with its blocks, nodes, examples and opinions."""

from collections.abc import Sequence

import numpy as np

from dbce_spark.annotation.markup import token_dom
from dbce_spark.annotation.markup.token_dom import Dom
from dbce_spark.model import Bits, Blocks, Label
from reproductions.thesis.cross_learning import Examples
from reproductions.thesis.nodes import Nodes, cut_nodes
from tests.support.builders import bits, parsed

U, C, B = Label.UNDECIDED, Label.CONTENT, Label.BOILERPLATE


def read(html: str) -> tuple[Dom, Blocks]:
    """A page's DOM and its blocks."""
    blocks = parsed(html).blocks
    return token_dom.read(html.encode(), blocks), blocks


def nodes_of(html: str, *patterns: str) -> Nodes:
    """The nodes of a page by the bits of each word; without any, all words have the same."""
    of_page, blocks = read(html)
    per_token = bits(*(patterns or ["10000"] * int(blocks.words.sum())))
    return cut_nodes(of_page, per_token[None, :])


def labels(*some: Label) -> Bits:
    return np.array(some, np.uint8)


def examples(vectors: Sequence[Sequence[float]], some: Sequence[Label]) -> Examples:
    return Examples(np.array(vectors, np.float64), labels(*some))
