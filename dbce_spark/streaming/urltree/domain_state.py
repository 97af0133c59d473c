"""Pack the state of a domain into bytes: a line of JSON and numpy columns, with nothing in it that can run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.errors import OutputError
from dbce_spark.streaming import json_head, state_head
from dbce_spark.streaming.urltree.blocks import Keys
from dbce_spark.streaming.urltree.url_tree import CountTable, HeldDocument, Node, UrlTree

VERSION = 2
"""Version of the layout below, with which that of the state around it rises. A state of another is refused."""

_MAGIC = b"URLTREE\0"
_NO_TABLE = -1

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class TreeState:
    """All that is kept of a domain."""

    tree: UrlTree
    keys: Keys  # of its vocabulary: (blocks, key words)
    next_number: int  # of the next document
    arrived: Sequence[int]  # timestamps of the documents that came last, in this order


def pack(state: TreeState, hash_name: str) -> bytes:
    """Pack a state into bytes."""
    nodes = list(state.tree.nodes())
    columns = _columns(state, nodes)
    header = {
        "hash": hash_name,
        "next": state.next_number,
        "names": [node.name for node in nodes],
        "document_ids": [one.document_id for one in state.tree.documents.values()],
        "columns": [[name, column.dtype.str, list(column.shape)] for name, column in columns.items()],
    }
    head = [state_head.pack(_MAGIC, VERSION), json_head.pack(header)]
    return b"".join([*head, *(column.tobytes() for column in columns.values())])


def _columns(state: TreeState, nodes: Sequence[Node]) -> dict[str, Array]:
    """Make the columns of a domain's keys, its documents, and the nodes of its tree, by name."""
    tree, keys = state.tree, state.keys
    index = {node: at for at, node in enumerate(nodes)}
    tables = [node.table for node in nodes if node.table is not None]
    numbers, held = list(tree.documents), list(tree.documents.values())
    return {
        "keys": keys.astype("<u8"),
        "totals": tree.totals[: len(keys)].astype("<u2"),
        "holders": tree.holders[: len(keys)].astype("<i4"),
        "arrived": np.array(state.arrived, "<i8"),
        "numbers": np.array(numbers, "<i4"),
        "timestamps": np.array([one.timestamp for one in held], "<i8"),
        "leaves": np.array([index[one.leaf] for one in held], "<i4"),
        "finals": np.array([one.is_final for one in held], "<u1"),
        "lengths": np.array([len(one.ids) for one in held], "<i4"),
        "blocks": _joined([one.ids for one in held], "<i4"),
        "parents": np.array([index[node.parent] if node.parent else -1 for node in nodes], "<i4"),
        "documents": np.array([node.documents for node in nodes], "<i4"),
        "ends": np.array([node.ends for node in nodes], "<i4"),
        "only": np.array([node.only for node in nodes], "<i4"),
        "tables": np.array([_NO_TABLE if node.table is None else len(node.table.ids) for node in nodes], "<i4"),
        "ids": _joined([table.ids for table in tables], "<i4"),
        "counts": _joined([table.counts for table in tables], "<u2"),
    }


def unpack(data: bytes, hash_name: str) -> TreeState:
    """Unpack the bytes that `pack` made.

    Raises:
        OutputError: it is no such state, or one of another version or hash.
    """
    header, columns = _read(data)
    if header["hash"] != hash_name:
        raise OutputError(
            f"the state of the stream has blocks hashed by {header['hash']}, and blocks.hash is {hash_name}; set it"
            " back, or begin the stream anew with another --output"
        )
    nodes = _nodes(header["names"], columns)
    tree = UrlTree(nodes[0].name)
    tree.root = nodes[0]
    tree.totals, tree.holders = columns["totals"].astype(np.uint16), columns["holders"].astype(np.int32)
    documents = zip(
        columns["numbers"].tolist(),
        header["document_ids"],
        columns["timestamps"].tolist(),
        columns["leaves"].tolist(),
        _cut(columns["blocks"], columns["lengths"]),
        columns["finals"].tolist(),
        strict=True,
    )
    for number, document_id, timestamp, leaf, ids, is_final in documents:
        tree.documents[number] = HeldDocument(document_id, timestamp, nodes[leaf], ids, bool(is_final))
    return TreeState(tree, columns["keys"].astype(np.uint64), header["next"], columns["arrived"].tolist())


def _read(data: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header of a packed state, and its columns by name."""
    behind = state_head.unpack(data, _MAGIC, VERSION, "a domain")
    header, at = json_head.unpack(behind)
    columns = {}
    for name, kind, shape in header["columns"]:
        count = int(np.prod(shape))
        columns[name] = np.frombuffer(behind, kind, count, at).reshape(shape)
        at += columns[name].nbytes
    return header, columns


def _nodes(names: Sequence[str], columns: Mapping[str, Array]) -> list[Node]:
    """Rebuild the nodes from their columns, each behind its parent."""
    nodes: list[Node] = []
    tables = columns["tables"]
    lengths = np.maximum(tables, 0)
    ids, counts = _cut(columns["ids"], lengths), _cut(columns["counts"], lengths)
    plain = zip(*(columns[name].tolist() for name in ("parents", "documents", "ends", "only", "tables")), strict=True)
    for at, (parent, documents, ends, only, table) in enumerate(plain):
        node = Node(names[at], nodes[parent] if parent >= 0 else None)
        node.documents, node.ends, node.only = documents, ends, only
        if table != _NO_TABLE:
            node.table = CountTable(ids[at], counts[at])
        if node.parent is not None:
            node.parent.children = node.parent.children or {}
            node.parent.children[node.name] = node
        nodes.append(node)
    return nodes


def _joined(parts: Sequence[Array], kind: str) -> Array:
    """Join arrays into one of this dtype; an empty one if there are none."""
    return np.concatenate(parts).astype(kind) if parts else np.empty(0, kind)


def _cut(column: Array, lengths: Array) -> list[Array]:
    """Cut a column into pieces of these lengths, each with memory of its own: a view would keep the whole column."""
    ends = [0, *np.cumsum(lengths).tolist()]
    return [column[start:end].astype(column.dtype.newbyteorder("=")) for start, end in pairwise(ends)]
