"""T001 to T006 on labels that people gave crosses: table 4.2, figure 4.3 and tables D.1 to D.4 of the thesis."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dbce_spark.annotation.labels.labelling import Labelling
from dbce_spark.annotation.markup import dbce_elements, token_dom
from dbce_spark.annotation.markup.cross_tasks import CrossTask
from dbce_spark.annotation.markup.token_dom import Dom
from dbce_spark.config import DbceConfig
from dbce_spark.errors import InputError
from dbce_spark.evaluation.scoring.node_scores import Confusion, confusion
from dbce_spark.files import markdown_table
from dbce_spark.html.dom import PageError
from dbce_spark.html.page import parse
from dbce_spark.model import Bits, Label
from reproductions.thesis import learned_cases
from reproductions.thesis.learned_cases import CASES
from reproductions.thesis.phases import Clock

ALL = "all sites"

PUBLISHED: Mapping[str, Confusion] = {
    "T001": Confusion(871, 78, 606, 4307),
    "T002": Confusion(871, 87, 606, 5291),
    "T003": Confusion(411, 538, 521, 4392),
    "T004": Confusion(702, 247, 543, 4370),
    "T005": Confusion(737, 212, 534, 4379),
    "T006": Confusion(817, 132, 480, 4433),
}
"""Elements of all 16 crosses of four sites, as sums of tables D.1 to D.4. Table 4.2 has the figures that these of T001,
T002 and T006 give; of the other three it has none."""

_SCORES = ("acc", *(f"{part} {of}" for of in ("con", "bp") for part in ("P", "R", "F1")))
_HEAD = ("site", "case", "crosses", "elements", "undecided", *_SCORES, "acc of decided")
_COUNTS_HEAD = ("site", "crosses", "elements", "labelled", "content", "boilerplate", "boilerplate / content, mean")
_COUNTS_PUBLISHED = ("*thesis*", "16", "6,855", "over 98 %", "958", "5,897", "4.82")
_CROSS_HEAD = (
    "cross",
    "arms",
    "case",
    "tp",
    "fn",
    "fp",
    "tn",
    "acc",
    "P bp",
    "P con",
    "R bp",
    "R con",
    "F1 bp",
    "F1 con",
)

_NOTE = (
    "In the rows of the thesis, which are sums of its tables D.1 to D.4, elements that no pattern decides are left"
    " out of all cases but T002; ours count them as boilerplate but in the last column."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossOutcome:
    """One test case on the elements of one cross that people called content or boilerplate."""

    case: str
    site: str
    cross: str  # its id
    arms: int
    elements: int  # of the page, also those that people left undecided
    final: Confusion  # what the case leaves undecided counts as boilerplate: it is not in the main text
    decided: Confusion  # without that


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledOutcome:
    """One test case on the labelled elements of some crosses."""

    case: str
    site: str
    crosses: int
    final: Confusion
    decided: Confusion

    @property
    def undecided(self) -> int:
        """Return the number of elements that the case leaves undecided."""
        return self.final.nodes - self.decided.nodes


def measure(crosses: Iterable[CrossTask], labels: Labelling, config: DbceConfig) -> list[CrossOutcome]:
    """Measure every test case on every cross that has labels.

    Raises:
        InputError: no cross has labels, or one has other segments than its labels.
    """
    found: list[CrossOutcome] = []
    for one in crosses:
        if one.sheet.page not in labels:
            continue
        tags = labels[one.sheet.page]
        if len(tags) != len(one.sheet.segments):
            raise InputError(f"{one.sheet.page}: {len(tags)} labels of {len(one.sheet.segments)} segments")
        truth = np.array([Label.UNDECIDED if tag is None else tag for tag in tags], np.uint8)
        dom = rebuild_dom(one, config)
        for name, case in CASES.items():
            labelled = learned_cases.label(dom, one.annotation, case, Clock())
            called = np.where(labelled.labels == Label.UNDECIDED, case.undecided, labelled.labels).astype(np.uint8)
            found.append(
                CrossOutcome(
                    case=name,
                    site=one.sheet.site,
                    cross=one.sheet.page,
                    arms=len(one.neighbours),
                    elements=len(truth),
                    final=_counts(truth, called, truth != Label.UNDECIDED),
                    decided=_counts(truth, called, (truth != Label.UNDECIDED) & (called != Label.UNDECIDED)),
                )
            )
    if not found:
        raise InputError("no cross has labels; give the crosses that were labelled")
    return found


def rebuild_dom(task: CrossTask, config: DbceConfig) -> Dom:
    """Rebuild the DOM that the test cases work on, from the line of a cross.

    Raises:
        InputError: the page is cut into other elements than its line has; it was written by another version.
    """
    html = task.sheet.html.encode("utf-8", "replace")
    try:
        parsed = parse(html, "utf-8", config.page)
    except PageError as error:
        raise InputError(f"{task.sheet.page}: {error}") from error
    if len(parsed.blocks.tokens) == task.annotation.ends[-1]:
        dom = token_dom.read(html, parsed.blocks)
        if len(dbce_elements.cut(dom, task.annotation.per_token()[None, :])) == len(task.sheet.segments):
            return dom
    raise InputError(f"{task.sheet.page}: its segments do not match its HTML; write the crosses again")


def pooled(outcomes: Iterable[CrossOutcome]) -> list[PooledOutcome]:
    """Sum the elements of all crosses of a site, and of all sites, by test case: sites by name, all of them last."""
    by: dict[tuple[str, str], list[CrossOutcome]] = defaultdict(list)
    for one in outcomes:
        by[one.site, one.case].append(one)
        by[ALL, one.case].append(one)
    return [
        PooledOutcome(
            case=case,
            site=site,
            crosses=len(some),
            final=sum((one.final for one in some), Confusion()),
            decided=sum((one.decided for one in some), Confusion()),
        )
        for (site, case), some in sorted(by.items(), key=lambda item: (item[0][0] == ALL, item[0]))
    ]


def report(outcomes: Sequence[CrossOutcome]) -> str:
    """Lay out all tables as Markdown, the thesis's figures beside those of all sites."""
    parts = [
        "## Test cases (table 4.2)",
        _table(_HEAD, _pooled_rows(outcomes)),
        _NOTE,
        "## Labelled elements (figure 4.3)",
        _table(_COUNTS_HEAD, _labelled_rows(outcomes)),
        "## Crosses (tables D.1 to D.4)",
    ]
    for site in sorted({one.site for one in outcomes}):
        parts += [f"### {site}", _table(_CROSS_HEAD, (_cross_row(one) for one in outcomes if one.site == site))]
    return "\n\n".join(parts) + "\n"


