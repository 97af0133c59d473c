"""Groups of pages by the tags they are made of, which needs no gold: section 3.6 of the study of extractors.

The study runs K-means on a t-SNE of 8 dimensions. We run it on the features themselves (its figure 3.8 b): a t-SNE
keeps no distances, has no place for a page that comes later, and an exact one of thousands of pages takes longer than
the whole evaluation. The t-SNE of 2 dimensions is for the eye only, as there.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

Features = npt.NDArray[np.float64]

TAGS = ("h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "a", "div", "br", "strong", "em", "li")
"""Tags of table 3.5. It announces 14 and prints 13; `li` is the one we add."""

CLUSTERS = 3
"""As many as groups by complexity, so that the two can be set side by side (the study's choice)."""

SEED = 36
"""Of the first centres and of the t-SNE: the same pages give the same groups and the same picture."""

MAX_PLACED = 1500
"""Pages that are placed in the plane: a t-SNE of these takes seconds, and more points hide each other."""

MIN_PLACED = 12
"""Different pages from which on a plane shows anything."""


def shares(root: Any) -> tuple[float, ...]:
    """Measure the share of each of `TAGS` in the page's tags (equation 3.5)."""
    tags = [node.tag for node in root.iter() if isinstance(node.tag, str)] if root is not None else []
    return tuple(tags.count(tag) / len(tags) if tags else 0.0 for tag in TAGS)


def groups(features: Features) -> list[int]:
    """Assign each page to a group, 0 for the largest. features: (pages, 14)."""
    count = min(CLUSTERS, len(np.unique(features, axis=0)))
    # One thread: several add the same numbers in another order, and a page on a border would change sides.
    with threadpool_limits(1):
        found = KMeans(count, n_init=10, random_state=SEED).fit_predict(features)
    sizes = np.bincount(found, minlength=count)
    places = np.empty(count, np.intp)
    places[np.lexsort((np.arange(count), -sizes))] = np.arange(count)
    return [int(place) for place in places[found]]


def plane(features: Features) -> Features:
    """Place each page in a picture of 2 dimensions, (pages, 2); no page, (0, 2), where too few differ."""
    different = len(np.unique(features, axis=0))
    if different < MIN_PLACED:
        return np.empty((0, 2))
    with threadpool_limits(1):
        placed = TSNE(
            2, perplexity=min(30.0, (different - 1) / 3), init="pca", random_state=SEED, n_jobs=1
        ).fit_transform(features)
    return np.asarray(placed, np.float64)


def sample(pages: int) -> npt.NDArray[np.intp]:
    """Choose the pages to place: all, or `MAX_PLACED` of them at even distances."""
    return np.unique(np.linspace(0, pages - 1, min(pages, MAX_PLACED)).astype(np.intp))
