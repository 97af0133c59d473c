"""Table 5.2 of the study: how well the learned ensembles tell content leaves, cross-validated and on pages set apart.

Folds and the part that is set apart are of sites, where the study draws pages or leaves: it does not say which.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GroupShuffleSplit

from dbce_spark.evaluation.extracting import ensembles
from dbce_spark.evaluation.extracting.ensembles import LEARNED, SEED, THIRTEEN
from dbce_spark.evaluation.scoring import leaves
from dbce_spark.evaluation.scoring.leaves import Mask
from dbce_spark.files.markdown_table import table
from reproductions.study.study_pages import StudyPages, site_folds

SET_APART = 0.3
"""Share of the sites that nothing is learned from, as in section 5.2."""

PUBLISHED = {"ensemble-lr": (0.859, 0.0013, 0.926, 0.820, 0.924), "ensemble-rf": (0.872, 0.00152, 0.933, 0.8355, 0.925)}
"""Table 5.2: mean and deviation of F1 over ten folds, AUC, and F1 and AUC on what was set apart. Of 465,611 leaves."""

_HEAD = ("classifier", "leaves", "F1 of folds", "deviation", "AUC of folds", "F1 set apart", "AUC set apart")

Kinds = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LeafVotes:
    """The votes for the leaves of a page, and which of them are content."""

    kinds: Kinds
    content: Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedScore:
    """The scores of a classifier on leaves of sites that it has not seen; both classes weigh the same."""

    classifier: str
    leaves: int
    f1: tuple[float, ...]  # of each fold
    auc: tuple[float, ...]
    apart: tuple[float, float]  # F1 and AUC


def votes(of: StudyPages) -> list[LeafVotes]:
    """Find what the study's thirteen extractors hold of each page."""
    found = []
    for at, page in enumerate(of.pages):
        ballot = ensembles.vote(page, {name: of.texts[name][at] for name in THIRTEEN})
        kinds = ensembles.vote_kinds(ballot.votes(THIRTEEN))
        found.append(LeafVotes(kinds, leaves.held(ballot.leaves, page.gold)))
    return found


def measure(votes: Sequence[LeafVotes], units: npt.NDArray[np.intp]) -> list[LearnedScore]:
    """Measure each classifier in folds of sites, and on sites that are set apart.

    votes: of each page; units: the number of its site.
    """
    pages = np.arange(len(votes))
    seen, apart = next(GroupShuffleSplit(1, test_size=SET_APART, random_state=SEED).split(pages, groups=units))
    folds = list(site_folds(units[seen]))
    found = []
    for name in LEARNED:
        scored = [_score(name, votes, seen[some], seen[others]) for some, others in folds]
        found.append(
            LearnedScore(
                classifier=name,
                leaves=sum(len(one.kinds) for one in votes),
                f1=tuple(f1 for f1, _ in scored),
                auc=tuple(auc for _, auc in scored),
                apart=_score(name, votes, seen, apart),
            )
        )
    return found


def report(scores: Sequence[LearnedScore]) -> str:
    """Lay out table 5.2, the study's figures below ours."""
    rows = []
    for one in scores:
        figures = (np.mean(one.f1), np.std(one.f1), np.mean(one.auc), *one.apart)
        rows.append((one.classifier, f"{one.leaves:,}", *(f"{figure:.4f}" for figure in figures)))
        rows.append(("*study*", "465,611", *(f"{figure:.4f}" for figure in PUBLISHED[one.classifier])))
    return table(_HEAD, rows)


def _score(
    name: str, votes: Sequence[LeafVotes], seen: npt.NDArray[np.intp], unseen: npt.NDArray[np.intp]
) -> tuple[float, float]:
    """Train on some pages and return F1 and AUC on others; nan where either part has leaves of one class."""
    kinds, content = _joined(votes, seen)
    likely = ensembles.trained(LEARNED[name](), kinds, content, len(THIRTEEN))
    kinds, content = _joined(votes, unseen)
    if likely is None or content.all() or not content.any():
        return float("nan"), float("nan")
    share = content.mean()
    weights = np.where(content, 0.5 / share, 0.5 / (1 - share))
    scores = likely[kinds]
    return (
        float(f1_score(content, scores > 0.5, sample_weight=weights)),
        float(roc_auc_score(content, scores, sample_weight=weights)),
    )


def _joined(votes: Sequence[LeafVotes], places: npt.NDArray[np.intp]) -> tuple[Kinds, Mask]:
    some = [votes[at] for at in places]
    return np.concatenate([one.kinds for one in some]), np.concatenate([one.content for one in some])
