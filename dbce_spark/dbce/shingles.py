"""Shingles of a page's template for MinHash: a set of 32-bit numbers, blind to text and attributes."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import xxhash

from dbce_spark.html.page_walk import PageTree

Shingles = npt.NDArray[np.uint32]


def path_shingles(tree: PageTree) -> Shingles:
    """Hash each distinct tag path from the root: the same set, however many items a list has."""
    return np.unique(np.fromiter(map(_hash, tree.path_names), np.uint32, len(tree.path_names)))


def layer_shingles(tree: PageTree) -> Shingles:
    """Hash each element: its position in its group, the group's in its layer, the layer, and its tag path.

    As listings 2.6 and 2.7 of the thesis make them: a group is the children of one parent, a layer all groups of one
    depth, an element without children makes an empty group, and both are counted from the end (the listing inserts
    at 0).
    """
    depths: list[int] = []
    layer_sizes: list[int] = []
    ordinals: list[int] = []  # of an element within its layer
    group_sizes = [0] * (len(tree.parents) + 1)  # children of each element; the last entry is the root's group
    nths: list[int] = []
    for parent in tree.parents:
        depth = depths[parent] + 1 if parent >= 0 else 0
        if depth == len(layer_sizes):
            layer_sizes.append(0)
        depths.append(depth)
        ordinals.append(layer_sizes[depth])
        layer_sizes[depth] += 1
        nths.append(group_sizes[parent])
        group_sizes[parent] += 1
    shingles = set()
    for parent, depth, nth, path in zip(tree.parents, depths, nths, tree.paths, strict=True):
        node_nr = group_sizes[parent] - 1 - nth
        group_nr = layer_sizes[depth - 1] - 1 - ordinals[parent] if parent >= 0 else 0
        shingles.add(_hash(f"{node_nr}_{group_nr}_{depth}_{tree.path_names[path]}"))
    return np.array(sorted(shingles), np.uint32)


TOKENISERS: dict[str, Callable[[PageTree], Shingles]] = {"path": path_shingles, "layer": layer_shingles}
"""The functions that make shingles, by their names in `template.tokens`."""


@lru_cache(maxsize=1 << 17)
def _hash(shingle: str) -> int:
    return xxhash.xxh32_intdigest(shingle.encode())
