"""Scores by text nodes: how many leaves of a page an extractor labels right (thesis 4.3, tables 4.2 and D.1-D.4).

The thesis counts its <dbce> elements, which only its own method has. Here nodes are the leaves of the page that have a
word, so that every extractor can be counted: a leaf is content if the gold text holds it, and called so if the
extractor's text does (`leaves.held`). As in table 4.2, the nodes of all pages are counted together: 2,000 links of one
portal weigh as much as 100 articles.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.scoring import leaves
from dbce_spark.evaluation.scoring.leaves import Mask
from dbce_spark.evaluation.scoring.metrics import Score, of_counts
from dbce_spark.html.dom import PageError

ALL_SETS = "all sets"

HEAD = (
    "set",
    "extractor",
    "nodes",
    "accuracy",
    *(f"{of} {part}" for of in ("content", "boilerplate") for part in "P R F1".split()),
    "tp",
    "fn",
    "fp",
    "tn",
)
"""Of the table: those of table 4.2, then the counts of tables D.1-D.4."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of nodes by their label and by the label they were given; content is the positive class."""

    tp: int = 0
    fn: int = 0
    fp: int = 0
    tn: int = 0

    def __add__(self, other: "Confusion") -> "Confusion":
        return Confusion(self.tp + other.tp, self.fn + other.fn, self.fp + other.fp, self.tn + other.tn)

    @property
    def content_nodes(self) -> int:
        """Count the nodes that are content, whatever they were called."""
        return self.tp + self.fn

    @property
    def boilerplate_nodes(self) -> int:
        """Count the nodes that are boilerplate, whatever they were called."""
        return self.fp + self.tn

    @property
    def nodes(self) -> int:
        """Count all nodes."""
        return self.content_nodes + self.boilerplate_nodes

    @property
    def accuracy(self) -> float:
        """Return the share of nodes labelled right; 1 of none."""
        return (self.tp + self.tn) / self.nodes if self.nodes else 1.0

    @property
    def content(self) -> Score:
        """Score the nodes that were called content."""
        return of_counts(self.tp, self.content_nodes, self.tp + self.fp)

    @property
    def boilerplate(self) -> Score:
        """Score the nodes that were called boilerplate."""
        return of_counts(self.tn, self.boilerplate_nodes, self.tn + self.fn)

    @property
    def figures(self) -> tuple[float, ...]:
        """List accuracy, then precision, recall and F1 of content and of boilerplate, as table 4.2 does."""
        scores = (self.content, self.boilerplate)
        return (self.accuracy, *(part for score in scores for part in (score.precision, score.recall, score.f1)))


@dataclass(frozen=True, slots=True)
class NodeScoreRow:
    """One extractor on one set."""

    dataset: str
    extractor: str
    nodes: Confusion


def confusion(content: Mask, called: Mask) -> Confusion:
    """Count nodes by their label and by the label they were given."""
    sides = [(content & called), (content & ~called), (~content & called), (~content & ~called)]
    return Confusion(*(int(side.sum()) for side in sides))


def of_page(page: GoldPage, texts: Mapping[str, Extracted]) -> dict[str, Confusion]:
    """Count the leaves of one page by each extractor's text; none where the page cannot be parsed."""
    try:
        page_leaves = leaves.parse_leaves(page.html)
    except PageError:
        return dict.fromkeys(texts, Confusion())
    counted = page_leaves.has_words
    content = leaves.held(page_leaves, page.gold)[counted]
    return {name: confusion(content, leaves.held(page_leaves, one.text)[counted]) for name, one in texts.items()}


def table(of_sets: Sequence[NodeScoreRow]) -> Iterator[tuple[str, ...]]:
    """Iterate over the cells under `HEAD`; where there are several sets, their sums come last."""
    sums: dict[str, Confusion] = {}
    for row in of_sets:
        sums[row.extractor] = sums.get(row.extractor, Confusion()) + row.nodes
    several = len({row.dataset for row in of_sets}) > 1
    for row in [*of_sets, *(NodeScoreRow(ALL_SETS, name, nodes) for name, nodes in sums.items() if several)]:
        counts = [row.nodes.tp, row.nodes.fn, row.nodes.fp, row.nodes.tn]
        yield (
            row.dataset,
            row.extractor,
            f"{row.nodes.nodes:,}",
            *(f"{share:.3f}" for share in row.nodes.figures),
            *(f"{count:,}" for count in counts),
        )
