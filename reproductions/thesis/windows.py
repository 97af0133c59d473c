"""Vectors of `<dbce>` elements: table 2.1 for the node, its parent and its parent's parent (thesis 2.3 and 4.2)."""

import numpy as np
import numpy.typing as npt

from reproductions.thesis.nodes import CLASS, LENGTH, LINK_DENSITY, NAME, TAGS, TEXT_DENSITY, WORDS, Nodes

Vectors = npt.NDArray[np.float64]


def vectors(nodes: Nodes, layers: int) -> Vectors:
    """Compute one row a `<dbce>` element, 20 columns a layer: the neighbourhoods of the node, its parent, and so on up.

    A narrower window is the first columns of a wider one.
    """
    at = np.arange(len(nodes), dtype=np.intp)
    found = []
    for _ in range(layers):
        found.append(_layer(*(nodes.metrics[some] for some in (nodes.previous[at], at, nodes.following[at]))))
        at = nodes.parents[at]
    return np.concatenate(found, axis=1)


def _layer(previous: Vectors, current: Vectors, following: Vectors) -> Vectors:
    all_three = (previous, current, following)
    columns = [node[:, NAME] for node in all_three]
    columns.append(current[:, CLASS])
    columns += [node[:, density] for node in all_three for density in (LINK_DENSITY, TEXT_DENSITY)]
    columns += [node[:, count] for count in (WORDS, LENGTH, TAGS) for node in all_three]
    columns.append(current[:, LENGTH] / np.maximum(current[:, TAGS], 1))
    return np.stack(columns, axis=1)
