"""Label the documents of one domain of the stream, and choose which of them leave (section 6 of the paper)."""

import heapq
from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from dbce_spark.files import timestamps
from dbce_spark.model import Bits, Label
from dbce_spark.streaming.urltree import domain_state
from dbce_spark.streaming.urltree.blocks import KEY_WORDS, Keys
from dbce_spark.streaming.urltree.domain_state import TreeState
from dbce_spark.streaming.urltree.heuristics import decide
from dbce_spark.streaming.urltree.url_keys import UrlKey
from dbce_spark.streaming.urltree.url_tree import Counts, HeldDocument, UrlTree
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig
from dbce_spark.streaming.urltree.vocabulary import Vocabulary, build_vocabulary

_MOST_DEAD = 0.25
"""Share of a vocabulary that no document holds, at which these blocks are thrown out: some thousand documents apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page as it arrives in the stream."""

    document_id: str
    url_key: UrlKey
    timestamp: int  # of its event, in microseconds since 1970-01-01 UTC
    keys: Keys  # (blocks, key words), in page order


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """The labels of a document's blocks, and what decided them. Columns have one entry a block, in page order."""

    document_id: str
    node: str  # its path from the domain on
    node_documents: int  # that it has seen (n_s)
    domain_documents: int
    c_max: int  # a block that more documents of the node hold is boilerplate
    counts: Counts  # documents of the node that hold the block
    labels: Bits  # of `model.Label`


class DomainTree:
    """The tree, the vocabulary and the window of documents that the stream keeps of one domain."""

    def __init__(self, domain: str, config: UrlTreeConfig):
        self._config = config
        self._tree = UrlTree(domain)
        self._vocabulary = Vocabulary(KEY_WORDS[config.blocks.hash])
        self._order: list[tuple[int, int]] = []  # timestamp and number of each document, ascending
        self._arrived: deque[int] = deque(maxlen=config.window.confirmed_among)  # timestamps of the last to come
        self._next = 0

    def __len__(self) -> int:
        return len(self._order)

    @property
    def blocks(self) -> int:
        """Count the blocks that are numbered: those of documents held, and those that have left but were not thrown
        out."""
        return len(self._vocabulary)

    def holds(self, url_key: UrlKey) -> bool:
        """Return whether a document of this URL key is in the window."""
        leaf = self._tree.find(url_key.branch)
        return leaf is not None and leaf.ends >= 0

    def add(self, document: Document) -> tuple[Labelled, ...]:
        """Insert a document and label it: return its labels, then those of earlier ones that are labelled once more.

        Return () if the window holds a document of its URL key: a duplicate, which changes nothing.
        """
        if self.holds(document.url_key):
            return ()
        self._evict(document.timestamp)
        ids = self._vocabulary.numbers(document.keys)
        number, self._next = self._next, self._next + 1
        held = self._tree.insert(number, document.document_id, document.timestamp, document.url_key.branch, ids)
        insort(self._order, (document.timestamp, number))
        return (self._label(held), *map(self._label, self._due(held)))

    def to_bytes(self) -> bytes:
        """Pack the whole state, for `from_bytes`."""
        state = TreeState(self._tree, self._vocabulary.keys, self._next, tuple(self._arrived))
        return domain_state.pack(state, self._config.blocks.hash)

    @classmethod
    def from_bytes(cls, data: bytes, config: UrlTreeConfig) -> Self:
        """Restore the domain as it was when `to_bytes` was called.

        Raises:
            OutputError: the state has another version, or its keys were made by another hash.
        """
        state = domain_state.unpack(data, config.blocks.hash)
        made = cls(state.tree.domain, config)
        made._tree, made._vocabulary, made._next = state.tree, build_vocabulary(state.keys), state.next_number
        made._order = sorted((held.timestamp, number) for number, held in state.tree.documents.items())
        made._arrived.extend(state.arrived)
        return made

    def _evict(self, arriving: int) -> None:
        """Make room for a document of this time."""
        window = self._config.window
        self._arrived.append(arriving)
        newest = heapq.nlargest(window.confirmed_by, self._arrived)[-1]
        age = window.max_age_days * timestamps.DAY
        before = len(self._order)
        self._drop(self._unconfirmed(newest + age)[: max(0, before + 1 - window.min_documents)])
        after = len(self._order) + 1
        old = bisect_left(self._order, (newest - age,))
        self._drop(self._order[: max(0, min(old, after - window.min_documents), after - window.max_documents)])
        if len(self._order) < before:
            self._forget()

    def _unconfirmed(self, latest: int) -> list[tuple[int, int]]:
        """List the documents behind `latest` whose time should have been confirmed by now, the furthest first.

        So many documents have followed them that either their dates are wrong, or the stream has gone back to earlier
        years.
        """
        ahead = self._order[bisect_left(self._order, (latest + 1,)) :]
        least = self._config.window.confirmed_among
        return [one for one in reversed(ahead) if self._next - one[1] >= least]

    def _drop(self, leaving: list[tuple[int, int]]) -> None:
        """Remove documents from the window; their counts go with them."""
        for one in leaving:
            self._tree.remove(one[1])
            del self._order[bisect_left(self._order, one)]

    def _forget(self) -> None:
        """Throw out blocks that no document holds, when there are many."""
        alive = self._tree.totals[: len(self._vocabulary)] > 0
        if np.count_nonzero(alive) < len(alive) * (1 - _MOST_DEAD):
            self._vocabulary = build_vocabulary(self._vocabulary.keys[alive])
            self._tree.forget(alive)

    def _label(self, held: HeldDocument) -> Labelled:
        decision = decide(held.leaf, self._config.label)
        counts = self._tree.counts(decision.node, held.ids)
        held.is_final = decision.node.documents >= self._config.relabel.support
        return Labelled(
            document_id=held.document_id,
            node=decision.node.path,
            node_documents=decision.node.documents,
            domain_documents=self._tree.root.documents,
            c_max=decision.c_max,
            counts=counts,
            labels=_labels(counts, decision.c_max),
        )

    def _due(self, arrived: HeldDocument) -> list[HeldDocument]:
        """Return the documents that are to be labelled once more, since the node that decides on them has just seen
        enough."""
        support = self._config.relabel.support
        full = {node for node in arrived.leaf.up() if node.documents == support}
        if not full:
            return []
        waiting = (self._tree.documents[number] for _, number in self._order)
        return [
            held
            for held in waiting
            if not held.is_final and held is not arrived and decide(held.leaf, self._config.label).node in full
        ]


def _labels(counts: Counts, c_max: int) -> Bits:
    labels: npt.NDArray[np.uint8] = np.where(counts > c_max, Label.BOILERPLATE, Label.CONTENT).astype(np.uint8)
    return labels