def _pooled_rows(outcomes: Iterable[CrossOutcome]) -> Iterator[Sequence[str]]:
    for one in pooled(outcomes):
        counts = (f"{one.crosses}", f"{one.final.nodes:,}", f"{one.undecided:,}")
        yield (one.site, one.case, *counts, *map(_number, one.final.figures), _number(one.decided.accuracy))
        if one.site == ALL:
            of_thesis = PUBLISHED[one.case]
            yield ("*thesis*", one.case, "16", f"{of_thesis.nodes:,}", "", *map(_number, of_thesis.figures), "")


def _labelled_rows(outcomes: Sequence[CrossOutcome]) -> Iterator[Sequence[str]]:
    some = [one for one in outcomes if one.case == next(iter(CASES))]
    for site in [*sorted({one.site for one in some}), ALL]:
        of_site = [one for one in some if site in (one.site, ALL)]
        elements, counts = sum(one.elements for one in of_site), sum((one.final for one in of_site), Confusion())
        content, boilerplate = counts.content_nodes, counts.boilerplate_nodes
        share = f"{100 * counts.nodes / elements:.1f} %" if elements else ""
        ratios = [one.final.boilerplate_nodes / held for one in of_site if (held := one.final.content_nodes)]
        ratio = f"{np.mean(ratios):.2f}" if ratios else ""
        yield (site, f"{len(of_site)}", f"{elements:,}", share, f"{content:,}", f"{boilerplate:,}", ratio)
    yield _COUNTS_PUBLISHED


def _cross_row(one: CrossOutcome) -> Sequence[str]:
    """Lay out a row as appendix D does: elements that no pattern decides are left out, of all cases but T002."""
    counts = one.decided
    sides = counts.boilerplate, counts.content
    figures = (counts.accuracy, *(getattr(side, part) for part in ("precision", "recall", "f1") for side in sides))
    numbers = (counts.tp, counts.fn, counts.fp, counts.tn)
    return (one.cross, f"{one.arms}", one.case, *(f"{number:,}" for number in numbers), *map(_number, figures))


def _number(figure: float) -> str:
    return f"{figure:.3f}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_table.table(head, rows, rule=f"{'|---' * len(head)}|")


def _counts(truth: Bits, called: Bits, which: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> Confusion:
    return confusion((truth == Label.CONTENT)[which], (called == Label.CONTENT)[which])
