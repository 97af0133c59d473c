"""Count at each node of a domain's URL Tree how many documents below it hold each block.

Counted at every node, a document costs as many counts as its branch is long, and most of them are of blocks that no
other document has. So the blocks of a single document, or of the only one below a node, are not counted below the
domain: their counts follow without. A block has its holder written beside it (`holders`) until it has a second one, a
node its only document (`only`); then what was left out is counted. Every count returned is exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dbce_spark.streaming.urltree.vocabulary import Ids

Counts = npt.NDArray[np.uint16]

NOBODY, SEVERAL = -1, -2
"""Stand for a document in `holders`: none holds this block; two or more do, or did, and nodes count it."""


@dataclass(slots=True)
class CountTable:
    """The number of documents that hold each block, for the blocks counted at one node."""

    ids: Ids  # ascending
    counts: Counts

    def look_up(self, ids: Ids) -> Counts:
        """Look up the counts of blocks that all have an entry."""
        return self.counts[np.searchsorted(self.ids, ids)]

    def add(self, ids: Ids) -> None:
        """Count these blocks, each given once, for one document more."""
        at = np.searchsorted(self.ids, ids)
        is_counted = self.ids.take(at, mode="clip") == ids if len(self.ids) else np.zeros(len(ids), bool)
        self.counts[at[is_counted]] += 1
        if not is_counted.all():
            at, fresh = at[~is_counted], ids[~is_counted]
            self.ids = np.insert(self.ids, at, fresh)
            self.counts = np.insert(self.counts, at, 1)

    def take_away(self, ids: Ids) -> None:
        """Count these blocks, all of which have an entry, for one document less."""
        at = np.searchsorted(self.ids, ids)
        self.counts[at] -= 1
        if not self.counts[at].all():
            is_left = self.counts > 0
            self.ids, self.counts = self.ids[is_left], self.counts[is_left]


class Node:
    """A step of URL keys. Without a table it has one document, `only`; or it is the domain's (see `UrlTree.totals`)."""

    __slots__ = ("children", "documents", "ends", "name", "only", "parent", "table")

    def __init__(self, name: str, parent: "Node | None"):
        self.name = name
        self.parent = parent
        self.children: dict[str, Node] | None = None  # None in place of an empty one: most nodes are leaves
        self.documents = 0  # n_s of the paper
        self.ends = NOBODY  # the document whose branch ends here
        self.only = NOBODY
        self.table: CountTable | None = None

    def up(self) -> "Iterator[Node]":
        """Yield this node and all above it, up to the domain's."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    @property
    def path(self) -> str:
        """Return the names of the nodes from the domain's to this one, joined by "/"."""
        return "/".join(reversed([node.name for node in self.up()]))


@dataclass(slots=True)
class HeldDocument:
    """A document in a tree: its leaf, and its blocks in page order."""

    document_id: str
    timestamp: int  # microseconds since 1970-01-01 UTC
    leaf: Node
    ids: Ids
    is_final: bool = False  # its labels stay as they are


