"""The nodes of a page that the learned cases work on: its `<dbce>` elements and its elements, with the metrics of
table 2.1 (thesis 2.3)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dbce_spark.annotation.markup.dbce_elements import DbceElements, cut
from dbce_spark.annotation.markup.token_dom import DBCE_NAME, Dom
from dbce_spark.model import Bits, Ints

Indexes = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float64]

LINE = 80
"""Characters of a line (Kohlschütter, Fankhauser and Nejdl 2010, section 3.1)."""

NAME, CLASS, LINK_DENSITY, TEXT_DENSITY, WORDS, LENGTH, TAGS = METRICS = range(7)
"""Columns of `Nodes.metrics`, the metrics of table 2.1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes(DbceElements):
    """The `<dbce>` elements of a page, and what is measured of them and of all its elements.

    The columns have the `<dbce>` elements first, then the page's elements in document order, then the dummy node, which
    stands where a neighbour or a parent is missing: shape (nodes, 7) for `metrics`, (nodes,) for the indexes. `len` is
    the number of `<dbce>` elements.
    """

    metrics: Numbers
    previous: Indexes  # of the same layer group: children of one parent
    following: Indexes
    parents: Indexes


def cut_nodes(dom: Dom, per_token: npt.NDArray[np.uint8]) -> Nodes:
    """Cut a page into nodes by the occurrence bits of its tokens: shape (crosses, tokens)."""
    return measure(dom, cut(dom, per_token))


def measure(dom: Dom, cut_at: DbceElements) -> Nodes:
    """Measure the `<dbce>` elements of a page, and its elements."""
    starts, ends, texts = cut_at.starts, cut_at.ends, cut_at.texts
    count, elements = len(starts), len(dom.names)
    dummy = count + elements
    parents = np.concatenate([dom.text_parents[texts] + count, dom.parents + count, [dummy]]).astype(np.intp)
    parents[count:dummy][dom.parents < 0] = dummy
    orders = np.concatenate([dom.text_orders[texts], dom.element_orders])
    previous, following = _neighbours(parents[:dummy], orders)
    return Nodes(
        starts=starts,
        ends=ends,
        texts=texts,
        blocks=cut_at.blocks,
        metrics=_metrics(dom, starts, ends, texts),
        previous=previous,
        following=following,
        parents=parents,
    )


def _neighbours(parents: Indexes, orders: Ints) -> tuple[Indexes, Indexes]:
    """Find the nodes before and behind each in its layer group; the dummy node where there is none, and for itself."""
    dummy = len(parents)
    by_group = np.lexsort((orders, parents))
    first, second = by_group[:-1], by_group[1:]
    same = parents[first] == parents[second]
    previous, following = np.full(dummy + 1, dummy, np.intp), np.full(dummy + 1, dummy, np.intp)
    previous[second[same]] = first[same]
    following[first[same]] = second[same]
    return previous, following


def _metrics(dom: Dom, starts: Ints, ends: Ints, texts: Ints) -> Numbers:
    """Count for the runs, sum for the elements, and derive the densities from both.

    Links are counted at the <a> element, as the thesis has it: the text in one is no link by itself. <dbce> elements
    are no tags; an element counts itself.
    """
    words, lengths = ends - starts, dom.token_ends[ends - 1] - dom.token_starts[starts]
    full_words, full_lines = _full_lines(dom, starts, ends)
    firsts, lasts = np.searchsorted(texts, dom.first_texts), np.searchsorted(texts, dom.last_texts)

    def of_elements(column: Ints) -> Ints:
        return _range_sums(column, firsts, lasts)

    in_links = _range_sums(of_elements(lengths) * dom.links, np.arange(len(dom.names)), dom.element_ends)
    none = np.zeros(len(starts), np.int32)
    dummy = np.zeros(1)

    def column(of_runs: Ints, of_elements: Ints | Numbers) -> Numbers:
        return np.concatenate([of_runs, of_elements, dummy])

    length = column(lengths, of_elements(lengths))
    return np.stack(
        [
            column(np.full(len(starts), DBCE_NAME, np.int32), dom.names),
            # The class of a <dbce> element is its annotation, which holds what is to be learned. Were it a feature, no
            # two equal vectors could differ in their label, and there would be no conflicts to remove.
            column(none, dom.classes),
            np.minimum(column(none, in_links) / np.maximum(length, 1), 1),
            column(full_words, of_elements(full_words)) / np.maximum(column(full_lines, of_elements(full_lines)), 1),
            column(words, of_elements(words)),
            length,
            column(none, dom.element_ends - np.arange(len(dom.names), dtype=np.int32)),
        ],
        axis=1,
    )


def _range_sums(column: Ints, firsts: Indexes, lasts: Indexes | Ints) -> Ints:
    """Sum `column[first:last]` for each pair of `firsts` and `lasts`."""
    sums = np.concatenate(([0], np.cumsum(column, dtype=np.int64)))
    return (sums[lasts] - sums[firsts]).astype(np.int32)


def _full_lines(dom: Dom, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Count the words on full lines of each run, and those lines: all but the last one, or the only one.

    Equation 4 of Kohlschütter et al., whose quotient is the text density; counted so that an element's is the quotient
    of its children's sums.
    """
    words, lines = (ends - starts).astype(np.int32), np.ones(len(starts), np.int32)
    tokens = np.arange(len(dom.token_starts))
    breaks = np.maximum(np.searchsorted(dom.token_ends, dom.token_starts + LINE, side="right"), tokens + 1).tolist()
    for run in np.flatnonzero(dom.token_ends[ends - 1] - dom.token_starts[starts] > LINE).tolist():
        line, end, full = int(starts[run]), int(ends[run]), 0
        while breaks[line] < end:
            line, full = breaks[line], full + 1
        if full:
            words[run], lines[run] = line - starts[run], full
    return words, lines


def token_labels(nodes: Nodes, labels: Bits) -> Bits:
    """Repeat the label of each node for each of its tokens."""
    return np.repeat(labels, nodes.ends - nodes.starts)
