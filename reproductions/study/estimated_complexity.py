"""The complexity of a page estimated without its gold, which the study names as a next step (chapter 7)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestRegressor

from dbce_spark.evaluation.scoring import clusters, complexity, facts
from dbce_spark.evaluation.scoring.complexity import PageWords
from dbce_spark.evaluation.scoring.metrics import words
from dbce_spark.evaluation.scoring.rank_correlation import rank_correlation
from dbce_spark.evaluation.scoring.scores import Values
from dbce_spark.files.markdown_table import table
from dbce_spark.html.dom import parse_unrepaired
from reproductions.study.study_pages import StudyPages, site_folds

TREES, SEED = 200, 33
"""Trees of each forest, and its seed."""

SMALLEST_LEAF = 3
"""Pages in a leaf of a tree: some hundred pages are all there is to learn from."""

_TEXTS = ("a", "p", "li", "td")
"""Elements whose share of the page's words says what it is made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The complexity ratios of all pages as one way of estimating gives them, each by pages of other sites."""

    name: str
    ratios: Values
    is_constant: bool = False  # the same for all pages but for what the folds have seen: groups cannot be distinguished


def of_pages(of: StudyPages) -> Values:
    """Measure what a page shows by itself: shares of tags, the number of words, and shares of these in links,
    paragraphs, items and cells. (pages, features)."""
    own = [_own(page.html) for page in of.pages]
    return np.concatenate([facts.features(of.facts), np.array(own)], axis=1)


def of_texts(of: StudyPages, pages: Values) -> Values:
    """Measure how much of a page each extractor keeps: words of its text over words of the page, (pages, extractors);
    pages: of `of_pages`."""
    totals = np.maximum(np.expm1(pages[:, len(clusters.TAGS)]), 1.0)
    counts = [[len(words(text.text)) for text in of.texts[name]] for name in of.extractors]
    return np.minimum(np.array(counts) / totals, 2.0).T


def predict(features: Values, values: Values, units: npt.NDArray[np.intp]) -> Values:
    """Predict values of pages, (pages) or (pages, columns), by a forest that has seen none of their site."""
    found = np.empty_like(values)
    for seen, unseen in site_folds(units):
        forest = RandomForestRegressor(TREES, min_samples_leaf=SMALLEST_LEAF, random_state=SEED, n_jobs=1)
        found[unseen] = forest.fit(features[seen], values[seen]).predict(features[unseen])
    return found


def estimates(of: StudyPages, pages: Values, texts: Values) -> list[Estimate]:
    """Estimate the complexity of all pages in four ways. pages, texts: of `of_pages` and `of_texts`, the first column
    of which is the first extractor's."""
    ratios, units = _ratios(of), of.units
    nothing = np.zeros((len(ratios), 1))
    return [
        Estimate(name="the mean of other sites", ratios=predict(nothing, ratios, units), is_constant=True),
        Estimate(name="the page alone", ratios=predict(pages, ratios, units)),
        Estimate(name=f"what {of.extractors[0]} keeps of it", ratios=texts[:, 0]),
        Estimate(
            name="the page, and what each extractor keeps", ratios=predict(np.hstack([pages, texts]), ratios, units)
        ),
    ]


def report(of: StudyPages, found: Sequence[Estimate]) -> str:
    """Lay out the error of each estimate, and how its groups lie in those by the gold."""
    ratios = _ratios(of)
    true = complexity.groups(ratios)
    rows, shares = [], []
    for one in found:
        groups = ["mid-complex"] * len(ratios) if one.is_constant else complexity.groups(one.ratios)
        error = np.abs(one.ratios - ratios)
        rank = np.nan if one.is_constant else rank_correlation(np.stack([ratios, one.ratios], axis=1))[0, 1]
        right = np.mean([group == other for group, other in zip(groups, true, strict=True)])
        figures = (error.mean(), np.median(error), rank, right)
        rows.append((one.name, *("" if np.isnan(figure) else f"{figure:.3f}" for figure in figures)))
        shares += [(one.name, group, *_shares(group, groups, true)) for group in complexity.GROUPS]
    return "\n\n".join(
        (
            table(("estimated by", "mean error", "median error", "rank correlation", "right group"), rows),
            table(("estimated by", "group by gold", *(f"estimated {group}" for group in complexity.GROUPS)), shares),
        )
    )


def _ratios(of: StudyPages) -> Values:
    """Return the complexity of each page by its gold; a gold that repeats the page counts as all of it."""
    return np.minimum([page.complexity for page in of.facts], 1.0)


def _shares(group: str, groups: Sequence[str], true: Sequence[str]) -> Iterator[str]:
    of_group = [other for other, one in zip(groups, true, strict=True) if one == group]
    return (f"{of_group.count(other) / max(len(of_group), 1):.3f}" for other in complexity.GROUPS)


def _own(html: str) -> tuple[float, ...]:
    root = parse_unrepaired(html)
    total = PageWords(root).total
    if not total:
        return (0.0,) * (1 + len(_TEXTS))
    counts = [sum(len(words("".join(node.itertext()))) for node in root.iter(tag)) for tag in _TEXTS]
    return (float(np.log1p(total)), *(min(count / total, 1.0) for count in counts))