@dataclass(slots=True)
class UrlTree:
    """The tree of a domain. Documents go by numbers that only grow, blocks by those of a vocabulary."""

    domain: str
    root: Node = field(init=False)
    documents: dict[int, HeldDocument] = field(default_factory=dict)
    totals: Counts = field(default_factory=lambda: np.zeros(0, np.uint16))  # of each block, documents that hold it
    holders: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def __post_init__(self) -> None:
        self.root = Node(self.domain, None)

    def find(self, branch: Sequence[str]) -> Node | None:
        """Return the node at the end of a branch; None if there is none."""
        node: Node | None = self.root
        for name in branch:
            if node is None or node.children is None:
                return None
            node = node.children.get(name)
        return node

    def insert(self, number: int, document_id: str, timestamp: int, branch: Sequence[str], ids: Ids) -> HeldDocument:
        """Insert a document, and return it as the tree holds it; `ids` are its blocks in page order."""
        self._make_room(int(ids.max(initial=-1)) + 1)
        leaf = self._grow(branch)
        leaf.ends = number
        held = self.documents[number] = HeldDocument(document_id, timestamp, leaf, ids)
        unique = np.unique(ids)
        holders = self.holders[unique]
        self.totals[unique] += 1
        self.holders[unique[holders == NOBODY]] = number
        self._count_first_holders(unique[holders >= 0], holders[holders >= 0])
        self.root.documents += 1
        counted = unique[holders != NOBODY]
        for node in leaf.up():
            if node is not self.root:
                self._count(node, number, counted)
        return held

    def remove(self, number: int) -> None:
        """Remove a document: all counts are then as if it had never been there."""
        held = self.documents.pop(number)
        unique = np.unique(held.ids)
        counted = unique[self.holders[unique] == SEVERAL]
        self.totals[unique] -= 1
        self.holders[unique[self.totals[unique] == 0]] = NOBODY
        held.leaf.ends = NOBODY
        self.root.documents -= 1
        for node in list(held.leaf.up())[:-1]:
            node.documents -= 1
            if node.table is not None:
                node.table.take_away(counted)
            if not node.documents:
                _drop(node)

    def counts(self, node: Node, ids: Ids) -> Counts:
        """Count how many documents below `node` hold each of these blocks, which are of a document below it."""
        if node is self.root:
            return self.totals[ids]
        found = np.ones(len(ids), np.uint16)
        if node.table is not None:
            is_counted = self.holders[ids] == SEVERAL
            found[is_counted] = node.table.look_up(ids[is_counted])
        return found

    def forget(self, alive: npt.NDArray[np.bool_]) -> None:
        """Renumber blocks when those that no document holds have left the vocabulary: `alive` is True for blocks that
        stay.

        In place: thousands of arrays that are made again at once leave holes in memory that nothing fills.
        """
        renumbered = (np.cumsum(alive) - 1).astype(np.int32)
        self.totals, self.holders = self.totals[: len(alive)][alive], self.holders[: len(alive)][alive]
        for held in self.documents.values():
            held.ids[:] = renumbered[held.ids]
        for node in self.nodes():
            if node.table is not None:
                node.table.ids[:] = renumbered[node.table.ids]

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes, each before those below it."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed((node.children or {}).values())

    def _grow(self, branch: Sequence[str]) -> Node:
        """Return the leaf of a branch, adding the nodes that are missing."""
        node = self.root
        for name in branch:
            if node.children is None:
                node.children = {}
            below = node.children.get(name)
            if below is None:
                below = node.children[name] = Node(name, node)
            node = below
        return node

    def _count(self, node: Node, number: int, counted: Ids) -> None:
        """Count one document more at a node below the domain; `counted` are its blocks that other documents hold
        too."""
        node.documents += 1
        if node.documents == 1:
            node.only = number
            return
        if node.table is None:
            first = np.unique(self.documents[node.only].ids)
            ids = first[self.holders[first] == SEVERAL]
            node.table, node.only = CountTable(ids, np.ones(len(ids), np.uint16)), NOBODY
        node.table.add(counted)

    def _count_first_holders(self, ids: Ids, holders: npt.NDArray[np.int32]) -> None:
        """Count blocks that have just got a second holder at the nodes of the first."""
        self.holders[ids] = SEVERAL
        ids_by_node: dict[Node, list[Ids]] = {}
        for holder in np.unique(holders).tolist():
            first_held = ids[holders == holder]
            for node in self.documents[holder].leaf.up():
                ids_by_node.setdefault(node, []).append(first_held)
        for node, parts in ids_by_node.items():
            if node.table is not None:
                node.table.add(np.sort(np.concatenate(parts)))

    def _make_room(self, blocks: int) -> None:
        """Make room for a quarter more blocks than there are, whenever there are more than before."""
        lacking = blocks - len(self.totals)
        if lacking > 0:
            more = lacking + blocks // 4
            self.totals = np.concatenate([self.totals, np.zeros(more, np.uint16)])
            self.holders = np.concatenate([self.holders, np.full(more, NOBODY, np.int32)])


def _drop(node: Node) -> None:
    """Drop a node without documents from the tree."""
    parent = node.parent
    if parent is not None and parent.children is not None:
        del parent.children[node.name]
        parent.children = parent.children or None
