"""K-means on the tags of pages, and on a t-SNE of them as the study runs it: figure 3.8, b beside d, and table 3.6."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sklearn.manifold import TSNE
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from dbce_spark.evaluation.reporting import score_plots
from dbce_spark.evaluation.scoring import clusters, complexity, facts
from dbce_spark.evaluation.scoring.clusters import SEED, Features
from dbce_spark.files.markdown_table import table
from reproductions.study.study_pages import StudyPages

DIMENSIONS = 8
"""Of the t-SNE that the study clusters."""

PLAIN, REDUCED = "on tags", "on their t-SNE"

Groups = npt.NDArray[np.intp]

_STYLE = "<style>svg{--c0:#0b62a8;--c1:#d1561c;--c2:#4a8b2c;--soft:#66717d;--line:#dde3e9;background:#fff}</style>"
_STYLE += "<style>.frame{fill:none;stroke:var(--line)}</style>"


def both(of: StudyPages) -> dict[str, Groups]:
    """Cluster all pages by the shares of their tags, and by a t-SNE of 8 dimensions of these. An exact t-SNE, as
    faster ones have two dimensions or three."""
    features = facts.features(of.facts)
    return {PLAIN: np.array(clusters.groups(features)), REDUCED: np.array(clusters.groups(reduced(features)))}


def reduced(features: Features) -> Features:
    """Reduce the features to 8 dimensions."""
    perplexity = min(30.0, (len(features) - 1) / 3)
    with threadpool_limits(1):
        placed = TSNE(DIMENSIONS, method="exact", perplexity=perplexity, init="random", random_state=SEED, n_jobs=1)
        return np.asarray(placed.fit_transform(features), np.float64)


def report(of: StudyPages, found: dict[str, Groups]) -> str:
    """Lay out how the pages of each group by complexity lie in the clusters, and how alike the two clusterings are."""
    groups = complexity.groups(np.array([page.complexity for page in of.facts]))
    rows = [
        (name, group, *_shares(groups, group, numbers))
        for name, numbers in found.items()
        for group in complexity.GROUPS
    ]
    alike = adjusted_rand_score(found[PLAIN], found[REDUCED])
    head = ("clusters", "complexity", *(f"cluster {at}" for at in range(clusters.CLUSTERS)))
    return f"{table(head, rows)}\n\nThe two are alike to {alike:.3f} (adjusted Rand index: 0 by chance, 1 the same)."


def figures(of: StudyPages, found: dict[str, Groups]) -> list[str]:
    """Draw the pages in the plane of a t-SNE of 2 dimensions, in the colours of each clustering: SVGs, none where too
    few pages differ."""
    chosen = clusters.sample(len(of.pages))
    placed = clusters.plane(facts.features(of.facts)[chosen])
    titles = [f"{of.facts[at].dataset}: {of.facts[at].site}" for at in chosen]
    return [
        score_plots.scatter(placed, [int(numbers[at]) for at in chosen], titles).replace(">", f">{_STYLE}", 1)
        for numbers in found.values()
        if len(placed)
    ]


def _shares(groups: Sequence[str], group: str, numbers: Groups) -> list[str]:
    counts = Counter(int(number) for number, one in zip(numbers, groups, strict=True) if one == group)
    return [f"{100 * counts[at] / max(counts.total(), 1):.1f} %" for at in range(clusters.CLUSTERS)]
